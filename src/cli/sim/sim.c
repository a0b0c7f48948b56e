/*
 * sim: traffic on a fabric in virtual time. Options become a question (myr_sim_ask); files that are
 * asked for are written before the answer is printed.
 */
#include "myriad/sim.h"

#include "cli.h"
#include "sim/sim.h"

static const char *const modes[] = {"fluid", "packet"};

/* Words of workloads, faults and topologies are read by the module: here they are texts. */
struct options {
    uint32_t lb, mode, net, cc;
    uint64_t seed, queue_pairs, efficiency, sharing_loss, pause, mtu, header;
    uint64_t kmin, kmax, pmax, buffer, threads;
    bool polarised;
    const char *design, *topology, *workload, *message_overhead;
    const char *report, *heatmap, *fct, *flows, *paths, *trace, *series, *series_step, *routes;
    const char *save, *at;
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
    CLI_OUTPUT("report", "FILE.html", struct options, report, "also write a page about the run"),
    CLI_OUTPUT("heatmap", "FILE.svg", struct options, heatmap, "also draw the load of the links"),
    CLI_OUTPUT("fct", "FILE.csv", struct options, fct,
               "also write a row for each flow: when it ran, what held it back"),
    CLI_OUTPUT("flows", "FILE.csv", struct options, flows,
               "also write every task and what it waited for; a workload (file:FILE.csv)"),
    CLI_OUTPUT("paths", "FILE.csv", struct options, paths,
               "also write the links of every flow, in their order"),
    CLI_PATH("routes", "FILE.csv", struct options, routes,
             "paths as --paths writes them, in place of the policy's"),
    CLI_OUTPUT("trace", "FILE.json", struct options, trace,
               "also write the run as a timeline for Perfetto"),
    CLI_OUTPUT("series", "FILE.csv", struct options, series,
               "also write what each link carried, by interval"),
    CLI_TEXT("series-step", "TIME", struct options, series_step,
             "length of these intervals, such as 10us"),
    CLI_OUTPUT("save", "FILE", struct options, save,
               "also write the run as it is at a moment; sim resume goes on from there"),
    CLI_TEXT("at", "TIME", struct options, at, "that moment, such as 100us"),
    CLI_CHOICE("mode", "MODE", struct options, mode, modes,
               "rates of flows, or every packet over every link"),
    {CLI_ROW("cc", MYR_OPTION_CHOICE, "CONTROL", struct options, cc, "congestion control"),
     .choices = myr_cc_names, .choice_count = MYR_CC_COUNT, .needs = "mode"},
    {CLI_ROW("mtu", MYR_OPTION_U64, "B", struct options, mtu,
             "payload of a packet; 1000 with --topology, else 4096"),
     .min = 64, .max = 9216, .needs = "mode"},
    {CLI_ROW("header", MYR_OPTION_U64, "B", struct options, header,
             "what goes with it on the wire; 64"),
     .min = 1, .max = 1024, .needs = "mode"},
    {CLI_ROW("kmin", MYR_OPTION_U64, "B", struct options, kmin,
             "queue of a 100 Gb/s port above which packets are marked; 100000"),
     .min = 1, .max = 1000000000, .needs = "mode"},
    {CLI_ROW("kmax", MYR_OPTION_U64, "B", struct options, kmax, "above which all are; 400000"),
     .min = 2, .max = 1000000000, .needs = "mode"},
    {CLI_ROW("pmax", MYR_OPTION_U64, "N", struct options, pmax,
             "permille that are marked just below that; 200"),
     .min = 1, .max = 1000, .needs = "mode"},
    {CLI_ROW("buffer", MYR_OPTION_U64, "B", struct options, buffer,
             "of a switch, shared by its ports; 32000000"),
     .min = 10000, .max = 4000000000, .needs = "mode"},
    {CLI_ROW("threads", MYR_OPTION_U64, "N", struct options, threads, "1: more are not built yet"),
     .min = 1, .max = 256, .needs = "mode"},
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
    &cli_sim_contention_command, &cli_sim_resume_command, &cli_sim_sweep_command,
    &cli_sim_compare_command};

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

/* Lists and words lie in the arena or in the options, and live as long as the verb. */
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
        .packets = options->mode == 1,
        .cc = (enum myr_cc)options->cc,
        .mtu_bytes = (uint32_t)options->mtu,
        .header_bytes = (uint32_t)options->header,
        .kmin_bytes = options->kmin,
        .kmax_bytes = options->kmax,
        .pmax_permille = (uint32_t)options->pmax,
        .buffer_bytes = options->buffer,
        .threads = (uint32_t)options->threads,
        .message_overhead = options->message_overhead,
        .series_step = options->series_step,
        .keep_paths = options->paths != NULL,
        .routes = options->routes,
        .save = options->save,
        .save_at = options->at,
        .progress = cli_sim_progress,
        .progress_context = progress,
    };
}

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    MYR_CLEANUP(myr_sim_answer_done) struct myr_sim_answer sim = {};
    const struct options *options = cli->options;
    struct myr_sim_files files = {options->report, options->heatmap, options->fct,   options->flows,
                                  options->paths,  options->trace,   options->series};
    /* One without the other writes nothing, or would not know how finely. */
    if ((options->series != NULL) != (options->series_step != NULL)) {
        return myr_err_set(err, MYR_EINVAL, "--series and --series-step go together");
    }
    /* How many tasks there are is known only when the workload is built. */
    cli_progress(&progress, "simulating", 0);
    struct myr_sim_question question = question_of(cli, &progress);
    MYR_TRY(myr_sim_ask(&sim, &question, err));
    MYR_TRY(myr_sim_files_write(&sim, &files, err));
    cli_sim_put(cli, &question, &sim);
    if (options->save) {
        myr_answer_fact(&cli->answer, "saved", "%s, as it was at %s", options->save, options->at);
        myr_answer_next(&cli->answer, NULL, "myriad sim resume %s",
                        myr_answer_input(&cli->answer, options->save));
    }
    if (!options->report) {
        myr_answer_next(&cli->answer, "for load and critical path as a page",
                        "%s --report sim.html", cli_again(cli, cli->command, "save at"));
    }
    return MYR_OK;
}

const struct cli_verb cli_sim_verb = {&command, run, .group = CLI_PROVE_GROUP};
