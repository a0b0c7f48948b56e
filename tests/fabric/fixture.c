#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

const struct fixture_case fixture_cases[] = {
    {"one switch", 32, "generic-1gpu", "topology: clos, switch: mqm9790, nic_gbps: 400"},
    {"rail, 2 tiers", 64, "h100-8gpu", "switch: mqm9790"},
    {"rail, 2 tiers, part filled", 40, "h100-8gpu", "switch: mqm9790"},
    {"rail, 3 tiers", 96, "h100-8gpu", "switch: mqm9790, tiers: 3"},
    {"rail, 3 tiers, part filled", 75, "h100-8gpu", "switch: mqm9790, tiers: 3"},
    {"clos, 2 tiers", 96, "generic-1gpu",
     "topology: clos, switch: mqm9790, nic_gbps: 400, leaf_down: 8, leaf_up: 8"},
    {"clos, 3 tiers", 64, "h100-8gpu",
     "topology: clos, switch: mqm9790, tiers: 3, leaf_down: 16, leaf_up: 16"},
    {"oversubscribed", 96, "h100-8gpu", "topology: clos, switch: mqm9790, oversubscription: 3"},
    {"islands", 448, "h100-8gpu", "switch: mqm9790, oversubscription: [1, 7], islands: 2"},
    {"dense, 2 tiers", 90, "generic-1gpu",
     "topology: clos, switch: mqm9790, nic_gbps: 400, fill: dense, leaf_down: 13, leaf_up: 13"},
    {"dense, 3 tiers", 96, "h100-8gpu", "switch: mqm9790, tiers: 3, fill: dense"},
    {"two planes", 64, "h100-8gpu-2x200", "switch: sn5600, nic_gbps: 200, topology: dual-tor"},
    {"twin planes", 64, "b300-8gpu", "switch: sn5600, topology: twin-planar"},
    {"fast uplinks", 64, "h100-8gpu-2x200",
     "switch: sn5600, nic_gbps: 200, uplink_gbps: 400, planes: 2, leaf_down: 16, leaf_up: 8"},
    {"rail-only", 128, "h100-8gpu", "switch: mqm9790, topology: rail-only"},
    {"rail-only, 3 tiers", 128, "h100-8gpu", "switch: mqm9790, topology: rail-only, tiers: 3"},
    {"middle of rack", 64, "h100-8gpu", "switch: mqm9790, topology: middle-of-rack"},
    {"dragonfly", 72, "generic-1gpu",
     "topology: dragonfly, switch: mqm9790, global_ports: 2, group_switches: 4, "
     "hosts_per_switch: 2"},
    {"dragonfly, few groups", 40, "generic-1gpu",
     "topology: dragonfly, switch: mqm9790, global_ports: 4, group_switches: 4, "
     "hosts_per_switch: 2"},
    {"dragonfly+", 80, "generic-1gpu", "topology: dragonfly+, switch: mqm9790, group_switches: 4"},
    {"torus 4x4", 32, "generic-1gpu", "topology: torus, switch: mqm9790, dims: [4, 4]"},
    {"torus 5x3x2", 60, "generic-1gpu", "topology: torus, switch: mqm9790, dims: [5, 3, 2]"},
    {"torus 7x2", 28, "generic-1gpu", "topology: torus, switch: mqm9790, dims: [7, 2], trunk: 2"},
};
const uint32_t fixture_case_count = MYR_ARRAY_COUNT(fixture_cases);

static void stop(const char *what, const struct myr_err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    abort();
}

void fixture_text(struct fixture *fixture, const char *text, enum myr_net_id net)
{
    const struct myr_doc *doc;
    struct myr_err err;
    *fixture = (struct fixture){};
    myr_arena_init(&fixture->arena);
    if (myr_catalog_init(&fixture->catalog, &fixture->arena, &err) < 0 ||
        myr_doc_read_yaml(&fixture->arena, "spec", myr_str_from(text), &doc, &err) < 0 ||
        myr_spec_read(&fixture->arena, &fixture->catalog, doc, &fixture->spec, &err) < 0 ||
        myr_plan(&fixture->arena, &fixture->catalog, &fixture->spec, &fixture->design, &err) < 0 ||
        myr_graph_init(&fixture->graph, &fixture->arena, &fixture->design, net, &err) < 0) {
        stop(text, &err);
    }
}

void fixture_plan(struct fixture *fixture, uint32_t servers, const char *server, const char *net)
{
    char text[512];
    snprintf(text, sizeof(text), "servers: %u\nserver: %s\nnetworks:\n  compute: {%s}\n", servers,
             server, net);
    fixture_text(fixture, text, MYR_NET_COMPUTE);
}

void fixture_example(struct fixture *fixture, const char *name)
{
    char path[512];
    struct myr_buf text = {};
    struct myr_err err;
    snprintf(path, sizeof(path), "%s/examples/%s.yaml", MYR_SOURCE_DIR, name);
    if (myr_file_read(path, 1 << 20, &text, &err) < 0) {
        stop(path, &err);
    }
    fixture_text(fixture, text.data, MYR_NET_COMPUTE);
    myr_buf_done(&text);
}

void fixture_done(struct fixture *fixture)
{
    myr_spec_done(&fixture->spec);
    myr_catalog_done(&fixture->catalog);
    myr_arena_done(&fixture->arena);
}

uint64_t fixture_seed(uint64_t seed)
{
    const char *own = getenv("FABRIC_SEED");
    uint64_t value;
    return own && myr_str_to_u64(myr_str_from(own), &value) ? value : seed;
}

static bool is_host_link(const struct fixture *fixture, uint32_t link)
{
    const struct myr_design *design = &fixture->design;
    return design->cabletypes[design->cable_type[design->link_cable[link]]].layer == MYR_LAYER_HOST;
}

static uint32_t *some_links(const struct fixture *fixture, bool hosts, uint32_t *ret_count)
{
    uint32_t *links = myr_xcalloc((size_t)fixture->design.link_count + 1, sizeof(*links));
    *ret_count = 0;
    for (uint32_t link = 0; link < fixture->design.link_count; link++) {
        if (myr_graph_has_link(&fixture->graph, link) && (hosts || !is_host_link(fixture, link))) {
            links[(*ret_count)++] = link;
        }
    }
    return links;
}

uint32_t *fixture_links(const struct fixture *fixture, uint32_t *ret_count)
{
    return some_links(fixture, false, ret_count);
}

void fixture_heal(struct fixture *fixture)
{
    for (uint32_t link = 0; link < fixture->design.link_count; link++) {
        myr_graph_set_link(&fixture->graph, link, false);
    }
}

void fixture_break(struct fixture *fixture, struct myr_rng *rng, uint32_t count, bool hosts)
{
    uint32_t total;
    uint32_t *links = some_links(fixture, hosts, &total);
    if (total) {
        myr_rng_shuffle(rng, links, total);
    }
    for (uint32_t i = 0; i < count && i < total; i++) {
        myr_graph_set_link(&fixture->graph, links[i], true);
    }
    free(links);
}

uint32_t fixture_host_port(const struct fixture *fixture, struct myr_rng *rng)
{
    const struct myr_design *design = &fixture->design;
    for (;;) {
        uint32_t link = myr_rng_below(rng, design->link_count);
        if (myr_graph_has_link(&fixture->graph, link) && is_host_link(fixture, link)) {
            return design->link_a[link];
        }
    }
}

static uint32_t tier_of(const struct fixture *fixture, uint32_t device)
{
    const struct myr_network *net = fixture->graph.net;
    return device - net->first_leaf < net->leaf     ? 1
           : device - net->first_spine < net->spine ? 2
           : device - net->first_core < net->core   ? 3
                                                    : 0;
}

static bool climbs_once(const struct fixture *fixture, const struct myr_path *path)
{
    bool down = false;
    uint32_t tier = 0;
    for (uint32_t i = 0; i < path->count; i++) {
        uint32_t next =
            tier_of(fixture, myr_channel_to_device(&fixture->design, path->channels[i]));
        if (next == tier || (next > tier && down)) {
            return false;
        }
        down = next < tier;
        tier = next;
    }
    return tier == 0;
}

const char *fixture_path_fault(const struct fixture *fixture, uint32_t from, uint32_t to,
                               const struct myr_path *path, bool may_return)
{
    const struct myr_design *design = &fixture->design;
    if (path->count < 2 || path->count > MYR_PATH_MAX) {
        return "it has no sensible length";
    }
    if (myr_channel_from_port(design, path->channels[0]) != from ||
        myr_channel_from_port(design, myr_channel_back(path->channels[path->count - 1])) != to) {
        return "it does not join the two ports";
    }
    for (uint32_t i = 0; i < path->count; i++) {
        uint32_t channel = path->channels[i], here = myr_channel_to_device(design, channel);
        if (myr_graph_link_dead(&fixture->graph, myr_channel_link(channel))) {
            return "it goes over a dead link";
        }
        if (i + 1 < path->count &&
            design->port_device[myr_channel_from_port(design, path->channels[i + 1])] != here) {
            return "a channel does not start where the one before ends";
        }
        for (uint32_t k = 0; k < i && !may_return; k++) {
            if (myr_channel_to_device(design, path->channels[k]) == here) {
                return "it comes to a switch twice";
            }
        }
    }
    if (fixture->graph.clos && !climbs_once(fixture, path)) {
        return "it goes up again after going down";
    }
    return NULL;
}

uint32_t fixture_distance(const struct fixture *fixture, uint32_t from, uint32_t to)
{
    const struct myr_graph *graph = &fixture->graph;
    const struct myr_design *design = &fixture->design;
    uint32_t *hops = myr_xrealloc(NULL, graph->switch_count, sizeof(*hops));
    uint32_t *queue = myr_xcalloc(graph->switch_count, sizeof(*queue)), head = 0, tail = 0;
    memset(hops, 0xFF, graph->switch_count * sizeof(*hops));
    hops[from - graph->first_switch] = 0;
    queue[tail++] = from;
    while (head < tail) {
        uint32_t device = queue[head++];
        /* By ports and links of the design, not by the bundles under test. */
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            uint32_t link = design->port_link[p];
            if (link == MYR_NONE || myr_bitset_has(&graph->dead, link)) {
                continue;
            }
            uint32_t other = design->port_device[myr_design_peer(design, p)];
            uint32_t at = other - graph->first_switch;
            if (at < graph->switch_count && hops[at] == UINT32_MAX) {
                hops[at] = hops[device - graph->first_switch] + 1;
                queue[tail++] = other;
            }
        }
    }
    uint32_t result = hops[to - graph->first_switch];
    free(queue);
    free(hops);
    return result;
}
