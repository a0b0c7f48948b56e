/* gpu: times single kernels through the driver and cuBLAS, which are looked for at run time. */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "myriad/fit/kernels.h"

/*
 * The few calls of the driver and of cuBLAS that the sweep needs, with their prototypes. Names
 * ending in _v2 are what the headers' plain names stand for. Handles are pointers, enumerations
 * are int; device addresses are 64-bit numbers.
 */
typedef unsigned long long device_ptr;

#define CUDA_CALLS(X)                                                                           \
    X(init, "cuInit", (unsigned flags))                                                         \
    X(device_count, "cuDeviceGetCount", (int *count))                                           \
    X(device_get, "cuDeviceGet", (int *device, int ordinal))                                    \
    X(device_name, "cuDeviceGetName", (char *name, int len, int device))                        \
    X(context_retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                 \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                            \
    X(context_set, "cuCtxSetCurrent", (void *context))                                          \
    X(memory_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total))                    \
    X(alloc, "cuMemAlloc_v2", (device_ptr * ptr, size_t bytes))                                 \
    X(release, "cuMemFree_v2", (device_ptr ptr))                                                \
    X(alloc_host, "cuMemAllocHost_v2", (void **ptr, size_t bytes))                              \
    X(release_host, "cuMemFreeHost", (void *ptr))                                               \
    X(to_device, "cuMemcpyHtoDAsync_v2",                                                        \
      (device_ptr to, const void *from, size_t bytes, void *stream))                            \
    X(to_host, "cuMemcpyDtoHAsync_v2", (void *to, device_ptr from, size_t bytes, void *stream)) \
    X(within, "cuMemcpyDtoDAsync_v2",                                                           \
      (device_ptr to, device_ptr from, size_t bytes, void *stream))                             \
    X(stream_create, "cuStreamCreate", (void **stream, unsigned flags))                         \
    X(stream_destroy, "cuStreamDestroy_v2", (void *stream))                                     \
    X(stream_wait, "cuStreamSynchronize", (void *stream))                                       \
    X(event_create, "cuEventCreate", (void **event, unsigned flags))                            \
    X(event_destroy, "cuEventDestroy_v2", (void *event))                                        \
    X(event_record, "cuEventRecord", (void *event, void *stream))                               \
    X(event_wait, "cuEventSynchronize", (void *event))                                          \
    X(event_elapsed, "cuEventElapsedTime", (float *ms, void *start, void *end))

#define LT_CALLS(X)                                                                             \
    X(lt_create, "cublasLtCreate", (void **handle))                                             \
    X(lt_destroy, "cublasLtDestroy", (void *handle))                                            \
    X(desc_create, "cublasLtMatmulDescCreate", (void **desc, int compute, int scale))           \
    X(desc_destroy, "cublasLtMatmulDescDestroy", (void *desc))                                  \
    X(desc_set, "cublasLtMatmulDescSetAttribute",                                               \
      (void *desc, int attribute, const void *value, size_t size))                              \
    X(layout_create, "cublasLtMatrixLayoutCreate",                                              \
      (void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading))              \
    X(layout_destroy, "cublasLtMatrixLayoutDestroy", (void *layout))                            \
    X(layout_set, "cublasLtMatrixLayoutSetAttribute",                                           \
      (void *layout, int attribute, const void *value, size_t size))                            \
    X(prefer_create, "cublasLtMatmulPreferenceCreate", (void **prefer))                         \
    X(prefer_destroy, "cublasLtMatmulPreferenceDestroy", (void *prefer))                        \
    X(prefer_set, "cublasLtMatmulPreferenceSetAttribute",                                       \
      (void *prefer, int attribute, const void *value, size_t size))                            \
    X(heuristic, "cublasLtMatmulAlgoGetHeuristic",                                              \
      (void *handle, void *desc, void *a, void *b, void *c, void *d, void *prefer, int wanted,  \
       struct lt_choice *choices, int *found))                                                  \
    X(matmul, "cublasLtMatmul",                                                                 \
      (void *handle, void *desc, const void *alpha, device_ptr a, void *a_layout, device_ptr b, \
       void *b_layout, const void *beta, device_ptr c, void *c_layout, device_ptr d,            \
       void *d_layout, const void *algorithm, device_ptr workspace, size_t workspace_bytes,     \
       void *stream))

#define BLAS_CALLS(X)                                   \
    X(blas_create, "cublasCreate_v2", (void **handle))  \
    X(blas_destroy, "cublasDestroy_v2", (void *handle)) \
    X(blas_stream, "cublasSetStream_v2", (void *handle, void *stream))

/* Layout of cublasLtMatmulHeuristicResult_t, the same since cuBLAS 11. */
struct lt_choice {
    uint64_t algorithm[8]; /* the library's own, handed back to it */
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};

/* Values of the headers, which are not needed to build this. */
enum {
    TYPE_F32 = 0,
    TYPE_BF16 = 14,
    TYPE_E4M3 = 28,
    COMPUTE_F32 = 68,
    OP_N = 0,
    OP_T = 1,
    DESC_TRANS_A = 3,
    DESC_TRANS_B = 4,
    DESC_FAST_ACCUMULATION = 25,
    LAYOUT_BATCH_COUNT = 5,
    LAYOUT_BATCH_STRIDE = 6,
    PREFER_WORKSPACE = 1,
    STREAM_NON_BLOCKING = 1,
    GROUPS_MAX = 1024,          /* experts of one grouped call */
    PATTERN_BYTES = 16 << 20,   /* of random numbers, copied over operands */
    WORKSPACE_BYTES = 64 << 20, /* that a kernel may use beside its operands */
};

/* Since cuBLAS 12.5; earlier ones run a group as single products, as trainers did then. */
typedef int grouped_fn(void *handle, const int *trans_a, const int *trans_b, const int *m,
                       const int *n, const int *k, const void *alpha, device_ptr a, int a_type,
                       const int *lda, device_ptr b, int b_type, const int *ldb, const void *beta,
                       device_ptr c, int c_type, const int *ldc, int groups, const int *sizes,
                       int compute);

struct myr_gpu {
    void *cuda_library, *lt_library, *blas_library;
#define CALL_FIELD(field, name, arguments) int(*field) arguments;
    CUDA_CALLS(CALL_FIELD)
    LT_CALLS(CALL_FIELD)
    BLAS_CALLS(CALL_FIELD)
#undef CALL_FIELD
    grouped_fn *grouped; /* or NULL */
    int device;
    bool retained; /* the context is to be released */
    char name[128];
    void *stream, *lt, *blas, *start, *end;
    device_ptr workspace; /* for all kernels in turn */
    uint8_t *pattern;     /* pinned: operands are filled from it */
};

/* A product that is ready to run: descriptors, operands, the library's choice of a kernel. */
struct prepared {
    const struct myr_kernel *kernel;
    void *desc, *a, *b, *c, *prefer;
    struct lt_choice choice;
    device_ptr a_ptr, b_ptr, c_ptr, pointers;
    void *host;                /* the other end of a copy, pinned */
    int groups[6][GROUPS_MAX]; /* m n k lda ldb ldc */
    int ops_a[GROUPS_MAX], ops_b[GROUPS_MAX], sizes[GROUPS_MAX];
    float ones[GROUPS_MAX], zeros[GROUPS_MAX];
    bool as_group; /* by the grouped call, not by cublasLt */
};

/* Newest first; wheels of Python packages put the library into a folder of their own. */
static void *open_library(const char *folder, const char *stem, const char *const *versions)
{
    static const char *const places[] = {
        "",
        "/usr/local/cuda/lib64/",
        "/usr/local/cuda-*/lib64/",
        "/usr/local/cuda-*/targets/*/lib/",
        "/opt/cuda/lib64/",
        "/usr/local/lib/python3*/*-packages/nvidia/*/lib/",
        "/usr/lib/python3*/*-packages/nvidia/*/lib/",
        "/opt/*/lib/python3*/site-packages/nvidia/*/lib/",
        "/opt/*/*/lib/python3*/site-packages/nvidia/*/lib/",
    };
    char pattern[512];
    for (size_t p = 0; p <= MYR_ARRAY_COUNT(places); p++) {
        for (uint32_t v = 0; versions[v]; v++) {
            const char *place = p ? places[p - 1] : folder;
            if (!place) {
                continue;
            }
            snprintf(pattern, sizeof(pattern), "%s%s%s.so%s", place, p || !place[0] ? "" : "/",
                     stem, versions[v]);
            void *library = dlopen(pattern, RTLD_NOW | RTLD_GLOBAL);
            glob_t found = {};
            if (!library && strchr(pattern, '*') && glob(pattern, 0, NULL, &found) == 0) {
                library = dlopen(found.gl_pathv[found.gl_pathc - 1], RTLD_NOW | RTLD_GLOBAL);
            }
            globfree(&found);
            if (library) {
                return library;
            }
        }
    }
    return NULL;
}

/* The environment's own places: a virtual environment, CUDA_HOME. */
static void *open_anywhere(const char *folder, const char *stem, const char *const *versions)
{
    static const char *const variables[][2] = {
        {"CUDA_HOME", "/lib64"},
        {"CUDA_PATH", "/lib64"},
        {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*/lib"},
        {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/*/lib"},
        {"CONDA_PREFIX", "/lib"},
    };
    void *library = open_library(folder, stem, versions);
    for (size_t i = 0; !library && i < MYR_ARRAY_COUNT(variables); i++) {
        const char *root = getenv(variables[i][0]);
        char pattern[512];
        glob_t found = {};
        if (root && snprintf(pattern, sizeof(pattern), "%s%s", root, variables[i][1]) < 500 &&
            glob(pattern, 0, NULL, &found) == 0) {
            for (size_t g = 0; !library && g < found.gl_pathc; g++) {
                library = open_library(found.gl_pathv[g], stem, versions);
            }
        }
        globfree(&found);
    }
    return library;
}

/* The first name that is missing, or NULL. */
static const char *bind(struct myr_gpu *gpu)
{
#define CALL_BIND(library, field, name)                \
    *(void **)&gpu->field = dlsym(gpu->library, name); \
    if (!gpu->field) {                                 \
        return name;                                   \
    }
#define CALL_CUDA(field, name, arguments) CALL_BIND(cuda_library, field, name)
#define CALL_LT(field, name, arguments)   CALL_BIND(lt_library, field, name)
#define CALL_BLAS(field, name, arguments) CALL_BIND(blas_library, field, name)
    CUDA_CALLS(CALL_CUDA)
    LT_CALLS(CALL_LT)
    BLAS_CALLS(CALL_BLAS)
    *(void **)&gpu->grouped = dlsym(gpu->blas_library, "cublasGemmGroupedBatchedEx");
    return NULL;
}

static int open_libraries(struct myr_gpu *gpu, const char *folder, struct myr_err *err)
{
    static const char *const driver[] = {".1", "", NULL};
    static const char *const blas[] = {".13", ".12", ".11", "", NULL};
    const char *missing = NULL;
    gpu->cuda_library = open_anywhere(folder, "libcuda", driver);
    if (!gpu->cuda_library) {
        missing = "no NVIDIA driver (libcuda.so.1) on this machine";
    } else if (!(gpu->lt_library = open_anywhere(folder, "libcublasLt", blas)) ||
               !(gpu->blas_library = open_anywhere(folder, "libcublas", blas))) {
        missing = "no cuBLAS (libcublas.so, libcublasLt.so) on this machine";
    }
    if (missing) {
        int rc = myr_err_set(err, MYR_EIO, "%s: nothing to measure", missing);
        myr_err_hint(err, "run it on a machine with a GPU and the CUDA libraries (CUDA toolkit or "
                          "'pip install nvidia-cublas-cu12'), or name their folder with --library");
        return rc;
    }
    const char *name = bind(gpu);
    return name ? myr_err_set(err, MYR_EIO, "the CUDA libraries here lack %s", name) : MYR_OK;
}

static int failed(struct myr_err *err, const char *what, int status)
{
    return myr_err_set(err, MYR_EIO, "%s failed on the GPU (status %d)", what, status);
}

/*
 * Operands must look like training: zeros draw little power, and the clock would not fall as it
 * does there. The bytes are small numbers of either sign, both as bf16 and as E4M3.
 */
static void fill_pattern(uint8_t *bytes)
{
    struct myr_rng rng;
    myr_rng_init(&rng, 20260101, 0);
    for (uint32_t i = 0; i + 4 <= PATTERN_BYTES; i += 4) {
        uint32_t word = myr_rng_u32(&rng) & 0xbfbfbfbfU; /* magnitudes below 2, no NaN */
        word |= 0x3c003c00U;                             /* and not tiny */
        memcpy(bytes + i, &word, 4);
    }
}

static int start(struct myr_gpu *gpu, uint32_t index, struct myr_err *err)
{
    int count = 0, status = gpu->init(0);
    void *context = NULL;
    status = status ? status : gpu->device_count(&count);
    if (status || (uint32_t)count <= index) {
        int rc = myr_err_set(err, MYR_ENOENT, "GPU %u is not here: the driver counts %d", index,
                             status ? 0 : count);
        myr_err_hint(err, "nvidia-smi lists the GPUs of this machine");
        return rc;
    }
    status = gpu->device_get(&gpu->device, (int)index);
    status = status ? status : gpu->device_name(gpu->name, sizeof(gpu->name) - 1, gpu->device);
    status = status ? status : gpu->context_retain(&context, gpu->device);
    gpu->retained = status == 0;
    status = status ? status : gpu->context_set(context);
    status = status ? status : gpu->stream_create(&gpu->stream, STREAM_NON_BLOCKING);
    status = status ? status : gpu->event_create(&gpu->start, 0);
    status = status ? status : gpu->event_create(&gpu->end, 0);
    status = status ? status : gpu->alloc(&gpu->workspace, WORKSPACE_BYTES);
    status = status ? status : gpu->alloc_host((void **)&gpu->pattern, PATTERN_BYTES);
    if (status) {
        return failed(err, "setting up", status);
    }
    status = gpu->lt_create(&gpu->lt);
    status = status ? status : gpu->blas_create(&gpu->blas);
    status = status ? status : gpu->blas_stream(gpu->blas, gpu->stream);
    if (status) {
        return failed(err, "starting cuBLAS", status);
    }
    fill_pattern(gpu->pattern);
    return MYR_OK;
}

int myr_gpu_open(struct myr_gpu **ret, const char *folder, uint32_t index, struct myr_err *err)
{
    struct myr_gpu *gpu = myr_xcalloc(1, sizeof(*gpu));
    int rc = open_libraries(gpu, folder, err);
    if (rc == MYR_OK) {
        rc = start(gpu, index, err);
    }
    if (rc < 0) {
        myr_gpu_close(gpu); /* takes one that was opened half */
        gpu = NULL;
    }
    *ret = gpu;
    return rc;
}

/* In the opposite order; what was not opened is NULL or 0. */
void myr_gpu_close(struct myr_gpu *gpu)
{
    if (!gpu) {
        return;
    }
    if (gpu->lt) {
        gpu->lt_destroy(gpu->lt);
    }
    if (gpu->blas) {
        gpu->blas_destroy(gpu->blas);
    }
    if (gpu->pattern) {
        gpu->release_host(gpu->pattern);
    }
    if (gpu->workspace) {
        gpu->release(gpu->workspace);
    }
    void *events[] = {gpu->start, gpu->end};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(events); i++) {
        if (events[i]) {
            gpu->event_destroy(events[i]);
        }
    }
    if (gpu->stream) {
        gpu->stream_destroy(gpu->stream);
    }
    if (gpu->retained) {
        gpu->context_release(gpu->device);
    }
    /* The libraries stay: unloading a driver that has threads is asking for trouble. */
    free(gpu);
}

const char *myr_gpu_name(const struct myr_gpu *gpu)
{
    return gpu->name;
}

/* The pattern over and over. */
static int fill(struct myr_gpu *gpu, device_ptr to, size_t bytes)
{
    int status = 0;
    for (size_t at = 0; !status && at < bytes; at += PATTERN_BYTES) {
        size_t part = bytes - at < PATTERN_BYTES ? bytes - at : PATTERN_BYTES;
        status = gpu->to_device(to + at, gpu->pattern, part, gpu->stream);
    }
    return status ? status : gpu->stream_wait(gpu->stream);
}

/* Sizes of the stored matrices: rows, columns, leading dimension of A, B and C, column by column.
 */
struct shape {
    uint64_t rows, columns;
};

static struct shape shape_of(const struct myr_kernel *kernel, int operand)
{
    /* BLAS sees C^T = W X^T: its rows are our columns. */
    uint64_t m = kernel->n, n = kernel->m, k = kernel->k;
    bool a_turned = kernel->op == MYR_KERNEL_TN, b_turned = kernel->op == MYR_KERNEL_NT;
    struct shape a = a_turned ? (struct shape){k, m} : (struct shape){m, k};
    struct shape b = b_turned ? (struct shape){n, k} : (struct shape){k, n};
    return operand == 0 ? a : operand == 1 ? b : (struct shape){m, n};
}

static size_t operand_bytes(const struct myr_kernel *kernel, int operand)
{
    struct shape shape = shape_of(kernel, operand);
    size_t width = operand < 2 && kernel->precision == MYR_PRECISION_FP8 ? 1 : 2;
    return shape.rows * shape.columns * width * kernel->count;
}

/* Operands of a batch lie one behind the other. */
static int make_layout(struct myr_gpu *gpu, const struct myr_kernel *kernel, int operand,
                       void **ret)
{
    struct shape shape = shape_of(kernel, operand);
    bool low = operand < 2 && kernel->precision == MYR_PRECISION_FP8;
    int32_t count = (int32_t)kernel->count;
    int64_t stride = (int64_t)(shape.rows * shape.columns);
    int status = gpu->layout_create(ret, low ? TYPE_E4M3 : TYPE_BF16, shape.rows, shape.columns,
                                    (int64_t)shape.rows);
    if (!status && count > 1) {
        status = gpu->layout_set(*ret, LAYOUT_BATCH_COUNT, &count, sizeof(count));
        status =
            status ? status : gpu->layout_set(*ret, LAYOUT_BATCH_STRIDE, &stride, sizeof(stride));
    }
    return status;
}

/* The library's first choice is taken, as trainers do. */
static int prepare_matmul(struct myr_gpu *gpu, struct prepared *p)
{
    const struct myr_kernel *kernel = p->kernel;
    int32_t trans_a = kernel->op == MYR_KERNEL_TN ? OP_T : OP_N;
    int32_t trans_b = kernel->op == MYR_KERNEL_NT ? OP_T : OP_N;
    int8_t fast = kernel->precision == MYR_PRECISION_FP8;
    size_t workspace = WORKSPACE_BYTES;
    int found = 0;
    int status = gpu->desc_create(&p->desc, COMPUTE_F32, TYPE_F32);
    status = status ? status : gpu->desc_set(p->desc, DESC_TRANS_A, &trans_a, sizeof(trans_a));
    status = status ? status : gpu->desc_set(p->desc, DESC_TRANS_B, &trans_b, sizeof(trans_b));
    if (!status && fast) {
        status = gpu->desc_set(p->desc, DESC_FAST_ACCUMULATION, &fast, sizeof(fast));
    }
    status = status ? status : make_layout(gpu, kernel, 0, &p->a);
    status = status ? status : make_layout(gpu, kernel, 1, &p->b);
    status = status ? status : make_layout(gpu, kernel, 2, &p->c);
    status = status ? status : gpu->prefer_create(&p->prefer);
    status = status ? status
                    : gpu->prefer_set(p->prefer, PREFER_WORKSPACE, &workspace, sizeof(workspace));
    status = status ? status
                    : gpu->heuristic(gpu->lt, p->desc, p->a, p->b, p->c, p->c, p->prefer, 1,
                                     &p->choice, &found);
    return status ? status : found < 1;
}

/* One group for each expert, as trainers call it: their numbers of tokens differ in general. */
static int prepare_group(struct myr_gpu *gpu, struct prepared *p)
{
    const struct myr_kernel *kernel = p->kernel;
    device_ptr addresses[3 * GROUPS_MAX];
    const device_ptr first[3] = {p->a_ptr, p->b_ptr, p->c_ptr};
    uint32_t groups = kernel->count;
    if (!gpu->grouped || groups > GROUPS_MAX || kernel->precision != MYR_PRECISION_BF16) {
        return 1;
    }
    for (uint32_t g = 0; g < groups; g++) {
        p->groups[0][g] = (int)kernel->n;
        p->groups[1][g] = (int)kernel->m;
        p->groups[2][g] = (int)kernel->k;
        p->ops_a[g] = kernel->op == MYR_KERNEL_TN ? OP_T : OP_N;
        p->ops_b[g] = kernel->op == MYR_KERNEL_NT ? OP_T : OP_N;
        p->sizes[g] = 1;
        p->ones[g] = 1;
        for (int o = 0; o < 3; o++) {
            p->groups[3 + o][g] = (int)shape_of(kernel, o).rows;
            addresses[(uint32_t)o * groups + g] =
                first[o] + (device_ptr)g * (operand_bytes(kernel, o) / groups);
        }
    }
    int status = gpu->alloc(&p->pointers, sizeof(addresses));
    status = status ? status
                    : gpu->to_device(p->pointers, addresses, 3 * groups * sizeof(*addresses),
                                     gpu->stream);
    p->as_group = !status;
    return status ? status : gpu->stream_wait(gpu->stream);
}

/* 1 where the memory does not suffice: the shape is left out, which is no error. */
static int allocate(struct myr_gpu *gpu, struct prepared *p)
{
    const struct myr_kernel *kernel = p->kernel;
    size_t left = 0, total = 0;
    if (kernel->kind >= MYR_KERNEL_COPY_DEVICE) {
        int status = gpu->alloc(&p->a_ptr, kernel->bytes);
        status = status || kernel->kind != MYR_KERNEL_COPY_DEVICE
                     ? status
                     : gpu->alloc(&p->b_ptr, kernel->bytes);
        return status || kernel->kind == MYR_KERNEL_COPY_DEVICE
                   ? status
                   : gpu->alloc_host(&p->host, kernel->bytes);
    }
    size_t a = operand_bytes(kernel, 0), b = operand_bytes(kernel, 1);
    size_t c = operand_bytes(kernel, 2);
    int status = gpu->memory_info(&left, &total);
    if (status || a + b + c > left - left / 16) {
        return status ? status : 1;
    }
    status = gpu->alloc(&p->a_ptr, a);
    status = status ? status : gpu->alloc(&p->b_ptr, b);
    status = status ? status : gpu->alloc(&p->c_ptr, c);
    status = status ? status : fill(gpu, p->a_ptr, a);
    return status ? status : fill(gpu, p->b_ptr, b);
}

/* Puts one call into the stream. */
static int call(struct myr_gpu *gpu, const struct prepared *p)
{
    const struct myr_kernel *kernel = p->kernel;
    static const float one = 1, zero = 0;
    switch (kernel->kind) {
    case MYR_KERNEL_COPY_DEVICE:
        return gpu->within(p->b_ptr, p->a_ptr, kernel->bytes, gpu->stream);
    case MYR_KERNEL_COPY_TO_DEVICE:
        return gpu->to_device(p->a_ptr, p->host, kernel->bytes, gpu->stream);
    case MYR_KERNEL_COPY_TO_HOST:
        return gpu->to_host(p->host, p->a_ptr, kernel->bytes, gpu->stream);
    default:
        break;
    }
    if (p->as_group) {
        size_t step = kernel->count * sizeof(device_ptr);
        return gpu->grouped(gpu->blas, p->ops_a, p->ops_b, p->groups[0], p->groups[1], p->groups[2],
                            p->ones, p->pointers, TYPE_BF16, p->groups[3], p->pointers + step,
                            TYPE_BF16, p->groups[4], p->zeros, p->pointers + 2 * step, TYPE_BF16,
                            p->groups[5], (int)kernel->count, p->sizes, COMPUTE_F32);
    }
    return gpu->matmul(gpu->lt, p->desc, &one, p->a_ptr, p->a, p->b_ptr, p->b, &zero, p->c_ptr,
                       p->c, p->c_ptr, p->c, p->choice.algorithm, gpu->workspace, WORKSPACE_BYTES,
                       gpu->stream);
}

static void release(struct myr_gpu *gpu, struct prepared *p)
{
    device_ptr pointers[] = {p->a_ptr, p->b_ptr, p->c_ptr, p->pointers};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pointers); i++) {
        if (pointers[i]) {
            gpu->release(pointers[i]);
        }
    }
    void *layouts[] = {p->a, p->b, p->c};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(layouts); i++) {
        if (layouts[i]) {
            gpu->layout_destroy(layouts[i]);
        }
    }
    if (p->desc) {
        gpu->desc_destroy(p->desc);
    }
    if (p->prefer) {
        gpu->prefer_destroy(p->prefer);
    }
    if (p->host) {
        gpu->release_host(p->host);
    }
}

/* Between two events in the stream, so that the host's own time does not count. */
static int time_calls(struct myr_gpu *gpu, const struct prepared *p, uint32_t calls, double *ret_ms)
{
    float ms = 0;
    int status = gpu->event_record(gpu->start, gpu->stream);
    for (uint32_t i = 0; !status && i < calls; i++) {
        status = call(gpu, p);
    }
    status = status ? status : gpu->event_record(gpu->end, gpu->stream);
    status = status ? status : gpu->event_wait(gpu->end);
    status = status ? status : gpu->event_elapsed(&ms, gpu->start, gpu->end);
    *ret_ms = (double)ms / calls;
    return status;
}

/* Of three. */
static double middle(const double *v)
{
    double low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
    return v[2] < low ? low : v[2] > high ? high : v[2];
}

int myr_gpu_measure(struct myr_gpu *gpu, struct myr_kernel *kernel, uint32_t least_ms,
                    struct myr_err *err)
{
    MYR_CLEANUP(myr_free_at) struct prepared *p = myr_xcalloc(1, sizeof(*p));
    double ms = 0, rounds[3];
    p->kernel = kernel;
    kernel->seconds = 0;
    /* A shape that the library refuses has no time and is not written; an error later on is one. */
    int refused = allocate(gpu, p), status = 0;
    if (!refused && kernel->kind == MYR_KERNEL_GROUPED) {
        refused = prepare_group(gpu, p);
    } else if (!refused && kernel->kind < MYR_KERNEL_COPY_DEVICE) {
        refused = prepare_matmul(gpu, p);
    }
    refused = refused ? refused : time_calls(gpu, p, 3, &ms); /* loads the kernel */
    if (!refused) {
        /* A third of the time in each round, at least three calls. */
        double wanted = ms > 0 ? least_ms / 3.0 / ms : 3;
        uint32_t calls = wanted < 3 ? 3 : wanted > 20000 ? 20000 : (uint32_t)wanted;
        for (int r = 0; !status && r < 3; r++) {
            status = time_calls(gpu, p, calls, &rounds[r]);
        }
        kernel->seconds = status ? 0 : middle(rounds) / 1e3;
    }
    release(gpu, p);
    return status ? failed(err, myr_kernel_kind_name(kernel->kind), status) : MYR_OK;
}
