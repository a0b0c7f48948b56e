#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "sim_load.h"
#include "sim_topology.h"

static const char *const lb_names[] = {"ecmp",    "ecmp-xor", "port",     "static",
                                       "flowlet", "spray",    "adaptive", "planned"};
static const char *const modes[] = {"fluid"};

static struct {
    uint32_t format, lb, mode, net;
    uint64_t seed;
    const char *design, *topology, *workload;
} options;

const struct myr_command *cli_sim_command(void)
{
    static const struct myr_option rows[] = {
        {.name = "output",
         .letter = 'o',
         .type = MYR_OPTION_CHOICE,
         .value = "FORMAT",
         .help = "how to print the result",
         .target = &options.format,
         .choices = myr_format_names,
         .choice_count = MYR_FORMAT_COUNT},
        {.name = "design",
         .type = MYR_OPTION_PATH,
         .value = "FILE",
         .help = "a planned fabric",
         .target = &options.design},
        {.name = "topology",
         .type = MYR_OPTION_TEXT,
         .value = "WORDS",
         .help = "a fabric in words: fat-tree:k=8,gbps=100,delay=1us",
         .target = &options.topology},
        {.name = "workload",
         .type = MYR_OPTION_TEXT,
         .value = "WORDS",
         .help = "what runs on it (below)",
         .target = &options.workload},
        {.name = "lb",
         .type = MYR_OPTION_CHOICE,
         .value = "POLICY",
         .help = "load-balance policy",
         .target = &options.lb,
         .choices = lb_names,
         .choice_count = MYR_ARRAY_COUNT(lb_names)},
        {.name = "seed",
         .type = MYR_OPTION_U64,
         .value = "N",
         .help = "of hashes and random workloads",
         .target = &options.seed},
        {.name = "net",
         .type = MYR_OPTION_CHOICE,
         .value = "NETWORK",
         .help = "which network",
         .target = &options.net,
         .choices = myr_net_names,
         .choice_count = MYR_NET_COUNT},
        {.name = "mode",
         .type = MYR_OPTION_CHOICE,
         .value = "MODE",
         .help = "engine",
         .target = &options.mode,
         .choices = modes,
         .choice_count = 1},
    };
    static const struct myr_command command = {
        .name = "sim",
        .operands = "",
        .summary = "run traffic on a fabric in virtual time",
        .details =
            "Workloads: permutation:SIZE[,seed=N]; incast:K:1,SIZE[,seed=N]; alltoall:SIZE; "
            "allreduce|reducescatter|allgather|broadcast:[ring|tree|halving|hier|in-network|auto,]"
            "SIZE[,ranks=N]; step:MODEL,tflops=400,tp=8,pp=8,global_batch=B,... for a training "
            "step. Sizes are bytes or 1KB, 1MB, 1GB.",
        .example = "myriad sim --design out/h100-10k/design.myr --workload allreduce:auto,1GB "
                   "--lb planned",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 0,
        .operand_max = 0,
    };
    return &command;
}

struct run {
    struct sim_topology topology;
    struct myr_design opened;
    const struct myr_design *design;
    struct myr_arena arena;
    struct myr_graph graph;
    struct myr_sim *sim;
    struct sim_load load;
    struct myr_sim_result result;
    struct myr_progress progress;
    double wall_s;
};

static int open_fabric(struct run *run, struct myr_sim_options *sim, struct myr_err *err)
{
    int r;
    if (!options.design == !options.topology) {
        r = myr_err_set(err, MYR_EINVAL, "give --design FILE or --topology WORDS");
        myr_err_hint(err, "myriad sim --help");
        return r;
    }
    if (options.topology) {
        r = sim_topology_make(&run->topology, options.topology, err);
        sim->link_ps = run->topology.delay_ps;
        sim->switch_ps = 0;
        run->design = &run->topology.design;
    } else {
        r = myr_design_open(&run->opened, options.design, err);
        run->design = &run->opened;
    }
    return r < 0 ? r
                 : myr_graph_init(&run->graph, &run->arena, run->design,
                                  (enum myr_net_id)options.net, err);
}

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    struct run *run = context;
    run->progress.total = total;
    myr_progress_update(&run->progress, done, myr_clock_ns());
}

static int simulate(struct run *run, struct myr_err *err)
{
    struct myr_sim_options sim = myr_sim_default();
    int64_t start = myr_clock_ns();
    sim.balance = (struct myr_balance_options){(enum myr_policy)options.lb, options.seed, false};
    if (!options.workload) {
        int r = myr_err_set(err, MYR_EINVAL, "give --workload WORDS");
        myr_err_hint(err, "myriad sim --help lists them");
        return r;
    }
    int r = open_fabric(run, &sim, err);
    if (r < 0) {
        return r;
    }
    run->sim = myr_sim_create(&run->graph, &sim);
    r = sim_load_parse(run->sim, &run->graph, options.workload, options.seed, &run->load, err);
    if (r == MYR_OK) {
        myr_progress_init(&run->progress, "simulating", 0, isatty(STDERR_FILENO) != 0, start);
        r = myr_sim_run(run->sim, show_progress, run, &run->result, err);
        myr_progress_done(&run->progress);
    }
    run->wall_s = (double)(myr_clock_ns() - start) / 1e9;
    return r;
}

static int by_value(const void *a, const void *b)
{
    myr_ps left = *(const myr_ps *)a, right = *(const myr_ps *)b;
    return left < right ? -1 : left > right;
}

struct summary {
    double mean, p50, p99, max; /* us */
    double load_mean, load_max;
    uint64_t flows;
};

/* Completion times: of single flows, or of every transfer when there are none. */
static void completion(const struct run *run, struct summary *ret)
{
    uint32_t count = run->load.flow_count;
    uint32_t first = run->load.first_flow;
    if (count == 0) {
        count = myr_sim_task_count(run->sim);
        first = 0;
    }
    myr_ps *times = myr_xcalloc(count, sizeof(*times));
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        times[i] = myr_sim_task_end(run->sim, first + i) - myr_sim_task_start(run->sim, first + i);
        sum += (double)times[i];
    }
    qsort(times, count, sizeof(*times), by_value);
    double us = (double)MYR_PS_PER_US;
    if (count) {
        ret->mean = sum / count / us;
        ret->p50 = (double)times[(count - 1) / 2] / us;
        ret->p99 = (double)times[(uint32_t)((uint64_t)(count - 1) * 99 / 100)] / us;
        ret->max = (double)times[count - 1] / us;
    }
    free(times);
}

/* Load of a channel: what went over it against what could have, over the whole run. */
static void link_load(const struct run *run, struct summary *ret)
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

static double rss_mb(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : 0;
}

struct bandwidth {
    double algorithm, bus; /* gigabytes per second */
};

static struct bandwidth bandwidth_of(const struct run *run)
{
    double seconds = (double)run->result.end / (double)MYR_PS_PER_S;
    double algorithm = seconds > 0 ? (double)run->load.bytes / 1e9 / seconds : 0;
    return (struct bandwidth){
        algorithm, algorithm * myr_collective_bus_factor(run->load.kind, run->load.ranks)};
}

static void put_json(const struct run *run, const struct summary *summary, struct myr_buf *buf)
{
    struct myr_json json;
    char hash[20];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)run->result.hash);
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_u64(&json, "flows", run->result.flows);
    myr_json_u64(&json, "transfers", run->result.transfers);
    myr_json_double(&json, "sim_time_us", (double)run->result.end / (double)MYR_PS_PER_US, 6);
    myr_json_object(&json, "fct_us");
    myr_json_double(&json, "mean", summary->mean, 6);
    myr_json_double(&json, "p50", summary->p50, 6);
    myr_json_double(&json, "p99", summary->p99, 6);
    myr_json_double(&json, "max", summary->max, 6);
    myr_json_end(&json);
    myr_json_object(&json, "link_load");
    myr_json_double(&json, "mean", summary->load_mean, 6);
    myr_json_double(&json, "max", summary->load_max, 6);
    myr_json_end(&json);
    if (run->load.collective) {
        struct bandwidth bandwidth = bandwidth_of(run);
        myr_json_object(&json, "collective");
        myr_json_double(&json, "algbw_gbytes_per_s", bandwidth.algorithm, 6);
        myr_json_double(&json, "busbw_gbytes_per_s", bandwidth.bus, 6);
        myr_json_end(&json);
    }
    myr_json_u64(&json, "events", run->result.events);
    myr_json_u64(&json, "solved", run->result.solved);
    myr_json_double(&json, "wall_s", run->wall_s, 3);
    myr_json_double(&json, "rss_mb", rss_mb(), 1);
    myr_json_text(&json, "hash", hash);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_table(const struct run *run, const struct summary *summary, struct myr_buf *buf)
{
    char flows[32];
    myr_buf_printf(buf, "flows            %s\n", myr_u64_grouped(run->result.flows, flows));
    myr_buf_printf(buf, "simulated time   %.3f us\n",
                   (double)run->result.end / (double)MYR_PS_PER_US);
    myr_buf_printf(buf, "completion us    mean %.3f  p50 %.3f  p99 %.3f  max %.3f\n", summary->mean,
                   summary->p50, summary->p99, summary->max);
    myr_buf_printf(buf, "link load        mean %.3f  max %.3f\n", summary->load_mean,
                   summary->load_max);
    if (run->load.collective) {
        struct bandwidth bandwidth = bandwidth_of(run);
        myr_buf_printf(buf, "bandwidth GB/s   algorithm %.3f  bus %.3f\n", bandwidth.algorithm,
                       bandwidth.bus);
    }
    myr_buf_printf(buf, "took             %.3f s, %.1f MB\n", run->wall_s, rss_mb());
}

int cli_sim(const struct myr_operands *operands)
{
    (void)operands;
    struct run run = {0};
    struct summary summary = {0};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    myr_arena_init(&run.arena);
    int r = simulate(&run, &err);
    int code;
    if (r < 0) {
        code = cli_error(&err);
    } else {
        completion(&run, &summary);
        link_load(&run, &summary);
        if (options.format == MYR_FORMAT_JSON || options.format == MYR_FORMAT_YAML) {
            put_json(&run, &summary, &buf);
        } else {
            put_table(&run, &summary, &buf);
        }
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    myr_sim_free(run.sim);
    myr_design_close(&run.opened);
    sim_topology_done(&run.topology);
    myr_arena_done(&run.arena);
    return code;
}
