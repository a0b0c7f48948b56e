#include "myriad/twin/scenario.h"

#include <stdlib.h>

#include "fields.h"
#include "myriad/text/amount.h"
#include "myriad/text/json.h"
#include "myriad/text/kind.h"
#include "rates.h"

static const char *const practice_names[] = {"common", "best"};
static const char *const policy_names[] = {"fifo", "first-fit", "fair", "preempt"};
static const char *const yes_names[] = {"false", "true"};
static const char *const times_names[] = {"typical", "drawn"};
static const char *const shows_names[] = {"by-class", "crash", "hang", "node-lost"};

#define AT(field) offsetof(struct myr_scenario, field)

static const struct field cluster_rows[] = {
    ROW("nodes", FIELD_U32, AT(shape.nodes), 1, 200000),
    ROW("gpus_per_node", FIELD_U32, AT(shape.gpus_per_node), 1, 64),
    ROW("leaf_nodes", FIELD_U32, AT(shape.group_nodes), 1, 200000),
    ROW("pod_nodes", FIELD_U32, AT(shape.pod_nodes), 1, 200000),
};
static const struct field top_rows[] = {
    ROW("hours", FIELD_H, AT(length_ms), 0.001, 24 * 1000),
    ROW("tenants", FIELD_U32, AT(tenants), 1, 10000),
    ROW("spares", FIELD_U32, AT(policy.spares), 0, 200000),
    CHOICE("policy", AT(queue_policy), policy_names),
    CHOICE("practice", AT(practice), practice_names),
    ROW("report_s", FIELD_S, AT(report_ms), 10, 3600),
    ROW("step_s", FIELD_S, AT(step_ms), 0.01, 3600),
    ROW("fence_fails_ppm", FIELD_U32, AT(fence_fails_ppm), 0, 1e6),
    ROW("refuse_ppm", FIELD_U32, AT(refuse_ppm), 0, 1e6),
    ROW("check_every", FIELD_U64, AT(check_every), 1, 1e9),
};
static const struct field control_rows[] = {
    ROW("start_window_s", FIELD_S, AT(policy.start_window_ms), 1, 86400),
    ROW("retry_s", FIELD_S, AT(policy.retry_ms), 1, 3600),
    ROW("suspect_s", FIELD_S, AT(policy.suspect_ms), 0.1, 86400),
    ROW("reconnect_s", FIELD_S, AT(policy.reconnect_ms), 0, 86400),
    ROW("first_step_s", FIELD_S, AT(policy.first_step_ms), 1, 864000),
    ROW("hang_s", FIELD_S, AT(policy.hang_ms), 1, 86400),
    ROW("test_s", FIELD_S, AT(policy.test_ms), 1, 1000000),
    ROW("fence_retry_s", FIELD_S, AT(policy.fence_retry_ms), 1, 86400),
    ROW("clock_slack_s", FIELD_S, AT(policy.clock_slack_ms), 0, 86400),
    ROW("drain_permille", FIELD_U32, AT(policy.drain_permille), 0, 1000),
    ROW("restarts_in_place", FIELD_U32, AT(policy.restarts_in_place), 0, 1000000),
    ROW("grace_s", FIELD_U32, AT(policy.grace_s), 0, 86400),
};
static const struct field message_rows[] = {
    ROW("lost_ppm", FIELD_U32, AT(messages.lost_ppm), 0, 900000),
    ROW("twice_ppm", FIELD_U32, AT(messages.twice_ppm), 0, 1e6),
    ROW("late_ppm", FIELD_U32, AT(messages.late_ppm), 0, 1e6),
    ROW("late_s", FIELD_S, AT(messages.late_ms), 0, 86400),
};
static const struct field partition_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(partitions.every_ms), 0, 10000),
    ROW("nodes", FIELD_U32, AT(partitions.nodes), 1, 200000),
    ROW("minutes", FIELD_MIN, AT(partitions.length_ms), 0, 100000),
};
static const struct field crash_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(crashes.every_ms), 0, 10000),
    ROW("seconds", FIELD_S, AT(crashes.length_ms), 0.001, 86400),
    ROW("every_events", FIELD_U64, AT(crashes.every_events), 0, 1e12),
};
static const struct field clock_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(clock.every_ms), 0, 10000),
    ROW("seconds", FIELD_S, AT(clock.step_ms), 0, 1e6),
    ROW("drift_permille", FIELD_U32, AT(clock.drift_permille), 0, 90),
};
static const struct field drain_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(drains.every_ms), 0, 100000),
    ROW("hours", FIELD_H, AT(drains.length_ms), 0, 10000),
    ROW("nodes", FIELD_U32, AT(drains.nodes), 1, 200000),
};
static const struct field hold_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(holds.every_ms), 0, 100000),
    ROW("hours", FIELD_H, AT(holds.length_ms), 0, 10000),
};
static const struct field weight_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(weights.every_ms), 0, 100000),
};
static const struct field lever_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(levers.every_ms), 0, 100000),
};
static const struct field question_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(questions.every_ms), 0, 100000),
};
static const struct field symptom_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(symptoms.every_ms), 0, 100000),
    ROW("nodes", FIELD_U32, AT(symptoms.nodes), 1, 1000),
};
static const struct field calm_rows[] = {
    ROW("per_day", FIELD_PER_DAY, AT(calms.every_ms), 0, 1000),
    ROW("minutes", FIELD_MIN, AT(calms.length_ms), 1, 100000),
    CHOICE("ends", AT(calms.ends), yes_names),
};
static const struct field window_rows[] = {
    ROW("first", FIELD_U32, offsetof(struct myr_scenario_window, first), 0, 200000),
    ROW("count", FIELD_U32, offsetof(struct myr_scenario_window, count), 1, 200000),
    ROW("at_h", FIELD_H, offsetof(struct myr_scenario_window, at_ms), 0, 24000),
    ROW("hours", FIELD_H, offsetof(struct myr_scenario_window, length_ms), 0.01, 24000),
    ROW("drain_h", FIELD_H, offsetof(struct myr_scenario_window, drain_ms), 0, 24000),
};
static int read_windows(const struct myr_doc *doc, struct myr_scenario *s, struct myr_err *err)
{
    const struct myr_doc *list = myr_doc_get(doc, "maintenance");
    if (!list) {
        return MYR_OK;
    }
    int rc = myr_doc_expect(list, MYR_DOC_LIST, "maintenance", err);
    if (rc == MYR_OK && list->count > MYR_SCENARIO_WINDOWS_MAX) {
        return myr_doc_error(err, list, MYR_EINVAL, "%u windows, up to %d are expected",
                             list->count, MYR_SCENARIO_WINDOWS_MAX);
    }
    for (uint32_t i = 0; rc == MYR_OK && i < list->count; i++) {
        struct myr_scenario_window *window = &s->windows[s->window_count++];
        *window = (struct myr_scenario_window){.count = 1, .length_ms = 3600000};
        rc = scene_read(list->items[i], "maintenance", window_rows, MYR_ARRAY_COUNT(window_rows),
                        NULL, 0, window, err);
        if (rc == MYR_OK &&
            (window->first >= s->shape.nodes || window->count > s->shape.nodes - window->first)) {
            return myr_doc_error(err, list->items[i], MYR_EINVAL,
                                 "nodes %u to %u, below %u is expected", window->first,
                                 window->first + window->count - 1, s->shape.nodes);
        }
    }
    return rc;
}

/* ---- faults ---- */

static uint32_t share_ppm(const struct myr_recovery *recovery, const char *key)
{
    const struct myr_recovery_row *row = myr_recovery_find(recovery, key);
    return row ? (uint32_t)(row->typical * 1e6 + 0.5) : 0;
}

static int read_faults(const struct myr_doc *doc, struct myr_scenario *s, struct myr_arena *arena,
                       struct myr_err *err)
{
    struct words {
        uint32_t times, shows;
    } words = {1, 0};
    static const struct field rows[] = {
        CHOICE("times", offsetof(struct words, times), times_names),
        CHOICE("shows", offsetof(struct words, shows), shows_names),
    };
    static const char *const others[] = {"rate"};
    const struct myr_doc *faults = myr_doc_get(doc, "faults");
    int rc = scene_read(faults, "faults", rows, MYR_ARRAY_COUNT(rows), others,
                        MYR_ARRAY_COUNT(others), &words, err);
    s->drawn = words.times == 1;
    s->restart_ppm = share_ppm(s->recovery, "share.process_restart_enough");
    s->reboot_ppm = share_ppm(s->recovery, "share.reset_or_reboot_enough");
    const struct myr_doc *rate = myr_doc_get(faults, "rate");
    struct myr_str word;
    if (rc < 0 || !rate) {
        return rc;
    }
    rc = myr_doc_text(rate, "rate", &word, err);
    if (rc < 0 || myr_str_eq(word, MYR_STR("none"))) {
        return rc;
    }
    s->rate = myr_arena_strndup(arena, word.data, word.len);
    s->shows = words.shows;
    return rates_read(s, rate, s->rate, words.shows, err);
}

/* ---- what is left out ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int read_left_out(const struct myr_doc *doc, struct myr_scenario *s, struct myr_err *err)
{
    const struct myr_doc *map = myr_doc_get(doc, "leave_out");
    static const char *const keys[MYR_SCENARIO_LISTS] = {"jobs",    "faults", "partitions",
                                                         "crashes", "drains", "clock"};
    if (!map) {
        return MYR_OK;
    }
    int rc = myr_doc_expect(map, MYR_DOC_MAP, "leave_out", err);
    if (rc < 0) {
        return rc;
    }
    rc = myr_doc_check_keys(map, "leave_out", keys, MYR_ARRAY_COUNT(keys), err);
    for (uint32_t k = 0; k < MYR_SCENARIO_LISTS && rc == MYR_OK; k++) {
        const struct myr_doc *list = myr_doc_get(map, keys[k]);
        if (!list) {
            continue;
        }
        rc = myr_doc_expect(list, MYR_DOC_LIST, keys[k], err);
        for (uint32_t i = 0; rc == MYR_OK && i < list->count; i++) {
            uint64_t number;
            rc = myr_doc_u64(list->items[i], keys[k], 0, UINT32_MAX - 1, &number, err);
            if (rc == MYR_OK) {
                myr_vec_push(&s->left_out[k], (uint32_t)number);
            }
        }
        if (s->left_out[k].count > 0) {
            qsort(s->left_out[k].items, s->left_out[k].count, sizeof(uint32_t), by_number);
        }
    }
    return rc;
}

/* ---- the whole ---- */

static void set_defaults(struct myr_scenario *s)
{
    s->name = "scenario";
    s->shape = (struct myr_place_shape){0, 8, 16, 0};
    s->length_ms = 86400000;
    s->policy = myr_control_policy_default();
    s->policy.hang_ms = 0;
    s->queue_policy = MYR_QUEUE_FAIR;
    s->tenants = 1;
    s->report_ms = 60000;
    s->step_ms = 10000;
    s->fence_fails_ppm = 50000;
    s->messages.late_ms = 30000;
    s->partitions.nodes = 16;
    s->partitions.length_ms = 600000;
    s->crashes.length_ms = 30000;
    s->clock.step_ms = 3600000;
    s->drains.length_ms = 4 * 3600000;
    s->drains.nodes = s->symptoms.nodes = 1;
    s->holds.length_ms = 3600000;
    s->calms.length_ms = 3 * 3600000;
}

static int64_t typical_ms(const struct myr_recovery *recovery, const char *key)
{
    const struct myr_recovery_row *row = myr_recovery_find(recovery, key);
    return row ? (int64_t)(row->typical * 1e3 + 0.5) : 0;
}

/* What follows from the rest. */
static int conclude(struct myr_scenario *s, const struct myr_doc *doc, struct myr_err *err)
{
    s->shape.pod_nodes = s->shape.pod_nodes ? s->shape.pod_nodes : s->shape.nodes;
    if (s->shape.nodes == 0) {
        return myr_doc_error(err, doc, MYR_EINVAL, "'cluster' with 'nodes' is expected");
    }
    if (s->shape.pod_nodes < s->shape.nodes && s->shape.pod_nodes % s->shape.group_nodes) {
        return myr_doc_error(err, doc, MYR_EINVAL,
                             "'pod_nodes' is %u, a multiple of 'leaf_nodes' (%u) is expected",
                             s->shape.pod_nodes, s->shape.group_nodes);
    }
    if (s->policy.spares >= s->shape.nodes) {
        return myr_doc_error(err, myr_doc_get(doc, "spares"), MYR_EINVAL,
                             "'spares' is %u, below 'nodes' (%u) is expected", s->policy.spares,
                             s->shape.nodes);
    }
    if (s->check_every == 0) { /* a comparison reads every node: their sum stays linear in them */
        s->check_every = s->shape.nodes > 10000 ? s->shape.nodes / 10 : 1000;
    }
    s->policy.queue = myr_queue_policy_preset((enum myr_queue_preset)s->queue_policy);
    const char *hang = s->practice == MYR_PRACTICE_COMMON ? "a.detect.hang" : "b.detect.hang";
    if (s->policy.hang_ms == 0) { /* the timer of that practice, but two reports may be late */
        int64_t hang_ms = typical_ms(s->recovery, hang);
        s->policy.hang_ms = hang_ms > 2 * s->report_ms ? hang_ms : 2 * s->report_ms;
    }
    return MYR_OK;
}

static int read_sections(struct myr_scenario *s, const struct myr_doc *doc, struct myr_err *err)
{
#define SECTION(name, rows)               \
    {                                     \
        name, rows, MYR_ARRAY_COUNT(rows) \
    }
    static const struct {
        const char *key;
        const struct field *rows;
        uint32_t count;
    } sections[] = {
        SECTION("cluster", cluster_rows),    SECTION("control", control_rows),
        SECTION("messages", message_rows),   SECTION("partitions", partition_rows),
        SECTION("crashes", crash_rows),      SECTION("clock", clock_rows),
        SECTION("drains", drain_rows),       SECTION("holds", hold_rows),
        SECTION("weights", weight_rows),     SECTION("symptoms", symptom_rows),
        SECTION("calms", calm_rows),         SECTION("levers", lever_rows),
        SECTION("questions", question_rows),
    };
    static const char *const others[] = {
        "name",    "cluster",  "control", "jobs",        "faults",    "messages", "partitions",
        "crashes", "clock",    "drains",  "maintenance", "leave_out", "days",     "holds",
        "weights", "symptoms", "calms",   "levers",      "questions"};
    const struct myr_doc *days = myr_doc_get(doc, "days");
    double value;
    if (days && myr_doc_get(doc, "hours")) {
        return myr_doc_error(err, days, MYR_EINVAL, "'days' and 'hours', one of them is expected");
    }
    int rc = scene_read(doc, NULL, top_rows, MYR_ARRAY_COUNT(top_rows), others,
                        MYR_ARRAY_COUNT(others), s, err);
    if (rc == MYR_OK && days) {
        rc = myr_doc_double(days, "days", 0.001, 1000, &value, err);
        s->length_ms = rc == MYR_OK ? (int64_t)(value * 86400e3 + 0.5) : s->length_ms;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sections) && rc == MYR_OK; i++) {
        rc = scene_read(myr_doc_get(doc, sections[i].key), sections[i].key, sections[i].rows,
                        sections[i].count, NULL, 0, s, err);
    }
    return rc;
}

static int read_all(struct myr_scenario *s, struct myr_arena *arena, const struct myr_doc *doc,
                    struct myr_err *err)
{
    const struct myr_doc *name = myr_doc_get(doc, "name");
    struct myr_str text;
    MYR_TRY(read_sections(s, doc, err));
    if (name) {
        MYR_TRY(myr_doc_text(name, "name", &text, err));
        s->name = myr_arena_strndup(arena, text.data, text.len);
    }
    MYR_TRY(conclude(s, doc, err));
    MYR_TRY(scene_read_jobs(doc, s, err));
    MYR_TRY(read_windows(doc, s, err));
    MYR_TRY(read_faults(doc, s, arena, err));
    return read_left_out(doc, s, err);
}

int myr_scenario_parse(struct myr_scenario *s, struct myr_arena *arena, const char *file,
                       struct myr_str text, struct myr_err *err)
{
    const struct myr_doc *doc;
    struct myr_recovery *recovery = MYR_ARENA_ONE(arena, struct myr_recovery);
    *s = (struct myr_scenario){.file = file, .recovery = recovery};
    int rc = myr_recovery_init(recovery, arena, err);
    if (rc == MYR_OK) {
        rc = myr_doc_read_yaml(arena, file, text, &doc, err);
    }
    if (rc == MYR_OK) {
        set_defaults(s);
        rc = read_all(s, arena, doc, err);
    }
    if (rc < 0) {
        myr_scenario_done(s);
    }
    return rc;
}

int myr_scenario_read(struct myr_scenario *s, struct myr_arena *arena, const char *path,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    int rc = myr_kind_read(path, MYR_DOC_BYTES_MAX, MYR_KINDS_DOC(SCENARIO),
                           "a scenario of the twin", &text, err);
    if (rc < 0) {
        *s = (struct myr_scenario){};
        return rc;
    }
    struct myr_str kept = {myr_arena_strndup(arena, text.data ? text.data : "", text.len),
                           text.len};
    return myr_scenario_parse(s, arena, myr_file_name(path), kept, err);
}

void myr_scenario_done(struct myr_scenario *s)
{
    for (uint32_t i = 0; i < MYR_SCENARIO_LISTS; i++) {
        myr_vec_done(&s->left_out[i]);
    }
    if (s->recovery) {
        myr_recovery_done((struct myr_recovery *)s->recovery);
        s->recovery = NULL;
    }
}

/* ---- writing ---- */

static void put_section(struct myr_buf *buf, const char *key, const struct field *rows,
                        uint32_t count, const void *from)
{
    myr_buf_printf(buf, "%s: {", key);
    scene_write(rows, count, from, buf);
    myr_buf_put_lit(buf, "}\n");
}

static void put_left_out(struct myr_buf *buf, const struct myr_scenario *s)
{
    static const char *const keys[MYR_SCENARIO_LISTS] = {"jobs",    "faults", "partitions",
                                                         "crashes", "drains", "clock"};
    bool any = false;
    for (uint32_t k = 0; k < MYR_SCENARIO_LISTS; k++) {
        for (size_t i = 0; i < s->left_out[k].count; i++) {
            if (i == 0) {
                myr_buf_printf(buf, "%s  %s: [", any ? "" : "leave_out:\n", keys[k]);
                any = true;
            }
            myr_buf_printf(buf, "%s%u", i ? ", " : "", s->left_out[k].items[i]);
        }
        myr_buf_puts(buf, s->left_out[k].count ? "]\n" : "");
    }
}

void myr_scenario_write(const struct myr_scenario *s, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "name: ");
    myr_json_quote(buf, myr_str_from(s->name)); /* which YAML reads too */
    myr_buf_putc(buf, '\n');
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(top_rows); i++) {
        scene_write(&top_rows[i], 1, s, buf);
        myr_buf_putc(buf, '\n');
    }
    put_section(buf, "cluster", cluster_rows, MYR_ARRAY_COUNT(cluster_rows), s);
    put_section(buf, "control", control_rows, MYR_ARRAY_COUNT(control_rows), s);
    put_section(buf, "messages", message_rows, MYR_ARRAY_COUNT(message_rows), s);
    put_section(buf, "partitions", partition_rows, MYR_ARRAY_COUNT(partition_rows), s);
    put_section(buf, "crashes", crash_rows, MYR_ARRAY_COUNT(crash_rows), s);
    put_section(buf, "clock", clock_rows, MYR_ARRAY_COUNT(clock_rows), s);
    put_section(buf, "drains", drain_rows, MYR_ARRAY_COUNT(drain_rows), s);
    put_section(buf, "holds", hold_rows, MYR_ARRAY_COUNT(hold_rows), s);
    put_section(buf, "weights", weight_rows, MYR_ARRAY_COUNT(weight_rows), s);
    put_section(buf, "levers", lever_rows, MYR_ARRAY_COUNT(lever_rows), s);
    put_section(buf, "questions", question_rows, MYR_ARRAY_COUNT(question_rows), s);
    put_section(buf, "symptoms", symptom_rows, MYR_ARRAY_COUNT(symptom_rows), s);
    put_section(buf, "calms", calm_rows, MYR_ARRAY_COUNT(calm_rows), s);
    myr_buf_printf(buf, "faults: {rate: %s, times: %s, shows: %s}\n", s->rate ? s->rate : "none",
                   times_names[s->drawn], shows_names[s->shows]);
    myr_buf_puts(buf, s->group_count ? "jobs:\n" : "jobs: []\n");
    for (uint32_t i = 0; i < s->group_count; i++) {
        scene_write_group(buf, &s->groups[i]);
    }
    myr_buf_puts(buf, s->window_count ? "maintenance:\n" : "");
    for (uint32_t i = 0; i < s->window_count; i++) {
        myr_buf_put_lit(buf, "  - {");
        scene_write(window_rows, MYR_ARRAY_COUNT(window_rows), &s->windows[i], buf);
        myr_buf_put_lit(buf, "}\n");
    }
    put_left_out(buf, s);
}
