/*
 * lack: what a room that is too small has too little of. A rack is full by power, by units or by
 * weight; whoever is told to give more of another one plans again for nothing.
 */
#include "room/room.h"

#include <stdio.h>

enum { LACKS = 3 };
static const char *const lack_units[LACKS] = {"kW", "U", "kg"};

static uint32_t bits(uint32_t mask)
{
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1);
}

/* A bit for each of power, units and weight of which less is left than needed. */
static uint32_t lacking(const struct load *left, const struct load *need)
{
    return (uint32_t)(left->watts < need->watts) | (uint32_t)(left->units < need->units) << 1 |
           (uint32_t)(left->grams < need->grams) << 2;
}

/*
 * Of the racks that cannot take one more, those that lack the fewest things, and of these what most
 * of them lack: the least that has to change. Racks may all have room left where a block finds no
 * place together; then what limits an empty rack counts.
 */
static uint32_t what_lacks(const struct room *room, const struct load *need)
{
    uint32_t counts[1 << LACKS] = {}, found = 0;
    for (uint32_t i = 0; i < room->rack_count; i++) {
        counts[lacking(&room->racks[i].left, need)]++;
    }
    for (uint32_t mask = 1; mask < 1 << LACKS; mask++) {
        bool better = !found || bits(mask) < bits(found) ||
                      (bits(mask) == bits(found) && counts[mask] > counts[found]);
        found = counts[mask] && better ? mask : found;
    }
    if (!found) {
        int64_t more = (int64_t)room_fits(&room->rack, need) + 1;
        struct load all = {need->watts * more, need->units * more, need->grams * more};
        found = lacking(&room->rack, &all);
    }
    return found;
}

/* "20.4 kW and 16 U" of 'count' such things; with a count of 0, "kW and U". */
static const char *words(const struct room *room, uint32_t mask, const struct load *need,
                         uint32_t count)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const double each[LACKS] = {(double)need->watts / 1000, (double)need->units,
                                (double)need->grams / 1000};
    for (uint32_t i = 0; i < LACKS; i++) {
        if (mask >> i & 1) {
            myr_buf_puts(&text, text.len ? " and " : "");
            if (count) {
                myr_buf_printf(&text, "%g ", each[i] * count);
            }
            myr_buf_puts(&text, lack_units[i]);
        }
    }
    return myr_arena_strndup(room->arena, text.data ? text.data : "", text.len);
}

static void hint(const struct room *room, uint32_t mask, const struct load *need,
                 struct myr_err *err)
{
    myr_err_hint(err, "give the room more rows or columns, or its racks more %s",
                 words(room, mask, need, 0));
}

/* The first switch that stands nowhere; MYR_NONE: all do. */
static uint32_t without_place(const struct room *room)
{
    for (uint32_t i = 0; i < room->top_count + room->seat_count; i++) {
        uint32_t device = i < room->top_count ? room->tops[i] : room->seats[i - room->top_count];
        if (room->device_rack[device] == MYR_NONE) {
            return device;
        }
    }
    return MYR_NONE;
}

/* How many racks are missing, and how much else, is for servers alone: switches may need more. */
int room_too_small(const struct room *room, uint32_t block, struct myr_err *err)
{
    uint32_t servers = room->plan->spec->servers, placed = 0;
    for (uint32_t i = 0; i < servers; i++) {
        placed += room->server_rack[i] != ROOM_NONE;
    }
    uint32_t missing = servers - placed, count = missing ? missing : 1;
    /* All servers may stand and only switches be without a place. */
    bool switches = missing == 0 || (block == 0 && placed == 0);
    uint32_t device = missing ? MYR_NONE : without_place(room);
    struct load need = device == MYR_NONE ? room->server : room_load(room, device);
    uint32_t mask = what_lacks(room, &need);
    char weight[40] = "";
    if (mask >> 2 & 1) {
        snprintf(weight, sizeof(weight), " and %g kg", (double)room->rack.grams / 1000);
    }
    int rc = myr_doc_error(
        err, room->spec->node, MYR_ERANGE,
        "the room is too small: %s of %g kW%s %lld U%s %s %u of %s%s; %s or %s more are "
        "expected",
        MYR_COUNT(room->rack_count, "rack"), (double)room->rack.watts / 1000,
        weight[0] ? "," : " and", (long long)room->rack.units, weight,
        room->rack_count == 1 ? "holds" : "hold", placed, MYR_COUNT(servers, "server"),
        switches ? " beside their switches" : "",
        MYR_COUNT((count + room->per_rack - 1) / room->per_rack, "more rack"),
        words(room, mask, &need, count));
    hint(room, mask, &need, err);
    return rc;
}

/* Told with what it needs and what would help. */
int room_no_place(const struct room *room, const char *what, const struct load *need,
                  struct myr_err *err)
{
    uint32_t mask = what_lacks(room, need);
    char weight[40] = "";
    if (mask >> 2 & 1) {
        snprintf(weight, sizeof(weight), " and %g kg", (double)need->grams / 1000);
    }
    int rc = myr_doc_error(err, room->spec->node, MYR_ERANGE,
                           "the room is too small: no rack of %u has %g kW%s %lld U%s left for %s; "
                           "a rack more or more %s a rack are expected",
                           room->rack_count, (double)need->watts / 1000, weight[0] ? "," : " and",
                           (long long)need->units, weight, what, words(room, mask, need, 0));
    hint(room, mask, need, err);
    return rc;
}
