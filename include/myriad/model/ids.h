/*
 * ids: what things of a design are called outside of it: on labels, in journals, in questions. The
 * same as positions in the arrays, unless the design has grown (design.h).
 */
#pragma once

#include "myriad/model/design.h"

/* The ids of what lies at a position. */
static inline uint32_t myr_design_device_id(const struct myr_design *design, uint32_t device)
{
    return design->device_id ? design->device_id[device] : device;
}

static inline uint32_t myr_design_link_id(const struct myr_design *design, uint32_t link)
{
    return design->link_id ? design->link_id[link] : link;
}

static inline uint32_t myr_design_cable_id(const struct myr_design *design, uint32_t cable)
{
    return design->cable_id ? design->cable_id[cable] : cable;
}

/* The link with this id; MYR_NONE when there is none. */
uint32_t myr_design_link_at(const struct myr_design *design, uint32_t id);
