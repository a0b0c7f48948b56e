/*
 * world: ten thousand simulated nodes, their agents and jobs, and the network between them and a
 * controller that is the real one. Each file calls only those above it in this list:
 *
 *   draw     random times
 *   times    how long each part of a start or repair takes
 *   check    what must hold, watched from outside
 *   world    virtual time, messages, the line to the controller
 *   logs     what ranks print, where somebody reads it
 *   gangs    incarnations and their ranks: progress, checkpoints, the end
 *   agents   what a node does with orders
 *   people   who submit, cancel, drain, hold and weigh
 *   nature   faults, partitions
 *   calms    all trouble stops
 *   asks     questions to the controller of a run
 *   turns    one happening of the world
 *
 * Whoever holds the other end of the line is one of two:
 *
 *   seat     a controller in virtual time: its journal, crashes, clock, and who submits to it
 *   run      ... and a scenario played under it
 *   live     a controller of its caller's, in its caller's time
 */
#pragma once

#include "draw.h"
#include "myriad/twin/run.h"
#include "progress/check.h"
#include "times.h"

enum happening {
    HAP_TICK,       /* the controller wants to be called */
    HAP_TO_NODE,    /* an order reaches its node, or would have */
    HAP_ORDER,      /* for a rack, for a repair crew, for people */
    HAP_TO_CONTROL, /* a word reaches the controller */
    HAP_SUBMIT,     /* somebody asks for a job, again if need be */
    HAP_READY,      /* a rank's processes are up */
    HAP_RUN,        /* an incarnation makes its first step */
    HAP_REPORT,     /* it tells of its steps */
    HAP_COMMIT,     /* a checkpoint is whole */
    HAP_FINISH,     /* an incarnation has done all its work */
    HAP_GONE,       /* a rank that was told to stop has */
    HAP_FAULT,      /* the next fault of the cluster */
    HAP_SILENT,     /* a shell notices that a node is silent */
    HAP_BOOT,       /* a node comes up */
    HAP_FENCE,      /* an attempt to power a node off ends */
    HAP_LEASE,      /* an agent looks at the leases of its ranks */
    HAP_PARTITION,  /* nodes are cut off together */
    HAP_HEAL,       /* ... and reached again */
    HAP_CRASH,      /* the controller is to die */
    HAP_RESTART,    /* ... and comes back */
    HAP_CLOCK,      /* its clock jumps */
    HAP_DRAIN,      /* a person drains a node */
    HAP_UNDRAIN,    /* ... and gives it back */
    HAP_WINDOW,     /* a window of maintenance is announced */
    HAP_CANCEL,     /* a person cancels a job */
    HAP_APPROVE,    /* a person allows more drains */
    HAP_UNCUT,      /* one node is reached again */
    HAP_HOLD,       /* a scheduler below has a use for a node */
    HAP_UNHOLD,     /* ... and gives it back */
    HAP_WEIGHT,     /* a tenant's share is changed */
    HAP_LEVER,      /* a person holds a job, or changes its priority */
    HAP_LET_GO,     /* ... and lets it go */
    HAP_ASK,        /* ... asks a question */
    HAP_SYMPTOM,    /* agents say that nodes fail */
    HAP_CALM,       /* all trouble stops */
    HAP_STORM,      /* ... and may come again */
    HAP_LOOK,       /* somebody looks whether all goes on */
};

struct wnode {
    bool up;                 /* powered, its agent lives */
    bool broken;             /* a test would say so */
    bool needs_part;         /* a reboot does not help */
    bool told_silent;        /* the shell has said so */
    bool fencing, repairing; /* an attempt is under way; a crew has it */
    bool drained, held;      /* people want it empty; a scheduler below has it */
    uint32_t cut;            /* partitions it is in */
    uint32_t boot;           /* counts from 1 */
    uint32_t first_rank;     /* on it, in no order; or MYR_NONE */
    uint32_t test_number;    /* of the last test */
    uint32_t life;           /* counts boots that are under way: one for an older life is void */
    uint32_t quiet;          /* the same of silences */
    int64_t cut_ms;          /* since when it hears no controller, or -1 */
    struct {
        uint32_t job, epoch, used;
    } stopped[64]; /* the agent's memory: never start these again; the least used goes first */
    uint32_t stopped_uses; /* counts uses, so that the oldest is known */
    struct {
        uint32_t job, epoch, code;
    } refused[16]; /* a ring: what was tried once, and answered with this, is not tried again */
    uint32_t refused_next;
    uint32_t ran[8];   /* jobs whose image is here */
    uint32_t ran_next; /* a ring: where the next goes */
};

struct wrank {
    uint32_t job, node, epoch, inc; /* 'job': the world's number; 'inc': its incarnation's slot */
    uint32_t next_on_node;
    uint32_t serial;         /* of the slot's use */
    bool used, up, stopping; /* the slot; its processes; told to stop */
    uint64_t gpus;
};

/* One epoch of a job, as far as it exists. */
struct winc {
    uint32_t job, epoch;
    uint32_t world;             /* GPUs of the whole gang */
    uint32_t gpus_up, live;     /* GPUs whose ranks are up; ranks that exist */
    uint32_t serial;            /* of the slot's use */
    bool used, running, broken; /* of the slot; of its progress */
    int64_t since_ms;           /* running since */
    int64_t base_ms;            /* work done before */
    int64_t stalled_ms;         /* no progress since */
    struct node_list {
        uint32_t *items;
        size_t count, capacity;
    } nodes; /* that have, or had, a rank of it */
};

struct wjob {
    const struct myr_scenario_jobs *group; /* what its scenario says of it */
    uint32_t gpus, id;                     /* asked for; id: in the controller, or MYR_NONE */
    int64_t work_ms, saved_ms, step_ms;    /* all of it; up to the last checkpoint; one step */
    int64_t submit_ms, first_start_ms, first_run_ms, end_ms; /* -1: not yet */
    int64_t failed_ms;                                       /* not yet recovered from; -1: none */
    uint32_t epoch_saved, failures;                          /* of the last checkpoint; so far */
    bool submitted, accepted;                                /* asked for; its owner knows */
    uint8_t over;           /* the controller's last word: enum myr_control_job_state, or 0 */
    MYR_VEC(uint32_t) incs; /* that have ranks: slots */
    struct myr_buf log;     /* what its first rank printed, where it is kept */
    uint64_t log_dropped;   /* bytes before that */
    int64_t log_step;       /* the last that was printed */
};

struct wmsg {
    struct myr_event event;
    struct myr_effect effect;
    uint32_t boot, next_free; /* 'boot': of who says it */
    bool used;                /* it is on its way */
};

struct world;

/* To whoever controls: it takes one event, or (false) is not there, or dies of it. */
struct line {
    bool (*take)(struct world *w, const struct myr_event *event);
    bool up;
    int64_t down_ms; /* since when; -1: up */
};

struct seat {
    struct myr_control *control;
    struct myr_buf snapshot, journal;             /* what a new controller would read */
    int64_t offset_ms, ahead_ms;                  /* of its clock; steps forward alone */
    uint32_t tick;                                /* counts wakes asked for */
    int64_t tick_ms;                              /* when; INT64_MAX: none is asked for */
    uint64_t since_snapshot, events, crash_event; /* it dies at that event; 0: at none */
    struct myr_control *shadow;                   /* a copy that is told the same, or NULL */
    uint64_t dead_hash; /* of its state when it died; 0: the last event was lost with it */
};

struct world {
    const struct myr_scenario *scenario;
    const struct myr_twin_options *options;
    struct times times;
    uint64_t seed;
    int64_t now_ms;
    struct myr_heap heap; /* happenings, by time */
    struct wnode *nodes;
    struct wjob *jobs;
    uint32_t job_count;
    uint32_t *job_of_id; /* the world's job by the controller's id */
    MYR_VEC(struct wrank) ranks;
    MYR_VEC(uint32_t) free_ranks; /* slots that nobody uses */
    MYR_VEC(struct winc) incs;
    MYR_VEC(uint32_t) free_incs; /* the same */
    MYR_VEC(struct wmsg) msgs;
    uint32_t free_msg; /* first slot that nobody uses */
    struct line line;
    struct seat seat;
    bool keeps_logs;
    struct check *check;
    struct progress *progress; /* of a run; a live world's caller has rules of its own */
    struct myr_twin_result *result;
    MYR_VEC(int64_t) recoveries; /* from a failure to the next step, in ms */
    uint64_t faults_drawn, partitions_drawn, crashes_drawn, drains_drawn, clocks_drawn;
    uint64_t holds_drawn, weights_drawn, symptoms_drawn, calms_drawn, levers_drawn, asks_drawn;
    uint32_t calms;                    /* so far: what an earlier trouble was to end with is void */
    bool calm, last;                   /* no trouble now; nor ever again */
    bool ended;                        /* broken off: nobody controls, or nobody looks any more */
    uint64_t gpu_ms_running;           /* of all incarnations that have ended */
    uint64_t gpu_ms_kept;              /* of them, whose work was not lost */
    uint32_t busy_gpus;                /* that make progress now */
    int64_t next_sample_ms, sample_ms; /* 0: no samples */
    bool approve_pending;              /* somebody will look at it */
};

/* Numbers that happenings, lists and orders carry: none leads out of its array. */
static inline struct wnode *node_at(const struct world *w, uint32_t id)
{
    MYR_ASSERT(id < w->scenario->shape.nodes);
    return &w->nodes[id];
}

static inline struct wjob *job_at(const struct world *w, uint32_t id)
{
    MYR_ASSERT(id < w->job_count);
    return &w->jobs[id];
}

static inline struct wrank *rank_at(const struct world *w, uint32_t id)
{
    MYR_ASSERT(id < w->ranks.count);
    return &w->ranks.items[id];
}

static inline struct winc *inc_at(const struct world *w, uint32_t id)
{
    MYR_ASSERT(id < w->incs.count);
    return &w->incs.items[id];
}

/* world.c */
MYR_MUST_USE int world_begin(struct world *w, struct myr_err *err);
void world_done(struct world *w);
void happen(struct world *w, int64_t at_ms, enum happening what, uint32_t id, uint32_t serial);
/* What is never void: nobody asks which use of a slot it was meant for. MYR_NONE: of no slot. */
void happen_to(struct world *w, int64_t at_ms, enum happening what, uint32_t id);
bool node_hears(const struct world *w, uint32_t node);
/* An order leaves the controller. */
void send_to_node(struct world *w, const struct myr_effect *effect);
/* Something for others than nodes, which is not lost on the way. */
void send_order(struct world *w, const struct myr_effect *effect);
/* An agent's word, 'after_ms' from now; it is said again until the controller has it. */
void send_to_control(struct world *w, const struct myr_event *event, int64_t after_ms);
void msg_free(struct world *w, uint32_t id);
/* One event over the line, at once. */
static inline bool tell_control(struct world *w, const struct myr_event *event)
{
    return w->line.take(w, event);
}

/* logs.c */
void log_up(struct world *w, const struct winc *inc);
void log_steps(struct world *w, const struct winc *inc, int64_t work_ms);
void log_saved(struct world *w, const struct winc *inc);
void log_broke(struct world *w, const struct winc *inc, int64_t work_ms, const char *why);
void log_end(struct world *w, uint32_t id);

/* gangs.c */
void agent_remember(struct wnode *node, uint32_t job, uint32_t epoch);
uint32_t rank_new(struct world *w, const struct wrank *rank);
/* It is no more; its incarnation makes no progress from now on. */
void rank_end(struct world *w, uint32_t id);
/* An incarnation of so many GPUs: it is there already, or begins. */
uint32_t inc_of(struct world *w, uint32_t job, uint32_t epoch, uint32_t gpus);
void inc_rank_up(struct world *w, uint32_t rank);
/* Progress stops: a rank is gone, hangs or saves. */
void inc_break(struct world *w, uint32_t id, bool save);
void inc_forget(struct world *w, uint32_t id);
void inc_run(struct world *w, uint32_t id, uint32_t serial);
/* It makes progress from now on, with so much work done before. */
void inc_begin(struct world *w, uint32_t id, int64_t base_ms);
void inc_report(struct world *w, uint32_t id, uint32_t serial);
void inc_commit(struct world *w, uint32_t id, uint32_t serial);
void inc_finish(struct world *w, uint32_t id, uint32_t serial);
int64_t inc_work_ms(const struct world *w, const struct winc *inc);

/* agents.c: 'id' is a rank's in agent_ready() and agent_gone(), else a node's. */
void agent_take(struct world *w, const struct myr_effect *order);
void agent_ready(struct world *w, uint32_t id, uint32_t serial);
void agent_gone(struct world *w, uint32_t id, uint32_t serial);
void node_down(struct world *w, uint32_t id);
void node_boot(struct world *w, uint32_t id, uint32_t life);
/* Contact was lost or found again. */
void node_cut(struct world *w, uint32_t id, bool cut);
void node_lease(struct world *w, uint32_t id);
void rack_fence(struct world *w, const struct myr_effect *effect);
void rack_fence_done(struct world *w, uint32_t id, uint32_t boot);
void crew_repair(struct world *w, uint32_t id);
void shell_silent(struct world *w, uint32_t id, uint32_t quiet);

/* turns.c */
void turn(struct world *w, enum happening what, uint32_t id, uint32_t serial);

/* seat.c */
MYR_MUST_USE int seat_begin(struct world *w, struct myr_err *err);
void seat_done(struct world *w);
/* The other end of the line. */
bool seat_take(struct world *w, const struct myr_event *event);
void seat_tick(struct world *w, uint32_t serial);
/* Snapshot and journal, read back. */
MYR_MUST_USE int seat_recover(const struct seat *seat, struct myr_control **ret,
                              struct myr_err *err);
void seat_restart(struct world *w);
/* Nature strikes the controller: it dies at its next event; its clock jumps. */
void seat_dies(struct world *w);
void seat_jumps(struct world *w);

/* nature.c */
void nature_begin(struct world *w);
/* The next of a kind, drawn from its number. */
void nature_schedule(struct world *w, enum happening what, enum draw_use use, uint64_t number,
                     int64_t mean_ms);
bool nature_left_out(const struct world *w, enum myr_scenario_kind kind, uint64_t number);
/* What strikes a node: how it shows, and what it takes to mend. */
struct blow {
    enum myr_fault shows;
    bool breaks, needs_part; /* a test finds it; a reboot does not help */
};
void nature_strike(struct world *w, uint32_t id, const struct blow *blow, struct myr_rng *rng);
void nature_fault(struct world *w);
void nature_partition(struct world *w);
void nature_heal(struct world *w, uint32_t first);

/* people.c */
void nature_drain(struct world *w);
void nature_undrain(struct world *w, uint32_t node);
void nature_hold(struct world *w);
void nature_unhold(struct world *w, uint32_t node);
void nature_weight(struct world *w);
void nature_lever(struct world *w);
/* asks.c */
void nature_ask(struct world *w);
void shadow_step(struct world *w, int64_t now_ms, const struct myr_event *event);
void shadow_end(struct world *w);
void person_lets_go(struct world *w, uint32_t id);
void nature_symptom(struct world *w);
void nature_window(struct world *w, uint32_t window);
void person_submit(struct world *w, uint32_t id);
void person_cancel(struct world *w, uint32_t id);
void person_approve(struct world *w);
void person_heard(struct world *w, const struct myr_effect *effect);

/* calms.c */
void calm_begin(struct world *w);
void calm_end(struct world *w);
/* The run is over: no trouble comes any more, and everybody is content with little. */
void calm_for_good(struct world *w);
/* Every job that was asked for is over. */
bool calm_is_over(const struct world *w);
void calm_look(struct world *w);
