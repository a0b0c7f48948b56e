/* A small cluster under the core, driven by hand. */
#pragma once

#include "holds.h"
#include "myriad/control.h"

struct fixture {
    struct myr_control *control;
    int64_t now_ms;
};

/* Every state between two events is checked as a whole. */
static inline void tell(struct fixture *f, struct myr_event event)
{
    int rc = myr_control_step(f->control, f->now_ms, &event, NULL);
    MYR_ASSERT(rc == MYR_OK);
    control_assert(f->control);
}

/* Effects of the last event, of one kind. */
static inline uint32_t count_effects(const struct fixture *f, enum myr_effect_kind kind)
{
    uint32_t count, found = 0;
    const struct myr_effect *effects = myr_control_effects(f->control, &count);
    for (uint32_t i = 0; i < count; i++) {
        found += effects[i].kind == kind;
    }
    return found;
}

/* In the core's own steps: no deadline is passed over. */
static inline void wait_ms(struct fixture *f, int64_t ms)
{
    int64_t end_ms = f->now_ms + ms;
    while (myr_control_wake_ms(f->control) <= end_ms) {
        int64_t wake_ms = myr_control_wake_ms(f->control);
        f->now_ms = wake_ms > f->now_ms ? wake_ms : f->now_ms + 1;
        tell(f, (struct myr_event){.kind = MYR_EVENT_TICK});
    }
    f->now_ms = end_ms;
    tell(f, (struct myr_event){.kind = MYR_EVENT_TICK});
}

/* 'nodes' healthy nodes of 8 GPUs. */
static inline struct fixture fixture_of(uint32_t nodes)
{
    struct fixture f = {};
    struct myr_place_shape shape = {nodes, 8, 4, nodes};
    struct myr_control_policy policy = myr_control_policy_default();
    int rc = myr_control_create(&shape, &policy, 1, &f.control, NULL);
    MYR_ASSERT(rc == MYR_OK);
    for (uint32_t n = 0; n < nodes; n++) {
        tell(&f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = n, .boot = 1});
        tell(&f, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = n, .boot = 1, .epoch = 1});
        MYR_ASSERT(myr_control_node(f.control, n).state == MYR_NODE_HEALTHY);
    }
    return f;
}

/* Returns its id; each has a token of its own. */
static inline uint32_t submit(struct fixture *f, uint32_t gpus, enum myr_restart restart)
{
    uint64_t token = myr_control_jobs(f->control) + 100;
    tell(f, (struct myr_event){.kind = MYR_EVENT_SUBMIT,
                               .spec = {.token = token,
                                        .gpus = gpus,
                                        .restart = (uint8_t)restart,
                                        .retries = 10,
                                        .lease_s = 600}});
    return myr_control_find(f->control, token);
}

/* What an agent of the node's present boot says. */
static inline void say(struct fixture *f, enum myr_event_kind kind, uint32_t node, uint32_t job,
                       uint32_t epoch, uint8_t code)
{
    uint32_t boot = myr_control_node(f->control, node).boot;
    tell(f, (struct myr_event){.kind = (uint8_t)kind,
                               .node = node,
                               .job = job,
                               .epoch = epoch,
                               .boot = boot,
                               .code = code});
}
