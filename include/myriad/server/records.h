/*
 * records: what the server keeps, described: for tests of all of it.
 */
#pragma once

#include "myriad/record.h"

/* Rows of the store; NULL at the end. */
extern const struct myr_record *const myr_server_kept[];
