#include "progress/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "myriad/text/amount.h"

const char *const rule_names[RULE_COUNT] = {
    "given-twice", "ungranted",    "leak",        "lost-job",  "gang",    "late-start", "drained",
    "two-lives",   "stale-commit", "done-early",  "stuck",     "journal", "idle",       "displaced",
    "overtaken",   "priority",     "drain-limit", "retry",     "window",  "unmended",   "endless",
    "held",        "ranks",        "wish",        "scattered", "copy",    "answer"};

/* What the books know of one job, from effects and from the world. */
struct book_job {
    bool strict, work_done;      /* no two epochs at a time; the world has done its work */
    bool in_place;               /* its next start is on the GPUs of the last one */
    uint32_t gpus_granted;       /* as the controller says */
    uint8_t state;               /* as told, and since when */
    int64_t since_ms;            /* in that state */
    uint32_t stopped_epoch;      /* the newest that was ordered to stop */
    uint32_t live_epoch, live;   /* ranks that exist, of the newest epoch that has any */
    uint32_t gpus;               /* of the whole gang */
    uint32_t world_epoch, world; /* ... in this epoch */
    uint32_t up_epoch, up_gpus;  /* GPUs whose ranks have come up in an epoch */
    uint32_t commit_epoch;       /* of the last checkpoint */
};

/* All books. GPUs are counted through: node by node, then by number. */
struct check {
    uint32_t nodes, gpus_per_node;
    uint32_t *owner;       /* by GPU: job + 1, 0: nobody */
    uint32_t *lives;       /* by GPU: job + 1 of the rank that really runs on it, 0: none */
    uint32_t *node_live;   /* by node: ranks that really exist */
    uint8_t *wanted_empty; /* by node: bit 0 people, bit 1 the controller says drained */
    MYR_VEC(struct book_job) jobs;
    MYR_VEC(uint32_t) touched; /* nodes that effects of this event changed */
    uint8_t *is_touched;
    int64_t now_ms;
    struct check_report report;
};

struct check *check_create(uint32_t nodes, uint32_t gpus_per_node)
{
    MYR_ASSERT(nodes > 0 && gpus_per_node > 0 && gpus_per_node <= 64);
    struct check *k = myr_xcalloc(1, sizeof(*k));
    k->nodes = nodes;
    k->gpus_per_node = gpus_per_node;
    k->owner = myr_xcalloc((size_t)nodes * gpus_per_node, sizeof(*k->owner));
    k->lives = myr_xcalloc((size_t)nodes * gpus_per_node, sizeof(*k->lives));
    k->node_live = myr_xcalloc(nodes, sizeof(*k->node_live));
    k->wanted_empty = myr_xcalloc(nodes, 1);
    k->is_touched = myr_xcalloc(nodes, 1);
    /* Nothing broken yet. */
    k->report.first_ms = -1;
    return k;
}

void check_free(struct check *k)
{
    if (k) {
        free(k->owner);
        free(k->lives);
        free(k->node_live);
        free(k->wanted_empty);
        free(k->is_touched);
        myr_vec_done(&k->jobs);
        myr_vec_done(&k->touched);
        free(k);
    }
}

void check_time(struct check *k, int64_t now_ms)
{
    MYR_ASSERT(now_ms >= k->now_ms);
    k->now_ms = now_ms;
}

const struct check_report *check_report(const struct check *k)
{
    return &k->report;
}

void check_violated(struct check *k, enum rule rule, const char *fmt, ...)
{
    MYR_ASSERT((uint32_t)rule < RULE_COUNT);
    MYR_ASSERT(fmt);
    if (k->report.violations == 0) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(k->report.first, sizeof(k->report.first), fmt, args);
        va_end(args);
        k->report.first_ms = k->now_ms;
        k->report.first_rule = rule;
    }
    k->report.violations++;
    k->report.by_rule[rule]++;
    MYR_ASSERT(k->report.by_rule[rule] <= k->report.violations && k->report.first_ms >= 0);
}

/* Jobs are known from their first mention. */
static struct book_job *book(struct check *k, uint32_t job)
{
    MYR_ASSERT(job != MYR_NONE); /* the books would have no end */
    while (k->jobs.count <= job) {
        myr_vec_push(&k->jobs, (struct book_job){});
    }
    return &k->jobs.items[job];
}

/* Compared with the queue when all effects of the event are known: in between they may differ. */
static void touch(struct check *k, uint32_t node)
{
    MYR_ASSERT(node < k->nodes && k->touched.count <= k->nodes);
    if (!k->is_touched[node]) {
        k->is_touched[node] = 1;
        myr_vec_push(&k->touched, node);
    }
    MYR_ASSERT(k->touched.count > 0);
}

uint32_t check_touched(const struct check *k, const uint32_t **ret_nodes)
{
    MYR_ASSERT(ret_nodes && k->touched.count <= k->nodes);
    *ret_nodes = k->touched.items;
    return (uint32_t)k->touched.count;
}

void check_event_done(struct check *k)
{
    for (size_t i = 0; i < k->touched.count; i++) {
        MYR_ASSERT(k->is_touched[k->touched.items[i]]);
        k->is_touched[k->touched.items[i]] = 0;
    }
    k->touched.count = 0;
}

uint64_t check_owned(const struct check *k, uint32_t node)
{
    uint64_t owned = 0;
    MYR_ASSERT(node < k->nodes);
    for (uint32_t g = 0; g < k->gpus_per_node; g++) {
        owned |= k->owner[(size_t)node * k->gpus_per_node + g] ? UINT64_C(1) << g : 0;
    }
    return owned;
}

uint64_t check_owned_by(const struct check *k, uint32_t node, uint32_t job)
{
    uint64_t owned = 0;
    MYR_ASSERT(node < k->nodes && job != MYR_NONE);
    for (uint32_t g = 0; g < k->gpus_per_node; g++) {
        bool own = k->owner[(size_t)node * k->gpus_per_node + g] == job + 1;
        owned |= own ? UINT64_C(1) << g : 0;
    }
    return owned;
}

uint32_t check_node_live(const struct check *k, uint32_t node)
{
    MYR_ASSERT(node < k->nodes);
    return k->node_live[node];
}

void check_node_free(struct check *k, uint32_t node, uint64_t free_gpus)
{
    MYR_ASSERT(node < k->nodes);
    /* One message a node is enough. */
    for (uint32_t g = 0; g < k->gpus_per_node; g++) {
        uint32_t owner = k->owner[(size_t)node * k->gpus_per_node + g];
        bool is_free = free_gpus >> g & 1;
        if (is_free && owner) {
            check_violated(k, RULE_LEAK, "gpu/%05u/%u is free for the queue, but job %u has it",
                           node, g, owner - 1);
            return;
        }
        if (!is_free && !owner) {
            check_violated(k, RULE_LEAK, "gpu/%05u/%u is taken for the queue, but no job has it",
                           node, g);
            return;
        }
    }
}

/* From now on the job has these GPUs, rightly or not. */
static void grant(struct check *k, const struct myr_effect *e)
{
    MYR_ASSERT(e->kind == MYR_EFFECT_GRANT && e->job != MYR_NONE);
    touch(k, e->node);
    /* What a job had there before the drain it may keep, and start again in place. */
    if (k->wanted_empty[e->node]) {
        check_violated(k, RULE_DRAINED, "job %u is placed on node/%05u, which is to be empty",
                       e->job, e->node);
    }
    for (uint32_t g = 0; g < k->gpus_per_node; g++) {
        uint32_t *owner = &k->owner[(size_t)e->node * k->gpus_per_node + g];
        if (e->gpus >> g & 1) {
            if (*owner) {
                check_violated(k, RULE_GIVEN_TWICE,
                               "gpu/%05u/%u is granted to job %u while job %u has it", e->node, g,
                               e->job, *owner - 1);
            }
            /* The controller may believe that it is free: what counts is who really runs. */
            uint32_t lives = k->lives[(size_t)e->node * k->gpus_per_node + g];
            if (lives && lives != e->job + 1) {
                check_violated(k, RULE_GIVEN_TWICE,
                               "gpu/%05u/%u is granted to job %u while job %u runs on it", e->node,
                               g, e->job, lives - 1);
            }
            *owner = e->job + 1;
            book(k, e->job)->gpus_granted++;
        }
    }
}

/* Released but not given up by the job that has them, they stay its own. */
static void release(struct check *k, const struct myr_effect *e)
{
    MYR_ASSERT(e->kind == MYR_EFFECT_RELEASE && e->job != MYR_NONE);
    touch(k, e->node);
    for (uint32_t g = 0; g < k->gpus_per_node; g++) {
        uint32_t *owner = &k->owner[(size_t)e->node * k->gpus_per_node + g];
        /* Of another's GPUs nothing is taken: that shows as a leak. */
        if (e->gpus >> g & 1 && *owner == e->job + 1) {
            *owner = 0;
            MYR_ASSERT(book(k, e->job)->gpus_granted > 0); /* at least the one that it owns */
            book(k, e->job)->gpus_granted--;
        }
    }
}

/* Only the GPUs that were granted may be started on. */
static void order_start(struct check *k, const struct myr_effect *e)
{
    MYR_ASSERT(e->node < k->nodes && e->job != MYR_NONE);
    MYR_ASSERT(e->kind == MYR_EFFECT_START);
    if (e->world > 0) {
        check_world(k, e->job, e->epoch, e->world);
    }
    for (uint32_t g = 0; g < k->gpus_per_node; g++) {
        if (e->gpus >> g & 1 && k->owner[(size_t)e->node * k->gpus_per_node + g] != e->job + 1) {
            check_violated(k, RULE_UNGRANTED, "job %u is started on gpu/%05u/%u, which it has not",
                           e->job, e->node, g);
            break;
        }
    }
}

/* Stops are remembered by epoch: a later running of it is wrong. */
static void note_stop(struct check *k, const struct myr_effect *e)
{
    MYR_ASSERT(e->kind == MYR_EFFECT_STOP);
    struct book_job *job = book(k, e->job);
    if (e->epoch > job->stopped_epoch) {
        job->stopped_epoch = e->epoch;
    }
    MYR_ASSERT(job->stopped_epoch >= e->epoch);
}

/* GPUs of the whole gang in an epoch. */
static uint32_t world_of(const struct book_job *job, uint32_t epoch)
{
    return job->world_epoch == epoch ? job->world : job->gpus;
}

/* What a state claims must be true in the books. */
static void job_says(struct check *k, const struct myr_effect *e)
{
    MYR_ASSERT(e->kind == MYR_EFFECT_JOB && e->state < MYR_CONTROL_JOB_STATES);
    struct book_job *job = book(k, e->job);
    /* Effects of one event come in order: what it released before it ended is back by now. */
    uint32_t granted = job->gpus_granted;
    switch ((enum myr_control_job_state)e->state) {
    case MYR_CONTROL_RUNNING:
        if (job->stopped_epoch >= e->epoch) {
            check_violated(k, RULE_LATE_START,
                           "job %u is called running in epoch %u, which was taken back", e->job,
                           e->epoch);
        } else if (job->up_epoch != e->epoch || job->up_gpus < world_of(job, e->epoch)) {
            check_violated(k, RULE_GANG, "job %u is called running in epoch %u with %s up of %u",
                           e->job, e->epoch,
                           MYR_COUNT(job->up_epoch == e->epoch ? job->up_gpus : 0, "GPU"),
                           world_of(job, e->epoch));
        }
        break;
    case MYR_CONTROL_STARTING:
        /* Placed anew it may wait for older ranks of its own; in place nothing may be there. */
        if (job->in_place && job->live > 0 && job->live_epoch + 1 == e->epoch) {
            check_violated(k, RULE_TWO_LIVES,
                           "job %u is started in place in epoch %u, beside %s of epoch %u", e->job,
                           e->epoch, MYR_COUNT(job->live, "rank"), job->live_epoch);
        }
        break;
    case MYR_CONTROL_DONE:
        if (!job->work_done) {
            check_violated(k, RULE_DONE_EARLY, "job %u is called done, its work is not", e->job);
        }
        /* fall through */
    case MYR_CONTROL_FAILED:
    case MYR_CONTROL_CANCELLED:
        /* What an epoch job has left on silent nodes is still its own. */
        if (granted > 0 && job->strict) {
            check_violated(k, RULE_LEAK, "job %u is %s and still has %s", e->job,
                           myr_control_job_state_name((enum myr_control_job_state)e->state),
                           MYR_COUNT(granted, "GPU"));
        }
        break;
    default:
        break;
    }
}

/* Called drained, a node has no ranks on it. */
static void node_says(struct check *k, const struct myr_effect *e)
{
    /* Under repair it is empty as well. */
    bool drained = e->state == MYR_NODE_DRAINED || e->state == MYR_NODE_REPAIR;
    bool empties = drained || e->state == MYR_NODE_DRAINING;
    MYR_ASSERT(e->node < k->nodes && e->state < MYR_NODE_STATES);
    MYR_ASSERT(e->kind == MYR_EFFECT_NODE);
    /* Two bits: what people ask for, and what the controller says of itself. */
    k->wanted_empty[e->node] = (uint8_t)((k->wanted_empty[e->node] & 1) | (empties ? 2 : 0));
    if (drained && k->node_live[e->node] > 0) {
        check_violated(k, RULE_DRAINED, "node/%05u is called %s with %s on it", e->node,
                       myr_node_state_name((enum myr_node_state)e->state),
                       MYR_COUNT(k->node_live[e->node], "rank"));
    }
}

/* A job that is stopped starts again where it was, unless it is placed in between. */
static void note_place(struct book_job *job, enum myr_control_job_state next)
{
    if (next == MYR_CONTROL_PLACING) {
        job->in_place = false;
    } else if (next == MYR_CONTROL_RECOVERING || next == MYR_CONTROL_SAVING) {
        /* Placed, and made to pause before its start: it keeps the new place. */
        job->in_place = job->in_place || job->state != MYR_CONTROL_PLACING;
    }
}

void check_effect(struct check *k, const struct myr_effect *e)
{
    MYR_ASSERT(e->kind < MYR_EFFECT_KINDS);
    MYR_ASSERT(e->node == MYR_NONE || e->node < k->nodes);
    switch ((enum myr_effect_kind)e->kind) {
    case MYR_EFFECT_GRANT:
        grant(k, e);
        break;
    case MYR_EFFECT_RELEASE:
        release(k, e);
        break;
    case MYR_EFFECT_START:
        order_start(k, e);
        break;
    case MYR_EFFECT_STOP:
        note_stop(k, e);
        break;
    case MYR_EFFECT_JOB:
        note_place(book(k, e->job), (enum myr_control_job_state)e->state);
        book(k, e->job)->state = e->state;
        /* Before it is judged: whatever is wrong with it, it has moved. */
        book(k, e->job)->since_ms = k->now_ms;
        job_says(k, e);
        break;
    case MYR_EFFECT_NODE:
        node_says(k, e);
        break;
    default:
        break;
    }
}

void check_drain(struct check *k, uint32_t node, bool drain)
{
    MYR_ASSERT(node < k->nodes && k->wanted_empty[node] <= 3);
    k->wanted_empty[node] = (uint8_t)((k->wanted_empty[node] & 2) | (drain ? 1 : 0));
}

void check_job(struct check *k, uint32_t job, uint32_t gpus, bool strict)
{
    MYR_ASSERT(gpus > 0 && book(k, job)->gpus <= gpus);
    book(k, job)->gpus = gpus;
    book(k, job)->strict = strict;
}

void check_world(struct check *k, uint32_t job, uint32_t epoch, uint32_t gpus)
{
    MYR_ASSERT(gpus > 0 && epoch > 0);
    if (epoch >= book(k, job)->world_epoch) {
        book(k, job)->world_epoch = epoch;
        book(k, job)->world = gpus;
    }
}

/* The truth about GPUs, whatever the controller believes. */
static void set_lives(struct check *k, uint32_t node, uint64_t gpus, uint32_t value)
{
    MYR_ASSERT(node < k->nodes);
    for (uint32_t g = 0; g < k->gpus_per_node; g++) {
        if (gpus >> g & 1) {
            k->lives[(size_t)node * k->gpus_per_node + g] = value;
        }
    }
}

void check_rank_begins(struct check *k, uint32_t node, uint32_t job, uint32_t epoch, uint64_t gpus)
{
    MYR_ASSERT(node < k->nodes && epoch > 0);
    struct book_job *b = book(k, job);
    set_lives(k, node, gpus, job + 1);
    k->node_live[node]++;
    /* Of strict jobs no two epochs live at a time, for whatever reason. */
    if (b->live > 0 && b->live_epoch != epoch) {
        if (b->strict) {
            check_violated(k, RULE_TWO_LIVES, "strict job %u lives in epochs %u and %u", job,
                           b->live_epoch, epoch);
        }
        /* The newest epoch is the one that is counted by itself. */
        if (epoch < b->live_epoch) {
            return;
        }
        b->live = 0;
    }
    b->live_epoch = epoch;
    b->live++;
    MYR_ASSERT(k->node_live[node] > 0);
}

void check_rank_up(struct check *k, uint32_t job, uint32_t epoch, uint64_t gpus)
{
    MYR_ASSERT(epoch > 0);
    struct book_job *b = book(k, job);
    /* Later epochs begin anew; ranks of earlier ones that come up late do not count. */
    if (epoch > b->up_epoch) {
        b->up_epoch = epoch;
        b->up_gpus = 0;
    }
    if (epoch == b->up_epoch) {
        b->up_gpus += (uint32_t)__builtin_popcountll(gpus);
    }
    MYR_ASSERT(b->up_epoch >= epoch);
}

void check_rank_ends(struct check *k, uint32_t node, uint32_t job, uint32_t epoch, uint64_t gpus)
{
    MYR_ASSERT(node < k->nodes && epoch > 0);
    struct book_job *b = book(k, job);
    set_lives(k, node, gpus, 0);
    MYR_ASSERT(k->node_live[node] > 0); /* who ends has begun */
    k->node_live[node]--;
    if (epoch == b->live_epoch && b->live > 0) {
        b->live--;
    }
}

void check_commit(struct check *k, uint32_t job, uint32_t epoch)
{
    MYR_ASSERT(epoch > 0);
    struct book_job *b = book(k, job);
    /* Equal is well: one incarnation commits again and again. */
    if (epoch < b->commit_epoch) {
        check_violated(k, RULE_STALE_COMMIT, "job %u commits in epoch %u after epoch %u", job,
                       epoch, b->commit_epoch);
    }
    b->commit_epoch = epoch;
}

void check_work_done(struct check *k, uint32_t job)
{
    book(k, job)->work_done = true;
}

void check_stuck(struct check *k, int64_t longest_ms)
{
    MYR_ASSERT(longest_ms > 0);
    for (uint32_t j = 0; j < k->jobs.count; j++) {
        struct book_job *b = &k->jobs.items[j];
        MYR_ASSERT(b->since_ms <= k->now_ms);
        /* Waiting, running and being over may last; everything else must end. */
        bool moves = b->state == MYR_CONTROL_QUEUED || b->state == MYR_CONTROL_RUNNING ||
                     b->state >= MYR_CONTROL_DONE;
        if (!moves && k->now_ms - b->since_ms > longest_ms) {
            check_violated(k, RULE_STUCK, "job %u has been %s for %lld s", j,
                           myr_control_job_state_name((enum myr_control_job_state)b->state),
                           (long long)(k->now_ms - b->since_ms) / 1000);
            b->since_ms = k->now_ms; /* told once */
        }
    }
}
