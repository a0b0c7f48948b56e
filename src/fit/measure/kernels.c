/*
 * kernels: the shapes of a sweep, its file, and what the cost model says of a shape. Shapes are
 * those of training: inner dimensions alone, squares, layers of known models, experts, copies.
 */
#include "myriad/fit/kernels.h"

#include "cost/block.h"
#include "myriad/text/csv.h"
#include "myriad/text/json.h"
#include "myriad/text/kind.h"

#define KERNELS_BYTES_MAX (16U << 20)

static const char *const kind_names[] = {
#define KIND_NAME(name, text) text,
    MYR_KERNEL_KINDS(KIND_NAME)
#undef KIND_NAME
};
/* Which operand is turned, as BLAS calls it: forward, the input's gradient, the weight's. */
static const char *const op_names[] = {"tn", "nn", "nt"};
static const char *const column_names[] = {"kind", "precision", "op",    "m",     "n",
                                           "k",    "count",     "bytes", "us",    "tflops",
                                           "gbps", "share",     "gpu",   "device"};
/* Places in column_names; what lies between MICROSECONDS and GPU is written for people only. */
enum { KIND, PRECISION, OP, M, N, K, COUNT, BYTES, MICROSECONDS, GPU = 12, DEVICE, COLUMN_COUNT };

const char *myr_kernel_kind_name(enum myr_kernel_kind kind)
{
    return kind_names[kind];
}

const char *myr_kernel_op_name(enum myr_kernel_op op)
{
    return op_names[op];
}

double myr_kernel_flops(const struct myr_kernel *kernel)
{
    return 2.0 * kernel->m * kernel->n * kernel->k * kernel->count;
}

/* A copy inside the device reads and writes; products write bf16, whatever they read. */
double myr_kernel_bytes(const struct myr_kernel *kernel)
{
    if (kernel->kind >= MYR_KERNEL_COPY_DEVICE) {
        return (double)kernel->bytes * (kernel->kind == MYR_KERNEL_COPY_DEVICE ? 2 : 1);
    }
    double m = kernel->m, n = kernel->n, k = kernel->k;
    /* Bytes of an operand's element. */
    double width = kernel->precision == MYR_PRECISION_FP8 ? 1 : 2;
    return kernel->count * (width * k * (m + n) + 2 * m * n);
}

/* Of the data sheet, without what was fitted. */
static double peak_flops(const struct myr_kernel *kernel, const struct myr_device *device)
{
    return kernel->precision == MYR_PRECISION_FP8 ? device->fp8_flops : device->bf16_flops;
}

/* Of the data sheet's peak; 0 where nothing was measured, or a copy goes over another link. */
double myr_kernel_share(const struct myr_kernel *kernel, const struct myr_device *device)
{
    if (!device || kernel->seconds <= 0 || kernel->kind > MYR_KERNEL_COPY_DEVICE) {
        return 0;
    }
    return kernel->kind == MYR_KERNEL_COPY_DEVICE
               ? myr_kernel_bytes(kernel) / kernel->seconds / device->memory_bytes_per_s
               : myr_kernel_flops(kernel) / kernel->seconds / peak_flops(kernel, device);
}

/* ---- the shapes ---- */

/* A list that is being made; its memory is the arena's. */
struct shapes {
    struct myr_kernel *items;
    uint32_t count, capacity;
};

static void add(struct shapes *shapes, struct myr_kernel kernel)
{
    MYR_ASSERT(shapes->count < shapes->capacity);
    kernel.count = kernel.count ? kernel.count : 1;
    shapes->items[shapes->count++] = kernel;
}

static void add_gemm(struct shapes *shapes, enum myr_precision precision, enum myr_kernel_op op,
                     uint32_t m, uint32_t n, uint32_t k)
{
    add(shapes, (struct myr_kernel){.precision = precision, .op = op, .m = m, .n = n, .k = k});
}

/* Outputs and inputs of linear layers as trained: GPT-3 cut by 8, an 8B, a 70B cut by 8, output. */
static const uint32_t layers[][2] = {
    {4608, 12288}, {12288, 1536}, {6144, 12288}, {12288, 6144}, {6144, 4096}, {28672, 4096},
    {4096, 14336}, {1280, 8192},  {8192, 1024},  {7168, 8192},  {8192, 3584}, {16032, 8192},
};

/* 'quick' takes larger steps through the same ranges. */
static void add_products(struct shapes *shapes, enum myr_precision precision, bool quick)
{
    /* Inner dimensions alone, squares, and layers over numbers of tokens. */
    for (uint32_t k = 64; k <= 16384; k *= quick ? 4 : 2) {
        add_gemm(shapes, precision, MYR_KERNEL_TN, 8192, 8192, k);
    }
    for (uint32_t side = 1024; side <= 16384; side *= quick ? 4 : 2) {
        add_gemm(shapes, precision, MYR_KERNEL_TN, side, side, side);
    }
    for (uint32_t l = 0; l < MYR_ARRAY_COUNT(layers); l += quick ? 3 : 1) {
        for (uint32_t m = quick ? 2048 : 256; m <= 16384; m *= quick ? 8 : 2) {
            add_gemm(shapes, precision, MYR_KERNEL_TN, m, layers[l][0], layers[l][1]);
        }
        /* Backward: the input's gradient and the weight's. FP8 kernels take one form only. */
        if (precision == MYR_PRECISION_BF16) {
            add_gemm(shapes, precision, MYR_KERNEL_NN, 8192, layers[l][1], layers[l][0]);
            add_gemm(shapes, precision, MYR_KERNEL_NT, layers[l][0], layers[l][1], 8192);
        }
    }
}

/* Experts of known models, over numbers of them and of tokens for each. */
static void add_groups(struct shapes *shapes, bool quick)
{
    static const uint32_t experts[][2] = {{4096, 7168}, {7168, 2048}, {4096, 4096}};
    for (uint32_t e = 0; e < MYR_ARRAY_COUNT(experts); e++) {
        for (uint32_t count = 4; count <= 64; count *= quick ? 16 : 2) {
            for (uint32_t m = quick ? 512 : 64; m <= 4096; m *= quick ? 8 : 4) {
                add(shapes, (struct myr_kernel){.kind = MYR_KERNEL_GROUPED,
                                                .m = m,
                                                .n = experts[e][0],
                                                .k = experts[e][1],
                                                .count = count});
            }
        }
    }
}

/* The two products of attention that is not fused. */
static void add_attention(struct shapes *shapes, bool quick)
{
    for (uint32_t width = 64; width <= 128; width *= 2) {
        for (uint32_t seq = quick ? 4096 : 1024; seq <= (quick ? 4096 : 8192); seq *= 2) {
            uint32_t heads = 16;
            add(shapes,
                (struct myr_kernel){
                    .kind = MYR_KERNEL_SCORES, .m = seq, .n = seq, .k = width, .count = heads});
            add(shapes, (struct myr_kernel){.kind = MYR_KERNEL_VALUES,
                                            .op = MYR_KERNEL_NN,
                                            .m = seq,
                                            .n = width,
                                            .k = seq,
                                            .count = heads});
        }
    }
}

static void add_copies(struct shapes *shapes, bool quick)
{
    /* From one MiB, where latency counts, to one GiB, where it does not. */
    for (uint64_t bytes = 1 << 20; bytes <= 1U << 30; bytes *= quick ? 32 : 4) {
        for (int kind = MYR_KERNEL_COPY_DEVICE; kind < MYR_KERNEL_KIND_COUNT; kind++) {
            add(shapes, (struct myr_kernel){.kind = (enum myr_kernel_kind)kind, .bytes = bytes});
        }
    }
}

void myr_kernels_sweep(struct myr_kernels *kernels, struct myr_arena *arena, bool quick)
{
    /* More than the full sweep has; add() holds it to that. */
    struct shapes shapes = {.capacity = 512};
    shapes.items = MYR_ARENA_NEW(arena, struct myr_kernel, shapes.capacity);
    add_products(&shapes, MYR_PRECISION_BF16, quick);
    add_products(&shapes, MYR_PRECISION_FP8, quick);
    add_groups(&shapes, quick);
    add_attention(&shapes, quick);
    add_copies(&shapes, quick);
    kernels->items = shapes.items;
    kernels->count = shapes.count;
}

/* ---- the file ---- */

/* The CSV that myr_kernels_parse() reads; rates and shares are there for people. */
void myr_kernels_write(const struct myr_kernels *kernels, struct myr_buf *buf)
{
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        myr_buf_printf(buf, "%s%s", c ? "," : "", column_names[c]);
    }
    myr_buf_putc(buf, '\n');
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct myr_kernel *k = &kernels->items[i];
        double rate = k->seconds > 0 ? 1 / k->seconds : 0;
        if (k->seconds <= 0) {
            continue; /* the library refused it: nothing is known */
        }
        myr_buf_printf(buf, "%s,%s,%s,%u,%u,%u,%u,%llu,", kind_names[k->kind],
                       k->precision == MYR_PRECISION_FP8 ? "fp8" : "bf16", op_names[k->op], k->m,
                       k->n, k->k, k->count, (unsigned long long)k->bytes);
        myr_json_number(buf, k->seconds * 1e6, 3);
        myr_buf_putc(buf, ',');
        myr_json_number(buf, myr_kernel_flops(k) * rate / 1e12, 2);
        myr_buf_putc(buf, ',');
        myr_json_number(buf, myr_kernel_bytes(k) * rate / 1e9, 1);
        myr_buf_putc(buf, ',');
        myr_json_number(buf, myr_kernel_share(k, kernels->device), 4);
        myr_buf_putc(buf, ',');
        myr_csv_put(buf, myr_str_from(kernels->gpu ? kernels->gpu : ""));
        myr_buf_printf(buf, ",%s\n", kernels->device ? kernels->device->name : "");
    }
}

/* A table and where its columns are. */
struct reader {
    struct myr_csv csv;
    int at[COLUMN_COUNT]; /* field of each column */
};

/* The place of a field's word in a list. */
static int word_of(const struct reader *r, int column, const char *const *words, uint32_t count,
                   uint32_t *ret, struct myr_err *err)
{
    uint32_t field = (uint32_t)r->at[column];
    char excerpt[MYR_EXCERPT_MAX];
    for (uint32_t i = 0; i < count; i++) {
        if (myr_str_eq(r->csv.fields[field], myr_str_from(words[i]))) {
            *ret = i;
            return MYR_OK;
        }
    }
    return myr_csv_error(err, &r->csv, field, "unknown %s '%s', expected such as '%s'",
                         column_names[column], myr_text_excerpt(r->csv.fields[field], excerpt),
                         words[0]);
}

static int whole_of(const struct reader *r, int column, uint64_t most, uint64_t *ret,
                    struct myr_err *err)
{
    uint32_t field = (uint32_t)r->at[column];
    if (!myr_str_to_u64(r->csv.fields[field], ret) || *ret > most) {
        return myr_csv_error(err, &r->csv, field, "%s: expected a whole number from 0 to %llu",
                             column_names[column], (unsigned long long)most);
    }
    return MYR_OK;
}

/* Products need sizes, copies bytes; a time of 0 would be a rate without end. */
static int read_row(const struct reader *r, struct myr_kernel *ret, struct myr_err *err)
{
    static const char *const precisions[] = {"bf16", "fp8"};
    uint32_t kind = 0, precision = 0, op = 0, field = (uint32_t)r->at[MICROSECONDS];
    uint64_t sizes[4] = {}, bytes = 0;
    double us = 0;
    for (int c = 0; c < COLUMN_COUNT; c++) {
        if (r->at[c] >= (int)r->csv.count) {
            return myr_csv_error(err, &r->csv, 0, "the row ends before '%s'", column_names[c]);
        }
    }
    MYR_TRY(word_of(r, KIND, kind_names, MYR_KERNEL_KIND_COUNT, &kind, err));
    MYR_TRY(word_of(r, PRECISION, precisions, 2, &precision, err));
    MYR_TRY(word_of(r, OP, op_names, 3, &op, err));
    /* m, n, k and count stand side by side. */
    for (int i = 0; i < 4; i++) {
        MYR_TRY(whole_of(r, M + i, 1 << 24, &sizes[i], err));
    }
    MYR_TRY(whole_of(r, BYTES, 1ULL << 40, &bytes, err));
    if (!myr_str_to_double(r->csv.fields[field], &us) || us <= 0 || us > 1e12) {
        return myr_csv_error(err, &r->csv, field, "us: expected a number above 0");
    }
    bool copy = kind >= MYR_KERNEL_COPY_DEVICE;
    if (copy ? bytes == 0 : !sizes[0] || !sizes[1] || !sizes[2] || !sizes[3]) {
        return myr_csv_error(err, &r->csv, (uint32_t)r->at[KIND], "a %s needs %s above 0",
                             kind_names[kind], copy ? "bytes" : "m, n, k and count");
    }
    *ret = (struct myr_kernel){
        .kind = (enum myr_kernel_kind)kind,
        .precision = precision ? MYR_PRECISION_FP8 : MYR_PRECISION_BF16,
        .op = (enum myr_kernel_op)op,
        .m = (uint32_t)sizes[0],
        .n = (uint32_t)sizes[1],
        .k = (uint32_t)sizes[2],
        .count = (uint32_t)sizes[3],
        .bytes = bytes,
        .seconds = us / 1e6,
    };
    return MYR_OK;
}

/* All columns must be there: the file is this program's own. */
static int read_header(struct reader *r, struct myr_err *err)
{
    int rows = myr_csv_header(&r->csv, err);
    MYR_TRY(rows);
    if (rows == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: no rows", r->csv.file);
    }
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        r->at[c] = -1;
        for (uint32_t i = 0; i < r->csv.count; i++) {
            if (myr_str_eq(r->csv.fields[i], myr_str_from(column_names[c]))) {
                r->at[c] = (int)i;
            }
        }
        if (r->at[c] < 0) {
            return myr_csv_error(err, &r->csv, 0, "column '%s' is missing", column_names[c]);
        }
    }
    return MYR_OK;
}

/* Every row names its GPU, so that files put together by mistake are found out. */
static int take_device(struct myr_kernels *kernels, const struct reader *r, struct myr_arena *arena,
                       const struct myr_profiles *profiles, struct myr_err *err)
{
    struct myr_str name = r->csv.fields[r->at[DEVICE]], gpu = r->csv.fields[r->at[GPU]];
    const struct myr_device *device;
    int rc = myr_profiles_device(profiles, name, &device, err);
    if (rc < 0) {
        return myr_err_wrap(err, "%s:%u", r->csv.file, r->csv.line);
    }
    if (kernels->device && kernels->device != device) {
        return myr_csv_error(err, &r->csv, (uint32_t)r->at[DEVICE],
                             "a second device; expected rows of one GPU only");
    }
    kernels->device = device;
    kernels->gpu = myr_arena_strndup(arena, gpu.data, gpu.len);
    return MYR_OK;
}

int myr_kernels_parse(struct myr_kernels *kernels, struct myr_arena *arena,
                      const struct myr_profiles *profiles, const char *file, struct myr_str text,
                      struct myr_err *err)
{
    struct reader *r = MYR_ARENA_ONE(arena, struct reader);
    uint32_t capacity = 0;
    *kernels = (struct myr_kernels){};
    myr_csv_init(&r->csv, arena, file, text);
    MYR_TRY(read_header(r, err));
    int rc;
    while ((rc = myr_csv_next(&r->csv, err)) > 0) {
        if (kernels->count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            struct myr_kernel *grown = MYR_ARENA_NEW(arena, struct myr_kernel, capacity);
            if (kernels->count) {
                memcpy(grown, kernels->items, kernels->count * sizeof(*grown));
            }
            kernels->items = grown;
        }
        MYR_TRY(read_row(r, &kernels->items[kernels->count], err));
        MYR_TRY(take_device(kernels, r, arena, profiles, err));
        kernels->count++;
        MYR_ASSERT(kernels->count <= capacity && kernels->device);
    }
    if (rc == MYR_OK && kernels->count == 0) {
        rc = myr_err_set(err, MYR_EINVAL, "%s: no rows below the header", file);
    }
    return rc;
}

int myr_kernels_read(struct myr_kernels *kernels, struct myr_arena *arena,
                     const struct myr_profiles *profiles, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {}; /* what the rows keep is copied */
    MYR_TRY(myr_kind_read(path, KERNELS_BYTES_MAX, MYR_KINDS_CSV,
                          "a CSV list of kernels, as 'myriad bench gpu' writes it,", &file, err));
    return myr_kernels_parse(kernels, arena, profiles, myr_file_name(path),
                             (struct myr_str){file.data, file.len}, err);
}

/* ---- what the cost model says ---- */

/*
 * Seconds by the cost model with these constants; 0 for copies to and from the host, which it has
 * no term for.
 */
double myr_kernel_predict(const struct myr_kernel *kernel, const struct myr_device *device,
                          const double *constants)
{
    /* A stack without a factor of its own: single kernels are of no release. */
    static const struct myr_stack plain = {
        .era = MYR_ERA_NEMO, .flash = true, .kernel_constant = -1};
    struct myr_fit_case it = {.device = device, .stack = &plain, .constants = constants};
    struct fit_rates rates = fit_rates_of(&it, kernel->precision);
    double m = kernel->m, n = kernel->n, k = kernel->k;
    switch (kernel->kind) {
    case MYR_KERNEL_GEMM:
    case MYR_KERNEL_GROUPED:
        return fit_product_s(&it, kernel->precision, kernel->count, m, n, k);
    case MYR_KERNEL_SCORES:
    case MYR_KERNEL_VALUES:
        return fit_max(myr_kernel_flops(kernel) / (rates.flops * constants[FIT_SCORE_GEMM]),
                       myr_kernel_bytes(kernel) / rates.bytes_per_s);
    case MYR_KERNEL_COPY_DEVICE:
        return myr_kernel_bytes(kernel) / rates.bytes_per_s;
    case MYR_KERNEL_COPY_TO_DEVICE:
    case MYR_KERNEL_COPY_TO_HOST:
    case MYR_KERNEL_KIND_COUNT:
        break;
    }
    return 0;
}

/* By what the driver calls the GPU; NULL: the catalogue has none like it. */
const struct myr_device *myr_kernels_device(const struct myr_profiles *profiles, const char *gpu)
{
    /* Longer names first: "A100-SXM4-80GB" is not the 40 GB one, "GB200" contains "B200". */
    static const char *const names[][2] = {
        {"GB300", "gb300"},
        {"GB200", "gb200"},
        {"B300", "b300"},
        {"B200", "b200"},
        {"H200", "h200"},
        {"H800", "h800"},
        {"H100", "h100"},
        {"A100-SXM4-40", "a100-40"},
        {"A100-SXM4-80", "a100-80"},
        {"A100", "a100-80"},
        {"MI300X", "mi300x"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        const struct myr_device *device;
        if (strstr(gpu, names[i][0]) &&
            myr_profiles_device(profiles, myr_str_from(names[i][1]), &device, NULL) == MYR_OK) {
            return device;
        }
    }
    return NULL;
}
