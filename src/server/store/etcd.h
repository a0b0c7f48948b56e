/*
 * etcd: its JSON gateway, as far as a store needs it: transactions, ranges, leases.
 *
 * Requests are small and few, and nothing may be acted upon before they are answered: so they are
 * waited for, one connection each, with a short time limit. A member that does not answer is left
 * for the next in the list, which is kept while it answers.
 */
#pragma once

#include "store.h"

struct etcd;

struct etcd_compare {
    const char *key;      /* behind the prefix */
    uint64_t created;     /* its create revision; 0: it is not there */
    struct myr_str value; /* where 'by_value' */
    bool by_value;
};

struct etcd_put {
    const char *key;
    struct myr_str value;
    int64_t lease; /* 0: none */
};

struct etcd_drop {
    const char *from, *to; /* keys from the first up to and without the second */
};

struct etcd_txn {
    const struct etcd_compare *compares;
    uint32_t compare_count;
    const struct etcd_put *puts;
    uint32_t put_count;
    const struct etcd_drop *drop; /* or NULL */
};

struct etcd *etcd_new(const struct etcd_config *config);
void etcd_free(struct etcd *etcd);

/* 1: done; 0: a comparison failed, and nothing was. 'ret_revision' of the store after it. */
MYR_MUST_USE int etcd_commit(struct etcd *etcd, const struct etcd_txn *txn, uint64_t *ret_revision,
                             struct myr_err *err);

typedef int etcd_each(void *context, const char *key, struct myr_str value, uint64_t created,
                      struct myr_err *err);
/* Keys with this beginning (behind the prefix), in order, a few at a time. */
MYR_MUST_USE int etcd_range(struct etcd *etcd, const char *prefix, etcd_each *each, void *context,
                            struct myr_err *err);

MYR_MUST_USE int etcd_lease(struct etcd *etcd, uint32_t ttl_s, int64_t *ret, struct myr_err *err);
/* MYR_ESTALE: it has run out. */
MYR_MUST_USE int etcd_keep_alive(struct etcd *etcd, int64_t lease, struct myr_err *err);
void etcd_revoke(struct etcd *etcd, int64_t lease);
/* History before this revision is of no use to anybody. */
MYR_MUST_USE int etcd_compact(struct etcd *etcd, uint64_t revision, struct myr_err *err);
uint64_t etcd_requests(const struct etcd *etcd);
