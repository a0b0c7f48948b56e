/*
 * Places: GPUs that are kept for a job that does not run. A claim waits for others to leave them,
 * or for nodes in the place of bad ones; a hold is what becomes of it when that takes too long.
 * Part of queue/state.h, which includes it last.
 */
#pragma once

#include "myriad/sched/queue.h"
#include "queue/lengths.h"

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

/* lengths.c: nodes by how long their oldest jobs have been there. */
struct node_ages {
    uint32_t upto[LENGTH_BUCKETS]; /* nodes of this age or less */
};
/* Of those that are well. */
void queue_count_ages(const struct myr_queue *q, struct node_ages *ret);
/* How long until so many of them are likely to be free; INT64_MAX: there are too few. */
int64_t queue_drain_s(const struct node_ages *ages, uint32_t nodes);

/* How long until a node is likely to be free. */
int64_t queue_ready_s(const struct myr_queue *q, uint32_t node);

/* choice.c */
void queue_set_held(struct myr_queue *q, const struct hold *hold, bool held);
/* How many nodes are held for a job. */
uint32_t queue_wanted_nodes(const struct myr_queue *q, uint32_t id);
/* So many open nodes, as far as there are any: those that are likely to be free first. */
void queue_pick_nodes(struct myr_queue *q, struct hold *hold, uint32_t needed);
/* Nodes that still work are given up for free ones; false: they are to be chosen anew. */
bool queue_keep_nodes(struct myr_queue *q, struct hold *hold, uint32_t needed);

/* hold.c: nodes kept free for who waits. */
bool queue_has_hold(const struct myr_queue *q, uint32_t id);
/* Those whose job runs by now; whether there were any. */
bool queue_drop_holds(struct myr_queue *q);
void queue_serve_holds(struct myr_queue *q);
/*
 * Opens (or closes again) the nodes held for a job, if any are, and for those that have to give way
 * to it: of lower priority, of tenants further beyond their share, and behind it in the order of
 * holds where it has one.
 */
void queue_lift_holds(struct myr_queue *q, uint32_t id, int32_t priority, bool lifted);
/* Whether any nodes are held for it, or for somebody who has to give way to it. */
bool queue_may_use_held(const struct myr_queue *q, uint32_t id);
/* The nodes of a place that was given up are held for its job. */
void queue_hold_place(struct myr_queue *q, uint32_t id, const struct myr_share *shares,
                      uint32_t count);
/* NULL: none. */
const struct hold *queue_hold_of(const struct myr_queue *q, uint32_t id);
/* The node is held for nobody any more who has to give way to the job; false: it is for another. */
bool queue_hold_leave(struct myr_queue *q, uint32_t id, uint32_t node);
/* Marks, by node, what is held for those who need not give way to the job. */
void queue_mark_held(const struct myr_queue *q, uint32_t id, uint8_t *marks);
/*
 * The job has this gang, and its hold is over. Places whose nodes it uses get as many of those that
 * it leaves. Nodes of the holds are open when this is called, and still are.
 */
void queue_hand_over(struct myr_queue *q, uint32_t id, const struct myr_gang *gang);

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
