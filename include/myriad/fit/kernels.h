/*
 * kernels: how fast a GPU's own library is, shape by shape, and what that says of the constants.
 *
 * myr_gpu_open() finds the driver and cuBLAS at run time, so one program works with and without a
 * GPU. The sweep runs products, grouped products, attention-shaped batches and copies; each row
 * says what it did and how long it took. Rows are written as CSV and read back from it.
 */
#pragma once

#include "myriad/fit/profile.h"

#define MYR_KERNEL_KINDS(X)             \
    X(GEMM, "gemm")                     \
    X(GROUPED, "grouped")               \
    X(SCORES, "scores")                 \
    X(VALUES, "values")                 \
    X(COPY_DEVICE, "copy-device")       \
    X(COPY_TO_DEVICE, "copy-to-device") \
    X(COPY_TO_HOST, "copy-to-host")

enum myr_kernel_kind {
#define MYR_KERNEL_ENUM(name, text) MYR_KERNEL_##name,
    MYR_KERNEL_KINDS(MYR_KERNEL_ENUM)
#undef MYR_KERNEL_ENUM
        MYR_KERNEL_KIND_COUNT
};

/* Which operand of a product lies transposed, in the words of BLAS. */
enum myr_kernel_op { MYR_KERNEL_TN, MYR_KERNEL_NN, MYR_KERNEL_NT };

struct myr_kernel {
    enum myr_kernel_kind kind;
    enum myr_precision precision; /* bf16 or fp8 */
    enum myr_kernel_op op;
    uint32_t m, n, k; /* rows (tokens), columns, inner dimension; 0 for copies */
    uint32_t count;   /* products in one call: experts, heads */
    uint64_t bytes;   /* of a copy, one way */
    double seconds;   /* of one call; 0: not measured */
};

struct myr_kernels {
    struct myr_kernel *items;
    uint32_t count;
    const char *gpu;                 /* its own name */
    const struct myr_device *device; /* of the catalogue */
};

const char *myr_kernel_kind_name(enum myr_kernel_kind kind);
const char *myr_kernel_op_name(enum myr_kernel_op op);
double myr_kernel_flops(const struct myr_kernel *kernel);
/* Moved through the device's memory (copies inside it: read and write), or over the host link. */
double myr_kernel_bytes(const struct myr_kernel *kernel);
/* Share of the device's peak in arithmetic or memory bandwidth; 0 where there is none to take. */
double myr_kernel_share(const struct myr_kernel *kernel, const struct myr_device *device);

/* The shapes to run; 'quick' is a small part of them. Rows are not measured yet. */
void myr_kernels_sweep(struct myr_kernels *kernels, struct myr_arena *arena, bool quick);

void myr_kernels_write(const struct myr_kernels *kernels, struct myr_buf *buf);
MYR_MUST_USE int myr_kernels_read(struct myr_kernels *kernels, struct myr_arena *arena,
                                  const struct myr_profiles *profiles, const char *path,
                                  struct myr_err *err);
/* As above, from text; 'file' is the name for messages. */
MYR_MUST_USE int myr_kernels_parse(struct myr_kernels *kernels, struct myr_arena *arena,
                                   const struct myr_profiles *profiles, const char *file,
                                   struct myr_str text, struct myr_err *err);

/* The time the cost model gives a row with these constants; 0 where it has no say (host copies). */
double myr_kernel_predict(const struct myr_kernel *kernel, const struct myr_device *device,
                          const double *constants);

/* The device by what the GPU calls itself ("NVIDIA H200"), or NULL. */
const struct myr_device *myr_kernels_device(const struct myr_profiles *profiles, const char *gpu);

struct myr_gpu;

/*
 * 'folder' is searched for the libraries before the usual places, or NULL. MYR_ENOENT when the
 * machine has no driver, no GPU or no cuBLAS; the message says which, the hint how to get it.
 */
MYR_MUST_USE int myr_gpu_open(struct myr_gpu **ret, const char *folder, uint32_t index,
                              struct myr_err *err);
void myr_gpu_close(struct myr_gpu *gpu);
const char *myr_gpu_name(const struct myr_gpu *gpu);
/*
 * Runs a row for about 'least_ms' after a warm-up and sets its time: the median of three rounds. A
 * row that the library refuses or that does not fit in memory keeps 0 and is no error.
 */
MYR_MUST_USE int myr_gpu_measure(struct myr_gpu *gpu, struct myr_kernel *kernel, uint32_t least_ms,
                                 struct myr_err *err);

/* A whole sweep on one GPU of this machine. */
struct myr_sweep_question {
    const char *library; /* a folder with the libraries, or NULL */
    const char *device;  /* of the catalogue, for peaks; NULL: by the GPU's own name */
    uint32_t gpu, least_ms;
    bool quick;
    void (*progress)(void *context, uint64_t done, uint64_t all); /* or NULL */
    void *context;
};

/* The rows and the GPU's name live in the arena. */
MYR_MUST_USE int myr_gpu_sweep(const struct myr_sweep_question *question,
                               const struct myr_profiles *profiles, struct myr_arena *arena,
                               struct myr_kernels *ret, struct myr_err *err);
