#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "model_test.h"

static const char all_kinds[] =
    "switches:\n"
    "  t-sw: {technology: ethernet, cages: 2, form: osfp, cage_gbps: 800, port_gbps: 400,\n"
    "         splits: [200, 100], breakout: module, uplink_gbps: 50, ports_max: 3,\n"
    "         watts_copper: 4.5, order: O, title: T, vendor: V, source: S, watts: 6,\n"
    "         rack_units: 7, weight_kg: 8, assumed: true, top: finned, takes: qsfp56 sfp, lanes: "
    "9,\n"
    "         lane_gbps: 10, lane_also: [11], mgmt_ports: 2, chips: 4, per_box: 3}\n"
    "nics:\n"
    "  t-nic: {technology: infiniband, form: qsfp, top: flat, cages: 2, cage_ports: 3,\n"
    "          port_gbps: 4, also: [5, 6], takes: sfp, lanes: 7, lane_gbps: 8, lane_also: [9],\n"
    "          cards: 10, card_gbps: 11}\n"
    "  t-any: {form: qsfp, port_gbps: 1}\n"
    "gpus:\n"
    "  t-gpu: {memory_gb: 1, memory_gbytes_per_s: 2, bf16_tflops: 3, fp8_tflops: 4,\n"
    "          fp4_tflops: 5}\n"
    "servers:\n"
    "  t-srv: {gpu: t-gpu, nodes: 2, gpus_per_node: 3, rails: 4, numa: 5,\n"
    "          pcie_switches: 6, pcie_gen: 7, scale_up_gpus: 8, scale_up_gbps: 9,\n"
    "          scale_up_switches: 10, scale_up_kind: mesh, dpu: t-nic,\n"
    "          nics: {compute: {nic: t-nic, count: 11}, oob: {nic: t-any, count: 0}}}\n"
    "transceivers:\n"
    "  t-opt: {form: osfp, top: finned, connector: mpo, fits: switch, cage_gbps: 1,\n"
    "          connectors: 2, port_gbps: 3, lane_gbps: 4, also: [7], medium: singlemode,\n"
    "          wavelength_nm: 5, reach_m: 6.5, lanes: 8, cage_lane_gbps: 9, built_in: true,\n"
    "          technology: ethernet, grid: cwdm4}\n"
    "cables:\n"
    "  t-cab: {medium: multimode, legs: 2, length_m: 3.5, connector: mpo, form_b: sfp,\n"
    "          fixed_ends: true, gbps: 4, top: finned, top_b: flat, lanes: 5, lane_gbps: 6,\n"
    "          technology: infiniband}\n"
    "storage:\n"
    "  t-sto: {disks: 1, disk_gb: 2, nic: t-nic, nic_ports: 3, software: storage-software}\n"
    "ethernet:\n"
    "  t-eth: {access_ports: 1, access_gbps: 2, uplink_ports: 3, uplink_gbps: 4,\n"
    "          access_form: rj45, uplink_form: sfp, mgmt_ports: 5}\n"
    "devices:\n"
    "  t-dev: {nic: t-nic}\n";

static void every_field_of_switches_cards_and_gpus_is_read(void **state)
{
    struct fixture *f = *state;
    assert_added(f, all_kinds);
    const struct myr_part *part = get_part(f, "t-sw");
    const struct myr_part_switch *sw = &part->sw;
    assert_int_equal(part->kind, MYR_PART_SWITCH);
    assert_true(sw->technology == MYR_TECH_ETHERNET && sw->cages == 2 && sw->cage_gbps == 800);
    assert_true(sw->port_gbps == 400 && sw->uplink_gbps == 50 && sw->ports_max == 3);
    assert_true(sw->splits.count == 2 && sw->splits.items[0] == 200 && sw->splits.items[1] == 100);
    assert_true(sw->breakout == MYR_BREAKOUT_MODULE && sw->watts_copper == 4.5);
    assert_string_equal(sw->form, "osfp");
    assert_true(sw->lanes == 9 && sw->lane_gbps == 10 && sw->lane_also.items[0] == 11);
    assert_true(sw->mgmt_ports == 2 && sw->chips == 4 && sw->per_box == 3);
    assert_string_equal(sw->top, "finned");
    assert_string_equal(sw->takes, "qsfp56 sfp");
    assert_string_equal(part->order, "O");
    assert_string_equal(part->title, "T");
    assert_string_equal(part->vendor, "V");
    assert_string_equal(part->source, "S");
    assert_true(part->watts == 6 && part->rack_units == 7 && part->weight_kg == 8);
    assert_true(part->assumed);

    const struct myr_part_nic *nic = &get_part(f, "t-nic")->nic;
    assert_true(nic->technology == MYR_TECH_INFINIBAND && nic->cages == 2 && nic->cage_ports == 3);
    assert_true(nic->port_gbps == 4 && nic->also.count == 2 && nic->also.items[1] == 6);
    assert_string_equal(nic->form, "qsfp");
    assert_string_equal(nic->top, "flat");
    assert_true(nic->lanes == 7 && nic->lane_gbps == 8 && nic->lane_also.items[0] == 9);
    assert_true(nic->cards == 10 && nic->card_gbps == 11);
    assert_string_equal(nic->takes, "sfp");
    nic = &get_part(f, "t-any")->nic;
    assert_true(nic->cards == 1 && nic->card_gbps == 0 && nic->lanes == 0 && !nic->takes);
    assert_true(nic->technology == MYR_TECH_ANY && nic->cages == 1 && nic->cage_ports == 1);

    const struct myr_part_gpu *gpu = &get_part(f, "t-gpu")->gpu;
    assert_true(gpu->memory_gb == 1 && gpu->memory_gbytes_per_s == 2 && gpu->bf16_tflops == 3 &&
                gpu->fp8_tflops == 4 && gpu->fp4_tflops == 5);
}

static void every_field_of_the_other_kinds_is_read(void **state)
{
    struct fixture *f = *state;
    assert_added(f, all_kinds);
    const struct myr_part_server *server = &get_part(f, "t-srv")->server;
    assert_string_equal(server->gpu, "t-gpu");
    assert_true(server->nodes == 2 && server->gpus_per_node == 3 && server->rails == 4);
    assert_true(server->numa == 5 && server->pcie_switches == 6 && server->pcie_gen == 7);
    assert_true(server->scale_up_gpus == 8 && server->scale_up_gbps == 9);
    assert_true(server->scale_up_switches == 10);
    assert_string_equal(server->scale_up_kind, "mesh");
    assert_string_equal(server->dpu, "t-nic");
    assert_string_equal(server->nics[MYR_NET_COMPUTE].nic, "t-nic");
    assert_int_equal(server->nics[MYR_NET_COMPUTE].count, 11);
    assert_string_equal(server->nics[MYR_NET_OOB].nic, "t-any");
    assert_null(server->nics[MYR_NET_SERVICE].nic);

    const struct myr_part_transceiver *optic = &get_part(f, "t-opt")->optic;
    assert_string_equal(optic->form, "osfp");
    assert_string_equal(optic->top, "finned");
    assert_string_equal(optic->connector, "mpo");
    assert_string_equal(optic->fits, "switch");
    assert_true(optic->cage_gbps == 1 && optic->connectors == 2 && optic->port_gbps == 3);
    assert_true(optic->lane_gbps == 4 && optic->also.count == 1 && optic->also.items[0] == 7);
    assert_true(optic->medium == MYR_MEDIUM_SINGLE && optic->wavelength_nm == 5);
    assert_true(optic->reach_m == 6.5 && optic->lanes == 8 && optic->cage_lane_gbps == 9);
    assert_true(optic->built_in && optic->technology == MYR_TECH_ETHERNET);
    assert_string_equal(optic->grid, "cwdm4");

    const struct myr_part_cable *cable = &get_part(f, "t-cab")->cable;
    assert_true(cable->medium == MYR_MEDIUM_MULTI && cable->legs == 2);
    assert_true(cable->length_m == 3.5 && cable->fixed_ends && cable->gbps == 4);
    assert_string_equal(cable->connector, "mpo");
    assert_string_equal(cable->form_b, "sfp");
    assert_string_equal(cable->top, "finned");
    assert_string_equal(cable->top_b, "flat");
    assert_true(cable->lanes == 5 && cable->lane_gbps == 6);
    assert_true(cable->technology == MYR_TECH_INFINIBAND);

    const struct myr_part_storage *storage = &get_part(f, "t-sto")->storage;
    assert_true(storage->disks == 1 && storage->disk_gb == 2 && storage->nic_ports == 3);
    assert_string_equal(storage->nic, "t-nic");
    assert_string_equal(storage->software, "storage-software");

    const struct myr_part_ethernet *eth = &get_part(f, "t-eth")->eth;
    assert_true(eth->access_ports == 1 && eth->access_gbps == 2 && eth->uplink_ports == 3 &&
                eth->uplink_gbps == 4 && eth->mgmt_ports == 5);
    assert_string_equal(eth->access_form, "rj45");
    assert_string_equal(eth->uplink_form, "sfp");
    assert_string_equal(get_part(f, "t-dev")->device.nic, "t-nic");
}

static const struct {
    const char *section, *key, *rest;
    const char *below, *least, *most, *above;
} ranges[] = {
    {"devices", "watts", "", "-1", "0", "1e9", "2e9"},
    {"devices", "rack_units", "", "-1", "0", "100", "101"},
    {"devices", "weight_kg", "", "-1", "0", "1e5", "100001"},
#define SWITCH "form: f, "
    {"switches", "cages", SWITCH "cage_gbps: 1, port_gbps: 1", "0", "1", "1024", "1025"},
    {"switches", "cage_gbps", SWITCH "cages: 1, port_gbps: 1", "0", "1", "100000", "100001"},
    {"switches", "port_gbps", SWITCH "cages: 1, cage_gbps: 1", "0", "1", "100000", "100001"},
    {"switches", "uplink_gbps", SWITCH "cages: 1, cage_gbps: 1, port_gbps: 1", "0", "1", "100000",
     "100001"},
    {"switches", "ports_max", SWITCH "cages: 1, cage_gbps: 1, port_gbps: 1", "0", "1", "4096",
     "4097"},
#define WHOLE SWITCH "cages: 1, cage_gbps: 1, port_gbps: 1"
    {"switches", "watts_copper", WHOLE, "-1", "0", "1e9", "2e9"},
    {"switches", "watts_multimode", WHOLE, "-1", "0", "1e9", "2e9"},
    {"switches", "buffer_mb", WHOLE, "-1", "0", "1e9", "2e9"},
    {"switches", "lanes", WHOLE, "0", "1", "64", "65"},
    {"switches", "lane_gbps", WHOLE, "0", "1", "1000", "1001"},
    {"switches", "mgmt_ports", WHOLE, "-1", "0", "16", "17"},
    {"switches", "chips", WHOLE, "0", "1", "16", "17"},
    {"switches", "per_box", WHOLE, "0", "1", "16", "17"},
    {"switches", "splits", WHOLE, "[0]", "[1]", "[100000]", "[100001]"},
    {"switches", "lane_also", WHOLE, "[0]", "[1, 2, 3, 4]", "[1, 2, 3, 4, 5, 6, 7, 8]",
     "[1, 2, 3, 4, 5, 6, 7, 8, 9]"},
    {"nics", "cages", "form: f, port_gbps: 1", "0", "1", "16", "17"},
    {"nics", "lanes", "form: f, port_gbps: 1", "0", "1", "64", "65"},
    {"nics", "lane_gbps", "form: f, port_gbps: 1", "0", "1", "1000", "1001"},
    {"nics", "cards", "form: f, port_gbps: 1", "0", "1", "16", "17"},
    {"nics", "card_gbps", "form: f, port_gbps: 1", "0", "1", "100000", "100001"},
    {"nics", "cage_ports", "form: f, port_gbps: 1", "0", "1", "8", "9"},
    {"nics", "port_gbps", "form: f", "0", "1", "100000", "100001"},
    {"gpus", "memory_gb", "", "-1", "0", "1e9", "2e9"},
    {"gpus", "bf16_tflops", "", "-1", "0", "1e9", "2e9"},
    {"gpus", "memory_gbytes_per_s", "", "-1", "0", "1e9", "2e9"},
    {"gpus", "fp8_tflops", "", "-1", "0", "1e9", "2e9"},
    {"gpus", "fp4_tflops", "", "-1", "0", "1e9", "2e9"},
#define SERVER "gpu: h100-gpu, gpus_per_node: 1"
    {"servers", "nodes", SERVER, "0", "1", "4096", "4097"},
    {"servers", "gpus_per_node", "gpu: h100-gpu", "0", "1", "64", "65"},
    {"servers", "rails", SERVER, "0", "1", "64", "65"},
    {"servers", "numa", SERVER, "0", "1", "16", "17"},
    {"servers", "pcie_switches", SERVER, "-1", "0", "32", "33"},
    {"servers", "pcie_gen", SERVER, "0", "1", "9", "10"},
    {"servers", "scale_up_gpus", SERVER, "0", "1", "65536", "65537"},
    {"servers", "scale_up_gbps", SERVER, "0", "1", "1000000", "1000001"},
    {"servers", "scale_up_switches", SERVER, "-1", "0", "4096", "4097"},
    {"servers", "nics", SERVER, "{oob: {nic: cx7-400g, count: -1}}",
     "{oob: {nic: cx7-400g, count: 0}}", "{oob: {nic: cx7-400g, count: 64}}",
     "{oob: {nic: cx7-400g, count: 65}}"},
#define OPTIC "form: f, connector: c, cage_gbps: 1, port_gbps: 1"
    {"transceivers", "connectors", OPTIC ", reach_m: 1", "0", "1", "16", "17"},
    {"transceivers", "lane_gbps", OPTIC ", reach_m: 1", "0", "1", "1000", "1001"},
    {"transceivers", "wavelength_nm", OPTIC ", reach_m: 1", "0", "1", "10000", "10001"},
    {"transceivers", "lanes", OPTIC ", reach_m: 1", "0", "1", "64", "65"},
    {"transceivers", "cage_lane_gbps", OPTIC ", reach_m: 1", "0", "1", "1000", "1001"},
    {"transceivers", "cage_gbps", "form: f, connector: c, port_gbps: 1, reach_m: 1", "0", "1",
     "100000", "100001"},
    {"transceivers", "port_gbps", "form: f, connector: c, cage_gbps: 1, reach_m: 1", "0", "1",
     "100000", "100001"},
    {"transceivers", "reach_m", OPTIC, "0.05", "0.1", "1e6", "1000001"},
    {"cables", "legs", "length_m: 1, connector: c", "0", "1", "8", "9"},
    {"cables", "length_m", "connector: c", "0.05", "0.1", "1e6", "1000001"},
    {"cables", "gbps", "length_m: 1, connector: c", "0", "1", "100000", "100001"},
    {"cables", "lanes", "length_m: 1, connector: c", "0", "1", "64", "65"},
    {"cables", "lane_gbps", "length_m: 1, connector: c", "0", "1", "1000", "1001"},
    {"storage", "disks", "disk_gb: 1", "0", "1", "1000", "1001"},
    {"storage", "disk_gb", "disks: 1", "0", "1", "1000000000", "1000000001"},
    {"storage", "nic_ports", "disks: 1, disk_gb: 1", "0", "1", "64", "65"},
    {"storage", "disk_read_mbytes", "disks: 1, disk_gb: 1", "-1", "0", "1e6", "1000001"},
    {"storage", "disk_write_mbytes", "disks: 1, disk_gb: 1", "-1", "0", "1e6", "1000001"},
    {"storage", "iops", "disks: 1, disk_gb: 1", "-1", "0", "1e9", "2e9"},
    {"storage", "metadata_ops", "disks: 1, disk_gb: 1", "-1", "0", "1e9", "2e9"},
    {"storage", "processors", "disks: 1, disk_gb: 1", "0", "1", "64", "65"},
    {"storage", "processor_cores", "disks: 1, disk_gb: 1", "0", "1", "1024", "1025"},
    {"storage", "memory_gb", "disks: 1, disk_gb: 1", "0", "1", "1000000", "1000001"},
    {"storage", "system_disks", "disks: 1, disk_gb: 1", "0", "1", "64", "65"},
    {"storage", "system_disk_gb", "disks: 1, disk_gb: 1", "0", "1", "1000000", "1000001"},
    {"storage", "metadata_disks", "disks: 1, disk_gb: 1", "0", "1", "64", "65"},
    {"storage", "metadata_disk_gb", "disks: 1, disk_gb: 1", "0", "1", "1000000", "1000001"},
    {"ethernet", "access_ports", "access_gbps: 1", "0", "1", "1024", "1025"},
    {"ethernet", "access_gbps", "access_ports: 1", "0", "1", "100000", "100001"},
    {"ethernet", "uplink_ports", "access_ports: 1, access_gbps: 1, uplink_gbps: 1", "-1", "0",
     "1024", "1025"},
    {"ethernet", "uplink_gbps", "access_ports: 1, access_gbps: 1", "0", "1", "100000", "100001"},
    {"ethernet", "mgmt_ports", "access_ports: 1, access_gbps: 1", "-1", "0", "16", "17"},
};

/* Both ends of a range are taken, what lies beyond is refused with the range. */
static void numbers_of_parts_have_limits(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ranges); i++) {
        const char *const numbers[] = {ranges[i].below, ranges[i].least, ranges[i].most,
                                       ranges[i].above};
        for (size_t k = 0; k < MYR_ARRAY_COUNT(numbers); k++) {
            const char *text = myr_arena_printf(&f->arena, "%s:\n  t-%zu-%zu: {%s: %s%s%s}\n",
                                                ranges[i].section, i, k, ranges[i].key, numbers[k],
                                                ranges[i].rest[0] ? ", " : "", ranges[i].rest);
            bool good = k == 1 || k == 2;
            if ((add_text(f, text) >= 0) != good) {
                fail_msg("%s: %s", text, good ? f->err.message : "was read");
            }
            assert_true(good || strstr(f->err.message, " expected"));
        }
    }
}

/* What later code divides by or points through must be there. */
static void a_part_without_what_is_needed_is_refused(void **state)
{
    static const struct {
        const char *text, *lacks;
    } rows[] = {
        {"switches: {t: {form: f, cage_gbps: 1, port_gbps: 1}}\n", "'cages'"},
        {"switches: {t: {form: f, cages: 1, port_gbps: 1}}\n", "'cage_gbps'"},
        {"switches: {t: {form: f, cages: 1, cage_gbps: 1}}\n", "'port_gbps'"},
        {"switches: {t: {cages: 1, cage_gbps: 1, port_gbps: 1}}\n", "'form'"},
        {"nics: {t: {port_gbps: 1}}\n", "'form'"},
        {"nics: {t: {form: f}}\n", "'port_gbps'"},
        {"servers: {t: {gpus_per_node: 1}}\n", "'gpu'"},
        {"servers: {t: {gpu: h100-gpu}}\n", "'gpus_per_node'"},
        {"transceivers: {t: {connector: c, cage_gbps: 1, port_gbps: 1, reach_m: 1}}\n", "'form'"},
        {"transceivers: {t: {form: f, connector: c, port_gbps: 1, reach_m: 1}}\n", "'cage_gbps'"},
        {"transceivers: {t: {form: f, connector: c, cage_gbps: 1, reach_m: 1}}\n", "'port_gbps'"},
        {"transceivers: {t: {form: f, cage_gbps: 1, port_gbps: 1, reach_m: 1}}\n", "'connector'"},
        {"transceivers: {t: {form: f, connector: c, cage_gbps: 1, port_gbps: 1}}\n", "'reach_m'"},
        {"cables: {t: {connector: c}}\n", "'length_m'"},
        {"cables: {t: {length_m: 1}}\n", "'connector'"},
        {"storage: {t: {disk_gb: 1}}\n", "'disks'"},
        {"storage: {t: {disks: 1}}\n", "'disk_gb'"},
        {"ethernet: {t: {access_gbps: 1}}\n", "'access_ports'"},
        {"ethernet: {t: {access_ports: 1}}\n", "'access_gbps'"},
        {"ethernet: {t: {access_ports: 1, access_gbps: 1, uplink_ports: 1}}\n", "'uplink_gbps'"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_int_equal(add_text(f, rows[i].text), MYR_EINVAL);
        assert_non_null(strstr(f->err.message, "lacks"));
        assert_non_null(strstr(f->err.message, rows[i].lacks));
    }
}

static void names_hold_nothing_that_needs_quoting(void **state)
{
    struct fixture *f = *state;
    assert_added(f, "devices: {\"aZ09.-_+/\xE4\xB8\x87\": {watts: 1}}\n");
    assert_true(get_part(f, "Az09.-_+/\xE4\xB8\x87")->watts == 1);
    const char *const bad[] = {"a b", "a,b", "a;b", "a@b", "a[b", "a`b", "a{b", "a:b", "a'b"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        const char *text = myr_arena_printf(&f->arena, "devices: {\"%s\": {watts: 1}}\n", bad[i]);
        assert_int_equal(add_text(f, text), MYR_EINVAL);
        assert_non_null(strstr(f->err.message, "is no name for a part"));
    }
    char text[256];
    snprintf(text, sizeof(text), "devices: {d%095d: {watts: 5}}\n", 0);
    assert_added(f, text); /* 96 bytes are the limit */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_catalog, close_catalog)
        TEST(every_field_of_switches_cards_and_gpus_is_read),
        TEST(every_field_of_the_other_kinds_is_read),
        TEST(numbers_of_parts_have_limits),
        TEST(a_part_without_what_is_needed_is_refused),
        TEST(names_hold_nothing_that_needs_quoting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
