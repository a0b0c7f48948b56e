/* leaks: how many pieces of memory a test may keep; 0 unless it defines this. */
#pragma once

extern long myr_leaks_allowed;

/* Pieces that are taken now: where a library keeps some for good, what is done a second time must
 * leave as many as there were before. Always 0 under a sanitizer, which counts for itself. */
long myr_leaks_now(void);
