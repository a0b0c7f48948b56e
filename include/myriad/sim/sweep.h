/*
 * sweep: many simulations from one file.
 *
 * The file is a question (question.h) whose settings may be lists; every combination is a point.
 * Knobs are names of the user's own: "{size}" in a setting stands for the knob's value.
 *
 *     topology: fat-tree:k=8,gbps=100,delay=1us
 *     workload: allreduce:{algorithm},{size}
 *     knobs: {algorithm: [ring, halving], size: [1MB, 64MB]}
 *     lb: [ecmp, spray]
 *     seed: 0-9
 *
 * Points are numbered through all lists in the order of the file, the last one fastest. A point's
 * rows (one a job) are appended to a journal in one write when it has been played, so that nothing
 * is played twice after a kill: the next run reads the journals and goes on. Shards are every Nth
 * point, each with a journal of its own beside the others; whoever finds that nothing is missing
 * writes the result, the rows in the order of the points.
 */
#pragma once

#include "myriad/sim/question.h"

#define MYR_SWEEP_POINTS_MAX UINT32_C(1000000)
#define MYR_SWEEP_AXES_MAX   32
#define MYR_SWEEP_VALUES_MAX UINT32_C(100000) /* of one list */

struct myr_sweep_axis {
    const char *name;
    const char *const *values;
    uint32_t count;
    bool knob;
};

struct myr_sweep {
    const char *file;
    struct myr_sweep_axis axes[MYR_SWEEP_AXES_MAX];
    uint32_t axis_count;
    struct myr_sim_words jobs, faults, slow; /* of every point; knobs may stand in them */
    uint32_t points;
    uint64_t digest; /* of all of it: a journal belongs to one sweep */
};

/* Everything lives in the arena; 'file' is for messages. */
MYR_MUST_USE int myr_sweep_parse(struct myr_sweep *ret, struct myr_arena *arena, const char *file,
                                 struct myr_str text, struct myr_err *err);
MYR_MUST_USE int myr_sweep_read(struct myr_sweep *ret, struct myr_arena *arena, const char *path,
                                struct myr_err *err);

/* The value that an axis has at a point. */
const char *myr_sweep_value(const struct myr_sweep *sweep, uint32_t axis, uint32_t point);
/* The question of a point, knobs put in, in the arena. */
struct myr_sim_question myr_sweep_question(const struct myr_sweep *sweep, uint32_t point,
                                           struct myr_arena *arena);

/* What a row says beside its settings; numbers as text, empty where there is none. */
enum myr_sweep_column {
    MYR_SWEEP_STATUS, /* "ok", or why there is nothing else */
    MYR_SWEEP_WORKLOAD,
    MYR_SWEEP_COLLECTIVE,
    MYR_SWEEP_BYTES,
    MYR_SWEEP_RANKS,
    MYR_SWEEP_ALGORITHM,
    MYR_SWEEP_SCHEDULE,
    MYR_SWEEP_END_US,
    MYR_SWEEP_ALONE_US,
    MYR_SWEEP_SLOWDOWN,
    MYR_SWEEP_BOUND_US,
    MYR_SWEEP_ALGBW,
    MYR_SWEEP_BUSBW,
    MYR_SWEEP_SIM_TIME_US,
    MYR_SWEEP_FLOWS,
    MYR_SWEEP_FCT_MEAN_US,
    MYR_SWEEP_FCT_P50_US,
    MYR_SWEEP_FCT_P99_US,
    MYR_SWEEP_FCT_MAX_US,
    MYR_SWEEP_RATE_MEAN,
    MYR_SWEEP_RATE_MIN,
    MYR_SWEEP_LOAD_MEAN,
    MYR_SWEEP_LOAD_MAX,
    MYR_SWEEP_HASH,
    MYR_SWEEP_COLUMNS,
};
extern const char *const myr_sweep_columns[MYR_SWEEP_COLUMNS];
bool myr_sweep_is_number(enum myr_sweep_column column);

struct myr_sweep_row {
    uint32_t point, job, jobs;
    struct myr_str cells[MYR_SWEEP_COLUMNS];
};

struct myr_sweep_run {
    const char *out;             /* the result; NULL: nothing is kept */
    const char *plot;            /* its picture, of a run of all points; or NULL */
    const char *version;         /* of the program: a journal is gone on with by the same one */
    uint32_t shard, shard_count; /* points 'shard' of 'shard_count', from 0 */
    uint32_t workers;            /* processes; 0: as many as cores */
    myr_sim_progress *progress;  /* of points; or NULL */
    void *progress_context;
};

struct myr_sweep_result {
    const struct myr_sweep_row *rows; /* of this shard, by point and job; in the arena */
    uint32_t row_count;
    uint32_t points, done; /* of this shard */
    uint32_t resumed;      /* of those, done by earlier runs */
    uint32_t failed;       /* that have no result but a reason */
    bool written;          /* nothing is missing anywhere: the result is there */
};

MYR_MUST_USE int myr_sweep_run(const struct myr_sweep *sweep, const struct myr_sweep_run *run,
                               struct myr_arena *arena, struct myr_sweep_result *ret,
                               struct myr_err *err);

/*
 * Rows of a journal's text that are whole, into the arena; 'ret_whole' is how many bytes they take
 * with the first line. A journal of another sweep is refused.
 */
MYR_MUST_USE int myr_sweep_journal(const struct myr_sweep *sweep, const char *version,
                                   const char *file, struct myr_str text, struct myr_arena *arena,
                                   struct myr_sweep_row **ret, uint32_t *ret_count,
                                   size_t *ret_whole, struct myr_err *err);

/* Completion time over size, a chart for each collective, as a page; as SVG where there is one and
 * 'path', where it will be written, is called so. */
MYR_MUST_USE int myr_sweep_plot(const struct myr_sweep *sweep,
                                const struct myr_sweep_result *result, const char *path,
                                struct myr_buf *ret, struct myr_err *err);
