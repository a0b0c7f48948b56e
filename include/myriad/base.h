/*
 * base: what every other module stands on. Nothing here knows about clusters.
 *
 *   err     errors that travel up with context and a remedy
 *   mem     arenas by lifetime
 *   str     borrowed text, growing text, strict number parsing, nearest name
 *   vec     typed growing array
 *   map     hash maps that iterate in insertion order
 *   bitset  fixed-size set of small integers
 *   heap    4-ary priority queue with a stable order
 *   rng     counter-based random streams
 *   probe   marks at places that are rarely reached
 *   file    whole-file read and atomic write, monotonic clock
 *   infile  a file read piece by piece
 *   file_set  several files that take their names together or not at all
 *
 * Include this header; the parts under base/ are its chapters.
 */
#pragma once

#include "myriad/base/bitset.h"
#include "myriad/base/err.h"
#include "myriad/base/file.h"
#include "myriad/base/file_set.h"
#include "myriad/base/heap.h"
#include "myriad/base/infile.h"
#include "myriad/base/map.h"
#include "myriad/base/mem.h"
#include "myriad/base/probe.h"
#include "myriad/base/rng.h"
#include "myriad/base/str.h"
#include "myriad/base/vec.h"
