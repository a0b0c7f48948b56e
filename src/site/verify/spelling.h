/*
 * spelling: how the boxes of a site call their ports.
 *
 * A name may have several readings, one for each system that knows it (myriad/site/port_names.h).
 * Boxes of one type run one system, so what reads all names of a type is its system; where two
 * systems are left that read a name differently, the one that the other ends of the cables confirm
 * is taken. What is still open after that is unread: it is neither right nor wrong.
 *
 * Names repeat on every box of a type: each is read once.
 */
#pragma once

#include "myriad/site/cabling.h"
#include "myriad/site/port_names.h"

enum { SPELLING_READINGS = 4 };

/* The different readings of one name on one type of device. */
struct spelled {
    uint32_t count;                      /* of readings */
    uint32_t ends;                       /* of cables that have this name */
    uint32_t index[SPELLING_READINGS];   /* of the port, or MYR_PORT_SPARE */
    uint32_t systems[SPELLING_READINGS]; /* that read it so, as bits */
};

struct spelling {
    struct myr_arena *arena;
    const struct myr_design *design;
    const struct myr_port_names *names;
    struct myr_box *boxes;    /* by type of device */
    struct myr_strmap *words; /* by type: a name to its place in 'spelled' */
    MYR_VEC(struct spelled) spelled;
    struct spelling_recent *recent; /* short names that were asked for last, by a hash of them */
    uint32_t *systems;   /* by type: those that are left, as bits; 0: none reads all names */
    uint8_t *assumed;    /* by type: the other ends of the cables decided */
    uint32_t management; /* the system that knows names of management ports alone, as a bit */
};

void spelling_init(struct spelling *spelling, struct myr_arena *arena,
                   const struct myr_design *design, const struct myr_port_names *names,
                   const struct myr_catalog *catalog);
void spelling_done(struct spelling *spelling);

/* All readings of a name on a device of this type, whatever its system. */
struct spelled *spelling_of(struct spelling *spelling, uint32_t type, struct myr_str name);
/* The one that is left: an index, MYR_PORT_SPARE, or MYR_NONE where there is none or several. */
uint32_t spelling_read(struct spelling *spelling, uint32_t type, struct myr_str name);
/* The same by these systems alone. */
uint32_t spelling_read_by(const struct spelled *spelled, uint32_t systems);
/* Whether the name is one that boxes give to a management port, whatever their system. */
bool spelling_is_management(struct spelling *spelling, uint32_t type, struct myr_str name);
/* InfiniBand's number on a box that says how many ports it has; 0: it does not. */
uint32_t spelling_number(const struct spelling *spelling, uint32_t type, uint64_t number,
                         uint32_t port_count);
