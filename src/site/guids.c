#include "guids.h"

#include "myriad/site/cabling.h"

/*
 * A bound GUID comes before one that was made up from the design: NICs are bound by port, switches
 * as a whole.
 */

static bool is_nic(const struct myr_design *design, uint32_t port)
{
    return myr_design_port_group(design, port)->role == MYR_PORT_NIC;
}

static const struct myr_bound *bound_of(const struct myr_design *design,
                                        const struct myr_binding *binding, uint32_t port)
{
    uint32_t device = design->port_device[port];
    return binding ? myr_binding_get(binding, device, is_nic(design, port) ? port : MYR_NONE)
                   : NULL;
}

uint64_t guids_node(const struct myr_design *design, const struct myr_binding *binding,
                    uint32_t port)
{
    const struct myr_bound *bound = bound_of(design, binding, port);
    return bound && bound->guid ? bound->guid : myr_site_guid(design, port);
}

/* A switch's own GUID is that of all its ports. */
uint64_t guids_port(const struct myr_design *design, const struct myr_binding *binding,
                    uint32_t port)
{
    const struct myr_bound *bound = bound_of(design, binding, port);
    if (!is_nic(design, port)) {
        return guids_node(design, binding, port);
    }
    if (bound && bound->port_guid) {
        return bound->port_guid;
    }
    /* Cards of one port mostly count on from the node's. */
    return guids_node(design, binding, port) + 1;
}
