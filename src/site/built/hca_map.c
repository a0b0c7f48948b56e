#include "built/hca_map.h"

#include "myriad/text.h"

/* Names in all, and bytes of a file. */
enum { MAP_MAX = 1024, MAP_BYTES_MAX = 1 << 20 };

static struct myr_str trimmed(struct myr_str text)
{
    while (text.len && text.data[0] == ' ') {
        text = (struct myr_str){text.data + 1, text.len - 1};
    }
    while (text.len && text.data[text.len - 1] == ' ') {
        text.len--;
    }
    return text;
}

/* The design's own name of a NIC: "nic3"; a number alone counts from 1, as those files do. */
static struct myr_str port_word(struct myr_built *built, struct myr_str text)
{
    uint64_t number;
    /* No number: the design's own word is expected, and checked later. */
    if (!myr_str_to_u64(text, &number) || number == 0) {
        return (struct myr_str){myr_arena_strndup(&built->arena, text.data, text.len), text.len};
    }
    return myr_str_from(myr_arena_printf(&built->arena, "nic%llu", (unsigned long long)number - 1));
}

/* Nodes are alike: the first one tells. */
static bool is_port(const struct myr_design *design, struct myr_str name)
{
    for (uint32_t d = 0; d < design->device_count; d++) {
        if (design->place[d].kind == MYR_DEVICE_NODE) {
            return myr_site_find_port(design, d, name) != MYR_NONE;
        }
    }
    return false;
}

/* Both texts are kept: the file's own memory goes. */
static int add_pair(struct myr_built *built, struct myr_str name, struct myr_str port,
                    const char *where, struct myr_err *err)
{
    struct myr_hca_name row = {{myr_arena_strndup(&built->arena, name.data, name.len), name.len},
                               port_word(built, port)};
    char excerpt[MYR_EXCERPT_MAX];
    if (!is_port(&built->design, row.port)) {
        int rc = myr_err_set(err, MYR_EINVAL, "%s: '%s' is no port of a node of this design", where,
                             myr_text_excerpt(port, excerpt));
        myr_err_hint(err, "mlx5_3=nic1: what hosts call mlx5_3 is the design's nic1");
        return rc;
    }
    for (size_t i = 0; i < built->hcas.count; i++) {
        const struct myr_hca_name *known = &built->hcas.items[i];
        /* Names are the same in capitals; ports of the design are not. */
        bool same_name = myr_str_eq_nocase(known->name, row.name);
        /* A name must mean one port, and a port have one name; the same pair twice is no harm. */
        if (same_name != myr_str_eq(known->port, row.port)) {
            return myr_err_set(err, MYR_EINVAL, "%s: '%s' has two meanings", where,
                               myr_text_excerpt(same_name ? row.name : row.port, excerpt));
        }
    }
    if (built->hcas.count == MAP_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: more than %u names", where, MAP_MAX);
    }
    myr_vec_push(&built->hcas, row);
    return MYR_OK;
}

/* Columns are found by name; all others are left alone. */
static int add_file(struct myr_built *built, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_csv csv;
    uint32_t port = MYR_NONE, name = MYR_NONE;
    int rc;
    MYR_TRY(myr_kind_read(path, MAP_BYTES_MAX, MYR_KIND_BIT(CSV),
                          "a list with the columns port and hca-name", &text, err));
    path = myr_file_name(path);
    myr_csv_init(&csv, &built->arena, path, (struct myr_str){text.data, text.len});
    /* The header. */
    MYR_TRY(myr_csv_header(&csv, err) < 0 ? MYR_EINVAL : MYR_OK);
    for (uint32_t f = 0; f < csv.count; f++) {
        struct myr_str head = trimmed(csv.fields[f]);
        port = myr_str_eq_nocase(head, MYR_STR("port")) ? f : port;
        name = myr_str_eq_nocase(head, MYR_STR("hca-name")) ? f : name;
    }
    if (port == MYR_NONE || name == MYR_NONE) {
        return myr_csv_error(err, &csv, 0, "the columns 'port' and 'hca-name' are expected");
    }
    uint32_t rows = 0;
    while ((rc = myr_csv_next(&csv, err)) > 0) {
        rows++;
        if (port >= csv.count || name >= csv.count) {
            return myr_csv_error(err, &csv, csv.count - 1, "the row is shorter than the header");
        }
        const char *where = myr_arena_printf(&built->arena, "%s:%u:1", path, csv.line);
        MYR_TRY(add_pair(built, trimmed(csv.fields[name]), trimmed(csv.fields[port]), where, err));
    }
    return rc == 0 && rows == 0
               ? myr_err_set(err, MYR_EINVAL, "%s:1:1: no rows below the header, one is expected",
                             path)
               : rc;
}

/* "mlx5_3=nic1", or the name of a file with such pairs. */
int hca_map_add(struct myr_built *built, const char *rule, struct myr_err *err)
{
    const char *equals = strchr(rule, '=');
    if (!equals) {
        return add_file(built, rule, err);
    }
    struct myr_str name = {rule, (size_t)(equals - rule)};
    return add_pair(built, trimmed(name), trimmed(myr_str_from(equals + 1)), "--hca-map", err);
}
