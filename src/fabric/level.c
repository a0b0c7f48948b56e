#include "level.h"

/*
 * Making room. A new edge finds colour a free where it leaves and colour b free where it arrives,
 * but none free at both. Put it into a: the arriving node now holds one a too many. Turn another
 * of its a-edges into b; then the far end of that edge may hold one b too many: turn one of its
 * b-edges into a, and so on. No edge turns twice, and each visit to a node finds one that has not
 * turned yet as long as the node has as many uplinks of a as of b, so that the trail ends at a node
 * with room. Dead uplinks break that count: then the trail is undone and another pair is tried,
 * also after a first trail has given one of the ends another free colour.
 */

/*
 * Bounds of the work, in counts and not in time, so that the same flows get the same paths. Where
 * they end a search the flow shares an uplink, which costs less than looking on.
 */
enum { PAIR_TRIES = 256, STEPS_MAX = 100000, LOOSE_COST = 4, RELIEVE_TRIES = 16 };

void level_add_edge(struct level *level)
{
    struct level_edge edge = {.node = {LEVEL_NONE, LEVEL_NONE}, .group = LEVEL_NONE};
    myr_vec_push(&level->edges, edge);
}

void level_set_ends(struct level *level, uint32_t id, uint32_t from, uint32_t to, uint32_t weight)
{
    struct level_edge *edge = &level->edges.items[id];
    MYR_ASSERT(edge->node[LEVEL_OUT] == LEVEL_NONE && edge->group == LEVEL_NONE);
    MYR_ASSERT(from < level->nodes && to < level->nodes && id < level->edges.count);
    edge->node[LEVEL_OUT] = from;
    edge->node[LEVEL_IN] = to;
    edge->weight = weight;
    level->half[LEVEL_OUT].degree[from]++;
    level->half[LEVEL_IN].degree[to]++;
}

/* At least one: a node with few edges may use every uplink once. */
static uint32_t rounds(const struct level *level, enum level_side side, uint32_t node, bool loose)
{
    uint32_t degree = level->half[side].degree[node];
    uint32_t full = degree / level->base, some = full + (degree % level->base > 0);
    uint32_t wanted = loose ? some : full;
    return wanted ? wanted : 1;
}

/* Edges that a group of a node may hold; 0 where all of its uplinks are dead. */
static uint32_t capacity(const struct level *level, enum level_side side, uint32_t node,
                         uint32_t group, bool loose)
{
    return level->alive[level_spot(level, node, group)] * rounds(level, side, node, loose);
}

/* With a little more than full rounds the last flows are few, and chosen with care. */
uint32_t level_excess(const struct level *level, enum level_side side, uint32_t node)
{
    uint32_t degree = level->half[side].degree[node];
    bool few = degree % level->base <= level->base / 8;
    uint32_t held = level->alive_total[node] * rounds(level, side, node, !few);
    return degree > held ? degree - held : 0;
}

/* Asked by the capacity named, not by 'level->loose': callers compare the two. */
static uint32_t overflow(const struct level *level, enum level_side side, uint32_t node,
                         uint32_t group, bool loose)
{
    uint32_t count = level->half[side].count[level_spot(level, node, group)];
    uint32_t held = capacity(level, side, node, group, loose);
    return count > held ? count - held : 0;
}

uint32_t level_overflow(const struct level *level, enum level_side side, uint32_t node,
                        uint32_t group)
{
    return overflow(level, side, node, group, false);
}

static bool has_room(const struct level *level, enum level_side side, uint32_t node, uint32_t group)
{
    return level->half[side].count[level_spot(level, node, group)] <
           capacity(level, side, node, group, level->loose);
}

/* The uplink of a group that carries least; LEVEL_NONE when all are dead. */
static uint32_t lightest(const struct level *level, enum level_side side, uint32_t node,
                         uint32_t group)
{
    uint32_t best = LEVEL_NONE;
    const uint64_t *weight = &level->half[side].weight[(size_t)node * level->base];
    for (uint32_t k = level->group_start[group]; k < level->group_start[group + 1]; k++) {
        bool usable = !level->dead[(size_t)node * level->base + k];
        if (usable && (best == LEVEL_NONE || weight[k] < weight[best])) {
            best = k;
        }
    }
    return best;
}

/* Puts the edge at the head of its group's list on one side. 'edge->group' is set already. */
static void link_in(struct level *level, uint32_t id, enum level_side side, uint32_t uplink)
{
    struct level_edge *edge = &level->edges.items[id];
    struct level_half *half = &level->half[side];
    uint32_t node = edge->node[side];
    size_t place = level_spot(level, node, edge->group);
    MYR_ASSERT(uplink != LEVEL_NONE && !level->dead[(size_t)node * level->base + uplink]);
    edge->link[side] = uplink;
    edge->before[side] = LEVEL_NONE;
    edge->next[side] = half->first[place];
    if (edge->next[side] != LEVEL_NONE) {
        level->edges.items[edge->next[side]].before[side] = id;
    }
    half->first[place] = id;
    half->count[place]++;
    half->weight[(size_t)node * level->base + uplink] += edge->weight;
}

/* Does not look at 'dead': edges over an uplink that died are taken out this way. */
static void link_out(struct level *level, uint32_t id, enum level_side side)
{
    struct level_edge *edge = &level->edges.items[id];
    struct level_half *half = &level->half[side];
    uint32_t node = edge->node[side];
    size_t place = level_spot(level, node, edge->group);
    uint64_t *carried = &half->weight[(size_t)node * level->base + edge->link[side]];
    MYR_ASSERT(*carried >= edge->weight);
    if (edge->before[side] == LEVEL_NONE) {
        MYR_ASSERT(half->first[place] == id);
        half->first[place] = edge->next[side];
    } else {
        level->edges.items[edge->before[side]].next[side] = edge->next[side];
    }
    if (edge->next[side] != LEVEL_NONE) {
        level->edges.items[edge->next[side]].before[side] = edge->before[side];
    }
    MYR_ASSERT(half->count[place] > 0);
    half->count[place]--;
    *carried -= edge->weight;
}

void level_put(struct level *level, uint32_t id, uint32_t group)
{
    struct level_edge *edge = &level->edges.items[id];
    MYR_ASSERT(edge->group == LEVEL_NONE);
    MYR_ASSERT(edge->node[LEVEL_OUT] != LEVEL_NONE && group < level->groups);
    edge->group = group;
    for (uint32_t side = 0; side < 2; side++) {
        link_in(level, id, (enum level_side)side,
                lightest(level, (enum level_side)side, edge->node[side], group));
    }
}

void level_take(struct level *level, uint32_t id)
{
    struct level_edge *edge = &level->edges.items[id];
    if (edge->group == LEVEL_NONE) {
        return;
    }
    link_out(level, id, LEVEL_OUT);
    link_out(level, id, LEVEL_IN);
    edge->group = LEVEL_NONE;
}

/* Inside a group an edge changes to a lighter uplink where that lowers the heavier one. */
static void even_out(struct level *level, enum level_side side, uint32_t node, uint32_t group)
{
    const uint64_t *weight = &level->half[side].weight[(size_t)node * level->base];
    uint32_t width = level->group_start[group + 1] - level->group_start[group];
    for (uint32_t turn = 0; turn < width; turn++) {
        uint32_t light = lightest(level, side, node, group), moving = LEVEL_NONE;
        if (light == LEVEL_NONE) {
            return;
        }
        for (uint32_t id = level->half[side].first[level_spot(level, node, group)];
             id != LEVEL_NONE && moving == LEVEL_NONE; id = level->edges.items[id].next[side]) {
            const struct level_edge *edge = &level->edges.items[id];
            if (weight[edge->link[side]] > weight[light] + edge->weight) {
                moving = id;
            }
        }
        if (moving == LEVEL_NONE) {
            return;
        }
        link_out(level, moving, side);
        link_in(level, moving, side, light);
        myr_vec_push(&level->touched, moving);
    }
}

void level_clear_ends(struct level *level, uint32_t id)
{
    struct level_edge *edge = &level->edges.items[id];
    if (edge->node[LEVEL_OUT] == LEVEL_NONE) {
        return;
    }
    /* Taking the edge forgets its group, and the others of that group may now spread. */
    uint32_t group = edge->group;
    level_take(level, id);
    for (uint32_t side = 0; side < 2; side++) {
        MYR_ASSERT(level->half[side].degree[edge->node[side]] > 0);
        level->half[side].degree[edge->node[side]]--;
        if (group != LEVEL_NONE) {
            even_out(level, (enum level_side)side, edge->node[side], group);
        }
        edge->node[side] = LEVEL_NONE;
    }
}

/* --- trails */

void level_turn(struct level *level, uint32_t id, uint32_t group)
{
    struct level_edge *edge = &level->edges.items[id];
    struct level_flip was = {id, edge->group, {edge->link[LEVEL_OUT], edge->link[LEVEL_IN]}};
    MYR_ASSERT(edge->group != LEVEL_NONE && edge->group != group);
    myr_vec_push(&level->trail, was);
    level_take(level, id);
    level_put(level, id, group);
    edge->stamp = level->stamp;
}

/* Onto the very uplinks it had: after an undo everything is bit for bit as before. */
static void put_back(struct level *level, struct level_flip was)
{
    MYR_ASSERT(level->edges.items[was.edge].group == LEVEL_NONE);
    level->edges.items[was.edge].group = was.group;
    link_in(level, was.edge, LEVEL_OUT, was.link[LEVEL_OUT]);
    link_in(level, was.edge, LEVEL_IN, was.link[LEVEL_IN]);
}

/* Last first: each edge finds the lists and weights as they were when it turned. */
static void undo(struct level *level, size_t keep)
{
    MYR_ASSERT(keep <= level->trail.count);
    while (level->trail.count > keep) {
        struct level_flip was = level->trail.items[--level->trail.count];
        level_take(level, was.edge);
        put_back(level, was);
    }
}

/* An edge of a group that has not turned yet and can turn; one that ends the trail, if any. */
static uint32_t turnable(const struct level *level, enum level_side side, uint32_t node,
                         uint32_t group, uint32_t other)
{
    uint32_t found = LEVEL_NONE;
    enum level_side far = side == LEVEL_OUT ? LEVEL_IN : LEVEL_OUT;
    for (uint32_t id = level->half[side].first[level_spot(level, node, group)]; id != LEVEL_NONE;
         id = level->edges.items[id].next[side]) {
        const struct level_edge *edge = &level->edges.items[id];
        if (edge->stamp == level->stamp || !level_usable(level, edge, other)) {
            continue;
        }
        found = id;
        if (has_room(level, far, edge->node[far], other)) {
            break;
        }
    }
    return found;
}

/* The node holds one edge too many in 'full', and has room in 'other': passes it on until it ends.
 */
static bool pass_on(struct level *level, enum level_side side, uint32_t node, uint32_t full,
                    uint32_t other)
{
    for (uint32_t step = 0; step < STEPS_MAX; step++) {
        uint32_t id = turnable(level, side, node, full, other);
        if (id == LEVEL_NONE) {
            return false;
        }
        side = side == LEVEL_OUT ? LEVEL_IN : LEVEL_OUT;
        node = level->edges.items[id].node[side];
        bool room = has_room(level, side, node, other);
        level_turn(level, id, other);
        if (room) {
            return true;
        }
        uint32_t kept = full;
        full = other;
        other = kept;
    }
    return false;
}

/* Puts the edge into a group with room where it leaves; makes room where it arrives. */
static bool squeeze_in(struct level *level, uint32_t id, uint32_t a, uint32_t b)
{
    struct level_edge *edge = &level->edges.items[id];
    size_t keep = level->trail.count;
    if (!level_usable(level, edge, a)) {
        return false;
    }
    bool room = has_room(level, LEVEL_IN, edge->node[LEVEL_IN], a);
    level->stamp++;
    edge->stamp = level->stamp;
    level_put(level, id, a);
    if (room || pass_on(level, LEVEL_IN, edge->node[LEVEL_IN], a, b)) {
        return true;
    }
    undo(level, keep);
    level_take(level, id);
    MYR_ASSERT(edge->group == LEVEL_NONE && level->trail.count == keep);
    return false;
}

/* Gives the leaving node room in 'c' for the room it has in 'a'. */
static bool trade(struct level *level, uint32_t node, uint32_t a, uint32_t c)
{
    size_t keep = level->trail.count;
    level->stamp++;
    uint32_t id = turnable(level, LEVEL_OUT, node, c, a);
    if (id == LEVEL_NONE) {
        return false;
    }
    uint32_t far = level->edges.items[id].node[LEVEL_IN];
    bool room = has_room(level, LEVEL_IN, far, a);
    level_turn(level, id, a);
    if (room || pass_on(level, LEVEL_IN, far, a, c)) {
        return true;
    }
    undo(level, keep);
    return false;
}

/* The bias of groups that a flow cannot take is no price but a ban. */
static bool allowed(const uint32_t *bias, uint32_t group)
{
    return !bias || bias[group] != LEVEL_IMPOSSIBLE;
}

/* Any group with room where the edge arrives may be the second colour of the trail. */
static bool squeeze_anywhere(struct level *level, uint32_t id, uint32_t a, uint32_t *tries)
{
    uint32_t to = level->edges.items[id].node[LEVEL_IN];
    for (uint32_t b = 0; b < level->groups && *tries < PAIR_TRIES; b++) {
        if (b != a && has_room(level, LEVEL_IN, to, b)) {
            ++*tries;
            if (squeeze_in(level, id, a, b)) {
                return true;
            }
        }
    }
    return false;
}

/*
 * First by one trail, then by two: the leaving node trades its free group, and the new one is
 * tried.
 */
static bool make_room(struct level *level, uint32_t id, const uint32_t *bias)
{
    uint32_t from = level->edges.items[id].node[LEVEL_OUT], tries = 0;
    level->trail.count = 0;
    for (uint32_t a = 0; a < level->groups; a++) {
        if (allowed(bias, a) && has_room(level, LEVEL_OUT, from, a) &&
            squeeze_anywhere(level, id, a, &tries)) {
            return true;
        }
    }
    for (uint32_t a = 0; a < level->groups; a++) {
        if (!has_room(level, LEVEL_OUT, from, a)) {
            continue;
        }
        for (uint32_t c = 0; c < level->groups && tries < PAIR_TRIES; c++) {
            if (c == a || !allowed(bias, c) || !trade(level, from, a, c)) {
                continue;
            }
            if (squeeze_anywhere(level, id, c, &tries)) {
                return true;
            }
            undo(level, 0);
        }
    }
    return false;
}

/* --- placing */

/* What a group would cost; LOOSE_COST makes one more than any round allows worse than sharing. */
struct choice {
    uint32_t group, overflows, bias; /* the last two: the lower the better */
    uint64_t highest, load;          /* of the two ends: the fuller one, and both */
};

/*
 * The bias counts only among groups that overflow equally: no spine is so good that sharing
 * pays.
 */
static bool better(const struct choice *a, const struct choice *b)
{
    if (a->overflows != b->overflows) {
        return a->overflows < b->overflows;
    }
    if (a->overflows > 0 && a->highest != b->highest) {
        return a->highest < b->highest;
    }
    return a->bias != b->bias ? a->bias < b->bias : a->load < b->load;
}

static struct choice best_group(const struct level *level, uint32_t id, const uint32_t *bias)
{
    const struct level_edge *edge = &level->edges.items[id];
    struct choice best = {.group = LEVEL_NONE, .overflows = UINT32_MAX};
    for (uint32_t g = 0; g < level->groups; g++) {
        struct choice now = {.group = g, .bias = bias ? bias[g] : 0};
        bool usable = allowed(bias, g) && level_usable(level, edge, g);
        for (uint32_t side = 0; side < 2 && usable; side++) {
            uint32_t node = edge->node[side];
            uint64_t count = level->half[side].count[level_spot(level, node, g)];
            uint64_t tight = capacity(level, (enum level_side)side, node, g, false);
            uint64_t loose = capacity(level, (enum level_side)side, node, g, true);
            usable = tight > 0;
            now.overflows += (count >= tight) + (count >= loose ? LOOSE_COST : 0);
            uint64_t load = usable ? (count << 8) / tight : 0;
            now.load += load;
            now.highest = load > now.highest ? load : now.highest;
        }
        if (usable && better(&now, &best)) {
            best = now;
        }
    }
    return best;
}

/* Without room at all no trail can end well, and none is tried. */
static bool room_somewhere(const struct level *level, enum level_side side, uint32_t node)
{
    for (uint32_t g = 0; g < level->groups; g++) {
        if (has_room(level, side, node, g)) {
            return true;
        }
    }
    return false;
}

/* Ends a trail: edges that came before others left may lie two to an uplink. */
void level_settle(struct level *level)
{
    for (size_t i = 0; i < level->trail.count; i++) {
        struct level_flip was = level->trail.items[i];
        struct level_edge edge = level->edges.items[was.edge];
        for (uint32_t side = 0; side < 2; side++) {
            even_out(level, (enum level_side)side, edge.node[side], was.group);
            even_out(level, (enum level_side)side, edge.node[side], edge.group);
        }
        myr_vec_push(&level->touched, was.edge);
    }
    level->trail.count = 0;
}

/* Room at both ends, though not in one group: others may be moved. */
static bool place_by_moving(struct level *level, uint32_t id, const uint32_t *bias)
{
    const struct level_edge *edge = &level->edges.items[id];
    if (!room_somewhere(level, LEVEL_OUT, edge->node[LEVEL_OUT]) ||
        !room_somewhere(level, LEVEL_IN, edge->node[LEVEL_IN]) || !make_room(level, id, bias)) {
        return false;
    }
    level_settle(level);
    return true;
}

bool level_place(struct level *level, uint32_t id, const uint32_t *bias)
{
    MYR_ASSERT(level->edges.items[id].group == LEVEL_NONE && !level->loose);
    struct choice best = best_group(level, id, bias);
    if (best.group == LEVEL_NONE) {
        return false;
    }
    /* By full rounds first; only an edge above any round is worth a second search by all rounds. */
    bool placed = best.overflows > 0 && place_by_moving(level, id, bias);
    if (!placed && best.overflows >= LOOSE_COST) {
        level->loose = true;
        placed = place_by_moving(level, id, bias);
        level->loose = false;
    }
    if (!placed) {
        level_put(level, id, best.group);
    }
    MYR_ASSERT(level->edges.items[id].group != LEVEL_NONE && !level->loose);
    return true;
}

/* Moves one edge to where no end overflows, if need be after others made room. */
static bool move_away(struct level *level, uint32_t id, bool others_too)
{
    struct level_edge was = level->edges.items[id];
    MYR_ASSERT(was.group != LEVEL_NONE);
    level_take(level, id);
    struct choice best = best_group(level, id, NULL);
    /* Overflows of full rounds count one each and are borne when the loose capacity counts. */
    bool moved = best.overflows < (level->loose ? (uint32_t)LOOSE_COST : 1U);
    if (moved) {
        level_put(level, id, best.group);
    } else if (others_too) {
        moved = place_by_moving(level, id, NULL);
    }
    if (!moved) {
        put_back(level, (struct level_flip){id, was.group, {was.link[0], was.link[1]}});
        return false;
    }
    even_out(level, LEVEL_OUT, was.node[LEVEL_OUT], was.group);
    even_out(level, LEVEL_IN, was.node[LEVEL_IN], was.group);
    myr_vec_push(&level->touched, id);
    return true;
}

/* One edge less in a group that overflows: an easy one first. */
static bool relieve_once(struct level *level, enum level_side side, uint32_t node, uint32_t group)
{
    uint32_t tries[RELIEVE_TRIES], count = 0;
    for (uint32_t id = level->half[side].first[level_spot(level, node, group)];
         id != LEVEL_NONE && count < RELIEVE_TRIES; id = level->edges.items[id].next[side]) {
        tries[count++] = id;
    }
    for (uint32_t i = 0; i < 2 * count; i++) {
        if (move_away(level, tries[i % count], i >= count)) {
            return true;
        }
    }
    return false;
}

/* A trail may end where it began, with another edge: as many tries as there are edges too many. */
static void relieve_side(struct level *level, enum level_side side, uint32_t node)
{
    for (uint32_t g = 0; g < level->groups; g++) {
        uint32_t over = overflow(level, side, node, g, level->loose);
        for (uint32_t i = 0; i < over && room_somewhere(level, side, node); i++) {
            if (!relieve_once(level, side, node, g)) {
                break;
            }
        }
    }
}

/* First what is more than any round allows, then what more than full rounds do. */
void level_relieve(struct level *level, uint32_t node)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        level->loose = pass == 0;
        relieve_side(level, LEVEL_OUT, node);
        relieve_side(level, LEVEL_IN, node);
    }
}

/* Groups are few: no table is kept for it. */
static uint32_t group_of_uplink(const struct level *level, uint32_t uplink)
{
    uint32_t group = 0;
    while (level->group_start[group + 1] <= uplink) {
        group++;
    }
    return group;
}

void level_set_dead(struct level *level, uint32_t node, uint32_t uplink, bool dead)
{
    bool *mark = &level->dead[(size_t)node * level->base + uplink];
    uint32_t group = group_of_uplink(level, uplink);
    if (*mark == dead) {
        return;
    }
    uint32_t *alive = &level->alive[level_spot(level, node, group)];
    MYR_ASSERT(uplink < level->base && (!dead || *alive > 0));
    *mark = dead;
    *alive += dead ? UINT32_MAX : 1U; /* minus one, or plus one */
    level->alive_total[node] += dead ? UINT32_MAX : 1U;
    MYR_ASSERT(level->alive_total[node] <= level->base);
    /* Edges over a dead uplink stay until the caller moves them; it knows which flows they are. */
    if (!dead) {
        even_out(level, LEVEL_OUT, node, group);
        even_out(level, LEVEL_IN, node, group);
    }
}

void level_over(const struct level *level, uint32_t node, uint32_t uplink, struct level_list *ret)
{
    uint32_t group = group_of_uplink(level, uplink);
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t id = level->half[side].first[level_spot(level, node, group)];
             id != LEVEL_NONE; id = level->edges.items[id].next[side]) {
            if (level->edges.items[id].link[side] == uplink) {
                myr_vec_push(&ret->items, id);
            }
        }
    }
}
