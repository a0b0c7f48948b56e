#include "pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The bound that prices prove. With prices of ends and of lines (these not below 0) each such
 * condition of pairs.h times its price is added to the ways: that changes nothing, or takes
 * something off. What is left of a pair in r and q is a way that may be below 0. It is divided
 * between its two ends, in any manner. A thing in r then pays for its partners by itself: no less
 * than if every rack q were filled with those that gain most, whatever they are; and what a rack
 * can be filled with has corners that are known. That makes a price of each thing in each rack.
 * Of these the least is found in the same manner: with a price for each class, every rack is filled
 * with what gains most.
 */

enum { CORNERS_MOST = 256 };

struct corners {
    uint32_t count;
    double many[CORNERS_MOST][KINDS_MOST];
};

struct look {
    const struct room *room;
    const struct graph *graph;
    const struct prices *prices;
    struct corners whole, beside[KINDS_MOST]; /* beside one thing of a kind */
    double *gain;                             /* by class, kind, rack and rack */
    double *cost;                             /* by class and rack */
};

size_t line_index(const struct room *room, const struct graph *graph, uint32_t family,
                  uint32_t turned, uint32_t line)
{
    size_t first = family ? 2 * (size_t)room->places[0] : 0;
    return (first + (size_t)turned * room->places[family] + line) * graph->triples;
}

/* ---- what a rack can be filled with ---- */

/* Solves rows of 'size' unknowns; false where there is not one solution. */
static bool solve(uint32_t size, double (*rows)[KINDS_MOST + 1], double *ret)
{
    for (uint32_t i = 0; i < size; i++) {
        uint32_t best = i;
        for (uint32_t k = i + 1; k < size; k++) {
            best = fabs(rows[k][i]) > fabs(rows[best][i]) ? k : best;
        }
        if (fabs(rows[best][i]) < 1e-9) {
            return false;
        }
        for (uint32_t j = 0; j <= size; j++) {
            double held = rows[i][j];
            rows[i][j] = rows[best][j];
            rows[best][j] = held;
        }
        for (uint32_t k = 0; k < size; k++) {
            double by = k == i ? 0 : rows[k][i] / rows[i][i];
            for (uint32_t j = i; by != 0 && j <= size; j++) {
                rows[k][j] -= by * rows[i][j];
            }
        }
    }
    for (uint32_t i = 0; i < size; i++) {
        ret[i] = rows[i][size] / rows[i][i];
    }
    return true;
}

static void add_corner(const struct room *room, const double *most, const double *at,
                       struct corners *ret)
{
    for (uint32_t f = 0; f < room->facets; f++) {
        double sum = 0;
        for (uint32_t k = 0; k < room->kinds; k++) {
            sum += room->need[f][k] * at[k];
        }
        if (sum > most[f] + 1e-9) {
            return;
        }
    }
    for (uint32_t k = 0; k < room->kinds; k++) {
        if (at[k] < -1e-9) {
            return;
        }
    }
    for (uint32_t i = 0; i < ret->count; i++) {
        double far = 0;
        for (uint32_t k = 0; k < room->kinds; k++) {
            far += fabs(ret->many[i][k] - at[k]);
        }
        if (far < 1e-9) {
            return;
        }
    }
    if (ret->count == CORNERS_MOST) {
        abort(); /* fewer would be no bound */
    }
    memcpy(ret->many[ret->count++], at, room->kinds * sizeof(*at));
}

/* All choices of as many facets, or of kinds that are not there, as there are kinds. */
static void find_corners(const struct room *room, const double *most, uint32_t from,
                         uint32_t chosen, uint32_t *choice, struct corners *ret)
{
    if (chosen == room->kinds) {
        double rows[KINDS_MOST][KINDS_MOST + 1] = {}, at[KINDS_MOST] = {};
        for (uint32_t i = 0; i < chosen; i++) {
            if (choice[i] < room->facets) {
                memcpy(rows[i], room->need[choice[i]], room->kinds * sizeof(double));
                rows[i][room->kinds] = most[choice[i]];
            } else {
                rows[i][choice[i] - room->facets] = 1;
            }
        }
        if (solve(chosen, rows, at)) {
            add_corner(room, most, at, ret);
        }
        return;
    }
    for (uint32_t i = from; i < room->facets + room->kinds; i++) {
        choice[chosen] = i;
        find_corners(room, most, i + 1, chosen + 1, choice, ret);
    }
}

static void make_corners(struct look *look)
{
    const struct room *room = look->room;
    uint32_t choice[KINDS_MOST];
    look->whole.count = 0;
    find_corners(room, room->most, 0, 0, choice, &look->whole);
    for (uint32_t k = 0; k < room->kinds; k++) {
        double most[FACETS_MOST];
        for (uint32_t f = 0; f < room->facets; f++) {
            most[f] = room->most[f] - room->need[f][k];
        }
        look->beside[k].count = 0;
        find_corners(room, most, 0, 0, choice, &look->beside[k]);
    }
}

/* The most that a rack can gain; 'gain' by kind. */
static double most_of(const struct room *room, const struct corners *corners, const double *gain,
                      uint32_t *ret_corner)
{
    double best = 0;
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; i < corners->count; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < room->kinds; k++) {
            sum += gain[k] > 0 ? gain[k] * corners->many[i][k] : 0;
        }
        if (sum > best) {
            best = sum;
            at = i;
        }
    }
    if (ret_corner) {
        *ret_corner = at;
    }
    return best;
}

/* ---- pairs ---- */

/* Adds the prices of lines to the ways of an orbit. */
static void add_lines(const struct look *look, uint32_t orbit, double *way)
{
    const struct room *room = look->room;
    const struct graph *graph = look->graph;
    for (uint32_t family = 0; family < FAMILIES; family++) {
        uint32_t places = room->places[family];
        double *along[2] = {must(places, sizeof(double)), must(places, sizeof(double))};
        for (uint32_t line = 1; line < places; line++) {
            for (uint32_t turned = 0; turned < 2; turned++) {
                const double *price =
                    look->prices->line + line_index(room, graph, family, turned, line);
                for (uint32_t t = 0; t < graph->triples; t++) {
                    const struct end ends[3] = {graph->triple[t].whole, graph->triple[t].first,
                                                graph->triple[t].second};
                    for (int i = 0; i < 3; i++) {
                        if (ends[i].orbit == orbit) {
                            along[turned ^ ends[i].turned][line] +=
                                (i ? -price[t] : price[t]) / graph->orbit[orbit].pairs;
                        }
                    }
                }
            }
        }
        for (uint32_t line = 1; line < places; line++) {
            along[0][line] += along[0][line - 1];
            along[1][line] += along[1][line - 1];
        }
        const uint32_t *at = room->at[family];
        for (size_t r = 0; r < room->racks; r++) {
            for (size_t q = 0; q < room->racks; q++) {
                way[r * room->racks + q] += at[q] > at[r] ? along[0][at[q]] - along[0][at[r]]
                                                          : along[1][at[r]] - along[1][at[q]];
            }
        }
        free(along[0]);
        free(along[1]);
    }
}

/* What the seats in q are worth to a partner of a thing of 'class' in r, by the prices. */
static double seats(const struct look *look, uint32_t class, uint32_t other, size_t r, size_t q)
{
    const struct room *room = look->room;
    const double *seat =
        look->prices->seat + (size_t) class * room->facets * room->racks * room->racks;
    double sum = 0;
    for (uint32_t f = 0; f < room->facets; f++) {
        sum += room->need[f][look->graph->class[other].kind] *
               seat[((size_t)f * room->racks + r) * room->racks + q];
    }
    return sum;
}

static void gains(struct look *look, uint32_t class, uint32_t other, size_t r, size_t q,
                  double gain)
{
    size_t racks = look->room->racks, kind = look->graph->class[other].kind;
    double *at = look->gain + ((class * look->room->kinds + kind) * racks + r) * racks + q;
    *at = gain > *at ? gain : *at;
}

/* Divides what is left of the pairs of an orbit between their ends. */
static void divide(struct look *look, uint32_t number)
{
    const struct orbit *orbit = &look->graph->orbit[number];
    size_t racks = look->room->racks;
    const double *end = look->prices->end + number * racks;
    const double *too = orbit->even ? end : look->prices->end_too + number * racks;
    double *way = must(racks * racks, sizeof(*way));
    add_lines(look, number, way);
    for (size_t r = 0; r < racks; r++) {
        for (size_t q = 0; q < racks; q++) {
            double left = orbit->weight * look->room->way[r * racks + q];
            if (orbit->even) { /* a pair and the same pair turned round, half of each */
                left += (way[r * racks + q] + way[q * racks + r] + end[r] + end[q]) / 2;
                double one = seats(look, orbit->one, orbit->one, r, q);
                double two = seats(look, orbit->one, orbit->one, q, r);
                gains(look, orbit->one, orbit->one, r, q, (one - two) / 2 - left);
            } else {
                left += way[r * racks + q] + end[r] + too[q];
                double one = seats(look, orbit->one, orbit->other, r, q);
                double two = seats(look, orbit->other, orbit->one, q, r);
                left += one + two;
                gains(look, orbit->one, orbit->other, r, q, one - left / 2);
                gains(look, orbit->other, orbit->one, q, r, two - left / 2);
            }
        }
    }
    free(way);
}

/* What a thing of a class costs in a rack. */
static double cost_of(const struct look *look, uint32_t class, size_t r)
{
    const struct graph *graph = look->graph;
    const struct room *room = look->room;
    size_t racks = room->racks;
    double sum = 0, gain[KINDS_MOST];
    for (uint32_t o = 0; o < graph->orbits; o++) {
        const struct orbit *orbit = &graph->orbit[o];
        if (orbit->one == class) {
            sum -= orbit->partners * look->prices->end[o * racks + r];
        }
        if (orbit->other == class && !orbit->even) {
            sum -= orbit->partners_too * look->prices->end_too[o * racks + r];
        }
    }
    for (size_t q = 0; q < racks; q++) {
        for (uint32_t k = 0; k < room->kinds; k++) {
            gain[k] = look->gain[((class * room->kinds + k) * racks + r) * racks + q];
        }
        bool own = r == q && room->many[q] == 1;
        sum -= most_of(room, own ? &look->beside[graph->class[class].kind] : &look->whole, gain,
                       NULL) *
               room->many[q];
    }
    return sum;
}

/* ---- things ---- */

/* The bound for a price of each class; how many things of each are over or missing. */
static double with_prices(const struct look *look, const double *price, double *ret_over)
{
    const struct room *room = look->room;
    const struct graph *graph = look->graph;
    double sum = 0;
    for (uint32_t c = 0; c < graph->classes; c++) {
        sum += graph->class[c].count * price[c];
        ret_over[c] = graph->class[c].count;
    }
    for (size_t r = 0; r < room->racks; r++) {
        double gain[KINDS_MOST] = {};
        uint32_t best[KINDS_MOST], corner;
        for (uint32_t c = 0; c < graph->classes; c++) {
            double one = price[c] - look->cost[c * room->racks + r];
            if (one > gain[graph->class[c].kind]) {
                gain[graph->class[c].kind] = one;
                best[graph->class[c].kind] = c;
            }
        }
        sum -= most_of(room, &look->whole, gain, &corner) * room->many[r];
        for (uint32_t k = 0; corner != UINT32_MAX && k < room->kinds; k++) {
            if (gain[k] > 0) {
                ret_over[best[k]] -= look->whole.many[corner][k] * room->many[r];
            }
        }
    }
    return sum;
}

/* The best prices of the classes, by the ellipsoid method from the given ones on. */
static double best_prices(const struct look *look, double *price)
{
    uint32_t n = look->graph->classes;
    double *shape = must((size_t)n * n, sizeof(double)), *slope = must(n, sizeof(double));
    double *along = must(n, sizeof(double)), best = -1e300;
    double far = 0;
    for (uint32_t c = 0; c < n; c++) {
        far += fabs(price[c]) / n;
    }
    for (uint32_t c = 0; c < n; c++) {
        shape[c * n + c] = 0.04 * n * (far * far + price[c] * price[c]);
    }
    for (uint32_t round = 0; n > 1 && round < 12 * n * n + 60 * n; round++) {
        double found = with_prices(look, price, slope), square = 0;
        best = found > best ? found : best;
        for (uint32_t i = 0; i < n; i++) {
            along[i] = 0;
            for (uint32_t k = 0; k < n; k++) {
                along[i] += shape[i * n + k] * slope[k];
            }
            square += along[i] * slope[i];
        }
        double deep = square > 0 ? (best - found) / sqrt(square) : 1;
        if (deep >= 1) {
            break;
        }
        double step = (1 + n * deep) / (n + 1) / sqrt(square);
        double grow = n * n * (1 - deep * deep) / (n * n - 1.0);
        double shrink = 2 * (1 + n * deep) / ((n + 1) * (1 + deep)) / square;
        for (uint32_t i = 0; i < n; i++) {
            price[i] += step * along[i];
            for (uint32_t k = 0; k < n; k++) {
                shape[i * n + k] = grow * (shape[i * n + k] - shrink * along[i] * along[k]);
            }
        }
    }
    free(shape);
    free(slope);
    free(along);
    return best;
}

double worth_m(const struct room *room, const struct graph *graph, struct prices *prices)
{
    size_t racks = room->racks, all = graph->classes * room->kinds * racks * racks;
    struct look *look = must(1, sizeof(*look));
    look->room = room;
    look->graph = graph;
    look->prices = prices;
    look->gain = must(all, sizeof(double));
    look->cost = must(graph->classes * racks, sizeof(double));
    make_corners(look);
    for (uint32_t o = 0; o < graph->orbits; o++) {
        divide(look, o);
    }
    for (uint32_t c = 0; c < graph->classes; c++) {
        for (size_t r = 0; r < racks; r++) {
            look->cost[c * racks + r] = cost_of(look, c, r);
        }
    }
    double best = best_prices(look, prices->whole);
    free(look->gain);
    free(look->cost);
    free(look);
    return best;
}
