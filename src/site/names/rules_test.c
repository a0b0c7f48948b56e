#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/site/port_names.h"
#include "names/reading.h"

/*
 * Rules of a user's own: what is wrong with them, which names and boxes they are for, and which
 * port a cage and a lane are, by a search through all ports.
 */

enum { BOXES = 60, PATTERN_MOST = 64, SYSTEMS_BUILT_IN_MOST = 30 };

struct fixture {
    struct myr_arena arena;
    struct myr_port_names names;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    assert_int_equal(myr_port_names_init(&f->names, &f->arena, &f->err), MYR_OK);
}

static void finish(struct fixture *f)
{
    myr_port_names_done(&f->names);
    myr_arena_done(&f->arena);
}

static int add(struct fixture *f, const char *rows)
{
    struct myr_buf text = {};
    myr_buf_printf(&text, "platform,os,pattern,when,cage,lane\n%s", rows);
    int rc = myr_port_names_add_text(&f->names, &f->arena, "mine.csv",
                                     (struct myr_str){text.data, text.len}, &f->err);
    myr_buf_done(&text);
    return rc;
}

static void what_is_wrong_with_a_pattern_is_told(void **state)
{
    (void)state;
    static const char letter[] = "{a}, {b}, {c} or {l} is expected, outside of []";
    static const char order[] = "[ and ] must follow each other", open[] = "'[' without ']'";
    static const char blank[] = "a blank, or '}' without '{'";
    static const char *const rows[][2] = {
        {"{a}", NULL},     {"{b}{c}{l}", NULL}, {"[x]{a}[y]", NULL}, {"[]", NULL},
        {"a-b/c:d", NULL}, {"{d}", letter},     {"{a", letter},      {"{", letter},
        {"{}", letter},    {"{aa}", letter},    {"[{a}]", letter},   {"x{a}{", letter},
        {"]", order},      {"[a]]", order},     {"[[a]]", order},    {"[a[b]", order},
        {"[", open},       {"x[y", open},       {"[a][", open},      {"a b", blank},
        {"a\tb", blank},   {"}", blank},        {"{a}}", blank},     {" ", blank}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const char *fault = reading_pattern_fault(myr_str_from(rows[i][0]));
        if ((fault == NULL) != (rows[i][1] == NULL) || (fault && strcmp(fault, rows[i][1]) != 0)) {
            fail_msg("'%s': %s", rows[i][0], fault ? fault : "nothing");
        }
    }
    char text[PATTERN_MOST + 1];
    memset(text, 'x', sizeof(text));
    assert_null(reading_pattern_fault((struct myr_str){text, PATTERN_MOST}));
    assert_string_equal(reading_pattern_fault((struct myr_str){text, PATTERN_MOST + 1}),
                        "it is empty or longer than 64 bytes");
    assert_string_equal(reading_pattern_fault(MYR_STR("")), "it is empty or longer than 64 bytes");
}

static void rules_are_refused_in_their_place(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"any,x,{z},,1,1\n", "mine.csv:2:7: pattern: {a}, {b}, {c} or {l} is expected"},
        {"any,x,,,1,1\n", "mine.csv:2:7: pattern: it is empty"},
        {"any,x,p{a},a >,1,1\n", "mine.csv:2:12: when: "},
        {"any,x,p{a},,,1\n", "mine.csv:2:13: cage: it is empty"},
        {"any,x,p{a},,1,\n", "mine.csv:2:15: lane: it is empty"},
        {"any,x,p{a},,1+,1\n", "mine.csv:2:13: cage: "},
        {"any,x,p{a},,1,ports/\n", "mine.csv:2:15: lane: "},
        {"any,x,p{a},,1\n", "mine.csv:2:13: the row has 5 fields, the header 6"},
        {"any,x,p{a},,1,1,1\n", "mine.csv:2:17: the row has 7 fields, the header 6"},
        {"any,x,p{a},,1,1\nany,x,q,,x,1\n", "mine.csv:3:10: cage: "}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct fixture f;
        begin(&f);
        int rc = add(&f, rows[i][0]);
        if (rc != MYR_EINVAL || strncmp(f.err.message, rows[i][1], strlen(rows[i][1])) != 0) {
            fail_msg("%s: %d %s", rows[i][0], rc, f.err.message);
        }
        finish(&f);
    }
}

/* Systems are bits of a word, so that no more than 32 have room. */
static void as_many_systems_as_there_is_room_for_are_taken(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_in_range(f.names.systems.count, 2, SYSTEMS_BUILT_IN_MOST);
    for (uint32_t i = (uint32_t)f.names.systems.count; i <= MYR_PORT_SYSTEMS_MAX; i++) {
        char row[60];
        snprintf(row, sizeof(row), "any,new-%u,p{a},,a,1\n", i);
        assert_int_equal(add(&f, row), i < MYR_PORT_SYSTEMS_MAX ? MYR_OK : MYR_EINVAL);
    }
    assert_string_equal(f.err.message, "mine.csv:2:5: more than 32 systems");
    assert_int_equal(f.names.systems.count, MYR_PORT_SYSTEMS_MAX);
    assert_int_equal(add(&f, "any,NEW-31,q{a},,a,1\n"), MYR_OK); /* one that is there */
    finish(&f);
}

/* One rule, and a box of 40 whole cages: the cage that a name means; 0: it means nothing. */
static uint32_t cage_of(const char *pattern, const char *cage, const char *name)
{
    struct fixture f;
    char row[120];
    uint32_t readings[MYR_PORT_SYSTEMS_MAX];
    struct myr_devtype type = {
        .group_count = 1,
        .port_count = 40,
        .cages = 40,
        .groups = {{.count = 40, .per_cage = 1, .per_connector = 1, .role = MYR_PORT_DOWN}}};
    struct myr_box box = {.type = &type, .part = MYR_STR("box-1"), .cages = 40, .lanes = 8};
    begin(&f);
    snprintf(row, sizeof(row), "box-1,mine,%s,,%s,1\n", pattern, cage);
    assert_int_equal(add(&f, row), MYR_OK);
    uint32_t mine = (uint32_t)f.names.systems.count - 1;
    uint32_t mask = myr_port_names_read(&f.names, &box, myr_str_from(name), readings);
    finish(&f);
    return mask >> mine & 1 ? readings[mine] + 1 : 0;
}

static void names_fit_patterns_whole_and_in_any_capitals(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *cage, *name;
        uint32_t expected;
    } rows[] = {
        {"zz{a}", "a", "zz7", 7},           {"zz{a}", "a", "ZZ7", 7},
        {"ZZ{a}", "a", "zz7", 7},           {"zz{a}", "a", " z z 7\t", 7},
        {"zz{a}", "a", "zz07", 7},          {"zz{a}", "a", "zz", 0},
        {"zz{a}", "a", "zz7x", 0},          {"zz{a}", "a", "z7", 0},
        {"zz{a}", "a", "zzx", 0},           {"zz{a}", "a", "zz40", 40},
        {"zz{a}", "a", "zz41", 0},          {"zz{a}", "a", "zz0", 0},
        {"zz{a}", "a+1", "zz0", 1},         {"zz{a}", "a-1", "zz41", 40},
        {"zz{a}z", "a", "zz7z", 7},         {"zz{a}z", "a", "zz7", 0},
        {"[zy]x{a}", "a", "zyx3", 3},       {"[zy]x{a}", "a", "x3", 3},
        {"[zy]x{a}", "a", "zx3", 0},        {"[zy]x{a}", "a", "ZYX3", 3},
        {"x{a}[zy]", "a", "x3", 3},         {"x{a}[zy]", "a", "x3zy", 3},
        {"x{a}[zy]", "a", "x3z", 0},        {"x[y][z]{a}", "a", "xz3", 3},
        {"x[y][z]{a}", "a", "xyz3", 3},     {"x[y][z]{a}", "a", "xzy3", 0},
        {"x{a}-{b}", "a+b", "x3-4", 7},     {"x{a}-{b}-{c}", "a+b*c", "x3-4-5", 23},
        {"x{a}-{b}", "a+b", "x3-", 0},      {"x{a}-{b}", "a+b", "x3", 0},
        {"x{a}{l}", "a+l", "x3a", 4},       {"x{a}{l}", "a+l", "x3h", 11},
        {"x{a}{l}", "a+l", "x3i", 0},       {"x{a}{l}", "a+l", "x3H", 11},
        {"x{a}{l}", "a+l", "x3", 0},        {"x{a}{l}", "a+l", "x3`", 0},
        {"x{a}", "b+1", "x3", 0},           {"x{a}", "a", "x99999999999999999999", 0},
        {"x{a}", "a%40", "x1000000000", 0}, {"x-{a}", "lanes*a", "x-5", 40},
        {"x-{a}", "cages-a", "x-5", 35},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint32_t cage = cage_of(rows[i].pattern, rows[i].cage, rows[i].name);
        if (cage != rows[i].expected) {
            fail_msg("'%s' by %s, %s: cage %u, not %u", rows[i].name, rows[i].pattern, rows[i].cage,
                     cage, rows[i].expected);
        }
    }
}

static void rules_are_for_the_boxes_that_they_name(void **state)
{
    (void)state;
    static const struct myr_box boxes[] = {
        {.part = MYR_STR("qm"), .technology = MYR_TECH_INFINIBAND},
        {.part = MYR_STR("sn"), .technology = MYR_TECH_ETHERNET},
        {.part = MYR_STR(""), .technology = MYR_TECH_ANY},
        {.part = MYR_STR("dgx"), .technology = MYR_TECH_ANY, .host = true}};
    static const struct {
        const char *platform;
        bool fits[4];
    } rows[] = {{"any", {true, true, true, false}},
                {"infiniband", {true, false, true, false}},
                {"ethernet", {false, true, true, false}},
                {"ETHERNET infiniband", {true, true, true, false}},
                {"qm", {true, false, false, false}},
                {"x QM y", {true, false, false, false}},
                {"dgx", {false, false, false, true}},
                {"x y dgx", {false, false, false, true}},
                {"q m s n", {false, false, false, false}},
                {"qmx xsn", {false, false, false, false}},
                {"", {false, false, false, false}},
                {"any dgx", {true, true, true, true}}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_name_rule rule = {.platform = myr_str_from(rows[i].platform)};
        for (uint32_t b = 0; b < MYR_ARRAY_COUNT(boxes); b++) {
            if (reading_rule_fits(&rule, &boxes[b]) != rows[i].fits[b]) {
                fail_msg("'%s', box %u", rows[i].platform, b);
            }
        }
    }
}

/* Cages in two groups, the second of management ports at times; the last cage is used in part. */
static void draw_type(struct myr_devtype *type, struct myr_rng *rng, bool management)
{
    *type = (struct myr_devtype){};
    for (uint32_t g = 0; g < 2; g++) {
        uint32_t per_cage = 1U << myr_rng_below(rng, 4), cages = 1 + myr_rng_below(rng, 4);
        bool nic = g == 1 && management;
        type->groups[type->group_count++] =
            (struct myr_port_group){.first = type->port_count,
                                    .count = cages * per_cage - myr_rng_below(rng, per_cage),
                                    .per_cage = (uint16_t)per_cage,
                                    .per_connector = 1,
                                    .first_cage = (uint16_t)type->cages,
                                    .role = nic ? MYR_PORT_NIC : MYR_PORT_DOWN};
        type->port_count += type->groups[g].count;
        type->cages += cages;
    }
}

/* MYR_NONE: no such name; MYR_PORT_SPARE: a port of the box that the design does not use. */
static uint32_t naive_reading(const struct myr_box *box, uint32_t cage, uint32_t lane)
{
    if (box->host) {
        uint32_t nic = cage + lane - 2; /* counted from 1, like the ports of one */
        return cage && lane && nic < box->type->groups[0].count ? nic : MYR_NONE;
    }
    if (cage == 0 || cage > box->cages || lane == 0) {
        return MYR_NONE;
    }
    for (uint32_t g = 0; g < box->type->group_count; g++) {
        const struct myr_port_group *group = &box->type->groups[g];
        for (uint32_t i = 0; group->role != MYR_PORT_NIC && i < group->count; i++) {
            if (group->first_cage + i / group->per_cage + 1 != cage) {
                continue;
            }
            if (i % group->per_cage + 1 == lane) {
                return group->first + i;
            }
            /* A cage that is used in part has more places. */
            if (i + 1 == group->count || (i + 1) % group->per_cage == 0) {
                return lane <= group->per_cage ? MYR_PORT_SPARE : MYR_NONE;
            }
        }
    }
    return lane <= 8 ? MYR_PORT_SPARE : MYR_NONE;
}

static void a_cage_and_a_lane_are_a_port(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(add(&f, "box-1,mine,zz{a}.{b},,a,b\n"), MYR_OK);
    uint32_t mine = (uint32_t)f.names.systems.count - 1;
    for (uint32_t seed = 0; seed < BOXES; seed++) {
        struct myr_rng rng;
        struct myr_devtype type;
        myr_rng_init(&rng, 20261119, seed);
        draw_type(&type, &rng, seed % 3 == 0);
        struct myr_box box = {.type = &type,
                              .part = MYR_STR("box-1"),
                              .cages = type.cages + seed % 2,
                              .lanes = 8,
                              .host = seed % 5 == 4};
        for (uint32_t name = 0; name < 14 * 11; name++) {
            uint32_t cage = name / 11, lane = name % 11, readings[MYR_PORT_SYSTEMS_MAX];
            char text[20];
            snprintf(text, sizeof(text), "zz%u.%u", cage, lane);
            uint32_t mask = myr_port_names_read(&f.names, &box, myr_str_from(text), readings);
            uint32_t found = mask >> mine & 1 ? readings[mine] : MYR_NONE;
            if (found != naive_reading(&box, cage, lane)) {
                fail_msg("seed %u: %s is %u, not %u", seed, text, found,
                         naive_reading(&box, cage, lane));
            }
        }
    }
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_with_a_pattern_is_told),
        cmocka_unit_test(rules_are_refused_in_their_place),
        cmocka_unit_test(as_many_systems_as_there_is_room_for_are_taken),
        cmocka_unit_test(names_fit_patterns_whole_and_in_any_capitals),
        cmocka_unit_test(rules_are_for_the_boxes_that_they_name),
        cmocka_unit_test(a_cage_and_a_lane_are_a_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
