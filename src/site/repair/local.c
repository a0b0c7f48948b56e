#include "repair/equivalent.h"

/*
 * Large components. Exchanging the slots of two ends of one class is always allowed, and joins two
 * trails or divides one. Three things are done with it:
 *
 *   - a trail that comes to one class twice by found cables is divided there;
 *   - a path between empty ports and one between surplus ends that meet exchange their tails;
 *   - two found cables that two planned ones close are made a trail of their own, if that costs no
 *     more than it brings.
 */

/* Work is counted in steps of trails, not in time: the same input gives the same answer. */
enum { WORK_MAX = 60000000, NOBODY = UINT32_MAX, RED_TOUCHED_MAX = 12 };

/* Ends of edges, by class. */
struct ends {
    uint32_t *first; /* class_count + 1 */
    uint32_t *items; /* ends, from first[class] on */
};

struct local {
    const struct eq_part *part;
    struct ends red_ends, blue_ends;
    uint32_t *slots; /* by blue end: red end, or EQ_EMPTY */
    uint32_t *users; /* by red end: blue end, or NOBODY (surplus) */
    uint32_t *seen;  /* by class: red end by which the trail at hand left it, + 1 */
    uint32_t *stamp; /* by red edge: the count that last met it */
    uint32_t stamps; /* counts so far */
    uint64_t work;   /* steps of trails so far */
};

/*
 * Starts are counted two places ahead and filled one place ahead, so that they end up where they
 * belong.
 */
static void ends_init(struct ends *ends, struct myr_arena *arena, const struct eq_edge *edges,
                      uint32_t edge_count, uint32_t class_count)
{
    ends->first = MYR_ARENA_NEW(arena, uint32_t, (size_t)class_count + 2);
    ends->items = MYR_ARENA_NEW(arena, uint32_t, 2 * (size_t)edge_count);
    for (uint32_t end = 0; end < 2 * edge_count; end++) {
        ends->first[eq_class(edges, end) + 2]++;
    }
    for (uint32_t c = 0; c < class_count; c++) {
        ends->first[c + 2] += ends->first[c + 1];
    }
    for (uint32_t end = 0; end < 2 * edge_count; end++) {
        ends->items[ends->first[eq_class(edges, end) + 1]++] = end;
    }
}

static void set_slot(struct local *l, uint32_t blue_end, uint32_t slot)
{
    MYR_ASSERT(blue_end < 2 * l->part->blue_count);
    MYR_ASSERT(slot == EQ_EMPTY || slot < 2 * l->part->red_count);
    l->slots[blue_end] = slot;
    if (slot != EQ_EMPTY) {
        l->users[slot] = blue_end;
    }
}

/* Gives the blue end that slot; who had it gets what the blue end had. */
static void give_slot(struct local *l, uint32_t blue_end, uint32_t red_end)
{
    uint32_t had = l->slots[blue_end], other = l->users[red_end];
    if (had == red_end) {
        return;
    }
    set_slot(l, blue_end, red_end);
    if (other != NOBODY) {
        set_slot(l, other, had);
    } else if (had != EQ_EMPTY) {
        l->users[had] = NOBODY;
    }
    MYR_ASSERT(l->slots[blue_end] == red_end && l->users[red_end] == blue_end);
}

/* The red end by which the next found cable is left, or how the trail ends. */
enum next_kind { NEXT_RED, NEXT_EMPTY, NEXT_SURPLUS };

/* From a found cable's end over the planned cable there to the next found one. */
static enum next_kind next_of(const struct local *l, uint32_t red_end, uint32_t *ret)
{
    uint32_t blue_end = l->users[red_end];
    if (blue_end == NOBODY) {
        return NEXT_SURPLUS;
    }
    uint32_t slot = l->slots[blue_end ^ 1];
    if (slot == EQ_EMPTY) {
        return NEXT_EMPTY;
    }
    *ret = slot ^ 1;
    return NEXT_RED;
}

/* How the trail ends that leaves this red end; NEXT_RED when it comes back. Stamps its edges. */
static enum next_kind trace(struct local *l, uint32_t red_end)
{
    uint32_t at = red_end;
    for (;;) {
        l->stamp[at / 2] = l->stamps;
        l->work++;
        enum next_kind kind = next_of(l, at, &at);
        if (kind != NEXT_RED || at == red_end) {
            return kind;
        }
    }
}

/* What the trail through a red edge gains. */
static int32_t trail_gain(struct local *l, uint32_t red)
{
    enum next_kind far = trace(l, 2 * red + 1);
    if (far == NEXT_RED) {
        return 1;
    }
    enum next_kind near = trace(l, 2 * red);
    return far == NEXT_EMPTY && near == NEXT_EMPTY ? -1 : 0;
}

/*
 * Trails through found cables, each once; then planned cables between two empty ports, which no
 * trail passes.
 */
static int32_t total_gain(struct local *l)
{
    int32_t gain = 0;
    /* A new stamp forgets all edges at once. */
    l->stamps++;
    for (uint32_t red = 0; red < l->part->red_count; red++) {
        gain += l->stamp[red] == l->stamps ? 0 : trail_gain(l, red);
    }
    for (uint32_t blue = 0; blue < l->part->blue_count; blue++) {
        gain -= l->slots[2 * blue] == EQ_EMPTY && l->slots[2 * blue + 1] == EQ_EMPTY;
    }
    return gain;
}

/* An empty port is of no use where a found cable of the class has nowhere to go. */
static void use_surplus(struct local *l)
{
    for (uint32_t c = 0; c < l->part->class_count; c++) {
        /* Both lists of a class are walked side by side. */
        uint32_t blue = l->blue_ends.first[c];
        for (uint32_t i = l->red_ends.first[c]; i < l->red_ends.first[c + 1]; i++) {
            uint32_t red_end = l->red_ends.items[i];
            while (blue < l->blue_ends.first[c + 1] &&
                   l->slots[l->blue_ends.items[blue]] != EQ_EMPTY) {
                blue++;
            }
            if (blue == l->blue_ends.first[c + 1]) {
                break;
            }
            if (l->users[red_end] == NOBODY) {
                set_slot(l, l->blue_ends.items[blue], red_end);
            }
        }
    }
}

/* Follows a trail from a red end and divides it wherever it comes to a class again. */
static void divide_trail(struct local *l, uint32_t start)
{
    uint32_t at = start;
    enum next_kind kind = NEXT_RED;
    do {
        uint32_t class = eq_class(l->part->red, at);
        l->stamp[at / 2] = l->stamps;
        if (l->seen[class]) {
            /* What lies between becomes a trail of its own; the walk is back where it was. */
            uint32_t before = l->seen[class] - 1;
            for (uint32_t inner = before; inner != at;) {
                enum next_kind step = next_of(l, inner, &inner);
                MYR_ASSERT(step == NEXT_RED);
                l->seen[eq_class(l->part->red, inner)] = 0;
                l->work++;
            }
            give_slot(l, l->users[before], at);
            at = before;
        }
        MYR_ASSERT(eq_class(l->part->red, at) == class);
        l->seen[class] = at + 1;
        l->work++;
        kind = next_of(l, at, &at);
    } while (kind == NEXT_RED && at != start);
}

/* Only what the walk has marked: clearing all classes would cost too much on large parts. */
static void forget_trail(struct local *l, uint32_t start)
{
    uint32_t at = start;
    enum next_kind kind = NEXT_RED;
    do {
        l->seen[eq_class(l->part->red, at)] = 0;
        kind = next_of(l, at, &at);
    } while (kind == NEXT_RED && at != start);
    l->seen[eq_class(l->part->red, at)] = 0;
}

/* The red end from which the whole trail can be followed: of a path, one of its ends. */
static uint32_t trail_start(const struct local *l, uint32_t red)
{
    uint32_t at = 2 * red, last;
    enum next_kind kind;
    do {
        last = at;
        kind = next_of(l, at, &at);
    } while (kind == NEXT_RED && at != 2 * red);
    return kind == NEXT_RED ? 2 * red + 1 : last ^ 1;
}

/* Division only makes new closed trails, so that no gain is lost. */
static void divide_all(struct local *l)
{
    l->stamps++;
    for (uint32_t red = 0; red < l->part->red_count; red++) {
        if (l->stamp[red] != l->stamps) {
            uint32_t start = trail_start(l, red);
            divide_trail(l, start);
            forget_trail(l, start);
            l->stamp[red] = l->stamps;
        }
    }
}

/* A blue end of the class from which the trail leads to a surplus end on both sides. */
static uint32_t find_tail(struct local *l, uint32_t class)
{
    for (uint32_t i = l->blue_ends.first[class]; i < l->blue_ends.first[class + 1]; i++) {
        uint32_t slot = l->slots[l->blue_ends.items[i]];
        if (slot != EQ_EMPTY && trace(l, slot) == NEXT_SURPLUS &&
            trace(l, slot ^ 1) == NEXT_SURPLUS) {
            return l->blue_ends.items[i];
        }
    }
    return NOBODY;
}

/* Paths between empty ports and between surplus ends: one new cable less for each pair. */
static void exchange_tails(struct local *l)
{
    for (uint32_t blue_end = 0; blue_end < 2 * l->part->blue_count; blue_end++) {
        if (l->work > WORK_MAX) {
            return;
        }
        /* From an empty port on to its other end. */
        if (l->slots[blue_end] != EQ_EMPTY) {
            continue;
        }
        /* The path's other end must be an empty port too. */
        uint32_t slot = l->slots[blue_end ^ 1];
        if (slot != EQ_EMPTY && trace(l, slot ^ 1) != NEXT_EMPTY) {
            continue;
        }
        uint32_t tail = find_tail(l, eq_class(l->part->blue, blue_end));
        if (tail != NOBODY) {
            give_slot(l, blue_end, l->slots[tail]);
        }
    }
}

/* A blue edge between two classes: its end in 'from'. Those on short trails are looked at too. */
static uint32_t blue_between(struct local *l, uint32_t from, uint32_t to)
{
    const struct ends *ends = &l->blue_ends;
    /* From the class with fewer ends. */
    bool flip = ends->first[to + 1] - ends->first[to] < ends->first[from + 1] - ends->first[from];
    uint32_t near = flip ? to : from, far = flip ? from : to;
    for (uint32_t i = ends->first[near]; i < ends->first[near + 1]; i++) {
        l->work++;
        if (eq_class(l->part->blue, ends->items[i] ^ 1) == far) {
            return flip ? ends->items[i] ^ 1 : ends->items[i];
        }
    }
    return NOBODY;
}

/* Two red edges that two blue ones close: red_a -blue_ab- red_b -blue_ba- red_a. */
struct square {
    uint32_t red_a, red_b;     /* ends by which they are left */
    uint32_t blue_ab, blue_ba; /* ends by which they are left */
};

/* Squares through the edge that is left at 'end', from the given place on; the place behind it. */
static uint32_t find_square(struct local *l, uint32_t end, uint32_t from, struct square *ret)
{
    const struct eq_part *part = l->part;
    uint32_t near = eq_class(part->red, end), far = eq_class(part->red, end ^ 1), place = 0;
    for (uint32_t i = l->blue_ends.first[near]; i < l->blue_ends.first[near + 1]; i++) {
        uint32_t blue = l->blue_ends.items[i];
        uint32_t across = eq_class(part->blue, blue ^ 1);
        for (uint32_t j = l->red_ends.first[across]; j < l->red_ends.first[across + 1]; j++) {
            uint32_t red = l->red_ends.items[j];
            /* Places are counted the same way every time, so that a search can go on. */
            if (place++ < from || red / 2 == end / 2) {
                continue;
            }
            uint32_t closing = blue_between(l, eq_class(part->red, red ^ 1), far);
            if (closing != NOBODY && closing / 2 != blue / 2) {
                *ret = (struct square){end, red ^ 1, blue, closing};
                return place;
            }
        }
    }
    return NOBODY;
}

/* Red edges whose trails change when a blue end gets another slot. */
static void touch(const struct local *l, uint32_t blue_end, uint32_t red_end, uint32_t *reds,
                  uint32_t *count)
{
    const uint32_t ends[] = {l->slots[blue_end], red_end,
                             l->users[red_end] == NOBODY ? EQ_EMPTY
                                                         : l->slots[l->users[red_end] ^ 1]};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(ends); i++) {
        if (ends[i] != EQ_EMPTY) {
            MYR_ASSERT(*count < RED_TOUCHED_MAX);
            reds[(*count)++] = ends[i] / 2;
        }
    }
}

/* What the trails through these edges gain together; edges without a trail are none. */
static int32_t gain_of(struct local *l, const uint32_t *reds, uint32_t count)
{
    int32_t gain = 0;
    l->stamps++;
    for (uint32_t i = 0; i < count; i++) {
        gain += l->stamp[reds[i]] == l->stamps ? 0 : trail_gain(l, reds[i]);
    }
    return gain;
}

/* Makes the square a trail of its own; undone when that is worse. True when it is better. */
static bool try_square(struct local *l, const struct square *square)
{
    const uint32_t blues[] = {square->blue_ab, square->blue_ab ^ 1, square->blue_ba,
                              square->blue_ba ^ 1};
    const uint32_t wanted[] = {square->red_a, square->red_b ^ 1, square->red_b, square->red_a ^ 1};
    uint32_t reds[RED_TOUCHED_MAX], red_count = 0, had[4];
    for (uint32_t i = 0; i < 4; i++) {
        touch(l, blues[i], wanted[i], reds, &red_count);
        if (l->users[wanted[i]] == NOBODY || l->slots[blues[i]] == EQ_EMPTY) {
            return false; /* paths are left as they are */
        }
    }
    int32_t before = gain_of(l, reds, red_count);
    for (uint32_t i = 0; i < 4; i++) {
        had[i] = l->slots[blues[i]];
        give_slot(l, blues[i], wanted[i]);
    }
    int32_t after = gain_of(l, reds, red_count);
    /* Equal is not enough: then what is there stays. */
    if (after > before) {
        return true;
    }
    for (uint32_t i = 4; i-- > 0;) {
        give_slot(l, blues[i], had[i]);
    }
    return false;
}

/* Found cables from one end of this one on, up to where it ends or closes. */
static uint32_t trail_length(const struct local *l, uint32_t red)
{
    uint32_t at = 2 * red + 1, length = 0;
    do {
        length++;
    } while (next_of(l, at, &at) == NEXT_RED && at != 2 * red + 1);
    return length;
}

/* Only from trails that are longer than a square. */
static void make_squares(struct local *l)
{
    enum { TRIES = 8, SHORTEST = 2 };
    for (uint32_t red = 0; red < l->part->red_count; red++) {
        uint32_t from = 0;
        for (uint32_t i = 0; i < TRIES; i++) {
            struct square square;
            if (l->work > WORK_MAX) {
                return;
            }
            /* Already as short as a square is. */
            if (trail_length(l, red) <= SHORTEST) {
                break;
            }
            /* Goes on behind the last one that was tried. */
            from = find_square(l, 2 * red + 1, from, &square);
            if (from == NOBODY || try_square(l, &square)) {
                break;
            }
        }
    }
}

/*
 * A closed trail has two found cables at least, and three where none of its cables lies on a trail
 * of two; a path to a surplus end has one that is on no closed trail.
 */
static int32_t bound(struct local *l)
{
    uint32_t in_squares = 0, empty = 0, surplus = 0;
    struct square square;
    /* When the work is used up, every cable left counts as on a square: the bound stays true. */
    uint64_t limit = l->work + WORK_MAX;
    for (uint32_t i = 0; i < l->part->red_count; i++) {
        in_squares += l->work > limit || find_square(l, 2 * i + 1, 0, &square) != NOBODY;
        surplus += (l->users[2 * i] == NOBODY) + (l->users[2 * i + 1] == NOBODY);
    }
    for (uint32_t end = 0; end < 2 * l->part->blue_count; end++) {
        empty += l->slots[end] == EQ_EMPTY;
    }
    uint32_t red = l->part->red_count - (surplus + 1) / 2;
    /* As many trails of two as squares allow, the rest of three. */
    uint32_t pairs = (in_squares < red ? in_squares : red) / 2;
    uint32_t closed = pairs + (red - 2 * pairs) / 3;
    uint32_t between_empty = empty > surplus ? (empty - surplus + 1) / 2 : 0;
    return (int32_t)closed - (int32_t)between_empty;
}

/* A copy of the slots: the part's own stay as they are. */
static void local_init(struct local *l, const struct eq_part *part, struct myr_arena *arena)
{
    l->part = part;
    ends_init(&l->red_ends, arena, part->red, part->red_count, part->class_count);
    ends_init(&l->blue_ends, arena, part->blue, part->blue_count, part->class_count);
    l->slots = MYR_ARENA_NEW(arena, uint32_t, 2 * (size_t)part->blue_count);
    l->users = MYR_ARENA_NEW(arena, uint32_t, 2 * (size_t)part->red_count);
    l->seen = MYR_ARENA_NEW(arena, uint32_t, part->class_count);
    l->stamp = MYR_ARENA_NEW(arena, uint32_t, part->red_count);
    memset(l->users, 0xFF, 2 * (size_t)part->red_count * sizeof(uint32_t));
    for (uint32_t end = 0; end < 2 * part->blue_count; end++) {
        set_slot(l, end, part->slots[end]);
    }
}

/*
 * The bound is taken before anything moves; squares change trails, so that these are divided again.
 */
void eq_improve(const struct eq_part *part, struct myr_arena *arena, struct eq_solution *ret)
{
    struct local l = {};
    local_init(&l, part, arena);
    use_surplus(&l);
    int32_t most = bound(&l);
    l.work = 0;
    divide_all(&l);
    exchange_tails(&l);
    make_squares(&l);
    divide_all(&l);
    *ret = (struct eq_solution){l.slots, total_gain(&l), most};
}
