#include <stdio.h>

#include "figures/figures.h"
#include "myriad/model/stretch.h"
#include "plan_internal.h"

/*
 * The plan for people: what it is, its networks, its bill of materials, what to look at. All of it
 * comes from the finished design, so that a design which was read from a file has the same page as
 * one that was just planned. Tables are rendered from the answer's own rows, or from a digest where
 * these have different shapes.
 */

/* A number of 64 bits in groups of three, or one with a unit. */
enum { NUMBER_BYTES = 32 };

/* Host cables included. */
static uint32_t cable_total(const struct myr_network *net)
{
    uint32_t total = 0;
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        total += net->cables[layer];
    }
    return total;
}

/* "1:1, 2:1", from the hosts upwards. */
static void put_ratio(struct myr_answer *digest, const struct myr_network *net)
{
    /* A network of one tier has nothing to oversubscribe. */
    char ratio[64] = "1:1";
    int at = 0;
    for (uint32_t i = 0; i + 1 < net->tiers; i++) {
        at += snprintf(ratio + at, sizeof(ratio) - (size_t)at, "%s%g:1", i ? ", " : "",
                       net->oversubscription_milli[i] / 1000.0);
    }
    myr_answer_text(digest, "ratio", ratio);
}

/* A digest of the networks' objects: one row each, whatever their shape. */
static const struct myr_value *network_rows(struct myr_answer *digest,
                                            const struct myr_design *design)
{
    const struct myr_value *rows = myr_answer_list(digest, "networks");
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        /* Networks that the spec does not have are left out, not shown as zeros. */
        if (!net->topology) {
            continue;
        }
        myr_answer_object(digest, NULL);
        myr_answer_text(digest, "network", myr_net_names[id]);
        myr_answer_text(digest, "topology", myr_topology_name((enum myr_topology)net->topology));
        myr_answer_u64(digest, "tiers", net->tiers);
        myr_answer_u64(digest, "planes", net->planes);
        /* Access networks fill the same columns: access switches for leaves, aggregation for
         * spines. */
        myr_answer_u64(digest, "leaf", net->access ? net->access : net->leaf);
        myr_answer_u64(digest, "spine", net->access ? net->aggregation : net->spine);
        myr_answer_u64(digest, "core", net->core);
        myr_answer_u64(digest, "ports", net->host_ports);
        myr_answer_u64(digest, "cables", cable_total(net));
        put_ratio(digest, net);
        myr_answer_u64(digest, "bisection", net->bisection_gbps);
        myr_answer_end(digest);
    }
    myr_answer_end(digest);
    return rows;
}

/* The answer's networks differ in their keys and make no table: the page has a digest of its own.
 */
static void show_networks(const struct myr_design *design, struct myr_answer *answer)
{
    /* Planes are rarely more than one: shown where there is width. */
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("network", "NETWORK", 0),
        MYR_COLUMN("topology", "TOPOLOGY", 0),
        MYR_COLUMN("tiers", "TIERS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("planes", "PLANES", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("leaf", "LEAF", MYR_COLUMN_NUMBER),
        MYR_COLUMN("spine", "SPINE", MYR_COLUMN_NUMBER),
        MYR_COLUMN("core", "CORE", MYR_COLUMN_NUMBER),
        MYR_COLUMN("ports", "PORTS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("cables", "CABLES", MYR_COLUMN_NUMBER),
        MYR_COLUMN("ratio", "RATIO", 0),
        MYR_COLUMN("bisection", "BISECTION Gb/s", MYR_COLUMN_NUMBER),
    };
    struct myr_answer digest;
    myr_answer_init(&digest, answer->arena, "digest", 1);
    myr_answer_heading(answer, "Networks");
    myr_answer_table(answer, network_rows(&digest, design), columns, MYR_ARRAY_COUNT(columns));
}

/* Columns that explain a line are shown only where there is width for them. */
static void show_bom(struct myr_answer *answer, const struct myr_value *bom)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("system", "SYSTEM", 0),
        MYR_COLUMN("name", "NAME", 0),
        MYR_COLUMN("part", "PART", 0),
        MYR_COLUMN("quantity", "COUNT", MYR_COLUMN_NUMBER),
        {"unit_price", "EACH", MYR_COLUMN_NUMBER | MYR_COLUMN_MONEY, 2},
        {"total", "TOTAL", MYR_COLUMN_NUMBER | MYR_COLUMN_MONEY, 2},
        MYR_COLUMN("rule", "RULE", MYR_COLUMN_WIDE),
        MYR_COLUMN("inputs", "INPUTS", MYR_COLUMN_WIDE),
        MYR_COLUMN("price_note", "PRICE NOTE", MYR_COLUMN_WIDE),
    };
    myr_answer_heading(answer, "Bill of materials");
    myr_answer_table(answer, bom, columns, MYR_ARRAY_COUNT(columns));
}

static bool is_unpriced(const struct myr_design *design, const struct myr_finding *finding)
{
    return strcmp(myr_design_str(design, finding->rule), "unpriced") == 0;
}

/* Many parts may be unpriced: one line names them all. */
static void show_unpriced(const struct myr_design *design, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    for (uint32_t i = 0; i < design->finding_count; i++) {
        if (is_unpriced(design, &design->findings[i])) {
            myr_buf_printf(&names, "%s%s", names.len ? ", " : "",
                           myr_design_str(design, design->findings[i].where));
        }
    }
    if (names.len) {
        myr_answer_para(answer, "info: not in the total, no price [unpriced]: %s", names.data);
    }
}

/* Findings of parts without a price are gathered in one line: in a plan without a book there is one
 * for every part. */
static void show_findings(const struct myr_design *design, struct myr_answer *answer)
{
    if (design->finding_count == 0) {
        return;
    }
    /* The remedy is for what is still open; what was accepted is known to whoever did it. */
    myr_answer_heading(answer, "Findings");
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        if (is_unpriced(design, finding)) {
            continue;
        }
        bool open = finding->severity == MYR_SEVERITY_ERROR && !finding->accepted;
        /* What the user knows already is no more than a warning. */
        const char *severity = finding->severity == MYR_SEVERITY_ERROR && !open
                                   ? "warning (accepted)"
                                   : plan_severity_names[finding->severity];
        myr_answer_para(
            answer, "%s: %s [%s]: %s%s%s", severity, myr_design_str(design, finding->where),
            myr_design_str(design, finding->rule), myr_design_str(design, finding->message),
            open ? "; remedy: " : "", open ? myr_design_str(design, finding->remedy) : "");
    }
    show_unpriced(design, answer);
}

/* How far the total reaches: "19 of 20 lines priced, 99 % of the estimated money; 1.20 M CNY
 * assumed; supplied by others: servers". */
const char *myr_plan_priced(const struct myr_design *design, struct myr_arena *arena)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char lines[NUMBER_BYTES], money[MYR_PLAN_MONEY_MAX];
    const char *supplied = plan_figure_text(design, FIG_PRICED_SUPPLIED);
    double assumed = plan_figure_of(design, FIG_PRICED_ASSUMED);
    double share = plan_figure_of(design, FIG_PRICED_MONEY) * 100;
    uint32_t unpriced = 0;
    for (uint32_t i = 0; i < design->bom_count; i++) {
        unpriced += design->bom[i].unit_cents < 0;
    }
    myr_buf_printf(&text, "%s of %s priced", myr_u64_grouped(design->bom_count - unpriced, lines),
                   MYR_COUNT(design->bom_count, "line"));
    /* Rounded down: nine hundred and ninety-nine of a thousand are not all. */
    if (unpriced && design->bom_price) {
        myr_buf_printf(&text, ", %.0f %% of the estimated money",
                       share < 1 ? share : (double)(int)share);
    }
    if (assumed > 0) {
        myr_plan_money((int64_t)(assumed * 100 + 0.5),
                       myr_design_str(design, design->head->currency), money);
        myr_buf_printf(&text, "; %s assumed", money);
    }
    if (supplied[0]) {
        myr_buf_printf(&text, "; supplied by others: %s", supplied);
    }
    return myr_arena_strndup(arena, text.data, text.len);
}

/* A total of nothing but unknown prices would read as a low price, and so would one without its
 * main lines: there is none then. */
static void show_total(const struct myr_design *design, struct myr_answer *answer)
{
    char money[MYR_PLAN_MONEY_MAX];
    const char *lacking = plan_figure_text(design, FIG_PRICED_LACK);
    /* Unknown is told with the key that would change it. */
    if (!plan_any_price(design->bom, design->bom_count)) {
        myr_answer_fact(answer, "price", "unknown: 'prices: BOOK' in the spec names a price book");
    } else if (lacking[0]) {
        myr_answer_fact(answer, "price", "not known: without a price are %s; %s", lacking,
                        myr_plan_priced(design, answer->arena));
    } else {
        myr_plan_money(design->head->total_cents, myr_design_str(design, design->head->currency),
                       money);
        myr_answer_fact(answer, "price", "%s; %s", money, myr_plan_priced(design, answer->arena));
    }
}

/* From ten megawatts on in megawatts: nobody reads five digits before the point. */
const char *myr_plan_power(double kw, char ret[MYR_PLAN_POWER_MAX])
{
    static const struct myr_unit units[] = {
        {1, 10000, 1, MYR_UNIT_BEHIND, "kW"},
        {1000, 0, 2, MYR_UNIT_BEHIND, "MW"},
    };
    const struct myr_unit *unit = &units[myr_text_unit(kw, units, 2)];
    snprintf(ret, MYR_PLAN_POWER_MAX, "%.*s %s", MYR_PLAN_POWER_MAX - 4,
             MYR_NUMBER(kw / unit->size, unit->digits), unit->name);
    return ret;
}

/* Two lines of the page; all that is behind them is in the tree of the answer. */
static void show_power(const struct myr_design *design, struct myr_answer *answer)
{
    char it[MYR_PLAN_POWER_MAX], facility[MYR_PLAN_POWER_MAX], money[MYR_PLAN_MONEY_MAX];
    uint32_t assumed = 0;
    if (design->figure_count == 0) {
        return; /* a file of an older program */
    }
    for (uint32_t i = 0; i < design->figure_count; i++) {
        /* How much of it is assumed is said beside the figures: a reader shall not take them for
         * measured. */
        assumed += design->figures[i].basis == MYR_BASIS_ASSUMED;
    }
    myr_answer_fact(answer, "power", "%s IT, %s with cooling by %s (PUE %.3f)",
                    myr_plan_power(plan_figure_of(design, FIG_IT), it),
                    myr_plan_power(plan_figure_of(design, FIG_FACILITY), facility),
                    plan_figure_text(design, FIG_COOLING), plan_figure_of(design, FIG_PUE));
    double cost = plan_figure_of(design, FIG_ENERGY_COST);
    /* Money is whole cents in 64 bits: an absurd tariff must not pass them. */
    myr_plan_money(cost < 9e16 ? (int64_t)(cost * 100 + 0.5) : INT64_MAX / 2,
                   plan_figure_text(design, FIG_ENERGY_CURRENCY), money);
    /* A few servers use no tenth of a GWh. */
    double mwh = plan_figure_of(design, FIG_MWH);
    bool large = mwh >= 1000;
    myr_answer_fact(answer, "energy", "%s %s a year, %s, %s t of CO2; %s assumed",
                    MYR_NUMBER(large ? mwh / 1000 : mwh, 1), large ? "GWh" : "MWh", money,
                    MYR_NUMBER(plan_figure_of(design, FIG_CARBON), 0),
                    MYR_COUNT(assumed, "figure"));
}

/* What it is, then what it costs, then how it is built: whoever stops reading has had the most. */
void myr_plan_page(const struct myr_design *design, struct myr_answer *answer,
                   const struct myr_value *bom)
{
    const struct myr_design_head *head = design->head;
    char servers[NUMBER_BYTES];
    myr_answer_heading(answer, "%s", myr_design_str(design, head->name));
    myr_answer_fact(answer, "servers", "%s (%s), %s", myr_u64_grouped(head->servers, servers),
                    design->group_count ? "in groups" : myr_design_str(design, head->server_part),
                    MYR_COUNT(head->gpus, "GPU"));
    /* Groups have no line of their own where all servers are of one kind. */
    for (uint32_t i = 0; i < design->group_count; i++) {
        const struct myr_server_group *group = &design->groups[i];
        for (uint32_t at = 0; at < group->nodes;) {
            struct myr_node_stretch stretch =
                myr_design_node_stretch(design, group->first_node + at, group->nodes - at);
            myr_answer_fact(answer, myr_design_str(design, group->name),
                            "%s (%s), %u x %s a node, from node %u",
                            MYR_COUNT(myr_stretch_servers(group, stretch), "server"),
                            myr_design_str(design, group->server_part), group->gpus_per_node,
                            myr_design_str(design, group->gpu_part), stretch.number);
            at += stretch.count;
        }
    }
    /* Decimal terabytes, as disks are sold. */
    if (head->storage_servers) {
        myr_answer_fact(answer, "storage", "%s, %s TB raw, %s TB usable",
                        MYR_COUNT(head->storage_servers, "server"),
                        MYR_NUMBER(myr_plan_raw_tb(head), 2),
                        MYR_NUMBER(myr_plan_usable_tb(head), 2));
    }
    plan_room_page(design, answer);
    show_power(design, answer);
    show_total(design, answer);
    show_networks(design, answer);
    show_bom(answer, bom);
    show_findings(design, answer);
}

/* For --explain: the rule and the numbers behind every line of the bill. */
void myr_plan_explain(const struct myr_design *design, struct myr_answer *answer)
{
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        const char *note = myr_design_str(design, row->price_note);
        /* A line without a price is shown all the same, as part of the design. */
        char count[NUMBER_BYTES], money[MYR_PLAN_MONEY_MAX] = "none";
        if (row->unit_cents >= 0) {
            myr_plan_money(row->unit_cents, myr_design_str(design, design->head->currency), money);
        }
        myr_answer_para(answer, "%s, %s, %s: %s", myr_design_str(design, row->system),
                        myr_design_str(design, row->name), myr_design_str(design, row->part),
                        myr_u64_grouped(row->quantity, count));
        myr_answer_fact(answer, "  rule", "%s", myr_design_str(design, row->rule));
        myr_answer_fact(answer, "  inputs", "%s", myr_design_str(design, row->inputs));
        myr_answer_fact(answer, "  price", "%s%s%s", money, note[0] ? "; " : "", note);
    }
    show_findings(design, answer);
}

/* The rows of the answer, so that file and answer cannot differ. */
void myr_plan_bom_csv(const struct myr_design *design, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_answer answer;
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "myriad.plan", 1);
    myr_answer_rows(&answer, myr_plan_answer(design, &answer));
    int rc =
        myr_answer_write(&answer, &(struct myr_answer_form){.format = MYR_FORMAT_CSV}, buf, NULL);
    MYR_ASSERT(rc == MYR_OK); /* it has rows */
}
