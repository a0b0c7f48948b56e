/*
 * recovery: the rows behind recoveries and failures, built in or a user's, each with a low, a
 * typical and a high value, a unit, a rule of scaling and its source.
 */
#include <stdlib.h>

#include "cost/numbers.h"
#include "myr_fit_recovery.h"
#include "myriad/fit/goodput.h"
#include "myriad/text/doc.h"

/* All that a row may have; an unknown key is an error with the nearest name. */
static const char *const row_keys[] = {"unit",   "low",  "typical", "high",
                                       "scales", "when", "source",  "confidence"};

/* Texts are optional: empty where a row does not say. */
static int read_text(struct myr_arena *arena, const struct myr_doc *map, const char *key,
                     const char **ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    struct myr_str text;
    if (!node) {
        *ret = "";
        return MYR_OK;
    }
    MYR_TRY(myr_doc_text(node, key, &text, err));
    *ret = myr_arena_strndup(arena, text.data, text.len);
    return MYR_OK;
}

/* Numbers are not. */
static int read_number(const struct myr_doc *map, const char *key, double *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    if (!node) {
        return myr_doc_error(err, map, MYR_EINVAL, "the row lacks '%s'", key);
    }
    return myr_doc_double(node, key, 0, 1e9, ret, err);
}

/* "gpus^0.6@16384", "log2gpus@16384"; the words below do not depend on the number of GPUs. */
static bool read_scaling(struct myr_recovery_row *row, struct myr_str text)
{
    static const char *const words[] = {
        "",        "const",     "timer",  "bytes/rate", "min(nodes*x;system)", "poisson",
        "per_job", "clustered", "policy", "design",     "exp_decay_30d",       "lognormal",
        "result"};
    const char *at = memchr(text.data, '@', text.len);
    for (size_t i = 0; !at && i < MYR_ARRAY_COUNT(words); i++) {
        if (myr_str_eq(text, myr_str_from(words[i]))) {
            return true;
        }
    }
    /* RULE@GPUS: the value holds at so many GPUs and is scaled from there. */
    struct myr_str rule = {text.data, at ? (size_t)(at - text.data) : 0};
    struct myr_str gpus = {text.data + rule.len + 1, at ? text.len - rule.len - 1 : 0};
    struct myr_str power = {rule.data + 5, rule.len > 5 ? rule.len - 5 : 0};
    if (!at || !myr_str_to_double(gpus, &row->at_gpus) || !(row->at_gpus > 1) ||
        row->at_gpus > 1e12) {
        return false;
    }
    if (myr_str_eq(rule, MYR_STR("log2gpus"))) {
        row->scaling = MYR_SCALING_LOG2;
        return true;
    }
    row->scaling = MYR_SCALING_POWER;
    return power.len > 0 && memcmp(rule.data, "gpus^", 5) == 0 &&
           myr_str_to_double(power, &row->power) && row->power >= -4 && row->power <= 4;
}

/* What the sums that use a row rely on. */
static const char *unfit(const struct myr_recovery_row *row)
{
    bool divides = strncmp(row->unit, "GB/s", 4) == 0;
    bool share = strcmp(row->unit, "fraction") == 0;
    return row->low > row->typical || row->typical > row->high ? "rising order is expected"
           : divides && !(row->low > 0)                        ? "rates above 0 are expected"
           : share && row->high > 1                            ? "shares up to 1 are expected"
                                                               : NULL;
}

/* A row of a name that is there already takes its place, in the same unit. */
static int take_row(struct myr_recovery *recovery, const struct myr_doc *map,
                    struct myr_recovery_row row, struct myr_err *err)
{
    /* A user's row may leave the unit out: it is that of the row it replaces. */
    struct myr_recovery_row *known = NULL;
    for (size_t i = 0; i < recovery->rows.count && !known; i++) {
        known = strcmp(recovery->rows.items[i].key, row.key) == 0 ? &recovery->rows.items[i] : NULL;
    }
    if (known && row.unit[0] != '\0' && strcmp(row.unit, known->unit) != 0) {
        return myr_doc_error(err, map, MYR_EINVAL, "'%s' is in '%s', '%s' is expected", row.key,
                             row.unit, known->unit);
    }
    row.unit = known ? known->unit : row.unit;
    if (unfit(&row)) {
        return myr_doc_error(err, map, MYR_EINVAL, "'%s' has low %g, typical %g, high %g, %s",
                             row.key, row.low, row.typical, row.high, unfit(&row));
    }
    if (known) {
        *known = row;
    } else {
        myr_vec_push(&recovery->rows, row);
    }
    return MYR_OK;
}

/* Read whole before it takes its place, so that a wrong row changes nothing. */
static int read_row(struct myr_recovery *recovery, struct myr_arena *arena,
                    const struct myr_doc_entry *entry, struct myr_err *err)
{
    const struct myr_doc *map = entry->value;
    struct myr_recovery_row row = {.key =
                                       myr_arena_strndup(arena, entry->key.data, entry->key.len)};
    MYR_TRY(myr_doc_check_keys(map, row.key, row_keys, MYR_ARRAY_COUNT(row_keys), err));
    if (read_number(map, "low", &row.low, err) < 0 ||
        read_number(map, "typical", &row.typical, err) < 0 ||
        read_number(map, "high", &row.high, err) < 0 ||
        read_text(arena, map, "unit", &row.unit, err) < 0 ||
        read_text(arena, map, "when", &row.when, err) < 0 ||
        read_text(arena, map, "source", &row.source, err) < 0 ||
        read_text(arena, map, "confidence", &row.confidence, err) < 0 ||
        read_text(arena, map, "scales", &row.scales, err) < 0) {
        return MYR_EINVAL;
    }
    if (!read_scaling(&row, myr_str_from(row.scales))) {
        return myr_doc_error(
            err, map, MYR_EINVAL,
            "'%s' scales by '%s', const, gpus^POWER@GPUS or log2gpus@GPUS is expected", row.key,
            row.scales);
    }
    return take_row(recovery, map, row, err);
}

/* The same for the program's own file and a user's. */
static int read_rows(struct myr_recovery *recovery, struct myr_arena *arena,
                     const struct myr_doc *doc, struct myr_err *err)
{
    static const char *const keys[] = {"recovery"};
    MYR_TRY(myr_doc_check_keys(doc, "recovery data", keys, MYR_ARRAY_COUNT(keys), err));
    const struct myr_doc *rows = myr_doc_get(doc, "recovery");
    if (!rows || rows->kind != MYR_DOC_MAP) {
        return myr_doc_error(err, doc, MYR_EINVAL, "a map 'recovery' of rows is expected");
    }
    for (uint32_t i = 0; i < rows->count; i++) {
        MYR_TRY(read_row(recovery, arena, &rows->entries[i], err));
    }
    return MYR_OK;
}

int myr_recovery_init(struct myr_recovery *recovery, struct myr_arena *arena, struct myr_err *err)
{
    *recovery = (struct myr_recovery){};
    const struct myr_embedded *file = &myr_fit_recovery[0];
    return read_rows(recovery, arena, myr_doc_unpack(arena, file->name, file->data, file->size),
                     err);
}

int myr_recovery_add(struct myr_recovery *recovery, struct myr_arena *arena, const char *name,
                     struct myr_str text, struct myr_err *err)
{
    const struct myr_doc *doc;
    MYR_TRY(myr_doc_read_yaml(arena, name, text, &doc, err));
    return read_rows(recovery, arena, doc, err);
}

void myr_recovery_done(struct myr_recovery *recovery)
{
    myr_vec_done(&recovery->rows);
}

/* NULL: the caller says which row is lacking. */
const struct myr_recovery_row *myr_recovery_find(const struct myr_recovery *recovery,
                                                 const char *key)
{
    for (size_t i = 0; i < recovery->rows.count; i++) {
        if (strcmp(recovery->rows.items[i].key, key) == 0) {
            return &recovery->rows.items[i];
        }
    }
    return NULL;
}

/* The typical value at so many GPUs. */
double myr_recovery_value(const struct myr_recovery_row *row, double gpus)
{
    /* Rows without a rule of scaling are the same at every size. */
    double value = row->typical;
    if (row->scaling == MYR_SCALING_POWER) {
        value *= fit_exp(row->power * fit_log(gpus / row->at_gpus));
    } else if (row->scaling == MYR_SCALING_LOG2) {
        value *= fit_log(gpus) / fit_log(row->at_gpus);
    }
    return value;
}

/* What a recovery consists of by practice; how the failure is noticed depends on the fault. */
int myr_recovery_parts(const struct myr_recovery *recovery, enum myr_practice practice,
                       enum myr_fault fault, double gpus, struct myr_recovery_part *ret,
                       uint32_t *ret_count, struct myr_err *err)
{
    static const char *const detection[2][3] = {
        {"a.detect.crash", "a.detect.hang", "a.detect.node_lost"},
        {"b.detect.crash", "b.detect.hang", "b.detect.node_lost"}};
    /* The node is replaced. NULL: how the failure is noticed. */
    static const char *const common[] = {NULL,           "a.diagnose",       "a.replace_node",
                                         "a.image_pull", "a.process_import", "a.cuda_context",
                                         "a.rendezvous", "a.nccl_init",      "a.first_step",
                                         "a.state_load", "a.dataloader"};
    static const char *const best[] = {NULL,
                                       "b.diagnose",
                                       "b.replace_node",
                                       "b.process_import",
                                       "b.rendezvous",
                                       "b.comm_teardown",
                                       "b.comm_reform",
                                       "b.first_step",
                                       "b.state_restore",
                                       "b.dataloader"};
    /* In the order in which they follow each other; the sum is the recovery. */
    bool usual = practice == MYR_PRACTICE_COMMON;
    const char *const *keys = usual ? common : best;
    size_t count = usual ? MYR_ARRAY_COUNT(common) : MYR_ARRAY_COUNT(best);
    MYR_ASSERT(count <= MYR_RECOVERY_PARTS_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *key = keys[i] ? keys[i] : detection[practice][fault];
        const struct myr_recovery_row *row = myr_recovery_find(recovery, key);
        if (!row) {
            return myr_err_set(err, MYR_ENOENT, "the recovery data lack '%s'", key);
        }
        ret[i] = (struct myr_recovery_part){row, myr_recovery_value(row, gpus)};
    }
    *ret_count = (uint32_t)count;
    return MYR_OK;
}

int myr_recovery_seconds(const struct myr_recovery *recovery, enum myr_practice practice,
                         enum myr_fault fault, double gpus, double *ret, struct myr_err *err)
{
    struct myr_recovery_part parts[MYR_RECOVERY_PARTS_MAX];
    uint32_t count = 0;
    int rc = myr_recovery_parts(recovery, practice, fault, gpus, parts, &count, err);
    *ret = 0;
    for (uint32_t i = 0; i < count; i++) {
        *ret += parts[i].seconds;
    }
    return rc;
}
