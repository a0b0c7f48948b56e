/* "file:PATH[,format=NAME][,KEY=VALUE...]": other simulators' files, as traffic and as fabrics. */
#pragma once

#include "myriad/sim/read.h"
#include "myriad/sim/words.h"

struct sim_source {
    const char *path;       /* in the arena that was given */
    struct myr_str format;  /* empty: to be guessed */
    uint64_t endless_bytes; /* of messages without end; 0: not said */
    uint64_t ranks;         /* that do what one file says; 0: not said */
    bool callers;           /* nodes of a trace wait for who called them */
    double tflops;          /* of a GPU, where a file says operations only; 0: not said */
    struct myr_buf text;
};

/* What an option takes: its name, kinds of files (kind.h), and how they are called. */
struct sim_source_want {
    const char *option;
    uint64_t kinds;
    const char *words;
};

/* Reads the file. The path may hold commas of its own. */
MYR_MUST_USE int sim_source_open(struct sim_source *ret, struct myr_arena *arena,
                                 const struct sim_source_want *want, const char *words,
                                 struct myr_err *err);
void sim_source_done(struct sim_source *source);

/* The format that the words name, else 'guess'. */
MYR_MUST_USE int sim_source_format(const struct sim_source *source, const char *option,
                                   const char *const *names, uint32_t count, uint32_t guess,
                                   uint32_t *ret, struct myr_err *err);

/*
 * Chakra has a file for each rank: PATH is that of rank 0, "NAME.0.et", and those of the others lie
 * beside it. With 'ranks' the one file stands for all.
 */
MYR_MUST_USE int sim_source_chakra(const struct sim_source *source, struct myr_str first,
                                   struct myr_trace *ret, struct myr_err *err);

/* A trace into the engine. */
MYR_MUST_USE int sim_source_load(struct myr_sim *sim, const struct myr_graph *graph,
                                 const struct myr_sim_hosts *hosts, const char *words,
                                 struct myr_sim_load *ret, struct myr_err *err);
