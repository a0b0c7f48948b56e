#include "tls_context.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/io/ca.h"

struct myr_io_tls {
    SSL_CTX *context;
    uint32_t refs; /* streams and the one who made it */
    bool server, strangers;
    char fingerprint[65];
};

static int failed(struct myr_err *err, const char *what, const char *path)
{
    char text[160];
    unsigned long code = ERR_get_error();
    ERR_error_string_n(code, text, sizeof(text));
    ERR_clear_error();
    return myr_err_set(err, MYR_EINVAL, "%s: %s: %s", path, what, code ? text : "failed");
}

/* Believes what the ordinary check does, but for the one thing that judge() looks at later. */
static int any_chain(int ok, X509_STORE_CTX *context)
{
    (void)ok;
    (void)context;
    return 1;
}

static int load(struct myr_io_tls *tls, const struct myr_io_tls_names *names, struct myr_err *err)
{
    SSL_CTX *context = tls->context;
    if (names->certificate &&
        SSL_CTX_use_certificate_chain_file(context, names->certificate) != 1) {
        return failed(err, "no certificate", names->certificate);
    }
    if (names->key && SSL_CTX_use_PrivateKey_file(context, names->key, SSL_FILETYPE_PEM) != 1) {
        return failed(err, "no key, or not that of the certificate", names->key);
    }
    if (names->ca && SSL_CTX_load_verify_locations(context, names->ca, NULL) != 1) {
        return failed(err, "no certificate of an authority", names->ca);
    }
    if (names->fingerprint) {
        if (strlen(names->fingerprint) != 64) {
            return myr_err_set(err, MYR_EINVAL, "a fingerprint has 64 hex digits, not %zu",
                               strlen(names->fingerprint));
        }
        snprintf(tls->fingerprint, sizeof(tls->fingerprint), "%s", names->fingerprint);
    }
    return MYR_OK;
}

int myr_io_tls_create(const struct myr_io_tls_names *names, struct myr_io_tls **ret,
                      struct myr_err *err)
{
    MYR_ASSERT(names->ca || names->fingerprint);
    struct myr_io_tls *tls = myr_xcalloc(1, sizeof(*tls));
    tls->refs = 1;
    tls->server = names->server;
    tls->strangers = names->strangers;
    tls->context = SSL_CTX_new(names->server ? TLS_server_method() : TLS_client_method());
    if (!tls->context || SSL_CTX_set_min_proto_version(tls->context, TLS1_3_VERSION) != 1) {
        myr_io_tls_free(tls);
        return failed(err, "OpenSSL", "TLS 1.3");
    }
    int rc = load(tls, names, err);
    if (rc < 0) {
        myr_io_tls_free(tls);
        return rc;
    }
    /* Ten thousand idle peers keep no buffers, and no sessions: they stay connected for weeks. */
    SSL_CTX_set_mode(tls->context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(tls->context, 0);
    int verify = SSL_VERIFY_PEER;
    if (names->server && !names->strangers) {
        verify |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    }
    SSL_CTX_set_verify(tls->context, verify, names->ca ? NULL : any_chain);
    *ret = tls;
    return MYR_OK;
}

void myr_io_tls_free(struct myr_io_tls *tls)
{
    if (!tls || --tls->refs > 0) {
        return;
    }
    SSL_CTX_free(tls->context);
    free(tls);
}

void tls_ref(struct myr_io_tls *tls)
{
    tls->refs++;
}

SSL *tls_new(struct myr_io_tls *tls)
{
    return SSL_new(tls->context);
}

bool tls_is_server(const struct myr_io_tls *tls)
{
    return tls->server;
}

/* The authority's certificate must be the one whose fingerprint came with the token. */
static bool has_fingerprint(SSL *ssl, const char *expected)
{
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
    X509 *leaf = SSL_get0_peer_certificate(ssl);
    for (int i = 0; chain && leaf && i < sk_X509_num(chain); i++) {
        unsigned char digest[EVP_MAX_MD_SIZE];
        char hex[65];
        unsigned size = 0;
        X509 *ca = sk_X509_value(chain, i);
        if (X509_digest(ca, EVP_sha256(), digest, &size) != 1 || size != 32) {
            continue;
        }
        for (unsigned b = 0; b < size; b++) {
            snprintf(hex + 2 * b, 3, "%02x", digest[b]);
        }
        if (strcmp(hex, expected) == 0) {
            return X509_check_issued(ca, leaf) == X509_V_OK &&
                   X509_verify(leaf, X509_get0_pubkey(ca)) == 1;
        }
    }
    return false;
}

int tls_judge(const struct myr_io_tls *tls, SSL *ssl, struct myr_err *err)
{
    X509 *peer = SSL_get0_peer_certificate(ssl);
    if (tls->server) {
        /* OpenSSL has refused a wrong one already; none at all is only for those who enrol. */
        return peer || tls->strangers
                   ? MYR_OK
                   : myr_err_set(err, MYR_EINVAL, "the peer has shown no certificate");
    }
    if (!peer) {
        return myr_err_set(err, MYR_EINVAL, "the server has shown no certificate");
    }
    if (tls->fingerprint[0] && !has_fingerprint(ssl, tls->fingerprint)) {
        return myr_err_set(err, MYR_EINVAL,
                           "the server's authority has another fingerprint than the token says");
    }
    if ((X509_get_extended_key_usage(peer) & XKU_SSL_SERVER) == 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "the peer has shown a node's certificate, not a "
                           "server's");
    }
    return MYR_OK;
}
