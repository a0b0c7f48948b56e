/*
 * replicated: the store as a log in etcd, written by one server at a time.
 *
 *   leader          who writes, under its lease; the revision at which the key was made is its
 * epoch head            "GENERATION BASE LAST": which image, the commit it stands for, the last
 * commit base/GEN/PART   the image: all keys log/NUMBER/PART what each commit since has changed
 *
 * A commit is permanent when 'head' names it. Every transaction compares the leader's epoch: one
 * that was overtaken commits nothing, however late its request comes. An answer that is lost is no
 * doubt either: the same transaction is sent again, and 'head' tells whether it had been taken.
 * All keys are kept in memory as well; etcd is read when a server begins, and not after.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "store/etcd.h"
#include "store/segment.h"

enum {
    LOG_COMMITS_MAX = 4096,  /* then a new image is written */
    LOG_BYTES_MIN = 8 << 20, /* or when the log is this long, and longer than the image */
    LEADER_NAME = 128,
    TRY_MS = 250, /* between two attempts to lead */
};

/* The same three numbers as in the key; base <= last. */
struct head {
    uint64_t generation, base, last;
};

struct replicated {
    struct etcd *etcd;
    struct image image;
    struct head head;
    bool begun;     /* there is a head */
    int64_t lease;  /* 0: none yet */
    uint64_t epoch; /* the revision that made us leader */
    char owner[LEADER_NAME];
    struct myr_buf pending;          /* a commit whose outcome is not known yet */
    size_t pending_changes, skip;    /* in 'pending'; of the caller's list, kept already */
    uint64_t log_bytes, image_bytes; /* when a new image pays */
    bool fenced;                     /* another led: nothing is written any more */
};

static void head_text(const struct head *head, char ret[80])
{
    MYR_ASSERT(head->base <= head->last);
    snprintf(ret, 80, "%" PRIu64 " %" PRIu64 " %" PRIu64, head->generation, head->base, head->last);
}

/* Of one length: the order of the keys is that of the numbers. */
static void part_key(char ret[80], const char *folder, uint64_t number, uint32_t part)
{
    MYR_ASSERT(folder && number > 0);
    snprintf(ret, 80, "%s/%016" PRIx64 "/%08x", folder, number, part);
}

/* The key was made by us and not since: true as long as we lead. */
static struct etcd_compare leads(const struct replicated *store)
{
    return (struct etcd_compare){.key = "leader", .created = store->epoch};
}

/* Once overtaken, for good: only a new start can lead again. */
static int fenced(struct replicated *store, struct myr_err *err)
{
    store->fenced = true;
    return myr_err_set(err, MYR_ESTALE, "another server leads now: nothing of this one is kept");
}

/* --- reading --- */

/* Three numbers and nothing else: what the rest is read by must not be guessed. */
static int take_head(void *context, const char *key, struct myr_str value, uint64_t created,
                     struct myr_err *err)
{
    struct replicated *store = context;
    char text[80];
    struct head *head = &store->head;
    (void)created;
    if (strcmp(key, "head") != 0) {
        return MYR_OK;
    }
    snprintf(text, sizeof(text), "%.*s", (int)(value.len < 79 ? value.len : 79), value.data);
    uint64_t *const numbers[] = {&head->generation, &head->base, &head->last};
    const char *at = text;
    bool ok = true;
    for (size_t i = 0; ok && i < MYR_ARRAY_COUNT(numbers); i++) {
        size_t len = strcspn(at, " ");
        /* No store counts as far: sums of two do not overflow. */
        ok = myr_str_to_u64((struct myr_str){at, len}, numbers[i]) && *numbers[i] < UINT64_MAX / 4;
        at += len + (at[len] == ' ');
    }
    if (!ok || *at || head->last < head->base) {
        return myr_err_set(err, MYR_ECORRUPT, "'head' is '%s': three numbers are expected", text);
    }
    store->begun = true;
    return MYR_OK;
}

/* Parts that come in order, joined to segments. */
struct reading {
    struct replicated *store;
    struct myr_buf bytes;
    uint64_t number; /* wanted next */
    uint32_t part;
    uint64_t last;
};

/* Parts come in the order of their keys; a segment is applied when its last one is there. */
static int take_part(void *context, const char *key, struct myr_str value, uint64_t created,
                     struct myr_err *err)
{
    struct reading *reading = context;
    struct segment_head head;
    (void)created;
    MYR_ASSERT(reading->number <= reading->last + 1);
    MYR_ASSERT(reading->part > 0 || reading->bytes.len == 0); /* a segment begins with nothing */
    int rc = segment_read_part(value, &head, err);
    if (rc < 0) {
        return myr_err_wrap(err, "%s", key);
    }
    if (head.number < reading->number || head.number > reading->last) {
        return MYR_OK; /* of an older image, or of a commit that never came to be */
    }
    if (head.number != reading->number || head.part != reading->part) {
        /* Parts behind the last one of a segment are of an attempt before it. */
        return head.part > reading->part && head.number + 1 == reading->number
                   ? MYR_OK
                   : myr_err_set(err, MYR_ECORRUPT, "%s: a part before it is missing", key);
    }
    myr_buf_put(&reading->bytes, head.bytes.data, head.bytes.len);
    reading->part++;
    if (reading->part < head.parts) {
        return MYR_OK;
    }
    struct replicated *store = reading->store;
    store->log_bytes += reading->bytes.len;
    rc = segment_take(
        &store->image,
        (struct myr_str){reading->bytes.data ? reading->bytes.data : "", reading->bytes.len}, err);
    myr_buf_clear(&reading->bytes);
    reading->number++;
    MYR_ASSERT(reading->number <= reading->last + 1);
    reading->part = 0;
    return rc < 0 ? myr_err_wrap(err, "%s", key) : MYR_OK;
}

/* All of them must be there: 'head' has named the last one. */
static int load_parts(struct replicated *store, const char *prefix, uint64_t first, uint64_t last,
                      struct myr_err *err)
{
    MYR_ASSERT(first <= last);
    MYR_ASSERT(first > 0 && last < UINT64_MAX);
    struct reading reading = {.store = store, .number = first, .last = last};
    int rc = etcd_range(store->etcd, prefix, take_part, &reading, err);
    myr_buf_done(&reading.bytes);
    if (rc == MYR_OK && reading.number != last + 1) {
        rc = myr_err_set(err, MYR_ECORRUPT,
                         "the state in etcd ends at commit %" PRIu64 ", %" PRIu64 " is expected",
                         reading.number - 1, last);
    }
    return rc;
}

/* After this server leads: whoever led before can change nothing any more. */
static int load(struct replicated *store, struct myr_err *err)
{
    char prefix[80];
    MYR_ASSERT(store->lease > 0 && !store->begun && store->image.entries.count == 0);
    MYR_TRY(etcd_range(store->etcd, "head", take_head, store, err));
    if (!store->begun) {
        return MYR_OK;
    }
    const struct head *head = &store->head;
    if (head->generation > 0) {
        snprintf(prefix, sizeof(prefix), "base/%016" PRIx64 "/", head->generation);
        MYR_TRY(load_parts(store, prefix, head->generation, head->generation, err));
    }
    /* Counted by take_part() for the image first, then for the log. */
    store->image_bytes = store->log_bytes;
    store->log_bytes = 0;
    return head->last > head->base ? load_parts(store, "log/", head->base + 1, head->last, err)
                                   : MYR_OK;
}

/* --- writing --- */

/* Parts but the last, which goes with the head. */
static int put_parts(struct replicated *store, const char *folder, uint64_t number,
                     struct myr_str bytes, struct myr_buf *ret_last, struct myr_err *err)
{
    /* A commit has one part nearly always: then this writes nothing. */
    uint32_t parts = segment_parts(bytes.len);
    const struct etcd_compare compare = leads(store);
    MYR_ASSERT(!store->fenced && store->lease > 0 && parts > 0);
    MYR_ASSERT(bytes.data && number > 0);
    for (uint32_t i = 0; i < parts; i++) {
        char key[80];
        myr_buf_clear(ret_last);
        segment_part(bytes, number, i, ret_last);
        if (i + 1 == parts) {
            break;
        }
        part_key(key, folder, number, i);
        int done = etcd_commit(
            store->etcd,
            &(struct etcd_txn){
                .compares = &compare,
                .compare_count = 1,
                .puts = &(struct etcd_put){.key = key, .value = {ret_last->data, ret_last->len}},
                .put_count = 1},
            NULL, err);
        MYR_TRY(done);
        if (done == 0) {
            return fenced(store, err);
        }
    }
    return MYR_OK;
}

/* Was it taken before its answer was lost? Who leads, and what the head is, tell. */
struct standing {
    uint64_t leader;
    char head[80];
};

static int take_standing(void *context, const char *key, struct myr_str value, uint64_t created,
                         struct myr_err *err)
{
    struct standing *standing = context;
    (void)err;
    if (strcmp(key, "leader") == 0) {
        standing->leader = created;
    } else if (strcmp(key, "head") == 0) {
        snprintf(standing->head, sizeof(standing->head), "%.*s",
                 (int)(value.len < 79 ? value.len : 79), value.data);
    }
    return MYR_OK;
}

/* The last part and the new head, at once; the epoch and the old head are compared. */
static int move_head(struct replicated *store, const char *folder, uint64_t number,
                     const struct myr_buf *last, uint32_t part, const struct head *next,
                     struct myr_err *err)
{
    char key[80], before[80], after[80];
    /* One commit further than the last, or one image of the same commit. */
    MYR_ASSERT(next->generation + next->last == store->head.generation + store->head.last + 1);
    MYR_ASSERT(next->generation >= store->head.generation && next->last >= store->head.last);
    MYR_ASSERT(!store->fenced && last->len > 0);
    MYR_ASSERT(next->base <= next->last);
    head_text(&store->head, before);
    head_text(next, after);
    part_key(key, folder, number, part);
    struct etcd_compare compares[2] = {leads(store), {.key = "head"}};
    if (store->begun) {
        /* Before the first commit 'head' must not be there: its create revision is 0. */
        compares[1].by_value = true;
        compares[1].value = myr_str_from(before);
    }
    const struct etcd_put puts[2] = {{.key = key, .value = {last->data, last->len}},
                                     {.key = "head", .value = myr_str_from(after)}};
    int done = etcd_commit(
        store->etcd,
        &(struct etcd_txn){.compares = compares, .compare_count = 2, .puts = puts, .put_count = 2},
        NULL, err);
    MYR_TRY(done);
    if (done == 0) {
        struct standing standing = {};
        MYR_TRY(etcd_range(store->etcd, "leader", take_standing, &standing, err));
        MYR_TRY(etcd_range(store->etcd, "head", take_standing, &standing, err));
        if (standing.leader != store->epoch || strcmp(standing.head, after) != 0) {
            return fenced(store, err);
        }
    }
    store->head = *next;
    store->begun = true;
    MYR_ASSERT(store->head.base <= store->head.last);
    return MYR_OK;
}

/* A new image in place of the old one and its log; what is left of those goes, history too. */
static int write_image(struct replicated *store, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {}, last = {};
    const struct etcd_compare compare = leads(store);
    struct head next = {store->head.generation + 1, store->head.last, store->head.last};
    uint64_t revision = 0;
    char to[80];
    /* The image is that of the last commit: none is half done. */
    MYR_ASSERT(store->begun && store->pending_changes == 0 && store->skip == 0);
    segment_put_image(&store->image, &bytes);
    struct myr_str text = {bytes.data ? bytes.data : "", bytes.len};
    MYR_TRY(put_parts(store, "base", next.generation, text, &last, err));
    MYR_TRY(
        move_head(store, "base", next.generation, &last, segment_parts(text.len) - 1, &next, err));
    store->image_bytes = bytes.len;
    store->log_bytes = 0;
    MYR_ASSERT(store->head.base == store->head.last); /* the log begins anew */
    /* Up to the commit that the image stands for; one that came since must stay. */
    snprintf(to, sizeof(to), "log/%016" PRIx64 "/", next.last + 1);
    const struct etcd_drop logs = {"log/", to};
    int done = etcd_commit(
        store->etcd, &(struct etcd_txn){.compares = &compare, .compare_count = 1, .drop = &logs},
        NULL, err);
    MYR_TRY(done);
    char base[80];
    snprintf(base, sizeof(base), "base/%016" PRIx64 "/", next.generation);
    const struct etcd_drop images = {"base/", base};
    done = etcd_commit(
        store->etcd, &(struct etcd_txn){.compares = &compare, .compare_count = 1, .drop = &images},
        &revision, err);
    MYR_TRY(done);
    return revision > 0 ? etcd_compact(store->etcd, revision, err) : MYR_OK;
}

/* The same bytes again where it failed before: what was written of them is written over. */
static int finish_pending(struct replicated *store, const struct change *changes,
                          struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf last = {};
    struct head next = store->head;
    struct myr_str bytes = {store->pending.data ? store->pending.data : "", store->pending.len};
    next.last++;
    MYR_ASSERT(!store->fenced && changes);
    MYR_ASSERT(store->pending_changes > 0 && bytes.len > 0);
    MYR_TRY(put_parts(store, "log", next.last, bytes, &last, err));
    MYR_TRY(move_head(store, "log", next.last, &last, segment_parts(bytes.len) - 1, &next, err));
    image_apply(&store->image, changes, store->pending_changes);
    MYR_ASSERT(store->head.last == next.last && store->begun);
    store->log_bytes += bytes.len;
    return MYR_OK;
}

/*
 * A commit that failed may have been taken all the same. Its bytes stay as they were until that is
 * known; changes that have come since are the next commit. The caller's list holds all of them
 * until everything is kept: 'skip' counts those that are.
 */
static int commit(void *own, const struct change *changes, size_t count, struct myr_err *err)
{
    struct replicated *store = own;
    /* The same list again, with what has come since behind it. */
    MYR_ASSERT(count > 0 && store->skip + store->pending_changes <= count);
    MYR_ASSERT((store->pending_changes == 0) == (store->pending.len == 0));
    while (store->skip < count) {
        if (store->fenced) {
            return fenced(store, err);
        }
        if (store->pending_changes == 0) {
            store->pending_changes = count - store->skip;
            segment_put(changes + store->skip, store->pending_changes, &store->pending);
        }
        MYR_ASSERT(store->skip + store->pending_changes <= count);
        MYR_TRY(finish_pending(store, changes + store->skip, err));
        store->skip += store->pending_changes;
        store->pending_changes = 0;
        myr_buf_clear(&store->pending);
    }
    /* All of the caller's list is kept, and nothing is half done. */
    MYR_ASSERT(store->skip == count && store->pending.len == 0);
    store->skip = 0;
    bool many = store->head.last - store->head.base >= LOG_COMMITS_MAX;
    bool long_log = store->log_bytes > LOG_BYTES_MIN && store->log_bytes > store->image_bytes;
    if (many || long_log) {
        struct myr_err why = {};
        int rc = write_image(store, &why); /* all is kept without it: it is tried again */
        (void)rc;
    }
    return MYR_OK;
}

/* From memory, where the image is that of the last commit. */
static int scan(void *own, const char *prefix, store_each *each, void *context, struct myr_err *err)
{
    MYR_ASSERT(own && prefix && each);
    const struct replicated *store = own;
    MYR_ASSERT(store->begun || store->image.entries.count == 0);
    return image_scan(&store->image, prefix, each, context, err);
}

/* What is not committed is lost, as with a file. */
static void close_store(void *own)
{
    struct replicated *store = own;
    MYR_ASSERT(store->etcd && store->lease >= 0);
    if (store->lease) {
        etcd_revoke(store->etcd, store->lease); /* the next one need not wait */
    }
    etcd_free(store->etcd);
    image_done(&store->image);
    myr_buf_done(&store->pending);
    free(store);
}

static const struct store_ops replicated_ops = {commit, scan, close_store};

/* --- leading --- */

static int take_leader(void *context, const char *key, struct myr_str value, uint64_t created,
                       struct myr_err *err)
{
    (void)created;
    (void)err;
    if (strcmp(key, "leader") == 0) {
        snprintf(context, LEADER_NAME, "%.*s",
                 (int)(value.len < LEADER_NAME - 1 ? value.len : LEADER_NAME - 1), value.data);
    }
    return MYR_OK;
}

static int take_epoch(void *context, const char *key, struct myr_str value, uint64_t created,
                      struct myr_err *err)
{
    struct replicated *store = context;
    (void)value;
    (void)err;
    if (strcmp(key, "leader") == 0) {
        store->epoch = created;
    }
    return MYR_OK;
}

/* For the owner's name: a number that no other server has. */
static uint64_t draw(void)
{
    uint64_t value = 0;
    ssize_t got = getrandom(&value, sizeof(value), 0);
    return got == sizeof(value) ? value : (uint64_t)getpid();
}

/* 1: we lead; 0: somebody else does, who is named. */
static int try_lead(struct replicated *store, uint32_t ttl_s, char leader[LEADER_NAME],
                    struct myr_err *err)
{
    MYR_ASSERT(ttl_s > 0 && leader);
    const struct etcd_compare nobody = {.key = "leader"};
    MYR_ASSERT(!store->begun && !store->fenced && store->owner[0]);
    if (store->lease == 0 || etcd_keep_alive(store->etcd, store->lease, err) < 0) {
        MYR_TRY(etcd_lease(store->etcd, ttl_s, &store->lease, err));
    }
    const struct etcd_put put = {
        .key = "leader", .value = myr_str_from(store->owner), .lease = store->lease};
    int done = etcd_commit(
        store->etcd,
        &(struct etcd_txn){.compares = &nobody, .compare_count = 1, .puts = &put, .put_count = 1},
        &store->epoch, err);
    MYR_TRY(done);
    if (done == 0) {
        leader[0] = '\0';
        MYR_TRY(etcd_range(store->etcd, "leader", take_leader, leader, err));
        /* Ours, from an answer that was lost? The name has a number that nobody else draws. */
        if (strcmp(leader, store->owner) == 0) {
            store->epoch = 0;
            MYR_TRY(etcd_range(store->etcd, "leader", take_epoch, store, err));
            return store->epoch > 0;
        }
    }
    return done;
}

/*
 * Waits for as long as 'waits' says; the state is read when nobody else can change it. Attempts
 * that failed before one succeeded are no error of the caller's.
 */
int store_stand_by(const struct etcd_config *config, const char *name, store_waits *waits,
                   void *context, struct store **ret, struct myr_err *err)
{
    MYR_ASSERT(config && name && waits && ret);
    struct replicated *store = myr_xcalloc(1, sizeof(*store));
    struct myr_err why = {};
    char leader[LEADER_NAME] = "";
    bool waited = false;
    int rc = 0;
    store->etcd = etcd_new(config);
    snprintf(store->owner, sizeof(store->owner), "%.60s %d-%llx", name, (int)getpid(),
             (unsigned long long)draw());
    for (;;) {
        rc = try_lead(store, config->ttl_s, leader, &why);
        /* Said to whoever starts it; later it is a certificate that is being replaced. */
        if (rc > 0 || (rc == MYR_EINVAL && !waited)) {
            break;
        }
        waited = true;
        if (!waits(context, rc < 0 ? NULL : leader, rc < 0 ? why.message : NULL)) {
            if (rc == 0) {
                rc = myr_err_set(&why, MYR_ESTALE, "'%s' leads", leader);
            }
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = TRY_MS * 1000000L}, NULL);
    }
    if (rc > 0) {
        rc = load(store, &why);
    }
    if (rc < 0) {
        close_store(store);
        if (err) {
            *err = why;
        }
        return rc;
    }
    MYR_ASSERT(store->lease > 0 && !store->fenced && store->skip == 0);
    *ret = store_of(&replicated_ops, store);
    return MYR_OK;
}

/* A file has no lease: it is held by its lock. */
int store_keep(struct store *store, struct myr_err *err)
{
    struct replicated *own = store_own_if(store, &replicated_ops);
    if (!own) {
        return MYR_OK;
    }
    MYR_ASSERT(own->lease > 0);
    int rc = own->fenced ? fenced(own, err) : etcd_keep_alive(own->etcd, own->lease, err);
    if (rc == MYR_ESTALE) {
        own->fenced = true;
        (void)myr_err_set(err, MYR_ESTALE, "this server's lease has run out, and another may lead");
    }
    return rc;
}

/* A file is never called empty: init has made it. */
bool store_is_empty(const struct store *store)
{
    const struct replicated *own = store_own_if(store, &replicated_ops);
    return own && own->image.entries.count == 0;
}
