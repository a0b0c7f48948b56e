/* explain plan: how a number of a plan came about. */
#include "myriad/plan/explain.h"

#include <unistd.h>

#include "cli.h"
#include "explain/explain.h"
#include "myriad/plan/grow.h"

struct options {
    struct myr_option_list catalogs;
};

static const struct options defaults = {0};

static const struct myr_option rows[] = {
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

const struct myr_command cli_explain_plan_command = {
    .name = "explain plan",
    .operands = "[PLAN] [PATH]",
    .summary = "say by which rule and from what a number of a plan came about",
    .details = "PLAN is a spec or a design.myr; without it, design.myr of this folder. PATH names "
               "the number as 'myriad plan -o json' does: networks.compute.switches.leaf, "
               "power.facility_kw, bom.3.quantity. Without PATH all numbers are listed.",
    .example = "myriad explain plan examples/h100-64.yaml power.pue.value",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 2,
    .young = true,
};

static void put(struct myr_answer *answer, const struct myr_explained *found)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "path", found->path);
    myr_answer_text(answer, "value",
                    myr_arena_printf(answer->arena, "%.*s", (int)found->value->text.len,
                                     found->value->text.data ? found->value->text.data : ""));
    myr_answer_text(answer, "unit", found->unit);
    myr_answer_text(answer, "basis", found->basis);
    myr_answer_text(answer, "rule", found->rule);
    myr_answer_text(answer, "inputs", found->inputs);
    myr_answer_end(answer);
}

static void show(struct myr_answer *answer, const struct myr_explained *found,
                 const struct myr_value *list, uint32_t count)
{
    static const struct myr_answer_column columns[] = {
        {"path", "NUMBER", 0, 0}, {"value", "VALUE", MYR_COLUMN_NUMBER, 0},
        {"unit", "UNIT", 0, 0},   {"basis", "BASIS", 0, 0},
        {"rule", "RULE", 0, 0},   {"inputs", "INPUTS", MYR_COLUMN_WIDE, 0},
    };
    if (count != 1) {
        myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
        return;
    }
    myr_answer_fact(answer, found->path, "%.*s%s%s", (int)found->value->text.len,
                    found->value->text.data ? found->value->text.data : "",
                    found->unit[0] ? " " : "", found->unit);
    myr_answer_fact(answer, "rule", "%s", found->rule);
    myr_answer_fact(answer, "inputs", "%s", found->inputs[0] ? found->inputs : "none");
    myr_answer_fact(answer, "basis", "%s", found->basis);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    uint32_t given = (uint32_t)cli->operands.count;
    const char *first = given ? cli->operands.items[0] : "design.myr";
    /* One operand alone is a plan, unless there is no such file. */
    bool named = given == 1 && strcmp(first, "-") != 0 && access(first, F_OK) != 0;
    const char *plan = named ? "design.myr" : first;
    const char *path = named ? first : given == 2 ? cli->operands.items[1] : NULL;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {0};
    MYR_CLEANUP(myr_design_close) struct myr_design design = {0};
    if (named && access(plan, F_OK) != 0) {
        int rc = myr_err_set(err, MYR_ENOENT, "%s: no such file, and no design.myr here", first);
        myr_err_hint(err, "myriad explain plan SPEC %s", path);
        return rc;
    }
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_grow_read(&cli->arena, &catalog, plan, &design, err));
    struct myr_answer tree;
    struct myr_explained one, *all = &one;
    uint32_t count = 1;
    myr_answer_init(&tree, &cli->arena, "myriad.plan", 1);
    (void)myr_plan_answer(&design, &tree);
    if (path) {
        MYR_TRY(myr_plan_explain_path(&design, &tree, path, &one, err));
    } else {
        all = myr_plan_explain_all(&design, &tree, &count);
    }
    const struct myr_value *list = myr_answer_list(&cli->answer, "numbers");
    for (uint32_t i = 0; i < count; i++) {
        put(&cli->answer, &all[i]);
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, list);
    show(&cli->answer, all, list, count);
    return MYR_OK;
}

const struct cli_verb cli_explain_plan_verb = {&cli_explain_plan_command, run, .group = NULL};
