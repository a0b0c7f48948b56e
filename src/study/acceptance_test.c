/*
 * Targets of acceptance: what is simulated never passes the line nor the published share of it, a
 * narrower network has lower ones, and stops are the quantile of a Poisson process that is counted
 * here in another way.
 */
#include "myriad/study/acceptance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/model/spec_load.h"
#include "myriad/plan.h"

struct asked {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_design design;
    struct myr_plan_targets targets;
    struct myr_err err;
};

static int ask(struct asked *it, const char *text, const char *model, uint64_t batch)
{
    struct myr_spec spec = {};
    const struct myr_doc *doc;
    *it = (struct asked){};
    myr_arena_init(&it->arena);
    assert_int_equal(myr_catalog_init(&it->catalog, &it->arena, &it->err), MYR_OK);
    assert_int_equal(myr_doc_read_yaml(&it->arena, "spec", myr_str_from(text), &doc, &it->err),
                     MYR_OK);
    assert_int_equal(myr_spec_read(&it->arena, &it->catalog, doc, &spec, &it->err), MYR_OK);
    assert_int_equal(myr_plan(&it->arena, &it->catalog, &spec, &it->design, &it->err), MYR_OK);
    myr_spec_done(&spec);
    const struct myr_acceptance_question question = {
        .design = &it->design, .model = model, .batch = batch};
    return myr_acceptance_targets(&it->arena, &it->catalog, &question, &it->targets, &it->err);
}

static void release(struct asked *it)
{
    myr_catalog_done(&it->catalog);
    myr_arena_done(&it->arena);
}

static const struct myr_plan_target *find(const struct asked *it, const char *key)
{
    for (uint32_t i = 0; i < it->targets.count; i++) {
        if (strcmp(it->targets.items[i].key, key) == 0) {
            return &it->targets.items[i];
        }
    }
    return NULL;
}

static void every_target_says_what_it_rests_on(void **state)
{
    (void)state;
    struct asked it;
    assert_int_equal(
        ask(&it, "servers: 32\nserver: h100-8gpu\nnetworks: {compute: {}}\n", "llama3-8b", 256),
        MYR_OK);
    assert_true(it.targets.count >= 8);
    assert_non_null(find(&it, "step_s"));
    assert_non_null(find(&it, "mfu"));
    assert_int_equal(it.targets.lacking_count, 0);
    for (uint32_t i = 0; i < it.targets.count; i++) {
        const struct myr_plan_target *one = &it.targets.items[i];
        assert_true(one->value > 0 && one->test[0] && one->rule[0] && one->inputs[0] &&
                    one->reach[0] && one->basis[0]);
        /* Never more than published clusters reach of eight cards of 400 Gb/s. */
        assert_true(strcmp(one->unit, "GB/s") != 0 || one->value <= 370.0 + 1e-9);
        for (uint32_t k = 0; k < i; k++) {
            assert_string_not_equal(one->key, it.targets.items[k].key);
        }
    }
    release(&it);
}

/* Half of the uplinks: what crosses them takes twice as long, and a pair of a leaf does not. */
static void a_narrower_network_has_lower_targets(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "servers: 128\nserver: h100-8gpu\nnetworks: {compute: {topology: clos, oversubscription: "
        "1}}\n",
        "servers: 128\nserver: h100-8gpu\nnetworks: {compute: {topology: clos, oversubscription: "
        "4}}\n"};
    double all[2], two[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct asked it;
        assert_int_equal(ask(&it, specs[i], NULL, 0), MYR_OK);
        all[i] = find(&it, "allreduce_128_nodes")->value;
        two[i] = find(&it, "allreduce_2_nodes")->value;
        assert_null(find(&it, "step_s"));
        assert_int_equal(it.targets.lacking_count, 1);
        release(&it);
    }
    assert_true(all[1] <= all[0]);
    assert_true(two[1] <= two[0] + 1e-9);
}

/* The same by the textbook's series, for means that it can be summed for. */
static void stops_are_the_quantile_of_chance(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 4, 16, 61, 128, 700, 1280};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        struct asked it;
        char text[128], *end;
        snprintf(text, sizeof(text), "servers: %u\nserver: h100-8gpu\nnetworks: {compute: {}}\n",
                 sizes[i]);
        assert_int_equal(ask(&it, text, NULL, 0), MYR_OK);
        const struct myr_plan_target *stops = find(&it, "stops");
        const char *rate = strstr(stops->inputs, "days: ");
        uint32_t days = strstr(stops->inputs, "in 7 days") ? 7 : 30;
        /* The rate is printed to two digits: the mean is known to half a percent. */
        double mean = strtod(rate + strlen("days: "), &end) / 1000 * sizes[i] * days;
        uint32_t counts[2];
        for (uint32_t side = 0; side < 2; side++) {
            double m = mean * (side ? 1.005 : 0.995), term = exp(-m), sum = term;
            uint32_t k = 0;
            while (sum < 0.9) {
                term *= m / ++k;
                sum += term;
            }
            counts[side] = k;
        }
        assert_true(stops->value >= counts[0] && stops->value <= counts[1]);
        release(&it);
    }
}

static void a_design_without_the_network_says_so(void **state)
{
    (void)state;
    struct asked it;
    assert_int_equal(ask(&it, "servers: 4\nserver: h100-8gpu\nnetworks: {oob: {}}\n", NULL, 0),
                     MYR_OK);
    assert_int_equal(it.targets.count, 0);
    assert_int_equal(it.targets.lacking_count, 1);
    release(&it);
    assert_true(
        ask(&it, "servers: 4\nserver: h100-8gpu\nnetworks: {compute: {}}\n", "llama3-8b", 0) < 0);
    release(&it);
    /* One node: no network is tested, and its stops still have a target. */
    assert_int_equal(ask(&it, "servers: 1\nserver: h100-8gpu\nnetworks: {compute: {}}\n", NULL, 0),
                     MYR_OK);
    assert_int_equal(it.targets.count, 1);
    release(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_says_what_it_rests_on),
        cmocka_unit_test(a_narrower_network_has_lower_targets),
        cmocka_unit_test(stops_are_the_quantile_of_chance),
        cmocka_unit_test(a_design_without_the_network_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
