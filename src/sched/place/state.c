#include "myriad/sched/state.h"

#include <stdlib.h>

#include "myriad/text.h"
#include "myriad/text/amount.h"
#include "myriad/text/kind.h"
#include "place/index.h"

/*
 * The state of a cluster as a table. A node has a row for each job on it, or one without a job; the
 * rows of one node must not contradict each other. GPUs are taken in the placer as rows come, and
 * what is known about all nodes at once, kinds and places, is told to it at the end.
 */

enum { FILE_BYTES_MAX = 256 << 20, NEAR_BYTES = 128 };

/* Columns that are known; all but the first may be missing. */
enum column {
    NODE,
    JOB,
    GPUS,
    STATE,   /* up, down or held */
    PENALTY, /* parts of what a node sends */
    LOAD,    /* of its links, 0 to 1 */
    FLAPS,
    HEADROOM, /* of its power, 0 to 1 */
    RESTART,  /* seconds that a job loses when it moves */
    PINNED,   /* yes: it may not be moved */
    KIND,
    RACK,
    ROW,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    "node",           "job",       "gpus",   "state", "penalty", "link_load", "flaps_per_day",
    "power_headroom", "restart_s", "pinned", "kind",  "rack",    "row"};

/* Names in a column, numbered in the order they are met, and which one each node has. */
struct names {
    enum column column;
    struct myr_strmap map;
    uint32_t count, most; /* so far; at most */
    uint32_t *of;         /* by node: MYR_NONE when it has none */
};

enum { NAMES_KIND, NAMES_RACK, NAMES_ROW, NAMES_COUNT };

/* A table being read into a placer. */
struct reader {
    struct myr_sched_state *state;
    struct myr_placer *p;
    struct myr_csv csv;
    uint32_t at[COLUMN_COUNT];      /* field of each column, or MYR_NONE */
    bool named[MYR_CSV_FIELDS_MAX]; /* by field of the header */
    struct myr_strmap jobs;         /* by name, to state->jobs */
    MYR_VEC(uint32_t) room;         /* shares claimed by each gang */
    struct names names[NAMES_COUNT];
    uint8_t *said; /* by node: the state that a row before gave it, plus one */
    uint32_t rows;
};

/* The column that a field of the header names; COLUMN_COUNT: none. */
static uint32_t column_of(struct myr_str name)
{
    uint32_t column = 0;
    while (column < COLUMN_COUNT && !myr_str_eq_nocase(name, myr_str_from(column_names[column]))) {
        column++;
    }
    return column;
}

/* A misspelt column would be one that says nothing, and the cluster would look free. */
static int refuse_column(const struct reader *r, uint32_t f, struct myr_err *err)
{
    char words[MYR_EXCERPT_MAX], near[NEAR_BYTES];
    struct myr_str name = r->csv.fields[f];
    myr_str_nearest(name, column_names, COLUMN_COUNT, near, sizeof(near));
    int rc = myr_csv_error(err, &r->csv, f, "unknown column '%s'%s%s%s",
                           myr_text_excerpt(name, words), near[0] ? "; did you mean " : "", near,
                           near[0] ? "?" : ", expected one that is known");
    myr_err_hint(err, "known are node, job, gpus, state, penalty, link_load, flaps_per_day, "
                      "power_headroom, restart_s, pinned, kind, rack and row");
    return rc;
}

/* Columns in any order and case. One without a name may be there, if nothing stands below it. */
static int read_header(struct reader *r, struct myr_err *err)
{
    uint32_t unknown = MYR_NONE;
    MYR_TRY(myr_csv_header(&r->csv, err));
    for (uint32_t c = 0; c < COLUMN_COUNT; c++) {
        r->at[c] = MYR_NONE;
    }
    for (uint32_t f = 0; f < r->csv.count; f++) {
        uint32_t c = column_of(r->csv.fields[f]);
        r->named[f] = c < COLUMN_COUNT;
        if (c == COLUMN_COUNT) {
            unknown = unknown == MYR_NONE && r->csv.fields[f].len ? f : unknown;
            continue;
        }
        if (r->at[c] != MYR_NONE) {
            return myr_csv_error(err, &r->csv, f, "a second column '%s', the first is field %u",
                                 column_names[c], r->at[c] + 1);
        }
        r->at[c] = f;
    }
    /* Without nodes no row means anything; all other columns may be missing. */
    if (r->at[NODE] == MYR_NONE) {
        return myr_err_set(err, MYR_EINVAL, "%s:1:1: no column 'node', expected a header naming it",
                           r->csv.file);
    }
    return unknown == MYR_NONE ? MYR_OK : refuse_column(r, unknown, err);
}

/* What stands below no name would be passed over. */
static int check_named(const struct reader *r, struct myr_err *err)
{
    for (uint32_t f = 0; f < r->csv.count && f < r->csv.head_count; f++) {
        if (!r->named[f] && r->csv.fields[f].len) {
            return myr_csv_error(err, &r->csv, f,
                                 "a value in a column without a name, expected nothing");
        }
    }
    return MYR_OK;
}

/* The field of a column, empty where the row or the file has none. */
static struct myr_str field(const struct reader *r, enum column column)
{
    uint32_t at = r->at[column];
    return at != MYR_NONE && at < r->csv.count ? r->csv.fields[at] : (struct myr_str){"", 0};
}

/* The field that a message points at: a short row's last one where the column is missing. */
static uint32_t where(const struct reader *r, enum column column)
{
    return r->at[column] < r->csv.count ? r->at[column] : r->csv.count - 1;
}

/*
 * A node's number: bare, or as the design names it ("node/00042", "node-00042"). Nothing else: a
 * name of the site's own, or of a switch, may well end in digits and mean another node.
 */
static int read_node(const struct reader *r, uint32_t *ret, struct myr_err *err)
{
    struct myr_str text = field(r, NODE), digits = text;
    uint64_t number = 0;
    if (text.len > 5 &&
        (memcmp(text.data, "node/", 5) == 0 || memcmp(text.data, "node-", 5) == 0)) {
        digits = (struct myr_str){text.data + 5, text.len - 5};
    }
    if (!myr_str_to_u64(digits, &number) || number >= r->p->shape.nodes) {
        char words[MYR_EXCERPT_MAX];
        return myr_csv_error(err, &r->csv, where(r, NODE),
                             "'%s' is no node, expected 0 to %u, or such as node/00042",
                             myr_text_excerpt(text, words), r->p->shape.nodes - 1);
    }
    *ret = (uint32_t)number;
    return MYR_OK;
}

/* 'usual' where the row has none. */
static int read_number(const struct reader *r, enum column column, uint64_t usual, uint64_t most,
                       uint64_t *ret, struct myr_err *err)
{
    struct myr_str text = field(r, column);
    /* Where the row says nothing. */
    *ret = usual;
    if (text.len > 0 && (!myr_str_to_u64(text, ret) || *ret > most)) {
        return myr_csv_error(err, &r->csv, where(r, column), "'%s' is not a number from 0 to %llu",
                             column_names[column], (unsigned long long)most);
    }
    return MYR_OK;
}

/* A part or a rate; 'usual' where the row has none. */
static int read_part(const struct reader *r, enum column column, double most, double *ret,
                     struct myr_err *err)
{
    struct myr_str text = field(r, column);
    if (text.len > 0 && (!myr_str_to_double(text, ret) || !(*ret >= 0 && *ret <= most))) {
        return myr_csv_error(err, &r->csv, where(r, column), "'%s' is not a number from 0 to %g",
                             column_names[column], most);
    }
    return MYR_OK;
}

/* The rows of a node, one for each job on it, say the same of its state, or nothing. */
static int set_use(const struct reader *r, uint32_t node, struct myr_err *err)
{
    enum { UP, DOWN, HELD, STATES };
    static const char *const words[STATES] = {"up", "down", "held"};
    struct myr_str text = field(r, STATE);
    uint32_t state = 0;
    if (text.len == 0) {
        return MYR_OK;
    }
    while (state < STATES && !myr_str_eq(text, myr_str_from(words[state]))) {
        state++;
    }
    if (state == STATES) {
        return myr_csv_error(err, &r->csv, where(r, STATE),
                             "unknown state, expected up, down or held");
    }
    if (r->said[node] && r->said[node] != state + 1) {
        return myr_csv_error(err, &r->csv, where(r, STATE),
                             "the node is %s here and %s in a row before, expected one state",
                             words[state], words[r->said[node] - 1]);
    }
    /* The first row of a node that says it decides; those after it only agree. */
    if (!r->said[node] && state == DOWN) {
        myr_placer_set_node(r->p, node, false);
    } else if (!r->said[node] && state == HELD) {
        myr_placer_hold(r->p, node, true);
    }
    r->said[node] = (uint8_t)(state + 1);
    return MYR_OK;
}

/* How well the node is, as a penalty; several sources add up. */
static int set_state(const struct reader *r, uint32_t node, struct myr_err *err)
{
    /* No load, no flaps, all headroom: nothing to mind. */
    struct myr_condition condition = {0, 0, 1};
    double penalty = 0;
    MYR_TRY(set_use(r, node, err));
    MYR_TRY(read_part(r, PENALTY, 1000, &penalty, err));
    MYR_TRY(read_part(r, LOAD, 1, &condition.link_load, err));
    MYR_TRY(read_part(r, FLAPS, 1e6, &condition.flaps_per_day, err));
    MYR_TRY(read_part(r, HEADROOM, 1, &condition.power_headroom, err));
    /* In thousandths, as the placer keeps it. */
    uint32_t milli = (uint32_t)(1000 * penalty + 0.5) + myr_condition_penalty(&condition);
    if (milli > 0) {
        myr_placer_set_penalty(r->p, node, milli);
    }
    return MYR_OK;
}

static void names_init(struct reader *r)
{
    static const enum column columns[NAMES_COUNT] = {KIND, RACK, ROW};
    uint32_t nodes = r->p->shape.nodes;
    for (uint32_t i = 0; i < NAMES_COUNT; i++) {
        r->names[i].column = columns[i];
        /* A kind is a byte, and 0 stands for none; racks and rows may be as many as nodes. */
        r->names[i].most = i == NAMES_KIND ? MYR_STATE_KINDS_MAX : nodes;
        r->names[i].of = MYR_ARENA_NEW(&r->state->arena, uint32_t, nodes);
        for (uint32_t node = 0; node < nodes; node++) {
            r->names[i].of[node] = MYR_NONE;
        }
    }
}

/* What the row says of its node's kind or place; a node with several rows may say it once. */
static int set_name(struct reader *r, struct names *names, uint32_t node, struct myr_err *err)
{
    struct myr_str name = field(r, names->column);
    if (name.len == 0) {
        return MYR_OK;
    }
    uint32_t known = myr_strmap_get(&names->map, name);
    if (known == MYR_MAP_NONE && names->count == names->most) {
        return myr_csv_error(err, &r->csv, where(r, names->column),
                             "more than %u different values of '%s'", names->most,
                             column_names[names->column]);
    }
    /* The text of the row is gone with the next one, so the name is copied. */
    if (known == MYR_MAP_NONE) {
        known = names->count++;
        name.data = myr_arena_strndup(&r->state->arena, name.data, name.len);
        (void)myr_strmap_add(&names->map, name, known);
        if (names->column == KIND) {
            myr_vec_push(&r->state->kinds, name);
            MYR_ASSERT(r->state->kinds.count == names->count);
        }
    }
    MYR_ASSERT(known < names->count && names->count <= names->most);
    if (names->of[node] != MYR_NONE && names->of[node] != known) {
        return myr_csv_error(err, &r->csv, where(r, names->column),
                             "node %u had another %s above, expected the same or nothing", node,
                             column_names[names->column]);
    }
    names->of[node] = known;
    return MYR_OK;
}

/* Tells the placer what was read about kinds and places. */
static void give_names(struct reader *r)
{
    const uint32_t *kind_of = r->names[NAMES_KIND].of;
    for (uint32_t node = 0; node < r->p->shape.nodes; node++) {
        if (kind_of[node] != MYR_NONE) {
            MYR_ASSERT(kind_of[node] < r->names[NAMES_KIND].count && kind_of[node] < UINT8_MAX);
            /* 0 is the kind of a node that has none. */
            myr_placer_set_kind(r->p, node, (uint8_t)(kind_of[node] + 1));
        }
    }
    for (uint32_t z = 0; z < MYR_ZONE_COUNT; z++) {
        struct names *names = &r->names[z == MYR_ZONE_RACK ? NAMES_RACK : NAMES_ROW];
        r->state->has_zone[z] = names->count > 0;
        for (uint32_t node = 0; node < r->p->shape.nodes; node++) {
            /* A node without a rack or row stands alone: it gets a number of its own. */
            names->of[node] = names->of[node] == MYR_NONE ? names->count++ : names->of[node];
        }
        if (r->state->has_zone[z]) {
            myr_placer_set_zone(r->p, (enum myr_zone)z, names->of);
        }
    }
}

/* The job of this name, made when it is met first; 'ret_index' is its place. */
static struct myr_running *job_for(struct reader *r, struct myr_str name, uint32_t *ret_index)
{
    uint32_t known = myr_strmap_get(&r->jobs, name);
    if (known == MYR_MAP_NONE) {
        struct myr_arena *arena = &r->state->arena;
        known = (uint32_t)r->state->jobs.count;
        struct myr_running job = {MYR_ARENA_ONE(arena, struct myr_gang), 600, false};
        name.data = myr_arena_strndup(arena, name.data, name.len);
        (void)myr_strmap_add(&r->jobs, name, known);
        myr_vec_push(&r->state->jobs, job);
        myr_vec_push(&r->room, 0);
    }
    MYR_ASSERT(known < r->state->jobs.count && r->room.count == r->state->jobs.count);
    *ret_index = known;
    return &r->state->jobs.items[known];
}

/* '*ret' is left alone where the row does not say it. */
static int read_pinned(const struct reader *r, bool *ret, struct myr_err *err)
{
    struct myr_str text = field(r, PINNED);
    bool yes = myr_str_eq(text, MYR_STR("yes"));
    if (text.len > 0 && !yes && !myr_str_eq(text, MYR_STR("no"))) {
        char words[MYR_EXCERPT_MAX];
        return myr_csv_error(err, &r->csv, where(r, PINNED), "'pinned' is '%s', expected yes or no",
                             myr_text_excerpt(text, words));
    }
    *ret = text.len > 0 ? yes : *ret;
    return MYR_OK;
}

/* A row without a job takes nothing: one that says otherwise lacks the job's name. */
static int check_free(const struct reader *r, uint64_t gpus, bool pinned, struct myr_err *err)
{
    if (gpus == 0 && !pinned) {
        return MYR_OK;
    }
    enum column column = gpus ? GPUS : PINNED;
    return myr_csv_error(err, &r->csv, where(r, column),
                         "'%s' is said of a row without a job, expected the job's name too",
                         column_names[column]);
}

/* A row with a job takes GPUs of its node for it. */
static int take_share(struct reader *r, uint32_t node, struct myr_err *err)
{
    struct myr_str name = field(r, JOB);
    uint32_t index, left = index_free_on(r->p, node);
    uint64_t gpus, restart_s;
    bool pinned = false;
    /* A job without a number has the whole node. */
    MYR_TRY(read_number(r, GPUS, name.len ? r->p->shape.gpus_per_node : 0,
                        r->p->shape.gpus_per_node, &gpus, err));
    MYR_TRY(read_number(r, RESTART, 600, 1000000000, &restart_s, err));
    MYR_TRY(read_pinned(r, &pinned, err));
    if (name.len == 0) {
        return check_free(r, gpus, pinned, err);
    }
    if (gpus == 0) {
        return myr_csv_error(err, &r->csv, where(r, GPUS),
                             "'gpus' is 0 of a job's row, expected 1 to %u",
                             r->p->shape.gpus_per_node);
    }
    if (gpus > left) {
        return myr_csv_error(err, &r->csv, where(r, NODE), "node %u has %s left, this job takes %u",
                             node, MYR_COUNT(left, "GPU"), (uint32_t)gpus);
    }
    struct myr_running *job = job_for(r, name, &index);
    struct myr_gang *gang = job->gang;
    /* Rows of one job may differ here: the last one that says it counts. */
    job->restart_s = field(r, RESTART).len ? (uint32_t)restart_s : job->restart_s;
    job->pinned = field(r, PINNED).len ? pinned : job->pinned;
    /* Shares grow by doubling in the arena; the old ones are freed with it. */
    if (gang->count == r->room.items[index]) {
        uint32_t room = gang->count ? 2 * gang->count : 4;
        struct myr_share *shares = MYR_ARENA_NEW(&r->state->arena, struct myr_share, room);
        if (gang->count) {
            memcpy(shares, gang->shares, gang->count * sizeof(*shares));
        }
        gang->shares = shares;
        r->room.items[index] = room;
    }
    /* Which of the free GPUs is not said: the lowest. */
    uint64_t mask = r->p->free_mask[node], taken = 0;
    for (uint64_t i = 0; i < gpus; i++) {
        uint64_t bit = mask & (0 - mask);
        taken |= bit;
        mask ^= bit;
    }
    MYR_ASSERT(gang->count < r->room.items[index]);
    gang->shares[gang->count++] = (struct myr_share){node, taken};
    myr_place_take(r->p, node, taken);
    return MYR_OK;
}

/* One row of the table, in the order in which its parts need each other. */
static int read_row(struct reader *r, struct myr_err *err)
{
    uint32_t node = 0;
    if (++r->rows > MYR_STATE_ROWS_MAX) {
        return myr_csv_error(err, &r->csv, 0, "more than %u rows", MYR_STATE_ROWS_MAX);
    }
    MYR_TRY(check_named(r, err));
    MYR_TRY(read_node(r, &node, err));
    MYR_ASSERT(node < r->p->shape.nodes);
    MYR_TRY(take_share(r, node, err));
    MYR_TRY(set_state(r, node, err));
    for (uint32_t i = 0; i < NAMES_COUNT; i++) {
        MYR_TRY(set_name(r, &r->names[i], node, err));
    }
    return MYR_OK;
}

static int read_table(struct reader *r, struct myr_err *err)
{
    MYR_TRY(read_header(r, err));
    for (;;) {
        int rc = myr_csv_next(&r->csv, err);
        if (rc <= 0) {
            return rc;
        }
        MYR_TRY(read_row(r, err));
    }
}

static void reader_done(struct reader *r)
{
    for (uint32_t i = 0; i < NAMES_COUNT; i++) {
        myr_strmap_done(&r->names[i].map);
    }
    myr_strmap_done(&r->jobs);
    myr_vec_done(&r->room);
}

int myr_sched_state_parse(struct myr_sched_state *state, struct myr_placer *placer,
                          const char *file, struct myr_str text, struct myr_err *err)
{
    MYR_CLEANUP(reader_done) struct reader r = {.state = state, .p = placer};
    *state = (struct myr_sched_state){};
    myr_arena_init(&state->arena);
    myr_csv_init(&r.csv, &state->arena, file, text);
    names_init(&r);
    r.said = MYR_ARENA_NEW(&state->arena, uint8_t, placer->shape.nodes);
    int rc = read_table(&r, err);
    if (rc < 0) {
        /* Nothing of it is left for the caller to free. */
        myr_sched_state_done(state);
        return rc;
    }
    MYR_ASSERT(r.room.count == state->jobs.count);
    give_names(&r);
    return MYR_OK;
}

int myr_sched_state_read(struct myr_sched_state *state, struct myr_placer *placer, const char *path,
                         struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    *state = (struct myr_sched_state){};
    MYR_TRY(myr_kind_read(path, FILE_BYTES_MAX, MYR_KINDS_CSV,
                          "a CSV list of nodes (node, job, gpus, state)", &text, err));
    return myr_sched_state_parse(state, placer, myr_file_name(path),
                                 (struct myr_str){text.data, text.len}, err);
}

void myr_sched_state_done(struct myr_sched_state *state)
{
    myr_vec_done(&state->jobs);
    myr_vec_done(&state->kinds);
    myr_arena_done(&state->arena);
}
