#include "myriad/text.h"
#include "myriad/text/kind.h"
#include "orders/orders.h"

/*
 * What is kept from run to run: a row for each fault, by the names that the design gives its two
 * ends, with the run in which it was first seen. A fault that nobody sees any more is not mended:
 * it stays in the list until somebody looks.
 */

/* The file is ours, but a person may hand over another one. */
enum { STATE_BYTES_MAX = 256 << 20, COLUMNS = 7 };

static const char *const heads[COLUMNS] = {"kind",      "device", "port",     "peer_device",
                                           "peer_port", "state",  "since_run"};
static const char rogue_word[] = "rogue";

/* Unknown is neither: a fault stays open, and nothing new is reported. */
enum verdict { IS_RIGHT, IS_BAD, IS_UNKNOWN };

struct keeper {
    struct myr_orders *orders;
    const struct myr_verify *verify;
    const struct myr_design *design;
    uint32_t *since;          /* by vertex of the fabric; 0: not a fault, or a new one */
    struct myr_strmap rogues; /* names of both ends, to the list of old ones */
    struct myr_bitset absent; /* devices that no source knows */
    MYR_VEC(struct myr_site_fault) open, fresh, mended, unseen, old_rogues;
};

/* States that an order can mend. */
static bool is_bad(uint32_t state)
{
    return state == MYR_STATE_WRONG || state == MYR_STATE_MISSING || state == MYR_STATE_DEGRADED ||
           state == MYR_STATE_EXTRA;
}

/* States in which nobody has looked. */
static bool is_open(uint32_t state)
{
    return state == MYR_STATE_UNSEEN || state == MYR_STATE_UNREAD;
}

/* A planned link by both of its ends; a port without a plan by itself. */
static enum verdict verdict_of(const struct keeper *k, uint32_t port)
{
    uint32_t peer = myr_design_peer(k->design, port);
    uint32_t here = k->verify->state[port];
    uint32_t there = peer == MYR_NONE ? here : k->verify->state[peer];
    if (is_bad(here) || is_bad(there)) {
        return IS_BAD;
    }
    if (is_open(here) || is_open(there)) {
        return IS_UNKNOWN;
    }
    /* Idle means that no cable was found; on a device that no source tells of it means nothing. */
    bool nobody =
        here == MYR_STATE_IDLE && myr_bitset_has(&k->absent, k->design->port_device[port]);
    return nobody ? IS_UNKNOWN : IS_RIGHT;
}

static struct myr_str kept(struct myr_orders *orders, const struct myr_buf *buf)
{
    return (struct myr_str){myr_arena_strndup(orders->arena, buf->len ? buf->data : "", buf->len),
                            buf->len};
}

/* Names live in the arena: lists outlast the keeper. */
static void name_end(struct myr_orders *orders, uint32_t vertex, struct myr_str *device,
                     struct myr_str *port)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (vertex == MYR_NONE) {
        *device = *port = MYR_STR("");
        return;
    }
    order_put_device(orders, vertex, &text);
    *device = kept(orders, &text);
    myr_buf_clear(&text);
    order_put_port(orders, vertex, &text);
    *port = kept(orders, &text);
}

/* New, as far as it is known here: callers put an older run in. */
static struct myr_site_fault fault_at(const struct keeper *k, uint32_t vertex, uint32_t peer,
                                      uint32_t state)
{
    struct myr_site_fault fault = {.state = state, .since = k->orders->run};
    name_end(k->orders, vertex, &fault.device, &fault.port);
    name_end(k->orders, peer, &fault.peer_device, &fault.peer_port);
    return fault;
}

/* Line breaks are in no name, so that different ends have different keys. */
static struct myr_str rogue_key(struct myr_arena *arena, const struct myr_site_fault *fault)
{
    return myr_str_from(myr_arena_printf(arena, "%.*s\n%.*s\n%.*s\n%.*s", (int)fault->device.len,
                                         fault->device.data, (int)fault->port.len, fault->port.data,
                                         (int)fault->peer_device.len, fault->peer_device.data,
                                         (int)fault->peer_port.len, fault->peer_port.data));
}

/* A fault of this run is open and new. */
static void push_open(struct keeper *k, const struct myr_site_fault *fault)
{
    MYR_ASSERT(fault->since > 0 && fault->since <= k->orders->run);
    myr_vec_push(&k->open, *fault);
    if (fault->since == k->orders->run) {
        myr_vec_push(&k->fresh, *fault);
    }
}

/* A link of the plan once, where its first port is; the worse of its two states. */
static void collect_open(struct keeper *k)
{
    const struct myr_verify *verify = k->verify;
    for (uint32_t p = 0; p < k->design->port_count; p++) {
        uint32_t peer = myr_design_peer(k->design, p);
        bool second = peer != MYR_NONE && peer < p;
        if (second || verdict_of(k, p) != IS_BAD) {
            continue;
        }
        /* Where only the other end is bad, its state is told. */
        uint32_t state = is_bad(verify->state[p]) ? verify->state[p] : verify->state[peer];
        struct myr_site_fault fault = fault_at(k, p, peer, state);
        fault.since = k->since[p] ? k->since[p] : k->orders->run;
        k->since[p] = fault.since;
        if (peer != MYR_NONE) {
            k->since[peer] = fault.since;
        }
        push_open(k, &fault);
    }
    /*
     * Cables between ends outside of the plan: both ends are foreign, and each cable is met once.
     */
    for (uint32_t v = k->design->port_count; v < verify->vertex_count; v++) {
        uint32_t other = verify->found[v];
        if (other == MYR_NONE || other < v) {
            continue;
        }
        struct myr_site_fault fault = fault_at(k, v, other, MYR_STATE_COUNT);
        uint32_t old = myr_strmap_get(&k->rogues, rogue_key(k->orders->arena, &fault));
        if (old != MYR_MAP_NONE) {
            fault.since = k->old_rogues.items[old].since;
            k->old_rogues.items[old].state = MYR_STATE_IDLE; /* still there */
        }
        k->since[v] = k->since[other] = fault.since;
        push_open(k, &fault);
    }
}

/* Cables that the plan does not use, and that nobody tells of now. */
static void weigh_rogues(struct keeper *k)
{
    for (size_t i = 0; i < k->old_rogues.count; i++) {
        const struct myr_site_fault *fault = &k->old_rogues.items[i];
        uint32_t device = myr_site_find(k->design, fault->device);
        if (fault->state != MYR_STATE_COUNT) {
            continue;
        }
        /* Taken out, or only not looked at: only a device that still answers proves the first. */
        if (device != MYR_NONE && myr_bitset_has(&k->absent, device)) {
            myr_vec_push(&k->unseen, *fault);
        } else {
            myr_vec_push(&k->mended, *fault);
        }
    }
}

static struct myr_faults kept_list(struct myr_orders *orders, const struct myr_site_fault *items,
                                   size_t count)
{
    struct myr_faults list = {MYR_ARENA_NEW(orders->arena, struct myr_site_fault, count),
                              (uint32_t)count};
    if (count) {
        memcpy(list.items, items, count * sizeof(*items));
    }
    return list;
}

/* An order is as old as the oldest fault that it mends. */
static void date_orders(const struct keeper *k)
{
    for (uint32_t i = 0; i < k->orders->count; i++) {
        struct myr_work_order *order = &k->orders->items[i];
        order->since = k->orders->run;
        for (uint32_t p = 0; p < order->plug_count; p++) {
            const struct myr_plug *plug = &order->plugs[p];
            /* Any port that the order touches may be the fault's. */
            const uint32_t ends[] = {plug->at, plug->to, plug->far};
            for (uint32_t e = 0; e < MYR_ARRAY_COUNT(ends); e++) {
                uint32_t since = ends[e] < k->verify->vertex_count ? k->since[ends[e]] : 0;
                order->since = since && since < order->since ? since : order->since;
            }
        }
    }
}

/* Everything is a new fault until an older run is read. */
static void keeper_init(struct keeper *k, struct myr_orders *orders)
{
    const struct myr_verify *verify = orders->verify;
    const struct myr_coverage *cover = &verify->coverage;
    *k = (struct keeper){.orders = orders, .verify = verify, .design = verify->design};
    k->since = MYR_ARENA_NEW(orders->arena, uint32_t, verify->vertex_count);
    myr_bitset_init(&k->absent, orders->arena, k->design->device_count);
    for (uint32_t i = 0; i < cover->absent_count; i++) {
        myr_bitset_add(&k->absent, cover->absent[i]);
    }
}

static void keeper_done(struct keeper *k)
{
    myr_strmap_done(&k->rogues);
    myr_vec_done(&k->open);
    myr_vec_done(&k->fresh);
    myr_vec_done(&k->mended);
    myr_vec_done(&k->unseen);
    myr_vec_done(&k->old_rogues);
}

/* Orders get their dates last, from the faults that they mend. */
static void finish(struct keeper *k)
{
    struct myr_orders *orders = k->orders;
    collect_open(k);
    weigh_rogues(k);
    orders->open = kept_list(orders, k->open.items, k->open.count);
    orders->fresh = kept_list(orders, k->fresh.items, k->fresh.count);
    orders->mended = kept_list(orders, k->mended.items, k->mended.count);
    orders->unseen = kept_list(orders, k->unseen.items, k->unseen.count);
    date_orders(k);
}

void order_faults(struct myr_orders *orders)
{
    MYR_CLEANUP(keeper_done) struct keeper k;
    keeper_init(&k, orders);
    finish(&k);
}

/* What became of a fault of the run before. */
static void weigh(struct keeper *k, const struct myr_site_fault *fault)
{
    uint32_t device = myr_design_find(k->design, fault->device);
    uint32_t port =
        device == MYR_NONE ? MYR_NONE : myr_site_find_port(k->design, device, fault->port);
    if (port == MYR_NONE) {
        k->orders->gone++;
        return;
    }
    /*
     * The run is kept where collect_open() asks: at the first port of the link. MYR_NONE, for no
     * peer, is higher than any port.
     */
    uint32_t peer = myr_design_peer(k->design, port);
    switch (verdict_of(k, port)) {
    case IS_BAD:
        k->since[port < peer ? port : peer] = fault->since;
        break;
    case IS_UNKNOWN:
        myr_vec_push(&k->unseen, *fault);
        break;
    case IS_RIGHT:
        myr_vec_push(&k->mended, *fault);
        break;
    }
}

/* Only states that a fault can have. */
static int read_state(const struct myr_csv *csv, uint32_t *ret, struct myr_err *err)
{
    if (myr_str_eq(csv->fields[5], MYR_STR(rogue_word))) {
        *ret = MYR_STATE_COUNT;
        return MYR_OK;
    }
    for (*ret = MYR_STATE_WRONG; *ret < MYR_STATE_COUNT; ++*ret) {
        if (is_bad(*ret) && myr_str_eq(csv->fields[5], myr_str_from(myr_port_state_names[*ret]))) {
            return MYR_OK;
        }
    }
    char word[MYR_EXCERPT_MAX];
    return myr_csv_error(err, csv, 5,
                         "'%s' is no state; wrong, missing, extra, degraded or rogue is expected",
                         myr_text_excerpt(csv->fields[5], word));
}

static int read_run(const struct myr_csv *csv, uint32_t max, uint32_t *ret, struct myr_err *err)
{
    uint64_t value;
    if (!myr_str_to_u64(csv->fields[6], &value) || value == 0 || value > max) {
        return myr_csv_error(err, csv, 6, "a number of a run from 1 to %u is expected", max);
    }
    *ret = (uint32_t)value;
    return MYR_OK;
}

static int read_fault(struct keeper *k, const struct myr_csv *csv, struct myr_err *err)
{
    struct myr_site_fault fault = {.device = csv->fields[1],
                                   .port = csv->fields[2],
                                   .peer_device = csv->fields[3],
                                   .peer_port = csv->fields[4]};
    if (!myr_str_eq(csv->fields[0], MYR_STR("fault"))) {
        return myr_csv_error(err, csv, 0, "a row of the kind 'fault' is expected");
    }
    MYR_TRY(read_state(csv, &fault.state, err));
    /* A fault is from an earlier run than this one. */
    MYR_TRY(read_run(csv, k->orders->run - 1, &fault.since, err));
    /* A port of the design is asked at once; other cables wait for all of this run's. */
    if (fault.state != MYR_STATE_COUNT) {
        weigh(k, &fault);
        return MYR_OK;
    }
    struct myr_str key = rogue_key(k->orders->arena, &fault);
    /* The same cable twice in a file counts once. */
    if (myr_strmap_add(&k->rogues, key, (uint32_t)k->old_rogues.count)) {
        myr_vec_push(&k->old_rogues, fault);
    }
    return MYR_OK;
}

/* The header tells the file from any other list, the second row the design and the run. */
static int read_head(struct keeper *k, struct myr_csv *csv, struct myr_err *err)
{
    enum { RUNS_MAX = 1000000 };
    const char *name = myr_design_str(k->design, k->design->head->name);
    char word[MYR_EXCERPT_MAX];
    int rc = myr_csv_next(csv, err);
    for (uint32_t i = 0; rc > 0 && i < COLUMNS; i++) {
        if (csv->count != COLUMNS || !myr_str_eq(csv->fields[i], myr_str_from(heads[i]))) {
            return myr_csv_error(err, csv, i < csv->count ? i : 0,
                                 "this is not the state of work orders: it begins with "
                                 "'kind,device,port'");
        }
    }
    /* The row of the run follows the header. */
    if (rc > 0) {
        rc = myr_csv_next(csv, err);
    }
    if (rc == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s: the state of work orders ends early", csv->file);
    }
    if (rc < 0) {
        return rc;
    }
    if (csv->count != COLUMNS || !myr_str_eq(csv->fields[0], MYR_STR("run"))) {
        return myr_csv_error(err, csv, 0, "the row of the run is expected first");
    }
    if (!myr_str_eq(csv->fields[1], myr_str_from(name))) {
        return myr_csv_error(err, csv, 1, "this state is of the design '%s', not of '%s'",
                             myr_text_excerpt(csv->fields[1], word), name);
    }
    MYR_TRY(read_run(csv, RUNS_MAX, &k->orders->run, err));
    k->orders->run++;
    return MYR_OK;
}

/* Faults of the run before are weighed as they are read, then this run's are collected. */
int myr_orders_since_text(struct myr_orders *orders, const char *file, struct myr_str text,
                          struct myr_err *err)
{
    MYR_CLEANUP(keeper_done) struct keeper k;
    struct myr_csv csv;
    keeper_init(&k, orders);
    myr_csv_init(&csv, orders->arena, file, text);
    MYR_TRY(read_head(&k, &csv, err));
    for (;;) {
        int rc = myr_csv_next(&csv, err);
        if (rc < 0) {
            return rc;
        }
        if (rc == 0) {
            break;
        }
        if (csv.count != COLUMNS) {
            return myr_csv_error(err, &csv, 0, "%u columns, %u are expected", csv.count,
                                 (uint32_t)COLUMNS);
        }
        MYR_TRY(read_fault(&k, &csv, err));
    }
    finish(&k);
    return MYR_OK;
}

int myr_orders_since(struct myr_orders *orders, const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_kind_read(path, STATE_BYTES_MAX, MYR_KINDS_CSV | MYR_KIND_BIT(EMPTY),
                          "what verify orders wrote with --state", &text, err));
    /* Names in the lists of faults are borrowed from the text. */
    char *kept_text = myr_arena_strndup(orders->arena, text.len ? text.data : "", text.len);
    return myr_orders_since_text(orders, myr_file_name(path), (struct myr_str){kept_text, text.len},
                                 err);
}

static void put_faults(struct myr_buf *buf, const struct myr_faults *faults)
{
    for (uint32_t i = 0; i < faults->count; i++) {
        const struct myr_site_fault *fault = &faults->items[i];
        const struct myr_str cells[] = {fault->device, fault->port, fault->peer_device,
                                        fault->peer_port};
        myr_buf_put_lit(buf, "fault");
        for (uint32_t c = 0; c < MYR_ARRAY_COUNT(cells); c++) {
            myr_buf_putc(buf, ',');
            myr_csv_put(buf, cells[c]);
        }
        myr_buf_printf(buf, ",%s,%u\n",
                       fault->state == MYR_STATE_COUNT ? rogue_word
                                                       : myr_port_state_names[fault->state],
                       fault->since);
    }
}

/* Mended faults are forgotten; those not seen go on to the next run. */
void myr_orders_state(const struct myr_orders *orders, struct myr_buf *buf)
{
    for (uint32_t i = 0; i < COLUMNS; i++) {
        myr_buf_printf(buf, "%s%s", i ? "," : "", heads[i]);
    }
    myr_buf_put_lit(buf, "\nrun,");
    const struct myr_design *design = orders->verify->design;
    myr_csv_put(buf, myr_str_from(myr_design_str(design, design->head->name)));
    myr_buf_printf(buf, ",,,,,%u\n", orders->run);
    put_faults(buf, &orders->open);
    put_faults(buf, &orders->unseen);
}
