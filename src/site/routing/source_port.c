#include "myriad/site/source_port.h"

#include "myriad/site/cabling.h"
#include "myriad/text.h"

/*
 * Which UDP source port makes the switches choose the planned path. RoCE v2 goes to port 4791; its
 * source port is free, is what switches hash, and NICs draw it from 0xC000 to 0xFFFF.
 */

enum {
    SOURCE_FIRST = 0xC000,
    SOURCE_COUNT = 0x4000,
    ROCE_PORT = 4791,
    UDP = 17,
    SECOND_TRIES = 256, /* ports looked at where none is exact */
    INPUT_FILE_MAX = 1 << 28,
};

const char *const myr_switch_hash_names[MYR_SWITCH_HASH_COUNT] = {"crc", "xor", "linux"};

void myr_switch_hashes_init(struct myr_switch_hashes *hashes, struct myr_arena *arena,
                            const struct myr_design *design, enum myr_switch_hash kind,
                            uint32_t seed)
{
    *hashes = (struct myr_switch_hashes){
        .kind = kind, .seeds = MYR_ARENA_NEW(arena, uint32_t, design->device_count)};
    for (uint32_t d = 0; d < design->device_count; d++) {
        hashes->seeds[d] = seed;
    }
}

/* What a row of one of the two files changes. */
struct row_reader {
    struct myr_switch_hashes *hashes;
    const struct myr_design *design;
    uint32_t next_rank; /* of the ports named so far */
    int (*read)(struct row_reader *reader, const struct myr_csv *csv, uint32_t device,
                struct myr_err *err);
};

static int read_seed(struct row_reader *reader, const struct myr_csv *csv, uint32_t device,
                     struct myr_err *err)
{
    uint64_t seed;
    if (!myr_str_to_u64(csv->fields[1], &seed) || seed > UINT32_MAX) {
        return myr_csv_error(err, csv, 1, "a seed is a whole number up to 4294967295");
    }
    reader->hashes->seeds[device] = (uint32_t)seed;
    return MYR_OK;
}

/* Rows of the file are in the order in which the switch counts its next hops. */
static int read_rank(struct row_reader *reader, const struct myr_csv *csv, uint32_t device,
                     struct myr_err *err)
{
    uint32_t port = myr_site_find_port(reader->design, device, csv->fields[1]);
    if (port == MYR_NONE) {
        return myr_csv_error(err, csv, 1, "the device has no port '%.*s'",
                             csv->fields[1].len > 60 ? 60 : (int)csv->fields[1].len,
                             csv->fields[1].data);
    }
    MYR_ASSERT(port < reader->design->port_count);
    reader->hashes->ranks[port] = reader->next_rank++;
    return MYR_OK;
}

/* The first row is a header, and is not looked at. */
static int read_rows(struct row_reader *reader, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_csv csv;
    myr_arena_init(&arena);
    MYR_TRY(myr_kind_read(path, INPUT_FILE_MAX, MYR_KINDS_CSV,
                          "a CSV list of two columns, a device first,", &text, err));
    myr_csv_init(&csv, &arena, myr_file_name(path), (struct myr_str){text.data, text.len});
    int more = myr_csv_next(&csv, err); /* the header */
    uint32_t rows = 0;
    while (more > 0 && (more = myr_csv_next(&csv, err)) > 0) {
        rows++;
        if (csv.count != 2) {
            return myr_csv_error(err, &csv, 0, "two fields are expected, a device first");
        }
        uint32_t device = myr_site_find(reader->design, csv.fields[0]);
        if (device == MYR_NONE) {
            return myr_csv_error(err, &csv, 0, "no device '%.*s' in this design",
                                 csv.fields[0].len > 60 ? 60 : (int)csv.fields[0].len,
                                 csv.fields[0].data);
        }
        MYR_TRY(reader->read(reader, &csv, device, err));
    }
    return more == 0 && rows == 0
               ? myr_err_set(err, MYR_EINVAL, "%s:1:1: no rows below the header, one is expected",
                             csv.file)
               : more;
}

int myr_switch_seeds_read(struct myr_switch_hashes *hashes, const struct myr_design *design,
                          const char *path, struct myr_err *err)
{
    struct row_reader reader = {.hashes = hashes, .design = design, .read = read_seed};
    return read_rows(&reader, path, err);
}

int myr_switch_order_read(struct myr_switch_hashes *hashes, struct myr_arena *arena,
                          const struct myr_design *design, const char *path, struct myr_err *err)
{
    /* Ports that the file leaves out keep their order, behind those that it names. */
    struct row_reader reader = {.hashes = hashes, .design = design, .read = read_rank};
    hashes->ranks = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    for (uint32_t port = 0; port < design->port_count; port++) {
        hashes->ranks[port] = UINT32_MAX - design->port_count + port;
    }
    return read_rows(&reader, path, err);
}

static uint64_t rotate(uint64_t value, uint32_t bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* SipHash-2-4 (Aumasson and Bernstein, 2012) of whole 64-bit words, both key halves equal. */
static uint64_t sip_hash(const uint64_t *words, uint32_t count, uint64_t key)
{
    uint64_t v[4] = {UINT64_C(0x736f6d6570736575) ^ key, UINT64_C(0x646f72616e646f6d) ^ key,
                     UINT64_C(0x6c7967656e657261) ^ key, UINT64_C(0x7465646279746573) ^ key};
    for (uint32_t i = 0; i <= count; i++) {
        /* The last word has the length in its top byte, as the definition wants it. */
        uint64_t word = i < count ? words[i] : (uint64_t)count * 8 << 56;
        v[3] ^= word;
        sip_round(v);
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for (uint32_t i = 0; i < 4; i++) {
        sip_round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The design keeps addresses as numbers; the kernel sees the bytes of the wire. */
static uint32_t swap32(uint32_t value)
{
    return value >> 24 | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | value << 24;
}

static uint32_t swap16(uint32_t value)
{
    return (value >> 8 & 0xff) | (value << 8 & 0xff00);
}

/*
 * Linux hashes the bytes of its flow keys, fields in network order, on a little-endian machine:
 * protocol at byte 2, ports at 28 and addresses at 36 of 48. Both directions of a flow are made
 * equal first, by the order of the raw words.
 */
static uint32_t linux_hash(uint32_t seed, const struct myr_tuple *tuple)
{
    uint32_t from = swap32(tuple->from), to = swap32(tuple->to);
    uint32_t source = swap16(tuple->source), destination = swap16(tuple->destination);
    if (to < from) {
        uint32_t other = from;
        from = to;
        to = other;
    }
    if (destination < source) {
        uint32_t other = source;
        source = destination;
        destination = other;
    }
    /* All other bytes of the keys are zero. */
    uint64_t words[6] = {(uint64_t)tuple->protocol << 16};
    words[3] = (uint64_t)(source | destination << 16) << 32;
    words[4] = (uint64_t)from << 32;
    words[5] = to;
    uint32_t hash = (uint32_t)sip_hash(words, 6, (uint64_t)seed << 32 | seed);
    return (hash ? hash : 1) >> 1; /* the kernel keeps 0 for "none", and drops a bit for routes */
}

static uint32_t hash_of(enum myr_switch_hash kind, uint32_t seed, const struct myr_tuple *tuple)
{
    return kind == MYR_SWITCH_CRC   ? myr_hash_crc(tuple, seed)
           : kind == MYR_SWITCH_XOR ? myr_hash_xor(tuple, seed)
                                    : linux_hash(seed, tuple);
}

/* Which of 'count' next hops a hash means: the rest of a division, except on Linux. */
static uint32_t choice_of(enum myr_switch_hash kind, uint32_t hash, uint32_t count)
{
    MYR_ASSERT(count > 0);
    if (kind != MYR_SWITCH_LINUX) {
        return hash % count;
    }
    /* Next hop i takes the hashes below (i + 1) / count of all, rounded to the nearest. */
    uint32_t i = (uint32_t)((uint64_t)hash * count >> 31);
    i = i < count ? i : count - 1;
    while (i > 0 && hash < (((uint64_t)i << 31) + count / 2) / count) {
        i--;
    }
    while (i + 1 < count && hash >= (((uint64_t)(i + 1) << 31) + count / 2) / count) {
        i++;
    }
    return i;
}

uint32_t myr_switch_pick(enum myr_switch_hash kind, uint32_t seed, const struct myr_tuple *tuple,
                         uint32_t count)
{
    return choice_of(kind, hash_of(kind, seed, tuple), count);
}

/* What is needed to follow one connection. */
struct steering {
    const struct myr_graph *graph;
    const struct myr_switch_hashes *hashes;
    struct myr_tuple tuple;
    /* CRC is linear: a port changes the hash by the same bits whatever the rest is. */
    uint32_t *crc_change; /* by port - SOURCE_FIRST, or NULL for other hashes */
};

/* Only for CRC: for the others every port is hashed in full. */
static void steering_init(struct steering *steering, struct myr_arena *arena,
                          const struct myr_graph *graph, const struct myr_switch_hashes *hashes)
{
    *steering = (struct steering){.graph = graph, .hashes = hashes};
    if (hashes->kind != MYR_SWITCH_CRC) {
        return;
    }
    struct myr_tuple tuple = {.source = SOURCE_FIRST};
    /* Any tuple will do: only differences are kept. */
    uint32_t base = myr_hash_crc(&tuple, 0);
    steering->crc_change = MYR_ARENA_NEW(arena, uint32_t, SOURCE_COUNT);
    for (uint32_t i = 0; i < SOURCE_COUNT; i++) {
        tuple.source = (uint16_t)(SOURCE_FIRST + i);
        steering->crc_change[i] = myr_hash_crc(&tuple, 0) ^ base;
    }
}

/* Where candidate 'i' stands in the switch's own order. */
static uint32_t place_of(const struct myr_graph *graph, const struct myr_switch_hashes *hashes,
                         const uint32_t *candidates, uint32_t count, uint32_t i)
{
    if (!hashes->ranks) {
        return i;
    }
    /* How many candidates the switch counts before this one. */
    uint32_t place = 0;
    uint32_t rank = hashes->ranks[myr_channel_from_port(graph->design, candidates[i])];
    for (uint32_t k = 0; k < count; k++) {
        place += hashes->ranks[myr_channel_from_port(graph->design, candidates[k])] < rank;
    }
    return place;
}

/* What a switch would do, as myr_path_find() asks for it. */
static uint32_t choose_by_hash(void *context, uint32_t device, uint32_t count, uint32_t depth,
                               const uint32_t *candidates)
{
    const struct steering *steering = context;
    (void)depth;
    uint32_t wanted = myr_switch_pick(steering->hashes->kind, steering->hashes->seeds[device],
                                      &steering->tuple, count);
    for (uint32_t i = 0; steering->hashes->ranks && i < count; i++) {
        if (place_of(steering->graph, steering->hashes, candidates, count, i) == wanted) {
            return i;
        }
    }
    return wanted;
}

/* A switch on the planned path, and which of its candidates the path takes. */
struct hop {
    uint32_t device, count, wanted; /* which of its 'count' candidates */
    uint32_t base;                  /* hash with the first port of the range */
};

/* MYR_NONE: the path takes what no switch offers (a detour), and no hash leads there. */
static uint32_t hops_of(const struct steering *steering, uint32_t to_port, const uint32_t *channels,
                        uint32_t channel_count, struct hop ret[MYR_PATH_MAX])
{
    const struct myr_graph *graph = steering->graph;
    const struct myr_design *design = graph->design;
    uint32_t candidates[MYR_CANDIDATES_MAX], hops = 0;
    uint32_t to_leaf = myr_graph_host_switch(graph, to_port);
    for (uint32_t i = 1; i + 1 < channel_count; i++) { /* host links leave no choice */
        uint32_t port = myr_channel_from_port(design, channels[i]);
        uint32_t device = design->port_device[port];
        uint32_t count = myr_path_candidates(graph, device, to_leaf, candidates), wanted = 0;
        while (wanted < count && candidates[wanted] != channels[i]) {
            wanted++;
        }
        if (wanted == count) {
            return MYR_NONE;
        }
        /* A single candidate is taken whatever the hash is. */
        if (count > 1) {
            wanted = place_of(graph, steering->hashes, candidates, count, wanted);
            ret[hops++] = (struct hop){device, count, wanted, 0};
        }
    }
    return hops;
}

/* The tuple's source port and 'index' are the same port. */
static bool hop_agrees(const struct steering *steering, const struct hop *hop, uint32_t index)
{
    enum myr_switch_hash kind = steering->hashes->kind;
    uint32_t hash = steering->crc_change
                        ? hop->base ^ steering->crc_change[index]
                        : hash_of(kind, steering->hashes->seeds[hop->device], &steering->tuple);
    return choice_of(kind, hash, hop->count) == hop->wanted;
}

/* The first port, from one that differs by flow, whose hashes agree with every hop; or 0. */
static uint16_t exact_port(struct steering *steering, struct hop *hops, uint32_t hop_count,
                           uint32_t start)
{
    steering->tuple.source = SOURCE_FIRST;
    for (uint32_t h = 0; h < hop_count; h++) {
        /* Hashes of the first port once; with CRC all others follow from them. */
        uint32_t seed = steering->hashes->seeds[hops[h].device];
        hops[h].base = hash_of(steering->hashes->kind, seed, &steering->tuple);
    }
    for (uint32_t i = 0; i < SOURCE_COUNT; i++) {
        uint32_t index = (start + i) % SOURCE_COUNT, h = 0;
        steering->tuple.source = (uint16_t)(SOURCE_FIRST + index);
        while (h < hop_count && hop_agrees(steering, &hops[h], index)) {
            h++;
        }
        if (h == hop_count) {
            return steering->tuple.source;
        }
    }
    return 0;
}

/* Shares are in thousandths of a host port's rate (MYR_SHARE_ONE). */
static uint64_t channel_load(const struct myr_graph *graph, const struct myr_flow *flow,
                             uint32_t channel)
{
    uint64_t gbps = myr_channel_gbps(graph->design, channel);
    return MYR_LOAD_ONE * flow->share / 1000 * graph->net->host_gbps / gbps;
}

/* Loads are of what is taken, exact or not. */
static void add_route(struct myr_source_ports *ret, const struct myr_graph *graph,
                      const struct myr_flow *flows, uint32_t flow, const uint32_t *channels,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ret->load[channels[i]] += channel_load(graph, &flows[flow], channels[i]);
        myr_vec_push(&ret->routes.channels, channels[i]);
    }
    myr_vec_push(&ret->routes.start, (uint32_t)ret->routes.channels.count);
    myr_vec_push(&ret->routes.flow, flow);
    myr_vec_push(&ret->routes.weight, flows[flow].share);
}

/* The port whose path has the least full fullest link between switches. */
static void second_best(struct myr_source_ports *ret, struct steering *steering,
                        const struct myr_flow *flows, uint32_t flow, uint32_t start)
{
    struct myr_path path, best = {};
    uint64_t best_load = UINT64_MAX;
    /* A path over empty links cannot be beaten. */
    for (uint32_t i = 0; i < SECOND_TRIES && best_load > 0; i++) {
        uint16_t source = (uint16_t)(SOURCE_FIRST + (start + i) % SOURCE_COUNT);
        steering->tuple.source = source;
        if (!myr_path_find(steering->graph, flows[flow].from_port, flows[flow].to_port,
                           choose_by_hash, steering, &path)) {
            break;
        }
        /* Links of hosts are on every path of the flow. */
        uint64_t fullest = 0;
        for (uint32_t c = 1; c + 1 < path.count; c++) {
            uint64_t load = ret->load[path.channels[c]];
            fullest = load > fullest ? load : fullest;
        }
        if (fullest < best_load) {
            best_load = fullest;
            best = path;
            ret->ports[flow] = source;
        }
    }
    if (best.count) {
        add_route(ret, steering->graph, flows, flow, best.channels, best.count);
    } else {
        ret->routes.unroutable++;
    }
}

/* The source port is what is looked for: it is filled in later. */
static struct myr_tuple tuple_of(const struct myr_addresses *addresses, const struct myr_flow *flow)
{
    return (struct myr_tuple){.from = myr_address_of_port(addresses, flow->from_port),
                              .to = myr_address_of_port(addresses, flow->to_port),
                              .destination = ROCE_PORT,
                              .protocol = UDP};
}

void myr_source_ports_choose(struct myr_source_ports *ret, struct myr_arena *arena,
                             const struct myr_graph *graph, const struct myr_addresses *addresses,
                             const struct myr_switch_hashes *hashes, const struct myr_flow *flows,
                             size_t flow_count, const struct myr_routes *planned)
{
    *ret = (struct myr_source_ports){.ports = MYR_ARENA_NEW(arena, uint16_t, flow_count),
                                     .exact = MYR_ARENA_NEW(arena, bool, flow_count)};
    ret->load = MYR_ARENA_NEW(arena, uint64_t, 2 * (size_t)graph->design->link_count);
    myr_vec_push(&ret->routes.start, 0);
    struct steering steering;
    steering_init(&steering, arena, graph, hashes);
    struct hop hops[MYR_PATH_MAX];
    /* Exact ones first: the others then go around them. */
    for (size_t r = 0; r < planned->flow.count; r++) {
        uint32_t flow = planned->flow.items[r];
        const uint32_t *channels = planned->channels.items + planned->start.items[r];
        uint32_t count = planned->start.items[r + 1] - planned->start.items[r];
        uint32_t hop_count = hops_of(&steering, flows[flow].to_port, channels, count, hops);
        steering.tuple = tuple_of(addresses, &flows[flow]);
        /* Each flow begins elsewhere, so that ports are not all the first ones. */
        ret->ports[flow] = hop_count == MYR_NONE ? 0
                                                 : exact_port(&steering, hops, hop_count,
                                                              (uint32_t)myr_hash_u64(flow));
        if (ret->ports[flow]) {
            ret->exact[flow] = true;
            ret->exact_count++;
            add_route(ret, graph, flows, flow, channels, count);
        }
    }
    for (uint32_t flow = 0; flow < flow_count; flow++) {
        /* Also flows that the plan has no path for: they may still have one. */
        if (ret->ports[flow] == 0) {
            steering.tuple = tuple_of(addresses, &flows[flow]);
            second_best(ret, &steering, flows, flow, (uint32_t)myr_hash_u64(flow));
        }
    }
}
