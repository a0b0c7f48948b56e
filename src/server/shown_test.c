/*
 * What the API shows, held against the core itself: a small cluster lives a drawn life, and after
 * each piece of it lists, pages, pictures and counts must be those that a naive walk over all jobs
 * and nodes gives. Library and clocks are the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "agents_test.h"
#include "given_back_test.h"
#include "leaks.h"
#include "library_test.h"
#include "myriad/text/doc.h"

long myr_leaks_allowed = TIME_ZONE_PIECES;

/* --- asking */

/* The body of an answer; with up to four arguments, each "aNAME" and its value. */
static void fetch(const char *url, const char *const *arguments, struct myr_buf *ret)
{
    struct MHD_Connection *connection = comes_from("10.0.0.9");
    with(connection, "hAuthorization", "Bearer v");
    for (uint32_t i = 0; arguments && arguments[i]; i += 2) {
        with(connection, arguments[i], arguments[i + 1]);
    }
    put(connection, "GET", url, MYR_STR(""));
    assert_non_null(connection->response);
    assert_int_equal(connection->status, 200);
    myr_buf_clear(ret);
    myr_buf_put(ret, connection->response->body.data, connection->response->body.len);
    goes(connection);
    pass_ms(200);
}

static const struct myr_doc *parsed(struct myr_arena *arena, const struct myr_buf *text)
{
    const struct myr_doc *top = NULL;
    struct myr_err err = {};
    assert_int_equal(
        myr_doc_read_json(arena, "answer", (struct myr_str){text->data, text->len}, &top, &err),
        MYR_OK);
    return top;
}

static uint64_t number(const struct myr_doc *map, const char *key)
{
    uint64_t value = 0;
    const struct myr_doc *node = myr_doc_get(map, key);
    assert_non_null(node);
    assert_true(myr_str_to_u64(node->text, &value));
    return value;
}

static bool is_text(const struct myr_doc *map, const char *key, const char *expected)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node && myr_str_eq(node->text, myr_str_from(expected));
}

/* --- a drawn life */

static struct myr_rng rng;

static uint32_t below(uint32_t bound)
{
    return myr_rng_below(&rng, bound);
}

/* What an agent says of a rank: that it is up, has ended, or is gone after it was to stop. */
static void reports(const struct myr_control_rank *rank)
{
    enum myr_control_job_state state = myr_control_job(server->control, rank->job).state;
    const struct session *session = agents[rank->node].session;
    if (!session || session->over || below(3) == 0) {
        return;
    }
    if (rank->up && below(5) == 0) {
        say(&agents[rank->node], MYR_WIRE_EXIT, rank->epoch,
            &(struct myr_wire_exit){.job = rank->job, .code = below(2)});
        taken();
    } else if (!rank->up) {
        bool starts = !rank->old && state == MYR_CONTROL_STARTING;
        result(rank->node, starts ? MYR_WIRE_STARTED : MYR_WIRE_STOPPED, rank->job, rank->epoch, 0,
               "");
    }
}

static void lives(void)
{
    uint32_t jobs = myr_control_jobs(server->control);
    uint32_t job = jobs ? below(jobs) : 0, node = below(NODES);
    switch (below(8)) {
    case 0:
    case 1:
    case 5:
        (void)bench_submit(server, 1 + below(20), MYR_RESTART_STRICT);
        break;
    case 2:
        desk_post(server, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = job});
        break;
    case 3:
        desk_post(server, &(struct myr_event){.kind = MYR_EVENT_DRAIN, .node = node});
        break;
    case 4:
        desk_post(server, &(struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = node});
        break;
    default:
        break;
    }
    taken();
    for (uint32_t slot = 0; slot < myr_control_ranks(server->control); slot++) {
        struct myr_control_rank rank = myr_control_rank(server->control, slot);
        if (rank.used) {
            reports(&rank);
        }
    }
    if (node != 3 && myr_control_node(server->control, node).state == MYR_NODE_CHECKING) {
        sound(node);
    }
    story.len = 0; /* it is no story that is compared here */
}

/* --- jobs */

struct choice {
    const char *state; /* NULL: none */
    bool all;
    uint32_t limit, before; /* UINT32_MAX: none */
};

/* The page by the core alone: "5,3,2 next 2". */
static void expect_page(const struct choice *choice, struct myr_buf *ret)
{
    uint32_t jobs = myr_control_jobs(server->control), listed = 0;
    uint32_t from = choice->before < jobs ? choice->before : jobs;
    uint32_t limit = choice->limit == UINT32_MAX ? 2000 : choice->limit;
    for (uint32_t id = from; id > 0; id--) {
        enum myr_control_job_state state = myr_control_job(server->control, id - 1).state;
        bool over = state == MYR_CONTROL_DONE || state == MYR_CONTROL_FAILED ||
                    state == MYR_CONTROL_CANCELLED;
        bool fits = choice->state ? strcmp(myr_control_job_state_name(state), choice->state) == 0
                                  : choice->all || !over;
        if (fits && listed == limit) {
            myr_buf_printf(ret, "next %u", id);
            return;
        }
        if (fits) {
            myr_buf_printf(ret, "%u %s,", id - 1, myr_control_job_state_name(state));
            listed++;
        }
    }
    myr_buf_puts(ret, "next null");
}

static void check_page(const struct choice *choice)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {}, got = {}, expected = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const char *arguments[10] = {};
    char limit[16], before[16];
    uint32_t n = 0;
    if (choice->state) {
        arguments[n++] = "astate";
        arguments[n++] = choice->state;
    }
    if (choice->all) {
        arguments[n++] = "aall";
        arguments[n++] = "1";
    }
    if (choice->limit != UINT32_MAX) {
        snprintf(limit, sizeof(limit), "%u", choice->limit);
        arguments[n++] = "alimit";
        arguments[n++] = limit;
    }
    if (choice->before != UINT32_MAX) {
        snprintf(before, sizeof(before), "%u", choice->before);
        arguments[n++] = "abefore";
        arguments[n++] = before;
    }
    fetch("/v1/jobs", arguments, &body);
    const struct myr_doc *top = parsed(&arena, &body), *jobs = myr_doc_get(top, "jobs");
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct myr_str state = myr_doc_get(jobs->items[i], "state")->text;
        myr_buf_printf(&got, "%u %.*s,", (unsigned)number(jobs->items[i], "id"), (int)state.len,
                       state.data);
    }
    struct myr_str next = myr_doc_get(top, "next")->text;
    myr_buf_printf(&got, "next %.*s", (int)next.len, next.data);
    expect_page(choice, &expected);
    assert_string_equal(got.data, expected.data);
}

static void pages(void)
{
    uint32_t jobs = myr_control_jobs(server->control);
    check_page(&(struct choice){.limit = UINT32_MAX, .before = UINT32_MAX});
    for (uint32_t i = 0; i < 3; i++) {
        int state = (int)below(2 * MYR_CONTROL_JOB_STATES);
        check_page(&(struct choice){
            .state = state < MYR_CONTROL_JOB_STATES
                         ? myr_control_job_state_name((enum myr_control_job_state)state)
                         : NULL,
            .all = below(2),
            .limit = below(2) ? 1 + below(4) : UINT32_MAX,
            .before = below(2) ? below(jobs + 2) : UINT32_MAX});
    }
}

/* --- nodes */

/* Those of its GPUs that jobs hold, and one letter for each of them: what the picture shows. */
static uint64_t held(uint32_t node, char shades[64])
{
    uint64_t all = 0;
    for (uint32_t slot = 0; slot < myr_control_ranks(server->control); slot++) {
        struct myr_control_rank rank = myr_control_rank(server->control, slot);
        if (!rank.used || rank.node != node || rank.released) {
            continue;
        }
        enum myr_control_job_state state = myr_control_job(server->control, rank.job).state;
        for (uint32_t gpu = 0; gpu < 64; gpu++) {
            if (rank.gpus >> gpu & 1) {
                shades[gpu] =
                    (char)(state == MYR_CONTROL_PLACING || state == MYR_CONTROL_STARTING ? 3
                           : state == MYR_CONTROL_SAVING || state == MYR_CONTROL_RECOVERING ||
                                   state == MYR_CONTROL_QUEUED
                               ? 4
                               : 2);
            }
        }
        all |= rank.gpus;
    }
    return all;
}

/* By enum myr_node_state; a node that is suspect may be silent. */
static const char grounds[] = {0, 0, 0, 1, 5, 6, 7, 8};

static void picture(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    fetch("/v1/frame", NULL, &body);
    assert_int_equal(body.len, NODES * 8);
    for (uint32_t node = 0; node < NODES; node++) {
        struct myr_control_node now = myr_control_node(server->control, node);
        char shades[64], over[64];
        char ground = (char)(now.state == MYR_NODE_SUSPECT && now.silent ? 9 : grounds[now.state]);
        memset(shades, ground, sizeof(shades));
        memset(over, ground, sizeof(over));
        (void)held(node, over);
        assert_memory_equal(body.data + (size_t)node * 8,
                            now.state == MYR_NODE_HEALTHY ? over : shades, 8);
    }
}

static void nodes(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {}, one = {}, chosen = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    fetch("/v1/nodes", NULL, &body);
    const struct myr_doc *list = myr_doc_get(parsed(&arena, &body), "nodes");
    assert_int_equal(list->count, NODES);
    for (uint32_t node = 0; node < NODES; node++) {
        const struct myr_doc *map = list->items[node];
        struct myr_control_node now = myr_control_node(server->control, node);
        char unused[64], name[16], url[40];
        snprintf(name, sizeof(name), "n%u", node);
        assert_int_equal(number(map, "id"), node);
        assert_int_equal(number(map, "leaf"), node / 4);
        assert_int_equal(number(map, "gpus"), 8);
        assert_int_equal(number(map, "boot"), now.boot);
        assert_int_equal(number(map, "busy"), __builtin_popcountll(held(node, unused)));
        assert_true(is_text(map, "name", name));
        assert_true(is_text(map, "state", myr_node_state_name(now.state)));
        assert_true(is_text(map, "silent", now.silent ? "true" : "false"));
        /* Asked for alone it begins alike, and says more. */
        snprintf(url, sizeof(url), "/v1/nodes/%s", name);
        fetch(url, NULL, &one);
        const char *end = strstr(one.data, ",\"address\":");
        assert_non_null(end);
        myr_buf_putc(&body, '\0');
        *strstr(one.data, ",\"address\":") = '\0';
        assert_non_null(strstr(body.data, one.data));
    }
    /* Each state has those of the whole list that are in it. */
    uint32_t sum = 0;
    for (int state = 0; state < MYR_NODE_STATES; state++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena own = {};
        const char *word = myr_node_state_name((enum myr_node_state)state);
        fetch("/v1/nodes", (const char *const[]){"astate", word, NULL}, &chosen);
        const struct myr_doc *some = myr_doc_get(parsed(&own, &chosen), "nodes");
        for (uint32_t i = 0; i < some->count; i++) {
            assert_true(is_text(some->items[i], "state", word));
        }
        sum += some->count;
    }
    assert_int_equal(sum, NODES);
}

/* --- counts */

static void counts(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {}, metrics = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    uint64_t of_nodes[MYR_NODE_STATES] = {}, of_jobs[MYR_CONTROL_JOB_STATES] = {};
    char line[100];
    fetch("/v1/cluster", NULL, &body);
    fetch("/metrics", NULL, &metrics);
    myr_buf_putc(&metrics, '\0');
    for (uint32_t id = 0; id < NODES; id++) {
        of_nodes[myr_control_node(server->control, id).state]++;
    }
    for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
        of_jobs[myr_control_job(server->control, id).state]++;
    }
    const struct myr_doc *top = parsed(&arena, &body);
    const struct myr_doc *nodes_map = myr_doc_get(top, "node_states");
    const struct myr_doc *jobs_map = myr_doc_get(top, "job_states");
    for (int i = 0; i < MYR_NODE_STATES; i++) {
        const char *word = myr_node_state_name((enum myr_node_state)i);
        assert_int_equal(number(nodes_map, word), of_nodes[i]);
        snprintf(line, sizeof(line), "\nmyriad_nodes{state=\"%s\"} %u\n", word,
                 (unsigned)of_nodes[i]);
        assert_non_null(strstr(metrics.data, line));
    }
    for (int i = 0; i < MYR_CONTROL_JOB_STATES; i++) {
        const char *word = myr_control_job_state_name((enum myr_control_job_state)i);
        assert_int_equal(number(jobs_map, word), of_jobs[i]);
        snprintf(line, sizeof(line), "\nmyriad_jobs{state=\"%s\"} %u\n", word,
                 (unsigned)of_jobs[i]);
        assert_non_null(strstr(metrics.data, line));
    }
    assert_int_equal(number(top, "nodes"), NODES);
    assert_int_equal(number(top, "gpus"), NODES * 8);
    assert_int_equal(number(top, "gpus_free"), myr_control_free_gpus(server->control));
    assert_int_equal(number(top, "seq"), server->feed.next);
    snprintf(line, sizeof(line), "\nmyriad_gpus_free %u\n", myr_control_free_gpus(server->control));
    assert_non_null(strstr(metrics.data, line));
}

static void what_is_shown_is_what_the_core_has(void **state)
{
    (void)state;
    uint64_t jobs_seen = 0, nodes_seen = 0;
    myr_rng_init(&rng, 41, 1);
    for (uint32_t node = 0; node + 1 < NODES; node++) { /* the last one never comes */
        join(node, 7);
        if (node != 3) {
            sound(node);
        }
    }
    for (uint32_t round = 0; round < 70; round++) {
        lives();
        pages();
        picture();
        if (round % 6 == 5) {
            nodes();
            counts();
        }
        for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
            jobs_seen |= 1ULL << myr_control_job(server->control, id).state;
        }
        for (uint32_t id = 0; id < NODES; id++) {
            nodes_seen |= 1ULL << myr_control_node(server->control, id).state;
        }
    }
    /* A life in which little happens would show little. */
    assert_true(jobs_seen >> MYR_CONTROL_QUEUED & jobs_seen >> MYR_CONTROL_RUNNING & 1);
    assert_true(jobs_seen >> MYR_CONTROL_STARTING & jobs_seen >> MYR_CONTROL_CANCELLED & 1);
    assert_true(nodes_seen >> MYR_NODE_HEALTHY & nodes_seen >> MYR_NODE_DRAINING & 1);
}

/* --- texts of requests */

/* As long as they may be they are taken for what they are; a byte more is told. */
static void texts_of_a_request_have_their_room(void **state)
{
    (void)state;
    static const struct {
        const char *url, *before, *key;
        size_t most;
    } rows[] = {
        {"/v1/tokens", "\"role\":\"x\",", "user", 63},
        {"/v1/tokens", "\"user\":\"x\",", "role", 15},
        {"/v1/tokens", "\"user\":\"x\",\"role\":\"x\",", "unix_user", 63},
        {"/v1/enrol", "", "node", 63},
        {"/v1/enrol", "\"node\":\"n0\",", "relay", 63},
        {"/v1/inject", "\"fault\":\"x\",", "node", 63},
        {"/v1/inject", "\"node\":\"n0\",", "fault", 63},
        {"/v1/nodes/n0/drain", "", "reason", 119},
        {"/v1/tenants/t", "", "weight", 23},
        {"/v1/design", "\"nodes\":\"n0\",", "gpus_per_node", 15},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        for (size_t len = rows[i].most; len <= rows[i].most + 1; len++) {
            char text[128], words[120];
            memset(text, '7', len);
            text[len] = '\0';
            MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
            myr_buf_printf(&body, "{%s\"%s\":\"%s\"}", rows[i].before, rows[i].key, text);
            struct MHD_Connection *connection = comes_from("10.0.0.9");
            with(connection, "hAuthorization", "Bearer a");
            put(connection, "POST", rows[i].url, (struct myr_str){body.data, body.len});
            myr_buf_putc(&connection->response->body, '\0');
            snprintf(words, sizeof(words), "'%s' has %zu bytes, at most %zu are expected",
                     rows[i].key, len, rows[i].most);
            bool refused = strstr(connection->response->body.data, words) != NULL;
            assert_int_equal(refused, len > rows[i].most);
            goes(connection);
            pass_ms(200);
        }
    }
}

/* The first moment of the clock is one, and no absence. */
static void moments_are_told_from_none(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    char url[40];
    uint32_t id = bench_submit(server, 1, MYR_RESTART_STRICT);
    taken();
    rows_job(server, id)->submitted_ms = 0;
    rows_job(server, id)->first_start_ms = 0;
    snprintf(url, sizeof(url), "/v1/jobs/%u", id);
    fetch(url, NULL, &body);
    myr_buf_putc(&body, '\0');
    assert_non_null(
        strstr(body.data, "\"submitted_ms\":0,\"started_ms\":0,\"ended_ms\":null,\"starts_in_s\""));
}

static int begin(void **state)
{
    (void)state;
    serving_begin();
    return begin_at("127.0.0.1", 4680);
}

static int end(void **state)
{
    (void)state;
    serving_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_shown_is_what_the_core_has),
        cmocka_unit_test(moments_are_told_from_none),
        cmocka_unit_test(texts_of_a_request_have_their_room),
    };
    int failed = cmocka_run_group_tests(tests, begin, end);
    uv_library_shutdown();
    return failed;
}
