/*
 * route degraded: the bandwidth that is left without what is dead. Of the fabric itself, without
 * flows: what any traffic could have at most.
 */
#include "route/fabric.h"

struct options {
    struct cli_fabric fabric;
};

static const struct options defaults;

static const struct myr_option rows[] = {CLI_FABRIC_ROWS(struct options)};

const struct myr_command cli_route_degraded_command = {
    .name = "route degraded",
    .operands = "DESIGN",
    .summary = "bandwidth that is left without what --dead names",
    .details = "Bisection, the two host switches that are worst connected, and every rail, beside "
               "what the whole fabric has.",
    .example = "myriad route degraded out/h100-10k/design.myr --dead spine/p0-3,link/00000123",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
};

/* Not 'exact': what is told is at most what is left between the two. */
static void put_pair(struct myr_answer *answer, const struct myr_degraded_answer *degraded)
{
    myr_answer_object(answer, "worst_pair");
    myr_answer_text(answer, "a", degraded->worst_a);
    myr_answer_text(answer, "b", degraded->worst_b);
    myr_answer_u64(answer, "gbps", degraded->left.worst_pair_gbps);
    myr_answer_u64(answer, "full_gbps", degraded->worst_full_gbps);
    myr_answer_bool(answer, "exact", degraded->left.worst_exact);
    myr_answer_end(answer);
}

/* A fabric without rails has one entry, which stands for all leaf uplinks. */
static void put_rails(struct myr_answer *answer, const struct myr_degraded_answer *degraded)
{
    myr_answer_list(answer, "rails");
    for (uint32_t rail = 0; rail < degraded->rail_count; rail++) {
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "rail", rail);
        myr_answer_u64(answer, "gbps", degraded->rails[rail].gbps);
        myr_answer_u64(answer, "full_gbps", degraded->rails[rail].full_gbps);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

static void put_row(struct myr_answer *answer, const char *item, const char *where,
                    struct myr_rail_bandwidth of)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "item", item);
    myr_answer_text(answer, "where", where);
    myr_answer_u64(answer, "gbps", of.gbps);
    myr_answer_u64(answer, "full_gbps", of.full_gbps);
    myr_answer_double(answer, "share", myr_degraded_share(of), 4);
    myr_answer_end(answer);
}

/* The same figures once more as rows, for the table and for CSV. */
static struct myr_value *put_rows(struct cli *cli, const struct myr_degraded_answer *degraded)
{
    const struct myr_degraded *left = &degraded->left;
    struct myr_arena *arena = &cli->arena;
    struct myr_value *list = myr_answer_list(&cli->answer, "rows");
    bool rails = degraded->rail_count > 1;
    put_row(&cli->answer, "bisection", NULL,
            (struct myr_rail_bandwidth){left->bisection_gbps, left->bisection_full_gbps});
    if (degraded->worst_a) {
        put_row(&cli->answer, left->worst_exact ? "worst pair" : "worst pair, at most",
                myr_arena_printf(arena, "%s %s", degraded->worst_a, degraded->worst_b),
                (struct myr_rail_bandwidth){left->worst_pair_gbps, degraded->worst_full_gbps});
    }
    for (uint32_t rail = 0; rail < degraded->rail_count; rail++) {
        put_row(&cli->answer, rails ? "rail" : "leaf uplinks",
                rails ? myr_arena_printf(arena, "%u", rail) : NULL, degraded->rails[rail]);
    }
    myr_answer_end(&cli->answer);
    return list;
}

static int run(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("item", "ITEM", 0),
        MYR_COLUMN("where", "WHERE", 0),
        MYR_COLUMN("gbps", "LEFT Gb/s", MYR_COLUMN_NUMBER),
        MYR_COLUMN("full_gbps", "PLANNED Gb/s", MYR_COLUMN_NUMBER),
        {"share", "SHARE", MYR_COLUMN_NUMBER, 4},
    };
    MYR_CLEANUP(myr_fabric_close) struct myr_fabric_case fabric = {};
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    struct myr_degraded_answer degraded;
    MYR_TRY(cli_fabric_open(cli, &options->fabric, false, &fabric, err));
    myr_degraded_answer(&fabric, &degraded);
    myr_answer_u64(answer, "dead_links", degraded.left.dead_links);
    myr_answer_u64(answer, "hosts_cut", degraded.left.hosts_cut);
    myr_answer_u64(answer, "bisection_gbps", degraded.left.bisection_gbps);
    myr_answer_u64(answer, "bisection_full_gbps", degraded.left.bisection_full_gbps);
    put_pair(answer, &degraded);
    put_rails(answer, &degraded);
    struct myr_value *list = put_rows(cli, &degraded);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, list);
    myr_answer_para(answer, "Dead links: %s, host ports cut off: %s.",
                    MYR_GROUPED(degraded.left.dead_links), MYR_GROUPED(degraded.left.hosts_cut));
    /* With nothing dead left and planned are the same: the next question is with something. */
    if (degraded.left.dead_links == 0) {
        const struct myr_network *net = fabric.graph.net;
        uint32_t device = net->spine ? net->first_spine : fabric.graph.first_switch;
        myr_answer_next(answer, "to see what is left without a switch", "%s --dead %s",
                        cli_again(cli, cli->command, "dead"),
                        myr_name_device(&cli->arena, &fabric.design, device));
    }
    return MYR_OK;
}

const struct cli_verb cli_route_degraded_verb = {.row = &cli_route_degraded_command, .run = run};
