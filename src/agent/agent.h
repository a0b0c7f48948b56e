/*
 * agent: the resident process: session, reports, runs and the inventory on one loop.
 */
#pragma once

#include "options.h"

/* Runs until it is told to end. The exit status. */
int agent_run(struct settings *settings);
