/*
 * structure: what the wiring says of devices that names leave open; the parts of identify_by_
 * structure() that votes.c and structure.c share.
 */
#pragma once

#include "hosts/hosts.h"

struct structure {
    struct identify *identify;
    const struct myr_design *design;
    const struct myr_cabling *cabling;
    struct found_ends ends;
    struct hosts hosts;
    uint32_t *taken;       /* by first port of an identity: found device + 1 */
    uint8_t *open;         /* by found device: still without identity */
    uint32_t *chip_before; /* by found device: the chip of the same box before it + 1, round */
    uint32_t open_count;   /* devices without identity */
    struct myr_verify *verify;
    MYR_VEC(struct myr_identity) named;  /* what was found out */
    MYR_VEC(struct myr_ambiguity) alike; /* classes that nothing tells apart */
};

static inline struct myr_cabling_end structure_end(const struct structure *s, uint32_t end)
{
    return found_end(&s->ends, end);
}

/* A NIC with a host is told together with the host's other NICs, at the end. */
static inline bool structure_is_alone(const struct structure *s, uint32_t found)
{
    return s->open[found] && s->hosts.group[found] == MYR_NONE;
}

static inline bool structure_is_host(const struct myr_design *design, uint32_t port)
{
    return myr_design_port_group(design, port)->role == MYR_PORT_NIC;
}

/* A found device gets its place; chips of the same box get it too. */
void structure_accept(struct structure *s, uint32_t found, struct myr_port_span identity,
                      uint32_t votes, uint32_t links);
/* One round of votes for all; whether it named any. */
bool structure_vote(struct structure *s);
