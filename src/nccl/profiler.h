/* profiler: what NCCL finds in the plugin, by name. */
#pragma once

#include "abi.h"

/* NCCL's names; the first member of init's type differs by version (abi.h). */
extern const struct nccl_profiler ncclProfiler_v1, ncclProfiler_v2, ncclProfiler_v3,
    ncclProfiler_v4, ncclProfiler_v5;
