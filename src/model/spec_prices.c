/* A price list in CSV: what a buyer has from its supplier, as it came. */
#include "catalog_find.h"
#include "fields.h"
#include "myriad/model/spec_load.h"
#include "myriad/text.h"

enum column { PART, PRICE, CURRENCY, DATE, VALID_UNTIL, TAX, LEAD_WEEKS, SUPPLIER, COLUMN_COUNT };
enum { ROWS_MAX = 100000 }; /* far more than a catalogue has parts */

/* In the order of enum column. */
static const char *const column_names[COLUMN_COUNT] = {
    "part", "price", "currency", "date", "valid_until", "tax", "lead_weeks", "supplier"};

/* A list while it is read. It lies in the arena; the vector does not: free_prices(). */
struct list {
    struct myr_arena *arena;
    const struct myr_catalog *catalog;
    struct myr_csv csv;                   /* the row at hand */
    int columns[COLUMN_COUNT];            /* where each is in a row; -1: nowhere */
    uint32_t *line_of;                    /* by part: where its price was given; 0: not yet */
    const char *currency;                 /* of the first row that said one; NULL: none */
    const struct myr_exchanges *exchange; /* of the spec: rates between several */
    MYR_VEC(struct myr_price) prices;     /* in the order of the file */
};

/* Spreadsheets leave blanks around what they write. */
static struct myr_str trimmed(struct myr_str text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

/* Empty where the table has no such column or the row ends before it. */
static struct myr_str cell(const struct list *list, enum column column)
{
    int at = list->columns[column];
    return at < 0 || (uint32_t)at >= list->csv.count ? MYR_STR("")
                                                     : trimmed(myr_csv_text(list->csv.fields[at]));
}

/* A row may be too short to have the cell: then its last one is where to look. */
static int complain(struct list *list, enum column column, struct myr_err *err, const char *what)
{
    char shown[MYR_EXCERPT_MAX];
    uint32_t at = (uint32_t)list->columns[column], last = list->csv.count - 1;
    return myr_csv_error(err, &list->csv, at < last ? at : last, "'%s' is '%s', %s is expected",
                         column_names[column], myr_text_excerpt(cell(list, column), shown), what);
}

/* Columns in any order; those of other names are left alone. */
static int read_header(struct list *list, struct myr_err *err)
{
    int rc = myr_csv_header(&list->csv, err);
    MYR_TRY(rc);
    for (uint32_t i = 0; i < COLUMN_COUNT; i++) {
        list->columns[i] = -1;
    }
    for (uint32_t i = 0; rc > 0 && i < list->csv.count; i++) {
        for (uint32_t k = 0; k < COLUMN_COUNT; k++) {
            if (!myr_str_eq_nocase(trimmed(list->csv.fields[i]), myr_str_from(column_names[k]))) {
                continue;
            }
            if (list->columns[k] >= 0) {
                return myr_csv_error(err, &list->csv, i, "two columns for '%s'", column_names[k]);
            }
            list->columns[k] = (int)i;
        }
    }
    /* One column that holds separators of another kind is a list all the same. */
    struct myr_str only = list->csv.count == 1 ? list->csv.fields[0] : MYR_STR("");
    if (rc > 0 && only.len &&
        (memchr(only.data, ';', only.len) || memchr(only.data, '\t', only.len))) {
        return myr_csv_error(err, &list->csv, 0,
                             "columns are separated by '%s', commas are expected",
                             memchr(only.data, ';', only.len) ? ";" : "tabs");
    }
    if (list->columns[PART] < 0 || list->columns[PRICE] < 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s:1:1: the header lacks '%s'; 'part,price' is expected, 'currency' "
                           "and 'date' may follow",
                           list->csv.file, column_names[list->columns[PART] < 0 ? PART : PRICE]);
    }
    return MYR_OK;
}

/* Suppliers write order numbers; ids and aliases come first. */
static uint32_t find_part(const struct list *list, struct myr_str name)
{
    uint32_t part = myr_catalog_find(list->catalog, name);
    for (uint32_t i = 0; part == MYR_PART_NONE && i < list->catalog->parts.count; i++) {
        const char *order = list->catalog->parts.items[i].order;
        part = order && myr_str_eq_nocase(name, myr_str_from(order)) ? i : part;
    }
    return part;
}

/* Two prices of one part are an error: which of them was meant nobody can tell. */
static int read_part(struct list *list, uint32_t *ret, struct myr_err *err)
{
    struct myr_str name = cell(list, PART);
    char shown[MYR_EXCERPT_MAX], near[CATALOG_NEAR_BYTES];
    if (name.len == 0) {
        return complain(list, PART, err, "a part");
    }
    *ret = find_part(list, name);
    if (*ret == MYR_PART_NONE) {
        catalog_nearest(list->catalog, name, MYR_PART_KIND_COUNT, near);
        return myr_csv_error(err, &list->csv, (uint32_t)list->columns[PART],
                             "a price for the unknown part '%s'%s", myr_text_excerpt(name, shown),
                             near);
    }
    if (list->line_of[*ret]) {
        return myr_csv_error(err, &list->csv, (uint32_t)list->columns[PART],
                             "'%s' has a price in line %u already", myr_text_excerpt(name, shown),
                             list->line_of[*ret]);
    }
    list->line_of[*ret] = list->csv.line;
    return MYR_OK;
}

/* Digits may stand in groups of three; nothing else is guessed. */
static bool read_amount(struct myr_str text, double *ret)
{
    char plain[32];
    size_t len = 0, group = 0;
    bool grouped = false, point = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (len + 1 >= sizeof(plain)) {
            return false;
        }
        if (c == ',' && !point && len > 0 && (grouped ? group == 3 : group <= 3)) {
            grouped = true;
            group = 0;
        } else if ((c >= '0' && c <= '9') || (c == '.' && !point && (!grouped || group == 3))) {
            point = point || c == '.';
            plain[len++] = c;
            group++;
        } else {
            return false;
        }
    }
    return (!grouped || point || group == 3) &&
           myr_str_to_double((struct myr_str){plain, len}, ret) && *ret <= 1e12;
}

/* What a supplier says beside the price: until when it holds, its taxes, when it delivers. */
static int read_quote(struct list *list, struct myr_price *price, struct myr_err *err)
{
    struct myr_str until = cell(list, VALID_UNTIL), tax = cell(list, TAX),
                   lead = cell(list, LEAD_WEEKS);
    uint64_t weeks = 0;
    if (until.len > 0 && !myr_str_is_date(until)) {
        return complain(list, VALID_UNTIL, err, "a date like 2026-11-16");
    }
    if (lead.len > 0 && (!myr_str_to_u64(lead, &weeks) || weeks < 1 || weeks > 1000)) {
        return complain(list, LEAD_WEEKS, err, "whole weeks from 1 to 1000");
    }
    price->valid_until = until.len ? myr_arena_strndup(list->arena, until.data, until.len) : NULL;
    price->tax = tax.len ? myr_arena_strndup(list->arena, tax.data, tax.len) : NULL;
    price->lead_weeks = (uint32_t)weeks;
    return MYR_OK;
}

/* The note says where a price comes from, since it overrides the book's. */
static int read_row(struct list *list, struct myr_err *err)
{
    struct myr_price price = {};
    struct myr_str currency = cell(list, CURRENCY), date = cell(list, DATE);
    double amount;
    MYR_TRY(read_part(list, &price.part, err));
    if (!read_amount(cell(list, PRICE), &amount)) {
        return complain(list, PRICE, err, "a number from 0 to 1000000000000");
    }
    if (!fields_cents(amount, &price.cents)) {
        return complain(list, PRICE, err, "a number with at most two decimals");
    }
    if (currency.len > 0 && !fields_is_currency(currency)) {
        return complain(list, CURRENCY, err, "a code such as CNY");
    }
    if (currency.len > 0) {
        price.currency = myr_arena_strndup(list->arena, currency.data, currency.len);
        list->currency = list->currency ? list->currency : price.currency;
        if (myr_exchange_rate(list->exchange, price.currency, list->currency) <= 0) {
            return myr_csv_error(err, &list->csv, (uint32_t)list->columns[CURRENCY],
                                 "'%.3s' after '%s': a list has one currency", currency.data,
                                 list->currency);
        }
    }
    if (date.len > 0 && !myr_str_is_date(date)) {
        return complain(list, DATE, err, "a date like 2026-11-16");
    }
    MYR_TRY(read_quote(list, &price, err));
    struct myr_str supplier = cell(list, SUPPLIER);
    price.date = date.len ? myr_arena_strndup(list->arena, date.data, date.len) : NULL;
    price.note = myr_arena_printf(list->arena, "%s%s%.*s%s%.*s", list->csv.file,
                                  supplier.len ? ", " : "", (int)supplier.len, supplier.data,
                                  date.len ? ", " : "", (int)date.len, date.data);
    myr_vec_push(&list->prices, price);
    return MYR_OK;
}

/* To the end of the file, or to the first row that is wrong. */
static int read_rows(struct list *list, struct myr_err *err)
{
    MYR_TRY(read_header(list, err));
    for (;;) {
        int rc = myr_csv_next(&list->csv, err);
        MYR_TRY(rc);
        /* Asked for, it would change nothing: a sheet that was saved without its rows. */
        if (rc == 0 && list->prices.count == 0) {
            return myr_err_set(
                err, MYR_EINVAL,
                "%s:1:1: there is no price in it, rows below the header are expected",
                list->csv.file);
        }
        if (rc == 0) {
            return MYR_OK;
        }
        if (list->prices.count == ROWS_MAX) {
            return myr_csv_error(err, &list->csv, 0, "more than %d prices", ROWS_MAX);
        }
        MYR_TRY(read_row(list, err));
    }
}

/* A sum of two currencies is no sum: what the bill is in, by its own word or by its book, has to be
 * known in the list's. */
static int check_currency(const struct list *list, const struct myr_spec *spec, struct myr_err *err)
{
    const struct myr_price_book *book = myr_price_book_find(list->catalog, spec->price_book);
    const char *bill = spec->bill_currency ? spec->bill_currency : book ? book->currency : NULL;
    if (!bill || !list->currency || myr_exchange_rate(&spec->exchange, list->currency, bill) > 0) {
        return MYR_OK;
    }
    int rc =
        book && !spec->bill_currency
            ? myr_err_set(err, MYR_EINVAL,
                          "%s:1:1: prices in %s, and the spec's book '%s' is in %s; one "
                          "currency is expected",
                          list->csv.file, list->currency, book->id, book->currency)
            : myr_err_set(err, MYR_EINVAL,
                          "%s:1:1: prices in %s, and the spec's bill is in %s; one currency is "
                          "expected",
                          list->csv.file, list->currency, bill);
    myr_err_hint(err, "prices: {exchange: {CNY: 7.2}, exchange_date: 2026-09-01}: what a dollar is "
                      "in each");
    return rc;
}

static void free_prices(struct list **list)
{
    myr_vec_done(&(*list)->prices);
}

/* Prices of a list come before the book's and behind the spec's own. */
int myr_spec_add_prices(struct myr_arena *arena, const struct myr_catalog *catalog,
                        const char *file, struct myr_str text, struct myr_spec *spec,
                        struct myr_err *err)
{
    MYR_CLEANUP(free_prices) struct list *list = MYR_ARENA_ONE(arena, struct list);
    list->arena = arena;
    list->catalog = catalog;
    list->exchange = &spec->exchange;
    list->line_of = MYR_ARENA_NEW(arena, uint32_t, catalog->parts.count + 1);
    myr_csv_init(&list->csv, arena, file, text);
    /* Nothing of the spec changes before the whole list is found right. */
    MYR_TRY(read_rows(list, err));
    MYR_TRY(check_currency(list, spec, err));
    for (size_t i = 0; i < list->prices.count; i++) {
        struct myr_price *price = &list->prices.items[i];
        price->currency = price->currency ? price->currency : list->currency;
    }
    /* The last one given wins: what the spec itself says stays behind the list's. */
    for (size_t i = 0; i < spec->own_prices.count; i++) {
        myr_vec_push(&list->prices, spec->own_prices.items[i]);
    }
    myr_vec_done(&spec->own_prices);
    for (size_t i = 0; i < list->prices.count; i++) {
        myr_vec_push(&spec->own_prices, list->prices.items[i]);
    }
    spec->currency = list->currency ? list->currency : spec->currency;
    return MYR_OK;
}

/* Beside the spec, unless it begins at the root. */
static const char *beside(struct myr_arena *arena, const struct myr_spec *spec)
{
    const char *from = spec->price_node ? spec->price_node->file : NULL;
    const char *slash = from ? strrchr(from, '/') : NULL;
    return spec->price_file[0] == '/' || !slash
               ? spec->price_file
               : myr_arena_printf(arena, "%.*s/%s", (int)(slash - from), from, spec->price_file);
}

/* Once: what was read stays in the arena, where prices keep their notes. */
static int read_price_file(struct myr_arena *arena, struct myr_price_file *file,
                           struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (file->read) {
        return MYR_OK;
    }
    MYR_TRY(myr_kind_read(file->path, MYR_DOC_BYTES_MAX, MYR_KINDS_CSV,
                          "a price list (CSV: part,price,currency,date)", &text, err));
    file->text.data = myr_arena_strndup(arena, text.data ? text.data : "", text.len);
    file->text.len = text.len;
    file->read = true;
    return MYR_OK;
}

/* 'prices' is the option of the command line; it takes the place of the spec's file. */
int myr_spec_read_price_list(struct myr_arena *arena, const struct myr_catalog *catalog,
                             struct myr_price_file *prices, struct myr_spec *spec,
                             struct myr_err *err)
{
    struct myr_price_file own = {};
    if (!prices || !prices->path) {
        own.path = spec->price_file ? beside(arena, spec) : NULL;
        spec->price_path = own.path;
        prices = &own;
    }
    if (!prices->path) {
        return MYR_OK;
    }
    MYR_TRY(read_price_file(arena, prices, err));
    return myr_spec_add_prices(arena, catalog, myr_file_name(prices->path), prices->text, spec,
                               err);
}

/* A spec and its price list, or neither: '*ret' is written when both are right. */
int myr_spec_load(struct myr_arena *arena, const struct myr_catalog *catalog, const char *path,
                  struct myr_price_file *prices, struct myr_spec *ret, struct myr_err *err)
{
    static const struct myr_doc_want want = {MYR_KINDS_DOC(SPEC), "a spec"};
    const struct myr_doc *doc;
    struct myr_spec spec = {};
    MYR_TRY(myr_doc_read_file_of(arena, path, &want, &doc, err));
    MYR_TRY(myr_spec_read(arena, catalog, doc, &spec, err));
    int rc = myr_spec_read_price_list(arena, catalog, prices, &spec, err);
    if (rc < 0) {
        myr_spec_done(&spec);
        return rc;
    }
    *ret = spec;
    return MYR_OK;
}

/* A room of a file of its own has its place there and not in the spec. */
struct myr_named_files myr_spec_named_files(const struct myr_spec *spec)
{
    struct myr_named_files named = {.count = 0};
    const char *by = spec->root ? spec->root->file : NULL;
    if (by && spec->room.node && strcmp(spec->room.node->file, by) != 0) {
        named.items[named.count++] = (struct myr_named_file){"room", spec->room.node->file, by};
    }
    if (by && spec->price_path) {
        named.items[named.count++] = (struct myr_named_file){"prices", spec->price_path, by};
    }
    return named;
}
