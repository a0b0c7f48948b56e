/*
 * ccl: collective calls that end, also when a member does not.
 *
 * A group is a number of processes that share memory under a name. Between two changes of its
 * membership lies an epoch; a call belongs to one, is made by all members in the same order, and
 * returns within its time at every member that runs: with MYR_OK and the right result over just the
 * members of the epoch, or with MYR_EREFORM, after which nothing of that epoch completes any more
 * and all are asked to myr_ccl_reform(). What is promised (docs/ccl.md says how, and what holds
 * it):
 *
 *   ends      Every call returns by its time limit, whoever died, was stopped or left.
 *   right     MYR_OK means the result over all members of the epoch, and over nobody else.
 *   one view  Two that were told of the same epoch were told the same members and ranks.
 *   uniform   A call that returned MYR_OK at one member is lost at none that goes on: 'completed'
 *             of the next view is the number of calls of the old epoch that count, the same for
 *             all. If one of them returned MYR_EREFORM, its result is right and in place. So a step
 *             that is applied when its call counts is applied by all or by none.
 *   moves on  As long as 'least' members run and ask for it, reform() forms the next epoch, whoever
 *             dies in the course of it. Nobody leads it.
 *
 * A member is found dead by its process, silent by the time limit of a call. Who is silent but
 * lives is left out, is told so (MYR_ESTALE) when it comes back, and may join again.
 *
 * Sums are formed over a tree of ranks that depends on the number of members alone: the same bits
 * whatever the size of a round or the order of arrival.
 *
 * All memory is claimed by myr_ccl_join(), the only call that returns MYR_ENOMEM. No threads, no
 * globals. One thread at a time per group; a child of fork() must not use its parent's.
 * Bad arguments, and calls that do not fit together (another kind, type or count at another
 * member), give MYR_EINVAL at every member, and the epoch goes on.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "myriad/base/err.h"

#define MYR_CCL_PLACES_MAX 256

enum myr_ccl_type {
    MYR_CCL_F32,
    MYR_CCL_F64,
    MYR_CCL_F16,
    MYR_CCL_BF16, /* both are summed as F32 and rounded once, to even */
    MYR_CCL_I8,
    MYR_CCL_U8,
    MYR_CCL_I32,
    MYR_CCL_U32,
    MYR_CCL_I64,
    MYR_CCL_U64,
    MYR_CCL_TYPES
};

/* Integers wrap around. AND and OR are for integers. */
enum myr_ccl_op {
    MYR_CCL_SUM,
    MYR_CCL_PROD,
    MYR_CCL_MIN,
    MYR_CCL_MAX,
    MYR_CCL_AND,
    MYR_CCL_OR,
    MYR_CCL_OPS
};

struct myr_ccl; /* one process's membership */

struct myr_ccl_conf {
    const char *name;     /* letters, digits, '.', '-' and '_'; the same for all members */
    uint64_t tag;         /* what others see of this member: say, its place in the job */
    uint32_t members;     /* that are to be there before the first epoch begins */
    uint32_t places;      /* for members, joiners and who was left out; 0: twice the members */
    uint32_t stage_bytes; /* of a round through shared memory; 0: 128 KiB */
};

/* In which epoch a call belongs, and how long it may take. Time limits are above 0. */
struct myr_ccl_bound {
    uint64_t epoch;
    int64_t timeout_ns;
};

struct myr_ccl_view {
    uint64_t epoch;
    uint32_t rank, size;
    uint32_t kept;      /* of them, members of the epoch before */
    uint64_t completed; /* calls of the epoch before that count */
};

struct myr_ccl_member {
    uint64_t tag;
    uint32_t pid;
    int64_t waited_ns; /* that this process has waited for it alone, in all epochs */
    uint32_t last;     /* waits that it ended */
};

/*
 * How the next epoch is to be. It begins once all members of this one have come or are gone, and
 * 'want' are there. Members that have not come are waited for 'grace_ns' and then left out; for
 * joiners up to 'want' there is a wait of 'join_ns'. Never with fewer than 'least'. Survivors keep
 * their order; joiners take the ranks of who is missing, and what is left over closes up.
 */
struct myr_ccl_reform {
    uint32_t least, want; /* 0: one, and whoever is there */
    int64_t grace_ns, join_ns;
};

/* Waits until it is a member. 'ret' is to be given to myr_ccl_leave(). */
MYR_MUST_USE int myr_ccl_join(const struct myr_ccl_conf *conf, int64_t timeout_ns,
                              struct myr_ccl **ret, struct myr_err *err);
/* Others see at once that it is gone. NULL is allowed. */
void myr_ccl_leave(struct myr_ccl *ccl);

void myr_ccl_view(const struct myr_ccl *ccl, struct myr_ccl_view *ret);
MYR_MUST_USE int myr_ccl_member(const struct myr_ccl *ccl, uint32_t rank,
                                struct myr_ccl_member *ret, struct myr_err *err);
/* Number of the last call that this process has made in this epoch; the first is 1. */
uint64_t myr_ccl_calls(const struct myr_ccl *ccl);
/*
 * 1 when one member has made all others wait in each of the last three calls, by more than a
 * thirtieth of the time between two calls: 'ret_rank' is its rank. 0 when there is none.
 */
int myr_ccl_slow(const struct myr_ccl *ccl, uint32_t *ret_rank);
/* How many wait to join: a reason to reform between two steps. */
uint32_t myr_ccl_joiners(struct myr_ccl *ccl);

/*
 * Ends the epoch for all and forms the next. MYR_ESTALLED: not formed within the time, may be tried
 * again. MYR_ESTALE: the others have gone on without this process; leave and join again.
 */
MYR_MUST_USE int myr_ccl_reform(struct myr_ccl *ccl, const struct myr_ccl_reform *how,
                                int64_t timeout_ns, struct myr_ccl_view *ret, struct myr_err *err);

/* All members get the reduction of all values; the same at each. */
MYR_MUST_USE int myr_ccl_agree(struct myr_ccl *ccl, enum myr_ccl_op op, uint64_t *value,
                               struct myr_ccl_bound bound, struct myr_err *err);
MYR_MUST_USE int myr_ccl_barrier(struct myr_ccl *ccl, struct myr_ccl_bound bound,
                                 struct myr_err *err);

/*
 * What is in 'out' after an error is undefined. 'in' and 'out' lie apart, or
 *   all_reduce       are the same
 *   reduce_scatter   'out' is the caller's own part of 'in', which has 'count' values for each rank
 *   all_gather       'in' is the caller's own part of 'out', which has 'count' values of each rank
 * all_to_all has 'count' values for each rank in 'in', and of each rank in 'out'.
 */
MYR_MUST_USE int myr_ccl_all_reduce(struct myr_ccl *ccl, const void *in, void *out, size_t count,
                                    enum myr_ccl_type type, enum myr_ccl_op op,
                                    struct myr_ccl_bound bound, struct myr_err *err);
MYR_MUST_USE int myr_ccl_reduce_scatter(struct myr_ccl *ccl, const void *in, void *out,
                                        size_t count, enum myr_ccl_type type, enum myr_ccl_op op,
                                        struct myr_ccl_bound bound, struct myr_err *err);
MYR_MUST_USE int myr_ccl_all_gather(struct myr_ccl *ccl, const void *in, void *out, size_t count,
                                    enum myr_ccl_type type, struct myr_ccl_bound bound,
                                    struct myr_err *err);
MYR_MUST_USE int myr_ccl_broadcast(struct myr_ccl *ccl, void *data, size_t count,
                                   enum myr_ccl_type type, uint32_t root,
                                   struct myr_ccl_bound bound, struct myr_err *err);
MYR_MUST_USE int myr_ccl_all_to_all(struct myr_ccl *ccl, const void *in, void *out, size_t count,
                                    enum myr_ccl_type type, struct myr_ccl_bound bound,
                                    struct myr_err *err);

/* For a rank and of it: how many values, from which on. */
struct myr_ccl_parts {
    size_t in_count, in_at, out_count, out_at;
};

/* 'parts' has one for each rank. What one gives another is what that one expects. */
MYR_MUST_USE int myr_ccl_all_to_all_v(struct myr_ccl *ccl, const void *in, void *out,
                                      const struct myr_ccl_parts *parts, enum myr_ccl_type type,
                                      struct myr_ccl_bound bound, struct myr_err *err);
