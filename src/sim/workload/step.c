#include <stdlib.h>

#include "myriad/sim/workload.h"
#include "myriad/text/amount.h"

/*
 * One training step. All ranks of a pipeline stage do the same at the same time, so a stage is one
 * actor: a micro-batch's forward or backward pass is one computing task, what it sends to the next
 * stage is one pattern of all its ranks. Collectives of a pass (tensor, context, experts) follow
 * its computing, as rings of their groups; gradients and parameters go as rings of the
 * data-parallel groups when a stage has done its last backward pass.
 */

struct step_builder {
    struct myr_sim *sim;
    struct myr_ranks ranks;
    const struct myr_step *step;
    uint32_t stages, micro_batches;      /* of the pipeline, and through each stage */
    uint32_t *down_pattern, *up_pattern; /* by stage: to the next, to the previous */
    uint32_t *inner_pattern;             /* by stage and kind of inner collective */
    uint32_t *permille;                  /* by stage: speed of its slowest node */
    uint32_t *stage_of;                  /* by rank: asked for every stage in turn */
    /* Of the pattern that is being collected. */
    MYR_VEC(struct myr_message) messages;
};

/* Without a list rank r is GPU r. */
static uint32_t gpu_at(const struct step_builder *b, uint32_t rank)
{
    return b->ranks.gpus ? b->ranks.gpus[rank] : rank;
}

/* Kept, because every rank is asked for by every pattern. */
static void list_stages(struct step_builder *b)
{
    b->stage_of = myr_xcalloc(b->ranks.count, sizeof(*b->stage_of));
    for (uint32_t rank = 0; rank < b->ranks.count; rank++) {
        b->stage_of[rank] = myr_layout_coords(b->step->layout, rank).pp;
        MYR_ASSERT(b->stage_of[rank] < b->stages);
    }
}

/* What has been collected, routed at once; the list is empty again. */
static int take_pattern(struct step_builder *b, bool cyclic, uint32_t *ret, struct myr_err *err)
{
    *ret = myr_sim_pattern(b->sim, b->messages.items, (uint32_t)b->messages.count);
    if (cyclic) {
        myr_sim_pattern_cyclic(b->sim, *ret);
    }
    b->messages.count = 0;
    return myr_sim_route(b->sim, err);
}

/* Every rank of a stage to the rank with the same place in another stage. */
static int stage_pattern(struct step_builder *b, uint32_t from, uint32_t to, uint32_t *ret,
                         struct myr_err *err)
{
    const struct myr_layout *layout = b->step->layout;
    for (uint32_t rank = 0; rank < b->ranks.count; rank++) {
        if (b->stage_of[rank] == from) {
            struct myr_coords coords = myr_layout_coords(layout, rank);
            coords.pp = to;
            struct myr_message message = {gpu_at(b, rank),
                                          gpu_at(b, myr_layout_rank(layout, &coords))};
            myr_vec_push(&b->messages, message);
        }
    }
    return take_pattern(b, false, ret, err);
}

/* Rings of all groups of an axis that lie in a stage. */
static int ring_pattern(struct step_builder *b, enum myr_axis axis, uint32_t stage, uint32_t *ret,
                        struct myr_err *err)
{
    struct myr_groups groups;
    myr_groups_init(&groups, b->step->layout, axis);
    for (uint32_t g = 0; g < groups.group_count && groups.group_size > 1; g++) {
        uint32_t first = myr_groups_member(&groups, g, 0);
        if (stage != MYR_NONE && b->stage_of[first] != stage) {
            continue;
        }
        /* Once round the group, the last back to the first. */
        uint32_t from = gpu_at(b, first);
        for (uint32_t m = 1; m <= groups.group_size; m++) {
            uint32_t to = gpu_at(b, myr_groups_member(&groups, g, m % groups.group_size));
            myr_vec_push(&b->messages, ((struct myr_message){from, to}));
            from = to;
        }
    }
    return take_pattern(b, true, ret, err);
}

/* To the nearest picosecond; what no clock can show is the end of time, and the run says so. */
static myr_ps seconds(double s)
{
    double ps = s * (double)MYR_PS_PER_S + 0.5;
    return ps < 9e18 ? (myr_ps)ps : INT64_MAX;
}

/* By the order of enum myr_comm_kind: those of the step's end come last. */
static bool is_gradient(enum myr_comm_kind kind)
{
    return kind >= MYR_COMM_DP_GRADIENT;
}

/* Between stages: played by join_stages(), not inside a pass. */
static bool is_pipeline(enum myr_comm_kind kind)
{
    return kind == MYR_COMM_PP_ACTIVATION || kind == MYR_COMM_PP_GRADIENT;
}

/* A stage waits for its slowest node. */
static void find_slow_stages(struct step_builder *b, uint32_t gpus_per_node)
{
    for (uint32_t s = 0; s < b->stages; s++) {
        b->permille[s] = 1000;
    }
    for (uint32_t rank = 0; rank < b->ranks.count; rank++) {
        uint32_t speed = myr_sim_node_permille(b->sim, gpu_at(b, rank) / gpus_per_node);
        if (speed < 1000) {
            uint32_t *least = &b->permille[b->stage_of[rank]];
            *least = speed < *least ? speed : *least;
        }
    }
}

/* Part of a stage's layers whose forward pass is made again in the backward one. */
static double remade_share(const struct step_builder *b, uint32_t stage)
{
    const struct myr_layout *layout = b->step->layout;
    uint32_t layers = 0, again = 0;
    if (layout->recompute != MYR_RECOMPUTE_FULL || layout->recompute_layers == 0) {
        return 1; /* all of them, or none */
    }
    for (uint32_t i = 0; i < myr_layout_stage_chunk_count(layout); i++) {
        uint32_t chunk = myr_layout_stage_chunk(layout, stage, i);
        uint32_t have = myr_layout_chunk_layers(layout, b->step->model, chunk).count;
        layers += have;
        again += have < layout->recompute_layers ? have : layout->recompute_layers;
    }
    return layers ? (double)again / layers : 1;
}

/* Of one sequence through all layers: twice the forward pass, and what is made again. */
static double backward_flops(const struct step_builder *b, uint32_t stage,
                             const struct myr_flops *flops)
{
    double all = (double)myr_flops_train(flops, b->step->layout->recompute);
    double plain = (double)myr_flops_train(flops, MYR_RECOMPUTE_NONE);
    MYR_ASSERT(all >= plain);
    return plain - (double)flops->forward + (all - plain) * remade_share(b, stage);
}

/* Computing time of one pass of a micro-batch through a stage. */
static myr_ps pass_time(const struct step_builder *b, uint32_t stage, bool backward)
{
    const struct myr_layout *layout = b->step->layout;
    uint32_t seq = myr_layout_seq(layout, b->step->model);
    struct myr_flops flops = myr_model_flops(b->step->model, seq);
    uint32_t layers = 0, all = b->step->model->layer_count;
    MYR_ASSERT(stage < b->stages);
    MYR_ASSERT(b->permille[stage] > 0); /* slow, not dead */
    for (uint32_t i = 0; i < myr_layout_stage_chunk_count(layout); i++) {
        uint32_t chunk = myr_layout_stage_chunk(layout, stage, i);
        layers += myr_layout_chunk_layers(layout, b->step->model, chunk).count;
    }
    double pass = backward ? backward_flops(b, stage, &flops) : (double)flops.forward;
    double sequence = pass * layers / all;
    /* Tensor and context parallel ranks share a sequence; a micro-batch may have several. */
    double total = sequence * layout->micro_batch / (layout->tp * layout->cp);
    return seconds(total / b->step->flops_per_s * 1000 / b->permille[stage]);
}

/* What one pass moves over an axis inside it (tensor, context, experts), as bytes a rank sends. */
static uint64_t inner_bytes(const struct step_builder *b, const struct myr_comm_list *list,
                            enum myr_axis axis, enum myr_phase phase)
{
    unsigned __int128 bytes = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct myr_comm *row = &list->rows[i];
        if (row->axis == axis && row->phase == phase && !is_gradient(row->kind) &&
            !is_pipeline(row->kind)) {
            bytes += (unsigned __int128)myr_comm_wire_bytes(row) * row->count;
        }
    }
    /* Rows are of the whole step: a pass has its micro-batch's part. */
    return (uint64_t)(bytes / (b->micro_batches ? b->micro_batches : 1));
}

/* What one micro-batch sends to a neighbouring stage; 0 where the stage has none on that side. */
static uint64_t pipeline_bytes(const struct myr_comm_list *list, enum myr_comm_kind kind)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->rows[i].kind == kind) {
            return list->rows[i].bytes;
        }
    }
    return 0;
}

/* Axes of exchanges inside a pass, in the order in which put_pass() plays them. */
enum { INNER_AXES = 4 };
static const enum myr_axis inner_axes[INNER_AXES] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP,
                                                     MYR_AXIS_ETP};

/* A pass: computing, then what it exchanges inside the stage. Returns the last task. */
static uint32_t put_pass(struct step_builder *b, uint32_t stage, const struct myr_comm_list *list,
                         bool backward, uint32_t *ret_first)
{
    uint32_t task = myr_sim_compute(b->sim, pass_time(b, stage, backward));
    *ret_first = task;
    for (uint32_t i = 0; i < INNER_AXES; i++) {
        uint64_t bytes =
            inner_bytes(b, list, inner_axes[i], backward ? MYR_PHASE_BACKWARD : MYR_PHASE_FORWARD);
        if (bytes == 0) {
            continue;
        }
        uint32_t pattern = b->inner_pattern[stage * INNER_AXES + i];
        uint32_t next = myr_sim_transfer(b->sim, pattern, bytes, 1);
        myr_sim_after(b->sim, next, task);
        task = next;
    }
    return task;
}

/* Each once, though it is sent for every micro-batch. */
static int make_patterns(struct step_builder *b, struct myr_err *err)
{
    int rc = MYR_OK;
    for (uint32_t s = 0; rc == MYR_OK && s < b->stages; s++) {
        if (s + 1 < b->stages) {
            rc = stage_pattern(b, s, s + 1, &b->down_pattern[s], err);
        }
        if (rc == MYR_OK && s > 0) {
            rc = stage_pattern(b, s, s - 1, &b->up_pattern[s], err);
        }
        for (uint32_t i = 0; rc == MYR_OK && i < INNER_AXES; i++) {
            rc = ring_pattern(b, inner_axes[i], s, &b->inner_pattern[s * INNER_AXES + i], err);
        }
    }
    return rc;
}

/* Tasks of a pass: what it waits for goes to the first, who waits for it waits for the last. */
struct pass_ends {
    uint32_t first, last;
};

/* One stage's passes in 1F1B order, each after the one before. */
static void put_stage(struct step_builder *b, uint32_t stage, uint32_t after,
                      struct pass_ends *forward, struct pass_ends *backward)
{
    struct myr_comm_list list;
    uint32_t m = b->micro_batches, f = 0, g = 0, previous = after;
    /*
     * Forward passes before the first backward one: as many as the stages from here to the end, so
     * that gradients are back in time.
     */
    uint32_t warm = b->stages - stage < m ? b->stages - stage : m;
    myr_comm_of(b->step->layout, b->step->model, stage, &list);
    while (g < m) {
        bool back = f == m || (f >= warm && f - g >= warm);
        struct pass_ends *ends = back ? &backward[g++] : &forward[f++];
        ends->last = put_pass(b, stage, &list, back, &ends->first);
        if (previous != MYR_NONE) {
            myr_sim_after(b->sim, ends->first, previous);
        }
        previous = ends->last;
    }
    MYR_ASSERT(f == m);
    MYR_ASSERT(g == m); /* what went forward has come back */
}

/* Joins the stages: activations go down, gradients come up. */
static void join_stages(struct step_builder *b, struct pass_ends *forward,
                        struct pass_ends *backward)
{
    struct myr_comm_list list;
    uint32_t m = b->micro_batches;
    for (uint32_t s = 0; s < b->stages; s++) {
        myr_comm_of(b->step->layout, b->step->model, s, &list);
        uint64_t down = pipeline_bytes(&list, MYR_COMM_PP_ACTIVATION);
        uint64_t up = pipeline_bytes(&list, MYR_COMM_PP_GRADIENT);
        /* The first and the last stage send one way only: the other way has the same bytes. */
        up = up ? up : down;
        for (uint32_t i = 0; i < m; i++) {
            if (s + 1 < b->stages) {
                uint32_t send = myr_sim_transfer(b->sim, b->down_pattern[s], down ? down : up, 1);
                myr_sim_after(b->sim, send, forward[s * m + i].last);
                myr_sim_after(b->sim, forward[(s + 1) * m + i].first, send);
            } else {
                myr_sim_after(b->sim, backward[s * m + i].first, forward[s * m + i].last);
            }
            if (s > 0) {
                uint32_t send = myr_sim_transfer(b->sim, b->up_pattern[s], up, 1);
                myr_sim_after(b->sim, send, backward[s * m + i].last);
                myr_sim_after(b->sim, backward[(s - 1) * m + i].first, send);
            }
        }
    }
}

/* Gradients and parameters of a stage after its last backward pass, one row after the other. */
static int put_gradients(struct step_builder *b, uint32_t stage, uint32_t after, uint32_t end,
                         struct myr_err *err)
{
    struct myr_comm_list list;
    int rc = MYR_OK;
    myr_comm_of(b->step->layout, b->step->model, stage, &list);
    for (uint32_t i = 0; rc == MYR_OK && i < list.count; i++) {
        const struct myr_comm *row = &list.rows[i];
        /* The norm of the gradients is left out: it is one number. */
        if (!is_gradient(row->kind) || row->kind == MYR_COMM_GRAD_NORM) {
            continue;
        }
        uint32_t pattern;
        rc = ring_pattern(b, row->axis, stage, &pattern, err);
        if (rc == MYR_OK) {
            uint64_t bytes = myr_comm_wire_bytes(row) * row->count;
            uint32_t task = myr_sim_transfer(b->sim, pattern, bytes, row->group_size - 1);
            myr_sim_after(b->sim, task, after);
            after = task;
        }
    }
    myr_sim_after(b->sim, end, after);
    return rc;
}

static void builder_done(struct step_builder *b)
{
    free(b->down_pattern);
    free(b->up_pattern);
    free(b->inner_pattern);
    free(b->permille);
    free(b->stage_of);
    myr_vec_done(&b->messages);
}

/*
 * Patterns, the passes of each stage, what joins the stages, and the gradients behind the last
 * pass.
 */
int myr_load_step(struct myr_sim *sim, struct myr_ranks ranks, const struct myr_step *step,
                  uint32_t after, struct myr_step_result *ret, struct myr_err *err)
{
    MYR_CLEANUP(builder_done) struct step_builder b = {.sim = sim, .ranks = ranks, .step = step};
    b.stages = step->layout->pp;
    b.micro_batches = myr_layout_micro_batches(step->layout);
    if (myr_layout_gpus(step->layout) != ranks.count) {
        return myr_err_set(err, MYR_EINVAL, "the layout needs %s, %u are given",
                           MYR_COUNT(myr_layout_gpus(step->layout), "rank"), ranks.count);
    }
    MYR_ASSERT(b.stages > 0);
    MYR_ASSERT(b.micro_batches > 0); /* the layout was checked */
    b.down_pattern = myr_xcalloc(b.stages, sizeof(uint32_t));
    b.up_pattern = myr_xcalloc(b.stages, sizeof(uint32_t));
    b.inner_pattern = myr_xcalloc((size_t)b.stages * INNER_AXES, sizeof(uint32_t));
    b.permille = myr_xcalloc(b.stages, sizeof(uint32_t));
    list_stages(&b);
    find_slow_stages(&b, myr_sim_gpus_per_node(sim));
    size_t passes = (size_t)b.stages * b.micro_batches;
    MYR_CLEANUP(myr_free_at) struct pass_ends *forward = myr_xcalloc(passes, sizeof(*forward));
    MYR_CLEANUP(myr_free_at) struct pass_ends *backward = myr_xcalloc(passes, sizeof(*backward));
    MYR_TRY(make_patterns(&b, err));
    for (uint32_t s = 0; s < b.stages; s++) {
        put_stage(&b, s, after, &forward[s * b.micro_batches], &backward[s * b.micro_batches]);
    }
    join_stages(&b, forward, backward);
    ret->pipeline_end = myr_sim_compute(sim, 0);
    ret->end = ret->gradients_end = myr_sim_compute(sim, 0);
    for (uint32_t s = 0; s < b.stages; s++) {
        /* A stage's gradients wait for its own last pass only: the first stages still work then. */
        uint32_t last = backward[(s + 1) * b.micro_batches - 1].last;
        myr_sim_after(sim, ret->pipeline_end, last);
        MYR_TRY(put_gradients(&b, s, last, ret->end, err));
    }
    return MYR_OK;
}
