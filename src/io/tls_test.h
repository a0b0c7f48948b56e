/* A side of TLS that must come about. */
#pragma once

#include "myriad/io.h"

static inline struct myr_io_tls *tls_of(const struct myr_io_tls_names *names)
{
    struct myr_err err = {};
    struct myr_io_tls *tls = NULL;
    if (myr_io_tls_create(names, &tls, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return tls;
}
