#include "myriad/sched/traffic.h"

#include "myriad/text/amount.h"

/*
 * What a layout sends between nodes. Ranks are numbers with one digit for each axis, and a node
 * holds a run of ranks, so groups of ranks become groups of cells, which are nodes in rank order.
 * Groups with the same members are one family; digits of the cells let a search reorder the axes
 * without listing members.
 */

/* One digit of a cell's number that the members of a group differ in. */
struct cell_digit {
    uint32_t size, stride;
};

/* Members of a group differ in these digits and agree in all others; none: all in one cell. */
struct cell_set {
    uint32_t count;
    struct cell_digit digits[MYR_GROUP_DIGITS_MAX + 1];
    bool cut; /* a cell's edge cuts through a group: 'digits' join neighbouring groups */
};

static uint64_t least_common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    MYR_ASSERT(a > 0 && b > 0);
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/*
 * Digits of ranks as digits of cells of 'per' ranks. A digit lies inside a block of neighbouring
 * ranks, or above it; the block grows until that holds for all of them. It divides the ranks of the
 * job, because they and every digit's end do. Where nothing is cut it is the cells that one digit
 * goes through; where a cell holds a part of a group (6 ranks on nodes of 4 GPUs) it is the least
 * run of cells that holds whole groups, which are then one group of those cells with the bytes of
 * all: their traffic is kept, only who is nearer to whom inside the run is not.
 */
static void to_cells(const struct myr_groups *groups, uint32_t per, struct cell_set *ret)
{
    uint64_t block = per;
    *ret = (struct cell_set){};
    for (uint32_t i = 0; i < groups->inner_count;) {
        uint64_t stride = groups->inner[i].stride, end = stride * groups->inner[i].size;
        if (groups->inner[i].size < 2 || block % end == 0 || stride % block == 0) {
            i++;
            continue;
        }
        ret->cut = ret->cut || block != per || per % stride != 0 || end % per != 0;
        block = least_common_multiple(block, end);
        i = 0; /* a digit above the smaller block may be cut by this one */
    }
    if (block > per) {
        ret->digits[ret->count++] = (struct cell_digit){(uint32_t)(block / per), 1};
    }
    for (uint32_t i = 0; i < groups->inner_count; i++) {
        uint64_t size = groups->inner[i].size, stride = groups->inner[i].stride;
        if (size >= 2 && block % (size * stride) != 0) {
            ret->digits[ret->count++] =
                (struct cell_digit){(uint32_t)size, (uint32_t)(stride / per)};
        }
    }
}

static bool digit_is_zero(uint32_t cell, struct cell_digit digit)
{
    return cell / digit.stride % digit.size == 0;
}

/* The member with zeros in all these digits stands for its group. */
static bool is_first(uint32_t cell, const struct cell_set *set)
{
    for (uint32_t d = 0; d < set->count; d++) {
        if (!digit_is_zero(cell, set->digits[d])) {
            return false;
        }
    }
    return true;
}

/* Families that different axes make may be the same groups. */
static bool same_members(const struct myr_traffic_family *a, const struct myr_traffic_family *b)
{
    return a->group_size == b->group_size && a->group_count == b->group_count &&
           memcmp(a->offsets, b->offsets, a->group_size * sizeof(uint32_t)) == 0 &&
           memcmp(a->firsts, b->firsts, a->group_count * sizeof(uint32_t)) == 0;
}

/* Adds a family of 'bytes' in all, or its bytes to one with the same groups. */
static void add_family(struct myr_job_traffic *t, struct myr_traffic_family *family, double bytes)
{
    /* In all groups together; a family keeps the bytes of one of its groups. */
    MYR_ASSERT(bytes > 0 && family->group_count > 0 && family->group_size > 1);
    t->between_bytes += bytes;
    family->bytes = bytes / family->group_count;
    for (uint32_t i = 0; i < t->family_count; i++) {
        if (same_members(&t->families[i], family)) {
            t->families[i].bytes += family->bytes;
            return;
        }
    }
    MYR_ASSERT(t->family_count < MYR_TRAFFIC_FAMILIES_MAX);
    t->families[t->family_count++] = *family;
}

/* Groups in which every combination of the digits is a member. */
static void add_groups(struct myr_job_traffic *t, enum myr_axis axis, const struct cell_set *set,
                       double bytes, struct myr_arena *arena)
{
    struct myr_traffic_family f = {.axis = axis, .group_size = 1};
    for (uint32_t d = 0; d < set->count; d++) {
        f.group_size *= set->digits[d].size;
    }
    MYR_ASSERT(f.group_size > 0);
    f.offsets = MYR_ARENA_NEW(arena, uint32_t, f.group_size);
    /* Members are counted with the digits of the set as places; their offsets are the strides. */
    for (uint32_t m = 0; m < f.group_size; m++) {
        uint32_t rest = m;
        for (uint32_t d = 0; d < set->count; d++) {
            f.offsets[m] += rest % set->digits[d].size * set->digits[d].stride;
            rest /= set->digits[d].size;
        }
    }
    f.firsts = MYR_ARENA_NEW(arena, uint32_t, t->cells / f.group_size);
    for (uint32_t cell = 0; cell < t->cells; cell++) {
        if (is_first(cell, set)) {
            f.firsts[f.group_count++] = cell;
        }
    }
    MYR_ASSERT(f.group_count * f.group_size == t->cells);
    add_family(t, &f, bytes);
}

/* Neighbouring stages as pairs; with several chunks a stage the last one feeds the first. */
static void add_pipeline(struct myr_job_traffic *t, struct cell_digit digit, bool around,
                         double bytes, struct myr_arena *arena)
{
    /* Each of the chains has as many cells as there are stages. */
    MYR_ASSERT(digit.size > 1 && t->cells % digit.size == 0);
    uint32_t chains = t->cells / digit.size, links = digit.size - 1;
    /* Of two stages the closing pair is the pair itself. */
    bool closes = around && digit.size > 2;
    double each = bytes / ((double)chains * (links + (closes ? 1 : 0)));
    for (uint32_t closing = 0; closing < (closes ? 2U : 1U); closing++) {
        struct myr_traffic_family f = {.axis = MYR_AXIS_PP, .group_size = 2};
        f.offsets = MYR_ARENA_NEW(arena, uint32_t, 2);
        f.offsets[1] = closing ? links * digit.stride : digit.stride;
        f.firsts = MYR_ARENA_NEW(arena, uint32_t, t->cells);
        for (uint32_t cell = 0; cell < t->cells; cell++) {
            uint32_t stage = cell / digit.stride % digit.size;
            if (closing ? stage == 0 : stage < links) {
                f.firsts[f.group_count++] = cell;
            }
        }
        add_family(t, &f, each * f.group_count);
    }
}

/* Bytes that all ranks send in a step, by axis. */
static void sum_bytes(const struct myr_layout *layout, const struct myr_model *model,
                      double ret[MYR_AXIS_WORLD + 1])
{
    double ranks = (double)myr_layout_gpus(layout);
    memset(ret, 0, sizeof(double) * (MYR_AXIS_WORLD + 1));
    /* Without a model only the ratio counts: 64 : 16 : 8 : 4 : 1, as docs/sched.md says. */
    if (!model) {
        ret[MYR_AXIS_TP] = layout->tp > 1 ? 64 * ranks : 0;
        ret[MYR_AXIS_CP] = layout->cp > 1 ? 16 * ranks : 0;
        ret[MYR_AXIS_EP] = layout->ep > 1 ? 8 * ranks : 0;
        ret[MYR_AXIS_DP_CP] = layout->dp * layout->cp > 1 ? 4 * ranks : 0;
        ret[MYR_AXIS_PP] = layout->pp > 1 ? ranks : 0;
        return;
    }
    struct myr_comm_list list;
    for (uint32_t stage = 0; stage < layout->pp; stage++) {
        myr_comm_of(layout, model, stage, &list);
        for (uint32_t i = 0; i < list.count; i++) {
            const struct myr_comm *row = &list.rows[i];
            if (row->kind != MYR_COMM_GRAD_NORM && row->kind != MYR_COMM_EMBEDDING &&
                row->kind != MYR_COMM_MIRROR) {
                /*
                 * A row is what one rank of the stage sends, and each stage has a part of the
                 * ranks.
                 */
                ret[row->axis] +=
                    (double)myr_comm_wire_bytes(row) * (double)row->count * ranks / layout->pp;
            }
        }
    }
}

/* Digits fine enough that every offset of every family is a sum of whole digits. */
static void refine(struct myr_job_traffic *t, const uint32_t *cuts, uint32_t cut_count)
{
    uint32_t at = 1;
    while (at < t->cells) {
        /* The next edge of any digit above this one. */
        uint32_t next = t->cells;
        for (uint32_t i = 0; i < cut_count; i++) {
            if (cuts[i] > at && cuts[i] < next) {
                next = cuts[i];
            }
        }
        if (next % at != 0 || t->digit_count == MYR_TRAFFIC_DIGITS_MAX) {
            /* Axes that do not nest: blocks are then tried along the numbering only. */
            t->digit_count = 1;
            t->digits[0] = t->cells;
            return;
        }
        t->digits[t->digit_count++] = next / at;
        at = next;
    }
}

/*
 * What the digits say about a family, so that a search can price an order of the digits without
 * listing the members of every group.
 */
static void describe(const struct myr_job_traffic *t, struct myr_traffic_family *f)
{
    uint32_t stride = 1, bits = 0, product = 1;
    f->members = MYR_MEMBERS_LISTED;
    f->digit_bits = 0;
    for (uint32_t d = 0; d < t->digit_count; stride *= t->digits[d], d++) {
        uint32_t size = t->digits[d], blocks = t->cells / size;
        /* With two members neighbours, ends and all are the same: it counts as all. */
        bool pair = f->axis == MYR_AXIS_PP && size > 2;
        if (pair && f->offsets[1] == stride && f->group_count == blocks * (size - 1)) {
            f->members = MYR_MEMBERS_NEIGHBOURS;
            f->digit_bits = 1U << d;
            return;
        }
        if (pair && f->offsets[1] == stride * (size - 1) && f->group_count == blocks) {
            f->members = MYR_MEMBERS_ENDS;
            f->digit_bits = 1U << d;
            return;
        }
        /* A member at just this stride means that the group goes through this digit. */
        for (uint32_t m = 1; m < f->group_size; m++) {
            if (f->offsets[m] == stride) {
                bits |= 1U << d;
                product *= size;
                break;
            }
        }
    }
    /* All combinations of those digits are as many as there are members: none is missing. */
    if (product == f->group_size && f->group_count * f->group_size == t->cells) {
        f->members = MYR_MEMBERS_ALL;
        f->digit_bits = bits;
    }
}

int myr_job_traffic_of(const struct myr_layout *layout, const struct myr_model *model,
                       uint32_t gpus_per_node, struct myr_arena *arena, struct myr_job_traffic *ret,
                       struct myr_err *err)
{
    uint64_t ranks = myr_layout_gpus(layout);
    double bytes[MYR_AXIS_WORLD + 1];
    uint32_t cuts[4 * MYR_TRAFFIC_FAMILIES_MAX], cut_count = 0;
    *ret = (struct myr_job_traffic){.gpus_per_cell = gpus_per_node};
    if (ranks % gpus_per_node != 0) {
        return myr_err_set(err, MYR_EINVAL, "%s cannot fill nodes of %s", MYR_COUNT(ranks, "rank"),
                           MYR_COUNT(gpus_per_node, "GPU"));
    }
    ret->cells = (uint32_t)(ranks / gpus_per_node);
    sum_bytes(layout, model, bytes);
    for (int axis = 0; axis <= MYR_AXIS_WORLD; axis++) {
        struct myr_groups groups;
        struct cell_set set;
        if (bytes[axis] <= 0) {
            continue;
        }
        myr_groups_init(&groups, layout, (enum myr_axis)axis);
        to_cells(&groups, gpus_per_node, &set);
        /* Both edges of a digit must be edges of the finer ones. */
        for (uint32_t d = 0; d < set.count && cut_count + 2 <= MYR_ARRAY_COUNT(cuts); d++) {
            cuts[cut_count++] = set.digits[d].stride;
            cuts[cut_count++] = set.digits[d].stride * set.digits[d].size;
        }
        /* Its groups lie inside the nodes, and no placement changes that. */
        if (set.count == 0) {
            ret->inside_bytes += bytes[axis];
        } else if (axis == MYR_AXIS_PP && !set.cut) {
            add_pipeline(ret, set.digits[0], layout->vp > 1, bytes[axis], arena);
        } else {
            add_groups(ret, (enum myr_axis)axis, &set, bytes[axis], arena);
        }
    }
    refine(ret, cuts, cut_count);
    MYR_ASSERT(ret->digit_count <= MYR_TRAFFIC_DIGITS_MAX && ret->cells > 0);
    for (uint32_t f = 0; f < ret->family_count; f++) {
        describe(ret, &ret->families[f]);
    }
    return MYR_OK;
}
