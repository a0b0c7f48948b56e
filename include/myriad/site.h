/*
 * site: the real site beside the design: what others' tools read and write, whether the built
 * fabric is the planned one, and which real device is which design id.
 *
 *   cabling    a list of devices and links, from a design or from a file
 *   addresses  IPv4 addresses and AS numbers of routed networks
 *   export     the table of formats written
 *   tables     forwarding tables of an InfiniBand subnet, to OpenSM and back
 *   deadlock   whether what is written could make a lossless fabric wait for itself
 *   source_port  UDP source ports that steer hashed paths
 *   apply      planned paths into a fabric by either of these, and its tables back
 *   import     the formats read
 *   port_names which port of a box a name means, by rules that are data
 *   verify     found against planned, and the shortest repair
 *   orders     the repair as work orders, and what was mended since the last run
 *   tenants    which nodes are whose
 *   built      a design beside what was found of it, in one question
 *   cost       what miswiring costs the flows, and what to mend first
 *   binding    design ids to GUIDs, MACs, serials, host names, addresses
 *
 * Include this header; the parts under site/ are its chapters.
 */
#pragma once

#include "myriad/site/addresses.h"
#include "myriad/site/apply.h"
#include "myriad/site/binding.h"
#include "myriad/site/built.h"
#include "myriad/site/cabling.h"
#include "myriad/site/cost.h"
#include "myriad/site/deadlock.h"
#include "myriad/site/export.h"
#include "myriad/site/import.h"
#include "myriad/site/orders.h"
#include "myriad/site/port_names.h"
#include "myriad/site/repair.h"
#include "myriad/site/source_port.h"
#include "myriad/site/tables.h"
#include "myriad/site/tenants.h"
#include "myriad/site/verify.h"
