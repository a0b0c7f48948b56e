/*
 * The members of etcd and what travels to them: who is asked and how often, pages of keys, any
 * bytes there and back, several changes at once; and a server that is overtaken in doubt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "given_back_test.h"
#include "leaks.h"
#include "myriad/io.h"
#include "store/etcd.h"
#include "store/played_etcd_test.h"

long myr_leaks_allowed = 0;

static char folder[] = "/tmp/myriad-members-XXXXXX", asked[64];
static uint16_t port, silent_port;
static pid_t process;
static int silent;
static struct etcd *etcd;

static struct etcd *members(const uint16_t *ports, uint32_t count)
{
    struct etcd_config config = {.count = count, .prefix = "/m/", .ttl_s = 3};
    for (uint32_t i = 0; i < count; i++) {
        snprintf(config.endpoints[i], sizeof(config.endpoints[i]), "http://127.0.0.1:%u", ports[i]);
    }
    return etcd_new(&config);
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

static void who_answered_last_is_asked_first(void **state)
{
    (void)state;
    const uint16_t ports[] = {silent_port, silent_port, port};
    struct myr_err err = {};
    int64_t lease = 0;
    struct etcd *three = members(ports, 3);
    assert_int_equal(etcd_requests(three), 0);
    assert_int_equal(etcd_lease(three, 5, &lease, &err), MYR_OK);
    assert_int_equal(etcd_requests(three), 3);
    assert_int_equal(etcd_keep_alive(three, lease, &err), MYR_OK);
    assert_int_equal(etcd_requests(three), 4);
    /* It has a fault: the others are asked, each once, and it is its turn again. */
    control("500");
    assert_int_equal(etcd_keep_alive(three, lease, &err), MYR_EAWAY);
    assert_int_equal(etcd_requests(three), 7);
    assert_int_equal(etcd_keep_alive(three, lease, &err), MYR_OK);
    assert_int_equal(etcd_requests(three), 8);
    etcd_revoke(three, lease);
    assert_int_equal(etcd_requests(three), 9);
    etcd_free(three);
    struct etcd *none = members(ports, 2);
    assert_int_equal(etcd_lease(none, 5, &lease, &err), MYR_EAWAY);
    assert_int_equal(etcd_requests(none), 2);
    etcd_free(none);
}

/* What one of them has understood and refused, nobody else is asked for. */
static void a_refusal_is_one_of_all(void **state)
{
    (void)state;
    static const struct {
        const char *fault;
        int code;
        uint32_t requests;
    } rows[] = {{"full", MYR_EIO, 1},
                {"denied", MYR_EDENIED, 1},
                {"404", MYR_EVERSION, 1},
                {"nonsense", MYR_EINVAL, 1},
                {"500", MYR_OK, 2}};
    const uint16_t ports[] = {port, port};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_err err = {};
        int64_t lease = 0;
        struct etcd *two = members(ports, 2);
        control(rows[i].fault);
        assert_int_equal(etcd_lease(two, 5, &lease, &err), rows[i].code);
        assert_int_equal(etcd_requests(two), rows[i].requests);
        etcd_free(two);
    }
}

/* --- keys and values */

struct gathered {
    struct myr_buf keys;
    char value[512];
    size_t len;
};

static int take(void *context, const char *key, struct myr_str value, uint64_t created,
                struct myr_err *err)
{
    struct gathered *all = context;
    (void)created;
    (void)err;
    myr_buf_printf(&all->keys, "%s ", key);
    assert_true(value.len < sizeof(all->value));
    myr_str_put(value, all->value);
    all->len = value.len;
    return MYR_OK;
}

static void drop_all(void)
{
    struct myr_err err = {};
    const struct etcd_drop all = {"a", "z"};
    assert_int_equal(etcd_commit(etcd, &(struct etcd_txn){.drop = &all}, NULL, &err), 1);
}

/* As many as fill their pages exactly, one less and one more. */
static void keys_come_page_by_page(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 7, 8, 9, 15, 16, 17};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf expected = {};
        struct gathered all = {};
        struct myr_err err = {};
        char names[17][8];
        struct etcd_put puts[17];
        drop_all();
        for (uint32_t k = 0; k < counts[i]; k++) { /* each begins as the one before it */
            snprintf(names[k], sizeof(names[k]), "k%.*s%u", (int)(k / 10), "9", k % 10);
            puts[k] = (struct etcd_put){.key = names[k], .value = MYR_STR("v")};
            myr_buf_printf(&expected, "%s ", names[k]);
        }
        const struct etcd_put other = {.key = "l", .value = MYR_STR("other")};
        assert_int_equal(
            etcd_commit(etcd, &(struct etcd_txn){.puts = &other, .put_count = 1}, NULL, &err), 1);
        const struct etcd_txn txn = {.puts = puts, .put_count = counts[i]};
        assert_int_equal(etcd_commit(etcd, &txn, NULL, &err), 1);
        uint64_t before = etcd_requests(etcd);
        assert_int_equal(etcd_range(etcd, "k", take, &all, &err), MYR_OK);
        assert_int_equal(etcd_requests(etcd) - before, counts[i] < 9 ? 1 : counts[i] < 17 ? 2 : 3);
        assert_string_equal(all.keys.len ? all.keys.data : "", expected.len ? expected.data : "");
        myr_buf_done(&all.keys);
    }
}

static void any_value_is_there_as_it_was(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 31, 1);
    for (uint32_t round = 0; round < 24; round++) {
        char bytes[64];
        struct gathered all = {};
        struct myr_err err = {};
        size_t len = round;
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (char)myr_rng_below(&rng, 256);
        }
        const struct etcd_put put = {.key = "k", .value = {bytes, len}};
        drop_all();
        assert_int_equal(
            etcd_commit(etcd, &(struct etcd_txn){.puts = &put, .put_count = 1}, NULL, &err), 1);
        assert_int_equal(etcd_range(etcd, "k", take, &all, &err), MYR_OK);
        assert_int_equal(all.len, len);
        assert_memory_equal(all.value, bytes, len);
        myr_buf_done(&all.keys);
    }
}

/* All or nothing: comparisons, puts and a range that goes, in one step. */
static void a_transaction_is_one_step(void **state)
{
    (void)state;
    struct myr_err err = {};
    uint64_t first = 0, second = 0, third = 0;
    const struct etcd_put puts[] = {{.key = "a", .value = MYR_STR("1")},
                                    {.key = "b", .value = MYR_STR("2")},
                                    {.key = "c", .value = MYR_STR("3")}};
    drop_all();
    struct etcd_txn txn = {.puts = puts, .put_count = 3};
    assert_int_equal(etcd_commit(etcd, &txn, &first, &err), 1);
    const struct etcd_compare same[] = {{.key = "a", .by_value = true, .value = MYR_STR("1")},
                                        {.key = "b", .created = first},
                                        {.key = "d"}}; /* which is not there */
    const struct etcd_put put = {.key = "d", .value = MYR_STR("4")};
    const struct etcd_drop drop = {"a", "c"};
    txn = (struct etcd_txn){
        .compares = same, .compare_count = 3, .puts = &put, .put_count = 1, .drop = &drop};
    assert_int_equal(etcd_commit(etcd, &txn, &second, &err), 1);
    assert_int_equal(second, first + 1);
    struct gathered all = {};
    assert_int_equal(etcd_range(etcd, "c", take, &all, &err), MYR_OK);
    assert_int_equal(etcd_range(etcd, "d", take, &all, &err), MYR_OK);
    assert_int_equal(etcd_range(etcd, "a", take, &all, &err), MYR_OK);
    assert_int_equal(etcd_range(etcd, "b", take, &all, &err), MYR_OK);
    assert_string_equal(all.keys.data, "c d ");
    myr_buf_done(&all.keys);
    /* The same again: each of the comparisons fails by itself, and nothing is done. */
    for (uint32_t i = 0; i < 3; i++) {
        txn = (struct etcd_txn){.compares = &same[i], .compare_count = 1, .drop = &drop};
        assert_int_equal(etcd_commit(etcd, &txn, &third, &err), 0);
        assert_int_equal(third, second);
    }
}

/* --- who leads */

static bool nobody_waits(void *context, const char *leader, const char *why)
{
    (void)context, (void)leader, (void)why;
    return false;
}

static struct store *leads(const char *name)
{
    struct myr_err err = {};
    struct store *store = NULL;
    struct etcd_config config = {.count = 1, .prefix = "/r/", .ttl_s = 3};
    snprintf(config.endpoints[0], sizeof(config.endpoints[0]), "http://127.0.0.1:%u", port);
    if (store_stand_by(&config, name, nobody_waits, NULL, &store, &err) < 0) {
        fail_msg("%s", err.message);
    }
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
    assert_string_equal(text.len ? text.data : "", expected);
}

/*
 * A commit was taken and its answer lost, then the lease ran out: the head is its own, but it leads
 * no more, and must not go on as if it did.
 */
static void who_is_overtaken_in_doubt_ends(void **state)
{
    (void)state;
    struct myr_err err = {};
    for (int others = 0; others < 2; others++) {
        struct store *store = leads("a"), *next = NULL;
        store_put(store, "k", others ? MYR_STR("2") : MYR_STR("1"));
        control("lose");
        assert_int_equal(store_commit(store, &err), MYR_EIO);
        control("expire");
        if (others) {
            next = leads("b");
        }
        assert_int_equal(store_commit(store, &err), MYR_ESTALE);
        assert_string_equal(err.message, "another server leads now: nothing of this one is kept");
        store_close(store);
        next = next ? next : leads("b");
        holds(next, others ? "k=2 " : "k=1 "); /* it was taken all the same */
        store_close(next);
    }
}

/* Ranges and keys that are not there, in one commit, as the next server reads them. */
static void the_next_reads_what_was_done(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct store *store = leads("a");
    store_put(store, "j/1", MYR_STR("x"));
    store_put(store, "j/2", MYR_STR(""));
    store_put(store, "j/3", MYR_STR("z"));
    store_delete_range(store, "j/2", "j/3");
    store_delete(store, "none");
    store_put(store, "k", MYR_STR("w"));
    store_delete(store, "k");
    assert_int_equal(store_commit(store, &err), MYR_OK);
    holds(store, "j/1=x j/3=z ");
    store_close(store);
    store = leads("b");
    holds(store, "j/1=x j/3=z ");
    store_delete_range(store, "a", "z");
    assert_int_equal(store_commit(store, &err), MYR_OK);
    assert_true(store_is_empty(store));
    store_close(store);
}

static int begin(void **state)
{
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); /* bound, and nobody listens */
    assert_int_equal(bind(silent, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &size), 0);
    silent_port = ntohs(at.sin_port);
    assert_non_null(mkdtemp(folder));
    snprintf(asked, sizeof(asked), "%s/asked", folder);
    process = played_etcd_start(asked, &port);
    etcd = members(&port, 1);
    return 0;
}

static int end(void **state)
{
    int status;
    (void)state;
    etcd_free(etcd);
    close(silent);
    assert_int_equal(kill(process, SIGTERM), 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_int_equal(unlink(asked), 0);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_answered_last_is_asked_first),
        cmocka_unit_test(a_refusal_is_one_of_all),
        cmocka_unit_test(keys_come_page_by_page),
        cmocka_unit_test(any_value_is_there_as_it_was),
        cmocka_unit_test(a_transaction_is_one_step),
        cmocka_unit_test(who_is_overtaken_in_doubt_ends),
        cmocka_unit_test(the_next_reads_what_was_done),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
