/*
 * records: what the server keeps and says, described: for what is written of it, and tests of all.
 */
#pragma once

#include "myriad/record.h"

/* Rows of the store; NULL at the end. */
extern const struct myr_record *const myr_server_kept[];

/* What /openapi.json says: every call with what it takes and gives. */
void myr_server_openapi(const char *version, enum myr_json_style style, struct myr_buf *ret);
