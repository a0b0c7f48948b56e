#include "launch_pools.h"

/*
 * Several kinds of GPUs for one job. The search of 'fit' says whether they are best mixed; as no
 * trainer can be told to mix them, the fastest pool is started alone, and what the others could do
 * is said.
 */

/* The pools of the question and what the search says of them. */
struct choice {
    const struct myr_fit_pool *pools;
    uint32_t count;
    const struct myr_fit_pools *found;
    struct myr_arena *arena;
};

/* "a100-80:5", or several of them: those that are left to jobs of their own. */
static const char *others_of(const struct choice *c)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    for (uint32_t i = 0; i < c->count; i++) {
        if (i != c->found->fastest) {
            myr_buf_printf(&words, "%s%s:%u", words.len ? " and " : "", c->pools[i].device->name,
                           c->pools[i].gpus);
        }
    }
    return myr_arena_strndup(c->arena, words.data, words.len);
}

/* For the head of the script: why only one pool is started, and what the others are good for. */
static const char *note_of(const struct choice *c)
{
    const struct myr_fit_pools *found = c->found;
    const struct myr_fit_pool *taken = &c->pools[found->fastest];
    return myr_arena_printf(c->arena,
                            "of the pools %s:%u alone is started: to mix them is not worth it. "
                            "With %s on jobs of their own all do %.1f %% more",
                            taken->device->name, taken->gpus, others_of(c), 100 * found->jobs_gain);
}

/* Replicas with batches of their own, or stages that make other layers again. */
static void refuse(const struct choice *c, struct myr_err *why)
{
    const struct myr_fit_pools *found = c->found;
    /* Replicas of several speeds would need batches of several sizes, stages other layers to make
     * again. */
    bool batch = found->verdict == MYR_FIT_MIX_BATCH;
    (void)myr_err_set(why, MYR_EINFEASIBLE,
                      "the pools are best mixed (%s, %.4g s a step), and no trainer is told to: %s",
                      myr_fit_mix_name(found->verdict), found->step_s,
                      batch ? "each gives all replicas as many micro-batches"
                            : "each makes as many layers again in every stage");
    /* One of the pools may be too small to hold the model by itself. */
    if (found->any_alone) {
        const struct myr_fit_pool *fastest = &c->pools[found->fastest];
        myr_err_hint(why, "--device %s --gpus %u starts the fastest pool alone: %.4g s a step",
                     fastest->device->name, fastest->gpus, found->alone[found->fastest].step_s);
    }
}

/* A pool says device and number itself, and the search says the layout. */
static int check(const struct myr_launch_question *q, struct myr_err *err)
{
    const char *odd = q->of.design   ? "--design"
                      : q->of.device ? "--device"
                      : q->of.gpus   ? "--gpus"
                      : q->of.layout ? "--layout"
                                     : NULL;
    if (odd) {
        return myr_err_set(err, MYR_EINVAL, "%s does not go with --pool", odd);
    }
    if (q->pool_count < 2 || q->pool_count > MYR_FIT_POOLS_MAX) {
        return myr_err_set(err, MYR_EINVAL, "%u of --pool, 2 to %d are expected", q->pool_count,
                           MYR_FIT_POOLS_MAX);
    }
    return MYR_OK;
}

/* The question is changed so that it asks for one pool alone, unless mixing is the better way. */
int launch_choose_pool(const struct myr_launch_question *question, struct myr_arena *arena,
                       struct myr_case_question *of, struct myr_launch_answer *ret,
                       struct myr_err *err)
{
    struct myr_fit_pool *pools = MYR_ARENA_NEW(arena, struct myr_fit_pool, MYR_FIT_POOLS_MAX);
    struct myr_fit_pools *found = MYR_ARENA_ONE(arena, struct myr_fit_pools);
    struct choice c = {pools, question->pool_count, found, arena};
    int rc = check(question, err);
    if (rc < 0) {
        myr_err_hint(err, "--pool h800:512 --pool a100-80:512");
        return rc;
    }
    /* A case of its own for the search; given back where one pool is started alone. */
    of->pooled = true;
    MYR_TRY(myr_case_init(&ret->it, arena, of, err));
    for (uint32_t i = 0; i < c.count; i++) {
        MYR_TRY(myr_fit_pool_parse(&ret->it.profiles, question->pools[i], &pools[i], err));
    }
    ret->pooled = true;
    rc = myr_fit_pools_search(&ret->it.query, pools, c.count, arena, found, &ret->why);
    if (rc < 0 && rc != MYR_EINFEASIBLE) {
        *err = ret->why;
        return rc;
    }
    if (rc == MYR_OK && found->verdict != MYR_FIT_MIX_NONE) {
        refuse(&c, &ret->why);
    }
    /* Infeasible, or mixed: the answer is 'why', with the pools' case. */
    if (ret->why.code != MYR_OK) {
        return MYR_OK;
    }
    of->pooled = ret->pooled = false;
    of->device = pools[found->fastest].device->name;
    of->gpus = pools[found->fastest].gpus;
    of->software = ret->it.query.it.stack->name; /* the one that decided */
    ret->pool_note = note_of(&c);
    myr_case_done(&ret->it);
    return MYR_OK;
}
