/* jobfile: what whoever submits does with a job file, to a server or to Kubernetes. */
#pragma once

#include "cli.h"

/* The text of a job file. */
MYR_MUST_USE int jobfile_read(const char *path, struct myr_buf *ret, struct myr_err *err);
/* Keys of it that nobody reads there ("Slurm"), as a list of the answer and as a fact. */
void jobfile_put_unheeded(struct cli *cli, const char *const *keys, uint32_t count,
                          const char *where);
