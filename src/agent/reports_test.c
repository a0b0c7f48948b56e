/* What waits to be said to the controller, while nobody is there to hear it. */
#include "reports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symptoms.h"

static struct session deaf; /* no connection: nothing goes out */

static struct report of(enum myr_wire_type type, uint64_t job, uint32_t epoch)
{
    return (struct report){.type = type, .job = job, .epoch = epoch};
}

static void add(struct reports *reports, enum myr_wire_type type, uint64_t job, uint32_t epoch)
{
    struct report report = of(type, job, epoch);
    reports_add(reports, &report);
}

static void on_acked(void *context, const struct report *report)
{
    myr_buf_printf(context, "%llu.%u ", (unsigned long long)report->job, report->epoch);
}

static void each_is_kept_once_until_it_is_committed(void **state)
{
    (void)state;
    struct reports reports = {.session = &deaf};
    MYR_CLEANUP(myr_buf_done) struct myr_buf acked = {};
    add(&reports, MYR_WIRE_STARTED, 1, 1);
    add(&reports, MYR_WIRE_STARTED, 2, 1);
    add(&reports, MYR_WIRE_STARTED, 1, 2);
    add(&reports, MYR_WIRE_STOPPED, 1, 1);
    add(&reports, MYR_WIRE_STARTED, 1, 1); /* the first again: it goes to the end */
    assert_int_equal(reports.items.count, 4);
    assert_int_equal(reports.items.items[0].job, 2);
    assert_int_equal(reports.items.items[1].epoch, 2);
    assert_int_equal(reports.items.items[2].type, MYR_WIRE_STOPPED);
    assert_int_equal(reports.items.items[3].epoch, 1);
    reports_drop(&reports, MYR_WIRE_EXIT, 2, 1); /* none */
    reports_drop(&reports, MYR_WIRE_STARTED, 2, 2);
    reports_drop(&reports, MYR_WIRE_STARTED, 3, 1);
    assert_int_equal(reports.items.count, 4);
    reports_resend(&reports);
    reports_ack(&reports, 100, on_acked, &acked); /* none was sent */
    assert_int_equal(reports.items.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(reports.items.items[i].sequence, 0);
        reports.items.items[i].sequence = i + 1;
    }
    reports_ack(&reports, 0, on_acked, &acked);
    assert_int_equal(reports.items.count, 4);
    reports_ack(&reports, 2, on_acked, &acked);
    assert_string_equal(acked.data, "2.1 1.2 ");
    assert_int_equal(reports.items.count, 2);
    assert_int_equal(reports.items.items[0].sequence, 3);
    reports_drop(&reports, MYR_WIRE_STOPPED, 1, 1);
    assert_int_equal(reports.items.count, 1);
    assert_int_equal(reports.items.items[0].type, MYR_WIRE_STARTED);
    reports_done(&reports);
}

static void a_controller_that_never_commits_does_not_fill_the_memory(void **state)
{
    (void)state;
    struct reports reports = {.session = &deaf};
    for (uint64_t job = 0; job < 1024; job++) {
        add(&reports, MYR_WIRE_EXIT, job, 1);
    }
    assert_int_equal(reports.items.count, 1024);
    assert_int_equal(reports.items.items[0].job, 0);
    add(&reports, MYR_WIRE_EXIT, 1024, 1);
    assert_int_equal(reports.items.count, 1024);
    assert_int_equal(reports.items.items[0].job, 1); /* the oldest went */
    assert_int_equal(reports.items.items[1023].job, 1024);
    reports_done(&reports);
}

static void lines_of_the_watcher(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool good;
        uint32_t gpu, xid;
    } cases[] = {
        {"xid 3 79", true, 3, 79},
        {"xid 0 0", true, 0, 0},
        {"xid 1024 4294967295", true, 1024, UINT32_MAX},
        {"xid 1025 1", false, 0, 0},
        {"xid 1 4294967296", false, 0, 0},
        {"xid 1", false, 0, 0},
        {"xid  1", false, 0, 0},
        {"xid 1 ", false, 0, 0},
        {"xid a 1", false, 0, 0},
        {"xid 1 a", false, 0, 0},
        {"xid 1 2 3", false, 0, 0},
        {"Xid 1 2", false, 0, 0},
        {"", false, 0, 0},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct symptom symptom = {};
        bool good = symptoms_parse(cases[i].line, &symptom);
        if (good != cases[i].good || symptom.gpu != cases[i].gpu || symptom.xid != cases[i].xid) {
            fail_msg("%s: %d %u %u", cases[i].line, good, symptom.gpu, symptom.xid);
        }
        assert_int_equal(symptom.count, good);
    }
    /* What could not be said waits, in its order. */
    struct symptoms symptoms = {.session = &deaf, .count = 2, .waiting = {{1, 2, 3}, {4, 5, 6}}};
    symptoms_tell(&symptoms);
    assert_int_equal(symptoms.count, 2);
    assert_int_equal(symptoms.waiting[0].xid, 2);
    assert_int_equal(symptoms.waiting[1].count, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_kept_once_until_it_is_committed),
        cmocka_unit_test(a_controller_that_never_commits_does_not_fill_the_memory),
        cmocka_unit_test(lines_of_the_watcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
