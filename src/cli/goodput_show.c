/* goodput_show: what the failures and the recoveries of 'myriad goodput' are made of. */
#include "goodput.h"

/*
 * Llama 3's table for a job of this size. A rate that was asked for keeps the shares of the classes
 * and sets their sum: what RSC's total would mean for each.
 */
static void show_classes(const struct cli_goodput_options *asked,
                         const struct myr_recovery *recovery, const struct cli_rates *rates,
                         struct myr_table *table)
{
    struct myr_failure_class classes[MYR_FAILURE_CLASSES_MAX];
    uint32_t count;
    double whole = cli_goodput_classes(recovery, asked, classes, &count), sum = 0;
    double scale = asked->rate ? rates->values[0] / whole : 1;
    for (uint32_t i = 0; i < count; i++) {
        sum += classes[i].per_day;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_recovery_row *row = myr_recovery_find(recovery, classes[i].key);
        myr_table_text(table, classes[i].key);
        myr_table_text(table, row->unit);
        myr_table_double(table, row->low, 3);
        myr_table_double(table, row->typical, 3);
        myr_table_double(table, row->high, 3);
        myr_table_double(table, classes[i].per_day * scale, 5);
        myr_table_double(table, 100 * classes[i].per_day / sum, 2);
        myr_table_text(table, row->source);
    }
}

static int show_parts(const struct cli_goodput_options *asked, const struct myr_recovery *recovery,
                      struct myr_table *table, struct myr_err *err)
{
    for (int p = MYR_PRACTICE_COMMON; p <= MYR_PRACTICE_BEST; p++) {
        struct myr_recovery_part parts[MYR_RECOVERY_PARTS_MAX];
        uint32_t count;
        int rc = myr_recovery_parts(recovery, (enum myr_practice)p, (enum myr_fault)asked->fault,
                                    (double)asked->gpus, parts, &count, err);
        if (rc < 0) {
            return rc;
        }
        for (uint32_t i = 0; i < count; i++) {
            myr_table_text(table, p == MYR_PRACTICE_COMMON ? "common" : "best");
            myr_table_text(table, parts[i].row->key);
            myr_table_double(table, parts[i].seconds, 3);
            myr_table_text(table, parts[i].row->scales);
            myr_table_text(table, parts[i].row->confidence);
            myr_table_text(table, parts[i].row->source);
        }
    }
    return MYR_OK;
}

static void show_data(const struct cli_goodput_options *asked, const struct myr_recovery *recovery,
                      struct myr_table *table)
{
    for (size_t i = 0; i < recovery->rows.count; i++) {
        const struct myr_recovery_row *row = &recovery->rows.items[i];
        myr_table_text(table, row->key);
        myr_table_text(table, row->unit);
        myr_table_double(table, row->low, 4);
        myr_table_double(table, row->typical, 4);
        myr_table_double(table, row->high, 4);
        myr_table_double(table, myr_recovery_value(row, (double)asked->gpus), 4);
        myr_table_text(table, row->scales);
        myr_table_text(table, row->confidence);
        myr_table_text(table, row->when);
        myr_table_text(table, row->source);
    }
}

int cli_goodput_show(const struct cli_goodput_options *asked, const struct myr_recovery *recovery,
                     const struct cli_rates *rates, struct myr_buf *buf, struct myr_err *err)
{
    static const struct myr_column of_classes[] = {{"class", "CLASS", 0},
                                                   {"unit", "UNIT", 0},
                                                   {"low", "LOW", MYR_COLUMN_NUMBER},
                                                   {"typical", "TYPICAL", MYR_COLUMN_NUMBER},
                                                   {"high", "HIGH", MYR_COLUMN_NUMBER},
                                                   {"per_day", "A DAY", MYR_COLUMN_NUMBER},
                                                   {"share_percent", "SHARE %", MYR_COLUMN_NUMBER},
                                                   {"source", "SOURCE", MYR_COLUMN_WIDE}};
    static const struct myr_column of_parts[] = {
        {"practice", "PRACTICE", 0},         {"part", "PART", 0},
        {"seconds", "s", MYR_COLUMN_NUMBER}, {"scales", "SCALES", 0},
        {"confidence", "CONFIDENCE", 0},     {"source", "SOURCE", MYR_COLUMN_WIDE}};
    static const struct myr_column of_data[] = {{"key", "KEY", 0},
                                                {"unit", "UNIT", 0},
                                                {"low", "LOW", MYR_COLUMN_NUMBER},
                                                {"typical", "TYPICAL", MYR_COLUMN_NUMBER},
                                                {"high", "HIGH", MYR_COLUMN_NUMBER},
                                                {"here", "HERE", MYR_COLUMN_NUMBER},
                                                {"scales", "SCALES", 0},
                                                {"confidence", "CONFIDENCE", 0},
                                                {"when", "WHEN", MYR_COLUMN_WIDE},
                                                {"source", "SOURCE", MYR_COLUMN_WIDE}};
    struct myr_arena arena;
    struct myr_table table;
    int rc = MYR_OK;
    myr_arena_init(&arena);
    if (asked->show == CLI_SHOW_CLASSES) {
        myr_table_init(&table, &arena, of_classes, MYR_ARRAY_COUNT(of_classes));
        show_classes(asked, recovery, rates, &table);
    } else if (asked->show == CLI_SHOW_PARTS) {
        myr_table_init(&table, &arena, of_parts, MYR_ARRAY_COUNT(of_parts));
        rc = show_parts(asked, recovery, &table, err);
    } else {
        myr_table_init(&table, &arena, of_data, MYR_ARRAY_COUNT(of_data));
        show_data(asked, recovery, &table);
    }
    if (rc == MYR_OK) {
        myr_table_write(&table, (enum myr_format)asked->format, buf);
    }
    myr_table_done(&table);
    myr_arena_done(&arena);
    return rc;
}
