/* What trainers must be told of a model: each key of our files and of others' configs, by itself.
 */
#include "model_details.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/text/doc.h"
#include "myriad/work.h"

struct row {
    const char *text; /* of a config.json, or below 'details' */
    const char *says; /* what is then known, or why it is refused */
};

/* What is not zero, in words. */
static void put_details(const struct myr_model_details *d, char *ret, size_t size)
{
    snprintf(ret, size, "%d|%g|%g|%g|%g|%u|%u|%d%d", (int)d->activation, d->rotary_base,
             d->rotary_share, d->norm_epsilon, d->routed_scale, d->expert_groups,
             d->groups_per_token, d->sigmoid_scores, d->scaled_rotation);
}

static void assert_says(const struct row *row, bool ours)
{
    struct myr_arena arena = {};
    struct myr_err err = {};
    struct myr_model_details details = {};
    const struct myr_doc *doc;
    char said[200];
    const char *text = ours ? myr_arena_printf(&arena, "details: %s\n", row->text) : row->text;
    assert_int_equal(ours ? myr_doc_read_yaml(&arena, "x", myr_str_from(text), &doc, &err)
                          : myr_doc_read_json(&arena, "x", myr_str_from(text), &doc, &err),
                     MYR_OK);
    int rc = ours ? myr_work_read_details(doc, &details, &err)
                  : myr_work_hf_details(doc, &details, &err);
    put_details(&details, said, sizeof(said));
    if (rc < 0 ? !strstr(err.message, row->says) : strcmp(said, row->says) != 0) {
        fail_msg("%s: %s", row->text, rc < 0 ? err.message : said);
    }
    myr_arena_done(&arena);
}

static void configs_of_others(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"{}", "0|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": \"silu\"}", "1|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": \"swish\"}", "1|0|0|0|0|0|0|00"},
        {"{\"activation_function\": \"gelu\"}", "2|0|0|0|0|0|0|00"},
        {"{\"hidden_activation\": \"gelu_new\"}", "3|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": \"gelu_fast\"}", "3|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": \"gelu_pytorch_tanh\"}", "3|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": \"relu\"}", "4|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": \"relu2\"}", "5|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": \"mish\"}", "6|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": [], \"activation_function\": \"relu\"}", "4|0|0|0|0|0|0|00"},
        {"{\"hidden_act\": \"relu\", \"activation_function\": \"silu\"}", "4|0|0|0|0|0|0|00"},
        {"{\"rope_theta\": 10000}", "0|10000|0|0|0|0|0|00"},
        {"{\"rotary_emb_base\": 500}", "0|500|0|0|0|0|0|00"},
        {"{\"partial_rotary_factor\": 0.5}", "0|0|0.5|0|0|0|0|00"},
        {"{\"rotary_pct\": 0.25}", "0|0|0.25|0|0|0|0|00"},
        {"{\"rope_parameters\": {\"rope_theta\": 7}}", "0|7|0|0|0|0|0|00"},
        {"{\"rope_parameters\": {\"rope_theta\": 7, \"factor\": 8}}", "0|7|0|0|0|0|0|01"},
        {"{\"rope_scaling\": {\"factor\": 8}}", "0|0|0|0|0|0|0|01"},
        {"{\"rope_scaling\": {\"rope_type\": \"default\"}}", "0|0|0|0|0|0|0|00"},
        {"{\"rope_parameters\": {\"factor\": 8}, \"rope_scaling\": {\"rotary_pct\": 1}}",
         "0|0|1|0|0|0|0|01"},
        {"{\"rope_scaling\": \"linear\", \"rope_parameters\": \"x\"}", "0|0|0|0|0|0|0|00"},
        {"{\"rms_norm_eps\": 0.001}", "0|0|0|0.001|0|0|0|00"},
        {"{\"layer_norm_eps\": 0.002}", "0|0|0|0.002|0|0|0|00"},
        {"{\"layer_norm_epsilon\": 0.004}", "0|0|0|0.004|0|0|0|00"},
        {"{\"routed_scaling_factor\": 2.5}", "0|0|0|0|2.5|0|0|00"},
        {"{\"n_group\": 8, \"topk_group\": 4}", "0|0|0|0|0|8|4|00"},
        {"{\"n_group\": 0, \"topk_group\": 0}", "0|0|0|0|0|0|0|00"},
        {"{\"n_group\": 16384, \"topk_group\": 16384}", "0|0|0|0|0|16384|16384|00"},
        {"{\"n_group\": 16385}", "n_group"},
        {"{\"topk_group\": 16385}", "topk_group"},
        {"{\"scoring_func\": \"sigmoid\"}", "0|0|0|0|0|0|0|10"},
        {"{\"scoring_func\": \"softmax\"}", "0|0|0|0|0|0|0|00"},
        {"{\"scoring_func\": []}", "0|0|0|0|0|0|0|00"},
        {"{\"rope_theta\": 1e12}", "0|1e+12|0|0|0|0|0|00"},
        {"{\"rope_theta\": 1.1e12}", "rope_theta"},
        {"{\"rope_theta\": -1}", "rope_theta"},
        {"{\"rope_scaling\": {\"rotary_pct\": -1}}", "rotary_pct"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_says(&rows[i], false);
    }
}

static void our_own_files(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"{}", "0|0|0|0|0|0|0|00"},
        {"{activation: unknown}", "0|0|0|0|0|0|0|00"},
        {"{activation: silu}", "1|0|0|0|0|0|0|00"},
        {"{activation: gelu}", "2|0|0|0|0|0|0|00"},
        {"{activation: gelu-tanh}", "3|0|0|0|0|0|0|00"},
        {"{activation: relu}", "4|0|0|0|0|0|0|00"},
        {"{activation: relu2}", "5|0|0|0|0|0|0|00"},
        {"{activation: other}", "6|0|0|0|0|0|0|00"},
        {"{activation: swish}",
         "one of unknown, silu, gelu, gelu-tanh, relu, relu2, other is expected"},
        {"{rotary_base: 3, rotary_share: 0.5, norm_epsilon: 0.25, routed_scale: 2}",
         "0|3|0.5|0.25|2|0|0|00"},
        {"{expert_groups: 4, groups_per_token: 2}", "0|0|0|0|0|4|2|00"},
        {"{expert_groups: 1, groups_per_token: 1}", "0|0|0|0|0|1|1|00"},
        {"{expert_groups: 16384, groups_per_token: 16384}", "0|0|0|0|0|16384|16384|00"},
        {"{expert_groups: 0}", "expert_groups"},
        {"{expert_groups: 16385}", "expert_groups"},
        {"{groups_per_token: 0}", "groups_per_token"},
        {"{groups_per_token: 16385}", "groups_per_token"},
        {"{sigmoid_scores: true}", "0|0|0|0|0|0|0|10"},
        {"{scaled_rotation: true}", "0|0|0|0|0|0|0|01"},
        {"{sigmoid_scores: maybe}", "sigmoid_scores"},
        {"{rope_theta: 3}", "rope_theta"},
        {"[]", "details"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_says(&rows[i], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configs_of_others),
        cmocka_unit_test(our_own_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
