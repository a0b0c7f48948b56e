#include "plan_proposal.h"
#include "report/report.h"

/*
 * The words of a proposal as the build has read them (catalog/proposal), and the numbers in them
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

void report_constants(struct myr_answer *answer)
{
    const struct myr_doc *values = report_document(answer->arena, "values");
    myr_answer_object(answer, "proposal");
    for (uint32_t i = 0; i < values->count; i++) {
        double value;
        const struct myr_doc *given = myr_doc_get(values->entries[i].value, "value");
        MYR_ASSERT(given && myr_str_to_double(given->text, &value));
        myr_answer_double(answer, values->entries[i].key.data, value, 3);
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
