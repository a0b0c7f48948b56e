/*
 * The same promises with real processes, which are killed and stopped at any time. The parent is
 * the launcher: it strikes, starts others in the place of the dead, and in the end holds together
 * what each process has seen. MYRIAD_FAULTS says how many faults there are, and SEED from where the
 * draws begin; a real machine does not run the same world twice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "myriad/base/rng.h"
#include "myriad/ccl.h"

#include "jobs_test.h"

#define PROCESSES_MAX    48 /* of a world, one after another */
#define EPOCHS_MAX       512
#define MILLISECOND      1000000ll
#define TIMEOUT_NS       (80 * MILLISECOND)
#define FAULTS_A_WORLD   15
#define WORLD_SECONDS    120 /* longer, and it hangs */
#define CALLS_AFTERWARDS 3

/* What a process has seen of an epoch. A group that all have left is another one if it comes back.
 */
struct seen {
    uint64_t group;      /* the number of its file */
    uint32_t size, pids; /* members, and a word that depends on each one and its rank */
    uint64_t returned;   /* last call that gave MYR_OK */
    bool ended;          /* with the next one it was told how many count */
    uint64_t completed;  /* so many */
};

struct process {
    _Atomic uint32_t pid, done;
    _Atomic int64_t over_ns;   /* by how much a call was late at worst */
    _Atomic int64_t paused_ns; /* how long it was stopped, in all */
    int64_t stopped_at_ns;
    char wrong[128];
    struct seen seen[EPOCHS_MAX];
};

struct world {
    uint64_t seed;
    uint32_t members;
    _Atomic bool finish;
    struct process processes[PROCESSES_MAX];
};

static struct world *world;

/* --- in a process */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wrong(struct process *me, const char *what, uint64_t epoch)
{
    snprintf(me->wrong, sizeof(me->wrong), "%s, epoch %llu", what, (unsigned long long)epoch);
    _exit(9);
}

static void group_path(char *ret, size_t bytes, pid_t launcher)
{
    snprintf(ret, bytes, "/dev/shm/myriad-ccl-process-test-%d-%llu", (int)launcher,
             (unsigned long long)world->seed);
}

static uint64_t group_number(pid_t launcher)
{
    char path[96];
    struct stat info;
    group_path(path, sizeof(path), launcher);
    return stat(path, &info) == 0 ? info.st_ino : 0;
}

static void hear(struct process *me, struct myr_ccl *ccl, uint32_t *pids, uint64_t before)
{
    struct myr_ccl_view view;
    myr_ccl_view(ccl, &view);
    if (view.epoch >= EPOCHS_MAX || view.epoch <= before) {
        wrong(me, "an epoch of another time", view.epoch);
    }
    struct seen *seen = &me->seen[view.epoch];
    *seen = (struct seen){.group = group_number(getppid()), .size = view.size};
    for (uint32_t i = 0; i < view.size; i++) {
        struct myr_ccl_member member;
        if (myr_ccl_member(ccl, i, &member, NULL) < 0) {
            wrong(me, "no such rank", view.epoch);
        }
        pids[i] = member.pid;
        seen->pids = job_mix(seen->pids + i, member.pid);
    }
    if (pids[view.rank] != (uint32_t)getpid()) {
        wrong(me, "another one's rank", view.epoch);
    }
    if (before > 0 && view.epoch == before + 1) {
        me->seen[before].ended = true;
        me->seen[before].completed = view.completed;
    }
}

struct begun {
    int64_t at_ns, paused_ns;
};

static struct begun begin(const struct process *me)
{
    return (struct begun){now_ns(), atomic_load(&me->paused_ns)};
}

static void late_by(struct process *me, struct begun begun, int64_t limit)
{
    int64_t paused = atomic_load(&me->paused_ns) - begun.paused_ns;
    int64_t over = now_ns() - begun.at_ns - paused - limit;
    if (over > atomic_load(&me->over_ns)) {
        atomic_store(&me->over_ns, over);
    }
}

static int call_once(struct process *me, struct myr_ccl *ccl, const uint32_t *pids)
{
    static uint32_t in[JOB_VALUES_MAX], out[JOB_VALUES_MAX];
    struct myr_ccl_view view;
    myr_ccl_view(ccl, &view);
    uint64_t call = myr_ccl_calls(ccl) + 1;
    struct job job = job_of(view.epoch, call, pids, view.size, view.rank);
    struct begun begun = begin(me);
    int rc = job_call(&job, ccl, in, out, (struct myr_ccl_bound){view.epoch, TIMEOUT_NS});
    late_by(me, begun, TIMEOUT_NS);
    if (rc != MYR_OK && rc != MYR_EREFORM) {
        wrong(me, "another code than agreed on", view.epoch);
    }
    if (rc == MYR_OK) {
        if (!job_right(&job, out)) {
            wrong(me, "a wrong result", view.epoch);
        }
        me->seen[view.epoch].returned = call;
        me->done++;
    }
    return rc;
}

/* Until it is to end (0), or has been left out (1). */
static int make_calls(struct process *me, struct myr_ccl *ccl)
{
    static const struct myr_ccl_reform how = {.least = 1, .grace_ns = 40 * MILLISECOND};
    uint32_t pids[MYR_CCL_PLACES_MAX];
    hear(me, ccl, pids, 0);
    uint32_t left = CALLS_AFTERWARDS;
    while (left > 0) {
        int rc = MYR_EREFORM;
        if (myr_ccl_joiners(ccl) == 0) {
            rc = call_once(me, ccl, pids);
            left -= rc == MYR_OK && atomic_load(&world->finish);
        }
        if (rc == MYR_EREFORM) {
            struct myr_ccl_view before, after;
            myr_ccl_view(ccl, &before);
            struct begun begun = begin(me);
            rc = myr_ccl_reform(ccl, &how, 4 * TIMEOUT_NS, &after, NULL);
            late_by(me, begun, 4 * TIMEOUT_NS);
            if (rc == MYR_ESTALE) {
                return 1;
            }
            if (rc == MYR_OK) {
                hear(me, ccl, pids, before.epoch);
            } else if (rc != MYR_ESTALLED) {
                wrong(me, "another code of reform", before.epoch);
            }
        }
    }
    return 0;
}

static void live(struct process *me)
{
    char path[96];
    group_path(path, sizeof(path), getppid());
    struct myr_ccl_conf conf = {.name = strstr(path, "process-test"),
                                .members = world->members,
                                .places = 24,
                                .stage_bytes = 4096};
    for (bool again = true; again;) {
        struct myr_ccl *ccl;
        struct myr_err err;
        int rc = myr_ccl_join(&conf, 8 * TIMEOUT_NS, &ccl, &err);
        if (rc == MYR_OK) {
            again = make_calls(me, ccl);
            myr_ccl_leave(ccl);
        } else if (rc != MYR_ESTALLED && rc != MYR_EAWAY) {
            wrong(me, err.message, 0);
        } else {
            again = !atomic_load(&world->finish); /* the others may have ended */
        }
    }
    _exit(0);
}

/* --- the launcher */

struct launcher {
    struct myr_rng rng;
    uint32_t count; /* started */
    bool alive[PROCESSES_MAX], stopped[PROCESSES_MAX];
};

static void start(struct launcher *launcher)
{
    struct process *process = &world->processes[launcher->count];
    pid_t parent = getpid();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(WORLD_SECONDS);
        if (getppid() == parent) {
            live(process);
        }
        _exit(8);
    }
    process->pid = (uint32_t)pid;
    launcher->alive[launcher->count++] = true;
}

static void nap(struct launcher *launcher, uint32_t most_us)
{
    struct timespec time = {0, 1000l * myr_rng_below(&launcher->rng, most_us)};
    nanosleep(&time, NULL);
}

/* Index of a random one that lives and runs, or -1. */
static int pick(struct launcher *launcher)
{
    int found = -1;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < launcher->count; i++) {
        if (launcher->alive[i] && !launcher->stopped[i] &&
            myr_rng_below(&launcher->rng, ++seen) == 0) {
            found = (int)i;
        }
    }
    return found;
}

static void go_on(struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->count; i++) {
        if (launcher->stopped[i]) {
            struct process *process = &world->processes[i];
            process->paused_ns += now_ns() - process->stopped_at_ns;
            kill((pid_t)process->pid, SIGCONT);
            launcher->stopped[i] = false;
        }
    }
}

static void strike(struct launcher *launcher)
{
    int target = pick(launcher);
    if (target < 0) {
        return;
    }
    pid_t pid = (pid_t)world->processes[target].pid;
    if (myr_rng_below(&launcher->rng, 4) == 0) {
        world->processes[target].stopped_at_ns = now_ns();
        kill(pid, SIGSTOP);
        launcher->stopped[target] = true;
        return;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    launcher->alive[target] = false;
    if (launcher->count < PROCESSES_MAX && myr_rng_below(&launcher->rng, 5) > 0) {
        nap(launcher, 4000);
        start(launcher);
    }
}

static uint32_t work_done(void)
{
    uint32_t done = 0;
    for (int i = 0; i < PROCESSES_MAX; i++) {
        done += atomic_load(&world->processes[i].done);
    }
    return done;
}

/* Until the others have made calls again, so that a fault hits calls too and not reforms alone. */
static void let_work(struct launcher *launcher)
{
    uint32_t before = work_done(), calls = myr_rng_below(&launcher->rng, 40);
    for (int i = 0; i < 400 && work_done() < before + calls; i++) {
        nap(launcher, 2000);
    }
}

static void await_all(struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->count; i++) {
        int status;
        if (!launcher->alive[i]) {
            continue;
        }
        assert_true(waitpid((pid_t)world->processes[i].pid, &status, 0) > 0);
        if (status != 0) {
            print_error("seed %llu: process %u ended with %x: %s\n",
                        (unsigned long long)world->seed, i, (unsigned)status,
                        world->processes[i].wrong);
        }
        assert_int_equal(status, 0);
    }
}

/* Of two processes that saw the same epoch neither was told something else. */
static void compare(uint64_t epoch, const struct seen *one, const struct seen *other)
{
    if (one->size == 0 || other->size == 0 || one->group != other->group) {
        return;
    }
    bool same = one->size == other->size && one->pids == other->pids &&
                (!one->ended || !other->ended || one->completed == other->completed) &&
                (!one->ended || other->returned <= one->completed);
    if (!same) {
        print_error("seed %llu, epoch %llu: %u members %x, ended %d, %llu completed; "
                    "%u members %x, ended %d, %llu completed, %llu returned\n",
                    (unsigned long long)world->seed, (unsigned long long)epoch, one->size,
                    one->pids, one->ended, (unsigned long long)one->completed, other->size,
                    other->pids, other->ended, (unsigned long long)other->completed,
                    (unsigned long long)other->returned);
    }
    assert_true(same);
}

static void compare_epoch(uint64_t epoch)
{
    for (int i = 0; i < PROCESSES_MAX; i++) {
        for (int k = 0; k < PROCESSES_MAX; k++) {
            compare(epoch, &world->processes[i].seen[epoch], &world->processes[k].seen[epoch]);
        }
    }
}

/* Returns by how much a call was late at worst. */
static int64_t run_world(uint64_t seed, uint32_t faults)
{
    struct launcher launcher = {0};
    memset(world, 0, sizeof(*world));
    world->seed = seed;
    myr_rng_init(&launcher.rng, seed, 3);
    world->members = 2 + myr_rng_below(&launcher.rng, 5);
    for (uint32_t i = 0; i < world->members; i++) {
        start(&launcher);
    }
    for (uint32_t i = 0; i < faults; i++) {
        if (myr_rng_below(&launcher.rng, 4) > 0) { /* else two at once, or during a reform */
            let_work(&launcher);
        }
        nap(&launcher, 3000);
        strike(&launcher);
        if (myr_rng_below(&launcher.rng, 3) == 0) {
            go_on(&launcher);
        }
    }
    go_on(&launcher);
    atomic_store(&world->finish, true);
    await_all(&launcher);
    int64_t late = 0;
    for (int i = 0; i < PROCESSES_MAX; i++) {
        late = world->processes[i].over_ns > late ? world->processes[i].over_ns : late;
    }
    for (uint64_t epoch = 0; epoch < EPOCHS_MAX; epoch++) {
        compare_epoch(epoch);
    }
    char path[96];
    group_path(path, sizeof(path), getpid());
    unlink(path); /* nobody took it away if none was left in the end */
    return late;
}

static uint64_t setting(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : usual;
}

static void killed_and_stopped_processes_break_no_promise(void **state)
{
    (void)state;
    world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(world != MAP_FAILED);
    uint64_t faults = setting("MYRIAD_FAULTS", 300), seed = setting("SEED", 1);
    int64_t late = 0;
    for (uint64_t done = 0; done < faults; done += FAULTS_A_WORLD, seed++) {
        int64_t worst = run_world(seed, FAULTS_A_WORLD);
        late = worst > late ? worst : late;
    }
    print_message("%llu faults; the latest call was %lld us over its time\n",
                  (unsigned long long)faults, (long long)late / 1000);
    munmap(world, sizeof(*world));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_and_stopped_processes_break_no_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
