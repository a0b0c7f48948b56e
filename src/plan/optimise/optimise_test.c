#include "myriad/plan/optimise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "optimise/optimise.h"
#include "planned_test.h"
#include "rounds.h"

static struct myr_optimum optimised(struct planned *p, const char *text)
{
    struct myr_optimum optimum;
    planned_read(p, text);
    if (myr_optimise(&p->arena, &p->catalog, &p->spec, &optimum, &p->err) < 0) {
        fail_msg("%s", p->err.message);
    }
    return optimum;
}

#define BASE                                                                    \
    "servers: 64\nserver: h100-8gpu\nsupplied: [servers]\nprices: cn-2024-05\n" \
    "networks: {compute: {switch: mqm9790-ns2f}}\n"

static void the_cheapest_is_first_and_the_order_is_that_of_the_objective(void **state)
{
    (void)state;
    struct planned p;
    struct myr_optimum o = optimised(&p, BASE "optimise: {objective: capex, choices: "
                                              "{oversubscription: [1, 3, 2]}}\n");
    assert_int_equal(o.count, 3);
    assert_int_equal(o.best_count, 3);
    assert_true(o.exact);
    assert_int_equal(o.points[o.best[0]].at[MYR_CHOICE_OVERSUBSCRIPTION], 1); /* 3:1 */
    for (uint32_t i = 1; i < o.best_count; i++) {
        assert_true(o.points[o.best[i - 1]].metric[MYR_METRIC_CAPEX] <=
                    o.points[o.best[i]].metric[MYR_METRIC_CAPEX]);
    }
    assert_int_equal(o.design.head->total_cents, o.points[o.best[0]].metric[MYR_METRIC_CAPEX]);
    planned_end(&p);
}

static void bandwidth_alone_is_better_when_it_is_more(void **state)
{
    (void)state;
    struct planned p;
    struct myr_optimum o =
        optimised(&p, BASE "optimise: {objective: bandwidth_per_gpu_gbps, choices: "
                           "{oversubscription: [3, 1, 2]}}\n");
    const struct myr_plan_point *best = &o.points[o.best[0]];
    assert_int_equal(best->at[MYR_CHOICE_OVERSUBSCRIPTION], 1);
    assert_int_equal(best->metric[MYR_METRIC_BANDWIDTH], 400000);
    assert_int_equal(best->metric[MYR_METRIC_BLAST], 32);
    planned_end(&p);
}

static void points_that_break_a_limit_are_counted_apart(void **state)
{
    (void)state;
    struct planned p;
    struct myr_optimum o =
        optimised(&p, BASE "optimise: {objective: capex, choices: {oversubscription: [1, 2, 3], "
                           "tiers: [1, 2]}, constraints: {bandwidth_per_gpu_gbps_min: 200}}\n");
    assert_int_equal(o.count, 6);
    assert_int_equal(o.by_state[MYR_POINT_REFUSED], 3); /* one switch does not hold 512 ports */
    assert_int_equal(o.by_state[MYR_POINT_LIMITED], 1); /* 3:1 leaves 133 Gb/s */
    assert_int_equal(o.by_state[MYR_POINT_GOOD], 2);
    assert_int_equal(o.best_count, 2);
    for (uint32_t i = 0; i < o.count; i++) {
        assert_true(o.points[i].state == MYR_POINT_GOOD || o.points[i].why);
    }
    planned_end(&p);
}

static void the_front_holds_whom_nobody_beats(void **state)
{
    (void)state;
    static const struct {
        const char *facility;
        uint32_t front;
    } rows[] = {
        /* Immersion draws less and costs more: the ratios and the kinds trade money. */
        {"", 4},
        /* At one price it beats air in all. */
        {"facility: {price_per_kw: {air: 900, immersion: 900}}\n", 2},
    };
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(rows); k++) {
        struct planned p;
        char text[600];
        snprintf(text, sizeof(text),
                 BASE "%soptimise: {objective: capex, choices: {oversubscription: [1, 2], cooling: "
                      "[air, immersion]}}\n",
                 rows[k].facility);
        struct myr_optimum o = optimised(&p, text);
        assert_int_equal(o.front_count, rows[k].front);
        for (uint32_t i = 0; rows[k].front == 2 && i < o.front_count; i++) {
            assert_int_equal(o.points[o.front[i]].at[MYR_CHOICE_COOLING], 1);
        }
        planned_end(&p);
    }
}

static void one_more_unit_of_a_limit_saves_what_it_says(void **state)
{
    (void)state;
    struct planned p;
    struct myr_relaxed relaxed;
    struct myr_optimum o =
        optimised(&p, BASE "optimise: {objective: capex, choices: {oversubscription: [1, 2]}, "
                           "constraints: {bandwidth_per_gpu_gbps_min: 300, power_kw_max: 5000}}\n");
    assert_int_equal(o.best_count, 1);
    assert_true(myr_optimise_relax(&o, o.best[0], MYR_METRIC_BANDWIDTH, &relaxed));
    assert_true(relaxed.binds);
    const struct myr_plan_point *other = &o.points[relaxed.point];
    /* From 300 Gb/s down to what 2:1 has, or more where that needs less; in thousandths. */
    assert_int_equal(relaxed.more, 300000 - other->metric[MYR_METRIC_BANDWIDTH]);
    assert_true(relaxed.more > 0 && relaxed.more <= 100000);
    assert_int_equal(relaxed.saves, o.points[o.best[0]].metric[MYR_METRIC_CAPEX] -
                                        other->metric[MYR_METRIC_CAPEX]);
    assert_true(relaxed.saves > 0);
    /* There is power enough: more of it wins nothing. */
    assert_true(myr_optimise_relax(&o, o.best[0], MYR_METRIC_POWER_KW, &relaxed));
    assert_false(relaxed.binds);
    /* And what has no limit has nothing to be loosened. */
    assert_false(myr_optimise_relax(&o, o.best[0], MYR_METRIC_BLAST, &relaxed));
    planned_end(&p);
}

static void without_a_price_money_does_not_decide(void **state)
{
    (void)state;
    struct planned p;
    struct myr_optimum o = optimised(&p, "servers: 64\nsupplied: [servers]\nnetworks: {compute: "
                                         "{switch: mqm9790-ns2f}}\noptimise: {objective: capex, "
                                         "choices: {oversubscription: [1, 2]}}\n");
    assert_int_equal(o.best_count, 0);
    assert_int_equal(o.by_state[MYR_POINT_UNPRICED], 2);
    planned_end(&p);
    o = optimised(&p, "servers: 64\nsupplied: [servers]\nnetworks: {compute: {switch: "
                      "mqm9790-ns2f}}\noptimise: {objective: power_kw, choices: "
                      "{oversubscription: [1, 2]}}\n");
    assert_int_equal(o.best_count, 2);
    planned_end(&p);
}

/* 64 to 128 servers: 256 uplinks move with eight spines and none with sixteen. */
static void cables_that_move_are_those_of_the_growth(void **state)
{
    (void)state;
    struct planned p;
    struct myr_optimum o = optimised(&p, BASE "optimise: {objective: moved_cables, grow_to: 128, "
                                              "choices: {fill: [regular, dense]}}\n");
    const struct myr_plan_point *regular = &o.points[0];
    assert_true(regular->known[MYR_METRIC_MOVED]);
    assert_int_equal(regular->metric[MYR_METRIC_MOVED], 256);
    planned_end(&p);
}

static void too_many_designs_are_refused(void **state)
{
    (void)state;
    struct planned p;
    struct myr_optimum o;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_puts(&text, BASE "optimise: {choices: {oversubscription: [");
    for (int i = 0; i < 32; i++) {
        myr_buf_printf(&text, "%s%d.%d", i ? ", " : "", 1 + i / 10, i % 10);
    }
    myr_buf_puts(&text, "], tiers: [1, 2, 3], fill: [regular, dense], topology: [rail, clos, "
                        "rail-only, middle-of-rack, dragonfly, dragonfly+], "
                        "planes: [1, 2, 4, 8], cooling: [air, cold-plate, immersion], switch: "
                        "[mqm9790-ns2f, mqm9700-ns2f, sn5600, q3400, qm8790, eth-12t8-64x200, "
                        "eth-102t4, q3200, eth-25t6]}}\n");
    myr_buf_putc(&text, '\0');
    planned_read(&p, text.data);
    assert_int_equal(myr_optimise(&p.arena, &p.catalog, &p.spec, &o, &p.err), MYR_ERANGE);
    planned_end(&p);
}

/* The tanks of 200 servers hold more litres than can be paid at that price; plates do not. */
static void a_cooling_plant_beyond_all_money_is_refused(void **state)
{
    (void)state;
    struct planned p;
    struct myr_optimum o = optimised(
        &p,
        "servers: 200\nserver: h100-8gpu\nsupplied: [servers]\nprices: {book: cn-2024-05, "
        "parts: {cooling-coolant: 1000000000000}}\nnetworks: {compute: {switch: mqm9790-ns2f}}\n"
        "facility: {bill: true}\noptimise: {objective: capex, choices: {cooling: [immersion, "
        "cold-plate]}}\n");
    assert_int_equal(o.count, 2);
    for (uint32_t i = 0; i < o.count; i++) {
        const struct myr_plan_point *point = &o.points[i];
        if (point->state == MYR_POINT_REFUSED) {
            assert_non_null(strstr(point->why, "the total is more than can be counted"));
        } else {
            assert_true(point->metric[MYR_METRIC_CAPEX] > 0);
        }
    }
    assert_int_equal(o.by_state[MYR_POINT_REFUSED], 1);
    assert_int_equal(o.by_state[MYR_POINT_GOOD], 1);
    planned_end(&p);
}

/* ---- drawn points ---- */

enum { POINTS = 7, RELAXED = 600 };

/* By how much the point is beyond the limit, which is a least one for bandwidth alone. */
static int64_t beyond(const struct myr_optimum *o, uint32_t point, uint32_t metric)
{
    int64_t value = o->points[point].metric[metric], limit = o->limits[metric];
    return metric == MYR_METRIC_BANDWIDTH ? limit - value : value - limit;
}

static void draw_points(struct myr_rng *rng, struct myr_optimum *o)
{
    for (uint32_t m = 0; m < MYR_METRIC_COUNT; m++) {
        o->limits[m] = myr_rng_below(rng, 2) ? (int64_t)myr_rng_below(rng, 9) : INT64_MAX;
    }
    for (uint32_t i = 0; i < POINTS; i++) {
        struct myr_plan_point *point = &o->points[i];
        uint32_t broken = 0;
        for (uint32_t m = 0; m < MYR_METRIC_COUNT; m++) {
            point->known[m] = myr_rng_below(rng, 12) > 0;
            point->metric[m] = 1 + (int64_t)myr_rng_below(rng, 9);
            /* Most limits hold: else hardly any point would break one alone. */
            if (o->limits[m] != INT64_MAX && beyond(o, i, m) > 0 && myr_rng_below(rng, 4)) {
                point->metric[m] = o->limits[m];
            }
            /* What is not known cannot be said to hold. */
            bool over = !point->known[m] || beyond(o, i, m) > 0;
            broken |= o->limits[m] != INT64_MAX && over ? 1U << m : 0;
        }
        point->broken = optimise_broken(o, point);
        assert_int_equal(point->broken, broken);
        point->state = point->broken ? MYR_POINT_LIMITED : MYR_POINT_GOOD;
    }
}

/* Of the points that break this one limit alone the one that saves most for each unit. */
static void check_relaxed(const struct myr_optimum *o, uint32_t metric, uint32_t objective)
{
    struct myr_relaxed said;
    bool asked = o->limits[metric] != INT64_MAX && metric != objective;
    const struct myr_plan_point *from = &o->points[0];
    assert_true(myr_optimise_relax(o, 0, metric, &said) == (asked && from->known[objective]));
    int64_t saves = 0, more = 1;
    int sign = objective == MYR_METRIC_BANDWIDTH ? -1 : 1;
    for (uint32_t i = 0; asked && from->known[objective] && i < POINTS; i++) {
        const struct myr_plan_point *point = &o->points[i];
        int64_t won = sign * (from->metric[objective] - point->metric[objective]);
        if (point->broken == 1U << metric && point->known[metric] && point->known[objective] &&
            won > 0 && won * more > saves * beyond(o, i, metric)) {
            saves = won;
            more = beyond(o, i, metric);
        }
    }
    assert_true(said.binds == (saves > 0));
    if (said.binds) {
        assert_int_equal(said.saves, saves);
        assert_int_equal(said.more, more);
        assert_int_equal(beyond(o, said.point, metric), more);
    }
}

static void loosening_a_limit_is_worth_what_the_points_beyond_it_save(void **state)
{
    (void)state;
    struct myr_rng rng;
    struct myr_plan_point points[POINTS] = {};
    struct myr_spec spec = {};
    struct myr_optimum o = {.spec = &spec, .points = points, .count = POINTS};
    uint32_t bound = 0;
    myr_rng_init(&rng, 20261118, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(RELAXED); round++) {
        spec.optimise.objective = myr_rng_below(&rng, MYR_METRIC_COUNT);
        draw_points(&rng, &o);
        for (uint32_t metric = 0; metric < MYR_METRIC_COUNT; metric++) {
            struct myr_relaxed said;
            check_relaxed(&o, metric, spec.optimise.objective);
            bound += myr_optimise_relax(&o, 0, metric, &said) && said.binds;
        }
    }
    assert_true(bound > TEST_ROUNDS(RELAXED) / 8);
}

/* As the plan of the point says, with its room; what does not decide is not looked for. */
static void racks_are_those_of_the_room(void **state)
{
    (void)state;
#define HALL                                                                                   \
    "servers: 48\nsupplied: [servers]\nprices: cn-2024-05\nnetworks: {compute: {switch: "      \
    "mqm9790-ns2f}}\nroom: {rows: 14, columns: 8, rack_kw: 40}\noptimise: {objective: capex, " \
    "choices: {oversubscription: [1, 2, 3, 7]}"
    struct planned p;
    struct myr_optimum o = optimised(&p, HALL ", constraints: {racks_max: 20}}\n");
    assert_int_equal(o.best_count, 4);
    assert_int_equal(o.points[o.best[0]].metric[MYR_METRIC_RACKS], o.design.room->racks_used);
    for (uint32_t i = 0; i < o.count; i++) {
        struct myr_spec trial = optimise_spec(&p.spec, &o.points[i]);
        struct myr_design design;
        assert_int_equal(myr_plan(&p.arena, &p.catalog, &trial, &design, &p.err), MYR_OK);
        assert_true(o.points[i].known[MYR_METRIC_RACKS]);
        assert_int_equal(o.points[i].metric[MYR_METRIC_RACKS], design.room->racks_used);
    }
    planned_end(&p);
    o = optimised(&p, HALL ", constraints: {racks_max: 15}}\n");
    assert_int_equal(o.by_state[MYR_POINT_LIMITED], 4);
    planned_end(&p);
    /* The best three are planned in full in any case; of the fourth nobody knows. */
    o = optimised(&p, HALL "}\n");
    assert_int_equal(o.best_count, 4);
    for (uint32_t i = 0; i < o.best_count; i++) {
        assert_int_equal(o.points[o.best[i]].known[MYR_METRIC_RACKS], i < 3);
    }
    assert_int_equal(o.points[o.best[0]].metric[MYR_METRIC_RACKS], o.design.room->racks_used);
    planned_end(&p);
    /* A room that does not hold it refuses it when it is measured, and not among the best alone. */
    o = optimised(&p, "servers: 48\nnetworks: {compute: {switch: mqm9790-ns2f}}\nroom: {rows: 4, "
                      "columns: 3, rack_kw: 40}\noptimise: {objective: racks, choices: "
                      "{oversubscription: [1, 2]}}\n");
    assert_int_equal(o.by_state[MYR_POINT_REFUSED], 2);
    assert_int_equal(o.planned, 0);
    planned_end(&p);
}

static int64_t bandwidth_of(const char *text)
{
    struct planned p;
    struct myr_optimum o = optimised(&p, text);
    assert_int_equal(o.best_count, 1);
    int64_t bandwidth = o.points[o.best[0]].metric[MYR_METRIC_BANDWIDTH];
    planned_end(&p);
    return bandwidth;
}

#define WIDE "optimise: {objective: power_kw, choices: {oversubscription: [1]}}\n"

static void bandwidth_is_that_of_gpus_on_the_network(void **state)
{
    (void)state;
    assert_int_equal(bandwidth_of("groups: [{name: a, servers: 48, server: h100-8gpu}, {name: b, "
                                  "servers: 8, server: a100-8gpu, networks: [oob]}]\nnetworks: "
                                  "{compute: {switch: mqm9790-ns2f}, oob: }\n" WIDE),
                     400000);
    /* Nor do ports of hosts without GPUs make it wider. */
    assert_int_equal(bandwidth_of("servers: 8\nnetworks: {compute: {switch: mqm9790-ns2f, "
                                  "extra_nodes: 4, fabric_manager_ports: 2}}\n" WIDE),
                     400000);
    /* All planes count. */
    assert_int_equal(bandwidth_of("servers: 8\nnetworks: {compute: {switch: mqm9790-ns2f, planes: "
                                  "2}}\n" WIDE),
                     400000);
}

/* Neither of them is free: a bill without a price, and energy in a currency of its own. */
static void years_whose_cost_nobody_knows_decide_nothing(void **state)
{
    (void)state;
    struct planned p;
    struct myr_optimum o =
        optimised(&p, BASE "facility: {energy: {currency: EUR}}\noptimise: {objective: "
                           "cost_of_years, choices: {oversubscription: [1, 2]}}\n");
    assert_int_equal(o.by_state[MYR_POINT_UNPRICED], 2);
    assert_non_null(strstr(o.points[0].why, "'exchange', CNY for one EUR"));
    planned_end(&p);
    /* As a limit too; and with the exchange all is known. */
    o = optimised(&p, BASE "facility: {energy: {currency: EUR}}\noptimise: {objective: capex, "
                           "choices: {oversubscription: [1, 2]}, constraints: {cost_of_years_max: "
                           "1e15}}\n");
    assert_int_equal(o.by_state[MYR_POINT_UNPRICED], 2);
    planned_end(&p);
    o = optimised(&p,
                  BASE "facility: {energy: {currency: EUR, exchange: 8}}\noptimise: {objective: "
                       "cost_of_years, choices: {oversubscription: [1, 2]}}\n");
    assert_int_equal(o.best_count, 2);
    planned_end(&p);
    /* Where it decides nothing it is unknown and no more; so is a bill without a price. */
    o = optimised(&p, "servers: 64\nnetworks: {compute: {switch: mqm9790-ns2f}}\noptimise: "
                      "{objective: power_kw, choices: {oversubscription: [1, 2]}}\n");
    assert_int_equal(o.best_count, 2);
    assert_false(o.points[0].known[MYR_METRIC_CAPEX]);
    assert_false(o.points[0].known[MYR_METRIC_COST_OF_YEARS]);
    planned_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_is_first_and_the_order_is_that_of_the_objective),
        cmocka_unit_test(bandwidth_alone_is_better_when_it_is_more),
        cmocka_unit_test(points_that_break_a_limit_are_counted_apart),
        cmocka_unit_test(the_front_holds_whom_nobody_beats),
        cmocka_unit_test(one_more_unit_of_a_limit_saves_what_it_says),
        cmocka_unit_test(loosening_a_limit_is_worth_what_the_points_beyond_it_save),
        cmocka_unit_test(without_a_price_money_does_not_decide),
        cmocka_unit_test(cables_that_move_are_those_of_the_growth),
        cmocka_unit_test(too_many_designs_are_refused),
        cmocka_unit_test(racks_are_those_of_the_room),
        cmocka_unit_test(bandwidth_is_that_of_gpus_on_the_network),
        cmocka_unit_test(years_whose_cost_nobody_knows_decide_nothing),
        cmocka_unit_test(a_cooling_plant_beyond_all_money_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
