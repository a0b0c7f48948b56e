#include "report/report.h"
#include "figures/figures.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "myriad/text/answer.h"
#include "plan_languages.h"

/*
 * The report: head, tiles and the order of its chapters, each of which has a file of its own. It is
 * one page without scripts, made from the design alone: the same spec gives the same bytes.
 */

/* --- languages */

/* English needs no file: 'ret' is empty then, and 'ret_other' false. */
int myr_report_language(struct myr_arena *arena, const char *name, struct myr_lang *ret,
                        bool *ret_other, struct myr_err *err)
{
    *ret = (struct myr_lang){};
    *ret_other = false;
    if (strcmp(name, "en") == 0) {
        return MYR_OK;
    }
    for (size_t i = 0; i < plan_languages_count; i++) {
        /* Languages are built into the program, a file for each. */
        const struct myr_embedded *file = &plan_languages[i];
        size_t len = strlen(name);
        const char *base = strrchr(file->name, '/');
        base = base ? base + 1 : file->name;
        if (strncmp(base, name, len) == 0 && strcmp(base + len, ".yaml") == 0) {
            *ret_other = true;
            return myr_lang_read(arena, myr_arena_printf(arena, "%s", name), file->name,
                                 (struct myr_str){(const char *)file->data, file->size}, ret, err);
        }
    }
    return myr_err_set(err, MYR_EINVAL, "no report is written in '%.40s'; en and zh are", name);
}

/* SHA-256 in hexadecimal; "" where the library cannot make one. */
void myr_report_digest(struct myr_str bytes, char ret[MYR_REPORT_DIGEST])
{
    unsigned char digest[32];
    size_t len = sizeof(digest);
    ret[0] = '\0';
    if (EVP_Q_digest(NULL, "SHA256", NULL, bytes.data, bytes.len, digest, &len) == 1) {
        for (size_t i = 0; i < len; i++) {
            snprintf(ret + 2 * i, 3, "%02x", digest[i]);
        }
    }
}

/* --- the document */

/* What a reader looks for first. The price is left out where no line has one. */
static void put_tiles(const struct report *report)
{
    const struct myr_design *design = report->design;
    const struct myr_design_head *head = design->head;
    /* Sums over all networks, as 'totals' of the answer has them. */
    uint64_t cables = 0, pieces = 0, unpriced = 0;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        pieces += net->fibres;
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            cables += net->cables[layer];
        }
    }
    for (uint32_t i = 0; i < design->bom_count; i++) {
        unpriced += design->bom[i].unit_cents < 0;
    }
    /* What it is, how large, where it stands, what it draws, what it costs. */
    myr_page_tiles_begin(report->buf);
    report_tile(report, "GPUs", report_counted(report, head->gpus, "gpus"));
    report_tile(report, "servers", report_counted(report, head->servers, "servers"));
    report_tile(report, "switches",
                report_counted(report, report_switches(design), "report.switches"));
    report_tile(report, "cables", report_counted(report, cables, "totals.cables"));
    /* Of fibre or copper, a label each: to call all of them fibres would be to order too many. */
    report_tile(report, "pieces to pull", report_counted(report, pieces, "totals.fibres"));
    if (design->room) {
        report_tile(report, "racks in use",
                    report_counted(report, design->room->racks_used, "room.racks_used"));
    }
    report_power_tiles(report);
    /* No sum where its main lines lack. */
    if (unpriced < design->bom_count && !plan_figure_text(design, FIG_PRICED_LACK)[0]) {
        report_tile(
            report, "price",
            report_value(report, report_money_said(report, head->total_cents), "totals.cost"));
    }
    myr_page_tiles_end(report->buf);
    /* One line needs its own sentence: languages differ in their plurals. */
    if (unpriced == 1) {
        report_para_of(report, "totals.unpriced_lines",
                       "1 line of the bill has no price; it is not in the total.");
    } else if (unpriced) {
        report_para(report, "%s lines of the bill have no price; they are not in the total.",
                    report_counted(report, unpriced, "totals.unpriced_lines"));
    }
}

/* How to ask for the number that the pointer rests on. */
static void put_paths(const struct report *report)
{
    const struct myr_plan_about *about = report->about;
    /* Ready to be pasted: the spec's name quoted for a shell, the options as they were given. */
    MYR_CLEANUP(myr_buf_done) struct myr_buf command = {};
    char word[128];
    myr_buf_printf(&command, "myriad explain plan %s",
                   myr_shell_word(about->spec ? about->spec : "design.myr", word, sizeof(word)));
    myr_buf_printf(&command, "%s%s PATH", about->options ? " " : "",
                   about->options ? about->options : "");
    myr_buf_putc(&command, '\0');
    myr_buf_put_lit(report->buf, "<p class=\"muted\">");
    myr_page_text(report->buf, report_say(report, "The path of a number is shown where the pointer "
                                                  "rests on it; how it came about says:"));
    myr_buf_putc(report->buf, ' ');
    myr_page_arguments(report->buf, command.data);
    myr_buf_put_lit(report->buf, "</p>\n");
}

/* What the report is of: only what was given, so that the same spec gives the same bytes. */
static void put_head(const struct report *report)
{
    const struct myr_plan_about *about = report->about;
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    myr_buf_puts(&line, report_say(report, "Design report"));
    if (about->revision) {
        myr_buf_printf(&line, " · %s", report_say(report, "revision %s", about->revision));
    }
    if (about->date) {
        myr_buf_printf(&line, " · %s", about->date);
    }
    if (about->spec) {
        myr_buf_printf(&line, " · %s", report_say(report, "made from %s", about->spec));
    }
    if (about->digest[0]) {
        myr_buf_printf(&line, " · SHA-256 %.16s…", about->digest);
    }
    myr_buf_putc(&line, '\0');
    myr_page_note(report->buf, line.data);
}

/* The order of chapters: from what it is to why it is so, the long tables at the end. */
void myr_plan_report(const struct myr_design *design, const struct myr_plan_about *about,
                     struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
    uint32_t pictures = 0;
    struct report_paths paths = {};
    struct myr_answer tree;
    struct report report = {design, about, &arena, buf, &pictures, &paths, &tree};
    myr_arena_init(&arena);
    report_tree(design, about->targets, &arena, &tree);
    /* Page and drawings share one count of pictures and one list of marks. */
    myr_page_begin_in(buf, about->lang ? about->lang->name : "en",
                      myr_design_str(design, design->head->name));
    put_head(&report);
    put_paths(&report);
    put_tiles(&report);
    report_summary(&report);
    report_chapter(&report, "scope");
    report_networks(&report);
    report_heading(&report, "Topology");
    myr_plan_svg(design, &svg);
    report_picture(&report, &svg, REPORT_TOPOLOGY);
    report_bill(&report);
    report_room(&report);
    report_figures(&report);
    report_chapter(&report, "cold-plate");
    report_care(&report);
    report_next(&report);
    report_chapter(&report, "terms");
    report_findings(&report);
    report_origins(&report);
    if (about->digest[0]) {
        myr_page_note(buf, report_say(&report, "SHA-256 of the spec: %s", about->digest));
    }
    myr_page_end(buf);
}
