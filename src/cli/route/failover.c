/*
 * route failover: what happens when a link or a device dies. Each row is one thing that dies alone,
 * on the fabric without what --dead names.
 */
#include "route/fabric.h"

struct options {
    bool all;
    const char *link, *device;
    struct cli_fabric fabric;
    struct cli_balance balance;
};

static const struct options defaults = {.fabric = {.axis = "dp"},
                                        .balance = {.policy = MYR_POLICY_PLANNED}};

static const struct myr_option rows[] = {
    CLI_TEXT("link", "LINK", struct options, link, "only this link"),
    CLI_TEXT("device", "DEVICE", struct options, device, "only this device"),
    CLI_FLAG("all", struct options, all, "every link and switch, not one of each kind"),
    CLI_FABRIC_ROWS(struct options),
    CLI_FLOW_ROWS(struct options),
    CLI_BALANCE_ROWS(struct options),
};

static const struct myr_option_rule rules[] = {
    {"all", .against = "link device"},
    CLI_FLOW_RULES,
};

const struct myr_command cli_route_failover_command = {
    .name = "route failover",
    .operands = "DESIGN",
    .summary = "what happens when a link or a device dies",
    .details = "Of every kind of link and switch one, or the one that is named, or with --all "
               "every one: other choices of the switch beside it, switches that must change "
               "their mind, bandwidth that is left, hosts cut off. With flows (--flows, "
               "--permutation, --layout) also how many of them it takes along.",
    .example = "myriad route failover out/h100-10k/design.myr --device spine/p0-3",
    CLI_OPTIONS(rows, defaults),
    CLI_RULES(rules),
    .operand_max = 1,
};

/* 'flows' false: none were given, and how many it takes along is not known rather than 0. */
static void put_row(struct myr_answer *answer, const struct myr_failover_row *row, bool flows)
{
    const struct myr_failover *failover = &row->failover;
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "what", row->what);
    myr_answer_text(answer, "kind", row->kind);
    myr_answer_text(answer, "between", row->between);
    myr_answer_u64(answer, "alike", row->alike);
    myr_answer_u64(answer, "local_choices", failover->local_choices);
    myr_answer_u64(answer, "remote_switches", failover->remote_switches);
    myr_answer_double(answer, "bandwidth_left", failover->bandwidth_left, 4);
    myr_answer_u64(answer, "hosts_cut", failover->hosts_cut);
    if (flows) {
        myr_answer_u64(answer, "flows_affected", failover->flows_affected);
    } else {
        myr_answer_null(answer, "flows_affected");
    }
    myr_answer_end(answer);
}

/* By kind where nothing was named: of thousands of links those that are alike fare alike. */
static void put_answer(struct cli *cli, const struct myr_fabric_case *fabric,
                       const struct myr_failover_rows *found)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("what", "WHAT", 0),
        MYR_COLUMN("kind", "KIND", 0),
        MYR_COLUMN("between", "BETWEEN", MYR_COLUMN_WIDE),
        MYR_COLUMN("alike", "ALIKE", MYR_COLUMN_NUMBER),
        MYR_COLUMN("local_choices", "CHOICES", MYR_COLUMN_NUMBER),
        MYR_COLUMN("remote_switches", "REMOTE", MYR_COLUMN_NUMBER),
        {"bandwidth_left", "LEFT", MYR_COLUMN_NUMBER, 4},
        MYR_COLUMN("hosts_cut", "HOSTS CUT", MYR_COLUMN_NUMBER),
        MYR_COLUMN("flows_affected", "FLOWS", MYR_COLUMN_NUMBER),
    };
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    bool flows = fabric->flows.items.count > 0;
    bool kinds = !options->all && !options->link && !options->device;
    myr_answer_u64(answer, "flows", fabric->flows.items.count);
    myr_answer_u64(answer, "dead_links", fabric->dead_count);
    struct myr_value *list = myr_answer_list(answer, "rows");
    for (size_t i = 0; i < found->count; i++) {
        put_row(answer, &found->items[i], flows);
    }
    myr_answer_end(answer);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, list);
    myr_answer_para(answer,
                    "CHOICES are other links of the switch beside it; REMOTE switches must stop "
                    "offering ways that end there; LEFT is the part of the bandwidth upwards "
                    "that remains.%s",
                    kinds ? " One of each kind is shown, ALIKE says how many there are." : "");
    if (!flows) {
        myr_answer_next(answer, "to count flows", "%s --permutation 1",
                        cli_again(cli, cli->command, NULL));
    }
}

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_fabric_close) struct myr_fabric_case fabric = {};
    MYR_CLEANUP(myr_routes_done) struct myr_routes routes = {};
    const struct options *options = cli->options;
    struct myr_balance_options balance = cli_fabric_balance(&options->balance);
    struct myr_failover_question question = {options->link, options->device, options->all};
    struct myr_failover_rows found;
    MYR_TRY(cli_fabric_open(cli, &options->fabric, false, &fabric, err));
    /* Where flows go before anything dies: those that meet what dies are affected. */
    MYR_TRY(myr_repair_routes(&fabric, &balance, &routes, err));
    MYR_TRY(myr_failover_list(&fabric, &question, fabric.flows.items.count ? &routes : NULL, &found,
                              err));
    put_answer(cli, &fabric, &found);
    return MYR_OK;
}

const struct cli_verb cli_route_failover_verb = {.row = &cli_route_failover_command, .run = run};
