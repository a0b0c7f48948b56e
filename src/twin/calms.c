/*
 * calms: all trouble stops and everything is mended, for a while or for good. What was drawn for
 * the time of a calm passes by: numbers name troubles, so the others stay where they were.
 */
#include "progress/progress.h"
#include "world.h"

/* Everybody is content with so much more work, when the run is over. */
enum { LAST_WORK_MS = 600000, LAST_START_MS = 1200000 };

/* Neither cut off nor broken, drained, held, or off for long. */
static void mend_node(struct world *w, uint32_t id)
{
    struct wnode *node = node_at(w, id);
    while (node->cut > 0) {
        node_cut(w, id, false);
    }
    node->broken = node->needs_part = false;
    if (node->drained) {
        nature_undrain(w, id);
    }
    if (node->held) {
        nature_unhold(w, id);
    }
    if (!node->up) { /* a boot or a repair that was under way is overtaken */
        node->life++;
        happen(w, w->now_ms + 60000 + id % 1000, HAP_BOOT, id, node->life);
    }
}

static void approve(struct world *w, int64_t nodes)
{
    struct myr_event event = {.kind = MYR_EVENT_APPROVE, .value = nodes};
    send_to_control(w, &event, 0);
}

static void begin(struct world *w)
{
    MYR_ASSERT(!w->calm && w->progress);
    w->calm = true;
    w->calms++; /* what was to end a trouble from before has nothing to do any more */
    w->result->calms++;
    for (uint32_t id = 0; id < w->scenario->shape.nodes; id++) {
        mend_node(w, id);
    }
    approve(w, w->scenario->shape.nodes);
    progress_calm(w->progress, true);
}

void calm_begin(struct world *w)
{
    const struct myr_scenario *s = w->scenario;
    uint64_t number = w->calms_drawn++;
    struct myr_rng rng;
    draw_init(&rng, w->seed, DRAW_CALM, number, 1);
    if (!w->calm) {
        begin(w);
        int64_t length_ms = s->calms.length_ms + draw_exponential_ms(&rng, s->calms.length_ms / 4);
        happen_to(w, w->now_ms + length_ms, HAP_STORM, MYR_NONE);
    }
    nature_schedule(w, HAP_CALM, DRAW_CALM, w->calms_drawn, s->calms.every_ms);
}

void calm_end(struct world *w)
{
    if (!w->last) {
        w->calm = false;
        approve(w, 0);
        progress_calm(w->progress, false);
    }
}

/* The work that its newest incarnation has, kept or not. */
static int64_t done_ms(const struct world *w, const struct wjob *job)
{
    int64_t done = job->saved_ms;
    for (size_t i = 0; i < job->incs.count; i++) {
        int64_t work_ms = inc_work_ms(w, inc_at(w, job->incs.items[i]));
        done = work_ms > done ? work_ms : done;
    }
    return done;
}

/* What runs ends soon; what waits has little to do; services have had their time. */
static uint64_t content(struct world *w, uint32_t id)
{
    struct wjob *job = job_at(w, id);
    if (!job->submitted || job->over) {
        return 0;
    }
    if (job->group->service || (job->group->date_ppm > 0 && job->first_start_ms < 0)) {
        person_cancel(w, id); /* what it was to do at its date is done some other day */
    }
    person_lets_go(w, id);
    int64_t work_ms = done_ms(w, job) + LAST_WORK_MS;
    job->work_ms = work_ms < job->work_ms ? work_ms : job->work_ms;
    for (size_t i = 0; i < job->incs.count; i++) {
        const struct winc *inc = inc_at(w, job->incs.items[i]);
        if (inc->running) {
            happen(w, w->now_ms + LAST_WORK_MS, HAP_FINISH, job->incs.items[i], inc->serial);
        }
    }
    return (uint64_t)job->gpus * (LAST_WORK_MS + LAST_START_MS);
}

void calm_for_good(struct world *w)
{
    uint64_t gpu_ms = 0;
    w->last = true;
    if (!w->calm) {
        begin(w);
    }
    for (uint32_t id = 0; id < w->job_count; id++) {
        gpu_ms += content(w, id);
    }
    progress_last(w->progress, gpu_ms);
}

bool calm_is_over(const struct world *w)
{
    for (uint32_t id = 0; id < w->job_count; id++) {
        if (w->jobs[id].submitted && !w->jobs[id].over) {
            return false;
        }
    }
    return true;
}

void calm_look(struct world *w)
{
    progress_look(w->progress, w->now_ms, w->line.up);
    for (uint32_t id = 0; w->calm && id < w->scenario->shape.nodes; id++) {
        const struct wnode *node = node_at(w, id);
        progress_node(w->progress, id, node->up && node->cut == 0 && !node->broken);
    }
    happen_to(w, w->now_ms + 60000, HAP_LOOK, MYR_NONE);
}
