/* values: what a job file says in forms of its own; rows of job.rec name these. Private. */
#pragma once

#include "myriad/job.h"

int myr_job_read_layout(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                        void *ret, struct myr_err *err);
int myr_job_read_command(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                         void *ret, struct myr_err *err);
int myr_job_read_env(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                     void *ret, struct myr_err *err);
int myr_job_read_script(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                        void *ret, struct myr_err *err);
int myr_job_read_array(const struct myr_doc *node, const char *what, struct myr_arena *arena,
                       void *ret, struct myr_err *err);
