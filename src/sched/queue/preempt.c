#include <stdlib.h>

#include "queue/state.h"

/*
 * Work worth WORTH_S of a job's GPUs may be lost for it at once; for a gang that is due
 * WORTH_DUE_S, and as much as has stood idle on its nodes.
 */
enum { WORTH_S = 900, WORTH_DUE_S = 300 };

/*
 * A search looks at every node: so many nodes are looked at in one decision, and the other searches
 * come a second later, so that one decision never takes long.
 */
enum { LOOKS_MAX = 1 << 16 };

/* Gangs of one part of the cluster in so many are not stopped for a smaller equal. */
enum { BIG_PART = 4, HALF_PART = 2 };

/* A gang that has waited too long stops what came before it too, if that is so many times smaller.
 */
enum { SMALLER_TIMES = 4 };

/*
 * Equals are stopped for a job where so many times as many jobs are likely to end in the same time
 * with it as with them. What is learned of lengths is rough, and who is stopped waits again, so a
 * little more would only share the wait out.
 */
enum { WORTH_TIMES = 3 };

/* Who asks for room. */
struct claim {
    uint32_t job, gpus;
    int64_t cost_s;           /* what its end costs, by the lengths of others of its size */
    uint32_t nodes, per_node; /* a gang needs so many, with so many GPUs of each */
    bool gang;                /* of several nodes, or with a request */
    int32_t priority;         /* that it asks with; a trial may try another */
    bool by_level;            /* it may stop jobs of its own priority too */
    bool anyone;              /* to see what it would take */
    bool early;               /* it has not waited long enough to stop its equals */
    bool due;                 /* a gang that has waited too long: it stops whom it has to */
};

/* Whether the victim's tenant is that much further beyond its share than the claimant's. */
static bool floods(const struct myr_queue *q, const struct claim *claim, const struct qjob *victim)
{
    MYR_SLOW_ASSERT(claim->job < q->job_count && queue_is_on(victim));
    enum { FAR_OCTAVES = 4, ROOT_SHIFT = 24 };
    /* The highest byte is of the root: organisations are compared, not their teams. */
    uint32_t own = queue_excess(q, queue_job(q, claim->job)->spec.tenant) >> ROOT_SHIFT;
    return queue_excess(q, victim->spec.tenant) >> ROOT_SHIFT >= own + FAR_OCTAVES;
}

/* What the end of a job that runs costs from now on. */
static int64_t cost_of(const struct myr_queue *q, const struct qjob *job)
{
    MYR_SLOW_ASSERT(queue_is_on(job) && job->saved_s >= 0);
    return queue_lengths_cost_s(q->lengths, job->spec.gpus, job->saved_s + queue_worked_s(q, job));
}

/*
 * Whom a gang that has waited too long stops, whatever that costs: who came later, and who is so
 * much smaller that gangs would never run if they waited for such. Nobody larger, and no gang like
 * it that came before: so two gangs never stop each other in turn, and the oldest always goes on.
 */
static bool gives_way_when_due(const struct claim *claim, const struct qjob *victim)
{
    MYR_SLOW_ASSERT(victim->id != claim->job);
    return victim->id > claim->job ? victim->spec.gpus <= claim->gpus
                                   : victim->spec.gpus < claim->gpus / SMALLER_TIMES;
}

/* Reasons not to, from the cheapest to find to the dearest; who is left may be stopped. */
static bool may_stop(const struct myr_queue *q, const struct claim *claim,
                     const struct qjob *victim)
{
    MYR_SLOW_ASSERT(victim->id != claim->job && queue_is_on(victim));
    if (claim->anyone) {
        return true;
    }
    /* Replicas are never stopped, and owners in their cells are not borrowers. */
    if (victim->spec.fixed || victim->owner != MYR_NONE) {
        return false;
    }
    if (victim->spec.priority != claim->priority) {
        return victim->spec.priority < claim->priority;
    }
    /* Equals are stopped by level alone, and after a wait. */
    if (!claim->by_level || claim->early) {
        return false;
    }
    if (claim->due) {
        return victim->guest_of == claim->job || gives_way_when_due(claim, victim);
    }
    if (q->policy.yield_s > 0 && victim->since_s >= q->policy.yield_s &&
        !floods(q, claim, victim)) {
        return false; /* it has given way long enough */
    }
    if (claim->gpus < victim->spec.gpus && queue_is_large(q, victim->spec.gpus, BIG_PART)) {
        return false; /* so much room at once hardly ever comes again */
    }
    if (victim->guest_of == claim->job) {
        return true;
    }
    if (q->now_s - victim->start_s < q->policy.run_min_s) {
        return false;
    }
    if (q->big_runs > 0 && queue_is_large(q, claim->gpus, HALF_PART)) {
        return false; /* two such would leave nothing for anybody else, for nobody knows how long */
    }
    return floods(q, claim, victim) || cost_of(q, victim) >= WORTH_TIMES * claim->cost_s;
}

/* Jobs of one node, cheapest to stop first. */
struct victim {
    uint32_t job, gpus;
    int64_t cost; /* GPU seconds that are lost */
};

/*
 * The cheapest jobs of a node whose end frees 'wanted' GPUs there. Returns their number, or
 * MYR_NONE when there are not enough; 'ret' has room for the jobs of a node.
 */
static uint32_t victims_on(const struct myr_queue *q, const struct claim *claim, uint32_t node,
                           uint32_t wanted, struct victim *ret, int64_t *ret_cost)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes && wanted > 0);
    MYR_SLOW_ASSERT(wanted <= q->shape.gpus_per_node);
    uint32_t count = 0, have = gpu_count(queue_claimable_gpus(q, node)), needed = 0;
    *ret_cost = 0;
    for (uint32_t i = 0; i < q->node_job_count[node] && have < wanted; i++) {
        size_t at_node = (size_t)node * q->shape.gpus_per_node + i;
        uint32_t other = q->node_jobs[at_node];
        const struct qjob *job = queue_job(q, other);
        if (!may_stop(q, claim, job)) {
            continue;
        }
        struct victim v = {other, q->node_job_gpus[at_node], queue_stop_cost(q, job)};
        uint32_t at = count++;
        /* by cost for each GPU that it frees here */
        for (; at > 0 && ret[at - 1].cost * v.gpus > v.cost * ret[at - 1].gpus; at--) {
            ret[at] = ret[at - 1];
        }
        ret[at] = v;
    }
    /* Cheapest first until there is enough; a job may free more than is wanted. */
    while (needed < count && have < wanted) {
        have += ret[needed].gpus;
        *ret_cost += ret[needed].cost;
        needed++;
    }
    MYR_SLOW_ASSERT(needed <= count && count <= q->shape.gpus_per_node);
    return have >= wanted ? needed : MYR_NONE;
}

/* Adds the victims on a node to q->victims; a gang met on several nodes counts once. */
static void add_victims(struct myr_queue *q, const struct claim *claim, uint32_t node,
                        uint32_t wanted)
{
    MYR_ASSERT(node < q->shape.nodes && !q->closed[node]);
    struct victim victims[MYR_SCHED_GPUS_MAX];
    int64_t cost;
    uint32_t count = victims_on(q, claim, node, wanted, victims, &cost);
    MYR_ASSERT(count != MYR_NONE);
    MYR_ASSERT(count <= q->node_job_count[node]);
    for (uint32_t v = 0; v < count; v++) {
        MYR_ASSERT(victims[v].job != claim->job);
        bool known = false;
        for (size_t i = 0; i < q->victims.count && !known; i++) {
            known = q->victims.items[i] == victims[v].job;
        }
        if (!known) {
            myr_vec_push(&q->victims, victims[v].job);
        }
    }
}

/* What is lost when q->victims stop, in GPU seconds; that of lower priority does not count. */
static int64_t price(const struct myr_queue *q, const struct claim *claim)
{
    int64_t cost = 0;
    for (size_t i = 0; i < q->victims.count; i++) {
        const struct qjob *victim = queue_job(q, q->victims.items[i]);
        MYR_ASSERT(queue_is_on(victim));
        cost += victim->spec.priority == claim->priority ? queue_stop_cost(q, victim) : 0;
    }
    return cost;
}

/*
 * Whether more jobs end with the claim than with q->victims together: a gang that stops many equals
 * makes many wait for one.
 */
static bool ends_more(const struct myr_queue *q, const struct claim *claim)
{
    enum { ONE = 1024 };
    int64_t sum = 0;
    for (size_t i = 0; i < q->victims.count && !claim->due; i++) {
        const struct qjob *victim = queue_job(q, q->victims.items[i]);
        MYR_ASSERT(queue_is_on(victim));
        if (victim->spec.priority == claim->priority && victim->guest_of != claim->job &&
            !floods(q, claim, victim)) {
            int64_t cost_s = cost_of(q, victim);
            sum += cost_s > 0 ? claim->cost_s * ONE / cost_s : ONE;
        }
    }
    /* The claim's cost over each victim's own, summed, is at most one in WORTH_TIMES. */
    MYR_ASSERT(sum >= 0);
    return sum * WORTH_TIMES <= ONE;
}

/* A gang for which nodes are held need not wait for them to drain; broken: its own, with guests. */
static bool is_due(const struct myr_queue *q, uint32_t id)
{
    return q->policy.preempt && queue_is_gang(q, queue_job(q, id)->spec.gpus) &&
           !queue_job(q, id)->broken && queue_has_hold(q, id);
}

/* Who has waited for so long is stopped by nobody, and a gang that is due pays any price. */
static bool is_last(const struct myr_queue *q, uint32_t id)
{
    return q->policy.yield_s > 0 && queue_waited_s(q, id) >= q->policy.yield_s;
}

/* Whether a gang that is due waits for what may be lost, so that nobody else spends it. */
static bool is_saved_for(const struct myr_queue *q, const struct claim *claim)
{
    for (size_t i = 0; i < q->holds.count && !claim->due; i++) {
        uint32_t id = q->holds.items[i].job;
        if (is_due(q, id) && queue_job(q, id)->spec.priority >= claim->priority) {
            return true;
        }
    }
    return false;
}

/*
 * The most that a job is worth of the work of others: little at first, more as it waits. For one
 * whose nodes drain as much as that has cost by now: to stop what is left is never dearer then than
 * twice the best that could have been done, whatever jobs are like.
 */
static int64_t worth(const struct myr_queue *q, const struct claim *claim)
{
    const struct hold *hold = claim->due ? queue_hold_of(q, claim->job) : NULL;
    int64_t waited_s = queue_waited_s(q, claim->job);
    MYR_ASSERT(waited_s >= 0);
    return hold ? claim->gpus * (int64_t)WORTH_DUE_S + hold->idle_gpu_s
                : claim->gpus * (WORTH_S + waited_s);
}

/*
 * Whether what others lose for the job is paid: what it is worth at most, and all in all no more
 * than the policy's share of the GPU time, which is kept for gangs that are due as long as there
 * are any. Higher priority pays any price, and so does a gang that has waited for so long that
 * nobody might stop it.
 */
static bool pay(struct myr_queue *q, const struct claim *claim, int64_t cost)
{
    bool affordable = cost <= worth(q, claim) && cost * 1000 <= q->loss_left;
    bool last =
        claim->due && q->policy.yield_s > 0 && queue_waited_s(q, claim->job) >= q->policy.yield_s;
    if (cost > 0 && !last && (!affordable || is_saved_for(q, claim))) {
        return false;
    }
    q->loss_left -= cost * 1000;
    return true;
}

/* Starts the job on the nodes in q->nodes, whole ones and the remainder on the last. */
static void start_on_nodes(struct myr_queue *q, uint32_t id)
{
    uint32_t left = queue_job(q, id)->spec.gpus;
    MYR_ASSERT(q->nodes.count > 0);
    MYR_ASSERT(q->nodes.count <= q->shape.nodes);
    queue_claim_begin(q, id);
    for (size_t i = 0; i < q->nodes.count; i++) {
        uint32_t per = queue_request_per_node(q, queue_job(q, id)), here = left < per ? left : per;
        queue_claim_share(q, id, q->nodes.items[i], here);
        left -= here;
    }
    MYR_ASSERT(left == 0);
    MYR_ASSERT(queue_job(q, id)->gang.count == q->nodes.count);
    queue_claim_end(q, id);
}

/* Stops q->victims and starts the job on q->nodes. */
static void take_over(struct myr_queue *q, const struct claim *claim)
{
    MYR_ASSERT(queue_job(q, claim->job)->state == MYR_JOB_WAITS);
    for (size_t i = 0; i < q->victims.count; i++) {
        const struct qjob *victim = queue_job(q, q->victims.items[i]);
        MYR_ASSERT(queue_is_on(victim) && victim->id != claim->job);
        bool level = victim->spec.priority == claim->priority;
        queue_stop_job(q, q->victims.items[i], level ? MYR_STOP_LEVEL : MYR_STOP_PRIORITY,
                       claim->job);
    }
    /* Where all of it is free by now the search says which rank goes where. */
    if (queue_job(q, claim->job)->request == MYR_NONE || q->policy.confirm ||
        !queue_request_start_on(q, claim->job, q->nodes.items, (uint32_t)q->nodes.count)) {
        start_on_nodes(q, claim->job);
    }
    MYR_ASSERT(queue_job(q, claim->job)->state != MYR_JOB_WAITS);
}

/* A job of one node: the node where making room costs least. */
static bool find_node(struct myr_queue *q, const struct claim *claim)
{
    MYR_ASSERT(!claim->gang && claim->gpus <= q->shape.gpus_per_node);
    struct victim victims[MYR_SCHED_GPUS_MAX];
    uint32_t best = MYR_NONE;
    int64_t best_cost = INT64_MAX, cost;
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        if (!q->closed[node] &&
            victims_on(q, claim, node, claim->gpus, victims, &cost) != MYR_NONE &&
            cost < best_cost) {
            best_cost = cost;
            best = node;
        }
    }
    q->victims.count = q->nodes.count = 0;
    if (best != MYR_NONE) {
        myr_vec_push(&q->nodes, best);
        add_victims(q, claim, best, claim->gpus);
    }
    return best != MYR_NONE;
}

/* What it costs to empty each node; INT64_MAX: it cannot be. Returns how many can be. */
static uint32_t price_nodes(const struct myr_queue *q, const struct claim *claim, int64_t *ret)
{
    MYR_ASSERT(claim->gang && claim->per_node > 0);
    struct victim victims[MYR_SCHED_GPUS_MAX];
    uint32_t count = 0;
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        /* A gang takes whole nodes, or as many GPUs of each as its request says. */
        bool can = !q->closed[node] && queue_suits(q, queue_job(q, claim->job), node) &&
                   victims_on(q, claim, node, claim->per_node, victims, &ret[node]) != MYR_NONE;
        ret[node] = can ? ret[node] : INT64_MAX;
        count += can;
    }
    MYR_ASSERT(count <= q->shape.nodes);
    return count;
}

/* The cheapest 'wanted' nodes of a group, cheapest first; returns how many there are. */
static uint32_t cheapest_in_group(const struct myr_queue *q, const int64_t *prices, uint32_t group,
                                  uint32_t wanted, uint32_t *ret, int64_t *ret_cost)
{
    uint32_t first = group * q->shape.group_nodes, end = first + q->shape.group_nodes, count = 0;
    MYR_ASSERT(wanted > 0);
    MYR_ASSERT(wanted <= q->shape.group_nodes);
    MYR_ASSERT(first < q->shape.nodes);
    end = end < q->shape.nodes ? end : q->shape.nodes;
    for (uint32_t node = first; node < end; node++) {
        if (prices[node] == INT64_MAX) {
            continue;
        }
        uint32_t at = count;
        for (; at > 0 && prices[ret[at - 1]] > prices[node]; at--) {
            if (at < wanted) {
                ret[at] = ret[at - 1];
            }
        }
        if (at < wanted) {
            ret[at] = node;
            count += count < wanted;
        }
    }
    *ret_cost = 0;
    for (uint32_t i = 0; i < count; i++) {
        *ret_cost += prices[ret[i]];
    }
    MYR_ASSERT(count <= wanted);
    return count;
}

/* Group by group, the ones that are cheapest to empty, into q->nodes; false: not near enough. */
static bool choose_groups(struct myr_queue *q, const struct claim *claim, int64_t *prices)
{
    MYR_ASSERT(claim->nodes > 0 && claim->nodes <= q->shape.nodes);
    uint32_t per = q->shape.group_nodes, groups = (q->shape.nodes + per - 1) / per;
    uint32_t needed = claim->nodes;
    uint32_t *picked = myr_xcalloc(per, sizeof(*picked)), *best = myr_xcalloc(per, sizeof(*best));
    bool anywhere =
        queue_waited_s(q, claim->job) >= queue_locality_s(q, claim->gpus, q->policy.locality_s);
    q->nodes.count = 0;
    while (needed > 0) {
        uint32_t wanted = needed < per ? needed : per, best_count = 0;
        int64_t best_cost = INT64_MAX, cost;
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t count = cheapest_in_group(q, prices, g, wanted, picked, &cost);
            if (count > best_count || (count && count == best_count && cost < best_cost)) {
                memcpy(best, picked, count * sizeof(*best));
                best_count = count;
                best_cost = cost;
            }
        }
        /* Fewer than wanted in one group means more groups: only who has waited may have that. */
        if (best_count == 0 || (best_count < wanted && !anywhere)) {
            break;
        }
        for (uint32_t i = 0; i < best_count; i++) {
            myr_vec_push(&q->nodes, best[i]);
            prices[best[i]] = INT64_MAX; /* not twice */
        }
        MYR_ASSERT(best_count <= wanted && best_cost < INT64_MAX);
        needed -= best_count;
    }
    free(picked);
    free(best);
    return needed == 0;
}

/* Whether the nodes found may stand together for what the job asks; else nobody is stopped. */
static bool keeps_request(const struct myr_queue *q, const struct claim *claim)
{
    const struct qjob *job = queue_job(q, claim->job);
    for (size_t i = 0; job->request != MYR_NONE && i < q->nodes.count; i++) {
        if (!queue_may_stand_with(q, job, q->nodes.items, (uint32_t)i, q->nodes.items[i])) {
            return false;
        }
    }
    return true;
}

/* A gang: whole nodes, and what is held for it counts as well. */
static bool find_nodes(struct myr_queue *q, const struct claim *claim)
{
    int64_t *prices = myr_xcalloc(q->shape.nodes, sizeof(*prices));
    bool found = price_nodes(q, claim, prices) >= claim->nodes && choose_groups(q, claim, prices);
    free(prices);
    q->victims.count = 0;
    MYR_ASSERT(!found || q->nodes.count == claim->nodes);
    for (size_t i = 0; i < q->nodes.count && found; i++) {
        add_victims(q, claim, q->nodes.items[i], claim->per_node);
    }
    return found && keeps_request(q, claim);
}

static bool find_room(struct myr_queue *q, const struct claim *claim)
{
    return claim->gang ? find_nodes(q, claim) : find_node(q, claim);
}

/* A request counts as one even on a single node: it is placed by whole shares. */
static bool is_gang(const struct myr_queue *q, const struct qjob *job)
{
    return job->request != MYR_NONE || queue_is_gang(q, job->spec.gpus);
}

/* Nothing is stopped: it only tells what it would take. */
bool queue_find_stops(struct myr_queue *q, uint32_t id, int32_t priority, bool anyone)
{
    const struct qjob *job = queue_job(q, id);
    struct claim claim = {.job = id,
                          .early = queue_waited_s(q, id) < q->policy.stop_after_s,
                          .gpus = job->spec.gpus,
                          .nodes = queue_nodes_of(q, job),
                          .per_node = queue_request_per_node(q, job),
                          .gang = is_gang(q, job),
                          .cost_s = queue_lengths_cost_s(q->lengths, job->spec.gpus, job->saved_s),
                          .priority = priority,
                          .by_level = q->policy.preempt,
                          .anyone = anyone};
    /* Nodes held for it, or for who gives way to it, count as open while it looks. */
    MYR_ASSERT(job->state == MYR_JOB_WAITS && claim.nodes > 0);
    queue_lift_holds(q, id, priority, true);
    bool found = find_room(q, &claim);
    queue_lift_holds(q, id, priority, false);
    return found;
}

/* Whether any job of lower priority runs. */
static bool runs_below(const struct myr_queue *q, int32_t priority)
{
    MYR_ASSERT(priority >= -MYR_PRIORITY_MAX && priority <= MYR_PRIORITY_MAX);
    for (int32_t p = -MYR_PRIORITY_MAX; p < priority; p++) {
        if (q->priority_runs[p + MYR_PRIORITY_MAX] > 0) {
            return true;
        }
    }
    return false;
}

/*
 * A search that can end in one way only is not made: where all that run are its equals, and either
 * it has not waited long enough to stop one, or nothing can be lost for it now. Ten thousand lines
 * in a full cluster are mostly of that kind.
 */
static bool is_hopeless(struct myr_queue *q, uint32_t at)
{
    const struct line *line = &q->lines.items[at];
    uint32_t id = line->first;
    MYR_ASSERT(at < q->lines.count && id != MYR_NONE);
    bool early = queue_waited_s(q, id) < q->policy.stop_after_s;
    if (runs_below(q, line->priority)) {
        return false;
    }
    /* Whatever is to be lost for a gang that is due has to be there, but at the very last. */
    if (is_due(q, id) && q->loss_left <= 0 && !is_last(q, id)) {
        queue_ask_again(q, at, q->now_s + queue_retry_after_s(q, id));
        return true;
    }
    if (line->reclaims || queue_may_use_held(q, id)) {
        return false;
    }
    if (early) {
        queue_ask_again(q, at, queue_job(q, id)->since_s + q->policy.stop_after_s);
        return true;
    }
    if (queue_was_in_vain(q, line) || queue_least_cost(q, line->gpus) > q->loss_left / 1000) {
        queue_ask_again(q, at, q->now_s + queue_retry_after_s(q, id));
        return true;
    }
    return false;
}

/* Makes room for the first job of a line, if there is any to be made at a price it is worth. */
static bool try_line(struct myr_queue *q, uint32_t at)
{
    const struct line *line = &q->lines.items[at];
    MYR_ASSERT(at < q->lines.count);
    MYR_ASSERT(line->first != MYR_NONE);
    struct claim claim = {.job = line->first,
                          .gpus = line->gpus,
                          .nodes = queue_nodes_of(q, queue_job(q, line->first)),
                          .per_node = queue_request_per_node(q, queue_job(q, line->first)),
                          .gang = is_gang(q, queue_job(q, line->first)),
                          .cost_s = queue_first_cost_s(q, line),
                          .priority = line->priority,
                          .by_level = q->policy.preempt,
                          .early = queue_waited_s(q, line->first) < q->policy.stop_after_s,
                          .due = is_due(q, line->first)};
    int64_t again_s = q->now_s + queue_retry_after_s(q, claim.job);
    queue_lift_holds(q, claim.job, claim.priority, true);
    bool found = find_room(q, &claim) && ends_more(q, &claim);
    int64_t cost = found ? price(q, &claim) : INT64_MAX;
    bool done = found && pay(q, &claim, cost);
    if (done) {
        take_over(q, &claim);
        queue_hand_over(q, claim.job, &queue_job(q, claim.job)->gang);
    }
    queue_lift_holds(q, claim.job, claim.priority, false);
    if (done) {
        queue_start_what_fits(q); /* those who made room may fit elsewhere */
        return true;
    }
    /* Who may not stop equals yet, or may stop more than others, says nothing about them. */
    if (!claim.early && !claim.due && cost > q->loss_left / 1000) {
        queue_note_vain(q, line, cost);
    }
    queue_ask_again(q, at, again_s);
    return false;
}

/*
 * Who has waited for long searches rarely, and room that came about meanwhile must not go to
 * whoever counts less and happens to ask: those above him ask first, where there is any.
 */
static bool serve_above(struct myr_queue *q, uint32_t at)
{
    uint32_t above = queue_line_above(q, at), id = q->lines.items[at].first;
    if (above == MYR_NONE || !queue_find_stops(q, id, queue_job(q, id)->spec.priority, false)) {
        return false;
    }
    for (; above != MYR_NONE; above = queue_line_above(q, at)) {
        if (try_line(q, above)) {
            return true;
        }
    }
    return false;
}

/* Calls the queue when the next line is due; once for each time. */
static void wake_for_tries(struct myr_queue *q)
{
    int64_t due_s = queue_tries_due_s(q);
    if (due_s != INT64_MAX && (due_s < q->tries.wake_s || q->tries.wake_s <= q->now_s)) {
        queue_wake_at(q, due_s);
        q->tries.wake_s = due_s;
    }
}

void queue_preempt_for_waiting(struct myr_queue *q)
{
    uint64_t looks = 0;
    for (uint32_t at = queue_tries_next(q, is_hopeless); at != MYR_NONE;
         at = queue_tries_next(q, is_hopeless)) {
        /* The first search is made in any case: a cluster may have more nodes than the limit. */
        if (looks > 0 && looks + q->shape.nodes > LOOKS_MAX) {
            queue_wake_at(q, q->now_s + 1);
            return;
        }
        MYR_ASSERT(at < q->lines.count);
        looks += q->shape.nodes;
        (void)(serve_above(q, at) || try_line(q, at));
    }
    wake_for_tries(q);
}
