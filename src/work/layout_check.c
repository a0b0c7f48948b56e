/* The broken rules of a layout in words; layout_rules.c decides, this explains. */
#include <stdio.h>

#include "myriad/text/amount.h"
#include "myriad/work/layout.h"

enum { REASON_BYTES = 320 }; /* a longer message is cut off */

/*
 * Rules of the layout alone. Each of the three functions writes its own rules' words and leaves
 * 'text' as it is for the others', so that they can be called one after the other.
 */
static void explain_grid(enum myr_layout_rule rule, const struct myr_layout *l, uint64_t gpus,
                         char *text)
{
    uint32_t etp = myr_layout_etp(l);
    switch (rule) {
    case MYR_LAYOUT_SIZES:
        snprintf(
            text, REASON_BYTES,
            "tp %u, cp %u, dp %u, pp %u, vp %u, ep %u, etp %u, zero %u, micro_batch %u, "
            "global_batch %u, gradient_bytes %u: each size is at least 1, zero at most 3, GPUs at "
            "most %u, gradient_bytes 2 or 4",
            l->tp, l->cp, l->dp, l->pp, l->vp, l->ep, etp, l->zero, l->micro_batch, l->global_batch,
            l->gradient_bytes, MYR_LAYOUT_GPUS_MAX);
        break;
    case MYR_LAYOUT_ORDER:
        snprintf(text, REASON_BYTES, "the order must name tp, cp, ep, dp and pp once each");
        break;
    case MYR_LAYOUT_GPUS:
        snprintf(text, REASON_BYTES, "tp %u x cp %u x dp %u x pp %u = %llu GPUs, there are %llu",
                 l->tp, l->cp, l->dp, l->pp, (unsigned long long)myr_layout_gpus(l),
                 (unsigned long long)gpus);
        break;
    case MYR_LAYOUT_EXPERT_GRID:
        snprintf(text, REASON_BYTES,
                 "etp %u x ep %u does not divide tp %u x cp %u x dp %u, the ranks of a stage", etp,
                 l->ep, l->tp, l->cp, l->dp);
        break;
    case MYR_LAYOUT_EXPERT_ORDER:
        snprintf(text, REASON_BYTES,
                 "with this order the experts' grid cuts across pipeline stages; put pp last");
        break;
    case MYR_LAYOUT_SHARD:
        snprintf(text, REASON_BYTES,
                 "shard %u with ZeRO-%u: it must be a piece of cp %u, or cp times a divisor of dp "
                 "%u, leave whole copies of %u expert ranks, and need ZeRO",
                 l->shard, l->zero, l->cp, l->dp, myr_layout_edp(l));
        break;
    default:
        break;
    }
}

/* Rules of what is cut: heads, columns, experts. */
static void explain_widths(enum myr_layout_rule rule, const struct myr_layout *l,
                           const struct myr_model *model, char *text)
{
    const struct myr_moe *moe = &model->moe;
    uint32_t etp = myr_layout_etp(l);
    switch (rule) {
    case MYR_LAYOUT_HEADS:
        snprintf(text, REASON_BYTES, "%u heads cannot be cut into tp %u", model->head_count, l->tp);
        break;
    case MYR_LAYOUT_KV_HEADS:
        snprintf(text, REASON_BYTES,
                 "%u key/value heads can neither be cut into nor repeated over "
                 "tp %u",
                 model->kv_head_count, l->tp);
        break;
    case MYR_LAYOUT_FFN:
        snprintf(text, REASON_BYTES,
                 "an FFN width of %u (shared experts %u) cannot be cut into "
                 "tp %u",
                 model->ffn_hidden, moe->shared_hidden, l->tp);
        break;
    case MYR_LAYOUT_NO_EXPERTS:
        snprintf(text, REASON_BYTES, "ep %u and etp %u, but the model has no experts", l->ep, etp);
        break;
    case MYR_LAYOUT_EXPERTS:
        snprintf(text, REASON_BYTES, "%u experts cannot be dealt to ep %u", moe->expert_count,
                 l->ep);
        break;
    case MYR_LAYOUT_EXPERT_FFN:
        snprintf(text, REASON_BYTES, "an expert width of %u cannot be cut into etp %u",
                 moe->expert_hidden, etp);
        break;
    case MYR_LAYOUT_EXPERT_TOKENS:
        snprintf(text, REASON_BYTES, "tp %u with ep %u and etp %u needs sequence_parallel: true",
                 l->tp, l->ep, etp);
        break;
    default:
        break;
    }
}

/* Rules of layers, schedule, batch and sequence. */
static void explain_run(enum myr_layout_rule rule, const struct myr_layout *l,
                        const struct myr_model *model, char *text)
{
    uint32_t seq = myr_layout_seq(l, model);
    switch (rule) {
    case MYR_LAYOUT_LAYERS:
        snprintf(text, REASON_BYTES, "pp %u x vp %u chunks are more than %u layers can fill", l->pp,
                 l->vp, model->layer_count);
        break;
    case MYR_LAYOUT_STAGE_LAYERS:
        snprintf(text, REASON_BYTES,
                 "first_layers %u and last_layers %u of %u layers do not leave "
                 "equal chunks for pp %u x vp %u",
                 l->first_layers, l->last_layers, model->layer_count, l->pp, l->vp);
        break;
    case MYR_LAYOUT_SCHEDULE:
        snprintf(text, REASON_BYTES,
                 "pp %u x vp %u does not suit the schedule: 'interleaved' is "
                 "for vp > 1 and pp > 1, all others for vp 1, 'dualpipe' for an even pp",
                 l->pp, l->vp);
        break;
    case MYR_LAYOUT_BATCH:
        snprintf(text, REASON_BYTES,
                 "a global batch of %u is no multiple of micro_batch %u x dp %u", l->global_batch,
                 l->micro_batch, l->dp);
        break;
    case MYR_LAYOUT_MICRO_BATCHES:
        snprintf(text, REASON_BYTES,
                 "%s a step %s not suit the schedule: a multiple "
                 "of pp %u for 'interleaved', even and at least %u for 'dualpipe'",
                 MYR_COUNT(myr_layout_micro_batches(l), "micro-batch"),
                 myr_layout_micro_batches(l) == 1 ? "does" : "do", l->pp, 2 * l->pp);
        break;
    case MYR_LAYOUT_SEQUENCE:
        /* Two reasons for one rule, asked in the order of sequence_ok(). */
        if (l->cp > 1 && seq % (2 * l->cp) != 0) {
            snprintf(text, REASON_BYTES,
                     "a sequence of %u tokens cannot be cut into 2 x cp %u pieces", seq, l->cp);
            break;
        }
        snprintf(text, REASON_BYTES,
                 "a sequence of %u tokens cannot be cut into %u parts (cp %u x tp %u, sequence "
                 "parallel)",
                 seq, l->cp * l->tp, l->cp, l->tp);
        break;
    case MYR_LAYOUT_POSITIONS:
        snprintf(text, REASON_BYTES,
                 "a sequence of %u tokens is longer than the model's %u "
                 "positions",
                 seq, model->position_max);
        break;
    default:
        break;
    }
}

/* Apart from the rules, so that the search can ask them a million times without making text. */
int myr_layout_check(const struct myr_layout *layout, const struct myr_model *model, uint64_t gpus,
                     struct myr_err *err)
{
    enum myr_layout_rule rule = myr_layout_broken(layout, model, gpus);
    if (rule == MYR_LAYOUT_OK) {
        return MYR_OK;
    }
    char text[REASON_BYTES] = "";
    explain_grid(rule, layout, gpus, text);
    explain_widths(rule, layout, model, text);
    explain_run(rule, layout, model, text);
    /* A rule without words is a rule that was added and forgotten here. */
    MYR_ASSERT(text[0] != '\0');
    return myr_err_set(err, MYR_EINVAL, "layout rule '%s': %s", myr_layout_rule_name(rule), text);
}
