/*
 * bench_ccl: one measurement of libmyriad-ccl, "key value" on a line.
 *
 *   bench_ccl ours RANKS BYTES ROUNDS    seconds of an all-reduce in place, the fastest and median
 *   bench_ccl bound RANKS BYTES ROUNDS   the least that such a one needs: every vector is read once
 *                                        and written once, by as many threads as there are cores
 *   bench_ccl death RANKS                all but one wait in a call, that one is killed: seconds to
 *                                        the end of the last call, to the last reform and to a sum
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "myriad/ccl.h"

#define RANKS_MAX  64
#define ROUNDS_MAX 1000
#define BLOCK      1024
#define LONG_NS    60000000000ll

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void fail(const struct myr_err *err)
{
    fprintf(stderr, "bench_ccl: %s\n", err->message);
    _exit(1);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_times(double *times, int rounds)
{
    qsort(times, (size_t)rounds, sizeof(*times), by_size);
    printf("best %.9f median %.9f\n", times[0], times[rounds / 2]);
    fflush(stdout);
}

static float *vector(size_t bytes)
{
    float *values = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(values, 0, bytes);
    return values;
}

static struct myr_ccl *join(uint32_t ranks, pid_t launcher, struct myr_ccl_view *view)
{
    char name[64];
    snprintf(name, sizeof(name), "bench-%d", (int)launcher);
    struct myr_ccl_conf conf = {.name = name, .members = ranks};
    struct myr_ccl *ccl;
    struct myr_err err;
    if (myr_ccl_join(&conf, LONG_NS, &ccl, &err) < 0) {
        fail(&err);
    }
    myr_ccl_view(ccl, view);
    return ccl;
}

/* --- all-reduce */

static void reduce_rounds(uint32_t ranks, size_t bytes, int rounds, pid_t launcher)
{
    struct myr_ccl_view view;
    struct myr_err err;
    struct myr_ccl *ccl = join(ranks, launcher, &view);
    struct myr_ccl_bound bound = {view.epoch, LONG_NS};
    float *values = vector(bytes);
    int calls = bytes < 65536 ? 200 : 1;
    static double times[ROUNDS_MAX];
    for (int round = -2; round < rounds; round++) {
        if (myr_ccl_barrier(ccl, bound, &err) < 0) {
            fail(&err);
        }
        double begun = now_s();
        for (int i = 0; i < calls; i++) {
            if (myr_ccl_all_reduce(ccl, values, values, bytes / 4, MYR_CCL_F32, MYR_CCL_SUM, bound,
                                   &err) < 0) {
                fail(&err);
            }
        }
        times[round < 0 ? 0 : round] = (now_s() - begun) / calls;
    }
    if (view.rank == 0) {
        print_times(times, rounds);
    }
    free(values);
    myr_ccl_leave(ccl);
}

static int run_ours(uint32_t ranks, size_t bytes, int rounds)
{
    pid_t launcher = getpid();
    for (uint32_t i = 0; i < ranks; i++) {
        if (fork() == 0) {
            reduce_rounds(ranks, bytes, rounds, launcher);
            _exit(0);
        }
    }
    int status, worst = 0;
    while (wait(&status) > 0) {
        worst |= status;
    }
    return worst != 0;
}

/* --- the bound */

struct pass {
    float **vectors;
    uint32_t ranks;
    size_t begin, end;
};

static void *one_pass(void *context)
{
    const struct pass *pass = context;
    for (size_t at = pass->begin; at < pass->end; at += BLOCK) {
        float sums[BLOCK];
        memcpy(sums, pass->vectors[0] + at, sizeof(sums));
        for (uint32_t k = 1; k < pass->ranks; k++) {
            const float *values = pass->vectors[k] + at;
            for (size_t i = 0; i < BLOCK; i++) {
                sums[i] += values[i];
            }
        }
        for (uint32_t k = 0; k < pass->ranks; k++) {
            memcpy(pass->vectors[k] + at, sums, sizeof(sums));
        }
    }
    return NULL;
}

static int run_bound(uint32_t ranks, size_t bytes, int rounds)
{
    cpu_set_t cores;
    sched_getaffinity(0, sizeof(cores), &cores);
    size_t threads = (size_t)CPU_COUNT(&cores), blocks = bytes / 4 / BLOCK;
    threads = threads > RANKS_MAX ? RANKS_MAX : threads;
    float *vectors[RANKS_MAX];
    for (uint32_t i = 0; i < ranks; i++) {
        vectors[i] = vector(bytes);
    }
    static double times[ROUNDS_MAX];
    for (int round = -2; round < rounds; round++) {
        pthread_t ids[RANKS_MAX];
        struct pass passes[RANKS_MAX];
        double begun = now_s();
        for (size_t i = 0; i < threads; i++) {
            passes[i] = (struct pass){vectors, ranks, blocks * i / threads * BLOCK,
                                      blocks * (i + 1) / threads * BLOCK};
            if (i > 0) {
                pthread_create(&ids[i], NULL, one_pass, &passes[i]);
            }
        }
        one_pass(&passes[0]);
        for (size_t i = 1; i < threads; i++) {
            pthread_join(ids[i], NULL);
        }
        times[round < 0 ? 0 : round] = now_s() - begun;
    }
    print_times(times, rounds);
    for (uint32_t i = 0; i < ranks; i++) {
        free(vectors[i]);
    }
    return 0;
}

/* --- a death */

struct seen {
    _Atomic uint32_t waiting;
    double killed;
    double ended[RANKS_MAX], reformed[RANKS_MAX], summed[RANKS_MAX];
};

static void wait_and_go_on(struct seen *seen, uint32_t ranks, uint32_t index, pid_t launcher)
{
    struct myr_ccl_view view;
    struct myr_err err;
    struct myr_ccl *ccl = join(ranks, launcher, &view);
    seen->waiting++;
    if (index == 0) {
        pause(); /* the victim */
    }
    int rc = myr_ccl_barrier(ccl, (struct myr_ccl_bound){view.epoch, LONG_NS}, &err);
    seen->ended[index] = now_s();
    if (rc != MYR_EREFORM || myr_ccl_reform(ccl, NULL, LONG_NS, &view, &err) < 0) {
        fail(&err);
    }
    seen->reformed[index] = now_s();
    uint64_t value = 1;
    if (myr_ccl_agree(ccl, MYR_CCL_SUM, &value, (struct myr_ccl_bound){view.epoch, LONG_NS}, &err) <
            0 ||
        value != ranks - 1) {
        fail(&err);
    }
    seen->summed[index] = now_s();
    /* All have to have seen it before one leaves. */
    rc = myr_ccl_barrier(ccl, (struct myr_ccl_bound){view.epoch, LONG_NS}, &err);
    (void)rc;
    myr_ccl_leave(ccl);
}

static double last_of(const double *times, uint32_t ranks)
{
    double last = 0;
    for (uint32_t i = 1; i < ranks; i++) {
        last = times[i] > last ? times[i] : last;
    }
    return last;
}

static int run_death(uint32_t ranks)
{
    struct seen *seen =
        mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t launcher = getpid(), victim = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            wait_and_go_on(seen, ranks, i, launcher);
            _exit(0);
        }
        victim = i == 0 ? pid : victim;
    }
    while (atomic_load(&seen->waiting) < ranks) {
        usleep(1000);
    }
    usleep(100000); /* all are in the call */
    seen->killed = now_s();
    kill(victim, SIGKILL);
    int status, worst = 0;
    for (pid_t pid = wait(&status); pid > 0; pid = wait(&status)) {
        worst |= pid == victim ? 0 : status;
    }
    printf("ended %.6f reformed %.6f summed %.6f\n", last_of(seen->ended, ranks) - seen->killed,
           last_of(seen->reformed, ranks) - seen->killed,
           last_of(seen->summed, ranks) - seen->killed);
    return worst != 0;
}

int main(int argc, char **argv)
{
    uint32_t ranks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    int rounds = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 0;
    bool measures = argc == 5 && bytes >= 4 && rounds > 0 && rounds <= ROUNDS_MAX;
    if (ranks >= 1 && ranks <= RANKS_MAX && measures && strcmp(argv[1], "ours") == 0) {
        return run_ours(ranks, bytes, rounds);
    }
    if (ranks >= 1 && ranks <= RANKS_MAX && measures && strcmp(argv[1], "bound") == 0) {
        return run_bound(ranks, bytes, rounds);
    }
    if (ranks >= 2 && ranks <= RANKS_MAX && argc == 3 && strcmp(argv[1], "death") == 0) {
        return run_death(ranks);
    }
    fprintf(stderr, "usage: bench_ccl ours|bound RANKS BYTES ROUNDS, or death RANKS\n");
    return 2;
}
