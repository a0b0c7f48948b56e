/* api_asked: why a job is as it is, and who waits for what. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "asked/asked.h"
#include "myriad/text/amount.h"

/* On one page; and of how many it is said what they wait for. */
enum { LISTED = 2000, REASONS = 500, LINES = MYR_EXPLAIN_FACTS + 4 };

/* Lines of an explanation, in an arena. */
struct lines {
    struct myr_arena arena;
    const char *items[LINES];
    uint32_t count;
};

/* "what: text" */
MYR_PRINTF(3, 4)
static void put_line(struct lines *lines, const char *what, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    MYR_ASSERT(lines->count < LINES);
    lines->items[lines->count++] = myr_arena_printf(&lines->arena, "%s: %s", what, text);
}

/* Where the nodes that may take jobs could not hold it even if they were empty, that comes first.
 */
static bool put_cluster(const struct server *server, uint32_t id, struct lines *lines)
{
    struct myr_control_job job = rows_job_view(server, id);
    uint32_t states[MYR_NODE_STATES] = {}, usable = 0;
    for (uint32_t n = 0; n < server->rows.node_count; n++) {
        struct myr_control_node node = myr_control_node(server->control, n);
        MYR_ASSERT(node.state < MYR_NODE_STATES);
        states[node.state]++;
        usable += node.usable;
    }
    if (job.state != MYR_CONTROL_QUEUED ||
        (uint64_t)usable * server->config.gpus_per_node >= job.spec.gpus) {
        return false;
    }
    put_line(lines, "cluster",
             "%s of %s may take jobs, too few for %s: %s drained or being drained, %s in repair, "
             "%s suspect, %s joining or under test, %s never came",
             MYR_GROUPED(usable), MYR_COUNT(server->rows.node_count, "node"),
             MYR_COUNT(job.spec.gpus, "GPU"),
             MYR_GROUPED(states[MYR_NODE_DRAINED] + states[MYR_NODE_DRAINING]),
             MYR_GROUPED(states[MYR_NODE_REPAIR]), MYR_GROUPED(states[MYR_NODE_SUSPECT]),
             MYR_GROUPED(states[MYR_NODE_JOINING] + states[MYR_NODE_CHECKING]),
             MYR_GROUPED(states[MYR_NODE_UNKNOWN]));
    return true;
}

static void put_node_name(const void *context, uint32_t node, struct myr_buf *ret)
{
    const struct asked *asked = context;
    myr_buf_puts(ret, asked->names[node]);
}

static void think_why(struct asked *asked)
{
    char name[32];
    struct myr_explain_asker asker = {.now_ms = asked->now_ms,
                                      .submitted_ms = asked->submitted_ms,
                                      .names = {put_node_name, asked},
                                      .start = asked->has_start ? &asked->start : NULL};
    snprintf(name, sizeof(name), "job/%u", asked->job);
    asked->rc = myr_control_explain(asked->copy, name, &asker, &asked->why, &asked->err);
}

/* What the core says, with what it does not know: how ranks ended, and nodes that are missing. */
static void tell_why(struct asked *asked, struct myr_buf *ret)
{
    const struct server *server = asked->server;
    const struct job_row *row = rows_job(server, asked->job);
    struct lines lines = {};
    /* How ranks ended is in the row: the core only counts failures. */
    if (row && row->reason[0] && row->state >= MYR_CONTROL_DONE) {
        put_line(&lines, "ended", "%s", row->reason);
    } else if (row && row->reason[0] && row->state != MYR_CONTROL_RUNNING) {
        put_line(&lines, "last failure", "%s", row->reason);
    }
    bool lacks = put_cluster(server, asked->job, &lines);
    if (row && asked->forgotten) {
        put_line(&lines, "state", "%s", myr_control_job_state_name(row->last.state));
        asked->why.count = 0;
    }
    for (uint32_t i = 0; i < asked->why.count; i++) {
        const struct myr_explain_fact *fact = &asked->why.facts[i];
        if (lacks && strcmp(fact->what, "waits") == 0) {
            continue; /* the queue sees the same from further away */
        }
        MYR_ASSERT(lines.count < LINES);
        lines.items[lines.count++] = myr_arena_printf(&lines.arena, "%s: %s", fact->what, fact->is);
    }
    const struct said_explained said = {asked->job, {lines.items, lines.count}};
    api_give(&said_explained_record, &said, ret);
    myr_arena_done(&lines.arena);
}

int api_explain(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    uint32_t id;
    MYR_TRY(request_job(request, &id, err));
    starts_refresh(request->server);
    struct asked *asked = asked_new(request->server, request);
    asked->job = id;
    asked->submitted_ms = rows_job(request->server, id)->submitted_ms;
    asked->forgotten = myr_control_job(request->server->control, id).forgotten;
    asked->has_start = starts_of(request->server, id, &asked->start);
    asked->think = think_why;
    asked->tell = tell_why;
    return asked_begin(asked, ret, err);
}

static void think_reasons(struct asked *asked)
{
    asked_waiting(asked, LISTED);
    asked->reasons = myr_xcalloc(asked->count + UINT64_C(1), sizeof(*asked->reasons));
    for (uint32_t i = 0; i < asked->count && i < REASONS; i++) {
        asked->reasons[i] = myr_control_waits(asked->copy, asked->ids[i]);
    }
}

/* Who has started meanwhile is told as it was when it was asked. */
static void tell_queue(struct asked *asked, struct myr_buf *ret)
{
    const struct server *server = asked->server;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct said_waiting *jobs = MYR_ARENA_NEW(&arena, struct said_waiting, asked->count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < asked->count; i++) {
        uint32_t id = asked->ids[i];
        const struct job_row *row = rows_job(server, id);
        struct myr_control_job job = myr_control_job(asked->copy, id);
        struct myr_start_time start = {INT64_MAX, INT64_MAX, INT64_MAX}; /* nobody knows */
        if (!row) {
            continue;
        }
        (void)starts_of(server, id, &start);
        jobs[count++] =
            (struct said_waiting){.id = id,
                                  .name = row->name,
                                  .tenant = api_tenant_of(server, row),
                                  .gpus = job.spec.gpus,
                                  .priority = job.spec.priority,
                                  .waited_s = (double)(asked->now_ms - row->submitted_ms) / 1e3,
                                  .starts_in_s = start.likely_s,
                                  .starts_low_s = start.low_s,
                                  .starts_high_s = start.high_s,
                                  .reason = asked->reasons[i] ? asked->reasons[i] : ""};
    }
    api_give(&said_queue_record, &(struct said_queue){{jobs, count}}, ret);
}

/* In the order in which they were submitted; who is next depends on what becomes free. */
int api_queue(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    starts_refresh(request->server);
    struct asked *asked = asked_new(request->server, request);
    asked->think = think_reasons;
    asked->tell = tell_queue;
    return asked_begin(asked, ret, err);
}
