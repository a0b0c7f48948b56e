/* asked: questions that are thought about on a copy of the state, beside the loop. */
#include "asked/asked.h"

#include <stdlib.h>
#include <string.h>

/* Nodes and jobs that wait, which are looked at at once; and questions under way, each of which has
 * a state of its own. */
enum { SMALL = 256, UNDER_WAY_MAX = 8 };

static bool is_small(const struct asked *asked)
{
    return myr_control_nodes(asked->copy) + myr_queue_waiting(myr_control_queue(asked->copy)) <=
           SMALL;
}

static void asked_free(struct asked *asked)
{
    myr_control_free(asked->copy);
    free(asked->names);
    free(asked->ids);
    free(asked->reasons);
    free(asked->starts);
    free(asked);
}

struct asked *asked_new(struct server *server, struct request *request)
{
    struct asked *asked = myr_xcalloc(1, sizeof(*asked));
    uint32_t nodes = server->rows.node_count;
    asked->server = server;
    asked->request = request;
    asked->work.data = asked;
    asked->now_ms = core_ms(server);
    asked->copy = myr_control_fork(server->control);
    asked->names = myr_xcalloc(nodes + UINT64_C(1), sizeof(*asked->names));
    for (uint32_t n = 0; n < nodes; n++) {
        snprintf(asked->names[n], sizeof(asked->names[n]), "%s", server->rows.nodes[n].name);
    }
    return asked;
}

void asked_waiting(struct asked *asked, uint32_t most)
{
    uint32_t jobs = myr_control_jobs(asked->copy);
    asked->ids = myr_xcalloc(most + UINT64_C(1), sizeof(*asked->ids));
    for (uint32_t id = myr_control_next_job(asked->copy, 0); id < jobs && asked->count < most;
         id = myr_control_next_job(asked->copy, id + 1)) {
        if (myr_control_job(asked->copy, id).state == MYR_CONTROL_QUEUED) {
            asked->ids[asked->count++] = id;
        }
    }
    asked->starts = myr_xcalloc(asked->count + UINT64_C(1), sizeof(*asked->starts));
}

static void on_work(uv_work_t *work)
{
    struct asked *asked = work->data;
    asked->think(asked);
}

/* On the loop again: the state may be another one, and who asked may have been answered. */
static void on_thought(uv_work_t *work, int status)
{
    struct asked *asked = work->data, **at = &asked->server->asked;
    MYR_CLEANUP(myr_buf_done) struct myr_buf body = {};
    while (*at != asked) {
        MYR_ASSERT(*at);
        at = &(*at)->next;
    }
    *at = asked->next;
    (void)status; /* nothing is ever taken back: on_work() has run */
    if (!asked->server->stopping) {
        asked->tell(asked, &body);
    }
    if (asked->request && asked->rc < 0) {
        http_output(asked->request, &(struct output){.problem = asked->err.message});
    } else if (asked->request) {
        myr_buf_putc(&body, '\n');
        request_send(asked->request, (struct myr_str){body.data, body.len});
    }
    asked_free(asked);
}

int asked_begin(struct asked *asked, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = asked->server;
    uint32_t count = 0;
    int rc;
    MYR_ASSERT(asked->think && asked->tell);
    if (is_small(asked)) {
        asked->think(asked);
        rc = asked->rc;
        if (rc < 0) {
            *err = asked->err;
        } else {
            asked->tell(asked, ret);
        }
        asked_free(asked);
        return rc;
    }
    for (const struct asked *other = server->asked; other; other = other->next) {
        count++;
    }
    if (count >= UNDER_WAY_MAX ||
        uv_queue_work(&server->loop, &asked->work, on_work, on_thought) < 0) {
        asked_free(asked);
        return myr_err_set(err, MYR_EOFTEN, "%u such questions are being thought about", count);
    }
    asked->next = server->asked;
    server->asked = asked;
    if (asked->request) {
        asked->request->patient = true;
        request_wait(asked->request);
    }
    return HTTP_LATER;
}

void asked_stop(struct server *server)
{
    for (struct asked *asked = server->asked; asked; asked = asked->next) {
        if (asked->request) {
            http_output(asked->request, &(struct output){.problem = "the server stops"});
            asked->request = NULL;
        }
    }
}
