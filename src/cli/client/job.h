/* What job's sub-verbs and submit share. */
#pragma once

#include "client/client.h"

/* A job as the server tells it: into the tree, and its facts for people. */
void job_show(struct cli *cli, const struct myr_doc *doc);
/* Whether a job of that state is over for good. */
bool job_has_ended(const char *state);
/* A list of jobs as a table. */
void job_put_table(struct cli *cli, const struct myr_value *jobs);

/* The jobs of one submission, by number; in the arena of the verb. */
struct job_array {
    uint32_t *ids; /* ascending */
    uint32_t count;
};
/* From the server's answer to a submission; one job where it is no array. */
MYR_MUST_USE int job_array_of(struct cli *cli, const struct myr_doc *made, struct job_array *ret,
                              struct myr_err *err);
/* Until all of them have ended. */
MYR_MUST_USE int job_array_wait(const struct client *client, const struct job_array *array,
                                struct myr_err *err);
/* All of them into the tree, and for people; 'ret_bad': the first that is not done, or MYR_NONE. */
MYR_MUST_USE int job_array_show(const struct client *client, const struct job_array *array,
                                uint32_t *ret_bad, struct myr_err *err);
