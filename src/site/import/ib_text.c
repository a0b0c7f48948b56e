#include "import/ib_links.h"
#include "import/scan.h"

/*
 * Three texts that have a line a port:
 *
 *   ibnetdiscover -p   SW 7 17 0x98.. 4x NDR - CA 9 1 0x9c.. ( 'leaf-1' - 'gpu01 mlx5_0' )
 *   iblinkinfo         7 17[ ] ==( 4X 106.25 Gbps Active/ LinkUp)==> 9 1[ ] "gpu01 mlx5_0" ( )
 *   ibdiagnet          net_dump: fields between colons below a device in quotes;
 *                      lst: { SW .. NodeGUID:.. {leaf-1} .. PN:11 } { CA .. } PHY=4x SPD=100
 *
 * A port without a cable has a line with one end.
 */

static struct myr_str word(struct scan *s)
{
    scan_blanks(s);
    return scan_until(s, " \t");
}

/* Nothing is taken where there is no number. */
static bool number(struct scan *s, uint64_t *ret)
{
    scan_blanks(s);
    const char *start = s->at;
    struct myr_str digits = scan_until(s, " \t[({:");
    bool good = myr_str_to_u64(digits, ret);
    s->at = good ? s->at : start;
    return good;
}

/* "0x9c0591030012ab34", with and without leading zeros and "0x". */
static bool guid(struct scan *s, const char *stops, uint64_t *ret)
{
    scan_blanks(s);
    struct myr_str text = scan_until(s, stops);
    bool prefixed = text.len > 2 && text.data[0] == '0' && (text.data[1] == 'x');
    return import_hex((struct myr_str){text.data + 2 * prefixed, text.len - 2 * prefixed}, ret);
}

static int complain(const struct scan *s, const char *what, struct myr_err *err)
{
    int rc = import_error(err, scan_here(s), "%s is expected", what);
    myr_err_hint(err, "--from tells another format");
    return rc;
}

/* How a text of ibdiagnet begins tells which of its files it is. */
enum { LOOK_BYTES = 16 * 1024 };

/* 'stanza' is the device that the lines are about, where a format has such. */
typedef int line_reader(struct scan *, struct ib_end *stanza, struct myr_err *);

/* Remarks and empty lines are left out for all formats. */
static int read_lines(struct myr_import *import, const char *file, struct myr_str text,
                      line_reader *read, struct myr_err *err)
{
    struct scan s = scan_of(import, file, text);
    struct ib_end stanza = {.lid = 0};
    import->cabling->numbered = true;
    while (scan_line(&s)) {
        /* Files that went through Windows, and blanks at the end. */
        while (s.end > s.at && (s.end[-1] == '\r' || s.end[-1] == ' ' || s.end[-1] == '\t')) {
            s.end--;
        }
        scan_blanks(&s);
        if (s.at < s.end && *s.at != '#') {
            MYR_TRY(read(&s, &stanza, err));
        }
    }
    return MYR_OK;
}

/* A port without a cable still says that its device was asked. */
static int look_at(struct scan *s, const struct ib_end *end, struct myr_err *err)
{
    uint32_t device;
    MYR_TRY(ib_links_device(s->import, scan_here(s), end, &device, err));
    s->import->cabling->devices.items[device].reported = !s->import->partial;
    return MYR_OK;
}

/* "SW 7 17 0x98039b0300a1b2c4" */
static int port_end(struct scan *s, struct ib_end *ret, struct myr_err *err)
{
    ret->is_switch = scan_take(s, "SW");
    if (!ret->is_switch && !scan_take(s, "CA") && !scan_take(s, "RT")) {
        return complain(s, "SW, CA or RT", err);
    }
    if (!number(s, &ret->lid) || !number(s, &ret->port)) {
        return complain(s, "a LID and a port", err);
    }
    return guid(s, " \t", &ret->guid) && ret->guid ? MYR_OK : complain(s, "a GUID", err);
}

static struct myr_str quoted(struct scan *s)
{
    struct myr_str name = MYR_STR("");
    if (scan_take(s, "'")) {
        name = scan_until(s, "'");
        (void)scan_take(s, "'");
    }
    return name;
}

/* What is to be told of a speed; nothing where it is understood, or none is told. */
static struct myr_str unread_speed(struct myr_str speed, bool understood)
{
    return understood || myr_link_says_nothing(speed) ? MYR_STR("") : speed;
}

/* One end with a cable, or without one. */
static int read_port_line(struct scan *s, struct ib_end *stanza, struct myr_err *err)
{
    (void)stanza;
    struct ib_end own = {.lid = 0}, far = {.lid = 0};
    uint32_t gbps = 0, width = 0;
    if (scan_take(s, "DR")) {
        return MYR_OK; /* a route to what could not be asked */
    }
    MYR_TRY(port_end(s, &own, err));
    struct myr_str lanes = word(s), speed = word(s);
    /* Both words together are what import_speed() reads: "4x" and "NDR". */
    char text[32];
    if (lanes.len + speed.len < sizeof(text)) {
        memcpy(text, lanes.data, lanes.len);
        memcpy(text + lanes.len, speed.data, speed.len);
        struct myr_str whole = {text, lanes.len + speed.len}, unread = {};
        bool good = import_speed(&s->import->speeds, whole, &gbps, &width, &unread);
        own.speed_word = unread_speed(speed, good && unread.len == 0);
    }
    /* No cable: the name stands alone, sometimes without quotes. */
    if (!scan_take(s, "-")) {
        (void)scan_take(s, "(");
        scan_blanks(s);
        own.name = s->at < s->end && *s->at == '\'' ? quoted(s) : scan_until(s, ")");
        return look_at(s, &own, err);
    }
    MYR_TRY(port_end(s, &far, err));
    if (scan_take(s, "(")) {
        own.name = quoted(s);
        (void)scan_take(s, "-");
        far.name = quoted(s);
    }
    own.lid = far.lid = 0; /* LIDs change; GUIDs stay */
    return ib_links_add(s->import, scan_here(s), &own, &far, gbps, width, err);
}

int import_ib_lines(struct myr_import *import, const char *file, struct myr_str text,
                    struct myr_err *err)
{
    return read_lines(import, file, text, read_port_line, err);
}

/* "Switch: 0x98039b0300a1b2c4 leaf-1:" or "CA: gpu01 mlx5_0:" */
static int linkinfo_head(struct scan *s, struct ib_end *stanza, struct myr_err *err)
{
    bool is_switch = scan_take(s, "Switch:");
    if (!is_switch && !scan_take(s, "CA:") && !scan_take(s, "RT:")) {
        return complain(s, "'Switch:', 'CA:' or a port", err);
    }
    *stanza = (struct ib_end){.is_switch = is_switch};
    scan_blanks(s);
    const char *start = s->at;
    /* Hosts have no GUID in their head line, only a name. */
    if (!(s->end - s->at > 2 && s->at[0] == '0' && s->at[1] == 'x' &&
          guid(s, " \t", &stanza->guid))) {
        s->at = start;
    }
    scan_blanks(s);
    stanza->name = (struct myr_str){s->at, (size_t)(s->end - s->at)};
    stanza->name.len -= stanza->name.len && s->end[-1] == ':';
    MYR_TRY(ib_links_check_name(scan_here(s), stanza->name, err));
    s->at = s->end;
    return MYR_OK;
}

/* "17[  ]": the number, then what is outside of the box. */
static bool bracketed_port(struct scan *s, uint64_t *ret)
{
    bool good = number(s, ret);
    scan_blanks(s);
    if (scan_take(s, "[")) {
        (void)scan_until(s, "]");
        return scan_take(s, "]") && good;
    }
    return good;
}

/* What a lane carries in Mb/s: rates are those on the wire, where 106.25 carries 100. */
static uint32_t carried_mbps(double gbps)
{
    static const double wire[] = {2.5, 5, 10, 14.0625, 25.78125, 26.5625, 53.125, 106.25, 212.5};
    static const uint32_t carried[] = {2500,  5000,  10000,  14000, 25000,
                                       25000, 50000, 100000, 200000};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(wire); i++) {
        if (gbps > wire[i] - 0.01 && gbps < wire[i] + 0.01) {
            return carried[i];
        }
    }
    return (uint32_t)(gbps * 1000); /* one that is not listed is taken as what it carries */
}

/* "4X 106.25 Gbps Active/ LinkUp": lanes, and what one of them carries, or its name. */
static void linkinfo_speed(struct scan *line, struct myr_str state, struct ib_end *own,
                           uint32_t *ret_gbps, uint32_t *ret_width)
{
    struct scan s = {.at = state.data, .end = state.data + state.len};
    struct myr_str lanes = word(&s), rate = word(&s);
    uint64_t width = 0;
    double gbps;
    char text[32];
    *ret_gbps = *ret_width = 0;
    bool crossed = lanes.len > 1 && (lanes.data[lanes.len - 1] | 0x20) == 'x' &&
                   myr_str_to_u64((struct myr_str){lanes.data, lanes.len - 1}, &width) &&
                   width <= 16;
    if (crossed && myr_str_to_double(rate, &gbps) && gbps > 0 && gbps < 10000) {
        *ret_width = (uint32_t)width;
        *ret_gbps =
            (uint32_t)(import_lane_mbps(&line->import->speeds, carried_mbps(gbps)) * width / 1000);
        return;
    }
    struct myr_str unread = crossed ? rate : lanes;
    if (crossed && lanes.len + rate.len < sizeof(text)) {
        memcpy(text, lanes.data, lanes.len);
        text[lanes.len - 1] = 'x';
        memcpy(text + lanes.len, rate.data, rate.len);
        struct myr_str both = {text, lanes.len + rate.len}, part = {};
        (void)import_speed(&line->import->speeds, both, ret_gbps, ret_width, &part);
        *ret_width = *ret_gbps ? *ret_width : 0;
    }
    own->speed_word = unread_speed(unread, *ret_gbps);
}

/* The GUID that may stand in front of a LID; false when it is none. */
static bool guid_in_front(struct scan *s, uint64_t *ret)
{
    scan_blanks(s);
    return !(s->end - s->at > 2 && s->at[0] == '0' && s->at[1] == 'x') || guid(s, " \t", ret);
}

/* With -l the name of the device is in its line, and nothing says what kind of thing it is. */
static void name_in_line(struct scan *s, struct ib_end *own)
{
    if (scan_take(s, "\"")) {
        own->name = scan_until(s, "\"");
        own->is_switch = false;
        (void)scan_take(s, "\"");
    }
}

/* A line with an arrow is a port, any other one the head of a device. */
static int read_linkinfo_line(struct scan *s, struct ib_end *stanza, struct myr_err *err)
{
    /* Where a line does not tell the kind: no NIC has as many ports. */
    enum { NIC_PORTS_MAX = 4 };
    struct ib_end own, far = {.lid = 0};
    uint32_t gbps, width;
    const char *arrow = memmem(s->at, (size_t)(s->end - s->at), "==(", 3);
    if (!arrow) {
        return linkinfo_head(s, stanza, err);
    }
    own = *stanza;
    if (!guid_in_front(s, &own.guid)) {
        return complain(s, "a GUID", err);
    }
    name_in_line(s, &own);
    if (!number(s, &own.lid) || !bracketed_port(s, &own.port) || !scan_take(s, "==(")) {
        return complain(s, "a LID and a port, then ==(", err);
    }
    linkinfo_speed(s, scan_until(s, ")"), &own, &gbps, &width);
    if (!scan_take(s, ")==>")) {
        return complain(s, "')==>'", err);
    }
    uint64_t guid_of_own = own.guid, guid_of_far;
    own.is_switch = own.is_switch || own.port > NIC_PORTS_MAX;
    own.guid = 0; /* far ends are mostly told by LID alone */
    MYR_TRY(look_at(s, &own, err));
    /* The LID stands for the device; the GUID is kept beside it. */
    const uint32_t device = myr_strmap_get(
        &s->import->ids, myr_str_from(myr_arena_printf(s->import->cabling->arena, "lid %llu",
                                                       (unsigned long long)own.lid)));
    if (device != MYR_MAP_NONE) {
        struct myr_cabling_device *known = &s->import->cabling->devices.items[device];
        known->guid = known->guid ? known->guid : guid_of_own;
    }
    if (!guid_in_front(s, &guid_of_far) || !number(s, &far.lid)) {
        return MYR_OK; /* down: nothing behind the arrow */
    }
    if (!bracketed_port(s, &far.port) || !scan_take(s, "\"")) {
        return complain(s, "a port and a name in quotes", err);
    }
    far.name = scan_until(s, "\"");
    far.is_switch = far.port > NIC_PORTS_MAX;
    return ib_links_add(s->import, scan_here(s), &own, &far, gbps, width, err);
}

int import_iblinkinfo(struct myr_import *import, const char *file, struct myr_str text,
                      struct myr_err *err)
{
    return read_lines(import, file, text, read_linkinfo_line, err);
}

/* Blanks and quotes around a field. */
static struct myr_str trimmed(struct myr_str text)
{
    while (text.len && (text.data[0] == ' ' || text.data[0] == '"')) {
        text = (struct myr_str){text.data + 1, text.len - 1};
    }
    while (text.len && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '"')) {
        text.len--;
    }
    return text;
}

/* "leaf-1" , Mellanox Technologies , 0x98039b0300a1b2c4 , LID 7 */
static int dump_head(struct scan *s, struct ib_end *stanza, struct myr_err *err)
{
    (void)scan_take(s, "\"");
    *stanza = (struct ib_end){.name = scan_until(s, "\"")};
    /* The maker's name between may hold anything but a GUID. */
    const char *zero = memmem(s->at, (size_t)(s->end - s->at), "0x", 2);
    s->at = zero ? zero : s->end;
    if (!zero || !guid(s, " ,\t", &stanza->guid)) {
        return complain(s, "a GUID behind the device's name", err);
    }
    return ib_links_check_name(scan_here(s), stanza->name, err); /* not where it is used first */
}

/* Thirteen fields; the last is a name and may have colons of its own. */
static int read_dump_row(struct scan *s, struct ib_end *stanza, struct myr_err *err)
{
    enum {
        FIELDS = 13,
        IB = 1,
        LANES = 5,
        SPEED = 6,
        MODE = 7,
        GUID = 9,
        FAR_PORT = 10,
        NAME = 12
    };
    struct myr_str fields[FIELDS];
    struct ib_end own = *stanza, far = {.lid = 0};
    uint32_t count = 0, gbps, width;
    while (count < FIELDS) {
        struct myr_str one =
            count == NAME ? (struct myr_str){s->at, (size_t)(s->end - s->at)} : scan_until(s, ":");
        fields[count++] = trimmed(one);
        if (count == FIELDS || !scan_take(s, ":")) {
            break;
        }
    }
    if (count < FIELDS) {
        return complain(s, "a row of 13 fields between colons", err);
    }
    if (!myr_str_to_u64(fields[IB], &own.port)) {
        return MYR_OK; /* the head of the columns */
    }
    if (stanza->guid == 0) {
        return complain(s, "a device in quotes before its ports", err);
    }
    own.is_switch = own.is_switch || own.port > 1 || stanza->is_switch;
    struct scan far_guid = {.at = fields[GUID].data, .end = fields[GUID].data + fields[GUID].len};
    if (import_is_long_hex(fields[GUID])) {
        return complain(s, "a GUID of up to 16 digits", err);
    }
    if (!guid(&far_guid, " ", &far.guid) || far.guid == 0 ||
        !myr_str_to_u64(fields[FAR_PORT], &far.port)) {
        return look_at(s, &own, err); /* no cable */
    }
    far.name = fields[NAME];
    enum myr_link_fec fec = myr_link_fec(fields[MODE]);
    own.no_fec = fec == MYR_LINK_FEC_OFF;
    own.fec_word = fec == MYR_LINK_FEC_UNKNOWN ? fields[MODE] : MYR_STR("");
    char text[32];
    gbps = width = 0;
    double lane;
    /* Newer releases write the rate of a lane as a number, older ones its name. */
    if (myr_str_to_double(fields[SPEED], &lane) && fields[LANES].len > 1 && lane > 0 &&
        lane < 1000) {
        uint64_t lanes;
        bool told =
            myr_str_to_u64((struct myr_str){fields[LANES].data, fields[LANES].len - 1}, &lanes);
        width = told && lanes <= 16 ? (uint32_t)lanes : 0;
        gbps = (uint32_t)(import_lane_mbps(&s->import->speeds, (uint32_t)(lane * 1000)) * width /
                          1000);
        own.speed_word = unread_speed(fields[LANES], width);
    } else if (fields[LANES].len + fields[SPEED].len < sizeof(text)) {
        memcpy(text, fields[LANES].data, fields[LANES].len);
        memcpy(text + fields[LANES].len, fields[SPEED].data, fields[SPEED].len);
        struct myr_str both = {text, fields[LANES].len + fields[SPEED].len}, unread = {};
        bool good = import_speed(&s->import->speeds, both, &gbps, &width, &unread);
        own.speed_word = unread_speed(fields[SPEED], good && unread.len == 0);
    }
    /* The dump is of a fabric that was walked through whole: who is a neighbour was found. */
    MYR_TRY(look_at(s, &far, err));
    return ib_links_add(s->import, scan_here(s), &own, &far, gbps, width, err);
}

/* "{ SW Ports:41 .. NodeGUID:98039b0300a1b2c4 .. {leaf-1} LID:7 PN:26 }"; PN is hexadecimal. */
static int list_end(struct scan *s, struct ib_end *ret, struct myr_err *err)
{
    if (!scan_take(s, "{")) {
        return complain(s, "'{'", err);
    }
    ret->is_switch = scan_take(s, "SW");
    /* Words between are of no use. */
    while (s->at < s->end && !scan_take(s, "}")) {
        if (scan_take(s, "{")) {
            ret->name = scan_until(s, "}");
            (void)scan_take(s, "}");
        } else if (scan_take(s, "NodeGUID:")) {
            (void)guid(s, " \t}", &ret->guid);
        } else if (scan_take(s, "PortGUID:")) {
            struct myr_str text = scan_until(s, " \t}");
            struct scan one = {.at = text.data, .end = text.data + text.len};
            if (import_is_long_hex(text)) {
                return complain(s, "a GUID of up to 16 digits", err);
            }
            /* guid() reads any hexadecimal number, with or without "0x". */
            (void)guid(&one, " ", &ret->port_guid);
        } else if (scan_take(s, "PN:")) {
            (void)guid(s, " \t}", &ret->port);
        } else if (word(s).len == 0) {
            break;
        }
    }
    return ret->guid && ret->port ? MYR_OK : complain(s, "NodeGUID: and PN: of both ends", err);
}

/* Two ends in braces, then words with the width and the rate of a lane. */
static int read_list_row(struct scan *s, struct myr_err *err)
{
    struct ib_end own = {.lid = 0}, far = {.lid = 0};
    uint32_t gbps = 0, width = 0;
    MYR_TRY(list_end(s, &own, err));
    MYR_TRY(list_end(s, &far, err));
    uint64_t lanes = 0;
    double lane = 0;
    while (s->at < s->end) {
        struct myr_str one = word(s);
        if (one.len > 5 && memcmp(one.data, "PHY=", 4) == 0) {
            uint64_t told;
            lanes = myr_str_to_u64((struct myr_str){one.data + 4, one.len - 5}, &told) ? told : 0;
        } else if (one.len > 4 && memcmp(one.data, "SPD=", 4) == 0) {
            double told;
            struct myr_str rate = {one.data + 4, one.len - 4};
            bool good = myr_str_to_double(rate, &told) && told > 0 && told < 1000;
            lane = good ? told : 0;
            own.speed_word = unread_speed(rate, good);
        }
    }
    if (lanes && lanes <= 16 && lane > 0) {
        width = (uint32_t)lanes;
        gbps = (uint32_t)(import_lane_mbps(&s->import->speeds, (uint32_t)(lane * 1000)) * width /
                          1000);
    }
    return ib_links_add(s->import, scan_here(s), &own, &far, gbps, width, err);
}

/* How a line begins tells the file: rows of a list, heads and rows of a dump. */
static int read_ibdiagnet_line(struct scan *s, struct ib_end *stanza, struct myr_err *err)
{
    return *s->at == '{'   ? read_list_row(s, err)
           : *s->at == '"' ? dump_head(s, stanza, err)
                           : read_dump_row(s, stanza, err);
}

int import_ibdiagnet(struct myr_import *import, const char *file, struct myr_str text,
                     struct myr_err *err)
{
    /* Its other files are told by words that no line of these has. */
    size_t start = text.len < LOOK_BYTES ? text.len : LOOK_BYTES;
    if (memmem(text.data, start, "Port Name=", 10) && memmem(text.data, start, "GUID=0x", 7)) {
        return import_ib_cables(import, file, text, err);
    }
    if (memmem(text.data, start, "G-> ", 4)) {
        return import_ib_topo(import, file, text, err);
    }
    return read_lines(import, file, text, read_ibdiagnet_line, err);
}
