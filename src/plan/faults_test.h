/* What the test of planted faults stands on: a plan to spoil, and what it orders counted again. */
#pragma once

#include "myriad/plan.h"

struct fixture {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    struct myr_err err;
};

static inline void plan(struct fixture *f, const char *text)
{
    const struct myr_doc *doc;
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    if (myr_catalog_init(&f->catalog, &f->arena, &f->err) < 0 ||
        myr_doc_read_yaml(&f->arena, "test.yaml", myr_str_from(text), &doc, &f->err) < 0 ||
        myr_spec_read(&f->arena, &f->catalog, doc, &f->spec, &f->err) < 0 ||
        myr_plan(&f->arena, &f->catalog, &f->spec, &f->design, &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
}

static inline void release(struct fixture *f)
{
    myr_spec_done(&f->spec);
    myr_catalog_done(&f->catalog);
    myr_arena_done(&f->arena);
}

static inline struct myr_part *part(struct fixture *f, const char *id)
{
    uint32_t found = myr_catalog_find(&f->catalog, myr_str_from(id));
    assert_int_not_equal(found, MYR_PART_NONE);
    return &f->catalog.parts.items[found];
}

/* A text at the end of the design's strings. */
static inline uint32_t text(struct fixture *f, const char *word)
{
    struct myr_design *design = &f->design;
    uint32_t at = design->string_bytes, len = (uint32_t)strlen(word) + 1;
    char *strings = myr_arena_alloc(&f->arena, at + len, 1);
    memcpy(strings, design->strings, at);
    memcpy(strings + at, word, len);
    design->strings = strings;
    design->string_bytes = at + len;
    return at;
}

static inline struct myr_cabletype *lay(struct fixture *f, uint32_t net, enum myr_layer layer)
{
    for (uint32_t i = 0; i < f->design.cabletype_count; i++) {
        struct myr_cabletype *type = &f->design.cabletypes[i];
        if (type->net == net && type->layer == layer) {
            return type;
        }
    }
    fail_msg("there is no such layer");
    return NULL;
}

static inline struct myr_cabletype *hosts(struct fixture *f)
{
    return lay(f, MYR_NET_COMPUTE, MYR_LAYER_HOST);
}

static inline struct myr_cabletype *fabric(struct fixture *f)
{
    return lay(f, MYR_NET_COMPUTE, MYR_LAYER_FABRIC);
}

static inline struct myr_devtype *boxes(struct fixture *f, enum myr_device_kind kind)
{
    for (uint32_t i = 0; i < f->design.device_count; i++) {
        if (f->design.place[i].kind == kind) {
            return &f->design.devtypes[f->design.device_type[i]];
        }
    }
    fail_msg("there is no such device");
    return NULL;
}

static inline struct myr_card *compute_card(struct fixture *f)
{
    struct myr_devtype *nodes = boxes(f, MYR_DEVICE_NODE);
    for (uint32_t i = 0; i < f->design.card_count; i++) {
        struct myr_card *card = &f->design.cards[i];
        if (&f->design.devtypes[card->devtype] == nodes &&
            nodes->groups[card->group].net == MYR_NET_COMPUTE) {
            return card;
        }
    }
    fail_msg("the nodes have no card");
    return NULL;
}

/* --- what is ordered, counted again */

struct order {
    struct fixture *f;
    MYR_VEC(struct myr_bom_row) rows;
};

static inline void put(struct order *order, uint32_t net, uint32_t id, uint64_t pieces)
{
    struct fixture *f = order->f;
    uint32_t found =
        id ? myr_catalog_find(&f->catalog, myr_str_from(myr_design_str(&f->design, id)))
           : MYR_PART_NONE;
    if (found == MYR_PART_NONE) {
        return;
    }
    const char *number = f->catalog.parts.items[found].order;
    for (size_t i = 0; i < order->rows.count; i++) {
        struct myr_bom_row *row = &order->rows.items[i];
        if (strcmp(myr_design_str(&f->design, row->part), number) == 0 &&
            strcmp(myr_design_str(&f->design, row->system), myr_net_names[net]) == 0) {
            row->quantity += pieces;
            return;
        }
    }
    struct myr_bom_row row = {.system = text(f, myr_net_names[net]), .quantity = pieces};
    row.part = text(f, number);
    myr_vec_push(&order->rows, row);
}

/* The end of the cable in the cage that begins at this port; NULL: nothing is plugged there. */
static inline const struct myr_cabletype *in_cage(const struct myr_design *design, uint32_t first,
                                                  uint32_t count, bool *ret_at_a)
{
    for (uint32_t port = first; port < first + count; port++) {
        uint32_t link = design->port_link[port];
        if (link != MYR_NONE) {
            *ret_at_a = design->link_a[link] == port;
            return &design->cabletypes[design->cable_type[design->link_cable[link]]];
        }
    }
    return NULL;
}

static inline void order_modules(struct order *order, uint32_t device)
{
    const struct myr_design *design = &order->f->design;
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    for (uint32_t g = 0; g < type->group_count; g++) {
        const struct myr_port_group *group = &type->groups[g];
        uint32_t first = design->first_port[device] + group->first;
        for (uint32_t i = 0; i < group->count; i += group->per_cage) {
            uint32_t left = group->count - i;
            bool at_a = false;
            const struct myr_cabletype *cable =
                in_cage(design, first + i, left < group->per_cage ? left : group->per_cage, &at_a);
            if (cable) {
                put(order, group->net, at_a ? cable->optic_a : cable->optic_b, 1);
            }
        }
    }
}

static inline void order_again(struct fixture *f)
{
    struct order order = {.f = f};
    const struct myr_design *design = &f->design;
    for (uint32_t device = 0; device < design->device_count; device++) {
        uint8_t kind = design->place[device].kind;
        if (kind >= MYR_DEVICE_LEAF && kind <= MYR_DEVICE_AGGREGATION) {
            put(&order, design->place[device].net,
                design->devtypes[design->device_type[device]].part, 1);
        }
        order_modules(&order, device);
    }
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        const struct myr_cabletype *type = &design->cabletypes[design->cable_type[cable]];
        put(&order, type->net, type->part, 1);
    }
    f->design.bom_count = (uint32_t)order.rows.count;
    f->design.bom = myr_arena_alloc(&f->arena, order.rows.count, sizeof(struct myr_bom_row));
    memcpy(f->design.bom, order.rows.items, order.rows.count * sizeof(struct myr_bom_row));
    myr_vec_done(&order.rows);
}
