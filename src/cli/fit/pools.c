/*
 * pools: one job on several kinds of GPUs, or the advice not to. Three ways are held against each
 * other: each pool alone, all sharing the batch, all sharing the layers of one pipeline. The
 * verdict says whether a mixture pays.
 */
#include "fit/fit.h"

/* What was asked and found, for all that tell of it; pools[i] is the part i of every mixture. */
struct shown {
    const struct myr_case *it;
    const struct myr_fit_pools *found;
    const struct myr_fit_pool *pools;
    uint32_t count;
};

static const double gib = 1073741824;

/* The tree */

/* A pool has stages of its own only where the layers are shared; a shared batch has none. */
static void put_stages(struct myr_answer *answer, const struct myr_fit_mixed *mixed,
                       const struct myr_fit_part *part)
{
    const struct myr_fit_stage *stages = &mixed->stages[part->first_stage];
    /* Stages are counted only of a pipeline over the pools. */
    bool layers = part->used && mixed->stage_count > 0;
    if (!layers) {
        myr_answer_null(answer, "first_stage");
        myr_answer_null(answer, "stage_layers");
        myr_answer_null(answer, "stage_recompute");
        return;
    }
    myr_answer_u64(answer, "first_stage", part->first_stage);
    myr_answer_list(answer, "stage_layers");
    for (uint32_t s = 0; s < part->stages; s++) {
        myr_answer_u64(answer, NULL, stages[s].layers);
    }
    myr_answer_end(answer);
    myr_answer_list(answer, "stage_recompute"); /* layers recomputed, or "selective" */
    for (uint32_t s = 0; s < part->stages; s++) {
        if (stages[s].recompute == MYR_RECOMPUTE_SELECTIVE) {
            myr_answer_text(answer, NULL, "selective");
        } else {
            myr_answer_u64(answer, NULL, stages[s].recompute_layers);
        }
    }
    myr_answer_end(answer);
}

/* NULL: there is none. */
static void put_layout(struct myr_answer *answer, const struct myr_layout *layout)
{
    if (!layout) {
        myr_answer_null(answer, "layout");
        return;
    }
    myr_answer_object(answer, "layout");
    cli_put_layout(answer, layout);
    myr_answer_end(answer);
}

/* A pool may be left out of the mixture: then it has its name and its size. */
static void put_part(struct myr_answer *answer, const struct myr_fit_mixed *mixed,
                     const struct myr_fit_part *part, const struct myr_fit_pool *pool)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "device", pool->device->name);
    myr_answer_u64(answer, "gpus", pool->gpus);
    myr_answer_bool(answer, "used", part->used);
    cli_put_known(answer, "batch", part->used, part->batch, 0);
    cli_put_known(answer, "step_s", part->used, part->step_s, 6);
    cli_put_known(answer, "memory_gib", part->used, part->memory_bytes / gib, 3);
    myr_answer_double(answer, "memory_limit_gib", pool->device->memory_bytes / gib, 3);
    put_layout(answer, part->used ? &part->layout : NULL);
    put_stages(answer, mixed, part);
    myr_answer_end(answer);
}

/* How the pools follow each other along the pipeline, where they do. */
static void put_order(struct myr_answer *answer, const struct shown *s,
                      const struct myr_fit_mixed *mixed)
{
    if (!mixed->found || mixed->stage_count == 0) {
        myr_answer_null(answer, "along_the_pipeline");
        return;
    }
    myr_answer_list(answer, "along_the_pipeline");
    for (uint32_t i = 0; i < mixed->order_count; i++) {
        MYR_ASSERT(mixed->order[i] < s->count);
        myr_answer_text(answer, NULL, s->pools[mixed->order[i]].device->name);
    }
    myr_answer_end(answer);
}

/* 'gap' is how far from the optimum it may be at most; ZeRO is a matter of shared batches alone. */
static const struct myr_value *put_mixed(struct myr_answer *answer, const char *key,
                                         const struct shown *s, const struct myr_fit_mixed *mixed)
{
    bool batch = mixed->found && mixed->stage_count == 0;
    myr_answer_object(answer, key);
    myr_answer_bool(answer, "found", mixed->found);
    myr_answer_u64(answer, "asked", mixed->asked);
    cli_put_known(answer, "step_s", mixed->found, mixed->step_s, 6);
    cli_put_known(answer, "exchange_s", mixed->found, mixed->exchange_s, 6);
    cli_put_known(answer, "gap", mixed->found, mixed->gap, 9);
    myr_answer_text(answer, "zero_cuts",
                    !batch              ? NULL
                    : mixed->cut_inside ? "inside each pool"
                                        : "all pools");
    put_order(answer, s, mixed);
    const struct myr_value *parts = myr_answer_list(answer, "parts");
    for (uint32_t i = 0; mixed->found && i < s->count; i++) {
        put_part(answer, mixed, &mixed->parts[i], &s->pools[i]);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
    return parts;
}

/* What each pool does by itself: what a mixture has to beat. */
static const struct myr_value *put_alone(struct myr_answer *answer, const struct shown *s)
{
    const struct myr_value *alone = myr_answer_list(answer, "alone");
    for (uint32_t i = 0; i < s->count; i++) {
        bool fits = s->found->alone_found[i];
        MYR_ASSERT(s->pools[i].device); /* read_pools() has set all */
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "device", s->pools[i].device->name);
        myr_answer_u64(answer, "gpus", s->pools[i].gpus);
        myr_answer_bool(answer, "fits", fits);
        cli_put_known(answer, "step_s", fits, s->found->alone[i].step_s, 6);
        put_layout(answer, fits ? &s->found->alone[i].layout : NULL);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return alone;
}

/* The page */

#define LAYOUT_COLUMNS                                                \
    MYR_COLUMN("layout.tp", "TP", MYR_COLUMN_NUMBER),                 \
        MYR_COLUMN("layout.pp", "PP", MYR_COLUMN_NUMBER),             \
        MYR_COLUMN("layout.vp", "VP", MYR_COLUMN_NUMBER),             \
        MYR_COLUMN("layout.cp", "CP", MYR_COLUMN_NUMBER),             \
        MYR_COLUMN("layout.dp", "DP", MYR_COLUMN_NUMBER),             \
        MYR_COLUMN("layout.ep", "EP", MYR_COLUMN_NUMBER),             \
        MYR_COLUMN("layout.mbs", "MBS", MYR_COLUMN_NUMBER),           \
        MYR_COLUMN("layout.zero", "ZERO", MYR_COLUMN_NUMBER),         \
        MYR_COLUMN("layout.recompute", "RECOMPUTE", MYR_COLUMN_WIDE), \
        MYR_COLUMN("layout.schedule", "SCHEDULE", MYR_COLUMN_WIDE),   \
    {                                                                 \
        "layout.precision", "PRECISION", MYR_COLUMN_WIDE, 0           \
    }

static void show_alone(struct myr_answer *answer, const struct myr_value *alone)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("device", "POOL", 0),
        MYR_COLUMN("gpus", "GPUS", MYR_COLUMN_NUMBER),
        {"step_s", "STEP s", MYR_COLUMN_NUMBER, 3},
        LAYOUT_COLUMNS};
    myr_answer_heading(answer, "Alone, the whole batch on one pool");
    myr_answer_table(answer, alone, columns, MYR_ARRAY_COUNT(columns));
}

/* Along the pipeline: which stages a pool has, and with how many layers. */
static void show_stages(struct cli *cli, const struct shown *s, const struct myr_fit_mixed *mixed)
{
    for (uint32_t i = 0; i < mixed->order_count; i++) {
        const struct myr_fit_part *part = &mixed->parts[mixed->order[i]];
        const struct myr_fit_stage *stages = &mixed->stages[part->first_stage];
        MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
        for (uint32_t at = 0; at < part->stages;) { /* runs of equal ones: "7 x 4, 2" */
            uint32_t end = at + 1;
            while (end < part->stages && stages[end].layers == stages[at].layers) {
                end++;
            }
            if (end - at > 1) {
                myr_buf_printf(&words, "%s%u x %u", at ? ", " : "", end - at, stages[at].layers);
            } else {
                myr_buf_printf(&words, "%s%u", at ? ", " : "", stages[at].layers);
            }
            at = end;
        }
        myr_answer_fact(&cli->answer, s->pools[mixed->order[i]].device->name,
                        "stages %u to %u, layers %s", part->first_stage,
                        part->first_stage + part->stages - 1, words.data);
    }
}

/* 'by_layers': the pools are stages of one pipeline; else each trains its share of the batch. */
static void show_mixed(struct cli *cli, const struct shown *s, const struct myr_fit_mixed *mixed,
                       bool by_layers, const struct myr_value *parts)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("device", "POOL", 0),
        MYR_COLUMN("gpus", "GPUS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("batch", "BATCH", MYR_COLUMN_NUMBER),
        {"step_s", "AT WORK s", MYR_COLUMN_NUMBER, 3},
        {"memory_gib", "GiB", MYR_COLUMN_NUMBER, 1},
        LAYOUT_COLUMNS};
    struct myr_answer *answer = &cli->answer;
    myr_answer_heading(answer, by_layers ? "Sharing the layers" : "Sharing the batch");
    if (!mixed->found) {
        myr_answer_para(answer, "no layout works (schedules: %s)",
                        by_layers ? "1f1b" : "1f1b, interleaved, zero-bubble");
        return;
    }
    double gap = mixed->gap;
    myr_answer_fact(answer, "step", "%.3f s, %.3f s of it %s", mixed->step_s, mixed->exchange_s,
                    by_layers ? "transfers between pools that a stage waits for"
                              : "gradients and update after the last micro-batch");
    /* Below that it is proven, but for the digits. */
    if (gap > 1e-9) {
        myr_answer_fact(answer, "proven", "to %.2g %% of the optimum", 100 * gap);
    }
    if (by_layers) {
        show_stages(cli, s, mixed);
    } else {
        myr_answer_fact(answer, "ZeRO cuts", "%s",
                        mixed->cut_inside ? "inside each pool" : "over the replicas of all pools");
    }
    myr_answer_table(answer, parts, columns, MYR_ARRAY_COUNT(columns));
}

/* Mixing is held against the fastest pool alone, and against every pool with a job of its own. */
static void show_verdict(struct myr_answer *answer, const struct shown *s)
{
    const struct myr_fit_pools *found = s->found;
    const struct myr_fit_pool *fastest = &s->pools[found->fastest];
    /* Of two mixtures that work the quicker one is named beside the pool that beats both. */
    bool batch_wins =
        !found->layers.found || (found->batch.found && found->batch.step_s < found->layers.step_s);
    MYR_ASSERT(found->fastest < s->count);
    myr_answer_heading(answer, "Verdict: %s", myr_fit_mix_name(found->verdict));
    if (found->verdict != MYR_FIT_MIX_NONE && !found->any_alone) {
        myr_answer_para(answer, "%.3f s a step; no pool alone can train this model", found->step_s);
    } else if (found->verdict != MYR_FIT_MIX_NONE) {
        myr_answer_para(answer,
                        "%.3f s a step, %.1f %% more throughput than %s:%u alone; as jobs of their "
                        "own all pools together would do %.1f %% more than that",
                        found->step_s, 100 * found->gain, fastest->device->name, fastest->gpus,
                        100 * (1 / found->efficiency - 1));
    } else if (found->batch.found || found->layers.found) {
        myr_answer_para(
            answer,
            "%s:%u alone takes %.3f s a step, the best mixture %.3f s; as jobs of their "
            "own all pools together do %.1f %% more than %s:%u",
            fastest->device->name, fastest->gpus, found->step_s,
            batch_wins ? found->batch.step_s : found->layers.step_s, 100 * found->jobs_gain,
            fastest->device->name, fastest->gpus);
    } else {
        myr_answer_para(answer, "%s:%u alone takes %.3f s a step, and no mixture works",
                        fastest->device->name, fastest->gpus, found->step_s);
    }
}

/* Keys of an answer about one kind of GPUs, which this is not. */
static void put_blank(struct myr_answer *answer)
{
    myr_answer_null(answer, "best");
    myr_answer_list(answer, "top");
    myr_answer_end(answer);
    static const char *const after[] = {"evaluated", "costed", "gap", "topology", "nearest"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(after); i++) {
        myr_answer_null(answer, after[i]);
    }
    static const char *const lists[] = {"refused", "choices", "sensitivity"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lists); i++) {
        myr_answer_list(answer, lists[i]);
        myr_answer_end(answer);
    }
    myr_answer_null(answer, "launch");
    myr_answer_null(answer, "layout");
}

static void put_answer(struct cli *cli, const struct shown *s, const struct myr_err *why)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_fit_pools *found = s->found;
    bool works = why->code == MYR_OK;
    myr_answer_bool(answer, "found", works);
    myr_answer_text(answer, "reason", works ? NULL : why->message);
    myr_answer_text(answer, "hint", works || !why->hint[0] ? NULL : why->hint);
    cli_fit_put_case(answer, s->it, true);
    put_blank(answer);
    /* One trainer runs on all of them. */
    myr_answer_para(answer, "%s, batch %s x %s, %s", s->it->model.name,
                    MYR_GROUPED(s->it->query.batch), MYR_COUNT(s->it->query.seq_tokens, "token"),
                    s->it->query.it.stack->name);
    myr_answer_object(answer, "pools");
    myr_answer_text(answer, "verdict", works ? myr_fit_mix_name(found->verdict) : NULL);
    cli_put_known(answer, "step_s", works, found->step_s, 6);
    cli_put_known(answer, "gain_percent", works, 100 * found->gain, 3);
    cli_put_known(answer, "efficiency_percent", works, 100 * found->efficiency, 3);
    cli_put_known(answer, "worth_percent", works, 100 * found->worth, 3);
    cli_put_known(answer, "jobs_gain_percent", works, 100 * found->jobs_gain, 3);
    const struct myr_value *alone = put_alone(answer, s);
    const struct myr_value *batch = put_mixed(answer, "batch", s, &found->batch);
    const struct myr_value *layers = put_mixed(answer, "layers", s, &found->layers);
    myr_answer_end(answer);
    myr_answer_rows(answer, alone);
    cli->no = !works;
    if (!works) {
        myr_answer_para(answer, "%s", why->message);
        return;
    }
    show_alone(answer, alone);
    show_mixed(cli, s, &found->batch, false, batch);
    show_mixed(cli, s, &found->layers, true, layers);
    show_verdict(answer, s);
}

/* One pool is no mixture. */
static int read_pools(const struct myr_case *it, const struct myr_option_list *words,
                      struct myr_fit_pool *ret, struct myr_err *err)
{
    if (words->count < 2 || words->count > MYR_FIT_POOLS_MAX) {
        int rc = myr_err_set(err, MYR_EINVAL, "%u of --pool, 2 to %d are expected", words->count,
                             MYR_FIT_POOLS_MAX);
        myr_err_hint(err, "--pool h800:512 --pool a100-80:512");
        return rc;
    }
    for (uint32_t i = 0; i < words->count; i++) {
        MYR_TRY(myr_fit_pool_parse(&it->profiles, words->items[i], &ret[i], err));
    }
    return MYR_OK;
}

int cli_fit_pools(struct cli *cli, const struct myr_case_question *question,
                  const struct myr_option_list *words, struct myr_err *err)
{
    MYR_CLEANUP(cli_case_close)
    struct myr_case *it = MYR_ARENA_ONE(&cli->arena, struct myr_case);
    struct myr_fit_pools *found = MYR_ARENA_ONE(&cli->arena, struct myr_fit_pools);
    struct myr_fit_pool pools[MYR_FIT_POOLS_MAX] = {};
    struct myr_case_question pooled = *question;
    struct myr_err why = {};
    /* The case then asks for neither a device nor a number of GPUs: the pools name both. */
    pooled.pooled = true;
    MYR_TRY(myr_case_init(it, &cli->arena, &pooled, err));
    MYR_TRY(read_pools(it, words, pools, err));
    /* That nothing fits is an answer and no error: exit status 1, and the reason in it. */
    double start_ms = cli_fit_spent_ms();
    int rc = myr_fit_pools_search(&it->query, pools, words->count, &cli->arena, found, &why);
    myr_answer_timing(&cli->answer, "search_ms", cli_fit_spent_ms() - start_ms, 3);
    if (rc < 0 && rc != MYR_EINFEASIBLE) {
        *err = why;
        return rc;
    }
    put_answer(cli, &(struct shown){it, found, pools, words->count}, &why);
    return MYR_OK;
}
