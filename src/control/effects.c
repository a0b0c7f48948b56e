/*
 * effects: what one event has brought about, in the order in which it came about, and the names of
 * all kinds. A state is told only when it changes: who listens sees each change once.
 */
#include "state.h"

void emit(struct myr_control *c, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind < MYR_EFFECT_KINDS);
    MYR_ASSERT(effect->node == MYR_NONE || effect->node < c->shape.nodes);
    /* A job that is being accepted has its number, and is not in the list yet. */
    MYR_ASSERT(effect->job == MYR_NONE || effect->job <= c->head.job_count);
    bool order = effect->kind == MYR_EFFECT_START || effect->kind == MYR_EFFECT_STOP;
    MYR_ASSERT(!order || (effect->node != MYR_NONE && effect->job != MYR_NONE));
    /* Its answer has to name both. */
    MYR_ASSERT(!order || (effect->epoch > 0 && effect->boot > 0));
    MYR_ASSERT(effect->kind != MYR_EFFECT_START || effect->gpus != 0);
    myr_vec_push(&c->effects, *effect);
}

void emit_job(struct myr_control *c, uint32_t id, enum myr_control_job_state state)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(state < MYR_CONTROL_JOB_STATES);
    bool lives = state == MYR_CONTROL_STARTING || state == MYR_CONTROL_RUNNING ||
                 state == MYR_CONTROL_FINISHING;
    MYR_ASSERT(!lives || job->ranks > 0);
    MYR_ASSERT(state != MYR_CONTROL_RUNNING || (job->whole && job->after == AFTER_NONE));
    /* Many functions conclude the same state: it is told by the first of them. */
    if (job->state != state) {
        MYR_ASSERT(!job_is_over(job)); /* an end is told once, and nothing comes behind it */
        job->state = (uint8_t)state;
        emit(c, &(struct myr_effect){.kind = MYR_EFFECT_JOB,
                                     .state = (uint8_t)state,
                                     .node = MYR_NONE,
                                     .job = id,
                                     .epoch = job->epoch});
    }
}

void emit_node(struct myr_control *c, uint32_t id, enum myr_node_state state)
{
    struct node *node = node_of(c, id);
    MYR_ASSERT(state < MYR_NODE_STATES);
    MYR_ASSERT(state != MYR_NODE_HEALTHY || (node->boot > 0 && node->checked && !node->drain));
    MYR_ASSERT(state != MYR_NODE_UNKNOWN || node->boot == 0);
    if (node->state != state) {
        node->state = (uint8_t)state;
        emit(c, &(struct myr_effect){.kind = MYR_EFFECT_NODE,
                                     .state = (uint8_t)state,
                                     .node = id,
                                     .job = MYR_NONE,
                                     .boot = node->boot});
    }
}

const char *myr_node_state_name(enum myr_node_state state)
{
    static const char *const names[] = {"unknown", "joining",  "checking", "healthy",
                                        "suspect", "draining", "drained",  "repair"};
    _Static_assert(MYR_ARRAY_COUNT(names) == MYR_NODE_STATES, "a name for each");
    return (uint32_t)state < MYR_NODE_STATES ? names[state] : "?";
}

const char *myr_control_job_state_name(enum myr_control_job_state state)
{
    static const char *const names[] = {"queued", "placing",    "starting",  "running",
                                        "saving", "recovering", "finishing", "done",
                                        "failed", "cancelled"};
    _Static_assert(MYR_ARRAY_COUNT(names) == MYR_CONTROL_JOB_STATES, "a name for each");
    return (uint32_t)state < MYR_CONTROL_JOB_STATES ? names[state] : "?";
}

const char *myr_event_kind_name(enum myr_event_kind kind)
{
    static const char *const names[] = {
        "tick",     "takeover", "join",   "silent", "back",     "started", "stopped", "exit",
        "step",     "symptom",  "tested", "fenced", "submit",   "cancel",  "drain",   "undrain",
        "maintain", "approve",  "weight", "hold",   "hold-job", "priority"};
    _Static_assert(MYR_ARRAY_COUNT(names) == MYR_EVENT_KINDS, "a name for each");
    return (uint32_t)kind < MYR_EVENT_KINDS ? names[kind] : "?";
}

const char *myr_effect_kind_name(enum myr_effect_kind kind)
{
    static const char *const names[] = {"start",  "stop",  "test",    "fence", "repair", "notify",
                                        "accept", "grant", "release", "job",   "node"};
    _Static_assert(MYR_ARRAY_COUNT(names) == MYR_EFFECT_KINDS, "a name for each");
    return (uint32_t)kind < MYR_EFFECT_KINDS ? names[kind] : "?";
}
