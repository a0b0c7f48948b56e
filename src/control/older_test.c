/* States that earlier programs have written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "control_fixture.h"
#include "sections.h"
#include "state.h"

/* Jobs as they were written before they could wish anything: without the end of what they ask. */
static void put_as_before(struct myr_str bytes, struct myr_buf *ret)
{
    const size_t plain = offsetof(struct myr_job_spec, wish), spec = sizeof(struct myr_job_spec);
    for (size_t at = 0; at < bytes.len;) {
        struct myr_str data, rest = {bytes.data + at, bytes.len - at};
        struct section section;
        MYR_CLEANUP(myr_buf_done) struct myr_buf jobs = {};
        assert_int_equal(section_get(rest, &section, &data), SECTION_WHOLE);
        at += sizeof(section) + data.len;
        bool of_jobs = section.tag == SECTION_TAG('J', 'O', 'B', 'S');
        for (size_t job = 0; of_jobs && job < data.len; job += sizeof(struct job)) {
            myr_buf_put(&jobs, data.data + job, plain);
            myr_buf_put(&jobs, data.data + job + spec, sizeof(struct job) - spec);
        }
        section_put(ret, section.tag, of_jobs ? 1 : section.version,
                    of_jobs ? jobs.data : data.data, of_jobs ? jobs.len : data.len);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_of_the_first_version_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
