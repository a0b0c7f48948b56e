/* fit: the parts of 'myriad fit', a file each. */
#pragma once

#include "cli.h"
#include "myriad/fit.h"

int cli_fit_validate(const char *path, bool json);
int cli_fit_constants(bool as_json);
