#include <stdlib.h>

#include "myriad/text/csv.h"
#include "plan_internal.h"

/*
 * The room in the answer, on the page and as a list; all of it from the finished design. Nothing of
 * the placement is needed any more: a design that was read from a file tells the same.
 */

/* By the spec's number of it. */
static const char *const place_names[] = {"aligned", "shortest"};

static double metres(uint64_t mm)
{
    return (double)mm / 1000;
}

/* A rating that nobody gave is null, not zero. */
static void put_chain(struct myr_answer *answer, const struct myr_design *design, const char *key,
                      const struct myr_chain_link *links, const struct myr_chain_more *more,
                      uint32_t count)
{
    myr_answer_list(answer, key);
    for (uint32_t i = 0; i < count; i++) {
        /* Up to two, which stand in for each other. */
        const uint32_t parents[] = {links[i].parent, more[i].parent_b};
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", myr_design_str(design, links[i].name));
        if (links[i].watts_max) {
            myr_answer_double(answer, "kw", links[i].watts_max / 1000.0, 1);
        } else {
            myr_answer_null(answer, "kw");
        }
        myr_answer_u64(answer, "kw_used", more[i].kw_used);
        myr_answer_list(answer, "parents");
        for (uint32_t k = 0; k < 2; k++) {
            if (parents[k] != MYR_NONE) {
                myr_answer_text(answer, NULL, myr_design_str(design, links[parents[k]].name));
            }
        }
        myr_answer_end(answer);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* Null without a room, so that the key is always there. */
void plan_room_answer(const struct myr_design *design, struct myr_answer *answer)
{
    const struct myr_room *room = design->room;
    if (!room) {
        myr_answer_null(answer, "room");
        return;
    }
    myr_answer_object(answer, "room");
    myr_answer_text(answer, "place", place_names[room->place]);
    myr_answer_u64(answer, "buildings", room->buildings);
    myr_answer_u64(answer, "rows", room->rows);
    myr_answer_u64(answer, "columns", room->columns);
    myr_answer_u64(answer, "racks", design->rack_count);
    myr_answer_u64(answer, "racks_used", room->racks_used);
    myr_answer_u64(answer, "racks_mixed_power", room->racks_mixed);
    myr_answer_bool(answer, "managed", room->managed);
    myr_answer_u64(answer, "pdus", myr_design_range(design, MYR_DEVICE_PDU, MYR_NET_OOB).count);
    myr_answer_u64(answer, "cdus", myr_design_range(design, MYR_DEVICE_CDU, MYR_NET_OOB).count);
    /* What is drawn, and what all racks together may draw. */
    myr_answer_double(answer, "kw", (double)room->watts / 1000, 1);
    myr_answer_double(answer, "kw_limit", (double)room->watts_max / 1000, 1);
    myr_answer_double(answer, "cable_m", metres(room->cable_mm), 1);
    myr_answer_double(answer, "fibre_m", metres(room->fibre_mm), 1);
    myr_answer_double(answer, "longest_m", metres(room->longest_mm), 2);
    myr_answer_double(answer, "tray_fill", room->tray_fill_permille / 1000.0, 3);
    myr_answer_u64(answer, "trunks", room->trunks);
    myr_answer_u64(answer, "patch_panels", room->panels);
    /* Both lists are empty where the room names no entries. */
    put_chain(answer, design, "power", design->power, design->power_more, design->power_count);
    put_chain(answer, design, "cooling", design->cooling, design->cooling_more,
              design->cooling_count);
    myr_answer_end(answer);
}

/* Two lines of the page; nothing without a room. */
void plan_room_page(const struct myr_design *design, struct myr_answer *answer)
{
    const struct myr_room *room = design->room;
    char used[32], racks[32];
    if (!room) {
        return;
    }
    myr_answer_fact(answer, "room", "%s of %s racks, %s of %s kW, placed %s",
                    myr_u64_grouped(room->racks_used, used),
                    myr_u64_grouped(design->rack_count, racks),
                    MYR_NUMBER((double)room->watts / 1000, 1),
                    MYR_NUMBER((double)room->watts_max / 1000, 1), place_names[room->place]);
    myr_answer_fact(answer, "cables", "%s km along trays, the longest %s m",
                    MYR_NUMBER(metres(room->cable_mm) / 1000, 1),
                    MYR_NUMBER(metres(room->longest_mm), 1));
}

/* ---- racks.csv ---- */

struct rack_rows {
    uint32_t *order; /* devices by rack, from the top unit down */
    uint32_t *first; /* by rack, one more */
};

/* Counted by rack first, then put in order of their units. */
static struct rack_rows sort_devices(const struct myr_design *design)
{
    uint32_t racks = design->rack_count, devices = design->device_count;
    struct rack_rows rows = {.order = myr_xrealloc(NULL, (size_t)devices + 1, sizeof(uint32_t)),
                             .first = myr_xrealloc(NULL, (size_t)racks + 1, sizeof(uint32_t))};
    /* Where the next device of a rack goes. */
    uint32_t *end = myr_xrealloc(NULL, (size_t)racks + 1, sizeof(uint32_t));
    memset(rows.first, 0, ((size_t)racks + 1) * sizeof(uint32_t));
    /* Devices that stand in no rack are not listed. */
    for (uint32_t i = 0; i < devices; i++) {
        if (design->device_rack[i] < racks) {
            rows.first[design->device_rack[i] + 1]++;
        }
    }
    for (uint32_t i = 0; i < racks; i++) {
        rows.first[i + 1] += rows.first[i];
        end[i] = rows.first[i];
    }
    for (uint32_t i = 0; i < devices; i++) {
        uint32_t rack = design->device_rack[i];
        if (rack >= racks) {
            continue;
        }
        uint32_t at = end[rack]++;
        /* A rack holds few devices: they are put in order one by one. */
        for (; at > rows.first[rack] &&
               design->device_unit[rows.order[at - 1]] < design->device_unit[i];
             at--) {
            rows.order[at] = rows.order[at - 1];
        }
        rows.order[at] = i;
    }
    free(end);
    return rows;
}

/* A row of the list; devices without units, such as strips, have unit 0. */
static void put_row(const struct myr_design *design, struct myr_buf *buf, uint32_t rack,
                    uint32_t unit, const char *item, uint32_t part, uint32_t watts, uint32_t units)
{
    const struct myr_rack *r = &design->racks[rack];
    /* Empty columns where a rack has no feed. */
    const uint32_t feeds[] = {r->power_feed, design->rack_more[rack].power_b};
    myr_design_rack_name(design, rack, buf);
    myr_buf_putc(buf, ',');
    myr_buf_put_u64(buf, unit);
    myr_buf_putc(buf, ',');
    myr_csv_put_text(buf, myr_str_from(item));
    myr_buf_putc(buf, ',');
    myr_buf_put_u64(buf, watts);
    myr_buf_putc(buf, ',');
    myr_buf_put_u64(buf, units);
    myr_buf_putc(buf, ',');
    myr_csv_put_text(buf, myr_str_from(myr_design_str(design, part)));
    for (uint32_t i = 0; i < 2; i++) {
        myr_buf_putc(buf, ',');
        if (feeds[i] != MYR_NONE) {
            myr_csv_put_text(buf,
                             myr_str_from(myr_design_str(design, design->power[feeds[i]].name)));
        }
    }
    myr_buf_putc(buf, '\n');
}

/* All devices rack by rack from the top unit down, with the feeds of their rack. */
void plan_racks_csv(const struct myr_design *design, struct myr_outfile *file)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {}, name = {};
    struct rack_rows rows = sort_devices(design);
    myr_buf_put_lit(&buf, "rack,u,item,watts,units,part,feed_a,feed_b\n");
    /* By rack in the order of filling. */
    for (uint32_t rack = 0; rack < design->rack_count; rack++) {
        for (uint32_t i = rows.first[rack]; i < rows.first[rack + 1]; i++) {
            uint32_t device = rows.order[i], type = design->device_type[device];
            const struct myr_type_load *load = &design->type_loads[type];
            myr_buf_clear(&name);
            myr_design_name(design, device, &name);
            put_row(design, &buf, rack, design->device_unit[device], name.data,
                    design->devtypes[type].part, load->watts, load->units);
        }
        /* Written as it grows: the list of a large room is long. */
        myr_outfile_drain(file, &buf);
    }
    /* Items of the bill behind all devices: they have no names of their own. */
    for (uint32_t i = 0; i < design->rack_item_count; i++) {
        const struct myr_rack_item *item = &design->rack_items[i];
        put_row(design, &buf, item->rack, item->unit, myr_design_str(design, item->part),
                item->part, item->watts, item->units);
    }
    myr_outfile_write(file, buf.data, buf.len);
    free(rows.order);
    free(rows.first);
}
