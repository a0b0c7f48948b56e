/* OpenSSL as its first call loads it (late.h). */
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdarg.h>

#include "late.h"

/* The only one that takes more than it names; each kind of key here is told by one word more. */
EVP_PKEY *EVP_PKEY_Q_keygen(OSSL_LIB_CTX *context, const char *properties, const char *type, ...)
{
    va_list rest;
    va_start(rest, type);
    char *more = va_arg(rest, char *);
    va_end(rest);
    __typeof__(&EVP_PKEY_Q_keygen) call = late_find(LATE_CRYPTO, "EVP_PKEY_Q_keygen");
    return call(context, properties, type, more);
}

LATE(LATE_SSL, long, SSL_CTX_ctrl, (SSL_CTX * a, int b, long c, void *d), (a, b, c, d))
LATE(LATE_SSL, void, SSL_CTX_free, (SSL_CTX * a), (a))
LATE(LATE_SSL, X509_STORE *, SSL_CTX_get_cert_store, (const SSL_CTX *a), (a))
LATE(LATE_SSL, void *, SSL_CTX_get_ex_data, (const SSL_CTX *a, int b), (a, b))
LATE(LATE_SSL, int, SSL_CTX_load_verify_locations, (SSL_CTX * a, const char *b, const char *c),
     (a, b, c))
LATE(LATE_SSL, SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *a), (a))
LATE(LATE_SSL, void, SSL_CTX_sess_set_new_cb, (SSL_CTX * a, int (*b)(SSL *, SSL_SESSION *)), (a, b))
LATE(LATE_SSL, int, SSL_CTX_set_default_verify_paths, (SSL_CTX * a), (a))
LATE(LATE_SSL, int, SSL_CTX_set_ex_data, (SSL_CTX * a, int b, void *c), (a, b, c))
LATE(LATE_SSL, int, SSL_CTX_set_num_tickets, (SSL_CTX * a, size_t b), (a, b))
LATE(LATE_SSL, void, SSL_CTX_set_verify, (SSL_CTX * a, int b, SSL_verify_cb c), (a, b, c))
LATE(LATE_SSL, int, SSL_CTX_use_PrivateKey, (SSL_CTX * a, EVP_PKEY *b), (a, b))
LATE(LATE_SSL, int, SSL_CTX_use_PrivateKey_file, (SSL_CTX * a, const char *b, int c), (a, b, c))
LATE(LATE_SSL, int, SSL_CTX_use_certificate, (SSL_CTX * a, X509 *b), (a, b))
LATE(LATE_SSL, int, SSL_CTX_use_certificate_chain_file, (SSL_CTX * a, const char *b), (a, b))
LATE(LATE_SSL, void, SSL_SESSION_free, (SSL_SESSION * a), (a))
LATE(LATE_SSL, X509 *, SSL_SESSION_get0_peer, (SSL_SESSION * a), (a))
LATE(LATE_SSL, const char *, SSL_alert_desc_string_long, (int a), (a))
LATE(LATE_SSL, int, SSL_connect, (SSL * a), (a))
LATE(LATE_SSL, long, SSL_ctrl, (SSL * a, int b, long c, void *d), (a, b, c, d))
LATE(LATE_SSL, int, SSL_do_handshake, (SSL * a), (a))
LATE(LATE_SSL, void, SSL_free, (SSL * a), (a))
LATE(LATE_SSL, X509_VERIFY_PARAM *, SSL_get0_param, (SSL * a), (a))
LATE(LATE_SSL, X509 *, SSL_get0_peer_certificate, (const SSL *a), (a))
LATE(LATE_SSL, SSL_CTX *, SSL_get_SSL_CTX, (const SSL *a), (a))
LATE(LATE_SSL, int, SSL_get_error, (const SSL *a, int b), (a, b))
LATE(LATE_SSL, STACK_OF(X509) *, SSL_get_peer_cert_chain, (const SSL *a), (a))
LATE(LATE_SSL, long, SSL_get_verify_result, (const SSL *a), (a))
LATE(LATE_SSL, int, SSL_is_init_finished, (const SSL *a), (a))
LATE(LATE_SSL, int, SSL_is_server, (const SSL *a), (a))
LATE(LATE_SSL, SSL *, SSL_new, (SSL_CTX * a), (a))
LATE(LATE_SSL, int, SSL_read, (SSL * a, void *b, int c), (a, b, c))
LATE(LATE_SSL, int, SSL_set1_host, (SSL * a, const char *b), (a, b))
LATE(LATE_SSL, void, SSL_set_accept_state, (SSL * a), (a))
LATE(LATE_SSL, void, SSL_set_bio, (SSL * a, BIO *b, BIO *c), (a, b, c))
LATE(LATE_SSL, void, SSL_set_connect_state, (SSL * a), (a))
LATE(LATE_SSL, int, SSL_set_fd, (SSL * a, int b), (a, b))
LATE(LATE_SSL, int, SSL_set_session, (SSL * a, SSL_SESSION *b), (a, b))
LATE(LATE_SSL, int, SSL_shutdown, (SSL * a), (a))
LATE(LATE_SSL, int, SSL_write, (SSL * a, const void *b, int c), (a, b, c))
LATE(LATE_SSL, const SSL_METHOD *, TLS_client_method, (void), ())
LATE(LATE_SSL, const SSL_METHOD *, TLS_server_method, (void), ())

LATE(LATE_CRYPTO, BIGNUM *, ASN1_INTEGER_to_BN, (const ASN1_INTEGER *a, BIGNUM *b), (a, b))
LATE(LATE_CRYPTO, int, ASN1_TIME_diff, (int *a, int *b, const ASN1_TIME *c, const ASN1_TIME *d),
     (a, b, c, d))
LATE(LATE_CRYPTO, void, BIO_clear_flags, (BIO * a, int b), (a, b))
LATE(LATE_CRYPTO, long, BIO_ctrl, (BIO * a, int b, long c, void *d), (a, b, c, d))
LATE(LATE_CRYPTO, int, BIO_free, (BIO * a), (a))
LATE(LATE_CRYPTO, void *, BIO_get_data, (BIO * a), (a))
LATE(LATE_CRYPTO, void, BIO_meth_free, (BIO_METHOD * a), (a))
LATE(LATE_CRYPTO, BIO_METHOD *, BIO_meth_new, (int a, const char *b), (a, b))
LATE(LATE_CRYPTO, int, BIO_meth_set_ctrl, (BIO_METHOD * a, long (*b)(BIO *, int, long, void *)),
     (a, b))
LATE(LATE_CRYPTO, int, BIO_meth_set_destroy, (BIO_METHOD * a, int (*b)(BIO *)), (a, b))
LATE(LATE_CRYPTO, int, BIO_meth_set_read_ex,
     (BIO_METHOD * a, int (*b)(BIO *, char *, size_t, size_t *)), (a, b))
LATE(LATE_CRYPTO, int, BIO_meth_set_write_ex,
     (BIO_METHOD * a, int (*b)(BIO *, const char *, size_t, size_t *)), (a, b))
LATE(LATE_CRYPTO, BIO *, BIO_new, (const BIO_METHOD *a), (a))
LATE(LATE_CRYPTO, BIO *, BIO_new_mem_buf, (const void *a, int b), (a, b))
LATE(LATE_CRYPTO, const BIO_METHOD *, BIO_s_mem, (void), ())
LATE(LATE_CRYPTO, void, BIO_set_data, (BIO * a, void *b), (a, b))
LATE(LATE_CRYPTO, void, BIO_set_flags, (BIO * a, int b), (a, b))
LATE(LATE_CRYPTO, void, BIO_set_init, (BIO * a, int b), (a, b))
LATE(LATE_CRYPTO, BIGNUM *, BN_bin2bn, (const unsigned char *a, int b, BIGNUM *c), (a, b, c))
LATE(LATE_CRYPTO, char *, BN_bn2hex, (const BIGNUM *a), (a))
LATE(LATE_CRYPTO, void, BN_free, (BIGNUM * a), (a))
LATE(LATE_CRYPTO, ASN1_INTEGER *, BN_to_ASN1_INTEGER, (const BIGNUM *a, ASN1_INTEGER *b), (a, b))
LATE(LATE_CRYPTO, void, CRYPTO_free, (void *a, const char *b, int c), (a, b, c))
LATE(LATE_CRYPTO, void, ERR_clear_error, (void), ())
LATE(LATE_CRYPTO, void, ERR_error_string_n, (size_t a, char *b, size_t c), (a, b, c))
LATE(LATE_CRYPTO, size_t, ERR_get_error, (void), ())
LATE(LATE_CRYPTO, int, EVP_Digest,
     (const void *a, size_t b, unsigned char *c, unsigned *d, const EVP_MD *e, ENGINE *f),
     (a, b, c, d, e, f))
LATE(LATE_CRYPTO, void, EVP_PKEY_free, (EVP_PKEY * a), (a))
LATE(LATE_CRYPTO, int, EVP_Q_digest,
     (OSSL_LIB_CTX * a, const char *b, const char *c, const void *d, size_t e, unsigned char *f,
      size_t *g),
     (a, b, c, d, e, f, g))
LATE(LATE_CRYPTO, const EVP_MD *, EVP_sha256, (void), ())
LATE(LATE_CRYPTO, void, GENERAL_NAMES_free, (GENERAL_NAMES * a), (a))
LATE(LATE_CRYPTO, void, OPENSSL_cleanse, (void *a, size_t b), (a, b))
LATE(LATE_CRYPTO, int, OPENSSL_sk_num, (const OPENSSL_STACK *a), (a))
LATE(LATE_CRYPTO, void *, OPENSSL_sk_value, (const OPENSSL_STACK *a, int b), (a, b))
LATE(LATE_CRYPTO, EVP_PKEY *, PEM_read_bio_PrivateKey,
     (BIO * a, EVP_PKEY **b, pem_password_cb *c, void *d), (a, b, c, d))
LATE(LATE_CRYPTO, X509 *, PEM_read_bio_X509, (BIO * a, X509 **b, pem_password_cb *c, void *d),
     (a, b, c, d))
LATE(LATE_CRYPTO, X509_REQ *, PEM_read_bio_X509_REQ,
     (BIO * a, X509_REQ **b, pem_password_cb *c, void *d), (a, b, c, d))
LATE(LATE_CRYPTO, int, PEM_write_bio_PrivateKey,
     (BIO * a, const EVP_PKEY *b, const EVP_CIPHER *c, const unsigned char *d, int e,
      pem_password_cb *f, void *g),
     (a, b, c, d, e, f, g))
LATE(LATE_CRYPTO, int, PEM_write_bio_X509, (BIO * a, const X509 *b), (a, b))
LATE(LATE_CRYPTO, int, PEM_write_bio_X509_REQ, (BIO * a, const X509_REQ *b), (a, b))
LATE(LATE_CRYPTO, int, RAND_bytes, (unsigned char *a, int b), (a, b))
LATE(LATE_CRYPTO, X509_EXTENSION *, X509V3_EXT_conf_nid,
     (struct lhash_st_CONF_VALUE * a, X509V3_CTX *b, int c, const char *d), (a, b, c, d))
LATE(LATE_CRYPTO, void, X509V3_set_ctx,
     (X509V3_CTX * a, X509 *b, X509 *c, X509_REQ *d, X509_CRL *e, int f), (a, b, c, d, e, f))
LATE(LATE_CRYPTO, void, X509_EXTENSION_free, (X509_EXTENSION * a), (a))
LATE(LATE_CRYPTO, int, X509_NAME_add_entry_by_txt,
     (X509_NAME * a, const char *b, int c, const unsigned char *d, int e, int f, int g),
     (a, b, c, d, e, f, g))
LATE(LATE_CRYPTO, int, X509_NAME_entry_count, (const X509_NAME *a), (a))
LATE(LATE_CRYPTO, int, X509_NAME_get_text_by_NID, (const X509_NAME *a, int b, char *c, int d),
     (a, b, c, d))
LATE(LATE_CRYPTO, void, X509_REQ_free, (X509_REQ * a), (a))
LATE(LATE_CRYPTO, EVP_PKEY *, X509_REQ_get0_pubkey, (X509_REQ * a), (a))
LATE(LATE_CRYPTO, X509_NAME *, X509_REQ_get_subject_name, (const X509_REQ *a), (a))
LATE(LATE_CRYPTO, X509_REQ *, X509_REQ_new, (void), ())
LATE(LATE_CRYPTO, int, X509_REQ_set_pubkey, (X509_REQ * a, EVP_PKEY *b), (a, b))
LATE(LATE_CRYPTO, int, X509_REQ_sign, (X509_REQ * a, EVP_PKEY *b, const EVP_MD *c), (a, b, c))
LATE(LATE_CRYPTO, int, X509_REQ_verify, (X509_REQ * a, EVP_PKEY *b), (a, b))
LATE(LATE_CRYPTO, int, X509_STORE_add_cert, (X509_STORE * a, X509 *b), (a, b))
LATE(LATE_CRYPTO, int, X509_VERIFY_PARAM_set1_ip_asc, (X509_VERIFY_PARAM * a, const char *b),
     (a, b))
LATE(LATE_CRYPTO, int, X509_add_ext, (X509 * a, X509_EXTENSION *b, int c), (a, b, c))
LATE(LATE_CRYPTO, int, X509_check_issued, (X509 * a, X509 *b), (a, b))
LATE(LATE_CRYPTO, int, X509_cmp_current_time, (const ASN1_TIME *a), (a))
LATE(LATE_CRYPTO, int, X509_digest, (const X509 *a, const EVP_MD *b, unsigned char *c, unsigned *d),
     (a, b, c, d))
LATE(LATE_CRYPTO, void, X509_free, (X509 * a), (a))
LATE(LATE_CRYPTO, const ASN1_TIME *, X509_get0_notAfter, (const X509 *a), (a))
LATE(LATE_CRYPTO, EVP_PKEY *, X509_get0_pubkey, (const X509 *a), (a))
LATE(LATE_CRYPTO, const ASN1_INTEGER *, X509_get0_serialNumber, (const X509 *a), (a))
LATE(LATE_CRYPTO, void *, X509_get_ext_d2i, (const X509 *a, int b, int *c, int *d), (a, b, c, d))
LATE(LATE_CRYPTO, uint32_t, X509_get_extended_key_usage, (X509 * a), (a))
LATE(LATE_CRYPTO, ASN1_INTEGER *, X509_get_serialNumber, (X509 * a), (a))
LATE(LATE_CRYPTO, X509_NAME *, X509_get_subject_name, (const X509 *a), (a))
LATE(LATE_CRYPTO, ASN1_TIME *, X509_getm_notAfter, (const X509 *a), (a))
LATE(LATE_CRYPTO, ASN1_TIME *, X509_getm_notBefore, (const X509 *a), (a))
LATE(LATE_CRYPTO, ASN1_TIME *, X509_gmtime_adj, (ASN1_TIME * a, long b), (a, b))
LATE(LATE_CRYPTO, X509 *, X509_new, (void), ())
LATE(LATE_CRYPTO, int, X509_set_issuer_name, (X509 * a, const X509_NAME *b), (a, b))
LATE(LATE_CRYPTO, int, X509_set_pubkey, (X509 * a, EVP_PKEY *b), (a, b))
LATE(LATE_CRYPTO, int, X509_set_subject_name, (X509 * a, const X509_NAME *b), (a, b))
LATE(LATE_CRYPTO, int, X509_set_version, (X509 * a, long b), (a, b))
LATE(LATE_CRYPTO, int, X509_sign, (X509 * a, EVP_PKEY *b, const EVP_MD *c), (a, b, c))
LATE(LATE_CRYPTO, ASN1_TIME *, X509_time_adj_ex, (ASN1_TIME * a, int b, long c, time_t *d),
     (a, b, c, d))
LATE(LATE_CRYPTO, int, X509_verify, (X509 * a, EVP_PKEY *b), (a, b))
LATE(LATE_CRYPTO, const char *, X509_verify_cert_error_string, (long a), (a))
