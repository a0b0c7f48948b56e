/*
 * namer: what naming.c, habits.c and order.c share: names of ports by habit of hosts, and what each
 * was taken for.
 */
#pragma once

#include "hosts/naming.h"

struct tally {
    uint32_t name;  /* index of a meaning */
    uint32_t index; /* of a port in its device */
    uint32_t votes;
    uint32_t habit;
    struct myr_str text;
};

/* A name in one habit. */
struct meaning {
    uint32_t habit;
    uint32_t index;  /* of a port; MYR_NONE: says nothing */
    uint32_t hosts;  /* that have a port of this name */
    uint32_t voters; /* whose cable leads to a place of their own */
    uint32_t votes;
    bool known; /* told, or by the rules of the server's model: not assumed */
    struct myr_str text;
};

struct namer {
    const struct identify *identify;
    uint32_t habit_count;
    uint32_t *habit_of;      /* by host; MYR_NONE: all of its names are known, or it has none */
    uint32_t *types;         /* by habit: of device */
    uint32_t *hosts;         /* by habit: that have it */
    struct myr_strmap names; /* habit and name, to a meaning */
    MYR_VEC(struct meaning) meanings;
    MYR_VEC(struct tally) tallies;
    struct myr_u64map tally_of; /* name and port index */
    uint32_t *used;             /* by port of the design: the unit that it is + 1 */
    uint32_t few_hosts;         /* whose own cables alone would say what their NICs are called */
    uint8_t *doubtful;          /* by device: its cables to other switches are another one's */
};

static inline char naming_small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Whether a port has a name of which nobody knows yet what it means. */
static inline bool naming_is_open(const struct unit *unit)
{
    return unit->device != MYR_NONE && unit->known == MYR_NONE && unit->name.len && !unit->address;
}

/* A number in front of a name; capitals and blanks do not count: "MLX5_3" is mlx5_3. */
enum { NAMING_KEY_MAX = 300 };
struct myr_str naming_key(uint32_t number, struct myr_str name, char ret[NAMING_KEY_MAX]);

/* "HCA-4" is the older name of "mlx5_3"; other names are themselves. 'ret' holds the new one. */
enum { NAMING_WORD_MAX = 32 };
struct myr_str naming_device_word(struct myr_str name, char ret[NAMING_WORD_MAX]);

/* Fills the habits, which hosts have them, and how many. */
void naming_find_habits(struct namer *n, const struct unit_list *units, uint32_t hosts);

/* The networks that are judged have this port of that type. */
bool naming_is_judged(const struct namer *n, uint32_t type, uint32_t index);
/* How many ports of that type they have. */
uint32_t naming_judged_ports(const struct namer *n, uint32_t type);

/*
 * Whether what was decided for a habit is what its names say in their natural order, with all of
 * its ports there, or with the ports' own numbers ("mlx5_3" is nic3): then cables only confirm it.
 */
bool naming_is_natural(const struct namer *n, uint32_t habit);
/* Whether the ports of a habit's names neither rise as the names do nor have their numbers. */
bool naming_is_against_order(const struct namer *n, uint32_t habit);
/*
 * Names between two that are decided, where the ports between theirs are as many as the names, are
 * the next ones: so do systems count. Two leaves that changed places leave such gaps.
 */
void naming_decide_by_order(struct namer *n, uint32_t habit);
