/*
 * names: node names as people write them, "gpu-[0001-1250],spare-[1-4]". The order of the list is
 * that of ids and leaves, and so part of a cluster's state: it may only grow at its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { NODES_MAX = 200000 }; /* a range may not fill the memory */

/* In the order of the text, which is that of the leaves; 'seen' borrows the names. */
struct list {
    MYR_VEC(char *) names;
    struct myr_strmap seen;
};

/* Names stand in keys, certificates and paths: only letters that mean nothing there. */
static int add(struct list *list, const char *name, struct myr_err *err)
{
    size_t length = strlen(name);
    if (length == 0 || length >= SERVER_NAME ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") !=
            length) {
        return myr_err_set(err, MYR_EINVAL,
                           "node name '%.70s': letters, digits, '-', '.' and '_' are expected, at "
                           "most 63",
                           name);
    }
    if (list->names.count >= NODES_MAX) {
        return myr_err_set(err, MYR_ERANGE, "more than %d nodes", NODES_MAX);
    }
    /* Pushed first: names_expand() frees it, also where it is there twice. */
    char *copy = strdup(name);
    myr_vec_push(&list->names, copy);
    return myr_strmap_add(&list->seen, myr_str_from(copy), 1)
               ? MYR_OK
               : myr_err_set(err, MYR_EINVAL, "node name '%s' twice", name);
}

/* "[0001-1250]": as many digits as the first number has. */
static int add_range(struct list *list, struct myr_str before, struct myr_str range,
                     struct myr_str after, struct myr_err *err)
{
    uint64_t first = 0, last;
    const char *dash = memchr(range.data, '-', range.len);
    /* "[0001-1250]" has four digits throughout, "[1-12]" as many as needed. */
    size_t width = dash ? (size_t)(dash - range.data) : range.len;
    bool ok = myr_str_to_u64((struct myr_str){range.data, width}, &first);
    last = first;
    ok = ok && (!dash || myr_str_to_u64((struct myr_str){dash + 1, range.len - width - 1}, &last));
    if (!ok) {
        return myr_err_set(err, MYR_EINVAL, "'[%.*s]' is no range such as [0001-1250]",
                           (int)range.len, range.data);
    }
    if (last < first) {
        return myr_err_set(err, MYR_EINVAL, "'[%.*s]' runs backwards: [%.*s-%.*s] is expected",
                           (int)range.len, range.data, (int)(range.len - width - 1), dash + 1,
                           (int)width, range.data);
    }
    if (last - first >= NODES_MAX) {
        return myr_err_set(err, MYR_ERANGE, "'[%.*s]': more than %d nodes", (int)range.len,
                           range.data, NODES_MAX);
    }
    for (uint64_t i = 0; i <= last - first; i++) { /* 'last' may be the largest number */
        char name[256];
        snprintf(name, sizeof(name), "%.*s%0*llu%.*s", (int)before.len, before.data, (int)width,
                 (unsigned long long)first + i, (int)after.len, after.data);
        MYR_TRY(add(list, name, err));
    }
    return MYR_OK;
}

/* A name, or one with a list of ranges in it; what is around the brackets is the same for all. */
static int add_piece(struct list *list, struct myr_str piece, struct myr_err *err)
{
    const char *open = memchr(piece.data, '[', piece.len);
    const char *end = piece.data + piece.len;
    /* Long before a name could be cut in the buffers below. */
    if (piece.len >= 200) {
        return myr_err_set(err, MYR_ERANGE, "a name of %zu bytes in the list of nodes", piece.len);
    }
    if (!open) {
        char name[256];
        snprintf(name, sizeof(name), "%.*s", (int)piece.len, piece.data);
        return add(list, name, err);
    }
    /* One pair of brackets a name. */
    const char *close = memchr(open, ']', (size_t)(end - open));
    if (!close) {
        return myr_err_set(err, MYR_EINVAL, "'%.*s': a ']' is missing", (int)piece.len, piece.data);
    }
    struct myr_str before = {piece.data, (size_t)(open - piece.data)};
    struct myr_str after = {close + 1, (size_t)(end - close - 1)};
    const char *at = open + 1;
    /* "[1-4,7]": several ranges between one pair of brackets. */
    while (at <= close) {
        const char *comma = memchr(at, ',', (size_t)(close - at));
        const char *stop = comma ? comma : close;
        MYR_TRY(add_range(list, before, (struct myr_str){at, (size_t)(stop - at)}, after, err));
        at = stop + 1;
    }
    return MYR_OK;
}

/* The comma that ends a piece is one outside of brackets. */
static const char *piece_end(const char *at)
{
    bool inside = false;
    while (*at && (inside || *at != ',')) {
        inside = *at == '[' || (inside && *at != ']');
        at++;
    }
    return at;
}

/* An empty piece is an empty name, and so an error. */
int names_expand(const char *text, char ***ret, uint32_t *ret_count, struct myr_err *err)
{
    struct list list = {};
    int rc = MYR_OK;
    for (const char *at = text; rc == MYR_OK; at++) {
        const char *end = piece_end(at);
        rc = add_piece(&list, (struct myr_str){at, (size_t)(end - at)}, err);
        at = end;
        if (!*at) {
            break;
        }
    }
    myr_strmap_done(&list.seen);
    if (rc < 0) {
        names_free(list.names.items, (uint32_t)list.names.count);
        return rc;
    }
    MYR_ASSERT(list.names.count > 0 && list.names.count <= UINT32_MAX);
    *ret = list.names.items;
    *ret_count = (uint32_t)list.names.count;
    return MYR_OK;
}

void names_free(char **names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
}
