#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "model_test.h"

/* Price books: what is read of them, at the limits, and what is said of others. */

static const struct myr_price_book *book_of(const struct fixture *f, const char *id)
{
    for (size_t i = 0; i < f->catalog.books.count; i++) {
        if (strcmp(f->catalog.books.items[i].id, id) == 0) {
            return &f->catalog.books.items[i];
        }
    }
    fail_msg("there is no book '%s'", id);
    return NULL;
}

static void a_book_is_read_whole(void **state)
{
    struct fixture *f = *state;
    assert_added(f, "prices:\n  mine:\n    title: My prices\n    currency: EUR\n"
                    "    date: 2024-06\n    source: a quote\n    warranty_months: 36\n"
                    "    parts:\n      h100-8gpu: 250000.01\n"
                    "      cx7-400g: {price: 0.04, per_servers: 7, warranty_months: 12, "
                    "assumed: true, note: by hand}\n");
    const struct myr_price_book *book = book_of(f, "mine");
    assert_string_equal(book->title, "My prices");
    assert_string_equal(book->currency, "EUR");
    assert_string_equal(book->date, "2024-06");
    assert_string_equal(book->source, "a quote");
    assert_int_equal(book->warranty_months, 36);
    assert_int_equal(book->prices.count, 2);
    const struct myr_price *server = myr_price_find(book, find_part(f, "h100-8gpu"));
    assert_int_equal(server->cents, 25000001);
    assert_true(server->per_servers == 0 && server->warranty_months == 0 && !server->assumed);
    const struct myr_price *nic = myr_price_find(book, find_part(f, "cx7-400g"));
    assert_int_equal(nic->cents, 4);
    assert_int_equal(nic->per_servers, 7);
    assert_int_equal(nic->warranty_months, 12);
    assert_true(nic->assumed);
    assert_string_equal(nic->note, "by hand");
    assert_null(myr_price_find(book, find_part(f, "a100-8gpu")));
    assert_null(myr_price_find(NULL, find_part(f, "a100-8gpu")));
}

/* The same book again, in whatever case: what is new is added, a price that is there replaced. */
static void a_later_price_wins(void **state)
{
    struct fixture *f = *state;
    assert_added(f, "prices: {mine: {parts: {h100-8gpu: 10}}}");
    assert_string_equal(book_of(f, "mine")->currency, "CNY");
    size_t books = f->catalog.books.count;
    assert_added(f, "prices: {MINE: {currency: USD, parts: {h100-8gpu: 11.5, a100-8gpu: 7}}}");
    const struct myr_price_book *book = book_of(f, "mine");
    assert_int_equal(f->catalog.books.count, books);
    assert_string_equal(book->currency, "USD");
    assert_int_equal(book->prices.count, 2);
    assert_int_equal(myr_price_find(book, find_part(f, "h100-8gpu"))->cents, 1150);
    assert_int_equal(myr_price_find(book, find_part(f, "a100-8gpu"))->cents, 700);
    assert_added(f, "prices: {other: {title: empty}}");
    assert_int_equal(book_of(f, "other")->prices.count, 0);
}

static void numbers_of_a_book_have_limits(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *said; /* NULL: it is fine */
    } rows[] = {
        {"warranty_months: 0", "'warranty_months' is '0', a whole number from 1 to 600 is"},
        {"warranty_months: 1", NULL},
        {"warranty_months: 600", NULL},
        {"warranty_months: 601", "'warranty_months' is '601', a whole number from 1 to 600 is"},
        {"currency: CHF", NULL},
        {"currency: chf", "'currency' is 'chf', a code such as CNY is expected"},
        {"currency: CHFR", "'currency' is 'CHFR', a code such as CNY is expected"},
        {"parts: {h100-8gpu: -0.01}", "'price' is '-0.01', a number from 0 to 1e+12 is"},
        {"parts: {h100-8gpu: 0}", NULL},
        {"parts: {h100-8gpu: 1000000000000}", NULL},
        {"parts: {h100-8gpu: 1000000000001}", "a number from 0 to 1e+12 is expected"},
        {"parts: {h100-8gpu: {price: 1, warranty_months: 0}}", "a whole number from 1 to 600"},
        {"parts: {h100-8gpu: {price: 1, warranty_months: 1}}", NULL},
        {"parts: {h100-8gpu: {price: 1, warranty_months: 600}}", NULL},
        {"parts: {h100-8gpu: {price: 1, warranty_months: 601}}", "a whole number from 1 to 600"},
        {"parts: {h100-8gpu: {price: 1, per_servers: 0}}", "a whole number from 1 to 1,000,000"},
        {"parts: {h100-8gpu: {price: 1, per_servers: 1}}", NULL},
        {"parts: {h100-8gpu: {price: 1, per_servers: 1000000}}", NULL},
        {"parts: {h100-8gpu: {price: 1, per_servers: 1000001}}", "from 1 to 1,000,000 is expected"},
        {"parts: {h100-8gpu: {note: free}}", "my.yaml:1:36: the price lacks 'price'"},
        {"parts: {h100-8gpu: {price: 1, cost: 2}}", "unknown key 'cost' in a price"},
        {"parts: [h100-8gpu]", "'parts' is a list, a map of keys is expected"},
        {"parts: {h100: 5, h100-8gpu: 6}",
         "my.yaml:1:34: 'h100-8gpu' has a price in line 1 already"},
        {"cost: 1", "unknown key 'cost' in a price book"},
        {"parts: {h100-8gpux: 1}",
         "my.yaml:1:25: a price for the unknown part 'h100-8gpux'; did you mean"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        myr_buf_printf(&text, "prices: {mine: {%s}}", rows[i].text);
        f->err = (struct myr_err){};
        int rc = add_text(f, text.data);
        if ((rc < 0) != (rows[i].said != NULL) ||
            (rows[i].said && !strstr(f->err.message, rows[i].said))) {
            fail_msg("%s: %s", rows[i].text, f->err.message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_book_is_read_whole, open_catalog, close_catalog),
        cmocka_unit_test_setup_teardown(a_later_price_wins, open_catalog, close_catalog),
        cmocka_unit_test_setup_teardown(numbers_of_a_book_have_limits, open_catalog, close_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
