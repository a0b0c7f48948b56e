#include <stdlib.h>

#include "decisions.h"
#include "myriad/text/csv.h"

/*
 * A list of events to be replayed by the bench: what is placed, what is released, and from where on
 * it is measured. Everything is checked before the first one is played.
 */

/* A list being read, and which jobs are placed at this line. */
struct reader {
    struct myr_csv csv;
    uint32_t nodes;
    uint8_t *placed; /* by job: it was placed and not released since */
};

static int refuse(const struct reader *r, uint32_t field, const char *what, struct myr_err *err)
{
    return myr_csv_error(err, &r->csv, field,
                         "%s, expected 'place,JOB,NODES', 'release,JOB' or "
                         "'measure'",
                         what);
}

/* Field 1 is a job, field 2 its nodes. */
static int read_number(const struct reader *r, uint32_t field, uint32_t least, uint32_t most,
                       uint32_t *ret, struct myr_err *err)
{
    uint64_t value = 0;
    if (field >= r->csv.count) {
        return refuse(r, 0, "too few fields", err);
    }
    if (!myr_str_to_u64(r->csv.fields[field], &value) || value < least || value > most) {
        return myr_csv_error(err, &r->csv, field, "'%.*s' is no %s, expected %u to %u",
                             (int)(r->csv.fields[field].len < 40 ? r->csv.fields[field].len : 40),
                             r->csv.fields[field].data, field == 1 ? "job" : "number of nodes",
                             least, most);
    }
    *ret = (uint32_t)value;
    return MYR_OK;
}

/* Each event as it would be played: what cannot be is refused with its line. */
static int read_event(struct reader *r, struct myr_bench_event *ret, struct myr_err *err)
{
    struct myr_str word = r->csv.fields[0];
    *ret = (struct myr_bench_event){.kind = MYR_EVENT_MEASURE};
    if (myr_str_eq(word, MYR_STR("measure"))) {
        return r->csv.count == 1 ? MYR_OK : refuse(r, 1, "nothing stands behind 'measure'", err);
    }
    bool places = myr_str_eq(word, MYR_STR("place"));
    if (!places && !myr_str_eq(word, MYR_STR("release"))) {
        return refuse(r, 0, "unknown event", err);
    }
    ret->kind = places ? MYR_EVENT_PLACE : MYR_EVENT_RELEASE;
    MYR_TRY(read_number(r, 1, 0, MYR_BENCH_JOBS_MAX - 1, &ret->job, err));
    if (places) {
        MYR_TRY(read_number(r, 2, 1, r->nodes, &ret->nodes, err));
    }
    uint32_t fields = places ? 3 : 2;
    if (r->csv.count > fields) {
        return refuse(r, fields, "too many fields", err);
    }
    /* Released twice, or placed on top of itself, would corrupt the placer. */
    if (r->placed[ret->job] == places) {
        return myr_csv_error(err, &r->csv, 1, "job %u %s", ret->job,
                             places ? "is placed already" : "is not placed");
    }
    r->placed[ret->job] = places;
    return MYR_OK;
}

int myr_bench_events_parse(struct myr_bench_events *events, const char *file, struct myr_str text,
                           uint32_t nodes, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    *events = (struct myr_bench_events){};
    struct reader *r = MYR_ARENA_ONE(&arena, struct reader);
    r->nodes = nodes;
    /* One byte for each number that a job may have. */
    r->placed = MYR_ARENA_NEW(&arena, uint8_t, MYR_BENCH_JOBS_MAX);
    myr_csv_init(&r->csv, &arena, file, text);
    int rc;
    while ((rc = myr_csv_next(&r->csv, err)) > 0) {
        struct myr_bench_event event;
        rc = read_event(r, &event, err);
        if (rc < 0) {
            break;
        }
        myr_vec_push(&events->items, event);
    }
    if (rc < 0) {
        myr_bench_events_done(events);
    }
    return rc;
}

void myr_bench_events_done(struct myr_bench_events *events)
{
    myr_vec_done(&events->items);
}
