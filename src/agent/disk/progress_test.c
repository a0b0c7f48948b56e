#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "disk/progress.h"
#include "shim/peers.h"

static void a_datagram_says_step_and_phase(void **state)
{
    (void)state;
    struct progress progress = {};
    assert_true(progress_parse(MYR_STR("step 12 saved 10 phase train\n"), &progress));
    assert_int_equal(progress.step, 12);
    assert_int_equal(progress.saved, 10);
    assert_string_equal(progress.phase, "train");
    assert_true(progress_parse(MYR_STR("step 13"), &progress));
    assert_int_equal(progress.step, 13);
    assert_int_equal(progress.saved, 10);                                /* stays */
    assert_true(progress_parse(MYR_STR("step 14 loss 0.5"), &progress)); /* a later word */
    assert_int_equal(progress.step, 14);
}

static void nothing_else_changes_anything(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "step",
                                      "step x",
                                      "step -1",
                                      "step 99999999999999999999",
                                      "step 9223372036854775808",
                                      "saved 5",
                                      "step 5 saved",
                                      "step 5 saved x",
                                      "step 5 phase a/b",
                                      "step 5 phase aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                      "\377\377"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct progress progress = {.step = 3, .saved = 2, .phase = "x"};
        assert_false(progress_parse(myr_str_from(bad[i]), &progress));
        assert_int_equal(progress.step, 3);
        assert_int_equal(progress.saved, 2);
        assert_string_equal(progress.phase, "x");
    }
}

/* Letters, digits, '-' and '_', each anywhere in the word, up to a length. */
static void a_phase_is_one_plain_word(void **state)
{
    (void)state;
    for (size_t len = 1; len <= PROGRESS_PHASE_MAX; len++) {
        for (uint32_t byte = 1; byte < 256; byte++) {
            bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z' && byte < 128;
            bool plain = letter || (byte >= '0' && byte <= '9') || byte == '-' || byte == '_';
            bool blank = byte == ' ' || (byte >= '\t' && byte <= '\r');
            for (size_t at = 0; at < len && !blank; at += len > 3 ? (len + 1) / 2 : 1) {
                struct progress progress = {.step = 3, .phase = "before"};
                char text[80], word[PROGRESS_PHASE_MAX + 1] = {};
                memset(word, 'w', len);
                word[at] = (char)byte;
                snprintf(text, sizeof(text), "step 5 phase %s", word);
                bool good = plain && len < PROGRESS_PHASE_MAX;
                assert_int_equal(progress_parse(myr_str_from(text), &progress), good);
                assert_string_equal(progress.phase, good ? word : "before");
                assert_int_equal(progress.step, good ? 5 : 3);
            }
        }
    }
}

static void lines_of_known_programs_are_steps(void **state)
{
    (void)state;
    struct myr_step_pattern pattern = {};
    struct myr_err err = {};
    uint64_t step = 0;
    assert_int_equal(progress_pattern_init(&pattern, NULL, &err), MYR_OK);
    assert_true(
        myr_step_pattern_match(&pattern,
                               " [2026-03-01 12:00:00] iteration      200/  500000 | consumed "
                               "samples:        51200 | elapsed time per iteration (ms): 512.3 |",
                               &step));
    assert_int_equal(step, 200);
    assert_true(myr_step_pattern_match(&pattern, " iteration        1/      10 | x", &step));
    assert_int_equal(step, 1);
    assert_false(
        myr_step_pattern_match(&pattern, "elapsed time per iteration (ms): 512.3 |", &step));
    assert_false(
        myr_step_pattern_match(&pattern, "iteration 99999999999999999999999/ 10 | x", &step));
    myr_step_pattern_done(&pattern);
    assert_false(myr_step_pattern_match(&pattern, " iteration        1/      10 | x", &step));
}

static void a_pattern_needs_its_group(void **state)
{
    (void)state;
    struct myr_step_pattern pattern = {};
    struct myr_err err = {};
    uint64_t step = 0;
    assert_int_equal(progress_pattern_init(&pattern, "batch [0-9]+", &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "group"));
    assert_int_equal(progress_pattern_init(&pattern, "batch ([0-9]+", &err), MYR_EINVAL);
    assert_int_equal(progress_pattern_init(&pattern, "(a)\\1 ([0-9]+)", &err), MYR_EINVAL);
    assert_int_equal(progress_pattern_init(&pattern, "batch ([0-9]+)", &err), MYR_OK);
    assert_true(myr_step_pattern_match(&pattern, "epoch 1 batch 77 loss", &step));
    assert_int_equal(step, 77);
    myr_step_pattern_done(&pattern);
}

/* The C library would take gigabytes for them, in the process that holds the node's ranks. */
static void a_pattern_does_not_grow_without_end(void **state)
{
    static const char *const large[] = {
        "([0-9]+)a++++++++++++++++++++++++++++++",
        "(((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)",
        "((a{200}){200}){200}",
        "([0-9]{1,99999999999999999999})",
        "((((((((((a+)+)+)+)+)+)+)+){9}){99}){99}",
    };
    static const char *const fair[] = {"step[: ]+([0-9]+)", "[]x[]{2,3}([0-9]{1,18})",
                                       "(a|b)+ ([0-9]+)( of [0-9]+)?", "x{0,255}([0-9]+)\\+"};
    struct myr_err err = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(large); i++) {
        struct myr_step_pattern pattern = {};
        assert_int_equal(progress_pattern_init(&pattern, large[i], &err), MYR_ERANGE);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fair); i++) {
        struct myr_step_pattern pattern = {};
        assert_int_equal(progress_pattern_init(&pattern, fair[i], &err), MYR_OK);
        myr_step_pattern_done(&pattern);
    }
}

static void a_peer_is_believed_for_its_own_incarnation(void **state)
{
    (void)state;
    int64_t age = 0;
    assert_true(peers_parse(MYR_STR("step-age 5 2 300\n"), 5, 2, &age));
    assert_int_equal(age, 300);
    assert_true(peers_parse(MYR_STR("step-age 5 2 -\n"), 5, 2, &age));
    assert_int_equal(age, -1);
    assert_false(peers_parse(MYR_STR("step-age 5 3 300\n"), 5, 2, &age));
    assert_false(peers_parse(MYR_STR("step-age 5 2 300"), 5, 2, &age));
    assert_false(peers_parse(MYR_STR("step-age 5 2 -7\n"), 5, 2, &age));
    assert_false(peers_parse(MYR_STR("step-age 5 2 99999999999999999\n"), 5, 2, &age));
}

/*
 * A character or a set is one place, a group one more than what is in it; '+' makes two of what is
 * before it, and '{n,m}' one more than the larger number. Twenty thousand are enough. All end in a
 * bracket that is never closed, so that the C library need not make anything of them.
 */
static void places_are_counted_when_written_out(void **state)
{
    static const struct {
        const char *fits, *more;
    } all[] = {
        {"a{19999}(", "a{19999}b("},
        {"ba{19998}(", "ba{19999}("},
        {"a{1,19999}(", "a{1,19999}b("},
        {"a{19999,1}(", "a{19999,1}b("},
        {"a{,19999}(", "a{,19999}b("},
        {"a{20000}(", "a{20000}b("},
        {"a{32767}(", "a{32767}b("},
        {"a{19999}*?*?(", "a{19999}*?*?b("},
        {"a++++++++++++++(", "a+++++++++++++++("},
        {"a++++++++++++++b{3615}(", "a++++++++++++++b{3616}("},
        {"a{99}{199}(", "a{99}{200}("},
        {"a{0}b{19998}(", "a{0}b{19999}("},
        {"(a{19998})(", "(a{19999})("},
        {"(a{9998})(a{9998})(", "(a{9998})(a{9999})("},
        {"((ab)+c){2499}(", "((ab)+c){2500}("},
        {"(a)+b{19995}(", "(a)+b{19996}("},
        {"(a)*b{19997}(", "(a)*b{19998}("},
        {"[abc]{19999}(", "[abc]{19999}b("},
        {"[]a]{19999}(", "[]a]{19999}b("},
        {"[^]a]{19999}(", "[^]a]{19999}b("},
        {"[^a]{19999}(", "[^a]{19999}b("},
        {"\\({19999}(", "\\({19999}b("},
        {"\\){19999}(", "\\){19999}b("},
        {"\\[a{19998}(", "\\[a{19999}("},
        {"a{19998})(", "a{19999})("},
        {"((((((((((((((a))))))))))))))(", "((((((((((((((((a("},
        {"(((((((((((((((a", "((((((((((((((((a"},
        {"(a(b{19999}", "(a(b{19999}c"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct myr_step_pattern pattern = {};
        struct myr_err err = {};
        if (progress_pattern_init(&pattern, all[i].fits, &err) != MYR_EINVAL) {
            fail_msg("%s: %s", all[i].fits, err.message);
        }
        if (progress_pattern_init(&pattern, all[i].more, &err) != MYR_ERANGE) {
            fail_msg("%s: %s", all[i].more, err.message);
        }
        assert_string_equal(err.message, "job file: progress.pattern: repetitions of repetitions, "
                                         "more than 20000 places when written out");
        assert_false(pattern.ready);
    }
}

static void what_is_wrong_with_a_pattern_is_said(void **state)
{
    static const struct {
        const char *pattern, *says;
    } all[] = {
        {"a(b)\\2", "job file: progress.pattern: no '\\2' here"},
        {"\\0", "job file: progress.pattern: no '\\0' here"},
        {"a", "job file: progress.pattern: no group that is the step: '([0-9]+)'"},
        {"(a", "job file: progress.pattern: Unmatched ( or \\("},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        struct myr_step_pattern pattern = {};
        struct myr_err err = {};
        assert_int_equal(progress_pattern_init(&pattern, all[i].pattern, &err), MYR_EINVAL);
        assert_string_equal(err.message, all[i].says);
    }
    /* A group that took no part is no step, and neither is one that is no number. */
    struct myr_step_pattern pattern = {};
    struct myr_err err = {};
    uint64_t step = 7;
    assert_int_equal(progress_pattern_init(&pattern, "a|b(.*)$", &err), MYR_OK);
    assert_false(myr_step_pattern_match(&pattern, "a", &step));
    assert_false(myr_step_pattern_match(&pattern, "bx", &step));
    assert_false(myr_step_pattern_match(&pattern, "b", &step));
    assert_false(myr_step_pattern_match(&pattern, "b9223372036854775808", &step));
    assert_int_equal(step, 7);
    assert_true(myr_step_pattern_match(&pattern, "b9223372036854775807", &step));
    assert_int_equal(step, INT64_MAX);
    assert_true(myr_step_pattern_match(&pattern, "b0", &step));
    assert_int_equal(step, 0);
    myr_step_pattern_done(&pattern);
    myr_step_pattern_done(&pattern); /* twice is harmless */
}

static void datagrams_have_limits(void **state)
{
    char text[PROGRESS_BYTES_MAX + 2];
    struct progress progress = {};
    (void)state;
    snprintf(text, sizeof(text), "%-*s", PROGRESS_BYTES_MAX + 1, "step 5");
    assert_true(progress_parse((struct myr_str){text, PROGRESS_BYTES_MAX}, &progress));
    assert_false(progress_parse((struct myr_str){text, PROGRESS_BYTES_MAX + 1}, &progress));
    assert_true(progress_parse(MYR_STR("\n step\n9223372036854775807 \n"), &progress));
    assert_int_equal(progress.step, INT64_MAX);
    assert_true(progress_parse(MYR_STR("saved 9223372036854775807 step 1"), &progress));
    assert_int_equal(progress.saved, INT64_MAX);
    assert_false(progress_parse(MYR_STR("step 2 saved 9223372036854775808"), &progress));
    assert_int_equal(progress.step, 1);
    for (uint32_t len = PROGRESS_PHASE_MAX - 1; len <= PROGRESS_PHASE_MAX; len++) {
        int put = snprintf(text, sizeof(text), "step 3 phase ");
        memset(text + put, 'p', len);
        progress.phase[0] = '\0';
        struct myr_str whole = {text, (size_t)put + len};
        assert_int_equal(progress_parse(whole, &progress), len < PROGRESS_PHASE_MAX);
        assert_int_equal(strlen(progress.phase), len < PROGRESS_PHASE_MAX ? len : 0);
    }
    for (uint32_t len = 0; len < 3;
         len++) { /* what was written is read, a phase of one letter too */
        MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
        struct progress put = {.step = 7, .saved = 6, .at_ns = 5, .by_line = true}, got = {};
        snprintf(put.phase, sizeof(put.phase), "%.*s", (int)len, "ab");
        progress_write(&put, &file);
        assert_true(progress_read((struct myr_str){file.data, file.len}, &got));
        assert_string_equal(got.phase, put.phase);
        assert_true(got.step == 7 && got.saved == 6 && got.at_ns == 5 && got.by_line);
    }
    assert_true(progress_parse(MYR_STR("step 3 phase a-b_C9"), &progress));
    assert_string_equal(progress.phase, "a-b_C9");
    assert_false(progress_parse(MYR_STR("step 3 phase a.b"), &progress));
}

/* What a launcher has written, and what else may lie there. */
static void files_of_progress_read_as_written(void **state)
{
    static const char *const bad[] = {"",
                                      "saved 1\nat_ns 1\nby_line 0\n",
                                      "step 1\nat_ns 1\nby_line 0\n",
                                      "step 1\nsaved 1\nby_line 0\n",
                                      "step 1\nsaved 1\nat_ns 1\n",
                                      "step 1\nsaved 1\nat_ns 1\nby_line 2\n",
                                      "step 9223372036854775808\nsaved 1\nat_ns 1\nby_line 0\n",
                                      "step 1\nsaved 9223372036854775808\nat_ns 1\nby_line 0\n",
                                      "step 1\nsaved 1\nat_ns 9223372036854775808\nby_line 0\n"};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct progress from = {.step = 12, .saved = 10, .at_ns = 345, .by_line = i % 2};
        struct progress to = {.step = 99, .phase = "old"};
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        snprintf(from.phase, sizeof(from.phase), "%s", i < 2 ? "" : "warm-up");
        progress_write(&from, &text);
        assert_string_equal(text.data, i == 0   ? "step 12\nsaved 10\nat_ns 345\nby_line 0\n"
                                       : i == 1 ? "step 12\nsaved 10\nat_ns 345\nby_line 1\n"
                                       : i == 2 ? "step 12\nsaved 10\nat_ns 345\nby_line 0\n"
                                                  "phase warm-up\n"
                                                : "step 12\nsaved 10\nat_ns 345\nby_line 1\n"
                                                  "phase warm-up\n");
        assert_true(progress_read((struct myr_str){text.data, text.len}, &to));
        assert_int_equal(to.step, 12);
        assert_int_equal(to.saved, 10);
        assert_int_equal(to.at_ns, 345);
        assert_int_equal(to.by_line, i % 2);
        assert_string_equal(to.phase, from.phase);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct progress to = {.step = 99};
        assert_false(progress_read(myr_str_from(bad[i]), &to));
        assert_int_equal(to.step, 99);
    }
    struct progress to = {};
    struct myr_str odd = MYR_STR("step 1\nsaved 1\nat_ns 1\nby_line 0\nphase a/b\n");
    assert_true(progress_read(odd, &to));
    assert_string_equal(to.phase, "");
}

static void words_of_errors(void **state)
{
    static const char *const bad[] = {"RuntimeError: x", "an Exception",       "FATAL",
                                      "Aborted",         "assertion failed",   "kernel panic",
                                      "Traceback",       "Segmentation fault", "CUDA out of memory",
                                      "x: not found",    "No such file",       "Permission denied"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_true(progress_is_error(bad[i]));
    }
    assert_false(progress_is_error("all is well"));
    assert_false(progress_is_error(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_datagram_says_step_and_phase),
        cmocka_unit_test(nothing_else_changes_anything),
        cmocka_unit_test(a_phase_is_one_plain_word),
        cmocka_unit_test(lines_of_known_programs_are_steps),
        cmocka_unit_test(a_pattern_needs_its_group),
        cmocka_unit_test(a_pattern_does_not_grow_without_end),
        cmocka_unit_test(places_are_counted_when_written_out),
        cmocka_unit_test(what_is_wrong_with_a_pattern_is_said),
        cmocka_unit_test(datagrams_have_limits),
        cmocka_unit_test(files_of_progress_read_as_written),
        cmocka_unit_test(words_of_errors),
        cmocka_unit_test(a_peer_is_believed_for_its_own_incarnation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
