/*
 * job: a job file as a Kubernetes Job, the same file that agents and Slurm run.
 *
 * A pod a node, or less where the job is smaller: as many pods as 'gpus' is worth nodes, each with
 * 'gpus_per_pod' GPUs, and in each one process a GPU with what torchrun would give it (RANK,
 * WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, ...), made of the annotations that Myriad writes before it
 * binds. Keys of the file that would have to do something there and cannot are refused by name;
 * those that nobody would miss are named by myr_jobfile_unheeded().
 */
#pragma once

#include "myriad/job.h"

struct myr_kube_job {
    const struct myr_jobfile *job; /* as read for a cluster of so many GPUs a node */
    uint32_t gpus_per_node;
    const char *space, *scheduler, *image; /* image: where the file names none; NULL: none */
    const char *resource;                  /* "nvidia.com/gpu" */
    uint32_t port;                         /* MASTER_PORT; 0: one by the name */
};

/* The Job as JSON, which kubectl takes as well. Its name ends in 'suffix', where that is no NULL.
 */
MYR_MUST_USE int myr_kube_job_write(const struct myr_kube_job *job, const char *suffix,
                                    struct myr_buf *ret, struct myr_err *err);
