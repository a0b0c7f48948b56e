#include "route/fabric.h"

/* What would not count beside what counts is refused: an answer about other flows misleads. */
static int check_traffic(const struct cli *cli, struct myr_err *err)
{
    static const char *const sources[] = {"flows", "permutation", "layout"};
    static const char *const of_layouts[] = {"nodes", "axis", "pattern"};
    const char *source = NULL;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(sources); i++) {
        if (!cli_given(cli, sources[i])) {
            continue;
        }
        if (source) {
            return myr_err_set(err, MYR_EINVAL,
                               "--%s and --%s both say which flows there are; give one of them",
                               source, sources[i]);
        }
        source = sources[i];
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(of_layouts); i++) {
        if (source && strcmp(source, "layout") != 0 && cli_given(cli, of_layouts[i])) {
            return myr_err_set(err, MYR_EINVAL,
                               "--%s is of a layout's flows and changes nothing beside --%s",
                               of_layouts[i], source);
        }
    }
    return MYR_OK;
}

/* 'need_flows': where none are named those of data parallelism over all GPUs are taken. */
int cli_fabric_open(const struct cli *cli, const struct cli_fabric *fabric, bool need_flows,
                    struct myr_fabric_case *ret, struct myr_err *err)
{
    const char *operand = cli->operands.count ? cli->operands.items[0] : NULL;
    *ret = (struct myr_fabric_case){};
    if (!operand == !fabric->design) {
        int rc = myr_err_set(err, MYR_EINVAL,
                             operand ? "a design as operand and --design are one too many"
                                     : "a design is needed, as operand or by --design");
        myr_err_hint(err, "myriad plan SPEC --out DIR writes DIR/design.myr");
        return rc;
    }
    MYR_TRY(check_traffic(cli, err));
    struct myr_fabric_question question = {
        .design = operand ? operand : fabric->design,
        .net = (enum myr_net_id)fabric->net,
        .dead = fabric->dead,
        .flows = fabric->flows,
        .permutation = fabric->permutation,
        .layout = fabric->layout,
        .nodes = fabric->nodes,
        .axis = fabric->axis,
        .pattern = (enum myr_traffic)fabric->pattern,
        .need_flows = need_flows,
    };
    return myr_fabric_open(ret, &question, err);
}

/* Inside, loads are whole numbers of a part of line rate. */
double cli_fabric_load(uint64_t load)
{
    return (double)load / (double)MYR_LOAD_ONE;
}

struct myr_balance_options cli_fabric_balance(const struct cli_balance *balance)
{
    return (struct myr_balance_options){(enum myr_policy)balance->policy, balance->seed,
                                        balance->polarised};
}
