/* bench: measurements of this machine. */
#pragma once

#include "case/case.h"

extern const struct cli_verb cli_bench_verb, cli_bench_gpu_verb;
