#include "myriad/study/acceptance.h"

#include <stdio.h>

#include "compare_rows.h"
#include "myriad/fit/failures.h"
#include "myriad/sim.h"

/*
 * The design is looked at as by compare: one kind of servers, flows spread as such switches do,
 * what headers leave. A collective is asked of the simulator as 'myriad sim' asks it, a step of the
 * fit as 'myriad fit' does; here their numbers become targets.
 */

#define ACCEPTANCE_BYTES "8GB" /* large enough that start-up is no part of it */

enum {
    ACCEPTANCE_NODES_STEP = 4, /* 2, 8, 32, ... nodes */
    ACCEPTANCE_SIMULATED_MAX = 65536,
    ACCEPTANCE_DAYS_FEW = 30,
    ACCEPTANCE_DAYS_MANY = 7,
    ACCEPTANCE_STOPS_ENOUGH = 10, /* of a week: fewer say little */
};

/* Rings of published clusters reach 370 of 400 GB/s of the line. */
static const double line_share = 370.0 / 400;

struct targets {
    struct myr_arena *arena;
    struct myr_plan_targets *ret;
    struct myr_compare_side side;
};

static struct myr_plan_target *add(struct targets *all, const char *key, const char *test,
                                   double value, int digits, const char *unit)
{
    struct myr_plan_target *target = &all->ret->items[all->ret->count++];
    MYR_ASSERT(all->ret->count <= MYR_PLAN_TARGETS_MAX);
    *target = (struct myr_plan_target){
        .key = key, .test = test, .value = value, .digits = digits, .unit = unit};
    return target;
}

static void lack(struct targets *all, const char *why)
{
    struct myr_plan_targets *ret = all->ret;
    if (ret->lacking_count < MYR_PLAN_TARGETS_MAX) {
        ret->lacking[ret->lacking_count++] = why;
    }
}

/* ---- network ---- */

/* What a node's cards on the compute network carry one way, in GB/s. */
static double line_of(const struct targets *all)
{
    const struct myr_network *net = &all->side.design.networks[MYR_NET_COMPUTE];
    double ports = net->nodes_on_it ? (double)net->host_ports / net->nodes_on_it : 0;
    return ports * net->host_gbps / 8;
}

static int collective(struct targets *all, const char *kind, uint32_t nodes, uint64_t seed,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_sim_answer_done) struct myr_sim_answer answer = {};
    const struct myr_design_head *head = all->side.job.head;
    uint32_t ranks = nodes * head->gpus_per_node;
    const char *words = myr_arena_printf(
        all->arena, "%s:auto,%s%s", kind, ACCEPTANCE_BYTES,
        nodes == head->nodes ? "" : myr_arena_printf(all->arena, ",ranks=%u", ranks));
    const struct myr_sim_question ask = {
        .planned = &all->side.job,
        .net = MYR_NET_COMPUTE,
        .workloads = {&words, 1},
        .balance = {all->side.policy, seed, false},
        .queue_pairs = 1,
        .efficiency_permille = all->side.efficiency_permille,
    };
    MYR_TRY(myr_sim_ask(&answer, &ask, err));
    double found = answer.jobs[0].bus_gbytes_per_s, line = line_of(all) * line_share;
    double target = nodes > 1 && line > 0 && line < found ? line : found;
    struct myr_plan_target *row =
        add(all, myr_arena_printf(all->arena, "%s_%u_nodes", kind, nodes),
            myr_arena_printf(all->arena, "%s of " ACCEPTANCE_BYTES " on %u nodes", kind, nodes),
            target, 1, "GB/s");
    row->basis = "simulated";
    row->rule = "at least: the lower of the simulated bus bandwidth and 370 / 400 of a node's "
                "line, which published clusters reach";
    row->inputs = myr_arena_printf(
        all->arena,
        "" ACCEPTANCE_BYTES " simulated: %.1f GB/s with %s, headers leave %u permille; line "
        "%.0f GB/s",
        found, myr_policy_names[all->side.policy], all->side.efficiency_permille, line_of(all));
    row->reach = "as a fluid, one seed of hashes, without time of software; not measured on this "
                 "design";
    return MYR_OK;
}

/* Doubling curves show a step where one leaf, pod or plane is slow. */
static int network(struct targets *all, uint64_t seed, struct myr_err *err)
{
    static const char *const others[] = {"reducescatter", "allgather"};
    const struct myr_design_head *head = all->side.job.head;
    if (head->gpus > ACCEPTANCE_SIMULATED_MAX) {
        lack(all, "collectives: more GPUs than are simulated for a proposal");
        return MYR_OK;
    }
    for (uint32_t nodes = 2; nodes < head->nodes; nodes *= ACCEPTANCE_NODES_STEP) {
        MYR_TRY(collective(all, "allreduce", nodes, seed, err));
    }
    if (head->nodes < 2) {
        lack(all, "collectives: one node has no network to test");
        return MYR_OK;
    }
    MYR_TRY(collective(all, "allreduce", head->nodes, seed, err));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        MYR_TRY(collective(all, others[i], head->nodes, seed, err));
    }
    return MYR_OK;
}

/* ---- training ---- */

static void put_step(struct targets *all, const struct myr_case *it,
                     const struct myr_case_price *price)
{
    const char *inputs = myr_arena_printf(
        all->arena, "%s, %llu sequences on %u GPUs (%s, %s): %.3f s, %.3f to %.3f s",
        it->model.name, (unsigned long long)it->query.batch, it->query.gpus,
        it->query.it.device->name, it->query.it.stack->name, price->cost.step_s, price->low_s,
        price->high_s);
    const char *reach = myr_arena_printf(
        all->arena, "fitted to published runs; nine of ten runs within %.0f %% of it",
        100 * (price->high_s / price->cost.step_s - 1));
    struct myr_plan_target *row =
        add(all, "step_s", myr_arena_printf(all->arena, "step of %s", it->model.name),
            price->high_s, 3, "s");
    row->basis = "fitted";
    row->rule = "at most: the end of the interval that nine of ten runs keep to";
    row->inputs = inputs;
    row->reach = reach;
    row = add(all, "mfu", myr_arena_printf(all->arena, "MFU of %s", it->model.name),
              price->cost.mfu * price->cost.step_s / price->high_s, 3, "");
    row->basis = "fitted";
    row->rule = "at least: of the slowest step of that interval";
    row->inputs = inputs;
    row->reach = reach;
}

static int train(struct targets *all, const struct myr_acceptance_question *question,
                 struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    struct myr_case_question ask = myr_case_question_default();
    struct myr_err why = {};
    myr_arena_init(&scratch);
    ask.model = question->model;
    ask.batch = question->batch;
    ask.planned = &all->side.job;
    /* Large: not for the stack. */
    struct myr_case *it = MYR_ARENA_ONE(&scratch, struct myr_case);
    struct myr_fit_answer *found = MYR_ARENA_ONE(&scratch, struct myr_fit_answer);
    struct myr_case_price price;
    int rc = myr_case_init(it, &scratch, &ask, err);
    if (rc == MYR_OK) {
        rc = myr_case_answer(it, &scratch, found, &why);
        if (rc == MYR_OK) {
            rc = myr_case_price(it, &found->top[0].layout, NULL, &scratch, &price, &why);
        }
        if (rc == MYR_OK) {
            put_step(all, it, &price);
        } else if (rc == MYR_EINFEASIBLE) {
            lack(all, myr_arena_printf(all->arena, "training: %s", why.message));
            rc = MYR_OK;
        } else if (err) {
            *err = why;
        }
    }
    myr_case_done(it);
    return rc;
}

/* ---- stability ---- */

/*
 * The least count that 90 of 100 windows keep to, for a Poisson process of that mean. Chances are
 * taken relative to that of the most likely count, so that no exponential is asked for.
 */
static uint32_t poisson_90(double mean)
{
    uint32_t mode = (uint32_t)mean, k = mode;
    double below = 0, above = 0, chance = 1;
    for (uint32_t i = mode; i > 0 && chance > 1e-18; i--) {
        chance *= i / mean;
        below += chance;
    }
    chance = 1;
    for (uint32_t i = mode + 1; chance > 1e-18; i++) {
        chance *= mean / i;
        above += chance;
    }
    double reached = below + 1;
    chance = 1;
    while (reached < 0.9 * (below + 1 + above)) {
        chance *= mean / ++k;
        reached += chance;
    }
    return k;
}

static int stability(struct targets *all, struct myr_err *err)
{
    MYR_CLEANUP(myr_recovery_done) struct myr_recovery recovery = {};
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    uint32_t count;
    const struct myr_design_head *head = all->side.job.head;
    MYR_TRY(myr_recovery_read(&recovery, all->arena, NULL, err));
    MYR_TRY(
        myr_job_rates(&recovery, "llama3", head->gpus, head->gpus_per_node, rates, &count, err));
    double a_day = rates[0].per_1000_node_days / 1000 * head->nodes;
    uint32_t days = a_day * ACCEPTANCE_DAYS_MANY >= ACCEPTANCE_STOPS_ENOUGH ? ACCEPTANCE_DAYS_MANY
                                                                            : ACCEPTANCE_DAYS_FEW;
    double mean = a_day * days;
    struct myr_plan_target *row = add(
        all, "stops", myr_arena_printf(all->arena, "stops of a job on all GPUs in %u days", days),
        poisson_90(mean), 0, "");
    row->basis = "computed";
    row->rule = "at most: what nine of ten such windows keep to, for stops that come by chance";
    row->inputs =
        myr_arena_printf(all->arena, "%.1f expected in %u days: %.2f per 1,000 node-days, %u nodes",
                         mean, days, rates[0].per_1000_node_days, head->nodes);
    row->reach = "the rate is that of one published cluster with H100";
    return MYR_OK;
}

int myr_acceptance_targets(struct myr_arena *arena, const struct myr_catalog *catalog,
                           const struct myr_acceptance_question *question,
                           struct myr_plan_targets *ret, struct myr_err *err)
{
    struct targets *all = MYR_ARENA_ONE(arena, struct targets);
    *all = (struct targets){.arena = arena, .ret = ret};
    *ret = (struct myr_plan_targets){};
    if (question->model && !question->batch) {
        return myr_err_set(err, MYR_EINVAL, "--model needs --batch: sequences of a step");
    }
    if (!question->design->networks[MYR_NET_COMPUTE].topology) {
        lack(all, "collectives and training: the design has no compute network");
        return MYR_OK;
    }
    const struct myr_compare_question plain = {};
    all->side.design = *question->design;
    all->side.file = "the design";
    MYR_TRY(compare_look(&all->side, catalog, &plain, 0, err));
    MYR_TRY(network(all, question->seed, err));
    if (question->model) {
        MYR_TRY(train(all, question, err));
    } else {
        lack(all, "training: no model is named");
    }
    return stability(all, err);
}
