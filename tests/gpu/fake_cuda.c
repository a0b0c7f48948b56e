/*
 * A driver and a cuBLAS that compute nothing and keep a clock: what a call would take on a GPU of
 * known speed is added to it, so that a sweep can be checked where no GPU is. Signatures are those
 * of the real libraries, as far as the sweep calls them. It is as strict as they are: nothing works
 * before the context is set, operands have the sizes of their layouts and are filled before they
 * are read, times of events are there after waiting. And any call can be made to fail.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

typedef unsigned long long device_ptr;

struct layout {
    uint64_t rows, columns;
    int type, count;
    int64_t stride;
};

struct desc {
    int trans_a, trans_b, fast;
};

struct event {
    double ms;
    int recorded, waited;
};

/* Memory of the GPU: bytes sent are there when the stream was waited for. */
struct region {
    device_ptr at;
    size_t bytes, sent, filled;
    const void *from; /* of a small table: read when waited for */
    uint64_t words[3 * 1024];
};

struct pinned {
    void *at;
    size_t bytes;
};

enum {
    DEVICE = 41, /* a handle is no ordinal */
    REGIONS = 8,
    PINNED = 4,
    HANDLE_BYTES = 64,
    ALGORITHM = 77,
    TYPE_BF16 = 14,
    TYPE_E4M3 = 28,
    BAD_VALUE = 1,
    NO_MEMORY = 2,
    NO_DEVICE = 101,
    NO_CONTEXT = 201,
    NOT_READY = 600,
    BROKEN = 999,
};

#define TOTAL_BYTES   (140UL << 30)
#define PRODUCT_FLOPS 700e12 /* at large inner dimensions; twice that with one-byte operands */
#define DEPTH         256.0
#define MEMORY_BYTES  4e12
#define HOST_BYTES    50e9

static struct {
    double ms;
    device_ptr next;
    size_t used;
    long live;            /* allocations and handles not yet given back */
    long break_at, calls; /* the call that fails, from 1; 0: none */
    int started, retained, streams;
    double slow_ms[8];
    int slow_count, slow_at;
    void *context, *current;
    struct region regions[REGIONS];
    struct pinned pinned[PINNED];
} fake = {.next = 1 << 20};

SHOWN long fake_live(void);
long fake_live(void)
{
    return fake.live;
}

SHOWN void fake_break(long at);
void fake_break(long at)
{
    fake.break_at = at;
    fake.calls = 0;
}

/* Calls since the one that is to fail was named. */
SHOWN long fake_calls(void);
long fake_calls(void)
{
    return fake.calls;
}

/* Milliseconds that the next times of events come to more, one after the other; then none. */
SHOWN void fake_slow(const double *ms, int count);
void fake_slow(const double *ms, int count)
{
    memcpy(fake.slow_ms, ms, (size_t)count * sizeof(*ms));
    fake.slow_count = count;
    fake.slow_at = 0;
}

/* Whether the call that was to fail has been made. */
SHOWN int fake_broke(void);
int fake_broke(void)
{
    return fake.break_at && fake.calls >= fake.break_at;
}

/* Status of a call before it does anything. */
static int enter(int needs_context)
{
    if (++fake.calls == fake.break_at) {
        return BROKEN;
    }
    return needs_context && (!fake.context || fake.current != fake.context) ? NO_CONTEXT : 0;
}

#define ENTER(needs_context)                \
    do {                                    \
        int entered = enter(needs_context); \
        if (entered) {                      \
            return entered;                 \
        }                                   \
    } while (0)

static void *handle(void)
{
    fake.live++;
    return calloc(1, HANDLE_BYTES);
}

static int give_back(void *it)
{
    fake.live--;
    free(it);
    return 0;
}

#define CREATE(name)           \
    SHOWN int name(void **it); \
    int name(void **it)        \
    {                          \
        ENTER(1);              \
        *it = handle();        \
        return 0;              \
    }
#define DESTROY(name)         \
    SHOWN int name(void *it); \
    int name(void *it)        \
    {                         \
        return give_back(it); \
    }
#define FAKE(name, arguments) \
    SHOWN int name arguments; \
    int name arguments

FAKE(cuInit, (unsigned flags))
{
    ENTER(0);
    fake.started = 1;
    return flags ? BAD_VALUE : 0;
}

FAKE(cuDeviceGetCount, (int *count))
{
    ENTER(0);
    *count = 1;
    return fake.started ? 0 : NO_DEVICE;
}

FAKE(cuDeviceGet, (int *device, int ordinal))
{
    ENTER(0);
    *device = DEVICE;
    return ordinal ? NO_DEVICE : 0;
}

FAKE(cuDeviceGetName, (char *name, int len, int device))
{
    ENTER(0);
    memcpy(name, "NVIDIA H200", (size_t)len < 12 ? (size_t)len : 12);
    return device == DEVICE ? 0 : NO_DEVICE;
}

FAKE(cuDevicePrimaryCtxRetain, (void **context, int device))
{
    ENTER(0);
    if (device != DEVICE) {
        return NO_DEVICE;
    }
    *context = fake.context = &fake;
    fake.live++;
    return 0;
}

FAKE(cuDevicePrimaryCtxRelease_v2, (int device))
{
    fake.live -= device == DEVICE;
    fake.context = fake.current = NULL;
    return 0;
}

FAKE(cuCtxSetCurrent, (void *context))
{
    ENTER(0);
    fake.current = context;
    return context ? 0 : NO_CONTEXT;
}

FAKE(cuMemGetInfo_v2, (size_t * left, size_t *total))
{
    ENTER(1);
    *total = TOTAL_BYTES;
    *left = TOTAL_BYTES - fake.used;
    return 0;
}

/* The allocation in which so many bytes lie behind an address. */
static struct region *region_of(device_ptr at, size_t bytes)
{
    for (int i = 0; i < REGIONS; i++) {
        struct region *region = &fake.regions[i];
        if (region->at && at >= region->at && at - region->at <= region->bytes &&
            bytes <= region->bytes - (at - region->at)) {
            return region;
        }
    }
    return NULL;
}

FAKE(cuMemAlloc_v2, (device_ptr * ptr, size_t bytes))
{
    ENTER(1);
    struct region *region = fake.regions;
    while (region < fake.regions + REGIONS && region->at) {
        region++;
    }
    if (bytes == 0 || bytes > TOTAL_BYTES - fake.used || region == fake.regions + REGIONS) {
        return NO_MEMORY;
    }
    *region = (struct region){.at = fake.next, .bytes = bytes};
    *ptr = fake.next;
    fake.next += (bytes + 511) / 512 * 512 + 512; /* no two touch */
    fake.used += bytes;
    fake.live++;
    return 0;
}

FAKE(cuMemFree_v2, (device_ptr ptr))
{
    struct region *region = region_of(ptr, 0);
    if (!region || region->at != ptr) {
        return BAD_VALUE;
    }
    fake.used -= region->bytes;
    region->at = 0;
    fake.live--;
    return 0;
}

FAKE(cuMemAllocHost_v2, (void **ptr, size_t bytes))
{
    ENTER(1);
    struct pinned *pinned = fake.pinned;
    while (pinned < fake.pinned + PINNED && pinned->at) {
        pinned++;
    }
    if (pinned == fake.pinned + PINNED) {
        return NO_MEMORY;
    }
    *ptr = malloc(bytes);
    *pinned = (struct pinned){*ptr, bytes};
    fake.live++;
    return 0;
}

FAKE(cuMemFreeHost, (void *ptr))
{
    for (int i = 0; i < PINNED; i++) {
        if (fake.pinned[i].at == ptr) {
            fake.pinned[i].at = NULL;
            return give_back(ptr);
        }
    }
    return BAD_VALUE;
}

static int is_pinned(const void *at, size_t bytes)
{
    for (int i = 0; i < PINNED; i++) {
        if (fake.pinned[i].at && fake.pinned[i].at == at && bytes <= fake.pinned[i].bytes) {
            return 1;
        }
    }
    return 0;
}

FAKE(cuMemcpyHtoDAsync_v2, (device_ptr to, const void *from, size_t bytes, void *stream))
{
    ENTER(1);
    struct region *region = region_of(to, bytes);
    size_t at = region ? to - region->at : 0;
    fake.ms += (double)bytes / HOST_BYTES * 1e3;
    if (!region || !stream || bytes == 0 || (at != 0 && at != region->sent)) {
        return BAD_VALUE;
    }
    if (region->bytes <= sizeof(region->words)) {
        region->from = from;
    } else if (!is_pinned(from, bytes)) {
        return BAD_VALUE; /* a copy from ordinary memory is no copy in the background */
    }
    region->sent = at + bytes;
    return 0;
}

FAKE(cuMemcpyDtoHAsync_v2, (void *to, device_ptr from, size_t bytes, void *stream))
{
    ENTER(1);
    fake.ms += (double)bytes / HOST_BYTES * 1e3;
    return stream && region_of(from, bytes) && is_pinned(to, bytes) ? 0 : BAD_VALUE;
}

FAKE(cuMemcpyDtoDAsync_v2, (device_ptr to, device_ptr from, size_t bytes, void *stream))
{
    ENTER(1);
    const struct region *a = region_of(from, bytes), *b = region_of(to, bytes);
    fake.ms += 2 * (double)bytes / MEMORY_BYTES * 1e3;
    return stream && a && b && a != b ? 0 : BAD_VALUE;
}

FAKE(cuStreamCreate, (void **stream, unsigned flags))
{
    ENTER(1);
    *stream = handle();
    return flags == 1 ? 0 : BAD_VALUE; /* must not wait for others */
}

DESTROY(cuStreamDestroy_v2)

FAKE(cuStreamSynchronize, (void *stream))
{
    ENTER(1);
    for (int i = 0; i < REGIONS; i++) {
        struct region *region = &fake.regions[i];
        region->filled = region->at ? region->sent : 0;
        if (region->at && region->from) {
            memcpy(region->words, region->from, region->sent);
            region->from = NULL;
        }
    }
    return stream ? 0 : BAD_VALUE;
}

FAKE(cuEventCreate, (void **event, unsigned flags))
{
    ENTER(1);
    *event = handle();
    return flags ? BAD_VALUE : 0; /* with times */
}

DESTROY(cuEventDestroy_v2)

FAKE(cuEventRecord, (void *it, void *stream))
{
    ENTER(1);
    *(struct event *)it = (struct event){fake.ms, 1, 0};
    return stream ? 0 : BAD_VALUE;
}

FAKE(cuEventSynchronize, (void *it)) /* all before it has happened too */
{
    ENTER(1);
    struct event *event = it;
    event->waited = event->recorded;
    return 0;
}

FAKE(cuEventElapsedTime, (float *ms, void *start, void *end))
{
    ENTER(1);
    const struct event *from = start, *to = end;
    if (!from->recorded || !to->waited) {
        return NOT_READY;
    }
    *ms = (float)(to->ms - from->ms);
    *ms += fake.slow_at < fake.slow_count ? (float)fake.slow_ms[fake.slow_at++] : 0;
    return 0;
}

CREATE(cublasLtCreate)
DESTROY(cublasLtDestroy)
CREATE(cublasCreate_v2)
DESTROY(cublasDestroy_v2)
CREATE(cublasLtMatmulPreferenceCreate)
DESTROY(cublasLtMatmulPreferenceDestroy)
DESTROY(cublasLtMatmulDescDestroy)
DESTROY(cublasLtMatrixLayoutDestroy)

FAKE(cublasSetStream_v2, (void *blas, void *stream))
{
    ENTER(1);
    memcpy(blas, &stream, sizeof(stream));
    return !stream;
}

FAKE(cublasLtMatmulDescCreate, (void **desc, int compute, int scale))
{
    ENTER(1);
    *desc = handle();
    return compute != 68 || scale != 0;
}

FAKE(cublasLtMatmulDescSetAttribute, (void *it, int attribute, const void *value, size_t size))
{
    ENTER(1);
    struct desc *desc = it;
    if (attribute == 3 || attribute == 4) {
        memcpy(attribute == 3 ? &desc->trans_a : &desc->trans_b, value, sizeof(int));
        return size != sizeof(int);
    }
    desc->fast = attribute == 25 && size == 1 && *(const int8_t *)value == 1;
    return !desc->fast;
}

FAKE(cublasLtMatrixLayoutCreate,
     (void **it, int type, uint64_t rows, uint64_t columns, int64_t leading))
{
    ENTER(1);
    struct layout layout = {rows, columns, type, 1, 0};
    *it = memcpy(handle(), &layout, sizeof(layout));
    return leading != (int64_t)rows;
}

FAKE(cublasLtMatrixLayoutSetAttribute, (void *it, int attribute, const void *value, size_t size))
{
    ENTER(1);
    struct layout *layout = it;
    if (attribute == 5) {
        memcpy(&layout->count, value, sizeof(layout->count));
        return size != 4;
    }
    memcpy(&layout->stride, value, sizeof(layout->stride));
    return attribute != 6 || size != 8;
}

FAKE(cublasLtMatmulPreferenceSetAttribute,
     (void *prefer, int attribute, const void *value, size_t size))
{
    ENTER(1);
    if (attribute != 1 || size != sizeof(size_t)) {
        return BAD_VALUE;
    }
    memcpy(prefer, value, size);
    return 0;
}

static int whole(const struct layout *layout)
{
    return layout->count == 1 || layout->stride == (int64_t)(layout->rows * layout->columns);
}

static int fits(const struct desc *desc, const struct layout *a, const struct layout *b,
                const struct layout *c)
{
    uint64_t m = desc->trans_a ? a->columns : a->rows, k = desc->trans_a ? a->rows : a->columns;
    uint64_t n = desc->trans_b ? b->rows : b->columns, k2 = desc->trans_b ? b->columns : b->rows;
    int low = a->type == TYPE_E4M3;
    return m == c->rows && n == c->columns && k == k2 && a->type == b->type &&
           (low || a->type == TYPE_BF16) && c->type == TYPE_BF16 && a->count == b->count &&
           a->count == c->count && whole(a) && whole(b) && whole(c) && low == desc->fast &&
           (!low || (desc->trans_a && !desc->trans_b)); /* FP8 takes this form only */
}

FAKE(cublasLtMatmulAlgoGetHeuristic, (void *lt, void *desc, void *a, void *b, void *c, void *d,
                                      void *prefer, int wanted, uint64_t *choices, int *found))
{
    ENTER(1);
    size_t workspace;
    memcpy(&workspace, prefer, sizeof(workspace));
    memset(choices, 0, 96 * (size_t)wanted);
    choices[0] = ALGORITHM;
    *found = lt && workspace >= 32UL << 20 && c == d && fits(desc, a, b, c);
    return 0;
}

/* Whether an allocation is the operand of a layout, to the byte; those that are read are filled. */
static int holds(device_ptr at, const struct layout *layout, int read)
{
    size_t bytes = layout->rows * layout->columns * (size_t)layout->count *
                   (layout->type == TYPE_E4M3 ? 1 : 2);
    const struct region *region = region_of(at, bytes);
    return region && region->at == at && region->bytes == bytes &&
           (!read || region->filled == bytes);
}

FAKE(cublasLtMatmul,
     (void *lt, void *desc, const float *alpha, device_ptr a, void *a_layout, device_ptr b,
      void *b_layout, const float *beta, device_ptr c, void *c_layout, device_ptr d, void *d_layout,
      const uint64_t *algorithm, device_ptr workspace, size_t workspace_bytes, void *stream))
{
    ENTER(1);
    const struct desc *how = desc;
    const struct layout *left = a_layout, *out = c_layout;
    double k = (double)(how->trans_a ? left->rows : left->columns);
    double flops = 2.0 * (double)out->rows * (double)out->columns * k * left->count;
    double rate = PRODUCT_FLOPS * (left->type == TYPE_E4M3 ? 2 : 1) * k / (k + DEPTH);
    fake.ms += flops / rate * 1e3;
    return !(lt && *alpha == 1 && *beta == 0 && c == d && c_layout == d_layout && stream &&
             *algorithm == ALGORITHM && workspace_bytes && region_of(workspace, workspace_bytes) &&
             holds(a, left, 1) && holds(b, b_layout, 1) && holds(c, out, 0) &&
             fits(desc, a_layout, b_layout, c_layout));
}

/* Whether the addresses of a table are where equal matrices lie, one behind the other. */
static int points(device_ptr table, int groups, size_t bytes, int read)
{
    const struct region *rows = region_of(table, (size_t)groups * sizeof(device_ptr));
    if (!rows || rows->filled < (size_t)(table - rows->at) + (size_t)groups * sizeof(device_ptr)) {
        return 0;
    }
    const uint64_t *addresses = rows->words + (table - rows->at) / sizeof(device_ptr);
    const struct region *first = region_of(addresses[0], bytes * (size_t)groups);
    if (!first || first->at != addresses[0] || first->bytes != bytes * (size_t)groups ||
        (read && first->filled != first->bytes)) {
        return 0;
    }
    for (int n = 1; n < groups; n++) {
        if (addresses[n] != addresses[0] + (device_ptr)n * bytes) {
            return 0;
        }
    }
    return 1;
}

FAKE(cublasGemmGroupedBatchedEx,
     (void *blas, const int *trans_a, const int *trans_b, const int *m, const int *n, const int *k,
      const float *alpha, device_ptr a, int a_type, const int *lda, device_ptr b, int b_type,
      const int *ldb, const float *beta, device_ptr c, int c_type, const int *ldc, int groups,
      const int *sizes, int compute))
{
    ENTER(1);
    void *stream;
    memcpy(&stream, blas, sizeof(stream));
    for (int g = 0; g < groups; g++) {
        double flops = 2.0 * m[g] * n[g] * (double)k[g] * sizes[g];
        fake.ms += flops / (0.8 * PRODUCT_FLOPS * k[g] / (k[g] + DEPTH)) * 1e3;
        if (lda[g] != (trans_a[g] ? k[g] : m[g]) || ldb[g] != (trans_b[g] ? n[g] : k[g]) ||
            ldc[g] != m[g] || alpha[g] != 1 || beta[g] != 0 || sizes[g] != 1 || m[g] != m[0] ||
            n[g] != n[0] || k[g] != k[0]) {
            return 7;
        }
    }
    size_t rows = (size_t)m[0], columns = (size_t)n[0], depth = (size_t)k[0];
    if (!points(a, groups, 2 * rows * depth, 1) || !points(b, groups, 2 * columns * depth, 1) ||
        !points(c, groups, 2 * rows * columns, 0)) {
        return 7;
    }
    return !stream || a_type != TYPE_BF16 || b_type != TYPE_BF16 || c_type != TYPE_BF16 ||
           compute != 68;
}
