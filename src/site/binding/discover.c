#include "hosts/hosts.h"

/*
 * From what was found to a binding. A device is bound to the place that its name or the wiring says
 * it has; where the two contradict each other, nothing is bound unless the caller wants the wiring
 * to decide, for a wrong binding hides the mistake that it was made from.
 */

struct discoverer {
    struct myr_binding *binding;
    const struct myr_verify *verify;
    struct myr_discovery *report;
    bool by_wiring;            /* cables decide where names contradict them */
    struct myr_strmap names;   /* of found devices, to a place in 'uses' */
    MYR_VEC(uint32_t) uses;    /* by name: devices that have it */
    struct myr_u64map wired;   /* InfiniBand's NICs that cables alone place: to the port */
    struct myr_u64map renamed; /* places of hosts that are called as other ones */
};

/* Cards and switches that nobody named all have the name of their maker: that is no host name. */
static void count_names(struct discoverer *d)
{
    const struct myr_cabling *cabling = d->verify->cabling;
    for (uint32_t i = 0; i < cabling->devices.count; i++) {
        struct myr_str name = cabling->devices.items[i].name;
        if (name.len && myr_strmap_add(&d->names, name, (uint32_t)d->uses.count)) {
            myr_vec_push(&d->uses, 0);
        }
        if (name.len) {
            uint32_t at = myr_strmap_get(&d->names, name);
            MYR_ASSERT(at < d->uses.count);
            d->uses.items[at]++;
        }
    }
}

static bool is_unique_name(const struct discoverer *d, struct myr_str name)
{
    uint32_t at = name.len ? myr_strmap_get(&d->names, name) : MYR_MAP_NONE;
    return at < d->uses.count && d->uses.items[at] == 1;
}

/*
 * Only the first conflict is kept for the message; the others are counted. What was known already
 * is not counted as bound.
 */
static void add(struct discoverer *d, const struct myr_bound *bound)
{
    uint32_t row, before = (uint32_t)d->binding->rows.count;
    if (!myr_binding_add(d->binding, bound, &row)) {
        d->report->conflicts++;
        if (d->report->conflict_row == MYR_NONE) {
            d->report->conflict_row = row;
            d->report->conflict = *bound;
        }
        return;
    }
    MYR_ASSERT(d->binding->rows.count - before <= 1);
    d->report->bound += d->binding->rows.count > before;
}

/* The same place on the device that it really is. */
static uint32_t renamed_port(const struct discoverer *d, uint32_t port)
{
    const struct myr_design *design = d->verify->design;
    uint32_t device = design->port_device[port];
    uint32_t other = d->verify->renames ? d->verify->renames[device] : MYR_NONE;
    return other == MYR_NONE ? port : port - design->first_port[device] + design->first_port[other];
}

/* Renames are of whole devices: any port of one tells. */
static bool is_renamed(const struct discoverer *d, uint32_t port)
{
    return renamed_port(d, port) != port ||
           myr_u64map_find(&d->renamed, d->verify->design->port_device[port]);
}

/* The name is worth keeping when it is not the one that the design gives. */
static bool is_own_name(const struct discoverer *d, struct myr_str name, uint32_t port, bool nic)
{
    const struct myr_design *design = d->verify->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf own = {};
    myr_site_name(design, design->port_device[port], &own);
    if (nic) {
        myr_buf_putc(&own, '-');
        myr_design_port_name(design, port, &own);
    }
    return myr_str_eq(name, (struct myr_str){own.data, own.len}) ||
           myr_site_find(design, name) == design->port_device[port];
}

/* What a NIC's name says of its host: whose it is, and what the host calls it. */
static void add_host(struct discoverer *d, struct myr_bound *nic, uint32_t found)
{
    const struct myr_verify *verify = d->verify;
    const struct myr_cabling_device *device = &verify->cabling->devices.items[found];
    struct myr_str host, name;
    struct myr_buf own MYR_CLEANUP(myr_buf_done) = {};
    if (verify->host_group[found] == MYR_NONE || !hosts_split(device->name, &host, &name)) {
        return;
    }
    myr_design_port_name(verify->design, nic->port, &own);
    /* What the design calls it anyway need not be kept. */
    nic->name = myr_str_eq(name, (struct myr_str){own.data, own.len}) ? MYR_STR("") : name;
    /* Only names that the design does not give to this very place are worth keeping. */
    if (myr_site_find(verify->design, host) != nic->device) {
        struct myr_bound whole = {.device = nic->device, .port = MYR_NONE, .host = host};
        add(d, &whole);
    }
}

/* Whose NIC it is may be known where its rail is not. */
static void add_host_alone(struct discoverer *d, uint32_t found)
{
    const struct myr_verify *verify = d->verify;
    struct myr_str host, name;
    if (verify->nodes[found] != MYR_NONE && verify->host_group[found] != MYR_NONE &&
        (d->by_wiring || !myr_u64map_find(&d->renamed, verify->nodes[found])) &&
        hosts_split(verify->cabling->devices.items[found].name, &host, &name) &&
        myr_site_find(verify->design, host) != verify->nodes[found]) {
        struct myr_bound whole = {.device = verify->nodes[found], .port = MYR_NONE, .host = host};
        add(d, &whole);
    }
}

/* One found device: bound, or counted among those that are not. */
static void add_device(struct discoverer *d, uint32_t found)
{
    const struct myr_cabling_device *device = &d->verify->cabling->devices.items[found];
    const struct myr_design *design = d->verify->design;
    struct myr_port_span place = d->verify->places[found];
    const uint32_t *wired = place.count ? NULL : myr_u64map_find(&d->wired, found);
    bool by_cable = d->verify->by_cable[found] || wired;
    place = wired ? (struct myr_port_span){*wired, 1} : place;
    /* What only a NIC's own cable says of it would make every cable right for ever. */
    if (place.count == 0 || (by_cable && !d->by_wiring)) {
        d->report->unknown++;
        d->report->by_cable += by_cable;
        add_host_alone(d, found);
        return;
    }
    if (is_renamed(d, place.first) && !d->by_wiring) {
        d->report->contradicted++;
        return;
    }
    /* Where it really is, when cables decide. */
    uint32_t first = renamed_port(d, place.first);
    MYR_ASSERT(first < design->port_count);
    /* InfiniBand finds every NIC as a device of its own; other sources find whole hosts. */
    bool nic = d->verify->cabling->numbered && !device->is_switch;
    struct myr_bound bound = {.device = design->port_device[first],
                              .port = nic ? first : MYR_NONE,
                              .guid = device->guid,
                              .port_guid = nic ? device->port_guid : 0};
    if (!nic) {
        uint64_t mac;
        bound.mac = device->mac.len && myr_mac_parse(device->mac, &mac) ? mac : 0;
        bound.address = device->address;
        /* A switch that nobody named shows its MAC address as its name. */
        bool own = !is_unique_name(d, device->name) || is_own_name(d, device->name, first, nic) ||
                   myr_mac_parse(device->name, &mac);
        bound.host = own ? MYR_STR("") : device->name;
    } else {
        add_host(d, &bound, found);
    }
    /* A row that says nothing is not written. */
    if (bound.guid || bound.mac || bound.host.len || bound.address.len || bound.name.len) {
        add(d, &bound);
    }
}

/* What systems call ports, when the design calls them otherwise and the cable proves which. */
static void add_port_name(struct discoverer *d, struct myr_cabling_end end, uint32_t port)
{
    const struct myr_design *design = d->verify->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf own = {};
    if (is_renamed(d, port) && !(d->by_wiring && renamed_port(d, port) == port)) {
        return;
    }
    myr_design_port_name(design, port, &own);
    if (!myr_str_eq(end.port, (struct myr_str){own.data, own.len})) {
        struct myr_bound bound = {
            .device = design->port_device[port], .port = port, .name = end.port};
        add(d, &bound);
    }
}

/* Only cables that are where the plan has them prove what a port is called. */
static void add_port_names(struct discoverer *d)
{
    const struct myr_verify *verify = d->verify;
    for (uint32_t p = 0; p < verify->design->port_count; p++) {
        bool right = verify->state[p] == MYR_STATE_RIGHT || verify->state[p] == MYR_STATE_DEGRADED;
        if (!right || verify->found[p] != verify->plan[p]) {
            continue;
        }
        const struct myr_cabling_link *link = &verify->cabling->links.items[verify->found_link[p]];
        /* Which of the cable's ends this port is. */
        struct myr_port_span place = verify->places[link->a.device];
        bool is_a = p - place.first < place.count;
        /* LLDP guesses at far ports: only what a device says of itself is proof. */
        if (is_a || !link->one_sided) {
            add_port_name(d, is_a ? link->a : link->b, p);
        }
    }
}

/* What cables alone say: NICs that are devices are placed with them, ports get their names. */
static void take_wiring(struct discoverer *d)
{
    const struct myr_verify *verify = d->verify;
    for (uint32_t i = 0; i < verify->wired_count; i++) {
        const struct myr_wired *row = &verify->wired[i];
        if (verify->cabling->numbered) {
            (void)myr_u64map_add(&d->wired, row->end.device, row->port);
        } else if (d->by_wiring) {
            add_port_name(d, row->end, row->port);
        } else {
            d->report->by_cable_ports++;
        }
    }
}

static void discoverer_done(struct discoverer *d)
{
    myr_u64map_done(&d->wired);
    myr_u64map_done(&d->renamed);
    myr_strmap_done(&d->names);
    myr_vec_done(&d->uses);
}

void myr_binding_discover(struct myr_binding *binding, const struct myr_verify *verify,
                          bool by_wiring, struct myr_discovery *ret)
{
    *ret = (struct myr_discovery){.devices = (uint32_t)verify->cabling->devices.count,
                                  .conflict_row = MYR_NONE,
                                  .verify = verify};
    MYR_CLEANUP(discoverer_done)
    struct discoverer d = {
        .binding = binding, .verify = verify, .report = ret, .by_wiring = by_wiring};
    count_names(&d);
    MYR_ASSERT(d.names.count == d.uses.count);
    take_wiring(&d);
    for (uint32_t i = 0; i < verify->renamed_count; i++) {
        (void)myr_u64map_add(&d.renamed, verify->renamed[i].is, 1);
    }
    for (uint32_t found = 0; found < verify->cabling->devices.count; found++) {
        /* In the order of the sources: the first of two that want one place gets it. */
        if (!verify->listed[found]) {
            add_device(&d, found);
        }
    }
    /* Where ports are found by number, they have no names to learn. */
    if (!verify->cabling->numbered) {
        add_port_names(&d);
    }
}
