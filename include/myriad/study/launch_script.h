/*
 * launch_script: a layout as a whole script, or a job file, that starts its training.
 *
 * The script is one file that can be pasted: what was predicted as comments, hosts in the order of
 * ranks, files that the trainer reads (written by the script itself), and the command with the
 * model's arguments, the layout's and the recipe's. Whatever comes from outside (paths, names) is
 * quoted for the shell, the TOML, the JSON or the Python that it ends up in; control characters are
 * refused.
 *
 *   torchrun  starts itself on every host over ssh, one torchrun each, ranks by the list
 *   srun      the same inside an allocation, hosts by SLURM_HOSTFILE and '--distribution=arbitrary'
 *   sbatch    that, with its allocation asked for
 *   submit    a job file for 'myriad submit': one process a GPU, ranks by Myriad's own placement
 */
#pragma once

#include "myriad/study/launch.h"

enum myr_launcher {
    MYR_LAUNCHER_TORCHRUN,
    MYR_LAUNCHER_SRUN,
    MYR_LAUNCHER_SBATCH,
    MYR_LAUNCHER_SUBMIT,
    MYR_LAUNCHER_COUNT
};

/* What a run has beside its layout. NULL and 0: not given, and a default is taken. */
struct myr_launch_run {
    const char *name;       /* of the job */
    const char *code;       /* folder of the trainer's checkout */
    const char *data;       /* tokens; else made-up ones */
    const char *tokenizer;  /* else one that has none but numbers */
    const char *checkpoint; /* folder; else nothing is saved */
    uint64_t steps;
    uint32_t node_count, gpus_per_node;
    const char *const *hosts; /* in the order of ranks; NULL: not known */
    const char *const *head;  /* lines of comment */
    uint32_t head_count;
};

const char *myr_launcher_name(enum myr_launcher launcher);

/* The script. 'launch' is what myr_launch_of() made of 'of', whole. */
void myr_launch_script(const struct myr_launch *launch, const struct myr_launch_case *of,
                       const struct myr_launch_run *run, enum myr_launcher launcher,
                       struct myr_buf *buf);

/* ---- a question, as people ask it ---- */

struct myr_launch_question {
    struct myr_case_question of;
    int trainer; /* enum myr_trainer; -1: the one that the release belongs to */
    enum myr_launcher launcher;
    const char *state;        /* what runs on the design: a file */
    const char *hosts;        /* real names of the design's nodes, in their order: a file */
    const char *const *pools; /* "h800:512": kinds of GPUs to choose among, in place of a device */
    uint32_t pool_count;      /* 0, or 2 to MYR_FIT_POOLS_MAX */
    struct myr_launch_run run;
};

struct myr_launch_answer {
    struct myr_case it; /* points into itself: the answer must not be moved */
    bool found, placed;
    bool pooled;           /* not found among pools: the case has no device */
    const char *pool_note; /* which pool was taken and why; NULL: none were given */
    struct myr_err why;    /* not */
    struct myr_layout layout;
    struct myr_case_price price; /* on the nodes that were chosen */
    enum myr_trainer trainer;
    struct myr_launch launch;
    struct myr_launch_run run; /* as taken in the end */
    struct myr_buf script;
};

/* MYR_OK whether or not there is a layout that fits and nodes that are free: 'found', 'placed'. */
MYR_MUST_USE int myr_launch_ask(const struct myr_launch_question *question, struct myr_arena *arena,
                                struct myr_launch_answer *ret, struct myr_err *err);
void myr_launch_answer_done(struct myr_launch_answer *answer);
