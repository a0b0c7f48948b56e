/* Workbooks: CSV that can be read, row for row of the sheet, or one clear line. */
#include "fuzz.h"
#include "myriad/text/csv.h"
#include "myriad/text/xlsx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_str bytes = {(const char *)data, size};
    struct myr_err err;
    struct myr_csv csv;
    myr_arena_init(&arena);
    int rc = myr_xlsx_csv("fuzz.xlsx", bytes, &text, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "fuzz.xlsx");
        return 0;
    }
    uint32_t rows = 0;
    myr_csv_init(&csv, &arena, "fuzz.csv", (struct myr_str){text.data, text.len});
    while ((rc = myr_csv_next(&csv, &err)) > 0) {
        MYR_ASSERT(csv.line <= MYR_XLSX_ROWS_MAX + 1);
        rows++;
    }
    MYR_ASSERT(rc == 0);
    fuzz_note("%u rows, %zu bytes, %08x", rows, text.len,
              (unsigned)myr_hash_bytes(text.data, text.len));
    return 0;
}
