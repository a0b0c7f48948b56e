#include <stdarg.h>
#include <stdio.h>

#include "compare_rows.h"
#include "myriad/text/chart.h"
#include "myriad/text/page.h"

/*
 * The comparison as a document: a picture, the table, and how each figure came about. The picture
 * has one scale for all rows, so each is drawn as a part of the first design's figure.
 */

/* What is shown, in which language, and where to. */
struct page {
    const struct myr_design_comparison *all;
    const struct myr_lang *lang;
    struct myr_arena *arena;
    struct myr_buf *buf;
};

MYR_PRINTF(2, 3)
static const char *say(const struct page *page, const char *fmt, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    return myr_lang_say(page->lang, myr_arena_printf(page->arena, "%s", text));
}

/* The unit stays as it is in every language. */
static const char *title_of(const struct page *page, const struct myr_compare_row *row)
{
    return row->unit[0]
               ? myr_arena_printf(page->arena, "%s, %s", say(page, "%s", row->title), row->unit)
               : say(page, "%s", row->title);
}

/* Bars are parts of the first design's: all must be known and more than nothing, and one end of the
 * scale must be better. */
static bool in_picture(const struct page *page, const struct myr_compare_row *row)
{
    bool all = row->better != MYR_COMPARE_NEITHER;
    for (uint32_t i = 0; i < page->all->count; i++) {
        all = all && row->cells[i].known && row->cells[i].value > 0;
    }
    return all;
}

/* Every row as parts of the first design's figure: 100 % is the same. */
static void put_picture(const struct page *page, enum myr_chart_form form, struct myr_buf *svg)
{
    const struct myr_design_comparison *all = page->all;
    enum { BARS_MAX = MYR_COMPARE_ROWS * MYR_COMPARE_MAX };
    struct myr_bar_row *bars = MYR_ARENA_NEW(page->arena, struct myr_bar_row, BARS_MAX);
    struct myr_piece *pieces = MYR_ARENA_NEW(page->arena, struct myr_piece, BARS_MAX);
    uint32_t count = 0;
    for (uint32_t r = 0; r < all->row_count; r++) {
        const struct myr_compare_row *row = &all->rows[r];
        for (uint32_t i = 0; in_picture(page, row) && i < all->count; i++) {
            double part = 100 * row->cells[i].value / row->cells[0].value;
            bool best = row->best == i;
            pieces[count] = (struct myr_piece){all->sides[i].name, part, i};
            bars[count] = (struct myr_bar_row){
                /* The figure's name stands at its first bar alone. */
                .name = i ? "" : say(page, "%s", row->title),
                .words = myr_arena_printf(page->arena, "%s: %s%s%s%s", compare_letter(i),
                                          compare_number(page->arena, row, i),
                                          row->unit[0] ? " " : "", row->unit, best ? " ✓" : ""),
                .pieces = &pieces[count],
                .count = 1,
            };
            count++;
        }
    }
    /* No row that can be drawn, no picture. */
    struct myr_bars chart = {
        .title = say(page, "Each figure as a part of the first design's"),
        .note = say(page, "✓ is best"),
        .unit = "%",
        .rows = bars,
        .count = count,
        .form = form,
    };
    if (count) {
        myr_chart_bars(&chart, svg);
    }
}

/* Which letter is which design. */
static void put_head(const struct page *page)
{
    const struct myr_design_comparison *all = page->all;
    const char *heads[] = {say(page, "design"),      say(page, "name"),     say(page, "GPUs"),
                           say(page, "switches"),    say(page, "topology"), say(page, "tiers"),
                           say(page, "load balance")};
    static const char *const technologies[] = {"InfiniBand", "Ethernet", "-"};
    myr_page_table_begin(page->buf, heads, MYR_ARRAY_COUNT(heads));
    /* In the order of the letters. */
    for (uint32_t i = 0; i < all->count; i++) {
        const struct myr_compare_side *side = &all->sides[i];
        const struct myr_network *net = &side->design.networks[MYR_NET_COMPUTE];
        char gpus[32];
        myr_page_row_begin(page->buf);
        myr_page_cell(page->buf, compare_letter(i));
        myr_page_cell(page->buf, side->name);
        myr_page_cell(page->buf, myr_u64_grouped(side->design.head->gpus, gpus));
        myr_page_cell(page->buf, technologies[side->technology]);
        myr_page_cell(page->buf, myr_topology_name((enum myr_topology)net->topology));
        myr_page_cell(page->buf, myr_arena_printf(page->arena, "%u", net->tiers));
        myr_page_cell(page->buf, myr_policy_names[side->policy]);
        myr_page_row_end(page->buf);
    }
    myr_page_table_end(page->buf);
}

/* A row without a winner says why. */
static void put_rows(const struct page *page)
{
    const struct myr_design_comparison *all = page->all;
    const char *heads[MYR_COMPARE_MAX + 3];
    uint32_t count = 0;
    heads[count++] = say(page, "figure");
    for (uint32_t i = 0; i < all->count; i++) {
        heads[count++] = myr_arena_printf(page->arena, ">%s", compare_letter(i));
    }
    heads[count++] = say(page, "best");
    heads[count++] = say(page, "why none is");
    myr_page_table_begin(page->buf, heads, count);
    for (uint32_t r = 0; r < all->row_count; r++) {
        const struct myr_compare_row *row = &all->rows[r];
        myr_page_row_begin(page->buf);
        myr_page_cell(page->buf, title_of(page, row));
        for (uint32_t i = 0; i < all->count; i++) {
            myr_page_number(page->buf, "%s", compare_number(page->arena, row, i));
        }
        myr_page_cell(page->buf, row->equal              ? say(page, "equal")
                                 : row->best != MYR_NONE ? compare_letter(row->best)
                                                         : "-");
        myr_page_cell(page->buf, row->why ? say(page, "%s", row->why) : "");
        myr_page_row_end(page->buf);
    }
    myr_page_table_end(page->buf);
}

/* The long table at the end, for whoever doubts a figure. */
static void put_traces(const struct page *page)
{
    const struct myr_design_comparison *all = page->all;
    const char *heads[] = {say(page, "figure"), say(page, "design"),  say(page, "rests on"),
                           say(page, "rule"),   say(page, "figures"), say(page, "explain plan")};
    myr_page_table_begin(page->buf, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t r = 0; r < all->row_count; r++) {
        const struct myr_compare_row *row = &all->rows[r];
        for (uint32_t i = 0; i < all->count; i++) {
            const struct myr_compare_cell *cell = &row->cells[i];
            myr_page_row_begin(page->buf);
            myr_page_cell(page->buf, title_of(page, row));
            myr_page_cell(page->buf, compare_letter(i));
            myr_page_cell(page->buf, say(page, "%s", cell->basis));
            myr_page_cell(page->buf, say(page, "%s", cell->rule));
            myr_page_cell(page->buf, say(page, "%s", cell->inputs));
            myr_page_cell(page->buf, cell->path ? cell->path : "");
            myr_page_row_end(page->buf);
        }
    }
    myr_page_table_end(page->buf);
}

/* The picture alone; empty where no row can be drawn. */
void myr_design_comparison_svg(const struct myr_design_comparison *comparison,
                               const struct myr_lang *lang, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    struct page page = {comparison, lang, &arena, buf};
    put_picture(&page, MYR_CHART_WIDE, buf);
}

/* One page that needs nothing else, in the language that is asked for. */
void myr_design_comparison_html(const struct myr_design_comparison *comparison,
                                const struct myr_lang *lang, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    struct page page = {comparison, lang, &arena, buf};
    myr_page_begin_in(buf, lang ? lang->name : "en", say(&page, "Designs compared"));
    put_head(&page);
    myr_page_heading(buf, say(&page, "Side by side"));
    myr_page_wide_begin(buf);
    put_picture(&page, MYR_CHART_PAGE, buf);
    myr_page_wide_end(buf);
    put_rows(&page);
    myr_page_heading(buf, say(&page, "What to know"));
    for (uint32_t i = 0; i < comparison->note_count; i++) {
        myr_buf_put_lit(buf, "<p>");
        myr_page_text(buf, say(&page, "%s", comparison->notes[i]));
        myr_buf_put_lit(buf, "</p>\n");
    }
    myr_page_heading(buf, say(&page, "How each figure came about"));
    put_traces(&page);
    myr_page_end(buf);
}
