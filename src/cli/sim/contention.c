/*
 * sim contention: how much slower patterns run than on an empty fabric, as a table. It is written
 * as a file that fit and sched look up beside the design, and told as an answer.
 */
#include "myriad/sim.h"

#include "cli.h"
#include "sim/sim.h"

struct options {
    uint32_t lb, net;
    uint64_t seed;
    bool polarised;
    const char *design, *topology, *out;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_PATH("design", "FILE", struct options, design, "a planned fabric"),
    CLI_TEXT("topology", "WORDS", struct options, topology,
             "a fabric in words: fat-tree:k=8,gbps=100,delay=1us"),
    CLI_CHOICE("lb", "POLICY", struct options, lb, myr_policy_names, "load-balance policy"),
    CLI_COUNT("seed", struct options, seed, 0, 0, "of hashes and of the jobs' places"),
    CLI_FLAG("polarised", struct options, polarised, "every switch hashes with the same seed"),
    CLI_CHOICE("net", "NETWORK", struct options, net, myr_net_names, "which network"),
    CLI_OUTPUT("out", "FILE", struct options, out,
               "where the table goes; contention.json beside the design when absent"),
};

const struct myr_command cli_sim_contention_command = {
    .name = "sim contention",
    .operands = "",
    .summary = "slowdown of rings, all-to-alls and permutations by level and load, as a table",
    .details = "Jobs of 16 nodes lie under one leaf, in one pod or anywhere, while jobs like them "
               "fill a quarter, half and all of the fabric. A slowdown is a NIC's line rate over "
               "the rate that its flow gets. 'fit' and 'sched' look the table up beside the "
               "design.",
    .example = "myriad sim contention --design out/h100-10k/design.myr --lb adaptive",
    CLI_OPTIONS(rows, defaults),
};

/* Every cell of the table is a row: pattern, how far apart the job lies, how full the fabric is. */
static struct myr_value *put_rows(struct myr_answer *answer, const struct myr_contention *table)
{
    struct myr_value *list = myr_answer_list(answer, "rows");
    for (uint32_t p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
        for (uint32_t level = 0; level < MYR_CONTENTION_LEVELS; level++) {
            for (uint32_t i = 0; i < MYR_CONTENTION_LOADS; i++) {
                const struct myr_contention_cell *cell = &table->cells[p][level][i];
                myr_answer_object(answer, NULL);
                myr_answer_text(answer, "pattern", myr_contention_pattern_names[p]);
                myr_answer_text(answer, "level", myr_contention_level_names[level]);
                myr_answer_double(answer, "load", table->loads[i], 2);
                myr_answer_u64(answer, "jobs", cell->jobs);
                myr_answer_double(answer, "mean", cell->mean, 6);
                myr_answer_double(answer, "worst", cell->worst, 6);
                myr_answer_end(answer);
            }
        }
    }
    myr_answer_end(answer);
    return list;
}

/* fit takes the table that lies beside the design, under its own name, and no other. */
static void hint_next(struct cli *cli, const char *path)
{
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    /* A fabric in words has no folder beside which the table could lie. */
    if (!options->design) {
        return;
    }
    const char *read_from = myr_contention_path(&cli->arena, options->design);
    if (strcmp(path, read_from) != 0) {
        myr_answer_next(answer, "to where fit and sched read it", "cp %s %s",
                        myr_answer_input(answer, path), myr_answer_input(answer, read_from));
        return;
    }
    myr_answer_next(answer, NULL, "myriad fit --design %s --model llama3-70b --batch 1024",
                    myr_answer_input(answer, options->design));
}

static int run(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("pattern", "PATTERN", 0),
        MYR_COLUMN("level", "LEVEL", 0),
        {"load", "LOAD", MYR_COLUMN_NUMBER, 2},
        MYR_COLUMN("jobs", "JOBS", MYR_COLUMN_NUMBER),
        {"mean", "MEAN SLOWDOWN", MYR_COLUMN_NUMBER, 3},
        {"worst", "WORST", MYR_COLUMN_NUMBER, 3},
    };
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    const struct options *options = cli->options;
    struct myr_contention table;
    const char *path;
    cli_progress(&progress, "rows of the table", 0);
    struct myr_contention_question question = {
        .design = options->design,
        .topology = options->topology,
        .net = (enum myr_net_id)options->net,
        .balance = {(enum myr_policy)options->lb, options->seed, options->polarised},
        .out = options->out,
        .progress = cli_sim_progress,
        .progress_context = &progress,
    };
    /* The table is written by it; 'path' is where. */
    MYR_TRY(myr_contention_ask(&table, &path, &cli->arena, &question, err));
    struct myr_answer *answer = &cli->answer;
    myr_answer_u64(answer, "gpus", table.gpus);
    myr_answer_u64(answer, "links", table.links);
    myr_answer_text(answer, "file", path);
    struct myr_value *list = put_rows(answer, &table);
    myr_answer_fact(answer, "load balance", "%s, seed %llu%s", myr_policy_names[options->lb],
                    (unsigned long long)options->seed,
                    options->polarised ? ", one seed for all switches" : "");
    myr_answer_fact(answer, "written to", "%s", path);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, list);
    hint_next(cli, path);
    return MYR_OK;
}

const struct cli_verb cli_sim_contention_verb = {.row = &cli_sim_contention_command, .run = run};
