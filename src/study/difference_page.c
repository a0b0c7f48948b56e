#include "myriad/study/difference.h"
#include "myriad/text/amount.h"
#include "myriad/text/page.h"

/* The difference as a page that needs nothing else; numbers have their paths as tips. */

struct page {
    const struct myr_difference *of;
    const struct myr_lang *lang;
    struct myr_arena *arena;
    struct myr_buf *buf;
};

static const char *say(const struct page *page, const char *english)
{
    return myr_lang_say(page->lang, english);
}

static void head(const struct page *page, const char *title, const char *const *heads,
                 uint32_t count)
{
    const char *said[8];
    MYR_ASSERT(count <= MYR_ARRAY_COUNT(said));
    for (uint32_t i = 0; i < count; i++) {
        bool number = heads[i][0] == '>';
        said[i] =
            myr_arena_printf(page->arena, "%s%s", number ? ">" : "", say(page, heads[i] + number));
    }
    myr_page_heading(page->buf, say(page, title));
    myr_page_table_begin(page->buf, said, count);
}

static void cell(const struct page *page, const char *english)
{
    myr_page_cell(page->buf, say(page, english));
}

/* Digits that are all zero say nothing; a difference has its sign. */
static void number(const struct page *page, bool known, double value, int digits, bool sign)
{
    char text[MYR_AMOUNT_BYTES];
    if (!known) {
        myr_page_number(page->buf, "-");
        return;
    }
    myr_text_number(value < 0 ? -value : value, value == 0 ? 0 : digits, text);
    myr_page_number(page->buf, "%s%s", value < 0 ? "-" : sign && value > 0 ? "+" : "", text);
}

static void put_rows(const struct page *page, const char *title,
                     const struct myr_difference_row *rows, uint32_t count)
{
    static const char *const heads[] = {"figure", "unit", ">A", ">B", ">B - A", ">%"};
    if (count == 0) {
        return;
    }
    head(page, title, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_difference_row *row = &rows[i];
        double more = row->values[1] - row->values[0];
        bool part = !row->why && row->values[0] > 0;
        myr_buf_put_lit(page->buf, "<tr title=\"");
        myr_page_text(page->buf, row->path);
        myr_buf_put_lit(page->buf, "\">");
        cell(page, row->title);
        myr_page_cell(page->buf, row->unit);
        number(page, row->known[0], row->values[0], row->digits, false);
        number(page, row->known[1], row->values[1], row->digits, false);
        if (row->why) {
            cell(page, row->why);
        } else {
            number(page, true, more, row->digits, true);
        }
        number(page, part, part ? 100 * more / row->values[0] : 0, 1, true);
        myr_page_row_end(page->buf);
    }
    myr_page_table_end(page->buf);
}

static void put_lines(const struct page *page)
{
    static const char *const heads[] = {"system", "name",   "part",     ">A",
                                        ">B",     ">B - A", ">total A", ">total B"};
    head(page, "Bill of materials", heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < page->of->line_count; i++) {
        const struct myr_difference_line *line = &page->of->lines[i];
        double a = (double)line->quantities[0], b = (double)line->quantities[1];
        myr_page_row_begin(page->buf);
        cell(page, line->system);
        cell(page, line->name);
        myr_page_cell(page->buf, line->part);
        number(page, true, a, 0, false);
        number(page, true, b, 0, false);
        number(page, true, b - a, 0, true);
        for (uint32_t s = 0; s < 2; s++) {
            number(page, line->cents[s] >= 0 && line->quantities[s] > 0,
                   (double)line->cents[s] / 100, 2, false);
        }
        myr_page_row_end(page->buf);
    }
    myr_page_table_end(page->buf);
}

static void put_findings(const struct page *page)
{
    static const char *const heads[] = {"only in", "severity", "where", "what"};
    if (page->of->finding_count == 0) {
        return;
    }
    head(page, "Findings that only one has", heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t i = 0; i < page->of->finding_count; i++) {
        const struct myr_difference_finding *one = &page->of->findings[i];
        myr_page_row_begin(page->buf);
        myr_page_cell(page->buf, one->side ? "B" : "A");
        cell(page, one->severity);
        cell(page, one->where);
        cell(page, one->message);
        myr_page_row_end(page->buf);
    }
    myr_page_table_end(page->buf);
}

void myr_difference_html(const struct myr_difference *difference, const struct myr_lang *lang,
                         struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    const struct page page = {difference, lang, &arena, buf};
    myr_arena_init(&arena);
    myr_page_begin_in(buf, lang ? lang->name : "en", say(&page, "Difference of two proposals"));
    for (uint32_t s = 0; s < 2; s++) {
        const struct myr_design *design = difference->designs[s];
        myr_page_note(buf, myr_arena_printf(&arena, "%s: %s (%s)", s ? "B" : "A",
                                            myr_design_str(design, design->head->name),
                                            difference->files[s]));
    }
    put_rows(&page, "What changes", difference->rows, difference->row_count);
    put_lines(&page);
    put_findings(&page);
    put_rows(&page, "Every other number that differs", difference->numbers,
             difference->number_count);
    myr_page_end(buf);
}
