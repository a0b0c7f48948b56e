#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "myriad/sim/state.h"
#include "rounds.h"

/*
 * The engine without a fabric: channels and patterns made up, so that every shape of sharing turns
 * up. The naive model beside it knows neither events nor increments: at every moment it solves all
 * rates from nothing, by raising everybody together, in floating point.
 */

enum { CHANNELS_MAX = 12, TASKS_MAX = 24, CASES = TEST_ROUNDS(1000) };
/* Many over few channels: most of these are full, and transfers share two of them and more. */
enum { CROWD = 60, CROWDS = TEST_ROUNDS(40), CROWD_CHANNELS = 20 };

static struct myr_sim *make_sim(uint32_t channels)
{
    struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
    sim->transport = &sim_fluid;
    sim->link_channels = sim->scale_up_base = sim->pool_base = channels;
    sim_channels_open(sim, channels);
    return sim;
}

static void set_capacity(struct myr_sim *sim, uint32_t channel, uint64_t bps)
{
    sim_set_capacity(sim, channel, bps);
    sim->channels[channel].full_capacity = bps;
}

static void open_pattern(struct myr_sim *sim, myr_ps latency)
{
    struct sim_pattern pattern = {.first_use = (uint32_t)sim->uses.count, .latency = latency};
    myr_vec_push(&sim->patterns, pattern);
    sim->routed_patterns = (uint32_t)sim->patterns.count;
}

static void put_use(struct myr_sim *sim, uint32_t channel, uint32_t weight)
{
    struct sim_use use = {channel, weight};
    myr_vec_push(&sim->uses, use);
    sim->patterns.items[sim->patterns.count - 1].use_count++;
}

/* The naive model. */
struct naive {
    const struct myr_sim *sim;
    double left[CROWD], rate[CROWD], latency_end[CROWD], end[CROWD];
    uint32_t waits[CROWD];
    enum sim_state state[CROWD];
};

/* The rate at which those who still rise fill the channel; negative when nobody does. */
static double naive_full_at(const struct myr_sim *sim, uint32_t channel, const bool *moving,
                            const bool *fixed, const double *rate)
{
    double used = 0, weight = 0;
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        const struct sim_pattern *p = &sim->patterns.items[sim->tasks.items[t].pattern];
        for (uint32_t u = 0; moving[t] && u < p->use_count; u++) {
            const struct sim_use *use = &sim->uses.items[p->first_use + u];
            if (use->channel == channel) {
                used += fixed[t] ? rate[t] * use->weight / 1000 : 0;
                weight += fixed[t] ? 0 : (double)use->weight / 1000;
            }
        }
    }
    return weight > 0 ? ((double)sim->channels[channel].capacity - used) / weight : -1;
}

/* Raises all unfixed rates by the same amount until a channel is full, fixes its users, repeats. */
static void naive_rates(const struct myr_sim *sim, const bool *moving, double *rate)
{
    bool fixed[CROWD] = {false};
    double level = 0;
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        rate[t] = 0;
        fixed[t] = !moving[t];
    }
    while (true) {
        double best = -1;
        uint32_t full = MYR_NONE;
        for (uint32_t c = 0; c < sim->channel_count; c++) {
            double at = naive_full_at(sim, c, moving, fixed, rate);
            if (at >= 0 && (full == MYR_NONE || at < best)) {
                best = at;
                full = c;
            }
        }
        if (full == MYR_NONE) {
            return;
        }
        level = best > level ? best : level;
        for (uint32_t t = 0; t < sim->tasks.count; t++) {
            const struct sim_pattern *p = &sim->patterns.items[sim->tasks.items[t].pattern];
            for (uint32_t u = 0; !fixed[t] && u < p->use_count; u++) {
                if (sim->uses.items[p->first_use + u].channel == full) {
                    fixed[t] = true;
                    rate[t] = level;
                }
            }
        }
    }
}

static void random_case(struct myr_rng *rng, struct myr_sim *sim, uint32_t tasks)
{
    uint32_t channels = sim->channel_count;
    for (uint32_t c = 0; c < channels; c++) {
        set_capacity(sim, c, (uint64_t)(1 + myr_rng_below(rng, 8)) * 50000000000);
    }
    for (uint32_t t = 0; t < tasks; t++) {
        /* Lockstep groups use many channels, some of them several times over. */
        uint32_t most = myr_rng_below(rng, 4) ? 6 : CROWD_CHANNELS;
        uint32_t uses = 1 + myr_rng_below(rng, channels < most ? channels : most);
        open_pattern(sim, (myr_ps)myr_rng_below(rng, 5) * MYR_PS_PER_US);
        uint32_t start = myr_rng_below(rng, channels);
        for (uint32_t u = 0; u < uses; u++) {
            uint32_t weight = myr_rng_below(rng, 3) ? 1000 : 125 * (1 + myr_rng_below(rng, 32));
            put_use(sim, (start + u) % channels, weight);
        }
    }
}

static void assert_near(double got, double want, double slack, uint64_t seed, const char *what)
{
    double off = got > want ? got - want : want - got;
    if (off > slack) {
        fail_msg("seed %llu: %s is %.3f, %.3f is right", (unsigned long long)seed, what, got, want);
    }
}

static void fair_rates_are_those_of_the_naive_solver(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        struct myr_sim *sim = make_sim(2 + myr_rng_below(&rng, CHANNELS_MAX - 1));
        uint32_t tasks = 1 + myr_rng_below(&rng, TASKS_MAX);
        random_case(&rng, sim, tasks);
        for (uint32_t t = 0; t < tasks; t++) {
            myr_sim_transfer(sim, t, 1000000, 1);
        }
        uint64_t rates[CROWD];
        double right[CROWD];
        bool moving[CROWD];
        memset(moving, 1, sizeof(moving));
        myr_sim_fair_rates(sim, 0, tasks, rates);
        naive_rates(sim, moving, right);
        for (uint32_t t = 0; t < tasks; t++) {
            assert_near((double)rates[t], right[t], 1 + right[t] * 1e-8, seed, "a rate");
        }
        myr_sim_free(sim);
    }
}

/* Starts and ends transfers one by one; after each, every rate must be that of a full solve. */
static void change_one_by_one(struct myr_rng *rng, struct myr_sim *sim, uint32_t tasks,
                              uint64_t seed)
{
    bool moving[CROWD] = {false};
    double right[CROWD];
    random_case(rng, sim, tasks);
    for (uint32_t t = 0; t < tasks; t++) {
        myr_sim_transfer(sim, t, UINT64_C(1) << 50, 1);
    }
    for (uint32_t change = 0; change < 3 * tasks; change++) {
        uint32_t t = myr_rng_below(rng, tasks);
        struct sim_task *task = &sim->tasks.items[t];
        if (moving[t]) {
            sim_detach(sim, task->slot);
            task->state = SIM_DONE;
        } else {
            task->state = SIM_MOVING;
            sim_attach(sim, t, (sim_moved)task->bits * SIM_MOVED_PER_BIT);
        }
        moving[t] = !moving[t];
        sim_solve(sim);
        naive_rates(sim, moving, right);
        for (uint32_t i = 0; i < tasks; i++) {
            if (moving[i]) {
                double rate = (double)sim_rate(sim, sim->tasks.items[i].slot) / 1000;
                assert_near(rate, right[i], 1 + right[i] * 1e-8, seed, "a rate after a change");
            }
        }
        for (uint32_t c = 0; c < sim->channel_count; c++) {
            assert_true(sim_bond_right(sim, c));
        }
    }
    myr_sim_free(sim);
}

static void rates_stay_right_after_every_single_change(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 1);
        struct myr_sim *sim = make_sim(2 + myr_rng_below(&rng, CHANNELS_MAX - 1));
        change_one_by_one(&rng, sim, 1 + myr_rng_below(&rng, TASKS_MAX), seed);
    }
    for (uint64_t seed = 0; seed < CROWDS; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 3);
        change_one_by_one(&rng, make_sim(CROWD_CHANNELS), CROWD, seed);
    }
}

/* As of a path that takes less than a thousandth of a flow. */
static void a_use_without_weight_ties_nothing(void **state)
{
    (void)state;
    struct myr_sim *sim = make_sim(2);
    set_capacity(sim, 0, 10000000000);
    set_capacity(sim, 1, 10000000000);
    for (uint32_t t = 0; t < 3; t++) {
        open_pattern(sim, 0);
        put_use(sim, 1, t == 0 ? 0 : 1000);
        if (t < 2) {
            put_use(sim, 0, 1000);
        }
        myr_sim_transfer(sim, t, UINT64_C(1) << 50, 1);
        sim->tasks.items[t].state = SIM_MOVING;
        sim_attach(sim, t, (sim_moved)1 << 100);
    }
    sim_solve(sim);
    assert_int_equal(sim->bonds[0].tie_count, 1);
    for (uint32_t t = 3; t-- > 0;) {
        sim_detach(sim, t);
        sim_solve(sim);
        assert_true(sim_bond_right(sim, 0) && sim_bond_right(sim, 1));
    }
    assert_int_equal(sim->bonds[0].tie_count, 0);
    myr_sim_free(sim);
}

/* Written for the whole of a channel, gone with the last of those that it stood for. */
static void what_two_transfers_share_is_one_tie(void **state)
{
    (void)state;
    struct myr_sim *sim = make_sim(3);
    set_capacity(sim, 0, 10000000000); /* holds the first two, which go over 1 as well */
    set_capacity(sim, 1, 30000000000); /* holds the third */
    set_capacity(sim, 2, 90000000000); /* holds nobody */
    for (uint32_t t = 0; t < 3; t++) {
        open_pattern(sim, 0);
        put_use(sim, t < 2 ? 0 : 2, 1000);
        put_use(sim, 1, t == 1 ? 500 : 1000);
        myr_sim_transfer(sim, t, UINT64_C(1) << 50, 1);
        sim->tasks.items[t].state = SIM_MOVING;
        sim_attach(sim, t, (sim_moved)1 << 100);
    }
    sim_solve(sim);
    assert_int_equal(sim_rate(sim, 0), 5000000000 * SIM_RATE_PER_BPS);
    assert_int_equal(sim_rate(sim, 2), 22500000000 * SIM_RATE_PER_BPS);
    const struct sim_bond *bond = &sim->bonds[0];
    assert_int_equal(bond->tie_count, 1);
    assert_int_equal(sim->ties.items[bond->first_tie].channel, 1);
    assert_int_equal(sim->ties.items[bond->first_tie].weight, 1500);
    assert_int_equal(sim->bonds[1].tie_count, 0); /* 2 reserves */
    assert_true(sim->bonds[1].least_reserved > sim_rate(sim, 2));
    sim_detach(sim, 1);
    sim_solve(sim);
    assert_int_equal(sim->ties.items[bond->first_tie].weight, 1000);
    assert_int_equal(sim_rate(sim, 0), 10000000000 * SIM_RATE_PER_BPS);
    sim_detach(sim, 0);
    sim_solve(sim);
    assert_int_equal(bond->tie_count, 0);
    assert_int_equal(sim_rate(sim, 2), 30000000000 * SIM_RATE_PER_BPS);
    myr_sim_free(sim);
}

/* Two links of 400 Gb/s, and what all that they carry is sprayed over. */
static struct myr_sim *make_pooled(uint64_t pool_bps)
{
    struct myr_sim *sim = make_sim(3);
    set_capacity(sim, 0, 400000000000);
    set_capacity(sim, 1, 400000000000);
    set_capacity(sim, 2, pool_bps);
    for (uint32_t c = 0; c < 3; c++) {
        sim->channels[c].full_capacity = sim->channels[c].capacity;
    }
    sim->link_channels = sim->scale_up_base = sim->pool_base = 3;
    for (uint32_t t = 0; t < 6; t++) {
        open_pattern(sim, 0);
        put_use(sim, t % 2, 1000);
        put_use(sim, 2, t < 3 ? 1000 : 1);
        myr_sim_transfer(sim, t, 1000000 * (t + 1), 1);
    }
    sim->routed_patterns = 6;
    return sim;
}

/* A pool that nobody fills changes nothing by its size, and a run over it is taken up again. */
static void pools_of_many_petabits_are_fast_and_can_be_kept(void **state)
{
    static const uint64_t pools[] = {1000000000000000,  (UINT64_C(1) << 53) + 1,
                                     18446744073709552, /* a level of 64 bits is less */
                                     20000000000000000, 409600000000000000,
                                     SIM_CAPACITY_MAX};
    struct myr_sim_result first = {}, result;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pools); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf image = {};
        struct myr_sim *whole = make_pooled(pools[i]), *stopped = make_pooled(pools[i]);
        struct myr_sim *other = make_pooled(pools[i]);
        struct myr_err err = {};
        bool over;
        assert_int_equal(myr_sim_run(whole, NULL, NULL, &result, &err), MYR_OK);
        first = i ? first : result;
        assert_int_equal(result.end, first.end);
        assert_int_equal(myr_sim_run_until(stopped, result.end / 3, &over, &err), MYR_OK);
        assert_false(over);
        myr_sim_save(stopped, &image);
        if (myr_sim_load(other, (struct myr_str){image.data, image.len}, &err) < 0) {
            fail_msg("%llu b/s: %s", (unsigned long long)pools[i], err.message);
        }
        assert_int_equal(myr_sim_run(other, NULL, NULL, &result, &err), MYR_OK);
        assert_int_equal(result.end, first.end);
        myr_sim_free(whole);
        myr_sim_free(stopped);
        myr_sim_free(other);
    }
}

/* Random task graph: transfers and computing, edges from lower to higher numbers. */
static void random_graph(struct myr_rng *rng, struct myr_sim *sim, uint32_t tasks)
{
    for (uint32_t t = 0; t < tasks; t++) {
        if (myr_rng_below(rng, 4) == 0) {
            myr_sim_compute(sim, (myr_ps)myr_rng_below(rng, 1000) * MYR_PS_PER_US);
        } else {
            myr_sim_transfer(sim, myr_rng_below(rng, (uint32_t)sim->patterns.count),
                             1000 * (1 + myr_rng_below(rng, 10000)), 1 + myr_rng_below(rng, 3));
        }
        for (uint32_t k = 0; t && k < myr_rng_below(rng, 3); k++) {
            myr_sim_after(sim, t, myr_rng_below(rng, t));
        }
    }
}

static void naive_start(struct naive *naive, uint32_t t, double now)
{
    const struct sim_task *task = &naive->sim->tasks.items[t];
    double wait = (double)task->duration;
    if (task->kind == SIM_TRANSFER) {
        wait = (double)naive->sim->patterns.items[task->pattern].latency * task->latency_rounds;
    }
    naive->state[t] = SIM_LATENCY;
    naive->latency_end[t] = now + wait;
}

static void naive_end(struct naive *naive, uint32_t t, double now)
{
    naive->state[t] = SIM_DONE;
    naive->end[t] = now;
    for (size_t e = 0; e < naive->sim->edges.count; e++) {
        if (naive->sim->edges.items[e].before == t &&
            --naive->waits[naive->sim->edges.items[e].task] == 0) {
            naive_start(naive, naive->sim->edges.items[e].task, now);
        }
    }
}

/*
 * Transfers end at whole picoseconds, as in the engine, or a part after one: that is part of
 * the model. A transfer that another leaves alone a part of a picosecond late, at a high rate, is
 * as many bits behind, and at a low rate later on these take it several picoseconds.
 */
static double whole_ps(double at)
{
    double down = (double)(int64_t)(at - 2.0 / 31);
    return down < at - 2.0 / 31 ? down + 1 : down;
}

/* The earliest thing that happens: its task, and when. */
static uint32_t naive_next(struct naive *naive, double now, double *ret_at)
{
    uint32_t next = MYR_NONE;
    bool moving[CROWD];
    for (uint32_t t = 0; t < naive->sim->tasks.count; t++) {
        moving[t] = naive->state[t] == SIM_MOVING;
    }
    naive_rates(naive->sim, moving, naive->rate);
    for (uint32_t t = 0; t < naive->sim->tasks.count; t++) {
        double at = naive->state[t] == SIM_LATENCY ? naive->latency_end[t] : -1;
        if (moving[t]) {
            at = whole_ps(now + naive->left[t] / naive->rate[t] * 1e12);
        }
        if (at >= 0 && (next == MYR_NONE || at < *ret_at)) {
            next = t;
            *ret_at = at;
        }
    }
    return next;
}

static void naive_run(struct naive *naive)
{
    double now = 0, at = 0;
    for (size_t e = 0; e < naive->sim->edges.count; e++) {
        naive->waits[naive->sim->edges.items[e].task]++;
    }
    for (uint32_t t = 0; t < naive->sim->tasks.count; t++) {
        if (naive->waits[t] == 0) {
            naive_start(naive, t, 0);
        }
    }
    for (uint32_t t; (t = naive_next(naive, now, &at)) != MYR_NONE; now = at) {
        for (uint32_t i = 0; i < naive->sim->tasks.count; i++) {
            if (naive->state[i] == SIM_MOVING) {
                naive->left[i] -= naive->rate[i] * (at - now) / 1e12;
            }
        }
        const struct sim_task *task = &naive->sim->tasks.items[t];
        if (naive->state[t] == SIM_LATENCY && task->kind == SIM_TRANSFER) {
            naive->state[t] = SIM_MOVING;
            naive->left[t] = (double)task->bits;
        } else {
            naive_end(naive, t, at);
        }
    }
}

static void random_task_graphs_end_when_the_naive_simulator_says(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct myr_rng rng;
        struct myr_sim_result result;
        myr_rng_init(&rng, seed, 2);
        struct myr_sim *sim = make_sim(2 + myr_rng_below(&rng, CHANNELS_MAX - 1));
        random_case(&rng, sim, 1 + myr_rng_below(&rng, 8));
        random_graph(&rng, sim, 1 + myr_rng_below(&rng, TASKS_MAX));
        struct naive naive = {.sim = sim};
        naive_run(&naive); /* first: the run sorts the edges */
        assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, NULL), MYR_OK);
        assert_int_equal(result.blocked, 0);
        for (uint32_t t = 0; t < sim->tasks.count; t++) {
            /* One for an end that floating point puts on the other side of a picosecond. */
            assert_near((double)myr_sim_task_end(sim, t), naive.end[t], 1.5, seed, "an end");
        }
        myr_sim_free(sim);
    }
}

static void tasks_that_wait_for_each_other_are_reported(void **state)
{
    (void)state;
    struct myr_sim *sim = make_sim(1);
    struct myr_sim_result result;
    struct myr_err err = {};
    uint32_t a = myr_sim_compute(sim, 1), b = myr_sim_compute(sim, 1);
    myr_sim_after(sim, a, b);
    myr_sim_after(sim, b, a);
    assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, &err), MYR_ESTALLED);
    assert_int_equal(result.blocked, 2);
    assert_non_null(strstr(err.message, "2 tasks wait for each other"));
    myr_sim_free(sim);
}

static void a_transfer_over_a_dead_channel_is_named(void **state)
{
    (void)state;
    struct myr_sim *sim = make_sim(2);
    struct myr_sim_result result;
    struct myr_err err = {};
    open_pattern(sim, 0);
    put_use(sim, 1, 1000);
    myr_sim_transfer(sim, 0, 1000, 1);
    assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, &err), MYR_ESTALLED);
    assert_non_null(strstr(err.message, "1 transfer stands still"));
    assert_non_null(strstr(err.message, "link/00000000"));
    myr_sim_free(sim);
}

static void one_transfer_takes_latency_plus_bytes_over_rate_to_the_picosecond(void **state)
{
    (void)state;
    struct myr_sim *sim = make_sim(1);
    struct myr_sim_result result;
    set_capacity(sim, 0, 100000000000);
    open_pattern(sim, 6 * MYR_PS_PER_US);
    put_use(sim, 0, 1000);
    uint32_t task = myr_sim_transfer(sim, 0, 1000000, 1);
    assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, NULL), MYR_OK);
    assert_int_equal(myr_sim_task_end(sim, task), 86 * MYR_PS_PER_US);
    assert_int_equal(myr_sim_channel_bytes(sim, 0), 1000000);
    myr_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_transfer_takes_latency_plus_bytes_over_rate_to_the_picosecond),
        cmocka_unit_test(fair_rates_are_those_of_the_naive_solver),
        cmocka_unit_test(rates_stay_right_after_every_single_change),
        cmocka_unit_test(what_two_transfers_share_is_one_tie),
        cmocka_unit_test(pools_of_many_petabits_are_fast_and_can_be_kept),
        cmocka_unit_test(a_use_without_weight_ties_nothing),
        cmocka_unit_test(random_task_graphs_end_when_the_naive_simulator_says),
        cmocka_unit_test(tasks_that_wait_for_each_other_are_reported),
        cmocka_unit_test(a_transfer_over_a_dead_channel_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
