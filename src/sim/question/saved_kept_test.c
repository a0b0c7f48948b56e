#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <zlib.h>

#include "kept.h"
#include "myriad/sim.h"
#include "myriad/sim/question.h"

/*
 * A saved run with one byte of its head or of its question changed, and a checksum that is right
 * again, since anybody can compute one: what is said of it, or how the run then ends.
 */

/* The layout of saved.c. */
enum { HEAD = 48, LENGTH_AT = 16, WORDS_AT = 24, CRC_AT = 40, SAID_MAX = 80 };

static char path[] = "/tmp/myriad-saved-XXXXXX";

struct tally {
    char said[SAID_MAX][300];
    uint32_t counts[SAID_MAX], count;
};

static void mend(struct myr_buf *file)
{
    uint32_t crc = (uint32_t)crc32_z(0, (const uint8_t *)file->data + HEAD, file->len - HEAD);
    memcpy(file->data + CRC_AT, &crc, sizeof(crc));
}

static void add_said(struct tally *tally, const char *said)
{
    uint32_t i = 0;
    while (i < tally->count && strcmp(tally->said[i], said) != 0) {
        i++;
    }
    assert_true(i < SAID_MAX);
    snprintf(tally->said[i], sizeof(tally->said[i]), "%s", said);
    tally->count += i == tally->count;
    tally->counts[i]++;
}

static void judge(const struct myr_buf *file, struct tally *tally)
{
    struct myr_sim_answer answer;
    struct myr_sim_question question = {};
    struct myr_err err = {};
    char said[300];
    assert_int_equal(myr_file_write(path, file, &err), MYR_OK);
    if (myr_sim_resume(&answer, &question, path, &err) < 0) {
        bool named = strncmp(err.message, path, strlen(path)) == 0;
        snprintf(said, sizeof(said), "%s%.250s", named ? "FILE" : "",
                 err.message + (named ? strlen(path) : 0));
    } else {
        snprintf(said, sizeof(said), "ends at %lld, %016llx", (long long)answer.result.end,
                 (unsigned long long)answer.result.hash);
    }
    add_said(tally, said);
    myr_sim_answer_done(&answer);
}

static void put_tally(struct myr_buf *text, const struct tally *tally)
{
    for (uint32_t i = 0; i < tally->count; i++) {
        myr_buf_printf(text, "%6u  %s\n", tally->counts[i], tally->said[i]);
    }
}

static void save(struct myr_buf *ret)
{
    static const char *const jobs[] = {"permutation:1MB", "incast:3:1,500KB"};
    static const char *const slow[] = {"node/00002:0.5"}, *const fault[] = {"link/20:down@70us"};
    struct myr_sim_question question = {.topology = "fat-tree:k=4",
                                        .workloads = {jobs, 2},
                                        .faults = {fault, 1},
                                        .slow = {slow, 1},
                                        .balance = {MYR_POLICY_ECMP_XOR, 7, true},
                                        .queue_pairs = 2,
                                        .efficiency_permille = 900,
                                        .sharing_loss_permille = 50,
                                        .pause_permille = 100,
                                        .message_overhead = "1us",
                                        .series_step = "20us",
                                        .keep_paths = true,
                                        .save = path,
                                        .save_at = "50us"};
    struct myr_sim_answer answer;
    struct myr_err err = {};
    if (myr_sim_ask(&answer, &question, &err) < 0) {
        fail_msg("%s", err.message);
    }
    myr_sim_answer_done(&answer);
    assert_int_equal(myr_file_read(path, 1 << 24, ret, &err), MYR_OK);
}

static void every_byte_of_a_saved_question_is_looked_at(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {}, text = {};
    uint64_t words;
    close(mkstemp(path));
    save(&file);
    memcpy(&words, file.data + WORDS_AT, sizeof(words));
    struct tally whole = {};
    judge(&file, &whole);
    myr_buf_puts(&text, "as it was saved\n");
    put_tally(&text, &whole);
    for (uint32_t at = 0; at < HEAD; at += 4) {
        struct tally tally = {};
        uint32_t value;
        memcpy(&value, file.data + at, sizeof(value));
        const uint32_t others[] = {value + 1, value - 1, 0, UINT32_MAX};
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
            memcpy(file.data + at, &others[i], sizeof(value));
            judge(&file, &tally);
        }
        memcpy(file.data + at, &value, sizeof(value));
        myr_buf_printf(&text, "head at %u\n", at);
        put_tally(&text, &tally);
    }
    /* Names and values in turn, each with a NUL behind. */
    bool name = false;
    for (size_t at = HEAD; at < HEAD + words;) {
        name = !name;
        struct tally tally = {};
        size_t len = strlen(file.data + at);
        myr_buf_printf(&text, "'%s'\n", file.data + at);
        for (size_t i = at; i <= at + len; i++) {
            char before = file.data[i];
            static const char others[] = {'9', '0', '\0'};
            for (uint32_t k = 0; k < (name ? 1 : sizeof(others)); k++) {
                if (others[k] != before) {
                    file.data[i] = others[k];
                    mend(&file);
                    judge(&file, &tally);
                }
            }
            file.data[i] = before;
        }
        put_tally(&text, &tally);
        at += len + 1;
    }
    unlink(path);
    assert_kept("sim-saved.txt", &text);
}

/* Another value of one of the question's numbers, the sums of the head right. */
static void judge_number(const struct myr_buf *file, const char *name, const char *value,
                         bool right)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf other = {};
    struct tally tally = {};
    uint64_t words, length;
    memcpy(&words, file->data + WORDS_AT, sizeof(words));
    const char *at = memmem(file->data + HEAD, words, name, strlen(name) + 1);
    assert_non_null(at);
    at += strlen(name) + 1;
    myr_buf_put(&other, file->data, (size_t)(at - file->data));
    myr_buf_put(&other, value, strlen(value) + 1);
    at += strlen(at) + 1;
    myr_buf_put(&other, at, file->len - (size_t)(at - file->data));
    words += other.len - file->len;
    length = other.len - HEAD;
    memcpy(other.data + WORDS_AT, &words, sizeof(words));
    memcpy(other.data + LENGTH_AT, &length, sizeof(length));
    mend(&other);
    judge(&other, &tally);
    bool wrong =
        strcmp(tally.said[0], "FILE: the saved run is damaged: its question is wrong") == 0;
    if (wrong == right) {
        fail_msg("%s %s: %s", name, value, tally.said[0]);
    }
}

static void numbers_of_a_saved_question_have_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t least, most;
    } numbers[] = {{"net", 0, MYR_NET_COUNT - 1},
                   {"lb", 0, MYR_POLICY_COUNT - 1},
                   {"polarised", 0, 1},
                   {"queue-pairs", 1, 256},
                   {"efficiency", 1, 1000},
                   {"sharing-loss", 0, 999},
                   {"pause", 0, 1000},
                   {"paths", 0, 1}};
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    save(&file);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        uint32_t least = numbers[i].least, values[] = {least, numbers[i].most, numbers[i].most + 1};
        for (size_t k = 0; k < MYR_ARRAY_COUNT(values); k++) {
            char value[16];
            snprintf(value, sizeof(value), "%u", values[k]);
            judge_number(&file, numbers[i].name, value, k < 2);
        }
        judge_number(&file, numbers[i].name, least ? "0" : "-1", false);
    }
    judge_number(&file, "seed", "18446744073709551615", true);
    judge_number(&file, "seed", "18446744073709551616", false);
    unlink(path);
}

static const struct stop {
    const char *jobs[2], *fault;
    enum myr_policy policy;
    uint32_t pause, loss;
    const char *step, *at;
} stops[] = {
    /* Dead links that the routing knows of, before and after it does. */
    {{"permutation:1MB"},
     "link/20:down@30us,reroute=20us",
     MYR_POLICY_ECMP_CRC,
     0,
     0,
     NULL,
     "60us"},
    {{"permutation:1MB"}, "link/20:down@30us,reroute=20us", MYR_POLICY_PLANNED, 0, 0, NULL, "40us"},
    {{"permutation:1MB"}, "spine/p0-0:down@20us,reroute=5us", MYR_POLICY_SPRAY, 0, 0, NULL, "50us"},
    {{"permutation:1MB"},
     "link/17:flap@10us,down=20us,period=60us,count=3,reroute=5us",
     MYR_POLICY_ECMP_CRC,
     0,
     0,
     NULL,
     "80us"},
    {{"incast:5:1,700KB", "permutation:300KB"}, NULL, MYR_POLICY_ECMP_CRC, 800, 0, "9us", "50us"},
    {{"alltoall:100KB", "permutation:1MB"}, NULL, MYR_POLICY_ADAPTIVE, 0, 200, "7us", "30us"},
    {{"allreduce:ring,1MB"}, NULL, MYR_POLICY_ECMP_XOR, 0, 0, NULL, "0us"},
};

static struct myr_sim_question question_of(const struct stop *stop)
{
    return (struct myr_sim_question){.topology = "fat-tree:k=4,gbps=100,delay=1us",
                                     .workloads = {stop->jobs, stop->jobs[1] ? 2 : 1},
                                     .faults = {&stop->fault, stop->fault ? 1 : 0},
                                     .balance = {stop->policy, 3, false},
                                     .queue_pairs = 2,
                                     .efficiency_permille = 1000,
                                     .sharing_loss_permille = stop->loss,
                                     .pause_permille = stop->pause,
                                     .series_step = stop->step,
                                     .keep_paths = true};
}

static void assert_alike(const struct myr_sim_answer *a, const struct myr_sim_answer *b)
{
    assert_true(a->result.end == b->result.end && b->result.end > 0);
    assert_true(a->result.hash == b->result.hash);
    assert_int_equal(a->result.events, b->result.events);
    assert_int_equal(a->result.transfers, b->result.transfers);
    assert_true(a->load_mean == b->load_mean && a->load_max == b->load_max);
    assert_int_equal(a->job_count, b->job_count);
    for (uint32_t k = 0; k < b->job_count; k++) {
        assert_true(a->jobs[k].end == b->jobs[k].end && a->jobs[k].alone == b->jobs[k].alone);
    }
}

/* Whatever a run has been through when it is kept, it ends as if it had not stopped. */
static void runs_go_on_as_if_they_had_not_stopped(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(stops); i++) {
        struct myr_sim_answer whole, stopped, resumed;
        struct myr_err err = {};
        struct myr_sim_question question = question_of(&stops[i]), again = {};
        if (myr_sim_ask(&whole, &question, &err) < 0) {
            fail_msg("case %zu: %s", i, err.message);
        }
        question.save = path;
        question.save_at = stops[i].at;
        assert_int_equal(myr_sim_ask(&stopped, &question, &err), MYR_OK);
        if (myr_sim_resume(&resumed, &again, path, &err) < 0) {
            fail_msg("case %zu: %s", i, err.message);
        }
        assert_alike(&resumed, &whole);
        myr_sim_answer_done(&whole);
        myr_sim_answer_done(&stopped);
        myr_sim_answer_done(&resumed);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_a_saved_question_is_looked_at),
        cmocka_unit_test(runs_go_on_as_if_they_had_not_stopped),
        cmocka_unit_test(numbers_of_a_saved_question_have_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
