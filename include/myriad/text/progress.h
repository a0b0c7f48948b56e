/*
 * progress: one line on stderr for work that takes more than a second.
 *
 * "placing cables   41 %  123,456/301,056  412 k/s  0:43 left". On a terminal it redraws in place,
 * at most ten times a second, and disappears when done; otherwise one line every ten seconds. It
 * shows nothing for work that ends within a second. The caller passes the clock, so that the text
 * can be tested.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

struct myr_progress {
    const char *what; /* borrowed */
    uint64_t total;   /* 0: unknown, no percentage and no time left */
    int64_t start_ns;
    int64_t shown_ns;
    bool terminal;
    bool shown;
};

void myr_progress_init(struct myr_progress *progress, const char *what, uint64_t total,
                       bool terminal, int64_t now_ns);
/* The line for this moment, without line end. */
void myr_progress_line(const struct myr_progress *progress, uint64_t done, int64_t now_ns,
                       struct myr_buf *ret);
/* Writes to stderr when it is time to; cheap otherwise. */
void myr_progress_update(struct myr_progress *progress, uint64_t done, int64_t now_ns);
/* Clears the line on a terminal. */
void myr_progress_done(struct myr_progress *progress);
