/*
 * http: requests. libmicrohttpd runs on our loop, without threads of its own; what comes in is
 * collected, held against limits and a token, and handed to one of the routes.
 */
#pragma once

#include "mhd.h"
#include "server.h"

struct request {
    struct server *server;
    struct MHD_Connection *connection;
    const char *method, *url;
    char *path;           /* a copy of the url, cut at '/' */
    const char *words[8]; /* of the path */
    uint32_t word_count;
    struct myr_buf body;              /* as far as it has come */
    bool too_long, waiting, answered; /* of the body; for http_output(); once */
    bool patient;                     /* it is worked upon, and answered whenever that is done */
    struct token_row who;             /* role none: nobody */
    char from[64];                    /* address */
    struct request *next, *before;    /* of those that wait for output */
    int64_t since_ms;
    const char *cache; /* how long others may keep the answer; NULL: not at all */
    char cookie[160];  /* to be set; empty: none */
    uint64_t sequence; /* of the events, for binary answers */
};

/* MYR_OK and a body of JSON in 'ret'; or an error; or HTTP_LATER: it has answered, or will. */
typedef int route_call(struct request *request, struct myr_buf *ret, struct myr_err *err);
enum { HTTP_LATER = 1 };

struct route {
    const char *method, *path; /* "/v1/jobs/:id/cancel" */
    enum role role;
    route_call *call;
    const char *summary;
    const struct myr_record *takes, *gives, *or_gives; /* NULL: nothing; no JSON */
    const char *args, *media;                          /* words after '?'; of what is no JSON */
};

/* A page's login. */
struct visit {
    char digest[65];
    struct token_row who;
    int64_t until_ms; /* steady */
};

/* A connection, and since when a whole request is waited for; -1: one is being answered. */
struct peer {
    struct MHD_Connection *connection;
    int64_t since_ms;
    struct peer *next, *before;
};

/* Somebody who watches. */
struct watcher {
    struct server *server;
    struct MHD_Connection *connection;
    uint64_t next;       /* the number of the event that it gets next */
    struct myr_buf text; /* to be sent, from 'at' on */
    size_t at;
    bool asleep; /* suspended: it has all that there is */
    struct watcher *later, *before;
};

/* How often somebody may ask: so many at once, and so many a second. */
struct bucket {
    uint64_t key;  /* the hash of whose it is */
    double tokens; /* left at that moment */
    int64_t at_ms; /* steady */
};

enum { BUCKETS = 4096 };

struct http {
    struct MHD_Daemon *daemon;
    const struct route *routes;
    size_t route_count;
    uv_poll_t poll;
    uv_timer_t timer;
    struct peer *peers; /* all connections */
    struct request *waiting;
    struct watcher *watchers;
    uint32_t watcher_count;
    uint32_t seconds; /* counted, for the word now and then */
    MYR_VEC(struct visit) visits;
    struct bucket buckets[BUCKETS], failures[BUCKETS];
    uint64_t requests, refused;
    uint32_t said, unsaid; /* lines about refused requests in this second */
    uint64_t took[32];     /* by power of two microseconds */
    /* The list of all nodes, as long as nothing happens to any of them. */
    struct myr_buf nodes;
    uint64_t nodes_events, nodes_changes;
    bool again; /* something was resumed: run it in this turn */
};

static inline struct myr_str request_body(const struct request *request)
{
    return (struct myr_str){request->body.data ? request->body.data : "", request->body.len};
}
/* The value of "?name=" or NULL. */
const char *request_arg(const struct request *request, const char *name);
/* What the third word of the path names. */
MYR_MUST_USE int request_job(const struct request *request, uint32_t *ret, struct myr_err *err);
MYR_MUST_USE int request_node(const struct request *request, uint32_t *ret, struct myr_err *err);
/* Answers with a status and a body. */
void request_answer(struct request *request, unsigned status, const char *type,
                    struct myr_str body);
void request_fail(struct request *request, const struct myr_err *err);
/* The call has begun something that http_output() ends. */
void request_wait(struct request *request);
/* Ends the wait with a body of JSON. */
void request_send(struct request *request, struct myr_str body);
/* Ends the wait with a file, which is closed when it is sent. */
void request_send_file(struct request *request, int fd, uint64_t size);
void http_kick(struct server *server);

/* http/peers.c: connections; 'peers_notify' is the library's call for their begin and end. */
struct peer *peer_of(struct MHD_Connection *connection);
void peers_notify(void *context, struct MHD_Connection *connection, void **own,
                  enum MHD_ConnectionNotificationCode what);
/* Those that have not brought a whole request for too long. */
void peers_drop_slow(struct http *http);
void peer_address(struct MHD_Connection *connection, char *ret, size_t size);

/* watch.c: events as they come. */
void watch_rang(void *context);
void watch_second(struct server *server);

/* login.c: who asks? */
int login_call(struct request *request, struct myr_buf *ret, struct myr_err *err);
/* Whether it names this machine, and not another site that leads here. */
bool login_is_meant(const struct request *request);
void login_find(struct request *request);
/* False: too often. 'guess': nobody may try this without a token, or it is about tokens. */
bool login_allowed(struct request *request, bool guess);
void login_failed(struct request *request);
