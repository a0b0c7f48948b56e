#include "packet/internal.h"

/*
 * DCQCN's sender (Zhu et al., SIGCOMM 2015), as NICs do it: alpha follows the marks at a fixed
 * pace, a rate is cut at most once in a while, and rises in steps, first half way back to where it
 * was, then beyond. Nothing of it is an event: a rate matters when a packet is sent, and all that
 * should have happened to it until then is made up for there.
 */

#define ALPHA_ONE (UINT32_C(1) << 30)

void pk_dcqcn_start(struct pk *k, struct pk_flow *flow)
{
    if (k->head->options.cc <= MYR_CC_DCQCN_CX) {
        flow->dcqcn = (struct pk_dcqcn){.target = flow->rate,
                                        .alpha = ALPHA_ONE,
                                        .alpha_at = INT64_MAX,
                                        .decrease_at = INT64_MAX,
                                        .increase_at = INT64_MAX};
    }
}

/* Steps are given for 100 Gb/s. */
static uint64_t step_of(const struct pk *k, const struct pk_flow *flow, uint64_t bps)
{
    return bps * (k->rests[flow->port].bps / 1000000) / 100000;
}

static void follow_marks(const struct pk *k, struct pk_dcqcn *own)
{
    uint32_t gain = k->head->options.gain;
    own->alpha = (uint32_t)((uint64_t)own->alpha * (1024 - gain) >> 10);
    own->alpha += own->alpha_marked ? gain * (ALPHA_ONE >> 10) : 0;
    own->alpha_marked = 0;
    own->alpha_at += k->head->options.alpha_ps;
}

/* Where it was before the first of several cuts stays the target. */
static void decrease(const struct pk *k, struct pk_flow *flow)
{
    struct pk_dcqcn *own = &flow->dcqcn;
    if (own->decrease_marked) {
        uint64_t least = step_of(k, flow, k->head->options.min_bps);
        own->target = own->stage ? flow->rate : own->target;
        flow->rate -= flow->rate * (own->alpha >> 10) >> 21;
        flow->rate = flow->rate > least ? flow->rate : least;
        own->stage = 0;
        own->decrease_marked = 0;
        own->increase_at = own->decrease_at + k->head->options.increase_ps;
    }
    own->decrease_at += k->head->options.decrease_ps;
}

static void increase(const struct pk *k, struct pk_flow *flow)
{
    struct pk_dcqcn *own = &flow->dcqcn;
    const struct myr_packet_options *options = &k->head->options;
    uint64_t most = k->rests[flow->port].bps;
    if (own->stage >= options->fast_steps) {
        uint64_t step =
            own->stage == options->fast_steps ? options->additive_bps : options->hyper_bps;
        own->target += step_of(k, flow, step);
        own->target = own->target < most ? own->target : most;
    }
    flow->rate = (flow->rate + own->target) / 2;
    own->stage++;
    own->increase_at += options->increase_ps;
}

/* In the order of time; of equal times in this one. */
void pk_dcqcn_until(struct pk *k, struct pk_flow *flow, myr_ps now)
{
    struct pk_dcqcn *own = &flow->dcqcn;
    for (;;) {
        if (own->alpha_at <= now && own->alpha_at <= own->decrease_at &&
            own->alpha_at <= own->increase_at) {
            follow_marks(k, own);
        } else if (own->decrease_at <= now && own->decrease_at <= own->increase_at) {
            decrease(k, flow);
        } else if (own->increase_at <= now) {
            increase(k, flow);
        } else {
            return;
        }
    }
}

/* The first mark starts the clocks. */
void pk_dcqcn_marked(struct pk *k, struct pk_flow *flow, myr_ps now)
{
    struct pk_dcqcn *own = &flow->dcqcn;
    pk_dcqcn_until(k, flow, now);
    own->decrease_marked = 1;
    own->alpha_marked = own->seen;
    if (!own->seen) {
        own->seen = 1;
        own->alpha_at = now + k->head->options.alpha_ps;
        own->decrease_at = now + k->head->options.decrease_ps;
    }
}
