/*
 * Stored states of a queue. The first byte says how a queue came to be; each eight bytes behind it
 * put another word into its state, whose checksum is then made to fit, so that the checks behind it
 * are reached. So an input means the same whatever a state looks like. Refused, or good enough to
 * decide with.
 */
#include <zlib.h>

#include "fuzz.h"
#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"

enum { LENGTH_AT = 24, CRC_AT = 32, JOBS = 24 };

/* Running, waiting and claiming jobs, some in arrays or behind others, a service, a lost node. */
static struct myr_queue *queue_of(uint64_t seed)
{
    static const struct myr_place_shape shape = {6, 4, 2, 4};
    static const struct myr_tenant tenants[] = {{.parent = MYR_NONE, .cells = {1}},
                                                {.parent = MYR_NONE, .weight = 2}};
    struct myr_queue_policy policy = myr_queue_policy_preset((enum myr_queue_preset)(seed % 4));
    struct myr_queue *queue = NULL;
    struct myr_rng rng;
    uint32_t id, count;
    myr_rng_init(&rng, seed, 7);
    policy.confirm = seed / 4 % 2;
    policy.keep_s = 500;
    int rc = myr_queue_create(&shape, &policy, tenants, MYR_ARRAY_COUNT(tenants), &queue, NULL);
    MYR_ASSERT(rc == MYR_OK);
    for (uint32_t i = 0; i < JOBS; i++) {
        struct myr_queue_job job = {.tenant = myr_rng_below(&rng, 2),
                                    .gpus = 1 + myr_rng_below(&rng, 12),
                                    .priority = (int32_t)myr_rng_below(&rng, 5) - 2,
                                    .limit_s = myr_rng_below(&rng, 2) * 100,
                                    .held = myr_rng_below(&rng, 9) == 0};
        job.after_kind = i && myr_rng_below(&rng, 5) == 0 ? MYR_AFTER_OK : MYR_AFTER_NONE;
        job.after = i / 2;
        (void)!(i % 8 == 7 ? myr_queue_submit_array(queue, 10 * i, &job, 3, 1, &id, NULL)
                           : myr_queue_submit(queue, 10 * i, &job, &id, NULL));
        (void)myr_queue_decide(queue, 10 * i, &count);
        (void)!(i % 3 ? myr_queue_started(queue, 10 * i, i / 2, 1)
                      : myr_queue_finish(queue, 10 * i, i / 3));
    }
    struct myr_service service = {.gpus = 2, .replicas_min = 1, .replicas_max = 2, .priority = 3};
    struct myr_window window = {.first = 1, .count = 1, .start_s = 400, .end_s = 900};
    uint32_t lost = 2;
    (void)!myr_queue_serve(queue, 10 * JOBS, &service, &id, NULL);
    (void)!myr_queue_maintain(queue, &window, NULL);
    (void)!myr_queue_lost(queue, 10 * JOBS, &lost, 1);
    (void)myr_queue_decide(queue, 10 * JOBS, &count);
    return queue;
}

static void put_words(struct myr_buf *bytes, const uint8_t *data, size_t size)
{
    uint64_t length;
    memcpy(&length, bytes->data + LENGTH_AT, sizeof(length));
    char *body = bytes->data + bytes->len - length;
    for (; size >= 8; data += 8, size -= 8) {
        uint32_t at, word;
        memcpy(&at, data, sizeof(at));
        memcpy(&word, data + 4, sizeof(word));
        memcpy(body + at % (length / 4) * 4, &word, sizeof(word));
    }
    uint32_t crc = (uint32_t)crc32_z(0, (const uint8_t *)body, length);
    memcpy(bytes->data + CRC_AT, &crc, sizeof(crc));
}

static void live_on(struct myr_queue *queue)
{
    uint32_t count, decided = 0;
    for (int64_t t = 1000; t < 1000000; t += 50000) {
        (void)!myr_queue_finish(queue, t, (uint32_t)(t / 50000));
        (void)myr_queue_decide(queue, t, &count);
        decided += count;
    }
    /* A service puts another in the place of a replica that was cancelled. */
    for (uint32_t id = 0, known = myr_queue_jobs(queue); id < known; id++) {
        int rc = myr_queue_cancel(queue, INT64_C(10000000000), id);
        MYR_ASSERT(rc == MYR_OK || rc == MYR_ESTALE || rc == MYR_EINVAL);
    }
    fuzz_note("%u jobs, %u decisions", myr_queue_jobs(queue), decided);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct myr_buf bytes = {};
    struct myr_err err = {};
    struct myr_queue *queue = queue_of(size ? data[0] : 0), *back = NULL;
    myr_queue_save(queue, &bytes);
    myr_queue_free(queue);
    put_words(&bytes, data + (size > 0), size - (size > 0));
    int rc = myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, &err);
    MYR_ASSERT(rc == MYR_OK || size > 8); /* as it was stored it is good */
    if (rc < 0) {
        /* No rule of the state was asked where something else was wrong. */
        MYR_ASSERT(strstr(err.message, "contradicts itself"));
        fuzz_check_error(&err, rc, "state of a queue");
    } else {
        live_on(back);
        myr_queue_free(back);
    }
    myr_buf_done(&bytes);
    return 0;
}
