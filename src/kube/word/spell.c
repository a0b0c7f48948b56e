/*
 * spell: what decides of a PodSpec, written as the JSON that needs.c reads. It is seldom called:
 * pods of one template ask the same, and one of them is enough. So it goes through a message once
 * for each part that it looks for.
 */
#include "word/word.h"

enum kind {
    A_TEXT,
    A_NUMBER,
    A_MESSAGE,
    TEXTS,
    MESSAGES,
    PAIRS,  /* a map of texts */
    AMOUNTS /* a map of quantities, each a message with one text */
};

/* A field of a message by its number, and as what it stands in JSON. */
struct part {
    uint32_t number;
    enum kind kind;
    const char *name;
    const struct part *parts; /* of a message; ends with number 0 */
};

/*
 * That such a message is there is all that is asked of it: needs.c refuses it, whatever it holds.
 */
static const struct part nothing[] = {{}};
static const struct part requests[] = {{2, AMOUNTS, "requests", NULL}, {}};
static const struct part port[] = {
    {2, A_NUMBER, "hostPort", NULL}, {4, A_TEXT, "protocol", NULL}, {}};
static const struct part container[] = {{6, MESSAGES, "ports", port},
                                        {8, A_MESSAGE, "resources", requests},
                                        {24, A_TEXT, "restartPolicy", NULL},
                                        {}};
static const struct part toleration[] = {{1, A_TEXT, "key", NULL},
                                         {2, A_TEXT, "operator", NULL},
                                         {3, A_TEXT, "value", NULL},
                                         {4, A_TEXT, "effect", NULL},
                                         {}};
static const struct part expression[] = {
    {1, A_TEXT, "key", NULL}, {2, A_TEXT, "operator", NULL}, {3, TEXTS, "values", NULL}, {}};
static const struct part term[] = {
    {1, MESSAGES, "matchExpressions", expression}, {2, MESSAGES, "matchFields", expression}, {}};
static const struct part terms[] = {{1, MESSAGES, "nodeSelectorTerms", term}, {}};
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
static const struct part of_nodes[] = {{1, A_MESSAGE, REQUIRED, terms}, {}};
static const struct part of_pods[] = {{1, MESSAGES, REQUIRED, nothing}, {}};
static const struct part affinity[] = {{1, A_MESSAGE, "nodeAffinity", of_nodes},
                                       {2, A_MESSAGE, "podAffinity", of_pods},
                                       {3, A_MESSAGE, "podAntiAffinity", of_pods},
                                       {}};
static const struct part spread[] = {{3, A_TEXT, "whenUnsatisfiable", NULL}, {}};
static const struct part spec_parts[] = {
    {2, MESSAGES, "containers", container},
    {7, PAIRS, "nodeSelector", NULL},
    {18, A_MESSAGE, "affinity", affinity},
    {20, MESSAGES, "initContainers", container},
    {22, MESSAGES, "tolerations", toleration},
    {32, AMOUNTS, "overhead", NULL},
    {33, MESSAGES, "topologySpreadConstraints", spread},
    {38, MESSAGES, "schedulingGates", nothing},
    {39, MESSAGES, "resourceClaims", nothing},
    {40, A_MESSAGE, "resources", requests},
    {},
};

static bool put_message(struct myr_str message, const struct part *parts, struct myr_buf *to);

/* Called behind a bracket at the earliest: 'to' is never empty. */
static void put_comma(struct myr_buf *to)
{
    char last = to->data[to->len - 1];
    if (last != '{' && last != '[') {
        myr_buf_putc(to, ',');
    }
}

/* A quantity without its text is an empty one, which needs.c refuses as no quantity. */
static bool put_quantity(struct myr_str message, struct myr_buf *to)
{
    struct kube_fields fields = kube_fields_of(message);
    struct kube_field field;
    struct myr_str text = {"", 0};
    while (kube_fields_next(&fields, KUBE_ALL_FIELDS, &field)) {
        if (field.number == 1 && field.wire == KUBE_WIRE_BYTES) {
            text = field.bytes;
        }
    }
    myr_json_quote(to, text);
    return !fields.bad;
}

/* An entry of a map: a message of a key and a value, of which an empty one may be left out. */
static bool put_entry(struct myr_str message, bool amount, struct myr_buf *to)
{
    struct kube_fields fields = kube_fields_of(message);
    struct kube_field field;
    struct myr_str key = {"", 0}, value = {"", 0};
    while (kube_fields_next(&fields, KUBE_ALL_FIELDS, &field)) {
        if (field.wire == KUBE_WIRE_BYTES && field.number == 1) {
            key = field.bytes;
        } else if (field.wire == KUBE_WIRE_BYTES && field.number == 2) {
            value = field.bytes;
        }
    }
    myr_json_quote(to, key);
    myr_buf_putc(to, ':');
    if (amount) {
        return put_quantity(value, to) && !fields.bad;
    }
    myr_json_quote(to, value);
    return !fields.bad;
}

/* One field, or one item of a list or map. False: it is not what the table says. */
static bool put_value(const struct part *part, const struct kube_field *field, struct myr_buf *to)
{
    if (part->kind == A_NUMBER) {
        myr_buf_printf(to, "%lld", (long long)field->value);
        return field->wire == KUBE_WIRE_NUMBER;
    }
    if (field->wire != KUBE_WIRE_BYTES) {
        return false;
    }
    switch (part->kind) {
    case A_MESSAGE:
    case MESSAGES:
        return put_message(field->bytes, part->parts, to);
    case PAIRS:
    case AMOUNTS:
        return put_entry(field->bytes, part->kind == AMOUNTS, to);
    default:
        myr_json_quote(to, field->bytes);
        return true;
    }
}

/* All that the message has of it, wherever they stand; nothing where it has none. */
static bool put_part(struct myr_str message, const struct part *part, struct myr_buf *to)
{
    struct kube_fields fields = kube_fields_of(message);
    struct kube_field field;
    bool list = part->kind == TEXTS || part->kind == MESSAGES;
    bool map = part->kind == PAIRS || part->kind == AMOUNTS;
    uint32_t count = 0;
    while (kube_fields_next(&fields, KUBE_ALL_FIELDS, &field)) {
        if (field.number != part->number) {
            continue;
        }
        if (count++ == 0) {
            put_comma(to);
            myr_buf_printf(to, "\"%s\":%s", part->name, list ? "[" : map ? "{" : "");
        } else if (!list && !map) {
            return false; /* there twice */
        }
        if (list || map) {
            put_comma(to);
        }
        if (!put_value(part, &field, to)) {
            return false;
        }
    }
    if (count && (list || map)) {
        myr_buf_putc(to, (char)(list ? ']' : '}'));
    }
    return !fields.bad;
}

/* Parts come in the order of the table; fields that it does not name are left out. */
static bool put_message(struct myr_str message, const struct part *parts, struct myr_buf *to)
{
    myr_buf_putc(to, '{');
    for (; parts->number; parts++) {
        if (!put_part(message, parts, to)) {
            return false;
        }
    }
    myr_buf_putc(to, '}');
    return true;
}

bool kube_spell_needs(struct myr_str spec, struct myr_buf *ret)
{
    myr_buf_clear(ret);
    return put_message(spec, spec_parts, ret);
}
