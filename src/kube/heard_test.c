/*
 * What is heard, down to its last byte and no further: JSON that is walked against a naive reader
 * of it, and pieces of a watch cut anywhere, handed over without a connection; and a hint, told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <uv.h>

#include "leaks.h"
#include "myriad/base/rng.h"
#include "service.h"

/* libuv keeps its threads' data for the whole process. */
long myr_leaks_allowed = 100;

/* --- the walk */

/* Numbers as JSON has them without a fraction, and its three words; nothing else is a word. */
static void a_word_is_a_whole_number_or_one_of_three(void **state)
{
    static const char *const words[] = {"0",    "-0",     "1",    "9",   "10",  "-10", "190",
                                        "true", "false",  "null", /* and those are none: */
                                        "00",   "01",     "-00",  "-01", "-",   "--1", "+1",
                                        "1-",   "1.5",    "1e3",  "/",   "0x",  "nul", "nulls",
                                        "True", "falsee", "",     ":",   "[1]", "{}"};
    static const char *const behind[] = {"", ",", "]", "}", " ", "\n", "\t", "\r"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words) * MYR_ARRAY_COUNT(behind); i++) {
        const char *word = words[i / MYR_ARRAY_COUNT(behind)];
        bool is = i / MYR_ARRAY_COUNT(behind) < 10;
        char line[40];
        snprintf(line, sizeof(line), " \n\t\r%s%s", word, behind[i % MYR_ARRAY_COUNT(behind)]);
        struct kube_walk w = {.at = line, .end = line + strlen(line)};
        struct myr_str text = {};
        if (kube_walk_text(&w, &text) != is) {
            fail_msg("'%s': %s", word, is ? "not taken" : "taken");
        }
        assert_int_equal(w.bad, !is);
        assert_ptr_equal(w.at, is ? line + 4 + strlen(word) : w.end);
        if (is) {
            assert_ptr_equal(text.data, line + 4);
            assert_int_equal(text.len, strcmp(word, "null") == 0 ? 0 : strlen(word));
            w = (struct kube_walk){.at = line, .end = line + strlen(line)};
            assert_true(!kube_walk_text(&w, &text) && w.bad); /* there twice */
        }
    }
}

/* Whatever lies behind the end, a quote first of all, is nobody's. */
static void a_text_ends_before_the_end(void **state)
{
    (void)state;
    for (size_t length = 0; length < 70; length++) {
        char line[160];
        struct myr_str text = {};
        memset(line, '"', sizeof(line));
        memset(line + 1, 'a', length);
        struct kube_walk w = {.at = line, .end = line + 1 + length};
        assert_false(kube_walk_text(&w, &text));
        assert_true(w.bad && !text.data);
        w = (struct kube_walk){.at = line, .end = line + 2 + length};
        assert_true(kube_walk_text(&w, &text));
        assert_true(text.data == line + 1 && text.len == length && w.at == w.end);
    }
}

enum { NESTED_MAX = 60 };

/* How long the text, list or map is that begins there; 0: it does not end, or not as it began. */
static size_t naive_length(const char *at, size_t size)
{
    char open[NESTED_MAX];
    size_t depth = 0;
    bool inside = false;
    for (size_t i = 0; i < size; i++) {
        char c = at[i];
        if (c == '"') {
            inside = !inside;
        } else if (inside) {
            i += c == '\\';
            continue;
        } else if (c == '[' || c == '{') {
            if (depth == NESTED_MAX) {
                return 0;
            }
            open[depth++] = (char)(c + 2); /* what closes it */
        } else if (c == ']' || c == '}') {
            if (depth == 0 || open[--depth] != c) {
                return 0;
            }
        }
        if (depth == 0 && !inside) {
            return i + 1;
        }
    }
    return 0;
}

/* Bytes that matter, among such that do not, behind a bracket or a quote. */
static void values_are_passed_as_a_naive_reader_does(void **state)
{
    static const char begins[] = "[{\"", bytes[] = "[]{}\"\\[]{}\"\",: x7";
    struct myr_rng rng;
    uint32_t passed = 0;
    (void)state;
    myr_rng_init(&rng, 91, 1);
    for (uint32_t round = 0; round < 20000; round++) {
        char line[200];
        /* Few marks make long runs without any, as texts and names are. */
        uint32_t rare = 1 + myr_rng_below(&rng, 12), size = 1 + myr_rng_below(&rng, 150);
        memset(line, '"', sizeof(line));
        line[0] = begins[myr_rng_below(&rng, 3)];
        for (uint32_t i = 1; i < size; i++) {
            line[i] =
                myr_rng_below(&rng, rare) ? 'a' : bytes[myr_rng_below(&rng, sizeof(bytes) - 1)];
        }
        for (uint32_t i = 0; round % 64 == 0 && i < size / 2; i++) { /* as deep as it may be */
            size = i ? size : 2 * (NESTED_MAX - 2 + round / 64 % 5);
            line[i] = begins[myr_rng_below(&rng, 2)];
            line[size - 1 - i] = (char)(line[i] + 2);
        }
        size_t wanted = naive_length(line, size);
        struct kube_walk w = {.at = line, .end = line + size};
        struct myr_str value = kube_walk_pass(&w);
        if (w.bad != (wanted == 0) || value.len != (wanted ? wanted : size)) {
            fail_msg("%zu are passed, not %zu: %.*s", value.len, wanted, (int)size, line);
        }
        assert_ptr_equal(w.at, line + value.len);
        passed += wanted > 0;
    }
    assert_true(passed > 3000 && passed < 17000); /* else nothing was compared */
}

/* Everything in it that is no list and no map, gone through level by level. */
static uint32_t count_leaves(struct kube_walk *w)
{
    struct myr_str key;
    uint32_t count = 0;
    char c = kube_walk_next(w);
    if (c != '[' && c != '{') {
        (void)kube_walk_pass(w);
        return 1;
    }
    (void)kube_walk_open(w, c);
    while (c == '[' ? kube_walk_item(w) : kube_walk_key(w, &key)) {
        count += count_leaves(w);
    }
    return count;
}

static void commas_and_colons_stand_between(void **state)
{
    /* Each between bars, behind the number of its leaves, or '-' where it is refused. */
    static const char rows[] =
        "0[]|0{}|0[[]]|1[1]|2[1,2]|2 [ 1 , 2 ] |4[[1],[2,3],4]|1[[],1]|0[{},{}]|1{'a':1}|0{'':[]}|"
        "3{ 'a' : 1 , 'b' : [2,{'c':3}] }|1{'a':{},'b':'x'}|-[1 2]|-[,1]|-[1,]|-[1,,2]|-[1|-[|-[1}|"
        "-[[] []]|-[[]1]|-{'a' 1}|-{a:1}|-{'a':1 'b':2}|-{'a':1,}|-{,'a':1}|-{'a':}|-{'a'|-{'a|"
        "-{'a':1|-{'a\\n':1}|-{'a':1]|-|-{1:1}|-{'a':1,2}|-{'a':1,'b'}|-{'a'::1}|";
    (void)state;
    for (const char *row = rows, *end; *row; row = end + 1) {
        char line[60];
        end = strchr(row, '|');
        snprintf(line, sizeof(line), "%.*s", (int)(end - row - 1), row + 1);
        for (char *at = line; *at; at++) {
            *at = (char)(*at == '\'' ? '"' : *at);
        }
        struct kube_walk w = {.at = line, .end = line + strlen(line)};
        uint32_t leaves = count_leaves(&w);
        if (w.bad ? *row != '-' : leaves + '0' != (uint32_t)*row) {
            fail_msg("%s: %u leaves%s", line, leaves, w.bad ? ", refused" : "");
        }
        assert_int_equal(kube_walk_next(&w), '\0'); /* all of it was passed */
    }
}

/* --- the watch */

static void hear(void *context, const char *level, const char *text)
{
    myr_buf_printf(context, "%s: %s\n", level, text);
}

/* The oldest question that waits for a connection; there is none, so that all wait. */
static struct client_request take_request(struct service *s)
{
    struct client_request *first = s->client.urgent.first, copy = *first;
    s->client.urgent.first = first->next;
    s->client.urgent.last = first->next ? s->client.urgent.last : NULL;
    free(first->path);
    myr_buf_done(&first->body);
    free(first);
    return copy;
}

/* What follows these bytes in memory would end a line, and is none of them. */
static bool hand_over(const struct client_request *request, const char *bytes, size_t size)
{
    char *copy = malloc(4 * size + 64);
    memset(copy, '\n', 4 * size + 64);
    memcpy(copy, bytes, size);
    bool well = request->piece(request->context, (struct myr_str){copy, size});
    free(copy);
    return well;
}

#define NODE(version)                                                                \
    "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"n\",\"uid\":\"u\"," \
    "\"resourceVersion\":\"" version "\"},\"spec\":{},\"status\":{}}}\n"

/* The version that is known after so many bytes is that of the last line that is whole. */
static void check_cuts(struct watch *w, const struct client_request *request)
{
    static const char text[] = NODE("11") "\n" NODE("12") NODE("13");
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        char wanted[24];
        size_t ends = 0;
        snprintf(w->version, sizeof(w->version), "10");
        for (size_t i = 0; i < cut; i++) {
            ends += text[i] == '\n';
        }
        snprintf(wanted, sizeof(wanted), "%zu", 10 + ends - (ends > 1));
        assert_true(hand_over(request, text, cut));
        assert_string_equal(w->version, wanted);
        assert_true(hand_over(request, text + cut, sizeof(text) - 1 - cut));
        assert_string_equal(w->version, "13");
        assert_int_equal(w->line.len, 0);
    }
}

/* There are no other credentials than those that it has. */
static const char *look_nowhere(const char *name)
{
    (void)name;
    return NULL;
}

/* However a watch ends, what it had begun to say is no beginning of what the next one says. */
static void check_ends(struct watch *w, const struct client_request *request)
{
    struct myr_err err = {.code = MYR_EIO, .message = "m"};
    const struct client_answer ends[] = {{.rc = MYR_EIO, .err = &err, .body = {"", 0}},
                                         {.status = 200, .body = {"", 0}},
                                         {.status = 410, .body = {"", 0}},
                                         {.status = 500, .body = {"", 0}}};
    w->service->access.url = "u";
    for (size_t i = 0; i < 2 * MYR_ARRAY_COUNT(ends); i++) {
        w->relist = i >= MYR_ARRAY_COUNT(ends);
        w->begun_ms = kube_now_ms();
        assert_true(hand_over(request, "abc", 3));
        assert_int_equal(w->line.len, 3);
        request->done(w, &ends[i % MYR_ARRAY_COUNT(ends)]);
        assert_int_equal(w->line.len, 0);
        uv_timer_stop(&w->retry); /* when it is asked again is not looked at here */
    }
}

static void pieces_end_where_they_end(void **state)
{
    static const size_t most = 16 << 20; /* of a line */
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    struct service *s = calloc(1, sizeof(*s));
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_schedule schedule = {
        .say = hear, .context = &said, .where = {.lookup_env = look_nowhere}};
    const char *page = "{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}";
    (void)state;
    s->schedule = &schedule;
    s->begun = true;
    s->cluster = myr_kube_cluster_create(&policy);
    assert_int_equal(uv_loop_init(&s->loop), 0);
    kube_watch_begin(s, MYR_KUBE_NODES);
    struct watch *w = &s->watches[MYR_KUBE_NODES];
    struct client_request request = take_request(s);
    request.done(w, &(struct client_answer){.status = 200, .body = myr_str_from(page)});
    request = take_request(s);
    request.begun(w, "application/json");
    check_cuts(w, &request);
    assert_int_equal(myr_kube_counts(s->cluster).nodes, 1);
    char *bytes = calloc(1, most);
    assert_true(request.piece(w, (struct myr_str){bytes, most}));
    assert_true(!w->relist && w->line.len == most);
    assert_false(request.piece(w, (struct myr_str){bytes, 1}));
    assert_true(w->relist && said.len == 0);
    free(bytes);
    myr_buf_clear(&w->line);
    check_ends(w, &request);
    kube_watch_end(w);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&s->loop), 0);
    myr_kube_cluster_free(s->cluster);
    free(s);
}

/* However short it is; a refusal is told of each source that meets it. */
static void a_hint_is_told_where_there_is_one(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    struct service *s = calloc(1, sizeof(*s));
    struct myr_kube_schedule schedule = {.say = hear, .context = &said};
    (void)state;
    s->schedule = &schedule;
    for (int i = 0; i < 3; i++) {
        struct myr_err err = {.code = MYR_EDENIED, .message = "m"};
        snprintf(err.hint, sizeof(err.hint), "%.*s", i, "xy");
        kube_trouble(s, (enum source)i, &err);
    }
    assert_string_equal(said.data, "warning: m\nwarning: m (hint: x)\nwarning: m (hint: xy)\n");
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_a_whole_number_or_one_of_three),
        cmocka_unit_test(a_text_ends_before_the_end),
        cmocka_unit_test(values_are_passed_as_a_naive_reader_does),
        cmocka_unit_test(commas_and_colons_stand_between),
        cmocka_unit_test(pieces_end_where_they_end),
        cmocka_unit_test(a_hint_is_told_where_there_is_one),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
