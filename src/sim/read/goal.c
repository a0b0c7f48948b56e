#include <stdlib.h>

#include "myriad/text/amount.h"
#include "read/text.h"

/*
 * GOAL: for each rank operations with labels, and which label waits for which.
 *
 *     num_ranks 2
 *     rank 0 {
 *     l1: calc 100
 *     l2: send 10b to 1 tag 3
 *     l2 requires l1
 *     }
 *
 * A send is the message; the receive that it meets ends when the message has come and what the
 * receive itself waits for is done. Sends and receives between two ranks with one tag meet in the
 * order of the file. Line ends mean nothing here, so one kind of token is enough.
 */

enum { TAG_MAX = INT32_MAX, UNIT_MAX = 255 /* cpu and nic: the format holds a byte */ };

struct label_pair {
    struct myr_str later, earlier; /* labels; 'later' waits */
    struct scan_place later_place, earlier_place;
    bool starts; /* "irequires": waits for the other's start only */
};

/* One end of a message. */
struct end {
    uint32_t from, to, tag, op; /* op: the send, or what ends with the receive */
    uint64_t bytes;
    struct scan_place place;
    bool receives;
};

struct goal {
    struct scan *scan;
    struct myr_trace *trace;
    struct myr_strmap labels; /* of the rank at hand, to operations */
    MYR_VEC(struct label_pair) pairs;
    MYR_VEC(struct end) ends;
    bool *seen;    /* ranks */
    uint32_t rank; /* the one at hand */
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Over blanks, line ends, semicolons and both kinds of comment; false when one never ends. */
static bool skip_gap(struct scan *scan)
{
    const char *data = scan->text.data;
    const size_t len = scan->text.len;
    bool block = false;
    /* The shared reader counts from 0 before the first line; this one has no lines. */
    scan->line = scan->line ? scan->line : 1;
    while (scan->at < len) {
        char c = data[scan->at];
        bool pair = scan->at + 1 < len;
        if (c == '\n') {
            scan->line++;
            scan->line_start = scan->at + 1;
        } else if (block) {
            if (c == '*' && pair && data[scan->at + 1] == '/') {
                block = false;
                scan->at++;
            }
        } else if (c == '/' && pair && data[scan->at + 1] == '*') {
            block = true;
            scan->word_line = scan->line;
            scan->word_column = (uint32_t)(scan->at - scan->line_start) + 1;
            scan->at++;
        } else if (c == '#' || (c == '/' && pair && data[scan->at + 1] == '/')) {
            const char *end = memchr(data + scan->at, '\n', len - scan->at);
            scan->at = end ? (size_t)(end - data) : len;
            continue;
        } else if (c != ' ' && c != '\t' && c != '\r' && c != ';') {
            return true;
        }
        scan->at++;
    }
    return !block;
}

/*
 * A name, a number or one other character; an empty word at the end of the file. A comment that
 * never ends is a word that nobody expects.
 */
static void next_token(struct scan *scan)
{
    const char *data = scan->text.data;
    if (!skip_gap(scan)) {
        scan->word = MYR_STR("/*");
        return;
    }
    size_t end = scan->at;
    if (end < scan->text.len && is_letter(data[end])) {
        while (end < scan->text.len && (is_letter(data[end]) || is_digit(data[end]))) {
            end++;
        }
    } else if (end < scan->text.len && is_digit(data[end])) {
        while (end < scan->text.len && is_digit(data[end])) {
            end++;
        }
    } else if (end < scan->text.len) {
        end++;
    }
    scan->word_line = scan->line;
    scan->word_column = (uint32_t)(scan->at - scan->line_start) + 1;
    scan->word = (struct myr_str){data + scan->at, end - scan->at};
    scan->at = end;
}

static bool token_is(const struct scan *scan, const char *word)
{
    return myr_str_eq(scan->word, myr_str_from(word));
}

/* Numbers and single marks are no names. */
static bool is_name(const struct scan *scan)
{
    return scan->word.len > 0 && is_letter(scan->word.data[0]);
}

/* The token at hand is what was found; an empty one is the end of the file. */
static int expected(const struct scan *scan, const char *what, struct myr_err *err)
{
    char shown[SCAN_SHOWN];
    if (scan->word.len == 0) {
        return scan_error(err, scan, "the file ends where %s is expected", what);
    }
    if (token_is(scan, "/*")) {
        return scan_error(err, scan, "this comment never ends");
    }
    return scan_error(err, scan, "%s is expected, not '%s'", what, scan_shown(scan, shown));
}

/* The next token; 'what' is for the complaint. */
static int number(struct scan *scan, const char *what, uint64_t most, uint64_t *ret,
                  struct myr_err *err)
{
    next_token(scan);
    if (scan->word.len == 0 || !is_digit(scan->word.data[0])) {
        return expected(scan, what, err);
    }
    if (!myr_str_to_u64(scan->word, ret) || *ret > most) {
        return scan_error(err, scan, "%s is larger than %llu", what, (unsigned long long)most);
    }
    return MYR_OK;
}

/* The next token must be this one. */
static int word(struct scan *scan, const char *wanted, const char *what, struct myr_err *err)
{
    next_token(scan);
    return token_is(scan, wanted) ? MYR_OK : expected(scan, what, err);
}

/* The answer must not depend on who happens to be first. */
static int refuse_any(const struct scan *scan, const char *what, struct myr_err *err)
{
    return scan_error(err, scan,
                      "a receive from any %s (-1) is not supported: which message it "
                      "gets would depend on the run",
                      what);
}

/* "tag 3 cpu 0 nic 0", each at most once; a peek at what follows, which stays unread. */
static int suffixes(struct goal *goal, bool calc, uint32_t *tag, struct myr_err *err)
{
    struct scan *scan = goal->scan;
    for (;;) {
        /* A copy of the reader is a place to go back to. */
        struct scan before = *scan;
        next_token(scan);
        bool is_tag = !calc && token_is(scan, "tag");
        if (!is_tag && !token_is(scan, "cpu") && !token_is(scan, "nic")) {
            *scan = before;
            return MYR_OK;
        }
        uint64_t value = 0;
        struct scan ahead = *scan;
        next_token(&ahead);
        if (is_tag && token_is(&ahead, "-")) {
            return refuse_any(&ahead, "tag", err);
        }
        if (token_is(&ahead, ":") || is_name(&ahead)) { /* a label of that name */
            *scan = before;
            return MYR_OK;
        }
        MYR_TRY(number(scan, is_tag ? "a tag" : "a number of a cpu or NIC",
                       is_tag ? TAG_MAX : UNIT_MAX, &value, err));
        *tag = is_tag ? (uint32_t)value : *tag;
    }
}

/* Behind "send" or "recv". */
static int read_end(struct goal *goal, bool receives, uint32_t *ret, struct myr_err *err)
{
    struct scan *scan = goal->scan;
    struct end end = {.receives = receives, .place = scan_here(scan)};
    uint64_t peer = 0;
    MYR_ASSERT(goal->rank < goal->trace->ranks);
    MYR_TRY(number(scan, "a number of bytes", MYR_TRACE_BYTES_MAX, &end.bytes, err));
    MYR_TRY(word(scan, "b", "'b' behind the number of bytes", err));
    MYR_TRY(word(scan, receives ? "from" : "to", receives ? "'from'" : "'to'", err));
    struct scan ahead = *scan;
    next_token(&ahead);
    if (receives && token_is(&ahead, "-")) {
        return refuse_any(&ahead, "rank", err); /* "-1": from whoever sends */
    }
    MYR_TRY(number(scan, "a rank", goal->trace->ranks - 1, &peer, err));
    MYR_TRY(suffixes(goal, false, &end.tag, err));
    end.from = receives ? (uint32_t)peer : goal->rank;
    end.to = receives ? goal->rank : (uint32_t)peer;
    struct myr_trace_op op = {.kind = receives ? MYR_TRACE_COMPUTE : MYR_TRACE_MESSAGE,
                              .from = receives ? goal->rank : end.from,
                              .to = end.to,
                              .line = end.place.line,
                              .bytes = receives ? 0 : end.bytes,
                              .start = -1};
    MYR_TRY(trace_add(goal->trace, scan, op, &end.op, err));
    *ret = end.op;
    myr_vec_push(&goal->ends, end);
    return MYR_OK;
}

/* The number is nanoseconds; a cpu or NIC behind it has no effect. */
static int read_calc(struct goal *goal, uint32_t *ret, struct myr_err *err)
{
    uint64_t ns = 0;
    uint32_t tag = 0;
    struct myr_trace_op op = {
        .kind = MYR_TRACE_COMPUTE, .from = goal->rank, .line = goal->scan->word_line, .start = -1};
    MYR_TRY(number(goal->scan, "a number of nanoseconds",
                   (uint64_t)(MYR_TRACE_TIME_MAX / MYR_PS_PER_NS), &ns, err));
    MYR_TRY(suffixes(goal, true, &tag, err));
    op.duration = (myr_ps)ns * MYR_PS_PER_NS;
    return trace_add(goal->trace, goal->scan, op, ret, err);
}

/* The word itself has been read: it says which operation. */
static int read_op(struct goal *goal, uint32_t *ret, struct myr_err *err)
{
    const struct scan *scan = goal->scan;
    if (token_is(scan, "send") || token_is(scan, "recv")) {
        return read_end(goal, token_is(scan, "recv"), ret, err);
    }
    return token_is(scan, "calc") ? read_calc(goal, ret, err)
                                  : expected(scan, "'send', 'recv' or 'calc'", err);
}

/* An operation may stand without a label: then nobody can wait for it. */
static bool is_op(const struct scan *scan)
{
    return token_is(scan, "send") || token_is(scan, "recv") || token_is(scan, "calc");
}

/* Behind a label: an operation, or what it waits for. */
static int read_labelled(struct goal *goal, struct myr_err *err)
{
    struct scan *scan = goal->scan;
    char shown[SCAN_SHOWN];
    struct label_pair pair = {.later = scan->word, .later_place = scan_here(scan)};
    const char *name = scan_shown(scan, shown);
    uint32_t op = 0;
    next_token(scan);
    if (token_is(scan, ":")) {
        next_token(scan);
        MYR_TRY(read_op(goal, &op, err));
        return myr_strmap_add(&goal->labels, pair.later, op)
                   ? MYR_OK
                   : scan_error_at(err, scan, pair.later_place, "label '%s' is there already",
                                   name);
    }
    pair.starts = token_is(scan, "irequires");
    if (!pair.starts && !token_is(scan, "requires")) {
        return expected(scan, "':', 'requires' or 'irequires' behind a label", err);
    }
    next_token(scan);
    if (!is_name(scan)) {
        return expected(scan, "a label", err);
    }
    pair.earlier = scan->word;
    pair.earlier_place = scan_here(scan);
    myr_vec_push(&goal->pairs, pair);
    return MYR_OK;
}

/* Labels are a rank's own; waiting for another rank goes by messages. */
static int find_label(struct goal *goal, struct myr_str label, struct scan_place place,
                      uint32_t *ret, struct myr_err *err)
{
    char shown[SCAN_SHOWN];
    struct scan named = *goal->scan;
    named.word = label;
    *ret = myr_strmap_get(&goal->labels, label);
    return *ret != MYR_MAP_NONE ? MYR_OK
                                : scan_error_at(err, goal->scan, place, "rank %u has no label '%s'",
                                                goal->rank, scan_shown(&named, shown));
}

static int find_labels(struct goal *goal, const struct label_pair *pair, uint32_t *ret_later,
                       uint32_t *ret_earlier, struct myr_err *err)
{
    MYR_TRY(find_label(goal, pair->later, pair->later_place, ret_later, err));
    return find_label(goal, pair->earlier, pair->earlier_place, ret_earlier, err);
}

/* The operations in front of those whose start is waited for. */
static int put_fronts(struct goal *goal, uint32_t first_op, uint32_t **front, struct myr_err *err)
{
    struct myr_trace *trace = goal->trace;
    size_t count = trace->ops.count - first_op;
    uint32_t later = 0, earlier = 0;
    for (size_t i = 0; i < goal->pairs.count; i++) {
        const struct label_pair *pair = &goal->pairs.items[i];
        MYR_TRY(find_labels(goal, pair, &later, &earlier, err));
        if (!pair->starts) {
            continue;
        }
        *front = *front ? *front : myr_xcalloc(count, sizeof(**front));
        uint32_t *own = &(*front)[earlier - first_op];
        struct myr_trace_op op = {
            .from = goal->rank, .line = trace->ops.items[earlier].line, .start = -1};
        MYR_TRY(*own ? MYR_OK : trace_add(trace, goal->scan, op, own, err));
        trace_after(trace, earlier, *own);
    }
    return MYR_OK;
}

/*
 * What somebody waits to see started gets an operation in front, which stands for its start: what
 * it waits for then goes to the one in front.
 */
static int join_labels(struct goal *goal, uint32_t first_op, struct myr_err *err)
{
    struct myr_trace *trace = goal->trace;
    /* Of this rank: numbers of operations less the first are places in 'front'. */
    MYR_ASSERT(first_op <= trace->ops.count);
    MYR_CLEANUP(myr_free_at) uint32_t *front = NULL;
    uint32_t later = 0, earlier = 0;
    /* First all fronts, then all waits: a label may be waited for before its start is asked for. */
    MYR_TRY(put_fronts(goal, first_op, &front, err));
    for (size_t i = 0; i < goal->pairs.count; i++) {
        const struct label_pair *pair = &goal->pairs.items[i];
        MYR_TRY(find_labels(goal, pair, &later, &earlier, err));
        later = front && front[later - first_op] ? front[later - first_op] : later;
        /* One that waits for a start has put the front there. */
        MYR_ASSERT(front || !pair->starts);
        trace_after(trace, later, pair->starts ? front[earlier - first_op] : earlier);
    }
    return MYR_OK;
}

/* Labels are joined when the rank ends, since they may be used before they are said. */
static int read_rank(struct goal *goal, struct myr_err *err)
{
    struct scan *scan = goal->scan;
    uint64_t rank = 0;
    uint32_t op, first = (uint32_t)goal->trace->ops.count;
    if (goal->trace->ranks == 0) {
        return scan_error(err, scan, "'num_ranks' must come before the first rank");
    }
    MYR_ASSERT(goal->seen);
    int rc = number(scan, "a rank", goal->trace->ranks - 1, &rank, err);
    if (rc == MYR_OK && goal->seen[rank]) {
        rc = scan_error(err, scan, "rank %u is there already", (uint32_t)rank);
    }
    if (rc < 0) {
        return rc;
    }
    rc = word(scan, "{", "'{'", err);
    if (rc < 0) {
        return rc;
    }
    goal->rank = (uint32_t)rank;
    goal->seen[rank] = true;
    goal->pairs.count = 0;
    for (next_token(scan); rc == MYR_OK && !token_is(scan, "}"); next_token(scan)) {
        if (is_op(scan)) {
            rc = read_op(goal, &op, err);
        } else if (is_name(scan)) {
            rc = read_labelled(goal, err);
        } else {
            rc = expected(scan, "an operation, a label or '}'", err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    rc = join_labels(goal, first, err);
    myr_strmap_done(&goal->labels);
    goal->labels = (struct myr_strmap){};
    return rc;
}

/* By way and tag, sends before receives, each in the order of the file. */
static int by_meeting(const void *a, const void *b)
{
    const struct end *left = a, *right = b;
    const uint32_t l[] = {left->from, left->to, left->tag, left->receives, left->op};
    const uint32_t r[] = {right->from, right->to, right->tag, right->receives, right->op};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(l); i++) {
        if (l[i] != r[i]) {
            return l[i] < r[i] ? -1 : 1;
        }
    }
    return 0;
}

static bool same_way(const struct end *a, const struct end *b)
{
    return a->from == b->from && a->to == b->to && a->tag == b->tag;
}

/* The n-th send of a way meets its n-th receive. */
static int meet(struct goal *goal, const struct end *send, const struct end *receive,
                struct myr_err *err)
{
    if (!send || !receive) {
        const struct end *lone = send ? send : receive;
        return scan_error_at(err, goal->scan, lone->place,
                             "no %s on rank %u meets this %s (from %u to %u, tag %u)",
                             send ? "receive" : "send", send ? lone->to : lone->from,
                             send ? "send" : "receive", lone->from, lone->to, lone->tag);
    }
    if (receive->bytes < send->bytes) {
        return scan_error_at(
            err, goal->scan, receive->place, "a receive of %s meets the send of %s in line %u",
            MYR_COUNT(receive->bytes, "byte"), MYR_COUNT(send->bytes, "byte"), send->place.line);
    }
    trace_after(goal->trace, receive->op, send->op);
    return MYR_OK;
}

/* Sorted, the sends of a way and a tag lie in front of its receives, each in their order. */
static int meet_all(struct goal *goal, struct myr_err *err)
{
    const struct end *ends = goal->ends.items;
    size_t count = goal->ends.count;
    int rc = MYR_OK;
    if (count) {
        qsort(goal->ends.items, count, sizeof(*ends), by_meeting);
    }
    for (size_t first = 0; rc == MYR_OK && first < count;) {
        size_t middle = first, last;
        while (middle < count && same_way(&ends[first], &ends[middle]) && !ends[middle].receives) {
            middle++;
        }
        for (last = middle; last < count && same_way(&ends[first], &ends[last]);) {
            last++;
        }
        size_t sends = middle - first, receives = last - middle;
        for (size_t i = 0; rc == MYR_OK && (i < sends || i < receives); i++) {
            rc = meet(goal, i < sends ? &ends[first + i] : NULL,
                      i < receives ? &ends[middle + i] : NULL, err);
        }
        first = last;
    }
    return rc;
}

/* Ranks may come in any order and may be missing: such a rank does nothing. */
static int read_all(struct goal *goal, struct myr_err *err)
{
    struct scan *scan = goal->scan;
    int rc = MYR_OK;
    for (next_token(scan); rc == MYR_OK && scan->word.len; next_token(scan)) {
        if (token_is(scan, "num_ranks")) {
            uint64_t ranks = 0;
            if (goal->seen) {
                return scan_error(err, scan, "'num_ranks' is there already");
            }
            rc = number(scan, "a number of ranks", MYR_TRACE_RANKS_MAX, &ranks, err);
            if (rc == MYR_OK && ranks == 0) {
                rc = scan_error(err, scan, "there must be a rank");
            }
            if (rc == MYR_OK) {
                goal->trace->ranks = (uint32_t)ranks;
                goal->seen = myr_xcalloc(ranks, sizeof(*goal->seen));
            }
        } else if (token_is(scan, "rank")) {
            rc = read_rank(goal, err);
        } else {
            rc = expected(scan, "'num_ranks' or 'rank'", err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return goal->seen ? MYR_OK : scan_error(err, scan, "'num_ranks' is missing");
}

static void goal_done(struct goal *goal)
{
    myr_strmap_done(&goal->labels);
    myr_vec_done(&goal->pairs);
    myr_vec_done(&goal->ends);
    free(goal->seen);
}

int read_goal(struct scan *scan, struct myr_trace *ret, struct myr_err *err)
{
    MYR_CLEANUP(goal_done) struct goal goal = {.scan = scan, .trace = ret};
    MYR_TRY(read_all(&goal, err));
    return meet_all(&goal, err);
}
