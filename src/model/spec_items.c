/* Parts that a spec names beside its networks. */
#include "fields.h"
#include "spec_parts.h"

/* In the order of enum myr_per. */
const char *const myr_per_names[MYR_PER_COUNT] = {"piece", "gpu",      "server",
                                                  "node",  "nic_port", "switch"};

int spec_unknown_part(const struct myr_catalog *catalog, const struct myr_doc *place,
                      struct myr_str name, const char *where, struct myr_err *err)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(const char *) names = {};
    for (uint32_t i = 0; i < catalog->names.count; i++) {
        myr_vec_push(&names, catalog->names.keys[i].data);
    }
    char near[128], shown[MYR_EXCERPT_MAX];
    myr_str_nearest(name, names.items, names.count, near, sizeof(near));
    return myr_doc_error(err, place, MYR_ENOENT, "unknown part '%s' in '%s'%s%s%s",
                         myr_text_excerpt(name, shown), where, near[0] ? "; did you mean " : "",
                         near, near[0] ? "?" : "");
}

/* 'item' brings the defaults. Any kind of part may be an item. */
static int read_item(struct myr_arena *arena, const struct myr_catalog *catalog,
                     const struct myr_doc *node, struct myr_spec_item *item, struct myr_err *err)
{
    struct item_nodes {
        const struct myr_doc *part;
    } nodes = {};
    static const struct field node_fields[] = {FIELD_ROW_NODE("part", struct item_nodes, part)};
    static const struct field item_fields[] = {
        FIELD_ROW_CHOICE("per", struct myr_spec_item, per, myr_per_names),
        FIELD_ROW_DOUBLE("quantity", struct myr_spec_item, quantity, 0, 1e9),
        FIELD_ROW_TEXT("system", struct myr_spec_item, system),
        FIELD_ROW_TEXT("name", struct myr_spec_item, name),
    };
    const struct field_table tables[] = {
        {node_fields, 1, &nodes},
        {item_fields, MYR_ARRAY_COUNT(item_fields), item},
    };
    MYR_TRY(fields_read(arena, node, "an item", tables, 2, err));
    if (!nodes.part) {
        return myr_doc_error(err, node, MYR_EINVAL, "the item lacks 'part'");
    }
    struct myr_str name;
    MYR_TRY(myr_doc_text(nodes.part, "part", &name, err));
    item->part = myr_catalog_find(catalog, name);
    /* For complaints of the planner. */
    item->node = node;
    return item->part == MYR_PART_NONE ? spec_unknown_part(catalog, nodes.part, name, "items", err)
                                       : MYR_OK;
}

/* The limit is over all lists of the spec together, those of its networks included. */
int spec_read_items(struct myr_arena *arena, const struct myr_catalog *catalog,
                    const struct myr_doc *node, const char *system, struct myr_spec *spec,
                    struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(node, MYR_DOC_LIST, "items", err));
    for (uint32_t i = 0; i < node->count; i++) {
        struct myr_spec_item item = {.quantity = 1, .system = system};
        MYR_TRY(read_item(arena, catalog, node->items[i], &item, err));
        if (spec->items.count == MYR_SPEC_ITEMS_MAX) {
            return myr_doc_error(err, node, MYR_ERANGE, "more than %d items", MYR_SPEC_ITEMS_MAX);
        }
        myr_vec_push(&spec->items, item);
    }
    return MYR_OK;
}

int spec_need_optional(const struct myr_catalog *catalog, const struct myr_doc *node,
                       const char *what, enum myr_part_kind kind, uint32_t *ret,
                       struct myr_err *err)
{
    return node ? myr_catalog_need(catalog, node, what, kind, ret, err) : MYR_OK;
}
