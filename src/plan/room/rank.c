#include <stdlib.h>

#include "room/fill.h"

/*
 * What a rack is worth to the switches of a block. Lower is better; racks that are worth the same
 * come in the order of filling, so that the result does not depend on how they are sorted.
 */

int fill_compare(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    return x->cost != y->cost  ? (x->cost < y->cost ? -1 : 1)
           : x->rack < y->rack ? -1
                               : x->rack > y->rack;
}

/* Where the spec names no rows for leaves: the middle of the hall. From 1. */
uint32_t fill_first_row(const struct room *room, const struct hall *hall)
{
    uint32_t first = room->spec->leaf_rows.first;
    if (!first || first > hall->rows) {
        return hall->rows / 2 + 1;
    }
    return first;
}

/* Rank of the row among those for leaves; the others come after, the nearest first. */
static double zone_rank(const struct room *room, const struct hall *hall, uint32_t row)
{
    uint32_t first = fill_first_row(room, hall);
    if (!room->spec->leaf_rows.first) {
        return row > first ? row - first : first - row;
    }
    /* Rows may be given in either direction: from the first one on they are filled. */
    uint32_t last = room->spec->leaf_rows.last; /* may lie beyond a smaller hall */
    uint32_t low = first < last ? first : last, high = first < last ? last : first;
    if (row >= low && row <= high) {
        return first > last ? first - row : row - first;
    }
    uint32_t away = row < low ? low - row : row > high ? row - high : 0;
    return 1e6 + away * 1e3; /* behind every column of the zone's own rows */
}

/* Sum of the distances from each position to all others, each 'weight' times there. */
static void distance_sums(const int64_t *at, const double *weight, uint32_t count, double *ret)
{
    /* One pass: what lies before and behind each position is carried along. */
    double before = 0, sum = 0, total = 0, ahead = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += weight[i];
        ahead += weight[i] * (double)(at[i] - at[0]);
    }
    for (uint32_t i = 0; i < count; i++) {
        double x = (double)(at[i] - at[0]);
        ret[i] = x * before - sum + (ahead - sum) - x * (total - before);
        before += weight[i];
        sum += weight[i] * x;
    }
}

/* Cost of a leaf in each rack: ways to the servers of the block, and of its uplinks to the centre.
 */
static void rank_shortest(struct filling *fill, const struct block *block, uint32_t first,
                          uint32_t count)
{
    struct room *room = fill->room;
    const struct hall *hall = &room->halls[room->racks[fill->racks[first]].hall];
    const struct myr_network *net = &room->plan->nets[MYR_NET_COMPUTE].out;
    uint32_t columns = hall->columns, rows = hall->rows;
    /* Ways along trays are sums of both directions, so that columns and rows are summed up apart.
     */
    double *weight_x = fill->sums, *cost_x = weight_x + columns;
    double *weight_y = cost_x + columns, *cost_y = weight_y + rows;
    int64_t *x = fill->at_mm, *y = x + columns;
    memset(fill->sums, 0, sizeof(double) * 2 * (columns + rows));
    for (uint32_t i = 0; i < columns; i++) {
        x[i] = room->racks[hall->first_rack + i * rows].x_mm;
    }
    for (uint32_t i = 0; i < rows; i++) {
        y[i] = room->racks[hall->first_rack + rows - 1 - i].y_mm;
    }
    /* So many racks of the block stand in each column and row. */
    for (uint32_t i = 0; i < count; i++) {
        const struct stand *rack = &room->racks[fill->racks[first + i]];
        weight_x[rack->column] += 1;
        weight_y[rack->row] += 1;
    }
    distance_sums(x, weight_x, columns, cost_x);
    distance_sums(y, weight_y, rows, cost_y);
    /* The servers are taken to be spread evenly over the racks. */
    double each = (double)block->servers / count * room->plan->nets[MYR_NET_COMPUTE].ports_per_rail;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = fill->racks[first + i];
        const struct stand *rack = &room->racks[id];
        double path = (double)room_path_mm(room, id, hall->centre);
        fill->order[i] = (struct choice){
            each * (cost_x[rack->column] + cost_y[rack->row]) + net->leaf_up * path, id};
    }
}

/* In the leaf rows, from the middle column of the block outwards. */
static void rank_aligned(struct filling *fill, uint32_t first, uint32_t count)
{
    struct room *room = fill->room;
    const struct hall *hall = &room->halls[room->racks[fill->racks[first]].hall];
    uint32_t middle = room->racks[fill->racks[first + (count - 1) / 2]].column;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = fill->racks[first + i];
        const struct stand *rack = &room->racks[id];
        double away = rack->column > middle ? rack->column - middle : middle - rack->column;
        double row = zone_rank(room, hall, rack->row + 1);
        /* In the leaf rows the column decides first, elsewhere the row does. */
        fill->order[i] = (struct choice){row + away * (row < 1e6 ? 1e4 : 1), id};
    }
}

/* Racks from where the block begins, best first, into 'order'. */
void fill_rank(struct filling *fill, const struct block *block, uint32_t count)
{
    if (fill->room->spec->place == MYR_ROOM_SHORTEST) {
        rank_shortest(fill, block, fill->at, count);
    } else {
        rank_aligned(fill, fill->at, count);
    }
    qsort(fill->order, count, sizeof(*fill->order), fill_compare);
}

/* From the middle of the racks outwards; the middle one itself comes last. */
void fill_rank_middle(struct filling *fill, uint32_t count)
{
    uint32_t middle = (count - 1) / 2;
    for (uint32_t i = 0; i < count; i++) {
        double away = i > middle ? i - middle : i < middle ? middle - i : count;
        fill->order[i] = (struct choice){away, fill->racks[fill->at + i]};
    }
    qsort(fill->order, count, sizeof(*fill->order), fill_compare);
}
