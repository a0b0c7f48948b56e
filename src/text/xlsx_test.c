/*
 * Workbooks read as CSV: those that a writer of its own makes (libxlsxwriter, by tests/plan), and
 * here documents that are stored without compression, with what spreadsheets do to cells. Damaged
 * ones are refused with one line and nothing else happens.
 */
#include "myriad/text/xlsx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/base/rng.h"

static void number(struct myr_buf *buf, uint32_t value, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        myr_buf_putc(buf, (char)(value >> 8 * i & 0xFF));
    }
}

/* A zip of stored parts; checksums are not asked for. */
static void zip(const char *const (*parts)[2], uint32_t count, struct myr_buf *ret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = (uint32_t)strlen(parts[i][0]), size = (uint32_t)strlen(parts[i][1]);
        uint32_t at = (uint32_t)ret->len;
        number(ret, 0x04034b50, 4);
        number(ret, 0, 22);
        number(ret, name, 2);
        number(ret, 0, 2);
        myr_buf_puts(ret, parts[i][0]);
        myr_buf_puts(ret, parts[i][1]);
        number(&list, 0x02014b50, 4);
        number(&list, 0, 16);
        number(&list, size, 4);
        number(&list, size, 4);
        number(&list, name, 2);
        number(&list, 0, 12);
        number(&list, at, 4);
        myr_buf_puts(&list, parts[i][0]);
    }
    uint32_t at = (uint32_t)ret->len;
    myr_buf_put(ret, list.data, list.len);
    number(ret, 0x06054b50, 4);
    number(ret, 0, 12);
    number(ret, at, 4);
    number(ret, 0, 2);
}

#define SHEET(rows) "<worksheet><sheetData>" rows "</sheetData></worksheet>"

static int read_of(const char *sheet, struct myr_buf *csv, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf book = {};
    const char *const parts[][2] = {
        {"xl/workbook.xml",
         "<workbook><sheets><sheet name=\"b\" r:id=\"x7\"/></sheets></workbook>"},
        {"xl/_rels/workbook.xml.rels",
         "<Relationships><Relationship Id=\"x1\" Target=\"other.xml\"/><Relationship Id='x7' "
         "Target='sheets/first.xml'/></Relationships>"},
        {"xl/sharedStrings.xml",
         "<sst><si><t>part</t></si><si><r><t>quan</t></r><r><t>tity</t></r><rPh><t>no</t></rPh>"
         "</si><si><t>a &lt;b&gt; &amp; &#20013;&#x4E2D;, \"c\"\nd</t></si></sst>"},
        {"xl/sheets/first.xml", sheet}};
    zip(parts, 4, &book);
    return myr_xlsx_csv("b.xlsx", (struct myr_str){book.data, book.len}, csv, err);
}

static void a_line_is_a_row_and_a_cell_is_what_people_see(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf csv = {};
    struct myr_err err;
    assert_int_equal(
        read_of(SHEET("<row r=\"2\"><c r=\"A2\" t=\"s\"><v>0</v></c><c r=\"C2\" "
                      "t=\"s\"><v>1</v></c></row><row r=\"4\"><c r=\"A4\" t=\"s\"><v>2</v></c><c "
                      "r=\"B4\"/><c r=\"C4\"><f>D4*2</f><v>4.86811E7</v></c><c r=\"D4\" "
                      "t=\"inlineStr\"><is><t>in</t></is></c></row><x:row><x:c><x:v>1.5</x:v></x:c>"
                      "<x:c><x:v>7</x:v></x:c></x:row>"),
                &csv, &err),
        MYR_OK);
    myr_buf_putc(&csv, '\0');
    assert_string_equal(csv.data, "\npart,,quantity\n\n\"a <b> & 中中, \"\"c\"\" d\",,48681100,in\n"
                                  "1.5,7\n");
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const char *const sheets[] = {
        SHEET("<row r=\"2\"><c r=\"B2\"><v>1</v></c><c r=\"A2\"><v>1</v></c></row>"),
        SHEET("<row r=\"2\"/><row r=\"2\"/>"),
        SHEET("<row r=\"9999999\"/>"),
        SHEET("<row><c r=\"ZZZ1\"><v>1</v></c></row>"),
        SHEET("<row><c t=\"s\"><v>3</v></c></row>"),
        SHEET("<row><c t=\"s\"><v>x</v></c></row>"),
        ""};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sheets); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf csv = {};
        struct myr_err err;
        assert_int_equal(read_of(sheets[i], &csv, &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, "b.xlsx: "));
    }
}

/* Every byte that is cut off or turned over: an answer, never a fall. */
static void damaged_books_are_answered(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf book = {};
    const char *const parts[][2] = {
        {"xl/sharedStrings.xml", "<sst><si><t>part</t></si></sst>"},
        {"xl/worksheets/sheet1.xml",
         SHEET("<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\"><v>1E3</v></c></row>")}};
    struct myr_rng rng;
    zip(parts, 2, &book);
    myr_rng_init(&rng, 20261120, 0);
    print_message("seed 20261120\n");
    for (uint32_t i = 0; i < 4000; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf bad = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf csv = {};
        struct myr_err err;
        size_t len = i < book.len ? i : book.len;
        myr_buf_put(&bad, book.data, len);
        for (uint32_t k = 0; i >= book.len && k < 1 + i % 3; k++) {
            bad.data[myr_rng_below(&rng, (uint32_t)len)] ^= (char)(1 << myr_rng_below(&rng, 8));
        }
        int rc =
            myr_xlsx_csv("b.xlsx", (struct myr_str){bad.data ? bad.data : "", len}, &csv, &err);
        assert_true(rc == MYR_OK || (rc == MYR_EINVAL && err.message[0]));
        assert_true(i >= book.len || rc == MYR_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_row_and_a_cell_is_what_people_see),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(damaged_books_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
