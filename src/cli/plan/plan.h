/* What plan and its sub-verbs share. */
#pragma once

#include "cli.h"
#include "myriad/plan/grow.h"

enum { CLI_CABLES_A_DAY = 100, CLI_DEVICES_A_DAY = 12 };

/* Who installs it; the fields are crews, cables_a_day and devices_a_day. */
#define CLI_CREW_ROWS(holder)                                                                    \
    CLI_COUNT("crews", holder, crews, 0, 64,                                                     \
              "also write the order of installation, and what each crew pulls and tests a day"), \
        CLI_COUNT("cables-a-day", holder, cables_a_day, 1, 28800,                                \
                  "cables that a crew plugs on a day"),                                          \
        CLI_COUNT("devices-a-day", holder, devices_a_day, 1, 28800,                              \
                  "devices that a crew stands up on a day")

MYR_MUST_USE int cli_check_crews(const struct cli *cli, const char *out, struct myr_err *err);
