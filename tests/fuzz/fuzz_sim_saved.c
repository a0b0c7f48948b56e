/*
 * Saved runs. The bytes are changes to a good one: which run, then three bytes of a place and one
 * that is mixed in there; what is left over cuts the end off. The checksum is made to fit, so that
 * the checks behind it are reached. Refused in one line, or good enough to be played to its end.
 * The fabric is a design that was planned once: planned for every input, it is most of the time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzz.h"
#include "myriad/model/design_file.h"
#include "myriad/sim.h"

enum { HEAD_BYTES = 48, LENGTH_AT = 16, CRC_AT = 40, RUNS = 4, DESIGN_FD = 100 };

static const char *const loads[RUNS] = {"permutation:100KB", "allreduce:ring,50KB,schedule=full",
                                        "alltoall:20KB,window=2", "incast:6:1,10KB"};

static void path_of(char *ret, size_t size)
{
    (void)snprintf(ret, size, "/tmp/myriad-fuzz-saved-%d", (int)getpid());
}

/* Without a name of its own, so that the question is the same in every process. */
static const char *design(void)
{
    static const char *known;
    if (!known) {
        char path[64];
        struct myr_sim_topology topology;
        struct myr_err err = {};
        path_of(path, sizeof(path));
        MYR_ASSERT(myr_sim_topology_make(&topology, "fat-tree:k=4", &err) == MYR_OK);
        MYR_ASSERT(myr_design_write(&topology.design, path, &err) == MYR_OK);
        myr_sim_topology_done(&topology);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        MYR_ASSERT(fd >= 0 && dup2(fd, DESIGN_FD) == DESIGN_FD && close(fd) == 0);
        (void)unlink(path);
        known = "/proc/self/fd/100";
    }
    return known;
}

static const struct myr_buf *good(uint32_t which)
{
    static struct myr_buf files[RUNS];
    if (files[which].len == 0) {
        char path[64];
        struct myr_sim_answer answer;
        struct myr_err err = {};
        path_of(path, sizeof(path));
        struct myr_sim_question question = {.design = design(),
                                            .workloads = {&loads[which], 1},
                                            .queue_pairs = 1,
                                            .efficiency_permille = 1000,
                                            .pause_permille = which == 3 ? 500 : 0,
                                            .save = path,
                                            .save_at = "8us"};
        MYR_ASSERT(myr_sim_ask(&answer, &question, &err) == MYR_OK);
        MYR_ASSERT(myr_file_read(path, 1 << 24, &files[which], &err) == MYR_OK);
        myr_sim_answer_done(&answer);
        (void)unlink(path);
    }
    return &files[which];
}

static void write_changed(const struct myr_buf *file, const uint8_t *data, size_t size)
{
    char path[64];
    struct myr_buf bytes = {};
    struct myr_err err;
    path_of(path, sizeof(path));
    myr_buf_put(&bytes, file->data, file->len);
    for (; size >= 4; data += 4, size -= 4) {
        size_t place = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]);
        bytes.data[place % bytes.len] = (char)(bytes.data[place % bytes.len] ^ data[3]);
    }
    bytes.len -= size && bytes.len > HEAD_BYTES + 256 ? data[0] : 0;
    uint64_t length = bytes.len - HEAD_BYTES;
    uint32_t crc = (uint32_t)crc32_z(0, (const uint8_t *)bytes.data + HEAD_BYTES, length);
    memcpy(bytes.data + LENGTH_AT, &length, sizeof(length));
    memcpy(bytes.data + CRC_AT, &crc, sizeof(crc));
    MYR_ASSERT(myr_file_write(path, &bytes, &err) == MYR_OK);
    myr_buf_done(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct myr_sim_answer answer;
    struct myr_sim_question question = {};
    struct myr_err err = {};
    if (size == 0) {
        return 0;
    }
    write_changed(good(data[0] % RUNS), data + 1, size - 1);
    path_of(path, sizeof(path));
    int rc = myr_sim_resume(&answer, &question, path, &err);
    MYR_ASSERT(rc == MYR_OK || (err.code == rc && err.message[0] && !strchr(err.message, '\n')));
    myr_sim_answer_done(&answer);
    (void)unlink(path);
    return 0;
}
