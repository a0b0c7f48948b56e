/* sched: what the sub-verbs of 'myriad sched' share. */
#pragma once

#include "cli.h"
#include "myriad/sched.h"

extern const struct myr_command sched_place_command, sched_replay_command, sched_bench_command;

/* The object 'cluster': what the answer is about, and what of it was taken for granted. */
void sched_put_cluster(struct myr_answer *answer, const struct myr_cluster *cluster);
/* The same for people, such as "96 nodes of 8 GPUs (assumed), 8 nodes a leaf". */
void sched_show_cluster(struct myr_answer *answer, const struct myr_cluster *cluster);

/* A file that is read or written: what asks for it ("--schedule", "the trace"), and where it is. */
struct sched_file {
    const char *what, *path; /* path NULL: not given */
};

/* Nothing that is read may be written, nor anything twice; 'err' names the two. */
MYR_MUST_USE int sched_check_outputs(const struct sched_file *outputs, uint32_t output_count,
                                     const struct sched_file *inputs, uint32_t input_count,
                                     struct myr_err *err);
