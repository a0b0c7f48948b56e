/*
 * replay_report: what a replay found, drawn: waits by size, GPUs in use and asked for, how far
 * gangs were spread, whole free nodes. Each drawing is an SVG of its own; the page holds them all
 * with the figures and the longest waits. The question must have asked for samples.
 */
#pragma once

#include "myriad/sched/replay_answer.h"
#include "myriad/text/chart.h"

enum { MYR_REPLAY_CHARTS = 4, MYR_REPLAY_SAMPLES = 800 };

/* File names, "wait-by-size.svg" first. */
extern const char *const myr_replay_chart_names[MYR_REPLAY_CHARTS];

/* A file holds one drawing (MYR_CHART_WIDE), a page both of its forms. */
void myr_replay_chart(const struct myr_replay_answer *answer, uint32_t chart,
                      enum myr_chart_form form, struct myr_buf *buf);
void myr_replay_page(const struct myr_replay_question *question,
                     const struct myr_replay_answer *answer, struct myr_buf *buf);
