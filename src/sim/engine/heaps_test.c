#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/rates.h"
#include "myriad/sim/state.h"
#include "rounds.h"

/*
 * The engine's orders, looked at between any two moments: which channel's transfers end first,
 * which channel a solve looks at next, and who is ahead on a channel. A naive model goes through
 * all of them; the engine's own checks must hold there, and must not once something is changed.
 */

enum { CHANNELS = 24, TASKS = 60, RUNS = TEST_ROUNDS(24), HEAPS = TEST_ROUNDS(200) };

static struct myr_sim *make(uint64_t seed)
{
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 21);
    struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
    sim->transport = &sim_fluid;
    sim->link_channels = sim->scale_up_base = sim->pool_base = CHANNELS;
    sim_channels_open(sim, CHANNELS);
    for (uint32_t c = 0; c < CHANNELS; c++) {
        uint64_t bps = (uint64_t)(1 + myr_rng_below(&rng, 8)) * 50000000000;
        sim_set_capacity(sim, c, bps);
        sim->channels[c].full_capacity = bps;
    }
    for (uint32_t t = 0; t < TASKS; t++) {
        /* Most go over one or two channels: many are full at once, and all have an end. */
        uint32_t uses = 1 + myr_rng_below(&rng, seed % 3 ? 3 : 8);
        uint32_t start = myr_rng_below(&rng, CHANNELS);
        struct sim_pattern pattern = {.first_use = (uint32_t)sim->uses.count,
                                      .use_count = uses,
                                      .latency = (myr_ps)myr_rng_below(&rng, 40) * MYR_PS_PER_US};
        for (uint32_t u = 0; u < uses; u++) {
            struct sim_use use = {(start + u) % CHANNELS, 1000};
            myr_vec_push(&sim->uses, use);
        }
        myr_vec_push(&sim->patterns, pattern);
        myr_sim_transfer(sim, t, 1000 * (1 + myr_rng_below(&rng, 10000)), 1);
        if (t >= TASKS / 2 && t % 3) {
            myr_sim_after(sim, t, myr_rng_below(&rng, TASKS / 2));
        }
    }
    sim->routed_patterns = TASKS;
    return sim;
}

/* The earliest end of all that move, each by its own rate. */
static myr_ps naive_end(const struct myr_sim *sim)
{
    myr_ps first = SIM_TIME_MAX;
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        if (sim->slots.items[slot].task != MYR_NONE && sim_rate(sim, slot) > 0) {
            myr_ps at = sim->now + sim_time_to_move(sim_left(sim, slot), sim_rate(sim, slot));
            first = at < first ? at : first;
        }
    }
    return first;
}

static bool all_right(const struct myr_sim *sim)
{
    bool right = sim_ends_right(sim);
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        right = right && sim_held_right(sim, c) && sim_bond_right(sim, c);
    }
    return right;
}

/* Each of the orders with one thing in it changed, and put back. */
static void assert_damage_shows(struct myr_sim *sim)
{
    for (uint32_t i = 0; i < sim->finish.count; i++) {
        uint32_t id = sim->finish.items[i], above = sim->finish.items[i ? (i - 1) / 4 : 0];
        myr_ps was = sim->finish_at[id];
        sim->finish_at[id] = sim->now - 1;
        assert_false(sim_ends_right(sim));
        sim->finish_at[id] = i ? sim->finish_at[above] - 1 : was;
        assert_int_equal(sim_ends_right(sim), i == 0);
        /* Of equal ones any may be above the other. */
        sim->finish_at[id] = i * 4 + 1 < sim->finish.count ? was : sim->finish_at[above];
        assert_true(sim_ends_right(sim));
        sim->finish_at[id] = was;
        sim->finish_place[id]++;
        assert_false(sim_ends_right(sim));
        sim->finish_place[id]--;
        uint32_t held = sim->channels[id].held;
        sim->channels[id].held = 0;
        assert_false(sim_ends_right(sim));
        sim->channels[id].held = held;
    }
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        struct sim_channel *channel = &sim->channels[c];
        const struct sim_entry *items = &sim->entries.items[channel->first_entry];
        for (uint32_t e = 0; e < channel->held; e++) {
            struct sim_way *way = &sim->ways.items[items[e].slot];
            struct sim_slot *slot = &sim->slots.items[items[e].slot];
            sim_moved was = slot->target;
            slot->target = sim->slots.items[items[e ? (e - 1) / 2 : 0].slot].target - (e > 0);
            assert_int_equal(sim_held_right(sim, c), e == 0);
            slot->target = was;
            way->holder ^= 1;
            assert_false(sim_held_right(sim, c));
            way->holder ^= 1;
            way->held_hop++;
            assert_false(sim_held_right(sim, c));
            way->held_hop--;
            sim->hop_places.items[items[e].hop]++;
            assert_false(sim_held_right(sim, c));
            sim->hop_places.items[items[e].hop]--;
        }
        uint32_t held = channel->held;
        channel->held = channel->entry_count + 1;
        assert_false(sim_held_right(sim, c));
        channel->held = held;
    }
}

static void the_next_end_is_the_earliest_of_all_at_every_moment(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct myr_sim *sim = make(seed);
        struct myr_sim_result result;
        struct myr_err err = {};
        bool over = false;
        uint32_t moments = 0, ends = 0;
        assert_int_equal(myr_sim_run_until(sim, 0, &over, &err), MYR_OK);
        for (; !over; moments++) {
            myr_ps end = sim_finish_next(sim), next = end;
            if (end != naive_end(sim)) {
                fail_msg("seed %llu, %lld ps: %lld, %lld is right", (unsigned long long)seed,
                         (long long)sim->now, (long long)end, (long long)naive_end(sim));
            }
            if (!all_right(sim)) {
                fail_msg("seed %llu: not sound at %lld ps", (unsigned long long)seed,
                         (long long)sim->now);
            }
            if (moments % 16 == 5) {
                assert_damage_shows(sim);
                assert_true(all_right(sim));
            }
            if (sim->events.count && (myr_ps)sim->events.items[0].key < next) {
                next = (myr_ps)sim->events.items[0].key;
            }
            ends += next == end;
            assert_int_equal(myr_sim_run_until(sim, next, &over, &err), MYR_OK);
            assert_int_equal(sim->now, next);
        }
        assert_true(ends > TASKS / 2 && moments > ends);
        assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, &err), MYR_OK);
        assert_true(sim_at_rest(sim));
        myr_sim_free(sim);
    }
}

/* Keys out of few, so that numbers have to decide; any number of channels and children. */
static void a_solve_looks_at_the_lowest_key_and_number_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < HEAPS; seed++) {
        struct myr_rng rng;
        struct myr_sim *sim = make(seed);
        uint32_t order[CHANNELS], count = (uint32_t)seed % (CHANNELS + 1);
        myr_rng_init(&rng, seed, 22);
        for (uint32_t i = 0; i < CHANNELS; i++) {
            order[i] = i;
        }
        myr_rng_shuffle(&rng, order, CHANNELS);
        for (uint32_t i = 0; i < count; i++) {
            struct sim_fill *fill = &sim->fills[order[i]];
            fill->key = myr_rng_below(&rng, 9);
            fill->place = (uint32_t)sim->fill_heap.count;
            myr_vec_push(&sim->fill_heap, sim_fills_item(sim, order[i]));
        }
        sim_fills_order(sim);
        uint64_t last = 0;
        for (uint32_t left = count; left > 0; left--) {
            assert_true(sim_looks_right(sim));
            struct sim_fill_place first = sim->fill_heap.items[0];
            assert_true(count == left || first.key * CHANNELS + first.channel > last);
            assert_int_equal(sim->fills[first.channel].key, first.key);
            last = first.key * CHANNELS + first.channel;
            sim->fill_heap.items[left - 1].key++;
            assert_false(sim_looks_right(sim));
            sim->fill_heap.items[left - 1].key--;
            sim->fills[first.channel].place = left;
            assert_false(sim_looks_right(sim));
            sim->fills[first.channel].place = 0;
            sim_fills_pop(sim);
            assert_int_equal(sim->fill_heap.count, left - 1);
            assert_int_equal(sim->fills[first.channel].place, MYR_NONE);
        }
        myr_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_end_is_the_earliest_of_all_at_every_moment),
        cmocka_unit_test(a_solve_looks_at_the_lowest_key_and_number_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
