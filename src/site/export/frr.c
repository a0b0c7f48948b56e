#include "export/writers.h"
#include "myriad/site/addresses.h"

/*
 * FRR: eBGP on every link, hosts included. Leaves announce the block of their hosts and pass on
 * their loopbacks; hosts announce their own loopback only, so that none carries others' traffic
 * from one rail to another, and hear a default route. Where planes or rails are fabrics of their
 * own a default would lead into the wrong one: there hosts hear every block.
 */

struct frr {
    const struct myr_export *job;
    struct myr_addresses addresses;
    bool split;          /* several fabrics that do not meet */
    struct myr_buf text; /* of the file being made */
};

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

static void put_interfaces(struct frr *frr, uint32_t device)
{
    const struct myr_design *design = frr->job->design;
    put_address(frr, "interface lo\n ip address ", myr_address_of_device(&frr->addresses, device),
                "/32\n!\n");
    for (uint32_t p = next_port(frr, device, design->first_port[device]); p != MYR_NONE;
         p = next_port(frr, device, p + 1)) {
        uint32_t peer = myr_design_peer(design, p);
        myr_buf_put_lit(&frr->text, "interface ");
        myr_site_interface(design, p, &frr->text);
        myr_buf_put_lit(&frr->text, "\n description ");
        myr_site_name(design, design->port_device[peer], &frr->text);
        myr_buf_putc(&frr->text, ' ');
        myr_site_interface(design, peer, &frr->text);
        put_address(frr, "\n ip address ", myr_address_of_port(&frr->addresses, p), "/31\n!\n");
    }
}

static void put_neighbours(struct frr *frr, uint32_t device)
{
    const struct myr_design *design = frr->job->design;
    for (uint32_t p = next_port(frr, device, design->first_port[device]); p != MYR_NONE;
         p = next_port(frr, device, p + 1)) {
        uint32_t peer = myr_design_peer(design, p), other = design->port_device[peer];
        uint32_t address = myr_address_of_port(&frr->addresses, peer);
        put_address(frr, " neighbor ", address, " remote-as ");
        myr_buf_put_u64(&frr->text, myr_address_asn(&frr->addresses, other));
        put_address(frr, "\n neighbor ", address, " peer-group ");
        myr_buf_puts(&frr->text, is_host(design, other) ? "HOSTS\n" : "FABRIC\n");
    }
}

/* What each kind of device announces, and to whom. */
static void put_policy(struct frr *frr, uint32_t device)
{
    const struct myr_design *design = frr->job->design;
    put_address(frr, " address-family ipv4 unicast\n  network ",
                myr_address_of_device(&frr->addresses, device), "/32\n");
    if (is_leaf(design, device)) {
        put_address(frr, "  network ", myr_address_block(&frr->addresses, device), "/");
        myr_buf_put_u64(&frr->text, 32 - frr->addresses.block_bits);
        myr_buf_putc(&frr->text, '\n');
        if (!frr->split) {
            myr_buf_put_lit(&frr->text, "  neighbor HOSTS default-originate\n"
                                        "  neighbor HOSTS prefix-list DEFAULT out\n");
        }
    }
    if (is_host(design, device)) {
        myr_buf_put_lit(&frr->text, "  neighbor FABRIC prefix-list OWN out\n");
    }
    myr_buf_put_lit(&frr->text, "  maximum-paths 64\n exit-address-family\n!\n");
}

static void put_device(struct frr *frr, uint32_t device)
{
    const struct myr_design *design = frr->job->design;
    uint32_t loopback = myr_address_of_device(&frr->addresses, device);
    myr_buf_put_lit(&frr->text, "frr defaults datacenter\nhostname ");
    myr_site_name(design, device, &frr->text);
    myr_buf_put_lit(&frr->text, "\n!\n");
    put_interfaces(frr, device);
    if (is_host(design, device)) {
        put_address(frr, "ip prefix-list OWN seq 5 permit ", loopback, "/32\n!\n");
    } else if (is_leaf(design, device) && !frr->split) {
        myr_buf_put_lit(&frr->text, "ip prefix-list DEFAULT seq 5 permit 0.0.0.0/0\n!\n");
    }
    myr_buf_put_lit(&frr->text, "router bgp ");
    myr_buf_put_u64(&frr->text, myr_address_asn(&frr->addresses, device));
    put_address(frr, "\n bgp router-id ", loopback, "\n");
    myr_buf_put_lit(&frr->text, " no bgp ebgp-requires-policy\n no bgp network import-check\n"
                                " bgp bestpath as-path multipath-relax\n timers bgp 3 9\n"
                                " neighbor FABRIC peer-group\n neighbor FABRIC timers connect 5\n");
    if (is_leaf(design, device)) {
        myr_buf_put_lit(&frr->text,
                        " neighbor HOSTS peer-group\n neighbor HOSTS timers connect 5\n");
    }
    put_neighbours(frr, device);
    put_policy(frr, device);
}

static int put_configurations(struct frr *frr, const struct myr_export_sink *sink,
                              struct myr_err *err)
{
    const struct myr_design *design = frr->job->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {0};
    int rc = MYR_OK;
    for (uint32_t d = 0; rc == MYR_OK && d < design->device_count; d++) {
        if (next_port(frr, d, design->first_port[d]) == MYR_NONE) {
            continue;
        }
        put_device(frr, d);
        myr_buf_clear(&name);
        myr_site_name(design, d, &name);
        myr_buf_put_lit(&name, "/frr.conf");
        rc = export_put(sink, name.data, &frr->text, err);
    }
    return rc;
}

static void put_plan_end(struct frr *frr, uint32_t port, char end)
{
    const struct myr_design *design = frr->job->design;
    myr_site_name(design, design->port_device[port], &frr->text);
    myr_buf_putc(&frr->text, ',');
    myr_site_interface(design, port, &frr->text);
    myr_buf_putc(&frr->text, ',');
    myr_address_put(&frr->text, myr_address_of_port(&frr->addresses, port));
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
        myr_buf_put_u64(&frr->text, myr_address_asn(&frr->addresses, d));
        put_address(frr, ",", myr_address_of_device(&frr->addresses, d), "/32,");
        if (is_leaf(design, d)) {
            put_address(frr, "", myr_address_block(&frr->addresses, d), "/");
            myr_buf_put_u64(&frr->text, 32 - frr->addresses.block_bits);
        }
        myr_buf_putc(&frr->text, '\n');
    }
    return export_put(sink, "devices.csv", &frr->text, err);
}

static void frr_done(struct frr *frr)
{
    myr_buf_done(&frr->text);
}

int export_frr(const struct myr_export *job, const struct myr_export_sink *sink,
               struct myr_err *err)
{
    const struct myr_network *network = &job->design->networks[job->net];
    if (export_technology(job, job->net) == MYR_TECH_INFINIBAND) {
        int rc = myr_err_set(err, MYR_EINVAL, "the %s network is InfiniBand, FRR routes Ethernet",
                             myr_net_names[job->net]);
        myr_err_hint(err, "myriad export opensm");
        return rc;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    MYR_CLEANUP(frr_done)
    struct frr frr = {.job = job, .split = network->planes * network->units > 1};
    MYR_TRY(myr_addresses_init(&frr.addresses, &arena, job->design, job->net, err));
    MYR_TRY(put_configurations(&frr, sink, err));
    return put_plan(&frr, sink, err);
}
