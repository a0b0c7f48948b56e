#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "queue/queue_world.h"

/*
 * A world of nodes on which ranks start late, stop late, fail and are lost, beside the queue that
 * decides for it. The world knows only which ranks may be alive on which GPUs. Whenever the queue
 * starts a job: its gang is whole, no rank of anybody may be alive on its GPUs, and a strict job
 * has none alive anywhere; a GPU is free exactly when nothing may be alive on it and nobody claims
 * it. Wrong, late and repeated events are errors and leave every byte as it was. Beside the queue
 * run a copy of it and one that was stored and read, made anew now and then from any state: they
 * get the same events and must decide the same.
 */
enum {
    SEQUENCES = 2000, /* MYRIAD_SEQUENCES asks for more, MYRIAD_FIRST for later ones */
    STEPS = 70,
};

static void fail_if(const struct world *w, bool bad, const char *what, uint32_t job)
{
    if (bad) {
        fprintf(stderr, "seed %llu, time %lld, job %u: %s\n", (unsigned long long)w->seed,
                (long long)w->now_s, job, what);
        fail();
    }
}

static enum myr_job_state state_of(const struct world *w, uint32_t id)
{
    return myr_queue_state(w->queues[0], id);
}

static uint32_t job_count(const struct world *w)
{
    return myr_queue_jobs(w->queues[0]);
}

static uint32_t epoch_of(const struct world *w, uint32_t id)
{
    struct myr_job_view view;
    return myr_queue_view(w->queues[0], id, &view) == MYR_OK ? view.epoch : 0;
}

static void forget_ranks(struct world *w, uint32_t at)
{
    w->ranks[at] = w->ranks[--w->rank_count];
}

/* The gang keeps to what its job asked for. */
static void check_asked(const struct world *w, uint32_t id, const struct myr_gang *gang)
{
    const struct myr_request *r = &w->asked[id];
    for (uint32_t i = 0; r->nodes && i < gang->count; i++) {
        uint32_t node = gang->shares[i].node, in_leaf = 0;
        uint32_t leaf = node / w->shape.group_nodes, pod = node / w->shape.pod_nodes;
        fail_if(w, (uint32_t)__builtin_popcountll(gang->shares[i].gpus) != r->gpus_per_node,
                "not as many GPUs on a node as asked", id);
        fail_if(w, w->excluded[id] >> node & 1, "on a node that it leaves out", id);
        fail_if(w, r->kind_given && r->kind != (w->kinds && node % 2), "on another kind", id);
        for (uint32_t k = 0; k < gang->count; k++) {
            uint32_t other = gang->shares[k].node;
            in_leaf += other / w->shape.group_nodes == leaf;
            fail_if(w,
                    r->limited && r->within == MYR_LEVEL_LEAF &&
                        other / w->shape.group_nodes != leaf,
                    "not within a leaf", id);
            fail_if(w,
                    r->limited && r->within == MYR_LEVEL_POD && other / w->shape.pod_nodes != pod,
                    "not within a pod", id);
        }
        fail_if(w, r->leaf_max && in_leaf > r->leaf_max, "too many in a leaf", id);
    }
}

static void begin(struct world *w, uint32_t id, uint32_t epoch)
{
    const struct myr_gang *gang = myr_queue_gang(w->queues[0], id);
    struct myr_job_view view;
    fail_if(w, myr_queue_view(w->queues[0], id, &view) < 0, "starts, but is not known", id);
    fail_if(w, view.epoch != epoch, "its epoch is not the decision's", id);
    uint32_t gpus = 0;
    for (uint32_t r = 0; r < w->rank_count; r++) {
        fail_if(w, w->ranks[r].job == id && w->strict[id], "in two incarnations", id);
    }
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct myr_share *share = &gang->shares[i];
        gpus += (uint32_t)__builtin_popcountll(share->gpus);
        fail_if(w, share->node >= w->shape.nodes, "on no node", id);
        fail_if(w, w->down[share->node] || w->drained[share->node], "on a node that is closed", id);
        for (uint32_t r = 0; r < w->rank_count; r++) {
            bool own = w->ranks[r].job == id && w->ranks[r].told; /* they go before it starts */
            fail_if(w, !own && w->ranks[r].node == share->node && (w->ranks[r].gpus & share->gpus),
                    "on GPUs where ranks may be alive", id);
        }
        fail_if(w, w->rank_count == RANKS_MAX, "too many ranks for this test", id);
        w->ranks[w->rank_count++] = (struct ranks){id, epoch, share->node, share->gpus, false};
    }
    fail_if(w, gpus != view.gpus, "its gang is not whole", id);
    check_asked(w, id, gang);
    fail_if(w, w->started[id] != 0, "started twice", id);
    w->started[id] = epoch;
}

static void end(struct world *w, uint32_t id, uint32_t epoch)
{
    for (uint32_t r = 0; r < w->rank_count; r++) {
        w->ranks[r].told |= w->ranks[r].job == id && w->ranks[r].epoch == epoch;
    }
    fail_if(w, w->started[id] != epoch, "stopped, but it does not run", id);
    w->started[id] = 0;
}

/* Free is what nobody has; where nobody claims anything, exactly that. */
static void check_free(struct world *w)
{
    const struct myr_placer *placer = myr_queue_placer(w->queues[0]);
    bool claims = false;
    for (uint32_t id = 0; id < job_count(w); id++) {
        claims |= state_of(w, id) == MYR_JOB_CLAIMS;
    }
    uint64_t whole = (UINT64_C(1) << w->shape.gpus_per_node) - 1;
    for (uint32_t node = 0; node < w->shape.nodes; node++) {
        uint64_t alive = 0, free_gpus = myr_placer_free_mask(placer, node);
        for (uint32_t r = 0; r < w->rank_count; r++) {
            alive |= w->ranks[r].node == node ? w->ranks[r].gpus : 0;
        }
        fail_if(w, free_gpus & alive, "a GPU is free, but ranks may be alive on it", MYR_NONE);
        fail_if(w, !claims && free_gpus != (whole & ~alive), "a GPU is lost", MYR_NONE);
    }
    w->checks++;
}

static void decide(struct world *w)
{
    uint32_t count, other_count;
    const struct myr_decision *d = myr_queue_decide(w->queues[0], w->now_s, &count);
    for (uint32_t i = 1; i < QUEUES; i++) {
        const struct myr_decision *other = myr_queue_decide(w->queues[i], w->now_s, &other_count);
        fail_if(w, count != other_count || (count && memcmp(d, other, count * sizeof(*d)) != 0),
                "copies decide differently", MYR_NONE);
        fail_if(w, !myr_queue_equal(w->queues[0], w->queues[i]), "copies differ", MYR_NONE);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (d[i].kind == MYR_DECIDE_STOP) {
            end(w, d[i].job, d[i].epoch);
        } else if (d[i].kind == MYR_DECIDE_START) {
            bool stopped_again = false; /* in the same decision */
            for (uint32_t k = i + 1; k < count; k++) {
                stopped_again |= d[k].job == d[i].job && d[k].kind == MYR_DECIDE_STOP;
            }
            fail_if(w, stopped_again, "started and stopped at once", d[i].job);
            begin(w, d[i].job, d[i].epoch);
        }
    }
    check_free(w);
}

/* Copies made anew from this state; one into memory that was used before. */
static void renew_copies(struct world *w)
{
    struct myr_buf bytes = {};
    struct myr_err err = {};
    myr_queue_copy(w->queues[0], &w->queues[1]);
    myr_queue_save(w->queues[0], &bytes);
    myr_queue_free(w->queues[2]);
    w->queues[2] = NULL;
    int rc = myr_queue_load((struct myr_str){bytes.data, bytes.len}, &w->queues[2], &err);
    if (rc < 0) {
        print_error("%s\n", err.message);
    }
    fail_if(w, rc < 0, "its own state is refused", MYR_NONE);
    fail_if(w, myr_queue_hash(w->queues[0]) != myr_queue_hash(w->queues[2]), "another hash",
            MYR_NONE);
    myr_buf_done(&bytes);
}

/* More than a number of GPUs. */
static void ask_for_more(struct world *w, struct myr_queue_job *job, struct myr_request *ret,
                         uint64_t *exclude)
{
    uint32_t per = 1 + below(w, w->shape.gpus_per_node);
    *exclude = below(w, 2) ? 0 : UINT64_C(1) << below(w, w->shape.nodes);
    *ret = (struct myr_request){.nodes = 1 + below(w, w->shape.nodes),
                                .gpus_per_node = per,
                                .limited = below(w, 3) == 0,
                                .within = below(w, 2) ? MYR_LEVEL_LEAF : MYR_LEVEL_POD,
                                .leaf_max = below(w, 3) ? 0 : 1 + below(w, 2),
                                .exclude = *exclude ? exclude : NULL,
                                .kind_given = w->kinds && below(w, 2),
                                .kind = (uint8_t)below(w, 2)};
    job->gpus = per * ret->nodes;
    job->gpus_min = below(w, 3) ? 0 : 1 + below(w, job->gpus);
    job->request = ret;
}

static void submit(struct world *w)
{
    if (job_count(w) >= JOBS_MAX) {
        return;
    }
    uint32_t per = w->shape.gpus_per_node, id = job_count(w);
    struct myr_queue_job job = {.tenant = below(w, w->tenant_count),
                                .priority = (int32_t)below(w, 3) - 1,
                                .fixed = below(w, 8) == 0,
                                .reclaims = below(w, 8) == 0,
                                .restart_epoch = below(w, 3) == 0,
                                .held = below(w, 16) == 0,
                                .limit_s = below(w, 4) ? 0 : 100 + below(w, 900),
                                .attempts_max = below(w, 3)};
    job.gpus = below(w, 2) ? 1 + below(w, per) : per * (1 + below(w, w->shape.nodes));
    job.gpus_min = below(w, 6) ? 0 : 1 + below(w, job.gpus);
    if (id && below(w, 6) == 0) {
        job.after = below(w, id);
        job.after_kind = below(w, 2) ? MYR_AFTER_OK : MYR_AFTER_ANY;
    }
    struct myr_request request = {};
    uint64_t exclude[2] = {};
    if (below(w, 3) == 0) {
        ask_for_more(w, &job, &request, exclude);
    }
    uint32_t first, count = below(w, 10) ? 1 : 1 + below(w, 6), limit = below(w, 3);
    int rc = count == 1
                 ? EVERY(w, myr_queue_submit(q, w->now_s, &job, &first, NULL))
                 : EVERY(w, myr_queue_submit_array(q, w->now_s, &job, count, limit, &first, NULL));
    for (uint32_t i = 0; rc == MYR_OK && i < count; i++) {
        w->strict[first + i] = !job.restart_epoch;
        w->asked[first + i] = request;
        w->excluded[first + i] = exclude[0];
    }
    fail_if(w, rc < 0 && job.after_kind == MYR_AFTER_NONE && !job.request, "a good job is refused",
            id);
}

/* One of the ranks that were told to stop is gone. */
static void confirm_stop(struct world *w)
{
    uint32_t start = w->rank_count ? below(w, w->rank_count) : 0;
    for (uint32_t i = 0; i < w->rank_count; i++) {
        uint32_t at = (start + i) % w->rank_count;
        struct ranks r = w->ranks[at];
        if (r.told && !w->down[r.node]) {
            int rc = EVERY(w, myr_queue_stopped(q, w->now_s, r.job, r.epoch, r.node));
            fail_if(w, rc < 0, "a stop is not taken", r.job);
            forget_ranks(w, at);
            WRONG(w, myr_queue_stopped(q, w->now_s, r.job, r.epoch, r.node)); /* once more */
            return;
        }
    }
}

static void forget_incarnation(struct world *w, uint32_t id, uint32_t epoch)
{
    for (uint32_t r = 0; r < w->rank_count;) {
        if (w->ranks[r].job == id && w->ranks[r].epoch == epoch) {
            forget_ranks(w, r);
        } else {
            r++;
        }
    }
}

static bool pick(struct world *w, enum myr_job_state state, uint32_t *ret)
{
    uint32_t count = job_count(w), start = count ? below(w, count) : 0;
    for (uint32_t i = 0; i < count; i++) {
        *ret = (start + i) % count;
        if (state_of(w, *ret) == state) {
            return true;
        }
    }
    return false;
}

/* A node starts ranks of an incarnation when those of older ones are gone. */
static void forget_older(struct world *w, uint32_t id, uint32_t epoch)
{
    const struct myr_gang *gang = myr_queue_gang(w->queues[0], id);
    for (uint32_t r = 0; r < w->rank_count;) {
        bool gone = false;
        for (uint32_t i = 0; i < gang->count; i++) {
            gone |= w->ranks[r].job == id && w->ranks[r].epoch < epoch &&
                    w->ranks[r].node == gang->shares[i].node;
        }
        if (gone) {
            forget_ranks(w, r);
        } else {
            r++;
        }
    }
}

static void progress(struct world *w)
{
    uint32_t id;
    if (pick(w, MYR_JOB_STARTING, &id)) {
        uint32_t epoch = epoch_of(w, id);
        uint32_t node = myr_queue_gang(w->queues[0], id)->shares[0].node;
        if (below(w, 5) == 0) {
            uint32_t told = below(w, 2);
            int rc = EVERY(w, myr_queue_mend(q, w->now_s, id, epoch, &node, told));
            fail_if(w, rc < 0, "a failed start is not taken", id);
            WRONG(w, myr_queue_started(q, w->now_s, id, epoch));
        } else {
            int rc = EVERY(w, myr_queue_started(q, w->now_s, id, epoch));
            fail_if(w, rc < 0, "a start is not taken", id);
            forget_older(w, id, epoch);
            WRONG(w, myr_queue_started(q, w->now_s, id, epoch));
        }
    } else if (pick(w, MYR_JOB_RUNS, &id)) {
        uint32_t epoch = epoch_of(w, id);
        enum myr_exit how = (enum myr_exit)below(w, 3);
        int rc = EVERY(w, myr_queue_exited(q, w->now_s, id, epoch, how));
        fail_if(w, rc < 0, "an exit is not taken", id);
        if (how == MYR_EXIT_OK) {
            forget_incarnation(w, id, epoch);
            w->started[id] = 0;
        }
        WRONG(w, myr_queue_exited(q, w->now_s, id, epoch, how));
    }
}

/* Perhaps with its neighbour; who is lost already is not lost again. */
static void lose_node(struct world *w, uint32_t node)
{
    uint32_t lost[2] = {node, (node + 1) % w->shape.nodes};
    uint32_t count = w->shape.nodes > 1 && below(w, 3) == 0 && !w->down[lost[1]] ? 2 : 1;
    if (!w->down[node]) {
        int rc = EVERY(w, myr_queue_lost(q, w->now_s, lost, count));
        fail_if(w, rc < 0, "a loss is not taken", MYR_NONE);
        w->down[lost[0]] = w->down[lost[count - 1]] = true;
    }
    WRONG(w, myr_queue_lost(q, w->now_s, lost, count));
}

static void fence_node(struct world *w, uint32_t node)
{
    int rc = EVERY(w, myr_queue_fenced(q, w->now_s, node));
    fail_if(w, rc < 0, "a fence is not taken", MYR_NONE);
    for (uint32_t r = 0; r < w->rank_count;) {
        if (w->ranks[r].node == node) {
            forget_ranks(w, r);
        } else {
            r++;
        }
    }
}

static void change_node(struct world *w)
{
    uint32_t node = below(w, w->shape.nodes);
    switch (below(w, 4)) {
    case 0:
        lose_node(w, node);
        break;
    case 1:
        if (w->down[node]) {
            fence_node(w, node);
        }
        break;
    case 2:
        if (w->down[node]) {
            int rc = EVERY(w, myr_queue_back(q, w->now_s, node));
            fail_if(w, rc < 0, "a node that is back is not taken", MYR_NONE);
            w->down[node] = false;
        }
        WRONG(w, myr_queue_back(q, w->now_s, node));
        break;
    default: {
        bool drain = !w->drained[node];
        int rc = EVERY(w, myr_queue_drain(q, w->now_s, node, drain));
        fail_if(w, rc < 0, "a drain is not taken", MYR_NONE);
        w->drained[node] = drain;
        WRONG(w, myr_queue_drain(q, w->now_s, node, drain));
    }
    }
}

/* Users: whatever they ask, in whatever state the job is; all queues say the same. */
static void ask(struct world *w)
{
    if (job_count(w) == 0) {
        return;
    }
    uint32_t id = below(w, job_count(w)), per = w->shape.gpus_per_node;
    uint32_t gpus = 1 + below(w, per * w->shape.nodes);
    int32_t priority = (int32_t)below(w, 5) - 2;
    switch (below(w, 5)) {
    case 0:
        (void)EVERY(w, myr_queue_cancel(q, w->now_s, id));
        break;
    case 1:
        (void)EVERY(w, myr_queue_hold(q, w->now_s, id, true));
        break;
    case 2:
        (void)EVERY(w, myr_queue_hold(q, w->now_s, id, false));
        break;
    case 3:
        (void)EVERY(w, myr_queue_reprioritise(q, w->now_s, id, priority));
        break;
    default:
        (void)EVERY(w, myr_queue_resize(q, w->now_s, id, gpus));
        break;
    }
}

static void change_cluster(struct world *w)
{
    uint32_t choice = below(w, 4);
    if (choice == 0 && w->shape.nodes < NODES_MAX) {
        struct myr_place_shape shape = w->shape;
        shape.nodes++;
        if (EVERY(w, myr_queue_grow(q, w->now_s, &shape, NULL)) == MYR_OK) {
            uint32_t node = w->shape.nodes;
            w->shape = shape;
            (void)EVERY(w, myr_queue_set_kind(q, node, w->kinds && node % 2));
        }
    } else if (choice == 1) {
        w->tenants[below(w, w->tenant_count)].weight = below(w, 9);
        int rc = EVERY(w, myr_queue_set_tenants(q, w->now_s, w->tenants, w->tenant_count, NULL));
        fail_if(w, rc < 0, "a weight is not taken", MYR_NONE);
    } else if (choice == 2) {
        struct myr_window window = {.first = below(w, w->shape.nodes),
                                    .count = 1,
                                    .start_s = w->now_s + below(w, 300),
                                    .drain_s = below(w, 100)};
        window.end_s = window.start_s + 1 + below(w, 300);
        (void)EVERY(w, myr_queue_maintain(q, &window, NULL));
        w->windows++;
    } else if (w->windows) {
        uint32_t window = below(w, w->windows);
        (void)EVERY(w, myr_queue_cancel_window(q, w->now_s, window));
    }
}

static void wrong_event(struct world *w)
{
    uint32_t known = job_count(w), id = known + below(w, 3), node = w->shape.nodes + below(w, 3);
    int64_t past_s = w->now_s - 1 - below(w, 10);
    decide(w); /* the queue knows this time */
    WRONG(w, myr_queue_started(q, w->now_s, id, 1));
    WRONG(w, myr_queue_stopped(q, w->now_s, id, 1, 0));
    WRONG(w, myr_queue_cancel(q, w->now_s, id));
    WRONG(w, myr_queue_fenced(q, w->now_s, node));
    WRONG(w, myr_queue_lost(q, w->now_s, &node, 1));
    WRONG(w, myr_queue_back(q, w->now_s, node));
    WRONG(w, myr_queue_fenced(q, past_s, 0));
    WRONG(w, myr_queue_node(q, past_s, 0, false));
    WRONG(w, myr_queue_reprioritise(q, w->now_s, id ? id - 1 : 0, 1000));
    if (known) {
        id = below(w, known);
        WRONG(w, myr_queue_started(q, w->now_s, id, epoch_of(w, id) + 1));
        WRONG(w, myr_queue_stopped(q, w->now_s, id, epoch_of(w, id) + 1, MYR_NONE));
        WRONG(w, myr_queue_started(q, w->now_s, id, 0));
        WRONG(w, myr_queue_stopped(q, w->now_s, id, 1, node));
        WRONG(w, myr_queue_hold(q, past_s, id, true));
        WRONG(w, myr_queue_cancel(q, past_s, id));
        WRONG(w, myr_queue_resize(q, w->now_s, id, 0));
    }
}

static void step(struct world *w)
{
    uint32_t choice = below(w, 20);
    if (choice < 5) {
        submit(w);
    } else if (choice < 9) {
        progress(w);
    } else if (choice < 13) {
        for (uint32_t i = 1 + below(w, 4); i > 0; i--) {
            confirm_stop(w);
        }
    } else if (choice < 15) {
        change_node(w);
    } else if (choice < 17) {
        ask(w);
    } else if (choice < 18) {
        change_cluster(w);
    } else {
        wrong_event(w);
    }
    w->now_s += below(w, 3) ? 0 : below(w, 200);
    if (below(w, 4)) {
        decide(w);
    }
    if (below(w, 6) == 0) {
        renew_copies(w);
    }
}

/* Everything is stopped, confirmed and well again: nothing is left of anybody. */
static void wind_up(struct world *w)
{
    for (uint32_t id = 0; id < job_count(w); id++) {
        (void)EVERY(w, myr_queue_cancel(q, w->now_s, id));
    }
    decide(w);
    for (uint32_t node = 0; node < w->shape.nodes; node++) {
        (void)EVERY(w, myr_queue_fenced(q, w->now_s, node));
    }
    w->rank_count = 0;
    decide(w);
    for (uint32_t id = 0; id < job_count(w); id++) {
        fail_if(w, state_of(w, id) != MYR_JOB_DONE, "is not over in the end", id);
    }
    check_free(w);
    fail_if(w, myr_queue_waiting(w->queues[0]) != 0, "somebody waits in the end", MYR_NONE);
}

static void set_up(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed};
    myr_rng_init(&w->rng, seed, 77);
    uint32_t group = 1 + below(w, 3);
    w->shape = (struct myr_place_shape){.nodes = 2 + below(w, NODES_MAX - 3),
                                        .gpus_per_node = 1 + below(w, 8),
                                        .group_nodes = group,
                                        .pod_nodes = group * (1 + below(w, 3))};
    w->tenant_count = 1 + below(w, TENANTS);
    for (uint32_t t = 0; t < w->tenant_count; t++) {
        w->tenants[t].parent = t && below(w, 3) == 0 ? 0 : MYR_NONE;
    }
    if (below(w, 3) == 0) {
        w->tenants[0].cells[MYR_CELL_NODE] = 1;
        w->tenants[w->tenant_count - 1].cells[MYR_CELL_NODE] = 1;
    }
    struct myr_queue_policy policy = myr_queue_policy_preset((enum myr_queue_preset)below(w, 4));
    policy.confirm = true;
    policy.keep_s = below(w, 3) * 300;
    policy.avoid_s = below(w, 2) * 100;
    policy.run_min_s = policy.stop_after_s = below(w, 2) * 100;
    policy.patience_s = below(w, 2) ? policy.patience_s : 500;
    policy.mend_s = below(w, 3) * 100;
    for (uint32_t i = 0; i < QUEUES; i++) {
        int rc =
            myr_queue_create(&w->shape, &policy, w->tenants, w->tenant_count, &w->queues[i], NULL);
        fail_if(w, rc < 0, "is not created", MYR_NONE);
    }
    w->kinds = below(w, 2);
    for (uint32_t i = 0; w->kinds && i < QUEUES; i++) {
        for (uint32_t node = 0; node < w->shape.nodes; node++) {
            int rc = myr_queue_set_kind(w->queues[i], node, node % 2);
            fail_if(w, rc < 0, "a kind is not taken", MYR_NONE);
        }
    }
    uint32_t spares = below(w, 4) ? 0 : 1 + below(w, 2);
    for (uint32_t i = 0; i < QUEUES; i++) {
        myr_queue_keep_spares(w->queues[i], spares);
    }
}

static void random_events_never_break_a_promise(void **state)
{
    (void)state;
    static struct world w;
    const char *only = getenv("MYRIAD_SEED"), *more = getenv("MYRIAD_SEQUENCES");
    const char *from = only ? only : getenv("MYRIAD_FIRST");
    uint64_t first = from ? strtoull(from, NULL, 10) : 0, checks = 0;
    uint64_t end_seed = only ? first + 1 : more ? strtoull(more, NULL, 10) : SEQUENCES;
    for (uint64_t seed = first; seed < end_seed; seed++) {
        set_up(&w, seed);
        for (uint32_t i = 0; i < STEPS; i++) {
            step(&w);
        }
        wind_up(&w);
        for (uint32_t i = 0; i < QUEUES; i++) {
            myr_queue_free(w.queues[i]);
        }
        checks += w.checks;
    }
    assert_true(only || checks > 10 * (end_seed - first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_events_never_break_a_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
