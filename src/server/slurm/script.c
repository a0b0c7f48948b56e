/*
 * script: a gang as a batch script, and the words of the sbatch that submits it.
 *
 * The script holds all that its ranks need, so that nodes read nothing from the server. Two marks
 * in the gang's folder make a start single: 'started' is a link that only one job of Slurm's can
 * make, whatever was submitted twice when an answer was lost; 'stopped' is written before a gang is
 * given up, and what is started after it ends at once. 'exit' holds the code of ranks that ended by
 * themselves: a script that was told to end writes none, whatever its ranks made of it.
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurm/slurm.h"

/*
 * A controller that was started anew refuses steps ("memory is not available") until it has heard
 * the nodes: a minute is left to it.
 */
enum { WORDS_MAX = 96, SRUN_TRIES = 30, SRUN_PAUSE_S = 2 };

/* What a shell takes for exactly this text. */
static void put_quoted(struct myr_buf *to, struct myr_str text)
{
    myr_buf_putc(to, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'') {
            myr_buf_puts(to, "'\\''");
        } else {
            myr_buf_putc(to, text.data[i]);
        }
    }
    myr_buf_putc(to, '\'');
}

/* A variable as a shell sets it: NAME='value'. */
static void put_export(struct myr_buf *to, const char *word)
{
    const char *value = strchr(word, '=') + 1;
    myr_buf_printf(to, "export %.*s", (int)(value - word), word);
    put_quoted(to, myr_str_from(value));
    myr_buf_putc(to, '\n');
}

static bool is_path(const char *word)
{
    return strncmp(word, "PATH=", 5) == 0;
}

/* Before our own variables, which win. PATH is the ranks': the script needs Slurm's commands. */
static void put_env(const struct myr_jobfile *job, struct myr_buf *to)
{
    for (uint32_t i = 0; i < job->env.count; i++) {
        if (!is_path(job->env.words[i])) {
            put_export(to, job->env.words[i]);
        }
    }
}

/* For the ranks and the user's steps alone. */
static void put_path(const struct myr_jobfile *job, struct myr_buf *to)
{
    for (uint32_t i = 0; i < job->env.count; i++) {
        if (is_path(job->env.words[i])) {
            put_export(to, job->env.words[i]);
        }
    }
}

/* The words that a rank becomes. */
static void put_command(const struct myr_job_command *command, struct myr_buf *to)
{
    if (command->shell) {
        myr_buf_puts(to, "/bin/sh -c ");
    }
    for (uint32_t i = command->shell ? 2 : 0; i < command->count; i++) {
        myr_buf_puts(to, i && !command->shell ? " " : "");
        put_quoted(to, myr_str_from(command->argv[i]));
    }
    myr_buf_putc(to, '\n');
}

/* In place of the shell, so that signals reach the rank itself. */
static void put_image(const char *image, struct myr_buf *to)
{
    if (!image) {
        myr_buf_puts(to, "exec ");
        return;
    }
    myr_buf_puts(to, "run=$(command -v apptainer || command -v singularity) || {\n"
                     "  echo 'myriad: this node has no apptainer for the image' >&2; exit 125; }\n"
                     "exec \"$run\" exec --nv ");
    put_quoted(to, myr_str_from(image));
    myr_buf_putc(to, ' ');
}

static uint32_t gpus_of(const struct myr_control_rank *share)
{
    return (uint32_t)__builtin_popcountll(share->gpus);
}

/* As many GPUs on every node; 0: they differ. */
static uint32_t equal_gpus(const struct engine_gang *gang)
{
    uint32_t each = gpus_of(&gang->shares[0]);
    for (uint32_t i = 1; i < gang->count; i++) {
        each = gpus_of(&gang->shares[i]) == each ? each : 0;
    }
    return each;
}

/* From the rank alone: Slurm numbers nodes as it likes, not in the order of the ranks. */
static void put_place(const struct engine_gang *gang, struct myr_buf *to)
{
    uint32_t each = equal_gpus(gang);
    myr_buf_printf(to,
                   "RANK=$SLURM_PROCID\n"
                   "NODE_RANK=$((RANK / %u)) LOCAL_RANK=$((RANK %% %u)) LOCAL_WORLD_SIZE=%u\n",
                   each, each, each);
    myr_buf_puts(to, "GROUP_RANK=$NODE_RANK ROLE_RANK=$RANK\n"
                     "export RANK NODE_RANK LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK ROLE_RANK\n");
}

/* What is the same for all ranks; the rest each works out for itself. */
static void put_shared(const struct server *server, const struct engine_gang *gang,
                       const char *checkpoint, struct myr_buf *to)
{
    /* Rank 0 is there, and the others meet at its port. */
    const char *first = server->rows.nodes[gang->shares[0].node].name;
    /* Slurm knows where a node is, whatever its name means to others. */
    myr_buf_printf(
        to,
        "MASTER_ADDR=$(scontrol show node -o %s | sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p')\n"
        "export MASTER_ADDR=${MASTER_ADDR:-%s} MASTER_PORT=%u\n",
        first, first, gang->port);
    myr_buf_printf(to, "export WORLD_SIZE=%u ROLE_WORLD_SIZE=%u GROUP_WORLD_SIZE=%u\n", gang->world,
                   gang->world, gang->count);
    myr_buf_printf(to, "export TORCHELASTIC_RESTART_COUNT=%u TORCHELASTIC_RUN_ID=%u\n",
                   gang->epoch > 0 ? gang->epoch - 1 : 0, gang->job);
    myr_buf_printf(to, "export MYRIAD_JOB=%u MYRIAD_EPOCH=%u MYRIAD_INCARNATION=%u.%u\n", gang->job,
                   gang->epoch, gang->job, gang->epoch);
    if (gang->row->array_index) {
        myr_buf_printf(to, "export MYRIAD_ARRAY_INDEX=%u\n", gang->row->array_index - 1);
    }
    if (checkpoint) {
        myr_buf_puts(to, "export MYRIAD_CHECKPOINT_DIR=");
        put_quoted(to, myr_str_from(checkpoint));
        myr_buf_putc(to, '\n');
    }
}

/* A text of the user's on each node, before the ranks or after them; NULL: there is none. */
static void put_step(const struct engine_gang *gang, const struct myr_jobfile *job,
                     const char *step, struct myr_buf *to)
{
    bool before = step == job->prolog;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (!step) {
        return;
    }
    put_path(job, &text);
    myr_buf_puts(&text, step);
    myr_buf_printf(to,
                   "srun --nodes=%u --ntasks=%u --ntasks-per-node=1 --export=ALL --cpu-bind=none "
                   "--mpi=none --output=\"$myriad_dir/%s.log\" /bin/sh -c ",
                   gang->count, gang->count, before ? "prolog" : "epilog");
    put_quoted(to, (struct myr_str){text.data, text.len});
    myr_buf_puts(to, before ? " || {\n"
                              "  myriad_code=$?\n"
                              "  [ \"$myriad_told\" ] || echo $myriad_code > \"$myriad_dir/exit\"\n"
                              "  exit 1; }\n"
                            : " || :\n");
}

/* Between marks that no line of the user's is, whatever the command holds. */
static void put_rank(const struct engine_gang *gang, const struct myr_jobfile *job,
                     struct myr_buf *to)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}, mark = {};
    put_place(gang, &text);
    put_path(job, &text);
    put_image(job->image, &text);
    put_command(&job->command, &text);
    myr_buf_puts(&mark, "END_OF_RANK_OF_MYRIAD");
    while (strstr(text.data, mark.data)) {
        myr_buf_putc(&mark, '_');
    }
    myr_buf_printf(to, "cat > \"$myriad_dir/rank\" <<'%s'\n%s%s\n", mark.data, text.data,
                   mark.data);
}

/* The order of the lines is that of the ranks: srun takes it by --distribution=arbitrary. */
static void put_hosts(const struct server *server, const struct engine_gang *gang,
                      struct myr_buf *to)
{
    myr_buf_puts(to, "cat > \"$myriad_dir/hosts\" <<'END'\n");
    for (uint32_t i = 0; i < gang->count; i++) {
        for (uint32_t g = 0; g < gpus_of(&gang->shares[i]); g++) { /* a line a rank */
            myr_buf_printf(to, "%s\n", server->rows.nodes[gang->shares[i].node].name);
        }
    }
    myr_buf_puts(to, "END\n");
}

/*
 * Ranks are begun once. srun needs the controller for that: where it was away just then, and no
 * rank has begun, that is waited for and no failure of the job's.
 */
static void put_ranks(const struct engine_gang *gang, struct myr_buf *to)
{
    myr_buf_printf(to,
                   "myriad_tries=0\n"
                   "while :; do\n"
                   "  SLURM_HOSTFILE=\"$myriad_dir/hosts\" srun --nodes=%u --ntasks=%u "
                   "--distribution=arbitrary \\\n"
                   "    --kill-on-bad-exit=1 --export=ALL --cpu-bind=none --mpi=none "
                   "--unbuffered \\\n"
                   "    --output=\"$myriad_dir/rank-%%t.log\" /bin/sh \"$myriad_dir/rank\"\n"
                   "  myriad_code=$?\n"
                   "  [ \"$myriad_told\" ] && exit 143\n"
                   "  grep -q '^srun: error: Node failure' \"$myriad_dir/batch.log\" && exit 1\n",
                   gang->count, gang->world);
    myr_buf_printf(to,
                   "  { [ $myriad_code -eq 0 ] || [ -e \"$myriad_dir/rank-0.log\" ]; } && break\n"
                   "  case $(scontrol ping 2>&1) in\n"
                   "  *DOWN*) ;;\n"
                   "  *) myriad_tries=$((myriad_tries + 1)) ;;\n"
                   "  esac\n"
                   "  [ $myriad_tries -lt %d ] || break\n"
                   "  sleep %d\n"
                   "  [ \"$myriad_told\" ] && exit 143\n"
                   "done\n",
                   SRUN_TRIES, SRUN_PAUSE_S);
}

/* The parts in the order in which they run. What a user wrote is quoted or stands between marks. */
static void put_script(const struct server *server, const struct engine_gang *gang,
                       const struct myr_jobfile *job, const char *folder, struct myr_buf *to)
{
    myr_buf_printf(to, "#!/bin/sh\n# job %u of Myriad, incarnation %u\nmyriad_dir=", gang->job,
                   gang->epoch);
    put_quoted(to, myr_str_from(folder));
    myr_buf_puts(to, "\n"
                     "[ -e \"$myriad_dir/stopped\" ] && exit 0\n"
                     "ln -s \"$SLURM_JOB_ID\" \"$myriad_dir/started\" 2> /dev/null ||\n"
                     "  [ \"$(readlink \"$myriad_dir/started\")\" = \"$SLURM_JOB_ID\" ] || exit 0\n"
                     "myriad_told=; trap myriad_told=1 TERM\n"
                     "USER=$(id -un) LOGNAME=$(id -un)\n"
                     "HOME=$(getent passwd \"$USER\" | cut -d: -f6)\n"
                     "export USER LOGNAME HOME\n");
    put_env(job, to);
    put_shared(server, gang, job->checkpoint, to);
    put_hosts(server, gang, to);
    myr_buf_puts(to, "cd ");
    put_quoted(to, myr_str_from(job->directory ? job->directory : "/"));
    myr_buf_puts(to, " || { echo 126 > \"$myriad_dir/exit\"; exit 126; }\n");
    put_step(gang, job, job->prolog, to);
    put_rank(gang, job, to);
    put_ranks(gang, to);
    put_step(gang, job, job->epilog, to);
    myr_buf_puts(to, "echo $myriad_code > \"$myriad_dir/exit\"\nexit $myriad_code\n");
}

/* --- the words of sbatch --- */

/* Copies in the script's arena, in room for WORDS_MAX and the NULL behind them. */
struct words {
    struct script *script;
    uint32_t count;
};

MYR_PRINTF(2, 3)
static void word(struct words *words, const char *fmt, ...)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    MYR_ASSERT(words->count < WORDS_MAX - 1 && len >= 0);
    myr_buf_reserve(&text, (size_t)len + 1);
    va_start(args, fmt);
    vsnprintf(text.data, (size_t)len + 1, fmt, args);
    va_end(args);
    words->script->argv[words->count++] =
        myr_arena_strndup(&words->script->arena, text.data, (size_t)len);
}

/* Names in rank order; neighbours that count up by one are folded: n[001-016]. */
static void put_names(const struct server *server, const struct engine_gang *gang,
                      struct myr_buf *to)
{
    for (uint32_t i = 0; i < gang->count;) {
        const char *name = server->rows.nodes[gang->shares[i].node].name;
        size_t len = strlen(name), digits = 0;
        while (digits < len && digits < 18 && name[len - digits - 1] >= '0' &&
               name[len - digits - 1] <= '9') {
            digits++;
        }
        uint64_t first = 0;
        bool counts = myr_str_to_u64((struct myr_str){name + len - digits, digits}, &first);
        uint64_t last = first;
        uint32_t next = i + 1;
        char wanted[SERVER_NAME + 24];
        for (; counts && next < gang->count; next++, last++) {
            snprintf(wanted, sizeof(wanted), "%.*s%0*llu", (int)(len - digits), name, (int)digits,
                     (unsigned long long)(last + 1));
            if (strcmp(wanted, server->rows.nodes[gang->shares[next].node].name) != 0) {
                break;
            }
        }
        myr_buf_puts(to, i ? "," : "");
        if (last == first) {
            myr_buf_puts(to, name);
        } else {
            myr_buf_printf(to, "%.*s[%0*llu-%0*llu]", (int)(len - digits), name, (int)digits,
                           (unsigned long long)first, (int)digits, (unsigned long long)last);
        }
        i = next;
    }
}

/* Whole nodes are had alone; parts of them with their share of cores and memory. */
static void put_size(const struct server *server, const struct engine_gang *gang,
                     const struct script_place *place, struct words *words)
{
    uint32_t each = equal_gpus(gang), all = server->config.gpus_per_node;
    word(words, "--nodes=%u", gang->count);
    word(words, "--ntasks=%u", gang->world);
    if (each == all) {
        /* Nobody else's job shares the node, whatever the partition allows. */
        word(words, "--exclusive");
        word(words, "--mem=0");
    } else {
        /* A GPU's share of the node, so that the others' can be had by others. */
        uint64_t cpus = place->node_cpus / all, memory = place->node_memory_mb / all;
        word(words, "--cpus-per-task=%llu", (unsigned long long)(cpus ? cpus : 1));
        word(words, "--mem-per-cpu=%llu",
             (unsigned long long)(cpus ? memory / cpus : memory) > 0
                 ? (unsigned long long)(cpus ? memory / cpus : memory)
                 : 1ULL);
    }
    if (place->gpus_known) {
        word(words, "--gres=gpu:%u", each);
    }
}

/* Further words of the operator's, behind ours. */
static void put_options(const struct config *config, struct words *words)
{
    const char *at = config->slurm.options;
    while (*(at += strspn(at, " ")) && words->count < WORDS_MAX - 8) {
        size_t len = strcspn(at, " ");
        word(words, "%.*s", (int)len, at);
        at += len;
    }
}

/* Never requeued: Slurm would start it where it likes, and the core places it anew itself. */
static void put_words(const struct server *server, const struct engine_gang *gang,
                      const struct script_place *place, const char *folder, struct script *script)
{
    struct words words = {.script = script};
    const struct slurm_config *config = &server->config.slurm;
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    put_names(server, gang, &names);
    word(&words, "sbatch");
    word(&words, "--parsable");
    word(&words, "--no-requeue");
    /* Nothing else of the server's environment reaches a job. */
    word(&words, "--export=PATH");
    word(&words, "--job-name=%s", gang->row->name);
    word(&words, "--comment=%s", place->comment);
    word(&words, "--nodelist=%s", names.data);
    put_size(server, gang, place, &words);
    word(&words, "--chdir=/");
    word(&words, "--output=%s/batch.log", folder);
    if (config->partition[0]) {
        word(&words, "--partition=%s", config->partition);
    }
    if (place->account) {
        word(&words, "--account=%s", place->account);
    }
    if (gang->row->time_limit_s > 0) { /* Myriad ends it in time; Slurm's limit is behind that */
        word(&words, "--time=%lld", (long long)(gang->row->time_limit_s + 59) / 60 + 2);
    }
    if (place->as_root) {
        word(&words, "--uid=%s", gang->row->unix_user);
    }
    put_options(&server->config, &words);
    script->argv[words.count] = NULL;
}

void script_folder(const char *spool, uint32_t job, uint32_t epoch, char *ret, size_t size)
{
    snprintf(ret, size, "%s/%u.%u", spool, job, epoch);
}

/* On failure there is nothing for script_done() to free. */
int script_make(const struct server *server, const struct engine_gang *gang,
                const struct script_place *place, struct script *ret, struct myr_err *err)
{
    char folder[1024];
    MYR_ASSERT(gang->count > 0 && gang->row->file);
    /* The rank alone tells node and place, which takes as many on each. */
    if (equal_gpus(gang) == 0) {
        return myr_err_set(err, MYR_ERANGE,
                           "Slurm gives each node of a job as many GPUs; the free ones lie apart");
    }
    *ret = (struct script){};
    script_folder(place->spool, gang->job, gang->epoch, folder, sizeof(folder));
    ret->argv = MYR_ARENA_NEW(&ret->arena, const char *, WORDS_MAX);
    struct myr_jobfile job;
    int rc = myr_jobfile_read(&ret->arena, MYR_JOBFILE_TAKEN("job"), myr_str_from(gang->row->file),
                              &job, err);
    if (rc < 0) {
        script_done(ret);
        return rc;
    }
    put_script(server, gang, &job, folder, &ret->text);
    put_words(server, gang, place, folder, ret);
    return MYR_OK;
}

void script_done(struct script *script)
{
    myr_arena_done(&script->arena);
    myr_buf_done(&script->text);
}
