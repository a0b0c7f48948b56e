/*
 * What callers see, with members as threads of one process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "myriad/base/rng.h"

#include "group.h"
#include "jobs_test.h"
#include "leaks.h"
#include "reduce.h"

#define MEMBERS_MAX 7

/* The C library keeps stacks of threads that have ended, with what belongs to them. */
long myr_leaks_allowed = MEMBERS_MAX + 1;

#define LONG_NS 60000000000ll

struct group {
    struct myr_ccl_conf conf;
    void (*body)(struct group *group, struct myr_ccl *ccl, uint32_t rank);
    _Atomic uint32_t failures; /* cmocka's own asserts are for its thread alone */
    const void *with;
    struct ccl_shared *memory;
};

#define CHECK(group, holds)                                                 \
    do {                                                                    \
        if (!(holds)) {                                                     \
            print_error("%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
            atomic_fetch_add(&(group)->failures, 1);                        \
        }                                                                   \
    } while (0)

static struct myr_ccl_bound long_bound(const struct myr_ccl *ccl)
{
    struct myr_ccl_view view;
    myr_ccl_view(ccl, &view);
    return (struct myr_ccl_bound){view.epoch, LONG_NS};
}

struct thread {
    pthread_t thread;
    struct group *group;
    uint64_t tag;
};

static void *live(void *context)
{
    struct thread *thread = context;
    struct group *group = thread->group;
    struct myr_ccl_conf conf = group->conf;
    conf.tag = thread->tag;
    struct myr_ccl *ccl;
    struct myr_err err;
    int rc = ccl_create(&conf, NULL, &ccl, &err);
    if (rc == MYR_OK) {
        ccl->shared = group->memory;
        rc = ccl_join_in(ccl, &conf, LONG_NS, &err);
    }
    if (rc < 0) {
        print_error("%s\n", err.message);
        atomic_fetch_add(&group->failures, 1);
        return NULL;
    }
    struct myr_ccl_view view;
    myr_ccl_view(ccl, &view);
    group->body(group, ccl, view.rank);
    /* Who leaves early would end the epoch under the others. */
    rc = myr_ccl_barrier(ccl, long_bound(ccl), NULL);
    (void)rc;
    myr_ccl_leave(ccl);
    return NULL;
}

/* All members see one mapping of the memory: so the thread sanitizer sees what they do to it. */
static void run_group(struct group *group, uint32_t members, uint32_t stage_bytes)
{
    struct ccl_layout layout;
    group->conf.members = members;
    group->conf.places = 2 * members;
    group->conf.stage_bytes = stage_bytes;
    ccl_layout(group->conf.places, stage_bytes, &layout);
    group->memory = aligned_alloc(4096, (layout.total + 4095) / 4096 * 4096);
    memset(group->memory, 0, layout.total);
    ccl_shared_init(group->memory, &group->conf);
    struct thread threads[MEMBERS_MAX];
    for (uint32_t i = 0; i < members; i++) {
        threads[i] = (struct thread){.group = group, .tag = 1000 + i};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, live, &threads[i]), 0);
    }
    for (uint32_t i = 0; i < members; i++) {
        pthread_join(threads[i].thread, NULL);
    }
    free(group->memory);
    assert_int_equal(group->failures, 0);
}

/* --- all kinds of calls */

static void make_jobs(struct group *group, struct myr_ccl *ccl, uint32_t rank)
{
    uint32_t *in = malloc(JOB_VALUES_MAX * sizeof(*in)),
             *out = malloc(JOB_VALUES_MAX * sizeof(*out));
    uint32_t pids[MEMBERS_MAX];
    struct myr_ccl_view view;
    myr_ccl_view(ccl, &view);
    for (uint32_t i = 0; i < view.size; i++) {
        pids[i] = 77 + i;
    }
    for (uint64_t call = 1; call <= 60; call++) {
        struct job job = job_of(*(const uint64_t *)group->with, call, pids, view.size, rank);
        int rc = job_call(&job, ccl, in, out, (struct myr_ccl_bound){view.epoch, LONG_NS});
        CHECK(group, rc == MYR_OK);
        CHECK(group, job_right(&job, out));
        CHECK(group, myr_ccl_calls(ccl) == call);
    }
    free(in);
    free(out);
}

static void every_call_gives_what_it_says(void **state)
{
    (void)state;
    for (uint32_t members = 1; members <= MEMBERS_MAX; members++) {
        uint64_t word = members;
        struct group group = {.body = make_jobs, .with = &word};
        run_group(&group, members, 4096);
    }
}

/* --- the bits of a sum */

#define VALUES 20000

struct sum {
    float in[MEMBERS_MAX][VALUES];
    float expected[VALUES];
    enum myr_ccl_type type;
};

static void add_up(struct group *group, struct myr_ccl *ccl, uint32_t rank)
{
    const struct sum *sum = group->with;
    size_t bytes = ccl_type_bytes(sum->type), count = VALUES * 4 / bytes;
    uint8_t *out = malloc(VALUES * 4);
    int rc = myr_ccl_all_reduce(ccl, sum->in[rank], out, count, sum->type, MYR_CCL_SUM,
                                long_bound(ccl), NULL);
    CHECK(group, rc == MYR_OK);
    CHECK(group, memcmp(out, sum->expected, count * bytes) == 0);
    /* The same through reduce_scatter: another cut of the same values. */
    struct myr_ccl_view view;
    myr_ccl_view(ccl, &view);
    size_t each = count / view.size;
    rc = myr_ccl_reduce_scatter(ccl, sum->in[rank], out, each, sum->type, MYR_CCL_SUM,
                                long_bound(ccl), NULL);
    CHECK(group, rc == MYR_OK);
    CHECK(group,
          memcmp(out, (const uint8_t *)sum->expected + rank * each * bytes, each * bytes) == 0);
    free(out);
}

static void sums_have_the_same_bits_whatever_the_layout(void **state)
{
    (void)state;
    static struct sum sum;
    const enum myr_ccl_type types[] = {MYR_CCL_F32, MYR_CCL_F64, MYR_CCL_BF16, MYR_CCL_F16};
    const uint32_t stages[] = {4096, 8192, 65536};
    struct myr_rng rng;
    myr_rng_init(&rng, 45, 3);
    for (uint32_t members = 2; members <= MEMBERS_MAX; members++) {
        sum.type = types[members % 4];
        const void *inputs[MEMBERS_MAX];
        for (uint32_t i = 0; i < members; i++) {
            for (size_t k = 0; k < VALUES; k++) {
                /* Any bits but those of what is not a number, in each of the types. */
                uint32_t bits = myr_rng_u32(&rng) & 0xbfffbfff;
                memcpy(&sum.in[i][k], &bits, 4);
            }
            inputs[i] = sum.in[i];
        }
        size_t count = VALUES * 4 / ccl_type_bytes(sum.type);
        struct ccl_reduction all = {sum.type, MYR_CCL_SUM, inputs, members, 0, count};
        ccl_reduce(&all, sum.expected);
        for (int i = 0; i < 3; i++) {
            struct group group = {.body = add_up, .with = &sum};
            run_group(&group, members, stages[i]);
        }
    }
}

/* --- wrong use */

static void call_what_does_not_fit(struct group *group, struct myr_ccl *ccl, uint32_t rank)
{
    uint64_t in[4000] = {rank}, out[4000];
    struct myr_ccl_bound bound = long_bound(ccl);
    struct myr_err err;
    int rc =
        myr_ccl_all_reduce(ccl, in, out, 100 + (rank == 1), MYR_CCL_U64, MYR_CCL_SUM, bound, &err);
    CHECK(group, rc == MYR_EINVAL);
    rc = myr_ccl_all_reduce(ccl, in, out, rank == 1 ? 4000 : 4, MYR_CCL_U64, MYR_CCL_SUM, bound,
                            &err);
    CHECK(group, rc == MYR_EINVAL);
    rc = rank == 0 ? myr_ccl_barrier(ccl, bound, &err)
                   : myr_ccl_broadcast(ccl, in, 0, MYR_CCL_F32, 0, bound, &err);
    CHECK(group, rc == MYR_EINVAL);
    rc = myr_ccl_broadcast(ccl, in, 4000, MYR_CCL_U64, rank == 2 ? 1 : 0, bound, &err);
    CHECK(group, rc == MYR_EINVAL);
    /* One member's arguments are wrong: it is told how, the others that something is. */
    rc = myr_ccl_all_reduce(ccl, rank == 1 ? NULL : in, out, 3, MYR_CCL_U64, MYR_CCL_SUM, bound,
                            &err);
    CHECK(group, rc == MYR_EINVAL);
    CHECK(group, (strstr(err.message, "needs 'in' and 'out'") != NULL) == (rank == 1));
    rc = myr_ccl_all_reduce(ccl, in, in + 1, 3, MYR_CCL_U64, MYR_CCL_SUM, bound, &err);
    CHECK(group, rc == MYR_EINVAL);
    rc = myr_ccl_all_reduce(ccl, in, out, SIZE_MAX / 4, MYR_CCL_U64, MYR_CCL_SUM, bound, &err);
    CHECK(group, rc == MYR_EINVAL);
    rc = myr_ccl_all_reduce(ccl, in, out, 1, (enum myr_ccl_type)77, MYR_CCL_SUM, bound, &err);
    CHECK(group, rc == MYR_EINVAL);
    rc = myr_ccl_all_reduce(ccl, in, out, 1, MYR_CCL_F32, MYR_CCL_AND, bound, &err);
    CHECK(group, rc == MYR_EINVAL);
    struct myr_ccl_parts parts[MEMBERS_MAX] = {{1, 0, 1, 0}, {1, 1, 1, 1}, {1, 2, 1, 2}};
    parts[0].out_count = rank == 1 ? 2 : 1;
    rc = myr_ccl_all_to_all_v(ccl, in, out, parts, MYR_CCL_U64, bound, &err);
    CHECK(group, rc == MYR_EINVAL);
    uint64_t value = rank;
    CHECK(group, myr_ccl_agree(ccl, MYR_CCL_SUM, NULL, bound, &err) == MYR_EINVAL);
    CHECK(group, myr_ccl_agree(ccl, MYR_CCL_SUM, &value, bound, &err) == MYR_OK && value == 3);
    struct myr_ccl_bound endless = {bound.epoch, INT64_MAX};
    CHECK(group, myr_ccl_barrier(ccl, endless, &err) == MYR_OK);
    /* Without the others: no call was made. */
    CHECK(group, myr_ccl_barrier(ccl, (struct myr_ccl_bound){bound.epoch, 0}, &err) == MYR_EINVAL);
    bound.epoch++;
    CHECK(group, myr_ccl_barrier(ccl, bound, &err) == MYR_EREFORM);
    CHECK(group, myr_ccl_reform(ccl, NULL, 0, NULL, &err) == MYR_EINVAL);
}

static void calls_that_do_not_fit_end_with_an_error_at_all_and_the_epoch_goes_on(void **state)
{
    (void)state;
    struct group group = {.body = call_what_does_not_fit};
    run_group(&group, 3, 4096);
}

static void groups_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct myr_ccl *ccl = NULL;
    struct myr_err err;
    const struct myr_ccl_conf wrong[] = {
        {.name = "a/b", .members = 1},
        {.name = "", .members = 1},
        {.name = NULL, .members = 1},
        {.name = "collective-test-refused", .members = 0},
        {.name = "collective-test-refused", .members = 4, .places = 3},
        {.name = "collective-test-refused", .members = 4, .places = 1000},
        {.name = "collective-test-refused", .members = 2, .stage_bytes = 100},
        {.name = "collective-test-refused", .members = 2, .stage_bytes = 8200},
        {.name = "collective-test-refused", .members = 1000},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        assert_int_equal(myr_ccl_join(&wrong[i], 1000, &ccl, &err), MYR_EINVAL);
    }
    assert_int_equal(myr_ccl_join(&wrong[0], 0, &ccl, &err), MYR_EINVAL);
    struct myr_ccl_conf alone = {.name = "collective-test-refused", .members = 2};
    assert_int_equal(myr_ccl_join(&alone, 1000000, &ccl, &err), MYR_ESTALLED);
    assert_int_not_equal(access("/dev/shm/myriad-ccl-collective-test-refused", F_OK), 0);
    alone.members = 1;
    assert_int_equal(myr_ccl_join(&alone, LONG_NS, &ccl, &err), MYR_OK);
    struct myr_ccl *other;
    alone.stage_bytes = 8192;
    assert_int_equal(myr_ccl_join(&alone, LONG_NS, &other, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "other sizes"));
    myr_ccl_leave(ccl);
    myr_ccl_leave(NULL);
    assert_int_equal(myr_ccl_barrier(NULL, (struct myr_ccl_bound){1, 1}, &err), MYR_EINVAL);
}

/* --- leaving, and coming in */

static int reform_to(struct myr_ccl *ccl, uint32_t want, struct myr_ccl_view *view)
{
    struct myr_ccl_reform how = {.want = want, .grace_ns = LONG_NS, .join_ns = LONG_NS};
    return myr_ccl_reform(ccl, &how, LONG_NS, view, NULL);
}

/* Rank 1 leaves after a call; another one comes, and takes its rank. */
static void leave_or_stay(struct group *group, struct myr_ccl *ccl, uint32_t rank)
{
    struct myr_ccl_view view;
    struct myr_ccl_member member;
    CHECK(group, myr_ccl_barrier(ccl, long_bound(ccl), NULL) == MYR_OK);
    CHECK(group, myr_ccl_member(ccl, 3, &member, NULL) == MYR_EINVAL);
    CHECK(group, myr_ccl_member(ccl, rank, &member, NULL) == MYR_OK);
    if (rank == 1) {
        return;
    }
    uint64_t tag = member.tag;
    struct myr_err err;
    CHECK(group, myr_ccl_barrier(ccl, long_bound(ccl), &err) == MYR_EREFORM);
    CHECK(group, myr_ccl_calls(ccl) == 2);
    CHECK(group, myr_ccl_barrier(ccl, long_bound(ccl), &err) == MYR_EREFORM);
    CHECK(group, myr_ccl_calls(ccl) == 2); /* was not even begun */
    CHECK(group, reform_to(ccl, 3, &view) == MYR_OK);
    CHECK(group, view.epoch == 2 && view.size == 3 && view.kept == 2 && view.completed == 1);
    CHECK(group, view.rank == rank);
    CHECK(group, myr_ccl_member(ccl, rank, &member, NULL) == MYR_OK && member.tag == tag);
    CHECK(group, myr_ccl_member(ccl, 1, &member, NULL) == MYR_OK && member.tag == 5);
    uint64_t value = rank;
    CHECK(group, myr_ccl_agree(ccl, MYR_CCL_SUM, &value, long_bound(ccl), NULL) == MYR_OK);
    CHECK(group, value == 3);
}

static void *live_and_leave(void *context)
{
    struct thread *thread = context;
    struct myr_ccl_conf conf = thread->group->conf;
    conf.tag = thread->tag;
    struct myr_ccl *ccl;
    struct myr_ccl_view view;
    if (myr_ccl_join(&conf, LONG_NS, &ccl, NULL) < 0) {
        atomic_fetch_add(&thread->group->failures, 1);
        return NULL;
    }
    myr_ccl_view(ccl, &view);
    if (thread->tag == 5) {
        uint64_t value = view.rank;
        CHECK(thread->group, view.kept == 2 && view.rank == 1);
        CHECK(thread->group,
              myr_ccl_agree(ccl, MYR_CCL_SUM, &value, long_bound(ccl), NULL) == MYR_OK);
    } else {
        leave_or_stay(thread->group, ccl, view.rank);
    }
    myr_ccl_leave(ccl);
    return NULL;
}

static void a_call_ends_when_a_member_leaves_and_another_takes_its_rank(void **state)
{
    (void)state;
    struct group group = {.conf = {.name = "collective-test-change", .members = 3}};
    struct thread threads[4];
    for (uint32_t i = 0; i < 3; i++) {
        threads[i] = (struct thread){.group = &group, .tag = 1000 + i};
        assert_int_equal(pthread_create(&threads[i].thread, NULL, live_and_leave, &threads[i]), 0);
    }
    /* Those that are left wait for one more. */
    struct timespec nap = {0, 20000000};
    nanosleep(&nap, NULL);
    threads[3] = (struct thread){.group = &group, .tag = 5};
    assert_int_equal(pthread_create(&threads[3].thread, NULL, live_and_leave, &threads[3]), 0);
    for (uint32_t i = 0; i < 4; i++) {
        pthread_join(threads[i].thread, NULL);
    }
    assert_int_equal(group.failures, 0);
}

/* What programs were compiled against: a library of the same name keeps to it. */
static void the_header_has_the_layout_of_version_0(void **state)
{
    (void)state;
    const size_t found[][2] = {
        {sizeof(struct myr_err), 1284},
        {offsetof(struct myr_err, message), 4},
        {sizeof(struct myr_ccl_conf), 32},
        {offsetof(struct myr_ccl_conf, stage_bytes), 24},
        {sizeof(struct myr_ccl_bound), 16},
        {sizeof(struct myr_ccl_view), 32},
        {offsetof(struct myr_ccl_view, completed), 24},
        {sizeof(struct myr_ccl_member), 32},
        {offsetof(struct myr_ccl_member, last), 24},
        {sizeof(struct myr_ccl_reform), 24},
        {sizeof(struct myr_ccl_parts), 32},
        {MYR_CCL_U64, 9},
        {MYR_CCL_OR, 5},
        {-MYR_EREFORM, 16},
        {-MYR_ESTALE, 11},
        {-MYR_ESTALLED, 10},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(found); i++) {
        assert_int_equal(found[i][0], found[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_has_the_layout_of_version_0),
        cmocka_unit_test(every_call_gives_what_it_says),
        cmocka_unit_test(sums_have_the_same_bits_whatever_the_layout),
        cmocka_unit_test(calls_that_do_not_fit_end_with_an_error_at_all_and_the_epoch_goes_on),
        cmocka_unit_test(groups_that_cannot_be_are_refused),
        cmocka_unit_test(a_call_ends_when_a_member_leaves_and_another_takes_its_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
