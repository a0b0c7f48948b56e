/*
 * identify: which part of the design a found device is.
 *
 * A found device is a whole device of the design or, in InfiniBand's view, one port of a host. It
 * is told by its GUID when that is bound, else by its name; names are taken as the design writes
 * them, with a domain behind, in the form of managed switches ("MF0;name:model/U1"), or as bound;
 * capitals and runs of blanks do not count. A known name is never overruled by a cable.
 * What names leave open is found by structure (structure.c, hosts.c, naming.c).
 */
#pragma once

#include "myriad/site/verify.h"
#include "verify/spelling.h"

struct identify {
    struct myr_arena *arena;
    const struct myr_design *design;
    const struct myr_binding *binding; /* or NULL */
    const struct myr_cabling *cabling;
    struct myr_strmap *type_ports; /* by type of device: port name to index */
    struct myr_port_span *devices; /* of the cabling */
    uint32_t *nodes;   /* by found device: the host that it is a NIC of; MYR_NONE: none */
    uint8_t *inside;   /* by found device: a part of a switch, never a cable's end */
    uint8_t *voted;    /* by found device: the wiring says what it is, and not its name */
    uint8_t *by_cable; /* by found device: a NIC that only its cable tells from others */
    bool any_by_cable; /* there is one */
    uint8_t *listed; /* by found device: a host whose NICs a list beside InfiniBand's files names */
    struct myr_strmap listed_nics; /* of those, device and port's name, to the found device */
    struct spelling *spelling;
    uint32_t nets;                   /* that are judged, as bits */
    const struct myr_hca_name *hcas; /* what hosts call their ports, as the user told it */
    uint32_t hca_count;
    uint32_t name_conflicts;       /* names that another device has or is bound to */
    struct myr_strmap small_hosts; /* bound host names in small letters, to the row */
    struct myr_strmap aliases;     /* found device and a port's own name, to a port of the design */
};

void identify_init(struct identify *identify, struct myr_arena *arena,
                   const struct myr_design *design, const struct myr_cabling *cabling,
                   struct spelling *spelling, const struct myr_verify_options *options);
void identify_done(struct identify *identify);

/* Which systems the switches run, from the names of the ports of those that are known. */
void identify_learn(struct identify *identify);

/* Fills 'devices' from GUIDs and names. Two devices that claim one place get none. */
void identify_by_name(struct identify *identify);

/* A whole device, by its bound host name, its serial number or its address; MYR_NONE: none. */
uint32_t identify_device_named(const struct identify *identify, struct myr_str name);

/* The index of a port that the design itself calls so, in capitals or not; MYR_MAP_NONE: none. */
uint32_t identify_own_index(const struct identify *identify, uint32_t type, struct myr_str name);

static inline bool identify_is_host_type(const struct identify *identify, uint32_t type)
{
    return identify->spelling->boxes[type].host;
}

/* A port's own name on a host; 'judged': only of a network that is judged. */
uint32_t identify_host_port(const struct identify *identify, uint32_t device, struct myr_str port,
                            bool judged);

/* The number of a found device and a port's name in small letters, as one key of a map. */
enum { IDENTIFY_KEY_MAX = 300 };
struct myr_str identify_key(uint32_t found, struct myr_str name, char ret[IDENTIFY_KEY_MAX]);

/* Notes the hosts whose NICs a list names as their ports, beside files that have them as devices.
 */
void identify_listed(struct identify *identify);
/* The port of such a host: that of the NIC that is called so, or the one that the design does. */
uint32_t identify_listed_port(const struct identify *identify, struct myr_cabling_end end);

/* "MF0;sw-a07-2:Q3400_RA/U3" is chip 3 of the box "sw-a07-2"; 0: no chip is told. */
uint32_t identify_chip(struct myr_str name, struct myr_str *ret_box);

/* From now on this name of a port of a found device means that port. */
void identify_alias(struct identify *identify, uint32_t found, struct myr_str name, uint32_t port);

/* A port of a known switch that is no port of the design. */
bool identify_is_spare(const struct identify *identify, struct myr_cabling_end end);

/* The design port that an end means; MYR_NONE when its device or its port is not known. */
uint32_t identify_port(const struct identify *identify, struct myr_cabling_end end);
/* The same, with another idea of what the device is. */
uint32_t identify_port_as(const struct identify *identify, struct myr_port_span as,
                          struct myr_cabling_end end);

static inline struct myr_port_span identity_of_device(const struct myr_design *design,
                                                      uint32_t device)
{
    uint32_t first = design->first_port[device];
    return (struct myr_port_span){first, design->first_port[device + 1] - first};
}

/*
 * What names leave open, from the wiring: a device is what the plan has where most of its cables
 * lead; where nothing known is near, what only one device of the design looks like. Appends what
 * was found to the verify; what stays open is counted as classes of devices that look alike.
 */
void identify_by_structure(struct identify *identify, struct myr_verify *verify);

/* Whether a found device stands for one port of a host. */
static inline bool identify_is_nic(const struct identify *identify, uint32_t found)
{
    return identify->cabling->numbered && !identify->cabling->devices.items[found].is_switch;
}
