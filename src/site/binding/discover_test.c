#include "myriad/site/binding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "verify/anchor.h"
#include "verify/verify_test.h"

/* A found fabric beside its design: as planned at first, then under names of its own. */
struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_binding binding;
    struct myr_verify verify;
    struct myr_discovery report;
    struct myr_err err;
    uint32_t truth[64]; /* by found device: its device of the design */
};

static void begin(struct fixture *f, struct small_shape shape, enum myr_nic_view view)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, shape);
    myr_cabling_init(&f->cabling, &f->arena);
    myr_binding_init(&f->binding, &f->arena, &f->design);
    myr_cabling_from_design(&f->cabling, &f->design, MYR_NET_COMPUTE, view);
    f->cabling.numbered = view == MYR_NIC_AS_DEVICE;
    for (uint32_t i = 0; i < f->cabling.devices.count; i++) {
        struct myr_cabling_device *device = &f->cabling.devices.items[i];
        f->truth[i] = myr_site_find(&f->design, device->name);
        device->guid = 0;
    }
}

static void finish(struct fixture *f)
{
    myr_binding_done(&f->binding);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

static void discover(struct fixture *f, bool by_wiring)
{
    struct myr_verify_options options = {.nets = 0};
    if (myr_verify(&f->verify, &f->arena, &f->design, &f->cabling, &options, &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
    myr_binding_discover(&f->binding, &f->verify, by_wiring, &f->report);
}

static struct myr_cabling_device *found(struct fixture *f, const char *name)
{
    for (uint32_t i = 0; i < f->cabling.devices.count; i++) {
        if (myr_str_eq(f->cabling.devices.items[i].name, myr_str_from(name))) {
            return &f->cabling.devices.items[i];
        }
    }
    fail_msg("no %s", name);
    return NULL;
}

static void expect_report(const struct fixture *f, uint32_t bound, uint32_t unknown,
                          uint32_t contradicted, uint32_t conflicts)
{
    assert_int_equal(f->report.devices, f->cabling.devices.count);
    assert_int_equal(f->report.bound, bound);
    assert_int_equal(f->report.unknown, unknown);
    assert_int_equal(f->report.contradicted, contradicted);
    assert_int_equal(f->report.conflicts, conflicts);
    assert_int_equal(f->report.conflict_row == MYR_NONE, conflicts == 0);
}

/* The remarks and the file, as 'bind' writes them. */
static void expect_text(const struct fixture *f, const char *expected)
{
    struct myr_buf text = {};
    myr_discovery_remarks(&f->binding, &f->report, &text);
    myr_binding_write(&f->binding, &text);
    assert_string_equal(text.data, expected);
    myr_buf_done(&text);
}

static void what_the_design_does_not_know_is_bound(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, (struct small_shape){4, 2, 2, 2}, MYR_NIC_AS_PORT);
    discover(&f, false);
    expect_report(&f, 0, 0, 0, 0); /* names of the design, and nothing else */
    expect_text(&f,
                "# 0 places bound, 0 in all\n"
                "# nothing to bind: names are the design's own, without GUIDs or MAC addresses\n"
                "# Which real device stands in which place of the design.\n"
                "design: small\n"
                "devices: {}\n");
    struct myr_cabling_device *gpu = found(&f, "node-00001"), *leaf = found(&f, "leaf-p0-g0-r0");
    found(&f, "node-00002")->name = MYR_STR("NODE-00002");
    found(&f, "node-00003")->mac = MYR_STR("no mac");
    gpu->mac = MYR_STR("02-00-00-00-00-01");
    gpu->address = MYR_STR("10.0.0.1");
    leaf->name = MYR_STR("02:00:00:00:00:09"); /* nobody named it */
    leaf->guid = 9;
    discover(&f, false);
    expect_report(&f, 3, 0, 0, 0);
    expect_text(&f, "# 3 places bound, 3 in all\n"
                    "# Which real device stands in which place of the design.\n"
                    "design: small\n"
                    "devices:\n"
                    "  node/00001: {mac: \"02:00:00:00:00:01\", address: \"10.0.0.1\"}\n"
                    "  node/00002: {host: NODE-00002}\n"
                    "  leaf/p0-g0-r0: {guid: 0x0000000000000009}\n");
    discover(&f, false); /* once more there is nothing new */
    expect_report(&f, 0, 0, 0, 0);
    /* What was bound stays; the first that was found otherwise is kept for the message. */
    leaf->guid = 10;
    gpu->mac = MYR_STR("02-00-00-00-00-02");
    discover(&f, false);
    expect_report(&f, 0, 0, 0, 2);
    const struct myr_bound *row = &f.binding.rows.items[f.report.conflict_row];
    assert_true(leaf < gpu);
    assert_int_equal(row->device, 4);
    assert_int_equal(f.report.conflict.device, 4);
    assert_int_equal(f.report.conflict.port, MYR_NONE);
    assert_true(f.report.conflict.guid == 10 && row->guid == 9);
    assert_int_equal(f.binding.rows.count, 3);
    finish(&f);
}

/* Two leaves that have each other's names: nothing is bound unless the cables decide. */
static void cables_decide_only_where_they_are_asked_to(void **state)
{
    (void)state;
    for (uint32_t by_wiring = 0; by_wiring < 2; by_wiring++) {
        struct fixture f;
        begin(&f, (struct small_shape){4, 2, 2, 2}, MYR_NIC_AS_PORT);
        struct myr_cabling_device *one = found(&f, "leaf-p0-g0-r0");
        struct myr_cabling_device *two = found(&f, "leaf-p0-g0-r1");
        struct myr_str name = one->name;
        one->name = two->name;
        two->name = name;
        one->guid = 11;
        two->guid = 12;
        discover(&f, by_wiring);
        expect_report(&f, by_wiring ? 2 : 0, 0, by_wiring ? 0 : 2, 0);
        assert_int_equal(f.binding.rows.count, by_wiring ? 2 : 0);
        for (uint32_t d = 4; by_wiring && d < 6; d++) {
            const struct myr_bound *row = myr_binding_get(&f.binding, d, MYR_NONE);
            assert_true(row && row->guid == d + 7);
            /* Its name is that of the other place: from now on it is this one's. */
            assert_true(myr_site_find(&f.design, row->host) == 9 - d);
        }
        finish(&f);
    }
}

/* What a box calls its port is proved by a cable that is right, and told by the box itself. */
static void names_of_ports_are_learnt_from_cables_that_are_right(void **state)
{
    (void)state;
    for (uint32_t which = 0; which < 4; which++) {
        struct fixture f;
        begin(&f, (struct small_shape){4, 2, 2, 2}, MYR_NIC_AS_PORT);
        struct myr_cabling_link *link = &f.cabling.links.items[0];
        bool flipped = which & 1;
        link->b.port = MYR_STR("swp1s0");
        link->one_sided = which & 2;
        if (flipped) {
            struct myr_cabling_end end = link->a;
            link->a = link->b;
            link->b = end;
        }
        discover(&f, false);
        bool told = flipped || !link->one_sided;
        assert_int_equal(f.report.bound, told);
        uint32_t port = myr_binding_port(&f.binding, 4, MYR_STR("swp1s0"));
        assert_int_equal(port, told ? f.design.first_port[4] : MYR_NONE);
        finish(&f);
    }
}

/* Nobody has a name here; only numbers of ports tell. */
static void forget_names(struct fixture *f)
{
    for (uint32_t i = 0; i < f->cabling.devices.count; i++) {
        f->cabling.devices.items[i].name = MYR_STR("");
        f->cabling.devices.items[i].guid = 1000 + i;
    }
}

static void expect_switches(const struct fixture *f)
{
    uint32_t switches = 0;
    for (uint32_t i = 0; i < f->cabling.devices.count; i++) {
        struct myr_port_span place = f->verify.places[i];
        if (f->cabling.devices.items[i].is_switch) {
            uint32_t device = place.count ? f->design.port_device[place.first] : MYR_NONE;
            assert_int_equal(device, f->truth[i]);
            const struct myr_bound *row = myr_binding_get(&f->binding, f->truth[i], MYR_NONE);
            assert_true(row && row->guid == 1000 + i);
            switches++;
        }
    }
    assert_true(switches > 0);
}

/* By neighbours alone: every switch in its place, or none of them. */
static void expect_anchored(struct fixture *f, bool placed)
{
    struct myr_port_names names;
    struct spelling spelling;
    struct identify identify;
    struct found_ends ends;
    const struct myr_verify_options options = {.nets = 1U << MYR_NET_COMPUTE};
    uint8_t open[64];
    assert_int_equal(myr_port_names_init(&names, &f->arena, &f->err), MYR_OK);
    spelling_init(&spelling, &f->arena, &f->design, &names, NULL);
    identify_init(&identify, &f->arena, &f->design, &f->cabling, &spelling, &options);
    found_ends_fill(&ends, &f->cabling, &f->arena);
    for (uint32_t i = 0; i < f->cabling.devices.count; i++) {
        open[i] = f->cabling.devices.items[i].is_switch;
    }
    const uint32_t *places = anchor_switches(&identify, &ends, open);
    for (uint32_t i = 0; i < f->cabling.devices.count; i++) {
        assert_int_equal(places[i], placed && open[i] ? f->truth[i] : MYR_NONE);
    }
    for (uint32_t t = 0; t < f->design.devtype_count; t++) {
        assert_int_equal(spelling.systems[t], UINT32_MAX); /* as it was */
    }
    identify_done(&identify);
    spelling_done(&spelling);
    myr_port_names_done(&names);
}

/* Wherever two cables of two leaves are exchanged, all others outvote them. */
static void switches_without_names_are_told_by_their_neighbours(void **state)
{
    (void)state;
    enum { NODES = 2, LEAVES = 3, UP = 6, OF_LEAF = NODES + UP };
    for (uint32_t i = 0; i < LEAVES * UP; i++) {
        struct fixture f;
        begin(&f, (struct small_shape){NODES, LEAVES, 3, 2}, MYR_NIC_AS_DEVICE);
        forget_names(&f);
        uint32_t leaf = i / UP, other = (leaf + 1) % LEAVES, up = NODES + i % UP;
        struct myr_cabling_link *links = f.cabling.links.items;
        struct myr_cabling_end end = links[leaf * OF_LEAF + up].b;
        links[leaf * OF_LEAF + up].b = links[other * OF_LEAF + up].b;
        links[other * OF_LEAF + up].b = end;
        expect_anchored(&f, true);
        discover(&f, false);
        expect_switches(&f);
        assert_int_equal(f.verify.counts[MYR_STATE_WRONG], 4);
        finish(&f);
    }
}

/* Twice as many cables must speak for a guess as against it, and four at least. */
static void few_cables_and_many_against_place_nobody(void **state)
{
    (void)state;
    static const struct {
        uint32_t each, broken,
            gone; /* cables of each leaf; those that lead elsewhere, or nowhere */
        bool placed;
    } cases[] = {
        {5, 0, 0, true}, {5, 3, 0, true}, {5, 4, 0, false}, {2, 0, 0, true}, {2, 0, 1, false}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture f;
        uint32_t each = cases[i].each;
        begin(&f, (struct small_shape){1, 2, 1, each}, MYR_NIC_AS_DEVICE);
        for (uint32_t b = 0; b < cases[i].broken; b++) {
            /* By turns one of each leaf; the first link of a leaf is its node's. */
            f.cabling.links.items[b % 2 * (1 + each) + 1 + b / 2].b.port = MYR_STR("99");
        }
        f.cabling.links.count -= cases[i].gone;
        expect_anchored(&f, cases[i].placed);
        finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_design_does_not_know_is_bound),
        cmocka_unit_test(cables_decide_only_where_they_are_asked_to),
        cmocka_unit_test(names_of_ports_are_learnt_from_cables_that_are_right),
        cmocka_unit_test(switches_without_names_are_told_by_their_neighbours),
        cmocka_unit_test(few_cables_and_many_against_place_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
