/*
 * Designs of every shape, planned from short specs. Include it after cmocka.
 */
#pragma once

#include "myriad/plan.h"
#include "myriad/site.h"

struct planned {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
};

/* "name: x\nservers: N\n..." by its parts: what differs between shapes. */
static const struct shape {
    const char *name;
    uint32_t servers;
    const char *server, *networks;
} shapes[] = {
    {"rail", 40, "h100-8gpu", "compute: {switch: mqm9790-ns2f}, storage: {switch: mqm9790-ns2f}"},
    {"rail-3", 160, "h100-8gpu", "compute: {switch: mqm9790-ns2f, tiers: 3}"},
    {"dense", 200, "h100-8gpu", "compute: {switch: mqm9790-ns2f, tiers: 3, fill: dense}"},
    {"clos", 20, "h100-8gpu", "compute: {switch: sn5600, topology: clos}, oob: {}, service: {}"},
    {"rail-only", 70, "h100-8gpu", "compute: {switch: mqm9790-ns2f, topology: rail-only}"},
    {"twin", 32, "b300-8gpu", "compute: {switch: sn5600, topology: twin-planar}"},
    {"dragonfly", 36, "h100-8gpu",
     "compute: {topology: dragonfly, switch: mqm9790, global_ports: 4, group_switches: 8, "
     "hosts_per_switch: 4}"},
    {"torus", 16, "h100-8gpu", "compute: {topology: torus, dims: [4, 4, 2], trunk: 2}"},
};

static inline void plan_shape(struct planned *ret, const struct shape *shape)
{
    const struct myr_doc *doc;
    struct myr_err err = {};
    *ret = (struct planned){};
    myr_arena_init(&ret->arena);
    const char *text =
        myr_arena_printf(&ret->arena, "name: %s\nservers: %u\nserver: %s\nnetworks: {%s}\n",
                         shape->name, shape->servers, shape->server, shape->networks);
    int rc = myr_catalog_init(&ret->catalog, &ret->arena, &err);
    rc = rc < 0 ? rc : myr_doc_read_yaml(&ret->arena, shape->name, myr_str_from(text), &doc, &err);
    rc = rc < 0 ? rc : myr_spec_read(&ret->arena, &ret->catalog, doc, &ret->spec, &err);
    rc = rc < 0 ? rc : myr_plan(&ret->arena, &ret->catalog, &ret->spec, &ret->design, &err);
    if (rc < 0) {
        fail_msg("%s: %s", shape->name, err.message);
    }
}

static inline void planned_done(struct planned *planned)
{
    myr_spec_done(&planned->spec);
    myr_catalog_done(&planned->catalog);
    myr_arena_done(&planned->arena);
}

static inline bool has_network(const struct myr_design *design, uint32_t net)
{
    return design->networks[net].topology != MYR_TOPOLOGY_DEFAULT;
}
