/* sched: the parts of 'myriad sched', a file each. */
#pragma once

#include "cli.h"
#include "myriad/sched.h"

/* What the user asked 'myriad sched' for. */
struct cli_sched_question {
    uint32_t format, policy;
    const char *design, *plots, *explain, *tenants, *report;
    const char *events;
    /* place */
    const char *state, *model, *device, *exclude, *gpu_kind, *plot;
    uint32_t within;
    uint64_t tp, pp, dp, cp, ep, batch, min_nodes, leaf_max, rack_max, row_max, hops;
    uint64_t nodes, gpus_per_node, leaf_nodes, pod_nodes, seed; /* 0: as usual with the verb */
    uint64_t jitter_s;
    struct myr_option_list own;
};

/* The cluster: a design's, or the one that the options describe. */
MYR_MUST_USE int cli_sched_shape(const struct cli_sched_question *question,
                                 struct myr_place_shape *ret, struct myr_err *err);
MYR_MUST_USE int cli_sched_replay(const struct cli_sched_question *question, const char *path,
                                  struct myr_buf *buf, struct myr_err *err);
extern const char *const cli_sched_levels[5];
/* 1 when the gang was placed, 0 when it was not. */
MYR_MUST_USE int cli_sched_place(const struct cli_sched_question *question, struct myr_buf *buf,
                                 struct myr_err *err);
/* A gang and where it lies. */
struct cli_sched_placed {
    const struct myr_design *design;
    struct myr_place_shape shape;
    const struct myr_placer *placer;
    const struct myr_gang *gang; /* in rank order */
    const struct myr_place_cost *cost;
    uint32_t gpus_per_node, stages; /* stages: 0 without a layout */
};
/* The leaves it touches, as an SVG. */
MYR_MUST_USE int cli_sched_draw(const char *path, const struct cli_sched_placed *placed,
                                struct myr_err *err);
MYR_MUST_USE int cli_sched_bench(const struct cli_sched_question *question, struct myr_buf *buf,
                                 struct myr_err *err);
/* Wait by size, utilisation, span and fragmentation, an SVG each, into the folder. */
MYR_MUST_USE int cli_sched_plot(const char *folder, const struct myr_place_shape *shape,
                                const struct myr_replay_result *result, struct myr_err *err);
/* The figures, these drawings and the longest waits on one page. */
MYR_MUST_USE int cli_sched_report(const char *path, const char *policy,
                                  const struct myr_joblog *trace,
                                  const struct myr_place_shape *shape,
                                  const struct myr_replay_result *result, struct myr_err *err);
extern const char *const cli_sched_policies[4];
/* What --tenants and --own say, with the tenants of the trace; from the trace's arena. */
MYR_MUST_USE int cli_sched_own(const struct cli_sched_question *question, struct myr_joblog *trace,
                               struct myr_tenant **ret, struct myr_err *err);
/* Jobs and waits of each tenant, children behind their parent. */
void cli_sched_tenants(const struct myr_joblog *trace, const struct myr_tenant *tenants,
                       const struct myr_place_shape *shape, const struct myr_replay_result *result,
                       struct myr_json *json, struct myr_buf *text);
