/*
 * Lines of logs as trainers, launchers and terminals write them, and nearly so: what is read of
 * each is held against tests/kept/fit-log-lines.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "myriad/fit/trainlog.h"

#define ITERATION "iteration 5/ 10 | elapsed time per iteration (ms): 1500.0 |"

static const char *const texts[] = {
    ITERATION,
    " iteration 5/ 10 | elapsed time per iteration (ms): 1500.0 | global batch size: 8 |",
    "[2024] iteration   5/10 | elapsed time per iteration (ms): 1500.0 | lm loss: 2.0 |",
    "iteration 5 10 | elapsed time per iteration (ms): 1500.0 |",
    "iteration x/ 10 | elapsed time per iteration (ms): 1500.0 |",
    "iteration 5/ 10 elapsed time per iteration (ms): 1500.0",
    "iteration 5/ 10 | elapsed time per iteration (ms): 0 |",
    "iteration 5/ 10 | elapsed time per iteration (ms): -3 |",
    "iteration 5/ 10 | elapsed time per iteration (ms): 39999999999 |",
    "iteration 5/ 10 | elapsed time per iteration (ms): 4e10 |",
    "iteration 5/ 10 | elapsed time per iteration (ms): nan |",
    "iteration 5/ 10 | train_step_timing in s: 1.5 |",
    "iteration 5/ 10 | train_step_timing in s: 0 |",
    ITERATION " throughput per GPU (TFLOP/s/GPU): 400.5 |",
    ITERATION " TFLOPs (Model): 300 | TFLOPs: 301 | TFLOPs more: 302 |",
    ITERATION "\nTFLOPs: 5 | x: 1 |\nTFLOPs: 6 |",
    ITERATION "\n|\n|\n|\n|\nTFLOPs: 5 |\nTFLOPs: 6 |",
    ITERATION "\n|\n|\n|\n|\n|\nTFLOPs: 5 |",
    ITERATION "\nno bar here\nTFLOPs: 5 |",
    ITERATION "\n" ITERATION "\n" ITERATION,
    ITERATION " global batch size: 8 |\n" ITERATION " global batch size: 8 |",
    ITERATION " global batch size: 8 |\n" ITERATION " global batch size: 16 |",
    ITERATION " global_batch_size: 8 |\n" ITERATION " global_batch_size_x: 16 |",
    ITERATION " global batch size: 0 |\n" ITERATION " global batch size: 4.1e9 |",
    ITERATION "\ntime (ms) | forward: 3.5 | backward: 7 | odd | x: y | : 4 |",
    "a: time (ms) | forward: 3.5",
    ITERATION "\n    forward-compute ....: (2717.14, 3328.97)",
    ITERATION "\n    forward-compute ....: (3, 2)",
    ITERATION "\n    forward-compute ....: (3 2)",
    ITERATION "\n    forward-compute ....: 12.5",
    ITERATION "\n    forward-compute ....: x",
    ITERATION "\n    forward-compute ....:",
    ITERATION "\n    forward-compute ....: ()",
    ITERATION "\n    forward-compute ....: (1,)",
    ITERATION "\n    forward-compute ....: (1, 1)",
    ITERATION "\n[rank0]:forward-compute ....: 4\n ....: 5\n$ ....: 6",
    ITERATION "\nall-grads:\n rank 0: 5\n rank 1: 3\n rank 2: 9\n",
    ITERATION "\nall-grads:\n rank 0: 5\n rank 1: x\n rank 2: 9\n",
    ITERATION "\nall-grads:\n rank 0: 5\nother:\n rank 0: 7\n" ITERATION,
    ITERATION "\nall grads:\n rank 0: 5\n",
    ITERATION "\n:\n rank 0: 5\n",
    ITERATION "\nrank 0: 5\n",
    ITERATION "\nall-grads:\n rank 0 5\n",
    ITERATION "\nall-grads:\n rank 0: 5\nall-grads ....: 8\n",
    "  num_layers ...................... 32\n" ITERATION,
    "  num_layers ... 4e9\n  hidden_size ... 4.1e9\n" ITERATION,
    "  num_layers ... -1\n  hidden_size ...\n  no_such ... 3\n" ITERATION,
    "  num_layers .. 32\nnum_layers ... 33\n ... 34\n" ITERATION,
    "  num_layers ... 32\n  num_layers ... 40\n" ITERATION,
    "  sequence_parallel ... True\n  bf16 ... False\n  fp16 ... None\n" ITERATION,
    "  recompute_granularity ... selective\n" ITERATION,
    "  recompute_granularity ... full\n" ITERATION,
    "  recompute_granularity ... hybrid\n" ITERATION,
    "  fp8 ... hybrid\n  fp8_recipe ... mxfp8\n" ITERATION,
    "  fp8 ... e4m3\n  fp8_recipe ... delayed\n" ITERATION,
    "  fp4 ... e2m1\n  data_parallel_sharding_strategy ... optim_grads\n" ITERATION,
    "  data_parallel_sharding_strategy ... optim_grads_params\n" ITERATION,
    "  data_parallel_sharding_strategy ... no_shard\n  num_layers ... optim\n" ITERATION,
    "  moe_layer_freq ... [0, 0, 1, 1]\n" ITERATION,
    "  moe_layer_freq ... [1, 1]\n" ITERATION,
    "  moe_layer_freq ... [0, 1, 0]\n" ITERATION,
    "  moe_layer_freq ... [0, 2, 1]\n" ITERATION,
    "  moe_layer_freq ... 2\n" ITERATION,
    "\r\n  num_layers ... 32\r\n" ITERATION "\r\n",
    "",
    "\n\n\n",
};

static void put_samples(struct myr_buf *out, const char *name, const struct myr_samples *samples)
{
    if (samples->values.count > 0) {
        myr_buf_printf(out, " %s", name);
        for (size_t i = 0; i < samples->values.count; i++) {
            myr_buf_printf(out, " %g", samples->values.items[i]);
        }
        myr_buf_printf(out, " (%g);", myr_samples_typical(samples));
    }
}

static void read_text(struct myr_buf *out, const char *text)
{
    struct myr_trainlog *log = test_calloc(1, sizeof(*log));
    struct myr_err err = {};
    myr_trainlog_init(log);
    myr_trainlog_feed(log, myr_str_from(text));
    int rc = myr_trainlog_finish(log, "f", &err);
    myr_buf_printf(out, "%d%s%s:", rc, rc ? " " : "", err.message);
    put_samples(out, "seconds", &log->elapsed_s);
    put_samples(out, "tflops", &log->tflops);
    for (uint32_t i = 0; i < log->timer_count; i++) {
        const struct myr_log_timer *timer = &log->timers[i];
        put_samples(out, timer->name, &timer->least);
        put_samples(out, "to", &timer->most);
        myr_buf_printf(out, " %g s;", myr_trainlog_seconds(log, timer->name));
    }
    for (uint32_t i = 0; i < MYR_LOG_ARGUMENT_COUNT; i++) {
        if (log->given[i]) {
            myr_buf_printf(out, " argument %u %.10g;", i, log->arguments[i]);
        }
    }
    myr_buf_printf(out, " %llu lines, batch %g, dense %u, odd %d\n", (unsigned long long)log->lines,
                   log->batch, log->first_dense, log->odd_experts);
    assert_null(myr_trainlog_timer(log, "no-such"));
    myr_trainlog_done(log);
    test_free(log);
}

static void lines_are_read_as_they_were(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        for (const char *c = texts[i]; *c; c++) { /* on one line, to be read beside the answer */
            myr_buf_puts(&out, *c == '\n' ? "$" : *c == '\r' ? "^" : (char[]){*c, '\0'});
        }
        myr_buf_puts(&out, "\n  ");
        read_text(&out, texts[i]);
    }
    assert_kept("fit-log-lines.txt", &out);
}

/* Of a name and of a number of timers there is a most; a longer name is none. */
static void names_of_timers_have_a_length(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_trainlog *log = test_calloc(1, sizeof(*log));
    char name[80];
    (void)state;
    memset(name, 'n', sizeof(name));
    for (int len = 62; len <= 65; len++) {
        myr_buf_printf(&text, "%.*s ....: %d\n", len, name, len);
        myr_buf_printf(&text, "m%.*s:\nrank 0: %d\n", len - 1, name, len);
    }
    myr_trainlog_init(log);
    myr_trainlog_feed(log, (struct myr_str){text.data, text.len});
    assert_true(myr_trainlog_finish(log, "f", NULL) < 0);
    assert_int_equal(log->timer_count, 4);
    size_t bytes = 0, by_rank = 0;
    for (uint32_t i = 0; i < 4; i++) {
        bytes += strlen(log->timers[i].name);
        by_rank += log->timers[i].name[0] == 'm';
    }
    assert_int_equal(bytes, 2 * (62 + 63));
    assert_int_equal(by_rank, 2);
    myr_trainlog_done(log);
    test_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_as_they_were),
        cmocka_unit_test(names_of_timers_have_a_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
