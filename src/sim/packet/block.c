#include <stdlib.h>
#include <sys/mman.h>

#include "packet/internal.h"

/*
 * The block: where its sections lie, how they grow, and how it is copied. A section that grows
 * moves all that lie behind it; whatever is in them names the rest by number.
 */

enum {
    LINE = 64,
    LARGE_PAGE = 2 << 20,
    WHEEL_LEAST = 1024,
    WHEEL_MOST = 131072,
    FULL = 64,
    FRAMES = 8
};

static const size_t sizes[PK_SECTIONS] = {
    [PK_PORTS] = sizeof(struct pk_port),
    [PK_RESTS] = sizeof(struct pk_port_rest),
    [PK_IN] = sizeof(uint32_t),
    [PK_SWITCHES] = sizeof(struct pk_switch),
    [PK_SWITCH_PORTS] = sizeof(uint32_t),
    [PK_PATHS] = sizeof(uint32_t),
    [PK_STARTS] = sizeof(uint32_t),
    [PK_BUCKETS] = sizeof(uint32_t),
    [PK_BITS] = sizeof(uint64_t),
    [PK_BLOCKS] = sizeof(struct pk_block),
    [PK_DUE] = sizeof(uint64_t),
    [PK_SORTED] = sizeof(uint64_t),
    [PK_FARS] = sizeof(struct pk_far),
    [PK_ENDED] = sizeof(uint32_t),
    [PK_QUEUES] = sizeof(uint64_t),
    [PK_FLOWS] = sizeof(struct pk_flow),
    [PK_PACKETS] = 0, /* by the head */
};

static size_t size_of(const struct pk_head *head, enum pk_section section)
{
    return section == PK_PACKETS ? (size_t)1 << head->packet_shift : sizes[section];
}

/* Offsets by the capacities; the bytes of all. */
static uint64_t lay_out(struct pk_head *head)
{
    uint64_t at = (sizeof(*head) + LINE - 1) / LINE * LINE;
    for (uint32_t s = 0; s < PK_SECTIONS; s++) {
        head->offset[s] = at;
        at += (head->capacity[s] * size_of(head, s) + LINE - 1) / LINE * LINE;
    }
    return head->block_bytes = at;
}

static struct pk_head *new_block(uint64_t bytes)
{
    /* All of it is gone through at random: pages as large as the system has them, but for the end.
     */
    size_t large = bytes / LARGE_PAGE * LARGE_PAGE;
    size_t align = large ? LARGE_PAGE : LINE;
    void *block = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (block && large) {
        (void)madvise(block, large, MADV_HUGEPAGE); /* advice: small ones do as well */
    }
    /* Without memory the program ends as everywhere: it says so. */
    return block ? block : myr_xrealloc(NULL, 1, bytes);
}

static void look_at(struct pk *k, struct pk_head *head)
{
    char *base = (char *)head;
    k->head = head;
    k->ports = (struct pk_port *)(base + head->offset[PK_PORTS]);
    k->rests = (struct pk_port_rest *)(base + head->offset[PK_RESTS]);
    k->in = (uint32_t *)(base + head->offset[PK_IN]);
    k->switches = (struct pk_switch *)(base + head->offset[PK_SWITCHES]);
    k->switch_ports = (uint32_t *)(base + head->offset[PK_SWITCH_PORTS]);
    k->paths = (uint32_t *)(base + head->offset[PK_PATHS]);
    k->starts = (uint32_t *)(base + head->offset[PK_STARTS]);
    k->buckets = (uint32_t *)(base + head->offset[PK_BUCKETS]);
    k->bits = (uint64_t *)(base + head->offset[PK_BITS]);
    k->blocks = (struct pk_block *)(base + head->offset[PK_BLOCKS]);
    k->due = (uint64_t *)(base + head->offset[PK_DUE]);
    k->sorted = (uint64_t *)(base + head->offset[PK_SORTED]);
    k->fars = (struct pk_far *)(base + head->offset[PK_FARS]);
    k->ended = (uint32_t *)(base + head->offset[PK_ENDED]);
    k->queues = (uint64_t *)(base + head->offset[PK_QUEUES]);
    k->flows = (struct pk_flow *)(base + head->offset[PK_FLOWS]);
    k->packets = base + head->offset[PK_PACKETS];
}

/* What is new among flows, packets and blocks is free. */
static void free_new(struct pk *k, enum pk_section section, uint64_t old)
{
    struct pk_head *head = k->head;
    for (uint64_t i = head->capacity[section]; i-- > old;) {
        if (section == PK_PACKETS) {
            pk_packet(k, (uint32_t)i)->next = head->free_packet;
            head->free_packet = (uint32_t)i;
            head->free_packets++;
        } else if (section == PK_FLOWS) {
            k->flows[i].turn = head->free_flow;
            head->free_flow = (uint32_t)i;
        } else if (section == PK_BLOCKS && i > 0) { /* 0 is none */
            k->blocks[i].next = head->free_block;
            head->free_block = (uint32_t)i;
            head->free_blocks++;
        }
    }
}

void pk_grow(struct pk *k, enum pk_section section, uint64_t capacity)
{
    struct pk_head *old = k->head;
    struct pk_head head = *old;
    uint64_t had = old->capacity[section];
    MYR_ASSERT(capacity > had && capacity < MYR_NONE);
    head.capacity[section] = capacity;
    struct pk_head *new = new_block(lay_out(&head));
    *new = head;
    for (uint32_t s = 0; s < PK_SECTIONS; s++) {
        size_t bytes = old->capacity[s] * size_of(old, s);
        memcpy((char *)new + head.offset[s], (char *)old + old->offset[s], bytes);
    }
    look_at(k, new);
    memset((char *)new + head.offset[section] + had *size_of(new, section), 0,
           (capacity - had) * size_of(new, section));
    free_new(k, section, had);
    free(old);
}

/* How much of a section is free. */
static uint64_t room_in(const struct pk_head *head, enum pk_section section)
{
    switch (section) {
    case PK_PACKETS:
        return head->free_packets;
    case PK_BLOCKS:
        return head->free_blocks;
    case PK_DUE:
        return head->capacity[PK_DUE] - head->due_count;
    case PK_FARS:
        return head->capacity[PK_FARS] - head->far_count;
    default:
        return head->capacity[PK_ENDED] - head->ended_count;
    }
}

void pk_make_room(struct pk *k)
{
    static const enum pk_section growing[] = {PK_PACKETS, PK_BLOCKS, PK_DUE, PK_FARS, PK_ENDED};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(growing); i++) {
        enum pk_section section = growing[i];
        if (room_in(k->head, section) < k->head->burst) {
            pk_grow(k, section, k->head->capacity[section] * 2 + k->head->burst);
        }
    }
    if (k->head->capacity[PK_SORTED] < k->head->capacity[PK_DUE]) {
        pk_grow(k, PK_SORTED, k->head->capacity[PK_DUE]);
    }
}

/* The block and the view of it; sections have their capacities in 'head'. */
static struct pk *open_block(struct pk_head *head)
{
    struct pk *k = myr_xcalloc(1, sizeof(*k));
    struct pk_head *block = new_block(lay_out(head));
    memset(block, 0, head->block_bytes);
    *block = *head;
    look_at(k, block);
    k->head->free_packet = k->head->free_flow = MYR_NONE;
    free_new(k, PK_PACKETS, 0);
    free_new(k, PK_FLOWS, 0);
    free_new(k, PK_BLOCKS, 0);
    return k;
}

void pk_free(struct pk *k)
{
    if (k) {
        free(k->head);
        free(k);
    }
}

struct pk *pk_clone(const struct pk *k)
{
    struct pk *copy = myr_xcalloc(1, sizeof(*copy));
    struct pk_head *block = new_block(k->head->block_bytes);
    memcpy(block, k->head, k->head->block_bytes);
    look_at(copy, block);
    return copy;
}

/* Of so many bytes at a rate, in picoseconds. */
static uint64_t byte_time_of(uint64_t bps)
{
    return (uint64_t)(((unsigned __int128)MYR_PS_PER_S * 8 << 16) / bps);
}

/*
 * Events that are pending at once are a few a port; a bucket should hold a few of them, and the
 * wheel reach over a link.
 */
static void size_wheel(struct pk_head *head, const struct pk_setup *setup)
{
    enum { SLOW_BPS = 100000000 };
    /* Acknowledgements one behind the other should not fall into the bucket at hand. */
    uint64_t most = UINT64_MAX, time = 0; /* of a whole packet, over all ports: an event or two */
    myr_ps reach = 1;
    for (uint32_t c = 0; c < setup->channel_count; c++) {
        const struct pk_channel *channel = &setup->channels[c];
        if (channel->bps < SLOW_BPS) {
            continue; /* its events may wait in the heap */
        }
        uint64_t byte_time = byte_time_of(channel->bps);
        uint64_t own = (head->options.mtu_bytes + head->data_bytes) * byte_time >> 16;
        uint64_t least = (head->ack_bytes * byte_time >> 16) / 4;
        myr_ps far = channel->delay + (myr_ps)own * 2;
        time += own;
        most = least < most ? least : most;
        reach = far > reach ? far : reach;
    }
    uint64_t ports = setup->channel_count ? setup->channel_count : 1;
    uint64_t width = time / ports * FULL / ports;
    width = width < most ? width : most;
    while (head->width_bits < 30 && UINT64_C(2) << head->width_bits <= width) {
        head->width_bits++;
    }
    head->bucket_count = WHEEL_LEAST;
    while ((myr_ps)head->bucket_count << head->width_bits < reach) {
        *(head->bucket_count < WHEEL_MOST ? &head->bucket_count : &head->width_bits) +=
            head->bucket_count < WHEEL_MOST ? head->bucket_count : 1;
    }
}

/* How many packets a touch may set going: all that a wire holds; or frames for all of a switch. */
static uint32_t burst_of(const struct pk_head *head, const struct pk_setup *setup)
{
    uint64_t most = 0;
    for (uint32_t c = 0; c < setup->channel_count; c++) {
        const struct pk_channel *channel = &setup->channels[c];
        uint64_t least = (uint64_t)(head->options.header_bytes * byte_time_of(channel->bps)) >> 16;
        uint64_t held = (uint64_t)channel->delay / (least ? least : 1) + 4;
        most = held > most ? held : most;
    }
    uint32_t *ports = myr_xcalloc(setup->switch_count + 1, sizeof(*ports));
    uint64_t widest = 0;
    for (uint32_t c = 0; c < setup->channel_count; c++) {
        uint32_t owner = setup->channels[c].owner;
        if (owner != MYR_NONE && ++ports[owner] > widest) {
            widest = ports[owner];
        }
    }
    free(ports);
    most = most * 4 + widest * 4 + 16;
    return most < UINT32_MAX / 4 ? (uint32_t)most : UINT32_MAX / 4;
}

static void set_port(struct pk *k, uint32_t id, const struct pk_channel *channel)
{
    const struct pk_head *head = k->head;
    const struct myr_packet_options *options = &head->options;
    uint64_t wire = options->mtu_bytes + head->data_bytes;
    k->ports[id] = (struct pk_port){.delay = channel->delay,
                                    .byte_time = byte_time_of(channel->bps),
                                    .wire = MYR_NONE,
                                    .queue = MYR_NONE,
                                    .host = channel->owner == MYR_NONE,
                                    .owner = channel->owner,
                                    .leads = channel->leads};
    unsigned __int128 flying = (unsigned __int128)channel->bps * (uint64_t)channel->delay / 8;
    /* To it and back; a packet that is leaving at each end, and what made it pause. */
    uint64_t headroom = (uint64_t)(flying * 2 / MYR_PS_PER_S) + wire * 4 + FRAMES * 64;
    uint64_t kmin = options->kmin_bytes * (channel->bps / 1000000) / 100000;
    uint64_t kmax = options->kmax_bytes * (channel->bps / 1000000) / 100000;
    k->rests[id] = (struct pk_port_rest){.ready = MYR_NONE,
                                         .armed = INT64_MAX,
                                         .kmin = (uint32_t)(kmin < UINT32_MAX ? kmin : UINT32_MAX),
                                         .kmax = (uint32_t)(kmax < UINT32_MAX ? kmax : UINT32_MAX),
                                         .headroom = (uint32_t)headroom,
                                         .bps = channel->bps};
}

/* Ports switch by switch, and what a switch sets aside for pauses. */
static int set_switches(struct pk *k, struct myr_err *err)
{
    struct pk_head *head = k->head;
    uint32_t place = 0;
    for (uint32_t c = 0; c < head->port_count; c++) {
        if (k->ports[c].owner != MYR_NONE) {
            k->switches[k->ports[c].owner].port_count++;
        }
    }
    for (uint32_t s = 0; s < head->switch_count; s++) {
        k->switches[s].first_port = place;
        k->switches[s].shared = k->switches[s].capacity = head->options.buffer_bytes;
        place += k->switches[s].port_count;
        k->switches[s].port_count = 0;
    }
    for (uint32_t c = 0; c < head->port_count; c++) {
        const struct pk_port *port = &k->ports[c];
        if (port->owner != MYR_NONE) {
            struct pk_switch *own = &k->switches[port->owner];
            k->switch_ports[own->first_port + own->port_count++] = c;
        }
        if (port->leads != MYR_NONE) {
            struct pk_switch *own = &k->switches[port->leads];
            if (own->shared < (uint64_t)k->rests[c].headroom * 2) {
                return myr_err_set(err, MYR_EINVAL,
                                   "a switch's buffer of %llu KB is less than twice what pauses "
                                   "need for the cables of its ports",
                                   (unsigned long long)head->options.buffer_bytes / 1000);
            }
            own->shared -= k->rests[c].headroom;
        }
    }
    return MYR_OK;
}

/* Forwards, an end, backwards, an end; and the longest round trip of all. */
static int set_paths(struct pk *k, const struct pk_setup *setup, struct myr_err *err)
{
    struct pk_head *head = k->head;
    uint32_t place = 0;
    for (uint32_t p = 0; p < setup->path_count; p++) {
        const struct pk_path *path = &setup->paths[p];
        uint32_t told = 0;
        myr_ps trip = 0;
        MYR_ASSERT(path->count > 0);
        k->starts[p * 2] = place;
        k->starts[p * 2 + 1] = place + path->count + 1;
        for (uint32_t i = 0; i < path->count; i++) {
            uint32_t channel = path->channels[i];
            uint32_t back = path->channels[path->count - 1 - i] ^ 1;
            MYR_ASSERT(channel < head->port_count && back < head->port_count);
            k->paths[place + i] = channel;
            k->paths[place + path->count + 1 + i] = back;
            told += k->ports[channel].owner != MYR_NONE;
            trip += k->ports[channel].delay + k->ports[back].delay;
            trip += (myr_ps)(head->options.mtu_bytes * k->ports[channel].byte_time >> 16);
        }
        k->paths[place + path->count] = k->paths[place + path->count * 2 + 1] = MYR_NONE;
        k->ports[path->channels[0]].host = 1;
        place += path->count * 2 + 2;
        head->round_trip = trip > head->round_trip ? trip : head->round_trip;
        if (head->options.cc == MYR_CC_HPCC && told > PK_HOPS_MAX) {
            return myr_err_set(err, MYR_EINVAL,
                               "--cc hpcc: a path leads over %u switches, packets have room for "
                               "what %d tell",
                               told, PK_HOPS_MAX);
        }
    }
    return MYR_OK;
}

static void set_capacities(struct pk_head *head, const struct pk_setup *setup)
{
    uint64_t places = 0;
    for (uint32_t p = 0; p < setup->path_count; p++) {
        places += (uint64_t)setup->paths[p].count * 2 + 2;
    }
    uint64_t ports = setup->channel_count, burst = head->burst;
    uint64_t flows = setup->path_count < 1024 ? setup->path_count + 1 : 1024;
    const uint64_t all[PK_SECTIONS] = {
        [PK_PORTS] = ports,
        [PK_RESTS] = ports,
        [PK_IN] = ports,
        [PK_SWITCHES] = setup->switch_count + 1,
        [PK_SWITCH_PORTS] = ports,
        [PK_PATHS] = places,
        [PK_STARTS] = (uint64_t)setup->path_count * 2,
        [PK_BUCKETS] = head->bucket_count,
        [PK_BITS] = head->bucket_count / 64,
        [PK_BLOCKS] = ports / 2 + burst + 64,
        [PK_DUE] = burst * 2 + 64,
        [PK_SORTED] = burst * 2 + 64,
        [PK_FARS] = burst + 64,
        [PK_ENDED] = burst + 64,
        [PK_QUEUES] = PK_QUEUE_STEPS,
        [PK_FLOWS] = flows,
        [PK_PACKETS] = burst * 2 + ports,
    };
    memcpy(head->capacity, all, sizeof(all));
}

static void free_at(struct pk **k)
{
    pk_free(*k);
}

int pk_create(struct pk **ret, const struct pk_setup *setup, struct myr_err *err)
{
    struct pk_head head = {.options = *setup->options,
                           .seed = setup->seed,
                           .port_count = setup->channel_count,
                           .switch_count = setup->switch_count,
                           .path_count = setup->path_count,
                           .kmin_least = UINT32_MAX,
                           .packet_shift = 5};
    bool told = head.options.cc == MYR_CC_HPCC;
    uint32_t extra = told ? head.options.telemetry_bytes : 0;
    head.packet_shift = told ? 7 : 5;
    head.data_bytes = head.options.header_bytes + extra;
    head.ack_bytes = head.options.ack_bytes + extra;
    MYR_ASSERT(setup->channel_count < PK_LIFT && setup->channel_count % 2 == 0);
    MYR_ASSERT(head.options.mtu_bytes + head.data_bytes <= UINT16_MAX);
    size_wheel(&head, setup);
    head.burst = burst_of(&head, setup);
    set_capacities(&head, setup);
    MYR_CLEANUP(free_at) struct pk *k = open_block(&head);
    for (uint32_t c = 0; c < setup->channel_count; c++) {
        set_port(k, c, &setup->channels[c]);
        k->head->kmin_least =
            k->rests[c].kmin < k->head->kmin_least ? k->rests[c].kmin : k->head->kmin_least;
    }
    MYR_TRY(set_paths(k, setup, err));
    MYR_TRY(set_switches(k, err));
    *ret = k;
    k = NULL;
    return MYR_OK;
}
