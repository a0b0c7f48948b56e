/*
 * Lines to needs: a maximum flow, better grades first. A need takes from a line what is left there,
 * or what another need can take elsewhere; so a list is only called short when no way of using its
 * lines would do.
 */
#include "audit/audit.h"

/* 'queue' holds needs; lines are passed on the way. */
struct search {
    struct audit *audit;
    int8_t *grades;     /* lines x needs */
    int32_t *line_from; /* need that reached the line; -1: not reached */
    int32_t *need_from; /* line that reached the need */
    uint32_t *queue;
};

/*
 * The line that ends a path from 'need' to something left over; SIZE_MAX: there is none. Breadth
 * first, so paths are short: from a need to lines of at most this grade, and from a line that is
 * used up to the needs that hold it.
 */
static size_t find_path(const struct search *search, uint32_t need, int grade)
{
    struct audit *audit = search->audit;
    uint32_t head = 0, tail = 0;
    for (size_t i = 0; i < audit->lines.count; i++) {
        search->line_from[i] = -1;
    }
    for (uint32_t i = 0; i < audit->need_count; i++) {
        search->need_from[i] = -1;
    }
    /* Reached, but from nowhere: the path ends here. */
    search->need_from[need] = INT32_MAX;
    search->queue[tail++] = need;
    while (head < tail) {
        uint32_t at = search->queue[head++];
        for (size_t i = 0; i < audit->lines.count; i++) {
            int8_t known = search->grades[i * audit->need_count + at];
            /*
             * Flow that was laid with a better grade stays allowed, one with a worse does not exist
             * yet.
             */
            if (search->line_from[i] >= 0 || known < 0 || known > grade) {
                continue;
            }
            search->line_from[i] = (int32_t)at;
            if (audit->lines.items[i].used < audit->lines.items[i].quantity) {
                return i;
            }
            for (uint32_t k = 0; k < audit->need_count; k++) {
                if (search->need_from[k] < 0 && *audit_flow(audit, i, k) > 0) {
                    search->need_from[k] = (int32_t)i;
                    search->queue[tail++] = k;
                }
            }
        }
    }
    return SIZE_MAX;
}

/*
 * As much as the path carries: what is open, what is left, and what every need on the way can hand
 * over. Only 'need' gains; those between change their line.
 */
static void augment(const struct search *search, uint32_t need, size_t end)
{
    struct audit *audit = search->audit;
    struct audit_line *last = &audit->lines.items[end];
    /* First the most that both ends allow, then what each step on the way does. */
    uint64_t amount = last->quantity - last->used;
    uint64_t open = audit->needs[need].quantity - audit->needs[need].met;
    amount = open < amount ? open : amount;
    for (uint32_t at = (uint32_t)search->line_from[end]; at != need;) {
        size_t line = (size_t)search->need_from[at];
        uint64_t flow = *audit_flow(audit, line, at);
        amount = flow < amount ? flow : amount;
        at = (uint32_t)search->line_from[line];
    }
    MYR_ASSERT(amount > 0);
    last->used += amount;
    for (size_t line = end;;) {
        uint32_t at = (uint32_t)search->line_from[line];
        *audit_flow(audit, line, at) += amount;
        if (at == need) {
            break;
        }
        line = (size_t)search->need_from[at];
        *audit_flow(audit, line, at) -= amount;
    }
    audit->needs[need].met += amount;
}

/* Fills flow, used and met anew. */
uint64_t audit_match(struct audit *audit,
                     int (*grade)(const struct audit *, const struct audit_line *,
                                  const struct audit_need *))
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    size_t cells = audit->lines.count * audit->need_count;
    struct search search = {
        .audit = audit,
        .grades = MYR_ARENA_NEW(&scratch, int8_t, cells),
        .line_from = MYR_ARENA_NEW(&scratch, int32_t, audit->lines.count),
        .need_from = MYR_ARENA_NEW(&scratch, int32_t, audit->need_count),
        .queue = MYR_ARENA_NEW(&scratch, uint32_t, audit->need_count),
    };
    /* Matched anew each time: grades and needs that are off may differ. */
    memset(audit->flow, 0, cells * sizeof(*audit->flow));
    for (size_t i = 0; i < audit->lines.count; i++) {
        audit->lines.items[i].used = 0;
        for (uint32_t k = 0; k < audit->need_count; k++) {
            const struct audit_need *need = &audit->needs[k];
            search.grades[i * audit->need_count + k] =
                need->off ? -1 : (int8_t)grade(audit, &audit->lines.items[i], need);
        }
    }
    for (uint32_t k = 0; k < audit->need_count; k++) {
        audit->needs[k].met = 0;
    }
    uint64_t open = 0;
    /*
     * What can be met well is met well first. Later rounds never take from a need, they only move
     * it to another line.
     */
    for (int worst = 0; worst < AUDIT_GRADES; worst++) {
        for (uint32_t k = 0; k < audit->need_count; k++) {
            struct audit_need *need = &audit->needs[k];
            while (!need->off && need->met < need->quantity) {
                size_t end = find_path(&search, k, worst);
                if (end == SIZE_MAX) {
                    break;
                }
                augment(&search, k, end);
            }
            open += worst == AUDIT_GRADES - 1 && !need->off ? need->quantity - need->met : 0;
        }
    }
    return open;
}
