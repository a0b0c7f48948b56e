/* A price list in CSV: what is read of it, what is refused, and what it takes the place of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "model_test.h"
#include "myriad/model/spec_load.h"

/* Prices as "part=cents (note)" in their order, then the currency; or what is said. */
static void put_list(struct fixture *f, const char *csv, struct myr_buf *ret)
{
    struct myr_spec spec = {};
    struct myr_err err = {};
    int rc = myr_spec_add_prices(&f->arena, &f->catalog, "l.csv", myr_str_from(csv), &spec, &err);
    myr_buf_clear(ret);
    if (rc < 0) {
        assert_int_equal(rc, MYR_EINVAL);
        assert_int_equal(spec.own_prices.count, 0);
        assert_null(spec.currency);
        myr_buf_puts(ret, err.message);
        return;
    }
    for (size_t i = 0; i < spec.own_prices.count; i++) {
        const struct myr_price *price = &spec.own_prices.items[i];
        myr_buf_printf(ret, "%s=%lld (%s) ", f->catalog.parts.items[price->part].id,
                       (long long)price->cents, price->note);
        assert_true(price->per_servers == 0 && price->warranty_months == 0 && !price->assumed);
    }
    myr_buf_puts(ret, spec.currency ? spec.currency : "-");
    myr_spec_done(&spec);
}

static const struct {
    const char *csv, *says;
} lists[] = {
    {"part,price\nh100-8gpu,1\n", "h100-8gpu=100 (l.csv) -"},
    {"part,price\nh100-8gpu,1\na100-8gpu,2\n", "h100-8gpu=100 (l.csv) a100-8gpu=200 (l.csv) -"},
    {" PART\t,x, Price ,currency,date\n h100-8gpu\t,y, 2.5 , USD ,2026-11-16 \n",
     "h100-8gpu=250 (l.csv, 2026-11-16) USD"},
    {"date,currency,price,part\n,USD,1,h100-8gpu\n2026-01-31,,2,a100-8gpu\n"
     "2026-12-01,USD,3,cx7-400g\n",
     "h100-8gpu=100 (l.csv) a100-8gpu=200 (l.csv, 2026-01-31) "
     "cx7-400g-osfp=300 (l.csv, 2026-12-01) USD"},
    {"part,price,currency\nh100-8gpu,1\n", "h100-8gpu=100 (l.csv) -"},
    /* order numbers, in any case */
    {"part,price\neth-48x1g-4x10G,1\n", "eth-access-1g=100 (l.csv) -"},
    {"part,price\nH100-8GPU,1\n", "h100-8gpu=100 (l.csv) -"},
    /* headers */
    {"", "l.csv:1:1: the header lacks 'part'; 'part,price' is expected, 'currency' and 'date' "
         "may follow"},
    {"price\n1\n", "l.csv:1:1: the header lacks 'part'; 'part,price' is expected, 'currency' "
                   "and 'date' may follow"},
    {"part,cost\n", "l.csv:1:1: the header lacks 'price'; 'part,price' is expected, "
                    "'currency' and 'date' may follow"},
    {"part,price\n", "l.csv:1:1: there is no price in it, rows below the header are expected"},
    /* rows that are longer than the header */
    {"part,price\nh100-8gpu,208,000\n", "l.csv:2:15: the row has 3 fields, the header 2"},
    {"part,price\nh100-8gpu,208, ,\n", "h100-8gpu=20800 (l.csv) -"},
    {"part,part,price\n", "l.csv:1:6: two columns for 'part'"},
    {"part,price,PRICE\n", "l.csv:1:12: two columns for 'price'"},
    {"part,price,date,currency,date\n", "l.csv:1:26: two columns for 'date'"},
    /* parts */
    {"part,price\n,1\n", "l.csv:2:1: 'part' is '', a part is expected"},
    {"price,part\n1\n", "l.csv:2:1: 'part' is '', a part is expected"},
    {"part,price\nh100-8gpx,1\n", "l.csv:2:1: a price for the unknown part 'h100-8gpx'; did "
                                  "you mean 'h100-8gpu' or 'h100-gpu'?"},
    {"price,part\n1,zzzzzzzzzzzzzzzzzz\n",
     "l.csv:2:3: a price for the unknown part 'zzzzzzzzzzzzzzzzzz'"},
    {"part,price\na100-8gpu,1\nh100-8gpu,1\nh100-8gpu,1\n",
     "l.csv:4:1: 'h100-8gpu' has a price in line 3 already"},
    {"price,part\n1,h100-8gpu\n1,H100-8GPU\n",
     "l.csv:3:3: 'H100-8GPU' has a price in line 2 already"},
    /* currencies and dates */
    {"part,price,currency\nh100-8gpu,1,US\n",
     "l.csv:2:13: 'currency' is 'US', a code such as CNY is expected"},
    {"part,price,currency\nh100-8gpu,1,USDX\n",
     "l.csv:2:13: 'currency' is 'USDX', a code such as CNY is expected"},
    {"part,price,currency\nh100-8gpu,1,@AZ\n",
     "l.csv:2:13: 'currency' is '@AZ', a code such as CNY is expected"},
    {"part,price,currency\nh100-8gpu,1,AZ[\n",
     "l.csv:2:13: 'currency' is 'AZ[', a code such as CNY is expected"},
    {"part,price,currency\nh100-8gpu,1,AZA\n", "h100-8gpu=100 (l.csv) AZA"},
    {"part,price,currency\nh100-8gpu,1,USD\na100-8gpu,1,CNY\n",
     "l.csv:3:13: 'CNY' after 'USD': a list has one currency"},
    {"part,price,date\nh100-8gpu,1,2026-00-01\n",
     "l.csv:2:13: 'date' is '2026-00-01', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,2026-13-01\n",
     "l.csv:2:13: 'date' is '2026-13-01', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,2026-01-00\n",
     "l.csv:2:13: 'date' is '2026-01-00', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,2026-01-32\n",
     "l.csv:2:13: 'date' is '2026-01-32', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,2026-02-29\n",
     "l.csv:2:13: 'date' is '2026-02-29', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,2026-1-01\n",
     "l.csv:2:13: 'date' is '2026-1-01', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,2026-01-011\n",
     "l.csv:2:13: 'date' is '2026-01-011', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,2026/01-01\n",
     "l.csv:2:13: 'date' is '2026/01-01', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,2026-0:-01\n",
     "l.csv:2:13: 'date' is '2026-0:-01', a date like 2026-11-16 is expected"},
    {"part,price,date\nh100-8gpu,1,20/6-01-01\n",
     "l.csv:2:13: 'date' is '20/6-01-01', a date like 2026-11-16 is expected"},
};

static void a_list_is_read_or_refused(void **state)
{
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lists); i++) {
        put_list(f, lists[i].csv, &said);
        assert_string_equal(said.data, lists[i].says);
    }
}

/* Groups of three, a point, whole cents: rounded to them it would be another price. */
static void amounts_are_read_or_refused(void **state)
{
    static const struct {
        const char *text;
        long long cents; /* -1: it is refused, -2: as more exact than money is counted */
    } rows[] = {
        {"0", 0},
        {"7", 700},
        {"0.004", -2},
        {"0.005", -2},
        {"0.333", -2},
        {"1.999", -2},
        {"1234567.891", -2},
        {"0.33", 33},
        {"0.330", 33},
        {"2.675", -2},
        {"1.10", 110},
        {"4.35", 435},
        {"12345.67", 1234567},
        {"1,234", 123400},
        {"12,345", 1234500},
        {"123,456", 12345600},
        {"123,456,789", 12345678900},
        {"1,234.5", 123450},
        {"1,234,567.89", 123456789},
        {"1000000000000", 100000000000000},
        {"999999999999.99", 99999999999999},
        {"1000000000001", -1},
        {"1,23", -1},
        {"1,2345", -1},
        {"1234,567", -1},
        {"1,234,56", -1},
        {"1,234,5678", -1},
        {"1,23,456", -1},
        {",123", -1},
        {"1,,234", -1},
        {"1.5,000", -1},
        {"1,23.4", -1},
        {"1,2345.6", -1},
        {"1.2.3", -1},
        {"-1", -1},
        {"+1", -1},
        {"1e3", -1},
        {"1 000", -1},
        {"$1", -1},
        {"", -1},
        {".", -1},
        {"0000000000000000000000000000001", 100}, /* 31 digits */
        {"00000000000000000000000000000001", -1}, /* one more than are held */
    };
    struct fixture *f = *state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {}, csv = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        char wanted[120];
        myr_buf_clear(&csv);
        myr_buf_printf(&csv, "part,price\nh100-8gpu,\"%s\"\n", rows[i].text);
        put_list(f, csv.data, &said);
        if (rows[i].cents < 0) {
            snprintf(wanted, sizeof(wanted), "l.csv:2:11: 'price' is '%s', a number %s is expected",
                     rows[i].text,
                     rows[i].cents == -2 ? "with at most two decimals" : "from 0 to 1000000000000");
        } else {
            snprintf(wanted, sizeof(wanted), "h100-8gpu=%lld (l.csv) -", rows[i].cents);
        }
        assert_string_equal(said.data, wanted);
    }
}

/* A later list stands in front of what the spec says itself: the last price of a part wins. */
static void prices_of_the_spec_stay_behind_the_lists(void **state)
{
    struct fixture *f = *state;
    struct myr_spec spec = {.currency = "EUR"};
    uint32_t own = find_part(f, "cx7-400g");
    myr_vec_push(&spec.own_prices, ((struct myr_price){.part = own, .cents = 5}));
    myr_vec_push(&spec.own_prices, ((struct myr_price){.part = own, .cents = 6}));
    assert_int_equal(myr_spec_add_prices(&f->arena, &f->catalog, "l.csv",
                                         MYR_STR("part,price\nh100-8gpu,1\na100-8gpu,2\n"), &spec,
                                         NULL),
                     MYR_OK);
    assert_int_equal(spec.own_prices.count, 4);
    static const int64_t cents[] = {100, 200, 5, 6};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(spec.own_prices.items[i].cents, cents[i]);
    }
    assert_string_equal(spec.currency, "EUR");
    /* One that says a currency sets it; the book of the spec must have the same. */
    struct myr_str list = MYR_STR("part,price,currency\nh100-8gpu,1,USD\n");
    struct myr_err err = {};
    spec.price_book = "cn-2024-05";
    assert_int_equal(myr_spec_add_prices(&f->arena, &f->catalog, "l.csv", list, &spec, &err),
                     MYR_EINVAL);
    assert_string_equal(err.message, "l.csv:1:1: prices in USD, and the spec's book 'cn-2024-05' "
                                     "is in CNY; one currency is expected");
    assert_string_equal(spec.currency, "EUR");
    assert_int_equal(spec.own_prices.count, 4);
    spec.price_book = "another";
    assert_int_equal(myr_spec_add_prices(&f->arena, &f->catalog, "l.csv", list, &spec, &err),
                     MYR_OK);
    assert_string_equal(spec.currency, "USD");
    assert_int_equal(spec.own_prices.count, 5);
    myr_spec_done(&spec);
}

/* The option's file, else the spec's, which lies beside the spec unless it begins at the root. */
static void the_file_is_found_beside_the_spec(void **state)
{
    static const struct {
        const char *option, *file, *spec, *says;
    } rows[] = {
        {NULL, NULL, NULL, ""},
        {"no/o.csv", NULL, NULL, "no/o.csv: cannot open: No such file or directory"},
        {"no/o.csv", "s.csv", "dir/s.yaml", "no/o.csv: cannot open: No such file or directory"},
        {NULL, "s.csv", "no/dir/s.yaml", "no/dir/s.csv: cannot open: No such file or directory"},
        {NULL, "no.csv", "s.yaml", "no.csv: cannot open: No such file or directory"},
        {NULL, "no.csv", NULL, "no.csv: cannot open: No such file or directory"},
        {NULL, "/no/s.csv", "dir/s.yaml", "/no/s.csv: cannot open: No such file or directory"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_doc node = {.file = rows[i].spec};
        struct myr_spec spec = {.price_file = rows[i].file,
                                .price_node = rows[i].spec ? &node : NULL};
        struct myr_err err = {};
        struct myr_price_file option = {.path = rows[i].option};
        int rc = myr_spec_read_price_list(&f->arena, &f->catalog, &option, &spec, &err);
        assert_int_equal(rc < 0, rows[i].says[0] != '\0');
        assert_string_equal(err.message, rows[i].says);
        myr_spec_done(&spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_list_is_read_or_refused, open_catalog, close_catalog),
        cmocka_unit_test_setup_teardown(amounts_are_read_or_refused, open_catalog, close_catalog),
        cmocka_unit_test_setup_teardown(prices_of_the_spec_stay_behind_the_lists, open_catalog,
                                        close_catalog),
        cmocka_unit_test_setup_teardown(the_file_is_found_beside_the_spec, open_catalog,
                                        close_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
