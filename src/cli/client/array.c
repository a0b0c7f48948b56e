/*
 * array: the jobs of one submission. They are asked for page by page, as 'job list' does: one
 * request for up to two thousand, where one for each would meet the server's limits.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/job.h"
#include "myriad/job.h"
#include "myriad/text/amount.h"

enum { PAGE = 2000 }; /* as many as the server lists at once */

/* An older server says how many there are and not which: then they follow each other. */
int job_array_of(struct cli *cli, const struct myr_doc *made, struct job_array *ret,
                 struct myr_err *err)
{
    const struct myr_doc *list = myr_doc_get(made, "ids");
    bool listed = list && list->kind == MYR_DOC_LIST && list->count > 0;
    int64_t said = client_i64(made, "count"), first = client_i64(made, "id");
    uint32_t count = listed     ? list->count
                     : said < 1 ? 1
                                : (uint32_t)(said < MYR_JOB_ARRAY_MAX ? said : MYR_JOB_ARRAY_MAX);
    ret->ids = myr_arena_alloc(&cli->arena, count, sizeof(*ret->ids));
    ret->count = count;
    for (uint32_t i = 0; i < count; i++) {
        int64_t id = first + i;
        bool good = !listed || (list->items[i]->kind == MYR_DOC_SCALAR &&
                                myr_str_to_i64(list->items[i]->text, &id));
        if (!good || id < 0 || id >= MYR_NONE || (i > 0 && id <= ret->ids[i - 1])) {
            return myr_err_set(err, MYR_EIO, "the server's answer has no numbers of jobs");
        }
        ret->ids[i] = (uint32_t)id;
    }
    return MYR_OK;
}

/* The place of a number among them; MYR_NONE: it is somebody else's. */
static uint32_t place_of(const struct job_array *array, int64_t id)
{
    uint32_t low = 0, high = array->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (array->ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < array->count && array->ids[low] == id ? low : MYR_NONE;
}

/* All of them as they are now, in their order. */
static int fetch(const struct client *client, const struct job_array *array,
                 const struct myr_doc **ret, struct myr_err *err)
{
    struct cli *cli = client->cli;
    int64_t first = array->ids[0], before = (int64_t)array->ids[array->count - 1] + 1;
    memset(ret, 0, array->count * sizeof(struct myr_doc *));
    while (before > first) {
        const struct myr_doc *doc;
        int64_t limit = before - first < PAGE ? before - first : PAGE;
        MYR_TRY(client_get(client,
                           myr_arena_printf(&cli->arena, "/v1/jobs?all=1&limit=%lld&before=%lld",
                                            (long long)limit, (long long)before),
                           &doc, err));
        const struct myr_doc *list = myr_doc_get(doc, "jobs");
        for (uint32_t i = 0; list && list->kind == MYR_DOC_LIST && i < list->count; i++) {
            bool job = list->items[i]->kind == MYR_DOC_MAP;
            uint32_t at = job ? place_of(array, client_i64(list->items[i], "id")) : MYR_NONE;
            if (at != MYR_NONE) {
                ret[at] = list->items[i];
            }
        }
        /* None behind the last one; pages that do not go on would never end. */
        int64_t next = client_i64(doc, "next");
        before = next < before ? next : 0;
    }
    for (uint32_t i = 0; i < array->count; i++) {
        if (!ret[i]) {
            return myr_err_set(err, MYR_EIO, "the server does not list job %u any more",
                               array->ids[i]);
        }
    }
    return MYR_OK;
}

/* One look; what a server that is away says is no end of them. */
static int look(const struct client *client, const struct job_array *array, uint32_t *told,
                struct myr_err *err)
{
    MYR_CLEANUP(client_round_done) struct client_round round;
    struct myr_err why = {};
    uint32_t ended = 0;
    client_round_begin(client, &round);
    const struct myr_doc **jobs =
        myr_arena_alloc(&round.cli.arena, array->count, sizeof(struct myr_doc *));
    int rc = fetch(&round.client, array, jobs, &why);
    if (rc == MYR_EAWAY || rc == MYR_EIO || rc == MYR_EOFTEN) {
        return MYR_OK;
    }
    if (rc < 0) {
        *err = why;
        return rc;
    }
    for (uint32_t i = 0; i < array->count; i++) {
        ended += job_has_ended(client_text(&round.cli, jobs[i], "state"));
    }
    if (ended != *told && isatty(STDERR_FILENO)) {
        fprintf(stderr, "%s of %s have ended\n", MYR_GROUPED(ended),
                MYR_COUNT(array->count, "job"));
    }
    *told = ended;
    return MYR_OK;
}

int job_array_wait(const struct client *client, const struct job_array *array, struct myr_err *err)
{
    for (uint32_t ended = 0; ended < array->count;) {
        MYR_TRY(look(client, array, &ended, err));
        if (ended < array->count) {
            sleep(1);
        }
    }
    return MYR_OK;
}

/* As the list has it; what a job's own page has beside that is null. */
static void put_listed(struct cli *cli, const struct myr_doc *job)
{
    static const char *const of_page[] = {"node_names", "ranks", "file"};
    myr_answer_object(&cli->answer, NULL);
    for (uint32_t i = 0; i < job->count; i++) {
        struct myr_str key = job->entries[i].key;
        client_put(cli, myr_arena_strndup(&cli->arena, key.data, key.len), job->entries[i].value);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(of_page); i++) {
        if (!myr_doc_get(job, of_page[i])) {
            myr_answer_null(&cli->answer, of_page[i]);
        }
    }
    myr_answer_end(&cli->answer);
}

int job_array_show(const struct client *client, const struct job_array *array, uint32_t *ret_bad,
                   struct myr_err *err)
{
    struct cli *cli = client->cli;
    const struct myr_doc **jobs =
        myr_arena_alloc(&cli->arena, array->count, sizeof(struct myr_doc *));
    uint32_t done = 0, over = 0, bad = MYR_NONE;
    MYR_TRY(fetch(client, array, jobs, err));
    struct myr_value *list = myr_answer_list(&cli->answer, "jobs");
    for (uint32_t i = 0; i < array->count; i++) {
        const char *state = client_text(cli, jobs[i], "state");
        bool well = strcmp(state, "done") == 0;
        put_listed(cli, jobs[i]);
        done += well;
        over += job_has_ended(state) && !well;
        bad = !well && bad == MYR_NONE ? array->ids[i] : bad;
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, list);
    myr_answer_fact(&cli->answer, "jobs", "%s, %s to %s", MYR_GROUPED(array->count),
                    client_text(cli, jobs[0], "id"),
                    client_text(cli, jobs[array->count - 1], "id"));
    if (done || over) {
        myr_answer_fact(&cli->answer, "ended", "%s done, %s failed or cancelled", MYR_GROUPED(done),
                        MYR_GROUPED(over));
    }
    job_put_table(cli, list);
    *ret_bad = bad;
    return MYR_OK;
}
