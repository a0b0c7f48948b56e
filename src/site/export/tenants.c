#include "myriad/site/tenants.h"

#include "myriad/text.h"
#include "myriad/text/kind.h"

/*
 * The list of tenants: a name and the nodes that are its own, as numbers and ranges. A node has one
 * tenant or none.
 */

enum { NAME_BYTES_MAX = 40 };

void myr_site_tenants_done(struct myr_site_tenants *tenants)
{
    myr_vec_done(&tenants->names);
}

/* What OpenSM takes as the name of a partition. */
static bool is_name(struct myr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_';
        if (!plain) {
            return false;
        }
    }
    return text.len > 0 && text.len <= NAME_BYTES_MAX;
}

/*
 * Tenants are numbered as they are met; a tenant may have several rows. Names are borrowed from the
 * list's text.
 */
static uint32_t tenant_named(struct myr_site_tenants *tenants, struct myr_str name)
{
    for (uint32_t i = 0; i < tenants->names.count; i++) {
        if (myr_str_eq(tenants->names.items[i], name)) {
            return i;
        }
    }
    myr_vec_push(&tenants->names, name);
    return (uint32_t)tenants->names.count - 1;
}

/* "32" or "32-40": first and last. */
static bool read_range(struct myr_str word, uint64_t *first, uint64_t *last)
{
    const char *dash = word.len ? memchr(word.data, '-', word.len) : NULL;
    size_t len = dash ? (size_t)(dash - word.data) : word.len;
    bool good = myr_str_to_u64((struct myr_str){word.data, len}, first);
    /* One node is a range of one. */
    *last = *first;
    return good &&
           (!dash || myr_str_to_u64((struct myr_str){dash + 1, word.len - len - 1}, last)) &&
           *first <= *last;
}

static int give(struct myr_site_tenants *tenants, const struct myr_design *design,
                const struct myr_csv *csv, struct myr_str word, uint32_t tenant,
                struct myr_err *err)
{
    char excerpt[MYR_EXCERPT_MAX];
    uint64_t first, last;
    uint32_t nodes = design->head->nodes;
    if (!read_range(word, &first, &last) || last >= nodes) {
        return myr_csv_error(err, csv, 1, "'%s' is no node or range of nodes from 0 to %u",
                             myr_text_excerpt(word, excerpt), nodes ? nodes - 1 : 0);
    }
    /* The same node twice for one tenant is no harm. */
    for (uint64_t n = first; n <= last; n++) {
        uint32_t *of = &tenants->of_node[design->head->first_node + n];
        /* A node in two tenants would join them. */
        if (*of != MYR_NONE && *of != tenant) {
            return myr_csv_error(err, csv, 1, "node %llu has the tenant '%s' already",
                                 (unsigned long long)n,
                                 myr_text_excerpt(tenants->names.items[*of], excerpt));
        }
        *of = tenant;
    }
    return MYR_OK;
}

/* Several words in one cell are divided by commas: "0-31,64". */
static int read_row(struct myr_site_tenants *tenants, const struct myr_design *design,
                    const struct myr_csv *csv, struct myr_err *err)
{
    struct myr_str name = csv->fields[0], list = csv->fields[1];
    if (!is_name(name)) {
        return myr_csv_error(err, csv, 0,
                             "a tenant has a name of 1 to %u letters, digits, '-' or '_'",
                             (uint32_t)NAME_BYTES_MAX);
    }
    /* Forgotten rather than meant: it would have a partition that nobody is in. */
    if (list.len == 0) {
        char excerpt[MYR_EXCERPT_MAX];
        return myr_csv_error(err, csv, 1, "the tenant '%s' has no nodes",
                             myr_text_excerpt(name, excerpt));
    }
    uint32_t tenant = tenant_named(tenants, name);
    if (tenants->names.count > MYR_SITE_TENANTS_MAX) {
        return myr_csv_error(err, csv, 0, "more than %u tenants", (uint32_t)MYR_SITE_TENANTS_MAX);
    }
    while (list.len) {
        const char *comma = memchr(list.data, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.data) : list.len;
        MYR_TRY(give(tenants, design, csv, (struct myr_str){list.data, len}, tenant, err));
        size_t taken = comma ? len + 1 : len;
        list = (struct myr_str){list.data + taken, list.len - taken};
    }
    return MYR_OK;
}

int myr_site_tenants_file(const char *path, struct myr_buf *ret, struct myr_err *err)
{
    enum { LIST_BYTES_MAX = 64 << 20 };
    return myr_kind_read(path, LIST_BYTES_MAX, MYR_KINDS_CSV,
                         "a list with the columns tenant and nodes", ret, err);
}

/* Nodes that no row names are nobody's. */
int myr_site_tenants_read(struct myr_site_tenants *ret, struct myr_arena *arena,
                          const struct myr_design *design, const char *file, struct myr_str text,
                          struct myr_err *err)
{
    struct myr_csv csv;
    *ret = (struct myr_site_tenants){};
    ret->of_node = MYR_ARENA_NEW(arena, uint32_t, design->device_count);
    for (uint32_t d = 0; d < design->device_count; d++) {
        ret->of_node[d] = MYR_NONE;
    }
    file = myr_file_name(file);
    myr_csv_init(&csv, arena, file, text);
    int rc = myr_csv_next(&csv, err);
    bool head = rc > 0 && csv.count == 2 && myr_str_eq(csv.fields[0], MYR_STR("tenant")) &&
                myr_str_eq(csv.fields[1], MYR_STR("nodes"));
    if (rc >= 0 && !head) {
        rc = myr_err_set(err, MYR_EINVAL,
                         "%s:1:1: a list with the columns tenant and nodes is "
                         "expected",
                         file);
        myr_err_hint(err, "tenant,nodes, then rows such as research,0-31");
    }
    while (rc > 0 && (rc = myr_csv_next(&csv, err)) > 0) {
        if (csv.count != 2) {
            return myr_csv_error(err, &csv, 0, "%u fields, 2 are expected", csv.count);
        }
        MYR_TRY(read_row(ret, design, &csv, err));
    }
    return rc == 0 && ret->names.count == 0
               ? myr_err_set(err, MYR_EINVAL, "%s:1:1: no rows below the header, one is expected",
                             file)
               : rc;
}

/* Of the host at the other end of a switch's port; one past the last tenant for nobody's. */
uint32_t myr_site_tenant_at(const struct myr_site_tenants *tenants, const struct myr_design *design,
                            enum myr_net_id net, uint32_t port)
{
    uint32_t peer = design->port_link[port] == MYR_NONE ? MYR_NONE : myr_design_peer(design, port);
    /* Other networks, links between switches, and ports without a cable. */
    if (peer == MYR_NONE || myr_design_port_group(design, port)->net != net ||
        myr_design_port_group(design, peer)->role != MYR_PORT_NIC) {
        return MYR_NONE;
    }
    uint32_t tenant = tenants->of_node[design->port_device[peer]];
    return tenant == MYR_NONE ? (uint32_t)tenants->names.count : tenant;
}
