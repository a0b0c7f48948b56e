/* Server groups of a spec. */
#include "fields.h"
#include "spec_parts.h"

/*
 * A list takes the place of the default, all networks of the spec; an empty one would leave the
 * group unreachable.
 */
static int read_group_networks(const struct myr_doc *node, struct myr_spec *spec,
                               struct myr_spec_group *group, struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, "networks", err));
    group->networks = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        uint32_t net;
        MYR_TRY(
            myr_doc_choice(node->items[i], "networks", myr_net_names, MYR_NET_COUNT, &net, err));
        if (!spec->nets[net].node) {
            return myr_doc_error(err, node->items[i], MYR_EINVAL,
                                 "the spec has no network '%s'; add it under 'networks'",
                                 myr_net_names[net]);
        }
        group->networks |= 1U << net;
    }
    if (node->count == 0) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'networks' is empty; one at least is expected");
    }
    return MYR_OK;
}

/* Into the next free place of the spec, which the caller counts once the group is right. */
static int read_group(struct myr_arena *arena, const struct myr_catalog *catalog,
                      const struct myr_doc *node, struct myr_spec *spec, struct myr_err *err)
{
    struct group_nodes {
        const struct myr_doc *server, *networks;
    } nodes = {};
    static const struct field node_fields[] = {
        FIELD_ROW_NODE("server", struct group_nodes, server),
        FIELD_ROW_NODE("networks", struct group_nodes, networks),
    };
    static const struct field group_fields[] = {
        FIELD_ROW_TEXT("name", struct myr_spec_group, name),
        FIELD_ROW_U32("servers", struct myr_spec_group, servers, 1, MYR_SPEC_SERVERS_MAX),
    };
    struct myr_spec_group *group = &spec->groups[spec->group_count];
    const struct field_table tables[] = {
        {node_fields, MYR_ARRAY_COUNT(node_fields), &nodes},
        {group_fields, MYR_ARRAY_COUNT(group_fields), group},
    };
    *group = (struct myr_spec_group){.server_part = MYR_PART_NONE, .node = node};
    MYR_TRY(fields_read(arena, node, "a group", tables, 2, err));
    if (!group->name || !group->servers || !nodes.server) {
        return myr_doc_error(err, node, MYR_EINVAL, "the group lacks '%s'",
                             !group->name      ? "name"
                             : !group->servers ? "servers"
                                               : "server");
    }
    for (uint32_t i = 0; i < spec->group_count; i++) {
        if (strcmp(spec->groups[i].name, group->name) == 0) {
            return myr_doc_error(err, node, MYR_EINVAL, "two groups are called '%.40s'",
                                 group->name);
        }
    }
    MYR_TRY(myr_catalog_need(catalog, nodes.server, "server", MYR_PART_SERVER, &group->server_part,
                             err));
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        group->networks |= spec->nets[net].node ? 1U << net : 0;
    }
    return nodes.networks ? read_group_networks(nodes.networks, spec, group, err) : MYR_OK;
}

/* Nodes of the compute network are the first ones, whatever the order of the groups: later code
 * counts them from 0. Groups that are alike in that keep their order. */
static void put_compute_first(struct myr_spec *spec)
{
    for (uint32_t i = 1; i < spec->group_count; i++) {
        struct myr_spec_group group = spec->groups[i];
        uint32_t at = i;
        while (at > 0 && group.networks & 1U << MYR_NET_COMPUTE &&
               !(spec->groups[at - 1].networks & 1U << MYR_NET_COMPUTE)) {
            spec->groups[at] = spec->groups[at - 1];
            at--;
        }
        spec->groups[at] = group;
    }
}

/* The total stands as the spec's own number of servers, so that later code asks one place. */
int spec_read_groups(struct myr_arena *arena, const struct myr_catalog *catalog,
                     const struct myr_doc *node, struct myr_spec *spec, struct myr_err *err)
{
    uint64_t servers = 0;
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, "groups", err));
    if (node->count < 1 || node->count > MYR_GROUPS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "'groups' has %u entries, 1 to %d are expected",
                             node->count, MYR_GROUPS_MAX);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        MYR_TRY(read_group(arena, catalog, node->items[i], spec, err));
        const struct myr_spec_group *group = &spec->groups[spec->group_count++];
        servers += group->servers;
    }
    if (servers > MYR_SPEC_SERVERS_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "%llu servers in all groups, at most %d",
                             (unsigned long long)servers, MYR_SPEC_SERVERS_MAX);
    }
    put_compute_first(spec);
    if (!(spec->groups[0].networks & 1U << MYR_NET_COMPUTE)) {
        return myr_doc_error(err, node, MYR_EINVAL, "no group hangs on the compute network");
    }
    /* The first group stands for the spec where one kind of server is asked for. */
    spec->servers = (uint32_t)servers;
    spec->server_part = spec->groups[0].server_part;
    return MYR_OK;
}
