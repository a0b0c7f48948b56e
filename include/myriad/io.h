/*
 * io: the outside world for those who talk to it: server, agents and the command.
 *
 *   stream   TCP connections on a libuv loop, with TLS or without
 *   tls      what a side shows, and whom it believes
 *   ca       a small certificate authority of the cluster's own
 *   http     one request to a server, answered or not (blocking, for the command)
 *
 * Everything runs on the thread of its loop. Nothing here decides anything.
 */
#pragma once

#include "myriad/io/ca.h"
#include "myriad/io/http.h"
#include "myriad/io/stream.h"
#include "myriad/io/tls.h"
