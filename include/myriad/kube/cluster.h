/*
 * cluster: nodes and pods as the API server tells them, and what is to be done with them.
 *
 * Deciding code: objects and the time come in, decisions go out; no input or output, no clock. The
 * caller lists and watches, hands every object in, asks for decisions, carries them out and says
 * when each is over.
 *
 * A gang is the set of pods of one namespace with the same MYR_KUBE_GANG annotation and the same
 * owner; MYR_KUBE_GANG_SIZE says how many there are. A pod without the annotations is a gang of
 * one. A gang is bound whole or not at all. Its pods are ordered by completion index, else by name,
 * and get ranks in that order; nodes are taken in the order of the topology, by the same placer as
 * for agents (myriad/sched/place.h), so neighbours in rank are neighbours in the fabric. The unit
 * of placement is a pod: a node has as many places as pods of that kind would fit on it if it were
 * empty.
 *
 * When a node of a bound gang is lost, or a pod of it fails or is deleted, the others are deleted:
 * their owner makes all of them again, and they are placed anew. A gang that was bound in part when
 * a scheduler died is finished where its plan, kept in the annotations of rank 0, still holds.
 *
 * Order: priority of the pods' class, then of the annotation, then age. What does not fit is passed
 * over, but only until it has waited 'hold_ms': from then on nobody of its priority or below gets
 * nodes that it could use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/text.h"

/* What a user writes into the template of the pods. */
#define MYR_KUBE_GANG      "myriad/gang"
#define MYR_KUBE_GANG_SIZE "myriad/gang-size"
#define MYR_KUBE_PRIORITY  "myriad/priority" /* below that of the pods' class; or nothing */
/* "strict": not bound while a pod of the gang from before may run; or nothing. */
#define MYR_KUBE_RESTART "myriad/restart"
/* What Myriad writes with the binding of a pod; the downward API shows it to the ranks. */
#define MYR_KUBE_RANK      "myriad/rank"
#define MYR_KUBE_WORLD     "myriad/world-size"
#define MYR_KUBE_MASTER    "myriad/master-addr"
#define MYR_KUBE_NODE      "myriad/node"
#define MYR_KUBE_PLACEMENT "myriad/placement"
/* Of rank 0 alone, which is bound before the others: where all of them go. */
#define MYR_KUBE_PLAN "myriad/plan"

#define MYR_KUBE_GANG_MAX 65536

struct myr_kube_policy {
    const char *scheduler; /* pods with this schedulerName are ours */
    /* Labels that name a node's leaf, the first that it has; NULL ends them. */
    const char *leaf_labels[4];
    uint32_t nodes_per_leaf; /* of nodes without a label, in the order of their names */
    int64_t hold_ms;         /* how long a gang may be passed over */
    int64_t lost_ms;         /* a node that is not ready for so long is lost */
};

struct myr_kube_policy myr_kube_policy_default(void);

struct myr_kube_cluster;

struct myr_kube_cluster *myr_kube_cluster_create(const struct myr_kube_policy *policy);
void myr_kube_cluster_free(struct myr_kube_cluster *cluster);

enum myr_kube_kind { MYR_KUBE_NODES, MYR_KUBE_PODS, MYR_KUBE_KINDS };
enum myr_kube_change {
    MYR_KUBE_ADDED,
    MYR_KUBE_MODIFIED,
    MYR_KUBE_DELETED,
    MYR_KUBE_BOOKMARK,
    MYR_KUBE_ERROR /* the watch is over: 'code' says why, 410 that it must be listed anew */
};

/* One line of a watch. */
struct myr_kube_said {
    enum myr_kube_change change;
    uint32_t code;    /* of an error */
    char version[64]; /* resourceVersion to go on from; empty: none was said */
    char text[256];   /* of an error */
};

/*
 * A line of a watch in JSON: the object is taken. What is no such line is an error and changes
 * nothing.
 */
MYR_MUST_USE int myr_kube_line(struct myr_kube_cluster *cluster, enum myr_kube_kind kind,
                               struct myr_str line, int64_t now_ms, struct myr_kube_said *ret,
                               struct myr_err *err);

/* The same of a watch of pods in protobuf: a word without the length before it. */
MYR_MUST_USE int myr_kube_word(struct myr_kube_cluster *cluster, struct myr_str word,
                               int64_t now_ms, struct myr_kube_said *ret, struct myr_err *err);

/* A page of a list. */
struct myr_kube_page {
    uint32_t items;
    char version[64];
    struct myr_buf more; /* the token of the next page; empty: this was the last one */
};

/* 'first' begins a list: what is in none of its pages is gone when the last page was taken. */
MYR_MUST_USE int myr_kube_list(struct myr_kube_cluster *cluster, enum myr_kube_kind kind,
                               bool first, struct myr_str body, int64_t now_ms,
                               struct myr_kube_page *ret, struct myr_err *err);

/* A pod of a decision. Texts live until the next call of myr_kube_decide(). */
struct myr_kube_seat {
    const char *space, *name, *uid;
    const char *node; /* bind: where it goes; remake: where it was */
    uint32_t rank;
    bool bound; /* it was there already: a plan that is finished */
};

enum myr_kube_act {
    MYR_KUBE_BIND,   /* rank 0 with the plan, then all others */
    MYR_KUBE_REMAKE, /* delete all: their owner makes them again */
    MYR_KUBE_WAIT,   /* tell why they wait; once for each reason */
};

struct myr_kube_decision {
    enum myr_kube_act act;
    const char *gang; /* "namespace/name/owner": its key */
    const struct myr_kube_seat *seats;
    uint32_t seat_count;
    const char *master, *placement, *plan;                       /* bind; plan NULL: none */
    uint32_t world;                                              /* bind */
    bool finishes;                                               /* a plan that was found */
    const char *owner_kind, *owner_name, *owner_uid, *owner_api; /* NULL: none */
    const char *reason;
};

/*
 * What is to be done now. A gang that is to be bound or remade is not decided on again until
 * myr_kube_over() was called for it; its places are taken meanwhile. 'epoch' makes the name of a
 * placement: it must grow from scheduler to scheduler.
 */
const struct myr_kube_decision *myr_kube_decide(struct myr_kube_cluster *cluster, int64_t now_ms,
                                                uint64_t epoch, uint32_t *ret_count);
/* The gang of this key is done, or was given up: what the API server tells from now on counts. */
void myr_kube_over(struct myr_kube_cluster *cluster, const char *key, bool done);
/* When to ask again if nothing comes before; INT64_MAX: not at all. */
int64_t myr_kube_wake_ms(const struct myr_kube_cluster *cluster);
/* Whether anything has changed since the last decisions that could change them. */
bool myr_kube_changed(const struct myr_kube_cluster *cluster);
/* Whether a gang waited then, for pods of its own or for room. */
bool myr_kube_waits(const struct myr_kube_cluster *cluster);
/* Pods that had not come then, of gangs that are being made. */
uint32_t myr_kube_missing(const struct myr_kube_cluster *cluster);

struct myr_kube_counts {
    uint32_t nodes, usable, pods, ours, waiting, bound, gangs_waiting;
};
struct myr_kube_counts myr_kube_counts(const struct myr_kube_cluster *cluster);
