/* start: who a rank runs as, what its environment is, and the way from fork() to its program. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/shim.h"

static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/*
 * Never root, and never anybody else where the agent cannot change: both are refused here, before
 * anything is started.
 */
static int become(const struct passwd *found, struct person *ret, struct myr_err *err)
{
    *ret = (struct person){.uid = found->pw_uid, .gid = found->pw_gid, .change = geteuid() == 0};
    snprintf(ret->name, sizeof(ret->name), "%s", found->pw_name);
    snprintf(ret->home, sizeof(ret->home), "%s", found->pw_dir ? found->pw_dir : "/");
    snprintf(ret->shell, sizeof(ret->shell), "%s", found->pw_shell ? found->pw_shell : "/bin/sh");
    if (ret->change && ret->uid == 0) {
        return myr_err_set(err, MYR_EINVAL, "user '%s' is root: no rank runs as root", ret->name);
    }
    if (!ret->change && ret->uid != geteuid()) {
        return myr_err_set(err, MYR_EINVAL,
                           "user '%s' is not the agent's own, and the agent is not root",
                           ret->name);
    }
    ret->group_count = (int)MYR_ARRAY_COUNT(ret->groups);
    if (getgrouplist(found->pw_name, found->pw_gid, ret->groups, &ret->group_count) < 0) {
        return myr_err_set(err, MYR_ERANGE, "user '%s' is in more than %zu groups", ret->name,
                           MYR_ARRAY_COUNT(ret->groups));
    }
    return MYR_OK;
}

/* As this node knows the name: the controller says whose job it is, not which number that is. */
int person_find(struct myr_str name, struct person *ret, struct myr_err *err)
{
    char text[64];
    struct passwd space;
    struct passwd *found = NULL;
    char memory[16 << 10];
    if (name.len >= sizeof(text) || memchr(name.data, '\0', name.len)) {
        return myr_err_set(err, MYR_EINVAL, "no name of a user");
    }
    snprintf(text, sizeof(text), "%.*s", (int)name.len, name.data);
    /* No name means the agent's own user, which root must not be. */
    if (!text[0] && geteuid() == 0) {
        return myr_err_set(err, MYR_EINVAL, "the job names no Unix user, and none runs as root");
    }
    int rc = text[0] ? getpwnam_r(text, &space, memory, sizeof(memory), &found)
                     : getpwuid_r(geteuid(), &space, memory, sizeof(memory), &found);
    if (rc != 0 || !found) {
        return myr_err_set(err, MYR_ENOENT, "user '%s' is not known on this node", text);
    }
    return become(found, ret, err);
}

/* Only calls that are allowed between fork and exec from here on. */
static MYR_NORETURN void give_up(const struct start *start, const char *what)
{
    char text[128];
    int len = snprintf(text, sizeof(text), "%s: %s\n", what, strerrordesc_np(errno));
    ssize_t put = write(start->trouble, text, len > 0 ? (size_t)len : 0);
    (void)put;
    _exit(127);
}

/* Groups first, the user last: afterwards the right to change the others is gone. */
static void become_person(const struct start *start)
{
    const struct person *person = start->person;
    MYR_ASSERT(!person->change || person->uid != 0); /* no rank runs as root */
    if (person->change && (setgroups((size_t)person->group_count, person->groups) < 0 ||
                           setgid(person->gid) < 0 || setuid(person->uid) < 0)) {
        give_up(start, "cannot become the user");
    }
}

/* An agent may be protected from the killer that comes when memory runs out; a rank is not. */
static void calm_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t put = write(fd, "0", 1);
        (void)put;
        close(fd);
    }
}

/* Cards that read and write memory by themselves (RDMA) have it locked, as much as there is. */
static void unlock_memory(void)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_MEMLOCK, &all) < 0 && getrlimit(RLIMIT_MEMLOCK, &all) == 0) {
        all.rlim_cur = all.rlim_max;
        (void)setrlimit(RLIMIT_MEMLOCK, &all);
    }
}

/*
 * Waits for the byte that lets it go, then becomes the user and the program. Whatever fails is one
 * line on the pipe 'trouble'.
 */
static MYR_NORETURN void child(const struct start *start, pid_t parent)
{
    char go;
    sigset_t none;
    /* A group of its own: a signal to one rank's group reaches no other. */
    setpgid(0, 0);
    sigemptyset(&none);
    for (int i = 1; i < NSIG; i++) {
        (void)signal(i, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Its number is on the disk first: a launcher that dies now leaves nothing that runs. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127);
    }
    ssize_t got;
    do {
        got = read(start->go, &go, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) {
        _exit(127);
    }
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(start->output, 1) < 0 || dup2(start->output, 2) < 0) {
        give_up(start, "no input and output");
    }
    calm_killer();
    unlock_memory();
    become_person(start);
    /* The usual one, whatever the agent's own is. */
    umask(022);
    /* Changing the user clears it, so it comes after; the parent may be gone already. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127);
    }
    if (start->directory ? chdir(start->directory) < 0
                         : chdir(start->person->home) < 0 && chdir("/") < 0) {
        give_up(start, start->directory ? start->directory : "home");
    }
    execvpe(start->argv[0], (char *const *)start->argv, (char *const *)start->env);
    give_up(start, start->argv[0]);
}

pid_t start_process(const struct start *start)
{
    pid_t parent = getpid();
    MYR_ASSERT(start->argv && start->argv[0] && start->env && start->person);
    pid_t pid = fork();
    if (pid == 0) {
        child(start, parent);
    }
    return pid;
}

/* --- its environment */

/* Room for the job's variables and 40 of ours; names are unique. */
struct env {
    struct myr_arena *arena;
    const char **items;
    uint32_t count, room; /* one place is for the end */
};

/* A name that is there already is replaced: ours go last and win. */
static void env_put(struct env *env, const char *text)
{
    MYR_ASSERT(strchr(text, '='));
    /* With the '=': "PATH=" is not the beginning of "PATHS=". */
    size_t len = (size_t)(strchr(text, '=') - text) + 1;
    for (uint32_t i = 0; i < env->count; i++) {
        if (strncmp(env->items[i], text, len) == 0) {
            env->items[i] = text;
            return;
        }
    }
    MYR_ASSERT(env->count + 1 < env->room);
    env->items[env->count++] = text;
}

static void env_number(struct env *env, const char *name, uint64_t value)
{
    env_put(env, myr_arena_printf(env->arena, "%s=%llu", name, (unsigned long long)value));
}

static void env_text(struct env *env, const char *name, struct myr_str value)
{
    env_put(env, myr_arena_printf(env->arena, "%s=%.*s", name, (int)value.len, value.data));
}

/* Numbers as NVML counts: the bits of the order. */
static void put_devices(struct env *env, uint64_t gpus)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    MYR_ASSERT(gpus != 0); /* an empty list would be all of them to some programs */
    for (uint32_t i = 0; i < 64; i++) {
        if (gpus >> i & 1) {
            myr_buf_printf(&list, "%s%u", list.len ? "," : "", i);
        }
    }
    env_text(env, "CUDA_VISIBLE_DEVICES", (struct myr_str){list.data, list.len});
    /* Without this CUDA counts the fastest first, and NVML, whose numbers these are, does not. */
    env_text(env, "CUDA_DEVICE_ORDER", myr_str_from("PCI_BUS_ID"));
}

/* The names that torchrun sets, so that programs written for it need no change. */
static void put_ranks(struct env *env, const struct order *order, uint32_t local_rank)
{
    uint64_t rank = order->first_rank + (uint64_t)local_rank;
    env_number(env, "RANK", rank);
    env_number(env, "WORLD_SIZE", order->world);
    env_number(env, "LOCAL_RANK", local_rank);
    env_number(env, "LOCAL_WORLD_SIZE", order_ranks(order));
    env_number(env, "NODE_RANK", order->node_rank);
    env_number(env, "GROUP_RANK", order->node_rank);
    env_number(env, "GROUP_WORLD_SIZE", order->node_count);
    env_number(env, "ROLE_RANK", rank);
    env_number(env, "ROLE_WORLD_SIZE", order->world);
    env_number(env, "TORCHELASTIC_RESTART_COUNT", order->epoch > 0 ? order->epoch - 1 : 0);
    env_number(env, "TORCHELASTIC_RUN_ID", order->job);
    if (order->array_index) {
        env_number(env, "MYRIAD_ARRAY_INDEX", order->array_index - 1);
    }
    env_number(env, "MYRIAD_JOB", order->job);
    env_number(env, "MYRIAD_EPOCH", order->epoch);
}

/* Nothing of the agent's own environment: what is not put here is not there. */
const char *const *start_env(struct myr_arena *arena, const struct order *order,
                             const struct myr_jobfile *job, const struct person *person,
                             uint32_t local_rank)
{
    uint32_t count = job->env.count;
    struct env env = {arena, MYR_ARENA_NEW(arena, const char *, count + 40), 0, count + 40};
    env_put(&env, myr_arena_printf(arena, "PATH=%s", default_path));
    env_text(&env, "HOME", myr_str_from(person->home));
    env_text(&env, "USER", myr_str_from(person->name));
    env_text(&env, "LOGNAME", myr_str_from(person->name));
    env_text(&env, "SHELL", myr_str_from(person->shell));
    for (uint32_t i = 0; i < count; i++) {
        env_put(&env, job->env.words[i]);
    }
    /* "host port", as the order has it. */
    struct myr_str host = order->master;
    /* Empty where the order names none. */
    struct myr_str port = {"", 0};
    const char *blank = memchr(host.data, ' ', host.len);
    if (blank) {
        port = (struct myr_str){blank + 1, host.len - (size_t)(blank - host.data) - 1};
        host.len = (size_t)(blank - host.data);
    }
    env_text(&env, "MASTER_ADDR", host);
    env_text(&env, "MASTER_PORT", port);
    put_ranks(&env, order, local_rank);
    put_devices(&env, order->gpus);
    env_text(&env, "MYRIAD_PROGRESS", order->socket);
    env_text(&env, "MYRIAD_INCARNATION", order->tag);
    if (job->checkpoint) {
        env_text(&env, "MYRIAD_CHECKPOINT_DIR", myr_str_from(job->checkpoint));
    }
    MYR_ASSERT(env.count < env.room && !env.items[env.count]); /* exec() reads to the NULL */
    return env.items;
}

/* --- images */

/* Where root's programs lie: a user's own path has no say in what runs his image. */
bool start_has(const char *program)
{
    const char *at = default_path;
    while (*at) {
        char path[AGENT_PATH_MAX];
        size_t len = strcspn(at, ":");
        snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, program);
        if (access(path, X_OK) == 0) {
            return true;
        }
        at += len + (at[len] == ':');
    }
    return false;
}

struct words {
    struct myr_arena *arena;
    const char **items;
    uint32_t count, room; /* one place is for the end */
};

static void put_word(struct words *words, const char *word)
{
    MYR_ASSERT(word && words->count + 1 < words->room);
    words->items[words->count++] = word;
}

static void put_words(struct words *words, const char *const *more)
{
    for (uint32_t i = 0; more[i]; i++) {
        put_word(words, more[i]);
    }
}

/* A folder or socket of the host inside of the image, under its own name. */
static void put_mount(struct words *words, const char *option, const char *path)
{
    if (path && *path) {
        put_word(words, option);
        put_word(words, myr_arena_printf(words->arena, "%s:%s", path, path));
    }
}

/* Podman is told to share network, memory and user with the host, as the others do anyway. */
static const struct runner {
    const char *words[8];
    const char *mount, *folder; /* its options; NULL: it is where it is called */
    bool env;                   /* it has to be told of each variable */
} runners[] = {
    {{"podman", "run", "--rm", "--network=host", "--ipc=host", "--userns=keep-id", "--init=false"},
     "--volume",
     "--workdir",
     true},
    {{"apptainer", "exec", "--nv"}, "--bind", "--pwd", false},
    {{"enroot", "start", "--rw"}, "--mount", NULL, false},
};

/* Without an image the command itself. */
int start_argv(struct myr_arena *arena, const struct order *order, const struct myr_jobfile *job,
               const char *const *env, bool (*has)(const char *program), const char *const **ret,
               struct myr_err *err)
{
    const struct runner *runner = NULL;
    MYR_ASSERT(job->command.count > 0);
    if (!job->image) {
        *ret = job->command.argv;
        return MYR_OK;
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(runners) && !runner; i++) {
        /* The first of the table that the node has. */
        runner = has(runners[i].words[0]) ? &runners[i] : NULL;
    }
    if (!runner) {
        return myr_err_set(
            err, MYR_ENOENT,
            "image '%.100s': neither podman nor apptainer nor enroot is on this node", job->image);
    }
    /* Our own words at most, then two for each variable and one for each of the command. */
    uint32_t count = 32;
    for (uint32_t i = 0; env[i]; i++) {
        count += 2;
    }
    count += job->command.count;
    struct words words = {arena, MYR_ARENA_NEW(arena, const char *, count), 0, count};
    put_words(&words, runner->words);
    put_mount(&words, runner->mount, job->directory);
    put_mount(&words, runner->mount, job->checkpoint);
    put_mount(&words, runner->mount,
              myr_arena_strndup(arena, order->socket.data, order->socket.len));
    if (runner->folder && job->directory) {
        put_word(&words, runner->folder);
        put_word(&words, job->directory);
    }
    for (uint32_t i = 0; runner->env && env[i]; i++) {
        put_word(&words, "--env");
        put_word(&words, env[i]);
    }
    put_word(&words, job->image);
    put_words(&words, job->command.argv);
    MYR_ASSERT(words.count < words.room && !words.items[words.count]);
    *ret = words.items;
    return MYR_OK;
}
