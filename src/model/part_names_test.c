/*
 * What a part has that its file does not say: numbers, order number, title, lengths of a family.
 * And what its names and the names in it lead to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model_test.h"
#include "myriad/base/rng.h"
#include "rounds.h"

static const char bare[] = "switches: {B-SW: {cages: 2, form: osfp, cage_gbps: 8, port_gbps: 4}}\n"
                           "nics: {B-NIC: {form: osfp, port_gbps: 4}}\n"
                           "gpus: {B-GPU: {}}\n"
                           "servers: {B-SRV: {gpu: b-gpu, gpus_per_node: 3}}\n"
                           "transceivers:\n"
                           "  B-OPT: {form: osfp, connector: mpo, cage_gbps: 8, port_gbps: 4, "
                           "reach_m: 5}\n"
                           "cables: {B-CAB: {connector: mpo, length_m: 5}}\n"
                           "storage: {B-STO: {disks: 3, disk_gb: 4}}\n"
                           "racks: {B-RACK: {}}\n"
                           "ethernet: {B-ETH: {access_ports: 3, access_gbps: 4}}\n"
                           "devices: {B-DEV: {}}\n"
                           "services: {B-SRVC: {}}\n";

/* As long as nothing else is said: one of each, any technology, and 'not known' is not 0. */
static void what_a_switch_or_a_card_does_not_say_is_assumed(void **state)
{
    struct fixture *f = *state;
    assert_added(f, bare);
    const struct myr_part_switch *sw = &get_part(f, "b-sw")->sw;
    assert_int_equal(sw->mgmt_ports, MYR_PART_NONE);
    assert_true(sw->chips == 1 && sw->per_box == 1);
    assert_true(sw->technology == MYR_TECH_INFINIBAND && sw->breakout == MYR_BREAKOUT_SPLITTER);
    assert_true(sw->splits.count == 0 && sw->lane_also.count == 0 && sw->uplink_gbps == 0);
    assert_true(sw->ports_max == 0 && sw->lanes == 0 && sw->lane_gbps == 0 && !sw->top);
    assert_true(!sw->takes && sw->watts_copper == 0 && sw->watts_multimode == 0);
    const struct myr_part_nic *nic = &get_part(f, "b-nic")->nic;
    assert_true(nic->cages == 1 && nic->cage_ports == 1 && nic->cards == 1);
    assert_int_equal(nic->technology, MYR_TECH_ANY);
    assert_true(nic->also.count == 0 && nic->card_gbps == 0 && !nic->top && !nic->takes);
    const struct myr_part_gpu *gpu = &get_part(f, "b-gpu")->gpu;
    assert_true(gpu->memory_gb == 0 && gpu->bf16_tflops == 0 && gpu->fp4_tflops == 0);
}

static void what_the_other_kinds_do_not_say_is_assumed(void **state)
{
    struct fixture *f = *state;
    assert_added(f, bare);
    const struct myr_part_server *server = &get_part(f, "b-srv")->server;
    assert_true(server->nodes == 1 && server->numa == 1 && server->rails == 0);
    assert_true(server->pcie_switches == 0 && server->scale_up_gpus == 0 && !server->dpu);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        assert_null(server->nics[net].nic);
        assert_int_equal(server->nics[net].count, 0);
    }
    const struct myr_part_transceiver *optic = &get_part(f, "b-opt")->optic;
    assert_true(optic->connectors == 1 && !optic->built_in && optic->lanes == 0);
    assert_int_equal(optic->technology, MYR_TECH_ANY);
    assert_true(!optic->fits && !optic->grid && optic->also.count == 0);
    const struct myr_part_cable *cable = &get_part(f, "b-cab")->cable;
    assert_true(cable->legs == 1 && !cable->fixed_ends && cable->gbps == 0);
    assert_int_equal(cable->technology, MYR_TECH_ANY);
    const struct myr_part_storage *storage = &get_part(f, "b-sto")->storage;
    assert_true(storage->nic_ports == 0 && !storage->nic && !storage->software);
    assert_true(storage->iops == 0 && storage->disk_read_mbytes == 0);
    const struct myr_part_ethernet *eth = &get_part(f, "b-eth")->eth;
    assert_int_equal(eth->mgmt_ports, MYR_PART_NONE);
    assert_true(eth->uplink_ports == 0 && eth->uplink_gbps == 0 && !eth->access_form);
    assert_null(get_part(f, "b-dev")->device.nic);
}

/* The id is lower case; the order number is the name as it was typed, the title the order number.
 */
static void a_part_without_a_title_is_called_by_its_order_number(void **state)
{
    static const char *const names[] = {"B-SW",  "B-NIC",  "B-GPU", "B-SRV", "B-OPT", "B-CAB",
                                        "B-STO", "B-RACK", "B-ETH", "B-DEV", "B-SRVC"};
    struct fixture *f = *state;
    assert_added(f, bare);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        const struct myr_part *part = get_part(f, names[i]);
        assert_string_equal(part->order, names[i]);
        assert_string_equal(part->title, names[i]);
        for (size_t k = 0; k <= strlen(names[i]); k++) {
            char c = names[i][k];
            assert_int_equal(part->id[k], c >= 'A' && c <= 'Z' ? c + 32 : c);
        }
        assert_true(!part->vendor && !part->source && !part->assumed);
        assert_true(part->watts == 0 && part->rack_units == 0 && part->weight_kg == 0);
    }
    assert_added(f, "devices:\n  One: {order: X-1}\n  Two: {title: The second}\n"
                    "  Three: {order: X-3, title: The third}\n");
    assert_string_equal(get_part(f, "one")->title, "X-1");
    assert_string_equal(get_part(f, "two")->order, "Two");
    assert_string_equal(get_part(f, "two")->title, "The second");
    assert_string_equal(get_part(f, "three")->order, "X-3");
    assert_string_equal(get_part(f, "three")->title, "The third");
}

/* By an alias too; what is not given stays, the part keeps its place and its id. */
static void an_override_changes_what_it_gives(void **state)
{
    struct fixture *f = *state;
    assert_added(f, "devices: {Siren: {order: S-1, title: T, watts: 5, aliases: [Horn, bell]}}\n"
                    "switches: {sw: {cages: 2, form: osfp, cage_gbps: 8, port_gbps: 4, "
                    "splits: [2, 1], mgmt_ports: 3, per_box: 2}}\n");
    uint32_t part = find_part(f, "siren");
    size_t parts = f->catalog.parts.count, names = f->catalog.names.count;
    assert_added(f, "devices: {HORN: {weight_kg: 7, aliases: [BELL, siren]}}\n"
                    "switches: {sw: {splits: [3]}}\n");
    assert_int_equal(f->catalog.parts.count, parts);
    assert_int_equal(f->catalog.names.count, names);
    const struct myr_part *siren = get_part(f, "bell");
    assert_int_equal(find_part(f, "horn"), part);
    assert_int_equal(find_part(f, "bell"), part);
    assert_string_equal(siren->id, "siren");
    assert_string_equal(siren->order, "S-1");
    assert_string_equal(siren->title, "T");
    assert_true(siren->watts == 5 && siren->weight_kg == 7);
    /* A list takes the place of the one before it whole. */
    const struct myr_part_switch *sw = &get_part(f, "sw")->sw;
    assert_true(sw->splits.count == 1 && sw->splits.items[0] == 3);
    assert_true(sw->mgmt_ports == 3 && sw->per_box == 2 && sw->cages == 2);
    assert_added(f, "devices: {siren: {order: S-2, title: U, aliases: [hooter]}}\n");
    assert_string_equal(get_part(f, "hooter")->order, "S-2");
    assert_string_equal(get_part(f, "hooter")->title, "U");
    assert_int_equal(find_part(f, "hooter"), part);
}

/* In half metres, spelt as vendors do: n050 is 50 m, n01a 1.5 m. */
static void a_family_has_a_part_for_each_length(void **state)
{
    static const struct {
        const char *length, *suffix, *metres;
        double length_m;
    } rows[] = {
        {"0.5", "N00A", "0.5", 0.5},     {"1", "N001", "1", 1},
        {"1.5", "N01A", "1.5", 1.5},     {"2.2", "N002", "2", 2},
        {"2.3", "N02A", "2.5", 2.5},     {"9.5", "N09A", "9.5", 9.5},
        {"10", "N010", "10", 10},        {"10.5", "N10A", "10.5", 10.5},
        {"99", "N099", "99", 99},        {"100", "N100", "100", 100},
        {"2000", "N2000", "2000", 2000}, {"99999", "N99999", "99999", 99999},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char name[40], wanted[60];
        assert_added(f, myr_arena_printf(&f->arena,
                                         "cables: {Fam: {connector: mpo, legs: 2, title: fibre, "
                                         "order: F-9, lengths_m: [%s]}}\n",
                                         rows[i].length));
        snprintf(name, sizeof(name), "fam-%s", rows[i].suffix);
        const struct myr_part *part = get_part(f, name);
        assert_true(part->cable.length_m == rows[i].length_m && part->cable.legs == 2);
        snprintf(wanted, sizeof(wanted), "F-9-%s", rows[i].suffix);
        assert_string_equal(part->order, wanted);
        snprintf(wanted, sizeof(wanted), "fibre, %s m", rows[i].metres);
        assert_string_equal(part->title, wanted);
    }
    assert_int_equal(myr_catalog_find(&f->catalog, MYR_STR("fam")), MYR_PART_NONE);
    /* Given again: the length becomes the new one, at the same place. */
    size_t parts = f->catalog.parts.count;
    uint32_t old = find_part(f, "fam-n100");
    assert_added(f, "cables: {fam: {connector: lc, lengths_m: [100, 101]}}\n");
    assert_int_equal(f->catalog.parts.count, parts + 1);
    assert_int_equal(find_part(f, "fam-n100"), old);
    assert_string_equal(get_part(f, "fam-n100")->cable.connector, "lc");
    assert_int_equal(get_part(f, "fam-n100")->cable.legs, 1);
    assert_string_equal(get_part(f, "fam-n100")->order, "fam-N100");
    assert_added(f, "devices: {fam-n007: {}}\n");
    assert_int_equal(add_text(f, "cables: {fam: {connector: lc, lengths_m: [6, 7]}}\n"),
                     MYR_EINVAL);
    assert_string_equal(f->err.message,
                        "my.yaml:1:46: the name 'fam-n007' is taken by the device 'fam-n007'");
}

/* Every key that names a part, where nothing is called so and where it is of another kind. */
static void names_in_a_part_lead_to_parts(void **state)
{
    static const struct {
        const char *text; /* $ is the name */
        const char *kind, *key;
    } rows[] = {
        {"servers: {s: {gpus_per_node: 1, gpu: $}}", "GPU", "gpu"},
        {"servers: {s: {gpus_per_node: 1, gpu: h100-gpu, dpu: $}}", "NIC", "dpu"},
        {"servers: {s: {gpus_per_node: 1, gpu: h100-gpu, nics: {compute: {nic: $}}}}", "NIC",
         "nic"},
        {"servers: {s: {gpus_per_node: 1, gpu: h100-gpu, nics: {storage: {nic: $}}}}", "NIC",
         "nic"},
        {"servers: {s: {gpus_per_node: 1, gpu: h100-gpu, nics: {service: {nic: $}}}}", "NIC",
         "nic"},
        {"servers: {s: {gpus_per_node: 1, gpu: h100-gpu, nics: {oob: {nic: $}}}}", "NIC", "nic"},
        {"storage: {u: {disks: 1, disk_gb: 1, nic: $}}", "NIC", "nic"},
        {"storage: {u: {disks: 1, disk_gb: 1, software: $}}", "licence or service", "software"},
        {"devices: {v: {nic: $}}", "NIC", "nic"},
        {"devices: {r: {}, v: {nic: $}}", "NIC", "nic"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char wanted[160];
        int at = (int)(strchr(rows[i].text, '$') - rows[i].text);
        const char *rest = rows[i].text + at + 1;
        assert_int_equal(
            add_text(f, myr_arena_printf(&f->arena, "%.*sqqqqqqq%s", at, rows[i].text, rest)),
            MYR_ENOENT);
        snprintf(wanted, sizeof(wanted), "my.yaml:1:%d: unknown %s 'qqqqqqq'", at + 1,
                 rows[i].kind);
        assert_string_equal(f->err.message, wanted);
        snprintf(wanted, sizeof(wanted), "myriad catalog --kind '%s' lists them", rows[i].kind);
        assert_string_equal(f->err.hint, wanted);
        assert_int_equal(
            add_text(f, myr_arena_printf(&f->arena, "%.*srack-42u%s", at, rows[i].text, rest)),
            MYR_EINVAL);
        snprintf(wanted, sizeof(wanted),
                 "my.yaml:1:%d: '%s' is 'rack-42u', of kind rack; a %s is expected", at + 1,
                 rows[i].key, rows[i].kind);
        assert_string_equal(f->err.message, wanted);
    }
    /* It may stand further down, in a section that comes later; and so may what has a price. */
    assert_added(f, "prices: {mine: {parts: {late-srv: 5}}}\n"
                    "servers: {late-srv: {gpu: late-gpu, gpus_per_node: 1, dpu: late-nic}}\n"
                    "gpus: {late-gpu: {}}\nnics: {late-nic: {form: f, port_gbps: 1}}\n"
                    "recovery: {whatever: 1}\n");
    assert_string_equal(get_part(f, "late-srv")->server.dpu, "late-nic");
}

static void names_of_parts_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"devices: {\"\": {}}\n", "my.yaml:1:11: '' is no name for a part: letters, digits and . "
                                  "- _ + / are expected"},
        {"devices: {a: {aliases: [b c]}}\n",
         "my.yaml:1:25: 'b c' is no name for a part: letters, digits and . - _ + / are expected"},
        {"devices: {a: {aliases: b}}\n", "my.yaml:1:24: 'aliases' is 'b', a list is expected"},
        {"devices: {a: {aliases: [[b]]}}\n", "my.yaml:1:25: 'aliases' is a list, text is expected"},
        {"devices: {a1: {aliases: [a2]}, a3: {aliases: [A2]}}\n",
         "my.yaml:1:47: the name 'A2' is taken by the device 'a1'"},
        {"cables: {c: {connector: f, lengths_m: 5}}\n",
         "my.yaml:1:39: 'lengths_m' is '5', a list is expected"},
        {"servers: {h100: {gpus_per_node: 65}}\n",
         "my.yaml:1:33: 'gpus_per_node' is '65', a whole number from 1 to 64 is expected"},
        {"servers: {t: {gpu: h100-gpu, gpus_per_node: 1, nics: [x]}}\n",
         "my.yaml:1:54: 'nics' is a list, a map of keys is expected"},
        {"servers: {t: {gpu: h100-gpu, gpus_per_node: 1, nics: {oob: x}}}\n",
         "my.yaml:1:60: 'oob' is 'x', a map of keys is expected"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_true(add_text(f, rows[i].text) < 0);
        assert_string_equal(f->err.message, rows[i].says);
    }
}

/* A name that is too long by one is refused; the longest is found again. */
static void a_name_has_ninety_six_bytes_at_most(void **state)
{
    struct fixture *f = *state;
    for (int len = 95; len <= 97; len++) {
        const char *name = myr_arena_printf(&f->arena, "D%0*d", len - 1, 0);
        const char *text = myr_arena_printf(&f->arena, "devices: {%s: {}}\n", name);
        assert_int_equal(add_text(f, text), len <= 96 ? MYR_OK : MYR_ERANGE);
        assert_int_equal(myr_catalog_find(&f->catalog, myr_str_from(name)) != MYR_PART_NONE,
                         len <= 96);
    }
    assert_string_equal(f->err.message,
                        "my.yaml:1:11: a name of 97 bytes, at most 96 are expected");
}

/* A day, or a month alone. */
static void a_book_is_of_a_day_or_of_a_month(void **state)
{
    static const struct {
        const char *date;
        bool good;
    } rows[] = {
        {"2024-06", true},  {"2024-12", true},     {"2024-02-29", true}, {"2024-00", false},
        {"2024-13", false}, {"2024-6", false},     {"2024", false},      {"2023-02-29", false},
        {"2024/06", false}, {"2024-06-31", false}, {"24-06-01", false},  {"2024-06-1", false},
        {"june 24", false},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char wanted[120];
        const char *text =
            myr_arena_printf(&f->arena, "prices: {dated-%zu: {date: %s}}\n", i, rows[i].date);
        int rc = add_text(f, text);
        if (rows[i].good) {
            assert_int_equal(rc, MYR_OK);
            assert_string_equal(f->catalog.books.items[f->catalog.books.count - 1].date,
                                rows[i].date);
            continue;
        }
        assert_int_equal(rc, MYR_EINVAL);
        snprintf(wanted, sizeof(wanted),
                 "my.yaml:1:%zu: 'date' is '%s', a date like 2026-11-16 or 2026-11 is expected",
                 i < 10 ? (size_t)26 : (size_t)27, rows[i].date);
        assert_string_equal(f->err.message, wanted);
    }
}

/* Ports counted one by one: those of a cage, or those of each connector where splitters divide. */
static uint32_t naive_ports(const struct myr_part_switch *sw, uint32_t gbps)
{
    uint32_t ports = 0;
    bool can = gbps == sw->port_gbps;
    for (uint32_t i = 0; i < sw->splits.count; i++) {
        can |= sw->splits.items[i] == gbps;
    }
    if (!can || gbps == 0) {
        return 0;
    }
    if (sw->breakout == MYR_BREAKOUT_MODULE || gbps >= sw->port_gbps) {
        for (uint32_t used = gbps; used <= sw->cage_gbps; used += gbps) {
            ports++;
        }
        return ports;
    }
    for (uint32_t at = sw->port_gbps; gbps <= sw->cage_gbps && at <= sw->cage_gbps;
         at += sw->port_gbps) {
        for (uint32_t used = gbps; used <= sw->port_gbps; used += gbps) {
            ports++;
        }
    }
    return ports;
}

static void ports_are_what_cages_and_splitters_give(void **state)
{
    struct myr_rng rng;
    const uint64_t seed = 20261118;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    myr_rng_init(&rng, seed, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(4000); round++) {
        struct myr_part_switch sw = {.cages = 1 + myr_rng_below(&rng, 5),
                                     .cage_gbps = 1 + myr_rng_below(&rng, 24),
                                     .port_gbps = 1 + myr_rng_below(&rng, 12),
                                     .breakout = myr_rng_below(&rng, 2) ? MYR_BREAKOUT_MODULE
                                                                        : MYR_BREAKOUT_SPLITTER,
                                     .ports_max = myr_rng_below(&rng, 3) * 7,
                                     .splits.count = myr_rng_below(&rng, 4)};
        for (uint32_t i = 0; i < sw.splits.count; i++) {
            sw.splits.items[i] = myr_rng_below(&rng, 14);
        }
        for (uint32_t gbps = 0; gbps < 16; gbps++) {
            uint32_t ports = naive_ports(&sw, gbps), all = sw.cages * ports;
            assert_int_equal(myr_switch_ports_per_cage(&sw, gbps), ports);
            assert_int_equal(myr_switch_radix(&sw, gbps),
                             sw.ports_max && all > sw.ports_max ? sw.ports_max : all);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_catalog, close_catalog)
        TEST(what_a_switch_or_a_card_does_not_say_is_assumed),
        TEST(what_the_other_kinds_do_not_say_is_assumed),
        TEST(a_part_without_a_title_is_called_by_its_order_number),
        TEST(an_override_changes_what_it_gives),
        TEST(a_family_has_a_part_for_each_length),
        TEST(names_in_a_part_lead_to_parts),
        TEST(names_of_parts_are_refused_with_the_reason),
        TEST(a_name_has_ninety_six_bytes_at_most),
        TEST(a_book_is_of_a_day_or_of_a_month),
        cmocka_unit_test(ports_are_what_cages_and_splitters_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
