/*
 * namer: what naming.c and order.c share: names of ports by type of host, and what each was taken
 * for.
 */
#pragma once

#include "verify/naming.h"

struct tally {
    uint32_t name;  /* index of a name of a type */
    uint32_t index; /* of a port in its device */
    uint32_t votes;
    uint32_t type;
    struct myr_str text;
};

/* A name on one type of host. */
struct meaning {
    uint32_t type, index; /* of a port; MYR_NONE: says nothing */
    uint32_t hosts;       /* that have a port of this name */
    uint32_t voters;      /* whose cable leads to a place of their own */
    uint32_t votes;
    bool known; /* told, or by the rules of the server's model: not assumed */
    struct myr_str text;
};

struct namer {
    const struct identify *identify;
    struct myr_strmap names; /* type and name, to an index */
    MYR_VEC(struct meaning) meanings;
    MYR_VEC(struct tally) tallies;
    struct myr_u64map tally_of; /* name and port index */
    uint8_t *used;              /* by port of the design */
    uint32_t *hosts;            /* by type: hosts that were seen */
    uint32_t few_hosts;         /* whose own cables alone would say what their NICs are called */
    uint8_t *doubtful;          /* by device: its cables to other switches are another one's */
};

static inline char naming_small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* "HCA-4" is the older name of "mlx5_3"; other names are themselves. 'ret' holds the new one. */
enum { NAMING_WORD_MAX = 32 };
struct myr_str naming_device_word(struct myr_str name, char ret[NAMING_WORD_MAX]);

/* The networks that are judged have this port of that type. */
bool naming_is_judged(const struct namer *n, uint32_t type, uint32_t index);

/*
 * Whether what was decided for a type is what its names say in their natural order, with all of its
 * ports there, or with the ports' own numbers ("mlx5_3" is nic3): then cables only confirm it.
 */
bool naming_is_natural(const struct namer *n, uint32_t type);
/*
 * Names between two that are decided, where the ports between theirs are as many as the names, are
 * the next ones: so do systems count. Two leaves that changed places leave such gaps.
 */
void naming_decide_by_order(struct namer *n, uint32_t type);
