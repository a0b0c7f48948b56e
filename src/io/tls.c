/*
 * tls: contexts of OpenSSL, as clusters need them: what is shown, who is believed, and the BIO by
 * which a stream hands bytes to TLS and takes them. A context is shared by its streams and freed
 * with the last of them.
 */
#include "tls_context.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/io/ca.h"

struct myr_io_tls {
    SSL_CTX *context;
    BIO_METHOD *method; /* of tls_bio() */
    uint32_t refs;      /* streams and the one who made it */
    bool server, strangers;
    char fingerprint[65];
    char host[256];       /* of a server that is not ours; else empty */
    SSL_SESSION *session; /* the last that this server gave us; or NULL */
};

/* With what OpenSSL says, and its list of errors emptied for the next who looks. */
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

/* Every certificate of the text; how many there are, 0 when one of them cannot be used. */
static uint32_t each_certificate(const char *pem, SSL_CTX *context,
                                 bool (*use)(SSL_CTX *context, X509 *one, uint32_t at))
{
    MYR_ASSERT(pem && context);
    BIO *bio = BIO_new_mem_buf(pem, -1);
    uint32_t count = 0;
    for (X509 *one; bio && (one = PEM_read_bio_X509(bio, NULL, NULL, NULL)); count++) {
        bool used = use(context, one, count);
        X509_free(one);
        if (!used) {
            count = 0;
            break;
        }
    }
    BIO_free(bio);
    return count;
}

/* The first is our own, the others are those that lead from it to the authority. */
static bool use_shown(SSL_CTX *context, X509 *one, uint32_t at)
{
    return at == 0 ? SSL_CTX_use_certificate(context, one) == 1
                   : SSL_CTX_add1_chain_cert(context, one) == 1;
}

static bool use_believed(SSL_CTX *context, X509 *one, uint32_t at)
{
    (void)at;
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one) == 1;
}

static bool use_key(SSL_CTX *context, const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    bool used = key && SSL_CTX_use_PrivateKey(context, key) == 1;
    EVP_PKEY_free(key);
    BIO_free(bio);
    return used;
}

/* Certificates that came as text, as those of a kubeconfig do, need no file. */
static int load_texts(SSL_CTX *context, const struct myr_io_tls_names *names, struct myr_err *err)
{
    if (names->certificate_pem &&
        each_certificate(names->certificate_pem, context, use_shown) == 0) {
        return failed(err, "no certificate", "the client's certificate");
    }
    if (names->key_pem && !use_key(context, names->key_pem)) {
        return failed(err, "no key, or not that of the certificate", "the client's key");
    }
    if (names->ca_pem && each_certificate(names->ca_pem, context, use_believed) == 0) {
        return failed(err, "no certificate of an authority", "the authority");
    }
    ERR_clear_error(); /* the end of a text is one too */
    if (!names->ca && !names->ca_pem && !names->fingerprint &&
        SSL_CTX_set_default_verify_paths(context) != 1) {
        return failed(err, "no authorities", "this machine");
    }
    return MYR_OK;
}

/* Files first, then texts; what is NULL is left out. */
static int load(struct myr_io_tls *tls, const struct myr_io_tls_names *names, struct myr_err *err)
{
    SSL_CTX *context = tls->context;
    MYR_ASSERT(context && !tls->fingerprint[0] && !tls->host[0]);
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
    if (names->host) {
        if (strlen(names->host) >= sizeof(tls->host)) {
            return myr_err_set(err, MYR_ERANGE, "'%.40s...' is no name of a host", names->host);
        }
        snprintf(tls->host, sizeof(tls->host), "%s", names->host);
    }
    return load_texts(context, names, err);
}

/* The server gives us the means to be recognised: kept for the next connection to it. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct myr_io_tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    MYR_ASSERT(tls && tls->refs > 0);
    MYR_ASSERT(!tls->server && tls->host[0]); /* servers of ours remember nobody, nor are they */
    MYR_ASSERT(session && session != tls->session); /* the old one is freed */
    SSL_SESSION_free(tls->session);
    tls->session = session;
    return 1; /* it is ours now */
}

/*
 * Who is recognised shows and checks no certificates again, which is most of the work of a
 * connection. One that has run out since then is to be noticed all the same.
 */
static void resume(struct myr_io_tls *tls, SSL *ssl)
{
    MYR_ASSERT(!tls->session || (!tls->server && tls->host[0]));
    const X509 *peer = tls->session ? SSL_SESSION_get0_peer(tls->session) : NULL;
    if (peer && X509_cmp_current_time(X509_get0_notAfter(peer)) > 0) {
        (void)SSL_set_session(ssl, tls->session);
    }
}

/* --- between a socket and TLS */

/* Both belong to the stream, which outlives its BIO. */
struct ends {
    struct myr_str *in;
    struct myr_buf *out;
};

/* Straight from where libuv has put it; what is left is taken with the next call. */
static int read_in(BIO *bio, char *to, size_t room, size_t *ret)
{
    struct myr_str *in = ((struct ends *)BIO_get_data(bio))->in;
    size_t length = in->len < room ? in->len : room;
    BIO_clear_retry_flags(bio);
    MYR_ASSERT(in->data || in->len == 0);
    MYR_ASSERT(length <= room && length <= in->len);
    *ret = length;
    if (length == 0) {
        /* Without this an empty input would be the end of the connection, not a pause. */
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(to, in->data, length);
    in->data += length;
    in->len -= length;
    return 1;
}

static int write_out(BIO *bio, const char *data, size_t size, size_t *ret)
{
    struct myr_buf *out = ((struct ends *)BIO_get_data(bio))->out;
    size_t before = out->len;
    myr_buf_put(out, data, size);
    MYR_ASSERT(out->len == before + size); /* nothing is ever refused */
    *ret = size;
    return 1;
}

static long control(BIO *bio, int what, long number, void *more)
{
    (void)bio;
    (void)number;
    (void)more;
    return what == BIO_CTRL_FLUSH; /* nothing is held back */
}

static int destroy(BIO *bio)
{
    MYR_ASSERT(BIO_get_data(bio)); /* once a BIO */
    free(BIO_get_data(bio));
    BIO_set_data(bio, NULL);
    return 1;
}

/*
 * OpenSSL's own BIO in memory copies what comes once more, clears room before it is written, and
 * all of it when it is emptied: of a stream of small records that was as much work as their
 * decryption. That a whole record is asked for in two steps costs less here than to read ahead,
 * which moves what is left after each of them.
 */
static BIO_METHOD *make_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "stream");
    MYR_ASSERT(method);
    BIO_meth_set_read_ex(method, read_in);
    BIO_meth_set_write_ex(method, write_out);
    BIO_meth_set_ctrl(method, control);
    BIO_meth_set_destroy(method, destroy);
    return method;
}

BIO *tls_bio(struct myr_io_tls *tls, struct myr_str *in, struct myr_buf *out)
{
    MYR_ASSERT(in->len == 0 && out->len == 0); /* nothing of another session */
    BIO *bio = BIO_new(tls->method);
    struct ends *ends = myr_xcalloc(1, sizeof(*ends));
    MYR_ASSERT(bio);
    *ends = (struct ends){in, out};
    BIO_set_data(bio, ends);
    BIO_set_init(bio, 1);
    return bio;
}

/* Somebody must be believed, by one of the four ways. */
int myr_io_tls_create(const struct myr_io_tls_names *names, struct myr_io_tls **ret,
                      struct myr_err *err)
{
    MYR_ASSERT(names->ca || names->ca_pem || names->fingerprint || names->host);
    MYR_ASSERT(!names->host || !names->server);
    MYR_ASSERT(!names->strangers || names->server);
    struct myr_io_tls *tls = myr_xcalloc(1, sizeof(*tls));
    tls->refs = 1;
    tls->method = make_method();
    tls->server = names->server;
    tls->strangers = names->strangers;
    tls->context = SSL_CTX_new(names->server ? TLS_server_method() : TLS_client_method());
    /* Where both sides are ours nothing older is needed; servers of others may be behind. */
    int oldest = names->host ? TLS1_2_VERSION : TLS1_3_VERSION;
    if (!tls->context || SSL_CTX_set_min_proto_version(tls->context, oldest) != 1) {
        myr_io_tls_free(tls);
        return failed(err, "OpenSSL", "TLS 1.3");
    }
    int rc = load(tls, names, err);
    if (rc < 0) {
        myr_io_tls_free(tls);
        return rc;
    }
    /* The stream writes in pieces, from buffers that move. */
    SSL_CTX_set_mode(tls->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (!names->host) {
        /* Ten thousand idle peers keep no buffers; they stay connected for weeks. */
        SSL_CTX_set_mode(tls->context, SSL_MODE_RELEASE_BUFFERS);
    }
    SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
    if (names->host) { /* others' servers, which close connections that are idle */
        SSL_CTX_set_session_cache_mode(tls->context,
                                       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_set_app_data(tls->context, tls);
        SSL_CTX_sess_set_new_cb(tls->context, keep_session);
    }
    /* A server of ours remembers nobody: its peers stay connected. */
    SSL_CTX_set_num_tickets(tls->context, 0);
    /* A stranger is asked for a certificate too, and may say that he has none. */
    int verify = SSL_VERIFY_PEER;
    if (names->server && !names->strangers) {
        verify |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    }
    SSL_CTX_set_verify(tls->context, verify, names->fingerprint && !names->ca ? any_chain : NULL);
    /* Where any chain will do, tls_judge() has a fingerprint to hold it against. */
    MYR_ASSERT(!names->fingerprint || strlen(tls->fingerprint) == 64);
    MYR_ASSERT(tls->refs == 1 && !tls->session);
    *ret = tls;
    return MYR_OK;
}

/* NULL is none. */
void myr_io_tls_free(struct myr_io_tls *tls)
{
    MYR_ASSERT(!tls || tls->refs > 0);
    if (!tls || --tls->refs > 0) {
        return;
    }
    SSL_SESSION_free(tls->session);
    SSL_CTX_free(tls->context);
    BIO_meth_free(tls->method);
    free(tls);
}

void tls_ref(struct myr_io_tls *tls)
{
    MYR_ASSERT(tls->refs > 0 && tls->refs < UINT32_MAX);
    tls->refs++;
}

/* With 'host' its name or address must be in the certificate that is shown. */
SSL *tls_new(struct myr_io_tls *tls)
{
    unsigned char bytes[16];
    MYR_ASSERT(tls->refs > 0 && (!tls->host[0] || !tls->server));
    SSL *ssl = SSL_new(tls->context);
    if (!ssl || !tls->host[0]) {
        return ssl;
    }
    /*
     * A certificate names addresses apart from hosts, and TLS sends no address as a server's name.
     */
    bool number =
        inet_pton(AF_INET, tls->host, bytes) == 1 || inet_pton(AF_INET6, tls->host, bytes) == 1;
    int rc = number ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), tls->host)
                    : SSL_set1_host(ssl, tls->host);
    if (rc == 1 && !number) {
        rc = (int)SSL_set_tlsext_host_name(ssl, tls->host);
    }
    MYR_ASSERT(rc == 1); /* its length was looked at before; else nobody would be believed */
    resume(tls, ssl);
    return ssl;
}

bool tls_is_server(const struct myr_io_tls *tls)
{
    return tls->server;
}

/* The authority's certificate must be the one whose fingerprint came with the token. */
static bool has_fingerprint(SSL *ssl, const char *expected)
{
    MYR_ASSERT(strlen(expected) == 64); /* load() has counted: a shorter one is nobody's */
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
    X509 *leaf = SSL_get0_peer_certificate(ssl);
    /*
     * Whoever has that fingerprint must have signed the leaf: the certificate alone proves nothing,
     * since everybody can send a copy of it.
     */
    for (int i = 0; chain && leaf && i < sk_X509_num(chain); i++) {
        unsigned char digest[EVP_MAX_MD_SIZE];
        char hex[65];
        unsigned size;
        X509 *ca = sk_X509_value(chain, i);
        if (X509_digest(ca, EVP_sha256(), digest, &size) != 1 || size != 32) {
            continue;
        }
        for (unsigned b = 0; b < size; b++) {
            snprintf(hex + 2 * b, 3, "%02x", digest[b]);
        }
        MYR_ASSERT(strlen(hex) == 64);
        if (strcmp(hex, expected) == 0) {
            return X509_check_issued(ca, leaf) == X509_V_OK &&
                   X509_verify(leaf, X509_get0_pubkey(ca)) == 1;
        }
    }
    return false;
}

/* What OpenSSL does not check by itself. */
int tls_judge(const struct myr_io_tls *tls, SSL *ssl, struct myr_err *err)
{
    MYR_ASSERT(SSL_is_init_finished(ssl) && SSL_is_server(ssl) == tls->server);
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
    /*
     * A node's certificate is of the same authority: without this every node could play the server.
     */
    if ((X509_get_extended_key_usage(peer) & XKU_SSL_SERVER) == 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "the peer has shown a node's certificate, not a "
                           "server's");
    }
    return MYR_OK;
}
