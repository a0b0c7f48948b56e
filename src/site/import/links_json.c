#include "import/readers.h"

/*
 * Links as JSON records, one object a link, wherever they lie in the text:
 *
 *   UFM    {"source_port_node_description": "leaf-1:1/19/2", "source_guid": "0x98..", ...}
 *   NetQ   {"hostname": "leaf01", "ifname": "swp1", "peerHostname": "gpu01", "peerIfname": "eth0"}
 *
 * UFM tells both ends of a link at once. NetQ tells what one end heard, as LLDP does.
 */

enum slot {
    A_NAME,
    A_PORT,
    A_GUID,
    B_NAME,
    B_PORT,
    B_GUID,
    OWN_HOST,
    OWN_PORT,
    PEER_HOST,
    PEER_PORT,
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
    uint32_t links;
};

static struct import_place place_of(const struct links_reader *r)
{
    struct import_place place = {r->file, 1, 1};
    json_place(&r->json, &place.line, &place.column);
    return place;
}

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
            *ret_switch = memchr(name->data, ' ', name->len) == NULL;
            *port = *ret_switch ? rest : *port;
            return;
        }
    }
}

static int ufm_end(struct links_reader *r, const struct record *record, enum slot first,
                   struct myr_cabling_end *ret, struct myr_err *err)
{
    struct myr_cabling *cabling = r->import->cabling;
    struct myr_str name = record->slots[first], port = record->slots[first + 1];
    struct myr_str guid_text = record->slots[first + 2];
    uint64_t guid = 0, number;
    bool is_switch, prefixed = guid_text.len > 2 && guid_text.data[1] == 'x';
    if (guid_text.len) {
        size_t skip = prefixed ? 2 : 0;
        (void)import_hex((struct myr_str){guid_text.data + skip, guid_text.len - skip}, &guid);
    }
    split_name(&name, &port, &is_switch);
    is_switch = is_switch || (myr_str_to_u64(port, &number) && number > 4);
    if (name.len == 0 || port.len == 0 || !import_name_is_good(name)) {
        return import_error(err, place_of(r), "a link without the name or the port of an end");
    }
    MYR_TRY(import_check_room(r->import, place_of(r), err));
    ret->device = myr_cabling_device(cabling, name);
    ret->port = port;
    struct myr_cabling_device *device = &cabling->devices.items[ret->device];
    device->guid = device->guid ? device->guid : guid;
    device->is_switch = device->is_switch || is_switch;
    device->reported = !r->import->partial;
    return MYR_OK;
}

static int put_ufm(struct links_reader *r, const struct record *record, struct myr_err *err)
{
    struct myr_cabling_link link = {.line = place_of(r).line,
                                    .file = (uint32_t)r->import->cabling->files.count - 1};
    MYR_TRY(ufm_end(r, record, A_NAME, &link.a, err));
    MYR_TRY(ufm_end(r, record, B_NAME, &link.b, err));
    r->import->cabling->numbered = true;
    myr_vec_push(&r->import->cabling->links, link);
    r->links++;
    return MYR_OK;
}

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
    r->links++;
    return MYR_OK;
}

static int end_record(struct links_reader *r, const struct record *record, struct myr_err *err)
{
    const struct myr_str *s = record->slots;
    if (s[A_NAME].len && s[B_NAME].len) {
        return put_ufm(r, record, err);
    }
    bool heard = s[OWN_HOST].len && s[OWN_PORT].len && s[PEER_HOST].len && s[PEER_PORT].len;
    return heard ? put_netq(r, record, err) : MYR_OK;
}

static int step(struct links_reader *r, enum json_event event, struct myr_err *err)
{
    uint32_t depth = r->json.depth;
    switch (event) {
    case JSON_OBJECT:
        r->records[depth] = (struct record){0};
        break;
    case JSON_OBJECT_END:
        MYR_TRY(end_record(r, &r->records[depth + 1], err));
        break;
    case JSON_KEY:
        r->slot = slot_of(r->json.text);
        return MYR_OK;
    case JSON_STRING:
        if (r->slot < SLOT_COUNT) {
            r->records[depth].slots[r->slot] = keep(r, r->json.text);
        }
        break;
    case JSON_CUT:
        return import_error(err, place_of(r), "the text ends within a value");
    case JSON_BAD:
        return import_error(err, place_of(r), "%s", r->json.fault);
    case JSON_END:
        return r->links ? MYR_OK
                        : import_error(err, place_of(r), "no link of UFM or NetQ is in this text");
    default:
        break;
    }
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
