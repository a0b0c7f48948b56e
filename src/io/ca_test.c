#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/crypto.h>

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
    struct myr_buf ca = {0}, ca_key = {0}, key = {0}, csr = {0}, old = {0}, read = {0}, again = {0},
                   fresh = {0}, none = {0};
    struct myr_err err = {0};
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

/* Libraries keep some memory for good; whatever is done a second time may take no more. */
static void nothing_more_is_kept_the_second_time(void **state)
{
    static void (*const tests[])(void **) = {
        a_certificate_is_renewed_with_its_names,
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
        cmocka_unit_test(nothing_more_is_kept_the_second_time),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    OPENSSL_cleanup();
    return failed;
}
