/*
 * seat: where the controller sits: its clock, its journal and snapshot, its deaths.
 *
 * The order of things is that of the real shell: step, append to the journal, then carry out. A
 * crash comes before the record is whole, after it but before any effect is carried out, or after.
 */
#include "myriad/text/amount.h"
#include "progress/progress.h"
#include "world.h"

/* A job that is between two states for half a day is called stuck. */
enum { STUCK_MS = 12 * 3600 * 1000 };

/* The hash of a run: every event and every effect goes into it, in order. */
static void fold(struct world *w, const void *data, size_t length)
{
    MYR_ASSERT(data || length == 0);
    w->result->hash = myr_hash_u64(w->result->hash ^ myr_hash_bytes(data, length));
}

/* The journal begins anew with each snapshot. */
static void snapshot(struct world *w)
{
    struct seat *seat = &w->seat;
    MYR_ASSERT(seat->control);
    myr_buf_clear(&seat->snapshot);
    myr_buf_clear(&seat->journal);
    myr_control_save(seat->control, &seat->snapshot);
    myr_journal_begin(seat->control, &seat->journal);
    seat->since_snapshot = 0;
    MYR_ASSERT(seat->snapshot.len > 0 && seat->journal.len > 0);
}

int seat_recover(const struct seat *seat, struct myr_control **ret, struct myr_err *err)
{
    MYR_ASSERT(seat->snapshot.len > 0 && seat->journal.len > 0);
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *control = NULL;
    struct myr_str journal = {seat->journal.data, seat->journal.len};
    struct myr_journal_report report;
    MYR_TRY(
        myr_control_load((struct myr_str){seat->snapshot.data, seat->snapshot.len}, &control, err));
    MYR_TRY(myr_journal_replay(control, journal, &report, err));
    MYR_ASSERT(report.whole_bytes + report.torn_bytes == journal.len);
    *ret = control;
    control = NULL;
    return MYR_OK;
}

/*
 * GPUs that the queue keeps for jobs whose turn comes when others have left, or of jobs that it has
 * stopped; it does not say which.
 */
static uint64_t claimed_gpus(const struct world *w)
{
    MYR_ASSERT(w->seat.control);
    const struct myr_queue *queue = myr_control_queue(w->seat.control);
    uint64_t gpus = 0;
    for (uint32_t job = 0; job < myr_control_jobs(w->seat.control); job++) {
        struct myr_job_view view;
        struct myr_control_job about = myr_control_job(w->seat.control, job);
        /* A job that is over keeps what its ranks have not left yet. */
        bool over = about.state >= MYR_CONTROL_DONE && about.nodes_open == 0;
        bool keeps = !over && myr_queue_view(queue, job, &view) == MYR_OK &&
                     (view.state == MYR_JOB_CLAIMS || view.leaving > 0);
        gpus += keeps ? about.spec.gpus : 0;
    }
    return gpus;
}

static uint64_t free_gpus_of(const struct world *w, uint32_t node)
{
    MYR_ASSERT(w->seat.control && node < w->scenario->shape.nodes);
    return myr_placer_free_mask(myr_queue_placer(myr_control_queue(w->seat.control)), node);
}

/* What the queue takes for taken must be what jobs have, but for claims. */
static void check_gpus(struct world *w, uint32_t node)
{
    MYR_ASSERT(w->scenario->shape.gpus_per_node > 0 && w->scenario->shape.gpus_per_node <= 64);
    uint64_t whole = UINT64_MAX >> (64 - w->scenario->shape.gpus_per_node);
    uint64_t free_gpus = free_gpus_of(w, node), owned = check_owned(w->check, node);
    if ((free_gpus ^ owned) != whole) {
        /* Taken for the queue, and no job's: a claim may explain it, and nothing else. */
        uint64_t kept = whole & ~free_gpus & ~owned;
        check_node_free(w->check, node, free_gpus | (claimed_gpus(w) > 0 ? kept : 0));
    }
}

/* All nodes: claims cannot hide more GPUs than were asked for. */
static void check_all_gpus(struct world *w)
{
    MYR_ASSERT(w->line.up && w->seat.control);
    uint64_t whole = UINT64_MAX >> (64 - w->scenario->shape.gpus_per_node), kept = 0;
    for (uint32_t node = 0; node < w->scenario->shape.nodes; node++) {
        check_gpus(w, node);
        kept += (uint64_t)__builtin_popcountll(whole & ~free_gpus_of(w, node) &
                                               ~check_owned(w->check, node));
    }
    if (kept > claimed_gpus(w)) {
        check_violated(w->check, RULE_LEAK, "the queue keeps %s for nobody",
                       MYR_COUNT(kept, "GPU"));
    }
}

/* Whether what is written gives back what lives; then a new snapshot takes its place. */
static void compare(struct world *w)
{
    struct myr_err err = {};
    struct myr_control *read_back = NULL;
    MYR_ASSERT(w->line.up && w->seat.control);
    if (seat_recover(&w->seat, &read_back, &err) < 0) {
        check_violated(w->check, RULE_JOURNAL, "%.150s", err.message);
    } else if (myr_control_hash(read_back) != myr_control_hash(w->seat.control)) {
        check_violated(w->check, RULE_JOURNAL, "snapshot and journal give another state");
    }
    myr_control_free(read_back);
    w->result->compares++;
    check_all_gpus(w);
    check_stuck(w->check, STUCK_MS);
    snapshot(w);
    MYR_ASSERT(w->seat.since_snapshot == 0);
}

int seat_begin(struct world *w, struct myr_err *err)
{
    const struct myr_scenario *s = w->scenario;
    MYR_ASSERT(!w->seat.control && w->now_ms == 0);
    MYR_TRY(myr_control_create(&s->shape, &s->policy, s->tenants, &w->seat.control, err));
    myr_control_plant(w->seat.control, w->options->planted);
    w->line = (struct line){seat_take, true, -1};
    w->seat.tick_ms = INT64_MAX;
    /* Counted in events, the first crash comes after as many as all others do. */
    w->seat.crash_event = s->crashes.every_events;
    snapshot(w);
    return MYR_OK;
}

void seat_done(struct world *w)
{
    myr_control_free(w->seat.control);
    shadow_end(w);
    myr_buf_done(&w->seat.snapshot);
    myr_buf_done(&w->seat.journal);
}

/* When the controller wants to be called, in the world's time; at most one is asked for. */
static void ask_for_tick(struct world *w)
{
    struct seat *seat = &w->seat;
    MYR_ASSERT(w->line.up && seat->control);
    int64_t wake_ms = myr_control_wake_ms(seat->control);
    /* Nothing is awaited: the next event will say more. */
    if (wake_ms == INT64_MAX) {
        return;
    }
    /* From the controller's clock to the world's. */
    wake_ms -= seat->offset_ms;
    wake_ms = wake_ms > w->now_ms ? wake_ms : w->now_ms;
    if (wake_ms < seat->tick_ms) { /* one that is too early asks again when it comes */
        MYR_ASSERT(wake_ms >= w->now_ms);
        seat->tick_ms = wake_ms;
        happen(w, wake_ms, HAP_TICK, MYR_NONE, ++seat->tick);
    }
}

/* From then on the job has this id, whether or not its owner has heard so. */
static void note_accepted(struct world *w, const struct myr_event *event,
                          const struct myr_effect *effect)
{
    if (effect->kind == MYR_EFFECT_ACCEPT && effect->state) {
        /* Tokens are the world's numbers of jobs, counted from 1. */
        MYR_ASSERT(effect->gpus > 0);
        uint32_t job = (uint32_t)effect->gpus - 1;
        MYR_ASSERT(job < w->job_count && effect->job < w->job_count);
        MYR_ASSERT(w->jobs[job].submitted);
        w->jobs[job].id = effect->job;
        w->job_of_id[effect->job] = job;
        check_job(w->check, effect->job, w->jobs[job].gpus,
                  w->jobs[job].group->restart == MYR_RESTART_STRICT);
        progress_job(w->progress, effect->job, &event->spec);
    }
}

/* What the report needs to know of a job's states. */
static void job_says(struct world *w, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind == MYR_EFFECT_JOB && effect->job < w->job_count);
    struct wjob *job = job_at(w, w->job_of_id[effect->job]);
    MYR_ASSERT(job->id == effect->job && effect->state < MYR_CONTROL_JOB_STATES);
    if (effect->state == MYR_CONTROL_STARTING && job->first_start_ms < 0) {
        job->first_start_ms = w->now_ms;
    }
    /* A later word takes back an earlier one. */
    job->over = effect->state >= MYR_CONTROL_DONE ? effect->state : 0;
}

/* Orders leave; what only tells of a decision goes nowhere. */
static void carry_out(struct world *w, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind < MYR_EFFECT_KINDS);
    switch ((enum myr_effect_kind)effect->kind) {
    case MYR_EFFECT_START:
    case MYR_EFFECT_STOP:
    case MYR_EFFECT_TEST:
        send_to_node(w, effect);
        break;
    case MYR_EFFECT_FENCE:
    case MYR_EFFECT_REPAIR:
    case MYR_EFFECT_NOTIFY:
    case MYR_EFFECT_ACCEPT:
        /* Racks, crews and people are reached without a network. */
        send_order(w, effect);
        break;
    case MYR_EFFECT_JOB:
        job_says(w, effect);
        break;
    default:
        break;
    }
}

/* Everything that was decided on one event is in force, whether or not it is carried out. */
static void watch(struct world *w, const struct myr_event *event, const struct myr_effect *effects,
                  uint32_t count)
{
    MYR_ASSERT(effects || count == 0);
    progress_begin(w->progress, event, w->now_ms);
    if (event->kind == MYR_EVENT_UNDRAIN) { /* what is decided on it may use the node */
        check_drain(w->check, event->node, false);
    }
    for (uint32_t i = 0; i < count; i++) {
        note_accepted(w, event, &effects[i]);
        check_effect(w->check, &effects[i]);
        if (effects[i].kind == MYR_EFFECT_JOB && effects[i].state == MYR_CONTROL_PLACING) {
            progress_lent(w->progress, effects[i].job,
                          myr_control_job(w->seat.control, effects[i].job).guest);
        }
        progress_effect(w->progress, &effects[i]);
    }
    if (event->kind == MYR_EVENT_DRAIN) {
        check_drain(w->check, event->node, true);
    }
    const uint32_t *nodes;
    uint32_t touched = check_touched(w->check, &nodes);
    MYR_ASSERT(touched <= w->scenario->shape.nodes);
    for (uint32_t i = 0; i < touched; i++) {
        check_gpus(w, nodes[i]);
    }
    check_event_done(w->check);
    progress_end(w->progress);
}

/* Where in an event it dies: before its record is whole, before it acts, or after. */
enum death { DEATH_NONE, DEATH_UNWRITTEN, DEATH_WRITTEN, DEATH_AFTER };

/* Drawn where a death is due. */
static enum death death_of(struct world *w)
{
    MYR_ASSERT(w->seat.crash_event == 0 || w->seat.crash_event > w->seat.events);
    if (w->seat.events + 1 != w->seat.crash_event) {
        return DEATH_NONE;
    }
    if (w->calm) { /* it lives on, and dies when the calm is over */
        w->seat.crash_event++;
        return DEATH_NONE;
    }
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_CRASH, w->seat.events, 1);
    return (enum death)(1 + myr_rng_below(&rng, 3));
}

/* The record is torn: some of its bytes, but not all, reached the disk. */
static void tear(struct world *w, size_t whole)
{
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_CRASH, w->seat.events, 2);
    MYR_ASSERT(w->seat.journal.len >= whole);
    size_t more = w->seat.journal.len - whole;
    w->seat.journal.len = whole + myr_rng_below(&rng, (uint32_t)more);
    MYR_ASSERT(more > 0 && w->seat.journal.len < whole + more); /* else nothing was torn */
}

/* What was not written is gone; a restart is on its way. */
static void die(struct world *w)
{
    struct seat *seat = &w->seat;
    MYR_ASSERT(w->line.up && w->line.down_ms == -1 && seat->control);
    myr_control_free(seat->control);
    shadow_end(w);
    seat->control = NULL;
    w->line.up = false;
    w->line.down_ms = w->now_ms;
    seat->tick_ms = INT64_MAX;
    seat->tick++;
    w->result->crashes++;
    happen_to(w, w->now_ms + w->scenario->crashes.length_ms, HAP_RESTART, MYR_NONE);
    /* Agents count their leases from now on. */
    for (uint32_t node = 0;
         w->scenario->crashes.length_ms > 300000 && node < w->scenario->shape.nodes; node++) {
        happen_to(w, w->now_ms + 60000, HAP_LEASE, node);
    }
}

bool seat_take(struct world *w, const struct myr_event *event)
{
    struct seat *seat = &w->seat;
    if (!w->line.up) {
        return false;
    }
    MYR_ASSERT(seat->control && w->line.down_ms == -1);
    /* Its own clock, which may have jumped. */
    int64_t now_ms = w->now_ms + seat->offset_ms;
    struct myr_err err = {};
    int rc = myr_control_step(seat->control, now_ms, event, &err);
    if (rc < 0) {
        check_violated(w->check, RULE_JOURNAL, "event refused: %.150s", err.message);
        return true;
    }
    uint32_t count;
    shadow_step(w, now_ms, event);
    const struct myr_effect *effects = myr_control_effects(seat->control, &count);
    enum death death = death_of(w);
    size_t whole = seat->journal.len;
    seat->events++;
    myr_journal_put(seat->control, now_ms, event, &seat->journal);
    MYR_ASSERT(seat->journal.len > whole && (effects || count == 0));
    bool hasty = w->options->planted == MYR_PLANTED_LOST_JOB; /* acts before it has written */
    /* Nobody saw the event: agents say it again, and the hash does not know of it. */
    if (death == DEATH_UNWRITTEN) {
        tear(w, whole);
        for (uint32_t i = 0; hasty && i < count; i++) {
            note_accepted(w, event, &effects[i]);
            carry_out(w, &effects[i]);
        }
        seat->dead_hash = 0;
        die(w);
        return hasty;
    }
    fold(w, event,
         event->kind == MYR_EVENT_SUBMIT ? sizeof(*event) : offsetof(struct myr_event, spec));
    fold(w, effects, count * sizeof(*effects));
    w->result->events++;
    w->result->effects += count;
    watch(w, event, effects, count);
    /* Behind what else is broken, which tells more. */
    if (myr_control_refusals(seat->control) > 0) {
        check_violated(w->check, RULE_JOURNAL, "the queue refused what it was told on event %s",
                       myr_event_kind_name((enum myr_event_kind)event->kind));
    }
    for (uint32_t i = 0; i < count; i++) {
        bool told = effects[i].kind >= MYR_EFFECT_JOB; /* a record of the decision, no order */
        if (death != DEATH_WRITTEN || told) {
            carry_out(w, &effects[i]);
        }
    }
    if (death != DEATH_NONE) {
        seat->dead_hash = myr_control_hash(seat->control);
        die(w);
        return true;
    }
    /* Each comparison costs a replay of the journal, so they come now and then. */
    if (++seat->since_snapshot >= w->scenario->check_every) {
        compare(w);
    }
    ask_for_tick(w);
    return true;
}

void seat_tick(struct world *w, uint32_t serial)
{
    struct seat *seat = &w->seat;
    if (!w->line.up || (seat->tick & 0xffffff) != serial) {
        return;
    }
    MYR_ASSERT(seat->tick_ms <= w->now_ms || seat->tick_ms == INT64_MAX);
    MYR_ASSERT(seat->control && serial <= 0xffffff);
    seat->tick_ms = INT64_MAX;
    /* It may have been asked for by an event since, or the clock has jumped. */
    int64_t wake_ms = myr_control_wake_ms(seat->control);
    if (wake_ms != INT64_MAX && wake_ms - seat->offset_ms <= w->now_ms) {
        struct myr_event event = {.kind = MYR_EVENT_TICK};
        (void)seat_take(w, &event);
    } else {
        ask_for_tick(w);
    }
}

/* Every job that was accepted must be known after a crash, under the same id. */
static void find_jobs(struct world *w)
{
    for (uint32_t i = 0; i < w->scenario->job_count; i++) {
        struct wjob *job = job_at(w, i);
        MYR_ASSERT(!job->accepted || job->submitted);
        /* One that was over may be forgotten. */
        if (job->accepted && !job->over && myr_control_find(w->seat.control, i + 1) != job->id) {
            check_violated(w->check, RULE_LOST_JOB,
                           "job %u was accepted, and nobody knows it after a crash", job->id);
            w->result->lost++;
            /* Told once. */
            job->accepted = false;
        }
    }
}

/* The new shell finds out who is there: agents connect again, the others are silent. */
static void reconnect(struct world *w)
{
    for (uint32_t id = 0; id < w->scenario->shape.nodes && w->line.up; id++) {
        struct wnode *node = node_at(w, id);
        MYR_ASSERT(w->seat.control);
        struct myr_control_node view = myr_control_node(w->seat.control, id);
        bool heard = node->up && node->cut == 0;
        /* What the old shell had told is in the state. */
        node->told_silent = view.silent;
        if (heard && view.silent && view.boot == node->boot) {
            struct myr_event event = {.kind = MYR_EVENT_BACK, .node = id, .boot = node->boot};
            node->told_silent = false;
            (void)seat_take(w, &event);
        } else if (!heard && !view.silent) {
            node->quiet++;
            happen(w, w->now_ms + 30000, HAP_SILENT, id, node->quiet);
        }
    }
}

void seat_restart(struct world *w)
{
    struct myr_err err = {};
    struct seat *seat = &w->seat;
    struct myr_event event = {.kind = MYR_EVENT_TAKEOVER};
    MYR_ASSERT(!w->line.up && !seat->control && w->line.down_ms >= 0);
    /* From what was written, as a new process would. */
    if (seat_recover(seat, &seat->control, &err) < 0) {
        check_violated(w->check, RULE_JOURNAL, "%.150s", err.message);
        w->ended = true; /* there is no controller any more */
        return;
    }
    if (seat->dead_hash && seat->dead_hash != myr_control_hash(seat->control)) {
        check_violated(w->check, RULE_JOURNAL, "the state after a crash is not the one before");
    }
    MYR_ASSERT(seat->control && w->line.down_ms <= w->now_ms);
    w->line.up = true;
    w->line.down_ms = -1;
    const struct myr_scenario *s = w->scenario;
    /* Counted from here on again. */
    seat->crash_event = s->crashes.every_events ? seat->events + s->crashes.every_events : 0;
    snapshot(w);
    find_jobs(w);
    (void)seat_take(w, &event);
    reconnect(w);
}

void seat_dies(struct world *w)
{
    struct seat *seat = &w->seat;
    MYR_ASSERT(w->line.up == (seat->control != NULL));
    uint64_t number = w->crashes_drawn++;
    if (!w->calm && !nature_left_out(w, MYR_SCENARIO_CRASHES, number) && w->line.up) {
        seat->crash_event = seat->events + 1; /* at the next event, at some point of it */
    }
    nature_schedule(w, HAP_CRASH, DRAW_CRASH, w->crashes_drawn, w->scenario->crashes.every_ms);
}

void seat_jumps(struct world *w)
{
    struct seat *seat = &w->seat;
    MYR_ASSERT(w->line.up == (seat->control != NULL));
    uint64_t number = w->clocks_drawn++;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_CLOCK, number, 1);
    if (!w->calm && !nature_left_out(w, MYR_SCENARIO_CLOCK, number)) {
        int64_t step_ms = w->scenario->clock.step_ms;
        /* The clock never shows less than 0. */
        bool back = draw_chance(&rng, 500000) && w->now_ms + seat->offset_ms > step_ms;
        seat->offset_ms += back ? -step_ms : step_ms;
        seat->ahead_ms += back ? 0 : step_ms;
        progress_clock(w->progress, back ? -step_ms : step_ms);
        MYR_ASSERT(w->now_ms + seat->offset_ms >= 0);
        w->result->clock_steps++;
        seat->tick_ms = INT64_MAX; /* the wake that was asked for lies elsewhere on the new clock */
        if (w->line.up) {
            ask_for_tick(w);
        }
    }
    nature_schedule(w, HAP_CLOCK, DRAW_CLOCK, w->clocks_drawn, w->scenario->clock.every_ms);
}
