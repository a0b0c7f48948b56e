#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "physical_internal.h"

/*
 * Findings, and small questions about parts that all rules ask. The table of rules is made from the
 * same list as the enum, so that neither can be forgotten.
 */

const struct myr_physical_rule myr_physical_rules[] = {
#define PHYSICAL_ROW(id, name, also, remedy) {name, also, remedy},
    PHYSICAL_RULES(PHYSICAL_ROW)
#undef PHYSICAL_ROW
        {NULL, NULL, NULL},
};

/*
 * The same text at the same place is one finding whose places add up: a design of thousands of
 * cables says a mistake once. 'rule' is compared by address, for names come from the table alone.
 */
void physical_report(struct physical *physical, enum physical_rule rule, const char *where,
                     uint64_t places, const char *fmt, ...)
{
    char message[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    const struct myr_physical_rule *row = &myr_physical_rules[rule];
    for (size_t i = 0; i < physical->found->findings.count; i++) {
        struct myr_physical_finding *old = &physical->found->findings.items[i];
        if (old->rule == row->name && strcmp(old->where, where) == 0 &&
            strcmp(old->message, message) == 0) {
            old->places += places;
            return;
        }
    }
    struct myr_physical_finding finding = {
        .rule = row->name,
        .also = row->also,
        .where = myr_arena_printf(physical->arena, "%s", where),
        .message = myr_arena_printf(physical->arena, "%s", message),
        .remedy = row->remedy,
        .places = places,
    };
    myr_vec_push(&physical->found->findings, finding);
}

/* NULL when the catalogue has no such part. */
const struct myr_part *physical_part(const struct physical *physical, uint32_t string)
{
    const char *id = myr_design_str(physical->design, string);
    uint32_t part = myr_catalog_find(physical->catalog, myr_str_from(id));
    return part == MYR_PART_NONE ? NULL : &physical->catalog->parts.items[part];
}

/* What is not stated is equal to nothing, not even to something else that is not stated. */
bool physical_same(const char *a, const char *b)
{
    return a && b && myr_str_eq_nocase(myr_str_from(a), myr_str_from(b));
}

/* 'words' are separated by blanks; NULL is an empty list. */
bool physical_listed(const char *words, const char *word)
{
    size_t want = strlen(word);
    for (const char *at = words; at && *at;) {
        size_t len = strcspn(at, " ");
        if (len == want && strncasecmp(at, word, len) == 0) {
            return true;
        }
        at += len + strspn(at + len, " ");
    }
    return false;
}

/* 'speeds' may be NULL: then there is only the first. */
bool physical_has(const struct myr_speeds *speeds, uint32_t first, uint32_t wanted)
{
    bool has = first == wanted;
    for (uint32_t i = 0; speeds && i < speeds->count; i++) {
        has = has || speeds->items[i] == wanted;
    }
    return has;
}

const char *physical_place(struct physical *physical, const struct socket *socket)
{
    return myr_arena_printf(physical->arena, "%s %s", myr_net_names[socket->group->net],
                            myr_device_kind_name((enum myr_device_kind)socket->kind));
}
