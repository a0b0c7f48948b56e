/* api_admin: health, usage, faults, tokens and metrics; and what all parts of the API share. */
#include <stdio.h>
#include <string.h>

#include "api.h"

/* Asked before anything is changed: what cannot be kept is not begun. */
int api_writable(const struct server *server, struct myr_err *err)
{
    return server->stuck ? myr_err_set(err, MYR_EAWAY, "read-only: %s", server->stuck_why) : MYR_OK;
}

/* The core as it is, for whoever asks what would be if. */
int api_state(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    (void)err;
    myr_control_save(request->server->control, ret);
    /* In the core's own format: 'myriad whatif' loads it as the server would. */
    request_answer(request, 200, "application/octet-stream", (struct myr_str){ret->data, ret->len});
    return HTTP_LATER;
}

/* Without a token: it tells nothing of the cluster but whether the server can do its work. */
int api_health(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct said_health said = {!request->server->stuck, request->server->version};
    (void)err;
    api_give(&said_health_record, &said, ret);
    return MYR_OK;
}

/* Energy and cost follow from GPU-hours by the two figures of the configuration. */
int api_usage(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct server *server = request->server;
    /* Counted in one walk over all jobs, not in one for each tenant. */
    uint32_t waiting[SERVER_TENANTS] = {};
    struct said_share shares[SERVER_TENANTS];
    (void)err;
    for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
        const struct job_row *row = rows_job(server, id);
        if (row && row->state == MYR_CONTROL_QUEUED && row->tenant < SERVER_TENANTS) {
            waiting[row->tenant]++;
        }
    }
    for (uint32_t i = 0; i < server->rows.tenants.count; i++) {
        const struct tenant_row *tenant = &server->rows.tenants.items[i];
        double hours = (double)rows_gpu_ms(tenant, core_ms(server)) / 3600e3;
        /* At full power for as long as it is given away, used or not. */
        double kwh = hours * server->config.kw_per_gpu;
        shares[i] = (struct said_share){.name = tenant->name,
                                        .weight = tenant->weight,
                                        .gpu_hours = hours,
                                        .kwh = kwh,
                                        .cost = kwh * server->config.price_kwh,
                                        .running_gpus = tenant->running_gpus,
                                        .waiting_jobs = waiting[i]};
    }
    const struct said_usage said = {.currency = server->config.currency,
                                    .kw_per_gpu = server->config.kw_per_gpu,
                                    .price_kwh = server->config.price_kwh,
                                    .tenants = {shares, (uint32_t)server->rows.tenants.count}};
    api_give(&said_usage_record, &said, ret);
    return MYR_OK;
}

/* Which faults there are is the world's to say; real nodes have none that can be ordered. */
int api_inject(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct ask_fault ask;
    MYR_TRY(api_take(request_body(request), &ask_fault_record, &arena, &ask, err));
    uint32_t node = rows_node(server, ask.node);
    if (node == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "no node '%s'", ask.node);
    }
    /* Not journalled: it happens to the world, and the core sees what comes of it. */
    MYR_TRY(server->world.inject(server, node, ask.fault, err));
    api_give(&said_fault_record, &(struct said_fault){ask.node, ask.fault}, ret);
    return MYR_OK;
}

/* What a secret is for is kept; the secret itself is told once, and nowhere else. */
static int give(struct request *request, struct token_row *token, bool enrol, const char *tail,
                struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    MYR_CLEANUP(myr_buf_done) struct myr_buf secret = {};
    MYR_ASSERT(!token->digest[0] && enrol == (token->role == ROLE_NONE)); /* a role, or a node */
    MYR_TRY(api_writable(server, err));
    MYR_TRY(myr_io_secret(24, &secret, err));
    /* From here on the digest stands for it; the secret is in the answer alone. */
    myr_io_digest((struct myr_str){secret.data, secret.len}, token->digest);
    rows_put_token(server, token, enrol);
    if (desk_run(server, err) < 0) { /* nobody hears of it: it must not turn up later */
        (enrol ? rows_drop_enrol : rows_drop_token)(
            server, (uint32_t)(enrol ? server->rows.enrols.count : server->rows.tokens.count) - 1);
        return err->code;
    }
    myr_buf_puts(&secret, tail);
    api_give(&said_secret_record, &(struct said_secret){secret.data}, ret);
    return MYR_OK;
}

/* For a node of the list, for any of them where none is named, or for a relay. */
int api_enrol(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct server *server = request->server;
    struct token_row token = {};
    struct ask_enrol ask;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf ca = {};
    /* SECRET@FINGERPRINT: who enrols by it believes this authority and no other. */
    char path[SERVER_PATH], tail[70] = "@";
    MYR_TRY(api_take(request_body(request), &ask_enrol_record, &arena, &ask, err));
    const char *relay = ask.relay;
    memcpy(token.user, ask.node, sizeof(token.user));
    if (relay[0]) {
        /* A name is a node's or a relay's: certificates are told apart by it. */
        if (token.user[0] || rows_node(server, relay) != MYR_NONE) {
            return myr_err_set(err, MYR_EINVAL, "'%s' is to be a relay, not a node as well", relay);
        }
        if (strspn(relay, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") !=
            strlen(relay)) { /* no certificate would ever be made out to it */
            return myr_err_set(err, MYR_EINVAL,
                               "relay name '%s': letters, digits, '-', '.' and '_' are expected",
                               relay);
        }
        token.relay = true;
        snprintf(token.user, sizeof(token.user), "%s", relay);
    } else if (token.user[0] && rows_node(server, token.user) == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "no node '%s'", token.user);
    }
    snprintf(path, sizeof(path), "%s/ca.pem", server->folder);
    MYR_TRY(myr_file_read(path, 1 << 20, &ca, err));
    /* Read each time: it is asked for seldom. */
    MYR_TRY(myr_io_fingerprint((struct myr_str){ca.data, ca.len}, tail + 1, err));
    return give(request, &token, true, tail, ret, err);
}

/* Without a Unix user it can submit nothing where ranks are real. */
int api_token(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    struct token_row token = {};
    struct ask_token ask;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_TRY(api_take(request_body(request), &ask_token_record, &arena, &ask, err));
    memcpy(token.user, ask.user, sizeof(token.user));
    memcpy(token.unix_user, ask.unix_user, sizeof(token.unix_user));
    /* Without 'none', which is nobody's. */
    for (int i = ROLE_VIEWER; i < ROLE_COUNT; i++) {
        token.role = strcmp(ask.role, role_names[i]) == 0 ? (enum role)i : token.role;
    }
    if (token.role == ROLE_NONE) {
        return myr_err_set(err, MYR_EINVAL,
                           "'%s' is no role; viewer, user, operator or admin is expected",
                           ask.role);
    }
    /* Agents refuse it as well; here it is told to whoever asks for it. */
    if (strcmp(token.unix_user, "root") == 0) {
        return myr_err_set(err, MYR_EDENIED, "ranks never run as root");
    }
    return give(request, &token, false, "", ret, err);
}

/* Buckets of a histogram as Prometheus wants them: each holds those before. */
static void put_histogram(struct myr_buf *ret, const char *name, const char *help,
                          const uint64_t *classes, uint32_t count)
{
    uint64_t sum = 0;
    double total_s = 0;
    MYR_ASSERT(count > 0 && count < 64); /* classes are powers of two */
    myr_buf_printf(ret, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name);
    for (uint32_t i = 0; i < count; i++) {
        sum += classes[i];
        /* Class i holds 2^(i-1) to 2^i microseconds: their middle stands for each. */
        total_s += (double)classes[i] * (double)(1ULL << i) * 0.75e-6;
        /* The last class has no upper bound of its own: it is "+Inf". */
        if (i < count - 1) {
            myr_buf_printf(ret, "%s_bucket{le=\"%.6f\"} %llu\n", name, (double)(1ULL << i) * 1e-6,
                           (unsigned long long)sum);
        }
    }
    myr_buf_printf(ret, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.6f\n%s_count %llu\n", name,
                   (unsigned long long)sum, name, total_s, name, (unsigned long long)sum);
}

/* One value in the text format of Prometheus, with the two lines that it wants before it. */
static void put_number(struct myr_buf *ret, const char *name, const char *type, const char *help,
                       uint64_t value)
{
    myr_buf_printf(ret, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, type, name,
                   (unsigned long long)value);
}

/* All states, also those that nobody is in. */
static void put_states(const struct server *server, struct myr_buf *ret)
{
    uint32_t nodes[MYR_NODE_STATES] = {}, jobs[MYR_CONTROL_JOB_STATES] = {};
    for (uint32_t id = 0; id < server->rows.node_count; id++) {
        nodes[myr_control_node(server->control, id).state]++;
    }
    for (uint32_t id = 0; id < myr_control_jobs(server->control); id++) {
        jobs[rows_job_view(server, id).state]++;
    }
    myr_buf_puts(ret, "# HELP myriad_nodes nodes by state\n# TYPE myriad_nodes gauge\n");
    for (int i = 0; i < MYR_NODE_STATES; i++) {
        myr_buf_printf(ret, "myriad_nodes{state=\"%s\"} %u\n",
                       myr_node_state_name((enum myr_node_state)i), nodes[i]);
    }
    myr_buf_puts(ret, "# HELP myriad_jobs jobs by state\n# TYPE myriad_jobs gauge\n");
    for (int i = 0; i < MYR_CONTROL_JOB_STATES; i++) {
        myr_buf_printf(ret, "myriad_jobs{state=\"%s\"} %u\n",
                       myr_control_job_state_name((enum myr_control_job_state)i), jobs[i]);
    }
}

/* Numbers by state are worked out when it is asked for, the others counted as things happen. */
int api_metrics(struct request *request, struct myr_buf *ret, struct myr_err *err)
{
    const struct server *server = request->server;
    (void)err;
    put_states(server, ret);
    put_number(ret, "myriad_gpus_free", "gauge", "GPUs that a job could get",
               myr_control_free_gpus(server->control));
    put_number(ret, "myriad_agents_connected", "gauge", "connections of agents",
               server->session_count);
    put_number(ret, "myriad_events_total", "counter", "events that the core has taken",
               server->events);
    put_number(ret, "myriad_commits_total", "counter", "commits of the store", server->commits);
    put_number(ret, "myriad_agent_messages_total", "counter", "messages of agents",
               server->messages);
    put_number(ret, "myriad_agent_refusals_total", "counter", "connections of agents refused",
               server->messages_refused);
    put_number(ret, "myriad_http_requests_total", "counter", "requests", server->http->requests);
    put_number(ret, "myriad_http_refused_total", "counter", "requests refused",
               server->http->refused);
    put_number(ret, "myriad_read_only", "gauge", "1: the store cannot be written", server->stuck);
    put_histogram(ret, "myriad_agent_handling_seconds", "time that one read of an agent took",
                  server->handled, 32);
    put_histogram(ret, "myriad_http_handling_seconds", "time that one request took",
                  server->http->took, 32);
    request_answer(request, 200, "text/plain; version=0.0.4; charset=utf-8",
                   (struct myr_str){ret->data, ret->len});
    return HTTP_LATER;
}
