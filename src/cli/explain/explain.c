/*
 * explain: one job or node of a saved state of the controller. The facts are the controller's own
 * (myr_control_explain): here they are put into the answer and said in the same order.
 */
#include "myriad/control/explain.h"
#include "cli.h"
#include "explain/explain.h"

static const struct options {
    char none;
} defaults;

static const struct myr_command *const subcommands[] = {&cli_explain_plan_command};

static const struct myr_command command = {
    .name = "explain",
    .operands = "STATE NAME",
    .summary = "say what is known of a job or node of a saved state, and why it waits",
    .details = "The state is what twin run --state has written. CSV output lists the facts.",
    .example = "myriad explain state.myr job/42",
    .defaults = &defaults,
    .values_bytes = sizeof(defaults),
    .common = &cli_common_table,
    .operand_min = 2,
    .operand_max = 2,
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *control = NULL;
    struct myr_explanation explanation = {};
    int rc = myr_control_read(cli->operands.items[0], &control, err);
    if (rc == MYR_OK) {
        struct myr_explain_asker asker = {.now_ms = myr_control_now_ms(control),
                                          .submitted_ms = -1,
                                          .start_steps = MYR_STARTS_STEPS};
        rc = myr_control_explain(control, cli->operands.items[1], &asker, &explanation, err);
    }
    if (rc < 0) {
        return rc;
    }
    struct myr_value *facts = myr_answer_list(&cli->answer, "facts");
    for (uint32_t i = 0; i < explanation.count; i++) {
        myr_answer_object(&cli->answer, NULL);
        myr_answer_text(&cli->answer, "what", explanation.facts[i].what);
        myr_answer_text(&cli->answer, "is", explanation.facts[i].is);
        myr_answer_end(&cli->answer);
        myr_answer_fact(&cli->answer, explanation.facts[i].what, "%s", explanation.facts[i].is);
    }
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, facts);
    return MYR_OK;
}

const struct cli_verb cli_explain_verb = {&command, run, .group = CLI_RUN_GROUP};
