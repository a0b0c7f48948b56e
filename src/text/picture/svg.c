/*
 * svg: drawings as text, shape by shape. Coordinates are whole tenths of a pixel: the same drawing
 * is the same bytes on every machine.
 */
#include "myriad/text/svg.h"

#include "letter/utf8.h"

/*
 * The classes:
 *
 *   page                       the ground, drawn by begin
 *   host leaf spine core       servers and the tiers of a fabric
 *   ethernet storage           devices of the other networks
 *   link link-hot              a cable; one that matters now (thicker as well: not by hue alone)
 *   title label label-small    text by size
 *   muted                      text or shape that steps back
 *
 * Fills are faint tints and outlines strong tones of the Okabe-Ito palette, which stays apart for
 * the colour-blind; text is dark on light, or light on dark where the viewer asks for it.
 */
static const char stylesheet[] =
    ".page{fill:#fff}"
    "rect{stroke-width:1}"
    ".host{fill:#f0f2f5;stroke:#57606a}"
    ".leaf{fill:#e1eff8;stroke:#0072b2}"
    ".spine{fill:#dff3ec;stroke:#009e73}"
    ".core{fill:#fdf0d5;stroke:#c98500}"
    ".ethernet{fill:#f8e7f1;stroke:#b0588d}"
    ".storage{fill:#faf6cf;stroke:#8a7d00}"
    ".link{stroke:#57606a;stroke-width:.8;stroke-opacity:.45;fill:none}"
    ".link-hot{stroke:#d55e00;stroke-width:2.2;stroke-linecap:round;fill:none}"
    "text{font-family:system-ui,'Segoe UI','Noto Sans','Noto Sans CJK SC',sans-serif;fill:#1f2328;"
    "font-variant-numeric:tabular-nums}"
    ".title{font-size:18px;font-weight:600}"
    ".label{font-size:12px}"
    ".label-small{font-size:9px}"
    "text.muted{fill:#656d76}"
    "rect.muted{fill:none;stroke:#d0d7de;stroke-dasharray:4 3}"
    "line.muted{stroke:#d0d7de;stroke-dasharray:4 3}"
    "\n@media (prefers-color-scheme:dark){"
    ".page{fill:#0d1117}"
    ".host{fill:#1c2128;stroke:#8b949e}"
    ".leaf{fill:#0b2a40;stroke:#56b4e9}"
    ".spine{fill:#07301f;stroke:#2fc99a}"
    ".core{fill:#3a2a06;stroke:#e69f00}"
    ".ethernet{fill:#3a1c2f;stroke:#cc79a7}"
    ".storage{fill:#33300a;stroke:#f0e442}"
    ".link{stroke:#8b949e}"
    ".link-hot{stroke:#ff8c42}"
    "text{fill:#e6edf3}"
    "text.muted{fill:#8b949e}"
    "rect.muted,line.muted{stroke:#30363d}"
    "}";

/* XML has no way at all to write most control characters, escaped or not. */
static void put_escaped(struct myr_buf *buf, const char *text)
{
    struct myr_str all = myr_str_from(text);
    for (size_t at = 0; at < all.len;) {
        size_t start = at;
        uint32_t code = utf8_next(all, &at);
        if (code == '<') {
            myr_buf_put_lit(buf, "&lt;");
        } else if (code == '>') {
            myr_buf_put_lit(buf, "&gt;");
        } else if (code == '&') {
            myr_buf_put_lit(buf, "&amp;");
        } else if (code == '"') {
            myr_buf_put_lit(buf, "&quot;");
        } else if (code == '\n') {
            myr_buf_putc(buf, '\n'); /* tooltips may have lines */
        } else if (utf8_is_hidden(code)) {
            myr_buf_put_lit(buf, "\xEF\xBF\xBD");
        } else {
            myr_buf_put(buf, all.data + start, at - start);
        }
    }
}

/* Tenths of a pixel as pixels: 125 is "12.5", 120 is "12". */
static void put_number(struct myr_buf *buf, int32_t tenths)
{
    uint32_t size = tenths < 0 ? 0 - (uint32_t)tenths : (uint32_t)tenths;
    if (tenths < 0) {
        myr_buf_putc(buf, '-');
    }
    myr_buf_put_u64(buf, size / 10);
    if (size % 10 > 0) {
        myr_buf_putc(buf, '.');
        myr_buf_putc(buf, (char)('0' + size % 10));
    }
}

/* An attribute; coordinates are tenths of a pixel, so that no float is ever printed. */
static void put_tenths(struct myr_buf *buf, const char *name, int32_t tenths)
{
    myr_buf_putc(buf, ' ');
    myr_buf_puts(buf, name);
    myr_buf_put_lit(buf, "=\"");
    put_number(buf, tenths);
    myr_buf_putc(buf, '"');
}

/* NULL: no class at all. */
static void put_class(struct myr_buf *buf, const char *css)
{
    if (css) {
        myr_buf_put_lit(buf, " class=\"");
        put_escaped(buf, css);
        myr_buf_putc(buf, '"');
    }
}

/* Ends a shape, with a tooltip inside when there is one. */
static void end_shape(struct myr_buf *buf, const char *name, const char *css, const char *tip)
{
    put_class(buf, css);
    if (!tip) {
        myr_buf_put_lit(buf, "/>\n");
        return;
    }
    myr_buf_put_lit(buf, "><title>");
    put_escaped(buf, tip);
    myr_buf_put_lit(buf, "</title></");
    myr_buf_puts(buf, name);
    myr_buf_put_lit(buf, ">\n");
}

/* 'place' are attributes that say how the picture sits in its box; empty: in the middle. */
static void begin(struct myr_svg *svg, struct myr_buf *buf, uint32_t width_px, uint32_t height_px,
                  const char *place, const char *title)
{
    /* The size is stated twice: as a default for viewers, and as coordinates that scale. */
    MYR_ASSERT(width_px > 0 && height_px > 0);
    *svg = (struct myr_svg){.buf = buf};
    myr_buf_printf(buf,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                   "viewBox=\"0 0 %u %u\" %srole=\"img\">\n<title>",
                   width_px, height_px, width_px, height_px, place);
    put_escaped(buf, title);
    myr_buf_put_lit(buf, "</title>\n<style>");
    myr_buf_puts(buf, stylesheet);
    myr_buf_put_lit(buf, "</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
}

void myr_svg_begin(struct myr_svg *svg, struct myr_buf *buf, uint32_t width_px, uint32_t height_px,
                   const char *title)
{
    begin(svg, buf, width_px, height_px, "", title);
}

/* At the upper left of its box, not in the middle. */
void myr_svg_begin_column(struct myr_svg *svg, struct myr_buf *buf, uint32_t width_px,
                          uint32_t height_px, const char *title)
{
    begin(svg, buf, width_px, height_px, "preserveAspectRatio=\"xMinYMin meet\" ", title);
}

void myr_svg_desc(struct myr_svg *svg, const char *text)
{
    myr_buf_put_lit(svg->buf, "<desc>");
    put_escaped(svg->buf, text);
    myr_buf_put_lit(svg->buf, "</desc>\n");
}

void myr_svg_end(struct myr_svg *svg)
{
    MYR_ASSERT(svg->group_depth == 0 && !svg->in_path);
    myr_buf_put_lit(svg->buf, "</svg>\n");
}

void myr_svg_style(struct myr_svg *svg, const char *rules)
{
    myr_buf_put_lit(svg->buf, "<style>");
    myr_buf_puts(svg->buf, rules);
    myr_buf_put_lit(svg->buf, "</style>\n");
}

/* A class of NULL leaves the shape to the group around it. */
void myr_svg_rect(struct myr_svg *svg, int32_t x, int32_t y, int32_t width, int32_t height,
                  const char *css, const char *tip)
{
    MYR_ASSERT(width >= 0 && height >= 0);
    struct myr_buf *buf = svg->buf;
    int32_t side = width < height ? width : height;
    myr_buf_put_lit(buf, "<rect");
    put_tenths(buf, "x", x);
    put_tenths(buf, "y", y);
    put_tenths(buf, "width", width);
    put_tenths(buf, "height", height);
    /* Corners are softened a little, and less on small shapes, which would become dots. */
    put_tenths(buf, "rx", side > 240 ? 40 : side / 6);
    end_shape(buf, "rect", css, tip);
}

void myr_svg_line(struct myr_svg *svg, int32_t x1, int32_t y1, int32_t x2, int32_t y2,
                  const char *css, const char *tip)
{
    struct myr_buf *buf = svg->buf;
    myr_buf_put_lit(buf, "<line");
    put_tenths(buf, "x1", x1);
    put_tenths(buf, "y1", y1);
    put_tenths(buf, "x2", x2);
    put_tenths(buf, "y2", y2);
    end_shape(buf, "line", css ? css : "link", tip);
}

void myr_svg_circle(struct myr_svg *svg, int32_t x, int32_t y, int32_t radius, const char *css,
                    const char *tip)
{
    MYR_ASSERT(radius >= 0);
    myr_buf_put_lit(svg->buf, "<circle");
    put_tenths(svg->buf, "cx", x);
    put_tenths(svg->buf, "cy", y);
    put_tenths(svg->buf, "r", radius);
    end_shape(svg->buf, "circle", css, tip);
}

#define PATH_HEAD "<path d=\""

/* A command of a path and its place. */
static void put_point(struct myr_buf *buf, char command, int32_t x, int32_t y)
{
    myr_buf_putc(buf, command);
    put_number(buf, x);
    myr_buf_putc(buf, ' ');
    put_number(buf, y);
}

void myr_svg_path_begin(struct myr_svg *svg)
{
    MYR_ASSERT(!svg->in_path);
    svg->in_path = true;
    /* Where to go back to if no point follows. */
    svg->path_start = svg->buf->len;
    myr_buf_put_lit(svg->buf, PATH_HEAD);
}

void myr_svg_path_move(struct myr_svg *svg, int32_t x, int32_t y)
{
    MYR_ASSERT(svg->in_path);
    put_point(svg->buf, 'M', x, y);
}

void myr_svg_path_line(struct myr_svg *svg, int32_t x, int32_t y)
{
    MYR_ASSERT(svg->in_path);
    put_point(svg->buf, 'L', x, y);
}

void myr_svg_path_curve(struct myr_svg *svg, int32_t control_x, int32_t control_y, int32_t x,
                        int32_t y)
{
    MYR_ASSERT(svg->in_path);
    put_point(svg->buf, 'Q', control_x, control_y);
    put_point(svg->buf, ' ', x, y);
}

void myr_svg_path_close(struct myr_svg *svg)
{
    MYR_ASSERT(svg->in_path);
    myr_buf_putc(svg->buf, 'Z');
}

void myr_svg_path_end(struct myr_svg *svg, const char *css, const char *tip)
{
    MYR_ASSERT(svg->in_path);
    svg->in_path = false;
    /* A path without a point is taken back: there is nothing to draw. */
    if (svg->buf->len == svg->path_start + sizeof(PATH_HEAD) - 1) {
        svg->buf->len = svg->path_start;
        svg->buf->data[svg->buf->len] = '\0';
        return;
    }
    myr_buf_putc(svg->buf, '"');
    end_shape(svg->buf, "path", css ? css : "link", tip);
}

/* 'y' is the base line of the letters. */
void myr_svg_text(struct myr_svg *svg, int32_t x, int32_t y, enum myr_svg_anchor anchor,
                  const char *css, const char *text)
{
    struct myr_buf *buf = svg->buf;
    myr_buf_put_lit(buf, "<text");
    put_tenths(buf, "x", x);
    put_tenths(buf, "y", y);
    if (anchor != MYR_SVG_START) {
        myr_buf_puts(buf,
                     anchor == MYR_SVG_MIDDLE ? " text-anchor=\"middle\"" : " text-anchor=\"end\"");
    }
    /* Without a class a text has no size of ours. */
    put_class(buf, css ? css : "label");
    myr_buf_putc(buf, '>');
    put_escaped(buf, text);
    myr_buf_put_lit(buf, "</text>\n");
}

void myr_svg_group(struct myr_svg *svg, const char *css)
{
    myr_buf_put_lit(svg->buf, "<g");
    put_class(svg->buf, css);
    myr_buf_put_lit(svg->buf, ">\n");
    svg->group_depth++;
}

void myr_svg_group_end(struct myr_svg *svg)
{
    MYR_ASSERT(svg->group_depth > 0);
    svg->group_depth--;
    myr_buf_put_lit(svg->buf, "</g>\n");
}
