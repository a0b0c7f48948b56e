/*
 * What a node finds out about itself, on a machine of the test's own: adapters, disks, memory and
 * names lie in a folder that stands in for /sys and /proc.
 */
#include "inventory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "disk/files.h"
#include "leaks.h"

/* The libraries that are looked for keep their tables. */
long myr_leaks_allowed = 10000;

#define FOR_ALL __attribute__((visibility("default")))

static char root[] = "/tmp/myr-collect-XXXXXX";
static bool elsewhere; /* /sys and /proc lie below 'root' */

static const char *moved(const char *path, char ret[600])
{
    if (!elsewhere || (strncmp(path, "/sys/", 5) != 0 && strncmp(path, "/proc/mem", 9) != 0)) {
        return path;
    }
    snprintf(ret, 600, "%s%s", root, path);
    return ret;
}

FOR_ALL int open(const char *path, int flags, ...)
{
    char other[600];
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    return (int)syscall(SYS_openat, AT_FDCWD, moved(path, other), flags, mode);
}

FOR_ALL int scandir(const char *path, struct dirent ***ret, int (*wanted)(const struct dirent *),
                    int (*compare)(const struct dirent **, const struct dirent **))
{
    char other[600];
    int (*behind)(const char *, struct dirent ***, int (*)(const struct dirent *),
                  int (*)(const struct dirent **, const struct dirent **));
    *(void **)&behind = dlsym(RTLD_NEXT, "scandir");
    return behind(moved(path, other), ret, wanted, compare);
}

static void put(const char *path, const char *text)
{
    char whole[600];
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    *strrchr(whole, '/') = '\0';
    assert_int_equal(myr_make_dirs(whole, &err), MYR_OK);
    snprintf(whole, sizeof(whole), "%s%s", root, path);
    myr_buf_puts(&bytes, text);
    assert_int_equal(myr_file_write(whole, &bytes, &err), MYR_OK);
}

static void take_away(const char *folder)
{
    struct dirent **found;
    int count = scandir(folder, &found, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[600];
        snprintf(path, sizeof(path), "%s/%s", folder, found[i]->d_name);
        if (found[i]->d_type == DT_DIR && found[i]->d_name[0] != '.') {
            take_away(path);
        }
        if (found[i]->d_name[0] != '.') {
            (void)remove(path);
        }
        free(found[i]);
    }
    free(found);
    (void)rmdir(folder);
}

/* All of it as JSON, with no blanks but in texts. */
static void collected(struct myr_buf *ret)
{
    struct myr_arena arena;
    struct myr_answer answer;
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err err = {};
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "myriad.inventory", 1);
    elsewhere = true;
    inventory_collect(&answer);
    elsewhere = false;
    assert_int_equal(myr_answer_write(&answer, &form, &text, &err), MYR_OK);
    form.format = MYR_FORMAT_TABLE; /* behind it, as people see it */
    assert_int_equal(myr_answer_write(&answer, &form, &text, &err), MYR_OK);
    bool inside = false;
    for (const char *c = text.data; *c; c++) {
        inside = inside != (*c == '"');
        if (inside || (*c != ' ' && *c != '\n')) {
            myr_buf_putc(ret, *c);
        }
    }
    myr_arena_done(&arena);
}

static void holds(const struct myr_buf *text, const char *part)
{
    if (!strstr(text->data, part)) {
        fail_msg("no '%s' in %s", part, text->data);
    }
}

static void a_node(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    char host[256] = "", line[400];
    assert_non_null(mkdtemp(root));
    put("/sys/class/dmi/id/product_serial", "SN\t7\x7f!~\nmore\n");
    put("/sys/class/dmi/id/product_name", "A server");
    put("/proc/meminfo", "MemFree:  12 kB\nMemTotal:   2113929216 kB\nOther: 1 kB\n");
    put("/sys/class/infiniband/mlx5_1/node_guid", "b8ce:f603:0000:0002\n");
    put("/sys/class/infiniband/mlx5_0/node_guid", "b8ce:f603:0000:0001\n");
    put("/sys/class/infiniband/mlx5_0/fw_ver", "28.40.1000\n");
    put("/sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
    put("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
    put("/sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
    put("/sys/block/nvme0n1/size", "7501476528\n");
    put("/sys/block/nvme0n1/device/model", "Fast Disk      \n");
    put("/sys/block/loop0/size", "2048\n");
    put("/sys/block/ram0/size", "2048\n");
    put("/sys/block/sr0/size", "0\n");
    put("/sys/block/odd/size", "many\n");
    put("/sys/block/sda/size", "1\n");
    collected(&text);
    (void)gethostname(host, sizeof(host) - 1);
    snprintf(line, sizeof(line), "\"host\":\"%s\",\"serial\":\"SN?7?!~\",\"product\":\"A server\",",
             host);
    holds(&text, line);
    snprintf(line, sizeof(line), "\"cpus\":%ld,\"memory_bytes\":2164663517184,",
             sysconf(_SC_NPROCESSORS_ONLN));
    holds(&text, line);
    snprintf(line, sizeof(line), "CPUs%ldmemory2,016GiBGPUs0", sysconf(_SC_NPROCESSORS_ONLN));
    holds(&text, line);
    holds(&text,
          "\"nics\":[{\"name\":\"mlx5_0\",\"guid\":\"b8ce:f603:0000:0001\","
          "\"firmware\":\"28.40.1000\",\"numa\":\"1\",\"ports\":["
          "{\"port\":\"1\",\"state\":\"4: ACTIVE\",\"rate\":\"400 Gb/sec (4X NDR)\","
          "\"link_layer\":\"InfiniBand\"},"
          "{\"port\":\"2\",\"state\":\"1: DOWN\",\"rate\":\"\",\"link_layer\":\"\"}]},"
          "{\"name\":\"mlx5_1\",\"guid\":\"b8ce:f603:0000:0002\",\"firmware\":\"\",\"numa\":\"\","
          "\"ports\":[]}],"
          "\"disks\":[{\"name\":\"nvme0n1\",\"bytes\":3840755982336,"
          "\"model\":\"Fast Disk      \"},{\"name\":\"sda\",\"bytes\":512,\"model\":\"\"}]");
    /* What is nowhere to be found is empty. */
    take_away(root);
    myr_buf_clear(&text);
    collected(&text);
    holds(&text, "\"serial\":\"\",\"product\":\"\",");
    holds(&text, "\"memory_bytes\":0,");
    holds(&text, "\"nics\":[],\"disks\":[]");
}

/* Null or a list, as the machine has it, but each of them there, and in this order. */
static void every_part_of_a_node_is_told(void **state)
{
    (void)state;
    static const char *const keys[] = {"host", "serial", "product", "cpus", "memory_bytes",
                                       "gpus", "numa",   "pcie",    "nics", "disks"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    collected(&text);
    const char *at = text.data;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        char key[32];
        snprintf(key, sizeof(key), "\"%s\":", keys[i]);
        const char *found = strstr(at, key);
        if (!found) {
            fail_msg("no %s behind the others in %s", key, text.data);
        }
        at = found;
    }
}

/* The number behind the word, wherever it stands; what is no such line or no number is 0. */
static void memory_is_what_the_kernel_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } all[] = {
        {"MemTotal: 1 kB\n", 1024},
        {"MemTotal:7 kB\n", 7168},
        {"MemTotal:         3", 3072},
        {"MemFree: 5 kB\nMemTotal: 9 kB\nMemTotal: 8 kB\n", 9216},
        {"MemTotal: 18014398509481983 kB\n", 18446744073709550592U},
        {"MemTotal: 0 kB\n", 0},
        {"", 0},
        {"MemFree: 5 kB\n", 0},
        {"MemTotal 5 kB\n", 0},
        {"MemTotal:", 0},
        {"MemTotal: much\n", 0},
        {"MemTotal: -5 kB\n", 0},
        {"MemTotal: 99999999999999999999 kB\n", 0},
    };
    memcpy(root + sizeof(root) - 7, "XXXXXX", 7);
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        char line[80];
        put("/proc/meminfo", all[i].text);
        collected(&text);
        snprintf(line, sizeof(line), "\"memory_bytes\":%llu,", (unsigned long long)all[i].bytes);
        holds(&text, line);
    }
    take_away(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node),
        cmocka_unit_test(memory_is_what_the_kernel_says),
        cmocka_unit_test(every_part_of_a_node_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
