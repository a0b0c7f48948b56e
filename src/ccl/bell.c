/*
 * The bell: who waits sleeps on it, all together.
 *
 * Who sleeps says so in 'sleepers' and looks once more before it does; who changes something that
 * may be waited for does so and then looks who sleeps. Both with whole fences, so one of the two
 * sees the other. A bit that a dead member has left there costs a call into the system, no more.
 */
#include "group.h"

void ccl_ring(struct myr_ccl *ccl)
{
    struct ccl_shared *shared = ccl->shared;
    uint64_t any = 0;
    for (uint32_t i = 0; i * 64 < ccl->places; i++) {
        any |= ccl_load(ccl, &shared->sleepers[i]);
    }
    if (any) {
        ccl_point(ccl);
        atomic_fetch_add(&shared->bell, 1);
        ccl->world.wake(ccl->world.context, &shared->bell);
    }
}

void ccl_sleep(struct myr_ccl *ccl, bool (*ready)(struct myr_ccl *, void *), void *context,
               int64_t until_ns)
{
    int64_t now = ccl_now(ccl);
    if (now >= until_ns) {
        return;
    }
    _Atomic uint64_t *sleepers = &ccl->shared->sleepers[ccl->place / 64];
    uint64_t bit = 1ull << ccl->place % 64;
    uint32_t seen = atomic_load(&ccl->shared->bell);
    ccl_point(ccl);
    atomic_fetch_or(sleepers, bit);
    if (!ready(ccl, context)) {
        ccl_point(ccl);
        ccl->world.sleep(ccl->world.context, &ccl->shared->bell, seen, until_ns - now);
    }
    ccl_point(ccl);
    atomic_fetch_and(sleepers, ~bit);
}
