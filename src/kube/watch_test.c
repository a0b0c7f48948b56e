/*
 * Lists and watches of an API server that errs, request by request, as one text
 * (tests/kept/kube-watch.txt): when it is asked again, from where on, and what is known then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <uv.h>

#include "api_test.h"
#include "kept.h"
#include "leaks.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

#define PROTOBUF "application/vnd.kubernetes.protobuf"

static void lists_that_go_wrong(void **state)
{
    static const struct {
        int status;
        const char *text;
    } ways[] = {
        {500, "etcd is away"},
        {403, "not you"},
        {401, ""},
        {404, ""},
        {410, "too old"},
        {429, ""},
        {302, ""},
        {API_CLOSES, ""},
        {API_IS_SILENT, ""},
        {API_BABBLES, ""},
        {API_BREAKS_OFF, ""},
        {200, "{"},
        {200, "{}"},
        {200, "{\"metadata\":{\"resourceVersion\":\"x7\"},\"items\":[]}"},
        {200, "{\"metadata\":{\"resourceVersion\":\"77\"}}"},
        {200, "{\"metadata\":{\"resourceVersion\":\"77\"},\"items\":null}"},
        {200, "{\"metadata\":{\"resourceVersion\":\"77\"},\"items\":[{}]}"},
        {200, "{\"metadata\":{\"resourceVersion\":\"77\",\"continue\":\"a b/c?~_-.Z\"},"
              "\"items\":[]}"},
    };
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(ways); i++) {
            char title[200];
            snprintf(title, sizeof(title), "list%s: %d %s", more ? ", the second page" : "",
                     ways[i].status, ways[i].text);
            api_begin(title);
            api.only = "/nodes";
            api.page = 3;
            api_nodes(5);
            api_fault("GET", more ? "/nodes?limit=500&continue" : "/nodes?limit=500",
                      ways[i].status, ways[i].text, 1);
            api_schedule(18, 0);
            api_end();
        }
    }
    api_begin("a list that is refused again and again");
    api.only = "/nodes";
    api_fault("GET", "/nodes?limit=500", 500, "", 9);
    api_schedule(70, 0);
    api_end();
}

static void watches_that_go_wrong(void **state)
{
    static char long_text[70000];
    static const struct {
        int status;
        const char *text;
    } ways[] = {
        {500, "etcd is away"}, {403, "not you"},  {401, ""},
        {410, "too old"},      {302, ""},         {API_CLOSES, ""},
        {API_IS_SILENT, ""},   {API_BABBLES, ""}, {API_BREAKS_OFF, ""},
        {500, long_text},
    };
    (void)state;
    snprintf(long_text, sizeof(long_text), "%-*s", (int)sizeof(long_text) - 1,
             "{\"message\":\"long\"}");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ways); i++) {
        char title[80];
        snprintf(title, sizeof(title), "watch: %d %.40s", ways[i].status, ways[i].text);
        api_begin(title);
        api.only = "/nodes";
        api_nodes(2);
        api_fault("GET", "/nodes?watch", ways[i].status, ways[i].text, 1);
        api_schedule(ways[i].status == API_IS_SILENT ? 340 : 4, 0);
        api_end();
    }
}

/* --- what is said */

static void end_all(void)
{
    api_tell(MYR_KUBE_NODES, "", 0);
}

static void end_soon(void)
{
    end_all();
    if (api.clock_ns < 1040000000000) {
        api_at(api.clock_ns / 1000000 - 1000000 + 50, end_soon);
    }
}

static const char *line;

static void say_line(void)
{
    api_tell(MYR_KUBE_NODES, line, strlen(line));
}

static void change_nodes(void)
{
    api_node("n1", "False");
    api_forget(MYR_KUBE_NODES, "n0");
}

#define NODE(name, ready)                                                                   \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"" name "\",\"resourceVersion\":\"7\"}," \
    "\"spec\":{},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"
#define LINE(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

static void lines_that_are_said(void **state)
{
    static const char *const lines[] = {
        LINE("ADDED", NODE("x1", "True")),
        LINE("ADDED", NODE("x1", "True")) LINE("ADDED", NODE("x2", "False")),
        "\n\n" LINE("DELETED", NODE("n1", "True")) "\n",
        "{\"type\":\"ADDED\"",
        LINE("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"555\"}}"),
        LINE("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"\"}}"),
        LINE("ERROR", "{\"code\":410,\"message\":\"too old\"}"),
        LINE("ERROR", "{\"code\":409,\"message\":\"too old\"}"),
        LINE("ERROR", "{\"code\":500,\"message\":\"etcd is away\"}"),
        LINE("ADDED", "{}"),
        LINE("ADDED", NODE("x1", "True")) "nonsense\n" LINE("ADDED", NODE("x2", "True")),
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        line = lines[i];
        api_begin(line);
        api.only = "/nodes";
        api_nodes(3);
        api_at(1500, say_line);
        api_at(3000, end_all);
        api_schedule(6, 0);
        api_end();
    }
    api_begin("a watch that ends, and one that ends at once, many times");
    api.only = "/nodes";
    api_nodes(3);
    api_at(2000, end_all);
    api_at(2500, end_soon);
    api_schedule(60, 0);
    api_end();
    api_begin("what happens while nobody watches");
    api.only = "/nodes";
    api_nodes(3);
    line = LINE("ERROR", "{\"code\":410}");
    api_at(2000, say_line);
    api_at(2001, change_nodes);
    api_schedule(5, 0);
    api_end();
}

static struct myr_buf said;
static size_t piece;

/* Many of them in one reading. */
static void say_pieces(void)
{
    struct myr_buf chunks = {};
    for (size_t at = 0; at < said.len; at += piece) {
        size_t size = said.len - at < piece ? said.len - at : piece;
        myr_buf_printf(&chunks, "%zx\r\n", size);
        myr_buf_put(&chunks, said.data + at, size);
        myr_buf_puts(&chunks, "\r\n");
    }
    for (uint32_t i = 0; i < API_PEERS; i++) {
        if (api.peers[i].fd && api.peers[i].follows == MYR_KUBE_PODS) {
            api_send(&api.peers[i], chunks.data, chunks.len, false);
        }
    }
    myr_buf_done(&chunks);
}

static void put_words(struct myr_buf *ret)
{
    assert_int_equal(
        myr_file_read(MYR_SOURCE_DIR "/tests/data/kubernetes/pods.words", 1 << 20, ret, NULL),
        MYR_OK);
}

static void pieces_are_put_together(void **state)
{
    static const size_t pieces[] = {1, 2, 3, 4, 5, 7, 64, 1000, 100000};
    const size_t most = 30000; /* what a socket takes at once, in pieces of a byte */
    (void)state;
    for (uint32_t words = 0; words < 2; words++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(pieces); i++) {
            char title[60];
            snprintf(title, sizeof(title), "%s in pieces of %zu bytes", words ? "words" : "lines",
                     pieces[i]);
            api_begin(title);
            api.only = "/pods";
            api.type = words ? PROTOBUF : "application/json";
            piece = pieces[i];
            myr_buf_clear(&said);
            if (words) {
                put_words(&said);
            } else {
                assert_int_equal(myr_file_read(MYR_SOURCE_DIR "/tests/data/kubernetes/pods.lines",
                                               1 << 20, &said, NULL),
                                 MYR_OK);
            }
            said.len = said.len < most ? said.len : most;
            api_at(1500, say_pieces);
            api_schedule(3, 0);
            api_end();
        }
    }
    myr_buf_done(&said);
}

static void say_said(void)
{
    api_tell(MYR_KUBE_PODS, said.data, said.len);
}

static void words_that_are_none(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"\0\0\0\0", 4},           {"\0\0\0\7\n\5ADDED", 11}, {"\0\0\0\1", 4},
        {"\1\0\0\0x", 5},          {"\0\xff\xff\xfd", 4},     {"\377\377\377\377", 4},
        {"\0\0\0\0\0\0\0\2\n", 9},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        char title[60];
        snprintf(title, sizeof(title), "word %zu that is none", i);
        api_begin(title);
        api.only = "/pods";
        api.type = PROTOBUF;
        myr_buf_clear(&said);
        myr_buf_put(&said, cases[i].bytes, cases[i].size);
        api_at(1500, say_said);
        api_schedule(5, 0);
        api_end();
    }
    myr_buf_done(&said);
}

/* A test of its own: the end of a group would count for nothing. */
static void all_of_it_is_as_it_was(void **state)
{
    (void)state;
    assert_kept("kube-watch.txt", &api.story);
    myr_buf_done(&api.story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_that_go_wrong), cmocka_unit_test(watches_that_go_wrong),
        cmocka_unit_test(lines_that_are_said), cmocka_unit_test(pieces_are_put_together),
        cmocka_unit_test(words_that_are_none), cmocka_unit_test(all_of_it_is_as_it_was),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
