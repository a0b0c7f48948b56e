/* words: changes that would start a job, as people are told of them. */
#include "myriad/sched/trial.h"
#include "myriad/text/amount.h"
#include "queue/state.h"

const char *myr_trial_name(enum myr_trial_kind kind)
{
    static const char *const names[] = {
#define TRIAL_NAME(name, text) text,
        MYR_TRIALS(TRIAL_NAME)
#undef TRIAL_NAME
    };
    return kind < MYR_TRIAL_COUNT ? names[kind] : "";
}

/* As the reader calls it. */
static void put_node(const struct myr_node_names *names, uint32_t node, struct myr_buf *ret)
{
    if (names && names->put) {
        names->put(names->context, node, ret);
    } else {
        myr_buf_printf(ret, "node %u", node);
    }
}

/* Some of the list by number, from 'first' on; of many the first. */
static void put_numbers(const struct myr_trial *t, uint32_t first, uint32_t count,
                        struct myr_buf *ret)
{
    MYR_ASSERT(first + count <= t->job_count);
    myr_buf_printf(ret, "job%s ", count == 1 ? "" : "s");
    for (uint32_t i = 0; i < count && i < MYR_TRIAL_JOBS_MAX; i++) {
        myr_buf_printf(ret, "%s%u", i ? ", " : "", t->jobs[first + i]);
    }
    if (count > MYR_TRIAL_JOBS_MAX) {
        myr_buf_printf(ret, " and %u more", count - MYR_TRIAL_JOBS_MAX);
    }
}

/* Who runs can end by itself; who waits has to be taken out of the way. */
static void put_jobs(const struct myr_trial *t, struct myr_buf *ret)
{
    uint32_t running = t->job_count - t->waiting;
    MYR_ASSERT(t->waiting <= t->job_count);
    if (running > 0) {
        put_numbers(t, 0, running, ret);
        myr_buf_printf(ret, " (%s) over or stopped", MYR_COUNT(t->gpus, "GPU"));
    }
    if (t->waiting > 0) {
        myr_buf_puts(ret, running > 0 ? ", and " : "");
        put_numbers(t, running, t->waiting, ret);
        myr_buf_puts(ret, t->waiting == 1 ? ", which waits too, held or cancelled"
                                          : ", which wait too, held or cancelled");
    }
}

static void put_moves(const struct myr_trial *t, const struct myr_node_names *names,
                      struct myr_buf *ret)
{
    myr_buf_puts(ret, "move ");
    for (uint32_t i = 0; i < t->move_count; i++) {
        const struct myr_trial_move *m = &t->moves[i];
        myr_buf_printf(ret, "%sjob %u: %s from ", i ? "; " : "", m->job,
                       MYR_COUNT(gpu_count(m->from.gpus), "GPU"));
        put_node(names, m->from.node, ret);
        myr_buf_puts(ret, " to ");
        put_node(names, m->to.node, ret);
    }
}

/* Two are named; of more, between which they lie. */
static void put_nodes_back(const struct myr_trial *t, const struct myr_node_names *names,
                           struct myr_buf *ret)
{
    if (t->nodes > 2) {
        myr_buf_printf(ret, "%s in use, ", MYR_COUNT(t->nodes, "more node"));
    }
    put_node(names, t->node, ret);
    if (t->nodes > 1) {
        myr_buf_puts(ret, t->nodes == 2 ? " and " : " to ");
        put_node(names, t->last, ret);
    }
    if (t->nodes <= 2) {
        myr_buf_puts(ret, " in use");
    }
}

/* What else has to be, before what the kind says. */
static void put_rest(const struct myr_trial *t, const struct myr_node_names *names,
                     struct myr_buf *ret)
{
    const char *next = "";
    if (t->raised) {
        myr_buf_printf(ret, "priority %d", t->priority);
        next = ", and ";
    }
    if (t->spareless) {
        myr_buf_printf(ret, "%sno spare nodes kept", next);
        next = ", and ";
    }
    if (t->nodes > 0) {
        myr_buf_puts(ret, next);
        put_nodes_back(t, names, ret);
        next = ", and ";
    }
    myr_buf_puts(ret, t->job_count > 0 ? next : "");
}

void myr_trial_text(const struct myr_trial *t, const struct myr_node_names *names,
                    struct myr_buf *ret)
{
    put_rest(t, names, ret);
    switch (t->kind) {
    case MYR_TRIAL_RELEASE:
        myr_buf_puts(ret, "release it");
        break;
    case MYR_TRIAL_ANY_LEAVES:
        myr_buf_puts(ret, "accept more leaves than it needs");
        break;
    case MYR_TRIAL_DROP_LIMIT:
        myr_buf_puts(ret, "let its nodes lie farther apart");
        break;
    case MYR_TRIAL_DROP_SPREAD:
        myr_buf_puts(ret, "drop its spread limits");
        break;
    case MYR_TRIAL_DROP_KIND:
        myr_buf_puts(ret, "take any kind of GPU");
        break;
    case MYR_TRIAL_DROP_EXCLUDE:
        myr_buf_puts(ret, "take the nodes that it leaves out");
        break;
    case MYR_TRIAL_FEWER_GPUS:
        myr_buf_printf(ret, "ask for %s", MYR_COUNT(t->gpus, "GPU"));
        break;
    case MYR_TRIAL_PRIORITY:
        myr_buf_printf(ret, "priority %d", t->priority);
        break;
    case MYR_TRIAL_WEIGHT:
        myr_buf_printf(ret, "weight %u for its tenant", t->weight);
        break;
    case MYR_TRIAL_NODE_BACK:
    case MYR_TRIAL_NODES_BACK:
        break; /* told above */
    case MYR_TRIAL_NO_SPARES:
        myr_buf_puts(ret, "keep no spare nodes");
        break;
    case MYR_TRIAL_MOVE:
        put_moves(t, names, ret);
        break;
    default:
        if (t->job_count > 0) {
            put_jobs(t, ret);
        }
    }
}
