#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "sim_contention.h"
#include "sim_faults.h"
#include "sim_report.h"
#include "sim_topology.h"

static const char *const lb_names[] = {"ecmp",    "ecmp-xor", "port",     "static",
                                       "flowlet", "spray",    "adaptive", "planned"};
static const char *const modes[] = {"fluid"};

static struct {
    uint32_t format, lb, mode, net;
    uint64_t seed, queue_pairs, efficiency, sharing_loss, pause;
    bool polarised;
    const char *design, *topology, *workload, *out, *overhead;
    const char *report, *heatmap, *fct;
    struct myr_option_list jobs, faults, slow;
} options = {.queue_pairs = 1, .efficiency = 1000};

static const struct myr_option rows[] = {
    CLI_OUTPUT_OPTION(options.format),
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
    {.name = "job",
     .type = MYR_OPTION_LIST,
     .value = "WORDS",
     .help = "one more workload at the same time; may be given several times",
     .target = &options.jobs},
    {.name = "fault",
     .type = MYR_OPTION_LIST,
     .value = "WORDS",
     .help = "what breaks, and when (below); may be given several times",
     .target = &options.faults},
    {.name = "slow",
     .type = MYR_OPTION_LIST,
     .value = "NODE:PART",
     .help = "a node whose NICs and GPUs run at a part of their speed",
     .target = &options.slow},
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
    {.name = "polarised",
     .type = MYR_OPTION_FLAG,
     .help = "every switch hashes with the same seed",
     .target = &options.polarised},
    {.name = "queue-pairs",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "each message goes as so many equal parts, hashed apart",
     .target = &options.queue_pairs,
     .min = 1,
     .max = 256},
    {.name = "efficiency",
     .type = MYR_OPTION_U64,
     .value = "PERMILLE",
     .help = "of line rate that headers and congestion control leave",
     .target = &options.efficiency,
     .min = 1,
     .max = 1000},
    {.name = "sharing-loss",
     .type = MYR_OPTION_U64,
     .value = "PERMILLE",
     .help = "most that a shared link loses to congestion control; drawn for each link",
     .target = &options.sharing_loss,
     .min = 0,
     .max = 999},
    {.name = "pause",
     .type = MYR_OPTION_U64,
     .value = "PERMILLE",
     .help = "what victims of pause frames lose of their lead over the one that is held up",
     .target = &options.pause,
     .min = 0,
     .max = 1000},
    {.name = "message-overhead",
     .type = MYR_OPTION_TEXT,
     .value = "TIME",
     .help = "software time of each message of a collective, such as 2us",
     .target = &options.overhead},
    {.name = "net",
     .type = MYR_OPTION_CHOICE,
     .value = "NETWORK",
     .help = "which network",
     .target = &options.net,
     .choices = myr_net_names,
     .choice_count = MYR_NET_COUNT},
    {.name = "out",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "contention: where the table goes; beside the design when absent",
     .target = &options.out},
    {.name = "report",
     .type = MYR_OPTION_PATH,
     .value = "FILE.html",
     .help = "also write a page about the run",
     .target = &options.report},
    {.name = "heatmap",
     .type = MYR_OPTION_PATH,
     .value = "FILE.svg",
     .help = "also draw the load of the links",
     .target = &options.heatmap},
    {.name = "fct",
     .type = MYR_OPTION_PATH,
     .value = "FILE.csv",
     .help = "also write a row for each flow: when it ran, what held it back",
     .target = &options.fct},
    {.name = "mode",
     .type = MYR_OPTION_CHOICE,
     .value = "MODE",
     .help = "engine",
     .target = &options.mode,
     .choices = modes,
     .choice_count = 1},
};

const struct myr_command *cli_sim_command(void)
{
    static const struct myr_command command = {
        .name = "sim",
        .operands = "[contention]",
        .summary = "run traffic on a fabric in virtual time",
        .details =
            "Workloads: permutation:SIZE; incast:K:1,SIZE; alltoall:SIZE; "
            "allreduce|reducescatter|allgather|broadcast:[ring|tree|halving|hier|in-network|auto,]"
            "SIZE; step:MODEL,tflops=400,tp=8,pp=8,global_batch=B,... for a training step; "
            "checkpoint:SIZE and read:SIZE[,stripes=N] between all nodes and the storage servers. "
            "file:PATH[,format=goal|hpcc|htsim|simai][,endless=SIZE] for other simulators' files. "
            "Sizes are bytes or 1KB, 1MB, 1GB. Each takes ranks=N, first=GPU, "
            "place=block|random|sorted, disorder=PERCENT (of a sorted list out of place) and "
            "seed=N. "
            "With several jobs each is compared with running "
            "alone.\n\n"
            "Faults: link/ID or a device, then :down@TIME, :up@TIME, :degrade=0.5@TIME or "
            ":flap@TIME,down=TIME,period=TIME,count=N; with reroute=local|remote|convergence|TIME, "
            "how long until paths avoid it (50us, 1ms, 1s).\n\n"
            "With the word 'contention': the slowdown of rings, all-to-alls and permutations by "
            "level of the fabric and by load, as contention.json.",
        .example = "myriad sim --design out/h100-10k/design.myr --workload allreduce:auto,1GB "
                   "--lb planned",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 0,
        .operand_max = 1,
    };
    return &command;
}

/* The fabric, from a file or from words. */
struct source {
    struct sim_topology topology;
    struct myr_design opened;
    struct myr_arena arena;
    bool planned;
};

static int open_fabric(struct source *source, struct sim_run *run, struct myr_err *err)
{
    if (!options.design == !options.topology) {
        int r = myr_err_set(err, MYR_EINVAL, "give --design FILE or --topology WORDS");
        myr_err_hint(err, "myriad sim --help");
        return r;
    }
    if (options.topology) {
        source->planned = true;
        run->design = &source->topology.design;
        return sim_topology_make(&source->topology, options.topology, err);
    }
    run->design = &source->opened;
    return myr_design_open(&source->opened, options.design, err);
}

static struct myr_sim_options engine_options(const struct source *source)
{
    struct myr_sim_options ret = myr_sim_default();
    ret.balance =
        (struct myr_balance_options){(enum myr_policy)options.lb, options.seed, options.polarised};
    ret.queue_pairs = (uint32_t)options.queue_pairs;
    ret.pause_permille = (uint32_t)options.pause;
    ret.sharing_loss_permille = (uint32_t)options.sharing_loss;
    ret.efficiency_permille = (uint32_t)options.efficiency;
    if (source->planned) {
        ret.link_ps = source->topology.delay_ps;
        ret.switch_ps = source->topology.switch_ps;
    }
    return ret;
}

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    struct myr_progress *progress = context;
    progress->total = total;
    myr_progress_update(progress, done, myr_clock_ns());
}

/* Job 'only' alone, or all of them (MYR_NONE), in a fresh engine with the same faults. */
static int prepare(struct source *source, struct sim_run *run, const char *const *texts,
                   uint32_t only, struct myr_err *err)
{
    struct myr_sim_options engine = engine_options(source);
    if (options.overhead && !sim_parse_time(myr_str_from(options.overhead), &engine.message_ps)) {
        return myr_err_set(err, MYR_EINVAL,
                           "--message-overhead is '%.40s', a time such as 2us is expected",
                           options.overhead);
    }
    int r =
        myr_graph_init(&run->graph, &source->arena, run->design, (enum myr_net_id)options.net, err);
    if (r < 0) {
        return r;
    }
    run->sim = myr_sim_create(&run->graph, &engine);
    for (uint32_t i = 0; r == MYR_OK && i < options.slow.count; i++) {
        r = sim_slow_add(run->sim, &run->graph, options.slow.items[i], err);
    }
    for (uint32_t i = 0; r == MYR_OK && i < options.faults.count; i++) {
        r = sim_fault_add(run->sim, &run->graph, options.faults.items[i], err);
    }
    if (run->job_count > 1 && only == MYR_NONE) {
        myr_sim_defer_routing(run->sim); /* so that the jobs know of each other */
    }
    for (uint32_t i = 0; r == MYR_OK && i < run->job_count; i++) {
        if (only == MYR_NONE || only == i) {
            r = sim_load_parse(run->sim, &run->graph, &source->topology.hosts, texts[i],
                               options.seed, &run->jobs[i].load, err);
        }
    }
    return r;
}

/* What single flows would get if all moved at once. */
static int initial_rates(struct sim_run *run, struct myr_err *err)
{
    const struct sim_load *load = &run->jobs[0].load;
    if (run->job_count > 1 || load->flow_count == 0) {
        return MYR_OK;
    }
    int r = myr_sim_route(run->sim, err);
    if (r == MYR_OK) {
        run->rate_count = load->flow_count;
        run->rates = myr_xcalloc(load->flow_count, sizeof(*run->rates));
        myr_sim_fair_rates(run->sim, load->first_flow, load->flow_count, run->rates);
    }
    return r;
}

static int run_alone(struct source *source, struct sim_run *run, const char *const *texts,
                     struct myr_err *err)
{
    int r = MYR_OK;
    for (uint32_t i = 0; r == MYR_OK && run->job_count > 1 && i < run->job_count; i++) {
        struct myr_sim_result result;
        r = prepare(source, run, texts, i, err);
        r = r < 0 ? r : myr_sim_run(run->sim, show_progress, &run->progress, &result, err);
        if (r == MYR_OK) {
            run->jobs[i].alone = sim_load_end(run->sim, &run->jobs[i].load);
        }
        myr_sim_free(run->sim);
        run->sim = NULL;
    }
    return r;
}

static int simulate(struct source *source, struct sim_run *run, struct myr_err *err)
{
    const char *texts[MYR_OPTION_LIST_MAX + 1] = {0};
    int64_t start = myr_clock_ns();
    if (options.workload) {
        texts[run->job_count++] = options.workload;
    }
    for (uint32_t i = 0; i < options.jobs.count; i++) {
        texts[run->job_count++] = options.jobs.items[i];
    }
    if (run->job_count == 0) {
        int r = myr_err_set(err, MYR_EINVAL, "give --workload WORDS");
        myr_err_hint(err, "myriad sim --help lists them");
        return r;
    }
    int r = open_fabric(source, run, err);
    myr_progress_init(&run->progress, "simulating", 0, isatty(STDERR_FILENO) != 0, start);
    r = r < 0 ? r : run_alone(source, run, texts, err);
    r = r < 0 ? r : prepare(source, run, texts, MYR_NONE, err);
    r = r < 0 ? r : initial_rates(run, err);
    r = r < 0 ? r : myr_sim_run(run->sim, show_progress, &run->progress, &run->result, err);
    myr_progress_done(&run->progress);
    for (uint32_t i = 0; r == MYR_OK && i < run->job_count; i++) {
        run->jobs[i].end = sim_load_end(run->sim, &run->jobs[i].load);
    }
    run->wall_s = (double)(myr_clock_ns() - start) / 1e9;
    return r;
}

/* `myriad sim contention`: the table, into a file and to the user. */
static int contention(struct source *source, struct sim_run *run, struct myr_buf *buf,
                      struct myr_err *err)
{
    struct myr_balance_options balance = engine_options(source).balance;
    char beside[4096];
    if (!options.out && !options.design) {
        return myr_err_set(err, MYR_EINVAL, "give --out FILE: a --topology has no folder");
    }
    int r = open_fabric(source, run, err);
    r = r < 0 ? r : sim_contention_path(options.design, beside, sizeof(beside), err);
    r = r < 0 ? r
              : myr_graph_init(&run->graph, &source->arena, run->design,
                               (enum myr_net_id)options.net, err);
    return r < 0 ? r
                 : sim_contention_make(&run->graph, &balance, options.out ? options.out : beside,
                                       options.format, buf, err);
}

static int write_files(const struct sim_run *run, struct myr_err *err)
{
    struct sim_report_paths paths = {options.report, options.heatmap, options.fct,
                                     lb_names[options.lb]};
    return sim_report_write(run, &paths, err);
}

int cli_sim(const struct myr_operands *operands)
{
    struct source source = {0};
    struct sim_run run = {0};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    int code;
    myr_arena_init(&source.arena);
    bool table = operands->count > 0;
    int r;
    if (table && strcmp(operands->items[0], "contention") != 0) {
        r = myr_err_set(&err, MYR_EINVAL, "'%.40s' is not understood; 'contention' is",
                        operands->items[0]);
    } else {
        r = table ? contention(&source, &run, &buf, &err) : simulate(&source, &run, &err);
        r = r < 0 || table ? r : write_files(&run, &err);
    }
    if (r < 0) {
        code = cli_error(&err);
    } else {
        if (table) {
            /* printed already */
        } else if (options.format == MYR_FORMAT_JSON || options.format == MYR_FORMAT_YAML) {
            sim_print_json(&run, &buf);
        } else {
            sim_print_table(&run, &buf);
        }
        code = cli_print(&buf);
    }
    myr_buf_done(&buf);
    free(run.rates);
    myr_sim_free(run.sim);
    myr_design_close(&source.opened);
    sim_topology_done(&source.topology);
    myr_arena_done(&source.arena);
    return code;
}
