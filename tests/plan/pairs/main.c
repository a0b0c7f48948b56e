#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/base/str.h"

/*
 * pairs WORK ENOUGH < room: prints the least ways of all cables that it can show with so much work,
 * or as soon as it is enough. Exit status 1: too large for that.
 */

enum { THINGS_MOST = 1200, ROUNDS_LEAST = 800, ROUNDS_MOST = 6000 };

void *must(size_t count, size_t size)
{
    void *found = calloc(count ? count : 1, size);
    if (!found) {
        fprintf(stderr, "pairs: no memory\n");
        exit(3);
    }
    return found;
}

static double number_of(const char *text, size_t count)
{
    double found;
    if (!myr_str_to_double((struct myr_str){text, count}, &found)) {
        fprintf(stderr, "pairs: no number where one has to be, or the room ends too early\n");
        exit(2);
    }
    return found;
}

static double next(void)
{
    char word[64];
    size_t count = 0;
    int c = getchar_unlocked();
    while (c == ' ' || c == '\n') {
        c = getchar_unlocked();
    }
    for (; c != EOF && c != ' ' && c != '\n' && count < sizeof(word); c = getchar_unlocked()) {
        word[count++] = (char)c;
    }
    return number_of(word, count);
}

static uint32_t next_count(uint32_t most)
{
    double found = next();
    if (!(found >= 0 && found <= most)) {
        fprintf(stderr, "pairs: %g where no more than %u can be\n", found, most);
        exit(2);
    }
    return (uint32_t)found;
}

static void room_read(struct room *ret)
{
    *ret = (struct room){.kinds = next_count(KINDS_MOST), .facets = next_count(FACETS_MOST)};
    ret->racks = next_count(4096);
    ret->things = next_count(4096);
    ret->edges = next_count(UINT32_MAX);
    for (uint32_t f = 0; f < ret->facets; f++) {
        for (uint32_t k = 0; k < ret->kinds; k++) {
            ret->need[f][k] = next();
        }
        ret->most[f] = next();
    }
    size_t racks = ret->racks, things = ret->things;
    ret->many = must(racks, sizeof(*ret->many));
    ret->way = must(racks * racks, sizeof(*ret->way));
    for (uint32_t family = 0; family < FAMILIES; family++) {
        ret->at[family] = must(racks, sizeof(**ret->at));
    }
    for (size_t r = 0; r < racks; r++) {
        for (uint32_t family = 0; family < FAMILIES; family++) {
            uint32_t at = ret->at[family][r] = next_count(4096);
            ret->places[family] = at >= ret->places[family] ? at + 1 : ret->places[family];
        }
        ret->many[r] = next();
    }
    for (size_t i = 0; i < racks * racks; i++) {
        ret->way[i] = next();
    }
    ret->kind = must(things, sizeof(*ret->kind));
    ret->mark = must(things, sizeof(*ret->mark));
    ret->weight = must(things * things, sizeof(*ret->weight));
    for (size_t i = 0; i < things; i++) {
        ret->kind[i] = next_count(ret->kinds - 1);
        ret->mark[i] = next_count(UINT32_MAX);
    }
    for (uint32_t e = 0; e < ret->edges; e++) {
        size_t i = next_count(ret->things - 1), j = next_count(ret->things - 1);
        ret->weight[i * things + j] = ret->weight[j * things + i] = next();
    }
}

static void room_free(struct room *room)
{
    free(room->many);
    free(room->at[0]);
    free(room->at[1]);
    free(room->way);
    free(room->kind);
    free(room->weight);
    free(room->mark);
}

/* Rounds that so much work makes; a walk of a few hundred is not worth its time. */
static uint32_t rounds_for(const struct room *room, const struct graph *graph, double work)
{
    double one = (double)graph->orbits * room->racks * room->racks;
    double rounds = work / one;
    return rounds < ROUNDS_LEAST ? 0 : rounds > ROUNDS_MOST ? ROUNDS_MOST : (uint32_t)rounds;
}

int main(int argc, char **argv)
{
    struct room room;
    struct graph graph;
    if (argc != 3) {
        fprintf(stderr, "usage: pairs WORK ENOUGH < room\n");
        return 2;
    }
    room_read(&room);
    if (room.things > THINGS_MOST) {
        return 1;
    }
    graph_make(&room, &graph);
    uint32_t rounds = rounds_for(&room, &graph, number_of(argv[1], strlen(argv[1])));
    if (rounds == 0) {
        return 1;
    }
    printf("%.6f\n", programme_m(&room, &graph, rounds, number_of(argv[2], strlen(argv[2]))));
    graph_free(&graph);
    room_free(&room);
    return 0;
}
