/*
 * Which part a cell of a list means. Lists name parts by ids, by order numbers, by lengths that the
 * catalogue does not have, or with words behind them; what is found is always a part of the
 * catalogue.
 */
#include "audit/audit.h"

/* Digits count too: "H100" must not begin "H1000". */
static bool is_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static uint32_t find_order(const struct audit *audit, struct myr_str text)
{
    for (uint32_t i = 0; i < audit->catalog->parts.count; i++) {
        const struct myr_part *part = audit_part(audit, i);
        if (part->order && myr_str_eq_nocase(text, myr_str_from(part->order))) {
            return i;
        }
    }
    return MYR_PART_NONE;
}

/* The longest name of the catalogue that the text begins with: "IW-Venus-..." is IW-Venus. */
static uint32_t find_beginning(const struct audit *audit, struct myr_str text)
{
    uint32_t best = MYR_PART_NONE;
    size_t best_len = 3; /* shorter names begin too many words */
    const struct myr_strmap *names = &audit->catalog->names;
    for (uint32_t i = 0; i < names->count; i++) {
        size_t len = names->keys[i].len;
        struct myr_str begin = {text.data, len < text.len ? len : text.len};
        if (len > best_len && len < text.len && !is_letter(text.data[len]) &&
            myr_str_eq_nocase(begin, names->keys[i])) {
            best = names->values[i];
            best_len = len;
        }
    }
    return best;
}

/* "-N035": a length that the catalogue's family does not stock; "A" stands for half a metre. */
static uint32_t find_family(const struct audit *audit, struct myr_str text, double *ret_length_m)
{
    if (text.len < 6 || text.data[text.len - 5] != '-' ||
        (text.data[text.len - 4] != 'N' && text.data[text.len - 4] != 'n')) {
        return MYR_PART_NONE;
    }
    const char *digits = text.data + text.len - 3;
    bool half = digits[2] == 'A' || digits[2] == 'a';
    double metres = 0;
    for (int i = 0; i < (half ? 2 : 3); i++) {
        if (digits[i] < '0' || digits[i] > '9') {
            return MYR_PART_NONE;
        }
        metres = metres * 10 + (digits[i] - '0');
    }
    metres += half ? 0.5 : 0;
    for (uint32_t i = 0; i < audit->catalog->parts.count; i++) {
        const struct myr_part *part = audit_part(audit, i);
        struct myr_str id = myr_str_from(part->id);
        /* All but the length: "MFP7E20-N". */
        struct myr_str stem = {text.data, text.len - 4};
        /* Any stocked length of the family stands for it. */
        if (part->kind == MYR_PART_CABLE && id.len == text.len &&
            myr_str_eq_nocase((struct myr_str){id.data, stem.len}, stem)) {
            *ret_length_m = metres;
            return i;
        }
    }
    return MYR_PART_NONE;
}

/*
 * The surest first: id or alias, order number, a length of a known family, what the text begins
 * with. 'ret_length_m' is 0 unless the name itself tells a length.
 */
uint32_t audit_find_part(const struct audit *audit, struct myr_str text, double *ret_length_m)
{
    text = audit_trim(text);
    *ret_length_m = 0;
    if (text.len == 0) {
        return MYR_PART_NONE;
    }
    uint32_t part = myr_catalog_find(audit->catalog, text);
    if (part == MYR_PART_NONE) {
        part = find_order(audit, text);
    }
    if (part == MYR_PART_NONE) {
        part = find_family(audit, text, ret_length_m);
    }
    return part == MYR_PART_NONE ? find_beginning(audit, text) : part;
}

/* By kind, except for two devices that the plan counts by themselves. */
enum audit_role audit_part_role(const struct audit *audit, uint32_t part)
{
    static const enum audit_role roles[MYR_PART_KIND_COUNT] = {
        [MYR_PART_SWITCH] = AUDIT_SWITCH,      [MYR_PART_NIC] = AUDIT_NIC,
        [MYR_PART_GPU] = AUDIT_SERVER,         [MYR_PART_SERVER] = AUDIT_SERVER,
        [MYR_PART_TRANSCEIVER] = AUDIT_MODULE, [MYR_PART_CABLE] = AUDIT_CABLE,
        [MYR_PART_STORAGE] = AUDIT_STORAGE,    [MYR_PART_RACK] = AUDIT_OTHER,
        [MYR_PART_ETHERNET] = AUDIT_ETHERNET,  [MYR_PART_DEVICE] = AUDIT_OTHER,
        [MYR_PART_SERVICE] = AUDIT_OTHER,
    };
    const struct myr_part *what = audit_part(audit, part);
    if (strcmp(what->id, "mgmt-node") == 0) {
        return AUDIT_MANAGEMENT;
    }
    if (strcmp(what->id, "ufm-appliance") == 0) {
        return AUDIT_MANAGER;
    }
    return roles[what->kind];
}

/*
 * 'says' holds what the line's name says; a part that is known decides the role over all words, but
 * an Ethernet switch may be access or aggregation.
 */
void audit_line_finish(const struct audit *audit, struct audit_line *line, struct myr_str part)
{
    struct audit_words by_part = {};
    line->part = audit_find_part(audit, part, &line->length_m);
    audit_words_read(part, &by_part);
    /* What the part's own cell says comes before the name's words. */
    line->says.role = by_part.role ? by_part.role : line->says.role;
    line->says.tier = by_part.tier ? by_part.tier : line->says.tier;
    line->says.part = by_part.part ? by_part.part : line->says.part;
    if (line->part == MYR_PART_NONE && line->says.part) {
        line->part = myr_catalog_find(audit->catalog, myr_str_from(line->says.part));
    }
    if (line->part == MYR_PART_NONE) {
        line->role = line->says.role;
        return;
    }
    line->role = audit_part_role(audit, line->part);
    if (line->role == AUDIT_ETHERNET &&
        (line->says.role == AUDIT_ACCESS || line->says.role == AUDIT_AGGREGATION)) {
        line->role = line->says.role;
    }
    const struct myr_part *what = audit_part(audit, line->part);
    if (what->kind == MYR_PART_CABLE && line->length_m == 0) {
        line->length_m = what->cable.length_m;
    }
}
