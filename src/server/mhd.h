/*
 * mhd: libmicrohttpd, loaded by who serves. It brings GnuTLS and nine more libraries with it, whose
 * loading was two fifths of what every other command took to start.
 */
#pragma once

#include <microhttpd.h>

#include "myriad/base.h"

#define MHD_CALLS(X)                 \
    X(add_response_header)           \
    X(create_response_from_buffer)   \
    X(create_response_from_callback) \
    X(create_response_from_fd64)     \
    X(destroy_response)              \
    X(get_connection_info)           \
    X(get_daemon_info)               \
    X(get_timeout)                   \
    X(get_version)                   \
    X(lookup_connection_value)       \
    X(queue_response)                \
    X(resume_connection)             \
    X(run)                           \
    X(set_connection_option)         \
    X(start_daemon)                  \
    X(stop_daemon)                   \
    X(suspend_connection)

/* Named as the library names them, without "MHD_". */
struct mhd {
#define MHD_CALL(name) __typeof__(&MHD_##name) name;
    MHD_CALLS(MHD_CALL)
#undef MHD_CALL
};

/* Set by mhd_load(), which stays loaded until the program ends. */
extern struct mhd mhd;

MYR_MUST_USE int mhd_load(struct myr_err *err);
