#include "myriad/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verify/verify_test.h"

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_import import;
    struct myr_binding binding;
    struct myr_verify_options options;
    struct myr_verify verify;
    struct myr_buf text;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){4, 2, 2, 2});
    myr_cabling_init(&f->cabling, &f->arena);
    myr_import_init(&f->import, &f->cabling);
    myr_binding_init(&f->binding, &f->arena, &f->design);
}

static void finish(struct fixture *f)
{
    myr_buf_done(&f->text);
    myr_binding_done(&f->binding);
    myr_import_done(&f->import);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

static void add(struct fixture *f, const char *file, const char *text)
{
    if (myr_import_text(&f->import, MYR_IMPORT_AUTO, file, myr_str_from(text), &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
}

static void run(struct fixture *f)
{
    if (myr_verify(&f->verify, &f->arena, &f->design, &f->cabling, &f->options, &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
}

/* All planned cables, without those whose line begins with one of the words, and what is added. */
static void add_plan(struct fixture *f, const char *const *without, const char *added)
{
    struct myr_cabling planned;
    struct myr_buf all = {};
    myr_cabling_init(&planned, &f->arena);
    myr_cabling_from_design(&planned, &f->design, MYR_NET_COMPUTE, MYR_NIC_AS_PORT);
    myr_write_p2p(&planned, &all);
    for (char *line = all.data; *line;) {
        char *end = strchr(line, '\n') + 1;
        bool skip = false;
        for (const char *const *word = without; word && *word; word++) {
            skip = skip || strncmp(line, *word, strlen(*word)) == 0;
        }
        if (!skip) {
            myr_buf_put(&f->text, line, (size_t)(end - line));
        }
        line = end;
    }
    myr_buf_puts(&f->text, added);
    add(f, "plan.csv", f->text.data);
    myr_buf_done(&all);
    myr_cabling_done(&planned);
}

static enum myr_port_state state_at(const struct fixture *f, const char *device, const char *port)
{
    uint32_t d = myr_site_find(&f->design, myr_str_from(device));
    assert_int_not_equal(d, MYR_NONE);
    uint32_t p = myr_site_find_port(&f->design, d, myr_str_from(port));
    assert_int_not_equal(p, MYR_NONE);
    return (enum myr_port_state)f->verify.state[p];
}

static void expect_counts(const struct fixture *f, uint32_t right, uint32_t wrong, uint32_t missing,
                          uint32_t unseen, uint32_t extra, uint32_t degraded)
{
    const uint32_t expected[] = {right, wrong, missing, unseen, extra, degraded};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(expected); i++) {
        if (f->verify.counts[MYR_STATE_RIGHT + i] != expected[i]) {
            fail_msg("%s: %u, expected %u", myr_port_state_names[MYR_STATE_RIGHT + i],
                     f->verify.counts[MYR_STATE_RIGHT + i], expected[i]);
        }
    }
}

/* 4 nodes with 2 NICs and 2 leaves with 4 uplinks each: 16 cables, 32 ports. */
enum { ALL = 32 };

static void a_fabric_as_planned_is_right_everywhere(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add_plan(&f, NULL, "");
    run(&f);
    expect_counts(&f, ALL, 0, 0, 0, 0, 0);
    assert_true(myr_verify_clean(&f.verify));
    assert_int_equal(f.verify.repair.step_count, 0);
    finish(&f);
}

static void a_cut_cable_is_missing_and_a_silent_device_unseen(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    /* The cable of one NIC is gone; another node is not mentioned at all. */
    add_plan(&f, (const char *[]){"node-00001,Host,nic1", "node-00002", NULL}, "");
    run(&f);
    expect_counts(&f, ALL - 6, 0, 2, 4, 0, 0);
    assert_int_equal(state_at(&f, "node-00001", "nic1"), MYR_STATE_MISSING);
    assert_int_equal(state_at(&f, "node-00002", "nic0"), MYR_STATE_UNSEEN);
    assert_int_equal(state_at(&f, "leaf-p0-g0-r0", "2/1"), MYR_STATE_UNSEEN);
    assert_int_equal(f.verify.repair.adds, 1);
    assert_int_equal(f.verify.repair.moves, 0);
    finish(&f);
}

static void what_a_partial_list_leaves_out_is_unseen(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.import.partial = true;
    add_plan(&f, (const char *[]){"node-00001,Host,nic1", NULL}, "");
    run(&f);
    expect_counts(&f, ALL - 2, 0, 0, 2, 0, 0);
    assert_false(myr_verify_clean(&f.verify)); /* what was not seen is not right */
    f.verify.options.partial = true;
    assert_true(myr_verify_clean(&f.verify));
    finish(&f);
}

static void an_unknown_mark_makes_a_port_unseen(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add_plan(&f, (const char *[]){"node-00001,Host,nic1", NULL}, "node-00001,Host,nic1,?,,\n");
    run(&f);
    expect_counts(&f, ALL - 2, 0, 0, 2, 0, 0);
    finish(&f);
}

static void swapped_ends_are_wrong_and_take_one_move(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add_plan(&f, (const char *[]){"node-00001,Host,nic1", "node-00002,Host,nic0", NULL},
             "node-00001,Host,nic1,leaf-p0-g0-r0,Switch,2/1\n"
             "node-00002,Host,nic0,leaf-p0-g0-r1,Switch,1/2\n");
    run(&f);
    expect_counts(&f, ALL - 4, 4, 0, 0, 0, 0);
    assert_int_equal(f.verify.repair.moves, 1);
    finish(&f);
}

static void cables_in_spare_ports_and_to_strangers_are_extra(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add_plan(&f, NULL,
             "spine-p0-0,Switch,3/1,stranger,Switch,1\n"
             "stranger,,7,another,,9\n");
    run(&f);
    expect_counts(&f, ALL, 0, 0, 0, 1, 0);
    assert_int_equal(state_at(&f, "spine-p0-0", "3/1"), MYR_STATE_EXTRA);
    assert_int_equal(f.verify.repair.removes, 1);
    assert_int_equal(f.verify.outside_links, 1);
    finish(&f);
}

static void a_port_with_two_cables_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add_plan(&f, NULL, "node-00001,Host,nic1,leaf-p0-g0-r0,Switch,2/1\n");
    assert_int_equal(myr_verify(&f.verify, &f.arena, &f.design, &f.cabling, &f.options, &f.err),
                     MYR_EINVAL);
    assert_string_equal(f.err.message, "plan.csv:18:1: port node/00001 nic1 has two cables: the "
                                       "first is in plan.csv:11");
    finish(&f);
}

static void a_cable_that_is_listed_from_both_ends_counts_once(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add_plan(&f, NULL,
             "leaf-p0-g0-r1,Switch,1/2,node-00001,Host,nic1\n"
             "spine-p0-0,Switch,3/1,stranger,Switch,1\n"
             "stranger,Switch,1,spine-p0-0,Switch,3/1\n");
    run(&f);
    expect_counts(&f, ALL, 0, 0, 0, 1, 0);
    finish(&f);
}

#define HEARD(port, name, far)                                                                    \
    "{\"" port "\": {\"chassis\": {\"" name "\": {}}, \"port\": {\"id\": {\"type\": \"ifname\", " \
    "\"value\": \"" far "\"}}}}"
#define LLDP1(a)       "{\"lldp\": {\"interface\": [" a "]}}"
#define LLDP2(a, b)    LLDP1(a ", " b)
#define LLDP3(a, b, c) LLDP2(a ", " b, c)

static void one_end_of_lldp_is_enough(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, "leaf-p0-g0-r0.json",
        LLDP3(HEARD("swp1s0", "node-00000", "nic0"),
              HEARD("swp1s1", "node-00001.site.example", "nic0"),
              HEARD("swp2s0", "node-00002", "00:00:00:00:00:07")));
    run(&f);
    /* Nothing is called missing: no other device told anything. */
    expect_counts(&f, 4, 0, 0, ALL - 6, 0, 0);
    assert_int_equal(f.verify.counts[MYR_STATE_UNREAD], 2); /* an address says no port */
    assert_int_equal(f.verify.one_sided_links, 2);
    finish(&f);
}

static void stale_and_doubled_neighbours_do_not_count(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, "leaf-p0-g0-r0.json",
        LLDP3(HEARD("swp1s0", "node-00003", "nic0"), HEARD("swp1s0", "node-00000", "nic0"),
              HEARD("swp1s0", "node-00000", "nic0")));
    add(&f, "node-00000.json", LLDP1(HEARD("nic0", "leaf-p0-g0-r0", "swp1s0")));
    run(&f);
    assert_int_equal(state_at(&f, "leaf-p0-g0-r0", "1/1"), MYR_STATE_RIGHT);
    assert_int_equal(state_at(&f, "node-00003", "nic0"), MYR_STATE_UNSEEN);
    assert_false(myr_verify_clean(&f.verify));
    assert_int_equal(f.verify.counts[MYR_STATE_WRONG], 0);
    assert_int_equal(f.verify.contradicted, 1);
    finish(&f);
}

static void a_denied_neighbour_leaves_its_port_in_doubt(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    /* The leaf hears node 1 where node 0 belongs; node 1 hears the leaf elsewhere, and is right. */
    add(&f, "leaf-p0-g0-r0.json",
        LLDP2(HEARD("swp1s0", "node-00001", "nic0"), HEARD("swp1s1", "node-00001", "nic0")));
    add(&f, "node-00001.json", LLDP1(HEARD("nic0", "leaf-p0-g0-r0", "swp1s1")));
    run(&f);
    assert_int_equal(state_at(&f, "leaf-p0-g0-r0", "1/2"), MYR_STATE_RIGHT);
    assert_int_equal(state_at(&f, "leaf-p0-g0-r0", "1/1"), MYR_STATE_UNSEEN);
    finish(&f);
}

static void both_ends_of_lldp_without_a_neighbour_are_missing(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, "leaf-p0-g0-r0.json", LLDP1(HEARD("swp1s0", "node-00000", "nic0")));
    add(&f, "node-00001.json", LLDP1(HEARD("nic1", "leaf-p0-g0-r1", "swp1s1")));
    run(&f);
    assert_int_equal(state_at(&f, "leaf-p0-g0-r0", "1/2"), MYR_STATE_MISSING);
    assert_int_equal(state_at(&f, "leaf-p0-g0-r0", "2/1"), MYR_STATE_UNSEEN);
    finish(&f);
}

static void slow_links_are_degraded_and_so_are_slow_files(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_err err;
    struct myr_buf text = {};
    for (uint32_t round = 0; round < 2; round++) {
        begin(&f);
        struct myr_cabling planned;
        myr_cabling_init(&planned, &f.arena);
        myr_cabling_from_design(&planned, &f.design, MYR_NET_COMPUTE, MYR_NIC_AS_DEVICE);
        planned.links.items[3].gbps = round ? 400 : 100;
        planned.links.items[9].gbps = 100;
        myr_buf_clear(&text);
        assert_int_equal(
            myr_write_ibnetdiscover(&planned, round ? MYR_NETLIST_IBSIM : MYR_NETLIST_IBNETDISCOVER,
                                    &text, &err),
            MYR_OK);
        add(&f, "fabric.txt", text.data);
        run(&f);
        /* In the second round all are slow, and nearly all HDR: that is told once. */
        expect_counts(&f, round ? 0 : ALL - 4, 0, 0, 0, 0, round ? ALL : 4);
        assert_int_equal(f.verify.slow_found_gbps, round ? 200 : 0);
        assert_int_equal(f.verify.slow_links, round ? ALL / 2 - 1 : 0);
        assert_false(myr_verify_clean(&f.verify));
        myr_cabling_done(&planned);
        finish(&f);
    }
    myr_buf_done(&text);
}

static void errors_above_the_limit_degrade_a_link(void **state)
{
    (void)state;
    for (uint64_t limit = 4; limit < 6; limit++) {
        struct fixture f;
        begin(&f);
        f.options.errors_max = limit;
        add(&f, "list.csv",
            "A-Node,A-Port,Z-Node,Z-Port,Errors\n"
            "node-00000,nic0,leaf-p0-g0-r0,1/1,5\n");
        run(&f);
        assert_int_equal(f.verify.counts[MYR_STATE_DEGRADED], limit < 5 ? 2 : 0);
        finish(&f);
    }
}

/* The whole fabric as ibnetdiscover prints it, with names and GUIDs changed by the caller. */
static void add_discovered(struct fixture *f, void (*change)(struct myr_cabling_device *, uint32_t))
{
    struct myr_cabling planned;
    struct myr_err err;
    myr_buf_clear(&f->text);
    myr_cabling_init(&planned, &f->arena);
    myr_cabling_from_design(&planned, &f->design, MYR_NET_COMPUTE, MYR_NIC_AS_DEVICE);
    for (uint32_t i = 0; i < planned.devices.count; i++) {
        planned.devices.items[i].guid += UINT64_C(0x0a00000000000000); /* real ones */
        change(&planned.devices.items[i], i);
    }
    assert_int_equal(myr_write_ibnetdiscover(&planned, MYR_NETLIST_IBNETDISCOVER, &f->text, &err),
                     MYR_OK);
    add(f, "fabric.txt", f->text.data);
    myr_cabling_done(&planned);
}

static void keep_name(struct myr_cabling_device *device, uint32_t index)
{
    (void)device;
    (void)index;
}

static void counters_of_a_port_degrade_its_link(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.options.errors_max = 10;
    add_discovered(&f, keep_name);
    const struct myr_cabling_device *leaf = NULL, *nic = NULL;
    for (size_t i = 0; i < f.cabling.devices.count; i++) {
        const struct myr_cabling_device *device = &f.cabling.devices.items[i];
        leaf = myr_str_eq(device->name, MYR_STR("leaf-p0-g0-r0")) ? device : leaf;
        nic = myr_str_eq(device->name, MYR_STR("node-00003-nic1")) ? device : nic;
    }
    assert_true(leaf && nic);
    struct myr_buf counted = {};
    myr_buf_printf(&counted,
                   "Errors for 0x1\n GUID 0x%llx port 2: [SymbolErrorCounter == 11]\n"
                   " GUID 0x%llx port 3: [SymbolErrorCounter == 10]\n"
                   " GUID 0x%llx port 1: [PortRcvErrors == 99]\n"
                   " GUID 0x77 port 1: [PortRcvErrors == 99]\n",
                   (unsigned long long)leaf->guid, (unsigned long long)leaf->guid,
                   (unsigned long long)nic->port_guid);
    add(&f, "errors.txt", counted.data);
    run(&f);
    expect_counts(&f, ALL - 4, 0, 0, 0, 0, 4);
    assert_int_equal(state_at(&f, "leaf-p0-g0-r0", "1/2"), MYR_STATE_DEGRADED);
    assert_int_equal(state_at(&f, "node-00003", "nic1"), MYR_STATE_DEGRADED);
    myr_buf_done(&counted);
    finish(&f);
}

static void equivalent_cables_are_right_where_that_is_asked(void **state)
{
    (void)state;
    for (uint32_t asked = 0; asked < 2; asked++) {
        struct fixture f;
        begin(&f);
        f.options.equivalent = asked;
        /* Both uplinks of a leaf to one spine crossed, and a host in a free port of its leaf. */
        add_plan(&f, (const char *[]){"leaf-p0-g0-r0,Switch,3/", NULL},
                 "leaf-p0-g0-r0,Switch,3/1,spine-p0-0,Switch,1/2\n"
                 "leaf-p0-g0-r0,Switch,3/2,spine-p0-0,Switch,3/2\n");
        run(&f);
        if (asked) {
            expect_counts(&f, ALL, 0, 0, 0, 0, 0);
        } else {
            /* 1/1 of the spine waits for its cable; 3/2 has one too many. */
            expect_counts(&f, ALL - 4, 3, 1, 0, 1, 0);
        }
        assert_int_equal(f.verify.labelled.moves, 2);
        assert_int_equal(f.verify.equivalent.moves, 0);
        assert_int_equal(f.verify.relabel_links, 2);
        finish(&f);
    }
}

static void exchanged_names_are_told_from_exchanged_cables(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    /* Every line about one leaf says the other. */
    struct myr_cabling planned;
    struct myr_buf all = {};
    myr_cabling_init(&planned, &f.arena);
    myr_cabling_from_design(&planned, &f.design, MYR_NET_COMPUTE, MYR_NIC_AS_PORT);
    for (size_t i = 0; i < planned.devices.count; i++) {
        struct myr_cabling_device *device = &planned.devices.items[i];
        if (myr_str_eq(device->name, MYR_STR("leaf-p0-g0-r0"))) {
            device->name = MYR_STR("leaf-p0-g0-r1");
        } else if (myr_str_eq(device->name, MYR_STR("leaf-p0-g0-r1"))) {
            device->name = MYR_STR("leaf-p0-g0-r0");
        }
    }
    myr_write_p2p(&planned, &all);
    add(&f, "plan.csv", all.data);
    run(&f);
    expect_counts(&f, 0, ALL, 0, 0, 0, 0);
    assert_int_equal(f.verify.pattern_count, 1);
    assert_int_equal(f.verify.patterns[0].kind, MYR_PATTERN_LEAF_PAIR_EXCHANGED);
    assert_int_equal(f.verify.patterns[0].ports, ALL);
    assert_int_equal(f.verify.relabel_devices, 2);
    assert_int_equal(f.verify.relabel_links, 0);
    assert_int_equal(f.verify.relabel_moves, 0);
    assert_int_equal(f.verify.repair.moves, 8);
    myr_buf_done(&all);
    myr_cabling_done(&planned);
    finish(&f);
}

static void forget_name(struct myr_cabling_device *device, uint32_t index)
{
    (void)index;
    device->name = MYR_STR("Quantum Mellanox Technologies");
}

static void forget_some_names(struct myr_cabling_device *device, uint32_t index)
{
    if (index % 3 == 0) {
        device->name = MYR_STR("");
    }
}

static void devices_without_names_are_told_by_their_cables(void **state)
{
    (void)state;
    void (*const changes[])(struct myr_cabling_device *, uint32_t) = {forget_name,
                                                                      forget_some_names};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(changes); i++) {
        struct fixture f;
        begin(&f);
        add_discovered(&f, changes[i]);
        run(&f);
        /* Switches are what their cables say; which of a host's NICs is which nobody said. */
        expect_counts(&f, ALL - f.verify.counts[MYR_STATE_UNREAD], 0, 0, 0, 0, 0);
        assert_true(f.verify.counts[MYR_STATE_UNREAD] > 0);
        assert_int_equal(f.verify.repair.step_count, 0);
        assert_true(f.verify.identity_count > 0);
        assert_int_equal(f.verify.ambiguity_count, 0);
        finish(&f);
    }
}

static void devices_that_look_alike_are_counted(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    /* Two rails that nothing joins: which leaf is which nobody can tell, nor which NIC. */
    small_design(&f.design, &f.arena, (struct small_shape){4, 2, 0, 1});
    add_discovered(&f, forget_name);
    run(&f);
    assert_int_equal(f.verify.identity_count, 0);
    assert_int_equal(f.verify.ambiguity_count, 5); /* leaves, and the NICs of each node */
    for (uint32_t i = 0; i < f.verify.ambiguity_count; i++) {
        assert_int_equal(f.verify.ambiguities[i].found_count, 2);
        assert_int_equal(f.verify.ambiguities[i].design_count, 2);
    }
    assert_int_equal(f.verify.counts[MYR_STATE_WRONG], 0);
    finish(&f);
}

static void forget_all_but_one_leaf(struct myr_cabling_device *device, uint32_t index)
{
    if (!myr_str_eq(device->name, MYR_STR("leaf-p0-g0-r1"))) {
        forget_name(device, index);
    }
}

static void one_known_device_settles_what_looks_alike(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    small_design(&f.design, &f.arena, (struct small_shape){4, 2, 0, 1});
    add_discovered(&f, forget_all_but_one_leaf);
    run(&f);
    assert_int_equal(f.verify.identity_count, 9); /* the other leaf and all NICs */
    assert_int_equal(f.verify.ambiguity_count, 0);
    expect_counts(&f, 0, 0, 0, 0, 0, 0);
    assert_int_equal(f.verify.counts[MYR_STATE_UNREAD], 16);
    finish(&f);
}

static void a_binding_made_from_discovery_tells_renamed_devices(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_discovery found;
    begin(&f);
    add_discovered(&f, keep_name);
    run(&f);
    myr_binding_discover(&f.binding, &f.verify, false, &found);
    assert_int_equal(found.bound, 12); /* 8 NICs, 2 leaves, 2 spines */
    assert_int_equal(found.conflicts + found.unknown + found.contradicted, 0);
    struct myr_buf written = {};
    myr_binding_write(&f.binding, &written);

    /* Read back, it names devices that have lost their names, without looking at cables. */
    struct fixture g;
    begin(&g);
    if (myr_binding_read_text(&g.binding, "binding.yaml",
                              (struct myr_str){written.data, written.len}, &g.err) < 0) {
        fail_msg("%s", g.err.message);
    }
    g.options.binding = &g.binding;
    add_discovered(&g, forget_name);
    run(&g);
    expect_counts(&g, ALL, 0, 0, 0, 0, 0);
    assert_int_equal(g.verify.identity_count, 0);
    struct myr_buf again = {};
    myr_binding_write(&g.binding, &again);
    assert_string_equal(written.data, again.data);
    myr_buf_done(&written);
    myr_buf_done(&again);
    finish(&f);
    finish(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fabric_as_planned_is_right_everywhere),
        cmocka_unit_test(a_cut_cable_is_missing_and_a_silent_device_unseen),
        cmocka_unit_test(what_a_partial_list_leaves_out_is_unseen),
        cmocka_unit_test(an_unknown_mark_makes_a_port_unseen),
        cmocka_unit_test(swapped_ends_are_wrong_and_take_one_move),
        cmocka_unit_test(cables_in_spare_ports_and_to_strangers_are_extra),
        cmocka_unit_test(a_port_with_two_cables_is_refused),
        cmocka_unit_test(a_cable_that_is_listed_from_both_ends_counts_once),
        cmocka_unit_test(one_end_of_lldp_is_enough),
        cmocka_unit_test(stale_and_doubled_neighbours_do_not_count),
        cmocka_unit_test(a_denied_neighbour_leaves_its_port_in_doubt),
        cmocka_unit_test(both_ends_of_lldp_without_a_neighbour_are_missing),
        cmocka_unit_test(slow_links_are_degraded_and_so_are_slow_files),
        cmocka_unit_test(errors_above_the_limit_degrade_a_link),
        cmocka_unit_test(counters_of_a_port_degrade_its_link),
        cmocka_unit_test(equivalent_cables_are_right_where_that_is_asked),
        cmocka_unit_test(exchanged_names_are_told_from_exchanged_cables),
        cmocka_unit_test(devices_without_names_are_told_by_their_cables),
        cmocka_unit_test(devices_that_look_alike_are_counted),
        cmocka_unit_test(one_known_device_settles_what_looks_alike),
        cmocka_unit_test(a_binding_made_from_discovery_tells_renamed_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
