/* state: what the engine knows of Slurm, for the files that share it. */
#pragma once

#include "slurm/slurm.h"

enum {
    SOON_MS = 300, /* until it is looked at what has just been asked for */
    FLUSH_MS = 5,  /* orders for nodes of one moment become one command */
    DAY_MS = 86400 * 1000,
    GRACE_MS = 60000, /* for a controller that is back to hear all of its nodes */
    OUTPUT_BYTES = 48 << 10,
    PATH_BYTES = 1024,
};

enum stage {
    STAGE_ASKED,  /* sbatch is under way */
    STAGE_UNSURE, /* it failed, or took too long: the next look tells whether it is there */
    STAGE_THERE,  /* as 'id' */
};

struct gang {
    uint32_t job, epoch;
    uint64_t id; /* Slurm's; 0: not known yet */
    enum stage stage;
    bool seen, up_told, stopping,
        killed;        /* in this look; the core knows; asked to end; and ended */
    uint64_t known_at; /* the number of the look at that time: older ones know nothing of it */
    int64_t since_ms;  /* steady: of the last order */
    int64_t runs_ms;   /* steady: when it was last told that it runs */
    int64_t kill_ms;   /* steady: who is told to end gets so long; 0: it was not */
};

struct node_order {
    uint32_t node;
    bool drain;
    char reason[160];
};

struct node_seen {
    uint64_t look, others; /* the look that saw it; the one that saw others' jobs on it */
    char other[96];        /* whose */
    bool there;            /* it was, when it was last told of */
};

/* Of Slurm's accounting; 'user' empty: the account itself. */
struct account {
    char name[SERVER_NAME], user[SERVER_NAME], parent[SERVER_NAME];
    uint64_t share; /* 0: its parent's */
    struct myr_slurm_amounts group, each;
    uint64_t group_jobs, most_jobs;
    char qos[SERVER_NAME];
};

struct qos {
    char name[SERVER_NAME];
    struct myr_slurm_amounts group, each, of_user;
    uint64_t group_jobs, user_jobs;
};

struct slurm {
    struct server *server;
    struct calls *calls;             /* its commands, under way and waiting */
    char spool[PATH_BYTES], tag[20]; /* 'tag': in the comment of each of our jobs */
    MYR_VEC(struct gang) gangs;
    MYR_VEC(uint32_t) early; /* jobs that were to start before the first look */
    MYR_VEC(struct node_order) orders;
    struct node_seen *nodes;
    /* Of a node of the partition, as sinfo said last; for shares of a node. */
    uint64_t node_cpus, node_memory_mb;
    bool gpus_known, closing;
    /* the look under way */
    uint64_t look, looks_done; /* the number of the present one; how many succeeded */
    bool jobs_here, nodes_here, whole, failed, under_way;
    struct myr_buf jobs, lines; /* what squeue and sinfo printed */
    int64_t whole_ms;           /* steady: the last whole one */
    bool was_away;              /* it could not be asked since then */
    int64_t back_ms;            /* steady: when it could again; 0: it was never away */
    /* accounts.c */
    MYR_VEC(struct account) accounts;
    MYR_VEC(struct qos) qualities;
    int64_t accounts_ms; /* steady: when they were last asked for */
    bool accounts_away, limits_hold;
    size_t tenants_seen;
    uv_timer_t timer, flush;             /* the next look; orders for nodes */
    void (*on_timer)(uv_timer_t *timer); /* looks */
    uint32_t open_handles;
};

static inline struct slurm *slurm_of(const struct server *server)
{
    return engine_own(server);
}

/* orders.c */
struct gang *slurm_gang(struct slurm *slurm, uint32_t job, uint32_t epoch);
void slurm_drop(struct slurm *slurm, const struct gang *gang);
/* So soon at the latest, unless one is under way. */
void slurm_look_in(struct slurm *slurm, int64_t ms);
/* 'softly': its ranks get a signal, and it goes on. */
void slurm_cancel(struct slurm *slurm, uint64_t id, bool softly);
/* Its script has begun, once; nothing runs under this number again. */
bool slurm_was_started(const struct slurm *slurm, uint32_t job, uint32_t epoch);
void slurm_start(struct server *server, const struct engine_gang *gang);
void slurm_stop(struct server *server, uint32_t job, uint32_t epoch, uint32_t grace_s);
void slurm_node(struct server *server, uint32_t node, bool drain, const char *reason);

/* accounts.c */
/* Asked for now and then, where tenants are accounts. */
void slurm_accounts_look(struct slurm *slurm);
/* An error: the account's limits would never let it start. */
MYR_MUST_USE int slurm_accounts_check(const struct slurm *slurm, const struct job_row *row,
                                      uint32_t gpus, struct myr_err *err);
/* " (account research: 16 GPUs at once)", or nothing. */
void slurm_accounts_explain(const struct slurm *slurm, uint32_t job, struct myr_str reason,
                            char *ret, size_t size);

/* look.c */
void slurm_look(struct slurm *slurm);
