#include <stdlib.h>

#include "read/hpcc_graph.h"

/*
 * SimAI's topology: "nodes GPUs-of-a-server scale-up-switches switches links GPU", the ids of all
 * switches, those inside the servers first, then links as HPCC's. Without the servers' insides the
 * GPUs are the hosts of a Clos, on one leaf each or on two. Servers fill leaves, or are on rails:
 * GPU k of each on leaf k of its group.
 */

struct servers {
    struct topology *topology;
    uint32_t size;    /* GPUs of one */
    uint32_t inside;  /* scale-up switches, of all servers */
    uint32_t *server; /* by GPU: 1 + the scale-up switch that names its server */
    uint32_t *gbps;   /* by GPU: into the domain */
    bool *is_inside;  /* by node */
    myr_ps delay;     /* of a link inside */
};

/* At the top of the file: what is wrong is no single line. */
static int refuse(const struct servers *it, const char *what, uint32_t node, struct myr_err *err)
{
    struct scan_place top = {1, 1};
    return scan_error_at(err, it->topology->scan, top, "node %u: %s", node, what);
}

/* As HPCC's with two numbers more, about the insides of servers. */
static int read_counts(struct servers *it, struct myr_err *err)
{
    struct topology *topology = it->topology;
    struct scan *scan = topology->scan;
    uint32_t outside;
    if (!scan_line(scan)) {
        return scan_error(err, scan,
                          "the file is empty; 'nodes GPUs-of-a-server "
                          "scale-up-switches switches links GPU' is expected");
    }
    MYR_TRY(scan_u32(scan, "the number of nodes", 2, MYR_CLOS_HOSTS_MAX + MYR_CLOS_SWITCHES_MAX,
                     &topology->nodes, err));
    MYR_TRY(scan_u32(scan, "the GPUs of a server", 1, 64, &it->size, err));
    MYR_TRY(scan_u32(scan, "the number of scale-up switches", 0, MYR_CLOS_SWITCHES_MAX, &it->inside,
                     err));
    MYR_TRY(scan_u32(scan, "the number of switches", 1, MYR_CLOS_SWITCHES_MAX, &outside, err));
    MYR_TRY(scan_u32(scan, "the number of links", 1, MYR_CLOS_LINKS_MAX, &topology->wires, err));
    if (scan_word(scan)) { /* the name of the GPU, which has no effect */
        MYR_TRY(scan_end(scan, err));
    }
    topology->switches = it->inside + outside;
    return MYR_OK;
}

/* The first so many of the list of switches. They are read twice: once here, once as switches. */
static int mark_inside(struct servers *it, struct myr_err *err)
{
    struct scan ahead = *it->topology->scan;
    uint32_t id;
    it->is_inside = MYR_ARENA_NEW(it->topology->scratch, bool, it->topology->nodes);
    if (it->inside && !scan_line(&ahead)) {
        return MYR_OK; /* the reader of switches says it */
    }
    for (uint32_t i = 0; i < it->inside; i++) {
        MYR_TRY(scan_u32(&ahead, "the id of a switch", 0, it->topology->nodes - 1, &id, err));
        it->is_inside[id] = true;
    }
    return MYR_OK;
}

/* Links inside servers are taken out of the list; what they join is noted. */
static int take_insides(struct servers *it, struct myr_err *err)
{
    struct topology *topology = it->topology;
    uint32_t kept = 0;
    it->server = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes);
    it->gbps = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes);
    for (uint32_t i = 0; i < topology->wires; i++) {
        struct wire wire = topology->list[i];
        bool a = it->is_inside[wire.a], b = it->is_inside[wire.b];
        uint32_t gpu = a ? wire.b : wire.a, own = a ? wire.a : wire.b;
        if (!a && !b) {
            topology->list[kept++] = wire;
            continue;
        }
        if ((a && b) || topology->level[gpu] != LEVEL_HOST) {
            return scan_error_at(err, topology->scan, wire.place,
                                 "node %u: scale-up switches join GPUs and nothing else", own);
        }
        /* Of several switches in a server the one with the lowest number names it. */
        bool name = it->server[gpu] == 0 || own + 1 < it->server[gpu];
        it->server[gpu] = name ? own + 1 : it->server[gpu];
        it->gbps[gpu] += wire.gbps;
        it->delay = wire.delay;
    }
    topology->wires = kept;
    return MYR_OK;
}

/* A GPU in the order of the fabric: by server, then by where its leaf stands, then by number. */
struct member {
    uint32_t server, place, gpu, leaf;
};

/* GPUs of one server side by side, in the order of the leaves that they hang on. */
static int by_server(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    if (left->server != right->server) {
        return left->server < right->server ? -1 : 1;
    }
    if (left->place != right->place) {
        return left->place < right->place ? -1 : 1;
    }
    return left->gpu < right->gpu ? -1 : left->gpu > right->gpu;
}

/* All GPUs by server; each server is whole, and all are alike inside. */
static int list_members(const struct servers *it, const struct myr_clos_shape *shape,
                        struct member **ret, struct myr_err *err)
{
    const struct topology *topology = it->topology;
    struct member *members = MYR_ARENA_NEW(topology->scratch, struct member, shape->hosts);
    uint32_t count = 0, gbps = 0;
    for (uint32_t node = 0; node < topology->nodes; node++) {
        if (topology->level[node] != LEVEL_HOST) {
            continue;
        }
        if (count && it->gbps[node] != gbps) {
            return refuse(it, "its links inside the server are others than those of others", node,
                          err);
        }
        gbps = it->gbps[node];
        uint32_t place = shape->gpu_of_node[node] / shape->leaf_hosts;
        members[count++] = (struct member){it->server[node], place, node, topology->above[node]};
    }
    MYR_ASSERT(count == shape->hosts);
    qsort(members, count, sizeof(*members), by_server);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = i / it->size * it->size;
        /*
         * A server's GPUs are the next 'size' in the list, and the one behind them is of another.
         */
        bool together = first + it->size <= count && members[i].server == members[first].server;
        bool apart = i != first || i == 0 || members[i].server != members[i - 1].server;
        if (it->size > 1 && (!together || !apart || it->server[members[i].gpu] == 0)) {
            return refuse(it, "its server has another number of GPUs than the first line says",
                          members[i].gpu, err);
        }
    }
    *ret = members;
    return MYR_OK;
}

/* Servers in the order of the fabric: by where their first GPU hangs, then by number. */
struct spot {
    uint32_t place, server; /* place: of the leaf's first host; server: its first member */
};

/* Servers that share leaves side by side. */
static int by_spot(const void *a, const void *b)
{
    const struct spot *left = a, *right = b;
    if (left->place != right->place) {
        return left->place < right->place ? -1 : 1;
    }
    return left->server < right->server ? -1 : left->server > right->server;
}

/* Either all GPUs of a server on one leaf, or GPU k of all servers of a group on the kth. */
static int check_rails(const struct servers *it, const struct member *members,
                       const struct spot *spots, uint32_t count, struct myr_clos_shape *ret,
                       struct myr_err *err)
{
    uint32_t size = it->size, group = ret->leaf_hosts;
    /* The first two GPUs tell which of the two it is; all others must do the same. */
    ret->rails = size > 1 && members[0].leaf != members[1].leaf;
    if (ret->rails ? count % group : group % size) {
        return refuse(it, "its leaf does not hold whole servers", members[0].gpu, err);
    }
    for (uint32_t s = 0; s < count; s++) {
        const struct member *own = &members[spots[s].server];
        const struct member *model = &members[spots[ret->rails ? s / group * group : s].server];
        for (uint32_t k = 0; k < size; k++) {
            uint32_t leaf = ret->rails ? model[k].leaf : model[0].leaf;
            bool twice = ret->rails && k > 0 && own[k].leaf == own[k - 1].leaf;
            if (own[k].leaf != leaf || twice) {
                return refuse(it,
                              "GPUs of a server must be on one leaf, or each on the leaf of "
                              "its number in the group",
                              own[k].gpu, err);
            }
        }
    }
    return MYR_OK;
}

/* Numbers the GPUs server by server, whatever the leaves are. */
static int place_servers(const struct servers *it, struct myr_clos_shape *ret, struct myr_err *err)
{
    struct member *members = NULL;
    uint32_t size = it->size, count = ret->hosts / size;
    MYR_TRY(list_members(it, ret, &members, err));
    MYR_ASSERT(members);
    struct spot *spots = MYR_ARENA_NEW(it->topology->scratch, struct spot, count);
    for (uint32_t s = 0; s < count; s++) {
        /* Where the shape put the leaf's hosts: leaves keep their order. */
        spots[s] = (struct spot){members[s * size].place, s * size};
    }
    qsort(spots, count, sizeof(*spots), by_spot);
    MYR_TRY(check_rails(it, members, spots, count, ret, err));
    for (uint32_t s = 0; s < count; s++) {
        for (uint32_t k = 0; k < size; k++) {
            ret->gpu_of_node[members[spots[s].server + k].gpu] = s * size + k;
        }
    }
    ret->scale_up_gbps = size > 1 ? it->gbps[members[0].gpu] : 0;
    return MYR_OK;
}

/* As HPCC's, once the servers' insides are out of the graph; then GPUs are numbered by server. */
int read_simai_topology(struct scan *scan, struct myr_clos_shape *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    struct topology topology = {.scan = scan, .scratch = &scratch};
    struct servers it = {.topology = &topology};
    uint32_t planes = 1;
    MYR_TRY(read_counts(&it, err));
    myr_arena_init(&scratch);
    MYR_TRY(hpcc_open(&topology, err));
    /* Servers' insides go first: without them the GPUs are hosts as HPCC's are. */
    MYR_TRY(mark_inside(&it, err));
    MYR_TRY(hpcc_read_switches(&topology, err));
    MYR_TRY(hpcc_read_wires(&topology, err));
    MYR_TRY(take_insides(&it, err));
    MYR_TRY(hpcc_fold(&topology, &planes, err));
    MYR_TRY(hpcc_find_shape(&topology, ret, err));
    ret->planes = planes;
    ret->gpus_per_node = it.size;
    /* Two links: from the GPU to the switch inside, and from there to the other GPU. */
    ret->scale_up_ps = 2 * it.delay;
    if (it.size > 1 && ret->hosts % it.size) {
        return refuse(&it, "its server is not whole", 0, err);
    }
    return it.size > 1 ? place_servers(&it, ret, err) : MYR_OK;
}
