/*
 * word: a pod out of a word of a watch in protobuf, which an API server writes with a third less
 * bytes than JSON and in which a part that is not wanted is passed in one step. Read is what
 * object.c and quick.c read of JSON, no more. Whatever is odd makes it give up: the watch is asked
 * for in JSON then.
 *
 *   fields   a message gone through, field by field
 *   spell    what a spec asks of nodes, as JSON
 *   word     a word of a watch
 *
 * Numbers of fields are those of k8s.io/api and k8s.io/apimachinery (generated.proto), which never
 * change: a number that is given up is never used again.
 */
#pragma once

#include "kube.h"

/* fields.c: what is not as expected sets 'bad' and ends it; bytes are taken where they lie. */
struct kube_fields {
    const char *at, *end;
    bool bad;
};

/* How a value is written, the lowest bits of what stands before it; 3 and 4 are not in use. */
enum kube_wire {
    KUBE_WIRE_NUMBER = 0,
    KUBE_WIRE_EIGHT = 1,
    KUBE_WIRE_BYTES = 2,
    KUBE_WIRE_FOUR = 5
};

struct kube_field {
    uint32_t number;
    enum kube_wire wire;
    uint64_t value;       /* of a number */
    struct myr_str bytes; /* of bytes: a text, or a message */
    const char *from;     /* where it begins; it ends at 'at' */
};

#define KUBE_FIELD(number) (UINT64_C(1) << (number))
#define KUBE_ALL_FIELDS    UINT64_MAX

struct kube_fields kube_fields_of(struct myr_str message);
/*
 * The next of those that are 'wanted', a bit for each number below 64; with all of them those
 * beyond are too. False: there is none any more, or it is bad.
 */
bool kube_fields_next(struct kube_fields *fields, uint64_t wanted, struct kube_field *ret);

/* All of the field that was taken last, with what stands before its value. */
static inline struct myr_str kube_field_whole(const struct kube_fields *f,
                                              const struct kube_field *field)
{
    return (struct myr_str){field->from, (size_t)(f->at - field->from)};
}

/* spell.c: the parts of a PodSpec that decide where a pod may go; false: it is no message. */
bool kube_spell_needs(struct myr_str spec, struct myr_buf *ret);

struct kube_word {
    struct myr_str type; /* "ADDED" and so on */
    bool is_pod;         /* else it is a Status: 'code' and 'message' */
    struct kube_pod_texts texts;
    struct myr_str spec; /* to be spelled where nobody has read its like */
    uint32_t code;
    struct myr_str message;
};

/* False: not understood. 'needs' gets bytes that are the same where pods ask the same of nodes; of
 * a pod that is gone its metadata alone is read. */
bool kube_word_read(struct myr_str frame, struct kube_word *ret, struct myr_buf *needs);
