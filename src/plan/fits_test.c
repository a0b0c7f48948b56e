/*
 * Every rule of what goes into what, one difference at a time: a part that fits, then the same with
 * one figure changed. The rule that each breaks is the one that its comment in fits.h names.
 */
#include "fits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct myr_speeds half = {.items = {50}, .count = 1};

/* A cage of a switch: two links of 400, and a module that fills it. */
static struct fit_socket cage(void)
{
    return (struct fit_socket){.id = "sw",
                               .form = "osfp",
                               .takes = "qsfp qsfp28",
                               .top = "finned",
                               .technology = MYR_TECH_INFINIBAND,
                               .cage_gbps = 800,
                               .lanes = 8,
                               .lane_gbps = 100,
                               .lane_also = &half,
                               .ports = 2,
                               .legs = 1};
}

static struct myr_part module(void)
{
    return (struct myr_part){.kind = MYR_PART_TRANSCEIVER,
                             .id = "module",
                             .optic = {.form = "osfp",
                                       .top = "finned",
                                       .cage_gbps = 800,
                                       .connectors = 2,
                                       .port_gbps = 400,
                                       .lane_gbps = 100,
                                       .lanes = 8,
                                       .technology = MYR_TECH_ANY,
                                       .medium = MYR_MEDIUM_MULTI,
                                       .wavelength_nm = 850,
                                       .connector = "mpo",
                                       .reach_m = 50}};
}

static enum fit_rule of_module(const struct myr_part *part, const struct fit_socket *socket)
{
    return fits_module(part, socket, 400);
}

#define WITH_MODULE(change, expected)                  \
    do {                                               \
        struct myr_part m = module();                  \
        struct fit_socket s = cage();                  \
        change;                                        \
        assert_int_equal(of_module(&m, &s), expected); \
    } while (0)

static void a_module_fits_its_cage_or_breaks_one_rule(void **state)
{
    (void)state;
    WITH_MODULE((void)0, FIT_OK);
    /* Form: its own in any case of letters, or one of those that the cage takes; whole words. */
    WITH_MODULE(m.optic.form = "OSFP", FIT_OK);
    WITH_MODULE(m.optic.form = "qsfp", FIT_OK);
    WITH_MODULE(m.optic.form = "qsfp28", FIT_OK);
    WITH_MODULE(m.optic.form = "qsfp2", FIT_OPTIC_FORM);
    WITH_MODULE(m.optic.form = "sfp", FIT_OPTIC_FORM);
    WITH_MODULE(m.optic.form = NULL, FIT_OPTIC_FORM);
    WITH_MODULE((m.optic.form = "qsfp", s.takes = NULL), FIT_OPTIC_FORM);
    /* Top: what is not stated fits either. */
    WITH_MODULE(m.optic.top = "flat", FIT_OPTIC_TOP);
    WITH_MODULE(m.optic.top = NULL, FIT_OK);
    WITH_MODULE((m.optic.top = "flat", s.top = NULL), FIT_OK);
    WITH_MODULE(m.optic.technology = MYR_TECH_INFINIBAND, FIT_OK);
    WITH_MODULE(m.optic.technology = MYR_TECH_ETHERNET, FIT_OPTIC_TECHNOLOGY);
    WITH_MODULE((m.optic.technology = MYR_TECH_ETHERNET, s.technology = MYR_TECH_ANY), FIT_OK);
    /* Cards may be listed, by the beginnings of their names; switches never are. */
    WITH_MODULE(m.optic.fits = "cx7 cx8", FIT_OK);
    WITH_MODULE((m.optic.fits = "cx7 cx8", s.nic = true), FIT_OPTIC_HOST);
    WITH_MODULE((m.optic.fits = "cx7 cx8", s.nic = true, s.id = "cx8-800g"), FIT_OK);
    WITH_MODULE((m.optic.fits = "cx7 cx8", s.nic = true, s.id = "cx7"), FIT_OK);
    WITH_MODULE((m.optic.fits = "", s.nic = true), FIT_OPTIC_HOST);
    WITH_MODULE((m.optic.fits = " cx8", s.nic = true), FIT_OPTIC_HOST);
    WITH_MODULE(s.nic = true, FIT_OK);
    /* Speed through a connector, of all its legs together. */
    WITH_MODULE(m.optic.port_gbps = 200, FIT_OPTIC_SPEED);
    WITH_MODULE((m.optic.port_gbps = 800, m.optic.also.items[0] = 400, m.optic.also.count = 1),
                FIT_OK);
    WITH_MODULE((m.optic.port_gbps = 800, s.legs = 2, s.ports = 4), FIT_OK);
    WITH_MODULE((s.legs = 2, s.ports = 4), FIT_OPTIC_SPEED);
    WITH_MODULE(m.optic.connectors = 1, FIT_OPTIC_CONNECTORS);
    WITH_MODULE(s.ports = 4, FIT_OPTIC_CONNECTORS);
    WITH_MODULE((m.optic.port_gbps = 800, s.legs = 2), FIT_OPTIC_CONNECTORS);
}

static void lanes_of_a_module_are_those_of_the_cage(void **state)
{
    (void)state;
    WITH_MODULE(m.optic.lanes = 4, FIT_OPTIC_LANES);
    WITH_MODULE(m.optic.lanes = 16, FIT_OPTIC_LANES);
    /* A module of another form may have fewer, not more. */
    WITH_MODULE((m.optic.form = "qsfp", m.optic.lanes = 4), FIT_OK);
    WITH_MODULE((m.optic.form = "qsfp", m.optic.lanes = 16), FIT_OPTIC_LANES);
    WITH_MODULE(m.optic.lane_gbps = 50, FIT_OK); /* a lower speed that the cage has */
    WITH_MODULE(m.optic.lane_gbps = 25, FIT_OPTIC_LANE_SPEED);
    WITH_MODULE((m.optic.lane_gbps = 50, s.lane_also = NULL), FIT_OPTIC_LANE_SPEED);
    WITH_MODULE((m.optic.lane_gbps = 25, m.optic.cage_lane_gbps = 100), FIT_OK); /* a gearbox */
    WITH_MODULE((m.optic.lane_gbps = 100, m.optic.cage_lane_gbps = 25), FIT_OPTIC_LANE_SPEED);
    WITH_MODULE((m.optic.lane_gbps = 25, s.lane_gbps = 0), FIT_OK);
    WITH_MODULE(m.optic.lane_gbps = 0, FIT_OK);
    /* Without lanes on both sides the speed of the cage stands for them, but for a card's. */
    WITH_MODULE(s.lanes = 0, FIT_OK);
    WITH_MODULE((s.lanes = 0, s.cage_gbps = 1600), FIT_OPTIC_LANES);
    WITH_MODULE((m.optic.lanes = 0, s.cage_gbps = 1600), FIT_OPTIC_LANES);
    WITH_MODULE((s.lanes = 0, s.cage_gbps = 1600, s.nic = true), FIT_OK);
    WITH_MODULE(s.cage_gbps = 1600, FIT_OK);
}

#define WITH_PAIR(change, expected)                           \
    do {                                                      \
        struct myr_part a = module(), b = module();           \
        change;                                               \
        assert_int_equal(fits_modules(&a, &b, 50), expected); \
    } while (0)

static void two_modules_must_send_what_the_other_reads(void **state)
{
    (void)state;
    WITH_PAIR((void)0, FIT_OK);
    WITH_PAIR(a.optic.medium = MYR_MEDIUM_SINGLE, FIT_OPTIC_MODE);
    WITH_PAIR(b.optic.wavelength_nm = 1310, FIT_OPTIC_MODE);
    WITH_PAIR(a.optic.lane_gbps = 50, FIT_OPTIC_MODE);
    WITH_PAIR(a.optic.lane_gbps = 0, FIT_OK);
    WITH_PAIR(b.optic.lane_gbps = 0, FIT_OK);
    WITH_PAIR(a.optic.grid = "cwdm4", FIT_OPTIC_MODE);
    WITH_PAIR(b.optic.grid = "cwdm4", FIT_OPTIC_MODE);
    WITH_PAIR((a.optic.grid = "cwdm4", b.optic.grid = "cwdm4"), FIT_OK);
    WITH_PAIR((a.optic.grid = "cwdm4", b.optic.grid = "other"), FIT_OPTIC_MODE);
    WITH_PAIR(a.optic.connector = "lc", FIT_OPTIC_MODE);
    WITH_PAIR((a.optic.connector = NULL, b.optic.connector = NULL), FIT_OPTIC_MODE);
    WITH_PAIR(a.optic.reach_m = 49, FIT_OPTIC_REACH);
    WITH_PAIR(b.optic.reach_m = 49, FIT_OPTIC_REACH);
    WITH_PAIR((a.optic.reach_m = 51, b.optic.reach_m = 51), FIT_OK);
}

static struct fit_link link_of(void)
{
    return (struct fit_link){.a = cage(), .b = cage(), .gbps = 400, .bundle = 2, .length_m = 5};
}

#define WITH_FIBRE(change, expected)                               \
    do {                                                           \
        struct myr_part a = module(), b = module();                \
        struct myr_part c = {.kind = MYR_PART_CABLE,               \
                             .cable = {.medium = MYR_MEDIUM_MULTI, \
                                       .legs = 1,                  \
                                       .length_m = 5,              \
                                       .connector = "mpo",         \
                                       .technology = MYR_TECH_ANY, \
                                       .lanes = 4}};               \
        struct fit_link l = link_of();                             \
        change;                                                    \
        assert_int_equal(fits_fibre(&c, &a, &b, &l), expected);    \
    } while (0)

static void a_fibre_lies_between_two_modules_that_light_it(void **state)
{
    (void)state;
    WITH_FIBRE((void)0, FIT_OK);
    WITH_FIBRE(c.cable.fixed_ends = true, FIT_CABLE_FORM);
    WITH_FIBRE(c.cable.technology = MYR_TECH_ETHERNET, FIT_CABLE_TECHNOLOGY);
    WITH_FIBRE(c.cable.medium = MYR_MEDIUM_SINGLE, FIT_OPTIC_MODE);
    WITH_FIBRE(a.optic.medium = MYR_MEDIUM_SINGLE, FIT_OPTIC_MODE);
    WITH_FIBRE(b.optic.medium = MYR_MEDIUM_SINGLE, FIT_OPTIC_MODE);
    WITH_FIBRE(a.optic.connector = "lc", FIT_OPTIC_MODE);
    WITH_FIBRE(b.optic.connector = "lc", FIT_OPTIC_MODE);
    /* Four pairs are lit: fewer in the fibre are too few, as many as it says where it says. */
    WITH_FIBRE(c.cable.lanes = 3, FIT_OPTIC_MODE);
    WITH_FIBRE(c.cable.lanes = 8, FIT_OK);
    WITH_FIBRE(c.cable.lanes = 0, FIT_OK);
    WITH_FIBRE((c.cable.lanes = 1, a.optic.grid = "cwdm4", b.optic.grid = "cwdm4"), FIT_OK);
    WITH_FIBRE((c.cable.lanes = 1, a.optic.lane_gbps = 0, b.optic.lane_gbps = 0), FIT_OK);
    WITH_FIBRE((c.cable.lanes = 1, a.optic.grid = "cwdm4"), FIT_OPTIC_MODE);
    WITH_FIBRE((c.cable.lanes = 1, b.optic.grid = "cwdm4"), FIT_OPTIC_MODE);
    /* A leg has its share of them. */
    WITH_FIBRE((c.cable.lanes = 2, c.cable.legs = 2, l.b.legs = 2, b.optic.lane_gbps = 200),
               FIT_OK);
    WITH_FIBRE(c.cable.legs = 2, FIT_CABLE_LEGS);
    WITH_FIBRE(l.b.legs = 2, FIT_CABLE_LEGS);
    WITH_FIBRE(c.cable.length_m = 4.9, FIT_CABLE_SHORT);
    WITH_FIBRE(c.cable.length_m = 7, FIT_OK);
}

/* A straight cable of a whole cage: two links of 400 between two cages. */
static struct myr_part copper(void)
{
    return (struct myr_part){.kind = MYR_PART_CABLE,
                             .cable = {.medium = MYR_MEDIUM_COPPER,
                                       .legs = 1,
                                       .length_m = 5,
                                       .connector = "osfp",
                                       .fixed_ends = true,
                                       .gbps = 800,
                                       .top = "finned",
                                       .lanes = 8,
                                       .lane_gbps = 100,
                                       .technology = MYR_TECH_ANY}};
}

/* Two cards below one cage: a leg for each. */
static struct fit_link split_link(void)
{
    struct fit_link link = link_of();
    link.a.nic = true;
    link.a.form = "qsfp112";
    link.a.takes = NULL;
    link.a.top = "flat";
    link.a.lanes = 4;
    link.a.ports = 1;
    link.bundle = 1;
    return link;
}

static struct myr_part split_copper(void)
{
    struct myr_part part = copper();
    part.cable.legs = 2;
    part.cable.form_b = "qsfp112";
    part.cable.top_b = "flat";
    return part;
}

#define WITH_COPPER(change, expected)                   \
    do {                                                \
        struct myr_part c = copper();                   \
        struct fit_link l = link_of();                  \
        change;                                         \
        assert_int_equal(fits_fixed(&c, &l), expected); \
    } while (0)
#define WITH_SPLIT(change, expected)                    \
    do {                                                \
        struct myr_part c = split_copper();             \
        struct fit_link l = split_link();               \
        change;                                         \
        assert_int_equal(fits_fixed(&c, &l), expected); \
    } while (0)

static void a_cable_with_ends_goes_into_both_cages(void **state)
{
    (void)state;
    WITH_COPPER((void)0, FIT_OK);
    WITH_COPPER(c.cable.fixed_ends = false, FIT_CABLE_FORM);
    WITH_COPPER(l.a.form = "sfp", FIT_CABLE_FORM);
    WITH_COPPER(l.b.form = "sfp", FIT_CABLE_FORM);
    WITH_COPPER(c.cable.form_b = "sfp", FIT_CABLE_FORM);
    WITH_COPPER(c.cable.top = "flat", FIT_CABLE_TOP);
    WITH_COPPER(c.cable.top_b = "flat", FIT_CABLE_TOP);
    WITH_COPPER(l.a.top = "flat", FIT_CABLE_TOP);
    WITH_COPPER(l.b.top = "flat", FIT_CABLE_TOP);
    WITH_COPPER(c.cable.technology = MYR_TECH_ETHERNET, FIT_CABLE_TECHNOLOGY);
    WITH_COPPER(c.cable.lanes = 4, FIT_CABLE_LANES);
    WITH_COPPER(l.a.lanes = 4, FIT_CABLE_LANES);
    WITH_COPPER(l.b.lanes = 4, FIT_CABLE_LANES);
    WITH_COPPER((l.a.lanes = 16, l.a.form = "x", l.a.takes = "osfp"), FIT_OK);
    WITH_COPPER((l.b.lanes = 16, l.b.form = "x", l.b.takes = "osfp"), FIT_OK);
    WITH_COPPER(c.cable.lane_gbps = 25, FIT_CABLE_LANES);
    WITH_COPPER((l.a.lane_gbps = 25, l.a.lane_also = NULL), FIT_CABLE_LANES);
    WITH_COPPER((l.b.lane_gbps = 25, l.b.lane_also = NULL), FIT_CABLE_LANES);
    WITH_COPPER(c.cable.gbps = 0, FIT_CABLE_CAGE); /* any speed, and then one link */
    WITH_COPPER(c.cable.gbps = 900, FIT_CABLE_SPEED);
    WITH_COPPER(c.cable.gbps = 200, FIT_CABLE_SPEED);
    WITH_COPPER(l.a.ports = 1, FIT_CABLE_CAGE);
    WITH_COPPER(l.b.ports = 1, FIT_CABLE_CAGE);
    WITH_COPPER(l.bundle = 3, FIT_CABLE_CAGE);
    WITH_COPPER(l.bundle = 4, FIT_OK);
    WITH_COPPER(c.cable.length_m = 4.9, FIT_CABLE_SHORT);
    WITH_COPPER(c.cable.length_m = 6, FIT_OK);
}

static void legs_go_to_cards_that_have_one_port(void **state)
{
    (void)state;
    WITH_SPLIT((void)0, FIT_OK);
    WITH_SPLIT(l.a.nic = false, FIT_CABLE_LEGS);
    WITH_SPLIT(l.a.ports = 2, FIT_CABLE_LEGS);
    WITH_SPLIT((l.b.ports = 4), FIT_CABLE_LEGS);
    WITH_SPLIT(l.a.lanes = 8, FIT_OK);          /* a leg may have fewer */
    WITH_SPLIT(l.a.lanes = 2, FIT_CABLE_LANES); /* but not more */
    WITH_SPLIT(c.cable.top_b = NULL, FIT_CABLE_TOP);
    WITH_SPLIT(c.cable.form_b = NULL, FIT_CABLE_FORM);
    WITH_SPLIT(l.bundle = 3, FIT_OK);
    WITH_SPLIT(c.cable.length_m = 4.9, FIT_CABLE_SHORT);
}

static void a_cable_has_so_many_links(void **state)
{
    (void)state;
    static const struct {
        uint32_t legs, gbps, link_gbps, links;
    } cases[] = {{2, 800, 400, 2}, {4, 400, 400, 4}, {1, 800, 400, 2}, {1, 400, 400, 1},
                 {1, 200, 400, 1}, {1, 0, 400, 1},   {1, 800, 0, 1},   {1, 800, 100, 8}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_part_cable cable = {.legs = cases[i].legs, .gbps = cases[i].gbps};
        assert_int_equal(fits_fixed_links(&cable, cases[i].link_gbps), cases[i].links);
    }
}

/* What a splitter divides for hosts is one port still between switches. */
static void ports_between_switches_are_whole(void **state)
{
    (void)state;
    static const struct {
        uint32_t breakout, gbps, ports_max, ports, radix;
    } cases[] = {
        {MYR_BREAKOUT_SPLITTER, 400, 0, 2, 64}, {MYR_BREAKOUT_SPLITTER, 200, 0, 2, 64},
        {MYR_BREAKOUT_MODULE, 200, 0, 4, 128},  {MYR_BREAKOUT_MODULE, 200, 100, 4, 100},
        {MYR_BREAKOUT_MODULE, 400, 100, 2, 64}, {MYR_BREAKOUT_SPLITTER, 100, 0, 0, 0},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_part_switch sw = {.cages = 32,
                                     .cage_gbps = 800,
                                     .port_gbps = 400,
                                     .splits = {.items = {200}, .count = 1},
                                     .breakout = cases[i].breakout,
                                     .ports_max = cases[i].ports_max};
        assert_int_equal(fits_straight_ports(&sw, cases[i].gbps), cases[i].ports);
        assert_int_equal(fits_straight_radix(&sw, cases[i].gbps), cases[i].radix);
    }
    struct myr_part_nic nic = {.port_gbps = 400, .also = {.items = {200, 100}, .count = 2}};
    assert_true(fits_speed(&nic, 400) && fits_speed(&nic, 200) && fits_speed(&nic, 100));
    assert_false(fits_speed(&nic, 50));
}

/* Legs are what divides; a straight cable carries as many links as its speed has theirs. */
static void a_cable_with_ends_carries_whole_links(void **state)
{
    (void)state;
    static const uint32_t speeds[] = {0, 1, 2, 3, 10, 25, 40, 100, 200, 400, 800};
    for (uint32_t legs = 0; legs <= 4; legs++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(speeds) * MYR_ARRAY_COUNT(speeds); i++) {
            uint32_t all = speeds[i % MYR_ARRAY_COUNT(speeds)];
            uint32_t each = speeds[i / MYR_ARRAY_COUNT(speeds)], links = 0;
            struct myr_part_cable cable = {.legs = legs, .gbps = all, .fixed_ends = true};
            for (uint32_t left = all; each > 0 && left >= each; left -= each) {
                links++;
            }
            links = legs > 1 ? legs : links > 0 ? links : 1;
            assert_int_equal(fits_fixed_links(&cable, each), links);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_fits_its_cage_or_breaks_one_rule),
        cmocka_unit_test(lanes_of_a_module_are_those_of_the_cage),
        cmocka_unit_test(two_modules_must_send_what_the_other_reads),
        cmocka_unit_test(a_fibre_lies_between_two_modules_that_light_it),
        cmocka_unit_test(a_cable_with_ends_goes_into_both_cages),
        cmocka_unit_test(legs_go_to_cards_that_have_one_port),
        cmocka_unit_test(a_cable_has_so_many_links),
        cmocka_unit_test(ports_between_switches_are_whole),
        cmocka_unit_test(a_cable_with_ends_carries_whole_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
