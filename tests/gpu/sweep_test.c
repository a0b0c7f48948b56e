/* The kernel sweep against a driver of known speed; folder of the fake libraries: FAKE_DIR. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "myriad/fit/kernels.h"

/* A word of the fake driver's own. */
static void *fake(const char *name)
{
    static void *library; /* stays open, as a driver does */
    library = library ? library : dlopen(FAKE_DIR "/libcuda.so.1", RTLD_NOW);
    return dlsym(library, name);
}

static long live(void)
{
    long (*count)(void);
    *(void **)&count = fake("fake_live");
    return count();
}

static void break_call(long at)
{
    void (*set)(long);
    *(void **)&set = fake("fake_break");
    set(at);
}

static bool broke(void)
{
    int (*has)(void);
    *(void **)&has = fake("fake_broke");
    return has();
}

static long calls(void)
{
    long (*count)(void);
    *(void **)&count = fake("fake_calls");
    return count();
}

static void slow_down(const double *ms, int count)
{
    void (*set)(const double *, int);
    *(void **)&set = fake("fake_slow");
    set(ms, count);
}

enum { OPENED, NO_DRIVER, OTHERWISE };

/* What becomes of opening a GPU, in a process of its own: libraries stay where they are loaded. */
static int open_apart(const char *folder, const char *variable, const char *value)
{
    pid_t child = fork();
    if (child == 0) {
        struct myr_gpu *gpu;
        struct myr_err err = {};
        if (variable) {
            setenv(variable, value, 1);
        }
        int rc = myr_gpu_open(&gpu, folder, 0, &err);
        _exit(rc == MYR_OK                              ? OPENED
              : strstr(err.message, "no NVIDIA driver") ? NO_DRIVER
                                                        : OTHERWISE);
    }
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Must come first: nothing is loaded yet. */
static void libraries_are_found_where_the_environment_says(void **state)
{
    static const struct {
        const char *variable, *folders[6];
    } rows[] = {
        {"CUDA_HOME", {"lib64"}},
        {"CUDA_PATH", {"lib64"}},
        {"VIRTUAL_ENV", {"lib", "python3.11", "site-packages", "nvidia", "cublas", "lib"}},
        {"CONDA_PREFIX", {"lib", "python3.9", "site-packages", "nvidia", "cuda", "lib"}},
        {"CONDA_PREFIX", {"lib"}},
    };
    static const char *const unset[] = {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"};
    char root[] = "/tmp/myriad-gpu-XXXXXX", path[512];
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(unset); i++) {
        unsetenv(unset[i]);
    }
    if (open_apart(NULL, NULL, NULL) != NO_DRIVER) {
        skip(); /* a machine with a GPU has a driver of its own */
    }
    assert_int_equal(open_apart(FAKE_DIR, NULL, NULL), OPENED);
    assert_int_equal(open_apart("", NULL, NULL), NO_DRIVER);
    assert_int_equal(open_apart("/nowhere", NULL, NULL), NO_DRIVER);
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        size_t depth = 0, made = 0;
        assert_int_equal(open_apart(NULL, rows[i].variable, root), NO_DRIVER);
        snprintf(path, sizeof(path), "%s", root);
        for (; depth < MYR_ARRAY_COUNT(rows[i].folders) && rows[i].folders[depth]; depth++) {
            size_t len = strlen(path);
            snprintf(path + len, sizeof(path) - len, "/%s", rows[i].folders[depth]);
            bool last =
                depth + 1 == MYR_ARRAY_COUNT(rows[i].folders) || !rows[i].folders[depth + 1];
            assert_int_equal(last ? symlink(FAKE_DIR, path) : mkdir(path, 0700), 0);
        }
        /* The driver is: cuBLAS may be the machine's own, which wants a GPU. */
        assert_int_not_equal(open_apart(NULL, rows[i].variable, root), NO_DRIVER);
        for (; made < depth; made++) { /* from the inside out */
            assert_int_equal(made == 0 ? unlink(path) : rmdir(path), 0);
            *strrchr(path, '/') = '\0';
        }
    }
    assert_int_equal(rmdir(root), 0);
}

/* A third of the time in each of three rounds, of which the middle one counts. */
static void a_kernel_is_called_for_as_long_as_was_asked(void **state)
{
    static const struct {
        uint32_t least_ms;
        long calls; /* of a round */
    } rows[] = {{0, 3}, {1, 635}, {2, 1271}, {100, 20000}};
    static const double orders[][4] = {{0, 3, 6, 9}, {0, 3, 9, 6}, {0, 6, 3, 9},
                                       {0, 6, 9, 3}, {0, 9, 3, 6}, {0, 9, 6, 3}};
    const double once_ms = 2.0 * (1 << 20) / 4e12 * 1e3;
    struct myr_kernel kernel = {.kind = MYR_KERNEL_COPY_DEVICE, .bytes = 1 << 20};
    struct myr_gpu *gpu;
    struct myr_err err = {};
    (void)state;
    assert_int_equal(myr_gpu_open(&gpu, FAKE_DIR, 0, &err), MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        break_call(0);
        assert_int_equal(myr_gpu_measure(gpu, &kernel, rows[i].least_ms, &err), MYR_OK);
        /* Two operands; three calls and four words about time; the same in each round. */
        assert_int_equal(calls(), 2 + 7 + 3 * (rows[i].calls + 4));
        assert_true(fabs(kernel.seconds * 1e3 / once_ms - 1) < 1e-3);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(orders); i++) {
        slow_down(orders[i], 4);
        assert_int_equal(myr_gpu_measure(gpu, &kernel, 0, &err), MYR_OK);
        assert_true(fabs(kernel.seconds * 1e3 / (once_ms + 6.0 / 3) - 1) < 1e-3);
    }
    slow_down(orders[0], 0);
    myr_gpu_close(gpu);
    assert_int_equal(live(), 0);
}

static void every_shape_gets_the_time_of_its_gpu(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_kernels kernels = {};
    struct myr_gpu *gpu;
    struct myr_err err = {};
    myr_arena_init(&arena);
    assert_int_equal(myr_gpu_open(&gpu, FAKE_DIR, 0, &err), MYR_OK);
    assert_string_equal(myr_gpu_name(gpu), "NVIDIA H200");
    long before = live();
    myr_kernels_sweep(&kernels, &arena, false);
    assert_true(kernels.count > 200);
    for (uint32_t i = 0; i < kernels.count; i++) {
        struct myr_kernel *k = &kernels.items[i];
        assert_int_equal(myr_gpu_measure(gpu, k, 10, &err), MYR_OK);
        double rate = k->kind == MYR_KERNEL_GROUPED ? 560e12 : 700e12;
        rate *= k->precision == MYR_PRECISION_FP8 ? 2 : 1;
        double expected = k->kind == MYR_KERNEL_COPY_DEVICE ? 2 * (double)k->bytes / 4e12
                          : k->kind > MYR_KERNEL_COPY_DEVICE
                              ? (double)k->bytes / 50e9
                              : myr_kernel_flops(k) / (rate * k->k / (k->k + 256.0));
        if (fabs(k->seconds / expected - 1) > 1e-3) {
            fail_msg("%s %u %u %u: %g s, expected %g s", myr_kernel_kind_name(k->kind), k->m, k->n,
                     k->k, k->seconds, expected);
        }
    }
    assert_int_equal(live(), before); /* every operand was given back */
    myr_gpu_close(gpu);
    assert_int_equal(live(), 0); /* and everything else */
    myr_arena_done(&arena);
}

struct seen {
    uint64_t steps, last, all;
};

static void see(void *context, uint64_t done, uint64_t all)
{
    struct seen *seen = context;
    seen->steps++;
    seen->last = done;
    seen->all = all;
}

static void a_whole_sweep_finds_its_device_and_tells_how_far_it_is(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_kernels kernels = {.count = 77};
    struct seen seen = {};
    struct myr_err err = {};
    struct myr_sweep_question question = {
        .library = FAKE_DIR, .least_ms = 5, .quick = true, .progress = see, .context = &seen};
    myr_arena_init(&arena);
    assert_int_equal(myr_profiles_init(&profiles, &arena, &err), MYR_OK);
    assert_int_equal(myr_gpu_sweep(&question, &profiles, &arena, &kernels, &err), MYR_OK);
    assert_string_equal(kernels.device->name, "h200");
    assert_string_equal(kernels.gpu, "NVIDIA H200");
    assert_true(kernels.count > 5 && kernels.count < 100);
    assert_int_equal(seen.steps, kernels.count);
    assert_true(seen.last == kernels.count && seen.all == kernels.count);
    assert_int_equal(live(), 0);
    question.device = "a100-80";
    question.progress = NULL;
    assert_int_equal(myr_gpu_sweep(&question, &profiles, &arena, &kernels, &err), MYR_OK);
    assert_string_equal(kernels.device->name, "a100-80");
    question.device = "h1000";
    struct myr_kernels kept = {.count = 77};
    assert_true(myr_gpu_sweep(&question, &profiles, &arena, &kept, &err) < 0);
    assert_true(kept.count == 77 && live() == 0);
    question.gpu = 99;
    assert_true(myr_gpu_sweep(&question, &profiles, &arena, &kept, &err) < 0);
    myr_arena_done(&arena);
}

static void a_sweep_written_and_read_is_the_same(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_kernels kernels = {}, read;
    struct myr_gpu *gpu;
    struct myr_err err = {};
    struct myr_buf buf = {}, again = {};
    myr_arena_init(&arena);
    assert_int_equal(myr_profiles_init(&profiles, &arena, &err), MYR_OK);
    assert_int_equal(myr_gpu_open(&gpu, FAKE_DIR, 0, &err), MYR_OK);
    kernels.gpu = myr_gpu_name(gpu);
    kernels.device = myr_kernels_device(&profiles, kernels.gpu);
    assert_non_null(kernels.device);
    assert_string_equal(kernels.device->name, "h200");
    myr_kernels_sweep(&kernels, &arena, true);
    for (uint32_t i = 0; i < kernels.count; i++) {
        assert_int_equal(myr_gpu_measure(gpu, &kernels.items[i], 10, &err), MYR_OK);
    }
    /* Times are rounded when written; what was read once is written the same for ever. */
    myr_kernels_write(&kernels, &buf);
    struct myr_str text = {buf.data, buf.len};
    assert_int_equal(myr_kernels_parse(&read, &arena, &profiles, "f", text, &err), MYR_OK);
    assert_int_equal(read.count, kernels.count);
    for (uint32_t i = 0; i < read.count; i++) {
        assert_true(fabs(read.items[i].seconds - kernels.items[i].seconds) < 1e-9);
        assert_int_equal(read.items[i].m, kernels.items[i].m);
        assert_int_equal(read.items[i].bytes, kernels.items[i].bytes);
    }
    myr_buf_clear(&buf);
    myr_kernels_write(&read, &buf);
    text = (struct myr_str){buf.data, buf.len};
    assert_int_equal(myr_kernels_parse(&read, &arena, &profiles, "f", text, &err), MYR_OK);
    myr_kernels_write(&read, &again);
    assert_int_equal(buf.len, again.len);
    assert_memory_equal(buf.data, again.data, buf.len);
    myr_gpu_close(gpu);
    myr_buf_done(&buf);
    myr_buf_done(&again);
    myr_arena_done(&arena);
}

static void a_gpu_that_is_not_there_is_said_so(void **state)
{
    (void)state;
    struct myr_gpu *gpu;
    struct myr_err err = {};
    assert_int_equal(myr_gpu_open(&gpu, FAKE_DIR, 7, &err), MYR_ENOENT);
    assert_null(gpu);
    assert_non_null(strstr(err.message, "GPU 7"));
    assert_true(err.hint[0] != '\0');
}

/* One small shape of each kind; false when one of them was refused or failed. */
static bool measure_each_kind(struct myr_gpu *gpu)
{
    const struct myr_kernel each[] = {
        {.kind = MYR_KERNEL_GEMM, .m = 256, .n = 128, .k = 64, .count = 1},
        {.kind = MYR_KERNEL_GEMM, .op = MYR_KERNEL_NT, .m = 256, .n = 128, .k = 64, .count = 1},
        {.precision = MYR_PRECISION_FP8, .m = 256, .n = 128, .k = 64, .count = 1},
        {.kind = MYR_KERNEL_GROUPED, .m = 64, .n = 256, .k = 128, .count = 3},
        {.kind = MYR_KERNEL_SCORES, .m = 64, .n = 64, .k = 128, .count = 4},
        {.kind = MYR_KERNEL_COPY_DEVICE, .bytes = 1 << 20},
        {.kind = MYR_KERNEL_COPY_TO_DEVICE, .bytes = 1 << 20},
        {.kind = MYR_KERNEL_COPY_TO_HOST, .bytes = 1 << 20},
    };
    bool whole = true;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(each); i++) {
        struct myr_kernel kernel = each[i];
        struct myr_err err = {};
        kernel.seconds = 7;
        int rc = myr_gpu_measure(gpu, &kernel, 0, &err);
        assert_true(rc == MYR_OK || (rc == MYR_EIO && kernel.seconds == 0));
        assert_true(rc == MYR_OK || strstr(err.message, "status 999"));
        assert_true(kernel.seconds != 7);
        whole = whole && rc == MYR_OK && kernel.seconds > 0;
    }
    return whole;
}

static void whichever_call_fails_it_is_noticed_and_all_is_given_back(void **state)
{
    (void)state;
    struct myr_gpu *gpu = NULL;
    long at = 0;
    while (!gpu) {
        struct myr_err err = {};
        break_call(++at);
        int rc = myr_gpu_open(&gpu, FAKE_DIR, 0, &err);
        assert_true(broke() ? rc < 0 && !gpu && err.message[0] : rc == MYR_OK && gpu);
        assert_true(gpu || live() == 0);
    }
    assert_true(at > 10);
    long before = live();
    for (at = 1;; at++) {
        break_call(at);
        bool whole = measure_each_kind(gpu), broken = broke();
        if (whole == broken || live() != before) {
            fail_msg("call %ld: %s, %ld pieces", at, whole ? "not noticed" : "broken", live());
        }
        if (!broken) {
            break;
        }
    }
    assert_true(at > 100);
    break_call(0);
    myr_gpu_close(gpu);
    assert_int_equal(live(), 0);
}

static void shapes_that_do_not_fit_the_memory_or_the_library_have_no_time(void **state)
{
    (void)state;
    struct myr_gpu *gpu;
    struct myr_err err = {};
    /* All of 140 GiB but a sixteenth may be taken: 2 bytes of each of m k, k n and m n. */
    struct myr_kernel most = {.m = 1 << 18, .n = 1 << 18, .k = 256, .count = 1};
    struct myr_kernel large = {.m = 1 << 18, .n = 1 << 18, .k = 1 << 16, .count = 1};
    struct myr_kernel many = {.kind = MYR_KERNEL_GROUPED, .m = 1, .n = 1, .k = 1, .count = 1025};
    struct myr_kernel low = {.kind = MYR_KERNEL_GROUPED,
                             .precision = MYR_PRECISION_FP8,
                             .m = 16,
                             .n = 16,
                             .k = 16,
                             .count = 2};
    struct myr_kernel *const refused[] = {&large, &many, &low};
    assert_int_equal(myr_gpu_open(&gpu, FAKE_DIR, 0, &err), MYR_OK);
    assert_int_equal(myr_gpu_measure(gpu, &most, 1, &err), MYR_OK);
    assert_true(most.seconds > 0);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(refused); i++) {
        refused[i]->seconds = 7;
        assert_int_equal(myr_gpu_measure(gpu, refused[i], 1, &err), MYR_OK);
        assert_true(refused[i]->seconds == 0);
    }
    many.count = 1024;
    assert_int_equal(myr_gpu_measure(gpu, &many, 1, &err), MYR_OK);
    assert_true(many.seconds > 0);
    myr_gpu_close(gpu);
    myr_gpu_close(NULL);
    assert_int_equal(live(), 0);
}

static void bad_files_are_refused_with_a_place(void **state)
{
    (void)state;
    static const char head[] = "kind,precision,op,m,n,k,count,bytes,us,tflops,gbps,share,gpu,"
                               "device\n";
    static const char *const rows[][2] = {
        {"", "no rows below"},
        {"gemm,bf16,tn,1,1,1,1,0,5,1,1,1,x\n", "ends before"},
        {"gem,bf16,tn,1,1,1,1,0,5,1,1,1,x,h200\n", "unknown kind 'gem'"},
        {"gemm,bf17,tn,1,1,1,1,0,5,1,1,1,x,h200\n", "unknown precision"},
        {"gemm,bf16,tt,1,1,1,1,0,5,1,1,1,x,h200\n", "unknown op"},
        {"gemm,bf16,tn,-1,1,1,1,0,5,1,1,1,x,h200\n", "whole number"},
        {"gemm,bf16,tn,1,1,99999999999,1,0,5,1,1,1,x,h200\n", "whole number"},
        {"gemm,bf16,tn,1,0,1,1,0,5,1,1,1,x,h200\n", "needs m, n, k"},
        {"copy-device,bf16,tn,0,0,0,1,0,5,1,1,1,x,h200\n", "needs bytes"},
        {"gemm,bf16,tn,1,1,1,1,0,0,1,1,1,x,h200\n", "above 0"},
        {"gemm,bf16,tn,1,1,1,1,0,nan,1,1,1,x,h200\n", "above 0"},
        {"gemm,bf16,tn,1,1,1,1,0,5,1,1,1,x,h201\n", "unknown device"},
        {"gemm,bf16,tn,1,1,1,1,0,5,1,1,1,x,h200\ngemm,bf16,tn,1,1,1,1,0,5,1,1,1,x,b200\n",
         "second device"},
    };
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_kernels read;
    struct myr_err err = {};
    myr_arena_init(&arena);
    assert_int_equal(myr_profiles_init(&profiles, &arena, &err), MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        const char *text = myr_arena_printf(&arena, "%s%s", head, rows[i][0]);
        assert_true(myr_kernels_parse(&read, &arena, &profiles, "f", myr_str_from(text), &err) < 0);
        if (!strstr(err.message, rows[i][1]) || strncmp(err.message, "f:", 2) != 0) {
            fail_msg("row %zu: '%s'", i, err.message);
        }
    }
    assert_true(myr_kernels_parse(&read, &arena, &profiles, "f", MYR_STR("a,b\n"), &err) < 0);
    assert_true(myr_kernels_parse(&read, &arena, &profiles, "f", MYR_STR(""), &err) < 0);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_are_found_where_the_environment_says),
        cmocka_unit_test(a_kernel_is_called_for_as_long_as_was_asked),
        cmocka_unit_test(every_shape_gets_the_time_of_its_gpu),
        cmocka_unit_test(a_whole_sweep_finds_its_device_and_tells_how_far_it_is),
        cmocka_unit_test(a_sweep_written_and_read_is_the_same),
        cmocka_unit_test(a_gpu_that_is_not_there_is_said_so),
        cmocka_unit_test(whichever_call_fails_it_is_noticed_and_all_is_given_back),
        cmocka_unit_test(shapes_that_do_not_fit_the_memory_or_the_library_have_no_time),
        cmocka_unit_test(bad_files_are_refused_with_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
