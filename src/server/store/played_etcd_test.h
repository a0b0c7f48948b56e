/*
 * An etcd that a test plays, in a process of its own: keys, transactions, leases, as its JSON
 * gateway speaks them, and faults on demand. It keeps what it was asked in a file. Include it after
 * cmocka; tests alone do.
 *
 * POST /control/WORD asks for the next fault: "lose" (the next change is made, and its answer is
 * lost), "500", "full", "denied", "404", "nonsense" (of the next request), "expire" (all leases),
 * "say-STATUS" (the next request is answered by the body of this one). With "txn-" in front it
 * waits for the next transaction.
 */
#pragma once

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "myriad/base.h"
#include "myriad/text/doc.h"

struct played_kv {
    char *key, *value; /* as they came, base64 undone */
    size_t len;
    uint64_t created; /* the revision that made it */
    int64_t lease;    /* 0: none */
};

struct played_etcd {
    MYR_VEC(struct played_kv) kvs; /* by key */
    uint64_t revision;
    int64_t lease; /* the last that was given; those up to 'expired' are over */
    int64_t expired;
    char fault[16];
    struct myr_buf said; /* the answer that was asked for by "say" */
    FILE *asked;
};

/* Strict where the server's own is not: what is sent must be padded. */
static inline size_t played_decode(struct myr_str text, char *ret)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = 0;
    uint32_t word = 0, bits = 0;
    for (size_t i = 0; i < text.len && text.data[i] != '='; i++) {
        const char *at = strchr(letters, text.data[i]);
        MYR_ASSERT(at && *at && text.len % 4 == 0);
        word = word << 6 | (uint32_t)(at - letters);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            ret[len++] = (char)(word >> bits);
        }
    }
    ret[len] = '\0';
    return len;
}

static inline void played_encode(struct myr_buf *to, const char *bytes, size_t len)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        unsigned char b[3] = {};
        size_t have = len - i < 3 ? len - i : 3;
        memcpy(b, bytes + i, have);
        myr_buf_putc(to, letters[b[0] >> 2]);
        myr_buf_putc(to, letters[(b[0] & 3) << 4 | b[1] >> 4]);
        myr_buf_putc(to, have > 1 ? letters[(b[1] & 15) << 2 | b[2] >> 6] : '=');
        myr_buf_putc(to, have > 2 ? letters[b[2] & 63] : '=');
    }
}

static inline struct myr_str played_text(const struct myr_doc *map, const char *key)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node && node->kind == MYR_DOC_SCALAR ? node->text : (struct myr_str){"", 0};
}

static inline uint64_t played_number(const struct myr_doc *map, const char *key)
{
    uint64_t value = 0;
    (void)!myr_str_to_u64(played_text(map, key), &value);
    return value;
}

/* The key of a request, and where it stands or would. */
static inline size_t played_find(const struct played_etcd *e, const char *key, bool *ret_there)
{
    size_t at = 0;
    while (at < e->kvs.count && strcmp(e->kvs.items[at].key, key) < 0) {
        at++;
    }
    *ret_there = at < e->kvs.count && strcmp(e->kvs.items[at].key, key) == 0;
    return at;
}

/* The order of the others stays. */
static inline void played_drop(struct played_etcd *e, size_t at)
{
    free(e->kvs.items[at].key);
    free(e->kvs.items[at].value);
    e->kvs.count--;
    memmove(&e->kvs.items[at], &e->kvs.items[at + 1],
            (e->kvs.count - at) * sizeof(struct played_kv));
}

/* Decoded, and the caller's to free. */
static inline char *played_key(const struct myr_doc *map, const char *name)
{
    struct myr_str text = played_text(map, name);
    char *key = myr_xcalloc(text.len + 1, 1);
    played_decode(text, key);
    return key;
}

static inline void played_put(struct played_etcd *e, const struct myr_doc *put)
{
    struct myr_str text = played_text(put, "value");
    char *key = played_key(put, "key");
    bool there;
    size_t at = played_find(e, key, &there);
    if (!there) {
        myr_vec_push(&e->kvs, (struct played_kv){});
        memmove(&e->kvs.items[at + 1], &e->kvs.items[at],
                (e->kvs.count - 1 - at) * sizeof(struct played_kv));
        e->kvs.items[at] = (struct played_kv){.key = key, .created = e->revision};
    } else {
        free(key);
        free(e->kvs.items[at].value);
    }
    struct played_kv *kv = &e->kvs.items[at];
    kv->value = myr_xcalloc(text.len + 1, 1);
    kv->len = played_decode(text, kv->value);
    kv->lease = (int64_t)played_number(put, "lease");
    if (kv->lease) { /* a name with a number that is drawn: of any length */
        fprintf(e->asked, "  put %s leased\n", kv->key);
    } else {
        fprintf(e->asked, "  put %s %zu bytes\n", kv->key, kv->len);
    }
}

/* A key that is not there was created at 0. */
static inline bool played_compare(struct played_etcd *e, const struct myr_doc *compare)
{
    char *key = played_key(compare, "key");
    bool there, same;
    size_t at = played_find(e, key, &there);
    if (myr_str_eq(played_text(compare, "target"), MYR_STR("VALUE"))) {
        char *value = played_key(compare, "value");
        same = there && strcmp(e->kvs.items[at].value, value) == 0;
        fprintf(e->asked, "  if %s is '%s': %d\n", key, value, same);
        free(value);
    } else {
        uint64_t created = played_number(compare, "create_revision");
        same = (there ? e->kvs.items[at].created : 0) == created;
        fprintf(e->asked, "  if %s was created%s: %d\n", key, created ? " then" : " never", same);
    }
    free(key);
    return same;
}

static inline void played_txn(struct played_etcd *e, const struct myr_doc *top, struct myr_buf *ret)
{
    const struct myr_doc *compares = myr_doc_get(top, "compare");
    const struct myr_doc *success = myr_doc_get(top, "success");
    bool good = true;
    for (uint32_t i = 0; i < compares->count; i++) {
        /* All are compared, also behind one that failed: the file tells of each. */
        good = played_compare(e, compares->items[i]) && good;
    }
    e->revision += good && success->count > 0;
    for (uint32_t i = 0; good && i < success->count; i++) {
        const struct myr_doc *put = myr_doc_get(success->items[i], "request_put");
        const struct myr_doc *drop = myr_doc_get(success->items[i], "request_delete_range");
        if (put) {
            played_put(e, put);
            continue;
        }
        char *from = played_key(drop, "key"), *to = played_key(drop, "range_end");
        size_t gone = 0;
        for (size_t k = e->kvs.count; k-- > 0;) {
            if (strcmp(e->kvs.items[k].key, from) >= 0 && strcmp(e->kvs.items[k].key, to) < 0) {
                played_drop(e, k);
                gone++;
            }
        }
        fprintf(e->asked, "  drop %s to %s: %zu\n", from, to, gone);
        free(from);
        free(to);
    }
    myr_buf_printf(ret, "{\"header\":{\"revision\":\"%" PRIu64 "\"}%s}", e->revision,
                   good ? ",\"succeeded\":true" : "");
}

/* In order of the keys, at most 'limit', and whether there are more. */
static inline void played_range(struct played_etcd *e, const struct myr_doc *top,
                                struct myr_buf *ret)
{
    char *from = played_key(top, "key"), *to = played_key(top, "range_end");
    uint64_t limit = played_number(top, "limit"), count = 0;
    bool more = false;
    myr_buf_puts(ret, "{\"kvs\":[");
    for (size_t i = 0; i < e->kvs.count; i++) {
        const struct played_kv *kv = &e->kvs.items[i];
        if (strcmp(kv->key, from) < 0 || strcmp(kv->key, to) >= 0) {
            continue;
        }
        if (count == limit) {
            more = true;
            break;
        }
        myr_buf_puts(ret, count++ ? ",{\"key\":\"" : "{\"key\":\"");
        played_encode(ret, kv->key, strlen(kv->key));
        myr_buf_puts(ret, "\",\"value\":\"");
        played_encode(ret, kv->value, kv->len);
        myr_buf_printf(ret, "\",\"create_revision\":\"%" PRIu64 "\"}", kv->created);
    }
    myr_buf_printf(ret, "]%s}", more ? ",\"more\":true" : "");
    for (char *c = from; *c; c++) {
        *c = *c == '\1' ? '+' : *c;
    }
    fprintf(e->asked, "  range %s to %s: %" PRIu64 "%s\n", from, to, count, more ? " of more" : "");
    free(from);
    free(to);
}

/* What hangs on a lease goes with it; 0 stands for all leases. */
static inline void played_expire(struct played_etcd *e, int64_t lease)
{
    for (size_t k = e->kvs.count; k-- > 0;) {
        if (e->kvs.items[k].lease > 0 && (lease == 0 || e->kvs.items[k].lease == lease)) {
            played_drop(e, k);
            e->revision++;
        }
    }
}

/* What is asked for is written down before it is answered: tests read the file. */
static inline void played_answer(struct played_etcd *e, const char *path, struct myr_str body,
                                 struct myr_buf *ret)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top = NULL;
    myr_arena_init(&arena);
    int rc = myr_doc_read_json(&arena, "asked", body, &top, NULL);
    MYR_ASSERT(rc == MYR_OK);
    fprintf(e->asked, "%s\n", path);
    if (strcmp(path, "kv/txn") == 0) {
        played_txn(e, top, ret);
    } else if (strcmp(path, "kv/range") == 0) {
        played_range(e, top, ret);
    } else if (strcmp(path, "lease/grant") == 0) {
        fprintf(e->asked, "  for %" PRIu64 " s\n", played_number(top, "TTL"));
        myr_buf_printf(ret, "{\"ID\":\"%lld\"}", (long long)++e->lease);
    } else if (strcmp(path, "lease/keepalive") == 0) {
        bool lives = (int64_t)played_number(top, "ID") > e->expired;
        myr_buf_puts(ret, lives ? "{\"result\":{\"TTL\":\"3\"}}" : "{\"result\":{}}");
    } else if (strcmp(path, "lease/revoke") == 0) {
        played_expire(e, (int64_t)played_number(top, "ID"));
        myr_buf_puts(ret, "{}");
    } else {
        fprintf(e->asked, "  up to %s\n",
                played_number(top, "revision") == e->revision ? "now" : "then");
        myr_buf_puts(ret, "{}");
    }
}

static inline void played_send(int fd, int status, const struct myr_buf *body)
{
    dprintf(fd, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", status,
            body->len);
    ssize_t put = body->len ? write(fd, body->data, body->len) : 0;
    (void)put;
}

/* The word behind a beginning; nothing changes where another one stands. */
static inline bool played_word(const char *text, const char *begin, char *ret, size_t size)
{
    size_t len = strlen(begin);
    if (strncmp(text, begin, len) != 0) {
        return false;
    }
    snprintf(ret, size, "%.*s", (int)strcspn(text + len, " "), text + len);
    return true;
}

/* A fault is for one request; "lose" waits for one that changes something. */
static inline void played_one(struct played_etcd *e, int fd, struct myr_buf *in)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    char path[64] = "";
    const char *body = strstr(in->data, "\r\n\r\n") + 4;
    bool control = played_word(in->data, "POST /control/", e->fault, sizeof(e->fault));
    (void)played_word(in->data, "POST /v3/", path, sizeof(path));
    if (control) {
        if (strcmp(e->fault, "expire") == 0) {
            e->expired = e->lease;
            played_expire(e, 0);
            e->fault[0] = '\0';
        }
        myr_buf_clear(&e->said);
        myr_buf_put(&e->said, body, in->len - (size_t)(body - in->data));
        fprintf(e->asked, "(%s)\n", e->fault[0] ? e->fault : "leases expire");
        played_send(fd, 200, &out);
        return;
    }
    bool change = strcmp(path, "kv/txn") == 0;
    bool waits = strncmp(e->fault, "txn-", 4) == 0 && !change;
    const char *fault = waits ? "" : e->fault + (strncmp(e->fault, "txn-", 4) == 0 ? 4 : 0);
    bool lose = strcmp(fault, "lose") == 0;
    int status = strcmp(fault, "500") == 0 || strcmp(fault, "full") == 0 ? 500
                 : strcmp(fault, "denied") == 0                          ? 403
                 : strcmp(fault, "404") == 0                             ? 404
                                                                         : 200;
    if (strncmp(fault, "say-", 4) == 0) {
        uint64_t number = 0;
        (void)!myr_str_to_u64(myr_str_from(fault + 4), &number);
        status = (int)number;
        myr_buf_put(&out, e->said.data, e->said.len);
        /* As a server of ours, too: by whom it was asked, and for what. */
        const char *token = strcasestr(in->data, "authorization: ");
        fprintf(e->asked, "%.*s%s%.*s\n", (int)strcspn(in->data, "\r"), in->data,
                token ? " by " : "", token ? (int)strcspn(token + 15, "\r") : 0,
                token ? token + 15 : "");
    } else if (status != 200) {
        myr_buf_printf(&out, "{\"message\":\"%s\"}\n",
                       strcmp(fault, "full") == 0 ? "mvcc: database space exceeded" : "told so");
    } else if (strcmp(fault, "nonsense") == 0) {
        myr_buf_puts(&out, "no JSON");
    } else {
        size_t at = (size_t)(body - in->data);
        played_answer(e, path, (struct myr_str){body, in->len - at}, &out);
    }
    if (lose && change) {
        fprintf(e->asked, "  (its answer is lost)\n");
        e->fault[0] = '\0';
        return;
    }
    if (!lose && !waits) {
        e->fault[0] = '\0';
    }
    played_send(fd, status, &out);
}

/* A whole request: its head, and as many bytes as that says. */
static inline bool played_read(int fd, struct myr_buf *in)
{
    for (;;) {
        char bytes[65536];
        const char *end = in->len ? strstr(in->data, "\r\n\r\n") : NULL;
        const char *length = end ? strcasestr(in->data, "content-length:") : NULL;
        if (end) {
            uint64_t want = 0;
            const char *digits = length ? length + 15 + strspn(length + 15, " ") : "";
            (void)!myr_str_to_u64((struct myr_str){digits, strspn(digits, "0123456789")}, &want);
            if (in->len >= (size_t)(end + 4 - in->data) + want) {
                return true;
            }
        }
        ssize_t got = read(fd, bytes, sizeof(bytes));
        if (got <= 0) {
            return false;
        }
        myr_buf_put(in, bytes, (size_t)got);
    }
}

/* Its process; 'ret_port' where it listens. It ends with SIGTERM. */
static inline pid_t played_etcd_start(const char *asked, uint16_t *ret_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MYR_ASSERT(listener >= 0 && bind(listener, (struct sockaddr *)&at, size) == 0 &&
               listen(listener, 16) == 0 &&
               getsockname(listener, (struct sockaddr *)&at, &size) == 0);
    *ret_port = ntohs(at.sin_port);
    pid_t pid = fork();
    if (pid != 0) {
        close(listener);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it is nothing without the test */
    struct played_etcd e = {.asked = fopen(asked, "w")};
    setvbuf(e.asked, NULL, _IOLBF, 0);
    for (;;) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf in = {};
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0 && played_read(fd, &in)) {
            played_one(&e, fd, &in);
        }
        close(fd);
    }
}
