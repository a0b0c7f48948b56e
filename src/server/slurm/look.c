/*
 * look: what Slurm says of its jobs and nodes, taken in as one. A look is an squeue, and now and
 * then an sinfo beside it; between two of them nothing is asked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "slurm/state.h"

/* --- jobs --- */

/* "myriad:TAG:12.3" of ours. */
static bool is_ours(const struct slurm *slurm, struct myr_str comment, uint32_t *ret_job,
                    uint32_t *ret_epoch)
{
    size_t head = strlen("myriad:") + strlen(slurm->tag) + 1;
    uint64_t job, epoch;
    if (comment.len <= head || memcmp(comment.data, "myriad:", 7) != 0 ||
        memcmp(comment.data + 7, slurm->tag, strlen(slurm->tag)) != 0 ||
        comment.data[head - 1] != ':') {
        return false;
    }
    struct myr_str rest = {comment.data + head, comment.len - head};
    const char *dot = memchr(rest.data, '.', rest.len);
    if (!dot || !myr_str_to_u64((struct myr_str){rest.data, (size_t)(dot - rest.data)}, &job) ||
        !myr_str_to_u64((struct myr_str){dot + 1, rest.len - (size_t)(dot - rest.data) - 1},
                        &epoch) ||
        job >= MYR_NONE || epoch >= MYR_NONE) {
        return false;
    }
    *ret_job = (uint32_t)job;
    *ret_epoch = (uint32_t)epoch;
    return true;
}

/* What its script wrote when it ended; -1: nothing. */
static int exit_code(const struct slurm *slurm, uint32_t job, uint32_t epoch)
{
    char path[PATH_BYTES + 64], text[16] = "";
    script_folder(slurm->spool, job, epoch, path, sizeof(path) - 16);
    snprintf(path + strlen(path), 16, "/exit");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    uint64_t code;
    size_t len = got > 0 ? (size_t)got : 0;
    len -= len > 0 && text[len - 1] == '\n';
    return myr_str_to_u64((struct myr_str){text, len}, &code) && code < 256 ? (int)code : -1;
}

/* Who is told of an end that nobody can lay on a node; MYR_NONE where the job has none. */
static uint32_t first_node(const struct server *server, uint32_t job)
{
    struct myr_control_rank rank = {.node = MYR_NONE};
    (void)myr_control_job_ranks(server->control, job, &rank, 1);
    MYR_ASSERT(rank.node == MYR_NONE || rank.node < server->rows.node_count);
    return rank.node;
}

/* One exit is one failure, however many ranks it had; then nothing of it is left. */
static void failed(struct server *server, const struct gang *gang, const char *why)
{
    engine_exited(server, gang->job, gang->epoch, first_node(server, gang->job), true, why);
    engine_gone(server, gang->job, gang->epoch, MYR_NONE);
}

/*
 * Slurm's word for the end, held against what the script wrote, becomes one of: gone, well,
 * cancelled, failed. Lost and pushed aside are no failures of the job.
 */
static void ended(struct slurm *slurm, const struct gang *gang, const struct myr_slurm_job *job)
{
    struct server *server = slurm->server;
    char why[200];
    /* It is out of the list before its end is told, so that none is told twice. */
    MYR_SLOW_ASSERT(!slurm_gang(slurm, gang->job, gang->epoch));
    int code = exit_code(slurm, gang->job, gang->epoch);
    snprintf(why, sizeof(why), "Slurm: job %llu is %.*s%s", (unsigned long long)gang->id,
             (int)(job->state.len < 40 ? job->state.len : 40), job->state.data,
             code > 0 ? ", exit code " : "");
    if (code > 0) {
        snprintf(why + strlen(why), sizeof(why) - strlen(why), "%d", code);
    }
    /*
     * A script that was not told to end and has written how it did has ended, whatever Slurm calls
     * it: one that was over while the controller was away is lost to that ("missing from batch
     * node"). Not so where a node is not heard any more: an srun that loses a node ends, too, with
     * 0 at times, and what ran there may run on.
     */
    bool by_itself = job->is == MYR_SLURM_JOB_LOST && code >= 0 && engine_whole(server, gang->job);
    bool lost = job->is == MYR_SLURM_JOB_LOST || job->is == MYR_SLURM_JOB_PUSHED;
    if (gang->stopping || (lost && !by_itself)) {
        if (!gang->stopping) {
            engine_waits(server, gang->job, why);
            log_say("warning", "job %u: %s", gang->job, why);
        }
        engine_gone(server, gang->job, gang->epoch, MYR_NONE);
    } else if (job->is == MYR_SLURM_JOB_DONE || (by_itself && code == 0)) {
        engine_exited(server, gang->job, gang->epoch, MYR_NONE, false, NULL);
    } else if (job->is == MYR_SLURM_JOB_CANCELLED) {
        engine_cancelled(server, gang->job, "cancelled in Slurm");
        engine_gone(server, gang->job, gang->epoch, MYR_NONE);
    } else {
        failed(server, gang, why);
    }
}

/* Slurm keeps an ended job for MinJobAge: one that a look missed is known by what it wrote. */
static void vanished(struct slurm *slurm, const struct gang *gang)
{
    struct server *server = slurm->server;
    MYR_SLOW_ASSERT(!slurm_gang(slurm, gang->job, gang->epoch));
    int code = exit_code(slurm, gang->job, gang->epoch);
    char why[120];
    /* Asked to end, or with a node that nobody can see: no verdict on how it ended. */
    if (gang->stopping || !engine_whole(server, gang->job)) {
        engine_gone(server, gang->job, gang->epoch, MYR_NONE);
    } else if (code == 0) {
        engine_exited(server, gang->job, gang->epoch, MYR_NONE, false, NULL);
    } else {
        snprintf(why, sizeof(why), "Slurm: it ended%s",
                 code < 0 ? ", and nobody saw how" : ", exit code ");
        if (code > 0) {
            snprintf(why + strlen(why), sizeof(why) - strlen(why), "%d", code);
        }
        failed(server, gang, why);
    }
}

/* Slurm's own word, with the limit behind it where it is one of an account. */
static void note_wait(struct server *server, const struct gang *gang,
                      const struct myr_slurm_job *job)
{
    char why[300], limit[160];
    MYR_ASSERT(gang->stage == STAGE_THERE && !gang->stopping);
    slurm_accounts_explain(slurm_of(server), gang->job, job->reason, limit, sizeof(limit));
    snprintf(why, sizeof(why), "Slurm: job %llu waits: %.*s%s", (unsigned long long)gang->id,
             (int)(job->reason.len < 80 ? job->reason.len : 80), job->reason.data, limit);
    engine_waits(server, gang->job, why);
}

/* One of ours in the list. */
static void take_own(struct slurm *slurm, const struct myr_slurm_job *job, uint32_t id,
                     uint32_t epoch)
{
    struct server *server = slurm->server;
    struct gang *gang = slurm_gang(slurm, id, epoch);
    uint64_t number;
    bool over = job->is >= MYR_SLURM_JOB_DONE;
    if (!myr_slurm_read_id(job->id, &number)) {
        return; /* part of an array: none of ours */
    }
    if (!gang && over && slurm->looks_done > 0) {
        return; /* its end was taken in when it was seen first */
    }
    if (!gang && engine_wants(server, id, epoch)) { /* from before our start */
        myr_vec_push(&slurm->gangs, (struct gang){.job = id,
                                                  .epoch = epoch,
                                                  .id = number,
                                                  .stage = STAGE_THERE,
                                                  .since_ms = steady_ms()});
        gang = &slurm->gangs.items[slurm->gangs.count - 1];
    }
    if (gang && gang->stage != STAGE_THERE && !over) {
        gang->stage = STAGE_THERE;
        gang->id = number;
        log_say("info", "job %u is Slurm's job %llu", id, (unsigned long long)number);
        if (gang->stopping) {
            slurm_cancel(slurm, number, false);
        }
    }
    if (!gang || gang->id != number) {
        if (!over && job->is != MYR_SLURM_JOB_ENDS) { /* nobody wants it, or it is there twice */
            log_say("warning", "Slurm: job %llu is not wanted any more, and is cancelled",
                    (unsigned long long)number);
            slurm_cancel(slurm, number, false);
        }
        return;
    }
    MYR_ASSERT(gang->job == id && gang->epoch == epoch && (over || gang->stage == STAGE_THERE));
    gang->seen = true;
    /* A whole look comes next, and says whether its nodes are well. */
    if (job->is == MYR_SLURM_JOB_LOST && !slurm->whole) {
        slurm->whole_ms = 0; /* first it is looked which node that was */
        gang->since_ms = steady_ms();
        gang->up_told = false;
    } else if (over) {
        struct gang was = *gang;
        slurm_drop(slurm, gang);
        ended(slurm, &was, job);
    } else if (job->is == MYR_SLURM_JOB_RUNS && !gang->up_told && !gang->stopping) {
        gang->up_told = true;
        gang->runs_ms = steady_ms();
        engine_started(server, id, epoch, MYR_NONE, MYR_START_OK, NULL);
        engine_waits(server, id, "");
    } else if (job->is == MYR_SLURM_JOB_RUNS && steady_ms() - gang->runs_ms > DAY_MS) {
        gang->runs_ms = steady_ms();
        engine_runs(server, id, epoch);
    } else if (job->is == MYR_SLURM_JOB_WAITS && !gang->stopping) {
        note_wait(server, gang, job);
    }
}

/* Whose job it is, for the names that are read of it. */
struct others {
    struct slurm *slurm;
    const struct myr_slurm_job *job;
};

/* Only of our list; the last one that is seen there is named. */
static int mark_other(void *context, struct myr_str name, struct myr_err *err)
{
    struct others *others = context;
    struct slurm *slurm = others->slurm;
    uint32_t id = myr_strmap_get(&slurm->server->rows.node_ids, name);
    (void)err;
    if (id != MYR_MAP_NONE) {
        MYR_ASSERT(id < slurm->server->rows.node_count);
        struct node_seen *seen = &slurm->nodes[id];
        seen->others = slurm->look;
        snprintf(seen->other, sizeof(seen->other), "Slurm: job %.*s of %.*s runs there",
                 (int)(others->job->id.len < 24 ? others->job->id.len : 24), others->job->id.data,
                 (int)(others->job->user.len < 32 ? others->job->user.len : 32),
                 others->job->user.data);
    }
    return MYR_OK;
}

static int each_own(void *context, const struct myr_slurm_job *job, struct myr_err *err)
{
    struct slurm *slurm = context;
    uint32_t id, epoch;
    (void)err;
    if (is_ours(slurm, job->comment, &id, &epoch)) {
        take_own(slurm, job, id, epoch);
    }
    return MYR_OK;
}

/* Jobs that have nodes now, from their start to their end. */
static int each_other(void *context, const struct myr_slurm_job *job, struct myr_err *err)
{
    struct slurm *slurm = context;
    uint32_t id, epoch;
    if (is_ours(slurm, job->comment, &id, &epoch)) {
        return MYR_OK;
    }
    bool there = job->is >= MYR_SLURM_JOB_STARTS && job->is <= MYR_SLURM_JOB_ENDS;
    struct others others = {slurm, job};
    return there ? myr_slurm_read_names(job->nodes, mark_other, &others, err) : MYR_OK;
}

/* Those that the list does not have, though it is newer than they are. */
static void take_missing(struct slurm *slurm)
{
    for (size_t i = slurm->gangs.count; i-- > 0;) {
        struct gang was = slurm->gangs.items[i];
        MYR_ASSERT(was.known_at <= slurm->look && (was.stage == STAGE_THERE || was.id == 0));
        /* An sbatch that has not answered may come into being after this list was made. */
        if (was.seen || was.stage == STAGE_ASKED || slurm->look <= was.known_at) {
            continue;
        }
        slurm_drop(slurm, &slurm->gangs.items[i]);
        if (was.stage == STAGE_THERE) {
            vanished(slurm, &was);
        } else if (was.stopping) {
            engine_gone(slurm->server, was.job, was.epoch, MYR_NONE);
        } else {
            engine_again(slurm->server, was.job); /* it never came to be */
        }
    }
}

/* What the core has running from before our start, and Slurm has forgotten, ended meanwhile. */
static void take_forgotten(struct slurm *slurm)
{
    struct server *server = slurm->server;
    MYR_ASSERT(slurm->looks_done == 1); /* with the first look, and never again */
    for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
        struct myr_control_job job = myr_control_job(server->control, id);
        /* One that was to start and has no mark has never begun: it is asked for again. */
        bool ran = job.state >= MYR_CONTROL_STARTING && job.state < MYR_CONTROL_DONE &&
                   (job.state != MYR_CONTROL_STARTING || slurm_was_started(slurm, id, job.epoch));
        if (ran && !slurm_gang(slurm, id, job.epoch)) {
            vanished(slurm, &(struct gang){.job = id, .epoch = job.epoch});
        }
    }
}

/* --- nodes --- */

/* Nodes of one line of sinfo are alike; each name of it is told. */
struct alike {
    struct slurm *slurm;
    const struct myr_slurm_node *node;
};

/* What a node is to the core: Slurm's state, and over it what keeps us from using it. */
static int each_name(void *context, struct myr_str name, struct myr_err *err)
{
    /* By enum myr_slurm_node_is. */
    static const enum engine_node_is is[] = {ENGINE_NODE_UP,   ENGINE_NODE_HELD,
                                             ENGINE_NODE_HELD, ENGINE_NODE_SILENT,
                                             ENGINE_NODE_DOWN, ENGINE_NODE_ABSENT};
    const struct alike *alike = context;
    struct slurm *slurm = alike->slurm;
    const struct myr_slurm_node *node = alike->node;
    const struct config *config = &slurm->server->config;
    uint32_t id = myr_strmap_get(&slurm->server->rows.node_ids, name);
    char reason[200] = "";
    struct engine_node now = {.is = is[node->is], .reason = reason};
    (void)err;
    if (id == MYR_MAP_NONE) {
        return MYR_OK;
    }
    MYR_ASSERT(id < slurm->server->rows.node_count);
    struct node_seen *seen = &slurm->nodes[id];
    MYR_ASSERT(seen->look <= slurm->look && seen->others <= slurm->look);
    seen->look = slurm->look;
    /* A controller that was started anew has heard of nobody yet: no sign of a node's death. */
    if (now.is == ENGINE_NODE_SILENT && seen->there && slurm->back_ms &&
        steady_ms() - slurm->back_ms < GRACE_MS) {
        return MYR_OK;
    }
    seen->there = now.is == ENGINE_NODE_UP || now.is == ENGINE_NODE_HELD;
    /* Ours may be the reservation that it is for; if not, sbatch says so. */
    if (node->is == MYR_SLURM_NODE_RESERVED && strstr(config->slurm.options, "--reservation")) {
        now.is = ENGINE_NODE_UP;
    }
    if (now.is == ENGINE_NODE_UP && node->gpus > 0 && node->gpus < config->gpus_per_node) {
        now.is = ENGINE_NODE_HELD;
        snprintf(reason, sizeof(reason), "Slurm: %llu GPUs, %u are expected",
                 (unsigned long long)node->gpus, config->gpus_per_node);
    } else if (now.is == ENGINE_NODE_UP && seen->others == slurm->look) {
        now.is = ENGINE_NODE_HELD;
        snprintf(reason, sizeof(reason), "%s", seen->other);
    } else if (now.is != ENGINE_NODE_UP) {
        snprintf(reason, sizeof(reason), "Slurm: %.*s%s%.*s",
                 (int)(node->state.len < 24 ? node->state.len : 24), node->state.data,
                 node->reason.len ? ": " : "",
                 (int)(node->reason.len < 100 ? node->reason.len : 100), node->reason.data);
    }
    engine_node(slurm->server, id, &now);
    return MYR_OK;
}

/* Nodes stand in a line for each partition that they are in; ours alone counts. */
static int each_node(void *context, const struct myr_slurm_node *node, struct myr_err *err)
{
    struct slurm *slurm = context;
    const char *partition = slurm->server->config.slurm.partition;
    struct alike alike = {slurm, node};
    bool counts =
        partition[0] ? myr_str_eq(node->partition, myr_str_from(partition)) : node->in_default;
    if (!counts) {
        return MYR_OK;
    }
    slurm->gpus_known = slurm->gpus_known || node->gpus > 0;
    slurm->node_cpus = node->cpus;
    slurm->node_memory_mb = node->memory_mb;
    return myr_slurm_read_names(node->names, each_name, &alike, err);
}

/* Those of our list that no line of this look had. */
static void take_absent(struct slurm *slurm)
{
    for (uint32_t id = 0; id < slurm->server->rows.node_count; id++) {
        MYR_ASSERT(slurm->nodes[id].look <= slurm->look);
        if (slurm->nodes[id].look != slurm->look) {
            engine_node(slurm->server, id,
                        &(struct engine_node){.is = ENGINE_NODE_ABSENT,
                                              .reason = "Slurm: not in the partition"});
        }
    }
}

/* --- looking --- */

/* Soon while something is expected, else after poll_s; a controller that is away is not pressed. */
static void set_next(struct slurm *slurm)
{
    MYR_ASSERT(!slurm->under_way);
    int64_t wait_ms = 1000 * (int64_t)slurm->server->config.slurm.poll_s, now_ms = steady_ms();
    for (size_t i = 0; i < slurm->gangs.count && !slurm->failed; i++) {
        const struct gang *gang = &slurm->gangs.items[i];
        if (!gang->up_told || gang->stopping) { /* seldomer the longer it takes */
            int64_t soon_ms = (now_ms - gang->since_ms) / 2;
            soon_ms = soon_ms > SOON_MS ? soon_ms : SOON_MS;
            wait_ms = soon_ms < wait_ms ? soon_ms : wait_ms;
        }
    }
    slurm_look_in(slurm, wait_ms);
}

/* Nodes before jobs: who lost a node must not start there again, as if nothing had been. */
static int take_look(struct slurm *slurm, struct myr_err *err)
{
    struct myr_str jobs = {slurm->jobs.data ? slurm->jobs.data : "", slurm->jobs.len};
    struct myr_str nodes = {slurm->lines.data ? slurm->lines.data : "", slurm->lines.len};
    MYR_ASSERT(slurm->jobs_here && slurm->nodes_here && !slurm->failed && !slurm->under_way);
    for (size_t i = 0; i < slurm->gangs.count; i++) {
        slurm->gangs.items[i].seen = false;
    }
    if (slurm->whole) {
        MYR_TRY(myr_slurm_read_jobs("squeue", jobs, each_other, slurm, err));
        MYR_TRY(myr_slurm_read_nodes("sinfo", nodes, each_node, slurm, err));
        take_absent(slurm);
        slurm->whole_ms = steady_ms();
    }
    MYR_TRY(myr_slurm_read_jobs("squeue", jobs, each_own, slurm, err));
    take_missing(slurm);
    return MYR_OK;
}

/* When both commands have answered. Of a look that failed nothing is concluded. */
static void look_over(struct slurm *slurm)
{
    struct myr_err err = {};
    if (!slurm->jobs_here || !slurm->nodes_here) {
        return;
    }
    MYR_ASSERT(slurm->under_way && slurm->looks_done < slurm->look);
    slurm->under_way = false;
    /* From now on its silence about a node means nothing, for GRACE_MS. */
    if (!slurm->failed && slurm->was_away) {
        slurm->back_ms = steady_ms();
    }
    if (!slurm->failed && take_look(slurm, &err) < 0) {
        slurm->failed = true;
        engine_away(slurm->server, err.message);
    } else if (!slurm->failed) {
        engine_away(slurm->server, NULL);
        if (slurm->looks_done++ == 0) {
            take_forgotten(slurm);
            for (size_t i = 0; i < slurm->early.count; i++) {
                engine_again(slurm->server, slurm->early.items[i]);
            }
            slurm->early.count = 0;
        }
    }
    slurm->was_away = slurm->failed;
    set_next(slurm);
}

/* False: it failed, which was said. */
static bool take_output(struct slurm *slurm, const char *command, struct myr_buf *to,
                        const struct call_result *result)
{
    char why[300];
    MYR_ASSERT(slurm->under_way); /* of a look that is over nothing is awaited */
    myr_buf_clear(to);
    if (result->code == 0) {
        myr_buf_put(to, result->out.data, result->out.len);
        return true;
    }
    (void)myr_slurm_read_fault(command, result->err, why, sizeof(why));
    if (result->late) {
        snprintf(why, sizeof(why), "its controller does not answer %s within %u s", command,
                 slurm->server->config.slurm.timeout_s);
    }
    engine_away(slurm->server, why);
    slurm->failed = true;
    return false;
}

static void on_jobs(struct server *server, void *context, const struct call_result *result)
{
    struct slurm *slurm = context;
    (void)server;
    MYR_ASSERT(slurm->under_way && !slurm->jobs_here);
    (void)take_output(slurm, "squeue", &slurm->jobs, result);
    slurm->jobs_here = true;
    look_over(slurm);
}

static void on_nodes(struct server *server, void *context, const struct call_result *result)
{
    struct slurm *slurm = context;
    (void)server;
    MYR_ASSERT(slurm->under_way && slurm->whole && !slurm->nodes_here);
    (void)take_output(slurm, "sinfo", &slurm->lines, result);
    slurm->nodes_here = true;
    look_over(slurm);
}

/* Both commands run beside each other; look_over() takes them in as one. */
void slurm_look(struct slurm *slurm)
{
    const struct slurm_config *config = &slurm->server->config.slurm;
    static const char *const jobs[] = {
        "squeue", "-h", "-a", "-t", "all", "-o", MYR_SLURM_JOB_FORMAT, NULL};
    static const char *const nodes[] = {"sinfo", "-h", "-a", "-e", "-o", MYR_SLURM_NODE_FORMAT,
                                        NULL};
    MYR_ASSERT(!slurm->under_way && !slurm->closing);
    /* Nodes are looked at every poll_s, jobs also in between while one is starting or ending. */
    slurm->whole = slurm->looks_done == 0 ||
                   steady_ms() - slurm->whole_ms >= 1000 * (int64_t)config->poll_s - SOON_MS;
    slurm->look++;
    slurm->under_way = true;
    slurm->failed = slurm->jobs_here = false;
    /* Nodes that are not asked for are not waited for. */
    slurm->nodes_here = !slurm->whole;
    if (slurm->whole) {
        call(slurm->calls, &(struct call_order){.argv = nodes, .done = on_nodes, .context = slurm});
    }
    call(slurm->calls, &(struct call_order){.argv = jobs, .done = on_jobs, .context = slurm});
}
