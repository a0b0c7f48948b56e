/*
 * rows: what the core does not know. Each row is a small JSON object in the store, so that a person
 * can read it with sqlite3 and a newer program can add to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myriad/server/records.h"
#include "server.h"

const char *const role_names[ROLE_COUNT] = {"none", "viewer", "user", "operator", "admin"};

static const struct myr_row node_rows[] = {
#define MYR_FIELDS "rec/node.rec"
#define MYR_OF     struct node_row
#include "myriad/record/rows.def"
};
static const struct myr_row job_rows[] = {
#define MYR_FIELDS "rec/job.rec"
#define MYR_OF     struct job_row
#include "myriad/record/rows.def"
};
struct job_end {
#define MYR_FIELDS "rec/job_end.rec"
#include "myriad/record/members.def"
};
static const struct myr_row end_rows[] = {
#define MYR_FIELDS "rec/job_end.rec"
#define MYR_OF     struct job_end
#include "myriad/record/rows.def"
};
static const struct myr_row tenant_rows[] = {
#define MYR_FIELDS "rec/tenant.rec"
#define MYR_OF     struct tenant_row
#include "myriad/record/rows.def"
};
static const struct myr_row token_rows[] = {
#define MYR_FIELDS "rec/token.rec"
#define MYR_OF     struct token_row
#include "myriad/record/rows.def"
};
static const struct myr_row relay_rows[] = {
#define MYR_FIELDS "rec/relay.rec"
#define MYR_OF     struct relay_row
#include "myriad/record/rows.def"
};
const struct myr_record rows_records[ROWS_RECORDS] = {
    [ROWS_NODE] = MYR_RECORD("node", struct node_row, node_rows, "a node of the store"),
    [ROWS_JOB] = MYR_RECORD("job", struct job_row, job_rows, "a job of the store"),
    [ROWS_JOB_END] = MYR_RECORD("job_end", struct job_end, end_rows, "a job of the store"),
    [ROWS_TENANT] = MYR_RECORD("tenant", struct tenant_row, tenant_rows, "a tenant of the store"),
    [ROWS_TOKEN] = MYR_RECORD("token", struct token_row, token_rows, "a token of the store"),
    [ROWS_RELAY] = MYR_RECORD("relay", struct relay_row, relay_rows, "a relay of the store"),
};

const struct myr_record *const myr_server_kept[] = {&rows_records[ROWS_NODE],
                                                    &rows_records[ROWS_JOB],
                                                    &rows_records[ROWS_JOB_END],
                                                    &rows_records[ROWS_TENANT],
                                                    &rows_records[ROWS_TOKEN],
                                                    &rows_records[ROWS_RELAY],
                                                    NULL};

/* One object on its way into the store. */
struct row {
    struct myr_json json;
    struct myr_buf text;
};

static void row_begin(struct row *row, enum rows_record record, const void *self)
{
    *row = (struct row){};
    myr_json_init(&row->json, &row->text, MYR_JSON_COMPACT);
    myr_json_object(&row->json, NULL);
    myr_record_write(&rows_records[record], self, &row->json);
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
    row_begin(&row, ROWS_NODE, n);
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
    const struct job_end end = {.state = myr_control_job_state_name(last->state),
                                .gpus = last->spec.gpus,
                                .gpus_min = last->spec.gpus_min,
                                .priority = last->spec.priority,
                                .epoch = last->epoch,
                                .failures = last->failures,
                                .step = last->step,
                                .saved_step = last->saved_step};
    myr_record_write(&rows_records[ROWS_JOB_END], &end, json);
}

/* With its file, which agents get with the order, and which nobody else keeps. */
void rows_put_job(struct server *server, uint32_t job)
{
    MYR_ASSERT(job < server->rows.jobs.count);
    const struct job_row *j = server->rows.jobs.items[job];
    struct row row;
    MYR_ASSERT(j && j->file); /* without its file it could not be read again */
    MYR_ASSERT((j->where || j->where_count == 0) && (j->past || j->past_count == 0));
    row_begin(&row, ROWS_JOB, j);
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
        free((char *)job->file);
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
    struct tenant_row t = server->rows.tenants.items[tenant];
    struct row row;
    t.id = tenant;
    /* Up to now: what runs goes on from here after a restart. */
    t.gpu_ms = rows_gpu_ms(&t, core_ms(server));
    row_begin(&row, ROWS_TENANT, &t);
    row_put(server, &row, "tenant/%s", t.name);
}

/* The digest is the key; the secret is nowhere. */
void rows_put_token(struct server *server, const struct token_row *token, bool enrol)
{
    struct row row;
    MYR_ASSERT(token->role < ROLE_COUNT);
    MYR_ASSERT(token->digest[0]); /* it is the key */
    row_begin(&row, ROWS_TOKEN, token);
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
    row_begin(&row, ROWS_RELAY, r);
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

/* What is missing is as it was before there was such a key: older rows are understood. */
static int row_read(enum rows_record record, const struct myr_doc *top, struct myr_arena *arena,
                    void *ret, struct myr_err *err)
{
    const struct myr_reading how = {.arena = arena, .stored = true};
    return myr_record_read(&rows_records[record], top, &how, ret, err);
}

static int read_node(struct server *server, const char *name, const struct myr_doc *top,
                     struct myr_arena *arena, struct myr_err *err)
{
    uint32_t id = rows_node(server, name);
    struct node_row node;
    if (id == MYR_NONE) {
        return MYR_OK; /* no longer in the list of nodes */
    }
    MYR_TRY(row_read(ROWS_NODE, top, arena, &node, err));
    node.name = server->rows.nodes[id].name;
    MYR_ASSERT(!server->rows.nodes[id].session); /* rows are there before anybody comes */
    server->rows.nodes[id] = node;
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
static int read_end(const struct myr_doc *top, struct myr_arena *arena, struct myr_control_job *ret,
                    struct myr_err *err)
{
    struct job_end end;
    MYR_TRY(row_read(ROWS_JOB_END, top, arena, &end, err));
    if (!end.state) {
        return MYR_OK;
    }
    for (int i = MYR_CONTROL_DONE; i < MYR_CONTROL_JOB_STATES; i++) {
        const char *name = myr_control_job_state_name((enum myr_control_job_state)i);
        ret->state = strcmp(end.state, name) == 0 ? (enum myr_control_job_state)i : ret->state;
    }
    ret->spec.gpus = end.gpus;
    ret->spec.gpus_min = end.gpus_min;
    ret->spec.priority = end.priority;
    ret->epoch = end.epoch;
    ret->failures = end.failures;
    ret->step = end.step;
    ret->saved_step = end.saved_step;
    return MYR_OK;
}

/* A job without its file could not be started again: such a store is damaged. */
static int read_job(struct server *server, const char *name, const struct myr_doc *top,
                    struct myr_arena *arena, struct myr_err *err)
{
    uint64_t id;
    struct job_row row;
    if (!myr_str_to_u64(myr_str_from(name), &id) || id >= UINT32_MAX || !myr_doc_get(top, "file")) {
        return myr_err_set(err, MYR_ECORRUPT, "a job of the store has no number or no file");
    }
    /* Jobs come in the order of their numbers. */
    MYR_TRY(take_number(&server->rows, id, err));
    MYR_TRY(row_read(ROWS_JOB, top, arena, &row, err));
    MYR_TRY(read_end(top, arena, &row.last, err));
    MYR_ASSERT(id < server->rows.jobs.count && !server->rows.jobs.items[id]);
    struct job_row *j = myr_xcalloc(1, sizeof(*j));
    *j = row;
    server->rows.jobs.items[id] = j;
    /* A file has no NUL in it: it was checked when it was submitted. */
    j->file = strdup(row.file);
    j->state = (uint8_t)j->last.state; /* of one that goes on the core knows better */
    (void)myr_u64map_add(&server->rows.job_ids, j->token, (uint32_t)id);
    get_where(server, myr_doc_get(top, "where"), &j->where, &j->where_count);
    get_where(server, myr_doc_get(top, "past"), &j->past, &j->past_count);
    return MYR_OK;
}

/* Tenants come by name here, and the core knows them by number: each gets its place again. */
static int read_tenant(struct server *server, const char *name, const struct myr_doc *top,
                       struct myr_arena *arena, struct myr_err *err)
{
    struct tenant_row t;
    MYR_TRY(row_read(ROWS_TENANT, top, arena, &t, err));
    while (server->rows.tenants.count <= t.id) {
        myr_vec_push(&server->rows.tenants, (struct tenant_row){.weight = 1});
    }
    MYR_ASSERT(server->rows.tenants.count <= SERVER_TENANTS);
    snprintf(t.name, sizeof(t.name), "%s", name);
    /* What runs is counted anew by learn_states(); the time in between is not charged. */
    t.since_ms = core_ms(server);
    server->rows.tenants.items[t.id] = t;
    return MYR_OK;
}

/* One beyond the limit is forgotten: it would be refused as well. */
static int read_relay(struct server *server, const char *name, const struct myr_doc *top,
                      struct myr_arena *arena, struct myr_err *err)
{
    struct relay_row r;
    uint32_t id = rows_relay(server, name, true);
    MYR_TRY(row_read(ROWS_RELAY, top, arena, &r, err));
    if (id != MYR_NONE) {
        snprintf(r.name, sizeof(r.name), "%s", server->rows.relays.items[id].name);
        server->rows.relays.items[id] = r;
    }
    return MYR_OK;
}

/* A role that is not known is none, and may nothing. */
static int read_token(struct server *server, const char *digest, const struct myr_doc *top,
                      struct myr_arena *arena, struct myr_err *err)
{
    struct token_row token;
    MYR_TRY(row_read(ROWS_TOKEN, top, arena, &token, err));
    snprintf(token.digest, sizeof(token.digest), "%s", digest);
    if (top->file[0] == 'e') { /* the key, which begins with "enrol/" or "token/" */
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
    return key[0] == 'n'   ? read_node(server, name, top, &arena, err)
           : key[0] == 'j' ? read_job(server, name, top, &arena, err)
           : key[0] == 'r' ? read_relay(server, name, top, &arena, err)
           : key[1] == 'e' ? read_tenant(server, name, top, &arena, err)
                           : read_token(server, name, top, &arena, err);
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
