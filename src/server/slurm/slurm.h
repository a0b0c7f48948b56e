/*
 * slurm: a Slurm that is there runs our gangs. Each file calls only those above it in this list:
 *
 *   read      what its commands print (myriad/server/slurm.h)
 *   script    the batch script of a gang, and the words of its sbatch
 *   limits    what sacctmgr prints (myriad/server/slurm.h)
 *   orders    what the core wants done
 *   accounts  tenants and their accounts
 *   look      what became of it, and how the nodes are
 *   slurm     the engine made of these
 *
 * Slurm is asked with its own commands, so that any version that prints the formats will do and
 * no library of it is linked. Myriad picks the nodes and their order; Slurm starts, accounts and
 * ends. Nothing is requeued there: what fails is placed anew here.
 */
#pragma once

#include "engine/call.h"
#include "engine/engine.h"
#include "myriad/server/slurm.h"

extern const struct engine_ops slurm_ops;

/* script.c */
struct script_place {
    const char *spool;                  /* of all gangs */
    const char *comment;                /* that says whose it is */
    const char *account;                /* or NULL */
    uint64_t node_cpus, node_memory_mb; /* of a whole node */
    bool gpus_known;                    /* Slurm counts GPUs there */
    bool as_root;                       /* may submit for others */
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
