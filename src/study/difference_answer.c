#include <math.h>

#include "myriad/plan.h"
#include "myriad/study/difference.h"

/* The difference as a tree for programs and a page for people. What is not known is null. */

static void put_value(struct myr_answer *answer, const char *key, bool known, double value,
                      int digits)
{
    if (known) {
        myr_answer_double(answer, key, value, digits);
    } else {
        myr_answer_null(answer, key);
    }
}

static const struct myr_value *put_rows(struct myr_answer *answer, const char *key,
                                        const struct myr_difference_row *rows, uint32_t count)
{
    const struct myr_value *list = myr_answer_list(answer, key);
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_difference_row *row = &rows[i];
        double more = row->values[1] - row->values[0];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "path", row->path);
        myr_answer_text(answer, "title", row->title);
        myr_answer_text(answer, "unit", row->unit);
        put_value(answer, "a", row->known[0], row->values[0], row->digits);
        put_value(answer, "b", row->known[1], row->values[1], row->digits);
        put_value(answer, "more", !row->why, more, row->digits);
        put_value(answer, "percent", !row->why && row->values[0] != 0,
                  row->values[0] != 0 ? 100 * more / fabs(row->values[0]) : 0, 2);
        myr_answer_text(answer, "why", row->why);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

static void put_cents(struct myr_answer *answer, const char *key, int64_t cents, bool known)
{
    put_value(answer, key, known, (double)cents / 100, 2);
}

/* A sum can be subtracted where a side has none of the part, or a price of it. */
static const struct myr_value *put_lines(struct myr_answer *answer,
                                         const struct myr_difference *difference)
{
    const struct myr_value *list = myr_answer_list(answer, "lines");
    bool same =
        strcmp(myr_design_str(difference->designs[0], difference->designs[0]->head->currency),
               myr_design_str(difference->designs[1], difference->designs[1]->head->currency)) == 0;
    for (uint32_t i = 0; i < difference->line_count; i++) {
        const struct myr_difference_line *line = &difference->lines[i];
        bool known[2];
        for (uint32_t s = 0; s < 2; s++) {
            known[s] = line->cents[s] >= 0;
        }
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "system", line->system);
        myr_answer_text(answer, "name", line->name);
        myr_answer_text(answer, "part", line->part);
        myr_answer_u64(answer, "a", line->quantities[0]);
        myr_answer_u64(answer, "b", line->quantities[1]);
        myr_answer_i64(answer, "more", (int64_t)(line->quantities[1] - line->quantities[0]));
        put_cents(answer, "a_total", line->cents[0], known[0]);
        put_cents(answer, "b_total", line->cents[1], known[1]);
        put_cents(answer, "more_total", line->cents[1] - line->cents[0],
                  known[0] && known[1] && same);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

static const struct myr_value *put_findings(struct myr_answer *answer,
                                            const struct myr_difference *difference)
{
    const struct myr_value *list = myr_answer_list(answer, "findings");
    for (uint32_t i = 0; i < difference->finding_count; i++) {
        const struct myr_difference_finding *one = &difference->findings[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "only", one->side ? "b" : "a");
        myr_answer_text(answer, "severity", one->severity);
        myr_answer_text(answer, "rule", one->rule);
        myr_answer_text(answer, "where", one->where);
        myr_answer_text(answer, "message", one->message);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

static void put_side(struct myr_answer *answer, const char *key,
                     const struct myr_difference *difference, uint32_t side)
{
    const struct myr_design *design = difference->designs[side];
    myr_answer_object(answer, key);
    myr_answer_text(answer, "file", difference->files[side]);
    myr_answer_text(answer, "name", myr_design_str(design, design->head->name));
    myr_answer_text(answer, "currency", myr_design_str(design, design->head->currency));
    myr_answer_end(answer);
    myr_answer_fact(answer, key, "%s: %s", difference->files[side],
                    myr_design_str(design, design->head->name));
}

void myr_difference_answer(const struct myr_difference *difference, struct myr_answer *answer)
{
    static const struct myr_answer_column rows[] = {
        MYR_COLUMN("title", "FIGURE", 0),
        MYR_COLUMN("unit", "UNIT", 0),
        MYR_COLUMN("a", "A", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("b", "B", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("more", "B - A", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("percent", "%", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("why", "WHY NOT", 0)};
    static const struct myr_answer_column lines[] = {
        MYR_COLUMN("system", "SYSTEM", 0),
        MYR_COLUMN("part", "PART", 0),
        MYR_COLUMN("a", "A", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("b", "B", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("more", "B - A", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("more_total", "MONEY", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED)};
    static const struct myr_answer_column findings[] = {
        MYR_COLUMN("only", "ONLY", 0), MYR_COLUMN("severity", "SEVERITY", 0),
        MYR_COLUMN("rule", "RULE", 0), MYR_COLUMN("where", "WHERE", 0),
        MYR_COLUMN("message", "WHAT", 0)};
    static const struct myr_answer_column numbers[] = {
        MYR_COLUMN("path", "NUMBER", 0), MYR_COLUMN("unit", "UNIT", 0),
        MYR_COLUMN("a", "A", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED),
        MYR_COLUMN("b", "B", MYR_COLUMN_NUMBER),
        MYR_COLUMN("more", "B - A", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED)};
    put_side(answer, "a", difference, 0);
    put_side(answer, "b", difference, 1);
    const struct myr_value *list =
        put_rows(answer, "rows", difference->rows, difference->row_count);
    myr_answer_table(answer, list, rows, MYR_ARRAY_COUNT(rows));
    myr_answer_rows(answer, list);
    list = put_lines(answer, difference);
    myr_answer_heading(answer, "Bills of materials");
    myr_answer_table(answer, list, lines, MYR_ARRAY_COUNT(lines));
    list = put_findings(answer, difference);
    if (difference->finding_count) {
        myr_answer_heading(answer, "Findings that only one has");
        myr_answer_table(answer, list, findings, MYR_ARRAY_COUNT(findings));
    }
    list = put_rows(answer, "numbers", difference->numbers, difference->number_count);
    myr_answer_more(answer, "every other number that differs");
    myr_answer_table(answer, list, numbers, MYR_ARRAY_COUNT(numbers));
}
