#include <math.h>
#include <stdlib.h>

#include "room/bound/bound.h"

/*
 * What stands nearest: the k places around a rack, seats for switches, and what each needs. All
 * figures are no more than the true ones: ways are straight along rows and columns, racks offer
 * what an empty one would, and searches end on the side that makes the sum smaller. So whatever is
 * built from them stays a lower bound.
 */

/* ---- the k nearest places ---- */

static const struct myr_rack_more *more_of(const struct bound *b, uint32_t rack)
{
    return &b->design->rack_more[rack];
}

/* Sum of 1..n. */
static double triangle(double n)
{
    return n * (n + 1) / 2;
}

/*
 * Racks of one column no farther than 'reach' from a point 'base' away and level with row 'at':
 * their number and the sum of their distances.
 */
static double column_within(double base, double reach, double pitch, int64_t at, int64_t rows,
                            double *ret_sum)
{
    double over = reach - base;
    if (over < 0) {
        return 0;
    }
    /* Limited before it becomes a whole number. */
    double most = over / pitch;
    int64_t steps = most > 1e9 ? 1000000000 : (int64_t)most;
    int64_t up = rows - 1 - at < steps ? rows - 1 - at : steps;
    int64_t down = at < steps ? at : steps;
    double count = (double)(up + down + 1);
    *ret_sum += count * base + (triangle((double)up) + triangle((double)down)) * pitch;
    return count;
}

/* Straight along rows and columns; from one building to another by their corners. */
double bound_way_mm(const struct bound *b, uint32_t from, uint32_t to)
{
    const struct myr_rack_more *here = more_of(b, from), *there = more_of(b, to);
    if (here->building == there->building) {
        return (double)llabs((int64_t)here->x_mm - (int64_t)there->x_mm) +
               (double)llabs((int64_t)here->y_mm - (int64_t)there->y_mm);
    }
    return 1000.0 * b->plan->spec->room.buildings[here->building].distance_m[there->building] +
           here->x_mm + here->y_mm + there->x_mm + there->y_mm;
}

/* From the column of a rack to another one of its building. */
static double aside_mm(const struct bound *b, const struct bound_hall *hall, uint32_t from,
                       uint32_t column)
{
    const struct myr_rack_more *more = more_of(b, hall->first + column * hall->rows);
    return (double)llabs((int64_t)more->x_mm - (int64_t)more_of(b, from)->x_mm);
}

/* In the building of the rack: columns lie side by side, and those out of reach are not asked. */
static double own_within(const struct bound *b, uint32_t from, double reach, double *ret_sum)
{
    const struct bound_hall *hall = &b->halls[more_of(b, from)->building];
    double count = 0, pitch = b->plan->spec->room.row_pitch_m * 1000;
    uint32_t column = (from - hall->first) / hall->rows;
    while (column > 0 && aside_mm(b, hall, from, column - 1) <= reach) {
        column--;
    }
    for (; column < hall->columns; column++) {
        double base = aside_mm(b, hall, from, column);
        if (base > reach && hall->first + column * hall->rows > from) {
            break;
        }
        count += b->places *
                 column_within(base, reach, pitch, b->design->racks[from].row, hall->rows, ret_sum);
    }
    return count;
}

/* In another building: the way comes in by its corner, at its first row. */
static double other_within(const struct bound *b, uint32_t from, const struct bound_hall *hall,
                           double reach, double *ret_sum)
{
    const struct myr_spec_room *spec = &b->plan->spec->room;
    const struct myr_rack_more *here = more_of(b, from);
    double count = 0, pitch = spec->row_pitch_m * 1000;
    for (uint32_t column = 0; column < hall->columns; column++) {
        const struct myr_rack_more *more = more_of(b, hall->first + column * hall->rows);
        double base = (double)here->x_mm + here->y_mm + more->x_mm +
                      1000.0 * spec->buildings[here->building].distance_m[more->building];
        if (base > reach) {
            break; /* the columns behind are farther */
        }
        count += b->places * column_within(base, reach, pitch, 0, hall->rows, ret_sum);
    }
    return count;
}

/*
 * Number of places within reach of a rack, and the sum of their distances. Column by column, in
 * closed form: racks of a column lie at one pitch.
 */
static double within(const struct bound *b, uint32_t from, double reach, double *ret_sum)
{
    double count = 0;
    for (uint32_t i = 0; i < b->plan->spec->room.building_count; i++) {
        count += i == more_of(b, from)->building
                     ? own_within(b, from, reach, ret_sum)
                     : other_within(b, from, &b->halls[i], reach, ret_sum);
    }
    *ret_sum *= b->places;
    /* Racks that take more than the others, place by place. */
    for (uint32_t i = 0; i < b->wider_count; i++) {
        double way = bound_way_mm(b, from, b->wider[i]);
        if (way <= reach) {
            *ret_sum += way;
            count++;
        }
    }
    return count;
}

/* No more than the sum of the ways to the k nearest places: what is within reach, less the farthest
 * ones at the full reach. */
static double nearest_in(const struct bound *b, uint32_t from, double reach_mm, uint32_t k,
                         double *ret_count)
{
    double sum = 0;
    *ret_count = within(b, from, reach_mm, &sum);
    return sum - (*ret_count - k) * reach_mm;
}

/*
 * The sum for the k nearest places. 'reach' is a first guess and what was found, since neighbours
 * differ little. 'ret_within': a distance within which there are fewer than k places; may be NULL.
 */
static double around(const struct bound *b, uint32_t from, uint32_t k, double *reach,
                     double *ret_within)
{
    double count, high = *reach;
    nearest_in(b, from, high, k, &count);
    double low = count >= k ? 0 : high;
    /* Outwards until there are enough, then inwards until there are too few, then by halving down
     * to 5 cm: any reach gives a bound, a narrow one a better one. */
    while (count < k) {
        low = high;
        high = high * 1.25 + 500;
        nearest_in(b, from, high, k, &count);
    }
    /* The guess was too far out: what is needed lies inside of it. */
    if (low == 0) {
        low = high * 0.8 - 500;
        while (low > 0) {
            nearest_in(b, from, low, k, &count);
            if (count < k) {
                break;
            }
            high = low;
            low = low * 0.8 - 500;
        }
        low = low > 0 ? low : 0;
    }
    while (high - low > 50) {
        double middle = (low + high) / 2;
        nearest_in(b, from, middle, k, &count);
        if (count >= k) {
            high = middle;
        } else {
            low = middle;
        }
    }
    double sum = nearest_in(b, from, high, k, &count);
    *reach = high;
    if (ret_within) {
        *ret_within = low;
    }
    return sum > 0 ? sum : 0;
}

/* Any position might be the best: those that a neighbour's figure rules out are not looked at. */
double bound_least_around(const struct bound *b, uint32_t k)
{
    const struct myr_design *design = b->design;
    /* The middle first: its figure rules out most of the others. */
    double reach = 1000, best = -1, last = 0;
    uint32_t last_rack = 0;
    uint32_t middle = design->rack_count / 2;
    for (uint32_t i = 0; i <= design->rack_count; i++) {
        uint32_t rack = i == 0 ? middle : i - 1;
        const struct myr_rack_more *more = more_of(b, rack), *old = more_of(b, last_rack);
        if (i > 1 && more->building == old->building) {
            double away = (double)llabs((int64_t)more->x_mm - (int64_t)old->x_mm) +
                          (double)llabs((int64_t)more->y_mm - (int64_t)old->y_mm);
            /* Each of the k ways is shorter by no more than the step between both racks. */
            if (last - k * away >= best) {
                continue;
            }
        }
        last = around(b, rack, k, &reach, NULL);
        last_rack = rack;
        best = best < 0 || last < best ? last : best;
    }
    return best;
}

/* Known ones are kept. One place is at the centre itself; what there are no places for bounds
 * nothing. */
double bound_nearest_mm(struct bound *b, uint32_t k)
{
    for (uint32_t i = 0; i < b->kinds; i++) {
        if (b->kind_k[i] == k) {
            return b->kind_mm[i];
        }
    }
    if (k < 2 || b->kinds == F_KINDS_MAX ||
        k > (uint64_t)b->places * b->design->rack_count + b->wider_count) {
        return 0;
    }
    b->kind_k[b->kinds] = k;
    b->kind_mm[b->kinds] = bound_least_around(b, k);
    return b->kind_mm[b->kinds++];
}

/* Racks of a column follow each other, the highest row first. */
double bound_rack_way_mm(const struct bound *b, double most_mm)
{
    const struct myr_design *design = b->design;
    const struct myr_spec_room *spec = &b->plan->spec->room;
    double pitch = spec->row_pitch_m * 1000, found = 0;
    if (most_mm < 0 || spec->building_count != 1 || spec->cross_count) {
        return most_mm; /* ways are not those of rows and columns alone */
    }
    for (uint32_t i = 0; i < design->rack_count; i += design->racks[i].row + 1) {
        for (uint32_t k = i; k < design->rack_count; k += design->racks[k].row + 1) {
            double aside = fabs((double)more_of(b, i)->x_mm - more_of(b, k)->x_mm);
            uint32_t rows = design->racks[i].row > design->racks[k].row ? design->racks[i].row
                                                                        : design->racks[k].row;
            double steps = floor((most_mm - aside) / pitch);
            double way = aside + (steps < rows ? steps : rows) * pitch + 1; /* as rounded */
            found = aside <= most_mm && way > found ? way : found;
        }
    }
    return found < most_mm ? found : most_mm;
}

double bound_most_within(const struct bound *b, double reach_mm)
{
    double most = 0, sum = 0;
    for (uint32_t rack = 0; rack < b->design->rack_count; rack++) {
        double here = within(b, rack, reach_mm, &sum);
        most = here > most ? here : most;
    }
    return most;
}

/* ---- seats ---- */

/* Seats of one rack at one cost. */
struct seat {
    double mm;
    uint32_t count;
};

static int by_cost(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    return x->mm < y->mm ? -1 : x->mm > y->mm;
}

static int by_weight(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* What an empty rack carries. */
struct load bound_rack_load(const struct bound *b, uint32_t rack)
{
    return (struct load){b->design->racks[rack].watts_max, b->design->racks[rack].units,
                         (int64_t)more_of(b, rack)->kg_max * 1000};
}

/* Switches that a rack takes when 'kept' of its servers stay. */
static uint32_t seats_beside(const struct bound *b, uint32_t rack, uint32_t kept,
                             const struct load *need)
{
    struct load left = bound_rack_load(b, rack);
    left.watts -= b->one.watts * kept;
    left.units -= b->one.units * kept;
    left.grams -= b->one.grams * kept;
    return left.watts < 0 || left.units < 0 || left.grams < 0 ? 0 : room_fits(&left, need);
}

/*
 * The least that 'count' switches cost which k servers each have chains to, the heaviest weights in
 * the cheapest seats. 'need' is what a switch needs at the least.
 */
double bound_seats_mm(struct bound *b, uint32_t k, double *weights, uint32_t count,
                      const struct load *need)
{
    const struct myr_design *design = b->design;
    struct seat *seats =
        MYR_ARENA_NEW(b->plan->arena, struct seat, (size_t)design->rack_count * (b->places + 1));
    uint32_t seat_count = 0;
    double reach = 1000, within;
    for (uint32_t rack = 0; rack < design->rack_count; rack++) {
        double here = around(b, rack, k, &reach, &within);
        uint32_t taken = 0;
        /* First the seats beside all servers, then those for which one, two and more stand
         * elsewhere. */
        for (uint32_t lost = 0; lost <= b->places && taken < count; lost++) {
            uint32_t all = seats_beside(b, rack, b->places - lost, need);
            if (all > taken) {
                /* A server that is put out stands behind the k nearest places. */
                seats[seat_count++] = (struct seat){here + lost * within, all - taken};
                taken = all;
            }
        }
    }
    /* The heaviest in the cheapest seats: no other order costs less. */
    qsort(seats, seat_count, sizeof(*seats), by_cost);
    qsort(weights, count, sizeof(*weights), by_weight);
    double sum = 0;
    uint32_t at = 0, used = 0;
    for (uint32_t i = 0; i < count && at < seat_count; i++) {
        sum += weights[i] * seats[at].mm;
        if (++used == seats[at].count) {
            at++;
            used = 0;
        }
    }
    return sum;
}

/* ---- links and loads ---- */

/* So much of a cable is the link: its legs share it, and a layer may count several times. */
double bound_link_weight(const struct bound *b, uint32_t link)
{
    const struct myr_design *design = b->design;
    uint32_t cable = design->link_cable[link];
    const struct myr_cabletype *type = &b->plan->cabletypes.items[design->cable_type[cable]];
    return b->times[type->layer] / (design->first_link[cable + 1] - design->first_link[cable]);
}

/* Whether a link is of the network in hand, and of which layer. */
bool bound_of_net(const struct bound *b, uint32_t link, uint32_t *ret_layer)
{
    const struct myr_cabletype *type =
        &b->plan->cabletypes.items[b->design->cable_type[b->design->link_cable[link]]];
    *ret_layer = type->layer;
    return &b->plan->nets[type->net].out == b->net;
}

bool bound_has_layer(const struct bound *b, uint32_t layer)
{
    for (uint32_t i = 0; i < b->design->cable_count; i++) {
        uint32_t of;
        if (bound_of_net(b, b->design->first_link[i], &of) && of == layer) {
            return true;
        }
    }
    return false;
}

struct load bound_least_load(struct load a, struct load b)
{
    return (struct load){a.watts < b.watts ? a.watts : b.watts,
                         a.units < b.units ? a.units : b.units,
                         a.grams < b.grams ? a.grams : b.grams};
}

/* As the placement reckons it (grid.c), so that both mean the same. */
struct load bound_part_load(const struct plan *plan, uint32_t part)
{
    if (part == MYR_PART_NONE) {
        /* Nothing is known of it but that it takes a unit. */
        return (struct load){0, 1, 0};
    }
    const struct myr_part *what = part_at(plan, part);
    return (struct load){(int64_t)(what->watts + 0.5), (int64_t)(what->rack_units + 0.999),
                         (int64_t)(what->weight_kg * 1000 + 0.5)};
}

struct load bound_device_load(const struct bound *b, uint32_t device)
{
    const struct plan *plan = b->plan;
    const struct myr_devtype *type = &plan->devtypes.items[b->design->device_type[device]];
    return bound_part_load(
        plan, myr_catalog_find(plan->catalog, myr_str_from(plan->strings.data + type->part)));
}
