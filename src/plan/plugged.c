#include "myriad/physical.h"
#include "plan_internal.h"

/*
 * The finished design is handed to the physical checker, which knows nothing of the planner. What
 * it finds and the planner has not said itself becomes a finding. Nothing of the planner's own
 * state goes with it: the view below is what the file will hold.
 */

/* The vectors as they are now, without a copy: it holds only while nothing is added to them. */
static struct myr_design view_of(struct plan *plan, struct myr_network networks[MYR_NET_COUNT])
{
    /* Arrays that are final already come with the design; the rest is still in the plan. */
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

/* Whether a list of words, parted by blanks, has this one; NULL is an empty list. */
static bool among(const char *words, const char *word)
{
    size_t len = strlen(word);
    /* Only whole words count: one may be part of another. */
    for (const char *at = words; at && (at = strstr(at, word)); at++) {
        if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' ')) {
            return true;
        }
    }
    return false;
}

/* What the planner has said of the same thing at the same place; NULL: nothing. */
static const struct myr_finding *said(const struct myr_finding *findings, size_t count,
                                      const char *strings, const struct myr_physical_finding *found)
{
    for (size_t i = 0; i < count; i++) {
        const char *rule = strings + findings[i].rule;
        if ((among(found->also, rule) || strcmp(found->rule, rule) == 0) &&
            strcmp(strings + findings[i].where, found->where) == 0) {
            return &findings[i];
        }
    }
    return NULL;
}

/* Bisections are measured here as well: they are flows over the finished cables. */
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
        /* The network's figure is the worse of both halvings. */
        plan->nets[id].out.bisection_gbps =
            halves->nodes_gbps < halves->ports_gbps ? halves->nodes_gbps : halves->ports_gbps;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_physical_done) struct myr_physical physical = {};
    /* An arena of its own: nothing that the checker makes stays with the plan. */
    myr_arena_init(&arena);
    myr_physical_check(&arena, plan->catalog, &view, &physical);
    /* Only what was said before: two findings of the checker do not hide each other. */
    size_t planned = plan->findings.count;
    for (size_t i = 0; i < physical.findings.count; i++) {
        const struct myr_physical_finding *found = &physical.findings.items[i];
        if (!said(plan->findings.items, planned, plan->strings.data, found)) {
            plan_finding(plan, MYR_SEVERITY_ERROR, found->rule, found->where, found->remedy,
                         "%s (%llu time%s)", found->message, (unsigned long long)found->places,
                         found->places == 1 ? "" : "s");
        }
    }
}

/* The same check of any design, also one that was read from a file. Returns how many findings the
 * spec has not accepted. */
uint32_t myr_plan_physical(const struct myr_design *design, const struct myr_catalog *catalog,
                           struct myr_answer *answer, const struct myr_value **ret_rows)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("rule", "RULE", 0),         MYR_COLUMN("where", "WHERE", 0),
        MYR_COLUMN("message", "FINDING", 0),   MYR_COLUMN("places", "PLACES", MYR_COLUMN_NUMBER),
        MYR_COLUMN("accepted", "ACCEPTED", 0),
    };
    MYR_CLEANUP(myr_physical_done) struct myr_physical physical = {};
    uint32_t open = 0;
    myr_physical_check(answer->arena, catalog, design, &physical);
    *ret_rows = myr_answer_list(answer, "physical");
    for (size_t i = 0; i < physical.findings.count; i++) {
        const struct myr_physical_finding *found = &physical.findings.items[i];
        /* Accepted is what the design has as a finding and the spec has accepted; all else is open.
         */
        const struct myr_finding *known =
            said(design->findings, design->finding_count, design->strings, found);
        bool accepted = known && known->accepted;
        open += !accepted;
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "rule", found->rule);
        myr_answer_text(answer, "where", found->where);
        myr_answer_text(answer, "message", found->message);
        myr_answer_text(answer, "remedy", found->remedy);
        myr_answer_u64(answer, "places", found->places);
        myr_answer_bool(answer, "accepted", accepted);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_para(answer, "%s and %s held against the parts: %s, %s not accepted.",
                    MYR_COUNT(design->devtype_count, "device type"),
                    MYR_COUNT(design->cabletype_count, "cable type"),
                    MYR_COUNT(physical.findings.count, "finding"), MYR_GROUPED(open));
    if (physical.findings.count) {
        myr_answer_table(answer, *ret_rows, columns, MYR_ARRAY_COUNT(columns));
    }
    return open;
}
