/* GUIDs that exports and tables use: those of the real devices where a binding has them. */
#pragma once

#include "myriad/site/binding.h"

/* Of the NIC or switch that the port belongs to. 'binding' may be NULL. */
uint64_t guids_node(const struct myr_design *design, const struct myr_binding *binding,
                    uint32_t port);
/* Of the port itself; a switch has one for all. */
uint64_t guids_port(const struct myr_design *design, const struct myr_binding *binding,
                    uint32_t port);
