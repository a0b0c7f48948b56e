#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/server.h"

static void every_key_is_taken(void **state)
{
    (void)state;
    struct myr_err err = {0};
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

static void fails(const char *text, const char *where, const char *words)
{
    struct myr_err err = {0};
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(bad_ones_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
