/*
 * bench_starve SEED FIRST COUNT: does anybody starve on shapes that nobody named?
 *
 * Shape number i of a seed is drawn from both: 16 to 1,280 nodes of 8 GPUs, a load of 0.5 to 0.95
 * of jobs whose lengths are equal, exponential, lognormal or Pareto, and gangs of any part of the
 * cluster that come hours to weeks apart, the first of them on any day. Each is played by the
 * queue's policies and by references that are written here and share nothing with the queue but the
 * index of free GPUs: first come, first served; first-fit; first-fit in which who has waited for 1,
 * 2, 4 or 8 hours blocks all who came later; and the gangs alone, first come, first served.
 *
 * A line for each shape: 'shape I' and what was drawn; then for each policy its mean wait, the mean
 * without gangs and the longest, in hours; then what was broken, nothing where all is well:
 *
 *     class   the longest wait of a size (a power of two) under 'fair' is beyond 6 h and three
 * times FIFO's, where FIFO's is below 24 h gang    one waits for more than 24 h under 'preempt'
 * that waits at most 12 h among gangs alone beaten  a reference has a shorter longest wait and a
 * mean more than a tenth smaller
 *
 * The same seed draws the same shapes on every machine with the same libm.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "myriad/sched/replay.h"

enum {
    PER_NODE = 8,
    JOBS_MOST = 40000,
    CLASSES = 16,
    HOUR_S = 3600,
    DAY_S = 24 * HOUR_S,
    DAYS_MOST = 40,
};

enum lengths { EQUAL, EXPONENTIAL, LOGNORMAL, PARETO, LENGTHS };
static const char *const length_names[] = {"equal", "exponential", "lognormal", "pareto"};

/* What was drawn. */
struct shape {
    struct myr_place_shape place;
    uint32_t days, sizes[12], size_count;
    double load, median_s, spread; /* of background jobs */
    enum lengths lengths;
    double gang_gap_h, gang_h, gang_part; /* 0: each gang draws its own */
    double first_day;
};

/* A job of a trace. */
struct job {
    int64_t submit_s, length_s;
    uint32_t gpus;
    bool gang;
};

struct trace {
    MYR_VEC(struct job) jobs; /* as they come */
};

/* The waits under one policy, by job, in seconds. */
struct waits {
    const char *name;
    int64_t *by_job;
    double mean_h, plain_h, longest_h; /* plain: of all but gangs */
    double class_h[CLASSES];
};

static double uniform(struct myr_rng *rng, double low, double high)
{
    return low + (high - low) * ((double)myr_rng_u32(rng) / 4294967296.0);
}

/* As likely between 1 and 10 as between 10 and 100. */
static double by_octave(struct myr_rng *rng, double low, double high)
{
    return low * exp(uniform(rng, 0, log(high / low)));
}

static double normal(struct myr_rng *rng)
{
    double u = 1 - uniform(rng, 0, 1);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * uniform(rng, 0, 1));
}

/* One length; its median is 'median_s'. */
static double length_s(struct myr_rng *rng, const struct shape *s)
{
    double u = 1 - uniform(rng, 0, 1), most_s = 5 * DAY_S, length = s->median_s;
    if (s->lengths == EXPONENTIAL) {
        length *= -log(u) / log(2);
    } else if (s->lengths == LOGNORMAL) {
        length *= exp(s->spread * normal(rng));
    } else if (s->lengths == PARETO) {
        length *= pow(2 * u, -1 / s->spread);
    }
    return length < 1 ? 1 : length < most_s ? length : most_s;
}

static void draw_sizes(struct myr_rng *rng, struct shape *s)
{
    static const uint32_t sizes[] = {1, 1, 1, 1, 2, 2, 4, 8, 8, 16, 3, 5, 12, 32, 64, 128};
    /* A third has none but jobs of one node, as the smallest of the table have. */
    static const uint32_t ends[] = {9, 9, 10, 13, 16};
    uint32_t end = ends[myr_rng_below(rng, MYR_ARRAY_COUNT(ends))];
    uint32_t all = s->place.nodes * PER_NODE;
    while (s->size_count < MYR_ARRAY_COUNT(s->sizes)) {
        uint32_t size = sizes[myr_rng_below(rng, end)];
        if (size <= all / 8) {
            s->sizes[s->size_count++] = size;
        }
    }
}

static struct shape draw_shape(struct myr_rng *rng)
{
    struct shape s = {};
    static const uint32_t leaves[] = {4, 8, 16, 32};
    uint32_t nodes = (uint32_t)by_octave(rng, 16, 1281);
    uint32_t leaf = leaves[myr_rng_below(rng, MYR_ARRAY_COUNT(leaves))];
    s.place = (struct myr_place_shape){nodes, PER_NODE, leaf < nodes ? leaf : nodes, nodes};
    s.load = uniform(rng, 0.5, 0.95);
    s.lengths = (enum lengths)myr_rng_below(rng, LENGTHS);
    s.spread = s.lengths == PARETO ? uniform(rng, 1.1, 2.5) : uniform(rng, 0.5, 2);
    s.median_s = by_octave(rng, 120, 2 * HOUR_S);
    s.days = 5 + myr_rng_below(rng, DAYS_MOST - 4);
    draw_sizes(rng, &s);
    s.gang_gap_h = by_octave(rng, 4, 14 * 24);
    s.gang_h = by_octave(rng, 0.25, 8);
    s.gang_part = myr_rng_below(rng, 3) ? by_octave(rng, 0.125, 1.3) : 0;
    s.gang_part = s.gang_part > 1 ? 1 : s.gang_part;
    s.first_day = uniform(rng, 0, 0.7 * s.days);
    return s;
}

static int by_submit(const void *a, const void *b)
{
    const struct job *x = a, *y = b;
    if (x->submit_s != y->submit_s) {
        return x->submit_s < y->submit_s ? -1 : 1;
    }
    return x->gpus != y->gpus ? (x->gpus < y->gpus ? -1 : 1)
                              : (x->length_s > y->length_s) - (x->length_s < y->length_s);
}

/* Gangs, the first on its day; returns their work in GPU seconds. They take a third at most. */
static double draw_gangs(struct myr_rng *rng, struct shape *s, struct trace *ret)
{
    uint32_t all = s->place.nodes * PER_NODE;
    double most = 0.33 * s->gang_gap_h / (s->gang_part > 0 ? s->gang_part : 0.5), work = 0;
    s->gang_h = s->gang_h < most ? s->gang_h : most;
    for (double at_s = s->first_day * DAY_S; at_s < s->days * DAY_S;) {
        double part = s->gang_part > 0 ? s->gang_part : by_octave(rng, 0.125, 1);
        uint32_t nodes = (uint32_t)(part * s->place.nodes + 0.5);
        nodes = nodes < 2 ? 2 : nodes;
        double seconds = s->gang_h * HOUR_S * (s->lengths == EQUAL ? 1 : uniform(rng, 0.3, 1.7));
        struct job job = {(int64_t)at_s, (int64_t)seconds + 1,
                          nodes * PER_NODE < all ? nodes * PER_NODE : all, true};
        myr_vec_push(&ret->jobs, job);
        work += (double)job.gpus * (double)job.length_s;
        at_s += s->gang_gap_h * HOUR_S * uniform(rng, 0.5, 1.5);
    }
    return work;
}

/* The load is that of gangs and others together; a trace has JOBS_MOST jobs, so days may be fewer.
 */
static void draw_trace(struct myr_rng *rng, struct shape *s, struct trace *ret)
{
    double mean = 0, size = 0, capacity = (double)s->place.nodes * PER_NODE;
    enum { TRIES = 4000 };
    struct myr_rng probe = *rng;
    for (uint32_t i = 0; i < TRIES; i++) {
        mean += length_s(&probe, s) / TRIES;
    }
    for (uint32_t i = 0; i < s->size_count; i++) {
        size += (double)s->sizes[i] / s->size_count;
    }
    /* Longer jobs where there would be too many of them. */
    double jobs = capacity * s->days * DAY_S * s->load / (mean * size);
    if (jobs > JOBS_MOST) {
        s->median_s *= jobs / JOBS_MOST;
        if (s->median_s > 4 * HOUR_S) {
            s->days = (uint32_t)(s->days * 4 * HOUR_S / s->median_s);
            s->days = s->days < 4 ? 4 : s->days;
            s->median_s = 4 * HOUR_S;
            s->first_day = s->first_day < 0.7 * s->days ? s->first_day : 0.5 * s->days;
        }
    }
    double end_s = (double)s->days * DAY_S, work = draw_gangs(rng, s, ret);
    while (work < capacity * end_s * s->load) {
        struct job job = {(int64_t)uniform(rng, 0, end_s), (int64_t)length_s(rng, s),
                          s->sizes[myr_rng_below(rng, s->size_count)], false};
        job.length_s = job.length_s > 0 ? job.length_s : 1;
        work += (double)job.gpus * (double)job.length_s;
        myr_vec_push(&ret->jobs, job);
    }
    qsort(ret->jobs.items, ret->jobs.count, sizeof(*ret->jobs.items), by_submit);
}

static uint32_t class_of(uint32_t gpus)
{
    return gpus < 2 ? 0 : 32 - (uint32_t)__builtin_clz(gpus - 1);
}

static void sum_up(const struct trace *trace, struct waits *w)
{
    double sum_s = 0, plain_s = 0, plain = 0;
    for (size_t i = 0; i < trace->jobs.count; i++) {
        const struct job *job = &trace->jobs.items[i];
        double wait_h = (double)w->by_job[i] / HOUR_S, *most = &w->class_h[class_of(job->gpus)];
        *most = wait_h > *most ? wait_h : *most;
        w->longest_h = wait_h > w->longest_h ? wait_h : w->longest_h;
        sum_s += (double)w->by_job[i];
        plain_s += job->gang ? 0 : (double)w->by_job[i];
        plain += !job->gang;
    }
    w->mean_h = sum_s / (double)trace->jobs.count / HOUR_S;
    w->plain_h = plain > 0 ? plain_s / plain / HOUR_S : 0;
}

/* Jobs of one size in the order in which they came. */
struct line {
    uint32_t gpus;
    size_t head; /* of 'jobs', the first that waits */
    MYR_VEC(uint32_t) jobs;
};

/* A reference on its way. */
struct reference {
    const struct trace *trace;
    struct myr_placer *placer;
    MYR_VEC(struct line) lines;
    struct myr_heap ends; /* value: the job */
    struct myr_gang *gangs;
    int64_t *waits, age_s; /* who has waited so long blocks */
    bool gangs_only;
};

static void line_up(struct reference *r, uint32_t id)
{
    uint32_t gpus = r->trace->jobs.items[id].gpus;
    size_t at = 0;
    while (at < r->lines.count && r->lines.items[at].gpus != gpus) {
        at++;
    }
    if (at == r->lines.count) {
        struct line line = {.gpus = gpus};
        myr_vec_push(&r->lines, line);
    }
    myr_vec_push(&r->lines.items[at].jobs, id);
}

static void start(struct reference *r, uint32_t id, int64_t now_s)
{
    const struct job *job = &r->trace->jobs.items[id];
    struct myr_gang *gang = &r->gangs[id];
    gang->shares = myr_xcalloc(myr_place_nodes(r->placer, job->gpus), sizeof(*gang->shares));
    bool placed = myr_place(r->placer, job->gpus, gang);
    MYR_ASSERT(placed);
    r->waits[id] = now_s - job->submit_s;
    myr_heap_push(&r->ends, now_s + job->length_s, id);
}

/* The oldest that fits, unless an older one that is aged does not. */
static void start_what_fits(struct reference *r, int64_t now_s)
{
    for (;;) {
        uint32_t best = MYR_NONE, blocking = MYR_NONE;
        struct line *of = NULL;
        for (size_t i = 0; i < r->lines.count; i++) {
            struct line *line = &r->lines.items[i];
            if (line->head == line->jobs.count) {
                continue;
            }
            uint32_t id = line->jobs.items[line->head];
            if (myr_place_fits(r->placer, line->gpus)) {
                of = id < best ? line : of;
                best = id < best ? id : best;
            } else if (now_s - r->trace->jobs.items[id].submit_s >= r->age_s) {
                blocking = id < blocking ? id : blocking;
            }
        }
        if (!of || blocking < best) {
            return;
        }
        of->head++;
        start(r, best, now_s);
    }
}

static void play_reference(const struct trace *trace, const struct shape *s, int64_t age_s,
                           bool gangs_only, struct waits *ret)
{
    size_t count = trace->jobs.count, next = 0;
    struct reference r = {.trace = trace,
                          .placer = myr_placer_create(&s->place),
                          .gangs = myr_xcalloc(count, sizeof(*r.gangs)),
                          .waits = myr_xcalloc(count, sizeof(*r.waits)),
                          .age_s = age_s};
    myr_placer_set_plain(r.placer, true);
    while (next < count || r.ends.count) {
        int64_t now_s = next < count ? trace->jobs.items[next].submit_s : INT64_MAX;
        now_s = r.ends.count && r.ends.items[0].key < now_s ? r.ends.items[0].key : now_s;
        struct myr_heap_item item;
        while (r.ends.count && r.ends.items[0].key <= now_s && myr_heap_pop(&r.ends, &item)) {
            myr_release(r.placer, &r.gangs[item.value]);
            free(r.gangs[item.value].shares);
        }
        for (; next < count && trace->jobs.items[next].submit_s <= now_s; next++) {
            if (!gangs_only || trace->jobs.items[next].gang) {
                line_up(&r, (uint32_t)next);
            }
        }
        start_what_fits(&r, now_s);
    }
    for (size_t i = 0; i < r.lines.count; i++) {
        myr_vec_done(&r.lines.items[i].jobs);
    }
    myr_vec_done(&r.lines);
    myr_heap_done(&r.ends);
    myr_placer_free(r.placer);
    free(r.gangs);
    ret->by_job = r.waits;
    sum_up(trace, ret);
}

static void play_queue(const struct trace *trace, const struct shape *s,
                       enum myr_queue_preset preset, struct waits *ret)
{
    struct myr_joblog log = {.tenants = 1, .file = "drawn"};
    struct myr_replay_options options = myr_replay_default(&s->place);
    options.policy = myr_queue_policy_preset(preset);
    for (size_t i = 0; i < trace->jobs.count; i++) {
        const struct job *job = &trace->jobs.items[i];
        struct myr_job_row row = {.submit_s = job->submit_s,
                                  .duration_s = (uint64_t)job->length_s & ((1ULL << 36) - 1),
                                  .gpus = job->gpus & (MYR_JOB_GPUS_MAX * 2 - 1),
                                  .line = (uint32_t)i + 2};
        myr_vec_push(&log.jobs, row);
    }
    struct myr_replay_result result;
    int rc = myr_replay(&log, &options, &result, NULL);
    MYR_ASSERT(rc == MYR_OK);
    ret->by_job = myr_xcalloc(trace->jobs.count, sizeof(*ret->by_job));
    for (size_t i = 0; i < trace->jobs.count; i++) {
        ret->by_job[i] = result.job_rows.items[i].wait_s;
    }
    myr_replay_result_done(&result);
    myr_vec_done(&log.jobs);
    sum_up(trace, ret);
}

enum { FIFO, FIRST_FIT, AGE_1, AGE_2, AGE_4, AGE_8, REFERENCES, FAIR = REFERENCES, PREEMPT, ALL };

static void judge_classes(const struct waits *all)
{
    for (uint32_t c = 0; c < CLASSES; c++) {
        double fifo_h = all[FIFO].class_h[c], fair_h = all[FAIR].class_h[c];
        double most_h = 3 * fifo_h > 6 ? 3 * fifo_h : 6;
        if (fifo_h < 24 && fair_h > most_h) {
            printf(" class=%u:%.1f:%.1f", 1U << c, fifo_h, fair_h);
        }
    }
}

static void judge_gangs(const struct trace *trace, const struct waits *alone,
                        const struct waits *preempt)
{
    uint32_t count = 0;
    double most_h = 0;
    for (size_t i = 0; i < trace->jobs.count; i++) {
        double wait_h = (double)preempt->by_job[i] / HOUR_S;
        if (trace->jobs.items[i].gang && alone->by_job[i] <= 12 * HOUR_S && wait_h > 24) {
            count++;
            most_h = wait_h > most_h ? wait_h : most_h;
        }
    }
    if (count) {
        printf(" gang=%u:%.1f", count, most_h);
    }
}

static void judge_beaten(const struct waits *all)
{
    for (uint32_t p = FAIR; p <= PREEMPT; p++) {
        for (uint32_t r = FIFO; r < REFERENCES; r++) {
            if (all[r].longest_h < all[p].longest_h && all[r].mean_h < 0.9 * all[p].mean_h) {
                printf(" beaten=%s:%s", all[p].name, all[r].name);
            }
        }
    }
}

static void play_shape(uint64_t seed, uint32_t number)
{
    struct myr_rng rng;
    struct trace trace = {};
    myr_rng_init(&rng, seed, number);
    struct shape s = draw_shape(&rng);
    draw_trace(&rng, &s, &trace);
    struct waits all[ALL] = {{.name = "fifo"},  {.name = "first-fit"}, {.name = "age-1"},
                             {.name = "age-2"}, {.name = "age-4"},     {.name = "age-8"},
                             {.name = "fair"},  {.name = "preempt"}};
    static const int64_t ages_h[] = {0, 1 << 20, 1, 2, 4, 8};
    struct waits alone = {.name = "alone"};
    play_reference(&trace, &s, 0, true, &alone);
    for (uint32_t r = FIFO; r < REFERENCES; r++) {
        play_reference(&trace, &s, ages_h[r] * HOUR_S, false, &all[r]);
    }
    play_queue(&trace, &s, MYR_QUEUE_FAIR, &all[FAIR]);
    play_queue(&trace, &s, MYR_QUEUE_PREEMPT, &all[PREEMPT]);
    printf("shape %u nodes=%u days=%u jobs=%zu load=%.2f %s median_s=%.0f spread=%.1f largest=%u "
           "gap_h=%.1f gang_h=%.1f part=%.2f first_day=%.1f |",
           number, s.place.nodes, s.days, trace.jobs.count, s.load, length_names[s.lengths],
           s.median_s, s.spread, s.sizes[0], s.gang_gap_h, s.gang_h, s.gang_part, s.first_day);
    for (uint32_t p = 0; p < ALL; p++) {
        printf(" %s=%.3f/%.3f/%.1f", all[p].name, all[p].mean_h, all[p].plain_h, all[p].longest_h);
    }
    printf(" |");
    judge_classes(all);
    judge_gangs(&trace, &alone, &all[PREEMPT]);
    judge_beaten(all);
    printf("\n");
    fflush(stdout);
    for (uint32_t p = 0; p < ALL; p++) {
        free(all[p].by_job);
    }
    free(alone.by_job);
    myr_vec_done(&trace.jobs);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: bench_starve SEED FIRST COUNT\n", stderr);
        return 2;
    }
    uint64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        if (!myr_str_to_u64(myr_str_from(argv[i + 1]), &numbers[i])) {
            fprintf(stderr, "bench_starve: '%s' is no number\n", argv[i + 1]);
            return 2;
        }
    }
    uint64_t seed = numbers[0];
    uint32_t first = (uint32_t)numbers[1], count = (uint32_t)numbers[2];
    for (uint32_t i = first; i < first + count; i++) {
        play_shape(seed, i);
    }
    return 0;
}
