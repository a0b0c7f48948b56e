/* search: the search itself is branch.c or exhaust.c; here only who finds nothing learns why. */
#include "myriad/fit/search.h"

#include "search/space.h"

int myr_fit_search(const struct myr_fit_query *query, struct myr_arena *arena,
                   struct myr_fit_answer *ret, struct myr_err *err)
{
    fit_search_quietly(query, arena, ret);
    return ret->top_count ? MYR_OK : fit_refuse(query, arena, ret, err);
}
