#include "grid.h"

#include "myriad/work/ranks.h"

/* One digit of a rank's number and the axis that it counts. */
struct axis_digit {
    enum myr_axis axis;
    struct myr_digit digit;
};

/* Fastest digit first. */
struct grid {
    uint32_t count;
    struct axis_digit digits[MYR_GROUP_DIGITS_MAX];
};

/* The next slower digit: its stride is the number of ranks that all faster ones tell apart. */
static void grid_push(struct grid *grid, enum myr_axis axis, uint32_t size)
{
    uint32_t stride = 1;
    if (grid->count > 0) {
        const struct myr_digit *last = &grid->digits[grid->count - 1].digit;
        stride = last->size * last->stride;
    }
    MYR_ASSERT(grid->count < MYR_GROUP_DIGITS_MAX);
    grid->digits[grid->count++] = (struct axis_digit){axis, {size, stride}};
}

/* The grid of all weights but routed experts: tp, cp, dp and pp in the layout's order. */
static struct grid dense_grid(const struct myr_layout *layout)
{
    struct grid grid = {};
    for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        switch (layout->order[i]) {
        case MYR_AXIS_TP:
            grid_push(&grid, MYR_AXIS_TP, layout->tp);
            break;
        case MYR_AXIS_CP:
            grid_push(&grid, MYR_AXIS_CP, layout->cp);
            break;
        case MYR_AXIS_DP:
            grid_push(&grid, MYR_AXIS_DP, layout->dp);
            break;
        case MYR_AXIS_PP:
            grid_push(&grid, MYR_AXIS_PP, layout->pp);
            break;
        default: /* ep is no axis of this grid */
            break;
        }
    }
    return grid;
}

/* Without expert parallelism, experts are cut as everything else is: the dense grid serves. */
static bool has_expert_grid(const struct myr_layout *layout)
{
    return layout->ep > 1 || myr_layout_etp(layout) != layout->tp;
}

/*
 * The same ranks as the dense grid has; cp is no digit here, its ranks are among those of ep and
 * edp.
 */
static struct grid expert_grid(const struct myr_layout *layout)
{
    struct grid grid = {};
    for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        switch (layout->order[i]) {
        case MYR_AXIS_TP:
            grid_push(&grid, MYR_AXIS_ETP, myr_layout_etp(layout));
            break;
        case MYR_AXIS_EP:
            grid_push(&grid, MYR_AXIS_EP, layout->ep);
            break;
        case MYR_AXIS_DP:
            grid_push(&grid, MYR_AXIS_EDP, myr_layout_edp(layout));
            break;
        case MYR_AXIS_PP:
            grid_push(&grid, MYR_AXIS_PP, layout->pp);
            break;
        default:
            break;
        }
    }
    return grid;
}

/* An axis that a grid does not have is a digit of size 1, which every rank has as 0. */
static struct myr_digit grid_digit(const struct grid *grid, enum myr_axis axis)
{
    for (uint32_t i = 0; i < grid->count; i++) {
        if (grid->digits[i].axis == axis) {
            return grid->digits[i].digit;
        }
    }
    return (struct myr_digit){1, 1};
}

/* The coordinate of a rank along an axis. */
static uint32_t digit_of(struct myr_digit digit, uint32_t rank)
{
    return rank / digit.stride % digit.size;
}

bool myr_work_grid_stages_align(const struct myr_layout *layout)
{
    if (!has_expert_grid(layout)) {
        return true;
    }
    struct grid dense = dense_grid(layout);
    struct grid expert = expert_grid(layout);
    /*
     * Both pipeline digits have the size pp; they tell the same stages when the strides agree too.
     */
    return layout->pp == 1 ||
           grid_digit(&dense, MYR_AXIS_PP).stride == grid_digit(&expert, MYR_AXIS_PP).stride;
}

/*
 * Splits the digits of the axes in 'mask' after 'inner_size' ranks: digits (or parts of one) below
 * get the axis 'inner', those above 'outer'. False when a boundary falls inside a digit.
 */
static bool split_digits(struct grid *grid, unsigned mask, uint32_t inner_size, enum myr_axis inner,
                         enum myr_axis outer)
{
    struct grid result = {};
    /* Ranks that are still to be placed inside, once faster digits have taken theirs. */
    uint32_t left = inner_size;
    for (uint32_t i = 0; i < grid->count; i++) {
        struct axis_digit d = grid->digits[i];
        if (!(mask >> d.axis & 1)) {
            result.digits[result.count++] = d;
            continue;
        }
        uint32_t size = d.digit.size;
        uint32_t low = left < size ? left : size;
        if (size % low != 0 || left % low != 0) {
            return false;
        }
        MYR_ASSERT(result.count + 2 <= MYR_GROUP_DIGITS_MAX);
        /* A digit wholly inside leaves an outer part of size 1, and the other way round. */
        result.digits[result.count++] = (struct axis_digit){inner, {low, d.digit.stride}};
        result.digits[result.count++] =
            (struct axis_digit){outer, {size / low, d.digit.stride * low}};
        left /= low;
    }
    *grid = result;
    return left == 1;
}

bool myr_work_grid_shards_align(const struct myr_layout *layout)
{
    struct grid grid = dense_grid(layout);
    unsigned mask = 1U << MYR_AXIS_DP | 1U << MYR_AXIS_CP;
    return split_digits(&grid, mask, myr_layout_shard(layout), MYR_AXIS_SHARD, MYR_AXIS_REPLICA);
}

/* Coordinates */

/* Both grids number the same rank, so a rank has coordinates in each. */
struct myr_coords myr_layout_coords(const struct myr_layout *layout, uint32_t rank)
{
    MYR_ASSERT(rank < myr_layout_gpus(layout));
    struct grid dense = dense_grid(layout);
    struct myr_coords c = {
        .tp = digit_of(grid_digit(&dense, MYR_AXIS_TP), rank),
        .cp = digit_of(grid_digit(&dense, MYR_AXIS_CP), rank),
        .dp = digit_of(grid_digit(&dense, MYR_AXIS_DP), rank),
        .pp = digit_of(grid_digit(&dense, MYR_AXIS_PP), rank),
    };
    if (has_expert_grid(layout)) {
        struct grid expert = expert_grid(layout);
        c.etp = digit_of(grid_digit(&expert, MYR_AXIS_ETP), rank);
        c.ep = digit_of(grid_digit(&expert, MYR_AXIS_EP), rank);
        c.edp = digit_of(grid_digit(&expert, MYR_AXIS_EDP), rank);
    } else {
        /* As split_digits() would number them: the faster of both axes first. */
        bool cp_first =
            grid_digit(&dense, MYR_AXIS_CP).stride <= grid_digit(&dense, MYR_AXIS_DP).stride;
        c.etp = c.tp;
        c.edp = cp_first ? c.cp + c.dp * layout->cp : c.dp + c.cp * layout->dp;
    }
    return c;
}

/* From the dense coordinates alone: they name the rank. */
uint32_t myr_layout_rank(const struct myr_layout *layout, const struct myr_coords *coords)
{
    MYR_ASSERT(coords->tp < layout->tp && coords->cp < layout->cp);
    MYR_ASSERT(coords->dp < layout->dp && coords->pp < layout->pp);
    struct grid dense = dense_grid(layout);
    return coords->tp * grid_digit(&dense, MYR_AXIS_TP).stride +
           coords->cp * grid_digit(&dense, MYR_AXIS_CP).stride +
           coords->dp * grid_digit(&dense, MYR_AXIS_DP).stride +
           coords->pp * grid_digit(&dense, MYR_AXIS_PP).stride;
}

/* Groups */

/* The axes that vary inside a group, as a mask over the axes of the grid it lies in. */
static unsigned inner_axes(const struct myr_layout *layout, enum myr_axis axis)
{
    unsigned dp_cp = 1U << MYR_AXIS_DP | 1U << MYR_AXIS_CP;
    switch (axis) {
    case MYR_AXIS_DP_CP:
        return dp_cp;
    case MYR_AXIS_TP_PP:
        return 1U << MYR_AXIS_TP | 1U << MYR_AXIS_PP;
    case MYR_AXIS_ETP:
        return has_expert_grid(layout) ? 1U << axis : 1U << MYR_AXIS_TP;
    case MYR_AXIS_EDP:
        return has_expert_grid(layout) ? 1U << axis : dp_cp;
    case MYR_AXIS_WORLD:
        return ~0U;
    case MYR_AXIS_EMBEDDING:
    case MYR_AXIS_MIRROR:
        return 0; /* the pipeline digit is taken out and kept apart */
    default:
        return 1U << axis;
    }
}

/* The grid whose digits the groups of an axis are made of. */
static struct grid grid_for(const struct myr_layout *layout, enum myr_axis axis)
{
    bool expert_axis = axis == MYR_AXIS_EP || axis == MYR_AXIS_ETP || axis == MYR_AXIS_EDP ||
                       axis == MYR_AXIS_EXPERT_SHARD || axis == MYR_AXIS_EXPERT_REPLICA;
    bool expert = expert_axis && has_expert_grid(layout);
    struct grid grid = expert ? expert_grid(layout) : dense_grid(layout);
    unsigned dp_cp = 1U << MYR_AXIS_DP | 1U << MYR_AXIS_CP;
    bool fits = true;
    if (axis == MYR_AXIS_SHARD || axis == MYR_AXIS_REPLICA) {
        fits =
            split_digits(&grid, dp_cp, myr_layout_shard(layout), MYR_AXIS_SHARD, MYR_AXIS_REPLICA);
    } else if (axis == MYR_AXIS_EXPERT_SHARD || axis == MYR_AXIS_EXPERT_REPLICA) {
        fits = split_digits(&grid, expert ? 1U << MYR_AXIS_EDP : dp_cp,
                            myr_layout_expert_shard(layout), MYR_AXIS_EXPERT_SHARD,
                            MYR_AXIS_EXPERT_REPLICA);
    }
    MYR_ASSERT(fits);
    return grid;
}

/*
 * Digits of the axes that vary inside a group are 'inner', the others 'outer'; nothing is stored of
 * single ranks.
 */
void myr_groups_init(struct myr_groups *groups, const struct myr_layout *layout, enum myr_axis axis)
{
    struct grid grid = grid_for(layout, axis);
    unsigned mask = inner_axes(layout, axis);
    bool staged = axis == MYR_AXIS_EMBEDDING || axis == MYR_AXIS_MIRROR;
    *groups = (struct myr_groups){.group_count = 1, .group_size = 1, .stage = {1, 1}};
    for (uint32_t i = 0; i < grid.count; i++) {
        struct axis_digit d = grid.digits[i];
        if (staged && d.axis == MYR_AXIS_PP) {
            groups->stage = d.digit;
        } else if (mask >> d.axis & 1) {
            groups->inner[groups->inner_count++] = d.digit;
            groups->group_size *= d.digit.size;
        } else {
            groups->outer[groups->outer_count++] = d.digit;
            groups->group_count *= d.digit.size;
        }
    }
    /* With one stage a pair would be a rank with itself: a group of one. */
    if (!staged || groups->stage.size == 1) {
        return;
    }
    groups->group_size = 2;
    groups->mirror = axis == MYR_AXIS_MIRROR;
    if (groups->mirror) {
        MYR_ASSERT(groups->stage.size % 2 == 0);
        groups->group_count *= groups->stage.size / 2;
    }
}

/* The rank of the digits of '*value', which keeps what they do not use up. */
static uint32_t compose(const struct myr_digit *digits, uint32_t count, uint32_t *value)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        rank += *value % digits[i].size * digits[i].stride;
        *value /= digits[i].size;
    }
    return rank;
}

/* The inverse of compose(): the number whose digits these are in the rank. */
static uint32_t decompose(const struct myr_digit *digits, uint32_t count, uint32_t rank)
{
    uint32_t value = 0;
    for (uint32_t i = count; i-- > 0;) {
        value = value * digits[i].size + digit_of(digits[i], rank);
    }
    return value;
}

/* Outer digits from the group's number, inner ones from the member's. */
uint32_t myr_groups_member(const struct myr_groups *groups, uint32_t group, uint32_t member)
{
    MYR_ASSERT(group < groups->group_count);
    MYR_ASSERT(member < groups->group_size);
    uint32_t rank = compose(groups->outer, groups->outer_count, &group);
    if (groups->stage.size == 1) {
        return rank + compose(groups->inner, groups->inner_count, &member);
    }
    /* What is left of the group number is the lower of the two stages. */
    uint32_t stage = member == 0 ? group : groups->stage.size - 1 - group;
    return rank + stage * groups->stage.stride;
}

/*
 * False for a rank that is in no group of the axis: stages between the outer ones share no table.
 */
bool myr_groups_place(const struct myr_groups *groups, uint32_t rank, struct myr_group_place *ret)
{
    uint32_t group = decompose(groups->outer, groups->outer_count, rank);
    if (groups->stage.size == 1) {
        ret->group = group;
        ret->member = decompose(groups->inner, groups->inner_count, rank);
        return true;
    }
    uint32_t stage = digit_of(groups->stage, rank);
    uint32_t last = groups->stage.size - 1;
    uint32_t lower = stage <= last - stage ? stage : last - stage;
    /* Stages between the outer ones are in no group of the embedding. */
    if (!groups->mirror && lower != 0) {
        return false;
    }
    /* compose() takes the outer digits off first, so the pair is the slowest part of the number. */
    uint32_t per_pair = groups->group_count / (groups->mirror ? groups->stage.size / 2 : 1);
    ret->group = group + lower * per_pair;
    ret->member = stage == lower ? 0 : 1;
    return true;
}
