#include "routing/engine.h"

#include "guids.h"

/*
 * The settings are short; most of this is the file of torus-2QoS, which wants to know the
 * directions of a torus from a few seeds, and which must not be asked for where it would leave
 * hosts out.
 */

/* torus-2QoS knows three sides; a second seed serves when a switch of the first one is dead. */
enum { SIDES = 3, SEEDS = 4, RADIX_BOTH_WAYS = 4 };

/* These have no tiers: up and down is no rule there, and one lane is not enough. */
static bool is_direct(const struct myr_network *net)
{
    return net->topology == MYR_TOPOLOGY_TORUS || net->topology == MYR_TOPOLOGY_DRAGONFLY ||
           net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
}

bool engine_has_roots(const struct myr_network *net)
{
    return !is_direct(net);
}

/*
 * In the order in which OpenSM tries them; it must not fall back to an engine that could deadlock.
 */
const char *engine_list(const struct myr_network *net, const char *torus)
{
    if (torus) {
        return "torus-2QoS,dfsssp,nue,no_fallback";
    }
    if (is_direct(net)) {
        return "dfsssp,nue,no_fallback";
    }
    /* One switch is no fat tree to ftree. */
    return net->spine ? "ftree,updn,no_fallback" : "updn,no_fallback";
}

static void put_file(struct myr_buf *buf, const char *key, const char *file)
{
    if (file) {
        myr_buf_printf(buf, "%s %s\n", key, file);
    }
}

/* Only files that were written are named. */
void engine_put_options(const struct myr_network *net, const struct engine_files *files,
                        struct myr_buf *buf)
{
    myr_buf_printf(buf, "# For OpenSM: opensm -F with the name of this file.\nrouting_engine %s\n",
                   engine_list(net, files->torus));
    if (is_direct(net)) {
        /* Lanes: OpenSM must set them up, and nue may take as many as there are. */
        myr_buf_put_lit(buf, "qos TRUE\nnue_max_num_vls 0\n");
    }
    put_file(buf, "torus_config", files->torus);
    put_file(buf, "root_guid_file", files->roots);
    put_file(buf, "cn_guid_file", files->compute);
    put_file(buf, "io_guid_file", files->others);
    put_file(buf, "node_name_map_name", files->names);
}

/* --- torus */

struct torus {
    const struct myr_graph *graph;
    const struct myr_binding *binding;
    uint32_t stride[SIDES], size[SIDES]; /* of each side; 1 where there is none */
    uint32_t sides;
};

/* The last side runs fastest in the numbers of switches. */
static uint32_t position(const struct torus *torus, uint32_t device, uint32_t side)
{
    uint32_t at = device - torus->graph->net->first_leaf;
    return at / torus->stride[side] % torus->size[side];
}

static uint32_t neighbour(const struct torus *torus, uint32_t device, uint32_t side, bool forward)
{
    uint32_t at = position(torus, device, side), size = torus->size[side];
    uint32_t next = forward ? (at + 1) % size : (at + size - 1) % size;
    MYR_ASSERT(at < size && next < size);
    return device - at * torus->stride[side] + next * torus->stride[side];
}

static bool joined(const struct torus *torus, uint32_t from, uint32_t to)
{
    const struct myr_bundle *bundle = myr_graph_bundle(torus->graph, from, to);
    return bundle && bundle->alive > 0;
}

/* A side of two is a single link, and starts at position 0. */
static bool can_seed(const struct torus *torus, uint32_t device)
{
    for (uint32_t side = 0; side < torus->sides; side++) {
        bool both = torus->size[side] == RADIX_BOTH_WAYS;
        if ((torus->size[side] == 2 && position(torus, device, side) != 0) ||
            !joined(torus, device, neighbour(torus, device, side, true)) ||
            (both && !joined(torus, device, neighbour(torus, device, side, false)))) {
            return false;
        }
    }
    return true;
}

/* The real GUID where one is bound, else the one made up for the design. */
static unsigned long long switch_guid(const struct torus *torus, uint32_t device)
{
    const struct myr_design *design = torus->graph->design;
    return guids_node(design, torus->binding, design->first_port[device]);
}

/* A seed names its neighbours on each side; from these OpenSM finds the directions. */
static void put_seed_link(const struct torus *torus, uint32_t device, uint32_t side, bool forward,
                          struct myr_buf *buf)
{
    myr_buf_printf(buf, "%c%c_link 0x%016llx 0x%016llx\n", 'x' + (int)side, forward ? 'p' : 'm',
                   switch_guid(torus, device),
                   switch_guid(torus, neighbour(torus, device, side, forward)));
}

/* The dateline stays between the last position and 0, whichever seed is taken. */
static void put_seed(const struct torus *torus, uint32_t device, bool first, struct myr_buf *buf)
{
    myr_buf_puts(buf, first ? "" : "next_seed\n");
    for (uint32_t side = 0; side < torus->sides; side++) {
        put_seed_link(torus, device, side, true, buf);
        if (torus->size[side] == RADIX_BOTH_WAYS) {
            put_seed_link(torus, device, side, false, buf);
        }
    }
    for (uint32_t side = 0; side < torus->sides; side++) {
        /* Counted from the seed: so many positions back. */
        if (position(torus, device, side)) {
            myr_buf_printf(buf, "%c_dateline -%u\n", 'x' + (int)side,
                           position(torus, device, side));
        }
    }
}

/* A switch without a living link to others is as good as gone. */
static bool is_dead(const struct torus *torus, uint32_t device)
{
    const struct myr_graph *graph = torus->graph;
    uint32_t at = device - graph->first_switch;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        if (graph->bundles[i].alive) {
            return false;
        }
    }
    return true;
}

/* Breaks of the ring of a side that goes through a switch: dead switches, and dead links. */
static uint32_t ring_breaks(const struct torus *torus, uint32_t device, uint32_t side)
{
    uint32_t breaks = 0, at = device;
    for (uint32_t i = 0; i < torus->size[side]; i++) {
        uint32_t next = neighbour(torus, at, side, true);
        /* A dead switch is one break, not two for the links beside it. */
        bool dead = is_dead(torus, at), next_dead = is_dead(torus, next);
        breaks += dead || (!next_dead && !joined(torus, at, next));
        at = next;
    }
    MYR_ASSERT(at == device && breaks <= torus->size[side]); /* once round */
    return breaks;
}

/*
 * The engine goes the other way round a ring that is broken once. Broken twice, it leaves switches
 * and their hosts out, and says that all is well; a side of two is no ring, and none may be.
 */
static bool rings_hold(const struct torus *torus)
{
    const struct myr_network *net = torus->graph->net;
    for (uint32_t i = 0; i < net->leaf; i++) {
        for (uint32_t side = 0; side < torus->sides; side++) {
            uint32_t device = net->first_leaf + i;
            /* Once a ring, at its switch of position 0. */
            if (position(torus, device, side) == 0 &&
                ring_breaks(torus, device, side) > (torus->size[side] > 2 ? 1 : 0)) {
                return false;
            }
        }
    }
    return true;
}

/* The text may be half made when it says false; the caller throws it away. */
bool engine_put_torus(const struct myr_graph *graph, const struct myr_binding *binding,
                      struct myr_buf *buf)
{
    const struct myr_network *net = graph->net;
    struct torus torus = {.graph = graph, .binding = binding, .sides = net->dim_count};
    const struct myr_design *design = graph->design;
    uint32_t stride = net->leaf, seeds = 0;
    if (net->dim_count == 0 || net->dim_count > SIDES) {
        return false;
    }
    myr_buf_put_lit(buf, "torus");
    /*
     * OpenSM wants three sizes, 1 for sides that are not there; M is a mesh, without a way round.
     */
    for (uint32_t side = 0; side < SIDES; side++) {
        torus.size[side] = side < net->dim_count ? net->dims[side] : 1;
        torus.stride[side] = stride /= torus.size[side];
        myr_buf_printf(buf, " %u%s", torus.size[side], torus.size[side] == 2 ? "M" : "");
    }
    MYR_ASSERT(stride == 1); /* the sides are all of it */
    uint32_t ports = design->first_port[net->first_leaf + 1] - design->first_port[net->first_leaf];
    myr_buf_printf(buf, "\nportgroup_max_ports %u\n", ports + 1);
    /* Seeds far from each other: one dead switch then spoils at most one of them. */
    uint32_t apart = net->leaf / SEEDS ? net->leaf / SEEDS : 1;
    for (uint32_t i = 0, free_from = 0; i < net->leaf && seeds < SEEDS; i++) {
        if (i >= free_from && can_seed(&torus, net->first_leaf + i)) {
            put_seed(&torus, net->first_leaf + i, seeds == 0, buf);
            seeds++;
            free_from = i + apart;
        }
    }
    return seeds > 0 && rings_hold(&torus);
}
