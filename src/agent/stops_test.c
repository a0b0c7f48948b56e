#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder_test.h"
#include "stops.h"

/* An agent that is killed at each point in turn: five of a new file, three of a line in it. */
static void a_line_is_on_the_disk_in_two_halves(void **state)
{
    static const char *const left[] = {NULL, NULL, NULL, "", "", "", "5 3", "5 3 .\n", "5 3 .\n"};
    (void)state;
    for (uint32_t point = 1; point <= MYR_ARRAY_COUNT(left); point++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        struct myr_err err = {};
        char path[AGENT_PATH_MAX];
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            struct stops stops;
            char wish[16];
            snprintf(wish, sizeof(wish), "role:%u", point);
            setenv("MYRIAD_AGENT_DIE", wish, 1);
            deadly_role("role");
            _exit(stops_open(&stops, folder, &err) < 0 || stops_add(&stops, 5, 3, &err) < 0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        bool last = point == MYR_ARRAY_COUNT(left);
        assert_int_equal(status, last ? 0 : SIGKILL);
        assert_int_equal(file_is_there(folder, "stops"), left[point - 1] != NULL);
        if (left[point - 1]) {
            assert_int_equal(file_get(folder, "stops", &text, &err), MYR_OK);
            assert_string_equal(text.data, left[point - 1]);
        }
        path_join(path, folder, "stops");
        (void)unlink(path);
    }
}

static void a_stop_counts_for_its_epoch_and_all_before(void **state)
{
    (void)state;
    struct stops stops;
    struct myr_err err = {};
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    assert_false(stops_has(&stops, 5, 1));
    assert_int_equal(stops_add(&stops, 5, 3, &err), MYR_OK);
    assert_int_equal(stops_add(&stops, 5, 2, &err), MYR_OK); /* says nothing new */
    assert_true(stops_has(&stops, 5, 1) && stops_has(&stops, 5, 3));
    assert_false(stops_has(&stops, 5, 4));
    assert_false(stops_has(&stops, 6, 1));
    stops_done(&stops);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK); /* another life */
    assert_true(stops_has(&stops, 5, 3));
    assert_false(stops_has(&stops, 5, 4));
    stops_done(&stops);
}

static void a_line_without_its_end_was_never_answered(void **state)
{
    (void)state;
    struct stops stops = {.fd = -1};
    stops_read(&stops, MYR_STR("1 2 .\n3 4 .\n5 6\n7 8 \nx 1 .\n9 99999999999 .\n10 11 ."));
    assert_int_equal(stops.items.count, 2);
    assert_true(stops_has(&stops, 1, 2) && stops_has(&stops, 3, 4));
    stops_done(&stops);
}

static void what_was_not_needed_for_longest_is_forgotten(void **state)
{
    (void)state;
    struct stops stops;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint64_t job = 1; job <= STOPS_MAX; job++) {
        myr_buf_printf(&text, "%llu 1 .\n", (unsigned long long)job + 100000);
    }
    assert_int_equal(file_put(folder, "stops", (struct myr_str){text.data, text.len}, &err),
                     MYR_OK);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    assert_true(stops_has(&stops, 100001, 1)); /* asked for: the next one is older now */
    assert_int_equal(stops_add(&stops, 7, 1, &err), MYR_OK);
    assert_int_equal(stops.items.count, STOPS_MAX);
    assert_true(stops_has(&stops, 7, 1) && stops_has(&stops, 100001, 1));
    assert_false(stops_has(&stops, 100002, 1));
    stops_done(&stops);
}

static void the_file_does_not_grow_for_ever(void **state)
{
    (void)state;
    struct stops stops;
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    assert_int_equal(file_put(folder, "stops", MYR_STR("1 1 .\n"), &err), MYR_OK);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    stops.lines = 2 * STOPS_MAX; /* as after so many stops */
    for (uint32_t epoch = 2; epoch < 6; epoch++) {
        assert_int_equal(stops_add(&stops, 1, epoch, &err), MYR_OK);
    }
    assert_true(stops.lines < 10);
    assert_int_equal(file_get(folder, "stops", &text, &err), MYR_OK);
    assert_true(text.len < 100);
    stops_done(&stops);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    assert_true(stops_has(&stops, 1, 5));
    stops_done(&stops);
}

/* A naive model: a list in the order of last use, the newest epoch of each job. */
struct model {
    uint64_t job[STOPS_MAX + 1];
    uint32_t epoch[STOPS_MAX + 1];
    size_t count;
};

/* Moves the job to the end, with its epoch; 0: none is known. */
static uint32_t touch(struct model *model, uint64_t job)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->job[i] == job) {
            uint32_t epoch = model->epoch[i];
            size_t behind = model->count - i - 1;
            memmove(&model->job[i], &model->job[i + 1], behind * sizeof(model->job[0]));
            memmove(&model->epoch[i], &model->epoch[i + 1], behind * sizeof(model->epoch[0]));
            model->job[model->count - 1] = job;
            model->epoch[model->count - 1] = epoch;
            return epoch;
        }
    }
    return 0;
}

static void learn(struct model *model, uint64_t job, uint32_t epoch)
{
    uint32_t known = touch(model, job);
    if (known > 0) {
        model->epoch[model->count - 1] = known > epoch ? known : epoch;
        return;
    }
    if (model->count == STOPS_MAX) {
        memmove(model->job, model->job + 1, (STOPS_MAX - 1) * sizeof(model->job[0]));
        memmove(model->epoch, model->epoch + 1, (STOPS_MAX - 1) * sizeof(model->epoch[0]));
        model->count--;
    }
    model->job[model->count] = job;
    model->epoch[model->count++] = epoch;
}

static void what_is_known_is_what_a_list_by_last_use_knows(void **state)
{
    (void)state;
    static struct model model;
    const uint64_t seed = 20261117;
    struct stops stops = {.fd = -1};
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 0);
    for (uint32_t round = 0; round < 60; round++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        for (uint32_t i = 0; round == 0 && i < STOPS_MAX - 40; i++) {
            myr_buf_printf(&text, "%u 1 .\n", i + 1);
            learn(&model, i + 1, 1);
        }
        for (uint32_t i = 0; i < 32; i++) {
            uint64_t job = 1 + myr_rng_below(&rng, STOPS_MAX + STOPS_MAX / 4);
            uint32_t epoch = 1 + (uint32_t)myr_rng_below(&rng, 9);
            myr_buf_printf(&text, "%llu %u .\n", (unsigned long long)job, epoch);
            learn(&model, job, epoch);
        }
        stops_read(&stops, (struct myr_str){text.data, text.len});
        assert_int_equal(stops.items.count, model.count);
        assert_int_equal(stops.lines, STOPS_MAX - 40 + 32 * (round + 1));
        for (uint32_t i = 0; i < 8; i++) { /* who is asked for is used, whatever is said */
            uint64_t job = 1 + myr_rng_below(&rng, STOPS_MAX + STOPS_MAX / 4);
            uint32_t epoch = 1 + (uint32_t)myr_rng_below(&rng, 9);
            uint32_t known = touch(&model, job);
            if (stops_has(&stops, job, epoch) != (known >= epoch)) {
                fail_msg("seed %llu, round %u", (unsigned long long)seed, round);
            }
        }
    }
    assert_int_equal(stops.items.count, STOPS_MAX);
    stops_done(&stops);
}

/* Two lines a job at most: one more, and the file is written anew. */
static void the_file_is_written_anew_in_time(void **state)
{
    (void)state;
    struct stops stops;
    struct myr_err err = {};
    assert_int_equal(file_put(folder, "stops", MYR_STR(""), &err), MYR_OK);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    stops.lines = 2 * STOPS_MAX - 1;
    assert_int_equal(stops_add(&stops, 8, 1, &err), MYR_OK);
    assert_int_equal(stops.lines, 2 * STOPS_MAX);
    assert_int_equal(stops_add(&stops, 9, 1, &err), MYR_OK);
    assert_int_equal(stops.lines, 2);
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    assert_int_equal(stops_add(&stops, 8, 3, &err), MYR_OK);
    assert_int_equal(file_get(folder, "stops", &text, &err), MYR_OK);
    assert_string_equal(text.data, "8 1 .\n9 1 .\n8 3 .\n");
    stops_done(&stops);
    assert_int_equal(stops_open(&stops, folder, &err), MYR_OK);
    assert_int_equal(file_get(folder, "stops", &text, &err), MYR_OK);
    assert_string_equal(text.data, "8 3 .\n9 1 .\n");
    stops_done(&stops);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: points count from the program's start. */
        cmocka_unit_test(a_line_is_on_the_disk_in_two_halves),
        cmocka_unit_test(a_stop_counts_for_its_epoch_and_all_before),
        cmocka_unit_test(a_line_without_its_end_was_never_answered),
        cmocka_unit_test(what_was_not_needed_for_longest_is_forgotten),
        cmocka_unit_test(the_file_does_not_grow_for_ever),
        cmocka_unit_test(what_is_known_is_what_a_list_by_last_use_knows),
        cmocka_unit_test(the_file_is_written_anew_in_time),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
