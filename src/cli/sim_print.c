#include "sim_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct summary {
    double mean, p50, p99, max; /* us */
    double load_mean, load_max;
};

/* Fair rates as parts of a host's line rate. */
struct rates {
    double mean, slowdown, p1, least, full_share;
};

struct bandwidth {
    double algorithm, bus; /* gigabytes per second */
};

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

static double us(myr_ps ps)
{
    return (double)ps / (double)MYR_PS_PER_US;
}

/* Completion times: of single flows, or of every transfer when there are none. */
static void completion(const struct sim_run *run, struct summary *ret)
{
    const struct sim_load *load = &run->jobs[0].load;
    bool single = run->job_count == 1 && load->flow_count;
    uint32_t count = single ? load->flow_count : myr_sim_task_count(run->sim);
    uint32_t first = single ? load->first_flow : 0;
    int64_t *times = myr_xcalloc(count, sizeof(*times));
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        times[i] = myr_sim_task_end(run->sim, first + i) - myr_sim_task_start(run->sim, first + i);
        sum += (double)times[i];
    }
    qsort(times, count, sizeof(*times), by_value);
    if (count) {
        ret->mean = sum / count / (double)MYR_PS_PER_US;
        ret->p50 = us(times[(count - 1) / 2]);
        ret->p99 = us(times[(uint32_t)((uint64_t)(count - 1) * 99 / 100)]);
        ret->max = us(times[count - 1]);
    }
    free(times);
}

/* Load of a channel: what went over it against what could have, over the whole run. */
static void link_load(const struct sim_run *run, struct summary *ret)
{
    double seconds = (double)run->result.end / (double)MYR_PS_PER_S, sum = 0;
    uint32_t used = 0;
    for (uint32_t c = 0; c < run->design->link_count * 2 && seconds > 0; c++) {
        uint64_t bytes = myr_sim_channel_bytes(run->sim, c);
        if (bytes) {
            double load =
                (double)bytes * 8 / ((double)myr_channel_gbps(run->design, c) * 1e9 * seconds);
            used++;
            sum += load;
            ret->load_max = load > ret->load_max ? load : ret->load_max;
        }
    }
    ret->load_mean = used ? sum / used : 0;
}

static struct rates fair_rates(const struct sim_run *run)
{
    const struct myr_network *net = run->graph.net;
    double line = (double)net->host_gbps * net->planes * 1e9;
    uint32_t count = run->rate_count, full = 0, worst = count / 100;
    int64_t *sorted = myr_xcalloc(count, sizeof(*sorted));
    double sum = 0, slow = 0;
    for (uint32_t i = 0; i < count; i++) {
        double part = (double)run->rates[i] / line;
        sorted[i] = (int64_t)run->rates[i];
        sum += part;
        slow += part > 0 ? 1 / part : 0;
        full += part > 0.9999;
    }
    qsort(sorted, count, sizeof(*sorted), by_value);
    struct rates ret = {.mean = sum / count,
                        .slowdown = slow / count,
                        .p1 = (double)sorted[worst] / line,
                        .least = (double)sorted[0] / line,
                        .full_share = (double)full / count};
    free(sorted);
    return ret;
}

static double rss_mb(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : 0;
}

static struct bandwidth bandwidth_of(const struct sim_job *job)
{
    double seconds = (double)job->end / (double)MYR_PS_PER_S;
    double algorithm = seconds > 0 ? (double)job->load.bytes / 1e9 / seconds : 0;
    return (struct bandwidth){
        algorithm, algorithm * myr_collective_bus_factor(job->load.kind, job->load.ranks)};
}

static double slowdown(const struct sim_job *job)
{
    return job->alone > 0 ? (double)job->end / (double)job->alone : 1;
}

static void json_bandwidth(struct myr_json *json, const struct sim_job *job)
{
    if (job->load.collective) {
        struct bandwidth bandwidth = bandwidth_of(job);
        myr_json_object(json, "collective");
        myr_json_double(json, "algbw_gbytes_per_s", bandwidth.algorithm, 6);
        myr_json_double(json, "busbw_gbytes_per_s", bandwidth.bus, 6);
        myr_json_end(json);
    }
}

static void json_jobs(struct myr_json *json, const struct sim_run *run)
{
    if (run->job_count == 1) {
        json_bandwidth(json, &run->jobs[0]);
        return;
    }
    myr_json_list(json, "jobs");
    for (uint32_t i = 0; i < run->job_count; i++) {
        const struct sim_job *job = &run->jobs[i];
        myr_json_object(json, NULL);
        myr_json_text(json, "workload", job->load.text);
        myr_json_double(json, "end_us", us(job->end), 6);
        myr_json_double(json, "alone_us", us(job->alone), 6);
        myr_json_double(json, "slowdown", slowdown(job), 6);
        json_bandwidth(json, job);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void json_rates(struct myr_json *json, const struct sim_run *run)
{
    if (!run->rate_count) {
        return;
    }
    struct rates rates = fair_rates(run);
    myr_json_object(json, "rate");
    myr_json_double(json, "mean", rates.mean, 6);
    myr_json_double(json, "mean_slowdown", rates.slowdown, 6);
    myr_json_double(json, "p1", rates.p1, 6);
    myr_json_double(json, "min", rates.least, 6);
    myr_json_double(json, "full_share", rates.full_share, 6);
    myr_json_end(json);
}

void sim_print_json(const struct sim_run *run, struct myr_buf *buf)
{
    struct summary summary = {0};
    struct myr_json json;
    char hash[20];
    completion(run, &summary);
    link_load(run, &summary);
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)run->result.hash);
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_u64(&json, "flows", run->result.flows);
    myr_json_u64(&json, "transfers", run->result.transfers);
    myr_json_double(&json, "sim_time_us", us(run->result.end), 6);
    myr_json_object(&json, "fct_us");
    myr_json_double(&json, "mean", summary.mean, 6);
    myr_json_double(&json, "p50", summary.p50, 6);
    myr_json_double(&json, "p99", summary.p99, 6);
    myr_json_double(&json, "max", summary.max, 6);
    myr_json_end(&json);
    json_rates(&json, run);
    myr_json_object(&json, "link_load");
    myr_json_double(&json, "mean", summary.load_mean, 6);
    myr_json_double(&json, "max", summary.load_max, 6);
    myr_json_end(&json);
    json_jobs(&json, run);
    myr_json_u64(&json, "events", run->result.events);
    myr_json_u64(&json, "solved", run->result.solved);
    myr_json_double(&json, "wall_s", run->wall_s, 3);
    myr_json_double(&json, "rss_mb", rss_mb(), 1);
    myr_json_text(&json, "hash", hash);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void table_jobs(const struct sim_run *run, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < run->job_count; i++) {
        const struct sim_job *job = &run->jobs[i];
        if (run->job_count > 1) {
            myr_buf_printf(buf, "job %-12u %s: %.3f us, alone %.3f us, slowdown %.3f\n", i,
                           job->load.text, us(job->end), us(job->alone), slowdown(job));
        }
        if (job->load.collective) {
            struct bandwidth bandwidth = bandwidth_of(job);
            myr_buf_printf(buf, "bandwidth GB/s   algorithm %.3f  bus %.3f\n", bandwidth.algorithm,
                           bandwidth.bus);
        }
    }
}

void sim_print_table(const struct sim_run *run, struct myr_buf *buf)
{
    struct summary summary = {0};
    char flows[32];
    completion(run, &summary);
    link_load(run, &summary);
    myr_buf_printf(buf, "flows            %s\n", myr_u64_grouped(run->result.flows, flows));
    myr_buf_printf(buf, "simulated time   %.3f us\n", us(run->result.end));
    myr_buf_printf(buf, "completion us    mean %.3f  p50 %.3f  p99 %.3f  max %.3f\n", summary.mean,
                   summary.p50, summary.p99, summary.max);
    if (run->rate_count) {
        struct rates rates = fair_rates(run);
        myr_buf_printf(buf, "fair rates       mean %.3f  least %.3f  at full rate %.1f %%\n",
                       rates.mean, rates.least, rates.full_share * 100);
    }
    myr_buf_printf(buf, "link load        mean %.3f  max %.3f\n", summary.load_mean,
                   summary.load_max);
    table_jobs(run, buf);
    myr_buf_printf(buf, "took             %.3f s, %.1f MB\n", run->wall_s, rss_mb());
}
