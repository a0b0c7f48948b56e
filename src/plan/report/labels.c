#include "report/labels.h"

#include <stdio.h>

#include "myriad/text/page.h"
#include "myriad/text/qr.h"
#include "report/report.h"

/*
 * Labels for a printer: sheets of A4 with 3 x 7 of 63.5 x 38.1 mm, the stock size of flags. Each
 * has the code that work orders use for the same cable, the number, where this end goes and where
 * the other one is. Black on white in any light: they are paper.
 */

/* 21 labels of a sheet; more than 40,000 in all are no print job any more. */
enum { ACROSS = 3, DOWN = 7, CODE_MM = 26, LABELS_MAX = 40000 };

/* In millimetres of the paper, so that the labels meet the stock; outlines are for the screen only.
 */
static const char style[] =
    "@page{size:A4;margin:0}body{margin:0;background:#fff;color:#000;font:8px/1.3 system-ui,"
    "'Noto Sans','Noto Sans CJK SC',sans-serif}.sheet{width:210mm;height:296mm;box-sizing:"
    "border-box;padding:15.1mm 7.2mm;display:grid;grid-template-columns:repeat(3,63.5mm);"
    "grid-auto-rows:38.1mm;column-gap:2.5mm;break-after:page;overflow:hidden}"
    ".sheet:last-child{break-after:auto}.l{display:flex;gap:1mm;padding:2mm;box-sizing:border-box;"
    "overflow:hidden;align-items:center}.l>div{flex:1;min-width:0;overflow-wrap:anywhere}"
    ".l b{font-size:11px}.l p{margin:0 0 1px}.qr{flex:none}"
    "@media screen{.sheet{outline:1px solid #bbb;margin:0 auto 8px}.l{outline:1px dotted #ccc}}";

/* By the name as it is printed. */
static bool rack_is(const struct myr_design *design, uint32_t rack, const char *name)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_design_rack_name(design, rack, &text);
    return text.len == strlen(name) && memcmp(text.data, name, text.len) == 0;
}

/* Whether a port is among those that are asked for. */
static bool wanted(const struct myr_design *design, const struct report_labels *which,
                   uint32_t link, uint32_t port)
{
    uint32_t device = design->port_device[port];
    const struct myr_cabletype *type =
        &design->cabletypes[design->cable_type[design->link_cable[link]]];
    return which->all || (which->net != MYR_NONE && type->net == which->net) ||
           (which->device != MYR_NONE && device == which->device) ||
           (which->rack != MYR_NONE && design->device_rack[device] == which->rack);
}

/* Both ends of a link have a label of their own. */
static uint64_t count_labels(const struct myr_design *design, const struct report_labels *which)
{
    uint64_t count = 0;
    for (uint32_t link = 0; link < design->link_count; link++) {
        count += wanted(design, which, link, design->link_a[link]);
        count += wanted(design, which, link, design->link_b[link]);
    }
    return count;
}

/* What is named may be several things at once: a label is printed where any of them holds. */
int report_labels_choose(const struct myr_design *design, const char *where,
                         struct report_labels *ret, struct myr_err *err)
{
    struct report_labels which = {
        .all = strcmp(where, "all") == 0, .net = MYR_NONE, .rack = MYR_NONE, .device = MYR_NONE};
    /* A network counts only if the design has it. */
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (strcmp(where, myr_net_names[id]) == 0 && design->networks[id].topology) {
            which.net = id;
        }
    }
    /* Devices, racks and networks have names of different shape: at most one fits in practice. */
    which.device = myr_design_find(design, myr_str_from(where));
    for (uint32_t i = 0; design->room && i < design->rack_count; i++) {
        which.rack = rack_is(design, i, where) ? i : which.rack;
    }
    char shown[MYR_EXCERPT_MAX];
    if (!which.all && which.net == MYR_NONE && which.rack == MYR_NONE && which.device == MYR_NONE) {
        int rc = myr_err_set(err, MYR_ENOENT,
                             "--labels: '%s' is no network, rack or device of the design",
                             myr_text_excerpt(myr_str_from(where), shown));
        myr_err_hint(err, "all, compute, node/00000 or, with a room, A14");
        return rc;
    }
    which.count = count_labels(design, &which);
    /* Refused before anything is written, with what would be fewer. */
    if (which.count > LABELS_MAX) {
        int rc =
            myr_err_set(err, MYR_EINVAL, "--labels: %s has %llu labels, at most %d are printed",
                        myr_text_excerpt(myr_str_from(where), shown),
                        (unsigned long long)which.count, LABELS_MAX);
        myr_err_hint(err, "name a rack or a device");
        return rc;
    }
    *ret = which;
    return MYR_OK;
}

/* "leaf/p0-g0-r2:3/2". */
static void put_end(struct myr_buf *buf, const struct myr_design *design, uint32_t port)
{
    myr_design_name(design, design->port_device[port], buf);
    myr_buf_putc(buf, ':');
    myr_design_port_name(design, port, buf);
}

/* What work orders scan: the design, the cable, the end, then both ends where they fit. */
static void put_code(struct myr_buf *buf, const struct myr_design *design, uint32_t cable,
                     char side, const struct myr_buf *ends)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_qr qr;
    myr_buf_printf(&text, "MYR:%s:C", myr_design_str(design, design->head->name));
    myr_buf_put_u64_pad(&text, myr_design_cable_id(design, cable), 8);
    myr_buf_putc(&text, side);
    /* The code without the ends, should both be too long for one. */
    size_t least = text.len;
    myr_buf_putc(&text, ':');
    myr_buf_put(&text, ends->data, ends->len);
    /* A code takes only so much: without the ends it still tells the cable. */
    if (myr_qr_make(&qr, (struct myr_str){text.data, text.len}) ||
        myr_qr_make(&qr, (struct myr_str){text.data, least})) {
        myr_qr_svg(buf, &qr, CODE_MM);
    }
}

/* "A14 U12" in front of a device, where there is a room. */
static void put_where(struct myr_buf *buf, const struct myr_design *design, uint32_t port)
{
    uint32_t device = design->port_device[port];
    if (design->room && design->device_rack[device] != MYR_NONE) {
        myr_design_rack_name(design, design->device_rack[device], buf);
        myr_buf_printf(buf, " U%u ", design->device_unit[device]);
    }
    put_end(buf, design, port);
    myr_buf_putc(buf, '\0');
}

/* Large is what the hand needs: the number, and where this end goes. */
static void put_label(struct myr_buf *buf, const struct myr_design *design, uint32_t link,
                      bool at_b)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf ends = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf near = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf far = {};
    /* Each label is read from its own end. */
    uint32_t here = at_b ? design->link_b[link] : design->link_a[link];
    uint32_t there = at_b ? design->link_a[link] : design->link_b[link];
    uint32_t cable = design->link_cable[link];
    const struct myr_cabletype *type = &design->cabletypes[design->cable_type[cable]];
    /* The code has this end first, then the other. */
    put_end(&ends, design, here);
    myr_buf_putc(&ends, '>');
    put_end(&ends, design, there);
    put_where(&near, design, here);
    put_where(&far, design, there);
    /* The code first, the words beside it. */
    myr_buf_put_lit(buf, "<div class=\"l\">");
    put_code(buf, design, cable, at_b ? 'B' : 'A', &ends);
    myr_buf_put_lit(buf, "<div><p><b>");
    myr_buf_put_u64_pad(buf, myr_design_cable_id(design, cable), 8);
    myr_buf_printf(buf, " %c</b></p>\n<p><b>", at_b ? 'B' : 'A');
    myr_page_text(buf, near.data);
    myr_buf_put_lit(buf, "</b></p>\n<p>&rarr; ");
    myr_page_text(buf, far.data);
    myr_buf_put_lit(buf, "</p>\n<p>");
    myr_page_text(buf, myr_design_str(design, type->part));
    myr_buf_printf(buf, ", %g m, %u Gb/s</p></div></div>\n", type->length_mm / 1000.0, type->gbps);
}

/* In the order of links, both ends of a cable side by side. */
void report_labels_put(const struct myr_design *design, const struct myr_plan_about *about,
                       const struct report_labels *which, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct report report = {.design = design, .about = about, .arena = &arena, .buf = buf};
    uint64_t put = 0;
    myr_arena_init(&arena);
    myr_buf_printf(buf,
                   "<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
                   about->lang ? about->lang->name : "en");
    myr_page_text(
        buf, report_say(&report, "Cable labels of %s", myr_design_str(design, design->head->name)));
    myr_buf_printf(buf, "</title><style>%s</style></head>\n<body>\n", style);
    for (uint32_t link = 0; link < design->link_count; link++) {
        for (uint32_t end = 0; end < 2; end++) {
            uint32_t port = end ? design->link_b[link] : design->link_a[link];
            if (!wanted(design, which, link, port)) {
                continue;
            }
            /* A sheet opens with its first label, so that none is empty. */
            if (put % (ACROSS * DOWN) == 0) {
                myr_buf_puts(buf,
                             put ? "</div>\n<div class=\"sheet\">\n" : "<div class=\"sheet\">\n");
            }
            put_label(buf, design, link, end == 1);
            put++;
        }
    }
    MYR_ASSERT(put == which->count);
    myr_buf_puts(buf, put ? "</div>\n</body></html>\n" : "</body></html>\n");
}
