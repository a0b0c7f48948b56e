/*
 * The same job file through every road: what 'submit' may queue an agent launches, and Kubernetes
 * takes or refuses by name; what is refused is refused at the same place. (Slurm's script reads by
 * the same reader, server/slurm.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/agent.h"
#include "myriad/job.h"
#include "myriad/kube.h"

enum { DRAWN = 3000 };

/* Lines of which a file is put together: right ones, odd ones and wrong ones. */
static const char *const lines[] = {
    "command: run\n",
    "command: [a, '', \"b\\nc\"]\n",
    "command: ['']\n",
    "command: []\n",
    "env: {A: 1}\n",
    "env: {a-b: 1}\n",
    "env: {A: }\n",
    "env: {A: ''}\n",
    "image: x\n",
    "image:\n",
    "image: ''\n",
    "prolog: |\n  a\n  b\n",
    "epilog: ''\n",
    "progress: {pattern: '(a)'}\n",
    "progress: {pattern: a}\n",
    "directory: \"a\\nb\"\n",
    "checkpoint: /c\n",
    "retries: 0\n",
    "retries: -1\n",
    "time_limit: 5x\n",
    "layout: tp=4\n",
    "after: 1\n",
    "array: 0-3\n",
    "restart: epoch\n",
    "hold: true\n",
    "unknown: 1\n",
};

static bool kubernetes_takes(struct myr_arena *arena, const struct myr_jobfile *job,
                             struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const struct myr_kube_job how = {.job = job,
                                     .gpus_per_node = 8,
                                     .image = "x",
                                     .space = "s",
                                     .scheduler = "myriad",
                                     .resource = "gpu"};
    (void)arena;
    return myr_kube_job_write(&how, NULL, &text, err) == MYR_OK;
}

static void what_is_queued_is_launched(void **state)
{
    const uint64_t seed = 20261119;
    uint32_t taken = 0, refused = 0;
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, seed, 7);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < DRAWN; i++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        const struct myr_jobfile_how how = {.file = "job file", .gpus_per_node = 8};
        struct myr_err queue = {}, node = {}, cluster = {};
        struct myr_jobfile job;
        myr_buf_puts(&text, i % 5 ? "gpus: 4\n" : "nodes: 2\n");
        myr_buf_puts(&text, lines[myr_rng_below(&rng, 2)]);
        for (uint32_t k = myr_rng_below(&rng, 4); k > 0; k--) {
            myr_buf_puts(&text, lines[myr_rng_below(&rng, MYR_ARRAY_COUNT(lines))]);
        }
        struct myr_str file = {text.data, text.len};
        int rc = myr_jobfile_read(&arena, &how, file, &job, &queue);
        int there = myr_agent_check(MYR_AGENT_JOB_FILE, file, &node);
        if (rc == MYR_OK) {
            taken++;
            if (there < 0) {
                fail_msg("queued, and refused on the node:\n%s%s", text.data, node.message);
            }
            if (!kubernetes_takes(&arena, &job, &cluster)) {
                assert_non_null(strstr(cluster.message, "is not to be had on Kubernetes"));
            }
        } else if (there < 0) {
            refused++;
            if (strstr(queue.message, "unknown key")) { /* that is told before all others */
                continue;
            }
            assert_string_equal(queue.message, node.message);
        } else { /* what a node has no use for: a newer server's keys, and the size */
            assert_true(strstr(queue.message, "unknown key") || strstr(queue.message, "layout"));
        }
    }
    assert_true(taken > DRAWN / 10 && refused > DRAWN / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_queued_is_launched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
