#include "myriad/plan/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planned_test.h"

static struct myr_explained explained(struct planned *p, const char *path)
{
    struct myr_explained *found;
    uint32_t count;
    if (myr_plan_explain_path(&p->design, &p->answer, path, &found, &count, &p->err) < 0) {
        fail_msg("%s: %s", path, p->err.message);
    }
    assert_int_equal(count, 1);
    return *found;
}

static void a_number_has_its_rule_and_its_inputs_their_values(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 64\nnetworks: {compute: {switch: mqm9790}, oob: {}}\n");
    struct myr_explained leaf = explained(&p, "networks.compute.switches.leaf");
    assert_string_equal(leaf.path, "networks.compute.switches.leaf");
    assert_true(myr_str_eq(leaf.value->text, MYR_STR("16")));
    assert_non_null(strstr(leaf.inputs, "networks.compute.host_ports = 512"));
    assert_non_null(strstr(leaf.inputs, "networks.compute.shape.leaf_down = 32"));
    assert_string_equal(leaf.basis, "counted");
    struct myr_explained oob = explained(&p, "networks.oob.switches.access");
    assert_non_null(strstr(oob.inputs, "networks.oob.nodes"));
    struct myr_explained power = explained(&p, "power.facility_kw");
    assert_string_equal(power.unit, "kW");
    assert_string_equal(power.basis, "computed");
    assert_string_equal(power.rule, "IT power * PUE at full load");
    assert_string_equal(explained(&p, "power.load").basis, "assumed");
    planned_end(&p);
}

static void a_line_of_the_bill_is_found_by_its_position(void **state)
{
    (void)state;
    struct planned p;
    planned_begin(&p, "servers: 64\n");
    struct myr_explained dotted = explained(&p, "bom.1.quantity");
    struct myr_explained braced = explained(&p, "bom[1].quantity");
    assert_string_equal(dotted.rule, myr_design_str(&p.design, p.design.bom[1].rule));
    assert_string_equal(dotted.inputs, myr_design_str(&p.design, p.design.bom[1].inputs));
    assert_ptr_equal(dotted.value, braced.value);
    assert_string_not_equal(dotted.rule, explained(&p, "bom.0.quantity").rule);
    planned_end(&p);
}

static void what_is_no_number_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *path, *says;
    } cases[] = {
        {".", "no number"},
        {"[", "no number"},
        {"racks.A1.kw", "no number"}, /* there is no room */
        {"next.cost", "no number"},
        {"power.nothing", "no number"},
        {"bom.9999.quantity", "no number"},
        {"bom.x.quantity", "no number"},
        {"bom.-1.quantity", "no number"},
        {"name", "is a word"},
        {"networks.compute.fill", "is a word"},
        {"gpus.more", "no number"},
    };
    struct planned p;
    struct myr_explained *found;
    uint32_t count;
    planned_begin(&p, "servers: 64\n");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_err err = {};
        assert_true(
            myr_plan_explain_path(&p.design, &p.answer, cases[i].path, &found, &count, &err) < 0);
        if (!strstr(err.message, cases[i].says)) {
            fail_msg("'%s': %s", cases[i].path, err.message);
        }
    }
    planned_end(&p);
}

static uint32_t numbers_below(const struct myr_value *value)
{
    uint32_t count = value->kind == MYR_VALUE_NUMBER;
    for (const struct myr_value *v = value->first; v; v = v->next) {
        count += numbers_below(v);
    }
    return count;
}

/* Every number of the tree but those that are listed a second time. */
static void all_numbers_are_explained_once(void **state)
{
    (void)state;
    struct planned p;
    uint32_t count, expected = 0;
    planned_begin(&p, "servers: 64\nnetworks: {compute: {}, storage: {}, oob: {}}\n"
                      "storage: {capacity_tb: 500}\nroom: {rows: 20, columns: 20}\n");
    struct myr_explained *all;
    assert_int_equal(myr_plan_explain_path(&p.design, &p.answer, "", &all, &count, &p.err), MYR_OK);
    for (const struct myr_value *v = p.answer.root.first; v; v = v->next) {
        expected += strcmp(v->key, "figures") == 0 ? 0 : numbers_below(v);
    }
    assert_int_equal(count, expected);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(all[i].rule[0] != '\0');
        assert_true(i == 0 || strcmp(all[i].path, all[i - 1].path) != 0);
        struct myr_explained one = explained(&p, all[i].path);
        assert_ptr_equal(one.value, all[i].value);
        assert_string_equal(one.rule, all[i].rule);
        assert_string_equal(one.inputs, all[i].inputs);
    }
    planned_end(&p);
}

static void a_path_with_several_numbers_lists_them(void **state)
{
    (void)state;
    struct planned p;
    struct myr_explained *all;
    uint32_t count;
    planned_begin(&p, "servers: 64\nroom: {rows: 20, columns: 20, buildings: [{name: b.1}, {name: "
                      "b.1.x}], distance_m: 50}\n");
    assert_int_equal(myr_plan_explain_path(&p.design, &p.answer, "networks.compute.switches", &all,
                                           &count, &p.err),
                     MYR_OK);
    assert_int_equal(count, 6);
    assert_string_equal(all[0].path, "networks.compute.switches.leaf");
    assert_int_equal(myr_plan_explain_path(&p.design, &p.answer, "findings", &all, &count, &p.err),
                     MYR_OK);
    assert_int_equal(count, p.design.finding_count);
    /* Racks, by names that have dots and begin with each other. */
    assert_int_equal(myr_plan_explain_path(&p.design, &p.answer, "racks", &all, &count, &p.err),
                     MYR_OK);
    assert_int_equal(count, 6 * p.design.rack_count);
    for (uint32_t i = 0; i < count; i += 97) {
        assert_ptr_equal(explained(&p, all[i].path).value, all[i].value);
    }
    planned_end(&p);
}

static void a_figure_that_is_not_known_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why, *exchange; /* NULL: it is known */
    } rows[] = {
        {"servers: 16\n", "no line of the bill has a price, and unpriced is not free", NULL},
        {"servers: 16\nprices: cn-2024-05\n", NULL, NULL},
        /* One line that has a price is enough, also of the cooling plant alone. */
        {"servers: 16\nprices: {parts: {mma4z00-ns: 5}}\n", NULL, NULL},
        {"servers: 16\nprices: {parts: {cooling-air-unit: 5}}\nfacility: {bill: true}\n", NULL,
         NULL},
        {"servers: 16\nprices: cn-2024-05\nfacility: {energy: {currency: EUR}}\n",
         "the bill is in CNY and the tariff in EUR: facility.energy lacks 'exchange', CNY for one "
         "EUR",
         "the bill is in CNY and the tariff in EUR: facility.energy lacks 'exchange', CNY for one "
         "EUR"},
        /* Of what is missing all is told, and of the rate nothing but the rate. */
        {"servers: 16\nfacility: {energy: {currency: EUR}}\n",
         "no line of the bill has a price, and unpriced is not free; the bill is in CNY and the "
         "tariff in EUR: facility.energy lacks 'exchange', CNY for one EUR",
         "the bill is in CNY and the tariff in EUR: facility.energy lacks 'exchange', CNY for one "
         "EUR"},
        {"servers: 16\nfacility: {energy: {currency: EUR, exchange: 1.1}}\n",
         "no line of the bill has a price, and unpriced is not free", NULL},
        {"servers: 16\nprices: cn-2024-05\nfacility: {energy: {currency: EUR, exchange: 8}}\n",
         NULL, NULL},
        {"servers: 16\nprices: cn-2024-05\nfacility: {energy: {currency: CNY}}\n", NULL, NULL},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct planned p;
        planned_begin(&p, rows[i].text);
        struct myr_explained years = explained(&p, "power.energy.cost_of_years");
        assert_string_equal(years.unit, "CNY");
        assert_int_equal(years.value->kind, rows[i].why ? MYR_VALUE_NULL : MYR_VALUE_NUMBER);
        if (rows[i].why) {
            assert_string_equal(years.why, rows[i].why);
            assert_string_equal(years.inputs, "");
        } else {
            assert_null(years.why);
        }
        struct myr_explained exchange = explained(&p, "power.energy.exchange");
        assert_true(!exchange.why == !rows[i].exchange);
        if (exchange.why) {
            assert_string_equal(exchange.why, rows[i].exchange);
        }
        /* Null together with the bill, or for its own reason. */
        bool billed = explained(&p, "totals.cost").value->kind == MYR_VALUE_NUMBER;
        assert_true(billed == (strstr(rows[i].text, "prices") != NULL));
        const char *unpriced = explained(&p, "totals.cost").why;
        assert_true(!unpriced == billed);
        if (!billed) {
            assert_string_equal(unpriced,
                                "no line of the bill has a price, and unpriced is not free");
        }
        planned_end(&p);
    }
    struct planned p;
    planned_begin(&p, "servers: 16\n");
    assert_string_equal(explained(&p, "power.racks.modules").why, "the plan has no such figure");
    planned_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_has_its_rule_and_its_inputs_their_values),
        cmocka_unit_test(a_line_of_the_bill_is_found_by_its_position),
        cmocka_unit_test(what_is_no_number_is_refused_with_a_reason),
        cmocka_unit_test(a_path_with_several_numbers_lists_them),
        cmocka_unit_test(a_figure_that_is_not_known_says_why),
        cmocka_unit_test(all_numbers_are_explained_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
