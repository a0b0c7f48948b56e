/*
 * pace: the line under a pipeline's time, over its micro-batches: what one more costs, and what the
 * ends add. The search over parts of a batch bounds with it before it plays.
 */
#include "mixed/pace.h"

/* Layers of a stage's first chunk, at their fastest. */
static double chunk_s(const struct myr_model *model, const struct myr_layout *layout,
                      const struct fit_blocks *blocks, uint32_t stage)
{
    double least = 1e30;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (blocks->used[k]) {
            const struct fit_layer *layer = &blocks->layers[k];
            least = fit_min(least, layer->forward.total + layer->backward.total);
        }
    }
    return myr_layout_chunk_layers(layout, model, stage).count * least;
}

/*
 * A pipeline of n micro-batches takes no less than 'fill' and n units: the bound of many of them,
 * whose slowest stage decides, less those. With fewer the bound is only higher.
 */
static void set_line(const struct myr_layout *layout, const struct fit_stages *all, double unit_s,
                     struct fit_way *ret)
{
    /* So many that what the ends add is past; the hair less covers rounding at that size. */
    const double many = 1 << 20;
    double rest = fit_pipe_floor_s(layout, many, all) - many * unit_s;
    ret->unit_s = unit_s;
    ret->fill_s = fit_max(0, rest - 1e-6 * unit_s);
}

/* 'ret_pipe' is of the slowest stage: its passes are what an exchange hides behind. */
void fit_pace_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct fit_blocks *blocks, double hop_s, struct fit_way *ret,
                 struct fit_pipe *ret_pipe)
{
    uint32_t slowest = 0;
    struct fit_stage_s stages[MYR_FIT_STAGES_MAX];
    struct fit_stages all = {.stages = stages};
    /* Half of what is beside layers belongs to each pass. */
    double each = (it->constants[FIT_LAUNCH_MICRO] * 1e-3 + hop_s) / 2, unit = 0;
    MYR_ASSERT(layout->pp <= MYR_FIT_STAGES_MAX);
    *ret_pipe = (struct fit_pipe){};
    for (uint32_t i = 0; i < layout->pp; i++) {
        struct fit_layer layer;
        fit_stage_of(it, layout, blocks, i, &layer);
        struct fit_stage_s stage = {.forward_s = layer.forward.total + each,
                                    .weight_s = layer.weight_s,
                                    .chunk_s = chunk_s(it->model, layout, blocks, i),
                                    .count = 1,
                                    .first = i,
                                    .last = i};
        stage.total_s = stage.forward_s + layer.backward.total + each;
        if (stage.total_s > unit) {
            unit = stage.total_s;
            slowest = i;
            ret_pipe->forward_s = layer.forward.total;
            ret_pipe->backward_s = layer.backward.total;
        }
        fit_add_stage(&all, stage);
    }
    ret_pipe->params = myr_rank_params(layout, it->model, slowest);
    set_line(layout, &all, unit, ret);
}

void fit_shape_pace(const struct myr_fit_case *it, const struct myr_layout *layout,
                    const struct fit_shape *shape, const struct fit_blocks *blocks,
                    struct fit_way *ret)
{
    struct fit_stage_s stages[FIT_SHAPE_KINDS];
    struct fit_stages all = {.stages = stages};
    /* Without transfers, and without prediction modules' layers: a bound may leave them out. */
    double each = it->constants[FIT_LAUNCH_MICRO] * 1e-3 / 2, unit = 0, outputs = 1;
    outputs += it->model->mtp_count;
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        const struct fit_stage_kind *kind = &shape->kinds[i];
        struct fit_stage_s stage = {.forward_s = each,
                                    .count = kind->count,
                                    .first = kind->stage,
                                    .last = kind->last_stage};
        double backward = each;
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            if (kind->layers[k] > 0) {
                stage.forward_s += kind->layers[k] * blocks->layers[k].forward.total;
                backward += kind->layers[k] * blocks->layers[k].backward.total;
                stage.weight_s += kind->layers[k] * blocks->layers[k].weight_s;
            }
        }
        stage.forward_s += (kind->first ? blocks->embedding.forward.total : 0) +
                           (kind->last ? outputs * blocks->output.forward.total : 0);
        backward += (kind->first ? blocks->embedding.backward.total : 0) +
                    (kind->last ? outputs * blocks->output.backward.total : 0);
        stage.weight_s += (kind->first ? blocks->embedding.weight_s : 0) +
                          (kind->last ? outputs * blocks->output.weight_s : 0);
        stage.total_s = stage.forward_s + backward;
        unit = fit_max(unit, stage.total_s);
        fit_add_stage(&all, stage);
    }
    set_line(layout, &all, unit, ret);
}
