#include "myriad/physical.h"
#include "plan_internal.h"

/*
 * The finished design is handed to the physical checker, which knows nothing of the planner. What
 * it finds and the planner has not said itself becomes a finding. Nothing of the planner's own
 * state goes with it: the view below is what the file will hold.
 */

static struct myr_design view_of(struct plan *plan, struct myr_network networks[MYR_NET_COUNT])
{
    struct myr_design view = plan->design;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        networks[id] = plan->nets[id].out;
    }
    view.networks = networks;
    view.devtypes = plan->devtypes.items;
    view.devtype_count = (uint32_t)plan->devtypes.count;
    view.cabletypes = plan->cabletypes.items;
    view.cabletype_count = (uint32_t)plan->cabletypes.count;
    view.cards = plan->cards.items;
    view.card_count = (uint32_t)plan->cards.count;
    view.bom = plan->bom.items;
    view.bom_count = (uint32_t)plan->bom.count;
    view.strings = plan->strings.data;
    view.string_bytes = (uint32_t)plan->strings.len;
    return view;
}

/* Whether the planner has named the same thing at the same place. */
static bool said(const struct plan *plan, const struct myr_physical_finding *found)
{
    for (size_t i = 0; found->also && i < plan->findings.count; i++) {
        const char *rule = plan->strings.data + plan->findings.items[i].rule;
        const char *where = plan->strings.data + plan->findings.items[i].where;
        const char *at = strstr(found->also, rule);
        size_t len = strlen(rule);
        bool word = at && (at == found->also || at[-1] == ' ') && (!at[len] || at[len] == ' ');
        if (word && strcmp(where, found->where) == 0) {
            return true;
        }
    }
    return false;
}

void plan_plugged(struct plan *plan)
{
    struct myr_network networks[MYR_NET_COUNT];
    struct myr_design view = view_of(plan, networks);
    plan->design.bisection_count = MYR_NET_COUNT;
    plan->design.bisections = MYR_ARENA_NEW(plan->arena, struct myr_bisection, MYR_NET_COUNT);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        struct myr_bisection *halves = &plan->design.bisections[id];
        if (plan->nets[id].present) {
            myr_physical_bisection(&view, id, halves);
        }
        plan->nets[id].out.bisection_gbps =
            halves->nodes_gbps < halves->ports_gbps ? halves->nodes_gbps : halves->ports_gbps;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_physical_done) struct myr_physical physical = {0};
    myr_arena_init(&arena);
    myr_physical_check(&arena, plan->catalog, &view, &physical);
    for (size_t i = 0; i < physical.findings.count; i++) {
        const struct myr_physical_finding *found = &physical.findings.items[i];
        if (!said(plan, found)) {
            plan_finding(plan, MYR_SEVERITY_ERROR, found->rule, found->where, found->remedy,
                         "%s (%llu time%s)", found->message, (unsigned long long)found->places,
                         found->places == 1 ? "" : "s");
        }
    }
}
