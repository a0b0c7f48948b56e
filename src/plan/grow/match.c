#include "grow/grow_internal.h"

/*
 * Which place of the larger design each installed box takes. Hosts keep their number, leaves their
 * order, so that rail groups stay together. Spines of one block are alike and may be taken in any
 * order; where pods are cut anew recut.c decides. A torus may grow along any of its axes: the one
 * that breaks the fewest rings is taken.
 */

/* In order, one by one. */
static void pair_rows(struct grow *grow, uint32_t first_old, uint32_t first_now, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        grow_pair(grow, first_old + i, first_now + i);
    }
}

/* A group may come onto more networks, never off one. */
bool grow_same_group(const struct grow *grow, const struct myr_server_group *old,
                     const struct myr_server_group *now)
{
    const struct myr_design *a = grow->old, *b = grow->plan;
    return strcmp(myr_design_str(a, old->name), myr_design_str(b, now->name)) == 0 &&
           strcmp(myr_design_str(a, old->server_part), myr_design_str(b, now->server_part)) == 0 &&
           (old->networks & ~now->networks) == 0;
}

/* Groups may stand in several stretches: nodes go into those of their group, in order. */
static void pair_nodes(struct grow *grow)
{
    const struct myr_design *old = grow->old, *now = grow->plan;
    if (!old->group_count || !now->group_count) {
        pair_rows(grow, old->head->first_node, now->head->first_node, old->head->nodes);
        return;
    }
    for (uint32_t i = 0; i < old->group_count; i++) {
        uint32_t put = 0;
        for (uint32_t k = 0; k < now->group_count; k++) {
            const struct myr_server_group *group = &now->groups[k];
            uint32_t first = now->head->first_node + group->first_node;
            for (uint32_t n = 0; n < group->nodes && put < old->groups[i].nodes; n++) {
                if (grow_same_group(grow, &old->groups[i], group) &&
                    grow->from[first + n] == MYR_NONE) {
                    grow_pair(grow, old->head->first_node + old->groups[i].first_node + put++,
                              first + n);
                }
            }
        }
    }
}

/* The rack at the same place in both rooms. */
static bool same_rack(const struct grow *grow, uint32_t old, uint32_t now)
{
    const struct myr_design *a = grow->old, *b = grow->plan;
    uint32_t x = a->device_rack[old], y = b->device_rack[now];
    return a->room && b->room && x != MYR_NONE && y != MYR_NONE &&
           a->racks[x].row == b->racks[y].row && a->racks[x].column == b->racks[y].column &&
           a->rack_more[x].building == b->rack_more[y].building;
}

/*
 * Power strips stay in their racks, cooling units with their lines, where there are some. What
 * finds no place in its own rack takes the next free one.
 */
static void pair_units(struct grow *grow, enum myr_device_kind kind)
{
    struct myr_device_range was = myr_design_range(grow->old, kind, MYR_NET_OOB);
    struct myr_device_range net = myr_design_range(grow->plan, kind, MYR_NET_OOB);
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t next = net.first;
        for (uint32_t i = was.first; i < was.first + was.count; i++) {
            for (uint32_t at = next; grow->to[i] == MYR_NONE && at < net.first + net.count; at++) {
                if (grow->from[at] == MYR_NONE && (pass == 1 || same_rack(grow, i, at))) {
                    grow_pair(grow, i, at);
                    next = at + 1; /* both are in the order of racks */
                }
            }
        }
    }
}

/* Fabric managers stand in the order of their networks, which may each have more of them now. */
static void pair_managers(struct grow *grow)
{
    const struct myr_design *old = grow->old, *now = grow->plan;
    uint32_t next = now->head->first_fabric_manager, end = next + now->head->fabric_managers;
    for (uint32_t i = 0; i < old->head->fabric_managers; i++) {
        uint32_t manager = old->head->first_fabric_manager + i;
        uint8_t net = old->devtypes[old->device_type[manager]].groups[0].net;
        for (uint32_t at = next; at < end; at++) {
            const struct myr_devtype *type = &now->devtypes[now->device_type[at]];
            if (grow->from[at] == MYR_NONE && type->groups[0].net == net) {
                grow_pair(grow, manager, at);
                break;
            }
        }
    }
}

/*
 * Aggregation switches, where an access switch reaches only some of them: each installed one goes
 * to the place that most of its access switches will reach.
 */
static void pair_aggregation(struct grow *grow, enum myr_net_id id)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    const struct myr_design *old = grow->old, *plan = grow->plan;
    uint32_t rows = was->aggregation, cols = net->aggregation;
    /* With as many as before, or where every access switch reaches all, they keep their order; so
     * they do below cores, where the i-th of each block meets the i-th group. */
    bool alike = rows == cols || net->leaf_up >= cols || was->core;
    if (alike || (uint64_t)rows * rows * cols > GROW_ASSIGN_MAX) {
        pair_rows(grow, was->first_aggregation, net->first_aggregation, rows);
        return;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    uint32_t *weight = MYR_ARENA_NEW(&scratch, uint32_t, (size_t)rows * cols);
    uint32_t *have = MYR_ARENA_NEW(&scratch, uint32_t, rows);
    uint32_t *want = MYR_ARENA_NEW(&scratch, uint32_t, cols);
    for (uint32_t i = 0; i < was->access; i++) {
        uint32_t a = was->first_access + i, b = net->first_access + i;
        memset(have, 0, rows * sizeof(*have));
        memset(want, 0, cols * sizeof(*want));
        for (uint32_t p = old->first_port[a]; p < old->first_port[a + 1]; p++) {
            uint32_t peer = myr_design_peer(old, p);
            uint32_t up = peer == MYR_NONE ? 0 : old->port_device[peer] - was->first_aggregation;
            /*
             * Other ports, as those of hosts, count nothing: the index is only kept within bounds.
             */
            have[up < rows ? up : 0] += peer != MYR_NONE && up < rows;
        }
        for (uint32_t p = plan->first_port[b]; p < plan->first_port[b + 1]; p++) {
            uint32_t peer = myr_design_peer(plan, p);
            uint32_t up = peer == MYR_NONE ? 0 : plan->port_device[peer] - net->first_aggregation;
            want[up < cols ? up : 0] += peer != MYR_NONE && up < cols;
        }
        /* Links of this access switch that would stay if row's box took col's place. */
        for (uint32_t k = 0; k < rows * cols; k++) {
            uint32_t mine = have[k / cols], theirs = want[k % cols];
            weight[k] += mine < theirs ? mine : theirs;
        }
    }
    uint32_t *to = MYR_ARENA_NEW(&scratch, uint32_t, rows);
    grow_assign(weight, rows, cols, to);
    for (uint32_t i = 0; i < rows; i++) {
        grow_pair(grow, was->first_aggregation + i, net->first_aggregation + to[i]);
    }
}

/* A core keeps group and number where there is such a place; the others take what is left. */
static void pair_cores(struct grow *grow, enum myr_net_id id, uint32_t fabric)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    uint32_t fabrics = net->access ? 1 : net->planes * net->units;
    uint32_t cores = was->core / fabrics, unit_cores = net->core / fabrics;
    uint32_t first = net->first_core + fabric * unit_cores;
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < cores; i++) {
            uint32_t core = was->first_core + fabric * cores + i;
            uint32_t group = i / was->group_cores, at = i % was->group_cores;
            if (pass == 0 && group < net->core_groups && at < net->group_cores) {
                grow_pair(grow, core, first + group * net->group_cores + at);
            } else if (pass == 1 && grow->to[core] == MYR_NONE) {
                while (grow->from[first + next] != MYR_NONE) {
                    next++;
                }
                grow_pair(grow, core, first + next);
            }
        }
    }
}

/* Each fabric (plane, or rail of rail-only) by itself: they are built alike. */
static void pair_tiers(struct grow *grow, enum myr_net_id id)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    uint32_t fabrics = net->planes * net->units;
    uint32_t leaves = was->leaf / fabrics, spines = was->spine / fabrics;
    bool groups = net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    /* Then spines and cores keep their numbers; a two-tier fabric is one pod. */
    bool same_pods = groups || (net->pods <= 1 && was->pods <= 1) ||
                     (was->pod_leaves == net->pod_leaves && was->pod_spines == net->pod_spines);
    for (uint32_t fabric = 0; fabric < fabrics; fabric++) {
        pair_rows(grow, was->first_leaf + fabric * leaves,
                  net->first_leaf + fabric * (net->leaf / fabrics), leaves);
        if (same_pods) {
            pair_rows(grow, was->first_spine + fabric * spines,
                      net->first_spine + fabric * (net->spine / fabrics), spines);
        } else {
            grow_recut(grow, id, fabric);
        }
        if (was->core && same_pods) {
            pair_cores(grow, id, fabric);
        }
    }
}

static const uint8_t axis_orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/*
 * Rings that are cut open when axis i of the old torus becomes axis order[i] of the new one. An
 * axis that gets longer opens all its rings. UINT64_MAX: the new torus is too short for it.
 */
static uint64_t rings_cut(const struct myr_network *was, const struct myr_network *net,
                          const uint8_t order[3])
{
    uint64_t cut = 0;
    MYR_ASSERT(was->dim_count <= MYR_SPEC_DIMS_MAX); /* designs are checked as they are read */
    for (uint32_t i = 0; i < was->dim_count; i++) {
        if (order[i] >= net->dim_count || net->dims[order[i]] < was->dims[i]) {
            return UINT64_MAX;
        }
        cut += net->dims[order[i]] > was->dims[i] ? was->leaf / was->dims[i] : 0;
    }
    return cut;
}

/*
 * Coordinates stay, the axes change their order; routers are numbered with the last axis fastest.
 */
static uint32_t router_place(const struct myr_network *was, const struct myr_network *net,
                             const uint8_t order[3], uint32_t router)
{
    uint32_t at[MYR_SPEC_DIMS_MAX] = {}, place = 0;
    for (uint32_t i = was->dim_count; i-- > 0;) {
        at[order[i]] = router % was->dims[i];
        router /= was->dims[i];
    }
    for (uint32_t i = 0; i < net->dim_count; i++) {
        place = place * net->dims[i] + at[i];
    }
    return place;
}

/*
 * Of equal orders of the axes the first, which leaves them as they are. The number of dimensions
 * must stay.
 */
static int pair_torus(struct grow *grow, enum myr_net_id id, struct myr_err *err)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    uint64_t least = UINT64_MAX;
    const uint8_t *best = NULL;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(axis_orders) && was->dim_count == net->dim_count;
         i++) {
        uint64_t cut = rings_cut(was, net, axis_orders[i]);
        if (cut < least) {
            least = cut;
            best = axis_orders[i];
        }
    }
    if (!best) {
        return myr_err_set(
            err, MYR_EINFEASIBLE,
            "%.80s: cannot grow from %.80s: its %s torus does not hold the installed "
            "one: no order of the axes makes room for all of its dimensions",
            grow->names.planned, grow->names.installed, myr_net_names[id]);
    }
    for (uint32_t router = 0; router < was->leaf; router++) {
        grow_pair(grow, was->first_leaf + router,
                  net->first_leaf + router_place(was, net, best, router));
    }
    return MYR_OK;
}

int grow_match(struct grow *grow, struct myr_err *err)
{
    const struct myr_design *old = grow->old, *now = grow->plan;
    for (uint32_t i = 0; i < old->device_count; i++) {
        grow->to[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i < now->device_count; i++) {
        grow->from[i] = MYR_NONE;
    }
    /* Hosts and boxes first: they do not hang on how the fabrics are cut. */
    pair_nodes(grow);
    pair_rows(grow, old->head->first_storage, now->head->first_storage, old->head->storage_servers);
    pair_rows(grow, old->head->first_management, now->head->first_management,
              old->head->management_nodes);
    pair_managers(grow);
    pair_units(grow, MYR_DEVICE_PDU);
    pair_units(grow, MYR_DEVICE_CDU);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *was = &old->networks[id], *net = &now->networks[id];
        if (!was->topology) {
            continue;
        }
        if (was->topology == MYR_TOPOLOGY_TORUS) {
            MYR_TRY(pair_torus(grow, (enum myr_net_id)id, err));
        } else if (was->leaf) {
            pair_tiers(grow, (enum myr_net_id)id);
        }
        pair_rows(grow, was->first_access, net->first_access, was->access);
        pair_aggregation(grow, (enum myr_net_id)id);
        if (was->access && was->core) {
            pair_cores(grow, (enum myr_net_id)id, 0);
        }
    }
    /* Nothing that stands may be left out. */
    for (uint32_t i = 0; i < old->device_count; i++) {
        if (grow->to[i] == MYR_NONE) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
            myr_design_name(old, i, &name);
            return myr_err_set(err, MYR_EINFEASIBLE,
                               "%.80s: cannot grow from %.80s: there is no place for %s",
                               grow->names.planned, grow->names.installed, name.data);
        }
    }
    return MYR_OK;
}
