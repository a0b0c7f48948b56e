#include "blame.h"

void ccl_arrivals_add(struct ccl_arrivals *arrivals, uint32_t rank, int64_t at_ns)
{
    if (arrivals->count++ == 0) {
        arrivals->last = rank;
        arrivals->last_ns = at_ns;
        arrivals->before_ns = INT64_MIN;
    } else if (at_ns > arrivals->last_ns) {
        arrivals->before_ns = arrivals->last_ns;
        arrivals->last_ns = at_ns;
        arrivals->last = rank;
    } else if (at_ns > arrivals->before_ns) {
        arrivals->before_ns = at_ns;
    }
}

void ccl_blame_note(struct ccl_blame *blame, const struct ccl_arrivals *arrivals)
{
    int64_t since = blame->call_ns;
    blame->call_ns = arrivals->last_ns;
    if (arrivals->count < 2 || since == 0) {
        return;
    }
    int64_t period = arrivals->last_ns - since, gap = arrivals->last_ns - arrivals->before_ns;
    if (period <= 0) {
        return; /* the second pass of a call */
    }
    if (gap <= period / CCL_BLAME_SHARE) {
        blame->calls = 0;
    } else if (blame->calls > 0 && blame->rank == arrivals->last) {
        blame->calls++;
    } else {
        blame->rank = arrivals->last;
        blame->calls = 1;
    }
}

bool ccl_blame_named(const struct ccl_blame *blame, uint32_t *ret_rank)
{
    if (blame->calls < CCL_BLAME_CALLS) {
        return false;
    }
    *ret_rank = blame->rank;
    return true;
}
