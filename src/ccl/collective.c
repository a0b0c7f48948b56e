/*
 * Reductions whose result all members get, as passes.
 */
#include "pass.h"

/* --- values that fit beside the flag, or into the small buffer: all reduce all of them */

static bool is_inline(const struct ccl_pass *pass)
{
    return pass->count * ccl_type_bytes(pass->type) <= CCL_INLINE_MAX;
}

static void *small_of(const struct myr_ccl *ccl, const struct ccl_pass *pass, uint32_t rank,
                      uint32_t ahead)
{
    if (is_inline(pass)) {
        return ccl->lines[rank][(ccl->ticket + ahead) & 1].bytes;
    }
    return ccl_small(ccl, rank, ahead);
}

static void fill_small(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    (void)round;
    ccl_copy(ccl, small_of(ccl, pass, ccl->rank, 1), pass->in,
             pass->count * ccl_type_bytes(pass->type));
}

static void drain_small(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    (void)round;
    for (uint32_t i = 0; i < ccl->size; i++) {
        ccl->inputs[i] = small_of(ccl, pass, i, 0);
    }
    struct ccl_reduction reduction = {pass->type, pass->op, ccl->inputs, ccl->size, 0, pass->count};
    ccl_point(ccl);
    ccl_reduce(&reduction, pass->out);
}

/* --- more: in rounds, each member reduces its share of one */

struct share {
    size_t begin, count; /* in values of the round */
};

static size_t count_of_round(const struct ccl_pass *pass, uint64_t round)
{
    size_t begin = round * pass->round_count;
    return pass->count - begin < pass->round_count ? pass->count - begin : pass->round_count;
}

/* Shares begin at multiples of 64 values, so that no two members write to one line. */
static struct share share_of(const struct myr_ccl *ccl, size_t count, uint32_t rank)
{
    size_t each = (count / ccl->size + 64) / 64 * 64;
    size_t begin = rank * each < count ? rank * each : count;
    size_t left = count - begin;
    return (struct share){begin, left < each ? left : each};
}

static void fill_round(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    size_t bytes = ccl_type_bytes(pass->type);
    const uint8_t *from = (const uint8_t *)pass->in + round * pass->round_count * bytes;
    ccl_copy(ccl, ccl_stage(ccl, ccl->rank, round), from, count_of_round(pass, round) * bytes);
}

static void work_round(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    struct share share = share_of(ccl, count_of_round(pass, round), ccl->rank);
    for (uint32_t i = 0; i < ccl->size; i++) {
        ccl->inputs[i] = ccl_stage(ccl, i, round);
    }
    struct ccl_reduction reduction = {pass->type, pass->op,    ccl->inputs,
                                      ccl->size,  share.begin, share.count};
    ccl_point(ccl);
    ccl_reduce(&reduction, ccl_sums(ccl, ccl->rank, round));
    ccl_point(ccl);
}

static void drain_round(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    size_t bytes = ccl_type_bytes(pass->type);
    uint8_t *to = (uint8_t *)pass->out + round * pass->round_count * bytes;
    for (uint32_t i = 0; i < ccl->size; i++) {
        struct share share = share_of(ccl, count_of_round(pass, round), i);
        ccl_copy(ccl, to + share.begin * bytes, ccl_sums(ccl, i, round), share.count * bytes);
    }
}

static void fill_alone(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    (void)ccl, (void)round;
    if (pass->out != pass->in) {
        memcpy(pass->out, pass->in, pass->count * ccl_type_bytes(pass->type));
    }
}

static int run_reduction(struct myr_ccl *ccl, enum ccl_kind kind, struct ccl_pass *pass,
                         struct myr_ccl_bound bound, struct myr_err *err)
{
    size_t bytes = ccl_type_bytes(pass->type);
    pass->sign = ccl_sign(kind, pass);
    if (ccl->size == 1) {
        pass->rounds = 1;
        pass->fill = fill_alone;
        pass->drain = ccl_pass_nothing;
    } else if (pass->count * bytes <= CCL_SMALL_MAX) {
        pass->rounds = 1;
        pass->fill = fill_small;
        pass->drain = drain_small;
    } else {
        pass->round_count = ccl->layout.stage_bytes / bytes;
        pass->rounds = (pass->count - 1) / pass->round_count + 1;
        pass->fill = fill_round;
        pass->work = work_round;
        pass->drain = drain_round;
    }
    return ccl_pass_run(ccl, pass, bound, err);
}

int myr_ccl_barrier(struct myr_ccl *ccl, struct myr_ccl_bound bound, struct myr_err *err)
{
    if (!ccl) {
        return myr_err_set(err, MYR_EINVAL, "no group");
    }
    struct ccl_pass pass = {.rounds = 1, .fill = ccl_pass_nothing, .drain = ccl_pass_nothing};
    pass.sign = ccl_sign(CCL_BARRIER, &pass);
    return ccl_pass_run(ccl, &pass, bound, err);
}

int myr_ccl_agree(struct myr_ccl *ccl, enum myr_ccl_op op, uint64_t *value,
                  struct myr_ccl_bound bound, struct myr_err *err)
{
    if (!ccl) {
        return myr_err_set(err, MYR_EINVAL, "no group");
    }
    if (!value || !ccl_op_fits(MYR_CCL_U64, op)) {
        return ccl_pass_refuse(ccl, bound, err, "agree takes a value and an operation");
    }
    uint64_t agreed = 0;
    struct ccl_pass pass = {.in = value, .out = &agreed, .count = 1, .type = MYR_CCL_U64, .op = op};
    MYR_TRY(run_reduction(ccl, CCL_AGREE, &pass, bound, err));
    *value = agreed;
    return MYR_OK;
}

int myr_ccl_all_reduce(struct myr_ccl *ccl, const void *in, void *out, size_t count,
                       enum myr_ccl_type type, enum myr_ccl_op op, struct myr_ccl_bound bound,
                       struct myr_err *err)
{
    if (!ccl) {
        return myr_err_set(err, MYR_EINVAL, "no group");
    }
    if (!ccl_op_fits(type, op)) {
        return ccl_pass_refuse(ccl, bound, err,
                               "all_reduce knows no such type, or not this operation on it");
    }
    size_t bytes;
    if (ccl_total_bytes(count, 1, type, &bytes) < 0) {
        return ccl_pass_refuse(ccl, bound, err, "all_reduce of more values than memory holds");
    }
    if (count > 0 && (!in || !out || (in != out && ccl_overlap(in, bytes, out, bytes)))) {
        return ccl_pass_refuse(ccl, bound, err, "all_reduce needs 'in' and 'out', equal or apart");
    }
    struct ccl_pass pass = {.in = in, .out = out, .count = count, .type = type, .op = op};
    return run_reduction(ccl, CCL_ALL_REDUCE, &pass, bound, err);
}
