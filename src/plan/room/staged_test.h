/*
 * A room on the stage: a plan from a text up to where the room begins, for unit tests of single
 * steps of it; behind cmocka.h. All servers are of one kind, and the spec says what a rack carries.
 */
#pragma once

#include "planned_test.h"
#include "room/room.h"

struct staged {
    struct planned p;
    struct plan *plan;
    struct room room;
};

static inline void staged_begin(struct staged *s, const char *text)
{
    *s = (struct staged){};
    planned_read(&s->p, text);
    struct plan *plan = MYR_ARENA_ONE(&s->p.arena, struct plan);
    plan->arena = &s->p.arena;
    plan->catalog = &s->p.catalog;
    plan->spec = &s->p.spec;
    s->plan = plan;
    /* About as many as there would be: how many racks are used is not known yet. */
    if (s->p.spec.room.managed) {
        plan->pdus = 2 * s->p.spec.servers;
        plan->cdus = 1;
    }
    (void)plan_string(plan, "");
    if (plan_unproved(plan, &s->p.err) < 0) {
        fail_msg("%s", s->p.err.message);
    }
    const struct myr_part *server = plan->server;
    const struct myr_spec_room *spec = &s->p.spec.room;
    s->room = (struct room){
        .plan = plan,
        .arena = plan->arena,
        .spec = spec,
        .rack = {(int64_t)(spec->rack_kw * 1000 + 0.5), (int64_t)spec->rack_u, 1500000},
        .server = {(int64_t)server->watts, (int64_t)server->rack_units,
                   (int64_t)(server->weight_kg * 1000)},
        .device_rack = plan->design.device_rack,
        .device_unit = MYR_ARENA_NEW(plan->arena, uint16_t, plan->design.device_count),
        .server_rack = MYR_ARENA_NEW(plan->arena, uint32_t, plan->spec->servers),
    };
    s->room.groups[0] = s->room.server;
    s->room.per_rack = room_fits(&s->room.rack, &s->room.server);
    room_blocks(&s->room);
    room_grid(&s->room, spec->columns);
}

static inline void staged_end(struct staged *s)
{
    myr_vec_done(&s->room.items);
    plan_release(s->plan);
    planned_end(&s->p);
}

/* Everything stands where it is put without any start, and nothing is made shorter yet. */
static inline void staged_place(struct staged *s)
{
    for (uint32_t i = 0; i < s->plan->design.device_count; i++) {
        s->room.device_rack[i] = MYR_NONE;
    }
    s->room.start_count = 0;
    s->room.items.count = 0;
    assert_int_equal(room_place(&s->room, 0, &s->p.err), MYR_OK);
    assert_int_equal(room_rest(&s->room, &s->p.err), MYR_OK);
}

/* The ways of all links, one by one. */
static inline int64_t staged_ways(const struct staged *s)
{
    const struct myr_design *design = &s->plan->design;
    int64_t sum = 0;
    for (uint32_t i = 0; i < design->link_count; i++) {
        uint32_t a = s->room.device_rack[design->port_device[design->link_a[i]]];
        uint32_t b = s->room.device_rack[design->port_device[design->link_b[i]]];
        sum += a == MYR_NONE || b == MYR_NONE ? 0 : room_path_mm(&s->room, a, b);
    }
    return sum;
}

/* What racks have left is what they carry less what stands in them, counted thing by thing. */
static inline void staged_check(const struct staged *s)
{
    const struct room *room = &s->room;
    const struct myr_design *design = &s->plan->design;
    uint32_t nodes = s->plan->server->server.nodes, first = design->head->first_node;
    for (uint32_t rack = 0; rack < room->rack_count; rack++) {
        struct stand count = {.left = room->rack};
        for (uint32_t i = 0; i < s->plan->spec->servers; i++) {
            if (room->server_rack[i] == rack) {
                room_take(&count, &room->server, 1);
                count.servers++;
            }
            for (uint32_t k = 0; k < nodes; k++) {
                assert_int_equal(room->device_rack[first + i * nodes + k], room->server_rack[i]);
            }
        }
        for (uint32_t i = 0; i < design->device_count; i++) {
            if (room->device_rack[i] == rack && design->place[i].kind != MYR_DEVICE_NODE &&
                design->place[i].kind < MYR_DEVICE_PDU) {
                struct load need = room_load(room, i);
                room_take(&count, &need, 1);
            }
        }
        for (size_t i = 0; i < room->items.count; i++) {
            const struct myr_rack_item *item = &room->items.items[i];
            if (item->rack == rack) {
                count.left.units -= item->units;
                count.left.watts -= item->watts;
                count.left.grams = room->racks[rack].left.grams;
            }
        }
        assert_int_equal(room->racks[rack].left.watts, count.left.watts);
        assert_int_equal(room->racks[rack].left.units, count.left.units);
        assert_int_equal(room->racks[rack].left.grams, count.left.grams);
        assert_int_equal(room->racks[rack].servers, count.servers);
    }
}

/* Racks in use with what stands in them, servers by their numbers. */
static inline void staged_tell(const struct staged *s, struct myr_buf *told)
{
    const struct myr_design *design = &s->plan->design;
    for (uint32_t rack = 0; rack < s->room.rack_count; rack++) {
        struct myr_buf line = {};
        for (uint32_t i = 0; i < s->plan->spec->servers; i++) {
            if (s->room.server_rack[i] == rack) {
                myr_buf_printf(&line, " %u", i);
            }
        }
        for (uint32_t i = 0; i < design->device_count; i++) {
            if (s->room.device_rack[i] == rack && design->place[i].kind != MYR_DEVICE_NODE) {
                myr_buf_puts(&line, " ");
                myr_design_name(design, i, &line);
            }
        }
        if (line.len) {
            myr_buf_printf(told, "  %s:%s\n", room_rack_name(&s->room, rack), line.data);
        }
        myr_buf_done(&line);
    }
}
