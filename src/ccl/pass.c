#include "pass.h"

uint8_t *ccl_stage(const struct myr_ccl *ccl, uint32_t rank, uint64_t round)
{
    uint64_t buffer = 2ull * ccl->seats[rank].place + ((ccl->round + round) & 1);
    return ccl_at(ccl, ccl->layout.stages + buffer * ccl->layout.stage_bytes);
}

uint8_t *ccl_sums(const struct myr_ccl *ccl, uint32_t rank, uint64_t round)
{
    uint64_t buffer = 2ull * ccl->seats[rank].place + ((ccl->round + round) & 1);
    return ccl_at(ccl, ccl->layout.sums + buffer * ccl->layout.sum_bytes);
}

uint8_t *ccl_small(const struct myr_ccl *ccl, uint32_t rank, uint32_t ahead)
{
    uint64_t odd = (ccl->ticket + ahead) & 1;
    uint64_t buffer = 2ull * ccl->seats[rank].place + odd;
    return ccl_at(ccl, ccl->layout.small + buffer * CCL_SMALL_MAX);
}

void ccl_copy(const struct myr_ccl *ccl, void *to, const void *from, size_t bytes)
{
    if (ccl->world.point) {
        size_t half = bytes / 2;
        ccl_point(ccl);
        memcpy(to, from, half);
        ccl_point(ccl);
        memcpy((uint8_t *)to + half, (const uint8_t *)from + half, bytes - half);
        return;
    }
    memcpy(to, from, bytes);
}

static int ended(const struct myr_ccl *ccl, struct myr_err *err)
{
    return myr_err_set(err, MYR_EREFORM, "epoch %llu has ended", (unsigned long long)ccl->epoch);
}

/* After the first ticket of a call: whether all have made the same one. */
static int compare(struct myr_ccl *ccl, const struct ccl_pass *pass, struct myr_err *err)
{
    uint32_t other = 0;
    while (other < ccl->size && ccl->lines[other][ccl->ticket & 1].sign == pass->sign) {
        other++;
    }
    if (other == ccl->size) {
        return MYR_OK;
    }
    ccl->call_ticket = ccl->ticket; /* it ends here, for all */
    if (ccl_settle(ccl, ccl->ticket) < 0) {
        /* What we have looked at may be of a later epoch. */
        return ended(ccl, err);
    }
    return myr_err_set(err, MYR_EINVAL,
                       "call %llu does not fit together: kind, type, count or root differ, or a "
                       "member's arguments are wrong",
                       (unsigned long long)ccl->calls);
}

static void step(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t at)
{
    uint64_t lag = pass->work ? 2 : 1;
    if (pass->work && at >= 1 && at - 1 < pass->rounds) {
        pass->work(ccl, pass, at - 1);
    }
    if (at >= lag) {
        pass->drain(ccl, pass, at - lag);
    }
    if (at < pass->rounds) {
        pass->fill(ccl, pass, at);
    }
}

static int run(struct myr_ccl *ccl, const struct ccl_pass *pass, int64_t deadline_ns,
               struct myr_err *err)
{
    uint64_t steps = pass->rounds + (pass->work ? 1 : 0);
    ccl->call_ticket = ccl->ticket + steps;
    for (uint64_t at = 0; at < steps; at++) {
        step(ccl, pass, at);
        MYR_TRY(ccl_meet(ccl, pass->sign, deadline_ns, err));
        if (at == 0) {
            MYR_TRY(compare(ccl, pass, err));
        }
    }
    pass->drain(ccl, pass, pass->rounds - 1);
    ccl->round += pass->rounds;
    /* Left out in the meantime, we may have read what is of a later epoch. */
    if (ccl_settle(ccl, ccl->ticket) < 0) {
        return ended(ccl, err);
    }
    return MYR_OK;
}

int ccl_pass_run(struct myr_ccl *ccl, const struct ccl_pass *pass, struct myr_ccl_bound bound,
                 struct myr_err *err)
{
    if (bound.timeout_ns <= 0) {
        return myr_err_set(err, MYR_EINVAL, "a call has a time limit above 0");
    }
    if (bound.epoch != ccl->epoch) {
        return myr_err_set(err, MYR_EREFORM, "epoch %llu is not the present one, %llu",
                           (unsigned long long)bound.epoch, (unsigned long long)ccl->epoch);
    }
    if (ccl->ended || ccl->ticket + pass->rounds >= CCL_TICKET_MAX) {
        ccl->ended = true;
        return ended(ccl, err);
    }
    ccl->calls++;
    int rc = run(ccl, pass, ccl_now(ccl) + bound.timeout_ns, err);
    ccl->ended = rc == MYR_EREFORM;
    return rc;
}
