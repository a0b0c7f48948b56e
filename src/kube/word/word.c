#include "word/word.h"

/* In front of every object. */
static const char magic[] = {'k', '8', 's', '\0'};

/* Which fields are looked at, of each message. */
#define FRAME     (KUBE_FIELD(1) | KUBE_FIELD(2))
#define OBJECT    (KUBE_FIELD(1) | KUBE_FIELD(2) | KUBE_FIELD(3))
#define KIND      (KUBE_FIELD(1) | KUBE_FIELD(2))
#define ERROR     (KUBE_FIELD(3) | KUBE_FIELD(6))
#define PARTS     (KUBE_FIELD(1) | KUBE_FIELD(2) | KUBE_FIELD(3))
#define PAIR      (KUBE_FIELD(1) | KUBE_FIELD(2))
#define CONTAINER (KUBE_FIELD(6) | KUBE_FIELD(8) | KUBE_FIELD(24)) /* all of it decides */
#define OWNER     (KUBE_FIELD(1) | KUBE_FIELD(3) | KUBE_FIELD(4) | KUBE_FIELD(5) | KUBE_FIELD(6))
/*
 * Of ObjectMeta: name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp,
 * annotations, ownerReferences.
 */
#define META                                                                         \
    (KUBE_FIELD(1) | KUBE_FIELD(3) | KUBE_FIELD(5) | KUBE_FIELD(6) | KUBE_FIELD(8) | \
     KUBE_FIELD(9) | KUBE_FIELD(12) | KUBE_FIELD(13))
/* nodeSelector, affinity, tolerations, overhead, topologySpreadConstraints, schedulingGates,
 * resourceClaims, resources: as they are. */
#define ASKED                                                                            \
    (KUBE_FIELD(7) | KUBE_FIELD(18) | KUBE_FIELD(22) | KUBE_FIELD(32) | KUBE_FIELD(33) | \
     KUBE_FIELD(38) | KUBE_FIELD(39) | KUBE_FIELD(40))
/*
 * And containers, nodeName, hostNetwork, hostname, subdomain, schedulerName, initContainers,
 * priority, which are read one by one.
 */
#define SPEC                                                                                     \
    (ASKED | KUBE_FIELD(2) | KUBE_FIELD(10) | KUBE_FIELD(11) | KUBE_FIELD(16) | KUBE_FIELD(17) | \
     KUBE_FIELD(19) | KUBE_FIELD(20) | KUBE_FIELD(25))

/* Seconds: of the year 9999. */
#define TIME_MAX_S 253402300799

static bool is_plain_block(const char *at)
{
    const uint64_t high = 0x8080808080808080, ones = 0x0101010101010101;
    uint64_t block;
    memcpy(&block, at, sizeof(block));
    /* A byte below 0x20 borrows from its highest bit; 0x7f and more reach it. */
    return (((block - ones * 0x20) | (block + ones) | block) & high) == 0;
}

/* Only what is plain ASCII is taken: all else, which is seldom, is left to JSON and its reader. */
static bool is_plain(struct myr_str text)
{
    const size_t size = sizeof(uint64_t);
    bool plain = true;
    for (size_t at = 0; at + size <= text.len && plain; at += size) {
        plain = is_plain_block(text.data + at);
    }
    if (text.len >= size) {
        return plain && is_plain_block(text.data + text.len - size);
    }
    for (size_t at = 0; at < text.len && plain; at++) {
        plain = (unsigned char)(text.data[at] - 0x20) <= 0x7e - 0x20;
    }
    return plain;
}

/* Into what has none yet. */
static void take_text(struct kube_fields *f, const struct kube_field *field, struct myr_str *ret)
{
    if (field->wire != KUBE_WIRE_BYTES || ret->data || !is_plain(field->bytes)) {
        f->bad = true;
    } else {
        *ret = field->bytes;
    }
}

/* A message that is there twice would have to be merged by the rules of protobuf: that is odd. */
static void take_message(struct kube_fields *f, const struct kube_field *field, struct myr_str *ret)
{
    if (field->wire != KUBE_WIRE_BYTES || ret->data) {
        f->bad = true;
    } else {
        *ret = field->bytes;
    }
}

/* --- the part of a spec that decides where a pod may go */

/* Zero is no number of a field: a container ends there. */
static bool put_container(const struct kube_field *container, struct myr_buf *needs)
{
    struct kube_fields f = kube_fields_of(container->bytes);
    struct kube_field field;
    myr_buf_putc(needs, *container->from); /* whether it is of the first ones */
    while (kube_fields_next(&f, CONTAINER, &field)) {
        struct myr_str whole = kube_field_whole(&f, &field);
        myr_buf_put(needs, whole.data, whole.len);
    }
    myr_buf_putc(needs, '\0');
    return !f.bad && container->wire == KUBE_WIRE_BYTES;
}

/*
 * 'needs' gets the fields that decide as the bytes that they are, in the order in which they come:
 * who wrote them once writes them the same for the next pod of the template.
 */
static bool read_spec(struct myr_str spec, struct kube_pod_texts *t, struct myr_buf *needs)
{
    struct kube_fields f = kube_fields_of(spec);
    struct kube_field field;
    struct myr_str whole;
    while (!f.bad && kube_fields_next(&f, SPEC, &field)) {
        switch (field.number) {
        case 2:
        case 20:
            f.bad = !put_container(&field, needs);
            break;
        case 10:
            take_text(&f, &field, &t->node);
            break;
        case 11:
            t->host_network = field.value != 0;
            break;
        case 16:
            take_text(&f, &field, &t->hostname);
            break;
        case 17:
            take_text(&f, &field, &t->subdomain);
            break;
        case 19:
            take_text(&f, &field, &t->scheduler);
            break;
        case 25:
            t->priority = (int32_t)field.value;
            break;
        default: /* of ASKED */
            whole = kube_field_whole(&f, &field);
            myr_buf_put(needs, whole.data, whole.len);
            break;
        }
    }
    return !f.bad;
}

/* --- the rest of it */

/*
 * Annotations of others may hold anything: only the value of one that is wanted must be plain. An
 * empty value may be left out of the entry, and is there all the same.
 */
static bool read_note(struct myr_str entry, struct kube_pod_texts *t)
{
    struct kube_fields f = kube_fields_of(entry);
    struct kube_field field;
    struct myr_str key = {}, value = {};
    while (!f.bad && kube_fields_next(&f, PAIR, &field)) {
        if (field.number == 1) {
            take_message(&f, &field, &key);
        } else if (field.number == 2) {
            take_message(&f, &field, &value);
        }
    }
    if (f.bad) {
        return false;
    }
    for (uint32_t i = 0; i < KUBE_NOTES; i++) {
        if (myr_str_eq(kube_notes[i], key)) {
            bool fresh = t->notes[i].data == NULL && is_plain(value);
            t->notes[i] = value.data ? value : (struct myr_str){"", 0};
            return fresh;
        }
    }
    return true;
}

/* The first owner that is a controller counts, as in object.c. */
static bool read_owner(struct myr_str owner, struct kube_pod_texts *t)
{
    struct kube_fields f = kube_fields_of(owner);
    struct kube_field field;
    struct myr_str kind = {}, name = {}, uid = {}, api = {};
    bool controls = false;
    while (!f.bad && kube_fields_next(&f, OWNER, &field)) {
        switch (field.number) {
        case 1:
            take_text(&f, &field, &kind);
            break;
        case 3:
            take_text(&f, &field, &name);
            break;
        case 4:
            take_text(&f, &field, &uid);
            break;
        case 5:
            take_text(&f, &field, &api);
            break;
        case 6:
            controls = field.value != 0;
            break;
        default:
            break;
        }
    }
    if (!f.bad && controls && !t->owner_name.len && kube_is_name(name)) {
        t->owner_kind = kind;
        t->owner_name = name;
        t->owner_uid = uid;
        t->owner_api = api;
    }
    return !f.bad;
}

/*
 * Seconds since 1970, and a fraction that nobody needs. 0 where nothing is said or it is no time.
 */
static bool read_time(struct myr_str time, int64_t *ret_ms)
{
    struct kube_fields f = kube_fields_of(time);
    struct kube_field field;
    *ret_ms = 0;
    while (kube_fields_next(&f, KUBE_FIELD(1), &field)) {
        if (field.number == 1 && field.value <= TIME_MAX_S) {
            *ret_ms = (int64_t)field.value * 1000;
        }
    }
    return !f.bad;
}

/* Of a pod that is 'gone' what names it, which comes first. */
static bool read_meta(struct myr_str meta, bool gone, struct kube_pod_texts *t)
{
    struct kube_fields f = kube_fields_of(meta);
    struct kube_field field;
    while (!f.bad && !(gone && t->version.data) && kube_fields_next(&f, META, &field)) {
        switch (field.number) {
        case 1:
            take_text(&f, &field, &t->name);
            break;
        case 3:
            take_text(&f, &field, &t->space);
            break;
        case 5:
            take_text(&f, &field, &t->uid);
            break;
        case 6:
            take_text(&f, &field, &t->version);
            break;
        case 8:
            f.bad = !read_time(field.bytes, &t->created_ms);
            break;
        case 9: /* it is there when it is set, and not before */
            t->deleting = true;
            break;
        case 12:
            f.bad = !read_note(field.bytes, t);
            break;
        case 13:
            f.bad = !read_owner(field.bytes, t);
            break;
        default:
            break;
        }
    }
    return !f.bad;
}

/* Nothing behind the phase, which comes first, is looked at. */
static bool read_status(struct myr_str status, struct kube_pod_texts *t)
{
    struct kube_fields f = kube_fields_of(status);
    struct kube_field field;
    while (!f.bad && !t->phase.data && kube_fields_next(&f, KUBE_FIELD(1), &field)) {
        if (field.number == 1) {
            take_text(&f, &field, &t->phase);
        }
    }
    return !f.bad;
}

/* Spec and status may be missing where they are empty, metadata may not: it has the name. */
static bool read_pod(struct myr_str pod, bool gone, struct kube_word *ret, struct myr_buf *needs)
{
    struct kube_fields f = kube_fields_of(pod);
    struct kube_field field;
    struct myr_str meta = {}, status = {};
    while (!f.bad && kube_fields_next(&f, PARTS, &field)) {
        struct myr_str *part = field.number == 1   ? &meta
                               : field.number == 2 ? &ret->spec
                               : field.number == 3 ? &status
                                                   : NULL;
        if (part) {
            take_message(&f, &field, part);
        }
    }
    return !f.bad && meta.data && read_meta(meta, gone, &ret->texts) &&
           (gone || (read_spec(ret->spec, &ret->texts, needs) && read_status(status, &ret->texts)));
}

/* What comes in an object's place when the watch is over. */
static bool read_error(struct myr_str status, struct kube_word *ret)
{
    struct kube_fields f = kube_fields_of(status);
    struct kube_field field;
    while (!f.bad && kube_fields_next(&f, ERROR, &field)) {
        if (field.number == 3) {
            take_text(&f, &field, &ret->message);
        } else if (field.number == 6) {
            ret->code = field.value < 1000 ? (uint32_t)field.value : 0;
        }
    }
    return !f.bad;
}

/* --- what is around it */

/* What stands around an object: runtime.Unknown, behind the magic. */
struct object {
    struct myr_str api, kind, bytes, coding;
};

static bool read_kind(struct myr_str meta, struct object *ret)
{
    struct kube_fields f = kube_fields_of(meta);
    struct kube_field field;
    while (!f.bad && kube_fields_next(&f, KIND, &field)) {
        if (field.number == 1) {
            take_text(&f, &field, &ret->api);
        } else if (field.number == 2) {
            take_text(&f, &field, &ret->kind);
        }
    }
    return !f.bad;
}

/* Only what is of "v1" and is not coded once more is taken: those are the numbers known here. */
static bool read_object(struct myr_str raw, struct object *ret)
{
    if (raw.len < sizeof(magic) || memcmp(raw.data, magic, sizeof(magic)) != 0) {
        return false;
    }
    struct kube_fields f =
        kube_fields_of((struct myr_str){raw.data + sizeof(magic), raw.len - sizeof(magic)});
    struct kube_field field;
    while (!f.bad && kube_fields_next(&f, OBJECT, &field)) {
        switch (field.number) {
        case 1:
            f.bad = !read_kind(field.bytes, ret);
            break;
        case 2:
            take_message(&f, &field, &ret->bytes);
            break;
        case 3:
            take_text(&f, &field, &ret->coding);
            break;
        default:
            break;
        }
    }
    return !f.bad && ret->coding.len == 0 && myr_str_eq(ret->api, MYR_STR("v1"));
}

/* A word of a watch: its type, and the object inside of an extension. */
static bool read_frame(struct myr_str frame, struct myr_str *ret_type, struct myr_str *ret_raw)
{
    struct kube_fields f = kube_fields_of(frame), inner;
    struct kube_field field;
    struct myr_str extension = {};
    while (!f.bad && kube_fields_next(&f, FRAME, &field)) {
        if (field.number == 1) {
            take_text(&f, &field, ret_type);
        } else if (field.number == 2) {
            take_message(&f, &field, &extension);
        }
    }
    inner = kube_fields_of(extension);
    while (!f.bad && !inner.bad && kube_fields_next(&inner, KUBE_FIELD(1), &field)) {
        if (field.number == 1) {
            take_message(&inner, &field, ret_raw);
        }
    }
    return !f.bad && !inner.bad && ret_raw->data;
}

/*
 * From the outside in: frame, object, pod. A Status comes in a pod's place when the watch is over.
 */
bool kube_word_read(struct myr_str frame, struct kube_word *ret, struct myr_buf *needs)
{
    struct myr_str raw = {};
    struct object object = {};
    *ret = (struct kube_word){};
    myr_buf_clear(needs);
    if (!read_frame(frame, &ret->type, &raw) || !read_object(raw, &object)) {
        return false;
    }
    ret->is_pod = myr_str_eq(object.kind, MYR_STR("Pod"));
    if (ret->is_pod) {
        bool gone = myr_str_eq(ret->type, MYR_STR("DELETED"));
        return read_pod(object.bytes, gone, ret, needs);
    }
    return myr_str_eq(object.kind, MYR_STR("Status")) && read_error(object.bytes, ret);
}
