#include <stdarg.h>
#include <stdio.h>

#include "report/report.h"

/* What chapters are made of: sentences, cells and figures in the report's language. */

MYR_PRINTF(2, 0)
static const char *say_all(const struct report *report, const char *fmt, va_list arguments)
{
    char text[2048];
    vsnprintf(text, sizeof(text), fmt, arguments);
    return myr_lang_say(report->about->lang, myr_arena_strndup(report->arena, text, strlen(text)));
}

const char *report_say(const struct report *report, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    const char *said = say_all(report, fmt, arguments);
    va_end(arguments);
    return said;
}

void report_heading(const struct report *report, const char *english)
{
    myr_page_heading(report->buf, myr_lang_say(report->about->lang, english));
}

void report_subheading(const struct report *report, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    myr_buf_put_lit(report->buf, "<h3>");
    myr_page_text(report->buf, say_all(report, fmt, arguments));
    myr_buf_put_lit(report->buf, "</h3>\n");
    va_end(arguments);
}

void report_para(const struct report *report, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    myr_buf_put_lit(report->buf, "<p>");
    myr_page_text(report->buf, say_all(report, fmt, arguments));
    myr_buf_put_lit(report->buf, "</p>\n");
    va_end(arguments);
}

const char *report_string(const struct report *report, uint32_t string)
{
    return myr_lang_say(report->about->lang, myr_design_str(report->design, string));
}

void report_cell(const struct report *report, const char *english)
{
    myr_page_cell(report->buf, myr_lang_say(report->about->lang, english));
}

/* A word of two signs would be broken between them in a script that may break anywhere. */
void report_word(const struct report *report, const char *english)
{
    myr_buf_put_lit(report->buf, "<td style=\"white-space:nowrap\">");
    myr_page_text(report->buf, myr_lang_say(report->about->lang, english));
    myr_buf_put_lit(report->buf, "</td>");
}

void report_count(const struct report *report, uint64_t number)
{
    char text[32];
    myr_page_number(report->buf, "%s", myr_u64_grouped(number, text));
}

const char *report_number(const struct report *report, uint64_t number)
{
    char text[32];
    return myr_arena_printf(report->arena, "%s", myr_u64_grouped(number, text));
}

void report_table(const struct report *report, const char *const *heads, uint32_t count)
{
    const char *said[16];
    MYR_ASSERT(count <= MYR_ARRAY_COUNT(said));
    for (uint32_t i = 0; i < count; i++) {
        bool number = heads[i][0] == '>';
        said[i] = myr_arena_printf(report->arena, "%s%s", number ? ">" : "",
                                   myr_lang_say(report->about->lang, heads[i] + number));
    }
    myr_page_table_begin(report->buf, said, count);
}

const char *report_money(const struct report *report, int64_t cents)
{
    char text[32];
    if (cents < 0) {
        return "-";
    }
    myr_u64_grouped((uint64_t)cents / 100, text);
    return cents % 100 ? myr_arena_printf(report->arena, "%s.%02d", text, (int)(cents % 100))
                       : myr_arena_printf(report->arena, "%s", text);
}

const char *report_specification(const struct report *report, uint32_t line)
{
    const struct myr_bom_more *more = report->design->bom_more;
    return more ? report_string(report, more[line].specification) : "";
}

const char *report_warranty(const struct report *report, uint32_t line)
{
    const struct myr_bom_more *more = report->design->bom_more;
    uint32_t months = more ? more[line].warranty_months : 0;
    if (months == 0) {
        return "";
    }
    return months % 12 == 0 ? report_say(report, "%u years", months / 12)
                            : report_say(report, "%u months", months);
}
