#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare_rows.h"
#include "myriad/plan.h"

/*
 * Rows and winners: each figure with its rule, and who may be compared with whom. A cell that is
 * not known, or known with a reason against it, takes the winner from its row; so a design without
 * prices never looks cheap. Figures of the plan are asked of the plan's own tree, with the rule and
 * the path that it has for them.
 */

#define SECONDS_A_YEAR (8760.0 * 3600)

struct fill {
    struct myr_design_comparison *all;
    struct myr_arena *arena;
    struct myr_answer plans[MYR_COMPARE_MAX]; /* the trees of the designs */
    bool same_gaps;                           /* all bills lack the same lines */
};

const char *compare_number(struct myr_arena *arena, const struct myr_compare_row *row,
                           uint32_t index)
{
    const struct myr_compare_cell *cell = &row->cells[index];
    char text[64], whole[32];
    if (!cell->known) {
        return "-";
    }
    /* All figures are amounts: none is below zero, and none is beyond what 64 bits count. */
    MYR_ASSERT(cell->value >= 0 && cell->value < 1e18);
    /* Whole numbers are rounded as the answer has them: a half is the next one. */
    snprintf(text, sizeof(text), "%.*f", row->digits,
             row->digits ? cell->value : (double)llround(cell->value));
    /* Zeros behind the point go, the point itself with the last of them. */
    char *point = strchr(text, '.');
    for (size_t len = strlen(text); point && text[len - 1] == '0'; len--) {
        text[len - 1] = '\0'; /* "10.00" says no more than "10" */
    }
    uint64_t units = 0;
    struct myr_str digits = {text, point ? (size_t)(point - text) : strlen(text)};
    bool counted = myr_str_to_u64(digits, &units);
    MYR_ASSERT(counted);
    return myr_arena_printf(arena, "%s%s", myr_u64_grouped(units, whole),
                            point && point[1] ? point : "");
}

/* What a row is; its cells come later. */
struct head {
    const char *key, *title, *unit;
    int digits;
    enum myr_compare_better better;
};

/* The caller fills a cell for each design. */
static struct myr_compare_row *add(struct fill *fill, const struct head *head)
{
    struct myr_design_comparison *all = fill->all;
    MYR_ASSERT(all->row_count < MYR_COMPARE_ROWS);
    all->rows[all->row_count] = (struct myr_compare_row){.key = head->key,
                                                         .title = head->title,
                                                         .unit = head->unit,
                                                         .digits = head->digits,
                                                         .better = head->better};
    return &all->rows[all->row_count++];
}

/* Notes are shown below the table: what was assumed, and what makes figures unlike. */
MYR_PRINTF(2, 3)
static void note(struct fill *fill, const char *fmt, ...)
{
    struct myr_design_comparison *all = fill->all;
    char text[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    MYR_ASSERT(all->note_count < MYR_COMPARE_NOTES);
    all->notes[all->note_count++] = myr_arena_printf(fill->arena, "%s", text);
}

/* ---- of the plan ---- */

/* A number of the plan's tree with the rule that the plan has for it. */
static int plan_cell(struct fill *fill, uint32_t side, const char *path,
                     struct myr_compare_cell *ret, struct myr_err *err)
{
    /* The path is one number: the first entry is it. */
    struct myr_explained *found;
    uint32_t count;
    const struct myr_design *design = &fill->all->sides[side].design;
    /* The plan's own rule and inputs: nothing is explained twice. */
    MYR_TRY(myr_plan_explain_path(design, &fill->plans[side], path, &found, &count, err));
    *ret = (struct myr_compare_cell){
        .basis = found->basis, .rule = found->rule, .inputs = found->inputs, .path = found->path};
    /* Null in the plan is no error: a price or a room may be missing. */
    if (found->value->kind != MYR_VALUE_NUMBER ||
        !myr_str_to_double(found->value->text, &ret->value)) {
        ret->why = found->why ? found->why : "the plan has no such figure";
        return MYR_OK;
    }
    ret->known = true;
    return MYR_OK;
}

/* The same path in every design's tree. */
static int plan_row(struct fill *fill, const struct head *head, const char *path,
                    struct myr_compare_row **ret, struct myr_err *err)
{
    struct myr_compare_row *row = add(fill, head);
    for (uint32_t i = 0; i < fill->all->count; i++) {
        MYR_TRY(plan_cell(fill, i, path, &row->cells[i], err));
    }
    *ret = row;
    return MYR_OK;
}

/* Figures that the plan has by itself, in the order of its answer. */
static int plan_rows(struct fill *fill, struct myr_err *err)
{
    /* GPUs, tiers and copper have no winner: they are facts, not merits. */
    static const struct {
        struct head row;
        const char *path;
    } heads[] = {
        {{"gpus", "GPUs", "", 0, MYR_COMPARE_NEITHER}, "gpus"},
        {{"tiers", "tiers", "", 0, MYR_COMPARE_NEITHER}, "networks.compute.tiers"},
        {{"switches", "compute switches", "", 0, MYR_COMPARE_LESS},
         "networks.compute.switches.total"},
        {{"cables", "compute cables", "", 0, MYR_COMPARE_LESS}, "networks.compute.cables.total"},
        {{"copper", "of them copper", "", 0, MYR_COMPARE_NEITHER},
         "networks.compute.copper_cables"},
        {{"hops", "links, farthest leaves", "", 0, MYR_COMPARE_LESS},
         "networks.compute.diameter_hops"},
        {{"bisection_gbps", "bisection", "Gb/s", 0, MYR_COMPARE_MORE},
         "networks.compute.bisection_gbps"},
        {{"racks", "racks", "", 0, MYR_COMPARE_LESS}, "power.racks.count"},
        {{"it_kw", "IT power", "kW", 1, MYR_COMPARE_LESS}, "power.it.kw"},
        {{"facility_kw", "facility power", "kW", 1, MYR_COMPARE_LESS}, "power.facility_kw"},
        {{"energy_mwh", "energy a year", "MWh", 0, MYR_COMPARE_LESS}, "power.energy.mwh_per_year"},
        {{"carbon_t", "carbon a year", "t", 0, MYR_COMPARE_LESS}, "power.carbon.t_per_year"},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(heads); i++) {
        struct myr_compare_row *row;
        MYR_TRY(plan_row(fill, &heads[i].row, heads[i].path, &row, err));
    }
    return MYR_OK;
}

/* ---- money ---- */

/* Whether the bills of two designs lack the same parts in the same numbers. */
static bool same_gaps(const struct myr_design *a, const struct myr_design *b)
{
    /* Lines without a price, pair by pair in the order of the bills. */
    uint32_t i = 0, k = 0;
    for (;;) {
        while (i < a->bom_count && a->bom[i].unit_cents >= 0) {
            i++;
        }
        while (k < b->bom_count && b->bom[k].unit_cents >= 0) {
            k++;
        }
        /* Both lists have to end together. */
        if (i == a->bom_count || k == b->bom_count) {
            return i == a->bom_count && k == b->bom_count;
        }
        if (strcmp(myr_design_str(a, a->bom[i].part), myr_design_str(b, b->bom[k].part)) != 0 ||
            a->bom[i].quantity != b->bom[k].quantity) {
            return false;
        }
        i++;
        k++;
    }
}

/* A word of the plan's figures; "" where it has none. */
static const char *word_of(struct fill *fill, uint32_t side, const char *path)
{
    const struct myr_design *design = &fill->all->sides[side].design;
    const struct myr_figure *figure = myr_design_figure(design, path);
    return figure && figure->text ? myr_design_str(design, figure->text) : "";
}

/* Why the bill of a design is no sum to compare: its main lines have no price, so that what is
 * left says nothing, though all may lack the same. NULL: it may be compared. */
static const char *main_lines_of(struct fill *fill, uint32_t side)
{
    const char *lacking = word_of(fill, side, "totals.priced.lacking");
    return lacking[0] ? myr_arena_printf(fill->arena, "without a price: %s", lacking) : NULL;
}

/* What a token costs needs all that it is made with: also what others supply. */
static const char *supplied_of(struct fill *fill, uint32_t side)
{
    const char *supplied = word_of(fill, side, "totals.priced.supplied");
    return supplied[0]
               ? myr_arena_printf(fill->arena, "not in it, as others supply them: %s", supplied)
               : NULL;
}

/* As a reason why nobody wins. */
static const char *gaps_of(struct fill *fill, uint32_t side)
{
    uint32_t lines = fill->all->sides[side].unpriced;
    return myr_arena_printf(fill->arena, "%u line%s of the bill without a price", lines,
                            lines == 1 ? "" : "s");
}

/* Rows have the currency of the first design; drop_other_currencies() takes the others out. */
static int money_rows(struct fill *fill, struct myr_err *err)
{
    struct myr_design_comparison *all = fill->all;
    const char *currency = all->sides[0].currency;
    const struct head capex = {"capex", "bill of materials", currency, 2, MYR_COMPARE_LESS};
    const struct head each = {"capex_per_gpu", "bill, one GPU", currency, 2, MYR_COMPARE_LESS};
    const struct head years = {"tco", "bill and energy of the years", currency, 2,
                               MYR_COMPARE_LESS};
    struct myr_compare_row *bill, *share, *tco;
    MYR_TRY(plan_row(fill, &capex, "totals.cost", &bill, err));
    share = add(fill, &each);
    MYR_TRY(plan_row(fill, &years, "power.energy.cost_of_years", &tco, err));
    /* One GPU's part is computed here: the plan has only the whole. */
    for (uint32_t i = 0; i < all->count; i++) {
        const struct myr_compare_side *side = &all->sides[i];
        uint32_t gpus = side->design.head->gpus;
        const struct myr_compare_cell *whole = &bill->cells[i];
        share->cells[i] = (struct myr_compare_cell){
            .known = whole->known,
            .value = whole->value / (gpus ? gpus : 1),
            .basis = "computed",
            .rule = "bill / GPUs",
            .inputs = myr_arena_printf(fill->arena, "%.2f, %u", whole->value, gpus),
        };
        /* Where all bills lack the same, what is missing is the same sum: differences still hold.
         */
        if (side->unpriced && !fill->same_gaps) {
            bill->cells[i].why = share->cells[i].why = tco->cells[i].why = gaps_of(fill, i);
        }
        const char *lacking = main_lines_of(fill, i);
        if (lacking) {
            bill->cells[i].why = share->cells[i].why = tco->cells[i].why = lacking;
        }
        /* Without one price there is no bill, and energy alone is no cost of ownership. */
        tco->cells[i].known = tco->cells[i].known && whole->known;
    }
    return MYR_OK;
}

/* ---- simulated ---- */

/* What went into a simulated figure, all of it chosen by the question or by default. */
static const char *engine_words(struct fill *fill, uint32_t side)
{
    const struct myr_compare_side *s = &fill->all->sides[side];
    return myr_arena_printf(fill->arena, "%s, %s%s%s, %u permille of line rate, seed %llu",
                            s->simulated.load.words, myr_policy_names[s->policy],
                            s->algorithm ? ", " : "", s->algorithm ? s->algorithm : "",
                            s->efficiency_permille, (unsigned long long)fill->all->question->seed);
}

/* The first three are of the workload, the last of the contention table. */
static void sim_rows(struct fill *fill)
{
    static const struct head heads[] = {
        {"busbw", "bus bandwidth", "GB/s", 2, MYR_COMPARE_MORE},
        {"collective_ms", "time of the collective", "ms", 3, MYR_COMPARE_LESS},
        {"over_bound", "over the least possible", "", 3, MYR_COMPARE_LESS},
        {"ring_slowdown", "slowdown of rings, all busy", "", 3, MYR_COMPARE_LESS},
    };
    static const char *const rules[] = {
        "NCCL's bus bandwidth: bytes / time * factor of the collective; flows in virtual time",
        "end of the last flow of the workload",
        "time / what no algorithm of its kind can go below on these NICs",
        "contention table: mean slowdown of rings of 16 nodes anywhere, jobs fill the fabric",
    };
    struct myr_design_comparison *all = fill->all;
    for (uint32_t r = 0; r < MYR_ARRAY_COUNT(heads); r++) {
        struct myr_compare_row *row = add(fill, &heads[r]);
        for (uint32_t i = 0; i < all->count; i++) {
            const struct myr_sim_job *job = &all->sides[i].simulated;
            const struct myr_contention *table = &all->sides[i].contention;
            /* In the order of the heads. */
            double values[] = {
                job->bus_gbytes_per_s,
                (double)job->end / (double)MYR_PS_PER_US / 1000,
                job->bound > 0 ? (double)job->end / (double)job->bound : 0,
                myr_contention_lookup(table, MYR_CONTENTION_RING, MYR_CONTENTION_FABRIC, 1),
            };
            /* Time and contention exist for any workload, bandwidth and bound for a collective
             * alone. */
            bool asked = r == 1 || r == 3 || job->load.collective;
            row->cells[i] = (struct myr_compare_cell){
                .known = asked && values[r] > 0,
                .value = values[r],
                .basis = "simulated",
                .rule = rules[r],
                .inputs = engine_words(fill, i),
                .why = asked ? NULL : "the workload is no single collective",
            };
        }
    }
}

/* ---- trained ---- */

/* What a trained token takes, from the plan's and the fit's figures together. */
struct trained {
    double tokens_per_s, kwh, cost; /* of a million tokens */
    bool money;
};

/* The job's share of the design's power and cost is that of its GPUs. */
static struct trained trained_of(struct fill *fill, uint32_t index)
{
    const struct myr_design_comparison *all = fill->all;
    const struct myr_compare_side *side = &all->sides[index];
    struct trained ret = {};
    double part = (double)side->gpus / side->design.head->gpus;
    double facility_kw = 0, load = 1, years = 0, tco = 0;
    struct myr_compare_cell cell;
    ret.tokens_per_s = side->price.cost.tokens_per_s_per_gpu * side->gpus;
    /* A path that the plan does not have leaves the default. */
    if (plan_cell(fill, index, "power.facility_kw", &cell, NULL) == MYR_OK && cell.known) {
        facility_kw = cell.value;
    }
    if (plan_cell(fill, index, "power.load", &cell, NULL) == MYR_OK && cell.known) {
        load = cell.value;
    }
    if (plan_cell(fill, index, "power.energy.years", &cell, NULL) == MYR_OK && cell.known) {
        years = cell.value;
    }
    if (plan_cell(fill, index, "power.energy.cost_of_years", &cell, NULL) == MYR_OK && cell.known) {
        tco = cell.value;
    }
    double in_use = all->question->in_use;
    /* kW over seconds of useful work: the time out of use costs energy as well. */
    ret.kwh = facility_kw * load * part / 3600 / (ret.tokens_per_s * in_use) * 1e6;
    /* A bill without any price gives no cost. */
    ret.money = side->unpriced < side->design.bom_count && tco > 0 && years > 0;
    ret.cost =
        ret.money ? tco * part / (years * SECONDS_A_YEAR * in_use * ret.tokens_per_s) * 1e6 : 0;
    return ret;
}

/* Rows of training, in their order; from FIT_KWH on they are computed here, not fitted. */
enum { FIT_STEP, FIT_MFU, FIT_GPU, FIT_ALL, FIT_KWH, FIT_COST, FIT_ROWS };

/* Energy and cost go by share and use, the others by the layout. */
static const char *inputs_of(struct fill *fill, uint32_t row, uint32_t side,
                             const struct trained *trained)
{
    const struct myr_compare_side *s = &fill->all->sides[side];
    const struct myr_layout *l = &s->layout;
    double in_use = fill->all->question->in_use;
    if (row == FIT_KWH || row == FIT_COST) {
        return myr_arena_printf(fill->arena, "%u of %u GPUs, %.6g tokens/s, in use %g", s->gpus,
                                s->design.head->gpus, trained->tokens_per_s, in_use);
    }
    return myr_arena_printf(
        fill->arena, "%u x %s, %s: tp %u pp %u vp %u dp %u cp %u ep %u, micro-batch %u, ZeRO-%u",
        s->gpus, s->device, s->software, l->tp, l->pp, l->vp, l->dp, l->cp, l->ep, l->micro_batch,
        l->zero);
}

/* No rows at all where no model was asked for. */
static void fit_rows(struct fill *fill)
{
    struct myr_design_comparison *all = fill->all;
    const char *currency = all->sides[0].currency;
    const struct head heads[FIT_ROWS] = {
        {"step_s", "step", "s", 4, MYR_COMPARE_LESS},
        {"mfu_percent", "MFU", "%", 2, MYR_COMPARE_MORE},
        {"tokens_per_s_per_gpu", "tokens/s, one GPU", "", 1, MYR_COMPARE_MORE},
        {"tokens_per_s", "tokens/s, all GPUs", "", 0, MYR_COMPARE_MORE},
        {"kwh_per_mtoken", "energy, a million tokens", "kWh", 4, MYR_COMPARE_LESS},
        {"cost_per_mtoken", "cost, a million tokens", currency, 4, MYR_COMPARE_LESS},
    };
    static const char *const rules[FIT_ROWS] = {
        "fit: the shortest step of all layouts that fit in memory, or of the layout given",
        "FLOPs of the model / (step * peak of the GPUs)",
        "batch * sequence / step / GPUs",
        "batch * sequence / step",
        "facility power * load * share of the GPUs / (tokens/s * in use)",
        "cost of the years * share of the GPUs / (tokens/s * in use * seconds of the years)",
    };
    for (uint32_t r = 0; all->question->of.model && r < FIT_ROWS; r++) {
        struct myr_compare_row *row = add(fill, &heads[r]);
        for (uint32_t i = 0; i < all->count; i++) {
            const struct myr_compare_side *side = &all->sides[i];
            struct myr_compare_cell *cell = &row->cells[i];
            *cell = (struct myr_compare_cell){
                .basis = r < FIT_KWH ? "fitted" : "computed", .rule = rules[r], .inputs = ""};
            /* Why nothing fits stands in every row of training. */
            if (!side->trained) {
                cell->why = side->not_trained;
                continue;
            }
            struct trained trained = trained_of(fill, i);
            const struct myr_fit_cost *cost = &side->price.cost;
            const double values[FIT_ROWS] = {
                cost->step_s,         100 * cost->mfu, cost->tokens_per_s_per_gpu,
                trained.tokens_per_s, trained.kwh,     trained.cost};
            cell->value = values[r];
            cell->known = r != FIT_COST || trained.money;
            cell->inputs = inputs_of(fill, r, i, &trained);
            /* Who trains faster spreads more of what has no price: even equal gaps mislead. */
            if (r == FIT_COST) {
                const char *lacking = main_lines_of(fill, i), *supplied = supplied_of(fill, i);
                cell->why = lacking          ? lacking
                            : supplied       ? supplied
                            : side->unpriced ? gaps_of(fill, i)
                                             : NULL;
            }
        }
    }
}

/* ---- what must be known beside ---- */

static const char *technology_name(const struct myr_compare_side *side)
{
    return !side->technology_known                   ? "switches of an unknown kind"
           : side->technology == MYR_TECH_INFINIBAND ? "InfiniBand"
                                                     : "Ethernet";
}

/* What was assumed of switches is said with the option that changes it. */
static void note_engines(struct fill *fill)
{
    for (uint32_t i = 0; i < fill->all->count; i++) {
        const struct myr_compare_side *side = &fill->all->sides[i];
        const char *letter = compare_letter(i);
        /* What the user has set is no assumption. */
        if (!side->policy_given) {
            note(fill, "assumed: %s spreads flows by %s, as %s does where nobody sets it; --lb",
                 letter, myr_policy_names[side->policy], technology_name(side));
        }
        if (!side->efficiency_given) {
            note(fill,
                 "assumed: %s leaves %u permille of line rate to data: headers of packets of 4,096 "
                 "bytes; --efficiency",
                 letter, side->efficiency_permille);
        }
    }
}

/* What makes designs unlike: errors, groups, another number of GPUs, prices that all lack. */
static void note_designs(struct fill *fill)
{
    const struct myr_design_comparison *all = fill->all;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct myr_compare_side *side = &all->sides[i];
        /* It is compared all the same, with a word about it. */
        uint32_t errors = myr_plan_open_errors(&side->design);
        if (errors) {
            note(fill, "%s has %u finding%s of severity error: it cannot be built as it is",
                 compare_letter(i), errors, errors == 1 ? "" : "s");
        }
        if (side->group) {
            note(fill, "%s: traffic and training are on the group %s alone, %s of %s",
                 compare_letter(i), side->group, MYR_NUMBER(side->job.head->gpus, 0),
                 MYR_COUNT(side->design.head->gpus, "GPU"));
        }
        /* Sums of designs of different size say little. */
        if (i > 0 && side->design.head->gpus != all->sides[0].design.head->gpus) {
            note(fill, "%s has %s, a has %s: look at what is said of one GPU or token",
                 compare_letter(i), MYR_COUNT(side->design.head->gpus, "GPU"),
                 MYR_NUMBER(all->sides[0].design.head->gpus, 0));
        }
    }
    for (uint32_t i = 0; i < all->count; i++) {
        note(fill, "%s: %s", compare_letter(i),
             myr_plan_priced(&all->sides[i].design, fill->arena));
    }
    if (fill->same_gaps && all->sides[0].unpriced) {
        note(fill, "the same %s in all designs: differences stand, sums and ratios lack them",
             gaps_of(fill, 0));
    }
}

/* Most of the model's error is common to all designs; how much of it nobody has measured. */
static void note_model(struct fill *fill)
{
    struct myr_design_comparison *all = fill->all;
    double low = 0, high = 0, spread = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const struct myr_compare_side *side = &all->sides[i];
        /* The spread of those that train. */
        if (!side->trained) {
            continue;
        }
        double step_s = side->price.cost.step_s;
        low = low == 0 || step_s < low ? step_s : low;
        high = step_s > high ? step_s : high;
        spread = side->spread > spread ? side->spread : spread;
    }
    if (low == 0) {
        return;
    }
    /* A difference that is smaller than the model's error is told as such. */
    double apart = 100 * (high / low - 1);
    note(fill,
         "fitted: steps are %.2f %% apart; the model is within %.0f %% of measured runs nine times "
         "of ten%s",
         apart, 100 * spread,
         apart > 0 && apart < 100 * spread
             ? ", an error that the designs share where they are alike"
             : "");
    note(fill, "assumed: steps run during %g of the years; --in-use", all->question->in_use);
}

/* Rows in the order of the table: the plan, money, simulated, trained. Then winners, then notes. */
int compare_fill(struct myr_design_comparison *comparison, struct myr_arena *arena,
                 struct myr_err *err)
{
    struct fill fill = {.all = comparison, .arena = arena, .same_gaps = true};
    for (uint32_t i = 0; i < comparison->count; i++) {
        myr_answer_init(&fill.plans[i], arena, "myriad.plan", 1);
        (void)myr_plan_answer(&comparison->sides[i].design, &fill.plans[i]);
        /* Each against the first is enough: to lack the same is transitive. */
        fill.same_gaps =
            fill.same_gaps && same_gaps(&comparison->sides[0].design, &comparison->sides[i].design);
    }
    MYR_TRY(plan_rows(&fill, err));
    MYR_TRY(money_rows(&fill, err));
    sim_rows(&fill);
    fit_rows(&fill);
    /* Judged in the end, when every cell says whether it is known. */
    compare_judge(comparison, arena);
    note_designs(&fill);
    note_engines(&fill);
    note_model(&fill);
    note(&fill, "load, PUE, tariff and carbon are the specs' or assumed: 'myriad explain plan SPEC "
                "PATH' says which");
    return MYR_OK;
}
