/*
 * quick: a pod out of a line of a watch, without a tree of the line. An API server tells of each
 * pod five times and more, in four kilobytes of which a tenth is looked at; to build trees of them
 * was most of the work of a gang. What is taken is what object.c takes, field by field; whatever is
 * unusual is left to it.
 */
#include "kube.h"

/* With a length that is known when it is compiled: a comparison or two, and no call. */
#define IS(key, name) \
    ((key).len == sizeof(name) - 1 && memcmp((key).data, name, sizeof(name) - 1) == 0)

/* --- the part of a spec that decides where a pod may go, as a smaller spec */

/* 'value' is JSON as it was written. Something stands in 'to' already: at least a bracket. */
static void put_member(struct myr_buf *to, struct myr_str key, struct myr_str value)
{
    char last = to->data[to->len - 1];
    myr_buf_put(to, ",", last != '{' && last != '[');
    myr_buf_put(to, "\"", 1);
    myr_buf_put(to, key.data, key.len);
    myr_buf_put(to, "\":", 2);
    myr_buf_put(to, value.data, value.len);
}

/* Limits are left out: an API server has made requests of them where there were none. */
static void walk_resources(struct kube_walk *w, struct myr_buf *to)
{
    struct myr_str key;
    put_member(to, MYR_STR("resources"), MYR_STR("{"));
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        struct myr_str value = kube_walk_pass(w);
        if (IS(key, "requests")) {
            put_member(to, key, value);
        }
    }
    myr_buf_putc(to, '}');
}

/*
 * Image, command and environment differ from pod to pod at times and decide nothing: without them
 * pods of one template give one text, by which alike.c knows them.
 */
static void walk_container(struct kube_walk *w, struct myr_buf *to)
{
    struct myr_str key;
    myr_buf_put(to, ",", to->data[to->len - 1] != '[');
    myr_buf_putc(to, '{');
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        if (IS(key, "resources") && kube_walk_next(w) == '{') {
            walk_resources(w, to);
            continue;
        }
        struct myr_str value = kube_walk_pass(w);
        if (IS(key, "ports") || IS(key, "restartPolicy") || IS(key, "resources")) {
            put_member(to, key, value);
        }
    }
    myr_buf_putc(to, '}');
}

/* What is no list is kept as it is: needs.c looks at it, and finds none. */
static void walk_containers(struct kube_walk *w, struct myr_str name, struct myr_buf *to)
{
    if (kube_walk_next(w) != '[') {
        put_member(to, name, kube_walk_pass(w));
        return;
    }
    put_member(to, name, MYR_STR("["));
    kube_walk_open(w, '[');
    while (kube_walk_item(w)) {
        walk_container(w, to);
    }
    myr_buf_putc(to, ']');
}

/*
 * All of a spec that needs.c reads, but for containers and resources, which have walks of their
 * own.
 */
static bool decides(struct myr_str key)
{
    return IS(key, "overhead") || IS(key, "nodeSelector") || IS(key, "tolerations") ||
           IS(key, "affinity") || IS(key, "topologySpreadConstraints") ||
           IS(key, "schedulingGates") || IS(key, "resourceClaims");
}

/* Where the text of this member goes; NULL: it is none that is wanted. */
static struct myr_str *spec_text(struct kube_pod_texts *t, struct myr_str key)
{
    return IS(key, "nodeName")        ? &t->node
           : IS(key, "schedulerName") ? &t->scheduler
           : IS(key, "hostNetwork")   ? &t->json.host_network
           : IS(key, "hostname")      ? &t->hostname
           : IS(key, "subdomain")     ? &t->subdomain
           : IS(key, "priority")      ? &t->json.priority
                                      : NULL;
}

/*
 * Members come in the order of the line: API servers write them in one order, and so pods of one
 * template give one text.
 */
static void walk_spec(struct kube_walk *w, struct kube_pod_texts *t, struct myr_buf *needs)
{
    struct myr_str key;
    myr_buf_putc(needs, '{');
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        struct myr_str *text = spec_text(t, key);
        if (text) {
            kube_walk_text(w, text);
        } else if (IS(key, "resources") && kube_walk_next(w) == '{') {
            walk_resources(w, needs);
        } else if (IS(key, "containers") || IS(key, "initContainers")) {
            walk_containers(w, key, needs);
        } else {
            struct myr_str value = kube_walk_pass(w);
            if (decides(key)) {
                put_member(needs, key, value);
            }
        }
    }
    myr_buf_putc(needs, '}');
}

/* --- the rest of it */

/* The first owner that is a controller counts: that is who makes the pod again. */
static void walk_owner(struct kube_walk *w, struct kube_pod_texts *t)
{
    struct myr_str key, is = {}, kind = {}, name = {}, uid = {}, api = {};
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        struct myr_str *text = IS(key, "controller")   ? &is
                               : IS(key, "kind")       ? &kind
                               : IS(key, "name")       ? &name
                               : IS(key, "uid")        ? &uid
                               : IS(key, "apiVersion") ? &api
                                                       : NULL;
        /*
         * Members that are not wanted must be plain too: an owner that is odd is left to object.c.
         */
        struct myr_str other = {};
        kube_walk_text(w, text ? text : &other);
    }
    if (!t->owner_name.len && myr_str_eq(is, MYR_STR("true")) && kube_is_name(name)) {
        t->owner_kind = kind;
        t->owner_name = name;
        t->owner_uid = uid;
        t->owner_api = api;
    }
}

/* Of the annotations those that kube_notes[] names; what others have written is passed over. */
static void walk_notes(struct kube_walk *w, struct kube_pod_texts *t)
{
    struct myr_str key;
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        uint32_t note = 0;
        while (note < KUBE_NOTES && !myr_str_eq(key, kube_notes[note])) {
            note++;
        }
        if (note < KUBE_NOTES) {
            kube_walk_text(w, &t->notes[note]);
        } else {
            kube_walk_pass(w);
        }
    }
}

static struct myr_str *meta_text(struct kube_pod_texts *t, struct myr_str key)
{
    return IS(key, "name")                ? &t->name
           : IS(key, "namespace")         ? &t->space
           : IS(key, "uid")               ? &t->uid
           : IS(key, "resourceVersion")   ? &t->version
           : IS(key, "creationTimestamp") ? &t->json.created
           : IS(key, "deletionTimestamp") ? &t->json.deleted
                                          : NULL;
}

static void walk_meta(struct kube_walk *w, struct kube_pod_texts *t)
{
    struct myr_str key;
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        struct myr_str *text = meta_text(t, key);
        if (text) {
            kube_walk_text(w, text);
        } else if (IS(key, "annotations") && kube_walk_next(w) == '{') {
            walk_notes(w, t);
        } else if (IS(key, "ownerReferences") && kube_walk_next(w) == '[') {
            kube_walk_open(w, '[');
            while (kube_walk_item(w)) {
                walk_owner(w, t);
            }
        } else {
            kube_walk_pass(w);
        }
    }
}

/* The phase is all that counts of it. */
static void walk_status(struct kube_walk *w, struct kube_pod_texts *t)
{
    struct myr_str key;
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        if (IS(key, "phase")) {
            kube_walk_text(w, &t->phase);
        } else {
            kube_walk_pass(w);
        }
    }
}

/* Each of the three once, and all of them: else it is not as usual. */
static bool walk_object(struct kube_walk *w, struct kube_pod_texts *t, struct myr_buf *needs)
{
    struct myr_str key;
    uint32_t metas = 0, specs = 0, statuses = 0;
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        if (IS(key, "metadata")) {
            metas++;
            walk_meta(w, t);
        } else if (IS(key, "spec")) {
            specs++;
            walk_spec(w, t, needs);
        } else if (IS(key, "status")) {
            statuses++;
            walk_status(w, t);
        } else {
            kube_walk_pass(w);
        }
    }
    return metas == 1 && specs == 1 && statuses == 1;
}

/* Of one that is gone its names are enough, and these come first. */
static bool walk_gone(struct kube_walk *w, struct kube_pod_texts *t)
{
    struct myr_str key;
    kube_walk_open(w, '{');
    while (kube_walk_key(w, &key)) {
        if (IS(key, "metadata")) {
            walk_meta(w, t);
            return !w->bad;
        }
        kube_walk_pass(w);
    }
    return false;
}

/* The type comes before the object, or else a pod that is gone is read like any other. */
bool kube_quick(struct myr_str line, struct myr_str *ret_type, struct kube_pod_texts *ret,
                struct myr_buf *needs)
{
    struct kube_walk w = {.at = line.data, .end = line.data + line.len};
    struct myr_str key;
    bool whole = false;
    *ret_type = (struct myr_str){};
    *ret = (struct kube_pod_texts){};
    myr_buf_clear(needs);
    kube_walk_open(&w, '{');
    while (kube_walk_key(&w, &key)) {
        if (IS(key, "type")) {
            kube_walk_text(&w, ret_type);
        } else if (IS(key, "object") && IS(*ret_type, "DELETED")) {
            return walk_gone(&w, ret);
        } else if (IS(key, "object") && !whole) {
            whole = walk_object(&w, ret, needs);
            w.bad = w.bad || !whole;
        } else {
            kube_walk_pass(&w);
            w.bad = w.bad || IS(key, "object");
        }
    }
    /*
     * Nothing may stand behind the object: a line that is cut or doubled is not taken for a whole
     * one.
     */
    kube_pod_numbers(ret);
    return whole && kube_walk_next(&w) == '\0' && w.at == w.end && !w.bad;
}
