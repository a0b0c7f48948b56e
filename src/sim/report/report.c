/* report: names and loads of channels, the critical path, and the list of all flows. */
#include "myriad/sim/report.h"

#include <stdlib.h>

#include "report/internal.h"

static void put_device(const struct myr_sim *sim, uint32_t device, struct myr_buf *buf)
{
    myr_design_name(sim->graph->design, device, buf);
}

/* Leaves come first, then the pods; each has a pool up and one down. */
static void put_pool(const struct myr_sim *sim, uint32_t index, struct myr_buf *buf)
{
    const struct myr_network *net = sim->graph->net;
    const char *way = index % 2 ? "down to" : "up from";
    index /= 2;
    if (index < net->leaf) {
        myr_buf_printf(buf, "links %s ", way);
        put_device(sim, net->first_leaf + index, buf);
    } else {
        myr_buf_printf(buf, "core links %s pod %u", way, index - net->leaf);
    }
}

/* Nothing for MYR_NONE: a task that ended without a channel has no name to show. */
void myr_report_channel_name(const struct myr_sim *sim, uint32_t channel, struct myr_buf *buf)
{
    const struct myr_design *design = sim->graph->design;
    if (channel == MYR_NONE) {
        return;
    }
    MYR_ASSERT(channel < sim->channel_count);
    if (channel >= sim->pool_base) {
        put_pool(sim, channel - sim->pool_base, buf);
    } else if (channel >= sim->scale_up_base) {
        uint32_t index = channel - sim->scale_up_base;
        myr_buf_printf(buf, "scale-up %s GPU %u", index % 2 ? "into" : "out of", index / 2);
    } else {
        uint32_t port = myr_channel_from_port(design, channel);
        put_device(sim, design->port_device[port], buf);
        myr_buf_putc(buf, ' ');
        myr_design_port_name(design, port, buf);
        myr_buf_put_lit(buf, " -> ");
        put_device(sim, myr_channel_to_device(design, channel), buf);
    }
}

/* The pool that stands for a link when traffic is sprayed, or MYR_NONE. */
static uint32_t pool_of(const struct myr_sim *sim, uint32_t channel)
{
    const struct myr_graph *graph = sim->graph;
    const struct myr_network *net = graph->net;
    const struct myr_design *design = graph->design;
    uint32_t lower = design->port_device[design->link_a[channel / 2]];
    /* The even channel of a link goes up, from the lower device; the odd one comes down. */
    bool down = channel % 2;
    if (!graph->clos || net->tiers < 2) {
        return MYR_NONE;
    }
    if (lower >= net->first_leaf && lower < net->first_leaf + net->leaf) {
        return sim_pool(sim, false, lower - net->first_leaf, down);
    }
    if (net->tiers == 3 && lower >= net->first_spine && lower < net->first_spine + net->spine) {
        struct myr_spot spot = myr_graph_spine_spot(graph, lower);
        return sim_pool(sim, true, spot.unit * net->pods + spot.pod, down);
    }
    return MYR_NONE;
}

/* Against the full capacity: a link that was dead for half the run was half idle. */
static double channel_load(const struct myr_sim *sim, uint32_t channel)
{
    double seconds = (double)sim->result.end / (double)MYR_PS_PER_S;
    double capacity = (double)sim->channels[channel].full_capacity;
    return seconds > 0 && capacity > 0
               ? (double)sim->channels[channel].bytes * 8 / (capacity * seconds)
               : 0;
}

/* Sprayed bytes are counted on the pool: each of its links has carried an equal part of them. */
double myr_report_load(const struct myr_sim *sim, uint32_t channel)
{
    MYR_ASSERT(channel < sim->channel_count);
    uint32_t pool = channel < sim->link_channels ? pool_of(sim, channel) : MYR_NONE;
    return channel_load(sim, channel) + (pool == MYR_NONE ? 0 : channel_load(sim, pool));
}

/* The first of those that end last; MYR_NONE of a job without tasks. */
static uint32_t last_task(const struct myr_sim *sim, const struct myr_report_job *job)
{
    uint32_t last = MYR_NONE;
    MYR_ASSERT((uint64_t)job->first_task + job->task_count <= sim->tasks.count);
    for (uint32_t t = job->first_task; t < job->first_task + job->task_count; t++) {
        if (last == MYR_NONE || sim->tasks.items[t].end > sim->tasks.items[last].end) {
            last = t;
        }
    }
    return last;
}

/* The caller frees the path. A task without anybody before it is its beginning. */
uint32_t myr_report_critical_path(const struct myr_report *report, uint32_t job,
                                  struct myr_report_step **ret)
{
    const struct myr_sim *sim = report->sim;
    size_t tasks = sim->tasks.count;
    MYR_ASSERT(job < report->job_count);
    MYR_CLEANUP(myr_free_at) /* 1 + the task */
    uint32_t *released_by = myr_xcalloc(tasks, sizeof(*released_by));
    /* Whoever ended last of those that a task waited for has released it. */
    for (size_t i = 0; i < sim->edges.count; i++) {
        const struct sim_edge *edge = &sim->edges.items[i];
        uint32_t *known = &released_by[edge->task];
        if (*known == 0 || sim->tasks.items[edge->before].end > sim->tasks.items[*known - 1].end) {
            *known = edge->before + 1;
        }
    }
    MYR_VEC(struct myr_report_step) path = {};
    for (uint32_t t = last_task(sim, &report->jobs[job]); t != MYR_NONE;
         t = released_by[t] ? released_by[t] - 1 : MYR_NONE) {
        const struct sim_task *task = &sim->tasks.items[t];
        struct myr_report_step step = {t, task->start, task->end, task->bottleneck};
        myr_vec_push(&path, step);
        MYR_ASSERT(path.count <= tasks); /* it goes back in time, and so it ends */
    }
    /* It was walked from the end; people read it from the start. */
    for (size_t i = 0; i < path.count / 2; i++) {
        struct myr_report_step other = path.items[i];
        path.items[i] = path.items[path.count - 1 - i];
        path.items[path.count - 1 - i] = other;
    }
    *ret = path.items;
    return (uint32_t)path.count;
}

/* A transfer in lockstep is as many rows as it has flows, with the same times. */
static void put_flows(const struct myr_sim *sim, uint32_t id, struct myr_buf *name,
                      struct myr_outfile *file, struct myr_buf *buf)
{
    const struct sim_task *task = &sim->tasks.items[id];
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    /* Once a task: all of its flows were held back by the same channel. */
    myr_buf_clear(name);
    myr_report_channel_name(sim, task->bottleneck, name);
    for (uint32_t m = 0; m < pattern->message_count; m++) {
        struct myr_message message = sim->messages.items[pattern->first_message + m];
        myr_buf_put_u64(buf, id);
        myr_buf_putc(buf, ',');
        report_put_rank(buf, message.from);
        myr_buf_putc(buf, ',');
        report_put_rank(buf, message.to);
        myr_buf_putc(buf, ',');
        myr_buf_put_u64(buf, task->bits / 8);
        myr_buf_putc(buf, ',');
        report_put_us(buf, task->start);
        myr_buf_putc(buf, ',');
        report_put_us(buf, task->end);
        myr_buf_putc(buf, ',');
        if (name->len) {
            myr_buf_put(buf, name->data, name->len);
        }
        myr_buf_putc(buf, '\n');
        myr_outfile_drain(file, buf);
    }
}

/* Computing has no row: it is no flow. */
void myr_report_fct(const struct myr_report *report, struct myr_outfile *file)
{
    const struct myr_sim *sim = report->sim;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_buf_put_lit(&buf, "task,from,to,bytes,start_us,end_us,bottleneck\n");
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        if (sim->tasks.items[t].kind == SIM_TRANSFER) {
            put_flows(sim, t, &name, file, &buf);
        }
    }
    myr_outfile_write(file, buf.data, buf.len);
}
