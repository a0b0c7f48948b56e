/*
 * schedule: the scheduler as a service. One thread, one loop; returns when it was told to stop.
 *
 * It lists and watches nodes and pods, decides (cluster.h), and binds, each pod with its
 * annotations. Of several schedulers of one name only the holder of the lease acts; the others
 * watch, and one of them takes over when the lease is not renewed.
 *
 * An API server that is away, hangs, refuses or speaks another version is told in one line when it
 * begins and one when it is over; nothing is forgotten meanwhile, and it is asked again by itself.
 */
#pragma once

#include "myriad/kube/access.h"
#include "myriad/kube/cluster.h"

struct myr_kube_report {
    uint64_t gangs_bound, pods_bound, gangs_remade, gangs_finished;
    uint64_t requests; /* that were answered or not; watches too */
    uint64_t lists, watches, bindings, deletions, events, leases;
    uint64_t expired; /* watches that had to be listed anew: 410 */
    uint64_t troubles;
    double seconds;             /* it ran */
    double requests_per_s;      /* of all of it */
    double idle_requests_per_s; /* while nothing was to be done, without the lease's */
    double idle_seconds;
    double work_p50_ms, work_p99_ms, work_max_ms; /* own work for a decision that bound a gang */
    uint64_t decisions;                           /* of those */
    struct myr_kube_counts counts;                /* at the end */
};

struct myr_kube_schedule {
    struct myr_kube_where where;
    struct myr_kube_policy policy;
    const char *lease_space, *lease_name; /* lease_name NULL: it acts without one */
    const char *identity;
    uint32_t lease_s;
    uint32_t timeout_s;    /* of a request; 0: 15 */
    uint32_t stop_after_s; /* 0: until SIGTERM or SIGINT */
    /* 'level' is "info", "warning" or "error"; one line without its end. */
    void (*say)(void *context, const char *level, const char *text);
    void *context;
    struct myr_kube_report *report;
};

/* MYR_OK when it was told to stop; an error only for what no waiting mends. */
MYR_MUST_USE int myr_kube_schedule(const struct myr_kube_schedule *schedule, struct myr_err *err);
