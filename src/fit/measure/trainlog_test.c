#include "myriad/fit/trainlog.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "myriad/fit/compare.h"

static void read_text(struct myr_trainlog *log, const char *text)
{
    struct myr_err err = {};
    myr_trainlog_init(log);
    myr_trainlog_feed(log, myr_str_from(text));
    if (myr_trainlog_finish(log, "log", &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9 + 1e-6 * fabs(b);
}

/* An excerpt of a published run, broken over lines as it was printed. */
static void a_published_excerpt_is_read_whole(void **state)
{
    (void)state;
    struct myr_trainlog log;
    struct myr_err err = {};
    myr_trainlog_init(&log);
    assert_int_equal(
        myr_trainlog_read(&log, MYR_SOURCE_DIR "/tests/data/megatron-130b-1024.log", &err), MYR_OK);
    assert_int_equal(log.elapsed_s.values.count, 1);
    assert_true(near(log.elapsed_s.values.items[0], 10.8004));
    assert_true(near(log.batch, 2048));
    assert_true(near(myr_samples_typical(&log.tflops), 588.16));
    assert_int_equal(log.timer_count, 20);
    const struct myr_log_timer *backward = myr_trainlog_timer(&log, "backward-compute");
    assert_non_null(backward);
    assert_true(near(backward->least.values.items[0], 5.66703));
    assert_true(near(backward->most.values.items[0], 6.09776));
    assert_true(near(myr_trainlog_seconds(&log, "optimizer"), (0.09321 + 0.09708) / 2));
    assert_true(myr_trainlog_seconds(&log, "no-such-timer") == 0);
    myr_trainlog_done(&log);
}

static void launchers_and_releases_write_differently(void **state)
{
    (void)state;
    struct myr_trainlog log;
    read_text(&log,
              "[default7]: [2024-01-01 10:00:00] iteration       10/   500 | consumed samples: 5 | "
              "elapsed time per iteration (ms): 2000.0 | throughput per GPU (TFLOP/s/GPU): 410.5 | "
              "learning rate: 1E-4 | global batch size:   256 | lm loss: 2.1E+00 |\r\n"
              "7: (min, max) time across ranks (ms):\r\n"
              "7:     forward-compute ................................: (700.00, 800.00)\r\n"
              "max time across ranks (ms):\n"
              "    backward-compute ...............................: 1100.50\n"
              "time (ms) | optimizer: 12.5 | batch-generator: 3\n"
              "times across ranks (ms):\n"
              "  all-grads-sync:\n"
              "     rank  0: 30.0\n"
              "     rank  1: 50.0\n"
              "     rank  2: 40.0\n"
              "done\n");
    assert_true(near(myr_samples_typical(&log.elapsed_s), 2));
    assert_true(near(myr_samples_typical(&log.tflops), 410.5));
    assert_true(near(log.batch, 256));
    assert_true(near(myr_trainlog_seconds(&log, "forward-compute"), 0.75));
    assert_true(near(myr_trainlog_seconds(&log, "backward-compute"), 1.1005));
    assert_true(near(myr_trainlog_seconds(&log, "optimizer"), 0.0125));
    assert_true(near(myr_trainlog_seconds(&log, "all-grads-sync"), 0.040));
    myr_trainlog_done(&log);
}

static void arguments_fix_the_question_and_the_model(void **state)
{
    (void)state;
    struct myr_trainlog log;
    struct myr_model model;
    struct myr_err err = {};
    struct myr_fit_query query = myr_fit_query_default();
    read_text(&log, "------------------------ arguments ------------------------\n"
                    "  context_parallel_size ........................... 1\n"
                    "  data_parallel_size .............................. 16\n"
                    "  ffn_hidden_size ................................. 28672\n"
                    "  fp8 ............................................. hybrid\n"
                    "  global_batch_size ............................... 512\n"
                    "  group_query_attention ........................... True\n"
                    "  hidden_size ..................................... 8192\n"
                    "  kv_channels ..................................... 128\n"
                    "  micro_batch_size ................................ 1\n"
                    "  num_attention_heads ............................. 64\n"
                    "  num_experts ..................................... None\n"
                    "  num_layers ...................................... 80\n"
                    "  num_query_groups ................................ 8\n"
                    "  padded_vocab_size ............................... 128256\n"
                    "  pipeline_model_parallel_size .................... 4\n"
                    "  recompute_granularity ........................... selective\n"
                    "  seq_length ...................................... 8192\n"
                    "  sequence_parallel ............................... True\n"
                    "  swiglu .......................................... True\n"
                    "  tensor_model_parallel_size ...................... 4\n"
                    "  untie_embeddings_and_output_weights ............. True\n"
                    "  use_distributed_optimizer ....................... True\n"
                    "  virtual_pipeline_model_parallel_size ............ None\n"
                    "  world_size ...................................... 256\n"
                    "-------------------- end of arguments ---------------------\n"
                    "iteration 1/ 10 | elapsed time per iteration (ms): 5000 |\n");
    myr_trainlog_query(&log, &query);
    assert_int_equal(query.gpus, 256);
    assert_int_equal(query.tp, 4);
    assert_int_equal(query.pp, 4);
    assert_int_equal(query.vp, 1);
    assert_int_equal(query.dp, 16);
    assert_int_equal(query.batch, 512);
    assert_int_equal(query.seq_tokens, 8192);
    assert_int_equal(query.zero, 1);
    assert_int_equal(query.recompute, MYR_RECOMPUTE_SELECTIVE);
    assert_int_equal(query.sequence_parallel, 1);
    assert_int_equal(query.precision, MYR_PRECISION_FP8);
    assert_int_equal(myr_trainlog_model(&log, &model, &err), MYR_OK);
    double billion = (double)myr_model_params(&model).total / 1e9;
    assert_true(billion > 70 && billion < 71); /* it is a 70B */
    /* What the user fixed stays. */
    query = myr_fit_query_default();
    query.tp = 8;
    myr_trainlog_query(&log, &query);
    assert_int_equal(query.tp, 8);
    myr_trainlog_done(&log);
}

/* The arguments of a DeepSeek-V3 run, as the trainer prints them. */
static void latent_attention_and_experts_of_some_layers_are_read(void **state)
{
    (void)state;
    static const char arguments[] = "  num_layers ........ 6\n"
                                    "  hidden_size ....... 512\n"
                                    "  num_attention_heads ... 8\n"
                                    "  ffn_hidden_size ... 2048\n"
                                    "  padded_vocab_size ... 1024\n"
                                    "  num_experts ....... 16\n"
                                    "  moe_router_topk ... 4\n"
                                    "  moe_ffn_hidden_size ... 256\n"
                                    "  moe_shared_expert_intermediate_size ... 512\n"
                                    "  multi_latent_attention ... True\n"
                                    "  q_lora_rank ... None\n"
                                    "  kv_lora_rank ... 64\n"
                                    "  mtp_num_layers ... 1\n"
                                    "  fp8 ... e4m3\n"
                                    "  fp8_recipe ... mxfp8\n"
                                    "  use_megatron_fsdp ... True\n"
                                    "  data_parallel_sharding_strategy ... optim_grads\n"
                                    "  use_distributed_optimizer ... True\n"
                                    "iteration 1/ 9 | elapsed time per iteration (ms): 1 |\n";
    struct myr_trainlog log;
    struct myr_model model;
    struct myr_err err = {};
    struct myr_fit_query query = myr_fit_query_default();
    read_text(&log, arguments);
    myr_trainlog_feed(&log, MYR_STR("  moe_layer_freq ... [0, 0, 1, 1, 1, 1]\n"));
    assert_int_equal(myr_trainlog_model(&log, &model, &err), MYR_OK);
    assert_int_equal(myr_model_moe_layers(&model, 0, 6), 4);
    assert_int_equal(model.moe.first_dense, 2);
    assert_int_equal(model.moe.shared_hidden, 512);
    assert_int_equal(model.ffn_hidden, 2048);
    assert_int_equal(model.mla.kv_rank, 64);
    assert_int_equal(model.mla.q_rank, 0);
    assert_int_equal(model.mtp_count, 1);
    myr_trainlog_query(&log, &query);
    assert_int_equal(query.precision, MYR_PRECISION_MXFP8);
    assert_int_equal(query.zero, 2);
    myr_trainlog_feed(&log, MYR_STR("  moe_layer_freq ... [0, 1, 0, 1, 1, 1]\n"));
    assert_int_equal(myr_trainlog_model(&log, &model, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "moe_layer_freq"));
    myr_trainlog_done(&log);
}

static void only_the_last_size_of_a_growing_batch_counts(void **state)
{
    (void)state;
    struct myr_trainlog log;
    read_text(&log,
              "iteration 1/ 9 | elapsed time per iteration (ms): 100 | global batch size: 8 |\n"
              "iteration 2/ 9 | elapsed time per iteration (ms): 100 | global batch size: 8 |\n"
              "  optimizer ....: (1.00, 2.00)\n"
              "iteration 3/ 9 | elapsed time per iteration (ms): 300 | global batch size: 24 |\n");
    assert_int_equal(log.elapsed_s.values.count, 1);
    assert_true(myr_samples_typical(&log.elapsed_s) == 0.3);
    assert_true(myr_trainlog_seconds(&log, "optimizer") == 0);
    assert_true(log.batch == 24);
    myr_trainlog_done(&log);
    read_text(&log, "Training epoch 0, iteration 9/99 | lr: 1e-5 | global_batch_size: 128 | "
                    "global_step: 9 | train_step_timing in s: 14.6 | consumed_samples: 1280\n");
    assert_true(myr_samples_typical(&log.elapsed_s) == 14.6 && log.batch == 128);
    myr_trainlog_done(&log);
}

static void the_first_iterations_do_not_count(void **state)
{
    (void)state;
    struct myr_trainlog log;
    struct myr_buf buf = {};
    for (int i = 0; i < 9; i++) {
        myr_buf_printf(&buf, "iteration %d/ 9 | elapsed time per iteration (ms): %d |\n", i,
                       i < 2 ? 60000 : 1000 + i);
    }
    read_text(&log, buf.data);
    assert_int_equal(log.elapsed_s.values.count, 9);
    assert_true(near(myr_samples_typical(&log.elapsed_s), 1.005));
    myr_trainlog_done(&log);
    myr_buf_done(&buf);
}

static void pieces_of_any_size_give_the_same(void **state)
{
    (void)state;
    struct myr_buf file = {};
    struct myr_err err = {};
    struct myr_trainlog whole;
    assert_int_equal(
        myr_file_read(MYR_SOURCE_DIR "/tests/data/megatron-130b-2048.log", 1 << 20, &file, &err),
        MYR_OK);
    myr_trainlog_init(&whole);
    myr_trainlog_feed(&whole, (struct myr_str){file.data, file.len});
    assert_int_equal(myr_trainlog_finish(&whole, "f", &err), MYR_OK);
    for (uint32_t seed = 1; seed <= 50; seed++) {
        struct myr_trainlog log;
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        myr_trainlog_init(&log);
        for (size_t at = 0; at < file.len;) {
            size_t piece = 1 + myr_rng_below(&rng, seed * 3);
            piece = piece < file.len - at ? piece : file.len - at;
            myr_trainlog_feed(&log, (struct myr_str){file.data + at, piece});
            at += piece;
        }
        assert_int_equal(myr_trainlog_finish(&log, "f", &err), MYR_OK);
        if (log.timer_count != whole.timer_count || log.lines != whole.lines ||
            !near(myr_trainlog_seconds(&log, "optimizer"),
                  myr_trainlog_seconds(&whole, "optimizer"))) {
            fail_msg("seed %u", seed);
        }
        myr_trainlog_done(&log);
    }
    myr_trainlog_done(&whole);
    myr_buf_done(&file);
}

static void nonsense_is_passed_over(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\n\n\n",
        "iteration",
        "iteration 5/ 10",
        "iteration 5/ 10 | elapsed time per iteration (ms): -3 |",
        "iteration 5/ 10 | elapsed time per iteration (ms): nan |",
        "iteration 5/ 10 | elapsed time per iteration (ms): 1e300 |",
        "iteration 5/ 10 | elapsed time per iteration (ms): 0 |",
        "iteration x/ 10 | elapsed time per iteration (ms): 5 |",
        "elapsed time per iteration (ms): 5",
        "....: (1, 2)\n ...\n ....:\nforward ....: (3, 1)\nforward ....: (1 2)\nx ....: (",
        "rank 3: 5\nname:\nrank 3: x\n:\n::\n",
        "\xff\xfe\x01 | \x80 iteration",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_trainlog log;
        struct myr_err err = {};
        myr_trainlog_init(&log);
        myr_trainlog_feed(&log, myr_str_from(texts[i]));
        assert_int_equal(myr_trainlog_finish(&log, "bad.log", &err), MYR_EINVAL);
        assert_true(strncmp(err.message, "bad.log: no 'elapsed", 20) == 0);
        assert_true(log.elapsed_s.values.count == 0);
        myr_trainlog_done(&log);
    }
    struct myr_err err = {};
    struct myr_trainlog log;
    myr_trainlog_init(&log);
    assert_true(myr_trainlog_read(&log, "/nowhere/at/all", &err) < 0);
    assert_non_null(strstr(err.message, "/nowhere/at/all"));
    myr_trainlog_done(&log);
}

/* Lines and lists without end cost a bounded amount of memory. */
static void floods_are_bounded(void **state)
{
    (void)state;
    struct myr_trainlog log;
    struct myr_err err = {};
    char block[4096];
    memset(block, 'a', sizeof(block));
    myr_trainlog_init(&log);
    for (int i = 0; i < 1000; i++) {
        myr_trainlog_feed(&log, (struct myr_str){block, sizeof(block)});
    }
    assert_true(log.line.capacity < 65536);
    myr_trainlog_feed(&log, MYR_STR("\niteration 1/ 2 | elapsed time per iteration (ms): 7 |\n"));
    for (int i = 0; i < 500; i++) {
        struct myr_buf buf = {};
        myr_buf_printf(&buf, "timer-%d .....: 1.0\n", i);
        myr_trainlog_feed(&log, (struct myr_str){buf.data, buf.len});
        myr_buf_done(&buf);
    }
    assert_int_equal(log.truncated, 1);
    assert_int_equal(log.timer_count, MYR_LOG_TIMERS_MAX);
    assert_int_equal(myr_trainlog_finish(&log, "f", &err), MYR_OK);
    myr_trainlog_done(&log);
}

/* ---- against the model ---- */

struct fixture {
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_model model;
    struct myr_fit_case it;
    struct myr_layout layout;
};

static void set_up(struct fixture *f)
{
    struct myr_err err = {};
    bool exact;
    myr_arena_init(&f->arena);
    assert_int_equal(myr_profiles_init(&f->profiles, &f->arena, &err), MYR_OK);
    assert_int_equal(myr_model_find(&f->arena, "seed-130b", &f->model, &err), MYR_OK);
    f->it = (struct myr_fit_case){.model = &f->model, .constants = f->profiles.constants};
    assert_int_equal(myr_profiles_device(&f->profiles, MYR_STR("h100"), &f->it.device, &err),
                     MYR_OK);
    assert_int_equal(
        myr_profiles_stack(&f->profiles, MYR_STR("NeMo 25.05"), &f->it.stack, &exact, &err),
        MYR_OK);
    f->layout = myr_layout_default();
    f->layout.tp = 8;
    f->layout.pp = 8;
    f->layout.dp = 16;
    f->layout.global_batch = 2048;
    f->layout.sequence_parallel = true;
    assert_int_equal(myr_layout_check(&f->layout, &f->model, 0, &err), MYR_OK);
}

/* The log of a machine that does what the model says, but for one factor on one phase. */
static void write_log(const struct myr_comparison *c, enum myr_phase_id slow, double factor,
                      struct myr_buf *buf)
{
    double ms[MYR_STEP_PHASE_COUNT], all = 0;
    for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
        ms[i] = 1e3 * c->phases[i].predicted_s * (i == (int)slow ? factor : 1);
        all += ms[i];
    }
    myr_buf_printf(buf, "iteration 5/ 9 | elapsed time per iteration (ms): %.6f |\n", all);
    myr_buf_printf(buf, "  forward-backward ....: (%.6f, %.6f)\n",
                   ms[MYR_STEP_FORWARD] + ms[MYR_STEP_BACKWARD] + ms[MYR_STEP_PIPELINE],
                   ms[MYR_STEP_FORWARD] + ms[MYR_STEP_BACKWARD] + ms[MYR_STEP_PIPELINE]);
    myr_buf_printf(buf, "  forward-compute ....: (%.6f, %.6f)\n", 0.9 * ms[MYR_STEP_FORWARD],
                   1.1 * ms[MYR_STEP_FORWARD]);
    myr_buf_printf(buf, "  backward-compute ....: %.6f\n", ms[MYR_STEP_BACKWARD]);
    myr_buf_printf(buf, "  all-grads-sync ....: %.6f\n", 0.6 * ms[MYR_STEP_EXCHANGE]);
    myr_buf_printf(buf, "  params-all-gather ....: %.6f\n", 0.4 * ms[MYR_STEP_EXCHANGE]);
    myr_buf_printf(buf, "  optimizer ....: %.6f\n",
                   ms[MYR_STEP_OPTIMISER] + 0.4 * ms[MYR_STEP_EXCHANGE]);
}

/* A device never ends: it was read for ever. */
static void what_has_no_lines_is_no_log(void **state)
{
    (void)state;
    char path[] = "/tmp/myr-log-XXXXXX";
    struct myr_trainlog log;
    struct myr_err err = {};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)MYR_LOG_ONE_LINE_MAX + (1 << 20)), 0);
    myr_trainlog_init(&log);
    assert_int_equal(myr_trainlog_read(&log, path, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, ":1:1: looks like binary data; the log of a training"));
    myr_trainlog_done(&log);
    /* What begins as text is read on. */
    char letters[1 << 15];
    memset(letters, 'x', sizeof(letters));
    assert_int_equal(pwrite(fd, letters, sizeof(letters), 0), sizeof(letters));
    myr_trainlog_init(&log);
    assert_int_equal(myr_trainlog_read(&log, path, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "no end of a line in 67108864 bytes"));
    myr_trainlog_done(&log);
    /* As long, but of lines: read to its end. */
    static const char row[] = "\n iteration 1/ 2 | elapsed time per iteration (ms): 1500 |\n";
    for (off_t at = 1 << 24; at <= (off_t)MYR_LOG_ONE_LINE_MAX; at += 1 << 24) {
        assert_int_equal(pwrite(fd, row, sizeof(row) - 1, at), sizeof(row) - 1);
    }
    myr_trainlog_init(&log);
    if (myr_trainlog_read(&log, path, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(log.elapsed_s.values.count, 4);
    myr_trainlog_done(&log);
    close(fd);
    unlink(path);
}

static void the_phase_that_differs_is_named(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_comparison shape, found;
    struct myr_trainlog log;
    set_up(&f);
    read_text(&log, "iteration 1/ 2 | elapsed time per iteration (ms): 1 |\n");
    myr_compare(&f.it, &f.layout, &log, &shape);
    assert_false(shape.has_timers);
    assert_int_equal(shape.worst, MYR_STEP_REST);
    assert_null(shape.cause);
    for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
        assert_false(shape.phases[i].measured); /* the rest is not the step: nothing is known */
    }
    double sum = 0;
    for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
        assert_true(shape.phases[i].predicted_s > 0);
        sum += shape.phases[i].predicted_s;
    }
    assert_true(near(sum, shape.cost.step_s));
    myr_trainlog_done(&log);
    for (int slow = 0; slow < MYR_STEP_PHASE_COUNT; slow++) {
        for (int up = 0; up < 2; up++) {
            struct myr_buf buf = {};
            write_log(&shape, (enum myr_phase_id)slow, up ? 1.5 : 0.6, &buf);
            read_text(&log, buf.data);
            myr_compare(&f.it, &f.layout, &log, &found);
            if ((int)found.worst != slow || !found.cause) {
                fail_msg("%s disturbed, %s named", myr_step_phase_name((enum myr_phase_id)slow),
                         myr_step_phase_name(found.worst));
            }
            double gap = 0;
            for (int i = 0; i < MYR_STEP_PHASE_COUNT; i++) {
                gap += found.phases[i].measured_s - found.phases[i].predicted_s;
            }
            assert_true(fabs(gap - (found.measured_s - found.cost.step_s)) < 1e-4);
            myr_trainlog_done(&log);
            myr_buf_done(&buf);
        }
    }
    myr_arena_done(&f.arena);
}

/* Whole or line by line, long or short: a profiler's trace is told for what it is. */
static void a_profilers_trace_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"ts\": 1, \"dur\": 2}]}",
        "{\n  \"deviceProperties\": [\n  ],\n  \"traceEvents\": [\n  {\"ph\": \"X\"}\n]}\n",
        "{\"schemaVersion\": 1,\n\"distributedInfo\": {\"rank\": 0}",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_trainlog log;
        struct myr_err err = {};
        myr_trainlog_init(&log);
        myr_trainlog_feed(&log, myr_str_from(texts[i]));
        assert_int_equal(myr_trainlog_finish(&log, "rank0.json", &err), MYR_EINVAL);
        assert_string_equal(err.message, "rank0.json: a trace of PyTorch's profiler (Kineto), "
                                         "which is not read; the log of a trainer is expected");
        myr_trainlog_done(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profilers_trace_is_refused_by_name),
        cmocka_unit_test(a_published_excerpt_is_read_whole),
        cmocka_unit_test(launchers_and_releases_write_differently),
        cmocka_unit_test(arguments_fix_the_question_and_the_model),
        cmocka_unit_test(latent_attention_and_experts_of_some_layers_are_read),
        cmocka_unit_test(only_the_last_size_of_a_growing_batch_counts),
        cmocka_unit_test(the_first_iterations_do_not_count),
        cmocka_unit_test(pieces_of_any_size_give_the_same),
        cmocka_unit_test(nonsense_is_passed_over),
        cmocka_unit_test(floods_are_bounded),
        cmocka_unit_test(what_has_no_lines_is_no_log),
        cmocka_unit_test(the_phase_that_differs_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
