#include <math.h>
#include <stdio.h>

#include "compare_rows.h"

/*
 * The comparison as a tree for programs and a page for people. The table of the page is rendered
 * from the rows of the tree; what is not known is null there.
 */

/* By what is better; nothing to say where neither is. */
static const char *const better_names[] = {NULL, "less", "more"};

/* A row without digits has whole numbers; what is not known is null, never zero. */
static void put_known(struct myr_answer *answer, const char *key, const struct myr_compare_row *row,
                      uint32_t index)
{
    if (row->cells[index].known && row->digits == 0) {
        myr_answer_i64(answer, key, llround(row->cells[index].value));
    } else if (row->cells[index].known) {
        myr_answer_double(answer, key, row->cells[index].value, row->digits);
    } else {
        myr_answer_null(answer, key);
    }
}

/* NULL where the catalogue does not know the switch. */
static const char *technology_of(const struct myr_compare_side *side)
{
    static const char *const names[] = {"infiniband", "ethernet", NULL};
    return names[side->technology];
}

/* What the design is and what was taken for it; figures are in the rows. */
static void put_side(struct myr_answer *answer, const struct myr_compare_side *side, uint32_t index)
{
    const struct myr_network *net = &side->design.networks[MYR_NET_COMPUTE];
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "design", compare_letter(index));
    myr_answer_text(answer, "name", side->name);
    myr_answer_text(answer, "file", side->file);
    myr_answer_u64(answer, "gpus", side->design.head->gpus);
    myr_answer_text(answer, "group", side->group);
    myr_answer_u64(answer, "job_gpus", side->gpus);
    myr_answer_text(answer, "technology", technology_of(side));
    myr_answer_text(answer, "topology", myr_topology_name((enum myr_topology)net->topology));
    myr_answer_u64(answer, "tiers", net->tiers);
    /* What was assumed or given for the simulation. */
    myr_answer_text(answer, "policy", myr_policy_names[side->policy]);
    myr_answer_u64(answer, "efficiency_permille", side->efficiency_permille);
    myr_answer_text(answer, "algorithm", side->algorithm);
    myr_answer_u64(answer, "unpriced_lines", side->unpriced);
    myr_answer_text(answer, "currency", side->currency);
    myr_answer_text(answer, "device", side->device);
    myr_answer_text(answer, "software", side->software);
    /* Nine runs of ten are expected within. */
    if (side->trained) {
        myr_answer_list(answer, "step_s_interval");
        myr_answer_double(answer, NULL, side->price.low_s, 6);
        myr_answer_double(answer, NULL, side->price.high_s, 6);
        myr_answer_end(answer);
    } else {
        myr_answer_null(answer, "step_s_interval");
    }
    myr_answer_text(answer, "not_trained", side->not_trained);
    myr_answer_end(answer);
}

/* Of the first design, in percent; null where one of the two is not known or nothing. */
static void put_apart(struct myr_answer *answer, const struct myr_compare_row *row, uint32_t index)
{
    char key[16];
    /* The first design is what the others are held against. */
    const struct myr_compare_cell *first = &row->cells[0], *one = &row->cells[index];
    snprintf(key, sizeof(key), "%s_percent", compare_letter(index));
    if (first->known && one->known && first->value > 0) {
        myr_answer_double(answer, key, 100 * (one->value / first->value - 1), 2);
    } else {
        myr_answer_null(answer, key);
    }
}

/* A key for each design ("a" to "h"), so that rows are a table for programs as well. */
static const struct myr_value *put_rows(struct myr_answer *answer,
                                        const struct myr_design_comparison *all)
{
    const struct myr_value *list = myr_answer_list(answer, "rows");
    for (uint32_t r = 0; r < all->row_count; r++) {
        const struct myr_compare_row *row = &all->rows[r];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "row", row->key);
        myr_answer_text(answer, "title",
                        row->unit[0]
                            ? myr_arena_printf(answer->arena, "%s, %s", row->title, row->unit)
                            : row->title);
        myr_answer_text(answer, "unit", row->unit);
        myr_answer_text(answer, "better", better_names[row->better]);
        /* First the values of all designs, then how far each is from the first. */
        for (uint32_t i = 0; i < all->count; i++) {
            put_known(answer, compare_letter(i), row, i);
        }
        for (uint32_t i = 1; i < all->count; i++) {
            put_apart(answer, row, i);
        }
        myr_answer_text(answer, "best",
                        row->equal              ? "equal"
                        : row->best != MYR_NONE ? compare_letter(row->best)
                                                : NULL);
        myr_answer_text(answer, "why", row->why);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* One entry for each figure of each design: its rule, what went in, and where to ask the plan. */
static const struct myr_value *put_traces(struct myr_answer *answer,
                                          const struct myr_design_comparison *all)
{
    const struct myr_value *list = myr_answer_list(answer, "traces");
    for (uint32_t r = 0; r < all->row_count; r++) {
        const struct myr_compare_row *row = &all->rows[r];
        for (uint32_t i = 0; i < all->count; i++) {
            const struct myr_compare_cell *cell = &row->cells[i];
            myr_answer_object(answer, NULL);
            myr_answer_text(answer, "row", row->key);
            myr_answer_text(answer, "design", compare_letter(i));
            put_known(answer, "value", row, i);
            myr_answer_text(answer, "basis", cell->basis);
            myr_answer_text(answer, "rule", cell->rule);
            myr_answer_text(answer, "inputs", cell->inputs);
            myr_answer_text(answer, "path", cell->path);
            myr_answer_end(answer);
        }
    }
    myr_answer_end(answer);
    return list;
}

static void put_notes(struct myr_answer *answer, const struct myr_design_comparison *all)
{
    myr_answer_list(answer, "notes");
    for (uint32_t i = 0; i < all->note_count; i++) {
        myr_answer_text(answer, NULL, all->notes[i]);
    }
    myr_answer_end(answer);
}

/* ---- for people ---- */

/* A line for each letter: the table below has letters alone. */
static void show_sides(struct myr_answer *answer, const struct myr_design_comparison *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct myr_compare_side *side = &all->sides[i];
        const struct myr_network *net = &side->design.networks[MYR_NET_COMPUTE];
        const char *technology = technology_of(side);
        myr_answer_fact(answer, compare_letter(i), "%s: %s, %s, %s of %s, %s", side->name,
                        MYR_COUNT(side->design.head->gpus, "GPU"),
                        technology ? technology : "unknown switches",
                        myr_topology_name((enum myr_topology)net->topology),
                        MYR_COUNT(net->tiers, "tier"), myr_policy_names[side->policy]);
    }
}

/* With more than three designs the differences would not fit a screen: only with -o wide. */
static void show_rows(struct myr_answer *answer, const struct myr_design_comparison *all,
                      const struct myr_value *rows)
{
    static const char *const titles[MYR_COMPARE_MAX] = {"A", "B", "C", "D", "E", "F", "G", "H"};
    static const char *const apart[MYR_COMPARE_MAX] = {NULL,        "b_percent", "c_percent",
                                                       "d_percent", "e_percent", "f_percent",
                                                       "g_percent", "h_percent"};
    static const char *const apart_titles[MYR_COMPARE_MAX] = {NULL,  "B %", "C %", "D %",
                                                              "E %", "F %", "G %", "H %"};
    /* Title, a value for each design, a difference for all but the first, the best. */
    enum { COLUMNS_MAX = 2 * MYR_COMPARE_MAX + 2 };
    /* The table is rendered later: what it is made of lives with the answer. */
    struct myr_answer_column *columns =
        MYR_ARENA_NEW(answer->arena, struct myr_answer_column, COLUMNS_MAX);
    uint32_t count = 0;
    columns[count++] = (struct myr_answer_column)MYR_COLUMN("title", "FIGURE", 0);
    for (uint32_t i = 0; i < all->count; i++) {
        columns[count++] = (struct myr_answer_column){compare_letter(i), titles[i],
                                                      MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED, 0};
    }
    for (uint32_t i = 1; i < all->count; i++) {
        uint32_t flags = MYR_COLUMN_NUMBER | (all->count > 3 ? MYR_COLUMN_WIDE : 0);
        columns[count++] = (struct myr_answer_column){apart[i], apart_titles[i], flags, 1};
    }
    columns[count++] = (struct myr_answer_column)MYR_COLUMN("best", "BEST", 0);
    MYR_ASSERT(count <= COLUMNS_MAX);
    myr_answer_table(answer, rows, columns, count);
}

/* Rows without a winner, and why. */
static void show_doubts(struct myr_answer *answer, const struct myr_design_comparison *all)
{
    for (uint32_t r = 0; r < all->row_count; r++) {
        if (all->rows[r].why) {
            myr_answer_fact(answer, all->rows[r].title, "not compared: %s", all->rows[r].why);
        }
    }
}

/* Shown with -o wide: most readers want the figures only. */
static void show_traces(struct myr_answer *answer, const struct myr_value *traces)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("row", "FIGURE", 0),
        MYR_COLUMN("design", "OF", 0),
        MYR_COLUMN("value", "VALUE", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("basis", "BASIS", 0),
        MYR_COLUMN("rule", "RULE", 0),
        MYR_COLUMN("inputs", "INPUTS", 0),
        MYR_COLUMN("path", "EXPLAIN PLAN", 0),
    };
    myr_answer_heading(answer, "How each figure came about");
    myr_answer_table(answer, traces, columns, MYR_ARRAY_COUNT(columns));
}

/* The tree first, then the page from the same rows, so that both say the same. */
void myr_design_comparison_answer(const struct myr_design_comparison *comparison,
                                  struct myr_answer *answer)
{
    const struct myr_design_comparison *all = comparison;
    /* The default is named too: a figure without its workload says nothing. */
    const char *words = all->question->workload;
    myr_answer_text(answer, "workload", words ? words : MYR_COMPARE_WORKLOAD);
    myr_answer_text(answer, "model", all->question->of.model);
    myr_answer_list(answer, "designs");
    for (uint32_t i = 0; i < all->count; i++) {
        put_side(answer, &all->sides[i], i);
    }
    myr_answer_end(answer);
    const struct myr_value *rows = put_rows(answer, all);
    const struct myr_value *traces = put_traces(answer, all);
    put_notes(answer, all);
    myr_answer_rows(answer, rows);
    show_sides(answer, all);
    show_rows(answer, all, rows);
    show_doubts(answer, all);
    /* What is missing is told with the options that bring it. */
    if (!all->question->of.model) {
        myr_answer_para(answer, "Without --model and --batch nothing is trained: no step time, no "
                                "cost of a token.");
    }
    myr_answer_heading(answer, "What to know");
    for (uint32_t i = 0; i < all->note_count; i++) {
        myr_answer_para(answer, "%s", all->notes[i]);
    }
    myr_answer_more(answer, "the rule, the inputs and the basis of every figure");
    show_traces(answer, traces);
}
