#include "plan_proposal.h"
#include "report/report.h"

/*
 * The tree that a report's words speak of: the plan's answer, and what stands beside it. The words
 * of a proposal as the build has read them (catalog/proposal), and the numbers in them
 * that are no plan's: each with where it is from.
 */

/* The build has read the file; a key that is missing in it is a bug. */
const struct myr_doc *report_document(struct myr_arena *arena, const char *key)
{
    const struct myr_embedded *file = &plan_proposal[0];
    const struct myr_doc *doc = myr_doc_unpack(arena, file->name, file->data, file->size);
    const struct myr_doc *found = myr_doc_get(doc, key);
    MYR_ASSERT(found && found->kind == MYR_DOC_MAP);
    return found;
}

/* "h100" begins "h100-sxm", and not "h1000". */
static bool begins(const char *name, struct myr_str with)
{
    return strncmp(name, with.data, with.len) == 0 && (!name[with.len] || name[with.len] == '-');
}

/* The one of this kind of GPU, or the one for all; NULL: nobody has published one. */
static const struct myr_doc *number_of(const struct myr_doc *value, const char *gpu)
{
    const struct myr_doc *gpus = myr_doc_get(value, "gpus");
    for (uint32_t i = 0; gpus && i < gpus->count; i++) {
        if (begins(gpu, gpus->entries[i].key)) {
            return gpus->entries[i].value;
        }
    }
    return myr_doc_get(value, "value");
}

void report_constants(const struct myr_design *design, struct myr_answer *answer)
{
    const struct myr_doc *values = report_document(answer->arena, "values");
    const char *gpu = myr_design_str(design, design->head->gpu_part);
    myr_answer_object(answer, "proposal");
    for (uint32_t i = 0; i < values->count; i++) {
        double value;
        const struct myr_doc *given = number_of(values->entries[i].value, gpu);
        if (given) {
            bool read = myr_str_to_double(given->text, &value);
            MYR_ASSERT(read);
            myr_answer_double(answer, values->entries[i].key.data, value, 3);
        }
    }
    myr_answer_end(answer);
}

const char *report_constant_source(struct myr_arena *arena, const char *name, const char **ret_unit)
{
    const struct myr_doc *value = myr_doc_get(report_document(arena, "values"), name);
    if (!value) {
        return NULL;
    }
    *ret_unit = myr_doc_get(value, "unit")->text.data;
    return myr_doc_get(value, "source")->text.data;
}

/* ---- the tree ---- */

uint64_t report_switches(const struct myr_design *design)
{
    uint64_t switches = 0;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &design->networks[id];
        switches += net->leaf + net->spine + net->core + net->access + net->aggregation;
    }
    return switches;
}

void report_targets(const struct myr_plan_targets *targets, struct myr_answer *answer)
{
    myr_answer_object(answer, "acceptance");
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct myr_plan_target *target = &targets->items[i];
        myr_answer_object(answer, target->key);
        myr_answer_double(answer, "target", target->value, target->digits);
        myr_answer_text(answer, "unit", target->unit);
        myr_answer_text(answer, "basis", target->basis);
        myr_answer_text(answer, "rule", target->rule);
        myr_answer_text(answer, "inputs",
                        myr_arena_printf(answer->arena, "%s; %s", target->inputs, target->reach));
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

void report_tree(const struct myr_design *design, const struct myr_plan_targets *targets,
                 struct myr_arena *arena, struct myr_answer *ret)
{
    myr_answer_init(ret, arena, "myriad.plan", 1);
    (void)myr_plan_answer(design, ret);
    myr_answer_object(ret, "report");
    myr_answer_u64(ret, "switches", report_switches(design));
    myr_answer_end(ret);
    report_constants(design, ret);
    if (targets) {
        report_targets(targets, ret);
    }
}
