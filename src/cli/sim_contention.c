#include "sim_contention.h"

#include <stdio.h>

int sim_contention_path(const char *design, char *ret, size_t size, struct myr_err *err)
{
    const char *slash = design ? strrchr(design, '/') : NULL;
    int folder = slash ? (int)(slash - design) + 1 : 0;
    int len = snprintf(ret, size, "%.*scontention.json", folder, design ? design : "");
    return len < 0 || (size_t)len >= size
               ? myr_err_set(err, MYR_EINVAL, "the path of the design is too long")
               : MYR_OK;
}

static void put_table(const struct myr_contention *table, uint32_t format, struct myr_buf *buf)
{
    static const struct myr_column columns[] = {
        {"pattern", "PATTERN", 0},
        {"level", "LEVEL", 0},
        {"load", "LOAD", MYR_COLUMN_NUMBER},
        {"jobs", "JOBS", MYR_COLUMN_NUMBER},
        {"mean", "MEAN SLOWDOWN", MYR_COLUMN_NUMBER},
        {"worst", "WORST", MYR_COLUMN_NUMBER},
    };
    struct myr_arena arena;
    struct myr_table rows;
    myr_arena_init(&arena);
    myr_table_init(&rows, &arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
        for (uint32_t level = 0; level < MYR_CONTENTION_LEVELS; level++) {
            for (uint32_t i = 0; i < MYR_CONTENTION_LOADS; i++) {
                const struct myr_contention_cell *cell = &table->cells[p][level][i];
                myr_table_text(&rows, myr_contention_pattern_names[p]);
                myr_table_text(&rows, myr_contention_level_names[level]);
                myr_table_double(&rows, table->loads[i], 2);
                myr_table_u64(&rows, cell->jobs);
                myr_table_double(&rows, cell->mean, 3);
                myr_table_double(&rows, cell->worst, 3);
            }
        }
    }
    myr_table_write(&rows, (enum myr_format)format, buf);
    myr_table_done(&rows);
    myr_arena_done(&arena);
}

int sim_contention_make(struct myr_graph *graph, const struct myr_balance_options *balance,
                        const char *path, uint32_t format, struct myr_buf *buf, struct myr_err *err)
{
    struct myr_contention table;
    int r = myr_contention_compute(graph, balance, &table, err);
    r = r < 0 ? r : myr_contention_write(&table, path, err);
    if (r == MYR_OK) {
        put_table(&table, format, buf);
    }
    return r;
}
