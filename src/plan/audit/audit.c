/*
 * The order of an audit. The list is read, the spec is planned as it stands and as the list would
 * have it, and from the second plan the needs follow. Claims come next, then the list is matched
 * and judged, and last the layout, which uses the same machinery with needs and lines of its own.
 */
#include "audit/audit.h"

/* A part of this kind that the list has for the network, and no other; MYR_PART_NONE else. */
static uint32_t only_part(const struct audit *audit, uint32_t net, enum myr_part_kind kind)
{
    uint32_t found = MYR_PART_NONE;
    for (size_t i = 0; i < audit->lines.count; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        bool here = net == AUDIT_ANY_NET || line->says.net == net;
        if (!here || line->part == MYR_PART_NONE || audit_part(audit, line->part)->kind != kind ||
            (kind == MYR_PART_STORAGE && audit_is_tier(audit, line->part))) {
            continue;
        }
        if (found != MYR_PART_NONE && found != line->part) {
            return MYR_PART_NONE;
        }
        found = line->part;
    }
    return found;
}

/*
 * The spec as the document would have it: its modules, cables and quantities are judged, so the
 * spec's pins of them do not count; what the spec leaves open is as the document has it.
 */
static void open_spec(struct audit *audit)
{
    struct myr_spec *open = &audit->open;
    *open = *audit->spec;
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        struct myr_spec_net *of = &open->nets[net];
        of->quantity_count = 0;
        for (uint32_t role = 0; role < MYR_PIN_ROLE_COUNT; role++) {
            /* Cards are given: they say what modules must fit. */
            of->pins[role] = role == MYR_PIN_NIC ? of->pins[role] : MYR_PART_NONE;
        }
        if (of->node && of->switch_part == MYR_PART_NONE) {
            of->switch_part = only_part(audit, net, MYR_PART_SWITCH);
        }
    }
    if (open->server_part == MYR_PART_NONE) {
        open->server_part = only_part(audit, AUDIT_ANY_NET, MYR_PART_SERVER);
    }
    if (open->storage.node && open->storage.server_part == MYR_PART_NONE) {
        open->storage.server_part = only_part(audit, AUDIT_ANY_NET, MYR_PART_STORAGE);
    }
}

/* The first plan is what claims may quote; the second is what the list is held against. */
static int plan_both(struct audit *audit, const struct myr_plan_listener *listener,
                     struct myr_err *err)
{
    MYR_TRY(
        myr_plan_heard(audit->arena, audit->catalog, audit->spec, listener, &audit->asked, err));
    open_spec(audit);
    /* What the document chose may be impossible; then the spec's own choice is the measure. */
    if (myr_plan_heard(audit->arena, audit->catalog, &audit->open, listener, &audit->plan, NULL) <
        0) {
        for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
            audit->open.nets[net].switch_part = audit->spec->nets[net].switch_part;
        }
        audit->open.server_part = audit->spec->server_part;
        audit->open.storage.server_part = audit->spec->storage.server_part;
        return myr_plan_heard(audit->arena, audit->catalog, &audit->open, listener, &audit->plan,
                              err);
    }
    return MYR_OK;
}

/* ---- which kind of link the document has, layer by layer ---- */

/*
 * Whether any line of the network, or of none, could make such links: cables with ends on them, or
 * fibres and modules.
 */
static bool has_kind(const struct audit *audit, uint32_t net, bool fixed)
{
    for (size_t i = 0; i < audit->lines.count; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        const struct myr_part *part =
            line->part == MYR_PART_NONE ? NULL : audit_part(audit, line->part);
        bool here = line->says.net >= MYR_NET_COUNT || line->says.net == net;
        if (here && part &&
            (part->kind == MYR_PART_CABLE ? part->cable.fixed_ends == fixed
                                          : part->kind == MYR_PART_TRANSCEIVER && !fixed)) {
            return true;
        }
    }
    return false;
}

/*
 * Bit k of 'fixed_layers': layer k has cables with ends. The other kind's needs, and with them all
 * modules of the layer, are off.
 */
static void set_kinds(struct audit *audit, uint32_t net, uint32_t fixed_layers)
{
    for (uint32_t k = 0; k < audit->need_count; k++) {
        struct audit_need *need = &audit->needs[k];
        bool link = need->role == AUDIT_CABLE || need->role == AUDIT_MODULE;
        if (link && need->net == net) {
            bool fixed = fixed_layers >> need->layer & 1;
            need->off = need->role == AUDIT_CABLE ? need->fixed != fixed : fixed;
        }
    }
}

/* Shares, not pieces: else the layer with most cables would decide alone. */
static double missing(const struct audit *audit, uint32_t net)
{
    double share = 0;
    for (uint32_t k = 0; k < audit->need_count; k++) {
        const struct audit_need *need = &audit->needs[k];
        if (need->net == net && !need->off) {
            share += (double)(need->quantity - need->met) / (double)need->quantity;
        }
    }
    return share;
}

/* The planner's own choice as such bits; 'ret_layers' are the layers that the network has. */
static uint32_t planned_kinds(const struct audit *audit, uint32_t net, uint32_t *ret_layers)
{
    uint32_t kinds = 0;
    *ret_layers = 0;
    for (uint32_t k = 0; k < audit->need_count; k++) {
        const struct audit_need *need = &audit->needs[k];
        if (need->role == AUDIT_CABLE && need->net == net) {
            *ret_layers |= 1U << need->layer;
            kinds |= need->fixed && need->part != MYR_PART_NONE ? 1U << need->layer : 0;
        }
    }
    return kinds;
}

/*
 * Copper here and fibre there is the document's choice: of the choices that its lines allow, the
 * one that leaves least missing is meant, and the planner's own where several do.
 */
static void choose_kinds(struct audit *audit, uint32_t net)
{
    uint32_t layers, best = planned_kinds(audit, net, &layers), planned = best;
    bool may_fix = has_kind(audit, net, true), may_open = has_kind(audit, net, false);
    set_kinds(audit, net, best);
    (void)audit_match(audit, audit_grade_bom);
    double least = missing(audit, net);
    /* At most 32 choices, each matched anew; none where the planned one leaves nothing open. */
    for (uint32_t kinds = 0; least > 0 && kinds < 1U << MYR_LAYER_COUNT; kinds++) {
        bool fixes = (kinds & ~planned) != 0, opens = (planned & ~kinds) != 0;
        if ((kinds & ~layers) || kinds == planned || (fixes && !may_fix) || (opens && !may_open)) {
            continue;
        }
        set_kinds(audit, net, kinds);
        (void)audit_match(audit, audit_grade_bom);
        double share = missing(audit, net);
        /* Only what is really better replaces the planner's choice. */
        if (share < least - 1e-9) {
            least = share;
            best = kinds;
        }
    }
    set_kinds(audit, net, best);
}

/* Lines or needs have changed, so the table has another shape. */
static void take_flow(struct audit *audit)
{
    audit->flow =
        MYR_ARENA_NEW(audit->arena, uint64_t, audit->lines.count * (size_t)audit->need_count);
}

/* Ethernet networks with fixed ports have no choice of kinds: their cables have ends. */
static void audit_list(struct audit *audit)
{
    take_flow(audit);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        uint32_t topology = audit->plan.networks[net].topology;
        if (topology && topology != MYR_TOPOLOGY_ACCESS) {
            choose_kinds(audit, net);
        }
    }
    (void)audit_match(audit, audit_grade_bom);
    audit->said = audit->out->findings.count;
    audit_judge_bom(audit);
    audit_claimed_cost(audit);
}

/* The list is read first: what the spec leaves open is taken from it. */
static int run(struct audit *audit, const struct myr_audit_document *document, struct myr_err *err)
{
    MYR_TRY(audit_read_bom(audit, document->bom_file, document->bom, err));
    MYR_TRY(plan_both(audit, document->listener, err));
    audit_needs_bom(audit);
    if (document->claims) { /* first: stated watts count in the racks */
        MYR_TRY(audit_claims(audit, document->claims, err));
    }
    audit_list(audit);
    if (document->layout_file) {
        /* The bill is judged; its room serves the lines of the layout. */
        audit->lines.count = 0;
        MYR_TRY(audit_read_layout(audit, document->layout_file, document->layout, err));
        audit_needs_layout(audit);
        take_flow(audit);
        (void)audit_match(audit, audit_grade_layout);
        audit_judge_layout(audit);
    }
    return MYR_OK;
}

/* 'ret' is only written where all went well. */
int myr_audit_run(struct myr_arena *arena, const struct myr_catalog *catalog,
                  const struct myr_spec *spec, const struct myr_audit_document *document,
                  struct myr_audit *ret, struct myr_err *err)
{
    struct myr_audit out = {};
    struct audit *audit = MYR_ARENA_ONE(arena, struct audit);
    audit->arena = arena;
    audit->catalog = catalog;
    audit->spec = spec;
    audit->out = &out;
    audit->stated_total = -1;
    audit->watts = MYR_ARENA_NEW(arena, double, catalog->parts.count);
    int rc = run(audit, document, err);
    myr_vec_done(&audit->lines);
    myr_vec_done(&audit->placed);
    /* What was found so far is of no use when an input cannot be read. */
    if (rc < 0) {
        myr_audit_done(&out);
        return rc;
    }
    *ret = out;
    return MYR_OK;
}

void myr_audit_done(struct myr_audit *audit)
{
    myr_vec_done(&audit->findings);
    myr_vec_done(&audit->doubts);
}
