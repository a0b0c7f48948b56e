/*
 * search: seeds in a row until a rule breaks; then the case is made small. A run stops at its first
 * violation, since whatever follows may be its consequence.
 */
#include "myriad/twin/search.h"

#include <stdlib.h>
#include <string.h>

#include "reduce.h"
#include "vary.h"

/* One run that ends where a rule breaks. */
static int play(const struct myr_scenario *scenario, const struct myr_search_options *how,
                uint64_t seed, struct myr_twin_result *ret, struct myr_err *err)
{
    struct myr_twin_options options = {
        .seed = seed, .planted = how->planted, .stop_at_violation = true};
    return myr_twin_run(scenario, &options, ret, err);
}

/* The marks of the program, sorted by place: the linker has no order of its own. */
static int by_place(const void *a, const void *b)
{
    const struct myr_search_mark *x = a, *y = b;
    int order = strcmp(x->probe->file, y->probe->file);
    return order ? order : strcmp(x->probe->what, y->probe->what);
}

static void list_marks(struct myr_search_result *ret)
{
    struct myr_probe *const *all;
    uint32_t count = myr_probes(&all);
    for (uint32_t i = 0; i < count; i++) {
        myr_vec_push(&ret->marks, (struct myr_search_mark){.probe = all[i]});
    }
    if (count > 0) {
        qsort(ret->marks.items, count, sizeof(*ret->marks.items), by_place);
    }
}

/* Which were reached since they were last looked at; true: one of them for the first time. */
static bool look_at_marks(struct myr_search_result *ret, bool world)
{
    bool first = false;
    for (size_t i = 0; i < ret->marks.count; i++) {
        struct myr_search_mark *mark = &ret->marks.items[i];
        uint64_t now = __atomic_load_n(&mark->probe->count, __ATOMIC_RELAXED);
        if (now != mark->before) {
            first = first || mark->runs == 0;
            mark->in_worlds = mark->runs == 0 ? world : mark->in_worlds;
            mark->runs++;
        }
        mark->before = now;
    }
    return first;
}

/* True: a rule broke, and the scenario is the small case. */
static int try(struct myr_scenario *scenario, const struct myr_search_options *options,
               uint64_t seed, struct myr_search_result *ret, struct myr_err *err)
{
    struct myr_twin_result result;
    MYR_TRY(play(scenario, options, seed, &result, err));
    ret->seeds++;
    /* Counted over all seeds, for who watches how fast it goes. */
    ret->events += result.events;
    if (options->progress) {
        options->progress(options->context, ret->seeds);
    }
    if (result.violations == 0) {
        myr_twin_result_done(&result);
        return MYR_OK;
    }
    ret->found = true;
    /* Its memory is the result's from now on; reducing may replace it. */
    ret->broken = result;
    ret->found_seed = seed;
    ret->events_before = result.events;
    twin_reduce(scenario, options, ret);
    MYR_ASSERT(ret->broken.violations > 0 && ret->broken.first_rule); /* it still breaks */
    return MYR_OK;
}

/*
 * Worlds that reached a mark for the first time are varied further: what is rare is often a step
 * beyond something else that is. What is varied are plain fields; the lists stay the caller's.
 */
static int try_worlds(struct myr_scenario *scenario, const struct myr_search_options *options,
                      struct myr_search_result *ret, struct myr_err *err)
{
    enum { PARENTS = 16 };
    struct myr_scenario given = *scenario;
    struct myr_scenario *parents = myr_xcalloc(PARENTS, sizeof(*parents));
    uint32_t count = 1, next = 1;
    int rc = MYR_OK;
    parents[0] = given;
    for (uint64_t i = 0; i < options->worlds && rc == MYR_OK && !ret->found; i++) {
        struct myr_rng rng;
        myr_rng_init(&rng, options->first_seed + i, 1);
        *scenario = parents[myr_rng_below(&rng, count)];
        vary_trouble(scenario, &given, &rng);
        vary_choices(scenario, &rng);
        struct myr_scenario world = *scenario;
        rc = try(scenario, options, options->first_seed + options->seeds + i, ret, err);
        ret->worlds++;
        if (look_at_marks(ret, true) && !ret->found) { /* the first parent is what was given */
            parents[next] = world;
            count = count < PARENTS ? count + 1 : count;
            next = next + 1 < PARENTS ? next + 1 : 1;
        }
    }
    if (!ret->found) {
        *scenario = given;
    }
    free(parents);
    return rc;
}

int myr_twin_search(struct myr_scenario *scenario, const struct myr_search_options *options,
                    struct myr_search_result *ret, struct myr_err *err)
{
    MYR_ASSERT(scenario && options && ret);
    *ret = (struct myr_search_result){};
    int rc = MYR_OK;
    list_marks(ret);
    (void)look_at_marks(ret, false); /* what was reached before is nobody's */
    for (size_t i = 0; i < ret->marks.count; i++) {
        ret->marks.items[i].runs = 0;
    }
    for (uint64_t i = 0; i < options->seeds && rc == MYR_OK && !ret->found; i++) {
        rc = try(scenario, options, options->first_seed + i, ret, err);
        (void)look_at_marks(ret, false);
    }
    if (rc == MYR_OK && !ret->found && options->worlds > 0) {
        rc = try_worlds(scenario, options, ret, err);
    }
    if (rc < 0) {
        myr_search_result_done(ret);
    }
    return rc;
}

void myr_search_result_done(struct myr_search_result *result)
{
    myr_twin_result_done(&result->broken);
    myr_vec_done(&result->marks);
}

/* For tests of the twin itself: a fault that is put into the controller, to be found. */
int myr_twin_planted(enum myr_planted *ret, struct myr_err *err)
{
    const char *word = getenv("MYRIAD_TEST_PLANTED");
    uint64_t number = 0;
    if (word && (!myr_str_to_u64(myr_str_from(word), &number) || number >= MYR_PLANTED_COUNT)) {
        return myr_err_set(err, MYR_EINVAL,
                           "MYRIAD_TEST_PLANTED is '%s', a number from 0 to %d is expected", word,
                           MYR_PLANTED_COUNT - 1);
    }
    MYR_ASSERT(number < MYR_PLANTED_COUNT);
    *ret = (enum myr_planted)number;
    return MYR_OK;
}
