/*
 * route apply: planned paths into a fabric. Paths are planned, checked against deadlock and written
 * by the library (myr_apply); options of the target that is not meant are refused.
 */
#include "route/applied.h"

/* What stands in the tables of OpenSM. */
static const char *const policies[] = {"planned", "static"};
enum { POLICY_STATIC = 1 };

struct options {
    uint32_t target, hash, policy;
    uint64_t seed;
    const char *out, *seeds, *order, *binding;
    struct cli_fabric fabric;
};

static const struct options defaults = {.fabric = {.axis = "dp"}};

static const struct myr_option rows[] = {
    CLI_CHOICE("for", "TARGET", struct options, target, myr_apply_target_names,
               "opensm (tables for -R file) or roce (a UDP source port each)"),
    CLI_OUTPUT("out", "FILE", struct options, out, "the file to write"),
    CLI_CHOICE("policy", "POLICY", struct options, policy, policies,
               "opensm: static leaves the per-destination paths without flows laid over them"),
    CLI_FABRIC_ROWS(struct options),
    CLI_FLOW_ROWS(struct options),
    CLI_CHOICE("hash", "HASH", struct options, hash, myr_switch_hash_names,
               "roce: how the switches hash"),
    CLI_COUNT("seed", struct options, seed, 0, 0, "roce: of the switches' hashes"),
    CLI_PATH("seeds", "FILE", struct options, seeds,
             "roce: CSV of device,seed; --seed for the others"),
    CLI_PATH("order", "FILE", struct options, order,
             "roce: CSV of device,port: the order of next hops; by port when absent"),
    CLI_PATH("binding", "FILE", struct options, binding,
             "opensm: GUIDs of the real devices; made from the design when absent"),
};

const struct myr_command cli_route_apply_command = {
    .name = "route apply",
    .operands = "DESIGN",
    .summary = "write what makes a fabric take the planned paths",
    .details = "Plans the flows' paths and writes forwarding tables for OpenSM's file routing, or "
               "a source port for each RoCE connection that steers the switches' hashes. Nothing "
               "is written that could deadlock: a torus or dragonfly whose tables could gets "
               "settings for OpenSM's engines that use several lanes, and RoCE over such paths is "
               "refused. -o csv lists the paths.",
    .example = "myriad route apply out/h100-10k/design.myr --for opensm --out lfts.txt",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
};

/* Options of the other target change nothing, and whoever gives one thinks that they do. */
static int check_options(const struct cli *cli, uint32_t target, struct myr_err *err)
{
    static const struct {
        const char *name;
        enum myr_apply_target target;
    } of[] = {{"policy", MYR_APPLY_OPENSM}, {"binding", MYR_APPLY_OPENSM},
              {"hash", MYR_APPLY_ROCE},     {"seed", MYR_APPLY_ROCE},
              {"seeds", MYR_APPLY_ROCE},    {"order", MYR_APPLY_ROCE}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(of); i++) {
        if (of[i].target != target && cli_typed(cli, of[i].name)) {
            return myr_err_set(err, MYR_EINVAL, "--%s is for %s and changes nothing for %s",
                               of[i].name, myr_apply_target_names[of[i].target],
                               myr_apply_target_names[target]);
        }
    }
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_fabric_close) struct myr_fabric_case fabric = {};
    MYR_CLEANUP(myr_applied_done) struct myr_applied applied = {};
    const struct options *options = cli->options;
    struct myr_apply_question question = {
        .target = (enum myr_apply_target)options->target,
        .out = options->out,
        .whole_out = options->out ? cli_whole_path(cli->answer.arena, options->out) : NULL,
        .binding = options->binding,
        .keep_static = options->policy == POLICY_STATIC,
        .hash = (enum myr_switch_hash)options->hash,
        .seed = options->seed,
        .seeds = options->seeds,
        .order = options->order,
    };
    MYR_TRY(check_options(cli, options->target, err));
    MYR_TRY(myr_catalog_init(&catalog, &cli->arena, err));
    question.catalog = &catalog;
    /* Before the design is opened and paths are planned: a bad option need not wait for that. */
    MYR_TRY(myr_apply_check(&question, err));
    MYR_TRY(cli_fabric_open(cli, &options->fabric, !question.keep_static, &fabric, err));
    MYR_TRY(myr_apply(&fabric, &question, &applied, err));
    myr_answer_fact(&cli->answer, "written to", "%s, for %s", options->out, applied.what);
    cli_route_applied(cli, &fabric, &applied);
    if (question.target == MYR_APPLY_OPENSM) {
        /*
         * Where tables could deadlock it wrote settings of OpenSM instead, which start otherwise.
         */
        bool tables = strcmp(applied.engine, "file") == 0;
        myr_answer_next(&cli->answer, NULL, tables ? "opensm -R file -U %s" : "opensm -F %s",
                        myr_answer_word(&cli->answer, options->out));
    }
    return MYR_OK;
}

const struct cli_verb cli_route_apply_verb = {.row = &cli_route_apply_command, .run = run};
