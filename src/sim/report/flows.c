#include <stdio.h>
#include <stdlib.h>

#include "report/internal.h"

/*
 * What ran, for other programs: the tasks with what each waited for, the ordered path of every
 * flow, and the run as a timeline. The first two are read back by read/flows.c and engine/given.c.
 */

/* By task: where the list of those that it waits for begins; edges sorted that way. */
struct waits {
    uint32_t *start, *before;
};

static void waits_done(struct waits *waits)
{
    free(waits->start);
    free(waits->before);
}

/* The engine has edges by the task before; here they are wanted by the task that waits. */
static struct waits list_waits(const struct myr_sim *sim)
{
    struct waits waits = {myr_xcalloc(sim->tasks.count + 2, sizeof(uint32_t)),
                          myr_xcalloc(sim->edges.count, sizeof(uint32_t))};
    for (size_t i = 0; i < sim->edges.count; i++) {
        waits.start[sim->edges.items[i].task + 2]++;
    }
    for (size_t i = 2; i < sim->tasks.count + 2; i++) {
        waits.start[i] += waits.start[i - 1];
    }
    for (size_t i = 0; i < sim->edges.count; i++) {
        const struct sim_edge *edge = &sim->edges.items[i];
        waits.before[waits.start[edge->task + 1]++] = edge->before;
    }
    return waits;
}

/* What every row of a task begins with: its id and the ids that it waits for. */
static void put_head(const struct waits *waits, uint32_t task, struct myr_buf *buf)
{
    myr_buf_put_u64(buf, task);
    myr_buf_putc(buf, ',');
    for (uint32_t i = waits->start[task]; i < waits->start[task + 1]; i++) {
        myr_buf_puts(buf, i > waits->start[task] ? " " : "");
        myr_buf_put_u64(buf, waits->before[i]);
    }
    myr_buf_putc(buf, ',');
}

/* A pattern of many flows is as many rows of one id: who reads it back waits for all of them. */
void myr_report_flows(const struct myr_report *report, struct myr_outfile *file)
{
    const struct myr_sim *sim = report->sim;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    MYR_CLEANUP(waits_done) struct waits waits = list_waits(sim);
    myr_buf_put_lit(&buf, "id,after,from,to,bytes,compute_us,hops\n");
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        const struct sim_task *task = &sim->tasks.items[t];
        if (task->kind == SIM_COMPUTE) {
            put_head(&waits, t, &buf);
            myr_buf_put_lit(&buf, ",,,");
            report_put_us(&buf, task->duration);
            myr_buf_put_lit(&buf, ",\n");
            myr_outfile_drain(file, &buf);
            continue;
        }
        const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
        for (uint32_t m = 0; m < pattern->message_count; m++) {
            struct myr_message message = sim->messages.items[pattern->first_message + m];
            put_head(&waits, t, &buf);
            report_put_rank(&buf, message.from);
            myr_buf_putc(&buf, ',');
            report_put_rank(&buf, message.to);
            myr_buf_printf(&buf, ",%llu,,%u\n", (unsigned long long)(task->bits / 8),
                           task->latency_rounds);
            myr_outfile_drain(file, &buf);
        }
    }
    myr_outfile_write(file, buf.data, buf.len);
}

/* link/ID> and link/ID<: along the link and against it; pool/N and gpu/N have no link. */
static void put_channel(const struct myr_sim *sim, uint32_t channel, struct myr_buf *buf)
{
    if (channel >= sim->pool_base) {
        uint32_t index = channel - sim->pool_base;
        myr_buf_printf(buf, "pool/%u/%s", index / 2, index % 2 ? "down" : "up");
    } else if (channel >= sim->scale_up_base) {
        uint32_t index = channel - sim->scale_up_base;
        myr_buf_printf(buf, "gpu/%u/%s", index / 2, index % 2 ? "in" : "out");
    } else {
        uint32_t id = myr_design_link_id(sim->graph->design, channel / 2);
        myr_buf_printf(buf, "link/%08u%s", id, channel % 2 ? "<" : ">");
    }
}

/*
 * Only where paths were kept; those that a fault has replaced are in it too, before the new ones.
 */
void myr_report_paths(const struct myr_report *report, struct myr_outfile *file)
{
    const struct myr_sim *sim = report->sim;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_buf_put_lit(&buf, "phase,from,to,permille,latency_us,path\n");
    for (size_t i = 0; i < sim->paths.count; i++) {
        const struct sim_path *path = &sim->paths.items[i];
        const struct sim_pattern *pattern = &sim->patterns.items[path->pattern];
        struct myr_message message = sim->messages.items[pattern->first_message + path->message];
        myr_buf_put_u64(&buf, pattern->phase);
        myr_buf_putc(&buf, ',');
        report_put_rank(&buf, message.from);
        myr_buf_putc(&buf, ',');
        report_put_rank(&buf, message.to);
        myr_buf_printf(&buf, ",%u,", path->share);
        /*
         * Of the whole pattern, with the software's part: what reads it back takes that off again.
         */
        report_put_us(&buf, pattern->latency);
        myr_buf_putc(&buf, ',');
        for (uint32_t c = 0; c < path->count; c++) {
            myr_buf_puts(&buf, c ? " " : "");
            put_channel(sim, sim->path_channels.items[path->first + c], &buf);
        }
        myr_buf_putc(&buf, '\n');
        myr_outfile_drain(file, &buf);
    }
    myr_outfile_write(file, buf.data, buf.len);
}

/* Names come from here, so that nothing in them needs escaping. */
static void put_span(struct myr_buf *buf, bool *first, const char *name, uint32_t job,
                     uint32_t rank, const struct sim_task *task)
{
    myr_buf_puts(buf, *first ? "\n" : ",\n");
    *first = false;
    myr_buf_printf(buf, "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":", name,
                   job + 1, myr_message_number(rank));
    report_put_us(buf, task->start);
    myr_buf_put_lit(buf, ",\"dur\":");
    report_put_us(buf, task->end - task->start);
    myr_buf_putc(buf, '}');
}

/* The JSON form of trace events, which Perfetto and Chrome open: a process a job, a thread a GPU.
 */
void myr_report_trace(const struct myr_report *report, struct myr_outfile *file)
{
    const struct myr_sim *sim = report->sim;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    bool first = true;
    myr_buf_put_lit(&buf, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (uint32_t j = 0; j < report->job_count; j++) {
        const struct myr_report_job *job = &report->jobs[j];
        for (uint32_t t = job->first_task; t < job->first_task + job->task_count; t++) {
            const struct sim_task *task = &sim->tasks.items[t];
            const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
            char name[64];
            if (task->kind == SIM_COMPUTE) {
                /* Joins take no time: they would be points on the timeline. */
                if (task->end > task->start) {
                    put_span(&buf, &first, "compute", j, 0, task);
                }
                continue;
            }
            for (uint32_t m = 0; m < pattern->message_count; m++) {
                struct myr_message message = sim->messages.items[pattern->first_message + m];
                bool storage = message.to & MYR_MESSAGE_STORAGE;
                snprintf(name, sizeof(name), "%llu B to %s%u", (unsigned long long)(task->bits / 8),
                         storage ? "storage " : "GPU ", myr_message_number(message.to));
                put_span(&buf, &first, name, j, message.from, task);
                myr_outfile_drain(file, &buf);
            }
        }
    }
    myr_buf_put_lit(&buf, "\n]}\n");
    myr_outfile_write(file, buf.data, buf.len);
}

/* time_us,channel,gbps,load: of each interval, the channels that carried anything. */
void myr_report_series(const struct myr_report *report, struct myr_outfile *file)
{
    const struct myr_sim *sim = report->sim;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    double step_s = (double)sim->options.series_ps / (double)MYR_PS_PER_S;
    myr_buf_put_lit(&buf, "time_us,channel,gbps,load\n");
    for (size_t i = 0; i < sim->samples.count; i++) {
        const struct sim_sample *sample = &sim->samples.items[i];
        double bps = (double)sample->bytes * 8 / step_s;
        /* Against the capacity without faults, as all loads are. */
        double most = (double)sim->channels[sample->channel].full_capacity;
        report_put_us(&buf, (myr_ps)sample->tick * sim->options.series_ps);
        myr_buf_putc(&buf, ',');
        put_channel(sim, sample->channel, &buf);
        myr_buf_printf(&buf, ",%.6f,%.6f\n", bps / 1e9, most > 0 ? bps / most : 0);
        myr_outfile_drain(file, &buf);
    }
    myr_outfile_write(file, buf.data, buf.len);
}
