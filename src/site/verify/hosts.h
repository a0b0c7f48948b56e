/*
 * hosts: NICs that belong together.
 *
 * In InfiniBand every NIC is a device of its own, and what its name says is whose it is: "gpu042
 * mlx5_3". A design that does not know the name still knows that NICs of one host sit in one node.
 * So a host is told by all of its cables together; a cable that leads elsewhere than the others do
 * is then a mistake, and not another host.
 */
#pragma once

#include "verify/ends.h"
#include "verify/naming.h"

struct host_group {
    uint32_t node;  /* of the design; MYR_NONE: not told yet */
    uint32_t first; /* of its NICs in 'members' */
    uint32_t count; /* of its NICs */
    bool doubled;   /* several machines have this name: they have no place */
};

struct hosts {
    uint32_t *group;   /* by found device; MYR_NONE: stands for itself */
    uint32_t *members; /* found devices, by group */
    struct host_group *items;
    uint32_t count; /* of groups */
};

/* "gpu042.site mlx5_3" is "gpu042" and "mlx5_3". False when the name is no NIC's of a host. */
bool hosts_split(struct myr_str name, struct myr_str *ret_host, struct myr_str *ret_nic);

/* Groups the NICs of a numbered cabling by the names of their hosts; of others there are none. */
void hosts_group(struct hosts *hosts, const struct identify *identify);

/* Says which node each host is, as far as its cables do, and lists its NICs that have no place. */
void hosts_elect(struct hosts *hosts, const struct identify *identify,
                 const struct found_ends *ends, struct unit_list *ret);
