/* fit_pool: one job on several kinds of GPUs, or the advice not to. */
#include <stdio.h>
#include <time.h>

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
    bool number_is = colon && myr_str_to_u64(number, &gpus);
    if (!number_is || gpus == 0 || gpus > MYR_LAYOUT_GPUS_MAX) {
        int rc = number_is
                     ? myr_err_set(err, MYR_EINVAL, "--pool '%.60s': 1 to %u GPUs are expected",
                                   text, MYR_LAYOUT_GPUS_MAX)
                     : myr_err_set(err, MYR_EINVAL, "--pool '%.60s' is not DEVICE:GPUS", text);
        myr_err_hint(err, "--pool h800:512 --pool a100-80:512");
        return rc;
    }
    ret->gpus = (uint32_t)gpus;
    return myr_profiles_device(&a->profiles, name, &ret->device, err);
}

static double gib(double bytes)
{
    return bytes / 1073741824;
}

/* Stages of a part as runs of equal ones: "7 x 4, 2". */
static void put_runs(struct myr_buf *buf, const struct myr_fit_stage *stages, uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i + 1;
        while (end < count && stages[end].layers == stages[i].layers) {
            end++;
        }
        myr_buf_printf(buf, i ? ", " : "");
        if (end - i > 1) {
            myr_buf_printf(buf, "%u x ", end - i);
        }
        myr_buf_printf(buf, "%u", stages[i].layers);
        i = end;
    }
}

/* JSON */

static void put_stages_json(struct myr_json *json, const struct myr_fit_mixed *mixed,
                            const struct myr_fit_part *part)
{
    const struct myr_fit_stage *stages = &mixed->stages[part->first_stage];
    myr_json_u64(json, "first_stage", part->first_stage);
    myr_json_list(json, "stage_layers");
    for (uint32_t s = 0; s < part->stages; s++) {
        myr_json_u64(json, NULL, stages[s].layers);
    }
    myr_json_end(json);
    myr_json_list(json, "stage_recompute"); /* layers made again, or "selective" */
    for (uint32_t s = 0; s < part->stages; s++) {
        if (stages[s].recompute == MYR_RECOMPUTE_SELECTIVE) {
            myr_json_text(json, NULL, "selective");
        } else {
            myr_json_u64(json, NULL, stages[s].recompute_layers);
        }
    }
    myr_json_end(json);
}

static void put_part_json(struct myr_json *json, const struct myr_fit_mixed *mixed,
                          const struct myr_fit_part *part, const struct myr_fit_pool *pool)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "device", pool->device->name);
    myr_json_u64(json, "gpus", pool->gpus);
    myr_json_bool(json, "used", part->used);
    if (part->used) {
        myr_json_u64(json, "batch", part->batch);
        myr_json_double(json, "step_s", part->step_s, 6);
        myr_json_double(json, "memory_gib", gib(part->memory_bytes), 3);
        myr_json_double(json, "memory_limit_gib", gib(pool->device->memory_bytes), 3);
        cli_fit_put_layout(json, &part->layout);
        if (mixed->stage_count > 0) {
            put_stages_json(json, mixed, part);
        }
    }
    myr_json_end(json);
}

static void put_mixed(struct myr_json *json, const char *key, const struct myr_fit_mixed *mixed,
                      const struct myr_fit_pool *pools, uint32_t count)
{
    myr_json_object(json, key);
    myr_json_bool(json, "found", mixed->found);
    myr_json_u64(json, "asked", mixed->asked);
    if (mixed->found) {
        myr_json_double(json, "step_s", mixed->step_s, 6);
        myr_json_double(json, "exchange_s", mixed->exchange_s, 6);
        myr_json_double(json, "gap", mixed->step_s / mixed->floor_s - 1, 9);
        if (mixed->stage_count == 0) {
            myr_json_text(json, "zero_cuts", mixed->cut_inside ? "inside each pool" : "all pools");
        } else {
            myr_json_list(json, "along_the_pipeline");
            for (uint32_t i = 0; i < mixed->order_count; i++) {
                MYR_ASSERT(mixed->order[i] < count);
                myr_json_text(json, NULL, pools[mixed->order[i]].device->name);
            }
            myr_json_end(json);
        }
        myr_json_list(json, "parts");
        for (uint32_t i = 0; i < count; i++) {
            put_part_json(json, mixed, &mixed->parts[i], &pools[i]);
        }
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_json(const struct cli_fit_asked *a, const struct myr_fit_pools *found,
                     const struct myr_fit_pool *pools, uint32_t count, double search_ms,
                     struct myr_buf *buf)
{
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "model", a->model.name);
    myr_json_text(&json, "verdict", verdicts[found->verdict]);
    myr_json_double(&json, "step_s", found->step_s, 6);
    myr_json_double(&json, "gain_percent", 100 * found->gain, 3);
    myr_json_double(&json, "efficiency_percent", 100 * found->efficiency, 3);
    myr_json_double(&json, "worth_percent", 100 * found->worth, 3);
    myr_json_double(&json, "search_ms", search_ms, 3);
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

/* Text */

#define LAYOUT_HEAD "tp   pp  vp  cp     dp  ep  zero  mbs  recompute  schedule     precision"

static void put_layout(struct myr_buf *buf, const struct myr_layout *l, const char *recompute)
{
    char again[32];
    (void)snprintf(again, sizeof(again), "%s", myr_recompute_name(l->recompute));
    if (l->recompute_layers > 0) {
        (void)snprintf(again, sizeof(again), "first %u", l->recompute_layers);
    }
    myr_buf_printf(buf, "%2u  %3u  %2u  %2u  %5u  %2u  %4u  %3u  %-9s  %-11s  %s", l->tp, l->pp,
                   l->vp, l->cp, l->dp, l->ep, l->zero, l->micro_batch,
                   recompute ? recompute : again, myr_schedule_name(l->schedule),
                   myr_precision_name(l->precision));
}

static void put_part(struct myr_buf *buf, const struct myr_fit_mixed *mixed, uint32_t i,
                     const struct myr_fit_pool *pool)
{
    const struct myr_fit_part *part = &mixed->parts[i];
    if (!part->used) {
        myr_buf_printf(buf, "  %-12s %6u  left out\n", pool->device->name, pool->gpus);
        return;
    }
    myr_buf_printf(buf, "  %-12s %6u  %6u  %9.3f  %5.1f of %3.0f  ", pool->device->name, pool->gpus,
                   part->batch, part->step_s, gib(part->memory_bytes),
                   gib(pool->device->memory_bytes));
    put_layout(buf, &part->layout, mixed->stage_count ? "see below" : NULL);
    myr_buf_putc(buf, '\n');
}

/* Along the pipeline: which stages a pool has, with how many layers, how many made again. */
static void put_stages(struct myr_buf *buf, const struct myr_fit_mixed *mixed,
                       const struct myr_fit_pool *pools)
{
    for (uint32_t i = 0; i < mixed->order_count; i++) {
        const struct myr_fit_part *part = &mixed->parts[mixed->order[i]];
        const struct myr_fit_stage *stages = &mixed->stages[part->first_stage];
        uint32_t again = 0, selective = 0;
        for (uint32_t s = 0; s < part->stages; s++) {
            again += stages[s].recompute_layers;
            selective += stages[s].recompute == MYR_RECOMPUTE_SELECTIVE;
        }
        myr_buf_printf(buf, "  stages %u to %u on %s, layers: ", part->first_stage,
                       part->first_stage + part->stages - 1, pools[mixed->order[i]].device->name);
        put_runs(buf, stages, part->stages);
        myr_buf_printf(buf, "; %u of them made again", again);
        if (selective > 0) {
            myr_buf_printf(buf, ", selectively on %u stages", selective);
        }
        myr_buf_putc(buf, '\n');
    }
}

static void put_mixed_text(struct myr_buf *buf, const struct myr_fit_mixed *mixed, bool by_layers,
                           const struct myr_fit_pool *pools, uint32_t count)
{
    const char *how = by_layers ? "sharing the layers" : "sharing the batch";
    const char *schedules = by_layers ? "1f1b" : "1f1b, interleaved, zero-bubble";
    const char *exchange = by_layers ? "transfers between pools that a stage waits for"
                                     : "gradients and update after the last micro-batch";
    if (!mixed->found) {
        myr_buf_printf(buf, "\n%s: no layout works (schedules: %s)\n", how, schedules);
        return;
    }
    double gap = mixed->step_s / mixed->floor_s - 1;
    myr_buf_printf(buf, "\n%s: %.3f s a step, %.3f s of it %s", how, mixed->step_s,
                   mixed->exchange_s, exchange);
    if (gap > 1e-9) {
        myr_buf_printf(buf, "; proven to %.2g %% of the optimum", 100 * gap);
    }
    myr_buf_put_lit(buf,
                    "\n  pool           GPUs   batch  at work s   memory GiB  " LAYOUT_HEAD "\n");
    for (uint32_t i = 0; i < count; i++) {
        put_part(buf, mixed, i, &pools[i]);
    }
    if (mixed->stage_count > 0) {
        put_stages(buf, mixed, pools);
    } else {
        myr_buf_printf(buf, "  ZeRO cuts %s\n",
                       mixed->cut_inside ? "inside each pool" : "over the replicas of all pools");
    }
}

static void put_verdict(struct myr_buf *buf, const struct myr_fit_pools *found,
                        const struct myr_fit_pool *pools, uint32_t count)
{
    const char *fastest = pools[found->fastest].device->name;
    MYR_ASSERT(found->fastest < count && fastest);
    myr_buf_printf(buf, "\n%s: ", verdicts[found->verdict]);
    if (found->verdict == MYR_FIT_MIX_NONE) {
        bool any = found->batch.found || found->layers.found;
        myr_buf_printf(buf, "%s:%u alone takes %.3f s a step, ", fastest,
                       pools[found->fastest].gpus, found->step_s);
        myr_buf_printf(buf, any ? "the best mixture %.3f s\n" : "and no mixture works\n",
                       !found->layers.found ||
                               (found->batch.found && found->batch.step_s < found->layers.step_s)
                           ? found->batch.step_s
                           : found->layers.step_s);
    } else if (!found->any_alone) {
        myr_buf_printf(buf, "%.3f s a step; no pool alone can train this model\n", found->step_s);
    } else {
        myr_buf_printf(buf,
                       "%.3f s a step, %.1f %% more throughput than %s:%u alone\n"
                       "as jobs of their own all pools together would do %.1f %% more than that\n",
                       found->step_s, 100 * found->gain, fastest, pools[found->fastest].gpus,
                       100 * (1 / found->efficiency - 1));
    }
}

static void put_text(const struct cli_fit_asked *a, const struct myr_fit_pools *found,
                     const struct myr_fit_pool *pools, uint32_t count, struct myr_buf *buf)
{
    myr_buf_printf(buf, "%s, batch %u x %u tokens\n", a->model.name, a->query.batch,
                   a->query.seq_tokens);
    myr_buf_put_lit(buf, "\nalone, the whole batch on one pool\n"
                         "  pool           GPUs      step s  " LAYOUT_HEAD "\n");
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(pools[i].device);
        myr_buf_printf(buf, "  %-12s %6u  ", pools[i].device->name, pools[i].gpus);
        if (found->alone_found[i]) {
            myr_buf_printf(buf, "%10.3f  ", found->alone[i].step_s);
            put_layout(buf, &found->alone[i].layout, NULL);
            myr_buf_putc(buf, '\n');
        } else {
            myr_buf_put_lit(buf, "no layout fits\n");
        }
    }
    put_mixed_text(buf, &found->batch, false, pools, count);
    put_mixed_text(buf, &found->layers, true, pools, count);
    put_verdict(buf, found, pools, count);
}

/* Options that speak of one kind of GPUs. */
static int check_options(const struct cli_fit_question *u, struct myr_err *err)
{
    const char *odd = u->design ? "--design" : u->device ? "--device" : u->gpus ? "--gpus" : NULL;
    if (odd) {
        int rc = myr_err_set(err, MYR_EINVAL, "%s does not go with --pool", odd);
        myr_err_hint(err,
                     "--pool names devices and their numbers: --pool h800:512 --pool a100-80:512");
        return rc;
    }
    odd = u->report ? "--report" : u->plots ? "--plots" : u->exhaustive ? "--exhaustive" : NULL;
    if (odd) {
        int rc = myr_err_set(err, MYR_EINVAL, "%s does not go with --pool", odd);
        myr_err_hint(err, "ask for one pool with it: --device D --gpus N");
        return rc;
    }
    return MYR_OK;
}

/* Processor time, as the search of one pool counts it. */
static double spent_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
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
    double search_ms = 0;
    int rc = check_options(question, &err);
    rc = rc < 0 ? rc : cli_fit_ask(a, question, &err);
    if (rc == MYR_OK && (count < 2 || count > MYR_FIT_POOLS_MAX)) {
        rc = myr_err_set(&err, MYR_EINVAL, "%u of --pool, 2 to %d are expected", count,
                         MYR_FIT_POOLS_MAX);
        myr_err_hint(&err, "--pool h800:512 --pool a100-80:512");
    }
    for (uint32_t i = 0; rc == MYR_OK && i < count; i++) {
        rc = read_pool(a, question->pools.items[i], &pools[i], &err);
    }
    if (rc == MYR_OK) {
        double start = spent_ms();
        rc = myr_fit_pools_search(&a->query, pools, count, &a->arena, found, &err);
        search_ms = spent_ms() - start;
    }
    if (rc < 0) {
        code = cli_fit_error(&err);
    } else {
        if (as_json) {
            put_json(a, found, pools, count, search_ms, &buf);
        } else {
            put_text(a, found, pools, count, &buf);
        }
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    cli_fit_asked_free(a);
    return code;
}
