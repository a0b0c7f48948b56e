/*
 * call: a command of somebody else's, run beside the loop. Its output is gathered, its time is
 * limited, and whoever asked is told once; at most eight run at a time, the others wait.
 */
#pragma once

#include "server.h"

struct call_result {
    int code; /* exit status; -1: it did not run, or was ended */
    bool late;
    struct myr_str out, err;
};

typedef void call_done(struct server *server, void *context, const struct call_result *result);

/* The command's name and its words, NULL at the end. */
struct call_order {
    const char *const *argv;
    struct myr_str input;
    call_done *done;
    void *context;
};

/* Texts are the caller's, and must outlive the calls. */
struct call_how {
    const char *bin;        /* the folder of the commands; "": the path, or as they are named */
    const char *slurm_conf; /* SLURM_CONF for them; "": as it is */
    uint32_t timeout_s;     /* one that takes longer is ended */
};

struct calls;

struct calls *calls_new(struct server *server, const struct call_how *how);
/* Those under way are ended; nobody is told. */
void calls_free(struct calls *calls);
void call(struct calls *calls, const struct call_order *order);
uint64_t calls_made(const struct calls *calls);
