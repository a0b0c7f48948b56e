#include "import/readers.h"
#include "import/ufm_compare.h"

/*
 * Links as JSON records, one object a link, wherever they lie in the text:
 *
 *   UFM    {"source_port_node_description": "leaf-1:1/19/2", "source_guid": "0x98..", ...}
 *   NetQ   {"hostname": "leaf01", "ifname": "swp1", "peerHostname": "gpu01", "peerIfname": "eth0"}
 *
 * UFM tells both ends of a link at once. NetQ tells what one end heard, as LLDP does. Older UFM
 * tells GUIDs and numbers alone: {"source_guid": "98..", "source_port": "29", ...}.
 *
 * UFM's comparison of the fabric with a topology that was kept tells what is there now and was not
 * then, and what is gone; of all other cables it says nothing (ufm_compare.c has its sentences):
 *
 *   {"added": {"nodes": [{"guid": .., "system_name": ..}], "links": [{"name": "98.._29:9c.._1"}]},
 *    "removed": ...}
 */

/* What of a record is kept; the ends of UFM have three slots each, in the same order. */
enum slot {
    A_NAME, /* UFM: description of the port */
    A_PORT,
    A_GUID,
    B_NAME,
    B_PORT,
    B_GUID,
    OWN_HOST, /* NetQ: who heard it */
    OWN_PORT,
    PEER_HOST, /* and of whom */
    PEER_PORT,
    LINK_NAME, /* of a comparison: both ends in one text */
    NODE_GUID, /* of a comparison: gives a GUID its name */
    NODE_NAME,
    SLOT_COUNT,
};

static const struct {
    const char *key;
    enum slot slot;
} keys[] = {
    {"source_port_node_description", A_NAME},
    {"destination_port_node_description", B_NAME},
    {"source_port", A_PORT},
    {"destination_port", B_PORT},
    {"source_guid", A_GUID},
    {"destination_guid", B_GUID},
    {"hostname", OWN_HOST},
    {"ifname", OWN_PORT},
    {"peerHostname", PEER_HOST},
    {"peer_hostname", PEER_HOST},
    {"peerIfname", PEER_PORT},
    {"peer_ifname", PEER_PORT},
    {"name", LINK_NAME},
    {"guid", NODE_GUID},
    {"system_name", NODE_NAME},
};

struct record {
    struct myr_str slots[SLOT_COUNT];
};

struct links_reader {
    struct myr_import *import;
    const char *file;
    struct json_reader json;
    struct record records[JSON_DEPTH_MAX + 1]; /* by depth */
    uint32_t slot;                             /* of the value that comes; SLOT_COUNT: none */
    bool any;                                  /* link or node was found in this text */
    enum ufm_section section;                  /* of a comparison; UFM_NOW: it is none */
};

static struct import_place place_of(const struct links_reader *r)
{
    struct import_place place = {r->file, 1, 1};
    json_place(&r->json, &place.line, &place.column);
    return place;
}

/* The reader's text is gone with the next event. */
static struct myr_str keep(struct links_reader *r, struct myr_str text)
{
    struct myr_str kept = {myr_arena_strndup(r->import->cabling->arena, text.data, text.len),
                           text.len};
    return import_tidy(r->import, kept);
}

static uint32_t slot_of(struct myr_str key)
{
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (myr_str_eq(key, myr_str_from(keys[i].key))) {
            return keys[i].slot;
        }
    }
    return SLOT_COUNT;
}

/* What may stand behind a switch's name: "38", "19/2", "1/19/2", "sw37p1", "A2/58", "FNM1". */
static bool is_port_text(struct myr_str text)
{
    bool digit = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        digit = digit || (c >= '0' && c <= '9');
        if (!letter && c != '/' && !(c >= '0' && c <= '9')) {
            return false;
        }
    }
    return digit && text.len <= 16;
}

/* "leaf-1:1/19/2" is a switch and its port; "gpu01 mlx5_0" a NIC of a host. */
static void split_name(struct myr_str *name, struct myr_str *port, bool *ret_switch)
{
    *ret_switch = false;
    for (size_t i = name->len; i > 0; i--) {
        struct myr_str rest = {name->data + i, name->len - i};
        if (name->data[i - 1] == ':' && is_port_text(rest)) {
            name->len = i - 1;
            /* Names of NICs have a blank between host and device. */
            *ret_switch = memchr(name->data, ' ', name->len) == NULL;
            *port = *ret_switch ? rest : *port;
            return;
        }
    }
}

/* The device of an end; one without a name is told by its GUID. */
static int device_of(struct links_reader *r, struct myr_str name, uint64_t guid, uint32_t *ret,
                     struct myr_err *err)
{
    struct myr_cabling *cabling = r->import->cabling;
    MYR_TRY(import_check_room(r->import, place_of(r), err));
    if (name.len) {
        *ret = myr_cabling_device(cabling, name);
    } else {
        *ret = ufm_device(r->import, guid);
    }
    struct myr_cabling_device *device = &cabling->devices.items[*ret];
    device->guid = device->guid ? device->guid : guid;
    return MYR_OK;
}

static int ufm_end(struct links_reader *r, const struct record *record, enum slot first,
                   struct myr_cabling_end *ret, struct myr_err *err)
{
    struct myr_str name = record->slots[first], port = record->slots[first + 1];
    struct myr_str guid_text = record->slots[first + 2];
    uint64_t guid = 0, number;
    /* Releases differ in whether they write "0x". */
    bool is_switch, prefixed = guid_text.len > 2 && guid_text.data[1] == 'x';
    if (guid_text.len) {
        size_t skip = prefixed ? 2 : 0;
        if (import_is_long_hex(guid_text)) {
            return import_error(err, place_of(r), "a GUID of up to 16 digits is expected");
        }
        (void)import_hex((struct myr_str){guid_text.data + skip, guid_text.len - skip}, &guid);
    }
    split_name(&name, &port, &is_switch);
    /* No NIC has as many ports. */
    is_switch = is_switch || (myr_str_to_u64(port, &number) && number > 4);
    if ((name.len == 0 && guid == 0) || port.len == 0) {
        return import_error(err, place_of(r), "a link without the name or the port of an end");
    }
    if (!import_name_is_good(name) || !import_name_is_good(port)) {
        return import_error(err, place_of(r), "a name has control characters or is too long");
    }
    MYR_TRY(device_of(r, name, guid, &ret->device, err));
    ret->port = port;
    struct myr_cabling_device *device = &r->import->cabling->devices.items[ret->device];
    device->is_switch = device->is_switch || is_switch;
    /* UFM lists every link of its fabric. */
    device->reported = !r->import->partial;
    return MYR_OK;
}

/* Both ends at once: nothing waits for the other side. */
static int put_ufm(struct links_reader *r, const struct record *record, struct myr_err *err)
{
    struct myr_cabling_link link = {.line = place_of(r).line,
                                    .file = (uint32_t)r->import->cabling->files.count - 1};
    MYR_TRY(ufm_end(r, record, A_NAME, &link.a, err));
    MYR_TRY(ufm_end(r, record, B_NAME, &link.b, err));
    r->import->cabling->numbered = true;
    myr_vec_push(&r->import->cabling->links, link);
    r->any = true;
    return MYR_OK;
}

/* A link of a comparison, or a node that gives a GUID its name. */
static int put_compared(struct links_reader *r, const struct record *record, struct myr_err *err)
{
    const struct myr_str *s = record->slots;
    struct ufm_change change = {.section = r->section, .line = place_of(r).line};
    uint64_t guid;
    /* A node of the comparison: it names a GUID. */
    if (s[NODE_GUID].len && s[NODE_NAME].len && import_hex(s[NODE_GUID], &guid) && guid) {
        if (!import_name_is_good(s[NODE_NAME])) {
            return import_error(err, place_of(r), "a name has control characters or is too long");
        }
        ufm_name(r->import, guid, s[NODE_NAME]);
        r->any = true;
        return MYR_OK;
    }
    if (ufm_change_has_long_guid(s[LINK_NAME]) || import_is_long_hex(s[NODE_GUID])) {
        return import_error(err, place_of(r), "a GUID of up to 16 digits is expected");
    }
    if (!ufm_change_of_name(s[LINK_NAME], &change)) {
        return MYR_OK;
    }
    MYR_TRY(import_check_room(r->import, place_of(r), err));
    r->any = true;
    return ufm_change_put(r->import, place_of(r), &change, err);
}

/* "GUID 98.. (leaf-1) Port 29 to GUID 9c.. (gpu01 mlx5_0) Port 1" */
static int put_sentence(struct links_reader *r, struct myr_err *err)
{
    struct ufm_change change = {.section = r->section, .line = place_of(r).line};
    struct myr_str text = keep(r, r->json.text);
    if (r->section != UFM_NOW && ufm_change_has_long_guid(text)) {
        return import_error(err, place_of(r), "a GUID of up to 16 digits is expected");
    }
    if (r->section == UFM_NOW || !ufm_change_of_sentence(text, &change)) {
        return MYR_OK;
    }
    MYR_TRY(import_check_room(r->import, place_of(r), err));
    r->any = true;
    return ufm_change_put(r->import, place_of(r), &change, err);
}

/* What the far end's port is called is hearsay, as with LLDP. */
static int put_netq(struct links_reader *r, const struct record *record, struct myr_err *err)
{
    struct myr_cabling *cabling = r->import->cabling;
    struct myr_cabling_link link = {.one_sided = true, .file = (uint32_t)cabling->files.count - 1};
    for (uint32_t i = OWN_HOST; i <= PEER_PORT; i++) {
        if (!import_name_is_good(record->slots[i])) {
            return import_error(err, place_of(r), "a name has control characters or is too long");
        }
    }
    MYR_TRY(import_check_room(r->import, place_of(r), err));
    link.line = place_of(r).line;
    link.a.device = myr_cabling_device(cabling, record->slots[OWN_HOST]);
    link.b.device = myr_cabling_device(cabling, record->slots[PEER_HOST]);
    link.a.port = record->slots[OWN_PORT];
    link.b.port = record->slots[PEER_PORT];
    cabling->devices.items[link.a.device].reported = !r->import->partial;
    myr_vec_push(&cabling->links, link);
    r->any = true;
    return MYR_OK;
}

/* Any object that has enough of the keys is a link, wherever it lies. */
static int end_record(struct links_reader *r, const struct record *record, struct myr_err *err)
{
    const struct myr_str *s = record->slots;
    /* Older UFM: GUIDs and numbers alone. */
    bool ends = s[A_GUID].len && s[A_PORT].len && s[B_GUID].len && s[B_PORT].len;
    if (r->section != UFM_NOW) {
        return put_compared(r, record, err);
    }
    if ((s[A_NAME].len && s[B_NAME].len) || ends) {
        return put_ufm(r, record, err);
    }
    bool heard = s[OWN_HOST].len && s[OWN_PORT].len && s[PEER_HOST].len && s[PEER_PORT].len;
    return heard ? put_netq(r, record, err) : MYR_OK;
}

/* Ports come as texts from one release and as numbers from another. */
static struct myr_str digits_of(const struct json_reader *json)
{
    size_t len = 0;
    while (json->token + len < json->end && json->token[len] >= '0' && json->token[len] <= '9') {
        len++;
    }
    return (struct myr_str){json->token, len};
}

/* One event; what it changes is the record at its depth. */
static int step(struct links_reader *r, enum json_event event, struct myr_err *err)
{
    /*
     * Records are kept by depth, since objects lie within each other. An end comes after the depth
     * has gone down.
     */
    uint32_t depth = r->json.depth;
    switch (event) {
    case JSON_OBJECT:
        r->records[depth] = (struct record){};
        break;
    case JSON_OBJECT_END:
        MYR_TRY(end_record(r, &r->records[depth + 1], err));
        break;
    case JSON_KEY:
        r->slot = slot_of(r->json.text);
        r->section = ufm_section_of(r->json.text, r->section);
        return MYR_OK;
    case JSON_STRING:
        if (r->slot < SLOT_COUNT) {
            r->records[depth].slots[r->slot] = keep(r, r->json.text);
        } else {
            MYR_TRY(put_sentence(r, err));
        }
        break;
    case JSON_OTHER:
        if (r->slot == A_PORT || r->slot == B_PORT) {
            r->records[depth].slots[r->slot] = keep(r, digits_of(&r->json));
        }
        break;
    case JSON_CUT:
        return import_error(err, place_of(r), "the text ends within a value");
    case JSON_BAD:
        return import_error(err, place_of(r), "%s", r->json.fault);
    case JSON_END:
        return r->any || r->section != UFM_NOW
                   ? MYR_OK
                   : import_error(err, place_of(r), "no link of UFM or NetQ is in this text");
    default:
        break;
    }
    /* A key belongs to the value behind it alone. */
    r->slot = SLOT_COUNT;
    return MYR_OK;
}

static void links_reader_done(struct links_reader *r)
{
    json_reader_done(&r->json);
}

int import_links_json(struct myr_import *import, const char *file, struct myr_str text,
                      struct myr_err *err)
{
    MYR_CLEANUP(links_reader_done)
    struct links_reader r = {.import = import, .file = file, .slot = SLOT_COUNT};
    json_reader_init(&r.json, text, NULL);
    enum json_event event;
    int rc;
    do {
        event = json_next(&r.json);
        rc = step(&r, event, err);
    } while (rc == MYR_OK && event != JSON_END);
    return rc;
}
