/*
 * save: the state as tagged sections, and back.
 *
 * The arrays go out as they lie. What comes in is checked before anything uses it: every index,
 * every list, every count; a file that was made up is refused as well as one that was damaged.
 */
#include <stdlib.h>

#include "myriad/sched/snapshot.h"
#include "myriad/text/kind.h"
#include "sections.h"
#include "state.h"

/* Four letters each, as they stand in the file. */
enum {
    TAG_ABOUT = SECTION_TAG('C', 'T', 'R', 'L'),
    TAG_POLICY = SECTION_TAG('P', 'L', 'C', 'Y'),
    TAG_HEAD = SECTION_TAG('H', 'E', 'A', 'D'),
    TAG_NODES = SECTION_TAG('N', 'O', 'D', 'E'),
    TAG_JOBS = SECTION_TAG('J', 'O', 'B', 'S'),
    TAG_RANKS = SECTION_TAG('R', 'A', 'N', 'K'),
    TAG_TIMERS = SECTION_TAG('T', 'I', 'M', 'E'),
    TAG_QUEUE = SECTION_TAG('Q', 'U', 'E', 'U'),
    FORMAT = 1,
    FORMAT_LATER = 2, /* of jobs and head: before it a job could wish nothing, and was never
                       * forgotten */
};

_Static_assert(sizeof(struct myr_job_spec) == 96, "no padding");
_Static_assert(sizeof(struct rank) == 40, "no padding");
_Static_assert(sizeof(struct node) == 56, "no padding");
_Static_assert(sizeof(struct job) == 96 + 4 + 15 * 4 + 8 * 8 + 2 * 4, "no padding");
_Static_assert(sizeof(struct timer) == 16, "no padding");
_Static_assert(sizeof(struct control_head) == 64, "no padding");

/* What the sizes of all other parts follow from. */
struct about {
    uint32_t core_version, tenants;
    uint32_t nodes, gpus_per_node, group_nodes, pod_nodes;
};

/* The policy of the core; the queue keeps its own. */
struct policy_words {
    int64_t words[13];
};

/* The order is the file's: a field that is added goes to the end. */
static struct policy_words policy_out(const struct myr_control_policy *p)
{
    return (struct policy_words){{p->spares, p->start_window_ms, p->retry_ms, p->suspect_ms,
                                  p->reconnect_ms, p->hang_ms, p->test_ms, p->fence_retry_ms,
                                  p->clock_slack_ms, p->drain_permille, p->restarts_in_place,
                                  p->grace_s, p->first_step_ms}};
}

/* False: a value that no policy has. */
static bool policy_in(const struct policy_words *in, struct myr_control_policy *ret)
{
    for (size_t i = 0; i < MYR_ARRAY_COUNT(in->words); i++) {
        /* Every one of them fits 32 bits; times are in milliseconds. */
        if (in->words[i] < 0 || in->words[i] > UINT32_MAX) {
            return false;
        }
    }
    const int64_t *w = in->words;
    *ret = (struct myr_control_policy){.spares = (uint32_t)w[0],
                                       .start_window_ms = w[1],
                                       .retry_ms = w[2],
                                       .suspect_ms = w[3],
                                       .reconnect_ms = w[4],
                                       .hang_ms = w[5],
                                       .test_ms = w[6],
                                       .fence_retry_ms = w[7],
                                       .clock_slack_ms = w[8],
                                       .drain_permille = (uint32_t)w[9],
                                       .restarts_in_place = (uint32_t)w[10],
                                       .grace_s = (uint32_t)w[11],
                                       .first_step_ms = w[12]};
    /* A retry without a pause would never let go. */
    return w[2] > 0 && w[5] > 0 && w[7] > 0 && w[12] > 0;
}

void myr_control_save(const struct myr_control *c, struct myr_buf *ret)
{
    MYR_ASSERT(c && ret);
    struct about about = {MYR_CONTROL_VERSION,    c->tenants,           c->shape.nodes,
                          c->shape.gpus_per_node, c->shape.group_nodes, c->shape.pod_nodes};
    struct policy_words policy = policy_out(&c->policy);
    MYR_CLEANUP(myr_buf_done) struct myr_buf queue = {};
    /* What is no part of the bytes is empty between events: a core that reads them goes on alike.
     */
    MYR_ASSERT(c->lost.count == 0 && c->left.count == 0 && c->decisions.count == 0 && !c->dirty);
    myr_queue_save(c->queue, &queue);
    section_put(ret, TAG_ABOUT, FORMAT, &about, sizeof(about));
    section_put(ret, TAG_POLICY, FORMAT, &policy, sizeof(policy));
    section_put(ret, TAG_HEAD, FORMAT_LATER, &c->head, sizeof(c->head));
    section_put(ret, TAG_NODES, FORMAT, c->nodes, c->shape.nodes * sizeof(*c->nodes));
    section_put(ret, TAG_JOBS, FORMAT_LATER, c->jobs.items, c->jobs.count * sizeof(*c->jobs.items));
    section_put(ret, TAG_RANKS, FORMAT, c->ranks.items, c->ranks.count * sizeof(*c->ranks.items));
    section_put(ret, TAG_TIMERS, FORMAT, c->timers.items,
                c->timers.count * sizeof(*c->timers.items));
    section_put(ret, TAG_QUEUE, FORMAT, queue.data, queue.len);
}

/* Of everything that events change. */
uint64_t myr_control_hash(const struct myr_control *c)
{
    uint64_t hash = myr_hash_bytes(&c->head, sizeof(c->head));
    hash = myr_hash_u64(hash ^ myr_hash_bytes(c->nodes, c->shape.nodes * sizeof(*c->nodes)));
    hash =
        myr_hash_u64(hash ^ myr_hash_bytes(c->jobs.items, c->jobs.count * sizeof(*c->jobs.items)));
    hash = myr_hash_u64(hash ^
                        myr_hash_bytes(c->ranks.items, c->ranks.count * sizeof(*c->ranks.items)));
    hash = myr_hash_u64(
        hash ^ myr_hash_bytes(c->timers.items, c->timers.count * sizeof(*c->timers.items)));
    return myr_hash_u64(hash ^ myr_queue_hash(c->queue));
}

/* What was read, before it is believed. */
struct parts {
    struct myr_str about, policy, head, nodes, jobs, ranks, timers, queue;
    uint32_t version; /* of jobs and head */
};

/*
 * Of the first version: the head lacks the number of jobs, and a job its wish, which stands at the
 * end of what it asked for, and its id, which was its place.
 */
enum {
    HEAD_PLAIN = offsetof(struct control_head, job_count),
    JOB_PLAIN = offsetof(struct myr_job_spec, wish),
    JOB_REST = offsetof(struct job, id) - sizeof(struct myr_job_spec),
};

static size_t job_bytes(const struct parts *parts)
{
    return parts->version == FORMAT_LATER ? sizeof(struct job) : JOB_PLAIN + JOB_REST;
}

static size_t head_bytes(const struct parts *parts)
{
    return parts->version == FORMAT_LATER ? sizeof(struct control_head) : HEAD_PLAIN;
}

/* Finds each part by its tag; nothing in it is looked at yet. */
static int read_parts(struct myr_str bytes, struct parts *ret, struct myr_err *err)
{
    const struct {
        uint32_t tag;
        struct myr_str *to;
        const char *name;
    } known[] = {{TAG_ABOUT, &ret->about, "about"},    {TAG_POLICY, &ret->policy, "policy"},
                 {TAG_HEAD, &ret->head, "head"},       {TAG_NODES, &ret->nodes, "nodes"},
                 {TAG_JOBS, &ret->jobs, "jobs"},       {TAG_RANKS, &ret->ranks, "ranks"},
                 {TAG_TIMERS, &ret->timers, "timers"}, {TAG_QUEUE, &ret->queue, "queue"}};
    /* Sections of unknown tags are passed over: a later version may add some. */
    for (size_t at = 0; at < bytes.len;) {
        struct section section;
        struct myr_str data;
        enum section_found found =
            section_get((struct myr_str){bytes.data + at, bytes.len - at}, &section, &data);
        if (found != SECTION_WHOLE) {
            return myr_err_set(err, MYR_ECORRUPT, "the snapshot is %s at byte %zu of %zu",
                               found == SECTION_CUT ? "cut off" : "damaged", at, bytes.len);
        }
        for (size_t i = 0; i < MYR_ARRAY_COUNT(known); i++) {
            if (section.tag == known[i].tag) {
                bool later = section.tag == TAG_JOBS || section.tag == TAG_HEAD;
                uint32_t newest = later ? FORMAT_LATER : FORMAT;
                if (section.version < FORMAT || section.version > newest) {
                    return myr_err_set(err, MYR_EVERSION,
                                       "the snapshot's %s have version %u, version %u is expected",
                                       known[i].name, section.version, newest);
                }
                /* Both of one: two programs have not written one snapshot. */
                if (later && ret->version > 0 && ret->version != section.version) {
                    return myr_err_set(err, MYR_ECORRUPT,
                                       "the snapshot's parts do not fit together");
                }
                ret->version = later ? section.version : ret->version;
                *known[i].to = data;
            }
        }
        /* The lengths are inside what is there: section_get() has checked that. */
        at += sizeof(section) + data.len;
        MYR_ASSERT(at <= bytes.len);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(known); i++) {
        if (!known[i].to->data) {
            return myr_err_set(err, MYR_ECORRUPT, "the snapshot is cut off: it has no %s",
                               known[i].name);
        }
    }
    return MYR_OK;
}

/* Both parts: a length that is no multiple would lose its end. */
static bool fits(struct myr_str part, size_t size, size_t count)
{
    MYR_ASSERT(size > 0);
    return part.len / size == count && part.len % size == 0;
}

static void take_jobs(struct myr_control *c, const struct parts *parts)
{
    size_t bytes = job_bytes(parts), count = parts->jobs.len / bytes;
    bool plain = parts->version == FORMAT;
    myr_vec_reserve(&c->jobs, count);
    for (size_t i = 0; i < count; i++) {
        struct job job = {.id = (uint32_t)i};
        const char *at = parts->jobs.data + i * bytes;
        memcpy(&job, at, plain ? JOB_PLAIN : sizeof(job));
        if (plain) {
            memcpy((char *)&job + sizeof(job.spec), at + JOB_PLAIN, JOB_REST);
        }
        myr_vec_push(&c->jobs, job);
    }
    c->head.job_count = plain ? (uint32_t)count : c->head.job_count;
}

/* Bytes are copied before they are checked: the checks go through the arrays. */
static void take_arrays(struct myr_control *c, const struct parts *parts)
{
    MYR_ASSERT(fits(parts->nodes, sizeof(*c->nodes), c->shape.nodes));
    MYR_ASSERT(parts->head.len == head_bytes(parts));
    c->nodes = myr_xcalloc(c->shape.nodes, sizeof(*c->nodes));
    memcpy(c->nodes, parts->nodes.data, parts->nodes.len);
    memcpy(&c->head, parts->head.data, head_bytes(parts));
#define TAKE(vec, part)                                      \
    do {                                                     \
        size_t count = (part).len / sizeof(*(vec)->items);   \
        MYR_ASSERT((part).len % sizeof(*(vec)->items) == 0); \
        myr_vec_reserve(vec, count);                         \
        if (count > 0) {                                     \
            memcpy((vec)->items, (part).data, (part).len);   \
        }                                                    \
        (vec)->count = count;                                \
    } while (0)
    take_jobs(c, parts);
    TAKE(&c->ranks, parts->ranks);
    TAKE(&c->timers, parts->timers);
#undef TAKE
}

/* In an order in which each step may rely on those before it. */
static int take_parts(struct myr_control *c, const struct parts *parts, struct myr_err *err)
{
    struct about about;
    struct policy_words policy;
    MYR_ASSERT(parts->about.len == sizeof(about) && parts->policy.len == sizeof(policy));
    memcpy(&about, parts->about.data, sizeof(about));
    memcpy(&policy, parts->policy.data, sizeof(policy));
    /* A newer core may mean other things by the same bytes; an older one's are known. */
    if (about.core_version > MYR_CONTROL_VERSION) {
        return myr_err_set(err, MYR_EVERSION,
                           "the snapshot is of core version %u, up to %d is expected",
                           about.core_version, MYR_CONTROL_VERSION);
    }
    c->tenants = about.tenants;
    c->shape = (struct myr_place_shape){about.nodes, about.gpus_per_node, about.group_nodes,
                                        about.pod_nodes};
    /* Lengths are held against what 'about' says, before memory is taken for them. */
    if (about.nodes == 0 || !policy_in(&policy, &c->policy) ||
        !fits(parts->nodes, sizeof(struct node), about.nodes) ||
        parts->jobs.len % job_bytes(parts) || parts->ranks.len % sizeof(struct rank) ||
        parts->timers.len % sizeof(struct timer)) {
        return myr_err_set(err, MYR_ECORRUPT, "the snapshot's parts do not fit together");
    }
    MYR_TRY(myr_queue_load(parts->queue, &c->queue, err));
    take_arrays(c, parts);
    for (uint32_t n = 0; n < c->shape.nodes; n++) {
        /* No state: counted again. */
        c->bad_nodes += c->nodes[n].bad;
    }
    for (size_t j = 0; j < c->jobs.count; j++) {
        /* Found again from the jobs: tokens name each job once. */
        const struct job *job = &c->jobs.items[j];
        if (!myr_u64map_add(&c->tokens, job->spec.token, job->id)) {
            return myr_err_set(err, MYR_ECORRUPT, "the snapshot has two jobs of one token");
        }
    }
    if (!state_is_sound(c)) {
        return myr_err_set(err, MYR_ECORRUPT, "the snapshot's lists do not fit together");
    }
    return MYR_OK;
}

int myr_control_load(struct myr_str bytes, struct myr_control **ret, struct myr_err *err)
{
    MYR_ASSERT(ret);
    MYR_ASSERT(bytes.data || bytes.len == 0);
    struct parts parts = {};
    MYR_TRY(read_parts(bytes, &parts, err));
    if (parts.about.len != sizeof(struct about) ||
        parts.policy.len != sizeof(struct policy_words) || parts.head.len != head_bytes(&parts)) {
        return myr_err_set(err, MYR_ECORRUPT, "the snapshot's parts have another size");
    }
    /* All zero can be freed, however far this comes. */
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *c = myr_xcalloc(1, sizeof(*c));
    MYR_TRY(take_parts(c, &parts, err));
    MYR_ASSERT(c->queue && c->nodes && c->tokens.count == c->jobs.count);
    MYR_ASSERT(c->bad_nodes <= c->shape.nodes && c->head.silent_nodes <= c->shape.nodes);
    MYR_ASSERT(!c->dirty && c->effects.count == 0 && c->decisions.count == 0);
    *ret = c;
    c = NULL;
    return MYR_OK;
}

int myr_control_read(const char *path, struct myr_control **ret, struct myr_err *err)
{
    MYR_ASSERT(path && ret);
    /* Larger than any state: a file of another kind must not fill the memory. */
    const size_t most = (size_t)4 << 30;
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    MYR_TRY(myr_kind_read(path, most, MYR_KIND_BIT(STATE), "a state as twin run --state writes it",
                          &bytes, err));
    path = myr_file_name(path);
    int rc;
    /* A file of another kind is told apart from a state that is damaged. */
    uint32_t tag = 0;
    memcpy(&tag, bytes.data ? bytes.data : "", bytes.len < sizeof(tag) ? 0 : sizeof(tag));
    if (tag != TAG_ABOUT) { /* which every state begins with */
        rc = myr_err_set(err, MYR_ECORRUPT, "%s, a state as twin run --state writes it is expected",
                         bytes.len ? "no state of the controller" : "empty");
    } else {
        rc = myr_control_load((struct myr_str){bytes.data, bytes.len}, ret, err);
    }
    if (rc < 0) {
        (void)myr_err_wrap(err, "%s", path);
    }
    return rc;
}
