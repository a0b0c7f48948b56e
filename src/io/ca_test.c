#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "leaks.h"
#include "myriad/io/ca.h"

/* OpenSSL keeps some for the whole process; the sanitizer build finds no leak. */
long myr_leaks_allowed = 3;

static struct myr_str text_of(const struct myr_buf *buf)
{
    return (struct myr_str){buf->data, buf->len};
}

/* As a server renews its own: the same key, the same names, a new end. */
static void a_certificate_is_renewed_with_its_names(void **state)
{
    static const char names[] = "DNS:head,DNS:localhost,IP:127.0.0.1,IP:::1,IP:10.0.0.7";
    struct myr_buf ca = {}, ca_key = {}, key = {}, csr = {}, old = {}, read = {}, again = {},
                   fresh = {}, none = {};
    struct myr_err err = {};
    int64_t left_s = 0;
    (void)state;
    assert_int_equal(myr_io_ca_create("lab", 30, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create("myriad-server", &key, &csr, &err), MYR_OK);
    struct myr_io_sign sign = {.ca_certificate = text_of(&ca),
                               .ca_key = text_of(&ca_key),
                               .days = 10,
                               .server = true,
                               .alt_names = names};
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&csr), &old, NULL, NULL, &err), MYR_OK);
    assert_int_equal(myr_io_alt_names(text_of(&old), &read, &err), MYR_OK);
    assert_string_equal(read.data, names);
    assert_int_equal(myr_io_csr_of("myriad-server", text_of(&key), &again, &err), MYR_OK);
    sign.days = 20;
    sign.alt_names = read.data;
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&again), &fresh, NULL, NULL, &err), MYR_OK);
    assert_int_equal(myr_io_valid_s(text_of(&fresh), &left_s, &err), MYR_OK);
    assert_true(left_s > 19 * 86400 && left_s <= 20 * 86400);
    /* The authority's own has none; what is no certificate or key is said to be none. */
    assert_int_equal(myr_io_alt_names(text_of(&ca), &none, &err), MYR_OK);
    assert_int_equal(none.len, 0);
    assert_int_equal(myr_io_alt_names(MYR_STR("x"), &none, &err), MYR_EINVAL);
    assert_int_equal(myr_io_csr_of("a", MYR_STR("x"), &none, &err), MYR_EINVAL);
    struct myr_buf *all[] = {&ca, &ca_key, &key, &csr, &old, &read, &again, &fresh, &none};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        myr_buf_done(all[i]);
    }
}

static X509 *read_certificate(const struct myr_buf *pem)
{
    BIO *bio = BIO_new_mem_buf(pem->data, (int)pem->len);
    X509 *read = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(read);
    return read;
}

/* Bytes that are no address, in a certificate that somebody else made: it has no such name. */
static void addresses_have_four_bytes_or_sixteen(void **state)
{
    (void)state;
    static const unsigned char bytes[17] = {192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9};
    struct myr_buf ca = {}, ca_key = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create("lab", 30, &ca, &ca_key, &err), MYR_OK);
    for (int length = 0; length <= (int)sizeof(bytes); length++) {
        X509 *made = read_certificate(&ca);
        GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_OCTET_STRING *address = ASN1_OCTET_STRING_new();
        BIO *bio = BIO_new(BIO_s_mem());
        char *data;
        assert_int_equal(ASN1_OCTET_STRING_set(address, bytes, length), 1);
        GENERAL_NAME_set0_value(name, GEN_IPADD, address);
        assert_true(sk_GENERAL_NAME_push(names, name) > 0);
        assert_int_equal(X509_add1_ext_i2d(made, NID_subject_alt_name, names, 0, 0), 1);
        assert_true(i2d_re_X509_tbs(made, NULL) > 0); /* else it is written as it was read */
        assert_int_equal(PEM_write_bio_X509(bio, made), 1);
        size_t size = (size_t)BIO_get_mem_data(bio, &data);
        struct myr_buf told = {};
        assert_int_equal(myr_io_alt_names((struct myr_str){data, size}, &told, &err), MYR_OK);
        assert_string_equal(told.data ? told.data : "", length == 4    ? "IP:192.0.2.1"
                                                        : length == 16 ? "IP:c000:201::1"
                                                                       : "");
        myr_buf_done(&told);
        BIO_free(bio);
        GENERAL_NAMES_free(names);
        X509_free(made);
    }
    myr_buf_done(&ca);
    myr_buf_done(&ca_key);
}

static void expect_name(const X509_NAME *name, const char *text)
{
    char found[100];
    assert_int_equal(X509_NAME_entry_count(name), 1);
    assert_true(X509_NAME_get_text_by_NID(name, NID_commonName, found, sizeof(found)) > 0);
    assert_string_equal(found, text);
}

/* Valid since five minutes, and for so many days from now, but for the time that the test takes. */
static void expect_times(const X509 *made, int days)
{
    int from_days, from_s, to_days, to_s;
    assert_int_equal(ASN1_TIME_diff(&from_days, &from_s, X509_get0_notBefore(made), NULL), 1);
    assert_int_equal(ASN1_TIME_diff(&to_days, &to_s, NULL, X509_get0_notAfter(made)), 1);
    assert_in_range(from_days * 86400 + from_s, 300, 300 + 600);
    assert_in_range(to_days * 86400 + to_s, days * 86400 - 600, days * 86400);
}

/* Of 127 bits, so that two are never the same. */
static void expect_serial(const X509 *made, const char *told)
{
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(made), NULL);
    assert_int_equal(BN_num_bits(number), 127);
    if (told) {
        char *hex = BN_bn2hex(number);
        assert_string_equal(hex, told);
        OPENSSL_free(hex);
    }
    BN_free(number);
}

/* What others would hold a certificate against, read by OpenSSL and not by us. */
static void certificates_are_for_one_use(void **state)
{
    (void)state;
    struct myr_buf ca = {}, ca_key = {}, key = {}, csr = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create("lab", 30, &ca, &ca_key, &err), MYR_OK);
    assert_int_equal(myr_io_csr_create("node-1.a_B", &key, &csr, &err), MYR_OK);
    X509 *top = read_certificate(&ca);
    assert_int_equal(X509_get_version(top), X509_VERSION_3);
    assert_int_equal(X509_check_ca(top), 1);
    assert_int_equal(X509_get_pathlen(top), 0);
    assert_int_equal(X509_get_key_usage(top), KU_KEY_CERT_SIGN | KU_CRL_SIGN);
    assert_non_null(X509_get0_subject_key_id(top));
    assert_int_equal(X509_verify(top, X509_get0_pubkey(top)), 1);
    expect_name(X509_get_subject_name(top), "lab");
    expect_name(X509_get_issuer_name(top), "lab");
    expect_times(top, 30);
    expect_serial(top, NULL);
    for (int server = 0; server < 2; server++) {
        struct myr_buf text = {}, name = {}, serial = {}, names = {};
        struct myr_io_sign sign = {.ca_certificate = text_of(&ca),
                                   .ca_key = text_of(&ca_key),
                                   .days = 7,
                                   .server = server,
                                   .name = server ? "node-1.a_B" : NULL};
        assert_int_equal(myr_io_ca_sign(&sign, text_of(&csr), &text, &name, &serial, &err), MYR_OK);
        X509 *made = read_certificate(&text);
        assert_string_equal(name.data, "node-1.a_B");
        assert_int_equal(X509_get_version(made), X509_VERSION_3);
        assert_int_equal(X509_check_ca(made), 0);
        assert_int_equal(X509_get_key_usage(made), KU_DIGITAL_SIGNATURE);
        assert_int_equal(X509_get_extended_key_usage(made),
                         server ? XKU_SSL_SERVER | XKU_SSL_CLIENT : XKU_SSL_CLIENT);
        assert_int_equal(X509_verify(made, X509_get0_pubkey(top)), 1);
        assert_int_equal(X509_verify(made, X509_get0_pubkey(made)), 0);
        ERR_clear_error(); /* it keeps what went wrong, and this was meant to */
        expect_name(X509_get_subject_name(made), "node-1.a_B");
        expect_name(X509_get_issuer_name(made), "lab");
        expect_times(made, 7);
        expect_serial(made, serial.data);
        assert_int_equal(myr_io_alt_names(text_of(&text), &names, &err), MYR_OK);
        assert_int_equal(names.len, 0);
        char told[65], wanted[65];
        unsigned char digest[EVP_MAX_MD_SIZE];
        assert_int_equal(myr_io_fingerprint(text_of(&text), told, &err), MYR_OK);
        assert_int_equal(X509_digest(made, EVP_sha256(), digest, NULL), 1);
        for (size_t i = 0; i < 32; i++) {
            snprintf(wanted + 2 * i, 3, "%02x", digest[i]);
        }
        assert_string_equal(told, wanted);
        X509_free(made);
        struct myr_buf *all[] = {&text, &name, &serial, &names};
        for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
            myr_buf_done(all[i]);
        }
    }
    X509_free(top);
    struct myr_buf *all[] = {&ca, &ca_key, &key, &csr};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        myr_buf_done(all[i]);
    }
}

/* Nothing is signed that is not meant, and why is said. */
static void what_is_not_meant_is_not_signed(void **state)
{
    (void)state;
    struct myr_buf ca = {}, ca_key = {}, made = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create("lab", 30, &ca, &ca_key, &err), MYR_OK);
    struct myr_io_sign sign = {
        .ca_certificate = text_of(&ca), .ca_key = text_of(&ca_key), .days = 7};
    char longest[80];
    memset(longest, 'n', sizeof(longest));
    for (size_t length = 62; length <= 64; length++) {
        struct myr_buf key = {}, csr = {};
        longest[length] = '\0';
        assert_int_equal(myr_io_csr_create(longest, &key, &csr, &err), MYR_OK);
        longest[length] = 'n';
        int rc = myr_io_ca_sign(&sign, text_of(&csr), &made, NULL, NULL, &err);
        assert_int_equal(rc, length < 64 ? MYR_OK : MYR_EINVAL);
        myr_buf_done(&key);
        myr_buf_done(&csr);
    }
    struct myr_buf key = {}, csr = {}, other = {}, other_key = {};
    assert_int_equal(myr_io_csr_create("a", &key, &csr, &err), MYR_OK);
    sign.name = "b";
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&csr), &made, NULL, NULL, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "the name 'a', not for 'b'"));
    sign.name = "a";
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&csr), &made, NULL, NULL, &err), MYR_OK);
    /* More bytes than any request has. */
    myr_buf_put(&other, csr.data, csr.len);
    while (other.len <= 16384) {
        myr_buf_putc(&other, '\n');
    }
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&other), &made, NULL, NULL, &err), MYR_ERANGE);
    other.len = 16384;
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&other), &made, NULL, NULL, &err), MYR_OK);
    assert_int_equal(myr_io_ca_sign(&sign, MYR_STR("x"), &made, NULL, NULL, &err), MYR_EINVAL);
    /* An authority whose papers are none; a name that is none. */
    sign.ca_key = MYR_STR("x");
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&csr), &made, NULL, NULL, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "the authority's certificate and key"));
    sign.ca_key = text_of(&ca_key);
    sign.ca_certificate = MYR_STR("x");
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&csr), &made, NULL, NULL, &err), MYR_EINVAL);
    sign.ca_certificate = text_of(&ca);
    sign.alt_names = "IP:here";
    assert_int_equal(myr_io_ca_sign(&sign, text_of(&csr), &made, NULL, NULL, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "signing a certificate"));
    int64_t left_s;
    char told[65];
    assert_int_equal(myr_io_valid_s(MYR_STR("x"), &left_s, &err), MYR_EINVAL);
    assert_int_equal(myr_io_fingerprint(MYR_STR("x"), told, &err), MYR_EINVAL);
    /* OpenSSL's own words, and nothing of them is left for whoever asks next. */
    assert_non_null(strstr(err.message, "reading a certificate: error:"));
    assert_non_null(strstr(err.message, ":no start line"));
    assert_int_equal(ERR_peek_error(), 0);
    struct myr_buf *all[] = {&ca, &ca_key, &made, &key, &csr, &other, &other_key};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        myr_buf_done(all[i]);
    }
}

/*
 * Two hex digits for each byte that was asked for, from the fewest to the most; each of these is
 * drawn: of many secrets no place always has the same.
 */
static void secrets_are_drawn_to_the_last_byte(void **state)
{
    static const uint32_t sizes[] = {8, 9, 16, 24, 31, 32, 63, 64};
    enum { DRAWS = 40 };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        struct myr_buf first = {};
        bool differs[128] = {};
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            struct myr_buf secret = {};
            struct myr_err err = {};
            myr_buf_puts(&secret, "behind ");
            assert_int_equal(myr_io_secret(sizes[i], &secret, &err), MYR_OK);
            assert_memory_equal(secret.data, "behind ", 7); /* it is put behind what is there */
            assert_int_equal(secret.len, 7 + 2 * sizes[i]);
            assert_int_equal(strspn(secret.data + 7, "0123456789abcdef"), 2 * sizes[i]);
            myr_buf_puts(&first, draw == 0 ? secret.data : "");
            for (uint32_t k = 0; k < 2 * sizes[i]; k++) {
                differs[k] = differs[k] || secret.data[7 + k] != first.data[7 + k];
            }
            myr_buf_done(&secret);
        }
        for (uint32_t k = 0; k < 2 * sizes[i]; k++) { /* the same forty times is one in 16^39 */
            assert_true(differs[k]);
        }
        myr_buf_done(&first);
    }
}

/* Libraries keep some memory for good; whatever is done a second time may take no more. */
static void nothing_more_is_kept_the_second_time(void **state)
{
    static void (*const tests[])(void **) = {
        a_certificate_is_renewed_with_its_names,
        certificates_are_for_one_use,
        what_is_not_meant_is_not_signed,
        secrets_are_drawn_to_the_last_byte,
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tests); i++) {
        tests[i](state);
        long before = myr_leaks_now();
        tests[i](state);
        if (myr_leaks_now() != before) {
            fail_msg("test %zu keeps %ld pieces more", i, myr_leaks_now() - before);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_is_renewed_with_its_names),
        cmocka_unit_test(addresses_have_four_bytes_or_sixteen),
        cmocka_unit_test(certificates_are_for_one_use),
        cmocka_unit_test(what_is_not_meant_is_not_signed),
        cmocka_unit_test(secrets_are_drawn_to_the_last_byte),
        cmocka_unit_test(nothing_more_is_kept_the_second_time),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    OPENSSL_cleanup();
    return failed;
}
