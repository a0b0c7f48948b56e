#include "myriad/fabric/question.h"

#include "myriad/fabric/words.h"

/*
 * What every verb that asks about a fabric begins with: the design, its graph, the links that are
 * dead, and the flows that are meant, from a file, a seed or a layout.
 */

/* In the order in which flows are listed when all are asked for. */
static const enum myr_axis job_axes[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_DP, MYR_AXIS_PP,
                                         MYR_AXIS_EP};

/* All axes where none is named; a word that is no axis is refused. */
static int add_axes(struct myr_fabric_case *fabric, const struct myr_fabric_question *question,
                    const struct myr_ranks_on *ranks, struct myr_err *err)
{
    const char *axis = question->axis ? question->axis : "all";
    bool all = strcmp(axis, "all") == 0, met = false;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(job_axes); i++) {
        if (!all && strcmp(axis, myr_axis_name(job_axes[i])) != 0) {
            continue;
        }
        met = true;
        MYR_TRY(myr_flows_groups(&fabric->flows, &fabric->graph, ranks, job_axes[i],
                                 question->pattern, err));
    }
    return met ? MYR_OK
               : myr_err_set(err, MYR_EINVAL, "unknown axis '%.20s'; tp, cp, dp, pp, ep or all",
                             axis);
}

/* "ring in the dp groups of tp=8,pp=8 on 64 nodes" */
static const char *layout_traffic(struct myr_fabric_case *fabric,
                                  const struct myr_fabric_question *question, uint64_t gpus)
{
    const char *axis = question->axis ? question->axis : "all";
    uint32_t each = fabric->design.head->gpus_per_node;
    return myr_arena_printf(&fabric->arena, "%s in %s%s groups of %s on %llu nodes",
                            myr_traffic_names[question->pattern],
                            strcmp(axis, "all") == 0 ? "" : "the ", axis,
                            question->layout ? question->layout : "a layout of dp alone",
                            (unsigned long long)((gpus + each - 1) / (each ? each : 1)));
}

/* A word about nodes, or about the layout, may be missing: all of them, data parallelism alone. */
static int layout_flows(struct myr_fabric_case *fabric, const struct myr_fabric_question *question,
                        struct myr_err *err)
{
    const struct myr_design_head *head = fabric->design.head;
    struct myr_layout layout;
    uint32_t *nodes = NULL, count = 0;
    int rc = MYR_OK;
    if (question->nodes) {
        rc = myr_words_nodes(&fabric->arena, &fabric->design, question->nodes, &nodes, &count, err);
    }
    if (rc < 0) {
        return rc;
    }
    /* Without words about nodes the layout fills the whole design. */
    uint64_t gpus = (uint64_t)(nodes ? count : head->nodes) * head->gpus_per_node;
    MYR_TRY(myr_layout_given(&fabric->arena, "--layout",
                             question->layout ? question->layout : "tp=1", gpus, &layout, err));
    /* Without words about nodes ranks fill the design from its first node on. */
    struct myr_ranks_on ranks = {&layout, nodes, count};
    fabric->traffic = layout_traffic(fabric, question, myr_layout_gpus(&layout));
    rc = add_axes(fabric, question, &ranks, err);
    /* All axes at once: a port divides its rate among them. */
    myr_flows_fit(&fabric->flows, &fabric->design);
    return rc;
}

/* A question that can do without flows (failover, degraded) gets none where none were named. */
static int make_flows(struct myr_fabric_case *fabric, const struct myr_fabric_question *question,
                      struct myr_err *err)
{
    uint64_t seed;
    int rc = MYR_OK;
    if (question->flows) {
        fabric->traffic = myr_arena_printf(&fabric->arena, "those of %s", question->flows);
        rc = myr_flows_read(&fabric->flows, &fabric->graph, question->flows, err);
    } else if (question->permutation) {
        if (!myr_str_to_u64(myr_str_from(question->permutation), &seed)) {
            return myr_err_set(err, MYR_EINVAL, "'%.20s' is no seed; a whole number is expected",
                               question->permutation);
        }
        fabric->traffic = myr_arena_printf(&fabric->arena, "a permutation of all GPUs, seed %llu",
                                           (unsigned long long)seed);
        myr_flows_permutation(&fabric->flows, &fabric->graph, seed);
        /* GPUs that share a port share its rate. */
        myr_flows_fit(&fabric->flows, &fabric->design);
    } else if (question->layout || question->nodes || question->need_flows) {
        rc = layout_flows(fabric, question, err);
    }
    if (rc == MYR_OK && question->need_flows && fabric->flows.items.count == 0) {
        rc = myr_err_set(err, MYR_EINVAL, "no flow leaves a scale-up domain: nothing to route");
        myr_err_hint(err, "give --flows FILE, or a layout whose groups span nodes");
    }
    return rc;
}

/* After an error the case is closed like any other: all of its parts begin empty. */
int myr_fabric_open(struct myr_fabric_case *ret, const struct myr_fabric_question *question,
                    struct myr_err *err)
{
    *ret = (struct myr_fabric_case){};
    myr_arena_init(&ret->arena);
    MYR_TRY(myr_design_open(&ret->design, question->design, err));
    MYR_TRY(myr_design_one_kind(&ret->design, question->design, err));
    MYR_TRY(myr_graph_init(&ret->graph, &ret->arena, &ret->design, question->net, err));
    if (question->dead) {
        MYR_TRY(myr_words_kill(&ret->graph, question->dead, &ret->dead_count, err));
    }
    return make_flows(ret, question, err);
}

void myr_fabric_close(struct myr_fabric_case *fabric)
{
    myr_flows_done(&fabric->flows);
    myr_design_close(&fabric->design);
    myr_arena_done(&fabric->arena);
}
