/*
 * workload: from the words of --workload to tasks of the engine. The word in front of the colon
 * picks the maker; sizes stand in a fixed place, everything else is KEY=VALUE.
 */
#include "question/place.h"
#include "question/source.h"

/* What every workload's maker is given. */
struct maker {
    struct myr_sim *sim;
    const struct myr_graph *graph;
    struct sim_words words;
    struct myr_arena *arena; /* for as long as the words are being read */
    struct sim_place place;  /* set by begin(), or by the maker itself */
    uint64_t seed;           /* of the whole run; the words may give their own */
};

static const char *const place_keys[] = {SIM_PLACE_KEYS};

/* What most workloads begin with: a size in this place, then nothing but known keys, the GPUs. */
static int begin(struct maker *maker, uint32_t size_at, const char *const *keys, size_t key_count,
                 uint64_t *ret_bytes, struct myr_err *err)
{
    MYR_TRY(sim_words_bytes(&maker->words, size_at, ret_bytes, err));
    MYR_TRY(sim_words_check(&maker->words, size_at + 1, keys, key_count, err));
    return sim_place_choose(&maker->place, maker->arena, maker->graph->design->head, &maker->words,
                            maker->seed, err);
}

/* A job of one GPU has nobody to send to. */
static int need_two(const struct maker *maker, struct myr_err *err)
{
    return maker->place.count > 1 ? MYR_OK
                                  : myr_err_set(err, MYR_EINVAL, "%s: at least two GPUs are needed",
                                                maker->words.option);
}

/* Single flows: the answer can say what each would get if all moved at once. */
static int put_flows(struct maker *maker, const struct myr_message *messages, uint32_t count,
                     uint64_t bytes, struct myr_sim_load *ret)
{
    ret->first_flow = myr_sim_task_count(maker->sim);
    ret->flow_count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t task = myr_load_flow(maker->sim, messages[i], bytes);
        MYR_ASSERT(task == ret->first_flow + i);
    }
    return MYR_OK;
}

/* A random order of 0..count-1 in which nobody keeps its place. */
static void derange(uint64_t seed, uint32_t *order, uint32_t count)
{
    struct myr_rng rng;
    bool fixed = true;
    MYR_ASSERT(count > 1);
    myr_rng_init(&rng, seed, 1);
    /* Drawn anew until nobody is left in place: one shuffle in three is such, so this ends soon. */
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

/* Every rank sends to another one: the traffic on which policies differ most. */
static int load_permutation(struct maker *maker, struct myr_sim_load *ret, struct myr_err *err)
{
    uint64_t bytes;
    MYR_TRY(begin(maker, 0, place_keys, MYR_ARRAY_COUNT(place_keys), &bytes, err));
    MYR_TRY(need_two(maker, err));
    uint32_t count = maker->place.count;
    const uint32_t *gpus = maker->place.gpus;
    struct myr_message *messages = MYR_ARENA_NEW(maker->arena, struct myr_message, count);
    uint32_t *order = MYR_ARENA_NEW(maker->arena, uint32_t, count);
    derange(maker->place.seed, order, count);
    for (uint32_t i = 0; i < count; i++) {
        messages[i] = (struct myr_message){gpus[i], gpus[order[i]]};
    }
    return put_flows(maker, messages, count, bytes, ret);
}

/* incast:K:1,SIZE - K senders, drawn by the seed, to the job's first GPU. */
static int load_incast(struct maker *maker, struct myr_sim_load *ret, struct myr_err *err)
{
    uint64_t bytes, senders = 0;
    struct myr_str ratio = maker->words.count ? maker->words.items[0] : MYR_STR("");
    const char *colon = ratio.len ? memchr(ratio.data, ':', ratio.len) : NULL;
    size_t len = colon ? (size_t)(colon - ratio.data) : ratio.len;
    /* "K" alone is "K:1"; nothing but 1 may stand behind the colon. */
    bool to_one = !colon || (ratio.len == len + 2 && colon[1] == '1');
    MYR_TRY(begin(maker, 1, place_keys, MYR_ARRAY_COUNT(place_keys), &bytes, err));
    MYR_TRY(need_two(maker, err));
    uint32_t *gpus = maker->place.gpus, count = maker->place.count;
    if (!to_one || !myr_str_to_u64((struct myr_str){ratio.data, len}, &senders) || senders == 0 ||
        senders >= count) {
        return myr_err_set(err, MYR_EINVAL, "%s: incast:K:1,SIZE with K from 1 to %u is expected",
                           maker->words.option, count - 1);
    }
    struct myr_message *messages = MYR_ARENA_NEW(maker->arena, struct myr_message, senders);
    struct myr_rng rng;
    myr_rng_init(&rng, maker->place.seed, 2);
    /* The receiver stays the first; the senders are the first K of the shuffled others. */
    myr_rng_shuffle(&rng, gpus + 1, count - 1);
    for (uint32_t i = 0; i < senders; i++) {
        messages[i] = (struct myr_message){gpus[i + 1], gpus[0]};
    }
    return put_flows(maker, messages, (uint32_t)senders, bytes, ret);
}

static const struct {
    const char *name;
    enum myr_collective kind;
} collectives[] = {
    {"allreduce", MYR_ALL_REDUCE},         {"allgather", MYR_ALL_GATHER},
    {"reducescatter", MYR_REDUCE_SCATTER}, {"alltoall", MYR_ALL_TO_ALL},
    {"broadcast", MYR_BROADCAST},
};

/* A first word that is no algorithm is the size; else it was meant to be one of the two. */
static int check_size_word(const struct sim_words *words, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf known = {};
    struct myr_str word = words->count ? words->items[0] : MYR_STR("");
    uint64_t bytes;
    if (word.len == 0 || myr_sim_parse_bytes(word, &bytes) || memchr(word.data, '=', word.len)) {
        return MYR_OK; /* what the readers of sizes and of keys say is enough */
    }
    for (uint32_t a = 0; a < MYR_ALGORITHM_COUNT; a++) {
        myr_buf_printf(&known, "%s%s", a ? ", " : "", myr_algorithm_names[a]);
    }
    return myr_err_set(err, MYR_EINVAL,
                       "%s: '%.*s' is neither an algorithm (%s) nor a size such as 1MB",
                       words->option, sim_words_shown(word), word.data, known.data);
}

/* What goes in as many pieces as there are ranks, or at once, has no chunks to choose. */
static bool has_chunks(const struct myr_collective_shape *shape)
{
    switch (shape->algorithm) {
    case MYR_ALGORITHM_AUTO: /* which may come to one that has them */
    case MYR_ALGORITHM_HIER:
    case MYR_ALGORITHM_IN_NETWORK:
        return shape->collective != MYR_ALL_TO_ALL;
    case MYR_ALGORITHM_TREE:
        return shape->collective == MYR_ALL_REDUCE || shape->collective == MYR_BROADCAST;
    default:
        return shape->collective == MYR_BROADCAST;
    }
}

/* schedule=full|collapsed, chunks=N, window=N */
static int read_schedule(const struct sim_words *words, struct myr_collective_shape *shape,
                         enum myr_schedule_form *ret, struct myr_err *err)
{
    uint64_t chunks = 0, window = 0;
    struct myr_str text;
    *ret = MYR_SCHEDULE_AUTO;
    MYR_TRY(sim_words_number(words, "chunks", 1, 1024, &chunks, err));
    MYR_TRY(sim_words_number(words, "window", 1, MYR_PAIRWISE_RANKS_MAX, &window, err));
    shape->chunks = (uint32_t)chunks;
    shape->window = (uint32_t)window;
    if (chunks > 1 && !has_chunks(shape)) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: 'chunks' is for hier, in-network, broadcasts and the tree of an "
                           "allreduce",
                           words->option);
    }
    if (window && shape->collective != MYR_ALL_TO_ALL) {
        return myr_err_set(err, MYR_EINVAL, "%s: 'window' is for alltoall", words->option);
    }
    if (!sim_words_keyed(words, "schedule", &text)) {
        return MYR_OK;
    }
    for (uint32_t i = 0; i < MYR_SCHEDULE_FORMS; i++) {
        if (myr_str_eq(text, myr_str_from(myr_schedule_names[i]))) {
            *ret = (enum myr_schedule_form)i;
            if (window && *ret == MYR_SCHEDULE_COLLAPSED) {
                return myr_err_set(err, MYR_EINVAL, "%s: a 'window' is only in the full schedule",
                                   words->option);
            }
            return MYR_OK;
        }
    }
    return myr_err_set(err, MYR_EINVAL,
                       "%s: 'schedule' is '%.*s'; auto, full or collapsed is "
                       "expected",
                       words->option, sim_words_shown(text), text.data);
}

/* Without a word about the algorithm the quickest is found by playing each of them. */
static int load_collective(struct maker *maker, enum myr_collective kind, struct myr_sim_load *ret,
                           struct myr_err *err)
{
    static const char *const keys[] = {SIM_PLACE_KEYS, "schedule", "chunks", "window"};
    struct myr_collective_shape shape = {.collective = kind, .algorithm = MYR_ALGORITHM_AUTO};
    struct myr_collective_load load;
    enum myr_schedule_form form;
    uint32_t at = 0;
    /* The only algorithm that it has, so that nothing is to be chosen. */
    if (kind == MYR_ALL_TO_ALL) {
        shape.algorithm = MYR_ALGORITHM_PAIRWISE;
    }
    for (uint32_t a = 0; a < MYR_ALGORITHM_COUNT && maker->words.count; a++) {
        if (myr_str_eq(maker->words.items[0], myr_str_from(myr_algorithm_names[a]))) {
            shape.algorithm = (enum myr_algorithm)a;
            at = 1;
        }
    }
    if (at == 0) {
        MYR_TRY(check_size_word(&maker->words, err));
    }
    MYR_TRY(begin(maker, at, keys, MYR_ARRAY_COUNT(keys), &ret->bytes, err));
    MYR_TRY(read_schedule(&maker->words, &shape, &form, err));
    /* Keys are read before anything is added to the engine: a wrong word leaves it as it was. */
    struct myr_ranks ranks = {maker->place.gpus, maker->place.count};
    shape.ranks = ranks.count;
    shape.bytes = ret->bytes;
    /* Only what lies together may be taken as such: else a rank's neighbours are others' GPUs. */
    shape.local = myr_local_ranks(maker->graph, ranks);
    MYR_TRY(myr_load_collective(maker->sim, ranks, &shape, form, MYR_NONE, &load, err));
    ret->collective = true;
    ret->kind = kind;
    ret->ranks = ranks.count;
    ret->algorithm = shape.algorithm = load.algorithm;
    ret->full = load.full;
    ret->shape = shape;
    ret->domains = myr_rank_domains(maker->graph, ranks);
    return MYR_OK;
}

/* Words of a step that are its own; the others are the layout's. */
static bool own_word(struct myr_str item)
{
    static const char *const keys[] = {"tflops", SIM_PLACE_KEYS};
    for (size_t k = 0; k < MYR_ARRAY_COUNT(keys); k++) {
        size_t len = strlen(keys[k]);
        if (item.len > len && memcmp(item.data, keys[k], len) == 0 && item.data[len] == '=') {
            return true;
        }
    }
    return false;
}

/* What a GPU reaches in training, not what its data sheet says; 400 is usual for an H100. */
static int read_tflops(const struct sim_words *words, double *ret, struct myr_err *err)
{
    struct myr_str text;
    *ret = 400;
    if (sim_words_keyed(words, "tflops", &text) &&
        (!myr_str_to_double(text, ret) || !(*ret > 0 && *ret < 1e9))) {
        return myr_err_set(err, MYR_EINVAL, "%s: 'tflops' must be a number above 0, not '%.*s'",
                           words->option, sim_words_shown(text), text.data);
    }
    return MYR_OK;
}

/* What the tasks of a step do not follow must not look as if they did. */
static int check_played(const char *option, const struct myr_layout *layout, struct myr_err *err)
{
    const char *odd = layout->vp > 1                          ? "vp"
                      : layout->recompute_parts               ? "recompute"
                      : layout->schedule != MYR_SCHEDULE_1F1B ? "schedule"
                                                              : NULL;
    if (!odd) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL,
                         "%s: '%s': a step is played as 1F1B with one chunk of layers a stage, "
                         "which remakes all of a layer, its scores or nothing",
                         option, odd);
    myr_err_hint(err, "'myriad fit' prices the other schedules");
    return rc;
}

/* The layout's words of a step, as one text. */
static int read_layout(const struct maker *maker, const struct myr_model *model,
                       struct myr_layout *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const struct sim_words *words = &maker->words;
    for (uint32_t i = 1; i < words->count; i++) {
        struct myr_str item = words->items[i];
        if (!own_word(item)) {
            myr_buf_printf(&text, "%s%.*s", text.len ? "," : "", (int)item.len, item.data);
        }
    }
    /* What no word says is as in every layout: data parallel alone. */
    uint64_t gpus = maker->place.count;
    MYR_TRY(myr_layout_words(words->option, text.len ? text.data : "tp=1", gpus, ret, err));
    MYR_TRY(check_played(words->option, ret, err));
    return myr_layout_check(ret, model, gpus, err);
}

/* step:MODEL,tflops=400,tp=8,pp=8,micro_batch=1,global_batch=... - one training step. */
static int load_step(struct maker *maker, struct myr_err *err)
{
    const struct sim_words *words = &maker->words;
    struct myr_model model;
    struct myr_layout layout;
    struct myr_step_result result;
    double tflops;
    if (words->count == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: step:MODEL,tp=8,pp=8,... is expected",
                           words->option);
    }
    MYR_TRY(read_tflops(words, &tflops, err));
    const char *name = myr_arena_strndup(maker->arena, words->items[0].data, words->items[0].len);
    MYR_TRY(myr_model_find(maker->arena, name, &model, err));
    MYR_TRY(sim_place_choose(&maker->place, maker->arena, maker->graph->design->head, words,
                             maker->seed, err));
    MYR_TRY(read_layout(maker, &model, &layout, err));
    struct myr_step step = {&model, &layout, tflops * 1e12, MYR_ALGORITHM_RING};
    return myr_load_step(maker->sim, (struct myr_ranks){maker->place.gpus, maker->place.count},
                         &step, MYR_NONE, &result, err);
}

/* GPUs of one job that are in one node. */
struct node_part {
    uint32_t first, count; /* in the job's list */
};

/* Nodes of the job in the order of its GPUs; of the first and the last maybe a part. */
static uint32_t list_parts(const struct maker *maker, struct node_part *ret)
{
    uint32_t local = maker->graph->design->head->gpus_per_node, count = 0;
    const uint32_t *gpus = maker->place.gpus;
    for (uint32_t i = 0; i < maker->place.count; i++) {
        if (i == 0 || gpus[i] / local != gpus[i - 1] / local) {
            ret[count++] = (struct node_part){i, 0};
        }
        ret[count - 1].count++;
    }
    return count;
}

/*
 * The GPU beside whose NIC a stripe leaves its node: NICs in turn, and of the GPUs that share one
 * each in turn. Neighbours share a NIC, so GPUs in turn would leave NICs idle.
 */
static uint32_t gpu_in_turn(const struct maker *maker, struct node_part part, uint32_t turn)
{
    const uint32_t *gpus = maker->place.gpus + part.first;
    uint32_t starts[MYR_MESSAGE_NICS_MAX + 1], nics = 0, last = MYR_NONE;
    for (uint32_t i = 0; i < part.count && nics < MYR_MESSAGE_NICS_MAX; i++) {
        uint32_t port = myr_flow_port(maker->graph, gpus[i]);
        if (i == 0 || port != last) {
            starts[nics++] = i;
        }
        last = port;
    }
    MYR_ASSERT(nics > 0);
    starts[nics] = part.count;
    uint32_t nic = turn % nics, sharing = starts[nic + 1] - starts[nic];
    return gpus[starts[nic] + turn / nics % sharing];
}

/*
 * Servers in turn over all stripes of all nodes, and of each server its NICs in turn, by its own
 * count: each server and each NIC gets the same number, give or take one, whatever the numbers of
 * nodes, stripes, servers and NICs have in common.
 */
static uint32_t server_in_turn(const struct maker *maker, uint32_t turn)
{
    const struct myr_design_head *head = maker->graph->design->head;
    uint32_t server = turn % head->storage_servers;
    uint32_t nics = myr_host_nics(maker->graph, head->first_storage + server);
    nics = nics < MYR_MESSAGE_NICS_MAX ? nics : MYR_MESSAGE_NICS_MAX;
    uint32_t nic = nics ? turn / head->storage_servers % nics : 0;
    return MYR_MESSAGE_STORAGE | nic << MYR_MESSAGE_NIC_SHIFT | server;
}

/* checkpoint:SIZE and read:SIZE - all nodes to or from the storage servers, in stripes. */
static int load_storage(struct maker *maker, bool write, struct myr_sim_load *ret,
                        struct myr_err *err)
{
    static const char *const keys[] = {SIM_PLACE_KEYS, "stripes"};
    const struct myr_design_head *head = maker->graph->design->head;
    uint64_t stripes = 4, bytes;
    MYR_TRY(begin(maker, 0, keys, MYR_ARRAY_COUNT(keys), &bytes, err));
    MYR_TRY(sim_words_number(&maker->words, "stripes", 1, 1024, &stripes, err));
    if (head->storage_servers == 0) {
        int rc = myr_err_set(err, MYR_EINVAL, "%s: this fabric has no storage servers",
                             maker->words.option);
        myr_err_hint(err, "plan a design with a storage network, and give --net storage");
        return rc;
    }
    /* No more stripes than there are servers. */
    stripes = stripes < head->storage_servers ? stripes : head->storage_servers;
    struct node_part *parts = MYR_ARENA_NEW(maker->arena, struct node_part, maker->place.count);
    uint32_t count = list_parts(maker, parts) * (uint32_t)stripes;
    MYR_ASSERT(count > 0 && head->storage_servers <= MYR_MESSAGE_SERVERS);
    struct myr_message *messages = MYR_ARENA_NEW(maker->arena, struct myr_message, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t server = server_in_turn(maker, i);
        uint32_t gpu = gpu_in_turn(maker, parts[i / stripes], i);
        messages[i] = write ? (struct myr_message){gpu, server} : (struct myr_message){server, gpu};
    }
    /* The size is that of all together; each flow has its part, rounded up. */
    return put_flows(maker, messages, count, (bytes + count - 1) / count, ret);
}

/* By the word in front of the colon; the hint is the list of them. */
static int dispatch(struct maker *maker, struct myr_sim_load *ret, struct myr_err *err)
{
    struct myr_str kind = maker->words.kind;
    if (myr_str_eq(kind, MYR_STR("permutation"))) {
        return load_permutation(maker, ret, err);
    }
    if (myr_str_eq(kind, MYR_STR("incast"))) {
        return load_incast(maker, ret, err);
    }
    if (myr_str_eq(kind, MYR_STR("step"))) {
        return load_step(maker, err);
    }
    if (myr_str_eq(kind, MYR_STR("checkpoint")) || myr_str_eq(kind, MYR_STR("read"))) {
        return load_storage(maker, kind.data[0] == 'c', ret, err);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(collectives); i++) {
        if (myr_str_eq(kind, myr_str_from(collectives[i].name))) {
            return load_collective(maker, collectives[i].kind, ret, err);
        }
    }
    int rc =
        myr_err_set(err, MYR_EINVAL, "unknown workload '%.*s'", sim_words_shown(kind), kind.data);
    myr_err_hint(err, "permutation, incast, alltoall, allreduce, reducescatter, allgather, "
                      "broadcast, step, checkpoint, read or file:PATH; see myriad sim --help");
    return rc;
}

/* 'ret' is written only when all went well: its range of tasks is that of this job alone. */
int myr_sim_load_words(struct myr_sim *sim, const struct myr_graph *graph,
                       const struct myr_sim_hosts *hosts, const char *words, uint64_t seed,
                       struct myr_sim_load *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    struct maker maker = {.sim = sim, .graph = graph, .seed = seed, .arena = &scratch};
    struct myr_sim_load load = {.words = words, .first_task = myr_sim_task_count(sim)};
    int rc;
    myr_arena_init(&scratch);
    myr_sim_phase(sim, 0); /* every job begins with its first */
    if (strncmp(words, "file:", 5) == 0) {
        rc = sim_source_load(sim, graph, hosts, words, &load, err);
    } else {
        rc = sim_words_split("--workload", words, &maker.words, err);
        if (rc == MYR_OK) {
            rc = dispatch(&maker, &load, err);
        }
    }
    if (rc == MYR_OK) {
        MYR_ASSERT(myr_sim_task_count(sim) >= load.first_task);
        load.task_count = myr_sim_task_count(sim) - load.first_task;
        *ret = load;
    }
    return rc;
}
