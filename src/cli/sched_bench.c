/*
 * sched bench: the time of placement decisions on a full, churned cluster.
 *
 * Times are CPU time of the thread: on a shared machine wall time measures the neighbours. Without
 * --events the churn is that of docs/sched.md: jobs of 1 to 1,024 nodes (scaled to the cluster)
 * fill 95 %, then eight random ones leave and eight of the same sizes come, again and again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "myriad/sched.h"
#include "sched.h"

enum {
    CHURN_ROUNDS = 400,
    CHURN_JOBS = 8,
    SIZES_MAX = 64,
    CHANGES = 20000,
    LARGE_ROUNDS = 25,
    LAYOUT_ROUNDS = 200,
    DEFRAG_ROUNDS = 20,
    SCATTER_NODES = 40,
    EVENTS_BYTES_MAX = 64 << 20
};

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Times of one kind of decision. */
struct timing {
    const char *layout; /* NULL: none */
    uint32_t nodes;
    uint32_t failed;
    MYR_VEC(int64_t) ns;
};

struct running_job {
    struct myr_gang gang;
    uint32_t nodes;
};

struct bench {
    struct myr_placer *placer;
    struct myr_place_shape shape;
    struct running_job *jobs;
    uint32_t job_count, job_room;
    struct timing sizes[SIZES_MAX], layouts[SIZES_MAX], scattered[SIZES_MAX], large, changes,
        defrag;
    struct myr_defrag_plan plan; /* its figures */
    uint32_t size_count, layout_count, scattered_count;
    bool is_scattered;
    int64_t busy_ns; /* placing and releasing during churn */
    uint64_t decisions;
    double fill; /* mean over the churn */
    uint64_t fill_samples;
};

static struct timing *timing_for(struct timing *rows, uint32_t *count, uint32_t nodes)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (rows[i].nodes == nodes) {
            return &rows[i];
        }
    }
    uint32_t at = *count < SIZES_MAX ? (*count)++ : SIZES_MAX - 1;
    rows[at].nodes = nodes;
    return &rows[at];
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static double at_share(const struct timing *t, double share)
{
    size_t at = (size_t)((double)t->ns.count * share);
    return t->ns.count ? (double)t->ns.items[at < t->ns.count ? at : t->ns.count - 1] / 1000 : 0;
}

static void sort_times(struct timing *t)
{
    if (t->ns.count) {
        qsort(t->ns.items, t->ns.count, sizeof(*t->ns.items), by_time);
    }
}

static bool place_job(struct bench *b, uint32_t nodes, bool timed, struct running_job *ret)
{
    struct myr_request request = {.nodes = nodes};
    struct myr_placement placed = {.gang.shares = myr_xcalloc(nodes, sizeof(struct myr_share))};
    int64_t start = cpu_ns();
    bool done = myr_place_gang(b->placer, &request, &placed);
    int64_t took = cpu_ns() - start;
    if (timed) {
        struct timing *t = timing_for(b->sizes, &b->size_count, nodes);
        myr_vec_push(&t->ns, took);
        t->failed += !done;
        b->busy_ns += took;
        b->decisions++;
        uint32_t all = b->shape.nodes * b->shape.gpus_per_node;
        b->fill += 1 - (double)myr_placer_free_gpus(b->placer) / all;
        b->fill_samples++;
    }
    if (done) {
        *ret = (struct running_job){placed.gang, nodes};
    } else {
        free(placed.gang.shares);
    }
    return done;
}

static void release_job(struct bench *b, struct running_job *job, bool timed)
{
    struct myr_gang gang = job->gang;
    *job = (struct running_job){0};
    int64_t start = cpu_ns();
    myr_release(b->placer, &gang);
    b->busy_ns += timed ? cpu_ns() - start : 0;
    free(gang.shares); /* NOLINT(clang-analyzer-unix.Malloc): a job stands in one place */
}

/* The last job takes the place of the one that ends. */
static void end_job(struct bench *b, uint32_t at, bool timed)
{
    struct running_job job = b->jobs[at];
    b->jobs[at] = b->jobs[--b->job_count];
    b->jobs[b->job_count] = (struct running_job){0};
    release_job(b, &job, timed);
}

static void add_job(struct bench *b, uint32_t nodes, bool timed)
{
    struct running_job job;
    if (b->job_count < b->job_room && place_job(b, nodes, timed, &job)) {
        b->jobs[b->job_count++] = job;
    }
}

/* The mix of docs/sched.md, for 12,500 nodes; smaller clusters get the same shares. */
static void fill(struct bench *b, struct myr_rng *rng)
{
    static const struct {
        uint32_t nodes, count;
    } mix[] = {{1024, 3}, {256, 16}, {64, 40}, {16, 80}, {4, 150}, {1, 267}};
    uint32_t sizes[1024], count = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(mix); i++) {
        uint64_t times = (uint64_t)mix[i].count * b->shape.nodes / 12500;
        for (uint64_t k = 0; k < times && count < MYR_ARRAY_COUNT(sizes); k++) {
            sizes[count++] = mix[i].nodes;
        }
    }
    myr_rng_shuffle(rng, sizes, count);
    for (uint32_t i = 0; i < count; i++) {
        add_job(b, sizes[i], false);
    }
    /* What rounding left out, as single nodes. */
    while (myr_placer_free_nodes(b->placer) > b->shape.nodes / 20 && b->job_count < b->job_room) {
        add_job(b, 1, false);
    }
}

/* Eight random jobs leave, eight of the same sizes come. */
static void churn_once(struct bench *b, struct myr_rng *rng, bool timed)
{
    uint32_t sizes[CHURN_JOBS];
    for (uint32_t i = 0; i < CHURN_JOBS; i++) {
        uint32_t at = myr_rng_below(rng, b->job_count);
        sizes[i] = b->jobs[at].nodes;
        end_job(b, at, timed);
    }
    myr_rng_shuffle(rng, sizes, CHURN_JOBS);
    for (uint32_t i = 0; i < CHURN_JOBS; i++) {
        add_job(b, sizes[i], timed);
    }
}

static void churn(struct bench *b, struct myr_rng *rng)
{
    for (uint32_t round = 0; round < CHURN_ROUNDS && b->job_count >= CHURN_JOBS; round++) {
        churn_once(b, rng, true);
    }
}

/* As full as it was, or as the gang allows. */
static void refill(struct bench *b, uint32_t nodes)
{
    uint32_t wanted = b->shape.nodes / 20 > nodes ? b->shape.nodes / 20 : nodes;
    while (myr_placer_free_nodes(b->placer) > wanted && b->job_count < b->job_room) {
        add_job(b, 1, false);
    }
    /* Lets the largest jobs end until so many nodes are free. */
    while (b->job_count && myr_placer_free_nodes(b->placer) < nodes) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < b->job_count; i++) {
            largest = b->jobs[i].nodes > b->jobs[largest].nodes ? i : largest;
        }
        end_job(b, largest, false);
    }
}

/* Single nodes anywhere end and start, so that so many are free; none has a neighbour for long. */
static void scatter(struct bench *b, uint32_t nodes, struct myr_rng *rng)
{
    uint32_t wanted = b->shape.nodes / 20 > nodes ? b->shape.nodes / 20 : nodes;
    uint64_t whole = UINT64_MAX >> (64 - b->shape.gpus_per_node);
    uint32_t most =
        wanted + SCATTER_NODES < b->shape.nodes ? wanted + SCATTER_NODES : b->shape.nodes;
    while (myr_placer_free_nodes(b->placer) < most) {
        struct myr_share share = {myr_rng_below(rng, b->shape.nodes), whole};
        struct myr_gang one = {1, &share};
        if (myr_placer_free_mask(b->placer, share.node) == 0) {
            myr_release(b->placer, &one);
        }
    }
    while (myr_placer_free_nodes(b->placer) > wanted) {
        uint32_t node = myr_rng_below(rng, b->shape.nodes);
        if (myr_placer_free_mask(b->placer, node) == whole) {
            myr_place_take(b->placer, node, whole);
        }
    }
}

/* Axes of a layout; tensor parallelism as a part of the node. */
struct axes {
    const char *name;
    uint32_t tp_parts, pp, cp, ep;
};

/* One layout at one size: the state changes between decisions. */
static int time_layout(struct bench *b, const struct axes *axes, uint32_t nodes,
                       struct myr_rng *rng, struct myr_err *err)
{
    struct myr_arena arena;
    struct myr_job_traffic traffic;
    struct myr_layout layout = myr_layout_default();
    layout.tp = b->shape.gpus_per_node / axes->tp_parts;
    layout.pp = axes->pp;
    layout.cp = axes->cp;
    layout.ep = axes->ep;
    layout.dp = nodes * axes->tp_parts / (axes->pp * axes->cp);
    uint32_t *count = b->is_scattered ? &b->scattered_count : &b->layout_count;
    if (layout.dp == 0 || layout.dp * layout.cp % layout.ep != 0 || *count == SIZES_MAX) {
        return MYR_OK; /* too few nodes for it */
    }
    myr_arena_init(&arena);
    int r = myr_job_traffic_of(&layout, NULL, b->shape.gpus_per_node, &arena, &traffic, err);
    struct myr_request request = {.nodes = nodes, .traffic = &traffic};
    struct myr_placement placed = {.gang.shares = myr_xcalloc(nodes, sizeof(struct myr_share))};
    struct timing *t = (b->is_scattered ? b->scattered : b->layouts) + (*count)++;
    t->nodes = nodes;
    t->layout = axes->name;
    for (uint32_t i = 0; r == MYR_OK && i < LAYOUT_ROUNDS; i++) {
        if (b->is_scattered) {
            scatter(b, nodes, rng);
        } else if (b->job_count >= CHURN_JOBS) {
            churn_once(b, rng, false);
            refill(b, nodes);
        }
        int64_t start = cpu_ns();
        bool done = myr_place_gang(b->placer, &request, &placed);
        myr_vec_push(&t->ns, cpu_ns() - start);
        t->failed += !done;
        if (done) {
            myr_release(b->placer, &placed.gang);
        }
    }
    free(placed.gang.shares);
    myr_arena_done(&arena);
    return r;
}

/* Gangs with rank order, of layouts that put heavy and light groups on one to four axes. */
static int time_layouts(struct bench *b, struct myr_rng *rng, struct myr_err *err)
{
    static const struct axes list[] = {
        {"tp-node pp8", 1, 8, 1, 1},         {"tp-node pp4", 1, 4, 1, 1},
        {"tp-node pp16", 1, 16, 1, 1},       {"tp-node pp8 ep8", 1, 8, 1, 8},
        {"tp-node pp8 cp2", 1, 8, 2, 1},     {"tp-half pp8", 2, 8, 1, 1},
        {"tp-node pp8 cp2 ep8", 1, 8, 2, 8},
    };
    uint32_t most = b->shape.nodes / 4 < 1024 ? b->shape.nodes / 4 : 1024;
    int r = MYR_OK;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(list) && r == MYR_OK; i++) {
        bool halves = b->shape.gpus_per_node % list[i].tp_parts == 0;
        for (uint32_t nodes = 8; nodes <= most && halves && r == MYR_OK; nodes *= 2) {
            r = time_layout(b, &list[i], nodes, rng, err);
        }
    }
    return r;
}

/* The same where only single nodes are free: no leaf has many, every gang is cut to pieces. */
static int time_scattered(struct bench *b, struct myr_rng *rng, struct myr_err *err)
{
    struct myr_placer *churned = b->placer;
    b->placer = myr_placer_create(&b->shape);
    b->is_scattered = true;
    for (uint32_t node = 0; node < b->shape.nodes; node++) {
        myr_place_take(b->placer, node, myr_placer_free_mask(b->placer, node));
    }
    int r = time_layouts(b, rng, err);
    myr_placer_free(b->placer);
    b->placer = churned;
    b->is_scattered = false;
    return r;
}

/* Nodes fail and come back. */
static void time_changes(struct bench *b, struct myr_rng *rng)
{
    for (uint32_t i = 0; i < CHANGES; i++) {
        uint32_t node = myr_rng_below(rng, b->shape.nodes);
        int64_t start = cpu_ns();
        myr_placer_set_node(b->placer, node, false);
        int64_t half = cpu_ns();
        myr_placer_set_node(b->placer, node, true);
        int64_t end = cpu_ns();
        myr_vec_push(&b->changes.ns, half - start);
        myr_vec_push(&b->changes.ns, end - half);
    }
}

/* Nearly all of the cluster for one gang, with a few nodes out. */
static void time_large(struct bench *b, struct myr_rng *rng)
{
    uint32_t spare = b->shape.nodes / 100;
    b->large.nodes = b->shape.nodes >= 12500 ? 12288 : b->shape.nodes - spare;
    while (b->job_count) {
        end_job(b, b->job_count - 1, false);
    }
    struct myr_request request = {.nodes = b->large.nodes};
    struct myr_placement placed = {.gang.shares =
                                       myr_xcalloc(b->large.nodes, sizeof(struct myr_share))};
    for (uint32_t i = 0; i < LARGE_ROUNDS; i++) {
        uint32_t out[8];
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(out); k++) {
            out[k] = myr_rng_below(rng, b->shape.nodes);
            myr_placer_set_node(b->placer, out[k], false);
        }
        int64_t start = cpu_ns();
        bool done = myr_place_gang(b->placer, &request, &placed);
        myr_vec_push(&b->large.ns, cpu_ns() - start);
        b->large.failed += !done;
        if (done) {
            myr_release(b->placer, &placed.gang);
        }
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(out); k++) {
            myr_placer_set_node(b->placer, out[k], true);
        }
    }
    free(placed.gang.shares);
}

/*
 * Defragmentation at its hardest: one- to eight-GPU jobs on every node, a tenth of them gone, so
 * that a tenth of the GPUs is free and hardly a node is.
 */
static int time_defrag(struct bench *b, struct myr_rng *rng, struct myr_err *err)
{
    uint32_t all = b->shape.nodes * b->shape.gpus_per_node, count = 0;
    struct myr_gang *gangs = myr_xcalloc(all, sizeof(*gangs));
    struct myr_running *jobs = myr_xcalloc(all, sizeof(*jobs));
    struct myr_placer *placer = myr_placer_create(&b->shape);
    while (myr_placer_free_gpus(placer) > 0) {
        uint32_t gpus = 1U << myr_rng_below(rng, 4);
        gangs[count].shares = myr_xcalloc(1, sizeof(struct myr_share));
        while (gpus > b->shape.gpus_per_node || !myr_place(placer, gpus, &gangs[count])) {
            gpus /= 2;
        }
        count++;
    }
    while (myr_placer_free_gpus(placer) < all / 10) {
        uint32_t ends = myr_rng_below(rng, count);
        myr_release(placer, &gangs[ends]);
        free(gangs[ends].shares);
        gangs[ends] = gangs[--count];
    }
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = (struct myr_running){&gangs[i], 600, false};
    }
    int r = MYR_OK;
    struct myr_request request = {.nodes = b->shape.nodes / 12};
    request.nodes = request.nodes > 1024 ? 1024 : request.nodes ? request.nodes : 1;
    b->defrag.nodes = request.nodes;
    for (uint32_t i = 0; i < DEFRAG_ROUNDS && r == MYR_OK; i++) {
        int64_t start = cpu_ns();
        r = myr_defrag(placer, &request, jobs, count, &b->plan, err);
        myr_vec_push(&b->defrag.ns, cpu_ns() - start);
        myr_defrag_done(&b->plan);
    }
    for (uint32_t i = 0; i < count; i++) {
        free(gangs[i].shares);
    }
    free(gangs);
    free(jobs);
    myr_placer_free(placer);
    return r;
}

/* Jobs by number, as the events name them. */
static int event(struct bench *b, struct myr_csv *csv, bool *timed, struct myr_err *err)
{
    uint64_t job = 0, nodes = 0;
    struct myr_str op = csv->fields[0];
    if (myr_str_eq(op, MYR_STR("measure"))) {
        *timed = true;
        return MYR_OK;
    }
    if (csv->count < 2 || !myr_str_to_u64(csv->fields[1], &job) || job >= b->job_room) {
        return myr_csv_error(err, csv, 0, "expected 'place,JOB,NODES', 'release,JOB' or 'measure'");
    }
    struct running_job *it = &b->jobs[job];
    if (myr_str_eq(op, MYR_STR("release")) && it->nodes) {
        release_job(b, it, *timed);
        return MYR_OK;
    }
    if (!myr_str_eq(op, MYR_STR("place")) || it->nodes || csv->count < 3 ||
        !myr_str_to_u64(csv->fields[2], &nodes) || nodes == 0 || nodes > b->shape.nodes) {
        return myr_csv_error(err, csv, 0, "expected 'place,JOB,NODES', 'release,JOB' or 'measure'");
    }
    (void)place_job(b, (uint32_t)nodes, *timed, it);
    return MYR_OK;
}

static int play_events(struct bench *b, const char *path, struct myr_err *err)
{
    struct myr_buf text = {0};
    struct myr_arena arena;
    struct myr_csv csv;
    bool timed = false;
    myr_arena_init(&arena);
    int r = myr_file_read(path, EVENTS_BYTES_MAX, &text, err);
    if (r == MYR_OK) {
        myr_csv_init(&csv, &arena, path, (struct myr_str){text.data, text.len});
        while ((r = myr_csv_next(&csv, err)) > 0) {
            r = event(b, &csv, &timed, err);
            if (r < 0) {
                break;
            }
        }
    }
    myr_buf_done(&text);
    myr_arena_done(&arena);
    return r < 0 ? r : MYR_OK;
}

static void put_timing(struct myr_json *json, const char *key, const struct timing *t)
{
    myr_json_object(json, key);
    myr_json_u64(json, "gang_nodes", t->nodes);
    myr_json_u64(json, "decisions", t->ns.count);
    myr_json_u64(json, "placed", t->ns.count - t->failed);
    myr_json_double(json, "p50", at_share(t, 0.50), 2);
    myr_json_double(json, "p99", at_share(t, 0.99), 2);
    myr_json_double(json, "max", at_share(t, 1), 2);
    myr_json_end(json);
}

static int by_nodes(const void *a, const void *b)
{
    const struct timing *x = a, *y = b;
    return x->nodes < y->nodes ? -1 : x->nodes > y->nodes;
}

static struct timing all_of(const struct bench *b)
{
    struct timing all = {0};
    for (uint32_t i = 0; i < b->size_count; i++) {
        for (size_t k = 0; k < b->sizes[i].ns.count; k++) {
            myr_vec_push(&all.ns, b->sizes[i].ns.items[k]);
        }
        all.failed += b->sizes[i].failed;
    }
    sort_times(&all);
    return all;
}

static void put_rows(struct myr_json *json, const char *key, const struct timing *rows,
                     uint32_t count)
{
    char name[16];
    myr_json_object(json, key);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%u", rows[i].nodes);
        put_timing(json, name, &rows[i]);
    }
    myr_json_end(json);
}

/* By layout, then by size. */
static void put_layouts(struct myr_json *json, const char *key, const struct timing *rows,
                        uint32_t count)
{
    myr_json_object(json, key);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && rows[end].layout == rows[i].layout; end++) {
        }
        put_rows(json, rows[i].layout, rows + i, end - i);
    }
    myr_json_end(json);
}

static void put_json(const struct bench *b, const struct timing *all, struct myr_buf *buf)
{
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_u64(&json, "nodes", b->shape.nodes);
    myr_json_u64(&json, "gpus", (uint64_t)b->shape.nodes * b->shape.gpus_per_node);
    myr_json_u64(&json, "leaf_nodes", b->shape.group_nodes);
    myr_json_u64(&json, "pod_nodes", b->shape.pod_nodes);
    double samples = b->fill_samples ? (double)b->fill_samples : 1;
    myr_json_double(&json, "fill_percent", 100 * b->fill / samples, 1);
    myr_json_text(&json, "clock", "thread CPU time");
    double rate = b->busy_ns ? 1e9 * (double)b->decisions / (double)b->busy_ns : 0;
    myr_json_double(&json, "decisions_per_s", rate, 0);
    put_timing(&json, "all", all);
    put_rows(&json, "latency_us", b->sizes, b->size_count);
    put_layouts(&json, "latency_us_with_layout", b->layouts, b->layout_count);
    put_layouts(&json, "latency_us_scattered", b->scattered, b->scattered_count);
    if (b->large.ns.count) {
        put_timing(&json, "large_us", &b->large);
        put_timing(&json, "node_change_us", &b->changes);
        put_timing(&json, "defrag_us", &b->defrag);
        myr_json_u64(&json, "defrag_gpus_moved", b->plan.gpus_moved);
        myr_json_u64(&json, "defrag_gpus_least", b->plan.gpus_least);
    }
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_row(struct myr_table *table, const char *what, const struct timing *t)
{
    myr_table_text(table, what);
    myr_table_u64(table, t->nodes);
    myr_table_u64(table, t->ns.count - t->failed);
    myr_table_double(table, at_share(t, 0.50), 2);
    myr_table_double(table, at_share(t, 0.99), 2);
    myr_table_double(table, at_share(t, 1), 2);
}

static void put_table(const struct bench *b, enum myr_format format, struct myr_buf *buf)
{
    static const struct myr_column columns[] = {
        {"what", "WHAT", 0},
        {"gang_nodes", "GANG NODES", MYR_COLUMN_NUMBER},
        {"placed", "PLACED", MYR_COLUMN_NUMBER},
        {"p50_us", "P50 us", MYR_COLUMN_NUMBER},
        {"p99_us", "P99 us", MYR_COLUMN_NUMBER},
        {"max_us", "MAX us", MYR_COLUMN_NUMBER},
    };
    struct myr_arena arena;
    struct myr_table table;
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t i = 0; i < b->size_count; i++) {
        put_row(&table, "nodes", &b->sizes[i]);
    }
    for (uint32_t i = 0; i < b->layout_count; i++) {
        put_row(&table, b->layouts[i].layout, &b->layouts[i]);
    }
    for (uint32_t i = 0; i < b->scattered_count; i++) {
        char words[64];
        snprintf(words, sizeof(words), "%s, scattered", b->scattered[i].layout);
        put_row(&table, words, &b->scattered[i]);
    }
    if (b->large.ns.count) {
        put_row(&table, "empty cluster", &b->large);
        put_row(&table, "node changes", &b->changes);
        put_row(&table, "defragmentation", &b->defrag);
    }
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
    myr_arena_done(&arena);
}

static void finish(struct bench *b, enum myr_format format, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < b->size_count; i++) {
        sort_times(&b->sizes[i]);
    }
    for (uint32_t i = 0; i < b->layout_count; i++) {
        sort_times(&b->layouts[i]);
    }
    for (uint32_t i = 0; i < b->scattered_count; i++) {
        sort_times(&b->scattered[i]);
    }
    sort_times(&b->large);
    sort_times(&b->changes);
    sort_times(&b->defrag);
    qsort(b->sizes, b->size_count, sizeof(b->sizes[0]), by_nodes);
    struct timing all = all_of(b);
    if (format == MYR_FORMAT_JSON) {
        put_json(b, &all, buf);
    } else {
        put_table(b, format, buf);
    }
    myr_vec_done(&all.ns);
}

static void bench_free(struct bench *b)
{
    for (uint32_t i = 0; i < b->job_room; i++) {
        free(b->jobs[i].gang.shares);
    }
    for (uint32_t i = 0; i < SIZES_MAX; i++) {
        myr_vec_done(&b->sizes[i].ns);
        myr_vec_done(&b->layouts[i].ns);
        myr_vec_done(&b->scattered[i].ns);
    }
    myr_vec_done(&b->large.ns);
    myr_vec_done(&b->changes.ns);
    myr_vec_done(&b->defrag.ns);
    free(b->jobs);
    myr_placer_free(b->placer);
    free(b);
}

/* Below that, a tenth of the GPUs may not hold what has to move to free a node. */
enum { BENCH_NODES_MIN = 12 };

int cli_sched_bench(const struct cli_sched_question *question, struct myr_buf *buf,
                    struct myr_err *err)
{
    struct bench *b = myr_xcalloc(1, sizeof(*b));
    struct myr_rng rng;
    int r = cli_sched_shape(question, &b->shape, err);
    if (r == MYR_OK && !question->events && b->shape.nodes < BENCH_NODES_MIN) {
        r = myr_err_set(err, MYR_EINVAL, "the bench needs at least %d nodes, not %u",
                        BENCH_NODES_MIN, b->shape.nodes);
    }
    if (r < 0) {
        free(b);
        return r;
    }
    b->placer = myr_placer_create(&b->shape);
    b->job_room = b->shape.nodes > 100000 ? b->shape.nodes : 100000;
    b->jobs = myr_xcalloc(b->job_room, sizeof(*b->jobs));
    myr_rng_init(&rng, question->seed, 0);
    if (question->events) {
        r = play_events(b, question->events, err);
    } else {
        fill(b, &rng);
        churn(b, &rng);
        r = time_layouts(b, &rng, err);
        r = r < 0 ? r : time_scattered(b, &rng, err);
        time_changes(b, &rng);
        time_large(b, &rng);
        r = r < 0 ? r : time_defrag(b, &rng, err);
    }
    if (r == MYR_OK) {
        finish(b, (enum myr_format)question->format, buf);
    }
    bench_free(b);
    return r;
}
