#include "sim_report.h"

#include <stdio.h>

#include "myriad/sim/report.h"

enum { FACTS_MAX = 8, VALUE_MAX = 96 };

struct facts {
    struct myr_report_fact rows[FACTS_MAX];
    char values[FACTS_MAX][VALUE_MAX];
    uint32_t count;
};

MYR_PRINTF(3, 4)
static void add_fact(struct facts *facts, const char *name, const char *fmt, ...)
{
    MYR_ASSERT(facts->count < FACTS_MAX);
    char *value = facts->values[facts->count];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(value, VALUE_MAX, fmt, arguments);
    va_end(arguments);
    facts->rows[facts->count++] = (struct myr_report_fact){name, value};
}

static void list_facts(const struct sim_run *run, const char *policy, struct facts *ret)
{
    const struct myr_network *net = run->graph.net;
    char number[32];
    double most = 0;
    uint32_t hottest = MYR_NONE;
    add_fact(ret, "fabric", "%s, %s GPUs", myr_design_str(run->design, run->design->head->name),
             myr_u64_grouped(run->design->head->gpus, number));
    add_fact(ret, "network", "%s: %u leaf, %u spine, %u core switches",
             myr_net_names[run->graph.net_id], net->leaf, net->spine, net->core);
    add_fact(ret, "load balance", "%s", policy);
    add_fact(ret, "flows", "%s", myr_u64_grouped(run->result.flows, number));
    add_fact(ret, "simulated time", "%.3f us", (double)run->result.end / (double)MYR_PS_PER_US);
    for (uint32_t c = 0; c < run->design->link_count * 2; c++) {
        double load = myr_report_load(run->sim, c);
        if (load > most) {
            most = load;
            hottest = c;
        }
    }
    if (hottest != MYR_NONE) {
        struct myr_buf name = {0};
        myr_report_channel_name(run->sim, hottest, &name);
        add_fact(ret, "fullest link", "%.1f %%, %s", most * 100, name.data);
        myr_buf_done(&name);
    }
}

int sim_report_write(const struct sim_run *run, const struct sim_report_paths *paths,
                     struct myr_err *err)
{
    struct myr_report_job jobs[MYR_OPTION_LIST_MAX + 1];
    struct facts facts = {.count = 0};
    struct myr_buf buf = {0};
    int r = MYR_OK;
    if (!paths->report && !paths->heatmap && !paths->fct) {
        return MYR_OK;
    }
    for (uint32_t i = 0; i < run->job_count; i++) {
        const struct sim_load *load = &run->jobs[i].load;
        jobs[i] = (struct myr_report_job){load->text, load->first_task, load->task_count,
                                          load->first_flow, load->flow_count};
    }
    list_facts(run, paths->policy, &facts);
    struct myr_report report = {.sim = run->sim,
                                .title = "Simulation",
                                .facts = facts.rows,
                                .fact_count = facts.count,
                                .jobs = jobs,
                                .job_count = run->job_count};
    if (paths->report) {
        myr_report_html(&report, &buf);
        r = myr_file_write(paths->report, &buf, err);
    }
    if (r == MYR_OK && paths->heatmap) {
        myr_buf_clear(&buf);
        myr_report_heatmap(&report, &buf);
        r = myr_file_write(paths->heatmap, &buf, err);
    }
    if (r == MYR_OK && paths->fct) {
        r = myr_report_fct(&report, paths->fct, err);
    }
    myr_buf_done(&buf);
    return r;
}
