/*
 * orders: what the core wants done, said to agents, and questions for what their ranks have
 * written. Nothing is kept of an order: an agent that is away, or does not answer, is told again
 * when the core says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/fence.h"
#include "link.h"

enum {
    PORT_FIRST = 20000, /* of the ranks' rendezvous */
    PORT_COUNT = 10000,
};

/* Every node of an incarnation must come to the same: job and epoch say which. */
static void put_master(const struct server *server, const struct myr_effect *effect, char *ret,
                       size_t size)
{
    struct myr_control_rank first = {.node = effect->node};
    (void)myr_control_job_ranks(server->control, effect->job, &first, 1);
    MYR_ASSERT(first.node < server->rows.node_count);
    MYR_ASSERT(size > 0 && effect->epoch > 0);
    const char *address = server->rows.nodes[first.node].address;
    /* Another port for each start: what is left of the last may still hold its own. */
    uint64_t draw = myr_hash_u64((uint64_t)effect->job << 32 | effect->epoch);
    snprintf(ret, size, "%s %llu", address[0] ? address : "127.0.0.1",
             (unsigned long long)(PORT_FIRST + draw % PORT_COUNT));
}

/* The whole job file goes along: an agent asks nothing back before it starts. */
static void send_start(struct session *session, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind == MYR_EFFECT_START && effect->node == session->node);
    struct server *server = session->server;
    const struct job_row *row = rows_job(server, effect->job);
    struct myr_control_job job = myr_control_job(server->control, effect->job);
    char master[96];
    if (!row) {
        log_say("error", "job %u has no file", effect->job);
        return;
    }
    MYR_CLEANUP(myr_free_at)
    struct myr_control_rank *ranks = myr_xcalloc(job.nodes, sizeof(*ranks));
    uint32_t count = myr_control_job_ranks(server->control, effect->job, ranks, job.nodes);
    MYR_ASSERT(count == job.nodes);
    /* Its place among the job's nodes is the node's rank. */
    uint32_t place = 0;
    while (place < count && ranks[place].node != effect->node) {
        place++;
    }
    put_master(server, effect, master, sizeof(master));
    session_say(session, MYR_WIRE_START, effect->epoch,
                &(struct myr_wire_start){.job = effect->job,
                                         .first_rank = effect->first_rank,
                                         .world = effect->world,
                                         .gpus = effect->gpus,
                                         .spec = myr_str_from(row->file),
                                         .master = myr_str_from(master),
                                         .user = myr_str_from(row->unix_user),
                                         .lease_s = effect->grace_s,
                                         .node_rank = place,
                                         .node_count = count,
                                         .array_index = row->array_index});
}

/* Nothing is remembered of what was sent: reports and the core's own deadlines tell. */
static void order(struct server *server, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->node < server->rows.node_count);
    struct session *session = server->rows.nodes[effect->node].session;
    MYR_ASSERT(!session || session->node == effect->node);
    MYR_ASSERT(effect->kind <= MYR_EFFECT_TEST && effect->boot > 0);
    if (!session || session->over) {
        return; /* the core gives orders again */
    }
    if (effect->kind == MYR_EFFECT_START) {
        send_start(session, effect);
    } else if (effect->kind == MYR_EFFECT_STOP) {
        session_say(session, MYR_WIRE_STOP, effect->epoch,
                    &(struct myr_wire_stop){.job = effect->job, .grace_s = effect->grace_s});
    } else {
        session_say(session, MYR_WIRE_TEST, effect->boot,
                    &(struct myr_wire_test){.id = effect->epoch, .name = MYR_STR("quick")});
    }
}

/* The rest is for people, and for the rows. */
void orders_effect(struct server *server, const struct myr_effect *effect)
{
    MYR_ASSERT(effect->kind < MYR_EFFECT_KINDS);
    if (effect->kind == MYR_EFFECT_FENCE) {
        fence_node(server, effect);
    } else if (effect->kind < MYR_EFFECT_FENCE) {
        _Static_assert(MYR_EFFECT_TEST + 1 == MYR_EFFECT_FENCE, "start, stop and test come first");
        order(server, effect);
    }
}

/* Where that rank is, or was; NULL: nobody remembers. */
static const struct myr_control_rank *find_rank(const struct myr_control_rank *ranks,
                                                uint32_t count, const struct question *question)
{
    MYR_ASSERT(ranks || count == 0);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t gpus = (uint32_t)__builtin_popcountll(ranks[i].gpus);
        if (question->rank >= ranks[i].first && question->rank < ranks[i].first + gpus &&
            (question->epoch == 0 || ranks[i].epoch == question->epoch)) {
            return &ranks[i];
        }
    }
    return NULL;
}

/*
 * The agent that ran it has it; of older incarnations as far as the row remembers where they were.
 */
bool orders_fetch(struct server *server, const struct question *question, void *whom)
{
    const struct job_row *row = rows_job(server, question->job);
    MYR_ASSERT(row); /* who asks has looked for it */
    const struct myr_control_rank *at = find_rank(row->where, row->where_count, question);
    /* The last incarnation is asked of unless another one is named. */
    at = at || question->epoch == 0 ? at : find_rank(row->past, row->past_count, question);
    struct session *session = at ? server->rows.nodes[at->node].session : NULL;
    if (!session || session->over) {
        return false;
    }
    MYR_ASSERT(session->node == at->node);
    myr_vec_push(&session->waits, (struct wait){whom, question->job, question->rank});
    session_say(session, MYR_WIRE_FETCH, at->epoch,
                &(struct myr_wire_fetch){.job = question->job,
                                         .rank = question->rank,
                                         .offset = question->offset,
                                         .bytes = 48 << 10});
    return true;
}

/* Nodes here are real. */
int orders_inject(struct server *server, uint32_t node, const char *fault, struct myr_err *err)
{
    (void)server;
    (void)node;
    (void)fault;
    return myr_err_set(err, MYR_EDENIED,
                       "faults are put only into a simulated world (world: twin)");
}
