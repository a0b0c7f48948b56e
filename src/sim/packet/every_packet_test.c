#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "packet/internal.h"
#include "packet/naive.h"
#include "rounds.h"

/*
 * Drawn small fabrics, flows and controls, held against the naive simulator: after every packet
 * that arrives anywhere each flow has received and been acknowledged as much as there.
 */

enum { CASES = TEST_ROUNDS(1000) };

/* One timer of DCQCN is due. */
static void tick_once(struct naive *n, struct naive_flow *flow)
{
    const struct myr_packet_options *o = &n->options;
    uint32_t port = flow->path.channels[0];
    if (flow->alpha_at == n->now) {
        flow->alpha = flow->alpha * (1024 - o->gain) / 1024;
        flow->alpha += flow->alpha_mark ? (uint64_t)o->gain << 20 : 0;
        flow->alpha_mark = false;
        flow->alpha_at += o->alpha_ps;
    } else if (flow->decrease_at == n->now) {
        flow->decrease_at += o->decrease_ps;
        if (flow->decrease_mark) {
            uint64_t least = naive_of_speed(n, port, o->min_bps);
            flow->target = flow->stage ? flow->rate : flow->target;
            flow->rate -= (flow->rate * (flow->alpha / 1024)) / (UINT64_C(1) << 21);
            flow->rate = flow->rate < least ? least : flow->rate;
            flow->stage = 0;
            flow->decrease_mark = false;
            flow->increase_at = n->now + o->increase_ps;
        }
    } else {
        uint64_t step = flow->stage < o->fast_steps    ? 0
                        : flow->stage == o->fast_steps ? naive_of_speed(n, port, o->additive_bps)
                                                       : naive_of_speed(n, port, o->hyper_bps);
        uint64_t most = n->ports[port].channel.bps;
        flow->target = flow->target + step < most ? flow->target + step : most;
        flow->rate = (flow->rate + flow->target) / 2;
        flow->stage++;
        flow->increase_at += o->increase_ps;
    }
}

static void marked(struct naive *n, struct naive_flow *flow)
{
    flow->decrease_mark = true;
    flow->alpha_mark = flow->seen;
    if (!flow->seen) {
        flow->seen = true;
        flow->alpha_at = n->now + n->options.alpha_ps;
        flow->decrease_at = n->now + n->options.decrease_ps;
    }
}

/* HPCC by its formulas, in integers as the engine states them: shares in 2^-20. */
static void told(struct naive *n, struct naive_flow *flow, const struct naive_packet *packet)
{
    uint64_t line = n->ports[flow->path.channels[0]].channel.bps, most = 0;
    myr_ps over = 0;
    bool first = flow->updated == 0;
    for (uint32_t i = 0; i < packet->told; i++) {
        uint64_t bps = n->ports[flow->path.channels[1 + i]].channel.bps;
        uint64_t byte = UINT64_C(8000000000000) / bps;
        myr_ps time = packet->reports[i].at - flow->last[i].at;
        uint32_t sent = packet->reports[i].sent - flow->last[i].sent;
        uint32_t queued = packet->reports[i].queued < flow->last[i].queued
                              ? packet->reports[i].queued
                              : flow->last[i].queued;
        flow->last[i].at = packet->reports[i].at;
        flow->last[i].sent = packet->reports[i].sent;
        flow->last[i].queued = packet->reports[i].queued;
        if (!first) {
            uint64_t share =
                (sent * byte << 20) / (uint64_t)time + (queued * byte << 20) / (uint64_t)n->trip;
            over = share > most ? time : over;
            most = share > most ? share : most;
        }
    }
    if (first) {
        flow->updated = flow->sent;
        return;
    }
    uint64_t trip = (uint64_t)n->trip, part = (uint64_t)over < trip ? (uint64_t)over : trip;
    most = most < UINT64_C(1) << 30 ? most : UINT64_C(1) << 30;
    flow->util = (flow->util * (trip - part) + most * part) / trip;
    flow->util = flow->util ? flow->util : 1;
    uint32_t port = flow->path.channels[0];
    uint64_t goal = ((uint64_t)n->options.target_permille << 20) / 1000;
    uint64_t least = naive_of_speed(n, port, n->options.min_bps);
    uint64_t rate = (uint64_t)((unsigned __int128)flow->reference * goal / flow->util) +
                    naive_of_speed(n, port, n->options.additive_bps);
    rate = rate > line ? line : rate < least ? least : rate;
    uint64_t bits = (n->options.mtu_bytes + naive_header(n)) * 8;
    flow->avail +=
        (myr_ps)(bits * 1000000000000 / rate) - (myr_ps)(bits * 1000000000000 / flow->rate);
    flow->avail = flow->avail < n->now ? n->now : flow->avail;
    flow->rate = rate;
    if (packet->number >= flow->updated) {
        flow->reference = rate;
        flow->updated = flow->sent;
    }
    flow->window = (uint64_t)((unsigned __int128)trip * rate / 8000000000000);
    flow->window = flow->window ? flow->window : 1;
}

/* At a host: data is acknowledged; an acknowledgement may let the flow send on. */
static void end_of_path(struct naive *n, struct naive_packet packet)
{
    struct naive_flow *flow = &n->flows[packet.flow];
    if (packet.kind == NAIVE_DATA) {
        uint32_t out = flow->path.channels[flow->path.count - 1] ^ 1;
        flow->received++;
        packet.kind = NAIVE_ACK;
        packet.at_hop = 0;
        packet.bytes = (uint32_t)(n->options.ack_bytes + naive_header(n) - n->options.header_bytes);
        myr_vec_push(&n->ports[out].queue.items, packet);
        naive_note(n, packet.flow);
        naive_kick(n, out);
        return;
    }
    flow->acked++;
    if (n->options.cc == MYR_CC_HPCC) {
        told(n, flow, &packet);
    } else if (n->options.cc <= MYR_CC_DCQCN_CX && packet.marked) {
        marked(n, flow);
    }
    naive_note(n, packet.flow);
    if (!flow->listed && naive_may_send(n, flow)) {
        naive_list_flow(n, packet.flow);
    }
    naive_kick(n, flow->path.channels[0]);
}

static void arrives(struct naive *n, uint32_t id)
{
    struct naive_packet packet = naive_shift(&n->ports[id].wire);
    struct naive_port *port = &n->ports[id];
    if (packet.kind == NAIVE_PAUSE || packet.kind == NAIVE_RESUME) {
        n->ports[id ^ 1].paused = packet.kind == NAIVE_PAUSE;
        naive_kick(n, id ^ 1);
        return;
    }
    n->hops++;
    const struct naive_flow *flow = &n->flows[packet.flow];
    packet.at_hop++;
    if (packet.at_hop == flow->path.count) {
        end_of_path(n, packet);
        return;
    }
    bool data = packet.kind == NAIVE_DATA;
    uint32_t hop = data ? packet.at_hop : flow->path.count - 1 - packet.at_hop;
    uint32_t out = flow->path.channels[hop] ^ !data, at = port->channel.leads;
    packet.in = id;
    port->brought += packet.bytes;
    n->used[at] += packet.bytes;
    if (!port->told && port->brought > naive_allowed(n, at)) {
        port->told = true;
        naive_frame(n, id ^ 1, NAIVE_PAUSE);
    }
    myr_vec_push(&n->ports[out].queue.items, packet);
    naive_kick(n, out);
}

/* The next moment at which anything may happen. */
static myr_ps next_moment(const struct naive *n)
{
    myr_ps next = INT64_MAX;
    for (uint32_t c = 0; c < n->port_count; c++) {
        const struct naive_port *port = &n->ports[c];
        myr_ps at[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
        at[0] = port->wire.items.count ? port->wire.items.items[0].arrives : INT64_MAX;
        at[1] = port->busy > n->now ? port->busy : INT64_MAX;
        for (size_t i = 0; i < port->turn.count && !port->paused; i++) {
            myr_ps avail = n->flows[port->turn.items[i]].avail;
            at[2] = avail > n->now && avail < at[2] ? avail : at[2];
        }
        for (uint32_t i = 0; i < 3; i++) {
            next = at[i] < next ? at[i] : next;
        }
    }
    for (uint32_t f = 0; f < n->flow_count; f++) {
        const struct naive_flow *flow = &n->flows[f];
        bool waits = !flow->begun && flow->start < next;
        next = waits ? flow->start : next;
        if (flow->begun && flow->acked < flow->packets) {
            next = flow->alpha_at < next ? flow->alpha_at : next;
            next = flow->decrease_at < next ? flow->decrease_at : next;
            next = flow->increase_at < next ? flow->increase_at : next;
        }
    }
    return next;
}

static void begin_flow(struct naive *n, uint32_t id)
{
    struct naive_flow *flow = &n->flows[id];
    uint32_t after = flow->message.after;
    flow->begun = true;
    if (after != MYR_NONE && n->flows[after].sent < n->flows[after].packets) {
        n->flows[after].then = id;
        return;
    }
    naive_list_flow(n, id);
    naive_kick(n, flow->path.channels[0]);
}

static bool over(const struct naive *n)
{
    bool over = true;
    for (uint32_t f = 0; f < n->flow_count; f++) {
        over &= n->flows[f].begun && n->flows[f].acked == n->flows[f].packets;
    }
    return over;
}

static void naive_play(struct naive *n)
{
    while (!over(n)) {
        n->now = next_moment(n);
        assert_true(n->now < INT64_MAX);
        for (uint32_t f = 0; f < n->flow_count; f++) {
            struct naive_flow *flow = &n->flows[f];
            while (flow->alpha_at == n->now || flow->decrease_at == n->now ||
                   flow->increase_at == n->now) {
                tick_once(n, flow);
            }
        }
        for (uint32_t c = 0; c < n->port_count; c++) {
            naive_kick(n, c);
        }
        naive_lift(n);
        for (uint32_t c = 0; c < n->port_count; c++) {
            struct naive_list *wire = &n->ports[c].wire;
            while (wire->items.count && wire->items.items[0].arrives == n->now) {
                arrives(n, c);
                naive_lift(n);
            }
        }
        for (uint32_t f = 0; f < n->flow_count; f++) {
            if (!n->flows[f].begun && n->flows[f].start == n->now) {
                begin_flow(n, f);
                naive_lift(n);
            }
        }
    }
}

/* A question: a tree of switches with hosts, and flows among them. */
struct question {
    struct naive *n;
    struct pk_channel channels[NAIVE_PORTS];
    struct pk_path paths[NAIVE_FLOWS];
    uint32_t ways[NAIVE_FLOWS][NAIVE_HOPS];
    uint32_t hosts, switches, links;
    uint32_t leaf[NAIVE_PORTS], parent[NAIVE_SWITCHES], uplink[NAIVE_SWITCHES];
};

static void add_link(struct question *q, struct myr_rng *rng, uint32_t below, uint32_t above)
{
    static const uint64_t speeds[] = {10, 25, 40, 50, 100, 200, 400};
    uint64_t bps = speeds[myr_rng_below(rng, 7)] * 1000000000;
    myr_ps delay = (myr_ps)myr_rng_below(rng, 3) * 1000 * (1 + myr_rng_below(rng, 1000));
    q->channels[q->links * 2] = (struct pk_channel){bps, delay, below, above};
    q->channels[q->links * 2 + 1] = (struct pk_channel){bps, delay, above, below};
    q->links++;
}

/* Up from both ends until they meet. */
static uint32_t find_way(const struct question *q, uint32_t from, uint32_t to, uint32_t *way)
{
    uint32_t up[NAIVE_HOPS], down[NAIVE_HOPS], ups = 0, downs = 0;
    uint32_t a = q->leaf[from], b = q->leaf[to], count = 0;
    while (a != b) { /* parents have lower numbers */
        if (a > b) {
            up[ups++] = q->uplink[a] * 2;
            a = q->parent[a];
        } else {
            down[downs++] = q->uplink[b] * 2 + 1;
            b = q->parent[b];
        }
    }
    way[count++] = from * 2;
    for (uint32_t i = 0; i < ups; i++) {
        way[count++] = up[i];
    }
    while (downs) {
        way[count++] = down[--downs];
    }
    way[count++] = to * 2 + 1;
    return count;
}

static void draw_options(struct naive *n, struct myr_rng *rng)
{
    static const enum myr_cc controls[] = {MYR_CC_DCQCN, MYR_CC_DCQCN_CX, MYR_CC_HPCC, MYR_CC_PFC};
    struct myr_packet_options *o = &n->options;
    *o = myr_packet_default(controls[myr_rng_below(rng, 4)]);
    o->mtu_bytes = 64 + myr_rng_below(rng, 2000);
    o->header_bytes = 1 + myr_rng_below(rng, 90);
    o->kmin_bytes = 1000 + myr_rng_below(rng, 20000);
    o->kmax_bytes = o->kmin_bytes + 1 + myr_rng_below(rng, 50000);
    o->pmax_permille = 1 + myr_rng_below(rng, 1000);
    o->increase_ps = (myr_ps)(1 + myr_rng_below(rng, 100)) * MYR_PS_PER_US;
    o->pause_shift = myr_rng_below(rng, 5);
    n->seed = myr_rng_below(rng, 1000);
}

/* As much as pauses need, and a little. */
static void draw_buffers(struct question *q, struct myr_rng *rng)
{
    struct naive *n = q->n;
    uint64_t most = 0, needs[NAIVE_SWITCHES] = {}, wire = n->options.mtu_bytes + naive_header(n);
    uint64_t largest = 0;
    for (uint32_t c = 0; c < n->port_count; c++) {
        const struct pk_channel *channel = &q->channels[c];
        uint64_t flying = channel->bps / 1000000 * (uint64_t)channel->delay / 8 / 1000000;
        uint64_t need = flying * 2 + wire * 4 + 8 * 64;
        /* Rounded once, not twice. */
        need = (uint64_t)((unsigned __int128)channel->bps * (uint64_t)channel->delay / 8 * 2 /
                          MYR_PS_PER_S) +
               wire * 4 + 8 * 64;
        largest = need > largest ? need : largest;
        if (channel->leads != MYR_NONE) {
            needs[channel->leads] += need;
            most = needs[channel->leads] > most ? needs[channel->leads] : most;
        }
    }
    n->options.buffer_bytes = most + largest * 2 + myr_rng_below(rng, 40000);
    for (uint32_t s = 0; s < n->switch_count; s++) {
        n->room[s] = n->options.buffer_bytes - needs[s];
    }
}

/* Some follow the bytes of one before them that begins at their port. */
static void draw_order(struct question *q, struct myr_rng *rng, uint32_t f)
{
    struct naive_flow *flow = &q->n->flows[f];
    for (uint32_t g = 0; g < f && flow->message.after == MYR_NONE; g++) {
        bool followed = false;
        for (uint32_t h = 0; h < f; h++) {
            followed |= q->n->flows[h].message.after == g;
        }
        if (!followed && q->ways[g][0] == q->ways[f][0] && myr_rng_below(rng, 2)) {
            flow->message.after = g;
            flow->start = q->n->flows[g].start + (myr_ps)myr_rng_below(rng, 20000000);
        }
    }
}

static void draw_flows(struct question *q, struct myr_rng *rng)
{
    struct naive *n = q->n;
    for (uint32_t f = 0; f < n->flow_count; f++) {
        struct naive_flow *flow = &n->flows[f];
        uint32_t from = myr_rng_below(rng, q->hosts), to = myr_rng_below(rng, 2);
        to = myr_rng_below(rng, 3) ? to : myr_rng_below(rng, q->hosts); /* most go to a few */
        to = to == from ? (from + 1) % q->hosts : to;
        q->paths[f] = (struct pk_path){q->ways[f], find_way(q, from, to, q->ways[f])};
        uint64_t bytes = 1 + myr_rng_below(rng, 30) * n->options.mtu_bytes +
                         myr_rng_below(rng, n->options.mtu_bytes);
        *flow = (struct naive_flow){
            .message = {f, 1, f, bytes, myr_rng_below(rng, 1 << 30), MYR_NONE},
            .path = q->paths[f],
            .start = (myr_ps)myr_rng_below(rng, 3) * myr_rng_below(rng, 10000000),
            .alpha = UINT64_C(1) << 30,
            .alpha_at = INT64_MAX,
            .decrease_at = INT64_MAX,
            .increase_at = INT64_MAX,
            .util = 1 << 20,
            .then = MYR_NONE,
        };
        flow->packets = (uint32_t)((bytes + n->options.mtu_bytes - 1) / n->options.mtu_bytes);
        flow->rate = flow->target = flow->reference = q->channels[q->ways[f][0]].bps;
        myr_ps trip = 0;
        for (uint32_t i = 0; i < q->paths[f].count; i++) {
            trip += q->channels[q->ways[f][i]].delay * 2 +
                    naive_time(n, q->ways[f][i], n->options.mtu_bytes);
        }
        n->trip = trip > n->trip ? trip : n->trip;
    }
    for (uint32_t f = 1; f < n->flow_count; f++) {
        draw_order(q, rng, f);
    }
    for (uint32_t f = 0; f < n->flow_count && n->options.cc == MYR_CC_HPCC; f++) {
        struct naive_flow *flow = &n->flows[f];
        flow->window = (uint64_t)((unsigned __int128)n->trip * flow->rate / 8000000000000);
        flow->window = flow->window ? flow->window : 1;
    }
}

static void draw(struct question *q, uint64_t seed)
{
    struct myr_rng rng;
    struct naive *n = q->n = myr_xcalloc(1, sizeof(*n));
    myr_rng_init(&rng, seed, 47);
    q->hosts = 3 + myr_rng_below(&rng, 8);
    n->switch_count = q->switches = 1 + myr_rng_below(&rng, 4);
    for (uint32_t h = 0; h < q->hosts; h++) {
        q->leaf[h] = myr_rng_below(&rng, q->switches);
        add_link(q, &rng, MYR_NONE, q->leaf[h]);
    }
    for (uint32_t s = 1; s < q->switches; s++) {
        q->parent[s] = myr_rng_below(&rng, s);
        q->uplink[s] = q->links;
        add_link(q, &rng, s, q->parent[s]);
    }
    n->port_count = q->links * 2;
    n->flow_count = 1 + myr_rng_below(&rng, 14);
    for (uint32_t c = 0; c < n->port_count; c++) {
        n->ports[c].channel = q->channels[c];
    }
    draw_options(n, &rng);
    draw_buffers(q, &rng);
    draw_flows(q, &rng);
}

static void question_done(struct question *q)
{
    for (uint32_t c = 0; c < q->n->port_count; c++) {
        myr_vec_done(&q->n->ports[c].urgent.items);
        myr_vec_done(&q->n->ports[c].queue.items);
        myr_vec_done(&q->n->ports[c].wire.items);
        myr_vec_done(&q->n->ports[c].turn);
    }
    myr_vec_done(&q->n->lines);
    free(q->n);
}

/* Plays the engine up to a moment, and tells how far each flow is then. */
struct fast {
    struct pk *k;
    uint32_t slots[NAIVE_FLOWS];
    bool begun[NAIVE_FLOWS], past[NAIVE_FLOWS];
};

static void play_until(struct fast *fast, myr_ps at)
{
    uint32_t tag;
    while (fast->k->head->now < at) {
        if (pk_run(fast->k, at) == INT64_MAX) {
            fast->k->head->now = at; /* nothing is under way: flows may begin later */
        }
        while (pk_ended(fast->k, &tag)) {
        }
    }
}

/* Events of the moment itself may be left when a message has ended in it. */
static void finish_moment(struct fast *fast, myr_ps at)
{
    uint32_t tag;
    do {
        (void)pk_run(fast->k, at);
    } while (pk_ended(fast->k, &tag));
}

static void begin_at(struct fast *fast, const struct naive *n, myr_ps at)
{
    for (uint32_t f = 0; f < n->flow_count; f++) {
        if (!fast->begun[f] && n->flows[f].start == at) {
            struct pk_message message = n->flows[f].message;
            bool gone = message.after == MYR_NONE || fast->past[message.after];
            message.after = gone ? MYR_NONE : fast->slots[message.after];
            fast->begun[f] = true;
            fast->slots[f] = pk_send(fast->k, &message, at);
        }
    }
}

static void assert_as_naive(struct fast *fast, const struct naive *n, uint64_t seed)
{
    uint32_t received[NAIVE_FLOWS] = {}, acked[NAIVE_FLOWS] = {};
    begin_at(fast, n, 0);
    for (size_t i = 0; i < n->lines.count; i++) {
        const struct naive_line *line = &n->lines.items[i];
        bool last = i + 1 == n->lines.count || line[1].at > line->at;
        received[line->flow] = line->received;
        acked[line->flow] = line->acked;
        if (!last) {
            continue;
        }
        /* Flows begin behind all else of a moment, and between two arrivals. */
        for (myr_ps begun = -1; begun < line->at;) {
            myr_ps next = line->at;
            for (uint32_t f = 0; f < n->flow_count; f++) {
                bool sooner = !fast->begun[f] && n->flows[f].start < next;
                next = sooner ? n->flows[f].start : next;
            }
            play_until(fast, next);
            finish_moment(fast, next);
            begin_at(fast, n, next);
            begun = next;
        }
        for (uint32_t f = 0; f < n->flow_count; f++) {
            const struct pk_flow *flow = &fast->k->flows[fast->slots[f]];
            if (!fast->begun[f] || fast->past[f]) {
                continue;
            }
            if (flow->received != received[f] || flow->acked != acked[f]) {
                fail_msg("seed %llu, %s, at %lld ps: flow %u has %u and %u, not %u and %u",
                         (unsigned long long)seed, myr_cc_names[n->options.cc], (long long)line->at,
                         f, flow->received, flow->acked, received[f], acked[f]);
            }
            fast->past[f] = acked[f] == n->flows[f].packets;
        }
    }
    assert_true(pk_conserved(fast->k));
    assert_int_equal(fast->k->head->live_flows, 0);
    assert_int_equal(pk_stats(fast->k).hops, n->hops);
    assert_int_equal(pk_stats(fast->k).marks, n->marks);
    assert_int_equal(pk_stats(fast->k).pauses, n->pauses);
}

static struct pk *make_fast(struct question *q)
{
    struct pk *k = NULL;
    struct myr_err err = {};
    struct pk_setup setup = {.options = &q->n->options,
                             .channels = q->channels,
                             .paths = q->paths,
                             .channel_count = q->n->port_count,
                             .switch_count = q->n->switch_count,
                             .path_count = q->n->flow_count,
                             .seed = q->n->seed};
    if (pk_create(&k, &setup, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return k;
}

static void every_packet_is_where_the_naive_one_is(void **state)
{
    (void)state;
    uint64_t marks = 0, pauses = 0, hops = 0;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct question q = {};
        draw(&q, seed);
        naive_play(q.n);
        struct fast fast = {.k = make_fast(&q)};
        assert_as_naive(&fast, q.n, seed);
        marks += q.n->marks;
        pauses += q.n->pauses;
        hops += q.n->hops;
        pk_free(fast.k);
        question_done(&q);
    }
    /* The cases have what they are drawn for. */
    assert_true(hops > CASES * 100 && marks > CASES && pauses > CASES);
}

/* A copy goes on as the run itself would. */
static void a_copy_is_a_run_of_its_own(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct question q = {};
        draw(&q, seed);
        struct pk *k = make_fast(&q);
        for (uint32_t f = 0; f < q.n->flow_count; f++) {
            (void)pk_send(k, &q.n->flows[f].message, 0);
        }
        (void)pk_run(k, (myr_ps)(seed * MYR_PS_PER_US));
        struct pk *copy = pk_clone(k);
        uint32_t tag;
        while (pk_run(k, INT64_MAX / 4) != INT64_MAX) {
            while (pk_ended(k, &tag)) {
            }
        }
        while (pk_run(copy, INT64_MAX / 4) != INT64_MAX) {
            while (pk_ended(copy, &tag)) {
            }
        }
        struct myr_packet_stats a = pk_stats(k), b = pk_stats(copy);
        assert_int_equal(k->head->now, copy->head->now);
        assert_memory_equal(&a, &b, sizeof(a));
        assert_true(a.packets > 0 && pk_conserved(k) && pk_conserved(copy));
        pk_free(k);
        pk_free(copy);
        question_done(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packet_is_where_the_naive_one_is),
        cmocka_unit_test(a_copy_is_a_run_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
