/* Where the flows of 'route apply' and 'route tables' go: one answer for both. */
#pragma once

#include "myriad/site.h"
#include "route/fabric.h"

void cli_route_applied(struct cli *cli, const struct myr_fabric_case *fabric,
                       const struct myr_applied *applied);
