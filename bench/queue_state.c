/*
 * bench_queue_state: the state of a queue as a value. 12,500 nodes of 8 GPUs, 1,000 running jobs
 * and as many waiting as are asked for.
 *
 *     state_mib  bytes of the state in memory
 *     copy_ms    copied into memory that is mapped already, median of 201
 *     fork_ms    a child that has it copy-on-write: fork() in the parent, median of 51
 *     hash_ms    hash over all of it
 *     save_ms, load_ms  stored, and read with all its checks
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "myriad/sched.h"

enum { NODES = 12500, RUNNING = 1000, COPIES = 201, FORKS = 51 };

static struct myr_queue *full_queue(uint32_t waiting)
{
    static const struct myr_tenant tenant = {.parent = MYR_NONE};
    struct myr_place_shape shape = {NODES, 8, 32, 1280};
    struct myr_queue_policy policy = myr_queue_policy_default();
    struct myr_queue *q = NULL;
    struct myr_rng rng;
    uint32_t id, count;
    policy.confirm = true;
    policy.keep_s = 3600;
    myr_rng_init(&rng, 1, 1);
    int rc = myr_queue_create(&shape, &policy, &tenant, 1, &q, NULL);
    for (uint32_t i = 0; rc == MYR_OK && i < RUNNING + waiting; i++) {
        uint32_t nodes = i < RUNNING ? NODES / RUNNING : 1 + myr_rng_below(&rng, 64);
        struct myr_queue_job job = {.gpus = 8 * nodes + (i < RUNNING ? 4 : 0)};
        rc = myr_queue_submit(q, i, &job, &id, NULL);
        (void)myr_queue_decide(q, i, &count);
    }
    return rc == MYR_OK ? q : NULL;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static double median_ms(int64_t *times_ns, uint32_t count)
{
    qsort(times_ns, count, sizeof(*times_ns), compare);
    return (double)times_ns[count / 2] / 1e6;
}

static double copy_ms(const struct myr_queue *q)
{
    int64_t times_ns[COPIES];
    struct myr_queue *copy = NULL;
    myr_queue_copy(q, &copy);
    for (uint32_t i = 0; i < COPIES; i++) {
        int64_t start_ns = myr_clock_ns();
        myr_queue_copy(q, &copy);
        times_ns[i] = myr_clock_ns() - start_ns;
    }
    bool same = myr_queue_equal(q, copy);
    myr_queue_free(copy);
    return same ? median_ms(times_ns, COPIES) : -1;
}

static double fork_ms(void)
{
    int64_t times_ns[FORKS];
    for (uint32_t i = 0; i < FORKS; i++) {
        int64_t start_ns = myr_clock_ns();
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        times_ns[i] = myr_clock_ns() - start_ns;
        if (child < 0 || waitpid(child, NULL, 0) != child) {
            return -1;
        }
    }
    return median_ms(times_ns, FORKS);
}

int main(int argc, char **argv)
{
    uint64_t waiting = 0;
    if (argc > 1 && !myr_str_to_u64(myr_str_from(argv[1]), &waiting)) {
        return EXIT_FAILURE;
    }
    struct myr_queue *q = full_queue((uint32_t)waiting), *back = NULL;
    if (!q) {
        return EXIT_FAILURE;
    }
    struct myr_buf bytes = {};
    printf("state_mib %.3f\n", (double)myr_queue_bytes(q) / (1 << 20));
    printf("copy_ms %.3f\nfork_ms %.3f\n", copy_ms(q), fork_ms());
    int64_t start_ns = myr_clock_ns();
    uint64_t hash = myr_queue_hash(q);
    int64_t hashed_ns = myr_clock_ns();
    myr_queue_save(q, &bytes);
    int64_t saved_ns = myr_clock_ns();
    int rc = myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, NULL);
    int64_t loaded_ns = myr_clock_ns();
    printf("hash_ms %.3f\nsave_ms %.3f\nload_ms %.3f\nstored_mib %.3f\n",
           (double)(hashed_ns - start_ns) / 1e6, (double)(saved_ns - hashed_ns) / 1e6,
           (double)(loaded_ns - saved_ns) / 1e6, (double)bytes.len / (1 << 20));
    bool same = rc == MYR_OK && myr_queue_hash(back) == hash;
    myr_buf_done(&bytes);
    myr_queue_free(q);
    myr_queue_free(back);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
