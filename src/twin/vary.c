#include "vary.h"

/* None, as given, or four or sixteen times as much. */
static uint32_t times_more(struct myr_rng *rng)
{
    /* As given twice as likely as any other. */
    static const uint32_t factors[] = {0, 1, 1, 4, 16};
    return factors[myr_rng_below(rng, MYR_ARRAY_COUNT(factors))];
}

/* A chance that is none, as given, or several times as large. */
static void draw_ppm(struct myr_rng *rng, uint32_t given, uint32_t *ret)
{
    MYR_ASSERT(given <= 1000000);
    uint64_t ppm = (uint64_t)given * times_more(rng);
    /* At most three in ten, unless more was given. */
    *ret = ppm < 300000 ? (uint32_t)ppm : given > 300000 ? given : 300000;
    MYR_ASSERT(*ret <= 1000000);
}

/* The same for a mean time: 0 is never. */
static void draw_every(struct myr_rng *rng, int64_t given, int64_t *ret)
{
    MYR_ASSERT(given >= 0);
    uint32_t factor = times_more(rng);
    int64_t every = factor == 0 ? 0 : given / factor;
    /* Never more often than every minute, unless it was given so. */
    *ret = every > 0 && every < 60000 ? (given < 60000 ? given : 60000) : every;
    MYR_ASSERT(*ret >= 0 && *ret <= given); /* never more seldom than it was, but for never */
}

/* From what was given at first, not from the case at hand: what went may come back. */
void vary_trouble(struct myr_scenario *s, const struct myr_scenario *given, struct myr_rng *rng)
{
    s->messages = given->messages;
    draw_ppm(rng, given->messages.lost_ppm, &s->messages.lost_ppm);
    draw_ppm(rng, given->messages.twice_ppm, &s->messages.twice_ppm);
    draw_ppm(rng, given->messages.late_ppm, &s->messages.late_ppm);
    draw_every(rng, given->partitions.every_ms, &s->partitions.every_ms);
    draw_every(rng, given->crashes.every_ms, &s->crashes.every_ms);
    s->crashes.every_events = given->crashes.every_events;
    draw_every(rng, given->clock.every_ms, &s->clock.every_ms);
    draw_every(rng, given->drains.every_ms, &s->drains.every_ms);
    draw_every(rng, given->holds.every_ms, &s->holds.every_ms);
    draw_every(rng, given->levers.every_ms, &s->levers.every_ms);
    draw_every(rng, given->weights.every_ms, &s->weights.every_ms);
    draw_every(rng, given->symptoms.every_ms, &s->symptoms.every_ms);
    draw_every(rng, given->calms.every_ms, &s->calms.every_ms);
    s->calms.ends = given->calms.ends;
    s->refuse_ppm = given->refuse_ppm;
    /* Faults are in three of four worlds. */
    bool faults = myr_rng_below(rng, 4) > 0;
    s->class_count = faults ? given->class_count : 0;
    s->rate = faults ? given->rate : NULL;
    s->window_count = given->window_count;
    s->fence_fails_ppm = given->fence_fails_ppm;
    s->drawn = given->drawn;
}

/* One of a few, or as it is. */
static int64_t pick(struct myr_rng *rng, int64_t given, const int64_t *others, uint32_t count)
{
    uint32_t at = myr_rng_below(rng, 2 * count);
    return at < count ? others[at] : given;
}

#define PICK(value, type, ...)                                                        \
    do {                                                                              \
        static const int64_t others[] = {__VA_ARGS__};                                \
        (value) = (type)pick(rng, (int64_t)(value), others, MYR_ARRAY_COUNT(others)); \
    } while (0)

void vary_choices(struct myr_scenario *s, struct myr_rng *rng)
{
    PICK(s->queue_policy, uint32_t, MYR_QUEUE_FIFO, MYR_QUEUE_FIRST_FIT, MYR_QUEUE_FAIR,
         MYR_QUEUE_PREEMPT);
    s->policy.queue = myr_queue_policy_preset((enum myr_queue_preset)s->queue_policy);
    PICK(s->policy.spares, uint32_t, 0, 1, 2, 4);
    s->policy.spares = s->policy.spares < s->shape.nodes ? s->policy.spares : 0;
    PICK(s->policy.drain_permille, uint32_t, 0, 50, 500, 1000);
    PICK(s->policy.start_window_ms, int64_t, 20000, 60000, 300000, 1800000);
    PICK(s->policy.suspect_ms, int64_t, 1000, 30000, 300000);
    PICK(s->policy.restarts_in_place, uint32_t, 0, 1, 3);
    PICK(s->policy.hang_ms, int64_t, 120000, 600000, 3600000);
    PICK(s->partitions.length_ms, int64_t, 60000, 600000, 3600000);
    PICK(s->crashes.length_ms, int64_t, 1000, 30000, 900000);
    PICK(s->drains.nodes, uint32_t, 1, 4, 16);
    PICK(s->symptoms.nodes, uint32_t, 1, 3, 8);
    PICK(s->fence_fails_ppm, uint32_t, 0, 300000, 900000);
    PICK(s->refuse_ppm, uint32_t, 0, 10000, 100000);
    for (uint32_t i = 0; i < s->group_count; i++) {
        struct myr_scenario_jobs *group = &s->groups[i];
        PICK(group->restart, uint32_t, MYR_RESTART_STRICT, MYR_RESTART_EPOCH);
        PICK(group->retries, uint32_t, 0, 2, 1000);
        PICK(group->lease_s, uint32_t, 60, 600);
        PICK(group->cancel_ppm, uint32_t, 0, 100000, 500000);
        PICK(group->after_ppm, uint32_t, 0, 300000);
        PICK(group->limit_s, int64_t, 0, 3600, 14400);
        PICK(group->late_ms, int64_t, 0, 0, 0, 5000, 60000);
    }
}
