#include "verify/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/site.h"

/*
 * Boxes as their design divides them, and what their ports' numbers and names mean: each answer is
 * compared with a search through all ports.
 */

enum { TYPES = 3, CASES = 300, NUMBERS_MAX = 700, NAMES = 700 };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_devtype types[TYPES];
    struct myr_port_names names;
    struct spelling spelling;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    struct myr_err err;
    fixture = (struct fixture){};
    myr_arena_init(&f->arena);
    f->design = (struct myr_design){.devtypes = f->types, .devtype_count = TYPES};
    assert_int_equal(myr_port_names_init(&f->names, &f->arena, &err), MYR_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    spelling_done(&f->spelling);
    myr_port_names_done(&f->names);
    myr_arena_done(&f->arena);
    return 0;
}

static void start(struct fixture *f)
{
    spelling_done(&f->spelling);
    spelling_init(&f->spelling, &f->arena, &f->design, &f->names, NULL);
    /* As a catalogue would say. */
    f->spelling.boxes[0].technology = MYR_TECH_ETHERNET;
    f->spelling.boxes[1].technology = MYR_TECH_INFINIBAND;
}

/* Two groups of cages; the last cage may be used in part. */
static void draw_type(struct myr_devtype *type, struct myr_rng *rng, uint32_t cages_most)
{
    *type = (struct myr_devtype){};
    for (uint32_t g = 0; g < 2; g++) {
        uint32_t per_cage = 1U << myr_rng_below(rng, 4);
        uint32_t cages = 1 + myr_rng_below(rng, cages_most);
        uint32_t count = cages * per_cage - myr_rng_below(rng, per_cage);
        type->groups[type->group_count++] =
            (struct myr_port_group){.first = type->port_count,
                                    .count = count,
                                    .per_cage = (uint16_t)per_cage,
                                    .per_connector = 1,
                                    .first_cage = (uint16_t)type->cages,
                                    .role = g ? MYR_PORT_UP : MYR_PORT_DOWN};
        type->port_count += count;
        type->cages += cages;
    }
}

/* A header says 64, 65 or 66 ports of a box with 64 cages that are whole; 128 to 130 of halves. */
static uint32_t naive_division(const struct myr_box *box, uint32_t told)
{
    if (told == 0 || told == box->numbers * box->type->cages) {
        return box->numbers;
    }
    for (uint32_t way = 1; way <= 8; way *= 2) {
        for (uint32_t more = 0; more <= 2; more++) {
            if (told == way * box->cages + more) {
                return way;
            }
        }
    }
    return box->numbers;
}

static uint32_t naive_port(const struct myr_box *box, uint32_t number, uint32_t told)
{
    const struct myr_devtype *type = box->type;
    uint32_t numbers = naive_division(box, told);
    if (myr_site_counts_on(type)) {
        bool own = told == 0 || told == type->port_count;
        return own && number > 0 && number <= type->port_count ? number - 1 : MYR_NONE;
    }
    if (number == 0) {
        return MYR_NONE;
    }
    uint32_t cage = (number - 1) / numbers, place = (number - 1) % numbers;
    if (cage >= box->cages) {
        return MYR_PORT_SPARE;
    }
    for (uint32_t g = 0; g < type->group_count; g++) {
        const struct myr_port_group *group = &type->groups[g];
        uint32_t cages = (group->count + group->per_cage - 1) / group->per_cage;
        if (group->role == MYR_PORT_NIC || cage < group->first_cage ||
            cage >= group->first_cage + cages) {
            continue;
        }
        if (group->per_cage > numbers) {
            return MYR_NONE; /* more ports than numbers */
        }
        for (uint32_t at = 0; at < group->per_cage; at++) {
            if (at * (numbers / group->per_cage) == place) {
                uint32_t index = (cage - group->first_cage) * group->per_cage + at;
                return index < group->count ? group->first + index : MYR_PORT_SPARE;
            }
        }
        return MYR_NONE;
    }
    return MYR_PORT_SPARE;
}

/* Of a type whose header tells so many ports. */
static void expect_numbers(struct fixture *f, uint32_t seed, uint32_t t, uint32_t told)
{
    const struct myr_box *box = &f->spelling.boxes[t];
    for (uint32_t number = 0; number < NUMBERS_MAX; number++) {
        uint32_t port = spelling_number(&f->spelling, t, number, told);
        if (port != naive_port(box, number, told)) {
            fail_msg("seed %u, type %u of %u ports, %u told: %u means %u", seed, t,
                     box->type->port_count, told, number, port);
        }
    }
}

static void numbers_mean_the_port_that_the_box_counts_so(void **state)
{
    struct fixture *f = *state;
    for (uint32_t seed = 0; seed < CASES; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, 20261119, seed);
        for (uint32_t t = 0; t < TYPES; t++) {
            draw_type(&f->types[t], &rng, t == 2 ? 40 : 9);
        }
        /* A type of which no port is in a cage of this design. */
        f->types[1].groups[0].role = seed % 7 ? MYR_PORT_DOWN : MYR_PORT_NIC;
        start(f);
        for (uint32_t t = 0; t < TYPES; t++) {
            struct myr_box *box = &f->spelling.boxes[t];
            box->cages += seed % 3; /* cages that the design leaves out */
            box->numbers *= seed % 5 ? 1 : 2;
            uint32_t all = box->numbers * box->type->cages, own = box->type->port_count;
            const uint32_t told[] = {0,
                                     own,
                                     own + 1,
                                     all,
                                     all + 1,
                                     box->cages - 1,
                                     box->cages,
                                     box->cages + 1,
                                     box->cages + 2,
                                     box->cages + 3,
                                     2 * box->cages,
                                     2 * box->cages + 2,
                                     2 * box->cages + 3,
                                     4 * box->cages + 1,
                                     8 * box->cages - 1,
                                     8 * box->cages,
                                     8 * box->cages + 2,
                                     8 * box->cages + 3};
            for (uint32_t i = 0; i < MYR_ARRAY_COUNT(told); i++) {
                expect_numbers(f, seed, t, told[i]);
            }
        }
    }
}

/* All systems that a reading stands for have it, and none has two. */
static void expect_readings(const struct spelled *spelled, uint32_t mask,
                            const uint32_t readings[MYR_PORT_SYSTEMS_MAX])
{
    uint32_t seen = 0;
    for (uint32_t k = 0; k < spelled->count; k++) {
        assert_int_equal(seen & spelled->systems[k], 0);
        seen |= spelled->systems[k];
        for (uint32_t s = 0; s < MYR_PORT_SYSTEMS_MAX; s++) {
            assert_true(!(spelled->systems[k] >> s & 1) || readings[s] == spelled->index[k]);
        }
    }
    assert_true(seen == mask || spelled->count == SPELLING_READINGS);
}

/* Names are remembered; an old answer must be the one that a new look would give. */
static void a_name_means_the_same_however_often_it_is_asked_for(void **state)
{
    struct fixture *f = *state;
    struct myr_rng rng;
    myr_rng_init(&rng, 20261119, 1);
    draw_type(&f->types[0], &rng, 9);
    draw_type(&f->types[1], &rng, 30);
    f->types[2] = (struct myr_devtype){
        .group_count = 1,
        .port_count = 8,
        .cages = 8,
        .groups = {{.count = 8, .per_cage = 1, .per_connector = 1, .role = MYR_PORT_NIC}}};
    start(f);
    static const char *const forms[] = {"swp%u",     "%u",     "1/%u",          "Ethernet%u",
                                        "sfp%u",     "nic%u",  "Ethernet1/%u",  "eth%u",
                                        "swp%us1",   "etp%ua", "sw%up1",        "et-0/0/%u:1",
                                        "port-x-%u", "mgmt%u", "FourHundred%u", "swp%u.s%u.long"};
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < NAMES; i++) {
            char name[40];
            uint32_t readings[MYR_PORT_SYSTEMS_MAX];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(name, sizeof(name), forms[i % MYR_ARRAY_COUNT(forms)],
                     i / (uint32_t)MYR_ARRAY_COUNT(forms), i);
#pragma GCC diagnostic pop
            for (uint32_t t = 0; t < TYPES; t++) {
                struct spelled *spelled = spelling_of(&f->spelling, t, myr_str_from(name));
                uint32_t mask = myr_port_names_read(&f->names, &f->spelling.boxes[t],
                                                    myr_str_from(name), readings);
                assert_int_equal(spelled->ends, round * (t + i + 1));
                spelled->ends = t + i + 1;
                expect_readings(spelled, mask, readings);
            }
        }
    }
}

/* Where two of the systems that are left read a name differently, nobody can say what it means. */
static void two_readings_are_none(void **state)
{
    (void)state;
    const struct spelled spelled = {
        .count = 3, .index = {7, 9, MYR_PORT_SPARE}, .systems = {1, 6, 8}};
    const struct {
        uint32_t systems, expected;
    } rows[] = {{1, 7},
                {2, 9},
                {4, 9},
                {6, 9},
                {8, MYR_PORT_SPARE},
                {16, MYR_NONE},
                {0, MYR_NONE},
                {3, MYR_NONE},
                {5, MYR_NONE},
                {9, MYR_NONE},
                {12, MYR_NONE},
                {UINT32_MAX, MYR_NONE}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_int_equal(spelling_read_by(&spelled, rows[i].systems), rows[i].expected);
    }
}

/* A name that the systems of the type do not know has the meaning that another system gives it. */
static void names_of_other_systems_are_read_where_the_own_know_none(void **state)
{
    struct fixture *f = *state;
    struct myr_rng rng;
    myr_rng_init(&rng, 20261119, 2);
    draw_type(&f->types[0], &rng, 20);
    f->types[0].groups[0].per_cage = 1; /* most systems have a name for whole cages */
    f->types[1] = f->types[2] = f->types[0];
    start(f);
    uint32_t fallen = 0, chosen = 0;
    for (uint32_t i = 1; i < 60; i++) {
        char name[20];
        snprintf(name, sizeof(name), i % 2 ? "Ethernet%u" : "swp%u", i);
        const struct spelled *spelled = spelling_of(&f->spelling, 0, myr_str_from(name));
        uint32_t all = 0;
        for (uint32_t k = 0; k < spelled->count; k++) {
            all |= spelled->systems[k];
        }
        for (uint32_t s = 0; s < f->names.systems.count; s++) {
            f->spelling.systems[0] = UINT32_C(1) << s;
            uint32_t systems = all >> s & 1 ? UINT32_C(1) << s : UINT32_MAX;
            assert_int_equal(spelling_read(&f->spelling, 0, myr_str_from(name)),
                             spelling_read_by(spelled, systems));
            chosen += all >> s & 1;
            fallen += !(all >> s & 1) && all;
        }
    }
    assert_true(fallen > 0 && chosen > 0);
}

/* Whatever the system of the box is: its management port is none of the fabric. */
static void management_ports_are_known_by_their_names(void **state)
{
    struct fixture *f = *state;
    struct myr_rng rng;
    static const struct {
        const char *name;
        bool management;
    } rows[] = {{"eth0", true},  {"mgmt0", true},        {"Management1", true},
                {"swp1", false}, {"1/1", false},         {"1", false},
                {"", false},     {"Ethernet0", false},   {"em", false},
                {"mgmt", false}, {"no such port", false}};
    myr_rng_init(&rng, 20261119, 3);
    draw_type(&f->types[0], &rng, 20);
    f->types[1] = f->types[2] = f->types[0];
    start(f);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        bool management = spelling_is_management(&f->spelling, 0, myr_str_from(rows[i].name));
        if (management != rows[i].management) {
            fail_msg("'%s': %d", rows[i].name, management);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(numbers_mean_the_port_that_the_box_counts_so),
        TEST(a_name_means_the_same_however_often_it_is_asked_for),
        TEST(two_readings_are_none),
        TEST(names_of_other_systems_are_read_where_the_own_know_none),
        TEST(management_ports_are_known_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
