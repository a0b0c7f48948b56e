#include "myriad/sim/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "kept.h"
#include "myriad/sim.h"

/* Runs that are stopped anywhere, kept, and taken up in another engine. */

enum { CASES = 400, DAMAGES = 4000 };

/* The same engine for the same seed: channels and tasks made up, no fabric. */
static struct myr_sim *make(uint64_t seed)
{
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 3);
    struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
    sim->transport = &sim_fluid;
    uint32_t channels = 2 + myr_rng_below(&rng, 12), patterns = 1 + myr_rng_below(&rng, 12);
    uint32_t tasks = 1 + myr_rng_below(&rng, 60);
    sim->link_channels = sim->scale_up_base = sim->pool_base = channels;
    sim_channels_open(sim, channels);
    for (uint32_t c = 0; c < channels; c++) {
        uint64_t bps = (uint64_t)(1 + myr_rng_below(&rng, 8)) * 50000000000;
        sim_set_capacity(sim, c, bps);
        sim->channels[c].full_capacity = bps;
    }
    for (uint32_t p = 0; p < patterns; p++) {
        struct sim_pattern pattern = {.first_use = (uint32_t)sim->uses.count,
                                      .use_count = 1 + myr_rng_below(&rng, channels),
                                      .latency = myr_rng_below(&rng, 3) * MYR_PS_PER_US};
        for (uint32_t u = 0; u < pattern.use_count; u++) {
            uint32_t weight = myr_rng_below(&rng, 3) ? 1000 : 125 * (1 + myr_rng_below(&rng, 32));
            myr_vec_push(&sim->uses, (struct sim_use){(p + u) % channels, weight});
        }
        myr_vec_push(&sim->patterns, pattern);
    }
    sim->routed_patterns = patterns;
    for (uint32_t t = 0; t < tasks; t++) {
        if (myr_rng_below(&rng, 5) == 0) {
            myr_sim_compute(sim, myr_rng_below(&rng, 100) * MYR_PS_PER_US);
        } else {
            myr_sim_transfer(sim, myr_rng_below(&rng, patterns), 1 + myr_rng_below(&rng, 10000000),
                             1 + myr_rng_below(&rng, 3));
        }
        for (uint32_t k = 0; t && k < myr_rng_below(&rng, 3); k++) {
            (myr_rng_below(&rng, 2) ? myr_sim_after : myr_sim_follows)(sim, t,
                                                                       myr_rng_below(&rng, t));
        }
    }
    return sim;
}

static void assert_same(const struct myr_sim *a, const struct myr_sim *b)
{
    assert_int_equal(a->now, b->now);
    assert_true(a->result.hash == b->result.hash && a->result.events == b->result.events);
    assert_true(a->result.solved == b->result.solved);
    for (uint32_t t = 0; t < a->tasks.count; t++) {
        assert_int_equal(a->tasks.items[t].start, b->tasks.items[t].start);
        assert_int_equal(a->tasks.items[t].end, b->tasks.items[t].end);
        assert_int_equal(a->tasks.items[t].bottleneck, b->tasks.items[t].bottleneck);
    }
    for (uint32_t c = 0; c < a->channel_count; c++) {
        assert_int_equal(a->channels[c].bytes, b->channels[c].bytes);
    }
}

static void saved_and_resumed_equals_uninterrupted(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct myr_sim_result result;
        struct myr_sim *whole = make(seed), *stopped = make(seed);
        assert_int_equal(myr_sim_run(whole, NULL, NULL, &result, NULL), MYR_OK);
        for (uint32_t part = 0; part < 5; part++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf image = {}, again = {};
            bool over;
            myr_ps at = result.end / 5 * part;
            assert_int_equal(myr_sim_run_until(stopped, at, &over, NULL), MYR_OK);
            assert_true(myr_sim_now(stopped) <= at);
            myr_sim_save(stopped, &image);
            struct myr_sim *other = make(seed);
            struct myr_err err = {};
            struct myr_str text = {image.data, image.len};
            if (myr_sim_load(other, text, &err) < 0) {
                fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
            }
            /* What was loaded is what was saved. */
            myr_sim_save(other, &again);
            assert_int_equal(again.len, image.len);
            assert_memory_equal(again.data, image.data, image.len);
            assert_int_equal(myr_sim_run(other, NULL, NULL, &result, NULL), MYR_OK);
            assert_same(other, whole);
            myr_sim_free(other);
        }
        assert_int_equal(myr_sim_run(stopped, NULL, NULL, &result, NULL), MYR_OK);
        assert_same(stopped, whole);
        myr_sim_free(stopped);
        myr_sim_free(whole);
    }
}

/* How often each thing was said, in the order in which they came first. */
struct tally {
    char words[64][160];
    uint32_t counts[64], count;
    uint64_t ends; /* of the runs that came to one */
};

static void add_said(struct tally *tally, const char *words)
{
    uint32_t i = 0;
    while (i < tally->count && strcmp(tally->words[i], words) != 0) {
        i++;
    }
    assert_true(i < MYR_ARRAY_COUNT(tally->words) && strlen(words) < sizeof(tally->words[0]));
    memcpy(tally->words[i], words, strlen(words) + 1);
    tally->count += i == tally->count;
    tally->counts[i]++;
}

static void assert_tally_kept(const struct tally *tally)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t i = 0; i < tally->count; i++) {
        myr_buf_printf(&text, "%5u  %s\n", tally->counts[i], tally->words[i]);
    }
    myr_buf_printf(&text, "ends %016llx\n", (unsigned long long)tally->ends);
    assert_kept("sim-damages.txt", &text);
}

/* Any byte may be another one: it is refused in one line, or the run comes to an end of its own.
 * What is said of each is kept: a check that lets more through shows. */
static void a_damaged_state_is_refused_or_harmless(void **state)
{
    (void)state;
    uint32_t refused = 0;
    struct tally tally = {};
    for (uint64_t seed = 0; seed < DAMAGES; seed++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf image = {};
        struct myr_rng rng;
        struct myr_sim_result result;
        struct myr_err err = {};
        bool over;
        myr_rng_init(&rng, seed, 4);
        struct myr_sim *sim = make(seed % 50);
        assert_int_equal(
            myr_sim_run_until(sim, myr_rng_below(&rng, 800) * MYR_PS_PER_US, &over, NULL), MYR_OK);
        myr_sim_save(sim, &image);
        myr_sim_free(sim);
        if (myr_rng_below(&rng, 8) == 0) {
            image.len = myr_rng_below(&rng, (uint32_t)image.len);
        }
        for (uint32_t i = 0; image.len && i < 1 + myr_rng_below(&rng, 2); i++) {
            char *byte = &image.data[myr_rng_below(&rng, (uint32_t)image.len)];
            *byte = (char)(*byte ^ 1 << myr_rng_below(&rng, 8));
        }
        sim = make(seed % 50);
        int rc = myr_sim_load(sim, (struct myr_str){image.data, image.len}, &err);
        if (rc >= 0) {
            rc = myr_sim_run(sim, NULL, NULL, &result, &err);
        }
        refused += rc < 0;
        assert_true(rc >= 0 || (err.message[0] && !strchr(err.message, '\n')));
        add_said(&tally, rc < 0 ? err.message : "an end");
        tally.ends = myr_hash_u64(tally.ends + (rc < 0 ? 1 : result.hash));
        myr_sim_free(sim);
    }
    assert_true(refused > DAMAGES / 2);
    assert_tally_kept(&tally);
}

static void a_state_of_another_question_is_refused(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf image = {};
    struct myr_err err = {};
    struct myr_sim *sim = make(7), *other = make(7);
    bool over;
    assert_int_equal(myr_sim_run_until(sim, MYR_PS_PER_US, &over, NULL), MYR_OK);
    myr_sim_save(sim, &image);
    myr_sim_transfer(other, 0, 1, 1);
    struct myr_str text = {image.data, image.len};
    assert_int_equal(myr_sim_load(other, text, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "another question"));
    myr_sim_free(sim);
    myr_sim_free(other);
}

/* With a message and a fault far away, which no run of the test reaches. */
static struct myr_sim *make_full(void)
{
    struct myr_sim *sim = make(7);
    struct myr_sim_fault fault = {.at = MYR_PS_PER_S,
                                  .kind = MYR_FAULT_DEGRADE,
                                  .link = 0,
                                  .device = 3,
                                  .capacity_permille = 500,
                                  .reroute = 10};
    myr_vec_push(&sim->messages, (struct myr_message){1, 2});
    myr_vec_push(&sim->faults, fault);
    return sim;
}

/* The nth thing of a question is another; false when there are no more. */
static bool change_question(struct myr_sim *sim, uint32_t nth)
{
    struct sim_task *task = &sim->tasks.items[sim->tasks.count - 1];
    struct sim_edge *edge = &sim->edges.items[sim->edges.count - 1];
    struct sim_pattern *pattern = &sim->patterns.items[sim->patterns.count - 1];
    struct myr_sim_fault *fault = &sim->faults.items[0];
    uint32_t *const words[] = {&sim->options.sharing_loss_permille,
                               &sim->options.pause_permille,
                               &sim->messages.items[0].from,
                               &sim->messages.items[0].to,
                               &task->pattern,
                               &task->latency_rounds,
                               &pattern->first_message,
                               &pattern->message_count,
                               &pattern->phase,
                               &fault->link,
                               &fault->device,
                               &fault->capacity_permille,
                               &edge->before};
    uint64_t *const longs[] = {&sim->options.balance.seed, &task->bits,
                               &sim->channels[0].full_capacity,
                               &sim->channels[sim->pool_base - 1].full_capacity};
    myr_ps *const times[] = {&sim->options.series_ps, &task->duration, &fault->at, &fault->reroute};
    if (nth < MYR_ARRAY_COUNT(words)) {
        ++*words[nth];
        return true;
    }
    nth -= (uint32_t)MYR_ARRAY_COUNT(words);
    if (nth < MYR_ARRAY_COUNT(longs)) {
        ++*longs[nth];
        return true;
    }
    nth -= (uint32_t)MYR_ARRAY_COUNT(longs);
    if (nth < MYR_ARRAY_COUNT(times)) {
        ++*times[nth];
        return true;
    }
    switch (nth - MYR_ARRAY_COUNT(times)) {
    case 0:
        pattern->cyclic = !pattern->cyclic;
        return true;
    case 1:
        edge->moves = !edge->moves;
        return true;
    case 2:
        edge->task = edge->task - 1;
        return true;
    case 3:
        fault->kind = MYR_FAULT_UP;
        return true;
    case 4:
        sim->faults.count = 0;
        return true;
    case 5:
        myr_vec_push(&sim->messages, (struct myr_message){0, 0});
        return true;
    default:
        return false;
    }
}

/* Everything that a question says is in the digest: a state is of one question alone. */
static void every_part_of_a_question_tells_its_states_apart(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf image = {};
    struct myr_sim *sim = make_full(), *same = make_full();
    bool over, more = true;
    assert_int_equal(myr_sim_run_until(sim, MYR_PS_PER_US, &over, NULL), MYR_OK);
    myr_sim_save(sim, &image);
    myr_sim_free(sim);
    struct myr_str text = {image.data, image.len};
    assert_int_equal(myr_sim_load(same, text, NULL), MYR_OK);
    myr_sim_free(same);
    for (uint32_t nth = 0; more; nth++) {
        struct myr_err err = {};
        struct myr_sim *other = make_full();
        more = change_question(other, nth);
        int rc = more ? myr_sim_load(other, text, &err) : MYR_EINVAL;
        if (more && (rc != MYR_EINVAL || !strstr(err.message, "another question"))) {
            fail_msg("change %u: %d %s", nth, rc, err.message);
        }
        myr_sim_free(other);
    }
}

/* A block that begins elsewhere would be found only when a transfer takes it. */
static void hops_lie_in_blocks_of_eight(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 17; more++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf image = {};
        struct myr_sim *sim = make(5), *other = make(5);
        struct myr_err err = {};
        bool over;
        assert_int_equal(myr_sim_run_until(sim, 30 * MYR_PS_PER_US, &over, NULL), MYR_OK);
        for (uint32_t i = 0; i < more; i++) {
            myr_vec_push(&sim->hops, (struct sim_hop){});
            myr_vec_push(&sim->hop_places, 0);
        }
        myr_sim_save(sim, &image);
        int rc = myr_sim_load(other, (struct myr_str){image.data, image.len}, &err);
        assert_int_equal(rc, more % 8 ? MYR_ECORRUPT : MYR_OK);
        myr_sim_free(other);
        myr_sim_free(sim);
    }
}

/* --- what must hold is seen where it does not */

static void nobody_may_carry_more_than_it_can(void **state)
{
    (void)state;
    /* 2^30 b/s in thousandths of both is 2^30 * 10^6, and a part in 2^26 of it 16 * 10^6. */
    static const uint64_t over[] = {0, 17000, 17001};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(over); i++) {
        struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
        sim->transport = &sim_fluid;
        bool end;
        sim->link_channels = sim->scale_up_base = sim->pool_base = 2;
        sim_channels_open(sim, 2);
        for (uint32_t c = 0; c < 2; c++) {
            sim_set_capacity(sim, c, UINT64_C(1) << (40 - 10 * c));
            sim->channels[c].full_capacity = sim->channels[c].capacity;
            myr_vec_push(&sim->uses, (struct sim_use){c, 1000});
        }
        myr_vec_push(&sim->patterns, (struct sim_pattern){.use_count = 2});
        sim->routed_patterns = 1;
        myr_sim_transfer(sim, 0, 1000000, 1);
        assert_int_equal(myr_sim_run_until(sim, 0, &end, NULL), MYR_OK);
        for (uint32_t c = 0; c < 2; c++) {
            myr_vec_push(&sim->touched, c);
        }
        assert_true(sim_within_capacity(sim));
        sim->fills[1].level = (UINT64_C(1) << 30) * 1000 + over[i];
        assert_int_equal(sim_within_capacity(sim), over[i] <= 17000);
        myr_sim_free(sim);
    }
}

/* A part of a message that is less than a thousandth goes over its channels, and weighs nothing. */
static void what_weighs_nothing_ties_nothing(void **state)
{
    (void)state;
    static const struct sim_use uses[] = {{0, 1000}, {1, 0}, {2, 1000}, {1, 1000}};
    struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
    sim->transport = &sim_fluid;
    struct myr_sim_result result;
    bool over;
    sim->link_channels = sim->scale_up_base = sim->pool_base = 3;
    sim_channels_open(sim, 3);
    for (uint32_t c = 0; c < 3; c++) {
        sim_set_capacity(sim, c, UINT64_C(1000000000) << 4 * c);
        sim->channels[c].full_capacity = sim->channels[c].capacity;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(uses); i++) {
        myr_vec_push(&sim->uses, uses[i]);
    }
    myr_vec_push(&sim->patterns, (struct sim_pattern){.use_count = 3});
    myr_vec_push(&sim->patterns, (struct sim_pattern){.first_use = 3, .use_count = 1});
    sim->routed_patterns = 2;
    myr_sim_transfer(sim, 0, 1000000, 1);
    myr_sim_transfer(sim, 1, 1000000, 1);
    assert_int_equal(myr_sim_run_until(sim, 0, &over, NULL), MYR_OK);
    assert_true(sim->channels[0].held == 1 && sim->channels[1].held == 1);
    assert_int_equal(sim->bonds[0].tie_count, 0);
    for (uint32_t c = 0; c < 3; c++) {
        assert_true(sim_bond_right(sim, c));
    }
    assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, NULL), MYR_OK);
    /* Each as fast as the one channel that it fills: 1 and 16 Gb/s. */
    assert_int_equal(sim->tasks.items[0].end, 8000 * MYR_PS_PER_US);
    assert_int_equal(sim->tasks.items[1].end, 500 * MYR_PS_PER_US);
    assert_int_equal(sim->channels[1].bytes, 1000000);
    myr_sim_free(sim);
}

/* What 'change' does to the channel's bond, if it can; whether it could. */
static bool raise_wide(struct myr_sim *sim, uint32_t id)
{
    sim->bonds[id].wide++;
    return true;
}

static bool add_weight(struct myr_sim *sim, uint32_t id)
{
    const struct sim_bond *bond = &sim->bonds[id];
    if (bond->tie_count) {
        sim->ties.items[bond->first_tie + bond->tie_count - 1].weight++;
    }
    return bond->tie_count;
}

static bool no_weight(struct myr_sim *sim, uint32_t id)
{
    struct sim_bond *bond = &sim->bonds[id];
    uint32_t last = bond->tie_count ? sim->ties.items[bond->first_tie + bond->tie_count - 1].channel
                                    : sim->channel_count;
    /* A tie more, of nothing: sums do not tell. */
    if (bond->tie_count && bond->tie_count < UINT32_C(1) << bond->tie_class &&
        last + 1 < sim->channel_count && !sim_reserves(&sim->fills[last + 1])) {
        sim->ties.items[bond->first_tie + bond->tie_count++] =
            (struct sim_tie){.channel = last + 1, .weight = 0};
        return true;
    }
    return false;
}

static bool drop_tie(struct myr_sim *sim, uint32_t id)
{
    return sim->bonds[id].tie_count && sim->bonds[id].tie_count--;
}

static bool swap_ties(struct myr_sim *sim, uint32_t id)
{
    const struct sim_bond *bond = &sim->bonds[id];
    if (bond->tie_count < 2) {
        return false;
    }
    struct sim_tie *ties = &sim->ties.items[bond->first_tie], first = ties[0];
    ties[0] = ties[1];
    ties[1] = first;
    return true;
}

static bool tie_to_reserving(struct myr_sim *sim, uint32_t id)
{
    const struct sim_bond *bond = &sim->bonds[id];
    if (bond->tie_count) {
        sim->fills[sim->ties.items[bond->first_tie].channel].fastest = SIM_RATE_NONE;
    }
    return bond->tie_count;
}

/* More than the least that any of those has reserved that it holds. */
static bool forget_least(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    uint64_t least = SIM_RATE_NONE;
    for (uint32_t e = 0; e < channel->held; e++) {
        struct sim_way way = sim->ways.items[sim->entries.items[channel->first_entry + e].slot];
        for (uint32_t i = 0; !sim_wide(&way) && i < way.hop_count; i++) {
            struct sim_hop hop = sim->hops.items[way.first_hop + i];
            if (hop.channel != id && sim_reserves(&sim->fills[hop.channel])) {
                least = hop.reserved < least ? hop.reserved : least;
            }
        }
    }
    if (least == SIM_RATE_NONE) {
        return false;
    }
    sim->bonds[id].least_reserved = least;
    assert_true(sim_bond_right(sim, id));
    sim->bonds[id].least_reserved = least + 1;
    return true;
}

static void bonds_that_do_not_follow_are_seen(void **state)
{
    (void)state;
    static bool (*const changes[])(struct myr_sim *, uint32_t) = {
        raise_wide, add_weight, no_weight, drop_tie, swap_ties, tie_to_reserving, forget_least};
    uint32_t could[MYR_ARRAY_COUNT(changes)] = {};
    for (uint32_t i = 0; i < 40 * MYR_ARRAY_COUNT(changes); i++) {
        uint32_t change = i % MYR_ARRAY_COUNT(changes);
        struct myr_sim *sim = make(i / MYR_ARRAY_COUNT(changes));
        bool over;
        assert_int_equal(myr_sim_run_until(sim, 200 * MYR_PS_PER_US, &over, NULL), MYR_OK);
        for (uint32_t c = 0; c < sim->channel_count; c++) {
            myr_vec_push(&sim->touched, c);
        }
        assert_true(sim_ties_right(sim));
        for (uint32_t c = 0; c < sim->channel_count; c++) {
            if (changes[change](sim, c)) {
                assert_false(sim_bond_right(sim, c) || sim_ties_right(sim));
                could[change]++;
                break;
            }
        }
        sim->touched.count = 0;
        assert_true(sim_ties_right(sim)); /* nothing is looked at */
        myr_sim_free(sim);
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(changes); i++) {
        assert_true(could[i] > 0);
    }
}

static void what_is_left_behind_is_seen(void **state)
{
    (void)state;
    struct myr_sim_result result;
    struct myr_sim *sim = make(2);
    assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, NULL), MYR_OK);
    assert_true(sim_at_rest(sim) && sim->free_slots.count > 0);
    sim->free_slots.count--;
    assert_false(sim_at_rest(sim));
    sim->free_slots.count++;
    sim->finish.count = 1;
    assert_false(sim_at_rest(sim));
    sim->finish.count = 0;
    sim->loose_slots = 1;
    assert_false(sim_at_rest(sim));
    sim->loose_slots = 0;
    for (uint32_t i = 0; i < 2; i++) { /* the first and the last */
        uint32_t id = i ? sim->channel_count - 1 : 0;
        struct sim_channel channel = sim->channels[id], *own = &sim->channels[id];
        struct sim_fill fill = sim->fills[id], *filled = &sim->fills[id];
        own->wanted = 1;
        assert_false(sim_at_rest(sim));
        *own = channel;
        own->entry_count = 1;
        assert_false(sim_at_rest(sim));
        *own = channel;
        own->held = 1;
        assert_false(sim_at_rest(sim));
        *own = channel;
        filled->held_weight = 1;
        assert_false(sim_at_rest(sim));
        *filled = fill;
        filled->room++;
        assert_false(sim_at_rest(sim));
        *filled = fill;
        assert_true(sim_at_rest(sim));
    }
    assert_true(sim_conserved(sim)); /* without a fabric there is no switch */
    myr_sim_free(sim);
}

/* Into a leaf, out of it, and a byte more than rounding could make of it. */
static void bytes_that_a_switch_swallows_are_seen(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_sim_fabric fabric;
    struct myr_graph graph;
    struct myr_sim_options options = myr_sim_default();
    myr_arena_init(&arena);
    assert_int_equal(myr_sim_fabric_open(&fabric, NULL, "fat-tree:k=4", NULL), MYR_OK);
    assert_int_equal(myr_graph_init(&graph, &arena, fabric.design, MYR_NET_COMPUTE, NULL), MYR_OK);
    struct myr_sim *sim = myr_sim_create(&graph, &options);
    for (uint32_t transfers = 0; transfers < 3; transfers++) {
        uint64_t slack = 64 * (transfers + 1);
        sim->result.transfers = transfers;
        for (uint32_t way = 0; way < 2; way++) {
            sim->channels[way].bytes = slack + 10;
            sim->channels[3 - way].bytes = 10; /* the next host: the other way */
            assert_true(sim_conserved(sim));
            sim->channels[way].bytes++;
            assert_false(sim_conserved(sim));
            sim->options.balance.policy = MYR_POLICY_SPRAY;
            assert_true(sim_conserved(sim));
            sim->options.balance.policy = MYR_POLICY_STATIC;
            sim->given.count = 1;
            assert_true(sim_conserved(sim));
            sim->given.count = 0;
            sim->channels[way].bytes = sim->channels[3 - way].bytes = 0;
        }
    }
    /* The last switch too. */
    uint32_t last = fabric.design->link_count - 1;
    sim->channels[last * 2].bytes = sim->channels[last * 2 + 1].bytes = 1000;
    assert_true(sim_conserved(sim));
    sim->channels[last * 2].bytes += 1000;
    assert_false(sim_conserved(sim));
    myr_sim_free(sim);
    myr_sim_fabric_close(&fabric);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_and_resumed_equals_uninterrupted),
        cmocka_unit_test(a_damaged_state_is_refused_or_harmless),
        cmocka_unit_test(hops_lie_in_blocks_of_eight),
        cmocka_unit_test(a_state_of_another_question_is_refused),
        cmocka_unit_test(every_part_of_a_question_tells_its_states_apart),
        cmocka_unit_test(nobody_may_carry_more_than_it_can),
        cmocka_unit_test(what_weighs_nothing_ties_nothing),
        cmocka_unit_test(bonds_that_do_not_follow_are_seen),
        cmocka_unit_test(what_is_left_behind_is_seen),
        cmocka_unit_test(bytes_that_a_switch_swallows_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
