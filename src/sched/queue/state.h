/*
 * What the files of the queue share. Each calls only those above it in this list:
 *
 *   policy    what the policy says of one job: level, waits, what stopping it costs
 *   lengths   how long jobs of a size run, and nodes take to be free
 *   cells     private clusters of tenants, and the places they are bound to
 *   table     jobs by id; what is over, and lines nobody waits in, are forgotten
 *   clock     time goes on
 *   stakes    GPUs that no job runs on and that are not free: some are left, some are claimed
 *   rank      which line goes before which
 *   lines     who waits where, and which lines are due for a search for jobs to stop
 *   requests  what jobs ask for beside a number of GPUs
 *   jobs      jobs on their nodes: run, stop, end
 *   claims    GPUs kept for a job while others leave them
 *   submit    new jobs, one by one and in arrays; jobs that wait for others
 *   owner     starts jobs in cells of their own, and with requests
 *   order     who is next, and starts what fits
 *   choice    which nodes are held
 *   hold      keeps nodes for who waits
 *   guests    short jobs on nodes that are held
 *   preempt   makes room by stopping others
 *   elastic   fewer GPUs than wished for
 *   mend      gangs that have lost nodes: other ones in their place; who starts on spares
 *   reserve   a job at a stated time
 *   nodes     losses, spares, maintenance
 *   services  replicas
 *   events    what a controller says of starts, stops and nodes
 *   changes   what users ask, and a cluster that changes
 *   queue     the outside, and one decision
 *   why       what a waiting job lacks
 */
#pragma once

#include "flat/flat.h"
#include "myriad/sched/events.h"

struct qjob {
    struct myr_queue_job spec;
    int64_t since_s; /* when it would have come had it waited in one piece */
    int64_t start_s; /* of this run */
    int64_t saved_s; /* work done, up to the last checkpoint of earlier runs */
    struct myr_gang gang;
    struct myr_gang own_gang; /* the same in the owner's private numbering */
    uint32_t id;
    uint32_t epoch;    /* starts so far */
    uint32_t attempts; /* that failed by themselves */
    uint32_t leaving;  /* nodes where ranks of it may still run after a stop */
    uint32_t pending;  /* GPUs of its claim that others have not left yet */
    uint32_t wish;     /* GPUs asked for; it may run with fewer */
    uint32_t array;    /* that it is a member of, or MYR_NONE */
    uint32_t request;  /* in q->requests, or MYR_NONE */
    uint32_t broken;   /* its place lacks nodes; or it waits, since that was given up */
    uint32_t owner;    /* tenant whose cells it runs in, or MYR_NONE */
    uint32_t line, next, previous;
    uint32_t stops;
    uint32_t service;      /* that it is a replica of, or MYR_NONE */
    uint32_t guest_of;     /* runs on nodes held for this job, which may stop it; or MYR_NONE */
    uint64_t blocked_pass; /* its own cells had no node that is well in this pass */
    uint64_t start_pass;   /* of its last start */
    int64_t retry_s;       /* no search for victims before this */
    int64_t held_s;        /* since when, while its user holds it, or its place is broken */
    enum myr_job_state state;
    enum myr_job_result result; /* when it is over, or as what it ends when its ranks are gone */
    uint32_t user_held;
    uint32_t present; /* counts for its tenant's share */
};

/* Where jobs lie, by id; a page is gone when all of it is forgotten, so it is small. */
enum { QUEUE_PAGE_JOBS = 64 };

struct job_page {
    uint32_t slots[QUEUE_PAGE_JOBS]; /* in q->jobs, or MYR_NONE: forgotten */
    uint32_t known;                  /* of them */
    uint32_t next_free;              /* page, of those not in use */
};

/* What a job, or a whole array, asks for beside a number of GPUs, with copies of all pointed to. */
struct qrequest {
    uint32_t nodes, gpus_per_node;
    uint32_t limited, within, leaf_max, zone_max[MYR_ZONE_COUNT], kind_given, kind;
    uint32_t users; /* jobs; 0: not in use, and 'next_free' is */
    uint32_t next_free;
    uint32_t exclude_words;
    uint64_t *exclude; /* bit by node, or NULL */
    struct myr_job_traffic *traffic;
    uint64_t failed; /* one more than the placer's version when it was found not to fit */
};

/* Whole free nodes by kind of GPU, as of a version of the placer; 0: never counted. */
struct kind_count {
    uint64_t version;
    uint32_t nodes[UINT8_MAX + 1];
};

/* A job that is over and when it is forgotten. */
struct over {
    uint32_t job, unused;
    int64_t until_s;
};

/*
 * GPUs of a node that are not free and on which nobody runs. Left: ranks of an incarnation that was
 * told to stop, or whose node was lost, may still be there. Claimed: kept for a job that starts
 * when the last others have left; a GPU may be both.
 */
struct stake {
    uint32_t job, epoch; /* epoch 0: claimed */
    uint32_t node, next; /* of the node's stakes, or of those not in use */
    uint64_t gpus;
};

struct array {
    uint32_t first, count, limit; /* members, and how many of them at a time */
    uint32_t next, active;        /* member to come, members that wait or run */
    uint32_t open;                /* nothing that it waits for is left */
    uint32_t known;               /* members that are not forgotten; 0: not in use */
    uint32_t next_free;
};

/* A job, or a whole array unless that is MYR_NONE, waits for another job to be over. */
struct dependant {
    uint32_t job, array, after;
    enum myr_after kind;
};

/* A job was over; who waits for it is told with the next decision. */
struct ended {
    uint32_t job, array;
    uint32_t ok;
};

/* Nothing is placed on the node until then: a start failed there. */
struct avoid {
    uint32_t node, unused;
    int64_t until_s;
};

/* Jobs of one tenant, size, priority and level wait in one line: the first stands for all. */
struct line {
    uint32_t tenant, gpus;
    int32_t priority;
    uint32_t level;
    uint32_t reclaims, due; /* due: in q->tries.due */
    uint32_t request;       /* MYR_NONE: nothing but a number of GPUs */
    uint32_t first, last;   /* jobs; MYR_NONE: empty */
    uint32_t unused;        /* no gaps: lines are compared byte by byte */
    int64_t since_s;        /* the first job's, beside it: lines are compared by it all the time */
    uint32_t next_busy, previous_busy;
    uint32_t next_alike, previous_alike; /* busy lines of the same size */
};

/* Sizes that wait, smallest first: where one does not fit, none after it does. */
struct size {
    uint32_t gpus, first; /* busy line */
};

/* The tenants below one parent that have jobs, waiting or running; its brothers share by weight. */
struct brothers {
    uint32_t count, jobs; /* tenants, and all their jobs */
    uint64_t weight;
};

/* How far a tenant is beyond its share, and for which q->shares that was found. */
struct excess {
    uint64_t shares;
    uint32_t octaves;
};

/* Nodes kept free for one gang. */
struct hold {
    uint32_t job;
    uint32_t unused;
    uint64_t chosen;             /* q->ends at that time */
    int64_t idle_gpu_s, since_s; /* what stood idle on them so far; and since when they are held */
    MYR_VEC(uint32_t) nodes;
};

struct service {
    struct myr_service spec;
    uint32_t unused;
    MYR_VEC(uint32_t) jobs; /* replicas wanted, oldest first */
};

struct window {
    struct myr_window spec;
    uint32_t stage; /* 0: ahead, 1: draining, 2: open, 3: over; forgotten some time after */
    uint32_t cancelled;
    uint32_t id;  /* they are numbered as they come */
    uint32_t job; /* for which it is kept, and 1; 0: maintenance */
};

/* A search for jobs to stop that was in vain: for whom, when, and what it would have cost. */
struct vain {
    uint32_t gpus, length_s, excess; /* 'length_s': queue_lengths_cost_s(), as far as it goes */
    int32_t priority;
    int64_t at_s, cost;
};

/*
 * Lines whose first job may ask for room: later, by time; and by now. 'vain' has the last searches
 * in vain; 'vain_next' is the oldest.
 */
enum { VAIN_MAX = 16 };
struct tries {
    bool known;
    struct myr_heap later;
    MYR_VEC(uint32_t) due;
    int64_t wake_s; /* the queue is called then in any case */
    struct vain vain[VAIN_MAX];
    uint32_t vain_next;
};

struct cells;
struct lengths;

enum {
    CLOSED_HOLD = 1,
    CLOSED_WINDOW = 2,
    CLOSED_SPARE = 4,
    CLOSED_DOWN = 8,
    CLOSED_DRAIN = 16,
    CLOSED_AVOID = 32,
    CLOSED_BAD = CLOSED_WINDOW | CLOSED_DOWN | CLOSED_DRAIN | CLOSED_AVOID,
};

struct myr_queue {
    struct myr_place_shape shape;
    struct myr_queue_policy policy;
    struct myr_placer *placer;
    struct lengths *lengths; /* of the jobs that have ended */
    struct cells *cells;     /* NULL: nobody owns anything */
    uint32_t tenant_count;
    struct myr_tenant *tenants;
    uint64_t *tenant_gpus;     /* running, with those of the tenants below */
    uint32_t *tenant_jobs;     /* waiting and running, with those of the tenants below */
    struct excess *excess;     /* by tenant: what was found last */
    uint64_t shares;           /* counts what changes it */
    struct brothers *brothers; /* by parent, one later: the first is of the roots */
    /* Jobs by id through pages; queue_over stands for those that are forgotten. */
    MYR_VEC(uint32_t) page_of; /* by id / QUEUE_PAGE_JOBS; MYR_NONE: all forgotten */
    MYR_VEC(struct job_page) pages;
    MYR_VEC(struct qjob) jobs; /* slots; those not in use are linked by 'next' */
    MYR_VEC(struct over) over; /* over and not forgotten, in the order of that */
    uint32_t page_free, job_free;
    uint32_t job_count; /* ids given */
    MYR_VEC(struct stake) stakes;
    uint32_t stake_free;
    uint32_t stake_count;     /* in use */
    uint32_t *stake_first;    /* by node */
    MYR_VEC(uint32_t) claims; /* jobs that claim, or wait and are broken; oldest first */
    MYR_VEC(struct array) arrays;
    MYR_VEC(struct dependant) dependants;
    MYR_VEC(struct ended) ended;
    MYR_VEC(struct avoid) avoids;
    MYR_VEC(struct qrequest) requests;
    uint32_t request_free, array_free;
    uint32_t shaped; /* waiting jobs with one */
    MYR_VEC(struct line) lines;
    uint32_t busy_first, busy_last; /* lines with jobs */
    MYR_VEC(struct size) sizes;     /* of the busy lines */
    struct myr_u64map line_of;
    uint32_t *node_jobs;    /* by node: up to gpus_per_node running jobs */
    uint8_t *node_job_gpus; /* beside each of them: how many GPUs of the node it has */
    uint8_t *node_job_count;
    int64_t *node_oldest_s; /* by node: when its oldest job would have started, run in one piece */
    uint8_t *closed;        /* by node: CLOSED_ bits */
    MYR_VEC(struct hold) holds;
    MYR_VEC(struct window) windows;
    MYR_VEC(struct service) services;
    uint32_t spares_wanted, spares_kept;
    uint32_t window_count; /* ids given */
    uint32_t lines_most;   /* with more of them those without jobs are looked for */
    struct tries tries;
    struct myr_heap wakes; /* value: the job that it is for, or MYR_NONE */
    MYR_VEC(struct myr_decision) decisions;
    bool handed;               /* the caller has them: the next one starts anew */
    int32_t unused;            /* no gaps: states are compared byte by byte */
    MYR_VEC(uint32_t) victims; /* scratch */
    MYR_VEC(uint32_t) nodes;   /* scratch */
    struct kind_count kinds;   /* scratch */
    int64_t now_s;
    uint64_t pass; /* counts decisions */
    /* Counts what may make the choice of a hold better: ends of jobs, nodes that change. */
    uint64_t ends;
    uint32_t waiting;
    uint32_t reclaiming; /* of the waiting: those that may stop others in any case */
    uint32_t limited;    /* of the waiting: those with a limit */
    uint32_t elastic;    /* of the waiting: those that also start with fewer GPUs */
    uint64_t busy_gpus;
    uint32_t priority_runs[2 * MYR_PRIORITY_MAX + 1]; /* running jobs */
    uint32_t big_runs;     /* running gangs of a quarter of the cluster or more */
    int64_t loss_left;     /* GPU seconds x 1000 that preemption may still cost */
    int64_t usual_wait;    /* mean of those that started lately, in seconds x 1024 */
    int64_t drained_gpu_s; /* idle on nodes that were held */
    int64_t hold_scan_s;   /* nobody becomes due for a hold before this */
    int64_t hold_wake_s;   /* somebody is due then, and the queue is called */
};

/* What is known of a job that is forgotten; read only. */
extern const struct qjob queue_over;

static inline struct qjob *queue_job(const struct myr_queue *q, uint32_t id)
{
    uint32_t page = q->page_of.items[id / QUEUE_PAGE_JOBS];
    uint32_t slot = page == MYR_NONE ? MYR_NONE : q->pages.items[page].slots[id % QUEUE_PAGE_JOBS];
    return slot == MYR_NONE ? (struct qjob *)&queue_over : &q->jobs.items[slot];
}

/* Whether it has GPUs and is on their nodes. */
static inline bool queue_is_on(const struct qjob *job)
{
    return job->state == MYR_JOB_RUNS || job->state == MYR_JOB_STARTING;
}

static inline int64_t queue_waited_s(const struct myr_queue *q, uint32_t id)
{
    return q->now_s - queue_job(q, id)->since_s;
}

/*
 * 'wait_s' after a moment; INT64_MAX, which is never, stays so. Traces may begin before 0, so the
 * sum is taken only where it cannot overflow.
 */
static inline int64_t queue_after_s(int64_t since_s, int64_t wait_s)
{
    return wait_s < INT64_MAX / 2 ? since_s + wait_s : INT64_MAX;
}

static inline bool queue_is_gang(const struct myr_queue *q, uint32_t gpus)
{
    return gpus > q->shape.gpus_per_node;
}

static inline uint32_t gpu_count(uint64_t mask)
{
    return (uint32_t)__builtin_popcountll(mask);
}

extern const struct flat_type queue_flat; /* keep/queue_flat.c */
/* keep/sound.c: whether a state that was read can be worked with: no index leads outside. */
bool queue_is_sound(const struct myr_queue *q);

/* policy.c */
uint32_t queue_level_of(const struct myr_queue *q, int64_t work_s);
/* Work of a running job since it started, and the part of it that no checkpoint holds yet. */
int64_t queue_worked_s(const struct myr_queue *q, const struct qjob *job);
int64_t queue_unsaved_s(const struct myr_queue *q, const struct qjob *job);
/* GPU seconds that are lost when it is stopped now. */
int64_t queue_stop_cost(const struct myr_queue *q, const struct qjob *job);
/* A gang of one part of the cluster in so many, or more. */
bool queue_is_large(const struct myr_queue *q, uint32_t gpus, uint32_t part);
/*
 * How long a gang waits for the fewest groups. One group more matters
 * less to a gang that needs many, and whole free groups by the dozen hardly ever come.
 */
int64_t queue_locality_s(const struct myr_queue *q, uint32_t gpus, int64_t most_s);
/*
 * A job has nodes held for it when it has waited so long; INT64_MAX: never. A gang when it has
 * waited for as long as they are likely to take to be free, 'drain_s': then it waits twice as long
 * as it has to at most, and what stands idle for it is worth its wait. Twice what jobs wait of
 * late: where all wait long, each drain more only adds to it.
 */
int64_t queue_hold_s(const struct myr_queue *q, uint32_t gpus, int64_t drain_s);
/* A job starts that has waited so long. */
void queue_note_wait(struct myr_queue *q, int64_t waited_s);
/*
 * How far the tenant and those above it are beyond their share, in octaves, the root's first: lower
 * goes first. Tenants count as equal until one runs twice what its weight gives it (less where
 * there are few): finer steps would put gangs behind small jobs of whoever runs a little less.
 */
uint32_t queue_excess(const struct myr_queue *q, uint32_t tenant);

/* lengths.c */
struct lengths *queue_lengths_create(void);
void queue_lengths_add(struct lengths *l, uint32_t gpus, int64_t seconds);
/* Nearly all jobs of the size end within this; INT64_MAX: too few have ended to tell. */
int64_t queue_lengths_end_s(const struct lengths *l, uint32_t gpus);
/* Seconds that jobs of this size and age run for each of them that ends; 'age_s': too few tell. */
int64_t queue_lengths_cost_s(struct lengths *l, uint32_t gpus, int64_t age_s);
/* A length of those that ran for longer; 'chance' draws it. -1: too few have ended to tell. */
int64_t queue_lengths_draw(const struct lengths *l, uint32_t gpus, int64_t age_s, uint64_t chance);
/* The octave of a size drawn from all that ended; MYR_NONE: none has. */
uint32_t queue_lengths_class(const struct lengths *l, uint64_t chance);

/* cells.c: whose cells are whose; all but the first three need q->cells. */
struct cells *queue_cells_create(const struct myr_place_shape *shape,
                                 const struct myr_tenant *tenants, uint32_t count);
bool queue_fits_own(const struct myr_queue *q, uint32_t tenant, uint32_t gpus);
/*
 * Room for the job in the cells of its tenant or of those above it, in the owner's private
 * numbering: cells become bound to places. Returns the owner, or MYR_NONE. Either cancelled or
 * entered afterwards; 'ret' has room for the job's nodes.
 */
uint32_t queue_cells_reserve(struct myr_queue *q, uint32_t id, struct myr_gang *ret);
void queue_cells_cancel(struct myr_queue *q, uint32_t owner, const struct myr_gang *own);
/* The job runs in these cells now; the shares become the job's. */
void queue_cells_enter(struct myr_queue *q, uint32_t id, uint32_t owner, struct myr_gang own);
void queue_leave_own(struct myr_queue *q, uint32_t id);
/* The node that a node of the private numbering is bound to. */
uint32_t queue_cells_physical(const struct myr_queue *q, uint32_t owner, uint32_t node);
/* A node was lost or came back. */
void queue_cells_node(struct myr_queue *q, uint32_t node);
/* More tenants, which own nothing. */
void queue_cells_add_tenants(struct myr_queue *q, uint32_t count);
/* Whether somebody may own the node. */
bool queue_in_pool(const struct myr_queue *q, uint32_t node);
/* Nodes that a tenant and those above it own, and the whole ones they do not use. */
uint32_t queue_own_nodes(const struct myr_queue *q, uint32_t tenant, uint32_t *ret_free);

/* table.c */
/* Its id is given; pointers to other jobs become invalid. */
uint32_t queue_add_job(struct myr_queue *q, const struct qjob *job);
/* It is over: it will be forgotten. */
void queue_bury_job(struct myr_queue *q, uint32_t id);
void queue_forget_jobs(struct myr_queue *q);
/* Lines without jobs, when there are many; numbers of lines change. */
void queue_forget_lines(struct myr_queue *q);
uint64_t queue_line_key(const struct line *line);

/* clock.c: MYR_EINVAL when the time is before the last one. */
MYR_MUST_USE int queue_advance(struct myr_queue *q, int64_t now_s);

/* stakes.c */
void queue_stake_add(struct myr_queue *q, const struct stake *stake);
/* Removes the stake at this place of the node's list. */
void queue_stake_remove(struct myr_queue *q, uint32_t node, uint32_t at);
/* The stake of a job on a node with this epoch, or MYR_NONE. */
uint32_t queue_stake_find(const struct myr_queue *q, uint32_t node, uint32_t id, uint32_t epoch);
/* GPUs of a node that some are still leaving; that are claimed; that may be claimed. */
uint64_t queue_left_gpus(const struct myr_queue *q, uint32_t node);
uint64_t queue_claimed_gpus(const struct myr_queue *q, uint32_t node);
uint64_t queue_claimable_gpus(const struct myr_queue *q, uint32_t node);
/* A job leaves GPUs at once: they are free, but for those that some are still leaving. */
void queue_give_back(struct myr_queue *q, const struct myr_share *share);
/* The ranks behind a stake are gone: its GPUs go to who claimed them, or become free. */
void queue_stake_gone(struct myr_queue *q, uint32_t node, uint32_t at);

/* rank.c */
bool queue_line_before(const struct myr_queue *q, const struct line *a, const struct line *b);
/* Whether a job goes before another in any case: by priority, or by its tenant's share. */
bool queue_outranks(const struct myr_queue *q, uint32_t id, uint32_t other);

/* lines.c: into its line and out of it. */
void queue_enqueue(struct myr_queue *q, uint32_t id);
void queue_dequeue(struct myr_queue *q, uint32_t id);
void queue_wake_at(struct myr_queue *q, int64_t time_s);
/* The line has another first job. */
void queue_first_changed(struct myr_queue *q, uint32_t at);
/* Its first job asks again then, and not before. */
void queue_ask_again(struct myr_queue *q, uint32_t at, int64_t time_s);
/*
 * The first line in order that is due, MYR_NONE: none is. Those that 'hopeless' says yes to have
 * another time to ask again by then, and are not due any more.
 */
uint32_t queue_tries_next(struct myr_queue *q,
                          bool (*hopeless)(struct myr_queue *q, uint32_t line));
/* When the next line is due; INT64_MAX: none will be. */
int64_t queue_tries_due_s(const struct myr_queue *q);
enum { QUEUE_RETRY_S = 60 }; /* between two searches of a job at least */
int64_t queue_retry_after_s(const struct myr_queue *q, uint32_t id);
/* What an end of the line's first job costs. */
int64_t queue_first_cost_s(const struct myr_queue *q, const struct line *line);
/* The least that can be lost for so many GPUs, in GPU seconds. */
int64_t queue_least_cost(const struct myr_queue *q, uint32_t gpus);
/* Searches in vain: whether one like it was a moment ago; and one that was. */
bool queue_was_in_vain(const struct myr_queue *q, const struct line *line);
void queue_note_vain(struct myr_queue *q, const struct line *line, int64_t cost);
uint32_t queue_line_above(const struct myr_queue *q, uint32_t line);

/* jobs.c: jobs on their nodes. */
struct myr_gang *queue_gang_room(struct myr_queue *q, uint32_t id);
/* The GPUs in its gang are taken already. */
void queue_run_job(struct myr_queue *q, uint32_t id);
/* The same for one that was taken out of its line before. */
void queue_run_unqueued(struct myr_queue *q, uint32_t id);
/* All its ranks are there. */
void queue_begin_work(struct myr_queue *q, uint32_t id);
/* Counts for its tenant's share while present. */
void queue_set_present(struct myr_queue *q, uint32_t id, bool present);
void queue_stop_job(struct myr_queue *q, uint32_t id, enum myr_stop_reason reason, uint32_t by);
/* The same, but it is nowhere then; its gang still tells where it was. */
void queue_unload_job(struct myr_queue *q, uint32_t id, enum myr_stop_reason reason, uint32_t by);
/* Where a job that is on no node, in no line and has no claim belongs now. */
void queue_settle(struct myr_queue *q, uint32_t id);
/*
 * It is over, in whatever state but with a claim. What runs has left its GPUs already, or is
 * stopped first where stops are confirmed and a reason for that is given.
 */
void queue_end_job(struct myr_queue *q, uint32_t id, enum myr_job_result result,
                   enum myr_stop_reason reason);
/* A share of a running job moves to as many free GPUs of another node. */
void queue_move_share(struct myr_queue *q, uint32_t id, const struct myr_share *from,
                      const struct myr_share *to);
/* The share of a running job on a node moves to the same GPUs of a free one. */
void queue_swap_node(struct myr_queue *q, uint32_t id, uint32_t node, uint32_t spare);
void queue_close_node(struct myr_queue *q, uint32_t node, uint8_t bit, bool closed);
/* Counts the GPUs of a job that runs for its tenants and its priority, or no longer. */
void queue_count_running(struct myr_queue *q, const struct myr_queue_job *spec, bool more);
void queue_decide_add(struct myr_queue *q, const struct myr_decision *decision);

/* submit.c */
/* Who waited for jobs that are over may go, or never will. */
void queue_tell_dependants(struct myr_queue *q);
MYR_MUST_USE int queue_submit(struct myr_queue *q, const struct myr_queue_job *spec,
                              uint32_t *ret_id, struct myr_err *err);

/* requests.c: what jobs ask for beside a number of GPUs. */
MYR_MUST_USE int queue_request_check(const struct myr_queue *q, const struct myr_queue_job *spec,
                                     struct myr_err *err);
uint32_t queue_request_add(struct myr_queue *q, const struct myr_request *from, uint32_t users);
/* The job asks for it no more; the last one takes it along. */
void queue_request_leave(struct myr_queue *q, uint32_t id);
struct myr_request queue_request_of(const struct myr_queue *q, const struct qjob *job);
/* Nodes that the job needs, and GPUs of each of them but the last. */
uint32_t queue_nodes_of(const struct myr_queue *q, const struct qjob *job);
uint32_t queue_request_per_node(const struct myr_queue *q, const struct qjob *job);
/* Whether the job may run on the node, by its kind and what it leaves out. */
bool queue_suits(const struct myr_queue *q, const struct qjob *job, uint32_t node);
/* The most nodes that a job with a request would get now; whether these are all it asks for. */
uint32_t queue_request_most(const struct myr_queue *q, uint32_t id);
bool queue_request_fits(struct myr_queue *q, uint32_t id);
/* Whether the node may stand beside the others, for what the job asks. */
bool queue_may_stand_with(const struct myr_queue *q, const struct qjob *job, const uint32_t *nodes,
                          uint32_t count, uint32_t node);
/* Whether jobs of so many GPUs, and so all larger ones, cannot start now on the nodes of all. */
bool queue_none_fits(const struct myr_queue *q, uint32_t gpus);
/* The cluster has more nodes. */
void queue_requests_grow(struct myr_queue *q);
/* Whether the node may stand beside those of the gang that are well, for what the job asks. */
bool queue_may_join(const struct myr_queue *q, const struct qjob *job, const struct myr_gang *gang,
                    uint32_t node);
bool queue_may_resize(const struct myr_queue *q, uint32_t id, uint32_t gpus);
void queue_request_resized(struct myr_queue *q, uint32_t id);

/* owner.c: in cells of the job's own tenant or above; by force borrowers there are stopped. */
bool queue_start_own(struct myr_queue *q, uint32_t id, bool force);
/* Jobs that have a request. */
bool queue_request_start(struct myr_queue *q, uint32_t id, uint32_t nodes);
/* On exactly these nodes, which are free; false when the search finds no way to do that. */
bool queue_request_start_on(struct myr_queue *q, uint32_t id, const uint32_t *nodes,
                            uint32_t count);

/* order.c: who is next. */
bool queue_may_start(const struct myr_queue *q, uint32_t id);
/* Starts a job that may start; false when its cells turn out to have no nodes that are well. */
bool queue_start(struct myr_queue *q, uint32_t id);
void queue_start_what_fits(struct myr_queue *q);
/* Starts what fits and outranks this job. */
void queue_start_above(struct myr_queue *q, uint32_t id);

/* guests.c */
/* Jobs that are likely to be over in time, or may be stopped, start on nodes that are held. */
void queue_share_holds(struct myr_queue *q);
/* Jobs whose limit ends in time go onto nodes that are held or about to be maintained. */
void queue_backfill(struct myr_queue *q);

/* preempt.c */
void queue_preempt_for_waiting(struct myr_queue *q);
/*
 * The jobs whose end would let this one start with the priority given, into q->victims; with
 * 'anyone' whoever they are. False when there are none.
 */
bool queue_find_stops(struct myr_queue *q, uint32_t id, int32_t priority, bool anyone);

/* elastic.c: jobs that also start with fewer GPUs. */
void queue_start_elastic(struct myr_queue *q);

/* dated/reserve.c: windows that are kept for a job. */
/* Whether it still waits for its time. */
bool queue_is_reserved(const struct myr_queue *q, const struct window *w);
/* Chooses nodes for the window at this place, which has none; others for it may follow. */
void queue_reserve_nodes(struct myr_queue *q, size_t at);
/* Its windows have just opened: the job starts there, or stands in the order from now on. */
void queue_start_reserved(struct myr_queue *q, uint32_t id);

/* nodes.c: failures, spares, maintenance. */
/* These nodes, all of them up so far, are lost; who runs there is mended, or waits again. */
void queue_lose_nodes(struct myr_queue *q, const uint32_t *nodes, uint32_t count);
void queue_end_avoids(struct myr_queue *q);
void queue_turn_windows(struct myr_queue *q);
void queue_fill_spares(struct myr_queue *q);

/* services.c: another replica in the place of one that has ended. */
void queue_replace_replica(struct myr_queue *q, uint32_t service, uint32_t id);

#include "queue/places.h"
