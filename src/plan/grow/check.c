#include <stdarg.h>
#include <stdio.h>

#include "grow/grow_internal.h"

/*
 * Whether the second design is the first one grown. What can never be (fewer servers, another
 * technology) is bad input; what is only not to be done with these counts (fewer switches of a
 * tier, a torus that does not hold the old one) is a growth that is impossible.
 */

MYR_PRINTF(4, 5)
static int refuse(const struct grow *grow, int code, struct myr_err *err, const char *fmt, ...)
{
    char text[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return myr_err_set(err, code, "%.80s: cannot grow from %.80s: %s", grow->names.planned,
                       grow->names.installed, text);
}

/* A number that must not shrink, or must stay. */
struct count {
    const char *what;
    uint32_t old, now;
};

static const char *group_text(const struct myr_design *design, const struct myr_server_group *one)
{
    return myr_design_str(design, one->name);
}

/* Servers of a group, over all its stretches; of other kinds or networks: none. */
static uint32_t servers_like(const struct grow *grow, const struct myr_server_group *old)
{
    const struct myr_design *plan = grow->plan;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < plan->group_count; i++) {
        sum += grow_same_group(grow, old, &plan->groups[i]) ? plan->groups[i].servers : 0;
    }
    return sum;
}

/* Every installed group goes on, with as many servers at least. */
static int check_groups(const struct grow *grow, struct myr_err *err)
{
    /*
     * A cluster without groups may become the first of several; one with groups cannot lose them.
     */
    const struct myr_design *old = grow->old;
    if (!grow->plan->group_count) {
        return refuse(grow, MYR_EINVAL, err, "it has no groups of servers, installed are %u",
                      old->group_count);
    }
    const struct myr_server_group *first = &grow->plan->groups[0];
    const char *stands = myr_design_str(old, old->head->server_part);
    if (!old->group_count &&
        (first->servers < old->head->servers ||
         strcmp(myr_design_str(grow->plan, first->server_part), stands) != 0)) {
        return refuse(grow, MYR_EINVAL, err,
                      "none of its groups on the compute network has %u servers '%.60s', which are "
                      "installed",
                      old->head->servers, stands);
    }
    for (uint32_t i = 0; i < old->group_count; i++) {
        const struct myr_server_group *one = &old->groups[i];
        uint32_t stand = 0, now = servers_like(grow, one);
        for (uint32_t k = 0; k < old->group_count; k++) {
            bool same = strcmp(group_text(old, &old->groups[k]), group_text(old, one)) == 0;
            /* A group of a grown design may stand in several stretches. */
            stand += same ? old->groups[k].servers : 0;
        }
        if (now < stand) {
            return refuse(grow, MYR_EINVAL, err,
                          "its group '%.40s' has %u servers '%.60s' on the networks of those "
                          "installed, installed are %u",
                          group_text(old, one), now, myr_design_str(old, one->server_part), stand);
        }
    }
    return MYR_OK;
}

/* Groups are compared by themselves; without them there is one kind of server. */
static int check_hosts(const struct grow *grow, struct myr_err *err)
{
    const struct myr_design_head *old = grow->old->head, *now = grow->plan->head;
    const char *old_server = myr_design_str(grow->old, old->server_part);
    const char *now_server = myr_design_str(grow->plan, now->server_part);
    if (grow->old->group_count || grow->plan->group_count) {
        MYR_TRY(check_groups(grow, err));
    } else if (strcmp(old_server, now_server) != 0) {
        return refuse(grow, MYR_EINVAL, err, "its servers are '%.60s', those installed '%.60s'",
                      now_server, old_server);
    }
    const struct count counts[] = {
        {"servers", old->servers, now->servers},
        {"nodes", old->nodes, now->nodes},
        {"storage servers", old->storage_servers, now->storage_servers},
        {"management nodes", old->management_nodes, now->management_nodes},
        {"fabric managers", old->fabric_managers, now->fabric_managers},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        if (counts[i].now < counts[i].old) {
            /* Most often the two were given in the wrong order. */
            int rc = refuse(grow, MYR_EINVAL, err, "it has %u %s, installed are %u", counts[i].now,
                            counts[i].what, counts[i].old);
            myr_err_hint(err, "the smaller cluster comes first: myriad plan grow SMALL LARGE");
            return rc;
        }
    }
    if (old->gpus_per_node != now->gpus_per_node ||
        old->nodes_per_server != now->nodes_per_server) {
        return refuse(grow, MYR_EINVAL, err, "a server has %u GPUs, installed ones have %u",
                      now->gpus_per_node * now->nodes_per_server,
                      old->gpus_per_node * old->nodes_per_server);
    }
    /* Bills in two currencies cannot be subtracted. */
    const char *old_money = myr_design_str(grow->old, old->currency);
    const char *now_money = myr_design_str(grow->plan, now->currency);
    if (strcmp(old_money, now_money) != 0) {
        return refuse(grow, MYR_EINVAL, err, "its prices are in %.16s, those installed in %.16s",
                      now_money, old_money);
    }
    return MYR_OK;
}

/*
 * All switches of a tier are of one part, so the first one tells it; NULL: there is no such tier.
 */
static const char *part_of(const struct myr_design *design, uint32_t first, uint32_t count)
{
    return count ? myr_design_str(design, design->devtypes[design->device_type[first]].part) : NULL;
}

/* A tier that one of the two lacks is not compared. */
static int check_parts(const struct grow *grow, uint32_t id, struct myr_err *err)
{
    const struct myr_network *old = &grow->old->networks[id], *now = &grow->plan->networks[id];
    const struct {
        const char *what, *old, *now;
    } parts[] = {
        {"leaf", part_of(grow->old, old->first_leaf, old->leaf),
         part_of(grow->plan, now->first_leaf, now->leaf)},
        {"spine", part_of(grow->old, old->first_spine, old->spine),
         part_of(grow->plan, now->first_spine, now->spine)},
        {"core", part_of(grow->old, old->first_core, old->core),
         part_of(grow->plan, now->first_core, now->core)},
        {"access switch", part_of(grow->old, old->first_access, old->access),
         part_of(grow->plan, now->first_access, now->access)},
        {"aggregation switch", part_of(grow->old, old->first_aggregation, old->aggregation),
         part_of(grow->plan, now->first_aggregation, now->aggregation)},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        if (parts[i].old && parts[i].now && strcmp(parts[i].old, parts[i].now) != 0) {
            return refuse(grow, MYR_EINVAL, err,
                          "its %s network has '%.60s' as %s, installed '%.60s'", myr_net_names[id],
                          parts[i].now, parts[i].what, parts[i].old);
        }
    }
    return MYR_OK;
}

/* What cannot be changed under a cluster that runs. */
static int check_technology(const struct grow *grow, uint32_t id, struct myr_err *err)
{
    const struct myr_network *old = &grow->old->networks[id], *now = &grow->plan->networks[id];
    if (!now->topology) {
        return refuse(grow, MYR_EINVAL, err, "it has no %s network, which is installed",
                      myr_net_names[id]);
    }
    if (old->topology != now->topology) {
        return refuse(grow, MYR_EINVAL, err, "its %s network is '%s', installed is '%s'",
                      myr_net_names[id], myr_topology_name((enum myr_topology)now->topology),
                      myr_topology_name((enum myr_topology)old->topology));
    }
    const struct count counts[] = {
        {"planes", old->planes, now->planes},
        {"rails", old->rails, now->rails},
        {"Gb/s for a host port", old->host_gbps, now->host_gbps},
        {"Gb/s between switches", old->fabric_gbps, now->fabric_gbps},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        /* A network of one tier has no speed between switches. */
        bool none = i == 3 && (!old->fabric_gbps || !now->fabric_gbps);
        if (counts[i].old != counts[i].now && !none) {
            return refuse(grow, MYR_EINVAL, err, "its %s network has %u %s, installed are %u",
                          myr_net_names[id], counts[i].now, counts[i].what, counts[i].old);
        }
    }
    return check_parts(grow, id, err);
}

/*
 * Boxes that stand are used: nothing is thrown out of a cluster that grows. Exit status 1, unlike
 * what is checked above: other numbers of servers, or another shape, could grow.
 */
static int check_counts(const struct grow *grow, uint32_t id, struct myr_err *err)
{
    const struct myr_network *old = &grow->old->networks[id], *now = &grow->plan->networks[id];
    const struct count counts[] = {
        {"leaf switches", old->leaf, now->leaf},
        {"spine switches", old->spine, now->spine},
        {"core switches", old->core, now->core},
        {"access switches", old->access, now->access},
        {"aggregation switches", old->aggregation, now->aggregation},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        if (counts[i].now < counts[i].old) {
            int rc = refuse(grow, MYR_EINFEASIBLE, err,
                            "its %s network needs %u %s, installed are %u, and a cluster that "
                            "grows gives no box back",
                            myr_net_names[id], counts[i].now, counts[i].what, counts[i].old);
            myr_err_hint(err,
                         "fewer servers or another shape (tiers, pod_leaves, fill) keeps them");
            return rc;
        }
    }
    bool groups =
        old->topology == MYR_TOPOLOGY_DRAGONFLY || old->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    /* A group keeps its switches and their uplinks; only hosts may come to a switch. */
    if (groups &&
        (old->group_switches != now->group_switches || old->leaf_up != now->leaf_up ||
         old->spine_up != now->spine_up || now->hosts_per_switch < old->hosts_per_switch)) {
        return refuse(grow, MYR_EINFEASIBLE, err,
                      "the groups of its %s network have another shape: %u switches with %u hosts "
                      "each, installed are %u with %u",
                      myr_net_names[id], now->group_switches, now->hosts_per_switch,
                      old->group_switches, old->hosts_per_switch);
    }
    return MYR_OK;
}

/* Networks that are new in the larger design need no check. */
int grow_check(const struct grow *grow, struct myr_err *err)
{
    MYR_TRY(check_hosts(grow, err));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (grow->old->networks[id].topology) {
            MYR_TRY(check_technology(grow, id, err));
            MYR_TRY(check_counts(grow, id, err));
        }
    }
    return MYR_OK;
}
