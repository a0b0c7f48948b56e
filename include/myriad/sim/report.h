/*
 * report: what a run did, for people: a page, a heat map, a table of flows.
 *
 * Everything is read off the engine after its run; nothing here changes it. The same run gives the
 * same bytes.
 */
#pragma once

#include "myriad/sim/engine.h"

/* A row of the summary, ready for people. */
struct myr_report_fact {
    const char *name, *value;
};

/* A workload of the run: its tasks lie together. */
struct myr_report_job {
    const char *name;
    uint32_t first_task, task_count;
};

struct myr_report {
    const struct myr_sim *sim;
    const char *title;
    const struct myr_report_fact *facts;
    const struct myr_report_job *jobs;
    uint32_t fact_count, job_count;
};

/* One step of a critical path: the task, and why it took so long. */
struct myr_report_step {
    uint32_t task;
    myr_ps start, end;
    uint32_t channel; /* that held it back, or MYR_NONE: computing, latency */
};

/*
 * From the job's last task back to the one that waited for nothing: each step is the task that
 * released the next one. In order of time. The caller frees '*ret'; the count is returned.
 */
uint32_t myr_report_critical_path(const struct myr_report *report, uint32_t job,
                                  struct myr_report_step **ret);

/* Where a channel goes: "node/0001 nic0 -> leaf/01", "uplinks of leaf/01", "scale-up of GPU 7". */
void myr_report_channel_name(const struct myr_sim *sim, uint32_t channel, struct myr_buf *buf);

/* Part of the capacity that was used over the whole run; sprayed traffic is spread evenly. */
double myr_report_load(const struct myr_sim *sim, uint32_t channel);

/*
 * task,from,to,bytes,start_us,end_us,bottleneck: a row for each flow of each transfer. What cannot
 * be written is told when the file is committed.
 */
void myr_report_fct(const struct myr_report *report, struct myr_outfile *file);
/*
 * id,after,from,to,bytes,compute_us,hops: every task and what it waited for; a row for each flow of
 * a transfer that moves several in lockstep. Read back as a workload (read.h, "flows").
 */
void myr_report_flows(const struct myr_report *report, struct myr_outfile *file);
/*
 * phase,from,to,permille,latency_us,path: the channels of each flow, or of each part of it, in
 * their order. Of an engine that was told to keep them (myr_sim_keep_paths).
 */
void myr_report_paths(const struct myr_report *report, struct myr_outfile *file);
/* The run as trace events in JSON, which Perfetto shows. */
void myr_report_trace(const struct myr_report *report, struct myr_outfile *file);
/* time_us,channel,gbps,load: what channels carried, by interval (myr_sim_options.series_ps). */
void myr_report_series(const struct myr_report *report, struct myr_outfile *file);
/* The heat map alone, as an SVG document. */
void myr_report_heatmap(const struct myr_report *report, struct myr_buf *buf);
/* One HTML page that needs nothing else. */
void myr_report_html(const struct myr_report *report, struct myr_buf *buf);
