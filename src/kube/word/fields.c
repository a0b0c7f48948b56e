/* fields: a message of protobuf, gone through once from left to right. */
#include "word/word.h"

/* Ten times seven bits hold 64; the numbers of fields end at 29 bits. */
enum { NUMBER_BYTES_MAX = 10, FIELD_MAX = (1 << 29) - 1 };

/* A message without a byte, or one that is not there, has no fields and is not bad. */
struct kube_fields kube_fields_of(struct myr_str message)
{
    const char *from = message.data ? message.data : "";
    return (struct kube_fields){.at = from, .end = from + message.len};
}

/* Nothing more is taken from it: whoever goes on asking is told that it is over. */
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

/* The size is whatever was sent: it is held against what is left before anything is added to it. */
static bool take_bytes(struct kube_fields *f, uint64_t size, struct myr_str *ret)
{
    if (size > (uint64_t)(f->end - f->at)) {
        return give_up(f);
    }
    *ret = (struct myr_str){f->at, (size_t)size};
    f->at += size;
    MYR_ASSERT(f->at <= f->end);
    return true;
}

/* Any field at all. */
static bool take_field(struct kube_fields *f, struct kube_field *ret)
{
    uint64_t tag, size;
    bool taken = false;
    ret->from = f->at;
    ret->value = 0;
    ret->bytes = (struct myr_str){};
    if (!take_number(f, &tag)) {
        return false;
    }
    if (tag >> 3 == 0 || tag >> 3 > FIELD_MAX) {
        return give_up(f);
    }
    ret->number = (uint32_t)(tag >> 3);
    MYR_ASSERT(ret->number > 0 && f->at > ret->from);
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

/*
 * As most of them are: a number below 2,048, and texts and messages shorter than 16 KiB or numbers
 * below 128. False: not so, and nothing is taken.
 */
static inline bool take_usual(struct kube_fields *f, struct kube_field *ret)
{
    const unsigned char *at = (const unsigned char *)f->at;
    size_t left = (size_t)(f->end - f->at), head = 1;
    if (left < 4) {
        return false;
    }
    uint32_t tag = at[0];
    if (tag & 0x80) {
        tag = (tag & 0x7f) | (uint32_t)at[head++] << 7;
    }
    uint32_t value = at[head++];
    uint32_t wire = tag & 7;
    bool high = tag >> 14 != 0; /* one more byte of the tag */
    if ((value & 0x80) && wire == KUBE_WIRE_BYTES) {
        value = (value & 0x7f) | (uint32_t)at[head++] << 7;
        high = high || value >> 14 != 0;
    }
    size_t size = wire == KUBE_WIRE_BYTES ? value : 0;
    if (high || tag < 8 || size > left - head ||
        (wire != KUBE_WIRE_BYTES && (wire != KUBE_WIRE_NUMBER || value & 0x80))) {
        return false;
    }
    ret->from = f->at;
    ret->number = tag >> 3;
    ret->wire = (enum kube_wire)wire;
    ret->value = wire == KUBE_WIRE_NUMBER ? value : 0;
    ret->bytes = (struct myr_str){f->at + head, size};
    f->at += head + size;
    MYR_ASSERT(f->at <= f->end && ret->number > 0);
    return true;
}

/* What take_usual() leaves alone, unusual or bad, is take_field()'s to judge. */
bool kube_fields_next(struct kube_fields *f, uint64_t wanted, struct kube_field *ret)
{
    MYR_SLOW_ASSERT(f->at <= f->end);
    while (f->at < f->end) {
        if (!take_usual(f, ret) && !take_field(f, ret)) {
            return false;
        }
        if (ret->number < 64 ? wanted >> ret->number & 1 : wanted == KUBE_ALL_FIELDS) {
            return true;
        }
    }
    return false;
}
