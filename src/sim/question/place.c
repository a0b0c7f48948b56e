#include "question/place.h"

/*
 * A host list that is in order but for some: each node is out of place with this probability, and
 * those trade places with each other.
 */
static void disorder_nodes(struct myr_arena *scratch, struct myr_rng *rng, uint32_t *nodes,
                           uint32_t count, uint32_t percent)
{
    uint32_t *places = MYR_ARENA_NEW(scratch, uint32_t, count);
    uint32_t *moved = MYR_ARENA_NEW(scratch, uint32_t, count), moved_count = 0;
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
}

/* Keeps the nodes, and puts them in the order of the fabric. */
static void sort_nodes(struct myr_arena *scratch, uint32_t *nodes, uint32_t count, uint32_t all)
{
    uint8_t *taken = MYR_ARENA_NEW(scratch, uint8_t, all);
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(nodes[i] < all && !taken[nodes[i]]);
        taken[nodes[i]] = 1;
    }
    for (uint32_t node = 0; node < all; node++) {
        if (taken[node]) {
            nodes[at++] = node;
        }
    }
    MYR_ASSERT(at == count);
}

/* Which part of the shuffled nodes a job gets, in GPUs from 'first' on. */
struct draw {
    uint32_t first, disorder_percent; /* first: in GPUs of the draw */
    bool sorted;                      /* numbered in the order of the fabric */
};

/*
 * Whole nodes drawn at random: 'sorted' numbers them in the order of the fabric, but for the part
 * that 'disorder' puts out of place. Jobs with the same seed and other places in the draw ('first')
 * share no node.
 */
static int draw_nodes(struct sim_place *place, const struct myr_design_head *head, struct draw draw,
                      const char *option, struct myr_err *err)
{
    uint32_t local = head->gpus_per_node, wanted = place->count / local;
    if (place->count % local || draw.first % local) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: place= needs whole nodes of %u GPUs: %u ranks from %u", option,
                           local, place->count, draw.first);
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    myr_arena_init(&scratch);
    uint32_t *nodes = MYR_ARENA_NEW(&scratch, uint32_t, head->nodes);
    struct myr_rng rng;
    /* All nodes are shuffled, whatever the job needs: that is why jobs of one seed share none. */
    myr_rng_init(&rng, place->seed, 3);
    for (uint32_t i = 0; i < head->nodes; i++) {
        nodes[i] = i;
    }
    myr_rng_shuffle(&rng, nodes, head->nodes);
    /* This job's part of the shuffled list. */
    memmove(nodes, nodes + draw.first / local, wanted * sizeof(*nodes));
    if (draw.sorted) {
        sort_nodes(&scratch, nodes, wanted, head->nodes);
    }
    disorder_nodes(&scratch, &rng, nodes, wanted, draw.disorder_percent);
    MYR_ASSERT(draw.first / local + wanted <= head->nodes);
    for (uint32_t i = 0; i < place->count; i++) {
        place->gpus[i] = nodes[i / local] * local + i % local;
    }
    return MYR_OK;
}

/* As the words give them, before anything is allocated. */
struct numbers {
    uint64_t first, ranks, disorder;
};

/* 'first' bounds 'ranks': a job cannot reach beyond the last GPU. */
static int read_numbers(const struct sim_words *words, uint64_t gpus, struct numbers *ret,
                        uint64_t *seed, struct myr_err *err)
{
    MYR_TRY(sim_words_number(words, "seed", 0, UINT64_MAX, seed, err));
    MYR_TRY(sim_words_number(words, "first", 0, gpus - 1, &ret->first, err));
    ret->ranks = gpus - ret->first;
    MYR_TRY(sim_words_number(words, "ranks", 2, gpus - ret->first, &ret->ranks, err));
    return sim_words_number(words, "disorder", 0, 100, &ret->disorder, err);
}

/* A block of GPUs from 'first' on, unless whole nodes are to be drawn. */
int sim_place_choose(struct sim_place *ret, struct myr_arena *arena,
                     const struct myr_design_head *head, const struct sim_words *words,
                     uint64_t seed, struct myr_err *err)
{
    struct numbers numbers = {};
    struct myr_str how = MYR_STR("block");
    *ret = (struct sim_place){.seed = seed};
    MYR_TRY(read_numbers(words, head->gpus, &numbers, &ret->seed, err));
    bool placed = sim_words_keyed(words, "place", &how);
    bool random = myr_str_eq(how, MYR_STR("random")), sorted = myr_str_eq(how, MYR_STR("sorted"));
    if (placed && !random && !sorted && !myr_str_eq(how, MYR_STR("block"))) {
        return myr_err_set(err, MYR_EINVAL, "%s: 'place' is block, random or sorted, not '%.*s'",
                           words->option, sim_words_shown(how), how.data);
    }
    if (numbers.disorder > 0 && !sorted) {
        return myr_err_set(err, MYR_EINVAL, "%s: 'disorder' goes with place=sorted", words->option);
    }
    MYR_ASSERT(numbers.first + numbers.ranks <= head->gpus);
    ret->count = (uint32_t)numbers.ranks;
    ret->gpus = MYR_ARENA_NEW(arena, uint32_t, numbers.ranks);
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->gpus[i] = (uint32_t)numbers.first + i;
    }
    struct draw draw = {(uint32_t)numbers.first, (uint32_t)numbers.disorder, sorted};
    return random || sorted ? draw_nodes(ret, head, draw, words->option, err) : MYR_OK;
}
