/*
 * map: the group's memory as a file below /dev/shm.
 *
 * Each member holds a shared lock on it for as long as it lives; the kernel gives it back when it
 * dies. Who gets the lock alone knows that nobody is there, and may make memory anew that is of
 * other sizes; who leaves last takes the file away.
 */
#pragma once

#include "shared.h"

struct ccl_map;

/* MYR_EINVAL when the group was made with other sizes. */
int ccl_map_open(const struct myr_ccl_conf *conf, struct ccl_map **ret, struct myr_err *err);
void ccl_map_close(struct ccl_map *map);
struct ccl_shared *ccl_map_shared(const struct ccl_map *map);
