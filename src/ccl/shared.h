/*
 * shared: what the members have in common, as it lies in shared memory.
 *
 *   gate      where the epoch stands: open, revoked, or frozen at a ticket
 *   view      who is in the epoch: points at a record
 *   bell      who waits sleeps on it
 *   places    one for each process: what it has reached (two lines), who it is, two records in
 *             which it proposes views
 *   stages    for each place two buffers of what it gives, two of what it has reduced, two small
 *
 * Everything of a place but 'owner' is written by the process that has it alone, and a place is
 * given to another only when that process is gone. So one that was left out and wakes up can spoil
 * nothing. The words that all write (gate, view, owner) change by compare-and-swap from a value
 * that holds the epoch or the generation and never comes back.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "myriad/ccl.h"

#define CCL_MAGIC      0x316c63632d72796dull /* "myr-ccl1" */
#define CCL_SMALL_MAX  4096                  /* bytes that go through in one go */
#define CCL_INLINE_MAX 40                    /* bytes that lie beside the flag */
#define CCL_SLEEPERS   (MYR_CCL_PLACES_MAX / 64)

/* A flag is an epoch and a ticket: "in this epoch I have come that far". */
#define CCL_TICKET_BITS 38
#define CCL_TICKET_MAX  ((1ull << CCL_TICKET_BITS) - 1)
#define CCL_EPOCH_MAX   ((1ull << 24) - 2)

static inline uint64_t ccl_flag(uint64_t epoch, uint64_t ticket)
{
    return epoch << 40 | ticket;
}

static inline uint64_t ccl_epoch_of(uint64_t word)
{
    return word >> 40;
}

static inline uint64_t ccl_ticket_of(uint64_t word)
{
    return word & CCL_TICKET_MAX;
}

enum ccl_state { CCL_OPEN, CCL_REVOKED, CCL_FROZEN };

static inline uint64_t ccl_gate(uint64_t epoch, enum ccl_state state, uint64_t ticket)
{
    return epoch << 40 | (uint64_t)state << CCL_TICKET_BITS | ticket;
}

static inline enum ccl_state ccl_state_of(uint64_t gate)
{
    return (enum ccl_state)(gate >> CCL_TICKET_BITS & 3);
}

/* The view word: an epoch and the record that describes it. */
static inline uint64_t ccl_view_word(uint64_t epoch, uint32_t place, uint32_t record)
{
    return epoch << 40 | place << 1 | record;
}

/* The owner word: generation of the place, whether its holder is ready, process id. */
#define CCL_HELD    (1ull << 32)
#define CCL_CLAIMED (1ull << 33)

static inline uint64_t ccl_owner(uint64_t generation, uint64_t state, uint32_t pid)
{
    return generation << 34 | state | pid;
}

/* Ready for any epoch: a process that joins. */
#define CCL_JOINING UINT64_MAX

/* What a member shows when it takes a ticket; the ticket's lowest bit says which of the two. */
struct ccl_line {
    _Alignas(64) _Atomic uint64_t flag;
    uint64_t sign; /* which call it is, as far as all must agree on it */
    int64_t stamp; /* when it began the call */
    uint8_t bytes[CCL_INLINE_MAX];
};

struct ccl_seat {
    uint64_t owner;
    uint32_t place;
    uint32_t kept; /* whether it was a member of the epoch before */
};

struct ccl_record {
    uint64_t epoch;
    uint64_t completed;
    uint32_t size, kept;
    struct ccl_seat seats[];
};

struct ccl_place {
    struct ccl_line lines[2];
    _Alignas(64) _Atomic uint64_t owner;
    _Atomic uint64_t start;  /* of the process */
    _Atomic uint64_t tag;    /* the user's */
    _Atomic uint64_t intent; /* the epoch that it is ready for */
};

struct ccl_shared {
    _Atomic uint64_t magic; /* written last */
    uint64_t bytes;
    uint32_t places, stage_bytes, members;
    _Alignas(64) _Atomic uint64_t gate;
    _Alignas(64) _Atomic uint64_t view;
    _Alignas(64) _Atomic uint32_t bell;
    _Atomic uint64_t sleepers[CCL_SLEEPERS];
};

/* Where things lie, in bytes from the start. */
struct ccl_layout {
    size_t places, records, record_bytes, small, stages, stage_bytes, sums, sum_bytes, total;
};

void ccl_layout(uint32_t places, uint32_t stage_bytes, struct ccl_layout *ret);
void ccl_shared_init(struct ccl_shared *shared, const struct myr_ccl_conf *conf);
