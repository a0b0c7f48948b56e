/*
 * question: a simulation as a value, and its answer.
 *
 * A question names the fabric (a design's file, or a topology in words), what runs on it at the
 * same time, what breaks and what is slow, and the engine's settings. One call plays it. With
 * several workloads each is first played alone, under the same faults, so that the answer can say
 * what they cost each other.
 *
 * The same question gives the same answer on any machine.
 */
#pragma once

#include "myriad/sim/contention.h"
#include "myriad/sim/packets.h"
#include "myriad/sim/times.h"
#include "myriad/sim/words.h"

struct myr_sim_words {
    const char *const *items;
    uint32_t count;
};

struct myr_sim_question {
    const char *design;               /* a file, or ... */
    const char *topology;             /* ... words (topology.h): one of the two; or ... */
    const struct myr_design *planned; /* ... one in memory, which outlives the answer */
    enum myr_net_id net;
    struct myr_sim_words workloads, faults, slow; /* words.h */
    struct myr_balance_options balance;           /* its seed also draws random workloads */
    uint32_t queue_pairs, efficiency_permille, sharing_loss_permille, pause_permille;
    bool packets; /* every packet is played, under this control; 0 bytes: what is usual there */
    enum myr_cc cc;
    uint32_t mtu_bytes, header_bytes, pmax_permille, threads;
    uint64_t kmin_bytes, kmax_bytes, buffer_bytes; /* of 100 Gb/s ports (packets.h) */
    const char *message_overhead;                  /* a time in words, or NULL */
    const char *series_step;                       /* the same: intervals of the time series */
    bool keep_paths;                               /* for a file of them */
    const char *routes;         /* such a file, in place of the policy's paths; or NULL */
    const char *save, *save_at; /* a file, and the moment whose state it gets; or NULL */
    myr_sim_progress *progress; /* NULL: none */
    void *progress_context;
};

struct myr_sim_job {
    struct myr_sim_load load;
    myr_ps end;
    myr_ps alone;    /* 0 when it was the only one */
    double slowdown; /* by the others: end over alone */
    myr_ps bound;    /* of a collective: no algorithm of its kind can be quicker */
    /* Of a collective, NCCL's two bandwidths in gigabytes per second; 0 of anything else. */
    double algorithm_gbytes_per_s, bus_gbytes_per_s;
};

/* Fair rates of single flows if all moved at once, as parts of a host's line rate. */
struct myr_sim_rates {
    uint32_t count; /* 0: there are no single flows, or several jobs */
    double mean, mean_slowdown, p1, least, full_share;
};

struct myr_sim_answer {
    struct myr_arena arena;
    struct myr_sim_fabric fabric;
    struct myr_graph graph;
    struct myr_sim_options engine; /* as it ran, defaults filled in */
    struct myr_sim *sim;
    struct myr_sim_result result;
    struct myr_packet_options packets; /* as they were, where packets were played */
    struct myr_packet_stats packet_stats;
    struct myr_sim_job *jobs;
    uint32_t job_count;
    struct myr_times times; /* of all flows of all jobs */
    struct myr_sim_rates rates;
    double load_mean, load_max; /* of the channels that carried anything, over the whole run */
};

/* Release in any case; also a zeroed struct. */
MYR_MUST_USE int myr_sim_ask(struct myr_sim_answer *ret, const struct myr_sim_question *question,
                             struct myr_err *err);
/*
 * The rest of a run that was saved; the answer is that of the whole run. 'question' is filled in
 * with what was asked, and has the progress; its words live as long as the answer. Files that the
 * question names are read again, and must be what they were.
 */
MYR_MUST_USE int myr_sim_resume(struct myr_sim_answer *ret, struct myr_sim_question *question,
                                const char *path, struct myr_err *err);
void myr_sim_answer_done(struct myr_sim_answer *answer);

/* "8 leaf, 4 spine, 0 core", or "1 access, 2 aggregation" where a network has those. */
const char *myr_sim_switches(struct myr_arena *arena, const struct myr_network *net);

/* The table of contention.h for a fabric, written beside its design unless 'out' says where. */
struct myr_contention_question {
    const char *design, *topology; /* one of the two */
    enum myr_net_id net;
    struct myr_balance_options balance;
    const char *out;
    myr_sim_progress *progress; /* NULL: none */
    void *progress_context;
};

/* 'ret_path', in the arena, is where the table was written. */
MYR_MUST_USE int myr_contention_ask(struct myr_contention *ret, const char **ret_path,
                                    struct myr_arena *arena,
                                    const struct myr_contention_question *question,
                                    struct myr_err *err);

/* Files about a run; NULL: not wanted. Standard output is the answer's, so "-" is refused. */
struct myr_sim_files {
    const char *report;  /* a page */
    const char *heatmap; /* a drawing */
    const char *fct;     /* a row for each flow */
    const char *flows;   /* tasks and what they waited for */
    const char *paths;   /* ordered paths */
    const char *trace;   /* the run as a timeline */
    const char *series;  /* what channels carried, by interval */
};

MYR_MUST_USE int myr_sim_files_write(const struct myr_sim_answer *answer,
                                     const struct myr_sim_files *files, struct myr_err *err);
