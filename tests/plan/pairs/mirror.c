#include "programme.h"

#include <math.h>
#include <stdlib.h>

/* Mirrors of a room, and the memory of its programme. */

/* Where racks are seen in a mirror across the chosen families; false where that is another room. */
static bool is_mirror(const struct room *room, bool across_x, bool across_y, uint32_t *ret)
{
    size_t racks = room->racks;
    for (size_t r = 0; r < racks; r++) {
        uint32_t x = across_x ? room->places[0] - 1 - room->at[0][r] : room->at[0][r];
        uint32_t y = across_y ? room->places[1] - 1 - room->at[1][r] : room->at[1][r];
        size_t q = 0;
        while (q < racks && (room->at[0][q] != x || room->at[1][q] != y)) {
            q++;
        }
        if (q == racks || room->many[q] != room->many[r]) {
            return false;
        }
        ret[r] = (uint32_t)q;
    }
    for (size_t r = 0; r < racks; r++) {
        for (size_t q = 0; q < racks; q++) {
            if (fabs(room->way[r * racks + q] - room->way[ret[r] * racks + ret[q]]) > 1e-6) {
                return false;
            }
        }
    }
    return true;
}

static void find_mirrors(struct programme *p)
{
    p->mirrors = 0;
    for (uint32_t i = 0; i < MIRRORS_MOST; i++) {
        p->image[p->mirrors] = must(p->racks, sizeof(uint32_t));
        if (is_mirror(p->room, i & 1, i & 2, p->image[p->mirrors])) {
            p->mirrors++;
        } else {
            free(p->image[p->mirrors]);
        }
    }
    p->lead = must(p->racks, sizeof(uint32_t));
    p->lead_of = must(p->racks, sizeof(uint32_t));
    p->via = must(p->racks, sizeof(uint32_t));
    p->same = must(p->racks, sizeof(float));
    for (uint32_t r = 0; r < p->racks; r++) {
        uint32_t least = r;
        for (uint32_t m = 0; m < p->mirrors; m++) {
            if (p->image[m][r] < least) {
                least = p->image[m][r];
                p->via[r] = m;
            }
        }
        if (least == r) {
            p->lead_of[r] = (uint32_t)p->leads;
            p->lead[p->leads] = r;
            for (uint32_t m = 0; m < p->mirrors; m++) {
                p->same[p->leads] += p->image[m][r] == r;
            }
            p->leads++;
        } else {
            p->lead_of[r] = p->lead_of[least];
        }
    }
    p->square = p->leads * p->racks;
}

static void side_make(struct side *ret, size_t count, double scale, bool free)
{
    *ret =
        (struct side){must(count, sizeof(float)), must(count, sizeof(float)), count, scale, free};
}

void programme_make(struct programme *p, const struct room *room, const struct graph *graph)
{
    *p = (struct programme){.room = room, .graph = graph, .racks = room->racks};
    find_mirrors(p);
    size_t lines = room->places[0] + room->places[1];
    double racks = (double)p->racks;
    side_make(&p->things, graph->classes * p->racks, 1 / racks, false);
    side_make(&p->pairs, graph->orbits * p->square, 1, false);
    side_make(&p->price[ENDS], 2 * graph->orbits * p->racks, 3 * sqrt(racks / 2), true);
    side_make(&p->price[SEATS], (size_t)graph->classes * room->facets * p->square, 2, false);
    side_make(&p->price[LINES], 2 * lines * graph->triples, racks, false);
    side_make(&p->price[WHOLES], graph->classes, racks, true);
    side_make(&p->price[RACKS], room->facets * p->racks, 2 * sqrt(racks), false);
    float **squares[] = {&p->seat_cost, &p->turned_cost, &p->taken, &p->turned_taken};
    for (size_t i = 0; i < sizeof(squares) / sizeof(*squares); i++) {
        *squares[i] = must((size_t)graph->classes * room->kinds * p->square, sizeof(float));
    }
    p->cut = must(graph->orbits * 2 * lines, sizeof(float));
    p->toll = must(graph->orbits * 2 * lines, sizeof(float));
    p->sum = must(2 * graph->orbits * p->racks, sizeof(float));
    p->gradient = must(p->square, sizeof(float));
    p->bar = must(p->square, sizeof(float));
    p->thing_bar = must(p->things.count, sizeof(float));
    p->thing_pull = must(p->things.count, sizeof(float));
    p->way = must(p->square, sizeof(float));
    p->strip[0] = must(room->places[0] * p->racks, sizeof(float));
    p->strip[1] = must(room->places[1] * p->racks, sizeof(float));
    double mean = 0, cables = 0;
    for (size_t i = 0; i < p->racks * p->racks; i++) {
        mean += room->way[i] / (racks * racks);
    }
    for (size_t i = 0; i < p->square; i++) {
        p->way[i] = (float)room->way[p->lead[i / p->racks] * p->racks + i % p->racks];
    }
    for (uint32_t o = 0; o < graph->orbits; o++) {
        cables += graph->orbit[o].weight * graph->orbit[o].pairs;
    }
    p->unit = 1 / (mean * cables * racks); /* ways of the programme are about 'racks' */
}

void programme_free(struct programme *p)
{
    struct side *sides[2 + PRICES] = {&p->things, &p->pairs};
    for (uint32_t k = 0; k < PRICES; k++) {
        sides[2 + k] = &p->price[k];
    }
    for (uint32_t k = 0; k < 2 + PRICES; k++) {
        free(sides[k]->now);
        free(sides[k]->anchor);
    }
    void *rest[] = {p->lead,  p->lead_of,      p->via,        p->same, p->seat_cost, p->turned_cost,
                    p->taken, p->turned_taken, p->cut,        p->toll, p->sum,       p->gradient,
                    p->bar,   p->thing_bar,    p->thing_pull, p->way,  p->strip[0],  p->strip[1]};
    for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++) {
        free(rest[i]);
    }
    for (uint32_t m = 0; m < p->mirrors; m++) {
        free(p->image[m]);
    }
}
