#include "launch_script.h"
#include "myriad/text/amount.h"

/*
 * The script around a trainer: hosts in the order of ranks, files, variables, and the command of
 * the launcher. It is plain bash; all that comes from the user is quoted.
 */

/* As --for takes them. */
const char *myr_launcher_name(enum myr_launcher launcher)
{
    static const char *const names[] = {"torchrun", "srun", "sbatch", "submit"};
    return names[launcher];
}

/* A comment is one line, whatever is in it. */
static void put_comment(struct myr_buf *buf, const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
    for (const char *at = text; *at; at++) {
        myr_buf_putc(&line, (unsigned char)*at < ' ' || *at == 127 ? '?' : *at);
    }
    myr_buf_put_lit(buf, "# ");
    launch_put_words(buf, (struct myr_str){line.data, line.len}, LAUNCH_WIDTH, "", "#   ");
}

/* Notes stand at the top, where nobody misses what the script cannot do. */
static void put_head(const struct myr_launch *l, const struct myr_launch_run *run,
                     struct myr_buf *buf)
{
    for (uint32_t i = 0; i < run->head_count; i++) {
        put_comment(buf, run->head[i]);
    }
    if (l->note_count > 0) {
        myr_buf_put_lit(buf, "# Not by an argument, or otherwise than predicted:\n");
    }
    for (uint32_t i = 0; i < l->note_count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf note = {};
        myr_buf_printf(&note, "- %s", l->notes[i]);
        put_comment(buf, note.data);
    }
}

/* Lines of a command that goes on: words wrapped, the last line open. */
static void put_command(struct myr_buf *buf, const struct myr_buf *words)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf lines = {};
    launch_put_words(&lines, (struct myr_str){words->data, words->len}, LAUNCH_WIDTH_INSIDE, " \\",
                     "    ");
    myr_buf_put_lit(buf, "    ");
    myr_buf_put(buf, lines.data, lines.len - 1); /* without its last end of line */
}

/* Quoted, so that the shell changes nothing in it. */
static void put_document(struct myr_buf *buf, const char *name, const struct myr_buf *text)
{
    myr_buf_printf(buf, "cat > \"$files/%s\" <<'END-OF-FILE'\n", name);
    myr_buf_put(buf, text->data, text->len);
    if (text->len == 0 || text->data[text->len - 1] != '\n') {
        myr_buf_putc(buf, '\n');
    }
    myr_buf_put_lit(buf, "END-OF-FILE\n");
}

/*
 * What the trainer reads beside its command; the folder is gone when the shell is. Where one shell
 * starts the tasks of all nodes it lies where they can see it.
 */
static void put_files(const struct myr_launch *l, const struct myr_launch_case *of,
                      const struct myr_launch_run *run, bool shared, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    /* All of it is in the command. */
    if (l->trainer == MYR_TRAINER_MEGATRON) {
        return;
    }
    myr_buf_printf(buf, "\nfiles=$(mktemp -d%s)\ntrap 'rm -r \"$files\"' EXIT\n",
                   shared ? " -p \"${SLURM_SUBMIT_DIR:-$PWD}\"" : "");
    switch (l->trainer) {
    case MYR_TRAINER_DEEPSPEED:
        launch_put_json(l->config, l->config_count, &text);
        put_document(buf, "deepspeed.json", &text);
        break;
    case MYR_TRAINER_TORCHTITAN:
        launch_put_toml(l, of, run, &text);
        put_document(buf, "run.toml", &text);
        myr_buf_clear(&text);
        launch_put_flavour(of, &text);
        put_document(buf, "myriad_flavour.py", &text);
        /* The trainer imports the flavour by its name. */
        myr_buf_put_lit(buf, "export PYTHONPATH=\"$files${PYTHONPATH:+:$PYTHONPATH}\"\n");
        break;
    case MYR_TRAINER_BRIDGE:
        launch_put_recipe(l, of, run, &text);
        put_document(buf, "recipe.py", &text);
        break;
    case MYR_TRAINER_MEGATRON:
    case MYR_TRAINER_COUNT:
        break;
    }
}

/* The program with its arguments, axes, model and run each on lines of their own; ends without an
 * end of line. */
static void put_program(const struct myr_launch *l, const struct myr_launch_case *of,
                        const struct myr_launch_run *run, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    if (l->trainer == MYR_TRAINER_TORCHTITAN) {
        myr_buf_put_lit(buf, "    -m torchtitan.train --job.config_file \"$files/run.toml\"");
        return;
    }
    if (l->trainer == MYR_TRAINER_BRIDGE) {
        myr_buf_put_lit(buf, "    \"$files/recipe.py\"");
        return;
    }
    /* Where the axes end and the model begins. */
    const uint32_t split = l->model_first;
    myr_buf_put_lit(buf, "    pretrain_gpt.py \\\n");
    if (l->trainer == MYR_TRAINER_DEEPSPEED) {
        myr_buf_put_lit(buf, "    --deepspeed --deepspeed_config \"$files/deepspeed.json\" \\\n");
    }
    launch_put_items(l->items, split, &words);
    put_command(buf, &words);
    myr_buf_put_lit(buf, " \\\n");
    myr_buf_clear(&words);
    launch_put_items(l->items + split, l->item_count - split, &words);
    put_command(buf, &words);
    myr_buf_put_lit(buf, " \\\n");
    myr_buf_clear(&words);
    launch_put_run(l, of, run, &words);
    put_command(buf, &words);
}

static void put_variables(const struct myr_launch *l, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < l->variable_count; i++) {
        myr_buf_printf(buf, "export %s=", l->variables[i].name);
        myr_launch_quote(buf, myr_str_from(l->variables[i].value));
        myr_buf_putc(buf, '\n');
    }
}

/* Into the trainer's folder, where its programs are. */
static void put_place(const struct myr_launch_run *run, struct myr_buf *buf)
{
    if (run->code) {
        myr_buf_put_lit(buf, "cd ");
        myr_launch_quote(buf, myr_str_from(run->code));
        myr_buf_putc(buf, '\n');
    }
}

/* Known hosts, or whoever runs the script says them. */
static void put_hosts(const struct myr_launch_run *run, bool slurm, struct myr_buf *buf)
{
    if (run->hosts) {
        myr_buf_put_lit(buf, "\n# Hosts in the order of ranks.\nhosts=(\n");
        for (uint32_t i = 0; i < run->node_count; i++) {
            myr_buf_put_lit(buf, "    ");
            myr_launch_quote(buf, myr_str_from(run->hosts[i]));
            myr_buf_putc(buf, '\n');
        }
        myr_buf_put_lit(buf, ")\n");
    } else if (slurm) {
        myr_buf_put_lit(buf, "\n# No design was given: hosts in Slurm's own order.\n"
                             "mapfile -t hosts < <(scontrol show hostnames "
                             "\"$SLURM_JOB_NODELIST\")\n");
    } else if (run->node_count == 1) {
        myr_buf_put_lit(buf, "\nhosts=(localhost)\n");
    } else {
        myr_buf_printf(buf,
                       "\n# No design was given: HOSTS has the %u hosts in the order of ranks.\n"
                       "read -r -a hosts <<< \"${HOSTS:?%u hosts in the order of ranks}\"\n",
                       run->node_count, run->node_count);
    }
    /* A wrong number of hosts is found before anything is started. */
    myr_buf_printf(buf,
                   "if [[ ${#hosts[@]} -ne %u ]]; then\n"
                   "    echo \"%s expected, not ${#hosts[@]}\" >&2\n    exit 2\nfi\n",
                   run->node_count, MYR_COUNT(run->node_count, "host"));
}

/* One script for all hosts: it sends itself through ssh, and each copy knows its rank. */
static void put_torchrun(const struct myr_launch *l, const struct myr_launch_case *of,
                         const struct myr_launch_run *run, struct myr_buf *buf)
{
    put_hosts(run, false, buf);
    if (run->node_count > 1) {
        myr_buf_put_lit(buf, "\n# Without a rank of its own it starts itself on every host.\n"
                             "if [[ -z ${NODE_RANK:-} ]]; then\n"
                             "    runs=()\n"
                             "    for i in \"${!hosts[@]}\"; do\n"
                             "        there=\"NODE_RANK=$i MASTER_PORT=${MASTER_PORT:-29500}\"\n");
        if (!run->hosts) { /* the copies have no environment of whoever started this one */
            myr_buf_put_lit(buf, "        there+=\" HOSTS=$(printf '%q' \"${hosts[*]}\")\"\n");
        }
        myr_buf_put_lit(buf, ""
                             "        ssh -o BatchMode=yes \"${hosts[i]}\" \"$there bash -s\" "
                             "< \"$0\" &\n"
                             "        runs+=($!)\n"
                             "    done\n"
                             "    failed=0\n"
                             "    for run in \"${runs[@]}\"; do\n"
                             "        wait \"$run\" || failed=1\n"
                             "    done\n"
                             "    exit \"$failed\"\n"
                             "fi\n");
    }
    put_files(l, of, run, false, buf);
    myr_buf_putc(buf, '\n');
    put_variables(l, buf);
    put_place(run, buf);
    /* The first host is where all ranks meet. */
    myr_buf_printf(buf,
                   "torchrun --nnodes %u --nproc-per-node %u --node-rank \"${NODE_RANK:-0}\" \\\n"
                   "    --master-addr \"${hosts[0]}\" --master-port \"${MASTER_PORT:-29500}\" "
                   "\\\n",
                   run->node_count, run->gpus_per_node);
    put_program(l, of, run, buf);
    myr_buf_putc(buf, '\n');
}

/* One task a node, in the order of the host file; each starts torchrun with its own number. */
static void put_srun(const struct myr_launch *l, const struct myr_launch_case *of,
                     const struct myr_launch_run *run, struct myr_buf *buf)
{
    put_hosts(run, true, buf);
    put_files(l, of, run, true, buf);
    myr_buf_putc(buf, '\n');
    put_variables(l, buf);
    put_place(run, buf);
    /* Slurm keeps the order of a host file only with an arbitrary distribution. */
    if (run->hosts) {
        myr_buf_put_lit(buf, "SLURM_HOSTFILE=$(mktemp)\nexport SLURM_HOSTFILE\n"
                             "printf '%s\\n' \"${hosts[@]}\" > \"$SLURM_HOSTFILE\"\n");
    }
    myr_buf_put_lit(buf, "export MASTER_ADDR=\"${hosts[0]}\" MASTER_PORT=\"${MASTER_PORT:-29500}\""
                         "\n");
    /* One task that fails ends all: ranks would wait for it forever. */
    myr_buf_printf(buf,
                   "srun --nodes=%u --ntasks=%u --gpus-per-node=%u \\\n"
                   "    %s --kill-on-bad-exit=1 \\\n"
                   "    bash -c 'exec torchrun --nnodes %u --nproc-per-node %u \\\n"
                   "        --node-rank \"$SLURM_PROCID\" --master-addr \"$MASTER_ADDR\" \\\n"
                   "        --master-port \"$MASTER_PORT\" \"$@\"' torchrun \\\n",
                   run->node_count, run->node_count, run->gpus_per_node,
                   run->hosts ? "--distribution=arbitrary" : "--ntasks-per-node=1", run->node_count,
                   run->gpus_per_node);
    put_program(l, of, run, buf);
    myr_buf_putc(buf, '\n');
}

/* Names that Slurm takes in a directive, where nothing can be quoted. */
static void put_slurm_name(struct myr_buf *buf, const char *name)
{
    for (const char *at = name; *at; at++) {
        /* The rest of ASCII becomes a dash, for a blank ends the directive; Chinese stays. */
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || *at == '.' || *at == '-' || *at == '_' ||
                     (unsigned char)*at >= 0x80;
        myr_buf_putc(buf, plain ? *at : '-');
    }
}

/* A list of more hosts is too long for a directive: it goes into a file. */
static void put_directives(const struct myr_launch_run *run, struct myr_buf *buf)
{
    enum { NAMED_MAX = 64 };
    myr_buf_put_lit(buf, "#SBATCH --job-name=");
    put_slurm_name(buf, run->name);
    myr_buf_printf(buf,
                   "\n#SBATCH --nodes=%u\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=%u\n"
                   "#SBATCH --exclusive\n",
                   run->node_count, run->gpus_per_node);
    /* Without a design Slurm chooses. */
    if (!run->hosts) {
        return;
    }
    if (run->node_count > NAMED_MAX) {
        myr_buf_put_lit(buf, "# Submit with --nodefile=FILE, the hosts below.\n");
        return;
    }
    myr_buf_put_lit(buf, "#SBATCH --nodelist=");
    for (uint32_t i = 0; i < run->node_count; i++) {
        myr_buf_put(buf, ",", i > 0);
        put_slurm_name(buf, run->hosts[i]);
    }
    myr_buf_putc(buf, '\n');
}

/* Every line two blanks in, as a block of YAML wants it. */
static void put_indented(struct myr_buf *buf, const struct myr_buf *text)
{
    /* Empty lines stay empty: blanks at their end are nobody's. */
    bool start = true;
    for (size_t i = 0; i < text->len; i++) {
        if (start && text->data[i] != '\n') {
            myr_buf_put_lit(buf, "  ");
        }
        myr_buf_putc(buf, text->data[i]);
        start = text->data[i] == '\n';
    }
}

/* One process a GPU, told its rank as torchrun would: the program runs without it. */
static void put_job(const struct myr_launch *l, const struct myr_launch_case *of,
                    const struct myr_launch_run *run, struct myr_buf *buf)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf command = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf layout = {};
    /* Strings in double quotes: YAML reads them as JSON does. */
    myr_buf_put_lit(buf, "name: ");
    launch_put_string(buf, run->name);
    myr_buf_printf(buf, "\ngpus: %u\n", run->node_count * run->gpus_per_node);
    if (run->code) {
        myr_buf_put_lit(buf, "directory: ");
        launch_put_string(buf, run->code);
        myr_buf_putc(buf, '\n');
    }
    if (run->checkpoint) {
        myr_buf_put_lit(buf, "checkpoint: ");
        launch_put_string(buf, run->checkpoint);
        myr_buf_putc(buf, '\n');
    }
    /* Its own log tells the steps, by which progress is seen. */
    myr_buf_put_lit(buf, "retries: 20\nprogress:\n  pattern: 'iteration +([0-9]+)'\n");
    if (l->variable_count > 0) {
        myr_buf_put_lit(buf, "env:\n");
    }
    for (uint32_t i = 0; i < l->variable_count; i++) {
        myr_buf_printf(buf, "  %s: ", l->variables[i].name);
        launch_put_string(buf, l->variables[i].value);
        myr_buf_putc(buf, '\n');
    }
    /* The job file has the layout too, so that the scheduler knows who talks to whom. */
    myr_layout_write(&layout, of->layout);
    myr_buf_put_lit(buf, "layout: |\n");
    put_indented(buf, &layout);
    myr_buf_put_lit(buf, "command: |\n");
    /* A job's command is a text for the plain shell: no bash in it. */
    myr_buf_put_lit(&command, "set -eu\n");
    put_files(l, of, run, false, &command);
    myr_buf_puts(&command,
                 /* Where files have to be removed in the end the shell must outlive the program. */
                 l->trainer == MYR_TRAINER_MEGATRON ? "exec python3 -u \\\n" : "python3 -u \\\n");
    put_program(l, of, run, &command);
    myr_buf_putc(&command, '\n');
    put_indented(buf, &command);
}

/* Directives come right behind the first line: Slurm reads none behind a command. */
void myr_launch_script(const struct myr_launch *launch, const struct myr_launch_case *of,
                       const struct myr_launch_run *run, enum myr_launcher launcher,
                       struct myr_buf *buf)
{
    MYR_ASSERT(of->whole && launch->item_count > 0 && run->node_count > 0 && run->gpus_per_node);
    if (launcher != MYR_LAUNCHER_SUBMIT) {
        myr_buf_put_lit(buf, "#!/usr/bin/env bash\n");
    }
    if (launcher == MYR_LAUNCHER_SBATCH) {
        put_directives(run, buf);
    }
    put_head(launch, run, buf);
    if (launcher == MYR_LAUNCHER_SUBMIT) {
        put_job(launch, of, run, buf);
        return;
    }
    myr_buf_put_lit(buf, "set -euo pipefail\n");
    /* sbatch runs the same lines as srun, below its directives. */
    if (launcher == MYR_LAUNCHER_TORCHRUN) {
        put_torchrun(launch, of, run, buf);
    } else {
        put_srun(launch, of, run, buf);
    }
}
