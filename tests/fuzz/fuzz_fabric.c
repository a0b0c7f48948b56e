/*
 * Paths over designs that nobody planned: whatever a design file may say and still be read, graphs,
 * paths, policies, failover and degraded reports must get along with it.
 */
#include <stdlib.h>

#include "fuzz_image.h"
#include "myriad/fabric.h"

static const char file[] = "fuzz.myr";

enum { FLOWS_MAX = 64 };

static bool is_host_link(const struct myr_graph *graph, uint32_t link)
{
    const struct myr_design *design = graph->design;
    uint32_t type = design->cable_type[design->link_cable[link]];
    return myr_graph_has_link(graph, link) && design->cabletypes[type].layer == MYR_LAYER_HOST;
}

/* A path must begin and end at its ports, channel after channel. */
static void check_path(const struct myr_graph *graph, uint32_t from, uint32_t to,
                       const struct myr_path *path)
{
    const struct myr_design *design = graph->design;
    MYR_ASSERT(path->count >= 2 && path->count <= MYR_PATH_MAX);
    MYR_ASSERT(myr_channel_from_port(design, path->channels[0]) == from);
    for (uint32_t i = 0; i + 1 < path->count; i++) {
        uint32_t next = myr_channel_from_port(design, path->channels[i + 1]);
        MYR_ASSERT(myr_channel_to_device(design, path->channels[i]) == design->port_device[next]);
    }
    uint32_t last = path->channels[path->count - 1];
    MYR_ASSERT(myr_channel_from_port(design, myr_channel_back(last)) == to);
}

static void walk(const struct myr_graph *graph, struct myr_flows *flows)
{
    const struct myr_design *design = graph->design;
    for (uint32_t link = 0; link < design->link_count && link < FLOWS_MAX; link++) {
        uint32_t other = (link * 7 + 3) % design->link_count;
        uint32_t from = design->link_a[link], to = design->link_a[other];
        struct myr_path path;
        if (!is_host_link(graph, link) || !is_host_link(graph, other)) {
            continue;
        }
        if (myr_path_by_value(graph, from, to, link * UINT64_C(0x9E3779B97F4A7C15), &path)) {
            check_path(graph, from, to, &path);
        }
        if (myr_path_valiant(graph, from, to, link, link * UINT64_C(77), &path)) {
            check_path(graph, from, to, &path);
        }
        if (from != to) {
            struct myr_flow flow = {.from_port = from, .to_port = to, .share = MYR_SHARE_ONE};
            myr_vec_push(&flows->items, flow);
        }
    }
}

static void use(const struct myr_design *design, enum myr_net_id net)
{
    struct myr_arena arena;
    struct myr_graph graph;
    struct myr_flows flows = {};
    struct myr_degraded degraded;
    struct myr_err err;
    myr_arena_init(&arena);
    if (myr_graph_init(&graph, &arena, design, net, &err) == MYR_OK) {
        walk(&graph, &flows);
        for (uint32_t policy = 0; policy < MYR_POLICY_COUNT; policy++) {
            struct myr_balance_options options = {.policy = (enum myr_policy)policy};
            struct myr_balance_report report;
            int rc = myr_balance_report(&graph, &options, flows.items.items, flows.items.count,
                                        &report, &err);
            MYR_ASSERT(rc < 0 || report.unroutable <= flows.items.count);
        }
        myr_degraded_report(&graph, &degraded);
        for (uint32_t link = 0; link < design->link_count && link < FLOWS_MAX; link++) {
            if (myr_graph_has_link(&graph, link)) {
                (void)myr_failover_link(&graph, link, NULL);
            }
        }
        if (graph.switch_count) {
            (void)myr_failover_device(&graph, graph.first_switch, NULL);
        }
    }
    myr_flows_done(&flows);
    myr_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_design design;
    struct myr_err err;
    void *image = aligned_alloc(IMAGE_ALIGN, (size / IMAGE_ALIGN + 1) * IMAGE_ALIGN);
    memcpy(image, data, size);
    fuzz_image_mend(image, size);
    if (myr_design_parse(&design, image, size, file, &err) == MYR_OK) {
        for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
            use(&design, (enum myr_net_id)net);
        }
    }
    free(image);
    return 0;
}
