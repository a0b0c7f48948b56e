/*
 * fit why: what makes one of two layouts faster than the other, term by term. Both are priced in
 * one case, and the terms of a step sum to it: so do their differences.
 */
#include "fit/fit.h"

/* Layouts are operands: of the axes only the precision can be given for both. */
struct options {
    struct cli_case of;
};

static const struct options defaults = {.of = CLI_CASE_DEFAULTS};

static const struct myr_option rows[] = {
    CLI_CASE_MODEL_ROW(struct options, of),
    CLI_CASE_DEVICE_ROWS(struct options, of),
    CLI_CASE_DESIGN_ROW(struct options, of),
    CLI_COUNT("gpus", struct options, of.gpus, 1, 1 << 24, "how many; the design's when absent"),
    CLI_CASE_BATCH_ROWS(struct options, of),
    CLI_CHOICE("precision", "WORD", struct options, of.precision, cli_case_precisions,
               "of the products, where a layout does not say; bf16 when absent"),
};

const struct myr_command cli_fit_why_command = {
    .name = "fit why",
    .operands = "A B",
    .summary = "two layouts side by side, and where their difference comes from",
    .details = "Each is a file of 'fit --layout-out' or words such as tp=8,pp=4,micro_batch=1. "
               "Terms sum to the step; one that memory does not hold is priced all the same, and "
               "said to be so.",
    .example = "myriad fit why --model llama3-70b --device h100 --gpus 64 --batch 128 "
               "tp=4,pp=4,vp=5 tp=8,pp=2",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 2,
    .operand_max = 2,
};

/* One of the two; that it does not fit is said, and it is priced all the same. */
static void put_side(struct myr_answer *answer, const char *key, const struct myr_fit_why *why,
                     int i)
{
    const struct myr_case_price *price = &why->prices[i];
    myr_answer_object(answer, key);
    cli_put_layout(answer, &why->layouts[i]);
    myr_answer_double(answer, "step_s", price->cost.step_s, 6);
    cli_put_pair(answer, "step_s_interval", price->low_s, price->high_s, 6);
    myr_answer_double(answer, "memory_gib", price->memory.total_bytes / 1073741824, 3);
    myr_answer_bool(answer, "fits", price->memory.fits);
    myr_answer_end(answer);
}

/* How much faster the faster one is, in parts of its own step. */
static void show_difference(struct myr_answer *answer, const struct myr_fit_why *why)
{
    double a = why->prices[0].cost.step_s, b = why->prices[1].cost.step_s;
    double percent = 100 * (b < a ? a / b - 1 : b / a - 1);
    if (why->largest == MYR_FIT_TERM_COUNT) {
        myr_answer_fact(answer, "difference", "none: both take the same time");
        return;
    }
    /* "0.0 % faster" would be neither. */
    const char *shown =
        percent < 0.05 ? "less than 0.1" : myr_arena_printf(answer->arena, "%.1f", percent);
    myr_answer_fact(answer, "difference", "%s is %s %% faster, most of it by %s", b < a ? "B" : "A",
                    shown, myr_fit_term_name(why->largest));
}

static void show(struct cli *cli, const struct myr_case *it, const struct myr_fit_why *why,
                 const struct myr_value *terms)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("term", "TERM", 0),
        {"a_s", "A s", MYR_COLUMN_NUMBER, 4},
        {"b_s", "B s", MYR_COLUMN_NUMBER, 4},
        {"difference_s", "B - A s", MYR_COLUMN_NUMBER, 4},
    };
    struct myr_answer *answer = &cli->answer;
    cli_fit_show_device(answer, it);
    cli_fit_show_basis(answer, it);
    for (int i = 0; i < 2; i++) {
        const struct myr_case_price *price = &why->prices[i];
        myr_answer_fact(answer, i ? "B" : "A", "%s: %.4f s, %.1f GiB%s",
                        cli_layout_words(&cli->arena, &why->layouts[i]), price->cost.step_s,
                        price->memory.total_bytes / 1073741824,
                        price->memory.fits ? "" : ", which does not fit");
    }
    show_difference(answer, why);
    myr_answer_table(answer, terms, columns, MYR_ARRAY_COUNT(columns));
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_case_question question = cli_case_question(&options->of);
    const char *texts[2] = {cli->operands.items[0], cli->operands.items[1]};
    struct myr_answer *answer = &cli->answer;
    MYR_CLEANUP(cli_case_close)
    struct myr_case *it = MYR_ARENA_ONE(&cli->arena, struct myr_case);
    struct myr_fit_why why;
    MYR_TRY(myr_case_init(it, &cli->arena, &question, err));
    MYR_TRY(myr_fit_why_of(it, texts, &cli->arena, &why, err));
    cli_fit_put_case(answer, it, false);
    put_side(answer, "a", &why, 0);
    put_side(answer, "b", &why, 1);
    myr_answer_text(answer, "largest",
                    why.largest < MYR_FIT_TERM_COUNT ? myr_fit_term_name(why.largest) : NULL);
    struct myr_value *terms = myr_answer_list(answer, "terms");
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        double one = why.prices[0].cost.terms_s[i], other = why.prices[1].cost.terms_s[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "term", myr_fit_term_name((enum myr_fit_term)i));
        myr_answer_double(answer, "a_s", one, 6);
        myr_answer_double(answer, "b_s", other, 6);
        myr_answer_double(answer, "difference_s", other - one, 6);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, terms);
    show(cli, it, &why, terms);
    return MYR_OK;
}

const struct cli_verb cli_fit_why_verb = {&cli_fit_why_command, run, .group = NULL};
