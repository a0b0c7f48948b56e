#include "myriad/sim/compare.h"

#include <math.h>
#include <stdlib.h>

/* Figures of one name side by side. */

const char *const myr_result_groups[MYR_RESULT_GROUPS] = {"run", "job", "flow", "point"};

void myr_results_done(struct myr_results *results)
{
    myr_vec_done(&results->figures);
}

/* The change as a part of 'a'; from nothing to something is 1, for nothing can be divided by. */
static double part_of(double a, double b)
{
    if (fabs(b - a) <= 0) {
        return 0;
    }
    return fabs(a) > 0 ? (b - a) / fabs(a) : 1;
}

/* The sum over all pairs; what is in one file only has no part, and cannot be the worst. */
static void judge(struct myr_results_difference *ret, const struct myr_result_pair *pair)
{
    ret->beyond += pair->beyond;
    ret->only_a += pair->only_a;
    ret->only_b += pair->only_b;
    if (!pair->only_a && !pair->only_b && fabs(pair->part) > fabs(ret->worst)) {
        ret->worst = pair->part;
    }
}

/* A figure's whole name; flows and points that are alike are told apart by their readers. */
static struct myr_str key_of(struct myr_buf *buf, const struct myr_result_figure *figure)
{
    myr_buf_clear(buf);
    myr_buf_printf(buf, "%u\n%s\n%s", figure->group, figure->of, figure->name);
    return (struct myr_str){buf->data, buf->len};
}

/* Maps borrow their keys. The first of two with one name stays: readers number what is twice. */
static void add_key(struct myr_strmap *map, struct myr_arena *arena, struct myr_str key, size_t at)
{
    const char *copy = myr_arena_strndup(arena, key.data, key.len);
    (void)!myr_strmap_add(map, (struct myr_str){copy, key.len}, (uint32_t)at);
}

/*
 * Pairs in the order of the first file, then what only the second has. There are at most as many as
 * both files have figures: that is when no name is in both.
 */
int myr_results_compare(struct myr_results_difference *ret, struct myr_arena *arena,
                        const struct myr_results *a, const struct myr_results *b, double tolerance,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_strmap_done) struct myr_strmap known = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    size_t most = a->figures.count + b->figures.count;
    *ret = (struct myr_results_difference){};
    if (a->kind != b->kind) {
        return myr_err_set(err, MYR_EINVAL,
                           "the first file is %s, the second %s; two of one kind "
                           "are expected",
                           myr_results_kinds[a->kind], myr_results_kinds[b->kind]);
    }
    ret->pairs = MYR_ARENA_NEW(arena, struct myr_result_pair, most);
    for (size_t i = 0; i < b->figures.count; i++) {
        add_key(&known, arena, key_of(&key, &b->figures.items[i]), i);
    }
    /* One more than there are: a file without figures has memory too. */
    MYR_CLEANUP(myr_free_at) bool *met = myr_xcalloc(b->figures.count, sizeof(*met));
    for (size_t i = 0; i < a->figures.count; i++) {
        const struct myr_result_figure *one = &a->figures.items[i];
        uint32_t at = myr_strmap_get(&known, key_of(&key, one));
        struct myr_result_pair pair = {
            .group = one->group, .of = one->of, .name = one->name, .a = one->value};
        pair.only_a = pair.beyond = at == MYR_MAP_NONE;
        if (!pair.only_a) {
            met[at] = true;
            pair.b = b->figures.items[at].value;
            pair.part = part_of(pair.a, pair.b);
            /* A product, not part_of(): where 'a' is 0 every change is beyond. */
            pair.beyond = fabs(pair.b - pair.a) > tolerance * fabs(pair.a);
        }
        judge(ret, &pair);
        ret->pairs[ret->count++] = pair;
    }
    for (size_t i = 0; i < b->figures.count; i++) {
        const struct myr_result_figure *one = &b->figures.items[i];
        if (!met[i]) {
            struct myr_result_pair pair = {.group = one->group,
                                           .of = one->of,
                                           .name = one->name,
                                           .b = one->value,
                                           .only_b = true,
                                           .beyond = true};
            judge(ret, &pair);
            ret->pairs[ret->count++] = pair;
        }
    }
    return MYR_OK;
}

/* What is in one file only first, then by how far apart. */
static int by_part(const void *a, const void *b)
{
    const struct myr_result_pair *left = *(const struct myr_result_pair *const *)a;
    const struct myr_result_pair *right = *(const struct myr_result_pair *const *)b;
    double far_left = left->only_a || left->only_b ? INFINITY : fabs(left->part);
    double far_right = right->only_a || right->only_b ? INFINITY : fabs(right->part);
    if (far_left < far_right || far_left > far_right) {
        return far_left > far_right ? -1 : 1;
    }
    /* Equals stay in the order of the files: qsort itself promises none. */
    return left < right ? -1 : left > right;
}

/*
 * Figures of the run and its jobs are always listed, in their order; of flows and points only those
 * that differ, or all, the farthest apart first and at most 'most'.
 */
uint32_t myr_results_listed(const struct myr_results_difference *found, struct myr_arena *arena,
                            bool all, uint64_t most, const struct myr_result_pair ***ret,
                            uint32_t *ret_left_out)
{
    const struct myr_result_pair **list =
        MYR_ARENA_NEW(arena, const struct myr_result_pair *, found->count);
    uint32_t few = 0, count;
    for (uint32_t i = 0; i < found->count; i++) {
        enum myr_result_group group = found->pairs[i].group;
        if (group == MYR_RESULT_RUN || group == MYR_RESULT_JOB) {
            list[few++] = &found->pairs[i];
        }
    }
    count = few;
    for (uint32_t i = 0; i < found->count; i++) {
        enum myr_result_group group = found->pairs[i].group;
        bool many = group == MYR_RESULT_FLOW || group == MYR_RESULT_POINT;
        if (many && (found->pairs[i].beyond || all)) {
            list[count++] = &found->pairs[i];
        }
    }
    qsort(list + few, count - few, sizeof(*list), by_part);
    uint32_t kept = count - few < most ? count - few : (uint32_t)most;
    *ret = list;
    *ret_left_out = count - few - kept;
    return few + kept;
}
