/* Targets of acceptance, for the verbs that print or explain them. */
#include "plan/plan.h"

int cli_acceptance_targets(struct cli *cli, const struct myr_catalog *catalog,
                           const struct cli_acceptance *of, const struct myr_design *design,
                           const struct myr_plan_targets **ret, struct myr_err *err)
{
    *ret = NULL;
    if (!of->wanted) {
        return MYR_OK;
    }
    const struct myr_acceptance_question question = {
        .design = design, .model = of->model, .batch = of->batch};
    struct myr_plan_targets *targets = MYR_ARENA_ONE(&cli->arena, struct myr_plan_targets);
    MYR_TRY(myr_acceptance_targets(&cli->arena, catalog, &question, targets, err));
    *ret = targets;
    return MYR_OK;
}
