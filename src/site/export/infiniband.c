#include <stdlib.h>

#include "export/writers.h"
#include "guids.h"
#include "routing/engine.h"

/*
 * InfiniBand: the fabric as ibnetdiscover prints it, which is also what ibsim loads, and the files
 * that OpenSM wants about it. Switches come first, then NICs (ibsim: the other way round), each in
 * order of GUID: that is the design's order for GUIDs made from it, and it does not depend on who
 * mentioned whom first.
 */

/* One line of a device's stanza: its port and what is there. */
struct line {
    uint32_t device, port; /* as InfiniBand counts them */
    uint32_t peer, peer_port;
    uint32_t link; /* of the cabling */
};

/* By number of the port, as ibnetdiscover prints them; two links at one port keep their order. */
static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    return a->link < b->link ? -1 : a->link > b->link;
}

static const struct myr_cabling_device *device_at(const struct myr_cabling *cabling, uint32_t index)
{
    MYR_ASSERT(index < cabling->devices.count);
    return &cabling->devices.items[index];
}

struct order {
    const struct myr_cabling *cabling;
    bool nics_first; /* as ibsim wants it */
};

/* Devices without a GUID, from sources that have none, are told apart by name and place. */
static int compare_devices(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    const struct myr_cabling_device *a = device_at(order->cabling, i);
    const struct myr_cabling_device *b = device_at(order->cabling, j);
    /* Kinds first, then GUIDs. */
    if (a->is_switch != b->is_switch) {
        return a->is_switch != order->nics_first ? -1 : 1;
    }
    if (a->guid != b->guid) {
        return a->guid < b->guid ? -1 : 1;
    }
    int by_name = myr_str_cmp(a->name, b->name);
    return by_name ? by_name : (i < j ? -1 : i > j);
}

/* Found cablings may hold names where InfiniBand has numbers. */
static int port_number(const struct myr_cabling *cabling, struct myr_cabling_end end, uint32_t *ret,
                       struct myr_err *err)
{
    uint64_t number;
    if (!myr_str_to_u64(end.port, &number) || number > UINT8_MAX) {
        struct myr_str name = device_at(cabling, end.device)->name;
        return myr_err_set(err, MYR_EINVAL,
                           "port '%.*s' of '%.*s': InfiniBand ports are numbers up to 255",
                           (int)end.port.len, end.port.data, (int)name.len, name.data);
    }
    *ret = (uint32_t)number;
    return MYR_OK;
}

/* The stanzas of all devices in one array, those of device d at first[d] .. first[d + 1] - 1. */
struct stanzas {
    struct line *lines;
    uint32_t *first;
};

static void put_line(struct stanzas *stanzas, uint32_t *next, struct line line)
{
    uint32_t at = next[line.device]++;
    MYR_ASSERT(at < stanzas->first[line.device + 1]);
    stanzas->lines[at] = line;
}

/* Every link is a line at each end that tells of it. */
static int fill_stanzas(const struct myr_cabling *cabling, struct stanzas *stanzas, uint32_t *next,
                        struct myr_err *err)
{
    for (uint32_t i = 0; i < cabling->links.count; i++) {
        const struct myr_cabling_link *link = &cabling->links.items[i];
        uint32_t port_a, port_b;
        MYR_TRY(port_number(cabling, link->a, &port_a, err));
        MYR_TRY(port_number(cabling, link->b, &port_b, err));
        put_line(stanzas, next, (struct line){link->a.device, port_a, link->b.device, port_b, i});
        /* The other side did not tell of it, and gets no line. */
        if (!link->one_sided) {
            put_line(stanzas, next,
                     (struct line){link->b.device, port_b, link->a.device, port_a, i});
        }
    }
    return MYR_OK;
}

/* Counts, then fills: each device's lines are in a row, sorted by port. */
static int stanzas_init(struct stanzas *stanzas, struct myr_arena *arena,
                        const struct myr_cabling *cabling, struct myr_err *err)
{
    uint32_t devices = (uint32_t)cabling->devices.count;
    stanzas->first = MYR_ARENA_NEW(arena, uint32_t, (size_t)devices + 1);
    stanzas->lines = MYR_ARENA_NEW(arena, struct line, 2 * cabling->links.count);
    for (size_t i = 0; i < cabling->links.count; i++) {
        const struct myr_cabling_link *link = &cabling->links.items[i];
        stanzas->first[link->a.device + 1]++;
        stanzas->first[link->b.device + 1] += !link->one_sided;
    }
    for (uint32_t d = 0; d < devices; d++) {
        stanzas->first[d + 1] += stanzas->first[d];
    }
    /* Where the next line of each device goes. */
    uint32_t *next = MYR_ARENA_NEW(arena, uint32_t, (size_t)devices + 1);
    memcpy(next, stanzas->first, ((size_t)devices + 1) * sizeof(uint32_t));
    int rc = fill_stanzas(cabling, stanzas, next, err);
    for (uint32_t d = 0; rc == MYR_OK && d < devices; d++) {
        uint32_t count = stanzas->first[d + 1] - stanzas->first[d];
        if (count > 1) {
            qsort(stanzas->lines + stanzas->first[d], count, sizeof(struct line), compare_lines);
        }
    }
    return rc;
}

static void put_hex(struct myr_buf *buf, uint64_t value, uint32_t digits)
{
    static const char hex[] = "0123456789abcdef";
    char text[16];
    for (uint32_t i = digits; i-- > 0; value >>= 4) {
        text[i] = hex[value & 15];
    }
    myr_buf_put(buf, text, digits);
}

/* "S-0000000000000001": what the lines of other devices refer to. */
static void put_id(struct myr_buf *buf, const struct myr_cabling_device *device)
{
    myr_buf_put_lit(buf, "\"");
    myr_buf_putc(buf, device->is_switch ? 'S' : 'H');
    myr_buf_putc(buf, '-');
    put_hex(buf, device->guid, 16);
    myr_buf_putc(buf, '"');
}

static void put_quoted(struct myr_buf *buf, struct myr_str name)
{
    myr_buf_putc(buf, '"');
    myr_buf_put(buf, name.data, name.len);
    myr_buf_putc(buf, '"');
}

/* "4xNDR". Nothing when the speed is not known, as ibsim takes any line without it. */
static void put_speed(struct myr_buf *buf, const struct myr_cabling_link *link,
                      enum myr_netlist kind)
{
    static const struct {
        uint32_t lane_mbps;
        const char *name;
    } speeds[] = {{2500, "SDR"},  {5000, "DDR"},  {10000, "QDR"},  {14000, "FDR"},
                  {25000, "EDR"}, {50000, "HDR"}, {100000, "NDR"}, {200000, "XDR"}};
    /* The last one that ibsim has a name for. */
    enum { HDR = 5 };
    /* Four lanes unless the source says otherwise. */
    uint32_t width = link->width ? link->width : 4;
    uint64_t lane_mbps = (uint64_t)link->gbps * 1000 / width;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(speeds); i++) {
        if (speeds[i].lane_mbps == lane_mbps) {
            uint32_t shown = kind == MYR_NETLIST_IBSIM && i > HDR ? HDR : i;
            myr_buf_putc(buf, ' ');
            myr_buf_put_u64(buf, width);
            myr_buf_putc(buf, 'x');
            myr_buf_puts(buf, speeds[shown].name);
            return;
        }
    }
}

/* A switch has the node's GUID again in brackets, for its port 0. */
static void put_head(struct myr_buf *buf, const struct myr_cabling_device *device)
{
    myr_buf_puts(buf, device->is_switch ? "\nswitchguid=0x" : "\ncaguid=0x");
    put_hex(buf, device->guid, 16);
    if (device->is_switch) {
        myr_buf_putc(buf, '(');
        put_hex(buf, device->guid, 16);
        myr_buf_putc(buf, ')');
    }
    myr_buf_puts(buf, device->is_switch ? "\nSwitch\t" : "\nCa\t");
    myr_buf_put_u64(buf, device->port_count);
    myr_buf_putc(buf, ' ');
    put_id(buf, device);
    myr_buf_put_lit(buf, "\t\t# ");
    put_quoted(buf, device->name);
    myr_buf_puts(buf, device->is_switch ? " enhanced port 0 lid 0 lmc 0\n" : "\n");
}

/* Where it is not known, a NIC's port has the GUID after its node's, as in ibsim. */
static void put_port_guid(struct myr_buf *buf, const struct myr_cabling_device *device,
                          uint32_t port)
{
    if (!device->is_switch) {
        /* Of a card with several ports only one GUID is kept. */
        bool known = device->port_guid && device->port_count <= 1;
        myr_buf_putc(buf, '(');
        put_hex(buf, known ? device->port_guid : device->guid + port, 16);
        myr_buf_put_lit(buf, ") ");
    }
}

/* LIDs are given by a subnet manager, and are 0 here. */
static void put_port(struct myr_buf *buf, const struct myr_cabling *cabling,
                     const struct line *line, enum myr_netlist kind)
{
    const struct myr_cabling_device *device = device_at(cabling, line->device);
    const struct myr_cabling_device *peer = device_at(cabling, line->peer);
    myr_buf_putc(buf, '[');
    myr_buf_put_u64(buf, line->port);
    myr_buf_putc(buf, ']');
    put_port_guid(buf, device, line->port);
    myr_buf_putc(buf, '\t');
    put_id(buf, peer);
    myr_buf_putc(buf, '[');
    myr_buf_put_u64(buf, line->peer_port);
    myr_buf_putc(buf, ']');
    put_port_guid(buf, peer, line->peer_port);
    myr_buf_puts(buf, device->is_switch ? "\t\t# " : "\t\t# lid 0 lmc 0 ");
    put_quoted(buf, peer->name);
    myr_buf_put_lit(buf, " lid 0");
    put_speed(buf, &cabling->links.items[line->link], kind);
    myr_buf_putc(buf, '\n');
}

static void put_devices(const struct myr_cabling *cabling, enum myr_netlist kind,
                        const struct stanzas *stanzas, struct myr_arena *arena, struct myr_buf *buf)
{
    uint32_t devices = (uint32_t)cabling->devices.count;
    uint32_t *sorted = MYR_ARENA_NEW(arena, uint32_t, devices);
    /* ibsim wants NICs first. */
    struct order order = {cabling, kind == MYR_NETLIST_IBSIM};
    for (uint32_t d = 0; d < devices; d++) {
        sorted[d] = d;
    }
    qsort_r(sorted, devices, sizeof(uint32_t), compare_devices, &order);
    for (uint32_t i = 0; i < devices; i++) {
        uint32_t device = sorted[i];
        put_head(buf, device_at(cabling, device));
        for (uint32_t l = stanzas->first[device]; l < stanzas->first[device + 1]; l++) {
            put_port(buf, cabling, &stanzas->lines[l], kind);
        }
    }
}

int myr_write_ibnetdiscover(const struct myr_cabling *cabling, enum myr_netlist kind,
                            struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct stanzas stanzas = {};
    myr_arena_init(&arena);
    MYR_TRY(stanzas_init(&stanzas, &arena, cabling, err));
    myr_buf_put_lit(ret, "#\n# Topology file\n#\n");
    if (kind == MYR_NETLIST_IBSIM) {
        myr_buf_put_lit(ret, "# Links faster than HDR are written as HDR: the simulator knows "
                             "no other name.\n");
    }
    put_devices(cabling, kind, &stanzas, &arena, ret);
    return MYR_OK;
}

/* The job's cabling as InfiniBand sees it, with the real GUIDs where they are bound. */
static void ib_cabling(const struct myr_export *job, struct myr_cabling *cabling,
                       struct myr_arena *arena)
{
    const struct myr_design *design = job->design;
    myr_cabling_init(cabling, arena);
    myr_cabling_from_design(cabling, design, job->net, MYR_NIC_AS_DEVICE);
    if (!job->binding) {
        return;
    }
    /* Links were made in the design's order, so that both lists are walked side by side. */
    size_t at = 0;
    for (uint32_t i = 0; i < design->link_count; i++) {
        uint32_t type = design->cable_type[design->link_cable[i]];
        if (design->cabletypes[type].net != job->net) {
            continue;
        }
        const struct myr_cabling_link *link = &cabling->links.items[at++];
        const uint32_t ports[] = {design->link_a[i], design->link_b[i]};
        const uint32_t devices[] = {link->a.device, link->b.device};
        for (uint32_t end = 0; end < 2; end++) {
            struct myr_cabling_device *device = &cabling->devices.items[devices[end]];
            /* A device comes up once a link; it gets the same GUID each time. */
            device->guid = guids_node(design, job->binding, ports[end]);
            device->port_guid = guids_port(design, job->binding, ports[end]);
        }
    }
    MYR_ASSERT(at == cabling->links.count);
}

/* What the catalogue does not know is taken as it is asked for. */
static int check_infiniband(const struct myr_export *job, const char *what, struct myr_err *err)
{
    if (export_technology(job, job->net) != MYR_TECH_ETHERNET) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "the %s network is Ethernet, %s is of InfiniBand",
                         myr_net_names[job->net], what);
    myr_err_hint(err, "myriad export frr, or p2p and netbox for its cables");
    return rc;
}

static int put_netlist(const struct myr_export *job, const struct myr_export_sink *sink,
                       enum myr_netlist kind, const char *name, struct myr_err *err)
{
    /* Before any work is done. */
    MYR_TRY(check_infiniband(job, kind == MYR_NETLIST_IBSIM ? "ibsim" : "ibnetdiscover", err));
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_cabling_done) struct myr_cabling cabling;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_arena_init(&arena);
    ib_cabling(job, &cabling, &arena);
    MYR_TRY(myr_write_ibnetdiscover(&cabling, kind, &text, err));
    return export_put(sink, name, &text, err);
}

int export_ibnetdiscover(const struct myr_export *job, const struct myr_export_sink *sink,
                         struct myr_err *err)
{
    return put_netlist(job, sink, MYR_NETLIST_IBNETDISCOVER, "fabric.topo", err);
}

int export_ibsim(const struct myr_export *job, const struct myr_export_sink *sink,
                 struct myr_err *err)
{
    return put_netlist(job, sink, MYR_NETLIST_IBSIM, "fabric.net", err);
}

static void put_guid_line(struct myr_buf *buf, uint64_t guid)
{
    myr_buf_put_lit(buf, "0x");
    put_hex(buf, guid, 16);
    myr_buf_putc(buf, '\n');
}

/* Roots of the up/down order: the highest tier. Networks without tiers have none. */
static void put_roots(struct myr_buf *buf, const struct myr_export *job)
{
    const struct myr_design *design = job->design;
    const struct myr_network *net = &design->networks[job->net];
    /* The highest tier that there is. */
    uint32_t first = net->core ? net->first_core : net->spine ? net->first_spine : net->first_leaf;
    uint32_t count = net->core ? net->core : net->spine ? net->spine : net->leaf;
    for (uint32_t d = first; engine_has_roots(net) && d < first + count; d++) {
        put_guid_line(buf, guids_node(design, job->binding, design->first_port[d]));
    }
}

/* Ports of hosts on this network: those of GPU nodes, or all the others. */
static void put_host_ports(struct myr_buf *buf, const struct myr_export *job, bool nodes)
{
    const struct myr_design *design = job->design;
    for (uint32_t link = 0; link < design->link_count; link++) {
        /* Hosts are at end a of their links. */
        uint32_t port = design->link_a[link];
        const struct myr_port_group *group = myr_design_port_group(design, port);
        bool is_node = design->place[design->port_device[port]].kind == MYR_DEVICE_NODE;
        if (group->role == MYR_PORT_NIC && group->net == job->net && is_node == nodes) {
            put_guid_line(buf, guids_port(design, job->binding, port));
        }
    }
}

/* What switches and cards are called in the output of tools, instead of their descriptions. */
static void put_name_map(struct myr_buf *buf, const struct myr_cabling *cabling)
{
    for (uint32_t i = 0; i < cabling->devices.count; i++) {
        const struct myr_cabling_device *device = device_at(cabling, i);
        myr_buf_put_lit(buf, "0x");
        put_hex(buf, device->guid, 16);
        myr_buf_putc(buf, ' ');
        put_quoted(buf, device->name);
        myr_buf_putc(buf, '\n');
    }
}

/* Hands a list over; without a line it is no file, as OpenSM takes an empty one for an error. */
static int put_list(const struct myr_export_sink *sink, const char *name, struct myr_buf *text,
                    const char **ret_file, struct myr_err *err)
{
    *ret_file = text->len ? name : NULL;
    return text->len ? export_put(sink, name, text, err) : MYR_OK;
}

static int put_torus(const struct myr_export *job, const struct myr_export_sink *sink,
                     struct myr_arena *arena, const char **ret_file, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_graph graph;
    /* Only this engine wants a file of its own. */
    if (job->design->networks[job->net].topology != MYR_TOPOLOGY_TORUS) {
        return MYR_OK;
    }
    MYR_TRY(myr_graph_init(&graph, arena, job->design, job->net, err));
    return engine_put_torus(&graph, job->binding, &text)
               ? put_list(sink, "torus-2QoS.conf", &text, ret_file, err)
               : MYR_OK;
}

int export_opensm(const struct myr_export *job, const struct myr_export_sink *sink,
                  struct myr_err *err)
{
    MYR_TRY(check_infiniband(job, "OpenSM", err));
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_cabling_done) struct myr_cabling cabling;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}; /* export_put clears it for the next */
    struct engine_files files = {};
    myr_arena_init(&arena);
    ib_cabling(job, &cabling, &arena);
    /* One file after the other; the settings come last and name those that are there. */
    put_roots(&text, job);
    MYR_TRY(put_list(sink, "root_guids.txt", &text, &files.roots, err));
    put_host_ports(&text, job, true);
    MYR_TRY(put_list(sink, "cn_guids.txt", &text, &files.compute, err));
    put_host_ports(&text, job, false);
    MYR_TRY(put_list(sink, "io_guids.txt", &text, &files.others, err));
    put_name_map(&text, &cabling);
    MYR_TRY(put_list(sink, "node-name-map", &text, &files.names, err));
    MYR_TRY(put_torus(job, sink, &arena, &files.torus, err));
    engine_put_options(&job->design->networks[job->net], &files, &text);
    return export_put(sink, "opensm.conf", &text, err);
}
