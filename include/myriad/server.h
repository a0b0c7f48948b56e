/*
 * server: the control core as a service: agents, people and pages talk to it.
 *
 * A server lives in a folder: its configuration, its certificates, its store. myr_server_init()
 * makes one, myr_serve() runs on it until it is told to stop.
 */
#pragma once

#include "myriad/server/folder.h"

struct myr_server_init {
    const char *folder; /* made; must not hold a server already */
    const char *cluster, *nodes;
    uint32_t gpus_per_node, nodes_per_leaf;
    uint32_t design_nodes;     /* as many names as the design has nodes are expected; 0: any */
    const char *http, *agents; /* "127.0.0.1:4680"; port 0: any */
    const char *etcd;          /* its members, "URL,URL": the state is kept there; or NULL */
    const char *etcd_ca, *etcd_certificate, *etcd_key; /* files for https members; or NULL */
    const char *hosts;     /* further names of this machine: "DNS:head,IP:10.0.0.1", or NULL */
    const char *unix_user; /* whose ranks the first token's are */
    const char *world;     /* "agents", "twin" or "slurm" */
    bool pretend;
    double speed;
};

/* Certificates, configuration, and a token for the first administrator in admin.token. */
MYR_MUST_USE int myr_server_init(const struct myr_server_init *init, struct myr_err *err);

struct myr_serve_report;

struct myr_serve {
    const char *folder;
    const char *version;
    bool log_json;
    /* Called when it listens: the URL, and the port of the agents. */
    void (*ready)(void *context, const char *url, uint16_t agents_port);
    void *context;
    uint32_t stop_after_s; /* 0: never; for scripts */
    bool once;             /* ends as soon as every node is well; says only what is wrong */
    struct myr_serve_report *report; /* how it was at the end; or NULL */
};

struct myr_serve_report {
    uint32_t nodes, healthy, gpus_per_node;
};

/* Returns when it was told to stop (SIGTERM, SIGINT), all committed. */
MYR_MUST_USE int myr_serve(const struct myr_serve *serve, struct myr_err *err);

/* Is this text a configuration? It is named 'file' in the message. */
MYR_MUST_USE int myr_server_check(const char *file, struct myr_str text, struct myr_err *err);
