#include "report/report.h"

/*
 * Drawings inside the page. Their words stand between tags and are said one by one; their styles
 * would hold for the whole page, so every rule is kept to its own drawing.
 */

/* The escapes that the drawings use. A sentence is translated as it is read, not as it is written.
 */
static void put_unescaped(struct myr_buf *to, struct myr_str text)
{
    static const struct {
        const char *from;
        char to;
    } names[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}};
    /* The longest match is not needed: no escape begins another. */
    for (size_t i = 0; i < text.len;) {
        size_t taken = 0;
        for (size_t k = 0; k < MYR_ARRAY_COUNT(names) && !taken; k++) {
            size_t len = strlen(names[k].from);
            if (text.len - i >= len && memcmp(text.data + i, names[k].from, len) == 0) {
                myr_buf_putc(to, names[k].to);
                taken = len;
            }
        }
        if (!taken) {
            myr_buf_putc(to, text.data[i]);
            taken = 1;
        }
        i += taken;
    }
}

/* Whether the text at this place begins so. */
static bool begins(struct myr_str css, size_t at, const char *with)
{
    size_t len = strlen(with);
    return css.len - at >= len && memcmp(css.data + at, with, len) == 0;
}

/*
 * Before each selector of a rule, whatever it stands in: "#p1 ". A drawing that is a file of its
 * own speaks of itself as "svg" and is as wide as the window; here it is the one of that name,
 * within the page's margins.
 */
static void put_style(const struct report *report, struct myr_str css)
{
    /* 'selector': outside of braces; 'fresh': nothing of this selector was written yet. */
    bool selector = true, fresh = true;
    for (size_t i = 0; i < css.len; i++) {
        char c = css.data[i];
        if (selector && fresh && begins(css, i, "svg{")) {
            myr_buf_printf(report->buf, "#p%u", *report->pictures);
            i += strlen("svg") - 1;
            fresh = false;
            continue;
        }
        /* The page has margins of 32 pixels together, which a window of its own has not. */
        if (!selector && begins(css, i, "100vw*")) {
            myr_buf_put_lit(report->buf, "(100vw - 32px)*");
            i += strlen("100vw*") - 1;
            continue;
        }
        /* A media query has rules inside: it is copied up to its brace, and they follow. */
        if (selector && c == '@') {
            const char *open = memchr(css.data + i, '{', css.len - i);
            size_t len = open ? (size_t)(open - css.data) - i + 1 : css.len - i;
            myr_buf_put(report->buf, css.data + i, len);
            i += len - 1;
            continue;
        }
        if (selector && fresh && c != '}' && c != ' ' && c != '\n') {
            myr_buf_printf(report->buf, "#p%u ", *report->pictures);
            fresh = false;
        }
        myr_buf_putc(report->buf, c);
        /* Inside braces there are declarations; a comma between selectors begins a new one. */
        if (c == '{') {
            selector = false;
        } else if (c == '}' || (selector && c == ',')) {
            selector = fresh = true;
        }
    }
}

/* The words behind a tag, as they are meant; NULL where there are none. */
static const char *words_of(const struct report *report, struct myr_str text)
{
    if (text.len == 0 || strspn(text.data, " \n\t") >= text.len) {
        return NULL;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf plain = {};
    put_unescaped(&plain, text);
    return myr_arena_strndup(report->arena, plain.data, plain.len);
}

/* A tag, with the paths of the numbers in the words behind it, and the words. */
static void put_piece(const struct report *report, struct report_drawn *drawn, struct myr_str tag,
                      struct myr_str text)
{
    /* Styles are no words: they are kept to the drawing instead of translated. */
    bool style = tag.len > 6 && memcmp(tag.data, "<style", 6) == 0;
    const char *words = style ? NULL : words_of(report, text);
    const char *paths = words ? report_drawn_paths(report, drawn, words) : "";
    /* Without its closing bracket: an attribute may follow. */
    myr_buf_put(report->buf, tag.data, tag.len - 1);
    if (words && paths[0] && strpbrk(words, "0123456789")) {
        myr_buf_put_lit(report->buf, " data-path=\"");
        myr_page_text(report->buf, paths);
        myr_buf_putc(report->buf, '"');
    }
    myr_buf_putc(report->buf, '>');
    if (style) {
        put_style(report, text);
    } else if (words) {
        myr_page_text(report->buf, myr_lang_say(report->about->lang, words));
    } else {
        myr_buf_put(report->buf, text.data, text.len);
    }
}

/* All up to the opening tag, such as an XML head, stays out: the page is the document. Shapes that
 * do not fold for a narrow screen scroll instead. */
void report_picture(const struct report *report, const struct myr_buf *svg,
                    enum report_picture what)
{
    struct report_drawn drawn = {.what = what};
    bool wide = what != REPORT_TOPOLOGY;
    const char *at = svg->len ? memmem(svg->data, svg->len, "<svg", 4) : NULL;
    if (!at) {
        return;
    }
    const char *end = svg->data + svg->len;
    /* Each drawing gets an id of its own, which its style rules are kept to. */
    ++*report->pictures;
    if (wide) {
        myr_page_wide_begin(report->buf);
    }
    myr_buf_printf(report->buf, "<svg id=\"p%u\"", *report->pictures);
    at += strlen("<svg");
    /* Tag by tag: what stands between two of them are the words of the first. */
    for (const char *close; at < end && (close = memchr(at, '>', (size_t)(end - at)));) {
        const char *next = memchr(close, '<', (size_t)(end - close));
        struct myr_str tag = {at, (size_t)(close - at) + 1};
        struct myr_str text = {close + 1, next ? (size_t)(next - close) - 1 : 0};
        put_piece(report, &drawn, tag, text);
        at = next ? next : end;
    }
    myr_buf_putc(report->buf, '\n');
    if (wide) {
        myr_page_wide_end(report->buf);
    }
}
