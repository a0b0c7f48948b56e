/*
 * login: who asks, and how often. A token comes with every request of a program; a page shows it
 * once and has a cookie for it, which may only read. Secrets are compared by their digests, so that
 * time tells nothing. Two tables of buckets hold people and addresses to a rate, and guesses to a
 * lower one.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api.h"

enum {
    VISIT_MS = 12 * 3600 * 1000, /* a page is logged in for half a day */
    VISITS_MAX = 10000,          /* pages logged in at once */
    RATE = 200,    /* requests a second of one person or address, and as many at once */
    FAILURES = 20, /* wrong tokens of one address, then one a second */
};

/* NULL where it is nobody's. Valid until the next change of the tokens. */
static const struct token_row *token_of(const struct server *server, struct myr_str secret)
{
    char digest[65];
    myr_io_digest(secret, digest);
    for (size_t i = 0; i < server->rows.tokens.count; i++) {
        if (strcmp(server->rows.tokens.items[i].digest, digest) == 0) {
            return &server->rows.tokens.items[i];
        }
    }
    return NULL;
}

/* One that was revoked meanwhile takes the visits that it began with it. */
static bool is_token(const struct server *server, const char *digest)
{
    for (size_t i = 0; i < server->rows.tokens.count; i++) {
        if (strcmp(server->rows.tokens.items[i].digest, digest) == 0) {
            return true;
        }
    }
    return false;
}

/* Not one that has run out, even where it was not dropped yet. */
static struct visit *visit_of(struct http *http, const char *secret)
{
    char digest[65];
    myr_io_digest(myr_str_from(secret), digest);
    for (size_t i = 0; i < http->visits.count; i++) {
        struct visit *visit = &http->visits.items[i];
        if (visit->until_ms > steady_ms() && strcmp(visit->digest, digest) == 0) {
            return visit;
        }
    }
    return NULL;
}

/* Leaves role none where nobody is known; the route decides whether that will do. */
void login_find(struct request *request)
{
    const char *header =
        mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, "Authorization");
    const char *cookie =
        mhd.lookup_connection_value(request->connection, MHD_COOKIE_KIND, "myriad");
    request->who = (struct token_row){};
    if (header && strncmp(header, "Bearer ", 7) == 0) {
        const struct token_row *token = token_of(request->server, myr_str_from(header + 7));
        if (token) {
            request->who = *token;
        }
    } else if (cookie &&
               (strcmp(request->method, "GET") == 0 || strcmp(request->url, "/v1/logout") == 0)) {
        /* A cookie alone changes nothing: another page cannot act in its owner's name. */
        const struct visit *visit = visit_of(request->server->http, cookie);
        if (visit && is_token(request->server, visit->who.digest)) {
            request->who = visit->who;
            /* Whatever the token may: a page only looks. */
            request->who.role = ROLE_VIEWER;
        }
    }
    MYR_ASSERT(request->who.role < ROLE_COUNT);
}

/*
 * Fills by 'rate' a second up to 'most', and gives one. Two whose hashes meet in a place put each
 * other out, which forgives both: the table stays small and nobody is locked out by another.
 */
static bool take_one(struct bucket *buckets, const char *whose, double rate, double most)
{
    uint64_t key = myr_hash_bytes(whose, strlen(whose));
    struct bucket *bucket = &buckets[key % BUCKETS];
    int64_t now_ms = steady_ms();
    /* A place that another had: it begins full. */
    if (bucket->key != key) {
        *bucket = (struct bucket){key, most, now_ms};
    }
    double more = (double)(now_ms - bucket->at_ms) / 1e3 * rate;
    bucket->tokens = bucket->tokens + more < most ? bucket->tokens + more : most;
    bucket->at_ms = now_ms;
    MYR_ASSERT(bucket->tokens <= most);
    if (bucket->tokens < 1) {
        return false;
    }
    bucket->tokens -= 1;
    return true;
}

/* As take_one(), but takes nothing: only a wrong guess costs one. */
static bool has_one(const struct bucket *buckets, const char *whose, double rate)
{
    uint64_t key = myr_hash_bytes(whose, strlen(whose));
    const struct bucket *bucket = &buckets[key % BUCKETS];
    double more = (double)(steady_ms() - bucket->at_ms) / 1e3 * rate;
    return bucket->key != key || bucket->tokens + more >= 1;
}

/* By token where there is one, else by address: many people behind one address are not one. */
bool login_allowed(struct request *request, bool guess)
{
    struct http *http = request->server->http;
    const char *whose = request->who.role ? request->who.digest : request->from;
    MYR_ASSERT(request->who.role < ROLE_COUNT);
    return take_one(http->buckets, whose, RATE, 2 * RATE) &&
           (!guess || request->who.role || has_one(http->failures, request->from, 1));
}

void login_failed(struct request *request)
{
    (void)take_one(request->server->http->failures, request->from, 1, FAILURES);
}

/* For the page, which shows what it may. */
static void put_who(struct myr_buf *ret, const struct token_row *who)
{
    api_give(&said_who_record, &(struct said_who){who->user, role_names[who->role]}, ret);
}

/* Visits that have run out make room for new ones. */
static void drop_old(struct http *http)
{
    size_t kept = 0;
    MYR_ASSERT(http->visits.count <= VISITS_MAX);
    for (size_t i = 0; i < http->visits.count; i++) {
        if (http->visits.items[i].until_ms > steady_ms()) {
            http->visits.items[kept++] = http->visits.items[i];
        }
    }
    MYR_ASSERT(kept <= http->visits.count);
    http->visits.count = kept;
}

bool http_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/*
 * A page of another site may have its own name lead to this machine's loopback (DNS rebinding), and
 * its browser then lets it ask here and read the answers: it is known by that name. Over TLS the
 * certificate tells the browser already.
 */
bool login_is_meant(const struct request *request)
{
    const char *host = mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, "Host");
    if (!host || !http_is_loopback(request->server->config.http_address)) {
        return true; /* no browser leaves it out */
    }
    /* The whole of it, less the port: 127.0.0.1.example.com is anybody's. */
    char name[INET6_ADDRSTRLEN];
    size_t len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    struct in_addr four;
    if (len >= sizeof(name)) {
        return false;
    }
    snprintf(name, sizeof(name), "%.*s", (int)len, host);
    return strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0 ||
           (http_is_loopback(name) && inet_pton(AF_INET, name, &four) == 1);
}

/* What came over TLS never goes out without it. */
static const char *cookie_road(const struct request *request)
{
    return http_is_loopback(request->server->config.http_address) ? "" : "; Secure";
}

/* The cookie has a secret of its own: the token itself does not lie in a browser. */
int login_call(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct http *http = request->server->http;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf secret = {};
    struct ask_login ask;
    MYR_TRY(api_take(request_body(request), &ask_login_record, &arena, &ask, err));
    const struct token_row *token = token_of(request->server, myr_str_from(ask.token));
    if (!token) {
        login_failed(request);
        return myr_err_set(err, MYR_EUNKNOWN, "this token is not known here");
    }
    drop_old(http);
    /* A limit on memory; tokens themselves work on. */
    if (http->visits.count >= VISITS_MAX) {
        return myr_err_set(err, MYR_EOFTEN, "too many pages are open");
    }
    /* 192 bits: nobody guesses a visit. */
    MYR_TRY(myr_io_secret(24, &secret, err));
    struct visit visit = {.who = *token, .until_ms = steady_ms() + VISIT_MS};
    myr_io_digest((struct myr_str){secret.data, secret.len}, visit.digest);
    myr_vec_push(&http->visits, visit);
    MYR_ASSERT(http->visits.count <= VISITS_MAX && secret.len == 48);
    snprintf(request->cookie, sizeof(request->cookie),
             "myriad=%s; HttpOnly; SameSite=Strict; Path=/; Max-Age=%d%s", secret.data,
             VISIT_MS / 1000, cookie_road(request));
    put_who(ret, token);
    return MYR_OK;
}

/* Without a visit too: the browser forgets the cookie in any case. */
int logout_call(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct http *http = request->server->http;
    const char *cookie =
        mhd.lookup_connection_value(request->connection, MHD_COOKIE_KIND, "myriad");
    struct visit *visit = cookie ? visit_of(http, cookie) : NULL;
    (void)err;
    if (visit) {
        /* The order means nothing: the last one fills the gap. */
        MYR_ASSERT((size_t)(visit - http->visits.items) < http->visits.count);
        *visit = http->visits.items[--http->visits.count];
    }
    snprintf(request->cookie, sizeof(request->cookie),
             "myriad=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0%s", cookie_road(request));
    put_who(ret, &(struct token_row){});
    return MYR_OK;
}
