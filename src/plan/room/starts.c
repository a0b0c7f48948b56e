#include "room/room.h"

/*
 * Everything but feeds and lengths: from several starts, of which the shortest counts in the end.
 * Which start the annealing does best from cannot be told from the starts: they differ by less
 * than it gains.
 */

enum {
    BEST = ROOM_STARTS, /* no start: the best placement so far */
    RUNS_LEAST = 2,
    DRAWS_ALL = 5000000, /* in all runs together, about */
};

struct placed { /* all that a placement has written */
    int64_t mm;
    uint32_t *server_rack, *device_rack;
    struct stand *racks;
    struct myr_rack_item *items;
    size_t item_count;
};

/* What is ordered in the end: of several legs the longest, with drops and slack. */
static int64_t cables_mm(const struct room *room)
{
    const struct myr_design *design = &room->plan->design;
    int64_t sum = 0;
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        int64_t longest = 0;
        for (uint32_t i = design->first_link[cable]; i < design->first_link[cable + 1]; i++) {
            int64_t route = room_route_mm(room, i);
            longest = route > longest ? route : longest;
        }
        sum += longest;
    }
    return sum;
}

/* Memory is taken once for each placement and used again, but for the items. */
static void keep(const struct room *room, struct placed *placed)
{
    uint32_t servers = room->plan->spec->servers, devices = room->plan->design.device_count;
    if (!placed->racks) {
        placed->racks = MYR_ARENA_NEW(room->arena, struct stand, room->rack_count);
        placed->server_rack = MYR_ARENA_NEW(room->arena, uint32_t, servers);
        placed->device_rack = MYR_ARENA_NEW(room->arena, uint32_t, devices);
    }
    /* As many as there are of each: the same things are put, start by start. */
    placed->item_count = room->items.count;
    placed->items = MYR_ARENA_NEW(room->arena, struct myr_rack_item, room->items.count + 1);
    memcpy(placed->racks, room->racks, sizeof(*placed->racks) * room->rack_count);
    memcpy(placed->server_rack, room->server_rack, sizeof(*placed->server_rack) * servers);
    memcpy(placed->device_rack, room->device_rack, sizeof(*placed->device_rack) * devices);
    if (room->items.count) {
        memcpy(placed->items, room->items.items, sizeof(*placed->items) * room->items.count);
    }
}

/* As keep() found it, items too. */
static void put_back(struct room *room, const struct placed *placed)
{
    uint32_t servers = room->plan->spec->servers, devices = room->plan->design.device_count;
    memcpy(room->racks, placed->racks, sizeof(*placed->racks) * room->rack_count);
    memcpy(room->server_rack, placed->server_rack, sizeof(*placed->server_rack) * servers);
    memcpy(room->device_rack, placed->device_rack, sizeof(*placed->device_rack) * devices);
    room->items.count = 0;
    for (size_t i = 0; i < placed->item_count; i++) {
        myr_vec_push(&room->items, placed->items[i]);
    }
}

/*
 * Places are dealt out as if every server were of the most demanding kind; what the others need
 * less is given back before anything else moves in.
 */
static void give_back(struct room *room)
{
    for (uint32_t i = 0; room->plan->group_count > 1 && i < room->plan->spec->servers; i++) {
        const struct load *own = &room->groups[room_group(room, i)];
        struct load less = {room->server.watts - own->watts, room->server.units - own->units,
                            room->server.grams - own->grams};
        room_give(&room->racks[room->server_rack[i]], &less);
    }
}

/* Servers and fabric from a start, then all the rest around them. */
static int place_from(struct room *room, uint32_t start, struct myr_err *err)
{
    /* Nothing stands yet: what an earlier start has placed must not be found. */
    for (uint32_t i = 0; i < room->plan->design.device_count; i++) {
        room->device_rack[i] = MYR_NONE;
    }
    room->items.count = 0;
    room->pairs = 0;
    MYR_TRY(room_place(room, start, err));
    give_back(room);
    return room_rest(room, err);
}

/*
 * Keeps what stands now where that is shorter than the best so far. How many links share a cable is
 * known once their lengths are: copper of two legs reaches a few metres. So cables are cut first.
 */
static void keep_shorter(struct room *room, struct placed *best)
{
    room_cut_cables(room);
    int64_t mm = cables_mm(room);
    if (mm < best->mm) {
        best->mm = mm;
        keep(room, best);
    }
}

/*
 * Where an annealing begins: at a start, or at the best placement so far. All count the cables as
 * they were cut without a room, so that layers which are short stay short enough for copper. Large
 * rooms have draws for the first few alone, so those come first that did best there.
 */
static const struct run {
    uint32_t start, sixteenths;
} runs[] = {{0, 1},  {0, 64}, {0, 2},  {1, 32},  {BEST, 1}, {0, 32},
            {1, 64}, {2, 32}, {0, 16}, {0, 128}, {1, 16},   {BEST, 1}};

/* False where not everything finds a place: where it did from the first start, it need not from
 * another. */
static bool begin(struct room *room, const struct run *run, struct placed *begins,
                  const struct placed *best)
{
    /* With fewer starts than the table names, these are used again. */
    uint32_t start = room->start_count ? run->start % room->start_count : 0;
    if (run->start == BEST) {
        put_back(room, best);
    } else if (begins[start].racks) {
        put_back(room, &begins[start]);
    } else if (start > 0 && place_from(room, start, NULL) < 0) {
        /* The first start stands already when the runs begin. */
        return false;
    } else {
        keep(room, &begins[start]);
    }
    return true;
}

struct starts {
    struct room *room;
    struct placed begins[ROOM_STARTS], best;
    struct cut cut; /* as cables are cut without a room */
    uint32_t runs;
    uint64_t draws;
};

/* One run; false where the room is too large for it. */
static bool anneal_once(struct starts *all, const struct run *run)
{
    struct room *room = all->room;
    /* The cut of the last placement would count other cables than the ones before. */
    if (all->runs > 0) {
        room_cut_as(room, &all->cut);
    }
    if (!begin(room, run, all->begins, &all->best)) {
        return true;
    }
    /* Each run has draws of its own. */
    plan_tell(room->plan, "filling racks");
    uint64_t made = room_anneal(room, &(struct annealing){all->runs, run->sixteenths});
    all->runs++;
    all->draws += made;
    if (made > 0) {
        keep_shorter(room, &all->best);
    }
    return made > 0;
}

/* Whether the pull has worked: only then is it worth going on from there. */
static bool best_is_short(struct starts *all, const struct short_layer *layer)
{
    uint32_t longest[MYR_NET_COUNT][MYR_LAYER_COUNT];
    put_back(all->room, &all->best);
    room_longest(all->room, longest);
    return longest[layer->net][layer->layer] <= layer->length_mm;
}

/*
 * A layer that is short enough for cables of several links is ordered in fewer of them, which is
 * worth more than most ways; but no single thing that moves gets there. So the layer is pulled
 * together, and what has come out is drawn once more around it. Two layers at once were tried: what
 * is short in both does not fit.
 */
static void pull_together(struct starts *all, const struct short_layer *layer)
{
    static const struct {
        struct run run;
        uint8_t times;
    } how[] = {{{0, 32}, 7}, {{0, 64}, 31}, {{0, 4}, 31}, {{BEST, 16}, 7}, {{BEST, 1}, 7}};
    uint8_t *pull = &all->room->pull[layer->net][layer->layer];
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(how); i++) {
        if (how[i].run.start != BEST || best_is_short(all, layer)) {
            *pull = how[i].times;
            (void)anneal_once(all, &how[i].run);
        }
    }
    *pull = 0;
}

/* Which layers might be short says short.c; each is tried by itself. */
static void anneal_pulled(struct starts *all)
{
    struct short_layer layers[ROOM_SHORT_MAX];
    put_back(all->room, &all->best);
    room_cut_as(all->room, &all->cut);
    uint32_t count = room_short_layers(all->room, layers);
    for (uint32_t i = 0; i < count; i++) {
        pull_together(all, &layers[i]);
    }
}

/* Returns with the best placement in the room and cables as before; cut.c cuts them in the end. */
static void anneal_starts(struct room *room)
{
    struct starts all = {.room = room, .best = {.mm = INT64_MAX}};
    room_keep_cut(room, &all.cut);
    /* Large rooms use up their draws early; two runs are made in any case. */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(runs) && (i < RUNS_LEAST || all.draws < DRAWS_ALL);
         i++) {
        if (!anneal_once(&all, &runs[i])) {
            return;
        }
    }
    anneal_pulled(&all);
    room_cut_as(room, &all.cut);
    put_back(room, &all.best);
}

/* Management ports were dealt out for the first placement; the last may have moved far from it. */
static void deal_again(struct room *room)
{
    uint32_t *dealt = room->plan->managed_place;
    if (!dealt) {
        return;
    }
    struct placed before = {.mm = cables_mm(room)};
    keep(room, &before);
    if (room_deal_again(room, NULL) < 0 || cables_mm(room) >= before.mm) {
        room->plan->managed_place = dealt;
        put_back(room, &before);
        room_wire_again(room);
    }
}

/* Aligned placements have one way, shortest ones begin at the best starts. */
int room_place_all(struct room *room, struct myr_err *err)
{
    bool shortest = room->spec->place == MYR_ROOM_SHORTEST;
    room->start_count = 0;
    if (shortest) {
        room_choose_starts(room);
    }
    MYR_TRY(place_from(room, 0, err));
    /* A rough plan only counts racks and strips: the length of cables does not matter to it. And
     * what stands in the middle of its rack stays there. */
    if (shortest && !room->plan->rough && !room->in_racks) {
        anneal_starts(room);
    }
    if (shortest) {
        deal_again(room);
    }
    return MYR_OK;
}
