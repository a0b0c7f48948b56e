/* What job's sub-verbs and submit share. */
#pragma once

#include "cli.h"

/* A job as the server tells it: into the tree, and its facts for people. */
void job_show(struct cli *cli, const struct myr_doc *doc);
/* Whether a job of that state is over for good. */
bool job_has_ended(const char *state);
/* Keys of its file that nobody reads there ("Slurm"), as a list of the answer and as a fact. */
void job_put_unheeded(struct cli *cli, const char *const *keys, uint32_t count, const char *where);
