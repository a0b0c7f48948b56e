/*
 * Rooms at the corners of what they may be: without a width, of unlike servers, in several
 * buildings, too small for one thing, with feeds named from behind. What is planned in each is
 * kept in plain words: every rack that is in use with what stands where in it, every tray, every
 * kind of cable with its metres (tests/kept/plan-room-corners.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept.h"
#include "planned_test.h"

static const char *feed_name(const struct myr_design *design, const struct myr_chain_link *links,
                             uint32_t at)
{
    return at == MYR_NONE ? "-" : myr_design_str(design, links[at].name);
}

/* A line for each rack in use: where it is, how full, on what it hangs, and who is at which unit.
 */
static void tell_racks(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t rack = 0; rack < design->rack_count; rack++) {
        const struct myr_rack *one = &design->racks[rack];
        const struct myr_rack_more *more = &design->rack_more[rack];
        if (!more->devices && !more->units) {
            continue;
        }
        myr_buf_puts(told, "  ");
        myr_design_rack_name(design, rack, told);
        myr_buf_printf(told, " (%u, %u mm; %u of %u W, %u of %u U, %u of %u kg) ", more->x_mm,
                       more->y_mm, more->watts, one->watts_max, more->units, one->units, more->kg,
                       more->kg_max);
        myr_buf_printf(told, "%s/%s %s/%s, %u:", feed_name(design, design->power, one->power_feed),
                       feed_name(design, design->power, more->power_b),
                       feed_name(design, design->cooling, one->cooling_loop),
                       feed_name(design, design->cooling, more->cooling_b), more->devices);
        for (uint32_t i = 0; i < design->device_count; i++) {
            if (design->device_rack[i] == rack) {
                myr_buf_puts(told, " ");
                myr_design_name(design, i, told);
                myr_buf_printf(told, "@%u", design->device_unit[i]);
            }
        }
        for (uint32_t i = 0; i < design->rack_item_count; i++) {
            const struct myr_rack_item *item = &design->rack_items[i];
            if (item->rack == rack) {
                myr_buf_printf(told, " [%s@%u %u U %u W]", myr_design_str(design, item->part),
                               item->unit, item->units, item->watts);
            }
        }
        myr_buf_puts(told, "\n");
    }
}

/* Kinds that are in use, with how many cables of how many links, and their ways. */
static void tell_cables(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t type = 0; type < design->cabletype_count; type++) {
        const struct myr_cabletype *kind = &design->cabletypes[type];
        uint64_t cables = 0, links = 0, sum = 0, least = UINT64_MAX, most = 0;
        for (uint32_t i = 0; i < design->cable_count; i++) {
            uint32_t mm = design->cable_mm[i];
            if (design->cable_type[i] == type) {
                cables++;
                links += design->first_link[i + 1] - design->first_link[i];
                sum += mm;
                least = mm < least ? mm : least;
                most = mm > most ? mm : most;
            }
        }
        if (cables) {
            myr_buf_printf(told, "  %s %s '%s' %u mm: %llu with %llu links, %llu to %llu, %llu\n",
                           myr_net_names[kind->net], myr_layer_names[kind->layer],
                           myr_design_str(design, kind->part), kind->length_mm,
                           (unsigned long long)cables, (unsigned long long)links,
                           (unsigned long long)least, (unsigned long long)most,
                           (unsigned long long)sum);
        }
    }
}

static void tell_trays(const struct myr_design *design, struct myr_buf *told)
{
    for (uint32_t i = 0; i < design->tray_count; i++) {
        const struct myr_tray *tray = &design->trays[i];
        myr_buf_puts(told, i % 6 ? ", " : i ? ",\n    " : "  trays ");
        myr_design_rack_name(design, tray->from_rack, told);
        myr_buf_puts(told, "-");
        myr_design_rack_name(design, tray->to_rack, told);
        myr_buf_printf(told, " %u mm %u", tray->length_mm, tray->fill_permille);
    }
    myr_buf_puts(told, design->tray_count ? "\n" : "");
}

/* Whether an entry is 'at' itself or one that 'at' hangs on. */
static bool hangs_on(const struct myr_chain_link *links, const struct myr_chain_more *more,
                     uint32_t at, uint32_t entry)
{
    return at != MYR_NONE && (at == entry || hangs_on(links, more, links[at].parent, entry) ||
                              hangs_on(links, more, more[at].parent_b, entry));
}

/* An entry carries each rack that reaches it, and each once, on however many ways that is. */
static void check_chains(const struct myr_design *design)
{
    for (uint32_t kind = 0; kind < 2; kind++) {
        const struct myr_chain_link *links = kind ? design->cooling : design->power;
        const struct myr_chain_more *more = kind ? design->cooling_more : design->power_more;
        uint32_t count = kind ? design->cooling_count : design->power_count;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t watts = 0;
            for (uint32_t k = 0; k < design->rack_count; k++) {
                const struct myr_rack *rack = &design->racks[k];
                const struct myr_rack_more *rest = &design->rack_more[k];
                bool on = hangs_on(links, more, kind ? rack->cooling_loop : rack->power_feed, i) ||
                          hangs_on(links, more, kind ? rest->cooling_b : rest->power_b, i);
                watts += on ? rest->watts : 0;
            }
            assert_int_equal(more[i].kw_used, (watts + 999) / 1000);
        }
    }
}

static void tell_room(const char *text, struct myr_buf *told)
{
    struct planned p;
    planned_read(&p, text);
    myr_buf_printf(told, "== %s", text);
    if (myr_plan(&p.arena, &p.catalog, &p.spec, &p.design, &p.err) < 0) {
        myr_buf_printf(told, "  refused: %s (%s)\n", p.err.message, p.err.hint);
        planned_end(&p);
        return;
    }
    myr_answer_init(&p.answer, &p.arena, "myriad.plan", 1);
    (void)myr_plan_answer(&p.design, &p.answer);
    planned_tell(myr_value_get(&p.answer.root, "room"), "room", told);
    check_chains(&p.design);
    tell_racks(&p.design, told);
    tell_cables(&p.design, told);
    tell_trays(&p.design, told);
    planned_tell_findings(&p, told);
    planned_end(&p);
}

/* 'all': else the kept text goes on. */
static void tell_rooms(const char *const *specs, size_t count, const char *kept, bool all)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf told = {};
    for (size_t i = 0; i < count; i++) {
        tell_room(specs[i], &told);
    }
    assert_kept_as(kept, &told, !all);
}

#define H100 "server: h100-8gpu\n"
#define NDR  "networks: {compute: {switch: mqm9790-ns2f}}\n"
#define WIDE "networks: {compute: {switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 8}}\n"

static const char *const aligned[] = {
    /* Neither a rack nor a width: a common rack, and as many columns as it takes. */
    "servers: 3\n" H100 NDR "room: {rows: 1}\n",
    "servers: 9\n" H100 WIDE "room: {rows: 2}\n",
    "servers: 2\n" H100 NDR "room: {place: aligned}\n",
    "servers: 4\n" H100 WIDE "room: {rows: 2, rack_kw: 10.5}\n",
    /* A rack by its part, with more or less of what it says; servers of a given power. */
    "servers: 4\n" H100 NDR "room: {rows: 2, columns: 3, rack: rack-48u-30kw, rack_kg: 300}\n",
    "servers: 5\n" H100 NDR "room: {rows: 2, columns: 3, rack_kw: 21, server_kw: 6.6}\n",
    /* Units of what stands above and below; items of the bill, of which a part is per GPU. */
    "servers: 3\n" H100
    "networks: {compute: {switch: mqm9790-ns2f}, service: {extra_nodes: 2}, oob: }\n"
    "items: [{part: bastion, quantity: 2.5, system: security}, {part: log-audit, per: gpu}, "
    "{part: iw-venus, quantity: 2}, {part: firewall}]\n"
    "room: {rows: 2, columns: 2, rack_kw: 25, power: [{name: u1}, {name: f1, parents: [u1], rows: "
    "2-1}]}\n",
    /* Unlike servers: what the smaller ones do not need is there for others. */
    "groups: [{name: small, servers: 3, server: h100-8gpu}, {name: big, servers: 2, server: "
    "b200-8gpu}, {name: more, servers: 2, server: h100-8gpu}]\n"
    "networks: {compute: {switch: mqm9790-ns2f}, oob: }\n"
    "room: {rows: 3, columns: 2, rack_kw: 32}\n",
    "groups: [{name: small, servers: 2, server: h100-8gpu}, {name: big, servers: 1, server: "
    "b200-8gpu}]\n"
    "networks: {compute: {switch: mqm9790-ns2f}}\nitems: [{part: firewall, quantity: 12}]\n"
    "room: {rows: 3, columns: 1, rack_kw: 17}\n",
    /* Power and cooling from both ends, three entries for one rack, one that no rack hangs on. */
    "servers: 6\n" H100 NDR "room: {rows: 4, columns: 2, rack_kw: 24, power: [{name: grid, kw: "
    "5000000}, {name: ups1, kw: "
    "40, parents: [grid]}, {name: ups2, kw: 61.5, parents: [grid, ups1]}, {name: a, parents: "
    "[ups1, ups2], rows: 4-2}, {name: b, kw: 30.6, parents: [ups2], columns: A}, {name: c, "
    "columns: B-A, rows: 3}], cooling: [{name: tower, kw: 1}, {name: pump, kw: 62, parents: "
    "[tower], rows: 4-3}, {name: spare, kw: 9, rows: 1, columns: B}]}\n",
    /* Strips and coolers: two for a rack without feeds, one for each feed of it. */
    "servers: 5\n" H100 "networks: {compute: {switch: mqm9790-ns2f}, oob: }\n"
    "room: {rows: 3, columns: 3, rack_kw: 24, managed: true}\n",
    "servers: 5\n" H100 "networks: {compute: {switch: mqm9790-ns2f}, oob: }\n"
    "room: {rows: 3, columns: 3, rack_kw: 24, managed: true, power: [{name: a, rows: 1-3}, {name: "
    "b, rows: 3}]}\n",
    /* A building for each pod; the way between them goes by their corners. */
    "servers: 8\n" H100 WIDE
    "room: {rows: 3, columns: 2, rack_kw: 24, buildings: [{name: e, rows: 2}, {name: w}, {name: n, "
    "columns: 1}], distances: [{from: e, to: w, m: 30}, {from: n, to: w, m: 50}, {from: e, to: n, "
    "m: 70}], trays: {cross_rows: [2, 3]}, trunks: {cables: 4, panel_ports: 10}}\n",
    "servers: 8\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 8, leaf_up: 8, tiers: "
    "3, pod_leaves: 8}}\n"
    "room: {rows: 3, columns: 2, rack_kw: 24, buildings: [{name: e}, {name: w}], distance_m: 40, "
    "trunks: {cables: 6, panel_ports: 24}}\n",
    /* Without a compute network all servers are one block. */
    "servers: 3\n" H100 "networks: {service: {extra_nodes: 1}}\nroom: {rows: 2, columns: 2}\n",
    /* Buffers: the worst switch of a tier is told, with one class and with several. */
    "servers: 9\n" H100 "networks: {compute: {switch: sn5600, leaf_down: 16, leaf_up: 16}}\n"
    "room: {rows: 3, columns: 4, rack_kw: 24, lossless_classes: 7, drop_m: 20}\n",
    "servers: 9\n" H100 "networks: {compute: {switch: sn5600, leaf_down: 16, leaf_up: 16}}\n"
    "room: {rows: 3, columns: 3, rack_kw: 24, buildings: [{name: e, rows: 2, columns: 2}, {name: "
    "w}], "
    "distance_m: 900}\n",
    "servers: 9\n" H100 "networks: {compute: {switch: sn5600, leaf_down: 16, leaf_up: 32}}\n"
    "room: {rows: 3, columns: 4, rack_kw: 24, lossless_classes: 7}\n",
    /* The first building takes a block or two, the second one most of them. */
    "servers: 9\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 16, leaf_up: 16}}\n"
    "room: {rows: 3, columns: 4, rack_kw: 14, buildings: [{name: e, rows: 1, columns: 3}, {name: "
    "w}], distance_m: 12}\n",
    /* Power is dealt out anew among racks without switches, which stand elsewhere. */
    "servers: 8\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 32, leaf_up: 32}}\n"
    "room: {rows: 7, columns: 1, rack_kw: 15.6}\n",
    "servers: 10\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 32, leaf_up: 32}}\n"
    "room: {rows: 4, columns: 2, rack_kw: 15.6}\n",
    /* Cables that are pinned stay as they are, whatever their length; cards of two kinds. */
    "servers: 3\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 8, pin: {host_cable: "
    "mfp7e10-n030}}}\n"
    "room: {rows: 2, columns: 2, rack_kw: 24}\n",
    "servers: 3\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, leaf_down: 8, leaf_up: 8, pin: {fabric_cable: "
    "mfp7e10-n020}}}\n"
    "room: {rows: 2, columns: 2, rack_kw: 24, drop_m: 0.5}\n",
    "groups: [{name: a, servers: 2, server: h100-8gpu}, {name: b, servers: 2, server: dgx-h100}]\n"
    "networks: {compute: {switch: mqm9790-ns2f}}\nroom: {rows: 2, columns: 2, rack_kw: 24}\n",
    /* Trunks of two cables and panels of two ports: all of them are counted. */
    "servers: 3\n" H100 WIDE
    "room: {rows: 2, columns: 3, rack_kw: 14, trunks: {cables: 2, panel_ports: 2}}\n",
    /* Zones from above and from below, and beyond the room. */
    "servers: 5\n" H100 WIDE
    "room: {rows: 4, columns: 3, rack_kw: 24, zones: {leaf_rows: 3-2, spine_column: C}}\n",
    "servers: 5\n" H100 WIDE
    "room: {rows: 9, columns: 6, rack_kw: 24, zones: {leaf_rows: 2-9, spine_column: F}, buildings: "
    "[{name: e, rows: 4, columns: 3}]}\n",
    "servers: 5\n" H100 WIDE
    "room: {rows: 4, columns: 3, rack_kw: 24, zones: {leaf_rows: 4-3, spine_column: A}}\n",
    /* A server that is a whole rack, with nodes that share its units. */
    ("servers: 2\nserver: gb200-nvl72\nnetworks: {compute: , service: }\n"
     "room: {rows: 3, columns: 3, rack_kw: 140, rack_u: 52, rack_kg: 3000}\n"),
};

static const char *const refused[] = {
    "servers: 2\n" H100 NDR "room: {rows: 2, columns: 2, rack_kw: 10}\n",
    "servers: 2\n" H100 NDR "room: {rows: 2, columns: 2, rack_u: 7}\n",
    "servers: 2\n" H100 NDR "room: {rows: 2, columns: 2, rack_kg: 129}\n",
    "servers: 2\nserver: cloudmatrix-384\nnetworks: {compute: }\n"
    "room: {rows: 2, columns: 2, rack_kw: 600}\n",
    "servers: 2\n" H100 NDR "room: {rows: 1001, columns: 1000}\n",
    "servers: 2\n" H100 NDR
    "room: {rows: 700, columns: 700, buildings: [{name: e}, {name: w}, {name: n, rows: 30}], "
    "distance_m: 9}\n",
    "servers: 9\n" H100 NDR "room: {rows: 2, columns: 2, rack_kw: 24}\n",
    "servers: 4\n" H100 NDR "room: {rows: 2, columns: 2, rack_kw: 10.5}\n",
    "servers: 9\n" H100 WIDE "room: {rows: 3, columns: 2, rack_kw: 21}\n",
    "servers: 2\n" H100
    "networks: {compute: {switch: mqm9790-ns2f}, storage: }\nstorage: {capacity_tb: 900}\n"
    "room: {rows: 2, columns: 1, rack_kw: 14.5}\n",
    "servers: 2\n" H100 NDR
    "items: [{part: firewall, quantity: 9}]\nroom: {rows: 2, columns: 1, rack_kw: 13}\n",
    "servers: 2\n" H100 NDR
    "items: [{part: firewall, quantity: 14}]\nroom: {rows: 2, columns: 1, rack_kw: 13}\n",
    "servers: 64\n" H100
    "networks: {compute: {switch: mqm9790-ns2f}}\nroom: {rows: 1, columns: 1, rack_kw: 10.3, "
    "rack_u: 8}\n",
    /* Full by units, by weight, by both; of servers, of switches, of what else stands there. */
    "servers: 9\n" H100 NDR "room: {rows: 2, columns: 2, rack_kw: 60, rack_u: 17}\n",
    "servers: 9\n" H100 NDR "room: {rows: 2, columns: 2, rack_kw: 60, rack_kg: 290}\n",
    "servers: 9\n" H100 NDR "room: {rows: 2, columns: 2, rack_kw: 60, rack_u: 17, rack_kg: 290}\n",
    "servers: 4\n" H100 NDR "room: {rows: 2, columns: 2, rack_kw: 60, rack_u: 8}\n",
    "servers: 2\n" H100 NDR
    "items: [{part: firewall, quantity: 14}]\nroom: {rows: 2, columns: 1, rack_kw: 60, rack_u: "
    "12}\n",
    "servers: 2\n" H100 NDR
    "items: [{part: firewall, quantity: 14}]\nroom: {rows: 2, columns: 1, rack_kw: 60, rack_kg: "
    "170}\n",
    /* What no rack holds is told at once, by its name, in a room without a width too. */
    "servers: 1\nnetworks: {compute: {switch: eth-modular-576x400}}\nroom: {}\n",
    "servers: 3\nnetworks: {compute: , storage: {switch: eth-modular-576x400}}\n"
    "room: {rows: 20, place: shortest}\n",
    "servers: 3\n" H100
    "networks: {compute: {switch: eth-modular-576x400}}\nroom: {rack_kw: 22, rack_u: 31}\n",
    "servers: 3\n" H100
    "networks: {compute: {switch: eth-modular-576x400}}\nroom: {rack_kw: 22, rack_kg: 399}\n",
    "servers: 2\n" H100 "networks: {compute: , storage: }\nstorage: {capacity_tb: 900}\n"
    "room: {server_kw: 0.5, rack_kw: 1}\n",
    "servers: 2\n" H100
    "networks: {service: {extra_nodes: 2}}\nroom: {server_kw: 0.5, rack_kw: 0.7}\n",
    "servers: 2\n" H100 "networks: {oob: }\nitems: [{part: ufm-appliance, quantity: 1}]\n"
    "room: {server_kw: 0.2, rack_kw: 0.3}\n",
    "groups: [{name: a, servers: 2, server: h100-8gpu}, {name: b, servers: 2, server: b200-8gpu}]\n"
    "networks: {compute: {switch: mqm9790-ns2f}}\nroom: {rack_kw: 12}\n",
    /* Buildings that all say how wide they are do not grow. */
    "servers: 40\n" H100 NDR
    "room: {place: shortest, buildings: [{name: e, rows: 2, columns: 2}, {name: w, rows: 2, "
    "columns: 3}], distance_m: 9}\n",
};

static const char *const shortest[] = {
    /* More racks than are annealed: as the best start leaves it, in strips, bands and pods. */
    "servers: 3\n" H100 NDR "room: {rows: 25, columns: 41, place: shortest}\n",
    "servers: 14\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 32, leaf_up: 16}}\n"
    "room: {rows: 5, columns: 206, rack_kw: 12, place: shortest}\n",
    "servers: 17\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 16, leaf_up: 16}}\n"
    "room: {rows: 9, columns: 120, rack_kw: 12, place: shortest, pitch_m: {row: 1.8, column: 0.6}, "
    "aisles: {every: 0, width_m: 0.5}}\n",
    "servers: 11\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 8, leaf_up: 8, tiers: "
    "3, pod_leaves: 8}}\n"
    "room: {rows: 4, columns: 260, rack_kw: 14, place: shortest, buildings: [{name: e, columns: "
    "2}, "
    "{name: w}], distance_m: 6}\n",
    "servers: 4\n" H100 NDR "room: {rows: 1, columns: 6, place: shortest}\n",
    /* Unlike servers change places with their like alone. */
    "groups: [{name: big, servers: 2, server: b200-8gpu}, {name: small, servers: 3, server: "
    "h100-8gpu}]\n" WIDE "room: {rows: 3, columns: 2, rack_kw: 32, place: shortest}\n",
    /* Strips keep to the racks that are in use, items of the bill stay where they are. */
    "servers: 3\n" H100
    "networks: {compute: {switch: mqm9790-ns2f}, oob: }\nitems: [{part: firewall, quantity: 2}]\n"
    "room: {rows: 3, columns: 2, rack_kw: 24, managed: true, place: shortest}\n",
    /* Buildings of which the second takes what the first does not. */
    "servers: 7\n" H100
    "networks: {compute: {switch: mqm9790-ns2f, topology: clos, leaf_down: 16, leaf_up: 16}}\n"
    "room: {rows: 2, columns: 4, rack_kw: 14, place: shortest, buildings: [{name: e, rows: 1, "
    "columns: 3}, {name: w}], distance_m: 12}\n",
    /* Groups that are joined all to all, a torus. */
    "servers: 4\nnetworks: {compute: {topology: dragonfly, switch: sn5600, nic_gbps: 400, "
    "group_switches: 2, hosts_per_switch: 8, global_ports: 2}}\n"
    "room: {rows: 3, columns: 2, rack_kw: 24, place: shortest, trays: {cross_rows: [1]}}\n",
    "servers: 4\nnetworks: {compute: {topology: torus, switch: sn5600, nic_gbps: 400, "
    "hosts_per_switch: 8, dims: [2, 2]}}\n"
    "room: {rows: 2, columns: 3, rack_kw: 14, place: shortest}\n",
    /* Ways so short that copper reaches, and several links share it. */
    "servers: 4\n" H100 WIDE
    "room: {rows: 3, columns: 2, rack_kw: 24, place: shortest, drop_m: 0.3, slack: {percent: 3, "
    "m: 0.1}, pitch_m: {row: 0.6, column: 0.8}, aisles: {every: 0, width_m: 1}}\n",
};

static void rooms_at_their_corners_are_filled_as_kept(void **state)
{
    (void)state;
    tell_rooms(aligned, MYR_ARRAY_COUNT(aligned), "plan-room-corners.txt", true);
}

static void what_does_not_fit_is_told(void **state)
{
    (void)state;
    tell_rooms(refused, MYR_ARRAY_COUNT(refused), "plan-room-refused.txt", true);
}

static void small_rooms_are_as_short_as_kept(void **state)
{
    (void)state;
    /* Annealing is slow under the sanitizers: the first ones are enough there. */
    bool all = TEST_ROUNDS(8) == 8;
    tell_rooms(shortest, all ? MYR_ARRAY_COUNT(shortest) : 4, "plan-room-shortest.txt", all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rooms_at_their_corners_are_filled_as_kept),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(small_rooms_are_as_short_as_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
