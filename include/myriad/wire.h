/*
 * wire: what agents, relays, the server and the twin say to each other.
 *
 *   frame     length-limited frames with version, node, epoch, sequence and checksum
 *   message   the messages as structs, and the tables that describe them
 *   session   the messages by which two sides find each other
 *   channel   one direction of a connection: schema once, values after
 *   pattern   how steps are found in lines, which both ends check by one rule
 *
 * Include this header; the parts under wire/ are its chapters.
 */
#pragma once

#include "myriad/wire/channel.h"
#include "myriad/wire/frame.h"
#include "myriad/wire/message.h"
#include "myriad/wire/pattern.h"
#include "myriad/wire/session.h"
