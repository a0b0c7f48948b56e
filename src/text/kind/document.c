/*
 * document: YAML and JSON by their keys at the top. A look, no reader: what is half a document has
 * the keys of its first half.
 */
#include "kind/look.h"
#include "letter/scan.h"

enum { KEY_BYTES_MAX = 64 };

static const struct myr_str *find_key(const struct kind_keys *keys, const char *name)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (myr_str_eq(keys->items[i], myr_str_from(name))) {
            return &keys->values[i];
        }
    }
    return NULL;
}

/* What does not fit is left out: a guess needs no more, and a key of that length is no key. */
static void add_key(struct kind_keys *keys, struct myr_str key, struct myr_str value)
{
    if (keys->count < KIND_KEYS_MAX && key.len > 0 && key.len <= KEY_BYTES_MAX) {
        keys->values[keys->count] = value;
        keys->items[keys->count++] = key;
    }
}

/* The first byte from 'at' that is no blank; NUL at the end. */
static char byte_after(struct myr_str text, size_t *at)
{
    while (*at < text.len && kind_is_blank(text.data[*at])) {
        (*at)++;
    }
    return *at < text.len ? text.data[*at] : '\0';
}

/* Keys in quotes at the first depth of braces. */
void kind_json_keys(struct myr_str text, struct kind_keys *ret)
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
                (void)byte_after(text, &after);
                add_key(ret, (struct myr_str){text.data + start, end - start},
                        (struct myr_str){text.data + after, text.len - after});
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
    bool key = colon && (len + 1 == line.len || kind_is_blank(line.data[len + 1]));
    return (struct myr_str){line.data, key ? len : 0};
}

/* Lines that are indented begin with a blank and have no key here: only the top level counts. */
bool kind_yaml_keys(struct myr_str text, struct myr_str line, struct kind_keys *ret)
{
    while (text.len > 0) {
        struct myr_str next = kind_next_line(&text);
        struct myr_str key = yaml_key(next);
        size_t after = key.len + 1;
        (void)byte_after(next, &after);
        after = after < next.len ? after : next.len;
        add_key(ret, key, (struct myr_str){next.data + after, next.len - after});
    }
    return yaml_key(line).len > 0 || kind_begins(line, "---");
}

struct myr_str kind_value(const struct kind_keys *keys, const char *name)
{
    const struct myr_str *value = find_key(keys, name);
    struct myr_str text = value ? *value : MYR_STR("");
    if (text.len > 0 && (text.data[0] == '"' || text.data[0] == '\'')) {
        const char *end = memchr(text.data + 1, text.data[0], text.len - 1);
        return (struct myr_str){text.data + 1, end ? (size_t)(end - text.data) - 1 : text.len - 1};
    }
    return text;
}

/* How the value of a key begins. */
enum value { ANY, NUMBER, MAP, OURS, LAYOUT };

static bool is_value(const struct kind_keys *keys, const char *key, enum value value)
{
    const struct myr_str *found = find_key(keys, key);
    char first = found && found->len > 0 ? found->data[0] : '\0';
    switch (value) {
    case ANY:
        return found;
    case NUMBER:
        return first >= '0' && first <= '9';
    case MAP: /* also on the lines below the key */
        return found && (first == '\0' || first == '{' || first == '#' || first == '&');
    case OURS:
        return kind_begins(kind_value(keys, key), "myriad.");
    case LAYOUT:
        return kind_begins(kind_value(keys, key), "myriad.layout");
    }
    return false;
}

/*
 * The first row that fits, from what only one document has to what may stand in several. All of a
 * row's keys must be there; 'value' is that of the first of them.
 */
static const struct {
    enum myr_kind kind;
    enum value value;
    const char *keys[3];
} documents[] = {
    {MYR_KIND_LLDP, ANY, {"lldp"}},
    {MYR_KIND_DESIGN_JSON, ANY, {"cable_types", "gpus_per_node"}},
    {MYR_KIND_LAYOUT, LAYOUT, {"schema"}},
    {MYR_KIND_ANSWER, OURS, {"schema"}},
    {MYR_KIND_KUBECONFIG, ANY, {"clusters", "contexts", "users"}},
    /* A catalogue has servers too: those are a map. */
    {MYR_KIND_SPEC, NUMBER, {"servers"}},
    {MYR_KIND_BINDING, ANY, {"design", "devices"}},
    {MYR_KIND_CASE, ANY, {"hash", "seed", "scenario"}},
    {MYR_KIND_SCENARIO, MAP, {"cluster", "jobs"}},
    {MYR_KIND_SCENARIO, ANY, {"cluster", "hours"}},
    {MYR_KIND_SCENARIO, ANY, {"cluster", "days"}},
    {MYR_KIND_CONFIG, ANY, {"cluster", "world", "nodes"}},
    {MYR_KIND_CONTENTION, ANY, {"rows", "policy", "links"}},
    {MYR_KIND_MODEL, ANY, {"model_type"}},
    {MYR_KIND_MODEL, NUMBER, {"num_hidden_layers"}},
    {MYR_KIND_MODEL, NUMBER, {"layers", "hidden", "heads"}},
    {MYR_KIND_JOB, ANY, {"command", "gpus"}},
    {MYR_KIND_JOB, ANY, {"command", "nodes"}},
    {MYR_KIND_SWEEP, ANY, {"workload", "topology"}},
    {MYR_KIND_SWEEP, ANY, {"workload", "design"}},
    {MYR_KIND_ROOM, ANY, {"rows", "columns"}},
    {MYR_KIND_LAYOUT, MAP, {"layout"}},
    {MYR_KIND_TENANTS, MAP, {"tenants"}},
    {MYR_KIND_RECOVERY, MAP, {"recovery"}},
    {MYR_KIND_PROFILE, MAP, {"constants"}},
    {MYR_KIND_PROFILE, MAP, {"stacks"}},
    {MYR_KIND_PROFILE, MAP, {"recipes"}},
    {MYR_KIND_CATALOG, ANY, {"switches"}},
    {MYR_KIND_CATALOG, ANY, {"transceivers"}},
    {MYR_KIND_CATALOG, ANY, {"cables"}},
    {MYR_KIND_CATALOG, MAP, {"gpus"}},
    {MYR_KIND_CATALOG, ANY, {"nics"}},
    {MYR_KIND_CATALOG, ANY, {"ethernet"}},
    {MYR_KIND_CATALOG, ANY, {"services"}},
    {MYR_KIND_CATALOG, ANY, {"racks"}},
};

enum myr_kind kind_document(const struct kind_keys *keys, enum myr_kind otherwise)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(documents); i++) {
        bool fits = is_value(keys, documents[i].keys[0], documents[i].value);
        for (size_t k = 1; k < 3 && documents[i].keys[k]; k++) {
            fits = fits && find_key(keys, documents[i].keys[k]);
        }
        if (fits) {
            return documents[i].kind;
        }
    }
    return otherwise;
}
