#include <stdarg.h>
#include <stdio.h>

#include "report/report.h"

/*
 * What chapters are made of: sentences, cells and figures in the report's language. A sentence is
 * filled in English and then translated as a whole; numbers in it are marked before that, so that
 * each is found again behind the translation and gets its path as a tip. Cells and rows take their
 * path directly.
 */

/* Filled in first, translated then: a language may put the figures in another order. */
MYR_PRINTF(2, 0)
static const char *say_all(const struct report *report, const char *fmt, va_list arguments)
{
    char text[2048];
    vsnprintf(text, sizeof(text), fmt, arguments);
    return myr_lang_say(report->about->lang, myr_arena_strndup(report->arena, text, strlen(text)));
}

/*
 * Marks are characters of the private use area: one a path before a number, and one behind it. A
 * translation takes them for part of the number.
 */
enum { MARK_FIRST = 0xE000 };
static const char mark_end[] = "\xEF\xA3\xBF"; /* U+F8FF */

/* Paths are numbered from the beginning of the sentence; report_put() starts anew. */
static const char *add_mark(const struct report *report, const char *text, const char *path)
{
    struct report_paths *paths = report->paths;
    /* A chapter that marks more numbers in one sentence is wrong. */
    MYR_ASSERT(paths->count < MYR_ARRAY_COUNT(paths->items));
    uint32_t code = MARK_FIRST + paths->count;
    paths->items[paths->count++] = path;
    return myr_arena_printf(report->arena, "%c%c%c%s%s", (int)(0xE0 | code >> 12),
                            (int)(0x80 | (code >> 6 & 0x3F)), (int)(0x80 | (code & 0x3F)), text,
                            mark_end);
}

/* In the arena: a mark outlives the call. */
MYR_PRINTF(2, 0)
static const char *path_of(const struct report *report, const char *fmt, va_list arguments)
{
    char path[256];
    vsnprintf(path, sizeof(path), fmt, arguments);
    return myr_arena_printf(report->arena, "%s", path);
}

/* The mark takes the place of the number in the sentence until report_put() writes it. */
const char *report_value(const struct report *report, const char *text, const char *path, ...)
{
    va_list arguments;
    va_start(arguments, path);
    const char *marked = add_mark(report, text, path_of(report, path, arguments));
    va_end(arguments);
    return marked;
}

const char *report_counted(const struct report *report, uint64_t number, const char *path, ...)
{
    va_list arguments;
    va_start(arguments, path);
    const char *marked =
        add_mark(report, report_number(report, number), path_of(report, path, arguments));
    va_end(arguments);
    return marked;
}

/* The path that a mark at this place stands for; NULL: it is none of ours. */
static const char *marked_path(const struct report *report, const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    if (byte[0] != 0xEE || (byte[1] & 0xC0) != 0x80 || (byte[2] & 0xC0) != 0x80) {
        return NULL;
    }
    /* Three bytes of UTF-8: the first is that of the private use area. */
    uint32_t index = (byte[1] & 0x3FU) << 6 | (byte[2] & 0x3FU);
    return index < report->paths->count && strstr(at, mark_end) ? report->paths->items[index]
                                                                : NULL;
}

/* The path as a tip, and the end of the tag that is open. */
static void put_title(const struct report *report, const char *path)
{
    myr_buf_put_lit(report->buf, " title=\"");
    myr_page_text(report->buf, path);
    myr_buf_put_lit(report->buf, "\">");
}

void report_put(const struct report *report, const char *text)
{
    bool open = false;
    while (*text) {
        const char *path = open ? NULL : marked_path(report, text);
        if (path) {
            myr_buf_put_lit(report->buf, "<bdi"); /* one that has no looks of its own anywhere */
            put_title(report, path);
            open = true;
            text += 3;
        } else if (open && strncmp(text, mark_end, strlen(mark_end)) == 0) {
            myr_buf_put_lit(report->buf, "</bdi>");
            open = false;
            text += strlen(mark_end);
        } else {
            /* Byte by byte: marks are whole sequences, all else is escaped where it has to be. */
            myr_page_text(report->buf, (const char[]){*text++, '\0'});
        }
    }
    /* The sentence is written: its marks mean nothing any more. */
    report->paths->count = 0;
}

/* Without a tag around it: for headings, cells and parts of sentences. */
const char *report_say(const struct report *report, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    const char *said = say_all(report, fmt, arguments);
    va_end(arguments);
    return said;
}

/* Headings have no numbers, and so no marks. */
void report_heading(const struct report *report, const char *english)
{
    myr_page_heading(report->buf, myr_lang_say(report->about->lang, english));
}

/* May have numbers, and so marks. */
void report_subheading(const struct report *report, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    myr_buf_put_lit(report->buf, "<h3>");
    report_put(report, say_all(report, fmt, arguments));
    myr_buf_put_lit(report->buf, "</h3>\n");
    va_end(arguments);
}

void report_para(const struct report *report, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    myr_buf_put_lit(report->buf, "<p>");
    report_put(report, say_all(report, fmt, arguments));
    myr_buf_put_lit(report->buf, "</p>\n");
    va_end(arguments);
}

void report_para_of(const struct report *report, const char *path, const char *fmt, ...)
{
    va_list arguments;
    va_start(arguments, fmt);
    myr_buf_put_lit(report->buf, "<p");
    put_title(report, path);
    report_put(report, say_all(report, fmt, arguments));
    myr_buf_put_lit(report->buf, "</p>\n");
    va_end(arguments);
}

/* The number stands above its name. */
void report_tile(const struct report *report, const char *english, const char *text)
{
    myr_buf_put_lit(report->buf, "<div class=\"tile\"><b>");
    report_put(report, text);
    myr_buf_put_lit(report->buf, "</b><span>");
    myr_page_text(report->buf, report_say(report, "%s", english));
    myr_buf_put_lit(report->buf, "</span></div>\n");
}

/* Rules, names and inputs of the plan are English sentences as well. */
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

/* Numbers stand right in their column. */
static void put_number(const struct report *report, const char *text, const char *path)
{
    myr_buf_put_lit(report->buf, "<td class=\"n\"");
    put_title(report, path);
    myr_page_text(report->buf, text);
    myr_buf_put_lit(report->buf, "</td>");
}

void report_count(const struct report *report, uint64_t number, const char *path, ...)
{
    va_list arguments;
    va_start(arguments, path);
    put_number(report, report_number(report, number), path_of(report, path, arguments));
    va_end(arguments);
}

void report_number_cell(const struct report *report, const char *text, const char *path, ...)
{
    va_list arguments;
    va_start(arguments, path);
    put_number(report, text, path_of(report, path, arguments));
    va_end(arguments);
}

void report_cell_of(const struct report *report, const char *english, const char *path, ...)
{
    va_list arguments;
    va_start(arguments, path);
    myr_buf_put_lit(report->buf, "<td");
    put_title(report, path_of(report, path, arguments));
    myr_page_text(report->buf, myr_lang_say(report->about->lang, english));
    myr_buf_put_lit(report->buf, "</td>");
    va_end(arguments);
}

void report_row_of(const struct report *report, const char *path, ...)
{
    va_list arguments;
    va_start(arguments, path);
    myr_buf_put_lit(report->buf, "<tr");
    put_title(report, path_of(report, path, arguments));
    va_end(arguments);
}

/* In groups of three digits. */
const char *report_number(const struct report *report, uint64_t number)
{
    char text[32];
    return myr_arena_printf(report->arena, "%s", myr_u64_grouped(number, text));
}

/* The heads in the report's language; rows follow until the table is ended. */
void report_table(const struct report *report, const char *const *heads, uint32_t count)
{
    const char *said[16];
    MYR_ASSERT(count <= MYR_ARRAY_COUNT(said));
    for (uint32_t i = 0; i < count; i++) {
        /* A head with '>' is that of a column of numbers; the sign is no part of the words. */
        bool number = heads[i][0] == '>';
        said[i] = myr_arena_printf(report->arena, "%s%s", number ? ">" : "",
                                   myr_lang_say(report->about->lang, heads[i] + number));
    }
    myr_page_table_begin(report->buf, said, count);
}

/* Cents are only shown where there are any. */
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

/* Designs of older programs say nothing of it. */
const char *report_specification(const struct report *report, uint32_t line)
{
    const struct myr_bom_more *more = report->design->bom_more;
    return more ? report_string(report, more[line].specification) : "";
}

/* In years where it is whole years. */
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
