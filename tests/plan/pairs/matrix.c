#include "programme.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t at_cut(const struct programme *p, uint32_t orbit, uint32_t turned, uint32_t family)
{
    size_t lines = p->room->places[0] + p->room->places[1];
    return ((size_t)orbit * 2 + turned) * lines + (family ? p->room->places[0] : 0);
}

static float *of_kind(const struct programme *p, float *base, uint32_t class, uint32_t kind)
{
    return base + ((size_t) class * p->room->kinds + kind) * p->square;
}

static float *seat(const struct programme *p, float *base, uint32_t class, uint32_t facet)
{
    return base + ((size_t) class * p->room->facets + facet) * p->square;
}

static uint32_t kind_of(const struct programme *p, uint32_t class)
{
    return p->graph->class[class].kind;
}

size_t programme_at(const struct programme *p, size_t r, size_t q)
{
    return p->lead_of[r] * p->racks + p->image[p->via[r]][q];
}

enum { TILE = 16 };

/* Adds 'from' turned round: its element (q, r) to (r, q). */
static void add_turned(const struct programme *p, const float *from, float *to)
{
    for (size_t first = 0; first < p->leads; first += TILE) {
        size_t end = first + TILE < p->leads ? first + TILE : p->leads;
        for (size_t q = 0; q < p->racks; q++) {
            const float *row = from + p->lead_of[q] * p->racks;
            const uint32_t *image = p->image[p->via[q]];
            for (size_t h = first; h < end; h++) {
                to[h * p->racks + q] += row[image[p->lead[h]]];
            }
        }
    }
}

/* ---- from prices to what things and pairs pay ---- */

static void seats_to_costs(struct programme *p)
{
    const struct room *room = p->room;
    size_t all = (size_t)p->graph->classes * room->kinds * p->square;
    memset(p->seat_cost, 0, all * sizeof(float));
    memset(p->turned_cost, 0, all * sizeof(float));
    float *by = must(p->racks, sizeof(float));
    for (uint32_t c = 0; c < p->graph->classes; c++) {
        for (uint32_t f = 0; f < room->facets; f++) {
            const float *price = seat(p, p->price[SEATS].now, c, f);
            for (uint32_t k = 0; k < room->kinds; k++) {
                float *cost = of_kind(p, p->seat_cost, c, k);
                for (size_t q = 0; q < p->racks; q++) {
                    by[q] = (float)(p->price[SEATS].scale * room->need[f][k] /
                                    (room->most[f] * room->many[q]));
                }
                for (size_t at = 0; room->need[f][k] > 0 && at < p->square; at += p->racks) {
                    for (size_t q = 0; q < p->racks; q++) {
                        cost[at + q] += by[q] * price[at + q];
                    }
                }
            }
        }
        for (uint32_t k = 0; k < room->kinds; k++) {
            add_turned(p, of_kind(p, p->seat_cost, c, k), of_kind(p, p->turned_cost, c, k));
        }
    }
    free(by);
}

static void add_tolls(struct programme *p, uint32_t family, uint32_t turned, uint32_t line)
{
    const struct graph *graph = p->graph;
    const float *price = p->price[LINES].now + line_index(p->room, graph, family, turned, line);
    float scale = (float)(p->price[LINES].scale / ((double)p->racks * (double)p->racks));
    for (uint32_t t = 0; t < graph->triples; t++) {
        const struct end ends[3] = {graph->triple[t].whole, graph->triple[t].first,
                                    graph->triple[t].second};
        float by = scale * price[t];
        for (int i = 0; by != 0 && i < 3; i++) {
            p->toll[at_cut(p, ends[i].orbit, turned ^ ends[i].turned, family) + line] +=
                i ? -by : by;
        }
    }
}

static void lines_to_tolls(struct programme *p)
{
    const struct room *room = p->room;
    const struct graph *graph = p->graph;
    size_t lines = room->places[0] + room->places[1];
    memset(p->toll, 0, graph->orbits * 2 * lines * sizeof(float));
    for (uint32_t family = 0; family < FAMILIES; family++) {
        for (uint32_t line = 1; line < room->places[family]; line++) {
            add_tolls(p, family, 0, line);
            add_tolls(p, family, 1, line);
        }
        for (uint32_t o = 0; o < graph->orbits; o++) {
            float *one = p->toll + at_cut(p, o, 0, family);
            float *two = p->toll + at_cut(p, o, 1, family);
            for (uint32_t line = 1; line < room->places[family]; line++) {
                if (graph->orbit[o].even) {
                    one[line] = two[line] = (one[line] + two[line]) / 2;
                }
                one[line] += line > 1 ? one[line - 1] : 0; /* sums from the first line on */
                two[line] += line > 1 ? two[line - 1] : 0;
            }
        }
    }
}

/* What things pay, into thing_pull. */
static void pull_things(const struct programme *p)
{
    const struct graph *graph = p->graph;
    const struct room *room = p->room;
    size_t racks = p->racks;
    float scale = (float)p->price[ENDS].scale;
    memset(p->thing_pull, 0, graph->classes * racks * sizeof(float));
    for (uint32_t o = 0; o < graph->orbits; o++) {
        const float *end = p->price[ENDS].now + 2 * o * racks;
        for (size_t r = 0; r < racks; r++) {
            p->thing_pull[graph->orbit[o].one * racks + r] -= scale * end[r];
            if (!graph->orbit[o].even) {
                p->thing_pull[graph->orbit[o].other * racks + r] -= scale * end[racks + r];
            }
        }
    }
    for (uint32_t c = 0; c < graph->classes; c++) {
        float *pull = p->thing_pull + c * racks;
        double whole = p->price[WHOLES].scale * p->price[WHOLES].now[c] / (double)racks;
        for (size_t r = 0; r < racks; r++) {
            pull[r] += (float)whole;
        }
        for (uint32_t f = 0; f < room->facets; f++) {
            const float *price = seat(p, p->price[SEATS].now, c, f);
            const float *rack = p->price[RACKS].now + f * racks;
            for (size_t h = 0; h < p->leads; h++) {
                size_t r = p->lead[h];
                float sum = 0;
                for (size_t q = 0; q < racks; q++) {
                    sum += price[h * racks + q];
                }
                double own = room->need[f][kind_of(p, c)] / (room->most[f] * room->many[r]);
                pull[r] -= (float)(p->price[SEATS].scale * (sum - own * price[h * racks + r]));
                pull[r] += (float)(p->price[RACKS].scale * own * graph->class[c].count /
                                   (double)racks * rack[r]);
            }
        }
        for (size_t r = 0; r < racks; r++) {
            pull[r] = pull[p->lead[p->lead_of[r]]];
        }
    }
}

void programme_pull(struct programme *p)
{
    size_t all = (size_t)p->graph->classes * p->room->kinds * p->square;
    seats_to_costs(p);
    lines_to_tolls(p);
    pull_things(p);
    memset(p->taken, 0, all * sizeof(float));
    memset(p->turned_taken, 0, all * sizeof(float));
}

/* What a pair pays for the lines between a place and every rack. */
static void fill_strips(const struct programme *p, uint32_t orbit)
{
    for (uint32_t family = 0; family < FAMILIES; family++) {
        const float *on = p->toll + at_cut(p, orbit, 0, family);
        const float *back = p->toll + at_cut(p, orbit, 1, family);
        const uint32_t *at = p->room->at[family];
        for (uint32_t place = 0; place < p->room->places[family]; place++) {
            float *strip = p->strip[family] + place * p->racks;
            for (size_t q = 0; q < p->racks; q++) {
                strip[q] = at[q] > place ? on[at[q]] - on[place] : back[place] - back[at[q]];
            }
        }
    }
}

void programme_pull_orbit(const struct programme *p, uint32_t number, double unit)
{
    const struct orbit *orbit = &p->graph->orbit[number];
    size_t racks = p->racks;
    const float *end = p->price[ENDS].now + 2 * number * racks;
    const float *too = orbit->even ? end : end + racks;
    const float *own = of_kind(p, p->seat_cost, orbit->one, kind_of(p, orbit->other));
    const float *turned = of_kind(p, p->turned_cost, orbit->other, kind_of(p, orbit->one));
    float half = orbit->even ? 0.5f : 1;
    float scale = half * (float)(p->price[ENDS].scale / (double)racks);
    float by = half * (float)(orbit->partners / (double)racks);
    float by_too = half * (float)(orbit->partners_too / (double)racks);
    float ways = (float)(unit * orbit->weight * orbit->pairs);
    fill_strips(p, number);
    for (size_t h = 0; h < p->leads; h++) {
        size_t base = h * racks, r = p->lead[h];
        const float *x = p->strip[0] + p->room->at[0][r] * racks;
        const float *y = p->strip[1] + p->room->at[1][r] * racks;
        float *g = p->gradient + base;
        float first = scale * end[r];
        for (size_t q = 0; q < racks; q++) {
            g[q] = ways * p->way[base + q] + first + scale * too[q] + by * own[base + q] +
                   by_too * turned[base + q] + x[q] + y[q];
        }
    }
}

/* ---- from things and pairs to what conditions lack ---- */

static void count_cuts(const struct programme *p, uint32_t orbit, uint32_t family)
{
    const uint32_t *at = p->room->at[family];
    uint32_t places = p->room->places[family];
    float *table = must((size_t)places * places, sizeof(float));
    for (uint32_t m = 0; m < p->mirrors; m++) {
        for (size_t r = 0; r < p->racks; r++) { /* strips are by place: any rack of it will do */
            uint32_t place = at[r];
            if (r > 0 && at[r - 1] == place) {
                continue;
            }
            bool seen = false;
            for (size_t q = 0; q < r && !seen; q++) {
                seen = at[q] == place;
            }
            const float *strip = p->strip[family] + place * p->racks;
            uint32_t to = at[p->image[m][r]];
            for (size_t q = 0; q < p->racks && !seen; q++) {
                table[to * places + at[p->image[m][q]]] += strip[q];
            }
        }
    }
    float *on = p->cut + at_cut(p, orbit, 0, family);
    float *back = p->cut + at_cut(p, orbit, 1, family);
    memset(on, 0, places * sizeof(*on));
    memset(back, 0, places * sizeof(*back));
    for (uint32_t i = 0; i < places; i++) {
        for (uint32_t j = i + 1; j < places; j++) {
            for (uint32_t line = i + 1; line <= j; line++) {
                on[line] += table[(size_t)i * places + j];
                back[line] += table[(size_t)j * places + i];
            }
        }
    }
    free(table);
}

void programme_push_orbit(const struct programme *p, uint32_t number)
{
    const struct orbit *orbit = &p->graph->orbit[number];
    const struct room *room = p->room;
    size_t racks = p->racks;
    float *own = of_kind(p, p->taken, orbit->one, kind_of(p, orbit->other));
    float *turned = of_kind(p, p->turned_taken, orbit->other, kind_of(p, orbit->one));
    float by = (float)(orbit->partners / (double)racks);
    float by_too = orbit->even ? 0 : (float)(orbit->partners_too / (double)racks);
    float *sum = p->sum + 2 * number * racks, *sum_too = sum + racks;
    float *column = must(racks, sizeof(float));
    for (uint32_t family = 0; family < FAMILIES; family++) {
        memset(p->strip[family], 0, room->places[family] * racks * sizeof(float));
    }
    for (size_t h = 0; h < p->leads; h++) {
        size_t r = p->lead[h], base = h * racks;
        const float *bar = p->bar + base;
        float *x = p->strip[0] + room->at[0][r] * racks, *y = p->strip[1] + room->at[1][r] * racks;
        float share = 1 / p->same[h], total = 0;
        for (size_t q = 0; q < racks; q++) {
            float part = share * bar[q];
            own[base + q] += by * bar[q];
            turned[base + q] += by_too * bar[q];
            column[q] += part;
            x[q] += part;
            y[q] += part;
        }
        for (size_t q = 0; q < racks; q++) {
            total += bar[q];
        }
        sum[r] = total;
    }
    for (size_t q = 0; q < racks; q++) {
        sum[q] = sum[p->lead[p->lead_of[q]]];
        sum_too[q] = 0;
        for (uint32_t m = 0; m < p->mirrors; m++) {
            sum_too[q] += column[p->image[m][q]];
        }
    }
    count_cuts(p, number, 0);
    count_cuts(p, number, 1);
    free(column);
}

/* One price: what its condition lacks is added. */
static inline void move_price(const struct side *side, size_t i, float lack, struct walk *walk)
{
    float now = side->now[i];
    if (walk->product) {
        side->now[i] = lack * (float)side->scale;
        return;
    }
    float to = now + (float)(walk->step * side->scale) * lack;
    to = to < 0 && !side->free ? 0 : to;
    walk->moved += (double)(to - now) * (to - now);
    side->now[i] = (float)walk->keep * (2 * to - now) + (float)(1 - walk->keep) * side->anchor[i];
}

/* The prices of the seats of one lead; 'lack' of every rack. */
static void move_row(const struct programme *p, const float *lack, size_t at, float share,
                     struct walk *walk)
{
    const struct side *side = &p->price[SEATS];
    float scale = (float)side->scale, step = (float)walk->step * scale, sum = 0;
    float keep = (float)walk->keep, rest = 1 - keep, *now = side->now + at;
    const float *anchor = side->anchor + at;
    for (size_t q = 0; walk->product && q < p->racks; q++) {
        now[q] = scale * lack[q];
    }
    for (size_t q = 0; !walk->product && q < p->racks; q++) {
        float to = now[q] + step * lack[q];
        to = to < 0 ? 0 : to;
        sum += (to - now[q]) * (to - now[q]);
        now[q] = keep * (2 * to - now[q]) + rest * anchor[q];
    }
    walk->moved += (double)(share * sum);
}

static void move_seats(struct programme *p, struct walk *walk)
{
    const struct room *room = p->room;
    float *row = must(p->racks, sizeof(float));
    for (uint32_t c = 0; c < p->graph->classes; c++) {
        for (uint32_t k = 0; k < room->kinds; k++) {
            add_turned(p, of_kind(p, p->turned_taken, c, k), of_kind(p, p->taken, c, k));
        }
        for (uint32_t f = 0; f < room->facets; f++) {
            double own = room->need[f][kind_of(p, c)];
            for (size_t h = 0; h < p->leads; h++) {
                size_t r = p->lead[h];
                float here = p->thing_bar[c * p->racks + r];
                memset(row, 0, p->racks * sizeof(*row));
                for (uint32_t k = 0; k < room->kinds; k++) {
                    float need = (float)(room->need[f][k] / room->most[f]);
                    const float *taken = of_kind(p, p->taken, c, k) + h * p->racks;
                    for (size_t q = 0; need > 0 && q < p->racks; q++) {
                        row[q] += need * taken[q];
                    }
                }
                for (size_t q = 0; q < p->racks; q++) {
                    row[q] = row[q] / (float)room->many[q] - here;
                }
                row[r] += here * (float)(own / (room->most[f] * room->many[r]));
                move_row(p, row, (((size_t)c * room->facets + f) * p->leads + h) * p->racks,
                         (float)p->mirrors / p->same[h], walk);
            }
        }
    }
    free(row);
}

static void move_lines(struct programme *p, struct walk *walk)
{
    const struct room *room = p->room;
    const struct graph *graph = p->graph;
    float scale = 1 / (float)(p->racks * p->racks);
    for (uint32_t family = 0; family < FAMILIES; family++) {
        for (uint32_t turned = 0; turned < 2; turned++) {
            for (uint32_t line = 1; line < room->places[family]; line++) {
                size_t base = line_index(room, graph, family, turned, line);
                for (uint32_t t = 0; t < graph->triples; t++) {
                    const struct triple *one = &graph->triple[t];
                    const struct end ends[3] = {one->whole, one->first, one->second};
                    float cut[3];
                    for (int i = 0; i < 3; i++) {
                        uint32_t side = turned ^ ends[i].turned;
                        cut[i] = p->cut[at_cut(p, ends[i].orbit, side, family) + line];
                    }
                    move_price(&p->price[LINES], base + t, scale * (cut[0] - cut[1] - cut[2]),
                               walk);
                }
            }
        }
    }
}

void programme_move_prices(struct programme *p, struct walk *walk)
{
    const struct room *room = p->room;
    const struct graph *graph = p->graph;
    size_t racks = p->racks;
    float target = walk->product ? 0 : 1;
    move_seats(p, walk);
    move_lines(p, walk);
    for (uint32_t o = 0; o < graph->orbits; o++) {
        const struct orbit *orbit = &graph->orbit[o];
        const float *one = p->thing_bar + orbit->one * racks;
        const float *other = p->thing_bar + orbit->other * racks;
        for (size_t r = 0; r < racks; r++) {
            size_t at = 2 * o * racks + r;
            move_price(&p->price[ENDS], at, p->sum[at] / (float)racks - one[r], walk);
            if (!orbit->even) {
                at += racks;
                move_price(&p->price[ENDS], at, p->sum[at] / (float)racks - other[r], walk);
            }
        }
    }
    for (uint32_t c = 0; c < graph->classes; c++) {
        float sum = 0;
        for (size_t r = 0; r < racks; r++) {
            sum += p->thing_bar[c * racks + r];
        }
        move_price(&p->price[WHOLES], c, sum / (float)racks - target, walk);
    }
    for (uint32_t f = 0; f < room->facets; f++) {
        for (size_t r = 0; r < racks; r++) {
            double sum = 0;
            for (uint32_t c = 0; c < graph->classes; c++) {
                sum += room->need[f][kind_of(p, c)] * graph->class[c].count / (double)racks *
                       p->thing_bar[c * racks + r];
            }
            sum /= room->most[f] * room->many[r];
            move_price(&p->price[RACKS], f * racks + r, (float)sum - target, walk);
        }
    }
}
