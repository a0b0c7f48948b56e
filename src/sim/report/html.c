/*
 * html: the page of a run: what it is of, the load of the links, and for each job its completion
 * times and its critical path.
 */
#include <stdlib.h>

#include "myriad/text/page.h"
#include "report/internal.h"

enum { STEPS_SHOWN = 40, CULPRITS_SHOWN = 12 }; /* rows of the two tables */

/* What the page is a picture of, before the pictures. */
static void put_facts(const struct myr_report *report, struct myr_buf *buf)
{
    /* On a narrow screen facts are broken, where tables of figures are scrolled. */
    myr_buf_put_lit(buf, "<table style=\"white-space:normal\">\n");
    for (uint32_t i = 0; i < report->fact_count; i++) {
        myr_buf_put_lit(buf, "<tr><th>");
        myr_page_text(buf, report->facts[i].name);
        myr_buf_put_lit(buf, "</th><td>");
        myr_page_text(buf, report->facts[i].value);
        myr_buf_put_lit(buf, "</td></tr>\n");
    }
    myr_buf_put_lit(buf, "</table>\n");
}

/* In the unit of its own size: a table may hold nanoseconds and seconds. */
static void put_time(struct myr_buf *buf, myr_ps ps)
{
    myr_buf_put_lit(buf, "<td class=\"n\">");
    report_put_time(buf, ps);
    myr_buf_put_lit(buf, "</td>");
}

/* Nothing where there are no flows: a run of computing alone has no times to show. */
static void put_percentiles(const struct myr_times *times, struct myr_buf *buf)
{
    static const uint32_t parts[] = {0, 10, 50, 90, 99, 100};
    static const char *const names[] = {"least", "p10", "p50", "p90", "p99", "most"};
    char flows[32];
    if (times->flows == 0) {
        return;
    }
    myr_buf_put_lit(buf, "<table><tr>");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        myr_buf_printf(buf, "<th class=\"n\">%s</th>", names[i]);
    }
    myr_buf_put_lit(buf, "</tr><tr>");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        put_time(buf, myr_times_percentile(times, parts[i]));
    }
    myr_buf_put_lit(buf, "</tr></table>\n");
    myr_buf_printf(buf,
                   "<p class=\"muted\">Of %s flows; within a percentile's time at least that "
                   "part of them has ended.</p>\n",
                   myr_u64_grouped(times->flows, flows));
}

/* What the task does: "computing", "3 to 7, 1000 bytes", "16 flows of 1000 bytes". */
static void put_task(const struct myr_sim *sim, uint32_t id, struct myr_buf *buf)
{
    const struct sim_task *task = &sim->tasks.items[id];
    if (task->kind == SIM_COMPUTE) {
        myr_buf_put_lit(buf, "computing");
        return;
    }
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    if (pattern->message_count == 1) {
        struct myr_message message = sim->messages.items[pattern->first_message];
        report_put_rank(buf, message.from);
        myr_buf_put_lit(buf, " to ");
        report_put_rank(buf, message.to);
        myr_buf_put_lit(buf, ", ");
    } else {
        myr_buf_printf(buf, "%u flow%s of ", pattern->message_count,
                       pattern->message_count == 1 ? "" : "s");
    }
    char bytes[32];
    myr_buf_printf(buf, "%s bytes", myr_u64_grouped(task->bits / 8, bytes));
}

/* Whose channel it is: the GPU at its end; inside the network, the sender of the one flow. */
static void put_rank_of(const struct myr_sim *sim, uint32_t channel, uint32_t id,
                        struct myr_buf *buf)
{
    const struct myr_design *design = sim->graph->design;
    const struct myr_design_head *head = design->head;
    const struct sim_pattern *pattern = &sim->patterns.items[sim->tasks.items[id].pattern];
    if (channel >= sim->scale_up_base && channel < sim->pool_base) {
        myr_buf_put_u64(buf, (channel - sim->scale_up_base) / 2);
        return;
    }
    uint32_t port = channel < sim->link_channels ? design->link_a[channel / 2] : MYR_NONE;
    uint32_t node = port == MYR_NONE ? MYR_NONE : design->port_device[port] - head->first_node;
    for (uint32_t i = 0; node < head->nodes && i < head->gpus_per_node; i++) {
        uint32_t gpu = node * head->gpus_per_node + i;
        if (myr_flow_port(sim->graph, gpu) == port) {
            myr_buf_put_u64(buf, gpu);
            return;
        }
    }
    if (pattern->message_count == 1) {
        report_put_rank(buf, sim->messages.items[pattern->first_message].from);
    }
}

/* Two cells: what held the task back when it ended, and whose it is. Computing has only itself. */
static void put_held_by(const struct myr_sim *sim, uint32_t channel, uint32_t task,
                        struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_buf_put_lit(buf, "<td>");
    if (channel == MYR_NONE) {
        myr_buf_put_lit(buf, "<span class=\"muted\">own time</span></td><td class=\"n\">");
    } else {
        myr_report_channel_name(sim, channel, &name);
        myr_page_text(buf, name.data);
        myr_buf_put_lit(buf, "</td><td class=\"n\">");
        put_rank_of(sim, channel, task, buf);
    }
    myr_buf_put_lit(buf, "</td>");
}

/* A channel that held back steps of the path, or MYR_NONE for computing. */
struct culprit {
    uint32_t channel, steps; /* steps of the path that it held back */
    uint32_t task;           /* the last of them */
    myr_ps time;
};

/* Of equal times the lower number first, so that the same run gives the same bytes. */
static int by_blame(const void *a, const void *b)
{
    const struct culprit *left = a, *right = b;
    if (left->time != right->time) {
        return left->time > right->time ? -1 : 1;
    }
    return left->channel < right->channel ? -1 : left->channel > right->channel;
}

/* Time on the path by what held it back, the longest first. */
static void put_culprits(const struct myr_sim *sim, const struct myr_report_step *path,
                         uint32_t count, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map known = {};
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct culprit) list = {};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *place = myr_u64map_find(&known, path[i].channel);
        uint32_t at = place ? *place : (uint32_t)list.count;
        if (!place) {
            struct culprit fresh = {.channel = path[i].channel};
            myr_vec_push(&list, fresh);
            myr_u64map_add(&known, path[i].channel, at);
        }
        MYR_ASSERT(list.items && at < list.count);
        list.items[at].steps++;
        list.items[at].task = path[i].task;
        list.items[at].time += path[i].end - path[i].start;
    }
    if (list.count) {
        qsort(list.items, list.count, sizeof(*list.items), by_blame);
    }
    myr_buf_put_lit(buf, "<table><tr><th class=\"n\">time</th><th class=\"n\">steps</th>"
                         "<th>held back by</th><th class=\"n\">rank</th></tr>\n");
    for (size_t i = 0; i < list.count && i < CULPRITS_SHOWN; i++) {
        myr_buf_put_lit(buf, "<tr>");
        put_time(buf, list.items[i].time);
        myr_buf_printf(buf, "<td class=\"n\">%u</td>", list.items[i].steps);
        put_held_by(sim, list.items[i].channel, list.items[i].task, buf);
        myr_buf_put_lit(buf, "</tr>\n");
    }
    myr_buf_put_lit(buf, "</table>\n");
    if (list.count > CULPRITS_SHOWN) {
        myr_buf_printf(buf, "<p class=\"muted\">and %zu more</p>\n", list.count - CULPRITS_SHOWN);
    }
}

/*
 * The path is what to look at when a run is too slow: shortening anything else changes nothing. A
 * long one is shown by its culprits, then by its beginning and its end.
 */
static void put_path(const struct myr_report *report, uint32_t job, struct myr_buf *buf)
{
    const struct myr_sim *sim = report->sim;
    MYR_CLEANUP(myr_free_at) struct myr_report_step *path = NULL;
    uint32_t count = myr_report_critical_path(report, job, &path);
    myr_buf_printf(buf,
                   "<h3>Critical path</h3>\n<p class=\"muted\">The last task to end, the one "
                   "that it waited for, and so on back: %u step%s.</p>\n",
                   count, count == 1 ? "" : "s");
    put_culprits(sim, path, count, buf);
    myr_buf_put_lit(buf, "<details><summary>Steps</summary><table><tr><th class=\"n\">task</th>"
                         "<th class=\"n\">start</th><th class=\"n\">end</th><th>what</th>"
                         "<th>held back by</th><th class=\"n\">rank</th></tr>\n");
    for (uint32_t i = 0; i < count; i++) {
        if (count > STEPS_SHOWN && i == STEPS_SHOWN / 2) {
            /* The middle is left out; both ends are shown. */
            uint32_t left_out = count - STEPS_SHOWN;
            myr_buf_printf(buf, "<tr><td colspan=\"6\" class=\"muted\">%u steps</td></tr>\n",
                           left_out);
            i += left_out;
        }
        myr_buf_printf(buf, "<tr><td class=\"n\">%u</td>", path[i].task);
        put_time(buf, path[i].start);
        put_time(buf, path[i].end);
        myr_buf_put_lit(buf, "<td>");
        put_task(sim, path[i].task, buf);
        myr_buf_put_lit(buf, "</td>");
        put_held_by(sim, path[i].channel, path[i].task, buf);
        myr_buf_put_lit(buf, "</tr>\n");
    }
    myr_buf_put_lit(buf, "</table></details>\n");
}

/* The network once, for all jobs share it; then each job for itself. */
void myr_report_html(const struct myr_report *report, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    struct myr_times times;
    myr_arena_init(&scratch);
    myr_page_begin(buf, report->title);
    put_facts(report, buf);
    myr_buf_put_lit(buf, "<h2>Network</h2>\n");
    myr_buf_put_lit(buf, "<div class=\"wide\">");
    myr_report_heatmap(report, buf);
    myr_buf_put_lit(buf, "</div>\n");
    for (uint32_t i = 0; i < report->job_count; i++) {
        myr_buf_put_lit(buf, "<h2>");
        myr_page_text(buf, report->jobs[i].name);
        myr_buf_put_lit(buf, "</h2>\n");
        myr_times_collect(&times, &scratch, report->sim, report->jobs[i].first_task,
                          report->jobs[i].task_count);
        myr_buf_put_lit(buf, "<div class=\"wide\">");
        report_draw_times(&times, buf);
        myr_buf_put_lit(buf, "</div>\n");
        put_percentiles(&times, buf);
        put_path(report, i, buf);
    }
    myr_page_end(buf);
}
