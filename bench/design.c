/*
 * bench_design FILE: opens a design as every stage does (mapped, then checked), and prints
 * "seconds <open> cables <n> bytes_per_cable <x>".
 */
#include <stdio.h>

#include "myriad/model.h"

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: bench_design FILE\n", stderr);
        return 2;
    }
    struct myr_design design;
    struct myr_err err;
    int64_t start_ns = myr_clock_ns();
    int rc = myr_design_open(&design, argv[1], &err);
    if (rc != MYR_OK) {
        fprintf(stderr, "%s\n", err.message);
        return myr_err_exit_code(rc);
    }
    printf("seconds %.6f cables %u bytes_per_cable %.2f\n",
           (double)(myr_clock_ns() - start_ns) / 1e9, design.cable_count,
           myr_design_bytes_per_cable(&design));
    myr_design_close(&design);
    return 0;
}
