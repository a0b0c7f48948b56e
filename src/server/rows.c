/*
 * rows: what the core does not know. Each row is a small JSON object in the store, so that a person
 * can read it with sqlite3 and a newer program can add to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

const char *const role_names[ROLE_COUNT] = {"none", "viewer", "user", "operator", "admin"};

/* One object on its way into the store. */
struct row {
    struct myr_json json;
    struct myr_buf text;
};

static void row_begin(struct row *row)
{
    *row = (struct row){};
    myr_json_init(&row->json, &row->text, MYR_JSON_COMPACT);
    myr_json_object(&row->json, NULL);
}

/* Ends the object and puts it under the key; it is kept with the next commit. */
MYR_PRINTF(3, 4)
static void row_put(struct server *server, struct row *row, const char *fmt, ...)
{
    char key[256];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(key, sizeof(key), fmt, args);
    va_end(args);
    MYR_ASSERT(len > 0 && (size_t)len < sizeof(key)); /* two that are cut could be one */
    MYR_ASSERT(server->store && row->text.len > 0);
    myr_json_end(&row->json);
    store_put(server->store, key, (struct myr_str){row->text.data, row->text.len});
    myr_buf_done(&row->text);
}

/* By name: the number of a node follows from the list of the configuration. */
void rows_put_node(struct server *server, uint32_t node)
{
    MYR_ASSERT(node < server->rows.node_count);
    const struct node_row *n = &server->rows.nodes[node];
    struct row row;
    MYR_ASSERT(rows_node(server, n->name) == node); /* it is read again by its name */
    /* The list of nodes that http.c keeps is no longer true. */
    server->node_changes++;
    row_begin(&row);
    myr_json_u64(&row.json, "boot_hash", n->boot_hash);
    myr_json_u64(&row.json, "boot", n->boot);
    myr_json_text(&row.json, "serial", n->serial);
    myr_json_text(&row.json, "serial_before", n->serial_before);
    myr_json_text(&row.json, "address", n->address);
    myr_json_text(&row.json, "kind", n->kind);
    myr_json_text(&row.json, "board", n->board);
    myr_json_u64(&row.json, "gpus", n->gpus);
    myr_json_u64(&row.json, "cpus", n->cpus);
    myr_json_u64(&row.json, "memory_bytes", n->memory_bytes);
    myr_json_text(&row.json, "reason", n->reason);
    myr_json_bool(&row.json, "revoked", n->revoked);
    row_put(server, &row, "node/%s", n->name);
}

/* Node, epoch, first rank, GPUs; one after the other. */
static void put_where(struct myr_json *json, const char *key, const struct myr_control_rank *ranks,
                      uint32_t count)
{
    MYR_ASSERT(ranks || count == 0);
    myr_json_list(json, key);
    for (uint32_t i = 0; i < count; i++) {
        myr_json_u64(json, NULL, ranks[i].node);
        myr_json_u64(json, NULL, ranks[i].epoch);
        myr_json_u64(json, NULL, ranks[i].first);
        myr_json_u64(json, NULL, ranks[i].gpus);
    }
    myr_json_end(json);
}

/* How it ended: the core forgets it. */
static void put_end(struct myr_json *json, const struct myr_control_job *last)
{
    myr_json_text(json, "state", myr_control_job_state_name(last->state));
    myr_json_u64(json, "gpus", last->spec.gpus);
    myr_json_u64(json, "gpus_min", last->spec.gpus_min);
    myr_json_i64(json, "priority", last->spec.priority);
    myr_json_u64(json, "epoch", last->epoch);
    myr_json_u64(json, "failures", last->failures);
    myr_json_i64(json, "step", last->step);
    myr_json_i64(json, "saved_step", last->saved_step);
}

/* With its file, which agents get with the order, and which nobody else keeps. */
void rows_put_job(struct server *server, uint32_t job)
{
    MYR_ASSERT(job < server->rows.jobs.count);
    const struct job_row *j = server->rows.jobs.items[job];
    struct row row;
    MYR_ASSERT(j && j->file); /* without its file it could not be read again */
    MYR_ASSERT((j->where || j->where_count == 0) && (j->past || j->past_count == 0));
    row_begin(&row);
    myr_json_u64(&row.json, "token", j->token);
    myr_json_text(&row.json, "name", j->name);
    myr_json_text(&row.json, "user", j->user);
    myr_json_text(&row.json, "unix_user", j->unix_user);
    myr_json_u64(&row.json, "tenant", j->tenant);
    myr_json_text(&row.json, "file", j->file);
    myr_json_i64(&row.json, "submitted_ms", j->submitted_ms);
    myr_json_i64(&row.json, "first_start_ms", j->first_start_ms);
    myr_json_i64(&row.json, "ended_ms", j->ended_ms);
    myr_json_i64(&row.json, "time_limit_s", j->time_limit_s);
    myr_json_double(&row.json, "twin_hours", j->twin_hours, 6);
    myr_json_double(&row.json, "twin_step_s", j->twin_step_s, 6);
    myr_json_text(&row.json, "reason", j->reason);
    myr_json_u64(&row.json, "array_index", j->array_index);
    if (j->last.spec.gpus > 0) { /* it is over */
        put_end(&row.json, &j->last);
    }
    put_where(&row.json, "where", j->where, j->where_count);
    if (j->past_count > 0) {
        put_where(&row.json, "past", j->past, j->past_count);
    }
    (void)myr_u64map_add(&server->rows.job_ids, j->token, job);
    *myr_u64map_find(&server->rows.job_ids, j->token) = job; /* one never taken has left MYR_NONE */
    /* With leading zeros: the store's keys are in the order of the numbers. */
    row_put(server, &row, "job/%010u", job);
}

/* NULL is a number without a job. */
static void free_job(struct job_row *job)
{
    if (job) {
        free(job->file);
        free(job->where);
        free(job->past);
        free(job);
    }
}

uint32_t rows_job_of_token(const struct server *server, uint64_t token)
{
    const uint32_t *id = myr_u64map_find(&server->rows.job_ids, token);
    return id ? *id : MYR_NONE;
}

struct myr_control_job rows_job_view(const struct server *server, uint32_t job)
{
    struct myr_control_job view = myr_control_job(server->control, job);
    const struct job_row *row = rows_job(server, job);
    return view.forgotten && row ? row->last : view;
}

void rows_drop_job(struct server *server, uint32_t job)
{
    char key[32];
    MYR_ASSERT(job < server->rows.jobs.count);
    const struct job_row *row = server->rows.jobs.items[job];
    uint32_t *id = row ? myr_u64map_find(&server->rows.job_ids, row->token) : NULL;
    if (id && *id == job) {
        *id = MYR_NONE;
    }
    free_job(server->rows.jobs.items[job]);
    server->rows.jobs.items[job] = NULL;
    snprintf(key, sizeof(key), "job/%010u", job);
    store_delete(server->store, key);
}

/* A clock that was set back takes no usage away. */
uint64_t rows_gpu_ms(const struct tenant_row *tenant, int64_t now_ms)
{
    int64_t past_ms = now_ms > tenant->since_ms ? now_ms - tenant->since_ms : 0;
    return tenant->gpu_ms + tenant->running_gpus * (uint64_t)past_ms;
}

void rows_put_tenant(struct server *server, uint32_t tenant)
{
    MYR_ASSERT(tenant < server->rows.tenants.count && tenant < SERVER_TENANTS);
    const struct tenant_row *t = &server->rows.tenants.items[tenant];
    struct row row;
    row_begin(&row);
    /* Jobs name their tenant by this number. */
    myr_json_u64(&row.json, "id", tenant);
    myr_json_u64(&row.json, "weight", t->weight);
    /* Up to now: what runs goes on from here after a restart. */
    myr_json_u64(&row.json, "gpu_ms", rows_gpu_ms(t, core_ms(server)));
    row_put(server, &row, "tenant/%s", t->name);
}

/* The digest is the key; the secret is nowhere. */
void rows_put_token(struct server *server, const struct token_row *token, bool enrol)
{
    struct row row;
    MYR_ASSERT(token->role < ROLE_COUNT);
    MYR_ASSERT(token->digest[0]); /* it is the key */
    row_begin(&row);
    myr_json_text(&row.json, "user", token->user);
    myr_json_text(&row.json, "unix_user", token->unix_user);
    myr_json_text(&row.json, "role", role_names[token->role]);
    /* Left out where it is not: rows of older programs have no such key. */
    if (token->relay) {
        myr_json_bool(&row.json, "relay", true);
    }
    row_put(server, &row, "%s/%s", enrol ? "enrol" : "token", token->digest);
    if (enrol) {
        myr_vec_push(&server->rows.enrols, *token);
    } else {
        myr_vec_push(&server->rows.tokens, *token);
    }
}

void rows_drop_enrol(struct server *server, uint32_t at)
{
    char key[96];
    struct token_row *rows = server->rows.enrols.items;
    MYR_ASSERT(at < server->rows.enrols.count);
    snprintf(key, sizeof(key), "enrol/%s", rows[at].digest);
    store_delete(server->store, key);
    /* The last one fills the gap; the order means nothing. */
    rows[at] = rows[--server->rows.enrols.count];
}

void rows_drop_token(struct server *server, uint32_t at)
{
    char key[96];
    struct token_row *rows = server->rows.tokens.items;
    MYR_ASSERT(at < server->rows.tokens.count);
    snprintf(key, sizeof(key), "token/%s", rows[at].digest);
    store_delete(server->store, key);
    rows[at] = rows[--server->rows.tokens.count];
}

uint32_t rows_node(const struct server *server, const char *name)
{
    uint32_t id = myr_strmap_get(&server->rows.node_ids, myr_str_from(name));
    MYR_ASSERT(id == MYR_MAP_NONE || id < server->rows.node_count);
    return id == MYR_MAP_NONE ? MYR_NONE : id;
}

/* Who is connected is not kept: they come again by themselves. */
void rows_put_relay(struct server *server, uint32_t relay)
{
    MYR_ASSERT(relay < server->rows.relays.count);
    const struct relay_row *r = &server->rows.relays.items[relay];
    struct row row;
    row_begin(&row);
    myr_json_text(&row.json, "serial", r->serial);
    myr_json_text(&row.json, "serial_before", r->serial_before);
    myr_json_bool(&row.json, "revoked", r->revoked);
    row_put(server, &row, "relay/%s", r->name);
}

uint32_t rows_relay(struct server *server, const char *name, bool make)
{
    struct rows *rows = &server->rows;
    MYR_ASSERT(rows->relays.count <= SERVER_RELAYS);
    for (uint32_t i = 0; i < rows->relays.count; i++) {
        if (strcmp(rows->relays.items[i].name, name) == 0) {
            return i;
        }
    }
    /* Only a certificate makes a relay: 'make' is for those who have just given one. */
    if (!make || rows->relays.count >= SERVER_RELAYS) {
        return MYR_NONE;
    }
    struct relay_row relay = {};
    snprintf(relay.name, sizeof(relay.name), "%s", name);
    myr_vec_push(&rows->relays, relay);
    return (uint32_t)rows->relays.count - 1;
}

/* A new one is put at once: jobs that name its number are committed with it. */
uint32_t rows_tenant(struct server *server, const char *name)
{
    struct rows *rows = &server->rows;
    MYR_ASSERT(rows->tenants.count <= SERVER_TENANTS);
    for (uint32_t i = 0; i < rows->tenants.count; i++) {
        if (strcmp(rows->tenants.items[i].name, name) == 0) {
            return i;
        }
    }
    if (rows->tenants.count >= SERVER_TENANTS) {
        return MYR_NONE;
    }
    /* As heavy as all others, until an administrator says more. */
    struct tenant_row tenant = {.weight = 1, .since_ms = core_ms(server)};
    snprintf(tenant.name, sizeof(tenant.name), "%s", name);
    myr_vec_push(&rows->tenants, tenant);
    uint32_t id = (uint32_t)rows->tenants.count - 1;
    rows_put_tenant(server, id);
    return id;
}

/* NULL where there is none, also for numbers that were never given. */
struct job_row *rows_job(const struct server *server, uint32_t job)
{
    return job < server->rows.jobs.count ? server->rows.jobs.items[job] : NULL;
}

/* Reading: what is missing stays as it is, so that older rows are understood. */

/* Cut to its place: it was written by a program with the same places. */
static void get_text(const struct myr_doc *top, const char *key, char *ret, size_t size)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    if (node && node->kind == MYR_DOC_SCALAR) {
        snprintf(ret, size, "%.*s", (int)node->text.len, node->text.data);
    }
}

static uint64_t get_u64(const struct myr_doc *top, const char *key, uint64_t otherwise)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    uint64_t value;
    return node && myr_str_to_u64(node->text, &value) ? value : otherwise;
}

/* A number that its place does not hold would be another one there. */
static int get_u32(const struct myr_doc *top, const char *key, uint32_t most, uint32_t otherwise,
                   uint32_t *ret, struct myr_err *err)
{
    uint64_t value = get_u64(top, key, otherwise);
    if (value > most) {
        return myr_doc_error(err, myr_doc_get(top, key), MYR_ECORRUPT,
                             "'%s' of the store is %llu, at most %u is expected", key,
                             (unsigned long long)value, most);
    }
    *ret = (uint32_t)value;
    return MYR_OK;
}

static int64_t get_i64(const struct myr_doc *top, const char *key, int64_t otherwise)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    int64_t value;
    return node && myr_str_to_i64(node->text, &value) ? value : otherwise;
}

static double get_double(const struct myr_doc *top, const char *key, double otherwise)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    double value;
    return node && myr_str_to_double(node->text, &value) ? value : otherwise;
}

static bool get_bool(const struct myr_doc *top, const char *key)
{
    const struct myr_doc *node = myr_doc_get(top, key);
    return node && myr_str_eq(node->text, MYR_STR("true"));
}

/* A key that is missing has its default: an older program has written it. */
static int read_node(struct server *server, const char *name, const struct myr_doc *top,
                     struct myr_err *err)
{
    uint32_t id = rows_node(server, name);
    if (id == MYR_NONE) {
        return MYR_OK; /* no longer in the list of nodes */
    }
    struct node_row *n = &server->rows.nodes[id];
    MYR_ASSERT(!n->session); /* rows are there before anybody comes */
    n->boot_hash = get_u64(top, "boot_hash", 0);
    MYR_TRY(get_u32(top, "boot", UINT32_MAX, 0, &n->boot, err));
    get_text(top, "serial", n->serial, sizeof(n->serial));
    get_text(top, "serial_before", n->serial_before, sizeof(n->serial_before));
    get_text(top, "address", n->address, sizeof(n->address));
    get_text(top, "kind", n->kind, sizeof(n->kind));
    get_text(top, "board", n->board, sizeof(n->board));
    get_text(top, "reason", n->reason, sizeof(n->reason));
    MYR_TRY(get_u32(top, "gpus", UINT32_MAX, 0, &n->gpus, err));
    MYR_TRY(get_u32(top, "cpus", UINT32_MAX, 0, &n->cpus, err));
    n->memory_bytes = get_u64(top, "memory_bytes", 0);
    n->revoked = get_bool(top, "revoked");
    return MYR_OK;
}

/* Four numbers a node; what cannot be read is left out, and costs old output alone. */
static void get_where(const struct server *server, const struct myr_doc *list,
                      struct myr_control_rank **ret, uint32_t *ret_count)
{
    MYR_ASSERT(!*ret && *ret_count == 0); /* a row is read once */
    if (!list || list->kind != MYR_DOC_LIST) {
        return;
    }
    *ret = myr_xcalloc(list->count / 4, sizeof(**ret));
    for (uint32_t i = 0; i + 3 < list->count; i += 4) {
        uint64_t field[4] = {};
        bool ok = true;
        for (uint32_t k = 0; k < 4; k++) {
            ok = ok && myr_str_to_u64(list->items[i + k]->text, &field[k]);
        }
        /* Nodes may have left the list; their output is gone with them. */
        ok = ok && field[1] <= UINT32_MAX && field[2] <= UINT32_MAX;
        if (ok && field[0] < server->rows.node_count) {
            (*ret)[(*ret_count)++] = (struct myr_control_rank){.node = (uint32_t)field[0],
                                                               .epoch = (uint32_t)field[1],
                                                               .first = (uint32_t)field[2],
                                                               .gpus = field[3]};
        }
    }
}

/*
 * Numbers are given one after the other, and few are given back: what stands further behind the
 * last one is no number of ours, and the list up to it could take all memory.
 */
enum { JOBS_APART = 1 << 20 };

static int take_number(struct rows *rows, uint64_t id, struct myr_err *err)
{
    if (id > rows->jobs.count + JOBS_APART) {
        return myr_err_set(err, MYR_ECORRUPT,
                           "job %llu of the store is not ours: the jobs before it end at %zu, and "
                           "no more than %d numbers are left out",
                           (unsigned long long)id, rows->jobs.count, JOBS_APART);
    }
    while (rows->jobs.count <= id) {
        myr_vec_push(&rows->jobs, NULL);
    }
    return rows->jobs.items[id]
               ? myr_err_set(err, MYR_ECORRUPT, "job %llu comes twice in the store",
                             (unsigned long long)id)
               : MYR_OK;
}

/* 'state' is that of a job that is over, or missing: an older program has written it. */
static int read_end(const struct myr_doc *top, struct myr_control_job *ret, struct myr_err *err)
{
    const struct myr_doc *state = myr_doc_get(top, "state");
    int64_t priority = get_i64(top, "priority", 0);
    if (!state) {
        return MYR_OK;
    }
    for (int i = MYR_CONTROL_DONE; i < MYR_CONTROL_JOB_STATES; i++) {
        const char *name = myr_control_job_state_name((enum myr_control_job_state)i);
        ret->state = myr_str_eq(state->text, myr_str_from(name)) ? (enum myr_control_job_state)i
                                                                 : ret->state;
    }
    MYR_TRY(get_u32(top, "gpus", UINT32_MAX, 0, &ret->spec.gpus, err));
    MYR_TRY(get_u32(top, "gpus_min", UINT32_MAX, 0, &ret->spec.gpus_min, err));
    ret->spec.priority = priority >= INT32_MIN && priority <= INT32_MAX ? (int32_t)priority : 0;
    MYR_TRY(get_u32(top, "epoch", UINT32_MAX, 0, &ret->epoch, err));
    MYR_TRY(get_u32(top, "failures", UINT32_MAX, 0, &ret->failures, err));
    ret->step = get_i64(top, "step", 0);
    ret->saved_step = get_i64(top, "saved_step", 0);
    return MYR_OK;
}

/* A job without its file could not be started again: such a store is damaged. */
static int read_job(struct server *server, const char *name, const struct myr_doc *top,
                    struct myr_err *err)
{
    uint64_t id;
    const struct myr_doc *file = myr_doc_get(top, "file");
    if (!myr_str_to_u64(myr_str_from(name), &id) || id >= UINT32_MAX || !file) {
        return myr_err_set(err, MYR_ECORRUPT, "a job of the store has no number or no file");
    }
    /* Jobs come in the order of their numbers. */
    MYR_TRY(take_number(&server->rows, id, err));
    MYR_ASSERT(id < server->rows.jobs.count && !server->rows.jobs.items[id]);
    struct job_row *j = myr_xcalloc(1, sizeof(*j));
    server->rows.jobs.items[id] = j;
    j->token = get_u64(top, "token", 0);
    get_text(top, "name", j->name, sizeof(j->name));
    get_text(top, "user", j->user, sizeof(j->user));
    get_text(top, "unix_user", j->unix_user, sizeof(j->unix_user));
    get_text(top, "reason", j->reason, sizeof(j->reason));
    MYR_TRY(get_u32(top, "tenant", SERVER_TENANTS - 1, 0, &j->tenant, err));
    /* A file has no NUL in it: it was checked when it was submitted. */
    j->file = strndup(file->text.data, file->text.len);
    j->submitted_ms = get_i64(top, "submitted_ms", -1);
    j->first_start_ms = get_i64(top, "first_start_ms", -1);
    j->ended_ms = get_i64(top, "ended_ms", -1);
    j->time_limit_s = get_i64(top, "time_limit_s", 0);
    j->twin_hours = get_double(top, "twin_hours", 1);
    j->twin_step_s = get_double(top, "twin_step_s", 10);
    MYR_TRY(get_u32(top, "array_index", UINT32_MAX, 0, &j->array_index, err));
    MYR_TRY(read_end(top, &j->last, err));
    j->state = (uint8_t)j->last.state; /* of one that goes on the core knows better */
    (void)myr_u64map_add(&server->rows.job_ids, j->token, (uint32_t)id);
    get_where(server, myr_doc_get(top, "where"), &j->where, &j->where_count);
    get_where(server, myr_doc_get(top, "past"), &j->past, &j->past_count);
    return MYR_OK;
}

/* Tenants come by name here, and the core knows them by number: each gets its place again. */
static int read_tenant(struct server *server, const char *name, const struct myr_doc *top,
                       struct myr_err *err)
{
    uint64_t id = get_u64(top, "id", SERVER_TENANTS);
    if (id >= SERVER_TENANTS) {
        return myr_err_set(err, MYR_ECORRUPT, "tenant '%s' of the store has no number", name);
    }
    while (server->rows.tenants.count <= id) {
        myr_vec_push(&server->rows.tenants, (struct tenant_row){.weight = 1});
    }
    MYR_ASSERT(server->rows.tenants.count <= SERVER_TENANTS);
    struct tenant_row *t = &server->rows.tenants.items[id];
    snprintf(t->name, sizeof(t->name), "%s", name);
    MYR_TRY(get_u32(top, "weight", UINT32_MAX, 1, &t->weight, err));
    t->gpu_ms = get_u64(top, "gpu_ms", 0);
    /* What runs is counted anew by learn_states(); the time in between is not charged. */
    t->since_ms = core_ms(server);
    return MYR_OK;
}

/* One beyond the limit is forgotten: it would be refused as well. */
static int read_relay(struct server *server, const char *name, const struct myr_doc *top)
{
    uint32_t id = rows_relay(server, name, true);
    if (id != MYR_NONE) {
        struct relay_row *r = &server->rows.relays.items[id];
        get_text(top, "serial", r->serial, sizeof(r->serial));
        get_text(top, "serial_before", r->serial_before, sizeof(r->serial_before));
        r->revoked = get_bool(top, "revoked");
    }
    return MYR_OK;
}

/* A role that is not known is none, and may nothing. */
static int read_token(struct server *server, const char *digest, const struct myr_doc *top,
                      bool enrol)
{
    struct token_row token = {};
    char role[16] = "";
    snprintf(token.digest, sizeof(token.digest), "%s", digest);
    get_text(top, "user", token.user, sizeof(token.user));
    get_text(top, "unix_user", token.unix_user, sizeof(token.unix_user));
    get_text(top, "role", role, sizeof(role));
    token.relay = get_bool(top, "relay");
    for (int i = 0; i < ROLE_COUNT; i++) {
        token.role = strcmp(role, role_names[i]) == 0 ? (enum role)i : token.role;
    }
    if (enrol) {
        myr_vec_push(&server->rows.enrols, token);
    } else {
        myr_vec_push(&server->rows.tokens, token);
    }
    return MYR_OK;
}

/* A row that is no JSON ends the start: the store is damaged, and a part of it would not do. */
static int read_row(void *context, const char *key, struct myr_str value, struct myr_err *err)
{
    struct server *server = context;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    const struct myr_doc *top;
    MYR_ASSERT(strchr(key, '/'));
    /* Every prefix that is scanned ends with a slash. */
    const char *name = strchr(key, '/') + 1;
    /* The key is the name of the text in messages. */
    MYR_TRY(myr_doc_read_json(&arena, key, value, &top, err));
    /* By the first letters of the prefixes below; "token" and "tenant" differ in the second. */
    return key[0] == 'n'   ? read_node(server, name, top, err)
           : key[0] == 'j' ? read_job(server, name, top, err)
           : key[0] == 'r' ? read_relay(server, name, top)
           : key[0] == 'e' ? read_token(server, name, top, true)
           : key[1] == 'e' ? read_tenant(server, name, top, err)
                           : read_token(server, name, top, false);
}

/* Nodes before all: jobs name them by number. */
int rows_load(struct server *server, struct myr_err *err)
{
    static const char *const prefixes[] = {"node/",  "job/",   "tenant/",
                                           "token/", "enrol/", "relay/"};
    const struct config *config = &server->config;
    struct rows *rows = &server->rows;
    MYR_ASSERT(!rows->nodes && rows->jobs.count == 0 && config->node_count > 0);
    /* Rows of nodes that the store does not know yet are empty. */
    rows->node_count = config->node_count;
    rows->nodes = myr_xcalloc(config->node_count, sizeof(*rows->nodes));
    for (uint32_t i = 0; i < config->node_count; i++) {
        rows->nodes[i].name = config->names[i];
        /* The map borrows the name, which lives as long as the configuration. */
        bool fresh = myr_strmap_add(&rows->node_ids, myr_str_from(config->names[i]), i);
        MYR_ASSERT(fresh); /* names_expand() gives none twice */
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(prefixes); i++) {
        MYR_TRY(store_scan(server->store, prefixes[i], read_row, server, err));
    }
    return MYR_OK;
}

void rows_done(struct rows *rows)
{
    for (size_t i = 0; i < rows->jobs.count; i++) {
        free_job(rows->jobs.items[i]);
    }
    myr_vec_done(&rows->jobs);
    myr_u64map_done(&rows->job_ids);
    myr_vec_done(&rows->tenants);
    myr_vec_done(&rows->tokens);
    myr_vec_done(&rows->enrols);
    myr_vec_done(&rows->relays);
    myr_strmap_done(&rows->node_ids);
    free(rows->nodes);
}
