/*
 * session: messages by which an agent and a controller find each other and keep in step: who it is,
 * what is committed, what its ranks have written, a certificate for one that has none.
 */
#pragma once

#include <stdint.h>

#include "myriad/base.h"

struct myr_wire_welcome {
    uint32_t node;    /* its id from now on, in the head of every message */
    uint32_t boot;    /* the number of its boot */
    uint32_t beat_ms; /* to beat so often */
    uint32_t pretend; /* 1: made-up GPUs are allowed here */
};

struct myr_wire_refused {
    uint32_t code; /* enum myr_wire_refusal */
    struct myr_str text;
};

enum myr_wire_refusal {
    MYR_WIRE_REFUSED_VERSION = 1,
    MYR_WIRE_REFUSED_NAME,  /* not a node of this cluster */
    MYR_WIRE_REFUSED_TOKEN, /* spent, expired or never given */
    MYR_WIRE_REFUSED_TWICE, /* another agent speaks for this node */
    MYR_WIRE_REFUSED_ORDER, /* a message that has no place here */
    MYR_WIRE_REFUSED_REVOKED,
};

struct myr_wire_ack {
    uint64_t sequence;
};

struct myr_wire_fetch {
    uint64_t job, offset;
    uint32_t rank, bytes; /* at most so many */
};

struct myr_wire_output {
    uint64_t job, offset, size; /* size: of all that was written so far */
    uint32_t rank, ended;       /* ended 1: there will be no more */
    struct myr_str data;
};

struct myr_wire_enrol {
    struct myr_str token, csr; /* csr: PEM */
};

struct myr_wire_cert {
    struct myr_str certificate, ca; /* PEM */
};

/*
 * A relay carries many agents over one connection. What it says itself has no node in its head;
 * frames of an agent have the number of its channel there, and pass unchanged but for that: what
 * agent and controller agree on is theirs, whichever versions they have.
 */
struct myr_wire_attach {
    uint32_t channel;            /* a place below 2^16, and how often it was given, times 2^16 */
    struct myr_str name, serial; /* of the certificate that it has shown; empty: none */
    struct myr_str address;      /* as the relay sees it */
};
#define MYR_WIRE_CHANNEL_PLACES (1U << 16)

struct myr_wire_detach {
    uint32_t channel;
};
