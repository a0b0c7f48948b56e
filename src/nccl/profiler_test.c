/*
 * Plays NCCL's side of the interface, all versions, in the order that NCCL calls in and in none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "myriad/base/rng.h"

#include "leaks.h"
#include "profiler.h"
#include "state.h"

/* The C library keeps stacks of threads that have ended, and what loading a library needs. */
long myr_leaks_allowed = 40;

#define VERSIONS 5
#define COMM     0xabcdef0123456789ull

static const struct nccl_profiler *const profilers[VERSIONS + 1] = {
    NULL, &ncclProfiler_v1, &ncclProfiler_v2, &ncclProfiler_v3, &ncclProfiler_v4, &ncclProfiler_v5};

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/myriad-nccl-test-XXXXXX");
    unsetenv("MYRIAD_NCCL_CHAIN");
    return mkdtemp(folder) && setenv("MYRIAD_NCCL_DIR", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if anything is left in it */
}

/* --- NCCL's side, in one shape for all versions */

union event {
    struct nccl_event_v1 v1;
    struct nccl_event_v2 v2;
    struct nccl_event_v3 v3;
    struct nccl_event_v4 v4;
    struct nccl_event_v5 v5;
};

static void *init_comm(int version, int rank, int ranks, int *mask)
{
    void *context = NULL;
    void (*init)(void) = profilers[version]->init;
    int rc;
    *mask = 0;
    if (version <= 3) {
        rc = ((nccl_init_v1_fn *)init)(&context, mask);
    } else if (version == 4) {
        rc = ((nccl_init_v4_fn *)init)(&context, mask, "group", COMM, 2, ranks, rank, NULL);
    } else {
        rc = ((nccl_init_v5_fn *)init)(&context, COMM, mask, "group", 2, ranks, rank, NULL);
    }
    assert_int_equal(rc, 0);
    return context;
}

static void *start_event(int version, void *context, union event *event)
{
    void *handle = (void *)1;
    assert_int_equal(profilers[version]->start(context, &handle, event), 0);
    return handle;
}

#define SET_COLL(event, kind_, type_, seq_) \
    do {                                    \
        (event).coll.func = kind_;          \
        (event).coll.seq = seq_;            \
        (event).coll.count = 1000 + (seq_); \
        type_;                              \
    } while (0)

static void *start_coll(int version, void *context, void *parent, int rank, uint64_t seq)
{
    union event event;
    memset(&event, 0, sizeof(event));
    if (version < 5) {
        event.v1.type = NCCL_COLL;
    } else {
        event.v5.type = NCCL_COLL;
    }
    event.v1.parent = parent;
    event.v1.rank = rank;
    switch (version) {
    case 1:
        SET_COLL(event.v1, 4, event.v1.coll.comm = COMM, seq);
        break;
    case 2:
        SET_COLL(event.v2, "AllReduce", event.v2.coll.type_name = "ncclFloat32", seq);
        event.v2.coll.comm = COMM;
        break;
    case 3:
        SET_COLL(event.v3, "AllReduce", event.v3.coll.type_name = "ncclFloat32", seq);
        event.v3.coll.comm = COMM;
        event.v3.coll.channels_max = 2;
        break;
    case 4:
        SET_COLL(event.v4, "AllReduce", event.v4.coll.type_name = "ncclFloat32", seq);
        event.v4.coll.channels = 2;
        break;
    default:
        SET_COLL(event.v5, "AllReduce", event.v5.coll.type_name = "ncclFloat32", seq);
        event.v5.coll.channels = 2;
        break;
    }
    return start_event(version, context, &event);
}

static void *start_typed(int version, void *context, void *parent, uint64_t type)
{
    union event event;
    memset(&event, 0, sizeof(event));
    if (version < 5) {
        event.v1.type = (uint8_t)type;
    } else {
        event.v5.type = type;
    }
    event.v1.parent = parent;
    return start_event(version, context, &event);
}

static void *start_proxy(int version, void *context, void *parent, int peer, int32_t pid)
{
    union event event;
    memset(&event, 0, sizeof(event));
    if (version < 5) {
        event.v1.type = NCCL_PROXY_OP;
    } else {
        event.v5.type = NCCL_PROXY_OP;
    }
    event.v1.parent = parent;
    event.v1.proxy_op.peer = peer; /* lies at the same place in all */
    event.v1.proxy_op.pid = pid;
    return start_event(version, context, &event);
}

static void stop_event(int version, void *handle)
{
    assert_int_equal(profilers[version]->stop(handle), 0);
}

/* The state of the n-th file in the folder, by name. */
static struct myr_nccl_state read_state(uint32_t index)
{
    char path[128];
    struct myr_err err;
    struct myr_nccl_state state = {0};
    snprintf(path, sizeof(path), "%s/nccl-%d-%u.state", folder, (int)getpid(), index);
    if (myr_nccl_read(path, &state, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return state;
}

/* --- tests */

static void the_layout_is_that_of_nccl(void **state)
{
    (void)state;
    /* Printed by a program with the profiler headers of NCCL's repository at 2.30 (x86-64). */
    const size_t found[][2] = {
        {sizeof(struct nccl_event_v1), 120},
        {offsetof(struct nccl_event_v1, parent), 8},
        {offsetof(struct nccl_event_v1, rank), 16},
        {offsetof(struct nccl_event_v1, coll.seq), 40},
        {offsetof(struct nccl_event_v1, coll.func), 48},
        {offsetof(struct nccl_event_v1, coll.count), 72},
        {offsetof(struct nccl_event_v1, coll.channels_max), 104},
        {offsetof(struct nccl_event_v1, p2p.func), 40},
        {offsetof(struct nccl_event_v1, p2p.count), 64},
        {offsetof(struct nccl_event_v1, p2p.peer), 72},
        {offsetof(struct nccl_event_v1, proxy_op.pid), 24},
        {offsetof(struct nccl_event_v1, proxy_op.peer), 32},
        {offsetof(struct nccl_event_v1, proxy_op.is_send), 44},
        {sizeof(struct nccl_event_v2), 128},
        {offsetof(struct nccl_event_v2, coll.seq), 40},
        {offsetof(struct nccl_event_v2, coll.func), 48},
        {offsetof(struct nccl_event_v2, coll.count), 72},
        {offsetof(struct nccl_event_v2, coll.type_name), 88},
        {offsetof(struct nccl_event_v2, coll.channels_max), 104},
        {offsetof(struct nccl_event_v2, p2p.peer), 72},
        {sizeof(struct nccl_event_v3), 120},
        {offsetof(struct nccl_event_v3, coll.channels_max), 96},
        {offsetof(struct nccl_event_v3, p2p.count), 64},
        {offsetof(struct nccl_event_v3, proxy_op.peer), 32},
        {offsetof(struct nccl_event_v3, kernel.channel), 24},
        {sizeof(struct nccl_event_v4), 104},
        {offsetof(struct nccl_event_v4, coll.seq), 24},
        {offsetof(struct nccl_event_v4, coll.func), 32},
        {offsetof(struct nccl_event_v4, coll.count), 56},
        {offsetof(struct nccl_event_v4, coll.type_name), 72},
        {offsetof(struct nccl_event_v4, coll.channels), 80},
        {offsetof(struct nccl_event_v4, p2p.channels), 60},
        {sizeof(struct nccl_event_v5), 112},
        {offsetof(struct nccl_event_v5, parent), 8},
        {offsetof(struct nccl_event_v5, group_api.captured), 24},
        {offsetof(struct nccl_event_v5, coll_api.captured), 64},
        {offsetof(struct nccl_event_v5, p2p_api.captured), 56},
        {offsetof(struct nccl_event_v5, coll.parent_group), 104},
        {offsetof(struct nccl_event_v5, p2p.channels), 60},
        {offsetof(struct nccl_event_v5, p2p.parent_group), 64},
        {offsetof(struct nccl_event_v5, proxy_op.peer), 32},
        {sizeof(struct nccl_profiler), 48},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(found); i++) {
        assert_int_equal(found[i][0], found[i][1]);
    }
}

/* One collective with two transfers and its kernel, all seen while it is open. */
static void an_open_operation_is_seen_until_all_of_it_has_ended(void **state)
{
    (void)state;
    for (int version = 1; version <= VERSIONS; version++) {
        int mask;
        void *context = init_comm(version, 3, 8, &mask);
        assert_true(mask & NCCL_COLL && mask & NCCL_PROXY_OP);
        assert_int_equal((mask & NCCL_KERNEL_CHANNEL) != 0, version >= 3);
        for (uint64_t seq = 0; seq < 3; seq++) {
            void *coll = start_coll(version, context, NULL, 3, seq);
            assert_non_null(coll);
            void *send = start_proxy(version, context, coll, 4, getpid());
            stop_event(version, coll); /* is under way: NCCL has no more to say of it */
            struct myr_nccl_state seen = read_state(0);
            assert_int_equal(seen.open_count, 1);
            assert_int_equal(seen.oldest.number, seq + 1);
            assert_int_equal(seen.oldest.seq, seq);
            assert_int_equal(seen.oldest.count, 1000 + seq);
            assert_string_equal(seen.oldest.kind, "AllReduce");
            assert_int_equal(seen.begun - seen.ended, 1);
            stop_event(version, send);
            if (mask & NCCL_KERNEL_CHANNEL) {
                for (int channel = 0; channel < 2; channel++) {
                    /* The first operation of all cannot know yet that kernels tell. */
                    assert_int_equal(read_state(0).open_count, seq > 0);
                    void *kernel = start_typed(version, context, coll, NCCL_KERNEL_CHANNEL);
                    stop_event(version, kernel);
                }
            }
            seen = read_state(0);
            assert_int_equal(seen.open_count, 0);
            assert_int_equal(seen.ended, seq + 1);
            assert_int_equal(seen.last.number, seq + 1);
            assert_int_equal(seen.peer_count, 1);
            assert_int_equal(seen.peers[0].rank, 4);
            assert_int_equal(seen.peers[0].transfers, seq + 1);
            assert_int_equal(seen.rank, 3);
            assert_int_equal(seen.ranks, version >= 4 ? 8 : -1);
            assert_true(seen.comm == COMM);
        }
        profilers[version]->finalize(context);
    }
}

static void a_captured_operation_does_not_stay_open(void **state)
{
    (void)state;
    int mask;
    void *context = init_comm(5, 0, 2, &mask);
    void *first = start_coll(5, context, NULL, 0, 0);
    stop_event(5, start_typed(5, context, first, NCCL_KERNEL_CHANNEL));
    stop_event(5, first);
    union event api;
    memset(&api, 0, sizeof(api));
    api.v5.type = NCCL_COLL_API;
    api.v5.coll_api.captured = true;
    void *parent = start_event(5, context, &api);
    void *coll = start_coll(5, context, parent, 0, 1);
    stop_event(5, coll);
    assert_int_equal(read_state(0).open_count, 0); /* its kernels run when the graph is played */
    stop_event(5, parent);
    parent = start_typed(5, context, NULL, NCCL_COLL_API);
    stop_event(5, start_coll(5, context, parent, 0, 2));
    assert_int_equal(read_state(0).open_count, 1);
    profilers[5]->finalize(context);
}

static void without_a_folder_nothing_is_asked_for(void **state)
{
    (void)state;
    unsetenv("MYRIAD_NCCL_DIR");
    for (int round = 0; round < 2; round++) {
        for (int version = 1; version <= VERSIONS; version++) {
            int mask;
            void *context = init_comm(version, 0, 2, &mask);
            assert_int_equal(mask, 0);
            assert_null(start_coll(version, context, NULL, 0, 0));
            profilers[version]->stop(NULL);
            profilers[version]->record(NULL, 0, NULL);
            profilers[version]->finalize(context);
        }
        setenv("MYRIAD_NCCL_DIR", "/nowhere/at/all", 1);
    }
    setenv("MYRIAD_NCCL_DIR", folder, 1);
}

/* Events in any order, with parents that are old, foreign or no handles at all. */
static void drive_at_random(int version, void *context, uint64_t seed, int rounds)
{
    enum { HELD = 1500 };
    static _Thread_local void *held[HELD], *old[16];
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 7);
    for (int i = 0; i < HELD; i++) {
        held[i] = NULL;
    }
    const uint64_t types[] = {NCCL_GROUP,     NCCL_PROXY_STEP, NCCL_KERNEL_CHANNEL,
                              NCCL_GROUP_API, NCCL_COLL_API,   NCCL_P2P_API,
                              NCCL_P2P,       1u << 5,         1u << 7};
    for (int i = 0; i < rounds; i++) {
        void **slot = &held[myr_rng_below(&rng, HELD)];
        if (*slot) {
            profilers[version]->record(*slot, (int)myr_rng_below(&rng, 40), NULL);
            old[myr_rng_below(&rng, 16)] = *slot;
            stop_event(version, *slot);
            *slot = NULL;
            continue;
        }
        void *parents[] = {NULL, held[myr_rng_below(&rng, HELD)], old[myr_rng_below(&rng, 16)],
                           (void *)(uintptr_t)myr_rng_u64(&rng)};
        void *parent = parents[myr_rng_below(&rng, 4)];
        switch (myr_rng_below(&rng, 3)) {
        case 0:
            *slot = start_coll(version, context, parent, 0, i);
            break;
        case 1:
            *slot = start_proxy(version, context, parent, (int)myr_rng_below(&rng, 100) - 1,
                                myr_rng_below(&rng, 2) ? getpid() : 1);
            break;
        default:
            *slot = start_typed(version, context, parent, types[myr_rng_below(&rng, 9)]);
            break;
        }
    }
    for (int i = 0; i < HELD; i++) {
        if (held[i]) {
            stop_event(version, held[i]);
        }
    }
}

static void any_order_of_events_keeps_the_counts(void **state)
{
    (void)state;
    for (int version = 1; version <= VERSIONS; version++) {
        int mask;
        void *context = init_comm(version, 0, 2, &mask);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            drive_at_random(version, context, seed, 4000);
            struct myr_nccl_state seen = read_state(0);
            assert_true(seen.begun >= seen.ended);
            assert_true(seen.open_count >= seen.begun - seen.ended);
        }
        assert_true(read_state(0).lost > 0); /* more were held than there is room for */
        profilers[version]->finalize(context);
    }
}

struct driver {
    pthread_t thread;
    void *context;
    uint64_t seed;
};

static void *drive(void *given)
{
    struct driver *driver = given;
    /* Whole operations: what one thread begins another one's events do not touch. */
    for (uint64_t i = 0; i < 20000; i++) {
        void *coll = start_coll(4, driver->context, NULL, 0, i);
        void *proxy = start_proxy(4, driver->context, coll, (int)driver->seed, getpid());
        if (proxy) {
            profilers[4]->stop(proxy);
        }
        if (coll) {
            profilers[4]->stop(coll);
        }
    }
    return NULL;
}

static void threads_share_a_communicator(void **state)
{
    (void)state;
    int mask;
    struct driver drivers[4];
    void *context = init_comm(4, 0, 2, &mask);
    for (uint64_t i = 0; i < 4; i++) {
        drivers[i] = (struct driver){.context = context, .seed = i};
        assert_int_equal(pthread_create(&drivers[i].thread, NULL, drive, &drivers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(drivers[i].thread, NULL);
    }
    struct myr_nccl_state seen = read_state(0);
    assert_int_equal(seen.begun, 80000);
    assert_int_equal(seen.ended, 80000);
    assert_int_equal(seen.lost, 0);
    assert_int_equal(seen.open_count, 0);
    assert_int_equal(seen.peer_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(seen.peers[i].transfers, 20000);
    }
    profilers[4]->finalize(context);
}

/* The second one is the plugin once more, as a library: what it keeps must be the same. */
static void a_second_profiler_gets_every_event(void **state)
{
    (void)state;
    const char *plugin = getenv("MYRIAD_NCCL_PLUGIN");
    if (!plugin) {
        skip(); /* ctest says where it lies */
    }
    setenv("MYRIAD_NCCL_CHAIN", plugin, 1);
    for (int version = 1; version <= VERSIONS; version++) {
        int mask;
        void *context = init_comm(version, 0, 2, &mask);
        for (uint64_t seq = 0; seq < 50; seq++) {
            void *coll = start_coll(version, context, NULL, 0, seq);
            void *proxy = start_proxy(version, context, coll, 1, getpid());
            stop_event(version, coll);
            struct myr_nccl_state first = read_state(0), second = read_state(1);
            assert_int_equal(second.open_count, 1);
            assert_int_equal(second.oldest.number, first.oldest.number);
            stop_event(version, proxy);
            assert_int_equal(read_state(1).open_count, 0);
        }
        assert_int_equal(read_state(1).ended, 50);
        assert_int_equal(read_state(1).peers[0].transfers, 50);
        profilers[version]->finalize(context);
    }
    unsetenv("MYRIAD_NCCL_CHAIN");
}

static void files_that_are_none_are_refused(void **state)
{
    (void)state;
    char path[128];
    struct myr_nccl_state seen;
    struct myr_err err;
    snprintf(path, sizeof(path), "%s/noise", folder);
    assert_int_not_equal(myr_nccl_read(path, &seen, &err), MYR_OK);
    size_t bytes = NCCL_STATE_BYTES;
    struct nccl_state *image = calloc(1, bytes);
    struct myr_rng rng;
    myr_rng_init(&rng, 45, 8);
    for (int round = 0; round < 60; round++) {
        /* Noise behind a right beginning too: whatever is read from it stays within bounds. */
        for (size_t i = 0; i < bytes / 4; i++) {
            ((uint32_t *)image)[i] = myr_rng_u32(&rng);
        }
        if (round % 2) {
            image->magic = NCCL_MAGIC;
            image->bytes = NCCL_STATE_BYTES;
            image->version = 1 + round % 5;
            image->begun = UINT64_MAX;
        }
        FILE *file = fopen(path, "w");
        fwrite(image, 1, round % 5 == 4 ? myr_rng_below(&rng, (uint32_t)bytes) : bytes, file);
        fclose(file);
        int rc = myr_nccl_read(path, &seen, &err);
        assert_int_equal(rc, round % 2 && round % 5 != 4 ? MYR_OK : MYR_ECORRUPT);
        if (rc == MYR_OK) {
            assert_true(seen.peer_count <= MYR_NCCL_PEERS_MAX);
            assert_true(strlen(seen.last.kind) < MYR_NCCL_TEXT_MAX);
        }
    }
    free(image);
    unlink(path);
}

/* What one event costs; printed, not asserted. */
static void an_event_costs_little(void **state)
{
    (void)state;
    int mask;
    struct timespec begun, ended;
    void *context = init_comm(4, 0, 2, &mask);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    for (uint64_t i = 0; i < 200000; i++) {
        profilers[4]->stop(start_coll(4, context, NULL, 0, i));
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    double took =
        (double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec);
    print_message("%.0f ns of processor time an event\n", took / 400000);
    assert_int_equal(read_state(0).ended, 200000);
    profilers[4]->finalize(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_that_of_nccl),
        cmocka_unit_test(an_open_operation_is_seen_until_all_of_it_has_ended),
        cmocka_unit_test(a_captured_operation_does_not_stay_open),
        cmocka_unit_test(without_a_folder_nothing_is_asked_for),
        cmocka_unit_test(any_order_of_events_keeps_the_counts),
        cmocka_unit_test(threads_share_a_communicator),
        cmocka_unit_test(a_second_profiler_gets_every_event),
        cmocka_unit_test(files_that_are_none_are_refused),
        cmocka_unit_test(an_event_costs_little),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
