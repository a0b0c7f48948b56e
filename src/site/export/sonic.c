#include "export/acl.h"
#include "export/frr.h"
#include "export/sonic_box.h"
#include "export/sonic_net.h"
#include "export/writers.h"
#include "myriad/site/addresses.h"
#include "myriad/text.h"

/*
 * SONiC: config_db.json of each switch, for lossless RoCE on one class. Hosts mark RoCE with DSCP
 * 26 and its notifications with 48: 26 goes to class 3, the only lossless one, 48 to class 6, which
 * goes first. Class, priority group, queue and PFC priority have one number, at both ends of every
 * link, as every switch gets the same maps.
 *
 * A lossless class needs room for what is under way when it says stop. The box's own table gives
 * it by speed, linear in length; the sum over all ports must fit, or nothing is written.
 */

enum { LOSSLESS = 3, NOTIFY = 6, CLASSES = 8, DSCP_ROCE = 26, DSCP_NOTIFY = 48, DSCPS = 64 };

#define MAP      "ROCE"
#define NUMBER   24
#define NAME_MAX EXPORT_NAME_MAX

struct sonic {
    const struct myr_export *job;
    const struct sonic_box *box;
    const char *what; /* the format, for messages */
    struct myr_addresses addresses;
    struct acl acl;   /* in use where tenants are to be filtered */
    struct vrfs vrfs; /* in use where tenants are to be VRFs */
    struct myr_json json;
    uint64_t headroom;      /* of the present switch: bytes of all its lossless groups */
    struct sonic_rows rows; /* of it: each speed and length that is in use */
};

static const char *number(char text[NUMBER], uint64_t value)
{
    struct myr_buf buf = {};
    myr_buf_put_u64(&buf, value);
    MYR_ASSERT(buf.len < NUMBER);
    memcpy(text, buf.data, buf.len + 1);
    myr_buf_done(&buf);
    return text;
}

static void put_number(struct sonic *sonic, const char *key, uint64_t value)
{
    char text[NUMBER];
    myr_json_text(&sonic->json, key, number(text, value)); /* config_db has text only */
}

/* --- ports */

static const struct myr_port_group *group_of(const struct sonic *sonic, uint32_t port,
                                             uint32_t *ret_cage, uint32_t *ret_in_cage)
{
    const struct myr_design *design = sonic->job->design;
    const struct myr_port_group *group = myr_design_port_group(design, port);
    uint32_t index = port - design->first_port[design->port_device[port]] - group->first;
    *ret_cage = group->first_cage + index / group->per_cage + 1;
    *ret_in_cage = index % group->per_cage;
    return group;
}

/* "Ethernet164": eight numbers a cage. */
static const char *port_name(const struct sonic *sonic, uint32_t port, char text[NAME_MAX])
{
    uint32_t cage, in_cage;
    const struct myr_port_group *group = group_of(sonic, port, &cage, &in_cage);
    struct myr_buf buf = {};
    myr_buf_put_lit(&buf, "Ethernet");
    myr_buf_put_u64(&buf, (cage - 1) * SONIC_LANES_PER_CAGE +
                              in_cage * (SONIC_LANES_PER_CAGE / group->per_cage));
    MYR_ASSERT(buf.len < NAME_MAX);
    memcpy(text, buf.data, buf.len + 1);
    myr_buf_done(&buf);
    return text;
}

/* Cabled ports of this network only; MYR_NONE at the end. */
static uint32_t next_port(const struct sonic *sonic, uint32_t device, uint32_t port)
{
    const struct myr_design *design = sonic->job->design;
    for (; port < design->first_port[device + 1]; port++) {
        if (design->port_link[port] != MYR_NONE &&
            myr_design_port_group(design, port)->net == sonic->job->net) {
            return port;
        }
    }
    return MYR_NONE;
}

#define EACH_PORT(sonic, device, p)                                                       \
    for (uint32_t p = next_port(sonic, device, (sonic)->job->design->first_port[device]); \
         (p) != MYR_NONE; (p) = next_port(sonic, device, (p) + 1))

/*
 * Of 0 Gb/s where the box has none; check_port() has refused that before anything is written.
 */
static struct sonic_headroom headroom_of(const struct sonic *sonic, uint32_t port)
{
    const struct myr_design *design = sonic->job->design;
    uint32_t link = design->port_link[port];
    const struct myr_cabletype *type =
        &design->cabletypes[design->cable_type[design->link_cable[link]]];
    return sonic_headroom_find(sonic->box, type->gbps, type->length_mm);
}

static void put_lanes(const struct sonic *sonic, uint32_t port, struct myr_buf *buf)
{
    uint32_t cage, in_cage;
    const struct myr_port_group *group = group_of(sonic, port, &cage, &in_cage);
    uint32_t first = sonic_first_lane(sonic->box, cage, in_cage, group->per_cage);
    for (uint32_t i = 0; i < SONIC_LANES_PER_CAGE / group->per_cage; i++) {
        myr_buf_puts(buf, i ? "," : "");
        myr_buf_put_u64(buf, first + i);
    }
}

static void put_port(struct sonic *sonic, uint32_t port)
{
    const struct myr_design *design = sonic->job->design;
    char name[NAME_MAX];
    uint32_t cage, in_cage, peer = myr_design_peer(design, port);
    const struct myr_port_group *group = group_of(sonic, port, &cage, &in_cage);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_json_object(&sonic->json, port_name(sonic, port, name));
    put_lanes(sonic, port, &text);
    myr_json_text(&sonic->json, "lanes", text.data);
    text.len = 0;
    myr_buf_printf(&text, "etp%u", cage);
    if (group->per_cage > 1) {
        myr_buf_putc(&text, (char)('a' + (int)in_cage));
    }
    myr_json_text(&sonic->json, "alias", text.data);
    put_number(sonic, "index", cage);
    put_number(sonic, "speed", (uint64_t)headroom_of(sonic, port).gbps * 1000);
    put_number(sonic, "mtu", 9100);
    myr_json_text(&sonic->json, "fec", "rs");
    myr_json_text(&sonic->json, "admin_status", "up");
    text.len = 0;
    myr_site_name(design, design->port_device[peer], &text);
    myr_buf_putc(&text, ' ');
    myr_design_port_name(design, peer, &text);
    myr_json_text(&sonic->json, "description", text.data);
    myr_json_end(&sonic->json);
}

/* A table of one row a port, or of rows "port|suffix" that have one field. */
static void put_port_rows(struct sonic *sonic, uint32_t device, const char *suffix,
                          const char *field, const char *value)
{
    char name[NAME_MAX], key[NAME_MAX + 8];
    EACH_PORT(sonic, device, p)
    {
        struct myr_buf buf = {};
        myr_buf_puts(&buf, port_name(sonic, p, name));
        myr_buf_puts(&buf, suffix);
        MYR_ASSERT(buf.len < sizeof(key));
        memcpy(key, buf.data, buf.len + 1);
        myr_buf_done(&buf);
        myr_json_object(&sonic->json, key);
        if (field) {
            myr_json_text(&sonic->json, field, value);
        }
        myr_json_end(&sonic->json);
    }
}

/* --- buffers */

static void put_profile_name(const struct sonic_headroom *row, struct myr_buf *buf)
{
    buf->len = 0;
    myr_buf_printf(buf, "pg_lossless_%u_%um_profile", row->gbps * 1000, row->length_m);
}

/* The rest of the buffer, or all of it where headroom lies in a pool of its own. */
static void put_pools(struct sonic *sonic)
{
    const struct sonic_box *box = sonic->box;
    myr_json_object(&sonic->json, "BUFFER_POOL");
    myr_json_object(&sonic->json, "ingress_lossless_pool");
    myr_json_text(&sonic->json, "type", "ingress");
    myr_json_text(&sonic->json, "mode", "dynamic");
    put_number(sonic, "size",
               box->xoff_bytes_max ? box->buffer_bytes : box->buffer_bytes - sonic->headroom);
    if (box->xoff_bytes_max) {
        put_number(sonic, "xoff", sonic->headroom);
    }
    myr_json_end(&sonic->json);
    myr_json_object(&sonic->json, "egress_lossless_pool");
    myr_json_text(&sonic->json, "type", "egress");
    myr_json_text(&sonic->json, "mode", "dynamic");
    put_number(sonic, "size", box->buffer_bytes);
    myr_json_end(&sonic->json);
    myr_json_end(&sonic->json);
}

static void put_profile(struct sonic *sonic, const char *name, const char *pool,
                        const char *threshold)
{
    myr_json_object(&sonic->json, name);
    myr_json_text(&sonic->json, "pool", pool);
    myr_json_text(&sonic->json, "size", "0");
    myr_json_text(&sonic->json, "dynamic_th", threshold);
    myr_json_end(&sonic->json);
}

/* Only what some port of this switch needs. */
static void put_profiles(struct sonic *sonic)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_json_object(&sonic->json, "BUFFER_PROFILE");
    put_profile(sonic, "ingress_lossless_profile", "ingress_lossless_pool", "7");
    put_profile(sonic, "ingress_lossy_profile", "ingress_lossless_pool", "3");
    put_profile(sonic, "egress_lossless_profile", "egress_lossless_pool", "7");
    put_profile(sonic, "egress_lossy_profile", "egress_lossless_pool", "3");
    for (size_t i = 0; i < sonic->rows.count; i++) {
        const struct sonic_headroom *row = &sonic->rows.items[i];
        put_profile_name(row, &name);
        myr_json_object(&sonic->json, name.data);
        myr_json_text(&sonic->json, "pool", "ingress_lossless_pool");
        put_number(sonic, "size", row->size);
        put_number(sonic, "xon", row->xon);
        put_number(sonic, "xoff", row->xoff);
        if (row->xon_offset) {
            put_number(sonic, "xon_offset", row->xon_offset);
        }
        myr_json_text(&sonic->json, "dynamic_th", "0");
        myr_json_end(&sonic->json);
    }
    myr_json_end(&sonic->json);
}

/* Lengths, pools, profiles, then what each port and queue has of them. */
static void put_groups(struct sonic *sonic, uint32_t device)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char name[NAME_MAX];
    myr_json_object(&sonic->json, "CABLE_LENGTH");
    myr_json_object(&sonic->json, "AZURE");
    EACH_PORT(sonic, device, p)
    {
        text.len = 0;
        myr_buf_printf(&text, "%um", headroom_of(sonic, p).length_m);
        myr_json_text(&sonic->json, port_name(sonic, p, name), text.data);
    }
    myr_json_end(&sonic->json);
    myr_json_end(&sonic->json);
    put_pools(sonic);
    put_profiles(sonic);
    myr_json_object(&sonic->json, "BUFFER_PG");
    put_port_rows(sonic, device, "|0", "profile", "ingress_lossy_profile");
    EACH_PORT(sonic, device, p)
    {
        MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
        myr_buf_printf(&key, "%s|%d", port_name(sonic, p, name), LOSSLESS);
        struct sonic_headroom row = headroom_of(sonic, p);
        put_profile_name(&row, &text);
        myr_json_object(&sonic->json, key.data);
        myr_json_text(&sonic->json, "profile", text.data);
        myr_json_end(&sonic->json);
    }
    myr_json_end(&sonic->json);
    myr_json_object(&sonic->json, "BUFFER_QUEUE");
    put_port_rows(sonic, device, "|0-2", "profile", "egress_lossy_profile");
    put_port_rows(sonic, device, "|3", "profile", "egress_lossless_profile");
    put_port_rows(sonic, device, "|4-7", "profile", "egress_lossy_profile");
    myr_json_end(&sonic->json);
    myr_json_object(&sonic->json, "BUFFER_PORT_INGRESS_PROFILE_LIST");
    put_port_rows(sonic, device, "", "profile_list",
                  "ingress_lossless_profile,ingress_lossy_profile");
    myr_json_end(&sonic->json);
    myr_json_object(&sonic->json, "BUFFER_PORT_EGRESS_PROFILE_LIST");
    put_port_rows(sonic, device, "", "profile_list",
                  "egress_lossless_profile,egress_lossy_profile");
    myr_json_end(&sonic->json);
}

/* --- classes */

static void put_map(struct sonic *sonic, const char *table, uint32_t count,
                    uint32_t (*to)(uint32_t from))
{
    char key[NUMBER];
    myr_json_object(&sonic->json, table);
    myr_json_object(&sonic->json, MAP);
    for (uint32_t i = 0; i < count; i++) {
        put_number(sonic, number(key, i), to(i));
    }
    myr_json_end(&sonic->json);
    myr_json_end(&sonic->json);
}

static uint32_t class_of_dscp(uint32_t dscp)
{
    return dscp == DSCP_ROCE ? LOSSLESS : dscp == DSCP_NOTIFY ? NOTIFY : 0;
}

static uint32_t group_of_class(uint32_t class)
{
    return class == LOSSLESS ? LOSSLESS : 0;
}

static uint32_t itself(uint32_t value)
{
    return value;
}

static void put_schedulers(struct sonic *sonic)
{
    myr_json_object(&sonic->json, "SCHEDULER");
    myr_json_object(&sonic->json, "scheduler.lossy");
    myr_json_text(&sonic->json, "type", "DWRR");
    myr_json_text(&sonic->json, "weight", "14");
    myr_json_end(&sonic->json);
    myr_json_object(&sonic->json, "scheduler.lossless");
    myr_json_text(&sonic->json, "type", "DWRR");
    myr_json_text(&sonic->json, "weight", "15");
    myr_json_end(&sonic->json);
    myr_json_object(&sonic->json, "scheduler.notify");
    myr_json_text(&sonic->json, "type", "STRICT");
    myr_json_end(&sonic->json);
    myr_json_end(&sonic->json);
}

/* SONiC's own marks: from 1 to 2 MiB, up to 5 %. */
static void put_wred(struct sonic *sonic)
{
    static const char *const colours[] = {"green", "yellow", "red"};
    static const struct {
        const char *what, *value;
    } fields[] = {
        {"_min_threshold", "1048576"}, {"_max_threshold", "2097152"}, {"_drop_probability", "5"}};
    MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
    myr_json_object(&sonic->json, "WRED_PROFILE");
    myr_json_object(&sonic->json, MAP);
    myr_json_text(&sonic->json, "ecn", "ecn_all");
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(colours); i++) {
        key.len = 0;
        myr_buf_printf(&key, "wred_%s_enable", colours[i]);
        myr_json_text(&sonic->json, key.data, "true");
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(fields); k++) {
            key.len = 0;
            myr_buf_puts(&key, colours[i]);
            myr_buf_puts(&key, fields[k].what);
            myr_json_text(&sonic->json, key.data, fields[k].value);
        }
    }
    myr_json_end(&sonic->json);
    myr_json_end(&sonic->json);
}

/* All but the last queue get a scheduler. */
static void put_queues(struct sonic *sonic, uint32_t device)
{
    char name[NAME_MAX];
    myr_json_object(&sonic->json, "QUEUE");
    EACH_PORT(sonic, device, p)
    {
        for (uint32_t q = 0; q < CLASSES - 1; q++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf key = {};
            myr_buf_printf(&key, "%s|%u", port_name(sonic, p, name), q);
            myr_json_object(&sonic->json, key.data);
            myr_json_text(&sonic->json, "scheduler",
                          q == LOSSLESS ? "scheduler.lossless"
                          : q == NOTIFY ? "scheduler.notify"
                                        : "scheduler.lossy");
            if (q == LOSSLESS) {
                myr_json_text(&sonic->json, "wred_profile", MAP);
            }
            myr_json_end(&sonic->json);
        }
    }
    myr_json_end(&sonic->json);
}

/* Maps first, then queues, then which port uses which. */
static void put_classes(struct sonic *sonic, uint32_t device)
{
    static const char *const maps[] = {"dscp_to_tc_map", "tc_to_pg_map", "tc_to_queue_map",
                                       "pfc_to_queue_map"};
    char name[NAME_MAX];
    put_map(sonic, "DSCP_TO_TC_MAP", DSCPS, class_of_dscp);
    put_map(sonic, "TC_TO_PRIORITY_GROUP_MAP", CLASSES, group_of_class);
    put_map(sonic, "TC_TO_QUEUE_MAP", CLASSES, itself);
    put_map(sonic, "MAP_PFC_PRIORITY_TO_QUEUE", CLASSES, itself);
    put_schedulers(sonic);
    put_wred(sonic);
    put_queues(sonic, device);
    myr_json_object(&sonic->json, "PORT_QOS_MAP");
    EACH_PORT(sonic, device, p)
    {
        myr_json_object(&sonic->json, port_name(sonic, p, name));
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(maps); i++) {
            myr_json_text(&sonic->json, maps[i], MAP);
        }
        put_number(sonic, "pfc_enable", LOSSLESS);
        put_number(sonic, "pfcwd_sw_enable", LOSSLESS);
        myr_json_end(&sonic->json);
    }
    myr_json_end(&sonic->json);
    myr_json_object(&sonic->json, "PFC_WD");
    myr_json_object(&sonic->json, "GLOBAL");
    put_number(sonic, "POLL_INTERVAL", 200);
    myr_json_end(&sonic->json);
    EACH_PORT(sonic, device, p)
    {
        myr_json_object(&sonic->json, port_name(sonic, p, name));
        myr_json_text(&sonic->json, "action", "drop");
        put_number(sonic, "detection_time", 400);
        put_number(sonic, "restoration_time", 2000);
        myr_json_end(&sonic->json);
    }
    myr_json_end(&sonic->json);
}

/* --- the switch */

static void put_metadata(struct sonic *sonic, uint32_t device)
{
    const struct myr_design *design = sonic->job->design;
    const struct myr_network *net = &design->networks[sonic->job->net];
    const struct myr_port_group *group = &design->devtypes[design->device_type[device]].groups[0];
    bool leaf = device - net->first_leaf < net->leaf;
    bool core = net->core && device >= net->first_core;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_json_object(&sonic->json, "DEVICE_METADATA");
    myr_json_object(&sonic->json, "localhost");
    myr_site_name(design, device, &text);
    myr_json_text(&sonic->json, "hostname", text.data);
    myr_json_text(&sonic->json, "platform", sonic->box->platform);
    myr_json_text(&sonic->json, "hwsku",
                  group->per_cage > 1 ? sonic->box->sku_split : sonic->box->sku);
    /* SONiC's words for the tiers, from below. */
    myr_json_text(&sonic->json, "type", leaf ? "ToRRouter" : core ? "SpineRouter" : "LeafRouter");
    put_number(sonic, "bgp_asn", myr_address_asn(&sonic->addresses, device));
    if (sonic->vrfs.used) { /* BGP from the frr.conf beside it, not from tables */
        myr_json_text(&sonic->json, "docker_routing_config_mode", "split-unified");
    }
    myr_json_end(&sonic->json);
    myr_json_end(&sonic->json);
}

/* What the box can be told of a port at all. */
static int check_port(const struct sonic *sonic, uint32_t port, struct myr_err *err)
{
    const struct myr_design *design = sonic->job->design;
    uint32_t cage, in_cage, link = design->port_link[port];
    const struct myr_port_group *group = group_of(sonic, port, &cage, &in_cage);
    const struct myr_cabletype *type =
        &design->cabletypes[design->cable_type[design->link_cable[link]]];
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    if (cage <= sonic->box->cages && SONIC_LANES_PER_CAGE % group->per_cage == 0 &&
        headroom_of(sonic, port).gbps) {
        return MYR_OK;
    }
    myr_design_name(design, design->port_device[port], &name);
    myr_buf_putc(&name, ':');
    myr_design_port_name(design, port, &name);
    if (cage > sonic->box->cages || SONIC_LANES_PER_CAGE % group->per_cage) {
        return myr_err_set(err, MYR_EINVAL, "%s: %s has %u cages of 8 lanes", name.data,
                           sonic->what, sonic->box->cages);
    }
    return myr_err_set(err, MYR_EINVAL,
                       "%s: no headroom is known to %s for %u Gb/s over %u m; expected 100, 200, "
                       "400 or 800 Gb/s, up to 300 m",
                       name.data, sonic->what, type->gbps, (type->length_mm + 999) / 1000);
}

/* The sum of what all lossless groups may have to hold after they said stop. */
static int check_buffer(struct sonic *sonic, uint32_t device, struct myr_err *err)
{
    const struct sonic_box *box = sonic->box;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    sonic->headroom = 0;
    sonic->rows.count = 0;
    EACH_PORT(sonic, device, p)
    {
        MYR_TRY(check_port(sonic, p, err));
        struct sonic_headroom row = headroom_of(sonic, p);
        sonic->headroom += box->xoff_bytes_max ? row.xoff : row.size;
        sonic_rows_add(&sonic->rows, row);
    }
    uint64_t most = box->xoff_bytes_max ? box->xoff_bytes_max : box->buffer_bytes;
    if (sonic->headroom <= most) {
        return MYR_OK;
    }
    myr_design_name(sonic->job->design, device, &name);
    int rc = myr_err_set(err, MYR_EINFEASIBLE,
                         "%s: the lossless class needs %llu bytes of headroom, the box has %llu",
                         name.data, (unsigned long long)sonic->headroom, (unsigned long long)most);
    myr_err_hint(err, "shorter cables, or fewer ports in use");
    return rc;
}

static const char *named(const void *context, uint32_t port, char *text)
{
    return port_name(context, port, text);
}

static void sonic_done(struct sonic *sonic)
{
    vrfs_done(&sonic->vrfs);
    myr_vec_done(&sonic->rows);
    acl_done(&sonic->acl);
}

/* Default tables are all that SONiC's own templates of BGP know: with VRFs it gets FRR's file. */
static int put_frr(struct sonic *sonic, const struct myr_export_sink *sink, uint32_t device,
                   struct myr_err *err)
{
    MYR_CLEANUP(frr_done) struct frr frr = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    if (!sonic->vrfs.used) {
        return MYR_OK;
    }
    frr_init(&frr, sonic->job, &sonic->addresses, &sonic->vrfs);
    frr.name = named;
    frr.context = sonic;
    frr_put_device(&frr, device);
    myr_site_name(sonic->job->design, device, &name);
    myr_buf_put_lit(&name, "/frr.conf");
    return export_put(sink, name.data, &frr.text, err);
}

static int put_switch(struct sonic *sonic, const struct myr_export_sink *sink, uint32_t device,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    /* Before the first line is written. */
    MYR_TRY(check_buffer(sonic, device, err));
    myr_json_init(&sonic->json, &text, MYR_JSON_PRETTY);
    myr_json_object(&sonic->json, NULL);
    put_metadata(sonic, device);
    myr_json_object(&sonic->json, "PORT");
    EACH_PORT(sonic, device, p)
    {
        put_port(sonic, p);
    }
    myr_json_end(&sonic->json);
    put_groups(sonic, device);
    put_classes(sonic, device);
    struct sonic_net net = {sonic->job, &sonic->addresses, &sonic->vrfs, named,
                            sonic,      &sonic->json};
    sonic_net_put(&net, device);
    MYR_TRY(acl_put(&sonic->acl, &sonic->json, device, named, sonic, err));
    myr_json_end(&sonic->json);
    myr_buf_putc(&text, '\n');
    myr_site_name(sonic->job->design, device, &name);
    myr_buf_put_lit(&name, "/config_db.json");
    MYR_TRY(export_put(sink, name.data, &text, err));
    return put_frr(sonic, sink, device, err);
}

static int put_all(const struct myr_export *job, const struct myr_export_sink *sink,
                   const struct sonic_box *box, const char *what, struct myr_err *err)
{
    const struct myr_network *net = &job->design->networks[job->net];
    if (export_technology(job, job->net) == MYR_TECH_INFINIBAND) {
        int rc = myr_err_set(err, MYR_EINVAL, "the %s network is InfiniBand, SONiC is of Ethernet",
                             myr_net_names[job->net]);
        myr_err_hint(err, "myriad export opensm");
        return rc;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(sonic_done) struct sonic sonic = {.job = job, .box = box, .what = what};
    myr_arena_init(&arena);
    MYR_TRY(myr_addresses_init(&sonic.addresses, &arena, job->design, job->net, err));
    MYR_TRY(acl_init(&sonic.acl, &arena, job, &sonic.addresses, err));
    struct myr_export apart = *job; /* filters or VRFs, never both */
    apart.tenants = job->vrf ? job->tenants : NULL;
    MYR_TRY(vrfs_init(&sonic.vrfs, &arena, &apart, err));
    for (uint32_t i = 0; i < net->leaf + net->spine + net->core; i++) {
        MYR_TRY(put_switch(&sonic, sink, net->first_leaf + i, err));
    }
    return MYR_OK;
}

int export_sonic_sn5600(const struct myr_export *job, const struct myr_export_sink *sink,
                        struct myr_err *err)
{
    return put_all(job, sink, &sonic_sn5600, "SN5600", err);
}

int export_sonic_z9864f(const struct myr_export *job, const struct myr_export_sink *sink,
                        struct myr_err *err)
{
    return put_all(job, sink, &sonic_z9864f, "Z9864F", err);
}
