#include "myriad/sched/snapshot.h"

#include <stdlib.h>
#include <zlib.h>

#include "flat/flat.h"
#include "queue/state.h"

/*
 * A stored state: a head, then sections with tag, version, length and checksum. The body of the
 * state is what flat_save() writes, so it is read only by a build with the same structs; the
 * signature of the table says so before anything of it is looked at.
 */

static const char magic[8] = {'M', 'Y', 'R', 'Q', 'U', 'E', 'U', 'E'};

/*
 * States before version 3 have another policy of waiting, whose numbers are of no use any more. One
 * of version 1 says nothing of how long places are kept: its bytes there are 0.
 */
enum { FILE_VERSION = 1, STATE_OLDEST = 1, STATE_VERSION = 3, BYTE_ORDER_MARK = 0x01020304 };

/* The byte order is written as a number: read the wrong way round it is another. */
struct file_head {
    char magic[8];
    uint32_t version, byte_order;
};

/* Length and checksum are of the body that follows. */
struct section {
    char tag[4];
    uint32_t version;
    uint64_t length;
    uint32_t crc, unused; /* of the body */
    uint64_t signature;   /* of the structs that it holds */
};

void myr_queue_free(struct myr_queue *q)
{
    if (q) {
        flat_release(&queue_flat, q);
        free(q);
    }
}

/* What is no state but must be there. */
static void rebuild(struct myr_queue *q)
{
    /* Arrays are as long as what was copied, not as the room that they had. */
    q->wakes.capacity = q->wakes.count;
    q->tries.later.capacity = q->tries.later.count;
    q->kinds.version = 0; /* what was counted before, of another state */
    for (size_t i = 0; i < q->requests.count; i++) {
        q->requests.items[i].failed = 0;
    }
    /* Of another number of tenants, maybe; zeros say that nothing is known. */
    free(q->excess);
    q->excess = myr_xcalloc(q->tenant_count + UINT64_C(1), sizeof(*q->excess));
    myr_u64map_done(&q->line_of);
    for (size_t i = 0; i < q->lines.count; i++) {
        (void)myr_u64map_add(&q->line_of, queue_line_key(&q->lines.items[i]), (uint32_t)i);
    }
}

/* States of older programs do not say how many jobs brothers have together. */
static void count_brothers(struct myr_queue *q)
{
    for (uint64_t i = 0; q->brothers && i <= q->tenant_count; i++) {
        if (q->brothers[i].jobs) {
            return;
        }
    }
    for (uint32_t t = 0; q->brothers && q->tenants && q->tenant_jobs && t < q->tenant_count; t++) {
        /* Not checked yet: an index that leads outside is left to queue_is_sound(). */
        uint32_t parent = q->tenants[t].parent;
        if (parent == MYR_NONE || parent < q->tenant_count) {
            q->brothers[parent == MYR_NONE ? 0 : parent + 1].jobs += q->tenant_jobs[t];
        }
    }
}

void myr_queue_copy(const struct myr_queue *q, struct myr_queue **into)
{
    MYR_ASSERT(*into != q);
    if (!*into) {
        *into = myr_xcalloc(1, sizeof(**into));
    }
    flat_copy(&queue_flat, *into, q);
    rebuild(*into);
}

bool myr_queue_equal(const struct myr_queue *a, const struct myr_queue *b)
{
    return flat_equal(&queue_flat, a, b);
}

uint64_t myr_queue_hash(const struct myr_queue *q)
{
    return flat_hash(&queue_flat, q, 0);
}

size_t myr_queue_bytes(const struct myr_queue *q)
{
    return flat_bytes(&queue_flat, q);
}

void myr_queue_save(const struct myr_queue *q, struct myr_buf *ret)
{
    struct myr_buf state = {};
    struct file_head head = {.version = FILE_VERSION, .byte_order = BYTE_ORDER_MARK};
    struct section section = {.tag = {'S', 'T', 'A', 'T'}, .version = STATE_VERSION};
    memcpy(head.magic, magic, sizeof(magic));
    flat_save(&queue_flat, q, &state);
    section.length = state.len;
    /* Over the body alone: the head is checked field by field. */
    section.crc = (uint32_t)crc32_z(0, (const Bytef *)state.data, state.len);
    section.signature = flat_signature(&queue_flat);
    myr_buf_put(ret, (const char *)&head, sizeof(head));
    myr_buf_put(ret, (const char *)&section, sizeof(section));
    myr_buf_put(ret, state.data, state.len);
    myr_buf_done(&state);
}

/* The section with the state; those of unknown tags are skipped. */
static int find_state(struct myr_str bytes, struct myr_str *ret, uint32_t *ret_version,
                      struct myr_err *err)
{
    struct section section;
    bool found = false;
    while (bytes.len >= sizeof(section)) {
        memcpy(&section, bytes.data, sizeof(section));
        bytes.data += sizeof(section);
        bytes.len -= sizeof(section);
        /* Before the body is touched: a length may be anything. */
        if (section.length > bytes.len) {
            return myr_err_set(err, MYR_ECORRUPT, "state of a queue: a section ends too early");
        }
        struct myr_str body = {bytes.data, section.length};
        bytes.data += section.length;
        bytes.len -= section.length;
        if (memcmp(section.tag, "STAT", sizeof(section.tag)) != 0) {
            continue;
        }
        if (section.crc != (uint32_t)crc32_z(0, (const Bytef *)body.data, body.len)) {
            return myr_err_set(err, MYR_ECORRUPT, "state of a queue: its checksum is wrong");
        }
        /* After the checksum: a damaged file is told from a file of another build. */
        if (section.version < STATE_OLDEST || section.version > STATE_VERSION ||
            section.signature != flat_signature(&queue_flat)) {
            return myr_err_set(err, MYR_EVERSION, "state of a queue: version %u of another build",
                               section.version);
        }
        if (found) {
            return myr_err_set(err, MYR_ECORRUPT, "state of a queue: there are two states in it");
        }
        *ret = body;
        *ret_version = section.version;
        found = true;
    }
    if (bytes.len > 0) {
        return myr_err_set(err, MYR_ECORRUPT, "state of a queue: something stands behind its end");
    }
    return found ? MYR_OK
                 : myr_err_set(err, MYR_ECORRUPT, "state of a queue: there is no state in it");
}

/* What was counted under the older policy is forgotten, and who waits too long is looked for. */
static void take_over_policy(struct myr_queue *q)
{
    struct myr_queue_policy now = myr_queue_policy_default();
    q->policy.hold_s = q->policy.patience_s ? now.hold_s : 0;
    q->policy.patience_s = q->policy.patience_s ? now.patience_s : 0;
    q->usual_wait = 0;
    for (size_t i = 0; i < q->holds.count; i++) {
        q->holds.items[i].idle_gpu_s = 0; /* it was the time of a choice */
    }
    q->hold_scan_s = q->hold_wake_s = q->now_s;
}

int myr_queue_load(struct myr_str bytes, struct myr_queue **ret, struct myr_err *err)
{
    struct file_head head;
    if (bytes.len < sizeof(head) || memcmp(bytes.data, magic, sizeof(magic)) != 0) {
        return myr_err_set(err, MYR_ECORRUPT, "state of a queue: it does not begin as one");
    }
    memcpy(&head, bytes.data, sizeof(head));
    if (head.version != FILE_VERSION || head.byte_order != BYTE_ORDER_MARK) {
        return myr_err_set(err, MYR_EVERSION, "state of a queue: version %u, expected %d",
                           head.version, FILE_VERSION);
    }
    struct myr_str state;
    uint32_t version = 0;
    int rc = find_state((struct myr_str){bytes.data + sizeof(head), bytes.len - sizeof(head)},
                        &state, &version, err);
    if (rc < 0) {
        return rc;
    }
    /* All zero can be released, however far loading comes. */
    struct myr_queue *q = myr_xcalloc(1, sizeof(*q));
    /* Bytes that are left over mean that the lengths in it are wrong. */
    bool whole = flat_load(&queue_flat, q, &state) && state.len == 0;
    if (whole && version < STATE_VERSION) {
        take_over_policy(q);
    }
    if (whole) {
        count_brothers(q);
        q->policy.mend_s = version == 1 ? myr_queue_policy_default().mend_s : q->policy.mend_s;
    }
    if (!whole || !queue_is_sound(q)) {
        myr_queue_free(q);
        return myr_err_set(err, MYR_ECORRUPT, "state of a queue: it contradicts itself");
    }
    rebuild(q);
    MYR_ASSERT(q->line_of.count <= q->lines.count);
    *ret = q;
    return MYR_OK;
}
