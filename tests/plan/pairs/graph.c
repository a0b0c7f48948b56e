#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Classes of things and of pairs. Colours of pairs are refined until every pair of a colour has,
 * for any two colours, the same number of third things that lie so between its ends (Weisfeiler
 * and Leman, of two dimensions). What is then true of one pair of a colour is true of all.
 */

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Numbers values from 0 in their order; how many there are. */
static uint32_t number(const uint64_t *value, size_t count, uint32_t *ret)
{
    uint64_t *sorted = must(count, sizeof(*sorted));
    memcpy(sorted, value, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_value);
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || sorted[i] != sorted[known - 1]) {
            sorted[known++] = sorted[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t *at = bsearch(&value[i], sorted, known, sizeof(*sorted), by_value);
        ret[i] = (uint32_t)(at - sorted);
    }
    free(sorted);
    return (uint32_t)known;
}

static uint32_t refine(uint32_t things, uint32_t *colour, uint64_t *value, uint64_t *second)
{
    for (size_t i = 0; i < (size_t)things * things; i++) {
        second[i] = mixed(colour[i] * 2 + 1);
    }
    for (size_t i = 0; i < things; i++) {
        uint64_t *row = value + i * things;
        memset(row, 0, things * sizeof(*row));
        for (size_t k = 0; k < things; k++) {
            uint64_t by = mixed((uint64_t)colour[i * things + k] * 2 + 0x100000000u);
            const uint64_t *to = second + k * things;
            for (size_t j = 0; j < things; j++) {
                row[j] += by * to[j];
            }
        }
        for (size_t j = 0; j < things; j++) {
            row[j] = mixed(row[j]) ^ mixed(colour[i * things + j]);
        }
    }
    return number(value, (size_t)things * things, colour);
}

static uint32_t colours(const struct room *room, uint32_t *colour)
{
    size_t things = room->things, all = things * things;
    uint64_t *value = must(all, sizeof(*value)), *second = must(all, sizeof(*second));
    for (size_t i = 0; i < things; i++) {
        for (size_t j = 0; j < things; j++) {
            uint64_t cables;
            memcpy(&cables, &room->weight[i * things + j], sizeof(cables));
            value[i * things + j] =
                mixed(mixed(mixed(room->mark[i]) + room->mark[j]) + cables) + (i == j);
        }
    }
    uint32_t known = number(value, all, colour), before;
    do {
        before = known;
        known = refine((uint32_t)things, colour, value, second);
    } while (known > before);
    free(value);
    free(second);
    return known;
}

/* By colour: the first pair of it, how many there are, and its class or orbit. */
struct look {
    size_t *first;
    double *count;
    uint32_t *class;
    struct end *end;
};

static void add_orbits(const struct room *room, const uint32_t *colour, uint32_t known,
                       struct look *look, struct graph *ret)
{
    size_t things = room->things;
    for (uint32_t k = 0; k < known; k++) {
        size_t i = look->first[k] / things, j = look->first[k] % things;
        uint32_t turned = colour[j * things + i];
        if (i == j || turned < k) {
            continue;
        }
        uint32_t one = look->class[colour[i * things + i]];
        uint32_t other = look->class[colour[j * things + j]];
        look->end[k] = (struct end){ret->orbits, false};
        if (turned != k) {
            look->end[turned] = (struct end){ret->orbits, true};
        }
        ret->orbit[ret->orbits++] = (struct orbit){
            .one = one,
            .other = other,
            .partners = look->count[k] / ret->class[one].count,
            .partners_too = look->count[k] / ret->class[other].count,
            .pairs = look->count[k],
            .weight = room->weight[look->first[k]] * (turned == k ? 0.5 : 1),
            .even = turned == k,
        };
    }
}

static int by_triple(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(uint32_t));
}

static uint32_t end_number(struct end end)
{
    return 2 * end.orbit + end.turned;
}

/* The same line seen from the other side is the same triple turned round: one of them is kept. */
static bool is_kept(const struct graph *graph, struct end whole, struct end first,
                    struct end second)
{
    uint32_t here[3] = {end_number(whole), end_number(first), end_number(second)};
    uint32_t there[3] = {here[0] ^ 1, here[2] ^ 1, here[1] ^ 1};
    const struct end ends[3] = {whole, second, first};
    for (int i = 0; i < 3; i++) {
        if (graph->orbit[ends[i].orbit].even) {
            there[i] &= ~1u;
        }
    }
    return memcmp(here, there, sizeof(here)) <= 0;
}

static void add_triples(const struct room *room, const uint32_t *colour, uint32_t known,
                        const struct look *look, struct graph *ret)
{
    size_t things = room->things, size = 1024;
    ret->triple = must(size, sizeof(*ret->triple));
    uint32_t(*found)[3] = must(things, sizeof(*found));
    for (uint32_t k = 0; k < known; k++) {
        size_t i = look->first[k] / things, j = look->first[k] % things, count = 0;
        if (i == j) {
            continue;
        }
        for (size_t b = 0; b < things; b++) {
            struct end first = look->end[colour[i * things + b]];
            struct end second = look->end[colour[b * things + j]];
            if (b != i && b != j && is_kept(ret, look->end[k], first, second)) {
                found[count][0] = colour[i * things + b];
                found[count][1] = colour[b * things + j];
                found[count++][2] = 0;
            }
        }
        qsort(found, count, sizeof(*found), by_triple);
        for (size_t t = 0; t < count; t++) {
            if (t > 0 && by_triple(found[t], found[t - 1]) == 0) {
                continue;
            }
            if (ret->triples == size) {
                size *= 2;
                ret->triple = realloc(ret->triple, size * sizeof(*ret->triple));
                if (!ret->triple) {
                    abort();
                }
            }
            ret->triple[ret->triples++] =
                (struct triple){look->end[k], look->end[found[t][0]], look->end[found[t][1]]};
        }
    }
    free(found);
}

void graph_make(const struct room *room, struct graph *ret)
{
    size_t things = room->things, all = things * things;
    uint32_t *colour = must(all, sizeof(*colour));
    uint32_t known = colours(room, colour);
    struct look look = {must(known, sizeof(size_t)), must(known, sizeof(double)),
                        must(known, sizeof(uint32_t)), must(known, sizeof(struct end))};
    *ret = (struct graph){.class = must(known, sizeof(*ret->class)),
                          .orbit = must(known, sizeof(*ret->orbit))};
    for (size_t at = all; at-- > 0;) {
        look.first[colour[at]] = at;
        look.count[colour[at]]++;
    }
    for (size_t i = 0; i < things; i++) {
        uint32_t own = colour[i * things + i];
        if (look.first[own] == i * things + i) {
            look.class[own] = ret->classes;
            ret->class[ret->classes++] = (struct class){look.count[own], room->kind[i]};
        }
    }
    add_orbits(room, colour, known, &look, ret);
    add_triples(room, colour, known, &look, ret);
    free(look.first);
    free(look.count);
    free(look.class);
    free(look.end);
    free(colour);
}

void graph_free(struct graph *graph)
{
    free(graph->class);
    free(graph->orbit);
    free(graph->triple);
}
