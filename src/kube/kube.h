/*
 * kube: objects, decisions, and the talk with the API server. Each file calls only those above it:
 *
 *   access     kubeconfig and service account
 *   quantity   "100m", "64Gi"
 *   walk       JSON gone through without a tree
 *   needs      what a pod asks of nodes
 *   alike      read once for pods that ask the same
 *   object     nodes and pods out of their JSON
 *   quick      pods out of lines of a watch, with less work
 *   word/      the same out of protobuf
 *   match      selectors, affinity, taints
 *   use        what is taken of each node
 *   gangs      what belongs together, and how it stands
 *   table      all nodes and pods that are known
 *   topology   which node stands beside which
 *   place      a gang's pods on nodes
 *   plan       where a gang goes, as text
 *   decide     what is to be done
 *   client     requests to the API server
 *   watch      list and watch
 *   trouble    what is told, and once
 *   tell       Events
 *   flight     decisions carried out
 *   lease      who of several schedulers acts
 *   schedule   all of it
 */
#pragma once

#include "myriad/kube/access.h"
#include "myriad/kube/cluster.h"
#include "myriad/sched/place.h"

enum {
    KUBE_RESOURCES = 32, /* kinds that are told apart */
    KUBE_PORTS = 16,     /* of the host, of one pod */
    KUBE_KINDS = 16,     /* of pods, of which is remembered where they may go */
    KUBE_ALIKE = 512,    /* lists of needs that pods share */
};

#define KUBE_GANG_PODS_TOLD  64 /* pods of a gang that waits, each with an event that says why */
#define KUBE_BOUND_PODS_TOLD 8  /* of one that is bound; all have the same as annotations */

/* A name that goes into a path: lower case letters, digits, '-' and '.'. */
bool kube_is_name(struct myr_str text);
/* The token to show now; empty: none. */
MYR_MUST_USE int kube_token(const struct myr_kube_access *access, struct myr_buf *ret,
                            struct myr_err *err);

/* quantity.c: thousandths, rounded up; false: no quantity. What is too large is INT64_MAX. */
MYR_MUST_USE bool kube_quantity(struct myr_str text, int64_t *ret_milli);
/* "2026-11-16T08:45:00Z" in milliseconds since 1970; false: no such time. */
MYR_MUST_USE bool kube_time(struct myr_str text, int64_t *ret_ms);
/* By name, numbers by their value: n2 before n10. */
int kube_natural(struct myr_str a, struct myr_str b);

/* --- object.c */

struct kube_pair {
    struct myr_str key, value;
};

/* Labels or a selector; a key is there once. */
struct kube_pairs {
    struct kube_pair *items;
    uint32_t count;
};

/* Of taints; the others (PreferNoSchedule) keep nobody away. */
enum kube_effect { KUBE_NO_SCHEDULE, KUBE_NO_EXECUTE, KUBE_OTHER_EFFECT };

struct kube_taint {
    struct myr_str key, value;
    enum kube_effect effect;
};

struct kube_amount {
    uint32_t resource; /* of the table */
    int64_t milli;
};

struct kube_amounts {
    struct kube_amount *items;
    uint32_t count;
};

/* As the API server last told it; its texts live in its arena. */
struct kube_node {
    struct myr_arena arena;
    struct myr_str name, uid, address, leaf; /* leaf: empty where no label names one */
    struct kube_pairs labels;
    struct kube_taint *taints;
    uint32_t taint_count;
    struct kube_amounts has;   /* that pods may use, in all */
    bool unschedulable, ready; /* cordoned; the condition Ready is True */
    int64_t lost_ms;           /* not ready since then, by our clock; -1: ready */
    uint64_t digest;           /* of all that decides */
    uint32_t seen;             /* by which list */
    uint32_t place;            /* in the topology */
};

struct kube_toleration {
    struct myr_str key, value;
    bool exists; /* any value will do; without a key any taint */
    bool all_effects;
    enum kube_effect effect;
};

enum kube_operator {
    KUBE_IN,
    KUBE_NOT_IN,
    KUBE_EXISTS,
    KUBE_DOES_NOT_EXIST,
    KUBE_GT,
    KUBE_LT,
    KUBE_OPERATORS
};

struct kube_expression {
    struct myr_str key;
    enum kube_operator is;
    bool field; /* metadata.name rather than a label */
    struct myr_str *values;
    uint32_t value_count;
};

/* All of them. */
struct kube_term {
    struct kube_expression *items;
    uint32_t count;
};

enum kube_phase { KUBE_PENDING, KUBE_RUNNING, KUBE_SUCCEEDED, KUBE_FAILED };

/* What decides where a pod may go; pods of one template have equal ones. */
struct kube_needs {
    struct kube_amounts amounts;
    struct kube_pairs selector;
    struct kube_term *terms; /* one of them; none: any node */
    uint32_t term_count;
    bool has_terms; /* there is a list, even if none of it could match */
    struct kube_toleration *tolerations;
    uint32_t toleration_count;
    /* Bit 16 is set for UDP. */
    uint32_t ports[KUBE_PORTS], port_count; /* of the host */
    uint64_t digest;
    char refused[160]; /* what is asked and not understood; empty: all is understood */
    /* alike.c */
    struct myr_arena arena;
    struct myr_str key; /* what they are known by; empty: of one pod alone */
    uint32_t uses;      /* pods */
    struct kube_needs *next, **back;
};

/*
 * As the API server last told it; a new word of it makes a new one, which takes the old one's
 * place.
 */
struct kube_pod {
    struct myr_arena arena;
    struct myr_str space, name, uid, node;
    struct myr_str gang, owner_kind, owner_name, owner_uid, owner_api;
    /*
     * 'ours': its schedulerName is ours. 'indexed': 'index' is its completion index. 'strict': no
     * new placement while a pod from before may run.
     */
    bool ours, deleting, host_network, indexed, strict;
    enum kube_phase phase;
    uint32_t gang_size;             /* 0: what is said is no size */
    uint64_t index;                 /* completion index, where 'indexed' */
    int32_t priority, own_priority; /* of its class; of the annotation */
    int64_t created_ms;
    struct kube_needs *needs; /* of all pods that ask the same */
    struct myr_str hostname, subdomain;
    /* What a scheduler of ours has planned; rank MYR_NONE: nothing. */
    struct myr_str planned_node, placement, master, plan;
    uint32_t planned_rank, planned_world;
    /* Ours, not the API server's. */
    uint32_t assumed;          /* node of a binding under way; MYR_NONE: none */
    uint32_t on;               /* node by whose use it is counted; MYR_NONE: none */
    uint32_t seen;             /* by which list */
    struct kube_gang *gang_of; /* NULL: not ours */
    uint32_t seat;             /* its place in the gang's list */
};

/* Names of resources, numbered as they are met. */
struct kube_resources {
    struct myr_strmap ids;
    struct myr_arena arena;
    struct kube_needs *alike[KUBE_ALIKE];
};

/* MYR_NONE: there are too many. */
uint32_t kube_resource(struct kube_resources *resources, struct myr_str name);

/* Made from an object; NULL with an error when it is none. The caller frees it. */
struct kube_node *kube_node_read(struct kube_resources *resources, const struct myr_doc *object,
                                 const struct myr_kube_policy *policy, struct myr_err *err);
/* What these read of an object; all else may be left out of it. */
extern const struct myr_doc_part kube_node_parts[], kube_pod_parts[];
struct kube_pod *kube_pod_read(struct kube_resources *resources, const struct myr_doc *object,
                               const struct myr_kube_policy *policy, struct myr_err *err);

/* The annotations that are read, as numbers of kube_notes[]. */
enum kube_note {
    KUBE_NOTE_INDEX,
    KUBE_NOTE_GANG,
    KUBE_NOTE_GANG_SIZE,
    KUBE_NOTE_PRIORITY,
    KUBE_NOTE_NODE,
    KUBE_NOTE_PLACEMENT,
    KUBE_NOTE_RANK,
    KUBE_NOTE_WORLD,
    KUBE_NOTE_MASTER,
    KUBE_NOTE_PLAN,
    KUBE_NOTE_RESTART,
    KUBE_NOTES
};
extern const struct myr_str kube_notes[KUBE_NOTES];

/* A pod as text, where it lies; empty: not said. */
struct kube_pod_texts {
    struct myr_str name, space, uid, version;
    struct myr_str owner_kind, owner_name, owner_uid, owner_api;
    struct myr_str notes[KUBE_NOTES];
    struct myr_str node, scheduler, hostname, subdomain, phase;
    int64_t created_ms; /* 0: not said */
    int32_t priority;
    bool deleting, host_network;
    struct {
        struct myr_str created, deleted, host_network, priority;
    } json; /* these as JSON has them */
};

/* What is no text is made out of 'json'. */
void kube_pod_numbers(struct kube_pod_texts *texts);
/* It has a proper name and a uid. */
bool kube_pod_named(const struct kube_pod_texts *texts);
/* 'needs' are the pod's from here on. */
struct kube_pod *kube_pod_make(const struct kube_pod_texts *texts, struct kube_needs *needs,
                               const struct myr_kube_policy *policy);
void kube_node_free(struct kube_node *node);
void kube_pod_free(struct kube_pod *pod);

static inline bool kube_pod_live(const struct kube_pod *pod)
{
    return pod->phase <= KUBE_RUNNING && !pod->deleting;
}

/* walk.c: what is not as expected sets 'bad' and ends it; texts are taken where they lie. */
struct kube_walk {
    const char *at, *end;
    bool bad, first; /* nothing has come yet behind the bracket */
};

/* The next character that is no blank, without taking it; NUL: none. */
char kube_walk_next(struct kube_walk *walk);
bool kube_walk_open(struct kube_walk *walk, char bracket);
/* Of the map or list that was opened last; false: it is over, and passed. Each value is taken. */
bool kube_walk_key(struct kube_walk *walk, struct myr_str *ret);
bool kube_walk_item(struct kube_walk *walk);
/* A plain text without quotes, or a word; into what has none yet. */
bool kube_walk_text(struct kube_walk *walk, struct myr_str *ret);
/* Any value, as it is written. */
struct myr_str kube_walk_pass(struct kube_walk *walk);

/* quick.c: false: not understood. 'needs' gets the part of its spec that decides; of a pod that is
 * gone its metadata alone is read. */
bool kube_quick(struct myr_str line, struct myr_str *ret_type, struct kube_pod_texts *ret,
                struct myr_buf *needs);

/* alike.c: each is to be freed as often as it was asked for. */
struct kube_needs *kube_needs_of(struct kube_resources *resources, const struct myr_doc *spec);
/* Those that were read for this key; NULL: nobody has. */
struct kube_needs *kube_needs_known(struct kube_resources *resources, struct myr_str key);
/* Read now, and known by the key from here on; NULL: the text is no JSON. */
struct kube_needs *kube_needs_learn(struct kube_resources *resources, struct myr_str key,
                                    struct myr_str text);
/* Both, where the text is the key. */
struct kube_needs *kube_needs_alike(struct kube_resources *resources, struct myr_str text);
void kube_needs_free(struct kube_needs *needs);

/* needs.c */
void kube_needs_read(struct kube_resources *resources, struct myr_arena *arena,
                     const struct myr_doc *spec, struct kube_needs *ret);
/* One text more in a digest, told from its neighbours. */
uint64_t kube_mix(uint64_t digest, struct myr_str text);
/* The text of a member, or an empty one. */
struct myr_str kube_text(const struct myr_doc *map, const char *key);
struct kube_pairs kube_pairs_read(struct myr_arena *arena, const struct myr_doc *map);
struct myr_str kube_pair(const struct kube_pairs *pairs, const char *key, bool *ret_there);
struct myr_str kube_keep(struct myr_arena *arena, struct myr_str text);
enum kube_effect kube_effect_of(struct myr_str text);
/* The list of that name, NULL when there is none. */
const struct myr_doc *kube_list(const struct myr_doc *map, const char *key);

/* --- match.c */

/* Why a node does not do, in no order of weight; KUBE_FITS: it does. */
enum kube_misfit {
    KUBE_FITS,
    KUBE_NOT_READY,
    KUBE_CORDONED,
    KUBE_TAINTED,
    KUBE_NOT_SELECTED,
    KUBE_SHORT, /* of a resource */
    KUBE_PORT_TAKEN,
    KUBE_MISFITS
};

/* Whether such a pod may go there at all, whatever is free. */
enum kube_misfit kube_may(const struct kube_needs *needs, const struct kube_node *node);

/* --- the cluster */

/* What is taken of a node, by all pods on it, ours or not. */
struct kube_use {
    int64_t used[KUBE_RESOURCES];
    uint32_t ports[64], port_count; /* of the host, taken by pods there; beyond 64: all are */
};

/* Why a gang waits; each is told on its own, so that one does not hush up another. */
enum kube_reason {
    REASON_SIZE,     /* no proper size */
    REASON_GATHERS,  /* pods of it are still missing */
    REASON_REFUSED,  /* asks for what is not understood */
    REASON_ROOM,     /* finds no places */
    REASON_STRICT,   /* a pod from before may still run */
    REASON_NO_OWNER, /* broken, and nobody would make it again */
    KUBE_REASONS
};

/* What was last said of one reason. */
struct kube_told {
    uint64_t text;  /* digest */
    uint64_t round; /* in which it was last so; 0: never */
    int64_t at_ms;  /* when it was said */
};

/* A placement of which a pod went away: its others are to go too. */
struct kube_broken {
    char *placement, *why;
    int64_t at_ms;
};

/*
 * A gang of one key. What stands behind 'stale' is reckoned from its pods, and true only while that
 * is not set; gangs.c makes it so before anybody asks.
 */
struct kube_gang {
    const char *key; /* "namespace/name/owner" */
    uint32_t id;
    struct kube_pod **pods; /* all of it, in the order of their ranks when it is not stale */
    uint32_t count, room;
    bool stale, unsorted;         /* what follows, or the order of its pods, is to be made anew */
    bool flying;                  /* a decision on it is carried out */
    const struct kube_pod *first; /* of rank 0: speaks for all in what is said once */
    uint32_t size;                /* as said */
    uint32_t waits, bound;        /* live pods */
    uint32_t done;                /* succeeded */
    uint32_t assumed;             /* pods of a binding that the watch has not told of yet */
    int32_t priority, own_priority;
    int64_t created_ms;
    /* A bound one that was found well, until it or any node changes, or that time has come. */
    bool quiet;
    uint64_t quiet_nodes; /* 'node_changes' of the cluster then */
    int64_t look_ms;      /* that time; INT64_MAX: none */
    struct kube_told told[KUBE_REASONS];
    MYR_VEC(struct kube_broken) broken;
};

/* Where pods of one kind may go: by node, each as of a stamp of its use. */
struct kube_spot {
    uint64_t stamp;                /* 0: not looked at */
    uint32_t lacks;                /* the resource that it is short of; MYR_NONE: none */
    uint8_t places, empty, misfit; /* free now; if nothing ran there; why it does not do */
};

/* One of the kinds of pods that were asked for lately. */
struct kube_kind {
    uint64_t digest, used; /* of its needs; when it was last asked for */
    struct kube_spot *spots;
    uint32_t count;
};

/*
 * Everything that is known. 'stale' and 'changed' fields say what has to be made anew before it is
 * used; each is set by whoever changes what it rests on.
 */
struct myr_kube_cluster {
    struct myr_kube_policy policy;
    char scheduler[64], labels[4][128];
    struct kube_resources resources;
    struct myr_arena scratch;          /* of a line */
    struct myr_buf needs, spelled;     /* of a line */
    MYR_VEC(struct kube_node *) nodes; /* NULL: gone */
    MYR_VEC(struct kube_pod *) pods;
    MYR_VEC(char *) node_keys; /* of the maps: an object's own text goes with it */
    MYR_VEC(char *) pod_keys;
    struct myr_strmap node_ids, pod_ids; /* by name, by uid */
    uint32_t pods_gone;                  /* places of 'pods' that nobody has */
    uint32_t listing[MYR_KUBE_KINDS];    /* number of the list under way, or of the last one */
    uint64_t node_changes;               /* of what decides; heartbeats do not count */
    bool changed, order_stale;           /* since the last round; the topology is to be made anew */
    int64_t wake_ms; /* when to decide though nothing has come; INT64_MAX: not at all */
    /* gangs.c */
    MYR_VEC(struct kube_gang *) gangs; /* NULL: gone */
    MYR_VEC(char *) gang_keys;
    struct myr_strmap gang_ids;
    uint32_t gangs_gone;
    /* topology.c */
    struct myr_place_shape shape; /* gpus_per_node is set for each gang */
    uint32_t *node_at;            /* by place: the node, or MYR_NONE */
    /* use.c */
    struct kube_use *use; /* by node */
    uint64_t *stamp_of;   /* by node, apart: another one after every change of it or of its use */
    uint32_t use_count;
    uint64_t stamps; /* the last one that was given */
    bool use_stale;  /* to be counted anew before it is asked for */
    /* place.c */
    struct kube_kind kinds[KUBE_KINDS];
    uint64_t asked; /* questions so far: the clock of kinds[].used */
    /* decide.c */
    struct myr_arena arena;
    MYR_VEC(struct myr_kube_decision) decisions;
    uint32_t gangs_waiting;
    uint32_t missing;            /* pods of gangs that are still to come */
    uint64_t placements, rounds; /* since the start; the first makes names of placements */
};

static inline uint32_t kube_node_find(const struct myr_kube_cluster *c, struct myr_str name)
{
    return name.len ? myr_strmap_get(&c->node_ids, name) : MYR_NONE;
}

/* --- use.c */

/* Made true again where it could not be kept; to be called before anything asks for it. */
void kube_use_ready(struct myr_kube_cluster *cluster);
void kube_use_add(struct myr_kube_cluster *cluster, uint32_t node, const struct kube_needs *needs,
                  int sign);
/* The pod is counted where it is now, or no more. */
void kube_use_put(struct myr_kube_cluster *cluster, struct kube_pod *pod);
void kube_use_drop(struct myr_kube_cluster *cluster, struct kube_pod *pod);
/* The same for a pod in place of 'old', which is counted no more. */
void kube_use_move(struct myr_kube_cluster *cluster, struct kube_pod *old, struct kube_pod *pod);
/* The node itself has changed. */
void kube_use_touch(struct myr_kube_cluster *cluster, uint32_t node);

/* --- gangs.c */

struct kube_gangs {
    struct kube_gang **items;
    uint32_t count;
};

/* "namespace/name/owner" */
void kube_gang_key(const struct kube_pod *pod, struct myr_buf *ret);
struct kube_gang *kube_gang_find(const struct myr_kube_cluster *cluster, struct myr_str key);
/* A pod comes, in place of 'old' where that is no NULL; a pod goes. */
void kube_gang_put(struct myr_kube_cluster *cluster, struct kube_pod *pod, struct kube_pod *old);
void kube_gang_drop(struct myr_kube_cluster *cluster, struct kube_pod *pod);
/* Gone with its last pod, unless it is under way. */
void kube_gang_rest(struct myr_kube_cluster *cluster, struct kube_gang *gang);
void kube_gangs_free(struct myr_kube_cluster *cluster);
/* Those that are to be looked at now, in the order in which they are served; in the arena. */
void kube_gangs_find(struct myr_kube_cluster *cluster, int64_t now_ms, struct kube_gangs *ret);

/* --- table.c */

uint32_t kube_pod_find(const struct myr_kube_cluster *cluster, struct myr_str uid);
bool kube_node_lost(const struct myr_kube_cluster *cluster, const struct kube_node *node,
                    int64_t now_ms);
/* A pod of this placement is gone; said again it changes nothing. */
void kube_break(struct kube_gang *gang, const struct kube_pod *pod, int64_t now_ms);

/* --- plan.c */

/* Where each goes, for whoever has to finish it; NULL: too long to be kept. In the arena. */
const char *kube_plan_make(struct myr_arena *arena, const struct myr_kube_seat *seats,
                           uint32_t count);
/* Pods of a gang that is bound in part get the places that its rank 0 has for them. */
void kube_plan_adopt(struct kube_gang *gang);

/* --- topology.c */
void kube_order(struct myr_kube_cluster *cluster);

/* --- place.c */

/* Why nodes did not do, counted. */
struct kube_tally {
    uint32_t nodes, places, counts[KUBE_MISFITS];
    uint32_t empty;                    /* places, if nothing ran there */
    uint32_t kept;                     /* nodes, for a gang that is before it */
    uint32_t short_of[KUBE_RESOURCES]; /* nodes */
};

/*
 * Nodes for 'count' pods of these needs, in rank order, into ret[]; counted as used. Nodes that
 * 'closed' names (bit by node) are left out. False: they do not all fit, and nothing is taken.
 */
bool kube_place(struct myr_kube_cluster *cluster, const struct kube_needs *needs, uint32_t count,
                const uint64_t *closed, uint32_t *ret, struct kube_tally *tally);
/* In words, why 'count' pods find no places. */
void kube_tally_put(const struct myr_kube_cluster *cluster, const struct kube_tally *tally,
                    uint32_t count, struct myr_buf *ret);
/* Whether such a pod would fit there if nothing ran. */
bool kube_could(const struct kube_needs *needs, const struct kube_node *node);
/* Whether one more such pod fits there now. */
bool kube_fits(const struct myr_kube_cluster *cluster, const struct kube_needs *needs,
               uint32_t node);
