/*
 * init: a folder that a server can live in: configuration, an authority and the certificate by it,
 * a store, and the token of the first administrator. All of it is made, or nothing stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "myriad/server.h"
#include "myriad/text/amount.h"
#include "myriad/text/json.h"
#include "server.h"

enum { CA_DAYS = 3650, SERVER_DAYS = 825 }; /* ten years; renew.c makes the server's anew */

static bool write_all(int fd, struct myr_str text)
{
    while (text.len > 0) {
        ssize_t put = write(fd, text.data, text.len);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        text.data += put > 0 ? put : 0;
        text.len -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Written whole, readable by its owner alone where it is secret. */
static int save(const char *folder, const char *name, struct myr_str text, bool secret,
                struct myr_err *err)
{
    char path[SERVER_PATH];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, secret ? 0600 : 0644);
    if (fd < 0) {
        return myr_err_errno(err, "writing", path);
    }
    /* The first error is told: close() has errors of its own, and changes the number of others. */
    int rc = write_all(fd, text) && fsync(fd) == 0 ? MYR_OK : myr_err_errno(err, "writing", path);
    return close(fd) < 0 && rc == MYR_OK ? myr_err_errno(err, "writing", path) : rc;
}

static int save_buf(const char *folder, const char *name, const struct myr_buf *text, bool secret,
                    struct myr_err *err)
{
    return save(folder, name, (struct myr_str){text->data, text->len}, secret, err);
}

/*
 * An authority of the cluster's own and the server's certificate by it. This machine's names are
 * always in it, those of init->hosts beside them.
 */
static int make_papers(const struct myr_server_init *init, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done)
    struct myr_buf ca = {}, ca_key = {}, key = {}, csr = {}, cert = {}, names = {};
    MYR_TRY(myr_io_ca_create(init->cluster, CA_DAYS, &ca, &ca_key, err));
    MYR_TRY(myr_io_csr_create("myriad-server", &key, &csr, err));
    /* Whoever is on this machine reaches it by these. */
    myr_buf_puts(&names, "DNS:localhost,IP:127.0.0.1,IP:::1");
    if (init->hosts) {
        myr_buf_printf(&names, ",%s", init->hosts);
    }
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = SERVER_DAYS,
                               .server = true,
                               .alt_names = names.data};
    MYR_TRY(myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, NULL, NULL, err));
    myr_buf_put(&cert, ca.data, ca.len); /* the chain: strangers know the authority by its digest */
    MYR_TRY(save_buf(init->folder, "ca.pem", &ca, false, err));
    MYR_TRY(save_buf(init->folder, "ca-key.pem", &ca_key, true, err));
    MYR_TRY(save_buf(init->folder, "server.pem", &cert, false, err));
    return save_buf(init->folder, "server-key.pem", &key, true, err);
}

/*
 * What people say stands in a file, in a certificate and in lines of the log: nothing in it may end
 * a line, whatever quotes are put around it.
 */
static int check_plain(const char *option, const char *text, struct myr_err *err)
{
    for (const char *c = text; c && *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7F) {
            return myr_err_set(err, MYR_EINVAL, "--%s: no control characters are expected, byte %d",
                               option, (int)(c - text) + 1);
        }
    }
    return MYR_OK;
}

/* Not whether there is such a user: it is one of the nodes', and they may know others. */
static int check_user(const char *user, struct myr_err *err)
{
    if (user && (user[0] == '\0' || user[0] == '-' || strpbrk(user, " :/") ||
                 strspn(user, "0123456789") == strlen(user))) {
        return myr_err_set(err, MYR_EINVAL, "--user: '%.60s' is no name of a Unix user", user);
    }
    if (user && strcmp(user, "root") == 0) {
        return myr_err_set(err, MYR_EINVAL, "ranks never run as root: another user is expected");
    }
    return MYR_OK;
}

/* "DNS:head,IP:10.0.0.1": said here, for OpenSSL's own words help nobody. */
static int check_hosts(const char *hosts, struct myr_err *err)
{
    for (const char *at = hosts; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t kind = strncmp(at, "DNS:", 4) == 0 ? 4 : strncmp(at, "IP:", 3) == 0 ? 3 : 0;
        size_t length = strcspn(at, ",");
        size_t known = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._:*");
        if (kind == 0 || length == kind || known < length) {
            return myr_err_set(err, MYR_EINVAL,
                               "--hosts: '%.*s', DNS:NAME or IP:ADDRESS is expected",
                               (int)(length < 60 ? length : 60), at);
        }
    }
    return MYR_OK;
}

/* Each by the name of its option, before anything is made. */
static int check_words(const struct myr_server_init *init, struct myr_err *err)
{
    const struct {
        const char *option, *text;
    } words[] = {{"cluster", init->cluster},   {"nodes", init->nodes},
                 {"http", init->http},         {"agents", init->agents},
                 {"etcd", init->etcd},         {"etcd-ca", init->etcd_ca},
                 {"etcd-key", init->etcd_key}, {"etcd-certificate", init->etcd_certificate},
                 {"hosts", init->hosts},       {"user", init->unix_user}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        MYR_TRY(check_plain(words[i].option, words[i].text, err));
    }
    MYR_TRY(check_hosts(init->hosts, err));
    return check_user(init->unix_user, err);
}

/* "name: value", quoted: the reader finds the same words again, whatever is in them. */
static void put_word(const char *name, const char *value, struct myr_buf *text)
{
    myr_buf_printf(text, "%s: ", name);
    myr_json_quote(text, myr_str_from(value));
    myr_buf_putc(text, '\n');
}

static void put_file(const char *name, const char *path, struct myr_buf *text)
{
    if (path) { /* as one that holds wherever the server is started */
        MYR_CLEANUP(myr_free_at) char *whole = realpath(path, NULL);
        put_word(name, whole ? whole : path, text);
    }
}

/* "URL,URL" as a list, and the files by which both sides are known. */
static void put_etcd(const struct myr_server_init *init, struct myr_buf *text)
{
    const char *urls = init->etcd;
    myr_buf_puts(text, "etcd:\n  endpoints: [");
    for (const char *at = urls; *at;) {
        size_t len = strcspn(at, ",");
        myr_buf_puts(text, at == urls ? "" : ", ");
        myr_json_quote(text, (struct myr_str){at, len});
        at += len + (at[len] == ',');
    }
    myr_buf_puts(text, "]\n");
    put_file("  ca", init->etcd_ca, text);
    put_file("  certificate", init->etcd_certificate, text);
    put_file("  key", init->etcd_key, text);
}

/* The file is taken back: where in it something wrong stood helps nobody. That it cannot be read
 * is said of it as before. */
static int without_place(const char *path, struct myr_err *err)
{
    size_t len = strlen(path);
    if (err && strncmp(err->message, path, len) == 0 && err->message[len] == ':' &&
        err->message[len + 1] >= '0' && err->message[len + 1] <= '9') {
        const char *rest = strstr(err->message + len, ": ");
        if (rest) {
            memmove(err->message, rest + 2, strlen(rest + 2) + 1);
        }
    }
    return err ? err->code : MYR_EINVAL;
}

/* Only what was said: what is left out has the defaults of the program that reads it. */
static int make_config(const struct myr_server_init *init, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char **names;
    uint32_t count;
    /* Checked before anything is written. */
    MYR_TRY(names_expand(init->nodes, &names, &count, err));
    names_free(names, count);
    if (init->design_nodes > 0 && count != init->design_nodes) {
        return myr_err_set(err, MYR_EINVAL, "--nodes names %s, the design has %s",
                           MYR_COUNT(count, "node"), MYR_GROUPED(init->design_nodes));
    }
    myr_buf_puts(&text, "# A server of Myriad; docs/server.md says what each line means.\n");
    put_word("cluster", init->cluster, &text);
    myr_buf_printf(&text, "world: %s\n", init->world ? init->world : "agents");
    put_word("nodes", init->nodes, &text);
    myr_buf_printf(&text, "gpus_per_node: %u\nnodes_per_leaf: %u\n", init->gpus_per_node,
                   init->nodes_per_leaf);
    put_word("http", init->http, &text);
    put_word("agents", init->agents, &text);
    myr_buf_puts(&text, "policy: fair\n");
    if (init->pretend) {
        myr_buf_puts(&text, "pretend: true\n");
    }
    if (init->speed > 0 && init->speed != 1) {
        myr_buf_printf(&text, "speed: %g\n", init->speed);
    }
    if (init->etcd) {
        put_etcd(init, &text);
    }
    MYR_TRY(save_buf(init->folder, "myriad.yaml", &text, false, err));
    /* What init takes, serve takes. */
    char path[SERVER_PATH];
    struct config config;
    snprintf(path, sizeof(path), "%s/myriad.yaml", init->folder);
    if (config_read(path, &config, err) < 0) {
        return without_place(path, err);
    }
    config_done(&config);
    return MYR_OK;
}

/* Nothing of a folder that could not be made. */
static void take_back(const char *folder)
{
    static const char *const names[] = {"myriad.yaml",    "ca.pem",   "ca-key.pem", "server.pem",
                                        "server-key.pem", "state.db", "admin.token"};
    char path[SERVER_PATH];
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

/* To init it is an error that another leads, not something to wait for. */
static bool nobody_waits(void *context, const char *leader, const char *why)
{
    (void)context;
    (void)leader;
    (void)why;
    return false;
}

/* A file in the folder; or a state in etcd that must not be there yet. */
static int make_store(const struct myr_server_init *init, struct store **ret, struct myr_err *err)
{
    char path[SERVER_PATH];
    struct config config;
    if (!init->etcd) {
        snprintf(path, sizeof(path), "%s/state.db", init->folder);
        return store_open(path, ret, err);
    }
    snprintf(path, sizeof(path), "%s/myriad.yaml", init->folder);
    MYR_TRY(config_read(path, &config, err));
    int rc = store_stand_by(&config.etcd, "init", nobody_waits, NULL, ret, err);
    if (rc == MYR_OK && !store_is_empty(*ret)) {
        store_close(*ret);
        rc = myr_err_set(err, MYR_EINVAL, "etcd holds the state of a cluster under '%s' already",
                         config.etcd.prefix);
    }
    config_done(&config);
    return rc;
}

/* The store with one token in it, whose secret goes to a file of its own. */
static int make_token(const struct myr_server_init *init, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf secret = {};
    struct server server = {.folder = init->folder};
    struct token_row token = {.user = "admin", .role = ROLE_ADMIN};
    /* Without one the first token manages, and submits nothing. */
    snprintf(token.unix_user, sizeof(token.unix_user), "%s",
             init->unix_user ? init->unix_user : "");
    MYR_TRY(myr_io_secret(24, &secret, err));
    myr_io_digest((struct myr_str){secret.data, secret.len}, token.digest);
    MYR_TRY(make_store(init, &server.store, err));
    rows_put_token(&server, &token, false);
    int rc = store_commit(server.store, err);
    store_close(server.store);
    rows_done(&server.rows);
    MYR_TRY(rc);
    myr_buf_putc(&secret, '\n');
    return save_buf(init->folder, "admin.token", &secret, true, err);
}

static int make_all(const struct myr_server_init *init, struct myr_err *err)
{
    MYR_TRY(make_config(init, err));
    MYR_TRY(make_papers(init, err));
    return make_token(init, err);
}

/* Protected before the first secret is written; taken back where it cannot be finished. */
int myr_server_init(const struct myr_server_init *init, struct myr_err *err)
{
    char path[SERVER_PATH];
    struct stat status;
    MYR_TRY(check_words(init, err));
    MYR_TRY(myr_make_dirs(init->folder, err));
    snprintf(path, sizeof(path), "%s/myriad.yaml", init->folder);
    /* Nothing of a server that is there is overwritten. */
    if (stat(path, &status) == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s is there already: a server lives in '%s'", path,
                           init->folder);
    }
    if (chmod(init->folder, 0700) != 0) {
        return myr_err_errno(err, "protecting", init->folder);
    }
    /* What SQLite makes beside its file is nobody else's either. */
    mode_t before = umask(0077);
    int rc = make_all(init, err);
    umask(before);
    if (rc < 0) {
        take_back(init->folder);
    }
    return rc;
}
