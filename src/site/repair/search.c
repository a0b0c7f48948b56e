#include "repair/equivalent.h"

/*
 * All ways to take a small component apart. The lowest red edge that is left lies on some trail:
 * each such trail is tried, and what remains is solved once for each set of edges that may remain.
 * A trail is followed from the edge's far end; when that ends at an empty or a surplus port, from
 * its near end too.
 */

/* In steps, not in time: the same input gives the same answer. */
enum { STEPS_MAX = 400000, STATE_UNKNOWN = INT8_MIN };

struct searcher {
    const struct eq_part *part;
    uint32_t *free_slots, *surplus; /* by class, what is left */
    struct myr_u64map best;         /* sets of edges to gain + STATE_BIAS */
    uint32_t steps;
    bool tired; /* the search gave up: nothing it returns counts */

    /* While the solution is read off, trail by trail: */
    bool reading, found;
    int32_t wanted;               /* the gain of the trail that is looked for */
    uint32_t next_red, next_blue; /* what the trail leaves */
    uint32_t *slots;              /* by end of a blue edge */
};

/* The trail at hand. */
struct trail {
    uint32_t red_left, blue_left; /* edges that are on no trail yet */
    uint32_t start;               /* the red edge that it goes through */
    bool open;                    /* its far end is reached: now the near one is followed */
    bool first_is_empty;          /* the far end is an empty port */
};

static int32_t solve(struct searcher *s, uint32_t red_left, uint32_t blue_left);

static uint32_t red_class(const struct searcher *s, uint32_t red, uint32_t side)
{
    return eq_class(s->part->red, 2 * red + side);
}

static uint32_t blue_class(const struct searcher *s, uint32_t blue, uint32_t side)
{
    return eq_class(s->part->blue, 2 * blue + side);
}

/* A trail is complete with this gain: how good the whole is. */
static int32_t complete(struct searcher *s, const struct trail *trail, int32_t gain)
{
    if (!s->reading) {
        return gain + solve(s, trail->red_left, trail->blue_left);
    }
    s->reading = false;
    /* The rest is only valued, not read off. */
    int32_t total = gain + solve(s, trail->red_left, trail->blue_left);
    s->reading = true;
    s->found = total == s->wanted;
    s->next_red = trail->red_left;
    s->next_blue = trail->blue_left;
    return total;
}

static int32_t follow(struct searcher *s, struct trail trail, uint32_t red, uint32_t side);

/* Of edges between the same classes that are left, only the first is worth a try. */
static bool is_again(const struct eq_edge *edges, uint32_t index, uint32_t left)
{
    return index > 0 && left >> (index - 1) & 1 &&
           edges[index].class_a == edges[index - 1].class_a &&
           edges[index].class_b == edges[index - 1].class_b;
}

static void note_slot(struct searcher *s, uint32_t blue, uint32_t side, uint32_t red,
                      uint32_t red_side)
{
    if (s->reading && !s->found) {
        s->slots[2 * blue + side] = red == EQ_EMPTY ? EQ_EMPTY : 2 * red + red_side;
    }
}

/* The trail ends here: at an empty port or a surplus cable. */
static int32_t end_trail(struct searcher *s, struct trail trail, bool is_empty)
{
    if (trail.open) {
        return complete(s, &trail, is_empty && trail.first_is_empty ? -1 : 0);
    }
    trail.open = true;
    trail.first_is_empty = is_empty;
    return follow(s, trail, trail.start, 0);
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Goes on from the far end of a blue edge. */
static int32_t leave_blue(struct searcher *s, struct trail trail, uint32_t blue, uint32_t side)
{
    int32_t best = STATE_UNKNOWN;
    /*
     * All that may come next: the start itself, which closes the trail; another found cable; an
     * empty port.
     */
    uint32_t class = blue_class(s, blue, side);
    if (!trail.open && red_class(s, trail.start, 0) == class) {
        note_slot(s, blue, side, trail.start, 0);
        best = complete(s, &trail, 1);
    }
    for (uint32_t red = 0; red < s->part->red_count && !s->found; red++) {
        if (!(trail.red_left >> red & 1) || is_again(s->part->red, red, trail.red_left)) {
            continue;
        }
        for (uint32_t end = 0; end < 2 && !s->found; end++) {
            if (red_class(s, red, end) == class) {
                struct trail next = trail;
                next.red_left &= ~(1U << red);
                note_slot(s, blue, side, red, end);
                best = larger(best, follow(s, next, red, !end));
            }
        }
    }
    if (s->free_slots[class] && !s->found) {
        /* Taken for the time of the try. */
        s->free_slots[class]--;
        note_slot(s, blue, side, EQ_EMPTY, 0);
        best = larger(best, end_trail(s, trail, true));
        s->free_slots[class]++;
    }
    return best;
}

/* Goes on from one end of a red edge. */
static int32_t follow(struct searcher *s, struct trail trail, uint32_t red, uint32_t side)
{
    int32_t best = STATE_UNKNOWN;
    uint32_t class = red_class(s, red, side);
    s->tired = s->tired || ++s->steps > STEPS_MAX;
    /* Whatever comes out now is not used. */
    if (s->tired) {
        return best;
    }
    for (uint32_t blue = 0; blue < s->part->blue_count && !s->found; blue++) {
        if (!(trail.blue_left >> blue & 1) || is_again(s->part->blue, blue, trail.blue_left)) {
            continue;
        }
        for (uint32_t end = 0; end < 2 && !s->found; end++) {
            if (blue_class(s, blue, end) == class) {
                struct trail next = trail;
                next.blue_left &= ~(1U << blue);
                note_slot(s, blue, end, red, side);
                best = larger(best, leave_blue(s, next, blue, !end));
            }
        }
    }
    if (s->surplus[class] && !s->found) {
        s->surplus[class]--;
        best = larger(best, end_trail(s, trail, false));
        s->surplus[class]++;
    }
    return best;
}

/* The lowest found cable must be on some trail: to begin with it loses nothing. */
static struct trail trail_from(uint32_t red_left, uint32_t blue_left)
{
    uint32_t start = (uint32_t)__builtin_ctz(red_left);
    return (struct trail){red_left & ~(1U << start), blue_left, start, false, false};
}

/* Gains are small; the map holds them as unsigned numbers. */
enum { STATE_BIAS = 1000 };

/* The most that what is left can gain; kept for each set that comes up. */
static int32_t solve(struct searcher *s, uint32_t red_left, uint32_t blue_left)
{
    if (red_left == 0) {
        return -__builtin_popcount(blue_left); /* each is a new cable between empty ports */
    }
    /*
     * Empty and surplus ports follow from the sets (count_ends()), so that these are the whole
     * state.
     */
    uint64_t key = (uint64_t)red_left * (UINT64_C(1) << 32) + blue_left;
    const uint32_t *known = myr_u64map_find(&s->best, key);
    if (known) {
        return (int32_t)*known - STATE_BIAS;
    }
    struct trail trail = trail_from(red_left, blue_left);
    int32_t best = follow(s, trail, trail.start, 1);
    if (!s->tired) {
        (void)myr_u64map_add(&s->best, key, (uint32_t)(best + STATE_BIAS));
    }
    return best;
}

/* Empty and surplus ports follow from the edges that are left: a class has one kind of them. */
static void count_ends(struct searcher *s, uint32_t red_left, uint32_t blue_left)
{
    const struct eq_part *part = s->part;
    memset(s->free_slots, 0, part->class_count * sizeof(uint32_t));
    memset(s->surplus, 0, part->class_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < part->blue_count; i++) {
        s->free_slots[part->blue[i].class_a] += blue_left >> i & 1;
        s->free_slots[part->blue[i].class_b] += blue_left >> i & 1;
    }
    for (uint32_t i = 0; i < part->red_count; i++) {
        s->surplus[part->red[i].class_a] += red_left >> i & 1;
        s->surplus[part->red[i].class_b] += red_left >> i & 1;
    }
    for (uint32_t c = 0; c < part->class_count; c++) {
        /* An empty port of a class takes a surplus end of the same class. */
        uint32_t both = s->free_slots[c] < s->surplus[c] ? s->free_slots[c] : s->surplus[c];
        s->free_slots[c] -= both;
        s->surplus[c] -= both;
    }
}

/* Takes a best trail of each state in turn. False when that takes too long. */
static bool read_solution(struct searcher *s, uint32_t red_left, uint32_t blue_left)
{
    while (red_left) {
        count_ends(s, red_left, blue_left);
        /* Known from the search: only the trail that leads there is looked for. */
        s->wanted = solve(s, red_left, blue_left);
        s->steps = 0;
        s->reading = true;
        s->found = false;
        struct trail trail = trail_from(red_left, blue_left);
        (void)follow(s, trail, trail.start, 1);
        s->reading = false;
        if (s->tired) {
            return false;
        }
        /* The search has seen such a trail. */
        MYR_ASSERT(s->found);
        s->found = false;
        red_left = s->next_red;
        blue_left = s->next_blue;
    }
    for (uint32_t i = 0; i < s->part->blue_count; i++) {
        if (blue_left >> i & 1) {
            s->slots[2 * i] = s->slots[2 * i + 1] = EQ_EMPTY;
        }
    }
    return true;
}

static void searcher_done(struct searcher *s)
{
    myr_u64map_done(&s->best);
}

/* Sets of edges are bits of 32. */
bool eq_search(const struct eq_part *part, struct myr_arena *arena, struct eq_solution *ret)
{
    MYR_ASSERT(part->red_count < 32 && part->blue_count < 32);
    MYR_CLEANUP(searcher_done) struct searcher s = {.part = part};
    uint32_t red_left = (1U << part->red_count) - 1, blue_left = (1U << part->blue_count) - 1;
    s.free_slots = MYR_ARENA_NEW(arena, uint32_t, part->class_count);
    s.surplus = MYR_ARENA_NEW(arena, uint32_t, part->class_count);
    s.slots = MYR_ARENA_NEW(arena, uint32_t, 2 * (size_t)part->blue_count);
    count_ends(&s, red_left, blue_left);
    int32_t gain = solve(&s, red_left, blue_left);
    bool done = !s.tired && read_solution(&s, red_left, blue_left);
    if (done) {
        *ret = (struct eq_solution){s.slots, gain, gain};
    }
    return done;
}
