/*
 * api_jobs: what is asked of jobs, and jobs that are handed in. A submission is checked whole
 * before anything of it is kept, and answered when it is on the disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "asked/asked.h"
#include "myriad/text/amount.h"

enum { JOBS_LISTED = 2000 }; /* on one page */

const char *api_tenant_of(const struct server *server, const struct job_row *row)
{
    return row->tenant < server->rows.tenants.count ? server->rows.tenants.items[row->tenant].name
                                                    : "";
}

/* One job as lists have it. */
static struct said_job shown(const struct server *server, uint32_t id)
{
    const struct job_row *row = rows_job(server, id);
    MYR_ASSERT(row && id < myr_control_jobs(server->control)); /* whoever asks has looked for it */
    struct myr_control_job job = rows_job_view(server, id);
    struct myr_start_time start = {INT64_MAX, INT64_MAX, INT64_MAX}; /* nobody knows */
    (void)starts_of(server, id, &start);
    return (struct said_job){.id = id,
                             .name = row->name,
                             .tenant = api_tenant_of(server, row),
                             .user = row->user,
                             .state = myr_control_job_state_name(job.state),
                             .held = job.spec.held,
                             .gpus = job.spec.gpus,
                             .gpus_min = job.spec.gpus_min ? job.spec.gpus_min : job.spec.gpus,
                             /* Of one that is over, how many it had. */
                             .nodes = job.nodes ? job.nodes : row->where_count,
                             .priority = job.spec.priority,
                             .epoch = job.epoch,
                             .failures = job.failures,
                             .step = job.step,
                             .saved_step = job.saved_step,
                             .submitted_ms = row->submitted_ms,
                             .started_ms = row->first_start_ms,
                             .ended_ms = row->ended_ms,
                             .starts_in_s = start.likely_s,
                             .starts_low_s = start.low_s,
                             .starts_high_s = start.high_s,
                             .dated_ms =
                                 job.spec.date_min ? (int64_t)job.spec.date_min * 60000 : -1,
                             .reason = row->reason};
}

/* A state that does not exist would make an empty list, which looks like an answer. */
static int check_state(const char *state, struct myr_err *err)
{
    const char *names[MYR_CONTROL_JOB_STATES];
    char near[80];
    for (int i = 0; i < MYR_CONTROL_JOB_STATES; i++) {
        names[i] = myr_control_job_state_name((enum myr_control_job_state)i);
        /* Without a choice every state is fine. */
        if (!state || strcmp(state, names[i]) == 0) {
            return MYR_OK;
        }
    }
    myr_str_nearest(myr_str_from(state), names, MYR_CONTROL_JOB_STATES, near, sizeof(near));
    return myr_err_set(err, MYR_EINVAL,
                       "'%.40s' is no state of a job; queued, running, done and "
                       "others are%s%s",
                       state, near[0] ? "; perhaps " : "", near);
}

/* "?limit=" and "?before=", of which the second is the "next" of the page before. */
static int page_of(const struct request *request, uint32_t *ret_from, uint32_t *ret_limit,
                   struct myr_err *err)
{
    const char *limit = request_arg(request, "limit"), *before = request_arg(request, "before");
    uint64_t most = JOBS_LISTED, from = myr_control_jobs(request->server->control);
    if ((limit &&
         (!myr_str_to_u64(myr_str_from(limit), &most) || most < 1 || most > JOBS_LISTED)) ||
        (before && (!myr_str_to_u64(myr_str_from(before), &from) || from > UINT32_MAX))) {
        return myr_err_set(err, MYR_EINVAL,
                           "'limit' is 1 to %d, 'before' the number of a job; both are whole",
                           JOBS_LISTED);
    }
    uint32_t count = myr_control_jobs(request->server->control);
    *ret_from = from < count ? (uint32_t)from : count;
    *ret_limit = (uint32_t)most;
    MYR_ASSERT(*ret_from <= count && *ret_limit > 0 && *ret_limit <= JOBS_LISTED);
    return MYR_OK;
}

/*
 * Newest first, so that a long history does not hide what is going on; ended ones with all=1. Where
 * a page is full, "next" says where the next one begins.
 */
int api_jobs(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    const char *state = request_arg(request, "state"), *all = request_arg(request, "all");
    MYR_CLEANUP(myr_free_at) struct said_job *jobs = NULL;
    uint32_t listed = 0, from = 0, limit = 0, next = MYR_NONE;
    MYR_TRY(check_state(state, err));
    MYR_TRY(page_of(request, &from, &limit, err));
    starts_refresh(server);
    /* Not zeroed: half a megabyte that is asked for every few seconds. */
    jobs = myr_xrealloc(NULL, limit, sizeof(*jobs));
    for (uint32_t id = from; id-- > 0;) {
        MYR_ASSERT(listed <= limit && next == MYR_NONE);
        const struct job_row *row = rows_job(server, id);
        struct myr_control_job job = rows_job_view(server, id);
        const char *name = myr_control_job_state_name(job.state);
        bool over = job.state >= MYR_CONTROL_DONE;
        /* A state that is asked for goes before 'all'. */
        if (!row || (state ? strcmp(state, name) != 0 : over && !all)) {
            continue;
        }
        /* One more than the page holds is looked for, to know whether there is a next one. */
        if (listed == limit) {
            next = id + 1; /* there is at least one more */
            break;
        }
        jobs[listed++] = shown(server, id);
    }
    api_give(&said_jobs_record, &(struct said_jobs){{jobs, listed}, next}, ret);
    return MYR_OK;
}

/* Where it runs; of one that is over, where it was last. */
static void put_ranks(const struct server *server, uint32_t id, struct said_job_whole *said,
                      struct myr_arena *arena)
{
    uint32_t nodes = rows_job_view(server, id).nodes;
    const struct job_row *row = rows_job(server, id);
    struct myr_control_rank *own = MYR_ARENA_NEW(arena, struct myr_control_rank, nodes + 1);
    uint32_t count = myr_control_job_ranks(server->control, id, own, nodes);
    MYR_ASSERT(count <= nodes && (row->where || row->where_count == 0));
    const struct myr_control_rank *ranks = count ? own : row->where;
    count = count ? count : row->where_count;
    const char **names = MYR_ARENA_NEW(arena, const char *, count + 1);
    uint64_t *gpus = MYR_ARENA_NEW(arena, uint64_t, count + 1);
    struct said_rank *each = MYR_ARENA_NEW(arena, struct said_rank, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(ranks[i].node < server->rows.node_count);
        names[i] = server->rows.nodes[ranks[i].node].name;
        gpus[i] = ranks[i].gpus;
        each[i] = (struct said_rank){.node = names[i],
                                     .first = ranks[i].first,
                                     .gpus = (uint32_t)__builtin_popcountll(ranks[i].gpus),
                                     .up = ranks[i].up};
    }
    said->node_names = (struct myr_items){names, count};
    said->node_gpus = (struct myr_items){gpus, count};
    said->ranks = (struct myr_items){each, count};
}

/* Those that are still remembered, oldest first. */
static void put_events(const struct server *server, uint32_t id, struct said_job_whole *said,
                       struct myr_arena *arena)
{
    uint32_t count = 0;
    struct myr_str *events =
        MYR_ARENA_NEW(arena, struct myr_str, (size_t)(server->feed.next - server->feed.first) + 1);
    for (uint64_t i = server->feed.first; i < server->feed.next; i++) {
        const struct feed_item *item = feed_get(&server->feed, i);
        MYR_ASSERT(item); /* between the first and the next none is forgotten */
        /* Nodes are numbered from 0 as well: the kind tells them apart. */
        if (item->about == id && strcmp(item->kind, "job") == 0) {
            events[count++] = myr_str_from(item->data);
        }
    }
    said->events = (struct myr_items){events, count};
}

/* With its file as it was submitted. */
void api_put_job(const struct server *server, uint32_t id, struct myr_buf *ret)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct said_job_whole said = {.file = rows_job(server, id)->file};
    const struct said_job job = shown(server, id);
    _Static_assert(offsetof(struct said_job_whole, node_names) == sizeof(job),
                   "a whole job begins as one of a list");
    memcpy(&said, &job, sizeof(job));
    put_ranks(server, id, &said, &arena);
    put_events(server, id, &said, &arena);
    api_give(&said_job_whole_record, &said, ret);
}

int api_job(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    uint32_t id;
    MYR_TRY(request_job(request, &id, err));
    starts_refresh(request->server);
    api_put_job(request->server, id, ret);
    return MYR_OK;
}

/* The submitter's own number, so that a request that was sent twice is one job. */
static int token_of(struct request *request, uint64_t *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf secret = {};
    const char *given =
        mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, "Idempotency-Key");
    if (given) {
        myr_buf_printf(&secret, "%s %s", request->who.user, given);
    } else {
        MYR_TRY(myr_io_secret(16, &secret, err));
    }
    /* Never 0, which is no token; with the user's name in it nobody meets another's key. */
    *ret = myr_hash_bytes(secret.data, secret.len) | 1;
    return MYR_OK;
}

/* One that is done is not waited for: the core may have forgotten it. */
static uint32_t before_of(const struct server *server, const struct myr_jobfile *file)
{
    if (file->after.count == 0) {
        return 0;
    }
    uint32_t before = *(const uint32_t *)file->after.at;
    return rows_job_view(server, before).state < MYR_CONTROL_DONE ? before + 1 : 0;
}

/* The table of the job file must not take what the core refuses. */
_Static_assert(MYR_RESTART_STRICT == 0 && MYR_RESTART_EPOCH == 1, "job.rec lists them so");

/* How the job is to lie, as the core is told. */
static struct myr_job_wish wish_of(const struct myr_jobfile *file)
{
    struct myr_job_wish wish = {.leaf_max = file->leaf_max};
    const struct myr_layout *layout = &file->order;
    if (file->within != MYR_JOB_ANYWHERE) {
        wish.within = (uint8_t)(file->within + MYR_LEVEL_LEAF + 1);
    }
    if (!file->ordered) {
        return wish;
    }
    wish.tp = layout->tp;
    wish.cp = layout->cp;
    wish.dp = layout->dp;
    wish.pp = layout->pp;
    wish.ep = layout->ep;
    wish.etp = layout->etp;
    for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        wish.order[i] = (uint8_t)layout->order[i];
    }
    return wish;
}

/* What the core is told of the file. */
static struct myr_job_spec spec_of(const struct server *server, const struct myr_jobfile *file,
                                   uint64_t token, uint32_t tenant)
{
    return (struct myr_job_spec){.token = token,
                                 .tenant = tenant,
                                 .gpus = file->gpus,
                                 .priority = file->priority,
                                 .restart = (uint8_t)file->restart,
                                 .service = file->service,
                                 .held = file->hold,
                                 .gpus_min = file->gpus_min,
                                 .wish = wish_of(file),
                                 .retries = file->retries,
                                 .lease_s = server->engine ? MYR_LEASE_S_MAX : file->lease_s,
                                 .limit_s = file->time_limit,
                                 .after = before_of(server, file)};
}

/* "?at=": the minute since 1970 at which it is to start; 0: when it can. */
static int date_of(struct request *request, const struct myr_jobfile *file, uint32_t *ret,
                   struct myr_err *err)
{
    const char *at = request_arg(request, "at");
    uint64_t minute = 0;
    if (at && (!myr_str_to_u64(myr_str_from(at), &minute) || minute > UINT32_MAX)) {
        return myr_err_set(err, MYR_EINVAL, "'at' is '%.20s', a minute since 1970 is expected", at);
    }
    int64_t late_ms = core_ms(request->server) - (int64_t)minute * 60000;
    if (at && late_ms >= 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "it was to start %s ago by the cluster's clock; a time to come is "
                           "expected",
                           MYR_DURATION(late_ms / 1000));
    }
    if (at && (file->time_limit == 0 || file->array.count || file->after.count || file->hold)) {
        return myr_err_set(err, MYR_EINVAL,
                           "a job with a date has a 'time_limit', is no array, and neither waits "
                           "for another nor is held");
    }
    *ret = (uint32_t)minute;
    return MYR_OK;
}

/* 'index' counts from 1 in an array; 0: there is none. */
static int submit_one(struct request *request, const struct myr_jobfile *file, uint64_t token,
                      uint32_t index, uint32_t *ret_id, struct myr_err *err)
{
    struct server *server = request->server;
    MYR_ASSERT(!server->stuck && token != 0 && file->gpus > 0);
    uint32_t tenant = rows_tenant(server, file->tenant);
    if (tenant == MYR_NONE) {
        return myr_err_set(err, MYR_ERANGE, "%d tenants are all that there is room for",
                           SERVER_TENANTS);
    }
    struct myr_job_spec spec = spec_of(server, file, token, tenant);
    MYR_TRY(date_of(request, file, &spec.date_min, err));
    struct job_row *row = myr_xcalloc(1, sizeof(*row));
    *row = (struct job_row){.token = token,
                            .tenant = tenant,
                            .submitted_ms = core_ms(server),
                            .first_start_ms = -1,
                            .ended_ms = -1,
                            .time_limit_s = file->time_limit,
                            .twin_hours = file->twin.hours,
                            .twin_step_s = file->twin.step_s};
    row->array_index = index ? file->array.first + index : 0;
    if (index) {
        /* Room for the number behind a name of whatever length. */
        snprintf(row->name, sizeof(row->name), "%.68s[%u]", file->name, row->array_index - 1);
    } else {
        snprintf(row->name, sizeof(row->name), "%s", file->name);
    }
    snprintf(row->user, sizeof(row->user), "%s", request->who.user);
    snprintf(row->unix_user, sizeof(row->unix_user), "%s", request->who.unix_user);
    row->file = strndup(request->body.data, request->body.len);
    int rc = server->world.submit ? server->world.submit(server, &spec, row, err) : MYR_OK;
    if (rc < 0) {
        free((char *)row->file);
        free(row);
        return rc;
    }
    /* Ids count up by one: the row is there before the core has decided anything about it. */
    uint32_t id = myr_control_jobs(server->control);
    while (server->rows.jobs.count <= id) {
        myr_vec_push(&server->rows.jobs, NULL);
    }
    MYR_ASSERT(!server->rows.jobs.items[id]);
    server->rows.jobs.items[id] = row;
    rows_put_job(server, id);
    desk_post(server, &(struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = spec});
    rc = desk_run(server, err);
    /* The token tells: whatever else was posted, this is the job that it was given for. */
    if (myr_control_find(server->control, token) != id) {
        /* Refused by the core: the next one gets this number. */
        rows_drop_job(server, id);
        return myr_err_set(err, MYR_EINVAL, "the queue refuses such a job%s",
                           spec.date_min ? " then: too much is reserved" : "");
    }
    if (rc < 0) {
        return myr_err_set(err, MYR_EAWAY,
                           "%s; the job waits as %u and is queued when it can be written",
                           server->stuck_why, id);
    }
    MYR_ASSERT(rows_job(server, id) == row && id < myr_control_jobs(server->control));
    *ret_id = id;
    return MYR_OK;
}

/* One that can never be placed is refused, and leaves nothing. */
static int check_size(const struct server *server, const struct myr_jobfile *file,
                      struct myr_err *err)
{
    MYR_ASSERT(server->config.spares < server->rows.node_count);
    /* Spares are kept free: no job can count on them. */
    uint64_t all =
        (uint64_t)(server->rows.node_count - server->config.spares) * server->config.gpus_per_node;
    if (file->gpus > all) {
        return myr_err_set(err, MYR_ERANGE, "the job asks for %u GPUs, the cluster has %llu%s",
                           file->gpus, (unsigned long long)all,
                           server->config.spares ? " beside its spares" : "");
    }
    /* The core knows one job to wait for. */
    if (file->after.count > 1) {
        return myr_err_set(err, MYR_ERANGE, "'after' names %u jobs; one is expected",
                           file->after.count);
    }
    if (file->after.count == 1) {
        uint32_t before = *(const uint32_t *)file->after.at;
        if (before >= myr_control_jobs(server->control)) {
            return myr_err_set(err, MYR_ENOENT, "'after': no job %u", before);
        }
        enum myr_control_job_state state = rows_job_view(server, before).state;
        /* Failed or cancelled: it would wait for ever. */
        if (state > MYR_CONTROL_DONE) {
            return myr_err_set(err, MYR_ESTALE, "'after': job %u has %s, and will never be done",
                               before, myr_control_job_state_name(state));
        }
    }
    return MYR_OK;
}

/* Byte by byte: a file that means the same but reads differently is another one. */
static bool is_same(const struct job_row *row, const struct request *request)
{
    return strlen(row->file) == request->body.len &&
           memcmp(row->file, request->body.data, request->body.len) == 0;
}

/* What the file says and nobody here reads: told at once, not found out after a week. */
static uint32_t unheeded(const struct server *server, const struct myr_jobfile *file,
                         const char *ret[MYR_RECORD_ROWS_MAX])
{
    return server->config.twin /* nothing of it runs there, and nobody expects that */
               ? 0
               : myr_jobfile_unheeded(file, server->engine ? MYR_JOB_SLURM : MYR_JOB_AGENTS, ret);
}

/*
 * One job, or those of an array. What the same key has submitted before is found and not made
 * again, so that a request whose answer was lost can be repeated.
 */
int api_submit(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_jobfile file;
    uint64_t token;
    MYR_TRY(api_writable(server, err));
    const struct myr_jobfile_how how = {.file = "job",
                                        .gpus_per_node = server->config.gpus_per_node};
    MYR_TRY(myr_jobfile_read(
        &arena, &how,
        (struct myr_str){request->body.data ? request->body.data : "", request->body.len}, &file,
        err));
    MYR_TRY(check_size(server, &file, err));
    /* Simulated ranks are nobody's processes. */
    if (!request->who.unix_user[0] && !server->config.twin) {
        return myr_err_set(err, MYR_EDENIED,
                           "the token of %s names no Unix user whose ranks they would be",
                           request->who.user);
    }
    MYR_TRY(token_of(request, &token, err));
    /* What the inbox still holds may take the next number: it goes first. */
    MYR_TRY(desk_run(server, err));
    uint32_t count = file.array.count ? file.array.count : 1;
    MYR_CLEANUP(myr_free_at) uint32_t *ids = myr_xcalloc(count, sizeof(*ids));
    for (uint32_t i = 0; i < count; i++) {
        /* Each of an array has a number of its own, which the same request finds again. */
        uint64_t own = i ? myr_hash_u64(token + i) | 1 : token;
        uint32_t id = rows_job_of_token(server, own);
        const struct job_row *row = id == MYR_NONE ? NULL : rows_job(server, id);
        if (row && !is_same(row, request)) {
            return myr_err_set(err, MYR_ESTALE,
                               "this Idempotency-Key was used for another job file, by job %u", id);
        }
        if (id == MYR_NONE) {
            MYR_TRY(submit_one(request, &file, own, file.array.count ? i + 1 : 0, &id, err));
        }
        ids[i] = id;
    }
    const char *keys[MYR_RECORD_ROWS_MAX];
    const struct said_submitted said = {
        .id = ids[0], /* there is one at least */
        .name = rows_job(server, ids[0])->name,
        .state = myr_control_job_state_name(rows_job_view(server, ids[0]).state),
        .count = count,
        .ids = {ids, count},
        .unheeded = {keys, unheeded(server, &file, keys)},
        .world = world_names[server->config.world]};
    api_give(&said_submitted_record, &said, ret);
    return MYR_OK;
}

/* The answer comes by http_output(), when the node has given it or none can. */
int api_logs(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    const char *rank_text = request_arg(request, "rank"), *from = request_arg(request, "offset");
    const char *epoch_text = request_arg(request, "epoch");
    uint64_t rank = 0, offset = 0, epoch = 0;
    uint32_t id;
    (void)ret;
    MYR_TRY(request_job(request, &id, err));
    if ((rank_text && !myr_str_to_u64(myr_str_from(rank_text), &rank)) ||
        (from && !myr_str_to_u64(myr_str_from(from), &offset)) ||
        (epoch_text && !myr_str_to_u64(myr_str_from(epoch_text), &epoch))) {
        return myr_err_set(err, MYR_EINVAL, "'rank', 'offset' and 'epoch' are whole numbers");
    }
    struct myr_control_job job = rows_job_view(server, id);
    uint32_t gpus = job.spec.gpus;
    if (epoch > job.epoch) {
        return myr_err_set(err, MYR_ERANGE, "job %u was started %u time%s", id, job.epoch,
                           job.epoch == 1 ? "" : "s");
    }
    /* One rank a GPU. */
    if (rank >= gpus) {
        return myr_err_set(err, MYR_ERANGE, "job %u has ranks 0 to %u", id, gpus - 1);
    }
    /* Before the world is asked, which may answer from inside of the call. */
    request_wait(request);
    struct question question = {id, (uint32_t)rank, (uint32_t)epoch, offset};
    if (!server->world.fetch(server, &question, request)) {
        http_output(request,
                    &(struct output){.problem = "nobody has its output now: the job has not "
                                                "started, or its node is not heard"});
    }
    return HTTP_LATER;
}
