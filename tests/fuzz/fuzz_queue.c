/*
 * Stored states of a queue. The bytes are the state itself; the frame around it is made to fit, so
 * that the checks behind the checksum are reached. Refused, or good enough to decide with.
 */
#include <zlib.h>

#include "fuzz.h"
#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"

enum { FRAME_BYTES = 56, LENGTH_AT = 24, CRC_AT = 32 };

static void frame_of(char *ret)
{
    static const struct myr_place_shape shape = {2, 2, 1, 2};
    static const struct myr_tenant tenant = {.parent = MYR_NONE};
    struct myr_queue_policy policy = myr_queue_policy_default();
    struct myr_queue *queue = NULL;
    struct myr_buf bytes = {};
    int rc = myr_queue_create(&shape, &policy, &tenant, 1, &queue, NULL);
    MYR_ASSERT(rc == MYR_OK);
    myr_queue_save(queue, &bytes);
    memcpy(ret, bytes.data, FRAME_BYTES);
    myr_buf_done(&bytes);
    myr_queue_free(queue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char frame[FRAME_BYTES];
    struct myr_buf bytes = {};
    struct myr_err err = {};
    struct myr_queue *queue = NULL;
    uint64_t length = size;
    uint32_t crc = (uint32_t)crc32_z(0, data, size), count;
    frame_of(frame);
    memcpy(frame + LENGTH_AT, &length, sizeof(length));
    memcpy(frame + CRC_AT, &crc, sizeof(crc));
    myr_buf_put(&bytes, frame, sizeof(frame));
    myr_buf_put(&bytes, (const char *)data, size);
    int rc = myr_queue_load((struct myr_str){bytes.data, bytes.len}, &queue, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, "state of a queue");
    } else {
        for (int64_t t = 0; t < 1000000; t += 100000) {
            (void)myr_queue_decide(queue, t, &count);
        }
        for (uint32_t id = 0; id < myr_queue_jobs(queue); id++) {
            rc = myr_queue_cancel(queue, INT64_C(1) << 59, id);
            MYR_ASSERT(rc == MYR_OK || rc == MYR_ESTALE || rc == MYR_EINVAL);
        }
        myr_queue_free(queue);
    }
    myr_buf_done(&bytes);
    return 0;
}
