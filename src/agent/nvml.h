/*
 * nvml: the GPUs of this node by NVIDIA's management library, loaded at run time; and its CPUs and
 * PCIe by hwloc.
 */
#pragma once

#include "myriad/text/answer.h"

/* The lists 'gpus' (empty where there is no library), 'nvlinks'; 'driver', and 'nvml' with why. */
void nvml_collect(struct myr_answer *answer);
/*
 * Writes a line "xid GPU CODE" to 'fd' for each critical event of the driver, for ever. Returns the
 * exit status when there is nothing to wait for, or nobody reads.
 */
int nvml_watch(int fd);
/* The lists 'numa' and 'pcie'. */
void topology_collect(struct myr_answer *answer);
