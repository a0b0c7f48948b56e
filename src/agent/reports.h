/*
 * reports: what the controller must know for certain, kept until it says that it is committed.
 */
#pragma once

#include "session.h"

struct report {
    enum myr_wire_type type; /* STARTED, STOPPED, EXIT or TESTED */
    uint64_t job;
    uint32_t epoch, rank, code, signal;
    char text[256];
    uint64_t sequence; /* on this connection; 0: not sent on it yet */
};

struct reports {
    struct session *session;
    MYR_VEC(struct report) items;
};

/* One of the same type, job and epoch that waits is replaced: the newer one counts. */
void reports_add(struct reports *reports, const struct report *report);
/* All of them again, on a new connection. */
void reports_resend(struct reports *reports);
void reports_ack(struct reports *reports, uint64_t sequence,
                 void (*acked)(void *context, const struct report *report), void *context);
/* One that no longer holds. */
void reports_drop(struct reports *reports, enum myr_wire_type type, uint64_t job, uint32_t epoch);
void reports_done(struct reports *reports);
