/*
 * Two ways, one after the other. First the case itself: whatever it still breaks without, at the
 * same seed, goes. That ends early where the fault needs a rare meeting of messages, since every
 * job that goes shifts all that comes after it. So then the odds are played: smaller worlds at
 * other seeds, with fewer jobs, fewer nodes, a shorter time, and each kind of trouble of the
 * scenario either left out, as it was, or several times as frequent. Such runs are short, so that
 * very many of them cost no more than a few of the first. Each new case is made small in the first
 * way again.
 */
#include "reduce.h"
#include "vary.h"

#include <stdlib.h>

/*
 * Small enough for somebody to read: reduction goes on until then, or until the runs are spent.
 * Nodes that join make up most of the events of such a case.
 */
enum { JOBS_FEW = 3, EVENTS_FEW = 300 };

/* What is being made small, and what must stay as it is: the rule. */
struct reduction {
    struct myr_scenario *scenario; /* made smaller as it goes */
    const struct myr_search_options *options;
    struct myr_search_result *result;
    struct myr_rng rng;
    uint64_t seed, next_seed;     /* of the case; not used before */
    const char *rule;             /* that must still break */
    struct myr_scenario given;    /* as it was; what it points to is the scenario's */
    uint64_t events, events_most; /* spent, and to be spent */
};

/* By events, not by runs: many short runs cost no more than a few long ones. */
static bool spent(const struct reduction *it)
{
    return it->events >= it->events_most;
}

/*
 * What comes behind the violation is of no interest any more, unless it came in the time behind the
 * end, which begins where the run's own time is over.
 */
static void cut_off(struct myr_scenario *scenario, const struct myr_twin_result *broken)
{
    if (broken->first_violation_ms < scenario->length_ms) {
        scenario->length_ms = broken->first_violation_ms + 1;
    }
}

/* Whether the case, as it is now, still breaks the same rule; then it is cut off behind that. */
static bool still_breaks(struct reduction *it, uint64_t seed, uint64_t events_most)
{
    struct myr_twin_result result;
    MYR_ASSERT(it->rule);
    struct myr_twin_options options = {.seed = seed,
                                       .planted = it->options->planted,
                                       .stop_at_violation = true,
                                       .events_most = events_most};
    if (spent(it)) {
        return false;
    }
    it->result->tries++;
    /* What cannot even begin counts as a try that cost its setup. */
    if (myr_twin_run(it->scenario, &options, &result, NULL) < 0) {
        it->events += it->scenario->shape.nodes;
        return false;
    }
    it->events += result.events + it->scenario->shape.nodes; /* setting up costs as well */
    MYR_ASSERT(result.violations == 0 || result.first_rule);
    bool breaks = result.violations > 0 && strcmp(result.first_rule, it->rule) == 0;
    if (breaks) {
        MYR_ASSERT(result.first_violation_ms >= 0);
        it->seed = seed;
        cut_off(it->scenario, &result);
        myr_twin_result_done(&it->result->broken);
        it->result->broken = result;
    } else {
        myr_twin_result_done(&result);
    }
    return breaks;
}

/* At its own seed, for as long as it takes. */
static bool breaks_here(struct reduction *it)
{
    return still_breaks(it, it->seed, 0);
}

/* Each kind of trouble is switched off where the case breaks without it. */
static void drop_kinds(struct reduction *it)
{
    struct myr_scenario *s = it->scenario;
    /* Structs are copied; lists of what is left out are not touched here. */
    struct myr_scenario kept;
#define TRY_WITHOUT(there, change)  \
    do {                            \
        kept = *s;                  \
        if (there) {                \
            change;                 \
            if (!breaks_here(it)) { \
                *s = kept;          \
            }                       \
        }                           \
    } while (0)
    TRY_WITHOUT(s->messages.lost_ppm + s->messages.twice_ppm + s->messages.late_ppm > 0,
                memset(&s->messages, 0, sizeof(s->messages)));
    TRY_WITHOUT(s->messages.lost_ppm > 0, s->messages.lost_ppm = 0);
    TRY_WITHOUT(s->messages.twice_ppm > 0, s->messages.twice_ppm = 0);
    TRY_WITHOUT(s->messages.late_ppm > 0, s->messages.late_ppm = 0);
    TRY_WITHOUT(s->partitions.every_ms > 0, s->partitions.every_ms = 0);
    TRY_WITHOUT(s->crashes.every_ms > 0 || s->crashes.every_events > 0, s->crashes.every_ms = 0;
                s->crashes.every_events = 0);
    TRY_WITHOUT(s->clock.every_ms > 0, s->clock.every_ms = 0);
    TRY_WITHOUT(s->clock.drift_permille > 0, s->clock.drift_permille = 0);
    TRY_WITHOUT(s->drains.every_ms > 0, s->drains.every_ms = 0);
    TRY_WITHOUT(s->holds.every_ms > 0, s->holds.every_ms = 0);
    TRY_WITHOUT(s->weights.every_ms > 0, s->weights.every_ms = 0);
    TRY_WITHOUT(s->levers.every_ms > 0, s->levers.every_ms = 0);
    TRY_WITHOUT(s->questions.every_ms > 0, s->questions.every_ms = 0);
    TRY_WITHOUT(s->symptoms.every_ms > 0, s->symptoms.every_ms = 0);
    TRY_WITHOUT(s->calms.every_ms > 0, s->calms.every_ms = 0);
    TRY_WITHOUT(s->calms.ends, s->calms.ends = 0);
    TRY_WITHOUT(s->refuse_ppm > 0, s->refuse_ppm = 0);
    TRY_WITHOUT(s->class_count > 0, s->class_count = 0; s->rate = NULL);
    TRY_WITHOUT(s->window_count > 0, s->window_count = 0);
    TRY_WITHOUT(s->fence_fails_ppm > 0, s->fence_fails_ppm = 0);
    TRY_WITHOUT(s->drawn, s->drawn = false);
#undef TRY_WITHOUT
}

/* ---- things left out by number ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The numbers of a kind that are still in. */
static uint32_t members(const struct myr_scenario_list *out, uint32_t count, uint32_t *ret)
{
    MYR_ASSERT(ret || count == 0);
    uint32_t used = 0;
    size_t at = 0;
    /* Both go up, so one walk is enough. */
    for (uint32_t n = 0; n < count; n++) {
        while (at < out->count && out->items[at] < n) {
            at++;
        }
        if (at == out->count || out->items[at] != n) {
            ret[used++] = n;
        }
    }
    MYR_ASSERT(used <= count);
    return used;
}

/* A new list of both, sorted; 'before' stays as it is. */
static void add_left_out(struct myr_scenario_list *ret, const struct myr_scenario_list *before,
                         const uint32_t *numbers, uint32_t count)
{
    MYR_ASSERT(numbers || count == 0);
    *ret = (struct myr_scenario_list){};
    for (size_t i = 0; i < before->count; i++) {
        myr_vec_push(ret, before->items[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(ret, numbers[i]);
    }
    /* Lists are searched by halves, so they stay sorted. */
    if (ret->count > 0) {
        qsort(ret->items, ret->count, sizeof(*ret->items), by_number);
    }
    MYR_ASSERT(ret->count == before->count + count);
}

/* Leaves out the numbers as well; false, and nothing changed, where the case no longer breaks. */
static bool leave_out(struct reduction *it, enum myr_scenario_kind kind, const uint32_t *numbers,
                      uint32_t count)
{
    MYR_ASSERT((uint32_t)kind < MYR_SCENARIO_LISTS && count > 0);
    struct myr_scenario_list *out = &it->scenario->left_out[kind];
    struct myr_scenario_list kept = *out, more;
    add_left_out(&more, &kept, numbers, count);
    *out = more;
    bool breaks = breaks_here(it);
    myr_vec_done(breaks ? &kept : &more);
    *out = breaks ? *out : kept;
    return breaks;
}

/* How many of the kind the last run has drawn. */
static uint32_t drawn_of(const struct reduction *it, enum myr_scenario_kind kind)
{
    MYR_ASSERT((uint32_t)kind < MYR_SCENARIO_LISTS);
    /* So many at most are looked at one by one. */
    uint64_t drawn = it->result->broken.drawn[kind];
    return drawn < 4000000 ? (uint32_t)drawn : 4000000;
}

/* Ever smaller pieces of what is left are tried without. */
static void shrink(struct reduction *it, enum myr_scenario_kind kind)
{
    uint32_t count = drawn_of(it, kind);
    MYR_ASSERT((uint32_t)kind < MYR_SCENARIO_LISTS);
    uint32_t *left = myr_xcalloc(count, sizeof(*left));
    uint32_t used = members(&it->scenario->left_out[kind], count, left);
    /* The whole first: often the kind does not matter at all. */
    for (uint32_t piece = used; piece >= 1 && !spent(it); piece = piece / 2) {
        for (uint32_t at = 0; at < used && !spent(it);) {
            uint32_t length = used - at < piece ? used - at : piece;
            if (leave_out(it, kind, left + at, length)) {
                memmove(left + at, left + at + length, (used - at - length) * sizeof(*left));
                MYR_ASSERT(length > 0 && used >= at + length);
                used -= length;
            } else {
                at += length;
            }
        }
    }
    /* Told in the end, and what makes a case small. */
    if (kind == MYR_SCENARIO_JOBS) {
        it->result->jobs_left = used;
    }
    free(left);
}

/* Kinds as a whole first: what goes with them need not be left out one by one. */
static void shrink_all(struct reduction *it)
{
    static const enum myr_scenario_kind kinds[] = {MYR_SCENARIO_JOBS,       MYR_SCENARIO_FAULTS,
                                                   MYR_SCENARIO_PARTITIONS, MYR_SCENARIO_CRASHES,
                                                   MYR_SCENARIO_DRAINS,     MYR_SCENARIO_CLOCK};
    drop_kinds(it);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        shrink(it, kinds[i]);
    }
    drop_kinds(it); /* with less around, more can go */
}

/* ---- smaller worlds at other seeds ---- */

/* The lists are the caller's to free. */
static void copy_left_out(struct myr_scenario_list ret[MYR_SCENARIO_LISTS],
                          const struct myr_scenario *from)
{
    for (int kind = 0; kind < MYR_SCENARIO_LISTS; kind++) {
        add_left_out(&ret[kind], &from->left_out[kind], NULL, 0);
    }
}

static void drop_left_out(struct myr_scenario_list lists[MYR_SCENARIO_LISTS])
{
    for (int kind = 0; kind < MYR_SCENARIO_LISTS; kind++) {
        myr_vec_done(&lists[kind]);
    }
}

/* As many as there are, half, a quarter, ... down to one: each as likely. */
static uint64_t fraction_of(struct reduction *it, uint64_t whole)
{
    uint32_t halvings = 0;
    while (whole >> halvings > 1) {
        halvings++;
    }
    uint64_t part = whole >> myr_rng_below(&it->rng, halvings + 1);
    MYR_ASSERT(whole == 0 || part > 0);
    MYR_ASSERT(part <= whole);
    return part > 0 ? part : 1;
}

/* Some of the jobs that are left stay; what belongs to the old seed is in again. */
static void take_fewer_jobs(struct reduction *it)
{
    struct myr_scenario_list *lists = it->scenario->left_out;
    uint32_t count = it->scenario->job_count;
    uint32_t *left = myr_xcalloc(count, sizeof(*left));
    uint32_t used = members(&lists[MYR_SCENARIO_JOBS], count, left);
    uint32_t stay = (uint32_t)fraction_of(it, used); /* one where there is none */
    uint32_t go = used > stay ? used - stay : 0;
    for (uint32_t i = 0; i < go; i++) { /* the first 'go' of a shuffle */
        uint32_t with = i + (uint32_t)myr_rng_below(&it->rng, used - i), number = left[i];
        left[i] = left[with];
        left[with] = number;
    }
    MYR_ASSERT(go <= used && used - go <= stay);
    struct myr_scenario_list jobs;
    add_left_out(&jobs, &lists[MYR_SCENARIO_JOBS], left, go);
    drop_left_out(lists);
    lists[MYR_SCENARIO_JOBS] = jobs;
    free(left);
}

/* Half of the nodes, where every job and window of the scenario still has its place. */
static void halve_nodes(struct myr_scenario *s)
{
    /* In whole leaves, as a shape asks. */
    uint32_t leaf = s->shape.group_nodes;
    uint32_t nodes = (s->shape.nodes / 2 + leaf - 1) / leaf * leaf;
    uint64_t largest = 1;
    for (uint32_t g = 0; g < s->group_count; g++) {
        for (uint32_t i = 0; i < s->groups[g].size_count; i++) {
            largest = s->groups[g].sizes[i] > largest ? s->groups[g].sizes[i] : largest;
        }
    }
    bool fits = nodes < s->shape.nodes && (uint64_t)nodes * s->shape.gpus_per_node >= largest &&
                s->policy.spares < nodes;
    for (uint32_t i = 0; i < s->window_count; i++) {
        fits = fits && s->windows[i].first + s->windows[i].count <= nodes;
    }
    MYR_ASSERT(leaf > 0 && (!fits || nodes > 0));
    s->shape.nodes = fits ? nodes : s->shape.nodes;
    MYR_ASSERT(s->shape.nodes % leaf == 0 || !fits);
}

/* One run of a smaller world at a seed not used before. What does not break is put back. */
static bool play_smaller(struct reduction *it)
{
    struct myr_scenario *s = it->scenario, kept = *s;
    struct myr_scenario_list lists[MYR_SCENARIO_LISTS];
    copy_left_out(lists, s);
    take_fewer_jobs(it);
    vary_trouble(s, &it->given, &it->rng);
    /* Every second time, where it can be. */
    if (myr_rng_below(&it->rng, 2) == 0) {
        halve_nodes(s);
    }
    /* The time that the search has cut off is given back: another seed may need it. */
    s->length_ms = it->given.length_ms;
    MYR_ASSERT(s->length_ms > 0);
    /* More events than in the case at hand would be no smaller. */
    MYR_ASSERT(s->job_count == kept.job_count && s->shape.nodes <= kept.shape.nodes);
    bool breaks = still_breaks(it, it->next_seed++, fraction_of(it, it->result->broken.events));
    if (breaks) {
        drop_left_out(lists);
        return true;
    }
    drop_left_out(s->left_out);
    *s = kept;
    memcpy(s->left_out, lists, sizeof(lists));
    return false;
}

static bool is_small(const struct reduction *it)
{
    return it->result->jobs_left <= JOBS_FEW && it->result->broken.events <= EVENTS_FEW;
}

/* Until the case is small or the events are spent. */
static void play_the_odds(struct reduction *it)
{
    while (!spent(it) && !is_small(it)) {
        if (play_smaller(it)) {
            shrink_all(it);
        }
    }
}

void twin_reduce(struct myr_scenario *scenario, const struct myr_search_options *options,
                 struct myr_search_result *result)
{
    struct reduction it = {
        .scenario = scenario,
        .options = options,
        .result = result,
        .seed = result->broken.seed,
        .next_seed = result->broken.seed + 1,
        .rule = result->broken.first_rule,
        .given = *scenario,
        /* A run as long as the one that was found counts as one try, a shorter one as less. */
        .events_most = options->tries_most * (result->broken.events + scenario->shape.nodes),
    };
    MYR_ASSERT(result->found && it.rule && result->broken.violations > 0);
    myr_rng_init(&it.rng, result->broken.seed, 0);
    result->jobs_left = scenario->job_count;
    cut_off(scenario, &result->broken);
    /* A quarter is enough to see whether the first way leads anywhere. */
    uint64_t all = it.events_most;
    it.events_most = all / 4;
    shrink_all(&it);
    it.events_most = all;
    play_the_odds(&it);
    MYR_ASSERT(result->jobs_left <= scenario->job_count);
    MYR_ASSERT(result->broken.violations > 0); /* however small, it still breaks */
}
