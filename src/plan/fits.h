/*
 * fits: what can be plugged into what. One predicate for parts that the planner chooses and for
 * parts that a spec pins: it names the broken rule, so that a pin that cannot be plugged is told
 * why, and nothing is chosen that a pin would be refused for.
 */
#pragma once

#include "plan_internal.h"

enum fit_rule {
    FIT_OK,
    FIT_OPTIC_FORM,       /* another form of cage */
    FIT_OPTIC_TOP,        /* flat where the cage takes finned, or the other way round */
    FIT_OPTIC_HOST,       /* made for other cards */
    FIT_OPTIC_TECHNOLOGY, /* made for InfiniBand where the box speaks Ethernet, or the other way */
    FIT_OPTIC_LANES,      /* another number of lanes than the cage has */
    FIT_OPTIC_LANE_SPEED, /* lanes of a speed that the cage has not */
    FIT_OPTIC_SPEED,      /* a connector of another speed */
    FIT_OPTIC_CONNECTORS, /* fewer connectors than cables in the cage */
    FIT_OPTIC_MODE,       /* the two modules, or the fibre between them, disagree */
    FIT_OPTIC_REACH,
    FIT_CABLE_LEGS,  /* divides into another number of ends */
    FIT_CABLE_SHORT, /* shorter than the run */
    FIT_CABLE_FORM,  /* its fixed ends do not go into the cages */
    FIT_CABLE_SPEED, /* its fixed ends carry another speed */
    FIT_CABLE_TOP,
    FIT_CABLE_TECHNOLOGY,
    FIT_CABLE_LANES,
    FIT_CABLE_CAGE, /* joins a whole cage to a whole cage; these lead to several */
    FIT_RULE_COUNT,
};

extern const char *const fit_rule_names[FIT_RULE_COUNT];

/* A cage, and what will be plugged into it. */
struct fit_socket {
    const char *id, *form, *takes; /* takes: further forms; NULL: none */
    const char *top;               /* "finned" or "flat"; NULL: either */
    uint32_t technology;           /* what the box speaks */
    uint32_t cage_gbps;
    uint32_t lanes, lane_gbps;          /* electrical; 0: not known */
    const struct myr_speeds *lane_also; /* lower speeds of a lane */
    uint32_t ports;                     /* links that leave one cage */
    uint32_t legs;                      /* links behind one of its connectors */
    bool nic;
};

/* One link of a layer: side a is nearer to the hosts. */
struct fit_link {
    struct fit_socket a, b;
    uint32_t gbps;
    uint32_t bundle; /* neighbouring links that run from one cage to one cage */
    double length_m;
};

/* MYR_PART_NONE where there is none: a cable with fixed ends takes no modules. */
struct fit_parts {
    uint32_t optic_a, optic_b, cable;
};

/* The cage of a switch or a card, with so many links from it, 'legs' of them behind a connector. */
struct fit_socket fits_socket(const struct myr_part *part, uint32_t ports, uint32_t legs);
/* Whether two words of the catalogue are the same. */
bool fits_text(const char *a, const char *b);
/* Form, top and speed of a lane: what can be seen without knowing what the link carries. */
bool fits_cage(const struct myr_part *part, const struct fit_socket *socket);
/* Whether a module is specified for this card. */
bool fits_host(const struct myr_part *part, const char *id);
/* Whether what one module sends the other reads; and whether a fibre joins a module. */
bool fits_light(const struct myr_part *a, const struct myr_part *b);
bool fits_end(const struct myr_part *fibre, const struct myr_part *module);

enum fit_rule fits_module(const struct myr_part *part, const struct fit_socket *socket,
                          uint32_t gbps);
enum fit_rule fits_modules(const struct myr_part *a, const struct myr_part *b, double length_m);
/* A fibre between two modules. */
enum fit_rule fits_fibre(const struct myr_part *part, const struct myr_part *a,
                         const struct myr_part *b, const struct fit_link *link);
/* A cable whose ends go into the cages themselves. */
enum fit_rule fits_fixed(const struct myr_part *part, const struct fit_link *link);
/* How many links one piece of such a cable carries. */
uint32_t fits_fixed_links(const struct myr_part_cable *cable, uint32_t gbps);

/*
 * Ports of one cage, and of the switch, for straight cables between switches: what a splitter
 * divides needs cards at its legs, so a port that runs slower is one port still.
 */
uint32_t fits_straight_ports(const struct myr_part_switch *sw, uint32_t gbps);
uint32_t fits_straight_radix(const struct myr_part_switch *sw, uint32_t gbps);

/* Whether a card can be on a network: technology, and a speed that it can run at. */
bool fits_speed(const struct myr_part_nic *nic, uint32_t gbps);
bool fits_technology(uint32_t a, uint32_t b);
