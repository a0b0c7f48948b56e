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

/*
 * Configuration, certificates, tokens and store, copied into a new folder 'to' whether the server
 * runs or not: one that runs is asked for a copy of its store, with the token in 'token_file',
 * NULL: the folder's own. Nothing is left behind on failure.
 */
struct myr_server_copy {
    const char *folder, *to, *token_file;
};

struct myr_server_copied {
    uint32_t files;
    uint64_t bytes, keys; /* keys of the store */
    bool live;            /* a running server gave the store */
};

MYR_MUST_USE int myr_server_backup(const struct myr_server_copy *copy,
                                   struct myr_server_copied *ret, struct myr_err *err);
/* Back from there into a folder that is empty or not there. */
MYR_MUST_USE int myr_server_restore(const struct myr_server_copy *copy,
                                    struct myr_server_copied *ret, struct myr_err *err);

enum myr_verdict { MYR_VERDICT_OK, MYR_VERDICT_WARN, MYR_VERDICT_BAD };
extern const char *const myr_verdict_names[3];

/* One thing that was looked at. */
struct myr_server_finding {
    enum myr_verdict verdict;
    const char *check;
    char says[256], hint[160]; /* hint: empty where nothing is to be done */
};

#define MYR_SERVER_FINDINGS_MAX 48

struct myr_server_findings {
    struct myr_server_finding items[MYR_SERVER_FINDINGS_MAX];
    uint32_t count;
};

/* Looks at this machine and, unless NULL, at a server's folder; changes nothing. */
void myr_server_doctor(const char *folder, struct myr_server_findings *ret);
