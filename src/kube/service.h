/* service: what the parts of the running scheduler know of each other. */
#pragma once

#include "client.h"
#include "myriad/kube/schedule.h"

/* Where trouble may come from; each is told on its own, and all of one cause in one line. */
enum source {
    SOURCE_NODES,
    SOURCE_PODS,
    SOURCE_LEASE,
    SOURCE_BIND,
    SOURCE_DELETE,
    SOURCE_EVENTS,
    SOURCE_VERSION,
    SOURCES
};

/* The last of one source: 'on' until all is well there, 'code' by which causes are compared. */
struct trouble {
    bool on;
    int code;
};

struct service;

/* Objects of one kind. */
struct watch {
    struct service *service;
    enum myr_kube_kind kind;
    enum source source;
    const char *path;
    bool listed, relist;       /* listed: all of them are known, and the watch goes on from there */
    char version[64];          /* resourceVersion to go on from */
    struct myr_buf more, line; /* token of the next page, empty: the first; what is not whole yet */
    bool words;         /* what comes is protobuf: each word behind its length, and no line */
    bool no_more_words; /* one of them was not understood: JSON from then on */
    uint32_t failures;  /* one after the other; each doubles the wait before the next try */
    int64_t begun_ms;
    uv_timer_t retry;
};

/* One Lease object, as it was last seen, and whether it is ours. */
struct lease {
    struct service *service;
    uv_timer_t timer;
    char version[64], holder[256];
    int64_t seen_ms;    /* when that version was first seen */
    int64_t held_ms;    /* when it was last renewed by us; -1: it is not ours */
    uint64_t changes;   /* leaseTransitions */
    bool asking, leads; /* a question is under way; it was taken, and not given up since */
};

/* Kept for the percentiles of the report. */
enum { WORK_SAMPLES = 1 << 16 };

/* Everything of the running scheduler; one thread, so that nothing of it needs a lock. */
struct service {
    const struct myr_kube_schedule *schedule;
    uv_loop_t loop;
    struct myr_kube_access access;
    struct client client;
    struct myr_kube_cluster *cluster;
    struct watch watches[MYR_KUBE_KINDS];
    struct lease lease;
    struct flight *flights; /* decisions that are carried out */
    struct trouble troubles[SOURCES];
    struct myr_kube_report report;
    uint64_t epoch; /* when it began, in ms of the wall: makes names of placements and events */
    uint64_t event_count; /* told so far: makes their names */
    bool begun, stopping;
    int64_t begun_ms, round_ms; /* of the last decisions */
    bool round_due;             /* decide though no object has changed */
    /*
     * The next round; what is counted each second; the end, and the wait for the lease at the end.
     */
    uv_timer_t wake, second, limit;
    uv_check_t check;
    uv_prepare_t gather;
    uint64_t heard_before;       /* pieces read, when it last gathered */
    int64_t gather_us, heard_us; /* how long it gathered; when anything came last */
    int64_t left, left_us;       /* answers or pods that were to come, since when so many */
    int64_t pace_us;             /* of one of them, as it was lately */
    uv_signal_t term, interrupt;
    /* idle times */
    uint64_t asked_before, rounds, rounds_before;
    double idle_requests; /* in idle seconds, without the lease's */
    double *work_ms;      /* of decisions that bound a gang, the last WORK_SAMPLES */
    uint64_t work_count;
};

/* trouble.c */
MYR_PRINTF(3, 4)
void kube_say(struct service *service, const char *level, const char *fmt, ...);
/* 'err' NULL: all is well there. */
void kube_trouble(struct service *service, enum source source, const struct myr_err *err);
/* Milliseconds of the wall, as the API server's objects have them. */
int64_t kube_wall_ms(void);
/* "2026-11-16T08:55:00.000000Z" */
const char *kube_put_time(char ret[40], bool fine);

/* watch.c */
void kube_watch_begin(struct service *service, enum myr_kube_kind kind);
void kube_watch_end(struct watch *watch);

/* flight.c */
void kube_flight_begin(struct service *service, const struct myr_kube_decision *decision);
/* Those that are under way end where they are: somebody else acts from now on. */
void kube_flight_abandon(struct service *service);

/* tell.c */
struct tell {
    const char *reason, *type, *text; /* type: "Normal" or "Warning" */
};
void kube_tell_pod(struct service *service, const struct myr_kube_seat *seat,
                   const struct tell *tell);
/* The Job, or whoever owns the pods; nothing when nobody does. */
struct tell_owner {
    const char *space, *kind, *name, *uid, *api;
};
void kube_tell_owner(struct service *service, const struct tell_owner *owner,
                     const struct tell *tell);

/* lease.c */
void kube_lease_begin(struct service *service);
bool kube_lease_held(const struct lease *lease);
/* Given back, so that another one need not wait. */
void kube_lease_end(struct service *service);
