/*
 * What an audit counts before it judges anything: the needs of a planned cluster, for its bill and
 * for its racks (tests/kept/plan-wants.txt), and how lines are put to needs, held against the least
 * cut of small drawn cases.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "audit/audit.h"
#include "kept.h"
#include "planned_test.h"

static const char *const specs[] = {
    "servers: 3\nprices: cn-2024-05\nnetworks: {compute: {switch: mqm9790-ns2f, topology: rail, "
    "leaf_down: 4, leaf_up: 2, fabric_manager_ports: 1, extra_nodes: 1}, storage: , service: , "
    "oob: "
    "}\nstorage: {capacity_tb: 200}\nitems: [{part: firewall, quantity: 1.5}, {part: bastion, per: "
    "server}, {part: iw-venus, quantity: 4, system: compute}]\n",
    "servers: 5\nserver: generic-1gpu\nnetworks: {compute: {switch: eth-12t8-32x400, topology: "
    "clos, "
    "tiers: 3, leaf_down: 2, leaf_up: 2, islands: 2, length_m: {host_leaf: 3, leaf_spine: 7, "
    "spine_core: 90}}}\n",
    "servers: 3\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: twin-planar, "
    "leaf_down: 4, leaf_up: 4}}\nsupplied: [servers]\n",
    "servers: 4\nserver: b300-8gpu-xdr\nnetworks: {compute: {switch: q3200, tiers: 2}, oob: "
    "}\nsupplied: [ethernet_cabling]\n",
    "servers: 4\nserver: b300-8gpu-xdr\nnetworks: {compute: {switch: q3450-ld, tiers: 2}}\n",
    "servers: 3\nserver: h100-8gpu-2x200\nnetworks: {compute: {switch: mqm9790-ns2f, topology: "
    "clos, nic_gbps: 200, planes: 2, leaf_down: 6, leaf_up: 2}}\n",
    "groups: [{name: a, servers: 3, server: h100-8gpu}, {name: b, servers: 2, server: h200-8gpu}]\n"
    "networks: {compute: {topology: torus, switch: sn5600, dims: [2, 2], trunk: 2}}\n",
    "servers: 2\nserver: gb200-nvl72\nnetworks: {compute: {topology: dragonfly, switch: sn5600, "
    "nic_gbps: 400, hosts_per_switch: 16, group_switches: 4, global_ports: 4}, service: }\n",
    "servers: 6\nnetworks: {compute: {switch: sn5600, topology: rail, leaf_down: 4, leaf_up: 4, "
    "spine_switch: eth-12t8-32x400}, oob: }\nroom: {rows: 3, columns: 3, rack_kw: 24}\n",
};

/* Lists from which lengths and cards are taken. */
static const struct {
    const char *part;
    uint32_t net;
} listed[] = {{"mfp7e10-n030", 0},  {"mfp7e10-n005", 0},   {"mfp7e30-n050", 1},
              {"mfp7e10-n037", 0},  {"cx7-400g-osfp", 0},  {"mma4z00-ns", 0},
              {"mma4z00-ns400", 0}, {"dgx-cx7-2x400g", 2}, {"no-such-part", 0}};

static void tell_needs(const struct audit *audit, struct myr_buf *told)
{
    for (uint32_t i = 0; i < audit->need_count; i++) {
        const struct audit_need *need = &audit->needs[i];
        myr_buf_printf(told,
                       "  %llu %s: role %d net %u layer %u end %d tier %d, %s, %u legs%s, %uG, "
                       "%g m%s%s\n",
                       (unsigned long long)need->quantity, need->what, need->role, need->net,
                       need->layer, need->end, need->tier,
                       need->part == MYR_PART_NONE ? "any" : audit_part(audit, need->part)->id,
                       need->legs, need->fixed ? " with ends" : "", need->gbps, need->length_m,
                       need->scope ? ", scope" : "", need->off ? ", off" : "");
    }
}

static void tell_wants(const char *text, bool list, struct myr_buf *told)
{
    struct planned p;
    struct myr_audit out = {};
    planned_begin(&p, text);
    struct audit *audit = MYR_ARENA_ONE(&p.arena, struct audit);
    audit->arena = &p.arena;
    audit->catalog = &p.catalog;
    audit->spec = &p.spec;
    audit->asked = audit->plan = p.design;
    audit->out = &out;
    for (size_t i = 0; list && i < MYR_ARRAY_COUNT(listed); i++) {
        struct audit_line line = {.quantity = 1, .says = {.net = listed[i].net}};
        audit_line_finish(audit, &line, myr_str_from(listed[i].part));
        myr_vec_push(&audit->lines, line);
    }
    audit_needs_bom(audit);
    tell_needs(audit, told);
    for (size_t i = 0; i < audit->lines.count; i++) {
        const uint8_t *ends = audit->lines.items[i].ends;
        myr_buf_printf(told, "  line %zu: ends %u %u %u %u\n", i, ends[0], ends[1], ends[2],
                       ends[3]);
    }
    if (!list) {
        myr_buf_puts(told, "  in racks:\n");
        audit_needs_layout(audit);
        tell_needs(audit, told);
    }
    myr_vec_done(&audit->lines);
    planned_end(&p);
}

static void what_a_cluster_needs_is_counted_from_its_ports(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        myr_buf_printf(&told, "== %s", specs[i]);
        tell_wants(specs[i], false, &told);
        if (i % 4 == 0) {
            myr_buf_puts(&told, "-- with a list\n");
            tell_wants(specs[i], true, &told);
        }
    }
    assert_kept("plan-wants.txt", &told);
}

enum { LINES = 5, NEEDS = 5, ROUNDS = 400 };

/* The grade that was drawn: lines have their number in 'told_m', needs in 'layer'. */
static int grades[LINES][NEEDS];

static int drawn_grade(const struct audit *audit, const struct audit_line *line,
                       const struct audit_need *need)
{
    (void)audit;
    return grades[(size_t)line->told_m][need->layer];
}

/* What can flow at most: the least over all sets of needs that are cut off from their lines. */
static uint64_t least_cut(const struct audit *audit, int worst)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t set = 0; set < 1U << NEEDS; set++) {
        uint64_t cut = 0;
        for (uint32_t k = 0; k < NEEDS; k++) {
            cut += set & 1U << k || audit->needs[k].off ? 0 : audit->needs[k].quantity;
        }
        for (uint32_t i = 0; i < LINES; i++) {
            bool joined = false;
            for (uint32_t k = 0; k < NEEDS; k++) {
                joined = joined || (set & 1U << k && !audit->needs[k].off && grades[i][k] >= 0 &&
                                    grades[i][k] <= worst);
            }
            cut += joined ? audit->lines.items[i].quantity : 0;
        }
        least = cut < least ? cut : least;
    }
    return least;
}

static void check_flow(const struct audit *audit, uint64_t open, uint32_t round)
{
    uint64_t met = 0, wanted = 0, well = 0;
    for (uint32_t k = 0; k < NEEDS; k++) {
        uint64_t into = 0;
        for (uint32_t i = 0; i < LINES; i++) {
            uint64_t flow = *audit_flow(audit, i, k);
            assert_true(flow == 0 || (grades[i][k] >= 0 && !audit->needs[k].off));
            into += flow;
            well += grades[i][k] == 0 ? flow : 0;
        }
        assert_int_equal(into, audit->needs[k].met);
        assert_true(into <= audit->needs[k].quantity);
        met += into;
        wanted += audit->needs[k].off ? 0 : audit->needs[k].quantity;
    }
    for (uint32_t i = 0; i < LINES; i++) {
        uint64_t out = 0;
        for (uint32_t k = 0; k < NEEDS; k++) {
            out += *audit_flow(audit, i, k);
        }
        assert_int_equal(out, audit->lines.items[i].used);
        assert_true(out <= audit->lines.items[i].quantity);
    }
    if (met != least_cut(audit, AUDIT_GRADES - 1) || open != wanted - met) {
        fail_msg("round %u: %llu met, %llu open", round, (unsigned long long)met,
                 (unsigned long long)open);
    }
    /* Nothing is met well that could not be. */
    assert_true(well <= least_cut(audit, 0));
}

static void a_list_is_short_only_where_no_way_of_using_it_would_do(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_rng rng;
    myr_arena_init(&arena);
    myr_rng_init(&rng, 33, 0);
    struct audit *audit = MYR_ARENA_ONE(&arena, struct audit);
    for (uint32_t round = 0; round < TEST_ROUNDS(ROUNDS); round++) {
        uint64_t flow[LINES * NEEDS];
        bool only_well = round % 4 == 0; /* one grade: then all that is met is met well */
        audit->lines.count = 0;
        audit->need_count = NEEDS;
        audit->flow = flow;
        for (uint32_t i = 0; i < LINES; i++) {
            myr_vec_push(
                &audit->lines,
                ((struct audit_line){.told_m = i, .used = 99, .quantity = myr_rng_below(&rng, 9)}));
            for (uint32_t k = 0; k < NEEDS; k++) {
                int drawn = (int)myr_rng_below(&rng, AUDIT_GRADES + 3) - 3;
                grades[i][k] = drawn < 0 ? -1 : only_well ? 0 : drawn;
            }
        }
        for (uint32_t k = 0; k < NEEDS; k++) {
            audit->needs[k] = (struct audit_need){.layer = k,
                                                  .met = 7,
                                                  .quantity = myr_rng_below(&rng, 9),
                                                  .off = myr_rng_below(&rng, 8) == 0};
        }
        uint64_t open = audit_match(audit, drawn_grade);
        check_flow(audit, open, round);
    }
    myr_vec_done(&audit->lines);
    myr_arena_done(&arena);
}

/* A need that only one line serves gets it, though another was first; better grades are kept. */
static void better_grades_are_used_first(void **state)
{
    (void)state;
    struct myr_arena arena;
    uint64_t flow[LINES * NEEDS];
    myr_arena_init(&arena);
    struct audit *audit = MYR_ARENA_ONE(&arena, struct audit);
    audit->need_count = 2;
    audit->flow = flow;
    audit->needs[0] = (struct audit_need){.layer = 0, .quantity = 4};
    audit->needs[1] = (struct audit_need){.layer = 1, .quantity = 4};
    for (uint32_t i = 0; i < 2; i++) {
        myr_vec_push(&audit->lines, ((struct audit_line){.told_m = i, .quantity = 4}));
    }
    /* Both serve the first; the second line does better there, and alone the other need. */
    grades[0][0] = 2;
    grades[1][0] = 0;
    grades[0][1] = -1;
    grades[1][1] = 3;
    assert_int_equal(audit_match(audit, drawn_grade), 0);
    assert_int_equal(*audit_flow(audit, 0, 0), 4);
    assert_int_equal(*audit_flow(audit, 1, 1), 4);
    grades[1][1] = -1;
    assert_int_equal(audit_match(audit, drawn_grade), 4);
    assert_int_equal(*audit_flow(audit, 1, 0), 4);
    assert_int_equal(*audit_flow(audit, 0, 0), 0);
    myr_vec_done(&audit->lines);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_cluster_needs_is_counted_from_its_ports),
        cmocka_unit_test(a_list_is_short_only_where_no_way_of_using_it_would_do),
        cmocka_unit_test(better_grades_are_used_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
