/* sched: what the sub-verbs of 'myriad sched' share. */
#pragma once

#include "cli.h"
#include "myriad/sched.h"

extern const struct myr_command sched_place_command, sched_replay_command;

/* The object 'cluster': what the answer is about, and what of it was taken for granted. */
void sched_put_cluster(struct myr_answer *answer, const struct myr_cluster *cluster);
/* The same for people, such as "96 nodes of 8 GPUs (assumed), 8 nodes a leaf". */
void sched_show_cluster(struct myr_answer *answer, const struct myr_cluster *cluster);
