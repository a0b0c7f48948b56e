/*
 * hosts: which place each host of a site has.
 *
 * In InfiniBand every NIC is a device of its own, and what its name says is whose it is: "gpu042
 * mlx5_3"; in lists a host is one device. Either way a host is told by all of its cables together,
 * and what it is called is one more thing that speaks for a place (place.c). A cable that leads
 * elsewhere than the others do is then a mistake, and not another host.
 */
#pragma once

#include "hosts/naming.h"
#include "verify/ends.h"

struct host {
    uint32_t called;     /* the place of the plan that has its name; MYR_NONE: none */
    uint32_t claim;      /* the place that its name, or what was bound, says; MYR_NONE: none */
    uint32_t node;       /* the place that it has; MYR_NONE: not told */
    uint32_t first;      /* of its NICs in 'members'; InfiniBand's alone */
    uint32_t count;      /* of its NICs */
    uint32_t found;      /* the device that it is, or its first NIC */
    uint32_t first_unit; /* of its ports in the list of units */
    uint32_t unit_count;
    bool doubled; /* several machines have this name: they have no place */
    bool named;   /* its ports have names of their own */
    bool beyond;  /* its name is as the plan's, with a number that no host of the plan has */
};

struct hosts {
    uint32_t *group;   /* by found device: of 'items'; MYR_NONE: stands for itself */
    uint32_t *members; /* found devices, by group */
    struct host *items;
    uint32_t count; /* of hosts */
};

/* "gpu042.site mlx5_3" is "gpu042" and "mlx5_3". False when the name is no NIC's of a host. */
bool hosts_split(struct myr_str name, struct myr_str *ret_host, struct myr_str *ret_nic);

/* Groups the NICs of a numbered cabling by the names of their hosts; of others there are none. */
void hosts_group(struct hosts *hosts, const struct identify *identify);

/* Lists all hosts with their ports, and what speaks for which place. */
void hosts_collect(struct hosts *hosts, const struct identify *identify,
                   const struct found_ends *ends, struct unit_list *ret);

/*
 * A site may count its hosts from another number than the plan: then names have hosts that the plan
 * has not, and cables say by how much. Changes the claims of all that are called as the plan does.
 */
void hosts_count_anew(struct hosts *hosts, const struct identify *identify,
                      const struct unit_list *units);

/*
 * Gives every host the place that leaves the fewest cables unexplained: all hosts at once, none
 * twice. A name, or what was bound, weighs as much as one cable, and decides where cables are
 * even: so hosts are renamed before their cables are moved, and one pair of plugs renames nobody.
 * True when some host got another place than it had.
 */
bool hosts_place(struct hosts *hosts, const struct identify *identify,
                 const struct unit_list *units);
