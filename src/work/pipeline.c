#include "myriad/work/ranks.h"

/*
 * Where layers do not divide, the outer chunks are the shorter ones: they have the embedding and
 * the output beside their layers.
 */
static struct myr_span even_span(uint32_t layers, uint32_t chunks, uint32_t chunk)
{
    /* 'shorter' chunks get one layer less: half of them, rounded up, at the end. */
    uint32_t base = layers / chunks;
    uint32_t extra = layers % chunks;
    if (extra == 0) {
        return (struct myr_span){base * chunk, base};
    }
    uint32_t shorter = chunks - extra;
    uint32_t at_start = shorter / 2;
    uint32_t end = at_start + extra; /* first of the shorter chunks at the end */
    uint32_t before = chunk < at_start ? 0 : (chunk < end ? chunk : end) - at_start;
    bool longer = chunk >= at_start && chunk < end;
    return (struct myr_span){base * chunk + before, base + (longer ? 1 : 0)};
}

/* The first and the last stage have a number of layers of their own. */
static struct myr_span fixed_span(const struct myr_layout *layout, uint32_t layers, uint32_t chunk)
{
    uint32_t pp = layout->pp;
    uint32_t vp = layout->vp;
    uint32_t fixed_stages = (layout->first_layers > 0) + (layout->last_layers > 0);
    uint32_t rest_chunks = (pp - fixed_stages) * vp;
    uint32_t rest = layers - layout->first_layers - layout->last_layers;
    uint32_t middle = rest_chunks ? rest / rest_chunks : 0;
    uint32_t first = layout->first_layers ? layout->first_layers / vp : middle;
    uint32_t last = layout->last_layers ? layout->last_layers / vp : middle;
    /* Layers of one round over all stages: chunk c is on stage c mod pp in round c / pp. */
    uint32_t round = first + (pp - 2) * middle + last;
    uint32_t stage = chunk % pp;
    uint32_t start = round * (chunk / pp) + (stage > 0 ? first + (stage - 1) * middle : 0);
    return (struct myr_span){start, stage == 0 ? first : stage == pp - 1 ? last : middle};
}

/* The layers of a chunk, in order; an outer one may have none. */
struct myr_span myr_layout_chunk_layers(const struct myr_layout *layout,
                                        const struct myr_model *model, uint32_t chunk)
{
    uint32_t chunks = layout->pp * layout->vp;
    MYR_ASSERT(chunk < chunks);
    if (layout->first_layers > 0 || layout->last_layers > 0) {
        return fixed_span(layout, model->layer_count, chunk);
    }
    if (layout->output_counts) {
        uint32_t ends = 1 + model->mtp_count;
        /*
         * The output and each module stand for a layer in the deal and are then taken off the last
         * chunk.
         */
        struct myr_span span = even_span(model->layer_count + ends, chunks, chunk);
        MYR_ASSERT(chunk + 1 < chunks || span.count >= ends);
        span.count -= chunk + 1 == chunks ? ends : 0;
        return span;
    }
    return even_span(model->layer_count, chunks, chunk);
}

/* DualPipe keeps two chunks a stage without interleaving: its own and the mirrored one. */
uint32_t myr_layout_stage_chunk_count(const struct myr_layout *layout)
{
    return layout->schedule == MYR_SCHEDULE_DUALPIPE ? 2 : layout->vp;
}

/* The index-th chunk of a stage; of DualPipe's two the stage's own first, then the mirrored one. */
uint32_t myr_layout_stage_chunk(const struct myr_layout *layout, uint32_t stage, uint32_t index)
{
    MYR_ASSERT(stage < layout->pp);
    MYR_ASSERT(index < myr_layout_stage_chunk_count(layout));
    if (layout->schedule == MYR_SCHEDULE_DUALPIPE) {
        return index == 0 ? stage : layout->pp - 1 - stage;
    }
    return stage + index * layout->pp;
}

/* Each of DualPipe's two directions sees half of the micro-batches. */
uint32_t myr_layout_passes(const struct myr_layout *layout)
{
    uint32_t count = myr_layout_micro_batches(layout);
    return layout->schedule == MYR_SCHEDULE_DUALPIPE ? count / 2 : count;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Chunk passes whose activations a stage holds at the fullest moment (docs/work.md, "The
 * pipeline").
 */
uint32_t myr_layout_in_flight_all(const struct myr_layout *layout, uint32_t stage)
{
    uint64_t pp = layout->pp;
    uint64_t vp = layout->vp;
    uint64_t passes = myr_layout_passes(layout);
    MYR_ASSERT(stage < pp);
    switch (layout->schedule) {
    case MYR_SCHEDULE_INTERLEAVED:
        return (uint32_t)min_u64(passes * vp, 2 * (pp - stage - 1) + (vp - 1) * pp + 1);
    case MYR_SCHEDULE_DUALPIPE:
        /* pp + 1 in all, the odd one with the stage's own direction. */
        return (uint32_t)(min_u64(passes, pp / 2 + 1) + min_u64(passes, pp / 2));
    case MYR_SCHEDULE_1F1B:
    case MYR_SCHEDULE_ZERO_BUBBLE:
        break;
    }
    return (uint32_t)min_u64(passes, pp - stage);
}

/* The same of one of its chunks. */
uint32_t myr_layout_in_flight(const struct myr_layout *layout, uint32_t stage, uint32_t index)
{
    uint64_t pp = layout->pp;
    uint64_t vp = layout->vp;
    MYR_ASSERT(index < myr_layout_stage_chunk_count(layout));
    if (layout->schedule == MYR_SCHEDULE_INTERLEAVED) {
        /*
         * Chunk passes go round in groups of pp through the chunks in turn: whole rounds first,
         * then what is left from chunk 0 on.
         */
        uint64_t held = myr_layout_in_flight_all(layout, stage);
        uint64_t rounds = held / (pp * vp);
        uint64_t rest = held % (pp * vp);
        uint64_t skipped = min_u64(rest, index * pp);
        return (uint32_t)(rounds * pp + min_u64(rest - skipped, pp));
    }
    if (layout->schedule == MYR_SCHEDULE_DUALPIPE) {
        MYR_ASSERT(stage < pp);
        return (uint32_t)min_u64(myr_layout_passes(layout), index == 0 ? pp / 2 + 1 : pp / 2);
    }
    return myr_layout_in_flight_all(layout, stage);
}
