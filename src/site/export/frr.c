#include "export/frr.h"

/*
 * FRR: eBGP on every link, hosts included. Leaves announce the block of their hosts and pass on
 * their loopbacks; hosts announce their own loopback only, so that none carries others' traffic
 * from one rail to another, and hear a default route. Where planes or rails are fabrics of their
 * own a default would lead into the wrong one: there hosts hear every block.
 *
 * With tenants, links to hosts are in the tenant's VRF, which speaks BGP to them by itself; between
 * leaves its routes travel as EVPN's, so that spines know of none of them (vrf.h).
 */

static bool is_host(const struct myr_design *design, uint32_t device)
{
    enum myr_device_kind kind = (enum myr_device_kind)design->place[device].kind;
    return kind == MYR_DEVICE_NODE || kind == MYR_DEVICE_STORAGE || kind == MYR_DEVICE_MANAGEMENT ||
           kind == MYR_DEVICE_FABRIC_MANAGER;
}

static bool is_leaf(const struct myr_design *design, uint32_t device)
{
    return design->place[device].kind == MYR_DEVICE_LEAF ||
           design->place[device].kind == MYR_DEVICE_ROUTER;
}

/* The next cabled port of the device on this network, from 'port' on; MYR_NONE at the end. */
static uint32_t next_port(const struct frr *frr, uint32_t device, uint32_t port)
{
    const struct myr_design *design = frr->job->design;
    for (; port < design->first_port[device + 1]; port++) {
        if (design->port_link[port] != MYR_NONE &&
            myr_design_port_group(design, port)->net == frr->job->net) {
            return port;
        }
    }
    return MYR_NONE;
}

static void put_address(struct frr *frr, const char *before, uint32_t address, const char *after)
{
    myr_buf_puts(&frr->text, before);
    myr_address_put(&frr->text, address);
    myr_buf_puts(&frr->text, after);
}

/* Boxes may have names of their own for ports; hosts have those of Linux. */
static void put_interface_name(struct frr *frr, uint32_t port)
{
    const struct myr_design *design = frr->job->design;
    char text[EXPORT_NAME_MAX];
    if (frr->name && !is_host(design, design->port_device[port])) {
        myr_buf_puts(&frr->text, frr->name(frr->context, port, text));
    } else {
        myr_site_interface(design, port, &frr->text);
    }
}

static void put_vrf_name(struct frr *frr, const char *before, uint32_t vrf)
{
    myr_buf_puts(&frr->text, before);
    vrf_put_name(frr->vrfs, vrf, &frr->text);
}

/* A /32 on the loopback, a /31 on every link; the far end in the description. */
static void put_interfaces(struct frr *frr, uint32_t device)
{
    const struct myr_design *design = frr->job->design;
    put_address(frr, "interface lo\n ip address ", myr_address_of_device(frr->addresses, device),
                "/32\n!\n");
    for (uint32_t p = next_port(frr, device, design->first_port[device]); p != MYR_NONE;
         p = next_port(frr, device, p + 1)) {
        uint32_t peer = myr_design_peer(design, p), vrf = vrf_at(frr->vrfs, p);
        myr_buf_put_lit(&frr->text, "interface ");
        put_interface_name(frr, p);
        if (vrf != MYR_NONE) {
            put_vrf_name(frr, " vrf ", vrf);
        }
        myr_buf_put_lit(&frr->text, "\n description ");
        myr_site_name(design, design->port_device[peer], &frr->text);
        myr_buf_putc(&frr->text, ' ');
        put_interface_name(frr, peer);
        put_address(frr, "\n ip address ", myr_address_of_port(frr->addresses, p), "/31\n!\n");
    }
}

/* Those of one table; MYR_NONE: of the main one. */
static void put_neighbours(struct frr *frr, uint32_t device, uint32_t vrf)
{
    const struct myr_design *design = frr->job->design;
    for (uint32_t p = next_port(frr, device, design->first_port[device]); p != MYR_NONE;
         p = next_port(frr, device, p + 1)) {
        uint32_t peer = myr_design_peer(design, p), other = design->port_device[peer];
        /* By address: links have no names in BGP. */
        uint32_t address = myr_address_of_port(frr->addresses, peer);
        if (vrf_at(frr->vrfs, p) != vrf) {
            continue;
        }
        put_address(frr, " neighbor ", address, " remote-as ");
        myr_buf_put_u64(&frr->text, myr_address_asn(frr->addresses, other));
        put_address(frr, "\n neighbor ", address, " peer-group ");
        /* Timers and policies hang on these two groups. */
        myr_buf_puts(&frr->text, is_host(design, other) ? "HOSTS\n" : "FABRIC\n");
    }
}

/* What each kind of device announces, and to whom. */
static void put_policy(struct frr *frr, uint32_t device)
{
    const struct myr_design *design = frr->job->design;
    /* Everybody's loopback is announced; leaves announce the block of their hosts as one prefix. */
    put_address(frr, " address-family ipv4 unicast\n  network ",
                myr_address_of_device(frr->addresses, device), "/32\n");
    if (is_leaf(design, device) && !frr->vrfs->used) {
        put_address(frr, "  network ", myr_address_block(frr->addresses, device), "/");
        myr_buf_put_u64(&frr->text, 32 - frr->addresses->block_bits);
        myr_buf_putc(&frr->text, '\n');
        /* Hosts hear a default route alone, where one fabric is all there is. */
        if (!frr->split) {
            myr_buf_put_lit(&frr->text, "  neighbor HOSTS default-originate\n"
                                        "  neighbor HOSTS prefix-list DEFAULT out\n");
        }
    }
    if (is_host(design, device)) {
        myr_buf_put_lit(&frr->text, "  neighbor FABRIC prefix-list OWN out\n");
    }
    myr_buf_put_lit(&frr->text, "  maximum-paths 64\n exit-address-family\n");
    if (frr->vrfs->used && !is_host(design, device)) {
        myr_buf_put_lit(&frr->text, " address-family l2vpn evpn\n  neighbor FABRIC activate\n");
        /* Packets go straight to the leaf: who passes the route on is not the next hop. */
        myr_buf_puts(&frr->text, is_leaf(design, device)
                                     ? "  advertise-all-vni\n"
                                     : "  neighbor FABRIC attribute-unchanged next-hop\n");
        myr_buf_put_lit(&frr->text, " exit-address-family\n");
    }
    myr_buf_put_lit(&frr->text, "!\n");
}

/* The main table, or a tenant's: both have the device's own AS number. */
static void put_bgp_start(struct frr *frr, uint32_t device, uint32_t vrf)
{
    myr_buf_put_lit(&frr->text, "router bgp ");
    myr_buf_put_u64(&frr->text, myr_address_asn(frr->addresses, device));
    if (vrf != MYR_NONE) {
        put_vrf_name(frr, " vrf ", vrf);
    }
    put_address(frr, "\n bgp router-id ", myr_address_of_device(frr->addresses, device), "\n");
    /*
     * RFC 8212's default of hearing nobody is switched off, and prefixes are announced before they
     * are in the table. Paths over different spines count as equal.
     */
    myr_buf_put_lit(&frr->text, " no bgp ebgp-requires-policy\n no bgp network import-check\n"
                                " bgp bestpath as-path multipath-relax\n timers bgp 3 9\n");
}

/* A tenant's table on a leaf. Hosts of nobody are heard and told nothing. */
static void put_vrf(struct frr *frr, uint32_t device, uint32_t vrf)
{
    uint32_t vni = VRF_FIRST_VNI + vrf;
    bool nobody = !vrf_has_vni(frr->vrfs, vrf);
    put_bgp_start(frr, device, vrf);
    myr_buf_put_lit(&frr->text, " neighbor HOSTS peer-group\n neighbor HOSTS timers connect 5\n");
    put_neighbours(frr, device, vrf);
    myr_buf_put_lit(&frr->text, " address-family ipv4 unicast\n");
    /* Sessions stay up, and nothing is told. */
    if (nobody) {
        myr_buf_put_lit(&frr->text, "  neighbor HOSTS prefix-list NOTHING out\n");
    } else {
        myr_buf_put_lit(&frr->text, "  redistribute connected\n");
        /* As in the main table (see above). */
        if (!frr->split) {
            myr_buf_put_lit(&frr->text, "  neighbor HOSTS default-originate\n"
                                        "  neighbor HOSTS prefix-list DEFAULT out\n");
        }
        myr_buf_put_lit(&frr->text, "  maximum-paths 64\n");
    }
    myr_buf_put_lit(&frr->text, " exit-address-family\n");
    if (!nobody) {
        myr_buf_printf(&frr->text,
                       " address-family l2vpn evpn\n  advertise ipv4 unicast\n"
                       "  route-target import %u:%u\n  route-target export %u:%u\n"
                       " exit-address-family\n",
                       (uint32_t)VRF_TARGET_AS, vni, (uint32_t)VRF_TARGET_AS, vni);
    }
    myr_buf_put_lit(&frr->text, "!\n");
}

static void put_vrf_numbers(struct frr *frr, uint32_t device)
{
    EACH_VRF(frr->vrfs, device, v)
    {
        put_vrf_name(frr, "vrf ", v);
        if (vrf_has_vni(frr->vrfs, v)) {
            myr_buf_printf(&frr->text, "\n vni %u", VRF_FIRST_VNI + v);
        }
        myr_buf_put_lit(&frr->text, "\nexit-vrf\n!\n");
    }
}

/* Tables and interfaces first, then the lists that BGP refers to, then BGP itself. */
void frr_put_device(struct frr *frr, uint32_t device)
{
    const struct myr_design *design = frr->job->design;
    uint32_t loopback = myr_address_of_device(frr->addresses, device);
    myr_buf_put_lit(&frr->text, "frr defaults datacenter\nhostname ");
    myr_site_name(design, device, &frr->text);
    myr_buf_put_lit(&frr->text, "\n!\n");
    put_vrf_numbers(frr, device);
    put_interfaces(frr, device);
    /* Hosts tell of themselves alone: they must not become a way for others. */
    if (is_host(design, device)) {
        put_address(frr, "ip prefix-list OWN seq 5 permit ", loopback, "/32\n!\n");
    } else if (is_leaf(design, device) && !frr->split) {
        myr_buf_put_lit(&frr->text, "ip prefix-list DEFAULT seq 5 permit 0.0.0.0/0\n!\n");
    }
    /* Only where nobody's table is: the prefix list is of no use elsewhere. */
    if (vrf_next(frr->vrfs, device, (uint32_t)frr->vrfs->tenants.names.count) != MYR_NONE) {
        myr_buf_put_lit(&frr->text, "ip prefix-list NOTHING seq 5 deny any\n!\n");
    }
    put_bgp_start(frr, device, MYR_NONE);
    myr_buf_put_lit(&frr->text, " neighbor FABRIC peer-group\n neighbor FABRIC timers connect 5\n");
    /* With tenants, hosts are neighbours in the tenants' tables alone. */
    if (is_leaf(design, device) && !frr->vrfs->used) {
        myr_buf_put_lit(&frr->text,
                        " neighbor HOSTS peer-group\n neighbor HOSTS timers connect 5\n");
    }
    put_neighbours(frr, device, MYR_NONE);
    put_policy(frr, device);
    EACH_VRF(frr->vrfs, device, v)
    {
        put_vrf(frr, device, v);
    }
}

/*
 * What FRR does not make itself: a VRF device a tenant with the links to its hosts, and for those
 * with a VNI a bridge and a VXLAN device. For 'ip -batch'.
 */
static void put_vrf_links(struct frr *frr, uint32_t device)
{
    const struct myr_design *design = frr->job->design;
    EACH_VRF(frr->vrfs, device, v)
    {
        /* The VNI is the number of the kernel's table too. */
        uint32_t vni = VRF_FIRST_VNI + v;
        put_vrf_name(frr, "link add ", v);
        myr_buf_printf(&frr->text, " type vrf table %u\n", vni);
        put_vrf_name(frr, "link set ", v);
        myr_buf_put_lit(&frr->text, " up\n");
        if (vrf_has_vni(frr->vrfs, v)) {
            myr_buf_printf(&frr->text, "link add br%u type bridge\n", vni);
            myr_buf_printf(&frr->text, "link add vni%u type vxlan id %u local ", vni, vni);
            myr_address_put(&frr->text, myr_address_of_device(frr->addresses, device));
            myr_buf_printf(&frr->text, " dstport 4789 nolearning\n");
            myr_buf_printf(&frr->text, "link set vni%u master br%u addrgenmode none up\n", vni,
                           vni);
            myr_buf_printf(&frr->text, "link set br%u master ", vni);
            vrf_put_name(frr->vrfs, v, &frr->text);
            myr_buf_put_lit(&frr->text, " up\n");
        }
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            if (vrf_at(frr->vrfs, p) == v) {
                myr_buf_put_lit(&frr->text, "link set ");
                put_interface_name(frr, p);
                put_vrf_name(frr, " master ", v);
                myr_buf_putc(&frr->text, '\n');
            }
        }
    }
}

/* frr.conf of a device, and vrf.ip of a leaf with tenants. */
static int put_files(struct frr *frr, const struct myr_export_sink *sink, uint32_t device,
                     struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_site_name(frr->job->design, device, &name);
    size_t folder = name.len;
    /* export_put() clears the text for the next file. */
    frr_put_device(frr, device);
    myr_buf_put_lit(&name, "/frr.conf");
    MYR_TRY(export_put(sink, name.data, &frr->text, err));
    put_vrf_links(frr, device);
    if (frr->text.len == 0) {
        return MYR_OK;
    }
    name.len = folder;
    myr_buf_put_lit(&name, "/vrf.ip");
    return export_put(sink, name.data, &frr->text, err);
}

static int put_configurations(struct frr *frr, const struct myr_export_sink *sink,
                              struct myr_err *err)
{
    const struct myr_design *design = frr->job->design;
    /* Devices of other networks have nothing to say here. */
    for (uint32_t d = 0; d < design->device_count; d++) {
        if (next_port(frr, d, design->first_port[d]) != MYR_NONE) {
            MYR_TRY(put_files(frr, sink, d, err));
        }
    }
    return MYR_OK;
}

static void put_plan_end(struct frr *frr, uint32_t port, char end)
{
    const struct myr_design *design = frr->job->design;
    myr_site_name(design, design->port_device[port], &frr->text);
    myr_buf_putc(&frr->text, ',');
    myr_site_interface(design, port, &frr->text);
    myr_buf_putc(&frr->text, ',');
    myr_address_put(&frr->text, myr_address_of_port(frr->addresses, port));
    myr_buf_putc(&frr->text, end);
}

/* The plan for people and other tools: a row a link, and a row a device. */
static int put_plan(struct frr *frr, const struct myr_export_sink *sink, struct myr_err *err)
{
    const struct myr_design *design = frr->job->design;
    myr_buf_put_lit(&frr->text, "a_device,a_interface,a_address,b_device,b_interface,b_address\n");
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t type = design->cable_type[design->link_cable[link]];
        if (design->cabletypes[type].net == frr->job->net) {
            put_plan_end(frr, design->link_a[link], ',');
            put_plan_end(frr, design->link_b[link], '\n');
        }
    }
    MYR_TRY(export_put(sink, "links.csv", &frr->text, err));
    myr_buf_put_lit(&frr->text, "device,asn,loopback,host_block\n");
    for (uint32_t d = 0; d < design->device_count; d++) {
        if (next_port(frr, d, design->first_port[d]) == MYR_NONE) {
            continue;
        }
        myr_site_name(design, d, &frr->text);
        myr_buf_putc(&frr->text, ',');
        myr_buf_put_u64(&frr->text, myr_address_asn(frr->addresses, d));
        put_address(frr, ",", myr_address_of_device(frr->addresses, d), "/32,");
        if (is_leaf(design, d)) {
            put_address(frr, "", myr_address_block(frr->addresses, d), "/");
            myr_buf_put_u64(&frr->text, 32 - frr->addresses->block_bits);
        }
        myr_buf_putc(&frr->text, '\n');
    }
    return export_put(sink, "devices.csv", &frr->text, err);
}

/* Planes and units do not meet. */
void frr_init(struct frr *frr, const struct myr_export *job, const struct myr_addresses *addresses,
              const struct vrfs *vrfs)
{
    const struct myr_network *network = &job->design->networks[job->net];
    *frr = (struct frr){.job = job,
                        .addresses = addresses,
                        .vrfs = vrfs,
                        .split = network->planes * network->units > 1};
}

void frr_done(struct frr *frr)
{
    myr_buf_done(&frr->text);
}

int export_frr(const struct myr_export *job, const struct myr_export_sink *sink,
               struct myr_err *err)
{
    if (export_technology(job, job->net) == MYR_TECH_INFINIBAND) {
        int rc = myr_err_set(err, MYR_EINVAL, "the %s network is InfiniBand, FRR routes Ethernet",
                             myr_net_names[job->net]);
        myr_err_hint(err, "myriad export opensm");
        return rc;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_addresses addresses;
    MYR_CLEANUP(vrfs_done) struct vrfs vrfs = {};
    MYR_CLEANUP(frr_done) struct frr frr = {};
    MYR_TRY(myr_addresses_init(&addresses, &arena, job->design, job->net, err));
    MYR_TRY(vrfs_init(&vrfs, &arena, job, err));
    frr_init(&frr, job, &addresses, &vrfs);
    MYR_TRY(put_configurations(&frr, sink, err));
    return put_plan(&frr, sink, err);
}
