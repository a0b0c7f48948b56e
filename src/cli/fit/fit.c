/*
 * fit: the best layout of a model, or the price of a given one, and what lies around it. The case
 * is made and searched by the library (myriad/study.h): here its answer goes into the tree, onto
 * the page, and into files.
 */
#include "fit/fit.h"

#include <stdio.h>

#include "goodput/goodput.h"
#include "myriad/study.h"

/* 'pools' asks another question (pools.c); the rest is one case and the files beside its answer. */
struct options {
    struct cli_case of;
    struct myr_option_list pools;
    uint64_t top;
    bool exhaustive;
    const char *layout_out, *report, *plots;
};

static const struct options defaults = {.of = CLI_CASE_DEFAULTS, .top = 5};

static const struct myr_option rows[] = {
    CLI_CASE_MODEL_ROW(struct options, of),
    CLI_CASE_DEVICE_ROWS(struct options, of),
    CLI_CASE_DESIGN_ROW(struct options, of),
    CLI_COUNT("gpus", struct options, of.gpus, 1, 1 << 24, "how many; the design's when absent"),
    CLI_LIST("pool", "DEVICE:GPUS", struct options, pools, "a kind of GPUs among several"),
    CLI_CASE_BATCH_ROWS(struct options, of),
    CLI_CASE_LAYOUT_ROW(struct options, of),
    CLI_CASE_AXIS_ROWS(struct options, of),
    CLI_CASE_SCHEDULE_ROW(struct options, of),
    CLI_COUNT("top", struct options, top, 1, MYR_FIT_TOP_MAX, "how many layouts to show"),
    CLI_FLAG("exhaustive", struct options, exhaustive,
             "visit every layout one by one; slow, same answer"),
    CLI_OUTPUT("layout-out", "FILE", struct options, layout_out,
               "write the best layout, for --layout of fit, goodput and sched place"),
    CLI_OUTPUT("report", "FILE", struct options, report, "write a page with plots"),
    CLI_OUTPUT_FOLDER("plots", "DIR", struct options, plots, "write the plots as SVG files"),
};

/* Pools name devices and their numbers, and are told whole; a layout that is given is the only one.
 */
static const struct myr_option_rule rules[] = {
    {"design device gpus layout layout-out report plots exhaustive top", .against = "pool"},
    {"top", .against = "layout"},
};

static const struct myr_command *const subcommands[] = {
    &cli_fit_curve_command,   &cli_fit_validate_command,  &cli_fit_calibrate_command,
    &cli_fit_compare_command, &cli_fit_constants_command, &cli_fit_models_command,
    &cli_fit_devices_command, &cli_fit_stacks_command,    &cli_fit_why_command,
    &cli_fit_launch_command,
};

static const struct myr_command command = {
    .name = "fit",
    .operands = "",
    .summary = "step time, memory and the best parallel layout of a model",
    .details =
        "The layout with the shortest step among those that fit in memory; with --layout, that "
        "layout. What costs what, what else would fit, and what other hardware would change. With "
        "--pool, given twice or more, one job on several kinds of GPUs. Exit status 1: nothing "
        "fits.",
    .example = "myriad fit --model gpt3-175b --gpus 1024 --device h100 --batch 1536",
    CLI_OPTIONS(rows, defaults),
    CLI_RULES(rules),
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

/* The tree */

/* One layout with its price: under a key, or as an item of a list (key NULL). */
static void put_found(struct myr_answer *answer, const char *key, const struct myr_case *it,
                      const struct myr_layout *layout, const struct myr_case_price *price)
{
    static const enum myr_axis axes[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP,
                                         MYR_AXIS_PP};
    const struct myr_fit_cost *cost = &price->cost;
    myr_answer_object(answer, key);
    cli_put_layout(answer, layout);
    myr_answer_object(answer, "placement"); /* the smallest level that holds whole groups */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        myr_answer_text(answer, myr_axis_name(axes[i]), myr_study_reach(it, layout, axes[i]));
    }
    myr_answer_end(answer);
    cli_put_recipe(answer, &it->query.it, layout);
    myr_answer_double(answer, "step_s", cost->step_s, 6);
    cli_put_pair(answer, "step_s_interval", price->low_s, price->high_s, 6);
    cli_fit_put_rests_on(answer, it, layout, &price->spread);
    myr_answer_double(answer, "mfu", cost->mfu, 5);
    myr_answer_double(answer, "tokens_per_s_per_gpu", cost->tokens_per_s_per_gpu, 3);
    cli_put_memory(answer, &price->memory);
    myr_answer_object(answer, "terms_s");
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        myr_answer_double(answer, myr_fit_term_name((enum myr_fit_term)i), cost->terms_s[i], 6);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/* Without a design the fabric is a generic one, and has no levels to tell of. */
static void put_topology(struct myr_answer *answer, const struct myr_case *it)
{
    myr_answer_object(answer, "topology");
    myr_answer_text(answer, "source", it->has_design ? "design" : "generic");
    myr_answer_text(answer, "slowdowns", myr_study_slowdowns(it));
    myr_answer_list(answer, "levels");
    for (uint32_t i = 0; it->has_design && i < MYR_FIT_LEVELS; i++) {
        const struct myr_fit_level *level = &it->topology.levels[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "level", myr_fit_level_names[i]);
        myr_answer_u64(answer, "gpus", level->gpus ? level->gpus : it->topology.gpus);
        myr_answer_double(answer, "oversubscription", level->oversubscription, 3);
        for (int p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
            myr_answer_double(answer, myr_contention_pattern_names[p], level->slow[p], 4);
        }
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/* A layout that is too large: what of it, and by how much. */
static void put_too_large(struct myr_answer *answer, const struct myr_layout *layout,
                          const struct myr_fit_memory *memory)
{
    cli_put_layout(answer, layout);
    myr_answer_text(answer, "largest_term", myr_fit_memory_term(memory));
    myr_answer_double(answer, "over_gib", (memory->total_bytes - memory->limit_bytes) / 1073741824,
                      3);
    cli_put_memory(answer, memory);
}

/* Layouts that would be better if there were more memory, with what takes most of it. */
static const struct myr_value *put_refused(struct myr_answer *answer, const struct myr_study *study)
{
    const struct myr_value *list = myr_answer_list(answer, "refused"); /* faster, but too large */
    for (uint32_t i = 0; i < study->refused_count; i++) {
        const struct myr_fit_refusal *r = &study->refused[i];
        myr_answer_object(answer, NULL);
        myr_answer_double(answer, "step_s", r->found.step_s, 6);
        put_too_large(answer, &r->found.layout, &r->memory);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* For each value of each axis the best layout with it: what a fixed choice costs. */
static const struct myr_value *put_choices(struct myr_answer *answer, const struct myr_study *study)
{
    const struct myr_value *list = myr_answer_list(answer, "choices");
    for (uint32_t i = 0; i < study->choices.count; i++) {
        const struct myr_fit_choice *c = &study->choices.items[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "axis", c->axis);
        myr_answer_text(answer, "value", c->value);
        myr_answer_bool(answer, "fits", c->found);
        myr_answer_bool(answer, "in_release", !c->foreign);
        cli_put_known(answer, "step_s", c->found, c->best.step_s, 6);
        cli_put_known(answer, "costs_percent", c->found, 100 * study->costs[i], 3);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* The same layout on hardware that is a tenth better or worse, one knob at a time. */
static const struct myr_value *put_sensitivity(struct myr_answer *answer,
                                               const struct myr_study *study)
{
    const struct myr_value *list = myr_answer_list(answer, "sensitivity");
    for (int k = 0; study->found && k < MYR_FIT_KNOB_COUNT; k++) {
        const struct myr_study_knob *knob = &study->knobs[k];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "knob", myr_fit_knob_name((enum myr_fit_knob)k));
        myr_answer_double(answer, "plus_10_percent", 100 * knob->more, 3);
        myr_answer_double(answer, "minus_10_percent", 100 * knob->less, 3);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* The layout as one trainer is told it, with what the prediction counted on. */
static const struct myr_launch *launch_of(struct cli *cli, const struct myr_case *it,
                                          const struct myr_layout *layout, enum myr_trainer trainer)
{
    struct myr_launch *launch = MYR_ARENA_ONE(&cli->arena, struct myr_launch);
    const struct myr_recipe taken = myr_fit_taken(&it->query.it, layout);
    const struct myr_launch_case of = {.layout = layout,
                                       .model = &it->model,
                                       .recipe = &taken,
                                       .device = it->query.it.device,
                                       .stack = it->query.it.stack};
    myr_launch_of(&of, trainer, &cli->arena, launch);
    return launch;
}

/* The best layout as three trainers are told it; 'layout' is the text of its file. */
static void put_launch(struct cli *cli, const struct myr_case *it, const struct myr_study *study)
{
    struct myr_answer *answer = &cli->answer;
    if (!study->found) {
        myr_answer_null(answer, "launch");
        myr_answer_null(answer, "layout");
        return;
    }
    const struct myr_layout *best = &study->answer.top[0].layout;
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    myr_answer_object(answer, "launch");
    for (int t = MYR_TRAINER_MEGATRON; t <= MYR_TRAINER_TORCHTITAN; t++) {
        myr_buf_clear(&line);
        myr_launch_write(launch_of(cli, it, best, (enum myr_trainer)t), &line);
        myr_answer_str(answer, myr_trainer_name((enum myr_trainer)t),
                       (struct myr_str){line.data, line.len});
    }
    myr_answer_end(answer);
    myr_buf_clear(&line);
    myr_layout_write(&line, best);
    myr_answer_str(answer, "layout", (struct myr_str){line.data, line.len});
}

/* The page */

/* The model's size is said: a file that was read wrongly shows there first. */
static void show_head(struct myr_answer *answer, const struct myr_case *it)
{
    struct myr_params params = myr_model_params(&it->model);
    char active[48] = "";
    if (params.active < params.total) {
        snprintf(active, sizeof(active), ", %.4g active", (double)params.active / 1e9);
    }
    myr_answer_para(answer, "%s (%.4g billion parameters%s) on %s x %s, batch %s x %s, %s",
                    it->model.name, (double)params.total / 1e9, active, MYR_GROUPED(it->query.gpus),
                    it->query.it.device->name, MYR_GROUPED(it->query.batch),
                    MYR_COUNT(it->query.seq_tokens, "token"), it->query.it.stack->name);
    cli_fit_show_device(answer, it);
    cli_fit_show_basis(answer, it);
}

static void show_top(struct myr_answer *answer, const struct myr_value *top)
{
    static const struct myr_answer_column columns[] = {
        {"step_s", "STEP s", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("tp", "TP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("pp", "PP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("vp", "VP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("dp", "DP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("cp", "CP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("ep", "EP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("mbs", "MBS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("zero", "ZERO", MYR_COLUMN_NUMBER),
        MYR_COLUMN("recompute", "RECOMPUTE", 0),
        MYR_COLUMN("recompute_layers", "LAYERS", MYR_COLUMN_NUMBER),
        {"memory_gib", "GiB", MYR_COLUMN_NUMBER, 1},
        {"mfu", "MFU", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("shard", "SHARD", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("schedule", "SCHEDULE", MYR_COLUMN_WIDE),
        MYR_COLUMN("precision", "PRECISION", MYR_COLUMN_WIDE),
        MYR_COLUMN("first_layers", "FIRST", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("last_layers", "LAST", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
    };
    myr_answer_heading(answer, "Layouts, the best first");
    myr_answer_table(answer, top, columns, MYR_ARRAY_COUNT(columns));
}

static void show_step(struct cli *cli, const struct myr_case *it, const struct myr_study *study)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_fit_cost *cost = &study->prices[0].cost;
    const struct myr_fit_memory *memory = &study->prices[0].memory;
    const double gib = 1073741824;
    myr_answer_heading(answer, it->has_layout ? "The layout given" : "The best of them");
    myr_answer_fact(answer, "layout", "%s",
                    cli_layout_words(&cli->arena, &study->answer.top[0].layout));
    myr_answer_fact(answer, "step", "%.3f s (90 %%: %.3f to %.3f s)", cost->step_s,
                    study->prices[0].low_s, study->prices[0].high_s);
    myr_answer_fact(
        answer, "rests on", "%s",
        cli_fit_rests_on(&cli->arena, it, &study->answer.top[0].layout, &study->prices[0].spread));
    myr_answer_fact(answer, "MFU", "%.1f %%, %s tokens/s a GPU", 100 * cost->mfu,
                    MYR_GROUPED((uint64_t)(cost->tokens_per_s_per_gpu + 0.5)));
    myr_answer_fact(answer, "memory",
                    "%.1f of %.1f GiB (%.0f %%), of them %.1f kept back; %.1f free",
                    memory->total_bytes / gib, memory->limit_bytes / gib,
                    100 * memory->total_bytes / memory->limit_bytes, memory->reserve_bytes / gib,
                    (memory->limit_bytes - memory->total_bytes) / gib);
    myr_answer_fact(answer, "fits", "with %.1f %%%s", 100 * memory->probability,
                    memory->sure ? "" : "; 95 % is what is recommended where anything is");
    myr_answer_fact(answer, "peak", "%.1f GiB as the trainer counts (90 %%: %.1f to %.1f)",
                    memory->peak_bytes / gib, memory->peak_low_bytes / gib,
                    memory->peak_high_bytes / gib);
    myr_answer_heading(answer, "Where its step goes");
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        /* What rounds to nothing is left out of the page; the tree has all terms. */
        if (cost->terms_s[i] > 0.0005 * cost->step_s) {
            myr_answer_fact(answer, myr_fit_term_name((enum myr_fit_term)i), "%9.4f s %5.1f %%",
                            cost->terms_s[i], 100 * cost->terms_s[i] / cost->step_s);
        }
    }
}

/* Lists of the tree that the page lays tables over. */
struct around {
    const struct myr_value *choices, *sensitivity, *refused;
};

/* Headings without a table below them are not shown. */
static void show_around(struct myr_answer *answer, const struct around *around)
{
    static const struct myr_answer_column choices[] = {
        MYR_COLUMN("axis", "AXIS", 0),
        MYR_COLUMN("value", "VALUE", 0),
        {"step_s", "STEP s", MYR_COLUMN_NUMBER, 3},
        {"costs_percent", "COSTS %", MYR_COLUMN_NUMBER, 1},
        MYR_COLUMN("fits", "FITS", 0),
        MYR_COLUMN("in_release", "IN RELEASE", 0),
    };
    static const struct myr_answer_column knobs[] = {
        MYR_COLUMN("knob", "HARDWARE", 0),
        {"plus_10_percent", "+10 %: STEP %", MYR_COLUMN_NUMBER, 2},
        {"minus_10_percent", "-10 %: STEP %", MYR_COLUMN_NUMBER, 2},
    };
    static const struct myr_answer_column refused[] = {
        {"step_s", "STEP s", MYR_COLUMN_NUMBER, 3},
        {"over_gib", "GiB TOO MUCH", MYR_COLUMN_NUMBER, 1},
        MYR_COLUMN("largest_term", "MOST OF IT", 0),
        MYR_COLUMN("tp", "TP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("pp", "PP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("dp", "DP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("cp", "CP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("ep", "EP", MYR_COLUMN_NUMBER),
        MYR_COLUMN("mbs", "MBS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("zero", "ZERO", MYR_COLUMN_NUMBER),
        MYR_COLUMN("recompute", "RECOMPUTE", 0),
    };
    if (around->choices->count > 0) {
        myr_answer_heading(answer, "Other choices, all else free");
        myr_answer_table(answer, around->choices, choices, MYR_ARRAY_COUNT(choices));
    }
    if (around->sensitivity->count > 0) {
        myr_answer_heading(answer, "The same layout on other hardware");
        myr_answer_table(answer, around->sensitivity, knobs, MYR_ARRAY_COUNT(knobs));
    }
    if (around->refused->count > 0) {
        myr_answer_heading(answer, "Faster, but too large");
        myr_answer_table(answer, around->refused, refused, MYR_ARRAY_COUNT(refused));
    }
}

static void show_launch(struct cli *cli, const struct myr_case *it, const struct myr_study *study)
{
    struct myr_answer *answer = &cli->answer;
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    for (int t = MYR_TRAINER_MEGATRON; t <= MYR_TRAINER_TORCHTITAN; t++) {
        myr_buf_clear(&line);
        myr_launch_write_wrapped(
            launch_of(cli, it, &study->answer.top[0].layout, (enum myr_trainer)t), &line);
        myr_answer_heading(answer, "Arguments for %s", myr_trainer_name((enum myr_trainer)t));
        myr_answer_verbatim(answer, (struct myr_str){line.data, line.len});
    }
}

static void show_nothing(struct cli *cli, const struct myr_study *study)
{
    struct myr_answer *answer = &cli->answer;
    myr_answer_heading(answer, "No layout fits");
    myr_answer_para(answer, "%s", study->reason);
    if (study->hint[0]) {
        myr_answer_fact(answer, "hint", "%s", study->hint);
    }
    if (study->answer.has_nearest) {
        myr_answer_fact(answer, "nearest", "%s",
                        cli_layout_words(&cli->arena, &study->answer.nearest));
    }
}

/* Files beside the answer */

/* The title says what the layout was found for: the file itself holds axes alone. */
static int add_layout(struct myr_file_set *set, const char *path, const struct myr_case *it,
                      const struct myr_study *study, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    char title[256];
    snprintf(title, sizeof(title), "%s on %u x %s, %s: %.3f s a step", it->model.name,
             it->query.gpus, it->query.it.device->name, it->query.it.stack->name,
             study->answer.top[0].step_s);
    myr_layout_file_write(&study->answer.top[0].layout, title, &buf);
    return myr_file_set_add(set, path, &buf, err);
}

/* Page and plots are of one report: both are drawn from the same answer. */
static int add_report(struct myr_file_set *set, struct cli *cli, const struct myr_case *it,
                      const struct myr_study *study, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_report_text launch[MYR_TRAINER_TORCHTITAN + 1];
    struct myr_fit_report report = {&it->query, &study->answer, study->prices[0].spread.share,
                                    launch, MYR_ARRAY_COUNT(launch)};
    for (uint32_t t = 0; t < MYR_ARRAY_COUNT(launch); t++) {
        myr_buf_clear(&buf);
        myr_launch_write(launch_of(cli, it, &study->answer.top[0].layout, (enum myr_trainer)t),
                         &buf);
        launch[t] = (struct myr_report_text){myr_trainer_name((enum myr_trainer)t),
                                             myr_arena_strndup(&cli->arena, buf.data, buf.len)};
    }
    myr_buf_clear(&buf);
    if (options->report) {
        myr_fit_report_html(&report, &cli->arena, &buf);
        MYR_TRY(myr_file_set_add(set, options->report, &buf, err));
    }
    return options->plots ? myr_fit_report_plots(&report, set, options->plots, &cli->arena, err)
                          : MYR_OK;
}

/* Of one answer: all of them, or none. */
static int write_files(struct cli *cli, const struct myr_case *it, const struct myr_study *study,
                       struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    MYR_TRY(myr_file_set_begin(&set, NULL, err));
    if (options->layout_out) {
        MYR_TRY(add_layout(&set, options->layout_out, it, study, err));
    }
    if (options->report || options->plots) {
        MYR_TRY(add_report(&set, cli, it, study, err));
    }
    return myr_file_set_commit(&set, err);
}

/*
 * The tree in the order of its keys, then the page. Keys of pools are null here, as those of one
 * kind of GPUs are in pools.c: both are answers of one verb.
 */
static void put_study(struct cli *cli, const struct myr_case *it, const struct myr_study *study)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_fit_answer *found = &study->answer;
    struct around around;
    myr_answer_bool(answer, "found", study->found);
    myr_answer_text(answer, "reason", study->found ? NULL : study->reason);
    myr_answer_text(answer, "hint", study->found || !study->hint[0] ? NULL : study->hint);
    cli_fit_put_case(answer, it, false);
    if (study->found) {
        put_found(answer, "best", it, &found->top[0].layout, &study->prices[0]);
    } else {
        myr_answer_null(answer, "best");
    }
    struct myr_value *top = myr_answer_list(answer, "top");
    for (uint32_t i = 0; i < found->top_count; i++) {
        put_found(answer, NULL, it, &found->top[i].layout, &study->prices[i]);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, top);
    myr_answer_u64(answer, "evaluated", found->evaluated);
    myr_answer_u64(answer, "costed", found->costed);
    myr_answer_double(answer, "gap", 0, 1);
    put_topology(answer, it);
    if (found->has_nearest) {
        myr_answer_object(answer, "nearest");
        put_too_large(answer, &found->nearest, &study->nearest);
        myr_answer_end(answer);
    } else {
        myr_answer_null(answer, "nearest");
    }
    around.refused = put_refused(answer, study);
    if (!study->found) {
        myr_answer_rows(answer, around.refused); /* what there would be if it fitted */
        myr_answer_header(answer, "step_s tp pp vp dp cp ep etp zero shard mbs recompute");
    }
    around.choices = put_choices(answer, study);
    around.sensitivity = put_sensitivity(answer, study);
    put_launch(cli, it, study);
    myr_answer_null(answer, "pools");
    show_head(answer, it);
    if (study->found) {
        if (!it->has_layout) {
            char grouped[32];
            myr_answer_fact(answer, "looked at", "%s layouts",
                            myr_u64_grouped(found->evaluated, grouped));
            show_top(answer, top);
        }
        show_step(cli, it, study);
        myr_answer_more(answer, "other choices and what they cost, other hardware, faster layouts "
                                "that do not fit, arguments for three trainers");
    } else {
        show_nothing(cli, study);
    }
    show_around(answer, &around);
    if (study->found) {
        show_launch(cli, it, study);
    }
}

/*
 * Goodput takes a layout from a file: where none was written, that comes first. All else that
 * shaped the answer goes along, so that the step there is this one.
 */
static void hint_next(struct cli *cli, const struct options *options)
{
    const char *file = options->layout_out ? options->layout_out : options->of.layout;
    if (file) {
        myr_answer_next(&cli->answer, NULL, "%s --layout %s",
                        cli_again(cli, cli_goodput_verb.row, "layout report"),
                        myr_answer_input(&cli->answer, file));
    } else {
        myr_answer_next(&cli->answer, "for goodput and sched place", "%s --layout-out layout.yaml",
                        cli_again(cli, cli->command, NULL));
    }
}

/* The number of cuts is known when the search begins, and another for each precision. */
static void show_progress(void *context, uint64_t done, uint64_t total)
{
    struct myr_progress *progress = context;
    progress->total = total;
    cli_progress_step(progress, done);
}

/* A search that finds nothing is an answer, with what is nearest; errors are of files and words. */
static int run_case(struct cli *cli, const struct myr_case_question *question, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(cli_case_close)
    struct myr_case *it = MYR_ARENA_ONE(&cli->arena, struct myr_case);
    struct myr_study *study = MYR_ARENA_ONE(&cli->arena, struct myr_study);
    MYR_TRY(myr_case_init(it, &cli->arena, question, err));
    double start_ms = cli_fit_spent_ms();
    int rc = myr_study_answer(it, &cli->arena, study, err);
    /* The search alone, without reading files or looking around the answer. */
    myr_answer_timing(&cli->answer, "search_ms", cli_fit_spent_ms() - start_ms, 3);
    MYR_TRY(rc);
    MYR_TRY(myr_study_around(it, &cli->arena, study, err));
    /* Files before the answer: what cannot be written is an error, and then nothing is printed. */
    if (study->found) {
        MYR_TRY(write_files(cli, it, study, err));
    }
    put_study(cli, it, study);
    cli->no = !study->found;
    if (study->found) {
        hint_next(cli, options);
    }
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    struct myr_case_question question = cli_case_question(&options->of);
    cli_progress(&progress, "cuts of the model", 0);
    question.top = (uint32_t)options->top;
    question.exhaustive = options->exhaustive;
    question.progress = show_progress;
    question.progress_context = &progress;
    return options->pools.count == 0 ? run_case(cli, &question, err)
                                     : cli_fit_pools(cli, &question, &options->pools, err);
}

const struct cli_verb cli_fit_verb = {&command, run, .group = CLI_PROVE_GROUP};
