/*
 * Jobs that say what their ranks send: the queue keeps a copy of all of it, places ranks as the
 * search does, stores it, and gives it back with the last job that asked for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"
#include "myriad/sched/traffic.h"
#include "queue/queue_fixture.h"
#include "queue/state.h"

static const struct myr_place_shape sixteen = {16, 8, 4, 8};

struct asked {
    struct myr_arena arena;
    struct myr_job_traffic traffic;
    uint64_t exclude;
    struct myr_request request;
};

/* Twelve nodes, three stages of four, and nodes that are left out. */
static void ask(struct asked *a)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.dp = 4;
    layout.pp = 3;
    *a = (struct asked){.exclude = 1U << 5 | 1U << 9};
    myr_arena_init(&a->arena);
    assert_int_equal(myr_job_traffic_of(&layout, NULL, 8, &a->arena, &a->traffic, NULL), MYR_OK);
    a->request = (struct myr_request){
        .nodes = 12, .traffic = &a->traffic, .exclude = &a->exclude, .leaf_max = 4};
}

static struct myr_queue_job job_of(const struct asked *a)
{
    return (struct myr_queue_job){.gpus = 96, .request = &a->request};
}

static void assert_same_traffic(const struct myr_job_traffic *a, const struct myr_job_traffic *b)
{
    assert_ptr_not_equal(a, b);
    assert_int_equal(a->cells, b->cells);
    assert_int_equal(a->gpus_per_cell, b->gpus_per_cell);
    assert_int_equal(a->family_count, b->family_count);
    assert_true(a->inside_bytes == b->inside_bytes && a->between_bytes == b->between_bytes);
    assert_int_equal(a->digit_count, b->digit_count);
    assert_memory_equal(a->digits, b->digits, sizeof(a->digits));
    assert_true(a->family_count >= 2 && a->digit_count >= 2);
    for (uint32_t i = 0; i < a->family_count; i++) {
        const struct myr_traffic_family *x = &a->families[i], *y = &b->families[i];
        assert_int_equal(x->axis, y->axis);
        assert_int_equal(x->members, y->members);
        assert_int_equal(x->digit_bits, y->digit_bits);
        assert_true(x->bytes == y->bytes && x->bytes > 0);
        assert_int_equal(x->group_size, y->group_size);
        assert_int_equal(x->group_count, y->group_count);
        assert_memory_equal(x->offsets, y->offsets, x->group_size * sizeof(uint32_t));
        assert_memory_equal(x->firsts, y->firsts, x->group_count * sizeof(uint32_t));
        assert_ptr_not_equal(x->offsets, y->offsets);
    }
}

static void ranks_lie_as_the_search_lays_them(void **state)
{
    (void)state;
    struct asked a;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *q = queue_with(&sixteen, &policy, plain, 1);
    struct myr_placer *other = myr_placer_create(&sixteen);
    struct myr_share shares[12];
    struct myr_placement best = {.gang = {0, shares}};
    ask(&a);
    uint32_t id = submit(q, 0, job_of(&a));
    assert_int_equal(q->requests.count, 1);
    assert_same_traffic(q->requests.items[0].traffic, &a.traffic);
    assert_true(q->requests.items[0].exclude[0] == a.exclude);
    decide(q, 0, NULL);
    assert_true(runs(q, id));
    assert_true(myr_place_gang(other, &a.request, &best));
    const struct myr_gang *gang = myr_queue_gang(q, id);
    assert_int_equal(gang->count, 12);
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(gang->shares[i].node, best.gang.shares[i].node);
        assert_int_equal(gang->shares[i].gpus, 0xff);
        assert_true(gang->shares[i].node != 5 && gang->shares[i].node != 9);
    }
    myr_placer_free(other);
    myr_arena_done(&a.arena);
    myr_queue_free(q);
}

static void what_was_asked_is_stored_and_goes_with_the_last_job(void **state)
{
    (void)state;
    struct asked a;
    struct myr_buf bytes = {};
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *q = queue_with(&sixteen, &policy, plain, 1), *back = NULL;
    uint32_t first = 0;
    ask(&a);
    struct myr_queue_job job = job_of(&a);
    assert_int_equal(myr_queue_submit_array(q, 0, &job, 3, 3, &first, NULL), MYR_OK);
    assert_int_equal(q->requests.items[0].users, 3);
    decide(q, 0, NULL);
    assert_true(runs(q, first) && !runs(q, first + 1));
    myr_queue_save(q, &bytes);
    assert_int_equal(myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, NULL), MYR_OK);
    assert_true(myr_queue_equal(q, back));
    assert_same_traffic(back->requests.items[0].traffic, &a.traffic);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(back->requests.items[0].users, 3 - i);
        finish(back, 10 + i, first + i);
        decide(back, 10 + i, NULL);
        assert_true(queue_is_sound(back));
    }
    assert_int_equal(back->requests.items[0].users, 0);
    assert_null(back->requests.items[0].traffic);
    assert_int_equal(back->request_free, 0);
    uint32_t again = submit(back, 20, job); /* in the place of the one that is gone */
    assert_int_equal(back->requests.count, 1);
    assert_int_equal(back->request_free, MYR_NONE);
    decide(back, 20, NULL);
    assert_true(runs(back, again));
    myr_buf_done(&bytes);
    myr_arena_done(&a.arena);
    myr_queue_free(back);
    myr_queue_free(q);
}

/* Of sixteen nodes two are left out: who needs more than fourteen would wait for ever. */
static void too_few_nodes_that_suit_are_refused_at_once(void **state)
{
    (void)state;
    static const struct {
        uint32_t nodes, nodes_min;
        int rc;
    } rows[] = {{14, 0, MYR_OK},  {15, 0, MYR_EINVAL}, {16, 0, MYR_EINVAL},
                {15, 14, MYR_OK}, {16, 1, MYR_OK},     {16, 15, MYR_EINVAL}};
    uint64_t exclude = 1U << 5 | 1U << 9;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *q = queue_with(&sixteen, &policy, plain, 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_request request = {.nodes = rows[i].nodes, .exclude = &exclude};
        struct myr_queue_job job = {
            .gpus = rows[i].nodes * 8, .gpus_min = rows[i].nodes_min * 8, .request = &request};
        struct myr_err err = {};
        uint32_t id;
        assert_int_equal(myr_queue_submit(q, 0, &job, &id, &err), rows[i].rc);
        if (rows[i].rc < 0) {
            assert_non_null(strstr(err.message, "nodes, and only 14 would suit it"));
        }
    }
    myr_queue_free(q);
}

/* A search goes through the digits of the caller's layout: there are only so many. */
static void a_layout_of_too_many_digits_is_refused(void **state)
{
    (void)state;
    struct asked a;
    uint32_t id;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *q = queue_with(&sixteen, &policy, plain, 1);
    ask(&a);
    struct myr_queue_job job = {.gpus = 96, .request = &a.request};
    a.traffic.digit_count = MYR_TRAFFIC_DIGITS_MAX + 1;
    assert_int_equal(myr_queue_submit(q, 0, &job, &id, NULL), MYR_EINVAL);
    assert_int_equal(myr_queue_jobs(q), 0);
    myr_arena_done(&a.arena);
    myr_queue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_lie_as_the_search_lays_them),
        cmocka_unit_test(what_was_asked_is_stored_and_goes_with_the_last_job),
        cmocka_unit_test(too_few_nodes_that_suit_are_refused_at_once),
        cmocka_unit_test(a_layout_of_too_many_digits_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
