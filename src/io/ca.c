/*
 * ca: the cluster's own certificate authority. It makes itself, signs requests of nodes, relays and
 * the server, and reads of certificates what the rest needs to know. Keys never leave this file but
 * as text of PEM.
 */
#include "myriad/io/ca.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * A request comes from outside, before anybody is known: its size is limited before it is parsed. A
 * common name has at most 64 characters by X.509.
 */
enum { CSR_MAX = 16 << 10, SERIAL_BYTES = 16, NAME_MAX_BYTES = 64 };

static void free_bio(BIO **bio)
{
    BIO_free(*bio);
}

static void free_key(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void free_certificate(X509 **certificate)
{
    X509_free(*certificate);
}

static void free_request(X509_REQ **request)
{
    X509_REQ_free(*request);
}

/* What OpenSSL says of its own accord, in one line. */
static int failed(struct myr_err *err, const char *what)
{
    char text[160];
    /* The oldest of the list, which is the cause; the rest is dropped. */
    unsigned long code = ERR_get_error();
    ERR_error_string_n(code, text, sizeof(text));
    ERR_clear_error();
    return myr_err_set(err, MYR_EINVAL, "%s: %s", what, code ? text : "failed");
}

/* Appends what was written to a BIO in memory. */
static void take(BIO *bio, struct myr_buf *ret)
{
    char *data;
    long size = BIO_get_mem_data(bio, &data);
    MYR_ASSERT(size > 0); /* something was written before */
    myr_buf_put(ret, data, (size_t)size);
}

/* NULL where there is no randomness or no memory. */
static EVP_PKEY *new_key(void)
{
    return EVP_EC_gen("P-256");
}

static int put_key(EVP_PKEY *key, struct myr_buf *ret, struct myr_err *err)
{
    MYR_ASSERT(key); /* a request was made with it, or a certificate */
    MYR_CLEANUP(free_bio) BIO *bio = BIO_new(BIO_s_mem());
    if (!bio || !PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL)) {
        return failed(err, "writing a key");
    }
    take(bio, ret);
    return MYR_OK;
}

static int put_certificate(X509 *certificate, struct myr_buf *ret, struct myr_err *err)
{
    MYR_ASSERT(certificate);
    MYR_CLEANUP(free_bio) BIO *bio = BIO_new(BIO_s_mem());
    if (!bio || !PEM_write_bio_X509(bio, certificate)) {
        return failed(err, "writing a certificate");
    }
    take(bio, ret);
    return MYR_OK;
}

/* The first certificate of the text, the caller's to free; NULL where there is none. */
static X509 *get_certificate(struct myr_str pem)
{
    MYR_CLEANUP(free_bio) BIO *bio = BIO_new_mem_buf(pem.data, (int)pem.len);
    return bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
}

/* The common name alone: nothing else of a subject is looked at anywhere. */
static bool set_name(X509_NAME *name, const char *text)
{
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)text, -1,
                                      -1, 0) == 1;
}

/* One extension, in the words of OpenSSL's configuration; "hash" and its like need the context. */
static bool extend(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    MYR_ASSERT(certificate && issuer && value[0]);
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool ok = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

/* A random number of 127 bits: serials are never given twice, and nobody has to count them. */
static bool set_serial(X509 *certificate)
{
    unsigned char bytes[SERIAL_BYTES];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1) {
        return false;
    }
    /* The top bit off keeps the number positive, the next one on keeps all serials as long. */
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);
    MYR_ASSERT(bytes[0] >= 0x40 && bytes[0] < 0x80);
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return ok;
}

/* Five minutes ago: clocks of a young cluster are not yet together. */
static bool set_times(X509 *certificate, uint32_t days)
{
    MYR_ASSERT(days <= 100 * 366); /* far from where an int of seconds or days ends */
    return X509_gmtime_adj(X509_getm_notBefore(certificate), -300) &&
           X509_time_adj_ex(X509_getm_notAfter(certificate), (int)days, 0, NULL);
}

int myr_io_ca_create(const char *name, uint32_t days, struct myr_buf *ret_certificate,
                     struct myr_buf *ret_key, struct myr_err *err)
{
    MYR_ASSERT(days > 0 && ret_certificate != ret_key); /* a secret is not written beside it */
    MYR_CLEANUP(free_key) EVP_PKEY *key = new_key();
    MYR_CLEANUP(free_certificate) X509 *ca = X509_new();
    bool ok = key && ca && X509_set_version(ca, X509_VERSION_3) && set_serial(ca) &&
              set_times(ca, days) && set_name(X509_get_subject_name(ca), name) &&
              X509_set_issuer_name(ca, X509_get_subject_name(ca)) && X509_set_pubkey(ca, key) &&
              /* It signs leaves and no authority below itself. */
              extend(ca, ca, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
              extend(ca, ca, NID_key_usage, "critical,keyCertSign,cRLSign") &&
              extend(ca, ca, NID_subject_key_identifier, "hash") &&
              X509_sign(ca, key, EVP_sha256());
    if (!ok) {
        return failed(err, "making a certificate authority");
    }
    MYR_TRY(put_certificate(ca, ret_certificate, err));
    return put_key(key, ret_key, err);
}

/* Signed by its own key, which shows that who asks has it; 'key' NULL fails. */
static int put_request(const char *name, EVP_PKEY *key, struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(free_request) X509_REQ *request = X509_REQ_new();
    MYR_CLEANUP(free_bio) BIO *bio = BIO_new(BIO_s_mem());
    bool ok = key && request && bio && set_name(X509_REQ_get_subject_name(request), name) &&
              X509_REQ_set_pubkey(request, key) && X509_REQ_sign(request, key, EVP_sha256()) &&
              PEM_write_bio_X509_REQ(bio, request);
    if (!ok) {
        return failed(err, "making a request for a certificate");
    }
    take(bio, ret);
    return MYR_OK;
}

int myr_io_csr_create(const char *name, struct myr_buf *ret_key, struct myr_buf *ret_csr,
                      struct myr_err *err)
{
    MYR_ASSERT(ret_key != ret_csr); /* the request travels, the key never does */
    MYR_CLEANUP(free_key) EVP_PKEY *key = new_key();
    MYR_TRY(put_request(name, key, ret_csr, err));
    return put_key(key, ret_key, err);
}

/* For a key that stays, as the server's does when its certificate is renewed. */
int myr_io_csr_of(const char *name, struct myr_str key_text, struct myr_buf *ret_csr,
                  struct myr_err *err)
{
    MYR_CLEANUP(free_bio) BIO *bio = BIO_new_mem_buf(key_text.data, (int)key_text.len);
    MYR_CLEANUP(free_key)
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    return put_request(name, key, ret_csr, err);
}

/* The bytes of an address tell its family: 4 or 16 of them; others are no address. */
static void put_address(const ASN1_OCTET_STRING *address, struct myr_buf *ret)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (address->length == 4 || address->length == 16) {
        inet_ntop(address->length == 4 ? AF_INET : AF_INET6, address->data, text, sizeof(text));
        MYR_ASSERT(text[0]);
        myr_buf_printf(ret, "%sIP:%s", ret->len ? "," : "", text);
    }
}

/* DNS names and addresses; other kinds are none of ours. */
int myr_io_alt_names(struct myr_str certificate, struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(free_certificate) X509 *read = get_certificate(certificate);
    if (!read) {
        return failed(err, "reading a certificate");
    }
    MYR_ASSERT(ret->len == 0); /* the comma in front of a name tells that it is not the first */
    GENERAL_NAMES *names = X509_get_ext_d2i(read, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type == GEN_DNS) {
            myr_buf_printf(ret, "%sDNS:%.*s", ret->len ? "," : "", name->d.dNSName->length,
                           (const char *)name->d.dNSName->data);
        } else if (name->type == GEN_IPADD) {
            put_address(name->d.iPAddress, ret);
        }
    }
    GENERAL_NAMES_free(names);
    return MYR_OK;
}

/* The one common name of a request; names of nodes and nothing that could be taken for more. */
static int name_of(X509_REQ *request, char ret[NAME_MAX_BYTES + 1], struct myr_err *err)
{
    X509_NAME *subject = X509_REQ_get_subject_name(request);
    int length = X509_NAME_get_text_by_NID(subject, NID_commonName, ret, NAME_MAX_BYTES + 1);
    if (X509_NAME_entry_count(subject) != 1 || length < 1 || length >= NAME_MAX_BYTES ||
        strlen(ret) != (size_t)length) {
        return myr_err_set(err, MYR_EINVAL,
                           "the request asks for no name, or not for one alone of at most 63 "
                           "bytes");
    }
    for (const char *c = ret; *c; c++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._", *c)) {
            return myr_err_set(err, MYR_EINVAL,
                               "the request asks for a name with other characters than letters, "
                               "digits, '-', '.' and '_'");
        }
    }
    MYR_ASSERT(ret[0] && strlen(ret) < NAME_MAX_BYTES);
    return MYR_OK;
}

/* In hex, as stream.c reads it of a peer: the two are compared as text. */
static int put_serial(X509 *certificate, struct myr_buf *ret, struct myr_err *err)
{
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
    char *hex = number ? BN_bn2hex(number) : NULL;
    BN_free(number);
    if (!hex) {
        return failed(err, "reading a serial number");
    }
    MYR_ASSERT(strlen(hex) == (size_t)2 * SERIAL_BYTES); /* set_serial() made it so */
    myr_buf_puts(ret, hex);
    OPENSSL_free(hex);
    return MYR_OK;
}

/*
 * Of the request only name and key are taken: what it asks for in extensions counts for nothing. A
 * server's certificate serves it as a client too; a node's never makes it a server.
 */
static bool sign_it(const struct myr_io_sign *sign, X509 *made, X509 *ca, EVP_PKEY *ca_key,
                    X509_REQ *request)
{
    EVP_PKEY *key = X509_REQ_get0_pubkey(request);
    MYR_ASSERT(made && ca && ca_key && made != ca);
    const char *use = sign->server ? "serverAuth,clientAuth" : "clientAuth";
    return key && X509_set_version(made, X509_VERSION_3) && set_serial(made) &&
           set_times(made, sign->days) &&
           X509_set_subject_name(made, X509_REQ_get_subject_name(request)) &&
           X509_set_issuer_name(made, X509_get_subject_name(ca)) && X509_set_pubkey(made, key) &&
           extend(made, ca, NID_basic_constraints, "critical,CA:FALSE") &&
           extend(made, ca, NID_key_usage, "critical,digitalSignature") &&
           extend(made, ca, NID_ext_key_usage, use) &&
           (!sign->alt_names || extend(made, ca, NID_subject_alt_name, sign->alt_names)) &&
           X509_sign(made, ca_key, EVP_sha256());
}

/* Everything is checked before the authority's key is read. */
int myr_io_ca_sign(const struct myr_io_sign *sign, struct myr_str csr,
                   struct myr_buf *ret_certificate, struct myr_buf *ret_name,
                   struct myr_buf *ret_serial, struct myr_err *err)
{
    char name[NAME_MAX_BYTES + 1];
    MYR_ASSERT(ret_certificate != ret_name && ret_certificate != ret_serial);
    MYR_ASSERT(!ret_name || ret_name != ret_serial);
    if (csr.len > CSR_MAX) {
        return myr_err_set(err, MYR_ERANGE, "the request is %zu bytes long, at most %d are taken",
                           csr.len, CSR_MAX);
    }
    MYR_CLEANUP(free_bio) BIO *bio = BIO_new_mem_buf(csr.data, (int)csr.len);
    MYR_CLEANUP(free_request)
    X509_REQ *request = bio ? PEM_read_bio_X509_REQ(bio, NULL, NULL, NULL) : NULL;
    /* Who does not hold the key must not get a certificate for it. */
    if (!request || X509_REQ_verify(request, X509_REQ_get0_pubkey(request)) != 1) {
        return failed(err, "this is no request for a certificate that its own key has signed");
    }
    MYR_TRY(name_of(request, name, err));
    if (sign->name && strcmp(sign->name, name) != 0) {
        return myr_err_set(err, MYR_EINVAL, "the request asks for the name '%s', not for '%s'",
                           name, sign->name);
    }
    MYR_CLEANUP(free_certificate) X509 *ca = get_certificate(sign->ca_certificate);
    MYR_CLEANUP(free_bio)
    BIO *key_bio = BIO_new_mem_buf(sign->ca_key.data, (int)sign->ca_key.len);
    MYR_CLEANUP(free_key)
    EVP_PKEY *ca_key = key_bio ? PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL) : NULL;
    MYR_CLEANUP(free_certificate) X509 *made = X509_new();
    if (!ca || !ca_key || !made) {
        return failed(err, "reading the authority's certificate and key");
    }
    if (!sign_it(sign, made, ca, ca_key, request)) {
        return failed(err, "signing a certificate");
    }
    if (ret_name) {
        myr_buf_puts(ret_name, name);
    }
    if (ret_serial) {
        MYR_TRY(put_serial(made, ret_serial, err));
    }
    return put_certificate(made, ret_certificate, err);
}

/* 'ret' has room for two letters each and the NUL. */
static void put_hex(const unsigned char *bytes, size_t count, char *ret)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
    }
    MYR_ASSERT(count > 0 && strlen(ret) == 2 * count);
}

/* SHA-256 over the certificate itself, not over its text. */
int myr_io_fingerprint(struct myr_str certificate, char ret[65], struct myr_err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size;
    MYR_CLEANUP(free_certificate) X509 *read = get_certificate(certificate);
    if (!read || X509_digest(read, EVP_sha256(), digest, &size) != 1) {
        return failed(err, "reading a certificate");
    }
    MYR_ASSERT(size == 32);
    put_hex(digest, size, ret);
    return MYR_OK;
}

/* Seconds from now until it runs out, below 0 when it has. */
int myr_io_valid_s(struct myr_str certificate, int64_t *ret, struct myr_err *err)
{
    int days, seconds;
    MYR_CLEANUP(free_certificate) X509 *read = get_certificate(certificate);
    if (!read || ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(read)) != 1) {
        return failed(err, "reading a certificate");
    }
    *ret = (int64_t)days * 86400 + seconds;
    return MYR_OK;
}

int myr_io_secret(uint32_t bytes, struct myr_buf *ret, struct myr_err *err)
{
    unsigned char random[64];
    char hex[2 * sizeof(random) + 1];
    MYR_ASSERT(bytes >= 8 && bytes <= sizeof(random));
    if (RAND_bytes(random, (int)bytes) != 1) {
        return failed(err, "drawing a secret");
    }
    put_hex(random, bytes, hex);
    myr_buf_puts(ret, hex);
    /* Nothing of it stays behind on the stack; a plain memset would be optimised away. */
    OPENSSL_cleanse(random, sizeof(random));
    OPENSSL_cleanse(hex, sizeof(hex));
    return MYR_OK;
}

void myr_io_digest(struct myr_str text, char ret[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size;
    int done = EVP_Digest(text.data, text.len, digest, &size, EVP_sha256(), NULL);
    MYR_ASSERT(done == 1 && size == 32);
    put_hex(digest, size, ret);
}
