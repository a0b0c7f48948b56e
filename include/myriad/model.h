/*
 * model: the one description of a cluster that every stage shares.
 *
 *   catalog  what can be bought: parts with their properties, price books
 *   spec     what the user asks for: one page of YAML
 *   design   what was planned: devices, ports, cables, as arrays in one file
 *
 * Include this header; the parts under model/ are its chapters.
 */
#pragma once

#include "myriad/model/catalog.h"
#include "myriad/model/design.h"
#include "myriad/model/spec.h"
