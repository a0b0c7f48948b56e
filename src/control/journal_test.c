#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "control_fixture.h"
#include "myriad/control/journal.h"
#include "sections.h"

/* A snapshot, and a journal of some life after it. */
struct written {
    struct myr_buf snapshot, journal;
    uint64_t hash;
    size_t records;
    size_t ends[64]; /* of the journal after each record */
};

static void keep(struct fixture *f, struct written *w, struct myr_event event)
{
    f->now_ms += 1000;
    tell(f, event);
    myr_journal_put(f->control, f->now_ms, &event, &w->journal);
    w->ends[++w->records] = w->journal.len;
}

static struct written write_some(void)
{
    struct fixture f = fixture_of(4);
    struct written w = {};
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    myr_control_save(f.control, &w.snapshot);
    myr_journal_begin(f.control, &w.journal);
    w.ends[0] = w.journal.len;
    for (uint32_t n = 0; n < 2; n++) {
        keep(&f, &w,
             (struct myr_event){
                 .kind = MYR_EVENT_STARTED, .node = n, .job = job, .epoch = 1, .boot = 1});
    }
    keep(&f, &w,
         (struct myr_event){.kind = MYR_EVENT_SUBMIT,
                            .spec = {.token = 9, .gpus = 8, .retries = 1, .lease_s = 60}});
    keep(&f, &w,
         (struct myr_event){
             .kind = MYR_EVENT_EXIT, .node = 1, .job = job, .epoch = 1, .boot = 1, .code = 3});
    keep(&f, &w, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 0});
    keep(&f, &w, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 3});
    w.hash = myr_control_hash(f.control);
    myr_control_free(f.control);
    return w;
}

static void written_done(struct written *w)
{
    myr_buf_done(&w->snapshot);
    myr_buf_done(&w->journal);
}

static struct myr_control *load(const struct written *w)
{
    struct myr_control *control;
    struct myr_err err = {};
    struct myr_str bytes = {w->snapshot.data, w->snapshot.len};
    if (myr_control_load(bytes, &control, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return control;
}

static void snapshot_and_journal_give_the_state_back(void **state)
{
    (void)state;
    struct written w = write_some();
    struct myr_control *control = load(&w);
    struct myr_journal_report report;
    struct myr_err err = {};
    int rc =
        myr_journal_replay(control, (struct myr_str){w.journal.data, w.journal.len}, &report, &err);
    assert_int_equal(rc, MYR_OK);
    assert_int_equal(report.records, w.records);
    assert_true(myr_control_hash(control) == w.hash);
    struct myr_buf again = {}, once = {};
    myr_control_save(control, &once);
    struct myr_control *second;
    assert_int_equal(myr_control_load((struct myr_str){once.data, once.len}, &second, NULL),
                     MYR_OK);
    myr_control_save(second, &again);
    assert_int_equal(once.len, again.len);
    assert_memory_equal(once.data, again.data, once.len);
    myr_buf_done(&once);
    myr_buf_done(&again);
    myr_control_free(second);
    myr_control_free(control);
    written_done(&w);
}

/* Whatever was cut off, every record that is whole is there. */
static void a_torn_tail_is_dropped_and_nothing_else(void **state)
{
    (void)state;
    struct written w = write_some();
    for (size_t length = w.ends[0]; length <= w.journal.len; length++) {
        struct myr_control *control = load(&w);
        struct myr_journal_report report;
        int rc =
            myr_journal_replay(control, (struct myr_str){w.journal.data, length}, &report, NULL);
        size_t whole = 0;
        while (whole < w.records && w.ends[whole + 1] <= length) {
            whole++;
        }
        assert_int_equal(rc, MYR_OK);
        assert_int_equal(report.records, whole);
        assert_int_equal(report.torn_bytes, length - w.ends[whole]);
        myr_control_free(control);
    }
    written_done(&w);
}

/* A bit flipped anywhere is an error with its place; never silence, never an abort. */
static void a_flipped_bit_is_an_error_wherever_it_is(void **state)
{
    (void)state;
    struct written w = write_some();
    for (size_t at = 0; at < w.journal.len; at++) {
        struct myr_control *control = load(&w);
        struct myr_journal_report report;
        struct myr_err err = {};
        w.journal.data[at] ^= (char)(1 << at % 8);
        int rc = myr_journal_replay(control, (struct myr_str){w.journal.data, w.journal.len},
                                    &report, &err);
        assert_true(rc < 0);
        assert_non_null(strstr(err.message, "byte"));
        assert_null(strchr(err.message, '\n'));
        w.journal.data[at] ^= (char)(1 << at % 8);
        myr_control_free(control);
    }
    written_done(&w);
}

static void a_damaged_snapshot_is_refused(void **state)
{
    (void)state;
    struct written w = write_some();
    struct myr_control *control;
    for (size_t length = 0; length < w.snapshot.len; length += 7) {
        struct myr_err err = {};
        int rc = myr_control_load((struct myr_str){w.snapshot.data, length}, &control, &err);
        assert_true(rc < 0);
        assert_non_null(strstr(err.message, "cut off"));
    }
    for (size_t at = 0; at < w.snapshot.len; at += 3) {
        w.snapshot.data[at] ^= 0x10;
        assert_true(myr_control_load((struct myr_str){w.snapshot.data, w.snapshot.len}, &control,
                                     NULL) < 0);
        w.snapshot.data[at] ^= 0x10;
    }
    written_done(&w);
}

static void a_journal_of_another_snapshot_or_version_is_refused(void **state)
{
    (void)state;
    struct written w = write_some();
    struct fixture other = fixture_of(4);
    struct myr_journal_report report;
    struct myr_err err = {};
    struct myr_str bytes = {w.journal.data, w.journal.len};
    assert_int_equal(myr_journal_replay(other.control, bytes, &report, &err), MYR_ECORRUPT);
    assert_non_null(strstr(err.message, "does not belong"));
    assert_int_equal(myr_journal_replay(other.control, MYR_STR(""), &report, &err), MYR_ECORRUPT);
    myr_control_free(other.control);
    written_done(&w);
}

/* The same bytes with the first section's version one higher, whole by every checksum. */
static void put_newer(struct myr_str bytes, struct myr_buf *ret)
{
    struct section section;
    struct myr_str data;
    assert_int_equal(section_get(bytes, &section, &data), SECTION_WHOLE);
    section_put(ret, section.tag, section.version + 1, data.data, data.len);
    size_t first = (size_t)(data.data + data.len - bytes.data);
    myr_buf_put(ret, bytes.data + first, bytes.len - first);
}

static void a_version_that_nobody_knows_is_named(void **state)
{
    (void)state;
    struct written w = write_some();
    MYR_CLEANUP(myr_buf_done) struct myr_buf newer = {};
    struct myr_control *control = load(&w), *none = NULL;
    struct myr_journal_report report;
    struct myr_err err = {};
    uint64_t before = myr_control_hash(control);
    put_newer((struct myr_str){w.journal.data, w.journal.len}, &newer);
    assert_int_equal(
        myr_journal_replay(control, (struct myr_str){newer.data, newer.len}, &report, &err),
        MYR_EVERSION);
    assert_non_null(strstr(err.message, "version"));
    assert_null(strchr(err.message, '\n'));
    assert_true(myr_control_hash(control) == before);
    myr_buf_clear(&newer);
    put_newer((struct myr_str){w.snapshot.data, w.snapshot.len}, &newer);
    err = (struct myr_err){};
    assert_int_equal(myr_control_load((struct myr_str){newer.data, newer.len}, &none, &err),
                     MYR_EVERSION);
    assert_non_null(strstr(err.message, "version"));
    assert_null(none);
    myr_control_free(control);
    written_done(&w);
}

/* The journal as another version of the core would have begun it, one byte of a record changed. */
static int replay_of_core(const struct written *w, uint32_t version, size_t changed,
                          struct myr_journal_report *report, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_str rest = {w->journal.data, w->journal.len};
    for (size_t record = 0; rest.len > 0; record++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
        struct section section;
        struct myr_str data;
        assert_int_equal(section_get(rest, &section, &data), SECTION_WHOLE);
        myr_buf_put(&body, data.data, data.len);
        if (record == 0) {
            memcpy(body.data, &version, sizeof(version));
        } else if (record == changed) {
            body.data[24 + 48 + 1]++;
        }
        section_put(&bytes, section.tag, section.version, body.data, body.len);
        size_t used = (size_t)(data.data + data.len - rest.data);
        rest = (struct myr_str){rest.data + used, rest.len - used};
    }
    struct myr_control *control = load(w);
    int rc = myr_journal_replay(control, (struct myr_str){bytes.data, bytes.len}, report, err);
    myr_control_free(control);
    return rc;
}

/* A program is often replaced after it was killed: what it decided stands where we agree with it.
 */
static void an_older_core_is_followed_as_far_as_this_one_agrees(void **state)
{
    (void)state;
    struct written w = write_some();
    struct myr_journal_report report;
    struct myr_err err = {};
    const uint32_t before = MYR_CONTROL_VERSION - 1;
    assert_int_equal(replay_of_core(&w, before, 0, &report, &err), MYR_OK);
    assert_int_equal(report.records, w.records);
    assert_int_equal(report.core_version, before);
    assert_int_equal(replay_of_core(&w, before, 4, &report, &err), MYR_EVERSION);
    assert_non_null(strstr(err.message, "was decided differently by core version"));
    assert_non_null(strstr(err.hint, "let the old version write a snapshot"));
    err = (struct myr_err){};
    assert_int_equal(replay_of_core(&w, MYR_CONTROL_VERSION + 1, 0, &report, &err), MYR_EVERSION);
    assert_int_equal(replay_of_core(&w, 4, 0, &report, &err), MYR_EVERSION);
    assert_non_null(strstr(err.message, "decided by core version 4"));
    written_done(&w);
}

/* The journal's first 'keep' bytes and then others. */
static int replay_with(const struct written *w, size_t keep, const void *tail, size_t length,
                       struct myr_journal_report *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_control *control = load(w);
    myr_buf_put(&bytes, w->journal.data, keep);
    myr_buf_put(&bytes, tail, length);
    int rc = myr_journal_replay(control, (struct myr_str){bytes.data, bytes.len}, ret, err);
    myr_control_free(control);
    return rc;
}

/* A file system may leave zeros where a record was to be; anything else there is damage. */
static void zeros_behind_the_last_record_are_a_torn_tail(void **state)
{
    (void)state;
    struct written w = write_some();
    char tail[200] = {};
    struct myr_journal_report report;
    for (size_t length = 1; length <= sizeof(tail); length += 13) {
        assert_int_equal(replay_with(&w, w.journal.len, tail, length, &report, NULL), MYR_OK);
        assert_int_equal(report.torn_bytes, length);
        assert_int_equal(report.whole_bytes, w.journal.len);
        assert_int_equal(report.records, w.records);
        assert_int_equal(report.last_ms, 1000 * (int64_t)w.records);
    }
    for (size_t at = 0; at < sizeof(tail); at += 7) {
        struct myr_err err = {};
        tail[at] = 1;
        assert_int_equal(replay_with(&w, w.journal.len, tail, sizeof(tail), &report, &err),
                         MYR_ECORRUPT);
        assert_non_null(strstr(err.message, "after 6 good records: it is damaged"));
        tail[at] = 0;
    }
    assert_int_equal(replay_with(&w, 0, tail, sizeof(tail), &report, NULL), MYR_ECORRUPT);
    written_done(&w);
}

/* The record after the first 'keep' bytes with one of its words changed, whole by its checksum. */
static int replay_changed(const struct written *w, size_t record, size_t at, uint64_t add,
                          size_t cut, struct myr_err *err)
{
    struct section section;
    struct myr_str data;
    struct myr_str rest = {w->journal.data + w->ends[record], w->journal.len - w->ends[record]};
    assert_int_equal(section_get(rest, &section, &data), SECTION_WHOLE);
    MYR_CLEANUP(myr_buf_done) struct myr_buf changed = {}, tail = {};
    myr_buf_put(&changed, data.data, data.len);
    for (size_t i = at; add; i++, add >>= 8) {
        changed.data[i] = (char)(changed.data[i] + (char)(add & 0xff));
    }
    section_put(&tail, section.tag, section.version, changed.data, changed.len - cut);
    struct myr_journal_report report;
    int rc = replay_with(w, w->ends[record], tail.data, tail.len, &report, err);
    assert_int_equal(report.records, record);
    assert_int_equal(report.whole_bytes, w->ends[record] + (rc == MYR_OK ? tail.len : 0));
    return rc;
}

static void a_record_that_is_whole_and_wrong_is_refused(void **state)
{
    (void)state;
    struct written w = write_some();
    enum { NUMBER = 0, NOW = 8, EVENT_BYTES = 16, EFFECTS = 20, KIND = 24, NODE = 28 };
    const struct {
        size_t at, cut;
        uint64_t add;
        int rc;
        const char *words;
    } wrong[] = {
        {NUMBER, 0, 1, MYR_ECORRUPT, "follows event"},
        {NOW + 7, 0, 0x40, MYR_ERANGE, "time out of range"},
        {EVENT_BYTES, 0, 1, MYR_ECORRUPT, "a wrong length"},
        {EFFECTS, 0, 1, MYR_ECORRUPT, "a wrong length"},
        {EFFECTS + 3, 0, 1, MYR_ECORRUPT, "a wrong length"},
        {KIND, 0, MYR_EVENT_KINDS, MYR_EINVAL, "of kind"},
        {NODE, 0, 4, MYR_ERANGE, "below 4 is expected"},
        {0, 1, 0, MYR_ECORRUPT, "a wrong length"},
    };
    for (size_t record = 0; record < 6; record++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
            struct myr_err err = {};
            if (record == 2 && wrong[i].at == NODE) {
                continue; /* a submission is about no node */
            }
            int rc = replay_changed(&w, record, wrong[i].at, wrong[i].add, wrong[i].cut, &err);
            if (rc != wrong[i].rc || !strstr(err.message, wrong[i].words)) {
                fail_msg("record %zu, change %zu: %d, %s", record, i, rc, err.message);
            }
        }
    }
    struct myr_err err = {}; /* what was decided then was another thing */
    assert_int_equal(replay_changed(&w, 3, 24 + 48 + 1, 1, 0, &err), MYR_ECORRUPT);
    assert_non_null(strstr(err.message, "was decided differently"));
    MYR_CLEANUP(myr_buf_done) struct myr_buf tail = {};
    struct myr_journal_report report;
    section_put(&tail, SECTION_TAG('E', 'V', 'N', 'T'), 1, "short", 5);
    assert_int_equal(replay_with(&w, w.ends[0], tail.data, tail.len, &report, &err), MYR_ECORRUPT);
    assert_non_null(strstr(err.message, "too short"));
    myr_buf_clear(&tail);
    section_put(&tail, SECTION_TAG('E', 'V', 'N', 'T'), 2, "short", 5);
    assert_int_equal(replay_with(&w, w.ends[0], tail.data, tail.len, &report, &err), MYR_EVERSION);
    myr_buf_clear(&tail);
    section_put(&tail, SECTION_TAG('E', 'V', 'N', 'S'), 1, "short", 5);
    assert_int_equal(replay_with(&w, w.ends[0], tail.data, tail.len, &report, &err), MYR_EVERSION);
    assert_int_equal(replay_with(&w, 0, tail.data, tail.len, &report, &err), MYR_ECORRUPT);
    assert_non_null(strstr(err.message, "this is no journal"));
    assert_int_equal(report.last_ms, -1);
    written_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_that_nobody_knows_is_named),
        cmocka_unit_test(an_older_core_is_followed_as_far_as_this_one_agrees),
        cmocka_unit_test(snapshot_and_journal_give_the_state_back),
        cmocka_unit_test(a_torn_tail_is_dropped_and_nothing_else),
        cmocka_unit_test(a_flipped_bit_is_an_error_wherever_it_is),
        cmocka_unit_test(zeros_behind_the_last_record_are_a_torn_tail),
        cmocka_unit_test(a_record_that_is_whole_and_wrong_is_refused),
        cmocka_unit_test(a_damaged_snapshot_is_refused),
        cmocka_unit_test(a_journal_of_another_snapshot_or_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
