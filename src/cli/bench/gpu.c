/*
 * bench gpu: what a GPU's own library reaches, shape by shape. The library of the vendor is loaded
 * at run time: the program itself needs no GPU, nor what comes with one.
 */
#include "bench/bench.h"

/* 'gpu' counts from 0; 'milliseconds' are for each shape. */
struct options {
    const char *library, *device, *out;
    uint64_t gpu, milliseconds;
    bool quick, dry_run;
};

static const struct options defaults = {.milliseconds = 250};

static const struct myr_option rows[] = {
    CLI_OUTPUT("out", "FILE", struct options, out,
               "also write the CSV that 'fit calibrate --kernels' reads"),
    CLI_PATH("library", "DIR", struct options, library,
             "where libcublas.so and libcublasLt.so are"),
    CLI_NAME("device", "NAME", struct options, device, cli_case_devices,
             "of the catalogue, for peaks; by the GPU's name when absent"),
    CLI_COUNT("gpu", struct options, gpu, 0, 1024, "which GPU of this machine, from 0"),
    CLI_COUNT("ms", struct options, milliseconds, 1, 60000, "milliseconds for each shape"),
    CLI_FLAG("quick", struct options, quick, "a few shapes"),
    CLI_FLAG("dry-run", struct options, dry_run,
             "list the shapes and measure nothing; needs no GPU"),
};

/* What a dry run has no use for: it asks for no library, measures nothing and writes nothing. */
static const struct myr_option_rule rules[] = {
    {"out library gpu ms", .against = "dry-run"},
};

static const struct myr_command gpu_command = {
    .name = "bench gpu",
    .operands = "",
    .summary = "what a GPU's own library reaches, shape by shape",
    .details = "Runs products (BF16 and FP8), grouped products, attention-shaped batches and "
               "copies through cuBLAS, which is looked for at run time: the toolkit, Python "
               "wheels, --library. Times are the median of three rounds. 'myriad fit calibrate "
               "--kernels FILE' turns the result into constants of the cost model.",
    .example = "myriad bench gpu --out h200.csv",
    CLI_OPTIONS(rows, defaults),
    CLI_RULES(rules),
};

static const struct myr_command *const subcommands[] = {&gpu_command};

static const struct myr_command bench_command = {
    .name = "bench",
    .operands = "",
    .summary = "measure this machine",
    .example = "myriad bench gpu --out h200.csv",
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

const struct cli_verb cli_bench_verb = {&bench_command, NULL, .group = CLI_PROVE_GROUP};

/*
 * Without a time (a dry run, a shape that was refused) there are no rates; without a device of the
 * catalogue no share of a peak.
 */
static void put_kernel(struct myr_answer *answer, const struct myr_kernels *kernels,
                       const struct myr_kernel *k)
{
    bool copy = k->kind >= MYR_KERNEL_COPY_DEVICE, known = k->seconds > 0;
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "kind", myr_kernel_kind_name(k->kind));
    myr_answer_text(answer, "precision",
                    copy                                ? NULL
                    : k->precision == MYR_PRECISION_FP8 ? "fp8"
                                                        : "bf16");
    myr_answer_text(answer, "op", copy ? NULL : myr_kernel_op_name(k->op));
    myr_answer_u64(answer, "m", k->m);
    myr_answer_u64(answer, "n", k->n);
    myr_answer_u64(answer, "k", k->k);
    myr_answer_u64(answer, "count", k->count);
    myr_answer_u64(answer, "bytes", k->bytes);
    cli_put_known(answer, "us", known, k->seconds * 1e6, 3);
    cli_put_known(answer, "tflops", known, myr_kernel_flops(k) / k->seconds / 1e12, 2);
    cli_put_known(answer, "gbps", known, myr_kernel_bytes(k) / k->seconds / 1e9, 1);
    cli_put_known(answer, "share", known && kernels->device,
                  known && kernels->device ? myr_kernel_share(k, kernels->device) : 0, 4);
    myr_answer_end(answer);
}

/* 'all': of a dry run, where no shape has a time. */
static void put_kernels(struct myr_answer *answer, const struct myr_kernels *kernels, bool all)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("kind", "KIND", 0),
        MYR_COLUMN("precision", "PRECISION", 0),
        MYR_COLUMN("op", "OP", 0),
        MYR_COLUMN("m", "M", MYR_COLUMN_NUMBER),
        MYR_COLUMN("n", "N", MYR_COLUMN_NUMBER),
        MYR_COLUMN("k", "K", MYR_COLUMN_NUMBER),
        MYR_COLUMN("count", "COUNT", MYR_COLUMN_NUMBER),
        {"us", "us", MYR_COLUMN_NUMBER, 2},
        {"tflops", "TFLOP/s", MYR_COLUMN_NUMBER, 1},
        {"gbps", "GB/s", MYR_COLUMN_NUMBER, 1},
        {"share", "OF PEAK", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("bytes", "BYTES", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
    };
    myr_answer_text(answer, "gpu", kernels->gpu);
    myr_answer_text(answer, "device", kernels->device ? kernels->device->name : NULL);
    struct myr_value *list = myr_answer_list(answer, "kernels");
    for (uint32_t i = 0; i < kernels->count; i++) {
        if (all || kernels->items[i].seconds > 0) { /* else the library refused the shape */
            put_kernel(answer, kernels, &kernels->items[i]);
        }
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
}

static void step(void *context, uint64_t done, uint64_t all)
{
    (void)all;
    cli_progress_step(context, done);
}

/* A dry run lists the shapes alone, and asks for no library and no GPU. */
static int measure(struct cli *cli, struct myr_kernels *kernels, struct myr_err *err)
{
    const struct options *o = cli->options;
    struct myr_profiles profiles;
    struct myr_kernels shapes = {};
    MYR_TRY(myr_profiles_init(&profiles, &cli->arena, err));
    myr_kernels_sweep(&shapes, &cli->arena, o->quick);
    if (o->dry_run) {
        *kernels = shapes;
        return o->device
                   ? myr_profiles_device(&profiles, myr_str_from(o->device), &kernels->device, err)
                   : MYR_OK;
    }
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    cli_progress(&progress, "measuring", shapes.count);
    struct myr_sweep_question question = {.library = o->library,
                                          .device = o->device,
                                          .gpu = (uint32_t)o->gpu,
                                          .least_ms = (uint32_t)o->milliseconds,
                                          .quick = o->quick,
                                          .progress = step,
                                          .context = &progress};
    return myr_gpu_sweep(&question, &profiles, &cli->arena, kernels, err);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *o = cli->options;
    struct myr_kernels kernels = {};
    int rc = measure(cli, &kernels, err);
    if (rc == MYR_OK && o->out) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
        myr_kernels_write(&kernels, &buf);
        rc = myr_file_write(o->out, &buf, err);
    }
    if (rc < 0) {
        return rc;
    }
    put_kernels(&cli->answer, &kernels, o->dry_run);
    if (o->out) {
        myr_answer_next(&cli->answer, NULL, "myriad fit calibrate --kernels %s --out mine.yaml",
                        myr_answer_input(&cli->answer, o->out));
    }
    return MYR_OK;
}

const struct cli_verb cli_bench_gpu_verb = {&gpu_command, run, .group = NULL};
