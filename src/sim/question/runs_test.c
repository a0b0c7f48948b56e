#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "kept.h"
#include "myriad/sim.h"
#include "myriad/sim/question.h"
#include "myriad/sim/state.h"
#include "question/built.h"

/*
 * Whole runs on all kinds of fabrics, to the last picosecond. The same question gives the same
 * answer, and goes the same way to it: what the engine reserves, how far it looks ahead and in
 * which order it ends things is kept too, for each quarter of a run. A change of a way that is no
 * change of the answer is fine; it is made on purpose, and the file is written anew.
 */

enum {
    RAIL,
    RAIL_ONLY,
    PODS,
    PLANES,
    TORUS,
    DRAGONFLY,
    SCALE_UP,
    TREE,
    TREE_2,
    TREE_6,
    TREE_8,
    FABRICS
};
static const struct {
    const char *name, *words, *spec;
} fabrics[FABRICS] = {
    [RAIL] = {"rail", NULL,
              "{servers: 4, server: h100-8gpu, networks: {compute: {topology: rail, tiers: 2, "
              "switch: mqm9790-ns2f}, storage: {}}, storage: {server: flash-22x15, capacity_pb: 1, "
              "copies: 2, rate: best}}"},
    [RAIL_ONLY] = {"rail-only", NULL,
                   "{servers: 4, server: h100-8gpu, networks: {compute: {topology: rail-only, "
                   "length_m: 10}}}"},
    [PODS] = {"pods", NULL,
              "{servers: 24, server: generic-1gpu, networks: {compute: {topology: clos, tiers: 3, "
              "switch: eth-51t2, leaf_down: 4, leaf_up: 2, pod_leaves: 2, length_m: 30}}}"},
    [PLANES] = {"planes", NULL,
                "{servers: 4, server: b300-8gpu, networks: {compute: {topology: clos, planes: 2, "
                "length_m: 20}}}"},
    [TORUS] = {"torus", NULL,
               "{servers: 12, server: generic-1gpu, networks: {compute: {topology: torus, "
               "dims: [4, 3], length_m: 5}}}"},
    [DRAGONFLY] = {"dragonfly", NULL,
                   "{servers: 24, server: generic-1gpu, networks: {compute: {topology: dragonfly, "
                   "group_switches: 4, hosts_per_switch: 2, global_ports: 2, length_m: 100}}}"},
    [SCALE_UP] = {"nvl72", NULL,
                  "{servers: 2, server: gb200-nvl72, networks: {compute: {topology: clos, "
                  "tiers: 1, switch: eth-102t4-128x800, length_m: 100}}}"},
    [TREE] = {"fat-tree", "fat-tree:k=4,gbps=100,delay=1us", NULL},
    [TREE_6] = {"six ports", "fat-tree:k=6", NULL},
    [TREE_8] = {"eight ports", "fat-tree:k=8", NULL},
    [TREE_2] = {"two tiers", "fat-tree:k=8,gbps=400,delay=300ns,tiers=2", NULL},
};

struct run {
    uint32_t fabric;
    const char *workloads[3]; /* up to the first NULL, as the others */
    enum myr_policy policy;
    const char *faults[4], *slow[2];
    uint32_t seed, pairs, efficiency, loss, pause;
    bool storage, polarised;
    const char *overhead, *step;
};

#define RUN(where, lb, ...)                                       \
    {                                                             \
        .fabric = (where), .policy = MYR_POLICY_##lb, __VA_ARGS__ \
    }

static const struct run runs[] = {
    RUN(TREE, ECMP_CRC, .workloads = {"permutation:1MB"}),
    RUN(TREE, ECMP_XOR, .workloads = {"permutation:1MB"}, .seed = 3, .pairs = 3),
    RUN(TREE, PORT, .workloads = {"permutation:1MB"}, .overhead = "2us"),
    RUN(TREE, STATIC, .workloads = {"permutation:1MB"}, .efficiency = 900),
    RUN(TREE, FLOWLET, .workloads = {"permutation:1MB"}, .seed = 9),
    RUN(TREE, SPRAY, .workloads = {"permutation:1MB"}, .step = "20us"),
    RUN(TREE, ADAPTIVE, .workloads = {"permutation:1MB"}, .step = "7us"),
    RUN(TREE, PLANNED, .workloads = {"permutation:1MB"}),
    RUN(TREE, ECMP_CRC, .workloads = {"permutation:1MB,seed=2"}, .loss = 200, .seed = 5),
    RUN(TREE, ECMP_CRC, .workloads = {"permutation:1MB,seed=2"}, .pause = 400),
    RUN(TREE, ECMP_CRC, .workloads = {"incast:5:1,700KB", "permutation:300KB"}, .pause = 1000),
    RUN(TREE, ECMP_CRC, .workloads = {"incast:5:1,700KB,ranks=12,first=3"}, .pause = 250,
        .step = "9us"),
    RUN(TREE, ADAPTIVE, .workloads = {"allreduce:ring,1MB", "alltoall:100KB,first=8"}),
    RUN(TREE, ECMP_CRC, .workloads = {"allreduce:auto,5MB,place=random,ranks=12"}),
    RUN(TREE, ECMP_CRC, .workloads = {"allgather:halving,1MB,place=sorted,disorder=40"}, .seed = 4),
    RUN(TREE, ECMP_CRC, .workloads = {"allreduce:tree,3MB,chunks=8"}, .polarised = true),
    RUN(TREE, PLANNED, .workloads = {"broadcast:tree,3MB,chunks=3,ranks=11"}),
    RUN(TREE, ECMP_CRC, .workloads = {"alltoall:2MB,window=3"}),
    RUN(TREE, SPRAY, .workloads = {"alltoall:2MB,schedule=collapsed"}),
    RUN(TREE, ECMP_CRC, .workloads = {"reducescatter:ring,1MB,schedule=full"}),
    RUN(TREE, ECMP_CRC,
        .workloads = {"step:llama3-8b,tp=1,pp=8,micro_batch=1,global_batch=8,tflops=300"}),
    RUN(TREE, ECMP_CRC, .workloads = {"permutation:1MB"},
        .faults = {"link/20:down@30us,reroute=20us", "link/20:up@120us,reroute=5us",
                   "link/3:degrade=0.5@10us"},
        .slow = {"node/00002:0.4"}),
    RUN(TREE, PLANNED, .workloads = {"permutation:1MB"},
        .faults = {"leaf/p0-0:degrade=0.25@10us", "spine/p1-0:down@20us,reroute=10us"}),
    RUN(TREE, SPRAY, .workloads = {"permutation:1MB"},
        .faults = {"spine/p0-0:down@20us,reroute=15us", "core/g0-0:down@40us,reroute=1us",
                   "spine/p0-0:up@90us"}),
    RUN(TREE, ECMP_CRC, .workloads = {"permutation:2MB"},
        .faults = {"link/17:flap@10us,down=20us,period=60us,count=3,reroute=5us"}, .pause = 500),
    RUN(TREE_2, ECMP_CRC, .workloads = {"permutation:4MB"}, .faults = {"link/40:down@10us"}),
    RUN(TREE_2, SPRAY, .workloads = {"alltoall:8MB,schedule=full", "incast:9:1,200KB"}),
    RUN(TREE_2, ECMP_CRC, .workloads = {"allreduce:ring,8MB,place=random,seed=5"}, .loss = 90),
    RUN(RAIL, ECMP_CRC, .workloads = {"allreduce:ring,8MB"}),
    RUN(RAIL, SPRAY, .workloads = {"allreduce:hier,8MB,chunks=4"}),
    RUN(RAIL, ADAPTIVE, .workloads = {"allreduce:in-network,8MB"}),
    RUN(RAIL, PLANNED, .workloads = {"alltoall:4MB", "allgather:ring,4MB,ranks=16"}),
    RUN(RAIL, ECMP_CRC, .workloads = {"step:llama3-8b,tp=2,pp=4,micro_batch=1,global_batch=32"},
        .slow = {"node/00001:0.7"}),
    RUN(RAIL, ECMP_CRC, .workloads = {"checkpoint:100MB"}, .storage = true),
    RUN(RAIL, SPRAY, .workloads = {"read:100MB,stripes=2", "checkpoint:30MB,ranks=16"},
        .storage = true),
    RUN(RAIL_ONLY, ECMP_CRC, .workloads = {"permutation:3MB"}, .pairs = 2),
    RUN(RAIL_ONLY, SPRAY, .workloads = {"alltoall:3MB,schedule=full"}),
    RUN(PODS, SPRAY, .workloads = {"permutation:3MB"},
        .faults = {"spine/p0-0:degrade=0.5@5us", "link/30:down@8us,reroute=2us"}),
    RUN(PODS, SPRAY, .workloads = {"permutation:3MB", "incast:7:1,1MB,seed=8"}, .pause = 700),
    RUN(PODS, SPRAY, .workloads = {"allgather:tree,3MB"},
        .faults = {"link/30:down@10us,reroute=1us", "link/38:down@20us,reroute=3us",
                   "link/30:up@100us"}),
    RUN(PLANES, ECMP_CRC, .workloads = {"permutation:3MB"}, .pairs = 4),
    RUN(PLANES, SPRAY, .workloads = {"allreduce:hier,9MB"}),
    RUN(TORUS, ECMP_CRC, .workloads = {"permutation:3MB"},
        .faults = {"link/14:down@10us,reroute=3us"}),
    RUN(TORUS, SPRAY, .workloads = {"allreduce:ring,3MB", "alltoall:1MB"}, .step = "50us"),
    RUN(DRAGONFLY, ADAPTIVE, .workloads = {"permutation:3MB"},
        .faults = {"router/g0-2:degrade=0.3@10us", "link/48:down@20us"}),
    RUN(DRAGONFLY, SPRAY, .workloads = {"permutation:3MB"}, .pause = 300),
    RUN(SCALE_UP, SPRAY, .workloads = {"allreduce:hier,64MB"}),
    RUN(SCALE_UP, ECMP_CRC, .workloads = {"alltoall:8MB,ranks=100"}),
    RUN(RAIL, ECMP_CRC, .workloads = {"allgather:halving,8MB,ranks=8,first=4"}),
    RUN(RAIL, SPRAY, .workloads = {"alltoall:8MB,ranks=12"}),
    RUN(RAIL, SPRAY, .workloads = {"allreduce:halving,8MB,ranks=8,first=4"}),
    RUN(RAIL, SPRAY,
        .workloads = {"broadcast:ring,8MB,ranks=11,first=3",
                      "reducescatter:tree,5MB,ranks=13,first=14"}),
    RUN(RAIL, ECMP_CRC, .workloads = {"allreduce:tree,8MB,ranks=9"}, .overhead = "700ns",
        .pairs = 7),
    RUN(SCALE_UP, SPRAY, .workloads = {"allreduce:in-network,8MB,ranks=100"}),
    RUN(TREE, ECMP_CRC,
        .workloads = {"incast:15:1,10KB", "incast:15:1,10KB,seed=1", "permutation:10KB"},
        .pause = 900, .loss = 300),
    RUN(PODS, ECMP_CRC, .workloads = {"alltoall:300KB", "permutation:2MB"}, .pause = 600,
        .step = "30us"),
    RUN(PODS, ADAPTIVE, .workloads = {"alltoall:300KB,schedule=full,window=2"},
        .faults = {"link/36:flap@3us,down=2us,period=9us,count=4,reroute=1us"}, .pause = 350),
    RUN(TREE, PLANNED, .workloads = {"allgather:ring,3MB", "permutation:500KB,seed=6"},
        .faults = {"link/33:down@15us,reroute=4us", "link/33:up@60us,reroute=2us"},
        .slow = {"node/00000:0.5", "node/00009:0.25"}),
    RUN(RAIL, ECMP_CRC,
        .workloads = {"step:mixtral-8x7b,tp=2,pp=2,ep=4,micro_batch=1,global_batch=32"},
        .slow = {"node/00000:0.9", "node/00003:0.5"}),
    RUN(RAIL, SPRAY, .workloads = {"step:llama3-8b,tp=2,cp=2,pp=2,micro_batch=2,global_batch=16"}),
    RUN(RAIL, SPRAY,
        .workloads =
            {"step:llama3-8b,tp=4,pp=4,recompute=full,micro_batch=1,global_batch=16,place=random"}),
    RUN(RAIL, SPRAY,
        .workloads = {"step:mixtral-8x7b,tp=4,etp=2,ep=4,pp=1,micro_batch=1,global_batch=32"}),
    RUN(RAIL, SPRAY, .workloads = {"step:llama3-8b,tp=8,zero=3,micro_batch=1,global_batch=16"}),
    RUN(RAIL, SPRAY,
        .workloads = {"step:llama3-8b,tp=1,pp=2,micro_batch=1,global_batch=32,ranks=16"}),
};

/* The designs of the specs, each planned once. */
static struct myr_sim_topology planned[FABRICS];

static int plan_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FABRICS; i++) {
        struct myr_err err = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf parts = {}, spec = {};
        if (!fabrics[i].spec) {
            continue;
        }
        myr_arena_init(&planned[i].arena);
        myr_buf_puts(&parts, "{}");
        myr_buf_puts(&spec, fabrics[i].spec);
        if (myr_catalog_init(&planned[i].catalog, &planned[i].arena, &err) < 0 ||
            sim_built(&planned[i], fabrics[i].name, &parts, &spec, &err) < 0) {
            print_error("%s: %s\n", fabrics[i].name, err.message);
            return -1;
        }
    }
    return 0;
}

static int drop_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FABRICS; i++) {
        myr_sim_topology_done(&planned[i]);
    }
    return 0;
}

static struct myr_sim_words words_of(const char *const *items, uint32_t most)
{
    struct myr_sim_words words = {items, 0};
    while (words.count < most && items[words.count]) {
        words.count++;
    }
    return words;
}

static struct myr_sim_question question_of(const struct run *run)
{
    const char *topology = fabrics[run->fabric].words;
    return (struct myr_sim_question){
        .topology = topology,
        .planned = topology ? NULL : &planned[run->fabric].design,
        .net = run->storage ? MYR_NET_STORAGE : MYR_NET_COMPUTE,
        .workloads = words_of(run->workloads, MYR_ARRAY_COUNT(run->workloads)),
        .faults = words_of(run->faults, MYR_ARRAY_COUNT(run->faults)),
        .slow = words_of(run->slow, MYR_ARRAY_COUNT(run->slow)),
        .balance = {run->policy, run->seed, run->polarised},
        .queue_pairs = run->pairs ? run->pairs : 1,
        .efficiency_permille = run->efficiency ? run->efficiency : 1000,
        .sharing_loss_permille = run->loss,
        .pause_permille = run->pause,
        .message_overhead = run->overhead,
        .series_step = run->step,
        .keep_paths = true};
}

static void put_run(struct myr_buf *text, const struct run *run)
{
    struct myr_sim_question question = question_of(run);
    const struct myr_sim_words *lists[] = {&question.workloads, &question.faults, &question.slow};
    myr_buf_printf(text, "\n%s, %s:", fabrics[run->fabric].name, myr_policy_names[run->policy]);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < lists[i]->count; k++) {
            myr_buf_printf(text, " %s", lists[i]->items[k]);
        }
    }
    myr_buf_puts(text, "\n");
}

static void put_answer(struct myr_buf *text, const struct myr_sim_answer *answer)
{
    const struct myr_sim_result *result = &answer->result;
    const struct myr_sim_bounds *bounds = &result->bounds;
    const struct myr_sim_rates *rates = &answer->rates;
    myr_buf_printf(text,
                   "  ends at %lld ps; %llu transfers, %llu flows, %llu events, %llu solved, "
                   "times %016llx\n",
                   (long long)result->end, (unsigned long long)result->transfers,
                   (unsigned long long)result->flows, (unsigned long long)result->events,
                   (unsigned long long)result->solved, (unsigned long long)result->hash);
    myr_buf_printf(text,
                   "  bounds%s: alpha %lld, chain %lld, beta %lld, incast %lld, bisection %lld, "
                   "best %lld\n",
                   bounds->known ? "" : " unknown", (long long)bounds->alpha,
                   (long long)bounds->chain, (long long)bounds->beta, (long long)bounds->incast,
                   (long long)bounds->bisection, (long long)bounds->best);
    for (uint32_t i = 0; i < answer->job_count; i++) {
        const struct myr_sim_job *job = &answer->jobs[i];
        myr_buf_printf(text, "  job: %u tasks, end %lld, alone %lld, slowdown %.9g, bound %lld",
                       job->load.task_count, (long long)job->end, (long long)job->alone,
                       job->slowdown, (long long)job->bound);
        if (job->load.collective) {
            myr_buf_printf(text, ", %s%s, %.9g and %.9g GB/s",
                           myr_algorithm_names[job->load.algorithm], job->load.full ? " full" : "",
                           job->algorithm_gbytes_per_s, job->bus_gbytes_per_s);
        }
        myr_buf_puts(text, "\n");
    }
    myr_buf_printf(text, "  flows: %llu, p1 %lld, p50 %lld, p99 %lld, mean %.9g us; load %.9g %.9g",
                   (unsigned long long)answer->times.flows,
                   (long long)myr_times_percentile(&answer->times, 1),
                   (long long)myr_times_percentile(&answer->times, 50),
                   (long long)myr_times_percentile(&answer->times, 99),
                   myr_times_mean_us(&answer->times), answer->load_mean, answer->load_max);
    if (rates->count) {
        myr_buf_printf(text, "; %u rates, mean %.9g, slowdown %.9g, p1 %.9g, least %.9g, full %.9g",
                       rates->count, rates->mean, rates->mean_slowdown, rates->p1, rates->least,
                       rates->full_share);
    }
    myr_buf_puts(text, "\n");
}

/* Of all that follows: by field, as padding is no value. */
struct digest {
    uint64_t hash, sum;
};

static void add(struct digest *digest, uint64_t value)
{
    digest->hash = myr_hash_u64(digest->hash ^ value);
    digest->sum += value;
}

static void add_wide(struct digest *digest, sim_moved value)
{
    add(digest, (uint64_t)value);
    add(digest, (uint64_t)(value >> 64));
}

static void put_digest(struct myr_buf *text, const char *name, const struct digest *digest)
{
    myr_buf_printf(text, ", %s %llu/%04llx", name, (unsigned long long)digest->sum,
                   (unsigned long long)(digest->hash >> 48));
}

/* What has no fabric's words: where everybody is, and what was set aside for whom. */
static void put_moment(struct myr_buf *text, const struct myr_sim *sim)
{
    struct digest levels = {}, rooms = {}, clocks = {}, bytes = {}, ends = {}, held = {},
                  reserved = {}, places = {}, paces = {}, paths = {}, series = {};
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        const struct sim_channel *channel = &sim->channels[c];
        const struct sim_fill *fill = &sim->fills[c];
        add(&levels, fill->level + 1); /* 0: holds nobody */
        add_wide(&rooms, (sim_moved)fill->room);
        add(&rooms, fill->fastest);
        add_wide(&clocks, channel->clock);
        add(&clocks, (uint64_t)channel->updated);
        add(&bytes, channel->bytes);
        add(&held, (uint64_t)channel->held << 32 | channel->entry_count);
        add(&ends, sim->finish_place[c] == MYR_NONE ? 0 : (uint64_t)sim->finish_at[c]);
    }
    for (size_t i = 0; i < sim->hops.count; i++) {
        add(&reserved, sim->hops.items[i].reserved);
        add(&places, sim->hop_places.items[i]);
    }
    for (size_t i = 0; i < sim->slots.count; i++) {
        add(&places, sim->ways.items[i].holder);
        add(&paces, sim->slots.items[i].pace);
    }
    for (size_t i = 0; i < sim->paths.count; i++) {
        const struct sim_path *path = &sim->paths.items[i];
        add(&paths, (uint64_t)path->pattern << 32 | path->message);
        add(&paths, path->share);
        for (uint32_t k = 0; k < path->count; k++) {
            add(&paths, sim->path_channels.items[path->first + k]);
        }
    }
    for (size_t i = 0; i < sim->samples.count; i++) {
        const struct sim_sample *sample = &sim->samples.items[i];
        add(&series, (uint64_t)sample->tick << 32 | sample->channel);
        add(&series, sample->bytes);
    }
    myr_buf_printf(text, "  at %lld: %u open, %llu events, %u waiting, %zu slots, %zu free",
                   (long long)sim->now, sim->result.blocked, (unsigned long long)sim->result.events,
                   sim->events.count, sim->slots.count, sim->free_slots.count);
    put_digest(text, "levels", &levels);
    put_digest(text, "rooms", &rooms);
    put_digest(text, "clocks", &clocks);
    put_digest(text, "bytes", &bytes);
    put_digest(text, "held", &held);
    put_digest(text, "ends", &ends);
    put_digest(text, "reserved", &reserved);
    put_digest(text, "places", &places);
    put_digest(text, "paces", &paces);
    put_digest(text, "paths", &paths);
    put_digest(text, "series", &series);
    myr_buf_puts(text, "\n");
}

/* What slow builds look at after each solve, of what it touched: here all of it. */
static void assert_fair(struct myr_sim *sim)
{
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        myr_vec_push(&sim->touched, c);
    }
    assert_true(sim_within_capacity(sim) && sim_ties_right(sim));
    sim->touched.count = 0;
    assert_false(sim_state_wrong(sim));
}

/* The same run once more, in an engine of the test's own that is stopped on the way. */
static void put_moments(struct myr_buf *text, const struct myr_sim_question *question,
                        const struct myr_sim_answer *whole)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_graph graph;
    struct myr_err err = {};
    myr_arena_init(&arena);
    assert_int_equal(myr_graph_init(&graph, &arena, whole->fabric.design, question->net, &err), 0);
    struct myr_sim *sim = myr_sim_create(&graph, &whole->engine);
    myr_sim_keep_paths(sim);
    for (uint32_t i = 0; i < question->slow.count; i++) {
        assert_int_equal(myr_sim_slow_words(sim, &graph, question->slow.items[i], &err), 0);
    }
    for (uint32_t i = 0; i < question->faults.count; i++) {
        assert_int_equal(myr_sim_fault_words(sim, &graph, question->faults.items[i], &err), 0);
    }
    if (whole->job_count > 1) {
        myr_sim_defer_routing(sim);
    }
    for (uint32_t i = 0; i < whole->job_count; i++) {
        struct myr_sim_load load;
        assert_int_equal(myr_sim_load_words(sim, &graph, &whole->fabric.topology.hosts,
                                            question->workloads.items[i], question->balance.seed,
                                            &load, &err),
                         0);
    }
    bool over = false;
    for (uint32_t quarter = 0; quarter < 4; quarter++) {
        assert_int_equal(myr_sim_run_until(sim, whole->result.end / 4 * quarter, &over, &err), 0);
        assert_false(over);
        assert_fair(sim);
        put_moment(text, sim);
    }
    struct myr_sim_result result;
    assert_int_equal(myr_sim_run(sim, NULL, NULL, &result, &err), MYR_OK);
    assert_true(result.hash == whole->result.hash && result.end == whole->result.end);
    assert_true(sim_conserved(sim) && sim_at_rest(sim));
    myr_sim_free(sim);
}

static void runs_are_what_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(runs); i++) {
        struct myr_sim_question question = question_of(&runs[i]);
        struct myr_sim_answer answer;
        struct myr_err err = {};
        put_run(&text, &runs[i]);
        if (myr_sim_ask(&answer, &question, &err) < 0) {
            myr_buf_printf(&text, "  %s\n", err.message);
        } else {
            put_answer(&text, &answer);
            put_moments(&text, &question, &answer);
        }
        myr_sim_answer_done(&answer);
    }
    assert_kept("sim-runs.txt", &text);
}

/* The sum over all pairs of ranks that share no server, each with its part of the buffer. */
static double naive_all_to_all_us(uint32_t first, uint32_t ranks, double bytes)
{
    uint32_t apart = 0;
    for (uint32_t a = first; a < first + ranks; a++) {
        for (uint32_t b = first; b < first + ranks; b++) {
            apart += a / 8 != b / 8;
        }
    }
    double nic = apart * bytes / ranks / (50e9 * ranks);
    double gpu = (ranks - 1) * bytes / ranks / (50e9 + 450e9); /* 400 Gb/s and 3,600 */
    return (nic > gpu ? nic : gpu) * 1e6;
}

/* A job may begin and end within a server, and have another number of ranks in each. */
static void no_job_is_quicker_than_its_bound_wherever_it_lies(void **state)
{
    (void)state;
    static const char *const kinds[] = {"alltoall:",       "allgather:ring,",    "allgather:tree,",
                                        "allreduce:tree,", "broadcast:ring,",    "broadcast:tree,",
                                        "allreduce:auto,", "reducescatter:tree,"};
    static const uint32_t counts[] = {2, 3, 7, 8, 9, 12, 16, 24};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(kinds) * MYR_ARRAY_COUNT(counts) * 3; i++) {
        uint32_t ranks = counts[i / 3 % MYR_ARRAY_COUNT(counts)], first = i % 3 * 4;
        const char *kind = kinds[i / 3 / MYR_ARRAY_COUNT(counts)];
        MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
        struct myr_sim_answer answer;
        myr_buf_printf(&words, "%s1MB,ranks=%u,first=%u", kind, ranks, first);
        struct run run = {.fabric = i % 2 ? RAIL : RAIL_ONLY, .policy = MYR_POLICY_SPRAY};
        run.workloads[0] = words.data;
        struct myr_sim_question question = question_of(&run);
        assert_int_equal(myr_sim_ask(&answer, &question, NULL), MYR_OK);
        const struct myr_sim_job *job = &answer.jobs[0];
        assert_true(job->bound > 0 && job->end >= job->bound);
        if (kind == kinds[0]) {
            double right = naive_all_to_all_us(first, ranks, 1e6) * (double)MYR_PS_PER_US;
            assert_true((double)job->bound <= right && (double)job->bound >= right - 1.01);
        }
        myr_sim_answer_done(&answer);
    }
}

static const struct myr_design *design_of(uint32_t fabric, struct myr_sim_fabric *opened)
{
    if (fabrics[fabric].spec) {
        return &planned[fabric].design;
    }
    assert_int_equal(myr_sim_fabric_open(opened, NULL, fabrics[fabric].words, NULL), MYR_OK);
    return opened->design;
}

/* What jobs cost each other, on some fabrics and with policies that look at the others or do not.
 */
static void tables_of_contention_are_what_they_were(void **state)
{
    (void)state;
    static const struct {
        uint32_t fabric;
        enum myr_policy policy;
        uint32_t seed;
    } tables[] = {{TREE, MYR_POLICY_ECMP_CRC, 0},   {TREE, MYR_POLICY_ADAPTIVE, 0},
                  {TREE_2, MYR_POLICY_PLANNED, 2},  {RAIL, MYR_POLICY_ECMP_CRC, 3},
                  {RAIL_ONLY, MYR_POLICY_SPRAY, 0}, {PODS, MYR_POLICY_ECMP_CRC, 1},
                  {TORUS, MYR_POLICY_ECMP_CRC, 0},  {SCALE_UP, MYR_POLICY_STATIC, 0},
                  {TREE_6, MYR_POLICY_ECMP_CRC, 5}, {TREE_6, MYR_POLICY_ADAPTIVE, 6},
                  {TREE_8, MYR_POLICY_ECMP_CRC, 1}};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t t = 0; t < MYR_ARRAY_COUNT(tables); t++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        struct myr_sim_fabric opened = {};
        struct myr_graph graph;
        struct myr_contention table;
        struct myr_err err = {};
        struct myr_balance_options balance = {tables[t].policy, tables[t].seed, false};
        myr_arena_init(&arena);
        const struct myr_design *design = design_of(tables[t].fabric, &opened);
        assert_int_equal(myr_graph_init(&graph, &arena, design, MYR_NET_COMPUTE, &err), MYR_OK);
        assert_int_equal(myr_contention_compute(&graph, &balance, NULL, NULL, &table, &err),
                         MYR_OK);
        myr_buf_printf(&text, "%s, %s, seed %llu: %u GPUs, %u links\n",
                       fabrics[tables[t].fabric].name, myr_policy_names[table.policy],
                       (unsigned long long)table.seed, table.gpus, table.links);
        for (uint32_t c = 0; c < MYR_CONTENTION_PATTERNS * MYR_CONTENTION_LEVELS; c++) {
            myr_buf_printf(&text, "  %u %u:", c / MYR_CONTENTION_LEVELS, c % MYR_CONTENTION_LEVELS);
            for (uint32_t i = 0; i < MYR_CONTENTION_LOADS; i++) {
                const struct myr_contention_cell *cell =
                    &table.cells[c / MYR_CONTENTION_LEVELS][c % MYR_CONTENTION_LEVELS][i];
                myr_buf_printf(&text, "  %.9g, worst %.9g, %u jobs;", cell->mean, cell->worst,
                               cell->jobs);
            }
            myr_buf_puts(&text, "\n");
        }
        myr_sim_fabric_close(&opened);
    }
    assert_kept("sim-contention.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_job_is_quicker_than_its_bound_wherever_it_lies),
        cmocka_unit_test(runs_are_what_they_were),
        cmocka_unit_test(tables_of_contention_are_what_they_were),
    };
    return cmocka_run_group_tests(tests, plan_all, drop_all);
}
