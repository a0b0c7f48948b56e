/*
 * nodes: a node from its first word to its repair, and what that means for its jobs.
 *
 * The state that others see follows from a few facts: heard or not, tested or not, wanted empty or
 * not. node_settle() draws the conclusion, tells the queue, and hands a node over for repair once
 * it is empty.
 */
#include "state.h"

/* The first that holds: whatever else is true, a node under repair is in repair. */
static enum myr_node_state state_of(const struct node *node)
{
    MYR_ASSERT(!node->lost || node->silent);
    MYR_ASSERT(!node->repair || node->drain & DRAIN_FAULT);
    bool empty = node->first_rank == MYR_NONE; /* a job that starts in place keeps its ranks */
    return node->repair                ? MYR_NODE_REPAIR
           : node->boot == 0           ? MYR_NODE_UNKNOWN
           : node->drain               ? (empty ? MYR_NODE_DRAINED : MYR_NODE_DRAINING)
           : node->silent || node->bad ? MYR_NODE_SUSPECT
           : !node->checked            ? (node->testing ? MYR_NODE_CHECKING : MYR_NODE_JOINING)
           : node->testing             ? MYR_NODE_SUSPECT
                                       : MYR_NODE_HEALTHY;
}

void node_settle(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    /* Gone: jobs there must move. Shut: those that run stay, and nothing new comes. */
    bool gone = node->boot == 0 || !node->checked || node->lost || node->bad ||
                node->drain & (DRAIN_FAULT | DRAIN_AWAY);
    placing_node(c, id, gone, node->drain || node->silent || node->testing || node->doubted);
    emit_node(c, id, state_of(node));
    /* Handed over only when it is empty. */
    if (node->state == MYR_NODE_DRAINED && node->drain & DRAIN_FAULT) {
        node->repair = 1;
        emit(c, &(struct myr_effect){
                    .kind = MYR_EFFECT_REPAIR, .node = id, .job = MYR_NONE, .boot = node->boot});
        emit_node(c, id, state_of(node));
    }
    /* Doubt alone ends no job: the test waits until none is there. */
    if (node->doubted && node->first_rank == MYR_NONE && !node->silent && !node->testing) {
        MYR_PROBE("a node in doubt is empty, and tested");
        node->doubted = 0;
        node_test(c, id);
    }
    MYR_ASSERT(node->state == state_of(node));
    MYR_ASSERT(!node->repair || (node->drain & DRAIN_FAULT && !node->bad));
    MYR_ASSERT(node->state != MYR_NODE_HEALTHY || (!node->gone && !node->silent));
}

void node_test(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    MYR_ASSERT(!node->silent);
    /* Sent again it is the same test: its number and its beginning stay. */
    if (!node->testing) {
        MYR_ASSERT(node->tests < UINT32_MAX);
        node->testing = 1;
        node->tests++;
        node->since_ms = c->head.steady_ms;
    }
    emit(c, &(struct myr_effect){.kind = MYR_EFFECT_TEST,
                                 .reason = node->checked, /* a diagnosis, or the first check */
                                 .node = id,
                                 .job = MYR_NONE,
                                 .epoch = node->tests,
                                 .boot = node->boot});
    timer_set(c, TIMER_NODE, id, c->head.steady_ms + c->policy.retry_ms);
    node_settle(c, id);
    MYR_ASSERT(node->testing && node->shut); /* nothing new comes while it is looked at */
    MYR_ASSERT(node->since_ms <= c->head.steady_ms);
}

/* Nodes that may be out for faults at a time, with what a person has approved. */
static uint32_t drains_allowed(const struct myr_control *c)
{
    /* Even the smallest cluster may lose one node without asking. */
    MYR_ASSERT(c->head.approved <= c->shape.nodes);
    uint64_t most = (uint64_t)c->shape.nodes * c->policy.drain_permille / 1000;
    return (most > 0 ? (uint32_t)most : 1) + c->head.approved;
}

/* Sets the flag and keeps the count that goes with it. */
static void set_bad(struct myr_control *c, struct node *node, bool bad)
{
    MYR_ASSERT(!bad || !(node->drain & DRAIN_FAULT)); /* one or the other holds it back */
    if (node->bad != bad) {
        MYR_ASSERT(bad || c->bad_nodes > 0);
        node->bad = bad;
        c->bad_nodes += bad ? 1U : -1U;
        MYR_ASSERT(c->bad_nodes <= c->shape.nodes);
    }
}

/* Whether any rank that may still run is of a job that must not run twice. */
static bool has_strict_ranks(const struct myr_control *c, const struct node *node)
{
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_on_node) {
        const struct rank *rank = slot_of(c, at);
        MYR_ASSERT(rank->state != RANK_FREE);
        if (rank_is_open(rank) && job_of(c, rank->job)->spec.restart == MYR_RESTART_STRICT) {
            return true;
        }
    }
    return false;
}

/*
 * Its power tells what nobody else does: that nothing runs on it. Strict jobs wait for that, and so
 * does whoever is to repair it; for epoch jobs alone a node that stays as it is keeps its power.
 */
static void fence(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    MYR_ASSERT(!node->lost || (node->silent && !node->testing));
    /* Only with ranks that may still run is there anything to make sure of. */
    node->fencing = node->lost && node->rank_count > 0 &&
                    (node->drain & DRAIN_FAULT || has_strict_ranks(c, node));
    if (node->fencing) {
        emit(c, &(struct myr_effect){
                    .kind = MYR_EFFECT_FENCE, .node = id, .job = MYR_NONE, .boot = node->boot});
        timer_set(c, TIMER_NODE, id, c->head.steady_ms + c->policy.fence_retry_ms);
    }
    MYR_ASSERT(!node->fencing || node->deadline_ms >= 0);
}

/* A person has to say whether more may be drained. */
static void tell_limit(struct myr_control *c, uint32_t id)
{
    MYR_ASSERT(node_of(c, id)->bad);
    c->head.noticed = 1;
    emit(c, &(struct myr_effect){.kind = MYR_EFFECT_NOTIFY,
                                 .reason = MYR_NOTICE_DRAIN_LIMIT,
                                 .node = id,
                                 .job = MYR_NONE});
}

/* It is not to be used: for repair if the limit allows, else a person has to say so. */
static void condemn(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    if (node->drain & DRAIN_FAULT) {
        MYR_ASSERT(c->head.drained > 0 && !node->bad);
        return;
    }
    /* Within the limit it goes to repair by itself. */
    if (c->head.drained < drains_allowed(c)) {
        node->drain |= DRAIN_FAULT;
        set_bad(c, node, false);
        c->head.drained++;
        MYR_ASSERT(c->head.drained <= c->shape.nodes);
    } else {
        set_bad(c, node, true);
        if (!c->head.noticed) {
            tell_limit(c, id);
        }
    }
    node_settle(c, id);
    MYR_ASSERT(node->gone && node->bad != ((node->drain & DRAIN_FAULT) != 0));
}

/* Nodes that waited for the limit to allow it. */
static void condemn_more(struct myr_control *c)
{
    MYR_ASSERT(c->bad_nodes <= c->shape.nodes);
    c->head.noticed = 0;
    /* In the order of numbers, as far as the limit goes now. */
    for (uint32_t id = 0; c->bad_nodes > 0 && id < c->shape.nodes; id++) {
        if (c->head.drained >= drains_allowed(c)) {
            return;
        }
        if (c->nodes[id].bad) {
            MYR_PROBE("a node that waited for the limit is given up");
            condemn(c, id);
            MYR_ASSERT(!c->nodes[id].bad); /* the limit has just allowed it */
            if (!c->nodes[id].fencing) {
                fence(c, id);
            }
        }
    }
}

/* Its jobs go on elsewhere; the queue replaces it in each gang. */
static void fail_jobs(struct myr_control *c, uint32_t id)
{
    for (uint32_t at = node_of(c, id)->first_rank, next; at != MYR_NONE; at = next) {
        const struct rank *rank = slot_of(c, at);
        next = rank->next_on_node;
        MYR_ASSERT(rank->node == id && rank->state != RANK_FREE);
        if (!rank->old && rank_is_open(rank)) {
            job_failed(c, rank->job, false);
        }
    }
}

/* Everything on it is known to be gone. */
static void close_ranks(struct myr_control *c, uint32_t id)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t at = node_of(c, id)->first_rank; at != MYR_NONE;
             at = slot_of(c, at)->next_on_node) {
            if (rank_is_open(slot_of(c, at))) {
                job_rank_gone(c, at); /* which may change the list */
                more = true;
                break;
            }
        }
    }
    MYR_ASSERT(node_of(c, id)->rank_count == 0);
}

/* Jobs that waited for a test of the node go on, or are told by the queue where to. */
static void clear_suspects(struct myr_control *c, uint32_t id)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t at = node_of(c, id)->first_rank; at != MYR_NONE;
             at = slot_of(c, at)->next_on_node) {
            const struct rank *rank = slot_of(c, at);
            MYR_ASSERT(rank->node == id && rank->state != RANK_FREE);
            /* A job on a node that is given up hears of it from the queue, with its new place. */
            if (rank->suspect && (!node_of(c, id)->gone || job_of(c, rank->job)->taken)) {
                MYR_PROBE("who waited for a test goes on");
                job_cleared(c, at);
                more = true;
                break;
            }
        }
    }
}

/* Keeps the count, and since when. */
static void set_silent(struct myr_control *c, struct node *node, bool silent)
{
    MYR_ASSERT(!silent || node->boot > 0); /* who was never heard cannot fall silent */
    if (node->silent != silent) {
        MYR_ASSERT(silent || c->head.silent_nodes > 0);
        MYR_ASSERT(node->since_ms <= c->head.steady_ms);
        node->silent = silent;
        c->head.silent_nodes += silent ? 1U : -1U;
        MYR_ASSERT(c->head.silent_nodes <= c->shape.nodes);
        node->since_ms = c->head.steady_ms;
    }
}

void node_joined(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_JOIN);
    uint32_t id = event->node;
    struct node *node = node_of(c, id);
    if (event->boot <= node->boot) {
        return; /* said twice, or late */
    }
    /* Another boot: whatever ran on it has died with the one before. */
    fail_jobs(c, id);
    close_ranks(c, id);
    set_silent(c, node, false);
    node->boot = event->boot;
    /* A fresh start: nothing of what was known about it holds. */
    node->lost = node->checked = node->testing = node->fencing = node->repair = 0;
    set_bad(c, node, false);
    node->doubted = 0;
    node->blamed = node->blamed_by = 0;
    if (node->drain & DRAIN_FAULT) {
        node->drain &= (uint8_t)~DRAIN_FAULT;
        MYR_ASSERT(c->head.drained > 0);
        c->head.drained--;
    }
    if (c->head.planted == MYR_PLANTED_FORGOTTEN_DRAIN) {
        node->drain = 0;
    }
    /* It is seen to join before its test begins, so that both states are told. */
    emit_node(c, id, node->drain ? MYR_NODE_DRAINED : MYR_NODE_JOINING);
    node_test(c, id);
    clear_suspects(c, id);
    condemn_more(c);
    /* Nothing of the boot before is left, and it is not used before its test. */
    MYR_ASSERT(node->rank_count == 0 && !node->silent && !node->lost);
    MYR_ASSERT(node->testing && !node->checked && node->gone);
}

/* Whether a job waits for a test of it. */
static bool is_awaited(const struct myr_control *c, const struct node *node)
{
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_on_node) {
        MYR_ASSERT(slot_of(c, at)->state != RANK_FREE);
        if (slot_of(c, at)->suspect) {
            return true;
        }
    }
    return false;
}

void node_silent(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    if (node->silent || node->boot == 0) {
        return;
    }
    int64_t at_ms = c->head.steady_ms + c->policy.suspect_ms;
    MYR_ASSERT(!node->lost && !node->fencing); /* only of who is silent */
    set_silent(c, node, true);
    /* A test is asked for again when it is back: for a job that waits, or as it is empty. */
    node->doubted = node->doubted || (node->testing && node->checked && !is_awaited(c, node));
    node->testing = 0;
    /* After a takeover no node is lost before it had time to call. */
    timer_set(c, TIMER_NODE, id, at_ms > c->head.reconnect_ms ? at_ms : c->head.reconnect_ms);
    node_settle(c, id);
    MYR_ASSERT(node->shut && !node->testing && node->deadline_ms >= c->head.steady_ms);
}

void node_back(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    if (!node->silent) {
        return;
    }
    bool lost = node->lost;
    MYR_ASSERT(node->boot > 0 && !node->testing); /* nobody is tested who is not heard */
    set_silent(c, node, false);
    /* It lives: there is nothing to switch off any more. */
    node->lost = node->fencing = 0;
    timer_set(c, TIMER_NODE, id, -1);
    job_node_back(c, id);
    if (!(node->drain & DRAIN_FAULT) &&
        (lost || is_awaited(c, node) || !node->checked || node->bad)) {
        MYR_PROBE("a node is back, and tested");
        set_bad(c, node, false);
        node_test(c, id); /* nobody knows what happened meanwhile */
    }
    node_settle(c, id);
    MYR_ASSERT(!node->silent && !node->lost && !node->fencing);
}

void node_tested(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_TESTED);
    struct node *node = node_of(c, event->node);
    if (!node->testing || event->epoch != node->tests) {
        return; /* of an older test */
    }
    MYR_ASSERT(!node->silent && !node->lost); /* who is not heard is not under test */
    node->testing = 0;
    timer_set(c, TIMER_NODE, event->node, -1);
    if (event->code == 0) {
        node->checked = 1;
        node_settle(c, event->node);
    } else {
        /* Before its jobs fail, so that the queue already looks for another node. */
        condemn(c, event->node);
        fail_jobs(c, event->node);
    }
    clear_suspects(c, event->node);
    MYR_ASSERT(!node->testing || node->tests > event->epoch); /* this one has its result */
}

/* Jobs that were being stopped when it was lost: those that need not know its ranks gone go on. */
static void settle_jobs(struct myr_control *c, uint32_t id)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t at = node_of(c, id)->first_rank; at != MYR_NONE && !more;
             at = slot_of(c, at)->next_on_node) {
            const struct rank *rank = slot_of(c, at);
            const struct job *job = job_of(c, rank->job);
            MYR_ASSERT(rank->node == id && rank->state != RANK_FREE);
            if (!rank->old && job->taken) { /* the others hear of it from the queue */
                job_settle(c, rank->job); /* which may leave this one behind, and change the list */
                more = slot_of(c, at)->old || slot_of(c, at)->state == RANK_FREE;
            }
        }
    }
}

/* Silent for too long. */
static void lose(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    MYR_ASSERT(node->silent && !node->testing);
    MYR_ASSERT(node->since_ms <= c->head.steady_ms && node->boot > 0);
    node->lost = 1;
    node->doubted = 0; /* it is tested when it is back, or joins again */
    condemn(c, id);    /* beyond the limit it is still lost to its jobs */
    fail_jobs(c, id);
    /* Runs that never came to be need not wait for ranks on a node that is lost. */
    for (uint32_t at = node->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_on_node) {
        job_unrun(c, slot_of(c, at)->job);
    }
    if (c->head.planted == MYR_PLANTED_DOUBLE_RUN) {
        close_ranks(c, id); /* silent is dead, is it not? */
    } else {
        settle_jobs(c, id);
        fence(c, id);
    }
    clear_suspects(c, id);
    MYR_ASSERT(node->lost && (!node->fencing || node->rank_count > 0));
}

void node_fenced(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_FENCED);
    struct node *node = node_of(c, event->node);
    /* Of another boot it says nothing about this one; a failure is tried again. */
    if (event->boot != node->boot || event->code != 0) {
        MYR_PROBE("a fence failed, or was of another boot");
        return; /* tried again at the deadline, as long as it matters */
    }
    MYR_ASSERT(!node->fencing || node->lost);
    if (node->fencing) { /* else it is late, and the deadline is of a silence since */
        MYR_PROBE("a fence has worked");
        node->fencing = 0;
        timer_set(c, TIMER_NODE, event->node, -1);
    }
    /* Its power is off: what it ran is over, whatever it said last. */
    fail_jobs(c, event->node);
    close_ranks(c, event->node);
    node_settle(c, event->node);
    MYR_ASSERT(node->rank_count == 0 && !node->fencing);
}

void node_deadline(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    MYR_ASSERT(node->deadline_ms == -1); /* what has come is no longer awaited */
    MYR_ASSERT(!node->testing || node->since_ms <= c->head.steady_ms);
    /* An agent at work answers in its own time; only the order is repeated. */
    if (node->testing && c->head.steady_ms < node->since_ms + c->policy.test_ms) {
        node_test(c, id);       /* the order may be lost; an agent at it knows it by its number */
    } else if (node->testing) { /* no answer is one */
        MYR_PROBE("a test has no answer for too long");
        node->testing = 0;
        condemn(c, id);
        fail_jobs(c, id);
        clear_suspects(c, id);
    } else if (node->silent && (!node->lost || node->fencing)) {
        lose(c, id);
    }
}

/* A person says that it is well: whatever was held against it is forgotten, and a test tells. */
static void forgive(struct myr_control *c, uint32_t id)
{
    struct node *node = node_of(c, id);
    if (node->drain & DRAIN_FAULT) {
        node->drain &= (uint8_t)~DRAIN_FAULT;
        MYR_ASSERT(c->head.drained > 0);
        c->head.drained--;
    }
    set_bad(c, node, false);
    node->repair = node->checked = 0;
    node->blamed = node->blamed_by = 0;
    if (!node->silent) {
        node_test(c, id);
    }
    MYR_ASSERT(!node->bad && !node->repair && !(node->drain & DRAIN_FAULT));
    condemn_more(c);
    /* Whoever still waits is kept waiting by the limit. */
    MYR_ASSERT(c->bad_nodes == 0 || c->head.drained >= drains_allowed(c));
}

void node_drain(struct myr_control *c, uint32_t id, bool drain)
{
    struct node *node = node_of(c, id);
    node->drain = (uint8_t)(drain ? node->drain | DRAIN_PERSON : node->drain & ~DRAIN_PERSON);
    /* Undrained by hand: whatever the core held against it is overruled. */
    if (!drain && (node->repair || node->bad || node->drain & DRAIN_FAULT)) {
        MYR_PROBE("a person overrules what was held against a node");
        forgive(c, id);
    }
    node_settle(c, id);
    MYR_ASSERT(((node->drain & DRAIN_PERSON) != 0) == drain && (!drain || node->shut));
}

void node_hold(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_HOLD);
    struct node *node = node_of(c, event->node);
    /* Each side has its own bits and changes no others. */
    uint8_t others = node->drain & (DRAIN_PERSON | DRAIN_FAULT);
    uint8_t held = event->code == MYR_HOLD_NONE  ? 0
                   : event->code == MYR_HOLD_NEW ? DRAIN_HELD
                                                 : DRAIN_HELD | DRAIN_AWAY;
    MYR_ASSERT(event->code < MYR_HOLDS);
    node->drain = (uint8_t)(others | held);
    node_settle(c, event->node);
    MYR_ASSERT((node->drain & (DRAIN_PERSON | DRAIN_FAULT)) == others);
}

void node_approve(struct myr_control *c, int64_t count)
{
    uint32_t most = c->shape.nodes;
    /* It replaces what was approved before, and is not added to it. */
    c->head.approved = count < 0 ? 0 : count > most ? most : (uint32_t)count;
    condemn_more(c);
    MYR_ASSERT(c->head.approved <= c->shape.nodes);
    MYR_ASSERT(c->bad_nodes == 0 || c->head.drained >= drains_allowed(c));
}

void node_blame(struct myr_control *c, uint32_t id, uint32_t job, bool certain)
{
    struct node *node = node_of(c, id);
    MYR_ASSERT(job < c->head.job_count);
    MYR_ASSERT(node->boot > 0); /* a rank was there */
    /*
     * A program that has never made a step may be at fault itself, and one that fails again and
     * again is no new witness: a user's mistake must not cost the cluster its nodes.
     */
    if (certain || (job_of(c, job)->step > 0 && node->blamed_by != job + 1)) {
        node->blamed++;
        node->blamed_by = job + 1;
    }
    if (node->blamed > c->policy.restarts_in_place) {
        MYR_PROBE("a node is blamed too often");
        condemn(c, id); /* sound by every test, and yet */
        fail_jobs(c, id);
        return;
    }
    /* A node that could not start its part is replaced if it can be, and not waited for. */
    for (uint32_t at = node->first_rank; at != MYR_NONE && !certain;
         at = slot_of(c, at)->next_on_node) {
        if (slot_of(c, at)->job == job) {
            job_suspect(c, at);
        }
    }
    if (!node->silent) {
        node_test(c, id);
    }
}

/* What a symptom means for the node; diagnosis in depth adds rows, not code. */
void node_symptom(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_SYMPTOM);
    /* A symptom without a row is only noted. */
    static const struct {
        bool doubt, condemn;
    } actions[MYR_SYMPTOMS] = {
        [MYR_SYMPTOM_DOUBT] = {.doubt = true},
        [MYR_SYMPTOM_FAILING] = {.condemn = true},
        [MYR_SYMPTOM_FAILED] = {.condemn = true},
    };
    struct node *node = node_of(c, event->node);
    MYR_ASSERT(event->code < MYR_SYMPTOMS);
    if (actions[event->code].doubt) {
        node->doubted = 1;
        node_settle(c, event->node);
    }
    if (actions[event->code].condemn) {
        condemn(c, event->node);
        if (event->code == MYR_SYMPTOM_FAILED) {
            MYR_PROBE("a node says that it has failed");
            fail_jobs(c, event->node);
        }
    }
}

void node_takeover(struct myr_control *c)
{
    /* Nodes may have been heard by the controller before; this one has to hear them itself. */
    c->head.reconnect_ms = c->head.steady_ms + c->policy.reconnect_ms;
    MYR_ASSERT(c->head.reconnect_ms >= c->head.steady_ms);
    bool told = false;
    for (uint32_t id = 0; id < c->shape.nodes; id++) {
        struct node *node = &c->nodes[id];
        MYR_ASSERT(node->since_ms <= c->head.steady_ms);
        if (node->silent && !node->lost) {
            timer_set(c, TIMER_NODE, id, c->head.reconnect_ms);
        } else if (node->deadline_ms >= 0) {
            timer_set(c, TIMER_NODE, id, c->head.steady_ms); /* orders are given again */
        }
        if (node->bad && !told) { /* nor may anybody know that it waits for a person */
            MYR_PROBE("a controller begins while nodes wait for a person");
            told = true;
            tell_limit(c, id);
        }
        if (node->repair) { /* the order may be lost with the controller that gave it */
            MYR_PROBE("a controller begins while a node is in repair");
            emit(c,
                 &(struct myr_effect){
                     .kind = MYR_EFFECT_REPAIR, .node = id, .job = MYR_NONE, .boot = node->boot});
        }
    }
}
