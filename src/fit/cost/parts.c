/*
 * parts: a step taken apart as people ask for it: computing, waiting, moving and what of it is
 * hidden; and the timers that a Megatron log of it would show.
 */
#include "myriad/fit/parts.h"

#include "cost/combine.h"

static double sum_of(const struct myr_fit_cost *cost, const uint8_t *terms, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += cost->terms_s[terms[i]];
    }
    return sum;
}

/* Tokens that one GPU's host reads each step, ahead of when they are needed. */
static double io_s(const struct myr_fit_case *it, const struct myr_layout *layout)
{
    /* Four bytes a token, at 1 GB/s. */
    double sequences = (double)layout->global_batch / layout->dp;
    return sequences * myr_layout_seq(layout, it->model) / layout->cp * 4 / 1e9;
}

/* compute + waiting + communication - hidden is the step. */
void myr_fit_parts_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                      struct myr_fit_parts *ret)
{
    static const uint8_t computing[] = {MYR_FIT_GEMM,   MYR_FIT_ATTENTION,  MYR_FIT_EXPERTS,
                                        MYR_FIT_MEMORY, MYR_FIT_VOCABULARY, MYR_FIT_OPTIMISER};
    static const uint8_t waiting[] = {MYR_FIT_LAUNCH, MYR_FIT_BUBBLE, MYR_FIT_STRAGGLER};
    static const uint8_t moving[] = {MYR_FIT_TENSOR, MYR_FIT_CONTEXT, MYR_FIT_EXPERT_COMM,
                                     MYR_FIT_PIPELINE, MYR_FIT_DATA};
    static const uint8_t seen[] = {FIT_TENSOR_OVERLAP,     FIT_CONTEXT_SEEN, FIT_PIPELINE_SEEN,
                                   FIT_DATA_FLOOR,         FIT_ZERO3_FLOOR,  FIT_EXPERT_SEEN,
                                   FIT_EXPERT_SEEN_OVERLAP};
    /*
     * The same step with nothing hidden: every share that is seen is 1, and passes cover nothing.
     * The difference is what the stack hides.
     */
    double bare[MYR_FIT_CONSTANTS_MAX];
    struct myr_fit_case open = *it;
    struct myr_fit_cost cost, gross;
    memcpy(bare, it->constants, FIT_CONSTANT_COUNT * sizeof(*bare));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(seen); i++) {
        bare[seen[i]] = fit_max(1, bare[seen[i]]);
    }
    bare[FIT_DATA_HIDE] = 0;
    open.constants = bare;
    myr_fit_cost_of(it, layout, &cost);
    myr_fit_cost_of(&open, layout, &gross);
    /* Moving takes no less in all than what is seen of it. */
    double exposed = sum_of(&cost, moving, MYR_ARRAY_COUNT(moving));
    *ret = (struct myr_fit_parts){
        .compute_s = sum_of(&cost, computing, MYR_ARRAY_COUNT(computing)),
        .waiting_s = sum_of(&cost, waiting, MYR_ARRAY_COUNT(waiting)),
        .communication_s = fit_max(exposed, sum_of(&gross, moving, MYR_ARRAY_COUNT(moving))),
        .io_s = io_s(it, layout),
        .step_s = cost.step_s,
    };
    ret->hidden_communication_s = ret->communication_s - exposed;
    ret->hidden_io_s = ret->io_s;
}

const char *myr_fit_timer_name(enum myr_fit_timer timer)
{
    static const char *const names[] = {
#define FIT_TIMER_NAME(name, text) text,
        MYR_FIT_TIMERS(FIT_TIMER_NAME)
#undef FIT_TIMER_NAME
    };
    return names[timer];
}

/* Least and most over the stages, in whichever order they come. */
static void set(struct myr_fit_timers *timers, enum myr_fit_timer timer, double least, double most)
{
    timers->least_s[timer] = fit_min(least, most);
    timers->most_s[timer] = fit_max(least, most);
}

/* Stages differ in layers and in what they wait for: the last for the first micro-batch to come,
 * the first for its gradient to return. */
static void pipeline_timers(const struct myr_fit_case *it, const struct myr_layout *layout,
                            const struct fit_blocks *blocks, const struct myr_fit_cost *cost,
                            struct myr_fit_timers *ret)
{
    /* [0] is the least and [1] the most over all stages. */
    double m = myr_layout_micro_batches(layout), far = layout->pp - 1, forward[2] = {1e30, 0},
           backward[2] = {1e30, 0};
    struct fit_layer stage;
    for (uint32_t i = 0; i < layout->pp; i++) {
        fit_stage_of(it, layout, blocks, i, &stage);
        forward[0] = fit_min(forward[0], stage.forward.total);
        forward[1] = fit_max(forward[1], stage.forward.total);
        backward[0] = fit_min(backward[0], stage.backward.total);
        backward[1] = fit_max(backward[1], stage.backward.total);
    }
    double share = fit_bubble_share(layout), hops = cost->terms_s[MYR_FIT_PIPELINE];
    double hop = hops / (2 * m);
    set(ret, MYR_FIT_TIMER_FORWARD_COMPUTE, m * forward[0], m * forward[1]);
    set(ret, MYR_FIT_TIMER_BACKWARD_COMPUTE, m * backward[0], m * backward[1]);
    /* Who waits for stragglers does so in this timer, others end without them. */
    double all = cost->step_s - cost->terms_s[MYR_FIT_DATA] - cost->terms_s[MYR_FIT_OPTIMISER] -
                 cost->terms_s[MYR_FIT_STRAGGLER];
    set(ret, MYR_FIT_TIMER_FORWARD_BACKWARD, all, all + cost->terms_s[MYR_FIT_STRAGGLER]);
    if (layout->pp == 1) {
        return;
    }
    set(ret, MYR_FIT_TIMER_FORWARD_RECV, share * (forward[0] + hop),
        share * far * (forward[1] + hop));
    set(ret, MYR_FIT_TIMER_BACKWARD_RECV, share * (backward[0] + hop),
        share * far * (backward[1] + hop));
    set(ret, MYR_FIT_TIMER_FORWARD_SEND, hop, share * far * hop);
    set(ret, MYR_FIT_TIMER_BACKWARD_SEND, hop, share * far * hop);
    /* In the steady part a faster stage waits for the slowest one, each micro-batch. */
    double slack = m * (forward[1] + backward[1] - forward[0] - backward[0]);
    set(ret, MYR_FIT_TIMER_FORWARD_SEND_BACKWARD_RECV, m * hop, m * hop + slack);
    set(ret, MYR_FIT_TIMER_BACKWARD_SEND_FORWARD_RECV, m * hop, m * hop + slack);
}

/*
 * As --timing-log-level 2 prints them, least and most over the stages; what a layout does not have
 * stays 0.
 */
void myr_fit_timers_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                       struct myr_fit_timers *ret)
{
    struct fit_blocks blocks;
    struct myr_fit_cost cost;
    struct myr_numerics numerics = myr_layout_numerics(layout);
    struct fit_places places = fit_places_of(it, layout);
    struct myr_rank_params params = myr_rank_params(layout, it->model, 0);
    *ret = (struct myr_fit_timers){};
    fit_blocks_of(it, layout, &blocks);
    myr_fit_cost_of(it, layout, &cost);
    pipeline_timers(it, layout, &blocks, &cost, ret);
    double read = io_s(it, layout);
    set(ret, MYR_FIT_TIMER_BATCH_GENERATOR, read, read);
    if (layout->sequence_parallel) {
        double norms = fit_collective_s(it, MYR_ALL_REDUCE, layout->tp, places.tp_near,
                                        (double)params.replicated * numerics.reduce_bytes);
        set(ret, MYR_FIT_TIMER_LAYERNORM, norms, norms);
    }
    if (it->model->tied && layout->pp > 1) {
        double table = (double)it->model->vocab / layout->tp * it->model->hidden;
        double both =
            fit_collective_s(it, MYR_ALL_REDUCE, 2, fit_near_all(1), table * numerics.reduce_bytes);
        set(ret, MYR_FIT_TIMER_EMBEDDING, 0, both);
    }
    /*
     * What is seen of the exchange is one sum: it is divided as the bytes of its two ways are.
     * ZeRO-0 gathers nothing.
     */
    double gathered = layout->zero ? numerics.gather_bytes : 0, reduced = numerics.reduce_bytes;
    double gather = cost.terms_s[MYR_FIT_DATA] * gathered / (gathered + reduced);
    set(ret, MYR_FIT_TIMER_PARAMS_GATHER, gather, gather);
    set(ret, MYR_FIT_TIMER_GRADS_SYNC, cost.terms_s[MYR_FIT_DATA] - gather,
        cost.terms_s[MYR_FIT_DATA] - gather);
    double update = cost.terms_s[MYR_FIT_OPTIMISER];
    set(ret, MYR_FIT_TIMER_INNER_STEP, update - it->constants[FIT_STEP] * 1e-3,
        update - it->constants[FIT_STEP] * 1e-3);
    set(ret, MYR_FIT_TIMER_OPTIMIZER, update + gather, update + gather);
}
