/*
 * Bounds of the search, family by family and each for itself: whole searches look at few families
 * closely, and a bound that is wrong where the winner is not would stay unseen there. Each look at
 * a family says no less than the one before, and none says more than the best layout that visiting
 * every layout finds in it. How tight they are is kept (tests/kept/fit-bounds.txt): a bound that
 * says less is right, and a search that takes longer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "mixed/answers_test.h"
#include "search/drawn_test.h"
#include "search/visit.h"

enum { QUESTIONS = TEST_ROUNDS(32), SPACES = TEST_ROUNDS(64) };

/* What stands in the place of a family that has no layout. */
static const double none_s = 1e30;

static struct myr_fit_query draw_question(uint64_t seed, struct myr_model *model)
{
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 77);
    *model = small_model(&rng);
    model->tied = myr_rng_below(&rng, 2) == 0;
    assert_int_equal(myr_model_check(model, NULL), MYR_OK);
    struct myr_fit_query query = small_query(&rng, model, false);
    struct myr_device *device = MYR_ARENA_ONE(&arena, struct myr_device);
    struct myr_fit_topology *topology = MYR_ARENA_ONE(&arena, struct myr_fit_topology);
    *device = small_device(&rng, &query);
    *topology = small_topology(&rng);
    query.it.topology = myr_rng_below(&rng, 3) ? NULL : topology;
    query.it.device = myr_rng_below(&rng, 2) ? device : query.it.device;
    query.any_precision = false;
    query.top = MYR_FIT_TOP_MAX; /* the best of every grid */
    return query;
}

/* The least of a family's bounds, and the sum of those of groups that may have a layout. */
struct bounds {
    double least_s, sum_s;
    uint32_t count;
};

static struct bounds bounds_of(const struct fit_search *s, const struct fit_family *family)
{
    struct bounds ret = {.least_s = none_s};
    for (uint32_t i = 0; i < family->count; i++) {
        double floor_s = s->groups[family->first + i].floor_s;
        assert_true(i == 0 || floor_s >= s->groups[family->first + i - 1].floor_s);
        ret.least_s = fit_min(ret.least_s, floor_s);
        ret.sum_s += floor_s < none_s ? floor_s : 0;
        ret.count += floor_s < none_s;
    }
    assert_true(family->floor_s >= ret.least_s && family->floor_s <= ret.least_s);
    return ret;
}

static double best_of(const struct myr_fit_answer *answer)
{
    return answer->top_count ? answer->top[0].step_s : none_s;
}

/* Looks at a family as if it were the only one; returns the best step in it. */
static double look(struct fit_search *s, struct fit_family family, struct myr_buf *text)
{
    struct bounds first = bounds_of(s, &family);
    const struct myr_layout *w = family.width;
    *s->answer = (struct myr_fit_answer){};
    fit_refine_family(s, &family, false);
    struct bounds refined = bounds_of(s, &family);
    assert_true(family.refined && s->answer->costed == 0);
    fit_refine_family(s, &family, true);
    struct bounds cut = bounds_of(s, &family);
    double quick_s = best_of(s->answer);
    uint64_t quick = s->answer->costed;
    fit_open_family(s, &family);
    double best_s = best_of(s->answer);
    uint64_t costed = s->answer->costed;
    /* Without what was found on the way: more is priced, and the same is found. */
    *s->answer = (struct myr_fit_answer){};
    fit_open_family(s, &family);
    assert_true(best_of(s->answer) >= best_s && best_of(s->answer) <= best_s);
    assert_true(s->answer->costed + quick >= costed && best_s <= quick_s);
    assert_true(first.least_s <= refined.least_s && refined.least_s <= cut.least_s);
    assert_true(cut.least_s <= best_s);
    myr_buf_printf(text, " tp%u cp%u ep%u etp%u sp%d pp%u: %u of %.7g, %u of %.7g, %u of %.7g",
                   w->tp, w->cp, w->ep, w->etp, w->sequence_parallel,
                   s->space->depths[family.depth].pp, first.count, first.sum_s, refined.count,
                   refined.sum_s, cut.count, cut.sum_s);
    myr_buf_printf(text, ", %llu, %llu and %llu priced, best %.8g\n", (unsigned long long)quick,
                   (unsigned long long)costed, (unsigned long long)s->answer->costed, best_s);
    return best_s;
}

/* The best steps of families, the better of those that share a grid. */
struct grids {
    struct myr_fit_found of[2 * MYR_FIT_TOP_MAX];
    uint32_t count;
};

static struct myr_fit_found *grid_of(struct grids *grids, struct myr_layout layout, uint32_t pp)
{
    for (uint32_t i = 0; i < grids->count; i++) {
        const struct myr_layout *l = &grids->of[i].layout;
        if (l->tp == layout.tp && l->cp == layout.cp && l->ep == layout.ep && l->pp == pp) {
            return &grids->of[i];
        }
    }
    assert_true(grids->count < MYR_ARRAY_COUNT(grids->of));
    layout.pp = pp;
    grids->of[grids->count] = (struct myr_fit_found){layout, none_s};
    return &grids->of[grids->count++];
}

/* Every grid that visiting all layouts finds, with its best step, and no other. */
static void assert_same_grids(struct grids *grids, const struct myr_fit_answer *every)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < grids->count; i++) {
        found += grids->of[i].step_s < none_s;
    }
    assert_int_equal(found, every->top_count);
    for (uint32_t i = 0; i < every->top_count; i++) {
        const struct myr_layout *l = &every->top[i].layout;
        double own_s = grid_of(grids, *l, l->pp)->step_s;
        assert_true(own_s >= every->top[i].step_s && own_s <= every->top[i].step_s);
    }
}

static void no_bound_is_above_the_best_of_its_family(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint32_t solved = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= QUESTIONS; seed++) {
        struct myr_model model;
        struct myr_arena own;
        myr_arena_init(&own);
        struct myr_fit_query query = draw_question(seed, &model);
        struct myr_fit_answer *answer = MYR_ARENA_ONE(&own, struct myr_fit_answer);
        struct myr_fit_answer *every = MYR_ARENA_ONE(&own, struct myr_fit_answer);
        struct grids *grids = MYR_ARENA_ONE(&own, struct grids);
        struct fit_space space;
        MYR_CLEANUP(fit_search_done) struct fit_search s;
        *answer = *every = (struct myr_fit_answer){};
        *grids = (struct grids){};
        put_question(&text, &query);
        fit_space_init(&space, &own, &query, query.precision);
        fit_exhaust(&space, every);
        fit_search_init(&s, &query, &own, answer);
        s.space = &space;
        fit_fill_families(&s);
        assert_int_equal(answer->evaluated, every->evaluated);
        for (uint32_t i = 0; i < s.families.count; i++) {
            const struct fit_family *family = &s.families.of[i];
            struct myr_fit_found *grid =
                grid_of(grids, *family->width, space.depths[family->depth].pp);
            grid->step_s = fit_min(grid->step_s, look(&s, *family, &text));
        }
        assert_same_grids(grids, every);
        solved += every->top_count > 0;
        myr_arena_done(&own);
    }
    assert_true(solved > QUESTIONS / 2);
    assert_kept_rounds("fit-bounds.txt", &text);
}

/* Layers of a stage, and those with experts. */
struct held {
    double layers, moe, first_chunk;
};

static struct held held_by(const struct myr_layout *l, const struct myr_model *model,
                           uint32_t stage)
{
    struct held ret = {};
    for (uint32_t v = 0; v < l->vp; v++) {
        struct myr_span span = myr_layout_chunk_layers(l, model, stage + v * l->pp);
        double kinds[FIT_KIND_COUNT] = {};
        fit_count_layers(model, span, kinds);
        ret.layers += span.count;
        ret.moe += kinds[FIT_MOE_FULL] + kinds[FIT_MOE_WINDOW];
        ret.first_chunk = v == 0 ? span.count : ret.first_chunk;
    }
    return ret;
}

/* What bounds read of a cut, counted anew over its stages one by one. */
static void recount(const struct myr_model *model, const struct fit_shape *shape,
                    const struct fit_depth *depth)
{
    struct myr_layout l = myr_layout_default();
    double sum = 0, stages = 0, most = 0, before = 0, before_most = 0, least = 1e9, least_moe = 1e9;
    uint32_t most_at = 0;
    l.pp = shape->pp;
    l.vp = shape->vp;
    l.schedule = shape->vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    l.first_layers = shape->first_layers;
    l.last_layers = shape->last_layers;
    l.output_counts = shape->output_counts;
    l.global_batch = 4 * shape->pp;
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        stages += shape->kinds[i].count;
    }
    if (shape->kind_count == FIT_SHAPE_KINDS) { /* some may have been left out */
        assert_true(stages <= shape->pp && shape->least_of <= 0 && shape->least_moe <= 0);
        assert_true(depth->least_layers <= 0 && depth->least_moe <= 0);
        return;
    }
    for (uint32_t p = 0; p < shape->pp; p++) {
        struct held held = held_by(&l, model, p);
        sum += held.layers;
        least = fit_min(least, held.layers);
        least_moe = fit_min(least_moe, held.moe);
        if (held.layers >= most) {
            most = held.layers;
            most_at = p;
            before_most = before;
        }
        before += held.first_chunk;
        assert_true(depth->least_layers <= held.layers && depth->most_layers >= held.layers);
        assert_true(depth->least_moe <= held.moe);
        assert_true(p >= 2 || depth->early[p].layers <= held.layers);
        assert_true(p >= 2 || depth->early[p].moe <= held.moe);
        assert_true(depth->chunk_share[shape->vp] > 0 &&
                    depth->chunk_share[shape->vp] * held.layers <= held.first_chunk + 1e-6);
    }
    struct held first = held_by(&l, model, 0), last = held_by(&l, model, shape->pp - 1);
    assert_true(stages >= shape->pp && stages <= shape->pp && sum <= model->layer_count);
    assert_true(sum >= model->layer_count);
    assert_int_equal((int)shape->most_layers, (int)most);
    assert_int_equal((int)shape->least_of, (int)least);
    assert_int_equal((int)shape->least_moe, (int)least_moe);
    assert_int_equal((int)shape->first_of, (int)first.layers);
    assert_int_equal((int)shape->last_of, (int)last.layers);
    assert_true(shape->kinds[shape->first_at].first && shape->kinds[shape->last_at].last);
    /* As many as are surely before it: kinds count their least first chunk for every stage. */
    assert_true(shape->most_chunks <= before_most && shape->most_stages <= most_at);
    assert_true(shape->last_chunks <= before - last.first_chunk);
    assert_true(shape->rise >= 0 && depth->least_layers * (1 + shape->rise) <= least + 1e-6);
}

static void put_shape(struct myr_buf *text, const struct fit_shape *shape)
{
    myr_buf_printf(text, "  vp%u %u-%u: chunks %u to %u, %u choices, rise %.6g, %g %g %g before",
                   shape->vp, shape->first_layers, shape->last_layers, shape->chunk_least,
                   shape->chunk_most, shape->choice_count, shape->rise, shape->most_chunks,
                   shape->most_stages, shape->last_chunks);
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        const struct fit_stage_kind *kind = &shape->kinds[i];
        myr_buf_printf(text, "; %g of %g %g %g %g from %u to %u, %g flights, %g held", kind->count,
                       kind->layers[0], kind->layers[1], kind->layers[2], kind->layers[3],
                       kind->stage, kind->last_stage, kind->flights, kind->held);
    }
    myr_buf_putc(text, '\n');
}

static void what_is_known_of_a_cut_is_what_its_stages_say(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t shapes = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SPACES; seed++) {
        struct myr_model model;
        struct myr_arena own;
        struct fit_space space;
        myr_arena_init(&own);
        struct myr_fit_query query = draw_question(seed, &model);
        struct myr_stack able = *query.it.stack; /* all cuts that there are */
        able.cuts = true;
        query.it.stack = &able;
        query.vp = 0;
        query.gpus = 1 + (uint32_t)seed % 48;
        model.layer_count += (uint32_t)seed % 23;
        fit_space_init(&space, &own, &query, query.precision);
        for (uint32_t d = 0; d < space.depth_count; d++) {
            const struct fit_depth *depth = &space.depths[d];
            myr_buf_printf(&text, "%u layers, pp%u: %u and %u shapes, %llu and %llu choices, ",
                           model.layer_count, depth->pp, depth->plain_count,
                           depth->shape_count - depth->plain_count,
                           (unsigned long long)depth->plain_choices,
                           (unsigned long long)depth->interleaved_choices);
            myr_buf_printf(&text, "%g to %g layers, %g, early %g %g\n", depth->least_layers,
                           depth->most_layers, depth->least_moe, depth->early[0].layers,
                           depth->early[1].layers);
            for (uint32_t i = 0; i < depth->shape_count; i++) {
                const struct fit_shape *shape = &space.shapes[depth->first_shape + i];
                recount(&model, shape, depth);
                if ((i + seed) % 16 == 0) {
                    put_shape(&text, shape);
                }
                shapes++;
            }
        }
        myr_arena_done(&own);
    }
    /* The few of the sanitizers begin with the smallest models. */
    assert_true(shapes > (SPACES == 64 ? 2000 : 8 * SPACES));
    assert_kept_rounds("fit-cuts.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_bound_is_above_the_best_of_its_family),
        cmocka_unit_test(what_is_known_of_a_cut_is_what_its_stages_say),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
