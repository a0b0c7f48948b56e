/* combine: from blocks to a step. Private to the module. */
#pragma once

#include "cost/block.h"
#include "cost/schedule.h"

/* A step up to the exchange among replicas, which other axes decide. */
struct fit_pipe {
    double terms[MYR_FIT_TERM_COUNT]; /* of all micro-batches, by name */
    double forward_s, backward_s;     /* one micro-batch through the slowest stage */
    double micro_batches;
    struct myr_rank_params params; /* of the slowest stage */
};

/* Adds a span's layers to the counts by kind. */
void fit_count_layers(const struct myr_model *model, struct myr_span span,
                      double counts[FIT_KIND_COUNT]);
/* Both passes of one micro-batch through a stage. */
void fit_stage_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                  const struct fit_blocks *blocks, uint32_t stage, struct fit_layer *ret);
/* Transfers between stages that a stage waits for, each micro-batch. */
double fit_hop_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                 struct fit_near near);
/* Idle share of warm-up and drain, against plain 1F1B. */
double fit_bubble_share(const struct myr_layout *layout);
void fit_pipe_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct fit_blocks *blocks, struct fit_pipe *ret);

/* A schedule played; 'rank' is the slowest one and 'rank_s' a micro-batch on it. */
struct fit_played {
    double all_s, rank_s;
    uint32_t rank;
};

/* All of it but what replicas exchange, with transfers of 'hop' between stages. */
struct fit_played fit_play_pipe(const struct myr_fit_case *it, const struct myr_layout *layout,
                                const struct fit_blocks *blocks, double hop);
static inline double fit_pipe_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                                const struct fit_blocks *blocks, double hop)
{
    return fit_play_pipe(it, layout, blocks, hop).all_s;
}

/* The step of what was played with these transfers. */
void fit_pipe_from(const struct myr_fit_case *it, const struct myr_layout *layout,
                   const struct fit_blocks *blocks, double hop, const struct fit_played *played,
                   struct fit_pipe *ret);

/* Plays it for somebody to watch. */
void fit_watch_pipe(const struct myr_fit_case *it, const struct myr_layout *layout,
                    fit_watcher *watcher, void *context);

/* One micro-batch on a kind of stage, all that keeps it busy. */
struct fit_stage_s {
    double forward_s, weight_s, total_s; /* one pass; weights' gradients; both passes */
    double chunk_s;                      /* both passes of its first chunk, at least */
    double count, first, last; /* how many, and how many stages are before the outer ones */
};

/* What bounds look at; the least ones are 0 where not all stages are known. */
struct fit_stages {
    struct fit_stage_s *stages; /* by kind; the caller's memory */
    uint32_t count;
    double sum_s, forward_s;                           /* over all stages, in all and forward */
    double least_s, least_forward_s, least_backward_s; /* the last without weights' gradients */
    double most_weight_s;                              /* of any stage */
};

/* Adds a kind to the sums. */
void fit_add_stage(struct fit_stages *all, struct fit_stage_s stage);
/* No pipeline of these stages is faster: the search relies on it. */
double fit_pipe_floor_s(const struct myr_layout *layout, double micro_batches,
                        const struct fit_stages *all);

/* What replicas of one kind of weights exchange, over the parameters of a rank. */
struct fit_exchange {
    struct fit_line reduce, gather; /* gradients; weights */
    struct fit_line copies;         /* of a shard, among themselves (HSDP) */
    struct fit_line ring;           /* both before they are scaled, from ZeRO-1 on */
    double shard;                   /* ranks that share the optimiser's work */
};

/* Dense weights over dp-cp, experts over edp. */
struct fit_exchanges {
    struct fit_exchange dense, expert;
};

/* The same for all pipelines of a grid with one order, ZeRO stage and shard. 'like': those of
 * another stage from 1 on, whose rings are the same; or NULL. */
void fit_exchanges_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                      const struct fit_places *places, const struct fit_exchanges *like,
                      struct fit_exchanges *ret);

/* Weights, gradients and the optimiser's state of a stage. */
double fit_state_bytes(const struct myr_layout *layout, const struct myr_rank_params *params);
/* What no moment of a step holds less of: bytes of a parameter, of an expert's and of any other. */
struct fit_state_each {
    double dense, expert;
};

struct fit_state_each fit_state_floor(const struct myr_layout *layout);
static inline double fit_state_of(struct fit_state_each each, const struct myr_rank_params *params)
{
    return (double)(params->sharded + params->replicated) * each.dense +
           (double)params->expert * each.expert;
}

/* What replicas exchange beyond what passes hide, and the optimiser. */
double fit_update_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                    const struct fit_pipe *pipe, const struct fit_exchanges *exchanges);
double fit_straggler_share(const struct myr_fit_case *it, const struct myr_layout *layout);
/* The step, without the rates that only people read. */
void fit_close_with(const struct myr_fit_case *it, const struct myr_layout *layout,
                    const struct fit_pipe *pipe, const struct fit_exchanges *exchanges,
                    double straggler_share, struct myr_fit_cost *ret);
void fit_close(const struct myr_fit_case *it, const struct myr_layout *layout,
               const struct fit_pipe *pipe, struct myr_fit_cost *ret);
void fit_rates(const struct myr_fit_case *it, const struct myr_layout *layout,
               struct myr_fit_cost *cost);
