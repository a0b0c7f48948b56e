/*
 * model: the one description of a cluster that every stage shares.
 *
 *   parts    what is known about one part
 *   catalog  what can be bought: all parts, price books
 *   spec     what the user asks for: one page of YAML
 *   records  what a design is made of
 *   room     where it stands and what fails together
 *   design   what was planned: devices, ports, cables, as arrays in one file
 *   design_file  the same, on disk and as JSON
 *   ids      what its things are called outside of it
 *
 * Include this header; the parts under model/ are its chapters.
 */
#pragma once

#include "myriad/model/catalog.h"
#include "myriad/model/design.h"
#include "myriad/model/design_file.h"
#include "myriad/model/ids.h"
#include "myriad/model/parts.h"
#include "myriad/model/records.h"
#include "myriad/model/room.h"
#include "myriad/model/spec.h"
#include "myriad/model/spec_load.h"
