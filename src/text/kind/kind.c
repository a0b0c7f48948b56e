/*
 * kind: what a file is, by a look at its beginning, so that whoever gives the wrong one is told so
 * and not where its grammar breaks. The order of the questions matters: from what only one kind has
 * to what many have.
 */
#include "kind/look.h"
#include "letter/scan.h"
#include "letter/secret.h"
#include "letter/utf8.h"

/* Past blank lines and remarks; "#,Cable,..." is the header of a list whose rows are numbered. */
static struct myr_str first_line(struct myr_str text)
{
    while (text.len > 0) {
        struct myr_str line = kind_next_line(&text), words = kind_trim(line);
        bool remark = words.len > 0 && words.data[0] == '#';
        if (words.len > 0 && (!remark || (words.len > 1 && words.data[1] == ','))) {
            return line;
        }
    }
    return MYR_STR("");
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
    bool quoted = line.data[0] == '"' && kind_contains(line, "\",\"");
    return memchr(line.data, ',', line.len) && !kind_contains(line, ": ") &&
           !kind_contains(line, "=") && (quoted || !strchr("{[-?%&!\"'<(", line.data[0])) &&
           line.data[line.len - 1] != ':';
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
    /* Short words are of cables where ports are told too: flows have them as well. */
    bool ports = has_column(header, ",port,") || has_column(header, ",hcaport,");
    a = a || (has_column(header, ",from,") && (ports || has_column(header, ",fromport,"))) ||
        (has_column(header, ",source,") && (ports || has_column(header, ",sourceport,")));
    z = z || (has_column(header, ",to,") && (ports || has_column(header, ",toport,"))) ||
        (has_column(header, ",destination,") && (ports || has_column(header, ",destinationport,")));
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
        bad += (code == UTF8_BAD && !cut) || (code < 0x20 && !kind_is_blank(c));
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
    } magics[] = {{"MYRIAD", MYR_KIND_DESIGN},  {"MYRSIMRN", MYR_KIND_SAVED},
                  {"\x1F\x8B", MYR_KIND_GZIP},  {"PK\x03\x04", MYR_KIND_ZIP},
                  {"\xFF\xFE", MYR_KIND_UTF16}, {"\xFE\xFF", MYR_KIND_UTF16}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(magics); i++) {
        if (kind_begins(text, magics[i].magic)) {
            return magics[i].kind;
        }
    }
    /* A tag and a number, which no text has behind the word. */
    if (kind_begins(text, "CTRL") && text.len > 7 && !text.data[6] && !text.data[7]) {
        return MYR_KIND_STATE;
    }
    return is_binary(text) ? MYR_KIND_BINARY : MYR_KIND_TEXT;
}

/* What begins as a page is one, with drawings or without; else a drawing, whatever is around it. */
static enum myr_kind markup_kind(struct myr_str text)
{
    struct myr_str words = kind_trim(text);
    bool page = kind_begins(words, "<html") || kind_begins(words, "<!DOCTYPE html") ||
                kind_begins(words, "<!doctype html");
    if (!page && kind_contains(text, "<svg")) {
        return MYR_KIND_SVG;
    }
    bool html = page || kind_contains(text, "<html") || kind_contains(text, "<!DOCTYPE html") ||
                kind_contains(text, "<!doctype html");
    return html ? MYR_KIND_HTML : MYR_KIND_XML;
}

/* By how the first line that says anything begins, or by the remark that the tool writes on top. */
static bool is_ibnetdiscover(struct myr_str text, struct myr_str line)
{
    static const char *const words[] = {
        "vendid=", "devid=", "sysimgguid=", "switchguid=", "Switch\t",
        "Switch ", "Ca\t",   "Hca\t",       "Hca ",        "Ca "};
    if (kind_contains(line, "\t: 0x")) {
        return false; /* a list of switches or hosts, without links */
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (kind_begins(line, words[i])) {
            return true;
        }
    }
    return kind_contains(text, "# Topology file: generated on");
}

/* Tools that print a line a port. */
static enum myr_kind line_kind(struct myr_str text, struct myr_str line)
{
    bool lid = line.len > 3 && (line.data[2] == ' ' || line.data[2] == '\t');
    if (lid && (kind_begins(line, "SW") || kind_begins(line, "CA")) && kind_contains(line, " 0x")) {
        return MYR_KIND_IB_LINES;
    }
    bool one_line =
        kind_begins(line, "0x") && kind_contains(line, "==(") && kind_contains(line, ")==>");
    if (one_line || kind_begins(line, "Switch: ") || kind_begins(line, "CA: ")) {
        return MYR_KIND_IBLINKINFO;
    }
    bool cables = kind_contains(text, "\nPort=") && kind_contains(text, "Port Name=");
    if (cables || kind_contains(text, "G-> HCA_") || kind_contains(text, "G-> MQM") ||
        kind_contains(text, "Neighbor Guid") || kind_begins(line, "{ SW ") ||
        kind_begins(line, "{ CA ")) {
        return MYR_KIND_IBDIAGNET;
    }
    if (kind_contains(text, "LocalPort") && kind_contains(text, "RemoteDevice")) {
        return MYR_KIND_SONIC_LLDP;
    }
    bool remark =
        kind_begins(line, "/*") || kind_begins(line, "//") || kind_begins(line, "strict ");
    bool graph = kind_begins(line, "graph ") || kind_begins(line, "digraph ") ||
                 kind_begins(line, "graph{") ||
                 (remark && kind_contains(text, "graph ") && kind_contains(text, " -- "));
    return graph || (kind_begins(line, "\"") && kind_contains(line, "\" -- \"")) ? MYR_KIND_PTM
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
    return (struct myr_str){text.data, text.len < KIND_LOOK_BYTES ? text.len : KIND_LOOK_BYTES};
}

/* Braces or brackets: a document as JSON, or what only looks like one. */
static enum myr_kind json_kind(struct myr_str text, struct kind_keys *ret_keys)
{
    kind_json_keys(text, ret_keys);
    /* Comparisons and lists of links of fabric managers: told by keys deep inside. */
    bool compared = kind_contains(text, "\"Added Links\"") ||
                    kind_contains(text, "\"Removed Links\"") ||
                    (kind_contains(text, "\"added\"") && kind_contains(text, "\"removed\""));
    if (compared || kind_contains(text, "\"source_port_node_description\"") ||
        (kind_contains(text, "\"source_guid\"") && kind_contains(text, "\"destination_guid\"")) ||
        kind_contains(text, "\"peerHostname\"") || kind_contains(text, "\"peer_hostname\"")) {
        return MYR_KIND_LINKS_JSON;
    }
    /* Texts of several devices stand under their names: {"leaf-1": {"lldp": ... */
    bool named = kind_contains(text, "{\"lldp\":") || kind_contains(text, "{ \"lldp\":") ||
                 kind_contains(text, " \"lldp\": {");
    return kind_document(ret_keys, named ? MYR_KIND_LLDP : MYR_KIND_JSON);
}

/* What is told by the first line that is no remark, or by what begins like it. */
static enum myr_kind plain_kind(struct myr_str text, struct myr_str line,
                                struct kind_keys *ret_keys)
{
    if (kind_begins(kind_trim(text), "Errors for") || kind_begins(kind_trim(text), "## Summary:")) {
        return MYR_KIND_IBQUERYERRORS;
    }
    if (kind_begins(line, "Unicast lids") || kind_begins(line, "Unicast LIDs")) {
        return MYR_KIND_FORWARDING;
    }
    if (is_ibnetdiscover(text, line)) {
        return MYR_KIND_IBNETDISCOVER;
    }
    enum myr_kind kind = line_kind(text, kind_trim(line));
    if (kind != MYR_KIND_TEXT) {
        return kind;
    }
    if (kind_begins(line, "lldp.") || kind_contains(line, "LLDP neighbors:") ||
        kind_contains(text, "\nLLDP neighbors:\n")) {
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
    return kind_yaml_keys(text, line, ret_keys) ? kind_document(ret_keys, MYR_KIND_YAML)
                                                : MYR_KIND_TEXT;
}

/* 'ret->line' is the line that decided, 'ret->keys' the keys of a document. */
static enum myr_kind known_kind(struct myr_str text, struct kind_look *ret)
{
    struct myr_str words = kind_trim(text);
    if (words.len == 0) {
        return MYR_KIND_EMPTY;
    }
    enum myr_kind kind = magic_kind(text);
    if (kind != MYR_KIND_TEXT) {
        return kind;
    }
    if (kind_begins(words, "{ SW Ports:") || kind_begins(words, "{ CA Ports:")) {
        return MYR_KIND_IBDIAGNET;
    }
    if (words.data[0] == '{' || (words.data[0] == '[' && !is_port(words))) {
        return json_kind(text, &ret->keys);
    }
    if (words.data[0] == '<') {
        return markup_kind(text);
    }
    ret->line = first_line(text);
    return plain_kind(text, ret->line, &ret->keys);
}

/*
 * What is one of ours is that; what is nothing in particular may be a secret, or somebody else's.
 */
void kind_look(struct myr_str whole, struct kind_look *ret)
{
    struct myr_str text = beginning(whole);
    *ret = (struct kind_look){.line = MYR_STR("")};
    ret->kind = known_kind(text, ret);
    if (!kind_is_open(ret->kind)) {
        return;
    }
    /* Documents and archives are no words; of a document only keys are shown. */
    bool words =
        ret->kind == MYR_KIND_TEXT || ret->kind == MYR_KIND_CSV || ret->kind == MYR_KIND_YAML;
    if (words && secret_is_text(text)) {
        ret->kind = MYR_KIND_SECRET;
        ret->pem = secret_is_pem(text);
        return;
    }
    bool printed;
    ret->other = kind_other_of(text, first_line(text), &printed);
    if (ret->other) {
        ret->kind = printed ? MYR_KIND_PRINTED : MYR_KIND_OTHER;
    }
}

bool kind_is_open(enum myr_kind kind)
{
    return kind == MYR_KIND_TEXT || kind == MYR_KIND_BINARY || kind == MYR_KIND_CSV ||
           kind == MYR_KIND_YAML || kind == MYR_KIND_JSON || kind == MYR_KIND_XML;
}

enum myr_kind myr_kind_of(struct myr_str text)
{
    struct kind_look look;
    kind_look(text, &look);
    return look.kind;
}
