#include "import/ib_links.h"

/*
 * What ibnetdiscover prints, and the netlists that ibsim loads. A device is a stanza:
 *
 *     switchguid=0x98039b0300a1b2c4(98039b0300a1b2c4)
 *     Switch 64 "S-98039b0300a1b2c4"  # "leaf-p0-g1-r5" enhanced port 0 lid 7 lmc 0
 *     [1]   "H-9c0591030012ab34"[1](9c0591030012ab35)   # "node-00032-nic5" lid 9 4xNDR
 *
 * Devices are told apart by the id in quotes: names may be missing or doubled. Each link stands in
 * the stanzas of both ends; the second time it only counts as confirmed.
 */

enum { PORTS_MAX = 65535 };

struct ib_reader {
    struct myr_import *import;
    const char *file;
    uint32_t file_index;  /* of the cabling's list of files */
    const char *at, *end; /* the line at hand */
    const char *line_start;
    uint32_t line;   /* number, from 1 */
    uint32_t device; /* of the stanza; MYR_NONE before the first */
    uint64_t guid;   /* told before the stanza */
    bool incomplete; /* some device did not answer the tool */
};

/* For messages: where the reader stands. */
static struct import_place here(const struct ib_reader *reader)
{
    return (struct import_place){reader->file, reader->line,
                                 myr_text_column(reader->line_start, reader->at)};
}

static void skip_blanks(struct ib_reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t')) {
        reader->at++;
    }
}

static bool take(struct ib_reader *reader, char c)
{
    if (reader->at < reader->end && *reader->at == c) {
        reader->at++;
        return true;
    }
    return false;
}

/* Up to one of 'stops', or the end of the line. */
static struct myr_str take_until(struct ib_reader *reader, const char *stops)
{
    const char *start = reader->at;
    while (reader->at < reader->end && !strchr(stops, *reader->at)) {
        reader->at++;
    }
    return (struct myr_str){start, (size_t)(reader->at - start)};
}

/* Errors point behind the opening quote. */
static int take_quoted(struct ib_reader *reader, struct myr_str *ret, struct myr_err *err)
{
    if (!take(reader, '"')) {
        return import_error(err, here(reader), "an id in quotes is expected");
    }
    struct import_place open = here(reader);
    struct myr_str text = take_until(reader, "\"");
    if (!take(reader, '"')) {
        return import_error(err, open, "the quote opened here is not closed in this line");
    }
    if (text.len == 0 || !import_name_is_good(text)) {
        return import_error(err, open, "an id has 1 to %u printable bytes", MYR_IMPORT_NAME_MAX);
    }
    *ret = text;
    return MYR_OK;
}

/* The port must be one that the device has; before its stanza it has as many as needed. */
static int check_port(struct ib_reader *reader, struct import_place place, uint32_t device,
                      struct myr_str port, struct myr_err *err)
{
    struct myr_cabling_device *found = &reader->import->cabling->devices.items[device];
    uint64_t number = 0;
    bool good = myr_str_to_u64(port, &number);
    MYR_ASSERT(good);
    if (number <= found->port_count) {
        return MYR_OK;
    }
    const uint32_t *line = myr_u64map_find(&reader->import->stanzas, device);
    if (line) {
        return import_error(err, place, "port %u of a device with %u ports (line %u)",
                            (uint32_t)number, found->port_count, *line);
    }
    found->port_count = (uint32_t)number;
    return MYR_OK;
}

/* "[17]", and behind it what is of no use here: "[ext 3]", "(9c0591030012ab35)". */
static int take_port(struct ib_reader *reader, struct myr_str *ret, uint64_t *ret_guid,
                     struct myr_err *err)
{
    uint64_t number;
    if (!take(reader, '[')) {
        return import_error(err, here(reader), "a port in brackets is expected");
    }
    struct import_place place = here(reader);
    struct myr_str text = take_until(reader, "]");
    if (!take(reader, ']') || !myr_str_to_u64(text, &number) || number == 0 || number > PORTS_MAX) {
        return import_error(err, place, "a port's number from 1 to %u is expected", PORTS_MAX);
    }
    *ret = text;
    *ret_guid = 0;
    if (take(reader, '[')) {
        (void)take_until(reader, "]");
        (void)take(reader, ']');
    }
    if (take(reader, '(')) {
        place = here(reader);
        text = take_until(reader, ")");
        if (!take(reader, ')') || !import_hex(text, ret_guid)) {
            return import_error(err, place, "a GUID in parentheses is expected");
        }
    }
    return MYR_OK;
}

/* "S-98039b0300a1b2c4": the id is the GUID. In netlists it is any name. */
static uint64_t guid_of_id(struct myr_str id)
{
    uint64_t guid = 0;
    /* Switch, host or router. */
    bool prefixed = id.len > 2 && id.data[1] == '-' && strchr("SHR", id.data[0]);
    return prefixed && id.len == 18 && import_hex((struct myr_str){id.data + 2, 16}, &guid) ? guid
                                                                                            : 0;
}

/* "S-" and more digits than a GUID has: taken as a name it would be another device. */
static int check_id(struct import_place place, struct myr_str id, struct myr_err *err)
{
    bool prefixed = id.len > 2 && id.data[1] == '-' && strchr("SHR", id.data[0]);
    return prefixed && import_is_long_hex((struct myr_str){id.data + 2, id.len - 2})
               ? import_error(err, place, "a GUID of up to 16 digits is expected")
               : MYR_OK;
}

/* A device may be mentioned before its own stanza comes. */
static uint32_t device_of(struct ib_reader *reader, struct myr_str id)
{
    struct myr_cabling *cabling = reader->import->cabling;
    uint32_t device = myr_strmap_get(&reader->import->ids, id);
    if (device != MYR_MAP_NONE) {
        return device;
    }
    device = (uint32_t)cabling->devices.count;
    struct myr_cabling_device added = {.guid = guid_of_id(id), .line = reader->line};
    /* A netlist's id is a name; where a name is told as well, it counts more. */
    added.name = added.guid ? MYR_STR("") : import_tidy(reader->import, id);
    added.is_switch = added.guid && id.data[0] == 'S';
    myr_vec_push(&cabling->devices, added);
    (void)myr_strmap_add(&reader->import->ids, id, device);
    return device;
}

/* The name in quotes within a comment; none is no fault. */
static void take_comment_name(struct ib_reader *reader, uint32_t device)
{
    (void)take_until(reader, "\"");
    if (!take(reader, '"')) {
        return;
    }
    struct myr_str name = take_until(reader, "\"");
    if (take(reader, '"') && name.len && import_name_is_good(name)) {
        struct myr_cabling_device *known = &reader->import->cabling->devices.items[device];
        name = import_tidy(reader->import, name);
        if (name.len && (known->guid || known->name.len == 0)) {
            known->name = name;
            (void)myr_strmap_add(&reader->import->cabling->names, name, device);
        }
    }
}

/* The last word of the line: "4xNDR". */
static void take_speed(struct ib_reader *reader, struct myr_cabling_link *link)
{
    const char *end = reader->end;
    while (end > reader->at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) {
        end--;
    }
    const char *start = end;
    while (start > reader->at && start[-1] != ' ' && start[-1] != '\t' && start[-1] != '"') {
        start--;
    }
    struct myr_str word = {start, (size_t)(end - start)}, unread = {};
    uint64_t lid;
    bool good = import_speed(&reader->import->speeds, word, &link->gbps, &link->width, &unread);
    /* Older releases end the line with a LID. */
    unread = good || myr_str_to_u64(word, &lid) || myr_link_says_nothing(word) ? unread : word;
    if (unread.len) {
        link->unread[MYR_LINK_SPEED] =
            myr_cabling_word(reader->import->cabling, MYR_LINK_SPEED, unread);
    }
}

/* A second stanza of one device would overrule the first: two sweeps in one file are refused. */
static int read_device(struct ib_reader *reader, bool is_switch, struct myr_err *err)
{
    struct myr_str id = {};
    uint64_t ports;
    skip_blanks(reader);
    struct import_place place = here(reader);
    if (!myr_str_to_u64(take_until(reader, " \t\""), &ports) || ports > PORTS_MAX) {
        return import_error(err, place, "the number of ports is expected, at most %u", PORTS_MAX);
    }
    skip_blanks(reader);
    place = here(reader);
    MYR_TRY(take_quoted(reader, &id, err));
    MYR_TRY(check_id(place, id, err));
    MYR_TRY(import_check_room(reader->import, place, err));
    uint32_t device = device_of(reader, id);
    /* Good until the next device is added. */
    struct myr_cabling_device *found = &reader->import->cabling->devices.items[device];
    char excerpt[MYR_EXCERPT_MAX];
    if (!myr_u64map_add(&reader->import->stanzas, device, reader->line)) {
        int rc =
            import_error(err, place, "device '%s' has two stanzas", myr_text_excerpt(id, excerpt));
        myr_err_hint(err, "if these are several sweeps of one fabric, keep the last");
        return rc;
    }
    /* Until now it had as many ports as others said. */
    if (found->port_count > ports) {
        return import_error(err, place, "device '%s' has %u ports here, but a cable in port %u",
                            myr_text_excerpt(id, excerpt), (uint32_t)ports, found->port_count);
    }
    found->reported = !reader->import->partial;
    found->is_switch = is_switch;
    found->port_count = (uint32_t)ports;
    found->line = reader->line;
    found->guid = found->guid ? found->guid : reader->guid;
    reader->device = device;
    /* Told for this stanza alone. */
    reader->guid = 0;
    if (memchr(reader->at, '#', (size_t)(reader->end - reader->at))) {
        (void)take_until(reader, "#");
        take_comment_name(reader, device);
    }
    return MYR_OK;
}

/* One-sided until the stanza of the far end tells it too. */
static int read_port(struct ib_reader *reader, struct myr_err *err)
{
    struct myr_cabling_link link = {.a.device = reader->device,
                                    .one_sided = true,
                                    .line = reader->line,
                                    .file = reader->file_index};
    struct import_place place = here(reader);
    struct myr_str id = {};
    uint64_t own_guid = 0, far_guid = 0;
    if (reader->device == MYR_NONE) {
        return import_error(err, place, "a port before the first device");
    }
    MYR_TRY(take_port(reader, &link.a.port, &own_guid, err));
    skip_blanks(reader);
    struct import_place far_place = here(reader);
    MYR_TRY(take_quoted(reader, &id, err));
    MYR_TRY(check_id(far_place, id, err));
    MYR_TRY(take_port(reader, &link.b.port, &far_guid, err));
    MYR_TRY(import_check_room(reader->import, place, err));
    link.b.device = device_of(reader, id);
    MYR_TRY(check_port(reader, place, link.a.device, link.a.port, err));
    MYR_TRY(check_port(reader, place, link.b.device, link.b.port, err));
    /* The GUID of a port is kept with its NIC. */
    struct myr_cabling_device *devices = reader->import->cabling->devices.items;
    devices[link.a.device].port_guid = own_guid ? own_guid : devices[link.a.device].port_guid;
    devices[link.b.device].port_guid = far_guid ? far_guid : devices[link.b.device].port_guid;
    skip_blanks(reader);
    /* A comment may name the far end, which a stanza of its own would do better. */
    if (take(reader, '#')) {
        if (devices[link.b.device].name.len == 0) {
            take_comment_name(reader, link.b.device);
        }
        take_speed(reader, &link);
    } else if (reader->at < reader->end) {
        return import_error(err, here(reader), "'#' or the end of the line is expected");
    }
    return ib_links_note(reader->import, place, &link, err);
}

/* "switchguid=0x98039b0300a1b2c4(98039b0300a1b2c4)"; other keys say nothing about cables. */
static int read_key(struct ib_reader *reader, struct myr_str key, struct myr_err *err)
{
    static const char *const guid_keys[] = {"switchguid", "caguid", "rtguid", "hcaguid"};
    take(reader, '=');
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(guid_keys); i++) {
        if (!myr_str_eq(key, myr_str_from(guid_keys[i]))) {
            continue;
        }
        struct import_place place = here(reader);
        struct myr_str value = take_until(reader, "( \t");
        bool prefixed = value.len > 2 && value.data[0] == '0' && value.data[1] == 'x';
        if (!prefixed ||
            !import_hex((struct myr_str){value.data + 2, value.len - 2}, &reader->guid)) {
            return import_error(err, place, "a GUID such as 0x98039b0300a1b2c4 is expected");
        }
    }
    return MYR_OK;
}

/*
 * What the tools say among their output when a device does not answer ("ibwarn: [2117] mad_rpc:
 * _do_madrpc failed; dport (DR path ..)", "src/query_smp.c:196; umad (DR path ..) bad status 110").
 */
static bool is_complaint(const struct ib_reader *reader, struct myr_str word)
{
    struct myr_str rest = {reader->at, (size_t)(reader->end - reader->at)};
    return myr_str_eq(word, MYR_STR("ibwarn:")) ||
           (word.len > 4 && memcmp(word.data, "src/", 4) == 0 && rest.len &&
            memmem(rest.data, rest.len, "umad (", 6));
}

/* What a line is is told by how it begins. */
static int read_line(struct ib_reader *reader, struct myr_err *err)
{
    static const struct {
        const char *word;
        bool is_switch;
    } kinds[] = {{"Switch", true}, {"Ca", false}, {"Hca", false}, {"Rt", false}, {"Router", false}};
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at == '#') {
        return MYR_OK;
    }
    /* Most lines are ports: they are asked for first. */
    if (*reader->at == '[') {
        return read_port(reader, err);
    }
    struct import_place place = here(reader);
    struct myr_str word = take_until(reader, " \t=\"[");
    if (reader->at < reader->end && *reader->at == '=') {
        return read_key(reader, word, err);
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        if (myr_str_eq(word, myr_str_from(kinds[i].word))) {
            return read_device(reader, kinds[i].is_switch, err);
        }
    }
    if (is_complaint(reader, word)) {
        reader->incomplete = true;
        return MYR_OK;
    }
    char excerpt[MYR_EXCERPT_MAX];
    /* What is no other kind comes here: with nothing of ibnetdiscover in it, it is not its. */
    if (reader->import->guessed && reader->device == MYR_NONE && !reader->guid) {
        int rc = import_error(err, place,
                              "'%s' begins nothing that is read here; output of ibnetdiscover, "
                              "iblinkinfo, ibdiagnet or lldpcli, or a list of cables is expected",
                              myr_text_excerpt(word, excerpt));
        myr_err_hint(err, "docs/verify.md lists what is read; --from tells which it is");
        return rc;
    }
    int rc = import_error(err, place, "'%s' begins no line of ibnetdiscover",
                          myr_text_excerpt(word, excerpt));
    myr_err_hint(err, "lines begin with Switch, Ca, Hca, Rt, [port], key= or #; --from tells "
                      "another format");
    return rc;
}

/*
 * Whether a device is mentioned that had no turn of its own: any switch; a host where other hosts
 * had theirs, since some list switches alone. SHARP's nodes are parts of their switches.
 */
static bool lacks_stanzas(const struct ib_reader *reader)
{
    const struct myr_strmap *ids = &reader->import->ids;
    const struct myr_u64map *stanzas = &reader->import->stanzas;
    bool hosts_told = false, hosts_lack = false, switches_lack = false;
    for (uint32_t i = 0; stanzas->count < ids->count && i < ids->count; i++) {
        struct myr_str name = reader->import->cabling->devices.items[ids->values[i]].name;
        bool is_switch = ids->keys[i].len > 2 && memcmp(ids->keys[i].data, "S-", 2) == 0;
        /* It had a turn of its own. */
        bool told = myr_u64map_find(stanzas, ids->values[i]) != NULL;
        bool part = name.len && memmem(name.data, name.len, "Aggregation Node", 16);
        hosts_told = hosts_told || (told && !is_switch && !part);
        hosts_lack = hosts_lack || (!told && !is_switch && !part);
        switches_lack = switches_lack || (!told && is_switch);
    }
    return switches_lack || (hosts_told && hosts_lack);
}

/*
 * A port that is not listed is empty, unless the list is not whole: then it is not seen. Devices
 * have stanzas of their own, so a text that ends while some are still to come was cut in the last
 * one; and where a device did not answer, its neighbours' ports are not listed.
 */
static void end_of_text(struct ib_reader *reader)
{
    struct myr_cabling *cabling = reader->import->cabling;
    const struct myr_u64map *stanzas = &reader->import->stanzas;
    bool cut = reader->device != MYR_NONE && lacks_stanzas(reader);
    for (uint32_t i = 0; (cut || reader->incomplete) && i < stanzas->count; i++) {
        uint32_t device = (uint32_t)stanzas->keys[i];
        struct myr_cabling_device *found = &cabling->devices.items[device];
        /* Of NICs too: those that tell would say that a silent one beside them is unplugged. */
        found->reported =
            found->reported && found->is_switch && !reader->incomplete && device != reader->device;
    }
    reader->import->truncated_count += cut || reader->incomplete;
}

/* Whether the list is whole is known only at its end. */
int import_ibnetdiscover(struct myr_import *import, const char *file, struct myr_str text,
                         struct myr_err *err)
{
    struct ib_reader reader = {.import = import,
                               .file = file,
                               .file_index = (uint32_t)import->cabling->files.count - 1,
                               .device = MYR_NONE};
    const char *at = text.data, *text_end = text.data + text.len;
    int rc = MYR_OK;
    import->cabling->numbered = true;
    while (rc == MYR_OK && at < text_end) {
        const char *newline = memchr(at, '\n', (size_t)(text_end - at));
        reader.line++;
        reader.line_start = reader.at = at;
        reader.end = newline ? newline : text_end;
        at = newline ? newline + 1 : text_end;
        /* Files that went through Windows. */
        if (reader.end > reader.at && reader.end[-1] == '\r') {
            reader.end--;
        }
        rc = read_line(&reader, err);
    }
    if (rc == MYR_OK) {
        end_of_text(&reader);
    }
    return rc;
}
