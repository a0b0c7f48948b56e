#include <stdlib.h>

#include "room/anneal.h"

/*
 * The last of the shortest placement: things change places, at first also where that makes cables a
 * little longer, later only where it makes them shorter (simulated annealing, Kirkpatrick et al.
 * 1983). A server, a switch or another box moves into a free place, or changes places with what
 * stands where it wants to go; no limit of a rack is passed on the way, and the leaves of a block
 * stay within its rows and columns or right beside them. All draws come from one seed and all
 * costs are whole millimetres, so the same room always comes out the same.
 */

enum {
    LEVELS = 96,         /* of the threshold, each 15/16 of the one before */
    DRAWS_EACH = 4000,   /* for every thing that may move, over all levels */
    DRAWS_MAX = 1200000, /* altogether */
    RACKS_CHEAP = 200,   /* up to which all of them are made */
    OUT_MAX = 12,        /* things that make place for one */
    LOOSENESS = 4,       /* of the beginning, where there are draws enough to order it again; */
    LOOSE = 2,           /* of further runs in turn: these two */
    LOOSER = 8,
    COLDER = 16,         /* of the last run, which only straightens the beginning out */
    DRAWS_ENOUGH = 2000, /* for every thing */
    RUNS_MAX = 6,        /* from the same beginning: small rooms often end in a poor order */
    DRAWS_ALL = 3000000, /* in all runs together, about */
    SEED = 16,
};

struct anneal {
    struct room *room;
    struct crowd crowd;
    struct myr_rng rng;
    int64_t threshold, now, best;
    uint32_t *best_rack;
    uint32_t out[OUT_MAX], out_count; /* what makes place in the draw in hand */
};

/* ---- one draw ---- */

static bool fits_after(const struct load *left, const struct load *gone, const struct load *comes)
{
    return left->watts + gone->watts >= comes->watts && left->units + gone->units >= comes->units &&
           left->grams + gone->grams >= comes->grams;
}

static void add_load(struct load *sum, const struct load *one)
{
    sum->watts += one->watts;
    sum->units += one->units;
    sum->grams += one->grams;
}

/*
 * Who has to leave 'to' so that the thing can stand there, and go where it came from: as few as
 * possible from a random one on. False when that is not possible.
 */
static bool make_place(struct anneal *a, uint32_t thing, uint32_t to)
{
    struct crowd *crowd = &a->crowd;
    const struct thing *mover = &crowd->things[thing];
    const struct load *there = &a->room->racks[to].left, *here = &a->room->racks[mover->rack].left;
    struct load gone = {};
    a->out_count = 0;
    if (fits_after(there, &gone, &mover->need)) {
        return true;
    }
    uint32_t count = crowd->rack_things[to], skip = count ? myr_rng_below(&a->rng, count) : 0;
    uint32_t at = crowd->first_in[to];
    while (skip-- > 0) {
        at = crowd->next_in[at];
    }
    for (uint32_t i = 0; i < count && a->out_count < OUT_MAX; i++) {
        a->out[a->out_count++] = at;
        add_load(&gone, &crowd->things[at].need);
        if (fits_after(there, &gone, &mover->need)) {
            return fits_after(here, &mover->need, &gone);
        }
        at = crowd->next_in[at] == CROWD_END ? crowd->first_in[to] : crowd->next_in[at];
    }
    return false;
}

/* What a thing gains or loses by its mate; two that change places stay as far apart. */
static int64_t mate_cost(const struct anneal *a, uint32_t thing, uint32_t mover, uint32_t from,
                         uint32_t to)
{
    const struct crowd *crowd = &a->crowd;
    uint32_t mate = crowd->things[thing].mate;
    if (mate == CROWD_END || mate == mover) {
        return 0;
    }
    for (uint32_t i = 0; i < a->out_count; i++) {
        if (a->out[i] == mate) {
            return 0;
        }
    }
    uint32_t rack = crowd->things[mate].rack;
    return (crowd_way(crowd, rack, to) - crowd_way(crowd, rack, from)) *
           (int64_t)crowd->things[thing].shared;
}

/* What the draw adds to the ways; cables between those that change places stay as they are. */
static int64_t cost_of(const struct anneal *a, uint32_t thing, uint32_t to)
{
    const struct crowd *crowd = &a->crowd;
    uint32_t from = crowd->things[thing].rack;
    int64_t apart = crowd_way(crowd, from, to);
    int64_t cost = crowd_cost(crowd, thing, to) - crowd_cost(crowd, thing, from) +
                   mate_cost(a, thing, thing, from, to);
    for (uint32_t i = 0; i < a->out_count; i++) {
        uint32_t one = a->out[i];
        cost += crowd_cost(crowd, one, from) - crowd_cost(crowd, one, to) +
                mate_cost(a, one, thing, to, from);
        cost += 2 * apart * crowd_cables(crowd, thing, one);
        for (uint32_t k = 0; k < i; k++) {
            cost -= 2 * apart * crowd_cables(crowd, one, a->out[k]);
        }
    }
    return cost;
}

static void do_draw(struct anneal *a, uint32_t thing, uint32_t to)
{
    uint32_t from = a->crowd.things[thing].rack;
    for (uint32_t i = 0; i < a->out_count; i++) {
        crowd_leave(&a->crowd, a->out[i]);
    }
    crowd_leave(&a->crowd, thing);
    crowd_enter(&a->crowd, thing, to);
    for (uint32_t i = 0; i < a->out_count; i++) {
        crowd_enter(&a->crowd, a->out[i], from);
    }
}

/* Counts the draw, or takes it back. */
static void count_draw(struct anneal *a, uint32_t thing, uint32_t from, uint32_t to)
{
    crowd_count(&a->crowd, thing, from, to);
    for (uint32_t i = 0; i < a->out_count; i++) {
        crowd_count(&a->crowd, a->out[i], to, from);
    }
}

static uint32_t outside(const struct anneal *a, uint32_t thing)
{
    uint32_t sum = crowd_outside(&a->crowd, thing);
    for (uint32_t i = 0; i < a->out_count; i++) {
        sum += crowd_outside(&a->crowd, a->out[i]);
    }
    return sum;
}

/* Whether the leaves would still stand with their blocks, or no farther off than before. */
static bool blocks_hold(struct anneal *a, uint32_t thing, uint32_t to)
{
    uint32_t from = a->crowd.things[thing].rack, before = outside(a, thing);
    count_draw(a, thing, from, to);
    bool held = outside(a, thing) <= before;
    count_draw(a, thing, to, from);
    return held;
}

/* The rack of some other thing, the one of a thing that it has cables to, or any. */
static uint32_t draw_rack(struct anneal *a, uint32_t thing)
{
    struct crowd *crowd = &a->crowd;
    uint32_t first = crowd->first_peer[thing], peers = crowd->first_peer[thing + 1] - first;
    switch (myr_rng_u32(&a->rng) & 3) {
    case 0:
        return myr_rng_below(&a->rng, a->room->rack_count);
    case 1:
        if (peers) {
            return crowd->things[crowd->peers[first + myr_rng_below(&a->rng, peers)].thing].rack;
        }
        break;
    default:
        break;
    }
    return crowd->things[myr_rng_below(&a->rng, crowd->count)].rack;
}

/* About -log2 of a number between 0 and 1, in 256ths. */
static int64_t draw_patience(struct anneal *a)
{
    uint32_t bits = myr_rng_u32(&a->rng) | 1;
    int64_t zeros = __builtin_clz(bits);
    return zeros * 256 + 256 - ((int64_t)(bits << zeros) >> 23 & 255);
}

/* Power strips were counted for the racks in use: as many as are in use stay so. */
static bool keeps_racks(const struct anneal *a, uint32_t from, uint32_t to)
{
    bool begun = a->room->racks[to].left.units < a->room->rack.units;
    return begun && (a->crowd.rack_things[from] > 1 || a->out_count > 0);
}

static void draw(struct anneal *a)
{
    struct crowd *crowd = &a->crowd;
    uint32_t thing = myr_rng_below(&a->rng, crowd->movable), to = draw_rack(a, thing);
    uint32_t from = crowd->things[thing].rack;
    if (to == from || a->room->racks[to].hall != a->room->racks[from].hall ||
        !make_place(a, thing, to)) {
        return;
    }
    if (a->room->spec->managed && !keeps_racks(a, from, to)) {
        return;
    }
    int64_t cost = cost_of(a, thing, to);
    if (cost > 0 && cost * 256 > a->threshold * draw_patience(a)) {
        return;
    }
    if (blocks_hold(a, thing, to)) {
        do_draw(a, thing, to);
        a->now += cost;
    }
}

/* ---- all of it ---- */

static void keep_best(struct anneal *a)
{
    if (a->now < a->best) {
        a->best = a->now;
        for (uint32_t i = 0; i < a->crowd.movable; i++) {
            a->best_rack[i] = a->crowd.things[i].rack;
        }
    }
}

/* About what a switch's cables cost when it moves on by a rack: things come loose, but the order
 * of the room, which is good already, does not melt. */
static int64_t first_threshold(const struct anneal *a, uint64_t draws, uint32_t run, bool last)
{
    const struct crowd *crowd = &a->crowd;
    uint64_t cables = 0;
    for (uint32_t i = 0; i < crowd->first_peer[crowd->count]; i++) {
        cables += crowd->peers[i].cables;
    }
    double pitch = (a->room->spec->row_pitch_m + a->room->spec->column_pitch_m) * 500;
    bool enough = draws >= (uint64_t)crowd->movable * DRAWS_ENOUGH;
    int64_t looseness = run == 0 ? LOOSENESS : run % 2 ? LOOSE : LOOSER;
    int64_t step = (int64_t)((double)cables / (crowd->count + 1) * pitch);
    return last ? step / COLDER : step * (enough ? looseness : 1);
}

/* Everything back to where it stood in the beginning. */
static void begin_again(struct anneal *a, const uint32_t *racks)
{
    for (uint32_t i = 0; i < a->crowd.movable; i++) {
        crowd_leave(&a->crowd, i);
    }
    for (uint32_t i = 0; i < a->crowd.movable; i++) {
        crowd_enter(&a->crowd, i, racks[i]);
    }
    a->now = 0;
}

static void run_once(struct anneal *a, uint64_t draws, uint32_t run, bool last)
{
    myr_rng_init(&a->rng, SEED, run);
    a->threshold = first_threshold(a, draws, run, last);
    for (uint32_t level = 0; level < LEVELS; level++) {
        for (uint64_t i = 0; i < draws / LEVELS; i++) {
            draw(a);
        }
        a->threshold = a->threshold * 15 / 16;
        keep_best(a);
    }
}

void room_anneal(struct room *room)
{
    struct anneal a = {.room = room};
    if (!crowd_gather(&a.crowd, room)) {
        return;
    }
    uint64_t draws = (uint64_t)a.crowd.movable * DRAWS_EACH;
    uint32_t runs = (uint32_t)(DRAWS_ALL / (draws + 1));
    runs = runs < 1 ? 1 : runs < RUNS_MAX ? runs : RUNS_MAX;
    draws = draws < DRAWS_MAX ? draws : DRAWS_MAX;
    /* What is carried out costs a line of the table: large rooms get fewer draws. */
    draws = a.crowd.racks > RACKS_CHEAP ? draws * RACKS_CHEAP / a.crowd.racks : draws;
    uint32_t *start = MYR_ARENA_NEW(room->arena, uint32_t, a.crowd.count);
    a.best_rack = MYR_ARENA_NEW(room->arena, uint32_t, a.crowd.count);
    a.best = INT64_MAX;
    keep_best(&a);
    memcpy(start, a.best_rack, sizeof(*start) * a.crowd.movable);
    /* With few draws for a thing what came loose is not put in order again: one more run, cold. */
    for (uint32_t run = 0; run <= runs; run++) {
        if (run > 0) {
            begin_again(&a, start);
        }
        run_once(&a, draws, run, run == runs);
    }
    crowd_settle(&a.crowd, a.best_rack);
}
