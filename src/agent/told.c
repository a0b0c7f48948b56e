#include "told.h"

#include <stdio.h>

void run_report(struct runs *runs, enum myr_wire_type type, uint64_t job, uint32_t epoch,
                uint32_t code, struct myr_str text)
{
    MYR_ASSERT(type == MYR_WIRE_STARTED || type == MYR_WIRE_STOPPED);
    MYR_ASSERT(type == MYR_WIRE_STARTED || code == 0); /* a stop cannot fail */
    struct report out = {.type = type, .job = job, .epoch = epoch, .code = code};
    snprintf(out.text, sizeof(out.text), "%.*s", (int)text.len, text.len ? text.data : "");
    reports_add(runs->reports, &out);
}

/*
 * STOPPED is about all epochs up to its own: it is told when nothing up to the epoch that was named
 * is left. Where another one of them lives it is that one's to tell, when it is gone.
 */
static void tell_stopped(struct run *run, struct myr_str line)
{
    uint32_t epoch = run->asked > run->epoch ? run->asked : run->epoch, oldest = UINT32_MAX;
    MYR_ASSERT(run->state == RUN_ENDED && epoch >= run->epoch);
    for (size_t i = 0; i < run->runs->items.count; i++) {
        struct run *other = run->runs->items.items[i];
        if (other->job == run->job && run_is_alive(other) && other->epoch <= epoch) {
            MYR_ASSERT(other != run && other->epoch != run->epoch); /* of each epoch there is one */
            oldest = other->epoch < oldest ? other->epoch : oldest;
            other->asked = epoch > other->asked ? epoch : other->asked;
        }
    }
    if (oldest > run->epoch) {
        MYR_ASSERT(run->epoch <= epoch && (oldest > epoch || run->epoch < oldest));
        run_report(run->runs, MYR_WIRE_STOPPED, run->job, oldest > epoch ? epoch : run->epoch, 0,
                   line);
    }
}

/* STARTED that waits is dropped first: it no longer holds. */
void run_tell_ending(struct run *run, const struct ending *ending)
{
    struct runs *runs = run->runs;
    /* Nobody watches it any more, and how it ended was read, or made up by us. */
    MYR_ASSERT(run->state == RUN_ENDED && !run->watch && run->shim == 0);
    reports_drop(runs->reports, MYR_WIRE_STARTED, run->job, run->epoch);
    if (ending->kind == ENDING_START) {
        run_report(runs, MYR_WIRE_STARTED, run->job, run->epoch, ending->code ? ending->code : 1,
                   ending->line);
    } else if (ending->kind == ENDING_STOPPED) {
        tell_stopped(run, ending->line);
        return;
    } else {
        struct report out = {.type = MYR_WIRE_EXIT,
                             .job = run->job,
                             .epoch = run->epoch,
                             .rank = ending->rank,
                             .code = ending->code,
                             .signal = ending->signal};
        snprintf(out.text, sizeof(out.text), "%.*s", (int)ending->line.len, ending->line.data);
        reports_add(runs->reports, &out);
    }
    /* It ended before the order reached it; or a newer one, which did not, waits for its end. */
    if (run->stopping || run->asked > 0) {
        tell_stopped(run, MYR_STR(""));
    }
}

void run_tell_step(struct run *run)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct progress now = {};
    MYR_ASSERT(run->state != RUN_ACKED); /* the last step was told with its end */
    if (!file_is_there(run->folder, "progress") ||
        file_get(run->folder, "progress", &text, NULL) < 0 ||
        !progress_read((struct myr_str){text.data, text.len}, &now) ||
        (run->first_rank != 0 && !now.by_line) || now.at_ns == run->told.at_ns) {
        return;
    }
    struct myr_wire_step step = {.job = run->job, .step = now.step, .saved_step = now.saved};
    if (run->told.at_ns > 0 && now.step > run->told.step) {
        step.duration_ns = (now.at_ns - run->told.at_ns) / (int64_t)(now.step - run->told.step);
    }
    if (session_send(run->runs->reports->session, MYR_WIRE_STEP, run->epoch, &step) > 0) {
        run->told = now;
    }
}

void run_tell_stuck(struct run *run)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint64_t count = 0;
    MYR_ASSERT(run_is_alive(run));
    if (run->said_stuck || !file_is_there(run->folder, "stuck")) {
        return;
    }
    if (file_get(run->folder, "stuck", &text, NULL) == MYR_OK) {
        (void)line_u64((struct myr_str){text.data, text.len}, "count", UINT32_MAX, &count);
    }
    char words[160];
    snprintf(words, sizeof(words), "%llu processes of job %llu do not die: the node needs a reset",
             (unsigned long long)count, (unsigned long long)run->job);
    struct myr_wire_symptom symptom = {
        .id = MYR_STR("rank-unkillable"), .count = count, .text = myr_str_from(words)};
    struct session *session = run->runs->reports->session;
    run->said_stuck = session_send(session, MYR_WIRE_SYMPTOM, session->boot_number, &symptom) > 0;
}

void runs_say_again(struct runs *runs)
{
    for (size_t i = 0; i < runs->items.count; i++) {
        struct run *run = runs->items.items[i];
        if (run->state == RUN_UP && !run->stopping) {
            run_report(runs, MYR_WIRE_STARTED, run->job, run->epoch, 0, MYR_STR(""));
        }
        if (run->state == RUN_UP || run->state == RUN_ENDED) {
            run_tell_step(run);
        }
    }
}

void runs_tell_steps(struct runs *runs)
{
    for (size_t i = 0; i < runs->items.count; i++) {
        if (runs->items.items[i]->state == RUN_UP) {
            run_tell_step(runs->items.items[i]);
        }
    }
}
