#include "myriad/sim/state.h"

#include <stdlib.h>

#include "engine/internal.h"

/* The image of a run: its arrays one behind the other, each with a head that is held against. */

/* An array of the engine: a vector (or several side by side), or a row for each channel. */
struct part {
    const char *name;
    size_t offset, size; /* in struct myr_sim; of an item */
    uint32_t vectors;    /* 0: rows */
    bool sparse;         /* rows that may not be there */
};

/* Any MYR_VEC, whatever its items are. */
struct vector {
    void *items;
    size_t count, capacity;
};

/* In front of each array: an image of another layout does not fit, and is refused. */
struct part_head {
    char name[16];
    uint64_t size, count;
};

/* The table names each field once: its name in the image, its place and the size of its items. */
#define ITEM(field) sizeof(*((struct myr_sim *)0)->field)
#define VEC(field)                                                           \
    {                                                                        \
#field, offsetof(struct myr_sim, field), ITEM(field.items), 1, false \
    }
#define BLOCKS(field)                                                                            \
    {                                                                                            \
#field, offsetof(struct myr_sim, field), ITEM(field.blocks[0].items), SIM_CLASSES, false \
    }
#define ROWS(field, sparse)                                             \
    {                                                                   \
#field, offsetof(struct myr_sim, field), ITEM(field), 0, sparse \
    }

/*
 * All that a run changes. Ties and bonds follow from these; what the question leads to is compared.
 */
static const struct part parts[] = {
    ROWS(channels, false),
    ROWS(fills, false),
    ROWS(sampled, true),
    ROWS(finish_place, false),
    ROWS(finish_at, false),
    VEC(samples),
    VEC(tasks),
    VEC(patterns),
    VEC(uses),
    VEC(paths),
    VEC(path_channels),
    VEC(slots),
    VEC(ways),
    VEC(free_slots),
    VEC(hops),
    VEC(hop_places),
    VEC(entries),
    VEC(finish),
    BLOCKS(free_hops),
    BLOCKS(free_entries),
};

/* The single values of a run. */
struct single {
    myr_ps now;
    /*
     * The digest is of the question; dead links and events are counted, and follow behind the
     * arrays.
     */
    uint64_t digest, next_order, dead, events;
    uint32_t solve_mark, late_task, ticks, batch_count;
    struct myr_sim_result result;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return myr_hash_u64(hash ^ myr_hash_u64(value + UINT64_C(0x9E3779B97F4A7C15)));
}

/* Of what the question leads to and a run does not change; by field, as padding is no value. */
static uint64_t digest(const struct myr_sim *sim)
{
    uint64_t hash = mix(sim->channel_count, sim->options.balance.seed);
    hash = mix(hash, sim->options.sharing_loss_permille);
    hash = mix(hash, sim->options.pause_permille);
    hash = mix(hash, (uint64_t)sim->options.series_ps);
    hash = mix(hash, sim->tasks.count);
    for (size_t i = 0; i < sim->tasks.count; i++) {
        const struct sim_task *task = &sim->tasks.items[i];
        hash = mix(hash, (uint64_t)task->kind << 32 | task->pattern);
        hash = mix(hash, task->latency_rounds);
        hash = mix(hash, task->bits);
        hash = mix(hash, (uint64_t)task->duration);
    }
    for (size_t i = 0; i < sim->edges.count; i++) {
        struct sim_edge edge = sim->edges.items[i];
        hash = mix(hash, (uint64_t)edge.before << 32 | (uint64_t)edge.task << 1 | edge.moves);
    }
    for (size_t i = 0; i < sim->messages.count; i++) {
        struct myr_message message = sim->messages.items[i];
        hash = mix(hash, (uint64_t)message.from << 32 | message.to);
    }
    hash = mix(hash, sim->patterns.count);
    for (size_t i = 0; i < sim->patterns.count; i++) {
        const struct sim_pattern *pattern = &sim->patterns.items[i];
        hash = mix(hash, (uint64_t)pattern->first_message << 32 | pattern->message_count);
        hash = mix(hash, (uint64_t)pattern->phase << 32 | pattern->cyclic);
    }
    for (size_t i = 0; i < sim->faults.count; i++) {
        const struct myr_sim_fault *fault = &sim->faults.items[i];
        hash = mix(hash, (uint64_t)fault->at ^ (uint64_t)fault->kind << 60);
        hash = mix(hash, (uint64_t)fault->link << 32 | fault->device);
        hash = mix(mix(hash, fault->capacity_permille), (uint64_t)fault->reroute);
    }
    return hash;
}

/* Capacities that a fault has changed are compared by what they were. */
static uint64_t digest_channels(const struct myr_sim *sim)
{
    uint64_t hash = sim->pool_base;
    for (uint32_t c = 0; c < sim->pool_base; c++) {
        hash = mix(hash, sim->channels[c].full_capacity);
    }
    return hash;
}

static uint64_t digest_all(const struct myr_sim *sim)
{
    return mix(digest(sim), digest_channels(sim));
}

/* A name is shorter than its field: zeros follow it. */
static void put_part(struct myr_buf *ret, const char *name, const void *items, size_t size,
                     size_t count)
{
    struct part_head head = {.size = size, .count = count};
    size_t len = strlen(name);
    MYR_ASSERT(len < sizeof(head.name));
    MYR_ASSERT(size > 0 && (items || count == 0));
    memcpy(head.name, name, len);
    myr_buf_put(ret, (const char *)&head, sizeof(head));
    if (count) {
        myr_buf_put(ret, items, size * count);
    }
}

/* An engine of a test has no graph. */
static uint32_t dead_links(const struct myr_sim *sim)
{
    return sim->graph ? sim->graph->dead_count : 0;
}

/* Between two moments: nothing is touched, nothing is being solved. */
void myr_sim_save(const struct myr_sim *sim, struct myr_buf *ret)
{
    struct single single;
    MYR_ASSERT(sim->edge_start);
    MYR_ASSERT(sim->touched.count == 0);
    MYR_ASSERT(sim->fill_heap.count == 0);
    MYR_ASSERT(sim->loose_slots == 0);
    MYR_ASSERT(sim->changed.count == 0);
    MYR_ASSERT(sim->late_task == MYR_NONE);
    MYR_ASSERT(sim->ways.count == sim->slots.count);
    MYR_ASSERT(sim->hop_places.count == sim->hops.count);
    memset(&single, 0, sizeof(single)); /* padding too: the same state is the same bytes */
    single.now = sim->now;
    single.digest = digest_all(sim);
    single.next_order = sim->events.next_order;
    single.dead = dead_links(sim);
    single.events = sim->events.count;
    single.solve_mark = sim->solve_mark;
    single.late_task = sim->late_task;
    single.ticks = sim->ticks;
    single.batch_count = sim->batch_count;
    memcpy(&single.result, &sim->result, sizeof(single.result));
    /* They follow from the question, and are worked out again. */
    memset(&single.result.bounds, 0, sizeof(single.result.bounds));
    /* First, because it holds the digest: a state of another question is refused at once. */
    put_part(ret, "single", &single, sizeof(single), 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        const char *at = (const char *)sim + parts[i].offset;
        if (parts[i].vectors == 0) {
            const void *rows = *(void *const *)at;
            put_part(ret, parts[i].name, rows, parts[i].size, rows ? sim->channel_count : 0);
        }
        for (uint32_t v = 0; v < parts[i].vectors; v++) {
            const struct vector *vector = (const struct vector *)at + v;
            put_part(ret, parts[i].name, vector->items, parts[i].size, vector->count);
        }
    }
    put_part(ret, "events", sim->events.items, sizeof(*sim->events.items), sim->events.count);
    for (uint32_t link = 0; dead_links(sim) && link < sim->link_channels / 2; link++) {
        if (myr_graph_link_dead(sim->graph, link)) {
            put_part(ret, "dead", &link, sizeof(link), 1);
        }
    }
}

static int damaged(struct myr_err *err, const char *what)
{
    return myr_err_set(err, MYR_ECORRUPT, "the state in it is damaged: %s", what);
}

/* The next part of the image: its items, not aligned; 'most' 0: as many as there are. */
static int take_part(struct myr_str *image, const char *name, size_t size, size_t *ret_count,
                     const char **ret_items, struct myr_err *err)
{
    struct part_head head;
    MYR_ASSERT(size > 0);
    MYR_ASSERT(strlen(name) < sizeof(head.name));
    if (image->len < sizeof(head)) {
        return damaged(err, "it ends too early");
    }
    /* Copied out: the image may lie at any byte. */
    memcpy(&head, image->data, sizeof(head));
    head.name[sizeof(head.name) - 1] = 0;
    if (strcmp(head.name, name) != 0 || head.size != size) {
        return damaged(err, name);
    }
    image->data += sizeof(head);
    image->len -= sizeof(head);
    /* By division: a count from outside times a size could overflow. */
    if (head.count > image->len / size || head.count >= MYR_NONE) {
        return damaged(err, "it ends too early");
    }
    *ret_items = image->data;
    *ret_count = (size_t)head.count;
    image->data += size * *ret_count;
    image->len -= size * *ret_count;
    return MYR_OK;
}

/* One more than there are: a vector that is empty has memory too. */
static void *copy_items(const char *items, size_t size, size_t count)
{
    void *copy = myr_xcalloc(count + 1, size);
    if (count) {
        memcpy(copy, items, size * count);
    }
    return copy;
}

/* A row for each channel, or, of those that may not be there, none. */
static int take_rows(struct myr_sim *sim, const struct part *part, struct myr_str *image,
                     struct myr_err *err)
{
    MYR_ASSERT(part->vectors == 0);
    void **rows = (void **)((char *)sim + part->offset);
    const char *items = NULL;
    size_t count = 0;
    MYR_TRY(take_part(image, part->name, part->size, &count, &items, err));
    if (count != sim->channel_count && !(part->sparse && count == 0)) {
        return damaged(err, part->name);
    }
    free(*rows);
    *rows = count ? copy_items(items, part->size, count) : NULL;
    return MYR_OK;
}

/* As many as are in the image: whether that is right is seen when all of it is there. */
static int take_vectors(struct myr_sim *sim, const struct part *part, struct myr_str *image,
                        struct myr_err *err)
{
    MYR_ASSERT(part->vectors > 0 && part->vectors <= SIM_CLASSES);
    struct vector *vectors = (struct vector *)((char *)sim + part->offset);
    for (uint32_t v = 0; v < part->vectors; v++) {
        const char *items = NULL;
        size_t count = 0;
        MYR_TRY(take_part(image, part->name, part->size, &count, &items, err));
        free(vectors[v].items);
        vectors[v] = (struct vector){copy_items(items, part->size, count), count, count + 1};
    }
    return MYR_OK;
}

/* The heap as it was, with the order of equal times. */
static int take_events(struct myr_sim *sim, const struct single *single, struct myr_str *image,
                       struct myr_err *err)
{
    const char *items = NULL;
    size_t count = 0;
    MYR_TRY(take_part(image, "events", sizeof(*sim->events.items), &count, &items, err));
    if (count != single->events) {
        return damaged(err, "events");
    }
    free(sim->events.items);
    sim->events = (struct myr_heap){
        .items = copy_items(items, sizeof(*sim->events.items), count),
        .count = (uint32_t)count,
        .capacity = (uint32_t)count + 1,
        .next_order = single->next_order,
    };
    return MYR_OK;
}

/* Marks in the graph: later paths avoid these links, as they did in the run that was saved. */
static int take_dead(struct myr_sim *sim, uint64_t count, struct myr_str *image,
                     struct myr_err *err)
{
    for (uint64_t i = 0; i < count; i++) {
        const char *items = NULL;
        size_t one = 0;
        uint32_t link = MYR_NONE;
        MYR_TRY(take_part(image, "dead", sizeof(link), &one, &items, err));
        memcpy(&link, items, one == 1 ? sizeof(link) : 0);
        if (one != 1 || !sim->graph || link >= sim->link_channels / 2) {
            return damaged(err, "dead");
        }
        myr_graph_set_link(sim->graph, link, true);
    }
    return dead_links(sim) == count ? MYR_OK : damaged(err, "dead");
}

/* Before anything of the engine is replaced: a state of another question is told by its digest. */
static int take_single(struct myr_sim *sim, struct myr_str *image, struct single *ret,
                       struct myr_err *err)
{
    const char *items = NULL;
    size_t count = 0;
    MYR_TRY(take_part(image, "single", sizeof(*ret), &count, &items, err));
    if (count != 1) {
        return damaged(err, "single");
    }
    memcpy(ret, items, sizeof(*ret));
    if (ret->digest != digest_all(sim)) {
        return myr_err_set(err, MYR_EINVAL,
                           "the state is of another question: the fabric, the workload or a file "
                           "that it reads has changed");
    }
    if (ret->now < 0 || ret->now >= SIM_TIME_MAX || ret->batch_count != sim->batch_count) {
        return damaged(err, "single");
    }
    sim->now = ret->now;
    sim->solve_mark = ret->solve_mark;
    sim->late_task = ret->late_task;
    sim->ticks = ret->ticks;
    struct myr_sim_bounds bounds = sim->result.bounds; /* they follow from the question */
    sim->result = ret->result;
    sim->result.bounds = bounds;
    return MYR_OK;
}

/*
 * The engine has the question already; only what the run has changed is replaced. On failure the
 * engine is of no use any more.
 */
int myr_sim_load(struct myr_sim *sim, struct myr_str image, struct myr_err *err)
{
    struct single single;
    MYR_ASSERT(!sim->edge_start);
    MYR_ASSERT(sim->now == 0);
    MYR_ASSERT(sim->events.count == 0);
    MYR_TRY(sim_prepare(sim, err));
    sim_bounds(sim);
    sim->resumed = true;
    sim->touched.count = sim->changed.count = 0; /* what was set before the run is in the state */
    MYR_TRY(take_single(sim, &image, &single, err));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        MYR_TRY(parts[i].vectors ? take_vectors(sim, &parts[i], &image, err)
                                 : take_rows(sim, &parts[i], &image, err));
    }
    MYR_TRY(take_events(sim, &single, &image, err));
    MYR_TRY(take_dead(sim, single.dead, &image, err));
    if (image.len) {
        return damaged(err, "there is more behind it");
    }
    /* Once more: the tasks and patterns of the image are those of the question. */
    if (single.digest != digest_all(sim)) {
        return damaged(err, "tasks");
    }
    const char *wrong = sim_state_wrong(sim);
    if (wrong) {
        return damaged(err, wrong);
    }
    sim_ties_make(sim);
    MYR_ASSERT(sim->resumed);
    MYR_ASSERT(sim->edge_start);
    MYR_ASSERT(sim->touched.count == 0);
    return MYR_OK;
}

myr_ps myr_sim_now(const struct myr_sim *sim)
{
    return sim->now;
}
