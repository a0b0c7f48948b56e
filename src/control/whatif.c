/*
 * whatif: a question to a copy of the state. The change is told to the copy as events, agents are
 * taken to obey at once, and then the jobs before and after are compared. The state itself is not
 * touched.
 */
#include "myriad/control/whatif.h"

#include <stdlib.h>

#include "myriad/sched/queue.h"
#include "myriad/text/amount.h"

/* The copy, and orders that wait for their answer. */
struct trial {
    struct myr_control *control;
    int64_t now_ms; /* stands still, but for the time after which a silent node counts as lost */
    MYR_VEC(struct myr_effect) orders;
    uint8_t *is_lost;    /* by node */
    uint32_t lose_count; /* nodes marked */
};

const char *myr_whatif_fate_name(enum myr_whatif_fate fate)
{
    return fate == MYR_WHATIF_MOVES ? "moves" : fate == MYR_WHATIF_WAITS ? "waits" : "starts";
}

/* Nodes 'first' to 'last', both in range. */
static void choose(struct trial *t, uint32_t first, uint32_t last)
{
    MYR_ASSERT(first <= last && last < myr_control_nodes(t->control));
    for (uint32_t n = first; n <= last; n++) {
        /* Named twice, a node is lost once. */
        t->lose_count += !t->is_lost[n];
        t->is_lost[n] = 1;
    }
    MYR_ASSERT(t->lose_count > 0 && t->lose_count <= myr_control_nodes(t->control));
}

/* "12", "0-15" or "node/00012". */
static bool read_range(struct trial *t, struct myr_str text)
{
    MYR_ASSERT(text.data);
    const struct myr_str prefix = MYR_STR("node/");
    if (text.len > prefix.len && memcmp(text.data, prefix.data, prefix.len) == 0) {
        text = (struct myr_str){text.data + prefix.len, text.len - prefix.len};
    }
    const char *dash = memchr(text.data, '-', text.len);
    size_t until = dash ? (size_t)(dash - text.data) : text.len;
    struct myr_str low = {text.data, until};
    struct myr_str high = dash ? (struct myr_str){dash + 1, text.len - until - 1} : low;
    uint64_t first, last;
    if (!myr_str_to_u64(low, &first) || !myr_str_to_u64(high, &last) || first > last ||
        last >= myr_control_nodes(t->control)) {
        return false;
    }
    choose(t, (uint32_t)first, (uint32_t)last);
    return true;
}

/* One, or several with commas between them; false with the one that is wrong in 'ret'. */
static bool read_nodes(struct trial *t, const char *text, struct myr_str *ret)
{
    MYR_ASSERT(text && ret);
    for (const char *at = text;; at += ret->len + 1) {
        const char *comma = strchr(at, ',');
        *ret = (struct myr_str){at, comma ? (size_t)(comma - at) : strlen(at)};
        if (!read_range(t, *ret)) {
            return false;
        }
        if (!comma) {
            return true;
        }
    }
}

/* Marks the nodes to lose; the caller frees 'is_lost' in any case. */
static int choose_lost(struct trial *t, const struct myr_whatif_question *q, struct myr_err *err)
{
    uint32_t nodes = myr_control_nodes(t->control),
             leaf = myr_control_shape(t->control).group_nodes, leaves = (nodes - 1) / leaf + 1;
    struct myr_str wrong;
    MYR_ASSERT(leaf > 0 && t->lose_count == 0 && !t->is_lost);
    if (q->lose && q->lose_leaf >= 0) {
        return myr_err_set(err, MYR_EINVAL, "nodes to lose, or a leaf, not both");
    }
    t->is_lost = myr_xcalloc(nodes, sizeof(*t->is_lost));
    if (q->lose && !read_nodes(t, q->lose, &wrong)) {
        char shown[MYR_EXCERPT_MAX];
        return myr_err_set(err, MYR_EINVAL,
                           "nodes to lose are '%s'; numbers from 0 to %u such as 12, 0-15 or "
                           "3,8-11 are expected",
                           myr_text_excerpt(wrong, shown), nodes - 1);
    }
    if (q->lose_leaf >= 0) {
        if (q->lose_leaf >= leaves) {
            return myr_err_set(err, MYR_ERANGE, "there is no leaf %lld: leaves are 0 to %u",
                               (long long)q->lose_leaf, leaves - 1);
        }
        /* The last leaf may have fewer nodes. */
        uint32_t first = (uint32_t)q->lose_leaf * leaf;
        choose(t, first, (nodes - first < leaf ? nodes : first + leaf) - 1);
    }
    return MYR_OK;
}

/* Tells the copy, and keeps the orders to stop and to switch off that follow from it. */
static int tell(struct trial *t, const struct myr_event *event, struct myr_err *err)
{
    MYR_ASSERT(event->kind < MYR_EVENT_KINDS);
    uint32_t count;
    MYR_TRY(myr_control_step(t->control, t->now_ms, event, err));
    const struct myr_effect *effects = myr_control_effects(t->control, &count);
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(effects[i].kind != MYR_EFFECT_STOP || effects[i].epoch > 0);
        if (effects[i].kind == MYR_EFFECT_STOP || effects[i].kind == MYR_EFFECT_FENCE) {
            myr_vec_push(&t->orders, effects[i]);
        }
    }
    return MYR_OK;
}

/* Agents and racks obey at once, until nobody is told anything more; who is silent does not. */
static int obey(struct trial *t, struct myr_err *err)
{
    const size_t most = 4000000; /* more orders than that are no answer to anything */
    /* The list grows while it is walked: an answer may lead to further orders. */
    for (size_t i = 0; i < t->orders.count && i < most; i++) {
        struct myr_effect order = t->orders.items[i];
        MYR_ASSERT(order.node < myr_control_nodes(t->control));
        bool stop = order.kind == MYR_EFFECT_STOP;
        struct myr_event event = {.kind = stop ? MYR_EVENT_STOPPED : MYR_EVENT_FENCED,
                                  .node = order.node,
                                  .job = order.job,
                                  .epoch = order.epoch,
                                  .boot = order.boot};
        if (!stop || !myr_control_node(t->control, order.node).silent) {
            MYR_TRY(tell(t, &event, err));
        }
    }
    t->orders.count = 0;
    return MYR_OK;
}

/* As long as silent nodes are waited for: deadlines come as they would. */
static int wait_for_silent(struct trial *t, int64_t wait_ms, struct myr_err *err)
{
    const struct myr_event tick = {.kind = MYR_EVENT_TICK};
    int64_t end_ms = t->now_ms + wait_ms;
    MYR_ASSERT(wait_ms >= 0);
    while (t->now_ms < end_ms) {
        int64_t wake_ms = myr_control_wake_ms(t->control);
        t->now_ms = wake_ms <= t->now_ms ? t->now_ms + 1 : wake_ms < end_ms ? wake_ms : end_ms;
        MYR_TRY(tell(t, &tick, err));
        MYR_TRY(obey(t, err));
    }
    return MYR_OK;
}

/*
 * In one moment: they report that they have failed for good, one after the other, or fall silent
 * and are lost together when they were waited for long enough.
 */
static int lose(struct trial *t, bool silent, struct myr_err *err)
{
    /* A person who asks about so many losses has approved them: the limit must not hide them. */
    struct myr_event approve = {.kind = MYR_EVENT_APPROVE, .value = t->lose_count};
    MYR_ASSERT(t->is_lost && t->lose_count > 0);
    MYR_TRY(tell(t, &approve, err));
    for (uint32_t node = 0; node < myr_control_nodes(t->control); node++) {
        if (!t->is_lost[node]) {
            continue;
        }
        struct myr_event event = {.kind = silent ? MYR_EVENT_SILENT : MYR_EVENT_SYMPTOM,
                                  .code = silent ? 0 : MYR_SYMPTOM_FAILED,
                                  .node = node,
                                  .boot = myr_control_node(t->control, node).boot};
        MYR_TRY(tell(t, &event, err));
        MYR_ASSERT(!myr_control_node(t->control, node).usable);
    }
    MYR_TRY(obey(t, err));
    return silent ? wait_for_silent(t, myr_control_silence_ms(t->control), err) : MYR_OK;
}

/* New nodes join at the end of the numbering and are well. */
static int add(struct trial *t, const struct myr_whatif_question *q, uint32_t gpus_per_node,
               struct myr_err *err)
{
    uint32_t first = myr_control_nodes(t->control);
    /* Whole nodes, as many as hold the GPUs. */
    uint32_t nodes = (q->add_gpus + gpus_per_node - 1) / gpus_per_node;
    MYR_ASSERT(gpus_per_node > 0 && q->add_gpus > 0);
    MYR_TRY(myr_control_grow(t->control, first + nodes, err));
    for (uint32_t n = first; n < first + nodes; n++) {
        struct myr_event join = {.kind = MYR_EVENT_JOIN, .node = n, .boot = 1};
        /* The first test of the first boot. */
        struct myr_event tested = {.kind = MYR_EVENT_TESTED, .node = n, .boot = 1, .epoch = 1};
        MYR_TRY(tell(t, &join, err));
        MYR_TRY(tell(t, &tested, err));
        MYR_ASSERT(myr_control_node(t->control, n).usable);
    }
    return obey(t, err);
}

/* Where a job would go, or what it lacks. */
static int submit(struct trial *t, const struct myr_whatif_question *q,
                  struct myr_whatif_answer *ret, struct myr_err *err)
{
    MYR_ASSERT(q->submit_gpus > 0 && !ret->submitted);
    uint64_t all =
        (uint64_t)myr_control_nodes(t->control) * myr_control_shape(t->control).gpus_per_node;
    if (q->submit_gpus > all) { /* an answer like another: it is never told to the copy */
        ret->submitted = true;
        ret->why =
            (struct myr_why){.kind = MYR_WHY_NEVER, .gpus = q->submit_gpus, .held_for = MYR_NONE};
        return MYR_OK;
    }
    const uint64_t token = UINT64_MAX; /* nobody's */
    struct myr_event event = {.kind = MYR_EVENT_SUBMIT,
                              .spec = {.token = token,
                                       .gpus = q->submit_gpus,
                                       .priority = q->priority,
                                       .restart = (uint8_t)q->restart,
                                       .retries = 100,
                                       .lease_s = 600}};
    MYR_TRY(tell(t, &event, err));
    uint32_t id = myr_control_find(t->control, token);
    if (id == MYR_NONE) {
        return myr_err_set(err, MYR_EINVAL, "a job of %s, priority %d, is refused here",
                           MYR_COUNT(q->submit_gpus, "GPU"), q->priority);
    }
    MYR_TRY(obey(t, err));
    struct myr_control_job job = myr_control_job(t->control, id);
    ret->submitted = true;
    /* Starting is as far as it comes: nobody answers starts in the copy. */
    ret->placed = job.state == MYR_CONTROL_STARTING;
    const struct myr_queue *queue = myr_control_queue(t->control);
    if (ret->placed) {
        ret->submit_nodes = job.nodes;
        ret->submit_groups = myr_gang_groups(myr_queue_placer(queue), myr_queue_gang(queue, id));
    } else if (!q->no_reason) { /* the copy is ours: its scratch space may be used */
        myr_queue_why((struct myr_queue *)queue, t->now_ms / 1000, id, &ret->why);
    }
    MYR_ASSERT(ret->placed == (ret->submit_nodes > 0));
    return MYR_OK;
}

/* Jobs that are over, or whose place is the same, are not listed; all others are counted. */
static void compare(const struct myr_control *before, const struct myr_control *after,
                    struct myr_whatif_answer *ret)
{
    /* Jobs keep their numbers, and none is ever taken out. */
    MYR_ASSERT(myr_control_jobs(after) >= myr_control_jobs(before));
    for (uint32_t id = 0; id < myr_control_jobs(before); id++) {
        struct myr_control_job was = myr_control_job(before, id), is = myr_control_job(after, id);
        MYR_ASSERT(is.epoch >= was.epoch); /* incarnations count up */
        /* Stopped, and not started again: ranks of it may be alive on a node that is not heard. */
        bool recovers = is.state == MYR_CONTROL_RECOVERING && was.state != is.state;
        enum myr_whatif_fate fate = was.state == MYR_CONTROL_QUEUED ? MYR_WHATIF_STARTS
                                    : is.nodes > 0 && !recovers     ? MYR_WHATIF_MOVES
                                                                    : MYR_WHATIF_WAITS;
        /* What was over before cannot be changed by anything. */
        bool over = was.state >= MYR_CONTROL_DONE;
        /* An epoch or a number of nodes that differ say that it was started again. */
        bool changed = was.state == MYR_CONTROL_QUEUED
                           ? is.nodes > 0
                           : recovers || is.epoch != was.epoch || is.nodes != was.nodes;
        if (over || !changed) {
            continue;
        }
        ret->moves += fate == MYR_WHATIF_MOVES;
        ret->waits += fate == MYR_WHATIF_WAITS;
        ret->starts += fate == MYR_WHATIF_STARTS;
        if (ret->job_count < MYR_WHATIF_JOBS) {
            ret->jobs[ret->job_count++] = (struct myr_whatif_job){id, was.spec.gpus, fate};
        }
    }
    MYR_ASSERT(ret->job_count <= ret->moves + ret->waits + ret->starts);
}

/* In the order of the question: what is lost is lost before something is added or asked for. */
static int ask(struct trial *t, const struct myr_control *control,
               const struct myr_whatif_question *q, struct myr_whatif_answer *ret,
               struct myr_err *err)
{
    uint32_t nodes = myr_control_nodes(control);
    MYR_TRY(choose_lost(t, q, err));
    if (t->lose_count > 0) {
        MYR_TRY(lose(t, q->silent, err));
    }
    if (q->add_gpus > 0) {
        MYR_TRY(add(t, q, myr_control_shape(control).gpus_per_node, err));
    }
    if (q->submit_gpus > 0) {
        MYR_TRY(submit(t, q, ret, err));
    }
    ret->nodes = nodes;
    ret->nodes_lost = t->lose_count;
    MYR_ASSERT(myr_control_nodes(t->control) >= nodes && ret->nodes_lost <= nodes);
    ret->nodes_added = myr_control_nodes(t->control) - nodes;
    ret->free_gpus_before = myr_control_free_gpus(control);
    ret->free_gpus_after = myr_control_free_gpus(t->control);
    compare(control, t->control, ret);
    return MYR_OK;
}

/* With the times of the copy alone and of everything. */
static int ask_once(const struct myr_control *control, const struct myr_whatif_question *question,
                    struct myr_whatif_answer *ret, struct myr_err *err)
{
    struct trial trial = {.now_ms = myr_control_now_ms(control)};
    *ret = (struct myr_whatif_answer){};
    int64_t start_ns = question->clock_ns ? question->clock_ns() : 0;
    trial.control = myr_control_fork(control);
    MYR_ASSERT(myr_control_jobs(trial.control) == myr_control_jobs(control));
    ret->fork_ns = question->clock_ns ? question->clock_ns() - start_ns : 0;
    int rc = ask(&trial, control, question, ret, err);
    ret->took_ns = question->clock_ns ? question->clock_ns() - start_ns : 0;
    myr_vec_done(&trial.orders);
    free(trial.is_lost);
    myr_control_free(trial.control);
    return rc;
}

int myr_whatif(const struct myr_control *control, const struct myr_whatif_question *question,
               struct myr_whatif_answer *ret, struct myr_err *err)
{
    MYR_ASSERT(control && question && ret);
    int rc = ask_once(control, question, ret, err);
    /* Equal answers each time: only the least time counts. */
    for (uint32_t i = 1; i < question->rounds && rc == MYR_OK; i++) {
        struct myr_whatif_answer again;
        rc = ask_once(control, question, &again, err);
        MYR_ASSERT(rc < 0 || (again.moves == ret->moves && again.waits == ret->waits));
        MYR_ASSERT(rc < 0 || (again.starts == ret->starts && again.placed == ret->placed));
        ret->fork_ns = again.fork_ns < ret->fork_ns ? again.fork_ns : ret->fork_ns;
        ret->took_ns = again.took_ns < ret->took_ns ? again.took_ns : ret->took_ns;
    }
    return rc;
}
