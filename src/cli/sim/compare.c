/*
 * sim compare: two results of the simulator, figure by figure. What of the two belongs together and
 * how far apart it is the library says (myr_results_compare); a change that was not meant shows as
 * exit status 1.
 */
#include "myriad/sim/compare.h"

#include "cli.h"
#include "sim/sim.h"

/* 'tolerance' is a text, since it may be per cent. */
struct options {
    const char *tolerance;
    uint64_t rows;
    bool all;
};

static const struct options defaults = {.tolerance = "0", .rows = 50};

static const struct myr_option rows[] = {
    CLI_TEXT("tolerance", "PART", struct options, tolerance,
             "how far apart is still the same: 0.01, or 1%"),
    CLI_COUNT("rows", struct options, rows, 1, 1 << 24,
              "list at most so many flows or points, the farthest apart first"),
    CLI_FLAG("all", struct options, all, "list those that are the same too"),
};

const struct myr_command cli_sim_compare_command = {
    .name = "sim compare",
    .operands = "A B",
    .operand_min = 2,
    .operand_max = 2,
    .summary = "two results of the simulator: what differs, by job, flow, percentile and point",
    .details =
        "A and B are answers of 'sim -o json', lists of flows (--fct) or results of 'sim sweep', "
        "both of one kind. Jobs are the same by their words, flows by sender, receiver and bytes "
        "in the order of the list, points by their settings. Exit status 1: something is "
        "farther apart than the tolerance, or in one of the two only.",
    .example = "myriad sim compare before.json after.json --tolerance 1%",
    CLI_OPTIONS(rows, defaults),
};

/* A part, or per cent with the mark behind it. */
static int read_tolerance(const char *text, double *ret, struct myr_err *err)
{
    size_t len = strlen(text);
    bool percent = len > 0 && text[len - 1] == '%';
    if (!myr_str_to_double((struct myr_str){text, len - percent}, ret) || !(*ret >= 0) ||
        *ret > 1e6) {
        return myr_err_set(err, MYR_EINVAL,
                           "--tolerance is '%.40s', a part such as 0.01 or 1%% is expected", text);
    }
    *ret = percent ? *ret / 100 : *ret;
    return MYR_OK;
}

/* Null where one of the two files does not have it. */
static void put_value(struct myr_answer *answer, const char *key, bool known, double value)
{
    if (known) {
        myr_answer_double(answer, key, value, 6);
    } else {
        myr_answer_null(answer, key);
    }
}

/* What only one of the two has cannot be apart by a number: null, and beyond in any case. */
static void put_pair(struct myr_answer *answer, const struct myr_result_pair *pair)
{
    bool both = !pair->only_a && !pair->only_b;
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "group", myr_result_groups[pair->group]);
    myr_answer_text(answer, "of", pair->of);
    myr_answer_text(answer, "figure", pair->name);
    put_value(answer, "a", !pair->only_b, pair->a);
    put_value(answer, "b", !pair->only_a, pair->b);
    put_value(answer, "difference", both, pair->b - pair->a);
    put_value(answer, "percent", both, 100 * pair->part);
    myr_answer_bool(answer, "beyond", pair->beyond);
    myr_answer_end(answer);
}

/* Those farthest apart come first; how many the limit left out is told. */
static const struct myr_value *put_pairs(struct cli *cli,
                                         const struct myr_results_difference *found)
{
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    const struct myr_result_pair **listed;
    uint32_t left_out;
    uint32_t count =
        myr_results_listed(found, &cli->arena, options->all, options->rows, &listed, &left_out);
    const struct myr_value *list = myr_answer_list(answer, "rows");
    for (uint32_t i = 0; i < count; i++) {
        put_pair(answer, listed[i]);
    }
    myr_answer_end(answer);
    myr_answer_u64(answer, "left_out", left_out);
    return list;
}

static int run(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("of", "OF", 0),
        MYR_COLUMN("figure", "FIGURE", 0),
        {"a", "A", MYR_COLUMN_NUMBER, 3},
        {"b", "B", MYR_COLUMN_NUMBER, 3},
        {"percent", "%", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("beyond", "BEYOND", 0),
    };
    MYR_CLEANUP(myr_results_done) struct myr_results a = {};
    MYR_CLEANUP(myr_results_done) struct myr_results b = {};
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    struct myr_results_difference found;
    double tolerance;
    MYR_TRY(read_tolerance(options->tolerance, &tolerance, err));
    MYR_TRY(myr_results_read(&a, &cli->arena, cli->operands.items[0], err));
    MYR_TRY(myr_results_read(&b, &cli->arena, cli->operands.items[1], err));
    MYR_TRY(myr_results_compare(&found, &cli->arena, &a, &b, tolerance, err));
    myr_answer_text(answer, "kind", myr_results_kinds[a.kind]);
    myr_answer_double(answer, "tolerance", tolerance, 9);
    myr_answer_u64(answer, "compared", found.count);
    myr_answer_u64(answer, "beyond", found.beyond);
    myr_answer_u64(answer, "only_a", found.only_a);
    myr_answer_u64(answer, "only_b", found.only_b);
    /* Of all that both have, also what is not listed. */
    myr_answer_double(answer, "worst_percent", 100 * found.worst, 6);
    const struct myr_value *list = put_pairs(cli, &found);
    myr_answer_fact(answer, "compared", "%s of %s", MYR_COUNT(found.count, "figure"),
                    myr_results_kinds[a.kind]);
    myr_answer_fact(answer, "beyond", "%s of them are more than %g %% apart; only in A %s, in B %s",
                    MYR_GROUPED(found.beyond), 100 * tolerance, MYR_GROUPED(found.only_a),
                    MYR_GROUPED(found.only_b));
    myr_answer_fact(answer, "farthest apart", "%+.4f %%", 100 * found.worst);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, list);
    cli->no = found.beyond > 0;
    return MYR_OK;
}

const struct cli_verb cli_sim_compare_verb = {.row = &cli_sim_compare_command, .run = run};
