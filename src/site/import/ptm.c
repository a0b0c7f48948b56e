#include "import/scan.h"
#include "myriad/site/binding.h"

/*
 * Two plain texts:
 *
 *   PTM     graph G { "leaf1":"swp1" -- "spine1":"swp41" [key="value"]; }
 *   SONiC   show lldp table: LocalPort, RemoteDevice, RemotePortID in columns below a rule of
 * dashes
 */

/* A name in quotes, or a word up to one of dot's own signs. */
static struct myr_str name(struct scan *s)
{
    bool quote = scan_take(s, "\"");
    const char *start = s->at;
    while (s->at < s->end && (quote ? *s->at != '"' : !strchr(" \t:;[{}", *s->at))) {
        s->at++;
    }
    struct myr_str found = {start, (size_t)(s->at - start)};
    if (quote && !scan_take(s, "\"")) {
        return MYR_STR("");
    }
    return found;
}

/* Errors point at the beginning of the end. */
static int ptm_end(struct scan *s, struct myr_cabling_end *ret, struct myr_err *err)
{
    struct myr_cabling *cabling = s->import->cabling;
    struct import_place place = scan_here(s);
    struct myr_str device = name(s);
    if (device.len == 0 || !scan_take(s, ":")) {
        return import_error(err, place, "\"device\":\"port\" is expected");
    }
    struct myr_str port = name(s);
    if (port.len == 0 || !import_name_is_good(device) || !import_name_is_good(port)) {
        return import_error(err, place, "a device and a port of 1 to %u printable bytes",
                            MYR_IMPORT_NAME_MAX);
    }
    MYR_TRY(import_check_room(s->import, place, err));
    ret->device = myr_cabling_device(cabling, import_tidy(s->import, device));
    ret->port = import_tidy(s->import, port);
    cabling->devices.items[ret->device].reported = !s->import->partial;
    return MYR_OK;
}

/* Both ends are as planned or found by whoever wrote the file: not one-sided. */
static int read_edge(struct scan *s, struct myr_err *err)
{
    struct myr_cabling_link link = {.line = s->line,
                                    .file = (uint32_t)s->import->cabling->files.count - 1};
    MYR_TRY(ptm_end(s, &link.a, err));
    if (!scan_take(s, "--") && !scan_take(s, "->")) {
        return import_error(err, scan_here(s), "'--' is expected between the two ends");
    }
    MYR_TRY(ptm_end(s, &link.b, err));
    if (link.a.device == link.b.device && myr_str_eq(link.a.port, link.b.port)) {
        return import_error(err, scan_here(s), "the cable ends where it begins");
    }
    if (scan_take(s, "[")) { /* attributes */
        while (s->at < s->end && *s->at != ']') {
            s->at++;
        }
        (void)scan_take(s, "]");
    }
    (void)scan_take(s, ";");
    myr_vec_push(&s->import->cabling->links, link);
    return MYR_OK;
}

/* The end of the statement at hand, and whether it is an edge: dot sets attributes too. */
static const char *statement_end(const struct scan *s, bool *ret_edge)
{
    bool quote = false, list = false, colon = false, equals = false, arrows = false;
    const char *at = s->at;
    for (; at < s->end; at++) {
        quote = quote != (*at == '"');
        if (quote) {
            continue;
        }
        /* Signs within brackets belong to attributes. */
        list = (list || *at == '[') && *at != ']';
        bool remark = *at == '/' && at + 1 < s->end && (at[1] == '/' || at[1] == '*');
        if (!list && (remark || *at == ';' || *at == '{' || *at == '}' || *at == '#')) {
            break;
        }
        bool arrow = *at == '-' && at + 1 < s->end && (at[1] == '-' || at[1] == '>');
        arrows = arrows || (!list && arrow);
        colon = colon || (!list && *at == ':');
        equals = equals || (!list && *at == '=');
    }
    /*
     * An end without an arrow is an edge that is broken; and a quote that is left open may hide
     * one, which must not get lost in silence.
     */
    *ret_edge = arrows || quote || (colon && !equals);
    return at;
}

/* Past a remark that runs over lines; true while the text is inside of one. */
static bool skip_remark(struct scan *s, bool inside)
{
    if (!inside && !scan_take(s, "/*")) {
        return false;
    }
    const char *end = memmem(s->at, (size_t)(s->end - s->at), "*/", 2);
    s->at = end ? end + 2 : s->end;
    return end == NULL;
}

/* A line may hold several, and a remark may go on over lines. */
static int read_statements(struct scan *s, bool *inside, struct myr_err *err)
{
    for (scan_blanks(s); s->at < s->end; scan_blanks(s)) {
        bool edge, remark = s->end - s->at > 1 && s->at[0] == '/' && s->at[1] == '/';
        *inside = skip_remark(s, *inside);
        scan_blanks(s);
        if (*inside || s->at == s->end || *s->at == '#' || remark) {
            return MYR_OK;
        }
        const char *end = statement_end(s, &edge);
        if (edge) {
            MYR_TRY(read_edge(s, err));
        } else {
            /* Attributes, a brace, the graph's name; a remark behind them is looked at next. */
            s->at = end + (end < s->end && *end != '#' && *end != '/');
        }
    }
    return MYR_OK;
}

int import_ptm(struct myr_import *import, const char *file, struct myr_str text,
               struct myr_err *err)
{
    struct scan s = scan_of(import, file, text);
    size_t links = import->cabling->links.count;
    bool inside = false;
    while (scan_line(&s)) {
        MYR_TRY(read_statements(&s, &inside, err));
    }
    /* A graph without edges is whole, if empty; a text without either is no graph. */
    if (import->cabling->links.count == links && !memmem(text.data, text.len, "graph", 5)) {
        return import_error(err, ((struct import_place){file, 1, 1}),
                            "\"device\":\"port\" -- \"device\":\"port\" is expected");
    }
    return MYR_OK;
}

/* Columns are as wide as the dashes below their heads. */
/* The port's description, the last of five, may be missing. */
enum { COLUMNS = 3, DESCRIPTION = 4, COLUMNS_MAX = 5 };

struct columns {
    size_t start[COLUMNS_MAX], len[COLUMNS_MAX]; /* in bytes of a line */
    uint32_t count;
};

/* A line of dashes and blanks alone, of three columns at least. */
static bool read_rule(const struct scan *s, struct columns *ret)
{
    size_t len = (size_t)(s->end - s->line_start);
    *ret = (struct columns){.count = 0};
    for (size_t i = 0; i < len;) {
        size_t start = i;
        while (i < len && s->line_start[i] == '-') {
            i++;
        }
        if (i > start && ret->count < COLUMNS_MAX) {
            ret->start[ret->count] = start;
            ret->len[ret->count++] = i - start;
        }
        if (i < len && s->line_start[i] != ' ' && s->line_start[i] != '-') {
            return false;
        }
        i += i < len && s->line_start[i] == ' ';
    }
    return ret->count >= COLUMNS;
}

/* Lines may end before their last columns. */
static struct myr_str cell(struct scan *s, const struct columns *columns, uint32_t column)
{
    size_t len = (size_t)(s->end - s->line_start), start = columns->start[column];
    size_t room = start < len ? len - start : 0;
    struct myr_str text = {s->line_start + (start < len ? start : len),
                           room < columns->len[column] ? room : columns->len[column]};
    return import_tidy(s->import, text);
}

/* What the neighbour calls its port; of one that sends an address, the description is the name. */
static struct myr_str far_port(struct scan *s, const struct columns *columns)
{
    struct myr_str port = cell(s, columns, 2);
    uint64_t mac;
    if (columns->count <= DESCRIPTION || !myr_mac_parse(port, &mac)) {
        return port;
    }
    struct columns last = *columns;
    last.len[DESCRIPTION] = SIZE_MAX; /* nothing stands behind it */
    struct myr_str description = cell(s, &last, DESCRIPTION);
    return description.len ? description : port;
}

/* Neighbours without a name or port say only that something is there. */
static int read_neighbour(struct scan *s, const struct columns *columns, uint32_t device,
                          struct myr_err *err)
{
    struct myr_cabling *cabling = s->import->cabling;
    struct myr_str own = cell(s, columns, 0), far = cell(s, columns, 1);
    struct myr_str port = far_port(s, columns);
    if (own.len == 0 || own.data[0] == '-' ||
        myr_str_eq(own, MYR_STR("Total entries displayed:"))) {
        return MYR_OK;
    }
    if (!import_name_is_good(own) || !import_name_is_good(far) || !import_name_is_good(port)) {
        return import_error(err, scan_here(s), "a name has control characters or is too long");
    }
    MYR_TRY(import_check_room(s->import, scan_here(s), err));
    if (far.len && port.len) {
        struct myr_cabling_link link = {.a = {device, own},
                                        .b = {myr_cabling_device(cabling, far), port},
                                        .one_sided = true,
                                        .line = s->line,
                                        .file = (uint32_t)cabling->files.count - 1};
        myr_vec_push(&cabling->links, link);
    }
    return MYR_OK;
}

/* Heads until the rule of dashes, then rows. */
int import_sonic_lldp(struct myr_import *import, const char *file, struct myr_str text,
                      struct myr_err *err)
{
    struct scan s = scan_of(import, file, text);
    struct columns columns = {.count = 0};
    /* The table does not say whose it is. */
    struct myr_str stem = import_stem(file);
    if (stem.len == 0 || !import_name_is_good(stem)) {
        struct import_place place = {file, 1, 1};
        int rc = import_error(err, place, "whose neighbours these are is not told");
        myr_err_hint(err, "name the file after the device");
        return rc;
    }
    uint32_t device = myr_cabling_device(import->cabling, stem);
    import->cabling->devices.items[device].by_file = true;
    while (scan_line(&s)) {
        bool total = s.end - s.at > 5 && memcmp(s.at, "Total", 5) == 0;
        if (columns.count == 0) {
            (void)read_rule(&s, &columns);
            columns.count = columns.count >= COLUMNS ? columns.count : 0;
        } else if (!total) {
            MYR_TRY(read_neighbour(&s, &columns, device, err));
        }
    }
    if (columns.count == 0) {
        struct import_place place = {file, 1, 1};
        return import_error(err, place, "no rule of dashes below the heads of a table");
    }
    import->cabling->devices.items[device].reported = !import->partial;
    import->cabling->devices.items[device].whole = true;
    return MYR_OK;
}
