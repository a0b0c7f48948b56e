#include "export/writers.h"
#include "myriad/text.h"

/*
 * Lists of cables: the P2P table of cable checkers, the cable table of NetBox, and the graph of
 * Graphviz and of topology daemons. All are written link by link in the order of the cabling.
 */

/* What hosts are called, where a binding knows it. */
static struct myr_str bound_name(const struct myr_export *job, uint32_t device)
{
    const struct myr_bound *row =
        job->binding && device != MYR_NONE ? myr_binding_get(job->binding, device, MYR_NONE) : NULL;
    return row ? row->host : MYR_STR("");
}

/* MYR_NET_COUNT asks for all networks, one after the other. */
void export_cabling(const struct myr_export *job, struct myr_cabling *cabling,
                    struct myr_arena *arena)
{
    myr_cabling_init(cabling, arena);
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        if (job->net == net || job->net == MYR_NET_COUNT) {
            myr_cabling_from_design(cabling, job->design, (enum myr_net_id)net, MYR_NIC_AS_PORT);
        }
    }
}

static const struct myr_cabling_device *device_of(const struct myr_cabling *cabling,
                                                  struct myr_cabling_end end)
{
    MYR_ASSERT(end.device < cabling->devices.count);
    return &cabling->devices.items[end.device];
}

static void put_p2p_end(struct myr_buf *buf, const struct myr_cabling *cabling,
                        struct myr_cabling_end end)
{
    const struct myr_cabling_device *device = device_of(cabling, end);
    myr_csv_put(buf, device->name);
    myr_buf_puts(buf, device->is_switch ? ",Switch," : ",Host,");
    myr_csv_put(buf, end.port);
}

/* Columns as cable checkers name them. */
void myr_write_p2p(const struct myr_cabling *cabling, struct myr_buf *ret)
{
    myr_buf_put_lit(ret, "A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port\n");
    for (size_t i = 0; i < cabling->links.count; i++) {
        put_p2p_end(ret, cabling, cabling->links.items[i].a);
        myr_buf_putc(ret, ',');
        put_p2p_end(ret, cabling, cabling->links.items[i].b);
        myr_buf_putc(ret, '\n');
    }
}

static void put_netbox_end(struct myr_buf *buf, const struct myr_cabling *cabling,
                           struct myr_cabling_end end)
{
    myr_csv_put(buf, device_of(cabling, end)->name);
    /* What kind of thing the cable ends at. */
    myr_buf_put_lit(buf, ",dcim.interface,");
    myr_csv_put(buf, end.port);
    myr_buf_putc(buf, ',');
}

/* Metres with as many decimals as needed. */
static void put_length(struct myr_buf *buf, uint32_t length_mm)
{
    /* Not known: both the length and its unit stay empty. */
    if (length_mm == 0) {
        myr_buf_putc(buf, ',');
        return;
    }
    myr_buf_put_u64(buf, length_mm / 1000);
    /* Zeros at the end are left out: 2.5, not 2.500. */
    uint32_t rest = length_mm % 1000, digits = 3;
    if (rest) {
        while (rest % 10 == 0) {
            rest /= 10;
            digits--;
        }
        myr_buf_putc(buf, '.');
        myr_buf_put_u64_pad(buf, rest, digits);
    }
    myr_buf_put_lit(buf, ",m");
}

/* The colour is left to the site. */
void myr_write_netbox_cables(const struct myr_cabling *cabling, struct myr_buf *ret)
{
    myr_buf_put_lit(ret, "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,"
                         "side_b_name,type,status,label,color,length,length_unit\n");
    for (size_t i = 0; i < cabling->links.count; i++) {
        const struct myr_cabling_link *link = &cabling->links.items[i];
        /* One row a leg; legs of a cable have one label. */
        put_netbox_end(ret, cabling, link->a);
        put_netbox_end(ret, cabling, link->b);
        myr_csv_put(ret, link->medium);
        myr_buf_put_lit(ret, ",connected,");
        myr_csv_put(ret, link->label);
        myr_buf_put_lit(ret, ",,");
        put_length(ret, link->length_mm);
        myr_buf_putc(ret, '\n');
    }
}

int export_p2p(const struct myr_export *job, const struct myr_export_sink *sink,
               struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_cabling_done) struct myr_cabling cabling;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_arena_init(&arena);
    export_cabling(job, &cabling, &arena);
    for (size_t i = 0; i < cabling.devices.count; i++) {
        struct myr_cabling_device *device = &cabling.devices.items[i];
        struct myr_str name = bound_name(job, myr_site_find(job->design, device->name));
        device->name = name.len ? name : device->name;
    }
    myr_write_p2p(&cabling, &text);
    return export_put(sink, "p2p.csv", &text, err);
}

/* In quotes, as Graphviz reads them: a backslash in front of quotes and of itself. */
static void put_dot_text(struct myr_buf *buf, const char *text)
{
    myr_buf_putc(buf, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            myr_buf_putc(buf, '\\');
        }
        myr_buf_putc(buf, *text);
    }
    myr_buf_putc(buf, '"');
}

/* Names of the design have neither quotes nor backslashes; those that are bound may. */
static void put_dot_end(struct myr_buf *buf, const struct myr_export *job, uint32_t port)
{
    const struct myr_design *design = job->design;
    struct myr_str host = bound_name(job, design->port_device[port]);
    if (host.len) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        myr_buf_put(&name, host.data, host.len);
        put_dot_text(buf, name.data);
    } else {
        myr_buf_putc(buf, '"');
        myr_site_name(design, design->port_device[port], buf);
        myr_buf_putc(buf, '"');
    }
    myr_buf_put_lit(buf, ":\"");
    myr_site_interface(design, port, buf);
    myr_buf_putc(buf, '"');
}

/* Topology daemons look at interfaces, so switch ports are named as their systems name them. */
int export_dot(const struct myr_export *job, const struct myr_export_sink *sink,
               struct myr_err *err)
{
    const struct myr_design *design = job->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_put_lit(&text, "graph ");
    put_dot_text(&text, myr_design_str(design, design->head->name));
    myr_buf_put_lit(&text, " {\n");
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t type = design->cable_type[design->link_cable[link]];
        if (job->net == MYR_NET_COUNT || design->cabletypes[type].net == job->net) {
            put_dot_end(&text, job, design->link_a[link]);
            myr_buf_put_lit(&text, " -- ");
            put_dot_end(&text, job, design->link_b[link]);
            myr_buf_putc(&text, '\n');
        }
    }
    myr_buf_put_lit(&text, "}\n");
    return export_put(sink, "topology.dot", &text, err);
}
