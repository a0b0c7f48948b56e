/*
 * Who is told to end, on hosts that are made up: /proc is the test's, process by process, and what
 * is signalled is held against a naive walk over the same processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/shim.h"

enum { MOST = 24, SELF = 100, FDS = 64 };

struct fake {
    pid_t pid, parent;
    uint64_t began;
    uint32_t threads, looks; /* how often it was looked at */
    char state;
    bool gone;    /* it has ended since it was listed */
    bool changes; /* its number is another's from the second look on */
    bool tagged;
    uint32_t signals;
};

static struct fake world[MOST];
static uint32_t count;
static bool on, old_kernel, no_folder;
static const char *only; /* every file of /proc holds this */
static int open_dirs, last_signal;
static uint32_t whole_lists; /* how often all processes of the host were listed */
static pid_t behind[FDS];    /* of open descriptors of processes */

/* --- the kernel */

#define CALL __attribute__((visibility("default")))

CALL pid_t getpid(void)
{
    return on ? SELF : (pid_t)syscall(SYS_getpid);
}

static int open_text(const struct myr_buf *text)
{
    int fd = memfd_create("text", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text->len ? text->data : "", text->len, 0), text->len);
    return fd;
}

static struct fake *find(pid_t pid)
{
    for (uint32_t i = 0; i < count; i++) {
        if (world[i].pid == pid) {
            return &world[i];
        }
    }
    return NULL;
}

/* Names hold what they like: the last bracket ends them. */
static void put_stat(struct fake *of, struct myr_buf *ret)
{
    uint64_t began = of->began + (of->changes && of->looks++ > 0);
    myr_buf_printf(ret, "%d (a) Z (%d) %c %d", of->pid, of->pid, of->state, of->parent);
    for (uint32_t i = 5; i < 22; i++) {
        myr_buf_printf(ret, " %u", i);
    }
    myr_buf_printf(ret, " %llu 23 24\n", (unsigned long long)began);
}

/* Each child is that of one of the threads. */
static void put_children(const struct fake *of, uint32_t thread, struct myr_buf *ret)
{
    for (uint32_t i = 0; i < count; i++) {
        if (world[i].parent == of->pid && i % of->threads == thread) {
            myr_buf_printf(ret, "%d ", world[i].pid);
        }
    }
}

/* What follows the number behind 'front', or NULL. */
static const char *number_in(const char *text, const char *front, uint64_t *ret)
{
    size_t len = strlen(front);
    size_t digits = strncmp(text, front, len) == 0 ? strspn(text + len, "0123456789") : 0;
    return myr_str_to_u64((struct myr_str){text + len, digits}, ret) ? text + len + digits : NULL;
}

static int open_proc(const char *path)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t pid, thread;
    errno = ENOENT;
    if (only) {
        myr_buf_puts(&text, only);
        return open_text(&text);
    }
    const char *name = number_in(path, "/proc/", &pid);
    struct fake *of = name ? find((pid_t)pid) : NULL;
    if (!of) {
        return -1;
    }
    const char *below = number_in(name, "/task/", &thread);
    if (strcmp(name, "/stat") == 0 && !of->gone) {
        put_stat(of, &text);
    } else if (below && strcmp(below, "/children") == 0 && !old_kernel) {
        put_children(of, (uint32_t)(thread - 1000 * pid), &text);
    } else if (strcmp(name, "/environ") == 0) {
        myr_buf_put(&text, "A=1\0MYRIAD_INCARNATION=5-2-", 27);
        myr_buf_puts(&text, of->tagged ? "tag" : "tga");
    } else {
        return -1;
    }
    return open_text(&text);
}

CALL int open(const char *path, int flags, ...)
{
    return on ? open_proc(path) : (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

static struct dirent listed[2 * MOST];
static uint32_t listed_count, listed_at;

static void list(const char *name)
{
    assert_true(listed_count < MYR_ARRAY_COUNT(listed));
    snprintf(listed[listed_count++].d_name, 30, "%s", name);
}

CALL DIR *opendir(const char *path)
{
    static DIR *(*own)(const char *);
    char name[30];
    uint64_t pid = 0;
    own = own ? own : (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
    if (!on) {
        return own(path);
    }
    assert_int_equal(open_dirs, 0); /* one at a time */
    listed_count = listed_at = 0;
    const char *below = number_in(path, "/proc/", &pid);
    bool one = below && strcmp(below, "/task") == 0;
    const struct fake *of = one ? find((pid_t)pid) : NULL;
    if ((one && (!of || no_folder)) || (!one && strcmp(path, "/proc") != 0)) {
        return NULL;
    }
    for (uint32_t i = 0; of && i < of->threads; i++) {
        snprintf(name, sizeof(name), "%u", 1000 * (uint32_t)pid + i);
        list(name);
    }
    whole_lists += !one;
    for (uint32_t i = 0; !one && i < count; i++) {
        snprintf(name, sizeof(name), "%d", world[i].pid);
        list(name);
    }
    list(".");
    list("..");
    list(one ? "." : "self");
    open_dirs++;
    return (DIR *)listed;
}

CALL struct dirent *readdir(DIR *dir)
{
    static struct dirent *(*own)(DIR *);
    own = own ? own : (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
    if (!on) {
        return own(dir);
    }
    return listed_at < listed_count ? &listed[listed_at++] : NULL;
}

CALL int closedir(DIR *dir)
{
    static int (*own)(DIR *);
    own = own ? own : (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");
    if (!on) {
        return own(dir);
    }
    open_dirs--;
    return 0;
}

CALL long syscall(long number, ...)
{
    static long (*own)(long, ...);
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(args, long);
    }
    va_end(args);
    own = own ? own : (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (on && number == SYS_pidfd_open) {
        int fd = find((pid_t)a[0]) ? memfd_create("process", MFD_CLOEXEC) : -1;
        assert_true(fd < FDS);
        behind[fd >= 0 ? fd : 0] = (pid_t)a[0];
        return fd;
    }
    if (on && number == SYS_pidfd_send_signal) {
        find(behind[a[0]])->signals++;
        last_signal = (int)a[1];
        return 0;
    }
    return own(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- worlds */

static uint32_t open_files(void)
{
    uint32_t files = 0;
    for (int fd = 0; fd < FDS; fd++) {
        files += fcntl(fd, F_GETFD) >= 0;
    }
    return files;
}

/* Parents before their children or behind them, some of other families, some gone. */
static void draw_world(struct myr_rng *rng)
{
    static const char states[] = "SSRDZXDT";
    count = 3 + (uint32_t)myr_rng_below(rng, MOST - 3);
    for (uint32_t i = 0; i < count; i++) {
        world[i] = (struct fake){.pid = (pid_t)(SELF + i * 7 % 29),
                                 .began = 1 + myr_rng_below(rng, 50),
                                 .threads = 1 + (uint32_t)myr_rng_below(rng, 3),
                                 .state = states[myr_rng_below(rng, 8)],
                                 .changes = myr_rng_below(rng, 9) == 0,
                                 .tagged = myr_rng_below(rng, 3) == 0};
        world[i].parent = i == 0 ? 1 : world[myr_rng_below(rng, i)].pid;
        world[i].parent = myr_rng_below(rng, 6) == 0 ? 1 : world[i].parent;
    }
    for (uint32_t i = 1; i < count; i++) { /* they are found in any order */
        struct fake other = world[i];
        uint32_t at = (uint32_t)myr_rng_below(rng, i + 1);
        world[i] = world[at];
        world[at] = other;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool parent = world[i].pid == SELF;
        for (uint32_t k = 0; k < count; k++) {
            parent = parent || world[k].parent == world[i].pid;
        }
        world[i].gone = !parent && myr_rng_below(rng, 5) == 0;
    }
}

static bool descends(const struct fake *fake)
{
    for (const struct fake *at = fake; at; at = find(at->parent)) {
        if (at->parent == SELF) {
            return true;
        }
    }
    return false;
}

/* One look of either kind; who was told before is not told again. */
static void look(bool tagged, struct told *told, bool first)
{
    uint32_t stuck = 77, wanted = 0, wanted_stuck = 0, signals[MOST];
    bool ours[MOST];
    for (uint32_t i = 0; i < count; i++) {
        ours[i] = !world[i].gone && world[i].state != 'Z' && world[i].state != 'X' &&
                  (tagged ? world[i].tagged && world[i].pid != SELF : descends(&world[i]));
        wanted += ours[i];
        wanted_stuck += ours[i] && world[i].state == 'D';
        /* Its number is another's by now: nobody is hit in its place, and that one is new. */
        signals[i] = ours[i] && !world[i].changes && (!told || first);
        world[i].looks = world[i].signals = 0;
    }
    last_signal = 0;
    whole_lists = 0;
    on = true;
    uint32_t got = tagged ? kill_tagged("5-2-tag", 9, &stuck) : kill_descendants(15, told, &stuck);
    on = false;
    assert_int_equal(got, wanted);
    assert_int_equal(stuck, wanted_stuck);
    assert_int_equal(open_dirs, 0);
    /* A host has thousands: they are listed where the kernel cannot say who our children are. */
    assert_int_equal(whole_lists, tagged || old_kernel || no_folder);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(world[i].signals, signals[i]);
        assert_true(!signals[i] || last_signal == (tagged ? 9 : 15));
    }
    if (told && first) {
        assert_int_equal(told->items.count, wanted);
    }
}

static void those_are_told_who_descend_or_have_the_mark(void **state)
{
    (void)state;
    const uint64_t seed = 20261118;
    struct myr_rng rng;
    uint32_t files = open_files();
    myr_rng_init(&rng, seed, 0);
    for (uint32_t round = 0; round < 20; round++) {
        draw_world(&rng);
        for (uint32_t kind = 0; kind < 3; kind++) {
            struct told told = {};
            old_kernel = kind == 1;
            no_folder = kind == 2;
            look(false, NULL, true);
            look(false, NULL, true); /* as often as it is asked for */
            look(false, &told, true);
            look(false, &told, false);
            look(true, NULL, true);
            myr_vec_done(&told.items);
        }
        old_kernel = no_folder = false;
    }
    assert_int_equal(open_files(), files);
}

/* A number that was given again is another process, which was not told yet. */
static void a_new_process_of_an_old_number_is_told(void **state)
{
    (void)state;
    struct told told = {};
    uint32_t stuck;
    count = 2;
    world[0] = (struct fake){.pid = SELF, .parent = 1, .began = 1, .threads = 1, .state = 'S'};
    world[1] = (struct fake){.pid = 101, .parent = SELF, .began = 5, .threads = 1, .state = 'S'};
    look(false, &told, true);
    look(false, &told, false);
    for (uint32_t i = 0; i < 2; i++) {
        world[1].began += i == 0;
        world[1].pid += i == 1;
        world[1].signals = 0;
        on = true;
        assert_int_equal(kill_descendants(15, &told, &stuck), 1);
        on = false;
        assert_int_equal(world[1].signals, 1);
        assert_int_equal(told.items.count, 2 + i);
    }
    myr_vec_done(&told.items);
}

#define MIDDLE " 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 "

static void a_process_is_read_from_one_line(void **state)
{
    static const struct {
        const char *text;
        uint64_t began;
        pid_t parent;
        char state;
    } all[] = {
        {"7 (x) S 3" MIDDLE "900 23\n", 900, 3, 'S'},
        {"7 (x) S 3" MIDDLE "900", 900, 3, 'S'},
        {"7 (a) R 9 (b) D 4" MIDDLE "18446744073709551615\n", UINT64_MAX, 4, 'D'},
        {"7 () Z 0" MIDDLE "0 1\n", 1, 0, 'Z'}, /* 0 says that there is none */
        {"7 (x) S 3" MIDDLE, 0, 99, '?'},       /* cut */
        {"7 (x) S 3\n", 0, 99, '?'},
        {"7 (x) S x" MIDDLE "900 23\n", 0, 99, '?'},
        {"7 (x) S 3" MIDDLE "x 23\n", 0, 99, '?'},
        {"7 (x)S 3" MIDDLE "900 23\n", 0, 99, '?'},
        {"7 (x)", 0, 99, '?'},
        {"7 x S 3" MIDDLE "900 23\n", 0, 99, '?'},
        {"", 0, 99, '?'},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        pid_t parent = 99;
        char how = '?';
        only = all[i].text;
        on = true;
        uint64_t began = process_began(7, &parent, &how);
        uint64_t alone = process_began(7, NULL, NULL);
        on = false;
        assert_int_equal(began, all[i].began);
        assert_int_equal(alone, began);
        assert_int_equal(parent, all[i].parent);
        assert_int_equal(how, all[i].state);
    }
    only = NULL;
}

/* The first word of the file, as far as there is room for it. */
static void boots_have_names(void **state)
{
#define TEN "0123456789"
    static const char *const all[][2] = {
        {TEN TEN TEN "012345\n", TEN TEN TEN "012345"},
        {TEN TEN TEN "012345678\n", TEN TEN TEN "012345678"},
        {TEN TEN TEN TEN "\n", TEN TEN TEN "012345678"},
        {"abc def\n", "abc"},
        {"abc", "abc"},
        {"\n", ""},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        char boot[44];
        memset(boot, '#', sizeof(boot));
        only = all[i][0];
        on = true;
        boot_id(boot);
        on = false;
        assert_string_equal(boot, all[i][1]);
        assert_memory_equal(boot + 40, "####", 4);
    }
    only = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_are_told_who_descend_or_have_the_mark),
        cmocka_unit_test(a_new_process_of_an_old_number_is_told),
        cmocka_unit_test(a_process_is_read_from_one_line),
        cmocka_unit_test(boots_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
