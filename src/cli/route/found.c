/*
 * route found: flows over the fabric as it was found, and what to mend first. The design, what was
 * found, and flows come together here: verify says what is wrong, this what it costs.
 */
#include "myriad/site.h"
#include "route/fabric.h"

struct options {
    uint32_t from;
    bool equivalent, partial;
    const char *binding;
    struct myr_option_list speeds;
    struct cli_fabric fabric;
};

static const struct options defaults = {.fabric = {.axis = "dp"}};

static const struct myr_option rows[] = {
    {CLI_ROW("from", MYR_OPTION_CHOICE, "FORMAT", struct options, from,
             "what the files are; auto looks at how they begin"),
     .choices = myr_import_names, .choice_count = MYR_IMPORT_FORMAT_COUNT},
    CLI_FLAG("equivalent", struct options, equivalent,
             "parallel links, equal spines and equal cores may stand for each other"),
    CLI_FLAG("partial", struct options, partial,
             "the files tell about some cables only: what they do not list is as planned"),
    CLI_PATH("binding", "FILE", struct options, binding,
             "binding.yaml: which GUID, host or address is which device"),
    CLI_LIST("speed-map", "SPEED=GBPS", struct options, speeds,
             "what a link of four lanes stands for, such as HDR=400 with ibsim"),
    CLI_CHOICE("net", "NETWORK", struct options, fabric.net, myr_net_names, "which network"),
    CLI_FLOW_ROWS(struct options),
};

const struct myr_command cli_route_found_command = {
    .name = "route found",
    .operands = "DESIGN FILE...",
    .summary = "what miswiring costs the flows, and what to mend first",
    .details =
        "Puts the flows on the fabric as ibnetdiscover, LLDP, NetBox or a point-to-point list "
        "found it: over the shortest ways that are there, spread evenly. Beside it stands what the "
        "planned fabric gives, and the pieces of the repair by the bandwidth that each move wins. "
        "The exit status is 1 when flows get less than planned.",
    .example = "myriad route found design.myr fabric.txt --permutation 1",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 2,
    .operand_max = MYR_OPERANDS_MAX,
};

/* How many looks it takes is known only when the repair is. */
static void tell(void *context, uint32_t done, uint32_t total)
{
    struct myr_progress *progress = context;
    progress->total = total;
    cli_progress_step(progress, done);
}

/* Null: not looked at, which is something else than no gain. */
static void put_known(struct myr_answer *answer, const char *key, bool known, double value)
{
    if (known) {
        myr_answer_double(answer, key, value, 3);
    } else {
        myr_answer_null(answer, key);
    }
}

/* A piece is steps that belong together. One that was not looked at has no gain to tell. */
static void put_piece(struct cli *cli, const struct myr_verify *verify,
                      const struct myr_cost_piece *piece, uint32_t number)
{
    struct myr_answer *answer = &cli->answer;
    myr_answer_object(answer, NULL);
    myr_answer_u64(answer, "order", number);
    myr_answer_u64(answer, "moves", piece->moves);
    put_known(answer, "gain_gbps", piece->known, piece->gain_gbps);
    put_known(answer, "gain_gbps_per_move", piece->known, piece->gain_gbps / piece->moves);
    put_known(answer, "gbps_after", piece->known, piece->after.gbps);
    if (piece->known) {
        myr_answer_u64(answer, "lost_after", piece->after.lost);
    } else {
        myr_answer_null(answer, "lost_after");
    }
    myr_answer_list(answer, "steps");
    for (uint32_t i = 0; i < piece->moves; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        myr_verify_step_text(verify, &verify->repair.steps[piece->first_step + i], &text);
        myr_answer_text(answer, NULL, myr_arena_printf(&cli->arena, "%s", text.data));
    }
    myr_answer_end(answer);
    MYR_CLEANUP(myr_buf_done) struct myr_buf first = {};
    myr_verify_step_text(verify, &verify->repair.steps[piece->first_step], &first);
    myr_answer_text(answer, "first", myr_arena_printf(&cli->arena, "%s", first.data));
    myr_answer_end(answer);
}

/* Whole Gb/s: the answer itself has the rest. */
static void put_rate(struct myr_answer *answer, const char *name, const struct myr_cost_state *rate)
{
    myr_answer_fact(answer, name, "%s Gb/s, %s without a way",
                    MYR_GROUPED((uint64_t)(rate->gbps + 0.5)), MYR_COUNT(rate->lost, "flow"));
}

static void put_answer(struct cli *cli, const struct myr_fabric_case *fabric,
                       const struct myr_built *built, const struct myr_cost *cost)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("order", "NO", MYR_COLUMN_NUMBER),
        MYR_COLUMN("moves", "MOVES", MYR_COLUMN_NUMBER),
        {"gain_gbps_per_move", "GAIN A MOVE Gb/s", MYR_COLUMN_NUMBER, 1},
        {"gbps_after", "THEN Gb/s", MYR_COLUMN_NUMBER, 0},
        MYR_COLUMN("lost_after", "LOST", MYR_COLUMN_NUMBER),
        MYR_COLUMN("first", "FIRST STEP", 0),
    };
    struct myr_answer *answer = &cli->answer;
    myr_answer_text(answer, "traffic", fabric->traffic);
    myr_answer_u64(answer, "flows", fabric->flows.items.count);
    myr_answer_double(answer, "wanted_gbps", cost->wanted_gbps, 3);
    myr_answer_double(answer, "planned_gbps", cost->planned.gbps, 3);
    myr_answer_double(answer, "found_gbps", cost->found.gbps, 3);
    myr_answer_u64(answer, "planned_lost", cost->planned.lost);
    myr_answer_u64(answer, "found_lost", cost->found.lost);
    myr_answer_u64(answer, "not_looked_at", cost->piece_count - cost->known_count);
    struct myr_value *list = myr_answer_list(answer, "pieces");
    for (uint32_t i = 0; i < cost->piece_count; i++) {
        put_piece(cli, &built->verify, &cost->pieces[i], i + 1);
    }
    myr_answer_end(answer);
    myr_built_put(built, answer);
    myr_answer_fact(answer, "flows", "%s (%s)", MYR_GROUPED(fabric->flows.items.count),
                    fabric->traffic);
    put_rate(answer, "as planned", &cost->planned);
    put_rate(answer, "as found", &cost->found);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, list);
    myr_answer_para(answer, "Pieces of the repair, by what a move wins alone; THEN is with all "
                            "pieces above done.");
    if (cost->known_count < cost->piece_count) {
        myr_answer_para(answer, "%s not looked at, for there are too many: last, in walking order.",
                        MYR_COUNT(cost->piece_count - cost->known_count, "piece"));
    }
    myr_built_say(built, answer);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_built_question question = {.design = cli->operands.items[0],
                                          .files = cli->operands.items + 1,
                                          .file_count = cli->operands.count - 1,
                                          .from = (enum myr_import_format)options->from,
                                          .net = options->fabric.net,
                                          .binding = options->binding,
                                          .speeds = options->speeds.items,
                                          .speed_count = options->speeds.count,
                                          .partial = options->partial,
                                          .judge = {.equivalent = options->equivalent}};
    MYR_CLEANUP(myr_fabric_close) struct myr_fabric_case fabric = {};
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    struct myr_cost cost;
    cli_progress(&progress, "looks", 1);
    MYR_TRY(cli_fabric_open(cli, &options->fabric, true, &fabric, err));
    /* Opened last, and closed whatever comes of it. */
    MYR_CLEANUP(myr_built_close) struct myr_built built;
    MYR_TRY(myr_built_open(&built, &question, err));
    myr_cost_find(&cost, &cli->arena, &fabric, &built.verify, tell, &progress);
    put_answer(cli, &fabric, &built, &cost);
    /* Sums in another order differ in their last digits: that is no loss. */
    cli->no =
        cost.found.gbps < cost.planned.gbps * (1 - 1e-9) || cost.found.lost > cost.planned.lost;
    return MYR_OK;
}

const struct cli_verb cli_route_found_verb = {.row = &cli_route_found_command, .run = run};
