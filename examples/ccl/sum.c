/* Sums a vector over processes that may die: cc sum.c $(pkg-config --cflags --libs myriad-ccl) */
#include <myriad/ccl.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND 1000000000ll

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: sum GROUP MEMBERS STEPS\n");
        return 2;
    }
    struct myr_ccl_conf conf = {.name = argv[1], .members = (uint32_t)strtoul(argv[2], NULL, 10)};
    struct myr_ccl *group;
    struct myr_err err;
    if (myr_ccl_join(&conf, 30 * SECOND, &group, &err) < 0) {
        fprintf(stderr, "sum: %s\n", err.message);
        return 3;
    }
    struct myr_ccl_view view;
    myr_ccl_view(group, &view);
    for (long step = 0, steps = strtol(argv[3], NULL, 10); step < steps;) {
        float values[1000] = {(float)view.rank};
        int rc = myr_ccl_all_reduce(group, values, values, 1000, MYR_CCL_F32, MYR_CCL_SUM,
                                    (struct myr_ccl_bound){view.epoch, 5 * SECOND}, &err);
        uint64_t last = myr_ccl_calls(group);
        if (rc == MYR_EREFORM && myr_ccl_reform(group, NULL, 5 * SECOND, &view, &err) == MYR_OK) {
            rc = last <= view.completed ? MYR_OK : MYR_EREFORM; /* the same at all */
        } else if (rc < 0) {
            fprintf(stderr, "sum: %s\n", err.message);
            return 3;
        }
        step += rc == MYR_OK;
    }
    printf("%ld steps; %u members in epoch %llu\n", strtol(argv[3], NULL, 10), view.size,
           (unsigned long long)view.epoch);
    myr_ccl_leave(group);
    return 0;
}
