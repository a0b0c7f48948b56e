/*
 * States that nobody has lived: one that a cluster came to, with some of its fields changed. What
 * is refused is refused; what is read must take whatever comes, and never end the program, however
 * odd it is: a file may be made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "control_fixture.h"
#include "state.h"

enum { NODES = 5, LIVES = 30, CHANGES = 400, EVENTS = 40 };

/* Anything, from anybody, mostly of what there is. */
static struct myr_event drawn_event(const struct myr_control *c, struct myr_rng *rng)
{
    uint32_t node = myr_rng_below(rng, NODES);
    uint32_t jobs = myr_control_jobs(c), job = jobs ? myr_rng_below(rng, jobs) : 0;
    struct myr_event event = {.kind = (uint8_t)myr_rng_below(rng, MYR_EVENT_KINDS),
                              .code = (uint8_t)(myr_rng_below(rng, 3) ? 0 : myr_rng_below(rng, 4)),
                              .node = node,
                              .job = job,
                              .boot = c->nodes[node].boot,
                              .value = myr_rng_below(rng, 5)};
    event.epoch = jobs ? c->jobs.items[job].epoch : 0;
    if (event.kind == MYR_EVENT_TESTED) {
        event.epoch = c->nodes[node].tests;
    } else if (event.kind == MYR_EVENT_JOIN) {
        event.boot += myr_rng_below(rng, 2);
    } else if (event.kind == MYR_EVENT_SUBMIT) {
        event.spec = (struct myr_job_spec){.token = myr_rng_below(rng, 12),
                                           .gpus = 1 + myr_rng_below(rng, 20),
                                           .restart = (uint8_t)myr_rng_below(rng, MYR_RESTARTS),
                                           .service = myr_rng_below(rng, 4) == 0,
                                           .retries = 2,
                                           .after = myr_rng_below(rng, 3) ? 0 : jobs,
                                           .lease_s = 60};
    }
    return event;
}

/* What is out of range is refused; the time goes on in steps of all sizes. */
static void live(struct myr_control *c, struct myr_rng *rng, uint32_t events)
{
    int64_t now_ms = myr_control_now_ms(c);
    for (uint32_t i = 0; i < events; i++) {
        struct myr_event event = drawn_event(c, rng);
        now_ms += myr_rng_below(rng, 4) ? myr_rng_below(rng, 3000) : myr_rng_below(rng, 100000);
        (void)!myr_control_step(c, now_ms, &event, NULL);
    }
}

/* To something that is near, small, or nothing. */
static void change_bytes(void *bytes, size_t size, struct myr_rng *rng)
{
    uint8_t *at = (uint8_t *)bytes + myr_rng_below(rng, (uint32_t)size);
    const uint8_t values[] = {0, 1, 2, 3, 4, 255, (uint8_t)(*at + 1), (uint8_t)(*at - 1)};
    *at = values[myr_rng_below(rng, MYR_ARRAY_COUNT(values))];
}

/* One byte of a node, a job, a rank, a deadline or the head. */
static void change(struct myr_control *c, struct myr_rng *rng)
{
    switch (myr_rng_below(rng, 8)) {
    case 0:
        change_bytes(&c->head, sizeof(c->head), rng);
        break;
    case 1:
        if (c->timers.count > 0) {
            change_bytes(c->timers.items, c->timers.count * sizeof(*c->timers.items), rng);
        }
        break;
    case 2:
    case 3:
        if (c->ranks.count > 0) {
            change_bytes(c->ranks.items, c->ranks.count * sizeof(*c->ranks.items), rng);
        }
        break;
    case 4:
    case 5:
        if (c->jobs.count > 0) {
            change_bytes(c->jobs.items, c->jobs.count * sizeof(*c->jobs.items), rng);
        }
        break;
    default:
        change_bytes(&c->nodes[myr_rng_below(rng, c->shape.nodes)], sizeof(*c->nodes), rng);
        break;
    }
}

static struct myr_control *reread(const struct myr_control *c)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_control *ret = NULL;
    myr_control_save(c, &bytes);
    return myr_control_load((struct myr_str){bytes.data, bytes.len}, &ret, NULL) < 0 ? NULL : ret;
}

static bool is_read(const struct myr_control *c)
{
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *again = reread(c);
    return again != NULL;
}

static void what_is_read_takes_whatever_comes(void **state)
{
    (void)state;
    uint32_t refused = 0, taken = 0;
    for (uint64_t seed = 0; seed < LIVES; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 1);
        struct fixture f = fixture_of(NODES);
        live(f.control, &rng, EVENTS + myr_rng_below(&rng, 200));
        MYR_CLEANUP(myr_control_cleanup) struct myr_control *same = reread(f.control);
        assert_non_null(same); /* what was lived can be read */
        for (uint32_t i = 0; i < CHANGES; i++) {
            MYR_CLEANUP(myr_control_cleanup) struct myr_control *copy = myr_control_fork(f.control);
            for (uint32_t n = 1 + myr_rng_below(&rng, 3); n > 0; n--) {
                change(copy, &rng);
            }
            MYR_CLEANUP(myr_control_cleanup) struct myr_control *read = reread(copy);
            refused += !read;
            taken += read != NULL;
            if (read) {
                /* Planted: what is checked after every event is of states that were lived. */
                myr_control_plant(read, MYR_PLANTED_LOST_JOB);
                live(read, &rng, EVENTS);
            }
        }
        myr_control_free(f.control);
    }
    /* Both happen, so that both are tested. */
    assert_true(refused > LIVES * CHANGES / 10);
    assert_true(taken > LIVES * CHANGES / 10);
}

/* What the queue knows of new nodes is in the bytes too: a core that reads them decides alike. */
static void a_state_that_has_grown_is_copied_and_read_at_once(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    assert_int_equal(myr_control_grow(f.control, 4, NULL), MYR_OK);
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *copy = myr_control_fork(f.control);
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *again = reread(f.control);
    assert_non_null(again);
    /* It would fit if the nodes that nobody has heard of could be used. */
    const struct myr_event large = {.kind = MYR_EVENT_SUBMIT, .spec = {.token = 7, .gpus = 24}};
    struct myr_control *all[] = {f.control, copy, again};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        assert_int_equal(myr_control_step(all[i], f.now_ms + 1000, &large, NULL), MYR_OK);
        assert_int_equal(myr_control_job(all[i], 0).state, MYR_CONTROL_QUEUED);
        assert_int_equal(myr_control_refusals(all[i]), 0);
        assert_int_equal(myr_control_hash(all[i]), myr_control_hash(f.control));
    }
    myr_control_free(f.control);
}

/* The core would refuse what the queue gives out, and the queue would give it out again. */
static void nodes_that_the_queue_alone_would_use_are_refused(void **state)
{
    (void)state;
    for (uint32_t node = 0; node < 2; node++) {
        struct fixture f = fixture_of(2);
        int64_t now_s = f.control->head.steady_ms / 1000;
        tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = node});
        assert_true(f.control->nodes[node].shut && is_read(f.control));
        assert_int_equal(myr_queue_drain(f.control->queue, now_s, node, false), MYR_OK);
        assert_false(is_read(f.control));
        myr_control_free(f.control);
    }
}

/* An event's number never comes again: one that is written last must not be followed by 0. */
static void events_that_could_not_be_counted_on_are_refused(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    f.control->head.events = INT64_MAX;
    assert_true(is_read(f.control));
    f.control->head.events = UINT64_MAX;
    assert_false(is_read(f.control));
    myr_control_free(f.control);
}

/* What starts there in place would be ordered of a boot that never was. */
static void ranks_on_a_node_that_was_never_heard_are_refused(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
    struct myr_control_rank rank;
    assert_int_equal(myr_control_job_ranks(f.control, job, &rank, 1), 1);
    say(&f, MYR_EVENT_STARTED, rank.node, job, 1, 0);
    say(&f, MYR_EVENT_EXIT, rank.node, job, 1, 1);
    /* Nothing runs there; the job keeps its place until the test is in. */
    assert_int_equal(f.control->nodes[rank.node].rank_count, 0);
    assert_int_not_equal(f.control->nodes[rank.node].first_rank, MYR_NONE);
    assert_true(is_read(f.control));
    f.control->nodes[rank.node].boot = 0;
    assert_false(is_read(f.control));
    myr_control_free(f.control);
}

/*
 * The queue hears of a cancellation at once, and forgets who waited for that job; here the job is
 * over when its last rank is known to be gone, and so are they.
 */
static void who_waits_for_a_job_that_is_being_cancelled_is_read(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    uint32_t job = submit(&f, 8, MYR_RESTART_EPOCH);
    struct myr_control_rank rank;
    assert_int_equal(myr_control_job_ranks(f.control, job, &rank, 1), 1);
    say(&f, MYR_EVENT_STARTED, rank.node, job, 1, 0);
    for (uint32_t i = 0; i < 2; i++) { /* the second waits for the first of them */
        tell(&f, (struct myr_event){
                     .kind = MYR_EVENT_SUBMIT,
                     .spec = {.token = i + 1, .gpus = 8, .lease_s = 600, .after = job + 1 + i}});
    }
    /* The queue does not wait for an epoch job's ranks on a node that is given up; the core does.
     */
    tell(&f,
         (struct myr_event){
             .kind = MYR_EVENT_SYMPTOM, .node = rank.node, .boot = 1, .code = MYR_SYMPTOM_FAILED});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = job});
    wait_ms(&f, 600000);
    (void)submit(&f, 8, MYR_RESTART_STRICT); /* the queue looks at its clock when it is told */
    struct myr_job_view view;
    for (uint32_t i = 1; i <= 2; i++) {
        assert_int_equal(myr_queue_view(f.control->queue, job + i, &view), MYR_ENOENT);
        assert_int_equal(myr_control_job(f.control, job + i).state, MYR_CONTROL_QUEUED);
    }
    assert_true(is_read(f.control));
    while (myr_control_job_ranks(f.control, job, &rank, 1) > 0) {
        say(&f, MYR_EVENT_STOPPED, rank.node, job, rank.epoch, 0);
    }
    for (uint32_t i = 0; i <= 2; i++) {
        assert_int_equal(myr_control_job(f.control, job + i).state, MYR_CONTROL_CANCELLED);
    }
    assert_int_equal(myr_control_refusals(f.control), 0);
    assert_true(is_read(f.control));
    f.control->jobs.items[job + 1].state = MYR_CONTROL_QUEUED; /* for nothing it does not wait */
    f.control->jobs.items[job + 1].spec.after = 0;
    assert_false(is_read(f.control));
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_the_queue_alone_would_use_are_refused),
        cmocka_unit_test(a_state_that_has_grown_is_copied_and_read_at_once),
        cmocka_unit_test(who_waits_for_a_job_that_is_being_cancelled_is_read),
        cmocka_unit_test(events_that_could_not_be_counted_on_are_refused),
        cmocka_unit_test(ranks_on_a_node_that_was_never_heard_are_refused),
        cmocka_unit_test(what_is_read_takes_whatever_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
