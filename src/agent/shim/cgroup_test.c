/*
 * Groups on hosts of every kind: what /proc says is the test's, the folders are real ones below
 * one of its own, and what is asked of the kernel is written down (tests/kept/agent-cgroup.txt).
 * The filter of devices is run here as the kernel would run it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept.h"
#include "shim/shim.h"

static char root[] = "/tmp/myr-cgroup-XXXXXX";
static struct myr_buf story;
static struct myr_buf mounts, own; /* of /proc/self */
static bool on;                    /* calls are written down */
static uint32_t whole_writes;      /* so many are taken whole, the next ones in part */
static enum { FILTER_WORKS, FILTER_NOT_LOADED, FILTER_NOT_ATTACHED } filter;
static pid_t child;

/* The folder's name and numbers of processes differ every time. */
static void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *fmt, ...)
{
    char text[1500];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    for (const char *at = text; *at;) {
        if (strncmp(at, root, strlen(root)) == 0) {
            myr_buf_putc(&story, '~');
            at += strlen(root);
        } else {
            myr_buf_putc(&story, *at++);
        }
    }
    myr_buf_putc(&story, '\n');
}

static const char *path_of_fd(int fd)
{
    static char path[AGENT_PATH_MAX + 64];
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = '\0';
    return path;
}

/* --- the kernel */

#define CALL __attribute__((visibility("default")))

static long call(long number, long a, long b, long c, long d)
{
    static long (*real)(long, ...);
    real = real ? real : (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a, b, c, d, 0L, 0L);
}

/* The kernel takes addresses as numbers. */
static const void *at_address(uint64_t address)
{
    const void *at;
    memcpy(&at, &address, sizeof(at));
    return at;
}

static int open_text(const struct myr_buf *text)
{
    int pipes[2];
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    assert_int_equal(fcntl(pipes[1], F_SETPIPE_SZ, 1 << 16) >= (int)text->len, 1);
    assert_int_equal(call(SYS_write, pipes[1], (long)text->data, (long)text->len, 0), text->len);
    close(pipes[1]);
    return pipes[0];
}

CALL int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    const struct myr_buf *text = strcmp(path, "/proc/self/mounts") == 0   ? &mounts
                                 : strcmp(path, "/proc/self/cgroup") == 0 ? &own
                                                                          : NULL;
    if (on && text) {
        errno = ENOENT;
        return text->len ? open_text(text) : -1;
    }
    if (on && !(flags & O_CLOEXEC)) {
        tell("    %s is inherited", path);
    }
    return (int)call(SYS_openat, AT_FDCWD, (long)path, flags, mode);
}

CALL ssize_t write(int fd, const void *bytes, size_t len)
{
    if (!on) {
        return call(SYS_write, fd, (long)bytes, (long)len, 0);
    }
    bool whole = whole_writes > 0;
    whole_writes -= whole;
    tell("    writes '%.*s' to %s%s", (int)len, (const char *)bytes, path_of_fd(fd),
         whole ? "" : ", which takes a part");
    return whole ? (ssize_t)len : (ssize_t)len - 1;
}

CALL int mkdir(const char *path, mode_t mode)
{
    int rc = (int)call(SYS_mkdirat, AT_FDCWD, (long)path, mode, 0);
    if (on) {
        int error = errno;
        tell("    makes %s %03o%s", path, mode, rc == 0 ? "" : ", which fails");
        errno = error;
    }
    return rc;
}

CALL int rmdir(const char *path)
{
    if (on) {
        tell("    removes %s", path);
        return 0;
    }
    return (int)call(SYS_unlinkat, AT_FDCWD, (long)path, AT_REMOVEDIR, 0);
}

/* One access of a device, as the kernel asks the filter. */
static uint64_t run_filter(const struct bpf_insn *insns, uint32_t count,
                           struct bpf_cgroup_dev_ctx access)
{
    uint64_t reg[11] = {99};
    for (uint32_t at = 0, steps = 0; at < count; at++) {
        const struct bpf_insn *insn = &insns[at];
        assert_true(steps++ < count);
        switch (insn->code) {
        case BPF_LDX | BPF_MEM | BPF_W:
            assert_int_equal(insn->src_reg, BPF_REG_1);
            assert_in_range(insn->off, 0, sizeof(access) - 4);
            memcpy(&reg[insn->dst_reg], (const char *)&access + insn->off, 4);
            break;
        case BPF_ALU64 | BPF_AND | BPF_K:
            reg[insn->dst_reg] &= (uint64_t)insn->imm;
            break;
        case BPF_ALU64 | BPF_MOV | BPF_K:
            reg[insn->dst_reg] = (uint64_t)insn->imm;
            break;
        case BPF_JMP | BPF_JNE | BPF_K:
            at += reg[insn->dst_reg] != (uint64_t)insn->imm ? (uint32_t)insn->off : 0;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += reg[insn->dst_reg] == (uint64_t)insn->imm ? (uint32_t)insn->off : 0;
            break;
        case BPF_JMP | BPF_EXIT:
            return reg[0];
        default:
            fail_msg("instruction %x", insn->code);
        }
    }
    fail_msg("the filter has no end");
    return 0;
}

static void tell_filter(const union bpf_attr *load)
{
    static const uint32_t kinds[] = {BPF_DEVCG_DEV_CHAR, BPF_DEVCG_DEV_BLOCK};
    static const uint32_t numbers[][2] = {{195, 0}, {195, 1},   {195, 2},  {195, 3},
                                          {195, 4}, {195, 255}, {194, 1},  {196, 3},
                                          {1, 3},   {0, 0},     {195, 63}, {195, 1 << 19}};
    tell("    loads a filter of type %u, %u instructions, license '%s'", load->prog_type,
         load->insn_cnt, (const char *)at_address(load->license));
    for (uint32_t kind = 0; kind < 2; kind++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf refused = {};
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
            for (uint32_t wanted = 1; wanted < 8; wanted++) {
                uint64_t verdict = run_filter(
                    at_address(load->insns), load->insn_cnt,
                    (struct bpf_cgroup_dev_ctx){.access_type = wanted << 16 | kinds[kind],
                                                .major = numbers[i][0],
                                                .minor = numbers[i][1]});
                assert_true(verdict <= 1);
                if (!verdict && wanted == 1) {
                    myr_buf_printf(&refused, " %u:%u", numbers[i][0], numbers[i][1]);
                } else if (!verdict) {
                    myr_buf_puts(&refused, wanted == 7 ? "*" : "+");
                }
            }
        }
        tell("      refuses of %s devices%s", kind ? "block" : "character",
             refused.len ? refused.data : " none");
    }
}

static long bpf(int what, const union bpf_attr *attr, size_t size)
{
    static int program;
    assert_int_equal(size, sizeof(*attr));
    if (what == BPF_PROG_LOAD) {
        tell_filter(attr);
        program = filter == FILTER_NOT_LOADED ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
        return program;
    }
    assert_int_equal(what, BPF_PROG_ATTACH);
    assert_int_equal(attr->attach_bpf_fd, program);
    tell("    attaches it to %s, type %u, flags %u", path_of_fd((int)attr->target_fd),
         attr->attach_type, attr->attach_flags);
    return filter == FILTER_NOT_ATTACHED ? -1 : 0;
}

CALL long syscall(long number, ...)
{
    long a[4];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 4; i++) {
        a[i] = va_arg(args, long);
    }
    va_end(args);
    if (on && number == SYS_bpf) {
        return bpf((int)a[0], at_address((uint64_t)a[1]), (size_t)a[2]);
    }
    if (on && number == SYS_pidfd_send_signal) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf info = {};
        char name[24];
        char sought[40];
        snprintf(name, sizeof(name), "%ld", a[0]);
        assert_int_equal(file_get("/proc/self/fdinfo", name, &info, NULL), MYR_OK);
        snprintf(sought, sizeof(sought), "\nPid:\t%d\n", (int)child);
        tell("    signal %ld to %s", a[1], strstr(info.data, sought) ? "the child" : "another");
        return 0;
    }
    return call(number, a[0], a[1], a[2], a[3]);
}

/* --- hosts */

static uint32_t open_files(void)
{
    uint32_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir)) {
        count++;
    }
    closedir(dir);
    return count;
}

static void put_below(const char *folder, const char *name, const char *text)
{
    char path[AGENT_PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* With the test's folder where a '~' is. */
static void set_text(struct myr_buf *ret, const char *text)
{
    myr_buf_clear(ret);
    for (; *text; text++) {
        if (*text == '~') {
            myr_buf_puts(ret, root);
        } else {
            myr_buf_putc(ret, *text);
        }
    }
}

#define V2      "cgroup2 ~/v2 cgroup2 rw,relatime 0 0\n"
#define DEVICES "cgroup ~/devices cgroup rw,nosuid,devices 0 0\n"
#define FREEZER "cgroup ~/freezer cgroup rw,nosuid,freezer 0 0\n"
#define ROOTS   "5:freezer:/\n2:devices:/\n0::/\n"

static const struct host {
    const char *what, *mounts, *own;
} hosts[] = {
    {"version 2 alone", "proc /proc proc rw 0 0\n" V2, "0::/\n"},
    {"version 2, below a service", V2, "0::/system.slice/agent\n"},
    {"version 2, without an end of the line", "cgroup2 ~/v2 cgroup2 rw", "0::/system.slice/agent"},
    {"both", DEVICES FREEZER V2, ROOTS},
    {"both, each below a service", V2 FREEZER DEVICES,
     "5:freezer:/system.slice/agent\n2:devices:/system.slice/agent\n0::/system.slice/agent\n"},
    {"version 1 alone", FREEZER DEVICES, ROOTS},
    {"version 1 without its controller of devices", FREEZER, ROOTS},
    {"version 1 without its freezer", DEVICES, ROOTS},
    {"devices that we are not in", DEVICES V2, "0::/\n"},
    {"a freezer that we are not in", FREEZER, "0::/\n"},
    {"version 2 that we are not in", V2 FREEZER, "5:freezer:/\n"},
    {"version 2 where it may not be made", "cgroup2 ~/no/such cgroup2 rw 0 0\n" FREEZER, ROOTS},
    {"none of them may be made",
     "cgroup2 ~/no2 cgroup2 rw 0 0\ncgroup ~/no1 cgroup rw,freezer,devices 0 0\n", ROOTS},
    {"words that only look like it",
     "cgroup2 ~/v2 cgroup2fs rw 0 0\ncgroup2 ~/v2 cgroup\ncgroup2\n \ncgroup ~/freezer\n"
     "x cgroup2 tmpfs rw 0 0\ncgroup ~/cpu cgroup rw,cpu 0 0\n",
     ROOTS},
    {"no mounts", "", ROOTS},
    {"no groups", DEVICES FREEZER V2, ""},
};

static void open_host(const struct host *host, struct cgroup *ret, bool make)
{
    set_text(&mounts, host->mounts);
    set_text(&own, host->own);
    memset(ret, 0x5A, sizeof(*ret));
    on = true;
    cgroup_open(ret, "9-3-x", make);
    on = false;
    tell("  group '%s', devices '%s', version %d", ret->path, ret->devices, ret->version);
}

static const struct device three[] = {{195, 1}, {195, 3}, {196, 3}};

static void deny(const struct cgroup *cgroup, uint32_t takes)
{
    const char *by = "nobody";
    whole_writes = takes;
    on = true;
    bool good = cgroup_deny(cgroup, three, MYR_ARRAY_COUNT(three), &by);
    on = false;
    tell("  %s%s", good ? "closed by " : "not closed", good ? by : "");
}

static void kill_all(const struct cgroup *cgroup, const char *first, pid_t then, pid_t last)
{
    char text[200];
    snprintf(text, sizeof(text), "%s%d\n%d", first, (int)then, (int)last);
    if (cgroup->path[0]) {
        put_below(cgroup->path, "cgroup.procs", then ? text : "");
    }
    on = true;
    whole_writes = 9;
    cgroup_kill(cgroup);
    tell("  empty: %d", cgroup_is_empty(cgroup));
    on = false;
}

/* What a launcher does with its group, from the first to the last. */
static void use(const struct cgroup *cgroup)
{
    on = true;
    whole_writes = 9;
    cgroup_add(cgroup, 11); /* neither folder has its files yet */
    cgroup_kill(cgroup);
    tell("  empty: %d", cgroup_is_empty(cgroup));
    on = false;
    deny(cgroup, 9);
    if (cgroup->path[0]) {
        put_below(cgroup->path, "cgroup.procs", "");
    }
    if (cgroup->devices[0]) {
        put_below(cgroup->devices, "cgroup.procs", "");
        put_below(cgroup->devices, "devices.deny", "");
    }
    on = true;
    cgroup_add(cgroup, 4194304);
    on = false;
    static const uint32_t parts[] = {9, 0, 2};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        deny(cgroup, parts[i]);
    }
    filter = FILTER_NOT_LOADED;
    deny(cgroup, 9);
    filter = FILTER_NOT_ATTACHED;
    deny(cgroup, 9);
    filter = FILTER_WORKS;
    kill_all(cgroup, "", 0, 0);
    kill_all(cgroup, "", child, getpid());
    kill_all(cgroup, "x\n\n-1\n4194305\n1 2\n", getpid(), child);
    if (cgroup->path[0]) {
        put_below(cgroup->path, "cgroup.kill", "");
        kill_all(cgroup, "", child, getpid());
    }
    on = true;
    cgroup_remove(cgroup);
    on = false;
}

/* From none to as many as there can be. */
static void filters_of_every_length(void)
{
    struct device many[DEVICES_MAX];
    for (uint32_t i = 0; i < DEVICES_MAX; i++) {
        many[i] = (struct device){195, i};
    }
    on = true;
    for (uint32_t count = 0; count <= DEVICES_MAX; count += count < 3 ? 1 : 61) {
        assert_true(device_filter(root, many, count));
    }
    on = false;
}

static void make_folder(const char *name)
{
    char path[AGENT_PATH_MAX];
    struct myr_err err = {};
    snprintf(path, sizeof(path), "%s/%s", root, name);
    assert_int_equal(myr_make_dirs(path, &err), MYR_OK);
}

static void remove_below(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char below[AGENT_PATH_MAX + 300];
        snprintf(below, sizeof(below), "%s/%s", path, entries[i]->d_name);
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0 &&
            unlink(below) < 0) {
            remove_below(below);
        }
        free(entries[i]);
    }
    free(count >= 0 ? entries : NULL);
    assert_int_equal(rmdir(path), 0);
}

static void begin_root(void)
{
    memcpy(root + sizeof(root) - 7, "XXXXXX", 7);
    assert_non_null(mkdtemp(root));
    make_folder("v2/system.slice/agent");
    make_folder("devices/system.slice/agent");
    make_folder("freezer/system.slice/agent");
    make_folder("cpu");
}

static void hosts_of_every_kind(void **state)
{
    (void)state;
    child = fork();
    if (child == 0) {
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
        _exit(1);
    }
    assert_true(child > 0);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(hosts); i++) {
        struct cgroup cgroup;
        struct cgroup found;
        tell("%s", hosts[i].what);
        begin_root();
        uint32_t files = open_files();
        open_host(&hosts[i], &cgroup, false); /* as after a crash, and there is none */
        assert_int_equal(cgroup.path[0] | cgroup.devices[0] | cgroup.version, 0);
        open_host(&hosts[i], &cgroup, true);
        open_host(&hosts[i], &found, true); /* one that is there is taken */
        assert_memory_equal(&cgroup.version, &found.version, sizeof(cgroup.version));
        open_host(&hosts[i], &found, false);
        assert_string_equal(cgroup.path, found.path);
        assert_string_equal(cgroup.devices, found.devices);
        use(&cgroup);
        assert_int_equal(open_files(), files);
        remove_below(root);
    }
    tell("filters");
    begin_root();
    filters_of_every_length();
    remove_below(root);
    assert_int_equal(kill(child, SIGKILL) | (waitpid(child, NULL, 0) != child), 0);
    assert_kept("agent-cgroup.txt", &story);
    myr_buf_done(&story);
    myr_buf_done(&mounts);
    myr_buf_done(&own);
}

/* A path that is cut would be another group's: one byte more than there is room for is refused. */
static void a_name_has_room_or_is_none(void **state)
{
    (void)state;
    static const size_t lengths[] = {AGENT_PATH_MAX - 33, AGENT_PATH_MAX - 32, AGENT_PATH_MAX};
    begin_root();
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(lengths); i++) {
        struct cgroup cgroup;
        char path[AGENT_PATH_MAX + 64];
        size_t len = (size_t)snprintf(path, sizeof(path), "/long");
        size_t end = lengths[i] - strlen(root) - strlen("/v2/myriad-9-3-x");
        while (len < end) { /* folders of at most a hundred letters */
            path[len] = (end - len) % 100 == 98 && end - len > 1 ? '/' : 'a';
            len++;
        }
        path[len] = '\0';
        char folder[AGENT_PATH_MAX + 80];
        snprintf(folder, sizeof(folder), "v2%s", path);
        make_folder(folder);
        myr_buf_clear(&own);
        myr_buf_printf(&own, "0::%s\n", path);
        set_text(&mounts, V2);
        on = true;
        cgroup_open(&cgroup, "9-3-x", true);
        on = false;
        assert_int_equal(cgroup.version, i == 0 ? 2 : 0);
        assert_int_equal(strlen(cgroup.path), i == 0 ? lengths[i] : 0);
    }
    remove_below(root);
    myr_buf_done(&story);
    myr_buf_done(&mounts);
    myr_buf_done(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_of_every_kind),
        cmocka_unit_test(a_name_has_room_or_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
