#include "decisions.h"

#include <stdlib.h>

#include "churn.h"
#include "myriad/sched/defrag.h"
#include "myriad/text/kind.h"

/*
 * Measures how long placing decisions take: during churn, with layouts, with nothing but scattered
 * nodes, on an empty cluster, and defragmentation. Rounds are fixed and so is the seed's sequence,
 * so two machines decide the same and differ in time alone.
 */

/* How often each kind is measured, and limits of what is read and kept. */
enum {
    CHURN_ROUNDS = 400,  /* each lets CHURN_JOBS jobs go and come */
    CHANGES = 20000,     /* of one node, down and up */
    LARGE_ROUNDS = 25,   /* of nearly the whole cluster */
    LAYOUT_ROUNDS = 200, /* for each layout and size */
    DEFRAG_ROUNDS = 20,  /* each plans anew */
    EVENTS_BYTES_MAX = 64 << 20,
    ROWS_MAX = 4 * SIZES_MAX
};

const char *myr_bench_kind_name(enum myr_bench_kind kind)
{
    static const char *const names[] = {"gang",          "layout",      "scattered",
                                        "empty cluster", "node change", "defragmentation",
                                        "all gangs"};
    return names[kind];
}

/* A bench on its way: the random numbers go on from one part to the next. */
struct bench {
    const struct myr_bench_question *question;
    struct myr_arena *arena;
    struct myr_bench_answer *answer;
    struct churn churn;
    struct myr_rng rng;
    uint64_t steps_done;
};

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* 'share' of all decisions took no longer; in microseconds. */
static double at_share(const struct timing *t, double share)
{
    size_t at = (size_t)((double)t->ns.count * share);
    return t->ns.count ? (double)t->ns.items[at < t->ns.count ? at : t->ns.count - 1] / 1000 : 0;
}

/* Sorts the times of the row. */
static void add_row(struct bench *b, struct timing *t)
{
    MYR_ASSERT(b->answer->row_count < ROWS_MAX);
    if (t->ns.count) {
        qsort(t->ns.items, t->ns.count, sizeof(*t->ns.items), by_time);
    }
    b->answer->rows[b->answer->row_count++] =
        (struct myr_bench_row){.kind = t->kind,
                               .layout = t->layout,
                               .gang_nodes = t->nodes,
                               .decisions = t->ns.count,
                               .placed = t->ns.count - t->failed,
                               .p50_us = at_share(t, 0.50),
                               .p99_us = at_share(t, 0.99),
                               .max_us = at_share(t, 1)};
}

static void timing_done(struct timing *t)
{
    myr_vec_done(&t->ns);
}

static int by_nodes(const void *a, const void *b)
{
    const struct timing *x = a, *y = b;
    return x->nodes < y->nodes ? -1 : x->nodes > y->nodes;
}

/* Gangs without a layout, during churn: all together, then by size. */
static void add_gangs(struct bench *b)
{
    struct churn *c = &b->churn;
    MYR_CLEANUP(timing_done) struct timing all = {.kind = MYR_BENCH_ALL};
    /* They stand in the order in which they were met. */
    qsort(c->sizes, c->size_count, sizeof(c->sizes[0]), by_nodes);
    for (uint32_t i = 0; i < c->size_count; i++) {
        for (size_t k = 0; k < c->sizes[i].ns.count; k++) {
            myr_vec_push(&all.ns, c->sizes[i].ns.items[k]);
        }
        all.failed += c->sizes[i].failed;
    }
    add_row(b, &all);
    for (uint32_t i = 0; i < c->size_count; i++) {
        add_row(b, &c->sizes[i]);
    }
    b->answer->fill_percent = c->decisions ? 100 * c->fill / (double)c->decisions : 0;
    b->answer->decisions_per_s = c->busy_ns ? 1e9 * (double)c->decisions / (double)c->busy_ns : 0;
}

/* Axes of a layout; tensor parallelism as a part of the node. */
struct axes {
    const char *name;
    uint32_t tp_parts, pp, cp, ep; /* 1: a group fills the node; 2: half of it */
};

static const struct axes layouts[] = {
    {"tp-node pp8", 1, 8, 1, 1},         {"tp-node pp4", 1, 4, 1, 1},
    {"tp-node pp16", 1, 16, 1, 1},       {"tp-node pp8 ep8", 1, 8, 1, 8},
    {"tp-node pp8 cp2", 1, 8, 2, 1},     {"tp-half pp8", 2, 8, 1, 1},
    {"tp-node pp8 cp2 ep8", 1, 8, 2, 8},
};

/* Steps of the whole: churn, each layout twice, changes, an empty cluster, defragmentation. */
enum { STEPS = 2 * MYR_ARRAY_COUNT(layouts) + 4 };

/* Tells who watches that one more part is done. */
static void step(struct bench *b)
{
    if (b->question->progress) {
        b->question->progress(b->question->context, ++b->steps_done, STEPS);
    }
}

/* One layout at one size: the state changes between decisions. */
static int time_layout(struct bench *b, const struct axes *axes, uint32_t nodes,
                       enum myr_bench_kind kind, struct myr_err *err)
{
    struct churn *c = &b->churn;
    struct myr_layout layout = myr_layout_default();
    /* As a part of the node, so that layouts fit nodes of any size. */
    layout.tp = c->shape.gpus_per_node / axes->tp_parts;
    layout.pp = axes->pp;
    layout.cp = axes->cp;
    layout.ep = axes->ep;
    layout.dp = nodes * axes->tp_parts / (axes->pp * axes->cp);
    if (layout.dp == 0 || layout.dp * layout.cp % layout.ep != 0) {
        return MYR_OK; /* too few nodes for it */
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_job_traffic traffic;
    myr_arena_init(&arena);
    int rc = myr_job_traffic_of(&layout, NULL, c->shape.gpus_per_node, &arena, &traffic, err);
    if (rc < 0) {
        return rc;
    }
    struct myr_request request = {.nodes = nodes, .traffic = &traffic};
    struct myr_placement placed = {.gang.shares = MYR_ARENA_NEW(&arena, struct myr_share, nodes)};
    MYR_CLEANUP(timing_done) struct timing t = {.kind = kind, .layout = axes->name, .nodes = nodes};
    for (uint32_t i = 0; i < LAYOUT_ROUNDS; i++) {
        if (kind == MYR_BENCH_SCATTERED) {
            churn_scatter(c, nodes, &b->rng);
        } else if (c->job_count >= CHURN_JOBS) {
            churn_once(c, &b->rng, false);
            churn_refill(c, nodes);
        }
        /* Only the decision is timed, not what changes the state between. */
        int64_t start = churn_cpu_ns();
        bool done = myr_place_gang(c->placer, &request, &placed);
        myr_vec_push(&t.ns, churn_cpu_ns() - start);
        t.failed += !done;
        if (done) {
            /* The state is left as it was found. */
            myr_release(c->placer, &placed.gang);
        }
    }
    add_row(b, &t);
    return MYR_OK;
}

/* Gangs with rank order, of layouts that put heavy and light groups on one to four axes. */
static int time_layouts(struct bench *b, enum myr_bench_kind kind, struct myr_err *err)
{
    const struct myr_place_shape *shape = &b->churn.shape;
    /* No gang is larger than a quarter of the cluster. */
    uint32_t most = shape->nodes / 4 < 1024 ? shape->nodes / 4 : 1024;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(layouts); i++) {
        bool halves = shape->gpus_per_node % layouts[i].tp_parts == 0;
        for (uint32_t nodes = 8; nodes <= most && halves; nodes *= 2) {
            int rc = time_layout(b, &layouts[i], nodes, kind, err);
            if (rc < 0) {
                return rc;
            }
        }
        step(b);
    }
    return MYR_OK;
}

/* The same where only single nodes are free: no leaf has many, every gang is cut to pieces. */
static int time_scattered(struct bench *b, struct myr_err *err)
{
    struct churn *c = &b->churn;
    /* Jobs of the churn stay in their own placer meanwhile. */
    struct myr_placer *churned = c->placer;
    c->placer = myr_placer_create(&c->shape);
    for (uint32_t node = 0; node < c->shape.nodes; node++) {
        myr_place_take(c->placer, node, myr_placer_free_mask(c->placer, node));
    }
    int rc = time_layouts(b, MYR_BENCH_SCATTERED, err);
    myr_placer_free(c->placer);
    c->placer = churned;
    return rc;
}

/* Nodes fail and come back. */
static void time_changes(struct bench *b)
{
    struct myr_placer *placer = b->churn.placer;
    MYR_CLEANUP(timing_done) struct timing t = {.kind = MYR_BENCH_CHANGE};
    for (uint32_t i = 0; i < CHANGES; i++) {
        uint32_t node = myr_rng_below(&b->rng, b->churn.shape.nodes);
        int64_t start = churn_cpu_ns();
        myr_placer_set_node(placer, node, false);
        int64_t half = churn_cpu_ns();
        myr_placer_set_node(placer, node, true);
        int64_t end = churn_cpu_ns();
        myr_vec_push(&t.ns, half - start);
        myr_vec_push(&t.ns, end - half);
    }
    add_row(b, &t);
    step(b);
}

/* Nearly all of the cluster for one gang, with a few nodes out. */
static void time_large(struct bench *b)
{
    struct myr_placer *placer = b->churn.placer;
    uint32_t nodes = b->churn.shape.nodes, out[8];
    /* Nearly all, with some slack for the nodes that are out. */
    uint32_t wanted = nodes >= 12500 ? 12288 : nodes - nodes / 100;
    MYR_CLEANUP(timing_done) struct timing t = {.kind = MYR_BENCH_LARGE, .nodes = wanted};
    struct myr_request request = {.nodes = wanted};
    struct myr_placement placed = {.gang.shares =
                                       MYR_ARENA_NEW(b->arena, struct myr_share, wanted)};
    churn_empty(&b->churn);
    for (uint32_t i = 0; i < LARGE_ROUNDS; i++) {
        /* The same node may be drawn twice: opening it twice does no harm. */
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(out); k++) {
            out[k] = myr_rng_below(&b->rng, nodes);
            myr_placer_set_node(placer, out[k], false);
        }
        int64_t start = churn_cpu_ns();
        bool done = myr_place_gang(placer, &request, &placed);
        myr_vec_push(&t.ns, churn_cpu_ns() - start);
        t.failed += !done;
        if (done) {
            myr_release(placer, &placed.gang);
        }
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(out); k++) {
            myr_placer_set_node(placer, out[k], true);
        }
    }
    add_row(b, &t);
    step(b);
}

/* Jobs of one to eight GPUs on every node, a tenth of them gone; returns how many are left. */
static uint32_t crumble(struct bench *b, struct myr_placer *placer, struct myr_gang *gangs)
{
    const struct myr_place_shape *shape = &b->churn.shape;
    uint32_t all = shape->nodes * shape->gpus_per_node, count = 0;
    struct myr_share *shares = MYR_ARENA_NEW(b->arena, struct myr_share, all);
    while (myr_placer_free_gpus(placer) > 0) {
        /* 1, 2, 4 or 8, each as likely. */
        uint32_t gpus = 1U << myr_rng_below(&b->rng, 4);
        gangs[count].shares = &shares[count];
        /* Ends at one GPU, which fits as long as any is free. */
        while (gpus > shape->gpus_per_node || !myr_place(placer, gpus, &gangs[count])) {
            gpus /= 2;
        }
        count++;
    }
    while (myr_placer_free_gpus(placer) < all / 10) {
        uint32_t ends = myr_rng_below(&b->rng, count);
        myr_release(placer, &gangs[ends]);
        gangs[ends] = gangs[--count];
    }
    return count;
}

/* Defragmentation at its hardest: a tenth of the GPUs is free and hardly a node is. */
static int time_defrag(struct bench *b, struct myr_err *err)
{
    uint32_t nodes = b->churn.shape.nodes, all = nodes * b->churn.shape.gpus_per_node;
    struct myr_gang *gangs = MYR_ARENA_NEW(b->arena, struct myr_gang, all);
    struct myr_running *jobs = MYR_ARENA_NEW(b->arena, struct myr_running, all);
    struct myr_placer *placer = myr_placer_create(&b->churn.shape);
    uint32_t count = crumble(b, placer, gangs);
    for (uint32_t i = 0; i < count; i++) {
        /* Ten minutes of restart, none of them fixed to its node. */
        jobs[i] = (struct myr_running){&gangs[i], 600, false};
    }
    struct myr_request request = {.nodes = nodes / 12};
    /* A twelfth of the cluster, where a tenth of its GPUs is free. */
    request.nodes = request.nodes > 1024 ? 1024 : request.nodes ? request.nodes : 1;
    MYR_CLEANUP(timing_done) struct timing t = {.kind = MYR_BENCH_DEFRAG, .nodes = request.nodes};
    struct myr_defrag_plan plan = {};
    int rc = MYR_OK;
    for (uint32_t i = 0; i < DEFRAG_ROUNDS && rc == MYR_OK; i++) {
        int64_t start = churn_cpu_ns();
        rc = myr_defrag(placer, &request, jobs, count, &plan, err);
        myr_vec_push(&t.ns, churn_cpu_ns() - start);
        myr_defrag_done(&plan);
    }
    myr_placer_free(placer);
    if (rc < 0) {
        return rc;
    }
    add_row(b, &t);
    b->answer->has_defrag = true;
    b->answer->defrag_gpus_moved = plan.gpus_moved;
    b->answer->defrag_gpus_least = plan.gpus_least;
    step(b);
    return MYR_OK;
}

/* Instead of the bench's own churn: the events of a file. */
static int play_events(struct bench *b, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_bench_events_done) struct myr_bench_events events = {};
    struct churn *c = &b->churn;
    bool timed = false;
    MYR_TRY(myr_kind_read(b->question->events, EVENTS_BYTES_MAX, MYR_KINDS_CSV,
                          "a list of events (place,JOB,NODES or release,JOB)", &text, err));
    MYR_TRY(myr_bench_events_parse(&events, myr_file_name(b->question->events),
                                   (struct myr_str){text.data, text.len}, c->shape.nodes, err));
    /* Events before 'measure' only fill the cluster. */
    for (size_t i = 0; i < events.items.count; i++) {
        const struct myr_bench_event *event = &events.items.items[i];
        struct churn_job *job = &c->jobs[event->job];
        timed = timed || event->kind == MYR_EVENT_MEASURE;
        if (event->kind == MYR_EVENT_PLACE) {
            (void)churn_place(c, event->nodes, timed, job);
        } else if (event->kind == MYR_EVENT_RELEASE && job->nodes) {
            churn_release(c, job, timed); /* what did not fit has nothing to give back */
        }
    }
    add_gangs(b);
    return MYR_OK;
}

/* The parts in their order; each leaves the cluster as the next one needs it. */
static int measure(struct bench *b, struct myr_err *err)
{
    struct churn *c = &b->churn;
    if (b->question->events) {
        return play_events(b, err);
    }
    /* Churn comes first: layouts are placed on what it leaves behind. */
    churn_fill(c, &b->rng);
    for (uint32_t round = 0; round < CHURN_ROUNDS && c->job_count >= CHURN_JOBS; round++) {
        churn_once(c, &b->rng, true);
    }
    add_gangs(b);
    step(b);
    MYR_TRY(time_layouts(b, MYR_BENCH_LAYOUT, err));
    MYR_TRY(time_scattered(b, err));
    time_changes(b);
    time_large(b);
    return time_defrag(b, err);
}

int myr_bench_ask(const struct myr_bench_question *question, struct myr_arena *arena,
                  struct myr_bench_answer *ret, struct myr_err *err)
{
    struct myr_cluster_question cluster = question->cluster;
    *ret = (struct myr_bench_answer){};
    /* A cluster as in docs/sched.md where none is given. */
    if (!cluster.design) {
        cluster.nodes = cluster.nodes ? cluster.nodes : 12500;
        cluster.gpus_per_node =
            cluster.gpus_per_node ? cluster.gpus_per_node : MYR_CLUSTER_GPUS_PER_NODE;
        cluster.leaf_nodes = cluster.leaf_nodes ? cluster.leaf_nodes : 32;
        cluster.pod_nodes = cluster.pod_nodes ? cluster.pod_nodes : 16 * cluster.leaf_nodes;
    }
    int rc = myr_cluster_of(&cluster, &ret->cluster, err);
    if (rc < 0) {
        return rc;
    }
    const struct myr_place_shape *shape = &ret->cluster.shape;
    if (!question->events && shape->nodes < MYR_BENCH_NODES_MIN) {
        /* Below that, a tenth of the GPUs may not hold what has to move to free a node. */
        return myr_err_set(err, MYR_EINVAL, "the bench needs at least %d nodes, not %u",
                           MYR_BENCH_NODES_MIN, shape->nodes);
    }
    struct bench b = {.question = question, .arena = arena, .answer = ret};
    ret->rows = MYR_ARENA_NEW(arena, struct myr_bench_row, ROWS_MAX);
    myr_rng_init(&b.rng, question->seed, 0);
    churn_init(&b.churn, shape);
    rc = measure(&b, err);
    churn_done(&b.churn);
    return rc;
}
