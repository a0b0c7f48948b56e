/*
 * route: the load of every link under each load-balance policy. Flows are the same for all
 * policies, so that the rows can be compared.
 */
#include "route/fabric.h"

/* The first choice stands for all of them; then the order of enum myr_policy. */
static const char *const choices[] = {"all",     "ecmp",  "ecmp-xor", "port",   "static",
                                      "flowlet", "spray", "adaptive", "planned"};

/* 'policy' 0 is all of them: the others are one above enum myr_policy. */
struct options {
    uint32_t policy;
    uint64_t seed;
    bool polarised;
    struct cli_fabric fabric;
};

static const struct options defaults = {.fabric = {.axis = "dp"}};

static const struct myr_option rows[] = {
    CLI_CHOICE("policy", "POLICY", struct options, policy, choices,
               "load-balance policy; all of them side by side when absent"),
    CLI_FABRIC_ROWS(struct options),
    CLI_FLOW_ROWS(struct options),
    CLI_COUNT("seed", struct options, seed, 0, 0, "of the hashes"),
    CLI_FLAG("polarised", struct options, polarised, "every switch hashes with the same seed"),
};

static const struct myr_command *const subcommands[] = {
    &cli_route_failover_command, &cli_route_degraded_command, &cli_route_blast_command,
    &cli_route_tables_command,   &cli_route_apply_command,    &cli_route_found_command,
};

static const struct myr_command command = {
    .name = "route",
    .operands = "DESIGN",
    .summary = "load of every link under a load-balance policy, and failover",
    .details =
        "Puts flows on paths and reports the maximum and mean load of the links between switches "
        "(1 is line rate), the share of the ideal throughput that max-min fair rates reach, and "
        "what no routing can beat: a lower bound of the maximum load, an upper bound of the "
        "share. One of --flows, --permutation and --layout says which flows; without any the "
        "ring of all GPUs is taken.",
    .example = "myriad route out/h100-10k/design.myr --layout tp=8,pp=8 --axis dp",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

/* How far the fullest link is above what no routing can beat; rounding is no gap. */
static double gap_of(const struct myr_balance_report *report)
{
    double gap = report->max_load - report->bound;
    return gap > 1e-6 ? gap : 0;
}

/* The keys of put_single(), in its order. */
static void put_report(struct myr_answer *answer, const struct myr_balance_report *report)
{
    myr_answer_u64(answer, "unroutable", report->unroutable);
    myr_answer_double(answer, "max_link_load", report->max_load, 6);
    myr_answer_double(answer, "mean_link_load", report->mean_load, 6);
    myr_answer_double(answer, "share_of_ideal", report->share_of_ideal, 6);
    myr_answer_double(answer, "bound", report->bound, 6);
    myr_answer_double(answer, "gap", gap_of(report), 6);
    myr_answer_double(answer, "throughput_bound", report->throughput_bound, 6);
    myr_answer_u64(answer, "loaded_channels", report->loaded);
}

/* Of one policy its figures stand at the top, too; of several there is nothing to say there. */
static void put_single(struct myr_answer *answer, const char *policy,
                       const struct myr_balance_report *report)
{
    static const char *const keys[] = {"unroutable",       "max_link_load",  "mean_link_load",
                                       "share_of_ideal",   "bound",          "gap",
                                       "throughput_bound", "loaded_channels"};
    myr_answer_text(answer, "policy", policy);
    if (report) {
        put_report(answer, report);
        return;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        myr_answer_null(answer, keys[i]);
    }
}

static struct myr_value *put_policies(struct myr_answer *answer, uint32_t first, uint32_t count,
                                      const struct myr_balance_report *reports)
{
    struct myr_value *list = myr_answer_list(answer, "policies");
    for (uint32_t i = 0; i < count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "policy", myr_policy_names[first + i]);
        put_report(answer, &reports[i]);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/*
 * Flows are what decides here and there; where they are those of nobody's word, failover has none,
 * and nothing to say of how they are spread. Sprayed ones have no paths that it could count.
 */
static void hint_next(struct cli *cli)
{
    const struct options *options = cli->options;
    bool flows = cli_given(cli, "flows") || cli_given(cli, "layout") || cli_given(cli, "nodes") ||
                 cli_given(cli, "permutation");
    bool sprayed = options->policy == 1 + MYR_POLICY_SPRAY;
    myr_answer_next(&cli->answer, "for what a dead link costs", "%s",
                    cli_again(cli, cli_route_failover_verb.row,
                              !flows    ? "policy seed polarised axis pattern"
                              : sprayed ? "policy seed polarised"
                                        : NULL));
}

/* 'reports' has one entry for each policy that was asked for, from the first of them on. */
static void put_answer(struct cli *cli, const struct myr_fabric_case *fabric,
                       const struct myr_balance_report *reports)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("policy", "POLICY", 0),
        {"max_link_load", "MAX LOAD", MYR_COLUMN_NUMBER, 3},
        {"mean_link_load", "MEAN LOAD", MYR_COLUMN_NUMBER, 3},
        {"share_of_ideal", "SHARE", MYR_COLUMN_NUMBER, 3},
        {"bound", "LOAD BOUND", MYR_COLUMN_NUMBER, 3},
        {"throughput_bound", "SHARE BOUND", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("loaded_channels", "CHANNELS", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("unroutable", "UNROUTABLE", MYR_COLUMN_NUMBER),
    };
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    bool one = options->policy > 0;
    uint32_t first = one ? options->policy - 1 : 0;
    myr_answer_text(answer, "traffic", fabric->traffic);
    myr_answer_u64(answer, "flows", fabric->flows.items.count);
    myr_answer_u64(answer, "dead_links", fabric->dead_count);
    put_single(answer, one ? myr_policy_names[first] : NULL, one ? reports : NULL);
    struct myr_value *list = put_policies(answer, first, one ? 1 : MYR_POLICY_COUNT, reports);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, list);
    myr_answer_para(answer,
                    "%s (%s), dead links: %s. Loads are parts of line rate, on links "
                    "between switches; SHARE is what fair rates reach of the throughput that only "
                    "host ports limit.",
                    MYR_COUNT(fabric->flows.items.count, "flow"), fabric->traffic,
                    MYR_GROUPED(fabric->dead_count));
    /* Of all policies the planned one is the last: only of it a gap says something. */
    const struct myr_balance_report *last = &reports[one ? 0 : MYR_POLICY_COUNT - 1];
    if (gap_of(last) > 0 && (!one || first == MYR_POLICY_PLANNED)) {
        myr_answer_para(answer,
                        "The plan's fullest link is %.3f above the bound: either the plan or the "
                        "bound could be better.",
                        gap_of(last));
    }
    hint_next(cli);
}

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_fabric_close) struct myr_fabric_case fabric = {};
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    const struct options *options = cli->options;
    struct myr_balance_report reports[MYR_POLICY_COUNT] = {};
    uint32_t first = options->policy ? options->policy - 1 : 0;
    uint32_t count = options->policy ? 1 : MYR_POLICY_COUNT;
    cli_progress(&progress, "policies", count);
    int rc = cli_fabric_open(cli, &options->fabric, true, &fabric, err);
    /* One fabric for all: only the policy differs from report to report. */
    for (uint32_t i = 0; rc == MYR_OK && i < count; i++) {
        struct myr_balance_options balance = {(enum myr_policy)(first + i), options->seed,
                                              options->polarised};
        cli_progress_step(&progress, i);
        rc = myr_balance_report(&fabric.graph, &balance, fabric.flows.items.items,
                                fabric.flows.items.count, &reports[i], err);
    }
    if (rc < 0) {
        return rc;
    }
    put_answer(cli, &fabric, reports);
    return MYR_OK;
}

const struct cli_verb cli_route_verb = {&command, run, .group = CLI_PROVE_GROUP};
