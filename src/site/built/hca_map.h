/* hca_map: what hosts call their ports, as the user tells it. */
#pragma once

#include "myriad/site/built.h"

/* "mlx5_3=nic1", or a CSV file with the columns port and hca-name, as cable validation tools have.
 */
MYR_MUST_USE int hca_map_add(struct myr_built *built, const char *rule, struct myr_err *err);
