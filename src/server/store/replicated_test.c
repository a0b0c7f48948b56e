/*
 * The store in etcd: what is written where, who leads, what an answer that is lost means, and what
 * one that was overtaken keeps (tests/kept/server-etcd.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <sys/socket.h>

#include "given_back_test.h"
#include "kept.h"
#include "leaks.h"
#include "myriad/io.h"
#include "store.h"
#include "store/played_etcd_test.h"

long myr_leaks_allowed = 0;

static char folder[] = "/tmp/myriad-etcd-XXXXXX", asked[64];
static uint16_t port;
static pid_t etcd;
static struct myr_buf story;
static size_t seen;

static void put_asked(const char *what)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(asked, 8 << 20, &text, &err), MYR_OK);
    myr_buf_printf(&story, "== %s\n", what);
    myr_buf_put(&story, text.data + seen, text.len - seen);
    seen = text.len;
}

static void control(const char *word)
{
    char url[80];
    struct myr_http_answer answer = {};
    struct myr_err err = {};
    snprintf(url, sizeof(url), "http://127.0.0.1:%u/control/%s", port, word);
    assert_int_equal(
        myr_http_ask(&(struct myr_http_request){.method = "POST", .url = url, .body = MYR_STR("x")},
                     NULL, NULL, &answer, &err),
        MYR_OK);
    myr_http_answer_done(&answer);
}

static char waited[200];

static bool on_wait(void *context, const char *leader, const char *why)
{
    (void)context;
    if (leader) { /* its name, without the number that nobody else draws */
        snprintf(waited, sizeof(waited), "%.*s leads", (int)strcspn(leader, " "), leader);
    } else {
        const char *words = strchr(why + 7, ' ');
        snprintf(waited, sizeof(waited), "%s", words ? words + 1 : why);
    }
    return false;
}

/* At these ports, one behind the other. */
static struct store *stand_by_at(const uint16_t *ports, uint32_t count, const char *name,
                                 int expected)
{
    struct etcd_config config = {.count = count, .prefix = "/m/", .ttl_s = 30};
    struct store *store = NULL;
    struct myr_err err = {};
    for (uint32_t i = 0; i < count; i++) {
        snprintf(config.endpoints[i], sizeof(config.endpoints[i]), "http://127.0.0.1:%u", ports[i]);
    }
    waited[0] = '\0';
    int rc = store_stand_by(&config, name, on_wait, NULL, &store, &err);
    if (rc != expected) {
        fail_msg("%d: %s", rc, err.message);
    }
    return store;
}

static struct store *stand_by(const char *name, int expected)
{
    return stand_by_at(&port, 1, name, expected);
}

static void commits(struct store *store, int expected, const char *words)
{
    struct myr_err err = {};
    int rc = store_commit(store, &err);
    if (rc != expected || !strstr(err.message, words)) {
        fail_msg("%d: '%s' is expected: %s", rc, words, err.message);
    }
}

static int list(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    (void)err;
    myr_buf_printf(context, "%s=%.*s ", key, (int)(value.len < 20 ? value.len : 20), value.data);
    return MYR_OK;
}

static void holds(struct store *store, const char *expected)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    assert_int_equal(store_scan(store, "", list, &text, &err), MYR_OK);
    assert_string_equal(text.data ? text.data : "", expected);
}

static void one_writes_and_the_next_reads(void)
{
    struct myr_err err = {};
    struct store *store = stand_by("a", MYR_OK);
    assert_true(store_is_empty(store));
    put_asked("a leads");
    store_put(store, "k/1", MYR_STR("one"));
    store_put(store, "k/2", MYR_STR("two"));
    commits(store, MYR_OK, "");
    assert_false(store_is_empty(store));
    put_asked("its first commit");
    store_delete(store, "k/1");
    store_put(store, "k/3", MYR_STR("three"));
    commits(store, MYR_OK, "");
    commits(store, MYR_OK, ""); /* of nothing */
    put_asked("its second");
    assert_int_equal(store_keep(store, &err), MYR_OK);
    put_asked("it is alive");
    assert_null(stand_by("b", MYR_ESTALE));
    assert_string_equal(waited, "a leads");
    put_asked("b does not lead");
    holds(store, "k/2=two k/3=three ");
    store_close(store);
    put_asked("a goes");
    store = stand_by("b", MYR_OK);
    holds(store, "k/2=two k/3=three ");
    put_asked("b leads");
    store_close(store);
}

static void answers_are_lost(void)
{
    struct store *store = stand_by("a", MYR_OK);
    put_asked("a leads again");
    control("lose");
    store_put(store, "k/4", MYR_STR("four"));
    commits(store, MYR_EIO, "the connection was closed without an answer");
    put_asked("a commit whose answer is lost");
    commits(store, MYR_OK, "");
    put_asked("asked again, it had been taken");
    holds(store, "k/2=two k/3=three k/4=four ");
    static const struct {
        const char *fault;
        int code;
        const char *words;
    } faults[] = {{"500", MYR_EAWAY, "told so"},
                  {"full", MYR_EIO, "its quota is used up: mvcc: database space exceeded"},
                  {"denied", MYR_EDENIED, "not allowed: told so"},
                  {"404", MYR_EVERSION, "no such call; etcd 3.4 or later is expected"},
                  {"nonsense", MYR_EINVAL, ""}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(faults); i++) {
        char value[8];
        snprintf(value, sizeof(value), "v%zu", i);
        store_put(store, "k/5", myr_str_from(value));
        control(faults[i].fault);
        commits(store, faults[i].code, faults[i].words);
        commits(store, MYR_OK, "");
    }
    put_asked("faults, each followed by a commit that succeeds");
    holds(store, "k/2=two k/3=three k/4=four k/5=v4 ");
    store_close(store);
    store = stand_by("a", MYR_OK);
    holds(store, "k/2=two k/3=three k/4=four k/5=v4 ");
    put_asked("read again");
    store_close(store);
}

static void one_is_overtaken(void)
{
    struct myr_err err = {};
    struct store *old = stand_by("old", MYR_OK);
    control("expire");
    struct store *fresh = stand_by("fresh", MYR_OK);
    put_asked("another leads");
    store_put(old, "k/9", MYR_STR("never"));
    commits(old, MYR_ESTALE, "another server leads now: nothing of this one is kept");
    assert_int_equal(store_keep(old, &err), MYR_ESTALE);
    put_asked("the old one keeps nothing");
    store_put(fresh, "k/6", MYR_STR("six"));
    commits(fresh, MYR_OK, "");
    store_close(old);
    holds(fresh, "k/2=two k/3=three k/4=four k/5=v4 k/6=six ");
    control("expire");
    err = (struct myr_err){};
    assert_int_equal(store_keep(fresh, &err), MYR_ESTALE);
    assert_string_equal(err.message, "this server's lease has run out, and another may lead");
    assert_int_equal(store_keep(fresh, &err), MYR_ESTALE);
    put_asked("a lease runs out");
    store_close(fresh);
}

/* Values of many parts; and after so many commits the state is written whole. */
static void much_is_written(void)
{
    struct store *store = stand_by("a", MYR_OK);
    MYR_CLEANUP(myr_buf_done) struct myr_buf large = {};
    for (uint32_t i = 0; i < 3000000; i++) {
        myr_buf_putc(&large, (char)('a' + i % 26));
    }
    store_put(store, "large", (struct myr_str){large.data, large.len});
    commits(store, MYR_OK, "");
    put_asked("a value of many parts");
    for (int i = 0; i < 3; i++) {
        store_put(store, "large", (struct myr_str){large.data, large.len - (size_t)i});
        commits(store, MYR_OK, "");
    }
    put_asked("written again and again, until the log is longer than what it says");
    store_close(store);
    store = stand_by("b", MYR_OK);
    holds(store, "k/2=two k/3=three k/4=four k/5=v4 k/6=six large=abcdefghijklmnopqrst ");
    put_asked("read by another");
    store_delete(store, "large");
    commits(store, MYR_OK, "");
    store_close(store);
    put_asked("and deleted");
}

/* Who is away is passed over; what one of them understood and refused is not asked of others. */
static void members_are_away(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    int silent = socket(AF_INET, SOCK_STREAM, 0); /* bound, and nobody listens */
    assert_int_equal(bind(silent, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &size), 0);
    const uint16_t ports[] = {ntohs(at.sin_port), port, ntohs(at.sin_port), port};
    struct store *store = stand_by_at(ports, MYR_ARRAY_COUNT(ports), "a", MYR_OK);
    put_asked("a leads, two members of four are away");
    store_put(store, "k/7", MYR_STR("seven"));
    control("500");
    commits(store, MYR_OK, "");
    put_asked("one has a fault: the next is asked");
    static const struct {
        const char *fault;
        int code;
        const char *words;
    } faults[] = {{"full", MYR_EIO, "its quota is used up"},
                  {"denied", MYR_EDENIED, "not allowed"},
                  {"404", MYR_EVERSION, "no such call"},
                  {"nonsense", MYR_EINVAL, ""}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(faults); i++) {
        store_put(store, "k/7", myr_str_from(faults[i].fault));
        control(faults[i].fault);
        commits(store, faults[i].code, faults[i].words);
        commits(store, MYR_OK, "");
    }
    put_asked("what one refuses is not asked of the next");
    store_delete(store, "k/7");
    commits(store, MYR_OK, "");
    store_close(store);
    const uint16_t none[] = {ports[0], ports[2]};
    assert_null(stand_by_at(none, 2, "a", MYR_EAWAY));
    close(silent);
    put_asked("and all of them");
}

static void a_store_in_etcd(void **state)
{
    (void)state;
    int status;
    assert_non_null(mkdtemp(folder));
    snprintf(asked, sizeof(asked), "%s/asked", folder);
    etcd = played_etcd_start(asked, &port);
    one_writes_and_the_next_reads();
    answers_are_lost();
    one_is_overtaken();
    members_are_away();
    much_is_written();
    assert_int_equal(kill(etcd, SIGTERM), 0);
    assert_int_equal(waitpid(etcd, &status, 0), etcd);
    assert_null(stand_by("late", MYR_EAWAY)); /* nobody is there */
    assert_int_equal(unlink(asked), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_kept("server-etcd.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_in_etcd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
