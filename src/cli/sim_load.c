#include "sim_load.h"

#include <stdlib.h>

#include "fabric_args.h"
#include "sim_topology.h"

enum { WORDS_MAX = 16 };

/* "kind:word,word,key=value" in pieces. */
struct words {
    struct myr_str kind;
    struct myr_str items[WORDS_MAX];
    uint32_t count;
};

static int split(const char *text, struct words *ret, struct myr_err *err)
{
    const char *colon = strchr(text, ':');
    *ret = (struct words){.kind = {text, colon ? (size_t)(colon - text) : strlen(text)}};
    if (!colon) {
        return MYR_OK;
    }
    for (const char *at = colon + 1; *at;) {
        size_t len = strcspn(at, ",");
        if (ret->count == WORDS_MAX) {
            return myr_err_set(err, MYR_EINVAL, "--workload has more than %d parts", WORDS_MAX);
        }
        ret->items[ret->count++] = (struct myr_str){at, len};
        at += len + (at[len] == ',');
    }
    return MYR_OK;
}

/* The value of "key=..." among the words; false when it is absent. */
static bool keyed(const struct words *words, const char *key, struct myr_str *ret)
{
    size_t len = strlen(key);
    for (uint32_t i = 0; i < words->count; i++) {
        struct myr_str item = words->items[i];
        if (item.len > len && memcmp(item.data, key, len) == 0 && item.data[len] == '=') {
            *ret = (struct myr_str){item.data + len + 1, item.len - len - 1};
            return true;
        }
    }
    return false;
}

static int need_bytes(const struct words *words, uint32_t index, uint64_t *ret, struct myr_err *err)
{
    if (index < words->count && sim_parse_bytes(words->items[index], ret) && *ret > 0) {
        return MYR_OK;
    }
    struct myr_str got = index < words->count ? words->items[index] : MYR_STR("nothing");
    return myr_err_set(err, MYR_EINVAL, "--workload: a size such as 1MB is expected, not '%.*s'",
                       got.len > 40 ? 40 : (int)got.len, got.data);
}

static int optional_number(const struct words *words, const char *key, uint64_t most,
                           uint64_t *value, struct myr_err *err)
{
    struct myr_str text;
    if (keyed(words, key, &text) && (!myr_str_to_u64(text, value) || *value > most)) {
        return myr_err_set(err, MYR_EINVAL, "--workload: '%s' must be a whole number up to %llu",
                           key, (unsigned long long)most);
    }
    return MYR_OK;
}

static int put_flows(struct myr_sim *sim, const struct myr_message *messages, uint32_t count,
                     uint64_t bytes, struct sim_load *ret, struct myr_err *err)
{
    int r = MYR_OK;
    ret->first_flow = myr_sim_task_count(sim);
    ret->flow_count = count;
    for (uint32_t i = 0; r == MYR_OK && i < count; i++) {
        r = myr_load_flow(sim, messages[i], bytes, MYR_NONE, &ret->end, err);
    }
    ret->end = MYR_NONE;
    return r;
}

static int load_permutation(struct myr_sim *sim, const struct myr_graph *graph,
                            const struct words *words, uint64_t seed, struct sim_load *ret,
                            struct myr_err *err)
{
    uint64_t bytes;
    int r = need_bytes(words, 0, &bytes, err);
    r = r < 0 ? r : optional_number(words, "seed", UINT64_MAX, &seed, err);
    if (r < 0) {
        return r;
    }
    uint32_t gpus = graph->design->head->gpus;
    struct myr_message *messages = myr_xcalloc(gpus, sizeof(*messages));
    uint32_t *order = myr_xcalloc(gpus, sizeof(*order));
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 1);
    bool fixed = gpus > 1;
    while (fixed) { /* until nobody sends to itself */
        fixed = false;
        for (uint32_t i = 0; i < gpus; i++) {
            order[i] = i;
        }
        myr_rng_shuffle(&rng, order, gpus);
        for (uint32_t i = 0; i < gpus; i++) {
            fixed = fixed || order[i] == i;
        }
    }
    for (uint32_t i = 0; i < gpus; i++) {
        messages[i] = (struct myr_message){i, order[i]};
    }
    r = put_flows(sim, messages, gpus > 1 ? gpus : 0, bytes, ret, err);
    free(order);
    free(messages);
    return r;
}

/* incast:K:1,SIZE - K senders, drawn by the seed, to GPU 0. */
static int load_incast(struct myr_sim *sim, const struct myr_graph *graph,
                       const struct words *words, uint64_t seed, struct sim_load *ret,
                       struct myr_err *err)
{
    uint64_t bytes, senders = 0;
    uint32_t gpus = graph->design->head->gpus;
    struct myr_str ratio = words->count ? words->items[0] : MYR_STR("");
    const char *colon = ratio.len ? memchr(ratio.data, ':', ratio.len) : NULL;
    size_t len = colon ? (size_t)(colon - ratio.data) : ratio.len;
    if (!myr_str_to_u64((struct myr_str){ratio.data, len}, &senders) || senders == 0 ||
        senders >= gpus) {
        return myr_err_set(err, MYR_EINVAL,
                           "--workload: incast:K:1,SIZE with K from 1 to %u is expected",
                           gpus ? gpus - 1 : 0);
    }
    int r = need_bytes(words, 1, &bytes, err);
    r = r < 0 ? r : optional_number(words, "seed", UINT64_MAX, &seed, err);
    if (r < 0) {
        return r;
    }
    uint32_t *order = myr_xcalloc(gpus, sizeof(*order));
    struct myr_message *messages = myr_xcalloc(senders, sizeof(*messages));
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 2);
    for (uint32_t i = 0; i + 1 < gpus; i++) {
        order[i] = i + 1;
    }
    myr_rng_shuffle(&rng, order, gpus - 1);
    for (uint32_t i = 0; i < senders; i++) {
        messages[i] = (struct myr_message){order[i], 0};
    }
    r = put_flows(sim, messages, (uint32_t)senders, bytes, ret, err);
    free(messages);
    free(order);
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

static int load_collective(struct myr_sim *sim, const struct myr_graph *graph,
                           const struct words *words, enum myr_collective kind,
                           struct sim_load *ret, struct myr_err *err)
{
    enum myr_algorithm algorithm = MYR_ALGORITHM_AUTO;
    uint32_t at = 0;
    if (kind == MYR_ALL_TO_ALL) {
        algorithm = MYR_ALGORITHM_PAIRWISE;
    }
    for (uint32_t a = 0; a < MYR_ALGORITHM_COUNT && words->count; a++) {
        if (myr_str_eq(words->items[0], myr_str_from(myr_algorithm_names[a]))) {
            algorithm = (enum myr_algorithm)a;
            at = 1;
        }
    }
    uint64_t ranks = graph->design->head->gpus;
    int r = need_bytes(words, at, &ret->bytes, err);
    r = r < 0 ? r : optional_number(words, "ranks", graph->design->head->gpus, &ranks, err);
    if (r < 0) {
        return r;
    }
    ret->collective = true;
    ret->kind = kind;
    ret->ranks = (uint32_t)ranks;
    uint32_t local = graph->design->head->gpus_per_node;
    return myr_load_collective(sim, (struct myr_ranks){NULL, ret->ranks}, kind, algorithm,
                               ranks % local ? 1 : local, ret->bytes, MYR_NONE, &ret->end, err);
}

/* step:MODEL,tflops=400,tp=8,pp=8,micro_batch=1,global_batch=... - one training step. */
static int load_step(struct myr_sim *sim, const struct myr_graph *graph, const struct words *words,
                     struct sim_load *ret, struct myr_err *err)
{
    struct myr_arena arena;
    struct myr_buf layout_text = {0};
    struct myr_model model;
    struct myr_layout layout;
    struct myr_str tflops;
    double rate = 400;
    if (words->count == 0) {
        return myr_err_set(err, MYR_EINVAL, "--workload: step:MODEL,tp=8,pp=8,... is expected");
    }
    if (keyed(words, "tflops", &tflops) && (!myr_str_to_double(tflops, &rate) || rate <= 0)) {
        return myr_err_set(err, MYR_EINVAL, "--workload: 'tflops' must be a number above 0");
    }
    myr_arena_init(&arena);
    const char *name = myr_arena_strndup(&arena, words->items[0].data, words->items[0].len);
    int r = myr_model_find(&arena, name, &model, err);
    for (uint32_t i = 1; i < words->count; i++) {
        struct myr_str item = words->items[i];
        if (item.len > 7 && memcmp(item.data, "tflops=", 7) == 0) {
            continue;
        }
        myr_buf_printf(&layout_text, "%s%.*s", layout_text.len ? "," : "", (int)item.len,
                       item.data);
    }
    uint64_t gpus = graph->design->head->gpus;
    r = r < 0 ? r : fabric_layout(layout_text.len ? layout_text.data : "tp=8", gpus, &layout, err);
    r = r < 0 ? r : myr_layout_check(&layout, &model, gpus, err);
    if (r == MYR_OK) {
        struct myr_step step = {&model, &layout, rate * 1e12, MYR_ALGORITHM_RING};
        struct myr_step_result result;
        r = myr_load_step(sim, (struct myr_ranks){NULL, (uint32_t)gpus}, &step, MYR_NONE, &result,
                          err);
        ret->end = r < 0 ? MYR_NONE : result.end;
    }
    myr_buf_done(&layout_text);
    myr_arena_done(&arena);
    return r;
}

int sim_load_parse(struct myr_sim *sim, const struct myr_graph *graph, const char *text,
                   uint64_t seed, struct sim_load *ret, struct myr_err *err)
{
    struct words words;
    *ret = (struct sim_load){.end = MYR_NONE};
    int r = split(text, &words, err);
    if (r < 0) {
        return r;
    }
    if (myr_str_eq(words.kind, MYR_STR("permutation"))) {
        return load_permutation(sim, graph, &words, seed, ret, err);
    }
    if (myr_str_eq(words.kind, MYR_STR("incast"))) {
        return load_incast(sim, graph, &words, seed, ret, err);
    }
    if (myr_str_eq(words.kind, MYR_STR("step"))) {
        return load_step(sim, graph, &words, ret, err);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(collectives); i++) {
        if (myr_str_eq(words.kind, myr_str_from(collectives[i].name))) {
            return load_collective(sim, graph, &words, collectives[i].kind, ret, err);
        }
    }
    r = myr_err_set(err, MYR_EINVAL, "unknown workload '%.*s'",
                    words.kind.len > 40 ? 40 : (int)words.kind.len, words.kind.data);
    myr_err_hint(err, "permutation, incast, alltoall, allreduce, reducescatter, allgather, "
                      "broadcast or step; see myriad sim --help");
    return r;
}
