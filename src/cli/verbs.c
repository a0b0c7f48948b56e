/*
 * verbs: all verbs in the order of the overview, sub-verbs behind their verb; and the three verbs
 * that tell of all others from their rows: the list for programs, completion scripts, the manual.
 * They lie here because they are in the table that they read.
 */
#include "bench/bench.h"
#include "cli.h"
#include "client/client.h"
#include "fit/fit.h"
#include "goodput/goodput.h"
#include "kubernetes/kubernetes.h"

static const struct cli_verb *const verbs[] = {
    &cli_plan_verb,
    &cli_plan_audit_verb,
    &cli_plan_diff_verb,
    &cli_plan_grow_verb,
    &cli_plan_optimise_verb,
    &cli_design_verb,
    &cli_design_apply_verb,
    &cli_catalog_verb,

    &cli_route_verb,
    &cli_route_failover_verb,
    &cli_route_degraded_verb,
    &cli_route_blast_verb,
    &cli_route_tables_verb,
    &cli_route_apply_verb,
    &cli_route_found_verb,
    &cli_path_verb,
    &cli_sim_verb,
    &cli_sim_contention_verb,
    &cli_sim_resume_verb,
    &cli_sim_sweep_verb,
    &cli_sim_compare_verb,
    &cli_fit_verb,
    &cli_fit_curve_verb,
    &cli_fit_validate_verb,
    &cli_fit_calibrate_verb,
    &cli_fit_compare_verb,
    &cli_fit_constants_verb,
    &cli_fit_models_verb,
    &cli_fit_devices_verb,
    &cli_fit_stacks_verb,
    &cli_fit_why_verb,
    &cli_fit_launch_verb,
    &cli_compare_verb,
    &cli_goodput_verb,
    &cli_goodput_classes_verb,
    &cli_goodput_parts_verb,
    &cli_goodput_data_verb,
    &cli_bench_verb,
    &cli_bench_gpu_verb,

    &cli_export_verb,
    &cli_verify_verb,
    &cli_verify_orders_verb,
    &cli_bind_verb,

    &cli_sched_verb,
    &cli_sched_place_verb,
    &cli_sched_replay_verb,
    &cli_sched_rehearse_verb,
    &cli_twin_verb,
    &cli_twin_run_verb,
    &cli_twin_replay_verb,
    &cli_twin_search_verb,
    &cli_init_verb,
    &cli_init_spec_verb,
    &cli_serve_verb,
    &cli_agent_verb,
    &cli_relay_verb,
    &cli_enrol_verb,
    &cli_token_verb,
    &cli_token_new_verb,
    &cli_token_list_verb,
    &cli_token_revoke_verb,
    &cli_tenant_verb,
    &cli_tenant_set_verb,
    &cli_submit_verb,
    &cli_kubernetes_verb,
    &cli_kubernetes_schedule_verb,
    &cli_kubernetes_job_verb,
    &cli_job_verb,
    &cli_job_list_verb,
    &cli_job_show_verb,
    &cli_job_logs_verb,
    &cli_job_explain_verb,
    &cli_job_cancel_verb,
    &cli_job_hold_verb,
    &cli_job_release_verb,
    &cli_job_top_verb,
    &cli_queue_verb,
    &cli_usage_verb,
    &cli_node_verb,
    &cli_node_list_verb,
    &cli_node_show_verb,
    &cli_node_drain_verb,
    &cli_node_resume_verb,
    &cli_node_revoke_verb,
    &cli_top_verb,
    &cli_inject_verb,
    &cli_doctor_verb,
    &cli_backup_verb,
    &cli_restore_verb,
    &cli_whatif_verb,
    &cli_explain_verb,
    &cli_explain_plan_verb,

    &cli_commands_verb,
    &cli_completion_verb,
    &cli_man_verb,
};

const struct cli_verb *const *cli_verbs(uint32_t *ret_count)
{
    *ret_count = MYR_ARRAY_COUNT(verbs);
    return verbs;
}

/* As in dispatch.c: more than there are, and asserted. */
enum { VERBS_MAX = 96 };

/* Rows of all that can be run, in the order of the table. */
static uint32_t all_commands(const struct myr_command *ret[VERBS_MAX])
{
    const uint32_t count = MYR_ARRAY_COUNT(verbs);
    uint32_t used = 0;
    MYR_ASSERT(count <= VERBS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        /* A verb that is nothing by itself shows in its sub-verbs. */
        if (verbs[i]->run) {
            ret[used++] = verbs[i]->row;
        }
    }
    return used;
}

static const char *const shells[] = {"bash", "zsh", "fish"};

/* The words of shells[], for completion. */
static void put_shells(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "bash zsh fish");
}

static const struct myr_command completion_command = {
    .name = "completion",
    .operands = "SHELL",
    .summary = "print a completion script for bash, zsh or fish",
    .example = "myriad completion bash > ~/.local/share/bash-completion/completions/myriad",
    .operand_min = 1,
    .operand_max = 1,
    .words = put_shells,
};

static int run_completion(struct cli *cli, struct myr_err *err)
{
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(shells); i++) {
        if (strcmp(cli->operands.items[0], shells[i]) == 0) {
            const struct myr_command *commands[VERBS_MAX];
            uint32_t count = all_commands(commands);
            myr_option_completion((enum myr_shell)i, "myriad", commands, count, &cli->document);
            return MYR_OK;
        }
    }
    return myr_err_set(err, MYR_EINVAL, "unknown shell '%.40s'; bash, zsh or fish is expected",
                       cli->operands.items[0]);
}

const struct cli_verb cli_completion_verb = {&completion_command, run_completion,
                                             .group = CLI_PROGRAM_GROUP};

static const struct commands_options {
    char none; /* it has no options of its own */
} commands_defaults;

static const struct myr_command commands_command = {
    .name = "commands",
    .operands = "",
    .summary = "list every verb with its options and variables, for programs",
    .example = "myriad commands -o json",
    .defaults = &commands_defaults,
    .values_bytes = sizeof(commands_defaults),
    .common = &cli_common_table,
};

static int run_commands(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {MYR_COLUMN("name", "COMMAND", 0),
                                                       MYR_COLUMN("operands", "OPERANDS", 0),
                                                       MYR_COLUMN("summary", "WHAT IT DOES", 0)};
    (void)err;
    const struct myr_command *commands[VERBS_MAX];
    uint32_t count = all_commands(commands);
    struct myr_value *list = myr_answer_list(&cli->answer, "commands");
    for (uint32_t i = 0; i < count; i++) {
        myr_option_describe(commands[i], &cli->answer);
    }
    myr_answer_end(&cli->answer);
    myr_answer_table(&cli->answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(&cli->answer, list);
    return MYR_OK;
}

const struct cli_verb cli_commands_verb = {&commands_command, run_commands,
                                           .group = CLI_PROGRAM_GROUP};

/*
 * The manual has one page for the program and one for each verb, with its sub-verbs: what --help
 * says, where people look for it. The build renders all of them.
 */
struct man_options {
    bool list;
};
static const struct man_options man_defaults = {};

static const struct myr_option man_rows[] = {
    CLI_FLAG("list", struct man_options, list, "print the names of all pages instead"),
};

/* Verbs that have a page: those with a group, which sub-verbs do not have. */
static void put_verbs(struct myr_buf *buf)
{
    const uint32_t count = MYR_ARRAY_COUNT(verbs);
    for (uint32_t i = 0; i < count; i++) {
        if (verbs[i]->group) {
            myr_buf_printf(buf, "%s%s", i > 0 ? " " : "", verbs[i]->row->name);
        }
    }
}

static const struct myr_command man_command = {
    .name = "man",
    .operands = "[VERB]",
    .summary = "print a page of the manual in scdoc's format",
    .details = "Without a verb, the page of the program, myriad(1); with one, the page of that "
               "verb, such as myriad-plan(1). An installation has all of them rendered.",
    .example = "myriad man plan | scdoc | man -l -",
    .operand_max = 1,
    .options = man_rows,
    .option_count = MYR_ARRAY_COUNT(man_rows),
    .defaults = &man_defaults,
    .values_bytes = sizeof(man_defaults),
    .words = put_verbs,
};

/* The same on every page, and in docs/command.md. */
static void put_exit_status(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "# EXIT STATUS\n\n"
                         "*0*\n\tDone.\n\n"
                         "*1*\n\tThe answer is no: it does not fit, is not as planned, breaks a "
                         "rule.\n\n"
                         "*2*\n\tThe command line or a file is wrong; nothing was written.\n\n"
                         "*3*\n\tThe environment failed: a file could not be written, memory ran "
                         "out.\n\n"
                         "*130*\n\tInterrupted.\n\n");
}

/* myriad(1), from the table: a verb cannot be forgotten here. */
static void put_program(struct myr_buf *buf)
{
    const uint32_t count = MYR_ARRAY_COUNT(verbs);
    myr_buf_put_lit(
        buf, "myriad(1)\n\n# NAME\n\nmyriad - design, prove and schedule training clusters\n\n"
             "# SYNOPSIS\n\n*myriad* _verb_ [options]\n\n"
             "# FIRST STEPS\n\n```\nmyriad plan examples/h100-64.yaml\n"
             "myriad plan examples/h100-64.yaml --out out/h100-64\n"
             "myriad design out/h100-64/design.myr\n```\n\n"
             "# VERBS\n\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *command = verbs[i]->row;
        if (verbs[i]->group) {
            myr_buf_printf(buf, "*myriad-%s*(1)\n\t", command->name);
            myr_option_man_text(command->summary, buf);
            myr_buf_put_lit(buf, "\n\n");
        }
    }
    put_exit_status(buf);
    myr_buf_put_lit(
        buf, "# ENVIRONMENT\n\n"
             "Each option has a variable, MYRIAD\\_VERB\\_OPTION (MYRIAD\\_FIT\\_CURVE\\_GPUS for "
             "*myriad fit curve --gpus*), used where the option is not given. For all verbs: "
             "*MYRIAD\\_OUTPUT*, *MYRIAD\\_COLOR*, *MYRIAD\\_TIMING*, *MYRIAD\\_EXCEL*; for those "
             "that ask a server: *MYRIAD\\_SERVER*, *MYRIAD\\_TOKEN\\_FILE*, *MYRIAD\\_CA*, "
             "*MYRIAD\\_DIR*. "
             "*NO\\_COLOR* and *COLUMNS* are heeded.\n");
}

/* The verb itself and its sub-verbs, each with its own options. */
static void put_verb(const struct myr_command *verb, bool runs, struct myr_buf *buf)
{
    myr_buf_printf(buf, "myriad-%s(1)\n\n# NAME\n\nmyriad-%s - ", verb->name, verb->name);
    myr_option_man_text(verb->summary, buf);
    myr_buf_put_lit(buf, "\n\n# COMMANDS\n\n");
    if (runs) {
        myr_option_man(verb, buf);
    }
    for (uint32_t i = 0; i < verb->subcommand_count; i++) {
        myr_option_man(verb->subcommands[i], buf);
    }
    put_exit_status(buf);
    myr_buf_put_lit(buf, "# SEE ALSO\n\n*myriad*(1)\n");
}

/* One page, or with --list the names of all: the build asks for those and then for each. */
static int run_man(struct cli *cli, struct myr_err *err)
{
    const struct man_options *options = cli->options;
    const uint32_t count = MYR_ARRAY_COUNT(verbs);
    struct myr_buf *buf = &cli->document;
    const char *word = cli->operands.count > 0 ? cli->operands.items[0] : NULL;
    if (options->list) {
        myr_buf_put_lit(buf, "myriad\n");
    } else if (!word) {
        put_program(buf);
        return MYR_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_command *command = verbs[i]->row;
        if (!verbs[i]->group) {
            continue;
        }
        if (options->list) {
            myr_buf_printf(buf, "myriad-%s\n", command->name);
        } else if (strcmp(word, command->name) == 0) {
            put_verb(command, verbs[i]->run, buf);
            return MYR_OK;
        }
    }
    if (options->list) {
        return MYR_OK;
    }
    int rc = myr_err_set(err, MYR_EINVAL, "no verb '%.40s', so no page about it", word);
    myr_err_hint(err, "myriad --help");
    return rc;
}

const struct cli_verb cli_man_verb = {&man_command, run_man, .group = CLI_PROGRAM_GROUP};
