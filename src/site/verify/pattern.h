/*
 * pattern: mistakes that have a name.
 *
 * The cable in a port belongs, by its far end, into some port: its home. A swap in a cage, a bundle
 * that begins one port too late, two leaves that were taken for each other: each shows as a rule
 * between ports and homes. Patterns are looked for from the large to the small, and what one
 * explains no other one claims: a pair of exchanged leaves is not also 32 servers with crossed
 * rails.
 */
#pragma once

#include "myriad/site/verify.h"

/* Fills the patterns and the renames of the verify. */
void pattern_find(struct myr_verify *verify);
