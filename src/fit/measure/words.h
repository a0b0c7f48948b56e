/* words: what people write in the fields of a table of runs, read leniently but never guessed at.
 */
#pragma once

#include "cost/dates.h"
#include "myriad/fit/runs.h"

/* Without blanks at the ends. */
struct myr_str fit_word_trim(struct myr_str text);
bool fit_word_is(struct myr_str text, const char *word);
/* 'word', in small letters, somewhere in 'text', whatever the case there. */
bool fit_word_has(struct myr_str text, const char *word);
bool fit_word_yes(struct myr_str text);
bool fit_word_no(struct myr_str text);
/* The table does not say: nothing, "?", "recipe", or what tools write for a missing value. */
bool fit_word_open(struct myr_str text);

/* "8", "8.0" (a column with gaps, as table tools write it), "12,288", "12 288". */
bool fit_word_whole(struct myr_str text, uint64_t *ret);
/* False where the word says nothing that is known: then bf16. */
bool fit_word_precision(struct myr_str text, enum myr_precision *ret);
/* False where the word is not known: then ZeRO-1. 'ret_hybrid': cut inside a node only (HSDP). */
bool fit_word_zero(struct myr_str text, uint32_t *ret, bool *ret_hybrid);
/* False where the table leaves it to a recipe. */
bool fit_word_recompute(struct myr_str text, enum myr_recompute *ret);

struct myr_run;

/* Sizes of a row that contradict each other. */
MYR_MUST_USE int fit_run_check_sizes(const struct myr_run *run, struct myr_err *err);
/* A number behind a word: 40 of "layers:40"; 0 when there is none. */
uint32_t fit_word_behind(struct myr_str text, const char *word);
