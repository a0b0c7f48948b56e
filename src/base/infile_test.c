#include "myriad/base/infile.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void a_file_comes_piece_by_piece(void **state)
{
    (void)state;
    char path[] = "/tmp/myr-infile-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
    struct myr_infile file = {.fd = -1};
    struct myr_err err = {};
    struct myr_buf buf = {};
    assert_int_equal(myr_infile_open(&file, path, &err), MYR_OK);
    assert_true(fcntl(file.fd, F_GETFD) & FD_CLOEXEC); /* no child of ours gets it */
    assert_int_equal(fcntl(file.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    for (size_t have = 4; have <= 12; have += 4) {
        assert_int_equal(myr_infile_read(&file, 4, &buf, &err), 1);
        assert_int_equal(buf.len, have < 10 ? have : 10);
    }
    assert_string_equal(buf.data, "0123456789");
    assert_int_equal(myr_infile_read(&file, 4, &buf, &err), 0);
    assert_int_equal(buf.len, 10);
    myr_infile_close(&file);
    assert_int_equal(file.fd, -1);
    myr_infile_close(&file);
    myr_buf_done(&buf);
    unlink(path);
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    struct myr_infile file = {.fd = -1};
    struct myr_err err = {};
    struct myr_buf buf = {};
    assert_true(myr_infile_open(&file, "/nowhere/at/all", &err) < 0);
    assert_non_null(strstr(err.message, "/nowhere/at/all"));
    assert_int_equal(file.fd, -1);
    assert_int_equal(myr_infile_open(&file, "/tmp", &err), MYR_OK); /* a folder opens */
    assert_true(myr_infile_read(&file, 4, &buf, &err) < 0);
    assert_non_null(strstr(err.message, "cannot read"));
    myr_infile_close(&file);
    myr_buf_done(&buf);
}

/* It stays open when the file is closed: others may read what is left. */
static void a_dash_is_standard_input(void **state)
{
    (void)state;
    int ends[2], kept = dup(STDIN_FILENO), folder = open("/tmp", O_RDONLY | O_CLOEXEC);
    struct myr_infile file = {.fd = -1};
    struct myr_err err = {};
    struct myr_buf buf = {};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "0123456789", 10), 10);
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    int opened = myr_infile_open(&file, "-", &err), fd = file.fd;
    int got = myr_infile_read(&file, 6, &buf, &err);
    myr_infile_close(&file);
    bool open = fcntl(STDIN_FILENO, F_GETFD) >= 0;
    /* What cannot be read is named by what it is. */
    dup2(folder, STDIN_FILENO);
    int again = myr_infile_open(&file, "-", &err);
    int refused = myr_infile_read(&file, 6, &buf, &err);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
    close(folder);
    assert_int_equal(opened, MYR_OK);
    assert_int_equal(again, MYR_OK);
    assert_int_equal(fd, STDIN_FILENO);
    assert_int_equal(got, 1);
    assert_true(open);
    assert_string_equal(buf.data, "012345");
    assert_int_equal(refused, MYR_ENOENT);
    assert_string_equal(err.message, "stdin: cannot read: Is a directory");
    myr_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_comes_piece_by_piece),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(a_dash_is_standard_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
