/* What a run is charged by: an option, the design, the program, in this order, and it is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <math.h>

#include "test_world.h"

/* A design as far as it is asked: 512 GPUs, a bill, and figures by their paths. */
struct planned {
    struct myr_design design;
    struct myr_design_head head;
    struct myr_figure figures[16];
    struct myr_bom_row server;
    char strings[1024];
};

static uint32_t put_string(struct planned *p, const char *text)
{
    uint32_t at = p->design.string_bytes;
    memcpy(p->strings + at, text, strlen(text) + 1);
    p->design.string_bytes += (uint32_t)strlen(text) + 1;
    return at;
}

static struct myr_figure *put_figure(struct planned *p, const char *path, double value,
                                     enum myr_basis basis)
{
    struct myr_figure *figure = &p->figures[p->design.figure_count++];
    *figure =
        (struct myr_figure){.path = put_string(p, path), .value = value, .basis = (uint8_t)basis};
    return figure;
}

static struct planned *plan(const char *bill, const char *tariff)
{
    struct planned *p = MYR_ARENA_ONE(&arena, struct planned);
    p->design = (struct myr_design){
        .head = &p->head, .figures = p->figures, .strings = p->strings, .bom = &p->server};
    (void)put_string(p, "");
    p->head = (struct myr_design_head){.gpus = 512, .gpus_per_node = 8, .nodes = 64};
    p->head.currency = put_string(p, bill);
    p->head.total_cents = 100 * 8760LL * 5 * 1024;
    p->server = (struct myr_bom_row){.name = put_string(p, "GPU server"), .unit_cents = 1};
    p->design.bom_count = 1;
    (void)put_figure(p, "power.it.kw", 800, MYR_BASIS_COMPUTED);
    (void)put_figure(p, "power.it.unknown_devices", 3, MYR_BASIS_COUNTED);
    (void)put_figure(p, "power.pue.value", 1.355, MYR_BASIS_COMPUTED);
    (void)put_figure(p, "power.energy.tariff_per_kwh", 0.078, MYR_BASIS_GIVEN);
    put_figure(p, "power.energy.currency", 0, MYR_BASIS_GIVEN)->text = put_string(p, tariff);
    (void)put_figure(p, "power.energy.years", 5, MYR_BASIS_ASSUMED);
    return p;
}

static struct myr_run_facility_question nothing_given(const struct planned *p)
{
    return (struct myr_run_facility_question){.pue = -1,
                                              .kwh = -1,
                                              .years = -1,
                                              .gpu_hour = -1,
                                              .design = p ? &p->design : NULL,
                                              .gpus = 128,
                                              .gpu_watts = 1000};
}

static struct myr_run_facility facility(const struct myr_run_facility_question *q)
{
    struct myr_run_facility ret;
    struct myr_err err = {};
    if (myr_run_facility_of(q, &arena, &ret, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return ret;
}

static void assert_figure(const struct myr_run_figure *figure, double value, enum myr_run_from from,
                          enum myr_basis basis)
{
    assert_true(figure->known);
    if (fabs(figure->value - value) > 1e-9 * fabs(value)) {
        fail_msg("%.12g, %.12g expected", figure->value, value);
    }
    assert_int_equal(figure->from, from);
    assert_int_equal(figure->basis, basis);
}

static void a_design_says_all_of_it(void **state)
{
    (void)state;
    struct myr_run_facility_question q = nothing_given(plan("USD", "USD"));
    struct myr_run_facility f = facility(&q);
    /* A quarter of the design's power and price. */
    assert_figure(&f.it_watts, 200000, MYR_RUN_DESIGN, MYR_BASIS_COMPUTED);
    assert_figure(&f.pue, 1.355, MYR_RUN_DESIGN, MYR_BASIS_COMPUTED);
    assert_figure(&f.kwh, 0.078, MYR_RUN_DESIGN, MYR_BASIS_GIVEN);
    assert_figure(&f.years, 5, MYR_RUN_DESIGN, MYR_BASIS_ASSUMED);
    assert_figure(&f.machine_hour, 256, MYR_RUN_DESIGN, MYR_BASIS_COMPUTED);
    assert_string_equal(f.currency, "USD");
    assert_int_equal(f.currency_from, MYR_RUN_DESIGN);
    assert_int_equal(f.without_watts, 3);
    assert_false(f.servers_unpriced);
    assert_string_equal(myr_run_from_words(&f.kwh), "the design's");
    assert_string_equal(myr_run_from_words(&f.years), "the design's, assumed there");
}

static void an_option_takes_the_place_of_a_figure(void **state)
{
    (void)state;
    struct myr_run_facility_question q = nothing_given(plan("USD", "USD"));
    q.pue = 1.1;
    q.kwh = 0;
    q.years = 10;
    struct myr_run_facility f = facility(&q);
    assert_figure(&f.pue, 1.1, MYR_RUN_OPTION, MYR_BASIS_GIVEN);
    assert_figure(&f.kwh, 0, MYR_RUN_OPTION, MYR_BASIS_GIVEN);
    assert_figure(&f.years, 10, MYR_RUN_OPTION, MYR_BASIS_GIVEN);
    assert_figure(&f.machine_hour, 128, MYR_RUN_DESIGN, MYR_BASIS_COMPUTED);
    assert_string_equal(myr_run_from_words(&f.pue), "given");
    q.gpu_hour = 2;
    f = facility(&q);
    assert_figure(&f.machine_hour, 256, MYR_RUN_OPTION, MYR_BASIS_GIVEN);
    assert_false(f.years.known); /* no price of a design is spread */
}

static void without_a_design_everything_is_assumed(void **state)
{
    (void)state;
    struct myr_run_facility_question q = nothing_given(NULL);
    struct myr_run_facility f = facility(&q);
    assert_figure(&f.it_watts, 128000, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED);
    assert_figure(&f.pue, 1.25, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED);
    assert_figure(&f.kwh, 0.65, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED);
    assert_false(f.years.known || f.machine_hour.known);
    assert_string_equal(f.currency, "CNY");
    assert_int_equal(f.currency_from, MYR_RUN_DEFAULT);
    assert_string_equal(myr_run_from_words(&f.pue), "assumed");
    q.currency = "EUR";
    f = facility(&q);
    assert_false(f.kwh.known); /* the price that is assumed is one in CNY */
    assert_int_equal(f.currency_from, MYR_RUN_OPTION);
}

static void a_tariff_comes_into_the_bill_by_the_plans_exchange(void **state)
{
    (void)state;
    struct planned *p = plan("CNY", "USD");
    struct myr_run_facility_question q = nothing_given(p);
    struct myr_run_facility f = facility(&q);
    assert_false(f.kwh.known); /* nobody has compared the two */
    (void)put_figure(p, "power.energy.exchange", 7.2, MYR_BASIS_ASSUMED);
    f = facility(&q);
    assert_figure(&f.kwh, 0.078 * 7.2, MYR_RUN_DESIGN, MYR_BASIS_ASSUMED);
    /* With a price of GPUs in the tariff's currency no exchange is needed. */
    q.currency = "USD";
    q.gpu_hour = 2;
    f = facility(&q);
    assert_figure(&f.kwh, 0.078, MYR_RUN_DESIGN, MYR_BASIS_GIVEN);
    q.currency = "EUR";
    assert_false(facility(&q).kwh.known);
}

static void older_files_and_absurd_figures_leave_what_is_assumed(void **state)
{
    (void)state;
    struct planned *p = plan("CNY", "USD");
    struct myr_run_facility_question q = nothing_given(p);
    for (uint32_t i = 0; i < p->design.figure_count; i++) {
        p->figures[i].value = i % 2 ? 1e300 : -1;
    }
    struct myr_run_facility f = facility(&q);
    assert_figure(&f.it_watts, 0, MYR_RUN_DESIGN, MYR_BASIS_COUNTED); /* it has no devices */
    assert_figure(&f.pue, 1.25, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED);
    assert_figure(&f.kwh, 0.65, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED);
    assert_figure(&f.years, 4, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED);
    p->design.figure_count = 0;
    f = facility(&q);
    assert_figure(&f.pue, 1.25, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED);
    assert_figure(&f.years, 4, MYR_RUN_DEFAULT, MYR_BASIS_ASSUMED);
    assert_int_equal(f.without_watts, 0);
    p->server.unit_cents = -1;
    assert_true(facility(&q).servers_unpriced);
}

static void a_design_is_not_priced_in_another_currency(void **state)
{
    (void)state;
    struct myr_run_facility_question q = nothing_given(plan("CNY", "USD"));
    struct myr_run_facility f;
    struct myr_err err = {};
    q.currency = "USD";
    assert_int_equal(myr_run_facility_of(&q, &arena, &f, &err), MYR_EINVAL);
    assert_string_equal(err.message, "the design is priced in CNY, not in USD");
    q.currency = "ninechars";
    assert_int_equal(myr_run_facility_of(&q, &arena, &f, &err), MYR_EINVAL);
    q.currency = "eightcha";
    q.gpu_hour = 0;
    assert_int_equal(myr_run_facility_of(&q, &arena, &f, &err), MYR_OK);
    assert_figure(&f.machine_hour, 0, MYR_RUN_OPTION, MYR_BASIS_GIVEN); /* nothing is a price */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_design_says_all_of_it),
        cmocka_unit_test(an_option_takes_the_place_of_a_figure),
        cmocka_unit_test(without_a_design_everything_is_assumed),
        cmocka_unit_test(a_tariff_comes_into_the_bill_by_the_plans_exchange),
        cmocka_unit_test(older_files_and_absurd_figures_leave_what_is_assumed),
        cmocka_unit_test(a_design_is_not_priced_in_another_currency),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
