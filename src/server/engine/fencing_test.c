/* A program that takes a node's power away: what it is given, and what is said of how it ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/fence.h"
#include "leaks.h"
#include "server_test.h"

/* The C library keeps its time zone for the whole process. */
long myr_leaks_allowed = 3;

static char folder[] = "/tmp/myriad-fence-XXXXXX";
static struct server server;
static struct node_row nodes[4];

static const char *file(const char *name)
{
    static char path[80];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void program_is(const char *text)
{
    FILE *out = fopen(file("fence"), "w");
    assert_non_null(out);
    assert_true(fprintf(out, "#!/bin/sh\n%s\n", text) > 0);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(file("fence"), 0755), 0);
}

/* The core is none here: what it is told stays in the inbox. */
static void run_until(size_t events)
{
    for (int i = 0; i < 1000 && server.inbox.count < events; i++) {
        uv_idle_stop(&server.idle);
        (void)uv_run(&server.loop, UV_RUN_ONCE);
    }
    uv_idle_stop(&server.idle);
    assert_int_equal(server.inbox.count, events);
}

static void order(uint32_t node, uint32_t boot)
{
    fence_node(&server, &(struct myr_effect){.kind = MYR_EFFECT_FENCE, .node = node, .boot = boot});
    uv_idle_stop(&server.idle);
}

static void expect_event(size_t at, uint32_t node, uint32_t boot, int code)
{
    const struct myr_event *event = &server.inbox.items[at];
    assert_int_equal(event->kind, MYR_EVENT_FENCED);
    assert_int_equal(event->node, node);
    assert_int_equal(event->boot, boot);
    assert_int_equal(event->code, code);
}

/* The only line of the audit since the last time says so; "": there is none. */
static void expect_audit(const char *what, const char *outcome)
{
    struct myr_buf text = {};
    struct myr_err err = {};
    char wanted[300];
    assert_int_equal(myr_file_read(file("audit.log"), 1 << 20, &text, &err), MYR_OK);
    snprintf(wanted, sizeof(wanted), "\"who\":\"myriad\",\"what\":\"%s\",\"outcome\":\"%s", what,
             outcome);
    if (what[0] ? !strstr(text.data, wanted) || strchr(text.data, '\n')[1] : text.len > 0) {
        fail_msg("%s", text.data);
    }
    assert_int_equal(truncate(file("audit.log"), 0), 0);
    myr_buf_done(&text);
}

/* And people read this of it, without moments and spans. */
static void expect_lines(const char *wanted)
{
    struct myr_buf text = {};
    lines_put(&text);
    for (char *at = text.len ? strstr(text.data, folder) : NULL; at; at = strstr(at, folder)) {
        *at = '~';
        memmove(at + 1, at + strlen(folder), strlen(at + strlen(folder)) + 1);
    }
    char *span = text.len ? strstr(text.data, "done in ") : NULL;
    if (span) {
        span[8] = '\n';
        span[9] = '\0';
    }
    assert_string_equal(text.len ? text.data : "", wanted);
    myr_buf_done(&text);
}

static void begin(const char *program, uint32_t timeout_s)
{
    snprintf(server.config.fence, sizeof(server.config.fence), "%s", program);
    server.config.fence_timeout_s = timeout_s;
    server.inbox.count = 0;
    fence_begin(&server);
}

static void end(void)
{
    fence_end(&server);
    assert_null(server.fences);
    uv_run(&server.loop, UV_RUN_DEFAULT);
}

static void how_it_ended_is_told_with_its_last_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *outcome;
        int code;
    } cases[] = {
        {"[ \"$1\" = n1 ] && [ $# = 1 ]", "done in 0.", 0},
        {"echo all is well; exit 0", "done in 0.", 0},
        {"exit 3", "failed: exit code 3\"}", 1},
        {"echo first; echo second; exit 4", "failed: exit code 4: second\"}", 1},
        {"echo out; printf 'one\\ntwo words \\n\\n' >&2; exit 5",
         "failed: exit code 5: two words\"}", 1},
        {"printf alone >&2; exit 6", "failed: exit code 6: alone\"}", 1},
        {"kill -9 $$", "failed: exit code -1\"}", 1},
        {"exec sleep 600", "failed: ended, it took more than 1 s\"}", 1},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        program_is(cases[i].text);
        begin(file("fence"), i + 1 == MYR_ARRAY_COUNT(cases) ? 1 : 60);
        order(1, 7);
        run_until(1);
        expect_event(0, 1, 7, cases[i].code);
        expect_audit("fence n1", cases[i].outcome);
        char wanted[300];
        snprintf(wanted, sizeof(wanted),
                 "  log warning node n1 is lost and may run ranks: ~/fence is run\n"
                 "  log %s: %.*s\n",
                 cases[i].code ? "error node n1 is not fenced" : "info node n1 is fenced",
                 cases[i].code ? (int)strcspn(cases[i].outcome, "\"") : 8, cases[i].outcome);
        expect_lines(wanted);
        end();
    }
}

/* One is enough for a node, whatever start of it is meant; the last of them is answered. */
static void a_node_is_fenced_once_at_a_time(void **state)
{
    (void)state;
    program_is("echo x >> $0.runs; sleep 0.1");
    begin(file("fence"), 60);
    order(1, 7);
    order(1, 8);
    order(0, 3);
    run_until(2);
    bool first = server.inbox.items[0].node == 1;
    expect_event(first ? 0 : 1, 1, 8, 0);
    expect_event(first ? 1 : 0, 0, 3, 0);
    order(1, 9);
    run_until(3);
    expect_event(2, 1, 9, 0);
    struct stat status;
    assert_int_equal(stat(file("fence.runs"), &status), 0);
    assert_int_equal(status.st_size, 6); /* three runs */
    assert_int_equal(unlink(file("fence.runs")), 0);
    assert_int_equal(truncate(file("audit.log"), 0), 0);
    program_is("exec sleep 600");
    order(0, 4);
    struct myr_buf said = {};
    lines_put(&said); /* of four */
    myr_buf_done(&said);
    end(); /* who is under way is ended, and nobody is told */
    assert_int_equal(server.inbox.count, 3);
    expect_audit("", "");
}

static void what_cannot_be_fenced_is_told_at_once(void **state)
{
    (void)state;
    begin("", 60);
    order(1, 7);
    run_until(1);
    expect_event(0, 1, 7, 1);
    expect_audit("", "");
    expect_lines("");
    end();
    program_is("exit 0");
    begin(file("fence"), 60);
    order(2, 1);
    order(3, 2);
    run_until(2);
    expect_event(0, 2, 1, 1);
    expect_event(1, 3, 2, 1);
    assert_int_equal(truncate(file("audit.log"), 0), 0);
    expect_lines("  log error node -n is not fenced: refused: no program is given such a name\n"
                 "  log error node .n is not fenced: refused: no program is given such a name\n");
    end();
    begin("/nowhere/fence", 60);
    expect_lines(
        "  log error fence: /nowhere/fence cannot be run; nodes that are lost stay as they "
        "are\n");
    order(0, 1);
    run_until(1);
    expect_event(0, 0, 1, 1);
    expect_audit("fence n0", "failed: exit code -1: /nowhere/fence cannot be run: ");
    end();
}

static int set_up(void **state)
{
    static const char *const names[] = {"n0", "n1", "-n", ".n"};
    (void)state;
    if (!mkdtemp(folder) || uv_loop_init(&server.loop) != 0) {
        return -1;
    }
    uv_idle_init(&server.loop, &server.idle);
    server.rows.nodes = nodes;
    server.rows.node_count = MYR_ARRAY_COUNT(nodes);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(nodes); i++) {
        nodes[i].name = names[i];
    }
    lines_begin();
    log_open(folder, false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    log_close();
    lines_end();
    uv_close((uv_handle_t *)&server.idle, NULL);
    uv_run(&server.loop, UV_RUN_DEFAULT);
    myr_vec_done(&server.inbox);
    assert_int_equal(unlink(file("fence")), 0);
    assert_int_equal(unlink(file("audit.log")), 0);
    return uv_loop_close(&server.loop) == 0 ? rmdir(folder) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_it_ended_is_told_with_its_last_line),
        cmocka_unit_test(a_node_is_fenced_once_at_a_time),
        cmocka_unit_test(what_cannot_be_fenced_is_told_at_once),
    };
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    uv_library_shutdown();
    return failed;
}
