/*
 * The same layout file takes the same step time whoever asks: the search, a case with the layout
 * given (fit, goodput), and a placement that the scheduler makes on an empty cluster. Random
 * models, fabrics, batches and axes; equal means equal, to the last bit.
 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "myriad/fit.h"
#include "myriad/plan.h"
#include "myriad/sched.h"

struct fabric {
    uint32_t servers;
    const char *server, *net, *device;
};

/* With blocks that a part of the fabric does not fill, thin uplinks, pods, several planes. */
static const struct fabric fabrics[] = {
    {64, "h100-8gpu", "switch: mqm9790", "h100"},
    {40, "h100-8gpu", "switch: mqm9790", "h100"},
    {96, "h100-8gpu", "switch: mqm9790, tiers: 3", "h100"},
    {96, "h100-8gpu", "topology: clos, switch: mqm9790, oversubscription: 3", "h100"},
    {448, "h100-8gpu", "switch: mqm9790, oversubscription: [1, 7], islands: 2", "h100"},
    {64, "b300-8gpu", "switch: sn5600, topology: twin-planar", "b200"},
};
static const char *const models[] = {"llama3-8b", "llama3-70b", "gpt3-175b", "qwen3-30b-a3b",
                                     "qwen3-235b-a22b"};

static const char *const releases[] = {"NeMo 25.05", "Megatron-Bridge 25.09",
                                       "Megatron-Bridge 26.06"};

static char folder[] = "/tmp/myriad-agree-XXXXXX";
static char design_path[64], layout_path[64];

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(design_path, sizeof(design_path), "%s/design.myr", folder);
    snprintf(layout_path, sizeof(layout_path), "%s/layout.yaml", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(design_path);
    unlink(layout_path);
    return rmdir(folder);
}

/* Plans the fabric and writes its design. */
static void plan(const struct fabric *fabric)
{
    struct myr_arena arena;
    struct myr_catalog catalog = {};
    struct myr_spec spec;
    struct myr_design design;
    const struct myr_doc *doc;
    struct myr_err err = {};
    char text[512];
    snprintf(text, sizeof(text), "servers: %u\nserver: %s\nnetworks:\n  compute: {%s}\n",
             fabric->servers, fabric->server, fabric->net);
    myr_arena_init(&arena);
    if (myr_catalog_init(&catalog, &arena, &err) < 0 ||
        myr_doc_read_yaml(&arena, "spec", myr_str_from(text), &doc, &err) < 0 ||
        myr_spec_read(&arena, &catalog, doc, &spec, &err) < 0 ||
        myr_plan(&arena, &catalog, &spec, &design, &err) < 0 ||
        myr_design_write(&design, design_path, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    myr_catalog_done(&catalog);
    myr_arena_done(&arena);
}

static struct myr_case_question draw_question(struct myr_rng *rng, const struct fabric *fabric)
{
    struct myr_case_question q = myr_case_question_default();
    uint32_t nodes = 1U << myr_rng_below(rng, 6);
    while (nodes > fabric->servers) {
        nodes /= 2;
    }
    q.model = models[myr_rng_below(rng, MYR_ARRAY_COUNT(models))];
    q.device = fabric->device;
    q.design = design_path;
    q.gpus = 8 * (uint64_t)nodes;
    q.batch = q.gpus * (1 + myr_rng_below(rng, 4));
    q.top = 1;
    if (myr_rng_below(rng, 3) == 0) {
        q.tp = UINT64_C(1) << myr_rng_below(rng, 4);
    }
    if (myr_rng_below(rng, 4) == 0) {
        q.pp = UINT64_C(1) << myr_rng_below(rng, 3);
    }
    q.zero = myr_rng_below(rng, 4) == 0 ? (int)myr_rng_below(rng, 4) : -1;
    q.seq = myr_rng_below(rng, 4) == 0 ? 2048 : 0;
    q.software = myr_rng_below(rng, 2) ? releases[myr_rng_below(rng, 3)] : NULL;
    q.recipe = myr_rng_below(rng, 4) == 0 ? "cuda_graphs=none" : NULL;
    return q;
}

/* The nodes that the scheduler gives the layout on an empty cluster, in rank order. */
static void place_empty(const struct myr_case *it, const struct myr_layout *layout,
                        struct myr_arena *arena, uint32_t *ret)
{
    struct myr_place_shape shape = myr_place_shape_of(&it->design);
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_job_traffic traffic;
    uint32_t nodes = (uint32_t)(myr_layout_gpus(layout) / shape.gpus_per_node);
    struct myr_request request = {
        .nodes = nodes, .gpus_per_node = shape.gpus_per_node, .traffic = &traffic};
    struct myr_placement placement = {.gang.shares = MYR_ARENA_NEW(arena, struct myr_share, nodes)};
    struct myr_err err = {};
    if (myr_job_traffic_of(layout, &it->model, shape.gpus_per_node, arena, &traffic, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_true(myr_place_gang(placer, &request, &placement));
    assert_int_equal(placement.gang.count, nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        ret[i] = placement.gang.shares[i].node;
    }
    myr_placer_free(placer);
}

static void write_layout(const struct myr_layout *layout)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_layout_file_write(layout, "a random case", &buf);
    assert_int_equal(myr_file_write(layout_path, &buf, NULL), MYR_OK);
}

static double price_s(const struct myr_case *it, const struct myr_layout *layout,
                      const uint32_t *nodes, uint32_t count, struct myr_arena *arena)
{
    struct myr_fit_placement placement = {.nodes = nodes, .node_count = count};
    struct myr_case_price price;
    struct myr_err err = {};
    if (myr_case_price(it, layout, nodes ? &placement : NULL, arena, &price, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return price.cost.step_s;
}

/* As the verb asks, from the file: the step where nodes lie in order, which is the search's. */
static double placed_best_s(const struct myr_case_question *q, struct myr_arena *arena)
{
    MYR_CLEANUP(myr_place_answer_done) struct myr_place_answer answer = {};
    struct myr_place_question question = {.design = q->design,
                                          .layout = q->layout,
                                          .model = q->model,
                                          .device = q->device,
                                          .software = q->software,
                                          .recipe = q->recipe};
    struct myr_err err = {};
    if (myr_place_ask(&question, arena, &answer, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return answer.best_price.cost.step_s;
}

/* True when there was an answer to compare. */
static bool one_case(uint64_t number, struct myr_case_question q)
{
    struct myr_arena arena;
    struct myr_case it, given;
    struct myr_err err = {};
    struct myr_fit_answer *answer = myr_xcalloc(2, sizeof(*answer));
    myr_arena_init(&arena);
    bool found = myr_case_init(&it, &arena, &q, &err) == MYR_OK;
    found = found && myr_case_answer(&it, &arena, &answer[0], &err) == MYR_OK;
    if (found) {
        struct myr_fit_found best = answer[0].top[0];
        uint32_t count = (uint32_t)(myr_layout_gpus(&best.layout) / 8);
        uint32_t *nodes = MYR_ARENA_NEW(&arena, uint32_t, count);
        struct myr_case_question other = myr_case_question_default();
        write_layout(&best.layout);
        other.model = q.model;
        other.device = q.device;
        other.design = q.design;
        other.layout = layout_path;
        other.software = q.software;
        other.recipe = q.recipe;
        if (myr_case_init(&given, &arena, &other, &err) < 0 ||
            myr_case_answer(&given, &arena, &answer[1], &err) < 0) {
            fail_msg("case %llu: %s", (unsigned long long)number, err.message);
        }
        place_empty(&given, &given.layout, &arena, nodes);
        uint32_t *first = MYR_ARENA_NEW(&arena, uint32_t, count);
        for (uint32_t i = 0; i < count; i++) {
            first[i] = i;
        }
        const double steps[] = {answer[1].top[0].step_s,
                                placed_best_s(&other, &arena),
                                price_s(&it, &best.layout, NULL, 0, &arena),
                                price_s(&given, &given.layout, NULL, 0, &arena),
                                price_s(&given, &given.layout, first, count, &arena),
                                price_s(&given, &given.layout, nodes, count, &arena)};
        for (size_t i = 0; i < MYR_ARRAY_COUNT(steps); i++) {
            if (memcmp(&steps[i], &best.step_s, sizeof(best.step_s)) != 0) {
                fail_msg("case %llu, way %zu: %.17g s against %.17g s of the search",
                         (unsigned long long)number, i, steps[i], best.step_s);
            }
        }
        myr_case_done(&given);
        myr_case_done(&it);
    }
    free(answer);
    myr_arena_done(&arena);
    return found;
}

static void everybody_gives_a_layout_the_same_step(void **state)
{
    struct myr_rng rng;
    uint64_t compared = 0, cases = 0;
    (void)state;
    myr_rng_init(&rng, 7, 1);
    for (size_t f = 0; f < MYR_ARRAY_COUNT(fabrics); f++) {
        plan(&fabrics[f]);
        for (int i = 0; i < 25; i++) {
            cases++;
            compared += one_case(cases, draw_question(&rng, &fabrics[f]));
        }
    }
    printf("%llu of %llu cases have a layout\n", (unsigned long long)compared,
           (unsigned long long)cases);
    assert_true(compared * 2 > cases);
}

/* Ranks that lie apart take no less, and on thin uplinks more. */
static void a_scattered_placement_is_slower(void **state)
{
    struct myr_arena arena;
    struct myr_case it;
    struct myr_fit_answer *answer = myr_xcalloc(1, sizeof(*answer));
    struct myr_case_question q = myr_case_question_default();
    uint32_t apart[16], near[16];
    (void)state;
    plan(&fabrics[3]);
    myr_arena_init(&arena);
    q.model = "llama3-70b";
    q.device = "h100";
    q.design = design_path;
    q.gpus = 128;
    q.batch = 128;
    assert_int_equal(myr_case_init(&it, &arena, &q, NULL), MYR_OK);
    assert_int_equal(myr_case_answer(&it, &arena, answer, NULL), MYR_OK);
    for (uint32_t i = 0; i < 16; i++) {
        near[i] = i;
        apart[i] = i * 37 % 96;
    }
    const struct myr_layout *best = &answer->top[0].layout;
    double together_s = price_s(&it, best, near, 16, &arena);
    assert_true(together_s == answer->top[0].step_s);
    assert_true(price_s(&it, best, apart, 16, &arena) > together_s);
    struct myr_case_price price;
    struct myr_fit_placement bad = {.nodes = (const uint32_t[]){96}, .node_count = 1};
    struct myr_err err = {};
    assert_int_equal(myr_case_price(&it, best, &bad, &arena, &price, &err), MYR_EINVAL);
    assert_string_equal(err.message, "the placement has node 96; nodes of the design are 0 to 95");
    myr_case_done(&it);
    free(answer);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_gives_a_layout_the_same_step),
        cmocka_unit_test(a_scattered_placement_is_slower),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
