/* profile_file: constants of a user's own, written by a calibration and read by everybody. */
#include "myriad/fit/calibrate.h"

#include <math.h>

#include "myriad/text/doc.h"
#include "myriad/text/json.h"

void myr_calibration_write(const struct myr_calibration *calibration,
                           const struct myr_profiles *profiles, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "# A profile of the cost model: constants that differ from the shipped "
                         "ones.\n# Use it with: myriad fit --profile THIS-FILE ...\nconstants:\n");
    for (uint32_t f = 0; f < calibration->free_count; f++) {
        uint32_t at = calibration->free[f];
        const struct myr_constant *constant = myr_fit_constant(at);
        myr_buf_printf(buf, "  %s: ", constant->name);
        myr_json_number(buf, calibration->constants[at], 9);
        myr_buf_put_lit(buf, " # was ");
        myr_json_number(buf, profiles->constants[at], 9);
        myr_buf_putc(buf, '\n');
    }
    myr_buf_put_lit(buf, "interval: {near: ");
    myr_json_number(buf, calibration->interval_near, 4);
    myr_buf_put_lit(buf, ", far: ");
    myr_json_number(buf, calibration->interval_far, 4);
    myr_buf_put_lit(buf, "}\n");
}

static int read_constant(struct myr_profiles *profiles, const struct myr_doc_entry *entry,
                         struct myr_err *err)
{
    int at = myr_fit_constant_index(entry->key);
    if (at < 0) {
        const char *names[MYR_FIT_CONSTANTS_MAX];
        char near[128], excerpt[MYR_EXCERPT_MAX];
        for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
            names[i] = myr_fit_constant(i)->name;
        }
        myr_str_nearest(entry->key, names, myr_fit_constant_count(), near, sizeof(near));
        int rc = myr_doc_error(err, entry->value, MYR_EINVAL, "unknown constant '%s'%s%s%s",
                               myr_text_excerpt(entry->key, excerpt),
                               near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
        myr_err_hint(err, "myriad fit constants lists them");
        return rc;
    }
    const struct myr_constant *constant = myr_fit_constant((uint32_t)at);
    return myr_doc_double(entry->value, constant->name, constant->min, constant->max,
                          &profiles->constants[at], err);
}

static int read_constants(struct myr_profiles *profiles, const struct myr_doc *map,
                          struct myr_err *err)
{
    if (map->kind == MYR_DOC_NULL) {
        return MYR_OK; /* "constants:" with nothing below: a calibration that moved none */
    }
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "constants", err));
    for (uint32_t i = 0; i < map->count; i++) {
        MYR_TRY(read_constant(profiles, &map->entries[i], err));
    }
    return MYR_OK;
}

static int read_interval(struct myr_profiles *profiles, const struct myr_doc *map,
                         struct myr_err *err)
{
    static const char *const bounds[] = {"near", "far"};
    double *own = profiles->intervals, near = own[MYR_INTERVAL_DENSE], far = 0;
    double *targets[] = {&near, &far};
    MYR_TRY(myr_doc_expect(map, MYR_DOC_MAP, "interval", err));
    MYR_TRY(myr_doc_check_keys(map, "interval", bounds, MYR_ARRAY_COUNT(bounds), err));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bounds); i++) {
        const struct myr_doc *node = myr_doc_get(map, bounds[i]);
        if (node) {
            MYR_TRY(myr_doc_double(node, bounds[i], 0.001, 10, targets[i], err));
        }
    }
    /* One's own runs do not tell experts apart; 'far' has another release beyond 'near'. */
    own[MYR_INTERVAL_EXPERTS] = myr_doc_get(map, "near") ? near : own[MYR_INTERVAL_EXPERTS];
    own[MYR_INTERVAL_DENSE] = near;
    double more = far > near ? sqrt(far * far - near * near) : 0;
    own[MYR_INTERVAL_RELEASE] = far > 0 ? more : own[MYR_INTERVAL_RELEASE];
    return MYR_OK;
}

int myr_profiles_parse(struct myr_profiles *profiles, const struct myr_doc *doc,
                       struct myr_err *err)
{
    static const char *const keys[] = {"constants", "interval", "devices", "stacks", "recipes"};
    MYR_TRY(myr_doc_expect(doc, MYR_DOC_MAP, "profile", err));
    MYR_TRY(myr_doc_check_keys(doc, NULL, keys, MYR_ARRAY_COUNT(keys), err));
    const struct myr_doc *constants = myr_doc_get(doc, "constants");
    const struct myr_doc *interval = myr_doc_get(doc, "interval");
    MYR_TRY(constants ? read_constants(profiles, constants, err) : MYR_OK);
    return interval ? read_interval(profiles, interval, err) : MYR_OK;
}
