/* chart_head: what stands above a plot, for a desk and for a phone. */
#include "picture/chart_head.h"

#include <stdio.h>

/* Okabe and Ito's colours, strong enough for lines; lighter where the ground is dark. */
static const char style[] =
    ".c0{fill:#0072b2;stroke:#0072b2}.c1{fill:#d55e00;stroke:#d55e00}.c2{fill:#009e73;stroke:"
    "#009e73}.c3{fill:#cc79a7;stroke:#cc79a7}.c4{fill:#e69f00;stroke:#e69f00}.c5{fill:#56b4e9;"
    "stroke:#56b4e9}.c6{fill:#8a8f98;stroke:#8a8f98}.c7{fill:#b8a900;stroke:#b8a900}"
    "rect.piece{stroke:none}path.curve{fill:none;stroke-width:2.2;stroke-linejoin:round}"
    "path.dashed{fill:none;stroke-width:1.6;stroke-dasharray:6 4}circle.dot{stroke:#fff;"
    "stroke-width:1.2}.axis{stroke:#57606a;stroke-width:1}.grid{stroke:#57606a;stroke-width:.5;"
    "stroke-opacity:.28}.limit{stroke:#1f2328;stroke-width:1.4;stroke-dasharray:5 3}"
    "@media (prefers-color-scheme:dark){.c0{fill:#3d9fe0;stroke:#3d9fe0}.c1{fill:#ff8c42;stroke:"
    "#ff8c42}.c2{fill:#2fc99a;stroke:#2fc99a}.axis,.grid{stroke:#8b949e}.limit{stroke:#e6edf3}"
    "circle.dot{stroke:#0d1117}}";

/* How many bytes of a text make a line: up to a blank, or to where a character ends. */
static size_t line_bytes(const char *text, size_t most)
{
    size_t at = 0, blank = 0, wide = 0;
    while (text[at]) {
        size_t next = at + 1;
        while (((unsigned char)text[next] & 0xC0) == 0x80) {
            next++;
        }
        /* Chinese characters are as wide as two letters. */
        wide += (unsigned char)text[at] >= 0xE3 ? 2 : 1;
        if (wide > most && at > 0) {
            return blank ? blank : at;
        }
        blank = text[at] == ' ' ? at : blank;
        at = next;
    }
    return at;
}

/*
 * Text in lines of at most so many letters; returns the y of the last. Without a drawing the lines
 * are only counted.
 */
static int32_t put_lines(struct myr_svg *svg, int32_t y, int32_t step, size_t most, const char *css,
                         const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    while (*text) {
        size_t cut = line_bytes(text, most);
        y += step;
        myr_buf_clear(&line);
        myr_buf_put(&line, text, cut);
        if (svg) {
            myr_svg_text(svg, 10 * CHART_PX, y * CHART_PX, MYR_SVG_START, css, line.data);
        }
        text += cut + (text[cut] == ' ');
    }
    return y;
}

/* A square and a name; gives where the next one goes. Names are about seven pixels a letter. */
int32_t chart_key(struct myr_svg *svg, int32_t x, int32_t y, uint32_t colour, const char *name)
{
    char css[24];
    snprintf(css, sizeof(css), "piece c%u", colour % MYR_CHART_COLOURS);
    if (svg) {
        myr_svg_rect(svg, x, y - 9 * CHART_PX, 11 * CHART_PX, 11 * CHART_PX, css, NULL);
        myr_svg_text(svg, x + 16 * CHART_PX, y, MYR_SVG_START, "label", name);
    }
    return x + (34 + (int32_t)strlen(name) * 7) * CHART_PX;
}

void chart_add_key(struct chart_head *head, const char *name, uint32_t colour)
{
    if (head->key_count < CHART_KEYS_MAX) {
        head->keys[head->key_count++] = (struct myr_piece){.name = name, .colour = colour};
    }
}

/* On a phone words have lines of their own, one below the other; returns where the plot begins. */
int32_t chart_narrow_head(struct myr_svg *svg, const struct chart_frame *frame,
                          const struct chart_head *head)
{
    /* A title's letters are about ten pixels wide, those of a label six and a half. */
    int32_t y = put_lines(svg, 2, 22, (size_t)(frame->width - 20) / 10, "title", head->title);
    if (head->note) {
        y = put_lines(svg, y + 2, 16, (size_t)(frame->width - 20) * 2 / 13, "label muted",
                      head->note);
    }
    int32_t x = 10 * CHART_PX;
    for (uint32_t i = 0; i < head->key_count; i++) {
        int32_t behind = chart_key(NULL, x, 0, 0, head->keys[i].name);
        /* The gap behind the last name of a line may be cut. */
        bool fits = i > 0 && behind - 18 * CHART_PX <= frame->width * CHART_PX;
        x = fits ? x : 10 * CHART_PX;
        y += fits ? 0 : 20;
        x = chart_key(svg, x, y * CHART_PX, head->keys[i].colour, head->keys[i].name);
    }
    return y;
}

/* Ground, style and title of both kinds of chart. */
void chart_begin(struct myr_svg *svg, struct myr_buf *buf, const struct chart_frame *frame,
                 uint32_t height, const struct chart_head *head)
{
    myr_svg_begin(svg, buf, (uint32_t)frame->width, height, head->title);
    myr_svg_style(svg, style);
    if (frame->narrow) {
        (void)chart_narrow_head(svg, frame, head);
        return;
    }
    myr_svg_text(svg, 10 * CHART_PX, 24 * CHART_PX, MYR_SVG_START, "title", head->title);
    if (head->note) {
        myr_svg_text(svg, 10 * CHART_PX, 44 * CHART_PX, MYR_SVG_START, "label muted", head->note);
    }
}

/* Both forms, each where the page's style shows one of them (page.c). */
void chart_forms(const void *chart, enum myr_chart_form form, chart_draw *draw, struct myr_buf *buf)
{
    if (form != MYR_CHART_PAGE) {
        draw(chart, form, buf);
        return;
    }
    myr_buf_put_lit(buf, "<div class=\"desk\">\n");
    draw(chart, MYR_CHART_WIDE, buf);
    myr_buf_put_lit(buf, "</div><div class=\"phone\">\n");
    draw(chart, MYR_CHART_NARROW, buf);
    myr_buf_put_lit(buf, "</div>\n");
}
