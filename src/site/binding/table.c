#include "myriad/site/binding.h"
#include "myriad/site/cabling.h"
#include "myriad/text.h"
#include "names/expr.h"

/*
 * Which host stands in which place, without a fabric to look at: as a table with the columns place
 * and host, or as a rule by which the site counts its hosts.
 */

enum { TABLE_BYTES_MAX = 64 << 20, NAME_MAX_BYTES = 255, DIGITS_MAX = 9 };

bool myr_binding_is_table(const char *path)
{
    size_t len = strlen(path);
    return len > 4 && myr_str_eq_nocase((struct myr_str){path + len - 4, 4}, MYR_STR(".csv"));
}

static struct myr_str trimmed(struct myr_str text)
{
    while (text.len && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text = (struct myr_str){text.data + 1, text.len - 1};
    }
    while (text.len && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t')) {
        text.len--;
    }
    return text;
}

struct table {
    struct myr_csv csv;
    uint32_t place, host; /* columns */
};

static int read_header(struct table *table, struct myr_err *err)
{
    table->place = table->host = MYR_NONE;
    MYR_TRY(myr_csv_header(&table->csv, err) < 0 ? MYR_EINVAL : MYR_OK);
    for (uint32_t f = 0; f < table->csv.count; f++) {
        struct myr_str head = trimmed(table->csv.fields[f]);
        bool place =
            myr_str_eq_nocase(head, MYR_STR("place")) || myr_str_eq_nocase(head, MYR_STR("device"));
        table->place = place ? f : table->place;
        table->host = myr_str_eq_nocase(head, MYR_STR("host")) ? f : table->host;
    }
    return table->place != MYR_NONE && table->host != MYR_NONE
               ? MYR_OK
               : myr_csv_error(err, &table->csv, 0, "the columns 'place' and 'host' are expected");
}

/* An empty host is one that is not known yet. */
static int read_row(struct myr_binding *binding, const struct table *table, struct myr_err *err)
{
    const struct myr_csv *csv = &table->csv;
    uint32_t last = table->place > table->host ? table->place : table->host, row;
    char excerpt[MYR_EXCERPT_MAX];
    if (last >= csv->count) {
        return myr_csv_error(err, csv, csv->count - 1, "the row is shorter than the header");
    }
    struct myr_str place = trimmed(csv->fields[table->place]);
    struct myr_str host = trimmed(csv->fields[table->host]);
    uint32_t device = myr_site_find(binding->design, place);
    if (device == MYR_NONE) {
        return myr_csv_error(err, csv, table->place, "the design has no device '%s'",
                             myr_text_excerpt(place, excerpt));
    }
    if (host.len > NAME_MAX_BYTES) {
        return myr_csv_error(err, csv, table->host, "'host' has more than %d bytes",
                             NAME_MAX_BYTES);
    }
    struct myr_bound bound = {
        .device = device,
        .port = MYR_NONE,
        .host = {myr_arena_strndup(binding->arena, host.data, host.len), host.len}};
    if (host.len && !myr_binding_add(binding, &bound, &row)) {
        return myr_csv_error(err, csv, table->host,
                             "'%s' is bound twice, or its place is: one place, one host",
                             myr_text_excerpt(host, excerpt));
    }
    return MYR_OK;
}

int myr_binding_read_table(struct myr_binding *binding, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct table table;
    uint32_t rows = 0;
    int rc;
    MYR_TRY(myr_kind_read(path, TABLE_BYTES_MAX, MYR_KIND_BIT(CSV), "a binding", &text, err));
    path = myr_file_name(path);
    myr_csv_init(&table.csv, binding->arena, path, (struct myr_str){text.data, text.len});
    MYR_TRY(read_header(&table, err));
    while ((rc = myr_csv_next(&table.csv, err)) > 0) {
        MYR_TRY(read_row(binding, &table, err));
        rows++;
    }
    return rc == 0 && rows == 0
               ? myr_err_set(err, MYR_EINVAL, "%s:1:1: no rows below the header, one is expected",
                             path)
               : rc;
}

/* --- a rule */

static int complain(const char *rule, size_t at, const char *what, struct myr_err *err)
{
    int rc = myr_err_set(err, MYR_EINVAL, "--hosts '%.60s', column %zu: %s", rule, at + 1, what);
    myr_err_hint(err, "gpu{n+1:3} is gpu001 for node/00000; n is the number of the node");
    return rc;
}

/* "{n+1:3}": a number, with zeros in front up to so many digits. 'at' is behind the '{'. */
static int put_number(const char *rule, size_t *at, uint32_t node, struct myr_buf *buf,
                      struct myr_err *err)
{
    const struct expr_variable variables[] = {{"n", node}};
    const struct expr_scope scope = {variables, MYR_ARRAY_COUNT(variables)};
    size_t first = *at, len = strcspn(rule + first, "}");
    const char *colon = memchr(rule + first, ':', len);
    struct myr_str text = {rule + first, colon ? (size_t)(colon - rule) - first : len};
    uint64_t digits = 1;
    int64_t value;
    if (rule[first + len] != '}') {
        return complain(rule, first - 1, "'{' without '}'", err);
    }
    if (colon &&
        (!myr_str_to_u64((struct myr_str){colon + 1, first + len - 1 - (size_t)(colon - rule)},
                         &digits) ||
         digits == 0 || digits > DIGITS_MAX)) {
        return complain(rule, (size_t)(colon - rule), "1 to 9 digits are expected behind ':'", err);
    }
    const char *fault = expr_fault(text, &scope);
    if (fault || text.len == 0) {
        return complain(rule, first, fault ? fault : "an expression over n is expected", err);
    }
    if (!expr_value(text, &scope, &value) || value < 0) {
        return complain(rule, first, "this is no number for every node", err);
    }
    myr_buf_put_u64_pad(buf, (uint64_t)value, (uint32_t)digits);
    *at = first + len + 1;
    return MYR_OK;
}

static int put_name(const char *rule, uint32_t node, struct myr_buf *buf, struct myr_err *err)
{
    for (size_t at = 0; rule[at];) {
        if (rule[at] == '{') {
            at++;
            MYR_TRY(put_number(rule, &at, node, buf, err));
        } else if ((unsigned char)rule[at] <= ' ' || rule[at] == '}' || rule[at] == 0x7f) {
            return complain(rule, at, "a letter, a digit or '{' is expected", err);
        } else {
            myr_buf_putc(buf, rule[at++]);
        }
    }
    return buf->len == 0               ? complain(rule, 0, "a name is expected", err)
           : buf->len > NAME_MAX_BYTES ? complain(rule, 0, "names of over 255 bytes", err)
                                       : MYR_OK;
}

int myr_binding_name_hosts(struct myr_binding *binding, const char *rule, struct myr_err *err)
{
    const struct myr_design_head *head = binding->design->head;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    for (uint32_t n = 0; n < head->nodes; n++) {
        uint32_t device = head->first_node + n, row;
        const struct myr_bound *old = myr_binding_get(binding, device, MYR_NONE);
        myr_buf_clear(&name);
        MYR_TRY(put_name(rule, n, &name, err));
        struct myr_bound bound = {
            .device = device,
            .port = MYR_NONE,
            .host = {myr_arena_strndup(binding->arena, name.data, name.len), name.len}};
        if (old && old->host.len) {
            continue; /* what is known already is kept */
        }
        if (!myr_binding_add(binding, &bound, &row)) {
            return complain(rule, 0, "two places get one name, or one that is bound", err);
        }
    }
    return MYR_OK;
}
