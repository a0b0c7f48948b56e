/*
 * Lives of a small cluster as texts (tests/control). Lines that begin at the margin are events;
 * under each stands, indented, everything that the core wants done at once, in its order, and when
 * it asks to be woken. The events of a text are played, and the very same text is expected back; so
 * is it from a core that was saved and loaded before each event, and from a copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control_fixture.h"

/* No two deadlines are alike: a text tells which of them has passed. */
static struct fixture cluster(uint32_t nodes, bool preempt)
{
    struct fixture f = {};
    struct myr_place_shape shape = {nodes, 8, 4, nodes};
    struct myr_control_policy policy = myr_control_policy_default();
    policy.queue = myr_queue_policy_preset(preempt ? MYR_QUEUE_PREEMPT : MYR_QUEUE_FAIR);
    policy.start_window_ms = 100000;
    policy.first_step_ms = 130000;
    policy.retry_ms = 7000;
    policy.suspect_ms = 5000;
    policy.reconnect_ms = 11000;
    policy.hang_ms = 60000;
    policy.test_ms = 20000;
    policy.fence_retry_ms = 9000;
    policy.clock_slack_ms = 3000;
    policy.drain_permille = 250;
    policy.restarts_in_place = 1;
    policy.grace_s = 45;
    assert_int_equal(myr_control_create(&shape, &policy, 1, &f.control, NULL), MYR_OK);
    return f;
}

static void put_effect(struct myr_buf *buf, const struct myr_effect *e)
{
    myr_buf_printf(buf, "  %s", myr_effect_kind_name((enum myr_effect_kind)e->kind));
    if (e->node != MYR_NONE) {
        myr_buf_printf(buf, " n%u", e->node);
    }
    if (e->job != MYR_NONE) {
        myr_buf_printf(buf, " j%u.%u", e->job, e->epoch);
    }
    switch ((enum myr_effect_kind)e->kind) {
    case MYR_EFFECT_START:
        myr_buf_printf(buf, " gpus %" PRIx64 " after %u of %u, lease %u, boot %u", e->gpus,
                       e->first_rank, e->world, e->grace_s, e->boot);
        break;
    case MYR_EFFECT_STOP:
        myr_buf_printf(buf, " grace %u, boot %u", e->grace_s, e->boot);
        break;
    case MYR_EFFECT_TEST:
        myr_buf_printf(buf, " #%u %s, boot %u", e->epoch, e->reason ? "again" : "first", e->boot);
        break;
    case MYR_EFFECT_FENCE:
    case MYR_EFFECT_REPAIR:
        myr_buf_printf(buf, " boot %u", e->boot);
        break;
    case MYR_EFFECT_NOTIFY:
        myr_buf_printf(buf, " %s", e->reason == MYR_NOTICE_WINDOW ? "window" : "limit");
        break;
    case MYR_EFFECT_ACCEPT:
        myr_buf_printf(buf, " %s, token %" PRIu64, e->state ? "yes" : "no", e->gpus);
        break;
    case MYR_EFFECT_GRANT:
    case MYR_EFFECT_RELEASE:
        myr_buf_printf(buf, " gpus %" PRIx64, e->gpus);
        break;
    case MYR_EFFECT_JOB:
        myr_buf_printf(buf, " %s",
                       myr_control_job_state_name((enum myr_control_job_state)e->state));
        break;
    case MYR_EFFECT_NODE:
        myr_buf_printf(buf, " %s, boot %u", myr_node_state_name((enum myr_node_state)e->state),
                       e->boot);
        break;
    case MYR_EFFECT_KINDS:
        break;
    }
    myr_buf_printf(buf, "\n");
}

/* An event's line: its name, and up to six numbers. */
struct spoken {
    char name[16];
    int64_t n[6];
};

static enum myr_event_kind kind_of(const char *name)
{
    for (uint32_t kind = 0; kind < MYR_EVENT_KINDS; kind++) {
        if (strcmp(name, myr_event_kind_name((enum myr_event_kind)kind)) == 0) {
            return (enum myr_event_kind)kind;
        }
    }
    fail_msg("no event '%s'", name);
    return MYR_EVENT_KINDS;
}

/* About a node: its number, then what belongs to the kind. */
static struct myr_event event_of_node(const struct fixture *f, enum myr_event_kind kind,
                                      const int64_t *n)
{
    struct myr_event event = {.kind = (uint8_t)kind,
                              .node = (uint32_t)n[0],
                              .boot = myr_control_node(f->control, (uint32_t)n[0]).boot};
    if (kind >= MYR_EVENT_STARTED && kind <= MYR_EVENT_STEP) { /* job, epoch, code or steps */
        event.job = (uint32_t)n[1];
        event.epoch = (uint32_t)n[2];
        event.code = kind == MYR_EVENT_STEP ? 0 : (uint8_t)n[3];
        event.value = n[3];
        event.saved = n[4];
    } else if (kind == MYR_EVENT_TESTED) { /* which test, code */
        event.epoch = (uint32_t)n[1];
        event.code = (uint8_t)n[2];
    } else if (kind == MYR_EVENT_JOIN) {
        event.boot = (uint32_t)n[1];
    } else if (kind == MYR_EVENT_MAINTAIN) { /* count, start, end, drain */
        event.count = (uint32_t)n[1];
        event.value = n[2];
        event.end_s = n[3];
        event.saved = n[4];
    } else { /* code; how many boots ago */
        event.code = (uint8_t)n[1];
        event.boot -= (uint32_t)n[2];
    }
    return event;
}

static struct myr_event event_of(struct fixture *f, const struct spoken *s)
{
    const int64_t *n = s->n;
    if (strcmp(s->name, "wait") == 0) { /* as a controller does, tick by tick */
        int64_t end_ms = f->now_ms + n[0];
        for (int64_t wake_ms; (wake_ms = myr_control_wake_ms(f->control)) < end_ms;) {
            f->now_ms = wake_ms > f->now_ms ? wake_ms : f->now_ms + 1;
            tell(f, (struct myr_event){.kind = MYR_EVENT_TICK});
        }
        f->now_ms = end_ms;
        return (struct myr_event){.kind = MYR_EVENT_TICK};
    }
    enum myr_event_kind kind = kind_of(s->name);
    struct myr_event event = {.kind = (uint8_t)kind};
    if (kind == MYR_EVENT_TICK) {
        f->now_ms += n[0];
    } else if (kind == MYR_EVENT_SUBMIT) { /* gpus, restart, retries, priority, lease, limit */
        event.spec = (struct myr_job_spec){.token = 100 + myr_control_jobs(f->control),
                                           .gpus = (uint32_t)n[0],
                                           .restart = (uint8_t)n[1],
                                           .retries = (uint32_t)n[2],
                                           .priority = (int32_t)n[3],
                                           .lease_s = n[4] ? (uint32_t)n[4] : 30,
                                           .limit_s = n[5]};
    } else if (kind == MYR_EVENT_CANCEL) {
        event.job = (uint32_t)n[0];
    } else if (kind == MYR_EVENT_APPROVE) {
        event.value = n[0];
    } else if (kind != MYR_EVENT_TAKEOVER) {
        event = event_of_node(f, kind, n);
    }
    return event;
}

static void put_answer(struct fixture *f, struct myr_buf *buf)
{
    uint32_t count;
    const struct myr_effect *effects = myr_control_effects(f->control, &count);
    for (uint32_t i = 0; i < count; i++) {
        put_effect(buf, &effects[i]);
    }
    int64_t wake_ms = myr_control_wake_ms(f->control);
    if (wake_ms == INT64_MAX) {
        myr_buf_printf(buf, "  asleep, %u free\n", myr_control_free_gpus(f->control));
    } else {
        myr_buf_printf(buf, "  wakes in %" PRId64 ", %u free\n", wake_ms - f->now_ms,
                       myr_control_free_gpus(f->control));
    }
}

/* "nodes N": a cluster that nobody has heard of; "sound N": one that is up and tested. */
static bool begins(struct fixture *f, const struct spoken *s)
{
    bool sound = strcmp(s->name, "sound") == 0;
    if (!sound && strcmp(s->name, "nodes") != 0) {
        return false;
    }
    *f = cluster((uint32_t)s->n[0], s->n[1] != 0);
    for (uint32_t n = 0; sound && n < (uint32_t)s->n[0]; n++) {
        tell(f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = n, .boot = 1});
        tell(f, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = n, .boot = 1, .epoch = 1});
    }
    return true;
}

enum mode { AS_IT_IS, LOADED, FORKED };

/* Another core in its place, which knows nothing but what the first one handed on. */
static void replace(struct fixture *f, enum mode mode)
{
    struct myr_control *other = NULL;
    if (mode == LOADED) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
        struct myr_err err = {};
        myr_control_save(f->control, &bytes);
        if (myr_control_load((struct myr_str){bytes.data, bytes.len}, &other, &err) < 0) {
            fail_msg("%s", err.message);
        }
    } else if (mode == FORKED) {
        other = myr_control_fork(f->control);
    }
    if (other) {
        assert_true(myr_control_hash(other) == myr_control_hash(f->control));
        assert_int_equal(myr_control_refusals(f->control), 0);
        myr_control_free(f->control);
        f->control = other;
    }
}

static void read_line(struct myr_str line, struct spoken *ret)
{
    for (size_t word = 0; line.len > 0; word++) {
        const char *blank = memchr(line.data, ' ', line.len);
        size_t length = blank ? (size_t)(blank - line.data) : line.len;
        if (word == 0) {
            assert_true(length < sizeof(ret->name));
            memcpy(ret->name, line.data, length);
        } else {
            assert_true(word <= MYR_ARRAY_COUNT(ret->n));
            assert_true(myr_str_to_i64((struct myr_str){line.data, length}, &ret->n[word - 1]));
        }
        size_t used = length + (blank ? 1 : 0);
        line = (struct myr_str){line.data + used, line.len - used};
    }
}

static void play(const char *text, enum mode mode, struct myr_buf *ret)
{
    struct fixture f = {};
    for (const char *line = text, *next; *line; line = next) {
        next = strchr(line, '\n') + 1;
        struct spoken s = {};
        if (*line == ' ') {
            continue;
        }
        myr_buf_put(ret, line, (size_t)(next - line));
        if (*line == '#') {
            continue;
        }
        read_line((struct myr_str){line, (size_t)(next - line) - 1}, &s);
        if (begins(&f, &s)) {
            continue;
        }
        replace(&f, mode);
        tell(&f, event_of(&f, &s));
        put_answer(&f, ret);
    }
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

static void a_text_comes_back_as_it_is(void **state)
{
    const char *name = *state;
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/control/%s.txt", MYR_SOURCE_DIR, name);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    assert_int_equal(myr_file_read(path, 1 << 20, &text, NULL), MYR_OK);
    assert_true(text.len > 0 && text.data[text.len - 1] == '\n');
    myr_buf_putc(&text, '\0');
    for (uint32_t mode = AS_IT_IS; mode <= FORKED; mode++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
        play(text.data, (enum mode)mode, &told);
        myr_buf_putc(&told, '\0');
        if (mode == AS_IT_IS && getenv("MYRIAD_TEST_REWRITE")) { /* and the diff is read */
            told.len--;
            assert_int_equal(myr_file_write(path, &told, NULL), MYR_OK);
            return;
        }
        if (strcmp(text.data, told.data) != 0) {
            size_t at = 0, line = 0;
            for (; text.data[at] == told.data[at]; at++) {
                line = text.data[at] == '\n' ? at + 1 : line;
            }
            print_error("tests/control/%s.txt, mode %u, expected:\n%.300s\n\nwas told:\n%.300s\n",
                        name, mode, text.data + line, told.data + line);
            fail();
        }
    }
}

#define LIFE(name)                                                   \
    {                                                                \
        name, a_text_comes_back_as_it_is, NULL, NULL, (void *)(name) \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE("tests"),     LIFE("run"),      LIFE("hang"),    LIFE("starts"), LIFE("exits"),
        LIFE("retries"),   LIFE("blame"),    LIFE("cancel"),  LIFE("strict"), LIFE("epoch"),
        LIFE("left"),      LIFE("silence"),  LIFE("boot"),    LIFE("limit"),  LIFE("symptoms"),
        LIFE("drain"),     LIFE("takeover"), LIFE("windows"), LIFE("clock"),  LIFE("maintain"),
        LIFE("inplace"),   LIFE("preempt"),  LIFE("stale"),   LIFE("lease"),  LIFE("doubt"),
        LIFE("finishing"), LIFE("queued"),   LIFE("kept"),    LIFE("old"),    LIFE("shared"),
        LIFE("quick"),     LIFE("edge"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
