#include <stdlib.h>

#include "myriad/text/amount.h"
#include "read/text.h"

/*
 * htsim's connection matrix: counts, then a line for each connection, "0->5 id 1 start 0 size
 * 2000000", and for each trigger, "trigger id 1 oneshot". A connection starts at a time or by a
 * trigger; the end of one fires triggers. Here sending and receiving end together, when the last
 * byte has come. A size of 0 is a connection without end.
 *
 * A trigger is an operation that takes no time. Those whose effect depends on which of several
 * ends first have no fixed order and are refused.
 */

enum { ID_MAX = INT32_MAX }; /* htsim's ids are C ints */

enum trigger_type { TRIGGER_UNSAID, TRIGGER_ONESHOT, TRIGGER_MULTISHOT, TRIGGER_BARRIER };

struct trigger {
    uint8_t type;
    uint32_t id, count;       /* barrier: how many must end */
    uint32_t fired, starts;   /* connections that fire it, that it starts */
    struct scan_place place;  /* where it was said, else first named */
    struct scan_place target; /* the first that it starts */
    uint32_t op;
};

/* What a connection has to do with a trigger. */
struct bond {
    uint32_t trigger, op;
    bool fires;
};

struct matrix {
    struct scan *scan;
    struct myr_trace *trace;
    uint32_t nodes;
    uint32_t connections, triggers; /* as promised */
    uint32_t connections_seen, triggers_seen;
    /* Whether the file promised a number of connections, of triggers; else any will do. */
    bool counted[2];
    struct myr_u64map ids;      /* of triggers, to their place in the list */
    struct myr_u64map flow_ids; /* of connections */
    MYR_VEC(struct trigger) list;
    MYR_VEC(struct bond) bonds;
};

/* By id; made where it is new. The list may move: places are kept, not pointers. */
static uint32_t trigger_at(struct matrix *matrix, uint32_t id)
{
    uint32_t *found = myr_u64map_find(&matrix->ids, id);
    if (found) {
        return *found;
    }
    /* May be named before it is said what it is: the file need not be in order. */
    struct trigger trigger = {.id = id, .place = scan_here(matrix->scan)};
    myr_vec_push(&matrix->list, trigger);
    bool fresh = myr_u64map_add(&matrix->ids, id, (uint32_t)matrix->list.count - 1);
    MYR_ASSERT(fresh && matrix->ids.count == matrix->list.count);
    return (uint32_t)matrix->list.count - 1;
}

/* "0->5", at hand as a word. */
static int read_ends(struct matrix *matrix, struct myr_trace_op *op, struct myr_err *err)
{
    struct scan *scan = matrix->scan;
    char shown[SCAN_SHOWN];
    const char *data = scan->word.data;
    uint64_t from = 0, to = 0;
    size_t dash = 0;
    while (dash + 1 < scan->word.len && (data[dash] != '-' || data[dash + 1] != '>')) {
        dash++;
    }
    /* Without an arrow 'right' is empty, which is no number. */
    struct myr_str left = {data, dash};
    struct myr_str right = {data + dash + 2,
                            dash + 2 <= scan->word.len ? scan->word.len - dash - 2 : 0};
    if (!myr_str_to_u64(left, &from) || !myr_str_to_u64(right, &to) || from >= matrix->nodes ||
        to >= matrix->nodes) {
        return scan_error(err, scan, "'%s' must be FROM->TO with nodes from 0 to %u",
                          scan_shown(scan, shown), matrix->nodes - 1);
    }
    if (from == to) {
        return scan_error(err, scan, "node %u sends to itself", (uint32_t)from);
    }
    op->from = (uint32_t)from;
    op->to = (uint32_t)to;
    return MYR_OK;
}

/* What may follow the ends of a connection. */
struct attributes {
    bool start, size;
    uint32_t trigger, send_done, recv_done; /* 0: none */
    uint32_t id, ignored;
};

/* The word at hand says which; its value is the next word. */
static int read_attribute(struct matrix *matrix, struct attributes *attributes,
                          struct myr_trace_op *op, struct myr_err *err)
{
    struct scan *scan = matrix->scan;
    char shown[SCAN_SHOWN];
    if (scan_is(scan, "start")) {
        attributes->start = true;
        return scan_time(scan, "the start in picoseconds", 12, &op->start, err);
    }
    if (scan_is(scan, "size")) {
        attributes->size = true;
        return scan_number(scan, "the size in bytes", 0, MYR_TRACE_BYTES_MAX, &op->bytes, err);
    }
    if (scan_is(scan, "id")) {
        MYR_TRY(scan_u32(scan, "the id", 1, ID_MAX, &attributes->id, err));
        return myr_u64map_add(&matrix->flow_ids, attributes->id, 0)
                   ? MYR_OK
                   : scan_error(err, scan, "connection id %u is there already", attributes->id);
    }
    if (scan_is(scan, "trigger")) {
        return scan_u32(scan, "the trigger", 1, ID_MAX, &attributes->trigger, err);
    }
    if (scan_is(scan, "send_done_trigger")) {
        return scan_u32(scan, "the trigger", 1, ID_MAX, &attributes->send_done, err);
    }
    if (scan_is(scan, "recv_done_trigger")) {
        return scan_u32(scan, "the trigger", 1, ID_MAX, &attributes->recv_done, err);
    }
    if (scan_is(scan, "prio")) {
        return scan_u32(scan, "the priority", 0, ID_MAX, &attributes->ignored, err);
    }
    return scan_error(err, scan,
                      "'%s' is not understood; id, start, size, trigger, "
                      "send_done_trigger, recv_done_trigger or prio is expected",
                      scan_shown(scan, shown));
}

/* 0 is no trigger: htsim's ids begin at 1. */
static void bind(struct matrix *matrix, uint32_t id, uint32_t op, bool fires)
{
    if (id == 0) {
        return;
    }
    struct bond bond = {trigger_at(matrix, id), op, fires};
    struct trigger *trigger = &matrix->list.items[bond.trigger];
    MYR_ASSERT(bond.trigger < matrix->list.count && op < matrix->trace->ops.count);
    if (!fires && trigger->starts == 0) {
        trigger->target = scan_here(matrix->scan);
    }
    trigger->fired += fires;
    trigger->starts += !fires;
    myr_vec_push(&matrix->bonds, bond);
}

/* A size of 0 is kept as it is: whoever loads the trace has to say what it stands for. */
static int read_connection(struct matrix *matrix, struct myr_err *err)
{
    struct scan *scan = matrix->scan;
    struct myr_trace_op op = {.kind = MYR_TRACE_MESSAGE, .line = scan->line, .start = -1};
    struct attributes attributes = {};
    uint32_t id;
    struct scan_place place = scan_here(scan);
    if (matrix->nodes == 0) {
        return scan_error(err, scan, "'Nodes' must come before the first connection");
    }
    MYR_TRY(read_ends(matrix, &op, err));
    while (scan_word(scan)) {
        MYR_TRY(read_attribute(matrix, &attributes, &op, err));
    }
    if (!attributes.size) {
        return scan_error_at(err, scan, place, "the connection has no size");
    }
    op.endless = op.bytes == 0;
    if (op.endless && (attributes.send_done || attributes.recv_done)) {
        return scan_error_at(err, scan, place,
                             "the connection has no end (size 0), so its trigger never fires");
    }
    /* One of the two, neither both nor none. */
    if (attributes.start == (attributes.trigger != 0)) {
        return scan_error_at(err, scan, place, "the connection must have a start or a trigger%s",
                             attributes.start ? ", not both" : "");
    }
    MYR_TRY(trace_add(matrix->trace, scan, op, &id, err));
    /* Sending and receiving end together here: both triggers hang on the same operation. */
    bind(matrix, attributes.trigger, id, false);
    bind(matrix, attributes.send_done, id, true);
    bind(matrix, attributes.recv_done, id, true);
    matrix->connections_seen++;
    return MYR_OK;
}

/* Words in any order; what it is may be said once. */
static int read_trigger(struct matrix *matrix, struct myr_err *err)
{
    struct scan *scan = matrix->scan;
    struct trigger said = {.place = scan_here(scan)};
    char shown[SCAN_SHOWN];
    int rc = MYR_OK;
    while (rc == MYR_OK && scan_word(scan)) {
        uint8_t type = scan_is(scan, "oneshot")     ? TRIGGER_ONESHOT
                       : scan_is(scan, "multishot") ? TRIGGER_MULTISHOT
                       : scan_is(scan, "barrier")   ? TRIGGER_BARRIER
                                                    : TRIGGER_UNSAID;
        if (type != TRIGGER_UNSAID) {
            said.type = type;
        } else if (scan_is(scan, "id")) {
            rc = scan_u32(scan, "the id", 1, ID_MAX, &said.id, err);
        } else if (scan_is(scan, "count")) {
            rc = scan_u32(scan, "the count", 1, ID_MAX, &said.count, err);
        } else {
            rc = scan_error(err, scan,
                            "'%s' is not understood; id, count, oneshot, multishot or "
                            "barrier is expected",
                            scan_shown(scan, shown));
        }
    }
    if (rc < 0) {
        return rc;
    }
    if (said.id == 0 || said.type == TRIGGER_UNSAID ||
        (said.type == TRIGGER_BARRIER && said.count == 0)) {
        return scan_error_at(err, scan, said.place, "the trigger has no %s",
                             said.id == 0     ? "id"
                             : said.type == 0 ? "type: oneshot, multishot or barrier"
                                              : "count");
    }
    uint32_t index = trigger_at(matrix, said.id); /* may move the list */
    MYR_ASSERT(matrix->list.items);
    struct trigger *trigger = &matrix->list.items[index];
    if (trigger->type != TRIGGER_UNSAID) {
        return scan_error_at(err, scan, said.place, "trigger %u is there already", said.id);
    }
    trigger->type = said.type;
    trigger->count = said.count;
    trigger->place = said.place;
    matrix->triggers_seen++;
    return MYR_OK;
}

/* A trigger must come down to: it fires when all that fire it have ended. */
static int check_trigger(const struct matrix *matrix, const struct trigger *trigger,
                         struct myr_err *err)
{
    const struct scan *scan = matrix->scan;
    /* A barrier waits for as many as it says; the others for one. */
    uint32_t needed = trigger->type == TRIGGER_BARRIER ? trigger->count : 1;
    if (trigger->type == TRIGGER_UNSAID) {
        return scan_error_at(err, scan, trigger->place,
                             "trigger %u is named, but never said what "
                             "it is",
                             trigger->id);
    }
    if (trigger->starts && trigger->fired < needed) {
        return scan_error_at(err, scan, trigger->target,
                             "this never starts: trigger %u waits for %u, %u end in it",
                             trigger->id, needed, trigger->fired);
    }
    /* A multishot that starts several has no fixed order. */
    bool loose = trigger->type == TRIGGER_MULTISHOT && trigger->starts > 1;
    if (trigger->starts && (loose || trigger->fired > needed)) {
        return scan_error_at(err, scan, trigger->place,
                             "trigger %u is fired by %u but waits for %u: what depends on which "
                             "ends first is not supported",
                             trigger->id, trigger->fired, needed);
    }
    return MYR_OK;
}

/* After the whole file: only then is it known who fires a trigger and whom it starts. */
static int join_triggers(struct matrix *matrix, struct myr_err *err)
{
    for (size_t i = 0; i < matrix->list.count; i++) {
        struct trigger *trigger = &matrix->list.items[i];
        struct myr_trace_op op = {
            .kind = MYR_TRACE_COMPUTE, .line = trigger->place.line, .start = -1};
        MYR_TRY(check_trigger(matrix, trigger, err));
        MYR_TRY(trace_add(matrix->trace, matrix->scan, op, &trigger->op, err));
    }
    for (size_t i = 0; i < matrix->bonds.count; i++) {
        const struct bond *bond = &matrix->bonds.items[i];
        uint32_t op = matrix->list.items[bond->trigger].op;
        trace_after(matrix->trace, bond->fires ? op : bond->op, bond->fires ? bond->op : op);
    }
    return MYR_OK;
}

/* A line that begins with a digit is a connection. */
static int read_matrix_line(struct matrix *matrix, struct myr_err *err)
{
    struct scan *scan = matrix->scan;
    char shown[SCAN_SHOWN];
    uint32_t failures;
    if (!scan_word(scan)) {
        return MYR_OK;
    }
    int rc;
    if (scan_is(scan, "Nodes")) {
        rc = scan_u32(scan, "the number of nodes", 2, MYR_TRACE_RANKS_MAX, &matrix->nodes, err);
    } else if (scan_is(scan, "Connections")) {
        matrix->counted[0] = true;
        rc = scan_u32(scan, "the number of connections", 0, MYR_TRACE_OPS_MAX, &matrix->connections,
                      err);
    } else if (scan_is(scan, "Triggers")) {
        matrix->counted[1] = true;
        rc = scan_u32(scan, "the number of triggers", 0, MYR_TRACE_OPS_MAX, &matrix->triggers, err);
    } else if (scan_is(scan, "Failures")) {
        rc = scan_u32(scan, "the number of failures (none is supported)", 0, 0, &failures, err);
    } else if (scan_is(scan, "trigger")) {
        return read_trigger(matrix, err);
    } else if (scan->word.data[0] >= '0' && scan->word.data[0] <= '9') {
        return read_connection(matrix, err);
    } else {
        return scan_error(err, scan,
                          "'%s' is not understood; Nodes, Connections, Triggers, FROM->TO "
                          "or trigger is expected",
                          scan_shown(scan, shown));
    }
    MYR_TRY(rc);
    return scan_end(scan, err);
}

/* A file that was cut off is noticed by what it promised. */
static int check_counts(const struct matrix *matrix, struct myr_err *err)
{
    const struct scan *scan = matrix->scan;
    if (matrix->nodes == 0) {
        return scan_error(err, scan, "'Nodes' is missing");
    }
    if (matrix->counted[0] && matrix->connections != matrix->connections_seen) {
        return scan_error(err, scan, "%s promised, %u there",
                          MYR_COUNT(matrix->connections, "connection"), matrix->connections_seen);
    }
    if (matrix->counted[1] && matrix->triggers != matrix->triggers_seen) {
        return scan_error(err, scan, "%s promised, %u there",
                          MYR_COUNT(matrix->triggers, "trigger"), matrix->triggers_seen);
    }
    return MYR_OK;
}

static void matrix_done(struct matrix *matrix)
{
    myr_u64map_done(&matrix->ids);
    myr_u64map_done(&matrix->flow_ids);
    myr_vec_done(&matrix->list);
    myr_vec_done(&matrix->bonds);
}

/* The whole file first, then what its triggers mean. */
int read_htsim_matrix(struct scan *scan, struct myr_trace *ret, struct myr_err *err)
{
    MYR_CLEANUP(matrix_done) struct matrix matrix = {.scan = scan, .trace = ret};
    while (scan_line(scan)) {
        MYR_TRY(read_matrix_line(&matrix, err));
    }
    MYR_TRY(check_counts(&matrix, err));
    ret->ranks = matrix.nodes;
    return join_triggers(&matrix, err);
}

/*
 * htsim's topology: nodes, tiers and the size of a pod, then for each tier from the hosts up what
 * its switches are. Words are "Name value"; the order inside a tier is free. Queues belong to the
 * packet engine and are passed over.
 */

enum { RADIX_MAX = 4096, BUNDLE_MAX = 1024, NS_MAX = 1000000000 };

/* Links are those downwards; 0 where the file has not said. */
struct tier {
    bool there, has_latency;
    uint32_t gbps, up, down, bundle, oversubscribed;
    uint32_t link_ns, switch_ns;
};

struct tree {
    struct scan *scan;
    uint32_t nodes, tiers, pod_hosts;
    int32_t current; /* tier that words belong to; -1: none yet */
    struct tier tier[3];
};

/* The word at hand and its value; words of the packet engine are passed over. */
static int read_tier_word(struct tree *tree, struct tier *tier, struct myr_err *err)
{
    struct scan *scan = tree->scan;
    char shown[SCAN_SHOWN];
    if (scan_is(scan, "Downlink_speed_Gbps")) {
        return scan_u32(scan, "the speed", 1, 100000, &tier->gbps, err);
    }
    if (scan_is(scan, "Radix_Up")) {
        return scan_u32(scan, "the radix", 1, RADIX_MAX, &tier->up, err);
    }
    if (scan_is(scan, "Radix_Down")) {
        return scan_u32(scan, "the radix", 1, RADIX_MAX, &tier->down, err);
    }
    if (scan_is(scan, "Bundle")) {
        return scan_u32(scan, "the bundle", 1, BUNDLE_MAX, &tier->bundle, err);
    }
    if (scan_is(scan, "Oversubscribed")) {
        return scan_u32(scan, "the oversubscription", 1, RADIX_MAX, &tier->oversubscribed, err);
    }
    if (scan_is(scan, "Downlink_Latency_ns")) {
        tier->has_latency = true;
        return scan_u32(scan, "the latency", 0, NS_MAX, &tier->link_ns, err);
    }
    if (scan_is(scan, "Switch_Latency_ns")) {
        return scan_u32(scan, "the latency", 0, NS_MAX, &tier->switch_ns, err);
    }
    if (scan->word.len >= 5 &&
        myr_str_eq_nocase((struct myr_str){scan->word.data, 5}, MYR_STR("Queue"))) {
        uint64_t ignored;
        return scan_number(scan, "the queue's size", 0, MYR_TRACE_BYTES_MAX, &ignored, err);
    }
    return scan_error(err, scan,
                      "'%s' is not understood; Downlink_speed_Gbps, Radix_Up, "
                      "Radix_Down, Bundle, Oversubscribed, Downlink_Latency_ns, "
                      "Switch_Latency_ns or Queue_... is expected",
                      scan_shown(scan, shown));
}

/* A line is one word with its value; words of a tier belong to the last "Tier" before them. */
static int read_tree_line(struct tree *tree, struct myr_err *err)
{
    struct scan *scan = tree->scan;
    uint32_t index;
    int rc;
    if (!scan_word(scan)) {
        return MYR_OK;
    }
    if (scan_is(scan, "Nodes")) {
        rc = scan_u32(scan, "the number of nodes", 2, MYR_CLOS_HOSTS_MAX, &tree->nodes, err);
    } else if (scan_is(scan, "Tiers")) {
        rc = scan_u32(scan, "the number of tiers", 2, 3, &tree->tiers, err);
    } else if (scan_is(scan, "Podsize")) {
        rc = scan_u32(scan, "the size of a pod", 1, MYR_CLOS_HOSTS_MAX, &tree->pod_hosts, err);
    } else if (scan_is(scan, "Tier")) {
        rc = scan_u32(scan, "the tier", 0, 2, &index, err);
        if (rc == MYR_OK && tree->tier[index].there) {
            rc = scan_error(err, scan, "tier %u is there already", index);
        }
        if (rc == MYR_OK) {
            tree->current = (int32_t)index;
            tree->tier[index].there = true;
        }
    } else if (tree->current < 0) {
        rc = scan_error(err, scan,
                        "Nodes, Tiers, Podsize or Tier is expected before the first tier");
    } else {
        rc = read_tier_word(tree, &tree->tier[tree->current], err);
    }
    MYR_TRY(rc);
    return scan_end(scan, err);
}

static int missing(const struct tree *tree, uint32_t tier, const char *word, struct myr_err *err)
{
    return scan_error(err, tree->scan, "tier %u has no %s", tier, word);
}

/* A bundle is of one link where the file does not say. */
static int check_tiers(struct tree *tree, struct myr_err *err)
{
    if (!tree->nodes || !tree->tiers || !tree->pod_hosts) {
        return scan_error(err, tree->scan, "'%s' is missing",
                          !tree->nodes   ? "Nodes"
                          : !tree->tiers ? "Tiers"
                                         : "Podsize");
    }
    for (uint32_t t = 0; t < tree->tiers; t++) {
        struct tier *tier = &tree->tier[t];
        tier->bundle = tier->bundle ? tier->bundle : 1;
        if (!tier->there) {
            return scan_error(err, tree->scan, "'Tier %u' is missing", t);
        }
        if (!tier->gbps || !tier->down) {
            return missing(tree, t, !tier->gbps ? "Downlink_speed_Gbps" : "Radix_Down", err);
        }
        if (t + 1 < tree->tiers && !tier->up) {
            return missing(tree, t, "Radix_Up", err);
        }
        if (!tier->has_latency) {
            return missing(tree, t, "Downlink_Latency_ns", err);
        }
    }
    return MYR_OK;
}

static int does_not_add_up(const struct tree *tree, const char *what, struct myr_err *err)
{
    return scan_error(err, tree->scan, "the numbers do not add up: %s", what);
}

/* Counts of switches follow from the radixes; all of them must come out whole. */
static int shape_of(const struct tree *tree, struct myr_clos_shape *ret, struct myr_err *err)
{
    const struct tier *tier = tree->tier;
    MYR_ASSERT(tree->pod_hosts && tier[0].down && tier[1].down);
    ret->tiers = tree->tiers;
    ret->hosts = tree->nodes;
    ret->leaf_hosts = tier[0].down;
    ret->leaf_up = tier[0].up;
    /* From the hosts up: whole pods, whole leaves, then spines and cores by their links. */
    if (tree->nodes % tree->pod_hosts || (tree->tiers == 2 && tree->nodes != tree->pod_hosts)) {
        return does_not_add_up(
            tree, tree->tiers == 2 ? "with 2 tiers a pod is all nodes" : "Nodes must be whole pods",
            err);
    }
    if (tree->pod_hosts % tier[0].down) {
        return does_not_add_up(tree, "a pod must be whole leaves (Radix_Down of tier 0)", err);
    }
    ret->pods = tree->nodes / tree->pod_hosts;
    ret->pod_leaves = tree->pod_hosts / tier[0].down;
    uint64_t uplinks = (uint64_t)ret->pod_leaves * tier[0].up;
    if (uplinks % tier[1].down || tier[1].down != ret->pod_leaves * tier[1].bundle) {
        return does_not_add_up(tree,
                               "every spine (Radix_Down of tier 1) must meet every leaf of "
                               "its pod by one bundle",
                               err);
    }
    ret->pod_spines = (uint32_t)(uplinks / tier[1].down);
    if (tree->tiers == 3) {
        uint64_t up = (uint64_t)ret->pods * ret->pod_spines * tier[1].up;
        ret->spine_up = tier[1].up;
        if (up % tier[2].down || tier[2].down != ret->pods * tier[2].bundle) {
            return does_not_add_up(tree,
                                   "every core (Radix_Down of tier 2) must meet every pod by "
                                   "one bundle",
                                   err);
        }
        ret->cores = (uint32_t)(up / tier[2].down);
    }
    return MYR_OK;
}

/* Speeds and delays go over as they are; what cannot be said in a shape is refused. */
int read_htsim_topology(struct scan *scan, struct myr_clos_shape *ret, struct myr_err *err)
{
    struct tree tree = {.scan = scan, .current = -1};
    int rc = MYR_OK;
    while (rc == MYR_OK && scan_line(scan)) {
        rc = read_tree_line(&tree, err);
    }
    if (rc < 0) {
        return rc;
    }
    rc = check_tiers(&tree, err);
    if (rc < 0) {
        return rc;
    }
    rc = shape_of(&tree, ret, err);
    for (uint32_t t = 0; rc == MYR_OK && t < tree.tiers; t++) {
        ret->delay_ps[t] = (myr_ps)tree.tier[t].link_ns * MYR_PS_PER_NS;
        /* The engine has one latency for all switches. */
        if (tree.tier[t].switch_ns != tree.tier[0].switch_ns) {
            rc = scan_error(err, scan, "all tiers must have one Switch_Latency_ns");
        }
    }
    ret->planes = ret->gpus_per_node = 1;
    ret->core_gbps = tree.tiers == 3 ? tree.tier[2].gbps : 0;
    ret->host_gbps = tree.tier[0].gbps;
    ret->fabric_gbps = tree.tier[1].gbps;
    ret->switch_ps = (myr_ps)tree.tier[0].switch_ns * MYR_PS_PER_NS;
    return rc;
}
