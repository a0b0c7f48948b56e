/*
 * folder: a server's folder seen from outside, whether a server runs in it or not.
 */
#pragma once

#include "myriad/base.h"

#define MYR_SERVER_PATH_MAX 4096

/* How the server of a folder on this machine is reached. */
struct myr_server_place {
    char url[160];                   /* "http://127.0.0.1:4680" */
    char ca[MYR_SERVER_PATH_MAX];    /* its authority's certificate */
    char token[MYR_SERVER_PATH_MAX]; /* the file with the first administrator's token */
    bool said;                       /* by a server that runs, or did not end well */
};

/* What the running server has written into server.url, else what its configuration says. */
MYR_MUST_USE int myr_server_find(const char *folder, struct myr_server_place *ret,
                                 struct myr_err *err);
