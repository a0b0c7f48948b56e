#include "myriad/study/difference.h"

#include "myriad/plan.h"

/*
 * Both plans are asked for all their numbers, and what has the same path is held against each
 * other. Lines of bills have no names that last, so they are matched by system and part.
 */

/* What a customer asks for first, in this order. */
static const struct {
    const char *path, *title;
} asked[] = {
    {"gpus", "GPUs"},
    {"servers", "servers"},
    {"networks.compute.switches.total", "switches, compute"},
    {"networks.storage.switches.total", "switches, storage"},
    {"networks.service.switches.total", "switches, service"},
    {"networks.oob.switches.total", "switches, oob"},
    {"totals.cables", "cables"},
    {"networks.compute.bisection_gbps", "bisection Gb/s"},
    {"storage.servers", "storage servers"},
    {"storage.usable_tb", "usable capacity"},
    {"totals.racks", "racks"},
    {"power.racks.kw", "fullest rack"},
    {"power.it.kw", "IT power"},
    {"power.facility_kw", "facility power"},
    {"power.pue.value", "PUE"},
    {"power.water.wue_l_per_kwh", "water use (WUE)"},
    {"power.energy.mwh_per_year", "energy a year"},
    {"power.energy.cost_per_year", "energy cost a year"},
    {"totals.cost", "price"},
    {"totals.priced.lines", "lines with a price"},
    {"totals.priced.money", "share of the estimated money with a price"},
    {"totals.priced.estimate_low", "all lines, low estimate"},
    {"totals.priced.estimate", "all lines, estimate"},
    {"totals.priced.estimate_high", "all lines, high estimate"},
};

struct side {
    struct myr_answer tree;
    struct myr_explained *list;
    uint32_t count;
    struct myr_strmap places; /* of a path, in the list */
};

struct work {
    struct myr_arena *arena;
    struct side sides[2];
    struct myr_difference *ret;
};

/* ---- numbers ---- */

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

/* Lines and findings have parts of their own; what is in no plan is no difference of plans. */
static bool is_compared(const char *path)
{
    return !begins(path, "bom.") && !begins(path, "report.") && !begins(path, "proposal.") &&
           !begins(path, "findings.") && !begins(path, "version") && !begins(path, "groups.");
}

static int digits_of(struct myr_str text)
{
    const char *point = text.len ? memchr(text.data, '.', text.len) : NULL;
    return point ? (int)(text.data + text.len - point) - 1 : 0;
}

/* A word or null is no number. */
static void take(struct myr_difference_row *row, uint32_t side, const struct myr_explained *of)
{
    bool number = of && of->value->kind == MYR_VALUE_NUMBER;
    row->known[side] = number && myr_str_to_double(of->value->text, &row->values[side]);
    if (row->known[side]) {
        int digits = digits_of(of->value->text);
        row->digits = digits > row->digits ? digits : row->digits;
        row->unit = of->unit[0] ? of->unit : row->unit;
    }
}

/* NULL: the plan has no such number. */
static const struct myr_explained *find(const struct side *side, const char *path)
{
    uint32_t at = myr_strmap_get(&side->places, myr_str_from(path));
    return at == MYR_MAP_NONE ? NULL : &side->list[at];
}

static bool is_money(const char *path)
{
    return begins(path, "totals.priced.estimate") || strstr(path, "cost") != NULL ||
           strstr(path, "tariff") != NULL;
}

/* Money of two currencies, and sums whose main lines lack, say nothing when subtracted. */
static const char *why_not(const struct work *work, const struct myr_difference_row *row)
{
    const char *units[2];
    if (!row->known[0] || !row->known[1]) {
        return row->known[0] || row->known[1] ? "only one of them has it" : "neither has it";
    }
    for (uint32_t i = 0; i < 2 && is_money(row->path); i++) {
        const struct myr_explained *of = find(&work->sides[i], row->path);
        units[i] = of ? of->unit : "";
        const struct myr_value *lack =
            myr_value_get(&work->sides[i].tree.root, "totals.priced.lacking");
        if (strcmp(row->path, "totals.cost") == 0 && lack && lack->text.len > 0) {
            return "main lines of a bill have no price";
        }
    }
    return is_money(row->path) && strcmp(units[0], units[1]) != 0 ? "two currencies" : NULL;
}

static bool is_asked(const char *path)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(asked); i++) {
        if (strcmp(asked[i].path, path) == 0) {
            return true;
        }
    }
    return false;
}

static void put_asked(struct work *work)
{
    struct myr_difference *ret = work->ret;
    ret->rows = MYR_ARENA_NEW(work->arena, struct myr_difference_row, MYR_ARRAY_COUNT(asked));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(asked); i++) {
        struct myr_difference_row row = {
            .path = asked[i].path, .title = asked[i].title, .unit = ""};
        for (uint32_t s = 0; s < 2; s++) {
            take(&row, s, find(&work->sides[s], row.path));
        }
        row.why = why_not(work, &row);
        /* A network that neither has is no row. */
        if (row.known[0] || row.known[1]) {
            ret->rows[ret->row_count++] = row;
        }
    }
}

static void put_number(struct work *work, const char *path, const struct myr_explained *a,
                       const struct myr_explained *b)
{
    struct myr_difference_row row = {.path = path, .title = path, .unit = ""};
    take(&row, 0, a);
    take(&row, 1, b);
    if ((row.known[0] || row.known[1]) &&
        (row.known[0] != row.known[1] || row.values[0] != row.values[1])) {
        row.why = why_not(work, &row);
        work->ret->numbers[work->ret->number_count++] = row;
    }
}

/* In the order of the first plan, then what only the second has. */
static void put_numbers(struct work *work)
{
    const struct side *a = &work->sides[0], *b = &work->sides[1];
    work->ret->numbers =
        MYR_ARENA_NEW(work->arena, struct myr_difference_row, (size_t)a->count + b->count + 1);
    for (uint32_t i = 0; i < a->count; i++) {
        const char *path = a->list[i].path;
        if (is_compared(path) && !is_asked(path)) {
            put_number(work, path, &a->list[i], find(b, path));
        }
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const char *path = b->list[i].path;
        if (is_compared(path) && !is_asked(path) && !find(a, path)) {
            put_number(work, path, NULL, &b->list[i]);
        }
    }
}

/* ---- bills ---- */

static struct myr_difference_line *line_of(struct work *work, const struct myr_design *design,
                                           const struct myr_bom_row *row)
{
    struct myr_difference *ret = work->ret;
    const char *system = myr_design_str(design, row->system);
    const char *part = myr_design_str(design, row->part);
    for (uint32_t i = 0; i < ret->line_count; i++) {
        if (strcmp(ret->lines[i].system, system) == 0 && strcmp(ret->lines[i].part, part) == 0) {
            return &ret->lines[i];
        }
    }
    ret->lines[ret->line_count] = (struct myr_difference_line){
        .system = system, .part = part, .name = myr_design_str(design, row->name)};
    return &ret->lines[ret->line_count++];
}

/* A part that stands in several lines of a system is one line here. */
static void put_lines(struct work *work)
{
    struct myr_difference *ret = work->ret;
    size_t most = (size_t)ret->designs[0]->bom_count + ret->designs[1]->bom_count;
    ret->lines = MYR_ARENA_NEW(work->arena, struct myr_difference_line, most + 1);
    for (uint32_t s = 0; s < 2; s++) {
        const struct myr_design *design = ret->designs[s];
        for (uint32_t i = 0; i < design->bom_count; i++) {
            const struct myr_bom_row *row = &design->bom[i];
            struct myr_difference_line *line = line_of(work, design, row);
            bool first = line->quantities[s] == 0;
            line->quantities[s] += row->quantity;
            line->cents[s] = row->unit_cents < 0 || (!first && line->cents[s] < 0)
                                 ? -1
                                 : line->cents[s] + row->total_cents;
        }
    }
}

/* ---- findings ---- */

static bool is_same(const struct myr_design *a, const struct myr_finding *one,
                    const struct myr_design *b, const struct myr_finding *other)
{
    return strcmp(myr_design_str(a, one->rule), myr_design_str(b, other->rule)) == 0 &&
           strcmp(myr_design_str(a, one->where), myr_design_str(b, other->where)) == 0;
}

static const char *const severities[] = {[MYR_SEVERITY_INFO] = "info",
                                         [MYR_SEVERITY_WARNING] = "warning",
                                         [MYR_SEVERITY_ERROR] = "error"};

/* By rule and place: figures in the message may differ. */
static void put_findings(struct work *work)
{
    struct myr_difference *ret = work->ret;
    size_t most = (size_t)ret->designs[0]->finding_count + ret->designs[1]->finding_count;
    ret->findings = MYR_ARENA_NEW(work->arena, struct myr_difference_finding, most + 1);
    for (uint32_t s = 0; s < 2; s++) {
        const struct myr_design *design = ret->designs[s], *other = ret->designs[1 - s];
        for (uint32_t i = 0; i < design->finding_count; i++) {
            const struct myr_finding *one = &design->findings[i];
            bool found = false;
            for (uint32_t k = 0; k < other->finding_count && !found; k++) {
                found = is_same(design, one, other, &other->findings[k]);
            }
            if (!found) {
                ret->findings[ret->finding_count++] = (struct myr_difference_finding){
                    .side = s,
                    .severity = severities[one->severity],
                    .rule = myr_design_str(design, one->rule),
                    .where = myr_design_str(design, one->where),
                    .message = myr_design_str(design, one->message)};
            }
        }
    }
}

int myr_difference_of(struct myr_arena *arena, const struct myr_design *const designs[2],
                      const char *const files[2], struct myr_difference *ret, struct myr_err *err)
{
    struct work *work = MYR_ARENA_ONE(arena, struct work);
    *work = (struct work){.arena = arena, .ret = ret};
    *ret =
        (struct myr_difference){.files = {files[0], files[1]}, .designs = {designs[0], designs[1]}};
    int rc = MYR_OK;
    for (uint32_t s = 0; s < 2 && rc == MYR_OK; s++) {
        struct side *side = &work->sides[s];
        myr_answer_init(&side->tree, arena, "myriad.plan", 1);
        myr_plan_explain_tree(designs[s], NULL, &side->tree);
        rc = myr_plan_explain_path(designs[s], &side->tree, "", &side->list, &side->count, err);
        for (uint32_t i = 0; rc == MYR_OK && i < side->count; i++) {
            (void)myr_strmap_add(&side->places, myr_str_from(side->list[i].path), i);
        }
    }
    if (rc == MYR_OK) {
        put_asked(work);
        put_numbers(work);
        put_lines(work);
        put_findings(work);
    }
    myr_strmap_done(&work->sides[0].places);
    myr_strmap_done(&work->sides[1].places);
    return rc;
}
