/*
 * slurm: what Slurm's commands print, read into plain values.
 *
 * Myriad asks Slurm with its own commands and formats that it chooses (MYR_SLURM_*_FORMAT): fields
 * between bars, the one that people write last, so that a bar in it does no harm. What was measured
 * of the ways to ask is in docs/slurm.md.
 */
#pragma once

#include "myriad/base.h"

/*
 * sinfo -e -o: names, partition ('*': the default one), CPUs, MB, GPUs, state, reason. Nodes that
 * are alike share a line: a line a node (-N) takes sinfo itself seconds of CPU at 12,500.
 */
#define MYR_SLURM_NODE_FORMAT "%N|%P|%c|%m|%G|%T|%E"
/* squeue -o: id, state, user, nodes, why it waits, comment. */
#define MYR_SLURM_JOB_FORMAT "%i|%T|%u|%N|%r|%k"

/* What may be done with a node in this state. */
enum myr_slurm_node_is {
    MYR_SLURM_NODE_UP,
    MYR_SLURM_NODE_HELD,     /* drained, reserved, in maintenance, to be started anew */
    MYR_SLURM_NODE_RESERVED, /* the same, unless the reservation is ours */
    MYR_SLURM_NODE_SILENT,   /* its daemon does not answer: ranks may run there */
    MYR_SLURM_NODE_DOWN,     /* given up, its daemon answers or its power is off */
    MYR_SLURM_NODE_ABSENT,   /* not there yet */
};

/* Nodes that are alike. */
struct myr_slurm_node {
    struct myr_str names;                    /* a list for myr_slurm_read_names() */
    struct myr_str partition, state, reason; /* reason: empty: none */
    bool in_default;                         /* its partition is the default one */
    uint64_t cpus, memory_mb, gpus;
    enum myr_slurm_node_is is;
};

enum myr_slurm_job_is {
    MYR_SLURM_JOB_WAITS,
    MYR_SLURM_JOB_STARTS, /* has its nodes, which are made ready */
    MYR_SLURM_JOB_RUNS,
    MYR_SLURM_JOB_ENDS,      /* some of it may still run */
    MYR_SLURM_JOB_DONE,      /* ended well */
    MYR_SLURM_JOB_FAILED,    /* by its own fault */
    MYR_SLURM_JOB_LOST,      /* by none of its own: its node failed */
    MYR_SLURM_JOB_PUSHED,    /* the same, for the sake of another job */
    MYR_SLURM_JOB_CANCELLED, /* by a person, or by us */
};

struct myr_slurm_job {
    struct myr_str id, state, user, nodes, reason, comment;
    enum myr_slurm_job_is is;
};

/* Called for each line; what it returns below 0 ends the reading. */
typedef int myr_slurm_node_each(void *context, const struct myr_slurm_node *node,
                                struct myr_err *err);
typedef int myr_slurm_job_each(void *context, const struct myr_slurm_job *job, struct myr_err *err);
typedef int myr_slurm_name_each(void *context, struct myr_str name, struct myr_err *err);

/* 'file' names the command in messages: "sinfo:12: ...". */
MYR_MUST_USE int myr_slurm_read_nodes(const char *file, struct myr_str text,
                                      myr_slurm_node_each *each, void *context,
                                      struct myr_err *err);
MYR_MUST_USE int myr_slurm_read_jobs(const char *file, struct myr_str text,
                                     myr_slurm_job_each *each, void *context, struct myr_err *err);
/* "n[001-032,040],x5", "r[1-2]n[01-16]": each name, in order; at most 1,000,000. */
MYR_MUST_USE int myr_slurm_read_names(struct myr_str list, myr_slurm_name_each *each, void *context,
                                      struct myr_err *err);
/* What sbatch --parsable prints: "1234" or "1234;cluster". */
MYR_MUST_USE bool myr_slurm_read_id(struct myr_str text, uint64_t *ret);

/*
 * sacctmgr -nP show assoc format=...: an account of this cluster or, where 'user' is not empty,
 * what a user may have of it.
 */
#define MYR_SLURM_ACCOUNT_FORMAT                                                      \
    "format=account,user,parentname,fairshare,grptres,grpjobs,maxjobs,maxtresperjob," \
    "grpsubmitjobs,defaultqos"

struct myr_slurm_amounts {
    uint64_t gpus, nodes; /* UINT64_MAX: no limit */
};

struct myr_slurm_account {
    struct myr_str name, user, parent; /* parent: "" at the top, and for a user */
    bool by_parent;                    /* its share is its parent's */
    uint64_t share;
    struct myr_slurm_amounts group, each; /* of all its jobs at once; of one job */
    uint64_t group_jobs, most_jobs, group_submits;
    struct myr_str qos; /* of jobs that name none; empty: its parent's */
};

/*
 * sacctmgr -nP show qos format=...: limits of a quality of service. Where it has one, the same one
 * of the account does not hold.
 */
#define MYR_SLURM_QOS_FORMAT \
    "format=name,grptres,grpjobs,maxtresperjob,maxtresperuser,maxjobsperuser"

struct myr_slurm_qos {
    struct myr_str name;
    struct myr_slurm_amounts group, each, of_user; /* of all its jobs; of one; of one user's */
    uint64_t group_jobs, user_jobs;
};

typedef int myr_slurm_account_each(void *context, const struct myr_slurm_account *account,
                                   struct myr_err *err);
MYR_MUST_USE int myr_slurm_read_accounts(const char *file, struct myr_str text,
                                         myr_slurm_account_each *each, void *context,
                                         struct myr_err *err);
typedef int myr_slurm_qos_each(void *context, const struct myr_slurm_qos *qos, struct myr_err *err);
MYR_MUST_USE int myr_slurm_read_qos(const char *file, struct myr_str text, myr_slurm_qos_each *each,
                                    void *context, struct myr_err *err);

/* Why a command failed, from what it wrote to stderr. */
enum myr_slurm_fault {
    MYR_SLURM_AWAY,    /* nobody answers, or not in time: it is tried again */
    MYR_SLURM_DENIED,  /* credentials: munge is not there, keys differ, or no right to do that */
    MYR_SLURM_VERSION, /* it speaks another version */
    MYR_SLURM_REFUSED, /* it was understood, and is not to be had: a fault of the question */
};

/* One line for people into 'ret'. */
enum myr_slurm_fault myr_slurm_read_fault(const char *command, struct myr_str text, char *ret,
                                          size_t size);
