/*
 * Placing questions on planned designs: what an elastic gang gets, what its step takes, what is
 * refused. The planner makes the designs, which is why this does not lie beside the scheduler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/plan.h"
#include "myriad/sched.h"
#include "myriad/text.h"

enum { NODES = 96, GPUS = 8, CASES = 400, PRICED = 60 };

static char folder[] = "/tmp/myr-place-XXXXXX";
static char design_path[64], rack_path[64], state_path[64], layout_path[64];

static void write_text(const char *path, const char *text)
{
    struct myr_err err = {};
    struct myr_buf buf = {};
    myr_buf_puts(&buf, text);
    assert_int_equal(myr_file_write(path, &buf, &err), MYR_OK);
    myr_buf_done(&buf);
}

static const char spec_text[] = "servers: 96\nserver: h100-8gpu\n"
                                "networks: {compute: {switch: mqm9790, tiers: 3}}\n";

/* Racks of 72 GPUs in one scale-up domain, in nodes of 4. */
static const char rack_text[] = "servers: 4\nserver: gb200-nvl72\n"
                                "networks: {compute: {switch: mqm9790-ns2f}}\n";

static int plan_design(const char *path, const char *text, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    struct myr_design design;
    const struct myr_doc *doc;
    myr_arena_init(&arena);
    int rc = myr_catalog_init(&catalog, &arena, err);
    rc = rc < 0 ? rc : myr_doc_read_yaml(&arena, "spec", myr_str_from(text), &doc, err);
    rc = rc < 0 ? rc : myr_spec_read(&arena, &catalog, doc, &spec, err);
    rc = rc < 0 ? rc : myr_plan(&arena, &catalog, &spec, &design, err);
    return rc < 0 ? rc : myr_design_write(&design, path, err);
}

static int set_up(void **state)
{
    (void)state;
    struct myr_err err = {};
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(design_path, sizeof(design_path), "%s/design.myr", folder);
    snprintf(state_path, sizeof(state_path), "%s/state.csv", folder);
    snprintf(layout_path, sizeof(layout_path), "%s/layout.yaml", folder);
    snprintf(rack_path, sizeof(rack_path), "%s/rack.myr", folder);
    int rc = plan_design(design_path, spec_text, &err);
    rc = rc < 0 ? rc : plan_design(rack_path, rack_text, &err);
    if (rc < 0) {
        fprintf(stderr, "%s\n", err.message);
    }
    return rc;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(design_path);
    unlink(rack_path);
    unlink(state_path);
    unlink(layout_path);
    return rmdir(folder);
}

/* All nodes busy but the first 'free' of every leaf's worth of eight, up to 'most' in all. */
static void fill_cluster(uint32_t most)
{
    struct myr_buf text = {};
    struct myr_err err = {};
    uint32_t left = most;
    myr_buf_puts(&text, "node,job\n");
    for (uint32_t node = 0; node < NODES; node++) {
        if (node % 8 < 3 && left > 0) {
            left--;
            continue;
        }
        myr_buf_printf(&text, "%u,job%u\n", node, node / 4);
    }
    assert_int_equal(myr_file_write(state_path, &text, &err), MYR_OK);
    myr_buf_done(&text);
}

struct asked {
    struct myr_arena arena;
    struct myr_place_answer answer;
    struct myr_err err;
    int rc;
};

static struct asked *ask(const struct myr_place_question *question)
{
    struct asked *it = myr_xcalloc(1, sizeof(*it));
    myr_arena_init(&it->arena);
    it->rc = myr_place_ask(question, &it->arena, &it->answer, &it->err);
    return it;
}

static void forget(struct asked *it)
{
    if (it->rc == MYR_OK) {
        myr_place_answer_done(&it->answer);
    }
    myr_arena_done(&it->arena);
    free(it);
}

static void an_elastic_gang_that_its_layout_does_not_let_shrink_waits(void **state)
{
    (void)state;
    fill_cluster(5);
    struct asked *it = ask(&(struct myr_place_question){.design = design_path,
                                                        .state = state_path,
                                                        .nodes = 6,
                                                        .min_nodes = 4,
                                                        .tp = 8,
                                                        .pp = 1,
                                                        .ep = 6});
    assert_int_equal(it->rc, MYR_OK);
    assert_false(it->answer.placed);
    assert_int_equal(it->answer.request.nodes, 6);
    for (uint32_t i = 0; i < it->answer.why.change_count; i++) {
        assert_int_not_equal(it->answer.why.changes[i].kind, MYR_CHANGE_FEWER_NODES);
    }
    forget(it);
}

static void an_elastic_gang_takes_what_its_batch_allows(void **state)
{
    (void)state;
    static const struct {
        uint32_t batch, min, nodes; /* 0 nodes: not placed */
    } cases[] = {{0, 4, 7}, {24, 4, 6}, {16, 4, 4}, {16, 5, 0}, {8, 1, 4}, {8, 5, 0}};
    fill_cluster(7);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct asked *it = ask(&(struct myr_place_question){.design = design_path,
                                                            .state = state_path,
                                                            .nodes = 8,
                                                            .min_nodes = cases[i].min,
                                                            .tp = 8,
                                                            .batch = cases[i].batch});
        assert_int_equal(it->rc, MYR_OK);
        assert_int_equal(it->answer.placed, cases[i].nodes > 0);
        assert_int_equal(it->answer.request.nodes, cases[i].nodes ? cases[i].nodes : 8);
        assert_int_equal(it->answer.nodes_asked, 8);
        assert_int_equal(it->answer.layout.dp, it->answer.request.nodes);
        assert_int_equal(it->answer.placement.gang.count, cases[i].nodes);
        forget(it);
    }
}

/* The rules once more, by hand: axes fill the nodes, experts and batch divide. */
static bool is_allowed(const struct myr_place_question *u, uint32_t nodes)
{
    uint32_t replica = (uint32_t)(u->tp * u->pp * u->cp), gpus = nodes * (uint32_t)u->gpus_per_node;
    uint32_t dp = gpus / replica;
    return gpus % replica == 0 && dp > 0 && dp * u->cp % u->ep == 0 &&
           (!u->batch || u->batch % dp == 0);
}

static void elastic_gangs_get_the_most_nodes_that_are_allowed(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint64_t seed = 7;
    myr_rng_init(&rng, seed, 0);
    uint32_t shrunk = 0, refused = 0;
    for (uint32_t i = 0; i < CASES; i++) {
        static const uint32_t axes[] = {1, 1, 2, 3, 4, 6, 8}, batches[] = {0, 0, 12, 16, 24, 60};
        uint32_t room = 1 + myr_rng_below(&rng, 30);
        struct myr_place_question u = {.design = design_path, .state = state_path};
        u.nodes = 1 + myr_rng_below(&rng, 24);
        u.min_nodes = 1 + myr_rng_below(&rng, u.nodes < 8 ? (uint32_t)u.nodes : 8);
        u.gpus_per_node = myr_rng_below(&rng, 3) ? 8 : 4;
        u.tp = myr_rng_below(&rng, 2) ? u.gpus_per_node : 2;
        u.pp = axes[myr_rng_below(&rng, 7)];
        u.cp = 1 + myr_rng_below(&rng, 2);
        u.ep = axes[myr_rng_below(&rng, 7)];
        u.batch = batches[myr_rng_below(&rng, 6)];
        fill_cluster(room);
        struct asked *it = ask(&u);
        if (it->rc < 0) { /* the whole gang already breaks a rule */
            assert_int_equal(it->rc, MYR_EINVAL);
            refused++;
            forget(it);
            continue;
        }
        uint32_t want = (uint32_t)u.nodes;
        if (want > room) {
            for (want = room; want >= u.min_nodes && !is_allowed(&u, want); want--) {
            }
        }
        bool fits = want >= u.min_nodes || want == u.nodes;
        if (it->answer.placed != fits || (fits && it->answer.placement.gang.count != want)) {
            fail_msg("seed %llu, case %u: %u nodes placed, %u expected", (unsigned long long)seed,
                     i, it->answer.placement.gang.count, want);
        }
        shrunk += it->answer.placed && want < u.nodes;
        forget(it);
    }
    assert_true(shrunk > CASES / 50 && refused < CASES);
}

static void set_layout(const struct myr_layout *layout)
{
    struct myr_buf text = {};
    struct myr_err err = {};
    myr_layout_file_write(layout, "drawn", &text);
    assert_int_equal(myr_file_write(layout_path, &text, &err), MYR_OK);
    myr_buf_done(&text);
}

/* A layout that the model allows, from what fit finds best for random axes; false: there is none.
 */
static bool best_layout(const struct myr_case_question *question, struct myr_layout *ret)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_fit_answer best;
    myr_arena_init(&arena);
    struct myr_case *it = MYR_ARENA_ONE(&arena, struct myr_case);
    if (myr_case_init(it, &arena, question, NULL) < 0) {
        return false;
    }
    bool found = myr_case_answer(it, &arena, &best, NULL) == MYR_OK;
    if (found) {
        *ret = best.top[0].layout;
    }
    myr_case_done(it);
    return found;
}

static bool draw_layout(struct myr_rng *rng, const char *model, struct myr_layout *ret)
{
    static const uint32_t tps[] = {1, 2, 4, 8}, pps[] = {1, 2, 4, 8}, counts[] = {4, 8, 16, 32, 64};
    struct myr_case_question question = myr_case_question_default();
    question.model = model;
    question.design = design_path;
    question.gpus = (uint64_t)counts[myr_rng_below(rng, 5)] * GPUS;
    question.batch = question.gpus * (1 + myr_rng_below(rng, 3));
    question.tp = tps[myr_rng_below(rng, 4)];
    question.pp = pps[myr_rng_below(rng, 4)];
    question.zero = (int)myr_rng_below(rng, 4);
    return best_layout(&question, ret);
}

/* What 'fit' says of the layout's file. */
static double fit_step_s(const char *model, const char *design)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    struct myr_case_question question = myr_case_question_default();
    struct myr_fit_answer best;
    struct myr_err err = {};
    myr_arena_init(&arena);
    question.model = model;
    question.design = design;
    question.layout = layout_path;
    struct myr_case *it = MYR_ARENA_ONE(&arena, struct myr_case);
    assert_int_equal(myr_case_init(it, &arena, &question, &err), MYR_OK);
    assert_int_equal(myr_case_answer(it, &arena, &best, &err), MYR_OK);
    myr_case_done(it);
    return best.top[0].step_s;
}

static bool is_compact(const struct myr_gang *gang)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        if (gang->shares[i].node != i) {
            return false;
        }
    }
    return true;
}

static void a_compact_gang_takes_the_step_that_fit_says_to_the_last_bit(void **state)
{
    (void)state;
    static const char *const models[] = {"llama3-8b", "llama3-70b", "gpt3-175b", "mixtral-8x7b"};
    struct myr_rng rng;
    uint64_t seed = 11;
    uint32_t compact = 0, asked = 0;
    myr_rng_init(&rng, seed, 0);
    for (uint32_t i = 0; i < PRICED; i++) {
        const char *model = models[myr_rng_below(&rng, MYR_ARRAY_COUNT(models))];
        struct myr_layout layout;
        if (!draw_layout(&rng, model, &layout)) {
            continue;
        }
        set_layout(&layout);
        double step_s = fit_step_s(model, design_path);
        struct asked *it = ask(&(struct myr_place_question){
            .design = design_path, .layout = layout_path, .model = model});
        if (it->rc < 0) {
            fail_msg("seed %llu, case %u: %s", (unsigned long long)seed, i, it->err.message);
        }
        const struct myr_place_answer *a = &it->answer;
        assert_true(a->placed);
        assert_memory_equal(&a->best_price.cost.step_s, &step_s, sizeof(step_s));
        if (is_compact(&a->placement.gang)) {
            assert_memory_equal(&a->price.cost.step_s, &step_s, sizeof(step_s));
            compact++;
        } else {
            assert_true(a->price.cost.step_s >= step_s);
        }
        asked++;
        forget(it);
    }
    assert_true(asked > PRICED / 3 && compact > asked / 2);
}

/*
 * Any number of GPUs, and axes that no node's edge respects: what fit finds best has its nodes, and
 * takes the same time on them where they are the first of the fabric.
 */
static void whatever_fit_finds_has_its_place(void **state)
{
    (void)state;
    static const char *const models[] = {"llama3-8b", "gpt3-175b", "mixtral-8x7b", "llama3-70b"};
    struct myr_rng rng;
    uint64_t seed = 29;
    uint32_t asked = 0, cut = 0, part = 0;
    myr_rng_init(&rng, seed, 0);
    for (uint32_t i = 0; i < PRICED; i++) {
        struct myr_case_question q = myr_case_question_default();
        struct myr_layout l;
        q.model = models[myr_rng_below(&rng, MYR_ARRAY_COUNT(models))];
        q.design = myr_rng_below(&rng, 4) ? rack_path : design_path;
        q.gpus = (myr_rng_below(&rng, 2) ? 12 : 6) * (1 + (uint64_t)myr_rng_below(&rng, 23));
        q.batch = q.gpus * (1 + myr_rng_below(&rng, 3));
        q.tp = myr_rng_below(&rng, 2) ? 3 * (1 + (uint64_t)myr_rng_below(&rng, 2)) : 0;
        q.top = 1;
        if (!best_layout(&q, &l)) {
            continue;
        }
        set_layout(&l);
        double step_s = fit_step_s(q.model, q.design);
        struct asked *it = ask(&(struct myr_place_question){
            .design = q.design, .layout = layout_path, .model = q.model});
        if (it->rc < 0 || !it->answer.placed || !it->answer.price.memory.fits) {
            fail_msg("seed %llu, case %u, tp %u cp %u dp %u pp %u: %s", (unsigned long long)seed, i,
                     l.tp, l.cp, l.dp, l.pp, it->err.message);
        }
        const struct myr_place_answer *a = &it->answer;
        assert_int_equal(a->placement.gang.count * a->request.gpus_per_node, q.gpus);
        assert_memory_equal(&a->best_price.cost.step_s, &step_s, sizeof(step_s));
        asked++;
        cut += a->request.gpus_per_node % l.tp != 0 && l.tp % a->request.gpus_per_node != 0;
        part += a->request.gpus_per_node < a->shape.gpus_per_node;
        forget(it);
    }
    assert_true(asked > PRICED / 2 && cut > PRICED / 8 && part > PRICED / 8);
}

static void a_layout_beyond_memory_is_placed_and_said_not_to_fit(void **state)
{
    (void)state;
    struct asked *it = ask(&(struct myr_place_question){
        .design = design_path, .nodes = 1, .tp = 8, .model = "llama3-405b", .batch = 8});
    assert_int_equal(it->rc, MYR_OK);
    assert_true(it->answer.placed);
    assert_false(it->answer.price.memory.fits);
    forget(it);
}

static void axes_alone_are_completed_as_fit_completes_them(void **state)
{
    (void)state;
    struct asked *it = ask(&(struct myr_place_question){
        .design = design_path, .nodes = 32, .tp = 8, .pp = 4, .model = "llama3-70b", .batch = 256});
    assert_int_equal(it->rc, MYR_OK);
    set_layout(&it->answer.layout);
    double step_s = fit_step_s("llama3-70b", design_path);
    assert_memory_equal(&it->answer.best_price.cost.step_s, &step_s, sizeof(step_s));
    assert_true(it->answer.price.memory.fits);
    assert_int_equal(it->answer.layout.dp, 8);
    assert_int_equal(it->answer.layout.global_batch, 256);
    forget(it);
}

static void what_is_wrong_with_a_question_is_said_in_one_line(void **state)
{
    (void)state;
    const struct {
        struct myr_place_question question;
        const char *message;
    } cases[] = {
        {{.nodes = 4}, "give --design FILE"},
        {{.design = design_path}, "give --nodes N, or a layout with --dp"},
        {{.design = design_path, .nodes = 97}, "97 nodes, the design has 96"},
        {{.design = design_path, .nodes = 4, .gpus_per_node = 9},
         "--gpus-per-node 9, the design's nodes have 8"},
        {{.design = design_path, .nodes = 4, .tp = 8, .pp = 3},
         "gpus = 32 is no multiple of tp x cp x pp = 24"},
        {{.design = design_path, .nodes = 4, .tp = 8, .dp = 3},
         "the layout has 24 ranks, expected 32 on 4 nodes of 8 GPUs"},
        {{.design = design_path, .tp = 3, .dp = 3, .gpus_per_node = 8},
         "9 ranks cannot fill nodes of 8 GPUs"},
        {{.design = design_path, .tp = 2, .dp = 1, .gpus_per_node = 4},
         "2 ranks cannot fill nodes of 4 GPUs"},
        {{.design = design_path, .nodes = 1, .tp = 1, .dp = 1, .gpus_per_node = 8},
         "the layout has 1 rank, expected 8 on 1 node of 8 GPUs"},
        {{.design = design_path, .nodes = 4, .tp = 8, .ep = 3}, "ep 3 does not divide dp x cp = 4"},
        {{.design = design_path, .nodes = 4, .model = "llama3-8b"},
         "--model needs a layout: --layout, or --tp, --pp, --dp"},
        {{.design = design_path, .nodes = 4, .layout = "x", .tp = 8},
         "--layout and its axes are both given"},
        {{.design = design_path, .nodes = 4, .exclude = "3,x"},
         "--exclude:1:3: 'x' is no node or range, expected such as 3,7-9 below 96"},
        {{.design = design_path, .nodes = 4, .gpu_kind = "h800"},
         "--gpu-kind 'h800': no node has it, expected a column 'kind' in --state"},
        {{.design = design_path, .nodes = 4, .rack_max = 1, .state = state_path}, NULL},
    };
    write_text(state_path, "node,rack\n0,a\n1,a\n2,b\n3,b\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct asked *it = ask(&cases[i].question);
        if (!cases[i].message) {
            assert_int_equal(it->rc, MYR_OK);
            assert_true(it->answer.placed);
        } else if (it->rc >= 0 || strcmp(it->err.message, cases[i].message) != 0) {
            fail_msg("case %zu: '%s' instead of '%s'", i, it->err.message, cases[i].message);
        }
        forget(it);
    }
}

static void limits_bind_and_the_answer_says_why(void **state)
{
    (void)state;
    fill_cluster(12); /* three in each of four runs of eight nodes */
    struct myr_place_question question = {
        .design = design_path, .state = state_path, .nodes = 4, .hops = 1, .exclude = "0-7"};
    struct asked *it = ask(&question);
    assert_int_equal(it->rc, MYR_OK);
    assert_true(it->answer.placed); /* leaves are larger than eight */
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(it->answer.placement.gang.shares[i].node >= 8);
    }
    assert_true(it->answer.placement.cost.level <= MYR_LEVEL_LEAF);
    assert_true(it->answer.sentence_count >= 1);
    struct myr_buf svg = {};
    myr_place_draw(&it->answer, &svg);
    assert_non_null(strstr(svg.data, "4 nodes under 1 set of leaves in 1 pod"));
    assert_non_null(strstr(svg.data, "node/00008: ranks 0-7"));
    assert_non_null(strstr(svg.data, "0 of 8 GPUs free"));
    myr_buf_done(&svg);
    forget(it);
    question.nodes = 13;
    it = ask(&question);
    assert_int_equal(it->rc, MYR_OK);
    assert_false(it->answer.placed);
    assert_true(it->answer.why.change_count > 0 && it->answer.sentence_count > 2);
    forget(it);
}

/* Data parallelism is what is left; a batch that is not said keeps every stage busy. */
static void axes_without_a_model_are_completed_by_counting(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 96; i++) {
        struct myr_place_question question = {.design = design_path,
                                              .nodes = 1 + i % 6,
                                              .tp = i % 4 ? UINT64_C(1) << i % 4 : 0,
                                              .pp = i / 4 % 4,
                                              .cp = i / 16 % 3,
                                              .batch = i % 5 ? 0 : 640 + i};
        uint64_t tp = question.tp ? question.tp : 1, pp = question.pp ? question.pp : 1;
        uint64_t cp = question.cp ? question.cp : 1, gpus = question.nodes * GPUS;
        struct asked *it = ask(&question);
        if (!question.tp && !question.pp && !question.cp) {
            /* A batch alone is nobody's. */
            assert_int_equal(it->rc, question.batch ? MYR_EINVAL : MYR_OK);
            assert_true(it->rc < 0 || !it->answer.has_layout);
        } else if (gpus % (tp * pp * cp) != 0) {
            assert_int_equal(it->rc, MYR_EINVAL);
        } else {
            const struct myr_layout *l = &it->answer.layout;
            uint64_t dp = gpus / (tp * pp * cp);
            assert_true(it->rc == MYR_OK && it->answer.has_layout);
            assert_true(l->tp == tp && l->pp == pp && l->cp == cp && l->ep == 1 && l->dp == dp);
            assert_int_equal(l->sequence_parallel, tp > 1);
            assert_int_equal(l->global_batch, question.batch ? question.batch : 4 * dp * pp);
        }
        forget(it);
    }
}

/* Of every condition that a node may have: free, down, partly busy, busy. */
static void fill_all_conditions(void)
{
    struct myr_buf text = {};
    struct myr_err err = {};
    myr_buf_puts(&text, "node,job,gpus,state\n");
    for (uint32_t node = 0; node < NODES; node++) {
        const char *words[] = {",,", ",,down", "a,3,", "b,8,", ",,", ",,", "c,8,down"};
        myr_buf_printf(&text, "%u,%s\n", node, words[node % MYR_ARRAY_COUNT(words)]);
    }
    assert_int_equal(myr_file_write(state_path, &text, &err), MYR_OK);
    myr_buf_done(&text);
}

/* Whole, as a browser reads it: stages with and without frames, legends of few and many. */
static void pictures_of_gangs_are_drawn_as_they_were(void **state)
{
    (void)state;
    const struct myr_place_question rows[] = {
        {.design = design_path, .state = state_path, .nodes = 1},
        {.design = design_path, .state = state_path, .nodes = 2, .gpus_per_node = 3},
        {.design = design_path, .state = state_path, .nodes = 5},
        {.design = design_path, .state = state_path, .nodes = 6, .leaf_max = 3},
        {.design = design_path, .state = state_path, .nodes = 8, .tp = 8, .pp = 4},
        {.design = design_path, .state = state_path, .nodes = 8, .tp = 8, .pp = 8},
        {.design = design_path, .state = state_path, .nodes = 9, .tp = 8, .pp = 9},
        {.design = design_path, .state = state_path, .nodes = 2, .tp = 1, .pp = 16},
        {.design = design_path, .nodes = 18, .tp = 8, .pp = 18},
    };
    struct myr_buf all = {};
    fill_all_conditions();
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct asked *it = ask(&rows[i]);
        if (it->rc < 0 || !it->answer.placed) {
            myr_buf_printf(&all, "%zu: %s\n", i, it->rc < 0 ? it->err.message : "not placed");
        } else {
            myr_place_draw(&it->answer, &all);
        }
        forget(it);
    }
    assert_kept("place-pictures.txt", &all);
    myr_buf_done(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_elastic_gang_that_its_layout_does_not_let_shrink_waits),
        cmocka_unit_test(an_elastic_gang_takes_what_its_batch_allows),
        cmocka_unit_test(elastic_gangs_get_the_most_nodes_that_are_allowed),
        cmocka_unit_test(a_compact_gang_takes_the_step_that_fit_says_to_the_last_bit),
        cmocka_unit_test(whatever_fit_finds_has_its_place),
        cmocka_unit_test(a_layout_beyond_memory_is_placed_and_said_not_to_fit),
        cmocka_unit_test(axes_alone_are_completed_as_fit_completes_them),
        cmocka_unit_test(what_is_wrong_with_a_question_is_said_in_one_line),
        cmocka_unit_test(limits_bind_and_the_answer_says_why),
        cmocka_unit_test(axes_without_a_model_are_completed_by_counting),
        cmocka_unit_test(pictures_of_gangs_are_drawn_as_they_were),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
