/*
 * group: one process's membership, and what the files of the module share.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "blame.h"
#include "shared.h"
#include "world.h"

struct ccl_map; /* the shared memory of this process (map.h) */

/* A view as it was read: a copy that nobody changes under us. */
struct ccl_known {
    uint64_t word; /* of the view; 0: there is none yet */
    struct ccl_record record;
};

struct myr_ccl {
    struct ccl_world world;
    struct ccl_real *real; /* NULL in a test's world */
    struct ccl_map *map;   /* NULL where the memory is the test's */
    struct ccl_shared *shared;
    struct ccl_layout layout;
    uint32_t places, place;
    uint64_t owner; /* what our place says as long as it is ours */

    uint64_t epoch; /* 0: not a member yet */
    bool ended;     /* as far as this member: it makes no more calls in it */
    uint32_t rank, size, kept;
    uint64_t completed;
    struct ccl_seat *seats;     /* by rank */
    struct ccl_line **lines;    /* by rank, the first of the two */
    struct myr_ccl_member *met; /* by place */

    uint64_t ticket;               /* the last taken */
    uint64_t round;                /* rounds begun: which of two buffers */
    uint64_t calls;                /* begun */
    uint64_t call_ticket;          /* the ticket with which the last call is complete */
    uint32_t spins;                /* looks before we sleep */
    int64_t begun_ns, deadline_ns; /* of the last call */
    struct ccl_blame blame;
    struct ccl_known *known; /* the view that we are in */
    struct ccl_known *seen;  /* the one in force when we last looked */
    struct ccl_known *draft; /* what we would propose */
    const void **inputs;     /* of a reduction, by rank */
};

/* Every access to a word that others may change goes through these: a test's world steps in here.
 */
static inline void ccl_point(const struct myr_ccl *ccl)
{
    if (__builtin_expect(ccl->world.point != NULL, 0)) {
        ccl->world.point(ccl->world.context);
    }
}

static inline uint64_t ccl_load(const struct myr_ccl *ccl, _Atomic uint64_t *word)
{
    ccl_point(ccl);
    return atomic_load_explicit(word, memory_order_acquire);
}

/* Whole fences: what is stored here is seen before what is looked at next (wait.c, gate.c). */
static inline void ccl_store(const struct myr_ccl *ccl, _Atomic uint64_t *word, uint64_t value)
{
    ccl_point(ccl);
    atomic_exchange(word, value);
}

static inline bool ccl_swap(const struct myr_ccl *ccl, _Atomic uint64_t *word, uint64_t from,
                            uint64_t to)
{
    ccl_point(ccl);
    return atomic_compare_exchange_strong(word, &from, to);
}

/* A copy that a test's world can stop in the middle of. */
static inline void ccl_copy(const struct myr_ccl *ccl, void *to, const void *from, size_t bytes)
{
    if (ccl->world.point) {
        size_t half = bytes / 2;
        ccl_point(ccl);
        memcpy(to, from, half);
        ccl_point(ccl);
        memcpy((uint8_t *)to + half, (const uint8_t *)from + half, bytes - half);
        return;
    }
    memcpy(to, from, bytes);
}

static inline int64_t ccl_now(const struct myr_ccl *ccl)
{
    return ccl->world.now_ns(ccl->world.context);
}

/* 'by' later, or the end of time. */
static inline int64_t ccl_later(int64_t now_ns, int64_t by_ns)
{
    return by_ns < INT64_MAX - now_ns ? now_ns + by_ns : INT64_MAX;
}

static inline void *ccl_at(const struct myr_ccl *ccl, size_t offset)
{
    return (uint8_t *)ccl->shared + offset;
}

static inline struct ccl_place *ccl_place(const struct myr_ccl *ccl, uint32_t place)
{
    return (struct ccl_place *)ccl_at(ccl, ccl->layout.places) + place;
}

static inline struct ccl_record *ccl_record(const struct myr_ccl *ccl, uint32_t place,
                                            uint32_t record)
{
    return ccl_at(ccl, ccl->layout.records + (2 * place + record) * ccl->layout.record_bytes);
}

/* --- gate.c */

/* Ends the epoch, if it is the present one: from here on nothing more of it can complete. */
void ccl_revoke(struct myr_ccl *ccl, uint64_t epoch);
/*
 * How far all members of the epoch have come, settled once for all. The epoch has been revoked.
 * False when the group has gone on to a later epoch.
 */
bool ccl_freeze(struct myr_ccl *ccl, const struct ccl_record *view, uint64_t *ret_ticket);
/* Opens the epoch of a view that was just agreed on, unless somebody has already. */
void ccl_open(struct myr_ccl *ccl, uint64_t epoch);
/* Of an epoch that may be over: MYR_OK when all took 'ticket' before it ended, or MYR_EREFORM. */
int ccl_settle(struct myr_ccl *ccl, uint64_t ticket);
bool ccl_is_open(const struct myr_ccl *ccl);

/* --- bell.c */

/* Who sleeps wakes up. */
void ccl_ring(struct myr_ccl *ccl);
/* Sleeps until rung, or until 'until_ns', unless 'ready' says that there is no need to. */
void ccl_sleep(struct myr_ccl *ccl, bool (*ready)(struct myr_ccl *, void *), void *context,
               int64_t until_ns);
/* --- wait.c */

/*
 * Takes the next ticket, showing 'sign', and waits until all members have. MYR_EREFORM when the
 * epoch has ended before.
 */
int ccl_meet(struct myr_ccl *ccl, uint64_t sign, int64_t deadline_ns, struct myr_err *err);
/* Whether the process that had the seat is gone, or has given it up. */
bool ccl_gone(struct myr_ccl *ccl, const struct ccl_seat *seat);

/* --- place.c */

int ccl_place_claim(struct myr_ccl *ccl, uint64_t tag, int64_t deadline_ns, struct myr_err *err);
void ccl_place_free(struct myr_ccl *ccl);

/* --- view.c */

/* Reads the present view. MYR_ECORRUPT when what is there cannot be one. */
int ccl_view_read(struct myr_ccl *ccl, struct ccl_known *ret, struct myr_err *err);
/* Makes 'seen' this member's view; false when it is not in it. */
bool ccl_view_adopt(struct myr_ccl *ccl);
/* Calls of this member's epoch that count, with the epoch frozen at 'ticket'. */
uint64_t ccl_view_completed(const struct myr_ccl *ccl, uint64_t ticket);

/* --- reform.c */

int ccl_reform(struct myr_ccl *ccl, const struct myr_ccl_reform *how, int64_t deadline_ns,
               struct myr_err *err);

/* Whether the holder of a place waits to join; with 'sure', and is alive. */
bool ccl_is_joiner(struct myr_ccl *ccl, const struct ccl_record *view, uint32_t index, bool sure,
                   struct ccl_seat *ret);

/* --- join.c */

/* A member of a group in memory that is there already; 'world' is copied. For tests. */
int ccl_join_in(struct myr_ccl *ccl, const struct myr_ccl_conf *conf, int64_t timeout_ns,
                struct myr_err *err);
int ccl_create(const struct myr_ccl_conf *conf, const struct ccl_world *world, struct myr_ccl **ret,
               struct myr_err *err);
void ccl_free(struct myr_ccl *ccl);
