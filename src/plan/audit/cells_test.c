/*
 * Cells of lists by themselves: numbers as spreadsheets write them, lengths and watts in words,
 * what words say, and which part a cell means.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "audit/audit.h"

/* -1: no number. */
static double number(const char *text)
{
    double value = -1;
    return audit_number(myr_str_from(text), &value) ? value : -1;
}

static double watts(const char *text)
{
    double value = -1;
    return audit_watts(myr_str_from(text), &value) ? value : -1;
}

struct reading {
    const char *text;
    double value;
};

static void all_read(double (*read)(const char *), const struct reading *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (read(cases[i].text) != cases[i].value) {
            fail_msg("'%s' is read as %.17g", cases[i].text, read(cases[i].text));
        }
    }
}

static void numbers_are_read_as_spreadsheets_write_them(void **state)
{
    (void)state;
    static const struct reading cases[] = {
        {"0", 0},
        {"12", 12},
        {" 12\t", 12},
        {"12.5", 12.5},
        {"1,234", 1234},
        {"12,345.67", 12345.67},
        {"123,456", 123456},
        {"48, 681, 100", 48681100},
        {"1,234.5", 1234.5},
        {"0.5", 0.5},
        {"\xC2\xA0"
         "7\xE3\x80\x80 \n",
         7},
        {"\r\n3", 3},
        {"$12", 12},
        {"12 USD", 12},
        {"CNY 5", 5},
        {"5RMB", 5},
        {"\xC2\xA5 8", 8},
        {"9\xE5\x85\x83", 9},
        {"\xEF\xBF\xA5"
         "4",
         4},
        {"\xE2\x82\xAC"
         "4 EUR",
         4},
        {"USD 6 USD", 6},
        {"999,999,999,999,999", 999999999999999},
        {"1,000,000,000,000,000", -1},
        {"", -1},
        {" ", -1},
        {"x", -1},
        {"1x", -1},
        {"-1", -1},
        {"1,5", -1},
        {"1,2345", -1},
        {"1234,567", -1},
        {"1.234,56", -1},
        {"1.2.3", -1},
        {"1.", -1},
        {".5", -1},
        {",123", -1},
        {"1,23.4", -1},
        {"1,234,56", -1},
        {"12,,345", -1},
        {"1 234", -1},
        {"1e5", -1},
        {"5%", -1},
        {"000000000000000000000000000000000000001", 1},
        {"0000000000000000000000000000000000000001", -1},
        {"USD", -1},
    };
    all_read(number, cases, MYR_ARRAY_COUNT(cases));
}

static void watts_may_have_a_unit(void **state)
{
    (void)state;
    static const struct reading cases[] = {
        {"1720", 1720},    {"1720W", 1720},   {"1720 w", 1720}, {" 1720 W ", 1720},
        {"1.72 kW", 1720}, {"1.72KW", 1720},  {"2MW", 2000000}, {"2 MW", 2000000},
        {"2 mW", -1},      {"1,720 W", 1720}, {"W", -1},        {"kW", -1},
        {"", -1},          {"12 V", -1},      {"1720 W W", -1},
    };
    all_read(watts, cases, MYR_ARRAY_COUNT(cases));
}

static double told(const char *text)
{
    return audit_told_length(myr_str_from(text));
}

static void a_length_is_a_number_before_metres(void **state)
{
    (void)state;
    static const struct reading cases[] = {
        {"MMF, 50m", 50},
        {"50 m", 50},
        {"50M", 50},
        {"1.5 m fibre", 1.5},
        {"30\xE7\xB1\xB3", 30},
        {"850nm, 30m", 30},
        {"10m or 20m", 20},
        {"50mm", 0},
        {"50 mtr", 0},
        {"50m2", 0},
        {"5 0", 0},
        {"m", 0},
        {"", 0},
        {"0m", 0},
        {"99999m", 99999},
        {"100000m", 0},
        {"3.5.1m", 0},
        {"50Mbit", 0},
        {"50m.", 50},
        {"50m/60", 50},
        {"x7m", 7},
        {"400G 3m", 3},
        {"7 \xE7\xB1\xB3 x", 7},
    };
    all_read(told, cases, MYR_ARRAY_COUNT(cases));
}

static void words_stand_alone_but_in_chinese(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
        bool has;
    } cases[] = {
        {"a cable b", "cable", true},
        {"cable", "cable", true},
        {"Cable", "cable", true},
        {"cables", "cable", false},
        {"xcable", "cable", false},
        {"cable9", "cable", false},
        {"9cable", "cable", false},
        {"cables cable", "cable", true},
        {"cabl", "cable", false},
        {"cable-x", "cable", true},
        {"(cable)", "cable", true},
        {"", "cable", false},
        {"\xE8\xAE\xA1\xE7\xAE\x97\xE7\xBD\x91", "\xE8\xAE\xA1\xE7\xAE\x97", true},
        {"x\xE8\xAE\xA1\xE7\xAE\x97y", "\xE8\xAE\xA1\xE7\xAE\x97", true},
        {"cable", "", false},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        if (audit_has_word(myr_str_from(cases[i].text), cases[i].word) != cases[i].has) {
            fail_msg("'%s' in '%s'", cases[i].word, cases[i].text);
        }
    }
    static const char *const first[] = {"a", "b", NULL}, *const second[] = {"c d", NULL};
    static const char *const *const columns[] = {first, second};
    assert_int_equal(audit_column(MYR_STR(" B "), columns, 2), 0);
    assert_int_equal(audit_column(MYR_STR("C D"), columns, 2), 1);
    assert_int_equal(audit_column(MYR_STR("c"), columns, 2), -1);
    assert_int_equal(audit_column(MYR_STR("c d"), columns, 1), -1);
    static const struct {
        const char *text;
        bool total;
    } totals[] = {{"total", true},       {" TOTAL: ", true},
                  {"total...", true},    {"total....", false},
                  {"tota", false},       {"sum", true},
                  {"Grand Total", true}, {"", false},
                  {"subtotal", false},   {"\xE5\x90\x88\xE8\xAE\xA1\xEF\xBC\x9A", true}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(totals); i++) {
        assert_true(audit_is_total(myr_str_from(totals[i].text)) == totals[i].total);
    }
}

static void words_say_network_role_end_and_tier(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t net;
    } systems[] = {
        {"", AUDIT_ANY_NET},
        {"  ", AUDIT_ANY_NET},
        {"storage", MYR_NET_STORAGE},
        {"storage system", AUDIT_NO_NET},
        {"storage systems", MYR_NET_STORAGE},
        {"Compute network", MYR_NET_COMPUTE},
        {"backend", MYR_NET_COMPUTE},
        {"in-band", MYR_NET_SERVICE},
        {"out of band", MYR_NET_OOB},
        {"management", MYR_NET_OOB},
        {"management nodes", AUDIT_NO_NET},
        {"other", AUDIT_NO_NET},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(systems); i++) {
        if (audit_words_system(myr_str_from(systems[i].text)) != systems[i].net) {
            fail_msg("'%s'", systems[i].text);
        }
    }
    struct audit_words words = {.net = 3};
    audit_words_read(MYR_STR("leaf switch"), &words);
    assert_true(words.role == AUDIT_SWITCH && words.tier == AUDIT_TIER_LEAF && words.net == 3 &&
                words.end == AUDIT_END_ANY && !words.part);
    /* What a text does not tell stays as it was. */
    audit_words_read(MYR_STR("nothing at all"), &words);
    assert_true(words.role == AUDIT_SWITCH && words.tier == AUDIT_TIER_LEAF);
    audit_words_read(MYR_STR("transceiver, NIC end, core"), &words);
    assert_true(words.role == AUDIT_MODULE && words.tier == AUDIT_TIER_CORE &&
                words.end == AUDIT_END_NIC);
    audit_words_read(MYR_STR("login node"), &words);
    assert_int_equal(words.role, AUDIT_MANAGEMENT);
    assert_string_equal(words.part, "mgmt-node");
    audit_words_read(MYR_STR("router switch end"), &words);
    assert_true(words.role == AUDIT_SWITCH && words.tier == AUDIT_TIER_LEAF &&
                words.end == AUDIT_END_SWITCH);
}

struct cells {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct audit *audit;
};

static void begin(struct cells *c)
{
    struct myr_err err;
    myr_arena_init(&c->arena);
    assert_int_equal(myr_catalog_init(&c->catalog, &c->arena, &err), MYR_OK);
    c->audit = MYR_ARENA_ONE(&c->arena, struct audit);
    c->audit->arena = &c->arena;
    c->audit->catalog = &c->catalog;
}

static void end(struct cells *c)
{
    myr_catalog_done(&c->catalog);
    myr_arena_done(&c->arena);
}

/* The surest first; a length that is not stocked is told besides. */
static void a_cell_means_a_part_of_the_catalogue(void **state)
{
    (void)state;
    static const struct {
        const char *text, *id; /* NULL: none */
        double length_m;
    } cases[] = {
        {"mqm9790-ns2f", "mqm9790-ns2f", 0},
        {" MQM9790-NS2F ", "mqm9790-ns2f", 0},
        {"quantum-2", "mqm9790-ns2f", 0},
        {"MMA4Z00-NS", "mma4z00-ns", 0},
        {"MFP7E10-N050", "mfp7e10-n050", 0},
        {"MFP7E10-N037", "*mfp7e10", 37},
        {"mfp7e10-n01a", "*mfp7e10", 1.5},
        {"MFP7E10-N0B5", NULL, 0},
        {"MFP7E10-X037", NULL, 0},
        {"MFP7E1-N037", NULL, 0},
        {"-N037", NULL, 0},
        {"x-N037", NULL, 0},
        {"IW-Venus-3Y", "iw-venus", 0},
        {"IW-VenusX", NULL, 0},
        {"firewall (two)", "firewall", 0},
        {"", NULL, 0},
        {"  ", NULL, 0},
        {"nothing", NULL, 0},
        {"ndr, blue", NULL, 0}, /* shorter names begin too many words */
        {"h100 server", "h100-8gpu", 0},
    };
    struct cells c;
    begin(&c);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        double length = 9;
        uint32_t part = audit_find_part(c.audit, myr_str_from(cases[i].text), &length);
        const char *id = part == MYR_PART_NONE ? NULL : c.catalog.parts.items[part].id;
        bool family = cases[i].id && cases[i].id[0] == '*';
        bool same = family ? id && strncmp(id, cases[i].id + 1, strlen(cases[i].id) - 1) == 0
                           : (id && cases[i].id ? strcmp(id, cases[i].id) == 0 : id == cases[i].id);
        if (!same || length != cases[i].length_m) {
            fail_msg("'%s' is %s, %g m", cases[i].text, id ? id : "nothing", length);
        }
    }
    end(&c);
}

static void a_known_part_decides_the_role_of_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *name, *part;
        enum audit_role role;
        const char *id; /* or NULL */
        double length_m;
    } cases[] = {
        {"server", "mqm9790-ns2f", AUDIT_SWITCH, "mqm9790-ns2f", 0},
        {"leaf switch", "unknown-1", AUDIT_SWITCH, NULL, 0},
        {"switch", "cable of ours", AUDIT_CABLE, NULL, 0},
        {"", "firewall", AUDIT_OTHER, "firewall", 0},
        {"login node", "own-7", AUDIT_MANAGEMENT, "mgmt-node", 0},
        {"x", "subnet manager", AUDIT_MANAGER, "ufm-appliance", 0},
        {"access switch", "ETH-32X100G", AUDIT_ACCESS, "eth-core-100g", 0},
        {"access switch", "eth-core-100g", AUDIT_ETHERNET, "eth-core-100g", 0},
        {"aggregation", "ETH-48X25G-6X100G", AUDIT_AGGREGATION, "eth-access-25g", 0},
        {"aggregation", "eth-access-25g", AUDIT_ACCESS, "eth-access-25g", 0},
        {"switch", "ETH-48X25G-6X100G", AUDIT_ETHERNET, "eth-access-25g", 0},
        {"", "mfp7e10-n030", AUDIT_CABLE, "mfp7e10-n030", 30},
        {"", "mfp7e10-n037", AUDIT_CABLE, "mfp7e10", 37},
        {"", "cx7-400g-osfp", AUDIT_NIC, "cx7-400g-osfp", 0},
        {"", "flash-22x15", AUDIT_STORAGE, "flash-22x15", 0},
        {"", "h100-sxm", AUDIT_SERVER, "h100-sxm", 0},
        {"", "rack-42u", AUDIT_OTHER, "rack-42u-15kw", 0},
        {"", "nothing", AUDIT_UNKNOWN, NULL, 0},
    };
    struct cells c;
    begin(&c);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct audit_line line = {};
        audit_words_read(myr_str_from(cases[i].name), &line.says);
        audit_line_finish(c.audit, &line, myr_str_from(cases[i].part));
        const char *id = line.part == MYR_PART_NONE ? NULL : c.catalog.parts.items[line.part].id;
        if (line.role != cases[i].role || line.length_m != cases[i].length_m ||
            (id == NULL) != (cases[i].id == NULL) ||
            (id && strncmp(id, cases[i].id, strlen(cases[i].id)) != 0)) {
            fail_msg("'%s' '%s' is %s of role %d, %g m", cases[i].name, cases[i].part,
                     id ? id : "nothing", line.role, line.length_m);
        }
    }
    end(&c);
}

static struct myr_part module_of(void)
{
    return (struct myr_part){.kind = MYR_PART_TRANSCEIVER,
                             .optic = {.form = "osfp",
                                       .top = "finned",
                                       .lane_gbps = 100,
                                       .medium = MYR_MEDIUM_MULTI,
                                       .wavelength_nm = 850,
                                       .connector = "mpo"}};
}

#define TAKES(change, expected)                                   \
    do {                                                          \
        struct myr_speeds also = {.items = {50, 25}, .count = 2}; \
        struct myr_part m = module_of();                          \
        struct fit_socket c = {.form = "osfp",                    \
                               .top = "finned",                   \
                               .takes = "qsfp56 qsfp28",          \
                               .lane_gbps = 100,                  \
                               .lane_also = &also};               \
        change;                                                   \
        assert_true(fits_cage(&m, &c) == (expected));             \
    } while (0)

static void a_cage_takes_what_has_its_form_top_and_lanes(void **state)
{
    (void)state;
    TAKES((void)0, true);
    TAKES(m.optic.form = "OSFP", true);
    TAKES(m.optic.form = "qsfp28", true);
    TAKES(m.optic.form = "QSFP56", true);
    TAKES(m.optic.form = "qsfp2", false);
    TAKES((m.optic.form = "qsfp28", c.takes = NULL), false);
    TAKES(m.optic.top = "flat", false);
    TAKES(m.optic.top = NULL, true);
    TAKES((m.optic.top = "flat", c.top = NULL), true);
    TAKES(m.optic.lane_gbps = 50, true);
    TAKES(m.optic.lane_gbps = 25, true);
    TAKES(m.optic.lane_gbps = 200, false);
    TAKES((m.optic.lane_gbps = 50, also.count = 0), false);
    TAKES((m.optic.lane_gbps = 25, also.count = 1), false);
    TAKES(m.optic.lane_gbps = 0, true);
    TAKES((m.optic.lane_gbps = 200, c.lane_gbps = 0), true);
    TAKES((m.optic.lane_gbps = 200, m.optic.cage_lane_gbps = 100), true);
    TAKES(m.optic.cage_lane_gbps = 200, false);
}

#define AGREE(change, expected)                           \
    do {                                                  \
        struct myr_part a = module_of(), b = module_of(); \
        change;                                           \
        assert_true(fits_light(&a, &b) == (expected));    \
    } while (0)

static void modules_and_cables_agree_in_light_and_connector(void **state)
{
    (void)state;
    AGREE((void)0, true);
    AGREE(a.optic.medium = MYR_MEDIUM_SINGLE, false);
    AGREE(b.optic.wavelength_nm = 1310, false);
    AGREE(a.optic.lane_gbps = 50, false);
    AGREE(a.optic.lane_gbps = 0, true);
    AGREE(b.optic.lane_gbps = 0, true);
    AGREE(b.optic.connector = "lc", false);
    AGREE(b.optic.connector = "MPO", true);
    AGREE((a.optic.connector = NULL, b.optic.connector = NULL), false);
    struct myr_part module = module_of();
    struct myr_part cable = {.kind = MYR_PART_CABLE,
                             .cable = {.medium = MYR_MEDIUM_MULTI, .connector = "mpo"}};
    assert_true(fits_end(&cable, &module));
    cable.cable.connector = "lc";
    assert_false(fits_end(&cable, &module));
    cable.cable.connector = "mpo";
    cable.cable.medium = MYR_MEDIUM_SINGLE;
    assert_false(fits_end(&cable, &module));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_spreadsheets_write_them),
        cmocka_unit_test(watts_may_have_a_unit),
        cmocka_unit_test(a_length_is_a_number_before_metres),
        cmocka_unit_test(words_stand_alone_but_in_chinese),
        cmocka_unit_test(words_say_network_role_end_and_tier),
        cmocka_unit_test(a_cell_means_a_part_of_the_catalogue),
        cmocka_unit_test(a_known_part_decides_the_role_of_its_line),
        cmocka_unit_test(a_cage_takes_what_has_its_form_top_and_lanes),
        cmocka_unit_test(modules_and_cables_agree_in_light_and_connector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
