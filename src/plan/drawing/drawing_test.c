#include "drawing/drawing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct fixture {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    struct myr_buf svg;
};

static int plan_text(struct fixture *f, const char *text, struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_catalog_init(&f->catalog, &f->arena, err));
    MYR_TRY(myr_doc_read_yaml(&f->arena, "test.yaml", myr_str_from(text), &doc, err));
    MYR_TRY(myr_spec_read(&f->arena, &f->catalog, doc, &f->spec, err));
    return myr_plan(&f->arena, &f->catalog, &f->spec, &f->design, err);
}

static void draw(struct fixture *f, const char *text)
{
    struct myr_err err = {};
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    if (plan_text(f, text, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    myr_plan_svg(&f->design, &f->svg);
}

static void release(struct fixture *f)
{
    myr_buf_done(&f->svg);
    myr_spec_done(&f->spec);
    myr_catalog_done(&f->catalog);
    myr_arena_done(&f->arena);
}

static bool has_text(const struct fixture *f, const char *text)
{
    char wanted[160];
    snprintf(wanted, sizeof(wanted), ">%s</text>", text);
    return strstr(f->svg.data, wanted) != NULL;
}

static uint32_t count_of(const struct fixture *f, const char *text)
{
    uint32_t count = 0;
    for (const char *at = strstr(f->svg.data, text); at; at = strstr(at + 1, text)) {
        count++;
    }
    return count;
}

static uint32_t shapes_of(const struct fixture *f)
{
    return count_of(f, "<rect") + count_of(f, "<line") + count_of(f, "<circle") +
           count_of(f, "<path");
}

#define DEPTH_MAX 8

/*
 * Well-formed as far as the writer can go wrong: tags nest, attributes are quoted and escaped, and
 * no bare ampersand. Returns NULL, or where it is not.
 */
static const char *first_fault(const char *at)
{
    const char *open[DEPTH_MAX];
    size_t lens[DEPTH_MAX], depth = 0;
    for (; *at; at++) {
        if (*at == '&' && strncmp(at, "&amp;", 5) != 0 && strncmp(at, "&lt;", 4) != 0 &&
            strncmp(at, "&gt;", 4) != 0 && strncmp(at, "&quot;", 6) != 0) {
            return at;
        }
        if (*at != '<') {
            continue;
        }
        const char *tag = at++;
        bool closing = *at == '/';
        at += closing;
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        const char *name = at;
        bool quoted = false;
        for (at += len; *at && (quoted || *at != '>'); at++) {
            if (*at == '<') {
                return tag;
            }
            quoted ^= *at == '"';
        }
        if (len == 0 || *at != '>' || quoted) {
            return tag;
        }
        if (closing) {
            if (depth == 0 || lens[depth - 1] != len || memcmp(open[depth - 1], name, len) != 0) {
                return tag;
            }
            depth--;
        } else if (at[-1] != '/') {
            if (depth == DEPTH_MAX) {
                return tag;
            }
            open[depth] = name;
            lens[depth++] = len;
        }
    }
    return depth ? at : NULL;
}

static const char *const specs[] = {
    "servers: 64\nnetworks: {compute: {switch: mqm9790}, storage: {}, service: {}, oob: {}}",
    "servers: 1280\nnetworks: {compute: {switch: mqm9790}}",
    "servers: 12544\nnetworks: {compute: {switch: sn5600, nic_gbps: 400}}",
    "servers: 128\nserver: gb200-nvl72\nnetworks: {compute: {switch: mqm9790}}",
    "servers: 512\nserver: b300-8gpu\nnetworks: {compute: {topology: twin-planar, switch: sn5600}}",
    "servers: 256\nnetworks: {compute: {topology: rail-only, switch: mqm9790}}",
    "servers: 128\nnetworks: {compute: {topology: middle-of-rack, switch: mqm9790}}",
    "servers: 4096\nnetworks: {compute: {topology: dragonfly, switch: mqm9790}}",
    "servers: 1024\nnetworks: {compute: {topology: dragonfly+, switch: mqm9790}}",
    "servers: 64\nnetworks: {compute: {topology: torus, dims: [4, 4, 4], switch: mqm9790}}",
    "servers: 700\nnetworks: {compute: {topology: clos, tiers: 3, switch: mqm9790}}",
    "name: '<&>\"'\nservers: 4\nnetworks: {compute: {topology: clos, switch: mqm9790}}",
};

static void every_drawing_is_well_formed_small_and_the_same_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct fixture f;
        draw(&f, specs[i]);
        const char *fault = first_fault(f.svg.data);
        if (fault) {
            fail_msg("%s: not well-formed at: %.60s", specs[i], fault);
        }
        assert_in_range(shapes_of(&f), 20, 700);
        struct myr_buf again = {};
        myr_plan_svg(&f.design, &again);
        assert_int_equal(again.len, f.svg.len);
        assert_memory_equal(again.data, f.svg.data, again.len);
        myr_buf_done(&again);
        release(&f);
    }
}

static void the_checker_sees_what_is_not_well_formed(void **state)
{
    (void)state;
    static const char *const bad[] = {"<a>",      "</a>",         "<a></b>", "<a b=\"c></a>",
                                      "<a>&</a>", "<a b=\"<\"/>", "<>"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_non_null(first_fault(bad[i]));
    }
    assert_null(first_fault("<a b=\"c > d\"><b/>&lt; text</a>"));
}

static void small_fabrics_are_drawn_whole_and_large_ones_folded(void **state)
{
    (void)state;
    struct fixture f;
    draw(&f, "servers: 128\nnetworks: {compute: {switch: mqm9790}}");
    assert_int_equal(count_of(&f, "class=\"leaf e"), 32);
    assert_int_equal(count_of(&f, "<title>spine/p0-"), 16);
    assert_true(has_text(&f, "32 servers, 96\xE2\x80\x93"
                             "127"));
    assert_false(has_text(&f, "more pods"));
    uint32_t shapes = shapes_of(&f);
    release(&f);

    draw(&f, "servers: 12544\nnetworks: {compute: {switch: sn5600, nic_gbps: 400}}");
    assert_true(has_text(&f, "\xC3\x97 96"));
    assert_true(has_text(&f, "more pods"));
    assert_true(has_text(&f, "1,568 leaves"));
    assert_true(shapes_of(&f) < 2 * shapes);
    release(&f);
}

/* Management nodes are hosts and no servers; a node hangs on as many access switches as it has
 * homes. */
static void servers_are_told_from_other_hosts(void **state)
{
    (void)state;
    struct fixture f;
    draw(&f, "servers: 30\nnetworks: {compute: {extra_nodes: 5}}");
    assert_true(has_text(&f, "30 servers, 0\xE2\x80\x93"
                             "29 + 2"));
    assert_true(has_text(&f, "3 hosts"));
    assert_false(has_text(&f, "32 servers"));
    release(&f);

    draw(&f, "servers: 448\nnetworks: {compute: , service: {tiers: 3}}");
    assert_true(has_text(&f, "pod 0: 384 nodes"));
    assert_true(has_text(&f, "pod 1: 64 nodes"));
    assert_true(has_text(&f, "aggr. to core"));
    release(&f);
}

static void labels_hold_the_counts_of_the_design(void **state)
{
    (void)state;
    struct fixture f;
    draw(&f, specs[0]);
    const struct myr_network *net = &f.design.networks[MYR_NET_COMPUTE];
    char text[64];
    snprintf(text, sizeof(text), "%u spines", net->spine);
    assert_true(has_text(&f, text));
    snprintf(text, sizeof(text), "%u leaves", net->leaf);
    assert_true(has_text(&f, text));
    snprintf(text, sizeof(text), "%u down \xC2\xB7 %u up", net->leaf_down, net->leaf_up);
    assert_true(has_text(&f, text));
    snprintf(text, sizeof(text), "%u \xC3\x97 %uG", net->links[MYR_LAYER_FABRIC], net->fabric_gbps);
    assert_true(has_text(&f, text));
    assert_true(has_text(&f, "4 links a pair"));
    assert_true(has_text(&f, "1:1"));
    assert_true(has_text(&f, "Storage network"));
    assert_true(has_text(&f, "Out-of-band network"));
    /* The tooltip of a switch: its name, part and ports. */
    assert_non_null(strstr(f.svg.data, "<title>leaf/p0-g1-r7\nmqm9790-ns2f\n"
                                       "32 of 32 ports down, 400G\n32 of 32 ports up, 400G"));
    release(&f);
}

static void each_topology_shows_what_sets_it_apart(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *text;
    } cases[] = {
        {"topology: twin-planar, switch: sn5600}}\nserver: b300-8gpu", "plane 1"},
        {"topology: rail-only, switch: mqm9790}}", "rail 7"},
        {"topology: middle-of-rack, switch: mqm9790}}", "Hosts, in the same rack"},
        {"topology: islands, oversubscription: [1, 4], islands: 2, switch: mqm9790}}", "islands"},
        {"topology: dragonfly, switch: mqm9790}}", "g1"},
        {"topology: dragonfly+, switch: mqm9790, group_switches: 8}}", "8 leaves, as many spines"},
        {"topology: torus, dims: [8, 32], switch: mqm9790}}", "dimension 1: 32 long"},
        {"topology: clos, fill: dense, switch: mqm9790}}", "dense fill"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture f;
        char spec[256];
        snprintf(spec, sizeof(spec), "servers: 256\nnetworks: {compute: {%s", cases[i].spec);
        draw(&f, spec);
        if (!has_text(&f, cases[i].text)) {
            fail_msg("%s: '%s' is missing", cases[i].spec, cases[i].text);
        }
        release(&f);
    }
}

static void texts_are_shortened_to_fit(void **state)
{
    (void)state;
    char text[32] = "1234567890";
    assert_int_equal(plan_draw_width(text, 10), PX(60));
    assert_int_equal(plan_draw_width("\xE4\xB8\x87", 10), PX(10));
    plan_draw_fit(text, sizeof(text), 10, PX(60));
    assert_string_equal(text, "1234567890");
    plan_draw_fit(text, sizeof(text), 10, PX(59));
    assert_string_equal(text, "12345678\xE2\x80\xA6");
    /* Not in the middle of a character, and not behind the end of the buffer. */
    char wide[10] = "\xE4\xB8\x87\xE4\xB8\x87\xE4\xB8\x87";
    plan_draw_fit(wide, sizeof(wide), 10, PX(17));
    assert_string_equal(wide, "\xE4\xB8\x87\xE2\x80\xA6");
    plan_draw_fit(text, sizeof(text), 10, 0);
    assert_string_equal(text, "\xE2\x80\xA6");
}

static void numbers_are_written_for_people(void **state)
{
    (void)state;
    char text[48];
    assert_string_equal(plan_draw_ratio(1000, text), "1:1");
    assert_string_equal(plan_draw_ratio(6400, text), "6.4:1");
    assert_string_equal(plan_draw_ratio(1954, text), "1.95:1");
    assert_string_equal(plan_draw_rate(400, text), "400 Gb/s");
    assert_string_equal(plan_draw_rate(102400, text), "102.4 Tb/s");
    assert_string_equal(plan_draw_rate(20070400, text), "20,070.4 Tb/s");
    assert_string_equal(plan_draw_plural(1, "leaf", text), "1 leaf");
    assert_string_equal(plan_draw_plural(1568, "leaf", text), "1,568 leaves");
    assert_string_equal(plan_draw_plural(2, "switch", text), "2 switches");
    assert_string_equal(plan_draw_plural(0, "hop", text), "0 hops");
}

static void a_row_draws_the_first_and_counts_the_rest(void **state)
{
    (void)state;
    struct draw_row row = {};
    plan_draw_place(&row, 0, PX(100), 5, 10);
    assert_int_equal(row.count, 5);
    assert_int_equal(row.rest, 0);
    assert_int_equal(row.marks[2].x, PX(50));
    plan_draw_place(&row, 0, PX(100), 1000, 10);
    assert_int_equal(row.count, 10);
    assert_int_equal(row.rest, 991);
    assert_int_equal(row.marks[8].index, 8);
    assert_int_equal(row.marks[9].index, MYR_NONE);
    for (uint32_t i = 1; i < row.count; i++) {
        assert_true(row.marks[i].x - row.marks[i - 1].x >= row.box);
    }
    assert_true(row.marks[9].x + row.box / 2 <= PX(100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_drawing_is_well_formed_small_and_the_same_twice),
        cmocka_unit_test(the_checker_sees_what_is_not_well_formed),
        cmocka_unit_test(small_fabrics_are_drawn_whole_and_large_ones_folded),
        cmocka_unit_test(servers_are_told_from_other_hosts),
        cmocka_unit_test(labels_hold_the_counts_of_the_design),
        cmocka_unit_test(each_topology_shows_what_sets_it_apart),
        cmocka_unit_test(texts_are_shortened_to_fit),
        cmocka_unit_test(numbers_are_written_for_people),
        cmocka_unit_test(a_row_draws_the_first_and_counts_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
