/*
 * What a run is charged by, for people and for programs, with everything that may be known or not
 * (tests/kept/goodput-facility.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "goodput/goodput.h"
#include "kept.h"

static struct myr_run_figure known(double value, enum myr_run_from from)
{
    return (struct myr_run_figure){
        .value = value, .from = from, .basis = (enum myr_basis)((int)from % 2), .known = true};
}

static void put(struct myr_buf *story, const struct myr_run_facility *facility, bool money,
                enum myr_format format)
{
    struct myr_arena arena;
    struct myr_answer answer;
    struct myr_err err = {};
    const struct myr_answer_form form = {.format = format};
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "t", 1);
    if (format == MYR_FORMAT_TABLE) {
        cli_goodput_show_facility(&answer, facility, money);
    } else {
        cli_goodput_put_facility(&answer, facility);
    }
    assert_int_equal(myr_answer_write(&answer, &form, story, &err), MYR_OK);
    myr_arena_done(&arena);
}

/* Each figure known or not, each origin, and no device, one, two or a thousand without watts. */
static void no_figure_stands_without_its_origin(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, 1000};
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    for (uint32_t i = 0; i < 16; i++) {
        struct myr_run_facility facility = {
            .it_watts = known(i % 2 ? 999 : 12345678, (enum myr_run_from)(i % 3)),
            .pue = known(1 + 0.0625 * i, (enum myr_run_from)((i + 1) % 3)),
            .currency = i % 2 ? "EUR" : "USD",
            .currency_from = (enum myr_run_from)((i + 2) % 3),
            .without_watts = counts[i % 4],
        };
        if (i & 1) {
            facility.kwh = known(0.0875, (enum myr_run_from)(i / 2 % 3));
        }
        if (i & 2) {
            facility.years = known(4.5, (enum myr_run_from)(i / 3 % 3));
        }
        if (i & 4) {
            facility.machine_hour = known(1234.5678, (enum myr_run_from)(i / 4 % 3));
        }
        myr_buf_printf(&story, "%u\n", i);
        put(&story, &facility, false, MYR_FORMAT_TABLE);
        myr_buf_puts(&story, "and money\n");
        put(&story, &facility, true, MYR_FORMAT_TABLE);
        put(&story, &facility, true, MYR_FORMAT_YAML);
    }
    assert_kept("goodput-facility.txt", &story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_figure_stands_without_its_origin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
