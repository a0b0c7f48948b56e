/*
 * Fields of a design at their limits and one beyond: the last value that is let through, and what
 * is said of the next one. design_words_test.c tries every word with its neighbours; limits that
 * lie far from what a small design holds are here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/model.h"
#include "myriad/model/design_file.h"

enum { ALIGN = 64 };

struct image {
    void *data;
    struct myr_design design;
};

static void open_image(const char *name, struct image *ret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf path = {}, file = {};
    myr_buf_printf(&path, "%s/tests/fuzz/corpus/design/%s", MYR_SOURCE_DIR, name);
    assert_int_equal(myr_file_read(path.data, 1 << 20, &file, NULL), MYR_OK);
    assert_int_equal(posix_memalign(&ret->data, ALIGN, file.len), 0);
    memcpy(ret->data, file.data, file.len);
    assert_int_equal(myr_design_parse(&ret->design, ret->data, file.len, name, NULL), MYR_OK);
}

/* 'says' NULL: it is a design. */
static void assert_checked(const struct myr_design *design, const char *says, int line)
{
    struct myr_err err = {};
    int rc = myr_design_check(design, "d", &err);
    const char *said = rc < 0 ? strstr(err.message, "design: ") + 8 : "";
    if (strcmp(said, says ? says : "") != 0) {
        fail_msg("line %d: '%s' in place of '%s'", line, said, says ? says : "");
    }
}

/* The field takes the value, is looked at, and is as before. */
#define SET(field, value, says)                        \
    do {                                               \
        __typeof__(field) before_ = (field);           \
        (field) = (value);                             \
        assert_checked(&image.design, says, __LINE__); \
        (field) = before_;                             \
    } while (0)

/* Any offset inside the block of strings is a text; its end is none. */
#define STRING(field, says)                              \
    do {                                                 \
        SET(field, image.design.string_bytes - 1, NULL); \
        SET(field, image.design.string_bytes, says);     \
        SET(field, 0, NULL);                             \
    } while (0)

static void strings_lie_inside(void **state)
{
    struct image image;
    (void)state;
    open_image("groups", &image);
    struct myr_design_head *head = image.design.head;
    STRING(head->name, "a string lies outside (at 0)");
    STRING(head->currency, "a string lies outside (at 1)");
    STRING(head->price_book, "a string lies outside (at 2)");
    STRING(head->server_part, "a string lies outside (at 3)");
    STRING(head->gpu_part, "a string lies outside (at 4)");
    struct myr_server_group *group = &image.design.groups[1];
    STRING(group->name, "a server group has a field outside (at 1)");
    STRING(group->server_part, "a server group has a field outside (at 1)");
    STRING(group->gpu_part, "a server group has a field outside (at 1)");
    struct myr_bom_row *row = &image.design.bom[0];
    uint32_t *const texts[] = {&row->system, &row->name,   &row->part,
                               &row->rule,   &row->inputs, &row->price_note};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        STRING(*texts[i], "a line of the bill of materials has a string outside (at 0)");
    }
    struct myr_devtype *type = &image.design.devtypes[0];
    STRING(type->part, "a device type is wrong (at 0)");
    struct myr_cabletype *cable = &image.design.cabletypes[0];
    STRING(cable->part, "a cable type is wrong (at 0)");
    STRING(cable->optic_a, "a cable type is wrong (at 0)");
    STRING(cable->optic_b, "a cable type is wrong (at 0)");
    char *strings = image.design.strings;
    SET(strings[0], 'x', "the strings do not end (at 0)");
    SET(strings[image.design.string_bytes - 1], 'x', "the strings do not end (at 0)");
    SET(image.design.string_bytes, 0, "the strings do not end (at 0)");
    free(image.data);
}

static void groups_of_servers_have_limits(void **state)
{
    struct image image;
    (void)state;
    open_image("groups", &image);
    struct myr_server_group *group = &image.design.groups[image.design.group_count - 1];
    const char *says = "a server group has a field outside (at 1)";
    assert_int_equal(image.design.group_count, 2);
    /* The head counts all GPUs: one more or less of them is told too. */
    uint32_t *gpus = &image.design.head->gpus, others = *gpus - group->nodes * group->gpus_per_node;
    const uint32_t right[] = {1, 1024}, before = group->gpus_per_node;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(right); i++) {
        group->gpus_per_node = right[i];
        SET(*gpus, others + group->nodes * right[i], NULL);
        SET(*gpus, others + group->nodes * right[i] + 1,
            "servers, nodes and GPUs do not add up (at 0)");
    }
    group->gpus_per_node = before;
    SET(group->gpus_per_node, 0, says);
    SET(group->gpus_per_node, 1025, says);
    SET(group->nodes_per_server, 1, NULL);
    SET(group->nodes_per_server, 0, says);
    free(image.data);
}

static void figures_can_be_printed(void **state)
{
    struct image image;
    struct myr_figure figures[2] = {};
    const char *says = "a figure has a field outside (at 1)";
    (void)state;
    open_image("two", &image);
    image.design.figures = figures;
    image.design.figure_count = 2;
    struct myr_figure *figure = &figures[1];
    SET(figure->digits, 12, NULL);
    SET(figure->digits, 13, says);
    SET(figure->basis, MYR_BASIS_COUNT - 1, NULL);
    SET(figure->basis, MYR_BASIS_COUNT, says);
    SET(figure->value, 1e300, NULL);
    SET(figure->value, 1.0001e300, says);
    SET(figure->value, -1e300, NULL);
    SET(figure->value, -1.0001e300, says);
    SET(figure->value, __builtin_nan(""), says);
    STRING(figure->path, says);
    STRING(figure->unit, says);
    STRING(figure->text, says);
    STRING(figure->rule, says);
    STRING(figure->inputs, says);
    SET(figures[0].digits, 13, "a figure has a field outside (at 0)");
    free(image.data);
}

static void types_have_limits(void **state)
{
    struct image image;
    (void)state;
    open_image("cards", &image);
    struct myr_design *design = &image.design;
    struct myr_devtype *type = &design->devtypes[0];
    SET(type->group_count, MYR_PORT_GROUPS_MAX + 1, "a device type is wrong (at 0)");
    struct myr_port_group *group = &type->groups[0];
    SET(group->count, 65536,
        type->group_count > 1 ? "a port group is wrong (at 0)"
                              : "a device type's ports do not add up (at 0)");
    SET(group->count, 65537, "a port group is wrong (at 0)");
    SET(group->role, MYR_PORT_GLOBAL + 1, "a port group is wrong (at 0)");
    SET(group->net, MYR_NET_COUNT, "a port group is wrong (at 0)");
    SET(group->per_cage, 0, "a port group is wrong (at 0)");
    SET(group->per_connector, 0, "a port group is wrong (at 0)");
    SET(group->per_connector, group->per_cage + 1, "a port group is wrong (at 0)");
    SET(group->first, group->first + 1, "a port group is wrong (at 0)");
    SET(type->port_count, type->port_count + 1, "a device type's ports do not add up (at 0)");
    struct myr_cabletype *cable = &design->cabletypes[1];
    SET(cable->net, MYR_NET_COUNT, "a cable type is wrong (at 1)");
    SET(cable->layer, MYR_LAYER_COUNT, "a cable type is wrong (at 1)");
    SET(cable->medium, MYR_MEDIUM_SINGLE, NULL);
    SET(cable->medium, MYR_MEDIUM_SINGLE + 1, "a cable type is wrong (at 1)");
    SET(cable->legs, 0, "a cable type is wrong (at 1)");
    SET(cable->gbps, 0, "a cable type is wrong (at 1)");
    assert_true(design->card_count > 0);
    struct myr_card *card = &design->cards[0];
    SET(card->count, 1, NULL);
    SET(card->count, 0, "a card is wrong (at 0)");
    SET(card->count, 65536, NULL);
    SET(card->count, 65537, "a card is wrong (at 0)");
    SET(card->devtype, design->devtype_count, "a card is wrong (at 0)");
    SET(card->group, design->devtypes[card->devtype].group_count, "a card is wrong (at 0)");
    STRING(card->part, "a card is wrong (at 0)");
    SET(design->bisection_count, 0, NULL);
    SET(design->bisection_count, MYR_NET_COUNT, NULL);
    SET(design->bisection_count, MYR_NET_COUNT - 1, "a bisection belongs to no network (at 3)");
    SET(design->bisection_count, MYR_NET_COUNT + 1, "a bisection belongs to no network (at 5)");
    free(image.data);
}

static void networks_have_limits(void **state)
{
    struct image image;
    (void)state;
    open_image("torus", &image);
    struct myr_network *net = &image.design.networks[MYR_NET_COMPUTE];
    const char *says = "a network is wrong (at 0)";
    assert_int_equal(net->topology, MYR_TOPOLOGY_TORUS);
    /* One side, or four, are no torus, though the product is right. */
    uint32_t dims[MYR_SPEC_DIMS_MAX], count = net->dim_count;
    memcpy(dims, net->dims, sizeof(dims));
    net->dims[0] = net->leaf;
    SET(net->dim_count, 1, says);
    net->dims[1] = 1;
    SET(net->dim_count, 2, NULL);
    net->dims[2] = 1;
    SET(net->dim_count, 3, NULL);
    SET(net->dim_count, 4, says);
    net->dim_count = 3;
    SET(net->dims[2], 0, says);
    SET(net->dims[2], 2, says);
    SET(net->dims[1], UINT32_MAX, says);
    memcpy(net->dims, dims, sizeof(dims));
    net->dim_count = count;
    SET(net->planes, 0, says);
    SET(net->planes, MYR_SPEC_PLANES_MAX, NULL);
    SET(net->planes, MYR_SPEC_PLANES_MAX + 1, says);
    SET(net->tiers, 0, says);
    SET(net->tiers, MYR_SPEC_TIERS_MAX, NULL);
    SET(net->tiers, MYR_SPEC_TIERS_MAX + 1, says);
    SET(net->fill, MYR_FILL_DENSE, NULL);
    SET(net->fill, MYR_FILL_DENSE + 1, says);
    SET(net->topology, MYR_TOPOLOGY_COUNT, says);
    SET(net->rails, 0, says);
    SET(net->units, 0, says);
    uint32_t *const counts[] = {&net->units,       &net->rails,          &net->nodes_on_it,
                                &net->host_ports,  &net->leaf_down,      &net->leaf_up,
                                &net->spine_down,  &net->spine_up,       &net->core_down,
                                &net->pods,        &net->pod_leaves,     &net->pod_spines,
                                &net->core_groups, &net->group_cores,    &net->group_nodes,
                                &net->groups,      &net->group_switches, &net->hosts_per_switch};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        SET(*counts[i], image.design.port_count, NULL);
        SET(*counts[i], image.design.port_count + 1, says);
    }
    free(image.data);
}

static void racks_and_rooms_have_limits(void **state)
{
    struct image image;
    (void)state;
    open_image("room", &image);
    struct myr_design *design = &image.design;
    struct myr_room *room = design->room;
    struct myr_rack *rack = &design->racks[1];
    SET(rack->row, MYR_ROOM_SIDE_MAX, "a rack is wrong (at 1)");
    SET(rack->row, MYR_ROOM_SIDE_MAX - 1, "a rack stands outside the room (at 1)");
    SET(rack->column, MYR_ROOM_SIDE_MAX, "a rack is wrong (at 1)");
    SET(rack->column, MYR_ROOM_SIDE_MAX - 1, "a rack stands outside the room (at 1)");
    SET(rack->row, room->rows, "a rack stands outside the room (at 1)");
    SET(rack->row, room->rows - 1, NULL);
    SET(rack->column, room->columns, "a rack stands outside the room (at 1)");
    SET(rack->column, room->columns - 1, NULL);
    STRING(rack->part, "a rack is wrong (at 1)");
    SET(rack->power_feed, MYR_NONE, NULL);
    SET(rack->power_feed, design->power_count, "a rack is wrong (at 1)");
    SET(rack->cooling_loop, MYR_NONE, NULL);
    SET(rack->cooling_loop, design->cooling_count, "a rack is wrong (at 1)");
    SET(room->rows, MYR_ROOM_SIDE_MAX, NULL);
    SET(room->rows, MYR_ROOM_SIDE_MAX + 1, "the room is wrong (at 0)");
    SET(room->columns, MYR_ROOM_SIDE_MAX, NULL);
    SET(room->columns, MYR_ROOM_SIDE_MAX + 1, "the room is wrong (at 0)");
    SET(room->buildings, 0, "the room is wrong (at 0)");
    SET(room->buildings, MYR_ROOM_BUILDINGS_MAX, NULL);
    SET(room->buildings, MYR_ROOM_BUILDINGS_MAX + 1, "the room is wrong (at 0)");
    SET(room->place, MYR_ROOM_SHORTEST, NULL);
    SET(room->place, MYR_ROOM_SHORTEST + 1, "the room is wrong (at 0)");
    STRING(room->building_names[0], "the room is wrong (at 0)");
    STRING(room->building_names[1], "the room is wrong (at 0)");
    SET(design->room_count, 2, "the room is wrong (at 0)");
    SET(design->rack_more, NULL, "the room is there in part only (at 1)");
    SET(design->rack_items, NULL, "the room is there in part only (at 2)");
    SET(design->power_more, NULL, "the room is there in part only (at 3)");
    SET(design->cooling_more, NULL, "the room is there in part only (at 4)");
    SET(design->device_unit, NULL, "the room is there in part only (at 5)");
    SET(design->cable_mm, NULL, "the room is there in part only (at 6)");
    SET(design->type_loads, NULL, "the room is there in part only (at 7)");
    SET(design->room, NULL, "the room is there in part only (at 1)");
    struct myr_rack_more *more = &design->rack_more[1];
    SET(more->building, room->buildings, "a rack stands outside the room (at 1)");
    SET(more->power_b, MYR_NONE, NULL);
    SET(more->power_b, design->power_count, "a rack stands outside the room (at 1)");
    SET(more->cooling_b, MYR_NONE, NULL);
    SET(more->cooling_b, design->cooling_count, "a rack stands outside the room (at 1)");
    free(image.data);
}

/* Ids may have gaps, up to a thousand and eight times as many as there are. */
static void ids_have_limits(void **state)
{
    struct image image;
    const char *says = "an id is given twice or lies outside (at 0)";
    (void)state;
    open_image("grown", &image);
    struct myr_design *design = &image.design;
    uint32_t *const ids[] = {design->device_id, design->port_id, design->link_id, design->cable_id};
    const uint32_t counts[] = {design->device_count, design->port_count, design->link_count,
                               design->cable_count};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ids); i++) {
        assert_non_null(ids[i]);
        uint32_t *last = &ids[i][counts[i] - 1];
        SET(*last, counts[i] * 8 + 1023, NULL);
        SET(*last, counts[i] * 8 + 1024, says);
        SET(*last, ids[i][0], says);
        SET(*last, MYR_NONE, says);
    }
    SET(design->named, NULL, "its names are in disorder (at 0)");
    SET(design->by_name, NULL, "its names are in disorder (at 0)");
    free(image.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_lie_inside),     cmocka_unit_test(groups_of_servers_have_limits),
        cmocka_unit_test(figures_can_be_printed), cmocka_unit_test(types_have_limits),
        cmocka_unit_test(networks_have_limits),   cmocka_unit_test(racks_and_rooms_have_limits),
        cmocka_unit_test(ids_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
