#include "myriad/site/binding.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "verify/verify_test.h"

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_binding binding;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){4, 2, 2, 2});
    myr_binding_init(&f->binding, &f->arena, &f->design);
}

static void finish(struct fixture *f)
{
    myr_binding_done(&f->binding);
    myr_arena_done(&f->arena);
}

static const char full[] =
    "# Which real device stands in which place of the design.\n"
    "design: small\n"
    "devices:\n"
    "  node/00002:\n"
    "    serial: \"007\"\n"
    "    host: gpu002\n"
    "    address: \"10.1.0.2\"\n"
    "    ports:\n"
    "      nic0: {guid: 0x9c0591030012ab34, port_guid: 0x9c0591030012ab35, name: mlx5_0, "
    "ifindex: 7}\n"
    "      nic1: {mac: \"3e:9c:2b:3d:21:25\"}\n"
    "  leaf/p0-g0-r1: {guid: 0x98039b0300a1b2c4, mac: \"3e:9c:2b:3d:21:99\", host: \"no\"}\n";

static void what_is_read_is_found_and_written_the_same(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_buf written = {};
    begin(&f);
    if (myr_binding_read_text(&f.binding, "binding.yaml", myr_str_from(full), &f.err) < 0) {
        fail_msg("%s", f.err.message);
    }
    const struct myr_bound *node = myr_binding_get(&f.binding, 2, MYR_NONE);
    assert_non_null(node);
    assert_true(myr_str_eq(node->host, MYR_STR("gpu002")));
    assert_true(myr_str_eq(node->serial, MYR_STR("007")));
    uint32_t nic0 = f.design.first_port[2];
    const struct myr_bound *port = myr_binding_get(&f.binding, 2, nic0);
    assert_true(port->guid == UINT64_C(0x9c0591030012ab34) && port->ifindex == 7);
    assert_int_equal(myr_binding_port(&f.binding, 2, MYR_STR("mlx5_0")), nic0);
    assert_int_equal(myr_binding_port(&f.binding, 1, MYR_STR("mlx5_0")), MYR_NONE);
    assert_null(myr_binding_get(&f.binding, 1, MYR_NONE));
    myr_binding_write(&f.binding, &written);
    assert_string_equal(written.data, full);
    myr_buf_done(&written);
    finish(&f);
}

static void an_empty_binding_is_written_and_read(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_buf written = {};
    begin(&f);
    myr_binding_write(&f.binding, &written);
    assert_int_equal(myr_binding_read_text(&f.binding, "b.yaml",
                                           (struct myr_str){written.data, written.len}, &f.err),
                     MYR_OK);
    assert_int_equal(f.binding.rows.count, 0);
    myr_buf_done(&written);
    finish(&f);
}

static void everything_real_belongs_to_one_place(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t row;
    const struct myr_bound leaf = {.device = 4, .port = MYR_NONE, .guid = 7, .host = MYR_STR("a")};
    assert_true(myr_binding_add(&f.binding, &leaf, &row));
    assert_int_equal(row, 0);
    /* The same again, and more about the same place, is welcome. */
    const struct myr_bound more = {.device = 4, .port = MYR_NONE, .guid = 7, .mac = 9};
    assert_true(myr_binding_add(&f.binding, &leaf, &row));
    assert_true(myr_binding_add(&f.binding, &more, &row));
    assert_int_equal(f.binding.rows.count, 1);
    assert_true(f.binding.rows.items[0].mac == 9);
    const struct myr_bound others[] = {
        {.device = 5, .port = MYR_NONE, .guid = 7},
        {.device = 5, .port = MYR_NONE, .mac = 9},
        {.device = 5, .port = MYR_NONE, .host = MYR_STR("a")},
        {.device = 1, .port = f.design.first_port[1], .port_guid = 7},
        {.device = 4, .port = MYR_NONE, .guid = 8}, /* the place has another one */
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        assert_false(myr_binding_add(&f.binding, &others[i], &row));
        assert_int_equal(row, 0);
    }
    assert_int_equal(f.binding.rows.count, 1);
    assert_true(f.binding.rows.items[0].guid == 7);
    finish(&f);
}

static void wrong_bindings_are_refused_in_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"- a\n", "b:1:1: "},
        {"design: small\n", "b:1:1: "},
        {"devices: {}\n", "b:1:1: "},
        {"design: large\ndevices: {}\n", "b:1:9: this is the binding of design 'large'"},
        {"design: small\ndevices: {}\nmore: 1\n", "b:3:1: unknown key 'more'"},
        {"design: small\ndevices: []\n", "b:2:10: "},
        {"design: small\ndevices: {leaf/p9-g0-r0: {}}\n", "b:2:11: no device 'leaf/p9-g0-r0'"},
        {"design: small\ndevices: {leaf/p0-g0-r0: 7}\n", "b:2:26: "},
        {"design: small\ndevices: {leaf/p0-g0-r0: {guld: 0x7}}\n", "b:2:27: unknown key 'guld'"},
        {"design: small\ndevices: {leaf/p0-g0-r0: {guid: 7}}\n", "b:2:33: 'guid' is '7'"},
        {"design: small\ndevices: {leaf/p0-g0-r0: {guid: 0xg}}\n", "b:2:33: 'guid' is '0xg'"},
        {"design: small\ndevices: {leaf/p0-g0-r0: {guid: 0x0}}\n", "b:2:33: 'guid' is '0x0'"},
        {"design: small\ndevices: {leaf/p0-g0-r0: {mac: 12}}\n", "b:2:32: 'mac' is '12'"},
        {"design: small\ndevices: {leaf/p0-g0-r0: {ports: {9/9: {}}}}\n", "b:2:35: the device has"},
        {"design: small\ndevices: {leaf/p0-g0-r0: {ports: {1/1: {ifindex: 0}}}}\n",
         "b:2:50: 'ifindex' is '0'"},
        {"design: small\ndevices:\n  leaf/p0-g0-r0: {guid: 0x7}\n  leaf/p0-g0-r1: {guid: 0x7}\n",
         "b:4:3: something here is bound to leaf/p0-g0-r0 already"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture f;
        begin(&f);
        int rc = myr_binding_read_text(&f.binding, "b", myr_str_from(cases[i].text), &f.err);
        size_t len = strlen(cases[i].message);
        if (rc >= 0 || strncmp(f.err.message, cases[i].message, len) != 0) {
            fail_msg("case %zu: %s", i, rc < 0 ? f.err.message : "accepted");
        }
        finish(&f);
    }
}

static void mac_addresses_are_read_in_three_spellings(void **state)
{
    (void)state;
    uint64_t mac = 0;
    static const char *const good[] = {"3e:9c:2b:3d:21:25", "3E-9C-2B-3D-21-25", "3e9c.2b3d.2125"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        assert_true(myr_mac_parse(myr_str_from(good[i]), &mac));
        assert_true(mac == UINT64_C(0x3e9c2b3d2125));
    }
    static const char *const bad[] = {"",
                                      "3e:9c:2b:3d:21",
                                      "3e:9c:2b:3d:21:2g",
                                      "3e:9c-2b:3d:21:25",
                                      "3e9c2b3d2125",
                                      "3e9c:2b3d:2125",
                                      "3e:9c:2b:3d:21:255",
                                      "3e:9c:2b:3d:212:5"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_false(myr_mac_parse(myr_str_from(bad[i]), &mac));
    }
}

/* --- everything that a row may claim, against a list that is searched from its beginning */

enum { LONG_NAME = 255, DRAWS = 60, STEPS = 90 };

static const char *const words[] = {"", "", "", "", "a", "b", "c", "ab"};

static struct myr_str draw_word(struct myr_rng *rng)
{
    return myr_str_from(words[myr_rng_below(rng, MYR_ARRAY_COUNT(words))]);
}

static uint64_t draw_number(struct myr_rng *rng)
{
    uint32_t number = myr_rng_below(rng, 12);
    return number < 7 ? 0 : number;
}

/* Names as long as a file may have them, that differ in their last letter. */
static struct myr_str draw_name(struct myr_rng *rng)
{
    static char names[2][LONG_NAME];
    uint32_t which = myr_rng_below(rng, 6);
    if (which > 1) {
        return draw_word(rng);
    }
    memset(names[which], 'n', LONG_NAME);
    names[which][LONG_NAME - 1] = (char)('0' + which);
    return (struct myr_str){names[which], LONG_NAME};
}

static struct myr_bound draw_bound(struct fixture *f, struct myr_rng *rng)
{
    uint32_t device = myr_rng_below(rng, 6);
    bool port = device < 4 && myr_rng_below(rng, 2);
    return (struct myr_bound){.device = device,
                              .port = port ? f->design.first_port[device] + myr_rng_below(rng, 2)
                                           : MYR_NONE,
                              .guid = draw_number(rng),
                              .port_guid = draw_number(rng),
                              .mac = draw_number(rng),
                              .ifindex = (uint32_t)draw_number(rng),
                              .serial = draw_word(rng),
                              .host = draw_word(rng),
                              .address = draw_word(rng),
                              .name = port ? draw_name(rng) : MYR_STR("")};
}

static bool same_text(struct myr_str a, struct myr_str b)
{
    return a.len && myr_str_eq(a, b);
}

static bool same_number(uint64_t a, uint64_t b)
{
    return a && a == b;
}

/* By what is claimed: GUIDs of either kind, MAC, host, serial, the device's own name of a port. */
static bool claims_same(const struct myr_bound *row, const struct myr_bound *new, uint32_t what)
{
    switch (what) {
    case 0:
        return same_number(new->guid, row->guid) || same_number(new->guid, row->port_guid);
    case 1:
        return same_number(new->port_guid, row->guid) ||
               same_number(new->port_guid, row->port_guid);
    case 2:
        return same_number(new->mac, row->mac);
    case 3:
        return same_text(new->host, row->host);
    case 4:
        return same_text(new->serial, row->serial);
    default:
        return new->device == row->device &&same_text(new->name, row->name);
    }
}

#define CONTRADICTS_NUMBER(field) (row->field && new->field && row->field != new->field)
#define CONTRADICTS_TEXT(field) \
    (row->field.len && new->field.len && !myr_str_eq(row->field, new->field))
#define FILL(field)      (row->field = row->field ? row->field : new->field)
#define FILL_TEXT(field) (row->field = row->field.len ? row->field : new->field)

static bool contradicts(const struct myr_bound *row, const struct myr_bound *new)
{
    return CONTRADICTS_NUMBER(guid) || CONTRADICTS_NUMBER(port_guid) || CONTRADICTS_NUMBER(mac) ||
           CONTRADICTS_NUMBER(ifindex) || CONTRADICTS_TEXT(serial) || CONTRADICTS_TEXT(host) ||
           CONTRADICTS_TEXT(address) || CONTRADICTS_TEXT(name);
}

static void fill(struct myr_bound *row, const struct myr_bound *new)
{
    FILL(guid);
    FILL(port_guid);
    FILL(mac);
    FILL(ifindex);
    FILL_TEXT(serial);
    FILL_TEXT(host);
    FILL_TEXT(address);
    FILL_TEXT(name);
}

struct naive {
    struct myr_bound rows[16];
    uint32_t count;
};

static bool naive_add(struct naive *naive, const struct myr_bound *new, uint32_t *ret_row)
{
    uint32_t own = 0;
    while (own < naive->count &&
           (naive->rows[own].device != new->device || naive->rows[own].port != new->port)) {
        own++;
    }
    for (uint32_t what = 0; what < 6; what++) {
        for (uint32_t i = 0; i < naive->count; i++) {
            if (i != own && claims_same(&naive->rows[i], new, what)) {
                *ret_row = i;
                return false;
            }
        }
    }
    *ret_row = own;
    if (own == naive->count) {
        naive->rows[naive->count++] = *new;
        return true;
    }
    if (contradicts(&naive->rows[own], new)) {
        return false;
    }
    fill(&naive->rows[own], new);
    return true;
}

static bool same_row(const struct myr_bound *a, const struct myr_bound *b)
{
    return a->device == b->device && a->port == b->port && a->guid == b->guid &&
           a->port_guid == b->port_guid && a->mac == b->mac && a->ifindex == b->ifindex &&
           myr_str_eq(a->serial, b->serial) && myr_str_eq(a->host, b->host) &&
           myr_str_eq(a->address, b->address) && myr_str_eq(a->name, b->name);
}

/* A port is found under its name, and under no name of another device. */
static void check_names(struct fixture *f, const struct naive *naive)
{
    for (uint32_t i = 0; i < naive->count; i++) {
        const struct myr_bound *row = &naive->rows[i];
        for (uint32_t device = 0; device < 4 && row->name.len; device++) {
            uint32_t expected = MYR_NONE;
            for (uint32_t k = 0; k < naive->count; k++) {
                bool here =
                    naive->rows[k].device == device && myr_str_eq(naive->rows[k].name, row->name);
                expected = here ? naive->rows[k].port : expected;
            }
            assert_int_equal(myr_binding_port(&f->binding, device, row->name), expected);
        }
    }
}

static void nothing_real_is_in_two_places_whatever_is_told(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < DRAWS; seed++) {
        struct fixture f;
        struct naive naive = {};
        struct myr_rng rng;
        begin(&f);
        myr_rng_init(&rng, 20261119, seed);
        for (uint32_t step = 0; step < STEPS; step++) {
            struct myr_bound new = draw_bound(&f, &rng);
            uint32_t row = 0, expected_row = 0;
            bool expected = naive_add(&naive, &new, &expected_row);
            bool added = myr_binding_add(&f.binding, &new, &row);
            if (added != expected || row != expected_row || f.binding.rows.count != naive.count) {
                fail_msg("seed %u, step %u: %d at row %u instead of %d at %u", seed, step, added,
                         row, expected, expected_row);
            }
            for (uint32_t i = 0; i < naive.count; i++) {
                assert_true(same_row(&f.binding.rows.items[i], &naive.rows[i]));
            }
        }
        check_names(&f, &naive);
        finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_found_and_written_the_same),
        cmocka_unit_test(an_empty_binding_is_written_and_read),
        cmocka_unit_test(everything_real_belongs_to_one_place),
        cmocka_unit_test(nothing_real_is_in_two_places_whatever_is_told),
        cmocka_unit_test(wrong_bindings_are_refused_in_their_place),
        cmocka_unit_test(mac_addresses_are_read_in_three_spellings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
