#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "myriad/fit.h"

static struct {
    uint32_t format;
    const char *library, *device, *out;
    uint64_t gpu, milliseconds;
    bool quick;
} options = {.milliseconds = 250};

const struct myr_command *cli_bench_command(void)
{
    static const struct myr_option rows[] = {
        CLI_OUTPUT_OPTION(options.format),
        {.name = "out",
         .type = MYR_OPTION_PATH,
         .value = "FILE",
         .help = "also write the CSV that 'fit calibrate --kernels' reads",
         .target = &options.out},
        {.name = "library",
         .type = MYR_OPTION_PATH,
         .value = "DIR",
         .help = "where libcublas.so and libcublasLt.so are",
         .target = &options.library},
        {.name = "device",
         .type = MYR_OPTION_TEXT,
         .value = "NAME",
         .help = "of the catalogue, for peaks; by the GPU's name when absent",
         .target = &options.device},
        {.name = "gpu",
         .type = MYR_OPTION_U64,
         .value = "N",
         .help = "which GPU of this machine, from 0",
         .target = &options.gpu,
         .max = 1024},
        {.name = "ms",
         .type = MYR_OPTION_U64,
         .value = "N",
         .help = "milliseconds for each shape",
         .target = &options.milliseconds,
         .min = 1,
         .max = 60000},
        {.name = "quick",
         .type = MYR_OPTION_FLAG,
         .help = "a few shapes",
         .target = &options.quick},
    };
    static const struct myr_command command = {
        .name = "bench",
        .operands = "gpu",
        .summary = "what a GPU's own library reaches, shape by shape",
        .details = "Runs products (BF16 and FP8), grouped products, attention-shaped batches and "
                   "copies through cuBLAS, which is looked for at run time: the toolkit, Python "
                   "wheels, --library. Times are the median of three rounds. 'myriad fit calibrate "
                   "--kernels FILE' turns the result into constants of the cost model.",
        .example = "myriad bench gpu --out h200.csv",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 1,
        .operand_max = 1,
    };
    return &command;
}

static void put_table(const struct myr_kernels *kernels, struct myr_arena *arena,
                      struct myr_buf *buf)
{
    static const struct myr_column columns[] = {
        {"kind", "KIND", 0},
        {"precision", "PRECISION", 0},
        {"op", "OP", 0},
        {"m", "M", MYR_COLUMN_NUMBER},
        {"n", "N", MYR_COLUMN_NUMBER},
        {"k", "K", MYR_COLUMN_NUMBER},
        {"count", "COUNT", MYR_COLUMN_NUMBER},
        {"bytes", "BYTES", MYR_COLUMN_NUMBER},
        {"us", "us", MYR_COLUMN_NUMBER},
        {"tflops", "TFLOP/s", MYR_COLUMN_NUMBER},
        {"gbps", "GB/s", MYR_COLUMN_NUMBER},
        {"share", "OF PEAK", MYR_COLUMN_NUMBER},
    };
    struct myr_table table;
    myr_table_init(&table, arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct myr_kernel *k = &kernels->items[i];
        bool copy = k->kind >= MYR_KERNEL_COPY_DEVICE;
        if (k->seconds <= 0) {
            continue;
        }
        myr_table_text(&table, myr_kernel_kind_name(k->kind));
        myr_table_text(&table, copy ? NULL : k->precision == MYR_PRECISION_FP8 ? "fp8" : "bf16");
        myr_table_text(&table, copy ? NULL : myr_kernel_op_name(k->op));
        myr_table_u64(&table, k->m);
        myr_table_u64(&table, k->n);
        myr_table_u64(&table, k->k);
        myr_table_u64(&table, k->count);
        myr_table_u64(&table, k->bytes);
        myr_table_double(&table, k->seconds * 1e6, 2);
        myr_table_double(&table, myr_kernel_flops(k) / k->seconds / 1e12, 1);
        myr_table_double(&table, myr_kernel_bytes(k) / k->seconds / 1e9, 1);
        myr_table_double(&table, myr_kernel_share(k, kernels->device), 3);
    }
    myr_table_write(&table, (enum myr_format)options.format, buf);
    myr_table_done(&table);
}

static int measure(struct myr_gpu *gpu, struct myr_kernels *kernels, struct myr_err *err)
{
    struct myr_progress progress;
    int rc = MYR_OK;
    myr_progress_init(&progress, "measuring", kernels->count, isatty(STDERR_FILENO),
                      myr_clock_ns());
    for (uint32_t i = 0; rc == MYR_OK && i < kernels->count; i++) {
        rc = myr_gpu_measure(gpu, &kernels->items[i], (uint32_t)options.milliseconds, err);
        myr_progress_update(&progress, i + 1, myr_clock_ns());
    }
    myr_progress_done(&progress);
    return rc;
}

static int choose_device(const struct myr_profiles *profiles, struct myr_kernels *kernels,
                         struct myr_err *err)
{
    if (options.device) {
        return myr_profiles_device(profiles, myr_str_from(options.device), &kernels->device, err);
    }
    kernels->device = myr_kernels_device(profiles, kernels->gpu);
    if (!kernels->device) {
        int rc =
            myr_err_set(err, MYR_ENOENT, "the catalogue does not know a '%.60s'", kernels->gpu);
        myr_err_hint(err, "name the nearest device with --device, such as h100");
        return rc;
    }
    return MYR_OK;
}

static int write_out(const struct myr_kernels *kernels, struct myr_err *err)
{
    struct myr_buf buf = {0};
    myr_kernels_write(kernels, &buf);
    int rc = myr_file_write(options.out, &buf, err);
    myr_buf_done(&buf);
    return rc;
}

int cli_bench(const struct myr_operands *operands)
{
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_kernels kernels = {0};
    struct myr_gpu *gpu = NULL;
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    if (strcmp(operands->items[0], "gpu") != 0) {
        (void)myr_err_set(&err, MYR_EINVAL, "bench does not know '%.60s', expected 'gpu'",
                          operands->items[0]);
        return cli_error(&err);
    }
    myr_arena_init(&arena);
    int rc = myr_profiles_init(&profiles, &arena, &err);
    rc = rc < 0 ? rc : myr_gpu_open(&gpu, options.library, (uint32_t)options.gpu, &err);
    if (rc == MYR_OK) {
        kernels.gpu = myr_gpu_name(gpu);
        rc = choose_device(&profiles, &kernels, &err);
    }
    if (rc == MYR_OK) {
        myr_kernels_sweep(&kernels, &arena, options.quick);
        rc = measure(gpu, &kernels, &err);
    }
    rc = rc < 0 || !options.out ? rc : write_out(&kernels, &err);
    if (rc == MYR_OK && options.format == MYR_FORMAT_CSV) {
        myr_kernels_write(&kernels, &buf);
    } else if (rc == MYR_OK) {
        put_table(&kernels, &arena, &buf);
    }
    int code = rc < 0 ? cli_error(&err) : cli_print(&buf);
    myr_gpu_close(gpu);
    myr_buf_done(&buf);
    myr_arena_done(&arena);
    return code;
}
