#include <stdlib.h>

#include "myriad/text/amount.h"
#include "read/chakra.h"

/*
 * Chakra's execution traces: a file for each rank, messages of Protocol Buffers one behind the
 * other, each with its length in front. The first is about the file, the others are the nodes of
 * the rank's graph: computing, sends, receives, its part of a collective.
 *
 * Sends and receives between two ranks with one tag meet in the order of the files. The nth
 * collective of a process group is one operation of all ranks that name the group: it begins when
 * the last of them has come to it. A node waits for those whose data it takes; who called it is
 * running then, and is waited for only where the user says so.
 */

/* Types of nodes, by Chakra's numbers. */
enum { TYPE_METADATA = 1, TYPE_LOAD, TYPE_STORE, TYPE_COMPUTE, TYPE_SEND, TYPE_RECEIVE, TYPE_COLL };

/* By Chakra's number; what is not listed cannot be played. */
static const struct {
    const char *name;
    bool known, barrier;
    uint8_t collective;
} collectives[] = {
    {"ALL_REDUCE", true, false, MYR_ALL_REDUCE},
    {"REDUCE", false, false, 0},
    {"ALL_GATHER", true, false, MYR_ALL_GATHER},
    {"GATHER", false, false, 0},
    {"SCATTER", false, false, 0},
    {"BROADCAST", true, false, MYR_BROADCAST},
    {"ALL_TO_ALL", true, false, MYR_ALL_TO_ALL},
    {"REDUCE_SCATTER", true, false, MYR_REDUCE_SCATTER},
    {"REDUCE_SCATTER_BLOCK", true, false, MYR_REDUCE_SCATTER},
    {"BARRIER", true, true, 0},
};

/* One end of a message. */
struct end {
    uint32_t from, to, op, rank; /* op: in the trace; rank: whose file it is in */
    uint64_t tag, bytes;         /* ends meet by sender, receiver and tag */
    struct scan_place place;
    bool receives;
};

/* A rank's part of a collective. */
struct part {
    uint32_t group, rank, nth; /* of the group's, on this rank */
    uint32_t come, gone;       /* operations: the rank is there; it may go on */
    uint8_t type;              /* place in 'collectives' */
    uint64_t bytes;
    struct scan_place place;
};

struct chakra {
    const struct myr_trace_file *files;
    struct myr_trace *trace;
    const struct myr_chakra_options *options;
    struct scan scan;              /* of the file at hand, for messages */
    uint32_t rank, ranks;          /* the one at hand; of all */
    struct myr_u64map ids;         /* of the rank at hand, to 'last' */
    MYR_VEC(uint32_t) first, last; /* by node of the rank: operations */
    MYR_VEC(struct chakra_wait) waits;
    MYR_VEC(struct end) ends;
    MYR_VEC(struct part) parts;
    struct myr_strmap groups; /* names of process groups, to numbers */
    MYR_VEC(uint32_t) counts; /* by group: collectives of the rank at hand */
    struct myr_arena *scratch;
};

static int fail(const struct chakra *it, struct scan_place place, struct myr_err *err,
                const char *what)
{
    return scan_error_at(err, &it->scan, place, "%s", what);
}

/* Without a start of its own: a node begins when those before it are done. */
static int add(struct chakra *it, struct myr_trace_op op, uint32_t *ret, struct myr_err *err)
{
    op.start = -1;
    return trace_add(it->trace, &it->scan, op, ret, err);
}

/* A rank's computing, or a join of others; 'from' is who computes. */
static int add_compute(struct chakra *it, struct scan_place place, myr_ps duration, uint32_t *ret,
                       struct myr_err *err)
{
    struct myr_trace_op op = {
        .kind = MYR_TRACE_COMPUTE, .line = place.line, .from = it->rank, .duration = duration};
    return add(it, op, ret, err);
}

/* Microseconds as they were taken; else operations by the speed that the user gives. */
static int compute_time(const struct chakra *it, const struct chakra_node *node, myr_ps *ret,
                        struct myr_err *err)
{
    const double most = (double)MYR_TRACE_TIME_MAX;
    if (node->duration_us > (uint64_t)(MYR_TRACE_TIME_MAX / MYR_PS_PER_US)) {
        return fail(it, node->place, err, "a duration of more than 1000000 s");
    }
    *ret = (myr_ps)node->duration_us * MYR_PS_PER_US;
    if (*ret > 0 || node->num_ops == 0 || node->type != TYPE_COMPUTE) {
        return MYR_OK;
    }
    if (!(it->options->flops_per_s > 0)) {
        int rc = fail(it, node->place, err, "a node with a number of operations but no duration");
        myr_err_hint(err, "say how fast a GPU computes: file:PATH,tflops=400");
        return rc;
    }
    double ps = (double)node->num_ops / it->options->flops_per_s * (double)MYR_PS_PER_S;
    if (ps > most) {
        return fail(it, node->place, err, "a duration of more than 1000000 s");
    }
    *ret = (myr_ps)ps;
    return MYR_OK;
}

/* A node without a size is refused: taken as 0 it would move nothing, and nobody would notice. */
static int check_bytes(const struct chakra *it, const struct chakra_node *node, struct myr_err *err)
{
    if (!node->has_size) {
        return fail(it, node->place, err, "the node has no 'comm_size'");
    }
    return node->comm_size <= MYR_TRACE_BYTES_MAX
               ? MYR_OK
               : fail(it, node->place, err, "'comm_size' is larger than 2^50");
}

/* The send is the message; the receive is an operation without duration that will wait for it. */
static int add_message(struct chakra *it, const struct chakra_node *node, uint32_t *ret,
                       struct myr_err *err)
{
    bool receives = node->type == TYPE_RECEIVE;
    uint64_t peer = receives ? node->src : node->dst;
    MYR_TRY(check_bytes(it, node, err));
    if (!(receives ? node->has_src : node->has_dst)) {
        return fail(it, node->place, err,
                    receives ? "the receive has no 'comm_src'" : "the send has no 'comm_dst'");
    }
    if (peer >= it->ranks || peer == it->rank) {
        return scan_error_at(err, &it->scan, node->place,
                             "rank %u %s rank %llu; another of the %u ranks is expected", it->rank,
                             receives ? "receives from" : "sends to", (unsigned long long)peer,
                             it->ranks);
    }
    struct end end = {.from = receives ? (uint32_t)peer : it->rank,
                      .to = receives ? it->rank : (uint32_t)peer,
                      .rank = it->rank,
                      .tag = node->tag,
                      .bytes = node->comm_size,
                      .place = node->place,
                      .receives = receives};
    struct myr_trace_op op = {.kind = MYR_TRACE_MESSAGE,
                              .line = node->place.line,
                              .from = end.from,
                              .to = end.to,
                              .bytes = end.bytes};
    MYR_TRY(receives ? add_compute(it, node->place, 0, ret, err) : add(it, op, ret, err));
    end.op = *ret;
    myr_vec_push(&it->ends, end);
    return MYR_OK;
}

/* Groups are numbered as they are met; the empty name is the group of all ranks. */
static uint32_t group_of(struct chakra *it, struct myr_str name)
{
    uint32_t at = myr_strmap_get(&it->groups, name);
    if (at != MYR_MAP_NONE) {
        return at;
    }
    const char *copy = myr_arena_strndup(it->scratch, name.len ? name.data : "", name.len);
    at = it->groups.count;
    myr_strmap_add(&it->groups, (struct myr_str){copy, name.len}, at);
    while (it->counts.count <= at) {
        myr_vec_push(&it->counts, 0);
    }
    MYR_ASSERT(it->counts.count >= it->groups.count); /* a count for each group */
    return at;
}

/* What the format can say but nobody here can play is refused by name. */
static int add_part(struct chakra *it, const struct chakra_node *node, uint32_t *ret_first,
                    uint32_t *ret_last, struct myr_err *err)
{
    if (!node->has_comm_type || node->comm_type >= MYR_ARRAY_COUNT(collectives)) {
        return fail(it, node->place, err, "the collective has no known 'comm_type'");
    }
    if (!collectives[node->comm_type].known) {
        return scan_error_at(err, &it->scan, node->place,
                             "%s is not supported; ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, "
                             "ALL_TO_ALL, BROADCAST or BARRIER is expected",
                             collectives[node->comm_type].name);
    }
    if (!collectives[node->comm_type].barrier) {
        MYR_TRY(check_bytes(it, node, err));
    }
    if (node->part_of_dims) {
        return fail(it, node->place, err,
                    "a collective over some dimensions ('involved_dim') is not supported; name "
                    "its ranks by 'pg_name'");
    }
    /*
     * Two operations: what the rank waits for goes to the first, who waits for it waits for the
     * second.
     */
    MYR_TRY(add_compute(it, node->place, 0, ret_first, err));
    MYR_TRY(add_compute(it, node->place, 0, ret_last, err));
    uint32_t group = group_of(it, node->group);
    struct part part = {.group = group,
                        .rank = it->rank,
                        .nth = it->counts.items[group]++,
                        .come = *ret_first,
                        .gone = *ret_last,
                        .type = (uint8_t)node->comm_type,
                        .bytes = node->comm_size,
                        .place = node->place};
    myr_vec_push(&it->parts, part);
    return MYR_OK;
}

/* Nodes may name ids that come later in the file: waits are kept until all are known. */
static int add_node(struct chakra *it, const struct chakra_node *node, struct myr_err *err)
{
    uint32_t first = MYR_NONE, last = MYR_NONE;
    bool network = node->type >= TYPE_SEND && node->type <= TYPE_COLL && !node->is_cpu;
    if (node->type > TYPE_COLL) {
        return fail(it, node->place, err, "a node of an unknown type");
    }
    if (network && node->type == TYPE_COLL) {
        MYR_TRY(add_part(it, node, &first, &last, err));
    } else if (network) {
        MYR_TRY(add_message(it, node, &first, err));
        last = first;
    } else { /* what the processor does about a collective is computing, too */
        myr_ps duration = 0;
        MYR_TRY(compute_time(it, node, &duration, err));
        MYR_TRY(add_compute(it, node->place, duration, &first, err));
        last = first;
    }
    if (!myr_u64map_add(&it->ids, node->id, (uint32_t)it->last.count)) {
        return scan_error_at(err, &it->scan, node->place, "node %llu is there already",
                             (unsigned long long)node->id);
    }
    uint32_t index = (uint32_t)it->last.count;
    MYR_ASSERT(first != MYR_NONE && last != MYR_NONE && it->first.count == index);
    myr_vec_push(&it->first, first);
    myr_vec_push(&it->last, last);
    for (size_t i = 0; i < node->deps.count; i++) {
        struct chakra_wait wait = {index, node->deps.items[i], node->place};
        myr_vec_push(&it->waits, wait);
    }
    return MYR_OK;
}

/* The order inside a rank, when all of its nodes are known. */
static int join_rank(struct chakra *it, struct myr_err *err)
{
    for (size_t i = 0; i < it->waits.count; i++) {
        const struct chakra_wait *wait = &it->waits.items[i];
        uint32_t *before = myr_u64map_find(&it->ids, wait->id);
        if (!before) {
            return scan_error_at(err, &it->scan, wait->place,
                                 "the node waits for node %llu, which is not in the file",
                                 (unsigned long long)wait->id);
        }
        MYR_ASSERT(wait->node < it->first.count && *before < it->last.count);
        trace_after(it->trace, it->first.items[wait->node], it->last.items[*before]);
    }
    /* Ids and counts are a rank's own: the next file starts anew. */
    it->waits.count = it->first.count = it->last.count = 0;
    myr_u64map_done(&it->ids);
    for (size_t g = 0; g < it->counts.count; g++) {
        it->counts.items[g] = 0;
    }
    return MYR_OK;
}

/*
 * One file, then the order inside it; messages and collectives are joined when all ranks are read.
 */
static int read_rank(struct chakra *it, const struct myr_trace_file *file, struct myr_err *err)
{
    MYR_CLEANUP(chakra_node_done) struct chakra_node node = {};
    struct chakra_reader reader;
    scan_init(&it->scan, file->name, file->text);
    it->scan.word_line = it->scan.word_column = 1;
    chakra_begin(&reader, &it->scan, it->options->callers);
    if (file->text.len == 0) {
        return fail(it, (struct scan_place){1, 1}, err, "the file is empty");
    }
    int rc;
    while ((rc = chakra_next(&reader, &node, err)) > 0) {
        MYR_TRY(add_node(it, &node, err));
    }
    MYR_TRY(rc);
    return join_rank(it, err);
}

/* By way and tag, sends before receives, each in the order of the files. */
static int by_ends(const void *a, const void *b)
{
    const struct end *left = a, *right = b;
    const uint64_t keys[][2] = {{left->from, right->from},
                                {left->to, right->to},
                                {left->tag, right->tag},
                                {left->receives, right->receives},
                                {left->op, right->op}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

/* With ranks=N all ranks are of one file: complaints name that one. */
static int lone_end(struct chakra *it, const struct end *end, struct myr_err *err)
{
    it->scan.file = it->files[it->options->ranks ? 0 : end->rank].name;
    return scan_error_at(err, &it->scan, end->place, "no %s on rank %u meets this one (tag %llu)",
                         end->receives ? "send" : "receive", end->receives ? end->from : end->to,
                         (unsigned long long)end->tag);
}

/* Those of one sender, receiver and tag lie together: sends first, as many receives behind. */
static int join_messages(struct chakra *it, struct myr_err *err)
{
    struct end *ends = it->ends.items;
    size_t count = it->ends.count;
    if (count) {
        qsort(ends, count, sizeof(*ends), by_ends);
    }
    for (size_t at = 0; at < count;) {
        size_t sends = 0, receives = 0;
        const struct end *one = &ends[at];
        while (at + sends + receives < count && ends[at + sends + receives].from == one->from &&
               ends[at + sends + receives].to == one->to &&
               ends[at + sends + receives].tag == one->tag) {
            /* Sorted with sends first, so the two counts are also the places where they begin. */
            *(ends[at + sends + receives].receives ? &receives : &sends) += 1;
        }
        for (size_t i = 0; i < sends || i < receives; i++) {
            const struct end *send = &ends[at + i], *receive = &ends[at + sends + i];
            if (i >= receives || i >= sends) {
                return lone_end(it, i >= receives ? send : receive, err);
            }
            /* A receive may be larger than what comes; a smaller one would cut it off. */
            if (receive->bytes < send->bytes) {
                it->scan.file = it->files[it->options->ranks ? 0 : receive->rank].name;
                return scan_error_at(
                    err, &it->scan, receive->place, "a receive of %s meets the send of %llu",
                    MYR_COUNT(receive->bytes, "byte"), (unsigned long long)send->bytes);
            }
            trace_after(it->trace, receive->op, send->op);
        }
        at += sends + receives;
    }
    return MYR_OK;
}

/* Parts of one collective side by side, in the order of ranks. */
static int by_group(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    if (left->group != right->group) {
        return left->group < right->group ? -1 : 1;
    }
    if (left->nth != right->nth) {
        return left->nth < right->nth ? -1 : 1;
    }
    return left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* The ranks of a group, as a split; one that is there already is used again. */
static uint32_t split_of(struct chakra *it, const struct part *parts, uint32_t count,
                         uint32_t *known)
{
    if (*known == MYR_NONE) {
        struct myr_trace_split split = {
            .size = count, .listed = true, .first_member = (uint32_t)it->trace->members.count};
        for (uint32_t i = 0; i < count; i++) {
            myr_vec_push(&it->trace->members, parts[i].rank);
        }
        *known = (uint32_t)it->trace->splits.count;
        myr_vec_push(&it->trace->splits, split);
    }
    return *known;
}

/* All parts of one collective: the same of every rank. */
static int add_collective(struct chakra *it, const struct part *parts, uint32_t count,
                          uint32_t *known, struct myr_err *err)
{
    uint32_t id;
    bool whole = parts->type == 2; /* ALL_GATHER's size is that of one rank's piece */
    struct myr_trace_op op = {.kind = MYR_TRACE_COLLECTIVE,
                              .line = parts->place.line,
                              .collective = collectives[parts->type].collective,
                              .bytes = whole ? parts->bytes * count : parts->bytes};
    for (uint32_t i = 1; i < count; i++) {
        if (parts[i].type != parts->type || parts[i].bytes != parts->bytes) {
            it->scan.file = it->files[it->options->ranks ? 0 : parts[i].rank].name;
            return scan_error_at(err, &it->scan, parts[i].place,
                                 "%s of %s here, %s of %s on rank %u: collectives of a group come "
                                 "in one order",
                                 collectives[parts[i].type].name, MYR_COUNT(parts[i].bytes, "byte"),
                                 collectives[parts->type].name, MYR_COUNT(parts->bytes, "byte"),
                                 parts->rank);
        }
    }
    if (op.bytes > MYR_TRACE_BYTES_MAX) {
        return fail(it, parts->place, err, "the collective moves more than 2^50 bytes");
    }
    /* Nothing moves: it is only a meeting of all. */
    if (collectives[parts->type].barrier || count == 1 || op.bytes == 0) {
        MYR_TRY(add_compute(it, parts->place, 0, &id, err));
    } else {
        op.from = split_of(it, parts, count, known);
        MYR_TRY(add(it, op, &id, err));
    }
    for (uint32_t i = 0; i < count; i++) {
        trace_after(it->trace, id, parts[i].come);
        trace_after(it->trace, parts[i].gone, id);
    }
    return MYR_OK;
}

/* The first collective of a group says how many ranks it has; every later one must have as many. */
static int join_collectives(struct chakra *it, struct myr_err *err)
{
    struct part *parts = it->parts.items;
    size_t count = it->parts.count, members = 0;
    uint32_t split = MYR_NONE;
    if (count) {
        qsort(parts, count, sizeof(*parts), by_group);
    }
    for (size_t at = 0; at < count;) {
        size_t end = at + 1;
        bool fresh = at == 0 || parts[at - 1].group != parts[at].group;
        while (end < count && parts[end].group == parts[at].group &&
               parts[end].nth == parts[at].nth) {
            end++;
        }
        members = fresh ? end - at : members;
        split = fresh ? MYR_NONE : split;
        if (end - at != members) {
            it->scan.file = it->files[it->options->ranks ? 0 : parts[at].rank].name;
            return scan_error_at(err, &it->scan, parts[at].place,
                                 "%zu of the %zu ranks of its group come to this collective",
                                 end - at, members);
        }
        MYR_TRY(add_collective(it, &parts[at], (uint32_t)members, &split, err));
        at = end;
    }
    return MYR_OK;
}

static void chakra_done(struct chakra *it)
{
    myr_u64map_done(&it->ids);
    myr_vec_done(&it->first);
    myr_vec_done(&it->last);
    myr_vec_done(&it->waits);
    myr_vec_done(&it->ends);
    myr_vec_done(&it->parts);
    myr_vec_done(&it->counts);
    myr_strmap_done(&it->groups);
}

/* With one file for all, it is read once for each rank: ids are the rank's own. */
static int read_all(struct chakra *it, uint32_t count, struct myr_err *err)
{
    for (it->rank = 0; it->rank < it->ranks; it->rank++) {
        MYR_TRY(read_rank(it, &it->files[count > 1 ? it->rank : 0], err));
    }
    it->rank = 0;
    MYR_TRY(join_messages(it, err));
    MYR_TRY(join_collectives(it, err));
    it->scan.file = it->files[0].name;
    return trace_check_order(it->trace, &it->scan, err);
}

int myr_trace_read_chakra(const struct myr_trace_file *files, uint32_t count,
                          const struct myr_chakra_options *options, struct myr_trace *ret,
                          struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    MYR_CLEANUP(chakra_done)
    struct chakra it = {.files = files,
                        .trace = ret,
                        .options = options,
                        .ranks = options->ranks ? options->ranks : count,
                        .scratch = &scratch};
    *ret = (struct myr_trace){};
    myr_arena_init(&scratch);
    MYR_ASSERT(count > 0 && (count == 1 || options->ranks == 0));
    if (it.ranks < 2 || it.ranks > MYR_TRACE_RANKS_MAX) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: the trace of one rank; there must be 2 to %u of them",
                           files[0].name, MYR_TRACE_RANKS_MAX);
    }
    int rc = read_all(&it, count, err);
    if (rc < 0) {
        myr_trace_done(ret);
        return rc;
    }
    ret->ranks = it.ranks;
    /*
     * No node has a start of its own (-1): all may begin at time 0, once what they wait for is
     * done.
     */
    for (size_t i = 0; i < ret->ops.count; i++) {
        ret->ops.items[i].start = 0;
    }
    return MYR_OK;
}
