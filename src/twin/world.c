/*
 * world: time, messages and their fates. Everything that happens is one entry of a heap, by time;
 * entries of one moment come up in the order in which they were made.
 */
#include "world.h"

#include <stdlib.h>

#include "progress/progress.h"

int world_begin(struct world *w, struct myr_err *err)
{
    const struct myr_scenario *s = w->scenario;
    MYR_ASSERT(s->shape.nodes > 0 && s->shape.gpus_per_node > 0 && s->shape.gpus_per_node <= 64);
    MYR_ASSERT(!w->nodes && !w->check && w->heap.count == 0);
    MYR_TRY(times_init(&w->times, s->recovery, s->practice, s->drawn, err));
    w->free_msg = MYR_NONE;
    w->nodes = myr_xcalloc(s->shape.nodes, sizeof(*w->nodes));
    w->check = check_create(s->shape.nodes, s->shape.gpus_per_node);
    return MYR_OK;
}

/* Whether the happening is a message's: those, and only those, take its slot away when they come.
 */
static bool is_message(const struct myr_heap_item *item)
{
    enum happening what = (enum happening)(item->value >> 56);
    return what == HAP_TO_NODE || what == HAP_ORDER || what == HAP_TO_CONTROL;
}

/*
 * Of every world that ends, in the middle of whatever: a message on its way has one happening to
 * come, and every slot is free or somebody's. A slot that is forgotten would never be seen else.
 */
static void assert_none_forgotten(const struct world *w)
{
    uint64_t on_way = 0, awaited = 0, incs = w->free_incs.count, ranks = w->free_ranks.count;
    for (size_t i = 0; i < w->msgs.count; i++) {
        on_way += w->msgs.items[i].used;
    }
    for (size_t i = 0; i < w->heap.count; i++) {
        awaited += is_message(&w->heap.items[i]);
    }
    MYR_ASSERT(on_way == awaited);
    for (uint32_t i = 0; i < w->job_count; i++) {
        for (size_t k = 0; k < w->jobs[i].incs.count; k++) {
            const struct winc *inc = &w->incs.items[w->jobs[i].incs.items[k]];
            MYR_ASSERT(inc->used && inc->job == i && inc->live > 0);
            incs++;
            ranks += inc->live;
        }
    }
    MYR_ASSERT(incs == w->incs.count && ranks == w->ranks.count);
}

void world_done(struct world *w)
{
    assert_none_forgotten(w);
    for (uint32_t i = 0; i < w->job_count; i++) {
        myr_vec_done(&w->jobs[i].incs);
        myr_buf_done(&w->jobs[i].log);
    }
    for (size_t i = 0; i < w->incs.count; i++) {
        /* Slots that are not in use keep their lists. */
        myr_vec_done(&w->incs.items[i].nodes);
    }
    free(w->nodes);
    free(w->jobs);
    free(w->job_of_id);
    myr_vec_done(&w->ranks);
    myr_vec_done(&w->free_ranks);
    myr_vec_done(&w->incs);
    myr_vec_done(&w->free_incs);
    myr_vec_done(&w->msgs);
    myr_vec_done(&w->recoveries);
    myr_heap_done(&w->heap);
    progress_free(w->progress);
    check_free(w->check);
}

/* The heap's value: what (8 bits), which use of the slot (24), which slot (32). */
void happen(struct world *w, int64_t at_ms, enum happening what, uint32_t id, uint32_t serial)
{
    /* Nothing happens in the past. */
    MYR_ASSERT(at_ms >= w->now_ms);
    MYR_ASSERT((uint32_t)what <= HAP_LOOK);
    myr_heap_push(&w->heap, at_ms, (uint64_t)what << 56 | (uint64_t)(serial & 0xffffff) << 32 | id);
}

void happen_to(struct world *w, int64_t at_ms, enum happening what, uint32_t id)
{
    happen(w, at_ms, what, id, 0);
}

bool node_hears(const struct world *w, uint32_t node)
{
    MYR_ASSERT(node < w->scenario->shape.nodes);
    return w->nodes[node].up && w->nodes[node].cut == 0 && w->line.up;
}

/* Slots are used again, the last one freed first. */
static uint32_t msg_new(struct world *w)
{
    uint32_t id = w->free_msg;
    if (id != MYR_NONE) {
        MYR_ASSERT(!w->msgs.items[id].used);
        w->free_msg = w->msgs.items[id].next_free;
    } else {
        id = (uint32_t)w->msgs.count;
        myr_vec_push(&w->msgs, (struct wmsg){});
    }
    MYR_ASSERT(id < w->msgs.count && !w->msgs.items[id].used);
    return id;
}

void msg_free(struct world *w, uint32_t id)
{
    MYR_ASSERT(id < w->msgs.count && id != w->free_msg);
    MYR_ASSERT(w->msgs.items[id].used); /* a message arrives, or is given up, once */
    w->msgs.items[id].used = false;
    w->msgs.items[id].next_free = w->free_msg;
    w->free_msg = id;
}

/* How long a message takes, and whether it comes once, twice or never. */
struct fate {
    int64_t delay_ms;
    uint32_t copies; /* 0: lost */
};

/* Drawn from what it says and when, so that it does not depend on what else is on the way. */
static struct fate fate_of(struct world *w, uint32_t kind, uint32_t node, uint32_t job,
                           uint32_t epoch)
{
    MYR_ASSERT(job == MYR_NONE || w->job_of_id[job] < w->job_count);
    const struct myr_scenario *s = w->scenario;
    /* The world's own number: the controller's depends on what it accepted before. */
    uint64_t who = (uint64_t)node << 32 | (job == MYR_NONE ? job : w->job_of_id[job]);
    uint64_t what = (uint64_t)epoch << 8 ^ kind ^ (uint64_t)w->now_ms << 24;
    uint64_t number = myr_hash_u64(myr_hash_u64(who) ^ what);
    /* Up to 16 ms on the way, without any trouble. */
    struct fate fate = {1 + (int64_t)(myr_hash_u64(number ^ w->seed) & 15), 1};
    if (!w->calm && (s->messages.lost_ppm || s->messages.twice_ppm || s->messages.late_ppm)) {
        struct myr_rng rng;
        draw_init(&rng, w->seed, DRAW_MESSAGE, number, 0);
        if (draw_chance(&rng, s->messages.lost_ppm)) {
            fate.copies = 0;
            w->result->messages_lost++;
        } else if (draw_chance(&rng, s->messages.twice_ppm)) {
            fate.copies = 2;
            w->result->messages_twice++;
        }
        if (draw_chance(&rng, s->messages.late_ppm)) {
            fate.delay_ms += draw_exponential_ms(&rng, s->messages.late_ms);
            w->result->messages_late++;
        }
    }
    w->result->messages++;
    MYR_ASSERT(fate.delay_ms > 0 && fate.copies <= 2);
    return fate;
}

void send_to_node(struct world *w, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind <= MYR_EFFECT_TEST); /* the others are for racks and people */
    MYR_ASSERT(effect->node < w->scenario->shape.nodes);
    struct fate fate = fate_of(w, effect->kind, effect->node, effect->job, effect->epoch);
    for (uint32_t i = 0; i < fate.copies; i++) {
        uint32_t id = msg_new(w);
        w->msgs.items[id] = (struct wmsg){.effect = *effect, .used = true};
        /* The second copy comes later. */
        happen_to(w, w->now_ms + fate.delay_ms * (i + 1), HAP_TO_NODE, id);
    }
}

void send_order(struct world *w, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind > MYR_EFFECT_TEST && effect->kind < MYR_EFFECT_KINDS);
    MYR_ASSERT(effect->kind <= MYR_EFFECT_ACCEPT); /* what follows only tells */
    uint32_t id = msg_new(w);
    w->msgs.items[id] = (struct wmsg){.effect = *effect, .used = true};
    happen_to(w, w->now_ms, HAP_ORDER, id);
}

void send_to_control(struct world *w, const struct myr_event *event, int64_t after_ms)
{
    MYR_ASSERT(after_ms >= 0 && event->kind < MYR_EVENT_KINDS);
    /* Other events name no job, or none that the fate may depend on. */
    bool of_job = event->kind >= MYR_EVENT_STARTED && event->kind <= MYR_EVENT_EXIT;
    /* Kinds of events and of orders must not meet: 16 sets them apart. */
    struct fate fate =
        fate_of(w, 16U + event->kind, event->node, of_job ? event->job : MYR_NONE, event->epoch);
    const int64_t retry_ms = 5000; /* agents say it again until they hear that it was taken */
    /* Lost once means late: it is said again. */
    uint32_t copies = fate.copies ? fate.copies : 1;
    for (uint32_t i = 0; i < copies; i++) {
        uint32_t id = msg_new(w);
        w->msgs.items[id] = (struct wmsg){.event = *event, .boot = event->boot, .used = true};
        int64_t delay_ms = fate.delay_ms * (i + 1) + (fate.copies ? 0 : retry_ms);
        happen_to(w, w->now_ms + after_ms + delay_ms, HAP_TO_CONTROL, id);
    }
}
