#include "plan_internal.h"

/*
 * Counts of a whole spec: defaults first, then network by network, each by its topology. Nothing is
 * built yet; what comes out are the numbers of each network, how they came about, and how many
 * links they will have.
 */

/* All but access networks have their switches and rails from resolve.c. */
static int size_net(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    switch (net->out.topology) {
    case MYR_TOPOLOGY_ACCESS:
        return plan_size_access(plan, net, err);
    case MYR_TOPOLOGY_DRAGONFLY:
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        return plan_size_dragonfly(plan, net, err);
    case MYR_TOPOLOGY_TORUS:
        return plan_size_torus(plan, net, err);
    default:
        return plan_size_clos(plan, net, err);
    }
}

/* In the order of the networks: out of band comes last, as it serves the switches of all others. */
int plan_size(struct plan *plan, struct myr_err *err)
{
    MYR_TRY(plan_resolve(plan, err));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (plan->nets[id].present) {
            plan->at_net = (enum myr_net_id)id;
            MYR_TRY(size_net(plan, &plan->nets[id], err));
        }
    }
    return MYR_OK;
}
