/*
 * fence: the program of the operator's ('fence' in myriad.yaml) that takes a node's power away.
 *
 * The core asks for it where a node is lost on which ranks may still run, and nothing of a strict
 * job starts elsewhere before it is known that they do not. The program gets the node's name as its
 * one word; only exit status 0 means that the node is off. Whatever comes of it is in the log and
 * in audit.log; the core asks again later where it has failed.
 */
#pragma once

#include "server.h"

/* Says once when the program that is named cannot be run. */
void fence_begin(struct server *server);
/* Answered by MYR_EVENT_FENCED; at once, as failed, without a program. */
void fence_node(struct server *server, const struct myr_effect *effect);
void fence_end(struct server *server);
