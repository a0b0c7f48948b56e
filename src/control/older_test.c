/* States that earlier programs have written, and states that are old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "control_fixture.h"
#include "sections.h"
#include "state.h"

/* Jobs as they were written before they could wish anything, and before they were forgotten. */
static void put_as_before(struct myr_str bytes, struct myr_buf *ret)
{
    const size_t plain = offsetof(struct myr_job_spec, wish), spec = sizeof(struct myr_job_spec);
    const size_t end = offsetof(struct job, id), head = offsetof(struct control_head, job_count);
    for (size_t at = 0; at < bytes.len;) {
        struct myr_str data, rest = {bytes.data + at, bytes.len - at};
        struct section section;
        MYR_CLEANUP(myr_buf_done) struct myr_buf jobs = {};
        assert_int_equal(section_get(rest, &section, &data), SECTION_WHOLE);
        at += sizeof(section) + data.len;
        bool of_jobs = section.tag == SECTION_TAG('J', 'O', 'B', 'S');
        for (size_t job = 0; of_jobs && job < data.len; job += sizeof(struct job)) {
            myr_buf_put(&jobs, data.data + job, plain);
            myr_buf_put(&jobs, data.data + job + spec, end - spec);
        }
        bool of_head = section.tag == SECTION_TAG('H', 'E', 'A', 'D');
        section_put(ret, section.tag, of_jobs || of_head ? 1 : section.version,
                    of_jobs ? jobs.data : data.data,
                    of_jobs   ? jobs.len
                    : of_head ? head
                              : data.len);
    }
}

static void jobs_of_the_first_version_are_read(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 16, MYR_RESTART_EPOCH);
    (void)submit(&f, 32, MYR_RESTART_STRICT); /* waits */
    say(&f, MYR_EVENT_STARTED, 0, job, 1, 0);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 0});
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {}, before = {};
    struct myr_control *again = NULL;
    struct myr_err err = {};
    myr_control_save(f.control, &bytes);
    put_as_before((struct myr_str){bytes.data, bytes.len}, &before);
    assert_true(before.len < bytes.len);
    if (myr_control_load((struct myr_str){before.data, before.len}, &again, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_true(myr_control_hash(again) == myr_control_hash(f.control));
    myr_control_free(again);
    myr_control_free(f.control);
}

/* So many come and go; any number with MYRIAD_JOBS. */
static uint32_t jobs_to_forget(void)
{
    uint64_t jobs = 20000;
    const char *word = getenv("MYRIAD_JOBS");
    assert_true(!word || myr_str_to_u64(myr_str_from(word), &jobs));
    assert_in_range(jobs, 5000, 100000000);
    return (uint32_t)jobs;
}

/* However many jobs come and go, a state is as large as what goes on in it. */
static void jobs_that_are_over_are_forgotten(void **state)
{
    (void)state;
    const uint32_t all = jobs_to_forget();
    struct fixture f = fixture_of(4);
    uint32_t stays = submit(&f, 8, MYR_RESTART_STRICT);
    size_t most = 0, early = 0;
    struct myr_buf bytes = {};
    for (uint32_t i = 0; i < all; i++, wait_ms(&f, 1000)) {
        struct myr_control_rank rank;
        uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
        assert_int_equal(myr_control_job_ranks(f.control, job, &rank, 1), 1);
        say(&f, MYR_EVENT_STARTED, rank.node, job, 1, 0);
        say(&f, MYR_EVENT_EXIT, rank.node, job, 1, 0);
        assert_false(myr_control_job(f.control, job).forgotten); /* its end can be asked for */
        assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_DONE);
        if (i == all / 5) {
            myr_control_save(f.control, &bytes);
            early = bytes.len + 300 * sizeof(struct job); /* they are forgotten by the hundred */
            print_message("%zu B after %u jobs\n", bytes.len, i);
            myr_buf_clear(&bytes);
        }
        most = f.control->jobs.count > most ? f.control->jobs.count : most;
    }
    assert_in_range(most, 2, 1100);
    assert_false(myr_control_job(f.control, stays).forgotten);
    struct myr_control_job old = myr_control_job(f.control, stays + 1);
    assert_true(old.forgotten && old.state == MYR_CONTROL_DONE);
    assert_int_equal(myr_control_job_ranks(f.control, stays + 1, NULL, 0), 0);
    assert_int_equal(myr_control_find(f.control, stays + 101), MYR_NONE);
    /* What is late about it changes nothing but the time. */
    say(&f, MYR_EVENT_EXIT, 0, stays + 1, 1, 1);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = stays + 1});
    assert_int_equal(myr_control_refusals(f.control), 0);
    struct myr_control *again = NULL, *copy = myr_control_fork(f.control);
    struct myr_err err = {};
    myr_control_save(f.control, &bytes);
    print_message("%zu B after %u jobs\n", bytes.len, all);
    assert_in_range(bytes.len, 1, early + all / 8); /* the queue's list of forgotten pages */
    assert_int_equal(myr_control_load((struct myr_str){bytes.data, bytes.len}, &again, &err), 0);
    assert_true(myr_control_hash(again) == myr_control_hash(f.control));
    assert_true(myr_control_hash(copy) == myr_control_hash(f.control));
    assert_int_equal(myr_control_jobs(again), all + 1);
    myr_control_free(copy);
    myr_control_free(again);
    myr_buf_done(&bytes);
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_of_the_first_version_are_read),
        cmocka_unit_test(jobs_that_are_over_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
