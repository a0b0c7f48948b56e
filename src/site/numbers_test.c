#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/site.h"

/* Switches whose cages are divided by different numbers; two of each, of which the second counts.
 */

enum { PORTS_MAX = 600, BEYOND = 300, CASES = 400, BYTE_NUMBERS = 254 };

struct fixture {
    struct myr_design design;
    struct myr_devtype type;
    uint32_t first_port[3], port_device[2 * PORTS_MAX];
    uint16_t device_type[2];
};

/* A group of cages behind those that are there. */
static void add_group(struct myr_devtype *type, uint32_t cages, uint32_t per_cage, uint32_t missing)
{
    uint32_t count = cages * per_cage - missing;
    type->groups[type->group_count++] =
        (struct myr_port_group){.first = type->port_count,
                                .count = count,
                                .per_cage = (uint16_t)per_cage,
                                .per_connector = 1,
                                .first_cage = (uint16_t)type->cages};
    type->port_count += count;
    type->cages += cages;
    assert_true(type->port_count <= PORTS_MAX);
}

static void finish_type(struct fixture *f)
{
    f->first_port[1] = f->type.port_count;
    f->first_port[2] = 2 * f->type.port_count;
    for (uint32_t p = 0; p < f->first_port[2]; p++) {
        f->port_device[p] = p >= f->type.port_count;
    }
    f->design = (struct myr_design){.devtypes = &f->type,
                                    .device_type = f->device_type,
                                    .first_port = f->first_port,
                                    .port_device = f->port_device,
                                    .device_count = 2,
                                    .port_count = f->first_port[2]};
}

/* The number of each port, cage by cage. */
static uint32_t naive_number(const struct fixture *f, uint32_t index)
{
    uint32_t most = 1;
    for (uint32_t g = 0; g < f->type.group_count; g++) {
        most = f->type.groups[g].per_cage > most ? f->type.groups[g].per_cage : most;
    }
    assert_int_equal(myr_site_numbers(&f->type), most);
    if (f->type.cages * most > BYTE_NUMBERS) {
        return index + 1;
    }
    for (uint32_t g = 0; g < f->type.group_count; g++) {
        const struct myr_port_group *group = &f->type.groups[g];
        for (uint32_t i = 0; i < group->count; i++) {
            if (group->first + i == index) {
                uint32_t cage = group->first_cage + i / group->per_cage;
                return cage * most + i % group->per_cage * (most / group->per_cage) + 1;
            }
        }
    }
    fail_msg("no port %u", index);
    return 0;
}

static void check(struct fixture *f)
{
    uint32_t first = f->first_port[1], last = f->first_port[2];
    uint32_t expected[2 * PORTS_MAX + BEYOND];
    memset(expected, 0xff, sizeof(expected));
    for (uint32_t p = first; p < last; p++) {
        uint32_t number = naive_number(f, p - first);
        assert_int_equal(myr_site_number(&f->design, p), number);
        assert_int_equal(expected[number], MYR_NONE);
        expected[number] = p;
    }
    bool counts_on = f->type.cages * myr_site_numbers(&f->type) > BYTE_NUMBERS;
    assert_int_equal(myr_site_counts_on(&f->type), counts_on);
    for (uint32_t number = 0; number < PORTS_MAX + BEYOND; number++) {
        if (myr_site_numbered(&f->design, 1, number) != expected[number]) {
            fail_msg("%u cages, %u ports: number %u leads to %u", f->type.cages, f->type.port_count,
                     number, myr_site_numbered(&f->design, 1, number));
        }
    }
}

static void numbers_lead_to_their_ports_and_others_to_none(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < CASES; seed++) {
        struct fixture f = {};
        struct myr_rng rng;
        myr_rng_init(&rng, 20261119, seed);
        uint32_t groups = 1 + myr_rng_below(&rng, 3);
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t per_cage = 1U << myr_rng_below(&rng, 4);
            uint32_t missing = myr_rng_below(&rng, per_cage);
            add_group(&f.type, 1 + myr_rng_below(&rng, 20), per_cage, missing);
        }
        finish_type(&f);
        check(&f);
    }
}

/* --- names of ports */

/* Cage, connector and leg, from 1; what divides nothing is left out. */
static void put_own_name(const struct fixture *f, uint32_t index, char *ret, size_t size)
{
    const struct myr_port_group *group = f->type.groups;
    while (index - group->first >= group->count) {
        group++;
    }
    uint32_t at = (index - group->first) % group->per_cage;
    uint32_t cage = group->first_cage + (index - group->first) / group->per_cage + 1;
    char connector[8] = "", leg[8] = "";
    if (group->per_cage > group->per_connector) {
        snprintf(connector, sizeof(connector), "/%u", at / group->per_connector + 1);
    }
    if (group->per_connector > 1) {
        snprintf(leg, sizeof(leg), "/%u", at % group->per_connector + 1);
    }
    snprintf(ret, size, "%u%s%s", cage, connector, leg);
}

/* A name in each spelling of the same words, and what it is the name of: MYR_NONE, nothing. */
static void check_own(const struct fixture *f, const char *own, uint32_t expected)
{
    static const char *const fronts[] = {"", "Ethernet", "Eth", "IB1/"};
    struct myr_str name = myr_str_from(own);
    if (myr_site_own_port(&f->type, name) != expected) {
        fail_msg("%s: %u", own, myr_site_own_port(&f->type, name));
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(fronts); i++) {
        char whole[40];
        snprintf(whole, sizeof(whole), "%s%s", fronts[i], own);
        /* "Ethernet17" counts something else; behind "IB1" there is a slash anyway. */
        bool counts = i == 0 || i == 3 || strchr(own, '/');
        uint32_t port = counts && expected != MYR_NONE ? f->first_port[1] + expected : MYR_NONE;
        uint32_t found = myr_site_find_port(&f->design, 1, myr_str_from(whole));
        if (found != port) {
            fail_msg("%s: %u, not %u", whole, found, port);
        }
    }
}

/* All ports in the order of their names' words; the first that is called so. */
static uint32_t port_called(const struct fixture *f, const char *own)
{
    for (uint32_t index = 0; index < f->type.port_count; index++) {
        char name[40];
        put_own_name(f, index, name, sizeof(name));
        if (strcmp(name, own) == 0) {
            return index;
        }
    }
    return MYR_NONE;
}

/* Linux' names count in the cage: from 0 behind "swp17s", from 1 behind "sw17p". */
static void check_caged(const struct fixture *f, uint32_t cage, uint32_t at)
{
    uint32_t expected = MYR_NONE, whole = MYR_NONE;
    char name[40];
    for (uint32_t g = 0; g < f->type.group_count; g++) {
        const struct myr_port_group *group = &f->type.groups[g];
        for (uint32_t i = 0; i < group->count; i++) {
            bool here = group->first_cage + i / group->per_cage + 1 == cage;
            expected =
                here && i % group->per_cage == at ? f->first_port[1] + group->first + i : expected;
            whole = here && group->per_cage == 1 ? f->first_port[1] + group->first + i : whole;
        }
    }
    const struct {
        const char *form;
        uint32_t expected, second;
    } rows[] = {{"swp%us%u", expected, at}, {"sw%up%u", expected, at + 1}, {"swp%u", whole, 0},
                {"sw%u", whole, 0},         {"sw%up", MYR_NONE, 0},        {"swp%us", MYR_NONE, 0},
                {"sw%up0", MYR_NONE, 0},    {"swp%us-1", MYR_NONE, 0},     {"swx%u", MYR_NONE, 0}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
        snprintf(name, sizeof(name), rows[i].form, cage, rows[i].second);
#pragma GCC diagnostic pop
        uint32_t found = myr_site_find_port(&f->design, 1, myr_str_from(name));
        if (found != rows[i].expected) {
            fail_msg("%s: %u, not %u", name, found, rows[i].expected);
        }
    }
}

static void names_lead_to_their_ports_and_others_to_none(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < CASES / 10; seed++) {
        struct fixture f = {};
        struct myr_rng rng;
        myr_rng_init(&rng, 20261120, seed);
        for (uint32_t g = 0; g < 2; g++) {
            uint32_t per_cage = 1U << myr_rng_below(&rng, 4);
            add_group(&f.type, 1 + myr_rng_below(&rng, 3), per_cage, myr_rng_below(&rng, per_cage));
            f.type.groups[g].per_connector =
                (uint16_t)(per_cage >> myr_rng_below(&rng, per_cage > 1 ? 2 : 1));
            f.type.groups[g].role = g ? MYR_PORT_UP : MYR_PORT_DOWN;
        }
        finish_type(&f);
        for (uint32_t cage = 0; cage <= f.type.cages + 2; cage++) {
            char name[40];
            snprintf(name, sizeof(name), "%u", cage);
            check_own(&f, name, port_called(&f, name));
            for (uint32_t a = 0; a < 10; a++) {
                check_caged(&f, cage, a);
                snprintf(name, sizeof(name), "%u/%u", cage, a);
                check_own(&f, name, port_called(&f, name));
                for (uint32_t b = 0; b < 10; b++) {
                    snprintf(name, sizeof(name), "%u/%u/%u", cage, a, b);
                    check_own(&f, name, port_called(&f, name));
                }
                snprintf(name, sizeof(name), "%u/%u/1/1", cage, a);
                check_own(&f, name, MYR_NONE);
            }
        }
    }
}

/* As long as every number fits into a byte beside the two that are nobody's, gaps are left. */
static void numbers_that_leave_a_byte_are_counted_on(void **state)
{
    (void)state;
    static const struct {
        uint32_t whole, divided, per_cage;
        bool counts_on;
    } rows[] = {{253, 0, 1, false}, {254, 0, 1, false}, {255, 0, 1, true}, {126, 1, 2, false},
                {120, 8, 2, true},  {125, 2, 2, false}, {61, 2, 4, false}, {60, 4, 4, true},
                {63, 1, 4, true},   {30, 1, 8, false},  {31, 1, 8, true}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct fixture f = {};
        add_group(&f.type, rows[i].whole, 1, 0);
        if (rows[i].divided) {
            add_group(&f.type, rows[i].divided, rows[i].per_cage, 0);
        }
        finish_type(&f);
        assert_int_equal(myr_site_counts_on(&f.type), rows[i].counts_on);
        check(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_lead_to_their_ports_and_others_to_none),
        cmocka_unit_test(names_lead_to_their_ports_and_others_to_none),
        cmocka_unit_test(numbers_that_leave_a_byte_are_counted_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
