#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "kept.h"
#include "myriad/sim/state.h"

/*
 * Every word of a saved state, one after the other, as another one: one more, one less, nothing,
 * everything, the other sign. What is said of each is counted by the part that the word is of, and
 * kept: a check that lets more through than before, or less, shows there.
 */

enum { IMAGES = 4, WAYS = 5, SAID_MAX = 12, PARTS_MAX = 64 };

static const char *const ways[WAYS] = {"one more", "one less", "zero", "ones", "sign"};

static uint32_t changed(uint32_t word, uint32_t way)
{
    const uint32_t to[WAYS] = {word + 1, word - 1, 0, UINT32_MAX, word ^ UINT32_C(0x80000000)};
    return to[way];
}

/* Few channels and tasks, and something of everything that a state can have without a fabric. */
static struct myr_sim *make(uint64_t seed)
{
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 9);
    struct myr_sim *sim = myr_xcalloc(1, sizeof(*sim));
    sim->transport = &sim_fluid;
    uint32_t channels = 3 + (uint32_t)seed, patterns = 4;
    sim->link_channels = sim->scale_up_base = sim->pool_base = channels;
    sim->options.series_ps = seed % 2 ? 40 * MYR_PS_PER_US : 0;
    sim->options.sharing_loss_permille = seed == 2 ? 100 : 0;
    sim_channels_open(sim, channels);
    for (uint32_t c = 0; c < channels; c++) {
        uint64_t bps = (uint64_t)(1 + myr_rng_below(&rng, 8)) * 50000000000;
        sim_set_capacity(sim, c, bps);
        sim->channels[c].full_capacity = bps;
    }
    for (uint32_t p = 0; p < patterns; p++) {
        struct sim_pattern pattern = {.first_message = p,
                                      .message_count = 1,
                                      .first_use = (uint32_t)sim->uses.count,
                                      .use_count = 1 + myr_rng_below(&rng, channels),
                                      .latency = (myr_ps)p * MYR_PS_PER_US};
        myr_vec_push(&sim->messages, (struct myr_message){p, p + 1});
        myr_vec_push(&sim->paths, (struct sim_path){p, 0, 1000, p, 1});
        myr_vec_push(&sim->path_channels, p % channels);
        for (uint32_t u = 0; u < pattern.use_count; u++) {
            uint32_t weight = u % 2 ? 500 : 1000;
            myr_vec_push(&sim->uses, (struct sim_use){(p + u) % channels, weight});
        }
        myr_vec_push(&sim->patterns, pattern);
    }
    sim->routed_patterns = patterns;
    sim->batch_count = 1;
    for (uint32_t t = 0; t < 14; t++) {
        if (t % 5 == 4) {
            myr_sim_compute(sim, (myr_ps)(50 + 10 * t) * MYR_PS_PER_US);
        } else {
            myr_sim_transfer(sim, t % patterns, 2000000 + 300000 * t, 1 + t % 2);
        }
        if (t > 4) {
            (t % 3 ? myr_sim_after : myr_sim_follows)(sim, t, t - 5);
        }
    }
    return sim;
}

/* What was said of the words of a part, with how often. */
struct tally {
    char part[17];
    uint32_t words, said_count;
    char said[SAID_MAX][100];
    uint32_t counts[SAID_MAX][WAYS];
};

static void add_said(struct tally *tally, const char *said, uint32_t way)
{
    uint32_t i = 0;
    while (i < tally->said_count && strcmp(tally->said[i], said) != 0) {
        i++;
    }
    assert_true(i < SAID_MAX && strlen(said) < sizeof(tally->said[0]));
    memcpy(tally->said[i], said, strlen(said) + 1);
    tally->said_count += i == tally->said_count;
    tally->counts[i][way]++;
}

/* Loads an image and runs it; an end that differs from the one it should have is told apart. */
static void judge(uint64_t seed, const struct myr_buf *image, const struct myr_sim_result *right,
                  struct tally *tally, uint32_t way)
{
    struct myr_sim *sim = make(seed);
    struct myr_sim_result result;
    struct myr_err err = {};
    int rc = myr_sim_load(sim, (struct myr_str){image->data, image->len}, &err);
    bool loaded = rc >= 0;
    rc = loaded ? myr_sim_run(sim, NULL, NULL, &result, &err) : rc;
    if (rc >= 0) {
        bool same = result.hash == right->hash && result.end == right->end;
        add_said(tally, same ? "the same end" : "another end", way);
    } else {
        add_said(tally, loaded ? "loaded, but no end" : err.message, way);
    }
    myr_sim_free(sim);
}

/* Part by part, as state.c writes them: a name of 16 bytes, size and count, the items. */
static uint32_t judge_words(uint64_t seed, struct myr_buf *image,
                            const struct myr_sim_result *right, struct tally *tallies)
{
    uint32_t count = 0;
    for (size_t at = 0; at < image->len;) {
        uint64_t size, items;
        memcpy(&size, image->data + at + 16, sizeof(size));
        memcpy(&items, image->data + at + 24, sizeof(items));
        struct tally *tally = &tallies[count];
        memcpy(tally->part, image->data + at, 16);
        if (count == 0 || strcmp(tally->part, tally[-1].part) != 0) {
            count++; /* free blocks are many parts of one name */
        } else {
            tally--;
        }
        size_t end = at + 32 + size * items;
        assert_true(end <= image->len && count < PARTS_MAX);
        for (size_t word = at + 16; word < end; word += 4) {
            uint32_t value;
            memcpy(&value, image->data + word, sizeof(value));
            for (uint32_t way = 0; way < WAYS; way++) {
                uint32_t other = changed(value, way);
                if (other != value) {
                    memcpy(image->data + word, &other, sizeof(other));
                    judge(seed, image, right, tally, way);
                }
            }
            memcpy(image->data + word, &value, sizeof(value));
            tally->words++;
        }
        at = end;
    }
    return count;
}

static void put_tallies(struct myr_buf *text, const struct tally *tallies, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct tally *tally = &tallies[i];
        myr_buf_printf(text, "  %s, %u words\n", tally->part, tally->words);
        for (uint32_t k = 0; k < tally->said_count; k++) {
            for (uint32_t way = 0; way < WAYS; way++) {
                myr_buf_printf(text, "%6u", tally->counts[k][way]);
            }
            myr_buf_printf(text, "  %s\n", tally->said[k]);
        }
    }
}

static void every_word_of_a_state_is_looked_at(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t way = 0; way < WAYS; way++) {
        myr_buf_printf(&text, "%s%s", way ? ", " : "", ways[way]);
    }
    for (uint64_t seed = 0; seed < IMAGES; seed++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf image = {};
        MYR_CLEANUP(myr_free_at) struct tally *tallies = myr_xcalloc(PARTS_MAX, sizeof(*tallies));
        struct myr_sim_result right;
        bool over;
        struct myr_sim *sim = make(seed);
        assert_int_equal(
            myr_sim_run_until(sim, (myr_ps)(60 + 40 * seed) * MYR_PS_PER_US, &over, NULL), MYR_OK);
        assert_true(!over && !sim_state_wrong(sim));
        myr_sim_save(sim, &image);
        assert_int_equal(myr_sim_run(sim, NULL, NULL, &right, NULL), MYR_OK);
        myr_sim_free(sim);
        myr_buf_printf(&text, "\nstate %u\n", (unsigned)seed);
        uint32_t count = judge_words(seed, &image, &right, tallies);
        put_tallies(&text, tallies, count);
    }
    assert_kept("sim-words.txt", &text);
}

/* Of what the question leads to nothing may be another: one change each, everything else equal. */
static void change_task(struct myr_sim *sim, uint32_t which)
{
    struct sim_task *task = &sim->tasks.items[2], *computing = &sim->tasks.items[4];
    struct sim_edge *edge = &sim->edges.items[1];
    task->pattern += which == 0;
    task->latency_rounds += which == 1;
    task->bits += which == 2 ? 8 : 0;
    computing->duration += which == 3;
    computing->kind = which == 4 ? SIM_TRANSFER : computing->kind;
    edge->before += which == 5;
    edge->moves ^= which == 6;
    uint32_t waits = edge->task + (which == 7);
    edge->task = waits & INT32_MAX;
    if (which == 8) {
        myr_sim_compute(sim, 1);
    }
}

static void change_question(struct myr_sim *sim, uint32_t which)
{
    struct sim_pattern *pattern = &sim->patterns.items[2];
    sim->options.balance.seed += which == 0;
    sim->options.sharing_loss_permille += which == 1;
    sim->options.pause_permille += which == 2;
    sim->options.series_ps += which == 3;
    sim->messages.items[1].from += which == 4;
    sim->messages.items[1].to += which == 5;
    pattern->first_message -= which == 6;
    pattern->message_count += which == 7;
    pattern->phase += which == 8;
    pattern->cyclic ^= which == 9;
    sim->channels[1].full_capacity += which == 10 ? 1000000000 : 0;
    sim->pool_base -= which == 11;
    if (which >= 12) {
        change_task(sim, which - 12);
    }
}

static void change_fault(struct myr_sim_fault *fault, uint32_t which)
{
    switch (which) {
    case 0:
        fault->at++;
        break;
    case 1:
        fault->kind = MYR_FAULT_UP;
        break;
    case 2:
        fault->link++;
        break;
    case 3:
        fault->device++;
        break;
    case 4:
        fault->capacity_permille++;
        break;
    default:
        fault->reroute++;
        break;
    }
}

static void assert_another_question(struct myr_sim *sim, const struct myr_buf *image)
{
    struct myr_err err = {};
    assert_int_equal(myr_sim_load(sim, (struct myr_str){image->data, image->len}, &err),
                     MYR_EINVAL);
    assert_string_equal(err.message,
                        "the state is of another question: the fabric, the workload or a file "
                        "that it reads has changed");
    myr_sim_free(sim);
}

static void a_state_belongs_to_one_question_alone(void **state)
{
    (void)state;
    /* Long after all tasks: what they are shows only in the question. */
    struct myr_sim_fault fault = {.at = MYR_PS_PER_S, .link = 1, .device = 2, .reroute = 5};
    MYR_CLEANUP(myr_buf_done) struct myr_buf image = {}, broken = {};
    bool over;
    for (uint32_t turn = 0; turn < 2; turn++) {
        struct myr_sim *sim = make(1);
        if (turn) {
            myr_vec_push(&sim->faults, fault);
        }
        assert_int_equal(myr_sim_run_until(sim, 50 * MYR_PS_PER_US, &over, NULL), MYR_OK);
        myr_sim_save(sim, turn ? &broken : &image);
        myr_sim_free(sim);
    }
    for (uint32_t which = 0; which <= 20; which++) {
        struct myr_sim *other = make(1);
        change_question(other, which);
        assert_another_question(other, &image);
    }
    for (uint32_t which = 0; which <= 5; which++) {
        struct myr_sim *other = make(1);
        struct myr_sim_fault changed_fault = fault;
        change_fault(&changed_fault, which);
        myr_vec_push(&other->faults, changed_fault);
        assert_another_question(other, &broken);
    }
    struct myr_sim *same = make(1);
    myr_vec_push(&same->faults, fault);
    assert_int_equal(myr_sim_load(same, (struct myr_str){broken.data, broken.len}, NULL), MYR_OK);
    myr_sim_free(same);
}

/* Whatever lay in the memory that the engine was given. */
static void the_same_state_is_the_same_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < IMAGES; seed++) {
        struct myr_buf images[2] = {};
        for (uint32_t i = 0; i < 2; i++) {
            bool over;
            mallopt(M_PERTURB, i ? 0x5A : 0xA5);
            struct myr_sim *sim = make(seed);
            assert_int_equal(myr_sim_run_until(sim, 90 * MYR_PS_PER_US, &over, NULL), MYR_OK);
            myr_sim_save(sim, &images[i]);
            myr_sim_free(sim);
        }
        mallopt(M_PERTURB, 0);
        assert_int_equal(images[0].len, images[1].len);
        assert_memory_equal(images[0].data, images[1].data, images[0].len);
        myr_buf_done(&images[0]);
        myr_buf_done(&images[1]);
    }
}

/* What a run asserts at its end, and slow builds at every moment, sees each thing by itself. */
static void the_engines_own_checks_see_what_is_wrong(void **state)
{
    (void)state;
    struct myr_sim_result result;
    struct myr_sim *sim = make(0);
    bool over;
    assert_int_equal(myr_sim_run_until(sim, 60 * MYR_PS_PER_US, &over, NULL), MYR_OK);
    assert_false(sim_at_rest(sim));
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        uint64_t capacity = sim->channels[c].capacity;
        myr_vec_push(&sim->touched, c);
        assert_true(sim_within_capacity(sim));
        sim->channels[c].capacity = sim->channels[c].held ? capacity - capacity / 1000 : capacity;
        assert_true(sim_within_capacity(sim) == (sim->channels[c].held == 0));
        sim->channels[c].capacity = capacity;
    }
    assert_true(sim_ties_right(sim));
    sim->touched.count = 0;
    assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, NULL), MYR_OK);
    assert_true(sim_at_rest(sim) && sim_conserved(sim) && sim_above_bounds(sim));
    for (uint32_t which = 0; which < 8; which++) {
        struct sim_channel channel = sim->channels[1];
        struct sim_fill fill = sim->fills[1];
        sim->channels[1].wanted += which == 0;
        sim->channels[1].entry_count += which == 1;
        sim->channels[1].held += which == 2;
        sim->fills[1].held_weight += which == 3;
        sim->fills[1].room -= which == 4;
        sim->finish.count += which == 5;
        sim->loose_slots += which == 6;
        sim->free_slots.count -= which == 7;
        assert_false(sim_at_rest(sim));
        sim->channels[1] = channel;
        sim->fills[1] = fill;
        sim->finish.count -= which == 5;
        sim->loose_slots -= which == 6;
        sim->free_slots.count += which == 7;
    }
    /* A nanosecond and a part in 2^27 sooner than is possible may be rounding; more is not. */
    myr_ps best = sim->result.bounds.best;
    assert_true(best > 0 && best < MYR_PS_PER_S / 8);
    sim->result.end = best - MYR_PS_PER_NS;
    assert_true(sim_above_bounds(sim));
    sim->result.end = best - MYR_PS_PER_NS - (best >> 27) - 1;
    assert_false(sim_above_bounds(sim));
    sim->result.bounds.known = false;
    assert_true(sim_above_bounds(sim));
    myr_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_of_a_state_is_looked_at),
        cmocka_unit_test(a_state_belongs_to_one_question_alone),
        cmocka_unit_test(the_same_state_is_the_same_bytes),
        cmocka_unit_test(the_engines_own_checks_see_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
