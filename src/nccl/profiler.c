/*
 * The plugin as NCCL sees it: five versions of its interface, which differ in the descriptor of an
 * event and in what init is told. Each fills the same words (struct told), and the rest is common.
 *
 * With MYRIAD_NCCL_CHAIN a second profiler is loaded and gets every event that it asked for, with
 * its own handles: NCCL itself loads one only.
 *
 * Whatever goes wrong here (no folder, no memory, no room) NCCL is told that all is well: training
 * does not end for want of a profile.
 */
#include "profiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

#define COMMUNICATORS_MAX 4096 /* of a process */
#define EVENT_BYTES_MAX   128
#define PATH_BYTES_MAX    512

struct own {
    struct nccl_state *state;
    char path[PATH_BYTES_MAX]; /* empty: no file */
    int mask;
    const struct nccl_profiler *chain; /* or NULL */
    void *library, *chained;
    int chain_mask;
};

/* What an event says, in any version. */
struct told {
    uint64_t type;
    void *parent;
    size_t other_parent_at; /* where the event names a second one; 0: nowhere */
    int rank;
    struct nccl_begin begin;
    int32_t peer, pid;
    uint64_t comm; /* up to version 3 */
    const char *name;
    bool captured;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- a communicator begins and ends */

static int create_file(struct own *own, const char *folder)
{
    for (int i = 0; i < COMMUNICATORS_MAX; i++) {
        int length =
            snprintf(own->path, sizeof(own->path), "%s/nccl-%d-%d.state", folder, (int)getpid(), i);
        if (length >= (int)sizeof(own->path)) {
            break;
        }
        int file = open(own->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file >= 0) {
            return file;
        }
    }
    own->path[0] = 0;
    return -1;
}

static struct nccl_state *map_state(struct own *own, const char *folder)
{
    int file = folder ? create_file(own, folder) : -1;
    if (file >= 0 && posix_fallocate(file, 0, NCCL_STATE_BYTES) != 0) {
        unlink(own->path);
        close(file);
        own->path[0] = 0;
        file = -1;
    }
    int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *memory = mmap(NULL, NCCL_STATE_BYTES, PROT_READ | PROT_WRITE, flags, file, 0);
    if (file >= 0) {
        close(file);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

static void load_chain(struct own *own, int version, const struct nccl_profiler *self)
{
    const char *path = getenv("MYRIAD_NCCL_CHAIN");
    if (!path || !*path) {
        return;
    }
    own->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    char name[32];
    snprintf(name, sizeof(name), "ncclProfiler_v%d", version);
    own->chain = own->library ? dlsym(own->library, name) : NULL;
    own->chain = own->chain == self ? NULL : own->chain;
}

static void drop(struct own *own)
{
    if (own->state) {
        munmap(own->state, NCCL_STATE_BYTES);
    }
    if (own->path[0]) {
        unlink(own->path);
    }
    if (own->library) {
        dlclose(own->library);
    }
    free(own);
}

/* NULL when there is nothing to do, or no memory to do it. */
static struct own *open_own(int version, int mask, const struct nccl_profiler *self)
{
    const char *folder = getenv("MYRIAD_NCCL_DIR");
    struct own *own = calloc(1, sizeof(*own));
    if (!own) {
        return NULL;
    }
    load_chain(own, version, self);
    own->state = folder || own->chain ? map_state(own, folder) : NULL;
    if (!own->state) {
        drop(own);
        return NULL;
    }
    own->mask = own->path[0] ? mask : 0;
    nccl_state_init(own->state, (uint32_t)version, (uint32_t)getpid());
    own->state->own = own;
    return own;
}

static int finalize(void *context)
{
    struct own *own = context;
    if (own) {
        if (own->chain) {
            own->chain->finalize(own->chained);
        }
        drop(own);
    }
    return 0;
}

/* --- events */

static void *chained_of(struct own *own, const void *handle)
{
    struct nccl_slot *slot = nccl_slot_at(own->state, handle);
    return slot ? slot->chained : NULL;
}

/* The second profiler knows its own handles only. */
static void start_chained(struct own *own, struct nccl_slot *slot, const struct told *told,
                          const void *event, size_t bytes)
{
    _Alignas(8) uint8_t copy[EVENT_BYTES_MAX];
    memcpy(copy, event, bytes);
    void *parent = chained_of(own, told->parent);
    memcpy(copy + offsetof(struct nccl_event_v5, parent), &parent, sizeof(parent));
    if (told->other_parent_at > 0) {
        void *other;
        memcpy(&other, copy + told->other_parent_at, sizeof(other));
        other = chained_of(own, other);
        memcpy(copy + told->other_parent_at, &other, sizeof(other));
    }
    own->chain->start(own->chained, &slot->chained, copy);
}

static enum nccl_kind kind_of(uint64_t type)
{
    switch (type) {
    case NCCL_COLL:
    case NCCL_P2P:
        return NCCL_OP;
    case NCCL_PROXY_OP:
        return NCCL_TRANSFER;
    case NCCL_KERNEL_CHANNEL:
        return NCCL_CHANNEL;
    case NCCL_GROUP_API:
    case NCCL_COLL_API:
    case NCCL_P2P_API:
        return NCCL_API;
    default:
        return NCCL_OTHER;
    }
}

static void note(struct own *own, struct nccl_slot *slot, const struct told *told)
{
    struct nccl_state *state = own->state;
    struct nccl_begin begin = told->begin;
    const struct nccl_slot *parent = nccl_slot_at(state, told->parent);
    switch (atomic_load(&slot->kind)) {
    case NCCL_OP:
        if (told->comm && atomic_load(&state->comm) == 0) {
            snprintf(state->name, sizeof(state->name), "%s", told->name ? told->name : "");
            state->rank = told->rank;
            atomic_store(&state->comm, told->comm);
        }
        begin.collective = told->type == NCCL_COLL;
        begin.captured = parent && atomic_load(&parent->kind) == NCCL_API && parent->captured;
        nccl_begin(state, slot, &begin);
        break;
    case NCCL_TRANSFER:
        slot->peer = told->peer;
        /* What another process began has its parent there. */
        nccl_attach(state, slot, told->pid == (int32_t)state->pid ? told->parent : NULL);
        break;
    case NCCL_CHANNEL:
        nccl_attach(state, slot, told->parent);
        break;
    case NCCL_API:
        slot->captured = told->captured || (parent && parent->captured);
        break;
    default:
        break;
    }
}

static int start(void *context, void **handle, const struct told *told, const void *event,
                 size_t bytes)
{
    struct own *own = context;
    *handle = NULL;
    if (!own) {
        return 0;
    }
    bool ours = told->type & (uint64_t)own->mask;
    bool theirs = own->chain && told->type & (uint64_t)own->chain_mask;
    if (!ours && !theirs) {
        return 0;
    }
    struct nccl_slot *slot =
        nccl_take(own->state, ours ? kind_of(told->type) : NCCL_OTHER, now_ns());
    if (!slot) {
        return 0;
    }
    if (ours) {
        note(own, slot, told);
    }
    if (theirs) {
        start_chained(own, slot, told, event, bytes);
    }
    *handle = slot;
    return 0;
}

static int stop(void *handle)
{
    struct nccl_slot *slot = handle;
    if (slot) {
        struct nccl_state *state = nccl_state_of(slot);
        struct own *own = state->own;
        if (own->chain && slot->chained) {
            own->chain->stop(slot->chained);
        }
        nccl_end(state, slot, now_ns());
    }
    return 0;
}

static int record(void *handle, int to, void *arguments)
{
    struct nccl_slot *slot = handle;
    if (slot) {
        struct own *own = nccl_state_of(slot)->own;
        if (own->chain && slot->chained) {
            own->chain->record(slot->chained, to, arguments);
        }
    }
    return 0;
}

/* --- the versions */

static const char *kind_name(uint8_t func)
{
    static const char *const names[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                        "AllReduce", "SendRecv", "Send",      "Recv"};
    return func < sizeof(names) / sizeof(names[0]) ? names[func] : "other";
}

#define TOLD(event)                                                             \
    {                                                                           \
        .type = (event)->type, .parent = (event)->parent, .rank = (event)->rank \
    }

static void tell_proxy(struct told *told, const struct nccl_proxy_op *op)
{
    told->peer = op->peer;
    told->pid = op->pid;
}

static int start_v1(void *context, void **handle, void *given)
{
    const struct nccl_event_v1 *event = given;
    struct told told = TOLD(event);
    if (event->type == NCCL_COLL) {
        told.begin = (struct nccl_begin){.kind = kind_name(event->coll.func),
                                         .seq = event->coll.seq,
                                         .count = event->coll.count};
        told.comm = event->coll.comm;
        told.name = event->coll.name;
    } else if (event->type == NCCL_P2P) {
        told.begin =
            (struct nccl_begin){.kind = kind_name(event->p2p.func), .count = event->p2p.count};
        told.comm = event->p2p.comm;
        told.name = event->p2p.name;
    } else if (event->type == NCCL_PROXY_OP) {
        tell_proxy(&told, &event->proxy_op);
    }
    return start(context, handle, &told, event, sizeof(*event));
}

/* Versions 2 and 3 differ in where things lie. */
#define START_NAMED(function, version)                                                             \
    static int function(void *context, void **handle, void *given)                                 \
    {                                                                                              \
        const struct version *event = given;                                                       \
        struct told told = TOLD(event);                                                            \
        if (event->type == NCCL_COLL) {                                                            \
            told.begin = (struct nccl_begin){.kind = event->coll.func,                             \
                                             .type = event->coll.type_name,                        \
                                             .seq = event->coll.seq,                               \
                                             .count = event->coll.count,                           \
                                             .channels = event->coll.channels_max};                \
            told.comm = event->coll.comm;                                                          \
            told.name = event->coll.name;                                                          \
        } else if (event->type == NCCL_P2P) {                                                      \
            told.begin = (struct nccl_begin){                                                      \
                .kind = event->p2p.func, .type = event->p2p.type_name, .count = event->p2p.count}; \
            told.comm = event->p2p.comm;                                                           \
            told.name = event->p2p.name;                                                           \
        } else if (event->type == NCCL_PROXY_OP) {                                                 \
            tell_proxy(&told, &event->proxy_op);                                                   \
        }                                                                                          \
        return start(context, handle, &told, event, sizeof(*event));                               \
    }
START_NAMED(start_v2, nccl_event_v2)
START_NAMED(start_v3, nccl_event_v3)

static int start_v4(void *context, void **handle, void *given)
{
    const struct nccl_event_v4 *event = given;
    struct told told = TOLD(event);
    if (event->type == NCCL_COLL) {
        told.begin = (struct nccl_begin){.kind = event->coll.func,
                                         .type = event->coll.type_name,
                                         .seq = event->coll.seq,
                                         .count = event->coll.count,
                                         .channels = event->coll.channels};
    } else if (event->type == NCCL_P2P) {
        told.begin = (struct nccl_begin){.kind = event->p2p.func,
                                         .type = event->p2p.type_name,
                                         .count = event->p2p.count,
                                         .channels = event->p2p.channels};
    } else if (event->type == NCCL_PROXY_OP) {
        tell_proxy(&told, &event->proxy_op);
    }
    return start(context, handle, &told, event, sizeof(*event));
}

static int start_v5(void *context, void **handle, void *given)
{
    const struct nccl_event_v5 *event = given;
    struct told told = TOLD(event);
    switch (event->type) {
    case NCCL_COLL:
        told.begin = (struct nccl_begin){.kind = event->coll.func,
                                         .type = event->coll.type_name,
                                         .seq = event->coll.seq,
                                         .count = event->coll.count,
                                         .channels = event->coll.channels};
        told.other_parent_at = offsetof(struct nccl_event_v5, coll.parent_group);
        break;
    case NCCL_P2P:
        told.begin = (struct nccl_begin){.kind = event->p2p.func,
                                         .type = event->p2p.type_name,
                                         .count = event->p2p.count,
                                         .channels = event->p2p.channels};
        told.other_parent_at = offsetof(struct nccl_event_v5, p2p.parent_group);
        break;
    case NCCL_PROXY_OP:
        tell_proxy(&told, &event->proxy_op);
        break;
    case NCCL_GROUP_API:
        told.captured = event->group_api.captured;
        break;
    case NCCL_COLL_API:
        told.captured = event->coll_api.captured;
        break;
    case NCCL_P2P_API:
        told.captured = event->p2p_api.captured;
        break;
    default:
        break;
    }
    return start(context, handle, &told, event, sizeof(*event));
}

#define MASK_V1 (NCCL_COLL | NCCL_P2P | NCCL_PROXY_OP)
#define MASK_V3 (MASK_V1 | NCCL_KERNEL_CHANNEL)
#define MASK_V5 (MASK_V3 | NCCL_GROUP_API | NCCL_COLL_API | NCCL_P2P_API)

static void *init_small(void **context, int *mask, int version, int ours,
                        const struct nccl_profiler *self)
{
    struct own *own = open_own(version, ours, self);
    *context = own;
    *mask = 0;
    if (own && own->chain) {
        ((nccl_init_v1_fn *)own->chain->init)(&own->chained, &own->chain_mask);
    }
    *mask = own ? own->mask | own->chain_mask : 0;
    return own;
}

#define INIT_SMALL(version, ours)                                           \
    static int init_v##version(void **context, int *mask)                   \
    {                                                                       \
        init_small(context, mask, version, ours, &ncclProfiler_v##version); \
        return 0;                                                           \
    }
INIT_SMALL(1, MASK_V1)
INIT_SMALL(2, MASK_V1)
INIT_SMALL(3, MASK_V3)

struct communicator {
    uint64_t number;
    const char *name;
    int nodes, ranks, rank;
};

static void introduce(struct own *own, const struct communicator *comm)
{
    snprintf(own->state->name, sizeof(own->state->name), "%s", comm->name ? comm->name : "");
    own->state->nodes = comm->nodes;
    own->state->ranks = comm->ranks;
    own->state->rank = comm->rank;
    atomic_store(&own->state->comm, comm->number);
}

static int init_v4(void **context, int *mask, const char *name, uint64_t comm, int nodes, int ranks,
                   int rank, nccl_log_fn *log)
{
    struct own *own = open_own(4, MASK_V3, &ncclProfiler_v4);
    *context = own;
    if (own) {
        introduce(own, &(struct communicator){comm, name, nodes, ranks, rank});
        if (own->chain) {
            ((nccl_init_v4_fn *)own->chain->init)(&own->chained, &own->chain_mask, name, comm,
                                                  nodes, ranks, rank, log);
        }
    }
    *mask = own ? own->mask | own->chain_mask : 0;
    return 0;
}

static int init_v5(void **context, uint64_t comm, int *mask, const char *name, int nodes, int ranks,
                   int rank, nccl_log_fn *log)
{
    struct own *own = open_own(5, MASK_V5, &ncclProfiler_v5);
    *context = own;
    if (own) {
        introduce(own, &(struct communicator){comm, name, nodes, ranks, rank});
        if (own->chain) {
            ((nccl_init_v5_fn *)own->chain->init)(&own->chained, comm, &own->chain_mask, name,
                                                  nodes, ranks, rank, log);
        }
    }
    *mask = own ? own->mask | own->chain_mask : 0;
    return 0;
}

#define PROFILER(version)                                  \
    const struct nccl_profiler ncclProfiler_v##version = { \
        "Myriad", (void (*)(void))init_v##version, start_v##version, stop, record, finalize}

PROFILER(1);
PROFILER(2);
PROFILER(3);
PROFILER(4);
PROFILER(5);
