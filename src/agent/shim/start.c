#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/shim.h"

static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

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

int person_find(struct myr_str name, struct person *ret, struct myr_err *err)
{
    char text[64];
    char shown[65];
    struct passwd space;
    struct passwd *found = NULL;
    char memory[16 << 10];
    if (name.len >= sizeof(text) || memchr(name.data, '\0', name.len)) {
        return myr_err_set(err, MYR_EINVAL, "no name of a user");
    }
    snprintf(text, sizeof(text), "%.*s", (int)name.len, name.data);
    snprintf(shown, sizeof(shown), "%s", text);
    if (!text[0] && geteuid() == 0) {
        return myr_err_set(err, MYR_EINVAL, "the job names no Unix user, and none runs as root");
    }
    int rc = text[0] ? getpwnam_r(text, &space, memory, sizeof(memory), &found)
                     : getpwuid_r(geteuid(), &space, memory, sizeof(memory), &found);
    if (rc != 0 || !found) {
        return myr_err_set(err, MYR_ENOENT, "user '%s' is not known on this node", shown);
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

static void become_person(const struct start *start)
{
    const struct person *person = start->person;
    if (person->change && (setgroups((size_t)person->group_count, person->groups) < 0 ||
                           setgid(person->gid) < 0 || setuid(person->uid) < 0)) {
        give_up(start, "cannot become the user");
    }
}

static MYR_NORETURN void child(const struct start *start, pid_t parent)
{
    char go;
    sigset_t none;
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
    become_person(start);
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
    pid_t pid = fork();
    if (pid == 0) {
        child(start, parent);
    }
    return pid;
}

/* --- its environment */

struct env {
    struct myr_arena *arena;
    const char **items;
    uint32_t count;
};

/* A name that is there already is replaced: ours go last and win. */
static void env_put(struct env *env, const char *text)
{
    size_t len = (size_t)(strchr(text, '=') - text) + 1;
    for (uint32_t i = 0; i < env->count; i++) {
        if (strncmp(env->items[i], text, len) == 0) {
            env->items[i] = text;
            return;
        }
    }
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

static void put_devices(struct env *env, uint64_t gpus)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {0};
    for (uint32_t i = 0; i < 64; i++) {
        if (gpus >> i & 1) {
            myr_buf_printf(&list, "%s%u", list.len ? "," : "", i);
        }
    }
    env_text(env, "CUDA_VISIBLE_DEVICES", (struct myr_str){list.data, list.len});
}

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
    env_number(env, "MYRIAD_JOB", order->job);
    env_number(env, "MYRIAD_EPOCH", order->epoch);
}

const char *const *start_env(struct myr_arena *arena, const struct order *order,
                             const struct jobfile *job, const struct person *person,
                             uint32_t local_rank)
{
    uint32_t count = 0;
    while (job->env[count]) {
        count++;
    }
    struct env env = {arena, MYR_ARENA_NEW(arena, const char *, count + 40), 0};
    env_put(&env, myr_arena_printf(arena, "PATH=%s", default_path));
    env_text(&env, "HOME", myr_str_from(person->home));
    env_text(&env, "USER", myr_str_from(person->name));
    env_text(&env, "LOGNAME", myr_str_from(person->name));
    env_text(&env, "SHELL", myr_str_from(person->shell));
    for (uint32_t i = 0; i < count; i++) {
        env_put(&env, job->env[i]);
    }
    struct myr_str host = order->master;
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
    MYR_ASSERT(env.count < count + 40);
    return env.items;
}

/* --- images */

static bool find_program(const char *name)
{
    const char *at = default_path;
    while (*at) {
        char path[AGENT_PATH_MAX];
        size_t len = strcspn(at, ":");
        snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, name);
        if (access(path, X_OK) == 0) {
            return true;
        }
        at += len + (at[len] == ':');
    }
    return false;
}

int start_argv(struct myr_arena *arena, const struct jobfile *job, const char *const *env,
               const char *const **ret, struct myr_err *err)
{
    static const char *const podman[] = {
        "podman", "run", "--rm", "--network=host", "--ipc=host", "--userns=keep-id", NULL};
    static const char *const apptainer[] = {"apptainer", "exec", "--nv", NULL};
    static const char *const enroot[] = {"enroot", "start", "--rw", NULL};
    static const char *const *const runners[] = {podman, apptainer, enroot};
    if (!job->image) {
        *ret = job->command;
        return MYR_OK;
    }
    const char *const *runner = NULL;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(runners) && !runner; i++) {
        runner = find_program(runners[i][0]) ? runners[i] : NULL;
    }
    if (!runner) {
        return myr_err_set(
            err, MYR_ENOENT,
            "image '%.100s': neither podman nor apptainer nor enroot is on this node", job->image);
    }
    uint32_t words = 16;
    for (uint32_t i = 0; env[i]; i++) {
        words += 2;
    }
    for (uint32_t i = 0; job->command[i]; i++) {
        words++;
    }
    const char **argv = MYR_ARENA_NEW(arena, const char *, words);
    uint32_t count = 0;
    for (; runner[count]; count++) {
        argv[count] = runner[count];
    }
    for (uint32_t i = 0; runner == podman && env[i]; i++) { /* the others hand ours on */
        argv[count++] = "--env";
        argv[count++] = env[i];
    }
    argv[count++] = job->image;
    for (uint32_t i = 0; job->command[i]; i++) {
        argv[count++] = job->command[i];
    }
    MYR_ASSERT(count < words);
    *ret = argv;
    return MYR_OK;
}
