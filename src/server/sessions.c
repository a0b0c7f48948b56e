/*
 * sessions: what one agent says, and what it means to the core. A session begins as nobody's; its
 * hello, held against its certificate and the rows, makes it a node's, a relay's or a stranger's.
 * Messages become events for the desk, and reports are acknowledged when the desk has committed
 * them. It is the same for an agent behind a relay, whose frames are handed to it one by one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

enum {
    FLOOD = 2000, /* messages a second */
};

/* Whoever has a certificate speaks for one node; the last one that came is the one. */
static bool bind_node(struct session *session, struct myr_str said)
{
    MYR_ASSERT(session->greeted && !session->over);
    struct server *server = session->server;
    /* The certificate's name is who it is; what it says itself must not differ. */
    const char *name = session_peer(session);
    const char *serial = session_serial(session);
    uint32_t id = rows_node(server, name);
    MYR_ASSERT(session->node == MYR_NONE && !session->carrier);
    if (said.len > 0 && !myr_str_eq(said, myr_str_from(name))) {
        session_refuse(session, MYR_WIRE_REFUSED_NAME, "'%.*s' has the certificate of '%s'",
                       (int)(said.len < 64 ? said.len : 64), said.data, name);
        return false;
    }
    if (id == MYR_NONE) {
        session_refuse(session, MYR_WIRE_REFUSED_NAME, "'%s' is no node of this cluster", name);
        return false;
    }
    struct node_row *node = &server->rows.nodes[id];
    if (node->revoked || (strcmp(node->serial, serial) != 0 &&
                          (!serial[0] || strcmp(node->serial_before, serial) != 0))) {
        session_refuse(session, MYR_WIRE_REFUSED_REVOKED,
                       "this certificate of '%s' was revoked or replaced", name);
        return false;
    }
    /* The old connection may be dead without anybody having noticed: the new one is the node. */
    if (node->session && node->session != session) {
        struct session *old = node->session;
        MYR_ASSERT(old->node == id); /* the two point to each other */
        old->node = MYR_NONE;
        session_close(old, true);
    }
    MYR_ASSERT(!node->session || node->session == session || node->session->over);
    session->node = id;
    node->session = session;
    snprintf(node->address, sizeof(node->address), "%s", session_address(session));
    /* Other nodes are told the host; the port is this connection's alone. */
    char *port = strrchr(node->address, ':');
    if (port) {
        *port = '\0';
    }
    return true;
}

/* Whoever the server has once made a relay, with the certificate that it was given then. */
static bool is_relay(const struct session *session)
{
    MYR_ASSERT(!session->carrier && session->node == MYR_NONE); /* nobody's so far */
    uint32_t id = rows_relay(session->server, session_peer(session), false);
    if (id == MYR_NONE || session->via) {
        return false;
    }
    const struct relay_row *relay = &session->server->rows.relays.items[id];
    const char *serial = session_serial(session);
    return !relay->revoked && serial[0] &&
           (strcmp(relay->serial, serial) == 0 || strcmp(relay->serial_before, serial) == 0);
}

/* The newest connection of a relay is the one that counts. */
void session_carry(struct session *session, uint32_t row)
{
    /* It speaks for others, and is no node itself. */
    MYR_ASSERT(!session->carrier && session->node == MYR_NONE && !session->via);
    MYR_ASSERT(row < session->server->rows.relays.count);
    session->server->rows.relays.items[row].session = session;
    session->carrier = myr_xcalloc(1, sizeof(*session->carrier));
    session->carrier->row = row;
    session->carrier->heard_ms = steady_ms();
    myr_wire_receiver_init(&session->carrier->own);
}

/* Its old connection ends, as that of a node does; agents behind it are attached anew. */
static void welcome_relay(struct session *session)
{
    struct server *server = session->server;
    uint32_t id = rows_relay(server, session_peer(session), false);
    MYR_ASSERT(id != MYR_NONE); /* is_relay() has found it */
    struct session *old = server->rows.relays.items[id].session;
    MYR_ASSERT(!old || old->carrier);
    if (old && !old->over) {
        session_close(old, true);
    }
    session_carry(session, id);
    MYR_ASSERT(server->rows.relays.items[id].session == session);
    session_say(session, MYR_WIRE_WELCOME, 0,
                &(struct myr_wire_welcome){.node = MYR_WIRE_NO_NODE,
                                           .beat_ms = server->config.beat_ms,
                                           .pretend = server->config.pretend});
    log_say("info", "relay %s is connected from %s", session_peer(session),
            session_address(session));
}

/* Decides what the connection is: a stranger's, a relay's or a node's. */
static void on_hello(struct session *session, const struct myr_wire_hello *hello)
{
    struct server *server = session->server;
    if (session->greeted) {
        session_refuse(session, MYR_WIRE_REFUSED_ORDER, "hello twice");
        return;
    }
    /* The oldest version that it understands is newer than ours. */
    if (hello->version_min > MYR_WIRE_VERSION) {
        session_refuse(session, MYR_WIRE_REFUSED_VERSION,
                       "the agent speaks version %u, this server %u", hello->version_min,
                       MYR_WIRE_VERSION);
        return;
    }
    MYR_ASSERT(session->node == MYR_NONE && !session->carrier); /* nobody's before its hello */
    if (desk_is_full(server)) {
        session_close(session, true); /* the core would not hear of it: it comes again */
        return;
    }
    session->greeted = true;
    session_say(session, MYR_WIRE_HELLO, 0,
                &(struct myr_wire_hello){.name = myr_str_from(server->config.cluster),
                                         .version_min = MYR_WIRE_VERSION_MIN});
    if (!session_peer(session)[0]) {
        return; /* to enrol, and nothing else */
    }
    if (is_relay(session)) {
        welcome_relay(session);
        return;
    }
    if (!bind_node(session, hello->name)) {
        return;
    }
    struct node_row *node = &server->rows.nodes[session->node];
    MYR_ASSERT(node->session == session); /* both ways, or not at all */
    /*
     * Another boot, or another state folder: nothing of before runs there, and the core is told so.
     */
    bool fresh = node->boot == 0 || node->boot_hash != hello->boot;
    if (fresh) {
        node->boot_hash = hello->boot;
        /* A number of our own for each boot: the core compares them, and hashes have no order. */
        node->boot++;
        rows_put_node(server, session->node);
    }
    node->heard_ms = steady_ms();
    node->told_silent = false;
    session_say(session, MYR_WIRE_WELCOME, node->boot,
                &(struct myr_wire_welcome){.node = session->node,
                                           .boot = node->boot,
                                           .beat_ms = server->config.beat_ms,
                                           .pretend = server->config.pretend});
    desk_post(server, &(struct myr_event){.kind = fresh ? MYR_EVENT_JOIN : MYR_EVENT_BACK,
                                          .node = session->node,
                                          .boot = node->boot});
    log_say("info", "%s %s from %s", node->name, fresh ? "joined" : "is back", node->address);
}

/* A node with fewer GPUs than the configuration says is reported as failed. */
static void on_inventory(struct session *session, const struct myr_wire_inventory *inventory)
{
    MYR_ASSERT(session->node < session->server->rows.node_count);
    struct node_row *node = &session->server->rows.nodes[session->node];
    MYR_ASSERT(node->session == session);
    snprintf(node->kind, sizeof(node->kind), "%.*s", (int)inventory->gpu_kind.len,
             inventory->gpu_kind.data);
    snprintf(node->board, sizeof(node->board), "%.*s", (int)inventory->serial.len,
             inventory->serial.data);
    node->gpus = inventory->gpus;
    node->cpus = inventory->cpus;
    node->memory_bytes = inventory->memory_bytes;
    rows_put_node(session->server, session->node);
    if (inventory->gpus < session->server->config.gpus_per_node) {
        char text[160];
        snprintf(text, sizeof(text), "%s has %u GPUs, %u are expected", node->name, inventory->gpus,
                 session->server->config.gpus_per_node);
        feed_notice(session->server, text);
        log_say("warning", "%s", text);
        snprintf(node->reason, sizeof(node->reason), "%s", text);
        desk_post(session->server, &(struct myr_event){.kind = MYR_EVENT_SYMPTOM,
                                                       .node = session->node,
                                                       .boot = node->boot,
                                                       .code = MYR_SYMPTOM_FAILED});
    }
}

/* A report: acknowledged when it is committed. */
static void report(struct session *session, const struct myr_wire_head *head,
                   struct myr_event event)
{
    struct server *server = session->server;
    MYR_ASSERT(session->node < server->rows.node_count);
    MYR_ASSERT(event.kind >= MYR_EVENT_STARTED && event.kind <= MYR_EVENT_TESTED);
    event.node = session->node;
    /*
     * The boot that it was welcomed with, whatever it says: the core drops what is of an older one.
     */
    event.boot = server->rows.nodes[session->node].boot;
    if (!desk_post(server, &event)) {
        /* An acknowledgement of a later one would be of this one too: it says all of them again. */
        session_close(session, true);
        return;
    }
    /* Once in the list for each commit: the highest number acknowledges all before it. */
    if (session->ack == session->acked) {
        myr_vec_push(&server->to_ack, session);
    }
    session->ack = head->sequence > session->ack ? head->sequence : session->ack;
    MYR_ASSERT(session->acked <= session->ack && server->to_ack.count > 0);
}

/* No node speaks for a job of others. */
static bool is_there(const struct session *session, const struct job_row *row)
{
    MYR_ASSERT(session->node != MYR_NONE);
    MYR_ASSERT(row->where || row->where_count == 0);
    for (uint32_t i = 0; i < row->where_count; i++) {
        if (row->where[i].node == session->node) {
            return true;
        }
    }
    return false;
}

/* A number that no job can have is none's. */
static uint32_t job_number(uint64_t job)
{
    return job < UINT32_MAX ? (uint32_t)job : MYR_NONE;
}

/* The line is for people; the core hears only whether it was well or not. */
static void on_exit_of(struct session *session, const struct myr_wire_head *head,
                       const struct myr_wire_exit *exit)
{
    MYR_ASSERT(head->type == MYR_WIRE_EXIT && session->node != MYR_NONE);
    struct server *server = session->server;
    struct job_row *row = rows_job(server, job_number(exit->job));
    bool bad = exit->code != 0 || exit->signal != 0;
    if (row && bad && is_there(session, row)) {
        snprintf(row->reason, sizeof(row->reason), "rank %u on %s: %s %u%s%.*s", exit->rank,
                 server->rows.nodes[session->node].name, exit->signal ? "signal" : "exit code",
                 exit->signal ? exit->signal : exit->code, exit->line.len ? ": " : "",
                 (int)(exit->line.len < 100 ? exit->line.len : 100), exit->line.data);
    }
    report(session, head,
           (struct myr_event){.kind = MYR_EVENT_EXIT,
                              .job = job_number(exit->job),
                              .epoch = head->epoch,
                              .code = bad});
}

static void on_output(struct session *session, uint32_t epoch, const struct myr_wire_output *output)
{
    /* Of no incarnation: the node has dropped what it had, or never had any. */
    bool gone = epoch == 0 && output->size == 0;
    MYR_ASSERT(session->waits.items || session->waits.count == 0);
    for (size_t i = 0; i < session->waits.count; i++) {
        struct wait wait = session->waits.items[i];
        if (wait.job != output->job || wait.rank != output->rank) {
            continue;
        }
        /* An agent answers in the order of its orders: who asked first is meant, and of those who
         * still wait the next one stays the next. */
        session->waits.count--;
        memmove(session->waits.items + i, session->waits.items + i + 1,
                (session->waits.count - i) * sizeof(*session->waits.items));
        http_output(wait.whom, &(struct output){.offset = output->offset,
                                                .size = output->size,
                                                .ended = output->ended != 0,
                                                .data = output->data,
                                                .problem = gone ? OUTPUT_GONE : NULL,
                                                .gone = gone});
        return;
    }
}

/* The number of a test travels in the place of the job's. */
static void on_result(struct session *session, const struct myr_wire_head *head,
                      const struct myr_wire_result *result)
{
    MYR_ASSERT(session->node < session->server->rows.node_count);
    enum myr_event_kind kind = head->type == MYR_WIRE_STARTED   ? MYR_EVENT_STARTED
                               : head->type == MYR_WIRE_STOPPED ? MYR_EVENT_STOPPED
                                                                : MYR_EVENT_TESTED;
    bool test = kind == MYR_EVENT_TESTED;
    if (result->code && result->text.len) {
        struct job_row *row = test ? NULL : rows_job(session->server, job_number(result->job));
        if (row && is_there(session, row)) {
            snprintf(row->reason, sizeof(row->reason), "%s: %.*s",
                     session->server->rows.nodes[session->node].name,
                     (int)(result->text.len < 120 ? result->text.len : 120), result->text.data);
        }
        log_say("warning", "%s: %s: %.*s", session->server->rows.nodes[session->node].name,
                myr_wire_type_name(head->type), (int)result->text.len, result->text.data);
    }
    report(session, head,
           (struct myr_event){.kind = (uint8_t)kind,
                              .job = test ? 0 : job_number(result->job),
                              .epoch = test ? (uint32_t)result->job : head->epoch,
                              /* It must not become 0, which is success, by being cut. */
                              .code = (uint8_t)(result->code < 255 ? result->code : 255)});
}

/* The core notes it; it is not acknowledged, since agents do not keep it. */
static void on_symptom(struct session *session, const struct myr_wire_symptom *symptom)
{
    MYR_ASSERT(session->node < session->server->rows.node_count);
    char text[240];
    snprintf(text, sizeof(text), "%s: %.*s %.*s", session->server->rows.nodes[session->node].name,
             (int)(symptom->id.len < 60 ? symptom->id.len : 60), symptom->id.data,
             (int)(symptom->text.len < 120 ? symptom->text.len : 120), symptom->text.data);
    feed_notice(session->server, text);
    log_say("warning", "symptom of %s", text);
    desk_post(session->server,
              &(struct myr_event){.kind = MYR_EVENT_SYMPTOM,
                                  .node = session->node,
                                  .boot = session->server->rows.nodes[session->node].boot,
                                  .code = MYR_SYMPTOM_NOTE});
}

/* Reports are acknowledged when they are kept; the rest is said once and may be lost. */
static void on_node_message(struct session *session, const struct myr_wire_message *message)
{
    const struct myr_wire_head *head = &message->head;
    const void *body = message->body;
    MYR_ASSERT(session->greeted && session->node < session->server->rows.node_count);
    MYR_ASSERT(message->known && !session->over);
    switch (head->type) {
    case MYR_WIRE_BEAT:
        return;
    case MYR_WIRE_INVENTORY:
        on_inventory(session, body);
        return;
    case MYR_WIRE_STARTED:
    case MYR_WIRE_STOPPED:
    case MYR_WIRE_TESTED:
        on_result(session, head, body);
        return;
    case MYR_WIRE_EXIT:
        on_exit_of(session, head, body);
        return;
    case MYR_WIRE_STEP: {
        const struct myr_wire_step *step = body;
        desk_post(session->server,
                  &(struct myr_event){.kind = MYR_EVENT_STEP,
                                      .node = session->node,
                                      .boot = session->server->rows.nodes[session->node].boot,
                                      .job = job_number(step->job),
                                      .epoch = head->epoch,
                                      .value = (int64_t)(step->step & INT64_MAX),
                                      .saved = (int64_t)(step->saved_step & INT64_MAX)});
        return;
    }
    case MYR_WIRE_SYMPTOM:
        on_symptom(session, body);
        return;
    case MYR_WIRE_OUTPUT:
        on_output(session, head->epoch, body);
        return;
    case MYR_WIRE_ENROL:
        session_enrol(session, body);
        return;
    default:
        session_refuse(session, MYR_WIRE_REFUSED_ORDER, "'%s' is no message of an agent",
                       myr_wire_type_name(head->type));
    }
}

/* Any message is a beat. */
void session_heard(struct session *session)
{
    MYR_ASSERT(session->node < session->server->rows.node_count);
    struct node_row *node = &session->server->rows.nodes[session->node];
    /* Who came later has taken the node from who came before. */
    MYR_ASSERT(node->session == session);
    node->heard_ms = steady_ms();
    if (node->told_silent) {
        node->told_silent = !desk_post(
            session->server,
            &(struct myr_event){.kind = MYR_EVENT_BACK, .node = session->node, .boot = node->boot});
    }
}

/* The order in which things may be said: hello, then by what it is. */
static void on_message(struct session *session, const struct myr_wire_message *message)
{
    MYR_ASSERT(!session->carrier && !session->over);
    if (message->head.type == MYR_WIRE_HELLO) {
        on_hello(session, (const void *)message->body);
    } else if (!session->greeted) {
        session_refuse(session, MYR_WIRE_REFUSED_ORDER, "'%s' before hello",
                       myr_wire_type_name(message->head.type));
    } else if (session->node != MYR_NONE) {
        session_heard(session);
        if (message->known) {
            on_node_message(session, message);
        } /* else of a newer agent, and of no concern here */
    } else if (message->head.type == MYR_WIRE_ENROL) {
        session_enrol(session, (const void *)message->body);
    } else {
        session_refuse(session, MYR_WIRE_REFUSED_ORDER, "'%s' without a certificate",
                       myr_wire_type_name(message->head.type));
    }
}

/* In whole seconds, each with its own count. */
bool session_floods(struct session *session, uint32_t limit)
{
    int64_t now_ms = steady_ms();
    MYR_ASSERT(limit > 0);
    if (now_ms - session->second_ms >= 1000) {
        session->second_ms = now_ms;
        session->in_second = 0;
    }
    return ++session->in_second > limit;
}

void session_drop(struct session *session, const char *why)
{
    MYR_ASSERT(why);
    session->server->messages_refused++;
    log_say("warning", "agent %s dropped: %s", session_address(session), why);
    session_close(session, true);
    MYR_ASSERT(session->over);
}

/* Bytes of an agent's own stream, or the frames that a relay has handed on. */
void session_take(struct session *session, struct myr_str bytes)
{
    struct server *server = session->server;
    struct myr_err err = {};
    MYR_ASSERT(!session->carrier); /* a relay's bytes are for relay_take() */
    MYR_ASSERT(session->server && session->receiver.layouts);
    myr_wire_feed(&session->receiver, bytes);
    /* A hello may make it a relay's: then the bytes behind it are for relay_take(). */
    while (!session->over && !session->carrier) {
        struct myr_wire_message message;
        int rc = myr_wire_next(&session->receiver, &message, &err);
        if (rc == 0) {
            break;
        }
        if (rc < 0 || session_floods(session, FLOOD)) {
            session_drop(session, rc < 0 ? err.message : "too many messages");
            break;
        }
        server->messages++;
        on_message(session, &message);
    }
}

/*
 * A request that gives up is over before its agent answers. The place stays, empty: what the agent
 * says of it later is nobody else's.
 */
void sessions_forget(struct server *server, const void *whom)
{
    MYR_ASSERT(whom); /* an empty place is nobody's */
    for (struct session *session = server->sessions; session; session = session->next) {
        for (size_t i = 0; i < session->waits.count; i++) {
            struct wait *wait = &session->waits.items[i];
            wait->whom = wait->whom == whom ? NULL : wait->whom;
        }
    }
}

/* Frees it. The node is not told silent: it may come again within its beats. */
void session_gone(struct session *session)
{
    struct server *server = session->server;
    if (session->node != MYR_NONE) {
        /* Who has lost his node to another does not have its number any more. */
        MYR_ASSERT(server->rows.nodes[session->node].session == session);
        server->rows.nodes[session->node].session = NULL;
    }
    for (size_t i = 0; i < session->waits.count; i++) {
        http_output(session->waits.items[i].whom,
                    &(struct output){.problem = "the node's agent went away"});
    }
    for (size_t i = 0; i < server->to_ack.count; i++) {
        if (server->to_ack.items[i] == session) {
            /* The place stays, empty: sessions_committed() passes over it. */
            server->to_ack.items[i] = NULL;
        }
    }
    MYR_ASSERT((session->before ? session->before->next : server->sessions) == session);
    *(session->before ? &session->before->next : &server->sessions) = session->next;
    if (session->next) {
        session->next->before = session->before;
    }
    MYR_ASSERT(server->session_count > 0 && !session->carrier); /* relay_gone() was before */
    server->session_count--;
    MYR_ASSERT((server->session_count == 0) == !server->sessions);
    myr_wire_receiver_done(&session->receiver);
    myr_vec_done(&session->waits);
    free(session);
}

/* In front of the list; the caller says how it is connected. */
struct session *session_new(struct server *server)
{
    struct session *session = myr_xcalloc(1, sizeof(*session));
    session->server = server;
    session->node = MYR_NONE;
    session->since_ms = session->second_ms = steady_ms();
    myr_wire_sender_init(&session->sender);
    myr_wire_receiver_init(&session->receiver);
    session->next = server->sessions;
    if (session->next) {
        MYR_ASSERT(!session->next->before);
        session->next->before = session;
    }
    server->sessions = session;
    server->session_count++;
    MYR_ASSERT(!session->before && server->session_count > 0);
    return session;
}

/* One acknowledgement each, of the highest number that was taken before this commit. */
void sessions_committed(struct server *server)
{
    for (size_t i = 0; i < server->to_ack.count; i++) {
        struct session *session = server->to_ack.items[i];
        MYR_ASSERT(!session || session->server == server);
        if (session && !session->over) {
            MYR_ASSERT(session->acked <= session->ack); /* what was taken only grows */
            session->acked = session->ack;
            session_say(session, MYR_WIRE_ACK, 0, &(struct myr_wire_ack){session->ack});
        }
    }
    server->to_ack.count = 0;
}
