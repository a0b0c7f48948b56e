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
    MOVED_MAX = 12,      /* things that go together, or make place for others */
    WAYS_TO_MOVE = 8,    /* one is all of a rack for all of another, one is what is tied together */
    DRAWS_ENOUGH = 2000, /* for every thing, to order a loose beginning again */
    SEED = 16,
};

struct anneal {
    struct room *room;
    struct crowd crowd;
    struct myr_rng rng;
    int64_t threshold, now, best; /* mm; 'now' and 'best' count from the beginning */
    uint32_t *best_rack;
    uint32_t in[MOVED_MAX], in_count;   /* what moves in the draw in hand */
    uint32_t out[MOVED_MAX], out_count; /* what makes place for it */
};

/* ---- one draw ---- */

/* Whether a rack with so much left takes 'comes' once 'gone' has left it. */
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
 * Who has to leave 'to' so that those in hand can stand there, and go where they come from: as few
 * as possible from a random one on. False when that is not possible.
 */
static bool make_place(struct anneal *a, uint32_t to)
{
    struct crowd *crowd = &a->crowd;
    uint32_t from = crowd->things[a->in[0]].rack;
    const struct load *there = &a->room->racks[to].left, *here = &a->room->racks[from].left;
    struct load comes = {}, gone = {};
    for (uint32_t i = 0; i < a->in_count; i++) {
        add_load(&comes, &crowd->things[a->in[i]].need);
    }
    /* A free place is taken first: nobody has to leave for it. */
    a->out_count = 0;
    if (fits_after(there, &gone, &comes)) {
        return true;
    }
    /* From a random one on, so that it is not always the last that came who has to go. */
    uint32_t count = crowd->rack_things[to], skip = count ? myr_rng_below(&a->rng, count) : 0;
    uint32_t at = crowd->first_in[to];
    while (skip-- > 0) {
        at = crowd->next_in[at];
    }
    for (uint32_t i = 0; i < count && a->out_count < MOVED_MAX; i++) {
        a->out[a->out_count++] = at;
        add_load(&gone, &crowd->things[at].need);
        if (fits_after(there, &gone, &comes)) {
            return fits_after(here, &comes, &gone);
        }
        at = crowd->next_in[at] == CROWD_END ? crowd->first_in[to] : crowd->next_in[at];
    }
    return false;
}

/* All that moves within a rack; false where that is too much. */
static bool take_all(const struct crowd *crowd, uint32_t rack, uint32_t *things, uint32_t *count,
                     struct load *sum)
{
    *count = 0;
    for (uint32_t at = crowd->first_in[rack]; at != CROWD_END; at = crowd->next_in[at]) {
        if (*count == MOVED_MAX) {
            return false;
        }
        things[(*count)++] = at;
        add_load(sum, &crowd->things[at].need);
    }
    return true;
}

/* All of one rack for all of the other: what is tied together by many cables cannot move one by
 * one. Racks that carry less than others are the reason for asking their limits. */
static bool exchange_racks(struct anneal *a, uint32_t from, uint32_t to)
{
    struct load comes = {}, gone = {};
    return take_all(&a->crowd, from, a->in, &a->in_count, &comes) &&
           take_all(&a->crowd, to, a->out, &a->out_count, &gone) &&
           fits_after(&a->room->racks[to].left, &gone, &comes) &&
           fits_after(&a->room->racks[from].left, &comes, &gone);
}

/* The thing, and switches beside it that it has cables to: all of them, or any. */
static void take_tied(struct anneal *a, uint32_t thing)
{
    const struct crowd *crowd = &a->crowd;
    /* Half of the draws take all of them, the others each by the toss of a coin. */
    uint32_t coins = myr_rng_u32(&a->rng);
    coins = coins & 1 ? UINT32_MAX : coins;
    uint32_t servers = a->room->plan->spec->servers;
    for (uint32_t at = crowd->first_in[crowd->things[thing].rack];
         at != CROWD_END && a->in_count < MOVED_MAX; at = crowd->next_in[at]) {
        /* Servers come first in the crowd: all behind them are switches and other boxes. */
        if (at >= servers && at != thing && crowd_cables(crowd, thing, at) > 0) {
            coins >>= 1;
            if (coins & 1) {
                a->in[a->in_count++] = at;
            }
        }
    }
}

static bool moves_too(const struct anneal *a, uint32_t thing)
{
    for (uint32_t i = 0; i < a->in_count; i++) {
        if (a->in[i] == thing) {
            return true;
        }
    }
    for (uint32_t i = 0; i < a->out_count; i++) {
        if (a->out[i] == thing) {
            return true;
        }
    }
    return false;
}

/* What a thing gains or loses by its mate; two that move both stay as far apart. */
static int64_t mate_cost(const struct anneal *a, uint32_t thing, uint32_t from, uint32_t to)
{
    const struct crowd *crowd = &a->crowd;
    uint32_t mate = crowd->things[thing].mate;
    if (mate == CROWD_END || moves_too(a, mate)) {
        return 0;
    }
    uint32_t rack = crowd->things[mate].rack;
    return (crowd_way(crowd, rack, to) - crowd_way(crowd, rack, from)) *
           (int64_t)crowd->things[thing].shared;
}

/* What things add by themselves that go from a rack to another; those that move together and have
 * cables to each other were counted as if each left the others behind. */
static int64_t cost_of_set(const struct anneal *a, const uint32_t *things, uint32_t count,
                           uint32_t from, uint32_t to)
{
    const struct crowd *crowd = &a->crowd;
    int64_t cost = 0, between = 0;
    for (uint32_t i = 0; i < count; i++) {
        cost += crowd_cost(crowd, things[i], to) - crowd_cost(crowd, things[i], from) +
                mate_cost(a, things[i], from, to);
        for (uint32_t k = 0; k < i; k++) {
            between += crowd_cables(crowd, things[i], things[k]);
        }
    }
    return cost - 2 * crowd_way(crowd, from, to) * between;
}

/* What the draw adds to the ways; cables between those that change places stay as they are. */
static int64_t cost_of(const struct anneal *a, uint32_t from, uint32_t to)
{
    int64_t between = 0;
    for (uint32_t i = 0; i < a->in_count; i++) {
        for (uint32_t k = 0; k < a->out_count; k++) {
            between += crowd_cables(&a->crowd, a->in[i], a->out[k]);
        }
    }
    return cost_of_set(a, a->in, a->in_count, from, to) +
           cost_of_set(a, a->out, a->out_count, to, from) +
           2 * crowd_way(&a->crowd, from, to) * between;
}

/* All leave before any enters: no rack carries both on the way. */
static void do_draw(struct anneal *a, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < a->out_count; i++) {
        crowd_leave(&a->crowd, a->out[i]);
    }
    for (uint32_t i = 0; i < a->in_count; i++) {
        crowd_leave(&a->crowd, a->in[i]);
    }
    for (uint32_t i = 0; i < a->in_count; i++) {
        crowd_enter(&a->crowd, a->in[i], to);
    }
    for (uint32_t i = 0; i < a->out_count; i++) {
        crowd_enter(&a->crowd, a->out[i], from);
    }
}

/* Counts the draw, or takes it back. */
static void count_draw(struct anneal *a, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < a->in_count; i++) {
        crowd_count(&a->crowd, a->in[i], from, to);
    }
    for (uint32_t i = 0; i < a->out_count; i++) {
        crowd_count(&a->crowd, a->out[i], to, from);
    }
}

/* Things of one block are counted more than once: only before and after are compared. */
static uint32_t outside(const struct anneal *a)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < a->in_count; i++) {
        sum += crowd_outside(&a->crowd, a->in[i]);
    }
    for (uint32_t i = 0; i < a->out_count; i++) {
        sum += crowd_outside(&a->crowd, a->out[i]);
    }
    return sum;
}

/* Whether the leaves would still stand with their blocks, or no farther off than before. */
static bool blocks_hold(struct anneal *a, uint32_t from, uint32_t to)
{
    uint32_t before = outside(a);
    count_draw(a, from, to);
    bool held = outside(a) <= before;
    count_draw(a, to, from);
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
    /* Never zero: the logarithm has to end. */
    uint32_t bits = myr_rng_u32(&a->rng) | 1;
    int64_t zeros = __builtin_clz(bits);
    return zeros * 256 + 256 - ((int64_t)(bits << zeros) >> 23 & 255);
}

/* Power strips were counted for the racks in use: as many as are in use stay so. */
static bool keeps_racks(const struct anneal *a, uint32_t from, uint32_t to)
{
    /* Into a rack that is in use already, and out of one in which something stays or comes. */
    bool begun = a->room->racks[to].left.units < a->room->rack.units;
    return begun && (a->crowd.rack_things[from] > a->in_count || a->out_count > 0);
}

/* Who moves in the draw, and who makes place for it; false where nothing can come of it. */
static bool choose(struct anneal *a, uint32_t thing, uint32_t to)
{
    uint32_t from = a->crowd.things[thing].rack;
    /* Halls keep what they have: which pod stands where was decided before. */
    if (to == from || a->room->racks[to].hall != a->room->racks[from].hall) {
        return false;
    }
    uint32_t how = myr_rng_below(&a->rng, WAYS_TO_MOVE);
    if (how == 0) {
        return exchange_racks(a, from, to);
    }
    a->in[0] = thing;
    a->in_count = 1;
    if (how == 1 && thing >= a->room->plan->spec->servers) {
        take_tied(a, thing);
    }
    return make_place(a, to) &&
           /* Two that are alike would change nothing. */
           (a->in_count > 1 || a->out_count != 1 || !crowd_alike(&a->crowd, thing, a->out[0]));
}

/* One draw of the annealing. Longer ways are accepted with a chance that falls with their cost over
 * the threshold (Metropolis), decided in whole numbers. */
static void draw(struct anneal *a)
{
    struct crowd *crowd = &a->crowd;
    uint32_t thing = myr_rng_below(&a->rng, crowd->movable), to = draw_rack(a, thing);
    uint32_t from = crowd->things[thing].rack;
    if (!choose(a, thing, to) || (a->room->spec->managed && !keeps_racks(a, from, to))) {
        return;
    }
    int64_t cost = cost_of(a, from, to);
    if (cost > 0 && cost * 256 > a->threshold * draw_patience(a)) {
        return;
    }
    if (blocks_hold(a, from, to)) {
        do_draw(a, from, to);
        a->now += cost;
    }
}

/* ---- all of it ---- */

/* Kept at the end of each level; what the draws end with may be worse. */
static void keep_best(struct anneal *a)
{
    if (a->now < a->best) {
        a->best = a->now;
        for (uint32_t i = 0; i < a->crowd.movable; i++) {
            a->best_rack[i] = a->crowd.things[i].rack;
        }
    }
}

/* About what a switch's cables cost when it moves on by a rack: with a looseness of one things come
 * loose, but the order of the room, which is good already, does not melt. */
static int64_t first_threshold(const struct anneal *a, uint32_t sixteenths)
{
    const struct crowd *crowd = &a->crowd;
    uint64_t cables = 0;
    for (uint32_t i = 0; i < crowd->first_peer[crowd->count]; i++) {
        cables += crowd->peers[i].cables;
    }
    /* The mean of both pitches, in mm. */
    double pitch = (a->room->spec->row_pitch_m + a->room->spec->column_pitch_m) * 500;
    int64_t step = (int64_t)((double)cables / (crowd->count + 1) * pitch);
    return step * sixteenths / 16;
}

/* Every cable once, with what mates share: what the draws keep count of, counted anew. */
static int64_t all_ways(const struct crowd *crowd)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < crowd->count; i++) {
        const struct thing *one = &crowd->things[i];
        for (uint32_t k = crowd->first_peer[i]; k < crowd->first_peer[i + 1]; k++) {
            const struct peer *peer = &crowd->peers[k];
            if (peer->thing > i) {
                sum += crowd_way(crowd, one->rack, crowd->things[peer->thing].rack) *
                       (int64_t)peer->cables;
            }
        }
        if (one->mate != CROWD_END && one->mate > i) {
            sum +=
                crowd_way(crowd, one->rack, crowd->things[one->mate].rack) * (int64_t)one->shared;
        }
    }
    return sum;
}

/* Draws at falling thresholds, the best placement of all kept. The room holds it in the end. */
uint64_t room_anneal(struct room *room, const struct annealing *how)
{
    struct anneal a = {.room = room};
    if (!crowd_gather(&a.crowd, room)) {
        return 0;
    }
    /* So many for each thing, but no more than so many in all. */
    uint64_t draws = (uint64_t)a.crowd.movable * DRAWS_EACH;
    draws = draws < DRAWS_MAX ? draws : DRAWS_MAX;
    /* What is carried out costs a line of the table: large rooms get fewer draws. */
    draws = a.crowd.racks > RACKS_CHEAP ? draws * RACKS_CHEAP / a.crowd.racks : draws;
    bool enough = draws >= (uint64_t)a.crowd.movable * DRAWS_ENOUGH;
    a.best_rack = MYR_ARENA_NEW(room->arena, uint32_t, a.crowd.count);
    /* The beginning is the first best: the end is never worse than that. */
    a.best = INT64_MAX;
    keep_best(&a);
    int64_t first = all_ways(&a.crowd);
    myr_rng_init(&a.rng, SEED, how->number);
    /* With few draws for a thing what came loose is not put in order again. */
    a.threshold = first_threshold(&a, enough || how->sixteenths < 16 ? how->sixteenths : 16);
    for (uint32_t level = 0; level < LEVELS; level++) {
        for (uint64_t i = 0; i < draws / LEVELS; i++) {
            draw(&a);
        }
        a.threshold = a.threshold * 15 / 16;
        keep_best(&a);
    }
    /* Every draw has kept count of what it changed: the sum must be what is there. */
    MYR_ASSERT(first + a.now == all_ways(&a.crowd) && a.best <= 0);
    crowd_settle(&a.crowd, a.best_rack);
    return draws;
}
