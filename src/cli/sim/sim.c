/* sim: traffic on a fabric in virtual time. */
#include "myriad/sim.h"

#include "cli.h"
#include "sim/sim.h"

static const char *const modes[] = {"fluid"};

struct options {
    uint32_t lb, mode, net;
    uint64_t seed, queue_pairs, efficiency, sharing_loss, pause;
    bool polarised;
    const char *design, *topology, *workload, *message_overhead;
    const char *report, *heatmap, *fct, *flows, *paths, *trace, *series, *series_step, *routes;
    struct myr_option_list jobs, faults, slow;
};

static const struct options defaults = {.queue_pairs = 1, .efficiency = 1000};

static const struct myr_option rows[] = {
    CLI_PATH("design", "FILE", struct options, design, "a planned fabric"),
    CLI_TEXT("topology", "WORDS", struct options, topology,
             "a fabric in words: fat-tree:k=8,gbps=100,delay=1us"),
    CLI_TEXT("workload", "WORDS", struct options, workload, "what runs on it (below)"),
    CLI_LIST("job", "WORDS", struct options, jobs, "one more workload at the same time"),
    CLI_LIST("fault", "WORDS", struct options, faults, "what breaks, and when (below)"),
    CLI_LIST("slow", "NODE:PART", struct options, slow,
             "a node whose NICs and GPUs run at a part of their speed"),
    CLI_CHOICE("lb", "POLICY", struct options, lb, myr_policy_names, "load-balance policy"),
    CLI_COUNT("seed", struct options, seed, 0, 0, "of hashes and random workloads"),
    CLI_FLAG("polarised", struct options, polarised, "every switch hashes with the same seed"),
    CLI_COUNT("queue-pairs", struct options, queue_pairs, 1, 256,
              "each message goes as so many parts, hashed apart"),
    CLI_COUNT("efficiency", struct options, efficiency, 1, 1000,
              "permille of line rate that headers and congestion control leave"),
    CLI_COUNT("sharing-loss", struct options, sharing_loss, 0, 999,
              "most permille that a shared link loses to congestion control; drawn for each link"),
    CLI_COUNT("pause", struct options, pause, 0, 1000,
              "permille that victims of pause frames lose of their lead over the one held up"),
    CLI_TEXT("message-overhead", "TIME", struct options, message_overhead,
             "software time of each message of a collective, such as 2us"),
    CLI_CHOICE("net", "NETWORK", struct options, net, myr_net_names, "which network"),
    CLI_PATH("report", "FILE.html", struct options, report, "also write a page about the run"),
    CLI_PATH("heatmap", "FILE.svg", struct options, heatmap, "also draw the load of the links"),
    CLI_PATH("fct", "FILE.csv", struct options, fct,
             "also write a row for each flow: when it ran, what held it back"),
    CLI_PATH("flows", "FILE.csv", struct options, flows,
             "also write every task and what it waited for; a workload (file:FILE.csv)"),
    CLI_PATH("paths", "FILE.csv", struct options, paths,
             "also write the links of every flow, in their order"),
    CLI_PATH("routes", "FILE.csv", struct options, routes,
             "paths as --paths writes them, in place of the policy's"),
    CLI_PATH("trace", "FILE.json", struct options, trace,
             "also write the run as a timeline for Perfetto"),
    CLI_PATH("series", "FILE.csv", struct options, series,
             "also write what each link carried, by interval"),
    CLI_TEXT("series-step", "TIME", struct options, series_step,
             "length of these intervals, such as 10us"),
    CLI_CHOICE("mode", "MODE", struct options, mode, modes, "engine"),
};

static const char details[] =
    "Workloads: permutation:SIZE; incast:K:1,SIZE; alltoall:SIZE; allreduce, reducescatter, "
    "allgather or broadcast, then :[ALGORITHM,]SIZE, with ring, tree, halving, hier, in-network "
    "or auto; step:MODEL,tflops=400,tp=8,pp=8,global_batch=B,... for a training step; "
    "checkpoint:SIZE and read:SIZE[,stripes=N] between all nodes and the storage servers. "
    "file:PATH[,format=goal|hpcc|htsim|simai][,endless=SIZE] for other simulators' files. "
    "Sizes are bytes or 1KB, 1MB, 1GB. Collectives take schedule=full|collapsed and chunks=N, an "
    "all-to-all window=N. Each takes ranks=N, first=GPU, "
    "place=block|random|sorted, disorder=PERCENT (of a sorted list out of place) and "
    "seed=N. With several jobs each is compared with running alone.\n\n"
    "Faults: link/ID or a device, then :down@TIME, :up@TIME, :degrade=0.5@TIME or "
    ":flap@TIME,down=TIME,period=TIME,count=N; with reroute=local|remote|convergence|TIME, "
    "how long until paths avoid it (50us, 1ms, 1s).\n\n"
    "Completion times are those of flows: a transfer of a collective counts as often as it has "
    "flows, and within the 99th percentile at least 99 % of them have ended. -o csv lists the "
    "jobs.";

static const struct myr_command *const subcommands[] = {
    &cli_sim_contention_command, &cli_sim_sweep_command, &cli_sim_compare_command};

static const struct myr_command command = {
    .name = "sim",
    .operands = "",
    .summary = "run traffic on a fabric in virtual time",
    .details = details,
    .example = "myriad sim --design out/h100-10k/design.myr --workload allreduce:auto,1GB "
               "--lb planned",
    CLI_OPTIONS(rows, defaults),
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

/* Simulated time is whole picoseconds inside; people and programs read microseconds. */
static double us(myr_ps time)
{
    return (double)time / (double)MYR_PS_PER_US;
}

static struct myr_sim_question question_of(struct cli *cli, struct myr_progress *progress)
{
    const struct options *options = cli->options;
    /* --workload is the first job, so that one job and several are asked for in the same way. */
    const char **workloads = MYR_ARENA_NEW(&cli->arena, const char *, MYR_OPTION_LIST_MAX + 1);
    uint32_t count = 0;
    if (options->workload) {
        workloads[count++] = options->workload;
    }
    for (uint32_t i = 0; i < options->jobs.count; i++) {
        workloads[count++] = options->jobs.items[i];
    }
    return (struct myr_sim_question){
        .design = options->design,
        .topology = options->topology,
        .net = (enum myr_net_id)options->net,
        .workloads = {workloads, count},
        .faults = {options->faults.items, options->faults.count},
        .slow = {options->slow.items, options->slow.count},
        .balance = {(enum myr_policy)options->lb, options->seed, options->polarised},
        .queue_pairs = (uint32_t)options->queue_pairs,
        .efficiency_permille = (uint32_t)options->efficiency,
        .sharing_loss_permille = (uint32_t)options->sharing_loss,
        .pause_permille = (uint32_t)options->pause,
        .message_overhead = options->message_overhead,
        .series_step = options->series_step,
        .keep_paths = options->paths != NULL,
        .routes = options->routes,
        .progress = cli_sim_progress,
        .progress_context = progress,
    };
}

static void put_fabric(struct myr_answer *answer, const struct myr_sim_answer *sim)
{
    const struct myr_design *design = sim->fabric.design;
    const struct myr_network *net = sim->graph.net;
    const struct myr_sim_options *engine = &sim->engine;
    char gpus[32];
    myr_answer_object(answer, "fabric");
    myr_answer_text(answer, "name", myr_design_str(design, design->head->name));
    myr_answer_text(answer, "network", myr_net_names[sim->graph.net_id]);
    myr_answer_u64(answer, "gpus", design->head->gpus);
    myr_answer_u64(answer, "leaf", net->leaf);
    myr_answer_u64(answer, "spine", net->spine);
    myr_answer_u64(answer, "core", net->core);
    myr_answer_end(answer);
    myr_answer_object(answer, "latency_us");
    if (engine->link_ps < 0) {
        myr_answer_null(answer, "link"); /* by the length of each cable */
    } else {
        myr_answer_double(answer, "link", us(engine->link_ps), 6);
    }
    myr_answer_double(answer, "switch", us(engine->switch_ps), 6);
    myr_answer_double(answer, "scale_up", us(engine->scale_up_ps), 6);
    myr_answer_double(answer, "message", us(engine->message_ps), 6);
    myr_answer_end(answer);
    myr_answer_fact(answer, "fabric", "%s, %s GPUs; %s network of %u leaf, %u spine, %u core",
                    myr_design_str(design, design->head->name),
                    myr_u64_grouped(design->head->gpus, gpus), myr_net_names[sim->graph.net_id],
                    net->leaf, net->spine, net->core);
}

/* For people; programs have every setting in the question. */
static void show_settings(struct cli *cli, const struct myr_sim_answer *sim)
{
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    myr_answer_fact(answer, "load balance", "%s, seed %llu%s", myr_policy_names[options->lb],
                    (unsigned long long)options->seed,
                    options->polarised ? ", one seed for all switches" : "");
    myr_answer_fact(answer, "settings",
                    "efficiency %.1f %%, sharing loss %.1f %%, pause %.1f %%, %llu queue pair%s, "
                    "message overhead %s",
                    (double)options->efficiency / 10, (double)options->sharing_loss / 10,
                    (double)options->pause / 10, (unsigned long long)options->queue_pairs,
                    options->queue_pairs == 1 ? "" : "s",
                    sim->engine.message_ps ? myr_times_text(&cli->arena, sim->engine.message_ps)
                                           : "none");
    for (uint32_t i = 0; i < options->slow.count; i++) {
        myr_answer_fact(answer, "slow", "%s", options->slow.items[i]);
    }
    for (uint32_t i = 0; i < options->faults.count; i++) {
        myr_answer_fact(answer, "fault", "%s", options->faults.items[i]);
    }
}

static void put_times(struct cli *cli, const struct myr_sim_answer *sim)
{
    static const struct {
        const char *name;
        uint32_t percent;
    } parts[] = {{"p50", 50}, {"p99", 99}, {"max", 100}};
    struct myr_answer *answer = &cli->answer;
    const struct myr_times *times = &sim->times;
    double mean = myr_times_mean_us(times);
    myr_answer_object(answer, "fct_us");
    myr_answer_u64(answer, "flows", times->flows);
    myr_answer_double(answer, "mean", mean, 6);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        myr_ps time = myr_times_percentile(times, parts[i].percent);
        myr_answer_double(answer, parts[i].name, us(time), 6);
    }
    myr_answer_end(answer);
    myr_answer_fact(answer, "completion", "mean %s, p50 %s, p99 %s, max %s",
                    myr_times_text(&cli->arena, (myr_ps)(mean * (double)MYR_PS_PER_US)),
                    myr_times_text(&cli->arena, myr_times_percentile(times, 50)),
                    myr_times_text(&cli->arena, myr_times_percentile(times, 99)),
                    myr_times_text(&cli->arena, myr_times_percentile(times, 100)));
}

static void put_rates(struct myr_answer *answer, const struct myr_sim_answer *sim)
{
    const struct myr_sim_rates *rates = &sim->rates;
    if (rates->count == 0) {
        myr_answer_null(answer, "rate");
    } else {
        myr_answer_object(answer, "rate");
        myr_answer_double(answer, "mean", rates->mean, 6);
        myr_answer_double(answer, "mean_slowdown", rates->mean_slowdown, 6);
        myr_answer_double(answer, "p1", rates->p1, 6);
        myr_answer_double(answer, "min", rates->least, 6);
        myr_answer_double(answer, "full_share", rates->full_share, 6);
        myr_answer_end(answer);
        myr_answer_fact(answer, "fair rates",
                        "mean %.1f %% of line rate, least %.1f %%; %.1f %% of the flows at full "
                        "rate",
                        rates->mean * 100, rates->least * 100, rates->full_share * 100);
    }
    myr_answer_object(answer, "link_load");
    myr_answer_double(answer, "mean", sim->load_mean, 6);
    myr_answer_double(answer, "max", sim->load_max, 6);
    myr_answer_end(answer);
    myr_answer_fact(answer, "link load", "mean %.1f %%, max %.1f %%", sim->load_mean * 100,
                    sim->load_max * 100);
}

/* As nccl-tests count: algorithm is bytes by time, bus what links would show. */
static void put_bandwidth(struct myr_answer *answer, const struct myr_sim_job *job)
{
    if (!job || !job->load.collective) {
        myr_answer_null(answer, "collective");
        return;
    }
    myr_answer_object(answer, "collective");
    myr_answer_double(answer, "algbw_gbytes_per_s", job->algorithm_gbytes_per_s, 6);
    myr_answer_double(answer, "busbw_gbytes_per_s", job->bus_gbytes_per_s, 6);
    myr_answer_end(answer);
}

/* What was chosen, and what it could not have been quicker than. */
static void put_schedule(struct myr_answer *answer, const struct myr_sim_job *job)
{
    bool collective = job->load.collective;
    if (collective) {
        myr_answer_text(answer, "algorithm", myr_algorithm_names[job->load.algorithm]);
        myr_answer_text(answer, "schedule", job->load.full ? "full" : "collapsed");
    } else {
        myr_answer_null(answer, "algorithm");
        myr_answer_null(answer, "schedule");
    }
    myr_answer_double(answer, "end_us", us(job->end), 6);
    if (collective) {
        myr_answer_double(answer, "bound_us", us(job->bound), 6);
    } else {
        myr_answer_null(answer, "bound_us");
    }
}

static void put_bounds(struct cli *cli, const struct myr_sim_answer *sim)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_sim_bounds *bounds = &sim->result.bounds;
    if (!bounds->known) {
        myr_answer_null(answer, "bounds_us"); /* paths change on the way */
        return;
    }
    double part = bounds->best > 0 ? (double)sim->result.end / (double)bounds->best : 1;
    myr_answer_object(answer, "bounds_us");
    myr_answer_double(answer, "alpha", us(bounds->alpha), 6);
    myr_answer_double(answer, "chain", us(bounds->chain), 6);
    myr_answer_double(answer, "beta", us(bounds->beta), 6);
    myr_answer_double(answer, "incast", us(bounds->incast), 6);
    myr_answer_double(answer, "bisection", us(bounds->bisection), 6);
    myr_answer_double(answer, "best", us(bounds->best), 6);
    myr_answer_double(answer, "of_best", part, 6);
    myr_answer_end(answer);
    myr_answer_fact(
        answer, "lower bound", "%s (latency %s, senders %s, receivers %s, links %s)",
        myr_times_text(&cli->arena, bounds->best), myr_times_text(&cli->arena, bounds->alpha),
        myr_times_text(&cli->arena, bounds->beta), myr_times_text(&cli->arena, bounds->incast),
        myr_times_text(&cli->arena, bounds->bisection));
}

static void put_job(struct cli *cli, const struct myr_sim_answer *sim, uint32_t i)
{
    const struct myr_sim_job *job = &sim->jobs[i];
    struct myr_answer *answer = &cli->answer;
    bool several = sim->job_count > 1;
    const char *label = myr_arena_printf(&cli->arena, several ? "job %u" : "workload", i + 1);
    const char *end = myr_times_text(&cli->arena, job->end);
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "workload", job->load.words);
    put_schedule(answer, job);
    if (several) {
        myr_answer_double(answer, "alone_us", us(job->alone), 6);
        myr_answer_double(answer, "slowdown", job->slowdown, 6);
        myr_answer_fact(answer, label, "%s: %s, alone %s, slowdown %.3f", job->load.words, end,
                        myr_times_text(&cli->arena, job->alone), job->slowdown);
    } else {
        myr_answer_null(answer, "alone_us");
        myr_answer_null(answer, "slowdown");
        myr_answer_fact(answer, label, "%s: %s", job->load.words, end);
    }
    put_bandwidth(answer, job);
    myr_answer_end(answer);
    if (job->load.collective) {
        myr_answer_fact(answer, "schedule", "%s, %s; no algorithm of its kind ends before %s",
                        myr_algorithm_names[job->load.algorithm],
                        job->load.full ? "every send played" : "collapsed to rounds in lockstep",
                        myr_times_text(&cli->arena, job->bound));
        myr_answer_fact(answer, "bandwidth", "algorithm %.3f GB/s, bus %.3f GB/s",
                        job->algorithm_gbytes_per_s, job->bus_gbytes_per_s);
    }
}

static void put_answer(struct cli *cli, const struct myr_sim_answer *sim)
{
    struct myr_answer *answer = &cli->answer;
    char flows[32];
    put_fabric(answer, sim);
    show_settings(cli, sim);
    struct myr_value *jobs = myr_answer_list(answer, "jobs");
    for (uint32_t i = 0; i < sim->job_count; i++) {
        put_job(cli, sim, i);
    }
    myr_answer_end(answer);
    put_bandwidth(answer, sim->job_count == 1 ? &sim->jobs[0] : NULL);
    myr_answer_u64(answer, "flows", sim->result.flows);
    myr_answer_u64(answer, "transfers", sim->result.transfers);
    myr_answer_double(answer, "sim_time_us", us(sim->result.end), 6);
    myr_answer_fact(answer, "flows", "%s", myr_u64_grouped(sim->result.flows, flows));
    myr_answer_fact(answer, "simulated time", "%s", myr_times_text(&cli->arena, sim->result.end));
    put_bounds(cli, sim);
    put_times(cli, sim);
    put_rates(answer, sim);
    myr_answer_u64(answer, "events", sim->result.events);
    myr_answer_u64(answer, "solved", sim->result.solved);
    myr_answer_text(answer, "hash",
                    myr_arena_printf(&cli->arena, "%016llx", (unsigned long long)sim->result.hash));
    myr_answer_rows(answer, jobs);
}

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    MYR_CLEANUP(myr_sim_answer_done) struct myr_sim_answer sim = {0};
    const struct options *options = cli->options;
    struct myr_sim_files files = {options->report, options->heatmap, options->fct,   options->flows,
                                  options->paths,  options->trace,   options->series};
    if ((options->series != NULL) != (options->series_step != NULL)) {
        return myr_err_set(err, MYR_EINVAL, "--series and --series-step go together");
    }
    cli_progress(&progress, "simulating", 0);
    struct myr_sim_question question = question_of(cli, &progress);
    MYR_TRY(myr_sim_files_check(&files, err)); /* not after minutes of simulation */
    MYR_TRY(myr_sim_ask(&sim, &question, err));
    MYR_TRY(myr_sim_files_write(&sim, &files, err));
    put_answer(cli, &sim);
    if (!options->report) {
        myr_answer_next(&cli->answer,
                        "the same with --report sim.html, for load and critical path as a page");
    }
    return MYR_OK;
}

const struct cli_verb cli_sim_verb = {&command, run, .group = CLI_PROVE_GROUP};
