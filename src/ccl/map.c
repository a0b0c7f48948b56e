#include "map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_LENGTH 100

struct ccl_map {
    char name[NAME_MAX_LENGTH + 32];
    int file;
    size_t bytes;
    void *memory;
};

static int set_name(struct ccl_map *map, const char *name, struct myr_err *err)
{
    size_t length = name ? strlen(name) : 0;
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    if (length == 0 || length > NAME_MAX_LENGTH || strspn(name, allowed) != length) {
        return myr_err_set(err, MYR_EINVAL,
                           "a group's name has 1 to %d letters, digits, '.', '-' and '_'",
                           NAME_MAX_LENGTH);
    }
    snprintf(map->name, sizeof(map->name), "/myriad-ccl-%s", name);
    return MYR_OK;
}

static int full(struct myr_err *err, size_t bytes)
{
    return myr_err_set(err, MYR_ENOMEM, "no %zu MiB of shared memory: %s", bytes >> 20,
                       strerror(errno));
}

/*
 * Whether the file holds such a group already. If all its members are gone the next ones find that
 * out as they would of some: the group goes on, and no epoch comes twice.
 */
static bool fits(int file, size_t bytes, const struct myr_ccl_conf *conf)
{
    struct stat info;
    struct ccl_shared head;
    return fstat(file, &info) == 0 && (size_t)info.st_size == bytes &&
           pread(file, &head, sizeof(head), 0) == sizeof(head) &&
           atomic_load(&head.magic) == CCL_MAGIC && head.places == conf->places &&
           head.stage_bytes == conf->stage_bytes && head.members == conf->members;
}

/* Nobody else has the file: what is in it is of no use to anybody. */
static int make_anew(struct ccl_map *map, const struct myr_ccl_conf *conf, struct myr_err *err)
{
    if (ftruncate(map->file, 0) < 0) {
        return myr_err_errno(err, "cannot empty", map->name);
    }
    /* Claimed now: a page that is missing later would be a signal in the middle of a call. */
    errno = posix_fallocate(map->file, 0, (off_t)map->bytes);
    if (errno != 0) {
        return full(err, map->bytes);
    }
    void *memory = mmap(NULL, map->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map->file, 0);
    if (memory == MAP_FAILED) {
        return full(err, map->bytes);
    }
    ccl_shared_init(memory, conf);
    munmap(memory, map->bytes);
    return MYR_OK;
}

static int other_sizes(struct myr_err *err)
{
    return myr_err_set(err, MYR_EINVAL, "the group has been made with other sizes by others");
}

static int map_memory(struct ccl_map *map, const struct myr_ccl_conf *conf, struct myr_err *err)
{
    struct stat info;
    if (fstat(map->file, &info) < 0) {
        return myr_err_errno(err, "cannot look at", map->name);
    }
    if ((size_t)info.st_size != map->bytes) {
        return other_sizes(err);
    }
    map->memory =
        mmap(NULL, map->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, map->file, 0);
    if (map->memory == MAP_FAILED) {
        map->memory = NULL;
        return full(err, map->bytes);
    }
    if (!fits(map->file, map->bytes, conf)) {
        return other_sizes(err);
    }
    return MYR_OK;
}

/* The lock of who is there, having made the memory when nobody was. 1: the file is gone. */
static int settle_in(struct ccl_map *map, const struct myr_ccl_conf *conf, struct myr_err *err)
{
    if (flock(map->file, LOCK_EX | LOCK_NB) == 0 && !fits(map->file, map->bytes, conf)) {
        MYR_TRY(make_anew(map, conf, err));
    }
    while (flock(map->file, LOCK_SH) < 0) {
        if (errno != EINTR) {
            return myr_err_errno(err, "cannot lock", map->name);
        }
    }
    struct stat info;
    if (fstat(map->file, &info) < 0) {
        return myr_err_errno(err, "cannot look at", map->name);
    }
    /* Between the two locks the last one may have taken it away, or its maker may have died. */
    return info.st_nlink == 0 || info.st_size == 0;
}

/* Opens the file and takes its lock; again when it was taken away in between. */
static int open_file(struct ccl_map *map, const struct myr_ccl_conf *conf, struct myr_err *err)
{
    MYR_TRY(set_name(map, conf->name, err));
    for (int tries = 0; tries < 100; tries++) {
        map->file = shm_open(map->name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (map->file < 0) {
            return myr_err_errno(err, "cannot open the shared memory", map->name);
        }
        int gone = settle_in(map, conf, err);
        if (gone <= 0) {
            return gone;
        }
        close(map->file);
        map->file = -1;
    }
    return myr_err_set(err, MYR_EAWAY, "the group comes and goes");
}

static int open_and_map(struct ccl_map *map, const struct myr_ccl_conf *conf, struct myr_err *err)
{
    MYR_TRY(open_file(map, conf, err));
    return map_memory(map, conf, err);
}

int ccl_map_open(const struct myr_ccl_conf *conf, struct ccl_map **ret, struct myr_err *err)
{
    struct ccl_layout layout;
    ccl_layout(conf->places, conf->stage_bytes, &layout);
    struct ccl_map *map = calloc(1, sizeof(*map));
    if (!map) {
        return myr_err_set(err, MYR_ENOMEM, "no memory for a group");
    }
    map->file = -1;
    map->bytes = layout.total;
    int rc = open_and_map(map, conf, err);
    if (rc < 0) {
        ccl_map_close(map);
        return rc;
    }
    *ret = map;
    return MYR_OK;
}

void ccl_map_close(struct ccl_map *map)
{
    if (!map) {
        return;
    }
    if (map->memory) {
        munmap(map->memory, map->bytes);
    }
    if (map->file >= 0) {
        struct stat info;
        /* Of two that leave at once each must let go of it before it asks for all of it. */
        flock(map->file, LOCK_UN);
        if (flock(map->file, LOCK_EX | LOCK_NB) == 0 && fstat(map->file, &info) == 0 &&
            info.st_nlink > 0) {
            shm_unlink(map->name);
        }
        close(map->file);
    }
    free(map);
}

struct ccl_shared *ccl_map_shared(const struct ccl_map *map)
{
    return map->memory;
}
