#include "reports.h"

/* A controller that never commits must not fill the memory; said again on a new connection, they
 * must not look like a flood either. */
enum { REPORTS_MAX = 1024 };

/* Not sent while there is no session: its number is 0 then, and the welcome sends it again. */
static void send_one(struct reports *reports, struct report *report)
{
    MYR_ASSERT(reports->session);
    struct myr_str text = myr_str_from(report->text);
    struct myr_wire_result result = {.job = report->job, .code = report->code, .text = text};
    struct myr_wire_exit ended = {.job = report->job,
                                  .rank = report->rank,
                                  .code = report->code,
                                  .signal = report->signal,
                                  .line = text};
    /* STARTED, STOPPED and TESTED have one shape. */
    const void *body = report->type == MYR_WIRE_EXIT ? (const void *)&ended : &result;
    report->sequence = session_send(reports->session, report->type, report->epoch, body);
}

static bool is_same(const struct report *a, enum myr_wire_type type, uint64_t job, uint32_t epoch)
{
    return a->type == type && a->job == job && a->epoch == epoch;
}

/* The order stays: an EXIT must not overtake the STARTED before it. */
static void take_out(struct reports *reports, size_t at)
{
    MYR_ASSERT(at < reports->items.count);
    reports->items.count--;
    MYR_ASSERT(reports->items.count < REPORTS_MAX);
    memmove(&reports->items.items[at], &reports->items.items[at + 1],
            (reports->items.count - at) * sizeof(struct report));
}

void reports_drop(struct reports *reports, enum myr_wire_type type, uint64_t job, uint32_t epoch)
{
    for (size_t i = 0; i < reports->items.count; i++) {
        if (is_same(&reports->items.items[i], type, job, epoch)) {
            take_out(reports, i);
            return;
        }
    }
}

/* Sent at once where there is a session, and kept until it is acknowledged. */
void reports_add(struct reports *reports, const struct report *report)
{
    MYR_ASSERT(report->type == MYR_WIRE_STARTED || report->type == MYR_WIRE_STOPPED ||
               report->type == MYR_WIRE_EXIT || report->type == MYR_WIRE_TESTED);
    reports_drop(reports, report->type, report->job, report->epoch);
    if (reports->items.count >= REPORTS_MAX) {
        take_out(reports, 0); /* the controller asks again for what it misses */
    }
    myr_vec_push(&reports->items, *report);
    MYR_ASSERT(reports->items.count <= REPORTS_MAX);
    send_one(reports, &reports->items.items[reports->items.count - 1]);
}

void reports_resend(struct reports *reports)
{
    MYR_ASSERT(reports->session && reports->items.count <= REPORTS_MAX);
    for (size_t i = 0; i < reports->items.count; i++) {
        send_one(reports, &reports->items.items[i]);
    }
}

/* 'acked' is called before the list is shortened: it must not add to it. */
void reports_ack(struct reports *reports, uint64_t sequence,
                 void (*acked)(void *context, const struct report *report), void *context)
{
    size_t kept = 0, count = reports->items.count;
    for (size_t i = 0; i < count; i++) {
        struct report report = reports->items.items[i];
        /* All up to that number are committed; those of an older connection have none here. */
        if (report.sequence > 0 && report.sequence <= sequence) {
            acked(context, &report);
            MYR_ASSERT(reports->items.count == count);
        } else {
            reports->items.items[kept++] = report;
        }
    }
    reports->items.count = kept;
    MYR_ASSERT(kept <= count);
}

void reports_done(struct reports *reports)
{
    myr_vec_done(&reports->items);
}
