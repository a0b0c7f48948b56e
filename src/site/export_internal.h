/*
 * What the exporters share: the functions behind the rows of the table in export.c, and names.
 */
#pragma once

#include "myriad/site/export.h"

/* Hands the text to the sink and clears it. */
MYR_MUST_USE int export_put(const struct myr_export_sink *sink, const char *name,
                            struct myr_buf *text, struct myr_err *err);

int export_ibnetdiscover(const struct myr_export *job, const struct myr_export_sink *sink,
                         struct myr_err *err);
int export_ibsim(const struct myr_export *job, const struct myr_export_sink *sink,
                 struct myr_err *err);
int export_opensm(const struct myr_export *job, const struct myr_export_sink *sink,
                  struct myr_err *err);
