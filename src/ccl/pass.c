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

static int ended(const struct myr_ccl *ccl, struct myr_err *err)
{
    return myr_err_set(err, MYR_EREFORM, "epoch %llu has ended", (unsigned long long)ccl->epoch);
}

/* Whose arrival all have waited for, as far as one stands out. */
static void note_arrivals(struct myr_ccl *ccl)
{
    struct ccl_arrivals arrivals = {0};
    for (uint32_t i = 0; i < ccl->size; i++) {
        ccl_arrivals_add(&arrivals, i, ccl->lines[i][ccl->ticket & 1].stamp);
    }
    ccl_blame_note(&ccl->blame, &arrivals);
}

/* After the first ticket of a pass: whether all have made the same one. */
static int compare(struct myr_ccl *ccl, const struct ccl_pass *pass, struct myr_err *err)
{
    uint32_t other = 0;
    while (other < ccl->size && ccl->lines[other][ccl->ticket & 1].sign == pass->sign) {
        other++;
    }
    if (other == ccl->size) {
        note_arrivals(ccl);
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

static int run(struct myr_ccl *ccl, const struct ccl_pass *pass, struct myr_err *err)
{
    uint64_t steps = pass->rounds + (pass->work ? 1 : 0);
    ccl->call_ticket = pass->goes_on ? UINT64_MAX : ccl->ticket + steps;
    for (uint64_t at = 0; at < steps; at++) {
        /* Slow steps may use up the time without any wait that is too long. */
        if (at > 0 && ccl_now(ccl) >= ccl->deadline_ns) {
            ccl_revoke(ccl, ccl->epoch);
            return ended(ccl, err);
        }
        step(ccl, pass, at);
        MYR_TRY(ccl_meet(ccl, pass->sign, ccl->deadline_ns, err));
        if (at == 0) {
            MYR_TRY(compare(ccl, pass, err));
        }
    }
    pass->drain(ccl, pass, pass->rounds - 1);
    ccl->round += pass->rounds;
    /* Left out in the meantime, we may have read what is of a later epoch. */
    return ccl_settle(ccl, ccl->ticket) < 0 ? ended(ccl, err) : MYR_OK;
}

int ccl_pass_go_on(struct myr_ccl *ccl, const struct ccl_pass *pass, struct myr_err *err)
{
    if (ccl->ticket + pass->rounds >= CCL_TICKET_MAX) {
        ccl_revoke(ccl, ccl->epoch);
        ccl->ended = true;
        return ended(ccl, err);
    }
    int rc = run(ccl, pass, err);
    ccl->ended = rc == MYR_EREFORM;
    return rc;
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
    if (ccl->ended) {
        return ended(ccl, err);
    }
    ccl->calls++;
    ccl->call_ticket = UINT64_MAX; /* until it is known */
    ccl->begun_ns = ccl_now(ccl);
    ccl->deadline_ns = ccl_later(ccl->begun_ns, bound.timeout_ns);
    return ccl_pass_go_on(ccl, pass, err);
}

void ccl_pass_nothing(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    (void)ccl, (void)pass, (void)round;
}

int ccl_pass_refuse(struct myr_ccl *ccl, struct myr_ccl_bound bound, struct myr_err *err,
                    const char *why)
{
    struct ccl_pass pass = {
        .count = ccl->rank, .rounds = 1, .fill = ccl_pass_nothing, .drain = ccl_pass_nothing};
    pass.sign = ccl_sign(CCL_WRONG, &pass);
    int rc = ccl_pass_run(ccl, &pass, bound, err);
    return rc == MYR_OK || rc == MYR_EINVAL ? myr_err_set(err, MYR_EINVAL, "%s", why) : rc;
}

uint64_t ccl_sign(enum ccl_kind kind, const struct ccl_pass *pass)
{
    uint64_t sign = (uint64_t)kind << 56 ^ (uint64_t)pass->type << 48 ^ (uint64_t)pass->op << 40;
    sign ^= (uint64_t)pass->root << 24;
    return (sign ^ pass->count) * 0x9e3779b97f4a7c15ull;
}

int ccl_total_bytes(size_t count, uint32_t size, enum myr_ccl_type type, size_t *ret)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, ccl_type_bytes(type) * size, &bytes) || bytes > PTRDIFF_MAX) {
        return MYR_EINVAL;
    }
    *ret = bytes;
    return MYR_OK;
}

bool ccl_overlap(const void *in, size_t in_bytes, const void *out, size_t out_bytes)
{
    uintptr_t a = (uintptr_t)in, b = (uintptr_t)out;
    return a < b + out_bytes && b < a + in_bytes;
}
