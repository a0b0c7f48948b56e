#include "grow/grow_internal.h"

/*
 * The heaviest assignment of rows to columns (Kuhn's method in the form of Jonker and Volgenant:
 * one row after the other along the shortest way, with prices on rows and columns).
 */

/* Rows and columns count from 1; 0 is the place outside. */
struct prices {
    uint32_t rows, cols;
    const uint32_t *weight;
    int64_t *row, *col;
    uint32_t *owner; /* row + 1 of a column; 0: free. Columns count from 1, as rows do. */
    uint32_t *way;   /* column before this one on the way to the row at hand */
    int64_t *least;  /* by column: the least that reaching it costs so far */
    bool *done;      /* by column: on the tree that grows from the row */
};

/* Weights are gains, so their negatives are the costs; here less the prices. */
static int64_t cost(const struct prices *p, uint32_t row, uint32_t col)
{
    return -(int64_t)p->weight[(size_t)(row - 1) * p->cols + col - 1] - p->row[row] - p->col[col];
}

/* Reaches for the next column; returns it. */
static uint32_t reach(struct prices *p, uint32_t at)
{
    uint32_t row = p->owner[at], next = 0;
    int64_t step = INT64_MAX;
    p->done[at] = true;
    for (uint32_t col = 1; col <= p->cols; col++) {
        if (p->done[col]) {
            continue;
        }
        int64_t here = cost(p, row, col);
        if (here < p->least[col]) {
            p->least[col] = here;
            p->way[col] = at;
        }
        if (p->least[col] < step) {
            step = p->least[col];
            next = col;
        }
    }
    /*
     * The prices move so that the column just reached costs nothing, and all on the tree stay so.
     */
    for (uint32_t col = 0; col <= p->cols; col++) {
        if (p->done[col]) {
            p->row[p->owner[col]] += step;
            p->col[col] -= step;
        } else {
            p->least[col] -= step;
        }
    }
    return next;
}

/* Takes rows^2 * columns steps. */
void grow_assign(const uint32_t *weight, uint32_t rows, uint32_t cols, uint32_t *ret)
{
    MYR_ASSERT(rows <= cols);
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    struct prices p = {.rows = rows, .cols = cols, .weight = weight};
    p.row = MYR_ARENA_NEW(&scratch, int64_t, (size_t)rows + 1);
    p.col = MYR_ARENA_NEW(&scratch, int64_t, (size_t)cols + 1);
    p.owner = MYR_ARENA_NEW(&scratch, uint32_t, (size_t)cols + 1);
    p.way = MYR_ARENA_NEW(&scratch, uint32_t, (size_t)cols + 1);
    p.least = MYR_ARENA_NEW(&scratch, int64_t, (size_t)cols + 1);
    p.done = MYR_ARENA_NEW(&scratch, bool, (size_t)cols + 1);
    for (uint32_t row = 1; row <= rows; row++) {
        for (uint32_t col = 0; col <= cols; col++) {
            p.least[col] = INT64_MAX / 2;
            p.done[col] = false;
        }
        uint32_t at = 0;
        /* Column 0 stands for the row that has none yet. */
        p.owner[0] = row;
        do {
            at = reach(&p, at);
        } while (p.owner[at] != 0);
        /* Along the way each row moves on by one column, which frees the first for the new row. */
        for (; at != 0; at = p.way[at]) {
            p.owner[at] = p.owner[p.way[at]];
        }
    }
    for (uint32_t col = 1; col <= cols; col++) {
        if (p.owner[col]) {
            ret[p.owner[col] - 1] = col - 1;
        }
    }
}
