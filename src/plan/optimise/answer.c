#include <stdio.h>

#include "optimise/optimise.h"

/*
 * The optimum for programs, and for people beside it. Numbers leave here in the units of the spec;
 * inside they are whole numbers of small units.
 */

enum { DOUBTED_MAX = 16 }; /* parts that are named as deciding */

static const char *const state_names[MYR_POINT_STATE_COUNT] = {"refused", "faulty", "unpriced",
                                                               "limited", "good"};

/* Metrics are whole numbers in small units: cents, watts, thousandths of Gb/s. */
static double scale_of(uint32_t metric)
{
    return metric == MYR_METRIC_CAPEX || metric == MYR_METRIC_COST_OF_YEARS  ? 100
           : metric == MYR_METRIC_POWER_KW || metric == MYR_METRIC_BANDWIDTH ? 1000
                                                                             : 1;
}

static int digits_of(uint32_t metric)
{
    return scale_of(metric) == 100 ? 2 : scale_of(metric) == 1000 ? 3 : 0;
}

/* A value of a list of choices as the spec writes it. Null where the spec has no list for it. */
static void put_choice(const struct myr_optimum *optimum, const struct myr_catalog *catalog,
                       struct myr_answer *answer, const struct myr_plan_point *point,
                       uint32_t choice)
{
    const struct myr_choice_list *list = &optimum->spec->optimise.choices[choice];
    const char *key = myr_choice_names[choice];
    if (!list->count) {
        myr_answer_null(answer, key);
        return;
    }
    double value = list->values[point->at[choice]];
    switch (choice) {
    case MYR_CHOICE_SWITCH:
        myr_answer_text(answer, key, catalog->parts.items[(uint32_t)value].id);
        break;
    case MYR_CHOICE_TOPOLOGY:
        myr_answer_text(answer, key, myr_topology_name((enum myr_topology)value));
        break;
    case MYR_CHOICE_FILL:
        myr_answer_text(answer, key, value == MYR_FILL_DENSE ? "dense" : "regular");
        break;
    case MYR_CHOICE_COOLING:
        myr_answer_text(answer, key, myr_cooling_names[(uint32_t)value]);
        break;
    default:
        myr_answer_double(answer, key, value, 3);
        break;
    }
}

/* Null where a metric is not known. */
static void put_metrics(struct myr_answer *answer, const struct myr_plan_point *point)
{
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        if (point->known[i]) {
            myr_answer_double(answer, myr_metric_names[i], (double)point->metric[i] / scale_of(i),
                              digits_of(i));
        } else {
            myr_answer_null(answer, myr_metric_names[i]);
        }
    }
}

/*
 * The constraint with the least room, as a share of its limit; MYR_METRIC_COUNT: there is none.
 * Bandwidth is limited from below, all others from above. The objective binds nothing: it is what
 * is optimised.
 */
static uint32_t tightest(const struct myr_optimum *optimum, const struct myr_plan_point *point)
{
    uint32_t found = MYR_METRIC_COUNT;
    double least = 0;
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        if (optimum->limits[i] == INT64_MAX || !point->known[i] ||
            i == optimum->spec->optimise.objective) {
            continue;
        }
        double limit = (double)optimum->limits[i], value = (double)point->metric[i];
        double slack = i == MYR_METRIC_BANDWIDTH ? value - limit : limit - value;
        /* A limit of 0 has no share: what is beyond it counts as it is. */
        slack = limit > 0 ? slack / limit : slack;
        if (found == MYR_METRIC_COUNT || slack < least) {
            found = i;
            least = slack;
        }
    }
    return found;
}

/* Null where no point beyond the limit is better. */
static void put_relaxed(const struct myr_optimum *optimum, struct myr_answer *answer,
                        const struct myr_relaxed *relaxed)
{
    uint32_t metric = relaxed->metric, objective = optimum->spec->optimise.objective;
    double more = (double)relaxed->more / scale_of(metric);
    double saves = (double)relaxed->saves / scale_of(objective);
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "constraint", myr_metric_names[metric]);
    myr_answer_double(answer, "limit", (double)optimum->limits[metric] / scale_of(metric),
                      digits_of(metric));
    if (relaxed->binds) {
        myr_answer_double(answer, "more", more, digits_of(metric));
        myr_answer_double(answer, "saves", saves, digits_of(objective));
        myr_answer_double(answer, "saves_per_unit", saves / more, 4);
    } else {
        myr_answer_null(answer, "more");
        myr_answer_null(answer, "saves");
        myr_answer_null(answer, "saves_per_unit");
    }
    myr_answer_end(answer);
}

/* Its choices, what they cost, and what stands in the way of better ones. */
static void put_point(const struct myr_optimum *optimum, const struct myr_catalog *catalog,
                      struct myr_answer *answer, const char *key, uint32_t at)
{
    const struct myr_plan_point *point = &optimum->points[at];
    struct myr_relaxed relaxed;
    myr_answer_object(answer, key);
    myr_answer_object(answer, "choices");
    for (uint32_t i = 0; i < MYR_CHOICE_COUNT; i++) {
        put_choice(optimum, catalog, answer, point, i);
    }
    myr_answer_end(answer);
    put_metrics(answer, point);
    if (optimum->spec->optimise.choices[MYR_CHOICE_COOLING].count) {
        myr_answer_double(answer, "plant_cost", (double)point->plant_cents / 100, 2);
    } else {
        myr_answer_null(answer, "plant_cost");
    }
    myr_answer_u64(answer, "leaf", point->leaf);
    myr_answer_u64(answer, "spine", point->spine);
    myr_answer_u64(answer, "core", point->core);
    uint32_t tight = tightest(optimum, point);
    if (tight == MYR_METRIC_COUNT) {
        myr_answer_null(answer, "binding");
    } else {
        myr_answer_text(answer, "binding", myr_metric_names[tight]);
    }
    myr_answer_list(answer, "relaxed");
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        if (myr_optimise_relax(optimum, at, i, &relaxed)) {
            put_relaxed(optimum, answer, &relaxed);
        }
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/* The keys of put_point(): where nothing is good there is no point to take them from. */
static void put_header(struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf keys = {};
    for (uint32_t i = 0; i < MYR_CHOICE_COUNT; i++) {
        myr_buf_printf(&keys, "choices.%s ", myr_choice_names[i]);
    }
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        myr_buf_printf(&keys, "%s ", myr_metric_names[i]);
    }
    myr_buf_put_lit(&keys, "plant_cost leaf spine core binding relaxed");
    myr_answer_header(answer, keys.data);
}

/* What was tried and is not in the front, and why: a word for each reason. */
static void put_counts(const struct myr_optimum *optimum, struct myr_answer *answer)
{
    myr_answer_u64(answer, "evaluated", optimum->count);
    myr_answer_bool(answer, "exact", optimum->exact);
    myr_answer_u64(answer, "planned_in_full", optimum->planned);
    myr_answer_u64(answer, "struck_out", optimum->struck);
    myr_answer_object(answer, "points");
    for (uint32_t i = 0; i < MYR_POINT_STATE_COUNT; i++) {
        myr_answer_u64(answer, state_names[i], optimum->by_state[i]);
    }
    myr_answer_end(answer);
}

/* The last column only where growth was asked for. */
static void show_front(struct myr_answer *answer, const struct myr_value *front, bool moved)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("choices.switch", "SWITCH", 0),
        MYR_COLUMN("choices.topology", "TOPOLOGY", 0),
        MYR_COLUMN("choices.tiers", "TIERS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("choices.fill", "FILL", 0),
        {"choices.oversubscription", "RATIO", MYR_COLUMN_NUMBER, 1},
        MYR_COLUMN("choices.planes", "PLANES", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("choices.cooling", "COOLING", 0),
        MYR_COLUMN("capex", "CAPEX", MYR_COLUMN_NUMBER),
        MYR_COLUMN("cost_of_years", "WITH ENERGY", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("power_kw", "kW", MYR_COLUMN_NUMBER),
        {"bandwidth_per_gpu_gbps", "Gb/s a GPU", MYR_COLUMN_NUMBER, 1},
        MYR_COLUMN("blast_gpus", "BLAST", MYR_COLUMN_NUMBER),
        MYR_COLUMN("binding", "BINDING", MYR_COLUMN_WIDE),
        MYR_COLUMN("moved_cables", "MOVED", MYR_COLUMN_NUMBER),
    };
    myr_answer_heading(answer, "Beaten by nothing");
    myr_answer_table(answer, front, columns, MYR_ARRAY_COUNT(columns) - (moved ? 0 : 1));
}

/* "31.73 M CNY", "738.442": as a person reads it; 'value' in the metric's small units. */
static const char *amount(const struct myr_optimum *optimum, const struct myr_answer *answer,
                          uint32_t metric, int64_t value)
{
    char text[MYR_PLAN_MONEY_MAX], grouped[40];
    if (scale_of(metric) == 100) {
        const struct myr_design *design = &optimum->design;
        uint64_t cents = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        myr_plan_money((int64_t)cents, myr_design_str(design, design->head->currency), text);
        return myr_arena_printf(answer->arena, "%s%s", value < 0 ? "-" : "", text);
    }
    if (scale_of(metric) == 1 && value >= 0) {
        return myr_arena_printf(answer->arena, "%s", myr_u64_grouped((uint64_t)value, grouped));
    }
    return myr_arena_printf(answer->arena, "%.10g", (double)value / scale_of(metric));
}

/* "topology clos, tiers 2": the place of the best one in the lists that the spec leaves open. */
static const char *choice_words(const struct myr_answer *answer, const struct myr_value *best)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    const struct myr_value *choices = myr_value_get(best, "choices");
    for (const struct myr_value *v = choices ? choices->first : NULL; v; v = v->next) {
        if (v->kind != MYR_VALUE_NULL) {
            myr_buf_printf(&words, "%s%s %.*s", words.len ? ", " : "", v->key, (int)v->text.len,
                           v->text.data);
        }
    }
    return myr_arena_strndup(answer->arena, words.data ? words.data : "", words.len);
}

/* With what each constraint costs, where it costs something. 'value' is the best in the answer. */
static void show_best(const struct myr_optimum *optimum, struct myr_answer *answer,
                      const struct myr_value *value)
{
    uint32_t objective = optimum->spec->optimise.objective;
    const struct myr_plan_point *best = &optimum->points[optimum->best[0]];
    const char *choices = choice_words(answer, value);
    myr_answer_fact(answer, "priced", "%s", myr_plan_priced(&optimum->design, answer->arena));
    myr_answer_fact(
        answer, myr_optimise_undecided(optimum) == MYR_NONE ? "best" : "at these prices",
        "%s %s%s%s; %s leaf, %s spine, %s core switches", myr_metric_names[objective],
        amount(optimum, answer, objective, best->metric[objective]), choices[0] ? "; " : "",
        choices, MYR_GROUPED(best->leaf), MYR_GROUPED(best->spine), MYR_GROUPED(best->core));
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        struct myr_relaxed relaxed;
        if (!myr_optimise_relax(optimum, optimum->best[0], i, &relaxed) || !relaxed.binds) {
            continue;
        }
        /* Saved for one unit of the constraint; of money whole cents are enough. */
        double each = (double)relaxed.saves / ((double)relaxed.more / scale_of(i));
        const char *words =
            scale_of(objective) == 100
                ? amount(optimum, answer, objective, (int64_t)(each + 0.5))
                : myr_arena_printf(answer->arena, "%.4g", each / scale_of(objective));
        myr_answer_fact(answer, "loosened", "%s by %s would save %s of %s, %s a unit",
                        myr_metric_names[i], amount(optimum, answer, i, relaxed.more),
                        amount(optimum, answer, objective, relaxed.saves),
                        myr_metric_names[objective], words);
    }
}

/* Constraints are blamed where there are some. */
static void show_none(const struct myr_optimum *optimum, struct myr_answer *answer)
{
    bool limited = false;
    for (uint32_t i = 0; i < MYR_METRIC_COUNT; i++) {
        limited = limited || optimum->limits[i] != INT64_MAX;
    }
    myr_answer_para(answer, limited ? "No design meets all constraints." : "No design is left.");
    /* Good in all but that nobody can say how good. */
    if (optimum->by_state[MYR_POINT_GOOD]) {
        myr_answer_fact(answer, "unknown", "%s of %s",
                        myr_metric_names[optimum->spec->optimise.objective],
                        MYR_COUNT(optimum->by_state[MYR_POINT_GOOD], "design"));
    }
    /*
     * Three reasons are enough to see what stands in the way, each said once; that a constraint is
     * broken is counted above.
     */
    const char *reasons[3];
    for (uint32_t i = 0, said = 0; i < optimum->count && said < MYR_ARRAY_COUNT(reasons); i++) {
        const struct myr_plan_point *point = &optimum->points[i];
        bool again = !point->why || point->state == MYR_POINT_LIMITED;
        for (uint32_t k = 0; k < said && !again; k++) {
            again = strcmp(reasons[k], point->why) == 0;
        }
        if (!again) {
            myr_answer_fact(answer, state_names[point->state], "%s", point->why);
            reasons[said++] = point->why;
        }
    }
}

static void put_point_or_null(const struct myr_optimum *optimum, const struct myr_catalog *catalog,
                              struct myr_answer *answer, const char *key, uint32_t at)
{
    if (at == MYR_NONE) {
        myr_answer_null(answer, key);
    } else {
        put_point(optimum, catalog, answer, key, at);
    }
}

/* The list of parts whose assumed prices decide, and the same in words. */
static const char *put_doubted(const struct myr_optimum *optimum, const struct myr_catalog *catalog,
                               struct myr_answer *answer, uint32_t other)
{
    uint32_t parts[DOUBTED_MAX];
    uint32_t count =
        other == MYR_NONE ? 0 : myr_optimise_doubted(optimum, other, parts, DOUBTED_MAX);
    const char *words = "";
    myr_answer_list(answer, "decided_by");
    for (uint32_t i = 0; i < count; i++) {
        const char *id = catalog->parts.items[parts[i]].id;
        myr_answer_text(answer, NULL, id);
        words = myr_arena_printf(answer->arena, "%s%s%s", words, i ? ", " : "", id);
    }
    myr_answer_end(answer);
    return words;
}

void myr_optimise_answer(const struct myr_optimum *optimum, const struct myr_catalog *catalog,
                         struct myr_answer *answer)
{
    uint32_t objective = optimum->spec->optimise.objective;
    myr_answer_text(answer, "name", optimum->spec->name);
    myr_answer_text(answer, "objective", myr_metric_names[objective]);
    uint32_t first = optimum->best_count ? optimum->best[0] : MYR_NONE;
    uint32_t other = myr_optimise_undecided(optimum);
    bool won = other == MYR_NONE;
    put_point_or_null(optimum, catalog, answer, "best", won ? first : MYR_NONE);
    myr_answer_bool(answer, "assumed_decides", !won);
    put_point_or_null(optimum, catalog, answer, "at_assumed_prices", won ? MYR_NONE : first);
    put_point_or_null(optimum, catalog, answer, "might_be_cheaper", other);
    const char *doubted = put_doubted(optimum, catalog, answer, other);
    const struct myr_value *front = myr_answer_list(answer, "front");
    for (uint32_t i = 0; i < optimum->front_count; i++) {
        put_point(optimum, catalog, answer, NULL, optimum->front[i]);
    }
    myr_answer_end(answer);
    put_counts(optimum, answer);
    myr_answer_rows(answer, front);
    put_header(answer);
    myr_answer_fact(answer, "evaluated",
                    "%s: %s good, %s break a constraint, %s cannot be built, %s with an error, %s "
                    "unpriced",
                    MYR_COUNT(optimum->count, "design"),
                    MYR_GROUPED(optimum->by_state[MYR_POINT_GOOD]),
                    MYR_GROUPED(optimum->by_state[MYR_POINT_LIMITED]),
                    MYR_GROUPED(optimum->by_state[MYR_POINT_REFUSED]),
                    MYR_GROUPED(optimum->by_state[MYR_POINT_FAULTY]),
                    MYR_GROUPED(optimum->by_state[MYR_POINT_UNPRICED]));
    if (!optimum->best_count) {
        show_none(optimum, answer);
        return;
    }
    show_best(optimum, answer, myr_value_get(&answer->root, won ? "best" : "at_assumed_prices"));
    if (!won) {
        myr_answer_fact(answer, "no winner",
                        "assumed prices decide, those of %s: with others of their range, cheaper "
                        "might be %s",
                        doubted,
                        choice_words(answer, myr_value_get(&answer->root, "might_be_cheaper")));
    }
    show_front(answer, front, optimum->spec->optimise.grow_to > 0);
}
