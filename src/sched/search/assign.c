#include "search/search.h"

/*
 * Orders of the digits are many, assignments of nodes few: all orders that keep blocks of one size
 * whole share one assignment. So an assignment is written down as the unit (domain, leaf, pod) at
 * every position, and an order is priced by the strides that it gives to the digits, without moving
 * anything. A group is broken at a level when its members are not all in one unit of it; its level
 * is the number of levels it is broken at, because units nest. Where positions follow the topology
 * the first and the last member tell whether a group is broken.
 */

/* Four at a time; lists need not be aligned for it. */
typedef uint32_t lanes __attribute__((vector_size(16), aligned(4)));

/* In how many of 'count' places two lists differ. */
static uint32_t differing(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    lanes sum = {};
    uint32_t i = 0, total = 0;
    for (; i + 4 <= count; i += 4) {
        /* A true comparison is minus one in each lane. */
        sum -= (lanes)(*(const lanes *)(a + i) != *(const lanes *)(b + i));
    }
    for (; i < count; i++) {
        total += a[i] != b[i];
    }
    return total + sum[0] + sum[1] + sum[2] + sum[3];
}

/* At least one place; 'count' is a run's length. */
static bool all_equal(const uint32_t *list, uint32_t count, uint32_t value)
{
    lanes other = {};
    uint32_t i = 0;
    /* Blocks lie along the topology more often than not: their ends differ first. */
    if (list[count - 1] != value) {
        return false;
    }
    for (; i + 4 <= count; i += 4) {
        /* Differences gather in 'other'; any bit that is set is one. */
        other |= *(const lanes *)(list + i) ^ value;
    }
    bool equal = (other[0] | other[1] | other[2] | other[3]) == 0;
    for (; i < count; i++) {
        equal = equal && list[i] == value;
    }
    return equal;
}

/* What an order makes of the digits: for each place in it size, stride and whether it is in use. */
struct strides {
    uint32_t count;
    uint32_t size[MYR_TRAFFIC_DIGITS_MAX], stride[MYR_TRAFFIC_DIGITS_MAX];
    uint8_t digit[MYR_TRAFFIC_DIGITS_MAX]; /* which digit of the traffic stands there */
};

/* The order's digits from the fastest on. */
static struct strides strides_of(const struct myr_job_traffic *t, const struct digit_order *order)
{
    struct strides s = {.count = t->digit_count};
    uint32_t product = 1;
    for (uint32_t k = 0; k < s.count; k++) {
        s.digit[k] = order->digits[k];
        s.size[k] = t->digits[order->digits[k]];
        s.stride[k] = product;
        product *= s.size[k];
    }
    return s;
}

static bool has_place(const struct strides *s, uint32_t bits, uint32_t k)
{
    return (bits >> s->digit[k] & 1) != 0;
}

/* All sums of multiples of the strides at places from 'from' on that are in 'bits', or are not. */
static uint32_t list_sums(const struct strides *s, uint32_t bits, bool in, uint32_t from,
                          uint32_t *ret)
{
    uint32_t count = 1;
    ret[0] = 0;
    for (uint32_t k = from; k < s->count; k++) {
        if (has_place(s, bits, k) != in) {
            continue;
        }
        uint32_t have = count;
        /* The sums so far, repeated for each further value of the digit. */
        for (uint32_t v = 1; v < s->size[k]; v++) {
            for (uint32_t i = 0; i < have; i++) {
                ret[count++] = ret[i] + v * s->stride[k];
            }
        }
    }
    return count;
}

/* Two members a group: values 'apart' of one digit apart, from the first 'values' of them. */
static uint32_t broken_pairs(const struct search *q, const struct strides *s, uint32_t bits,
                             bool ends, const uint32_t *unit)
{
    uint32_t k = 0, broken = 0;
    while (!has_place(s, bits, k)) {
        k++;
    }
    uint32_t block = s->size[k] * s->stride[k];
    uint32_t apart = ends ? block - s->stride[k] : s->stride[k];
    /* Inside a block every position has its partner at the same distance. */
    for (uint32_t base = 0; base < q->nodes; base += block) {
        broken += differing(unit + base, unit + base + apart, block - apart);
    }
    return broken;
}

/* The farthest member of a group from its first, and the end of the block that holds them all. */
static uint32_t reach_of(const struct strides *s, uint32_t bits, uint32_t *end)
{
    uint32_t reach = 0;
    *end = 1;
    for (uint32_t k = 0; k < s->count; k++) {
        if (has_place(s, bits, k)) {
            reach += (s->size[k] - 1) * s->stride[k];
            *end = s->size[k] * s->stride[k];
        }
    }
    return reach;
}

/* Groups whose innermost digits are the family's own: members lie in runs side by side. */
static uint32_t broken_runs(const struct search *q, const struct strides *s, uint32_t bits,
                            uint32_t own, const uint32_t *unit)
{
    uint32_t run = own < s->count ? s->stride[own] : q->nodes, broken = 0, end;
    uint32_t *offsets = q->s->offsets, *firsts = q->s->firsts;
    uint32_t reach = reach_of(s, bits, &end);
    uint32_t groups = list_sums(s, bits, false, own, firsts);
    /*
     * Runs that follow the topology are broken where their ends differ, so
     * the middle is not read.
     */
    if (end <= q->sorted_run) {
        for (uint32_t g = 0; g < groups; g++) {
            broken += unit[firsts[g]] != unit[firsts[g] + reach];
        }
        return broken;
    }
    uint32_t runs = list_sums(s, bits, true, own, offsets);
    for (uint32_t g = 0; g < groups; g++) {
        const uint32_t *first = unit + firsts[g];
        bool equal = true;
        for (uint32_t r = 0; r < runs && equal; r++) {
            equal = all_equal(first + offsets[r], run, *first);
        }
        broken += !equal;
    }
    return broken;
}

/* In how many columns any member of a row's groups lies elsewhere than the first. */
static uint32_t broken_in_row(const struct search *q, const uint32_t *first, uint32_t members,
                              uint32_t wide)
{
    const uint32_t *offsets = q->s->offsets;
    uint32_t *other = q->s->other, broken = 0;
    /* A column that any member differs in has a bit set in the end. */
    memset(other, 0, wide * sizeof(uint32_t));
    for (uint32_t m = 1; m < members; m++) {
        const uint32_t *member = first + offsets[m];
        uint32_t i = 0;
        for (; i + 4 <= wide; i += 4) {
            *(lanes *)(other + i) |= *(const lanes *)(first + i) ^ *(const lanes *)(member + i);
        }
        for (; i < wide; i++) {
            other[i] |= first[i] ^ member[i];
        }
    }
    for (uint32_t i = 0; i < wide; i++) {
        broken += other[i] != 0;
    }
    return broken;
}

/* Groups side by side: each member of all of them at once. */
static uint32_t broken_columns(const struct search *q, const struct strides *s, uint32_t bits,
                               const uint32_t *unit)
{
    uint32_t lowest = 0, broken = 0, end;
    uint32_t *offsets = q->s->offsets, *firsts = q->s->firsts;
    while (!has_place(s, bits, lowest)) {
        lowest++;
    }
    /* So many groups lie side by side, each member of them in a run. */
    uint32_t wide = s->stride[lowest], reach = reach_of(s, bits, &end);
    uint32_t rows = list_sums(s, bits, false, lowest, firsts), members = 2;
    bool in_order = end <= q->sorted_run || reach == wide;
    if (!in_order) {
        members = list_sums(s, bits, true, lowest, offsets);
    }
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t *first = unit + firsts[row];
        broken += in_order ? differing(first, first + reach, wide)
                           : broken_in_row(q, first, members, wide);
    }
    return broken;
}

/* Families that follow no digits: member by member, in the order of cells. */
static uint32_t broken_listed(const struct search *q, const struct digit_order *order,
                              const struct myr_traffic_family *f, const uint32_t *unit)
{
    struct search_scratch *s = q->s;
    uint32_t broken = 0;
    /* Their offsets are of cells, so the units are put in the order of cells first. */
    assign_numbers(q, order);
    for (uint32_t i = 0; i < q->nodes; i++) {
        s->other[s->sequence[i]] = unit[i];
    }
    for (uint32_t g = 0; g < f->group_count; g++) {
        const uint32_t *first = s->other + f->firsts[g];
        bool equal = true;
        for (uint32_t m = 1; m < f->group_size && equal; m++) {
            equal = first[f->offsets[m]] == *first;
        }
        broken += !equal;
    }
    return broken;
}

/*
 * By how the family's groups lie in the digits; each way counts without
 * listing members if it can.
 */
static uint32_t broken_at(const struct search *q, const struct digit_order *order,
                          const struct strides *s, const struct myr_traffic_family *f,
                          const uint32_t *unit)
{
    uint32_t own = 0;
    switch (f->members) {
    case MYR_MEMBERS_NEIGHBOURS:
        return broken_pairs(q, s, f->digit_bits, false, unit);
    case MYR_MEMBERS_ENDS:
        return broken_pairs(q, s, f->digit_bits, true, unit);
    case MYR_MEMBERS_LISTED:
        return broken_listed(q, order, f, unit);
    default:
        /* How many of the fastest digits are the family's own. */
        while (own < s->count && has_place(s, f->digit_bits, own)) {
            own++;
        }
        return own > 0 ? broken_runs(q, s, f->digit_bits, own, unit)
                       : broken_columns(q, s, f->digit_bits, unit);
    }
}

uint32_t assign_broken(const struct search *q, const struct digit_order *order, uint32_t family,
                       enum unit level)
{
    MYR_SLOW_ASSERT(family < q->traffic->family_count);
    MYR_SLOW_ASSERT((q->assigned || q->sorted_run == q->nodes));
    struct strides s = strides_of(q->traffic, order);
    const struct myr_traffic_family *f = &q->traffic->families[family];
    const uint32_t *unit = q->assigned ? q->s->unit[level] : q->s->along[level];
    /* Single nodes are domains of their own: every group is broken there. */
    if (level == UNIT_DOMAIN && q->p->domain_nodes == 1) {
        return f->group_count;
    }
    return q->split[level] ? broken_at(q, order, &s, f, unit) : 0;
}

int64_t assign_price(const struct search *q, const struct digit_order *order, int64_t limit)
{
    const struct myr_job_traffic *t = q->traffic;
    bool domains = q->p->domain_nodes > 1;
    int64_t sum = 0;
    /* What every order pays goes first: those that cannot win are given up sooner. */
    for (uint32_t f = 0; f < t->family_count && !domains; f++) {
        sum += q->weight[f] * t->families[f].group_count;
    }
    for (uint32_t f = 0; f < t->family_count; f++) {
        for (uint32_t level = domains ? UNIT_DOMAIN : UNIT_LEAF; level < UNIT_COUNT; level++) {
            /* It can only grow from here. */
            if (limit >= 0 && sum >= limit) {
                return sum;
            }
            sum += q->weight[f] * assign_broken(q, order, f, (enum unit)level);
        }
    }
    return sum;
}

void assign_numbers(const struct search *q, const struct digit_order *order)
{
    const struct myr_job_traffic *t = q->traffic;
    uint32_t stride[MYR_TRAFFIC_DIGITS_MAX], count = 1, product = 1;
    uint32_t *sequence = q->s->sequence;
    for (uint32_t d = 0; d < t->digit_count; d++) {
        stride[d] = product;
        product *= t->digits[d];
    }
    sequence[0] = 0;
    for (uint32_t k = 0; k < t->digit_count; k++) {
        uint32_t digit = order->digits[k], have = count;
        for (uint32_t v = 1; v < t->digits[digit]; v++) {
            for (uint32_t i = 0; i < have; i++) {
                /*
                 * As in list_sums(), with the strides that the digits have in
                 * the numbers of cells.
                 */
                sequence[count++] = sequence[i] + v * stride[digit];
            }
        }
    }
    MYR_ASSERT(count == q->nodes);
}

void assign_cells(const struct search *q, const struct digit_order *order, uint32_t *cells)
{
    const struct search_scratch *s = q->s;
    assign_numbers(q, order);
    for (uint32_t i = 0; i < q->nodes; i++) {
        cells[s->sequence[i]] = s->nodes[q->assigned ? s->assigned[i] : i];
    }
}

static void fill(uint32_t *list, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++) {
        list[i] = value;
    }
}

/* A leaf's nodes, or a domain's, side by side in s->nodes; and which units they are in. */
static void add_piece(struct search *q, uint32_t first, uint32_t count, uint32_t leaf)
{
    struct search_scratch *s = q->s;
    uint32_t per = q->p->shape.pod_nodes / q->p->shape.group_nodes;
    fill(s->along[UNIT_LEAF] + first, count, leaf);
    fill(s->along[UNIT_POD] + first, count, leaf / per);
    s->pieces[q->piece_count++] = (struct piece){first, count};
}

void assign_straight(struct search *q)
{
    struct search_scratch *s = q->s;
    const uint32_t *domain = q->p->domain_of;
    bool domains = q->p->domain_nodes > 1;
    q->piece_count = 0;
    /* Without domains a leaf is one piece, and which of its nodes does not matter yet. */
    for (uint32_t i = 0, at = 0; i < q->touched_count && !domains; i++) {
        MYR_ASSERT(at + s->take[s->touched[i]] <= q->nodes);
        add_piece(q, at, s->take[s->touched[i]], s->touched[i]);
        at += s->take[s->touched[i]];
    }
    for (uint32_t i = 0, end; i < q->nodes && domains; i = end) {
        for (end = i + 1; end < q->nodes && domain[s->nodes[end]] == domain[s->nodes[i]]; end++) {
        }
        fill(s->along[UNIT_DOMAIN] + i, end - i, domain[s->nodes[i]]);
        add_piece(q, i, end - i, q->p->group_of[s->nodes[i]]);
    }
    for (uint32_t level = 0; level < UNIT_COUNT; level++) {
        /* s->nodes goes along the topology: where first and last agree all do. */
        q->split[level] = s->along[level][0] != s->along[level][q->nodes - 1];
    }
    MYR_ASSERT(q->piece_count > 0);
    MYR_ASSERT(q->piece_count <= q->nodes);
    q->assigned = false;
    q->sorted_run = q->nodes;
}

/* Moves the first 'wanted' nodes of the pieces from 'at' on to a batch; the rest stays in place. */
static uint32_t take_pieces(struct search_scratch *s, uint32_t at, uint32_t wanted, uint32_t *used)
{
    while (wanted > 0) {
        struct piece *piece = &s->left[at];
        uint32_t count = piece->count < wanted ? piece->count : wanted;
        s->laid[(*used)++] = (struct piece){piece->first, count};
        piece->first += count;
        piece->count -= count;
        wanted -= count;
        at += piece->count == 0;
    }
    return at;
}

/*
 * Whole blocks from the nodes that each unit of a level still has; what is left of each goes to the
 * next level. Returns how many pieces are left.
 */
static uint32_t lay_level(struct search *q, uint32_t level, uint32_t block, uint32_t have,
                          uint32_t *used, uint32_t *batches)
{
    struct search_scratch *s = q->s;
    const uint32_t *unit = level < UNIT_COUNT ? s->along[level] : NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0, end; i < have; i = end) {
        uint32_t count = s->left[i].count, of = unit ? unit[s->left[i].first] : 0;
        /* Pieces of one unit follow each other; above the pods everything is one unit. */
        for (end = i + 1; end < have && (!unit || unit[s->left[end].first] == of); end++) {
            count += s->left[end].count;
        }
        uint32_t units = count / block, at = i;
        if (units > 0) {
            struct batch *batch = &s->batches[(*batches)++];
            *batch = (struct batch){*used, 0, units, s->left[i].first, level >= UNIT_POD};
            at = take_pieces(s, i, units * block, used);
            batch->pieces = *used - batch->at;
        }
        for (; at < end; at++) {
            s->left[kept++] = s->left[at];
        }
    }
    return kept;
}

/* Writes down which node stands at which position, and in which units it is. */
static uint32_t write_batch(struct search *q, const struct batch *batch, uint32_t block,
                            bool columns, uint32_t position)
{
    struct search_scratch *s = q->s;
    /* Column by column goes down the blocks of the batch first. */
    uint32_t column = 0, row = 0;
    for (uint32_t i = 0; i < batch->pieces; i++) {
        struct piece piece = s->laid[batch->at + i];
        for (uint32_t level = 0; level < UNIT_COUNT && !columns; level++) {
            fill(s->unit[level] + position, piece.count, s->along[level][piece.first]);
        }
        for (uint32_t k = 0; k < piece.count && !columns; k++) {
            s->assigned[position++] = piece.first + k;
        }
        /* By columns: what lies under one leaf are neighbours along the outer axes. */
        for (uint32_t k = 0; k < piece.count && columns; k++) {
            uint32_t at = position + row * block + column;
            s->assigned[at] = piece.first + k;
            for (uint32_t level = 0; level < UNIT_COUNT; level++) {
                s->unit[level][at] = s->along[level][piece.first];
            }
            row++;
            column += row == batch->units;
            row = row == batch->units ? 0 : row;
        }
    }
    return columns ? position + batch->units * block : position;
}

bool assign_blocks(struct search *q, uint32_t block, bool columns)
{
    struct search_scratch *s = q->s;
    uint32_t ends[UNIT_COUNT + 1], at[UNIT_COUNT + 1], batches = 0, used = 0, position = 0;
    uint32_t have = q->piece_count, finest = q->p->domain_nodes > 1 ? UNIT_DOMAIN : UNIT_LEAF;
    bool across = false;
    memcpy(s->left, s->pieces, have * sizeof(*s->left));
    for (uint32_t level = 0; level <= UNIT_COUNT; level++) {
        at[level] = batches;
        have = level < finest ? have : lay_level(q, level, block, have, &used, &batches);
        ends[level] = batches;
    }
    MYR_ASSERT(have == 0);
    /* Batches are numbered along the topology; those of one level are in order already. */
    for (uint32_t b = 0; b < batches; b++) {
        uint32_t next = MYR_NONE;
        for (uint32_t level = 0; level <= UNIT_COUNT; level++) {
            if (at[level] < ends[level] && (next == MYR_NONE || s->batches[at[level]].topmost <
                                                                    s->batches[at[next]].topmost)) {
                next = level;
            }
        }
        const struct batch *batch = &s->batches[at[next]++];
        across = across || (batch->across && batch->units > 1);
        position = write_batch(q, batch, block, columns && batch->across, position);
    }
    MYR_ASSERT(position == q->nodes);
    /* By columns neighbours are far apart, so nothing may be taken for sorted. */
    q->sorted_run = columns ? 1 : block;
    q->assigned = true;
    return across;
}
