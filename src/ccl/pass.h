/*
 * pass: one collective call as rounds through shared memory.
 *
 * In each round every member fills a buffer of its own with a piece of what it gives, may then work
 * on what all have filled, and drains the results into the caller's memory. Of three rounds under
 * way one is filled, one worked on and one drained between two tickets, so there is one ticket a
 * round and two buffers are enough: what step t writes was last read in step t - 1 at the latest,
 * which all have left when step t begins. What remains after the last ticket is read from memory
 * that nobody writes before all have begun another call: so the call is complete with that ticket,
 * whoever dies after it.
 */
#pragma once

#include "group.h"
#include "reduce.h"

struct ccl_pass {
    uint64_t sign;   /* what all members must agree on */
    uint64_t rounds; /* at least one */
    void (*fill)(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round);
    void (*work)(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round); /* or NULL */
    void (*drain)(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round);
    const void *in;
    void *out;
    size_t count; /* of values, in all */
    size_t round_count;
    enum myr_ccl_type type;
    enum myr_ccl_op op;
    uint32_t root;
    const struct myr_ccl_parts *parts; /* of all_to_all_v */
    bool goes_on; /* the call is not complete with it: another pass of the same call follows */
};

/* One call. */
int ccl_pass_run(struct myr_ccl *ccl, const struct ccl_pass *pass, struct myr_ccl_bound bound,
                 struct myr_err *err);
/* What follows on a pass that goes on, in the same call and by the same time. */
int ccl_pass_go_on(struct myr_ccl *ccl, const struct ccl_pass *pass, struct myr_err *err);
/* The others wait for a call that cannot be made: it is made as one that fits to none. */
int ccl_pass_refuse(struct myr_ccl *ccl, struct myr_ccl_bound bound, struct myr_err *err,
                    const char *why);
void ccl_pass_nothing(struct myr_ccl *ccl, const struct ccl_pass *pass, uint64_t round);

enum ccl_kind {
    CCL_BARRIER,
    CCL_AGREE,
    CCL_ALL_REDUCE,
    CCL_REDUCE_SCATTER,
    CCL_ALL_GATHER,
    CCL_BROADCAST,
    CCL_ALL_TO_ALL,
    CCL_PARTS,
    CCL_ALL_TO_ALL_V,
    CCL_WRONG
};

/* All of a pass that must be the same at every member, in a word. */
uint64_t ccl_sign(enum ccl_kind kind, const struct ccl_pass *pass);
/* MYR_EINVAL when 'count' values of the type are more than memory can hold. */
int ccl_total_bytes(size_t count, uint32_t size, enum myr_ccl_type type, size_t *ret);
bool ccl_overlap(const void *in, size_t in_bytes, const void *out, size_t out_bytes);

/* Buffers of a round of this call. */
uint8_t *ccl_stage(const struct myr_ccl *ccl, uint32_t rank, uint64_t round);
uint8_t *ccl_sums(const struct myr_ccl *ccl, uint32_t rank, uint64_t round);
/* The small one of the ticket that is taken next (or was taken last, 'ahead' 0). */
uint8_t *ccl_small(const struct myr_ccl *ccl, uint32_t rank, uint32_t ahead);
