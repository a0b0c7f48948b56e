#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "myriad/base.h"

/* Every test works in a folder of its own, which is removed afterwards. */
struct place {
    char folder[64];
    char path[4][160];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    snprintf(place->folder, sizeof(place->folder), "/tmp/myriad-file-test-XXXXXX");
    if (!mkdtemp(place->folder)) {
        free(place);
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        snprintf(place->path[i], sizeof(place->path[i]), "%s/%c", place->folder, 'a' + i);
    }
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < 4; i++) {
        unlink(place->path[i]);
        rmdir(place->path[i]);
    }
    int rc = rmdir(place->folder); /* fails when a test left anything else behind */
    free(place);
    return rc;
}

static uint32_t entry_count(const char *folder)
{
    uint32_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static void what_was_written_is_read_back(void **state)
{
    struct place *place = *state;
    struct myr_buf text = {}, back = {};
    struct myr_outfile file;
    struct myr_err err = {};
    assert_int_equal(myr_outfile_open(&file, place->path[0], &err), MYR_OK);
    struct myr_buf all = {};
    for (uint64_t row = 0; row < 300000; row++) { /* enough rows to drain more than once */
        myr_buf_put_u64(&text, row);
        myr_buf_put_u64(&all, row);
        myr_buf_putc(&text, '\n');
        myr_buf_putc(&all, '\n');
        myr_outfile_drain(&file, &text);
    }
    myr_outfile_write(&file, text.data, text.len);
    assert_int_equal(myr_outfile_commit(&file, &err), MYR_OK);
    myr_outfile_abandon(&file); /* after commit it does nothing */
    assert_int_equal(myr_file_read(place->path[0], 8 << 20, &back, &err), MYR_OK);
    assert_int_equal(back.len, all.len);
    assert_memory_equal(back.data, all.data, all.len);
    assert_int_equal(back.data[back.len], '\0');
    assert_int_equal(entry_count(place->folder), 1);
    myr_buf_done(&text);
    myr_buf_done(&all);
    myr_buf_done(&back);
}

static void a_file_appears_whole_or_not_at_all(void **state)
{
    struct place *place = *state;
    struct myr_buf back = {};
    struct myr_outfile file;
    assert_int_equal(myr_outfile_open(&file, place->path[0], NULL), MYR_OK);
    myr_outfile_write(&file, "old", 3);
    assert_int_equal(access(place->path[0], F_OK), -1); /* not before commit */
    assert_int_equal(myr_outfile_commit(&file, NULL), MYR_OK);

    assert_int_equal(myr_outfile_open(&file, place->path[0], NULL), MYR_OK);
    myr_outfile_write(&file, "half of the n", 13);
    myr_outfile_abandon(&file);
    myr_outfile_abandon(&file);
    assert_int_equal(entry_count(place->folder), 1);
    assert_int_equal(myr_file_read(place->path[0], 100, &back, NULL), MYR_OK);
    assert_string_equal(back.data, "old");
    myr_buf_done(&back);

    struct myr_outfile zeroed = {};
    myr_outfile_abandon(&zeroed);
}

static void a_full_disk_is_reported_and_leaves_nothing(void **state)
{
    struct place *place = *state;
    struct myr_outfile file;
    struct myr_err err = {};
    assert_int_equal(myr_outfile_open(&file, place->path[0], &err), MYR_OK);
    int kept = dup(file.fd);
    FILE *full = fopen("/dev/full", "we");
    assert_non_null(full);
    assert_true(dup2(fileno(full), file.fd) >= 0);
    fclose(full);
    myr_outfile_write(&file, "x", 1);
    myr_outfile_write(&file, "y", 1); /* the first error is the one that is kept */
    assert_int_equal(myr_outfile_commit(&file, &err), MYR_EIO);
    assert_non_null(strstr(err.message, "No space left on device"));
    assert_non_null(strstr(err.message, place->path[0]));
    assert_int_equal(entry_count(place->folder), 0);
    close(kept);
}

static void a_folder_that_is_not_there_cannot_be_written_to(void **state)
{
    struct place *place = *state;
    struct myr_outfile file;
    struct myr_err err = {};
    char path[256];
    snprintf(path, sizeof(path), "%s/none/x", place->folder);
    assert_int_equal(myr_outfile_open(&file, path, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "cannot write"));
    myr_outfile_abandon(&file);

    char long_path[5000];
    memset(long_path, 'x', sizeof(long_path));
    long_path[sizeof(long_path) - 1] = '\0';
    assert_int_equal(myr_outfile_open(&file, long_path, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "too long"));
}

static void a_name_that_is_a_folder_cannot_be_replaced(void **state)
{
    struct place *place = *state;
    struct myr_outfile file;
    struct myr_err err = {};
    assert_int_equal(mkdir(place->path[1], 0755), 0);
    assert_int_equal(myr_outfile_open(&file, place->path[1], &err), MYR_OK);
    assert_true(myr_outfile_commit(&file, &err) < 0);
    assert_int_equal(entry_count(place->folder), 1);
}

static void reading_has_a_limit(void **state)
{
    struct place *place = *state;
    struct myr_buf back = {};
    struct myr_outfile file;
    struct myr_err err = {};
    char block[1000];
    memset(block, 'b', sizeof(block));
    assert_int_equal(myr_outfile_open(&file, place->path[0], &err), MYR_OK);
    myr_outfile_write(&file, block, sizeof(block));
    assert_int_equal(myr_outfile_commit(&file, &err), MYR_OK);
    assert_int_equal(myr_file_read(place->path[0], 1000, &back, &err), MYR_OK);
    assert_int_equal(back.len, 1000);
    /* What was in the buffer before is gone. */
    assert_int_equal(myr_file_read(place->path[0], 1000, &back, &err), MYR_OK);
    assert_int_equal(back.len, 1000);
    assert_int_equal(myr_file_read(place->path[0], 999, &back, &err), MYR_ERANGE);
    assert_non_null(strstr(err.message, "larger than 999 bytes"));
    /* A file without end must stop at the limit too. */
    assert_int_equal(myr_file_read("/dev/zero", 1 << 20, &back, &err), MYR_ERANGE);
    myr_buf_done(&back);
}

static void reading_what_is_not_a_file_says_so(void **state)
{
    struct place *place = *state;
    struct myr_buf back = {};
    struct myr_err err = {};
    assert_int_equal(myr_file_read(place->path[2], 10, &back, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "cannot open: No such file"));
    assert_int_equal(myr_file_read(place->folder, 10, &back, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "Is a directory"));
    assert_int_equal(myr_file_read("/dev/null", 10, &back, &err), MYR_OK);
    assert_string_equal(back.data, "");
    myr_buf_done(&back);
}

static void a_dash_reads_standard_input(void **state)
{
    (void)state;
    int ends[2];
    struct myr_buf back = {};
    int kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "servers: 64\n", 12), 12);
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    int rc = myr_file_read("-", 100, &back, NULL);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
    assert_int_equal(rc, MYR_OK);
    assert_string_equal(back.data, "servers: 64\n");
    myr_buf_done(&back);
}

static void folders_are_made_with_their_parents(void **state)
{
    struct place *place = *state;
    struct myr_err err = {};
    char deep[300], middle[256];
    snprintf(middle, sizeof(middle), "%s/x", place->path[3]);
    snprintf(deep, sizeof(deep), "%s//y/", middle);
    assert_int_equal(myr_make_dirs(deep, &err), MYR_OK);
    assert_int_equal(myr_make_dirs(deep, &err), MYR_OK); /* and again */
    struct stat st;
    assert_int_equal(stat(deep, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(rmdir(deep), 0);
    assert_int_equal(rmdir(middle), 0);
    assert_int_equal(myr_make_dirs("/", &err), MYR_OK);
    assert_int_equal(myr_make_dirs("", &err), MYR_EINVAL);
}

static void a_file_in_the_way_of_a_folder_is_named(void **state)
{
    struct place *place = *state;
    struct myr_outfile file;
    struct myr_err err = {};
    assert_int_equal(myr_outfile_open(&file, place->path[0], &err), MYR_OK);
    assert_int_equal(myr_outfile_commit(&file, &err), MYR_OK);
    assert_int_equal(myr_make_dirs(place->path[0], &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "is a file"));
    char below[256];
    snprintf(below, sizeof(below), "%s/sub", place->path[0]);
    assert_int_equal(myr_make_dirs(below, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "Not a directory"));
}

static void the_clock_never_goes_back(void **state)
{
    (void)state;
    int64_t last = myr_clock_ns();
    for (int i = 0; i < 1000; i++) {
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        int64_t now = myr_clock_ns();
        clock_gettime(CLOCK_MONOTONIC, &after);
        assert_true(now >= last);
        assert_true(now >= (int64_t)before.tv_sec * 1000000000 + before.tv_nsec);
        assert_true(now <= (int64_t)after.tv_sec * 1000000000 + after.tv_nsec);
        last = now;
    }
}

static void a_buffer_becomes_a_file_or_nothing(void **state)
{
    struct place *place = *state;
    struct myr_buf buf = {}, read = {};
    struct myr_err err = {};
    char below[256];
    myr_buf_put_lit(&buf, "one\n");
    assert_int_equal(myr_file_write(place->path[0], &buf, &err), MYR_OK);
    assert_int_equal(myr_file_read(place->path[0], 100, &read, &err), MYR_OK);
    assert_string_equal(read.data, "one\n");
    /* A file is no folder. */
    snprintf(below, sizeof(below), "%s/x", place->path[0]);
    assert_true(myr_file_write(below, &buf, &err) < 0);
    assert_int_equal(entry_count(place->folder), 1);
    myr_buf_done(&read);
    myr_buf_done(&buf);
}

static void one_file_has_many_names(void **state)
{
    struct place *place = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_buf_printf(&buf, "one\n");
    assert_int_equal(myr_file_write(place->path[0], &buf, NULL), MYR_OK);
    assert_int_equal(myr_file_write(place->path[1], &buf, NULL), MYR_OK);
    assert_int_equal(link(place->path[0], place->path[2]), 0);
    assert_int_equal(symlink(place->path[2], place->path[3]), 0);
    char around[240];
    snprintf(around, sizeof(around), "%s/../%s/a", place->folder, strrchr(place->folder, '/') + 1);
    assert_true(myr_file_same(place->path[0], place->path[0]));
    assert_true(myr_file_same(place->path[0], place->path[2]));
    assert_true(myr_file_same(place->path[3], place->path[0]));
    assert_true(myr_file_same(place->path[0], around));
    assert_false(myr_file_same(place->path[0], place->path[1]));
    assert_false(myr_file_same(place->folder, place->folder));
    assert_false(myr_file_same("/dev/null", "/dev/null"));
    /* "-" is what standard input is. */
    int was = dup(STDIN_FILENO), file = open(place->path[0], O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(dup2(file, STDIN_FILENO), STDIN_FILENO);
    assert_true(myr_file_same("-", place->path[2]) && myr_file_same(place->path[0], "-"));
    assert_false(myr_file_same("-", place->path[1]));
    close(file);
    if (was >= 0) {
        dup2(was, STDIN_FILENO);
        close(was);
    }
    assert_int_equal(unlink(place->path[2]), 0);
    assert_false(myr_file_same(place->path[3], place->path[0]));
    assert_false(myr_file_same(place->path[2], place->path[2]));
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(what_was_written_is_read_back),
        IN_PLACE(a_file_appears_whole_or_not_at_all),
        IN_PLACE(a_full_disk_is_reported_and_leaves_nothing),
        IN_PLACE(a_folder_that_is_not_there_cannot_be_written_to),
        IN_PLACE(a_name_that_is_a_folder_cannot_be_replaced),
        IN_PLACE(reading_has_a_limit),
        IN_PLACE(reading_what_is_not_a_file_says_so),
        IN_PLACE(a_buffer_becomes_a_file_or_nothing),
        cmocka_unit_test(a_dash_reads_standard_input),
        IN_PLACE(folders_are_made_with_their_parents),
        IN_PLACE(a_file_in_the_way_of_a_folder_is_named),
        IN_PLACE(one_file_has_many_names),
        cmocka_unit_test(the_clock_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
