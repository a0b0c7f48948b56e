#include "figures/figures.h"
#include "report/report.h"

/*
 * The summary: what a customer has to know before the first table. What is wrong comes first, then
 * what was accepted, then what the price lacks and how far it reaches, then why the networks are
 * shaped as they are. Each number keeps the path that it has where it is told in full.
 */

struct report_unit report_money_unit(const struct report *report, int64_t cents)
{
    const char *currency = myr_design_str(report->design, report->design->head->currency);
    const struct myr_lang *lang = report->about->lang;
    if (!lang || strcmp(lang->name, "zh") != 0) {
        return (struct report_unit){myr_arena_printf(report->arena, "M %s", currency), 100000000};
    }
    bool large = cents >= INT64_C(10000000000);
    bool yuan = strcmp(currency, "CNY") == 0;
    return (struct report_unit){myr_arena_printf(report->arena, "%s%s%s", large ? "亿" : "万",
                                                 yuan ? "" : " ", yuan ? "元" : currency),
                                large ? INT64_C(10000000000) : 1000000};
}

/* "176.5 M CNY"; in Chinese in 万元 and 亿元, as offers are written there. */
const char *report_money_said(const struct report *report, int64_t cents)
{
    const char *currency = myr_design_str(report->design, report->design->head->currency);
    const struct myr_lang *lang = report->about->lang;
    char text[MYR_PLAN_MONEY_MAX], whole[40];
    if (!lang || strcmp(lang->name, "zh") != 0) {
        return myr_arena_printf(report->arena, "%s", myr_plan_money(cents, currency, text));
    }
    if (cents < 1000000) {
        return myr_arena_printf(report->arena, "%s %s",
                                myr_u64_grouped(((uint64_t)cents + 50) / 100, whole),
                                strcmp(currency, "CNY") == 0 ? "元" : currency);
    }
    const struct report_unit unit = report_money_unit(report, cents);
    uint64_t one = (uint64_t)unit.cents;
    uint64_t hundredths = ((uint64_t)cents + one / 200) / (one / 100);
    return myr_arena_printf(report->arena, "%s.%02u %s", myr_u64_grouped(hundredths / 100, whole),
                            (unsigned)(hundredths % 100), unit.name);
}

/* ---- findings ---- */

/* Those of a severity, open or accepted; the table is opened with the first of them. */
static uint32_t put_findings(const struct report *report, uint32_t severity, bool accepted,
                             uint32_t shown)
{
    static const char *const heads[] = {"severity", "where", "what", "remedy"};
    const struct myr_design *design = report->design;
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        if (finding->severity != severity || finding->accepted != accepted) {
            continue;
        }
        if (shown++ == 0) {
            report_subheading(report, accepted ? "Accepted findings" : "Open findings");
            report_table(report, heads, MYR_ARRAY_COUNT(heads));
        }
        report_row_of(report, "findings.%u.message", i);
        report_word(report, plan_severity_names[finding->severity]);
        report_word(report, myr_design_str(design, finding->where));
        myr_page_cell(report->buf, report_string(report, finding->message));
        myr_page_cell(report->buf, report_string(report, finding->remedy));
        myr_page_row_end(report->buf);
    }
    return shown;
}

/* The worst first. Advice and prices that lack are told where they belong. */
static void put_faults(const struct report *report)
{
    uint32_t open = put_findings(report, MYR_SEVERITY_ERROR, false, 0);
    open = put_findings(report, MYR_SEVERITY_WARNING, false, open);
    if (open) {
        myr_page_table_end(report->buf);
    } else {
        report_para(report, "No error and no warning is open.");
    }
    uint32_t accepted = put_findings(report, MYR_SEVERITY_ERROR, true, 0);
    accepted = put_findings(report, MYR_SEVERITY_WARNING, true, accepted);
    if (accepted) {
        myr_page_table_end(report->buf);
    }
}

/* ---- money ---- */

/* A share as percent, rounded down: nearly all is not all. */
static const char *percent(const struct report *report, const char *path)
{
    const struct myr_figure *figure = myr_design_figure(report->design, path);
    double value = figure ? figure->value * 100 : 0;
    return report_value(report,
                        myr_arena_printf(report->arena, "%.1f", (double)(int)(value * 10) / 10),
                        "%s", path);
}

static const char *money_of(const struct report *report, const char *path)
{
    const struct myr_figure *figure = myr_design_figure(report->design, path);
    double cents = figure ? figure->value * 100 + 0.5 : 0;
    return report_value(report, report_money_said(report, cents < 9e18 ? (int64_t)cents : 0), "%s",
                        path);
}

/* What has no price, with what it is estimated to cost. */
static void put_unpriced(const struct report *report)
{
    static const char *const heads[] = {"system",        "name",      "part",          ">quantity",
                                        ">low estimate", ">estimate", ">high estimate"};
    const struct myr_design *design = report->design;
    bool any = false;
    for (uint32_t i = 0; design->bom_price && i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        const struct myr_bom_price *price = &design->bom_price[i];
        bool known = price->basis == MYR_PRICE_ESTIMATED;
        if (row->unit_cents >= 0) {
            continue;
        }
        if (!any) {
            report_subheading(report, "Lines without a price");
            report_table(report, heads, MYR_ARRAY_COUNT(heads));
        }
        any = true;
        report_row_of(report, "bom.%u.quantity", i);
        myr_page_cell(report->buf, report_string(report, row->system));
        myr_page_cell(report->buf, report_string(report, row->name));
        myr_page_cell(report->buf, myr_design_str(design, row->part));
        report_count(report, row->quantity, "bom.%u.quantity", i);
        report_number_cell(report, report_money(report, known ? price->low_cents : -1),
                           "bom.%u.estimate_low", i);
        report_number_cell(report, report_money(report, known ? price->cents : -1),
                           "bom.%u.estimate", i);
        report_number_cell(report, report_money(report, known ? price->high_cents : -1),
                           "bom.%u.estimate_high", i);
        myr_page_row_end(report->buf);
    }
    if (any) {
        myr_page_table_end(report->buf);
    }
}

const char *report_words(const struct report *report, const char *words, const char *separator,
                         const char *between)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const char *rest = words;
    while (*rest) {
        const char *end = strstr(rest, separator);
        size_t len = end ? (size_t)(end - rest) : strlen(rest);
        myr_buf_printf(&text, "%s%s", text.len ? between : "",
                       report_say(report, "%s", myr_arena_strndup(report->arena, rest, len)));
        rest += len + (end ? strlen(separator) : 0);
    }
    return myr_arena_strndup(report->arena, text.data ? text.data : "", text.len);
}

/* A sum with its share; none where its main lines lack. Older designs tell nothing of it. */
static void put_money(const struct report *report)
{
    const struct myr_design *design = report->design;
    if (!design->bom_price || !myr_design_figure(design, "totals.priced.lines")) {
        return;
    }
    if (!plan_any_price(design->bom, design->bom_count)) {
        report_para(report, "No line of the bill has a price.");
    } else if (plan_figure_text(design, FIG_PRICED_LACK)[0]) {
        report_para_of(
            report, "totals.priced.lacking",
            "There is no price of the whole; main lines without one: %s.",
            report_words(report, plan_figure_text(design, FIG_PRICED_LACK), "; ", " · "));
    } else {
        report_para(report, "Price: %s.",
                    report_value(report, report_money_said(report, design->head->total_cents),
                                 "totals.cost"));
    }
    report_para(report, "Of the lines %s %% have a price, of the estimated money %s %%.",
                percent(report, "totals.priced.lines"), percent(report, "totals.priced.money"));
    if (plan_figure_of(design, FIG_PRICED_ASSUMED) > 0) {
        report_para(report, "Of it %s are assumed by a rule: nobody has quoted them.",
                    money_of(report, "totals.priced.assumed_cost"));
    }
    if (plan_figure_of(design, FIG_PRICED_HIGH) > plan_figure_of(design, FIG_PRICED_LOW)) {
        report_para(report, "All lines together are estimated at %s to %s.",
                    money_of(report, "totals.priced.estimate_low"),
                    money_of(report, "totals.priced.estimate_high"));
    }
    if (plan_figure_text(design, FIG_PRICED_SUPPLIED)[0]) {
        report_para(
            report, "Supplied by others, and not in the price: %s.",
            report_words(report, plan_figure_text(design, FIG_PRICED_SUPPLIED), ", ", ", "));
    }
    if (plan_figure_of(design, FIG_PRICED_LEAD) > 0) {
        report_para(report, "The longest delivery that a price states takes %s weeks.",
                    report_counted(report, (uint64_t)plan_figure_of(design, FIG_PRICED_LEAD),
                                   "totals.priced.lead_weeks"));
    }
    put_unpriced(report);
}

/* ---- why ---- */

/* What a shape is for, by its topology. */
static const char *const reasons[MYR_TOPOLOGY_COUNT] = {
    [MYR_TOPOLOGY_RAIL] = "GPU k of every server of a group hangs on the same leaf: what equal "
                          "ranks exchange crosses one switch, and groups meet above",
    [MYR_TOPOLOGY_CLOS] = "any host reaches any other by the same number of switches; hosts may be "
                          "placed and grown in any order",
    [MYR_TOPOLOGY_RAIL_ONLY] = "no links between rails: traffic between them goes by the scale-up "
                               "domain, which saves the upper tier",
    [MYR_TOPOLOGY_MIDDLE_OF_RACK] =
        "the leaf stands amid its servers: host cables are short enough "
        "for copper",
    [MYR_TOPOLOGY_DRAGONFLY] = "fewest switches and long cables at this size; needs adaptive "
                               "routing, as direct paths are few",
    [MYR_TOPOLOGY_DRAGONFLY_PLUS] = "groups of leaves and spines with direct links between groups: "
                                    "fewer long cables than a third tier",
    [MYR_TOPOLOGY_TORUS] = "cables to neighbours alone and no upper tier; suits traffic between "
                           "neighbours",
    [MYR_TOPOLOGY_ACCESS] = "two homes a host where it has two ports: a switch that fails takes no "
                            "host away",
};

/* A row a network: what it is, why that shape, and at which ratio. */
static void put_reasons(const struct report *report)
{
    static const char *const heads[] = {"network", "topology", ">tiers", "why"};
    const struct myr_design *design = report->design;
    report_subheading(report, "Why this topology");
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        if (net->topology == MYR_TOPOLOGY_DEFAULT || net->topology >= MYR_TOPOLOGY_COUNT) {
            continue;
        }
        myr_page_row_begin(report->buf);
        report_cell(report, myr_net_names[id]);
        report_cell(report, myr_topology_name((enum myr_topology)net->topology));
        report_count(report, net->tiers, "networks.%s.tiers", myr_net_names[id]);
        report_cell(report, reasons[net->topology]);
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
    report_para(report, "Tiers are the fewest that carry all hosts, unless the spec names them.");
    /* What would be cheaper or nearer to the wish is said by the plan itself. */
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        if (strncmp(myr_design_str(design, finding->rule), "advice-", strlen("advice-")) == 0) {
            report_para_of(report, myr_arena_printf(report->arena, "findings.%u.message", i), "%s",
                           report_string(report, finding->message));
        }
    }
}

void report_summary(const struct report *report)
{
    report_heading(report, "Summary");
    put_faults(report);
    put_money(report);
    put_reasons(report);
}
