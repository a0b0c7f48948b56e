/*
 * fence: runs the operator's program, one at a time for each node, and tells the core what came of
 * it. The program decides nothing but whether the node is off; when it is to be run is the core's
 * to say.
 */
#include "engine/fence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/call.h"

struct fences {
    struct calls *calls;  /* with the operator's time limit */
    struct order *orders; /* under way */
};

/* A node's power on its way off; 'boot' is the one that the core asked about last. */
struct order {
    uint32_t node, boot;
    int64_t since_ms; /* steady */
    struct order *next;
};

/* Only 0 says that the node is off; the core asks again where it is not. */
static void answer(struct server *server, uint32_t node, uint32_t boot, int code)
{
    MYR_ASSERT(node < server->rows.node_count);
    desk_post(server,
              &(struct myr_event){
                  .kind = MYR_EVENT_FENCED, .node = node, .boot = boot, .code = code == 0 ? 0 : 1});
}

/* What people read of it, in the log and in the audit. */
static void tell(const struct server *server, uint32_t node, bool done, const char *outcome)
{
    MYR_ASSERT(node < server->rows.node_count && outcome);
    char what[SERVER_NAME + 16];
    const char *name = server->rows.nodes[node].name;
    snprintf(what, sizeof(what), "fence %s", name);
    audit("myriad", what, outcome);
    log_say(done ? "info" : "error", "node %s is %s: %s", name, done ? "fenced" : "not fenced",
            outcome);
}

/* The last line that a program wrote is why it failed. */
static struct myr_str last_line(struct myr_str text)
{
    MYR_ASSERT(text.data || text.len == 0);
    while (text.len > 0 && (unsigned char)text.data[text.len - 1] <= ' ') {
        text.len--;
    }
    const char *end = text.len ? memrchr(text.data, '\n', text.len) : NULL;
    size_t before = end ? (size_t)(end - text.data) + 1 : 0;
    MYR_ASSERT(before <= text.len);
    return (struct myr_str){text.data + before, text.len - before};
}

/* It is in the list: whoever was asked is answered once. */
static void forget(struct fences *fences, struct order *order)
{
    struct order **at = &fences->orders;
    while (*at != order) {
        MYR_ASSERT(*at);
        at = &(*at)->next;
    }
    *at = order->next;
    free(order);
}

/* What it wrote to standard error says more than what it wrote to standard output. */
static void on_done(struct server *server, void *context, const struct call_result *result)
{
    struct order *order = context;
    char outcome[400], said[MYR_EXCERPT_MAX];
    MYR_ASSERT(order->node < server->rows.node_count && server->fences->orders);
    double took_s = (double)(steady_ms() - order->since_ms) / 1000;
    struct myr_str why = last_line(result->err.len ? result->err : result->out);
    if (result->code == 0) {
        snprintf(outcome, sizeof(outcome), "done in %.1f s", took_s);
    } else if (result->late) {
        snprintf(outcome, sizeof(outcome), "failed: ended, it took more than %u s",
                 server->config.fence_timeout_s);
    } else {
        snprintf(outcome, sizeof(outcome), "failed: exit code %d%s%s", result->code,
                 why.len ? ": " : "", myr_text_excerpt(why, said));
    }
    tell(server, order->node, result->code == 0, outcome);
    answer(server, order->node, order->boot, result->code);
    forget(server->fences, order);
}

/* Also without a program: the core's questions are answered all the same. */
void fence_begin(struct server *server)
{
    const struct config *config = &server->config;
    MYR_ASSERT(!server->fences);
    server->fences = myr_xcalloc(1, sizeof(*server->fences));
    server->fences->calls = calls_new(server, &(struct call_how){"", "", config->fence_timeout_s});
    if (config->fence[0] && access(config->fence, X_OK) < 0) {
        log_say("error", "fence: %s cannot be run; nodes that are lost stay as they are",
                config->fence);
    }
    MYR_ASSERT(server->fences->calls && !server->fences->orders);
}

/* The core may ask again before the first program has ended: one at a time for each node. */
void fence_node(struct server *server, const struct myr_effect *effect)
{
    struct fences *fences = server->fences;
    MYR_ASSERT(fences && effect->node < server->rows.node_count);
    MYR_ASSERT(effect->kind == MYR_EFFECT_FENCE && effect->boot > 0);
    const char *name = server->rows.nodes[effect->node].name;
    const char *const argv[] = {server->config.fence, name, NULL};
    if (!server->config.fence[0]) {
        /* Nobody can say that it is off: leases do, or a person. */
        answer(server, effect->node, effect->boot, 1);
        return;
    }
    if (name[0] == '-' || name[0] == '.') { /* an option or a path, to a careless program */
        tell(server, effect->node, false, "refused: no program is given such a name");
        answer(server, effect->node, effect->boot, 1);
        return;
    }
    for (struct order *order = fences->orders; order; order = order->next) {
        if (order->node == effect->node) {
            order->boot = effect->boot; /* its power is on its way off already */
            return;
        }
    }
    struct order *order = myr_xcalloc(1, sizeof(*order));
    *order = (struct order){.node = effect->node,
                            .boot = effect->boot,
                            .since_ms = steady_ms(),
                            .next = fences->orders};
    fences->orders = order;
    log_say("warning", "node %s is lost and may run ranks: %s is run", name, server->config.fence);
    call(fences->calls, &(struct call_order){.argv = argv, .done = on_done, .context = order});
}

void fence_end(struct server *server)
{
    struct fences *fences = server->fences;
    if (!fences) {
        return;
    }
    /* Programs under way are ended; the core of the next server asks again. */
    calls_free(fences->calls);
    while (fences->orders) {
        forget(fences, fences->orders);
    }
    free(fences);
    server->fences = NULL;
}
