#include "export/sonic_net.h"

/*
 * One way for all of a switch's addresses. Without tenants BGP is in SONiC's own tables; with them
 * there are tables, VLANs and a tunnel, and BGP comes from FRR's file (sonic.c).
 */

enum { FIRST_VLAN = 2 }; /* 1 is the one that everybody has */

/* The next cabled port of the device on this network, from 'port' on; MYR_NONE at the end. */
static uint32_t next_port(const struct sonic_net *net, uint32_t device, uint32_t port)
{
    const struct myr_design *design = net->job->design;
    for (; port < design->first_port[device + 1]; port++) {
        if (design->port_link[port] != MYR_NONE &&
            myr_design_port_group(design, port)->net == net->job->net) {
            return port;
        }
    }
    return MYR_NONE;
}

#define EACH_PORT(net, device, p)                                                     \
    for (uint32_t p = next_port(net, device, (net)->job->design->first_port[device]); \
         (p) != MYR_NONE; (p) = next_port(net, device, (p) + 1))

/* A row whose key says all. */
static void put_empty(struct sonic_net *net, const char *key)
{
    myr_json_object(net->json, key);
    myr_json_end(net->json);
}

/* An address as a key, with a name before it and a length behind. */
static void put_address_key(struct sonic_net *net, const char *name, uint32_t address,
                            const char *behind)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_printf(&text, "%s|", name);
    myr_address_put(&text, address);
    myr_buf_puts(&text, behind);
    put_empty(net, text.data);
}

static void put_address(struct sonic_net *net, const char *key, uint32_t address)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_address_put(&text, address);
    myr_json_text(net->json, key, text.data);
}

static void put_number(struct sonic_net *net, const char *key, uint64_t value)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_put_u64(&text, value);
    myr_json_text(net->json, key, text.data); /* config_db has text only */
}

static void put_vrf_name(struct sonic_net *net, uint32_t vrf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    vrf_put_name(net->vrfs, vrf, &text);
    myr_json_text(net->json, "vrf_name", text.data);
}

/* Two rows an interface: that it is routed, with its table, and its address. */
static void put_interfaces(struct sonic_net *net, uint32_t device)
{
    char name[EXPORT_NAME_MAX];
    myr_json_object(net->json, "LOOPBACK_INTERFACE");
    put_empty(net, "Loopback0");
    put_address_key(net, "Loopback0", myr_address_of_device(net->addresses, device), "/32");
    myr_json_end(net->json);
    myr_json_object(net->json, "INTERFACE");
    EACH_PORT(net, device, p)
    {
        uint32_t vrf = vrf_at(net->vrfs, p);
        /* The name stays in 'name' for the second row. */
        myr_json_object(net->json, net->name(net->context, p, name));
        if (vrf != MYR_NONE) {
            put_vrf_name(net, vrf);
        }
        myr_json_end(net->json);
        put_address_key(net, name, myr_address_of_port(net->addresses, p), "/31");
    }
    myr_json_end(net->json);
}

/* As SONiC's templates read them: by the neighbour's address. */
static void put_neighbours(struct sonic_net *net, uint32_t device)
{
    const struct myr_design *design = net->job->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_json_object(net->json, "BGP_NEIGHBOR");
    EACH_PORT(net, device, p)
    {
        uint32_t peer = myr_design_peer(design, p);
        text.len = 0;
        myr_address_put(&text, myr_address_of_port(net->addresses, peer));
        myr_json_object(net->json, text.data);
        put_number(net, "asn", myr_address_asn(net->addresses, design->port_device[peer]));
        /* Over the link itself, not from the loopback. */
        put_address(net, "local_addr", myr_address_of_port(net->addresses, p));
        text.len = 0;
        myr_site_name(design, design->port_device[peer], &text);
        myr_json_text(net->json, "name", text.data);
        myr_json_end(net->json);
    }
    myr_json_end(net->json);
}

/* Tenants of the switch, with the VLAN that carries each one's VNI there. */
struct carried {
    uint32_t vrf, vlan;
};

/* Starts with vlan 0. Nobody's table is the last one and has no VNI: there it ends. */
static bool next_carried(const struct sonic_net *net, uint32_t device, struct carried *at)
{
    at->vrf = vrf_next(net->vrfs, device, at->vlan ? at->vrf + 1 : 0);
    at->vlan = at->vlan ? at->vlan + 1 : FIRST_VLAN;
    return at->vrf != MYR_NONE && vrf_has_vni(net->vrfs, at->vrf);
}

static const char *vlan_name(struct myr_buf *text, uint32_t vlan)
{
    text->len = 0;
    myr_buf_printf(text, "Vlan%u", vlan);
    return text->data;
}

/* A tenant's table, and the VLAN that carries its VNI on this switch. */
static void put_vrfs(struct sonic_net *net, uint32_t device)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_json_object(net->json, "VRF");
    EACH_VRF(net->vrfs, device, v)
    {
        text.len = 0;
        vrf_put_name(net->vrfs, v, &text);
        myr_json_object(net->json, text.data);
        if (vrf_has_vni(net->vrfs, v)) {
            put_number(net, "vni", VRF_FIRST_VNI + v);
        }
        myr_json_end(net->json);
    }
    myr_json_end(net->json);
    myr_json_object(net->json, "VLAN");
    /* Tenants that have a VNI, in the same order each time. */
    for (struct carried at = {}; next_carried(net, device, &at);) {
        myr_json_object(net->json, vlan_name(&text, at.vlan));
        put_number(net, "vlanid", at.vlan);
        myr_json_end(net->json);
    }
    myr_json_end(net->json);
    myr_json_object(net->json, "VLAN_INTERFACE");
    for (struct carried at = {}; next_carried(net, device, &at);) {
        myr_json_object(net->json, vlan_name(&text, at.vlan));
        put_vrf_name(net, at.vrf);
        myr_json_end(net->json);
    }
    myr_json_end(net->json);
}

/* The tunnel between leaves, and which VLAN carries which VNI in it. */
static void put_tunnel(struct sonic_net *net, uint32_t device)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_json_object(net->json, "VXLAN_TUNNEL");
    myr_json_object(net->json, "vtep");
    /* The loopback: it stays when a link dies. */
    put_address(net, "src_ip", myr_address_of_device(net->addresses, device));
    myr_json_end(net->json);
    myr_json_end(net->json);
    myr_json_object(net->json, "VXLAN_EVPN_NVO");
    myr_json_object(net->json, "nvo");
    myr_json_text(net->json, "source_vtep", "vtep");
    myr_json_end(net->json);
    myr_json_end(net->json);
    myr_json_object(net->json, "VXLAN_TUNNEL_MAP");
    for (struct carried at = {}; next_carried(net, device, &at);) {
        text.len = 0;
        myr_buf_printf(&text, "vtep|map_%u_Vlan%u", VRF_FIRST_VNI + at.vrf, at.vlan);
        myr_json_object(net->json, text.data);
        myr_json_text(net->json, "vlan", vlan_name(&text, at.vlan));
        put_number(net, "vni", VRF_FIRST_VNI + at.vrf);
        myr_json_end(net->json);
    }
    myr_json_end(net->json);
}

void sonic_net_put(struct sonic_net *net, uint32_t device)
{
    put_interfaces(net, device);
    if (!net->vrfs->used) {
        put_neighbours(net, device);
        /* Spines have no hosts, and no tables: they only pass EVPN's routes on. */
    } else if (vrf_next(net->vrfs, device, 0) != MYR_NONE) {
        put_vrfs(net, device);
        put_tunnel(net, device);
    }
}
