/*
 * A design that is right, with parts that are told a little wrong: every figure, word and list of
 * every part in use, one at a time. What is said then is kept whole
 * (tests/kept/physical-parts.txt); a change that is not there is one of which nothing is said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "shop_test.h"

struct field {
    enum myr_part_kind kind;
    size_t at;
    const char *name;
    bool never_zero; /* of figures: no reader lets 0 pass; of words: they are always stated */
};

#define FIELD(kind, member, never)                                         \
    {                                                                      \
        MYR_PART_##kind, offsetof(struct myr_part, member), #member, never \
    }

static const struct field figures[] = {
    FIELD(SWITCH, sw.cages, true),
    FIELD(SWITCH, sw.cage_gbps, false),
    FIELD(SWITCH, sw.port_gbps, false),
    FIELD(SWITCH, sw.ports_max, false),
    FIELD(SWITCH, sw.lanes, false),
    FIELD(SWITCH, sw.lane_gbps, false),
    FIELD(SWITCH, sw.mgmt_ports, false),
    FIELD(SWITCH, sw.per_box, true),
    FIELD(NIC, nic.cages, true),
    FIELD(NIC, nic.cage_ports, true),
    FIELD(NIC, nic.port_gbps, false),
    FIELD(NIC, nic.lanes, false),
    FIELD(NIC, nic.lane_gbps, false),
    FIELD(NIC, nic.cards, true),
    FIELD(NIC, nic.card_gbps, false),
    FIELD(TRANSCEIVER, optic.port_gbps, false),
    FIELD(TRANSCEIVER, optic.connectors, true),
    FIELD(TRANSCEIVER, optic.lane_gbps, false),
    FIELD(TRANSCEIVER, optic.lanes, false),
    FIELD(TRANSCEIVER, optic.cage_lane_gbps, false),
    FIELD(TRANSCEIVER, optic.wavelength_nm, false),
    FIELD(CABLE, cable.legs, true),
    FIELD(CABLE, cable.gbps, false),
    FIELD(CABLE, cable.lanes, false),
    FIELD(CABLE, cable.lane_gbps, false),
    FIELD(ETHERNET, eth.access_ports, false),
    FIELD(ETHERNET, eth.access_gbps, false),
    FIELD(ETHERNET, eth.uplink_ports, false),
    FIELD(ETHERNET, eth.uplink_gbps, false),
    FIELD(ETHERNET, eth.mgmt_ports, false),
    FIELD(SERVER, server.nics[MYR_NET_COMPUTE].count, false),
    FIELD(SERVER, server.nics[MYR_NET_STORAGE].count, false),
};

/* One of three each. */
static const struct field choices[] = {
    FIELD(SWITCH, sw.technology, false),         FIELD(NIC, nic.technology, false),
    FIELD(TRANSCEIVER, optic.technology, false), FIELD(TRANSCEIVER, optic.medium, false),
    FIELD(CABLE, cable.technology, false),       FIELD(CABLE, cable.medium, false),
};

static const struct field words[] = {
    FIELD(SWITCH, sw.form, false),
    FIELD(SWITCH, sw.top, false),
    FIELD(SWITCH, sw.takes, false),
    FIELD(NIC, nic.form, false),
    FIELD(NIC, nic.top, false),
    FIELD(NIC, nic.takes, false),
    FIELD(TRANSCEIVER, optic.form, true),
    FIELD(TRANSCEIVER, optic.top, false),
    FIELD(TRANSCEIVER, optic.grid, false),
    FIELD(TRANSCEIVER, optic.connector, true),
    FIELD(TRANSCEIVER, optic.fits, false),
    FIELD(CABLE, cable.connector, true),
    FIELD(CABLE, cable.form_b, false),
    FIELD(CABLE, cable.top, false),
    FIELD(CABLE, cable.top_b, false),
    FIELD(ETHERNET, eth.access_form, false),
    FIELD(ETHERNET, eth.uplink_form, false),
};

static const struct field lists[] = {
    FIELD(SWITCH, sw.splits, false),       FIELD(SWITCH, sw.lane_also, false),
    FIELD(NIC, nic.also, false),           FIELD(NIC, nic.lane_also, false),
    FIELD(TRANSCEIVER, optic.also, false),
};

static void *member(struct myr_part *part, const struct field *field)
{
    return (char *)part + field->at;
}

static void change_figure(const struct bench *b, struct myr_part *part, const struct field *field,
                          struct myr_buf *told)
{
    uint32_t *value = member(part, field), was = *value;
    const uint32_t others[] = {0, was - 1, was + 1, was * 2};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        bool twice = i > 0 && (others[i] == 0 || (i == 3 && was == 1));
        if (others[i] != was && !twice && others[i] < 100000 &&
            !(field->never_zero && !others[i])) {
            *value = others[i];
            bench_look(b, told, "%s: %s %u, not %u", part->id, field->name, others[i], was);
        }
    }
    *value = was;
}

static void change_choice(const struct bench *b, struct myr_part *part, const struct field *field,
                          struct myr_buf *told)
{
    uint32_t *value = member(part, field), was = *value;
    for (uint32_t i = 0; i < 3; i++) {
        *value = i;
        bench_look(b, told, "%s: %s %u, not %u", part->id, field->name, i, was);
    }
    *value = was;
}

/* In capital letters it is the same word. */
static void change_word(const struct bench *b, struct myr_part *part, const struct field *field,
                        struct myr_buf *told)
{
    static const char *const others[] = {NULL,   "finned", "flat",         "odd",     "OSFP",
                                         "qsfp", "",       "qsfp112 osfp", "ibcards", "x  ibcard"};
    const char **value = member(part, field), *was = *value;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        if (others[i] || !field->never_zero) {
            *value = others[i];
            bench_look(b, told, "%s: %s %s, not %s", part->id, field->name,
                       others[i] ? others[i] : "(none)", was ? was : "(none)");
        }
    }
    *value = was;
}

static void change_list(const struct bench *b, struct myr_part *part, const struct field *field,
                        struct myr_buf *told)
{
    struct myr_speeds *list = member(part, field), was = *list;
    for (uint32_t i = 0; i < was.count; i++) {
        list->items[i]++;
        bench_look(b, told, "%s: %s without %u", part->id, field->name, was.items[i]);
        *list = was;
    }
    for (uint32_t count = 0; count < was.count; count++) {
        list->count = count;
        bench_look(b, told, "%s: %s, the first %u alone", part->id, field->name, count);
        *list = was;
    }
}

typedef void change_fn(const struct bench *b, struct myr_part *part, const struct field *field,
                       struct myr_buf *told);

static void change_all(struct bench *b, const struct field *fields, size_t count, change_fn *change,
                       struct myr_buf *told)
{
    for (size_t p = 0; p < b->catalog.parts.count; p++) {
        for (size_t i = 0; i < count; i++) {
            if (b->parts[p].kind == fields[i].kind) {
                change(b, &b->parts[p], &fields[i], told);
            }
        }
    }
}

/* A shop in which nothing is wrong is what all others begin with. */
static void nothing_is_said_of_a_design_that_is_right(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    if (bench_tell(&b, &told)) {
        fail_msg("%s", told.data);
    }
    bench_done(&b);
}

static void what_is_said_of_other_figures_is_kept(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    change_all(&b, figures, MYR_ARRAY_COUNT(figures), change_figure, &told);
    change_all(&b, choices, MYR_ARRAY_COUNT(choices), change_choice, &told);
    change_all(&b, lists, MYR_ARRAY_COUNT(lists), change_list, &told);
    assert_kept("physical-figures.txt", &told);
    bench_done(&b);
}

static void what_is_said_of_other_words_is_kept(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    change_all(&b, words, MYR_ARRAY_COUNT(words), change_word, &told);
    assert_kept("physical-words.txt", &told);
    bench_done(&b);
}

/* Half a millimetre is rounding; a millimetre is too short. */
static void a_run_is_as_long_as_its_cable_and_its_light_reach(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    for (size_t p = 0; p < b.catalog.parts.count; p++) {
        struct myr_part *part = &b.parts[p];
        double *metres = part->kind == MYR_PART_CABLE         ? &part->cable.length_m
                         : part->kind == MYR_PART_TRANSCEIVER ? &part->optic.reach_m
                                                              : NULL;
        for (uint32_t i = 0; metres && i < b.design.cabletype_count; i++) {
            const struct myr_cabletype *type = &b.cabletypes[i];
            double was = *metres, run = type->length_mm / 1000.0;
            uint32_t name = bench_text(&b, part->id);
            if (type->part != name && type->optic_a != name && type->optic_b != name) {
                continue;
            }
            const double others[] = {run, run - 0.0004, run - 0.001};
            for (size_t k = 0; k < MYR_ARRAY_COUNT(others); k++) {
                *metres = others[k];
                bench_look(&b, &told, "%s: %.4f m", part->id, *metres);
            }
            *metres = was;
        }
    }
    assert_kept("physical-metres.txt", &told);
    bench_done(&b);
}

static void modules_in_the_box_and_ends_of_cables_are_kept(void **state)
{
    struct bench b;
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    (void)state;
    shop_init(&b);
    for (size_t p = 0; p < b.catalog.parts.count; p++) {
        struct myr_part *part = &b.parts[p], was = *part;
        if (part->kind == MYR_PART_TRANSCEIVER) {
            part->optic.built_in = true;
            bench_look(&b, &told, "%s: built in", part->id);
        } else if (part->kind == MYR_PART_CABLE) {
            part->cable.fixed_ends = !part->cable.fixed_ends;
            bench_look(&b, &told, "%s: fixed ends, or no longer", part->id);
        }
        *part = was;
        /* A part of another kind where this one is named. */
        part->kind = (enum myr_part_kind)((part->kind + 1) % MYR_PART_KIND_COUNT);
        bench_look(&b, &told, "%s: of another kind", part->id);
        *part = was;
    }
    assert_kept("physical-kinds.txt", &told);
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_of_a_design_that_is_right),
        cmocka_unit_test(what_is_said_of_other_figures_is_kept),
        cmocka_unit_test(what_is_said_of_other_words_is_kept),
        cmocka_unit_test(a_run_is_as_long_as_its_cable_and_its_light_reach),
        cmocka_unit_test(modules_in_the_box_and_ends_of_cables_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
