#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "myriad/base.h"

/* Every test works in a folder of its own, with nodes of its own; the machine's stay alone. */
struct place {
    char folder[64];
    char path[3][160];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    snprintf(place->folder, sizeof(place->folder), "/tmp/myriad-target-test-XXXXXX");
    if (!mkdtemp(place->folder)) {
        free(place);
        return -1;
    }
    for (int i = 0; i < 3; i++) {
        snprintf(place->path[i], sizeof(place->path[i]), "%s/%c", place->folder, 'a' + i);
    }
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < 3; i++) {
        unlink(place->path[i]);
    }
    int rc = rmdir(place->folder); /* fails when a test left anything else behind */
    free(place);
    return rc;
}

static int put(const char *path, const char *text, struct myr_err *err)
{
    struct myr_buf buf MYR_CLEANUP(myr_buf_done) = {};
    myr_buf_puts(&buf, text);
    return myr_file_write(path, &buf, err);
}

/* The same through a file set of one. */
static int put_in_set(const char *path, const char *text, struct myr_err *err)
{
    struct myr_buf buf MYR_CLEANUP(myr_buf_done) = {};
    struct myr_file_set set;
    myr_buf_puts(&buf, text);
    int rc = myr_file_set_begin(&set, NULL, err);
    rc = rc < 0 ? rc : myr_file_set_add(&set, path, &buf, err);
    rc = rc < 0 ? rc : myr_file_set_commit(&set, err);
    myr_file_set_abandon(&set);
    return rc;
}

static int (*const ways[])(const char *, const char *, struct myr_err *) = {put, put_in_set};

static void expect(const char *path, const char *text)
{
    struct myr_buf read MYR_CLEANUP(myr_buf_done) = {};
    assert_int_equal(myr_file_read(path, 1 << 20, &read, NULL), MYR_OK);
    assert_string_equal(read.data, text);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

static void a_link_is_followed_and_stays_a_link(void **state)
{
    struct place *place = *state;
    for (uint32_t way = 0; way < MYR_ARRAY_COUNT(ways); way++) {
        /* c -> b by name, b -> a by its whole path */
        assert_int_equal(put(place->path[0], "old", NULL), MYR_OK);
        assert_int_equal(symlink(place->path[0], place->path[1]), 0);
        assert_int_equal(symlink("b", place->path[2]), 0);
        assert_int_equal(ways[way](place->path[2], "new", NULL), MYR_OK);
        assert_true(S_ISLNK(mode_of(place->path[2])));
        assert_true(S_ISLNK(mode_of(place->path[1])));
        assert_true(S_ISREG(mode_of(place->path[0])));
        expect(place->path[0], "new");
        unlink(place->path[0]); /* and one that leads nowhere yet makes the file */
        assert_int_equal(ways[way](place->path[2], "newer", NULL), MYR_OK);
        expect(place->path[0], "newer");
        for (int i = 0; i < 3; i++) {
            assert_int_equal(unlink(place->path[i]), 0);
        }
    }
}

static void links_in_a_circle_are_refused(void **state)
{
    struct place *place = *state;
    struct myr_err err = {};
    assert_int_equal(symlink("b", place->path[0]), 0);
    assert_int_equal(symlink("a", place->path[1]), 0);
    assert_true(put(place->path[0], "x", &err) < 0);
    assert_non_null(strstr(err.message, "symbolic links"));
    assert_true(S_ISLNK(mode_of(place->path[0])));
}

/* So many links as the kernel itself follows, and one more. */
static void forty_links_are_followed_and_no_more(void **state)
{
    struct place *place = *state;
    enum { MOST = 40 };
    char name[160], to[160];
    for (int i = 0; i <= MOST; i++) { /* link0 leads to the file, the next to link0 */
        snprintf(name, sizeof(name), "%s/link%d", place->folder, i);
        snprintf(to, sizeof(to), "link%d", i - 1);
        assert_int_equal(symlink(i ? to : "a", name), 0);
    }
    struct myr_err err = {};
    assert_int_equal(put(name, "x", &err), MYR_EIO);
    assert_non_null(strstr(err.message, "symbolic links"));
    snprintf(name, sizeof(name), "%s/link%d", place->folder, MOST - 1);
    assert_int_equal(put(name, "x", &err), MYR_OK);
    expect(place->path[0], "x");
    for (int i = 0; i <= MOST; i++) {
        snprintf(name, sizeof(name), "%s/link%d", place->folder, i);
        assert_int_equal(unlink(name), 0);
    }
}

/* The file's path with as many "./" and "/" in it as make it so long. */
static void lengthen(const struct place *place, size_t length, char *ret)
{
    size_t at = (size_t)snprintf(ret, 160, "%s/", place->folder);
    for (; at + 3 <= length; at += 2) {
        ret[at] = '.';
        ret[at + 1] = '/';
    }
    if (at + 2 <= length) {
        ret[at++] = '/';
    }
    memcpy(ret + at, "a", 2);
    assert_int_equal(strlen(ret), length);
}

/* With the name that it has meanwhile it is as long as a path may be, or one longer. */
static void paths_are_as_long_as_they_may_be(void **state)
{
    struct place *place = *state;
    char path[5000], meanwhile[64];
    size_t most = 4095 - (size_t)snprintf(meanwhile, sizeof(meanwhile), ".tmp-%ld", (long)getpid());
    for (uint32_t way = 0; way < MYR_ARRAY_COUNT(ways); way++) {
        struct myr_err err = {};
        lengthen(place, most, path);
        assert_int_equal(ways[way](path, "long", &err), MYR_OK);
        expect(place->path[0], "long");
        static const size_t more[] = {1, 5, 6, 7, 500};
        for (size_t i = 0; i < MYR_ARRAY_COUNT(more); i++) {
            lengthen(place, most + more[i], path);
            errno = 0;
            assert_int_equal(ways[way](path, "longer", &err), MYR_EINVAL);
            assert_non_null(strstr(err.message, "...: path is too long"));
            expect(place->path[0], "long");
        }
    }
    /* A link to a folder whose path fills the room: nothing is written beyond it. */
    struct myr_err err = {};
    lengthen(place, 4000, path);
    assert_int_equal(symlink(path, place->path[1]), 0);
    snprintf(path, sizeof(path), "%s", place->path[1]);
    assert_int_equal(put(path, "by link", &err), MYR_OK);
    expect(place->path[0], "by link");
    memset(path, 'x', 300);
    path[300] = '\0';
    assert_int_equal(put(path, "x", &err), MYR_EINVAL); /* no name may be so long */
}

/* A hundred names are tried; those of others stay. */
static void names_that_others_have_taken_are_left_alone(void **state)
{
    struct place *place = *state;
    char name[200];
    struct myr_err err = {};
    for (int taken = 0; taken < 100; taken++) {
        assert_int_equal(put(place->path[0], "x", &err), MYR_OK);
        snprintf(name, sizeof(name), taken ? "%s.tmp-%ld-%d" : "%s.tmp-%ld", place->path[0],
                 (long)getpid(), taken);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    assert_int_equal(put(place->path[0], "y", &err), MYR_EIO);
    assert_non_null(strstr(err.message, "/a: cannot write: File exists"));
    expect(place->path[0], "x");
    for (int taken = 0; taken < 100; taken++) {
        snprintf(name, sizeof(name), taken ? "%s.tmp-%ld-%d" : "%s.tmp-%ld", place->path[0],
                 (long)getpid(), taken);
        assert_int_equal(unlink(name), 0);
    }
}

static void a_child_gets_no_descriptor(void **state)
{
    struct place *place = *state;
    struct myr_outfile file;
    struct myr_err err = {};
    assert_int_equal(put(place->path[1], "old", NULL), MYR_OK);
    const char *paths[] = {place->path[0], place->path[1], "-", "/dev/null", "/proc/self/fd/1"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(paths); i++) {
        assert_int_equal(myr_outfile_open(&file, paths[i], &err), MYR_OK);
        assert_true(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
        assert_int_not_equal(file.fd, STDOUT_FILENO); /* our own, to be closed */
        assert_int_equal(file.temp[0] != '\0', i < 2);
        int fd = file.fd;
        assert_int_equal(file.hold.on, i < 2); /* only while there is a file to take away */
        myr_outfile_abandon(&file);
        assert_false(file.open || file.hold.on);
        assert_int_equal(fcntl(fd, F_GETFD), -1);
    }
    expect(place->path[1], "old");
}

static void a_file_keeps_its_rights(void **state)
{
    struct place *place = *state;
    static const mode_t modes[] = {0600, 0640, 0664, 0755};
    struct stat st;
    for (uint32_t i = 0; i < 2 * MYR_ARRAY_COUNT(modes); i++) {
        assert_int_equal(put(place->path[0], "old", NULL), MYR_OK);
        assert_int_equal(chmod(place->path[0], modes[i / 2]), 0);
        bool root = geteuid() == 0 && chown(place->path[0], 1234, 4321) == 0;
        assert_int_equal(ways[i % 2](place->path[0], "new", NULL), MYR_OK);
        assert_int_equal(mode_of(place->path[0]) & 07777, modes[i / 2]);
        assert_int_equal(stat(place->path[0], &st), 0);
        assert_true(!root || (st.st_uid == 1234 && st.st_gid == 4321));
        expect(place->path[0], "new");
    }
}

/* Ends the process at its first wrong step; the kernel refuses it the call from here on. */
static void forbid(uint32_t number)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {MYR_ARRAY_COUNT(rules), rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        _exit(77);
    }
}

/* Rights that cannot be given: the old file stays, and nothing else. */
static void a_file_whose_rights_cannot_be_kept_is_not_replaced(void **state)
{
    struct place *place = *state;
    assert_int_equal(put(place->path[0], "old", NULL), MYR_OK);
    for (uint32_t way = 0; way < MYR_ARRAY_COUNT(ways); way++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct myr_err err = {};
            forbid(SYS_fchmod);
            int rc = ways[way](place->path[0], "new", &err);
            _exit(rc == MYR_EIO && strstr(err.message, "Operation not permitted") ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            skip(); /* a kernel without such rules */
        }
        assert_int_equal(status, 0);
        expect(place->path[0], "old");
    }
}

/* Another group may do with the file only what everybody may, whatever the old group could. */
static void a_group_that_cannot_be_given_takes_its_rights_along(void **state)
{
    struct place *place = *state;
    static const mode_t modes[][2] = {{0674, 0644}, {0660, 0600}, {0607, 0677}, {0741, 0711}};
    if (geteuid() != 0) {
        skip(); /* only root can make a file of another group, and have it refused */
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(modes); i++) {
        assert_int_equal(put(place->path[0], "old", NULL), MYR_OK);
        assert_int_equal(chmod(place->path[0], modes[i][0]), 0);
        if (chown(place->path[0], (uid_t)-1, 4321) < 0) {
            skip();
        }
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            forbid(SYS_fchown);
            _exit(put(place->path[0], "new", NULL) == MYR_OK ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            skip(); /* a kernel without such rules */
        }
        assert_int_equal(status, 0);
        expect(place->path[0], "new");
        assert_int_equal(mode_of(place->path[0]) & 07777, modes[i][1]);
        assert_int_equal(unlink(place->path[0]), 0);
    }
}

static void a_new_file_has_the_rights_of_the_mask(void **state)
{
    struct place *place = *state;
    mode_t before = umask(027);
    assert_int_equal(put(place->path[0], "x", NULL), MYR_OK);
    umask(before);
    assert_int_equal(mode_of(place->path[0]) & 07777, 0640);
}

static void a_read_only_file_is_not_replaced(void **state)
{
    struct place *place = *state;
    assert_int_equal(put(place->path[0], "old", NULL), MYR_OK);
    assert_int_equal(chmod(place->path[0], 0444), 0);
    assert_int_equal(chmod(place->folder, 0777), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct myr_err err = {};
        /* Root may write everything. */
        bool plain = geteuid() != 0 || (setgid(1234) == 0 && setuid(1234) == 0);
        int rc = put(place->path[0], "new", &err);
        _exit(!plain || (rc == MYR_EIO && strstr(err.message, "Permission denied")) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(S_ISREG(mode_of(place->path[0])));
}

static void a_device_stays_one(void **state)
{
    struct place *place = *state;
    if (geteuid() != 0 || mknod(place->path[0], S_IFCHR | 0666, makedev(1, 3)) < 0) {
        skip();
    }
    for (uint32_t way = 0; way < MYR_ARRAY_COUNT(ways); way++) {
        struct myr_err err = {};
        int rc = ways[way](place->path[0], "text", &err);
        if (rc < 0 && strstr(err.message, "denied")) {
            skip(); /* a file system without devices */
        }
        assert_int_equal(rc, MYR_OK);
        assert_true(S_ISCHR(mode_of(place->path[0])));
    }
    unlink(place->path[0]);
    if (mknod(place->path[0], S_IFCHR | 0666, makedev(1, 7)) == 0) { /* one that is always full */
        struct myr_err err = {};
        assert_int_equal(put(place->path[0], "text", &err), MYR_EIO);
        assert_non_null(strstr(err.message, "No space left on device"));
        assert_true(S_ISCHR(mode_of(place->path[0])));
    }
}

/* More than a pipe holds, so that the writer waits for the reader. */
enum { LONG_TEXT = 300000 };

static pid_t start_reader(const char *path)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char block[1000];
        size_t sum = 0;
        (void)usleep(50000); /* the writer is there first */
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        for (ssize_t got = 1; fd >= 0 && got > 0;) {
            got = read(fd, block, sizeof(block));
            sum += got > 0 ? (size_t)got : 0;
        }
        _exit(sum == LONG_TEXT ? 0 : 1);
    }
    return child;
}

static void a_fifo_is_written_and_stays_one(void **state)
{
    struct place *place = *state;
    char *text = calloc(LONG_TEXT + 1, 1);
    memset(text, 'x', LONG_TEXT);
    assert_int_equal(mkfifo(place->path[0], 0600), 0);
    for (uint32_t way = 0; way < MYR_ARRAY_COUNT(ways); way++) {
        int status;
        pid_t child = start_reader(place->path[0]);
        assert_int_equal(ways[way](place->path[0], text, NULL), MYR_OK);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_true(S_ISFIFO(mode_of(place->path[0])));
    }
    free(text);
}

static void a_signal_ends_the_wait_for_a_reader(void **state)
{
    struct place *place = *state;
    assert_int_equal(mkfifo(place->path[0], 0600), 0);
    for (uint32_t way = 0; way < MYR_ARRAY_COUNT(ways); way++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGTERM, SIG_DFL);
            (void)ways[way](place->path[0], "x", NULL);
            _exit(1);
        }
        (void)usleep(50000);
        assert_int_equal(kill(child, SIGTERM), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
    }
}

static void a_socket_is_refused(void **state)
{
    struct place *place = *state;
    struct myr_err err = {};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", place->path[0]);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    for (uint32_t way = 0; way < MYR_ARRAY_COUNT(ways); way++) {
        assert_int_equal(ways[way](place->path[0], "x", &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, "/a: is a socket, a file is needed"));
        assert_true(S_ISSOCK(mode_of(place->path[0])));
    }
    close(fd);
}

static void an_open_descriptor_is_written_where_it_stands(void **state)
{
    struct place *place = *state;
    char name[64];
    int fd = open(place->path[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "one ", 4), 4);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    for (uint32_t way = 0; way < MYR_ARRAY_COUNT(ways); way++) {
        assert_int_equal(ways[way](name, "two ", NULL), MYR_OK);
    }
    assert_int_equal(symlink(name, place->path[1]), 0); /* as /dev/stdout is */
    assert_int_equal(put(place->path[1], "three", NULL), MYR_OK);
    close(fd);
    expect(place->path[0], "one two two three");
}

/* However it is spelled: what is written there would stand between what is printed. */
static void standard_output_is_known_by_its_names(void **state)
{
    struct place *place = *state;
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    static const char *const others[] = {"/dev/stderr", "/dev/fd/2", "/dev/null",
                                         "./-",         "a",         "/dev/fd/1x"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_true(myr_file_is_stdout(names[i]));
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(others); i++) {
        assert_false(myr_file_is_stdout(others[i]));
    }
    assert_int_equal(symlink("/dev/stdout", place->path[0]), 0);
    assert_true(myr_file_is_stdout(place->path[0]));
    assert_int_equal(symlink("b", place->path[1]), 0); /* a link to itself leads nowhere */
    assert_false(myr_file_is_stdout(place->path[1]));
}

/* Also the first of them, which others take for standard input. */
static void the_first_descriptor_is_one_too(void **state)
{
    struct place *place = *state;
    static const char *const names[] = {"/dev/fd/0", "/proc/self/fd/0"};
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(0);
        bool good = open(place->path[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600) == 0;
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
            good = good && put(names[i], "text ", NULL) == MYR_OK;
        }
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    expect(place->path[0], "text text ");
}

/* Who names a folder that is not there has made a mistake; one that takes nothing is the host's. */
static void a_folder_is_missing_or_takes_no_files(void **state)
{
    (void)state;
    struct myr_err err = {};
    assert_int_equal(put("/proc/no-such-folder/a", "x", &err), MYR_ENOENT);
    assert_string_equal(err.message,
                        "/proc/no-such-folder/a: cannot write: No such file or directory");
    assert_int_equal(put("/proc/no-such-file", "x", &err), MYR_EIO);
    assert_string_equal(err.message, "/proc/no-such-file: cannot write: No such file or directory");
}

static void two_names_of_one_file_in_a_set_both_count(void **state)
{
    struct place *place = *state;
    struct myr_file_set set;
    struct myr_buf text MYR_CLEANUP(myr_buf_done) = {};
    assert_int_equal(symlink("a", place->path[1]), 0);
    assert_int_equal(myr_file_set_begin(&set, place->folder, NULL), MYR_OK);
    myr_buf_puts(&text, "first");
    assert_int_equal(myr_file_set_add(&set, "a", &text, NULL), MYR_OK);
    myr_buf_puts(&text, ", last");
    assert_int_equal(myr_file_set_add(&set, "b", &text, NULL), MYR_OK);
    assert_int_equal(myr_file_set_commit(&set, NULL), MYR_OK);
    expect(place->path[0], "first, last");
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_link_is_followed_and_stays_a_link),
        IN_PLACE(links_in_a_circle_are_refused),
        IN_PLACE(forty_links_are_followed_and_no_more),
        IN_PLACE(paths_are_as_long_as_they_may_be),
        IN_PLACE(names_that_others_have_taken_are_left_alone),
        IN_PLACE(a_child_gets_no_descriptor),
        IN_PLACE(a_file_keeps_its_rights),
        IN_PLACE(a_file_whose_rights_cannot_be_kept_is_not_replaced),
        IN_PLACE(a_group_that_cannot_be_given_takes_its_rights_along),
        IN_PLACE(a_new_file_has_the_rights_of_the_mask),
        IN_PLACE(a_read_only_file_is_not_replaced),
        IN_PLACE(a_device_stays_one),
        IN_PLACE(a_fifo_is_written_and_stays_one),
        IN_PLACE(a_signal_ends_the_wait_for_a_reader),
        IN_PLACE(a_socket_is_refused),
        IN_PLACE(an_open_descriptor_is_written_where_it_stands),
        IN_PLACE(standard_output_is_known_by_its_names),
        IN_PLACE(the_first_descriptor_is_one_too),
        IN_PLACE(a_folder_is_missing_or_takes_no_files),
        IN_PLACE(two_names_of_one_file_in_a_set_both_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
