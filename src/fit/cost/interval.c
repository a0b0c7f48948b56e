/*
 * interval: how sure a prediction is, by its distance from the measured run that tells most about
 * it. Widths are of the logarithm of the time, fitted to rows that a fit did not see (docs/fit.md,
 * "Intervals").
 */
#include <stdio.h>

#include "myriad/fit/interval.h"
#include "myriad/text/amount.h"

#include <math.h>

#include "cost/block.h"

#define SHEET_APART   4    /* from a device that only its data sheet tells of */
#define EXPERTS_LEAST 0.25 /* of a step, as experts are of the runs measured with them */

const char *myr_interval_name(enum myr_interval interval)
{
    static const char *const names[] = {
#define INTERVAL_NAME(name, text) text,
        MYR_INTERVALS(INTERVAL_NAME)
#undef INTERVAL_NAME
    };
    MYR_ASSERT(interval < MYR_INTERVAL_COUNT);
    return names[interval];
}

/* Doublings from 1 on; what is not there is none. */
static double doublings(double count)
{
    return count > 1 ? fit_log2(count) : 0;
}

/* By name: a case may have been made with another copy of the lists. */
static uint32_t device_at(const struct myr_profiles *profiles, const char *name)
{
    uint32_t at = 0;
    while (at + 1 < profiles->device_count && strcmp(profiles->devices[at].name, name) != 0) {
        at++;
    }
    return at;
}

static uint32_t stack_at(const struct myr_profiles *profiles, const char *name)
{
    uint32_t at = 0;
    while (at + 1 < profiles->stack_count && strcmp(profiles->stacks[at].name, name) != 0) {
        at++;
    }
    return at;
}

/* The question in the terms that runs are listed in. */
struct myr_measured myr_measured_of(const struct myr_profiles *profiles,
                                    const struct myr_fit_case *it, const struct myr_layout *layout)
{
    return (struct myr_measured){
        .device = device_at(profiles, it->device->name),
        .stack = stack_at(profiles, it->stack->name),
        .precision = layout->precision,
        .gpus = (uint32_t)myr_layout_gpus(layout),
        .tokens = myr_layout_seq(layout, it->model),
        .experts = it->model->moe.expert_count,
        .tp = layout->tp,
        .pp = layout->pp,
        .cp = layout->cp,
        .ep = layout->ep,
    };
}

/* The same device; another of its generation; one of another, or of another vendor. */
static double device_apart(const struct myr_profiles *profiles, uint32_t a, uint32_t b)
{
    const struct myr_device *one = &profiles->devices[a], *other = &profiles->devices[b];
    if (a == b) {
        return 0;
    }
    if (one->extrapolated || other->extrapolated) {
        return SHEET_APART;
    }
    return one->generation == other->generation ? 1 : 2;
}

/* Axis by axis: doublings, or 1 where the two differ. */
struct myr_fit_distance myr_fit_distance_of(const struct myr_profiles *profiles,
                                            const struct myr_measured *question,
                                            const struct myr_measured *run)
{
    struct myr_fit_distance ret = {};
    /* Another trainer, which is another release too: both axes count. */
    bool line = strcmp(profiles->stacks[question->stack].line, profiles->stacks[run->stack].line);
    ret.axes[MYR_INTERVAL_GPUS] = fabs(doublings(question->gpus) - doublings(run->gpus));
    ret.axes[MYR_INTERVAL_TOKENS] = fabs(doublings(question->tokens) - doublings(run->tokens));
    ret.axes[MYR_INTERVAL_DEVICE] = device_apart(profiles, question->device, run->device);
    ret.axes[MYR_INTERVAL_PRECISION] = question->precision != run->precision;
    ret.axes[MYR_INTERVAL_EXPERT_COUNT] =
        /* One more of both: none against some is a distance, and no logarithm of 0 is asked for. */
        fabs(doublings(question->experts + 1.0) - doublings(run->experts + 1.0));
    ret.axes[MYR_INTERVAL_LINE] = line;
    ret.axes[MYR_INTERVAL_RELEASE] = question->stack != run->stack;
    ret.axes[MYR_INTERVAL_GRID] = fabs(doublings(question->tp) - doublings(run->tp)) +
                                  fabs(doublings(question->pp) - doublings(run->pp)) +
                                  fabs(doublings(question->cp) - doublings(run->cp)) +
                                  fabs(doublings(question->ep) - doublings(run->ep));
    return ret;
}

/* What part of the step each axis can move at all. */
struct myr_fit_shares myr_fit_shares_of(const struct myr_fit_cost *cost)
{
    struct myr_fit_shares ret;
    const double *t = cost->terms_s;
    for (int i = 0; i < MYR_INTERVAL_COUNT; i++) {
        ret.axes[i] = 1;
    }
    MYR_ASSERT(cost->step_s > 0);
    /*
     * Only a part of the step depends on the sequence and on experts: being off there moves only
     * that.
     */
    ret.axes[MYR_INTERVAL_TOKENS] = (t[MYR_FIT_ATTENTION] + t[MYR_FIT_CONTEXT]) / cost->step_s;
    double experts = t[MYR_FIT_EXPERTS] + t[MYR_FIT_EXPERT_COMM] + t[MYR_FIT_LAUNCH];
    /* A run with experts tells less of a model without, in all that the two do alike. */
    ret.axes[MYR_INTERVAL_EXPERT_COUNT] = fit_max(experts / cost->step_s, EXPERTS_LEAST);
    return ret;
}

double myr_fit_width(const double intervals[MYR_INTERVAL_COUNT], bool experts,
                     const struct myr_fit_distance *distance, const struct myr_fit_shares *shares)
{
    /* Independent reasons add up as squares do. */
    double own = intervals[experts ? MYR_INTERVAL_EXPERTS : MYR_INTERVAL_DENSE];
    double sum = own * own;
    for (int i = MYR_INTERVAL_FIRST_AXIS; i < MYR_INTERVAL_COUNT; i++) {
        double part = intervals[i] * distance->axes[i] * shares->axes[i];
        sum += part * part;
    }
    return sqrt(sum);
}

/* The axis that adds most to a width. */
static enum myr_interval most_of(const double intervals[MYR_INTERVAL_COUNT],
                                 const struct myr_fit_distance *away,
                                 const struct myr_fit_shares *shares)
{
    enum myr_interval most = MYR_INTERVAL_COUNT;
    double best = 0;
    for (int i = MYR_INTERVAL_FIRST_AXIS; i < MYR_INTERVAL_COUNT; i++) {
        double part = intervals[i] * away->axes[i] * shares->axes[i];
        most = part > best ? (enum myr_interval)i : most;
        best = part > best ? part : best;
    }
    return most;
}

/* A trainer of which no run was measured. */
static bool is_foreign(const struct myr_profiles *profiles, uint32_t stack)
{
    for (uint32_t i = 0; i < profiles->measured_count; i++) {
        uint32_t other = profiles->measured[i].stack;
        if (strcmp(profiles->stacks[other].line, profiles->stacks[stack].line) == 0) {
            return false;
        }
    }
    return true;
}

/*
 * The run that leaves the narrowest interval is the nearest, not the one with fewest differences.
 */
struct myr_fit_spread myr_fit_spread(const struct myr_profiles *profiles,
                                     const struct myr_fit_case *it, const struct myr_layout *layout,
                                     const struct myr_fit_cost *cost, uint32_t unknown)
{
    const double *widths = profiles->intervals;
    struct myr_measured question = myr_measured_of(profiles, it, layout);
    struct myr_fit_shares shares = myr_fit_shares_of(cost);
    bool experts = question.experts > 0;
    struct myr_fit_spread ret = {.most = MYR_INTERVAL_COUNT};
    double least = -1;
    bool foreign = is_foreign(profiles, question.stack);
    for (uint32_t i = 0; i < profiles->measured_count; i++) {
        const struct myr_measured *run = &profiles->measured[i];
        struct myr_fit_distance away = myr_fit_distance_of(profiles, &question, run);
        if (unknown & MYR_UNKNOWN_RELEASE) { /* the release taken is not the one that runs */
            away.axes[MYR_INTERVAL_RELEASE] = 1;
        }
        double width = myr_fit_width(widths, experts, &away, &shares);
        if (least < 0 || width < least) {
            least = width;
            ret.nearest = *run;
            ret.away = away;
        }
    }
    MYR_ASSERT(least >= 0); /* a profile always has measured runs */
    /* Guessed axes widen every answer alike, so they do not choose the nearest run. */
    double open = unknown & MYR_UNKNOWN_AXES ? widths[MYR_INTERVAL_AXES_OPEN] : 0;
    /* Nothing of its kernels was fitted: so far off are trainers and devices left out of all fits.
     */
    double strange = foreign ? widths[MYR_INTERVAL_FOREIGN] : 0;
    /* From the logarithm to a share of the time: nine times of ten it is inside of that. */
    ret.share = fit_exp(sqrt(least * least + open * open + strange * strange)) - 1;
    ret.most = strange > least / 2 ? MYR_INTERVAL_LINE : most_of(widths, &ret.away, &shares);
    return ret;
}

/* The run, and the axis that adds most to the distance from it. */
void myr_fit_spread_words(const struct myr_profiles *profiles, const struct myr_fit_spread *spread,
                          struct myr_buf *buf)
{
    const struct myr_measured *run = &spread->nearest;
    char times[16];
    bool ran = spread->most == MYR_INTERVAL_COUNT;
    myr_buf_printf(buf, "%s", ran ? "" : "nobody has run this; nearest measured run: ");
    myr_buf_printf(buf, "%s, %s, %s, %s, %s", profiles->stacks[run->stack].name,
                   profiles->devices[run->device].name, myr_precision_name(run->precision),
                   MYR_COUNT(run->gpus, "GPU"), MYR_COUNT(run->tokens, "token"));
    if (run->experts) {
        myr_buf_printf(buf, ", %s", MYR_COUNT(run->experts, "expert"));
    }
    if (spread->most == MYR_INTERVAL_COUNT) {
        return;
    }
    double away = spread->away.axes[spread->most];
    switch (spread->most) {
    case MYR_INTERVAL_GPUS:
    case MYR_INTERVAL_TOKENS:
    case MYR_INTERVAL_EXPERT_COUNT:
    case MYR_INTERVAL_GRID:
        snprintf(times, sizeof(times), "%.2g", away);
        myr_buf_printf(buf, "; %s doubling%s of %s away", times, strcmp(times, "1") == 0 ? "" : "s",
                       spread->most == MYR_INTERVAL_EXPERT_COUNT ? "experts"
                                                                 : myr_interval_name(spread->most));
        break;
    default:
        myr_buf_printf(buf, "; another %s", myr_interval_name(spread->most));
        break;
    }
}
