/*
 * jobs: calls of all kinds for the tests of the protocol. What is called, with how many values and
 * with which ones, follows from a word that all members know (of epoch and number of the call) and
 * from the members' process numbers: so every result tells over whom it was formed.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "myriad/ccl.h"

#define JOB_VALUES_MAX 4096

enum job_kind { REDUCE, REDUCE_IN_PLACE, SCATTER, GATHER, BROADCAST, TO_ALL, TO_ALL_V, BARRIER };

struct job {
    enum job_kind kind;
    uint64_t word;
    size_t count;
    uint32_t size, rank;
    const uint32_t *pids; /* by rank */
};

static inline uint32_t job_mix(uint64_t a, uint64_t b)
{
    uint64_t mixed = (a * 0x9e3779b97f4a7c15ull ^ b) * 0xbf58476d1ce4e5b9ull;
    return (uint32_t)((mixed ^ mixed >> 29) * 0x94d049bb133111ebull >> 32);
}

static inline uint32_t job_value(const struct job *job, uint32_t rank, size_t index)
{
    return job_mix(job->pids[rank], job->word + index % 61 + index / 61 % 7 * 64);
}

/* Beside the flag, in the small buffer, in one round, and in several. */
static inline struct job job_of(uint64_t epoch, uint64_t call, const uint32_t *pids, uint32_t size,
                                uint32_t rank)
{
    static const size_t counts[] = {1, 5, 40, 700, 1024, 1100, 3000};
    uint64_t word = epoch << 32 ^ call << 12;
    uint32_t drawn = job_mix(word, 1);
    struct job job = {.kind = (enum job_kind)(drawn % 8), .word = word, .size = size};
    job.rank = rank;
    job.pids = pids;
    job.count = counts[drawn / 8 % MYR_ARRAY_COUNT(counts)];
    if (job.kind == SCATTER || job.kind == GATHER || job.kind == TO_ALL || job.kind == TO_ALL_V) {
        job.count = job.count / size + 1;
    }
    return job;
}

static inline uint32_t job_root(const struct job *job)
{
    return job_mix(job->word, 2) % job->size;
}

/* Of all_to_all_v: how much one gives another, and where that lies with the giver and the taker. */
static inline size_t job_given(const struct job *job, uint32_t from, uint32_t to)
{
    return job_mix(job->word, from << 8 | to) % (job->count + 1);
}

static inline size_t job_in_at(const struct job *job, uint32_t from, uint32_t to)
{
    size_t at = 0;
    for (uint32_t i = 0; i < to; i++) {
        at += job_given(job, from, i);
    }
    return at;
}

static inline size_t job_out_at(const struct job *job, uint32_t from, uint32_t to)
{
    size_t at = 0;
    for (uint32_t i = 0; i < from; i++) {
        at += job_given(job, i, to);
    }
    return at;
}

static inline int job_call_v(const struct job *job, struct myr_ccl *ccl, const uint32_t *in,
                             uint32_t *out, struct myr_ccl_bound bound)
{
    struct myr_ccl_parts parts[MYR_CCL_PLACES_MAX];
    for (uint32_t i = 0; i < job->size; i++) {
        parts[i] =
            (struct myr_ccl_parts){job_given(job, job->rank, i), job_in_at(job, job->rank, i),
                                   job_given(job, i, job->rank), job_out_at(job, i, job->rank)};
    }
    return myr_ccl_all_to_all_v(ccl, in, out, parts, MYR_CCL_U32, bound, NULL);
}

/* 'in' and 'out' hold JOB_VALUES_MAX; the result is in 'out'. */
static inline int job_call(const struct job *job, struct myr_ccl *ccl, uint32_t *in, uint32_t *out,
                           struct myr_ccl_bound bound)
{
    for (size_t i = 0; i < JOB_VALUES_MAX; i++) {
        in[i] = job_value(job, job->rank, i);
    }
    memset(out, 0, JOB_VALUES_MAX * sizeof(*out));
    size_t n = job->count;
    switch (job->kind) {
    case REDUCE:
        return myr_ccl_all_reduce(ccl, in, out, n, MYR_CCL_U32, MYR_CCL_SUM, bound, NULL);
    case REDUCE_IN_PLACE:
        memcpy(out, in, n * sizeof(*out));
        return myr_ccl_all_reduce(ccl, out, out, n, MYR_CCL_U32, MYR_CCL_SUM, bound, NULL);
    case SCATTER:
        return myr_ccl_reduce_scatter(ccl, in, out, n, MYR_CCL_U32, MYR_CCL_SUM, bound, NULL);
    case GATHER:
        return myr_ccl_all_gather(ccl, in, out, n, MYR_CCL_U32, bound, NULL);
    case BROADCAST:
        memcpy(out, in, n * sizeof(*out));
        return myr_ccl_broadcast(ccl, out, n, MYR_CCL_U32, job_root(job), bound, NULL);
    case TO_ALL:
        return myr_ccl_all_to_all(ccl, in, out, n, MYR_CCL_U32, bound, NULL);
    case TO_ALL_V:
        return job_call_v(job, ccl, in, out, bound);
    default:
        return myr_ccl_barrier(ccl, bound, NULL);
    }
}

static inline uint32_t job_sum(const struct job *job, size_t index)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < job->size; i++) {
        sum += job_value(job, i, index);
    }
    return sum;
}

/* What the k-th value that is got of a rank has to be. */
static inline uint32_t job_expected(const struct job *job, uint32_t of, size_t k)
{
    switch (job->kind) {
    case REDUCE:
    case REDUCE_IN_PLACE:
        return job_sum(job, k);
    case SCATTER:
        return job_sum(job, job->rank * job->count + k);
    case BROADCAST:
        return job_value(job, job_root(job), k);
    case TO_ALL:
        return job_value(job, of, job->rank * job->count + k);
    case TO_ALL_V:
        return job_value(job, of, job_in_at(job, of, job->rank) + k);
    default:
        return job_value(job, of, k);
    }
}

static inline bool job_right(const struct job *job, const uint32_t *out)
{
    bool of_each = job->kind == GATHER || job->kind == TO_ALL || job->kind == TO_ALL_V;
    for (uint32_t of = 0; of < (of_each ? job->size : 1) && job->kind != BARRIER; of++) {
        size_t at = of * job->count, count = job->count;
        if (job->kind == TO_ALL_V) {
            at = job_out_at(job, of, job->rank);
            count = job_given(job, of, job->rank);
        }
        for (size_t k = 0; k < count; k++) {
            if (out[at + k] != job_expected(job, of, k)) {
                return false;
            }
        }
    }
    return true;
}
