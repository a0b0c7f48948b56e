#include "export/writers.h"
#include "myriad/text.h"

/*
 * NetBox: one CSV file a table, in the order in which they must be imported. Column names are those
 * of its import forms (4.x). Cables that split are one row a leg: import forms know no cable with
 * more than two ends; legs of one cable have the same label.
 */

struct netbox {
    const struct myr_export *job;
    const struct myr_export_sink *sink;
    struct myr_buf text;
};

/* By enum myr_device_kind, as the colours below. */
static const char *const role_titles[MYR_DEVICE_KIND_COUNT] = {
    "GPU node",        "Leaf switch",    "Spine switch",       "Core switch",
    "Router switch",   "Access switch",  "Aggregation switch", "Storage server",
    "Management node", "Fabric manager", "Rack PDU",           "Cooling unit"};

static const char *site_name(const struct netbox *box)
{
    return myr_design_str(box->job->design, box->job->design->head->name);
}

/* Lower case and digits; what is between them becomes one dash. Never empty. */
static void put_slug(struct myr_buf *buf, const char *text)
{
    size_t begin = buf->len;
    bool gap = false;
    for (; *text; text++) {
        char c = *text;
        bool upper = c >= 'A' && c <= 'Z';
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!upper && !plain) {
            gap = true;
            continue;
        }
        if (gap && buf->len > begin) {
            myr_buf_putc(buf, '-');
        }
        gap = false;
        myr_buf_putc(buf, upper ? (char)(c - 'A' + 'a') : c);
    }
    if (buf->len == begin) {
        myr_buf_put_lit(buf, "cluster");
    }
}

static void put_field(struct myr_buf *buf, const char *text, char end)
{
    myr_csv_put(buf, myr_str_from(text));
    myr_buf_putc(buf, end);
}

/* NetBox insists on a manufacturer. */
static const char *vendor_of(const struct myr_part *part)
{
    return part && part->vendor && part->vendor[0] ? part->vendor : "unknown";
}

/* The order number where the catalogue knows one; else the part's name; else the role. */
static const char *model_of(const struct netbox *box, uint32_t device)
{
    const struct myr_design *design = box->job->design;
    const struct myr_part *part = export_part(box->job, device);
    const char *id = myr_design_str(design, design->devtypes[design->device_type[device]].part);
    if (part && part->order && part->order[0]) {
        return part->order;
    }
    return id[0] ? id : role_titles[design->place[device].kind];
}

static bool port_wanted(const struct netbox *box, uint32_t port)
{
    return box->job->net == MYR_NET_COUNT ||
           myr_design_port_group(box->job->design, port)->net == box->job->net;
}

/* Devices with ports on the wanted networks. */
static bool device_wanted(const struct netbox *box, uint32_t device)
{
    const struct myr_design *design = box->job->design;
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    /* By type: devices of one type have the same networks. */
    for (uint32_t g = 0; g < type->group_count; g++) {
        if (box->job->net == MYR_NET_COUNT || type->groups[g].net == box->job->net) {
            return true;
        }
    }
    return false;
}

/* Hands over the text so far and begins anew. */
static int put_table(struct netbox *box, const char *name, struct myr_err *err)
{
    return export_put(box->sink, name, &box->text, err);
}

/* Manufacturers and types are said once each, in the order in which devices need them. */
static int put_types(struct netbox *box, struct myr_err *err)
{
    const struct myr_design *design = box->job->design;
    /* Two tables grow side by side: one walk over the devices is enough. */
    MYR_CLEANUP(myr_buf_done) struct myr_buf types = {};
    MYR_CLEANUP(myr_strmap_done) struct myr_strmap vendors = {};
    MYR_CLEANUP(myr_strmap_done) struct myr_strmap models = {};
    myr_buf_put_lit(&box->text, "name,slug\n");
    myr_buf_put_lit(&types, "manufacturer,model,slug,part_number,u_height\n");
    for (uint32_t d = 0; d < design->device_count; d++) {
        if (!device_wanted(box, d)) {
            continue;
        }
        const struct myr_part *part = export_part(box->job, d);
        const char *vendor = vendor_of(part), *model = model_of(box, d);
        if (myr_strmap_add(&vendors, myr_str_from(vendor), d)) {
            put_field(&box->text, vendor, ',');
            put_slug(&box->text, vendor);
            myr_buf_putc(&box->text, '\n');
        }
        /* Models are told apart by name alone. */
        if (myr_strmap_add(&models, myr_str_from(model), d)) {
            put_field(&types, vendor, ',');
            put_field(&types, model, ',');
            put_slug(&types, model);
            myr_buf_putc(&types, ',');
            put_field(&types, model, ',');
            uint32_t units = part && part->rack_units >= 1 ? (uint32_t)part->rack_units : 1;
            units = design->place[d].kind >= MYR_DEVICE_PDU ? 0 : units; /* behind or beside */
            myr_buf_put_u64(&types, units);
            myr_buf_putc(&types, '\n');
        }
    }
    MYR_TRY(put_table(box, "manufacturers.csv", err));
    return export_put(box->sink, "device-types.csv", &types, err);
}

/* As it is called everywhere: on the floor plan, in racks.csv of the plan, in orders. */
static void put_rack(struct netbox *box, uint32_t rack)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_rack_name(box->job->design, rack, &name);
    myr_csv_put(&box->text, (struct myr_str){name.data, name.len});
}

/* What others refer to: the site, the roles, the racks. */
static int put_frame(struct netbox *box, struct myr_err *err)
{
    /* RRGGBB, as NetBox wants it. */
    static const char *const colors[MYR_DEVICE_KIND_COUNT] = {
        "4caf50", "2196f3", "3f51b5", "9c27b0", "2196f3", "607d8b",
        "607d8b", "ff9800", "9e9e9e", "9e9e9e", "795548", "00bcd4"};
    const struct myr_design *design = box->job->design;
    myr_buf_put_lit(&box->text, "name,slug,status\n");
    put_field(&box->text, site_name(box), ',');
    put_slug(&box->text, site_name(box));
    myr_buf_put_lit(&box->text, ",planned\n");
    MYR_TRY(put_table(box, "sites.csv", err));
    myr_buf_put_lit(&box->text, "name,slug,color\n");
    for (uint32_t kind = 0; kind < MYR_DEVICE_KIND_COUNT; kind++) {
        put_field(&box->text, role_titles[kind], ',');
        put_slug(&box->text, role_titles[kind]);
        myr_buf_printf(&box->text, ",%s\n", colors[kind]);
    }
    MYR_TRY(put_table(box, "device-roles.csv", err));
    myr_buf_put_lit(&box->text, "site,name,status,u_height\n");
    for (uint32_t i = 0; i < design->rack_count; i++) {
        put_field(&box->text, site_name(box), ',');
        put_rack(box, i);
        myr_buf_printf(&box->text, ",planned,%u\n", design->racks[i].units);
    }
    return put_table(box, "racks.csv", err);
}

/* The place in the rack is left out: only the rack is named. */
static int put_devices(struct netbox *box, struct myr_err *err)
{
    const struct myr_design *design = box->job->design;
    myr_buf_put_lit(&box->text, "name,role,manufacturer,device_type,status,site,rack\n");
    for (uint32_t d = 0; d < design->device_count; d++) {
        if (!device_wanted(box, d)) {
            continue;
        }
        /* Designs without a room have no racks. */
        uint32_t rack = design->device_rack[d];
        myr_site_name(design, d, &box->text);
        myr_buf_putc(&box->text, ',');
        put_field(&box->text, role_titles[design->place[d].kind], ',');
        put_field(&box->text, vendor_of(export_part(box->job, d)), ',');
        put_field(&box->text, model_of(box, d), ',');
        myr_buf_put_lit(&box->text, "planned,");
        put_field(&box->text, site_name(box), ',');
        if (rack != MYR_NONE) {
            put_rack(box, rack);
        }
        myr_buf_putc(&box->text, '\n');
    }
    return put_table(box, "devices.csv", err);
}

/* NetBox's word for an interface of that speed. */
static const char *interface_type(enum myr_technology technology, uint32_t gbps)
{
    static const struct {
        uint32_t gbps;
        const char *infiniband, *ethernet;
    } types[] = {
        {1, "other", "1000base-t"},
        {10, "infiniband-sdr", "10gbase-x-sfpp"},
        {25, "other", "25gbase-x-sfp28"},
        {40, "infiniband-qdr", "40gbase-x-qsfpp"},
        {50, "other", "50gbase-x-sfp56"},
        {100, "infiniband-edr", "100gbase-x-qsfp28"},
        {200, "infiniband-hdr", "200gbase-x-qsfp56"},
        {400, "infiniband-ndr", "400gbase-x-osfp"},
        {800, "infiniband-xdr", "800gbase-x-osfp"},
    };
    /* An unknown technology is "other" at any speed. */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(types) && technology != MYR_TECH_ANY; i++) {
        if (types[i].gbps == gbps) {
            return technology == MYR_TECH_INFINIBAND ? types[i].infiniband : types[i].ethernet;
        }
    }
    return "other";
}

/* Ports without a cable are there too, and switched off. */
static int put_interfaces(struct netbox *box, struct myr_err *err)
{
    const struct myr_design *design = box->job->design;
    enum myr_technology technology[MYR_NET_COUNT];
    for (uint32_t net = 0; net < MYR_NET_COUNT; net++) {
        /* Asked once a network, not once a port. */
        technology[net] = export_technology(box->job, (enum myr_net_id)net);
    }
    myr_buf_put_lit(&box->text, "device,name,type,enabled,speed\n");
    for (uint32_t p = 0; p < design->port_count; p++) {
        if (!port_wanted(box, p)) {
            continue;
        }
        const struct myr_port_group *group = myr_design_port_group(design, p);
        myr_site_name(design, design->port_device[p], &box->text);
        myr_buf_putc(&box->text, ',');
        myr_design_port_name(design, p, &box->text);
        myr_buf_putc(&box->text, ',');
        myr_buf_puts(&box->text, interface_type(technology[group->net], group->gbps));
        myr_buf_puts(&box->text, design->port_link[p] == MYR_NONE ? ",false," : ",true,");
        myr_buf_put_u64(&box->text, (uint64_t)group->gbps * 1000000); /* kbit/s */
        myr_buf_putc(&box->text, '\n');
    }
    return put_table(box, "interfaces.csv", err);
}

static int put_cables(struct netbox *box, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_cabling_done) struct myr_cabling cabling;
    myr_arena_init(&arena);
    export_cabling(box->job, &cabling, &arena);
    myr_write_netbox_cables(&cabling, &box->text);
    return put_table(box, "cables.csv", err);
}

static void netbox_done(struct netbox *box)
{
    myr_buf_done(&box->text);
}

/* In the order in which NetBox must import them: each names rows of the ones before. */
int export_netbox(const struct myr_export *job, const struct myr_export_sink *sink,
                  struct myr_err *err)
{
    MYR_CLEANUP(netbox_done) struct netbox box = {.job = job, .sink = sink};
    MYR_TRY(put_frame(&box, err));
    MYR_TRY(put_types(&box, err));
    MYR_TRY(put_devices(&box, err));
    MYR_TRY(put_interfaces(&box, err));
    return put_cables(&box, err);
}
