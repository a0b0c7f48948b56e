/*
 * agents: what a node does with orders, and what happens to it.
 *
 * The agent remembers which incarnations it was told to stop, and which have ended by themselves,
 * so that a start that comes late is not carried out; a node that was started anew has forgotten,
 * and refuses orders for another boot.
 */
#include "world.h"

/* Of the node's present boot, whatever the order was for. */
static void answer(struct world *w, enum myr_event_kind kind, const struct myr_effect *order,
                   uint8_t code, int64_t after_ms)
{
    MYR_ASSERT(kind >= MYR_EVENT_STARTED && kind <= MYR_EVENT_TESTED); /* what orders lead to */
    MYR_ASSERT(after_ms >= 0 && node_at(w, order->node)->up);          /* who is off says nothing */
    MYR_ASSERT(w->nodes[order->node].boot > 0);
    struct myr_event event = {.kind = (uint8_t)kind,
                              .code = code,
                              .node = order->node,
                              .job = order->job,
                              .epoch = order->epoch,
                              .boot = w->nodes[order->node].boot};
    send_to_control(w, &event, after_ms);
}

/* Of one epoch; MYR_NONE: none, or it has ended. */
static uint32_t find_rank(const struct world *w, uint32_t node, uint32_t job, uint32_t epoch)
{
    MYR_ASSERT(node < w->scenario->shape.nodes && job < w->job_count);
    MYR_ASSERT(epoch > 0); /* incarnations count from 1 */
    uint32_t at = w->nodes[node].first_rank;
    while (at != MYR_NONE && (w->ranks.items[at].job != job || w->ranks.items[at].epoch != epoch)) {
        at = w->ranks.items[at].next_on_node;
    }
    return at;
}

/* Whether any rank of the job up to the epoch is on the node, one that is stopping too. */
static bool runs_up_to(const struct world *w, uint32_t node, uint32_t job, uint32_t epoch)
{
    MYR_ASSERT(node < w->scenario->shape.nodes && job < w->job_count);
    uint32_t at = w->nodes[node].first_rank;
    while (at != MYR_NONE && (w->ranks.items[at].job != job || w->ranks.items[at].epoch > epoch)) {
        at = w->ranks.items[at].next_on_node;
    }
    return at != MYR_NONE;
}

/* Told to stop, or ended by itself: both are never started again. */
static bool was_stopped(const struct wnode *node, uint32_t job, uint32_t epoch)
{
    MYR_ASSERT(epoch > 0); /* an empty entry has 0, and must not stand for it */
    /* An entry stands for all epochs of its job up to its own. */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(node->stopped); i++) {
        if (node->stopped[i].epoch >= epoch && node->stopped[i].job == job) {
            return true;
        }
    }
    return false;
}

/* A node that has not run the job pulls its image first. */
static bool is_new_here(struct wnode *node, uint32_t job)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(node->ran); i++) {
        if (node->ran[i] == job + 1) {
            return false;
        }
    }
    /*
     * The oldest image makes room, as on a disk that is full; 0 is no job,
     * so numbers are one more.
     */
    MYR_ASSERT(job < UINT32_MAX);
    node->ran[node->ran_next++ % MYR_ARRAY_COUNT(node->ran)] = job + 1;
    return true;
}

/* From the order until the ranks of this node are up. */
static int64_t start_ms(struct world *w, uint32_t job, const struct myr_effect *order)
{
    struct myr_rng rng;
    /* Drawn from job, node and epoch: the same start takes the same time in every run. */
    draw_init(&rng, w->seed, DRAW_START, (uint64_t)job << 32 | order->node, order->epoch);
    MYR_ASSERT(order->epoch > 0);
    /* Of the whole gang: some parts take longer the larger it is. */
    uint32_t gpus = order->world;
    int64_t ms = times_draw_ms(&w->times, TIME_IMPORT, gpus, &rng) +
                 times_draw_ms(&w->times, TIME_CONTEXT, gpus, &rng);
    if (is_new_here(node_at(w, order->node), job)) {
        ms += times_draw_ms(&w->times, TIME_PULL, gpus, &rng);
        /* A node that replaces another joins a gang that exists already. */
        ms += order->epoch > 1 ? times_draw_ms(&w->times, TIME_REPLACE, gpus, &rng) : 0;
    }
    MYR_ASSERT(ms >= 0);
    return ms;
}

/* Why ranks cannot be started here; a sound node may refuse too, and a job have its own fault. */
static enum myr_start fault_of(const struct world *w, uint32_t id, const struct myr_effect *order)
{
    const struct wjob *job = job_at(w, id);
    struct myr_rng rng;
    if (job->first_start_ms >= 0 && w->now_ms - job->first_start_ms < job->group->late_ms) {
        return MYR_START_OWN_FAULT; /* its directory is not there yet */
    }
    draw_init(&rng, w->seed, DRAW_REFUSE, (uint64_t)id << 32 | order->node, order->epoch);
    bool refused = !w->calm && draw_chance(&rng, w->scenario->refuse_ppm);
    return w->nodes[order->node].broken || refused ? MYR_START_NODE : MYR_START_OK;
}

/* An incarnation that could not be started is not tried again: whoever asks again is told so. */
static enum myr_start refusal_of(struct world *w, uint32_t id, const struct myr_effect *order)
{
    struct wnode *node = node_at(w, order->node);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(node->refused); i++) {
        if (node->refused[i].epoch == order->epoch && node->refused[i].job == id) {
            return (enum myr_start)node->refused[i].code;
        }
    }
    enum myr_start code = fault_of(w, id, order);
    if (code != MYR_START_OK) {
        size_t at = node->refused_next++ % MYR_ARRAY_COUNT(node->refused);
        node->refused[at].job = id;
        node->refused[at].epoch = order->epoch;
        node->refused[at].code = code;
    }
    return code;
}

/*
 * A start may come late, twice, or while something else is there: each is
 * answered as it deserves.
 */
static void take_start(struct world *w, uint32_t job, const struct myr_effect *order)
{
    MYR_ASSERT(order->kind == MYR_EFFECT_START && job < w->job_count);
    struct wnode *node = node_at(w, order->node);
    uint32_t at = find_rank(w, order->node, job, order->epoch);
    MYR_ASSERT(node->up && node->cut == 0 && node->boot == order->boot);
    if (was_stopped(node, job, order->epoch)) {
        /* "Stopped" is said of all epochs up to this one: not while an older one is stopping. */
        if (!runs_up_to(w, order->node, job, order->epoch)) {
            answer(w, MYR_EVENT_STOPPED, order, 0, 0);
        }
        return;
    }
    /* Told twice: it is answered again, or will be when it is up. */
    if (at != MYR_NONE) {
        if (w->ranks.items[at].up) {
            answer(w, MYR_EVENT_STARTED, order, 0, 0);
        }
        return;
    }
    for (uint32_t other = node->first_rank, next; other != MYR_NONE; other = next) {
        const struct wrank *old = rank_at(w, other);
        next = old->next_on_node;
        if (old->job == job && old->epoch < order->epoch) { /* a newer epoch takes its place */
            agent_gone(w, other, old->serial & 0xffffff);
        }
    }
    if (order->epoch > 1) { /* an order that was on its way for long starts nothing older */
        agent_remember(node, job, order->epoch - 1);
    }
    for (uint32_t other = node->first_rank; other != MYR_NONE;
         other = w->ranks.items[other].next_on_node) {
        if (w->ranks.items[other].gpus & order->gpus) { /* in use: the driver refuses */
            answer(w, MYR_EVENT_STARTED, order, 1, 1000);
            return;
        }
    }
    enum myr_start refusal = refusal_of(w, job, order);
    if (refusal != MYR_START_OK) {
        /* The failure of a node shows after some seconds, a missing directory at once. */
        answer(w, MYR_EVENT_STARTED, order, (uint8_t)refusal,
               refusal == MYR_START_NODE ? 10000 : 100);
        return;
    }
    MYR_ASSERT(find_rank(w, order->node, job, order->epoch) == MYR_NONE);
    /* The first rank of an epoch brings its incarnation. */
    uint32_t inc = inc_of(w, job, order->epoch, order->world);
    uint32_t id = rank_new(w, &(struct wrank){.job = job,
                                              .node = order->node,
                                              .epoch = order->epoch,
                                              .inc = inc,
                                              .gpus = order->gpus});
    happen(w, w->now_ms + start_ms(w, job, order), HAP_READY, id, w->ranks.items[id].serial);
}

/* Slots are used again: a happening of an earlier use is void. Numbers have 24 bits in the heap. */
static bool is_meant(const struct world *w, uint32_t rank, uint32_t serial)
{
    MYR_ASSERT(rank < w->ranks.count && serial <= 0xffffff);
    return w->ranks.items[rank].used && (w->ranks.items[rank].serial & 0xffffff) == serial;
}

void agent_ready(struct world *w, uint32_t id, uint32_t serial)
{
    struct wrank *rank = rank_at(w, id);
    if (!is_meant(w, id, serial) || rank->stopping) {
        return;
    }
    struct myr_effect order = {
        .node = rank->node, .job = w->jobs[rank->job].id, .epoch = rank->epoch};
    MYR_ASSERT(!rank->up);                  /* its processes come up once */
    MYR_ASSERT(node_at(w, rank->node)->up); /* with its power it would have ended */
    inc_rank_up(w, id);
    answer(w, MYR_EVENT_STARTED, &order, 0, 0);
}

/* Also what is older than the epoch: an agent that stops one leaves none before it. */
static void take_stop(struct world *w, uint32_t job, const struct myr_effect *order)
{
    MYR_ASSERT(order->kind == MYR_EFFECT_STOP && job < w->job_count);
    struct wnode *node = node_at(w, order->node);
    bool any = false;
    MYR_ASSERT(node->up && node->boot == order->boot);
    /* Before anything else: whatever comes late from now on starts nothing. */
    agent_remember(node, job, order->epoch);
    MYR_ASSERT(was_stopped(node, job, order->epoch));
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = w->ranks.items[at].next_on_node) {
        struct wrank *rank = rank_at(w, at);
        if (rank->job == job && rank->epoch <= order->epoch) {
            any = true;
            if (!rank->stopping) {
                struct myr_rng rng;
                draw_init(&rng, w->seed, DRAW_START, (uint64_t)job << 32 | order->node,
                          UINT64_C(1) << 32 | order->epoch);
                int64_t ms = 200 + times_draw_ms(&w->times, TIME_TEARDOWN, order->world, &rng);
                /* With time to save, the checkpoint stalls it first. */
                ms += order->grace_s > 0 ? w->jobs[job].group->stall_ms : 0;
                MYR_ASSERT(ms > 0);
                rank->stopping = true;
                inc_break(w, rank->inc, order->grace_s > 0);
                happen(w, w->now_ms + ms, HAP_GONE, at, rank->serial);
            }
        }
    }
    if (!any) {
        answer(w, MYR_EVENT_STOPPED, order, 0, 0);
    }
}

void agent_gone(struct world *w, uint32_t id, uint32_t serial)
{
    if (!is_meant(w, id, serial)) {
        return;
    }
    const struct wrank *rank = rank_at(w, id);
    MYR_ASSERT(node_at(w, rank->node)->up);
    struct myr_effect order = {
        .node = rank->node, .job = w->jobs[rank->job].id, .epoch = rank->epoch};
    rank_end(w, id);
    MYR_ASSERT(find_rank(w, order.node, rank->job, order.epoch) == MYR_NONE);
    answer(w, MYR_EVENT_STOPPED, &order, 0, 0);
}

/* Numbers go up: a test that is repeated is not made twice. */
static void take_test(struct world *w, const struct myr_effect *order)
{
    struct wnode *node = node_at(w, order->node);
    MYR_ASSERT(order->kind == MYR_EFFECT_TEST);
    MYR_ASSERT(node->up && node->boot == order->boot);
    if (order->epoch <= node->test_number) {
        return; /* it is at it, at a newer one, or its answer is on the way */
    }
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_TEST, order->node, (uint64_t)node->boot << 32 | order->epoch);
    /* A check of a node that joins is quick; a diagnosis takes its time. */
    enum time_part part = order->reason ? TIME_DIAGNOSE : TIME_CHECK;
    int64_t after_ms = times_draw_node_ms(&w->times, part, &rng);
    MYR_ASSERT(after_ms >= 0 && order->epoch > node->test_number);
    node->test_number = order->epoch;
    /* What the test will say is settled when it begins. */
    answer(w, MYR_EVENT_TESTED, order, node->broken, after_ms);
}

void agent_take(struct world *w, const struct myr_effect *order)
{
    MYR_ASSERT(order->kind <= MYR_EFFECT_TEST); /* others are not for agents */
    const struct wnode *node = node_at(w, order->node);
    if (!node->up || node->cut > 0 || node->boot != order->boot) {
        return; /* not heard, or meant for another boot */
    }
    MYR_ASSERT(order->kind == MYR_EFFECT_TEST || order->job != MYR_NONE);
    uint32_t job = order->job == MYR_NONE ? MYR_NONE : w->job_of_id[order->job];
    MYR_ASSERT(job == MYR_NONE || job < w->job_count);
    if (order->kind == MYR_EFFECT_START) {
        take_start(w, job, order);
    } else if (order->kind == MYR_EFFECT_STOP) {
        take_stop(w, job, order);
    } else if (order->kind == MYR_EFFECT_TEST) {
        take_test(w, order);
    }
}

/* ---- the node itself ---- */

void shell_silent(struct world *w, uint32_t id, uint32_t quiet)
{
    MYR_ASSERT(quiet <= 0xffffff);
    struct wnode *node = node_at(w, id);
    bool silent = !node->up || node->cut > 0;
    /* Of an older silence, or over since, or nobody is there to be told. */
    if ((node->quiet & 0xffffff) != quiet || !silent || !w->line.up || node->told_silent) {
        return;
    }
    /* Told once for each silence. */
    MYR_ASSERT(!node_hears(w, id));
    node->told_silent = true;
    struct myr_event event = {.kind = MYR_EVENT_SILENT, .node = id};
    (void)tell_control(w, &event);
}

/* From now until the shell would say that the node is silent. */
static void watch_silence(struct world *w, uint32_t id)
{
    struct wnode *node = node_at(w, id);
    struct myr_rng rng;
    MYR_ASSERT(!node->up || node->cut > 0); /* who is heard is not silent */
    node->quiet++;
    draw_init(&rng, w->seed, DRAW_DETECT, id, node->quiet);
    int64_t ms = times_draw_node_ms(&w->times, TIME_DETECT_LOST, &rng);
    MYR_ASSERT(ms >= 0);
    ms -= w->scenario->policy.suspect_ms; /* the core adds its own */
    happen(w, w->now_ms + (ms > 1000 ? ms : 1000), HAP_SILENT, id, node->quiet);
}

void node_cut(struct world *w, uint32_t id, bool cut)
{
    struct wnode *node = node_at(w, id);
    if (cut) {
        /* Partitions may overlap: the first one cuts, the last one heals. */
        if (node->cut++ == 0 && node->up) {
            node->cut_ms = w->now_ms;
            watch_silence(w, id);
            /* The lease is looked at once a minute. */
            happen_to(w, w->now_ms + 60000, HAP_LEASE, id);
        }
        MYR_ASSERT(!node->up || node->cut_ms >= 0);
        return;
    }
    MYR_ASSERT(node->cut > 0);
    if (--node->cut == 0 && node->up) {
        MYR_ASSERT(node->cut_ms >= 0 && node->cut_ms <= w->now_ms);
        node->cut_ms = -1;
        node->quiet++;
        if (node->told_silent && w->line.up) {
            struct myr_event event = {.kind = MYR_EVENT_BACK, .node = id, .boot = node->boot};
            node->told_silent = false;
            (void)tell_control(w, &event);
        }
    }
    MYR_ASSERT(!node->up || (node->cut_ms < 0) == (node->cut == 0));
}

/* Power is gone, or the machine: everything on it ends, and nobody says so. */
void node_down(struct world *w, uint32_t id)
{
    struct wnode *node = node_at(w, id);
    if (!node->up) {
        return;
    }
    while (node->first_rank != MYR_NONE) {
        rank_end(w, node->first_rank);
    }
    node->up = false;
    MYR_ASSERT(!node_hears(w, id) && node->boot > 0);
    /* Dead and cut off look the same from outside. */
    watch_silence(w, id);
}

void node_boot(struct world *w, uint32_t id, uint32_t life)
{
    MYR_ASSERT(life <= 0xffffff);
    struct wnode *node = node_at(w, id);
    /* 0: the first boot of all, which belongs to no life. */
    if (node->up || (life != 0 && (node->life & 0xffffff) != life)) {
        return;
    }
    MYR_ASSERT(node->first_rank == MYR_NONE); /* what ran on it has ended with its power */
    node->up = true;
    node->boot++;
    node->life++;
    node->quiet++;
    node->repairing = node->fencing = false;
    node->told_silent = false;
    node->test_number = 0;
    /* It may have come up in the middle of a partition. */
    node->cut_ms = node->cut > 0 ? w->now_ms : -1;
    /* Memory of the agent is of one boot; so are the images. */
    memset(node->stopped, 0, sizeof(node->stopped));
    memset(node->ran, 0, sizeof(node->ran));
    memset(node->refused, 0, sizeof(node->refused));
    struct myr_event event = {.kind = MYR_EVENT_JOIN, .node = id, .boot = node->boot};
    MYR_ASSERT(node->boot > 0 && (node->cut_ms < 0) == (node->cut == 0));
    send_to_control(w, &event, 0);
}

/* A time that the node measures by its own clock, which runs fast or slow. */
static int64_t by_clock_of(const struct world *w, uint32_t id, int64_t ms)
{
    uint32_t most = w->scenario->clock.drift_permille;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_CLOCK, id, 1);
    int64_t drift = most ? (int64_t)myr_rng_below(&rng, 2 * most + 1) - most : 0;
    MYR_ASSERT(ms >= 0 && drift >= -(int64_t)most && drift <= (int64_t)most);
    MYR_ASSERT(most < 1000); /* else its time would stand still */
    return ms + ms * drift / 1000;
}

/* Ranks that make no progress end when their agent has heard nothing for the lease. */
void node_lease(struct world *w, uint32_t id)
{
    struct wnode *node = node_at(w, id);
    int64_t since_ms = node->cut_ms;
    /* Nobody hears a controller that is down, wherever the node is. */
    if (!w->line.up) {
        since_ms = since_ms < 0 ? w->line.down_ms : since_ms;
    }
    if (!node->up || since_ms < 0) {
        return;
    }
    MYR_ASSERT(since_ms <= w->now_ms);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t at = node->first_rank; at != MYR_NONE; at = w->ranks.items[at].next_on_node) {
            const struct wrank *rank = rank_at(w, at);
            const struct winc *inc = inc_at(w, rank->inc);
            /* From when both hold: nothing heard, and no progress. */
            int64_t from_ms = inc->stalled_ms > since_ms ? inc->stalled_ms : since_ms;
            int64_t lease_ms =
                by_clock_of(w, id, (int64_t)w->jobs[rank->job].group->lease_s * 1000);
            MYR_ASSERT(lease_ms >= 0 && from_ms <= w->now_ms);
            if (!inc->running && w->now_ms - from_ms >= lease_ms) {
                agent_gone(w, at, rank->serial & 0xffffff);
                more = true;
                break;
            }
        }
    }
    if (node->first_rank != MYR_NONE) {
        happen_to(w, w->now_ms + 60000, HAP_LEASE, id);
    }
}

/* ---- racks and repair ---- */

void rack_fence(struct world *w, const struct myr_effect *effect)
{
    struct wnode *node = node_at(w, effect->node);
    MYR_ASSERT(effect->kind == MYR_EFFECT_FENCE);
    if (!node->fencing) {
        node->fencing = true;
        /* Until the rack's controller has done it. */
        happen(w, w->now_ms + 20000, HAP_FENCE, effect->node, effect->boot);
    }
}

/* Power on until the agent can run jobs. */
static int64_t boot_ms(struct world *w, uint32_t id)
{
    MYR_ASSERT(id < w->scenario->shape.nodes);
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_BOOT, id, w->nodes[id].boot);
    return times_draw_node_ms(&w->times, TIME_REBOOT, &rng) +
           times_draw_node_ms(&w->times, TIME_STACK, &rng);
}

void rack_fence_done(struct world *w, uint32_t id, uint32_t boot)
{
    struct wnode *node = node_at(w, id);
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_FENCE, id, (uint64_t)w->now_ms);
    MYR_ASSERT(boot <= 0xffffff); /* as much of it as a happening carries */
    node->fencing = false;
    bool fails = !w->calm && draw_chance(&rng, w->scenario->fence_fails_ppm);
    struct myr_event event = {
        .kind = MYR_EVENT_FENCED, .node = id, .boot = boot, .code = fails ? 1 : 0};
    /* Booted since under another number: what was to be switched off is over already. */
    if (!fails && (node->boot & 0xffffff) == boot) {
        event.boot = node->boot;
        node_down(w, id);
        MYR_ASSERT(!node->up && node->first_rank == MYR_NONE);
        w->result->fences++;
        /* A node under repair comes back when the crew says so. */
        if (!node->repairing) {
            happen(w, w->now_ms + boot_ms(w, id), HAP_BOOT, id, node->life);
        }
    }
    send_to_control(w, &event, 0);
}

/* The node is taken, mended, tested and comes back. */
void crew_repair(struct world *w, uint32_t id)
{
    struct wnode *node = node_at(w, id);
    if (node->repairing) {
        return;
    }
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_REPAIR, id, node->boot);
    int64_t tests_ms = times_draw_node_ms(&w->times, TIME_RETURN, &rng);
    int64_t ms = boot_ms(w, id) + (w->calm ? 0 : tests_ms);
    ms += node->needs_part ? times_draw_node_ms(&w->times, TIME_PART, &rng) : 0;
    node_down(w, id);
    MYR_ASSERT(!node->up && node->first_rank == MYR_NONE && ms >= 0);
    /* A boot that was under way is overtaken by the crew. */
    node->life++;
    node->repairing = true;
    /* Whatever it was, the crew finds it. */
    node->broken = node->needs_part = false;
    w->result->repairs++;
    happen(w, w->now_ms + ms, HAP_BOOT, id, node->life);
    MYR_ASSERT(!node->up && !node->broken); /* until it boots, and then sound */
}
