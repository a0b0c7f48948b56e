/*
 * Groups of two and three vendors, in every order: what they become does not hang on the order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "planned_test.h"

static const char *const servers[] = {"h100-8gpu",       "mi300x-8gpu", "ascend-910b-8npu",
                                      "b200-8gpu",       "b300-8gpu",   "cloudmatrix-384",
                                      "h100-8gpu-2x200", "gb200-nvl72", "a100-8gpu"};

/* What came out: speed, switches and errors; all 0 where it is refused. */
struct outcome {
    uint32_t gbps, switches, errors;
    bool refused;
};

static struct outcome plan_groups_of(const uint32_t *order, uint32_t count)
{
    struct planned p;
    struct outcome out = {};
    char text[800];
    int at = snprintf(text, sizeof(text), "groups:\n");
    for (uint32_t i = 0; i < count; i++) {
        at += snprintf(text + at, sizeof(text) - (size_t)at,
                       "- {name: %s, servers: %d, server: %s}\n", servers[order[i]],
                       order[i] == 5 || order[i] == 7 ? 1 : 5, servers[order[i]]);
    }
    snprintf(text + at, sizeof(text) - (size_t)at, "networks: {compute: , service: , oob: }\n");
    planned_read(&p, text);
    out.refused = myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0;
    if (!out.refused) {
        const struct myr_network *net = &p.design.networks[MYR_NET_COMPUTE];
        out.gbps = net->host_gbps;
        out.switches = net->leaf + net->spine + net->core;
        for (uint32_t i = 0; i < p.design.finding_count; i++) {
            out.errors += p.design.findings[i].severity == MYR_SEVERITY_ERROR;
        }
    }
    planned_end(&p);
    return out;
}

static void check_orders(const uint32_t *of, uint32_t count, uint32_t *ret_good)
{
    static const uint32_t orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct outcome first = {};
    for (uint32_t i = 0; i < (count == 2 ? 2 : 6); i++) {
        uint32_t order[3];
        for (uint32_t k = 0; k < count; k++) {
            order[k] = of[orders[i][k]];
        }
        struct outcome now = plan_groups_of(order, count);
        first = i == 0 ? now : first;
        if (now.refused != first.refused || now.gbps != first.gbps ||
            (now.errors > 0) != (first.errors > 0)) {
            fail_msg("%s, %s, %s: %u Gb/s, %u errors; in another order %u Gb/s, %u errors",
                     servers[order[0]], servers[order[1]], count == 3 ? servers[order[2]] : "",
                     now.gbps, now.errors, first.gbps, first.errors);
        }
    }
    *ret_good += !first.refused && first.errors == 0;
}

static void two_vendors_may_stand_in_any_order(void **state)
{
    uint32_t good = 0, all = 0;
    (void)state;
    for (uint32_t a = 0; a < MYR_ARRAY_COUNT(servers); a++) {
        for (uint32_t b = a + 1; b < MYR_ARRAY_COUNT(servers); b++, all++) {
            check_orders((uint32_t[]){a, b}, 2, &good);
        }
    }
    /* The others have no cable that joins both to one switch, and are told so. */
    assert_true(good * 10 >= all * 9);
}

static void three_vendors_may_stand_in_any_order(void **state)
{
    uint32_t good = 0;
    (void)state;
    for (uint32_t a = 0; a < MYR_ARRAY_COUNT(servers); a += 3) {
        check_orders((uint32_t[]){a, a + 1, a + 2}, 3, &good);
    }
    assert_true(good >= 2);
}

static void storage_and_compute_may_be_of_other_groups(void **state)
{
    static const char *const texts[] = {
        "groups: [{name: a, servers: 8, server: b200-8gpu, networks: [compute, storage]}, {name: "
        "b, "
        "servers: 8, server: ascend-910b-8npu, networks: [storage]}]\n",
        "groups: [{name: b, servers: 8, server: ascend-910b-8npu, networks: [storage]}, {name: a, "
        "servers: 8, server: b200-8gpu, networks: [compute, storage]}]\n"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct planned p;
        char text[400];
        snprintf(text, sizeof(text),
                 "%snetworks: {compute: , storage: }\nstorage: {capacity_pb: 1}\n", texts[i]);
        planned_begin(&p, text);
        assert_null(planned_finding(&p, "no-optics"));
        assert_null(planned_finding(&p, "physical-technology"));
        assert_non_null(planned_finding(&p, "common-technology"));
        planned_end(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_vendors_may_stand_in_any_order),
        cmocka_unit_test(three_vendors_may_stand_in_any_order),
        cmocka_unit_test(storage_and_compute_may_be_of_other_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
