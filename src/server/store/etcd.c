/*
 * etcd: requests to its JSON gateway, where keys and values travel in base64 and large numbers as
 * text. Each is a connection of its own and waited for.
 */
#include "store/etcd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/io.h"
#include "myriad/text.h"

enum {
    ASK_S = 1,       /* for a member to answer */
    PAGE_KEYS = 8,   /* of a range at a time: a key has up to 1 MB */
    KEY_BYTES = 512, /* with the prefix */
};

struct etcd {
    struct etcd_config config;
    uint32_t at;       /* the member that answered last */
    uint64_t requests; /* so far, for measurements */
};

struct etcd *etcd_new(const struct etcd_config *config)
{
    struct etcd *etcd = myr_xcalloc(1, sizeof(*etcd));
    MYR_ASSERT(config->count > 0 && config->count <= ETCD_MEMBERS);
    etcd->config = *config;
    return etcd;
}

void etcd_free(struct etcd *etcd)
{
    free(etcd);
}

uint64_t etcd_requests(const struct etcd *etcd)
{
    return etcd->requests;
}

/* --- base64 --- */

/* The ordinary alphabet, padded: what the gateway reads and writes. */
static void put_base64(struct myr_buf *to, struct myr_str bytes)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)bytes.data;
    myr_buf_reserve(to, bytes.len / 3 * 4 + 8);
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        /* Three bytes are four letters; what is missing at the end is 0, and '=' in its place. */
        uint32_t word = (uint32_t)b[i] << 16 | (uint32_t)(left > 1 ? b[i + 1] : 0) << 8 |
                        (left > 2 ? b[i + 2] : 0);
        myr_buf_putc(to, letters[word >> 18]);
        myr_buf_putc(to, letters[word >> 12 & 63]);
        myr_buf_putc(to, left > 1 ? letters[word >> 6 & 63] : '=');
        myr_buf_putc(to, left > 2 ? letters[word & 63] : '=');
    }
}

/* -1 stands for no letter of it. */
static int letter_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Bits that are left over at the end are padding. */
static bool get_base64(struct myr_str text, struct myr_buf *to)
{
    while (text.len > 0 && text.data[text.len - 1] == '=') {
        text.len--;
    }
    myr_buf_reserve(to, text.len / 4 * 3 + 4);
    uint32_t word = 0, bits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int letter = letter_of(text.data[i]);
        if (letter < 0) {
            return false;
        }
        word = word << 6 | (uint32_t)letter;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            myr_buf_putc(to, (char)(word >> bits));
        }
    }
    return true;
}

/* --- asking --- */

/* Keys are ours, and short; the prefix was measured with the configuration. */
static void put_key(const struct etcd *etcd, struct myr_buf *to, const char *name, const char *key)
{
    MYR_ASSERT(name && key);
    char whole[KEY_BYTES];
    int len = snprintf(whole, sizeof(whole), "%s%s", etcd->config.prefix, key);
    MYR_ASSERT(len > 0 && len < KEY_BYTES);
    myr_buf_printf(to, "\"%s\":\"", name);
    put_base64(to, (struct myr_str){whole, (size_t)len});
    myr_buf_putc(to, '"');
}

/* "12" as JSON writes large numbers; absent: 0. */
static uint64_t number_of(const struct myr_doc *map, const char *key)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    uint64_t value = 0;
    if (node && node->kind == MYR_DOC_SCALAR && !myr_str_to_u64(node->text, &value)) {
        value = 0;
    }
    return value;
}

static struct myr_str text_of(const struct myr_doc *map, const char *key)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    return node && node->kind == MYR_DOC_SCALAR ? node->text : MYR_STR("");
}

/* It has users with passwords, which nobody has here: the certificate is who we are. */
static bool is_denied(uint32_t status, struct myr_str message)
{
    static const char *const words[] = {"permission denied", "invalid auth token",
                                        "user name is empty", "CommonName"};
    /* It may also be said by words, under another status. */
    bool denied = status == 401 || status == 403;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words) && !denied; i++) {
        denied = memmem(message.data, message.len, words[i], strlen(words[i])) != NULL;
    }
    return denied;
}

/* 'said' is the answer, 'top' what it is as JSON, or NULL: not all of etcd speaks it. */
static int complaint(const char *url, uint32_t status, struct myr_str said,
                     const struct myr_doc *top, struct myr_err *err)
{
    struct myr_str message = text_of(top, "message");
    char shown[MYR_EXCERPT_MAX];
    message = message.len ? message : top ? text_of(top, "error") : said;
    while (message.len > 0 && message.data[message.len - 1] == '\n') {
        message.len--;
    }
    /* It is known by its words alone. */
    bool full = memmem(message.data, message.len, "space exceeded", 14) != NULL;
    bool denied = is_denied(status, message);
    int rc = myr_err_set(err,
                         denied ? MYR_EDENIED
                         : full ? MYR_EIO
                                : MYR_EAWAY,
                         "%s: %s%s", url,
                         full     ? "its quota is used up: "
                         : denied ? "not allowed: "
                                  : "",
                         message.len ? myr_text_excerpt(message, shown) : "an error without words");
    if (full) {
        myr_err_hint(err, "etcdctl compact and defrag, then etcdctl alarm disarm");
    } else if (denied) {
        myr_err_hint(err, "etcd's users and passwords are not used: etcdctl auth disable");
    }
    return rc;
}

/* One member, one request; what goes wrong is told with the member's address. */
static int ask_one(struct etcd *etcd, const char *path, const struct myr_buf *body,
                   struct myr_arena *arena, const struct myr_doc **ret, struct myr_err *err)
{
    const struct etcd_config *config = &etcd->config;
    char url[256];
    struct myr_http_answer answer = {};
    MYR_ASSERT(etcd->at < config->count);
    MYR_ASSERT(body->len > 0);
    snprintf(url, sizeof(url), "%s/v3/%s", config->endpoints[etcd->at], path);
    etcd->requests++;
    const struct myr_http_request request = {
        .method = "POST",
        .url = url,
        .ca = config->ca[0] ? config->ca : NULL,
        .own_certificate = config->certificate[0] ? config->certificate : NULL,
        .own_key = config->key,
        .type = "application/json",
        .body = {body->data, body->len},
        .timeout_s = ASK_S};
    int rc = myr_http_ask(&request, NULL, NULL, &answer, err);
    if (rc < 0) {
        /* A remedy for a server of ours is none for etcd. */
        if (err && err->hint[0] && rc == MYR_EAWAY) {
            myr_err_hint(err, "etcdctl --endpoints=%s endpoint health",
                         config->endpoints[etcd->at]);
        } else if (err && err->hint[0] && rc == MYR_EIO) {
            myr_err_hint(err, "'ca' of 'etcd' in myriad.yaml names the authority of etcd");
        }
        return rc;
    }
    /* The document points into its text, which must outlive the answer. */
    char *copy =
        myr_arena_strndup(arena, answer.body.data ? answer.body.data : "", answer.body.len);
    struct myr_str text = {copy, answer.body.len};
    myr_http_answer_done(&answer);
    /* Before the body is read as JSON, which it need not be. */
    if (answer.status == 404) {
        return myr_err_set(err, MYR_EVERSION, "%s: no such call; etcd 3.4 or later is expected",
                           url);
    }
    rc = myr_doc_read_json(arena, config->endpoints[etcd->at], text, ret, err);
    if (answer.status != 200) {
        return complaint(config->endpoints[etcd->at], answer.status, text, rc < 0 ? NULL : *ret,
                         err);
    }
    MYR_TRY(rc);
    return myr_doc_expect(*ret, MYR_DOC_MAP, "the answer", err);
}

/* Each member once. What one of them understood and refused, the others would too. */
static int ask(struct etcd *etcd, const char *path, const struct myr_buf *body,
               struct myr_arena *arena, const struct myr_doc **ret, struct myr_err *err)
{
    MYR_ASSERT(etcd->config.count > 0);
    int rc = MYR_EAWAY;
    for (uint32_t i = 0; i < etcd->config.count; i++) {
        rc = ask_one(etcd, path, body, arena, ret, err);
        if (rc == MYR_OK || rc == MYR_EDENIED || rc == MYR_EVERSION || rc == MYR_EINVAL) {
            return rc;
        }
        /* The quota is of all members: another would refuse as well. */
        if (err && strstr(err->message, "quota")) {
            return rc;
        }
        /* The next request begins with whoever answered last. */
        etcd->at = (etcd->at + 1) % etcd->config.count;
    }
    return rc;
}

/* --- transactions --- */

/* By value, or by the revision that made the key; 0 says that it is not there. */
static void put_compare(const struct etcd *etcd, struct myr_buf *to,
                        const struct etcd_compare *compare)
{
    MYR_ASSERT(compare->key && (!compare->by_value || compare->value.data));
    myr_buf_puts(to, "{\"result\":\"EQUAL\",");
    put_key(etcd, to, "key", compare->key);
    if (compare->by_value) {
        myr_buf_puts(to, ",\"target\":\"VALUE\",\"value\":\"");
        put_base64(to, compare->value);
        myr_buf_puts(to, "\"}");
    } else {
        myr_buf_printf(to, ",\"target\":\"CREATE\",\"create_revision\":\"%llu\"}",
                       (unsigned long long)compare->created);
    }
}

static void put_put(const struct etcd *etcd, struct myr_buf *to, const struct etcd_put *put)
{
    MYR_ASSERT(put->key && put->lease >= 0);
    myr_buf_puts(to, "{\"request_put\":{");
    put_key(etcd, to, "key", put->key);
    myr_buf_puts(to, ",\"value\":\"");
    put_base64(to, put->value);
    myr_buf_putc(to, '"');
    if (put->lease) {
        myr_buf_printf(to, ",\"lease\":\"%lld\"", (long long)put->lease);
    }
    myr_buf_puts(to, "}}");
}

/* All comparisons hold and everything is done, or nothing is: etcd does it in one step. */
int etcd_commit(struct etcd *etcd, const struct etcd_txn *txn, uint64_t *ret_revision,
                struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top = NULL;
    myr_buf_puts(&body, "{\"compare\":[");
    for (uint32_t i = 0; i < txn->compare_count; i++) {
        myr_buf_puts(&body, i ? "," : "");
        put_compare(etcd, &body, &txn->compares[i]);
    }
    /* Without a branch for failure: then nothing is done. */
    myr_buf_puts(&body, "],\"success\":[");
    for (uint32_t i = 0; i < txn->put_count; i++) {
        myr_buf_puts(&body, i ? "," : "");
        put_put(etcd, &body, &txn->puts[i]);
    }
    if (txn->drop) {
        myr_buf_puts(&body, txn->put_count ? "," : "");
        myr_buf_puts(&body, "{\"request_delete_range\":{");
        put_key(etcd, &body, "key", txn->drop->from);
        myr_buf_putc(&body, ',');
        put_key(etcd, &body, "range_end", txn->drop->to);
        myr_buf_puts(&body, "}}");
    }
    myr_buf_puts(&body, "]}");
    MYR_TRY(ask(etcd, "kv/txn", &body, &arena, &top, err));
    if (ret_revision) {
        *ret_revision = number_of(myr_doc_get(top, "header"), "revision");
    }
    return myr_str_eq(text_of(top, "succeeded"), MYR_STR("true")) ? 1 : 0;
}

/* --- ranges --- */

/* A range as it is read; the buffers are used again for every key. */
struct page {
    etcd_each *each;
    void *context;
    struct myr_buf key, value;
    bool more; /* there are keys behind this page */
};

/* Keys without the prefix, which is ours alone. */
static int take_page(const struct etcd *etcd, const struct myr_doc *top, struct page *page,
                     struct myr_err *err)
{
    const struct myr_doc *kvs = myr_doc_get(top, "kvs");
    size_t skip = strlen(etcd->config.prefix);
    page->more = myr_str_eq(text_of(top, "more"), MYR_STR("true"));
    for (uint32_t i = 0; kvs && kvs->kind == MYR_DOC_LIST && i < kvs->count; i++) {
        const struct myr_doc *kv = kvs->items[i];
        myr_buf_clear(&page->key);
        myr_buf_clear(&page->value);
        if (!get_base64(text_of(kv, "key"), &page->key) ||
            !get_base64(text_of(kv, "value"), &page->value) || page->key.len < skip ||
            page->key.len > KEY_BYTES - 2 || /* none of ours, and the next page begins behind it */
            memchr(page->key.data, '\0', page->key.len)) {
            return myr_err_set(err, MYR_ECORRUPT, "%s: a key or value that cannot be read",
                               etcd->config.endpoints[etcd->at]);
        }
        /* As text for the caller; its length is that of the text. */
        myr_buf_putc(&page->key, '\0');
        myr_buf_reserve(&page->value, 1);
        MYR_TRY(page->each(page->context, page->key.data + skip,
                           (struct myr_str){page->value.data, page->value.len},
                           number_of(kv, "create_revision"), err));
    }
    /* "more" without a key would be asked for again without end. */
    page->more = page->more && kvs && kvs->count > 0;
    return MYR_OK;
}

/* Page by page: an answer has an end, and memory is needed for a few parts only. */
static int range(struct etcd *etcd, const char *prefix, struct page *page, struct myr_err *err)
{
    char from[KEY_BYTES], to[KEY_BYTES];
    snprintf(from, sizeof(from), "%s", prefix);
    snprintf(to, sizeof(to), "%s", prefix);
    MYR_ASSERT(prefix[0]);
    to[strlen(to) - 1]++; /* plain letters: the next one is there */
    MYR_ASSERT(strcmp(from, to) < 0);
    do {
        MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        const struct myr_doc *top = NULL;
        myr_buf_putc(&body, '{');
        put_key(etcd, &body, "key", from);
        myr_buf_putc(&body, ',');
        put_key(etcd, &body, "range_end", to);
        myr_buf_printf(&body, ",\"limit\":\"%d\"}", PAGE_KEYS);
        MYR_TRY(ask(etcd, "kv/range", &body, &arena, &top, err));
        MYR_TRY(take_page(etcd, top, page, err));
        MYR_ASSERT(!page->more || page->key.len > 0);
        if (page->more) { /* on behind the last one: nothing lies between a key and it with \1 */
            snprintf(from, sizeof(from), "%s\1", page->key.data + strlen(etcd->config.prefix));
        }
    } while (page->more);
    return MYR_OK;
}

int etcd_range(struct etcd *etcd, const char *prefix, etcd_each *each, void *context,
               struct myr_err *err)
{
    MYR_ASSERT(prefix && each);
    struct page page = {.each = each, .context = context};
    int rc = range(etcd, prefix, &page, err);
    myr_buf_done(&page.key);
    myr_buf_done(&page.value);
    return rc;
}

/* --- leases --- */

/* Keys that are put under it go with it, when nobody keeps it alive. */
int etcd_lease(struct etcd *etcd, uint32_t ttl_s, int64_t *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top = NULL;
    MYR_ASSERT(ttl_s > 0);
    myr_buf_printf(&body, "{\"TTL\":\"%u\"}", ttl_s);
    MYR_TRY(ask(etcd, "lease/grant", &body, &arena, &top, err));
    uint64_t id = number_of(top, "ID");
    if (id == 0 || id > INT64_MAX) {
        return myr_err_set(err, MYR_EIO, "%s: a lease without a number",
                           etcd->config.endpoints[etcd->at]);
    }
    *ret = (int64_t)id;
    return MYR_OK;
}

int etcd_keep_alive(struct etcd *etcd, int64_t lease, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top = NULL;
    MYR_ASSERT(lease > 0);
    myr_buf_printf(&body, "{\"ID\":\"%lld\"}", (long long)lease);
    MYR_TRY(ask(etcd, "lease/keepalive", &body, &arena, &top, err));
    /* A lease that is over is answered without a time to live, not with an error. */
    return number_of(myr_doc_get(top, "result"), "TTL") > 0
               ? MYR_OK
               : myr_err_set(err, MYR_ESTALE, "the lease has run out");
}

void etcd_revoke(struct etcd *etcd, int64_t lease)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top = NULL;
    struct myr_err err = {};
    MYR_ASSERT(lease > 0);
    myr_buf_printf(&body, "{\"ID\":\"%lld\"}", (long long)lease);
    int rc = ask(etcd, "lease/revoke", &body, &arena, &top, &err);
    (void)rc; /* else it runs out */
}

int etcd_compact(struct etcd *etcd, uint64_t revision, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top = NULL;
    MYR_ASSERT(revision > 0);
    myr_buf_printf(&body, "{\"revision\":\"%llu\"}", (unsigned long long)revision);
    return ask(etcd, "kv/compaction", &body, &arena, &top, err);
}
