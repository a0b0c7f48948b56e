/*
 * slurm: a Slurm that is there runs our gangs. Each file calls only those above it in this list:
 *
 *   read      what its commands print (myriad/server/slurm.h)
 *   call      one of its commands, without waiting for it
 *   script    the batch script of a gang, and the words of its sbatch
 *   orders    what the core wants done
 *   look      what became of it, and how the nodes are
 *   slurm     the engine made of these
 *
 * Slurm is asked with its own commands, so that any version that prints the formats will do and
 * no library of it is linked. Myriad picks the nodes and their order; Slurm starts, accounts and
 * ends. Nothing is requeued there: what fails is placed anew here.
 */
#pragma once

#include "engine/engine.h"
#include "myriad/server/slurm.h"

extern const struct engine_ops slurm_ops;

/* call.c */
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

struct calls;

struct calls *calls_new(struct server *server);
/* Those under way are ended; nobody is told. */
void calls_free(struct calls *calls);
void call(struct calls *calls, const struct call_order *order);
uint64_t calls_made(const struct calls *calls);

/* script.c */
struct script_place {
    const char *spool;   /* of all gangs */
    const char *comment; /* that says whose it is */
    const char *account; /* or NULL */
    uint64_t node_cpus, node_memory_mb;
    bool gpus_known; /* Slurm counts GPUs there */
    bool as_root;    /* may submit for others */
};

struct script {
    struct myr_arena arena;
    const char **argv; /* of sbatch */
    struct myr_buf text;
};

MYR_MUST_USE int script_make(const struct server *server, const struct engine_gang *gang,
                             const struct script_place *place, struct script *ret,
                             struct myr_err *err);
void script_done(struct script *script);
/* The gang's own folder below the spool. */
void script_folder(const char *spool, uint32_t job, uint32_t epoch, char *ret, size_t size);
