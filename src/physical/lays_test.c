/*
 * A design that is right, in which one record is another: types of cables and of devices, groups of
 * ports, cards, lines of the bill, figures of networks and the room. What is said then is kept
 * whole (tests/kept/physical-records.txt and -bill.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "shop_test.h"

/* The field takes the value, is looked at, and is as before. */
#define SET(field, value)                                                                     \
    do {                                                                                      \
        __typeof__(field) was_ = (field);                                                     \
        (field) = (__typeof__(field))(value);                                                 \
        bench_look(b, told, "%s %u: %s = %s", what, index, strrchr(#field, '>') + 1, #value); \
        (field) = was_;                                                                       \
    } while (0)

static void change_lay(struct bench *b, uint32_t index, struct myr_buf *told)
{
    const char *what = "cable type";
    struct myr_cabletype *type = &b->cabletypes[index];
    SET(type->gbps, was_ / 2);
    SET(type->gbps, was_ * 2);
    SET(type->length_mm, was_ + 1);
    SET(type->length_mm, 3000000);
    SET(type->legs, was_ + 1);
    SET(type->legs, was_ * 2);
    SET(type->head_b, !was_);
    SET(type->layer, MYR_LAYER_CORE);
    SET(type->net, (was_ + 1) % MYR_NET_COUNT);
    SET(type->part, 0);
    SET(type->part, bench_text(b, "nobody"));
    SET(type->part, bench_text(b, "one-sr"));
    SET(type->optic_a, 0);
    SET(type->optic_a, bench_text(b, "nobody"));
    SET(type->optic_a, bench_text(b, "mpo"));
    SET(type->optic_b, 0);
    SET(type->optic_b, bench_text(b, "nobody"));
    uint32_t optic_b = type->optic_b;
    type->optic_b = 0;
    SET(type->optic_a, 0);
    type->optic_b = optic_b;
}

/* Every cable and module of the shop in the place of each. */
static void change_lay_parts(struct bench *b, uint32_t index, struct myr_buf *told)
{
    struct myr_cabletype *type = &b->cabletypes[index], was = *type;
    for (size_t p = 0; p < b->catalog.parts.count; p++) {
        const struct myr_part *part = &b->parts[p];
        if (part->kind == MYR_PART_CABLE) {
            type->part = bench_text(b, part->id);
            bench_look(b, told, "cable type %u: %s", index, part->id);
        } else if (part->kind == MYR_PART_TRANSCEIVER) {
            type->optic_a = bench_text(b, part->id);
            bench_look(b, told, "cable type %u: %s at a", index, part->id);
            *type = was;
            type->optic_b = bench_text(b, part->id);
            bench_look(b, told, "cable type %u: %s at b", index, part->id);
        }
        *type = was;
    }
}

static void change_type(struct bench *b, uint32_t index, struct myr_buf *told)
{
    const char *what = "device type";
    struct myr_devtype *type = &b->devtypes[index];
    SET(type->part, bench_text(b, "nobody"));
    SET(type->part, bench_text(b, "ibsw"));
    SET(type->part, bench_text(b, "agg"));
    SET(type->part, bench_text(b, "lom"));
    for (uint32_t g = 0; g < type->group_count; g++) {
        struct myr_port_group *group = &type->groups[g];
        what = g == 0   ? "first ports of type"
               : g == 1 ? "second ports of type"
               : g == 2 ? "third ports of type"
                        : "fourth ports of type";
        SET(group->gbps, was_ * 2);
        SET(group->gbps, (was_ + 1) / 2);
        SET(group->count, was_ - 1);
        SET(group->per_cage, was_ * 2);
        SET(group->per_cage, (was_ + 1) / 2);
        SET(group->per_connector, (was_ + 1) / 2);
        SET(group->per_connector, was_ * 2);
        SET(group->role, MYR_PORT_NIC);
        SET(group->role, MYR_PORT_UP);
        SET(group->net, MYR_NET_SERVICE);
    }
}

static void change_card(struct bench *b, uint32_t index, struct myr_buf *told)
{
    const char *what = "card";
    struct myr_card *card = &b->cards[index];
    SET(card->part, bench_text(b, "nobody"));
    SET(card->part, bench_text(b, "access"));
    SET(card->part, bench_text(b, "twin"));
    SET(card->part, bench_text(b, "ibcard"));
    SET(card->count, was_ + 1);
    SET(card->count, was_ * 2);
    SET(card->devtype, SHOP_TYPES);
    SET(card->group, MYR_PORT_GROUPS_MAX);
    if (card->count > 1) {
        SET(card->count, was_ - 1);
        card->asked = 1;
        SET(card->count, was_ - 1);
        card->asked = 0;
    }
}

static void change_room(struct bench *b, struct myr_buf *told)
{
    const char *what = "rack";
    for (uint32_t index = 0; index < b->design.rack_count; index++) {
        struct myr_rack *rack = &b->racks[index];
        struct myr_rack_more *more = &b->rack_more[index];
        SET(rack->power_feed, MYR_NONE);
        SET(more->power_b, MYR_NONE);
        SET(more->units, 0);
        SET(more->units, 1);
    }
    what = "strip";
    for (uint32_t index = 0; index < 4; index++) {
        uint32_t strip = shop_first(SHOP_STRIP) + index;
        struct bench *shop = b;
        SET(shop->device_rack[strip], MYR_NONE);
        SET(shop->device_rack[strip], 2);
        SET(shop->place[strip].kind, MYR_DEVICE_CDU);
    }
    /* Feeds without names are two; nobody manages a room that has no such network. */
    b->device_rack[shop_first(SHOP_STRIP)] = 1;
    what = "a strip in the next rack";
    uint32_t index = 0;
    struct myr_design *design = &b->design;
    SET(design->power_count, 0);
    SET(design->power_count, 1);
    SET(design->room->managed, 0);
    SET(design->room, NULL);
    SET(design->networks[MYR_NET_OOB].topology, 0);
    what = "a strip in the next rack, no feeds";
    for (uint32_t i = 0; i < b->design.rack_count; i++) {
        b->racks[i].power_feed = b->rack_more[i].power_b = MYR_NONE;
    }
    SET(design->power_count, 0);
    SET(design->power_count, 1);
}

static void what_is_said_of_other_records_is_kept(void **state)
{
    struct bench shop, *b = &shop;
    MYR_CLEANUP(myr_buf_done) struct myr_buf all = {};
    struct myr_buf *told = &all;
    (void)state;
    shop_init(b);
    for (uint32_t i = 0; i < b->design.cabletype_count; i++) {
        change_lay(b, i, told);
    }
    for (uint32_t i = 0; i < b->design.devtype_count; i++) {
        change_type(b, i, told);
    }
    for (uint32_t i = 0; i < b->design.card_count; i++) {
        change_card(b, i, told);
    }
    change_room(b, told);
    assert_kept("physical-records.txt", told);
    bench_done(b);
}

static void what_is_said_of_other_cables_and_modules_is_kept(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    for (uint32_t i = 0; i < b.design.cabletype_count; i++) {
        change_lay_parts(&b, i, &told);
    }
    assert_kept("physical-lays.txt", &told);
    bench_done(&b);
}

static void each_unknown_card_of_a_box_is_told(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    assert_int_equal(b.cards[0].devtype, SHOP_NODE);
    assert_int_equal(b.cards[1].devtype, SHOP_NODE);
    b.cards[0].part = bench_text(&b, "cardless");
    b.cards[1].part = bench_text(&b, "cardfree");
    assert_true(bench_tell(&b, &told));
    assert_string_equal(
        told.data, "    physical-unknown-part, 4 at compute node: 'cardless' is no card of the "
                   "catalogue\n"
                   "    physical-unknown-part, 4 at storage node: 'cardfree' is no card of the "
                   "catalogue\n");
    bench_done(&b);
}

/* A box that nobody knows is told once, and then nothing of what is plugged into it. */
static void two_unknown_boxes_are_told_once_each(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    b.devtypes[SHOP_LEAF].part = bench_text(&b, "leafless");
    for (uint32_t i = 0; i < b.design.card_count; i++) {
        bool node = b.cards[i].devtype == SHOP_NODE;
        bool second = b.cards[i].group % 2 == 1; /* the ones between are known */
        b.cards[i].part = node && second ? bench_text(&b, "cardless") : b.cards[i].part;
    }
    assert_true(bench_tell(&b, &told));
    assert_string_equal(
        told.data, "    physical-unknown-part, 4 at storage node: 'cardless' is no card of the "
                   "catalogue\n"
                   "    physical-unknown-part, 2 at compute leaf: 'leafless' is no switch of "
                   "the catalogue\n"
                   "    physical-bom-switches, 2 at compute: IB-100: 4 ordered, the design "
                   "uses 2\n");
    bench_done(&b);
}

static void nothing_is_said_of_types_that_nothing_has(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    uint32_t box = bench_type(&b, "nobody"), host = bench_type(&b, "nobody");
    bench_group(&b, box, SHOP_PORTS(MYR_NET_COMPUTE, MYR_PORT_DOWN, 9, 800, 3, 1), NULL, 0);
    bench_group(&b, host, SHOP_PORTS(MYR_NET_COMPUTE, MYR_PORT_NIC, 9, 800, 3, 1), "nocard", 9);
    bench_group(&b, host, SHOP_PORTS(MYR_NET_OOB, MYR_PORT_NIC, 9, 800, 3, 1), NULL, 0);
    bench_device(&b, bench_type(&b, "ibsw"), (struct myr_place){.kind = MYR_DEVICE_CDU});
    if (bench_tell(&b, &told)) { /* a device without ports is not looked at either */
        fail_msg("%s", told.data);
    }
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_of_other_records_is_kept),
        cmocka_unit_test(what_is_said_of_other_cables_and_modules_is_kept),
        cmocka_unit_test(each_unknown_card_of_a_box_is_told),
        cmocka_unit_test(two_unknown_boxes_are_told_once_each),
        cmocka_unit_test(nothing_is_said_of_types_that_nothing_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
