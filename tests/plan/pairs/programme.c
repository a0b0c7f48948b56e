#include "programme.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The walk: the primal-dual hybrid gradient method, reflected and with Halpern's anchor, begun anew
 * where the step has become small. A large room begins where a coarser one ended, in which four
 * racks are one.
 */

enum { COARSE_FROM = 40, EVERY = 250 };

/* A step of things and pairs, then one of the prices. */
static void step(struct programme *p, struct walk *up, struct walk *down)
{
    float keep = (float)down->keep, rest = 1 - keep, by = (float)down->step;
    programme_pull(p);
    for (uint32_t o = 0; o < p->graph->orbits; o++) {
        programme_pull_orbit(p, o, down->product ? 0 : p->unit);
        for (size_t h = 0; h < p->leads; h++) {
            float *now = p->pairs.now + o * p->square + h * p->racks, *bar = p->bar + h * p->racks;
            const float *anchor = p->pairs.anchor + o * p->square + h * p->racks;
            const float *gradient = p->gradient + h * p->racks;
            float sum = 0;
            for (size_t q = 0; down->product && q < p->racks; q++) {
                bar[q] = now[q] = gradient[q];
            }
            for (size_t q = 0; !down->product && q < p->racks; q++) {
                float to = now[q] - by * gradient[q];
                to = to < 0 ? 0 : to;
                sum += (to - now[q]) * (to - now[q]);
                bar[q] = 2 * to - now[q];
                now[q] = keep * bar[q] + rest * anchor[q];
            }
            down->moved += (double)(sum * (float)p->mirrors / p->same[h]);
        }
        programme_push_orbit(p, o);
    }
    const struct side *things = &p->things;
    for (size_t i = 0; i < things->count; i++) {
        float pull = p->thing_pull[i] * (float)things->scale, now = things->now[i];
        float to = now - by * pull;
        to = to < 0 ? 0 : to;
        p->thing_bar[i] = down->product ? pull : 2 * to - now;
        things->now[i] = down->product ? pull : keep * (2 * to - now) + rest * things->anchor[i];
        down->moved += (double)(to - now) * (to - now) / things->scale;
    }
    programme_move_prices(p, up);
}

/* Makes the prices so long that their squares sum up to 1; how long they were. */
static double shorten(struct programme *p)
{
    double square = 0;
    for (uint32_t k = 0; k < PRICES; k++) {
        for (size_t i = 0; i < p->price[k].count; i++) {
            double one = p->price[k].now[i];
            size_t h = k == SEATS ? i / p->racks % p->leads : 0;
            square += one * one * (k == SEATS ? (float)p->mirrors / p->same[h] : 1);
        }
    }
    for (uint32_t k = 0; k < PRICES; k++) {
        for (size_t i = 0; i < p->price[k].count; i++) {
            p->price[k].now[i] /= (float)sqrt(square);
        }
    }
    return sqrt(square);
}

/* The length of the whole matrix: what repeated products of it and its turned one grow by. */
static double length_of(struct programme *p)
{
    double square = 1;
    for (uint32_t k = 0; k < PRICES; k++) {
        for (size_t i = 0; i < p->price[k].count; i++) {
            p->price[k].now[i] = 1;
        }
    }
    shorten(p);
    for (uint32_t round = 0; round < 20; round++) {
        struct walk up = {.product = true}, down = {.product = true};
        step(p, &up, &down);
        square = shorten(p);
    }
    for (uint32_t k = 0; k < PRICES; k++) {
        memset(p->price[k].now, 0, p->price[k].count * sizeof(float));
    }
    return sqrt(square);
}

/* ---- prices as worth.c knows them ---- */

static void prices_make(struct prices *ret, const struct room *room, const struct graph *graph)
{
    size_t racks = room->racks, lines = room->places[0] + room->places[1];
    *ret = (struct prices){
        must(graph->orbits * racks, sizeof(double)),
        must(graph->orbits * racks, sizeof(double)),
        must(graph->classes * room->facets * racks * racks, sizeof(double)),
        must(2 * lines * graph->triples, sizeof(double)),
        must(graph->classes, sizeof(double)),
        must(room->facets * racks, sizeof(double)),
    };
}

static void prices_free(struct prices *prices)
{
    free(prices->end);
    free(prices->end_too);
    free(prices->seat);
    free(prices->line);
    free(prices->whole);
    free(prices->rack);
}

/* Metres that a price of 1 stands for; that of an end is shared by the pairs of its orbit. */
static double metres(const struct programme *p, uint32_t sort, uint32_t number)
{
    const struct graph *graph = p->graph;
    double unit = p->unit * (double)p->racks * (double)p->racks, racks = (double)p->racks;
    double scale = p->price[sort].scale / unit;
    switch (sort) {
    case ENDS:
        return scale * racks / graph->orbit[number].pairs;
    case SEATS:
        return scale * racks / graph->class[number].count;
    case WHOLES:
        return -scale / graph->class[number].count;
    default:
        return scale;
    }
}

static void prices_take(const struct programme *p, struct prices *ret)
{
    const struct room *room = p->room;
    const struct graph *graph = p->graph;
    size_t racks = p->racks;
    for (uint32_t o = 0; o < graph->orbits; o++) {
        for (size_t r = 0; r < racks; r++) {
            const float *now = p->price[ENDS].now + 2 * o * racks;
            ret->end[o * racks + r] = metres(p, ENDS, o) * now[r];
            ret->end_too[o * racks + r] = metres(p, ENDS, o) * now[racks + r];
        }
    }
    for (uint32_t c = 0; c < graph->classes; c++) {
        for (uint32_t f = 0; f < room->facets; f++) {
            const float *now = p->price[SEATS].now + ((size_t)c * room->facets + f) * p->square;
            double *to = ret->seat + ((size_t)c * room->facets + f) * racks * racks;
            double by = metres(p, SEATS, c) / room->most[f];
            for (size_t r = 0; r < racks; r++) {
                for (size_t q = 0; q < racks; q++) {
                    to[r * racks + q] = by * now[programme_at(p, r, q)] / room->many[q];
                }
            }
        }
        ret->whole[c] = metres(p, WHOLES, c) * p->price[WHOLES].now[c];
    }
    for (size_t i = 0; i < p->price[LINES].count; i++) {
        double price = metres(p, LINES, 0) * p->price[LINES].now[i];
        ret->line[i] = price > 0 ? price : 0;
    }
    for (size_t i = 0; i < p->price[RACKS].count; i++) {
        ret->rack[i] = metres(p, RACKS, 0) * p->price[RACKS].now[i] /
                       (room->most[i / racks] * room->many[i % racks]);
    }
}

static double worth(const struct programme *p)
{
    struct prices prices;
    prices_make(&prices, p->room, p->graph);
    prices_take(p, &prices);
    double found = worth_m(p->room, p->graph, &prices);
    prices_free(&prices);
    return found;
}

/* ---- a coarser room ---- */

/* Two places become one, from the middle outwards, so that mirrors stay mirrors. */
static uint32_t coarse_place(uint32_t at, uint32_t places)
{
    uint32_t half = places / 2, few = (half + 1) / 2;
    if (at < half) {
        return few - 1 - (half - 1 - at) / 2;
    }
    if (places % 2 && at == half) {
        return few;
    }
    return few + places % 2 + (at - half - places % 2) / 2;
}

/* 'block': by rack, the rack of the coarse room. Ways are the means, for this is not a bound. */
static void coarsen(const struct room *room, struct room *ret, uint32_t *block)
{
    size_t racks = room->racks;
    *ret = *room;
    for (uint32_t f = 0; f < FAMILIES; f++) {
        ret->places[f] = coarse_place(room->places[f] - 1, room->places[f]) + 1;
        ret->at[f] = must(racks, sizeof(uint32_t));
    }
    uint32_t *number = must((size_t)ret->places[0] * ret->places[1], sizeof(uint32_t));
    ret->many = must(racks, sizeof(double));
    ret->racks = 0;
    for (size_t r = 0; r < racks; r++) {
        uint32_t x = coarse_place(room->at[0][r], room->places[0]);
        uint32_t y = coarse_place(room->at[1][r], room->places[1]);
        uint32_t *at = &number[x * ret->places[1] + y];
        if (*at == 0) {
            ret->at[0][ret->racks] = x;
            ret->at[1][ret->racks] = y;
            *at = ++ret->racks;
        }
        block[r] = *at - 1;
        ret->many[block[r]] += room->many[r];
    }
    ret->way = must((size_t)ret->racks * ret->racks, sizeof(double));
    for (size_t r = 0; r < racks; r++) {
        for (size_t q = 0; q < racks; q++) {
            ret->way[block[r] * ret->racks + block[q]] +=
                room->way[r * racks + q] * room->many[r] * room->many[q] /
                (ret->many[block[r]] * ret->many[block[q]]);
        }
    }
    free(number);
}

/* A line of the coarse room stands for two, one of which may lie within a block. */
static void take_lines(struct programme *p, const struct programme *coarse)
{
    const struct room *fine = p->room, *room = coarse->room;
    double by = metres(coarse, LINES, 0) / metres(p, LINES, 0);
    for (uint32_t f = 0; f < FAMILIES; f++) {
        double share = (double)room->places[f] / fine->places[f];
        for (uint32_t turned = 0; turned < 2; turned++) {
            for (uint32_t line = 1; line < fine->places[f]; line++) {
                uint32_t before = coarse_place(line - 1, fine->places[f]);
                uint32_t behind = coarse_place(line, fine->places[f]);
                uint32_t next = before == behind ? before + 1 : behind;
                float *to = p->price[LINES].now + line_index(fine, p->graph, f, turned, line);
                for (uint32_t t = 0; t < p->graph->triples; t++) {
                    double sum = 0;
                    if (behind > 0) {
                        sum += coarse->price[LINES]
                                   .now[line_index(room, p->graph, f, turned, behind) + t];
                    }
                    if (next < room->places[f]) {
                        sum += coarse->price[LINES]
                                   .now[line_index(room, p->graph, f, turned, next) + t];
                    }
                    to[t] = (float)(sum / 2 * share * by);
                }
            }
        }
    }
}

static void take_rest(struct programme *p, const struct programme *coarse, const uint32_t *block)
{
    const struct graph *graph = p->graph;
    size_t racks = p->racks, few = coarse->racks;
    for (uint32_t c = 0; c < graph->classes; c++) {
        p->price[WHOLES].now[c] = coarse->price[WHOLES].now[c] *
                                  (float)(metres(coarse, WHOLES, c) / metres(p, WHOLES, c));
    }
    for (size_t i = 0; i < graph->classes * racks; i++) {
        size_t r = block[i % racks];
        double part = p->room->many[i % racks] / coarse->room->many[r];
        p->things.now[i] =
            (float)(part * (double)racks / (double)few) * coarse->things.now[i / racks * few + r];
    }
    for (uint32_t o = 0; o < 2 * graph->orbits; o++) {
        double by = metres(coarse, ENDS, o / 2) / metres(p, ENDS, o / 2);
        for (size_t r = 0; r < racks; r++) {
            p->price[ENDS].now[o * racks + r] =
                (float)by * coarse->price[ENDS].now[o * few + block[r]];
        }
    }
    for (size_t i = 0; i < p->price[RACKS].count; i++) {
        double by = metres(coarse, RACKS, 0) / metres(p, RACKS, 0) * p->room->many[i % racks] /
                    coarse->room->many[block[i % racks]];
        p->price[RACKS].now[i] =
            (float)by * coarse->price[RACKS].now[i / racks * few + block[i % racks]];
    }
}

/* By lead and rack: pairs, and prices of seats. */
static void take_squares(struct programme *p, const struct programme *coarse, const uint32_t *block)
{
    const struct graph *graph = p->graph;
    size_t racks = p->racks;
    double ratio = (double)racks / (double)coarse->racks;
    uint32_t facets = p->room->facets;
    for (size_t h = 0; h < p->leads; h++) {
        for (size_t q = 0; q < racks; q++) {
            size_t r = p->lead[h], from = programme_at(coarse, block[r], block[q]);
            double part = p->room->many[r] / coarse->room->many[block[r]];
            double part_too = p->room->many[q] / coarse->room->many[block[q]];
            for (uint32_t o = 0; o < graph->orbits; o++) {
                p->pairs.now[o * p->square + h * racks + q] =
                    (float)(part * part_too * ratio * ratio) *
                    coarse->pairs.now[o * coarse->square + from];
            }
            for (uint32_t c = 0; c < graph->classes; c++) {
                double by = metres(coarse, SEATS, c) / metres(p, SEATS, c) * part_too;
                for (uint32_t f = 0; f < facets; f++) {
                    p->price[SEATS].now[((size_t)c * facets + f) * p->square + h * racks + q] =
                        (float)by *
                        coarse->price[SEATS].now[((size_t)c * facets + f) * coarse->square + from];
                }
            }
        }
    }
}

/* ---- all of it ---- */

static void begin_anew(struct programme *p)
{
    struct side *sides[2 + PRICES] = {&p->things, &p->pairs};
    for (uint32_t k = 0; k < PRICES; k++) {
        sides[2 + k] = &p->price[k];
    }
    for (uint32_t s = 0; s < 2 + PRICES; s++) {
        memcpy(sides[s]->anchor, sides[s]->now, sides[s]->count * sizeof(float));
    }
}

/* So many rounds; returns the best bound found, or stops where it is enough. */
static double walk(struct programme *p, uint32_t rounds, double enough)
{
    double best = -HUGE_VAL, begun = 0, last = 0;
    uint32_t since = 0;
    begin_anew(p);
    for (uint32_t round = 0; round < rounds && best < enough; round++, since++) {
        double keep = (since + 1.0) / (since + 2.0);
        struct walk up = {.step = p->step * p->weigh, .keep = keep};
        struct walk down = {.step = p->step / p->weigh, .keep = keep};
        step(p, &up, &down);
        double moved = sqrt(down.moved * p->weigh + up.moved / p->weigh);
        begun = since == 0 ? moved : begun;
        bool small = moved < 0.2 * begun || (moved < 0.8 * begun && moved > last) ||
                     since > 0.36 * round + 100;
        last = moved;
        if (since > 0 && small) {
            begin_anew(p);
            since = UINT32_MAX;
        }
        if ((round + 1) % EVERY == 0 || round + 1 == rounds) {
            double found = worth(p);
            best = found > best ? found : best;
        }
    }
    return best;
}

static void spread_evenly(struct programme *p)
{
    for (size_t i = 0; i < p->things.count; i++) {
        p->things.now[i] = (float)p->room->many[i % p->racks];
    }
    for (size_t i = 0; i < p->pairs.count; i++) {
        size_t r = p->lead[i / p->racks % p->leads], q = i % p->racks;
        p->pairs.now[i] = (float)(p->room->many[r] * p->room->many[q]);
    }
    for (uint32_t k = 0; k < PRICES; k++) {
        memset(p->price[k].now, 0, p->price[k].count * sizeof(float));
    }
}

/* A room, its programme and where its walk begins: in a coarser one, unless it is small itself. */
struct level {
    struct room room;
    struct programme p;
    struct level *coarser;
    uint32_t *block;
    double weight;
};

static void begin(struct level *level, double weight)
{
    struct programme *p = &level->p;
    p->weigh = weight / ((double)p->racks * (double)p->racks);
    level->weight = weight;
    if (level->coarser) {
        take_lines(p, &level->coarser->p);
        take_rest(p, &level->coarser->p, level->block);
        take_squares(p, &level->coarser->p, level->block);
    } else {
        spread_evenly(p);
    }
}

/*
 * How the steps of counts and of prices weigh against each other decides how fast the walk is, and
 * no rule for it was found that serves all rooms. What is best in a coarse room is about best in
 * the next: so many are tried in the coarsest one, and fewer around the best one in the others.
 */
static void try_weights(struct level *level, uint32_t rounds, double first, uint32_t count)
{
    double best = -HUGE_VAL, weight = first;
    double one = first;
    for (uint32_t i = 0; i < count; i++, one /= 2.5) {
        begin(level, one);
        double found = walk(&level->p, rounds, HUGE_VAL);
        if (found > best) {
            best = found;
            weight = one;
        }
    }
    begin(level, weight);
    walk(&level->p, rounds, HUGE_VAL);
}

static void level_make(struct level *level, const struct graph *graph, uint32_t rounds)
{
    programme_make(&level->p, &level->room, graph);
    level->p.step = 0.95 / length_of(&level->p);
    level->coarser = NULL;
    if (level->room.racks <= COARSE_FROM) {
        return;
    }
    level->coarser = must(1, sizeof(*level));
    level->block = must(level->room.racks, sizeof(uint32_t));
    coarsen(&level->room, &level->coarser->room, level->block);
    level_make(level->coarser, graph, rounds);
    if (level->coarser->coarser) {
        try_weights(level->coarser, rounds, 2.5 * level->coarser->coarser->weight, 3);
    } else {
        try_weights(level->coarser, rounds, 1, 6);
    }
}

static void level_free(struct level *level)
{
    programme_free(&level->p);
    if (level->coarser) {
        level_free(level->coarser);
        free(level->coarser->room.many);
        free(level->coarser->room.way);
        free(level->coarser->room.at[0]);
        free(level->coarser->room.at[1]);
        free(level->coarser);
        free(level->block);
    }
}

double programme_m(const struct room *room, const struct graph *graph, uint32_t rounds,
                   double enough)
{
    struct level level = {.room = *room};
    level_make(&level, graph, rounds);
    if (!level.coarser) {
        try_weights(&level, rounds, 1, 6);
    }
    begin(&level, level.coarser ? level.coarser->weight : level.weight);
    double best = walk(&level.p, rounds, enough);
    level_free(&level);
    return best;
}
