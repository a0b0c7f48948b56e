/*
 * What is given to subnet managers and to senders, and what miswired fabrics cost, held against
 * what it was when somebody last looked (tests/kept/site-routes.txt; MYRIAD_KEPT=write writes it
 * anew). That nothing written can deadlock, and that tables lead along the plan, is said by others.
 *
 * Files go to a folder of their own, under names without a path: some are named in each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "designs.h"
#include "hands.h"
#include "kept.h"

enum { SEED = 20270119 };

static const struct network {
    struct shape shape;
    enum myr_apply_target target;
} networks[] = {
    {{"rail", 6, "h100-8gpu", "compute: {switch: mqm9790-ns2f, leaf_down: 12}"}, MYR_APPLY_OPENSM},
    {{"deep", 6, "a100-8gpu",
      "compute: {topology: clos, switch: qm8790, tiers: 3, leaf_down: 8, leaf_up: 8, "
      "pod_leaves: 2}"},
     MYR_APPLY_OPENSM},
    {{"groups", 5, "h100-8gpu",
      "compute: {topology: dragonfly, switch: mqm9790-ns2f, hosts_per_switch: 6, "
      "group_switches: 3, global_ports: 3}"},
     MYR_APPLY_OPENSM},
    {{"grid", 12, "generic-1gpu",
      "compute: {topology: torus, switch: mqm9790-ns2f, dims: [3, 2, 2]}"},
     MYR_APPLY_OPENSM},
    {{"rings", 20, "generic-1gpu",
      "compute: {topology: torus, switch: mqm9790-ns2f, dims: [5, 4]}"},
     MYR_APPLY_OPENSM},
    {{"ether", 6, "b200-8gpu", "compute: {switch: sn5600, leaf_down: 8, leaf_up: 8}"},
     MYR_APPLY_ROCE},
    {{"pair", 6, "h100-8gpu-2x200",
      "compute: {topology: dual-tor, switch: sn5600, leaf_down: 8, leaf_up: 4}"},
     MYR_APPLY_ROCE},
    {{"lanes", 12, "generic-1gpu",
      "compute: {topology: torus, switch: z9864f-on, dims: [3, 2, 2]}"},
     MYR_APPLY_ROCE},
};

struct world {
    struct myr_fabric_case fabric; /* its arena is its own; the design is borrowed */
    struct bench bench;
    struct myr_buf out;
};

static uint64_t digest(uint64_t so_far, const void *data, size_t bytes)
{
    const uint8_t *byte = data;
    for (size_t i = 0; i < bytes; i++) {
        so_far = (so_far ^ byte[i]) * UINT64_C(1099511628211);
    }
    return so_far;
}

static void put_file(struct world *w, const char *path)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    if (access(path, F_OK) == 0) {
        assert_int_equal(myr_file_read(path, 16U << 20, &text, &err), MYR_OK);
        myr_buf_printf(&w->out, " | %s %zu bytes %08x", path, text.len,
                       (unsigned)digest(1, text.data, text.len));
    }
}

static void world_init(struct world *w, const struct network *network, uint64_t seed)
{
    struct myr_err err = {};
    bench_init(&w->bench, &network->shape, seed);
    w->fabric = (struct myr_fabric_case){.design = *w->bench.design, .traffic = "drawn"};
    myr_arena_init(&w->fabric.arena);
    assert_int_equal(myr_graph_init(&w->fabric.graph, &w->fabric.arena, &w->fabric.design,
                                    MYR_NET_COMPUTE, &err),
                     MYR_OK);
}

static void world_done(struct world *w)
{
    myr_flows_done(&w->fabric.flows);
    myr_arena_done(&w->fabric.arena);
    bench_done(&w->bench);
}

static void draw_flows(struct world *w, uint32_t number)
{
    struct myr_err err = {};
    struct myr_layout layout = myr_layout_default();
    struct myr_ranks_on ranks = {.layout = &layout, .node_count = w->fabric.design.head->nodes};
    w->fabric.flows.items.count = 0;
    layout.dp = w->fabric.design.head->gpus;
    if (number % 2) {
        assert_int_equal(myr_flows_groups(&w->fabric.flows, &w->fabric.graph, &ranks, MYR_AXIS_DP,
                                          MYR_TRAFFIC_TREE, &err),
                         MYR_OK);
    } else {
        myr_flows_permutation(&w->fabric.flows, &w->fabric.graph, number + 1);
    }
}

static void put_applied(struct world *w, const struct myr_applied *applied)
{
    const struct myr_design *design = &w->fabric.design;
    uint64_t sum = digest(2, applied->load, 2 * design->link_count * sizeof(uint64_t));
    sum = digest(sum, applied->routes.channels.items,
                 applied->routes.channels.count * sizeof(uint32_t));
    if (applied->ports) {
        sum = digest(sum, applied->ports, w->fabric.flows.items.count * sizeof(uint16_t));
    }
    myr_buf_printf(&w->out,
                   " %s by %s: planned %u refused %u unknown %u lost %u, %llu waits, max %.4f mean "
                   "%.4f on %u%s %08x",
                   applied->what, applied->engine ? applied->engine : "-", applied->planned,
                   applied->refused, applied->unknown, applied->routes.unroutable,
                   (unsigned long long)applied->dependencies, applied->max_load, applied->mean_load,
                   applied->loaded, applied->same_seeds ? " same seeds" : "", (unsigned)sum);
    if (applied->cycle.count) {
        myr_buf_printf(&w->out, " circle of %u: ", applied->cycle.count);
        myr_cycle_put(&applied->cycle, design, &w->out);
    }
}

static void put_refused(struct world *w, const struct myr_err *err)
{
    myr_buf_printf(&w->out, " %s%s%s", err->message, err->hint[0] ? "; " : "", err->hint);
}

/* The tables as a subnet that runs them would tell them, with some entries gone wrong. */
static void read_tables(struct world *w, uint32_t number)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    struct myr_applied applied;
    assert_int_equal(myr_file_read("tables", 16U << 20, &text, &err), MYR_OK);
    for (char *line = text.data; number && line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char *port = strncmp(line, "0x", 2) == 0 ? strchr(line, ' ') : NULL;
        if (port && strlen(port) > 4 && myr_rng_below(&w->bench.rng, 5) == 0) {
            port[3] = (char)('1' + myr_rng_below(&w->bench.rng, 4));
        }
        if (strncmp(line, "Unicast", 7) == 0 && number == 2) {
            char *guid = strstr(line, "guid 0x");
            if (guid && myr_rng_below(&w->bench.rng, 4) == 0) {
                guid[7] = 'f';
            }
        }
    }
    assert_int_equal(myr_file_write("changed", &text, &err), MYR_OK);
    int rc =
        myr_apply_tables(&w->fabric, "changed", number == 1 ? "binding" : NULL, &applied, &err);
    myr_buf_printf(&w->out, "\n    read %u:", number);
    if (rc < 0) {
        put_refused(w, &err);
    } else {
        put_applied(w, &applied);
    }
    myr_applied_done(&applied);
}

static void write_text(const char *path, const char *text)
{
    struct myr_buf buf = {};
    struct myr_err err = {};
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
    myr_buf_done(&buf);
}

/* Seeds of some switches, the order of one switch's next hops, and GUIDs of two devices. */
static void write_inputs(struct world *w)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}, order = {}, binding = {};
    const struct myr_design *design = &w->fabric.design;
    struct myr_err err = {};
    myr_buf_put_lit(&text, "device,seed\n");
    for (size_t i = 0; i < w->bench.switches.count; i += 2) {
        myr_design_name(design, w->bench.switches.items[i], &text);
        myr_buf_printf(&text, ",%zu\n", 3 * i + 1);
    }
    assert_int_equal(myr_file_write("seeds", &text, &err), MYR_OK);
    uint32_t first = w->bench.switches.items[0];
    myr_buf_put_lit(&order, "device,port\n");
    for (uint32_t p = design->first_port[first + 1]; p-- > design->first_port[first];) {
        if (w->bench.plan[p] != MYR_NONE) {
            myr_design_name(design, first, &order);
            myr_buf_putc(&order, ',');
            myr_design_port_name(design, p, &order);
            myr_buf_putc(&order, '\n');
        }
    }
    assert_int_equal(myr_file_write("order", &order, &err), MYR_OK);
    myr_buf_printf(&binding, "design: %s\ndevices:\n  ",
                   myr_design_str(design, design->head->name));
    myr_design_name(design, first, &binding);
    myr_buf_put_lit(&binding,
                    ": {guid: 0x98039b0300a1b2c4}\n  node/00001:\n    ports:\n      nic0: "
                    "{guid: 0x9c0591030012ab34, port_guid: 0x9c0591030012ab35}\n");
    assert_int_equal(myr_file_write("binding", &binding, &err), MYR_OK);
}

static void put_case(struct world *w, const struct network *network, uint32_t number)
{
    struct myr_err err = {};
    struct myr_applied applied;
    bool opensm = network->target == MYR_APPLY_OPENSM;
    struct myr_apply_question question = {
        .target = number == 5 ? (enum myr_apply_target) !network->target : network->target,
        .out = "tables",
        .catalog = number == 4 ? NULL : &w->bench.planned.catalog,
        .keep_static = number == 2,
        .binding = opensm && number == 1 ? "binding" : NULL,
        .hash = (enum myr_switch_hash)(number % MYR_SWITCH_HASH_COUNT),
        .seed = number,
        .seeds = number > 2 ? "seeds" : NULL,
        .order = number == 3 ? "order" : NULL};
    (void)unlink("tables");
    (void)unlink("tables.torus");
    (void)unlink("changed");
    for (uint32_t i = 0; number >= 3 && i < number - 2; i++) {
        uint32_t link = myr_rng_below(&w->bench.rng, w->fabric.design.link_count);
        if (myr_graph_has_link(&w->fabric.graph, link)) {
            myr_graph_set_link(&w->fabric.graph, link, true);
        }
    }
    draw_flows(w, number);
    myr_buf_printf(&w->out, "%s %u:", network->shape.name, number);
    int rc = myr_apply(&w->fabric, &question, &applied, &err);
    if (rc < 0) {
        put_refused(w, &err);
    } else {
        put_applied(w, &applied);
    }
    put_file(w, "tables");
    put_file(w, "tables.torus");
    bool tables = rc == MYR_OK && applied.engine && strcmp(applied.engine, "file") == 0;
    myr_applied_done(&applied);
    for (uint32_t i = 0; tables && i < 3; i++) {
        read_tables(w, i);
    }
    myr_buf_putc(&w->out, '\n');
}

static void put_cost(struct world *w, const struct network *network, uint32_t number)
{
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_verify verify;
    struct myr_cost cost;
    struct myr_err err = {};
    struct site site;
    struct myr_verify_options options = {.catalog = &w->bench.planned.catalog,
                                         .port_names = &w->bench.names,
                                         .equivalent = number % 3 == 1};
    myr_arena_init(&arena);
    myr_cabling_init(&cabling, &arena);
    myr_buf_printf(&w->out, "%s cost %u:", network->shape.name, number);
    draw_flows(w, number);
    site_draw(&site, &w->bench, number % 3, false);
    site.devices = OWN_NAMES;
    site.nics = OWN_NICS;
    site.ports = OWN_PORTS;
    hands_at_work(&w->bench, number, &w->out);
    for (uint32_t i = 0; i < number; i++) { /* one more each time, so that flows feel it */
        static const enum mistake more[] = {REMOVED, EXCHANGED, REMOVED, SHIFTED, TO_SPARE};
        make_mistake(&w->bench, more[i % MYR_ARRAY_COUNT(more)]);
    }
    site_tell(&site, &w->bench, &cabling, &w->out);
    assert_int_equal(myr_verify(&verify, &arena, w->bench.design, &cabling, &options, &err),
                     MYR_OK);
    myr_cost_find(&cost, &arena, &w->fabric, &verify, NULL, NULL);
    myr_buf_printf(&w->out, "  wanted %.2f planned %.2f, %u lost; found %.2f, %u lost; %u of %u\n",
                   cost.wanted_gbps, cost.planned.gbps, cost.planned.lost, cost.found.gbps,
                   cost.found.lost, cost.known_count, cost.piece_count);
    for (uint32_t i = 0; i < cost.piece_count && i < 12; i++) {
        const struct myr_cost_piece *piece = &cost.pieces[i];
        myr_buf_printf(&w->out, "    %u: steps %u to %u gain %.3f then %.3f, %u lost%s\n",
                       piece->component, piece->first_step, piece->first_step + piece->moves - 1,
                       piece->gain_gbps, piece->after.gbps, piece->after.lost,
                       piece->known ? "" : ", not looked at");
    }
    myr_cabling_done(&cabling);
    myr_arena_done(&arena);
}

static void routes_and_costs_are_as_they_were(void **state)
{
    (void)state;
    char folder[] = "/tmp/myriad-routes-XXXXXX";
    static const char *const files[] = {"tables", "tables.torus", "changed",
                                        "seeds",  "order",        "binding"};
    struct world w = {};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    for (uint32_t n = 0; n < MYR_ARRAY_COUNT(networks); n++) {
        world_init(&w, &networks[n], SEED + n);
        write_inputs(&w);
        for (uint32_t number = 0; number < 14; number++) {
            put_cost(&w, &networks[n], number);
        }
        for (uint32_t number = 0; number < 8; number++) {
            put_case(&w, &networks[n], number);
        }
        world_done(&w);
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        (void)unlink(files[i]);
    }
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_kept("site-routes.txt", &w.out);
    myr_buf_done(&w.out);
}

/* Lists of seeds and of next hops: what is wrong is said with its place. */
static void wrong_lists_of_switches_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool order;
    } wrong[] = {
        {"device,seed\nleaf/p0-g0-r9,1\n", false},
        {"device,seed\nnode/00001,1\n", false},
        {"device,seed\nleaf/p0-g0-r0,x\n", false},
        {"device,seed\nleaf/p0-g0-r0,4294967296\n", false},
        {"device,seed\nleaf/p0-g0-r0,1\nleaf/p0-g0-r0,2\n", false},
        {"device,seed\nleaf/p0-g0-r0\n", false},
        {"device,seed\n", false},
        {"", false},
        {"device,seed\nleaf/p0-g0-r0,1\nleaf/p0-g0-r1,\"2\n", false},
        {"device,seed\nleaf/p0-g0-r0,4294967295\n", false},
        {"device,seed\nleaf/p0-g0-r0,1,2\n", false},
        {"device,port\nleaf/p0-g0-r0,99/1\n", true},
        {"device,port\nleaf/p0-g0-r0,1/1\nleaf/p0-g0-r0,1/1\n", true},
        {"device,port\nnode/00001,nic0\n", true},
        {"device,port\nleaf/p0-g0-r9,1/1\n", true},
        {"device,port\n", true},
    };
    struct world w = {};
    struct myr_switch_hashes hashes;
    char path[] = "/tmp/myriad-lists-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    world_init(&w, &networks[5], SEED);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        struct myr_err err = {};
        write_text(path, wrong[i].text);
        myr_switch_hashes_init(&hashes, &w.fabric.arena, &w.fabric.design, MYR_SWITCH_CRC, 0);
        int rc = wrong[i].order
                     ? myr_switch_order_read(&hashes, &w.fabric.arena, &w.fabric.design, path, &err)
                     : myr_switch_seeds_read(&hashes, &w.fabric.design, path, &err);
        const char *message = strncmp(err.message, path, strlen(path)) == 0
                                  ? err.message + strlen(path)
                                  : err.message;
        myr_buf_printf(&w.out, "%u: %d%s%s%s\n", i, rc, rc < 0 ? message : " taken",
                       rc < 0 && err.hint[0] ? "; " : "", rc < 0 ? err.hint : "");
    }
    unlink(path);
    world_done(&w);
    assert_kept("site-lists.txt", &w.out);
    myr_buf_done(&w.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(routes_and_costs_are_as_they_were),
                                       cmocka_unit_test(wrong_lists_of_switches_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
