/*
 * What the rules share: the design with its parts looked up, and the list of what was found.
 *
 * A socket is where something is plugged in: the cages of one port group of one device type. A
 * joint is everything that links of one cable type between two sockets have in common.
 */
#pragma once

#include "myriad/physical.h"

/* rule, the planner's rules that say the same, what to do */
#define PHYSICAL_RULES(X)                                                                          \
    X(UNKNOWN_PART, "physical-unknown-part", NULL, "add the part to the catalogue")                \
    X(UNKNOWN_CARD, "physical-unknown-card", NULL, "plan it again: the design names no cards")     \
    X(CAGES, "physical-cages", NULL, "use a box with more cages, or more boxes")                   \
    X(CARD_CAGES, "physical-card-cages", NULL, "fewer ports of a node, or cards with more cages")  \
    X(PORTS_MAX, "physical-ports-max", NULL, "use fewer ports than the chip can address")          \
    X(MGMT_PORTS, "physical-mgmt-ports", NULL, "wire the management ports that the box has")       \
    X(UNMANAGED, "physical-unmanaged", NULL, "wire a strip of every feed into the network")        \
    X(CARD_DROPPED, "physical-card-dropped", NULL, "connect every card of the server")             \
    X(PORT_UNLINKED, "physical-port-unlinked", NULL, "connect every rail of every node")           \
    X(TECHNOLOGY, "physical-technology", NULL, "use one technology along a link")                  \
    X(MODULE_TECHNOLOGY, "physical-module-technology", "optic-technology",                         \
      "take a module that speaks the switch's technology")                                         \
    X(CABLE_TECHNOLOGY, "physical-cable-technology", "cable-technology",                           \
      "take a cable that speaks the switch's technology")                                          \
    X(SWITCH_SPEED, "physical-switch-speed", NULL, "run the port at a speed that the switch has")  \
    X(CARD_SPEED, "physical-card-speed", "nic-speed", "run the link at a speed of the card")       \
    X(CARD_TOTAL, "physical-card-total", NULL, "give the card no more than it carries")            \
    X(LINK_SPEED, "physical-link-speed", NULL, "run the link no faster than its ports")            \
    X(CAGE_SPEED, "physical-cage-speed", NULL, "put fewer ports into a cage")                      \
    X(NO_CABLE, "physical-no-cable", "no-optics", "choose a cable for this layer")                 \
    X(NO_MODULE, "physical-no-module", "no-optics", "fibre needs a module at both ends")           \
    X(MODULE_SURPLUS, "physical-module-surplus", "optic-surplus",                                  \
      "a cable with fixed ends takes no modules")                                                  \
    X(MODULE_FORM, "physical-module-form", "optic-form", "take a module of the cage's form")       \
    X(MODULE_HOST, "physical-module-host", "optic-host", "take one specified for this card")       \
    X(MODULE_TOP, "physical-module-top", "optic-top", "finned in air, flat in cards and liquid")   \
    X(MODULE_LANES, "physical-module-lanes", "optic-lanes", "take a module with the cage's lanes") \
    X(MODULE_LANE_SPEED, "physical-module-lane-speed", "optic-lanes optic-lane-speed",             \
      "take a module whose lanes the cage can run")                                                \
    X(MODULE_SPEED, "physical-module-speed", "optic-speed", "take a module of that speed")         \
    X(CONNECTORS, "physical-connectors", "optic-connectors",                                       \
      "take a module with a connector for each cable")                                             \
    X(CONNECTOR_SHARED, "physical-connector-shared", NULL, "plug one cable into a connector")      \
    X(CAGE_MODULES, "physical-cage-modules", NULL, "a cage holds one module")                      \
    X(CAGE_MIXED, "physical-cage-mixed", NULL,                                                     \
      "both connectors of a module take straight fibres, or both splitters")                       \
    X(CAGE_CABLES, "physical-cage-cables", "cable-cage", "a fixed end fills its cage")             \
    X(MODE, "physical-mode", "optic-mode", "one mode at both ends and in the fibre")               \
    X(WAVELENGTH, "physical-wavelength", "optic-mode", "one wavelength at both ends")              \
    X(LANE_SPEED, "physical-lane-speed", "optic-mode", "one speed of a lane at both ends")         \
    X(CONNECTOR, "physical-connector", "optic-mode", "one connector and polish throughout")        \
    X(FIBRE_LANES, "physical-fibre-lanes", "cable-lanes", "take fibre with enough pairs")          \
    X(REACH, "physical-reach", "optic-reach", "take modules with a longer reach")                  \
    X(LENGTH, "physical-length", "cable-short", "take the cable in the length of the run")         \
    X(END_FORM, "physical-end-form", "cable-form", "take a cable whose ends fit the cages")        \
    X(END_TOP, "physical-end-top", "cable-top", "finned in air, flat in cards and liquid")         \
    X(END_LANES, "physical-end-lanes", "cable-lanes", "take a cable with lanes of the cages")      \
    X(CABLE_SPEED, "physical-cable-speed", "cable-speed", "take a cable that carries its links")   \
    X(LEGS, "physical-legs", "cable-legs", "lay a splitter by its head, one link a leg")           \
    X(HEAD, "physical-head", NULL, "all legs of a splitter leave one connector or cage")           \
    X(CABLE_COUNT, "physical-cable-count", NULL, "count cables by heads")                          \
    X(BOM_SWITCHES, "physical-bom-switches", "quantity-short", "order what the design uses")       \
    X(BOM_MODULES, "physical-bom-modules", "quantity-short", "order what the design uses")         \
    X(BOM_CABLES, "physical-bom-cables", "quantity-short", "order what the design uses")

/* PHYSICAL_OK stands behind all rules: nothing is broken. */
enum physical_rule {
#define PHYSICAL_ENUM(id, name, also, remedy) PHYSICAL_##id,
    PHYSICAL_RULES(PHYSICAL_ENUM)
#undef PHYSICAL_ENUM
        PHYSICAL_RULE_COUNT,
    PHYSICAL_OK = PHYSICAL_RULE_COUNT,
};

struct socket {
    const struct myr_part *box; /* switch, card or Ethernet switch; NULL: not known */
    const struct myr_port_group *group;
    const struct myr_card *card;           /* of a host; NULL of a switch */
    const char *form, *top, *takes;        /* of a cage, as the part has them; NULL: not stated */
    const struct myr_speeds *lane_also;    /* NULL for fixed ports */
    uint32_t technology, lanes, lane_gbps; /* enum myr_technology; 0 lanes: not stated */
    uint32_t cage_gbps;                    /* of all ports of a cage together */
    uint32_t devices;                      /* of the type */
    uint8_t kind;                          /* of the devices */
};

/* A cable type with its parts; what it uses is counted while cages and cables are passed. */
struct lay {
    const struct myr_cabletype *type;
    const struct myr_part *cable, *module[2]; /* at a, at b */
    uint64_t modules[2], cables, links, pieces;
    const char *where; /* "compute host": network and layer, for findings */
};

struct joint {
    uint32_t lay, socket[2]; /* at a, at b */
    uint64_t links;
};

/* Lives for one check; all but the findings is in the arena or given back at its end. */
struct physical {
    struct myr_arena *arena;
    const struct myr_catalog *catalog;
    const struct myr_design *design;
    struct myr_physical *found;
    struct socket *sockets; /* MYR_PORT_GROUPS_MAX for each device type */
    struct lay *lays;       /* one for each cable type */
    bool *torn;             /* cables whose head is in two places */
    MYR_VEC(struct joint) joints;
};

MYR_PRINTF(5, 6)
void physical_report(struct physical *physical, enum physical_rule rule, const char *where,
                     uint64_t places, const char *fmt, ...);
const struct myr_part *physical_part(const struct physical *physical, uint32_t string);
/* "compute leaf": for what belongs to the boxes of a socket. */
const char *physical_place(struct physical *physical, const struct socket *socket);
bool physical_same(const char *a, const char *b);
bool physical_listed(const char *words, const char *word);
bool physical_has(const struct myr_speeds *speeds, uint32_t first, uint32_t wanted);

/* The steps, in their order. */
void physical_sockets(struct physical *physical); /* looks parts up, judges boxes and cards */
void physical_joints(struct physical *physical);  /* collects joints and judges them */
void physical_cages(struct physical *physical);   /* every cage and every cable */
void physical_managed(struct physical *physical); /* power strips of a room that manages them */
void physical_bom(struct physical *physical);     /* what is ordered and counted */

/* Rules about one module in one socket, and about one joint. */
void physical_judge(struct physical *physical, const struct joint *joint);
