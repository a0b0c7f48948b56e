/*
 * relay: carries many agents over one connection to the controller.
 *
 * Agents come to it as they would to the controller: mutual TLS, and the same messages. It looks at
 * whose certificate an agent has shown and vouches for that; what the agent says passes unchanged,
 * whatever its version. Beats end here: the controller hears when one falls silent and when it is
 * back. It keeps nothing but its own certificate: killed and started again it is as it was, and
 * ranks have not noticed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

struct myr_relay {
    const char *folder;     /* its key and certificate; made */
    const char *name;       /* as it was enrolled */
    const char *server;     /* "head:4681" */
    const char *listen;     /* "0.0.0.0:4682"; port 0: any */
    const char *token_file; /* of the first start; or NULL */
    uint32_t agents_max;
    /* Called when it listens. */
    void (*ready)(void *context, uint16_t port);
    void *context;
    struct myr_relay_report *report; /* how it was; or NULL */
};

struct myr_relay_report {
    uint32_t agents_most; /* at one time */
    uint64_t frames_up, frames_down, beats;
};

/* Returns when it was told to stop (SIGTERM, SIGINT). */
MYR_MUST_USE int myr_relay_run(const struct myr_relay *relay, struct myr_err *err);

struct myr_relay_finding {
    uint8_t verdict; /* 0: well, 1: a warning, 2: bad */
    const char *check;
    char says[256], hint[160];
};
#define MYR_RELAY_FINDINGS_MAX 8

/* What would keep a relay of this folder from working; 0: it is no relay's. */
uint32_t myr_relay_doctor(const char *folder, struct myr_relay_finding ret[MYR_RELAY_FINDINGS_MAX]);
