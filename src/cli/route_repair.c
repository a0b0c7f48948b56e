#include "route_repair.h"

bool repair_wanted(const struct repair_args *args)
{
    return args->failover || args->link || args->device || args->degraded || args->blast;
}

static const struct myr_column failover_columns[] = {
    {"what", "WHAT", 0},
    {"kind", "KIND", 0},
    {"between", "BETWEEN", 0},
    {"alike", "ALIKE", MYR_COLUMN_NUMBER},
    {"local_choices", "LOCAL CHOICES", MYR_COLUMN_NUMBER},
    {"remote_switches", "REMOTE SWITCHES", MYR_COLUMN_NUMBER},
    {"bandwidth_left", "BANDWIDTH LEFT", MYR_COLUMN_NUMBER},
    {"hosts_cut", "HOSTS CUT", MYR_COLUMN_NUMBER},
    {"flows_affected", "FLOWS AFFECTED", MYR_COLUMN_NUMBER},
};

static int failover_report(struct myr_fabric_case *input, const struct repair_args *args,
                           const struct myr_routes *routes, enum myr_format format,
                           struct myr_buf *buf, struct myr_err *err)
{
    struct myr_failover_question question = {args->link, args->device,
                                             args->all || format == MYR_FORMAT_CSV};
    struct myr_failover_rows rows;
    struct myr_table table;
    int rc = myr_failover_list(input, &question, routes, &rows, err);
    if (rc < 0) {
        return rc;
    }
    myr_table_init(&table, &input->arena, failover_columns, MYR_ARRAY_COUNT(failover_columns));
    for (size_t i = 0; i < rows.count; i++) {
        const struct myr_failover_row *row = &rows.items[i];
        myr_table_text(&table, row->what);
        myr_table_text(&table, row->kind);
        myr_table_text(&table, row->between);
        myr_table_u64(&table, row->alike);
        myr_table_u64(&table, row->failover.local_choices);
        myr_table_u64(&table, row->failover.remote_switches);
        myr_table_double(&table, row->failover.bandwidth_left, 4);
        myr_table_u64(&table, row->failover.hosts_cut);
        if (routes) {
            myr_table_u64(&table, row->failover.flows_affected);
        } else {
            myr_table_text(&table, NULL);
        }
    }
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
    return MYR_OK;
}

static const struct myr_column degraded_columns[] = {
    {"item", "ITEM", 0},
    {"where", "WHERE", 0},
    {"gbps", "GB/S", MYR_COLUMN_NUMBER},
    {"full_gbps", "PLANNED", MYR_COLUMN_NUMBER},
    {"share", "SHARE", MYR_COLUMN_NUMBER},
};

static void put_gbps(struct myr_table *table, const char *item, const char *where, uint64_t gbps,
                     uint64_t full)
{
    myr_table_text(table, item);
    myr_table_text(table, where);
    myr_table_u64(table, gbps);
    myr_table_u64(table, full);
    myr_table_double(table, full ? (double)gbps / (double)full : 0, 4);
}

static void degraded_json(const struct myr_degraded_answer *answer, struct myr_json *json)
{
    const struct myr_degraded *left = &answer->left;
    myr_json_u64(json, "dead_links", left->dead_links);
    myr_json_u64(json, "hosts_cut", left->hosts_cut);
    myr_json_u64(json, "bisection_gbps", left->bisection_gbps);
    myr_json_u64(json, "bisection_full_gbps", left->bisection_full_gbps);
    myr_json_object(json, "worst_pair");
    myr_json_text(json, "a", answer->worst_a);
    myr_json_text(json, "b", answer->worst_b);
    myr_json_u64(json, "gbps", left->worst_pair_gbps);
    myr_json_u64(json, "full_gbps", answer->worst_full_gbps);
    myr_json_bool(json, "exact", left->worst_exact);
    myr_json_end(json);
    myr_json_list(json, "rails");
    for (uint32_t rail = 0; rail < answer->rail_count; rail++) {
        myr_json_object(json, NULL);
        myr_json_u64(json, "rail", rail);
        myr_json_u64(json, "gbps", answer->rails[rail].gbps);
        myr_json_u64(json, "full_gbps", answer->rails[rail].full_gbps);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void degraded_rows(struct myr_arena *arena, const struct myr_degraded_answer *answer,
                          struct myr_table *table)
{
    const struct myr_degraded *left = &answer->left;
    uint32_t rails = answer->rail_count;
    put_gbps(table, "bisection", NULL, left->bisection_gbps, left->bisection_full_gbps);
    if (answer->worst_a) {
        put_gbps(table, left->worst_exact ? "worst pair" : "worst pair, at most",
                 myr_arena_printf(arena, "%s %s", answer->worst_a, answer->worst_b),
                 left->worst_pair_gbps, answer->worst_full_gbps);
    }
    for (uint32_t rail = 0; rail < rails; rail++) {
        put_gbps(table, rails > 1 ? "rail" : "leaf uplinks",
                 rails > 1 ? myr_arena_printf(arena, "%u", rail) : NULL, answer->rails[rail].gbps,
                 answer->rails[rail].full_gbps);
    }
}

static void degraded_report(struct myr_fabric_case *input, enum myr_format format,
                            struct myr_buf *buf)
{
    struct myr_degraded_answer answer;
    myr_degraded_answer(input, &answer);
    if (format == MYR_FORMAT_JSON) {
        struct myr_json json;
        myr_json_init(&json, buf, MYR_JSON_PRETTY);
        myr_json_object(&json, NULL);
        degraded_json(&answer, &json);
        myr_json_end(&json);
        myr_buf_putc(buf, '\n');
        return;
    }
    struct myr_table table;
    myr_table_init(&table, &input->arena, degraded_columns, MYR_ARRAY_COUNT(degraded_columns));
    degraded_rows(&input->arena, &answer, &table);
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
    if (format == MYR_FORMAT_TABLE || format == MYR_FORMAT_WIDE) {
        myr_buf_printf(buf, "\n%u links dead, %u host ports cut off\n", answer.left.dead_links,
                       answer.left.hosts_cut);
    }
}

static const struct myr_column blast_columns[] = {
    {"what", "WHAT", 0},
    {"devices", "DEVICES", MYR_COLUMN_NUMBER},
    {"hosts_cut", "HOST PORTS CUT", MYR_COLUMN_NUMBER},
    {"nodes_dead", "NODES DEAD", MYR_COLUMN_NUMBER},
    {"nodes_cut", "NODES CUT", MYR_COLUMN_NUMBER},
    {"nodes_weakened", "NODES WEAKENED", MYR_COLUMN_NUMBER},
    {"gpus_lost", "GPUS LOST", MYR_COLUMN_NUMBER},
    {"bisection_left", "BISECTION LEFT", MYR_COLUMN_NUMBER},
    {"worst_pair_gbps", "WORST PAIR GB/S", MYR_COLUMN_NUMBER},
    {"flows_affected", "FLOWS AFFECTED", MYR_COLUMN_NUMBER},
};

static int blast_report(struct myr_fabric_case *input, const char *names,
                        const struct myr_routes *routes, enum myr_format format,
                        struct myr_buf *buf, struct myr_err *err)
{
    struct myr_blast_rows rows;
    struct myr_table table;
    int rc = myr_blast_list(input, names, routes, &rows, err);
    if (rc < 0) {
        return rc;
    }
    myr_table_init(&table, &input->arena, blast_columns, MYR_ARRAY_COUNT(blast_columns));
    for (size_t i = 0; i < rows.count; i++) {
        const struct myr_blast *blast = &rows.items[i].blast;
        myr_table_text(&table, rows.items[i].what);
        myr_table_u64(&table, blast->devices);
        myr_table_u64(&table, blast->hosts_cut);
        myr_table_u64(&table, blast->nodes_dead);
        myr_table_u64(&table, blast->nodes_cut);
        myr_table_u64(&table, blast->nodes_weakened);
        myr_table_u64(&table, blast->gpus_lost);
        myr_table_double(&table, rows.items[i].bisection_left, 4);
        myr_table_u64(&table, blast->left.worst_pair_gbps);
        if (routes) {
            myr_table_u64(&table, blast->flows_affected);
        } else {
            myr_table_text(&table, NULL);
        }
    }
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
    return MYR_OK;
}

int repair_report(struct myr_fabric_case *input, const struct repair_args *args,
                  const struct myr_balance_options *balance, enum myr_format format,
                  struct myr_buf *buf, struct myr_err *err)
{
    MYR_CLEANUP(myr_routes_done) struct myr_routes routes = {0};
    const struct myr_routes *known = input->flows.items.count ? &routes : NULL;
    bool failover = args->failover || args->link || args->device;
    if (failover + args->degraded + (args->blast != NULL) > 1) {
        return myr_err_set(err, MYR_EINVAL,
                           "--failover, --degraded and --blast are three questions: ask one");
    }
    if (args->degraded) {
        degraded_report(input, format, buf);
        return MYR_OK;
    }
    int rc = myr_repair_routes(input, balance, &routes, err);
    if (rc < 0) {
        return rc;
    }
    return args->blast ? blast_report(input, args->blast, known, format, buf, err)
                       : failover_report(input, args, known, format, buf, err);
}
