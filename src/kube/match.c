/* match: whether a pod may go to a node: selectors, affinity, taints. */
#include "kube.h"

/* Effect and key must agree, the value too unless any will do. */
static bool tolerates(const struct kube_toleration *t, const struct kube_taint *taint)
{
    if (!t->all_effects && t->effect != taint->effect) {
        return false;
    }
    if (t->key.len == 0) {
        return t->exists; /* no key: whatever it is */
    }
    return myr_str_eq(t->key, taint->key) && (t->exists || myr_str_eq(t->value, taint->value));
}

static bool tolerated(const struct kube_needs *needs, const struct kube_taint *taint)
{
    for (uint32_t i = 0; i < needs->toleration_count; i++) {
        if (tolerates(&needs->tolerations[i], taint)) {
            return true;
        }
    }
    return false;
}

static bool has_value(const struct kube_expression *e, struct myr_str value)
{
    for (uint32_t i = 0; i < e->value_count; i++) {
        if (myr_str_eq(e->values[i], value)) {
            return true;
        }
    }
    return false;
}

/*
 * "NotIn" and "DoesNotExist" hold of a label that is not there, all others do not. A field is
 * always there: it is the node's name.
 */
static bool holds(const struct kube_expression *e, const struct kube_node *node)
{
    bool there = e->field;
    struct myr_str value = e->field ? node->name : kube_pair(&node->labels, e->key.data, &there);
    int64_t is, bound;
    switch (e->is) {
    case KUBE_IN:
        return there && has_value(e, value);
    case KUBE_NOT_IN:
        return !there || !has_value(e, value);
    case KUBE_EXISTS:
        return there;
    case KUBE_DOES_NOT_EXIST:
        return !there;
    case KUBE_GT:
    case KUBE_LT:
        return there && e->value_count == 1 && myr_str_to_i64(value, &is) &&
               myr_str_to_i64(e->values[0], &bound) && (e->is == KUBE_GT ? is > bound : is < bound);
    case KUBE_OPERATORS:
        break;
    }
    return false;
}

/* All of the selector, and one of the terms where there is a list of them. */
static bool selected(const struct kube_needs *needs, const struct kube_node *node)
{
    for (uint32_t i = 0; i < needs->selector.count; i++) {
        bool there;
        struct myr_str value = kube_pair(&node->labels, needs->selector.items[i].key.data, &there);
        if (!there || !myr_str_eq(value, needs->selector.items[i].value)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < needs->term_count; i++) {
        uint32_t good = 0;
        while (good < needs->terms[i].count && holds(&needs->terms[i].items[good], node)) {
            good++;
        }
        if (good == needs->terms[i].count) {
            return true;
        }
    }
    return !needs->has_terms;
}

/* Of several reasons the first one is told, and no other. */
enum kube_misfit kube_may(const struct kube_needs *needs, const struct kube_node *node)
{
    /* A cordoned node is as good as tainted: whoever tolerates that taint may go there. */
    static const struct kube_taint cordon = {
        {"node.kubernetes.io/unschedulable", sizeof("node.kubernetes.io/unschedulable") - 1},
        {"", 0},
        KUBE_NO_SCHEDULE};
    if (!node->ready) {
        return KUBE_NOT_READY;
    }
    if (node->unschedulable && !tolerated(needs, &cordon)) {
        return KUBE_CORDONED;
    }
    if (!selected(needs, node)) {
        return KUBE_NOT_SELECTED;
    }
    for (uint32_t i = 0; i < node->taint_count; i++) {
        if (node->taints[i].effect != KUBE_OTHER_EFFECT && !tolerated(needs, &node->taints[i])) {
            return KUBE_TAINTED;
        }
    }
    return KUBE_FITS;
}
