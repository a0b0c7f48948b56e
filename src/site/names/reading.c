#include "names/reading.h"

#include "myriad/site/cabling.h"
#include "names/expr.h"

/*
 * A rule has a pattern that takes numbers and letters out of a name, and expressions that make of
 * them a cage and a lane. A cage and a lane are a port of the box, a port that the design does not
 * use, or nothing.
 */

/* Numbers in names, and names themselves, have bounds. */
enum { CAPTURED = 4, NUMBER_MAX = 100000, NAME_MAX = 64 };

/* What a pattern captured, then what the box is. */
enum variable { A, B, C, L, PORTS, CONNECTORS, LANES, CAGES, NUMBERS, VARIABLE_COUNT };

static const char *const variable_names[VARIABLE_COUNT] = {
    "a", "b", "c", "l", "ports", "connectors", "lanes", "cages", "numbers"};

struct scope {
    struct expr_variable items[VARIABLE_COUNT];
};

/* Below 0: nothing was captured, and an expression that asks for it has no value. */
static void scope_init(struct scope *scope)
{
    for (uint32_t i = 0; i < VARIABLE_COUNT; i++) {
        scope->items[i] = (struct expr_variable){variable_names[i], -1};
    }
}

/* Systems differ in how they write "Ethernet" and "ETH". */
static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static uint32_t captured_index(char c)
{
    return c == 'a' ? A : c == 'b' ? B : c == 'c' ? C : c == 'l' ? L : CAPTURED;
}

/* match() takes it for granted that a pattern has none. */
const char *reading_pattern_fault(struct myr_str pattern)
{
    bool optional = false;
    if (pattern.len == 0 || pattern.len > NAME_MAX) {
        return "it is empty or longer than 64 bytes";
    }
    for (size_t i = 0; i < pattern.len; i++) {
        char c = pattern.data[i];
        if (c == '{') {
            /* One letter between braces. */
            bool whole = i + 2 < pattern.len && pattern.data[i + 2] == '}' &&
                         captured_index(pattern.data[i + 1]) < CAPTURED;
            if (!whole || optional) {
                return "{a}, {b}, {c} or {l} is expected, outside of []";
            }
            i += 2;
        } else if (c == '[' || c == ']') {
            if (optional == (c == '[')) {
                return "[ and ] must follow each other";
            }
            optional = c == '[';
        } else if (c == '}' || c <= ' ') {
            return "a blank, or '}' without '{'";
        }
    }
    return optional ? "'[' without ']'" : NULL;
}

const char *reading_expr_fault(struct myr_str expr)
{
    struct scope scope;
    scope_init(&scope);
    return expr_fault(expr, &(struct expr_scope){scope.items, VARIABLE_COUNT});
}

/* A number, or a letter from a to h as a number from 1; false when there is none. */
static bool capture(char kind, struct myr_str name, size_t *at, int64_t *ret)
{
    size_t start = *at;
    int64_t value = 0;
    if (kind == 'l') {
        char c = start < name.len ? small(name.data[start]) : 0;
        *at += 1;
        *ret = c - 'a' + 1;
        return c >= 'a' && c <= 'h';
    }
    while (*at < name.len && name.data[*at] >= '0' && name.data[*at] <= '9') {
        value = value * 10 + (name.data[(*at)++] - '0');
        if (value > NUMBER_MAX) {
            return false;
        }
    }
    *ret = value;
    return *at > start;
}

/* 'at' is within the name, or at its end. */
static bool starts_so(struct myr_str name, size_t at, struct myr_str literal)
{
    if (name.len - at < literal.len) {
        return false;
    }
    for (size_t i = 0; i < literal.len; i++) {
        if (small(name.data[at + i]) != small(literal.data[i])) {
            return false;
        }
    }
    return true;
}

/* Optional parts are taken where they are there: no pattern needs more than that. */
static bool match(struct myr_str pattern, struct myr_str name, struct scope *scope)
{
    size_t at = 0;
    for (size_t i = 0; i < pattern.len; i++) {
        char c = pattern.data[i];
        if (c == '{') {
            char kind = pattern.data[i + 1];
            if (!capture(kind, name, &at, &scope->items[captured_index(kind)].value)) {
                return false;
            }
            i += 2;
        } else if (c == '[') {
            /* Checked when the rule was read: it is there. */
            const char *end = memchr(pattern.data + i, ']', pattern.len - i);
            struct myr_str part = {pattern.data + i + 1, (size_t)(end - (pattern.data + i)) - 1};
            at += starts_so(name, at, part) ? part.len : 0;
            i += part.len + 1;
        } else {
            if (at >= name.len || small(name.data[at]) != small(c)) {
                return false;
            }
            at++;
        }
    }
    return at == name.len;
}

/*
 * A platform is a list of words: parts, or kinds of switches. A box of unknown technology fits both
 * kinds.
 */
bool reading_rule_fits(const struct myr_name_rule *rule, const struct myr_box *box)
{
    size_t start = 0;
    for (size_t i = 0; i <= rule->platform.len; i++) {
        if (i < rule->platform.len && rule->platform.data[i] != ' ') {
            continue;
        }
        struct myr_str word = {rule->platform.data + start, i - start};
        start = i + 1;
        bool other = box->host; /* hosts are meant by name only */
        if ((box->part.len && myr_str_eq_nocase(word, box->part)) ||
            (!other && myr_str_eq_nocase(word, MYR_STR("any"))) ||
            (!other && myr_str_eq_nocase(word, MYR_STR("infiniband")) &&
             box->technology != MYR_TECH_ETHERNET) ||
            (!other && myr_str_eq_nocase(word, MYR_STR("ethernet")) &&
             box->technology != MYR_TECH_INFINIBAND)) {
            return true;
        }
    }
    return false;
}

/* The group of ports that has this cage, counted from 0; NULL when the design does not use it. */
static const struct myr_port_group *group_of_cage(const struct myr_box *box, int64_t cage)
{
    for (uint32_t g = 0; g < box->type->group_count; g++) {
        const struct myr_port_group *group = &box->type->groups[g];
        int64_t cages = (group->count + group->per_cage - 1) / group->per_cage;
        bool caged = box->host || group->role != MYR_PORT_NIC; /* management ports are not */
        if (caged && cage >= group->first_cage && cage < group->first_cage + cages) {
            return group;
        }
    }
    return NULL;
}

/* NICs of hosts are counted, not caged: the rule's cage is the number of the NIC. */
static uint32_t nic_index(const struct myr_box *box, int64_t nic, int64_t lane)
{
    const struct myr_port_group *group = &box->type->groups[0];
    int64_t index = nic + lane - 2; /* whatever cages they share: twin ones are two NICs */
    return index >= 0 && index < group->count ? group->first + (uint32_t)index : MYR_NONE;
}

static bool value_of(struct myr_str text, const struct scope *scope, int64_t *ret)
{
    return expr_value(text, &(struct expr_scope){scope->items, VARIABLE_COUNT}, ret);
}

uint32_t reading_by_rule(const struct myr_name_rule *rule, const struct myr_box *box,
                         struct myr_str name)
{
    struct scope scope;
    int64_t cage, lane, holds = 1;
    scope_init(&scope);
    if (!match(rule->pattern, name, &scope)) {
        return MYR_NONE;
    }
    /* Captured letters are in; now what the box is. */
    scope.items[LANES].value = box->lanes;
    scope.items[CAGES].value = box->cages;
    scope.items[NUMBERS].value = box->numbers;
    /* More cages than the box has: the name is not of such a box. */
    if (!value_of(rule->cage, &scope, &cage) || cage < 0 || (cage > box->cages && !box->host)) {
        return MYR_NONE;
    }
    if (cage == 0 && !myr_str_eq(rule->cage, MYR_STR("0"))) {
        return MYR_NONE; /* "Ethernet0" where cages count from 1 */
    }
    const struct myr_port_group *group = cage > 0 ? group_of_cage(box, cage - 1) : NULL;
    bool spare = !group && !box->host;
    /* How an unused cage is divided nobody knows: any way that the rule can read will do. */
    uint32_t most = spare && cage > 0 ? 8 : 1;
    for (uint32_t ports = 1; ports <= most; ports *= 2) {
        scope.items[PORTS].value = group ? group->per_cage : ports;
        scope.items[CONNECTORS].value = group ? group->per_cage / group->per_connector : ports;
        bool fits = (rule->when.len == 0 || (value_of(rule->when, &scope, &holds) && holds)) &&
                    value_of(rule->lane, &scope, &lane) && lane > 0;
        if (!fits || (!box->host && lane > scope.items[PORTS].value)) {
            continue;
        }
        if (box->host && cage > 0) {
            return nic_index(box, cage, lane);
        }
        /* Cage 0 is none of the fabric's: a rule says so outright. */
        if (cage == 0 || spare) {
            return MYR_PORT_SPARE;
        }
        int64_t index = (cage - 1 - group->first_cage) * group->per_cage + lane - 1;
        return index < group->count ? group->first + (uint32_t)index : MYR_PORT_SPARE;
    }
    return MYR_NONE;
}

/* Blanks inside and around do not count: "ib 1/3/2", " Ethernet8". */
static struct myr_str without_blanks(struct myr_str name, char ret[NAME_MAX])
{
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == ' ' || name.data[i] == '\t') {
            continue;
        }
        if (len == NAME_MAX) {
            return MYR_STR("");
        }
        ret[len++] = name.data[i];
    }
    return (struct myr_str){ret, len};
}

/* Each system's first rule that reads the name counts; 'ret' is set where the mask has a bit. */
uint32_t myr_port_names_read(const struct myr_port_names *names, const struct myr_box *box,
                             struct myr_str name, uint32_t ret[MYR_PORT_SYSTEMS_MAX])
{
    char bytes[NAME_MAX];
    struct myr_str plain = without_blanks(name, bytes);
    uint32_t mask = 0, own;
    if (plain.len == 0) {
        return 0;
    }
    own = myr_site_own_port(box->type, plain);
    if (own != MYR_NONE) {
        ret[0] = own;
        mask = 1;
    }
    for (size_t i = names->rules.count; i > 0; i--) { /* a user's rules come first */
        const struct myr_name_rule *rule = &names->rules.items[i - 1];
        if (mask >> rule->system & 1 || !reading_rule_fits(rule, box)) {
            continue;
        }
        uint32_t index = reading_by_rule(rule, box, plain);
        if (index != MYR_NONE) {
            ret[rule->system] = index;
            mask |= UINT32_C(1) << rule->system;
        }
    }
    return mask;
}
