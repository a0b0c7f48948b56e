/*
 * Places: GPUs that are kept for a job that does not run. A claim waits for others to leave them,
 * or for nodes in the place of bad ones; a hold is what becomes of it when that takes too long.
 * Part of queue/state.h, which includes it last.
 */
#pragma once

#include "myriad/sched/queue.h"

struct hold;

/* claims.c */
/* The gang is built share by share, of what may be claimed; then it runs or waits for the rest. */
void queue_claim_begin(struct myr_queue *q, uint32_t id);
void queue_claim_share(struct myr_queue *q, uint32_t id, uint32_t node, uint32_t gpus);
void queue_claim_end(struct myr_queue *q, uint32_t id);
/* A job that is nowhere claims its gang as it is; 'pending' is set. */
void queue_claim_gang(struct myr_queue *q, uint32_t id);
/* What it has of its claim becomes free; it is nowhere then, see queue_settle(). */
void queue_claim_drop(struct myr_queue *q, uint32_t id);
/* A share of the claim is let go: what others are not leaving becomes free. */
void queue_claim_leave(struct myr_queue *q, uint32_t id, const struct myr_share *share);
/* Those with a share on the node, except owners of it; they wait again. */
void queue_claims_drop_on(struct myr_queue *q, uint32_t node);
/* Starts those whose GPUs are all free. */
void queue_claims_start(struct myr_queue *q);

/* lines.c: out of q->claims. */
void queue_unlist_claim(struct myr_queue *q, uint32_t id);

/* hold.c */
/* The nodes of a place that was given up are held for its job. */
void queue_hold_place(struct myr_queue *q, uint32_t id, const struct myr_share *shares,
                      uint32_t count);
/* NULL: none. */
const struct hold *queue_hold_of(const struct myr_queue *q, uint32_t id);

/* mend.c: gangs that have lost nodes. */
/* Nodes of the gang that are lost, or closed to what is placed anew. */
uint32_t queue_count_bad(const struct myr_queue *q, const struct myr_gang *gang);
/* Its run is over; its nodes stay its own until the bad ones are replaced. */
void queue_break(struct myr_queue *q, uint32_t id, enum myr_stop_reason reason);
/* Claims with nodes that are bad by now get others, or are given up. */
void queue_mend_places(struct myr_queue *q);
/*
 * Who is broken starts on spares and takes its nodes back from guests; spares serve those too who
 * would find no room without them in an empty cluster.
 */
void queue_start_on_spares(struct myr_queue *q);
