#include "myriad/model/catalog.h"

#include <stdio.h>
#include <stdlib.h>

#include "catalog_data.h"
#include "fields.h"

const char *const myr_net_names[MYR_NET_COUNT] = {"compute", "storage", "service", "oob"};

static const char *const technology_names[] = {"infiniband", "ethernet", "any"};
static const char *const medium_names[] = {"copper", "multimode", "singlemode"};
static const char *const breakout_names[] = {"splitter", "module"};

#define BIG 1e9

/* Longer names are refused, so that a look-up can lower them on the stack. */
enum { NAME_BYTES_MAX = 96 };

/* Read apart from the struct, because they shape the catalogue rather than the part. */
struct part_extra {
    const struct myr_doc *aliases, *lengths, *nics;
};

static const struct field common_fields[] = {
    FIELD_ROW_TEXT("order", struct myr_part, order),
    FIELD_ROW_TEXT("title", struct myr_part, title),
    FIELD_ROW_TEXT("vendor", struct myr_part, vendor),
    FIELD_ROW_TEXT("source", struct myr_part, source),
    FIELD_ROW_DOUBLE("watts", struct myr_part, watts, 0, BIG),
    FIELD_ROW_DOUBLE("rack_units", struct myr_part, rack_units, 0, 100),
    FIELD_ROW_DOUBLE("weight_kg", struct myr_part, weight_kg, 0, 1e5),
    FIELD_ROW_BOOL("assumed", struct myr_part, assumed),
};

static const struct field extra_fields[] = {
    FIELD_ROW_NODE("aliases", struct part_extra, aliases),
};

static const struct field cable_extra_fields[] = {
    FIELD_ROW_NODE("aliases", struct part_extra, aliases),
    FIELD_ROW_NODE("lengths_m", struct part_extra, lengths),
};

static const struct field server_extra_fields[] = {
    FIELD_ROW_NODE("aliases", struct part_extra, aliases),
    FIELD_ROW_NODE("nics", struct part_extra, nics),
};

static const struct field switch_fields[] = {
    FIELD_ROW_CHOICE("technology", struct myr_part, sw.technology, technology_names),
    FIELD_ROW_U32("cages", struct myr_part, sw.cages, 1, 1024),
    FIELD_ROW_TEXT("form", struct myr_part, sw.form),
    FIELD_ROW_U32("cage_gbps", struct myr_part, sw.cage_gbps, 1, 100000),
    FIELD_ROW_U32("port_gbps", struct myr_part, sw.port_gbps, 1, 100000),
    FIELD_ROW_SPEEDS("splits", struct myr_part, sw.splits),
    FIELD_ROW_CHOICE("breakout", struct myr_part, sw.breakout, breakout_names),
    FIELD_ROW_U32("uplink_gbps", struct myr_part, sw.uplink_gbps, 1, 100000),
    FIELD_ROW_U32("ports_max", struct myr_part, sw.ports_max, 1, 4096),
    FIELD_ROW_DOUBLE("watts_copper", struct myr_part, sw.watts_copper, 0, BIG),
    FIELD_ROW_DOUBLE("watts_multimode", struct myr_part, sw.watts_multimode, 0, BIG),
    FIELD_ROW_DOUBLE("buffer_mb", struct myr_part, sw.buffer_mb, 0, BIG),
};

static const struct field nic_fields[] = {
    FIELD_ROW_CHOICE("technology", struct myr_part, nic.technology, technology_names),
    FIELD_ROW_TEXT("form", struct myr_part, nic.form),
    FIELD_ROW_TEXT("top", struct myr_part, nic.top),
    FIELD_ROW_U32("cages", struct myr_part, nic.cages, 1, 16),
    FIELD_ROW_U32("cage_ports", struct myr_part, nic.cage_ports, 1, 8),
    FIELD_ROW_U32("port_gbps", struct myr_part, nic.port_gbps, 1, 100000),
    FIELD_ROW_SPEEDS("also", struct myr_part, nic.also),
};

static const struct field gpu_fields[] = {
    FIELD_ROW_DOUBLE("memory_gb", struct myr_part, gpu.memory_gb, 0, BIG),
    FIELD_ROW_DOUBLE("memory_gbytes_per_s", struct myr_part, gpu.memory_gbytes_per_s, 0, BIG),
    FIELD_ROW_DOUBLE("bf16_tflops", struct myr_part, gpu.bf16_tflops, 0, BIG),
    FIELD_ROW_DOUBLE("fp8_tflops", struct myr_part, gpu.fp8_tflops, 0, BIG),
    FIELD_ROW_DOUBLE("fp4_tflops", struct myr_part, gpu.fp4_tflops, 0, BIG),
};

static const struct field server_fields[] = {
    FIELD_ROW_TEXT("gpu", struct myr_part, server.gpu),
    FIELD_ROW_U32("nodes", struct myr_part, server.nodes, 1, 4096),
    FIELD_ROW_U32("gpus_per_node", struct myr_part, server.gpus_per_node, 1, 64),
    FIELD_ROW_U32("rails", struct myr_part, server.rails, 1, 64),
    FIELD_ROW_U32("numa", struct myr_part, server.numa, 1, 16),
    FIELD_ROW_U32("pcie_switches", struct myr_part, server.pcie_switches, 0, 32),
    FIELD_ROW_U32("pcie_gen", struct myr_part, server.pcie_gen, 1, 9),
    FIELD_ROW_U32("scale_up_gpus", struct myr_part, server.scale_up_gpus, 1, 65536),
    FIELD_ROW_U32("scale_up_gbps", struct myr_part, server.scale_up_gbps, 1, 1000000),
    FIELD_ROW_U32("scale_up_switches", struct myr_part, server.scale_up_switches, 0, 4096),
    FIELD_ROW_TEXT("scale_up_kind", struct myr_part, server.scale_up_kind),
    FIELD_ROW_TEXT("dpu", struct myr_part, server.dpu),
};

static const struct field optic_fields[] = {
    FIELD_ROW_TEXT("form", struct myr_part, optic.form),
    FIELD_ROW_TEXT("top", struct myr_part, optic.top),
    FIELD_ROW_TEXT("connector", struct myr_part, optic.connector),
    FIELD_ROW_TEXT("fits", struct myr_part, optic.fits),
    FIELD_ROW_U32("cage_gbps", struct myr_part, optic.cage_gbps, 1, 100000),
    FIELD_ROW_U32("connectors", struct myr_part, optic.connectors, 1, 16),
    FIELD_ROW_U32("port_gbps", struct myr_part, optic.port_gbps, 1, 100000),
    FIELD_ROW_U32("lane_gbps", struct myr_part, optic.lane_gbps, 1, 1000),
    FIELD_ROW_SPEEDS("also", struct myr_part, optic.also),
    FIELD_ROW_CHOICE("medium", struct myr_part, optic.medium, medium_names),
    FIELD_ROW_U32("wavelength_nm", struct myr_part, optic.wavelength_nm, 1, 10000),
    FIELD_ROW_DOUBLE("reach_m", struct myr_part, optic.reach_m, 0.1, 1e6),
};

static const struct field cable_fields[] = {
    FIELD_ROW_CHOICE("medium", struct myr_part, cable.medium, medium_names),
    FIELD_ROW_U32("legs", struct myr_part, cable.legs, 1, 8),
    FIELD_ROW_DOUBLE("length_m", struct myr_part, cable.length_m, 0.1, 1e6),
    FIELD_ROW_TEXT("connector", struct myr_part, cable.connector),
    FIELD_ROW_TEXT("form_b", struct myr_part, cable.form_b),
    FIELD_ROW_BOOL("fixed_ends", struct myr_part, cable.fixed_ends),
    FIELD_ROW_U32("gbps", struct myr_part, cable.gbps, 1, 100000),
};

static const struct field storage_fields[] = {
    FIELD_ROW_U32("disks", struct myr_part, storage.disks, 1, 1000),
    FIELD_ROW_U64("disk_gb", struct myr_part, storage.disk_gb, 1, 1e9),
    FIELD_ROW_TEXT("nic", struct myr_part, storage.nic),
    FIELD_ROW_U32("nic_ports", struct myr_part, storage.nic_ports, 1, 64),
    FIELD_ROW_TEXT("software", struct myr_part, storage.software),
};

static const struct field ethernet_fields[] = {
    FIELD_ROW_U32("access_ports", struct myr_part, eth.access_ports, 1, 1024),
    FIELD_ROW_U32("access_gbps", struct myr_part, eth.access_gbps, 1, 100000),
    FIELD_ROW_U32("uplink_ports", struct myr_part, eth.uplink_ports, 0, 1024),
    FIELD_ROW_U32("uplink_gbps", struct myr_part, eth.uplink_gbps, 1, 100000),
};

struct kind_row {
    const char *section; /* in a catalogue file */
    const char *name;    /* one of them, for messages */
    const struct field *fields;
    uint32_t field_count;
};

#define KIND(section, name, fields)                    \
    {                                                  \
        section, name, fields, MYR_ARRAY_COUNT(fields) \
    }

static const struct kind_row kind_rows[MYR_PART_KIND_COUNT] = {
    [MYR_PART_SWITCH] = KIND("switches", "switch", switch_fields),
    [MYR_PART_NIC] = KIND("nics", "NIC", nic_fields),
    [MYR_PART_GPU] = KIND("gpus", "GPU", gpu_fields),
    [MYR_PART_SERVER] = KIND("servers", "server", server_fields),
    [MYR_PART_TRANSCEIVER] = KIND("transceivers", "transceiver", optic_fields),
    [MYR_PART_CABLE] = KIND("cables", "cable", cable_fields),
    [MYR_PART_STORAGE] = KIND("storage", "storage server", storage_fields),
    [MYR_PART_RACK] = {"racks", "rack", NULL, 0},
    [MYR_PART_ETHERNET] = KIND("ethernet", "Ethernet switch", ethernet_fields),
    [MYR_PART_DEVICE] = {"devices", "device", NULL, 0},
    [MYR_PART_SERVICE] = {"services", "licence or service", NULL, 0},
};

const char *myr_part_kind_name(enum myr_part_kind kind)
{
    return kind_rows[kind].name;
}

static struct myr_str lower_copy(struct myr_arena *arena, struct myr_str text)
{
    char *copy = myr_arena_strndup(arena, text.data, text.len);
    for (size_t i = 0; i < text.len; i++) {
        if (copy[i] >= 'A' && copy[i] <= 'Z') {
            copy[i] = (char)(copy[i] - 'A' + 'a');
        }
    }
    return (struct myr_str){copy, text.len};
}

static struct myr_part part_defaults(enum myr_part_kind kind)
{
    struct myr_part part = {.kind = kind};
    switch (kind) {
    case MYR_PART_NIC:
        part.nic.cages = part.nic.cage_ports = 1;
        part.nic.technology = MYR_TECH_ANY;
        break;
    case MYR_PART_SERVER:
        part.server.nodes = part.server.numa = 1;
        break;
    case MYR_PART_TRANSCEIVER:
        part.optic.connectors = 1;
        break;
    case MYR_PART_CABLE:
        part.cable.legs = 1;
        break;
    default:
        break;
    }
    return part;
}

static int read_nics(struct myr_catalog *catalog, const struct myr_doc *node, struct myr_part *part,
                     struct myr_err *err)
{
    static const struct field nics_fields[] = {
        FIELD_ROW_TEXT("nic", struct myr_server_nics, nic),
        FIELD_ROW_U32("count", struct myr_server_nics, count, 0, 64),
    };
    int r = myr_doc_expect(node, MYR_DOC_MAP, "nics", err);
    if (r == MYR_OK) {
        r = myr_doc_check_keys(node, "nics", myr_net_names, MYR_NET_COUNT, err);
    }
    for (uint32_t net = 0; r == MYR_OK && net < MYR_NET_COUNT; net++) {
        const struct myr_doc *row = myr_doc_get(node, myr_net_names[net]);
        if (row) {
            struct field_table table = {nics_fields, MYR_ARRAY_COUNT(nics_fields),
                                        &part->server.nics[net]};
            r = fields_read(catalog->arena, row, myr_net_names[net], &table, 1, err);
        }
    }
    return r;
}

/* What later code divides by or points through must be there. */
static const char *missing_field(const struct myr_part *part)
{
    switch (part->kind) {
    case MYR_PART_SWITCH:
        return !part->sw.cages       ? "cages"
               : !part->sw.cage_gbps ? "cage_gbps"
               : !part->sw.port_gbps ? "port_gbps"
               : !part->sw.form      ? "form"
                                     : NULL;
    case MYR_PART_NIC:
        return !part->nic.form ? "form" : !part->nic.port_gbps ? "port_gbps" : NULL;
    case MYR_PART_SERVER:
        return !part->server.gpu ? "gpu" : !part->server.gpus_per_node ? "gpus_per_node" : NULL;
    case MYR_PART_TRANSCEIVER:
        return !part->optic.form          ? "form"
               : !part->optic.cage_gbps   ? "cage_gbps"
               : !part->optic.port_gbps   ? "port_gbps"
               : !part->optic.connector   ? "connector"
               : part->optic.reach_m <= 0 ? "reach_m"
                                          : NULL;
    case MYR_PART_CABLE:
        return part->cable.length_m <= 0 ? "length_m" : !part->cable.connector ? "connector" : NULL;
    case MYR_PART_STORAGE:
        return !part->storage.disks ? "disks" : !part->storage.disk_gb ? "disk_gb" : NULL;
    case MYR_PART_ETHERNET:
        return !part->eth.access_ports                            ? "access_ports"
               : !part->eth.access_gbps                           ? "access_gbps"
               : part->eth.uplink_ports && !part->eth.uplink_gbps ? "uplink_gbps"
                                                                  : NULL;
    default:
        return NULL;
    }
}

/*
 * Names stand in specs, in lists for other programs and on labels: they hold nothing that needs
 * quoting anywhere. Letters of other alphabets are welcome.
 */
static bool name_ok(struct myr_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
        if (!letter && !(c >= '0' && c <= '9') && !(c && strchr(".-_+/", c))) {
            return false;
        }
    }
    return name.len > 0;
}

static int add_name(struct myr_catalog *catalog, const struct myr_doc *node, struct myr_str name,
                    uint32_t part, struct myr_err *err)
{
    struct myr_str key = lower_copy(catalog->arena, name);
    uint32_t known = myr_strmap_get(&catalog->names, key);
    if (known == part) {
        return MYR_OK;
    }
    if (known != MYR_MAP_NONE) {
        return myr_doc_error(err, node, MYR_EINVAL, "the name '%.*s' is taken by the %s '%s'",
                             (int)name.len, name.data,
                             myr_part_kind_name(catalog->parts.items[known].kind),
                             catalog->parts.items[known].id);
    }
    if (name.len > NAME_BYTES_MAX) {
        return myr_doc_error(err, node, MYR_ERANGE, "a name of %zu bytes, at most %d are expected",
                             name.len, NAME_BYTES_MAX);
    }
    if (!name_ok(name)) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'%.*s' is no name for a part: letters, digits and . - _ + / are "
                             "expected",
                             (int)name.len, name.data);
    }
    myr_strmap_add(&catalog->names, key, part);
    return MYR_OK;
}

static int add_aliases(struct myr_catalog *catalog, const struct myr_doc *aliases, uint32_t part,
                       struct myr_err *err)
{
    if (!aliases) {
        return MYR_OK;
    }
    int r = myr_doc_expect(aliases, MYR_DOC_LIST, "aliases", err);
    for (uint32_t i = 0; r == MYR_OK && i < aliases->count; i++) {
        struct myr_str name;
        r = myr_doc_text(aliases->items[i], "aliases", &name, err);
        if (r == MYR_OK) {
            r = add_name(catalog, aliases->items[i], name, part, err);
        }
    }
    return r;
}

static uint32_t add_part(struct myr_catalog *catalog, const struct myr_part *part)
{
    myr_vec_push(&catalog->parts, *part);
    return (uint32_t)catalog->parts.count - 1;
}

/* Cables come in stock lengths; each is a part of its own: id-n050, id-n01a for 1.5 m. */
static struct myr_part cable_of_length(struct myr_arena *arena, const struct myr_part *family,
                                       double length_m)
{
    struct myr_part part = *family;
    uint32_t halves = (uint32_t)(length_m * 2 + 0.5);
    const char *suffix = halves % 2 ? myr_arena_printf(arena, "N%02uA", halves / 2)
                                    : myr_arena_printf(arena, "N%03u", halves / 2);
    const char *id = myr_arena_printf(arena, "%s-%s", family->id, suffix);
    part.cable.length_m = halves / 2.0;
    part.id = lower_copy(arena, myr_str_from(id)).data;
    part.order = myr_arena_printf(arena, "%s-%s", family->order, suffix);
    part.title =
        myr_arena_printf(arena, "%s, %u%s m", family->title, halves / 2, halves % 2 ? ".5" : "");
    return part;
}

static int add_lengths(struct myr_catalog *catalog, const struct myr_doc *lengths,
                       const struct myr_part *family, struct myr_err *err)
{
    int r = myr_doc_expect(lengths, MYR_DOC_LIST, "lengths_m", err);
    for (uint32_t i = 0; r == MYR_OK && i < lengths->count; i++) {
        const struct myr_doc *node = lengths->items[i];
        double length_m;
        r = myr_doc_double(node, "lengths_m", 0.5, 99999, &length_m, err);
        if (r < 0) {
            return r;
        }
        struct myr_part part = cable_of_length(catalog->arena, family, length_m);
        const char *missing = missing_field(&part);
        if (missing) {
            return myr_doc_error(err, lengths, MYR_EINVAL, "cable '%s' lacks '%s'", family->id,
                                 missing);
        }
        uint32_t known = myr_strmap_get(&catalog->names, myr_str_from(part.id));
        if (known != MYR_MAP_NONE && catalog->parts.items[known].kind == MYR_PART_CABLE) {
            catalog->parts.items[known] = part;
            continue;
        }
        r = add_name(catalog, node, myr_str_from(part.id), add_part(catalog, &part), err);
    }
    return r;
}

/* A node to complain at, where the key and not the value is meant. */
static struct myr_doc key_place(const struct myr_doc_entry *entry)
{
    struct myr_doc place = *entry->value;
    place.line = entry->key_line;
    place.column = entry->key_column;
    return place;
}

static struct field_table extra_table(enum myr_part_kind kind, struct part_extra *extra)
{
    switch (kind) {
    case MYR_PART_CABLE:
        return (struct field_table){cable_extra_fields, MYR_ARRAY_COUNT(cable_extra_fields), extra};
    case MYR_PART_SERVER:
        return (struct field_table){server_extra_fields, MYR_ARRAY_COUNT(server_extra_fields),
                                    extra};
    default:
        return (struct field_table){extra_fields, MYR_ARRAY_COUNT(extra_fields), extra};
    }
}

static int read_part(struct myr_catalog *catalog, enum myr_part_kind kind,
                     const struct myr_doc_entry *entry, struct myr_err *err)
{
    struct myr_str id = lower_copy(catalog->arena, entry->key);
    uint32_t known = myr_strmap_get(&catalog->names, id);
    bool overrides = known != MYR_MAP_NONE && catalog->parts.items[known].kind == kind;
    struct myr_part part = overrides ? catalog->parts.items[known] : part_defaults(kind);
    struct part_extra extra = {0};
    const struct field_table tables[] = {
        {common_fields, MYR_ARRAY_COUNT(common_fields), &part},
        extra_table(kind, &extra),
        {kind_rows[kind].fields, kind_rows[kind].field_count, &part},
    };
    int r = fields_read(catalog->arena, entry->value, id.data, tables, 3, err);
    if (r == MYR_OK && extra.nics) {
        r = read_nics(catalog, extra.nics, &part, err);
    }
    if (r < 0) {
        return r;
    }
    if (!overrides) {
        part.id = id.data;
        part.order = part.order
                         ? part.order
                         : myr_arena_strndup(catalog->arena, entry->key.data, entry->key.len);
        part.title = part.title ? part.title : part.order;
    }
    struct myr_doc place = key_place(entry);
    if (extra.lengths && extra.aliases) {
        return myr_doc_error(err, extra.aliases, MYR_EINVAL,
                             "a family of cables has no aliases: each length is a part");
    }
    if (extra.lengths) {
        return add_lengths(catalog, extra.lengths, &part, err);
    }
    const char *missing = missing_field(&part);
    if (missing) {
        return myr_doc_error(err, &place, MYR_EINVAL, "%s '%s' lacks '%s'", kind_rows[kind].name,
                             id.data, missing);
    }
    if (overrides) {
        catalog->parts.items[known] = part;
    } else {
        known = add_part(catalog, &part);
        r = add_name(catalog, &place, id, known, err);
    }
    return r < 0 ? r : add_aliases(catalog, extra.aliases, known, err);
}

static int shown_len(struct myr_str name)
{
    return name.len > 40 ? 40 : (int)name.len;
}

enum { NEAR_BYTES = 2 * NAME_BYTES_MAX + 32 };

/*
 * "; did you mean 'a' or 'b'?" or nothing. Names of one kind only, unless 'kind' is
 * MYR_PART_KIND_COUNT: nobody who mistypes a switch means a cable.
 */
static void nearest_part(const struct myr_catalog *catalog, struct myr_str name,
                         enum myr_part_kind kind, char ret[NEAR_BYTES])
{
    MYR_VEC(const char *) names = {0};
    ret[0] = '\0';
    for (uint32_t i = 0; i < catalog->names.count; i++) {
        enum myr_part_kind known = catalog->parts.items[catalog->names.values[i]].kind;
        if (kind == MYR_PART_KIND_COUNT || kind == known) {
            myr_vec_push(&names, catalog->names.keys[i].data);
        }
    }
    char near[2 * NAME_BYTES_MAX + 12];
    myr_str_nearest(name, names.items, names.count, near, sizeof(near));
    if (near[0]) {
        snprintf(ret, NEAR_BYTES, "; did you mean %s?", near);
    }
    myr_vec_done(&names);
}

static int read_amount(const struct myr_doc *node, struct myr_price *ret, struct myr_err *err)
{
    double amount;
    int r = myr_doc_double(node, "price", 0, 1e12, &amount, err);
    if (r == MYR_OK) {
        ret->cents = (int64_t)(amount * 100 + 0.5);
    }
    return r;
}

/* {price: amount, per_servers: n, assumed: true, note: text} */
static int read_price_map(struct myr_catalog *catalog, const struct myr_doc *node,
                          struct myr_price *price, struct myr_err *err)
{
    struct amount_node {
        const struct myr_doc *price;
    } amount = {0};
    static const struct field amount_fields[] = {
        FIELD_ROW_NODE("price", struct amount_node, price),
    };
    static const struct field price_fields[] = {
        FIELD_ROW_U32("per_servers", struct myr_price, per_servers, 1, 1000000),
        FIELD_ROW_BOOL("assumed", struct myr_price, assumed),
        FIELD_ROW_TEXT("note", struct myr_price, note),
    };
    const struct field_table tables[] = {
        {amount_fields, 1, &amount},
        {price_fields, MYR_ARRAY_COUNT(price_fields), price},
    };
    int r = fields_read(catalog->arena, node, "a price", tables, 2, err);
    if (r == MYR_OK && !amount.price) {
        r = myr_doc_error(err, node, MYR_EINVAL, "the price lacks 'price'");
    }
    return r < 0 ? r : read_amount(amount.price, price, err);
}

static int read_price(struct myr_catalog *catalog, const struct myr_doc_entry *entry,
                      struct myr_price *ret, struct myr_err *err)
{
    struct myr_price price = {.part = myr_catalog_find(catalog, entry->key)};
    if (price.part == MYR_PART_NONE) {
        struct myr_doc place = key_place(entry);
        char near[NEAR_BYTES];
        nearest_part(catalog, entry->key, MYR_PART_KIND_COUNT, near);
        return myr_doc_error(err, &place, MYR_ENOENT, "a price for the unknown part '%.*s'%s",
                             shown_len(entry->key), entry->key.data, near);
    }
    int r = entry->value->kind == MYR_DOC_MAP ? read_price_map(catalog, entry->value, &price, err)
                                              : read_amount(entry->value, &price, err);
    if (r == MYR_OK) {
        *ret = price;
    }
    return r;
}

static struct myr_price_book *find_book(struct myr_catalog *catalog, struct myr_str id)
{
    for (size_t i = 0; i < catalog->books.count; i++) {
        if (myr_str_eq_nocase(myr_str_from(catalog->books.items[i].id), id)) {
            return &catalog->books.items[i];
        }
    }
    struct myr_price_book book = {
        .id = myr_arena_strndup(catalog->arena, id.data, id.len),
        .currency = "CNY",
    };
    myr_vec_push(&catalog->books, book);
    return &catalog->books.items[catalog->books.count - 1];
}

static int read_book(struct myr_catalog *catalog, const struct myr_doc_entry *entry,
                     struct myr_err *err)
{
    struct book_parts {
        const struct myr_doc *parts;
    } extra = {0};
    static const struct field book_fields[] = {
        FIELD_ROW_TEXT("title", struct myr_price_book, title),
        FIELD_ROW_TEXT("currency", struct myr_price_book, currency),
        FIELD_ROW_TEXT("date", struct myr_price_book, date),
        FIELD_ROW_TEXT("source", struct myr_price_book, source),
    };
    static const struct field parts_fields[] = {FIELD_ROW_NODE("parts", struct book_parts, parts)};
    struct myr_price_book *book = find_book(catalog, entry->key);
    const struct field_table tables[] = {
        {book_fields, MYR_ARRAY_COUNT(book_fields), book},
        {parts_fields, 1, &extra},
    };
    int r = fields_read(catalog->arena, entry->value, "a price book", tables, 2, err);
    if (r < 0 || !extra.parts) {
        return r;
    }
    r = myr_doc_expect(extra.parts, MYR_DOC_MAP, "parts", err);
    for (uint32_t i = 0; r == MYR_OK && i < extra.parts->count; i++) {
        struct myr_price price = {0};
        r = read_price(catalog, &extra.parts->entries[i], &price, err);
        if (r == MYR_OK) {
            /* A later entry wins: it is put in front of the search by overwriting. */
            struct myr_price *old = (struct myr_price *)myr_price_find(book, price.part);
            if (old) {
                *old = price;
            } else {
                myr_vec_push(&book->prices, price);
            }
        }
    }
    return r;
}

/* A part that another part names must exist, and be of the right kind. */
static int check_reference(const struct myr_catalog *catalog, const struct myr_doc *map,
                           const char *key, enum myr_part_kind kind, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    uint32_t part;
    return node ? myr_catalog_need(catalog, node, key, kind, &part, err) : MYR_OK;
}

/*
 * The references are looked up in the document and not in the parts, so that the complaint can
 * point at the line; and after all of it was read, so that files and parts may stand in any order.
 */
static int check_references(const struct myr_catalog *catalog, const struct myr_doc *doc,
                            struct myr_err *err)
{
    int r = MYR_OK;
    const struct myr_doc *servers = myr_doc_get(doc, kind_rows[MYR_PART_SERVER].section);
    for (uint32_t i = 0; r == MYR_OK && servers && i < servers->count; i++) {
        const struct myr_doc *server = servers->entries[i].value;
        const struct myr_doc *nics = myr_doc_get(server, "nics");
        r = check_reference(catalog, server, "gpu", MYR_PART_GPU, err);
        r = r < 0 ? r : check_reference(catalog, server, "dpu", MYR_PART_NIC, err);
        for (uint32_t net = 0; r == MYR_OK && net < MYR_NET_COUNT; net++) {
            r = check_reference(catalog, myr_doc_get(nics, myr_net_names[net]), "nic", MYR_PART_NIC,
                                err);
        }
    }
    const struct myr_doc *storage = myr_doc_get(doc, kind_rows[MYR_PART_STORAGE].section);
    for (uint32_t i = 0; r == MYR_OK && storage && i < storage->count; i++) {
        const struct myr_doc *server = storage->entries[i].value;
        r = check_reference(catalog, server, "nic", MYR_PART_NIC, err);
        r = r < 0 ? r : check_reference(catalog, server, "software", MYR_PART_SERVICE, err);
    }
    return r;
}

static int add_sections(struct myr_catalog *catalog, const struct myr_doc *doc, bool prices,
                        struct myr_err *err)
{
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct myr_doc_entry *section = &doc->entries[i];
        if ((myr_str_eq(section->key, MYR_STR("prices"))) != prices) {
            continue;
        }
        int r = myr_doc_expect(section->value, MYR_DOC_MAP, "a catalogue section", err);
        for (uint32_t k = 0; r == MYR_OK && k < section->value->count; k++) {
            const struct myr_doc_entry *entry = &section->value->entries[k];
            if (prices) {
                r = read_book(catalog, entry, err);
                continue;
            }
            for (uint32_t kind = 0; kind < MYR_PART_KIND_COUNT; kind++) {
                if (myr_str_eq(section->key, myr_str_from(kind_rows[kind].section))) {
                    r = read_part(catalog, (enum myr_part_kind)kind, entry, err);
                }
            }
        }
        if (r < 0) {
            return r;
        }
    }
    return MYR_OK;
}

static int check_sections(const struct myr_doc *doc, struct myr_err *err)
{
    int r = myr_doc_expect(doc, MYR_DOC_MAP, "a catalogue", err);
    if (r < 0) {
        return r;
    }
    const char *keys[MYR_PART_KIND_COUNT + 2];
    for (uint32_t kind = 0; kind < MYR_PART_KIND_COUNT; kind++) {
        keys[kind] = kind_rows[kind].section;
    }
    keys[MYR_PART_KIND_COUNT] = "prices";
    keys[MYR_PART_KIND_COUNT + 1] = "recovery"; /* read by fit, in the same files */
    return myr_doc_check_keys(doc, "a catalogue", keys, MYR_ARRAY_COUNT(keys), err);
}

/* Parts first: prices and other parts point at them, whatever their order in the files. */
static int add_docs(struct myr_catalog *catalog, const struct myr_doc *const *docs, size_t count,
                    struct myr_err *err)
{
    int r = MYR_OK;
    for (size_t i = 0; r == MYR_OK && i < count; i++) {
        r = check_sections(docs[i], err);
        r = r < 0 ? r : add_sections(catalog, docs[i], false, err);
    }
    for (size_t i = 0; r == MYR_OK && i < count; i++) {
        r = check_references(catalog, docs[i], err);
        r = r < 0 ? r : add_sections(catalog, docs[i], true, err);
    }
    return r;
}

int myr_catalog_add(struct myr_catalog *catalog, const struct myr_doc *doc, struct myr_err *err)
{
    return add_docs(catalog, &doc, 1, err);
}

int myr_catalog_add_file(struct myr_catalog *catalog, const char *path, struct myr_err *err)
{
    const struct myr_doc *doc;
    int r = myr_doc_read_file(catalog->arena, path, &doc, err);
    return r < 0 ? r : myr_catalog_add(catalog, doc, err);
}

int myr_catalog_init(struct myr_catalog *catalog, struct myr_arena *arena, struct myr_err *err)
{
    *catalog = (struct myr_catalog){.arena = arena};
    const struct myr_doc **docs = MYR_ARENA_NEW(arena, const struct myr_doc *, catalog_data_count);
    for (size_t i = 0; i < catalog_data_count; i++) {
        struct myr_str text = {(const char *)catalog_data[i].data, catalog_data[i].size};
        int r = myr_doc_read_yaml(arena, catalog_data[i].name, text, &docs[i], err);
        if (r < 0) {
            return r;
        }
    }
    return add_docs(catalog, docs, catalog_data_count, err);
}

void myr_catalog_done(struct myr_catalog *catalog)
{
    for (size_t i = 0; i < catalog->books.count; i++) {
        myr_vec_done(&catalog->books.items[i].prices);
    }
    myr_vec_done(&catalog->books);
    myr_vec_done(&catalog->parts);
    myr_strmap_done(&catalog->names);
}

uint32_t myr_catalog_find(const struct myr_catalog *catalog, struct myr_str name)
{
    char key[NAME_BYTES_MAX];
    if (name.len > sizeof(key)) {
        return MYR_PART_NONE;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        key[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return myr_strmap_get(&catalog->names, (struct myr_str){key, name.len});
}

int myr_catalog_need(const struct myr_catalog *catalog, const struct myr_doc *node,
                     const char *what, enum myr_part_kind kind, uint32_t *ret, struct myr_err *err)
{
    struct myr_str name;
    int r = myr_doc_text(node, what, &name, err);
    if (r < 0) {
        return r;
    }
    uint32_t part = myr_catalog_find(catalog, name);
    if (part != MYR_PART_NONE && catalog->parts.items[part].kind == kind) {
        *ret = part;
        return MYR_OK;
    }
    char near[NEAR_BYTES];
    nearest_part(catalog, name, kind, near);
    if (part != MYR_PART_NONE) {
        return myr_doc_error(
            err, node, MYR_EINVAL, "'%s' is '%.*s', of kind %s; %s %s is expected%s", what,
            shown_len(name), name.data, myr_part_kind_name(catalog->parts.items[part].kind),
            kind == MYR_PART_ETHERNET ? "an" : "a", myr_part_kind_name(kind), near);
    }
    r = myr_doc_error(err, node, MYR_ENOENT, "unknown %s '%.*s'%s", myr_part_kind_name(kind),
                      shown_len(name), name.data, near);
    myr_err_hint(err, "myriad catalog --kind '%s' lists them", myr_part_kind_name(kind));
    return r;
}

const struct myr_price *myr_price_find(const struct myr_price_book *book, uint32_t part)
{
    for (size_t i = 0; book && i < book->prices.count; i++) {
        if (book->prices.items[i].part == part) {
            return &book->prices.items[i];
        }
    }
    return NULL;
}

uint32_t myr_switch_ports_per_cage(const struct myr_part_switch *sw, uint32_t gbps)
{
    bool can = gbps == sw->port_gbps;
    for (uint32_t i = 0; i < sw->splits.count; i++) {
        can = can || gbps == sw->splits.items[i];
    }
    return can && gbps > 0 && gbps <= sw->cage_gbps ? sw->cage_gbps / gbps : 0;
}

uint32_t myr_switch_radix(const struct myr_part_switch *sw, uint32_t gbps)
{
    uint32_t ports = sw->cages * myr_switch_ports_per_cage(sw, gbps);
    return sw->ports_max && ports > sw->ports_max ? sw->ports_max : ports;
}
