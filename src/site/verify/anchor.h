/*
 * anchor: switches under names of the site's own, identified by their neighbours.
 *
 * Names of ports say where a cable sits, whatever the box is called. So if one found switch were a
 * certain switch of the design, its cables would say which switches are around it, and theirs the
 * next ones. Each such guess is followed as far as it leads, by majorities, and held against all
 * cables between what it placed; the one is taken that most of them confirm while no other guess
 * has half as many. Where two fit alike nothing is placed: what cannot be told stays unread. Known
 * names are never overruled, and hosts are left to those who vote by switches.
 */
#pragma once

#include "verify/ends.h"

/*
 * By found device: the switch of the design that it is, where 'open' says that no name tells and
 * its neighbours do; MYR_NONE for all others. The systems of the spelling are left as they were.
 */
uint32_t *anchor_switches(const struct identify *identify, const struct found_ends *ends,
                          const uint8_t *open);
