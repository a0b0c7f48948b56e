/* The CSV reader: rows or one clear line; what was read, written again, reads the same. */
#include "fuzz.h"
#include "myriad/text/csv.h"

static const char file[] = "fuzz.csv";

static void write_row(const struct myr_csv *csv, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < csv->count; i++) {
        struct myr_str field = csv->fields[i];
        if (csv->count == 1 && field.len == 0) {
            myr_buf_put_lit(buf, "\"\""); /* a blank line is no row */
        }
        myr_csv_put(buf, field);
        myr_buf_putc(buf, i + 1 < csv->count ? ',' : '\n');
    }
}

static void expect_same_rows(struct myr_arena *arena, struct myr_str first, struct myr_str second)
{
    struct myr_csv a;
    struct myr_csv b;
    struct myr_err err;
    myr_csv_init(&a, arena, file, first);
    myr_csv_init(&b, arena, file, second);
    for (;;) {
        int rc = myr_csv_next(&a, &err);
        MYR_ASSERT(rc >= 0 && myr_csv_next(&b, &err) == rc);
        if (rc == 0) {
            return;
        }
        MYR_ASSERT(a.count == b.count);
        for (uint32_t i = 0; i < a.count; i++) {
            MYR_ASSERT(myr_str_eq(a.fields[i], b.fields[i]));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_csv csv;
    struct myr_err err;
    struct myr_buf written = {};
    struct myr_str text = {(const char *)data, size};
    myr_csv_init(&csv, &arena, file, text);
    int rc;
    uint32_t line = 0;
    while ((rc = myr_csv_next(&csv, &err)) == 1) {
        MYR_ASSERT(csv.count > 0 && csv.line > line);
        line = csv.line;
        write_row(&csv, &written);
    }
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        fuzz_note_text("written", &written);
        expect_same_rows(&arena, text, (struct myr_str){written.data, written.len});
    }
    myr_buf_done(&written);
    myr_arena_done(&arena);
    return 0;
}
