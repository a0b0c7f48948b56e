#include "grow/grow_internal.h"

/*
 * Which place of the larger design each installed box takes. Hosts keep their number, leaves their
 * order, so that rail groups stay together. Spines of one block are alike and may be taken in any
 * order; where pods are cut anew, an installed spine goes to the pod in which most of its leaves
 * lie. A torus may grow along any of its axes: the one that breaks the fewest rings is taken.
 */

static void pair(struct grow *grow, uint32_t old, uint32_t now)
{
    MYR_ASSERT(grow->to[old] == MYR_NONE && grow->from[now] == MYR_NONE);
    grow->to[old] = now;
    grow->from[now] = old;
}

static void pair_rows(struct grow *grow, uint32_t first_old, uint32_t first_now, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        pair(grow, first_old + i, first_now + i);
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
                pair(grow, manager, at);
                break;
            }
        }
    }
}

/* Links of an installed spine to leaves that lie in each pod of the larger design, at most 'most'
 * of one pair. */
static void weigh_spine(const struct grow *grow, const struct myr_network *net, uint32_t spine,
                        uint32_t most, uint32_t *weight, uint32_t *seen)
{
    const struct myr_design *old = grow->old;
    uint32_t unit_leaves = net->leaf / net->planes / net->units;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t p = old->first_port[spine]; p < old->first_port[spine + 1]; p++) {
            uint32_t peer = myr_design_peer(old, p);
            uint32_t leaf = peer == MYR_NONE ? MYR_NONE : old->port_device[peer];
            if (leaf == MYR_NONE || old->place[leaf].kind != MYR_DEVICE_LEAF) {
                continue;
            }
            uint32_t at = (grow->to[leaf] - net->first_leaf) % unit_leaves / net->pod_leaves;
            if (pass == 0 && seen[leaf]++ < most) {
                weight[at]++;
            } else if (pass == 1) {
                seen[leaf] = 0;
            }
        }
    }
}

struct choice {
    uint32_t spine, pod, weight;
};

static int by_weight(const void *left, const void *right)
{
    const struct choice *a = left, *b = right;
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    if (a->spine != b->spine) {
        return a->spine < b->spine ? -1 : 1;
    }
    return a->pod < b->pod ? -1 : a->pod > b->pod;
}

/* The place in its pod that keeps spines of one old number apart from those of another. */
static uint32_t place_in_pod(const struct grow *grow, const struct myr_network *was,
                             const struct myr_network *net, uint32_t index, uint32_t first)
{
    uint32_t number = index % (was->pod_spines ? was->pod_spines : 1);
    uint32_t turn = was->pod_leaves ? index / was->pod_spines * was->pod_leaves : 0;
    uint32_t wanted = turn % net->pod_leaves / was->pod_leaves * was->pod_spines + number;
    for (uint32_t i = 0; i < net->pod_spines; i++) {
        uint32_t at = (wanted + i) % net->pod_spines;
        if (grow->from[first + at] == MYR_NONE) {
            return first + at;
        }
    }
    return MYR_NONE;
}

/* One fabric whose pods are cut anew: the heaviest pairs of spine and pod first. */
static void pair_pods(struct grow *grow, enum myr_net_id id, uint32_t fabric)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    uint32_t fabrics = net->planes * net->units;
    uint32_t spines = was->spine / fabrics, unit_spines = net->spine / fabrics;
    uint32_t most = net->leaf_up / net->pod_spines + (net->leaf_up % net->pod_spines > 0);
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    uint32_t *weight = MYR_ARENA_NEW(&scratch, uint32_t, net->pods);
    uint32_t *seen = MYR_ARENA_NEW(&scratch, uint32_t, grow->old->device_count);
    struct choice *choices = MYR_ARENA_NEW(&scratch, struct choice, (size_t)spines * net->pods);
    size_t count = 0;
    for (uint32_t i = 0; i < spines; i++) {
        memset(weight, 0, net->pods * sizeof(*weight));
        uint32_t best = 0;
        weigh_spine(grow, net, was->first_spine + fabric * spines + i, most, weight, seen);
        for (uint32_t pod = 0; pod < net->pods; pod++) {
            choices[count++] = (struct choice){i, pod, weight[pod]};
            best = weight[pod] > best ? weight[pod] : best;
        }
        grow->keep_most[id] += best;
    }
    grow->recut[id] = true;
    qsort(choices, count, sizeof(*choices), by_weight);
    for (size_t i = 0; i < count; i++) {
        uint32_t spine = was->first_spine + fabric * spines + choices[i].spine;
        uint32_t first = net->first_spine + fabric * unit_spines + choices[i].pod * net->pod_spines;
        if (grow->to[spine] == MYR_NONE) {
            uint32_t at = place_in_pod(grow, was, net, choices[i].spine, first);
            if (at != MYR_NONE) {
                pair(grow, spine, at);
            }
        }
    }
}

static void pair_cores(struct grow *grow, enum myr_net_id id, uint32_t fabric)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    uint32_t fabrics = net->planes * net->units;
    uint32_t cores = was->core / fabrics, unit_cores = net->core / fabrics;
    uint32_t first = net->first_core + fabric * unit_cores;
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < cores; i++) {
            uint32_t core = was->first_core + fabric * cores + i;
            uint32_t group = i / was->group_cores, at = i % was->group_cores;
            if (pass == 0 && group < net->core_groups && at < net->group_cores) {
                pair(grow, core, first + group * net->group_cores + at);
            } else if (pass == 1 && grow->to[core] == MYR_NONE) {
                while (grow->from[first + next] != MYR_NONE) {
                    next++;
                }
                pair(grow, core, first + next);
            }
        }
    }
}

static void pair_tiers(struct grow *grow, enum myr_net_id id)
{
    const struct myr_network *was = &grow->old->networks[id], *net = &grow->plan->networks[id];
    uint32_t fabrics = net->planes * net->units;
    uint32_t leaves = was->leaf / fabrics, spines = was->spine / fabrics;
    bool groups = net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    bool same_pods = groups || (net->pods <= 1 && was->pods <= 1) ||
                     (was->pod_leaves == net->pod_leaves && was->pod_spines == net->pod_spines);
    for (uint32_t fabric = 0; fabric < fabrics; fabric++) {
        pair_rows(grow, was->first_leaf + fabric * leaves,
                  net->first_leaf + fabric * (net->leaf / fabrics), leaves);
        if (same_pods) {
            pair_rows(grow, was->first_spine + fabric * spines,
                      net->first_spine + fabric * (net->spine / fabrics), spines);
        } else if (was->spine) {
            pair_pods(grow, id, fabric);
        }
        if (was->core) {
            pair_cores(grow, id, fabric);
        }
    }
}

static const uint8_t axis_orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* Rings that are cut open when axis i of the old torus becomes axis order[i] of the new one. */
static uint64_t rings_cut(const struct myr_network *was, const struct myr_network *net,
                          const uint8_t order[3])
{
    uint64_t cut = 0;
    for (uint32_t i = 0; i < was->dim_count; i++) {
        if (order[i] >= net->dim_count || net->dims[order[i]] < was->dims[i]) {
            return UINT64_MAX;
        }
        cut += net->dims[order[i]] > was->dims[i] ? was->leaf / was->dims[i] : 0;
    }
    return cut;
}

static uint32_t router_place(const struct myr_network *was, const struct myr_network *net,
                             const uint8_t order[3], uint32_t router)
{
    uint32_t at[MYR_SPEC_DIMS_MAX] = {0}, place = 0;
    for (uint32_t i = was->dim_count; i-- > 0;) {
        at[order[i]] = router % was->dims[i];
        router /= was->dims[i];
    }
    for (uint32_t i = 0; i < net->dim_count; i++) {
        place = place * net->dims[i] + at[i];
    }
    return place;
}

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
        pair(grow, was->first_leaf + router,
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
    pair_rows(grow, old->head->first_node, now->head->first_node, old->head->nodes);
    pair_rows(grow, old->head->first_storage, now->head->first_storage, old->head->storage_servers);
    pair_rows(grow, old->head->first_management, now->head->first_management,
              old->head->management_nodes);
    pair_managers(grow);
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
        pair_rows(grow, was->first_aggregation, net->first_aggregation, was->aggregation);
    }
    for (uint32_t i = 0; i < old->device_count; i++) {
        if (grow->to[i] == MYR_NONE) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf name = {0};
            myr_design_name(old, i, &name);
            return myr_err_set(err, MYR_EINFEASIBLE,
                               "%.80s: cannot grow from %.80s: there is no place for %s",
                               grow->names.planned, grow->names.installed, name.data);
        }
    }
    return MYR_OK;
}
