/*
 * What is ordered against what the design uses: every line of a bill that is right is made wrong in
 * turn, and bills of drawn designs are counted again by a plain count of this file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "shop_test.h"

/* Texts of lines that may hold more than is used, and some that only look like it. */
static const char *const reasons[] = {"as many as the spec asks for: 9", "asked for per server",
                                      "pinned by the spec", "as many as the spec", "unpinned"};

static void change_row(struct bench *b, uint32_t index, struct myr_buf *told)
{
    struct myr_bom_row *row = &b->bom[index], was = *row;
    const char *name = myr_design_str(&b->design, row->part);
    for (uint32_t k = 0; k < 2; k++) {
        row->quantity = k ? was.quantity + 2 : was.quantity - 1;
        bench_look(b, told, "%llu %s", (unsigned long long)row->quantity, name);
        for (size_t i = 0; i < MYR_ARRAY_COUNT(reasons); i++) {
            row->rule = bench_text(b, reasons[i]);
            bench_look(b, told, "%llu %s, %s", (unsigned long long)row->quantity, name, reasons[i]);
        }
        row->rule = 0;
        row->inputs = bench_text(b, "pinned to 7");
        bench_look(b, told, "%llu %s, pinned to 7", (unsigned long long)row->quantity, name);
        *row = was;
    }
    row->system = bench_text(b, index % 2 ? "facility" : "oob");
    bench_look(b, told, "%s of %s", name, index % 2 ? "facility" : "oob");
    row->rule = bench_text(b, reasons[0]);
    bench_look(b, told, "%s of %s, asked for", name, index % 2 ? "facility" : "oob");
    *row = was;
    row->part = bench_text(b, "NOBODY");
    bench_look(b, told, "NOBODY in place of %s", name);
    *row = was;
    /* The rest in a line of its own is the same bill; a whole line again is not. */
    b->bom[b->design.bom_count++] = was;
    row->quantity = 1;
    b->bom[b->design.bom_count - 1].quantity = was.quantity - 1;
    bench_look(b, told, "%s in two lines", name);
    *row = was;
    b->bom[b->design.bom_count - 1] = was;
    bench_look(b, told, "%s twice", name);
    b->design.bom_count--;
}

static void what_is_said_of_other_lines_is_kept(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    for (uint32_t i = 0; i < b.design.bom_count; i++) {
        change_row(&b, i, &told);
    }
    assert_kept("physical-bill.txt", &told);
    bench_done(&b);
}

static void every_part_is_ordered_for_the_network_that_uses_it(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    for (size_t p = 0; p < b.catalog.parts.count; p++) {
        for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
            bench_row(&b, net, b.parts[p].order, 3);
            bench_look(&b, &told, "3 more %s for %s", b.parts[p].id, myr_net_names[net]);
            b.design.bom_count--;
        }
    }
    assert_kept("physical-orders.txt", &told);
    bench_done(&b);
}

static void what_is_stated_of_a_layer_is_what_is_laid(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    char expect[160];
    (void)state;
    shop_init(&b);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            uint32_t *count = &b.networks[net].cables[layer];
            for (uint32_t k = 0; k < 2; k++) {
                uint32_t was = *count;
                *count = k ? was + 1 : was - 1;
                myr_buf_clear(&told);
                assert_true(bench_tell(&b, &told));
                snprintf(
                    expect, sizeof(expect),
                    "    physical-cable-count, 1 at %s %s: %u cables are stated, %u are laid\n",
                    myr_net_names[net], myr_layer_names[layer], *count, was);
                assert_string_equal(told.data, expect);
                *count = was;
            }
        }
    }
    bench_done(&b);
}

/* --- bills counted again */

static void order(struct bench *b, uint32_t net, uint32_t id, uint64_t pieces)
{
    if (id == 0) {
        return;
    }
    const char *number = bench_find(b, myr_design_str(&b->design, id))->order;
    for (uint32_t i = 0; i < b->design.bom_count; i++) {
        struct myr_bom_row *row = &b->bom[i];
        if (row->part == bench_text(b, number) &&
            row->system == bench_text(b, myr_net_names[net])) {
            row->quantity += pieces;
            return;
        }
    }
    bench_row(b, net, number, pieces);
}

/* A cage holds the module that the first of its links wants. */
static void order_modules(struct bench *b, uint32_t device)
{
    const struct myr_devtype *type = &b->devtypes[b->device_type[device]];
    uint32_t cage = MYR_NONE;
    for (uint32_t g = 0; g < type->group_count; g++, cage = MYR_NONE) {
        for (uint32_t i = 0; i < type->groups[g].count; i++) {
            uint32_t port = bench_port(b, device, g, i), link = b->port_link[port];
            if (link != MYR_NONE && i / type->groups[g].per_cage != cage) {
                const struct myr_cabletype *lay =
                    &b->cabletypes[b->cable_type[b->link_cable[link]]];
                cage = i / type->groups[g].per_cage;
                order(b, lay->net, b->link_a[link] == port ? lay->optic_a : lay->optic_b, 1);
            }
        }
    }
}

static void order_again(struct bench *b)
{
    uint32_t boxes[MYR_NET_COUNT][BENCH_TYPES] = {};
    b->design.bom_count = 0;
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        memset(b->networks[net].cables, 0, sizeof(b->networks[net].cables));
    }
    for (uint32_t device = 0; device < b->design.device_count; device++) {
        const struct myr_place *place = &b->place[device];
        order_modules(b, device);
        if (place->kind >= MYR_DEVICE_LEAF && place->kind <= MYR_DEVICE_AGGREGATION) {
            uint32_t part = b->devtypes[b->device_type[device]].part;
            const struct myr_part *box = bench_find(b, myr_design_str(&b->design, part));
            uint32_t per = box->kind == MYR_PART_SWITCH ? box->sw.per_box : 1;
            /* The first of every so many is a new box. */
            order(b, place->net, part, boxes[place->net][box - b->parts]++ % per == 0);
        }
    }
    for (uint32_t cable = 0; cable < b->design.cable_count; cable++) {
        const struct myr_cabletype *lay = &b->cabletypes[b->cable_type[cable]];
        const struct myr_part_cable *part =
            &bench_find(b, myr_design_str(&b->design, lay->part))->cable;
        uint32_t links = b->first_link[cable + 1] - b->first_link[cable];
        order(b, lay->net, lay->part, part->legs > 1 || part->fixed_ends ? 1 : links);
        b->networks[lay->net].cables[lay->layer] += part->fixed_ends ? links : 1;
    }
}

static void assert_bill(const struct bench *b, uint64_t seed)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    bench_tell(b, &told);
    if (told.len &&
        (strstr(told.data, "physical-bom") || strstr(told.data, "physical-cable-count"))) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, told.data);
    }
}

/* Some cables of other types, and boxes of other sizes: the bill follows. */
static void a_bill_that_is_counted_again_is_right(void **state)
{
    struct bench b;
    (void)state;
    shop_init(&b);
    order_again(&b);
    assert_bill(&b, 0);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct myr_rng rng;
        struct bench was = b;
        myr_rng_init(&rng, seed, 3);
        for (uint32_t i = myr_rng_below(&rng, 6); i > 0; i--) {
            b.cable_type[myr_rng_below(&rng, b.design.cable_count)] =
                (uint16_t)myr_rng_below(&rng, b.design.cabletype_count);
        }
        bench_find(&b, "ibsw")->sw.per_box = 1 + myr_rng_below(&rng, 5);
        bench_find(&b, "ethsw")->sw.per_box = 1 + myr_rng_below(&rng, 3);
        order_again(&b);
        assert_bill(&b, seed);
        b = was;
    }
    bench_done(&b);
}

static void who_cables_an_access_network_may_be_somebody_else(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        struct bench was = b;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < was.design.bom_count; i++) {
            const char *order = myr_design_str(&b.design, was.bom[i].part);
            enum myr_part_kind kind = bench_find(&b, order)->kind;
            bool cabling = kind == MYR_PART_CABLE || kind == MYR_PART_TRANSCEIVER;
            bool here =
                strcmp(myr_design_str(&b.design, was.bom[i].system), myr_net_names[net]) == 0;
            if (!cabling || !here) {
                b.bom[kept++] = was.bom[i];
            }
        }
        b.design.bom_count = kept;
        bench_look(&b, &told, "no cabling of %s", myr_net_names[net]);
        b.networks[net].topology = MYR_TOPOLOGY_ACCESS;
        bench_look(&b, &told, "no cabling of %s, which is an access network", myr_net_names[net]);
        bench_row(&b, net, "FIBRE-20", 4);
        bench_look(&b, &told, "fibres of %s alone", myr_net_names[net]);
        b.bom[b.design.bom_count - 1].part = bench_text(&b, "SFP-25SR");
        bench_look(&b, &told, "modules of %s alone", myr_net_names[net]);
        b.bom[b.design.bom_count - 1].part = bench_text(&b, "NOBODY");
        bench_look(&b, &told, "something of %s", myr_net_names[net]);
        b = was;
    }
    assert_kept("physical-others.txt", &told);
    bench_done(&b);
}

/* How many more of a line are ordered than used; the finding says it, or there is none. */
static bool is_counted(struct bench *b, struct myr_bom_row *row)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {}, more = {};
    bench_tell(b, &told);
    row->quantity += 3;
    bench_tell(b, &more);
    row->quantity -= 3;
    bool same = told.len == more.len && (!told.len || memcmp(told.data, more.data, told.len) == 0);
    return !same;
}

/* A cable that is not chosen leaves open which modules its cages hold. */
static void modules_are_counted_where_all_cables_are_chosen(void **state)
{
    struct bench b;
    (void)state;
    shop_init(&b);
    for (uint32_t lay = 0; lay < b.design.cabletype_count; lay++) {
        struct myr_cabletype was = b.cabletypes[lay];
        b.cabletypes[lay].part = 0;
        for (uint32_t i = 0; i < b.design.bom_count; i++) {
            struct myr_bom_row *row = &b.bom[i];
            enum myr_part_kind kind = bench_find(&b, myr_design_str(&b.design, row->part))->kind;
            bool here = row->system == bench_text(&b, myr_net_names[was.net]);
            bool counted = kind != MYR_PART_SERVER && !(kind == MYR_PART_TRANSCEIVER && here);
            assert_int_equal(is_counted(&b, row), counted);
        }
        bench_row(&b, was.net, "SFP-25SR", 2); /* nor what nobody uses there */
        assert_int_equal(is_counted(&b, &b.bom[b.design.bom_count - 1]), false);
        b.design.bom_count--;
        b.cabletypes[lay] = was;
    }
    /* A type that no cable has leaves nothing open. */
    bench_lay(&b, (struct myr_cabletype){.net = MYR_NET_COMPUTE, .gbps = 400, .legs = 1});
    assert_int_equal(is_counted(&b, &b.bom[1]), true);
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_other_lines_is_kept),
        cmocka_unit_test(every_part_is_ordered_for_the_network_that_uses_it),
        cmocka_unit_test(what_is_stated_of_a_layer_is_what_is_laid),
        cmocka_unit_test(a_bill_that_is_counted_again_is_right),
        cmocka_unit_test(modules_are_counted_where_all_cables_are_chosen),
        cmocka_unit_test(who_cables_an_access_network_may_be_somebody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
