/* Files of the agent's state: whole or not there, lines that are found, names that are too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "disk/files.h"
#include "folder_test.h"

static void names_are_joined_as_far_as_they_fit(void **state)
{
    (void)state;
    char path[AGENT_PATH_MAX], name[AGENT_PATH_MAX];
    struct myr_err err = {};
    path_join(path, "/a/b", "c");
    assert_string_equal(path, "/a/b/c");
    memset(name, 'x', sizeof(name));
    name[AGENT_PATH_MAX - 6] = '\0'; /* "/a/b", "/", the name and its end */
    path_join(path, "/a/b", name);
    assert_int_equal(strlen(path), AGENT_PATH_MAX - 1);
    name[AGENT_PATH_MAX - 6] = 'x';
    name[AGENT_PATH_MAX - 5] = '\0';
    path_join(path, "/a/b", name);
    assert_string_equal(path, "");
    assert_int_equal(file_put("/a/b", name, MYR_STR(""), &err), MYR_EINVAL);
    assert_string_equal(err.message, "/a/b...: the name is too long");
    assert_false(file_is_there("/a/b", name));
}

static void a_file_is_whole(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    struct stat status;
    char path[AGENT_PATH_MAX];
    assert_false(file_is_there(folder, "f"));
    assert_int_equal(file_get(folder, "f", &text, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "cannot open"));
    assert_int_equal(file_put(folder, "f", MYR_STR("one\n"), &err), MYR_OK);
    assert_int_equal(file_put_lightly(folder, "g", MYR_STR(""), &err), MYR_OK);
    assert_true(file_is_there(folder, "f") && file_is_there(folder, "g"));
    assert_false(file_is_there(folder, "f.tmp"));
    path_join(path, folder, "f");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600); /* keys lie in some of them */
    myr_buf_puts(&text, "what was there before");
    assert_int_equal(file_get(folder, "f", &text, &err), MYR_OK);
    assert_string_equal(text.data, "one\n");
    assert_int_equal(text.len, 4);
    assert_int_equal(file_put(folder, "f", MYR_STR("2"), &err), MYR_OK);
    assert_int_equal(file_get(folder, "f", &text, &err), MYR_OK);
    assert_string_equal(text.data, "2");
    assert_int_equal(file_get(folder, "g", &text, &err), MYR_OK);
    assert_int_equal(text.len, 0);
    assert_string_equal(text.data, "");
    assert_true(file_put("/nowhere/at all", "f", MYR_STR("x"), &err) < 0);
    assert_non_null(strstr(err.message, "cannot write"));
    /* Links are not followed: who may write there must not choose what is read. */
    path_join(path, folder, "link");
    assert_int_equal(symlink("f", path), 0);
    assert_true(file_get(folder, "link", &text, &err) < 0);
    assert_true(file_is_there(folder, "link"));
}

static void a_file_has_its_largest_size(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf large = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    for (uint32_t i = 0; i < AGENT_FILE_MAX; i++) {
        myr_buf_putc(&large, (char)('a' + i % 26));
    }
    assert_int_equal(file_put(folder, "f", (struct myr_str){large.data, large.len}, &err), MYR_OK);
    assert_int_equal(file_get(folder, "f", &text, &err), MYR_OK);
    assert_int_equal(text.len, AGENT_FILE_MAX);
    assert_memory_equal(text.data, large.data, large.len);
    myr_buf_putc(&large, '.');
    assert_int_equal(file_put(folder, "f", (struct myr_str){large.data, large.len}, &err), MYR_OK);
    assert_int_equal(file_get(folder, "f", &text, &err), MYR_ECORRUPT);
    assert_non_null(strstr(err.message, "larger than it can be"));
}

static void folders(void **state)
{
    (void)state;
    char path[AGENT_PATH_MAX], deep[AGENT_PATH_MAX + 8];
    struct myr_err err = {};
    struct stat status;
    path_join(path, folder, "sub");
    snprintf(deep, sizeof(deep), "%s/of/it", path);
    assert_true(folder_is_gone(deep));
    assert_int_equal(folder_make(deep, 0711, &err), MYR_OK);
    assert_int_equal(folder_make(deep, 0700, &err), MYR_OK); /* it is there */
    assert_int_equal(stat(deep, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0711);
    assert_false(folder_is_gone(deep));
    folder_sync(deep);
    assert_int_equal(file_put(deep, "a", MYR_STR("x"), &err), MYR_OK);
    folder_remove(deep);
    assert_true(folder_is_gone(deep));
    folder_remove(deep); /* nothing to do */
    snprintf(deep, sizeof(deep), "%s/of", path);
    folder_remove(deep);
    assert_int_equal(file_put(path, "of", MYR_STR("x"), &err), MYR_OK);
    assert_int_equal(folder_make(deep, 0711, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "a folder is needed"));
    folder_remove(path);
    assert_true(folder_make("/proc/none/at/all", 0700, &err) < 0);
    assert_int_equal(folder_make("/tmp", 0700, &err), MYR_OK);
}

static void is_line(const char *text, const char *key, const char *expected)
{
    struct myr_str value;
    bool found = line_text(myr_str_from(text), key, &value);
    assert_int_equal(found, expected != NULL);
    if (found) {
        assert_int_equal(value.len, strlen(expected));
        assert_memory_equal(value.data, expected, value.len);
    }
}

static void lines_are_found_by_their_first_word(void **state)
{
    (void)state;
    uint64_t number = 77;
    is_line("a 1\nb two words\nc \n", "a", "1");
    is_line("a 1\nb two words\nc \n", "b", "two words");
    is_line("a 1\nb two words\nc \n", "c", "");
    is_line("a 1\nb two words\nc \n", "d", NULL);
    is_line("a 1\nb two", "b", NULL); /* not written to its end */
    is_line("ab 1\na 2\n", "a", "2");
    is_line("a\n", "a", NULL);
    is_line("", "a", NULL);
    is_line("\n\na 3\n", "a", "3");
    is_line("a 4\na 5\n", "a", "4");
    struct myr_str text = MYR_STR("n 10\nx y\nz -1\n");
    assert_true(line_u64(text, "n", 10, &number));
    assert_int_equal(number, 10);
    number = 77;
    assert_false(line_u64(text, "n", 9, &number));
    assert_false(line_u64(text, "x", 100, &number));
    assert_false(line_u64(text, "z", 100, &number));
    assert_false(line_u64(text, "m", 100, &number));
    assert_int_equal(number, 77);
}

static void clocks_and_boots(void **state)
{
    (void)state;
    char boot[40];
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t at_ns = boot_clock_ns();
    assert_true(at_ns >= ns && at_ns < ns + 60 * 1000000000LL);
    boot_id(boot);
    assert_int_equal(strlen(boot), 36); /* 8-4-4-4-12 */
    assert_int_equal(strspn(boot, "0123456789abcdef-"), 36);
}

static void a_process_is_known_by_its_beginning(void **state)
{
    (void)state;
    pid_t parent = 0;
    char how = 0;
    uint64_t own = process_began(getpid(), &parent, &how);
    assert_int_equal(parent, getppid());
    assert_int_equal(how, 'R');
    uint64_t since_boot = (uint64_t)boot_clock_ns() / (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    assert_true(own <= since_boot && own + 6000 > since_boot); /* in hundredths: within a minute */
    assert_int_equal(process_began(getpid(), NULL, NULL), own);
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(process_began(pid, &parent, &how) >= own);
    assert_int_equal(how, 'Z');
    assert_int_equal(parent, getpid());
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(process_began(pid, &parent, &how), 0);
}

static void what_is_said_is_one_line(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char path[AGENT_PATH_MAX], large[800];
    struct myr_err err = {};
    path_join(path, folder, "said");
    int kept = dup(STDERR_FILENO), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    say("a %d\nb\x1b\x7f\x1f ~", 1);
    say("%s", large);
    assert_true(dup2(kept, STDERR_FILENO) >= 0 && close(kept) == 0 && close(fd) == 0);
    assert_int_equal(file_get(folder, "said", &text, &err), MYR_OK);
    static const char first[] = "myriad-agent: a 1?b??? ~\nmyriad-agent: ";
    assert_memory_equal(text.data, first, sizeof(first) - 1);
    assert_int_equal(text.len, sizeof(first) - 1 + 699 + 1);
}

/* Which of the points of a write it was: tests kill an agent at each in turn. */
static void points_are_counted(void **state)
{
    (void)state;
    for (int point = 1; point <= 6; point++) {
        int status;
        struct myr_err err = {};
        char path[AGENT_PATH_MAX];
        path_join(path, folder, "d");
        (void)unlink(path);
        path_join(path, folder, "d.tmp");
        (void)unlink(path);
        pid_t pid = fork();
        if (pid == 0) {
            char wish[16];
            snprintf(wish, sizeof(wish), "role:%d", point);
            setenv("MYRIAD_AGENT_DIE", wish, 1);
            deadly_role("role");
            _exit(file_put(folder, "d", MYR_STR("x"), &err) == MYR_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (point == 6) { /* there are five */
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        } else {
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        /* It is there once it was renamed, and before that something else is at most. */
        assert_int_equal(file_is_there(folder, "d"), point > 3);
        assert_int_equal(file_is_there(folder, "d.tmp"), point == 2 || point == 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_counted), /* first: they count from the program's start */
        cmocka_unit_test(names_are_joined_as_far_as_they_fit),
        cmocka_unit_test(a_file_is_whole),
        cmocka_unit_test(a_file_has_its_largest_size),
        cmocka_unit_test(folders),
        cmocka_unit_test(lines_are_found_by_their_first_word),
        cmocka_unit_test(clocks_and_boots),
        cmocka_unit_test(a_process_is_known_by_its_beginning),
        cmocka_unit_test(what_is_said_is_one_line),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
