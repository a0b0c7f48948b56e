/*
 * abi: what NCCL passes to a profiler, versions 1 to 5 (NCCL 2.23 to 2.28 and later ones that still
 * load them), in declarations of our own; only the layout is NCCL's. profiler_test.c holds sizes
 * and offsets against figures taken with NCCL's public headers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nccl_type {
    NCCL_GROUP = 1 << 0,
    NCCL_COLL = 1 << 1,
    NCCL_P2P = 1 << 2,
    NCCL_PROXY_OP = 1 << 3,
    NCCL_PROXY_STEP = 1 << 4,
    NCCL_KERNEL_CHANNEL = 1 << 6,
    NCCL_GROUP_API = 1 << 8,
    NCCL_COLL_API = 1 << 9,
    NCCL_P2P_API = 1 << 10,
};

/* The same in all versions. */
struct nccl_proxy_op {
    int32_t pid; /* of the process whose operation it is */
    uint8_t channel;
    int peer, steps, chunk_bytes, is_send;
};

struct nccl_kernel_channel {
    uint8_t channel;
    uint64_t gpu_timer; /* from version 4 on */
};

struct nccl_event_v1 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            const char *name;
            uint64_t comm, seq;
            uint8_t func;
            const void *in;
            void *out;
            size_t count;
            int root;
            uint8_t datatype;
            uint32_t op;
            size_t traffic_bytes;
            uint8_t channels_max, warps, algorithm, protocol;
            int is_collnet, is_nvls;
        } coll;
        struct {
            const char *name;
            uint64_t comm;
            uint8_t func;
            void *data;
            uint8_t datatype;
            size_t count;
            int peer;
        } p2p;
        struct nccl_proxy_op proxy_op;
    };
};

struct nccl_event_v2 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            const char *name;
            uint64_t comm, seq;
            const char *func;
            const void *in;
            void *out;
            size_t count;
            int root;
            const char *type_name;
            size_t traffic_bytes;
            uint8_t channels_max, warps;
            const char *algorithm, *protocol;
        } coll;
        struct {
            const char *name;
            uint64_t comm;
            const char *func;
            void *data;
            const char *type_name;
            size_t count;
            int peer;
        } p2p;
        struct nccl_proxy_op proxy_op;
    };
};

struct nccl_event_v3 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            const char *name;
            uint64_t comm, seq;
            const char *func;
            const void *in;
            void *out;
            size_t count;
            int root;
            const char *type_name;
            uint8_t channels_max, warps;
            const char *algorithm, *protocol;
        } coll;
        struct {
            const char *name;
            uint64_t comm;
            const char *func;
            void *data;
            const char *type_name;
            size_t count;
            int peer;
        } p2p;
        struct nccl_proxy_op proxy_op;
        struct nccl_kernel_channel kernel;
    };
};

/* From here on the communicator is told with init. */
struct nccl_event_v4 {
    uint8_t type;
    void *parent;
    int rank;
    union {
        struct {
            uint64_t seq;
            const char *func;
            const void *in;
            void *out;
            size_t count;
            int root;
            const char *type_name;
            uint8_t channels, warps;
            const char *algorithm, *protocol;
        } coll;
        struct {
            const char *func;
            void *data;
            const char *type_name;
            size_t count;
            int peer;
            uint8_t channels;
        } p2p;
        struct nccl_proxy_op proxy_op;
        struct nccl_kernel_channel kernel;
    };
};

struct nccl_event_v5 {
    uint64_t type;
    void *parent;
    int rank;
    union {
        struct {
            bool captured; /* into a CUDA graph */
            int depth;
        } group_api;
        struct {
            const char *func;
            size_t count;
            const char *type_name;
            int root;
            void *stream;
            bool captured;
        } coll_api;
        struct {
            const char *func;
            size_t count;
            const char *type_name;
            void *stream;
            bool captured;
        } p2p_api;
        struct {
            uint64_t seq;
            const char *func;
            const void *in;
            void *out;
            size_t count;
            int root;
            const char *type_name;
            uint8_t channels, warps;
            const char *algorithm, *protocol;
            void *parent_group;
        } coll;
        struct {
            const char *func;
            void *data;
            const char *type_name;
            size_t count;
            int peer;
            uint8_t channels;
            void *parent_group;
        } p2p;
        struct nccl_proxy_op proxy_op;
        struct nccl_kernel_channel kernel;
    };
};

typedef void nccl_log_fn(int level, unsigned long flags, const char *file, int line,
                         const char *format, ...);

typedef int nccl_stop_fn(void *handle);
typedef int nccl_record_fn(void *handle, int state, void *arguments);
typedef int nccl_finalize_fn(void *context);
typedef int nccl_init_v1_fn(void **context, int *mask);
typedef int nccl_init_v4_fn(void **context, int *mask, const char *name, uint64_t comm, int nodes,
                            int ranks, int rank, nccl_log_fn *log);
typedef int nccl_init_v5_fn(void **context, uint64_t comm, int *mask, const char *name, int nodes,
                            int ranks, int rank, nccl_log_fn *log);
typedef int nccl_start_fn(void *context, void **handle, void *event);

/* One shape for all versions: their functions differ in types alone. */
struct nccl_profiler {
    const char *name;
    void (*init)(void);
    nccl_start_fn *start;
    nccl_stop_fn *stop;
    nccl_record_fn *record;
    nccl_finalize_fn *finalize;
};
