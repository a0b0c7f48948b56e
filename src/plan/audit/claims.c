/*
 * Claims: what a document says about the cluster, path by path. Paths are those of the plan's own
 * JSON; besides there are rates of the storage system, stated watts, and pairs of optics.
 */
#include <math.h>
#include <stdio.h>

#include "audit/audit.h"

/* What the walk over the claims needs beside the audit itself. */
struct claims {
    struct audit *audit;
    struct myr_answer asked, open; /* the plan's JSON: of the spec, and of the document's parts */
    struct myr_err *err;
};

/* For findings; errors have the column too. */
static const char *place_of(struct audit *audit, const struct myr_doc *node)
{
    return myr_arena_printf(audit->arena, "%s:%u", node->file, node->line);
}

/* In whole words: "wattsx" does not begin with "watts". */
static bool path_begins(const char *path, const char *with)
{
    size_t len = strlen(with);
    return strncmp(path, with, len) == 0 && (path[len] == '\0' || path[len] == '.');
}

/*
 * One value of the plan; a part of the path that is a number, or [n], counts in a list. NULL with
 * the bad word where there is no such path; a value that is null, with 'ret_null', where the path
 * leads on below it: the plan has nothing there.
 */
static const struct myr_value *find_value(const struct myr_value *root, struct myr_str path,
                                          struct myr_str *ret_bad, bool *ret_null)
{
    const struct myr_value *at = root;
    for (size_t i = 0; at && i < path.len;) {
        size_t end = i;
        while (end < path.len && path.data[end] != '.' && path.data[end] != '[') {
            end++;
        }
        struct myr_str word = {path.data + i, end - i};
        /* "[3]" ends in a bracket, which is no part of the number. */
        if (word.len > 0 && word.data[word.len - 1] == ']') {
            word.len--;
        }
        uint64_t index = 0;
        const struct myr_value *child = at->first;
        if (at->kind == MYR_VALUE_LIST && myr_str_to_u64(word, &index)) {
            for (uint64_t k = 0; child && k < index; k++) {
                child = child->next;
            }
        } else {
            while (child && !(child->key && myr_str_eq(word, myr_str_from(child->key)))) {
                child = child->next;
            }
        }
        if (!child && at->kind == MYR_VALUE_NULL) {
            /* Below null there is nothing to go on to. */
            *ret_null = true;
            return at;
        }
        if (!child) {
            *ret_bad = word;
        }
        at = child;
        i = end + 1;
    }
    return at;
}

/* Half a step of the last digit that the claim has: 3041 is said of 3041.28. */
static double rounding(struct myr_str text)
{
    double step = 0.5;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '.') {
            for (size_t k = i + 1; k < text.len; k++) {
                step /= 10;
            }
            return step;
        }
    }
    return step;
}

/* Texts in any case. Just half a step away is not equal any more. */
static bool equals(const struct myr_value *value, const struct myr_doc *node)
{
    double claimed, planned;
    if (value->kind == MYR_VALUE_NULL) {
        return node->kind == MYR_DOC_NULL;
    }
    if (value->kind != MYR_VALUE_NUMBER) {
        return myr_str_eq_nocase(value->text, node->text);
    }
    return audit_number(node->text, &claimed) && myr_str_to_double(value->text, &planned) &&
           (claimed == planned || fabs(claimed - planned) < rounding(node->text) * 0.999999);
}

/* Totals as stated, else quantity times price; lines without either count nothing. */
static double list_sum(const struct audit *audit)
{
    double sum = 0;
    for (size_t i = 0; i < audit->lines.count; i++) {
        const struct audit_line *line = &audit->lines.items[i];
        sum += line->total >= 0        ? line->total
               : line->unit_price >= 0 ? line->unit_price * (double)line->quantity
                                       : 0;
    }
    return sum;
}

/*
 * Half a unit of money, and a bit, for rounding. A list with findings will cost something else, so
 * its sum proves nothing yet.
 */
void audit_claimed_cost(struct audit *audit)
{
    double sum = list_sum(audit);
    if (!audit->cost_at || fabs(sum - audit->cost_claimed) < 0.51) {
        return;
    }
    if (audit->out->findings.count > audit->said) {
        audit_doubt(audit, audit->cost_at,
                    "totals.cost: what the list costs is open until its findings are mended");
        return;
    }
    audit_finding(audit, "claim-value", audit->cost_at, sum, audit->cost_claimed,
                  "totals.cost: %.2f is claimed, the list adds up to %.2f", audit->cost_claimed,
                  sum);
}

/* A claim about nothing is an error of the document, not a finding. */
static int bad_path(struct claims *claims, const struct myr_doc *node, const char *path,
                    struct myr_str word)
{
    char shown[MYR_EXCERPT_MAX], part[MYR_EXCERPT_MAX];
    return myr_doc_error(claims->err, node, MYR_ENOENT,
                         "'%s' is no path of the plan: there is no '%s'; see myriad plan -o json",
                         myr_text_excerpt(myr_str_from(path), shown), myr_text_excerpt(word, part));
}

/*
 * Right when it is the value of either plan; else a finding, or a doubt where the plan is no
 * measure.
 */
static int check_value(struct claims *claims, const struct myr_doc *node, const char *path)
{
    struct audit *audit = claims->audit;
    struct myr_str bad = {"", 0};
    bool null = false;
    /*
     * The path must be in the plan with the document's parts; that of the spec counts as right too.
     */
    const struct myr_value *open = find_value(&claims->open.root, myr_str_from(path), &bad, &null);
    if (!open) {
        return bad_path(claims, node, path, bad);
    }
    const struct myr_value *asked =
        find_value(&claims->asked.root, myr_str_from(path), &bad, &null);
    if (open->kind == MYR_VALUE_LIST || open->kind == MYR_VALUE_OBJECT) {
        return myr_doc_error(claims->err, node, MYR_EINVAL,
                             "'%s' is %s in the plan, one value is claimed", path,
                             open->kind == MYR_VALUE_LIST ? "a list" : "an object");
    }
    double claimed = NAN, planned = NAN;
    bool cost = strcmp(path, "totals.cost") == 0; /* null where the plan knows no price */
    if ((cost || open->kind == MYR_VALUE_NUMBER) && !audit_number(node->text, &claimed)) {
        char shown[MYR_EXCERPT_MAX];
        return myr_doc_error(claims->err, node, MYR_EINVAL, "'%s' is '%s', a number is expected",
                             path, myr_text_excerpt(node->text, shown));
    }
    if (equals(open, node) || (asked && equals(asked, node))) {
        return MYR_OK;
    }
    /* The document has another bill with other lines. */
    if (path_begins(path, "totals.unpriced_lines") || path_begins(path, "totals.priced")) {
        audit_doubt(audit, place_of(audit, node),
                    myr_arena_printf(audit->arena, "%s is of the planner's bill", path));
        return MYR_OK;
    }
    if (cost) { /* prices are the list's own: when that is judged */
        audit->cost_claimed = claimed;
        audit->cost_at = place_of(audit, node);
        return MYR_OK;
    }
    (void)(open->kind == MYR_VALUE_NUMBER && myr_str_to_double(open->text, &planned));
    if (open->kind == MYR_VALUE_NUMBER) {
        audit_finding(audit, "claim-value", place_of(audit, node), planned, claimed,
                      "%s: %.*s is claimed, the rules give %.*s", path, (int)node->text.len,
                      node->text.data, (int)open->text.len, open->text.data);
        return MYR_OK;
    }
    const char *has = open->kind == MYR_VALUE_NULL
                          ? "nothing"
                          : myr_arena_strndup(audit->arena, open->text.data, open->text.len);
    audit_finding_text(audit, "claim-value", place_of(audit, node), has,
                       myr_arena_strndup(audit->arena, node->text.data, node->text.len),
                       "%s: '%.*s' is claimed, the plan has %s", path, (int)node->text.len,
                       node->text.data, has);
    return MYR_OK;
}

/* ---- rates of the storage system ---- */

/*
 * Published, GB/s to read and write for each started 32 servers: good, better, best. Servers of
 * eight GPUs: 256 GPUs are a unit (docs/planning.md, Storage).
 */
static const double unit_rates[3][2] = {{15, 7.5}, {40, 20}, {125, 62.5}};
enum { UNIT_SERVERS = 32 };

/* What the words of a path say together, in any order. */
struct rate_words {
    int grade;     /* -1: of the spec */
    int direction; /* 0 read, 1 write; -1: not said */
    double units;  /* 0: all of the cluster */
};

/* False: not a word of a rate. */
static bool rate_word(struct myr_str word, struct rate_words *rate)
{
    static const char *const grades[] = {"good", "better", "best"};
    static const char *const directions[][6] = {
        {"read", "read_gb_s", "read_gbytes_per_s", "reads", "读", NULL},
        {"write", "write_gb_s", "write_gbytes_per_s", "writes", "写", NULL}};
    for (int i = 0; i < 3; i++) {
        if (myr_str_eq_nocase(word, myr_str_from(grades[i]))) {
            rate->grade = i;
            return true;
        }
    }
    for (int i = 0; i < 2; i++) {
        for (const char *const *name = directions[i]; *name; name++) {
            if (myr_str_eq_nocase(word, myr_str_from(*name))) {
                rate->direction = i;
                return true;
            }
        }
    }
    uint64_t units;
    if (myr_str_eq_nocase(word, MYR_STR("unit")) || myr_str_eq_nocase(word, MYR_STR("su"))) {
        rate->units = 1;
        return true;
    }
    if (myr_str_eq_nocase(word, MYR_STR("total")) || myr_str_eq_nocase(word, MYR_STR("cluster"))) {
        rate->units = 0;
        return true;
    }
    if (myr_str_to_u64(word, &units) && units >= 1 && units <= 100000) {
        rate->units = (double)units;
        return true;
    }
    return false;
}

/* The published classes are the measure, not what was planned. */
static int check_rate(struct claims *claims, const struct myr_doc *node, const char *path)
{
    struct audit *audit = claims->audit;
    struct rate_words rate = {-1, -1, 0};
    for (const char *at = path + strlen("storage.rates"); *at;) {
        at++; /* the point */
        size_t len = strcspn(at, ".");
        struct myr_str word = {at, len};
        if (!rate_word(word, &rate)) {
            char shown[MYR_EXCERPT_MAX];
            return myr_doc_error(claims->err, node, MYR_EINVAL,
                                 "'%s' says nothing of a rate; good, better or best, read or "
                                 "write, and a number of units are expected",
                                 myr_text_excerpt(word, shown));
        }
        at += len;
    }
    double claimed;
    if (node->kind != MYR_DOC_SCALAR || !audit_number(node->text, &claimed)) {
        return myr_doc_error(claims->err, node, MYR_EINVAL, "'%s' must be a number of GB/s", path);
    }
    int grade = rate.grade >= 0 ? rate.grade : (int)audit->spec->storage.rate_class - 1;
    if (rate.direction < 0 || grade < 0) {
        return myr_doc_error(claims->err, node, MYR_EINVAL, "'%s' lacks %s", path,
                             rate.direction < 0 ? "'read' or 'write'"
                                                : "a class: good, better or best");
    }
    /* A unit that is begun counts as a whole one. */
    double units = rate.units > 0 ? rate.units : ceil((double)audit->spec->servers / UNIT_SERVERS);
    double expected = unit_rates[grade][rate.direction] * units;
    /* Rates are published figures: no rounding is allowed, only what floating point adds. */
    if (fabs(expected - claimed) > 1e-9 * expected) {
        audit_finding(audit, "storage-rate", place_of(audit, node), expected, claimed,
                      "%s: %g GB/s is claimed, %g units of %g GB/s are %g GB/s", path, claimed,
                      units, unit_rates[grade][rate.direction], expected);
    }
    return MYR_OK;
}

/* ---- watts ---- */

/* Credible watts are kept, for the power of racks. */
static int check_watts(struct claims *claims, const struct myr_doc *node, const char *name)
{
    struct audit *audit = claims->audit;
    double length, watts;
    char shown[MYR_EXCERPT_MAX];
    uint32_t part = audit_find_part(audit, myr_str_from(name), &length);
    if (part == MYR_PART_NONE) {
        return myr_doc_error(claims->err, node, MYR_ENOENT, "watts of the unknown part '%s'",
                             myr_text_excerpt(myr_str_from(name), shown));
    }
    if (node->kind != MYR_DOC_SCALAR || !audit_watts(node->text, &watts)) {
        return myr_doc_error(claims->err, node, MYR_EINVAL,
                             "the watts of '%s' are '%s'; 1720, 1720 W or 1.72 kW is expected",
                             name, myr_text_excerpt(node->text, shown));
    }
    const struct myr_part *what = audit_part(audit, part);
    if (what->kind == MYR_PART_GPU) { /* "H100: 10 kW" is said of its server */
        uint32_t server = myr_catalog_find(
            audit->catalog,
            myr_str_from(myr_design_str(&audit->plan, audit->plan.head->server_part)));
        /* Within twice its own watts it is the card that is meant. */
        bool near = fabs(watts - what->watts) < what->watts;
        part = near || server == MYR_PART_NONE ? part : server;
        what = audit_part(audit, part);
    }
    /* A switch with copper draws less than with modules; both are right to state. */
    double least = what->watts;
    if (what->kind == MYR_PART_SWITCH && what->sw.watts_copper > 0) {
        least = what->sw.watts_copper;
    }
    if (what->watts <= 0) {
        audit_doubt(
            audit, place_of(audit, node),
            myr_arena_printf(audit->arena, "the catalogue has no watts of %s", what->order));
        return MYR_OK;
    }
    /* What is not credible is not kept for the racks either. */
    if (watts > what->watts * 1.5 || watts < least * 0.5) {
        /* About a thousand times too much is a wrong unit, which is worth saying. */
        audit_finding(audit, "watts-stated", place_of(audit, node), what->watts, watts,
                      "%s: %.0f W are stated, the part draws %.0f W at most%s", what->order, watts,
                      what->watts,
                      fabs(watts / what->watts - 1000) < 500 ? "; the unit must be W, not kW" : "");
        return MYR_OK;
    }
    audit->watts[part] = watts;
    return MYR_OK;
}

/* ---- pairs of optics ---- */

/*
 * NULL in '*ret' where none of the keys is there: as in the plan. The first key that is there
 * counts.
 */
static int pair_part(struct claims *claims, const struct myr_doc *pair, const char *const *keys,
                     enum myr_part_kind kind, const struct myr_part **ret, double *ret_m)
{
    const struct myr_doc *node = NULL;
    for (; *keys && !node; keys++) {
        node = myr_doc_get(pair, *keys);
    }
    *ret = NULL;
    if (!node) {
        return MYR_OK;
    }
    struct myr_str text;
    double length;
    char shown[MYR_EXCERPT_MAX];
    MYR_TRY(myr_doc_text(node, "part", &text, claims->err));
    uint32_t part = audit_find_part(claims->audit, text, &length);
    if (part == MYR_PART_NONE) {
        return myr_doc_error(claims->err, node, MYR_ENOENT, "unknown part '%s'",
                             myr_text_excerpt(text, shown));
    }
    if (audit_part(claims->audit, part)->kind != kind) {
        return myr_doc_error(claims->err, node, MYR_EINVAL, "'%s' is a %s, a %s is expected",
                             myr_text_excerpt(text, shown),
                             myr_part_kind_name(audit_part(claims->audit, part)->kind),
                             myr_part_kind_name(kind));
    }
    *ret = audit_part(claims->audit, part);
    *(ret_m ? ret_m : &length) = length;
    return MYR_OK;
}

/* The first class of fibres of the layer, or NULL: it has speed, legs and length of the link. */
static const struct audit_need *cable_need(const struct audit *audit, uint32_t net, bool fabric)
{
    for (uint32_t i = 0; i < audit->need_count; i++) {
        const struct audit_need *need = &audit->needs[i];
        if (need->role == AUDIT_CABLE && need->net == net && !need->fixed &&
            (need->layer != MYR_LAYER_HOST) == fabric) {
            return need;
        }
    }
    return NULL;
}

/*
 * The plan that an entry leaves parts to: the spec's, which has its pins; where the document has
 * another switch, the one with that.
 */
static const struct myr_design *plan_of(const struct audit *audit, uint32_t net)
{
    const struct myr_design *designs[] = {&audit->asked, &audit->plan};
    const char *parts[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t leaf = designs[i]->networks[net].first_leaf;
        parts[i] = leaf < designs[i]->device_count
                       ? myr_design_str(designs[i],
                                        designs[i]->devtypes[designs[i]->device_type[leaf]].part)
                       : "";
    }
    return designs[strcmp(parts[0], parts[1]) != 0];
}

static const struct myr_part *planned_part(const struct audit *audit,
                                           const struct myr_design *design, uint32_t name)
{
    uint32_t part =
        name ? myr_catalog_find(audit->catalog, myr_str_from(myr_design_str(design, name)))
             : MYR_PART_NONE;
    return part == MYR_PART_NONE ? NULL : audit_part(audit, part);
}

/*
 * What the entry leaves out of a link is as in the plan, in its first cables that take modules. A
 * cable with ends on it has no modules to leave out.
 */
static void leave_to_plan(const struct audit *audit, struct audit_link *link)
{
    const struct myr_design *design = plan_of(audit, link->net);
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        const struct myr_cabletype *type = &design->cabletypes[i];
        if (type->net != link->net || (type->layer != MYR_LAYER_HOST) != link->fabric ||
            !type->optic_a || (link->cable && link->cable->cable.fixed_ends)) {
            continue;
        }
        link->cable = link->cable ? link->cable : planned_part(audit, design, type->part);
        if (!link->switch_optic) {
            link->switch_optic = planned_part(audit, design, type->optic_b);
        }
        if (!link->nic_optic && !link->fabric) {
            link->nic_optic = planned_part(audit, design, type->optic_a);
        }
        return;
    }
}

/* One link of an entry, with what it names alone: what the plan has there fits by itself. */
static void judge_pair(struct audit *audit, struct audit_link link)
{
    const struct audit_need *need = cable_need(audit, link.net, link.fabric);
    const struct myr_part *cable = link.cable;
    if (!link.switch_optic && !link.nic_optic && !cable) {
        return;
    }
    link.sw = link.sw || !link.switch_optic ? link.sw : audit_switch(audit, link.net);
    link.nic = link.nic || !link.nic_optic ? link.nic : audit_nic(audit, link.net, false);
    link.gbps = need ? need->gbps : 0;
    link.legs = need ? need->legs : 1;
    link.length_m = need ? need->length_m : 0;
    leave_to_plan(audit, &link);
    (void)audit_link_rules(audit, &link);
    if (cable && need && cable->cable.legs != need->legs && !cable->cable.fixed_ends) {
        audit_finding(audit, "cable-legs", link.where, need->legs, cable->cable.legs,
                      "%s: %s divides into %u, the port into %u", myr_net_names[link.net],
                      cable->order, cable->cable.legs, need->legs);
    }
}

/*
 * One entry may speak of the link to the hosts and of the one between switches; each is judged
 * alone.
 */
static int read_pair(struct claims *claims, const struct myr_doc *pair, struct audit_link *link,
                     struct audit_link *fabric)
{
    const struct {
        const char *keys[3];
        enum myr_part_kind kind;
        const struct myr_part **ret;
        double *ret_m;
    } parts[] = {
        {{"switch"}, MYR_PART_SWITCH, &link->sw, NULL},
        {{"nic"}, MYR_PART_NIC, &link->nic, NULL},
        {{"switch_optic"}, MYR_PART_TRANSCEIVER, &link->switch_optic, NULL},
        {{"nic_optic"}, MYR_PART_TRANSCEIVER, &link->nic_optic, NULL},
        {{"host_cable", "cable"}, MYR_PART_CABLE, &link->cable, &link->cable_m},
        {{"fabric_optic"}, MYR_PART_TRANSCEIVER, &fabric->switch_optic, NULL},
        {{"fabric_cable"}, MYR_PART_CABLE, &fabric->cable, &fabric->cable_m},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        MYR_TRY(
            pair_part(claims, pair, parts[i].keys, parts[i].kind, parts[i].ret, parts[i].ret_m));
    }
    fabric->sw = link->sw;
    /* A switch or a card alone makes no link that could be judged. */
    if (!link->switch_optic && !link->nic_optic && !link->cable && !fabric->switch_optic &&
        !fabric->cable) {
        return myr_doc_error(claims->err, pair, MYR_EINVAL,
                             "the pair names no part; switch_optic, nic_optic, cable, "
                             "fabric_optic or fabric_cable is expected");
    }
    return MYR_OK;
}

/* What the entry leaves out is as in the plan. */
static int check_pair(struct claims *claims, const struct myr_doc *pair)
{
    static const char *const keys[] = {"network",      "nic",          "switch_optic",
                                       "nic_optic",    "host_cable",   "cable",
                                       "fabric_optic", "fabric_cable", "switch"};
    static const char *const networks[] = {"compute", "storage"};
    struct audit *audit = claims->audit;
    uint32_t net = 0;
    MYR_TRY(myr_doc_expect(pair, MYR_DOC_MAP, "optics", claims->err));
    MYR_TRY(myr_doc_check_keys(pair, "optics", keys, MYR_ARRAY_COUNT(keys), claims->err));
    const struct myr_doc *network = myr_doc_get(pair, "network");
    if (network) {
        MYR_TRY(myr_doc_choice(network, "network", networks, 2, &net, claims->err));
    }
    if (!audit->plan.networks[net].topology) {
        return myr_doc_error(claims->err, pair, MYR_EINVAL, "the spec has no %s network",
                             networks[net]);
    }
    struct audit_link link = {.where = place_of(audit, pair), .net = (enum myr_net_id)net};
    struct audit_link fabric = {.where = link.where, .net = link.net, .fabric = true};
    MYR_TRY(read_pair(claims, pair, &link, &fabric));
    judge_pair(audit, link);
    judge_pair(audit, fabric);
    return MYR_OK;
}

/* ---- the walk ---- */

/* 'at' is where an error or finding points: the key of an entry, which stands before its value. */
static int walk(struct claims *claims, const struct myr_doc *node, const char *path,
                const struct myr_doc *at, uint32_t depth)
{
    struct audit *audit = claims->audit;
    if (node->kind == MYR_DOC_MAP && strcmp(path, "optics") != 0) {
        for (uint32_t i = 0; i < node->count; i++) {
            const struct myr_doc_entry *entry = &node->entries[i];
            struct myr_doc place = *entry->value;
            /* A value has the place of its key: that is what people look for. */
            place.line = entry->key_line;
            place.column = entry->key_column;
            const struct myr_doc *kept = MYR_ARENA_ONE(audit->arena, struct myr_doc);
            memcpy((void *)kept, &place, sizeof(place));
            const char *next = myr_arena_printf(audit->arena, "%s%s%.*s", path, *path ? "." : "",
                                                (int)entry->key.len, entry->key.data);
            MYR_TRY(walk(claims, entry->value, next, kept, depth + 1));
        }
        return MYR_OK;
    }
    if (strcmp(path, "optics") == 0) {
        MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, "optics", claims->err));
        for (uint32_t i = 0; i < node->count; i++) {
            audit->out->claims++;
            MYR_TRY(check_pair(claims, node->items[i]));
        }
        return MYR_OK;
    }
    if (node->kind == MYR_DOC_LIST) {
        for (uint32_t i = 0; i < node->count; i++) {
            const char *next = myr_arena_printf(audit->arena, "%s.%u", path, i);
            MYR_TRY(walk(claims, node->items[i], next, node->items[i], depth + 1));
        }
        return MYR_OK;
    }
    audit->out->claims++;
    if (path_begins(path, "watts")) {
        return path[5] == '.' ? check_watts(claims, node, path + 6)
                              : myr_doc_error(claims->err, node, MYR_EINVAL,
                                              "'watts' is a map of part to watts");
    }
    if (path_begins(path, "storage.rates")) {
        return check_rate(claims, at, path);
    }
    return check_value(claims, at, path);
}

/* Both plans as the JSON that a reader of the claims would see, so that paths mean the same. */
int audit_claims(struct audit *audit, const struct myr_doc *doc, struct myr_err *err)
{
    struct claims claims = {.audit = audit, .err = err};
    if (doc->kind != MYR_DOC_MAP) {
        return myr_doc_error(err, doc, MYR_EINVAL, "claims are a map of path to value");
    }
    myr_answer_init(&claims.asked, audit->arena, "myriad.plan", 1);
    (void)myr_plan_answer(&audit->asked, &claims.asked);
    myr_answer_init(&claims.open, audit->arena, "myriad.plan", 1);
    (void)myr_plan_answer(&audit->plan, &claims.open);
    return walk(&claims, doc, "", doc, 0);
}
