#include "sim_load.h"

#include <stdlib.h>

#include "fabric_args.h"
#include "sim_file.h"
#include "sim_topology.h"
#include "sim_words.h"

/* What every workload's maker is given. */
struct maker {
    struct myr_sim *sim;
    const struct myr_graph *graph;
    struct sim_words words;
    uint64_t seed;
    uint32_t *gpus; /* of the job, by rank */
    uint32_t gpu_count;
};

/* Keys that say which GPUs a job has; makers put their own behind. */
#define JOB_KEYS "seed", "ranks", "first", "place", "disorder"

static uint32_t gpus_of(const struct maker *maker)
{
    return maker->graph->design->head->gpus;
}

/*
 * A host list that is in order but for some: each node is out of place with this probability, and
 * those trade places with each other.
 */
static void disorder_nodes(struct myr_rng *rng, uint32_t *nodes, uint32_t count, uint32_t percent)
{
    uint32_t *places = myr_xcalloc(count, sizeof(*places));
    uint32_t *moved = myr_xcalloc(count, sizeof(*moved)), moved_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (myr_rng_below(rng, 100) < percent) {
            places[moved_count] = i;
            moved[moved_count++] = nodes[i];
        }
    }
    myr_rng_shuffle(rng, moved, moved_count);
    for (uint32_t i = 0; i < moved_count; i++) {
        nodes[places[i]] = moved[i];
    }
    free(moved);
    free(places);
}

/*
 * Whole nodes drawn at random: 'sorted' numbers them in the order of the fabric, but for the part
 * that 'disorder' puts out of place. Jobs with the same seed and other places in the draw ('first')
 * share no node.
 */
static int draw_nodes(struct maker *maker, uint32_t first, bool sorted, uint32_t disorder_percent,
                      struct myr_err *err)
{
    const struct myr_design_head *head = maker->graph->design->head;
    uint32_t local = head->gpus_per_node, wanted = maker->gpu_count / local;
    if (maker->gpu_count % local || first % local) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: place= needs whole nodes of %u GPUs: %u ranks from %u",
                           maker->words.option, local, maker->gpu_count, first);
    }
    uint32_t *nodes = myr_xcalloc(head->nodes, sizeof(*nodes));
    uint8_t *taken = myr_xcalloc(head->nodes, 1);
    struct myr_rng rng;
    myr_rng_init(&rng, maker->seed, 3);
    for (uint32_t i = 0; i < head->nodes; i++) {
        nodes[i] = i;
    }
    myr_rng_shuffle(&rng, nodes, head->nodes);
    memmove(nodes, nodes + first / local, wanted * sizeof(*nodes));
    for (uint32_t i = 0; i < wanted; i++) {
        taken[nodes[i]] = 1;
    }
    for (uint32_t node = 0, i = 0; sorted && node < head->nodes; node++) {
        if (taken[node]) {
            nodes[i++] = node;
        }
    }
    disorder_nodes(&rng, nodes, wanted, disorder_percent);
    for (uint32_t i = 0; i < maker->gpu_count; i++) {
        maker->gpus[i] = nodes[i / local] * local + i % local;
    }
    free(taken);
    free(nodes);
    return MYR_OK;
}

/* first=GPU,ranks=N,place=block|random|sorted,disorder=PERCENT: the job's GPUs, else all. */
static int choose_gpus(struct maker *maker, struct myr_err *err)
{
    uint64_t gpus = gpus_of(maker), first = 0, ranks, disorder = 0;
    struct myr_str place = MYR_STR("block");
    bool placed = sim_words_keyed(&maker->words, "place", &place);
    int r = sim_words_number(&maker->words, "seed", 0, UINT64_MAX, &maker->seed, err);
    r = r < 0 ? r : sim_words_number(&maker->words, "first", 0, gpus - 1, &first, err);
    ranks = gpus - first;
    r = r < 0 ? r : sim_words_number(&maker->words, "ranks", 2, gpus - first, &ranks, err);
    r = r < 0 ? r : sim_words_number(&maker->words, "disorder", 0, 100, &disorder, err);
    if (r < 0) {
        return r;
    }
    bool random = myr_str_eq(place, MYR_STR("random")),
         sorted = myr_str_eq(place, MYR_STR("sorted"));
    if (placed && !random && !sorted && !myr_str_eq(place, MYR_STR("block"))) {
        return myr_err_set(err, MYR_EINVAL, "%s: 'place' is block, random or sorted, not '%.*s'",
                           maker->words.option, sim_words_shown(place), place.data);
    }
    if (disorder > 0 && !sorted) {
        return myr_err_set(err, MYR_EINVAL, "%s: 'disorder' goes with place=sorted",
                           maker->words.option);
    }
    maker->gpu_count = (uint32_t)ranks;
    maker->gpus = myr_xcalloc(ranks, sizeof(*maker->gpus));
    for (uint32_t i = 0; i < maker->gpu_count; i++) {
        maker->gpus[i] = (uint32_t)first + i;
    }
    return random || sorted ? draw_nodes(maker, (uint32_t)first, sorted, (uint32_t)disorder, err)
                            : MYR_OK;
}

static int need_two(const struct maker *maker, struct myr_err *err)
{
    return maker->gpu_count > 1 ? MYR_OK
                                : myr_err_set(err, MYR_EINVAL, "%s: at least two GPUs are needed",
                                              maker->words.option);
}

static int put_flows(struct maker *maker, const struct myr_message *messages, uint32_t count,
                     uint64_t bytes, struct sim_load *ret, struct myr_err *err)
{
    int r = MYR_OK;
    ret->first_flow = myr_sim_task_count(maker->sim);
    ret->flow_count = count;
    for (uint32_t i = 0; r == MYR_OK && i < count; i++) {
        r = myr_load_flow(maker->sim, messages[i], bytes, MYR_NONE, &ret->end, err);
    }
    ret->end = MYR_NONE;
    return r;
}

/* A random order of 0..count-1 in which nobody keeps its place. */
static void derange(uint64_t seed, uint32_t *order, uint32_t count)
{
    struct myr_rng rng;
    bool fixed = true;
    myr_rng_init(&rng, seed, 1);
    while (fixed) {
        fixed = false;
        for (uint32_t i = 0; i < count; i++) {
            order[i] = i;
        }
        myr_rng_shuffle(&rng, order, count);
        for (uint32_t i = 0; i < count; i++) {
            fixed = fixed || order[i] == i;
        }
    }
}

static int load_permutation(struct maker *maker, struct sim_load *ret, struct myr_err *err)
{
    static const char *const keys[] = {JOB_KEYS};
    uint64_t bytes;
    int r = sim_words_bytes(&maker->words, 0, &bytes, err);
    r = r < 0 ? r : sim_words_check(&maker->words, 1, keys, MYR_ARRAY_COUNT(keys), err);
    r = r < 0 ? r : choose_gpus(maker, err);
    r = r < 0 ? r : need_two(maker, err);
    if (r < 0) {
        return r;
    }
    uint32_t count = maker->gpu_count;
    struct myr_message *messages = myr_xcalloc(count, sizeof(*messages));
    uint32_t *order = myr_xcalloc(count, sizeof(*order));
    derange(maker->seed, order, count);
    for (uint32_t i = 0; i < count; i++) {
        messages[i] = (struct myr_message){maker->gpus[i], maker->gpus[order[i]]};
    }
    r = put_flows(maker, messages, count, bytes, ret, err);
    free(order);
    free(messages);
    return r;
}

/* incast:K:1,SIZE - K senders, drawn by the seed, to the job's first GPU. */
static int load_incast(struct maker *maker, struct sim_load *ret, struct myr_err *err)
{
    static const char *const keys[] = {JOB_KEYS};
    uint64_t bytes, senders = 0;
    struct myr_str ratio = maker->words.count ? maker->words.items[0] : MYR_STR("");
    const char *colon = ratio.len ? memchr(ratio.data, ':', ratio.len) : NULL;
    size_t len = colon ? (size_t)(colon - ratio.data) : ratio.len;
    bool to_one = !colon || (ratio.len == len + 2 && colon[1] == '1');
    int r = sim_words_bytes(&maker->words, 1, &bytes, err);
    r = r < 0 ? r : sim_words_check(&maker->words, 2, keys, MYR_ARRAY_COUNT(keys), err);
    r = r < 0 ? r : choose_gpus(maker, err);
    r = r < 0 ? r : need_two(maker, err);
    if (r < 0) {
        return r;
    }
    if (!to_one || !myr_str_to_u64((struct myr_str){ratio.data, len}, &senders) || senders == 0 ||
        senders >= maker->gpu_count) {
        return myr_err_set(err, MYR_EINVAL, "%s: incast:K:1,SIZE with K from 1 to %u is expected",
                           maker->words.option, maker->gpu_count - 1);
    }
    struct myr_message *messages = myr_xcalloc(senders, sizeof(*messages));
    struct myr_rng rng;
    myr_rng_init(&rng, maker->seed, 2);
    myr_rng_shuffle(&rng, maker->gpus + 1, maker->gpu_count - 1);
    for (uint32_t i = 0; i < senders; i++) {
        messages[i] = (struct myr_message){maker->gpus[i + 1], maker->gpus[0]};
    }
    r = put_flows(maker, messages, (uint32_t)senders, bytes, ret, err);
    free(messages);
    return r;
}

static const struct {
    const char *name;
    enum myr_collective kind;
} collectives[] = {
    {"allreduce", MYR_ALL_REDUCE},         {"allgather", MYR_ALL_GATHER},
    {"reducescatter", MYR_REDUCE_SCATTER}, {"alltoall", MYR_ALL_TO_ALL},
    {"broadcast", MYR_BROADCAST},
};

static int load_collective(struct maker *maker, enum myr_collective kind, struct sim_load *ret,
                           struct myr_err *err)
{
    static const char *const keys[] = {JOB_KEYS};
    enum myr_algorithm algorithm = MYR_ALGORITHM_AUTO;
    uint32_t at = 0, local = maker->graph->design->head->gpus_per_node;
    if (kind == MYR_ALL_TO_ALL) {
        algorithm = MYR_ALGORITHM_PAIRWISE;
    }
    for (uint32_t a = 0; a < MYR_ALGORITHM_COUNT && maker->words.count; a++) {
        if (myr_str_eq(maker->words.items[0], myr_str_from(myr_algorithm_names[a]))) {
            algorithm = (enum myr_algorithm)a;
            at = 1;
        }
    }
    int r = sim_words_bytes(&maker->words, at, &ret->bytes, err);
    r = r < 0 ? r : sim_words_check(&maker->words, at + 1, keys, MYR_ARRAY_COUNT(keys), err);
    r = r < 0 ? r : choose_gpus(maker, err);
    if (r < 0) {
        return r;
    }
    ret->collective = true;
    ret->kind = kind;
    ret->ranks = maker->gpu_count;
    bool whole = maker->gpu_count % local == 0 && maker->gpus[0] % local == 0;
    return myr_load_collective(maker->sim, (struct myr_ranks){maker->gpus, maker->gpu_count}, kind,
                               algorithm, whole ? local : 1, ret->bytes, MYR_NONE, &ret->end, err);
}

/* Words of a step that are its own; the others are the layout's. */
static bool own_word(struct myr_str item)
{
    static const char *const keys[] = {"tflops", JOB_KEYS};
    for (size_t k = 0; k < MYR_ARRAY_COUNT(keys); k++) {
        size_t len = strlen(keys[k]);
        if (item.len > len && memcmp(item.data, keys[k], len) == 0 && item.data[len] == '=') {
            return true;
        }
    }
    return false;
}

/* step:MODEL,tflops=400,tp=8,pp=8,micro_batch=1,global_batch=... - one training step. */
static int load_step(struct maker *maker, struct sim_load *ret, struct myr_err *err)
{
    struct myr_arena arena;
    struct myr_buf layout_text = {0};
    struct myr_model model;
    struct myr_layout layout;
    struct myr_str tflops;
    double rate = 400;
    const struct sim_words *words = &maker->words;
    if (words->count == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: step:MODEL,tp=8,pp=8,... is expected",
                           words->option);
    }
    if (sim_words_keyed(words, "tflops", &tflops) &&
        (!myr_str_to_double(tflops, &rate) || !(rate > 0 && rate < 1e9))) {
        return myr_err_set(err, MYR_EINVAL, "%s: 'tflops' must be a number above 0, not '%.*s'",
                           words->option, sim_words_shown(tflops), tflops.data);
    }
    myr_arena_init(&arena);
    const char *name = myr_arena_strndup(&arena, words->items[0].data, words->items[0].len);
    for (uint32_t i = 1; i < words->count; i++) {
        struct myr_str item = words->items[i];
        if (!own_word(item)) {
            myr_buf_printf(&layout_text, "%s%.*s", layout_text.len ? "," : "", (int)item.len,
                           item.data);
        }
    }
    int r = myr_model_find(&arena, name, &model, err);
    r = r < 0 ? r : choose_gpus(maker, err);
    uint64_t gpus = maker->gpu_count;
    r = r < 0 ? r
              : myr_layout_words("--layout", layout_text.len ? layout_text.data : "tp=8", gpus,
                                 &layout, err);
    r = r < 0 ? r : myr_layout_check(&layout, &model, gpus, err);
    if (r == MYR_OK) {
        struct myr_step step = {&model, &layout, rate * 1e12, MYR_ALGORITHM_RING};
        struct myr_step_result result;
        r = myr_load_step(maker->sim, (struct myr_ranks){maker->gpus, maker->gpu_count}, &step,
                          MYR_NONE, &result, err);
        ret->end = r < 0 ? MYR_NONE : result.end;
    }
    myr_buf_done(&layout_text);
    myr_arena_done(&arena);
    return r;
}

/* checkpoint:SIZE and read:SIZE - all nodes to or from the storage servers, in stripes. */
static int load_storage(struct maker *maker, bool write, struct sim_load *ret, struct myr_err *err)
{
    static const char *const keys[] = {JOB_KEYS, "stripes"};
    const struct myr_design_head *head = maker->graph->design->head;
    uint64_t stripes = 4, bytes;
    int r = sim_words_bytes(&maker->words, 0, &bytes, err);
    r = r < 0 ? r : sim_words_check(&maker->words, 1, keys, MYR_ARRAY_COUNT(keys), err);
    r = r < 0 ? r : sim_words_number(&maker->words, "stripes", 1, 1024, &stripes, err);
    r = r < 0 ? r : choose_gpus(maker, err);
    if (r == MYR_OK && head->storage_servers == 0) {
        r = myr_err_set(err, MYR_EINVAL, "%s: this fabric has no storage servers",
                        maker->words.option);
        myr_err_hint(err, "plan a design with a storage network, and give --net storage");
    }
    if (r < 0) {
        return r;
    }
    stripes = stripes < head->storage_servers ? stripes : head->storage_servers;
    uint32_t local = head->gpus_per_node, nodes = (maker->gpu_count + local - 1) / local;
    uint32_t count = nodes * (uint32_t)stripes;
    MYR_ASSERT(count > 0);
    struct myr_message *messages = myr_xcalloc(count, sizeof(*messages));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t server = MYR_MESSAGE_STORAGE | i % head->storage_servers;
        /* Stripes leave by the NICs of the node in turn. */
        uint32_t node = i / (uint32_t)stripes, stripe = i % (uint32_t)stripes;
        uint32_t gpu = maker->gpus[node * local] + stripe % local;
        messages[i] = write ? (struct myr_message){gpu, server} : (struct myr_message){server, gpu};
    }
    r = put_flows(maker, messages, count, (bytes + count - 1) / count, ret, err);
    free(messages);
    return r;
}

static int dispatch(struct maker *maker, struct sim_load *ret, struct myr_err *err)
{
    struct myr_str kind = maker->words.kind;
    if (myr_str_eq(kind, MYR_STR("permutation"))) {
        return load_permutation(maker, ret, err);
    }
    if (myr_str_eq(kind, MYR_STR("incast"))) {
        return load_incast(maker, ret, err);
    }
    if (myr_str_eq(kind, MYR_STR("step"))) {
        return load_step(maker, ret, err);
    }
    if (myr_str_eq(kind, MYR_STR("checkpoint")) || myr_str_eq(kind, MYR_STR("read"))) {
        return load_storage(maker, kind.data[0] == 'c', ret, err);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(collectives); i++) {
        if (myr_str_eq(kind, myr_str_from(collectives[i].name))) {
            return load_collective(maker, collectives[i].kind, ret, err);
        }
    }
    int r =
        myr_err_set(err, MYR_EINVAL, "unknown workload '%.*s'", sim_words_shown(kind), kind.data);
    myr_err_hint(err, "permutation, incast, alltoall, allreduce, reducescatter, allgather, "
                      "broadcast, step, checkpoint, read or file:PATH; see myriad sim --help");
    return r;
}

int sim_load_parse(struct myr_sim *sim, const struct myr_graph *graph,
                   const struct sim_hosts *hosts, const char *text, uint64_t seed,
                   struct sim_load *ret, struct myr_err *err)
{
    struct maker maker = {.sim = sim, .graph = graph, .seed = seed};
    *ret = (struct sim_load){.text = text, .end = MYR_NONE, .first_task = myr_sim_task_count(sim)};
    int r;
    if (strncmp(text, "file:", 5) == 0) {
        r = sim_file_load(sim, graph, hosts, text, ret, err);
    } else {
        r = sim_words_split("--workload", text, &maker.words, err);
        r = r < 0 ? r : dispatch(&maker, ret, err);
    }
    ret->task_count = myr_sim_task_count(sim) - ret->first_task;
    free(maker.gpus);
    return r;
}

myr_ps sim_load_end(const struct myr_sim *sim, const struct sim_load *load)
{
    myr_ps end = 0;
    for (uint32_t t = 0; t < load->task_count; t++) {
        myr_ps one = myr_sim_task_end(sim, load->first_task + t);
        end = one > end ? one : end;
    }
    return end;
}
