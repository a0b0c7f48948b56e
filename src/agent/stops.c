/*
 * stops: the newest epoch of each job that must not run here any more, in a file to which lines are
 * added and which is written anew when it has grown. A stop is on the disk before it is answered;
 * what is kept in memory is what the file says.
 */
#include "stops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char name[] = "stops";

/* By last use, asked for or told; the order of the list means nothing. */
static void forget_oldest(struct stops *stops)
{
    size_t oldest = 0;
    MYR_ASSERT(stops->items.count > 0);
    for (size_t i = 1; i < stops->items.count; i++) {
        oldest = stops->items.items[i].used < stops->items.items[oldest].used ? i : oldest;
    }
    stops->items.items[oldest] = stops->items.items[--stops->items.count];
    MYR_ASSERT(stops->items.count < STOPS_MAX); /* there is room again */
}

/* Never back to an older epoch. */
static void remember(struct stops *stops, uint64_t job, uint32_t epoch)
{
    for (size_t i = 0; i < stops->items.count; i++) {
        struct stop *stop = &stops->items.items[i];
        MYR_ASSERT(stop->used <= stops->clock);
        if (stop->job == job) {
            stop->epoch = epoch > stop->epoch ? epoch : stop->epoch;
            stop->used = ++stops->clock;
            return;
        }
    }
    if (stops->items.count >= STOPS_MAX) {
        forget_oldest(stops);
    }
    myr_vec_push(&stops->items, (struct stop){job, epoch, ++stops->clock});
    MYR_ASSERT(stops->items.count <= STOPS_MAX);
}

/* "12 3 .": the point says that the line was written to its end. */
void stops_read(struct stops *stops, struct myr_str text)
{
    const char *at = text.data;
    const char *end = text.data + text.len;
    while (at < end) {
        /* A line without its end was cut off by a crash: that stop was never answered. */
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) {
            return;
        }
        const char *blank = memchr(at, ' ', (size_t)(stop - at));
        uint64_t job;
        uint64_t epoch;
        /* A line that does not end in its point was torn and mended: it names no stop. */
        if (blank && stop - blank > 3 && stop[-1] == '.' && stop[-2] == ' ' &&
            myr_str_to_u64((struct myr_str){at, (size_t)(blank - at)}, &job) &&
            myr_str_to_u64((struct myr_str){blank + 1, (size_t)(stop - 2 - blank - 1)}, &epoch) &&
            epoch <= UINT32_MAX) {
            remember(stops, job, (uint32_t)epoch);
        }
        stops->lines++;
        at = stop + 1;
    }
}

/* The old descriptor is kept until the new one is there: after a rename it leads to no file. */
static int open_file(struct stops *stops, struct myr_err *err)
{
    MYR_ASSERT(stops->folder);
    char path[AGENT_PATH_MAX];
    path_join(path, stops->folder, name);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return myr_err_errno(err, "cannot open", path);
    }
    if (stops->fd >= 0) {
        close(stops->fd);
    }
    stops->fd = fd;
    return MYR_OK;
}

/* One line a job. On failure the old file, and the descriptor to it, stay as they were. */
static int write_anew(struct stops *stops, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_put_lit(&text, "");
    MYR_ASSERT(stops->items.count <= STOPS_MAX);
    for (size_t i = 0; i < stops->items.count; i++) {
        myr_buf_printf(&text, "%llu %u .\n", (unsigned long long)stops->items.items[i].job,
                       stops->items.items[i].epoch);
    }
    MYR_TRY(file_put(stops->folder, name, (struct myr_str){text.data, text.len}, err));
    MYR_TRY(open_file(stops, err));
    MYR_ASSERT(stops->fd >= 0 && stops->items.count <= STOPS_MAX);
    stops->lines = (uint32_t)stops->items.count;
    stops->torn = false;
    return MYR_OK;
}

/* Written anew at every start, so that it is short and whole. */
int stops_open(struct stops *stops, const char *folder, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_err why = {};
    MYR_ASSERT(folder);
    *stops = (struct stops){.folder = folder, .fd = -1};
    int rc = file_get(folder, name, &text, &why);
    if (rc == MYR_ENOENT) {
        return write_anew(stops, err);
    }
    if (rc < 0) { /* there, or perhaps there: nothing may take its place */
        return myr_err_set(err, rc, "%s", why.message);
    }
    stops_read(stops, (struct myr_str){text.data, text.len});
    /* A part of a line at the end would spoil the next one. On a full disk it is lived with as it
     * is: ranks must be looked after all the same. */
    stops->torn = text.len > 0 && text.data[text.len - 1] != '\n';
    return write_anew(stops, NULL) < 0 ? open_file(stops, err) : MYR_OK;
}

void stops_done(struct stops *stops)
{
    if (stops->fd >= 0) {
        close(stops->fd);
        stops->fd = -1;
    }
    myr_vec_done(&stops->items);
}

/* When this returns MYR_OK the stop outlives any crash; only then it may be answered. */
int stops_add(struct stops *stops, uint64_t job, uint32_t epoch, struct myr_err *err)
{
    char line[64];
    MYR_ASSERT(stops->folder); /* it was opened; whether the disk takes a line is seen below */
    if (stops_has(stops, job, epoch)) {
        return MYR_OK;
    }
    int len = snprintf(line, sizeof(line), "%s%llu %u .\n", stops->torn ? "\n" : "",
                       (unsigned long long)job, epoch);
    MYR_ASSERT(len > 0 && len < (int)sizeof(line));
    deadly_point();
    /* A write that failed half-way leaves a part of a line: a new file has none. One that did less
     * than was asked for says nothing, and means a full disk. */
    errno = ENOSPC;
    /* In two halves, so that tests can kill the process between them. */
    ssize_t put = write(stops->fd, line, (size_t)len / 2);
    deadly_point();
    put += write(stops->fd, line + len / 2, (size_t)(len - len / 2));
    deadly_point();
    if (put != len || fdatasync(stops->fd) < 0) {
        /* Not remembered in memory either: who asks again must find it as the file has it. */
        int rc = myr_err_errno(err, "cannot remember a stop", stops->folder);
        MYR_PROBE("a stop cannot be kept");
        stops->torn = true;
        (void)write_anew(stops, NULL);
        return rc;
    }
    stops->torn = false;
    remember(stops, job, epoch);
    return ++stops->lines > 2 * STOPS_MAX ? write_anew(stops, err) : MYR_OK;
}

/* Older epochs are stopped with a newer one. */
bool stops_has(struct stops *stops, uint64_t job, uint32_t epoch)
{
    for (size_t i = 0; i < stops->items.count; i++) {
        MYR_ASSERT(stops->items.items[i].used <= stops->clock);
        if (stops->items.items[i].job == job) {
            stops->items.items[i].used = ++stops->clock;
            return stops->items.items[i].epoch >= epoch;
        }
    }
    return false;
}
