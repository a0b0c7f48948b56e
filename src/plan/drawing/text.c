#include <stdarg.h>
#include <stdio.h>

#include "drawing/drawing.h"

/*
 * Text in drawings: how wide it is, what of it fits, and numbers as people write them. Widths are
 * estimates, since fonts differ; they err on the wide side.
 */

#define ELLIPSIS "\xE2\x80\xA6"

/* Bytes of the character that begins with this one; what is not UTF-8 counts as one byte. */
static size_t char_bytes(const char *at)
{
    unsigned char lead = (unsigned char)*at;
    size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    for (size_t i = 1; i < bytes; i++) {
        /* A broken character counts byte by byte, so that nothing is read beyond the end. */
        if (((unsigned char)at[i] & 0xC0) != 0x80) {
            return 1;
        }
    }
    return bytes;
}

/* In hundredths of the font's size. Chinese characters (from U+3000 on) fill a square. */
static int32_t char_width(const char *at)
{
    unsigned char lead = (unsigned char)*at;
    return lead >= 0xE3 && char_bytes(at) >= 3 ? 100 : 60;
}

/* A letter counts 0.6 of the font's size, which few are wider than. */
int32_t plan_draw_width(const char *text, uint32_t font_px)
{
    int32_t hundredths = 0;
    for (const char *at = text; *at; at += char_bytes(at)) {
        hundredths += char_width(at);
    }
    return hundredths * (int32_t)font_px / 10;
}

/* At least the ellipsis remains, however small the width is. */
void plan_draw_fit(char *text, size_t size, uint32_t font_px, int32_t width)
{
    if (plan_draw_width(text, font_px) <= width) {
        return;
    }
    int32_t room = width - plan_draw_width(ELLIPSIS, font_px), used = 0;
    char *at = text;
    while (*at) {
        /* Whole characters: half of one would be no UTF-8. */
        used += char_width(at) * (int32_t)font_px / 10;
        size_t bytes = char_bytes(at);
        /* With the byte at its end. */
        if (used > room || (size_t)(at - text) + bytes + sizeof(ELLIPSIS) > size) {
            break;
        }
        at += bytes;
    }
    MYR_ASSERT((size_t)(at - text) + sizeof(ELLIPSIS) <= size);
    memcpy(at, ELLIPSIS, sizeof(ELLIPSIS));
}

/*
 * The sizes of the stylesheet in drawing.c; bold letters are wider, hence the larger figures. 12
 * for all others.
 */
static uint32_t font_of(const char *css)
{
    static const struct {
        const char *css;
        uint32_t font_px;
    } fonts[] = {{"h1", 28}, {"h2", 17}, {"big", 22}, {"th", 13}, {"small", 11}, {"tiny", 9}};
    /* The first word of the class tells the size; others change colours. */
    size_t len = strcspn(css, " ");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fonts); i++) {
        if (strlen(fonts[i].css) == len && memcmp(fonts[i].css, css, len) == 0) {
            return fonts[i].font_px;
        }
    }
    return 12;
}

void plan_draw_text(struct drawing *drawing, int32_t x, int32_t y, enum myr_svg_anchor anchor,
                    const char *css, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    myr_svg_text(&drawing->svg, x, y, anchor, css, text);
}

void plan_draw_text_in(struct drawing *drawing, int32_t x, int32_t y, int32_t width,
                       enum myr_svg_anchor anchor, const char *css, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    plan_draw_fit(text, sizeof(text), font_of(css), width);
    myr_svg_text(&drawing->svg, x, y, anchor, css, text);
}

int32_t plan_draw_chip(struct drawing *drawing, int32_t x, int32_t y, const char *css,
                       const char *text)
{
    int32_t width = plan_draw_width(text, 11) + PX(14);
    myr_svg_rect(&drawing->svg, x, y, width, PX(20), css, NULL);
    myr_svg_text(&drawing->svg, x + width / 2, y + PX(14), MYR_SVG_MIDDLE, "small", text);
    return x + width + PX(6);
}

/* Through a buffer on the stack: an argument may be the last tip itself. */
const char *plan_draw_tip(struct drawing *drawing, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    myr_buf_clear(&drawing->tip);
    myr_buf_puts(&drawing->tip, text);
    return drawing->tip.data;
}

const char *plan_draw_name(struct drawing *drawing, uint32_t device)
{
    myr_buf_clear(&drawing->name);
    myr_design_name(drawing->design, device, &drawing->name);
    return drawing->name.data;
}

/* Thousandths, without zeros at the end: 6400 is "6.4". */
static int put_milli(uint64_t milli, char *ret, size_t size)
{
    char whole[DRAW_WORDS_BYTES];
    myr_u64_grouped(milli / 1000, whole);
    if (milli % 1000 == 0) {
        return snprintf(ret, size, "%s", whole);
    }
    int digits = milli % 100 == 0 ? 1 : milli % 10 == 0 ? 2 : 3;
    uint32_t part = (uint32_t)(milli % 1000) / (digits == 1 ? 100 : digits == 2 ? 10 : 1);
    return snprintf(ret, size, "%s.%0*u", whole, digits, part);
}

const char *plan_draw_ratio(uint32_t milli, char *ret)
{
    /* Two digits behind the point are enough for a picture. No ratio is one of 1:1. */
    int at = put_milli(milli == 0 ? 1000 : (milli + 5) / 10 * 10, ret, 24);
    snprintf(ret + at, 8, ":1");
    return ret;
}

const char *plan_draw_rate(uint64_t gbps, char *ret)
{
    /* From 10 Tb/s on; below that whole Gb/s read better. */
    bool large = gbps >= 10000;
    /* One digit behind the point. */
    int at = put_milli(large ? (gbps + 50) / 100 * 100 : gbps * 1000, ret, 24);
    snprintf(ret + at, 8, large ? " Tb/s" : " Gb/s");
    return ret;
}

const char *plan_draw_plural(uint64_t count, const char *word, char *ret)
{
    return myr_text_count(count, word, ret);
}
