#include "myriad/plan.h"

#include <stdio.h>

/* The plan as JSON, YAML, tables and explanations: all from the finished design. */

static const char *const severity_names[] = {"info", "warning", "error"};
static const char *const fill_names[] = {"default", "regular", "dense"};

static void put_cents(struct myr_json *json, const char *key, int64_t cents)
{
    if (cents < 0) {
        myr_json_null(json, key);
    } else if (cents % 100 == 0) {
        myr_json_i64(json, key, cents / 100);
    } else {
        myr_json_double(json, key, (double)cents / 100, 2);
    }
}

static uint32_t switch_total(const struct myr_network *net)
{
    return net->leaf + net->spine + net->core + net->access + net->aggregation;
}

static uint32_t cable_total(const struct myr_network *net)
{
    uint32_t total = 0;
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        total += net->cables[layer];
    }
    return total;
}

static bool has_groups(const struct myr_network *net)
{
    return net->topology == MYR_TOPOLOGY_DRAGONFLY || net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
}

static void put_layers(struct myr_json *json, const char *key, const uint32_t *counts)
{
    uint64_t total = 0;
    myr_json_object(json, key);
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        total += counts[layer];
        if (layer <= MYR_LAYER_CORE || counts[layer]) {
            myr_json_u64(json, myr_layer_names[layer], counts[layer]);
        }
    }
    myr_json_u64(json, "total", total);
    myr_json_end(json);
}

static void put_shape(struct myr_json *json, const struct myr_network *net)
{
    myr_json_object(json, "shape");
    myr_json_u64(json, "leaf_down", net->leaf_down);
    myr_json_u64(json, "leaf_up", net->leaf_up);
    myr_json_u64(json, "spine_down", net->spine_down);
    myr_json_u64(json, "spine_up", net->spine_up);
    myr_json_u64(json, "pods", net->pods);
    myr_json_u64(json, "pod_leaves", net->pod_leaves);
    myr_json_u64(json, "pod_spines", net->pod_spines);
    myr_json_u64(json, "core_groups", net->core_groups);
    myr_json_u64(json, "group_cores", net->group_cores);
    if (has_groups(net)) {
        myr_json_u64(json, "groups", net->groups);
        myr_json_u64(json, "group_switches", net->group_switches);
        myr_json_u64(json, "hosts_per_switch", net->hosts_per_switch);
    }
    if (net->dim_count) {
        myr_json_list(json, "dims");
        for (uint32_t i = 0; i < net->dim_count; i++) {
            myr_json_u64(json, NULL, net->dims[i]);
        }
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_network(struct myr_json *json, const char *name, const struct myr_network *net)
{
    myr_json_object(json, name);
    myr_json_text(json, "topology", myr_topology_name((enum myr_topology)net->topology));
    myr_json_text(json, "fill", fill_names[net->fill]);
    myr_json_u64(json, "tiers", net->tiers);
    myr_json_u64(json, "planes", net->planes);
    myr_json_u64(json, "rails", net->rails);
    myr_json_u64(json, "nodes", net->nodes_on_it);
    myr_json_u64(json, "host_ports", net->host_ports);
    myr_json_u64(json, "host_gbps", net->host_gbps);
    myr_json_u64(json, "fabric_gbps", net->fabric_gbps);
    myr_json_object(json, "switches");
    myr_json_u64(json, "leaf", net->leaf);
    myr_json_u64(json, "spine", net->spine);
    myr_json_u64(json, "core", net->core);
    if (net->access) {
        myr_json_u64(json, "access", net->access);
        myr_json_u64(json, "aggregation", net->aggregation);
    }
    myr_json_u64(json, "total", switch_total(net));
    myr_json_end(json);
    put_layers(json, "cables", net->cables);
    put_layers(json, "links", net->links);
    myr_json_u64(json, "copper_cables", net->copper_cables);
    myr_json_list(json, "oversubscription");
    for (uint32_t i = 0; i + 1 < net->tiers; i++) {
        myr_json_double(json, NULL, net->oversubscription_milli[i] / 1000.0, 3);
    }
    myr_json_end(json);
    myr_json_u64(json, "bisection_gbps", net->bisection_gbps);
    myr_json_u64(json, "worst_pair_gbps", net->worst_pair_gbps);
    myr_json_u64(json, "full_pair_gbps", net->full_pair_gbps);
    myr_json_u64(json, "diameter_hops", net->diameter_hops);
    put_shape(json, net);
    myr_json_end(json);
}

static void put_bom(struct myr_json *json, const struct myr_design *design)
{
    myr_json_list(json, "bom");
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "system", myr_design_str(design, row->system));
        myr_json_text(json, "name", myr_design_str(design, row->name));
        myr_json_text(json, "part", myr_design_str(design, row->part));
        myr_json_u64(json, "quantity", row->quantity);
        put_cents(json, "unit_price", row->unit_cents);
        put_cents(json, "total", row->unit_cents < 0 ? -1 : row->total_cents);
        myr_json_text(json, "rule", myr_design_str(design, row->rule));
        myr_json_text(json, "inputs", myr_design_str(design, row->inputs));
        myr_json_text(json, "price_note", myr_design_str(design, row->price_note));
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_findings(struct myr_json *json, const struct myr_design *design)
{
    myr_json_list(json, "findings");
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "severity", severity_names[finding->severity]);
        myr_json_text(json, "rule", myr_design_str(design, finding->rule));
        myr_json_text(json, "where", myr_design_str(design, finding->where));
        myr_json_text(json, "message", myr_design_str(design, finding->message));
        myr_json_text(json, "remedy", myr_design_str(design, finding->remedy));
        myr_json_bool(json, "accepted", finding->accepted);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static double terabytes(uint32_t high, uint32_t low)
{
    return (double)((uint64_t)high << 32 | low) / 1000;
}

static void put_storage(struct myr_json *json, const struct myr_design_head *head)
{
    if (!head->storage_servers) {
        return;
    }
    myr_json_object(json, "storage");
    myr_json_u64(json, "servers", head->storage_servers);
    myr_json_double(json, "raw_tb", terabytes(head->storage_raw_gb_high, head->storage_raw_gb_low),
                    3);
    myr_json_double(json, "usable_tb",
                    terabytes(head->storage_usable_gb_high, head->storage_usable_gb_low), 3);
    myr_json_end(json);
}

void myr_plan_json(const struct myr_design *design, struct myr_buf *buf)
{
    const struct myr_design_head *head = design->head;
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "name", myr_design_str(design, head->name));
    myr_json_u64(&json, "servers", head->servers);
    myr_json_u64(&json, "nodes", head->nodes);
    myr_json_u64(&json, "gpus", head->gpus);
    myr_json_text(&json, "server", myr_design_str(design, head->server_part));
    myr_json_u64(&json, "scale_up_gpus", head->scale_up_gpus);
    myr_json_object(&json, "networks");
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (design->networks[id].topology) {
            put_network(&json, myr_net_names[id], &design->networks[id]);
        }
    }
    myr_json_end(&json);
    put_storage(&json, head);
    put_bom(&json, design);
    myr_json_object(&json, "totals");
    put_cents(&json, "cost", head->total_cents);
    myr_json_text(&json, "currency", myr_design_str(design, head->currency));
    myr_json_u64(&json, "devices", design->device_count);
    myr_json_u64(&json, "ports", design->port_count);
    myr_json_u64(&json, "links", design->link_count);
    myr_json_u64(&json, "cables", design->cable_count);
    myr_json_double(&json, "bytes_per_cable", myr_design_bytes_per_cable(design), 1);
    myr_json_end(&json);
    put_findings(&json, design);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void money(int64_t cents, char *ret)
{
    if (cents < 0) {
        memcpy(ret, "-", 2);
        return;
    }
    myr_u64_grouped((uint64_t)cents / 100, ret);
    if (cents % 100) {
        size_t len = strlen(ret);
        snprintf(ret + len, 8, ".%02d", (int)(cents % 100));
    }
}

static void summary_networks(const struct myr_design *design, struct myr_buf *buf)
{
    static const struct myr_column columns[] = {
        {"network", "NETWORK", 0},
        {"topology", "TOPOLOGY", 0},
        {"tiers", "TIERS", MYR_COLUMN_NUMBER},
        {"planes", "PLANES", MYR_COLUMN_NUMBER},
        {"leaf", "LEAF", MYR_COLUMN_NUMBER},
        {"spine", "SPINE", MYR_COLUMN_NUMBER},
        {"core", "CORE", MYR_COLUMN_NUMBER},
        {"host_ports", "HOST PORTS", MYR_COLUMN_NUMBER},
        {"cables", "CABLES", MYR_COLUMN_NUMBER},
        {"oversubscription", "OVERSUBSCRIPTION", 0},
        {"bisection", "BISECTION Gb/s", MYR_COLUMN_NUMBER},
    };
    struct myr_arena arena;
    struct myr_table table;
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        if (!net->topology) {
            continue;
        }
        myr_table_text(&table, myr_net_names[id]);
        myr_table_text(&table, myr_topology_name((enum myr_topology)net->topology));
        myr_table_u64(&table, net->tiers);
        myr_table_u64(&table, net->planes);
        myr_table_u64(&table, net->access ? net->access : net->leaf);
        myr_table_u64(&table, net->access ? net->aggregation : net->spine);
        myr_table_u64(&table, net->core);
        myr_table_u64(&table, net->host_ports);
        myr_table_u64(&table, cable_total(net));
        char ratio[64] = "1:1";
        int at = 0;
        for (uint32_t i = 0; i + 1 < net->tiers; i++) {
            at += snprintf(ratio + at, sizeof(ratio) - (size_t)at, "%s%g:1", i ? ", " : "",
                           net->oversubscription_milli[i] / 1000.0);
        }
        myr_table_text(&table, myr_arena_strndup(&arena, ratio, strlen(ratio)));
        myr_table_u64(&table, net->bisection_gbps);
    }
    myr_table_write(&table, MYR_FORMAT_TABLE, buf);
    myr_table_done(&table);
    myr_arena_done(&arena);
}

void myr_plan_bom(const struct myr_design *design, enum myr_format format, struct myr_buf *buf)
{
    static const struct myr_column columns[] = {
        {"system", "SYSTEM", 0},
        {"name", "NAME", 0},
        {"part", "PART", 0},
        {"quantity", "QUANTITY", MYR_COLUMN_NUMBER},
        {"unit_price", "UNIT PRICE", MYR_COLUMN_NUMBER},
        {"total", "TOTAL", MYR_COLUMN_NUMBER},
        {"rule", "RULE", MYR_COLUMN_WIDE},
        {"inputs", "INPUTS", MYR_COLUMN_WIDE},
        {"price_note", "PRICE NOTE", MYR_COLUMN_WIDE},
    };
    struct myr_arena arena;
    struct myr_table table;
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        myr_table_text(&table, myr_design_str(design, row->system));
        myr_table_text(&table, myr_design_str(design, row->name));
        myr_table_text(&table, myr_design_str(design, row->part));
        myr_table_u64(&table, row->quantity);
        if (row->unit_cents < 0) {
            myr_table_text(&table, NULL);
            myr_table_text(&table, NULL);
        } else {
            int digits = row->unit_cents % 100 ? 2 : 0;
            myr_table_double(&table, (double)row->unit_cents / 100, digits);
            myr_table_double(&table, (double)row->total_cents / 100, digits);
        }
        myr_table_text(&table, myr_design_str(design, row->rule));
        myr_table_text(&table, myr_design_str(design, row->inputs));
        myr_table_text(&table, myr_design_str(design, row->price_note));
    }
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
    myr_arena_done(&arena);
}

/* Many parts may be unpriced: one line names them all. */
static void unpriced_line(const struct myr_design *design, struct myr_buf *buf)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        if (strcmp(myr_design_str(design, finding->rule), "unpriced") == 0) {
            myr_buf_printf(buf, "%s%s",
                           count ? ", " : "info: not in the total, no price [unpriced]: ",
                           myr_design_str(design, finding->where));
            count++;
        }
    }
    if (count) {
        myr_buf_putc(buf, '\n');
    }
}

void myr_plan_findings(const struct myr_design *design, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < design->finding_count; i++) {
        const struct myr_finding *finding = &design->findings[i];
        if (strcmp(myr_design_str(design, finding->rule), "unpriced") == 0) {
            continue;
        }
        /* What the user knows already is no more than a warning. */
        const char *severity = finding->accepted && finding->severity == MYR_SEVERITY_ERROR
                                   ? "warning (accepted)"
                                   : severity_names[finding->severity];
        myr_buf_printf(buf, "%s: %s [%s]: %s\n", severity, myr_design_str(design, finding->where),
                       myr_design_str(design, finding->rule),
                       myr_design_str(design, finding->message));
        if (finding->severity == MYR_SEVERITY_ERROR && !finding->accepted) {
            myr_buf_printf(buf, "  remedy: %s\n", myr_design_str(design, finding->remedy));
        }
    }
    unpriced_line(design, buf);
}

void myr_plan_summary(const struct myr_design *design, struct myr_buf *buf)
{
    const struct myr_design_head *head = design->head;
    char text[3][40];
    myr_buf_printf(buf, "%s: %s servers (%s), %s GPUs\n", myr_design_str(design, head->name),
                   myr_u64_grouped(head->servers, text[0]),
                   myr_design_str(design, head->server_part), myr_u64_grouped(head->gpus, text[1]));
    if (head->storage_servers) {
        myr_buf_printf(buf, "storage: %u servers, %.2f TB raw, %.2f TB usable\n",
                       head->storage_servers,
                       terabytes(head->storage_raw_gb_high, head->storage_raw_gb_low),
                       terabytes(head->storage_usable_gb_high, head->storage_usable_gb_low));
    }
    myr_buf_putc(buf, '\n');
    summary_networks(design, buf);
    myr_buf_putc(buf, '\n');
    myr_plan_bom(design, MYR_FORMAT_TABLE, buf);
    uint32_t unpriced = 0;
    for (uint32_t i = 0; i < design->bom_count; i++) {
        unpriced += design->bom[i].unit_cents < 0;
    }
    money(head->total_cents, text[2]);
    if (unpriced == design->bom_count) {
        myr_buf_put_lit(buf, "\ntotal unknown: give 'prices: BOOK' for a price book");
    } else {
        myr_buf_printf(buf, "\ntotal %s %s", text[2], myr_design_str(design, head->currency));
    }
    if (unpriced && unpriced < design->bom_count) {
        myr_buf_printf(buf, ", without %u unpriced line%s", unpriced, unpriced == 1 ? "" : "s");
    }
    myr_buf_putc(buf, '\n');
}

void myr_plan_explain(const struct myr_design *design, struct myr_buf *buf)
{
    char text[40];
    for (uint32_t i = 0; i < design->bom_count; i++) {
        const struct myr_bom_row *row = &design->bom[i];
        myr_buf_printf(buf, "%s, %s, %s: %s\n", myr_design_str(design, row->system),
                       myr_design_str(design, row->name), myr_design_str(design, row->part),
                       myr_u64_grouped(row->quantity, text));
        myr_buf_printf(buf, "    rule    %s\n", myr_design_str(design, row->rule));
        myr_buf_printf(buf, "    inputs  %s\n", myr_design_str(design, row->inputs));
        money(row->unit_cents, text);
        const char *note = myr_design_str(design, row->price_note);
        myr_buf_printf(buf, "    price   %s%s%s\n", text, note[0] ? "; " : "", note);
    }
}

void myr_plan_yaml(const struct myr_design *design, struct myr_buf *buf)
{
    /* The same document: what JSON says, in YAML's form. */
    struct myr_buf json = {0};
    struct myr_arena arena;
    const struct myr_doc *doc;
    myr_arena_init(&arena);
    myr_plan_json(design, &json);
    int r = myr_doc_read_json(&arena, "plan", (struct myr_str){json.data, json.len}, &doc, NULL);
    MYR_ASSERT(r == MYR_OK);
    myr_doc_write_yaml(doc, buf);
    myr_arena_done(&arena);
    myr_buf_done(&json);
}
