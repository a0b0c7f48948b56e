#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "myriad/server.h"
#include "server.h"

static void every_key_is_taken(void **state)
{
    (void)state;
    struct myr_err err = {};
    static const char text[] = "cluster: c\nworld: twin\nnodes: 'n[1-4]'\ngpus_per_node: 4\n"
                               "nodes_per_leaf: 2\nhttp: '127.0.0.1:0'\nagents: '[::1]:1'\n"
                               "policy: fifo\nspares: 3\npretend: true\nbeat_ms: 200\nspeed: 2\n"
                               "faults: none\nfence: /f\nfence_timeout_s: 9\n"
                               "power: {kw_per_gpu: 1, price_kwh: 2, "
                               "currency: EUR}\n";
    if (myr_server_check("c", myr_str_from(text), &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static struct config read_config(const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct config config = {};
    struct myr_err err = {};
    char path[] = "/tmp/myr-config-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
    myr_buf_puts(&buf, text);
    if (myr_file_write(path, &buf, &err) < 0 || config_read(path, &config, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(unlink(path), 0);
    return config;
}

static void every_key_is_kept(void **state)
{
    (void)state;
    struct config c =
        read_config("cluster: c\nworld: twin\nnodes: 'n[1-4]'\ngpus_per_node: 4\n"
                    "nodes_per_leaf: 2\nhttp: '1.2.3.4:5'\nagents: '[::1]:6'\n"
                    "policy: fifo\nspares: 3\npretend: true\nbeat_ms: 200\nspeed: 2\n"
                    "faults: none\nfence: /f\nfence_timeout_s: 9\npower: {kw_per_gpu: "
                    "1.5, price_kwh: 2.5, currency: EUR}\n");
    assert_string_equal(c.cluster, "c");
    assert_true(c.world == WORLD_TWIN && c.twin && c.pretend);
    assert_int_equal(c.node_count, 4);
    assert_string_equal(c.names[0], "n1");
    assert_string_equal(c.names[3], "n4");
    assert_int_equal(c.gpus_per_node, 4);
    assert_int_equal(c.nodes_per_leaf, 2);
    assert_string_equal(c.http_address, "1.2.3.4");
    assert_int_equal(c.http_port, 5);
    assert_string_equal(c.agents_address, "::1");
    assert_int_equal(c.agents_port, 6);
    assert_int_equal(c.policy, MYR_QUEUE_FIFO);
    assert_int_equal(c.spares, 3);
    assert_int_equal(c.beat_ms, 200);
    assert_true(c.speed == 2 && c.kw_per_gpu == 1.5 && c.price_kwh == 2.5);
    assert_string_equal(c.currency, "EUR");
    assert_string_equal(c.faults, "none");
    assert_string_equal(c.fence, "/f");
    assert_int_equal(c.fence_timeout_s, 9);
    config_done(&c);
}

/* As docs/server.md lists them. */
static void what_is_absent_is_as_the_manual_says(void **state)
{
    (void)state;
    struct config c = read_config("nodes: a\n");
    assert_string_equal(c.cluster, "myriad");
    assert_true(c.world == WORLD_AGENTS && !c.twin && !c.pretend);
    assert_int_equal(c.gpus_per_node, 8);
    assert_int_equal(c.nodes_per_leaf, 16);
    assert_string_equal(c.http_address, "127.0.0.1");
    assert_int_equal(c.http_port, 4680);
    assert_string_equal(c.agents_address, "127.0.0.1");
    assert_int_equal(c.agents_port, 4681);
    assert_int_equal(c.policy, MYR_QUEUE_FAIR);
    assert_int_equal(c.spares, 0);
    assert_int_equal(c.beat_ms, 1000);
    assert_true(c.speed == 1 && c.kw_per_gpu == 1.3 && c.price_kwh == 0.6);
    assert_string_equal(c.currency, "CNY");
    assert_string_equal(c.faults, "rsc-1");
    assert_string_equal(c.fence, "");
    assert_int_equal(c.fence_timeout_s, 60);
    assert_int_equal(c.starve_h, 24);
    config_done(&c);
}

static void what_is_below_is_kept_too(void **state)
{
    (void)state;
    struct config c = read_config(
        "nodes: a\nworld: slurm\npolicy: preempt\nslurm: {partition: p, conf: /c, bin: /b, "
        "spool: /s, options: '-x 1', poll_s: 7, timeout_s: 8, accounts: true}\n"
        "etcd: {endpoints: ['http://e1:1//', 'https://e2'], prefix: /a/b, ca: /ca, certificate: "
        "/crt, key: /key, ttl_s: 9}\n");
    assert_true(c.world == WORLD_SLURM && !c.twin && c.slurm.accounts);
    assert_int_equal(c.policy, MYR_QUEUE_PREEMPT);
    assert_string_equal(c.slurm.partition, "p");
    assert_string_equal(c.slurm.conf, "/c");
    assert_string_equal(c.slurm.bin, "/b");
    assert_string_equal(c.slurm.spool, "/s");
    assert_string_equal(c.slurm.options, "-x 1");
    assert_int_equal(c.slurm.poll_s, 7);
    assert_int_equal(c.slurm.timeout_s, 8);
    assert_int_equal(c.etcd.count, 2);
    assert_string_equal(c.etcd.endpoints[0], "http://e1:1");
    assert_string_equal(c.etcd.endpoints[1], "https://e2");
    assert_string_equal(c.etcd.prefix, "/a/b/");
    assert_string_equal(c.etcd.ca, "/ca");
    assert_string_equal(c.etcd.certificate, "/crt");
    assert_string_equal(c.etcd.key, "/key");
    assert_int_equal(c.etcd.ttl_s, 9);
    config_done(&c);
    c = read_config("nodes: a\ncluster: lab\netcd: {endpoints: [http://e:1]}\npower: {}\n");
    assert_string_equal(c.etcd.prefix, "/myriad/lab/");
    assert_int_equal(c.etcd.ttl_s, 3);
    assert_string_equal(c.etcd.ca, "");
    assert_true(c.kw_per_gpu == 1.3 && c.price_kwh == 0.6);
    config_done(&c);
    c = read_config("nodes: a\npolicy: first-fit\n");
    assert_int_equal(c.policy, MYR_QUEUE_FIRST_FIT);
    assert_int_equal(c.slurm.poll_s, 5);
    assert_int_equal(c.slurm.timeout_s, 30);
    assert_int_equal(c.etcd.count, 0);
    config_done(&c);
}

/* Each text that has its room: as long as it goes, and a byte more. */
static void texts_have_their_room(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        size_t most;
        const char *after;
    } cases[] = {
        {"cluster: ", 63, ""},
        {"faults: ", 31, ""},
        {"fence: /", 510, ""},
        {"power: {currency: ", 7, "}"},
        {"slurm: {partition: ", 63, "}"},
        {"slurm: {conf: ", 511, "}"},
        {"slurm: {bin: ", 511, "}"},
        {"slurm: {spool: ", 511, "}"},
        {"slurm: {options: ", 511, "}"},
        {"etcd: {endpoints: [http://a], prefix: ", 126, "}"}, /* and a '/' */
        {"etcd: {endpoints: [http://a], ca: ", 511, "}"},
        {"etcd: {endpoints: [http://a], key: k, certificate: ", 511, "}"},
        {"etcd: {endpoints: [http://a], certificate: c, key: ", 511, "}"},
        {"etcd: {endpoints: [http://", 120, "]}"},
        {"http: '", 63, ":1'"},
        {"agents: '[", 63, "]:1'"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        for (size_t more = 0; more < 2; more++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            struct myr_err err = {};
            myr_buf_printf(&text, "nodes: a\n%s", cases[i].before);
            for (size_t k = 0; k < cases[i].most + more; k++) {
                myr_buf_putc(&text, 'x');
            }
            myr_buf_printf(&text, "%s\n", cases[i].after);
            int rc = myr_server_check("c", (struct myr_str){text.data, text.len}, &err);
            if ((rc == MYR_OK) == (more == 1)) {
                fail_msg("%s with %zu bytes gives %d %s", cases[i].before, cases[i].most + more, rc,
                         err.message);
            }
        }
    }
}

static void numbers_have_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *key, *below, *least, *most, *above, *behind;
    } cases[] = {
        {"gpus_per_node", "0", "1", "64", "65", ""},
        {"nodes_per_leaf", "0", "1", "1024", "1025", ""},
        {"spares", "-1", "0", "3", "4", ""},
        {"beat_ms", "49", "50", "60000", "60001", ""},
        {"starve_h", "-1", "0", "8760", "8761", ""},
        {"fence_timeout_s", "0", "1", "3600", "3601", ""},
        {"speed", "0.009", "0.01", "10000", "10001", ""},
        {"power: {kw_per_gpu", "-0.1", "0", "100", "100.1", "}"},
        {"power: {price_kwh", "-0.1", "0", "1000", "1000.1", "}"},
        {"slurm: {poll_s", "0", "1", "3600", "3601", "}"},
        {"slurm: {timeout_s", "0", "1", "600", "601", "}"},
        {"etcd: {endpoints: [http://a], ttl_s", "1", "2", "60", "61", "}"},
        {"http", "''", "'a:0'", "'a:65535'", "'a:65536'", ""},
        {"agents", "':1'", "'[a]:1'", "'[::]:2'", "'[a:3'", ""},
        {"etcd: {endpoints", "[]", "[http://a]",
         "[http://a, http://a, http://a, http://a, http://a, http://a, http://a, http://a, "
         "http://a]",
         "[http://a, http://a, http://a, http://a, http://a, http://a, http://a, http://a, "
         "http://a, http://a]",
         "}"},
        {"etcd: {endpoints", "[http://]", "[http://b]", "[https://c]", "[ftp://abc]", "}"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const char *values[] = {cases[i].below, cases[i].least, cases[i].most, cases[i].above};
        for (size_t v = 0; v < 4; v++) {
            char text[300];
            struct myr_err err = {};
            snprintf(text, sizeof(text), "nodes: 'n[1-4]'\n%s: %s%s\n", cases[i].key, values[v],
                     cases[i].behind);
            int rc = myr_server_check("c", myr_str_from(text), &err);
            if ((rc == MYR_OK) != (v == 1 || v == 2)) {
                fail_msg("%s: %s gives %d %s", cases[i].key, values[v], rc, err.message);
            }
        }
    }
}

/* An address is what stands before the last colon, without its brackets. */
static void addresses_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        uint16_t port;
    } rows[] = {
        {"a:1", "a", 1},
        {"10.0.0.1:65535", "10.0.0.1", 65535},
        {"[a]:2", "a", 2},
        {"[::]:3", "::", 3},
        {"[fe80::1]:0", "fe80::1", 0},
        {"::1:4", "::1", 4}, /* who leaves the brackets out means that */
        {"head.example:0080", "head.example", 80},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char text[120];
        snprintf(text, sizeof(text), "nodes: n\nhttp: '%s'\nagents: '%s'\n", rows[i].text,
                 rows[MYR_ARRAY_COUNT(rows) - 1 - i].text);
        struct config c = read_config(text);
        assert_string_equal(c.http_address, rows[i].host);
        assert_int_equal(c.http_port, rows[i].port);
        assert_string_equal(c.agents_address, rows[MYR_ARRAY_COUNT(rows) - 1 - i].host);
        assert_int_equal(c.agents_port, rows[MYR_ARRAY_COUNT(rows) - 1 - i].port);
        config_done(&c);
    }
    static const char *const bad[] = {"a",    ":",    ":1",  "a:",    "a:x",    "a: 1",   "a:-1",
                                      "[]:1", "[a:1", "[:1", "a]:1x", "[a]1:1", "[a] :1", "[a]",
                                      "a:1:", "[a]:", "]:",  "[]:",   "[:",     "a:65536"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        char text[120];
        struct myr_err err = {};
        snprintf(text, sizeof(text), "nodes: n\nagents: '%s'\n", bad[i]);
        assert_int_equal(myr_server_check("c", myr_str_from(text), &err), MYR_EINVAL);
        assert_string_equal(err.message, "c:2:9: 'agents' is no address; such as 127.0.0.1:4680 or "
                                         "[::1]:4680 is expected");
    }
}

/* A prefix ends in one slash, an endpoint in none. */
static void slashes_are_as_etcd_wants_them(void **state)
{
    (void)state;
    static const char *const prefixes[][2] = {
        {"/", "/"}, {"a", "a/"}, {"/a/b/", "/a/b/"}, {"/a/b", "/a/b/"}, {"//", "//"}};
    static const char *const endpoints[][2] = {{"http://e", "http://e"},
                                               {"http://e/", "http://e"},
                                               {"https://e:2379///", "https://e:2379"},
                                               {"http://e/x/", "http://e/x"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(prefixes); i++) {
        char text[200];
        const char *const *endpoint = endpoints[i % MYR_ARRAY_COUNT(endpoints)];
        snprintf(text, sizeof(text),
                 "nodes: n\netcd: {endpoints: ['%s', 'http://b'], prefix: '%s'}\n", endpoint[0],
                 prefixes[i][0]);
        struct config c = read_config(text);
        assert_string_equal(c.etcd.prefix, prefixes[i][1]);
        assert_int_equal(c.etcd.count, 2);
        assert_string_equal(c.etcd.endpoints[0], endpoint[1]);
        assert_string_equal(c.etcd.endpoints[1], "http://b");
        config_done(&c);
    }
    static const char *const bad[] = {"http://",    "https:///", "http:/a/b/c",
                                      "ttp://abcd", "/////////", "HTTP://abc"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        char text[120];
        struct myr_err err = {};
        snprintf(text, sizeof(text), "nodes: n\netcd: {endpoints: ['http://a', '%s']}\n", bad[i]);
        assert_int_equal(myr_server_check("c", myr_str_from(text), &err), MYR_EINVAL);
        assert_string_equal(err.message,
                            "c:2:32: 'etcd.endpoints': such as http://127.0.0.1:2379 is expected");
    }
}

/* The words that a key may have, each with what it means. */
static void words_of_worlds_and_policies(void **state)
{
    (void)state;
    static const struct {
        const char *world, *policy;
        enum world_kind kind;
        enum myr_queue_preset preset;
    } rows[] = {{"agents", "fifo", WORLD_AGENTS, MYR_QUEUE_FIFO},
                {"twin", "first-fit", WORLD_TWIN, MYR_QUEUE_FIRST_FIT},
                {"slurm", "fair", WORLD_SLURM, MYR_QUEUE_FAIR},
                {"agents", "preempt", WORLD_AGENTS, MYR_QUEUE_PREEMPT}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char text[120];
        snprintf(text, sizeof(text), "nodes: n\nworld: %s\npolicy: %s\npretend: %s\n",
                 rows[i].world, rows[i].policy, i % 2 ? "true" : "false");
        struct config c = read_config(text);
        assert_int_equal(c.world, rows[i].kind);
        assert_int_equal(c.twin, rows[i].kind == WORLD_TWIN);
        assert_int_equal(c.policy, rows[i].preset);
        assert_int_equal(c.pretend, i % 2);
        config_done(&c);
        config_done(&c); /* twice is harmless */
        assert_null(c.names);
        assert_int_equal(c.node_count, 0);
    }
}

static void fails(const char *text, const char *where, const char *words)
{
    struct myr_err err = {};
    assert_true(myr_server_check("c", myr_str_from(text), &err) < 0);
    if (strncmp(err.message, where, strlen(where)) != 0 || !strstr(err.message, words)) {
        fail_msg("'%s ... %s' is expected: %s", where, words, err.message);
    }
}

static void bad_ones_are_told_with_their_place(void **state)
{
    (void)state;
    fails("nodes: a\nbogus: 1\n", "c:2:1", "bogus");
    fails("cluster: a\n", "c:1:1", "nodes");
    fails("nodes: 64\n", "c:1:8", "as in gpu-[1-64], not a number");
    fails("nodes: '8'\n", "c:1:8", "not a number");
    fails("nodes: 'a[1'\n", "c:1:8", "']' is missing");
    fails("nodes: a\nspares: 1\n", "c:2:9", "spares");
    fails("nodes: a\nhttp: localhost\n", "c:2:7", "is no address");
    fails("nodes: a\nhttp: '[]:1'\n", "c:2:7", "is no address");
    fails("nodes: a\nagents: '1.2.3.4:65536'\n", "c:2:9", "is no address");
    fails("nodes: a\nworld: real\n", "c:2:8", "world");
    fails("nodes: a\npower: {volts: 1}\n", "c:2:9", "volts");
    fails("nodes: a\nspeed: 0\n", "c:2:8", "speed");
    fails("nodes: a\nfence: off.sh\n", "c:2:8", "a path from '/' on is expected");
    fails("nodes: a\nfence_timeout_s: 0\n", "c:2:18", "fence_timeout_s");
    fails("nodes: a\ncluster: 1234567890123456789012345678901234567890123456789012345678901234\n",
          "c:2:10", "'cluster' has 64 bytes, at most 63 are expected");
    fails("nodes: a\nslurm: {queue: 1}\n", "c:2:9", "queue");
    fails("nodes: a\nslurm: 1\n", "c:2:8", "slurm");
    fails("nodes: a\nslurm: {accounts: 2}\n", "c:2:19", "slurm.accounts");
    fails("nodes: a\netcd: {ttl: 1}\n", "c:2:8", "ttl");
    fails("nodes: a\netcd: 1\n", "c:2:7", "etcd");
    fails("nodes: a\netcd: {}\n", "c:2:7", "endpoints");
    fails("nodes: a\netcd: {endpoints: http://a}\n", "c:2:19", "etcd.endpoints");
    fails("nodes: a\netcd: {endpoints: []}\n", "c:2:19",
          "'etcd.endpoints' has 0, 1 to 9 are expected");
    fails("nodes: a\netcd: {endpoints: [a.example]}\n", "c:2:20",
          "such as http://127.0.0.1:2379 is expected");
    fails("nodes: a\netcd: {endpoints: [http://a], key: k}\n", "c:2:7",
          "'certificate' and 'key' are expected together");
    fails("nodes: a\netcd: {endpoints: [http://a], certificate: k}\n", "c:2:7", "together");
    fails("nodes: a\npower: 3\n", "c:2:8", "power");
    fails("nodes: a\npolicy: best\n", "c:2:9", "policy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(every_key_is_kept),
        cmocka_unit_test(what_is_absent_is_as_the_manual_says),
        cmocka_unit_test(what_is_below_is_kept_too),
        cmocka_unit_test(texts_have_their_room),
        cmocka_unit_test(numbers_have_their_limits),
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(slashes_are_as_etcd_wants_them),
        cmocka_unit_test(words_of_worlds_and_policies),
        cmocka_unit_test(bad_ones_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
