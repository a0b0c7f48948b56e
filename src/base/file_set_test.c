#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file_internal.h"
#include "myriad/base.h"

/* A folder with a set of old files, "one", "two" and "design", and a foreign one. */
struct place {
    char folder[64];
};

static const char *const names[] = {"one", "two", "design", "foreign"};

static void write_text(const char *folder, const char *name, const char *text)
{
    struct myr_buf path = {}, buf = {};
    myr_buf_printf(&path, "%s/%s", folder, name);
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path.data, &buf, NULL), MYR_OK);
    myr_buf_done(&path);
    myr_buf_done(&buf);
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    snprintf(place->folder, sizeof(place->folder), "/tmp/myriad-file-set-test-XXXXXX");
    if (!mkdtemp(place->folder)) {
        free(place);
        return -1;
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        write_text(place->folder, names[i], "old");
    }
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    struct myr_buf path = {};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        myr_buf_clear(&path);
        myr_buf_printf(&path, "%s/%s", place->folder, names[i]);
        unlink(path.data);
    }
    myr_buf_done(&path);
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

static void expect_text(const char *folder, const char *name, const char *text)
{
    struct myr_buf path = {}, read = {};
    myr_buf_printf(&path, "%s/%s", folder, name);
    assert_int_equal(myr_file_read(path.data, 1 << 20, &read, NULL), MYR_OK);
    assert_string_equal(read.data, text);
    myr_buf_done(&path);
    myr_buf_done(&read);
}

static void expect_old(const struct place *place)
{
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        expect_text(place->folder, names[i], "old");
    }
    assert_int_equal(entry_count(place->folder), MYR_ARRAY_COUNT(names));
}

/* One file at once and one piece by piece. */
static int add_all(struct myr_file_set *set, const char *text, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    MYR_CLEANUP(myr_outfile_abandon) struct myr_outfile file = {};
    myr_buf_puts(&buf, text);
    MYR_TRY(myr_file_set_add(set, "one", &buf, err));
    MYR_TRY(myr_file_set_add(set, "two", &buf, err));
    MYR_TRY(myr_file_set_open(set, "design", &file, err));
    for (size_t i = 0; i < buf.len; i++) {
        myr_outfile_write(&file, buf.data + i, 1);
    }
    return myr_outfile_commit(&file, err);
}

static void nothing_changes_before_the_commit_and_all_after_it(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_err err = {};
    assert_int_equal(myr_file_set_begin(&set, place->folder, &err), MYR_OK);
    assert_int_equal(add_all(&set, "new", &err), MYR_OK);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        expect_text(place->folder, names[i], "old");
    }
    assert_int_equal(myr_file_set_commit(&set, &err), MYR_OK);
    myr_file_set_abandon(&set); /* after commit it does nothing */
    for (uint32_t i = 0; i < 3; i++) {
        expect_text(place->folder, names[i], "new");
    }
    expect_text(place->folder, "foreign", "old");
    assert_int_equal(entry_count(place->folder), MYR_ARRAY_COUNT(names));
}

static void a_file_in_the_way_of_a_folder_is_named(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_outfile file;
    struct myr_err err = {};
    char said[200];
    assert_int_equal(myr_file_set_begin(&set, place->folder, &err), MYR_OK);
    assert_int_equal(myr_file_set_open(&set, "foreign/below", &file, &err), MYR_EINVAL);
    snprintf(said, sizeof(said), "%s/foreign: is a file, a directory is needed", place->folder);
    assert_string_equal(err.message, said);
    myr_file_set_abandon(&set);
    expect_old(place);
}

static void what_is_abandoned_leaves_the_old_files(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    assert_int_equal(myr_file_set_begin(&set, place->folder, NULL), MYR_OK);
    assert_int_equal(add_all(&set, "new", NULL), MYR_OK);
    myr_file_set_abandon(&set);
    myr_file_set_abandon(&set);
    expect_old(place);
    struct myr_file_set zeroed = {};
    myr_file_set_abandon(&zeroed);
}

static void a_file_left_open_goes_with_the_set(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_outfile file = {};
    assert_int_equal(myr_file_set_begin(&set, place->folder, NULL), MYR_OK);
    assert_int_equal(myr_file_set_open(&set, "one", &file, NULL), MYR_OK);
    myr_outfile_write(&file, "half", 4);
    myr_outfile_abandon(&file);
    myr_file_set_abandon(&set);
    expect_old(place);
}

/* The third file does not fit. */
static void a_full_disk_leaves_all_old_files(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_err err = {};
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 10;
    assert_int_equal(myr_file_set_begin(&set, place->folder, &err), MYR_OK);
    assert_int_equal(add_all(&set, "new", &err), MYR_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct myr_buf large = {};
    myr_buf_puts(&large, "more than ten bytes");
    assert_int_equal(myr_file_set_add(&set, "foreign", &large, &err), MYR_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(err.message, "/foreign: cannot write: File too large"));
    myr_file_set_abandon(&set);
    myr_buf_done(&large);
    expect_old(place);
}

static void a_folder_with_the_name_of_a_file_stops_all_of_them(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_err err = {};
    struct myr_buf folder = {};
    myr_buf_printf(&folder, "%s/design", place->folder);
    unlink(folder.data);
    assert_int_equal(mkdir(folder.data, 0755), 0);
    assert_int_equal(myr_file_set_begin(&set, place->folder, &err), MYR_OK);
    assert_int_equal(add_all(&set, "new", &err), MYR_OK);
    assert_int_equal(myr_file_set_commit(&set, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "/design: cannot write: a folder has this name"));
    assert_int_equal(rmdir(folder.data), 0);
    expect_text(place->folder, "one", "old");
    expect_text(place->folder, "two", "old");
    assert_int_equal(entry_count(place->folder), 3);
    myr_buf_done(&folder);
}

/* Somebody tidies up between the writing and the commit: each file in turn. */
static void a_file_that_vanishes_before_the_commit_stops_all_of_them(void **state)
{
    struct place *place = *state;
    for (uint32_t gone = 0; gone < 3; gone++) {
        struct myr_file_set set;
        struct myr_err err = {};
        assert_int_equal(myr_file_set_begin(&set, place->folder, &err), MYR_OK);
        assert_int_equal(add_all(&set, "new", &err), MYR_OK);
        assert_int_equal(unlink(set.files.items[gone].temp), 0);
        assert_int_equal(myr_file_set_commit(&set, &err), MYR_ENOENT);
        char words[128];
        snprintf(words, sizeof(words), "%s: cannot write: No such file", place->folder);
        assert_non_null(strstr(err.message, words)); /* found when they go to the disk */
        assert_false(set.open || set.hold.on);
        expect_old(place);
    }
}

/* A link that leads elsewhere at the last moment: the name that was opened cannot be taken. */
static void a_name_that_cannot_be_taken_is_an_error(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_err err = {};
    struct myr_buf text = {};
    char link[128], folder[128];
    snprintf(link, sizeof(link), "%s/link", place->folder);
    snprintf(folder, sizeof(folder), "%s/folder", place->folder);
    assert_int_equal(symlink("folder", link), 0);
    myr_buf_puts(&text, "new");
    assert_int_equal(myr_file_set_begin(&set, place->folder, &err), MYR_OK);
    assert_int_equal(myr_file_set_add(&set, "link", &text, &err), MYR_OK);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("one", link), 0);
    assert_true(myr_file_set_commit(&set, &err) < 0);
    assert_non_null(strstr(err.message, "/link: cannot write: Is a directory"));
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(folder), 0);
    expect_old(place);
    myr_buf_done(&text);
}

static void folders_that_were_made_are_taken_back(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_buf deep = {}, text = {};
    myr_buf_printf(&deep, "%s/a/b", place->folder);
    myr_buf_puts(&text, "x");
    assert_int_equal(myr_file_set_begin(&set, deep.data, NULL), MYR_OK);
    assert_int_equal(myr_file_set_add(&set, "c/file", &text, NULL), MYR_OK);
    assert_int_equal(myr_file_set_add(&set, "c/other", &text, NULL), MYR_OK);
    myr_file_set_abandon(&set);
    expect_old(place);
    /* A name below a file cannot be made, and takes back what was. */
    myr_buf_clear(&deep);
    myr_buf_printf(&deep, "%s/one/b", place->folder);
    assert_true(myr_file_set_begin(&set, deep.data, NULL) < 0);
    assert_int_equal(myr_file_set_begin(&set, place->folder, NULL), MYR_OK);
    assert_true(myr_file_set_add(&set, "one/below", &text, NULL) < 0);
    myr_file_set_abandon(&set);
    expect_old(place);
    myr_buf_done(&deep);
    myr_buf_done(&text);
}

/* A page beside a folder of drawings: where the page cannot be, the folder is not left either. */
static void files_of_a_folder_and_others_appear_together(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_buf folder = {}, path = {}, missing = {}, text = {};
    struct myr_err err = {};
    myr_buf_printf(&folder, "%s/plots/new", place->folder);
    myr_buf_printf(&path, "%s/one", place->folder);
    myr_buf_printf(&missing, "%s/gone/page", place->folder);
    myr_buf_puts(&text, "new");
    assert_int_equal(myr_file_set_begin(&set, NULL, NULL), MYR_OK);
    assert_int_equal(myr_file_set_add(&set, path.data, &text, NULL), MYR_OK);
    assert_int_equal(myr_file_set_add_in(&set, folder.data, "a.svg", &text, NULL), MYR_OK);
    assert_int_equal(myr_file_set_add_in(&set, folder.data, "b.svg", &text, NULL), MYR_OK);
    assert_int_equal(myr_file_set_add(&set, missing.data, &text, &err), MYR_ENOENT);
    myr_file_set_abandon(&set);
    expect_old(place);
    assert_int_equal(myr_file_set_begin(&set, NULL, NULL), MYR_OK);
    assert_int_equal(myr_file_set_add_in(&set, "-", "a.svg", &text, &err), MYR_EINVAL);
    assert_int_equal(myr_file_set_add_in(&set, place->folder, "two", &text, NULL), MYR_OK);
    assert_int_equal(myr_file_set_commit(&set, NULL), MYR_OK);
    expect_text(place->folder, "two", "new");
    myr_buf_done(&folder);
    myr_buf_done(&path);
    myr_buf_done(&missing);
    myr_buf_done(&text);
}

static void many_files_in_folders_of_their_own_are_kept(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_buf name = {};
    enum { COUNT = 40 };
    assert_int_equal(myr_file_set_begin(&set, place->folder, NULL), MYR_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        myr_buf_clear(&name);
        myr_buf_printf(&name, "d%u/file", i);
        assert_int_equal(myr_file_set_add(&set, name.data, &name, NULL), MYR_OK);
    }
    assert_int_equal(myr_file_set_commit(&set, NULL), MYR_OK);
    assert_int_equal(entry_count(place->folder), MYR_ARRAY_COUNT(names) + COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        myr_buf_clear(&name);
        myr_buf_printf(&name, "d%u/file", i);
        expect_text(place->folder, name.data, name.data);
        myr_buf_clear(&name);
        myr_buf_printf(&name, "%s/d%u/file", place->folder, i);
        assert_int_equal(unlink(name.data), 0);
        *strrchr(name.data, '/') = '\0';
        assert_int_equal(rmdir(name.data), 0);
    }
    myr_buf_done(&name);
}

static void without_a_folder_names_are_paths(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_buf path = {}, text = {};
    myr_buf_printf(&path, "%s/one", place->folder);
    myr_buf_puts(&text, "new");
    assert_int_equal(myr_file_set_begin(&set, NULL, NULL), MYR_OK);
    assert_int_equal(myr_file_set_add(&set, path.data, &text, NULL), MYR_OK);
    assert_int_equal(myr_file_set_commit(&set, NULL), MYR_OK);
    expect_text(place->folder, "one", "new");
    struct myr_err err = {};
    assert_int_equal(myr_file_set_begin(&set, "-", &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "a folder is needed"));
    myr_file_set_abandon(&set);
    myr_buf_done(&path);
    myr_buf_done(&text);
}

/* What a child does that gets a signal in the midst of writing. */
static void write_with_a_signal(const struct place *place, int number, bool between_files)
{
    struct myr_file_set set;
    struct myr_outfile file = {};
    if (myr_file_set_begin(&set, place->folder, NULL) < 0 || add_all(&set, "new", NULL) < 0) {
        _exit(10);
    }
    raise(number); /* waits */
    if (!between_files) {
        if (myr_file_set_open(&set, "foreign", &file, NULL) < 0) {
            _exit(11);
        }
        myr_outfile_write(&file, "half", 4);
        if (myr_outfile_commit(&file, NULL) >= 0) {
            _exit(12);
        }
    } else if (myr_file_set_commit(&set, NULL) >= 0) {
        _exit(13);
    }
    myr_file_set_abandon(&set); /* lets the signal through */
    _exit(14);
}

static void a_signal_ends_the_program_and_leaves_the_old_files(void **state)
{
    struct place *place = *state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (uint32_t i = 0; i < 2 * MYR_ARRAY_COUNT(signals); i++) {
        struct rlimit no_core = {};
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &no_core);
            signal(signals[i / 2], SIG_DFL);
            write_with_a_signal(place, signals[i / 2], i % 2);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i / 2]);
        expect_old(place);
    }
}

static void a_signal_that_is_ignored_or_blocked_does_not_stop_the_set(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    sigset_t hangup, before;
    struct myr_err err = {};
    void (*handler)(int) = signal(SIGHUP, SIG_IGN);
    assert_int_equal(myr_file_set_begin(&set, place->folder, &err), MYR_OK);
    raise(SIGHUP);
    assert_int_equal(add_all(&set, "new", &err), MYR_OK);
    assert_int_equal(myr_file_set_commit(&set, &err), MYR_OK);
    expect_text(place->folder, "design", "new");

    signal(SIGHUP, handler);
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    sigprocmask(SIG_BLOCK, &hangup, &before);
    assert_int_equal(myr_file_set_begin(&set, place->folder, &err), MYR_OK);
    raise(SIGHUP);
    assert_int_equal(add_all(&set, "newer", &err), MYR_OK);
    assert_int_equal(myr_file_set_commit(&set, &err), MYR_OK);
    expect_text(place->folder, "design", "newer");
    signal(SIGHUP, SIG_IGN); /* forgets the one that waits */
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGHUP, handler);
}

/* Only those that end programs wait, whatever was in the memory of the hold before. */
static void other_signals_are_not_held(void **state)
{
    (void)state;
    struct myr_signal_hold hold;
    static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t now;
    memset(&hold, 0xFF, sizeof(hold));
    hold.on = false;
    file_hold(&hold);
    assert_true(hold.on);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int number = 1; number < 32; number++) {
        bool wanted = false;
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(held); i++) {
            wanted = wanted || (held[i] == number && !sigismember(&hold.before, number));
        }
        assert_int_equal(sigismember(&hold.held, number), wanted);
        assert_int_equal(sigismember(&now, number), wanted || sigismember(&hold.before, number));
    }
    assert_false(file_interrupted(&hold));
    file_release(&hold);
    assert_false(hold.on || file_interrupted(&hold));
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert_memory_equal(&now, &hold.before, sizeof(uint64_t)); /* as it was */
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(nothing_changes_before_the_commit_and_all_after_it),
        IN_PLACE(a_file_in_the_way_of_a_folder_is_named),
        IN_PLACE(what_is_abandoned_leaves_the_old_files),
        IN_PLACE(a_file_left_open_goes_with_the_set),
        IN_PLACE(a_full_disk_leaves_all_old_files),
        IN_PLACE(a_folder_with_the_name_of_a_file_stops_all_of_them),
        IN_PLACE(a_file_that_vanishes_before_the_commit_stops_all_of_them),
        IN_PLACE(a_name_that_cannot_be_taken_is_an_error),
        IN_PLACE(folders_that_were_made_are_taken_back),
        IN_PLACE(files_of_a_folder_and_others_appear_together),
        IN_PLACE(many_files_in_folders_of_their_own_are_kept),
        IN_PLACE(without_a_folder_names_are_paths),
        IN_PLACE(a_signal_ends_the_program_and_leaves_the_old_files),
        IN_PLACE(a_signal_that_is_ignored_or_blocked_does_not_stop_the_set),
        cmocka_unit_test(other_signals_are_not_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
