#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "designs.h"

/* A planned design with its graph and tables. */
struct subnet {
    struct planned planned;
    struct myr_graph graph;
    struct myr_tables tables;
    struct myr_err err;
};

static void subnet_init(struct subnet *subnet, const struct shape *shape)
{
    *subnet = (struct subnet){};
    plan_shape(&subnet->planned, shape);
    struct myr_arena *arena = &subnet->planned.arena;
    assert_int_equal(myr_graph_init(&subnet->graph, arena, &subnet->planned.design, MYR_NET_COMPUTE,
                                    &subnet->err),
                     MYR_OK);
    assert_int_equal(myr_tables_init(&subnet->tables, arena, &subnet->graph, &subnet->err), MYR_OK);
}

/* Whether there is a path at all: not between planes, nor between the rails of rail-only. */
static bool reachable(const struct subnet *subnet, uint32_t from, uint32_t to)
{
    struct myr_path path;
    return myr_path_by_value(&subnet->graph, from, to, 0, &path);
}

static void static_tables_lead_from_everywhere_to_everywhere(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(shapes); s++) {
        struct subnet subnet;
        struct myr_rng rng;
        struct myr_path path, shortest;
        subnet_init(&subnet, &shapes[s]);
        myr_tables_fill(&subnet.tables);
        myr_rng_init(&rng, 5, s);
        for (uint32_t i = 0; i < 3000; i++) {
            uint32_t from = subnet.tables.hosts[myr_rng_below(&rng, subnet.tables.host_count)];
            uint32_t to = subnet.tables.hosts[myr_rng_below(&rng, subnet.tables.host_count)];
            if (from == to || !reachable(&subnet, from, to)) {
                continue;
            }
            assert_true(myr_tables_path(&subnet.tables, from, to, &path));
            assert_true(myr_path_by_value(&subnet.graph, from, to, 0, &shortest));
            assert_int_equal(path.count, shortest.count);
        }
        planned_done(&subnet.planned);
    }
}

/* Every switch has a way to every other of its fabric, and each step comes nearer. */
static void switches_reach_each_other(void **state)
{
    (void)state;
    struct subnet subnet;
    subnet_init(&subnet, &shapes[1]);
    myr_tables_fill(&subnet.tables);
    const struct myr_design *design = &subnet.planned.design;
    const struct myr_graph *graph = &subnet.graph;
    for (uint32_t target = 0; target < graph->switch_count; target++) {
        for (uint32_t from = 0; from < graph->switch_count; from++) {
            uint32_t at = from, steps = 0;
            while (at != target) {
                uint32_t column = subnet.tables.host_count + target;
                uint8_t port = subnet.tables.egress[(size_t)at * subnet.tables.columns + column];
                assert_true(port > 0 && steps++ < 6);
                uint32_t peer = myr_design_peer(
                    design, design->first_port[graph->first_switch + at] + port - 1);
                at = design->port_device[peer] - graph->first_switch;
            }
        }
    }
    planned_done(&subnet.planned);
}

static void write_and_read(struct subnet *subnet, struct myr_tables *again)
{
    char path[] = "/tmp/myriad-tables-XXXXXX";
    int fd = mkstemp(path);
    uint32_t unknown = 0;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(myr_tables_write(&subnet->tables, NULL, path, &subnet->err), MYR_OK);
    assert_int_equal(myr_tables_init(again, &subnet->planned.arena, &subnet->graph, &subnet->err),
                     MYR_OK);
    int rc = myr_tables_read(again, NULL, path, &unknown, &subnet->err);
    unlink(path);
    assert_int_equal(rc, MYR_OK);
    assert_int_equal(unknown, 0);
}

static void tables_read_back_as_they_were_written(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(shapes); s++) {
        struct subnet subnet;
        struct myr_tables again;
        subnet_init(&subnet, &shapes[s]);
        myr_tables_fill(&subnet.tables);
        write_and_read(&subnet, &again);
        assert_memory_equal(again.egress, subnet.tables.egress,
                            (size_t)again.columns * subnet.graph.switch_count);
        planned_done(&subnet.planned);
    }
}

static void a_planned_permutation_is_what_the_tables_then_carry(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < 2; s++) {
        struct subnet subnet;
        struct myr_flows flows = {};
        struct myr_routes planned = {}, carried = {};
        subnet_init(&subnet, &shapes[s]);
        size_t channels = 2 * (size_t)subnet.planned.design.link_count;
        uint64_t *load = MYR_ARENA_NEW(&subnet.planned.arena, uint64_t, 2 * channels);
        struct myr_balance_options options = {.policy = MYR_POLICY_PLANNED};
        myr_flows_permutation(&flows, &subnet.graph, 11);
        assert_int_equal(myr_balance(&subnet.graph, &options, flows.items.items, flows.items.count,
                                     &planned, load, &subnet.err),
                         MYR_OK);
        myr_tables_fill(&subnet.tables);
        assert_int_equal(myr_tables_plan(&subnet.tables, &planned, flows.items.items), 0);
        myr_tables_routes(&subnet.tables, flows.items.items, flows.items.count, &carried,
                          load + channels);
        assert_int_equal(carried.unroutable, 0);
        assert_memory_equal(load, load + channels, channels * sizeof(uint64_t));
        myr_routes_done(&planned);
        myr_routes_done(&carried);
        myr_flows_done(&flows);
        planned_done(&subnet.planned);
    }
}

/* A second flow to the same host that would leave a switch elsewhere is refused, not mixed in. */
static void flows_to_one_host_that_part_are_refused(void **state)
{
    (void)state;
    struct subnet subnet;
    struct myr_routes routes = {};
    struct myr_path path;
    subnet_init(&subnet, &shapes[0]);
    myr_tables_fill(&subnet.tables);
    uint32_t from = subnet.tables.hosts[0];
    uint32_t to = subnet.tables.hosts[subnet.tables.host_count - 1];
    struct myr_flow flows[2] = {{from, to, 1000, 0, 0}, {from, to, 1000, 0, 0}};
    myr_vec_push(&routes.start, 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(myr_path_by_value(&subnet.graph, from, to, i, &path));
        for (uint32_t c = 0; c < path.count; c++) {
            myr_vec_push(&routes.channels, path.channels[c]);
        }
        myr_vec_push(&routes.start, (uint32_t)routes.channels.count);
        myr_vec_push(&routes.flow, i);
        myr_vec_push(&routes.weight, 1000);
    }
    assert_int_equal(myr_tables_plan(&subnet.tables, &routes, flows), 1);
    assert_true(myr_path_by_value(&subnet.graph, from, to, 0, &path));
    struct myr_path taken;
    assert_true(myr_tables_path(&subnet.tables, from, to, &taken));
    assert_int_equal(taken.count, path.count);
    assert_memory_equal(taken.channels, path.channels, path.count * sizeof(uint32_t));
    myr_routes_done(&routes);
    planned_done(&subnet.planned);
}

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "hello\n", "Unicast lids [0x1-0x2] of switch Lid 1 (leaf):\n",
        "Unicast lids [0x1-0x2] of switch Lid 1 guid 0x0000000000000001 (other):\n0x0001 001 :\n"};
    char path[] = "/tmp/myriad-tables-XXXXXX";
    struct subnet subnet;
    subnet_init(&subnet, &shapes[0]);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        FILE *file = fopen(path, "w");
        uint32_t unknown;
        assert_non_null(file);
        fputs(texts[i], file);
        fclose(file);
        assert_int_equal(myr_tables_read(&subnet.tables, NULL, path, &unknown, &subnet.err),
                         MYR_EINVAL);
    }
    unlink(path);
    planned_done(&subnet.planned);
}

/* Following the hashes with the chosen port leads along the planned path. */
static void chosen_ports_lead_along_the_planned_paths(void **state)
{
    (void)state;
    const struct shape lab = {"lab", 16, "h100-8gpu",
                              "compute: {switch: sn5600, nic_ports: 8, rails: 8, leaf_down: 8, "
                              "leaf_up: 8}"};
    struct subnet subnet;
    struct myr_addresses addresses;
    struct myr_switch_hashes hashes;
    struct myr_flows flows = {};
    struct myr_routes planned = {};
    struct myr_source_ports chosen;
    subnet_init(&subnet, &lab);
    struct myr_arena *arena = &subnet.planned.arena;
    const struct myr_design *design = &subnet.planned.design;
    size_t channels = 2 * (size_t)design->link_count;
    uint64_t *load = MYR_ARENA_NEW(arena, uint64_t, channels);
    struct myr_balance_options options = {.policy = MYR_POLICY_PLANNED};
    assert_int_equal(myr_addresses_init(&addresses, arena, design, MYR_NET_COMPUTE, &subnet.err),
                     MYR_OK);
    myr_flows_permutation(&flows, &subnet.graph, 4);
    assert_int_equal(myr_balance(&subnet.graph, &options, flows.items.items, flows.items.count,
                                 &planned, load, &subnet.err),
                     MYR_OK);
    myr_switch_hashes_init(&hashes, arena, design, MYR_SWITCH_LINUX, 0);
    for (uint32_t d = 0; d < design->device_count; d++) {
        hashes.seeds[d] = 77 + d;
    }
    myr_source_ports_choose(&chosen, arena, &subnet.graph, &addresses, &hashes, flows.items.items,
                            flows.items.count, &planned);
    assert_int_equal(chosen.exact_count, planned.flow.count);
    assert_memory_equal(chosen.load, load, channels * sizeof(uint64_t));
    for (size_t f = 0; f < flows.items.count; f++) {
        assert_true(chosen.ports[f] >= 0xC000);
    }
    myr_routes_done(&chosen.routes);
    myr_routes_done(&planned);
    myr_flows_done(&flows);
    planned_done(&subnet.planned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_tables_lead_from_everywhere_to_everywhere),
        cmocka_unit_test(switches_reach_each_other),
        cmocka_unit_test(tables_read_back_as_they_were_written),
        cmocka_unit_test(a_planned_permutation_is_what_the_tables_then_carry),
        cmocka_unit_test(flows_to_one_host_that_part_are_refused),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(chosen_ports_lead_along_the_planned_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
