/*
 * bench_fabric DESIGN: from a design file to paths and plans, as every stage does it.
 *
 *     ready_s    the file opened, checked, and its graph built
 *     rss_mib    memory after that
 *     lookup_ns  one path between two random GPUs, by value
 *     plan_ms    a random permutation of all GPUs planned, best of three
 *     ring_ms    all rings of a 3D-parallel job (tp 8, pp 8) planned, best of three
 *     hurt_ms    the permutation with one per cent of the links dead, best of three
 *     change_us  one link dies and returns under that job's plan, mean
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "myriad/fabric.h"

enum { LOOKUPS = 1 << 20, ROUNDS = 3, CHANGES = 200 };

struct bench {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_graph graph;
};

static double seconds_since(int64_t start_ns)
{
    return (double)(myr_clock_ns() - start_ns) / 1e9;
}

static double memory_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Pairs are drawn before, so that only the paths are timed. */
static double lookup_ns(const struct bench *bench)
{
    uint32_t *ports = myr_xcalloc(LOOKUPS, sizeof(*ports)), sum = 0;
    struct myr_rng rng;
    myr_rng_init(&rng, 1, 1);
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        ports[i] = myr_flow_port(&bench->graph, myr_rng_below(&rng, bench->design.head->gpus));
    }
    int64_t start_ns = myr_clock_ns();
    for (uint32_t i = 0; i + 1 < LOOKUPS; i++) {
        struct myr_path path;
        if (myr_path_by_value(&bench->graph, ports[i], ports[i + 1], i * UINT64_C(0x9E3779B9),
                              &path)) {
            sum += path.channels[path.count / 2];
        }
    }
    double took = seconds_since(start_ns) * 1e9 / (LOOKUPS - 1);
    free(ports);
    return sum == 1 ? 0 : took; /* the sum is used, so nothing is left out */
}

static double plan_ms(const struct bench *bench, const struct myr_flows *flows)
{
    double best = 1e9;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int64_t start_ns = myr_clock_ns();
        struct myr_colouring *colouring = myr_colouring_create(&bench->graph);
        MYR_ASSERT(colouring);
        myr_colouring_add(colouring, flows->items.items, flows->items.count);
        double took = seconds_since(start_ns) * 1e3;
        best = took < best ? took : best;
        myr_colouring_free(colouring);
    }
    return best;
}

static void add_rings(const struct bench *bench, struct myr_flows *ret)
{
    static const enum myr_axis axes[] = {MYR_AXIS_DP, MYR_AXIS_PP};
    struct myr_layout layout = myr_layout_default();
    struct myr_ranks_on ranks = {&layout, NULL, 0};
    struct myr_err err;
    layout.tp = 8;
    layout.pp = 8;
    layout.dp = bench->design.head->gpus / 64;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        int rc = myr_flows_groups(ret, &bench->graph, &ranks, axes[i], MYR_TRAFFIC_RING, &err);
        MYR_ASSERT(rc == MYR_OK);
    }
    myr_flows_fit(ret, &bench->design);
}

static uint32_t *fabric_links(const struct bench *bench, uint32_t *ret_count)
{
    const struct myr_design *design = &bench->design;
    uint32_t *links = myr_xcalloc(design->link_count, sizeof(*links));
    struct myr_rng rng;
    *ret_count = 0;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t type = design->cable_type[design->link_cable[link]];
        if (myr_graph_has_link(&bench->graph, link) &&
            design->cabletypes[type].layer != MYR_LAYER_HOST) {
            links[(*ret_count)++] = link;
        }
    }
    myr_rng_init(&rng, 2, 2);
    myr_rng_shuffle(&rng, links, *ret_count);
    return links;
}

static double change_us(struct bench *bench, const struct myr_flows *flows, const uint32_t *links)
{
    struct myr_colouring *colouring = myr_colouring_create(&bench->graph);
    myr_colouring_add(colouring, flows->items.items, flows->items.count);
    int64_t start_ns = myr_clock_ns();
    for (uint32_t i = 0; i < CHANGES; i++) {
        for (uint32_t dead = 1; dead < 2; dead--) {
            myr_graph_set_link(&bench->graph, links[i], dead);
            myr_colouring_link_changed(colouring, links[i]);
        }
    }
    double took = seconds_since(start_ns) * 1e6 / (2 * CHANGES);
    myr_colouring_free(colouring);
    return took;
}

int main(int argc, char **argv)
{
    struct bench bench;
    struct myr_err err;
    struct myr_flows permutation = {}, rings = {};
    if (argc != 2) {
        fputs("usage: bench_fabric DESIGN\n", stderr);
        return 2;
    }
    myr_arena_init(&bench.arena);
    int64_t start_ns = myr_clock_ns();
    int rc = myr_design_open(&bench.design, argv[1], &err);
    rc = rc < 0 ? rc
                : myr_graph_init(&bench.graph, &bench.arena, &bench.design, MYR_NET_COMPUTE, &err);
    if (rc < 0) {
        fprintf(stderr, "%s\n", err.message);
        return myr_err_exit_code(rc);
    }
    printf("ready_s %.6f rss_mib %.1f", seconds_since(start_ns), memory_mib());
    printf(" lookup_ns %.1f", lookup_ns(&bench));
    uint32_t count;
    uint32_t *links = fabric_links(&bench, &count);
    myr_flows_permutation(&permutation, &bench.graph, 1);
    add_rings(&bench, &rings);
    printf(" plan_ms %.3f ring_ms %.3f", plan_ms(&bench, &permutation), plan_ms(&bench, &rings));
    printf(" change_us %.1f", change_us(&bench, &rings, links));
    for (uint32_t i = 0; i < count / 100; i++) {
        myr_graph_set_link(&bench.graph, links[i], true);
    }
    printf(" hurt_ms %.3f\n", plan_ms(&bench, &permutation));
    free(links);
    myr_flows_done(&permutation);
    myr_flows_done(&rings);
    myr_design_close(&bench.design);
    myr_arena_done(&bench.arena);
    return 0;
}
