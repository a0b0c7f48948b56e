#include "fabric_args.h"

int fabric_args_design(struct fabric_args *args, const struct myr_operands *operands,
                       uint32_t first, struct myr_err *err)
{
    const char **design = &args->question.design;
    bool operand = operands->count > first;
    if (operand != (*design != NULL)) {
        *design = operand ? operands->items[first] : *design;
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL,
                         operand ? "a design as operand and --design are one too many"
                                 : "a design is needed, as operand or by --design");
    myr_err_hint(err, "myriad plan SPEC --out DIR writes DIR/design.myr");
    return rc;
}

int fabric_args_open(struct fabric_args *args, bool need_flows, struct myr_fabric_case *ret,
                     struct myr_err *err)
{
    args->question.net = (enum myr_net_id)args->net;
    args->question.pattern = (enum myr_traffic)args->pattern;
    args->question.need_flows = need_flows;
    return myr_fabric_open(ret, &args->question, err);
}
