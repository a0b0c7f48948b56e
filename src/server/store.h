/*
 * store: what the server must not lose, as keys and values.
 *
 * What is put or deleted waits until commit, which makes all of it permanent, or none: when it
 * returns MYR_OK the bytes are on the disk. Keys are in order, so that a prefix is a list. There
 * are two: a file of SQLite's, and a log in etcd that one server of several writes.
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

enum { ETCD_MEMBERS = 9 };

/* Of the map 'etcd' in myriad.yaml. */
struct etcd_config {
    char endpoints[ETCD_MEMBERS][128]; /* "http://127.0.0.1:2379" */
    uint32_t count;                    /* 0: the store is a file */
    char prefix[128];                  /* of all keys; ends in '/' */
    char ca[512], certificate[512], key[512];
    uint32_t ttl_s; /* of the leader's lease */
};

/* A file that is not there is made. One of another version is refused. */
MYR_MUST_USE int store_open(const char *path, struct store **ret, struct myr_err *err);
/*
 * The store in etcd, once this server leads. 'waits' is called while somebody else does, who is
 * named, or while etcd cannot be asked, and why; false: it is given up. Closing gives the lead up.
 */
typedef bool store_waits(void *context, const char *leader, const char *why);
MYR_MUST_USE int store_stand_by(const struct etcd_config *config, const char *name,
                                store_waits *waits, void *context, struct store **ret,
                                struct myr_err *err);
/* Several times within its time to live. MYR_ESTALE: another may lead, and nothing is kept. */
MYR_MUST_USE int store_keep(struct store *store, struct myr_err *err);
/* One in etcd that nobody has ever written. */
bool store_is_empty(const struct store *store);
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
