#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "myriad/base.h"

static void set_returns_its_code_and_keeps_the_message(void **state)
{
    (void)state;
    struct myr_err err = {.hint = "an old hint"};
    assert_int_equal(myr_err_set(&err, MYR_ERANGE, "rack '%s': %u nodes", "r7", 9U), MYR_ERANGE);
    assert_int_equal(err.code, MYR_ERANGE);
    assert_string_equal(err.message, "rack 'r7': 9 nodes");
    assert_string_equal(err.hint, "");
}

static void context_goes_in_front_and_the_code_stays(void **state)
{
    (void)state;
    struct myr_err err = {};
    (void)myr_err_set(&err, MYR_EINVAL, "9 nodes need 36 kW, the rack has 30 kW");
    myr_err_hint(&err, "spread them over %d racks", 2);
    assert_int_equal(myr_err_wrap(&err, "rack '%s'", "r7"), MYR_EINVAL);
    assert_int_equal(myr_err_wrap(&err, "%s:%d:%d", "cluster.yaml", 12, 5), MYR_EINVAL);
    assert_string_equal(err.message,
                        "cluster.yaml:12:5: rack 'r7': 9 nodes need 36 kW, the rack has 30 kW");
    assert_string_equal(err.hint, "spread them over 2 racks");
}

static void a_missing_err_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(myr_err_set(NULL, MYR_ENOENT, "nobody reads this"), MYR_ENOENT);
    assert_true(myr_err_wrap(NULL, "nor this") < 0);
    myr_err_hint(NULL, "nor this");
    errno = EACCES;
    assert_int_equal(myr_err_errno(NULL, "cannot open", "x"), MYR_EIO);
}

static void a_wrong_path_is_bad_input_and_a_failed_disk_is_the_environment(void **state)
{
    (void)state;
    struct myr_err err = {};
    errno = ENOENT;
    assert_int_equal(myr_err_errno(&err, "cannot open", "a.yaml"), MYR_ENOENT);
    assert_string_equal(err.message, "a.yaml: cannot open: No such file or directory");
    assert_int_equal(myr_err_exit_code(err.code), 2);
    errno = ENOSPC;
    assert_int_equal(myr_err_errno(&err, "cannot write", "b.csv"), MYR_EIO);
    assert_int_equal(myr_err_exit_code(err.code), 3);
}

static void long_text_is_cut_at_the_end(void **state)
{
    (void)state;
    char long_name[2 * MYR_ERR_MESSAGE_MAX];
    memset(long_name, 'n', sizeof(long_name));
    long_name[sizeof(long_name) - 1] = '\0';
    struct myr_err err = {};
    (void)myr_err_set(&err, MYR_EINVAL, "x%s", long_name);
    assert_int_equal(strlen(err.message), MYR_ERR_MESSAGE_MAX - 1);
    assert_int_equal(myr_err_wrap(&err, "spec.yaml:1:1"), MYR_EINVAL);
    assert_int_equal(strlen(err.message), MYR_ERR_MESSAGE_MAX - 1);
    assert_memory_equal(err.message, "spec.yaml:1:1: xnnn", 19);
    (void)myr_err_wrap(&err, "%s", long_name);
    assert_int_equal(strlen(err.message), MYR_ERR_MESSAGE_MAX - 1);
}

/* Three-byte characters from every starting column: the cut must fall between two of them. */
static void a_cut_never_splits_a_character(void **state)
{
    (void)state;
    const char *const glyphs[] = {"\xc3\xa9", "\xe4\xb8\x87", "\xf0\x9f\x96\xa7"};
    for (size_t g = 0; g < MYR_ARRAY_COUNT(glyphs); g++) {
        size_t width = strlen(glyphs[g]);
        for (size_t lead = 0; lead < 8; lead++) {
            struct myr_buf text = {};
            for (size_t i = 0; i < lead; i++) {
                myr_buf_putc(&text, 'x');
            }
            while (text.len < 2 * MYR_ERR_MESSAGE_MAX) {
                myr_buf_puts(&text, glyphs[g]);
            }
            struct myr_err err = {};
            (void)myr_err_set(&err, MYR_EINVAL, "%s", text.data);
            assert_int_equal((strlen(err.message) - lead) % width, 0);
            assert_true(strlen(err.message) + width >= MYR_ERR_MESSAGE_MAX);
            myr_err_hint(&err, "%s", text.data);
            assert_int_equal((strlen(err.hint) - lead) % width, 0);
            myr_buf_done(&text);
        }
    }
}

static void a_message_is_one_printable_line_whatever_it_quotes(void **state)
{
    struct myr_err err;
    (void)state;
    myr_err_set(&err, MYR_EINVAL, "no node '%s'", "a\nb\033[2J\177");
    myr_err_hint(&err, "see '%s'", "\r\t ~");
    assert_string_equal(err.message, "no node 'a?b?[2J?'");
    assert_string_equal(err.hint, "see '?? ~'");
    myr_err_wrap(&err, "%s", "f\x1f\x80");
    assert_string_equal(err.message, "f?\x80: no node 'a?b?[2J?'"); /* UTF-8 stays */
}

static void every_code_has_a_row_of_its_own(void **state)
{
    (void)state;
#define CHECK_ROW(name, value, exit_code, http, text)      \
    assert_int_equal(MYR_##name, value);                   \
    assert_true((value) < 0);                              \
    assert_string_equal(myr_err_name(value), #name);       \
    assert_int_equal(myr_err_exit_code(value), exit_code); \
    assert_int_equal(myr_err_http_status(value), http);
    MYR_ERRORS(CHECK_ROW)
#undef CHECK_ROW
    assert_string_equal(myr_err_name(MYR_OK), "OK");
    assert_int_equal(myr_err_exit_code(MYR_OK), 0);
    assert_int_equal(myr_err_http_status(MYR_OK), 200);
}

static void an_unknown_code_never_looks_like_success(void **state)
{
    (void)state;
    assert_string_equal(myr_err_name(-999), "EUNKNOWN");
    assert_int_equal(myr_err_exit_code(-999), 3);
    assert_int_equal(myr_err_http_status(-999), 500);
}

static void a_broken_invariant_stops_the_program_and_names_itself(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        MYR_ASSERT(1 + 1 == 3);
        _exit(0);
    }
    close(ends[1]);
    char text[512] = {};
    ssize_t got = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_true(got > 0);
    assert_non_null(strstr(text, "err_test.c"));
    assert_non_null(strstr(text, "broken invariant: 1 + 1 == 3"));
}

static uint32_t steps_made, steps_released;

static int step(int code)
{
    steps_made++;
    return code;
}

static void release(const uint32_t *held)
{
    steps_released += *held;
}

static int three_steps(int second)
{
    MYR_CLEANUP(release) uint32_t held = 5;
    (void)held;
    MYR_TRY(step(MYR_OK));
    MYR_TRY(step(second));
    return step(MYR_OK);
}

static void a_failed_step_leaves_at_once_with_its_code(void **state)
{
    (void)state;
    steps_made = steps_released = 0;
    assert_int_equal(three_steps(MYR_ECORRUPT), MYR_ECORRUPT);
    assert_int_equal(steps_made, 2);
    assert_int_equal(steps_released, 5);
    assert_int_equal(three_steps(1), MYR_OK); /* only negative codes are failures */
    assert_int_equal(steps_made, 5);
    assert_int_equal(steps_released, 10);
}

/* What is behind a text that fits is nobody's business, whatever it looks like. */
static void only_what_was_cut_is_mended(void **state)
{
    (void)state;
    struct myr_err err;
    memset(&err, 0xC3, sizeof(err)); /* the first byte of a character of two */
    assert_int_equal(myr_err_set(&err, MYR_EINVAL, "short"), MYR_EINVAL);
    assert_string_equal(err.message, "short");
    assert_int_equal((unsigned char)err.message[sizeof(err.message) - 2], 0xC3);
    assert_string_equal(err.hint, "");
    myr_err_hint(&err, "also short");
    assert_string_equal(err.hint, "also short");
    assert_int_equal((unsigned char)err.hint[sizeof(err.hint) - 2], 0xC3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_returns_its_code_and_keeps_the_message),
        cmocka_unit_test(context_goes_in_front_and_the_code_stays),
        cmocka_unit_test(a_missing_err_is_allowed),
        cmocka_unit_test(a_wrong_path_is_bad_input_and_a_failed_disk_is_the_environment),
        cmocka_unit_test(long_text_is_cut_at_the_end),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(a_message_is_one_printable_line_whatever_it_quotes),
        cmocka_unit_test(every_code_has_a_row_of_its_own),
        cmocka_unit_test(an_unknown_code_never_looks_like_success),
        cmocka_unit_test(a_broken_invariant_stops_the_program_and_names_itself),
        cmocka_unit_test(a_failed_step_leaves_at_once_with_its_code),
        cmocka_unit_test(only_what_was_cut_is_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
