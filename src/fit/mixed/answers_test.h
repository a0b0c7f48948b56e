/* answers_test: questions, layouts and mixtures as text, for tests that keep what was said. */
#pragma once

#include "myriad/fit/pools.h"

static inline void put_question(struct myr_buf *text, const struct myr_fit_query *q)
{
    myr_buf_printf(text, "%s on %u %s, %s, batch %u, seq %u, tp%u pp%u vp%u dp%u cp%u ep%u b%u",
                   q->it.model->name, q->gpus, q->it.device->name, q->it.stack->name, q->batch,
                   q->seq_tokens, q->tp, q->pp, q->vp, q->dp, q->cp, q->ep, q->micro_batch);
    myr_buf_printf(text, " zero %d again %d schedule %d sp %d domain %u nic %g any %d\n", q->zero,
                   q->recompute, q->schedule, q->sequence_parallel, q->it.domain_gpus,
                   q->it.nic_gbps, q->any_precision);
}

static inline void put_found(struct myr_buf *text, const struct myr_fit_found *found)
{
    const struct myr_layout *l = &found->layout;
    myr_buf_printf(text, "  %.8g s: tp%u pp%u vp%u dp%u cp%u ep%u etp%u z%u/%u b%u", found->step_s,
                   l->tp, l->pp, l->vp, l->dp, l->cp, l->ep, l->etp, l->zero, l->shard,
                   l->micro_batch);
    myr_buf_printf(text, " %s %u, %u to %u layers, sp %d, schedule %d, %s, order",
                   myr_recompute_name(l->recompute), l->recompute_layers, l->first_layers,
                   l->last_layers, l->sequence_parallel, (int)l->schedule,
                   myr_precision_name(l->precision));
    for (int i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        myr_buf_printf(text, " %d", (int)l->order[i]);
    }
    myr_buf_putc(text, '\n');
}

static inline void put_mixed(struct myr_buf *text, const char *how,
                             const struct myr_fit_mixed *mixed)
{
    if (!mixed->found) {
        myr_buf_printf(text, "  %s: none\n", how);
        return;
    }
    myr_buf_printf(text,
                   "  %s: %.8g s, exchange %.6g, floor %.8g, gap %.4g, %llu asked, inside %d\n",
                   how, mixed->step_s, mixed->exchange_s, mixed->floor_s, mixed->gap,
                   (unsigned long long)mixed->asked, mixed->cut_inside);
    for (uint32_t p = 0; p < MYR_FIT_POOLS_MAX; p++) {
        const struct myr_fit_part *part = &mixed->parts[p];
        if (part->used) {
            myr_buf_printf(text, "   pool %u: batch %u, stages %u + %u, %.6g bytes\n", p,
                           part->batch, part->first_stage, part->stages, part->memory_bytes);
            put_found(text, &(struct myr_fit_found){part->layout, part->step_s});
        }
    }
    for (uint32_t i = 0; i < mixed->stage_count; i++) {
        const struct myr_fit_stage *stage = &mixed->stages[i];
        myr_buf_printf(text, " %u/%s/%u", stage->layers, myr_recompute_name(stage->recompute),
                       stage->recompute_layers);
    }
    myr_buf_puts(text, mixed->stage_count ? ", order" : "");
    for (uint32_t i = 0; i < mixed->order_count; i++) {
        myr_buf_printf(text, " %u", mixed->order[i]);
    }
    myr_buf_puts(text, mixed->stage_count ? "\n" : "");
}

static inline void put_mixture(struct myr_buf *text, const struct myr_fit_query *query,
                               const struct myr_fit_pool *pools, uint32_t count)
{
    struct myr_err err = {};
    struct myr_fit_pools found;
    struct myr_arena own;
    myr_arena_init(&own);
    put_question(text, query);
    for (uint32_t p = 0; p < count; p++) {
        myr_buf_printf(text, "  %u x %s\n", pools[p].gpus, pools[p].device->name);
    }
    int rc = myr_fit_pools_search(query, pools, count, &own, &found, &err);
    if (rc < 0) {
        myr_buf_printf(text, "  %d: %s\n  hint: %s\n", rc, err.message, err.hint);
    } else {
        put_mixed(text, "batch", &found.batch);
        put_mixed(text, "layers", &found.layers);
        myr_buf_printf(text, "  %s: %.8g s, gain %.6g, efficiency %.6g, worth %.6g, jobs %.6g\n",
                       myr_fit_mix_name(found.verdict), found.step_s, found.gain, found.efficiency,
                       found.worth, found.jobs_gain);
    }
    myr_arena_done(&own);
}
