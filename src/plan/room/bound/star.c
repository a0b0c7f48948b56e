#include "room/bound/star.h"

#include <stdlib.h>

/*
 * One star: what its racks gain at given prices, and where its centres may stand. The search asks
 * for the value around the middle of the room, with racks of one distance taken together, as it
 * asks often; the bound itself is computed once in the end, with centres in the cheapest seats of
 * all racks. star.h says why the sum is a bound.
 */

/* ---- what a rack is worth ---- */

struct worth { /* of one star at given variables */
    double weight[STAR_KINDS], price[STAR_KINDS];
};

/* What a rack takes at a distance: the best kind of servers and of switches, and how many. */
struct taken {
    double gain; /* not positive: what the rack adds to the sum */
    uint32_t server, seat;
    double servers, seats;
};

/* Weights and prices at the point x. A weight below zero, outside of the limits, counts as none. */
static void weigh(const struct star *star, const double *x, struct worth *ret)
{
    for (uint32_t k = 0; k < star->kind_count; k++) {
        const struct star_kind *kind = &star->kinds[k];
        ret->weight[k] = kind->fixed;
        for (uint32_t i = 0; i < kind->terms; i++) {
            ret->weight[k] += kind->by[i] * x[kind->var[i]];
        }
        ret->weight[k] = ret->weight[k] > 0 ? ret->weight[k] : 0;
        ret->price[k] = kind->price_scale * x[kind->price_var];
    }
}

/*
 * 'centres' of the seats are taken by centres, so the rack has that many seats at the least and
 * these are gone. False where it cannot have them, with however few of 'servers_most' servers.
 */
static bool take(const struct sky *sky, const struct star *star, const struct worth *worth,
                 double mm, double centres, uint32_t servers_most, struct taken *ret)
{
    /* Of each sort the one kind that is worth most: places of a sort are alike. */
    double server = 0, seat = 0;
    *ret = (struct taken){.server = MYR_NONE, .seat = MYR_NONE};
    for (uint32_t k = 0; k < star->kind_count; k++) {
        /* What a thing adds there: its way less its price. Only what is below zero is worth taking.
         */
        double here = worth->weight[k] * mm - worth->price[k];
        if (star->kinds[k].server && here < server) {
            server = here;
            ret->server = k;
        } else if (!star->kinds[k].server && here < seat) {
            seat = here;
            ret->seat = k;
        }
    }
    bool found = false;
    /* For each number of servers the switches that fit beside them; the best mixture counts. */
    for (uint32_t a = 0; a <= servers_most; a++) {
        double seats = sky->rack.seats[a] - centres;
        if (seats < 0) {
            continue;
        }
        double gain = a * server + seats * seat;
        if (!found || gain < ret->gain) {
            ret->gain = gain;
            ret->servers = ret->server == MYR_NONE ? 0 : a;
            ret->seats = ret->seat == MYR_NONE ? 0 : seats;
            found = true;
        }
    }
    return found;
}

/* ---- all stars around the middle ---- */

/* By the variables of a weight the ways that were taken; by a price what is over or missing. */
static void add_gradient(const struct star *star, const double *moment, const double *over,
                         double *gradient)
{
    for (uint32_t k = 0; k < star->kind_count; k++) {
        const struct star_kind *kind = &star->kinds[k];
        for (uint32_t i = 0; i < kind->terms; i++) {
            gradient[kind->var[i]] += star->centres * moment[k] * kind->by[i];
        }
        gradient[kind->price_var] += star->centres * over[k] * kind->price_scale;
    }
}

/* With the centre in the middle of the room: enough to search by. The bound looks at all places. */
static double star_value(const struct sky *sky, const struct star *star, const double *x,
                         double *gradient)
{
    struct worth worth;
    double moment[STAR_KINDS] = {}, over[STAR_KINDS], sum = 0;
    weigh(star, x, &worth);
    for (uint32_t k = 0; k < star->kind_count; k++) {
        over[k] = star->kinds[k].count;
        sum += worth.price[k] * star->kinds[k].count;
    }
    for (uint32_t i = 0; i < sky->ring_count; i++) {
        const struct ring *ring = &sky->rings[i];
        struct taken taken;
        /* One seat of the first rack is the centre's own. */
        if (!take(sky, star, &worth, ring->mm, i == 0, sky->rack.servers, &taken)) {
            continue; /* no rack takes a switch: there is no star then */
        }
        sum += ring->racks * taken.gain;
        if (taken.server != MYR_NONE) {
            moment[taken.server] += ring->racks * taken.servers * ring->mm;
            over[taken.server] -= ring->racks * taken.servers;
        }
        if (taken.seat != MYR_NONE) {
            moment[taken.seat] += ring->racks * taken.seats * ring->mm;
            over[taken.seat] -= ring->racks * taken.seats;
        }
    }
    add_gradient(star, moment, over, gradient);
    return sum * star->centres;
}

double star_sum(const struct sky *sky, const double *x, double *ret_gradient)
{
    double sum = 0;
    memset(ret_gradient, 0, sizeof(*ret_gradient) * sky->var_count);
    for (uint32_t i = 0; i < sky->star_count; i++) {
        sum += star_value(sky, &sky->stars[i], x, ret_gradient);
    }
    return sum;
}

/* ---- centres anywhere ---- */

struct offer { /* seats for centres */
    double mm, count;
};

static int by_cost(const void *a, const void *b)
{
    const struct offer *x = a, *y = b;
    return x->mm < y->mm ? -1 : x->mm > y->mm;
}

/* Gains of the racks of a column, by how far it is from the centre's and by the centre's row. */
struct columns_gain {
    double *others; /* by distance and row: all racks of a column so far away */
    double *own;    /* by row: the other racks of the centre's own column */
};

/* Of a rack without any centre in it. */
static double gain_at(const struct sky *sky, const struct star *star, const struct worth *worth,
                      double mm)
{
    struct taken taken;
    take(sky, star, worth, mm, 0, sky->rack.servers, &taken);
    return taken.gain;
}

/*
 * Columns at the same distance gain the same, and there are few distances. So a star's value with
 * its centre in any rack is a sum over columns.
 */
static struct columns_gain sum_columns(const struct sky *sky, const struct star *star,
                                       const struct worth *worth)
{
    struct myr_arena *arena = sky->b->plan->arena;
    uint32_t rows = sky->rows;
    size_t lines = (size_t)sky->apart_count * rows;
    struct columns_gain ret = {MYR_ARENA_NEW(arena, double, lines),
                               MYR_ARENA_NEW(arena, double, rows)};
    double *apart = MYR_ARENA_NEW(arena, double, rows);
    /* By distance along the column, then summed up for each row of the centre. */
    for (uint32_t i = 0; i < rows; i++) {
        apart[i] = gain_at(sky, star, worth, i * sky->pitch_mm);
    }
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t other = 0; other < rows; other++) {
            ret.own[row] += other != row ? apart[other < row ? row - other : other - row] : 0;
        }
    }
    for (uint32_t i = 0; i < sky->apart_count; i++) {
        for (uint32_t row = 0; row < rows; row++) {
            const double *way = sky->rows_mm + (size_t)row * rows;
            for (uint32_t other = 0; other < rows; other++) {
                ret.others[(size_t)i * rows + row] +=
                    gain_at(sky, star, worth, sky->apart_mm[i] + way[other]);
            }
        }
    }
    return ret;
}

/* What a star is worth when its centre stands in a rack, without that rack itself. */
static double around(const struct sky *sky, const struct columns_gain *gain, uint32_t column,
                     uint32_t row)
{
    double sum = gain->own[row];
    for (uint32_t d = 0; d < sky->columns; d++) {
        uint32_t apart = sky->apart_of[(size_t)column * sky->columns + d];
        sum += d != column ? gain->others[(size_t)apart * sky->rows + row] : 0;
    }
    return sum;
}

/*
 * Seats of one rack for n centres cost n x (around + own): 'own' is what the rack itself gains with
 * so few servers left that n seats are there. Of all n the lower hull is taken, from which seats
 * can be had one by one.
 */
static uint32_t offer_seats(double value, const double *own, const double *seats, uint32_t count,
                            struct offer *ret)
{
    struct {
        double n, mm;
    } hull[STAR_TAKES + 1] = {{0, 0}};
    uint32_t top = 0;
    for (uint32_t i = 0; i < count; i++) {
        double n = seats[i], mm = n * (value + own[i]);
        if (n <= hull[top].n) {
            continue;
        }
        /* A point above the line between its neighbours is no cheapest way to so many seats. */
        while (top > 0 && (hull[top].mm - hull[top - 1].mm) * (n - hull[top].n) >=
                              (mm - hull[top].mm) * (hull[top].n - hull[top - 1].n)) {
            top--;
        }
        top++;
        hull[top].n = n;
        hull[top].mm = mm;
    }
    for (uint32_t i = 0; i < top; i++) {
        double more = hull[i + 1].n - hull[i].n;
        ret[i] = (struct offer){(hull[i + 1].mm - hull[i].mm) / more, more};
    }
    return top;
}

/* The cheapest seats of the room for all centres of the star. */
static double star_least(const struct sky *sky, const struct star *star, const double *x)
{
    struct myr_arena *arena = sky->b->plan->arena;
    struct worth worth;
    weigh(star, x, &worth);
    double prices = 0, own[STAR_TAKES], seats[STAR_TAKES];
    for (uint32_t k = 0; k < star->kind_count; k++) {
        prices += worth.price[k] * star->kinds[k].count;
    }
    uint32_t steps = 0; /* from the most servers in the centre's rack to none */
    for (uint32_t a = sky->rack.servers + 1; a-- > 0;) {
        struct taken taken;
        if (sky->rack.seats[a] >= 1 && take(sky, star, &worth, 0, 1, a, &taken)) {
            own[steps] = taken.gain;
            seats[steps++] = sky->rack.seats[a];
        }
    }
    /* The same for all racks of the room but for the centre's own. */
    struct columns_gain gain = sum_columns(sky, star, &worth);
    uint32_t racks = sky->rows * sky->columns, count = 0;
    struct offer *offers = MYR_ARENA_NEW(arena, struct offer, (size_t)racks * (steps + 1));
    for (uint32_t column = 0; column < sky->columns; column++) {
        for (uint32_t row = 0; row < sky->rows; row++) {
            double value = prices + around(sky, &gain, column, row);
            count += offer_seats(value, own, seats, steps, offers + count);
        }
    }
    qsort(offers, count, sizeof(*offers), by_cost);
    double sum = 0, left = star->centres;
    for (uint32_t i = 0; i < count && left > 0; i++) {
        double here = offers[i].count < left ? offers[i].count : left;
        sum += here * offers[i].mm;
        left -= here;
    }
    return sum;
}

/* Stars share no part of a cable: their least sums are added. */
double star_least_mm(const struct sky *sky, const double *x)
{
    double sum = 0;
    for (uint32_t i = 0; i < sky->star_count; i++) {
        double one = star_least(sky, &sky->stars[i], x);
        sum += one > 0 ? one : 0; /* no way is negative */
    }
    return sum;
}

/* ---- the room ---- */

static int by_mm(const void *a, const void *b)
{
    const struct ring *x = a, *y = b;
    return x->mm < y->mm ? -1 : x->mm > y->mm;
}

/* Rings around the middle of the room: that row from which the others are nearest. */
static void find_rings(struct sky *sky)
{
    uint32_t racks = sky->rows * sky->columns, middle = sky->columns / 2, put = 0, level = 0;
    double least = -1;
    sky->rings = MYR_ARENA_NEW(sky->b->plan->arena, struct ring, racks);
    for (uint32_t i = 0; i < sky->rows; i++) {
        uint32_t row = (sky->rows / 2 + i) % sky->rows; /* of several the middle one */
        double sum = 0;
        for (uint32_t other = 0; other < sky->rows; other++) {
            sum += sky->rows_mm[(size_t)row * sky->rows + other];
        }
        if (least < 0 || sum < least) {
            least = sum;
            level = row;
        }
    }
    /* The middle column by pitch, others by the trays that cross. */
    for (uint32_t column = 0; column < sky->columns; column++) {
        for (uint32_t row = 0; row < sky->rows; row++) {
            double x = sky->column_mm[column] - sky->column_mm[middle];
            double y = column != middle ? sky->rows_mm[(size_t)level * sky->rows + row]
                                        : (row < level ? level - row : row - level) * sky->pitch_mm;
            sky->rings[column * sky->rows + row] = (struct ring){(x < 0 ? -x : x) + y, 1};
        }
    }
    qsort(sky->rings, racks, sizeof(*sky->rings), by_mm);
    for (uint32_t i = 0; i < racks; i++) {
        /* The first ring is the centre's rack alone, even if others were as near. */
        if (put > 1 && sky->rings[i].mm - sky->rings[put - 1].mm < 0.5) {
            sky->rings[put - 1].racks++;
        } else {
            sky->rings[put++] = sky->rings[i];
        }
    }
    sky->ring_count = put;
}

/* Trays that cross at few rows only make the way longer between different columns. */
static void find_ways(struct sky *sky)
{
    const struct myr_spec_room *spec = &sky->b->plan->spec->room;
    struct myr_arena *arena = sky->b->plan->arena;
    uint32_t rows = sky->rows, columns = sky->columns;
    size_t pairs = (size_t)columns * columns, levels = (size_t)rows * rows;
    double *rows_mm = MYR_ARENA_NEW(arena, double, levels);
    double *apart_mm = MYR_ARENA_NEW(arena, double, pairs);
    uint32_t *apart_of = MYR_ARENA_NEW(arena, uint32_t, pairs);
    /* By distance, which is whole millimetres: one more than its number, 0 where it is new. */
    uint32_t *known = MYR_ARENA_NEW(arena, uint32_t, (size_t)sky->column_mm[columns - 1] + 1);
    for (size_t i = 0; i < levels; i++) {
        int64_t from = (int64_t)(i / rows), to = (int64_t)(i % rows);
        int64_t least = spec->cross_count ? INT64_MAX : llabs(from - to);
        for (uint32_t k = 0; k < spec->cross_count; k++) {
            int64_t cross = (int64_t)spec->cross_rows[k] - 1;
            int64_t way = llabs(from - cross) + llabs(to - cross);
            least = way < least ? way : least;
        }
        rows_mm[i] = (double)least * sky->pitch_mm;
    }
    /* Few distances between columns differ. */
    for (size_t i = 0; i < pairs; i++) {
        double mm = sky->column_mm[i / columns] - sky->column_mm[i % columns];
        mm = mm < 0 ? -mm : mm;
        uint32_t *at = &known[(size_t)mm];
        if (*at == 0) {
            apart_mm[sky->apart_count] = mm;
            *at = ++sky->apart_count;
        }
        apart_of[i] = *at - 1;
    }
    sky->rows_mm = rows_mm;
    sky->apart_mm = apart_mm;
    sky->apart_of = apart_of;
}

/* The most that any rack takes, of everything. */
static struct load most_of_racks(const struct bound *b)
{
    struct load most = {};
    for (uint32_t i = 0; i < b->design->rack_count; i++) {
        struct load one = bound_rack_load(b, i);
        most.watts = one.watts > most.watts ? one.watts : most.watts;
        most.units = one.units > most.units ? one.units : most.units;
        most.grams = one.grams > most.grams ? one.grams : most.grams;
    }
    return most;
}

/* Every rack counts as the most roomy one: that makes the bound smaller, never wrong. */
bool star_room(struct sky *sky, const struct load *need)
{
    const struct bound *b = sky->b;
    const struct myr_design *design = b->design;
    uint32_t rows = 0, columns = 0;
    for (uint32_t i = 0; i < design->rack_count; i++) {
        rows = design->racks[i].row >= rows ? design->racks[i].row + 1 : rows;
        columns = design->racks[i].column >= columns ? design->racks[i].column + 1 : columns;
    }
    /* One full rectangle of racks: only there columns are alike. */
    if (b->plan->spec->room.building_count != 1 || rows == 0 ||
        (uint64_t)rows * columns != design->rack_count) {
        return false;
    }
    double *column_mm = MYR_ARENA_NEW(b->plan->arena, double, columns);
    for (uint32_t i = 0; i < design->rack_count; i++) {
        column_mm[design->racks[i].column] = design->rack_more[i].x_mm;
    }
    sky->rows = rows;
    sky->columns = columns;
    sky->column_mm = column_mm;
    /* Positions are whole millimetres: never more than what lies between two of them. */
    sky->pitch_mm = (double)(int64_t)(b->plan->spec->room.row_pitch_m * 1000);
    struct load rack = most_of_racks(b);
    uint32_t places = room_fits(&rack, &b->one);
    if (places == 0 || places >= STAR_TAKES) {
        return false;
    }
    sky->rack.servers = places;
    for (uint32_t a = 0; a <= places; a++) {
        struct load left = {rack.watts - b->one.watts * a, rack.units - b->one.units * a,
                            rack.grams - b->one.grams * a};
        sky->rack.seats[a] = room_fits(&left, need);
    }
    find_ways(sky);
    find_rings(sky);
    return sky->rack.seats[0] >= 1;
}
