/*
 * bound: what the parts of the lower bound share. Private to the room; nothing of the placement is
 * known here.
 */
#pragma once

#include "room/room.h"

/* Different numbers of servers below a switch; fabrics have few. */
enum { F_KINDS_MAX = 64 };

/* A building: its racks column by column, all columns with as many. */
struct bound_hall {
    uint32_t first, columns, rows;
};

struct bound {
    const struct plan *plan;
    const struct myr_design *design;
    const struct myr_network *net;    /* the one in hand */
    uint32_t places;                  /* for servers, in every rack */
    uint32_t wider_count, *wider;     /* racks with more of them, once for each */
    double *host, *up, *gpu;          /* by device: cables down to hosts, up, down to GPU servers */
    double *flow;                     /* by device: chains that arrive from below */
    double *weight;                   /* by device: least of a server's chains that end here */
    uint32_t *servers;                /* by device: servers that have such chains */
    double *sum;                      /* by device: chains of the servers in hand */
    uint32_t *touched, touched_count; /* devices with a sum, to be cleared */
    struct load one;                  /* what a server needs, at the least */
    struct bound_hall halls[MYR_ROOM_BUILDINGS_MAX];
    double times[MYR_LAYER_COUNT]; /* how many times the cables of a layer count */
    uint32_t kinds;
    uint32_t kind_k[F_KINDS_MAX]; /* for which F(k) is known */
    double kind_mm[F_KINDS_MAX];  /* F(k) */
};

/* bound.c */

/* For all networks of a plan; lies in the plan's arena. */
struct bound *bound_create(const struct plan *plan);
/* The ways of a network as its cables are cut now; and all of it, with drops and slack. */
double bound_ways_mm(struct bound *b, const struct net_plan *net);
double bound_net_mm(const struct bound *b, double ways_mm);

/* near.c */

/* Straight along rows and columns, no longer than the trays. */
double bound_way_mm(const struct bound *b, uint32_t from, uint32_t to);
/* The most places within reach of any one rack. */
double bound_most_within(const struct bound *b, double reach_mm);
/* The longest way between two racks that is no longer than this. */
double bound_rack_way_mm(const struct bound *b, double most_mm);

/* The least sum of the ways from any one rack to the k nearest places. */
double bound_least_around(const struct bound *b, uint32_t k);
/* The same for the places of servers, kept for each k; 0 where there are not so many. */
double bound_nearest_mm(struct bound *b, uint32_t k);
/* What a link has of its cable, a splitter's legs share it; times what its layer counts. */
double bound_link_weight(const struct bound *b, uint32_t link);
/* Whether a link is of the network in hand; its layer. */
bool bound_of_net(const struct bound *b, uint32_t link, uint32_t *ret_layer);
/* Whether the network in hand has cables of the layer. */
bool bound_has_layer(const struct bound *b, uint32_t layer);
/* The less of each of the three: no thing of either kind needs less. */
struct load bound_least_load(struct load a, struct load b);
/* What an empty rack carries. */
struct load bound_rack_load(const struct bound *b, uint32_t rack);
/* What one piece needs; of a device by its part. */
struct load bound_part_load(const struct plan *plan, uint32_t part);
struct load bound_device_load(const struct bound *b, uint32_t device);
/* The least that 'count' switches cost which k servers each have so many cables to. */
double bound_seats_mm(struct bound *b, uint32_t k, double *weights, uint32_t count,
                      const struct load *need);

/* uplinks.c */

/* The same room, with seats for switches of that need in the place of servers. */
struct bound bound_with_seats(const struct bound *b, const struct load *need);
/* Cables from leaves to spines that no chain from a server uses */
double bound_uplinks_mm(struct bound *b);
/* Cables to power strips, of an access network. */
double bound_strips_mm(struct bound *b);
/* Another bound, for one block under all spines; 0 where there are several. */
double bound_one_block_mm(struct bound *b);

/* model.c: another bound for leaves below spines, or spines below cores; 0 where there is none. */
double bound_stars_mm(struct bound *b);
