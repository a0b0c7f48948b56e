#include "import/ufm_compare.h"

#include "import/scan.h"

/*
 * Changes are told by GUID and port, as "guid_port:guid_port" or as sentences. What was added or
 * leads elsewhere becomes a link, what was removed two empty ports.
 */

/* Keys of the JSON of an interface, and of the report for people. */
enum ufm_section ufm_section_of(struct myr_str key, enum ufm_section before)
{
    static const struct {
        const char *key;
        enum ufm_section section;
    } keys[] = {{"added", UFM_ADDED},           {"removed", UFM_REMOVED},
                {"changed", UFM_CHANGED},       {"Added Links", UFM_ADDED},
                {"Removed Links", UFM_REMOVED}, {"Changed Links", UFM_CHANGED}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (myr_str_eq(key, myr_str_from(keys[i].key))) {
            return keys[i].section;
        }
    }
    return before;
}

/* Takes the text up to a sign, and the sign off the rest. */
static struct myr_str until(struct myr_str *text, char stop)
{
    if (text->len == 0) {
        return *text; /* of a name without either sign nothing is left, not even an address */
    }
    const char *at = memchr(text->data, stop, text->len);
    size_t len = at ? (size_t)(at - text->data) : text->len, skip = at ? len + 1 : len;
    struct myr_str taken = {text->data, len};
    *text = (struct myr_str){text->data + skip, text->len - skip};
    return taken;
}

/* Words of the text, as names and sentences of comparisons divide them. */
bool ufm_change_has_long_guid(struct myr_str text)
{
    size_t first = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && !strchr(" :_(),.;", text.data[i])) {
            continue;
        }
        if (import_is_long_hex((struct myr_str){text.data + first, i - first})) {
            return true;
        }
        first = i + 1;
    }
    return false;
}

bool ufm_change_of_name(struct myr_str text, struct ufm_change *ret)
{
    for (uint32_t i = 0; i < 2; i++) {
        /* "guid_port", twice. */
        struct myr_str half = until(&text, ':'), guid = until(&half, '_');
        if (!import_hex(guid, &ret->ends[i].guid) || ret->ends[i].guid == 0 ||
            !myr_str_to_u64(half, &ret->ends[i].port) || ret->ends[i].port == 0) {
            return false;
        }
    }
    return text.len == 0;
}

/* "GUID 0002c9.. (leaf-1) Port 28"; 's' moves behind it. */
static bool end_of(struct scan *s, struct ufm_end *ret)
{
    const char *guid = memmem(s->at, (size_t)(s->end - s->at), "GUID ", 5);
    s->at = guid ? guid + 5 : s->end;
    (void)scan_take(s, "0x");
    if (!guid || !import_hex(scan_until(s, " (,"), &ret->guid) || ret->guid == 0) {
        return false;
    }
    /* The name may be missing. */
    if (scan_take(s, "(")) {
        ret->name = scan_until(s, ")");
        (void)scan_take(s, ")");
    }
    return (scan_take(s, "Port ") || scan_take(s, "port ")) &&
           myr_str_to_u64(scan_until(s, " ,.;"), &ret->port) && ret->port > 0;
}

/* A changed link names three ends: here, where it led, where it leads. */
bool ufm_change_of_sentence(struct myr_str text, struct ufm_change *ret)
{
    struct scan s = {.at = text.data, .end = text.data + text.len};
    uint32_t wanted = ret->section == UFM_CHANGED ? 3 : 2, count = 0;
    while (count < wanted && end_of(&s, &ret->ends[count])) {
        count++;
    }
    return count == wanted;
}

static const char *key_of(struct myr_import *import, uint64_t guid)
{
    return myr_arena_printf(import->cabling->arena, "ufm %016llx", (unsigned long long)guid);
}

/* Keys of their own: ids of other readers know whether it is a switch. */
uint32_t ufm_device(struct myr_import *import, uint64_t guid)
{
    struct myr_cabling *cabling = import->cabling;
    struct myr_str key = myr_str_from(key_of(import, guid));
    uint32_t device = myr_strmap_get(&import->ids, key);
    if (device == MYR_MAP_NONE) {
        device = (uint32_t)cabling->devices.count;
        myr_vec_push(&cabling->devices, (struct myr_cabling_device){.guid = guid});
        (void)myr_strmap_add(&import->ids, key, device);
    }
    return device;
}

void ufm_name(struct myr_import *import, uint64_t guid, struct myr_str name)
{
    uint32_t index = ufm_device(import, guid);
    struct myr_cabling_device *device = &import->cabling->devices.items[index];
    /* The first name stays. */
    if (device->name.len == 0) {
        device->name = name;
        (void)myr_strmap_add(&import->cabling->names, name, index);
    }
}

static int put_end(struct myr_import *import, struct import_place place, const struct ufm_end *end,
                   struct myr_cabling_end *ret, struct myr_err *err)
{
    if (!import_name_is_good(end->name)) {
        return import_error(err, place, "a name has control characters or is too long");
    }
    ret->device = ufm_device(import, end->guid);
    ret->port = myr_str_from(
        myr_arena_printf(import->cabling->arena, "%llu", (unsigned long long)end->port));
    struct myr_cabling_device *device = &import->cabling->devices.items[ret->device];
    device->is_switch = device->is_switch || end->port > 4; /* no NIC has as many */
    if (end->name.len) {
        ufm_name(import, end->guid, import_tidy(import, end->name));
    }
    return MYR_OK;
}

/* A link that is gone leaves two empty ports. */
int ufm_change_put(struct myr_import *import, struct import_place place,
                   const struct ufm_change *change, struct myr_err *err)
{
    struct myr_cabling *cabling = import->cabling;
    struct myr_cabling_end ends[3] = {};
    uint32_t count = change->section == UFM_CHANGED ? 3 : 2;
    for (uint32_t i = 0; i < count; i++) {
        MYR_TRY(put_end(import, place, &change->ends[i], &ends[i], err));
    }
    /* GUIDs and numbers: this is InfiniBand. */
    cabling->numbered = true;
    if (change->section == UFM_REMOVED) {
        myr_vec_push(&cabling->bare, (struct myr_cabling_bare){.end = ends[0]});
        myr_vec_push(&cabling->bare, (struct myr_cabling_bare){.end = ends[1]});
        return MYR_OK;
    }
    /* Of a changed one the last end is where it leads now. */
    struct myr_cabling_link link = {.a = ends[0],
                                    .b = ends[count - 1],
                                    .line = change->line,
                                    .file = (uint32_t)cabling->files.count - 1};
    if (link.a.device == link.b.device && myr_str_eq(link.a.port, link.b.port)) {
        return import_error(err, place, "the port is linked to itself");
    }
    myr_vec_push(&cabling->links, link);
    return MYR_OK;
}
