/*
 * The bill of a grown design, for cables that were laid otherwise than planned: of every two kinds
 * of a network some, or all, of the one are laid as the other. Cables are counted one by one here;
 * every line is its quantity times its price, and what changed is kept (tests/kept/plan-bills.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "grow/grow_internal.h"
#include "kept.h"
#include "planned_test.h"

static const char *const specs[] = {
    "servers: 5\nserver: h100-8gpu\nprices: cn-2024-05\nnetworks: {compute: {switch: mqm9790-ns2f, "
    "leaf_down: 8, leaf_up: 8, length_m: {host_leaf: 30, leaf_spine: 50}}, storage: {switch: "
    "mqm9790-ns2f, nic_ports: 1, nic_gbps: 200}}\nfacility: {energy: {years: 4}}\n",
    /* Cables with ends, which are pieces. */
    "servers: 6\nserver: h100-8gpu\nprices: cn-2024-05\nnetworks: {compute: {switch: mqm9790-ns2f, "
    "topology: clos, leaf_down: 16, leaf_up: 16, length_m: {host_leaf: 2, leaf_spine: 30}}, "
    "service: }\n",
};

struct laid {
    struct planned p;
    struct myr_growth growth;
    struct grow grow;
};

static void lay(struct laid *l, const char *spec)
{
    *l = (struct laid){};
    planned_begin(&l->p, spec);
    l->grow = (struct grow){.arena = &l->p.arena,
                            .catalog = &l->p.catalog,
                            .old = &l->p.design,
                            .plan = &l->p.design,
                            .out = &l->growth};
}

/* As planned, but for this share of the cables of one kind; returns how many those are. */
static uint32_t lay_as(struct laid *l, uint32_t kind, uint32_t other, uint32_t of_four)
{
    const struct myr_design *plan = &l->p.design;
    struct myr_design *now = &l->growth.grown;
    uint32_t changed = 0;
    *now = *plan;
    now->cable_type = MYR_ARENA_NEW(&l->p.arena, uint16_t, plan->cable_count);
    for (uint32_t i = 0; i < plan->cable_count; i++) {
        bool as_other = plan->cable_type[i] == kind && i % 4 < of_four;
        now->cable_type[i] = as_other ? (uint16_t)other : plan->cable_type[i];
        changed += as_other;
    }
    grow_bill(&l->grow);
    return changed;
}

/* Pieces of a part that a network is cabled with, or its links where it is sold by the link. */
static uint64_t count_part(const struct laid *l, const struct myr_design *design, uint32_t net,
                           const char *order)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < design->cable_count; i++) {
        const struct myr_cabletype *type = &design->cabletypes[design->cable_type[i]];
        uint32_t found =
            myr_catalog_find(&l->p.catalog, myr_str_from(myr_design_str(design, type->part)));
        if (type->net != net || found == MYR_PART_NONE) {
            continue;
        }
        const struct myr_part *part = &l->p.catalog.parts.items[found];
        if (strcmp(part->order, order) == 0) {
            bool whole = part->cable.legs > 1 || part->cable.fixed_ends;
            count += whole ? 1 : design->first_link[i + 1] - design->first_link[i];
        }
    }
    return count;
}

static bool is_cable(const char *name)
{
    size_t len = strlen(name);
    return len > 6 && strcmp(name + len - 6, " cable") == 0;
}

/* Lines, sums and what is paid over the years; returns the lines of cables that were counted. */
static uint32_t check_bill(const struct laid *l)
{
    const struct myr_design *plan = &l->p.design, *now = &l->growth.grown;
    uint32_t counted = 0;
    int64_t sum = 0;
    assert_int_equal(now->bom_count, plan->bom_count);
    for (uint32_t i = 0; i < now->bom_count; i++) {
        const struct myr_bom_row *row = &now->bom[i], *was = &plan->bom[i];
        const char *system = myr_design_str(now, row->system),
                   *name = myr_design_str(now, row->name);
        assert_string_equal(name, myr_design_str(plan, was->name));
        assert_int_equal(row->unit_cents, was->unit_cents);
        sum += row->unit_cents < 0 ? 0 : row->unit_cents * (int64_t)row->quantity;
        if (row->unit_cents >= 0) {
            assert_int_equal(now->bom_price[i].cents, row->total_cents);
        }
        for (uint32_t net = 0; is_cable(name) && net < MYR_NET_COUNT; net++) {
            const char *order = myr_design_str(now, row->part);
            if (strcmp(system, myr_net_names[net]) == 0 &&
                count_part(l, plan, net, order) == was->quantity) {
                assert_int_equal(row->quantity, count_part(l, now, net, order));
                counted++;
            }
        }
    }
    assert_int_equal(now->head->total_cents, sum);
    return counted;
}

static void tell_bill(const struct laid *l, struct myr_buf *told)
{
    const struct myr_design *plan = &l->p.design, *now = &l->growth.grown;
    for (uint32_t i = 0; i < now->bom_count; i++) {
        const struct myr_bom_row *row = &now->bom[i], *was = &plan->bom[i];
        if (row->quantity != was->quantity) {
            myr_buf_printf(told, "  %s %s %s: %llu, not %llu, %lld cents (%s)\n",
                           myr_design_str(now, row->system), myr_design_str(now, row->part),
                           myr_design_str(now, row->name), (unsigned long long)row->quantity,
                           (unsigned long long)was->quantity, (long long)row->total_cents,
                           myr_design_str(now, row->inputs));
        }
    }
    for (uint32_t i = 0; i < now->figure_count; i++) {
        const struct myr_figure *figure = &now->figures[i];
        if (figure->value != plan->figures[i].value) {
            myr_buf_printf(told, "  %s: %.2f (%s)\n", myr_design_str(now, figure->path),
                           figure->value, myr_design_str(now, figure->inputs));
        }
    }
}

static void bills_follow_the_cables_that_are_laid(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    uint32_t counted = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct laid l;
        lay(&l, specs[i]);
        myr_buf_printf(&told, "== %s", specs[i]);
        uint32_t kinds = l.p.design.cabletype_count;
        const struct myr_cabletype *types = l.p.design.cabletypes;
        for (uint32_t k = 0; k < kinds * kinds * 5; k++) {
            uint32_t one = k / 5 / kinds, other = k / 5 % kinds, of_four = k % 5;
            if (types[one].net == types[other].net && types[one].part != types[other].part) {
                uint32_t changed = lay_as(&l, one, other, of_four);
                assert_true(changed > 0 || of_four < 4);
                counted += check_bill(&l);
                myr_buf_printf(&told, " %u of kind %u as %u\n", changed, one, other);
                tell_bill(&l, &told);
            }
        }
        planned_end(&l.p);
    }
    assert_true(counted > 0);
    assert_kept("plan-bills.txt", &told);
}

/* A line that costs more than can be counted has no price, and nothing of it is in the total. */
static void what_cannot_be_counted_has_no_price(void **state)
{
    (void)state;
    struct laid l;
    lay(&l, specs[0]);
    struct myr_design *plan = &l.p.design;
    uint32_t lost = 0;
    for (uint32_t k = 0; k < plan->cabletype_count; k++) {
        for (uint32_t i = 0; i < plan->bom_count; i++) {
            struct myr_bom_row *row = &plan->bom[i], before = *row;
            uint32_t other = k ? 0 : 1;
            if (plan->cabletypes[k].net != plan->cabletypes[other].net || row->quantity < 4) {
                continue;
            }
            row->unit_cents = INT64_MAX / 2;
            (void)lay_as(&l, k, other, 1);
            const struct myr_bom_row *now = &l.growth.grown.bom[i];
            if (now->quantity != row->quantity && now->quantity > 2) {
                assert_int_equal(now->unit_cents, -1);
                assert_int_equal(now->total_cents, 0);
                lost++;
            } else if (now->quantity == row->quantity) {
                assert_int_equal(now->unit_cents, row->unit_cents);
            }
            *row = before;
        }
    }
    assert_true(lost > 0);
    planned_end(&l.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bills_follow_the_cables_that_are_laid),
        cmocka_unit_test(what_cannot_be_counted_has_no_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
