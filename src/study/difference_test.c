/*
 * The difference of two proposals over drawn pairs of specs: of a plan and itself it is nothing,
 * the other way round it is the negative, lines add up to the difference of the totals where all
 * are priced, and what cannot be subtracted is not.
 */
#include "myriad/study/difference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/model/spec_load.h"
#include "myriad/plan.h"

enum { PAIRS = 60, SEED = 20261120 };

struct pair {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_design designs[2];
    struct myr_difference difference;
};

static void plan(struct pair *pair, uint32_t side, const char *text)
{
    struct myr_spec spec = {};
    const struct myr_doc *doc;
    struct myr_err err = {};
    if (myr_doc_read_yaml(&pair->arena, "spec", myr_str_from(text), &doc, &err) < 0 ||
        myr_spec_read(&pair->arena, &pair->catalog, doc, &spec, &err) < 0 ||
        myr_plan(&pair->arena, &pair->catalog, &spec, &pair->designs[side], &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    myr_spec_done(&spec);
}

static void take(struct pair *pair, bool turned)
{
    static const char *const files[] = {"a", "b"};
    struct myr_err err;
    assert_int_equal(myr_difference_of(&pair->arena,
                                       (const struct myr_design *const[]){&pair->designs[turned],
                                                                          &pair->designs[!turned]},
                                       files, &pair->difference, &err),
                     MYR_OK);
}

static void begin(struct pair *pair, const char *a, const char *b)
{
    struct myr_err err;
    *pair = (struct pair){};
    myr_arena_init(&pair->arena);
    assert_int_equal(myr_catalog_init(&pair->catalog, &pair->arena, &err), MYR_OK);
    plan(pair, 0, a);
    plan(pair, 1, b);
    take(pair, false);
}

static void end(struct pair *pair)
{
    myr_catalog_done(&pair->catalog);
    myr_arena_done(&pair->arena);
}

static const struct myr_difference_row *row_of(const struct pair *pair, const char *path)
{
    for (uint32_t i = 0; i < pair->difference.row_count; i++) {
        if (strcmp(pair->difference.rows[i].path, path) == 0) {
            return &pair->difference.rows[i];
        }
    }
    return NULL;
}

static void draw(struct myr_rng *rng, char *text, size_t size)
{
    static const char *const servers[] = {"h100-8gpu", "h200-8gpu", "b200-8gpu"};
    static const char *const networks[] = {"compute: {fabric: roce}",
                                           "compute: {fabric: infiniband}, storage: {}",
                                           "compute: {topology: clos}, service: {}, oob: {}"};
    static const char *const books[] = {"cn-2024-05", "market-2026"};
    snprintf(text, size, "servers: %u\nserver: %s\nnetworks: {%s}\nprices: %s\n%s",
             1 + myr_rng_below(rng, 96), servers[myr_rng_below(rng, 3)],
             networks[myr_rng_below(rng, 3)], books[myr_rng_below(rng, 2)],
             myr_rng_below(rng, 2) ? "supplied: [servers]\n" : "");
}

static void of_a_plan_and_itself_it_is_nothing(struct pair *pair)
{
    struct myr_design second = pair->designs[1];
    pair->designs[1] = pair->designs[0];
    take(pair, false);
    assert_int_equal(pair->difference.number_count, 0);
    assert_int_equal(pair->difference.finding_count, 0);
    for (uint32_t i = 0; i < pair->difference.row_count; i++) {
        const struct myr_difference_row *row = &pair->difference.rows[i];
        assert_true(row->known[0] == row->known[1] && row->values[0] == row->values[1]);
    }
    for (uint32_t i = 0; i < pair->difference.line_count; i++) {
        const struct myr_difference_line *line = &pair->difference.lines[i];
        assert_true(line->quantities[0] == line->quantities[1] && line->cents[0] == line->cents[1]);
    }
    pair->designs[1] = second;
}

/* Against the totals of the designs, which this knows nothing of. */
static void lines_add_up(const struct pair *pair)
{
    for (uint32_t s = 0; s < 2; s++) {
        int64_t cents = 0;
        uint64_t pieces = 0, bill = 0;
        bool all = true;
        for (uint32_t i = 0; i < pair->difference.line_count; i++) {
            const struct myr_difference_line *line = &pair->difference.lines[i];
            all = all && line->cents[s] >= 0;
            cents += line->cents[s];
            pieces += line->quantities[s];
        }
        for (uint32_t i = 0; i < pair->designs[s].bom_count; i++) {
            bill += pair->designs[s].bom[i].quantity;
        }
        assert_true(pieces == bill);
        assert_true(!all || cents == pair->designs[s].head->total_cents);
    }
}

static void drawn_pairs_hold(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t currencies = 0, lacking = 0, known = 0;
    myr_rng_init(&rng, SEED, 0);
    print_message("seed %d\n", SEED);
    for (uint32_t i = 0; i < PAIRS; i++) {
        char a[256], b[256];
        struct pair pair;
        draw(&rng, a, sizeof(a));
        draw(&rng, b, sizeof(b));
        begin(&pair, a, b);
        lines_add_up(&pair);
        const struct myr_difference_row *cost = row_of(&pair, "totals.cost");
        const char *first = myr_design_str(&pair.designs[0], pair.designs[0].head->currency);
        const char *second = myr_design_str(&pair.designs[1], pair.designs[1].head->currency);
        assert_non_null(cost);
        assert_true(strcmp(first, second) == 0 || cost->why);
        currencies += cost->why && strcmp(cost->why, "two currencies") == 0;
        lacking += cost->why && strstr(cost->why, "main lines") != NULL;
        known += !cost->why;
        const struct myr_difference forward = pair.difference;
        take(&pair, true);
        assert_int_equal(forward.number_count, pair.difference.number_count);
        assert_int_equal(forward.finding_count, pair.difference.finding_count);
        for (uint32_t k = 0; k < forward.row_count; k++) {
            const struct myr_difference_row *one = &forward.rows[k];
            const struct myr_difference_row *other = row_of(&pair, one->path);
            assert_non_null(other);
            assert_true(one->values[0] == other->values[1] && one->values[1] == other->values[0]);
            assert_int_equal(one->why != NULL, other->why != NULL);
        }
        of_a_plan_and_itself_it_is_nothing(&pair);
        end(&pair);
    }
    assert_true(currencies > 0 && lacking > 0 && known > 0); /* else nothing was tried */
}

/* The published design and its second phase: 48.6811 and 76.9673 million. */
static void the_published_phases_differ_by_what_their_bills_say(void **state)
{
    (void)state;
    struct pair pair;
    static const char order[] =
        "server: h100-8gpu\nsupplied: [servers]\nprices: cn-2024-05\nnetworks: {compute: {switch: "
        "mqm9790-ns2f, pin: {switch_optic: mms4x00-ns, nic_optic: mms4x00-ns400, host_cable: "
        "mfp7e30-n050, fabric_optic: mms4x00-ns, fabric_cable: mfp7e30-n050}}}\n";
    char a[512], b[512];
    snprintf(a, sizeof(a), "servers: 64\n%s", order);
    snprintf(b, sizeof(b), "servers: 128\n%s", order);
    begin(&pair, a, b);
    const struct myr_difference_row *cost = row_of(&pair, "totals.cost");
    assert_null(cost->why);
    assert_true(fabs(cost->values[1] - cost->values[0] - 22016000) < 0.005);
    assert_true(row_of(&pair, "networks.compute.switches.total")->values[1] == 48);
    end(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_pairs_hold),
        cmocka_unit_test(the_published_phases_differ_by_what_their_bills_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
