#include "myriad/text.h"
#include "myriad/text/page.h"
#include "myriad/text/qr.h"
#include "orders/cells.h"

/*
 * Sheets to print: black on white, an order is never broken over two pages, a crew begins a page.
 * The code at each order holds what its row in the list does, for whoever keeps the tickets.
 */

/* Side of the code on paper. */
enum { CODE_MM = 27 };

static const char style[] =
    "@page{size:A4;margin:14mm}body{font:13px/1.45 system-ui,'Noto Sans','Noto Sans CJK SC',"
    "'Microsoft YaHei',sans-serif;margin:16px auto;max-width:900px;padding:0 12px;color:#000;"
    "background:#fff}h1{font-size:20px;margin:0 0 4px}h2{font-size:17px;margin:18px 0 6px}"
    ".crew{break-before:page}.crew:first-of-type{break-before:auto}.order{display:flex;gap:12px;"
    "border-top:1px solid #000;padding:8px 0;break-inside:avoid}.order>div{flex:1;min-width:0}"
    ".qr{flex:none}.do{font-size:15px;font-weight:600;margin:0 0 4px}.no{font-size:22px;"
    "font-weight:700;min-width:44px;flex:none!important}table{border-collapse:collapse}td,th{"
    "padding:1px 10px 1px 0;text-align:left;vertical-align:top;font-weight:400;"
    "overflow-wrap:anywhere}th{color:#444;white-space:nowrap}.note{margin:4px 0 0}.tick{"
    "white-space:nowrap}.tick:before{content:'\\2610';font-size:20px;margin-right:4px}"
    "@media (max-width:600px){.order{flex-wrap:wrap}}";

/* The cells are those of the order at hand; filled anew for each. */
struct sheet {
    const struct myr_orders *orders;
    enum myr_language language;
    struct myr_buf *buf;
    struct myr_buf cells[CELL_COUNT];
};

static const char *cell(const struct sheet *sheet, uint32_t index)
{
    return sheet->cells[index].len ? sheet->cells[index].data : "";
}

static const char *word(const struct sheet *sheet, enum order_word name)
{
    return order_word(sheet->language, name);
}

static void put_text(struct sheet *sheet, const char *text)
{
    myr_page_text(sheet->buf, text);
}

/* "A14 U12 leaf/p0-g1-r5 17/2": four cells as one. */
static void put_where(struct sheet *sheet, enum order_word name, uint32_t first)
{
    /* Without a device there is no end; a device without a rack is one outside of the room. */
    if (cell(sheet, first + 2)[0] == '\0') {
        return;
    }
    myr_buf_put_lit(sheet->buf, "<tr><th>");
    put_text(sheet, word(sheet, name));
    myr_buf_put_lit(sheet->buf, "</th><td>");
    /* Without a room there is no rack to name. */
    if (cell(sheet, first)[0]) {
        myr_buf_put_lit(sheet->buf, "<b>");
        put_text(sheet, cell(sheet, first));
        myr_buf_put_lit(sheet->buf, " U");
        put_text(sheet, cell(sheet, first + 1));
        myr_buf_put_lit(sheet->buf, "</b> ");
    }
    put_text(sheet, cell(sheet, first + 2));
    myr_buf_put_lit(sheet->buf, " <b>");
    put_text(sheet, cell(sheet, first + 3));
    myr_buf_put_lit(sheet->buf, "</b></td></tr>\n");
}

/* The cable and its flag only where the plan knows the cable. */
static void put_plug(struct sheet *sheet, uint32_t plug, bool is_new)
{
    put_where(sheet, WORD_FAR, plug + CELL_OTHER_RACK);
    if (cell(sheet, plug + CELL_CABLE)[0] == '\0') {
        return;
    }
    myr_buf_put_lit(sheet->buf, "<tr><th>");
    put_text(sheet, word(sheet, is_new ? WORD_NEW_CABLE : WORD_CABLE));
    myr_buf_put_lit(sheet->buf, "</th><td><b>");
    put_text(sheet, cell(sheet, plug + CELL_CABLE));
    myr_buf_put_lit(sheet->buf, "</b>, ");
    put_text(sheet, cell(sheet, plug + CELL_LENGTH));
    myr_buf_put_lit(sheet->buf, " m, ");
    put_text(sheet, cell(sheet, plug + CELL_COLOUR));
    myr_buf_put_lit(sheet->buf, ", ");
    put_text(sheet, cell(sheet, plug + CELL_PART));
    myr_buf_put_lit(sheet->buf, "</td></tr>\n<tr><th>");
    put_text(sheet, word(sheet, WORD_FLAG));
    myr_buf_put_lit(sheet->buf, "</th><td>");
    put_text(sheet, cell(sheet, plug + CELL_LABEL));
    myr_buf_put_lit(sheet->buf, "</td></tr>\n");
}

static void put_note(struct sheet *sheet, enum order_word name, const char *argument)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    order_fill(&text, word(sheet, name), &argument, 1);
    myr_buf_put_lit(sheet->buf, "<p class=\"note\">");
    put_text(sheet, text.data);
    myr_buf_put_lit(sheet->buf, "</p>\n");
}

/* The code with the ends where they fit, else with the numbers alone. */
static void put_code(struct sheet *sheet, uint32_t index)
{
    struct myr_qr qr;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    order_put_code(sheet->orders, index, true, &text);
    bool fits = myr_qr_make(&qr, (struct myr_str){text.data, text.len});
    /* Long names may be too much for one code. */
    if (!fits) {
        myr_buf_clear(&text);
        order_put_code(sheet->orders, index, false, &text);
        fits = myr_qr_make(&qr, (struct myr_str){text.data, text.len});
    }
    if (fits) {
        myr_qr_svg(sheet->buf, &qr, CODE_MM);
    }
}

/* What to do in large letters; where, with what and what to mind below it. */
static void put_order(struct sheet *sheet, uint32_t index)
{
    const struct myr_work_order *order = &sheet->orders->items[index];
    /* The same cells as the list has. */
    order_cells(sheet->orders, index, sheet->language, sheet->cells);
    myr_buf_put_lit(sheet->buf, "<div class=\"order\"><div class=\"no\">");
    put_text(sheet, cell(sheet, CELL_ORDER));
    myr_buf_put_lit(sheet->buf, "</div><div><p class=\"do\">");
    put_text(sheet, cell(sheet, CELL_SENTENCE));
    myr_buf_put_lit(sheet->buf, "</p>\n<table>\n");
    /* A cable that is to be laid is nowhere now. */
    put_where(sheet, order->op == MYR_ORDER_ADD ? WORD_THEN : WORD_NOW, CELL_RACK);
    put_where(sheet, WORD_THEN, CELL_TO_RACK);
    put_plug(sheet, CELL_PLUG_1, order->op == MYR_ORDER_ADD);
    if (order->plug_count > 1) {
        put_plug(sheet, CELL_PLUG_2, false);
    }
    myr_buf_put_lit(sheet->buf, "</table>\n");
    if (order->after) {
        myr_buf_put_lit(sheet->buf, "<p class=\"note\">");
        put_text(sheet, word(sheet, WORD_AFTER));
        myr_buf_printf(sheet->buf, ": %u</p>\n", order->after);
    }
    /* What to spare differs: a module may stay, a plug takes its cage along. */
    if (cell(sheet, CELL_SAME_CAGE)[0]) {
        bool module = strcmp(cell(sheet, CELL_LEAVE_MODULE), "true") == 0;
        put_note(sheet, module ? WORD_PULL_FIBRE : WORD_PULL_PLUG, cell(sheet, CELL_SAME_CAGE));
    }
    if (order->check_first) {
        put_note(sheet, WORD_LOOK_FIRST, "");
    }
    myr_buf_put_lit(sheet->buf, "<p class=\"note tick\">");
    put_text(sheet, word(sheet, WORD_DONE));
    myr_buf_put_lit(sheet->buf, "</p></div>");
    put_code(sheet, index);
    myr_buf_put_lit(sheet->buf, "</div>\n");
}

/* What has changed, how long to wait, and the one rule for everybody. */
static void put_summary(struct sheet *sheet)
{
    const struct myr_orders *orders = sheet->orders;
    struct myr_arena *arena = orders->arena;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const char *const args[] = {myr_arena_printf(arena, "%u", orders->run),
                                myr_arena_printf(arena, "%u", orders->mended.count),
                                myr_arena_printf(arena, "%u", orders->fresh.count),
                                myr_arena_printf(arena, "%u", orders->open.count),
                                myr_arena_printf(arena, "%u", orders->unseen.count)};
    order_fill(&text, word(sheet, WORD_SUMMARY), args, MYR_ARRAY_COUNT(args));
    myr_buf_put_lit(sheet->buf, "<p class=\"note\">");
    put_text(sheet, text.data);
    myr_buf_put_lit(sheet->buf, "</p>\n");
    put_note(sheet, orders->lldp ? WORD_WAIT_LLDP : WORD_WAIT_SM,
             myr_arena_printf(arena, "%u", orders->wait_s));
    /* Renaming first may make most orders needless. */
    uint32_t devices = orders->verify->relabel_devices + orders->verify->renamed_count;
    if (devices) {
        put_note(sheet, WORD_RENAME, myr_arena_printf(arena, "%u", devices));
    }
    put_note(sheet, orders->count ? WORD_READ_FLAG : WORD_NOTHING, "");
}

void myr_orders_html(const struct myr_orders *orders, enum myr_language language,
                     struct myr_buf *buf)
{
    struct sheet sheet = {orders, language, buf, {{}}};
    const char *name = myr_design_str(orders->verify->design, orders->verify->design->head->name);
    uint32_t crew = 0;
    myr_buf_printf(buf,
                   "<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
                   language == MYR_CHINESE ? "zh" : "en");
    put_text(&sheet, word(&sheet, WORD_TITLE));
    myr_buf_put_lit(buf, " ");
    /* Texts of designs are escaped: anything may stand in a name. */
    put_text(&sheet, name);
    myr_buf_printf(buf, "</title><style>%s</style></head>\n<body>\n<h1>", style);
    put_text(&sheet, word(&sheet, WORD_TITLE));
    myr_buf_put_lit(buf, ": ");
    put_text(&sheet, name);
    myr_buf_put_lit(buf, "</h1>\n");
    put_summary(&sheet);
    /* Orders are sorted by crew: a section for each. */
    for (uint32_t i = 0; i < orders->count; i++) {
        /* A crew's orders are a section, which begins a page. */
        if (orders->items[i].crew != crew) {
            myr_buf_puts(buf, crew ? "</section>\n" : "");
            crew = orders->items[i].crew;
            myr_buf_put_lit(buf, "<section class=\"crew\"><h2>");
            put_text(&sheet, word(&sheet, WORD_CREW));
            myr_buf_printf(buf, " %u</h2>\n", crew);
        }
        put_order(&sheet, i);
    }
    myr_buf_puts(buf, crew ? "</section>\n" : "");
    myr_buf_put_lit(buf, "</body></html>\n");
    for (uint32_t c = 0; c < CELL_COUNT; c++) {
        myr_buf_done(&sheet.cells[c]);
    }
}
