/*
 * server: the control core on real sockets. Each file calls only those above it in this list:
 *
 *   store      keys and values that are not lost
 *   log        lines for people on stderr, and the audit file
 *   names      a list of node names: gpu-[0001-1250]
 *   config     myriad.yaml
 *   rows       what the core does not know: names, files, users, certificates, usage
 *   feed       events for whoever watches
 *   desk       the core: events in, commit, effects out
 *   peers      connections of those who ask
 *   http       requests, tokens, limits
 *   link       one agent's connection
 *   orders     what the core wants done, said to agents
 *   enrol      certificates
 *   relays     connections that carry many agents
 *   sessions   agents
 *   simulated  the other world: nodes of the twin
 *   engine/    a third world: somebody else's scheduler
 *   slurm/     Slurm as one
 *   api_*      what is asked, and the answer
 *   serve      all of it
 *
 * One thread, one loop. Nothing is acted upon before it is committed: events of one turn of the
 * loop are taken together, their journal is committed once, and only then effects are carried out,
 * reports acknowledged and requests answered.
 */
#pragma once

#include <uv.h>

#include "myriad/control.h"
#include "myriad/io.h"
#include "myriad/job.h"
#include "myriad/record.h"
#include "myriad/text.h"
#include "store.h"

enum { SERVER_TENANTS = 256, SERVER_NAME = 64, SERVER_RELAYS = 1024, SERVER_PATH = 4096 };

/* Where the nodes are. */
enum world_kind { WORLD_AGENTS, WORLD_TWIN, WORLD_SLURM, WORLD_COUNT };
extern const char *const world_names[WORLD_COUNT];

/* Of the map 'slurm' in myriad.yaml. */
struct slurm_config {
    char partition[SERVER_NAME]; /* empty: the default one */
    char conf[512];              /* SLURM_CONF; empty: Slurm's own default */
    char bin[512];               /* where its commands are; empty: in the path */
    char spool[512]; /* a folder that nodes and server share; empty: 'slurm' in the server's */
    uint32_t poll_s, timeout_s; /* between two looks; of one command */
    bool accounts;              /* a tenant is an account of the same name */
    char options[512];          /* further ones of sbatch, in words */
};

/* myriad.yaml */
struct config {
    char cluster[SERVER_NAME]; /* its name, for people and for the keys in etcd */
    char http_address[64], agents_address[64];
    uint16_t http_port, agents_port;
    enum world_kind world;
    bool twin, pretend; /* twin: follows from the world */
    struct slurm_config slurm;
    struct etcd_config etcd;
    double speed;    /* of the twin's time */
    char faults[32]; /* of the twin: whose rate; "none" */
    uint32_t gpus_per_node, nodes_per_leaf;
    char **names; /* of the nodes, in order */
    uint32_t node_count;
    enum myr_queue_preset policy; /* who is next */
    uint32_t spares, beat_ms, starve_h;
    double kw_per_gpu, price_kwh; /* for usage */
    char currency[8];
    char fence[512]; /* a program that is given a node's name; empty: none */
    uint32_t fence_timeout_s;
};

enum role { ROLE_NONE, ROLE_VIEWER, ROLE_USER, ROLE_OPERATOR, ROLE_ADMIN, ROLE_COUNT };
extern const char *const role_names[ROLE_COUNT];

/*
 * What the store keeps of each thing is said in rec/: members here, rows in rows.c. What stands
 * behind it is not stored.
 */
struct node_row {
#define MYR_FIELDS "rec/node.rec"
#include "myriad/record/members.def"
    const char *name;
    bool reason_theirs; /* the reason is that of a scheduler below */
    struct session *session;
    int64_t heard_ms; /* steady; of the last word */
    bool told_silent;
};

struct job_row {
#define MYR_FIELDS "rec/job.rec"
#include "myriad/record/members.def"
    bool starves;                /* it waits for too long, which was said; not stored */
    uint8_t state;               /* as last told: enum myr_control_job_state */
    struct myr_control_job last; /* of one that is over: how it ended */
    /* Where its last incarnation ran, for its output when it is over. */
    struct myr_control_rank *where;
    uint32_t where_count;
    /* And those before it, oldest first, as far as they are remembered. */
    struct myr_control_rank *past;
    uint32_t past_count;
};

struct tenant_row { /* gpu_ms: until 'since_ms' */
#define MYR_FIELDS "rec/tenant.rec"
#include "myriad/record/members.def"
    char name[SERVER_NAME];
    uint32_t running_gpus; /* since then */
    int64_t since_ms;
};

struct token_row {
#define MYR_FIELDS "rec/token.rec"
#include "myriad/record/members.def"
    char digest[65]; /* of the secret, which is kept nowhere */
};

/* One that carries many agents over one connection, and vouches for who they are. */
struct relay_row {
#define MYR_FIELDS "rec/relay.rec"
#include "myriad/record/members.def"
    char name[SERVER_NAME];
    struct session *session;
};

struct rows {
    struct node_row *nodes;
    uint32_t node_count;
    struct myr_strmap node_ids;
    MYR_VEC(struct job_row *) jobs; /* by id; NULL: none */
    struct myr_u64map job_ids;      /* by token; MYR_NONE: it was never taken */
    MYR_VEC(struct tenant_row) tenants;
    MYR_VEC(struct token_row) tokens;
    MYR_VEC(struct token_row) enrols; /* user: the node's name, or empty for any */
    MYR_VEC(struct relay_row) relays;
};

/* Something that happened, as one line of JSON. */
struct feed_item {
    uint64_t sequence;
    const char *kind; /* "job", "node", "notice", "starving", "doorbell" */
    uint32_t about;   /* the job or node; MYR_NONE: none */
    char *data;
};

enum { FEED_ITEMS = 4096 };

struct feed {
    struct feed_item items[FEED_ITEMS];
    uint64_t first, next;        /* sequence numbers; next - first <= FEED_ITEMS */
    void (*rang)(void *context); /* something new */
    void *context;
};

struct server;

/* What a rank has written from 'offset' on. */
struct question {
    uint32_t job, rank;
    uint32_t epoch; /* of an incarnation; 0: the last one */
    uint64_t offset;
};

/* Where nodes are: agents on real ones, or the twin's. */
struct world {
    void (*committed)(struct server *server); /* what was reported is on the disk; or NULL */
    void (*effect)(struct server *server, const struct myr_effect *effect);
    /* A job that the core will be told of next; or NULL. */
    int (*submit)(struct server *server, const struct myr_job_spec *spec, const struct job_row *row,
                  struct myr_err *err);
    /* Answered by http_output(). False: nobody can say. */
    bool (*fetch)(struct server *server, const struct question *question, void *whom);
    int (*inject)(struct server *server, uint32_t node, const char *fault, struct myr_err *err);
    /* A person drains or resumes a node, and the core has taken it; or NULL. */
    void (*drain)(struct server *server, uint32_t node, bool drain, const char *reason);
    /* Who asked by fetch() has given up, and is not answered any more; or NULL. */
    void (*forget)(struct server *server, const void *whom);
};

#define OUTPUT_GONE \
    "its output is not kept any more: a node keeps that of the last eight runs that ended on it"
#define OUTPUT_GONE_WITH_WORLD \
    "its output is not kept any more: that of simulated jobs goes when the server ends"

struct output {
    uint64_t offset, size;
    bool ended;
    struct myr_str data;
    const char *problem; /* or NULL */
    bool gone;           /* the problem stays: to ask again is of no use */
};

struct server {
    uv_loop_t loop;
    const char *folder, *version;
    bool log_json, once;
    struct config config;
    struct store *store; /* what is put waits there for the commit */
    struct rows rows;
    struct feed feed;
    struct world world;

    /* desk */
    struct myr_control *control; /* the core: what it decides is all that is done */
    MYR_VEC(struct myr_event) inbox;
    MYR_VEC(struct myr_effect) outbox;
    struct myr_buf journal;                /* of events taken and not committed */
    uint64_t journal_next, since_snapshot; /* the next part's number; events since */
    bool stuck; /* the last commit failed: read-only until one succeeds */
    char stuck_why[200];
    uint64_t events, commits, refused_events; /* for /metrics */
    uint64_t node_changes;                    /* of their rows, counted */
    uint32_t refusals_said;                   /* in this second */
    uv_timer_t wake, second, keep;
    bool overtaken; /* another server leads */
    bool unheard;   /* etcd has not renewed the lease when it was last asked, which was said */
    uv_check_t check;
    uv_idle_t idle;

    /* sessions */
    struct myr_io_tls *tls;
    struct myr_io_listener *listener;
    struct session *sessions;            /* all, a list */
    uint32_t session_count;              /* agents and relays, those behind them too */
    uint64_t messages, messages_refused; /* for /metrics */
    MYR_VEC(struct session *) to_ack;
    uint64_t handled[32]; /* of the time a message took, by power of two microseconds */

    struct simulated *simulated;
    struct engine *engine;                 /* of another's scheduler, or NULL */
    struct fences *fences;                 /* NULL where power is simulated */
    int64_t clock_base_ms, clock_since_ms; /* the twin's: then, by the steady clock */
    int64_t clock_most_ms; /* and no further, before its world has been there (simulated.c) */
    int64_t overdue_ms;    /* when the next job has had its time, or before */
    int64_t starved_ms;    /* when it was last looked who waits for long */
    void (*end_overdue)(struct server *server); /* which ends those that have had theirs */
    struct http *http;                          /* NULL before it serves */
    struct backup *backup;                      /* the one under way, or NULL */
    struct asked *asked;                        /* questions that are thought about, a list */
    struct starts *starts;                      /* NULL before anybody asked */
    bool stopping;                              /* it is ending */
};

int64_t wall_ms(void);
int64_t steady_ms(void);
/* The cluster's own time: the wall's, or the twin's, which may run faster. */
int64_t core_ms(const struct server *server);
/* Where the twin's clock would be by its speed, whether or not its world can keep up. */
int64_t twin_wanted_ms(const struct server *server);

/* log.c */
void log_open(const char *folder, bool json);
void log_close(void);
/* Warnings and errors alone. */
void log_quiet(bool quiet);
/* Nothing at all: for fuzzers. */
void log_mute(bool on);
MYR_PRINTF(2, 3)
void log_say(const char *level, const char *fmt, ...);
/* Who did what, with which outcome; kept in audit.log, which is capped and rotated. */
void audit(const char *who, const char *what, const char *outcome);

/* names.c: "gpu-[001-128]", "a,b,c": in order, no name twice. */
MYR_MUST_USE int names_expand(const char *list, char ***ret, uint32_t *ret_count,
                              struct myr_err *err);
void names_free(char **names, uint32_t count);

/* config.c */
MYR_MUST_USE int config_read(const char *path, struct config *ret, struct myr_err *err);
void config_done(struct config *config);

/* folder/renew.c: at the start of a server, when little of its certificate is left. */
void papers_renew(const char *folder);

/* rows.c: what is kept of each, under the key that its first word begins. */
enum rows_record {
    ROWS_NODE,
    ROWS_JOB,
    ROWS_JOB_END, /* further keys of a job that is over */
    ROWS_TENANT,
    ROWS_TOKEN, /* also of an enrolment */
    ROWS_RELAY,
    ROWS_RECORDS
};
extern const struct myr_record rows_records[ROWS_RECORDS];
MYR_MUST_USE int rows_load(struct server *server, struct myr_err *err);
void rows_done(struct rows *rows);
void rows_put_node(struct server *server, uint32_t node);
void rows_put_job(struct server *server, uint32_t job);
/* It was never taken: nothing of it stays. */
void rows_drop_job(struct server *server, uint32_t job);
void rows_put_tenant(struct server *server, uint32_t tenant);
void rows_put_token(struct server *server, const struct token_row *token, bool enrol);
void rows_drop_enrol(struct server *server, uint32_t at);
void rows_drop_token(struct server *server, uint32_t at);
void rows_put_relay(struct server *server, uint32_t relay);
/* Its place, made when it is new; MYR_NONE: there are too many. */
uint32_t rows_relay(struct server *server, const char *name, bool make);
/* MYR_NONE: no such node, or no more room for tenants. */
uint32_t rows_node(const struct server *server, const char *name);
uint32_t rows_tenant(struct server *server, const char *name);
struct job_row *rows_job(const struct server *server, uint32_t job);
/* By the submitter's number, also of those that the core has forgotten; MYR_NONE: none. */
uint32_t rows_job_of_token(const struct server *server, uint64_t token);
/* As the core knows it; of one that it has forgotten as it ended. */
struct myr_control_job rows_job_view(const struct server *server, uint32_t job);
/* GPU-milliseconds up to now. */
uint64_t rows_gpu_ms(const struct tenant_row *tenant, int64_t now_ms);

/* feed.c: 'fmt' gives the members of a JSON object. */
void feed_init(struct feed *feed);
void feed_done(struct feed *feed);
void feed_put(struct server *server, const char *kind, uint32_t about, struct myr_str members);
const struct feed_item *feed_get(const struct feed *feed, uint64_t sequence);
void feed_node(struct server *server, uint32_t node, const char *state, const char *reason);
void feed_job(struct server *server, uint32_t job, const char *state, uint32_t epoch);
/* It has waited for so long. */
void feed_starving(struct server *server, uint32_t job, uint32_t gpus, int64_t waited_s);
void feed_notice(struct server *server, const char *notice);

/* asked/starts.c: what is kept of when jobs start. */
void starts_done(struct server *server);

/* desk.c */
MYR_MUST_USE int desk_begin(struct server *server, struct myr_err *err);
/* To be taken in this turn of the loop. False: too much waits, and it must be said again. */
bool desk_post(struct server *server, const struct myr_event *event);
bool desk_is_full(const struct server *server);
/* Now: takes what was posted, commits, carries out. */
MYR_MUST_USE int desk_run(struct server *server, struct myr_err *err);
/* The same, when nobody waits for the outcome. */
void desk_turn(struct server *server);
/* The whole state, so that the next start has little to replay. */
MYR_MUST_USE int desk_snapshot(struct server *server, struct myr_err *err);
void desk_end(struct server *server);
/* What it works on, store and all; its handles are closed. */
void desk_free(struct server *server);

/* sessions.c */
MYR_MUST_USE int sessions_begin(struct server *server, struct myr_err *err);
void sessions_second(struct server *server);
/* There are more nodes now. */
void sessions_grow(struct server *server);
void sessions_end(struct server *server);

/* simulated.c */
MYR_MUST_USE int simulated_begin(struct server *server, struct myr_err *err);
/* A world of as many nodes as the core has now; what runs goes on there. */
MYR_MUST_USE int simulated_grow(struct server *server, struct myr_err *err);
void simulated_end(struct server *server);

/* http.c: a request waits for output; this answers it. */
struct route;
/* As the command sees it: plain HTTP on this machine alone, TLS beyond it. */
bool http_is_loopback(const char *address);
MYR_MUST_USE int http_begin(struct server *server, const struct route *routes, size_t count,
                            struct myr_err *err);
void http_second(struct server *server);
void http_output(void *whom, const struct output *output);
uint16_t http_port(const struct server *server);
void http_end(struct server *server);
