/*
 * renew: the server's certificate, before it ends. Looked at when a server starts; agents and
 * relays renew theirs while they run.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

/* A server that is restarted once in three months never shows one that has run out. */
enum { SERVER_DAYS = 825, SOON_DAYS = 90, DAY_S = 86400 };

static int get(const char *folder, const char *name, struct myr_buf *ret, struct myr_err *err)
{
    char path[SERVER_PATH];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return myr_file_read(path, 1 << 20, ret, err);
}

/*
 * The same key and the same names, so that one file is replaced and nothing else: whoever is killed
 * in between has the old one or the new one.
 */
static int renew(const char *folder, const struct myr_buf *old, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done)
    struct myr_buf ca = {}, ca_key = {}, key = {}, csr = {}, made = {}, names = {};
    char path[SERVER_PATH];
    MYR_TRY(get(folder, "ca.pem", &ca, err));
    MYR_TRY(get(folder, "ca-key.pem", &ca_key, err));
    MYR_TRY(get(folder, "server-key.pem", &key, err));
    MYR_TRY(myr_io_alt_names((struct myr_str){old->data, old->len}, &names, err));
    MYR_TRY(myr_io_csr_of("myriad-server", (struct myr_str){key.data, key.len}, &csr, err));
    struct myr_io_sign sign = {.ca_certificate = {ca.data, ca.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = SERVER_DAYS,
                               .server = true,
                               .alt_names = names.len ? names.data : NULL};
    MYR_TRY(myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &made, NULL, NULL, err));
    /* The chain, as init makes it: those who enrol know the authority by its fingerprint. */
    myr_buf_put(&made, ca.data, ca.len);
    snprintf(path, sizeof(path), "%s/server.pem", folder);
    return myr_file_write(path, &made, err);
}

/* A failure costs the renewal, not the start: the old one is still good. */
void papers_renew(const char *folder)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf old = {};
    struct myr_err err = {};
    int64_t left_s = 0;
    /* One that cannot be read is told by whoever needs it. */
    if (get(folder, "server.pem", &old, NULL) < 0 ||
        myr_io_valid_s((struct myr_str){old.data, old.len}, &left_s, NULL) < 0 ||
        left_s > (int64_t)SOON_DAYS * DAY_S) {
        return;
    }
    if (renew(folder, &old, &err) < 0) {
        log_say("warning", "the server's certificate is not renewed: %s", err.message);
    } else {
        log_say("info", "the server's certificate was renewed, %lld days before its end",
                (long long)(left_s / DAY_S));
        audit("myriad", "renew server.pem", "done");
    }
}
