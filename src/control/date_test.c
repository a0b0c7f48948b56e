/*
 * Jobs with a date, in drawn clusters under every policy where others come, run without limits and
 * end: each starts in its minute of the clock, whatever was saved, read, or took over meanwhile,
 * unless nodes are lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "obedient_test.h"

enum { WORLDS = 160, HOUR_MS = 3600000 };

static uint32_t submit(struct world *w, struct myr_job_spec spec)
{
    spec.token = myr_control_jobs(w->control) + UINT64_C(1);
    spec.retries = 10;
    spec.lease_s = 600;
    tell(w, (struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = spec});
    obey(w);
    return myr_control_find(w->control, spec.token);
}

static void draw_cluster(struct world *w, uint64_t seed)
{
    *w = (struct world){.starts = true, .in_turn = true, .now_ms = INT64_C(1700000000000)};
    myr_rng_init(&w->rng, seed, 41);
    uint32_t nodes = 8 + below(w, 24);
    struct myr_place_shape shape = {nodes, 8, 4 + 4 * below(w, 2), nodes};
    struct myr_control_policy policy = myr_control_policy_default();
    policy.queue = myr_queue_policy_preset((enum myr_queue_preset)below(w, 4));
    policy.spares = below(w, 2);
    policy.hang_ms = policy.first_step_ms = INT64_C(30) * 24 * HOUR_MS;
    assert_int_equal(myr_control_create(&shape, &policy, 2, &w->control, NULL), MYR_OK);
    for (uint32_t n = 0; n < nodes; n++) {
        tell(w, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = n, .boot = 1});
        tell(w, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = n, .boot = 1, .epoch = 1});
    }
}

/* Somebody comes, some end, an hour or so passes; or the state is saved, read and taken over. */
static void live(struct world *w, int64_t most_ms)
{
    uint32_t nodes = myr_control_nodes(w->control);
    struct myr_job_spec spec = {.tenant = below(w, 2),
                                .gpus = below(w, 2) ? 1 + below(w, 12) : 8 * (1 + below(w, nodes)),
                                .priority = (int32_t)below(w, 3) - 1,
                                .restart = (uint8_t)below(w, 2),
                                .limit_s = below(w, 2) ? 600 + below(w, 40000) : 0};
    int64_t ms = 1000 * (int64_t)below(w, 5000);
    (void)submit(w, spec);
    for (uint32_t i = 0; i < 3; i++) {
        end_some(w);
    }
    pass(w, ms < most_ms ? ms : most_ms);
    if (below(w, 12) == 0) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
        myr_control_save(w->control, &bytes);
        myr_control_free(w->control);
        struct myr_str saved = {bytes.data, bytes.len};
        struct myr_err err = {};
        if (myr_control_load(saved, &w->control, &err) < 0) {
            fail_msg("%s", err.message);
        }
        w->now_ms += below(w, 600000); /* nobody was there */
        tell(w, (struct myr_event){.kind = MYR_EVENT_TAKEOVER});
        obey(w);
    }
    control_assert(w->control);
}

static void a_date_is_kept_to_the_minute(void **state)
{
    (void)state;
    uint32_t refused = 0, dated = 0;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct world w;
        draw_cluster(&w, seed);
        for (uint32_t i = 0; i < 12; i++) {
            live(&w, HOUR_MS);
        }
        uint32_t nodes = myr_control_nodes(w.control), ids[3];
        int64_t dates_ms[3];
        for (uint32_t i = 0; i < 3; i++) {
            dates_ms[i] = (w.now_ms / 60000 + 30 + below(&w, 40 * 60)) * 60000;
            ids[i] = submit(
                &w, (struct myr_job_spec){.gpus = 8 * (1 + below(&w, nodes - 1)) - below(&w, 2) * 3,
                                          .limit_s = 3600 * (1 + below(&w, 8)),
                                          .date_min = (uint32_t)(dates_ms[i] / 60000)});
            refused += ids[i] == MYR_NONE; /* too much is reserved then */
        }
        for (uint32_t k = 0; k < 60; k++) {
            /* To the next date, and through its minute. */
            for (uint32_t i = 0; i < 3; i++) {
                if (ids[i] != MYR_NONE && w.now_ms < dates_ms[i]) {
                    assert_int_equal(myr_control_job(w.control, ids[i]).state, MYR_CONTROL_QUEUED);
                }
            }
            int64_t most_ms = INT64_MAX;
            for (uint32_t i = 0; i < 3; i++) {
                int64_t left_ms = dates_ms[i] - w.now_ms;
                most_ms =
                    ids[i] != MYR_NONE && left_ms > 0 && left_ms < most_ms ? left_ms : most_ms;
            }
            if (most_ms < 900000) { /* no controller is away over a date here */
                pass(&w, most_ms + 59000);
            } else {
                live(&w, most_ms - 800000);
            }
            for (uint32_t i = 0; i < 3; i++) {
                if (ids[i] != MYR_NONE && w.now_ms >= dates_ms[i] + 59000) {
                    struct myr_control_job job = myr_control_job(w.control, ids[i]);
                    if (job.epoch != 1 || job.state < MYR_CONTROL_STARTING) {
                        fail_msg("seed %llu: job %u of %u GPUs, %u nodes, state %s, %lld s late",
                                 (unsigned long long)seed, ids[i], job.spec.gpus, nodes,
                                 myr_control_job_state_name(job.state),
                                 (long long)(w.now_ms - dates_ms[i]) / 1000);
                    }
                    dated++;
                    ids[i] = MYR_NONE;
                }
            }
        }
        myr_control_free(w.control);
        myr_vec_done(&w.orders);
    }
    print_message("%u dates kept, %u refused\n", dated, refused);
    assert_true(dated > WORLDS && refused > WORLDS / 4);
}

/* Whoever holds a job with a date gives the date up: it waits until it is let go, and no longer. */
static void a_hold_gives_the_date_up(void **state)
{
    (void)state;
    uint32_t held = 0, released = 0;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct world w;
        draw_cluster(&w, seed);
        int64_t date_ms = (w.now_ms / 60000 + 30 + below(&w, 600)) * 60000;
        uint32_t id = submit(&w, (struct myr_job_spec){.gpus = 1 + below(&w, 32),
                                                       .limit_s = 3600,
                                                       .date_min = (uint32_t)(date_ms / 60000)});
        assert_int_not_equal(id, MYR_NONE);
        pass(&w, below(&w, (uint32_t)(date_ms - w.now_ms)));
        bool before = below(&w, 2);
        struct myr_event hold = {.kind = MYR_EVENT_HOLD_JOB, .job = id, .code = 1};
        if (below(&w, 3) == 0) { /* let go at once, it need not be held before */
            hold.code = 0;
            tell(&w, hold);
            pass(&w, 60000);
            released++;
        } else if (before) { /* let go before its date, it starts when it can */
            tell(&w, hold);
            tell(&w, hold);
            hold.code = 0;
            tell(&w, hold);
            pass(&w, 60000);
        } else {
            tell(&w, hold);
            pass(&w, date_ms - w.now_ms + 3600000);
            assert_int_equal(myr_control_job(w.control, id).state, MYR_CONTROL_QUEUED);
            hold.code = 0;
            tell(&w, hold);
            pass(&w, 60000);
        }
        assert_true(myr_control_job(w.control, id).state >= MYR_CONTROL_STARTING);
        assert_int_equal(myr_control_refusals(w.control), 0);
        control_assert(w.control);
        held += before;
        myr_control_free(w.control);
        myr_vec_done(&w.orders);
    }
    assert_true(held > WORLDS / 4 && held < WORLDS * 3 / 4 && released > WORLDS / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_date_is_kept_to_the_minute),
        cmocka_unit_test(a_hold_gives_the_date_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
