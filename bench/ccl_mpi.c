/* The all-reduce of bench_ccl in MPI: bench/ccl.py compiles it where mpicc is. BYTES ROUNDS. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 1000

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double times[ROUNDS_MAX];
    int rank, rounds = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 1;
    size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 10) : 4;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    float *values = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(values, 0, bytes);
    int calls = bytes < 65536 ? 200 : 1;
    for (int round = -2; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begun = MPI_Wtime();
        for (int i = 0; i < calls; i++) {
            MPI_Allreduce(MPI_IN_PLACE, values, (int)(bytes / 4), MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
        }
        times[round < 0 ? 0 : round] = (MPI_Wtime() - begun) / calls;
    }
    if (rank == 0) {
        qsort(times, (size_t)rounds, sizeof(*times), by_size);
        printf("best %.9f median %.9f\n", times[0], times[rounds / 2]);
    }
    free(values);
    MPI_Finalize();
    return 0;
}
