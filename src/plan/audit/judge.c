/*
 * From the flow to findings. Missing pieces first, then what is there and does not fit, then sums.
 * A line that a finding names is marked, so that one mistake is not told twice.
 */
#include <math.h>
#include <stdio.h>

#include "audit/audit.h"

/*
 * What is told in one finding. Modules and cables are added up over layers and lengths, since lines
 * of a list do not say where theirs belong; everything else goes part by part.
 */
static bool same_kind(const struct audit_need *a, const struct audit_need *b)
{
    return a->role == b->role && a->net == b->net && a->end == b->end && a->fixed == b->fixed &&
           (a->legs > 1) == (b->legs > 1) && a->scope == b->scope &&
           (a->role == AUDIT_CABLE || a->role == AUDIT_MODULE || a->part == b->part);
}

/* For people; the layer is left out, since layers were added up. */
static const char *kind_words(const struct audit_need *need)
{
    if (need->role == AUDIT_MODULE) {
        return need->end == AUDIT_END_NIC ? "modules in NICs" : "modules in switches";
    }
    if (need->role == AUDIT_CABLE) {
        return need->fixed      ? "cables with ends"
               : need->legs > 1 ? "splitter cables"
                                : "straight fibres";
    }
    return need->what;
}

static const char *net_words(const struct audit_need *need)
{
    return need->net < MYR_NET_COUNT ? myr_net_names[need->net] : "the list";
}

/*
 * The line that serves most of these needs, or of those that stay open; SIZE_MAX: none does. For
 * the place of a finding: where most of the kind stands is where one looks first.
 */
static size_t busiest(const struct audit *audit, const struct audit_need *like, bool open)
{
    uint64_t most = 0;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < audit->lines.count; i++) {
        uint64_t flow = 0;
        for (uint32_t k = 0; k < audit->need_count; k++) {
            const struct audit_need *need = &audit->needs[k];
            bool counts = same_kind(need, like) && (!open || need->met < need->quantity);
            flow += counts ? *audit_flow(audit, i, k) : 0;
        }
        if (flow > most) {
            most = flow;
            best = i;
        }
    }
    return best;
}

/* Where to look: of cables in several lengths, at the length that is missing. */
static const char *main_line(struct audit *audit, const struct audit_need *like)
{
    size_t best = busiest(audit, like, true);
    best = best == SIZE_MAX ? busiest(audit, like, false) : best;
    if (best == SIZE_MAX) {
        return net_words(like);
    }
    audit->lines.items[best].named = true;
    return audit->lines.items[best].where;
}

/* Only called for needs that are on; the first of a kind speaks for all of them. */
static void judge_need(struct audit *audit, uint32_t at)
{
    const struct audit_need *need = &audit->needs[at];
    uint64_t wanted = 0, met = 0;
    for (uint32_t k = 0; k < audit->need_count; k++) {
        const struct audit_need *other = &audit->needs[k];
        if (other->off || !same_kind(other, need)) {
            continue;
        }
        if (k < at) {
            return; /* counted with the first of its kind */
        }
        wanted += other->quantity;
        met += other->met;
    }
    if (met >= wanted) {
        return;
    }
    /* Nothing of it at all is forgotten scope, some of it a wrong number. */
    const char *rule = need->scope && met == 0 ? "bom-scope" : "quantity-short";
    /* Modules and cables have several right parts, so none is named. */
    const char *part =
        need->part != MYR_PART_NONE && need->role != AUDIT_CABLE && need->role != AUDIT_MODULE
            ? audit_part(audit, need->part)->order
            : NULL;
    audit_finding(audit, rule, main_line(audit, need), (double)wanted, (double)met,
                  "%s: %s%s%s%s: %llu needed, %llu in the list, %llu missing", net_words(need),
                  kind_words(need), part ? " (" : "", part ? part : "", part ? ")" : "",
                  (unsigned long long)wanted, (unsigned long long)met,
                  (unsigned long long)(wanted - met));
}

/* A network of which the list has nothing, or an access network without any cable. */
static void judge_scope(struct audit *audit, uint32_t net)
{
    uint64_t met = 0, cables = 0, wanted_cables = 0;
    bool any = false;
    for (uint32_t k = 0; k < audit->need_count; k++) {
        const struct audit_need *need = &audit->needs[k];
        if (need->net == net && !need->off) {
            any = true;
            /* Licences and the like do not make a network be there. */
            met += need->role == AUDIT_OTHER ? 0 : need->met;
            cables += need->role == AUDIT_CABLE ? need->met : 0;
            wanted_cables += need->role == AUDIT_CABLE && need->scope ? need->quantity : 0;
        }
    }
    bool whole = any && met == 0, cabling = !whole && wanted_cables > 0 && cables == 0;
    if (!whole && !cabling) {
        return;
    }
    audit_finding(audit, "bom-scope", myr_net_names[net], whole ? 1 : (double)wanted_cables, 0,
                  whole ? "%s: nothing of this network is in the list"
                        : "%s: the cables of this network are not in the list",
                  myr_net_names[net]);
    for (uint32_t k = 0; k < audit->need_count; k++) {
        struct audit_need *need = &audit->needs[k];
        if (need->net == net && need->role != AUDIT_OTHER && (whole || need->role == AUDIT_CABLE)) {
            need->off = true; /* said */
        }
    }
}

/*
 * A line that is too short for a run. Runs of one network and one length are told as one, at the
 * first of them: a line of a list does not say to which layer its cables go.
 */
static void judge_run(struct audit *audit, size_t at, uint32_t first)
{
    struct audit_line *line = &audit->lines.items[at];
    const struct audit_need *need = &audit->needs[first];
    uint64_t cables = 0;
    if (*audit_flow(audit, at, first) == 0 || line->length_m >= need->length_m) {
        return;
    }
    for (uint32_t k = 0; k < audit->need_count; k++) {
        const struct audit_need *other = &audit->needs[k];
        uint64_t flow = *audit_flow(audit, at, k);
        if (flow == 0 || other->net != need->net || other->length_m != need->length_m) {
            continue;
        }
        if (k < first) {
            return;
        }
        cables += flow;
    }
    audit_finding(audit, "cable-length", line->where, need->length_m, line->length_m,
                  "%s: %s is %g m long, the run is %g m (%s)", net_words(need), line->shown,
                  line->length_m, need->length_m, MYR_COUNT(cables, "cable"));
    line->named = true;
}

/* Two ways to be wrong: not what the line says it is, and shorter than the run it is used for. */
static void judge_lengths(struct audit *audit)
{
    for (size_t i = 0; i < audit->lines.count; i++) {
        struct audit_line *line = &audit->lines.items[i];
        if (line->role != AUDIT_CABLE || line->length_m == 0) {
            continue;
        }
        /*
         * A hundredth for rounding in descriptions. Either side may be unknown; then there is
         * nothing to compare.
         */
        if (line->told_m > 0 && fabs(line->told_m - line->length_m) > 0.01 * line->length_m) {
            audit_finding(audit, "cable-length", line->where, line->told_m, line->length_m,
                          "%s is %g m long, the line describes it as %g m", line->shown,
                          line->length_m, line->told_m);
            line->named = true;
        }
        for (uint32_t k = 0; k < audit->need_count; k++) {
            judge_run(audit, i, k);
        }
    }
}

/* The spec names a part, the list has another one in its place. */
static void judge_parts(struct audit *audit)
{
    for (size_t i = 0; i < audit->lines.count; i++) {
        struct audit_line *line = &audit->lines.items[i];
        /*
         * A line that stands for GPUs ("H100") means the server around them, so it is no other
         * part.
         */
        for (uint32_t k = 0; k < audit->need_count && line->part != MYR_PART_NONE; k++) {
            const struct audit_need *need = &audit->needs[k];
            bool asked =
                need->role == AUDIT_SWITCH
                    ? audit->spec->nets[need->net].switch_part != MYR_PART_NONE
                    : need->role == AUDIT_SERVER && audit->spec->server_part != MYR_PART_NONE;
            if (*audit_flow(audit, i, k) > 0 && asked && line->part != need->part &&
                audit_part(audit, line->part)->kind != MYR_PART_GPU) {
                audit_finding_text(audit, "part-other", line->where,
                                   audit_part(audit, need->part)->order, line->shown,
                                   "%s: the spec asks for %s, the list has %s", net_words(need),
                                   audit_part(audit, need->part)->order, line->shown);
                line->named = true;
            }
        }
    }
}

/* As the line says it, and as quantity and price have it; both are one where nothing is wrong. */
struct sums {
    double stated, right;
    bool priced;
};

/* Products line by line. */
static struct sums judge_products(struct audit *audit)
{
    struct sums sums = {};
    for (size_t i = 0; i < audit->lines.count; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        if (line->total < 0) {
            continue;
        }
        double product = line->unit_price * (double)line->quantity, right = line->total;
        /*
         * Totals may be rounded to whole units of money. A line with a wrong quantity has a wrong
         * sum too.
         */
        if (line->unit_price >= 0 && !line->named && fabs(product - line->total) > 0.51) {
            audit_finding(audit, "line-total", line->where, product, line->total,
                          "%s: %llu x %.2f = %.2f, the line says %.2f", line->shown,
                          (unsigned long long)line->quantity, line->unit_price, product,
                          line->total);
            right = product;
        }
        sums.stated += line->total;
        sums.right += right;
        sums.priced = true;
    }
    return sums;
}

/*
 * The list as a whole: its lines are those that there are, so what is missing does not excuse its
 * sum. A line that was told excuses it where the list adds up as the line ought to be.
 */
static void judge_sums(struct audit *audit)
{
    struct sums sums = judge_products(audit);
    double total = audit->stated_total;
    if (total >= 0 && sums.priced && fabs(sums.stated - total) > 0.51 &&
        fabs(sums.right - total) > 0.51) {
        audit_finding(audit, "list-total", audit->total_at, sums.stated, total,
                      "the lines add up to %.2f, the list says %.2f", sums.stated, total);
    }
}

/*
 * Lines that are not in the catalogue, with what was done about them, and those that do not say how
 * many: a lot of services is one, and so is a cell that somebody forgot.
 */
static void judge_doubts(struct audit *audit)
{
    for (size_t i = 0; i < audit->lines.count; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        if (line->uncounted && line->role != AUDIT_UNKNOWN) {
            audit_doubt(audit, line->where,
                        myr_arena_printf(audit->arena,
                                         "'%s' has no quantity; counted as 1, whether that is "
                                         "meant is not judged",
                                         line->shown));
        }
        if (line->part != MYR_PART_NONE) {
            continue;
        }
        audit_doubt(
            audit, line->where,
            myr_arena_printf(audit->arena,
                             line->role == AUDIT_UNKNOWN
                                 ? "'%s' is not in the catalogue; not judged"
                                 : "'%s' is not in the catalogue; counted by its name, what "
                                   "it fits is not judged",
                             line->shown));
    }
}

/*
 * Scope first: what it says switches needs off. Sums last: they are silent about lines that were
 * named.
 */
void audit_judge_bom(struct audit *audit)
{
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        judge_scope(audit, net);
    }
    for (uint32_t k = 0; k < audit->need_count; k++) {
        if (!audit->needs[k].off) {
            judge_need(audit, k);
        }
    }
    audit_judge_optics(audit);
    judge_lengths(audit);
    judge_parts(audit);
    judge_sums(audit);
    judge_doubts(audit);
}

/* ---- layout ---- */

/*
 * A row without a known part draws what the plan's part in its place does; 0 where that is unknown
 * too.
 */
static double line_watts(const struct audit *audit, const struct audit_line *line)
{
    uint32_t part = line->part;
    for (uint32_t k = 0; part == MYR_PART_NONE && k < audit->need_count; k++) {
        bool serves = audit_grade_layout(audit, line, &audit->needs[k]) >= 0;
        part = serves ? audit->needs[k].part : part;
    }
    if (part == MYR_PART_NONE) {
        return 0;
    }
    if (audit_part(audit, part)->kind == MYR_PART_GPU) { /* "H100" for its server */
        part = myr_catalog_find(audit->catalog, myr_str_from(myr_design_str(
                                                    &audit->plan, audit->plan.head->server_part)));
    }
    double stated = audit->watts[part];
    return stated > 0 ? stated : audit_part(audit, part)->watts;
}

/* Rows of a rack may be apart in the file. In a rack they keep its order, as rows of one array do:
 * watts are added up in it. */
static int by_rack(const void *a, const void *b)
{
    const struct audit_line *const *x = a, *const *y = b;
    int order = strcmp((*x)->rack, (*y)->rack);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Only with a limit in the spec; racks without one are not judged. */
static void judge_power(struct audit *audit)
{
    double limit_w = audit->spec->room.node ? audit->spec->room.rack_kw * 1000 : 0;
    size_t count = audit->placed.count;
    if (limit_w <= 0 || count == 0) {
        return;
    }
    const struct audit_line **rows = MYR_ARENA_NEW(audit->arena, const struct audit_line *, count);
    for (size_t i = 0; i < count; i++) {
        rows[i] = &audit->placed.items[i];
    }
    qsort(rows, count, sizeof(*rows), by_rack);
    for (size_t i = 0; i < count;) {
        double watts = 0;
        size_t first = i;
        for (; i < count && strcmp(rows[i]->rack, rows[first]->rack) == 0; i++) {
            watts += line_watts(audit, rows[i]) * (double)rows[i]->quantity;
        }
        /* For sums of floating-point watts that are just the limit. */
        if (watts > limit_w * 1.000001) {
            audit_finding(audit, "rack-power",
                          myr_arena_printf(audit->arena, "rack %s", rows[first]->rack), limit_w,
                          watts, "rack %s draws %.2f kW, it has %.2f kW", rows[first]->rack,
                          watts / 1000, limit_w / 1000);
        }
    }
}

void audit_judge_layout(struct audit *audit)
{
    for (uint32_t k = 0; k < audit->need_count; k++) {
        const struct audit_need *need = &audit->needs[k];
        if (need->met < need->quantity) {
            audit_finding(audit, "layout-short", "layout", (double)need->quantity,
                          (double)need->met,
                          "%s: %llu are planned, %llu stand in racks, %llu %s no place", need->what,
                          (unsigned long long)need->quantity, (unsigned long long)need->met,
                          (unsigned long long)(need->quantity - need->met),
                          need->quantity - need->met == 1 ? "has" : "have");
        }
    }
    for (size_t i = 0; i < audit->lines.count; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        if (line->part == MYR_PART_NONE && line->role == AUDIT_UNKNOWN) {
            audit_doubt(audit, line->where,
                        myr_arena_printf(audit->arena,
                                         "'%s' is neither a part nor a kind of device; not judged",
                                         line->shown));
        }
    }
    judge_power(audit);
}
