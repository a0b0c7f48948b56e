#include "grow/grow_internal.h"

/*
 * Where a fill is dense, a switch's uplinks are spread over the switches above it as evenly as they
 * go: 'base' links to each, and one more to some. Which ones is free, as long as the switches above
 * stay as evenly loaded; it is chosen so that the most installed links stay.
 *
 * A column is a switch above, a row one below. The first choice takes useful places only; levelling
 * evens the columns; then rounds of exchange raise what is kept until none helps. An exchange moves
 * one link of a row from column to column in a circle, so that all sums stay; when no such circle
 * gains anything the choice is the best there is (a flow without an improving circle is optimal).
 */

enum { EXCHANGE_MAX = 50000000 }; /* rows * columns^2, beyond which no exchange is looked for */

struct block {
    const uint32_t *link; /* of the layer */
    uint32_t links, rows, cols;
    const uint32_t *row, *col; /* devices */
    uint32_t *ups;             /* links of a row */
    uint32_t *planned;         /* rows * cols: links of a pair */
    bool *extra, *useful;      /* rows * cols: has one more; an installed link would use it */
    uint32_t *load;            /* extras of a column */
};

/* Links that a row has to every column at least. */
static uint32_t base_of(const struct block *block, uint32_t row)
{
    return block->ups[row] / block->cols;
}

/* Spread evenly, with at least one link to each, and not equally: there is something to choose. */
static bool is_dense(const struct block *block)
{
    /* Equal links everywhere leave nothing to choose. */
    bool uneven = false;
    for (uint32_t r = 0; r < block->rows; r++) {
        uint32_t base = base_of(block, r);
        for (uint32_t c = 0; c < block->cols; c++) {
            uint32_t links = block->planned[(size_t)r * block->cols + c];
            if (base == 0 || links < base || links > base + 1) {
                return false;
            }
            uneven |= links > base;
        }
    }
    return uneven;
}

/* The emptiest column with room, among the useful ones alone or all; MYR_NONE: there is none. */
static uint32_t emptiest(const struct block *block, uint32_t row, bool useful_only)
{
    const bool *extra = &block->extra[(size_t)row * block->cols];
    const bool *useful = &block->useful[(size_t)row * block->cols];
    uint32_t best = MYR_NONE;
    for (uint32_t c = 0; c < block->cols; c++) {
        if (!extra[c] && (!useful_only || useful[c]) &&
            (best == MYR_NONE || block->load[c] < block->load[best])) {
            best = c;
        }
    }
    return best;
}

/*
 * Columns with room, the emptiest first among the useful ones. Useful places first, for all rows;
 * then what is left of each row goes anywhere.
 */
static void choose(struct block *block)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t r = 0; r < block->rows; r++) {
            bool *extra = &block->extra[(size_t)r * block->cols];
            uint32_t left = block->ups[r] % block->cols;
            for (uint32_t c = 0; c < block->cols; c++) {
                /* What the first pass has given. */
                left -= extra[c];
            }
            while (left > 0) {
                uint32_t best = emptiest(block, r, pass == 0);
                if (best == MYR_NONE) {
                    break;
                }
                extra[best] = true;
                block->load[best]++;
                left--;
            }
            MYR_ASSERT(pass == 0 || left == 0);
        }
    }
}

/* What is lost, 0 or 1 (or won: -1), when a row's extra link goes from one column to another. */
static int loss_of(const struct block *block, uint32_t row, uint32_t from, uint32_t to)
{
    const bool *useful = &block->useful[(size_t)row * block->cols];
    return (int)useful[from] - (int)useful[to];
}

/*
 * The row that loses least when it moves an extra from one column to another; MYR_NONE: none can.
 */
static uint32_t cheapest_row(const struct block *block, uint32_t from, uint32_t to, int *ret_loss)
{
    uint32_t best = MYR_NONE;
    for (uint32_t r = 0; r < block->rows; r++) {
        const bool *extra = &block->extra[(size_t)r * block->cols];
        if (extra[from] && !extra[to]) {
            int loss = loss_of(block, r, from, to);
            if (best == MYR_NONE || loss < *ret_loss) {
                best = r;
                *ret_loss = loss;
            }
        }
    }
    return best;
}

/* One extra of a row to another column; its sum stays. */
static void shift(struct block *block, uint32_t row, uint32_t from, uint32_t to)
{
    bool *extra = &block->extra[(size_t)row * block->cols];
    MYR_ASSERT(extra[from] && !extra[to]);
    extra[from] = false;
    extra[to] = true;
    block->load[from]--;
    block->load[to]++;
}

/* Ends: each shift brings the fullest and the emptiest column nearer to each other. */
static void level(struct block *block)
{
    for (;;) {
        uint32_t most = 0, least = 0;
        for (uint32_t c = 1; c < block->cols; c++) {
            most = block->load[c] > block->load[most] ? c : most;
            least = block->load[c] < block->load[least] ? c : least;
        }
        if (block->load[most] - block->load[least] <= 1) {
            return;
        }
        int loss;
        uint32_t row = cheapest_row(block, most, least, &loss);
        MYR_ASSERT(row != MYR_NONE); /* the fuller column has a row that the other lacks */
        shift(block, row, most, least);
    }
}

/* From column to column, at the least loss. */
struct step {
    int loss;
    uint32_t row; /* MYR_NONE: the two columns change loads, no link moves */
    bool there;
};

/* Whether a column may pass its turn on: a fuller column gave a link, an emptier one took it. */
static struct step step_of(const struct block *block, uint32_t from, uint32_t to)
{
    struct step step = {0, MYR_NONE, false};
    if (from == to) {
        return step;
    }
    step.row = cheapest_row(block, from, to, &step.loss);
    step.there = step.row != MYR_NONE;
    /* Loads may differ by one, so a fuller and an emptier column may change parts for nothing. */
    if (block->load[from] < block->load[to] && (!step.there || step.loss > 0)) {
        step = (struct step){0, MYR_NONE, true};
    }
    return step;
}

/* Walks back from a column that is on a gaining circle, and exchanges along it. */
static void exchange(struct block *block, const uint32_t *before, const struct step *steps,
                     uint32_t start)
{
    uint32_t at = start;
    for (uint32_t i = 0; i < block->cols; i++) {
        at = before[at]; /* now surely on the circle */
    }
    uint32_t first = at;
    do {
        uint32_t from = before[at];
        const struct step *step = &steps[(size_t)from * block->cols + at];
        if (step->row != MYR_NONE) {
            shift(block, step->row, from, at);
        }
        at = from;
    } while (at != first);
}

/*
 * One gaining circle (Bellman and Ford); false when there is none. All columns begin at distance 0,
 * so that any circle is found. A change in round n proves one.
 */
static bool improve(struct block *block, struct myr_arena *scratch)
{
    uint32_t n = block->cols;
    struct step *steps = MYR_ARENA_NEW(scratch, struct step, (size_t)n * n);
    int *distance = MYR_ARENA_NEW(scratch, int, n);
    uint32_t *before = MYR_ARENA_NEW(scratch, uint32_t, n);
    for (uint32_t from = 0; from < n; from++) {
        before[from] = MYR_NONE;
        for (uint32_t to = 0; to < n; to++) {
            steps[(size_t)from * n + to] = step_of(block, from, to);
        }
    }
    for (uint32_t round = 0; round <= n; round++) {
        uint32_t changed = MYR_NONE;
        for (uint32_t from = 0; from < n; from++) {
            for (uint32_t to = 0; to < n; to++) {
                const struct step *step = &steps[(size_t)from * n + to];
                if (step->there && distance[from] + step->loss < distance[to]) {
                    distance[to] = distance[from] + step->loss;
                    before[to] = from;
                    changed = to;
                }
            }
        }
        if (changed == MYR_NONE) {
            return false;
        }
        if (round == n) {
            exchange(block, before, steps, changed);
        }
    }
    return true;
}

/*
 * Useful places that no choice of a row alone can reach are no loss. 0: no exchange could keep
 * more.
 */
static uint64_t gap(const struct block *block)
{
    uint64_t missed = 0;
    for (uint32_t r = 0; r < block->rows; r++) {
        uint32_t useful = 0, used = 0, extras = block->ups[r] % block->cols;
        for (uint32_t c = 0; c < block->cols; c++) {
            size_t at = (size_t)r * block->cols + c;
            useful += block->useful[at];
            used += block->useful[at] && block->extra[at];
        }
        missed += (useful < extras ? useful : extras) - used;
    }
    return missed;
}

/* Exchanges only where something was missed, and where they do not take too long. */
static void solve(struct grow *grow, struct block *block, struct myr_arena *scratch)
{
    choose(block);
    level(block);
    uint64_t work = (uint64_t)block->rows * block->cols * block->cols;
    uint64_t missed = gap(block);
    /* Then how much more could stay is not proved. */
    if (missed && work > EXCHANGE_MAX) {
        grow->loose_keep += (uint32_t)missed;
        return;
    }
    while (missed && improve(block, scratch)) {
        missed = gap(block);
    }
}

/*
 * Installed links of each pair, where both ends may stay in their ports. More of them than the
 * base: the one more would be used.
 */
static void find_useful(const struct grow *grow, struct block *block, const uint32_t *col_of,
                        struct myr_arena *scratch)
{
    const struct myr_design *old = grow->old;
    uint32_t *links = MYR_ARENA_NEW(scratch, uint32_t, block->cols);
    for (uint32_t r = 0; r < block->rows; r++) {
        uint32_t device = grow->from[block->row[r]];
        if (device == MYR_NONE) {
            continue;
        }
        memset(links, 0, block->cols * sizeof(*links));
        for (uint32_t p = old->first_port[device]; p < old->first_port[device + 1]; p++) {
            uint32_t peer = myr_design_peer(old, p);
            uint32_t above = peer == MYR_NONE ? MYR_NONE : grow->to[old->port_device[peer]];
            if (above != MYR_NONE && col_of[above] < block->cols &&
                block->col[col_of[above]] == above && grow_port(grow, p) != MYR_NONE &&
                grow_port(grow, peer) != MYR_NONE) {
                links[col_of[above]]++;
            }
        }
        for (uint32_t c = 0; c < block->cols; c++) {
            block->useful[(size_t)r * block->cols + c] = links[c] > base_of(block, r);
        }
    }
}

/* Puts the choice back into the links of the block, row by row in the order of the columns. */
static void put_back(const struct block *block, struct grow_link *links, const uint32_t *row_of,
                     struct myr_arena *scratch)
{
    uint32_t *done = MYR_ARENA_NEW(scratch, uint32_t, block->rows); /* columns passed */
    uint32_t *left = MYR_ARENA_NEW(scratch, uint32_t, block->rows);
    for (uint32_t i = 0; i < block->links; i++) {
        struct grow_link *link = &links[block->link[i]];
        uint32_t r = row_of[link->a];
        while (left[r] == 0) {
            MYR_ASSERT(done[r] < block->cols);
            left[r] = base_of(block, r) + block->extra[(size_t)r * block->cols + done[r]];
            done[r]++;
        }
        link->b = block->col[done[r] - 1];
        left[r]--;
    }
}

/* Halves the way to the root as it goes. */
static uint32_t root_of(uint32_t *parent, uint32_t device)
{
    while (parent[device] != device) {
        device = parent[device] = parent[parent[device]];
    }
    return device;
}

/*
 * Rows and columns of a block, and the number of each device in it. 'number' is not cleared between
 * blocks: an entry counts only if its device is in that row or column.
 */
static void collect(struct block *block, const struct grow_link *links, uint32_t *number,
                    struct myr_arena *scratch)
{
    uint32_t *row = MYR_ARENA_NEW(scratch, uint32_t, block->links);
    uint32_t *col = MYR_ARENA_NEW(scratch, uint32_t, block->links);
    for (uint32_t i = 0; i < block->links; i++) {
        const uint32_t a = links[block->link[i]].a, b = links[block->link[i]].b;
        if (number[a] >= block->rows || row[number[a]] != a) {
            number[a] = block->rows;
            row[block->rows++] = a;
        }
        if (number[b] >= block->cols || col[number[b]] != b) {
            number[b] = block->cols;
            col[block->cols++] = b;
        }
    }
    MYR_ASSERT(block->cols > 0); /* a block has a link at least */
    block->row = row;
    block->col = col;
    size_t cells = (size_t)block->rows * block->cols;
    block->ups = MYR_ARENA_NEW(scratch, uint32_t, block->rows);
    block->planned = MYR_ARENA_NEW(scratch, uint32_t, cells);
    block->extra = MYR_ARENA_NEW(scratch, bool, cells);
    block->useful = MYR_ARENA_NEW(scratch, bool, cells);
    block->load = MYR_ARENA_NEW(scratch, uint32_t, block->cols);
    for (uint32_t i = 0; i < block->links; i++) {
        const struct grow_link *link = &links[block->link[i]];
        block->ups[number[link->a]]++;
        block->planned[(size_t)number[link->a] * block->cols + number[link->b]]++;
    }
}

/* Blocks that are even, or spread in another way, stay as planned. */
static void spread_block(struct grow *grow, struct grow_link *links, const uint32_t *link,
                         uint32_t count, uint32_t *number)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    struct block block = {.link = link, .links = count};
    collect(&block, links, number, &scratch);
    if (is_dense(&block)) {
        find_useful(grow, &block, number, &scratch);
        solve(grow, &block, &scratch);
        put_back(&block, links, number, &scratch);
    }
}

/* Blocks are what hangs together by links: a pod, or a whole fabric. */
void grow_spread(struct grow *grow, struct grow_link *links, uint32_t count)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    uint32_t devices = grow->plan->device_count;
    uint32_t *parent = MYR_ARENA_NEW(&arena, uint32_t, devices);
    uint32_t *number = MYR_ARENA_NEW(&arena, uint32_t, devices);
    uint32_t *start = MYR_ARENA_NEW(&arena, uint32_t, (size_t)devices + 1);
    uint32_t *order = MYR_ARENA_NEW(&arena, uint32_t, count);
    for (uint32_t i = 0; i < devices; i++) {
        parent[i] = i;
    }
    for (uint32_t l = 0; l < count; l++) {
        parent[root_of(parent, links[l].a)] = root_of(parent, links[l].b);
    }
    /* Links by block, in their order within each. */
    for (uint32_t l = 0; l < count; l++) {
        start[root_of(parent, links[l].a) + 1]++;
    }
    for (uint32_t i = 0; i < devices; i++) {
        start[i + 1] += start[i];
    }
    for (uint32_t l = 0; l < count; l++) {
        order[start[root_of(parent, links[l].a)]++] = l;
    }
    for (uint32_t i = 0, from = 0; i < devices; i++) {
        if (start[i] > from) {
            spread_block(grow, links, order + from, start[i] - from, number);
        }
        from = start[i];
    }
}
