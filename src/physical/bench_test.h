/*
 * bench: a catalogue and a design that a test puts together by hand, piece by piece. All memory is
 * in the struct and the catalogue's map, so a piece can be changed, looked at and put back.
 */
#pragma once

#include <ctype.h>
#include <stdio.h>

#include "myriad/physical.h"

enum {
    BENCH_PARTS = 32,
    BENCH_TYPES = 16,
    BENCH_DEVICES = 64,
    BENCH_PORTS = 512,
    BENCH_LINKS = 256,
    BENCH_ROWS = 40,
    BENCH_RACKS = 4,
    BENCH_TEXT = 4096,
};

struct bench {
    struct myr_catalog catalog;
    struct myr_design design;
    struct myr_part parts[BENCH_PARTS];
    char orders[BENCH_PARTS][16]; /* in small letters */
    struct myr_design_head head;
    struct myr_network networks[MYR_NET_COUNT];
    struct myr_devtype devtypes[BENCH_TYPES];
    struct myr_cabletype cabletypes[BENCH_TYPES];
    struct myr_card cards[BENCH_TYPES * 2];
    struct myr_place place[BENCH_DEVICES];
    uint16_t device_type[BENCH_DEVICES], cable_type[BENCH_LINKS];
    uint32_t first_port[BENCH_DEVICES + 1], device_rack[BENCH_DEVICES];
    uint32_t port_device[BENCH_PORTS], port_link[BENCH_PORTS];
    uint32_t link_a[BENCH_LINKS], link_b[BENCH_LINKS], link_cable[BENCH_LINKS];
    uint32_t first_link[BENCH_LINKS + 1];
    struct myr_bom_row bom[BENCH_ROWS];
    struct myr_room room;
    struct myr_rack racks[BENCH_RACKS];
    struct myr_rack_more rack_more[BENCH_RACKS];
    char strings[BENCH_TEXT];
};

static inline void bench_init(struct bench *b)
{
    *b = (struct bench){};
    b->catalog.parts.items = b->parts;
    b->design = (struct myr_design){
        .head = &b->head,
        .networks = b->networks,
        .place = b->place,
        .device_type = b->device_type,
        .first_port = b->first_port,
        .device_rack = b->device_rack,
        .port_device = b->port_device,
        .port_link = b->port_link,
        .link_a = b->link_a,
        .link_b = b->link_b,
        .link_cable = b->link_cable,
        .first_link = b->first_link,
        .cable_type = b->cable_type,
        .devtypes = b->devtypes,
        .cabletypes = b->cabletypes,
        .cards = b->cards,
        .bom = b->bom,
        .racks = b->racks,
        .rack_more = b->rack_more,
        .string_bytes = 1,
        .strings = b->strings,
    };
}

static inline void bench_done(struct bench *b)
{
    myr_strmap_done(&b->catalog.names);
}

/* Where the word lies among the design's strings; one that is there is not put twice. */
static inline uint32_t bench_text(struct bench *b, const char *word)
{
    for (uint32_t at = 0; at < b->design.string_bytes;
         at += (uint32_t)strlen(b->strings + at) + 1) {
        if (strcmp(b->strings + at, word) == 0) {
            return at;
        }
    }
    uint32_t at = b->design.string_bytes;
    assert_true(at + strlen(word) < BENCH_TEXT);
    memcpy(b->strings + at, word, strlen(word) + 1);
    b->design.string_bytes += (uint32_t)strlen(word) + 1;
    return at;
}

/* 'order' in capital letters; the catalogue finds a part by it too. */
static inline struct myr_part *bench_part(struct bench *b, struct myr_part part)
{
    uint32_t index = (uint32_t)b->catalog.parts.count++;
    assert_true(index < BENCH_PARTS);
    b->parts[index] = part;
    assert_true(myr_strmap_add(&b->catalog.names, myr_str_from(part.id), index));
    char *order = b->orders[index];
    size_t len = strlen(part.order);
    assert_true(len < sizeof(b->orders[index]));
    for (size_t i = 0; i < len; i++) {
        order[i] = (char)tolower((unsigned char)part.order[i]);
    }
    assert_true(myr_strmap_add(&b->catalog.names, (struct myr_str){order, len}, index));
    return &b->parts[index];
}

static inline struct myr_part *bench_find(struct bench *b, const char *id)
{
    uint32_t found = myr_catalog_find(&b->catalog, myr_str_from(id));
    assert_int_not_equal(found, MYR_PART_NONE);
    return &b->parts[found];
}

static inline uint32_t bench_type(struct bench *b, const char *part)
{
    uint32_t type = b->design.devtype_count++;
    assert_true(type < BENCH_TYPES);
    b->devtypes[type].part = bench_text(b, part);
    return type;
}

/* Ports behind those that the type has; 'card' NULL: they are the box's own. */
static inline void bench_group(struct bench *b, uint32_t type, struct myr_port_group group,
                               const char *card, uint32_t cards)
{
    struct myr_devtype *devtype = &b->devtypes[type];
    assert_true(devtype->group_count < MYR_PORT_GROUPS_MAX);
    group.first = devtype->port_count;
    devtype->port_count += group.count;
    if (card) {
        b->cards[b->design.card_count++] =
            (struct myr_card){type, devtype->group_count, bench_text(b, card), cards, 0};
    }
    devtype->groups[devtype->group_count++] = group;
}

static inline uint32_t bench_device(struct bench *b, uint32_t type, struct myr_place place)
{
    uint32_t device = b->design.device_count++, port = b->first_port[device];
    assert_true(device < BENCH_DEVICES && port + b->devtypes[type].port_count <= BENCH_PORTS);
    b->place[device] = place;
    b->device_type[device] = (uint16_t)type;
    b->device_rack[device] = MYR_NONE;
    for (uint32_t i = 0; i < b->devtypes[type].port_count; i++, port++) {
        b->port_device[port] = device;
        b->port_link[port] = MYR_NONE;
    }
    b->first_port[device + 1] = b->design.port_count = port;
    return device;
}

static inline uint32_t bench_lay(struct bench *b, struct myr_cabletype type)
{
    assert_true(b->design.cabletype_count < BENCH_TYPES);
    b->cabletypes[b->design.cabletype_count] = type;
    return b->design.cabletype_count++;
}

/* A port of a device, by group and number in it. */
static inline uint32_t bench_port(const struct bench *b, uint32_t device, uint32_t group,
                                  uint32_t number)
{
    const struct myr_devtype *type = &b->devtypes[b->device_type[device]];
    assert_true(number < type->groups[group].count);
    return b->first_port[device] + type->groups[group].first + number;
}

/* One more cable, without a link yet; bench_link() gives links to the last one. */
static inline void bench_cable(struct bench *b, uint32_t type)
{
    b->cable_type[b->design.cable_count++] = (uint16_t)type;
    b->first_link[b->design.cable_count] = b->design.link_count;
}

static inline void bench_link(struct bench *b, uint32_t port_a, uint32_t port_b)
{
    uint32_t link = b->design.link_count++, cable = b->design.cable_count - 1;
    assert_true(link < BENCH_LINKS);
    assert_true(b->port_link[port_a] == MYR_NONE && b->port_link[port_b] == MYR_NONE);
    b->link_a[link] = port_a;
    b->link_b[link] = port_b;
    b->link_cable[link] = cable;
    b->port_link[port_a] = b->port_link[port_b] = link;
    b->first_link[cable + 1] = link + 1;
}

static inline void bench_row(struct bench *b, uint32_t net, const char *order, uint64_t quantity)
{
    assert_true(b->design.bom_count < BENCH_ROWS);
    b->bom[b->design.bom_count++] = (struct myr_bom_row){
        .system = bench_text(b, myr_net_names[net]),
        .part = bench_text(b, order),
        .quantity = quantity,
    };
}

/* What the checker says, a line a finding; false when it says nothing. */
static inline bool bench_tell(const struct bench *b, struct myr_buf *told)
{
    struct myr_arena arena;
    struct myr_physical physical;
    myr_arena_init(&arena);
    myr_physical_check(&arena, &b->catalog, &b->design, &physical);
    size_t count = physical.findings.count;
    for (size_t i = 0; i < count; i++) {
        const struct myr_physical_finding *finding = &physical.findings.items[i];
        myr_buf_printf(told, "    %s, %llu at %s: %s\n", finding->rule,
                       (unsigned long long)finding->places, finding->where, finding->message);
    }
    myr_physical_done(&physical);
    myr_arena_done(&arena);
    return count > 0;
}

/* Nothing is told of a design in which nothing is found. */
MYR_PRINTF(3, 4)
static inline void bench_look(const struct bench *b, struct myr_buf *told, const char *fmt, ...)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
    char head[160];
    va_list args;
    va_start(args, fmt);
    assert_true(vsnprintf(head, sizeof(head), fmt, args) < (int)sizeof(head));
    va_end(args);
    if (bench_tell(b, &said)) {
        myr_buf_printf(told, "  %s\n%s", head, said.data);
    }
}
