#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sim/compare.h"

/* The three kinds of result files, read: every figure with its name, or what is wrong and where. */

static void put_results(struct myr_buf *out, const char *text)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_results_done) struct myr_results results = {};
    struct myr_err err = {};
    myr_arena_init(&arena);
    myr_buf_printf(out, "%s\n", text);
    if (myr_results_parse(&results, &arena, "file", myr_str_from(text), &err) < 0) {
        myr_buf_printf(out, "  refused: %s\n", err.message);
        return;
    }
    myr_buf_printf(out, "  %s\n", myr_results_kinds[results.kind]);
    for (size_t i = 0; i < results.figures.count; i++) {
        const struct myr_result_figure *figure = &results.figures.items[i];
        myr_buf_printf(out, "  %s | %s | %s | %.17g\n", myr_result_groups[figure->group],
                       figure->of, figure->name, figure->value);
    }
}

#define JOB                                                                         \
    "{\"workload\":\"alltoall:1MB\",\"end_us\":5,\"alone_us\":4,\"slowdown\":1.25," \
    "\"bound_us\":3,\"collective\":{\"algbw_gbytes_per_s\":2.5,\"busbw_gbytes_per_s\":7}}"
#define HEAD  "task,from,to,bytes,start_us,end_us,bottleneck\n"
#define FLOWS "task,from,to,bytes,start_us,bottleneck,end_us\n"

static void results_are_read_by_their_kind_and_refused_by_their_place(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* Every figure of an answer, jobs of one name twice. */
        "{\"schema\":\"myriad.sim\",\"sim_time_us\":10,\"flows\":3,\"fct_us\":{\"mean\":1,"
        "\"p50\":2,\"p99\":3,\"max\":4},\"bounds_us\":{\"best\":0.5},\"rate\":{\"mean\":0.25,"
        "\"min\":0.125},\"link_load\":{\"mean\":0.75,\"max\":1},\"jobs\":[" JOB "," JOB "," JOB
        "]}",
        /* What is not there, or null, is no figure. */
        " \n {\"schema\":\"myriad.sim\",\"sim_time_us\":null,\"fct_us\":{\"p50\":2},"
        "\"bounds_us\":null,\"jobs\":[{\"workload\":\"x\",\"collective\":null}]}",
        "{\"schema\":\"myriad.sim\",\"jobs\":[]}",
        "{}",
        "{\"schema\":5,\"jobs\":[]}",
        "{\"schema\":\"myriad.plan\",\"jobs\":[]}",
        "{\"schema\":\"0123456789012345678901234567890123456789X\",\"jobs\":[]}",
        "{\"schema\":\"myriad.sim\"}",
        "{\"schema\":\"myriad.sim\",\"jobs\":{}}",
        "{\"schema\":\"myriad.sim\",\n\"jobs\":[7]}",
        "{\"schema\":\"myriad.sim\",\n\"jobs\":[[]]}",
        "{\"schema\":\"myriad.sim\",\n\"jobs\":[{}]}",
        "{\"schema\":\"myriad.sim\",\n\"jobs\":[{\"workload\":[]}]}",
        "{\"schema\":\"myriad.sim\",\n\"jobs\":[{\"workload\":\"x\",\"end_us\":\"late\"}]}",
        "{\"schema\":\"myriad.sim\",\n\"jobs\":[{\"workload\":\"x\",\"collective\":"
        "{\"busbw_gbytes_per_s\":[]}}]}",
        "{\"schema\":\"myriad.sim\",\n\"jobs\":[],\"flows\":\"many\"}",
        "{\"schema\":\"myriad.sim\",\n\"jobs\":[],\"link_load\":{\"max\":{}}}",
        "{\"schema\"",
        /* Flows: the same ends and bytes are numbered, and percentiles stand behind them. */
        "task,from,to,bytes,start_us,end_us,bottleneck\n0,gpu1,gpu2,100,1,3.5,link\n"
        "1,gpu1,gpu2,100,0,4,link\n2,gpu2,gpu1,100,0,1,\n3,gpu1,gpu2,101,5,5,\n"
        "4,gpu1,gpu2,100,0,9,\n",
        HEAD,
        HEAD "0,a,b,100,1\n",
        HEAD "0,a,b,100,1,2,c,d\n",
        HEAD "0,a,b,100,soon,2,c\n",
        HEAD "0,a,b,100,1,later,c\n",
        FLOWS "0,a,b,100,1,2,c\n",
        "task,from,to,bytes,start_us,end_us\n",
        "flow,from,to,bytes,start_us,end_us,bottleneck\n",
        /* Points: known by settings and workload; figures are some columns behind the status. */
        "point,replica,nodes,gbps,status,workload,end_us,other,busbw_gbytes_per_s,fct_mean_us,"
        "fct_p50_us,fct_p99_us,fct_max_us\n0,0,4,400,ok,ring,10,11,12,13,14,15,16\n"
        "1,1,8,400,ok,ring,20,x,,23,,25,26\n2,2,4,400,ok,ring,30,31,32,33,34,35,36\n"
        "3,3,4,400,failed,tree,,,,,,,\n",
        "point,replica,end_us,status,workload\n0,0,7,ok,ring\n",
        "point,status,workload,end_us\n0,ok,ring,5\n1,ok,ring,6\n",
        "point,replica,status,workload,end_us\n0,0,ok,ring\n",
        "point,replica,status,workload,end_us\n0,0,ok,ring,5,6\n",
        "point,replica,status,workload,end_us\n0,0,ok,ring,soon\n",
        "point,replica,status\n",
        "point,replica,workload\n",
        "point,status\n",
        "point,status,workload\n",
        "points,status,workload\n",
        "",
        "\n",
        "[]",
        "words\n",
    };
    struct myr_buf out = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        put_results(&out, texts[i]);
    }
    assert_kept("sim-results.txt", &out);
    myr_buf_done(&out);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* The least value that so many of a hundred are not above, found by counting. */
static double naive_percentile(const double *values, uint32_t count, uint32_t percent)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t within = 0;
        for (uint32_t k = 0; k < count; k++) {
            within += values[k] <= values[i];
        }
        if (within * 100 >= percent * count) {
            return values[i];
        }
    }
    return values[count - 1];
}

static void percentiles_of_flows_are_those_of_counting(void **state)
{
    (void)state;
    enum { MOST = 205 };
    static const uint32_t percents[] = {50, 90, 99, 100};
    struct myr_rng rng;
    myr_rng_init(&rng, 5150, 0);
    for (uint32_t count = 1; count <= MOST; count += count < 12 ? 1 : 1 + myr_rng_below(&rng, 9)) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        MYR_CLEANUP(myr_results_done) struct myr_results results = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        double values[MOST], sum = 0;
        struct myr_err err = {};
        myr_arena_init(&arena);
        myr_buf_printf(&text, HEAD);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t start = myr_rng_below(&rng, 1000), took = myr_rng_below(&rng, 300);
            myr_buf_printf(&text, "%u,a,b,%u,%u,%u,\n", i, i, start, start + took);
            values[i] = took;
            sum += took;
        }
        struct myr_str said = {text.data, text.len};
        assert_int_equal(myr_results_parse(&results, &arena, "file", said, &err), MYR_OK);
        assert_int_equal(results.figures.count, count + 5);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(results.figures.items[i].value == values[i]);
        }
        qsort(values, count, sizeof(*values), by_value);
        assert_true(results.figures.items[count].value == sum / count);
        for (uint32_t i = 0; i < MYR_ARRAY_COUNT(percents); i++) {
            double got = results.figures.items[count + 1 + i].value;
            if (got != naive_percentile(values, count, percents[i])) {
                fail_msg("%u flows, %u %%: %g", count, percents[i], got);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_read_by_their_kind_and_refused_by_their_place),
        cmocka_unit_test(percentiles_of_flows_are_those_of_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
