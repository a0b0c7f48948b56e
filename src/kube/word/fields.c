/* fields: a message of protobuf, gone through once from left to right. */
#include "word/word.h"

enum { NUMBER_BYTES_MAX = 10, FIELD_MAX = (1 << 29) - 1 };

struct kube_fields kube_fields_of(struct myr_str message)
{
    const char *from = message.data ? message.data : "";
    return (struct kube_fields){.at = from, .end = from + message.len};
}

static bool give_up(struct kube_fields *f)
{
    f->bad = true;
    f->at = f->end;
    return false;
}

/* Seven bits a byte, the lowest first. */
static bool take_number(struct kube_fields *f, uint64_t *ret)
{
    uint64_t value = 0;
    if (f->end - f->at >= 2 && (f->at[0] & f->at[1] & 0x80) == 0) { /* as most of them */
        bool two = f->at[0] & 0x80;
        *ret = (uint64_t)(f->at[0] & 0x7f) | (two ? (uint64_t)f->at[1] << 7 : 0);
        f->at += 1 + two;
        return true;
    }
    for (uint32_t i = 0; i < NUMBER_BYTES_MAX && f->at < f->end; i++) {
        uint64_t byte = (unsigned char)*f->at++;
        if (i == NUMBER_BYTES_MAX - 1 && byte > 1) {
            break; /* beyond 64 bits */
        }
        value |= (byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    return give_up(f);
}

static bool take_bytes(struct kube_fields *f, uint64_t size, struct myr_str *ret)
{
    if (size > (uint64_t)(f->end - f->at)) {
        return give_up(f);
    }
    *ret = (struct myr_str){f->at, (size_t)size};
    f->at += size;
    return true;
}

bool kube_fields_slow(struct kube_fields *f, struct kube_field *ret)
{
    uint64_t tag, size;
    bool taken = false;
    if (!take_number(f, &tag)) {
        return false;
    }
    if (tag >> 3 == 0 || tag >> 3 > FIELD_MAX) {
        return give_up(f);
    }
    ret->number = (uint32_t)(tag >> 3);
    ret->wire = (enum kube_wire)(tag & 7);
    switch (ret->wire) {
    case KUBE_WIRE_NUMBER:
        taken = take_number(f, &ret->value);
        break;
    case KUBE_WIRE_EIGHT:
        taken = take_bytes(f, 8, &ret->bytes);
        break;
    case KUBE_WIRE_BYTES:
        taken = take_number(f, &size) && take_bytes(f, size, &ret->bytes);
        break;
    case KUBE_WIRE_FOUR:
        taken = take_bytes(f, 4, &ret->bytes);
        break;
    }
    return taken ? true : give_up(f);
}
