/*
 * search: seeds in a row until a rule breaks; then the case is made small. A run stops at its first
 * violation, since whatever follows may be its consequence.
 */
#include "myriad/twin/search.h"

#include <stdlib.h>

#include "reduce.h"

/* One run that ends where a rule breaks. */
static int play(const struct myr_scenario *scenario, const struct myr_search_options *how,
                uint64_t seed, struct myr_twin_result *ret, struct myr_err *err)
{
    struct myr_twin_options options = {
        .seed = seed, .planted = how->planted, .stop_at_violation = true};
    return myr_twin_run(scenario, &options, ret, err);
}

int myr_twin_search(struct myr_scenario *scenario, const struct myr_search_options *options,
                    struct myr_search_result *ret, struct myr_err *err)
{
    MYR_ASSERT(scenario && options && ret);
    *ret = (struct myr_search_result){};
    for (uint64_t i = 0; i < options->seeds; i++) {
        struct myr_twin_result result;
        MYR_TRY(play(scenario, options, options->first_seed + i, &result, err));
        ret->seeds++;
        MYR_ASSERT(ret->seeds == i + 1 && !ret->found);
        /* Counted over all seeds, for who watches how fast it goes. */
        ret->events += result.events;
        if (options->progress) {
            options->progress(options->context, ret->seeds);
        }
        if (result.violations > 0) {
            ret->found = true;
            /* Its memory is the result's from now on; reducing may replace it. */
            ret->broken = result;
            ret->found_seed = options->first_seed + i;
            ret->events_before = result.events;
            twin_reduce(scenario, options, ret);
            MYR_ASSERT(ret->broken.violations > 0 && ret->broken.first_rule); /* it still breaks */
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
