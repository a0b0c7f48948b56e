#include "import/json_events.h"
#include "import/readers.h"

/*
 * lldpcli's JSON, as a stream. Both of its shapes are read:
 *
 *   -f json   {"lldp": {"interface": [{"swp1": {"chassis": {"leaf1": {"id": {...}}}, "port":
 * ...}}]}} -f json0  {"lldp": [{"interface": [{"name": "swp1", "chassis": [{"name": [{"value": ...
 *
 * Lists are looked through, so that one neighbour and a list of one read the same. Whose neighbours
 * they are is told by the key above ("leaf1": {"lldp": ...}), by 'show chassis' in the same text
 * ("local-chassis"), or else by the file's name.
 *
 * A container is known by its key and by what its parent is.
 */

enum role {
    ROLE_TOP,
    ROLE_HOST, /* {"leaf1": {"lldp": ...}} */
    ROLE_LLDP,
    ROLE_INTERFACES,
    ROLE_INTERFACE, /* one neighbour */
    ROLE_CHASSIS,
    ROLE_CHASSIS_ID,
    ROLE_CHASSIS_NAME,
    ROLE_ADDRESS, /* of management */
    ROLE_PORT,
    ROLE_PORT_ID,
    ROLE_PORT_DESCRIPTION,
    ROLE_LOCAL, /* 'show chassis': the device itself */
    ROLE_LOCAL_CHASSIS,
    ROLE_LOCAL_NAME,
    ROLE_LOCAL_ID,
    ROLE_OTHER, /* of no use, with all that is in it */
};

/* What is known of the neighbour at hand; put when its object ends. */
struct neighbour {
    bool json0; /* the interface's name is a value, not a key */
    struct myr_str interface;
    struct myr_str name, id_type, id, address; /* id_type: "mac" and others */
    struct myr_str port_type, port, description;
};

struct lldp_reader {
    struct myr_import *import;
    const char *file;
    uint32_t file_index;
    struct json_reader json;
    uint8_t roles[JSON_DEPTH_MAX + 1];       /* by depth */
    struct myr_str key;                      /* of the value that comes; empty in a list */
    char key_bytes[MYR_IMPORT_NAME_MAX + 1]; /* the text of 'key' */
    /* Whose neighbours they are, from the surest source on; and the address of its chassis. */
    struct myr_str host, local_name, local_mac, file_stem;
    struct neighbour neighbour;
    uint32_t device;      /* whose neighbours are told; MYR_NONE outside */
    uint32_t block_count; /* devices told of so far */
};

/*
 * The text again, in memory that stays: pieces of the file come and go. Few texts are different, so
 * each is kept once. What is too long to be a name is as good as none.
 */
static struct myr_str keep(struct lldp_reader *reader, struct myr_str text)
{
    struct myr_strmap *words = &reader->import->words;
    if (!import_name_is_good(text)) {
        return MYR_STR("");
    }
    text = import_tidy(reader->import, text);
    uint32_t known = myr_strmap_get(words, text);
    if (known != MYR_MAP_NONE) {
        return words->keys[known];
    }
    struct myr_str kept = {myr_arena_strndup(reader->import->cabling->arena, text.data, text.len),
                           text.len};
    (void)myr_strmap_add(words, kept, words->count);
    return kept;
}

static bool is_word(struct myr_str text, const char *word)
{
    return myr_str_eq(text, myr_str_from(word));
}

/* What else a chassis tells; any other key in its place is its name. */
static bool is_attribute(struct myr_str key)
{
    return is_word(key, "descr") || is_word(key, "capability") || is_word(key, "mgmt-iface") ||
           is_word(key, "ttl");
}

/* With -f json a chassis is known by its name as a key, with json0 by a value. */
static enum role role_in_chassis(struct lldp_reader *reader)
{
    struct myr_str key = reader->key;
    if (is_word(key, "id")) {
        return ROLE_CHASSIS_ID;
    }
    if (is_word(key, "name")) {
        return ROLE_CHASSIS_NAME;
    }
    if (is_word(key, "mgmt-ip")) {
        return ROLE_ADDRESS;
    }
    if (is_attribute(key) || reader->neighbour.name.len) {
        return ROLE_OTHER;
    }
    reader->neighbour.name = keep(reader, key);
    return ROLE_CHASSIS;
}

/* With json0 the interface's name comes as a value, before anything else. */
static enum role role_in_interfaces(struct lldp_reader *reader)
{
    if (is_word(reader->key, "chassis")) {
        return ROLE_CHASSIS;
    }
    if (is_word(reader->key, "port")) {
        return ROLE_PORT;
    }
    return reader->neighbour.json0 ? ROLE_OTHER : ROLE_INTERFACE;
}

/* The same two shapes as of a neighbour's chassis. */
static enum role role_in_local(struct lldp_reader *reader)
{
    if (is_word(reader->key, "name")) {
        return ROLE_LOCAL_NAME;
    }
    if (is_word(reader->key, "id")) {
        return ROLE_LOCAL_ID;
    }
    if (is_attribute(reader->key) || is_word(reader->key, "mgmt-ip") || reader->local_name.len) {
        return ROLE_OTHER;
    }
    reader->local_name = keep(reader, reader->key);
    return ROLE_LOCAL_CHASSIS;
}

/* What a container is, by its key and its parent; a name found as a key is noted on the way. */
static enum role role_of(struct lldp_reader *reader, enum role parent)
{
    struct myr_str key = reader->key;
    if (key.len == 0) {
        return parent; /* within a list */
    }
    switch (parent) {
    case ROLE_TOP:
    case ROLE_HOST:
        if (is_word(key, "lldp")) {
            return ROLE_LLDP;
        }
        if (is_word(key, "local-chassis")) {
            reader->local_name = reader->local_mac = MYR_STR("");
            return ROLE_LOCAL;
        }
        if (parent == ROLE_TOP) {
            reader->host = keep(reader, key);
        }
        return parent == ROLE_TOP ? ROLE_HOST : ROLE_OTHER;
    case ROLE_LLDP:
        return is_word(key, "interface") ? ROLE_INTERFACES : ROLE_OTHER;
    case ROLE_INTERFACES:
        return role_in_interfaces(reader);
    case ROLE_INTERFACE:
        return is_word(key, "chassis") ? ROLE_CHASSIS
               : is_word(key, "port")  ? ROLE_PORT
                                       : ROLE_OTHER;
    case ROLE_CHASSIS:
        return role_in_chassis(reader);
    case ROLE_PORT:
        return is_word(key, "id")      ? ROLE_PORT_ID
               : is_word(key, "descr") ? ROLE_PORT_DESCRIPTION
                                       : ROLE_OTHER;
    case ROLE_LOCAL:
        return is_word(key, "chassis") ? ROLE_LOCAL_CHASSIS : ROLE_OTHER;
    case ROLE_LOCAL_CHASSIS:
        return role_in_local(reader);
    default:
        return ROLE_OTHER;
    }
}

static struct import_place place_of(const struct lldp_reader *reader)
{
    struct import_place place = {reader->file, 1, 1};
    json_place(&reader->json, &place.line, &place.column);
    return place;
}

/* The device whose neighbours follow. */
static int open_block(struct lldp_reader *reader, struct myr_err *err)
{
    /* The most certain source first. */
    struct myr_str name = reader->host.len         ? reader->host
                          : reader->local_name.len ? reader->local_name
                                                   : reader->file_stem;
    if (name.len == 0 || !import_name_is_good(name)) {
        int rc = import_error(err, place_of(reader), "whose neighbours these are is not told");
        myr_err_hint(err, "name the file after the device, or put the output of 'lldpcli -f json "
                          "show chassis' in front");
        return rc;
    }
    reader->device = myr_cabling_device(reader->import->cabling, name);
    struct myr_cabling_device *device = &reader->import->cabling->devices.items[reader->device];
    /* A file's name may be anybody's: myr_import_finish() looks who it is. */
    device->by_file = name.data == reader->file_stem.data;
    device->reported = !reader->import->partial;
    device->whole = true;
    device->mac = device->mac.len ? device->mac : reader->local_mac;
    reader->block_count++;
    return MYR_OK;
}

/* "et-0/0/16:1": a name of an interface, and no sentence about it. */
static bool is_interface(struct myr_str text)
{
    enum { INTERFACE_MAX = 40 };
    bool digit = false;
    for (size_t i = 0; i < text.len; i++) {
        digit = digit || (text.data[i] >= '0' && text.data[i] <= '9');
        if (text.data[i] == ' ') {
            return false;
        }
    }
    return digit && text.len <= INTERFACE_MAX;
}

/*
 * What a port is called: its id, mostly. Some systems send an address, or the number that SNMP
 * gives the port (Junos), and the name behind it as the description.
 */
static struct myr_str port_name(const struct neighbour *n)
{
    uint64_t number;
    bool by_mac = is_word(n->port_type, "mac");
    bool by_index = is_word(n->port_type, "local") && myr_str_to_u64(n->port, &number);
    bool described = (by_mac && n->description.len) || (by_index && is_interface(n->description));
    return described || n->port.len == 0 ? n->description : n->port;
}

/* A neighbour without any name is dropped: it says no more than that something is there. */
static int put_neighbour(struct lldp_reader *reader, struct myr_err *err)
{
    struct myr_cabling *cabling = reader->import->cabling;
    const struct neighbour *n = &reader->neighbour;
    struct myr_str name = n->name, id = n->id;
    struct myr_str interface = n->interface;
    /* Hosts that send no name are known by the address of their chassis. */
    name = name.len ? name : id;
    if (interface.len == 0 || name.len == 0) {
        return MYR_OK;
    }
    /* Asked only near the end: the place of a message takes a count of lines. */
    if (cabling->links.count >= MYR_IMPORT_LINKS_MAX) {
        return import_check_room(reader->import, place_of(reader), err);
    }
    struct myr_cabling_link link = {
        .a = {reader->device, interface},
        .b = {myr_cabling_device(cabling, name), port_name(n)},
        .one_sided = true,
        .file = reader->file_index,
    };
    /* Good until the next device is added. */
    struct myr_cabling_device *far = &cabling->devices.items[link.b.device];
    far->mac = is_word(n->id_type, "mac") ? id : far->mac;
    far->address = far->address.len ? far->address : n->address;
    myr_vec_push(&cabling->links, link);
    return MYR_OK;
}

/* Notes what the new container is, and begins a neighbour where one begins. */
static int open_container(struct lldp_reader *reader, bool object, struct myr_err *err)
{
    uint32_t depth = reader->json.depth; /* after the bracket */
    /* Roles are kept by depth; lists have that of what they are a list of. */
    enum role parent = (enum role)reader->roles[depth - 1];
    enum role role = role_of(reader, parent);
    reader->roles[depth] = (uint8_t)role;
    if (role == ROLE_LLDP && parent != ROLE_LLDP) {
        MYR_TRY(open_block(reader, err));
    }
    if (object && role == ROLE_INTERFACE) {
        struct myr_str name =
            parent == ROLE_INTERFACE ? reader->neighbour.interface : keep(reader, reader->key);
        reader->neighbour = (struct neighbour){.interface = name};
    } else if (object && role == ROLE_INTERFACES) {
        reader->neighbour = (struct neighbour){.json0 = false};
    } else if (!object && role == ROLE_INTERFACE && reader->key.len) {
        reader->neighbour.interface = keep(reader, reader->key); /* {"swp1": [{...}, {...}]} */
    }
    reader->key = MYR_STR("");
    return MYR_OK;
}

/* Puts the neighbour that ends, and forgets what was known of the block that does. */
static int close_container(struct lldp_reader *reader, bool object, struct myr_err *err)
{
    uint32_t depth = reader->json.depth + 1; /* before the bracket */
    enum role role = (enum role)reader->roles[depth], parent = (enum role)reader->roles[depth - 1];
    int rc = MYR_OK;
    /* The object of one neighbour: its interface's with -f json, its own with json0. */
    bool complete = role == ROLE_INTERFACE || (role == ROLE_INTERFACES && reader->neighbour.json0);
    if (object && complete) {
        struct myr_str interface = reader->neighbour.interface;
        rc = put_neighbour(reader, err);
        reader->neighbour = (struct neighbour){.interface = interface}; /* more may follow */
    } else if (role == ROLE_LLDP && parent != ROLE_LLDP) {
        reader->device = MYR_NONE;
    } else if (role == ROLE_HOST && parent == ROLE_TOP) {
        reader->host = MYR_STR("");
    }
    reader->key = MYR_STR("");
    return rc;
}

/* Where a string of this place goes; NULL when it is of no use. */
static struct myr_str *slot_of(struct lldp_reader *reader)
{
    struct neighbour *n = &reader->neighbour;
    struct myr_str key = reader->key;
    bool is_value = is_word(key, "value"), is_type = is_word(key, "type");
    switch ((enum role)reader->roles[reader->json.depth]) {
    case ROLE_INTERFACES:
        n->json0 = n->json0 || is_word(key, "name");
        return is_word(key, "name") ? &n->interface : NULL;
    case ROLE_CHASSIS_ID:
        return is_value ? &n->id : is_type ? &n->id_type : NULL;
    case ROLE_CHASSIS_NAME:
        return is_value ? &n->name : NULL;
    case ROLE_CHASSIS:
        return is_word(key, "mgmt-ip") ? &n->address : is_word(key, "name") ? &n->name : NULL;
    case ROLE_ADDRESS:
        return n->address.len == 0 && (is_value || key.len == 0) ? &n->address : NULL;
    case ROLE_PORT_ID:
        return is_value ? &n->port : is_type ? &n->port_type : NULL;
    case ROLE_PORT:
        return is_word(key, "descr") ? &n->description : NULL;
    case ROLE_PORT_DESCRIPTION:
        return is_value ? &n->description : NULL;
    case ROLE_LOCAL_ID:
        return is_value ? &reader->local_mac : NULL;
    case ROLE_LOCAL_NAME:
        return is_value ? &reader->local_name : NULL;
    default:
        return NULL;
    }
}

static void note_key(struct lldp_reader *reader)
{
    struct myr_str key = reader->json.text;
    /* A key that is too long is none that is known, and no name either. */
    key.len = key.len <= MYR_IMPORT_NAME_MAX ? key.len : 1;
    memcpy(reader->key_bytes, key.data, key.len);
    reader->key = (struct myr_str){reader->key_bytes, key.len};
}

/* A text that ends early is about its device all the same, but not about all of its ports. */
static int end_early(struct lldp_reader *reader, struct myr_err *err)
{
    if (reader->block_count == 0) {
        return import_error(err, place_of(reader), "the text ends before any neighbour");
    }
    reader->import->truncated_count++;
    if (reader->device != MYR_NONE) {
        reader->import->cabling->devices.items[reader->device].reported = false;
        reader->import->cabling->devices.items[reader->device].whole = false;
    }
    return MYR_OK;
}

/* A key is good for the value behind it alone. */
static int step(struct lldp_reader *reader, enum json_event event, struct myr_err *err)
{
    struct myr_str *slot;
    switch (event) {
    case JSON_OBJECT:
    case JSON_LIST:
        return open_container(reader, event == JSON_OBJECT, err);
    case JSON_OBJECT_END:
    case JSON_LIST_END:
        return close_container(reader, event == JSON_OBJECT_END, err);
    case JSON_KEY:
        note_key(reader);
        return MYR_OK;
    case JSON_STRING:
        slot = slot_of(reader);
        if (slot) {
            *slot = keep(reader, reader->json.text);
        }
        reader->key = MYR_STR("");
        return MYR_OK;
    case JSON_OTHER:
        reader->key = MYR_STR("");
        return MYR_OK;
    case JSON_CUT:
        return end_early(reader, err);
    case JSON_BAD:
        return import_error(err, place_of(reader), "%s", reader->json.fault);
    case JSON_END:
        break;
    }
    return reader->block_count ? MYR_OK
                               : import_error(err, place_of(reader),
                                              "no 'lldp' in this text: 'lldpcli -f json show "
                                              "neighbors' is expected");
}

static void lldp_reader_done(struct lldp_reader *reader)
{
    json_reader_done(&reader->json);
}

/* A text that was cut is read as far as it goes. */
int import_lldp_stream(struct myr_import *import, const char *file, struct myr_str first,
                       const struct json_source *source, struct myr_err *err)
{
    MYR_CLEANUP(lldp_reader_done)
    struct lldp_reader reader = {.import = import,
                                 .file = file,
                                 .file_index = (uint32_t)import->cabling->files.count - 1,
                                 .device = MYR_NONE,
                                 .file_stem = import_stem(file)};
    json_reader_init(&reader.json, first, source);
    enum json_event event;
    int rc;
    do {
        event = json_next(&reader.json);
        rc = step(&reader, event, err);
    } while (rc == MYR_OK && event != JSON_END && event != JSON_CUT);
    return rc;
}

int import_lldp(struct myr_import *import, const char *file, struct myr_str text,
                struct myr_err *err)
{
    return import_lldp_stream(import, file, text, NULL, err);
}
