/*
 * journal: events, and what was decided on each, since a snapshot. Replayed over that snapshot it
 * gives the same state; every record's effects are compared with what this core decides, so a
 * difference is found at the event where it begins.
 */
#include "myriad/control/journal.h"

#include <stdlib.h>

#include "sections.h"
#include "state.h"

enum {
    TAG_BEGIN = SECTION_TAG('M', 'Y', 'R', 'J'),
    TAG_RECORD = SECTION_TAG('E', 'V', 'N', 'T'),
    FORMAT = 1,
    OLDEST_CORE = 5, /* whose events and effects are laid out as this one's */
};

/* Which snapshot it belongs to: how many events that has seen, and its hash. */
struct beginning {
    uint32_t core_version, nodes; /* that decided; of the cluster */
    uint64_t events, hash;        /* of the snapshot it follows */
};

/* One event, followed by its bytes and those of its effects. */
struct record {
    uint64_t number; /* of the event */
    int64_t now_ms;
    uint32_t event_bytes, effects; /* of the short or the long form; how many follow */
};

/* Only a submission has a job in it. */
enum {
    EVENT_SHORT = offsetof(struct myr_event, spec),
    EVENT_PLAIN = EVENT_SHORT + offsetof(struct myr_job_spec, wish), /* before core version 9 */
};

_Static_assert(sizeof(struct myr_event) == 144 && EVENT_SHORT == 48 && EVENT_PLAIN == 96,
               "no padding");
_Static_assert(sizeof(struct myr_effect) == 40, "no padding");
_Static_assert(sizeof(struct record) == 24 && sizeof(struct beginning) == 24, "no padding");

void myr_journal_begin(const struct myr_control *c, struct myr_buf *ret)
{
    MYR_ASSERT(c && ret);
    MYR_ASSERT(c->decisions.count == 0 && !c->dirty); /* between two events, as its snapshot */
    struct beginning begin = {MYR_CONTROL_VERSION, c->shape.nodes, c->head.events,
                              myr_control_hash(c)};
    section_put(ret, TAG_BEGIN, FORMAT, &begin, sizeof(begin));
}

void myr_journal_put(const struct myr_control *c, int64_t now_ms, const struct myr_event *event,
                     struct myr_buf *ret)
{
    /* The one that it has just taken: its number is the last. */
    MYR_ASSERT(event->kind < MYR_EVENT_KINDS && c->head.events > 0);
    MYR_ASSERT(now_ms == c->head.wall_ms);
    MYR_ASSERT(c->effects.count <= MYR_JOURNAL_EFFECTS_MAX); /* what a replay takes */
    struct record record = {c->head.events, now_ms,
                            event->kind == MYR_EVENT_SUBMIT ? sizeof(*event) : EVENT_SHORT,
                            (uint32_t)c->effects.count};
    /* Most records are short: they need no memory of their own. */
    char small[1024];
    size_t effect_bytes = c->effects.count * sizeof(struct myr_effect);
    size_t length = sizeof(record) + record.event_bytes + effect_bytes;
    char *payload = length <= sizeof(small) ? small : myr_xrealloc(NULL, length, 1);
    memcpy(payload, &record, sizeof(record));
    memcpy(payload + sizeof(record), event, record.event_bytes);
    if (c->head.planted == MYR_PLANTED_LOST_WEIGHT && event->kind == MYR_EVENT_WEIGHT) {
        payload[sizeof(record) + offsetof(struct myr_event, kind)] = MYR_EVENT_TICK;
    }
    if (effect_bytes > 0) {
        memcpy(payload + sizeof(record) + record.event_bytes, c->effects.items, effect_bytes);
    }
    section_put(ret, TAG_RECORD, FORMAT, payload, length);
    if (payload != small) {
        free(payload);
    }
}

/* Whether this journal can be replayed over this state by this core. */
static int check_beginning(const struct myr_control *c, const struct section *section,
                           struct myr_str data, struct myr_journal_report *report,
                           struct myr_err *err)
{
    MYR_ASSERT(report->records == 0 && report->core_version == 0);
    struct beginning begin;
    if (section->tag != TAG_BEGIN || data.len != sizeof(begin)) {
        return myr_err_set(err, MYR_ECORRUPT, "this is no journal");
    }
    if (section->version != FORMAT) {
        return myr_err_set(err, MYR_EVERSION, "the journal has version %u, version %d is expected",
                           section->version, FORMAT);
    }
    memcpy(&begin, data.data, sizeof(begin));
    /*
     * What an older core has decided is never decided anew. Where this one decides each event of
     * the journal in the same way, as every record is checked, the state is the old one's.
     */
    if (begin.core_version < OLDEST_CORE || begin.core_version > MYR_CONTROL_VERSION) {
        int rc = myr_err_set(err, MYR_EVERSION,
                             "the journal was decided by core version %u, this is version %d",
                             begin.core_version, MYR_CONTROL_VERSION);
        myr_err_hint(err, "let the old version write a snapshot, and start from that");
        return rc;
    }
    /* States of older cores had other bytes: numbers and effects of all records tell them apart. */
    bool same = begin.core_version < MYR_CONTROL_VERSION || begin.hash == myr_control_hash(c);
    if (begin.events != c->head.events || begin.nodes != c->shape.nodes || !same) {
        return myr_err_set(err, MYR_ECORRUPT, "the journal does not belong to this snapshot");
    }
    report->core_version = begin.core_version;
    return MYR_OK;
}

/* 'decided' is the rest of a record. */
static bool same_effects(const struct myr_control *c, struct myr_str decided)
{
    MYR_ASSERT(decided.data || decided.len == 0);
    /* Byte by byte: structs have no padding. */
    size_t bytes = c->effects.count * sizeof(struct myr_effect);
    return bytes == decided.len &&
           (bytes == 0 || memcmp(c->effects.items, decided.data, bytes) == 0);
}

/* By the same version it is damage, or a bug; by an older one the rules have changed. */
static int decided_differently(struct myr_err *err, uint32_t core_version, uint64_t number)
{
    MYR_ASSERT(core_version <= MYR_CONTROL_VERSION && number > 0);
    if (core_version == MYR_CONTROL_VERSION) {
        return myr_err_set(err, MYR_ECORRUPT, "event %llu was decided differently",
                           (unsigned long long)number);
    }
    int rc =
        myr_err_set(err, MYR_EVERSION,
                    "event %llu was decided differently by core version %u, this is version %d",
                    (unsigned long long)number, core_version, MYR_CONTROL_VERSION);
    myr_err_hint(err, "let the old version write a snapshot, and start from that");
    return rc;
}

/* A step cannot be taken back: what can be checked is checked before it. */
static int take_record(struct myr_control *c, const struct section *section, struct myr_str data,
                       struct myr_journal_report *report, struct myr_err *err)
{
    MYR_ASSERT(report->core_version >= OLDEST_CORE);
    MYR_ASSERT(report->core_version <= MYR_CONTROL_VERSION);
    struct record record;
    if (section->tag != TAG_RECORD || section->version != FORMAT) {
        return myr_err_set(err, MYR_EVERSION, "a record of unknown kind or version");
    }
    if (data.len < sizeof(record)) {
        return myr_err_set(err, MYR_ECORRUPT, "a record is too short");
    }
    memcpy(&record, data.data, sizeof(record));
    struct myr_event event = {};
    size_t rest = data.len - sizeof(record);
    if ((record.event_bytes != EVENT_SHORT && record.event_bytes != EVENT_PLAIN &&
         record.event_bytes != sizeof(event)) ||
        record.effects > MYR_JOURNAL_EFFECTS_MAX ||
        rest != record.event_bytes + record.effects * sizeof(struct myr_effect)) {
        return myr_err_set(err, MYR_ECORRUPT, "a record has a wrong length");
    }
    /* A gap or a record told twice would make another history. */
    if (record.number != c->head.events + 1) {
        return myr_err_set(err, MYR_ECORRUPT, "event %llu follows event %llu",
                           (unsigned long long)record.number, (unsigned long long)c->head.events);
    }
    memcpy(&event, data.data + sizeof(record), record.event_bytes);
    MYR_TRY(myr_control_step(c, record.now_ms, &event, err));
    MYR_ASSERT(c->head.events == record.number);
    MYR_ASSERT(c->head.wall_ms == record.now_ms);
    struct myr_str decided = {data.data + sizeof(record) + record.event_bytes,
                              rest - record.event_bytes};
    if (!same_effects(c, decided)) {
        return decided_differently(err, report->core_version, record.number);
    }
    report->records++;
    report->last_ms = record.now_ms;
    return MYR_OK;
}

/* What a crash leaves behind a file's last word: fewer bytes than said, or none but zeros. */
static bool is_torn(struct myr_str rest, enum section_found found)
{
    MYR_ASSERT(found != SECTION_WHOLE);
    /* Some file systems leave zeros where bytes were never written. */
    bool zeros = true;
    for (size_t i = 0; i < rest.len && zeros; i++) {
        zeros = rest.data[i] == 0;
    }
    return found == SECTION_CUT || zeros;
}

int myr_journal_replay(struct myr_control *c, struct myr_str journal,
                       struct myr_journal_report *ret, struct myr_err *err)
{
    MYR_ASSERT(c && ret);
    MYR_ASSERT(journal.data || journal.len == 0);
    *ret = (struct myr_journal_report){.last_ms = -1};
    for (size_t at = 0; at < journal.len;) {
        struct myr_str rest = {journal.data + at, journal.len - at};
        struct section section;
        struct myr_str data;
        enum section_found found = section_get(rest, &section, &data);
        /* Only the end may be torn: what lies before it was written whole. */
        if (found != SECTION_WHOLE && is_torn(rest, found) && at > 0) {
            MYR_ASSERT(ret->whole_bytes == at && rest.len > 0);
            ret->torn_bytes = rest.len;
            return MYR_OK;
        }
        int rc = found == SECTION_CUT       ? myr_err_set(err, MYR_ECORRUPT, "it is cut off")
                 : found == SECTION_DAMAGED ? myr_err_set(err, MYR_ECORRUPT, "it is damaged")
                 : at == 0                  ? check_beginning(c, &section, data, ret, err)
                                            : take_record(c, &section, data, ret, err);
        if (rc < 0) {
            (void)myr_err_wrap(err, "journal, byte %zu, after %llu good records", at,
                               (unsigned long long)ret->records);
            return rc;
        }
        /* Up to here it is good, and may be gone on from. */
        at += sizeof(section) + data.len;
        ret->whole_bytes = at;
        MYR_ASSERT(at <= journal.len); /* section_get() has no more than there is */
    }
    if (ret->whole_bytes == 0) {
        return myr_err_set(err, MYR_ECORRUPT, "the journal is empty, its beginning is missing");
    }
    MYR_ASSERT(ret->whole_bytes == journal.len && ret->torn_bytes == 0);
    return MYR_OK;
}
