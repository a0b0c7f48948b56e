/*
 * fit launch: the best layout, or a given one, as a script that starts its training. The search,
 * the nodes and the script are the library's (myr_launch_ask); the answer has the script as a text
 * and its parts as lists, for programs that start it otherwise.
 */
#include "fit/fit.h"
#include "myriad/study.h"

struct options {
    struct cli_case of;
    struct myr_option_list pools;
    uint32_t how, trainer;
    const char *state, *hosts, *name, *code, *data, *tokenizer, *checkpoint, *out;
    uint64_t steps, gpus_per_node;
};

static const struct options defaults = {.of = CLI_CASE_DEFAULTS};

static const char *const launchers[MYR_LAUNCHER_COUNT] = {"torchrun", "srun", "sbatch", "submit"};
/* One in front of the enum's for "as the release". */
static const char *const trainers[MYR_TRAINER_COUNT + 1] = {"release", "megatron-lm", "deepspeed",
                                                            "torchtitan", "megatron-bridge"};

static const struct myr_option rows[] = {
    CLI_CASE_MODEL_ROW(struct options, of),
    CLI_CASE_DEVICE_ROWS(struct options, of),
    CLI_CASE_DESIGN_ROW(struct options, of),
    CLI_COUNT("gpus", struct options, of.gpus, 1, 1 << 24, "how many; the design's when absent"),
    CLI_LIST("pool", "DEVICE:GPUS", struct options, pools,
             "a kind of GPUs among several: the best is started, where mixing does not pay"),
    CLI_CASE_BATCH_ROWS(struct options, of),
    CLI_CASE_LAYOUT_ROW(struct options, of),
    CLI_CASE_AXIS_ROWS(struct options, of),
    CLI_CASE_SCHEDULE_ROW(struct options, of),
    CLI_CHOICE("for", "WORD", struct options, how, launchers, "what starts it"),
    CLI_CHOICE("trainer", "WORD", struct options, trainer, trainers,
               "which trainer; release: the one that --software belongs to"),
    CLI_PATH("state", "FILE", struct options, state,
             "with --design: what runs where, as 'sched place' reads it"),
    CLI_PATH("hosts", "FILE", struct options, hosts,
             "with --design: real names of its nodes, one a line in their order"),
    {CLI_ROW("gpus-per-node", MYR_OPTION_U64, "N", struct options, gpus_per_node,
             "without a design; else 8, or 4 of a rack that is one domain"),
     .min = 1, .max = 64, .against = "design"},
    CLI_TEXT("name", "WORD", struct options, name,
             "of the job of sbatch or submit; the model's when absent"),
    CLI_TEXT("code", "DIR", struct options, code, "the trainer's checkout, on the hosts"),
    CLI_TEXT("data", "PATH", struct options, data,
             "tokens, on the hosts; made-up ones when absent"),
    CLI_TEXT("tokenizer", "PATH", struct options, tokenizer, "on the hosts; none when absent"),
    CLI_TEXT("checkpoint", "DIR", struct options, checkpoint,
             "to save to and start from; nothing is saved when absent"),
    CLI_COUNT("steps", struct options, steps, 1, 1U << 30, "how many; 1000 when absent"),
    CLI_OUTPUT("out", "FILE", struct options, out, "write the script to it, ready to run"),
};

const struct myr_command cli_fit_launch_command = {
    .name = "fit launch",
    .operands = "",
    .summary = "a script that starts the best layout, or a given one",
    .details =
        "The whole of it: the model's arguments, the layout's, every capability that the "
        "prediction counts on, hosts in the order of ranks (from 'sched' on --design), and the "
        "memory's margin. What the trainer cannot be told stands in it as a comment. Exit status "
        "1: no layout fits, no nodes are free, or pools would have to share one job.",
    .example = "myriad fit launch --model llama3-70b --device h100 --gpus 64 --batch 128 "
               "--for sbatch --trainer megatron-lm",
    CLI_OPTIONS(rows, defaults),
};

/* 'items' may be NULL with a count of 0: an empty list. */
static struct myr_value *put_items(struct myr_answer *answer, const char *key,
                                   const struct myr_launch_item *items, uint32_t count)
{
    struct myr_value *list = myr_answer_list(answer, key);
    for (uint32_t i = 0; i < count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", items[i].name);
        myr_answer_text(answer, "value", items[i].value);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* They are the rows of a CSV. */
static void put_arguments(struct myr_answer *answer, const struct myr_launch_item *items,
                          uint32_t count)
{
    myr_answer_rows(answer, put_items(answer, "arguments", items, count));
    myr_answer_header(answer, "name value");
}

/* Empty where no design says which nodes there are. */
static void put_hosts(struct myr_answer *answer, const struct myr_launch_run *run)
{
    myr_answer_list(answer, "hosts");
    for (uint32_t i = 0; run->hosts && i < run->node_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "first_rank", (uint64_t)i * run->gpus_per_node);
        myr_answer_text(answer, "host", run->hosts[i]);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
}

/* What the script rests on: if the run does otherwise, it is this that was wrong. */
static void put_prediction(struct myr_answer *answer, const struct myr_launch_answer *a)
{
    const struct myr_fit_memory *memory = &a->price.memory;
    myr_answer_object(answer, "layout");
    cli_put_layout(answer, &a->layout);
    myr_answer_end(answer);
    myr_answer_double(answer, "step_s", a->price.cost.step_s, 6);
    cli_put_pair(answer, "step_s_interval", a->price.low_s, a->price.high_s, 6);
    myr_answer_double(answer, "memory_gib", memory->total_bytes / 1073741824, 3);
    myr_answer_double(answer, "memory_limit_gib", memory->limit_bytes / 1073741824, 3);
    myr_answer_double(answer, "memory_margin_gib",
                      (memory->limit_bytes - memory->total_bytes) / 1073741824, 3);
    cli_put_chance(answer, memory);
    cli_put_recipe(answer, &a->it.query.it, &a->layout);
}

/* Arguments, settings and variables apart, and the script whole. */
static void put_script(struct myr_answer *answer, const struct myr_launch_answer *a,
                       const struct options *options)
{
    const struct myr_launch *l = &a->launch;
    myr_answer_text(answer, "trainer", myr_trainer_name(a->trainer));
    myr_answer_text(answer, "launcher", launchers[options->how]);
    myr_answer_u64(answer, "nodes", a->run.node_count);
    myr_answer_u64(answer, "gpus_per_node", a->run.gpus_per_node);
    put_prediction(answer, a);
    put_arguments(answer, l->items, l->item_count);
    put_items(answer, "config", l->config, l->config_count);
    put_items(answer, "environment", l->variables, l->variable_count);
    myr_answer_list(answer, "notes");
    for (uint32_t i = 0; i < l->note_count; i++) {
        myr_answer_text(answer, NULL, l->notes[i]);
    }
    myr_answer_end(answer);
    put_hosts(answer, &a->run);
    myr_answer_str(answer, "script", (struct myr_str){a->script.data, a->script.len});
}

/* The keys of put_script() without a script: all keys are always there. */
static void put_nothing(struct myr_answer *answer)
{
    static const char *const keys[] = {"trainer",
                                       "launcher",
                                       "nodes",
                                       "gpus_per_node",
                                       "layout",
                                       "step_s",
                                       "step_s_interval",
                                       "memory_gib",
                                       "memory_limit_gib",
                                       "memory_margin_gib",
                                       "memory_fill",
                                       "memory_probability",
                                       "memory_sure",
                                       "recipe",
                                       "arguments",
                                       "config",
                                       "environment",
                                       "notes",
                                       "hosts",
                                       "script"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (strcmp(keys[i], "arguments") == 0) {
            put_arguments(answer, NULL, 0);
        } else {
            myr_answer_null(answer, keys[i]);
        }
    }
}

/* Choices stand one behind their enum: the first means "as the release". */
static struct myr_launch_question make_question(const struct options *o)
{
    struct myr_launch_question q = {.of = cli_case_question(&o->of),
                                    .trainer = (int)o->trainer - 1,
                                    .launcher = (enum myr_launcher)o->how,
                                    .state = o->state,
                                    .hosts = o->hosts,
                                    .pools = o->pools.items,
                                    .pool_count = o->pools.count};
    q.run = (struct myr_launch_run){.name = o->name,
                                    .code = o->code,
                                    .data = o->data,
                                    .tokenizer = o->tokenizer,
                                    .checkpoint = o->checkpoint,
                                    .steps = o->steps,
                                    .gpus_per_node = (uint32_t)o->gpus_per_node};
    return q;
}

/* Only a queue has names for what it runs. */
static int check_name(const struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    bool queued = options->how == MYR_LAUNCHER_SBATCH || options->how == MYR_LAUNCHER_SUBMIT;
    if (queued || !cli_typed(cli, "name")) {
        return MYR_OK;
    }
    return myr_err_set(err, MYR_EINVAL,
                       "--name is of a job of sbatch or submit and changes nothing for %s",
                       launchers[options->how]);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    MYR_TRY(check_name(cli, err));
    struct myr_launch_question question = make_question(options);
    struct myr_launch_answer *a = MYR_ARENA_ONE(&cli->arena, struct myr_launch_answer);
    int rc = myr_launch_ask(&question, &cli->arena, a, err);
    /* A script is there only with a layout and with nodes for it. */
    bool ready = rc == MYR_OK && a->found && a->placed;
    if (ready && options->out) {
        rc = myr_file_write(options->out, &a->script, err);
    }
    if (rc == MYR_OK) {
        cli_fit_put_found(answer, ready ? NULL : &a->why);
        cli_fit_put_case(answer, &a->it, a->pooled);
        cli->no = !ready;
    }
    if (rc == MYR_OK && ready) {
        put_script(answer, a, options);
        myr_answer_verbatim(answer, (struct myr_str){a->script.data, a->script.len});
        /* Each "no" has its own words: pools that would have to share, no nodes, no layout. */
    } else if (rc == MYR_OK) {
        put_nothing(answer);
        if (a->pooled) {
            myr_answer_para(answer, "%s", a->why.message);
            myr_answer_fact(answer, "hint", "%s", a->why.hint[0] ? a->why.hint : "fewer pools");
        } else if (a->found) { /* a layout, and no nodes for it */
            myr_answer_heading(answer, "Too few nodes are free");
            myr_answer_para(answer, "%s", a->why.message);
        } else {
            cli_fit_show_nothing(answer, &a->why);
        }
    }
    myr_launch_answer_done(a);
    return rc;
}

const struct cli_verb cli_fit_launch_verb = {&cli_fit_launch_command, run, .group = NULL};
