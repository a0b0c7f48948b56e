/*
 * journal: every event and what was decided on it, as bytes that are only added to.
 *
 * A journal begins at a snapshot and says which: the number of events before it and the hash of
 * the state. Each record holds an event, its time and the effects that were decided. Snapshot and
 * journal give the state back bit for bit; on the way every effect is compared with what was
 * decided then. A core of another version must not decide old events again: it starts from a
 * snapshot that the old one has written, with an empty journal.
 *
 * Order of things in a shell: step, append, sync, and only then carry the effects out. A record
 * that was cut off by a crash was never acted upon, and is dropped. Anything else that is wrong (a
 * bit flipped, in whatever place) is an error that names the byte: what was committed is never left
 * out in silence.
 */
#pragma once

#include "myriad/control/core.h"

#define MYR_JOURNAL_EFFECTS_MAX (4U << 20) /* of one event */

/* Begins a journal at the core's present state. */
void myr_journal_begin(const struct myr_control *control, struct myr_buf *ret);
/* Appends the event that the core has just taken, with its effects. */
void myr_journal_put(const struct myr_control *control, int64_t now_ms,
                     const struct myr_event *event, struct myr_buf *ret);

struct myr_journal_report {
    uint64_t records;      /* that were taken */
    size_t whole_bytes;    /* of the journal up to the last whole record */
    size_t torn_bytes;     /* cut off at the end, and dropped */
    int64_t last_ms;       /* time of the last event; -1: none */
    uint32_t core_version; /* that decided it */
};

/*
 * Takes the journal's events on a core loaded from its snapshot. On failure the core has the state
 * before the first record that is wrong.
 */
MYR_MUST_USE int myr_journal_replay(struct myr_control *control, struct myr_str journal,
                                    struct myr_journal_report *ret, struct myr_err *err);
