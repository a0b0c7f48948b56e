#include "myriad/model/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "model_test.h"

static const struct myr_price_book *get_book(const struct fixture *f, const char *id)
{
    for (size_t i = 0; i < f->catalog.books.count; i++) {
        if (strcmp(f->catalog.books.items[i].id, id) == 0) {
            return &f->catalog.books.items[i];
        }
    }
    fail_msg("no price book '%s'", id);
    return NULL;
}

static void every_builtin_part_has_an_id_a_title_and_a_source(void **state)
{
    const struct fixture *f = *state;
    uint32_t of_kind[MYR_PART_KIND_COUNT] = {};
    for (size_t i = 0; i < f->catalog.parts.count; i++) {
        const struct myr_part *part = &f->catalog.parts.items[i];
        of_kind[part->kind]++;
        if (!part->title || !part->order || !part->source || !part->source[0]) {
            fail_msg("'%s' lacks a title, an order number or a source", part->id);
        }
        for (const char *c = part->id; *c; c++) {
            if (*c >= 'A' && *c <= 'Z') {
                fail_msg("the id '%s' is not lower case", part->id);
            }
        }
        assert_int_equal(find_part(f, part->id), i);
    }
    for (uint32_t kind = 0; kind < MYR_PART_KIND_COUNT; kind++) {
        if (of_kind[kind] == 0) {
            fail_msg("no %s in the catalogue", myr_part_kind_name((enum myr_part_kind)kind));
        }
    }
}

static void names_that_people_type_lead_to_the_part(void **state)
{
    static const char *const names[][2] = {
        {"h100", "h100-8gpu"},
        {"DGX-H100", "dgx-h100"},
        {"hgx-h100", "h100-8gpu"},
        {"a100", "a100-8gpu"},
        {"h800", "h800-8gpu"},
        {"h200", "h200-8gpu"},
        {"b200", "b200-8gpu"},
        {"dgx-b300", "b300-8gpu"},
        {"b300-xdr", "b300-8gpu-xdr"},
        {"nvl72", "gb200-nvl72"},
        {"gb300", "gb300-nvl72"},
        {"910b", "ascend-910b-8npu"},
        {"cloudmatrix", "cloudmatrix-384"},
        {"mi300x", "mi300x-8gpu"},
        {"MQM9790", "mqm9790-ns2f"},
        {"quantum-2", "mqm9790-ns2f"},
        {"qm9700", "mqm9700-ns2f"},
        {"quantum-x800", "q3400"},
        {"qm8700", "mqm8700-hs2f"},
        {"51.2T", "sn5600"},
        {"spectrum-4", "sn5600"},
        {"tomahawk5", "sn5600"},
        {"102.4t", "eth-102t4"},
        {"25.6t", "eth-25t6"},
        {"cx7", "cx7-400g-osfp"},
        {"bf3", "bluefield3-2x200g"},
        {"MMA1T00-HS", "mma1t00-hs"},
    };
    const struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_string_equal(get_part(f, names[i][0])->id, names[i][1]);
    }
    for (uint32_t i = 0; i < f->catalog.names.count; i++) {
        uint32_t part = myr_catalog_find(&f->catalog, f->catalog.names.keys[i]);
        assert_int_equal(part, f->catalog.names.values[i]);
    }
    assert_int_equal(myr_catalog_find(&f->catalog, MYR_STR("h101")), MYR_PART_NONE);
}

static void ports_of_a_switch_follow_from_its_cages(void **state)
{
    static const struct {
        const char *name;
        uint32_t gbps, ports;
    } rows[] = {
        {"mqm9790-ns2f", 400, 64},
        {"mqm9790-ns2f", 200, 128},
        {"mqm9790-ns2f", 800, 0},
        {"eth-25t6", 400, 64},
        {"eth-25t6", 200, 128},
        {"sn5600", 800, 64},
        {"sn5600", 400, 128},
        {"sn5600", 200, 256},
        {"sn5600", 100, 256}, /* the chip addresses no more */
        {"q3400", 800, 144},
        {"q3400", 400, 288},
        {"eth-102t4", 800, 128},
        {"eth-102t4", 400, 256},
        {"eth-102t4", 200, 512},
        {"eth-102t4-128x800", 400, 256},
        {"eth-102t4-128x800", 200, 512},
        {"qm8790", 200, 40},
        {"qm8790", 100, 80},
        {"eth-12t8-64x200", 200, 64},
        {"eth-12t8-32x400", 400, 32},
        {"eth-12t8-128x100", 100, 128},
        {"eth-modular-576x400", 400, 576},
    };
    const struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const struct myr_part *part = get_part(f, rows[i].name);
        if (myr_switch_radix(&part->sw, rows[i].gbps) != rows[i].ports) {
            fail_msg("%s at %uG has %u ports, %u expected", rows[i].name, rows[i].gbps,
                     myr_switch_radix(&part->sw, rows[i].gbps), rows[i].ports);
        }
    }
}

static void servers_have_the_gpus_and_ports_of_their_kind(void **state)
{
    static const struct {
        const char *name;
        uint32_t gpus, nodes, scale_up, compute_ports, port_gbps, storage_ports;
    } rows[] = {
        {"a100-8gpu", 8, 1, 8, 8, 200, 2},
        {"h100-8gpu", 8, 1, 8, 8, 400, 2},
        {"h800-8gpu", 8, 1, 8, 8, 400, 2},
        {"h200-8gpu", 8, 1, 8, 8, 400, 2},
        {"b200-8gpu", 8, 1, 8, 8, 400, 2},
        {"b300-8gpu", 8, 1, 8, 16, 400, 2},
        {"b300-8gpu-xdr", 8, 1, 8, 8, 800, 2},
        {"b300-8gpu-4x200", 8, 1, 8, 32, 200, 2},
        {"h100-8gpu-2x200", 8, 1, 8, 16, 200, 2},
        {"gb200-nvl72", 72, 18, 72, 4, 400, 2},
        {"gb300-nvl72", 72, 18, 72, 4, 800, 2},
        {"ascend-910b-8npu", 8, 1, 8, 8, 200, 2},
        {"cloudmatrix-384", 384, 48, 384, 8, 400, 1},
        {"mi300x-8gpu", 8, 1, 8, 8, 400, 2},
        {"generic-1gpu", 1, 1, 1, 1, 400, 0},
    };
    const struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const struct myr_part_server *server = &get_part(f, rows[i].name)->server;
        uint32_t ports[MYR_NET_COUNT] = {};
        for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
            if (server->nics[net].nic) {
                const struct myr_part_nic *nic = &get_part(f, server->nics[net].nic)->nic;
                ports[net] = server->nics[net].count * nic->cages * nic->cage_ports;
            }
        }
        assert_int_equal(server->nodes * server->gpus_per_node, rows[i].gpus);
        assert_int_equal(server->nodes, rows[i].nodes);
        assert_int_equal(server->scale_up_gpus, rows[i].scale_up);
        assert_int_equal(ports[MYR_NET_COMPUTE], rows[i].compute_ports);
        assert_int_equal(get_part(f, server->nics[MYR_NET_COMPUTE].nic)->nic.port_gbps,
                         rows[i].port_gbps);
        assert_int_equal(ports[MYR_NET_STORAGE], rows[i].storage_ports);
        assert_int_equal(ports[MYR_NET_OOB], 1);
    }
}

static bool text_eq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool optic_runs_at(const struct myr_part_transceiver *optic, uint32_t gbps)
{
    bool can = optic->port_gbps == gbps;
    for (uint32_t i = 0; i < optic->also.count; i++) {
        can = can || optic->also.items[i] == gbps;
    }
    return can;
}

static bool made_for(const struct myr_part_transceiver *optic, const char *nic_id)
{
    const char *word = optic->fits;
    while (word && *word) {
        size_t len = strcspn(word, " ");
        if (strncmp(word, nic_id, len) == 0) {
            return true;
        }
        word += len + (word[len] == ' ');
    }
    return optic->fits == NULL;
}

/* One link as the cages see it: a naive copy of the rules, to check the data by. */
struct link {
    const struct myr_part *sw, *nic;
    uint32_t gbps;
    uint32_t legs; /* of the cable */
};

static bool fits_switch(const struct link *link, const struct myr_part_transceiver *optic)
{
    const struct myr_part_switch *sw = &link->sw->sw;
    uint32_t connector_gbps = link->gbps * link->legs;
    return text_eq(optic->form, sw->form) && !text_eq(optic->top, "flat") &&
           optic->cage_gbps == sw->cage_gbps && optic->port_gbps == connector_gbps &&
           optic->connectors * connector_gbps == sw->cage_gbps;
}

static bool fits_nic(const struct link *link, const struct myr_part_transceiver *optic)
{
    const struct myr_part_nic *nic = &link->nic->nic;
    return text_eq(optic->form, nic->form) && (!nic->top || text_eq(optic->top, nic->top)) &&
           optic->connectors == nic->cage_ports && optic_runs_at(optic, link->gbps) &&
           made_for(optic, link->nic->id);
}

static bool fibre_joins(const struct fixture *f, const struct link *link,
                        const struct myr_part_transceiver *a, const struct myr_part_transceiver *b)
{
    if (a->medium != b->medium || a->wavelength_nm != b->wavelength_nm ||
        !text_eq(a->connector, b->connector)) {
        return false;
    }
    for (size_t i = 0; i < f->catalog.parts.count; i++) {
        const struct myr_part *part = &f->catalog.parts.items[i];
        if (part->kind == MYR_PART_CABLE && !part->cable.fixed_ends &&
            part->cable.medium == a->medium && part->cable.legs == link->legs &&
            text_eq(part->cable.connector, a->connector)) {
            return true;
        }
    }
    return false;
}

static uint32_t count_fitting_pairs(const struct fixture *f, const struct link *link)
{
    uint32_t pairs = 0;
    const struct myr_part *parts = f->catalog.parts.items;
    for (size_t i = 0; i < f->catalog.parts.count; i++) {
        if (parts[i].kind != MYR_PART_TRANSCEIVER || !fits_switch(link, &parts[i].optic)) {
            continue;
        }
        for (size_t k = 0; k < f->catalog.parts.count; k++) {
            pairs += parts[k].kind == MYR_PART_TRANSCEIVER && fits_nic(link, &parts[k].optic) &&
                     fibre_joins(f, link, &parts[i].optic, &parts[k].optic);
        }
    }
    return pairs;
}

static void common_links_find_modules_and_fibre(void **state)
{
    static const struct {
        const char *sw, *nic;
        uint32_t gbps, legs;
        bool fits;
    } rows[] = {
        {"mqm9790", "cx7-400g-osfp", 400, 1, true},
        {"mqm9790", "cx7-400g-qsfp112", 400, 1, true},
        {"mqm9790", "cx7-200g-qsfp112", 200, 2, true},
        {"mqm9790", "bluefield3-2x200g", 200, 2, true},
        /* HDR cards have no module that speaks to a 400G switch through a splitter. */
        {"mqm9790", "cx6-200g", 200, 2, false},
        {"sn5600", "cx7-400g-osfp", 400, 1, true},
        {"sn5600", "cx7-400g-qsfp112", 400, 1, true},
        {"sn5600", "cx8-2x400g", 400, 1, true},
        {"sn5600", "eth-400g-qsfp112", 400, 1, true},
        {"sn5600", "ascend-roce-400g", 400, 1, true},
        {"sn5600", "cx7-2x200g", 200, 1, true},
        {"sn5600", "bluefield3-2x200g", 200, 1, true},
        {"q3400", "cx8-800g", 800, 1, true},
        {"q3400", "cx8-800g", 400, 2, true},
        {"eth-102t4", "cx8-800g", 800, 1, true},
        {"eth-102t4", "cx8-4x200g", 200, 1, true},
        {"eth-128x800", "cx7-400g-osfp", 400, 1, true},
        {"eth-128x800", "cx7-2x200g", 200, 1, true},
        {"eth-25t6", "cx7-400g-qsfp112", 400, 1, true},
        {"eth-25t6", "cx7-2x200g", 200, 2, true},
        {"eth-12t8", "ascend-roce-200g", 200, 1, true},
        {"eth-12t8", "eth-200g-qsfp56", 200, 1, true},
        {"qm8790", "cx6-200g", 200, 1, true},
        {"eth-modular", "cx7-400g-qsfp112", 400, 1, true},
    };
    const struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct link link = {get_part(f, rows[i].sw), get_part(f, rows[i].nic), rows[i].gbps,
                            rows[i].legs};
        if ((count_fitting_pairs(f, &link) > 0) != rows[i].fits) {
            fail_msg("%s to %s at %uG: %u pairs of modules", rows[i].sw, rows[i].nic, rows[i].gbps,
                     count_fitting_pairs(f, &link));
        }
    }
}

/* Between two switches of one kind the same module stands at both ends. */
static void switches_can_be_joined_at_fabric_speed(void **state)
{
    const struct fixture *f = *state;
    const struct myr_part *parts = f->catalog.parts.items;
    for (size_t i = 0; i < f->catalog.parts.count; i++) {
        if (parts[i].kind != MYR_PART_SWITCH) {
            continue;
        }
        uint32_t gbps = parts[i].sw.uplink_gbps ? parts[i].sw.uplink_gbps : parts[i].sw.port_gbps;
        struct link link = {.sw = &parts[i], .gbps = gbps, .legs = 1};
        uint32_t modules = 0;
        for (size_t k = 0; k < f->catalog.parts.count; k++) {
            modules += parts[k].kind == MYR_PART_TRANSCEIVER &&
                       fits_switch(&link, &parts[k].optic) &&
                       fibre_joins(f, &link, &parts[k].optic, &parts[k].optic);
        }
        if (modules == 0) {
            fail_msg("%s: no module for %uG between switches", parts[i].id, gbps);
        }
    }
}

static void cables_come_in_lengths(void **state)
{
    const struct fixture *f = *state;
    const struct myr_part *fibre = get_part(f, "mfp7e30-n050");
    assert_string_equal(fibre->order, "MFP7E30-N050");
    assert_string_equal(fibre->title, "single-mode fibre, MPO12 APC both ends, 50 m");
    assert_true(fibre->cable.length_m == 50);
    assert_int_equal(fibre->cable.medium, MYR_MEDIUM_SINGLE);
    assert_int_equal(fibre->cable.legs, 1);

    const struct myr_part *copper = get_part(f, "MCP4Y10-N01A");
    assert_string_equal(copper->id, "mcp4y10-n01a");
    assert_string_equal(copper->title,
                        "passive copper 800G, OSFP both ends, between switches, 1.5 m");
    assert_true(copper->cable.length_m == 1.5);
    assert_true(copper->cable.fixed_ends);
    assert_true(get_part(f, "mcp4y10-n00a")->cable.length_m == 0.5);
    assert_true(get_part(f, "smf-lc-n2000")->cable.length_m == 2000);
    assert_int_equal(get_part(f, "mfp7e20-n030")->cable.legs, 2);
    assert_int_equal(myr_catalog_find(&f->catalog, MYR_STR("mfp7e30")), MYR_PART_NONE);
}

static void the_reference_design_keeps_its_prices(void **state)
{
    static const struct {
        const char *name;
        int64_t yuan;
    } rows[] = {
        {"mqm9790-ns2f", 208000},  {"mms4x00-ns", 14500},     {"mms4x00-ns400", 9800},
        {"mfp7e30-n050", 850},     {"mma1z00-ns400", 7200},   {"mfp7e20-n030", 950},
        {"iw-venus", 4800},        {"iw-support", 15000},     {"flash-22x15", 950000},
        {"eth-access-25g", 60000}, {"eth-core-100g", 110000}, {"eth-access-1g", 3800},
        {"eth-agg-10g", 11000},    {"firewall", 150000},      {"bastion", 100000},
        {"log-audit", 60000},
    };
    const struct fixture *f = *state;
    const struct myr_price_book *book = get_book(f, "cn-2024-05");
    assert_string_equal(book->currency, "CNY");
    assert_string_equal(book->date, "2024-05-23");
    uint32_t quoted = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const struct myr_price *price = myr_price_find(book, find_part(f, rows[i].name));
        assert_non_null(price);
        assert_int_equal(price->cents, rows[i].yuan * 100);
        assert_false(price->assumed);
    }
    for (size_t i = 0; i < book->prices.count; i++) {
        const struct myr_price *price = &book->prices.items[i];
        quoted += !price->assumed;
        /* What nobody quoted says how it was reached. */
        assert_true(!price->assumed || price->note);
    }
    assert_int_equal(quoted, MYR_ARRAY_COUNT(rows));
    assert_int_equal(myr_price_find(book, find_part(f, "iw-support"))->per_servers, 64);
    assert_int_equal(myr_price_find(book, find_part(f, "iw-venus"))->per_servers, 0);
    assert_true(myr_price_find(book, find_part(f, "mma4z00-ns"))->assumed);
    assert_null(myr_price_find(book, find_part(f, "storage-software")));
    assert_null(myr_price_find(book, find_part(f, "h100-8gpu")));
    assert_null(myr_price_find(NULL, find_part(f, "firewall")));
}

static void a_users_file_adds_parts_and_overrides_single_fields(void **state)
{
    struct fixture *f = *state;
    size_t before = f->catalog.parts.count;
    struct myr_part old = *get_part(f, "h100");
    assert_added(f, "prices:\n"
                    "  cn-2024-05: {parts: {firewall: 1.5, my-switch: 99}}\n"
                    "  mine: {currency: EUR, parts: {my-server: {price: 7, per_servers: 2}}}\n"
                    "servers:\n"
                    "  h100: {watts: 9000, nics: {storage: {nic: my-nic}}}\n"
                    "  My-Server: {gpu: h100-gpu, gpus_per_node: 4}\n"
                    "nics:\n"
                    "  my-nic: {form: osfp, port_gbps: 800, also: [400, 200]}\n"
                    "switches:\n"
                    "  my-switch: {aliases: [big], cages: 8, cage_gbps: 800, port_gbps: 400,\n"
                    "              splits: [200], form: osfp}\n"
                    "cables:\n"
                    "  mfp7e30-n050: {vendor: somebody}\n"
                    "  mfp7e30: {medium: singlemode, connector: mpo12-apc, lengths_m: [60]}\n");
    assert_int_equal(f->catalog.parts.count, before + 4);
    const struct myr_part *server = get_part(f, "h100-8gpu");
    assert_true(server->watts == 9000);
    assert_string_equal(server->server.nics[MYR_NET_STORAGE].nic, "my-nic");
    assert_int_equal(server->server.nics[MYR_NET_STORAGE].count, 2);
    assert_string_equal(server->title, old.title);
    assert_int_equal(server->server.scale_up_gbps, old.server.scale_up_gbps);
    assert_string_equal(get_part(f, "my-server")->order, "My-Server");
    assert_int_equal(get_part(f, "my-server")->server.nodes, 1);
    assert_int_equal(myr_switch_radix(&get_part(f, "BIG")->sw, 200), 32);
    assert_string_equal(get_part(f, "mfp7e30-n050")->vendor, "somebody");
    assert_true(get_part(f, "mfp7e30-n050")->cable.length_m == 50);
    assert_true(get_part(f, "mfp7e30-n060")->cable.length_m == 60);

    const struct myr_price_book *book = get_book(f, "cn-2024-05");
    assert_int_equal(myr_price_find(book, find_part(f, "firewall"))->cents, 150);
    assert_int_equal(myr_price_find(book, find_part(f, "bastion"))->cents, 10000000);
    assert_int_equal(myr_price_find(book, find_part(f, "my-switch"))->cents, 9900);
    assert_string_equal(get_book(f, "mine")->currency, "EUR");
    assert_null(myr_price_find(get_book(f, "mine"), find_part(f, "bastion")));
}

static void a_file_on_disk_is_named_in_the_complaint(void **state)
{
    struct fixture *f = *state;
    char path[] = "/tmp/myriad-catalog-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static const char text[] = "devices:\n  fire-wall: {watts: 5}\n  siren: {watts: loud}\n";
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    assert_int_equal(myr_catalog_add_file(&f->catalog, path, &f->err), MYR_EINVAL);
    unlink(path);
    char expected[64];
    snprintf(expected, sizeof(expected), "%s:3:18: ", path);
    assert_memory_equal(f->err.message, expected, strlen(expected));
    assert_true(get_part(f, "fire-wall")->watts == 5);
    assert_int_equal(myr_catalog_add_file(&f->catalog, "/nonexistent/x.yaml", &f->err), MYR_ENOENT);
}

static const struct {
    const char *text, *message;
} bad_catalogues[] = {
    {"- a\n", "my.yaml:1:1: 'a catalogue' is a list, a map of keys is expected"},
    {"swiches:\n  a: {}\n",
     "my.yaml:1:1: unknown key 'swiches' in a catalogue; did you mean 'switches'?"},
    {"switches: 3\n", "my.yaml:1:11: 'a catalogue section' is '3', a map of keys is expected"},
    {"switches:\n  a: 3\n", "my.yaml:2:6: 'a' is '3', a map of keys is expected"},
    {"switches:\n  a: {cagez: 3}\n",
     "my.yaml:2:7: unknown key 'cagez' in a; did you mean 'cages'?"},
    {"switches:\n  a: {cages: 0}\n",
     "my.yaml:2:14: 'cages' is '0', a whole number from 1 to 1,024 is expected"},
    {"switches:\n  a: {cages: 3, cage_gbps: 800, port_gbps: 400}\n",
     "my.yaml:2:3: switch 'a' lacks 'form'"},
    {"switches:\n  a: {nics: {}}\n", "my.yaml:2:7: unknown key 'nics' in a"},
    {"switches:\n  a: {technology: infiniban}\n",
     "my.yaml:2:19: 'technology' is 'infiniban', which is no known choice; did you mean "
     "'infiniband'?"},
    {"switches:\n  a: {splits: [1, 2, 3, 4, 5, 6, 7, 8, 9]}\n",
     "my.yaml:2:15: 'splits' has 9 entries, at most 8 are expected"},
    {"nics:\n  n: {form: osfp, port_gbps: 400, aliases: [h100]}\n",
     "my.yaml:2:45: the name 'h100' is taken by the server 'h100-8gpu'"},
    {"nics:\n  Quantum-2: {form: osfp, port_gbps: 400}\n",
     "my.yaml:2:3: the name 'quantum-2' is taken by the switch 'mqm9790-ns2f'"},
    {"nics:\n  m: {form: osfp}\n  m: {form: osfp}\n",
     "my.yaml:3:3: key 'm' is given twice, on line 2 and on line 3"},
    {"servers:\n  s: {gpu: h100-smx, gpus_per_node: 8}\n",
     "my.yaml:2:12: unknown GPU 'h100-smx'; did you mean 'h100-sxm' or 'h100-sxm5'?"},
    {"servers:\n  s: {gpu: ufm, gpus_per_node: 8}\n",
     "my.yaml:2:12: 'gpu' is 'ufm', of kind device; a GPU is expected"},
    {"servers:\n  s: {gpu: h100-gpu, gpus_per_node: 8, nics: {oob: {nic: cx7-400}}}\n",
     "my.yaml:2:58: unknown NIC 'cx7-400'; did you mean 'cx7-400g' or 'cx7-200g'?"},
    {"servers:\n  s: {gpu: h100-gpu, gpus_per_node: 8, nics: {compude: {nic: cx7}}}\n",
     "my.yaml:2:47: unknown key 'compude' in nics; did you mean 'compute'?"},
    {"storage:\n  t: {disks: 1, disk_gb: 1, software: storage-sofware}\n",
     "my.yaml:2:39: unknown licence or service 'storage-sofware'; did you mean "
     "'storage-software'?"},
    {"cables:\n  c: {medium: copper, connector: osfp}\n",
     "my.yaml:2:3: cable 'c' lacks 'length_m'"},
    {"cables:\n  c: {medium: copper, lengths_m: [1]}\n",
     "my.yaml:2:34: cable 'c' lacks 'connector'"},
    {"cables:\n  c: {connector: osfp, lengths_m: [1, 0.1]}\n",
     "my.yaml:2:39: 'lengths_m' is '0.1', a number from 0.5 to 99999 is expected"},
    {"cables:\n  c: {connector: osfp, lengths_m: [1], aliases: [b]}\n",
     "my.yaml:2:49: a family of cables has no aliases: each length is a part"},
    {"prices:\n  b: {parts: {mqm9790-ns2: 5}}\n",
     "my.yaml:2:15: a price for the unknown part 'mqm9790-ns2'; did you mean 'mqm9790-ns2f' or "
     "'mqm9700-ns2f'?"},
    /* A long name is shown by its first 40 letters. */
    {"prices:\n  b: {parts: {zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz: 5}}\n",
     "my.yaml:2:15: a price for the unknown part 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'"},
    {"prices:\n  b: {parts: {zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz: 5}}\n",
     "my.yaml:2:15: a price for the unknown part 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'"},
    {"prices:\n  b: {parts: {firewall: -5}}\n",
     "my.yaml:2:25: 'price' is '-5', a number from 0 to 1e+12 is expected"},
    {"prices:\n  b: {parts: {firewall: {assumed: true}}}\n",
     "my.yaml:2:25: the price lacks 'price'"},
    {"prices:\n  b: {parts: {firewall: {price: 5, per_server: 1}}}\n",
     "my.yaml:2:36: unknown key 'per_server' in a price; did you mean 'per_servers'?"},
    {"prices:\n  b: {pats: {}}\n",
     "my.yaml:2:7: unknown key 'pats' in a price book; did you mean 'parts' or 'date'?"},
};

static void bad_catalogues_get_one_line_with_the_place(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad_catalogues); i++) {
        assert_true(add_text(f, bad_catalogues[i].text) < 0);
        assert_string_equal(f->err.message, bad_catalogues[i].message);
    }
}

static void an_overlong_name_is_refused(void **state)
{
    struct fixture *f = *state;
    char text[256];
    snprintf(text, sizeof(text), "devices:\n  d%0100d: {watts: 5}\n", 0);
    assert_int_equal(add_text(f, text), MYR_ERANGE);
    assert_string_equal(f->err.message,
                        "my.yaml:2:3: a name of 101 bytes, at most 96 are expected");
}

/* A length is not in the manual, its family is. */
static void id_in_manual(const struct myr_part *part, char *ret, size_t size)
{
    const char *suffix = part->kind == MYR_PART_CABLE ? strrchr(part->id, '-') : NULL;
    int len = suffix ? (int)(suffix - part->id) : (int)strlen(part->id);
    snprintf(ret, size, "`%.*s`", len, part->id);
}

static void the_manual_names_every_part(void **state)
{
    struct fixture *f = *state;
    struct myr_buf manual = {};
    if (myr_file_read(MYR_SOURCE_DIR "/docs/catalog.md", 1U << 20, &manual, &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
    for (size_t i = 0; i < f->catalog.parts.count; i++) {
        char id[128];
        id_in_manual(&f->catalog.parts.items[i], id, sizeof(id));
        if (!strstr(manual.data, id)) {
            fail_msg("docs/catalog.md does not name %s", id);
        }
    }
    myr_buf_done(&manual);
}

int main(void)
{
#define CATALOG_TEST(test) cmocka_unit_test_setup_teardown(test, open_catalog, close_catalog)
    const struct CMUnitTest tests[] = {
        CATALOG_TEST(every_builtin_part_has_an_id_a_title_and_a_source),
        CATALOG_TEST(names_that_people_type_lead_to_the_part),
        CATALOG_TEST(ports_of_a_switch_follow_from_its_cages),
        CATALOG_TEST(servers_have_the_gpus_and_ports_of_their_kind),
        CATALOG_TEST(common_links_find_modules_and_fibre),
        CATALOG_TEST(switches_can_be_joined_at_fabric_speed),
        CATALOG_TEST(cables_come_in_lengths),
        CATALOG_TEST(the_reference_design_keeps_its_prices),
        CATALOG_TEST(a_users_file_adds_parts_and_overrides_single_fields),
        CATALOG_TEST(a_file_on_disk_is_named_in_the_complaint),
        CATALOG_TEST(bad_catalogues_get_one_line_with_the_place),
        CATALOG_TEST(an_overlong_name_is_refused),
        CATALOG_TEST(the_manual_names_every_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
