/*
 * store: what the server must not lose, as keys and values.
 *
 * What is put or deleted waits until commit, which makes all of it permanent, or none: when it
 * returns MYR_OK the bytes are on the disk. Keys are in order, so that a prefix is a list. That
 * little is what any replicated store can do too; the first one is a file of SQLite's.
 *
 *   snapshot          the control core's state
 *   journal/NNNN      events since, in order
 *   job/NNNN          what the core does not know of a job: its file, name, user
 *   node/NAME         which node this is, its boot, its certificate, its inventory
 *   tenant/NAME       its number
 *   token/DIGEST      who that is
 *   enrol/DIGEST      a token for one node, once
 */
#pragma once

#include "myriad/base.h"

#define STORE_VERSION 1

struct store;

/* A file that is not there is made. One of another version is refused. */
MYR_MUST_USE int store_open(const char *path, struct store **ret, struct myr_err *err);
void store_close(struct store *store);

void store_put(struct store *store, const char *key, struct myr_str value);
void store_delete(struct store *store, const char *key);
/* Keys from 'from' on, up to and without 'to'. */
void store_delete_range(struct store *store, const char *from, const char *to);
/* On failure everything still waits, and commit can be tried again. */
MYR_MUST_USE int store_commit(struct store *store, struct myr_err *err);

typedef int store_each(void *context, const char *key, struct myr_str value, struct myr_err *err);
/* In order of the keys. What waits is not seen. */
MYR_MUST_USE int store_scan(struct store *store, const char *prefix, store_each *each,
                            void *context, struct myr_err *err);

/*
 * A copy of the file, made while work goes on: so many pages a step, so that nobody waits long.
 * What is committed meanwhile is in the copy too.
 */
struct store_copy;
MYR_MUST_USE int store_copy_begin(struct store *store, const char *path, struct store_copy **ret,
                                  struct myr_err *err);
/* 1: there is more to do; 0: the copy is whole. */
MYR_MUST_USE int store_copy_step(struct store_copy *copy, int pages, struct myr_err *err);
void store_copy_end(struct store_copy *copy);
