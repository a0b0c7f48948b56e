#include "packet/internal.h"

/* The ends of a path: a message is cut into packets, each is acknowledged. */

/* Enough for the longest round trip at line rate; without a window, all of it. */
static uint32_t first_window(const struct pk *k, const struct pk_flow *flow)
{
    const struct pk_head *head = k->head;
    if (head->options.cc != MYR_CC_HPCC) {
        return UINT32_MAX;
    }
    unsigned __int128 bytes =
        (unsigned __int128)head->round_trip * k->rests[flow->port].bps / 8 / MYR_PS_PER_S;
    uint64_t packets = ((uint64_t)bytes + head->options.mtu_bytes - 1) / head->options.mtu_bytes;
    return packets < 1 ? 1 : packets < UINT32_MAX ? (uint32_t)packets : UINT32_MAX;
}

static uint32_t take_flow(struct pk *k)
{
    if (k->head->free_flow == MYR_NONE) {
        pk_grow(k, PK_FLOWS, k->head->capacity[PK_FLOWS] * 2);
    }
    uint32_t id = k->head->free_flow;
    k->head->free_flow = k->flows[id].turn;
    k->head->live_flows++;
    return id;
}

uint32_t pk_send(struct pk *k, const struct pk_message *message, myr_ps at)
{
    MYR_ASSERT(at >= k->head->now);
    MYR_ASSERT(message->ways > 0 && message->ways <= k->head->path_count);
    MYR_ASSERT(message->path <= k->head->path_count - message->ways);
    k->head->now = at;
    pk_reserve(k);
    uint32_t id = take_flow(k), mtu = k->head->options.mtu_bytes;
    uint32_t path = k->starts[message->path * 2];
    uint64_t packets = message->bytes ? (message->bytes + mtu - 1) / mtu : 1;
    MYR_ASSERT(packets < UINT32_MAX);
    struct pk_flow *flow = &k->flows[id];
    *flow = (struct pk_flow){
        .avail = at,
        .port = k->paths[path],
        .turn = MYR_NONE,
        .packets = (uint32_t)packets,
        .path = message->path,
        .ways = message->ways,
        .last_bytes = (uint16_t)(message->bytes - (packets - 1) * mtu),
        .live = 1,
        .then = MYR_NONE,
        .tag = message->tag,
        .name = myr_hash_u64(k->head->seed ^ myr_hash_u64(message->name)),
    };
    flow->rate = k->rests[flow->port].bps;
    flow->window = first_window(k, flow);
    pk_dcqcn_start(k, flow);
    pk_hpcc_start(k, flow);
    pk_drain(k, flow->port, at);
    struct pk_flow *after = message->after == MYR_NONE ? NULL : &k->flows[message->after];
    if (after && after->live && after->sent < after->packets) {
        MYR_ASSERT(after->then == MYR_NONE && after->port == flow->port);
        after->then = id;
        return id;
    }
    pk_list_flow(k, id, at);
    pk_drain(k, flow->port, at);
    return id;
}

static void acknowledged(struct pk *k, uint32_t packet_id, myr_ps now)
{
    struct pk_packet *packet = pk_packet(k, packet_id);
    uint32_t id = packet->flow;
    struct pk_flow *flow = &k->flows[id];
    MYR_ASSERT(flow->live && flow->acked < flow->sent);
    pk_drain(k, flow->port, now);
    flow->acked++;
    if (k->head->options.cc == MYR_CC_HPCC) {
        pk_hpcc_told(k, flow, packet);
    } else if (k->head->options.cc <= MYR_CC_DCQCN_CX && packet->flags & PK_MARKED) {
        pk_dcqcn_marked(k, flow, now);
    }
    pk_give_packet(k, packet_id);
    if (flow->acked == flow->packets) {
        flow->live = 0;
        flow->turn = k->head->free_flow;
        k->head->free_flow = id;
        k->head->live_flows--;
        return;
    }
    if (!flow->listed && pk_may_send(flow)) {
        pk_list_flow(k, id, now);
    }
    pk_drain(k, flow->port, now); /* it may send sooner than it could */
}

/* What was told about the way is sent back with it. */
static void received(struct pk *k, uint32_t packet_id, myr_ps now)
{
    struct pk_packet *packet = pk_packet(k, packet_id);
    struct pk_flow *flow = &k->flows[packet->flow];
    struct pk_head *head = k->head;
    MYR_ASSERT(flow->live && flow->received < flow->packets);
    head->stats.packets++;
    if (++flow->received == flow->packets) {
        k->ended[head->ended_count++] = flow->tag;
    }
    packet->kind = PK_ACK;
    packet->bytes = (uint16_t)head->ack_bytes;
    uint32_t back = k->starts[pk_way(flow, packet->number) * 2 + 1];
    packet->path = back + 1;
    uint32_t port = k->paths[back];
    pk_drain(k, port, now);
    pk_enqueue(k, port, packet_id, now);
}

void pk_deliver(struct pk *k, uint32_t packet, myr_ps now)
{
    if (pk_packet(k, packet)->kind == PK_DATA) {
        received(k, packet, now);
    } else {
        acknowledged(k, packet, now);
    }
}
