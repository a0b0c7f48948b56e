/* fit_pool: one job on several kinds of GPUs, or the advice not to. */
#include "fit.h"

static const char *const verdicts[] = {"do not mix", "share the batch", "share the layers"};

/* "h800:512" */
static int read_pool(const struct cli_fit_asked *a, const char *text, struct myr_fit_pool *ret,
                     struct myr_err *err)
{
    struct myr_str name = myr_str_from(text), number;
    const char *colon = strrchr(text, ':');
    uint64_t gpus = 0;
    if (colon) {
        name.len = (size_t)(colon - text);
        number = myr_str_from(colon + 1);
    }
    if (!colon || !myr_str_to_u64(number, &gpus) || gpus == 0 || gpus > MYR_LAYOUT_GPUS_MAX) {
        int rc = myr_err_set(err, MYR_EINVAL, "--pool '%.60s' is not DEVICE:GPUS", text);
        myr_err_hint(err, "--pool h800:512 --pool a100-80:512");
        return rc;
    }
    ret->gpus = (uint32_t)gpus;
    return myr_profiles_device(&a->profiles, name, &ret->device, err);
}

static void put_mixed(struct myr_json *json, const char *key, const struct myr_fit_mixed *mixed,
                      const struct myr_fit_pool *pools, uint32_t count)
{
    myr_json_object(json, key);
    myr_json_bool(json, "found", mixed->found);
    if (mixed->found) {
        myr_json_double(json, "step_s", mixed->step_s, 6);
        myr_json_double(json, "exchange_s", mixed->exchange_s, 6);
        myr_json_list(json, "parts");
        for (uint32_t i = 0; i < count; i++) {
            const struct myr_fit_part *part = &mixed->parts[i];
            myr_json_object(json, NULL);
            myr_json_text(json, "device", pools[i].device->name);
            myr_json_u64(json, "gpus", pools[i].gpus);
            myr_json_u64(json, "batch", part->batch);
            myr_json_double(json, "step_s", part->step_s, 6);
            cli_fit_put_layout(json, &part->layout);
            if (mixed->stage_count > 0) {
                myr_json_list(json, "stage_layers");
                for (uint32_t s = 0; s < part->stages; s++) {
                    myr_json_u64(json, NULL, mixed->stage_layers[part->first_stage + s]);
                }
                myr_json_end(json);
            }
            myr_json_end(json);
        }
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_json(const struct cli_fit_asked *a, const struct myr_fit_pools *found,
                     const struct myr_fit_pool *pools, uint32_t count, struct myr_buf *buf)
{
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "model", a->model.name);
    myr_json_text(&json, "verdict", verdicts[found->verdict]);
    myr_json_double(&json, "step_s", found->step_s, 6);
    myr_json_double(&json, "gain_percent", 100 * found->gain, 3);
    myr_json_double(&json, "efficiency_percent", 100 * found->efficiency, 3);
    myr_json_list(&json, "alone");
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(pools[i].device);
        myr_json_object(&json, NULL);
        myr_json_text(&json, "device", pools[i].device->name);
        myr_json_u64(&json, "gpus", pools[i].gpus);
        myr_json_bool(&json, "fits", found->alone_found[i]);
        if (found->alone_found[i]) {
            myr_json_double(&json, "step_s", found->alone[i].step_s, 6);
            cli_fit_put_layout(&json, &found->alone[i].layout);
        }
        myr_json_end(&json);
    }
    myr_json_end(&json);
    put_mixed(&json, "batch", &found->batch, pools, count);
    put_mixed(&json, "layers", &found->layers, pools, count);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_stages(struct myr_buf *buf, const struct myr_fit_mixed *mixed, uint32_t pool)
{
    const struct myr_fit_part *part = &mixed->parts[pool];
    myr_buf_put_lit(buf, "  layers");
    for (uint32_t s = 0; s < part->stages; s++) {
        myr_buf_printf(buf, " %u", mixed->stage_layers[part->first_stage + s]);
    }
}

static void put_mixed_text(struct myr_buf *buf, const char *how, const struct myr_fit_mixed *mixed,
                           const struct myr_fit_pool *pools, uint32_t count)
{
    if (!mixed->found) {
        myr_buf_printf(buf, "\n%s: no layout\n", how);
        return;
    }
    myr_buf_printf(buf, "\n%s: %.3f s a step, %.3f s of it from pool to pool\n", how, mixed->step_s,
                   mixed->exchange_s);
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_fit_part *part = &mixed->parts[i];
        const struct myr_layout *l = &part->layout;
        myr_buf_printf(buf,
                       "  %-12s %6u GPUs  batch %u  tp %u pp %u vp %u cp %u dp %u  "
                       "micro-batch %u",
                       pools[i].device->name, pools[i].gpus, part->batch, l->tp,
                       mixed->stage_count ? part->stages : l->pp, l->vp, l->cp, l->dp,
                       l->micro_batch);
        if (mixed->stage_count > 0) {
            put_stages(buf, mixed, i);
        }
        myr_buf_putc(buf, '\n');
    }
}

static void put_text(const struct cli_fit_asked *a, const struct myr_fit_pools *found,
                     const struct myr_fit_pool *pools, uint32_t count, struct myr_buf *buf)
{
    myr_buf_printf(buf, "%s, batch %u x %u tokens\n", a->model.name, a->query.batch,
                   a->query.seq_tokens);
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(pools[i].device);
        myr_buf_printf(buf, "  %-12s %6u GPUs alone: ", pools[i].device->name, pools[i].gpus);
        if (found->alone_found[i]) {
            myr_buf_printf(buf, "%.3f s\n", found->alone[i].step_s);
        } else {
            myr_buf_put_lit(buf, "no layout\n");
        }
    }
    put_mixed_text(buf, "sharing the batch", &found->batch, pools, count);
    put_mixed_text(buf, "sharing the layers", &found->layers, pools, count);
    myr_buf_printf(buf, "\n%s: ", verdicts[found->verdict]);
    if (found->verdict == MYR_FIT_MIX_NONE) {
        MYR_ASSERT(found->fastest < count && pools[found->fastest].device);
        myr_buf_printf(buf, "%s alone takes %.3f s, no mixture is faster\n",
                       pools[found->fastest].device->name, found->step_s);
    } else {
        myr_buf_printf(buf,
                       "%.3f s, %.1f %% more than the fastest pool alone does, %.1f %% of what the "
                       "pools do as jobs of their own\n",
                       found->step_s, 100 * found->gain, 100 * found->efficiency);
    }
}

int cli_fit_pool(const struct cli_fit_question *question, bool as_json)
{
    struct cli_fit_asked *a = cli_fit_asked_new();
    struct myr_fit_pools *found = MYR_ARENA_NEW(&a->arena, struct myr_fit_pools, 1);
    struct myr_fit_pool pools[MYR_FIT_POOLS_MAX] = {0};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    uint32_t count = question->pools.count;
    int code;
    int rc = cli_fit_ask(a, question, &err);
    if (rc == MYR_OK && (count < 2 || count > MYR_FIT_POOLS_MAX)) {
        rc = myr_err_set(&err, MYR_EINVAL, "%u pools, 2 to %d are expected", count,
                         MYR_FIT_POOLS_MAX);
        myr_err_hint(&err, "--pool h800:512 --pool a100-80:512");
    }
    for (uint32_t i = 0; rc == MYR_OK && i < count; i++) {
        rc = read_pool(a, question->pools.items[i], &pools[i], &err);
    }
    rc = rc < 0 ? rc : myr_fit_pools_search(&a->query, pools, count, &a->arena, found, &err);
    if (rc < 0) {
        code = cli_fit_error(&err);
    } else {
        if (as_json) {
            put_json(a, found, pools, count, &buf);
        } else {
            put_text(a, found, pools, count, &buf);
        }
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    cli_fit_asked_free(a);
    return code;
}
