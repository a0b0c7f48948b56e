/*
 * The authority's work with each call of OpenSSL refused in its turn (tests/kept/io-ca.txt): every
 * refusal is an error with its own words, nothing is given out, and nothing is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <openssl/bn.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "kept.h"
#include "leaks.h"
#include "myriad/io.h"

/* OpenSSL keeps its tables for the whole process. */
long myr_leaks_allowed = 10000;

static struct {
    bool on;
    uint32_t calls, number; /* the number of the call that is refused; 0: none */
    const char *name;       /* which one that was */
} refused;

/* Calls of ours alone: what OpenSSL asks of itself is its own business, and differs. */
static bool is_ours(void *caller)
{
    Dl_info where;
    return dladdr(caller, &where) != 0 && !strstr(where.dli_fname, "libcrypto") &&
           !strstr(where.dli_fname, "libssl");
}

static bool is_refused(const char *name, void *caller)
{
    if (!refused.on || !is_ours(caller) || ++refused.calls != refused.number) {
        return false;
    }
    refused.name = name;
    return true;
}

static void *behind(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    assert_non_null(found);
    return found;
}

/* All of them say 0 or NULL when something went wrong. */
#define REFUSABLE(type, name, parameters, ...)                                         \
    __attribute__((visibility("default"))) type name parameters                        \
    {                                                                                  \
        type(*call) parameters;                                                        \
        *(void **)&call = behind(#name);                                               \
        return is_refused(#name, __builtin_return_address(0)) ? 0 : call(__VA_ARGS__); \
    }

REFUSABLE(BIO *, BIO_new, (const BIO_METHOD *method), method)
REFUSABLE(BIO *, BIO_new_mem_buf, (const void *data, int size), data, size)
REFUSABLE(int, PEM_write_bio_PrivateKey,
          (BIO * bio, const EVP_PKEY *key, const EVP_CIPHER *cipher, const unsigned char *word,
           int size, pem_password_cb *call_back, void *more),
          bio, key, cipher, word, size, call_back, more)
REFUSABLE(int, PEM_write_bio_X509, (BIO * bio, const X509 *of), bio, of)
REFUSABLE(int, PEM_write_bio_X509_REQ, (BIO * bio, const X509_REQ *of), bio, of)
REFUSABLE(X509 *, PEM_read_bio_X509,
          (BIO * bio, X509 **into, pem_password_cb *call_back, void *more), bio, into, call_back,
          more)
REFUSABLE(EVP_PKEY *, PEM_read_bio_PrivateKey,
          (BIO * bio, EVP_PKEY **into, pem_password_cb *call_back, void *more), bio, into,
          call_back, more)
REFUSABLE(X509_REQ *, PEM_read_bio_X509_REQ,
          (BIO * bio, X509_REQ **into, pem_password_cb *call_back, void *more), bio, into,
          call_back, more)
REFUSABLE(int, X509_NAME_add_entry_by_txt,
          (X509_NAME * name, const char *field, int type, const unsigned char *bytes, int size,
           int at, int set),
          name, field, type, bytes, size, at, set)
REFUSABLE(X509_EXTENSION *, X509V3_EXT_conf_nid,
          (LHASH_OF(CONF_VALUE) * conf, X509V3_CTX *context, int nid, const char *value), conf,
          context, nid, value)
REFUSABLE(int, X509_add_ext, (X509 * of, X509_EXTENSION *extension, int at), of, extension, at)
REFUSABLE(int, RAND_bytes, (unsigned char *bytes, int count), bytes, count)
REFUSABLE(BIGNUM *, BN_bin2bn, (const unsigned char *bytes, int size, BIGNUM *into), bytes, size,
          into)
REFUSABLE(ASN1_INTEGER *, BN_to_ASN1_INTEGER, (const BIGNUM *number, ASN1_INTEGER *into), number,
          into)
REFUSABLE(X509 *, X509_new, (void), )
REFUSABLE(int, X509_set_version, (X509 * of, long version), of, version)
REFUSABLE(int, X509_set_pubkey, (X509 * of, EVP_PKEY *key), of, key)
REFUSABLE(int, X509_set_issuer_name, (X509 * of, const X509_NAME *name), of, name)
REFUSABLE(int, X509_set_subject_name, (X509 * of, const X509_NAME *name), of, name)
REFUSABLE(int, X509_sign, (X509 * of, EVP_PKEY *key, const EVP_MD *digest), of, key, digest)
REFUSABLE(X509_REQ *, X509_REQ_new, (void), )
REFUSABLE(int, X509_REQ_set_pubkey, (X509_REQ * of, EVP_PKEY *key), of, key)
REFUSABLE(int, X509_REQ_sign, (X509_REQ * of, EVP_PKEY *key, const EVP_MD *digest), of, key, digest)
REFUSABLE(int, X509_REQ_verify, (X509_REQ * of, EVP_PKEY *key), of, key)
REFUSABLE(ASN1_TIME *, X509_gmtime_adj, (ASN1_TIME * into, long later_s), into, later_s)
REFUSABLE(ASN1_TIME *, X509_time_adj_ex, (ASN1_TIME * into, int days, long later_s, time_t *from),
          into, days, later_s, from)
REFUSABLE(int, X509_digest,
          (const X509 *of, const EVP_MD *kind, unsigned char *digest, unsigned *size), of, kind,
          digest, size)
REFUSABLE(char *, BN_bn2hex, (const BIGNUM *number), number)

/* --- the authority's work */

static struct myr_buf ca, ca_key, node_key, csr, cert;
static struct myr_buf made[3];

static struct myr_str str(const struct myr_buf *of)
{
    return (struct myr_str){of->data, of->len};
}

static int create(struct myr_err *err)
{
    return myr_io_ca_create("test", 10, &made[0], &made[1], err);
}

static int ask(struct myr_err *err)
{
    return myr_io_csr_create("n1", &made[0], &made[1], err);
}

static int ask_again(struct myr_err *err)
{
    return myr_io_csr_of("n1", str(&node_key), &made[0], err);
}

static int sign_node(struct myr_err *err)
{
    struct myr_io_sign sign = {
        .ca_certificate = str(&ca), .ca_key = str(&ca_key), .days = 3, .name = "n1"};
    return myr_io_ca_sign(&sign, str(&csr), &made[0], &made[1], &made[2], err);
}

static int sign_server(struct myr_err *err)
{
    struct myr_io_sign sign = {.ca_certificate = str(&ca),
                               .ca_key = str(&ca_key),
                               .days = 3,
                               .server = true,
                               .alt_names = "DNS:head,IP:10.0.0.1"};
    return myr_io_ca_sign(&sign, str(&csr), &made[0], NULL, NULL, err);
}

static int fingerprint(struct myr_err *err)
{
    char hex[65];
    return myr_io_fingerprint(str(&ca), hex, err);
}

static int names(struct myr_err *err)
{
    return myr_io_alt_names(str(&cert), &made[0], err);
}

static int valid(struct myr_err *err)
{
    int64_t left_s;
    return myr_io_valid_s(str(&cert), &left_s, err);
}

static int secret(struct myr_err *err)
{
    return myr_io_secret(24, &made[0], err);
}

static void each_call(const char *what, int (*work)(struct myr_err *err), struct myr_buf *story)
{
    myr_buf_printf(story, "%s\n", what);
    for (refused.number = 0;; refused.number++) {
        struct myr_err err = {};
        refused.calls = 0;
        refused.name = NULL;
        refused.on = true;
        int rc = work(&err);
        refused.on = false;
        for (size_t i = 0; i < MYR_ARRAY_COUNT(made); i++) {
            myr_buf_done(&made[i]);
            made[i] = (struct myr_buf){};
        }
        if (refused.number > 0 && !refused.name) {
            return;
        }
        myr_buf_printf(story, "  %s: %s%s%s\n", refused.name ? refused.name : "nothing refused",
                       rc < 0 ? myr_err_name(rc) : "done", rc < 0 ? ": " : "", err.message);
        /* Only what OpenSSL wants for itself may stay; the second time it wants no more. */
        long before = myr_leaks_now();
        refused.calls = 0;
        refused.on = true;
        (void)work(&err);
        refused.on = false;
        for (size_t i = 0; i < MYR_ARRAY_COUNT(made); i++) {
            myr_buf_done(&made[i]);
            made[i] = (struct myr_buf){};
        }
        assert_int_equal(myr_leaks_now(), before);
    }
}

static void each_call_is_refused_once(void **state)
{
    (void)state;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    assert_int_equal(myr_io_ca_create("test", 10, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create("n1", &node_key, &csr, &err), MYR_OK);
    struct myr_io_sign sign = {.ca_certificate = str(&ca),
                               .ca_key = str(&ca_key),
                               .days = 3,
                               .server = true,
                               .alt_names = "DNS:head,IP:10.0.0.1"};
    assert_int_equal(myr_io_ca_sign(&sign, str(&csr), &cert, NULL, NULL, &err), MYR_OK);
    each_call("a new authority", create, &story);
    each_call("a request", ask, &story);
    each_call("a request with the key of before", ask_again, &story);
    each_call("a node's certificate", sign_node, &story);
    each_call("a server's certificate", sign_server, &story);
    each_call("a fingerprint", fingerprint, &story);
    each_call("further names", names, &story);
    each_call("how long it is good", valid, &story);
    each_call("a secret", secret, &story);
    assert_kept("io-ca.txt", &story);
    myr_buf_done(&ca);
    myr_buf_done(&ca_key);
    myr_buf_done(&node_key);
    myr_buf_done(&csr);
    myr_buf_done(&cert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_is_refused_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
