/* pools: which pools take part in a job, how, and whether it is worth it. */
#include "mixed/mix.h"

#define LEAST_GAIN                                                                \
    0.05 /* that sharing has to have, where pools could work on jobs of their own \
          */

/* Of a and 0 it is a, so a sum of pools may begin with 0. */
static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A pool as a machine of its own: the query's NICs and topology are of some other one. */
static struct myr_fit_case case_of(const struct myr_fit_query *query,
                                   const struct myr_fit_pool *pool)
{
    struct myr_fit_case it = query->it;
    it.device = pool->device;
    it.nic_gbps = 0;
    it.domain_gpus = 0;
    it.topology = NULL;
    return it;
}

/* The precision asked for, where the device is faster with it; else the one it has. */
static enum myr_precision precision_of(const struct myr_fit_query *query,
                                       const struct myr_device *device)
{
    /* bf16, fp16 and fp32 run on every device. */
    enum myr_precision wanted = query->precision, list[4];
    uint32_t count = myr_fit_precisions(device, list);
    bool usual = wanted == MYR_PRECISION_BF16 || wanted == MYR_PRECISION_FP16 ||
                 wanted == MYR_PRECISION_FP32;
    for (uint32_t i = 0; i < count; i++) {
        usual = usual || list[i] == wanted;
    }
    return usual ? wanted : MYR_PRECISION_BF16;
}

/* The question as it stands, asked of one pool. */
static struct myr_fit_query alone_query(const struct fit_mixer *x, uint32_t pool)
{
    struct myr_fit_query alone = *x->query;
    alone.it = x->cases[pool];
    alone.gpus = x->pools[pool].gpus;
    alone.precision = x->precisions[pool];
    alone.top = 1;
    return alone;
}

/* Each pool with the whole batch; where every precision may be used, its best one stays. */
static void search_alone(struct fit_mixer *x, uint32_t pool_count, struct myr_fit_pools *ret)
{
    struct myr_fit_answer *answer = MYR_ARENA_ONE(x->arena, struct myr_fit_answer);
    for (uint32_t i = 0; i < pool_count; i++) {
        x->cases[i] = case_of(x->query, &x->pools[i]);
        x->precisions[i] = precision_of(x->query, x->pools[i].device);
        struct myr_fit_query alone = alone_query(x, i);
        fit_search_quietly(&alone, x->arena, answer);
        ret->alone_found[i] = answer->top_count > 0;
        ret->any_alone = ret->any_alone || ret->alone_found[i];
        if (ret->alone_found[i]) {
            ret->alone[i] = answer->top[0];
            /* Mixtures use what was best for the pool alone. */
            x->precisions[i] = answer->top[0].layout.precision;
        } else if (x->query->any_precision) {
            enum myr_precision list[4];
            x->precisions[i] = list[myr_fit_precisions(x->pools[i].device, list) - 1];
        }
    }
}

/* The pools of a set of bits, and what they have in common. */
static void choose(struct fit_mixer *x, uint32_t bits, uint32_t pool_count)
{
    x->count = 0;
    x->common = *x->query;
    x->common.gpus = 0;
    for (uint32_t i = 0; i < pool_count; i++) {
        if ((bits >> i & 1) == 0) {
            continue;
        }
        const struct myr_device *device = x->pools[i].device;
        /*
         * Widths must suit every pool: GPUs that divide all of them, the smallest scale-up domain.
         */
        bool smaller = x->count == 0 || device->domain_gpus < x->common.it.device->domain_gpus;
        x->who[x->count++] = i;
        x->common.gpus = gcd(x->common.gpus, x->pools[i].gpus);
        x->common.it.device = smaller ? device : x->common.it.device;
    }
    x->common.it.topology = NULL;
    x->common.it.domain_gpus = 0;
    x->common.it.nic_gbps = 0;
    fit_space_init(&x->space, x->arena, &x->common, x->query->precision);
}

/*
 * Jobs of their own do the sum of the pools' rates; a mixture is held against that and against the
 * fastest pool alone.
 */
static void judge(struct myr_fit_pools *a, uint32_t pool_count)
{
    double alone = 1e30, rates = 0, mixed = 1e30;
    for (uint32_t i = 0; i < pool_count; i++) {
        if (a->alone_found[i]) {
            rates += 1 / a->alone[i].step_s;
            a->fastest = a->alone[i].step_s < alone ? i : a->fastest;
            alone = fit_min(alone, a->alone[i].step_s);
        }
    }
    a->verdict = MYR_FIT_MIX_NONE;
    a->step_s = alone;
    if (a->batch.found) {
        mixed = a->batch.step_s;
        a->verdict = mixed < a->step_s ? MYR_FIT_MIX_BATCH : a->verdict;
    }
    if (a->layers.found && a->layers.step_s < mixed) {
        mixed = a->layers.step_s;
        a->verdict = mixed < a->step_s ? MYR_FIT_MIX_LAYERS : a->verdict;
    }
    a->step_s = fit_min(mixed, alone);
    a->gain = a->any_alone ? alone / a->step_s - 1 : 0;
    a->jobs_gain = a->any_alone ? rates * alone - 1 : 0;
    /* What no interval can tell from nothing is no reason to tie pools together, where the others
     * would do more on a job of their own. */
    if (a->any_alone && a->gain < LEAST_GAIN && a->jobs_gain > 2 * a->gain) {
        a->verdict = MYR_FIT_MIX_NONE;
        a->step_s = alone;
        a->gain = 0;
    }
    a->efficiency = rates > 0 ? 1 / a->step_s / rates : 1;
    MYR_ASSERT(a->gain >= 0 && a->step_s <= alone);
    /* What the mixture adds to the fastest pool, over what the other pools would do alone. */
    double others = rates - 1 / alone;
    a->worth = a->any_alone && mixed < 1e30 && others > 0 ? (1 / mixed - 1 / alone) / others : 0;
}

/* By how much the answer may be off where a question had to be given up. */
static void set_gap(struct myr_fit_mixed *mixed)
{
    mixed->gap = mixed->found ? mixed->step_s / mixed->floor_s - 1 : 0;
    MYR_ASSERT(mixed->gap >= 0);
}

/*
 * Every subset of two or more pools, each by batch and by layers; what is kept is the fastest of
 * each kind. An error only where no pool alone and no mixture works.
 */
int myr_fit_pools_search(const struct myr_fit_query *query, const struct myr_fit_pool *pools,
                         uint32_t pool_count, struct myr_arena *arena, struct myr_fit_pools *ret,
                         struct myr_err *err)
{
    *ret = (struct myr_fit_pools){};
    /* What PyTorch's own operators keep depends on the moment, which mixtures do not follow. */
    if (query->it.stack->era == MYR_ERA_TORCH) {
        return myr_err_set(err, MYR_EINVAL,
                           "'%s' is modelled on one kind of GPUs alone; name another --software",
                           query->it.stack->name);
    }
    struct fit_mixer *x = MYR_ARENA_ONE(arena, struct fit_mixer);
    MYR_ASSERT(pool_count >= 2 && pool_count <= MYR_FIT_POOLS_MAX);
    *x = (struct fit_mixer){.query = query, .pools = pools, .arena = arena};
    search_alone(x, pool_count, ret);
    /* All pools first: what they reach bounds what fewer of them have to. */
    for (uint32_t bits = (1U << pool_count) - 1; bits > 0; bits--) {
        choose(x, bits, pool_count);
        if (x->count > 1) {
            fit_mix_batch(x, &ret->batch);
            fit_mix_layers(x, &ret->layers);
        }
    }
    set_gap(&ret->layers); /* the batch is shared exactly: its gap is 0 */
    judge(ret, pool_count);
    if (!ret->any_alone && !ret->batch.found && !ret->layers.found) {
        struct myr_fit_answer *answer = MYR_ARENA_ONE(arena, struct myr_fit_answer);
        uint32_t largest = 0;
        for (uint32_t i = 1; i < pool_count; i++) {
            double bytes = pools[i].gpus * pools[i].device->memory_bytes;
            largest =
                bytes > pools[largest].gpus * pools[largest].device->memory_bytes ? i : largest;
        }
        struct myr_fit_query alone = alone_query(x, largest);
        int rc = myr_fit_search(&alone, arena, answer, err);
        MYR_ASSERT(rc < 0);
        (void)myr_err_wrap(err, "no pool alone and no mixture works; of the largest, %s:%u",
                           pools[largest].device->name, pools[largest].gpus);
        return rc;
    }
    return MYR_OK;
}

int myr_fit_pool_parse(const struct myr_profiles *profiles, const char *text,
                       struct myr_fit_pool *ret, struct myr_err *err)
{
    /* DEVICE:GPUS, cut at the last colon. */
    const char *colon = strrchr(text, ':');
    uint64_t gpus = 0;
    bool is_number = colon && myr_str_to_u64(myr_str_from(colon + 1), &gpus);
    if (!is_number || gpus == 0 || gpus > MYR_LAYOUT_GPUS_MAX) {
        int rc = is_number
                     ? myr_err_set(err, MYR_EINVAL, "--pool '%.60s': 1 to %u GPUs are expected",
                                   text, MYR_LAYOUT_GPUS_MAX)
                     : myr_err_set(err, MYR_EINVAL, "--pool '%.60s' is not DEVICE:GPUS", text);
        myr_err_hint(err, "--pool h800:512 --pool a100-80:512");
        return rc;
    }
    struct myr_str name = {text, (size_t)(colon - text)};
    struct myr_fit_pool pool = {.gpus = (uint32_t)gpus};
    MYR_TRY(myr_profiles_device(profiles, name, &pool.device, err));
    *ret = pool;
    return MYR_OK;
}

const char *myr_fit_mix_name(enum myr_fit_mix mix)
{
    static const char *const names[] = {"do not mix", "share the batch", "share the layers"};
    MYR_ASSERT((size_t)mix < MYR_ARRAY_COUNT(names));
    return names[mix];
}
