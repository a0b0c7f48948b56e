/*
 * progress: how far a job is, as its ranks say it, by datagram or by a line of their output.
 *
 * A datagram is text, "step 120 saved 100 phase train"; saved and phase may be left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/wire/pattern.h"

#define PROGRESS_BYTES_MAX 256
#define PROGRESS_PHASE_MAX 32
#define PROGRESS_LINE_MAX  1024 /* of a line that is looked at */

struct progress {
    uint64_t step, saved; /* the last one made, and the last in a checkpoint */
    char phase[PROGRESS_PHASE_MAX];
    int64_t at_ns; /* on the boot clock; 0: never */
    bool by_line;  /* read from a rank's output, which one rank alone writes */
};

/* False, and nothing changed, for anything else. What the text leaves out stays. */
bool progress_parse(struct myr_str text, struct progress *ret);

/* The state file that a launcher keeps for the agent. */
void progress_write(const struct progress *progress, struct myr_buf *buf);
bool progress_read(struct myr_str text, struct progress *ret);

/*
 * Lines of programs that know nothing of us. The expression's first group is the step; NULL: the
 * line that Megatron-LM writes after so many iterations.
 */
MYR_MUST_USE int progress_pattern_init(struct myr_step_pattern *pattern, const char *expression,
                                       struct myr_err *err);
/* Whether a line is worth showing to whoever asks why a rank failed. */
bool progress_is_error(const char *line);
