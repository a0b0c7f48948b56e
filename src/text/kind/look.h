/*
 * A look at a text: its kind, and what words about it are made of. Private; kind.c looks,
 * document.c knows documents by their keys, secret.c what must not be shown, read.c says it.
 */
#pragma once

#include "kind/other.h"
#include "myriad/text/kind.h"

/* Enough to see the keys of a document; a text of gigabytes is not read for a guess. */
enum { KIND_LOOK_BYTES = 16 * 1024, KIND_KEYS_MAX = 24 };

/* The top-level keys of a document, as far as they were looked at. */
struct kind_keys {
    struct myr_str items[KIND_KEYS_MAX];
    struct myr_str values[KIND_KEYS_MAX]; /* from how each begins; empty: on another line */
    uint32_t count;
};

struct kind_look {
    enum myr_kind kind;
    struct myr_str line; /* that decided */
    struct kind_keys keys;
    bool pem; /* a secret that says what it is */
    const struct kind_other *other;
};

void kind_look(struct myr_str whole, struct kind_look *ret);
/* Whether it could be anything: nothing that only one kind has was seen. */
bool kind_is_open(enum myr_kind kind);

void kind_json_keys(struct myr_str text, struct kind_keys *ret);
/* False when 'line', the first of the text, has no key: then it is no document. */
bool kind_yaml_keys(struct myr_str text, struct myr_str line, struct kind_keys *ret);
/* By keys that no other document has; 'otherwise' when there are none. */
enum myr_kind kind_document(const struct kind_keys *keys, enum myr_kind otherwise);
/* The value of a key without its quotes; empty when it has none on its line, or is not there. */
struct myr_str kind_value(const struct kind_keys *keys, const char *name);
