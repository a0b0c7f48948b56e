#include "myriad/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verify/verify_test.h"

/*
 * Every cable is in its place, and something else is told of one of them or of many. Twenty cables:
 * six hosts with two NICs, two leaves with four uplinks each.
 */

enum { CABLES = 20 };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct myr_verify_options options;
    struct myr_verify verify;
};

/* The rules of port names, read once: many fabrics are judged here. */
static struct myr_arena names_arena;
static struct myr_port_names names;

static int read_names(void **state)
{
    struct myr_err err;
    (void)state;
    myr_arena_init(&names_arena);
    return myr_port_names_init(&names, &names_arena, &err);
}

static int forget_names(void **state)
{
    (void)state;
    myr_port_names_done(&names);
    myr_arena_done(&names_arena);
    return 0;
}

static void begin(struct fixture *f, enum myr_nic_view view)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){6, 2, 2, 2});
    f->design.cabletypes[0].part = 1;
    f->design.cabletypes[0].medium = MYR_MEDIUM_SINGLE;
    myr_cabling_init(&f->cabling, &f->arena);
    myr_cabling_from_design(&f->cabling, &f->design, MYR_NET_COMPUTE, view);
    f->options.port_names = &names;
    f->cabling.numbered = view == MYR_NIC_AS_DEVICE;
    assert_int_equal(f->cabling.links.count, CABLES);
    for (uint32_t i = 0; i < CABLES; i++) {
        f->cabling.links.items[i].medium = MYR_STR(""); /* tests change the plan's */
    }
}

static void finish(struct fixture *f)
{
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

static void run(struct fixture *f)
{
    struct myr_err err;
    if (myr_verify(&f->verify, &f->arena, &f->design, &f->cabling, &f->options, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

/* Both ends of the cable, and nothing else, are degraded, for these reasons. */
static void expect_why(const struct fixture *f, uint32_t link, uint32_t why, const char *what)
{
    for (uint32_t p = 0; p < f->design.port_count; p++) {
        bool of_link = f->design.link_a[link] == p || f->design.link_b[link] == p;
        uint32_t expected = of_link ? why : 0;
        bool degraded = f->verify.state[p] == MYR_STATE_DEGRADED;
        if (f->verify.why[p] != expected || degraded != (expected != 0)) {
            fail_msg("%s: port %u is %s with %x, not %x", what, p,
                     myr_port_state_names[f->verify.state[p]], f->verify.why[p], expected);
        }
    }
}

/* The links of the cabling come in the order of the design's. */
static void each_cause_of_a_link_is_told_from_its_limit_on(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct myr_cabling_link link; /* what is told of it */
        uint32_t why, planned_gbps, errors_max;
    } rows[] = {{"nothing", {.gbps = 400}, 0, 400, 0},
                {"slower", {.gbps = 399}, 1U << MYR_WHY_SPEED, 400, 0},
                {"faster", {.gbps = 800}, 0, 400, 0},
                {"one lane of 400", {.gbps = 400, .width = 1}, 1U << MYR_WHY_SPEED, 400, 0},
                {"one lane of any", {.width = 1}, 1U << MYR_WHY_SPEED, 400, 0},
                {"as few as there can be", {.gbps = 400, .width = 2}, 0, 400, 0},
                {"many slow ones", {.gbps = 400, .width = 8}, 0, 400, 0},
                {"some errors", {.gbps = 400, .errors = 7}, 0, 400, 7},
                {"more errors", {.gbps = 400, .errors = 8}, 1U << MYR_WHY_ERRORS, 400, 7},
                {"as many as can be mended", {.gbps = 400, .ber = 2.4e-4}, 0, 400, 0},
                {"more than can be", {.gbps = 400, .ber = 2.5e-4}, 1U << MYR_WHY_BER, 400, 0},
                {"no correction", {.gbps = 400, .no_fec = true}, 1U << MYR_WHY_FEC, 400, 0},
                {"at 200", {.gbps = 400, .no_fec = true}, 1U << MYR_WHY_FEC, 200, 0},
                {"below it", {.gbps = 400, .no_fec = true}, 0, 199, 0},
                {"all at once",
                 {.gbps = 100, .errors = 1, .ber = 1, .no_fec = true, .medium = MYR_STR("copper")},
                 1U << MYR_WHY_SPEED | 1U << MYR_WHY_ERRORS | 1U << MYR_WHY_BER |
                     1U << MYR_WHY_FEC | 1U << MYR_WHY_MEDIUM,
                 400,
                 0}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        for (uint32_t at = 0; at < CABLES; at += CABLES - 1) {
            struct fixture f;
            begin(&f, MYR_NIC_AS_PORT);
            struct myr_cabling_link *link = &f.cabling.links.items[at];
            const struct myr_cabling_end a = link->a, b = link->b;
            f.options.errors_max = rows[i].errors_max;
            f.design.cabletypes[0].gbps = rows[i].planned_gbps;
            *link = rows[i].link;
            link->a = a;
            link->b = b;
            run(&f);
            expect_why(&f, at, rows[i].why, rows[i].what);
            finish(&f);
        }
    }
}

static void words_for_what_a_cable_is_made_of_are_known(void **state)
{
    (void)state;
    const struct {
        const char *word;
        uint32_t medium;
    } rows[] = {{"smf", MYR_MEDIUM_SINGLE},
                {"SMF-OS2", MYR_MEDIUM_SINGLE},
                {"singlemode", MYR_MEDIUM_SINGLE},
                {"Single-Mode fibre", MYR_MEDIUM_SINGLE},
                {"mmf", MYR_MEDIUM_MULTI},
                {"multimode", MYR_MEDIUM_MULTI},
                {"multi-mode", MYR_MEDIUM_MULTI},
                {"dac-passive", MYR_MEDIUM_COPPER},
                {"copper", MYR_MEDIUM_COPPER},
                {"Direct Attach 3m", MYR_MEDIUM_COPPER},
                {"sm", MYR_NONE},
                {"aoc", MYR_NONE},
                {"", MYR_NONE}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        for (uint32_t planned = MYR_MEDIUM_COPPER; planned <= MYR_MEDIUM_SINGLE; planned++) {
            for (uint32_t part = 0; part < 2; part++) {
                struct fixture f;
                begin(&f, MYR_NIC_AS_PORT);
                f.cabling.links.items[3].medium = myr_str_from(rows[i].word);
                f.design.cabletypes[0].medium = (uint8_t)planned;
                f.design.cabletypes[0].part = part;
                run(&f);
                /* Where no part was found the plan has no medium either. */
                bool other = part && rows[i].medium != MYR_NONE && rows[i].medium != planned;
                expect_why(&f, 3, other ? 1U << MYR_WHY_MEDIUM : 0, rows[i].word);
                finish(&f);
            }
        }
    }
}

/* Nine in ten are the whole file. */
static void one_lower_speed_nearly_everywhere_is_told_once(void **state)
{
    (void)state;
    for (uint32_t slow = 16; slow <= CABLES; slow++) {
        struct fixture f;
        begin(&f, MYR_NIC_AS_PORT);
        for (uint32_t i = 0; i < CABLES; i++) {
            f.cabling.links.items[i].gbps = i < slow ? 200 : 400;
        }
        run(&f);
        bool whole = slow >= 18;
        assert_int_equal(f.verify.slow_links, whole ? slow : 0);
        assert_int_equal(f.verify.slow_found_gbps, whole ? 200 : 0);
        assert_int_equal(f.verify.slow_planned_gbps, whole ? 400 : 0);
        assert_int_equal(f.verify.counts[MYR_STATE_DEGRADED], 2 * slow);
        finish(&f);
    }
}

/* Without speeds a link is narrow beside the others, if these agree. */
static void a_width_is_held_against_that_of_nearly_all_others(void **state)
{
    (void)state;
    for (uint32_t narrow = 0; narrow <= 4; narrow++) {
        struct fixture f;
        begin(&f, MYR_NIC_AS_PORT);
        for (uint32_t i = 0; i < CABLES; i++) {
            f.cabling.links.items[i].gbps = 0;
            f.cabling.links.items[i].width = i < narrow ? 2 : 4;
        }
        f.cabling.links.items[CABLES - 1].width = 0; /* not told: not narrow */
        run(&f);
        assert_int_equal(f.verify.counts[MYR_STATE_DEGRADED], narrow == 1 ? 2 : 0);
        assert_int_equal(f.verify.slow_links, 0);
        finish(&f);
    }
}

/* A file that is narrow everywhere is told once, and is never as planned. */
static void few_lanes_nearly_everywhere_are_told_once(void **state)
{
    (void)state;
    for (uint32_t speed = 0; speed <= 400; speed += 400) {
        for (uint32_t narrow = 16; narrow <= CABLES; narrow++) {
            struct fixture f;
            begin(&f, MYR_NIC_AS_PORT);
            for (uint32_t i = 0; i < CABLES; i++) {
                f.cabling.links.items[i].gbps = speed;
                f.cabling.links.items[i].width = i < narrow ? 1 : 4;
            }
            run(&f);
            bool whole = narrow >= 18;
            assert_int_equal(f.verify.narrow_links, whole ? narrow : 0);
            assert_int_equal(f.verify.narrow_found, whole ? 1 : 0);
            assert_int_equal(f.verify.narrow_planned, whole ? 2 : 0);
            assert_int_equal(f.verify.slow_links, 0);
            assert_int_equal(f.verify.counts[MYR_STATE_DEGRADED], 2 * narrow);
            finish(&f);
        }
    }
}

/* The module at the first uplink of the second leaf, which is number 7 of it. */
static void tell_optic(struct fixture *f, struct myr_cabling_optic optic)
{
    uint32_t leaf = f->design.first_port[7];
    optic.guid = myr_site_guid(&f->design, leaf + 6);
    optic.port = MYR_STR("7");
    myr_vec_push(&f->cabling.optics, optic);
}

static void light_is_judged_by_what_such_modules_send_and_take(void **state)
{
    (void)state;
    enum {
        MEDIUM = 1U << MYR_WHY_MEDIUM,
        DIRTY = 1U << MYR_WHY_DIRTY,
        LIGHT = 1U << MYR_WHY_LIGHT
    };
    enum { COPPER = MYR_MEDIUM_COPPER, MULTI = MYR_MEDIUM_MULTI, SINGLE = MYR_MEDIUM_SINGLE };
    const struct {
        uint32_t planned, told; /* medium */
        struct myr_light rx, tx;
        uint32_t why;
    } rows[] = {
        {SINGLE, MYR_NONE, {}, {}, 0},
        {SINGLE, MULTI, {}, {}, MEDIUM},
        {SINGLE, MULTI, {4, -30, 0, 0}, {4, -30, 0, 30}, MEDIUM}, /* the cause of all else */
        {SINGLE, SINGLE, {4, -7.2, -5.2, 5.1}, {4, -3.3, -3.3, 5.1}, 0},
        {SINGLE, MYR_NONE, {4, -7.2, -5.2, 5.1}, {4, -3.3, -3.3, 5.1}, 0},
        {SINGLE, MYR_NONE, {4, -7.3, -7.3, 0}, {}, LIGHT},
        {SINGLE, MYR_NONE, {4, 0, 0, 5.2}, {}, LIGHT},
        {SINGLE, MYR_NONE, {}, {4, -3.4, 0, 0}, LIGHT},
        {SINGLE, MYR_NONE, {}, {4, 0, 0, 5.2}, LIGHT},
        {SINGLE, MYR_NONE, {0, -30, 0, 30}, {0, -30, 0, 30}, 0}, /* not told */
        {MULTI, MYR_NONE, {4, -6.4, -6.4, 4}, {4, -4.6, -4.6, 4}, 0},
        {MULTI, MULTI, {4, -6.5, -6.5, 0}, {}, LIGHT},
        {MULTI, MULTI, {4, 0, 0, 4.1}, {}, LIGHT},
        {MULTI, MULTI, {}, {4, -4.7, 0, 0}, LIGHT},
        {MULTI, MULTI, {}, {4, 0, 0, 4.1}, LIGHT},
        {MULTI, MULTI, {4, -3, -1, 0}, {}, 0},
        {MULTI, MULTI, {4, -3.5, -1, 0}, {}, DIRTY},
        {MULTI, MULTI, {2, -30, -1, 0}, {}, DIRTY}, /* dirt, whatever the range says */
        {MULTI, MULTI, {1, -30, -1, 0}, {}, LIGHT}, /* one lane has no other beside it */
        {MULTI, MULTI, {}, {4, -4, 0, 0}, 0},       /* senders have no dirt */
        {COPPER, MYR_NONE, {4, -30, 0, 30}, {4, -30, 0, 30}, 0},
        {COPPER, COPPER, {4, -30, 0, 30}, {}, 0},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct fixture f;
        char what[16];
        begin(&f, MYR_NIC_AS_DEVICE);
        f.design.cabletypes[0].medium = (uint8_t)rows[i].planned;
        tell_optic(&f, (struct myr_cabling_optic){
                           .medium = rows[i].told, .rx = rows[i].rx, .tx = rows[i].tx});
        run(&f);
        snprintf(what, sizeof(what), "row %u", i);
        expect_why(&f, f.design.port_link[f.design.first_port[7] + 6], rows[i].why, what);
        finish(&f);
    }
}

/* Where the plan has no part for a link, any medium will do, and the module's own one counts. */
static void a_module_counts_where_the_plan_has_no_part(void **state)
{
    (void)state;
    for (uint32_t medium = MYR_MEDIUM_COPPER; medium <= MYR_MEDIUM_SINGLE; medium++) {
        struct fixture f;
        begin(&f, MYR_NIC_AS_DEVICE);
        f.design.cabletypes[0].part = 0;
        f.design.cabletypes[0].medium = MYR_MEDIUM_COPPER;
        tell_optic(&f, (struct myr_cabling_optic){.medium = medium, .rx = {4, -7, -7, 4.05}});
        run(&f);
        uint32_t link = f.design.port_link[f.design.first_port[7] + 6];
        expect_why(&f, link, medium == MYR_MEDIUM_MULTI ? 1U << MYR_WHY_LIGHT : 0, "no part");
        finish(&f);
    }
}

static void counters_and_modules_add_up_and_strangers_do_not_count(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, MYR_NIC_AS_DEVICE);
    uint32_t port = f.design.first_port[7] + 6;
    f.options.errors_max = 10;
    const struct myr_cabling_errors rows[] = {
        {myr_site_guid(&f.design, port), MYR_STR("7"), 11},
        {myr_site_guid(&f.design, port), MYR_STR("8"), 10},   /* at the limit */
        {myr_site_guid(&f.design, port), MYR_STR("99"), 100}, /* no such port */
        {0x1234567812345678, MYR_STR("7"), 100}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        myr_vec_push(&f.cabling.errors, rows[i]);
    }
    tell_optic(&f, (struct myr_cabling_optic){.medium = MYR_NONE, .rx = {4, -20, -19, 0}});
    run(&f);
    expect_why(&f, f.design.port_link[port], 1U << MYR_WHY_ERRORS | 1U << MYR_WHY_LIGHT, "both");
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_of_a_link_is_told_from_its_limit_on),
        cmocka_unit_test(words_for_what_a_cable_is_made_of_are_known),
        cmocka_unit_test(one_lower_speed_nearly_everywhere_is_told_once),
        cmocka_unit_test(a_width_is_held_against_that_of_nearly_all_others),
        cmocka_unit_test(few_lanes_nearly_everywhere_are_told_once),
        cmocka_unit_test(light_is_judged_by_what_such_modules_send_and_take),
        cmocka_unit_test(a_module_counts_where_the_plan_has_no_part),
        cmocka_unit_test(counters_and_modules_add_up_and_strangers_do_not_count),
    };
    return cmocka_run_group_tests(tests, read_names, forget_names);
}
