#include "myriad/site/binding.h"

#include <stdlib.h>

#include "myriad/site/cabling.h"
#include "myriad/text.h"

/* binding.yaml: read with a complaint for everything that cannot be so, written in design order. */

static const char *const device_keys[] = {"guid", "mac", "serial", "host", "address", "ports"};
static const char *const port_keys[] = {"guid", "port_guid", "mac", "name", "ifindex"};

/* GUIDs are long hexadecimal numbers; YAML leaves them as text. */
static int read_guid(const struct myr_doc *map, const char *key, uint64_t *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    struct myr_str text;
    if (!node) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_text(node, key, &text, err));
    uint64_t value = 0;
    /* Sixteen digits and "0x" at most; zero is "not known" and cannot be bound. */
    bool good = text.len > 2 && text.len <= 18 && text.data[0] == '0' && text.data[1] == 'x';
    for (size_t i = 2; good && i < text.len; i++) {
        char c = text.data[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 16;
        good = digit < 16;
        value = value << 4 | digit;
    }
    if (!good || value == 0) {
        char excerpt[MYR_EXCERPT_MAX];
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'%s' is '%s', a GUID such as 0x98039b0300a1b2c4 is expected", key,
                             myr_text_excerpt(text, excerpt));
    }
    *ret = value;
    return MYR_OK;
}

/* A key that is not there leaves the number as it is: not known. */
static int read_mac(const struct myr_doc *map, uint64_t *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, "mac");
    struct myr_str text;
    if (!node) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_text(node, "mac", &text, err));
    if (!myr_mac_parse(text, ret) || *ret == 0) {
        char excerpt[MYR_EXCERPT_MAX];
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'mac' is '%s', an address such as 3e:9c:2b:3d:21:25 is expected",
                             myr_text_excerpt(text, excerpt));
    }
    return MYR_OK;
}

static int read_text(const struct myr_doc *map, const char *key, struct myr_str *ret,
                     struct myr_err *err)
{
    enum {
        TEXT_MAX = 255
    }; /* as long as a DNS name may be; the keys of names (binding.c) rely on it */
    /* A key that is not there leaves the text empty: not known. */
    const struct myr_doc *node = myr_doc_get(map, key);
    MYR_TRY(node ? myr_doc_text(node, key, ret, err) : MYR_OK);
    if (node && ret->len > TEXT_MAX) {
        return myr_doc_error(err, node, MYR_EINVAL, "'%s' has more than %u bytes", key, TEXT_MAX);
    }
    return MYR_OK;
}

/* What a row that is in the way already has, for the message. */
static int complain_taken(const struct myr_binding *binding, const struct myr_doc *node,
                          uint32_t row, struct myr_err *err)
{
    const struct myr_bound *other = &binding->rows.items[row];
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    MYR_ASSERT(row < binding->rows.count);
    myr_design_name(binding->design, other->device, &name);
    if (other->port != MYR_NONE) {
        myr_buf_putc(&name, ' ');
        myr_design_port_name(binding->design, other->port, &name);
    }
    return myr_doc_error(err, node, MYR_EINVAL,
                         "something here is bound to %s already: a GUID, MAC address, serial "
                         "number or name belongs to one place",
                         name.data);
}

/* Errors point at the key, for it names the place; a port without any field is no row. */
static int read_port(struct myr_binding *binding, uint32_t device,
                     const struct myr_doc_entry *entry, struct myr_err *err)
{
    const struct myr_doc *node = entry->value;
    char excerpt[MYR_EXCERPT_MAX];
    uint32_t row;
    uint64_t ifindex = 0;
    struct myr_bound bound = {.device = device,
                              .port = myr_site_find_port(binding->design, device, entry->key)};
    /* Errors point at the key: it names the place. */
    const struct myr_doc place = {
        .file = node->file, .line = entry->key_line, .column = entry->key_column};
    if (bound.port == MYR_NONE) {
        return myr_doc_error(err, &place, MYR_EINVAL, "the device has no port '%s'",
                             myr_text_excerpt(entry->key, excerpt));
    }
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "a port", err));
    MYR_TRY(myr_doc_check_keys(node, "ports", port_keys, MYR_ARRAY_COUNT(port_keys), err));
    MYR_TRY(read_guid(node, "guid", &bound.guid, err));
    MYR_TRY(read_guid(node, "port_guid", &bound.port_guid, err));
    MYR_TRY(read_mac(node, &bound.mac, err));
    MYR_TRY(read_text(node, "name", &bound.name, err));
    const struct myr_doc *number = myr_doc_get(node, "ifindex");
    MYR_TRY(number ? myr_doc_u64(number, "ifindex", 1, UINT32_MAX, &ifindex, err) : MYR_OK);
    bound.ifindex = (uint32_t)ifindex;
    if (node->count && !myr_binding_add(binding, &bound, &row)) {
        return complain_taken(binding, &place, row, err);
    }
    return MYR_OK;
}

static int read_ports(struct myr_binding *binding, uint32_t device, const struct myr_doc *ports,
                      struct myr_err *err)
{
    MYR_TRY(ports ? myr_doc_expect(ports, MYR_DOC_MAP, "ports", err) : MYR_OK);
    for (uint32_t i = 0; ports && i < ports->count; i++) {
        MYR_TRY(read_port(binding, device, &ports->entries[i], err));
    }
    return MYR_OK;
}

/* First the device itself, then its ports; each is a row of its own. */
static int read_device(struct myr_binding *binding, const struct myr_doc_entry *entry,
                       struct myr_err *err)
{
    const struct myr_doc *node = entry->value;
    char excerpt[MYR_EXCERPT_MAX];
    uint32_t row;
    struct myr_bound bound = {.device = myr_site_find(binding->design, entry->key),
                              .port = MYR_NONE};
    /* Errors point at the key: it names the place. */
    const struct myr_doc place = {
        .file = node->file, .line = entry->key_line, .column = entry->key_column};
    if (bound.device == MYR_NONE) {
        return myr_doc_error(err, &place, MYR_EINVAL, "no device '%s' in this design",
                             myr_text_excerpt(entry->key, excerpt));
    }
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "a device", err));
    MYR_TRY(myr_doc_check_keys(node, "devices", device_keys, MYR_ARRAY_COUNT(device_keys), err));
    MYR_TRY(read_guid(node, "guid", &bound.guid, err));
    MYR_TRY(read_mac(node, &bound.mac, err));
    MYR_TRY(read_text(node, "serial", &bound.serial, err));
    MYR_TRY(read_text(node, "host", &bound.host, err));
    MYR_TRY(read_text(node, "address", &bound.address, err));
    /* A device of which only ports are bound has no row of its own. */
    bool any = bound.guid || bound.mac || bound.serial.len || bound.host.len || bound.address.len;
    if (any && !myr_binding_add(binding, &bound, &row)) {
        return complain_taken(binding, &place, row, err);
    }
    return read_ports(binding, bound.device, myr_doc_get(node, "ports"), err);
}

/* Names of places mean something else in another design. */
static int check_design(const struct myr_binding *binding, const struct myr_doc *root,
                        struct myr_err *err)
{
    const char *name = myr_design_str(binding->design, binding->design->head->name);
    const struct myr_doc *node;
    struct myr_str text;
    MYR_TRY(myr_doc_need(root, "a binding", "design", &node, err));
    MYR_TRY(myr_doc_text(node, "design", &text, err));
    if (!myr_str_eq(text, myr_str_from(name))) {
        char excerpt[MYR_EXCERPT_MAX];
        return myr_doc_error(err, node, MYR_EINVAL,
                             "this is the binding of design '%s', the design is '%.60s'",
                             myr_text_excerpt(text, excerpt), name);
    }
    return MYR_OK;
}

/* Rows of a file that turns out wrong stay: the caller gives the binding up. */
static int read_root(struct myr_binding *binding, const struct myr_doc *root, struct myr_err *err)
{
    static const char *const keys[] = {"design", "devices"};
    const struct myr_doc *devices;
    MYR_TRY(myr_doc_expect(root, MYR_DOC_MAP, "a binding", err));
    MYR_TRY(myr_doc_check_keys(root, NULL, keys, MYR_ARRAY_COUNT(keys), err));
    /* Before places are read: they would mean something else. */
    MYR_TRY(check_design(binding, root, err));
    MYR_TRY(myr_doc_need(root, "a binding", "devices", &devices, err));
    if (devices->kind == MYR_DOC_NULL) {
        return MYR_OK; /* "devices:" alone: nothing is bound yet */
    }
    MYR_TRY(myr_doc_expect(devices, MYR_DOC_MAP, "devices", err));
    for (uint32_t i = 0; i < devices->count; i++) {
        MYR_TRY(read_device(binding, &devices->entries[i], err));
    }
    return MYR_OK;
}

/* The texts of rows borrow from the arena of the binding, which holds the document. */
int myr_binding_read_text(struct myr_binding *binding, const char *file, struct myr_str text,
                          struct myr_err *err)
{
    const struct myr_doc *root;
    MYR_TRY(myr_doc_read_yaml(binding->arena, file, text, &root, err));
    return read_root(binding, root, err);
}

int myr_binding_read(struct myr_binding *binding, const char *path, struct myr_err *err)
{
    const struct myr_doc *root;
    static const struct myr_doc_want want = {MYR_KINDS_DOC(BINDING), "a binding"};
    if (myr_binding_is_table(path)) {
        return myr_binding_read_table(binding, path, err);
    }
    MYR_TRY(myr_doc_read_file_of(binding->arena, path, &want, &root, err));
    return read_root(binding, root, err);
}

/* Quoted where YAML would take the text for something else; JSON's quotes are YAML's too. */
static void put_text(struct myr_buf *buf, struct myr_str text)
{
    /* A letter in front: what begins with a digit may be a number. */
    bool plain = text.len > 0;
    for (size_t i = 0; i < text.len && plain; i++) {
        char c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        plain = letter || (i > 0 && ((c >= '0' && c <= '9') || strchr("-_.", c)));
    }
    /* YAML 1.1 takes these for truth values or nothing. */
    static const char *const words[] = {"true", "false", "null", "yes", "no",
                                        "on",   "off",   "y",    "n"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        plain = plain && !myr_str_eq_nocase(text, myr_str_from(words[i]));
    }
    if (plain) {
        myr_buf_put(buf, text.data, text.len);
    } else {
        myr_json_quote(buf, text);
    }
}

/* Fields of one device or port, with a divider between them. */
struct fields {
    struct myr_buf *buf;
    const char *divider; /* put before all but the first */
    bool any;            /* one was put */
};

static void put_key(struct fields *fields, const char *key)
{
    myr_buf_puts(fields->buf, fields->any ? fields->divider : "");
    myr_buf_puts(fields->buf, key);
    myr_buf_put_lit(fields->buf, ": ");
    fields->any = true;
}

static void put_guid(struct fields *fields, const char *key, uint64_t guid)
{
    if (guid) {
        put_key(fields, key);
        myr_buf_printf(fields->buf, "0x%016llx", (unsigned long long)guid);
    }
}

static void put_field(struct fields *fields, const char *key, struct myr_str text)
{
    if (text.len) {
        put_key(fields, key);
        put_text(fields->buf, text);
    }
}

/*
 * Only what is known. MAC addresses are quoted: YAML could read the colons as a number of base 60.
 */
static void put_bound(struct myr_buf *buf, const struct myr_bound *row, const char *divider)
{
    struct fields fields = {buf, divider, false};
    put_guid(&fields, "guid", row->guid);
    put_guid(&fields, "port_guid", row->port_guid);
    if (row->mac) {
        put_key(&fields, "mac");
        for (uint32_t shift = 48; shift > 0; shift -= 8) {
            myr_buf_printf(buf, "%s%02x", shift == 48 ? "\"" : ":",
                           (unsigned)(row->mac >> (shift - 8) & 255));
        }
        myr_buf_putc(buf, '"');
    }
    put_field(&fields, "serial", row->serial);
    put_field(&fields, "host", row->host);
    put_field(&fields, "address", row->address);
    put_field(&fields, "name", row->name);
    if (row->ifindex) {
        put_key(&fields, "ifindex");
        myr_buf_put_u64(buf, row->ifindex);
    }
}

/* Places are different in all rows, so that the order is one and the same. */
static int compare_rows(const void *left, const void *right)
{
    const struct myr_bound *const *a = left, *const *b = right;
    if ((*a)->device != (*b)->device) {
        return (*a)->device < (*b)->device ? -1 : 1;
    }
    /* The device itself stands before its ports. */
    uint64_t port_a = (*a)->port == MYR_NONE ? 0 : (uint64_t)(*a)->port + 1;
    uint64_t port_b = (*b)->port == MYR_NONE ? 0 : (uint64_t)(*b)->port + 1;
    return port_a < port_b ? -1 : port_a > port_b;
}

/* All rows of one device, sorted. On one line where nothing is known of its ports. */
static void put_device(const struct myr_binding *binding, const struct myr_bound **rows,
                       size_t count, struct myr_buf *buf)
{
    bool has_device = rows[0]->port == MYR_NONE;
    myr_buf_put_lit(buf, "  ");
    myr_design_name(binding->design, rows[0]->device, buf);
    /* Nothing is known of its ports: all fits on one line. */
    if (count == 1 && has_device) {
        myr_buf_put_lit(buf, ": {");
        put_bound(buf, rows[0], ", ");
        myr_buf_put_lit(buf, "}\n");
        return;
    }
    myr_buf_put_lit(buf, ":\n");
    if (has_device) {
        myr_buf_put_lit(buf, "    ");
        put_bound(buf, rows[0], "\n    ");
        myr_buf_putc(buf, '\n');
    }
    myr_buf_put_lit(buf, "    ports:\n");
    /* The device's own row, where there is one, is the first. */
    for (size_t i = has_device; i < count; i++) {
        myr_buf_put_lit(buf, "      ");
        myr_design_port_name(binding->design, rows[i]->port, buf);
        myr_buf_put_lit(buf, ": {");
        put_bound(buf, rows[i], ", ");
        myr_buf_put_lit(buf, "}\n");
    }
}

/* The caller frees the list. */
const struct myr_bound **myr_binding_sorted(const struct myr_binding *binding)
{
    size_t count = binding->rows.count;
    const struct myr_bound **rows = myr_xrealloc(NULL, count + 1, sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        rows[i] = &binding->rows.items[i];
    }
    if (count > 1) {
        qsort(rows, count, sizeof(*rows), compare_rows);
    }
    return rows;
}

/* In design order, whatever order the rows came in. */
void myr_binding_write(const struct myr_binding *binding, struct myr_buf *buf)
{
    size_t count = binding->rows.count;
    MYR_CLEANUP(myr_free_at) const struct myr_bound **rows = myr_binding_sorted(binding);
    myr_buf_put_lit(buf, "# Which real device stands in which place of the design.\ndesign: ");
    put_text(buf, myr_str_from(myr_design_str(binding->design, binding->design->head->name)));
    myr_buf_puts(buf, count ? "\ndevices:\n" : "\ndevices: {}\n");
    for (size_t i = 0; i < count;) {
        /* Rows of one device stand together. */
        size_t end = i;
        while (end < count && rows[end]->device == rows[i]->device) {
            end++;
        }
        put_device(binding, rows + i, end - i, buf);
        i = end;
    }
}
