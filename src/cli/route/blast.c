/*
 * route blast: what devices and domains take along when they die. Other than in failover, whole
 * domains may die at once, with the nodes in them.
 */
#include "route/fabric.h"

/* 'of' names what dies; flows are counted where there are any. */
struct options {
    const char *of;
    struct cli_fabric fabric;
    struct cli_balance balance;
};

static const struct options defaults = {.fabric = {.axis = "dp"},
                                        .balance = {.policy = MYR_POLICY_PLANNED}};

static const struct myr_option rows[] = {
    CLI_TEXT("of", "LIST", struct options, of,
             "devices or domains that die: leaf/p0-g0-r0,pod/3,rail-group/7,scale-up/12"),
    CLI_FABRIC_ROWS(struct options),
    CLI_FLOW_ROWS(struct options),
    CLI_BALANCE_ROWS(struct options),
};

static const struct myr_option_rule rules[] = {
    CLI_FLOW_RULES,
};

const struct myr_command cli_route_blast_command = {
    .name = "route blast",
    .operands = "DESIGN",
    .summary = "what devices or domains take along when they die",
    .details = "Nodes that die with them, nodes cut off or weakened, GPUs lost, and what is left "
               "of the bisection; each name of --of is a row. Flows are optional.",
    .example = "myriad route blast out/h100-10k/design.myr --of rail-group/1,leaf/p0-g0-r0",
    CLI_OPTIONS(rows, defaults),
    CLI_RULES(rules),
    .operand_max = 1,
};

/* 'flows' false: none were given, and how many it takes along is not known rather than 0. */
static void put_row(struct myr_answer *answer, const struct myr_blast_row *row, bool flows)
{
    const struct myr_blast *blast = &row->blast;
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "what", row->what);
    myr_answer_u64(answer, "devices", blast->devices);
    myr_answer_u64(answer, "hosts_cut", blast->hosts_cut);
    myr_answer_u64(answer, "nodes_dead", blast->nodes_dead);
    myr_answer_u64(answer, "nodes_cut", blast->nodes_cut);
    myr_answer_u64(answer, "nodes_weakened", blast->nodes_weakened);
    myr_answer_u64(answer, "gpus_lost", blast->gpus_lost);
    myr_answer_double(answer, "bisection_left", row->bisection_left, 4);
    myr_answer_u64(answer, "worst_pair_gbps", blast->left.worst_pair_gbps);
    if (flows) {
        myr_answer_u64(answer, "flows_affected", blast->flows_affected);
    } else {
        myr_answer_null(answer, "flows_affected");
    }
    myr_answer_end(answer);
}

/* Routes are needed only to count flows; 'fabric' is the caller's to close in any case. */
static int find(struct cli *cli, struct myr_fabric_case *fabric, struct myr_blast_rows *ret,
                struct myr_err *err)
{
    MYR_CLEANUP(myr_routes_done) struct myr_routes routes = {};
    const struct options *options = cli->options;
    struct myr_balance_options balance = cli_fabric_balance(&options->balance);
    if (!options->of) {
        int rc = myr_err_set(err, MYR_EINVAL, "give --of LIST: what dies");
        myr_err_hint(err, "%s --of leaf/p0-g0-r0", cli_again(cli, cli->command, NULL));
        return rc;
    }
    MYR_TRY(cli_fabric_open(cli, &options->fabric, false, fabric, err));
    MYR_TRY(myr_repair_routes(fabric, &balance, &routes, err));
    return myr_blast_list(fabric, options->of, fabric->flows.items.count ? &routes : NULL, ret,
                          err);
}

static int run(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("what", "WHAT", 0),
        MYR_COLUMN("devices", "DEVICES", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("hosts_cut", "PORTS CUT", MYR_COLUMN_NUMBER),
        MYR_COLUMN("nodes_dead", "DEAD", MYR_COLUMN_NUMBER),
        MYR_COLUMN("nodes_cut", "CUT", MYR_COLUMN_NUMBER),
        MYR_COLUMN("nodes_weakened", "WEAKENED", MYR_COLUMN_NUMBER),
        MYR_COLUMN("gpus_lost", "GPUS LOST", MYR_COLUMN_NUMBER),
        {"bisection_left", "BISECTION", MYR_COLUMN_NUMBER, 4},
        MYR_COLUMN("worst_pair_gbps", "WORST PAIR Gb/s", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("flows_affected", "FLOWS", MYR_COLUMN_NUMBER),
    };
    MYR_CLEANUP(myr_fabric_close) struct myr_fabric_case fabric = {};
    struct myr_answer *answer = &cli->answer;
    struct myr_blast_rows found = {};
    MYR_TRY(find(cli, &fabric, &found, err));
    myr_answer_u64(answer, "flows", fabric.flows.items.count);
    struct myr_value *list = myr_answer_list(answer, "rows");
    for (size_t i = 0; i < found.count; i++) {
        put_row(answer, &found.items[i], fabric.flows.items.count > 0);
    }
    myr_answer_end(answer);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, list);
    myr_answer_para(answer, "Nodes are DEAD with it, CUT off from this network, or WEAKENED by the "
                            "loss of some of their ports; BISECTION is the part that is left.");
    return MYR_OK;
}

const struct cli_verb cli_route_blast_verb = {.row = &cli_route_blast_command, .run = run};
