/*
 * kind: what a file is, by a look at its beginning, so that whoever gives the wrong one is told so
 * and not where its grammar breaks. The order of the questions matters: from what only one kind has
 * to what many have.
 */
#include "myriad/text/kind.h"

#include <stdio.h>

#include "kind_other.h"
#include "message.h"
#include "myriad/base/infile.h"
#include "myriad/text/doc.h"
#include "utf8.h"

/* Enough to see the keys of a document; a text of gigabytes is not read for a guess. */
enum { LOOK_BYTES = 16 * 1024, KEYS_MAX = 24, SHOWN_KEYS = 3, KEY_BYTES_MAX = 64 };

/* The top-level keys of a document, as far as they were looked at. */
struct keys {
    struct myr_str items[KEYS_MAX];
    char values[KEYS_MAX]; /* how each value begins; NUL: on another line */
    uint32_t count;
};

/* 'ret_value' is set only where the key is there. */
static bool has_key(const struct keys *keys, const char *name, char *ret_value)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (myr_str_eq(keys->items[i], myr_str_from(name))) {
            *ret_value = keys->values[i];
            return true;
        }
    }
    return false;
}

/* What does not fit is left out: a guess needs no more, and a key of that length is no key. */
static void add_key(struct keys *keys, struct myr_str key, char value)
{
    if (keys->count < KEYS_MAX && key.len > 0 && key.len <= KEY_BYTES_MAX) {
        keys->values[keys->count] = value;
        keys->items[keys->count++] = key;
    }
}

static bool begins(struct myr_str text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.data, with, len) == 0;
}

/* Anywhere in the part that is looked at. */
static bool contains(struct myr_str text, const char *word)
{
    return memmem(text.data, text.len, word, strlen(word)) != NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Blanks and line ends at both ends. */
static struct myr_str trim(struct myr_str text)
{
    while (text.len > 0 && is_blank(text.data[0])) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && is_blank(text.data[text.len - 1])) {
        text.len--;
    }
    return text;
}

/* The next line without its end; 'rest' moves behind it. */
static struct myr_str next_line(struct myr_str *rest)
{
    const char *end = memchr(rest->data, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->data) : rest->len;
    struct myr_str line = {rest->data, len};
    rest->data += end ? len + 1 : len;
    rest->len -= end ? len + 1 : len;
    if (line.len > 0 && line.data[line.len - 1] == '\r') {
        line.len--;
    }
    return line;
}

/* Past blank lines and remarks; "#,Cable,..." is the header of a list whose rows are numbered. */
static struct myr_str first_line(struct myr_str text)
{
    while (text.len > 0) {
        struct myr_str line = next_line(&text), words = trim(line);
        bool remark = words.len > 0 && words.data[0] == '#';
        if (words.len > 0 && (!remark || (words.len > 1 && words.data[1] == ','))) {
            return line;
        }
    }
    return MYR_STR("");
}

/* The first byte from 'at' that is no blank; NUL at the end. */
static char byte_after(struct myr_str text, size_t *at)
{
    while (*at < text.len && is_blank(text.data[*at])) {
        (*at)++;
    }
    return *at < text.len ? text.data[*at] : '\0';
}

/* Keys in quotes at the first depth of braces. */
static void json_keys(struct myr_str text, struct keys *ret)
{
    int depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '"') {
            /*
             * An escape skips two bytes, so that a quote behind a backslash does not end the
             * string.
             */
            size_t start = ++i;
            while (i < text.len && text.data[i] != '"') {
                i += text.data[i] == '\\' ? 2 : 1;
            }
            size_t end = i < text.len ? i : text.len, after = end + 1;
            if (depth == 1 && byte_after(text, &after) == ':') {
                after++;
                char value = byte_after(text, &after);
                add_key(ret, (struct myr_str){text.data + start, end - start}, value);
            }
        } else {
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        }
    }
}

/* Bytes from 0x80 on are letters of other scripts, as far as this look goes. */
static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || (unsigned char)c >= 0x80;
}

/* "key:" or "key: value" at the start of a line. */
static struct myr_str yaml_key(struct myr_str line)
{
    size_t len = 0;
    while (len < line.len && is_word_byte(line.data[len])) {
        len++;
    }
    bool colon = len > 0 && len < line.len && line.data[len] == ':';
    bool key = colon && (len + 1 == line.len || is_blank(line.data[len + 1]));
    return (struct myr_str){line.data, key ? len : 0};
}

/* Lines that are indented begin with a blank and have no key here: only the top level counts. */
static void yaml_keys(struct myr_str text, struct keys *ret)
{
    while (text.len > 0) {
        struct myr_str line = next_line(&text);
        struct myr_str key = yaml_key(line);
        size_t after = key.len + 1;
        add_key(ret, key, byte_after(line, &after));
    }
}

/* Only what has a key that no other document has. */
static enum myr_kind document_kind(const struct keys *keys, enum myr_kind otherwise)
{
    static const char *const sections[] = {"switches", "transceivers", "cables",   "gpus",
                                           "nics",     "ethernet",     "services", "racks"};
    char value;
    if (has_key(keys, "lldp", &value)) {
        return MYR_KIND_LLDP;
    }
    if (has_key(keys, "cable_types", &value) && has_key(keys, "gpus_per_node", &value)) {
        return MYR_KIND_DESIGN_JSON;
    }
    /* A catalogue has servers too: those are a map. */
    if (has_key(keys, "servers", &value) && value >= '0' && value <= '9') {
        return MYR_KIND_SPEC;
    }
    if (has_key(keys, "design", &value) && has_key(keys, "devices", &value)) {
        return MYR_KIND_BINDING;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sections); i++) {
        if (has_key(keys, sections[i], &value)) {
            return MYR_KIND_CATALOG;
        }
    }
    return otherwise;
}

/* Headers are compared by their letters and digits, as their readers do. */
static bool has_column(struct myr_str header, const char *wanted)
{
    char plain[512];
    size_t len = 0;
    plain[len++] = ',';
    for (size_t i = 0; i < header.len && len + 2 < sizeof(plain); i++) {
        char c = header.data[i];
        c = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        if (c == ',' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            plain[len++] = c;
        }
    }
    plain[len++] = ',';
    return memmem(plain, len, wanted, strlen(wanted)) != NULL;
}

/* A row of words between commas is the header of a list; a line of a document has "key: ". */
static bool is_header(struct myr_str line)
{
    bool quoted = line.data[0] == '"' && contains(line, "\",\"");
    return memchr(line.data, ',', line.len) && !contains(line, ": ") && !contains(line, "=") &&
           (quoted || !strchr("{[-?%&!\"'<(", line.data[0])) && line.data[line.len - 1] != ':';
}

/* By the two ends that a list of cables names; a list of anything else is just CSV. */
static enum myr_kind list_kind(struct myr_str header)
{
    if ((has_column(header, ",sideadevice,") && has_column(header, ",sidebdevice,")) ||
        (has_column(header, ",devicea,") && has_column(header, ",deviceb,"))) {
        return MYR_KIND_NETBOX;
    }
    static const char *const ends[][2] = {{",anodename,", ",znodename,"},
                                          {",anode,", ",znode,"},
                                          {",adevice,", ",zdevice,"},
                                          {",sourcedevice,", ",destinationdevice,"},
                                          {",fromdevice,", ",todevice,"}};
    /* Either end may be named in any of the ways, also two of them mixed. */
    bool a = false, z = false;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        a = a || has_column(header, ends[i][0]);
        z = z || has_column(header, ends[i][1]);
    }
    /* Sheets that name both ends alike. */
    bool alike = has_column(header, ",name,") && has_column(header, ",hcaport,");
    return (a && z) || alike ? MYR_KIND_P2P : MYR_KIND_CSV;
}

/* A list that would be one of ours with commas between its columns. */
static bool is_separated(struct myr_str line)
{
    char plain[512];
    size_t len = line.len < sizeof(plain) ? line.len : sizeof(plain);
    bool other = memchr(line.data, ';', line.len) || memchr(line.data, '\t', line.len);
    for (size_t i = 0; i < len; i++) {
        char c = line.data[i];
        plain[i] = (char)(c == ';' || c == '\t' ? ',' : c);
    }
    struct myr_str header = {plain, len};
    return other && (list_kind(header) != MYR_KIND_CSV ||
                     (has_column(header, ",from,") && has_column(header, ",to,")));
}

/* A NUL decides at once; other bytes that are no text must be many. */
static bool is_binary(struct myr_str text)
{
    size_t bad = 0;
    for (size_t at = 0; at < text.len;) {
        char c = text.data[at];
        uint32_t code = utf8_next(text, &at);
        bool cut = code == UTF8_BAD && text.len - at < 4; /* the window ends within a character */
        if (c == '\0') {
            return true;
        }
        bad += (code == UTF8_BAD && !cut) || (code < 0x20 && !is_blank(c));
    }
    /* One stray byte is a typing error, for which the reader names the place. */
    return bad > 4 && bad > text.len / 8;
}

/* MYR_KIND_TEXT stands for "goes on to be looked at". */
static enum myr_kind magic_kind(struct myr_str text)
{
    static const struct {
        const char *magic;
        enum myr_kind kind;
    } magics[] = {{"MYRIAD", MYR_KIND_DESIGN},
                  {"\x1F\x8B", MYR_KIND_GZIP},
                  {"PK\x03\x04", MYR_KIND_ZIP},
                  {"\xFF\xFE", MYR_KIND_UTF16},
                  {"\xFE\xFF", MYR_KIND_UTF16}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(magics); i++) {
        if (begins(text, magics[i].magic)) {
            return magics[i].kind;
        }
    }
    return is_binary(text) ? MYR_KIND_BINARY : MYR_KIND_TEXT;
}

/* A drawing first: text that holds one counts as one, whatever is around it. */
static enum myr_kind markup_kind(struct myr_str text)
{
    if (contains(text, "<svg")) {
        return MYR_KIND_SVG;
    }
    bool html = contains(text, "<html") || contains(text, "<!DOCTYPE html") ||
                contains(text, "<!doctype html");
    return html ? MYR_KIND_HTML : MYR_KIND_XML;
}

/* By how the first line that says anything begins, or by the remark that the tool writes on top. */
static bool is_ibnetdiscover(struct myr_str text, struct myr_str line)
{
    static const char *const words[] = {
        "vendid=", "devid=", "sysimgguid=", "switchguid=", "Switch\t",
        "Switch ", "Ca\t",   "Hca\t",       "Hca ",        "Ca "};
    if (contains(line, "\t: 0x")) {
        return false; /* a list of switches or hosts, without links */
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (begins(line, words[i])) {
            return true;
        }
    }
    return contains(text, "# Topology file: generated on");
}

/* Tools that print a line a port. */
static enum myr_kind line_kind(struct myr_str text, struct myr_str line)
{
    bool lid = line.len > 3 && (line.data[2] == ' ' || line.data[2] == '\t');
    if (lid && (begins(line, "SW") || begins(line, "CA")) && contains(line, " 0x")) {
        return MYR_KIND_IB_LINES;
    }
    bool one_line = begins(line, "0x") && contains(line, "==(") && contains(line, ")==>");
    if (one_line || begins(line, "Switch: ") || begins(line, "CA: ")) {
        return MYR_KIND_IBLINKINFO;
    }
    bool cables = contains(text, "\nPort=") && contains(text, "Port Name=");
    if (cables || contains(text, "G-> HCA_") || contains(text, "G-> MQM") ||
        contains(text, "Neighbor Guid") || begins(line, "{ SW ") || begins(line, "{ CA ")) {
        return MYR_KIND_IBDIAGNET;
    }
    if (contains(text, "LocalPort") && contains(text, "RemoteDevice")) {
        return MYR_KIND_SONIC_LLDP;
    }
    bool remark = begins(line, "/*") || begins(line, "//") || begins(line, "strict ");
    bool graph = begins(line, "graph ") || begins(line, "digraph ") || begins(line, "graph{") ||
                 (remark && contains(text, "graph ") && contains(text, " -- "));
    return graph || (begins(line, "\"") && contains(line, "\" -- \"")) ? MYR_KIND_PTM
                                                                       : MYR_KIND_TEXT;
}

/* "[17]", as ibnetdiscover names a port; a list of one number is no document. */
static bool is_port(struct myr_str text)
{
    size_t at = 1;
    while (at < text.len && text.data[at] >= '0' && text.data[at] <= '9') {
        at++;
    }
    return at > 1 && at < text.len && text.data[at] == ']';
}

/* A mark of UTF-8 in front is no content. */
static struct myr_str beginning(struct myr_str text)
{
    text = utf8_skip_mark(text);
    return (struct myr_str){text.data, text.len < LOOK_BYTES ? text.len : LOOK_BYTES};
}

/* 'ret_line' is the line that decided, 'ret_keys' the keys of a document. */
static enum myr_kind known_kind(struct myr_str whole, struct myr_str *ret_line,
                                struct keys *ret_keys)
{
    struct myr_str text = beginning(whole);
    *ret_line = MYR_STR("");
    *ret_keys = (struct keys){};
    if (trim(text).len == 0) {
        return MYR_KIND_EMPTY;
    }
    enum myr_kind kind = magic_kind(text);
    if (kind != MYR_KIND_TEXT) {
        return kind;
    }
    char first = trim(text).data[0];
    if (begins(trim(text), "{ SW Ports:") || begins(trim(text), "{ CA Ports:")) {
        return MYR_KIND_IBDIAGNET;
    }
    if (first == '{' || (first == '[' && !is_port(trim(text)))) {
        json_keys(text, ret_keys);
        /* Comparisons and lists of links of fabric managers: told by keys deep inside. */
        bool compared = contains(text, "\"Added Links\"") || contains(text, "\"Removed Links\"") ||
                        (contains(text, "\"added\"") && contains(text, "\"removed\""));
        if (compared || contains(text, "\"source_port_node_description\"") ||
            (contains(text, "\"source_guid\"") && contains(text, "\"destination_guid\"")) ||
            contains(text, "\"peerHostname\"") || contains(text, "\"peer_hostname\"")) {
            return MYR_KIND_LINKS_JSON;
        }
        /* Texts of several devices stand under their names: {"leaf-1": {"lldp": ... */
        bool named = contains(text, "{\"lldp\":") || contains(text, "{ \"lldp\":") ||
                     contains(text, " \"lldp\": {");
        return document_kind(ret_keys, named ? MYR_KIND_LLDP : MYR_KIND_JSON);
    }
    if (first == '<') {
        return markup_kind(text);
    }
    /* From here on the first line that is no remark decides. */
    struct myr_str line = *ret_line = first_line(text);
    if (begins(trim(text), "Errors for") || begins(trim(text), "## Summary:")) {
        return MYR_KIND_IBQUERYERRORS;
    }
    if (begins(line, "Unicast lids") || begins(line, "Unicast LIDs")) {
        return MYR_KIND_FORWARDING;
    }
    if (is_ibnetdiscover(text, line)) {
        return MYR_KIND_IBNETDISCOVER;
    }
    kind = line_kind(text, trim(line));
    if (kind != MYR_KIND_TEXT) {
        return kind;
    }
    if (begins(line, "lldp.") || contains(line, "LLDP neighbors:") ||
        contains(text, "\nLLDP neighbors:\n")) {
        return MYR_KIND_LLDP_TEXT;
    }
    /* Before plain CSV: a list with other separators may hold a comma too. */
    if (line.len > 0 && is_separated(line)) {
        return MYR_KIND_SEPARATED;
    }
    if (line.len > 0 && is_header(line)) {
        return list_kind(line);
    }
    /* What is left is YAML if its first line has a key, else just text. */
    yaml_keys(text, ret_keys);
    bool starts_with_key = yaml_key(line).len > 0 || begins(line, "---");
    return starts_with_key ? document_kind(ret_keys, MYR_KIND_YAML) : MYR_KIND_TEXT;
}

/* What is one of ours is that; what is nothing in particular may be somebody else's. */
static enum myr_kind look(struct myr_str whole, struct myr_str *ret_line, struct keys *ret_keys,
                          const struct kind_other **ret_other)
{
    enum myr_kind kind = known_kind(whole, ret_line, ret_keys);
    struct myr_str text = beginning(whole);
    bool open = kind == MYR_KIND_TEXT || kind == MYR_KIND_BINARY || kind == MYR_KIND_CSV ||
                kind == MYR_KIND_YAML || kind == MYR_KIND_JSON || kind == MYR_KIND_XML;
    *ret_other = open ? kind_other_of(text, first_line(text)) : NULL;
    return *ret_other ? MYR_KIND_OTHER : kind;
}

enum myr_kind myr_kind_of(struct myr_str text)
{
    struct myr_str line;
    struct keys keys;
    const struct kind_other *other;
    return look(text, &line, &keys, &other);
}

/* "YAML with the keys 'a', 'b'" */
static const char *document_words(const char *what, const struct keys *keys,
                                  char ret[MYR_KIND_WORDS_MAX])
{
    size_t len = (size_t)snprintf(ret, MYR_KIND_WORDS_MAX, "%s", what);
    for (uint32_t i = 0; i < keys->count && i < SHOWN_KEYS; i++) {
        const char *lead = i > 0 ? ", " : keys->count > 1 ? " with the keys " : " with the key ";
        char excerpt[MYR_EXCERPT_MAX];
        int more = snprintf(ret + len, MYR_KIND_WORDS_MAX - len, "%s'%.40s'", lead,
                            myr_text_excerpt(keys->items[i], excerpt));
        len += more > 0 && len + (size_t)more < MYR_KIND_WORDS_MAX ? (size_t)more : 0;
    }
    return ret;
}

const char *myr_kind_words(struct myr_str text, char ret[MYR_KIND_WORDS_MAX])
{
    static const char *const names[MYR_KIND_COUNT] = {
        [MYR_KIND_TEXT] = "some text",
        [MYR_KIND_EMPTY] = "an empty file",
        [MYR_KIND_BINARY] = "binary data",
        [MYR_KIND_GZIP] = "a gzip archive",
        [MYR_KIND_ZIP] = "a ZIP archive or an Excel workbook",
        [MYR_KIND_UTF16] = "text in UTF-16",
        [MYR_KIND_DESIGN] = "a design.myr",
        [MYR_KIND_SVG] = "an SVG drawing",
        [MYR_KIND_HTML] = "an HTML page",
        [MYR_KIND_XML] = "XML",
        [MYR_KIND_IBNETDISCOVER] = "ibnetdiscover output",
        [MYR_KIND_IBQUERYERRORS] = "ibqueryerrors output",
        [MYR_KIND_FORWARDING] = "forwarding tables of a subnet manager",
        [MYR_KIND_JSON] = "JSON",
        [MYR_KIND_LLDP] = "lldpcli's JSON",
        [MYR_KIND_LLDP_TEXT] = "lldpcli's text",
        [MYR_KIND_DESIGN_JSON] = "a design.json",
        [MYR_KIND_CSV] = "a CSV list",
        [MYR_KIND_P2P] = "a point-to-point list in CSV",
        [MYR_KIND_NETBOX] = "a NetBox cable list in CSV",
        [MYR_KIND_SEPARATED] = "a list with ';' or tabs between its columns",
        [MYR_KIND_YAML] = "YAML",
        [MYR_KIND_SPEC] = "a spec",
        [MYR_KIND_CATALOG] = "a catalogue",
        [MYR_KIND_BINDING] = "a binding",
        [MYR_KIND_IB_LINES] = "output of 'ibnetdiscover -p'",
        [MYR_KIND_IBLINKINFO] = "iblinkinfo output",
        [MYR_KIND_IBDIAGNET] = "ibdiagnet output",
        [MYR_KIND_LINKS_JSON] = "links of UFM or NetQ as JSON",
        [MYR_KIND_SONIC_LLDP] = "SONiC's 'show lldp table'",
        [MYR_KIND_PTM] = "a graph in dot",
    };
    struct myr_str line;
    struct keys keys;
    const struct kind_other *other;
    enum myr_kind kind = look(text, &line, &keys, &other);
    char excerpt[MYR_EXCERPT_MAX];
    if (kind == MYR_KIND_CSV) {
        snprintf(ret, MYR_KIND_WORDS_MAX, "%s with the header '%s'", names[kind],
                 myr_text_excerpt(line, excerpt));
        return ret;
    }
    if (kind == MYR_KIND_JSON || kind == MYR_KIND_YAML) {
        return document_words(names[kind], &keys, ret);
    }
    snprintf(ret, MYR_KIND_WORDS_MAX, "%s", other ? other->words : names[kind]);
    return ret;
}

/* What is nothing in particular passes: the reader knows better what is wrong with it. */
int myr_kind_check(const char *file, struct myr_str text, uint32_t wanted, const char *expected,
                   struct myr_err *err)
{
    /* What to do about kinds that can be turned into one that is read. */
    static const char *const hints[MYR_KIND_COUNT] = {
        [MYR_KIND_GZIP] = "gunzip it first, or: zcat FILE | myriad ... -",
        [MYR_KIND_ZIP] = "in a spreadsheet, save as \"CSV UTF-8\"",
        [MYR_KIND_UTF16] = "save it as UTF-8, or: iconv -f UTF-16 -t UTF-8 FILE | myriad ... -",
        [MYR_KIND_LLDP_TEXT] = "lldpcli -f json show neighbors, whose output is read",
        [MYR_KIND_SEPARATED] = "put commas between the columns, or save as \"CSV UTF-8\"",
    };
    char words[MYR_KIND_WORDS_MAX];
    struct myr_str line;
    struct keys keys;
    const struct kind_other *other;
    enum myr_kind kind = look(text, &line, &keys, &other);
    /* What is wrong is the whole file: its first character stands for it. */
    struct text_place start = {1, 1};
    MYR_ASSERT(kind < MYR_KIND_COUNT);
    if (kind == MYR_KIND_TEXT || (wanted & 1U << kind)) {
        return MYR_OK;
    }
    if (kind == MYR_KIND_EMPTY) {
        return text_error_at(err, file, start, MYR_EINVAL, "the file is empty, %s is expected",
                             expected);
    }
    int rc = text_error_at(err, file, start, MYR_EINVAL, "looks like %s; %s is expected",
                           myr_kind_words(text, words), expected);
    const char *hint = other ? other->hint : hints[kind];
    if (hint) {
        myr_err_hint(err, "%s", hint);
    }
    return rc;
}

int myr_kind_read(const char *path, size_t limit, uint32_t wanted, const char *expected,
                  struct myr_buf *ret, struct myr_err *err)
{
    /* Read piece by piece: the limit is noticed before the whole file is in memory. */
    enum { PIECE_BYTES = 64 * 1024 };
    MYR_CLEANUP(myr_infile_close) struct myr_infile file = {.fd = -1};
    bool looked = false;
    int more = 1;
    MYR_TRY(myr_infile_open(&file, path, err));
    myr_buf_clear(ret);
    while (more > 0) {
        more = myr_infile_read(&file, PIECE_BYTES, ret, err);
        if (more < 0) {
            return more;
        }
        if (ret->len > limit) {
            return myr_err_set(err, MYR_ERANGE, "%s: larger than %zu bytes, the most allowed here",
                               path, limit);
        }
        /*
         * As soon as there is enough: a file of the wrong kind is refused before gigabytes of it
         * are read.
         */
        if (!looked && (more == 0 || ret->len >= LOOK_BYTES)) {
            struct myr_str text = {ret->data, ret->len};
            MYR_TRY(myr_kind_check(path, text, wanted, expected, err));
            looked = true;
        }
    }
    return MYR_OK;
}
