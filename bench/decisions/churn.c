#include "churn.h"

#include <stdlib.h>
#include <time.h>

/* Single nodes that change between two decisions in a scattered cluster. */
enum { SCATTER_NODES = 40 };

int64_t churn_cpu_ns(void)
{
    /* CPU time of the thread, so that other programs on the machine do not count. */
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void churn_init(struct churn *c, const struct myr_place_shape *shape)
{
    *c = (struct churn){.shape = *shape, .job_room = MYR_BENCH_JOBS_MAX};
    c->placer = myr_placer_create(shape);
    c->jobs = myr_xcalloc(c->job_room, sizeof(*c->jobs));
}

void churn_done(struct churn *c)
{
    for (uint32_t i = 0; i < c->job_room; i++) {
        free(c->jobs[i].gang.shares);
    }
    for (uint32_t i = 0; i < SIZES_MAX; i++) {
        myr_vec_done(&c->sizes[i].ns);
    }
    free(c->jobs);
    myr_placer_free(c->placer);
}

/* The row of a size, made when it is met first. */
static struct timing *timing_for(struct timing *rows, uint32_t *count, uint32_t nodes)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (rows[i].nodes == nodes) {
            return &rows[i];
        }
    }
    /* Sizes beyond the table share its last row. */
    uint32_t at = *count < SIZES_MAX ? (*count)++ : SIZES_MAX - 1;
    rows[at].nodes = nodes;
    return &rows[at];
}

bool churn_place(struct churn *c, uint32_t nodes, bool timed, struct churn_job *ret)
{
    /* Without a layout: the plainest gang there is. */
    struct myr_request request = {.nodes = nodes};
    struct myr_placement placed = {.gang.shares = myr_xcalloc(nodes, sizeof(struct myr_share))};
    int64_t start = churn_cpu_ns();
    bool done = myr_place_gang(c->placer, &request, &placed);
    int64_t took = churn_cpu_ns() - start;
    if (timed) {
        struct timing *t = timing_for(c->sizes, &c->size_count, nodes);
        myr_vec_push(&t->ns, took);
        t->failed += !done;
        c->busy_ns += took;
        c->decisions++;
        uint32_t all = c->shape.nodes * c->shape.gpus_per_node;
        c->fill += 1 - (double)myr_placer_free_gpus(c->placer) / all;
    }
    if (done) {
        *ret = (struct churn_job){placed.gang, nodes};
    } else {
        free(placed.gang.shares);
    }
    return done;
}

void churn_release(struct churn *c, struct churn_job *job, bool timed)
{
    /* Memory is given back outside of the time that is measured. */
    struct myr_gang gang = job->gang;
    MYR_ASSERT(gang.count == job->nodes && gang.count > 0);
    *job = (struct churn_job){};
    int64_t start = churn_cpu_ns();
    myr_release(c->placer, &gang);
    c->busy_ns += timed ? churn_cpu_ns() - start : 0;
    free(gang.shares); /* NOLINT(clang-analyzer-unix.Malloc): a job stands in one place */
}

/* The last job takes the place of the one that ends. */
static void end_job(struct churn *c, uint32_t at, bool timed)
{
    MYR_ASSERT(at < c->job_count && c->job_count <= c->job_room);
    struct churn_job job = c->jobs[at];
    c->jobs[at] = c->jobs[--c->job_count];
    c->jobs[c->job_count] = (struct churn_job){};
    churn_release(c, &job, timed);
}

/* What does not fit is left out: the cluster stays a little emptier. */
static void add_job(struct churn *c, uint32_t nodes, bool timed)
{
    struct churn_job job;
    if (c->job_count < c->job_room && churn_place(c, nodes, timed, &job)) {
        c->jobs[c->job_count++] = job;
    }
}

/* The mix of docs/sched.md, for 12,500 nodes; smaller clusters get the same shares. */
void churn_fill(struct churn *c, struct myr_rng *rng)
{
    static const struct {
        uint32_t nodes, count;
    } mix[] = {{1024, 3}, {256, 16}, {64, 40}, {16, 80}, {4, 150}, {1, 267}};
    uint32_t sizes[1024], count = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(mix); i++) {
        uint64_t times = (uint64_t)mix[i].count * c->shape.nodes / 12500;
        for (uint64_t k = 0; k < times && count < MYR_ARRAY_COUNT(sizes); k++) {
            sizes[count++] = mix[i].nodes;
        }
    }
    myr_rng_shuffle(rng, sizes, count);
    for (uint32_t i = 0; i < count; i++) {
        add_job(c, sizes[i], false);
    }
    /* What rounding left out, as single nodes. */
    while (myr_placer_free_nodes(c->placer) > c->shape.nodes / 20 && c->job_count < c->job_room) {
        add_job(c, 1, false);
    }
}

void churn_once(struct churn *c, struct myr_rng *rng, bool timed)
{
    uint32_t sizes[CHURN_JOBS];
    for (uint32_t i = 0; i < CHURN_JOBS; i++) {
        /* Any job, large or small: the mix stays as it is. */
        MYR_ASSERT(c->job_count > 0);
        uint32_t at = myr_rng_below(rng, c->job_count);
        sizes[i] = c->jobs[at].nodes;
        end_job(c, at, timed);
    }
    /* They come in another order than they went. */
    myr_rng_shuffle(rng, sizes, CHURN_JOBS);
    for (uint32_t i = 0; i < CHURN_JOBS; i++) {
        add_job(c, sizes[i], timed);
    }
}

void churn_refill(struct churn *c, uint32_t nodes)
{
    uint32_t wanted = c->shape.nodes / 20 > nodes ? c->shape.nodes / 20 : nodes;
    while (myr_placer_free_nodes(c->placer) > wanted && c->job_count < c->job_room) {
        add_job(c, 1, false);
    }
    /* Lets the largest jobs end until so many nodes are free. */
    while (c->job_count && myr_placer_free_nodes(c->placer) < nodes) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < c->job_count; i++) {
            largest = c->jobs[i].nodes > c->jobs[largest].nodes ? i : largest;
        }
        end_job(c, largest, false);
    }
}

void churn_scatter(struct churn *c, uint32_t nodes, struct myr_rng *rng)
{
    uint32_t wanted = c->shape.nodes / 20 > nodes ? c->shape.nodes / 20 : nodes;
    uint64_t whole = UINT64_MAX >> (64 - c->shape.gpus_per_node);
    /* A few more become free than wanted, and as many others are taken. */
    uint32_t most =
        wanted + SCATTER_NODES < c->shape.nodes ? wanted + SCATTER_NODES : c->shape.nodes;
    while (myr_placer_free_nodes(c->placer) < most) {
        struct myr_share share = {myr_rng_below(rng, c->shape.nodes), whole};
        struct myr_gang one = {1, &share};
        if (myr_placer_free_mask(c->placer, share.node) == 0) {
            myr_release(c->placer, &one);
        }
    }
    while (myr_placer_free_nodes(c->placer) > wanted) {
        uint32_t node = myr_rng_below(rng, c->shape.nodes);
        if (myr_placer_free_mask(c->placer, node) == whole) {
            myr_place_take(c->placer, node, whole);
        }
    }
}

void churn_empty(struct churn *c)
{
    while (c->job_count) {
        end_job(c, c->job_count - 1, false);
    }
}
