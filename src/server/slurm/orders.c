/*
 * orders: what the core wants done, said to Slurm. A gang is known from the moment at which it is
 * asked for; whether an sbatch whose answer was lost has come to be is found by its comment in the
 * next look, and a mark in the spool keeps it from running twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slurm/state.h"

struct gang *slurm_gang(struct slurm *slurm, uint32_t job, uint32_t epoch)
{
    for (size_t i = 0; i < slurm->gangs.count; i++) {
        struct gang *gang = &slurm->gangs.items[i];
        if (gang->job == job && gang->epoch == epoch) {
            return gang;
        }
    }
    return NULL;
}

/* The last one fills the gap: pointers to gangs do not outlive it. */
void slurm_drop(struct slurm *slurm, const struct gang *gang)
{
    size_t at = (size_t)(gang - slurm->gangs.items);
    MYR_ASSERT(at < slurm->gangs.count && &slurm->gangs.items[at] == gang);
    MYR_ASSERT(gang->known_at <= slurm->look);
    slurm->gangs.items[at] = slurm->gangs.items[--slurm->gangs.count];
}

/* Sooner than planned, never later; a look that is under way plans the next itself. */
void slurm_look_in(struct slurm *slurm, int64_t ms)
{
    MYR_ASSERT(ms > 0);
    if (!slurm->closing && !slurm->under_way &&
        (!uv_is_active((uv_handle_t *)&slurm->timer) ||
         (int64_t)uv_timer_get_due_in(&slurm->timer) > ms)) {
        uv_timer_start(&slurm->timer, slurm->on_timer, (uint64_t)ms, 0);
    }
}

/* One that came too late is of no concern: the next look tells, and the order comes again. */
static void on_cancelled(struct server *server, void *context, const struct call_result *result)
{
    char why[300];
    (void)context;
    if (result->code != 0 && !result->late) {
        enum myr_slurm_fault fault = myr_slurm_read_fault("scancel", result->err, why, sizeof(why));
        if (fault != MYR_SLURM_REFUSED) { /* else it is over already, which the next look says */
            engine_away(server, why);
        }
    }
    slurm_look_in(slurm_of(server), SOON_MS);
}

void slurm_cancel(struct slurm *slurm, uint64_t id, bool softly)
{
    char number[24];
    MYR_ASSERT(!slurm->closing && slurm->calls);
    snprintf(number, sizeof(number), "%llu", (unsigned long long)id);
    /* A signal goes to the ranks; without one Slurm ends all of it, in its own KillWait. */
    const char *const soft[] = {"scancel", "--signal=TERM", number, NULL};
    const char *const hard[] = {"scancel", number, NULL};
    call(slurm->calls, &(struct call_order){.argv = softly ? soft : hard, .done = on_cancelled});
}

/* What is started under this number from now on ends at once. */
static void mark_stopped(const struct slurm *slurm, uint32_t job, uint32_t epoch)
{
    char path[PATH_BYTES + 64];
    MYR_ASSERT(slurm->spool[0] && epoch > 0); /* what never began is not stopped */
    script_folder(slurm->spool, job, epoch, path, sizeof(path) - 16);
    snprintf(path + strlen(path), 16, "/stopped");
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0) {
        close(fd);
    }
}

/* lstat: the mark is a link to a number, which leads to no file. */
bool slurm_was_started(const struct slurm *slurm, uint32_t job, uint32_t epoch)
{
    char path[PATH_BYTES + 64];
    struct stat status;
    script_folder(slurm->spool, job, epoch, path, sizeof(path) - 16);
    snprintf(path + strlen(path), 16, "/started");
    return lstat(path, &status) == 0;
}

/*
 * With a grace its ranks get a signal first and on_second() ends it; without one, or where no rank
 * has begun, Slurm ends it at once.
 */
static void end(struct slurm *slurm, struct gang *gang, uint32_t grace_s)
{
    int64_t now_ms = steady_ms();
    /* The order comes again until it is answered; the signal is given once. */
    bool first = !gang->stopping;
    gang->stopping = true;
    gang->since_ms = now_ms;
    MYR_ASSERT(gang->stage == STAGE_THERE || gang->id == 0);
    if (gang->stage != STAGE_THERE) {
        return; /* as soon as its number is known */
    }
    if (grace_s > 0 && gang->up_told && !gang->killed) {
        int64_t kill_ms = now_ms + 1000 * (int64_t)grace_s;
        /* A later order can shorten the grace, never lengthen it. */
        gang->kill_ms = gang->kill_ms && gang->kill_ms < kill_ms ? gang->kill_ms : kill_ms;
        MYR_ASSERT(gang->kill_ms <= kill_ms && gang->kill_ms > 0);
        if (first) {
            slurm_cancel(slurm, gang->id, true);
        }
    } else {
        gang->killed = true;
        slurm_cancel(slurm, gang->id, false);
    }
    slurm_look_in(slurm, SOON_MS);
}

/* All incarnations up to that one; answered when Slurm has none of them any more. */
void slurm_stop(struct server *server, uint32_t job, uint32_t epoch, uint32_t grace_s)
{
    struct slurm *slurm = slurm_of(server);
    bool found = false;
    /* Before anything is cancelled: an sbatch that is still on its way ends by the mark. */
    mark_stopped(slurm, job, epoch);
    for (size_t i = 0; i < slurm->gangs.count; i++) {
        struct gang *gang = &slurm->gangs.items[i];
        if (gang->job == job && gang->epoch <= epoch) {
            MYR_ASSERT(gang->known_at <= slurm->look);
            found = true;
            end(slurm, gang, grace_s);
        }
    }
    if (!found && slurm->looks_done > 0) {
        engine_gone(server, job, epoch, MYR_NONE);
    } /* before the first look nobody knows: the order comes again */
}

/* Its folder: the user's, in which ranks write. */
static int make_folder(const struct slurm *slurm, const struct engine_gang *gang,
                       struct myr_err *err)
{
    char path[PATH_BYTES + 32];
    script_folder(slurm->spool, gang->job, gang->epoch, path, sizeof(path));
    if (mkdir(path, 0755) < 0 && errno != EEXIST) {
        return myr_err_errno(err, "making", path);
    }
    /* Only root gives away; anybody else submits for himself. */
    const struct passwd *user = geteuid() == 0 ? getpwnam(gang->row->unix_user) : NULL;
    if (user && chown(path, user->pw_uid, user->pw_gid) < 0) {
        return myr_err_errno(err, "giving away", path);
    }
    return MYR_OK;
}

/* Taken, refused for good, or not known: only the first two are told to the core. */
static void on_submitted(struct server *server, void *context, const struct call_result *result)
{
    struct slurm *slurm = slurm_of(server);
    MYR_ASSERT(!slurm->closing);       /* whoever ends hears no answers */
    uint64_t key = (uintptr_t)context; /* job and epoch */
    struct gang *gang = slurm_gang(slurm, (uint32_t)(key >> 32), (uint32_t)key);
    uint64_t id;
    char why[300];
    if (!gang || gang->stage == STAGE_THERE) {
        return; /* a look was quicker */
    }
    MYR_ASSERT(gang->id == 0 && gang->known_at <= slurm->look);
    gang->since_ms = steady_ms();
    gang->known_at = slurm->look;
    if (result->code == 0 && myr_slurm_read_id(result->out, &id)) {
        gang->stage = STAGE_THERE;
        gang->id = id;
        log_say("info", "job %u is Slurm's job %llu", gang->job, (unsigned long long)id);
        engine_away(server, NULL);
        if (gang->stopping) {
            gang->killed = true;
            slurm_cancel(slurm, id, false);
        }
        slurm_look_in(slurm, SOON_MS);
        return;
    }
    enum myr_slurm_fault fault = myr_slurm_read_fault("sbatch", result->err, why, sizeof(why));
    /* Slurm has understood it and does not want it: asking again would not help. */
    if (fault == MYR_SLURM_REFUSED && !result->late) {
        struct gang was = *gang;
        slurm_drop(slurm, gang);
        engine_started(server, was.job, was.epoch, MYR_NONE, MYR_START_OWN_FAULT, why);
        engine_gone(server, was.job, was.epoch, MYR_NONE);
        return;
    }
    /* It may have been taken all the same; the next look finds it by its comment. */
    gang->stage = STAGE_UNSURE;
    engine_away(server, result->late ? "its controller does not answer sbatch" : why);
    slurm_look_in(slurm, SOON_MS);
}

/* As is_ours() of look.c reads it. */
static void comment_of(const struct slurm *slurm, uint32_t job, uint32_t epoch, char *ret,
                       size_t size)
{
    MYR_ASSERT(slurm->tag[0] && epoch > 0); /* by both it is known again */
    snprintf(ret, size, "myriad:%s:%u.%u", slurm->tag, job, epoch);
}

/* The folder is made before the script can run. */
static int make(const struct slurm *slurm, const struct engine_gang *gang,
                const struct script_place *place, struct script *ret, struct myr_err *err)
{
    MYR_TRY(make_folder(slurm, gang, err));
    return script_make(slurm->server, gang, place, ret, err);
}

/* What fails before sbatch runs is the job's own fault. */
static void submit(struct slurm *slurm, const struct engine_gang *gang)
{
    struct server *server = slurm->server;
    char comment[80];
    struct script script;
    struct myr_err err = {};
    const struct tenant_row *tenant = gang->row->tenant < server->rows.tenants.count
                                          ? &server->rows.tenants.items[gang->row->tenant]
                                          : NULL;
    /* The default tenant has no account. */
    bool named = server->config.slurm.accounts && tenant && strcmp(tenant->name, "default") != 0;
    comment_of(slurm, gang->job, gang->epoch, comment, sizeof(comment));
    struct script_place place = {.spool = slurm->spool,
                                 .comment = comment,
                                 .account = named ? tenant->name : NULL,
                                 .node_cpus = slurm->node_cpus,
                                 .node_memory_mb = slurm->node_memory_mb,
                                 .gpus_known = slurm->gpus_known,
                                 .as_root = geteuid() == 0};
    MYR_ASSERT(slurm->looks_done > 0); /* before, nobody knows what runs */
    if (make(slurm, gang, &place, &script, &err) < 0) {
        engine_started(server, gang->job, gang->epoch, MYR_NONE, MYR_START_OWN_FAULT, err.message);
        engine_gone(server, gang->job, gang->epoch, MYR_NONE);
        return;
    }
    uint64_t key = (uint64_t)gang->job << 32 | gang->epoch;
    void *context = (void *)(uintptr_t)key; /* NOLINT(performance-no-int-to-ptr): no address */
    MYR_SLOW_ASSERT(!slurm_gang(slurm, gang->job, gang->epoch)); /* nothing is asked for twice */
    /* Known before the command runs: a look meanwhile may find it. */
    myr_vec_push(&slurm->gangs, (struct gang){.job = gang->job,
                                              .epoch = gang->epoch,
                                              .stage = STAGE_ASKED,
                                              .known_at = slurm->look,
                                              .since_ms = steady_ms()});
    call(slurm->calls, &(struct call_order){.argv = script.argv,
                                            .input = {script.text.data, script.text.len},
                                            .done = on_submitted,
                                            .context = context});
    script_done(&script);
}

/* The order may come again: what is there is not submitted a second time. */
void slurm_start(struct server *server, const struct engine_gang *gang)
{
    struct slurm *slurm = slurm_of(server);
    MYR_ASSERT(gang->count > 0 && gang->row);
    struct gang *known = slurm_gang(slurm, gang->job, gang->epoch);
    if (slurm->looks_done == 0) { /* it may run already */
        myr_vec_push(&slurm->early, gang->job);
        return;
    }
    if (!known && !slurm_was_started(slurm, gang->job, gang->epoch)) {
        submit(slurm, gang);
    } else if (!known) {
        return; /* it ended, and that is being told */
    } else if (known->up_told && !known->stopping) {
        engine_started(server, gang->job, gang->epoch, MYR_NONE, MYR_START_OK, NULL);
    }
}

/* Said in the log alone: the next look tells the core how the node is. */
static void on_node_told(struct server *server, void *context, const struct call_result *result)
{
    char why[300];
    (void)context;
    if (result->code != 0) {
        (void)myr_slurm_read_fault("scontrol", result->err, why, sizeof(why));
        log_say("error", "Slurm: a node was not drained or resumed: %s",
                result->late ? "no answer" : why);
    }
    slurm_look_in(slurm_of(server), SOON_MS);
}

/* Neighbours in the list that are told the same are told together. */
static void on_flush(uv_timer_t *timer)
{
    struct slurm *slurm = timer->data;
    for (size_t i = 0; i < slurm->orders.count;) {
        const struct node_order *first = &slurm->orders.items[i];
        MYR_CLEANUP(myr_buf_done) struct myr_buf names = {}, reason = {};
        size_t next = i;
        myr_buf_puts(&names, "NodeName=");
        for (; next < slurm->orders.count; next++) {
            const struct node_order *order = &slurm->orders.items[next];
            MYR_ASSERT(order->node < slurm->server->rows.node_count);
            if (order->drain != first->drain || strcmp(order->reason, first->reason) != 0) {
                break;
            }
            myr_buf_printf(&names, "%s%s", next > i ? "," : "",
                           slurm->server->rows.nodes[order->node].name);
        }
        /* Whoever looks at Slurm sees where it came from. */
        myr_buf_printf(&reason, "Reason=myriad: %s", first->reason);
        const char *const drain[] = {"scontrol",    "update",    names.data,
                                     "State=DRAIN", reason.data, NULL};
        const char *const resume[] = {"scontrol", "update", names.data, "State=RESUME", NULL};
        call(slurm->calls,
             &(struct call_order){.argv = first->drain ? drain : resume, .done = on_node_told});
        MYR_ASSERT(next > i); /* the first is like itself */
        i = next;
    }
    slurm->orders.count = 0;
}

/* Gathered for a moment: nodes of one list become one command. */
void slurm_node(struct server *server, uint32_t node, bool drain, const char *reason)
{
    struct slurm *slurm = slurm_of(server);
    struct node_order order = {.node = node, .drain = drain};
    MYR_ASSERT(node < server->rows.node_count && !slurm->closing);
    snprintf(order.reason, sizeof(order.reason), "%s", reason);
    myr_vec_push(&slurm->orders, order);
    uv_timer_start(&slurm->flush, on_flush, FLUSH_MS, 0);
}
