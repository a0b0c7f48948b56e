/*
 * What reading and writing files asks of the kernel, call by call, and what becomes of it when each
 * of the calls is refused (tests/kept/base-kernel.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "kernel.h"

static char paths[4][160];

static const char *at(uint32_t which, const char *name)
{
    snprintf(paths[which], sizeof(paths[which]), "%s/%s", kernel.root, name);
    return paths[which];
}

static void put_text(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* The text that a file has now, whoever wrote it. */
static void note_text(const char *name)
{
    char text[100] = "";
    FILE *file = fopen(at(3, name), "r");
    if (file) {
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        (void)fclose(file);
    }
    myr_buf_printf(&kernel.told, "  %s is now %s'%s'\n", name, file ? "" : "not there ", text);
}

static void old_files(void)
{
    put_text(at(0, "old"), "what was there before", 0640);
}

static void links(void)
{
    put_text(at(0, "behind"), "behind a link", 0600);
    assert_int_equal(symlink("link2", at(0, "link")), 0);
    assert_int_equal(symlink(at(1, "behind"), at(0, "link2")), 0);
}

static void write_one(const char *name)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    myr_buf_puts(&text, "what is new");
    kernel_note(name, myr_file_write(at(0, name), &text, &err), &err);
    note_text(name);
}

static void write_new(void)
{
    write_one("new");
}

static void write_over(void)
{
    write_one("old");
}

static void write_through_links(void)
{
    write_one("link");
}

static void read_one(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    kernel_note("read", myr_file_read(at(0, "old"), 21, &text, &err), &err);
    myr_buf_printf(&kernel.told, "  it holds '%s'\n", text.len ? text.data : "");
    err = (struct myr_err){};
    kernel_note("read of one byte less", myr_file_read(at(0, "old"), 20, &text, &err), &err);
}

static void same_file(void)
{
    struct myr_err err = {.message = "it is another"};
    kernel_note("same", myr_file_same(at(0, "link"), at(1, "behind")) ? 0 : MYR_ENOENT, &err);
}

static void read_by_parts(void)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_infile file = {.fd = -1};
    struct myr_err err = {};
    int rc = myr_infile_open(&file, at(0, "old"), &err);
    kernel_note("open", rc, &err);
    if (rc < 0) {
        return;
    }
    while ((rc = myr_infile_read(&file, 7, &text, &err)) > 0) {
    }
    kernel_note("end", rc, &err);
    myr_infile_close(&file);
    myr_buf_printf(&kernel.told, "  it holds '%s'\n", text.len ? text.data : "");
}

static void folders(void)
{
    struct myr_err err = {};
    kernel_note("three", myr_make_dirs(at(0, "a/b/c"), &err), &err);
    err = (struct myr_err){};
    kernel_note("again", myr_make_dirs(at(0, "a/b"), &err), &err);
    err = (struct myr_err){};
    kernel_note("on a file", myr_make_dirs(at(0, "old"), &err), &err);
    err = (struct myr_err){};
    kernel_note("below a file", myr_make_dirs(at(0, "old/b"), &err), &err);
}

/* Files that take their names together, in a folder that is new or not. */
static void write_set(const char *folder, uint32_t count)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_file_set set = {};
    struct myr_err err = {};
    myr_buf_puts(&text, "one of a set");
    int rc = myr_file_set_begin(&set, folder, &err);
    for (uint32_t i = 0; i < count && rc == MYR_OK; i++) {
        char name[32];
        snprintf(name, sizeof(name), i == 1 ? "below/%u" : "%u", i);
        rc = myr_file_set_add(&set, folder ? name : at(1, name), &text, &err);
        if (rc < 0) {
            myr_file_set_abandon(&set);
        }
    }
    rc = rc < 0 ? rc : myr_file_set_commit(&set, &err);
    kernel_note("set", rc, &err);
    assert_false(set.open);
}

static void set_of_three(void)
{
    write_set(at(0, "a/set"), 3);
}

static void set_without_folder(void)
{
    write_set(NULL, 1);
}

static void set_of_sixteen(void)
{
    write_set(at(0, "large"), 16);
}

static void set_of_seventeen(void)
{
    write_set(at(0, "large"), 17);
}

static void abandoned(void)
{
    struct myr_outfile file = {};
    struct myr_err err = {};
    int rc = myr_outfile_open(&file, at(0, "old"), &err);
    kernel_note("open", rc, &err);
    if (rc == MYR_OK) {
        myr_outfile_write(&file, "half", 4);
        myr_outfile_abandon(&file);
    }
    note_text("old");
}

static void each_call_is_refused_once(void **state)
{
    (void)state;
    kernel.errno_changes = true;
    kernel_scenario("write a new file", NULL, write_new);
    kernel_scenario("write over a file", old_files, write_over);
    kernel_scenario("write through links", links, write_through_links);
    kernel_scenario("begin to write, and give up", old_files, abandoned);
    kernel_scenario("read a file", old_files, read_one);
    kernel_scenario("one file under two names", links, same_file);
    kernel_scenario("read a file by parts", old_files, read_by_parts);
    kernel_scenario("make folders", old_files, folders);
    kernel_scenario("write a set of files", NULL, set_of_three);
    kernel_scenario("write a set without a folder", NULL, set_without_folder);
    /* So many are synced with their file system, once. */
    kernel_scenario_only("write sixteen", "syncfs", NULL, set_of_sixteen);
    kernel_scenario_only("write seventeen", "syncfs", NULL, set_of_seventeen);
    assert_kept("base-kernel.txt", &kernel.told);
    myr_buf_done(&kernel.told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_is_refused_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
