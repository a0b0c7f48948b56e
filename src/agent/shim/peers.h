/*
 * peers: whether the gang makes steps, as seen from a node whose own ranks do not say so.
 *
 * A lease must not end ranks of a gang that still works, and often one rank alone tells of steps.
 * So the launchers of a job ask that of its first node, by a datagram to the port (UDP) that the
 * ranks meet at (TCP): who cannot reach it is cut off from the gang too. The answer can only
 * lengthen a lease that nobody else renews, so it carries no secret.
 */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "disk/order.h"

struct peers {
    int fd;     /* -1: the job is alone on this node */
    bool first; /* this is the job's first node: it answers */
    struct sockaddr_storage to;
    socklen_t to_len;
    uint64_t job;
    uint32_t epoch;
    int64_t every_ns, next_ns; /* between two questions; the next one */
    int64_t step_ns; /* the last step of the gang that a peer knew, on our boot clock; 0: none */
};

void peers_open(struct peers *peers, const struct order *order);
/* 'own_ns' is when ranks here made a step. */
void peers_tick(struct peers *peers, int64_t now_ns, int64_t own_ns);
void peers_take(struct peers *peers, int64_t own_ns);
/* "step-age JOB EPOCH MS", MS '-' when none is known. False for anything else. */
bool peers_parse(struct myr_str text, uint64_t job, uint32_t epoch, int64_t *ret_age_ms);
