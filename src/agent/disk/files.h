/*
 * files: small files that outlive a crash, and what /proc says of a process.
 *
 * A file appears whole or not at all, and is on the disk when the call returns. State files hold
 * lines "key value"; a line without its end was never finished and is not read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "myriad/base.h"

#define AGENT_FILE_MAX (256U << 10) /* of any file of state; a larger one is damaged */
#define AGENT_PATH_MAX 1024

/*
 * A place where a process may be killed. MYRIAD_AGENT_DIE=agent:7 kills the agent at the seventh
 * that it comes to, 'shim:7' a launcher; tests try them all. Writing goes through a number of them.
 */
void deadly_role(const char *role);
void deadly_point(void);

/* "folder/name"; "" where that is too long, which nobody can open. */
void path_join(char ret[AGENT_PATH_MAX], const char *folder, const char *name);
/* Secrets and state: mode 0600. */
MYR_MUST_USE int file_put(const char *folder, const char *name, struct myr_str text,
                          struct myr_err *err);
/* The same without waiting for the disk: for what a reboot makes void anyway. */
MYR_MUST_USE int file_put_lightly(const char *folder, const char *name, struct myr_str text,
                                  struct myr_err *err);
MYR_MUST_USE int file_get(const char *folder, const char *name, struct myr_buf *ret,
                          struct myr_err *err);
bool file_is_there(const char *folder, const char *name);
/* Makes the folder with that mode; one that is there keeps its own. */
MYR_MUST_USE int folder_make(const char *path, mode_t mode, struct myr_err *err);
/* All files in it, and itself; sub-folders are not expected. */
void folder_remove(const char *path);
void folder_sync(const char *path);
/* Somebody has removed it: for certain, and not for an error of the disk. */
bool folder_is_gone(const char *path);

/* The rest of the first line that begins with 'key' and a blank. */
bool line_text(struct myr_str text, const char *key, struct myr_str *ret);
bool line_u64(struct myr_str text, const char *key, uint64_t max, uint64_t *ret);

/* Since boot, sleep included; no step of the wall clock moves it. */
int64_t boot_clock_ns(void);
/* Of this boot of the host. */
void boot_id(char ret[40]);
/* When the process began, in ticks since boot; 0 when there is none. With its parent. */
uint64_t process_began(pid_t pid, pid_t *ret_parent, char *ret_state);
/* The signal goes to that process or, when its number has a new owner, to nobody. */
void process_signal(pid_t pid, uint64_t began, int signal);

/* One line for people, to standard error. */
MYR_PRINTF(1, 2)
void say(const char *fmt, ...);
