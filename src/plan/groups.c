#include "plan_internal.h"

/*
 * Servers of several kinds. They share networks where their NICs are alike: one network has one
 * speed towards its hosts, and rails need as many ports on every node. What differs in that needs a
 * network of its own, or none.
 */

/* Nodes of a group follow those of the groups before it. */
static void take_group(struct plan *plan, struct plan_group group)
{
    group.server = part_at(plan, group.server_part);
    group.first = plan->nodes;
    plan->groups[plan->group_count++] = group;
}

/* Fills plan->groups, nodes and gpus. Numbers are bounded before they are narrowed to 32 bits. */
int plan_groups(struct plan *plan, struct myr_err *err)
{
    const struct myr_spec *spec = plan->spec;
    uint64_t nodes = 0, gpus = 0;
    /* One wattage for servers of several kinds would be wrong for all but one. */
    if (spec->group_count > 1 && spec->room.node && spec->room.server_kw > 0) {
        return myr_doc_error(err, spec->room.node, MYR_EINVAL,
                             "'server_kw' is one number and the spec has %u groups; leave it out, "
                             "or state 'watts' of their parts",
                             spec->group_count);
    }
    /* A spec without groups is planned as one group of all servers, on all networks. */
    for (uint32_t i = 0; i < (spec->group_count ? spec->group_count : 1); i++) {
        const struct myr_spec_group *from = &spec->groups[i];
        take_group(plan, spec->group_count ? (struct plan_group){.name = from->name,
                                                                 .server_part = from->server_part,
                                                                 .servers = from->servers,
                                                                 .networks = from->networks}
                                           : (struct plan_group){.server_part = plan->server_part,
                                                                 .servers = spec->servers,
                                                                 .networks = UINT32_MAX});
        struct plan_group *group = &plan->groups[i];
        if (spec->room.node && group->server->server.nodes != plan->server->server.nodes) {
            return myr_doc_error(err, spec->room.node, MYR_EINVAL,
                                 "racks are planned for servers with as many nodes each; '%s' has "
                                 "%u, '%s' %u",
                                 plan->server->id, plan->server->server.nodes, group->server->id,
                                 group->server->server.nodes);
        }
        /* In 64 bits: the product may be more than 32 hold. */
        uint64_t own = (uint64_t)group->servers * group->server->server.nodes;
        nodes += own;
        gpus += own * group->server->server.gpus_per_node;
        /* The other half of all devices is for switches, storage and the rest. */
        if (nodes > PLAN_DEVICES_MAX / 2 || gpus > UINT32_MAX) {
            return myr_doc_error(err, spec->root, MYR_ERANGE,
                                 "%llu nodes are more than the %u that one design may have",
                                 (unsigned long long)nodes, PLAN_DEVICES_MAX / 2);
        }
        group->nodes = (uint32_t)own;
        plan->nodes = (uint32_t)nodes;
    }
    plan->gpus = (uint32_t)gpus;
    return MYR_OK;
}

/* Only where the spec named groups: without them the head says it all. */
void plan_keep_groups(struct plan *plan)
{
    struct myr_design *design = &plan->design;
    design->group_count = plan->spec->group_count;
    if (design->group_count == 0) {
        return;
    }
    design->groups = MYR_ARENA_NEW(plan->arena, struct myr_server_group, plan->group_count);
    for (uint32_t i = 0; i < design->group_count; i++) {
        const struct plan_group *group = &plan->groups[i];
        const struct myr_part_server *server = &group->server->server;
        uint32_t gpu = myr_catalog_find(plan->catalog, myr_str_from(server->gpu));
        design->groups[i] = (struct myr_server_group){
            .name = plan_string(plan, group->name),
            .server_part = plan_string(plan, group->server->id),
            .gpu_part = plan_string(plan, part_at(plan, gpu)->id),
            .servers = group->servers,
            .first_node = group->first,
            .nodes = group->nodes,
            .nodes_per_server = server->nodes,
            .gpus_per_node = server->gpus_per_node,
            .scale_up_gpus = server->scale_up_gpus ? server->scale_up_gpus : 1,
            .scale_up_gbps = server->scale_up_gbps,
            .networks = group->networks,
        };
    }
}
