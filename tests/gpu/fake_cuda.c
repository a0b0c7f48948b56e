/*
 * A driver and a cuBLAS that compute nothing and keep a clock: what a call would take on a GPU of
 * known speed is added to it, so that a sweep can be checked where no GPU is. Signatures are those
 * of the real libraries, as far as the sweep calls them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

typedef unsigned long long device_ptr;

struct layout {
    uint64_t rows, columns;
    int type, count;
};

struct desc {
    int trans_a, trans_b;
};

static struct {
    double ms;
    device_ptr next;
    long live; /* allocations and handles not yet given back */
} fake = {.next = 1 << 20};

#define PRODUCT_FLOPS 700e12 /* at large inner dimensions; twice that with one-byte operands */
#define DEPTH         256.0
#define MEMORY_BYTES  4e12
#define HOST_BYTES    50e9

static void *handle(void)
{
    fake.live++;
    return malloc(64);
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
    return (int)flags;
}

FAKE(cuDeviceGetCount, (int *count))
{
    *count = 1;
    return 0;
}

FAKE(cuDeviceGet, (int *device, int ordinal))
{
    *device = ordinal;
    return 0;
}

FAKE(cuDeviceGetName, (char *name, int len, int device))
{
    (void)device;
    memcpy(name, "NVIDIA H200", (size_t)len < 12 ? (size_t)len : 12);
    return 0;
}

FAKE(cuDevicePrimaryCtxRetain, (void **context, int device))
{
    (void)device;
    *context = handle();
    free(*context);
    return 0;
}

FAKE(cuDevicePrimaryCtxRelease_v2, (int device))
{
    fake.live--;
    return device;
}

FAKE(cuCtxSetCurrent, (void *context))
{
    (void)context;
    return 0;
}

FAKE(cuMemGetInfo_v2, (size_t * left, size_t *total))
{
    *left = *total = 140UL << 30;
    return 0;
}

FAKE(cuMemAlloc_v2, (device_ptr * ptr, size_t bytes))
{
    *ptr = fake.next;
    fake.next += (bytes + 511) / 512 * 512;
    fake.live++;
    return 0;
}

FAKE(cuMemFree_v2, (device_ptr ptr))
{
    (void)ptr;
    fake.live--;
    return 0;
}

FAKE(cuMemAllocHost_v2, (void **ptr, size_t bytes))
{
    fake.live++;
    *ptr = malloc(bytes);
    return 0;
}

FAKE(cuMemFreeHost, (void *ptr))
{
    return give_back(ptr);
}

FAKE(cuMemcpyHtoDAsync_v2, (device_ptr to, const void *from, size_t bytes, void *stream))
{
    (void)to, (void)from, (void)stream;
    fake.ms += (double)bytes / HOST_BYTES * 1e3;
    return 0;
}

FAKE(cuMemcpyDtoHAsync_v2, (void *to, device_ptr from, size_t bytes, void *stream))
{
    (void)to, (void)from, (void)stream;
    fake.ms += (double)bytes / HOST_BYTES * 1e3;
    return 0;
}

FAKE(cuMemcpyDtoDAsync_v2, (device_ptr to, device_ptr from, size_t bytes, void *stream))
{
    (void)to, (void)from, (void)stream;
    fake.ms += 2 * (double)bytes / MEMORY_BYTES * 1e3;
    return 0;
}

FAKE(cuStreamCreate, (void **stream, unsigned flags))
{
    (void)flags;
    *stream = handle();
    return 0;
}

DESTROY(cuStreamDestroy_v2)

FAKE(cuStreamSynchronize, (void *stream))
{
    (void)stream;
    return 0;
}

FAKE(cuEventCreate, (void **event, unsigned flags))
{
    (void)flags;
    *event = handle();
    return 0;
}

DESTROY(cuEventDestroy_v2)

FAKE(cuEventRecord, (void *event, void *stream))
{
    (void)stream;
    memcpy(event, &fake.ms, sizeof(fake.ms));
    return 0;
}

FAKE(cuEventSynchronize, (void *event))
{
    (void)event;
    return 0;
}

FAKE(cuEventElapsedTime, (float *ms, void *start, void *end))
{
    double from, to;
    memcpy(&from, start, sizeof(from));
    memcpy(&to, end, sizeof(to));
    *ms = (float)(to - from);
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

FAKE(cublasSetStream_v2, (void *it, void *stream))
{
    return !it || !stream;
}

FAKE(cublasLtMatmulDescCreate, (void **desc, int compute, int scale))
{
    *desc = memset(handle(), 0, sizeof(struct desc));
    return compute != 68 || scale != 0;
}

FAKE(cublasLtMatmulDescSetAttribute, (void *it, int attribute, const void *value, size_t size))
{
    struct desc *desc = it;
    if (attribute == 3 || attribute == 4) {
        memcpy(attribute == 3 ? &desc->trans_a : &desc->trans_b, value, sizeof(int));
        return size != sizeof(int);
    }
    return attribute != 25 || size != 1;
}

FAKE(cublasLtMatrixLayoutCreate,
     (void **it, int type, uint64_t rows, uint64_t columns, int64_t leading))
{
    struct layout layout = {rows, columns, type, 1};
    *it = memcpy(handle(), &layout, sizeof(layout));
    return leading != (int64_t)rows;
}

FAKE(cublasLtMatrixLayoutSetAttribute, (void *it, int attribute, const void *value, size_t size))
{
    struct layout *layout = it;
    int64_t stride;
    if (attribute == 5) {
        memcpy(&layout->count, value, sizeof(layout->count));
        return size != 4;
    }
    memcpy(&stride, value, sizeof(stride));
    return attribute != 6 || size != 8 || stride != (int64_t)(layout->rows * layout->columns);
}

FAKE(cublasLtMatmulPreferenceSetAttribute,
     (void *prefer, int attribute, const void *value, size_t size))
{
    return !prefer || attribute != 1 || !value || size != sizeof(size_t);
}

static int fits(const struct desc *desc, const struct layout *a, const struct layout *b,
                const struct layout *c)
{
    uint64_t m = desc->trans_a ? a->columns : a->rows, k = desc->trans_a ? a->rows : a->columns;
    uint64_t n = desc->trans_b ? b->rows : b->columns, k2 = desc->trans_b ? b->columns : b->rows;
    int low = a->type == 28;
    return m == c->rows && n == c->columns && k == k2 && a->type == b->type && c->type == 14 &&
           a->count == b->count && a->count == c->count &&
           (!low || (desc->trans_a && !desc->trans_b)); /* FP8 takes this form only */
}

FAKE(cublasLtMatmulAlgoGetHeuristic, (void *lt, void *desc, void *a, void *b, void *c, void *d,
                                      void *prefer, int wanted, void *choices, int *found))
{
    memset(choices, 0, 96 * (size_t)wanted);
    *found = lt && prefer && c == d && fits(desc, a, b, c);
    return 0;
}

FAKE(cublasLtMatmul,
     (void *lt, void *desc, const void *alpha, device_ptr a, void *a_layout, device_ptr b,
      void *b_layout, const void *beta, device_ptr c, void *c_layout, device_ptr d, void *d_layout,
      const void *algorithm, device_ptr workspace, size_t workspace_bytes, void *stream))
{
    const struct desc *how = desc;
    const struct layout *left = a_layout, *out = c_layout;
    double k = (double)(how->trans_a ? left->rows : left->columns);
    double flops = 2.0 * (double)out->rows * (double)out->columns * k * left->count;
    double rate = PRODUCT_FLOPS * (left->type == 28 ? 2 : 1) * k / (k + DEPTH);
    fake.ms += flops / rate * 1e3;
    return !lt || !alpha || !beta || !a || !b || c != d || !algorithm || !workspace ||
           !workspace_bytes || !stream || c_layout != d_layout ||
           !fits(desc, a_layout, b_layout, c_layout);
}

FAKE(cublasGemmGroupedBatchedEx,
     (void *blas, const int *trans_a, const int *trans_b, const int *m, const int *n, const int *k,
      const void *alpha, device_ptr a, int a_type, const int *lda, device_ptr b, int b_type,
      const int *ldb, const void *beta, device_ptr c, int c_type, const int *ldc, int groups,
      const int *sizes, int compute))
{
    for (int g = 0; g < groups; g++) {
        double flops = 2.0 * m[g] * n[g] * (double)k[g] * sizes[g];
        fake.ms += flops / (0.8 * PRODUCT_FLOPS * k[g] / (k[g] + DEPTH)) * 1e3;
        if (lda[g] != (trans_a[g] ? k[g] : m[g]) || ldb[g] != (trans_b[g] ? n[g] : k[g]) ||
            ldc[g] != m[g]) {
            return 7;
        }
    }
    return !blas || !alpha || !beta || !a || !b || !c || a_type != 14 || b_type != 14 ||
           c_type != 14 || compute != 68;
}

SHOWN long fake_live(void);
long fake_live(void)
{
    return fake.live;
}
