#include "sched.h"

const char *const cli_sched_policies[4] = {"fifo", "skip", "fair", "preempt"};

static struct cli_sched_question options = {.policy = MYR_ORDER_FAIR, .seed = 1};

#define PLACE_COUNT(word, field, most, text)                                        \
    {                                                                               \
        .name = word, .type = MYR_OPTION_U64, .value = "N", .help = "place: " text, \
        .target = &options.field, .min = 1, .max = most                             \
    }
#define PLACE_TEXT(word, field, kind, text)                                           \
    {                                                                                 \
        .name = word, .type = MYR_OPTION_TEXT, .value = kind, .help = "place: " text, \
        .target = &options.field                                                      \
    }

static const struct myr_option option_rows[] = {
    CLI_OUTPUT_OPTION(options.format),
    {.name = "design",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "the cluster; or say it with the next three",
     .target = &options.design},
    {.name = "nodes",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "nodes of the cluster; with place: of the gang",
     .target = &options.nodes,
     .min = 1,
     .max = 1000000},
    {.name = "gpus-per-node",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "GPUs of a node; with place: that the gang takes of each",
     .target = &options.gpus_per_node,
     .min = 1,
     .max = MYR_SCHED_GPUS_MAX},
    {.name = "leaf-nodes",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "nodes under one set of leaves",
     .target = &options.leaf_nodes,
     .min = 1,
     .max = 1000000},
    {.name = "pod-nodes",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "nodes of a pod, a multiple of the leaf's; without it there are no pods",
     .target = &options.pod_nodes,
     .min = 1,
     .max = 1000000},
    {.name = "policy",
     .type = MYR_OPTION_CHOICE,
     .value = "POLICY",
     .help =
         "fifo: first come, blocks; skip: first come that fits; fair: tenants in turn; preempt: "
         "fair, and jobs that have run long make room",
     .target = &options.policy,
     .choices = cli_sched_policies,
     .choice_count = MYR_ARRAY_COUNT(cli_sched_policies)},
    {.name = "seed",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "of the jitter, and of the bench's churn",
     .target = &options.seed},
    {.name = "events",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "bench: lines 'place,JOB,NODES', 'release,JOB', 'measure' instead of its own churn",
     .target = &options.events},
    {.name = "jitter",
     .type = MYR_OPTION_U64,
     .value = "SECONDS",
     .help = "replay: move submit times by up to so much",
     .target = &options.jitter_s,
     .max = 1000000000},
    {.name = "own",
     .type = MYR_OPTION_LIST,
     .value = "TENANT=CELLS",
     .help = "replay: cells that a tenant of the trace owns, such as vc1=4n,2g,1p (nodes, leaf "
             "groups, pods) or org/vc1=4n,3w (below org, weight 3)",
     .target = &options.own},
    {.name = "tenants",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "replay: YAML with the tree of tenants, their weights and cells",
     .target = &options.tenants},
    {.name = "explain",
     .type = MYR_OPTION_TEXT,
     .value = "LINE",
     .help = "replay: why the job on this line of the trace waited, or 'longest'",
     .target = &options.explain},
    {.name = "plots",
     .type = MYR_OPTION_PATH,
     .value = "DIR",
     .help = "replay: draw wait by size, utilisation, span and fragmentation there, as SVG",
     .target = &options.plots},
    {.name = "report",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "replay: figures, drawings and the longest waits on one HTML page",
     .target = &options.report},
    {.name = "state",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "place: what runs where (CSV: node, job, gpus, state, penalty)",
     .target = &options.state},
    {.name = "within",
     .type = MYR_OPTION_CHOICE,
     .value = "LEVEL",
     .help = "place: no farther apart than this",
     .target = &options.within,
     .choices = cli_sched_levels,
     .choice_count = MYR_ARRAY_COUNT(cli_sched_levels)},
    PLACE_COUNT("hops", hops, 64, "at most so many switches between two nodes"),
    PLACE_COUNT("leaf-max", leaf_max, 1000000, "spread: at most so many nodes under one leaf"),
    PLACE_COUNT("rack-max", rack_max, 1000000, "spread: at most so many nodes in one rack"),
    PLACE_COUNT("row-max", row_max, 1000000, "spread: at most so many nodes in one power row"),
    PLACE_TEXT("gpu-kind", gpu_kind, "NAME", "only nodes of this kind in --state"),
    PLACE_TEXT("exclude", exclude, "LIST", "nodes not to use, such as 3,7-9"),
    PLACE_COUNT("min-nodes", min_nodes, 1000000, "an elastic gang starts with fewer"),
    PLACE_COUNT("tp", tp, 4096, "tensor parallelism"),
    PLACE_COUNT("pp", pp, 4096, "pipeline stages"),
    PLACE_COUNT("dp", dp, 1 << 24, "data parallelism; else what the nodes leave"),
    PLACE_COUNT("cp", cp, 4096, "context parallelism"),
    PLACE_COUNT("ep", ep, 4096, "expert parallelism"),
    PLACE_TEXT("model", model, "NAME", "whose bytes the groups send"),
    PLACE_TEXT("device", device, "NAME", "with --model: predict the step time"),
    PLACE_COUNT("batch", batch, 1 << 24, "sequences in one step"),
    {.name = "plot",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "place: draw the gang on its leaves, coloured by stage, as SVG",
     .target = &options.plot},
};

const struct myr_command *cli_sched_command(void)
{
    static const struct myr_command command = {
        .name = "sched",
        .operands = "replay TRACE | place | bench",
        .summary = "place a gang, replay a trace of jobs, or measure placement",
        .details =
            "replay runs a trace of jobs through the queue in virtual time: CSV with columns "
            "such as submit_s, duration_s, num_gpus and vc in any order, or what `sacct -P` "
            "prints. place puts one gang on a design and says why there, or what would let it "
            "start. bench fills the cluster to 95 % with churn and times gangs of several "
            "sizes. The policy never knows durations.",
        .example = "myriad sched replay jobs.csv --nodes 96 --leaf-nodes 8",
        .options = option_rows,
        .option_count = MYR_ARRAY_COUNT(option_rows),
        .operand_min = 1,
        .operand_max = 2,
    };
    return &command;
}

int cli_sched_shape(const struct cli_sched_question *question, struct myr_place_shape *ret,
                    struct myr_err *err)
{
    if (!question->design) {
        *ret = (struct myr_place_shape){
            .nodes = (uint32_t)(question->nodes ? question->nodes : 96),
            .gpus_per_node = (uint32_t)(question->gpus_per_node ? question->gpus_per_node : 8),
            .group_nodes = (uint32_t)(question->leaf_nodes ? question->leaf_nodes : 8)};
        /* without pods one that holds all nodes, in whole groups */
        uint32_t groups = (ret->nodes + ret->group_nodes - 1) / ret->group_nodes;
        ret->pod_nodes =
            question->pod_nodes ? (uint32_t)question->pod_nodes : groups * ret->group_nodes;
        if (question->pod_nodes && ret->pod_nodes % ret->group_nodes != 0) {
            return myr_err_set(err, MYR_EINVAL,
                               "--pod-nodes %u is not a multiple of --leaf-nodes %u",
                               ret->pod_nodes, ret->group_nodes);
        }
        return MYR_OK;
    }
    struct myr_design design = {0};
    int r = myr_design_open(&design, question->design, err);
    if (r == MYR_OK) {
        *ret = myr_place_shape_of(&design);
    }
    myr_design_close(&design);
    if (r == MYR_OK && ret->gpus_per_node > MYR_SCHED_GPUS_MAX) {
        r = myr_err_set(err, MYR_ERANGE, "nodes with more than %d GPUs", MYR_SCHED_GPUS_MAX);
    }
    return r;
}

int cli_sched(const struct myr_operands *operands)
{
    struct myr_buf buf = {0};
    struct myr_err err = {0};
    const char *word = operands->items[0];
    bool refused = false; /* the answer is no */
    int r;
    if (strcmp(word, "replay") == 0 && operands->count == 2) {
        r = cli_sched_replay(&options, operands->items[1], &buf, &err);
    } else if (strcmp(word, "place") == 0 && operands->count == 1) {
        r = cli_sched_place(&options, &buf, &err);
        refused = r == 0;
    } else if (strcmp(word, "bench") == 0 && operands->count == 1) {
        options.nodes = options.nodes ? options.nodes : 12500;
        options.leaf_nodes = options.leaf_nodes ? options.leaf_nodes : 32;
        options.pod_nodes = options.pod_nodes ? options.pod_nodes : 16 * options.leaf_nodes;
        r = cli_sched_bench(&options, &buf, &err);
    } else {
        r = myr_err_set(&err, MYR_EINVAL,
                        "'sched %.40s' is not understood; replay TRACE, place or bench", word);
        myr_err_hint(&err, "myriad sched --help");
    }
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    return code == CLI_DONE && refused ? CLI_NO : code;
}
