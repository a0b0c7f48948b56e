/*
 * page: HTML pages that need no other file: the style is inside. Every text that is put in is
 * escaped here.
 */
#include "myriad/text/page.h"

#include <stdarg.h>
#include <stdio.h>

/* One style for all pages, for screens light and dark, phones and paper. */
static const char style[] =
    "body{font:14px/1.5 system-ui,'Segoe UI','Noto Sans','Noto Sans CJK SC',sans-serif;margin:24px "
    "auto;max-width:1000px;padding:0 16px;color:#1f2328;background:#fff}h1{font-size:22px}"
    "h2{font-size:18px;margin-top:32px}table{border-collapse:collapse;font-variant-numeric:"
    "tabular-nums}td,th{padding:3px 12px 3px 0;text-align:left;border-bottom:1px solid #d0d7de}"
    "td.n,th.n{text-align:right}svg{max-width:100%;height:auto;display:block;margin:8px 0 20px}"
    ".muted{color:#656d76}.tiles{display:flex;flex-wrap:wrap;gap:12px;margin:16px 0}"
    ".tile{border:1px solid #d0d7de;border-radius:8px;padding:10px 16px;min-width:130px}"
    ".tile b{display:block;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums}"
    ".tile span{color:#656d76;font-size:13px}"
    "code,p{overflow-wrap:anywhere}code span{display:inline-block;max-width:100%}"
    /* A phone shows tiles in pairs and moves what is wide under the finger, not the whole page. */
    "@media screen and (max-width:700px){.tile{flex:1 1 40%;min-width:0;padding:8px 10px}"
    ".tile b{font-size:16px}table{display:block;overflow-x:auto;white-space:nowrap}"
    ".wide{overflow-x:auto}.wide svg{max-width:none;min-width:760px}"
    /* A plot is there twice, and the one that fits is shown. */
    ".desk{display:none}.wide .phone svg{min-width:0;max-width:100%}"
    "table.upright{display:table;table-layout:fixed;width:100%;white-space:normal}"
    ".upright td,.upright th{padding-right:4px;font-size:13px}}"
    "@media (min-width:701px){.phone{display:none}}"
    "@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}"
    "td,th,.tile{border-color:#30363d}.muted,.tile span{color:#8b949e}}"
    /*
     * On paper, A4 unless the printer is told otherwise, nothing scrolls: tables break between
     * rows and have their heads again, a heading stays with what it heads, a drawing is no higher
     * than a sheet with a heading.
     */
    "@page{size:A4;margin:14mm 12mm 16mm;@bottom-right{content:counter(page) \" / \" "
    "counter(pages);font:9px sans-serif;color:#656d76}}"
    "@media print{body{max-width:none;margin:0;padding:0;font-size:11px;line-height:1.4;"
    "color:#000;background:#fff}h1{font-size:20px}h2{font-size:15px;margin:20px 0 8px}"
    "h3{font-size:12px;margin:12px 0 4px}p{margin:4px 0;orphans:3;widows:3}"
    "h1,h2,h3,h2+p,p:has(+table),p:has(+.wide){break-after:avoid}tr,svg,.tile{break-inside:avoid}"
    "thead{display:table-header-group}td,th{padding:2px 8px 2px 0;overflow-wrap:break-word}"
    "table:not(:has(tbody tr:nth-child(13))){break-inside:avoid}.tile{padding:6px "
    "12px;min-width:110px}.tile b{font-size:15px}"
    ".tile span{font-size:10px}svg{max-height:235mm}"
    ".wide svg{min-width:0;max-width:100%}.desk{display:block}.phone{display:none}}";

/* Also fit for attributes, which stand in double quotes. */
void myr_page_text(struct myr_buf *buf, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<':
            myr_buf_put_lit(buf, "&lt;");
            break;
        case '>':
            myr_buf_put_lit(buf, "&gt;");
            break;
        case '&':
            myr_buf_put_lit(buf, "&amp;");
            break;
        case '"':
            myr_buf_put_lit(buf, "&quot;");
            break;
        default:
            myr_buf_putc(buf, *text);
        }
    }
}

void myr_page_begin(struct myr_buf *buf, const char *title)
{
    myr_page_begin_in(buf, "en", title);
}

/* 'lang' is the language of the text, for the page's own mark. */
void myr_page_begin_in(struct myr_buf *buf, const char *lang, const char *title)
{
    myr_buf_printf(buf, "<!DOCTYPE html>\n<html lang=\"%s\">", lang);
    myr_buf_put_lit(buf, "<head><meta charset=\"utf-8\">"
                         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    myr_page_text(buf, title);
    myr_buf_put_lit(buf, "</title><style>");
    myr_buf_puts(buf, style);
    myr_buf_put_lit(buf, "</style></head>\n<body>\n<h1>");
    myr_page_text(buf, title);
    myr_buf_put_lit(buf, "</h1>\n");
}

void myr_page_end(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "</body></html>\n");
}

void myr_page_heading(struct myr_buf *buf, const char *text)
{
    myr_buf_put_lit(buf, "<h2>");
    myr_page_text(buf, text);
    myr_buf_put_lit(buf, "</h2>\n");
}

/* Words that explain, which step back behind figures. */
void myr_page_note(struct myr_buf *buf, const char *text)
{
    myr_buf_put_lit(buf, "<p class=\"muted\">");
    myr_page_text(buf, text);
    myr_buf_put_lit(buf, "</p>\n");
}

/* What is wider than a phone: it scrolls by itself. */
void myr_page_wide_begin(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "<div class=\"wide\">\n");
}

void myr_page_wide_end(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "</div>\n");
}

/* A command line breaks before an option: each with its values is a piece that stays together. */
void myr_page_arguments(struct myr_buf *buf, const char *text)
{
    myr_buf_put_lit(buf, "<code><span>");
    for (const char *at = text; *at;) {
        /* From 'at + 1', so that a text that begins with " --" is not cut at its own start. */
        const char *next = strstr(at + 1, " --");
        size_t len = next ? (size_t)(next - at) : strlen(at);
        for (size_t i = 0; i < len; i++) {
            myr_page_text(buf, (const char[]){at[i], '\0'});
        }
        if (next) {
            myr_buf_put_lit(buf, "</span> <span>");
        }
        at = next ? next + 1 : at + len;
    }
    myr_buf_put_lit(buf, "</span></code>");
}

/* A row of the figures that matter most. */
void myr_page_tiles_begin(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "<div class=\"tiles\">\n");
}

/* A figure is short: what does not fit into it is cut. */
void myr_page_tile(struct myr_buf *buf, const char *what, const char *fmt, ...)
{
    char figure[96];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(figure, sizeof(figure), fmt, arguments);
    va_end(arguments);
    myr_buf_put_lit(buf, "<div class=\"tile\"><b>");
    myr_page_text(buf, figure);
    myr_buf_put_lit(buf, "</b><span>");
    myr_page_text(buf, what);
    myr_buf_put_lit(buf, "</span></div>\n");
}

void myr_page_tiles_end(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "</div>\n");
}

/* A head that stands over numbers begins with '>'. */
static void put_heads(struct myr_buf *buf, const char *const *heads, uint32_t count)
{
    myr_buf_put_lit(buf, "<thead><tr>");
    for (uint32_t i = 0; i < count; i++) {
        bool number = heads[i][0] == '>';
        myr_buf_puts(buf, number ? "<th class=\"n\">" : "<th>");
        myr_page_text(buf, heads[i] + number);
        myr_buf_put_lit(buf, "</th>");
    }
    myr_buf_put_lit(buf, "</tr></thead>\n");
}

/* Cells that follow must be in the order of the heads. */
void myr_page_table_begin(struct myr_buf *buf, const char *const *heads, uint32_t count)
{
    myr_buf_put_lit(buf, "<table>\n");
    put_heads(buf, heads, count);
}

void myr_page_upright_begin(struct myr_buf *buf, const char *const *heads, uint32_t count)
{
    myr_buf_put_lit(buf, "<table class=\"upright\">\n");
    put_heads(buf, heads, count);
}

void myr_page_row_begin(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "<tr>");
}

void myr_page_cell(struct myr_buf *buf, const char *text)
{
    myr_buf_put_lit(buf, "<td>");
    myr_page_text(buf, text);
    myr_buf_put_lit(buf, "</td>");
}

/* To the right, so that digits of one size stand below each other. */
void myr_page_number(struct myr_buf *buf, const char *fmt, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    myr_buf_put_lit(buf, "<td class=\"n\">");
    myr_page_text(buf, text);
    myr_buf_put_lit(buf, "</td>");
}

void myr_page_row_end(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "</tr>\n");
}

void myr_page_table_end(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "</table>\n");
}
