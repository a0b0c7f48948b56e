#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "work_test.h"

static struct myr_layout pipeline(uint32_t pp, uint32_t vp)
{
    struct myr_layout layout = myr_layout_default();
    layout.pp = pp;
    layout.vp = vp;
    layout.schedule = vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    layout.global_batch = 4 * pp;
    return layout;
}

static void check_deal(const struct myr_layout *layout, const struct myr_model *model)
{
    uint32_t next = 0;
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    for (uint32_t chunk = 0; chunk < layout->pp * layout->vp; chunk++) {
        struct myr_span span = myr_layout_chunk_layers(layout, model, chunk);
        assert_int_equal(span.first, next);
        next += span.count;
        least = span.count < least ? span.count : least;
        most = span.count > most ? span.count : most;
    }
    assert_int_equal(next, model->layer_count);
    assert_true(most - least <= 1);
}

static void layers_are_dealt_in_order_and_completely(void **state)
{
    (void)state;
    struct myr_model model = {};
    for (model.layer_count = 1; model.layer_count < 60; model.layer_count++) {
        for (uint32_t shape = 0; shape < 44; shape++) {
            struct myr_layout layout = pipeline(1 + shape / 4, 1 + shape % 4);
            check_deal(&layout, &model);
        }
    }
}

static void assert_layers(const struct myr_layout *layout, uint32_t layer_count,
                          const uint32_t *counts, uint32_t chunk_count)
{
    struct myr_model model = {.layer_count = layer_count};
    for (uint32_t i = 0; i < chunk_count; i++) {
        assert_int_equal(myr_layout_chunk_layers(layout, &model, i).count, counts[i]);
    }
}

static void uneven_layers_leave_the_outer_stages_lighter(void **state)
{
    (void)state;
    /* Llama 3 405B: 126 layers on 16 stages, one less on the first and the last. */
    struct myr_layout layout = pipeline(16, 1);
    static const uint32_t llama[] = {7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7};
    assert_layers(&layout, 126, llama, 16);
    /* 61 on 16: three short, the last before the first. */
    static const uint32_t deepseek[] = {3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3};
    assert_layers(&layout, 61, deepseek, 16);
    /* 126 layers on 128 chunks: embedding and output stand alone. */
    layout = pipeline(16, 8);
    struct myr_model model = {.layer_count = 126};
    assert_int_equal(myr_layout_chunk_layers(&layout, &model, 0).count, 0);
    assert_int_equal(myr_layout_chunk_layers(&layout, &model, 1).count, 1);
    assert_int_equal(myr_layout_chunk_layers(&layout, &model, 127).count, 0);
}

static void first_and_last_stage_can_be_given(void **state)
{
    (void)state;
    struct myr_layout layout = pipeline(4, 1);
    layout.first_layers = 5;
    static const uint32_t first[] = {5, 6, 6, 6};
    assert_layers(&layout, 23, first, 4);
    layout.last_layers = 2;
    static const uint32_t both[] = {5, 8, 8, 2};
    assert_layers(&layout, 23, both, 4);
    layout = pipeline(2, 2);
    layout.first_layers = 4;
    layout.last_layers = 6;
    static const uint32_t rounds[] = {2, 3, 2, 3};
    assert_layers(&layout, 10, rounds, 4);
    struct myr_model model = {.layer_count = 10};
    assert_int_equal(myr_layout_chunk_layers(&layout, &model, 2).first, 5);
}

/* The output and each module stand for a layer: the last chunk has so many fewer. */
static void the_output_stands_for_a_layer(void **state)
{
    static const struct {
        uint32_t layers, mtp, pp, vp, counts[4];
    } rows[] = {
        {7, 0, 2, 1, {4, 3}},        {7, 0, 4, 1, {2, 2, 2, 1}},  {6, 1, 4, 1, {2, 2, 2, 0}},
        {10, 1, 2, 2, {3, 3, 3, 1}}, {15, 0, 2, 2, {4, 4, 4, 3}},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_layout layout = pipeline(rows[i].pp, rows[i].vp);
        struct myr_model model = {.layer_count = rows[i].layers, .mtp_count = rows[i].mtp};
        uint32_t next = 0;
        layout.output_counts = true;
        for (uint32_t chunk = 0; chunk < rows[i].pp * rows[i].vp; chunk++) {
            struct myr_span span = myr_layout_chunk_layers(&layout, &model, chunk);
            assert_int_equal(span.first, next);
            assert_int_equal(span.count, rows[i].counts[chunk]);
            next += span.count;
        }
        assert_int_equal(next, rows[i].layers);
    }
}

/* Plays Megatron's order of passes on one stage and watches what is held. */
static void assert_in_flight(const struct myr_layout *layout, uint32_t stage)
{
    uint32_t pp = layout->pp;
    uint32_t vp = layout->vp;
    uint32_t total = layout->global_batch * vp;
    uint32_t warm_up = vp == 1 ? pp - stage - 1 : 2 * (pp - stage - 1) + (vp - 1) * pp;
    warm_up = warm_up < total ? warm_up : total;
    uint32_t held[8] = {};
    uint32_t sum = 0;
    uint32_t peak = 0;
    uint32_t at_peak[8] = {};
    uint32_t backward = 0;
    for (uint32_t forward = 0; forward < total || backward < total;) {
        if (forward < total) {
            held[forward / pp % vp]++;
            sum++;
            forward++;
            if (sum > peak) {
                peak = sum;
                memcpy(at_peak, held, sizeof(held));
            }
        }
        if (forward > warm_up || forward == total) {
            held[vp - 1 - backward / pp % vp]--;
            sum--;
            backward++;
        }
    }
    for (uint32_t i = 0; i < vp; i++) {
        if (myr_layout_in_flight(layout, stage, i) != at_peak[i]) {
            fail_msg("pp %u vp %u batches %u stage %u chunk %u: %u, played %u", pp, vp,
                     layout->global_batch, stage, i, myr_layout_in_flight(layout, stage, i),
                     at_peak[i]);
        }
    }
}

static void micro_batches_in_flight_equal_the_schedule_played_out(void **state)
{
    (void)state;
    for (uint32_t shape = 0; shape < 8 * 6 * 4; shape++) {
        uint32_t pp = 1 + shape % 8;
        uint32_t vp = pp > 1 ? 1 + shape / 8 % 6 : 1;
        struct myr_layout layout = pipeline(pp, vp);
        layout.global_batch = (1 + shape / 48) * pp;
        for (uint32_t stage = 0; stage < pp; stage++) {
            assert_in_flight(&layout, stage);
        }
    }
}

/* Korthikanti et al., section 4.2.3: the first stage keeps L*(1 + (p-1)/(p*m)) layers. */
static void interleaving_keeps_more_on_the_first_stage(void **state)
{
    (void)state;
    struct myr_layout layout = pipeline(8, 6);
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < 6; i++) {
        chunks += myr_layout_in_flight(&layout, 0, i);
    }
    assert_int_equal(chunks, 8 * 6 + 8 - 1);
}

static void dualpipe_holds_two_copies_and_one_micro_batch_more(void **state)
{
    (void)state;
    struct myr_layout layout = pipeline(4, 1);
    layout.schedule = MYR_SCHEDULE_DUALPIPE;
    assert_int_equal(myr_layout_stage_chunk_count(&layout), 2);
    assert_int_equal(myr_layout_stage_chunk(&layout, 1, 0), 1);
    assert_int_equal(myr_layout_stage_chunk(&layout, 1, 1), 2);
    assert_int_equal(myr_layout_passes(&layout), 8);
    for (uint32_t stage = 0; stage < 4; stage++) {
        assert_int_equal(
            myr_layout_in_flight(&layout, stage, 0) + myr_layout_in_flight(&layout, stage, 1), 5);
        assert_int_equal(myr_layout_in_flight(&layout, stage, 0), 3);
        assert_int_equal(myr_layout_in_flight_all(&layout, stage), 5);
    }
    /* Few passes are all there is to hold. */
    for (uint32_t m = 1; m <= 8; m++) {
        layout.global_batch = layout.dp * layout.micro_batch * m;
        uint32_t passes = myr_layout_passes(&layout);
        uint32_t own = passes < 3 ? passes : 3, other = passes < 2 ? passes : 2;
        assert_int_equal(myr_layout_in_flight(&layout, 1, 0), own);
        assert_int_equal(myr_layout_in_flight(&layout, 1, 1), other);
        assert_int_equal(myr_layout_in_flight_all(&layout, 1), own + other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_dealt_in_order_and_completely),
        cmocka_unit_test(uneven_layers_leave_the_outer_stages_lighter),
        cmocka_unit_test(first_and_last_stage_can_be_given),
        cmocka_unit_test(the_output_stands_for_a_layer),
        cmocka_unit_test(micro_batches_in_flight_equal_the_schedule_played_out),
        cmocka_unit_test(interleaving_keeps_more_on_the_first_stage),
        cmocka_unit_test(dualpipe_holds_two_copies_and_one_micro_batch_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
