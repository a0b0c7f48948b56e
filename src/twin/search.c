#include "myriad/twin/search.h"

#include <stdlib.h>

/* What is being made small, and what must stay as it is: seed and rule. */
struct search {
    struct myr_scenario *scenario;
    const struct myr_search_options *options;
    struct myr_search_result *result;
    uint64_t seed;
    const char *rule;
};

static int play(struct search *it, uint64_t seed, struct myr_twin_result *ret, struct myr_err *err)
{
    struct myr_twin_options options = {
        .seed = seed, .planted = it->options->planted, .stop_at_violation = true};
    return myr_twin_run(it->scenario, &options, ret, err);
}

/* Whether the case, as it is now, still breaks the same rule; then it is cut off behind that. */
static bool still_breaks(struct search *it)
{
    struct myr_twin_result result;
    if (it->result->tries >= it->options->tries_most) {
        return false;
    }
    it->result->tries++;
    if (play(it, it->seed, &result, NULL) < 0) {
        return false;
    }
    bool breaks = result.violations > 0 && strcmp(result.first_rule, it->rule) == 0;
    if (breaks) {
        it->scenario->length_ms = result.first_violation_ms + 1;
        myr_twin_result_done(&it->result->broken);
        it->result->broken = result;
    } else {
        myr_twin_result_done(&result);
    }
    return breaks;
}

/* Each kind of trouble is switched off where the case breaks without it. */
static void drop_kinds(struct search *it)
{
    struct myr_scenario *s = it->scenario;
    struct myr_scenario kept = *s;
#define TRY_WITHOUT(change)      \
    do {                         \
        kept = *s;               \
        change;                  \
        if (!still_breaks(it)) { \
            *s = kept;           \
        }                        \
    } while (0)
    TRY_WITHOUT(memset(&s->messages, 0, sizeof(s->messages)));
    TRY_WITHOUT(s->partitions.every_ms = 0);
    TRY_WITHOUT(s->crashes.every_ms = 0; s->crashes.every_events = 0);
    TRY_WITHOUT(s->clock.every_ms = 0);
    TRY_WITHOUT(s->drains.every_ms = 0);
    TRY_WITHOUT(s->class_count = 0; s->rate = NULL);
    TRY_WITHOUT(s->window_count = 0);
    TRY_WITHOUT(s->fence_fails_ppm = 0);
    TRY_WITHOUT(s->drawn = false);
#undef TRY_WITHOUT
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The numbers of a kind that are still in. */
static uint32_t members(const struct myr_scenario_list *out, uint32_t count, uint32_t *ret)
{
    uint32_t used = 0;
    size_t at = 0;
    for (uint32_t n = 0; n < count; n++) {
        while (at < out->count && out->items[at] < n) {
            at++;
        }
        if (at == out->count || out->items[at] != n) {
            ret[used++] = n;
        }
    }
    return used;
}

/* Leaves out the numbers as well; false, and nothing changed, where the case no longer breaks. */
static bool leave_out(struct search *it, enum myr_scenario_kind kind, const uint32_t *numbers,
                      uint32_t count)
{
    struct myr_scenario_list *out = &it->scenario->left_out[kind];
    struct myr_scenario_list kept = *out, more = {0};
    for (size_t i = 0; i < kept.count; i++) {
        myr_vec_push(&more, kept.items[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(&more, numbers[i]);
    }
    qsort(more.items, more.count, sizeof(*more.items), by_number);
    *out = more;
    bool breaks = still_breaks(it);
    myr_vec_done(breaks ? &kept : &more);
    *out = breaks ? *out : kept;
    return breaks;
}

/* Ever smaller pieces of what is left are tried without. */
static void shrink(struct search *it, enum myr_scenario_kind kind)
{
    uint64_t drawn = it->result->broken.drawn[kind];
    uint32_t count = drawn < 4000000 ? (uint32_t)drawn : 4000000;
    uint32_t *left = myr_xcalloc(count ? count : 1, sizeof(*left));
    uint32_t used = members(&it->scenario->left_out[kind], count, left);
    for (uint32_t piece = used; piece >= 1; piece = piece / 2) {
        for (uint32_t at = 0; at < used;) {
            uint32_t length = used - at < piece ? used - at : piece;
            if (it->result->tries >= it->options->tries_most) {
                break;
            }
            if (leave_out(it, kind, left + at, length)) {
                memmove(left + at, left + at + length, (used - at - length) * sizeof(*left));
                used -= length;
            } else {
                at += length;
            }
        }
    }
    if (kind == MYR_SCENARIO_JOBS) {
        it->result->jobs_left = used;
    }
    free(left);
}

static void make_small(struct search *it)
{
    static const enum myr_scenario_kind kinds[] = {MYR_SCENARIO_JOBS,       MYR_SCENARIO_FAULTS,
                                                   MYR_SCENARIO_PARTITIONS, MYR_SCENARIO_CRASHES,
                                                   MYR_SCENARIO_DRAINS,     MYR_SCENARIO_CLOCK};
    it->scenario->length_ms = it->result->broken.first_violation_ms + 1;
    drop_kinds(it);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        shrink(it, kinds[i]);
    }
    drop_kinds(it); /* with less around, more can go */
}

int myr_twin_search(struct myr_scenario *scenario, const struct myr_search_options *options,
                    struct myr_search_result *ret, struct myr_err *err)
{
    struct search it = {.scenario = scenario, .options = options, .result = ret};
    *ret = (struct myr_search_result){0};
    for (uint64_t i = 0; i < options->seeds; i++) {
        struct myr_twin_result result;
        int rc = play(&it, options->first_seed + i, &result, err);
        if (rc < 0) {
            return rc;
        }
        ret->seeds++;
        ret->events += result.events;
        if (options->progress) {
            options->progress(options->context, ret->seeds);
        }
        if (result.violations > 0) {
            ret->found = true;
            ret->broken = result;
            ret->events_before = result.events;
            it.seed = options->first_seed + i;
            it.rule = result.first_rule;
            make_small(&it);
            return MYR_OK;
        }
        myr_twin_result_done(&result);
    }
    return MYR_OK;
}

void myr_search_result_done(struct myr_search_result *result)
{
    myr_twin_result_done(&result->broken);
}

enum myr_planted myr_twin_planted(void)
{
    const char *word = getenv("MYRIAD_TEST_PLANTED");
    uint64_t number = 0;
    bool known = word && myr_str_to_u64(myr_str_from(word), &number);
    return known && number < MYR_PLANTED_COUNT ? (enum myr_planted)number : MYR_PLANTED_NONE;
}
