/*
 * What the files of the trace reader share: the values in traces (times, lengths of time, counts;
 * each is one whole field), and the reader itself for tests.
 */
#pragma once

#include "myriad/sched/joblog.h"

#define JOBLOG_LENGTH_MAX_S (INT64_C(1) << 33) /* so that GPU seconds of a cluster fit 64 bits */

struct myr_str joblog_trim(struct myr_str text);
/* Nothing, or a word for it: None, Unknown, N/A, null, nan. */
bool joblog_is_none(struct myr_str text);
/* Seconds, whole or with a fraction (dropped), or an ISO time stamp in UTC or with its offset. */
bool joblog_time(struct myr_str text, int64_t *ret_s);
/* Seconds, or [days-]hours:minutes:seconds, or minutes:seconds. */
bool joblog_length(struct myr_str text, int64_t *ret_s);
/* A whole number, also when written with ".0"; a part of one counts as one. */
bool joblog_count(struct myr_str text, int64_t *ret);
/* GPUs in a list of trackable resources, "cpu=8,gres/gpu=4,gres/gpu:a100=4"; none: 0. */
bool joblog_tres_gpus(struct myr_str text, int64_t *ret);

/* joblog_notes.c: lines only grow. */
void joblog_add_note(struct myr_joblog_notes *notes, uint32_t line,
                     const struct myr_joblog_note *note);

/* joblog.c: myr_joblog_read_telling() with pieces of another size, for tests; 'listener' or NULL.
 */
MYR_MUST_USE int joblog_read_pieces(struct myr_joblog *trace, const char *path, size_t piece_bytes,
                                    const struct myr_joblog_listener *listener,
                                    struct myr_err *err);
