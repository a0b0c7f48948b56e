#include "runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch.h"
#include "told.h"

#define SECOND_NS 1000000000LL

enum {
    SHIM_PATIENCE_S = 30, /* beyond the grace */
    KEPT_RUNS = 8,        /* whose output is kept after their end */
    RESPAWN_MAX_S = 30,
};

const struct run *runs_find(const struct runs *runs, uint64_t job, uint32_t epoch)
{
    const struct run *best = NULL;
    for (size_t i = 0; i < runs->items.count; i++) {
        const struct run *run = runs->items.items[i];
        if (run->job == job && (epoch == 0 || run->epoch == epoch) &&
            (!best || run->epoch > best->epoch)) {
            best = run;
        }
    }
    return best;
}

/* --- how one ends */

static void unwatch(struct run *run)
{
    launch_unwatch(&run->watch);
    run->shim = 0;
    MYR_ASSERT(!run->watch);
}

/* False: its end is not on the disk yet, or cannot be remembered; looked at again. */
static bool take_ending(struct run *run)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct ending ending;
    struct myr_err err = {};
    MYR_ASSERT(run_is_alive(run)); /* it ends once */
    if (!file_is_there(run->folder, "exit")) {
        return false;
    }
    if (file_get(run->folder, "exit", &text, &err) < 0 ||
        ending_read(run->folder, (struct myr_str){text.data, text.len}, &ending, &err) < 0) {
        say("%s", err.message);
        ending = (struct ending){.kind = ENDING_EXIT,
                                 .rank = run->first_rank,
                                 .code = 1,
                                 .line = MYR_STR("how these ranks ended cannot be read")};
    }
    if (stops_add(run->runs->stops, run->job, run->epoch, &err) < 0) {
        say("%s", err.message);
        return false;
    }
    run_tell_step(run); /* the last one */
    unwatch(run);
    run->state = RUN_ENDED;
    run_tell_ending(run, &ending);
    return true;
}

/* One that has no launcher, and needs none any more. */
static void end_unborn(struct run *run, enum ending_kind kind, const char *why)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct ending ending = {
        .kind = kind, .rank = run->first_rank, .code = 1, .line = myr_str_from(why)};
    struct myr_err err = {};
    MYR_ASSERT(run->state == RUN_WAITING && run->shim == 0 && !run->watch);
    MYR_ASSERT(kind == ENDING_START || kind == ENDING_STOPPED); /* what never ran has no exit */
    ending_write(&ending, &text);
    if (file_put(run->folder, "exit", (struct myr_str){text.data, text.len}, &err) < 0) {
        say("%s", err.message);
    }
    (void)take_ending(run);
}

/* --- launchers */

/* Somebody else's GPUs, or an older self: negative for good, 0 not yet, 1 free. */
static int gpus_are_free(const struct run *run, const struct run **ret_other)
{
    MYR_ASSERT(run->state == RUN_WAITING && run->gpus != 0); /* who runs has asked before */
    for (size_t i = 0; i < run->runs->items.count; i++) {
        const struct run *other = run->runs->items.items[i];
        if (other == run || !run_is_alive(other)) {
            continue;
        }
        if (other->job == run->job && other->epoch < run->epoch) {
            return 0;
        }
        if ((other->gpus & run->gpus) && other->state != RUN_WAITING) {
            *ret_other = other;
            return other->stopping ? 0 : -1;
        }
    }
    return 1;
}

static void on_shim_gone(void *context)
{
    const struct run *run = context;
    MYR_ASSERT(run->watch && run->shim > 0); /* who is let go is not watched any more */
    runs_look(run->runs);
}

static void spawn(struct run *run, int lock)
{
    struct myr_err err = {};
    MYR_ASSERT(lock >= 0 && run->shim == 0 && !run->watch); /* one launcher at a time */
    MYR_ASSERT(run->state == RUN_STARTING || run->state == RUN_UP);
    /* The first one that dies is followed at once, one that dies again and again is not. */
    run->retry_ns = boot_clock_ns() + run->respawns * SECOND_NS;
    run->respawns += run->respawns < RESPAWN_MAX_S;
    MYR_ASSERT(run->respawns > 0 && run->respawns <= RESPAWN_MAX_S);
    if (launch_shim(run->folder, lock, &run->shim, &err) < 0) {
        say("%s", err.message);
        return;
    }
    run->shim_began = process_began(run->shim, NULL, NULL);
    MYR_ASSERT(run->shim > 0);
    launch_watch(run->runs->loop, run->shim, on_shim_gone, run, &run->watch);
}

/* GPUs that another job has are refused at once; those of one that stops are waited for. */
static void try_launch(struct run *run)
{
    const struct run *other = NULL;
    MYR_ASSERT(run->state == RUN_WAITING && run->shim == 0);
    int free = gpus_are_free(run, &other);
    MYR_ASSERT(free >= 0 || other); /* whose they are is told */
    if (free < 0) {
        MYR_PROBE("ranks are to start on GPUs that another job has");
        char why[120];
        snprintf(why, sizeof(why), "its GPUs are in use by job %llu",
                 (unsigned long long)other->job);
        end_unborn(run, ENDING_START, why);
    } else if (free > 0) {
        int lock = launch_lock(run->folder);
        run->state = RUN_STARTING;
        if (lock >= 0) {
            spawn(run, lock);
        }
    }
}

static void ask_to_stop(struct run *run, uint32_t grace_s)
{
    char text[64];
    struct myr_err err = {};
    MYR_ASSERT(run_is_alive(run));
    int len = snprintf(text, sizeof(text), "grace_s %u\n", grace_s);
    MYR_ASSERT(len > 0 && len < (int)sizeof(text));
    int64_t patience_ns = boot_clock_ns() + (grace_s + SHIM_PATIENCE_S) * SECOND_NS;
    run->patience_ns =
        run->stopping && run->patience_ns < patience_ns ? run->patience_ns : patience_ns;
    run->stopping = true;
    MYR_ASSERT(run->patience_ns > 0 && run->patience_ns <= patience_ns); /* never put off */
    if (run->state == RUN_WAITING) {
        MYR_PROBE("ranks are stopped before they began");
        end_unborn(run, ENDING_STOPPED, "by order, before it began");
        return;
    }
    if (file_put(run->folder, "stop", (struct myr_str){text, (size_t)len}, &err) < 0) {
        say("%s", err.message); /* asked again with the next look */
    }
    if (run->shim > 0) {
        process_signal(run->shim, run->shim_began, SIGUSR1);
    }
}

/* By its files alone: where it is, whether its launcher lives, and whether it has ended. */
static void look(struct run *run, bool waits)
{
    int64_t now = boot_clock_ns();
    MYR_ASSERT(!run->watch || (run->shim > 0 && run_is_alive(run)));
    if (waits != (run->state == RUN_WAITING) || !run_is_alive(run) || take_ending(run)) {
        return;
    }
    if (waits) {
        MYR_ASSERT(run->shim == 0 && !run->watch); /* it has no launcher yet */
        try_launch(run);
        return;
    }
    if (run->state == RUN_STARTING && file_is_there(run->folder, "started")) {
        run->state = RUN_UP;
        if (!run->stopping) {
            run_report(run->runs, MYR_WIRE_STARTED, run->job, run->epoch, 0, MYR_STR(""));
        }
    }
    run_tell_stuck(run);
    int lock = now >= run->retry_ns ? launch_lock(run->folder) : -1;
    if (lock >= 0) { /* nobody is there; it may have ended between the two looks */
        unwatch(run);
        if (take_ending(run)) {
            close(lock);
        } else {
            spawn(run, lock);
        }
    } else if (run->stopping && now > run->patience_ns && !run->shot && run->shim > 0 &&
               !file_is_there(run->folder, "stuck")) {
        run->shot = true; /* another launcher sweeps */
        process_signal(run->shim, run->shim_began, SIGKILL);
    }
}

/* From the newest on: the last few that are told keep their output, older ones go. */
static void forget_old(struct runs *runs)
{
    size_t acked = 0;
    for (size_t i = runs->items.count; i-- > 0;) {
        struct run *run = runs->items.items[i];
        if (run->state != RUN_ACKED || ++acked <= KEPT_RUNS) {
            continue;
        }
        MYR_ASSERT(!run->watch && run->shim == 0); /* it would be called when it is no more */
        folder_remove(run->folder);
        free(run);
        runs->items.count--;
        memmove(&runs->items.items[i], &runs->items.items[i + 1],
                (runs->items.count - i) * sizeof(struct run *));
    }
}

void runs_look(struct runs *runs)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0, count = runs->items.count; i < count; i++) {
            look(runs->items.items[i], pass == 1);  /* endings free what others wait for */
            MYR_ASSERT(runs->items.count == count); /* a look begins and forgets nobody */
        }
    }
    forget_old(runs);
}

/* --- orders */

static struct run *add(struct runs *runs, const struct order *order)
{
    MYR_ASSERT(order->gpus != 0 && order_ranks(order) <= AGENT_RANKS_MAX);
    struct run *run = myr_xcalloc(1, sizeof(*run));
    *run = (struct run){.runs = runs,
                        .job = order->job,
                        .epoch = order->epoch,
                        .gpus = order->gpus,
                        .first_rank = order->first_rank,
                        .ranks = order_ranks(order),
                        .lease_s = order->lease_s};
    snprintf(run->folder, sizeof(run->folder), "%s/run/%llu.%u", runs->state,
             (unsigned long long)order->job, order->epoch);
    MYR_ASSERT(run->ranks > 0 && run->state == RUN_WAITING && run->shim == 0);
    myr_vec_push(&runs->items, run);
    return run;
}

static int write_order(struct runs *runs, uint32_t epoch, const struct myr_wire_start *start,
                       struct order *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf secret = {};
    char folder[AGENT_PATH_MAX];
    char tag[80];
    char socket[AGENT_PATH_MAX];
    MYR_ASSERT(runs->state && runs->sockets);
    MYR_TRY(myr_io_secret(8, &secret, err));
    snprintf(folder, sizeof(folder), "%s/run/%llu.%u", runs->state, (unsigned long long)start->job,
             epoch);
    snprintf(tag, sizeof(tag), "%llu-%u-%.16s", (unsigned long long)start->job, epoch, secret.data);
    launch_socket(runs->sockets, folder, tag, socket);
    struct order order = {.job = start->job,
                          .epoch = epoch,
                          .gpus = start->gpus,
                          .first_rank = start->first_rank,
                          .world = start->world,
                          .node_rank = start->node_rank,
                          .node_count = start->node_count,
                          .array_index = start->array_index,
                          .lease_s = start->lease_s,
                          .master = start->master,
                          .user = start->user,
                          .boot = myr_str_from(runs->boot),
                          .tag = myr_str_from(tag),
                          .socket = myr_str_from(socket),
                          .state = myr_str_from(runs->state),
                          .spec = start->spec};
    if (order.gpus == 0 || (uint64_t)order.first_rank + order_ranks(&order) > order.world) {
        return myr_err_set(err, MYR_EINVAL, "the order makes no sense: ranks %u to %u of %u",
                           order.first_rank, order.first_rank + order_ranks(&order), order.world);
    }
    if (runs->gpus > 0 && runs->gpus < 64 && order.gpus >> runs->gpus != 0) {
        return myr_err_set(err, MYR_EINVAL, "the order is for GPUs that are not here: there are %u",
                           runs->gpus);
    }
    MYR_TRY(folder_make(runs->sockets, 0711, err)); /* somebody may have tidied /run */
    MYR_TRY(folder_make(folder, 0700, err));
    order_write(&order, &text);
    MYR_TRY(file_put(folder, "order", (struct myr_str){text.data, text.len}, err));
    char parent[AGENT_PATH_MAX];
    path_join(parent, runs->state, "run");
    folder_sync(parent);
    *ret = order;
    return MYR_OK;
}

static void stop_older(struct runs *runs, uint64_t job, uint32_t epoch)
{
    for (size_t i = 0; i < runs->items.count; i++) {
        struct run *run = runs->items.items[i];
        MYR_ASSERT(run->runs == runs);
        if (run->job == job && run->epoch < epoch && run_is_alive(run) && !run->stopping) {
            ask_to_stop(run, 0);
        }
    }
}

void runs_start(struct runs *runs, uint32_t epoch, const struct myr_wire_start *start)
{
    const struct run *known = epoch > 0 ? runs_find(runs, start->job, epoch) : NULL;
    struct myr_err err = {};
    struct order order = {};
    if (known && run_is_alive(known)) {
        if (known->state == RUN_UP && !known->stopping) {
            run_report(runs, MYR_WIRE_STARTED, start->job, epoch, 0, MYR_STR(""));
        }
        return; /* else the answer comes when it is up, or gone */
    }
    if (known && known->state == RUN_ENDED) {
        return; /* it was told how, and is told until that is committed */
    }
    if (stops_has(runs->stops, start->job, epoch)) {
        for (size_t i = 0; i < runs->items.count; i++) {
            const struct run *run = runs->items.items[i];
            if (run->job == start->job && run->epoch <= epoch && run_is_alive(run)) {
                return; /* told when that is gone */
            }
        }
        run_report(runs, MYR_WIRE_STOPPED, start->job, epoch, 0, MYR_STR("it was stopped before"));
        return;
    }
    /* An order that was on its way for long starts nothing older. */
    if ((epoch > 1 && stops_add(runs->stops, start->job, epoch - 1, &err) < 0) ||
        write_order(runs, epoch, start, &order, &err) < 0) {
        say("job %llu: %s", (unsigned long long)start->job, err.message);
        run_report(runs, MYR_WIRE_STARTED, start->job, epoch, 1, myr_str_from(err.message));
        return;
    }
    stop_older(runs, start->job, epoch);
    MYR_ASSERT(!known); /* it would have been told of above */
    struct run *run = add(runs, &order);
    try_launch(run);
}

void runs_stop(struct runs *runs, uint32_t epoch, const struct myr_wire_stop *stop)
{
    struct myr_err err = {};
    bool any = false;
    bool kept = stops_add(runs->stops, stop->job, epoch, &err) == MYR_OK;
    if (!kept) {
        say("%s", err.message);
    }
    for (size_t i = 0; i < runs->items.count; i++) {
        struct run *run = runs->items.items[i];
        if (run->job == stop->job && run->epoch <= epoch && run_is_alive(run)) {
            any = true;
            MYR_ASSERT(run->asked == 0 || run->asked >= run->epoch); /* it is about this one */
            run->asked = epoch > run->asked ? epoch : run->asked;
            ask_to_stop(run, stop->grace_s < 86400 ? stop->grace_s : 86400);
        }
    }
    if (!any && kept) { /* else it is asked again */
        run_report(runs, MYR_WIRE_STOPPED, stop->job, epoch, 0, MYR_STR(""));
    }
    runs_look(runs);
}

/* Only the last word about a run ends its being told; STOPPED is about all epochs up to its own. */
void runs_acked(struct runs *runs, const struct report *report)
{
    for (size_t i = 0; i < runs->items.count; i++) {
        struct run *run = runs->items.items[i];
        bool last = report->type == MYR_WIRE_EXIT || report->type == MYR_WIRE_STOPPED ||
                    (report->type == MYR_WIRE_STARTED && report->code != 0);
        bool meant = run->job == report->job &&
                     (report->type == MYR_WIRE_STOPPED ? run->epoch <= report->epoch
                                                       : run->epoch == report->epoch);
        if (last && meant && run->state == RUN_ENDED) {
            MYR_ASSERT(!run->watch && run->shim == 0); /* it ended, and was let go */
            if (file_put(run->folder, "acked", MYR_STR("acked 1\n"), NULL) == MYR_OK) {
                run->state = RUN_ACKED;
            }
        }
    }
}

static void watch_again(struct run *run)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t pid = 0, began = 0;
    MYR_ASSERT(run->shim == 0 && !run->watch && run_is_alive(run));
    if (file_get(run->folder, "shim", &text, NULL) < 0 ||
        !line_u64((struct myr_str){text.data, text.len}, "pid", INT32_MAX, &pid) ||
        !line_u64((struct myr_str){text.data, text.len}, "began", UINT64_MAX, &began) ||
        process_began((pid_t)pid, NULL, NULL) != began) {
        return;
    }
    run->shim = (pid_t)pid;
    run->shim_began = began;
    launch_watch(run->runs->loop, run->shim, on_shim_gone, run, &run->watch);
}

static int find_one(struct runs *runs, const char *folder, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct order order = {};
    MYR_TRY(file_get(folder, "order", &text, err));
    MYR_TRY(order_read(folder, (struct myr_str){text.data, text.len}, &order, err));
    if (!myr_str_eq(order.boot, myr_str_from(runs->boot))) {
        /* The host was started anew: nothing of it runs, and the controller is told by hello. */
        MYR_TRY(stops_add(runs->stops, order.job, order.epoch, err));
        folder_remove(folder);
        return MYR_OK;
    }
    struct run *run = add(runs, &order);
    if (strcmp(run->folder, folder) != 0) {
        runs->items.count--;
        free(run);
        return myr_err_set(err, MYR_ECORRUPT, "%s: holds the order of another folder", folder);
    }
    if (file_is_there(folder, "acked")) {
        run->state = RUN_ACKED;
        return MYR_OK;
    }
    /* Without a launcher that ever began, it is as if the order had just come. */
    run->state = file_is_there(folder, "launched") || file_is_there(folder, "shim") ? RUN_STARTING
                                                                                    : RUN_WAITING;
    if (file_is_there(folder, "started")) {
        run->state = RUN_UP; /* said again after the welcome */
    }
    if (run->state != RUN_WAITING) {
        watch_again(run);
    }
    if (stops_has(runs->stops, run->job, run->epoch) && !file_is_there(folder, "exit")) {
        ask_to_stop(run, 0); /* the order was remembered, and we died */
    }
    return MYR_OK;
}

static int compare(const void *left, const void *right)
{
    const struct run *a = *(struct run *const *)left, *b = *(struct run *const *)right;
    int by = (a->job > b->job) - (a->job < b->job);
    return by ? by : (a->epoch > b->epoch) - (a->epoch < b->epoch);
}

int runs_open(struct runs *runs, struct myr_err *err)
{
    char path[AGENT_PATH_MAX], folder[AGENT_PATH_MAX];
    struct myr_err why = {};
    MYR_ASSERT(runs->items.count == 0 && runs->loop && runs->stops && runs->reports);
    boot_id(runs->boot);
    path_join(path, runs->state, "run");
    MYR_TRY(folder_make(path, 0700, err));
    DIR *dir = opendir(path);
    if (!dir) {
        return myr_err_errno(err, "cannot read", path);
    }
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' ||
            snprintf(folder, sizeof(folder), "%s/%s", path, entry->d_name) >= (int)sizeof(folder)) {
            continue;
        }
        if (!file_is_there(folder, "order")) {
            folder_remove(folder); /* we died before there was anything to carry out */
        } else if (find_one(runs, folder, &why) < 0) {
            say("%s; left alone", why.message);
        }
    }
    closedir(dir);
    /* Whose output is forgotten first is the oldest, and folders are found in any order. */
    if (runs->items.count > 1) {
        qsort(runs->items.items, runs->items.count, sizeof(struct run *), compare);
    }
    runs_look(runs);
    return MYR_OK;
}

void runs_done(struct runs *runs)
{
    for (size_t i = 0; i < runs->items.count; i++) {
        unwatch(runs->items.items[i]);
        free(runs->items.items[i]);
    }
    myr_vec_done(&runs->items);
}
