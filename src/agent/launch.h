/*
 * launch: processes of our own that the agent starts, and how it hears of their end.
 */
#pragma once

#include <uv.h>

#include "disk/files.h"

/* The lock of a folder, for whoever starts its launcher; -1 while one lives. */
int launch_lock(const char *folder);
/* Takes the lock along; it is given back when the launcher ends, however that happens. */
MYR_MUST_USE int launch_shim(const char *folder, int lock, pid_t *ret, struct myr_err *err);
/* 'gone' is called when the process has ended, whosever child it is. */
void launch_watch(uv_loop_t *loop, pid_t pid, void (*gone)(void *context), void *context,
                  uv_poll_t **ret);
void launch_unwatch(uv_poll_t **poll);
/* Where ranks tell of their progress: a name that they can reach and that is not too long. */
void launch_socket(const char *sockets, const char *folder, const char *tag,
                   char ret[AGENT_PATH_MAX]);
/* This program again, with these arguments; what it prints comes out of the pipe. */
MYR_MUST_USE int launch_self(const char *const *argv, int *ret_pipe, struct myr_err *err);
