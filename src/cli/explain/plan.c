/*
 * explain plan: how a number of a plan came about. The plan is made or read as 'myriad plan' does,
 * and the number looked up by its path in the plan's answer.
 */
#include "myriad/plan/explain.h"

#include <unistd.h>

#include "cli.h"
#include "explain/explain.h"
#include "myriad/plan/grow.h"
#include "plan/plan.h"

struct options {
    const char *next, *prices;
    struct myr_option_list catalogs;
    struct cli_acceptance acceptance;
};

static const struct options defaults = {};

static const struct myr_option rows[] = {
    {CLI_ROW("next", MYR_OPTION_PATH, "SPEC", struct options, next,
             "the phase after this one, as given to 'myriad plan': its numbers too, below 'next'"),
     .young = true},
    {CLI_ROW("prices", MYR_OPTION_PATH, "FILE", struct options, prices,
             "a price list, as given to 'myriad plan'"),
     .young = true},
    CLI_ACCEPTANCE_ROWS(struct options, acceptance),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

const struct myr_command cli_explain_plan_command = {
    .name = "explain plan",
    .operands = "[PLAN] [PATH]",
    .summary = "say by which rule and from what a number of a plan came about",
    .details =
        "PLAN is a spec or a design.myr; without it, design.myr of this folder. PATH names "
        "the number as 'myriad plan -o json' does: networks.compute.switches.leaf, "
        "power.facility_kw, bom.3.quantity; what the report shows besides is below 'report', "
        "'next', 'racks' and, with --acceptance, 'acceptance'. A PATH that holds several numbers "
        "lists them, without PATH all "
        "are listed.",
    .example = "myriad explain plan examples/h100-64.yaml power.pue.value",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 2,
    .young = true,
};

/*
 * The value is a text: it has the digits that the plan prints. One that the plan does not have is
 * null, with the reason in place of inputs.
 */
static void put(struct myr_answer *answer, const struct myr_explained *found)
{
    bool null = found->value->kind == MYR_VALUE_NULL;
    const char *value =
        null ? NULL
             : myr_arena_printf(answer->arena, "%.*s", (int)found->value->text.len,
                                found->value->text.data ? found->value->text.data : "");
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "path", found->path);
    myr_answer_text(answer, "value", value);
    myr_answer_text(answer, "unit", found->unit);
    myr_answer_text(answer, "basis", found->basis);
    myr_answer_text(answer, "rule", found->rule);
    myr_answer_text(answer, "inputs", found->inputs);
    myr_answer_text(answer, "why", found->why);
    myr_answer_end(answer);
}

/* One number with all that is known of it; several as a table. */
static void show(struct myr_answer *answer, const struct myr_explained *found,
                 const struct myr_value *list, uint32_t count)
{
    static const struct myr_answer_column columns[] = {
        {"path", "NUMBER", 0, 0}, {"value", "VALUE", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED, 0},
        {"unit", "UNIT", 0, 0},   {"basis", "BASIS", 0, 0},
        {"rule", "RULE", 0, 0},   {"inputs", "INPUTS", MYR_COLUMN_WIDE, 0},
    };
    if (count != 1) {
        myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
        return;
    }
    bool null = found->value->kind == MYR_VALUE_NULL;
    myr_answer_fact(answer, found->path, "%.*s%s%s", null ? 4 : (int)found->value->text.len,
                    null ? "null" : found->value->text.data, null || !found->unit[0] ? "" : " ",
                    null ? "" : found->unit);
    myr_answer_fact(answer, "rule", "%s", found->rule);
    myr_answer_fact(answer, found->why ? "why" : "inputs", "%s",
                    found->why         ? found->why
                    : found->inputs[0] ? found->inputs
                                       : "none");
    myr_answer_fact(answer, "basis", "%s", found->basis);
}

/* What the plan is made of; the phase after it is NULL where none is given. */
static int read_plan(struct cli *cli, const struct myr_catalog *catalog, const char *plan,
                     struct myr_design *design, struct myr_design *larger,
                     struct myr_growth **ret_next, struct myr_err *err)
{
    const struct options *options = cli->options;
    bool planned = !myr_grow_is_design(plan);
    struct myr_price_file prices = {.path = options->prices};
    *ret_next = NULL;
    /* Prices are of no use where nothing is planned: neither the plan nor the phase after it. */
    if (options->prices && !planned && (!options->next || myr_grow_is_design(options->next))) {
        return myr_err_set(err, MYR_EINVAL,
                           "a design has its prices: --prices goes with a spec, not with %s", plan);
    }
    MYR_TRY(myr_grow_read(&cli->arena, catalog, plan, &prices, NULL, design, err));
    if (!options->next) {
        return MYR_OK;
    }
    struct myr_growth *next = MYR_ARENA_ONE(&cli->arena, struct myr_growth);
    MYR_TRY(myr_grow_read_larger(&cli->arena, catalog, design, options->next, &prices, NULL, larger,
                                 err));
    MYR_TRY(myr_grow(&cli->arena, catalog, design, larger,
                     (struct myr_grow_names){plan, options->next}, next, err));
    *ret_next = next;
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    uint32_t given = (uint32_t)cli->operands.count;
    const char *first = given ? cli->operands.items[0] : "design.myr";
    /* One operand alone is a plan, unless there is no such file. */
    bool named = given == 1 && strcmp(first, "-") != 0 && access(first, F_OK) != 0;
    const char *plan = named ? "design.myr" : first;
    const char *path = named ? first : given == 2 ? cli->operands.items[1] : "";
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_design_close) struct myr_design design = {}, larger = {};
    struct myr_growth *next;
    const struct myr_plan_targets *targets;
    if (named && access(plan, F_OK) != 0) {
        int rc = myr_err_set(err, MYR_ENOENT, "%s: no such file, and no design.myr here", first);
        myr_err_hint(err, "myriad explain plan SPEC %s", path);
        return rc;
    }
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(read_plan(cli, &catalog, plan, &design, &larger, &next, err));
    MYR_TRY(cli_acceptance_targets(cli, &catalog,
                                   &((const struct options *)cli->options)->acceptance, &design,
                                   &targets, err));
    /* The plan's own answer, built and not printed: paths are those of its keys. */
    struct myr_answer tree;
    struct myr_explained *all;
    uint32_t count;
    myr_answer_init(&tree, &cli->arena, "myriad.plan", 1);
    myr_plan_explain_tree(&design, next, &tree);
    if (targets) {
        myr_plan_explain_targets(targets, &tree);
    }
    MYR_TRY(myr_plan_explain_path(&design, &tree, path, &all, &count, err));
    const struct myr_value *list = myr_answer_list(&cli->answer, "numbers");
    for (uint32_t i = 0; i < count; i++) {
        put(&cli->answer, &all[i]);
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, list);
    show(&cli->answer, all, list, count);
    cli_put_inputs(cli, (struct myr_named_files[]){design.named_files, larger.named_files}, 2);
    return MYR_OK;
}

const struct cli_verb cli_explain_plan_verb = {&cli_explain_plan_command, run, .group = NULL};
