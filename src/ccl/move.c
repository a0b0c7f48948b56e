/*
 * Calls in which each member gives or gets a part of its own, as passes. Where each gives something
 * to each, a stage is cut into as many parts as there are members.
 */
#include "pass.h"

static size_t bytes_of(const struct ccl_pass *pass)
{
    return ccl_type_bytes(pass->type);
}

/* Values of one of a part's rounds. */
static size_t left_of(size_t count, const struct ccl_pass *pass, uint64_t round)
{
    size_t begin = round * pass->round_count;
    size_t left = begin < count ? count - begin : 0;
    return left < pass->round_count ? left : pass->round_count;
}

static void set_rounds(const struct myr_ccl *ccl, struct ccl_pass *pass, size_t count,
                       uint32_t parts)
{
    pass->round_count = ccl->layout.stage_bytes / bytes_of(pass) / parts;
    pass->rounds = count > 0 ? (count - 1) / pass->round_count + 1 : 1;
}

static uint8_t *part_of(const struct myr_ccl *ccl, const struct ccl_pass *pass, uint32_t from,
                        uint32_t to, uint64_t round)
{
    return ccl_stage(ccl, from, round) + to * pass->round_count * bytes_of(pass);
}

/* Where the values of a round lie in the caller's memory, 'at' values from its beginning. */
static uint8_t *into(const struct ccl_pass *pass, size_t at, uint64_t round)
{
    return (uint8_t *)pass->out + (at + round * pass->round_count) * bytes_of(pass);
}

static const uint8_t *from(const struct ccl_pass *pass, size_t at, uint64_t round)
{
    return (const uint8_t *)pass->in + (at + round * pass->round_count) * bytes_of(pass);
}

static int no_group(struct myr_err *err)
{
    return myr_err_set(err, MYR_EINVAL, "no group");
}

static int run(struct myr_ccl *ccl, enum ccl_kind kind, struct ccl_pass *pass, uint32_t parts,
               struct myr_ccl_bound bound, struct myr_err *err)
{
    set_rounds(ccl, pass, pass->count, parts);
    pass->sign = ccl_sign(kind, pass);
    return ccl_pass_run(ccl, pass, bound, err);
}

/* --- broadcast */

static void fill_mine(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    ccl_copy(ccl, ccl_stage(ccl, ccl->rank, round), from(pass, 0, round),
             left_of(pass->count, pass, round) * bytes_of(pass));
}

static void fill_root(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    if (ccl->rank == pass->root) {
        fill_mine(ccl, pass, round);
    }
}

static void drain_root(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    if (ccl->rank != pass->root) {
        ccl_copy(ccl, into(pass, 0, round), ccl_stage(ccl, pass->root, round),
                 left_of(pass->count, pass, round) * bytes_of(pass));
    }
}

int myr_ccl_broadcast(struct myr_ccl *ccl, void *data, size_t count, enum myr_ccl_type type,
                      uint32_t root, struct myr_ccl_bound bound, struct myr_err *err)
{
    size_t bytes;
    if (!ccl) {
        return no_group(err);
    }
    if (ccl_type_bytes(type) == 0 || ccl_total_bytes(count, 1, type, &bytes) < 0 ||
        (count > 0 && !data) || root >= ccl->size) {
        return ccl_pass_refuse(ccl, bound, err, "broadcast needs data, a type and a rank as root");
    }
    struct ccl_pass pass = {.fill = fill_root,
                            .drain = drain_root,
                            .in = data,
                            .out = data,
                            .count = count,
                            .type = type,
                            .root = root};
    return run(ccl, CCL_BROADCAST, &pass, 1, bound, err);
}

/* --- all_gather */

static void drain_each(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    for (uint32_t i = 0; i < ccl->size; i++) {
        ccl_copy(ccl, into(pass, i * pass->count, round), ccl_stage(ccl, i, round),
                 left_of(pass->count, pass, round) * bytes_of(pass));
    }
}

/* Whether 'part' is the caller's own part of 'all', or lies apart from it. */
static bool own_or_apart(const struct myr_ccl *ccl, const void *part, const void *all, size_t bytes)
{
    const uint8_t *own = (const uint8_t *)all + ccl->rank * bytes;
    return part == own || !ccl_overlap(part, bytes, all, bytes * ccl->size);
}

int myr_ccl_all_gather(struct myr_ccl *ccl, const void *in, void *out, size_t count,
                       enum myr_ccl_type type, struct myr_ccl_bound bound, struct myr_err *err)
{
    size_t bytes;
    if (!ccl) {
        return no_group(err);
    }
    if (ccl_type_bytes(type) == 0 || ccl_total_bytes(count, ccl->size, type, &bytes) < 0 ||
        (count > 0 && (!in || !out || !own_or_apart(ccl, in, out, bytes / ccl->size)))) {
        return ccl_pass_refuse(ccl, bound, err,
                               "all_gather needs 'in' apart from 'out', or as the own part of it");
    }
    struct ccl_pass pass = {
        .fill = fill_mine, .drain = drain_each, .in = in, .out = out, .count = count, .type = type};
    return run(ccl, CCL_ALL_GATHER, &pass, 1, bound, err);
}

/* --- reduce_scatter and all_to_all */

static void fill_parts(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    for (uint32_t i = 0; i < ccl->size; i++) {
        ccl_copy(ccl, part_of(ccl, pass, ccl->rank, i, round), from(pass, i * pass->count, round),
                 left_of(pass->count, pass, round) * bytes_of(pass));
    }
}

static void drain_reduced(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    for (uint32_t i = 0; i < ccl->size; i++) {
        ccl->inputs[i] = part_of(ccl, pass, i, ccl->rank, round);
    }
    struct ccl_reduction reduction = {pass->type, pass->op, ccl->inputs,
                                      ccl->size,  0,        left_of(pass->count, pass, round)};
    ccl_point(ccl);
    ccl_reduce(&reduction, into(pass, 0, round));
}

int myr_ccl_reduce_scatter(struct myr_ccl *ccl, const void *in, void *out, size_t count,
                           enum myr_ccl_type type, enum myr_ccl_op op, struct myr_ccl_bound bound,
                           struct myr_err *err)
{
    size_t bytes;
    if (!ccl) {
        return no_group(err);
    }
    if (!ccl_op_fits(type, op) || ccl_total_bytes(count, ccl->size, type, &bytes) < 0 ||
        (count > 0 && (!in || !out || !own_or_apart(ccl, out, in, bytes / ccl->size)))) {
        return ccl_pass_refuse(ccl, bound, err,
                               "reduce_scatter needs an operation of the type, and 'out' apart "
                               "from 'in' or as the own part of it");
    }
    struct ccl_pass pass = {.fill = fill_parts,
                            .drain = drain_reduced,
                            .in = in,
                            .out = out,
                            .count = count,
                            .type = type,
                            .op = op};
    return run(ccl, CCL_REDUCE_SCATTER, &pass, ccl->size, bound, err);
}

static void drain_parts(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    for (uint32_t i = 0; i < ccl->size; i++) {
        ccl_copy(ccl, into(pass, i * pass->count, round), part_of(ccl, pass, i, ccl->rank, round),
                 left_of(pass->count, pass, round) * bytes_of(pass));
    }
}

int myr_ccl_all_to_all(struct myr_ccl *ccl, const void *in, void *out, size_t count,
                       enum myr_ccl_type type, struct myr_ccl_bound bound, struct myr_err *err)
{
    size_t bytes;
    if (!ccl) {
        return no_group(err);
    }
    if (ccl_type_bytes(type) == 0 || ccl_total_bytes(count, ccl->size, type, &bytes) < 0 ||
        (count > 0 && (!in || !out || ccl_overlap(in, bytes, out, bytes)))) {
        return ccl_pass_refuse(ccl, bound, err,
                               "all_to_all needs a type, and 'in' and 'out' apart");
    }
    struct ccl_pass pass = {.fill = fill_parts,
                            .drain = drain_parts,
                            .in = in,
                            .out = out,
                            .count = count,
                            .type = type};
    return run(ccl, CCL_ALL_TO_ALL, &pass, ccl->size, bound, err);
}

/* --- all_to_all_v: first all show all counts, then the values go */

static void fill_counts(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    uint64_t *counts = (uint64_t *)ccl_stage(ccl, ccl->rank, round);
    ccl_point(ccl);
    for (uint32_t i = 0; i < ccl->size; i++) {
        counts[i] = pass->parts[i].in_count;
        counts[ccl->size + i] = pass->parts[i].out_count;
    }
}

/* The largest count, or UINT64_MAX where somebody expects another one than he is given. */
static void drain_counts(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    uint64_t most = 0;
    ccl_point(ccl);
    for (uint32_t i = 0; i < ccl->size; i++) {
        const uint64_t *gives = (const uint64_t *)ccl_stage(ccl, i, round);
        for (uint32_t k = 0; k < ccl->size; k++) {
            const uint64_t *gets = (const uint64_t *)ccl_stage(ccl, k, round) + ccl->size;
            uint64_t count = gives[k] == gets[i] ? gives[k] : UINT64_MAX;
            most = count > most ? count : most;
        }
    }
    *(uint64_t *)pass->out = most;
}

static void fill_v(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    for (uint32_t i = 0; i < ccl->size; i++) {
        size_t count = left_of(pass->parts[i].in_count, pass, round);
        if (count > 0) {
            ccl_copy(ccl, part_of(ccl, pass, ccl->rank, i, round),
                     from(pass, pass->parts[i].in_at, round), count * bytes_of(pass));
        }
    }
}

static void drain_v(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round)
{
    for (uint32_t i = 0; i < ccl->size; i++) {
        size_t count = left_of(pass->parts[i].out_count, pass, round);
        if (count > 0) {
            ccl_copy(ccl, into(pass, pass->parts[i].out_at, round),
                     part_of(ccl, pass, i, ccl->rank, round), count * bytes_of(pass));
        }
    }
}

static bool parts_fit(const struct myr_ccl *ccl, const struct myr_ccl_parts *parts,
                      enum myr_ccl_type type)
{
    for (uint32_t i = 0; parts && i < ccl->size; i++) {
        size_t bytes, in, out;
        if (__builtin_add_overflow(parts[i].in_at, parts[i].in_count, &in) ||
            __builtin_add_overflow(parts[i].out_at, parts[i].out_count, &out) ||
            ccl_total_bytes(in, 1, type, &bytes) < 0 || ccl_total_bytes(out, 1, type, &bytes) < 0) {
            return false;
        }
    }
    return parts;
}

int myr_ccl_all_to_all_v(struct myr_ccl *ccl, const void *in, void *out,
                         const struct myr_ccl_parts *parts, enum myr_ccl_type type,
                         struct myr_ccl_bound bound, struct myr_err *err)
{
    if (!ccl) {
        return no_group(err);
    }
    if (ccl_type_bytes(type) == 0 || !in || !out || in == out || !parts_fit(ccl, parts, type)) {
        return ccl_pass_refuse(ccl, bound, err,
                               "all_to_all_v needs 'in' and 'out' apart, a type, and a part for "
                               "each rank");
    }
    uint64_t most = 0;
    struct ccl_pass counts = {.rounds = 1,
                              .fill = fill_counts,
                              .drain = drain_counts,
                              .out = &most,
                              .type = type,
                              .parts = parts,
                              .goes_on = true};
    counts.sign = ccl_sign(CCL_PARTS, &counts);
    MYR_TRY(ccl_pass_run(ccl, &counts, bound, err));
    if (most == UINT64_MAX) {
        ccl->call_ticket = ccl->ticket;
        return myr_err_set(err, MYR_EINVAL,
                           "all_to_all_v: a member expects another count than "
                           "another one gives it");
    }
    struct ccl_pass pass = {
        .fill = fill_v, .drain = drain_v, .in = in, .out = out, .type = type, .parts = parts};
    set_rounds(ccl, &pass, most, ccl->size);
    pass.sign = ccl_sign(CCL_ALL_TO_ALL_V, &pass);
    return ccl_pass_go_on(ccl, &pass, err);
}
