/*
 * cloth: the switches of one network, what joins them, and which hosts hang on them; and the
 * largest flow between two sets of host ports over it.
 */
#pragma once

#include "myriad/model.h"

/* From both ends: a pair of switches has an edge in the list of each. */
struct cloth_edge {
    uint32_t to;
    uint64_t gbps; /* of all links of the pair, one direction */
};

/* One link of a host; a host with several ports is there several times. */
struct cloth_host {
    uint32_t device, at; /* at: switch */
    uint64_t gbps;
};

/* Switches are numbered from 0 in the order of devices. */
struct cloth {
    const struct myr_design *design;
    uint32_t first_device, switches;
    uint32_t *start; /* of a switch's edges; one more than switches */
    struct cloth_edge *edges;
    struct cloth_host *hosts; /* host links in the order of links */
    uint32_t host_count;
    uint32_t *ports;     /* host ports of a switch */
    uint64_t *port_gbps; /* and what they carry together */
    uint32_t *fabric;    /* which of the separate fabrics it belongs to */
    uint32_t fabrics;
};

void cloth_init(struct cloth *cloth, struct myr_arena *arena, const struct myr_design *design,
                uint32_t net);

/* A partition of the switches, into such as look alike. */
struct cloth_classes {
    uint32_t *of; /* class of a switch; numbered in the order of their first switches */
    uint32_t count;
    uint32_t *first, *member; /* switches of a class: member[first[c]] .., in their order */
};

/* Every switch takes in 'from' of one side and gives out 'to' of the other, here and below. */
void cloth_classes_find(const struct cloth *cloth, struct myr_arena *arena, const uint64_t *from,
                        const uint64_t *to, struct cloth_classes *ret);
/* Whether switches of a class take in, give out and have to every class the same. */
bool cloth_classes_fit(const struct cloth *cloth, struct myr_arena *arena, const uint64_t *from,
                       const uint64_t *to, const struct cloth_classes *classes);
/* Every switch becomes a class. */
void cloth_classes_alone(const struct cloth *cloth, struct myr_arena *arena,
                         struct cloth_classes *classes);
/* What flows when every switch takes in 'from' of one side and gives out 'to' of the other. */
uint64_t cloth_flow(const struct cloth *cloth, struct myr_arena *arena, const uint64_t *from,
                    const uint64_t *to);
