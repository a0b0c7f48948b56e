/*
 * design_servers: whether what a design says of its servers, nodes and GPUs agrees, group by group
 * and in the head, and of the speed at which they are cabled. Kept apart from the other checks of a
 * file, which are of its arrays.
 */
#pragma once

#include "myriad/model/design.h"

/*
 * What is wrong, and the entry of its array that is; NULL: nothing. Strings, types, devices and
 * networks must have been found right before.
 */
const char *design_servers_wrong(const struct myr_design *design, uint32_t *ret_at);
