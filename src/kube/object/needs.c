/* needs: what a pod asks of a node, out of its spec. */
#include <stdio.h>

#include "kube.h"

/* Items of a list of an object; a longer one is none that is looked at. */
enum { LIST_MAX = 4096 };

struct myr_str kube_text(const struct myr_doc *map, const char *key)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node && node->kind == MYR_DOC_SCALAR ? node->text : (struct myr_str){"", 0};
}

const struct myr_doc *kube_list(const struct myr_doc *map, const char *key)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node && node->kind == MYR_DOC_LIST && node->count <= LIST_MAX ? node : NULL;
}

struct myr_str kube_keep(struct myr_arena *arena, struct myr_str text)
{
    return (struct myr_str){myr_arena_strndup(arena, text.len ? text.data : "", text.len),
                            text.len};
}

/* Labels and selectors: values that are no texts are left out. */
struct kube_pairs kube_pairs_read(struct myr_arena *arena, const struct myr_doc *map)
{
    struct kube_pairs pairs = {};
    if (!map || map->kind != MYR_DOC_MAP) {
        return pairs;
    }
    pairs.items = MYR_ARENA_NEW(arena, struct kube_pair, map->count);
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->entries[i].value->kind == MYR_DOC_SCALAR) {
            pairs.items[pairs.count++] =
                (struct kube_pair){kube_keep(arena, map->entries[i].key),
                                   kube_keep(arena, map->entries[i].value->text)};
        }
    }
    return pairs;
}

struct myr_str kube_pair(const struct kube_pairs *pairs, const char *key, bool *ret_there)
{
    struct myr_str wanted = myr_str_from(key);
    for (uint32_t i = 0; i < pairs->count; i++) {
        if (myr_str_eq(pairs->items[i].key, wanted)) {
            *ret_there = true;
            return pairs->items[i].value;
        }
    }
    *ret_there = false;
    return (struct myr_str){"", 0};
}

enum kube_effect kube_effect_of(struct myr_str text)
{
    return myr_str_eq(text, MYR_STR("NoSchedule"))  ? KUBE_NO_SCHEDULE
           : myr_str_eq(text, MYR_STR("NoExecute")) ? KUBE_NO_EXECUTE
                                                    : KUBE_OTHER_EFFECT;
}

/* A number stays what it is as long as the cluster lives: amounts and uses are by number. */
uint32_t kube_resource(struct kube_resources *resources, struct myr_str name)
{
    uint32_t id = myr_strmap_get(&resources->ids, name);
    if (id != MYR_MAP_NONE) {
        return id;
    }
    if (resources->ids.count >= KUBE_RESOURCES) {
        return MYR_NONE;
    }
    id = resources->ids.count;
    bool added = myr_strmap_add(&resources->ids, kube_keep(&resources->arena, name), id);
    MYR_ASSERT(added);
    return id;
}

/* What is asked and not understood: the first of it is told. */
static void refuse(struct kube_needs *needs, const char *what)
{
    if (!needs->refused[0]) {
        snprintf(needs->refused, sizeof(needs->refused), "%s", what);
    }
}

/* Adds the amounts of one container. */
static void add_amounts(struct kube_resources *resources, struct kube_needs *needs,
                        const struct myr_doc *map, int64_t totals[KUBE_RESOURCES])
{
    if (!map || map->kind != MYR_DOC_MAP) {
        return;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        const struct myr_doc_entry *entry = &map->entries[i];
        int64_t milli;
        if (entry->value->kind != MYR_DOC_SCALAR || !kube_quantity(entry->value->text, &milli)) {
            refuse(needs, "a request that is no quantity");
            continue;
        }
        uint32_t id = kube_resource(resources, entry->key);
        if (id == MYR_NONE) {
            refuse(needs, "a resource beyond the 32 kinds that are told apart");
            /* Too much for a number is too much for any node. */
        } else if (__builtin_add_overflow(totals[id], milli, &totals[id])) {
            totals[id] = INT64_MAX;
        }
    }
}

/*
 * TCP and UDP of one number are two ports: the protocol is bit 16. A port that is not the host's is
 * of no concern.
 */
static void read_ports(struct kube_needs *needs, const struct myr_doc *container)
{
    const struct myr_doc *ports = kube_list(container, "ports");
    for (uint32_t i = 0; ports && i < ports->count; i++) {
        uint64_t port = 0;
        if (!myr_str_to_u64(kube_text(ports->items[i], "hostPort"), &port) || port == 0) {
            continue;
        }
        /* A port that was left out would be given to somebody else: rather the pod waits. */
        if (port > UINT16_MAX || needs->port_count == KUBE_PORTS) {
            refuse(needs, "more than 16 ports of the host");
            return;
        }
        bool udp = myr_str_eq(kube_text(ports->items[i], "protocol"), MYR_STR("UDP"));
        needs->ports[needs->port_count++] = (uint32_t)port | (udp ? 1U << 16 : 0);
    }
}

/* Of a container, or of a spec as a whole, which has them in the same place. */
static const struct myr_doc *requests_of(const struct myr_doc *container)
{
    return myr_doc_get(myr_doc_get(container, "resources"), "requests");
}

/*
 * Containers run together, the others one by one before them, and the larger of both is asked for.
 * Of those before, one that is always restarted (a sidecar) goes on beside all that come after it.
 */
static void add_before(struct kube_resources *resources, struct kube_needs *needs,
                       const struct myr_doc *before, int64_t totals[KUBE_RESOURCES])
{
    int64_t beside[KUBE_RESOURCES] = {}, most[KUBE_RESOURCES] = {};
    for (uint32_t i = 0; before && i < before->count; i++) {
        const struct myr_doc *asked = requests_of(before->items[i]);
        if (myr_str_eq(kube_text(before->items[i], "restartPolicy"), MYR_STR("Always"))) {
            add_amounts(resources, needs, asked, beside);
            read_ports(needs, before->items[i]);
            continue;
        }
        int64_t then[KUBE_RESOURCES];
        memcpy(then, beside, sizeof(then));
        add_amounts(resources, needs, asked, then);
        for (uint32_t id = 0; id < KUBE_RESOURCES; id++) {
            most[id] = then[id] > most[id] ? then[id] : most[id];
        }
    }
    for (uint32_t id = 0; id < KUBE_RESOURCES; id++) {
        if (__builtin_add_overflow(totals[id], beside[id], &totals[id])) {
            totals[id] = INT64_MAX;
        }
        totals[id] = most[id] > totals[id] ? most[id] : totals[id];
    }
}

/* What is asked for the pod as a whole stands in place of the sum of its containers. */
static void set_amounts(struct kube_resources *resources, struct kube_needs *needs,
                        const struct myr_doc *map, int64_t totals[KUBE_RESOURCES])
{
    int64_t whole[KUBE_RESOURCES] = {};
    add_amounts(resources, needs, map, whole);
    for (uint32_t i = 0; map && map->kind == MYR_DOC_MAP && i < map->count; i++) {
        uint32_t id = kube_resource(resources, map->entries[i].key);
        if (id != MYR_NONE) {
            totals[id] = whole[id];
        }
    }
}

/*
 * In the order in which the stock scheduler counts: containers, those before them, what is asked
 * for the pod as a whole, and the overhead on top of it.
 */
static void read_amounts(struct kube_resources *resources, struct myr_arena *arena,
                         const struct myr_doc *spec, struct kube_needs *needs)
{
    int64_t totals[KUBE_RESOURCES] = {};
    const struct myr_doc *containers = kube_list(spec, "containers");
    for (uint32_t i = 0; containers && i < containers->count; i++) {
        add_amounts(resources, needs, requests_of(containers->items[i]), totals);
        read_ports(needs, containers->items[i]);
    }
    add_before(resources, needs, kube_list(spec, "initContainers"), totals);
    set_amounts(resources, needs, requests_of(spec), totals);
    add_amounts(resources, needs, myr_doc_get(spec, "overhead"), totals);
    /* A pod takes one of the pods that a node may have: that is a resource like others. */
    uint32_t pods = kube_resource(resources, MYR_STR("pods"));
    if (pods != MYR_NONE) {
        totals[pods] = 1000;
    }
    needs->amounts.items = MYR_ARENA_NEW(arena, struct kube_amount, KUBE_RESOURCES);
    for (uint32_t id = 0; id < KUBE_RESOURCES; id++) {
        if (totals[id] > 0) {
            needs->amounts.items[needs->amounts.count++] = (struct kube_amount){id, totals[id]};
        }
    }
}

/* Without an effect all of them are tolerated; any operator but "Exists" means "Equal". */
static void read_tolerations(struct myr_arena *arena, const struct myr_doc *spec,
                             struct kube_needs *needs)
{
    const struct myr_doc *list = kube_list(spec, "tolerations");
    if (!list) {
        return;
    }
    needs->tolerations = MYR_ARENA_NEW(arena, struct kube_toleration, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        struct myr_str effect = kube_text(list->items[i], "effect");
        needs->tolerations[needs->toleration_count++] = (struct kube_toleration){
            .key = kube_keep(arena, kube_text(list->items[i], "key")),
            .value = kube_keep(arena, kube_text(list->items[i], "value")),
            .exists = myr_str_eq(kube_text(list->items[i], "operator"), MYR_STR("Exists")),
            .all_effects = effect.len == 0,
            .effect = kube_effect_of(effect)};
    }
}

static const char *const operators[KUBE_OPERATORS] = {"In",           "NotIn", "Exists",
                                                      "DoesNotExist", "Gt",    "Lt"};

/*
 * 'term' has room for all of the list. What has an unknown operator is refused, never ignored: the
 * pod would go where it must not.
 */
static void read_expressions(struct myr_arena *arena, const struct myr_doc *list, bool field,
                             struct kube_needs *needs, struct kube_term *term)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct myr_doc *values = kube_list(list->items[i], "values");
        struct myr_str is = kube_text(list->items[i], "operator");
        struct kube_expression *e = &term->items[term->count++];
        *e = (struct kube_expression){.key = kube_keep(arena, kube_text(list->items[i], "key")),
                                      .is = KUBE_OPERATORS,
                                      .field = field};
        for (uint32_t o = 0; o < KUBE_OPERATORS; o++) {
            e->is = myr_str_eq(is, myr_str_from(operators[o])) ? (enum kube_operator)o : e->is;
        }
        if (e->is == KUBE_OPERATORS || (field && !myr_str_eq(e->key, MYR_STR("metadata.name")))) {
            refuse(needs, "a nodeAffinity with an unknown operator or field");
        }
        e->values = MYR_ARENA_NEW(arena, struct myr_str, values ? values->count : 0);
        for (uint32_t v = 0; values && v < values->count; v++) {
            if (values->items[v]->kind == MYR_DOC_SCALAR) {
                e->values[e->value_count++] = kube_keep(arena, values->items[v]->text);
            }
        }
    }
}

/*
 * Preferences are not read: only what is required decides. A list of terms that is there but has
 * none that could match leaves no node, which 'has_terms' tells from no list at all.
 */
static void read_affinity(struct myr_arena *arena, const struct myr_doc *spec,
                          struct kube_needs *needs)
{
    static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
    const struct myr_doc *affinity = myr_doc_get(spec, "affinity");
    const struct myr_doc *nodes = myr_doc_get(affinity, "nodeAffinity");
    const struct myr_doc *terms = kube_list(myr_doc_get(nodes, required), "nodeSelectorTerms");
    if (kube_list(myr_doc_get(affinity, "podAffinity"), required) ||
        kube_list(myr_doc_get(affinity, "podAntiAffinity"), required)) {
        refuse(needs, "a required podAffinity or podAntiAffinity");
    }
    const struct myr_doc *spreads = kube_list(spec, "topologySpreadConstraints");
    for (uint32_t i = 0; spreads && i < spreads->count; i++) {
        /* A wish may be passed over, a condition may not. */
        if (!myr_str_eq(kube_text(spreads->items[i], "whenUnsatisfiable"),
                        MYR_STR("ScheduleAnyway"))) {
            refuse(needs, "a topologySpreadConstraint that must hold");
        }
    }
    if (!terms) {
        return;
    }
    needs->has_terms = true;
    needs->terms = MYR_ARENA_NEW(arena, struct kube_term, terms->count);
    for (uint32_t i = 0; i < terms->count; i++) {
        const struct myr_doc *labels = kube_list(terms->items[i], "matchExpressions");
        const struct myr_doc *fields = kube_list(terms->items[i], "matchFields");
        uint32_t count = (labels ? labels->count : 0) + (fields ? fields->count : 0);
        if (count == 0) {
            continue; /* a term without anything matches no node */
        }
        struct kube_term *term = &needs->terms[needs->term_count++];
        term->items = MYR_ARENA_NEW(arena, struct kube_expression, count);
        read_expressions(arena, labels, false, needs, term);
        read_expressions(arena, fields, true, needs, term);
    }
}

/* The order of texts counts, and with the length where one of them ends. */
uint64_t kube_mix(uint64_t digest, struct myr_str text)
{
    return myr_hash_u64(digest * 31 + myr_hash_bytes(text.data, text.len) + text.len);
}

/*
 * Pods of one template have the same; then they are placed together. A list ends with its length,
 * so that a label that is selected is no taint that is tolerated.
 */
static uint64_t digest_of(const struct kube_needs *needs)
{
    uint64_t digest = needs->has_terms;
    for (uint32_t i = 0; i < needs->amounts.count; i++) {
        digest = myr_hash_u64(digest + needs->amounts.items[i].resource) +
                 (uint64_t)needs->amounts.items[i].milli;
    }
    digest = myr_hash_u64(digest) + needs->amounts.count;
    for (uint32_t i = 0; i < needs->selector.count; i++) {
        digest = kube_mix(kube_mix(digest, needs->selector.items[i].key),
                          needs->selector.items[i].value);
    }
    digest = myr_hash_u64(digest) + needs->selector.count;
    for (uint32_t i = 0; i < needs->toleration_count; i++) {
        const struct kube_toleration *t = &needs->tolerations[i];
        digest = kube_mix(kube_mix(digest, t->key), t->value) +
                 (uint64_t)(t->exists + 2 * t->all_effects + 4 * (int)t->effect);
    }
    digest = myr_hash_u64(digest) + needs->toleration_count;
    for (uint32_t i = 0; i < needs->term_count; i++) {
        for (uint32_t k = 0; k < needs->terms[i].count; k++) {
            const struct kube_expression *e = &needs->terms[i].items[k];
            digest = kube_mix(digest + (uint64_t)e->is * 2 + e->field, e->key);
            for (uint32_t v = 0; v < e->value_count; v++) {
                digest = kube_mix(digest, e->values[v]);
            }
            digest = myr_hash_u64(digest) + e->value_count;
        }
        digest = myr_hash_u64(digest) + needs->terms[i].count;
    }
    digest = myr_hash_u64(digest) + needs->term_count;
    for (uint32_t i = 0; i < needs->port_count; i++) {
        digest = myr_hash_u64(digest + needs->ports[i]);
    }
    return kube_mix(digest, myr_str_from(needs->refused));
}

void kube_needs_read(struct kube_resources *resources, struct myr_arena *arena,
                     const struct myr_doc *spec, struct kube_needs *ret)
{
    read_amounts(resources, arena, spec, ret);
    ret->selector = kube_pairs_read(arena, myr_doc_get(spec, "nodeSelector"));
    read_tolerations(arena, spec, ret);
    read_affinity(arena, spec, ret);
    if (kube_list(spec, "schedulingGates") && kube_list(spec, "schedulingGates")->count > 0) {
        refuse(ret, "a scheduling gate that nobody has opened");
    }
    if (kube_list(spec, "resourceClaims") && kube_list(spec, "resourceClaims")->count > 0) {
        refuse(ret, "resourceClaims");
    }
    ret->digest = digest_of(ret);
}
