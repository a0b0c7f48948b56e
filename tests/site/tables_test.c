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

/* --- dumps of a part of a subnet, with lines of others between */

/* An entry of the design's tables, or one of a switch or of a destination that nobody knows. */
struct dump_line {
    uint32_t at_switch, column; /* MYR_NONE: unknown */
    uint8_t port;
};

static uint64_t guid_of_column(const struct subnet *subnet, uint32_t column)
{
    const struct myr_design *design = subnet->graph.design;
    uint32_t hosts = subnet->tables.host_count;
    if (column == MYR_NONE) {
        return 7;
    }
    return myr_site_port_guid(
        design, column < hosts ? subnet->tables.hosts[column]
                               : design->first_port[subnet->graph.first_switch + column - hosts]);
}

/* Each line below a head of its own, or of the line before where the switch is the same. */
static void put_dump(const struct subnet *subnet, const struct dump_line *lines, uint32_t count,
                     struct myr_buf *text)
{
    myr_buf_clear(text);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t column = lines[i].at_switch == MYR_NONE
                              ? MYR_NONE
                              : subnet->tables.host_count + lines[i].at_switch;
        if (i == 0 || lines[i].at_switch != lines[i - 1].at_switch) {
            myr_buf_printf(text, "Unicast lids [0x1-0x9] of switch Lid 1 guid 0x%016llx (s):\n",
                           (unsigned long long)guid_of_column(subnet, column));
        }
        myr_buf_printf(text, "0x%04x %03u : (Switch portguid 0x%016llX: 'd')\n%s", i, lines[i].port,
                       (unsigned long long)guid_of_column(subnet, lines[i].column),
                       i % 5 == 0 ? "# a remark\n0x0099 000 : nobody has it\n" : "");
    }
}

static void a_dump_changes_what_it_tells_and_counts_strangers(void **state)
{
    (void)state;
    enum { CASES = 60, LINES = 12 };
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct subnet subnet;
    subnet_init(&subnet, &shapes[0]);
    struct myr_tables *tables = &subnet.tables;
    size_t size = (size_t)tables->columns * subnet.graph.switch_count;
    uint8_t *expected = MYR_ARENA_NEW(&subnet.planned.arena, uint8_t, size);
    for (uint32_t seed = 0; seed < CASES; seed++) {
        struct dump_line lines[LINES];
        struct myr_rng rng;
        myr_rng_init(&rng, 20261119, seed);
        uint32_t count = 1 + myr_rng_below(&rng, LINES), strangers = 0, known = 0, unknown = 0;
        for (uint32_t i = 0; i < count; i++) {
            bool here = myr_rng_below(&rng, 3) > 0, there = myr_rng_below(&rng, 3) > 0;
            lines[i] =
                (struct dump_line){here ? myr_rng_below(&rng, subnet.graph.switch_count) : MYR_NONE,
                                   there ? myr_rng_below(&rng, tables->columns) : MYR_NONE,
                                   (uint8_t)myr_rng_below(&rng, 256)};
            bool head = i == 0 || lines[i].at_switch != lines[i - 1].at_switch;
            strangers += (!here && head) + (here && !there);
            known += here && there;
        }
        memset(tables->egress, (int)seed, size);
        memset(expected, (int)seed, size);
        for (uint32_t i = 0; i < count; i++) {
            if (lines[i].at_switch != MYR_NONE && lines[i].column != MYR_NONE) {
                size_t row = (size_t)lines[i].at_switch * tables->columns;
                expected[row + lines[i].column] = lines[i].port;
            }
        }
        put_dump(&subnet, lines, count, &text);
        int rc = myr_tables_read_text(tables, NULL, "dump", (struct myr_str){text.data, text.len},
                                      &unknown, &subnet.err);
        assert_int_equal(rc, known ? MYR_OK : MYR_EINVAL);
        assert_int_equal(unknown, strangers);
        assert_memory_equal(tables->egress, expected, size);
    }
    planned_done(&subnet.planned);
}

static void lines_that_are_no_entries_are_refused_in_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        bool good;
    } rows[] = {{"0x0001 000 : (", true},
                {"0x0001 255 : (", true},
                {"0x0001 256 : (", false},
                {"0x0001 : (", false},
                {"0x0001", false},
                {"0x", false},
                {"0x0001 x1 : (", false},
                {"0", true},
                {"", true},
                {"x0001 x1 : (", true},
                {"0x0001 -1 : (", false},
                {"0x0001  1 : (", false},
                {"# 0x0001 x : (", true}};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct subnet subnet;
    subnet_init(&subnet, &shapes[0]);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const struct dump_line known = {0, 0, 1};
        uint32_t unknown;
        put_dump(&subnet, &known, 1, &text);
        myr_buf_printf(&text, "%s\n", rows[i].line);
        int rc = myr_tables_read_text(&subnet.tables, NULL, "dump",
                                      (struct myr_str){text.data, text.len}, &unknown, &subnet.err);
        if ((rc == MYR_OK) != rows[i].good ||
            (rc < 0 && strncmp(subnet.err.message, "dump:5: expected a LID", 22) != 0)) {
            fail_msg("'%s': %d %s", rows[i].line, rc, subnet.err.message);
        }
    }
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
        cmocka_unit_test(a_dump_changes_what_it_tells_and_counts_strangers),
        cmocka_unit_test(lines_that_are_no_entries_are_refused_in_their_place),
        cmocka_unit_test(chosen_ports_lead_along_the_planned_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
