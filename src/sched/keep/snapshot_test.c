#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

#include "flat/flat.h"
#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"
#include "place/index.h"
#include "queue/lengths.h"
#include "queue/state.h"

enum { HEAD_BYTES = 16, SECTION_BYTES = 32, CRC_AT = HEAD_BYTES + 16 };

static const struct myr_tenant tenants[] = {{.parent = MYR_NONE, .cells = {1}},
                                            {.parent = MYR_NONE}};

/* Something of everything: running, waiting, claims, holds, a service, a window, an array. */
static struct myr_queue *some_queue(uint32_t nodes)
{
    struct myr_place_shape shape = {nodes, 8, 4, 16};
    struct myr_queue_policy policy = myr_queue_policy_preset(MYR_QUEUE_PREEMPT);
    policy.confirm = true;
    policy.keep_s = 1000;
    policy.stop_after_s = policy.run_min_s = 0;
    struct myr_queue *q = NULL;
    struct myr_err err = {};
    uint32_t id, count;
    assert_int_equal(myr_queue_create(&shape, &policy, tenants, 2, &q, &err), MYR_OK);
    for (uint32_t i = 0; i < 3 * nodes; i++) {
        struct myr_queue_job job = {
            .tenant = i % 2, .gpus = 1 + i * 5 % 16, .priority = (int32_t)(i % 3) - 1};
        assert_int_equal(myr_queue_submit(q, i, &job, &id, &err), MYR_OK);
        (void)myr_queue_decide(q, i, &count);
        if (i % 3 == 0 && myr_queue_state(q, i / 2) == MYR_JOB_STARTING) {
            assert_int_equal(myr_queue_started(q, i, i / 2, 1), MYR_OK);
        }
    }
    struct myr_queue_job member = {.tenant = 1, .gpus = 8};
    assert_int_equal(myr_queue_submit_array(q, 900, &member, 4, 2, &id, &err), MYR_OK);
    struct myr_service service = {.gpus = 8, .replicas_min = 1, .replicas_max = 2, .priority = 2};
    assert_int_equal(myr_queue_serve(q, 901, &service, &id, &err), MYR_OK);
    struct myr_window window = {.first = 1, .count = 1, .start_s = 2000, .end_s = 3000};
    assert_int_equal(myr_queue_maintain(q, &window, &err), MYR_OK);
    (void)myr_queue_decide(q, 902, &count);
    uint32_t lost = 2;
    assert_int_equal(myr_queue_lost(q, 903, &lost, 1), MYR_OK);
    (void)myr_queue_decide(q, 903, &count);
    return q;
}

/* A field that owns memory and has no row, or one that no row covers, is found here. */
static void tables_cover_their_structs(void **state)
{
    (void)state;
    assert_true(flat_covers(&queue_flat));
    assert_true(flat_covers(&placer_flat));
}

static void a_copy_is_equal_until_something_happens(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(12), *copy = NULL;
    myr_queue_copy(q, &copy);
    assert_true(myr_queue_equal(q, copy));
    assert_int_equal(myr_queue_hash(q), myr_queue_hash(copy));
    assert_int_equal(myr_queue_bytes(q), myr_queue_bytes(copy));
    assert_int_equal(myr_queue_fenced(copy, 904, 2), MYR_OK);
    assert_false(myr_queue_equal(q, copy));
    assert_int_not_equal(myr_queue_hash(q), myr_queue_hash(copy));
    myr_queue_copy(q, &copy); /* into memory that was used before */
    assert_true(myr_queue_equal(q, copy));
    myr_queue_free(q);
    myr_queue_free(copy);
}

static void what_was_stored_comes_back(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(12), *back = NULL;
    struct myr_buf bytes = {}, again = {};
    struct myr_err err = {};
    myr_queue_save(q, &bytes);
    assert_int_equal(myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, &err), MYR_OK);
    assert_true(myr_queue_equal(q, back));
    myr_queue_save(back, &again);
    assert_int_equal(bytes.len, again.len);
    assert_memory_equal(bytes.data, again.data, bytes.len);
    myr_queue_free(q);
    myr_queue_free(back);
    myr_buf_done(&bytes);
    myr_buf_done(&again);
}

static void damage_is_refused(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(6), *back = NULL;
    struct myr_buf bytes = {};
    struct myr_err err = {};
    myr_queue_save(q, &bytes);
    for (size_t len = 0; len < bytes.len; len += 1 + len / 16) {
        assert_int_equal(myr_queue_load((struct myr_str){bytes.data, len}, &back, &err),
                         MYR_ECORRUPT);
    }
    /* Nothing may stand behind it, be it a byte or the state once more. */
    struct myr_buf more = {};
    myr_buf_put(&more, bytes.data, bytes.len);
    myr_buf_putc(&more, 0);
    assert_int_equal(myr_queue_load((struct myr_str){more.data, more.len}, &back, &err),
                     MYR_ECORRUPT);
    more.len = bytes.len;
    myr_buf_put(&more, bytes.data + HEAD_BYTES, bytes.len - HEAD_BYTES);
    assert_int_equal(myr_queue_load((struct myr_str){more.data, more.len}, &back, &err),
                     MYR_ECORRUPT);
    myr_buf_done(&more);
    for (size_t at = 0; at < bytes.len; at += 1 + at / 64) {
        bytes.data[at] = (char)(bytes.data[at] ^ 0x10);
        int rc = myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, &err);
        bool is_unused = at >= CRC_AT + 4 && at < CRC_AT + 8;
        assert_true(rc < 0 || is_unused);
        if (rc == MYR_OK) {
            myr_queue_free(back);
        }
        bytes.data[at] = (char)(bytes.data[at] ^ 0x10);
    }
    myr_queue_free(q);
    myr_buf_done(&bytes);
}

/* What was seen of lengths of jobs is held against itself, word by word. */
static void lengths_that_contradict_themselves_are_refused(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct myr_queue *q = some_queue(6);
    struct lengths *l = q->lengths;
    queue_lengths_add(l, 8, 100);
    struct {
        void *at;
        size_t size;
        int64_t good, bad;
    } cases[] = {{&l->counts[3][9], 4, l->counts[3][9], l->counts[3][9] + 1},
                 {&l->totals[3], 4, l->totals[3], l->totals[3] + 1},
                 {&l->told[32], 4, l->totals[32], l->totals[32] + 1},
                 {&l->cost[0][0], 1, LENGTH_BUCKETS, LENGTH_BUCKETS + 1},
                 {&l->cost[32][LENGTH_BUCKETS - 1], 1, LENGTH_BUCKETS, LENGTH_BUCKETS + 1}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        for (int bad = 0; bad < 2; bad++) {
            struct myr_queue *back = NULL;
            struct myr_buf bytes = {};
            int64_t was = 0;
            memcpy(&was, cases[i].at, cases[i].size);
            memcpy(cases[i].at, bad ? &cases[i].bad : &cases[i].good, cases[i].size);
            myr_queue_save(q, &bytes);
            memcpy(cases[i].at, &was, cases[i].size);
            int rc = myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, &err);
            assert_int_equal(rc, bad ? MYR_ECORRUPT : MYR_OK);
            if (rc == MYR_OK) {
                myr_queue_free(back);
            }
            myr_buf_done(&bytes);
        }
    }
    myr_queue_free(q);
}

/* Whether a state can be read back, as it is at this moment. */
static bool is_accepted(const struct myr_queue *q)
{
    struct myr_queue *back = NULL;
    struct myr_buf bytes = {};
    struct myr_err err = {};
    myr_queue_save(q, &bytes);
    int rc = myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, &err);
    assert_true(rc == MYR_OK || rc == MYR_ECORRUPT);
    myr_queue_free(back);
    myr_buf_done(&bytes);
    return rc == MYR_OK;
}

/* Two shares of one node would be taken off it twice, and off the other never. */
static void a_gang_with_two_shares_of_a_node_is_refused(void **state)
{
    (void)state;
    struct myr_place_shape shape = {4, 8, 4, 4};
    struct myr_queue_policy policy = myr_queue_policy_default();
    struct myr_queue *q = NULL;
    uint32_t id, count;
    assert_int_equal(myr_queue_create(&shape, &policy, tenants + 1, 1, &q, NULL), MYR_OK);
    struct myr_queue_job job = {.gpus = 16};
    assert_int_equal(myr_queue_submit(q, 0, &job, &id, NULL), MYR_OK);
    (void)myr_queue_decide(q, 0, &count);
    struct myr_gang *gang = &queue_job(q, id)->gang;
    assert_int_equal(gang->count, 2);
    /* Four GPUs of each node are as good. */
    struct myr_share half[2] = {{gang->shares[0].node, 0x0f}, {gang->shares[1].node, 0x0f}};
    job.gpus = 8;
    queue_count_running(q, &queue_job(q, id)->spec, false);
    queue_job(q, id)->spec.gpus = queue_job(q, id)->wish = 8;
    queue_count_running(q, &queue_job(q, id)->spec, true);
    for (uint32_t i = 0; i < 2; i++) {
        struct myr_share rest = {half[i].node, 0xf0};
        myr_release(q->placer, &(struct myr_gang){1, &rest});
        gang->shares[i] = half[i];
        q->node_job_gpus[half[i].node * 8] = 4;
    }
    assert_true(is_accepted(q));
    /* Both on the first node, and the second lists a job that is not there. */
    myr_release(q->placer, &(struct myr_gang){1, &half[1]});
    myr_place_take(q->placer, half[0].node, 0xf0);
    gang->shares[1] = (struct myr_share){half[0].node, 0xf0};
    assert_false(is_accepted(q));
    myr_queue_free(q);
}

/* What a dependant, an array or an unused place names must be its own. */
static void names_of_others_are_refused(void **state)
{
    (void)state;
    struct myr_place_shape shape = {4, 8, 4, 4};
    struct myr_queue_policy policy = myr_queue_policy_default();
    struct myr_queue *q = NULL;
    uint32_t first, after, array, next, last, count;
    assert_int_equal(myr_queue_create(&shape, &policy, tenants + 1, 1, &q, NULL), MYR_OK);
    struct myr_queue_job job = {.gpus = 8};
    assert_int_equal(myr_queue_submit(q, 0, &job, &first, NULL), MYR_OK);
    job.after_kind = MYR_AFTER_ANY;
    assert_int_equal(myr_queue_submit(q, 0, &job, &after, NULL), MYR_OK);
    assert_int_equal(myr_queue_submit_array(q, 0, &job, 2, 2, &array, NULL), MYR_OK);
    assert_int_equal(myr_queue_submit(q, 0, &job, &next, NULL), MYR_OK);
    assert_int_equal(myr_queue_submit(q, 0, &job, &last, NULL), MYR_OK);
    assert_int_equal(myr_queue_cancel(q, 0, last), MYR_OK);
    (void)myr_queue_decide(q, 0, &count);
    uint32_t slot = q->job_free;
    assert_true(is_accepted(q) && q->dependants.count >= 3 && slot != MYR_NONE);
    assert_int_equal(next, array + 2);
    struct {
        uint32_t *at, bad;
    } cases[] = {{&q->dependants.items[0].job, array},    /* it waits with its array */
                 {&q->dependants.items[0].array, 0},      /* a second time */
                 {&q->arrays.items[0].first, after},      /* others are members then */
                 {&q->arrays.items[0].count, 3},          /* one too many */
                 {&queue_job(q, array)->array, MYR_NONE}, /* one too few */
                 {&q->jobs.items[slot].id, last}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        uint32_t good = *cases[i].at;
        *cases[i].at = cases[i].bad;
        assert_false(is_accepted(q));
        *cases[i].at = good;
    }
    assert_true(is_accepted(q));
    myr_queue_free(q);
}

/* Returns how many names were tried in that place of the node's list. */
static uint32_t expect_own_name_alone(struct myr_queue *q, uint32_t node, uint32_t place)
{
    uint32_t *at = &q->node_jobs[(size_t)node * q->shape.gpus_per_node + place], was = *at;
    for (uint32_t other = 0; other <= q->job_count; other++) {
        *at = other == q->job_count ? MYR_NONE : other;
        if (is_accepted(q) != (*at == was)) {
            fail_msg("node %u, place %u, job %u for %u", node, place, *at, was);
        }
    }
    *at = was;
    return q->job_count + 1;
}

/* Every place of every node's list of jobs, with every other name in it; lists of other lengths. */
static void lists_of_nodes_with_another_job_are_refused(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(6);
    uint32_t per = q->shape.gpus_per_node, changed = 0;
    assert_true(is_accepted(q));
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        uint32_t listed = q->node_job_count[node];
        for (uint32_t i = 0; i < listed; i++) {
            changed += expect_own_name_alone(q, node, i);
        }
        for (uint32_t count = 0; count <= per + 1; count++) {
            q->node_job_count[node] = (uint8_t)count;
            assert_int_equal(is_accepted(q), count == listed);
        }
        q->node_job_count[node] = (uint8_t)listed;
        if (listed) {
            q->node_oldest_s[node]++;
            assert_false(is_accepted(q));
            q->node_oldest_s[node] -= 2;
            assert_false(is_accepted(q));
            q->node_oldest_s[node]++;
        }
    }
    assert_true(is_accepted(q) && changed > 0);
    myr_queue_free(q);
}

/* The first job of a state; the queues of these tests have one of each that is asked for. */
static struct qjob *job_that(struct myr_queue *q, enum myr_job_state state)
{
    for (size_t i = 0; i < q->jobs.count; i++) {
        if (q->jobs.items[i].id != MYR_NONE && q->jobs.items[i].state == state) {
            return &q->jobs.items[i];
        }
    }
    return NULL;
}

/* Nothing began after the present: a wait below 0 is one that the queue relies on never to meet. */
static void what_begins_in_the_future_is_refused(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(6);
    struct qjob *waits = job_that(q, MYR_JOB_WAITS), *runs = job_that(q, MYR_JOB_RUNS);
    assert_true(waits && runs && is_accepted(q));
    struct hold hold = {.job = waits->id, .since_s = q->now_s};
    myr_vec_push(&q->holds, hold);
    assert_int_equal(myr_queue_hold(q, q->now_s, waits->id, true), MYR_OK);
    assert_int_equal(waits->state, MYR_JOB_HELD);
    struct {
        int64_t *at, last, bad;
    } cases[] = {{&waits->held_s, q->now_s, q->now_s + 1},
                 {&waits->since_s, waits->held_s, waits->held_s + 1},
                 {&runs->since_s, 0, -1},
                 {&job_that(q, MYR_JOB_BLOCKED)->since_s, q->now_s, q->now_s + 1},
                 {&q->holds.items[0].since_s, q->now_s, q->now_s + 1},
                 {&q->holds.items[0].idle_gpu_s, 0, -1}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        int64_t was = *cases[i].at;
        *cases[i].at = cases[i].last;
        assert_true(is_accepted(q));
        *cases[i].at = cases[i].bad;
        assert_false(is_accepted(q));
        *cases[i].at = was;
    }
    assert_true(is_accepted(q));
    myr_queue_free(q);
}

/* Where nothing is confirmed nobody is on the way: a finish would end who has only claimed. */
static void who_waits_for_no_confirmation_is_refused(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(6);
    assert_non_null(job_that(q, MYR_JOB_CLAIMS));
    assert_true(is_accepted(q));
    q->policy.confirm = false;
    assert_false(is_accepted(q));
    q->policy.confirm = true;
    myr_queue_free(q);
}

/* A replica that stands twice in its service would be taken out of it twice. */
static void a_replica_named_twice_is_refused(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(6);
    assert_int_equal(myr_queue_scale(q, q->now_s, 0, 2), MYR_OK);
    struct service *service = &q->services.items[0];
    assert_int_equal(service->jobs.count, 2);
    assert_true(is_accepted(q));
    uint32_t second = service->jobs.items[1];
    service->jobs.items[1] = service->jobs.items[0];
    assert_false(is_accepted(q));
    service->jobs.items[1] = second;
    myr_queue_free(q);
}

/* A layout's job waits in an empty queue; NULL when it does not fill its nodes, or has none. */
static struct myr_queue *queue_of_layout(const struct myr_layout *l, uint32_t per)
{
    struct myr_place_shape shape = {32, 8, 4, 16};
    struct myr_queue_policy policy = myr_queue_policy_default();
    struct myr_job_traffic traffic;
    struct myr_queue *q = NULL;
    struct myr_arena arena;
    uint32_t id;
    myr_arena_init(&arena);
    if (myr_job_traffic_of(l, NULL, per, &arena, &traffic, NULL) == MYR_OK &&
        traffic.cells <= shape.nodes && traffic.family_count > 0) {
        struct myr_request request = {
            .nodes = traffic.cells, .gpus_per_node = per, .traffic = &traffic};
        struct myr_queue_job job = {.gpus = traffic.cells * per, .request = &request};
        assert_int_equal(myr_queue_create(&shape, &policy, tenants + 1, 1, &q, NULL), MYR_OK);
        assert_int_equal(myr_queue_submit(q, 0, &job, &id, NULL), MYR_OK);
    }
    myr_arena_done(&arena);
    return q;
}

/* Searches count groups by digits: where these do not say what the members are, it is refused. */
static void check_families(struct myr_queue *q, uint32_t *kinds)
{
    struct myr_job_traffic *t = q->requests.items[0].traffic;
    for (uint32_t f = 0; f < t->family_count; f++) {
        struct myr_traffic_family *family = &t->families[f];
        *kinds |= 1U << family->members;
        uint32_t *const words[] = {&family->digit_bits, &family->firsts[0], &family->offsets[1]};
        for (size_t k = 0; k < 3 && family->members != MYR_MEMBERS_LISTED; k++) {
            uint32_t good = *words[k];
            *words[k] = k == 0 ? 0 : good + 1;
            assert_false(is_accepted(q));
            *words[k] = good;
        }
    }
}

static void traffic_that_contradicts_its_digits_is_refused(void **state)
{
    (void)state;
    uint32_t kinds = 0, tried = 0;
    /* Sizes of axes from a number, and GPUs a node. */
    for (uint32_t i = 0; i < 8 * 8 * 3 * 4 * 2 * 4; i += 7) {
        struct myr_layout l = myr_layout_default();
        l.tp = 1 + i % 8;
        l.pp = 1 + i / 8 % 8;
        l.cp = 1 + i / 64 % 3;
        l.dp = 1 + i / 192 % 4;
        l.vp = 1 + i / 768 % 2;
        struct myr_queue *q = queue_of_layout(&l, 1U << (i / 1536 % 4));
        if (q) {
            tried++;
            assert_true(is_accepted(q));
            check_families(q, &kinds);
            myr_queue_free(q);
        }
    }
    assert_true(tried > 50);
    assert_int_equal(kinds | 1U << MYR_MEMBERS_LISTED,
                     1U << MYR_MEMBERS_ALL | 1U << MYR_MEMBERS_NEIGHBOURS | 1U << MYR_MEMBERS_ENDS |
                         1U << MYR_MEMBERS_LISTED);
}

/* With a checksum that is right: refused, or good enough to work with. */
static void what_was_made_up_does_no_harm(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(6);
    struct myr_buf bytes = {};
    struct myr_err err = {};
    struct myr_rng rng;
    uint32_t refused = 0, rounds = 4000, count;
    myr_queue_save(q, &bytes);
    myr_rng_init(&rng, 5, 5);
    for (uint32_t i = 0; i < rounds; i++) {
        size_t body = HEAD_BYTES + SECTION_BYTES;
        size_t at = body + myr_rng_below(&rng, (uint32_t)(bytes.len - body));
        char was = bytes.data[at];
        bytes.data[at] = (char)(was ^ (1 << myr_rng_below(&rng, 8)));
        uint32_t crc = (uint32_t)crc32_z(0, (const Bytef *)bytes.data + body, bytes.len - body);
        memcpy(bytes.data + CRC_AT, &crc, sizeof(crc));
        struct myr_queue *back = NULL;
        if (myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, &err) < 0) {
            refused++;
        } else {
            for (int64_t t = 903; t < 8000; t += 1000) {
                (void)myr_queue_decide(back, back->now_s > t ? back->now_s : t, &count);
            }
            /* A service puts another in the place of a replica that was cancelled. */
            for (uint32_t id = 0, known = back->job_count; id < known; id++) {
                int rc = myr_queue_cancel(back, back->now_s, id);
                assert_true(rc == MYR_OK || rc == MYR_ESTALE);
            }
            (void)myr_queue_decide(back, back->now_s, &count);
            myr_queue_free(back);
        }
        bytes.data[at] = was;
    }
    assert_true(refused > rounds / 4 && refused < rounds);
    myr_queue_free(q);
    myr_buf_done(&bytes);
}

/* The program before said nothing of places that are kept, and its states are read. */
static void a_state_of_the_version_before_gets_the_default(void **state)
{
    (void)state;
    struct myr_queue *q = some_queue(12), *back = NULL;
    struct myr_buf bytes = {};
    q->policy.mend_s = 0;
    myr_queue_save(q, &bytes);
    const struct myr_str all = {bytes.data, bytes.len};
    assert_int_equal(myr_queue_load(all, &back, NULL), MYR_OK);
    assert_int_equal(back->policy.mend_s, 0);
    myr_queue_free(back);
    for (uint32_t version = 0; version < 5; version++) {
        memcpy(bytes.data + HEAD_BYTES + 4, &version, sizeof(version));
        int rc = myr_queue_load(all, &back, NULL);
        assert_int_equal(rc, version >= 1 && version <= 3 ? MYR_OK : MYR_EVERSION);
        if (rc == MYR_OK) {
            uint32_t expected = version == 1 ? myr_queue_policy_default().mend_s : 0;
            assert_int_equal(back->policy.mend_s, expected);
            myr_queue_free(back);
        }
    }
    myr_queue_free(q);
    myr_buf_done(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_of_the_version_before_gets_the_default),
        cmocka_unit_test(tables_cover_their_structs),
        cmocka_unit_test(a_copy_is_equal_until_something_happens),
        cmocka_unit_test(what_was_stored_comes_back),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(lengths_that_contradict_themselves_are_refused),
        cmocka_unit_test(a_gang_with_two_shares_of_a_node_is_refused),
        cmocka_unit_test(names_of_others_are_refused),
        cmocka_unit_test(lists_of_nodes_with_another_job_are_refused),
        cmocka_unit_test(what_begins_in_the_future_is_refused),
        cmocka_unit_test(who_waits_for_no_confirmation_is_refused),
        cmocka_unit_test(a_replica_named_twice_is_refused),
        cmocka_unit_test(traffic_that_contradicts_its_digits_is_refused),
        cmocka_unit_test(what_was_made_up_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
