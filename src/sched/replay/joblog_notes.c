#include "replay/joblog_impl.h"

/*
 * Notes lie one behind the other in the order of the file:
 *
 *   lines since the last note   as many bytes as the number needs, seven bits each
 *   the wait, plus one          the same; 0: not recorded
 *   the length of the id        the same
 *   the id
 *
 * Most of a trace with ids of seven letters takes ten bytes a job. Every MARK_NOTES-th has a mark.
 */
enum { MARK_NOTES = 64 };

/* Seven bits to a byte, lowest first; the highest bit says that more follow. */
static void put_number(struct myr_joblog_notes *notes, uint64_t number)
{
    for (; number > 127; number >>= 7) {
        myr_vec_push(&notes->bytes, (uint8_t)(number | 128));
    }
    myr_vec_push(&notes->bytes, (uint8_t)number);
}

/* The number at 'at', which goes on behind it. */
static uint64_t take_number(const struct myr_joblog_notes *notes, uint64_t *at)
{
    uint64_t number = 0;
    uint32_t shift = 0;
    for (;; shift += 7) {
        MYR_ASSERT(*at < notes->bytes.count && shift < 64);
        uint8_t byte = notes->bytes.items[(*at)++];
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            return number;
        }
    }
}

void joblog_add_note(struct myr_joblog_notes *notes, uint32_t line,
                     const struct myr_joblog_note *note)
{
    MYR_ASSERT(notes->count == 0 || line > notes->last_line);
    MYR_ASSERT(note->waited_s >= -1);
    /* A mark says where the note begins and from which line it counts. */
    if (notes->count % MARK_NOTES == 0) {
        struct myr_joblog_mark mark = {notes->bytes.count, line, notes->last_line};
        myr_vec_push(&notes->marks, mark);
    }
    put_number(notes, line - notes->last_line);
    put_number(notes, (uint64_t)(note->waited_s + 1));
    put_number(notes, note->id.len);
    for (size_t i = 0; i < note->id.len; i++) {
        myr_vec_push(&notes->bytes, (uint8_t)note->id.data[i]);
    }
    notes->count++;
    notes->last_line = line;
    notes->has_ids = notes->has_ids || note->id.len > 0;
    notes->has_waits = notes->has_waits || note->waited_s >= 0;
}

/* The note at the cursor, which goes on to the next; false at the end. */
static bool take_note(const struct myr_joblog_notes *notes, struct myr_joblog_cursor *cursor,
                      struct myr_joblog_note *ret)
{
    if (cursor->at >= notes->bytes.count) {
        return false;
    }
    cursor->line += (uint32_t)take_number(notes, &cursor->at);
    ret->waited_s = (int64_t)take_number(notes, &cursor->at) - 1;
    ret->id.len = take_number(notes, &cursor->at);
    ret->id.data = (const char *)&notes->bytes.items[cursor->at];
    cursor->at += ret->id.len;
    MYR_ASSERT(cursor->at <= notes->bytes.count);
    return true;
}

/* The last mark at or before the line. */
static struct myr_joblog_cursor at_mark(const struct myr_joblog_notes *notes, uint32_t line)
{
    size_t low = 0, high = notes->marks.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (notes->marks.items[middle].line <= line) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const struct myr_joblog_mark *mark = &notes->marks.items[low];
    return (struct myr_joblog_cursor){mark->at, mark->before};
}

bool myr_joblog_note(const struct myr_joblog *trace, struct myr_joblog_cursor *cursor,
                     uint32_t line, struct myr_joblog_note *ret)
{
    const struct myr_joblog_notes *notes = &trace->notes;
    struct myr_joblog_cursor own = {};
    *ret = (struct myr_joblog_note){.waited_s = -1};
    if (notes->count == 0) {
        return false;
    }
    cursor = cursor ? cursor : &own;
    /* A little further on is nearer than the next mark; anything else is looked for. */
    if (cursor->line >= line || line - cursor->line > MARK_NOTES) {
        *cursor = at_mark(notes, line);
    }
    while (cursor->line < line && take_note(notes, cursor, ret)) {
        if (cursor->line == line) {
            return true;
        }
    }
    *ret = (struct myr_joblog_note){.waited_s = -1};
    return false;
}

/* Ids are not indexed: this is asked once for a replay. */
uint64_t myr_joblog_find(const struct myr_joblog *trace, struct myr_str id, uint32_t most,
                         uint32_t *ret_lines)
{
    struct myr_joblog_cursor cursor = {};
    struct myr_joblog_note note;
    uint64_t count = 0;
    while (take_note(&trace->notes, &cursor, &note)) {
        if (!myr_str_eq(note.id, id)) {
            continue;
        }
        if (count < most) {
            ret_lines[count] = cursor.line;
        }
        count++;
    }
    return count;
}

uint64_t myr_joblog_drop_larger(struct myr_joblog *trace, uint64_t gpus, uint32_t *ret_line)
{
    /* 'kept' falls behind with the first one that goes: that one's line is told. */
    size_t kept = 0, count = trace->jobs.count;
    for (size_t i = 0; i < count; i++) {
        if (trace->jobs.items[i].gpus <= gpus) {
            trace->jobs.items[kept++] = trace->jobs.items[i];
        } else if (kept == i) {
            *ret_line = trace->jobs.items[i].line;
        }
    }
    trace->jobs.count = kept;
    return count - kept;
}
