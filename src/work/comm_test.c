#include "myriad/work/comm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "work_test.h"

enum { LAYOUTS = 400 };

/* The rows of one kind and phase with a collective: operations and bytes of one, which must agree.
 */
struct found {
    uint64_t count;
    uint64_t bytes;
};

static struct found find(const struct myr_comm_list *list, enum myr_comm_kind kind,
                         enum myr_collective collective, enum myr_phase phase)
{
    struct found found = {};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct myr_comm *row = &list->rows[i];
        if (row->kind == kind && row->collective == collective && row->phase == phase) {
            assert_true(found.bytes == 0 || found.bytes == row->bytes);
            found.count += row->count;
            found.bytes = row->bytes;
        }
    }
    return found;
}

static void assert_row(const struct myr_comm_list *list, enum myr_comm_kind kind,
                       enum myr_collective collective, enum myr_phase phase, struct found expected)
{
    struct found found = find(list, kind, collective, phase);
    if (found.count != expected.count || found.bytes != expected.bytes) {
        fail_msg("%s %s %s: %llu x %llu bytes, expected %llu x %llu", myr_comm_kind_name(kind),
                 myr_collective_name(collective), myr_phase_name(phase),
                 (unsigned long long)found.count, (unsigned long long)found.bytes,
                 (unsigned long long)expected.count, (unsigned long long)expected.bytes);
    }
}

#define ROW(list, kind, collective, phase, count, bytes)                   \
    assert_row(list, MYR_COMM_##kind, MYR_##collective, MYR_PHASE_##phase, \
               (struct found){count, bytes})

/* GPT-3 with 3D parallelism as Megatron first had it: all-reduce only. */
static struct myr_layout gpt_layout(void)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.pp = 8;
    layout.dp = 16;
    layout.zero = 0;
    layout.global_batch = 512;
    return layout;
}

static void tensor_parallel_layers_reduce_twice_each_way(void **state)
{
    (void)state;
    struct myr_model model = test_model("megatron-174.6b");
    struct myr_layout layout = gpt_layout();
    struct myr_comm_list list;
    uint64_t tensor = UINT64_C(2048) * 12288 * 2;
    uint64_t blocks = 12 * 32; /* layers of a stage, micro-batches */
    myr_comm_of(&layout, &model, 3, &list);
    ROW(&list, TP_ATTENTION, ALL_REDUCE, FORWARD, blocks, tensor);
    ROW(&list, TP_ATTENTION, ALL_REDUCE, BACKWARD, blocks, tensor);
    ROW(&list, TP_FFN, ALL_REDUCE, FORWARD, blocks, tensor);
    ROW(&list, TP_FFN, ALL_REDUCE, BACKWARD, blocks, tensor);
    ROW(&list, TP_VOCAB, ALL_REDUCE, FORWARD, 0, 0);
    ROW(&list, PP_ACTIVATION, SEND_RECEIVE, FORWARD, 32, tensor);
    ROW(&list, PP_GRADIENT, SEND_RECEIVE, BACKWARD, 32, tensor);
    ROW(&list, GRAD_NORM, ALL_REDUCE, OPTIMISER, 1, 4);
    ROW(&list, EMBEDDING, ALL_REDUCE, BACKWARD, 0, 0);

    /* Computing every layer again repeats its forward collectives. */
    layout.recompute = MYR_RECOMPUTE_FULL;
    myr_comm_of(&layout, &model, 3, &list);
    ROW(&list, TP_FFN, ALL_REDUCE, FORWARD, blocks, tensor);
    ROW(&list, TP_FFN, ALL_REDUCE, BACKWARD, 2 * blocks, tensor);
}

static void the_outer_stages_carry_the_vocabulary(void **state)
{
    (void)state;
    struct myr_model model = test_model("megatron-174.6b");
    struct myr_layout layout = gpt_layout();
    struct myr_comm_list list;
    uint64_t tensor = UINT64_C(2048) * 12288 * 2;
    uint64_t table = UINT64_C(51200) / 8 * 12288 * 4;
    myr_comm_of(&layout, &model, 0, &list);
    ROW(&list, TP_VOCAB, ALL_REDUCE, FORWARD, 32, tensor);
    ROW(&list, TP_VOCAB, ALL_REDUCE, BACKWARD, 0, 0);
    ROW(&list, TP_LOSS, ALL_REDUCE, FORWARD, 0, 0);
    ROW(&list, PP_GRADIENT, SEND_RECEIVE, BACKWARD, 0, 0);
    ROW(&list, EMBEDDING, ALL_REDUCE, BACKWARD, 1, table);
    myr_comm_of(&layout, &model, 7, &list);
    ROW(&list, TP_VOCAB, ALL_REDUCE, FORWARD, 0, 0);
    ROW(&list, TP_VOCAB, ALL_REDUCE, BACKWARD, 32, tensor);
    ROW(&list, TP_LOSS, ALL_REDUCE, FORWARD, 3 * 32, 2048 * 4);
    ROW(&list, PP_ACTIVATION, SEND_RECEIVE, FORWARD, 0, 0);
    ROW(&list, EMBEDDING, ALL_REDUCE, BACKWARD, 1, table);
    /* Separate matrices have nothing to agree on. */
    model.tied = false;
    myr_comm_of(&layout, &model, 7, &list);
    ROW(&list, EMBEDDING, ALL_REDUCE, BACKWARD, 0, 0);
}

static void sequence_parallelism_gathers_and_scatters(void **state)
{
    (void)state;
    struct myr_model model = test_model("llama3-405b");
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.pp = 16;
    layout.dp = 128;
    layout.sequence_parallel = true;
    layout.global_batch = 2048;
    struct myr_comm_list list;
    uint64_t tensor = UINT64_C(8192) * 16384 * 2;
    uint64_t blocks = 8 * 16;
    myr_comm_of(&layout, &model, 7, &list);
    ROW(&list, TP_ATTENTION, ALL_REDUCE, FORWARD, 0, 0);
    ROW(&list, TP_ATTENTION, ALL_GATHER, FORWARD, blocks, tensor);
    ROW(&list, TP_ATTENTION, REDUCE_SCATTER, FORWARD, blocks, tensor);
    ROW(&list, TP_ATTENTION, ALL_GATHER, BACKWARD, 2 * blocks, tensor);
    ROW(&list, TP_ATTENTION, REDUCE_SCATTER, BACKWARD, blocks, tensor);
    ROW(&list, PP_ACTIVATION, SEND_RECEIVE, FORWARD, 16, tensor / 8);
    /* Norms are the only weights that tensor ranks share. */
    ROW(&list, TP_GRADIENT, ALL_REDUCE, BACKWARD, 1, UINT64_C(8) * 2 * 16384 * 4);
}

static void context_parallelism_passes_keys_and_values_round(void **state)
{
    (void)state;
    struct myr_model model = test_model("llama3-405b");
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.cp = 16;
    layout.pp = 16;
    layout.dp = 8;
    layout.seq_tokens = 131072;
    layout.sequence_parallel = true;
    layout.global_batch = 128;
    struct myr_comm_list list;
    myr_comm_of(&layout, &model, 7, &list);
    /* One key/value head a rank, 8192 tokens: keys and values of 128 each. */
    uint64_t block = UINT64_C(8192) * 256 * 2;
    uint64_t hops = 15 * 8 * 16;
    ROW(&list, CP_KV, SEND_RECEIVE, FORWARD, hops, block);
    ROW(&list, CP_KV, SEND_RECEIVE, BACKWARD, hops, 2 * block);
}

static uint64_t wire_sum(const struct myr_comm_list *list, enum myr_axis axis)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->rows[i].axis == axis) {
            sum += list->rows[i].count * myr_comm_wire_bytes(&list->rows[i]);
        }
    }
    return sum;
}

/* Rajbhandari et al. 2020, section 7: 2, 2 and 3 times the parameters, of equal width each. */
static void zero_moves_what_its_paper_says(void **state)
{
    (void)state;
    struct myr_model model = test_model("llama3-8b");
    uint64_t params = myr_model_params(&model).total;
    struct myr_layout layout = myr_layout_default();
    struct myr_comm_list list;
    layout.precision = MYR_PRECISION_FP16;
    layout.dp = 64;
    layout.global_batch = 64;
    uint64_t once = params * 2 * 63 / 64;
    for (layout.zero = 0; layout.zero < 4; layout.zero++) {
        myr_comm_of(&layout, &model, 0, &list);
        uint64_t sum = wire_sum(&list, layout.zero ? MYR_AXIS_SHARD : MYR_AXIS_DP_CP);
        uint64_t expected = layout.zero == 3 ? 3 * once : 2 * once;
        assert_in_range(sum, expected, expected + 300); /* rounded up layer by layer */
    }
    /* With accumulation, ZeRO-2 scatters and ZeRO-3 gathers for every micro-batch. */
    layout.global_batch = 256;
    layout.zero = 2;
    myr_comm_of(&layout, &model, 0, &list);
    ROW(&list, DP_GRADIENT, REDUCE_SCATTER, BACKWARD, 4, params * 2);
    ROW(&list, DP_PARAM, ALL_GATHER, OPTIMISER, 1, params * 2);
    layout.zero = 3;
    myr_comm_of(&layout, &model, 0, &list);
    assert_in_range(wire_sum(&list, MYR_AXIS_SHARD), 12 * once, 12 * once + 1200);
    /* Hybrid: inside eight, then among eight copies of an eighth. */
    layout.shard = 8;
    myr_comm_of(&layout, &model, 0, &list);
    ROW(&list, DP_REPLICA, ALL_REDUCE, BACKWARD, 1, params * 2 / 8);
}

/* DeepSeek-V3 as reported: PP16, EP64, FP8 dispatch, BF16 combine. */
static void expert_parallelism_sends_each_token_to_its_experts(void **state)
{
    (void)state;
    struct myr_model model = test_model("deepseek-v3");
    struct myr_layout layout = myr_layout_default();
    layout.pp = 16;
    layout.dp = 128;
    layout.ep = 64;
    layout.precision = MYR_PRECISION_FP8;
    layout.global_batch = 15360;
    struct myr_comm_list list;
    myr_comm_of(&layout, &model, 5, &list);
    uint64_t elements = UINT64_C(4096) * 8 * 7168;
    uint64_t count = 4 * 120;
    ROW(&list, EP_DISPATCH, ALL_TO_ALL, FORWARD, count, elements);
    ROW(&list, EP_COMBINE, ALL_TO_ALL, FORWARD, count, elements * 2);
    ROW(&list, EP_DISPATCH, ALL_TO_ALL, BACKWARD, count, elements * 2);
    ROW(&list, EP_COMBINE, ALL_TO_ALL, BACKWARD, count, elements * 2);
    struct myr_rank_params params = myr_rank_params(&layout, &model, 5);
    ROW(&list, EXPERT_GRADIENT, REDUCE_SCATTER, BACKWARD, 1, params.expert * 4);
    ROW(&list, EXPERT_PARAM, ALL_GATHER, OPTIMISER, 1, params.expert * 2);
    ROW(&list, DP_PARAM, ALL_GATHER, OPTIMISER, 1, (params.sharded + params.replicated) * 2);

    /* Experts cut by two as well: what arrived is gathered over both. */
    layout.tp = 2;
    layout.dp = 64;
    layout.sequence_parallel = true;
    layout.precision = MYR_PRECISION_BF16;
    myr_comm_of(&layout, &model, 5, &list);
    count = 4 * 240;
    ROW(&list, EP_DISPATCH, ALL_TO_ALL, FORWARD, count, elements * 2 / 2);
    ROW(&list, TP_EXPERT, ALL_GATHER, FORWARD, count, elements * 2);
    ROW(&list, TP_EXPERT, REDUCE_SCATTER, FORWARD, count, elements * 2);
    /* The shared expert is a tensor-parallel FFN of its own. */
    ROW(&list, TP_FFN, ALL_GATHER, FORWARD, count, UINT64_C(4096) * 7168 * 2);
    /* The sequence whole on both: every one has all that arrived, and they sum it. */
    layout.sequence_parallel = false;
    myr_comm_of(&layout, &model, 5, &list);
    ROW(&list, EP_DISPATCH, ALL_TO_ALL, FORWARD, count, elements * 2);
    ROW(&list, TP_EXPERT, ALL_REDUCE, FORWARD, count, elements * 2);
    ROW(&list, TP_EXPERT, ALL_REDUCE, BACKWARD, count, elements * 2);
    ROW(&list, TP_EXPERT, ALL_GATHER, FORWARD, 0, 0);
}

static void wire_bytes_are_the_least_a_member_can_send(void **state)
{
    (void)state;
    struct myr_comm row = {.collective = MYR_ALL_REDUCE, .group_size = 8, .bytes = 800};
    assert_int_equal(myr_comm_wire_bytes(&row), 1400);
    row.collective = MYR_REDUCE_SCATTER;
    assert_int_equal(myr_comm_wire_bytes(&row), 700);
    row.bytes = 801;
    assert_int_equal(myr_comm_wire_bytes(&row), 701);
    row.collective = MYR_SEND_RECEIVE;
    assert_int_equal(myr_comm_wire_bytes(&row), 801);
    row.collective = MYR_ALL_REDUCE;
    row.bytes = UINT64_MAX;
    assert_true(myr_comm_wire_bytes(&row) == UINT64_MAX);
}

static bool row_is_sound(const struct myr_layout *layout, const struct myr_comm *row)
{
    struct myr_groups groups;
    myr_groups_init(&groups, layout, row->axis);
    return row->group_size > 1 && row->group_size == groups.group_size && row->bytes > 0 &&
           row->count > 0;
}

/* Operations of a kind in one phase, over all stages. */
static uint64_t operations(const struct myr_layout *layout, const struct myr_model *model,
                           enum myr_comm_kind kind, enum myr_phase phase)
{
    uint64_t sum = 0;
    for (uint32_t stage = 0; stage < layout->pp; stage++) {
        struct myr_comm_list list;
        myr_comm_of(layout, model, stage, &list);
        for (uint32_t i = 0; i < list.count; i++) {
            const struct myr_comm *row = &list.rows[i];
            MYR_ASSERT(row_is_sound(layout, row));
            MYR_ASSERT(i == 0 || list.rows[i - 1].kind <= row->kind);
            sum += row->kind == kind && row->phase == phase ? row->count : 0;
        }
    }
    return sum;
}

/* What must hold for any layout: rows match their axis, and stages add up to the model. */
static void check_layout(const struct myr_layout *l, const struct myr_model *model, uint64_t seed)
{
    /* DualPipe: half of the micro-batches each way through the same boundaries. */
    uint64_t batches = myr_layout_micro_batches(l);
    uint64_t boundaries = l->pp > 1 ? l->pp * l->vp - 1 : 0;
    uint64_t layers = model->layer_count + model->mtp_count;
    uint64_t moe = myr_model_moe_layers(model, 0, model->layer_count) + model->mtp_count;
    uint64_t per_block = l->sequence_parallel ? 2 : 1;
    bool ok =
        operations(l, model, MYR_COMM_PP_ACTIVATION, MYR_PHASE_FORWARD) == boundaries * batches &&
        operations(l, model, MYR_COMM_PP_GRADIENT, MYR_PHASE_BACKWARD) == boundaries * batches &&
        operations(l, model, MYR_COMM_TP_ATTENTION, MYR_PHASE_FORWARD) ==
            (l->tp > 1 ? layers * batches * per_block : 0) &&
        operations(l, model, MYR_COMM_EP_DISPATCH, MYR_PHASE_FORWARD) ==
            (l->ep > 1 ? moe * batches : 0);
    /* ZeRO-3 gathers each layer's experts for every micro-batch, those of the module too. */
    if (l->schedule != MYR_SCHEDULE_DUALPIPE && model->moe.expert_count > 0) {
        uint64_t gathers = l->zero == 3 && myr_layout_expert_shard(l) > 1 ? moe * batches : 0;
        ok = ok && operations(l, model, MYR_COMM_EXPERT_PARAM, MYR_PHASE_FORWARD) == gathers;
    }
    if (!ok) {
        fail_msg("seed %llu", (unsigned long long)seed);
    }
}

static void rows_match_their_groups_and_stages_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < LAYOUTS; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 7);
        struct myr_model model = test_divisible_model(seed % 2);
        model.moe.first_dense = model.moe.expert_count ? 1 : 0; /* the module then has experts */
        struct myr_layout layout = test_legal_layout(&rng, &model);
        check_layout(&layout, &model, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_parallel_layers_reduce_twice_each_way),
        cmocka_unit_test(the_outer_stages_carry_the_vocabulary),
        cmocka_unit_test(sequence_parallelism_gathers_and_scatters),
        cmocka_unit_test(context_parallelism_passes_keys_and_values_round),
        cmocka_unit_test(zero_moves_what_its_paper_says),
        cmocka_unit_test(expert_parallelism_sends_each_token_to_its_experts),
        cmocka_unit_test(wire_bytes_are_the_least_a_member_can_send),
        cmocka_unit_test(rows_match_their_groups_and_stages_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
