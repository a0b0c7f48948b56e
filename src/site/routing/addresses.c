#include "myriad/site/addresses.h"

/*
 * Addresses by arithmetic: a quarter of the network's pool each for hosts, links and loopbacks, and
 * a number for everything in the order of the design.
 */

/* RFC 6996: 4200000000 to 4294967294. A range for each kind of device. */
enum { ASN_RANGE = 10000000 };
static const uint32_t asn_first = 4200000000U;
enum asn_kind { ASN_CORE, ASN_SPINE, ASN_LEAF, ASN_HOST };

struct pool {
    uint32_t base;
    uint32_t bits; /* 2^bits addresses */
};

static const struct pool pools[MYR_NET_COUNT] = {
    [MYR_NET_COMPUTE] = {0x0a000000U, 24}, /* 10.0.0.0/8 */
    [MYR_NET_STORAGE] = {0xac100000U, 20}, /* 172.16.0.0/12 */
};

static bool is_host_link(const struct myr_design *design, uint32_t link)
{
    return myr_design_port_group(design, design->link_a[link])->role == MYR_PORT_NIC;
}

/* Links between switches are numbered in a row: each takes two addresses of the pool. */
static uint64_t number_fabric_links(struct myr_addresses *ret)
{
    const struct myr_design *design = ret->design;
    uint32_t count = 0;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t type = design->cable_type[design->link_cable[link]];
        bool here = design->cabletypes[type].net == ret->net && !is_host_link(design, link);
        ret->fabric_number[link] = here ? count++ : MYR_NONE;
    }
    return count;
}

/* Refuses before anything is written: a plan that is half right would be of no use. */
int myr_addresses_init(struct myr_addresses *ret, struct myr_arena *arena,
                       const struct myr_design *design, enum myr_net_id net, struct myr_err *err)
{
    const struct myr_network *network = &design->networks[net];
    const struct pool *pool = &pools[net];
    if (pool->bits == 0 || network->leaf == 0) {
        return myr_err_set(err, MYR_EINVAL, "the %s network is not routed", myr_net_names[net]);
    }
    /* Of the pool's addresses. */
    uint64_t quarter = UINT64_C(1) << (pool->bits - 2);
    *ret = (struct myr_addresses){.design = design,
                                  .net = net,
                                  .host_base = pool->base,
                                  .fabric_base = pool->base + (uint32_t)quarter,
                                  .loopback_base = pool->base + 2 * (uint32_t)quarter};
    /*
     * A block for each leaf holds two addresses a port, rounded up to a power of two, so that it is
     * one prefix.
     */
    const struct myr_devtype *leaf = &design->devtypes[design->device_type[network->first_leaf]];
    MYR_ASSERT(leaf->group_count > 0 && leaf->groups[0].role == MYR_PORT_DOWN);
    while ((UINT32_C(1) << ret->block_bits) < 2 * leaf->groups[0].count) {
        ret->block_bits++;
    }
    ret->fabric_number = MYR_ARENA_NEW(arena, uint32_t, design->link_count);
    uint64_t fabric = 2 * number_fabric_links(ret);
    uint64_t hosts = (uint64_t)network->leaf << ret->block_bits;
    /* Loopbacks and numbers of systems are by device: both must have room for all of them. */
    if (hosts > quarter || fabric > quarter || design->device_count > quarter ||
        design->device_count > ASN_RANGE) {
        return myr_err_set(err, MYR_ERANGE,
                           "the %s network needs %llu host and %llu link addresses, its address "
                           "space has %llu of each",
                           myr_net_names[net], (unsigned long long)hosts,
                           (unsigned long long)fabric, (unsigned long long)quarter);
    }
    return MYR_OK;
}

uint32_t myr_address_block(const struct myr_addresses *addresses, uint32_t leaf)
{
    const struct myr_network *network = &addresses->design->networks[addresses->net];
    MYR_ASSERT(leaf - network->first_leaf < network->leaf);
    return addresses->host_base + ((leaf - network->first_leaf) << addresses->block_bits);
}

/* A link's two addresses follow each other; which number it has tells the first. */
uint32_t myr_address_of_port(const struct myr_addresses *addresses, uint32_t port)
{
    const struct myr_design *design = addresses->design;
    uint32_t link = design->port_link[port];
    MYR_ASSERT(link != MYR_NONE);
    uint32_t odd = design->link_a[link] == port;
    if (!is_host_link(design, link)) {
        MYR_ASSERT(addresses->fabric_number[link] != MYR_NONE);
        return addresses->fabric_base + 2 * addresses->fabric_number[link] + odd;
    }
    uint32_t leaf_port = design->link_b[link];
    uint32_t leaf = design->port_device[leaf_port];
    return myr_address_block(addresses, leaf) + 2 * (leaf_port - design->first_port[leaf]) + odd;
}

uint32_t myr_address_of_device(const struct myr_addresses *addresses, uint32_t device)
{
    MYR_ASSERT(device < addresses->design->device_count);
    return addresses->loopback_base + device;
}

/* Planes, and the rails of a rail-only network, are fabrics of their own. */
static uint32_t fabric_of(const struct myr_network *network, const struct myr_place *place)
{
    bool rails = place->style == MYR_NAME_RAIL_POD || place->style == MYR_NAME_RAIL_GROUP;
    uint32_t plane = place->plane == MYR_PLANE_NONE ? 0 : place->plane;
    return plane * network->units + (rails ? place->unit : 0);
}

uint32_t myr_address_asn(const struct myr_addresses *addresses, uint32_t device)
{
    const struct myr_network *network = &addresses->design->networks[addresses->net];
    const struct myr_place *place = &addresses->design->place[device];
    /* Whatever is no switch counts as a host, by its own number. */
    uint32_t kind = ASN_HOST, number = device;
    switch ((enum myr_device_kind)place->kind) {
    case MYR_DEVICE_CORE:
        kind = ASN_CORE;
        number = fabric_of(network, place) * network->core_groups + place->pod;
        break;
    case MYR_DEVICE_SPINE:
        kind = ASN_SPINE;
        number = fabric_of(network, place) * network->pods + place->pod;
        break;
    case MYR_DEVICE_LEAF:
    case MYR_DEVICE_ROUTER:
        kind = ASN_LEAF;
        number = device - network->first_leaf;
        break;
    default:
        break;
    }
    MYR_ASSERT(number < ASN_RANGE);
    return asn_first + kind * ASN_RANGE + number;
}

void myr_address_put(struct myr_buf *buf, uint32_t address)
{
    for (uint32_t shift = 32; shift > 0;) {
        shift -= 8;
        myr_buf_put_u64(buf, address >> shift & 255);
        if (shift) {
            myr_buf_putc(buf, '.');
        }
    }
}
