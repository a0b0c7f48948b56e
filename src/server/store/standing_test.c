/*
 * Who stands by for a state in etcd: whom it names, how long it waits, what it takes over and what
 * it refuses to; and what each answer of etcd's means. Naps are counted, nobody sleeps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <time.h>

#include "given_back_test.h"
#include "leaks.h"
#include "myriad/io.h"
#include "store/etcd.h"
#include "store/played_etcd_test.h"
#include "store/segment.h"

long myr_leaks_allowed = 0;

static char folder[] = "/tmp/myriad-stand-XXXXXX", asked[64];
static uint16_t port;
static pid_t etcd;
static struct etcd_config config;
static uint32_t naps;

/* In place of the C library's, for all of this program. */
__attribute__((visibility("default"))) int nanosleep(const struct timespec *time,
                                                     struct timespec *left)
{
    assert_null(left);
    assert_int_equal(time->tv_sec, 0);
    assert_int_equal(time->tv_nsec, 250000000);
    naps++;
    return 0;
}

/* --- etcd */

static void post(const char *path, struct myr_str body)
{
    char url[80];
    struct myr_http_answer answer = {};
    struct myr_err err = {};
    snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s", port, path);
    assert_int_equal(
        myr_http_ask(&(struct myr_http_request){.method = "POST", .url = url, .body = body}, NULL,
                     NULL, &answer, &err),
        MYR_OK);
    assert_int_equal(answer.status, 200);
    myr_http_answer_done(&answer);
}

static void control(const char *word)
{
    char path[40];
    snprintf(path, sizeof(path), "control/%s", word);
    post(path, MYR_STR("x"));
}

/* So many keys at once, without asking who leads. */
struct planted {
    struct myr_buf body;
    uint32_t count;
};

static void plant(struct planted *to, const char *key, struct myr_str value)
{
    char whole[200];
    snprintf(whole, sizeof(whole), "/m/%s", key);
    myr_buf_puts(&to->body, to->count++ ? "," : "{\"compare\":[],\"success\":[");
    myr_buf_puts(&to->body, "{\"request_put\":{\"key\":\"");
    played_encode(&to->body, whole, strlen(whole));
    myr_buf_puts(&to->body, "\",\"value\":\"");
    played_encode(&to->body, value.data, value.len);
    myr_buf_puts(&to->body, "\"}}");
}

static void planted_now(struct planted *to)
{
    myr_buf_puts(&to->body, "]}");
    post("v3/kv/txn", (struct myr_str){to->body.data, to->body.len});
    myr_buf_done(&to->body);
    *to = (struct planted){};
}

/* Nothing at all is left there. */
static void wipe(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    myr_buf_puts(&body, "{\"compare\":[],\"success\":[{\"request_delete_range\":{\"key\":\"");
    played_encode(&body, "/", 1);
    myr_buf_puts(&body, "\",\"range_end\":\"");
    played_encode(&body, "0", 1);
    myr_buf_puts(&body, "\"}}]}");
    post("v3/kv/txn", (struct myr_str){body.data, body.len});
}

/* A part of a commit that puts one key; which part of how many it says is the test's to choose. */
static void plant_part(struct planted *to, const char *key, uint64_t number, uint32_t part,
                       uint32_t parts, struct myr_str bytes)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    segment_part(bytes, number, 0, &text);
    text.data[16] = (char)part;
    text.data[20] = (char)parts;
    plant(to, key, (struct myr_str){text.data, text.len});
}

static void put_change(struct myr_buf *ret, const char *key, const char *value)
{
    MYR_CLEANUP(myr_free_at) char *own_key = strdup(key);
    MYR_CLEANUP(myr_free_at) char *own_value = strdup(value);
    struct change change = {
        .kind = CHANGE_PUT, .key = own_key, .value = own_value, .size = strlen(value)};
    segment_put(&change, 1, ret);
}

/* --- who waits */

struct waiting {
    struct myr_buf heard;    /* of each wait a line */
    const char *const *acts; /* what happens at each, in turn: a word for control(), or "stay" */
};

static bool on_wait(void *context, const char *leader, const char *why)
{
    struct waiting *waiting = context;
    assert_true(!leader != !why);
    /* The number behind the name is drawn; an address has a port that is, too. */
    if (leader) {
        myr_buf_printf(&waiting->heard, "%.*s leads\n", (int)strcspn(leader, " "), leader);
    } else {
        const char *words = strstr(why, ": ");
        myr_buf_printf(&waiting->heard, "not asked: %s\n", words ? words + 2 : why);
    }
    const char *act = waiting->acts ? *waiting->acts++ : NULL;
    if (act && strcmp(act, "stay") != 0) {
        control(act);
    }
    return act != NULL;
}

static struct store *stands_by(const char *name, struct waiting *waiting, int expected,
                               struct myr_err *err)
{
    struct store *store = NULL;
    *err = (struct myr_err){};
    naps = 0;
    assert_int_equal(store_stand_by(&config, name, on_wait, waiting, &store, err), expected);
    /* What failed before it succeeded is no error. */
    assert_int_equal(err->code, expected);
    assert_int_equal(err->message[0] != '\0', expected != MYR_OK);
    return store;
}

static struct store *leads(const char *name)
{
    struct myr_err err;
    struct store *store = stands_by(name, &(struct waiting){}, MYR_OK, &err);
    assert_int_equal(naps, 0);
    return store;
}

static int list(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)err;
    myr_buf_printf(context, "%s=%.*s ", key, (int)value.len, value.data);
    return MYR_OK;
}

static void holds(struct store *store, const char *expected)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(store_scan(store, "", list, &text, &err), MYR_OK);
    assert_string_equal(text.data ? text.data : "", expected);
}

/* --- waiting */

static void it_waits_until_it_leads(void **state)
{
    (void)state;
    struct myr_err err;
    wipe();
    /* Named by at most 60 letters; the number that is drawn is behind them. */
    static const char name[] = "0123456789012345678901234567890123456789012345678901234567890123";
    struct store *first = leads(name);
    static const char *const acts[] = {"stay", "500", "txn-500", "expire", NULL};
    struct waiting waiting = {.acts = acts};
    struct store *second = stands_by("b", &waiting, MYR_OK, &err);
    assert_string_equal(waiting.heard.data,
                        "012345678901234567890123456789012345678901234567890123456789 leads\n"
                        "012345678901234567890123456789012345678901234567890123456789 leads\n"
                        "012345678901234567890123456789012345678901234567890123456789 leads\n"
                        "not asked: told so\n");
    assert_int_equal(naps, 4);
    myr_buf_done(&waiting.heard);
    store_close(first);
    /* Who gives up is told who leads, and has not waited. */
    waiting = (struct waiting){};
    assert_null(stands_by("c", &waiting, MYR_ESTALE, &err));
    assert_memory_equal(err.message, "'b ", 3);
    assert_string_equal(strchr(err.message + 3, '\''), "' leads");
    assert_string_equal(waiting.heard.data, "b leads\n");
    assert_int_equal(naps, 0);
    myr_buf_done(&waiting.heard);
    store_close(second);
}

/* What cannot be read is told at once; later it is waited for, as a certificate that is replaced.
 */
static void nonsense_is_told_to_who_starts_it(void **state)
{
    (void)state;
    struct myr_err err;
    wipe();
    struct waiting waiting = {};
    control("nonsense");
    assert_null(stands_by("a", &waiting, MYR_EINVAL, &err));
    assert_null(waiting.heard.data);
    struct store *first = leads("a");
    static const char *const acts[] = {"txn-nonsense", "expire", NULL};
    waiting.acts = acts;
    struct store *second = stands_by("b", &waiting, MYR_OK, &err);
    assert_memory_equal(waiting.heard.data, "a leads\nnot asked: ", 19);
    assert_int_equal(naps, 2);
    myr_buf_done(&waiting.heard);
    store_close(first);
    store_close(second);
}

/* The answer is lost and it leads all the same, with the epoch of then. */
static void a_lead_whose_answer_is_lost(void **state)
{
    (void)state;
    struct myr_err err;
    wipe();
    static const char *const acts[] = {"stay", NULL};
    struct waiting waiting = {.acts = acts};
    control("lose");
    struct store *store = stands_by("a", &waiting, MYR_OK, &err);
    assert_string_equal(waiting.heard.data,
                        "not asked: the connection was closed without an answer\n");
    assert_int_equal(naps, 1);
    myr_buf_done(&waiting.heard);
    store_put(store, "k", MYR_STR("v"));
    assert_int_equal(store_commit(store, &err), MYR_OK);
    holds(store, "k=v ");
    store_close(store);
}

/* The name in etcd may be longer than its place. */
static void a_long_name_is_cut(void **state)
{
    (void)state;
    char name[300];
    for (size_t len = 126; len <= 200; len += len < 128 ? 1 : 72) {
        struct planted keys = {};
        struct myr_err err;
        struct waiting waiting = {};
        wipe();
        memset(name, 'n', len);
        name[len] = '\0';
        plant(&keys, "leader", myr_str_from(name));
        plant(&keys, "leaders", MYR_STR("others")); /* is another key */
        planted_now(&keys);
        assert_null(stands_by("b", &waiting, MYR_ESTALE, &err));
        name[len < 127 ? len : 127] = '\0';
        assert_int_equal(strlen(waiting.heard.data), strlen(name) + 7);
        assert_memory_equal(waiting.heard.data, name, strlen(name));
        myr_buf_done(&waiting.heard);
    }
}

/* --- taking over */

static void refuses(const char *words)
{
    struct myr_err err;
    assert_null(stands_by("a", &(struct waiting){}, MYR_ECORRUPT, &err));
    assert_string_equal(err.message, words);
}

static void a_head_must_be_three_numbers(void **state)
{
    (void)state;
    static const char *const heads[] = {"1 2", "1 2 3 4", "a 0 0",  "0 a 0",  "0 0 a",
                                        "",    "0 5 4",   "0  0 0", "0 0 0 ", "0 0 -1"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(heads); i++) {
        struct planted keys = {};
        char words[120];
        wipe();
        plant(&keys, "head", myr_str_from(heads[i]));
        planted_now(&keys);
        snprintf(words, sizeof(words), "'head' is '%s': three numbers are expected", heads[i]);
        if (strcmp(heads[i], "0 0 0 ") != 0) { /* a blank behind the last one is none */
            refuses(words);
        }
    }
    /* Cut where it is shown, and still no head. */
    struct planted keys = {};
    char text[120], words[160];
    wipe();
    memset(text, '7', sizeof(text));
    plant(&keys, "head", (struct myr_str){text, 100});
    planted_now(&keys);
    snprintf(words, sizeof(words), "'head' is '%.79s': three numbers are expected", text);
    refuses(words);
    /* Another key that begins alike is none. */
    wipe();
    plant(&keys, "header", MYR_STR("nonsense"));
    planted_now(&keys);
    struct store *store = leads("a");
    assert_true(store_is_empty(store));
    store_close(store);
}

static void what_head_names_must_be_there(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf one = {}, two = {};
    struct planted keys = {};
    put_change(&one, "k1", "one");
    put_change(&two, "k2", "two");
    struct myr_str first = {one.data, one.len}, second = {two.data, two.len};
    wipe();
    plant(&keys, "head", MYR_STR("0 0 2"));
    planted_now(&keys);
    refuses("the state in etcd ends at commit 0, 2 is expected");
    plant_part(&keys, "log/0000000000000001/00000000", 1, 0, 1, first);
    planted_now(&keys);
    refuses("the state in etcd ends at commit 1, 2 is expected");
    plant_part(&keys, "log/0000000000000002/00000000", 2, 1, 2, second);
    planted_now(&keys);
    refuses("log/0000000000000002/00000000: a part before it is missing");
    plant_part(&keys, "log/0000000000000002/00000000", 2, 0, 1, MYR_STR("abc"));
    planted_now(&keys);
    refuses("log/0000000000000002/00000000: the change at byte 0 of 3 is damaged");
    plant(&keys, "log/0000000000000002/00000000", MYR_STR("MYRS and no more"));
    planted_now(&keys);
    refuses("log/0000000000000002/00000000: no part of a state of Myriad's");
    /* Now it is there, with the rest of an attempt behind each, and a commit that never was. */
    plant_part(&keys, "log/0000000000000001/00000001", 1, 1, 2, second);
    plant_part(&keys, "log/0000000000000002/00000000", 2, 0, 1, second);
    plant_part(&keys, "log/0000000000000002/00000001", 2, 1, 3, first);
    plant_part(&keys, "log/0000000000000003/00000000", 3, 0, 1, MYR_STR("abc"));
    planted_now(&keys);
    struct store *store = leads("a");
    holds(store, "k1=one k2=two ");
    store_close(store);
    /* An image of that generation, and of the log only what is behind it. */
    plant(&keys, "head", MYR_STR("7 1 2"));
    planted_now(&keys);
    refuses("the state in etcd ends at commit 6, 7 is expected");
    plant_part(&keys, "base/0000000000000007/00000000", 7, 0, 2, second);
    planted_now(&keys);
    refuses("the state in etcd ends at commit 6, 7 is expected");
    plant_part(&keys, "base/0000000000000007/00000001", 7, 1, 2, MYR_STR(""));
    planted_now(&keys);
    store = leads("a");
    holds(store, "k2=two ");
    store_close(store);
}

/* After 4,096 commits the whole state is written, and what it stands for goes. */
static void many_commits_are_one_image(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf one = {}, told = {};
    struct planted keys = {};
    struct myr_err err = {};
    put_change(&one, "k", "v");
    wipe();
    for (uint32_t i = 1; i < 4096; i++) {
        char key[80];
        snprintf(key, sizeof(key), "log/%016x/00000000", i);
        plant_part(&keys, key, i, 0, 1, (struct myr_str){one.data, one.len});
    }
    plant(&keys, "head", MYR_STR("0 0 4094"));
    planted_now(&keys);
    struct store *store = leads("a");
    assert_int_equal(myr_file_read(asked, 1 << 20, &told, &err), MYR_OK);
    size_t before = told.len;
    myr_buf_clear(&told);
    store_put(store, "k", MYR_STR("w"));
    assert_int_equal(store_commit(store, &err), MYR_OK);
    assert_int_equal(myr_file_read(asked, 1 << 20, &told, &err), MYR_OK);
    assert_null(strstr(told.data + before, "base/"));
    store_put(store, "l", MYR_STR("x"));
    assert_int_equal(store_commit(store, &err), MYR_OK);
    myr_buf_clear(&told);
    assert_int_equal(myr_file_read(asked, 1 << 20, &told, &err), MYR_OK);
    assert_non_null(strstr(told.data, "  put /m/base/0000000000000001/00000000 54 bytes\n"
                                      "  put /m/head 11 bytes\n"));
    assert_non_null(strstr(told.data, "  drop /m/log/ to /m/log/0000000000001001/: 4096\n"));
    assert_non_null(strstr(told.data, "  drop /m/base/ to /m/base/0000000000000001/: 0\n"));
    store_close(store);
    store = leads("b");
    holds(store, "k=w l=x ");
    store_close(store);
}

/* A commit of several parts that is overtaken between two of them. */
static void overtaken_in_the_middle(void **state)
{
    (void)state;
    struct myr_err err = {};
    size_t size = 2 * SEGMENT_PART_BYTES;
    char *large = myr_xcalloc(1, size);
    wipe();
    struct store *store = leads("a");
    store_put(store, "k", MYR_STR("v"));
    assert_int_equal(store_commit(store, &err), MYR_OK);
    control("expire");
    memset(large, 'x', size);
    store_put(store, "large", (struct myr_str){large, size});
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_commit(store, &err), MYR_ESTALE);
        assert_string_equal(err.message, "another server leads now: nothing of this one is kept");
    }
    assert_int_equal(store_keep(store, &err), MYR_ESTALE);
    assert_string_equal(err.message, "this server's lease has run out, and another may lead");
    holds(store, "k=v ");
    store_close(store);
    free(large);
    store = leads("b");
    holds(store, "k=v ");
    store_close(store);
}

/* What came behind a commit that failed is the next one. */
static void changes_behind_a_commit_that_failed(void **state)
{
    (void)state;
    struct myr_err err = {};
    wipe();
    struct store *store = leads("a");
    store_put(store, "a", MYR_STR("1"));
    control("500");
    assert_int_equal(store_commit(store, &err), MYR_EAWAY);
    holds(store, "");
    store_put(store, "a", MYR_STR("2"));
    store_delete(store, "none");
    control("500");
    assert_int_equal(store_commit(store, &err), MYR_EAWAY);
    store_put(store, "b", MYR_STR("3"));
    assert_int_equal(store_commit(store, &err), MYR_OK);
    holds(store, "a=2 b=3 ");
    store_put(store, "c", MYR_STR("4"));
    assert_int_equal(store_commit(store, &err), MYR_OK);
    store_close(store);
    store = leads("b");
    holds(store, "a=2 b=3 c=4 ");
    store_close(store);
}

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(asked, sizeof(asked), "%s/asked", folder);
    etcd = played_etcd_start(asked, &port);
    config = (struct etcd_config){.count = 1, .prefix = "/m/", .ttl_s = 3};
    snprintf(config.endpoints[0], sizeof(config.endpoints[0]), "http://127.0.0.1:%u", port);
    return 0;
}

static int end(void **state)
{
    int status;
    (void)state;
    assert_int_equal(kill(etcd, SIGTERM), 0);
    assert_int_equal(waitpid(etcd, &status, 0), etcd);
    assert_int_equal(unlink(asked), 0);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_waits_until_it_leads),
        cmocka_unit_test(nonsense_is_told_to_who_starts_it),
        cmocka_unit_test(a_lead_whose_answer_is_lost),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(a_head_must_be_three_numbers),
        cmocka_unit_test(what_head_names_must_be_there),
        cmocka_unit_test(many_commits_are_one_image),
        cmocka_unit_test(overtaken_in_the_middle),
        cmocka_unit_test(changes_behind_a_commit_that_failed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
