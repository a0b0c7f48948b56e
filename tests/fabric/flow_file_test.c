/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>

#include "check.h"
#include "fixture.h"

/* --- the file */

static int parse(const struct fixture *fixture, const char *text, size_t len,
                 struct myr_flows *flows, struct myr_err *err)
{
    return myr_flows_parse(flows, &fixture->graph, "flows.csv", (struct myr_str){text, len}, err);
}

static void flows_are_read_with_shares_and_ports(void **state)
{
    static const char text[] = "from,to,share,source_port\n"
                               "gpu/00000/0,gpu/00001/0\n"
                               "gpu/0/3,node/00003:nic3,0.25\r\n"
                               "\"node/00002:nic7\",gpu/1/7,1,50001\n"
                               "0,31\n";
    struct fixture fixture;
    struct myr_flows flows = {};
    struct myr_err err;
    (void)state;
    fixture_plan(&fixture, 4, "h100-8gpu", "switch: mqm9790");
    assert_int_equal(parse(&fixture, text, sizeof(text) - 1, &flows, &err), MYR_OK);
    assert_int_equal(flows.items.count, 4);
    const struct myr_flow *flow = flows.items.items;
    assert_int_equal(flow[0].from_port, myr_flow_port(&fixture.graph, 0));
    assert_int_equal(flow[0].to_port, myr_flow_port(&fixture.graph, 8));
    assert_int_equal(flow[0].share, MYR_SHARE_ONE);
    assert_true(flow[0].source >= 0xC000);
    assert_int_equal(flow[1].from_port, myr_flow_port(&fixture.graph, 3));
    assert_int_equal(flow[1].to_port, myr_flow_port(&fixture.graph, 27));
    assert_int_equal(flow[1].share, MYR_SHARE_ONE / 4);
    assert_int_equal(flow[2].from_port, myr_flow_port(&fixture.graph, 23));
    assert_int_equal(flow[2].source, 50001);
    assert_int_equal(flow[3].from_port, myr_flow_port(&fixture.graph, 0));
    assert_int_equal(flow[3].to_port, myr_flow_port(&fixture.graph, 31));
    myr_flows_done(&flows);
    fixture_done(&fixture);
}

static void bad_rows_are_refused_with_file_line_and_column(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "flows.csv:1:1: there is no flow in it"},
        {"from,to\n", "flows.csv:1:1: there is no flow in it"},
        {"from,to\n1,000,1\n", "flows.csv:2:7: the row has 3 fields, the header 2"},
        {"from,to\ngpu/0/0\n", "flows.csv:2:1: 1 field; a flow has 2 to 4"},
        {"gpu/0/0,gpu/1/0,1,2,3\n", "flows.csv:1:1: 5 fields; a flow has 2 to 4"},
        {"src,dst\ngpu/0/0,gpu/1/0\n", "flows.csv:1:1: 'src' is no host port of the compute"},
        {"0,32\n", "flows.csv:1:3: '32' is no host port of the compute network; a GPU's number"},
        {"gpu/0/0,gpu/9/0\n", "flows.csv:1:9: 'gpu/9/0' is no host port"},
        {"gpu/0/0,gpu/1/8\n", "flows.csv:1:9: 'gpu/1/8' is no host port"},
        {"gpu/0/0,gpu/1\n", "flows.csv:1:9: 'gpu/1' is no host port"},
        {"gpu/0/0,leaf/p0-g0-r0:1/1\n", "flows.csv:1:9: 'leaf/p0-g0-r0:1/1' is no host port"},
        {"gpu/0/0,node/00001:nic8\n", "flows.csv:1:9: 'node/00001:nic8' is no host port"},
        {"\n\ngpu/0/0,node/00000:nic0\n", "flows.csv:3:9: the flow ends where it begins"},
        {"gpu/0/0,gpu/1/0,0\n", "flows.csv:1:17: the share must be a number above 0"},
        {"gpu/0/0,gpu/1/0,1.5\n", "flows.csv:1:17: the share must be a number above 0"},
        {"gpu/0/0,gpu/1/0,nan\n", "flows.csv:1:17: the share must be a number above 0"},
        {"gpu/0/0,gpu/1/0,much\n", "flows.csv:1:17: the share must be a number above 0"},
        {"gpu/0/0,gpu/1/0,1,70000\n", "flows.csv:1:19: the source port must be a whole number"},
        {"gpu/0/0,gpu/1/0,1,-1\n", "flows.csv:1:19: the source port must be a whole number"},
        {"gpu/0/0,\"gpu/1/0\n", "flows.csv:1:9: "},
        {"gpu/0/0,gpu/1/0\n\xFF\xFE,x\n", "flows.csv:2:1: "},
    };
    struct fixture fixture;
    (void)state;
    fixture_plan(&fixture, 4, "h100-8gpu", "switch: mqm9790");
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_flows flows = {};
        struct myr_err err = {};
        int rc = parse(&fixture, cases[i].text, strlen(cases[i].text), &flows, &err);
        SHOULD(rc < 0 && strncmp(err.message, cases[i].message, strlen(cases[i].message)) == 0,
               "case %u: %d, '%s', '%s' expected\n", i, rc, err.message, cases[i].message);
        assert_int_equal(flows.items.count, 0);
        myr_flows_done(&flows);
    }
    fixture_done(&fixture);
}

/* --- patterns */

struct ports {
    uint64_t *out, *in;
};

static void sum_ports(const struct fixture *fixture, const struct myr_flows *flows,
                      struct ports *ret)
{
    ret->out = myr_xcalloc(fixture->design.port_count, sizeof(uint64_t));
    ret->in = myr_xcalloc(fixture->design.port_count, sizeof(uint64_t));
    for (size_t i = 0; i < flows->items.count; i++) {
        ret->out[flows->items.items[i].from_port] += flows->items.items[i].share;
        ret->in[flows->items.items[i].to_port] += flows->items.items[i].share;
    }
}

static void ports_done(struct ports *ports)
{
    free(ports->out);
    free(ports->in);
}

static void patterns_never_ask_a_port_for_more_than_line_rate(void **state)
{
    struct fixture fixture;
    struct myr_layout layout = myr_layout_default();
    (void)state;
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    layout.tp = 8;
    layout.pp = 2;
    layout.dp = 32;
    struct myr_ranks_on ranks = {&layout, NULL, 0};
    for (uint32_t pattern = 0; pattern < MYR_TRAFFIC_COUNT; pattern++) {
        struct myr_flows flows = {};
        struct ports ports;
        struct myr_err err;
        assert_int_equal(myr_flows_groups(&flows, &fixture.graph, &ranks, MYR_AXIS_DP,
                                          (enum myr_traffic)pattern, &err),
                         MYR_OK);
        uint32_t expected = pattern == MYR_TRAFFIC_RING   ? 512
                            : pattern == MYR_TRAFFIC_TREE ? 16 * 31 * 4
                                                          : 512 * 31;
        assert_int_equal(flows.items.count, expected);
        sum_ports(&fixture, &flows, &ports);
        for (uint32_t port = 0; port < fixture.design.port_count; port++) {
            assert_true(ports.out[port] <= MYR_SHARE_ONE && ports.in[port] <= MYR_SHARE_ONE);
            if (pattern != MYR_TRAFFIC_TREE && ports.out[port]) {
                assert_int_equal(ports.out[port], MYR_SHARE_ONE);
                assert_int_equal(ports.in[port], MYR_SHARE_ONE);
            }
        }
        ports_done(&ports);
        myr_flows_done(&flows);
    }
    fixture_done(&fixture);
}

static void what_stays_in_a_scale_up_domain_is_no_flow(void **state)
{
    struct fixture fixture;
    struct myr_layout layout = myr_layout_default();
    struct myr_flows flows = {};
    struct myr_err err;
    (void)state;
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    layout.tp = 8;
    layout.dp = 64;
    struct myr_ranks_on ranks = {&layout, NULL, 0};
    assert_int_equal(
        myr_flows_groups(&flows, &fixture.graph, &ranks, MYR_AXIS_TP, MYR_TRAFFIC_RING, &err),
        MYR_OK);
    assert_int_equal(flows.items.count, 0);
    /* One rank after the other: only the last GPU of a node sends to the next node. */
    layout.tp = 1;
    layout.dp = 512;
    assert_int_equal(
        myr_flows_groups(&flows, &fixture.graph, &ranks, MYR_AXIS_DP, MYR_TRAFFIC_RING, &err),
        MYR_OK);
    assert_int_equal(flows.items.count, 64);
    layout.dp = 513;
    assert_int_equal(
        myr_flows_groups(&flows, &fixture.graph, &ranks, MYR_AXIS_DP, MYR_TRAFFIC_RING, &err),
        MYR_EINVAL);
    myr_flows_done(&flows);
    fixture_done(&fixture);
}

static void fitted_flows_share_their_ports(void **state)
{
    struct fixture fixture;
    struct myr_flows flows = {};
    struct ports ports;
    struct myr_rng rng;
    (void)state;
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    myr_rng_init(&rng, fixture_seed(61), 1);
    for (uint64_t i = 0; i < 5; i++) {
        myr_flows_permutation(&flows, &fixture.graph, i);
    }
    for (size_t i = 0; i < flows.items.count; i++) {
        flows.items.items[i].share = 1 + myr_rng_below(&rng, MYR_SHARE_ONE);
    }
    myr_flows_fit(&flows, &fixture.design);
    sum_ports(&fixture, &flows, &ports);
    for (uint32_t port = 0; port < fixture.design.port_count; port++) {
        assert_true(ports.out[port] <= MYR_SHARE_ONE + 5 && ports.in[port] <= MYR_SHARE_ONE + 5);
    }
    ports_done(&ports);
    myr_flows_done(&flows);
    fixture_done(&fixture);
}

static void a_permutation_sends_and_receives_once_everywhere(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_plan(&fixture, 64, "h100-8gpu", "switch: mqm9790");
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct myr_flows flows = {};
        struct ports ports;
        myr_flows_permutation(&flows, &fixture.graph, seed);
        assert_int_equal(flows.items.count, 512);
        sum_ports(&fixture, &flows, &ports);
        for (uint32_t gpu = 0; gpu < 512; gpu++) {
            uint32_t port = myr_flow_port(&fixture.graph, gpu);
            assert_true(ports.out[port] == MYR_SHARE_ONE && ports.in[port] == MYR_SHARE_ONE);
        }
        ports_done(&ports);
        myr_flows_done(&flows);
    }
    fixture_done(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_are_read_with_shares_and_ports),
        cmocka_unit_test(bad_rows_are_refused_with_file_line_and_column),
        cmocka_unit_test(patterns_never_ask_a_port_for_more_than_line_rate),
        cmocka_unit_test(what_stays_in_a_scale_up_domain_is_no_flow),
        cmocka_unit_test(fitted_flows_share_their_ports),
        cmocka_unit_test(a_permutation_sends_and_receives_once_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
