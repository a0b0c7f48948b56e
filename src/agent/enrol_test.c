/* Tokens as people hand them over, and the papers that they are exchanged for. */
#include "enrol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "disk/files.h"
#include "leaks.h"

/* OpenSSL keeps its tables for the whole process. */
long myr_leaks_allowed = 10000;

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void gives(const char *text, const char *secret)
{
    struct enrol_token token;
    struct myr_err err = {};
    if (enrol_token_read(myr_str_from(text), &token, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    assert_string_equal(token.secret, secret);
    assert_string_equal(token.fingerprint, HEX64);
}

static void fails(const char *text, const char *message)
{
    struct enrol_token token;
    struct myr_err err = {};
    assert_int_equal(enrol_token_read(myr_str_from(text), &token, &err), MYR_EINVAL);
    assert_string_equal(err.message, message);
}

static void tokens(void **state)
{
    (void)state;
    static const char shape[] = "no token: SECRET@FINGERPRINT with 64 hex digits is expected";
    static const char digits[] = "no token: its fingerprint is not all hex digits";
    char text[400];
    gives("s@" HEX64, "s");
    gives("abc@" HEX64 "\n", "abc");
    gives("abc@" HEX64 " \n \n", "abc");
    gives("abc@0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", "abc");
    gives("the token is\n\tabc@" HEX64 "\nand one more word\n", "abc");
    fails("", shape);
    fails("abc", shape);
    fails("@" HEX64, shape);
    fails("abc@", shape);
    fails("abc@" HEX64 "0", shape);
    fails("abc@0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde", shape);
    fails("abc@0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeg", digits);
    fails("abc@g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", digits);
    for (size_t len = 255; len <= 256; len++) { /* the longest secret, and one more */
        char secret[257] = {};
        memset(secret, 's', len);
        snprintf(text, sizeof(text), "%s@" HEX64, secret);
        if (len == 255) {
            gives(text, secret);
        } else {
            fails(text, shape);
        }
    }
}

static void one_rename_makes_the_pair_count(void **state)
{
    (void)state;
    char folder[] = "/tmp/myr-enrol-XXXXXX";
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca_cert = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca_key = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf cert = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf serial = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    struct myr_io_tls *tls = NULL;
    assert_non_null(mkdtemp(folder));
    assert_false(enrol_is_done(folder));
    assert_false(enrol_is_due(folder));
    assert_true(enrol_tls(folder, &tls, &err) < 0);
    assert_int_equal(myr_io_ca_create("test", 10, &ca_cert, &ca_key, &err), MYR_OK);
    assert_int_equal(enrol_ask(folder, "n1", &csr, &err), MYR_OK);
    assert_true(file_is_there(folder, "key.new"));
    struct myr_wire_cert answer = {.certificate = MYR_STR("no certificate"),
                                   .ca = {ca_cert.data, ca_cert.len}};
    assert_int_equal(enrol_take(folder, &answer, &err), MYR_EINVAL);
    assert_string_equal(err.message, "the server's answer is no valid certificate");
    assert_false(enrol_is_done(folder));
    struct myr_io_sign sign = {.ca_certificate = {ca_cert.data, ca_cert.len},
                               .ca_key = {ca_key.data, ca_key.len},
                               .days = 3,
                               .name = "n1"};
    assert_int_equal(
        myr_io_ca_sign(&sign, (struct myr_str){csr.data, csr.len}, &cert, &name, &serial, &err),
        MYR_OK);
    answer.certificate = (struct myr_str){cert.data, cert.len};
    assert_int_equal(enrol_take(folder, &answer, &err), MYR_OK);
    assert_true(enrol_is_done(folder));
    assert_false(file_is_there(folder, "key.new"));
    assert_false(enrol_is_due(folder));
    assert_int_equal(enrol_tls(folder, &tls, &err), MYR_OK);
    myr_io_tls_free(tls);
    assert_int_equal(enrol_tls_server(folder, &tls, &err), MYR_OK);
    myr_io_tls_free(tls);
    /* The life that it had tells when a third of it is left. */
    assert_int_equal(file_get(folder, "node.pem", &text, &err), MYR_OK);
    uint64_t life_s = 0;
    assert_true(line_u64((struct myr_str){text.data, text.len}, "life_s", INT64_MAX, &life_s));
    assert_true(life_s > 2 * 86400 && life_s <= 3 * 86400);
    const char *rest = strchr(text.data, '\n') + 1;
    static const struct {
        const char *life;
        bool due;
    } lives[] = {{"life_s 600000", false}, {"life_s 900000", true}, {"nothing", false}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lives); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf other = {};
        myr_buf_printf(&other, "%s\n%s", lives[i].life, rest);
        assert_int_equal(
            file_put(folder, "node.pem", (struct myr_str){other.data, other.len}, &err), MYR_OK);
        assert_int_equal(enrol_is_due(folder), lives[i].due);
    }
    /* Another answer needs another request: its key is gone. */
    assert_true(enrol_take(folder, &answer, &err) < 0);
    folder_remove(folder);
}

/* PEM's lines need an end between two texts, and servers need not put one behind the last. */
static void a_pair_is_read_whatever_the_certificate_ends_with(void **state)
{
    (void)state;
    static const char *const ends[] = {"\n", "", "\n\n", "\r\n"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca_key = {};
    struct myr_err err = {};
    assert_int_equal(myr_io_ca_create("test", 10, &ca, &ca_key, &err), MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        char folder[] = "/tmp/myr-enrol-XXXXXX";
        MYR_CLEANUP(myr_buf_done) struct myr_buf csr = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf cert = {};
        struct myr_io_tls *tls = NULL;
        assert_non_null(mkdtemp(folder));
        assert_int_equal(enrol_ask(folder, "n1", &csr, &err), MYR_OK);
        struct myr_io_sign sign = {
            .ca_certificate = {ca.data, ca.len}, .ca_key = {ca_key.data, ca_key.len}, .days = 3};
        struct myr_str asked = {csr.data, csr.len};
        assert_int_equal(myr_io_ca_sign(&sign, asked, &cert, NULL, NULL, &err), MYR_OK);
        assert_int_equal(cert.data[cert.len - 1], '\n');
        cert.len--;
        myr_buf_puts(&cert, ends[i]);
        struct myr_wire_cert answer = {.certificate = {cert.data, cert.len},
                                       .ca = {ca.data, ca.len}};
        assert_int_equal(enrol_take(folder, &answer, &err), MYR_OK);
        assert_true(enrol_is_done(folder));
        if (enrol_tls(folder, &tls, &err) < 0) {
            fail_msg("%zu: %s", i, err.message);
        }
        myr_io_tls_free(tls);
        folder_remove(folder);
    }
}

/* Another server may answer where nobody does; what this machine cannot do, none can. */
static void what_keeps_it_from_asking_is_told(void **state)
{
    (void)state;
    struct enrol_token token = {.secret = "s", .fingerprint = HEX64};
    char folder[] = "/tmp/myr-enrol-XXXXXX";
    long before = 0;
    assert_non_null(mkdtemp(folder));
    for (uint32_t i = 0; i < 3; i++) { /* what is done again takes no more memory */
        struct myr_err err = {};
        before = i == 2 ? myr_leaks_now() : 0;
        assert_int_equal(enrol_run("127.0.0.1", 1, "/no/such", "n1", &token, &err), MYR_ENOENT);
        assert_string_equal(err.message,
                            "/no/such/key.new.tmp: cannot write: No such file or directory");
        assert_int_equal(enrol_run("127.0.0.1", 1, folder, "n1", &token, &err), MYR_EIO);
        assert_string_equal(err.message, "127.0.0.1:1: connection refused");
    }
    assert_int_equal(myr_leaks_now(), before);
    token.fingerprint[63] = '\0';
    struct myr_err err = {};
    assert_int_equal(enrol_run("127.0.0.1", 1, folder, "n1", &token, &err), MYR_EINVAL);
    assert_string_equal(err.message, "a fingerprint has 64 hex digits, not 63");
    folder_remove(folder);
    assert_true(folder_is_gone(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens),
        cmocka_unit_test(one_rename_makes_the_pair_count),
        cmocka_unit_test(a_pair_is_read_whatever_the_certificate_ends_with),
        cmocka_unit_test(what_keeps_it_from_asking_is_told),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    uv_library_shutdown();
    return failed;
}
