/* A run in a file: the question, what was found before it, and the engine's state. */
#pragma once

#include "myriad/sim/question.h"

struct saved {
    struct myr_sim_question question;
    const char *alone; /* a time of each workload, not aligned; empty with one workload */
    struct myr_str image;
};

/* 'answer' has the engine, stopped. Nothing is written unless the whole file is. */
MYR_MUST_USE int saved_write(const struct myr_sim_answer *answer,
                             const struct myr_sim_question *question, struct myr_err *err);
/* The words are in the arena; 'text' is kept for as long as the result. */
MYR_MUST_USE int saved_read(struct saved *ret, struct myr_arena *arena, const char *path,
                            struct myr_str text, struct myr_err *err);
