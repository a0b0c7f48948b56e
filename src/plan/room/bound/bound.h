/*
 * bound: what the parts of the lower bound share. Private to the room; nothing of the placement is
 * known here.
 */
#pragma once

#include "room/room.h"

enum { F_KINDS_MAX = 64 };

struct bound {
    const struct plan *plan;
    const struct myr_design *design;
    const struct myr_network *net;
    uint32_t places;              /* for servers, in every rack */
    uint32_t wider_count, *wider; /* racks with more of them, once for each */
    double *host, *up, *gpu;      /* by device: cables down to hosts, up, down to GPU servers */
    double *flow;                 /* by device: chains that arrive from below */
    double *weight;               /* by device: least of a server's chains that end here */
    uint32_t *servers;            /* by device: servers that have such chains */
    double *sum;                  /* by device: chains of the servers in hand */
    uint32_t *touched, touched_count;
    struct load one; /* what a server needs, at the least */
    uint32_t kinds;
    uint32_t kind_k[F_KINDS_MAX];
    double kind_mm[F_KINDS_MAX];
};

/* near.c */

/* The least sum of the ways from any one rack to the k nearest places. */
double bound_least_around(const struct bound *b, uint32_t k);
/* The same for the places of servers, kept for each k; 0 where there are not so many. */
double bound_nearest_mm(struct bound *b, uint32_t k);
/* What a cable of a link is of it: a splitter's legs share it. */
double bound_link_weight(const struct myr_design *design, uint32_t link);
/* Whether a link is of the network in hand; its layer. */
bool bound_of_net(const struct bound *b, uint32_t link, uint32_t *ret_layer);
struct load bound_rack_load(const struct bound *b, uint32_t rack);
struct load bound_part_load(const struct plan *plan, uint32_t part);
struct load bound_device_load(const struct bound *b, uint32_t device);
/* The least that 'count' switches cost which k servers each have so many cables to. */
double bound_seats_mm(struct bound *b, uint32_t k, double *weights, uint32_t count,
                      const struct load *need);

/* uplinks.c: cables from leaves to spines that no chain from a server uses */
double bound_uplinks_mm(struct bound *b);
/* Cables to power strips, of an access network. */
double bound_strips_mm(struct bound *b);
/* Another bound, for one block under all spines; 0 where there are several. */
double bound_one_block_mm(struct bound *b);

/* model.c: another bound for leaves below spines, or spines below cores; 0 where there is none. */
double bound_stars_mm(struct bound *b);
