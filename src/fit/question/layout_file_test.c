#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "test_world.h"

static const enum myr_axis axes[MYR_LAYOUT_ORDER_COUNT] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP,
                                                           MYR_AXIS_DP, MYR_AXIS_PP};

static uint32_t one_to(struct myr_rng *rng, uint32_t most)
{
    return 1 + (uint32_t)myr_rng_below(rng, most);
}

static uint32_t maybe(struct myr_rng *rng, uint32_t most)
{
    return (uint32_t)myr_rng_below(rng, most + 1);
}

static struct myr_layout draw_layout(struct myr_rng *rng)
{
    struct myr_layout l = myr_layout_default();
    l.tp = one_to(rng, 16);
    l.pp = one_to(rng, 16);
    l.vp = one_to(rng, 8);
    l.dp = one_to(rng, 64);
    l.cp = one_to(rng, 4);
    l.ep = one_to(rng, 8);
    l.etp = maybe(rng, 4);
    l.zero = maybe(rng, 3);
    l.shard = maybe(rng, 16);
    l.sequence_parallel = maybe(rng, 1);
    l.flash_attention = maybe(rng, 1);
    l.fused_loss = maybe(rng, 1);
    l.low_kept = maybe(rng, 1);
    l.output_counts = maybe(rng, 1);
    l.kernels = (enum myr_operators)maybe(rng, MYR_KERNELS_COMPILED);
    l.weights = (enum myr_weights)maybe(rng, MYR_WEIGHTS_CAST);
    l.micro_batch = one_to(rng, 8);
    l.global_batch = one_to(rng, 4096);
    l.seq_tokens = maybe(rng, 8192);
    l.gradient_bytes = 2 * maybe(rng, 2);
    l.first_layers = maybe(rng, 9);
    l.last_layers = maybe(rng, 9);
    l.recompute_layers = maybe(rng, 4);
    l.recompute = (enum myr_recompute)maybe(rng, MYR_RECOMPUTE_FULL);
    l.schedule = (enum myr_schedule)maybe(rng, MYR_SCHEDULE_DUALPIPE);
    l.precision = (enum myr_precision)maybe(rng, MYR_PRECISION_FP32);
    memcpy(l.order, axes, sizeof(axes));
    for (uint32_t i = MYR_LAYOUT_ORDER_COUNT - 1; i > 0; i--) {
        uint32_t other = maybe(rng, i);
        enum myr_axis axis = l.order[i];
        l.order[i] = l.order[other];
        l.order[other] = axis;
    }
    return l;
}

/* Every field, by name: a padding byte is none of them. */
static void assert_same(const struct myr_layout *a, const struct myr_layout *b)
{
    assert_int_equal(a->tp, b->tp);
    assert_int_equal(a->pp, b->pp);
    assert_int_equal(a->vp, b->vp);
    assert_int_equal(a->dp, b->dp);
    assert_int_equal(a->cp, b->cp);
    assert_int_equal(a->ep, b->ep);
    assert_int_equal(a->etp, b->etp);
    assert_int_equal(a->zero, b->zero);
    assert_int_equal(a->shard, b->shard);
    assert_int_equal(a->sequence_parallel, b->sequence_parallel);
    assert_int_equal(a->flash_attention, b->flash_attention);
    assert_int_equal(a->fused_loss, b->fused_loss);
    assert_int_equal(a->low_kept, b->low_kept);
    assert_int_equal(a->output_counts, b->output_counts);
    assert_int_equal(a->kernels, b->kernels);
    assert_int_equal(a->weights, b->weights);
    assert_int_equal(a->micro_batch, b->micro_batch);
    assert_int_equal(a->global_batch, b->global_batch);
    assert_int_equal(a->seq_tokens, b->seq_tokens);
    assert_int_equal(a->gradient_bytes, b->gradient_bytes);
    assert_int_equal(a->first_layers, b->first_layers);
    assert_int_equal(a->last_layers, b->last_layers);
    assert_int_equal(a->recompute_layers, b->recompute_layers);
    assert_int_equal(a->recompute, b->recompute);
    assert_int_equal(a->schedule, b->schedule);
    assert_int_equal(a->precision, b->precision);
    assert_memory_equal(a->order, b->order, sizeof(a->order));
}

static void what_is_written_reads_back_whole(void **state)
{
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 20, 1);
    for (int i = 0; i < 500; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
        struct myr_layout layout = draw_layout(&rng), found;
        struct myr_err err = {};
        myr_layout_file_write(&layout, "two\nlines", &buf);
        if (myr_layout_file_parse(&arena, "l.yaml", (struct myr_str){buf.data, buf.len}, NULL,
                                  &found, &err) < 0) {
            fail_msg("seed 20, %d: %s\n%s", i, err.message, buf.data);
        }
        assert_same(&layout, &found);
        assert_non_null(strstr(buf.data, "\n# two lines\n"));
    }
}

static void assert_refused(const char *text, const char *message)
{
    struct myr_layout found = {.tp = 77};
    struct myr_err err = {};
    assert_true(myr_layout_file_parse(&arena, "l.yaml", myr_str_from(text), NULL, &found, &err) <
                0);
    assert_string_equal(err.message, message);
    assert_int_equal(found.tp, 77);
}

static void bad_files_are_refused_where_they_are_bad(void **state)
{
    (void)state;
    assert_refused("layout:\n  tp: eight\n",
                   "l.yaml:2:7: 'tp' is 'eight', a whole number from 1 to 16,777,216 is expected");
    assert_refused("layout:\n  tpp: 8\n",
                   "l.yaml:2:3: unknown key 'tpp' in layout; did you mean 'tp' or 'pp'?");
    assert_refused("nodes: 8\n",
                   "l.yaml:1:1: no layout file: a map with the key 'layout' is expected");
    assert_refused("schema: myriad.fit\nlayout: {tp: 8}\n",
                   "l.yaml:1:9: 'schema' is 'myriad.fit', myriad.layout is expected");
    assert_refused("version: 2\nlayout: {tp: 8}\n",
                   "l.yaml:1:10: 'version' is '2', a whole number from 1 to 1 is expected");
    assert_refused("layout: 8\n", "l.yaml:1:9: 'layout' is '8', a map of keys is expected");
}

static void fewer_nodes_take_as_many_replicas_as_the_batch_and_the_experts_allow(void **state)
{
    struct myr_layout l = myr_layout_default(), found;
    (void)state;
    l.tp = 8;
    l.pp = 2;
    l.dp = 12;
    l.global_batch = 48;
    assert_int_equal(myr_layout_shrink(&l, NULL, 8, 24, &found), 24);
    assert_int_equal(found.dp, 12);
    /* 11 replicas would do for the nodes; 48 sequences are shared by 8 of them. */
    assert_int_equal(myr_layout_shrink(&l, NULL, 8, 23, &found), 16);
    assert_int_equal(found.dp, 8);
    l.ep = 6;
    assert_int_equal(myr_layout_shrink(&l, NULL, 8, 23, &found), 12);
    assert_int_equal(found.dp, 6);
    l.micro_batch = 9; /* not even one replica divides the batch */
    assert_int_equal(myr_layout_shrink(&l, NULL, 8, 23, &found), 0);
    l.micro_batch = 1;
    assert_int_equal(myr_layout_shrink(&l, NULL, 8, 1, &found), 0);
}

static void a_model_has_a_say_in_how_many_replicas_there_may_be(void **state)
{
    struct myr_layout l = myr_layout_default(), found;
    struct myr_model model;
    (void)state;
    assert_int_equal(myr_model_find(&arena, "llama3-8b", &model, NULL), MYR_OK);
    l.tp = 8;
    l.pp = 4;
    l.vp = 2;
    l.schedule = MYR_SCHEDULE_INTERLEAVED;
    l.dp = 8;
    l.global_batch = 32; /* 5 replicas and more do not fill a turn of the four stages */
    uint32_t nodes = myr_layout_shrink(&l, &model, 8, 31, &found);
    assert_true(nodes > 0 && nodes < 28);
    assert_int_equal(myr_layout_broken(&found, &model, 0), MYR_LAYOUT_OK);
    assert_int_equal(nodes, found.dp * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back_whole),
        cmocka_unit_test(bad_files_are_refused_where_they_are_bad),
        cmocka_unit_test(fewer_nodes_take_as_many_replicas_as_the_batch_and_the_experts_allow),
        cmocka_unit_test(a_model_has_a_say_in_how_many_replicas_there_may_be),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
