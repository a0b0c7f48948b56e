/* rates: how often each class of faults strikes a node, from the recovery data. */
#pragma once

#include "myriad/text/doc.h"
#include "myriad/twin/scenario.h"

/* 'word' is a rate as goodput takes it; 'shows' 0: by class, else one more than enum myr_fault. */
MYR_MUST_USE int rates_read(struct myr_scenario *scenario, const struct myr_doc *node,
                            const char *word, uint32_t shows, struct myr_err *err);
