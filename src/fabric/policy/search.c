#include "policy/policy.h"

/*
 * Improving stops when a pass moves nothing; the bounds end it where something always moves. They
 * are counts, so that the same flows get the same paths.
 */
enum { IMPROVE_PASSES = 8, IMPROVE_TRIES = 32, POLISH_PASSES = 8, POLISH_TRIES = 2048 };
#define POLISH_WORK (UINT64_C(1) << 21)

/* The fullest channel decides; the sum tells apart paths that meet the same one. */
struct path_cost {
    uint64_t highest, sum;
};

/* Host channels are the same for every path of a flow, and say nothing. */
static struct path_cost cost_of(const struct myr_graph *graph, const struct myr_path *path,
                                uint32_t share, const uint64_t *load)
{
    struct path_cost cost = {};
    for (uint32_t i = 1; i + 1 < path->count; i++) {
        uint64_t value =
            load[path->channels[i]] + policy_load_part(graph, path->channels[i], share);
        cost.highest = value > cost.highest ? value : cost.highest;
        cost.sum += value;
    }
    return cost;
}

static bool cheaper(struct path_cost a, struct path_cost b)
{
    return a.highest != b.highest ? a.highest < b.highest : a.sum < b.sum;
}

/* In a dragonfly every second try goes over another group: the shortest ways are few there. */
static bool other_path(const struct myr_graph *graph, const struct myr_flow *flow, uint64_t value,
                       uint32_t attempt, struct myr_path *ret)
{
    bool detour = attempt % 2 && graph->net->topology == MYR_TOPOLOGY_DRAGONFLY;
    if (detour) {
        return myr_path_valiant(graph, flow->from_port, flow->to_port, (uint32_t)(value >> 40),
                                value, ret);
    }
    return myr_path_by_value(graph, flow->from_port, flow->to_port, value, ret);
}

/* Takes each flow out and puts it back on the best of some paths; true when anything changed. */
static bool improve(struct policy_plan *plan, uint32_t pass)
{
    bool changed = false;
    for (size_t i = 0; i < plan->count; i++) {
        uint32_t share = plan->flows[i].share;
        if (plan->paths[i].count < 3) {
            continue; /* without a path, or inside one switch */
        }
        /* Without its own share: a path is judged by what the others put there. */
        policy_add_load(plan->graph, plan->load, &plan->paths[i], share, true);
        struct path_cost now = cost_of(plan->graph, &plan->paths[i], share, plan->load);
        struct path_cost before = now;
        /* A flow on links that are not too full stays where it is. */
        bool hot = now.highest > MYR_LOAD_ONE;
        for (uint32_t attempt = 0; hot && attempt < IMPROVE_TRIES; attempt++) {
            struct myr_path path;
            /* Another number for each flow, pass and try, and the same ones in every run. */
            uint64_t value = myr_hash_u64(((uint64_t)i << 16 | pass << 8) + attempt);
            if (!other_path(plan->graph, &plan->flows[i], value, attempt, &path)) {
                continue;
            }
            struct path_cost cost = cost_of(plan->graph, &path, share, plan->load);
            if (cheaper(cost, now)) {
                now = cost;
                plan->paths[i] = path;
                changed = true;
            }
        }
        MYR_ASSERT(!cheaper(before, now) && plan->paths[i].count > 0);
        policy_add_load(plan->graph, plan->load, &plan->paths[i], share, false);
    }
    return changed;
}

void policy_improve(struct policy_plan *plan)
{
    bool changed = true;
    for (uint32_t pass = 0; changed && pass < IMPROVE_PASSES; pass++) {
        changed = improve(plan, pass);
    }
}

/* --- the last flows of a plan */

/* The least common multiple; POLISH_TRIES where it is at least that many. */
static uint64_t common_period(uint64_t a, uint64_t b)
{
    MYR_ASSERT(a > 0 && b > 0);
    if (a % b == 0) {
        return a;
    }
    uint64_t high = a, low = b;
    while (low > 0) {
        uint64_t rest = high % low;
        high = low;
        low = rest;
    }
    bool many = b >= POLISH_TRIES || a / high * b >= POLISH_TRIES;
    return many ? POLISH_TRIES : a / high * b;
}

/*
 * The best of a flow's paths, tried in the order of their numbers, from one that differs by flow.
 * Once as many were tried as the common period of all of them, each further one is one of these
 * again, and would cost the same: they count as work, so that a large plan ends where it did, and
 * are not looked at.
 */
static bool best_path(const struct policy_plan *plan, size_t flow, struct myr_path *path_now,
                      uint64_t *work)
{
    const struct myr_flow *f = &plan->flows[flow];
    struct path_cost best = cost_of(plan->graph, path_now, f->share, plan->load);
    bool found = false;
    /* The work left is shared by all flows: the last ones may get fewer tries. */
    MYR_ASSERT(*work <= POLISH_WORK && path_now->count > 0);
    uint64_t tries = POLISH_WORK - *work < POLISH_TRIES ? POLISH_WORK - *work : POLISH_TRIES;
    uint64_t period = 1;
    for (uint64_t k = 0; k < tries && k < period; k++) {
        struct myr_path path;
        uint64_t own_period;
        /* An odd factor visits all low digits in turn: choices at the first switch come first. */
        if (!myr_path_with_period(plan->graph, f->from_port, f->to_port, k * 33 + flow, &path,
                                  &own_period)) {
            return false; /* no path at all: no other number has one either */
        }
        period = common_period(period, own_period);
        struct path_cost now = cost_of(plan->graph, &path, f->share, plan->load);
        if (now.highest < best.highest) {
            best = now;
            *path_now = path;
            found = true;
        }
    }
    *work += tries;
    return found;
}

/* Host channels are left out: no other path would relieve them. */
static bool above(const struct policy_plan *plan, const struct myr_path *path, uint64_t most)
{
    for (uint32_t i = 1; i + 1 < path->count; i++) {
        if (plan->load[path->channels[i]] > most) {
            return true;
        }
    }
    return false;
}

/* Each flow is taken out while its paths are judged, and put back on the best. */
void policy_polish(struct policy_plan *plan, uint64_t most)
{
    uint64_t work = 0;
    bool changed = true;
    for (uint32_t pass = 0; changed && pass < POLISH_PASSES; pass++) {
        changed = false;
        for (size_t i = 0; i < plan->count; i++) {
            struct myr_path *path = &plan->paths[i];
            if (path->count > 0 && above(plan, path, most)) {
                policy_add_load(plan->graph, plan->load, path, plan->flows[i].share, true);
                changed |= best_path(plan, i, path, &work);
                policy_add_load(plan->graph, plan->load, path, plan->flows[i].share, false);
            }
        }
    }
}
