#include "myriad/sched/tenant_tree.h"

#include <stdlib.h>

#include "myriad/text/doc.h"
#include "myriad/text/kind.h"

/*
 * Tenants by name: from a file, from the command line, and last joined with those that a trace
 * names. Entries stand in the order in which they were met; a parent always comes before its
 * children there.
 */

enum { CELLS_MAX = 1000000 };

static const char *const tenant_keys[] = {"weight", "cells", "tenants"};
static const char *const level_keys[MYR_CELL_LEVELS] = {
    [MYR_CELL_NODE] = "nodes", [MYR_CELL_GROUP] = "groups", [MYR_CELL_POD] = "pods"};

void myr_tenant_tree_init(struct myr_tenant_tree *tree)
{
    *tree = (struct myr_tenant_tree){};
    myr_arena_init(&tree->arena);
}

void myr_tenant_tree_done(struct myr_tenant_tree *tree)
{
    myr_vec_done(&tree->entries);
    myr_strmap_done(&tree->by_name);
    myr_arena_done(&tree->arena);
}

/* 1 for a root. */
static uint32_t depth_of(const struct myr_tenant_tree *tree, uint32_t entry)
{
    uint32_t depth = 0;
    for (; entry != MYR_NONE; entry = tree->entries.items[entry].tenant.parent) {
        MYR_ASSERT(entry < tree->entries.count);
        depth++;
    }
    return depth;
}

/* A tenant that is not there yet. */
static uint32_t add(struct myr_tenant_tree *tree, struct myr_str name, uint32_t parent)
{
    MYR_ASSERT(parent == MYR_NONE || parent < tree->entries.count);
    /* The name is copied: it outlives the text it came from. */
    struct myr_tenant_entry entry = {
        .name = myr_arena_strndup(&tree->arena, name.data, name.len),
        .tenant = {.parent = parent, .weight = 1},
    };
    uint32_t at = (uint32_t)tree->entries.count;
    myr_vec_push(&tree->entries, entry);
    bool added = myr_strmap_add(&tree->by_name, myr_str_from(entry.name), at);
    MYR_ASSERT(added);
    return at;
}

/*
 * "4n,2g,1p" and, with 'weight', "3w": each letter at most once. False when it is anything else.
 */
static bool parse_cells(struct myr_str text, uint32_t *cells, uint32_t *weight)
{
    static const char letters[] = {
        [MYR_CELL_NODE] = 'n', [MYR_CELL_GROUP] = 'g', [MYR_CELL_POD] = 'p', 'w'};
    uint32_t seen = 0, kinds = MYR_CELL_LEVELS + (weight ? 1 : 0);
    for (bool more = true; more;) {
        const char *comma = memchr(text.data, ',', text.len);
        struct myr_str item = {text.data, comma ? (size_t)(comma - text.data) : text.len};
        uint64_t count;
        uint32_t kind = 0;
        /* One letter and at least one digit before it. */
        while (kind < kinds && (item.len < 2 || item.data[item.len - 1] != letters[kind])) {
            kind++;
        }
        /* A weight of 0 would give a tenant nothing, for ever. */
        if (kind == kinds || seen >> kind & 1 ||
            !myr_str_to_u64((struct myr_str){item.data, item.len - 1}, &count) ||
            count > CELLS_MAX || (kind == MYR_CELL_LEVELS && count == 0)) {
            return false;
        }
        seen |= 1U << kind;
        /*
         * Cells that are not named keep what they were: the command line
         * changes a file's tenant.
         */
        *(kind == MYR_CELL_LEVELS ? weight : &cells[kind]) = (uint32_t)count;
        more = comma != NULL;
        text.data += item.len + more;
        text.len -= item.len + more;
    }
    return true;
}

/* The file. */

/* As a text such as 4n,2g, or as a map. */
static int read_cells(const struct myr_doc *node, uint32_t *ret, struct myr_err *err)
{
    char excerpt[MYR_EXCERPT_MAX];
    /* Short, as on the command line. */
    if (node->kind != MYR_DOC_MAP) {
        struct myr_str text;
        int rc = myr_doc_text(node, "cells", &text, err);
        if (rc < 0) {
            return rc;
        }
        if (!parse_cells(text, ret, NULL)) {
            return myr_doc_error(err, node, MYR_EINVAL,
                                 "'cells' is '%s', numbers of n (nodes), g (leaf groups) or p "
                                 "(pods) such as 4n,2g are expected",
                                 myr_text_excerpt(text, excerpt));
        }
        return MYR_OK;
    }
    int rc = myr_doc_check_keys(node, "cells", level_keys, MYR_CELL_LEVELS, err);
    for (uint32_t level = 0; level < MYR_CELL_LEVELS && rc == MYR_OK; level++) {
        const struct myr_doc *value = myr_doc_get(node, level_keys[level]);
        uint64_t count = 0;
        rc = value ? myr_doc_u64(value, level_keys[level], 0, CELLS_MAX, &count, err) : MYR_OK;
        ret[level] = (uint32_t)count;
    }
    return rc;
}

static int read_tenants(struct myr_tenant_tree *tree, const struct myr_doc *map, uint32_t parent,
                        uint32_t depth, struct myr_err *err);

/* Names are unique in the whole tree: a trace knows tenants by name alone. */
static int check_name(const struct myr_tenant_tree *tree, const struct myr_doc *place,
                      struct myr_str name, uint32_t depth, struct myr_err *err)
{
    char excerpt[MYR_EXCERPT_MAX];
    /* Control characters would break the tables that names are printed in. */
    bool plain = name.len > 0;
    for (size_t i = 0; i < name.len; i++) {
        plain = plain && (unsigned char)name.data[i] >= ' ';
    }
    if (!plain) {
        return myr_doc_error(err, place, MYR_EINVAL, "'%s' is no name of a tenant",
                             myr_text_excerpt(name, excerpt));
    }
    if (myr_strmap_get(&tree->by_name, name) != MYR_NONE) {
        return myr_doc_error(err, place, MYR_EINVAL, "tenant '%s' stands in the tree twice",
                             myr_text_excerpt(name, excerpt));
    }
    if (depth > MYR_TENANT_DEPTH_MAX) {
        return myr_doc_error(err, place, MYR_ERANGE, "tenant '%s' is below %d others, at most %d",
                             myr_text_excerpt(name, excerpt), (int)depth - 1,
                             MYR_TENANT_DEPTH_MAX - 1);
    }
    if (tree->entries.count == MYR_TENANT_TREE_MAX) {
        return myr_doc_error(err, place, MYR_ERANGE, "more than %d tenants", MYR_TENANT_TREE_MAX);
    }
    return MYR_OK;
}

/* With all that stands below it. */
static int read_tenant(struct myr_tenant_tree *tree, const struct myr_doc_entry *entry,
                       uint32_t parent, uint32_t depth, struct myr_err *err)
{
    const struct myr_doc *node = entry->value;
    /* Messages point at the name, not at what stands behind it. */
    const struct myr_doc place = {
        .file = node->file, .line = entry->key_line, .column = entry->key_column};
    MYR_TRY(check_name(tree, &place, entry->key, depth, err));
    uint32_t at = add(tree, entry->key, parent);
    if (node->kind == MYR_DOC_NULL) {
        return MYR_OK; /* a name alone */
    }
    MYR_TRY(myr_doc_expect(node, MYR_DOC_MAP, "a tenant", err));
    MYR_TRY(myr_doc_check_keys(node, "a tenant", tenant_keys, MYR_ARRAY_COUNT(tenant_keys), err));
    const struct myr_doc *weight = myr_doc_get(node, "weight"), *cells = myr_doc_get(node, "cells");
    uint64_t number = 1;
    if (weight) {
        MYR_TRY(myr_doc_u64(weight, "weight", 1, MYR_TENANT_WEIGHT_MAX, &number, err));
    }
    tree->entries.items[at].tenant.weight = (uint32_t)number;
    if (cells) {
        MYR_TRY(read_cells(cells, tree->entries.items[at].tenant.cells, err));
    }
    const struct myr_doc *below = myr_doc_get(node, "tenants");
    return below ? read_tenants(tree, below, at, depth + 1, err) : MYR_OK;
}

static int read_tenants(struct myr_tenant_tree *tree, const struct myr_doc *map, uint32_t parent,
                        uint32_t depth, struct myr_err *err)
{
    int rc = myr_doc_expect(map, MYR_DOC_MAP, "tenants", err);
    for (uint32_t i = 0; rc == MYR_OK && i < map->count; i++) {
        rc = read_tenant(tree, &map->entries[i], parent, depth, err);
    }
    return rc;
}

/* Adds to what is in the tree: a name that is there already is an error. */
static int read_root(struct myr_tenant_tree *tree, const struct myr_doc *root, struct myr_err *err)
{
    static const char *const keys[] = {"tenants"};
    const struct myr_doc *tenants;
    MYR_TRY(myr_doc_expect(root, MYR_DOC_MAP, "a tree of tenants", err));
    MYR_TRY(myr_doc_check_keys(root, NULL, keys, MYR_ARRAY_COUNT(keys), err));
    MYR_TRY(myr_doc_need(root, "the file", "tenants", &tenants, err));
    return read_tenants(tree, tenants, MYR_NONE, 1, err);
}

int myr_tenant_tree_read(struct myr_tenant_tree *tree, const char *path, struct myr_err *err)
{
    static const struct myr_doc_want want = {MYR_KINDS_DOC(TENANTS), "a tree of tenants"};
    const struct myr_doc *root;
    MYR_TRY(myr_doc_read_file_of(&tree->arena, path, &want, &root, err));
    return read_root(tree, root, err);
}

int myr_tenant_tree_parse(struct myr_tenant_tree *tree, const char *file, struct myr_str text,
                          struct myr_err *err)
{
    const struct myr_doc *root;
    MYR_TRY(myr_doc_read_yaml(&tree->arena, file, text, &root, err));
    return read_root(tree, root, err);
}

/* The command line. */

/* The words may hold anything: what is shown of them is one line. */
static int refuse_own(const char *text, int code, const char *why, struct myr_err *err)
{
    char words[MYR_EXCERPT_MAX];
    return myr_err_set(err, code, "--own '%s': %s", myr_text_excerpt(myr_str_from(text), words),
                       why);
}

/* The tenant at the end of a path; MYR_NONE with a message when there cannot be one. */
static int find_path(struct myr_tenant_tree *tree, struct myr_str path, const char *text,
                     uint32_t *ret, struct myr_err *err)
{
    uint32_t parent = MYR_NONE;
    bool first = true;
    for (bool more = true; more; first = false) {
        const char *slash = memchr(path.data, '/', path.len);
        struct myr_str name = {path.data, slash ? (size_t)(slash - path.data) : path.len};
        uint32_t at = myr_strmap_get(&tree->by_name, name);
        if (name.len == 0) {
            return refuse_own(text, MYR_EINVAL, "TENANT=CELLS is expected", err);
        }
        /*
         * The first name may stand anywhere in the tree; the others must be
         * below the one before.
         */
        if (at == MYR_NONE) {
            at = add(tree, name, parent);
        } else if (!first && tree->entries.items[at].tenant.parent != parent) {
            return refuse_own(text, MYR_EINVAL, "a tenant of it stands elsewhere in the tree", err);
        }
        if (depth_of(tree, at) > MYR_TENANT_DEPTH_MAX) {
            return refuse_own(text, MYR_ERANGE, "tenants are at most four deep", err);
        }
        parent = at;
        more = slash != NULL;
        path.data += name.len + more;
        path.len -= name.len + more;
    }
    *ret = parent;
    return MYR_OK;
}

int myr_tenant_tree_own(struct myr_tenant_tree *tree, const char *text, struct myr_err *err)
{
    /* The last one: names may have the sign in them. */
    const char *equals = strrchr(text, '=');
    uint32_t at = MYR_NONE;
    if (!equals) {
        return refuse_own(text, MYR_EINVAL, "TENANT=CELLS is expected", err);
    }
    int rc = find_path(tree, (struct myr_str){text, (size_t)(equals - text)}, text, &at, err);
    if (rc < 0) {
        return rc;
    }
    struct myr_tenant *tenant = &tree->entries.items[at].tenant;
    /* Somebody named it, so it must mean something in the trace. */
    tree->entries.items[at].wanted = true;
    if (!parse_cells(myr_str_from(equals + 1), tenant->cells, &tenant->weight)) {
        return refuse_own(text, MYR_EINVAL,
                          "cells are numbers of n (nodes), g (leaf groups) or p (pods), such as "
                          "4n,2g; and 3w is a weight",
                          err);
    }
    return MYR_OK;
}

/* With a trace. */

/* Every tenant of the command line has jobs, or is above one that is in the tree. */
static int check_wanted(const struct myr_tenant_tree *tree, const struct myr_joblog *trace,
                        const struct myr_strmap *traced, struct myr_err *err)
{
    /* One byte more, so that an empty tree has an array. */
    uint8_t *above = myr_xcalloc(tree->entries.count + 1, 1);
    int rc = MYR_OK;
    for (size_t i = 0; i < tree->entries.count; i++) {
        uint32_t parent = tree->entries.items[i].tenant.parent;
        if (parent != MYR_NONE) {
            above[parent] = 1;
        }
    }
    for (size_t i = 0; i < tree->entries.count && rc == MYR_OK; i++) {
        struct myr_str name = myr_str_from(tree->entries.items[i].name);
        char near[160] = "";
        if (!tree->entries.items[i].wanted || above[i] ||
            myr_strmap_get(traced, name) != MYR_NONE) {
            continue;
        }
        rc = refuse_own(name.data, MYR_ENOENT, "the trace has no such tenant", err);
        myr_str_nearest(name, trace->tenant_names, trace->tenants, near, sizeof(near));
        if (near[0]) {
            myr_err_hint(err, "did you mean %s?", near);
        }
    }
    free(above);
    return rc;
}

/* Parents first: by depth, and within one depth in the order of the file. */
static void order_entries(const struct myr_tenant_tree *tree, struct myr_arena *arena,
                          struct myr_tenant *tenants, const char **names)
{
    uint32_t *place = MYR_ARENA_NEW(arena, uint32_t, tree->entries.count + 1), next = 0;
    for (uint32_t depth = 1; depth <= MYR_TENANT_DEPTH_MAX; depth++) {
        for (uint32_t i = 0; i < tree->entries.count; i++) {
            if (depth_of(tree, i) == depth) {
                uint32_t parent = tree->entries.items[i].tenant.parent;
                tenants[next] = tree->entries.items[i].tenant;
                /* Its parent has a place already: it is one depth above. */
                tenants[next].parent = parent == MYR_NONE ? MYR_NONE : place[parent];
                MYR_ASSERT(parent == MYR_NONE || tenants[next].parent < next);
                names[next] = myr_arena_strndup(arena, tree->entries.items[i].name,
                                                strlen(tree->entries.items[i].name));
                place[i] = next++;
            }
        }
    }
    MYR_ASSERT(next == tree->entries.count);
}

int myr_tenant_tree_join(const struct myr_tenant_tree *tree, struct myr_joblog *trace,
                         struct myr_tenant **ret, struct myr_err *err)
{
    uint32_t count = (uint32_t)tree->entries.count;
    struct myr_tenant *tenants =
        MYR_ARENA_NEW(&trace->arena, struct myr_tenant, (size_t)count + trace->tenants);
    const char **names = MYR_ARENA_NEW(&trace->arena, const char *, (size_t)count + trace->tenants);
    uint32_t *new_of = MYR_ARENA_NEW(&trace->arena, uint32_t, trace->tenants);
    struct myr_strmap traced = {}, ordered = {};
    for (uint32_t t = 0; t < trace->tenants; t++) {
        /* Names are told apart by the trace, so none comes twice. */
        (void)myr_strmap_add(&traced, myr_str_from(trace->tenant_names[t]), t);
    }
    int rc = check_wanted(tree, trace, &traced, err);
    if (rc == MYR_OK) {
        order_entries(tree, &trace->arena, tenants, names);
        for (uint32_t i = 0; i < count; i++) {
            (void)myr_strmap_add(&ordered, myr_str_from(names[i]), i);
        }
        for (uint32_t t = 0; t < trace->tenants; t++) {
            new_of[t] = myr_strmap_get(&ordered, myr_str_from(trace->tenant_names[t]));
            if (new_of[t] == MYR_NONE) {
                /* Tenants of the trace that the tree does not have stand beside its roots. */
                tenants[count] = (struct myr_tenant){.parent = MYR_NONE, .weight = 1};
                names[count] = trace->tenant_names[t];
                new_of[t] = count++;
            }
        }
        for (size_t i = 0; i < trace->jobs.count; i++) {
            /* The field has 24 bits; a trace and a tree together have fewer tenants. */
            trace->jobs.items[i].tenant = new_of[trace->jobs.items[i].tenant] & 0xffffff;
        }
        trace->tenants = count;
        trace->tenant_names = names;
        *ret = tenants;
    }
    myr_strmap_done(&traced);
    myr_strmap_done(&ordered);
    return rc;
}
