/* What job's sub-verbs and submit share. */
#pragma once

#include "cli.h"

/* A job as the server tells it: into the tree, and its facts for people. */
void job_show(struct cli *cli, const struct myr_doc *doc);
/* Whether a job of that state is over for good. */
bool job_has_ended(const char *state);
