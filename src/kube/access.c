#include "myriad/kube/access.h"

#include <stdio.h>
#include <unistd.h>

#include "kube.h"
#include "myriad/text.h"
#include "myriad/text/kind.h"

/* Files that are larger are none of these. */
enum { CONFIG_BYTES_MAX = 4 << 20, PEM_BYTES_MAX = 1 << 20, TOKEN_BYTES_MAX = 64 << 10 };

/* -1: none of the 64. */
static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* False: something else than base64. Lines may be broken anywhere, as YAML does. */
static bool from_base64(struct myr_str text, struct myr_buf *ret)
{
    uint32_t bits = 0, have = 0;
    size_t padding = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = base64_digit(text.data[i]);
        if (text.data[i] == '\n' || text.data[i] == '\r' || text.data[i] == ' ') {
            continue;
        }
        if (text.data[i] == '=' && padding < 2) {
            padding++;
            continue;
        }
        if (digit < 0 || padding) {
            return false;
        }
        bits = (bits << 6 | (uint32_t)digit) & 0xFFFFFF;
        have += 6;
        if (have >= 8) {
            have -= 8;
            myr_buf_putc(ret, (char)(bits >> have & 0xFF));
        }
    }
    /* Six bits that are left over are a byte that was cut off. */
    return have < 6;
}

/* Texts outlive the document that they were read from. */
static const char *keep(struct myr_arena *arena, struct myr_str text)
{
    return myr_arena_strndup(arena, text.data, text.len);
}

/* What a kubeconfig names lies beside it. */
static const char *beside(struct myr_arena *arena, const char *file, struct myr_str name)
{
    const char *slash = strrchr(file, '/');
    if (!slash || name.data[0] == '/') {
        return keep(arena, name);
    }
    return myr_arena_printf(arena, "%.*s/%.*s", (int)(slash - file), file, (int)name.len,
                            name.data);
}

/* 'key' names a file, 'key'-data holds it in base64: the text either way. NULL: neither is there.
 */
static int read_pem(struct myr_kube_access *a, const char *file, const struct myr_doc *map,
                    const char *key, const char **ret, struct myr_err *err)
{
    char data_key[64];
    struct myr_str name;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    snprintf(data_key, sizeof(data_key), "%s-data", key);
    const struct myr_doc *path = myr_doc_get(map, key), *data = myr_doc_get(map, data_key);
    if (data && data->kind != MYR_DOC_NULL) {
        MYR_TRY(myr_doc_expect(data, MYR_DOC_SCALAR, data_key, err));
        /* It is used as a text from here on: what has a NUL inside would be cut there. */
        if (!from_base64(data->text, &text) || !text.len || memchr(text.data, '\0', text.len)) {
            return myr_doc_error(err, data, MYR_EINVAL, "'%s' is no PEM text in base64", data_key);
        }
    } else if (path && path->kind != MYR_DOC_NULL) {
        MYR_TRY(myr_doc_text(path, key, &name, err));
        const char *at = beside(&a->arena, file, name);
        MYR_TRY(myr_kind_read(at, PEM_BYTES_MAX, MYR_KIND_BIT(SECRET), "PEM text", &text, err));
        if (!text.len || memchr(text.data, '\0', text.len)) {
            return myr_err_set(err, MYR_EINVAL, "%s: no PEM text", at);
        }
    } else {
        return MYR_OK;
    }
    *ret = myr_arena_strndup(&a->arena, text.data, text.len);
    return MYR_OK;
}

/* The item of the list 'key' with that name, and of it the map 'part'. */
static int find_named(const struct myr_doc *top, const char *key, struct myr_str name,
                      const char *part, const struct myr_doc **ret, struct myr_err *err)
{
    const struct myr_doc *list;
    char word[MYR_EXCERPT_MAX];
    MYR_TRY(myr_doc_need(top, "a kubeconfig", key, &list, err));
    MYR_TRY(myr_doc_expect(list, MYR_DOC_LIST, key, err));
    for (uint32_t i = 0; i < list->count; i++) {
        const struct myr_doc *called = myr_doc_get(list->items[i], "name");
        if (called && called->kind == MYR_DOC_SCALAR && myr_str_eq(called->text, name)) {
            MYR_TRY(myr_doc_need(list->items[i], key, part, ret, err));
            /* A user without anything may be written as null: that is no mistake. */
            return (*ret)->kind == MYR_DOC_NULL ? MYR_OK
                                                : myr_doc_expect(*ret, MYR_DOC_MAP, part, err);
        }
    }
    return myr_doc_error(err, list, MYR_ENOENT, "'%s' has no '%s'", key,
                         myr_text_excerpt(name, word));
}

/* "https://host:port/path" */
static int read_url(struct myr_kube_access *a, const struct myr_doc *node, struct myr_err *err)
{
    struct myr_str text;
    uint64_t port;
    MYR_TRY(myr_doc_text(node, "server", &text, err));
    while (text.len > 0 && text.data[text.len - 1] == '/') {
        text.len--;
    }
    /* A '/' at the end is gone: paths of requests begin with one. */
    const char *url = keep(&a->arena, text);
    a->plain = strncmp(url, "http://", 7) == 0;
    bool ok = a->plain || strncmp(url, "https://", 8) == 0;
    const char *host = url + (a->plain ? 7 : 8);
    size_t length = ok ? strcspn(host, "/") : 0;
    bool six = ok && host[0] == '[';
    const char *close = six ? memchr(host, ']', length) : NULL;
    size_t name = six ? (close ? (size_t)(close - host) - 1 : 0) : ok ? strcspn(host, ":/") : 0;
    const char *behind = ok ? (close ? close + 1 : host + name) : NULL;
    port = a->plain ? 80 : 443;
    /* Credentials are not read from a URL: one that has some ('@') is refused. */
    ok = ok && name > 0 && name < 254 && !memchr(host, '@', length);
    for (const char *c = url; ok && *c; c++) { /* paths of requests go behind it */
        ok = (unsigned char)*c > 0x20 && *c != 0x7F && *c != '?' && *c != '#';
    }
    if (ok && *behind == ':') {
        struct myr_str digits = {behind + 1, (size_t)(host + length - behind) - 1};
        ok = myr_str_to_u64(digits, &port) && port > 0 && port <= UINT16_MAX;
    } else if (ok) {
        ok = behind == host + length;
    }
    if (!ok) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'server' is no address; such as https://10.0.0.1:6443 is expected");
    }
    a->url = myr_arena_printf(&a->arena, "%.*s", (int)(host + length - url), url);
    a->host = myr_arena_strndup(&a->arena, host + six, name);
    if (a->plain && strncmp(a->host, "127.", 4) != 0 && strcmp(a->host, "localhost") != 0 &&
        strcmp(a->host, "::1") != 0) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "'server' is plain http beyond this machine: a token would travel in "
                             "the open; https is expected");
    }
    a->path = host + length;
    a->port = (uint16_t)port;
    return MYR_OK;
}

/* Where it is, and by whose word it is believed to be who it says. */
static int read_cluster(struct myr_kube_access *a, const char *file, const struct myr_doc *map,
                        struct myr_err *err)
{
    const struct myr_doc *server, *insecure = myr_doc_get(map, "insecure-skip-tls-verify");
    const struct myr_doc *named = myr_doc_get(map, "tls-server-name");
    struct myr_str name;
    bool skip = false;
    MYR_TRY(myr_doc_need(map, "cluster", "server", &server, err));
    MYR_TRY(read_url(a, server, err));
    if (insecure) {
        MYR_TRY(myr_doc_bool(insecure, "insecure-skip-tls-verify", &skip, err));
    }
    if (skip) {
        return myr_doc_error(err, insecure, MYR_EINVAL,
                             "'insecure-skip-tls-verify' would send a token to anybody; "
                             "'certificate-authority' is expected");
    }
    if (named && named->kind != MYR_DOC_NULL) {
        MYR_TRY(myr_doc_text(named, "tls-server-name", &name, err));
        a->named = keep(&a->arena, name);
    }
    return read_pem(a, file, map, "certificate-authority", &a->ca, err);
}

/* A word that goes into a head. */
static int check_token(const char *file, struct myr_str text, struct myr_err *err)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.data[i] <= 0x20 || text.data[i] == 0x7F) {
            return myr_err_set(err, MYR_EINVAL, "%s: a token is one word without blanks", file);
        }
    }
    return text.len ? MYR_OK : myr_err_set(err, MYR_EINVAL, "%s: the token is empty", file);
}

/* Programs that make tokens are not run, and no passwords are sent: both are refused by name. */
static int read_user(struct myr_kube_access *a, const char *file, const struct myr_doc *map,
                     struct myr_err *err)
{
    static const char *const refused[] = {"exec", "auth-provider", "username"};
    const struct myr_doc *token = myr_doc_get(map, "token");
    const struct myr_doc *token_file = myr_doc_get(map, "tokenFile");
    struct myr_str text;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(refused); i++) {
        const struct myr_doc *node = myr_doc_get(map, refused[i]);
        if (node) {
            int rc = myr_doc_error(err, node, MYR_EINVAL,
                                   "'%s' is not used here; a token, a tokenFile or a client "
                                   "certificate is expected",
                                   refused[i]);
            myr_err_hint(err, "kubectl create token myriad -n myriad");
            return rc;
        }
    }
    if (token_file && token_file->kind != MYR_DOC_NULL) {
        MYR_TRY(myr_doc_text(token_file, "tokenFile", &text, err));
        a->token_file = beside(&a->arena, file, text);
    } else if (token && token->kind != MYR_DOC_NULL) {
        MYR_TRY(myr_doc_text(token, "token", &text, err));
        MYR_TRY(check_token(file, text, err));
        a->token = keep(&a->arena, text);
    }
    MYR_TRY(read_pem(a, file, map, "client-certificate", &a->certificate, err));
    MYR_TRY(read_pem(a, file, map, "client-key", &a->key, err));
    /* One without the other proves nothing. */
    if (!a->certificate != !a->key) {
        return myr_doc_error(err, map, MYR_EINVAL, "'client-%s' is missing beside 'client-%s'",
                             a->key ? "certificate" : "key", a->key ? "key" : "certificate");
    }
    return MYR_OK;
}

/* A context names a cluster and a user, each of a list of its own. */
static int read_context(struct myr_kube_access *a, const char *file, const struct myr_doc *top,
                        const char *context, struct myr_err *err)
{
    const struct myr_doc *node = NULL, *map = NULL, *cluster = NULL, *user = NULL;
    struct myr_str name = {}, text = {};
    MYR_TRY(myr_doc_expect(top, MYR_DOC_MAP, "a kubeconfig", err));
    if (context) {
        name = myr_str_from(context);
    } else {
        MYR_TRY(myr_doc_need(top, "a kubeconfig", "current-context", &node, err));
        MYR_TRY(myr_doc_text(node, "current-context", &name, err));
    }
    MYR_TRY(find_named(top, "contexts", name, "context", &map, err));
    MYR_TRY(myr_doc_need(map, "context", "cluster", &node, err));
    MYR_TRY(myr_doc_text(node, "cluster", &text, err));
    MYR_TRY(find_named(top, "clusters", text, "cluster", &cluster, err));
    MYR_TRY(read_cluster(a, file, cluster, err));
    a->space = "default";
    const struct myr_doc *space = myr_doc_get(map, "namespace");
    if (space && space->kind != MYR_DOC_NULL) {
        MYR_TRY(myr_doc_text(space, "namespace", &text, err));
        if (!kube_is_name(text)) {
            return myr_doc_error(err, space, MYR_EINVAL, "'namespace' is no name of a namespace");
        }
        a->space = keep(&a->arena, text);
    }
    if (!myr_doc_get(map, "user")) {
        return MYR_OK; /* a proxy on this machine asks for none */
    }
    MYR_TRY(myr_doc_text(myr_doc_get(map, "user"), "user", &text, err));
    MYR_TRY(find_named(top, "users", text, "user", &user, err));
    return read_user(a, file, user, err);
}

/*
 * *ret is set only when all of it is well: whoever renews his access keeps the old one until then.
 */
int myr_kube_access_read(const char *file, struct myr_str text, const char *context,
                         struct myr_kube_access *ret, struct myr_err *err)
{
    const struct myr_doc *top;
    struct myr_kube_access a = {};
    struct myr_arena scratch = {};
    a.from = myr_arena_strndup(&a.arena, file, strlen(file));
    bool json = text.len > 0 && text.data[0] == '{';
    int rc = json ? myr_doc_read_json(&scratch, a.from, text, &top, err)
                  : myr_doc_read_yaml(&scratch, a.from, text, &top, err);
    if (rc == MYR_OK) {
        rc = read_context(&a, a.from, top, context, err);
    }
    myr_arena_done(&scratch);
    if (rc < 0) {
        myr_arena_done(&a.arena);
        return rc;
    }
    *ret = a;
    return MYR_OK;
}

/* Inside of a pod: the address from the environment, the rest from the account's folder. */
static int from_account(const struct myr_kube_where *where, const char *host, const char *port,
                        struct myr_kube_access *ret, struct myr_err *err)
{
    const char *folder = where->account ? where->account : MYR_KUBE_SERVICE_ACCOUNT;
    struct myr_kube_access a = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {}, space = {};
    char path[4096];
    uint64_t number;
    if (!port || !myr_str_to_u64(myr_str_from(port), &number) || !number || number > UINT16_MAX) {
        return myr_err_set(err, MYR_EINVAL, "KUBERNETES_SERVICE_PORT is '%.20s', no port",
                           port ? port : "");
    }
    snprintf(path, sizeof(path), "%s/ca.crt", folder);
    MYR_TRY(myr_kind_read(path, PEM_BYTES_MAX, MYR_KIND_BIT(SECRET), "a certificate", &ca, err));
    snprintf(path, sizeof(path), "%s/namespace", folder);
    /* The namespace is for jobs that name none; without it there is still the usual one. */
    if (myr_file_read(path, 256, &space, NULL) < 0 ||
        !kube_is_name((struct myr_str){space.data, space.len})) {
        myr_buf_clear(&space);
        myr_buf_puts(&space, "default");
    }
    a.from = keep(&a.arena, myr_str_from(folder));
    a.host = keep(&a.arena, myr_str_from(host));
    a.port = (uint16_t)number;
    /* An address of IPv6 stands in brackets in a URL, and without them in the environment. */
    a.url = myr_arena_printf(&a.arena, strchr(host, ':') ? "https://[%s]:%u" : "https://%s:%u",
                             host, a.port);
    a.path = "";
    a.ca = myr_arena_strndup(&a.arena, ca.data, ca.len);
    a.space = myr_arena_strndup(&a.arena, space.data, space.len);
    a.token_file = myr_arena_printf(&a.arena, "%s/token", folder);
    *ret = a;
    return MYR_OK;
}

int myr_kube_access_find(const struct myr_kube_where *where, struct myr_kube_access *ret,
                         struct myr_err *err)
{
    const char *path = where->kubeconfig ? where->kubeconfig : where->lookup_env("KUBECONFIG");
    const char *home = where->lookup_env("HOME");
    const char *host = where->lookup_env("KUBERNETES_SERVICE_HOST");
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char usual[4096] = "";
    /*
     * The first that is there: what is named, $KUBECONFIG, the file at home; then the pod's own
     * account.
     */
    if (home && snprintf(usual, sizeof(usual), "%s/.kube/config", home) < (int)sizeof(usual) &&
        (!path || !path[0]) && access(usual, R_OK) == 0) {
        path = usual;
    }
    if (path && path[0]) {
        /* One that lacks a part is told so by its reader. */
        MYR_TRY(myr_kind_read(path, CONFIG_BYTES_MAX,
                              MYR_KINDS_DOC(KUBECONFIG) | MYR_KIND_BIT(PRINTED), "a kubeconfig",
                              &text, err));
        return myr_kube_access_read(myr_file_name(path),
                                    (struct myr_str){text.len ? text.data : "", text.len},
                                    where->context, ret, err);
    }
    if (host && host[0]) {
        return from_account(where, host, where->lookup_env("KUBERNETES_SERVICE_PORT"), ret, err);
    }
    int rc = myr_err_set(err, MYR_ENOENT,
                         "no kubeconfig: neither named, nor in KUBECONFIG, nor "
                         "~/.kube/config, and this is no pod");
    myr_err_hint(err, "--kubeconfig FILE");
    return rc;
}

void myr_kube_access_done(struct myr_kube_access *access)
{
    myr_arena_done(&access->arena);
}

/* A file goes before a token in the text, and is read each time: others renew it. */
int kube_token(const struct myr_kube_access *access, struct myr_buf *ret, struct myr_err *err)
{
    myr_buf_clear(ret);
    if (!access->token_file) {
        myr_buf_puts(ret, access->token ? access->token : "");
        return MYR_OK;
    }
    MYR_TRY(myr_file_read(access->token_file, TOKEN_BYTES_MAX, ret, err));
    /* A file of one line has an end of line, which is no part of the token. */
    while (ret->len > 0 && (unsigned char)ret->data[ret->len - 1] <= 0x20) {
        ret->data[--ret->len] = '\0';
    }
    return check_token(access->token_file, (struct myr_str){ret->data, ret->len}, err);
}
