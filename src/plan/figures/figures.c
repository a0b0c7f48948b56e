#include "figures/figures.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * Figures are added while a plan is made and read from the finished design. In between they are
 * known by their paths alone: a design may come from a file of another program version, so nothing
 * relies on positions.
 */

/* By id. Digits are those behind the point in answers; the value itself is kept in full. */
static const struct figure_row {
    const char *path, *unit, *title, *rule;
    int digits;
} rows[FIG_COUNT] = {
#define X(id, path, unit, digits, title, rule) [FIG_##id] = {path, unit, title, rule, digits},
    FIGURES(X)
#undef X
};

/* The pointer holds until the next figure is added. */
static struct myr_figure *add(struct plan *plan, enum figure_id id, enum myr_basis basis,
                              const char *inputs)
{
    const struct figure_row *row = &rows[id];
    struct myr_figure figure = {.path = plan_string(plan, row->path),
                                .unit = plan_string(plan, row->unit),
                                .rule = plan_string(plan, row->rule),
                                .inputs = plan_string(plan, inputs),
                                .basis = (uint8_t)basis,
                                .digits = (uint8_t)row->digits};
    for (size_t i = 0; i < plan->figures.count; i++) {
        /* Strings are stored once, so equal offsets are equal paths. */
        MYR_ASSERT(plan->figures.items[i].path != figure.path);
    }
    myr_vec_push(&plan->figures, figure);
    return &plan->figures.items[plan->figures.count - 1];
}

/* 'inputs' is a format; what it says is told to people as it is. */
void plan_figure(struct plan *plan, enum figure_id id, double value, enum myr_basis basis,
                 const char *inputs, ...)
{
    char text[256];
    va_list args;
    va_start(args, inputs);
    vsnprintf(text, sizeof(text), inputs, args);
    va_end(args);
    add(plan, id, basis, text)->value = value;
}

/* Must not be empty: a figure whose text is 0 is a number. */
void plan_figure_word(struct plan *plan, enum figure_id id, const char *word, enum myr_basis basis)
{
    uint32_t text = plan_string(plan, word);
    add(plan, id, basis, "")->text = text;
}

/* NULL: not yet, or it does not apply to this plan. */
static struct myr_figure *added(const struct plan *plan, enum figure_id id)
{
    for (size_t i = 0; i < plan->figures.count; i++) {
        if (strcmp(plan->strings.data + plan->figures.items[i].path, rows[id].path) == 0) {
            return &plan->figures.items[i];
        }
    }
    return NULL;
}

/* It must have been added. */
void plan_figure_again(struct plan *plan, enum figure_id id, double value, const char *inputs, ...)
{
    char text[256];
    va_list args;
    va_start(args, inputs);
    vsnprintf(text, sizeof(text), inputs, args);
    va_end(args);
    struct myr_figure *figure = added(plan, id);
    MYR_ASSERT(figure);
    figure->value = value;
    figure->inputs = plan_string(plan, text);
}

void plan_figure_drop(struct plan *plan, enum figure_id id)
{
    struct myr_figure *figure = added(plan, id);
    if (figure) {
        size_t behind = plan->figures.count - (size_t)(figure - plan->figures.items) - 1;
        memmove(figure, figure + 1, behind * sizeof(*figure));
        plan->figures.count--;
    }
}

const char *plan_figure_rule(enum figure_id id)
{
    return rows[id].rule;
}

const char *plan_figure_title(const char *path)
{
    for (uint32_t i = 0; i < FIG_COUNT; i++) {
        if (strcmp(rows[i].path, path) == 0) {
            return rows[i].title;
        }
    }
    return NULL;
}

const char *plan_figure_rule_at(const char *path, const char **ret_unit)
{
    for (uint32_t i = 0; i < FIG_COUNT; i++) {
        if (strcmp(rows[i].path, path) == 0) {
            *ret_unit = rows[i].unit;
            return rows[i].rule;
        }
    }
    return NULL;
}

double plan_figure_value(const struct plan *plan, enum figure_id id)
{
    const struct myr_figure *figure = added(plan, id);
    return figure ? figure->value : 0;
}

const char *plan_figure_said(const struct plan *plan, enum figure_id id)
{
    const struct myr_figure *figure = added(plan, id);
    return plan->strings.data + (figure ? figure->text : 0);
}

/* ---- from the finished design ---- */

/*
 * An empty unit is a plain number; a word is what has text. A figure that this plan does not have
 * is null, so that programs find all keys.
 */
static void put(struct myr_answer *answer, const char *key, const struct myr_design *design,
                const struct myr_figure *figure)
{
    if (!figure) {
        myr_answer_null(answer, key);
    } else if (figure->text) {
        myr_answer_text(answer, key, myr_design_str(design, figure->text));
    } else {
        myr_answer_double(answer, key, figure->value, figure->digits);
    }
}

void plan_figure_put(const struct myr_design *design, struct myr_answer *answer, const char *key,
                     enum figure_id id)
{
    put(answer, key, design, myr_design_figure(design, rows[id].path));
}

double plan_figure_of(const struct myr_design *design, enum figure_id id)
{
    const struct myr_figure *figure = myr_design_figure(design, rows[id].path);
    return figure ? figure->value : 0;
}

const char *plan_figure_unit(const struct myr_design *design, struct myr_arena *arena,
                             const char *path, const char *unit)
{
    const struct myr_figure *tariff = myr_design_figure(design, rows[FIG_ENERGY_CURRENCY].path);
    bool per_kwh = strcmp(path, rows[FIG_TARIFF].path) == 0;
    /* Only sums of money have a unit that depends on the plan. */
    if (strcmp(unit, "money") != 0) {
        return unit;
    }
    bool energy = strncmp(path, "power.", strlen("power.")) == 0 ||
                  strncmp(path, "cooling.", strlen("cooling.")) == 0 ||
                  strstr(path, "energy_cost") != NULL;
    bool years = strcmp(path, rows[FIG_TCO].path) == 0;
    const char *currency =
        myr_design_str(design, tariff && energy && !years ? tariff->text : design->head->currency);
    return per_kwh ? myr_arena_printf(arena, "%s/kWh", currency) : currency;
}

const char *plan_figure_text(const struct myr_design *design, enum figure_id id)
{
    const struct myr_figure *figure = myr_design_figure(design, rows[id].path);
    return figure ? myr_design_str(design, figure->text) : "";
}

/* What a cost of the years is made of, as far as it may be missing. */
struct years {
    bool priced;               /* a line of the bill is */
    bool exchanged;            /* of one currency, or what one is worth in the other is known */
    const char *bill, *tariff; /* currencies */
};

static const char unpriced[] = "no line of the bill has a price, and unpriced is not free";

/*
 * Unpriced is never free, and two currencies that nobody has compared add up to nothing: all that
 * is missing is told at once. NULL: nothing is.
 */
static const char *years_lack(struct myr_arena *arena, const struct years *years)
{
    if (years->exchanged) {
        return years->priced ? NULL : unpriced;
    }
    return myr_arena_printf(arena,
                            "%s%sthe bill is in %s and the tariff in %s: facility.energy lacks "
                            "'exchange', %s for one %s",
                            years->priced ? "" : unpriced, years->priced ? "" : "; ", years->bill,
                            years->tariff, years->bill, years->tariff);
}

const char *plan_years_missing(const struct plan *plan, struct myr_arena *arena)
{
    const struct myr_figure *currency = added(plan, FIG_ENERGY_CURRENCY);
    MYR_ASSERT(currency);
    struct years years = {.priced = plan_priced(plan),
                          .exchanged = added(plan, FIG_EXCHANGE) != NULL,
                          .bill = plan->strings.data + plan->design.head->currency,
                          .tariff = plan->strings.data + currency->text};
    const char *lack = years_lack(arena, &years);
    return lack ? lack : "it is more than can be counted";
}

const char *plan_figure_missing(const struct myr_design *design, struct myr_arena *arena,
                                const char *path)
{
    struct years years = {.priced = plan_any_price(design->bom, design->bom_count),
                          .exchanged = myr_design_figure(design, rows[FIG_EXCHANGE].path) != NULL,
                          .bill = myr_design_str(design, design->head->currency),
                          .tariff = plan_figure_text(design, FIG_ENERGY_CURRENCY)};
    const char *lack = NULL;
    if (strcmp(path, "totals.cost") == 0 && !years.priced) {
        return unpriced;
    }
    /* Of the rate itself no price is a part. */
    if (strcmp(path, rows[FIG_EXCHANGE].path) == 0) {
        years.priced = true;
        lack = years_lack(arena, &years);
    } else if (strcmp(path, rows[FIG_TCO].path) == 0) {
        lack = years_lack(arena, &years);
    }
    /* Designs of older programs have no tariff, and none of its figures. */
    return lack && years.tariff[0] ? lack : "the plan has no such figure";
}

/* Words of a path: "power.it.kw" has three. */
static uint32_t split(const char *path, struct myr_str *ret, uint32_t most)
{
    uint32_t count = 0;
    for (;;) {
        const char *dot = strchr(path, '.');
        MYR_ASSERT(count < most);
        ret[count++] = (struct myr_str){path, dot ? (size_t)(dot - path) : strlen(path)};
        if (!dot) {
            return count;
        }
        path = dot + 1;
    }
}

enum { WORDS_MAX = 6, KEY_MAX = 48 };

/* Answers copy their keys, so a buffer of the caller is enough. */
static const char *key_of(struct myr_str word, char ret[KEY_MAX])
{
    snprintf(ret, KEY_MAX, "%.*s", (int)word.len, word.data);
    return ret;
}

/*
 * Objects are opened and closed as the paths of neighbouring rows share their beginnings, which is
 * why these must stand together. 'skip' words are those of the object that is open already.
 */
void plan_figures_tree(const struct myr_design *design, struct myr_answer *answer,
                       enum figure_id first, enum figure_id last, uint32_t skip)
{
    struct myr_str open[WORDS_MAX];
    uint32_t depth = 0;
    char key[KEY_MAX];
    for (uint32_t id = first; id <= (uint32_t)last; id++) {
        struct myr_str words[WORDS_MAX];
        uint32_t count = split(rows[id].path, words, WORDS_MAX), common = 0;
        MYR_ASSERT(count > skip);
        /* How many of the open objects this figure still lies in. */
        while (common < depth && common + skip + 1 < count &&
               myr_str_eq(open[common], words[skip + common])) {
            common++;
        }
        for (; depth > common; depth--) {
            myr_answer_end(answer);
        }
        for (; depth + skip + 1 < count; depth++) {
            open[depth] = words[skip + depth];
            myr_answer_object(answer, key_of(open[depth], key));
        }
        put(answer, key_of(words[count - 1], key), design,
            myr_design_figure(design, rows[id].path));
    }
    for (; depth > 0; depth--) {
        myr_answer_end(answer);
    }
}

/* In the order in which they were added. */
const struct myr_value *plan_figures_list(const struct myr_design *design,
                                          struct myr_answer *answer)
{
    const struct myr_value *list = myr_answer_list(answer, "figures");
    for (uint32_t i = 0; i < design->figure_count; i++) {
        const struct myr_figure *figure = &design->figures[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "path", myr_design_str(design, figure->path));
        put(answer, "value", design, figure);
        myr_answer_text(answer, "unit", myr_design_str(design, figure->unit));
        myr_answer_text(answer, "basis", myr_basis_names[figure->basis]);
        myr_answer_text(answer, "rule", myr_design_str(design, figure->rule));
        myr_answer_text(answer, "inputs", myr_design_str(design, figure->inputs));
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}
