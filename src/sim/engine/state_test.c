#include "myriad/sim/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "kept.h"

/* Runs that are stopped anywhere, kept, and taken up in another engine. */

enum { CASES = 400, DAMAGES = 4000 };

/* The same engine for the same seed: channels and tasks made up, no fabric. */
static struct myr_sim *make(uint64_t seed)
{
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 3);
    struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_and_resumed_equals_uninterrupted),
        cmocka_unit_test(a_damaged_state_is_refused_or_harmless),
        cmocka_unit_test(a_state_of_another_question_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
