#include "orders/orders.h"

#include <stdlib.h>

#include "repair/repair.h"

const char *const myr_order_op_names[MYR_ORDER_OPS] = {"swap", "move", "add", "remove", "inspect"};

/*
 * Chains of the repair, and links to look at, become blocks: what shares a cage, or waits for the
 * head of a splitter, is one block and one crew's. Blocks keep the order of walking, and crews get
 * neighbouring ones, so that each walks through a part of the room.
 */

struct piece {             /* a chain of steps, or one link to look at */
    uint32_t first, count; /* steps; of a link: its port, and 0 */
    bool head;             /* a splitter's head is moved */
    uint64_t walk_key;     /* order of walking; the last for places not known */
    uint32_t port;         /* where it begins */
    uint32_t block;        /* union of sets */
    uint32_t next;         /* the next piece of the same block, from 1; 0: the last one */
    uint32_t tail;         /* of a root: the last piece of its block so far */
};

struct maker {
    struct myr_orders *orders;
    const struct myr_verify *verify;
    const struct myr_design *design;
    MYR_VEC(struct piece) pieces;
    struct myr_u64map cages; /* device and cage to piece */
    uint32_t *headed;        /* by port: a piece that moves its connector, from 1; NULL: none */
};

/* Halves the way to the root as it goes, so that later questions are short. */
static uint32_t root_of(struct maker *m, uint32_t piece)
{
    struct piece *pieces = m->pieces.items;
    while (pieces[piece].block != piece) {
        pieces[piece].block = pieces[pieces[piece].block].block;
        piece = pieces[piece].block;
    }
    return piece;
}

/* The lower number stays the root, so that a block's root is the first of its pieces. */
static void join(struct maker *m, uint32_t a, uint32_t b)
{
    uint32_t root_a = root_of(m, a), root_b = root_of(m, b);
    uint32_t low = root_a < root_b ? root_a : root_b;
    m->pieces.items[root_a].block = low;
    m->pieces.items[root_b].block = low;
}

/* Two crews must not work in one cage at the same time. */
static void join_cage(struct maker *m, uint32_t piece, uint32_t vertex)
{
    if (vertex >= m->design->port_count) {
        return; /* none, or not of the design */
    }
    uint64_t key =
        (uint64_t)m->design->port_device[vertex] << 32 | myr_design_port_cage(m->design, vertex);
    if (!myr_u64map_add(&m->cages, key, piece)) {
        join(m, piece, *myr_u64map_find(&m->cages, key));
    }
}

static void add_piece(struct maker *m, struct piece piece)
{
    bool known = piece.port < m->design->port_count;
    uint32_t device = known ? m->design->port_device[piece.port] : 0;
    piece.walk_key = known ? repair_walk_key(m->design, device) : UINT64_MAX;
    piece.block = (uint32_t)m->pieces.count;
    myr_vec_push(&m->pieces, piece);
}

/*
 * Steps of one component stand together in the repair. A degraded link is one piece, at its lower
 * port.
 */
static void collect_pieces(struct maker *m)
{
    const struct myr_repair *repair = &m->verify->repair;
    for (uint32_t i = 0; i < repair->step_count;) {
        uint32_t first = i;
        while (i < repair->step_count &&
               repair->steps[i].component == repair->steps[first].component) {
            i++;
        }
        const struct myr_repair_step *step = &repair->steps[first];
        /* A plug in a port outside of the design is walked to by where it goes. */
        bool known = step->at < m->design->port_count;
        add_piece(m, (struct piece){.first = first,
                                    .count = i - first,
                                    .head = step->legs > 1,
                                    .port = known ? step->at : step->to});
    }
    for (uint32_t p = 0; p < m->design->port_count; p++) {
        if (m->verify->state[p] == MYR_STATE_DEGRADED && p < m->verify->found[p]) {
            add_piece(m, (struct piece){.first = p, .port = p});
        }
    }
}

/* Heads first, then by the way through the room; equal ones by port. */
static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->head != b->head) {
        return a->head ? -1 : 1;
    }
    if (a->head) { /* in the order of the repair: one may make room for the next */
        return a->first < b->first ? -1 : 1;
    }
    if (a->walk_key != b->walk_key) {
        return a->walk_key < b->walk_key ? -1 : 1;
    }
    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Whoever needs a port that a splitter's head is moved from or to comes after that head. */
static void mark_head(struct maker *m, uint32_t piece)
{
    const struct myr_repair_step *step = &m->verify->repair.steps[m->pieces.items[piece].first];
    const uint32_t connectors[] = {step->at, step->to};
    for (uint32_t c = 0; c < 2; c++) {
        for (uint32_t i = 0; i < step->legs && connectors[c] + i < m->design->port_count; i++) {
            uint32_t port = connectors[c] + i, far = m->verify->found[port];
            /* The connector's own ports, and those at the other ends of its legs. */
            m->headed[port] = piece + 1;
            if (far < m->design->port_count) {
                m->headed[far] = piece + 1;
            }
        }
    }
}

/* In sorted order, so that blocks are joined the same way every time. */
static void join_pieces(struct maker *m)
{
    for (uint32_t i = 0; i < m->pieces.count; i++) {
        const struct piece piece = m->pieces.items[i];
        join_cage(m, i, piece.count ? MYR_NONE : piece.first);
        if (piece.head) {
            mark_head(m, i);
            join(m, i, 0); /* heads are done one after the other */
        }
        for (uint32_t s = 0; s < piece.count; s++) {
            const struct myr_repair_step *step = &m->verify->repair.steps[piece.first + s];
            /* Also at their other ends: a head that moves takes those along. */
            const uint32_t ends[] = {step->at, step->to, step->far_at, step->far_to};
            join_cage(m, i, step->at);
            join_cage(m, i, step->to);
            for (uint32_t e = 0; e < MYR_ARRAY_COUNT(ends) && !piece.head; e++) {
                if (ends[e] < m->design->port_count && m->headed[ends[e]]) {
                    join(m, i, m->headed[ends[e]] - 1);
                }
            }
        }
    }
}

/* The plan's cable at the other end of a plug. */
static struct myr_plug plug_of(const struct maker *m, uint32_t at, uint32_t to, uint32_t far)
{
    struct myr_plug plug = {at, to, far, MYR_NONE};
    uint32_t link = far < m->design->port_count ? m->design->port_link[far] : MYR_NONE;
    plug.cable = link == MYR_NONE ? MYR_NONE : m->design->link_cable[link];
    return plug;
}

/* 'far' of each plug is where its cable leads, which is how a person finds it. */
static void order_of_step(const struct maker *m, const struct myr_repair_step *step,
                          struct myr_work_order *ret)
{
    ret->legs = step->legs;
    ret->check_first = step->unseen;
    ret->plug_count = 1;
    switch ((enum myr_repair_op)step->op) {
    case MYR_REPAIR_SWAP:
        ret->op = MYR_ORDER_SWAP;
        ret->plug_count = 2;
        ret->plugs[0] = plug_of(m, step->at, step->to, step->far_at);
        ret->plugs[1] = plug_of(m, step->to, step->at, step->far_to);
        break;
    case MYR_REPAIR_MOVE:
        ret->op = MYR_ORDER_MOVE;
        ret->plugs[0] = plug_of(m, step->at, step->to, step->far_at);
        break;
    case MYR_REPAIR_ADD:
        ret->op = MYR_ORDER_ADD;
        ret->plugs[0] = plug_of(m, MYR_NONE, step->at, step->to);
        break;
    case MYR_REPAIR_REMOVE:
    case MYR_REPAIR_OP_COUNT:
        ret->op = MYR_ORDER_REMOVE;
        ret->plugs[0] = plug_of(m, step->at, MYR_NONE, step->to);
        ret->plugs[0].cable = MYR_NONE; /* nothing of the plan */
        break;
    }
}

/* A visit goes on while the next order is in a cage that the last one was in. */
static bool same_cage(const struct myr_design *design, uint32_t a, uint32_t b)
{
    return a < design->port_count && b < design->port_count &&
           design->port_device[a] == design->port_device[b] &&
           myr_design_port_cage(design, a) == myr_design_port_cage(design, b);
}

static bool goes_on(const struct myr_design *design, const struct myr_work_order *before,
                    const struct myr_work_order *order)
{
    const struct myr_plug *a = &before->plugs[0], *b = &order->plugs[0];
    return same_cage(design, a->at, b->at) || same_cage(design, a->at, b->to) ||
           same_cage(design, a->to, b->at) || same_cage(design, a->to, b->to);
}

/* A piece without steps is a link to look at: one order. */
static uint32_t orders_in(const struct piece *piece)
{
    return piece->count ? piece->count : 1;
}

/* The orders of one piece, behind all that there are. 'head' is the last order of a head before. */
static void put_piece(struct maker *m, const struct piece *piece, uint32_t crew, uint32_t head)
{
    struct myr_orders *orders = m->orders;
    /* Orders of a piece depend on each other in turn; the first one on the head before it. */
    uint32_t last = head;
    for (uint32_t i = 0; i < orders_in(piece); i++) {
        struct myr_work_order *order = &orders->items[orders->count];
        order->crew = crew;
        if (piece->count) {
            order_of_step(m, &m->verify->repair.steps[piece->first + i], order);
        } else {
            order->op = MYR_ORDER_INSPECT;
            order->plug_count = 1;
            order->plugs[0] =
                plug_of(m, piece->first, piece->first, m->verify->found[piece->first]);
            order->why =
                m->verify->why[piece->first] | m->verify->why[m->verify->found[piece->first]];
            /* Looking at a link waits for nobody. */
            last = 0;
        }
        /* Walks are counted by crew. */
        bool first = orders->count == 0 || order[-1].crew != crew;
        order->walk = first ? 1 : order[-1].walk + 1;
        order->after = last;
        bool on = !first && goes_on(m->design, &order[-1], order);
        order->visit = on ? order[-1].visit : ++orders->visits;
        orders->count++;
        last = orders->count;
    }
}

/* Strings the pieces of each block together, in their order; roots come first. */
static void chain_blocks(struct maker *m)
{
    struct piece *pieces = m->pieces.items;
    for (uint32_t i = 0; i < m->pieces.count; i++) {
        uint32_t root = root_of(m, i);
        if (root != i) {
            pieces[pieces[root].tail].next = i + 1;
        }
        pieces[root].tail = i;
    }
}

/* A block is the crew's in whose share of all orders its middle lies. */
static void put_blocks(struct maker *m, uint32_t total)
{
    struct myr_orders *orders = m->orders;
    const struct piece *pieces = m->pieces.items;
    for (uint32_t b = 0; b < m->pieces.count; b++) {
        uint32_t size = 0, head = 0;
        if (root_of(m, b) != b) {
            continue;
        }
        for (uint32_t i = b + 1; i; i = pieces[i - 1].next) {
            size += orders_in(&pieces[i - 1]);
        }
        /* By the middle, so that large blocks do not all go to the crew before. */
        uint64_t middle = orders->count + size / 2;
        uint32_t crew = (uint32_t)(middle * orders->crews / total) + 1;
        for (uint32_t i = b + 1; i; i = pieces[i - 1].next) {
            put_piece(m, &pieces[i - 1], crew, head);
            head = pieces[i - 1].head ? orders->count : head;
        }
    }
    MYR_ASSERT(orders->count == total);
}

/* What people call the layers of a fabric; by enum myr_layer. */
static const char *const layer_words[MYR_LAYER_COUNT] = {"host", "fabric", "core", "local",
                                                         "global"};

static int read_colours(struct myr_orders *orders, const struct myr_orders_question *question,
                        struct myr_err *err)
{
    for (uint32_t i = 0; i < question->colour_count; i++) {
        const char *rule = question->colours[i], *equals = strchr(rule, '=');
        struct myr_str word = {rule, equals ? (size_t)(equals - rule) : 0};
        uint32_t layer = 0;
        while (layer < MYR_LAYER_COUNT && !myr_str_eq(word, myr_str_from(layer_words[layer]))) {
            layer++;
        }
        if (!equals || layer == MYR_LAYER_COUNT || equals[1] == '\0') {
            int rc = myr_err_set(err, MYR_EINVAL, "'%.40s' is no layer and its colour", rule);
            myr_err_hint(err, "host, fabric, core, local or global, such as host=blue");
            return rc;
        }
        orders->colours[layer] = equals + 1;
    }
    return MYR_OK;
}

/* InfiniBand has a subnet manager that looks at once and sweeps; LLDP forgets slowly. */
static bool is_lldp(const struct myr_verify *verify, const struct myr_catalog *catalog)
{
    for (uint32_t t = 0; catalog && t < verify->design->devtype_count; t++) {
        struct myr_box box;
        myr_box_of(verify->design, t, catalog, &box);
        const struct myr_port_group *group = &box.type->groups[0];
        /* By the first switch type of the networks looked at; without a catalogue by the files. */
        if (!box.host && box.technology != MYR_TECH_ANY && group->net < MYR_NET_COUNT &&
            verify->options.nets >> group->net & 1) {
            return box.technology == MYR_TECH_ETHERNET;
        }
    }
    return !verify->cabling->numbered;
}

static void maker_done(struct maker *m)
{
    myr_vec_done(&m->pieces);
    myr_u64map_done(&m->cages);
}

int myr_orders_make(struct myr_orders *ret, struct myr_arena *arena,
                    const struct myr_verify *verify, const struct myr_catalog *catalog,
                    const struct myr_orders_question *question, struct myr_err *err)
{
    /* LLDP's default time to live, and OpenSM's default interval between sweeps. */
    enum { LLDP_LIVES_S = 120, SWEEP_S = 10 };
    MYR_CLEANUP(maker_done) struct maker m = {ret, verify, verify->design, {}, {}, NULL};
    /* Every step is an order, and every link to look at one more. */
    uint32_t total = verify->repair.step_count;
    *ret =
        (struct myr_orders){.arena = arena, .verify = verify, .run = 1, .crews = question->crews};
    MYR_ASSERT(ret->crews > 0);
    MYR_TRY(read_colours(ret, question, err));
    ret->lldp = is_lldp(verify, catalog);
    ret->wait_s = ret->lldp ? LLDP_LIVES_S : SWEEP_S;
    collect_pieces(&m);
    for (size_t i = 0; i < m.pieces.count; i++) {
        total += m.pieces.items[i].count == 0;
    }
    /* Sorted before blocks are made: roots are then the first of their block on the way. */
    if (m.pieces.count > 1) {
        qsort(m.pieces.items, m.pieces.count, sizeof(struct piece), compare_pieces);
    }
    for (uint32_t i = 0; i < m.pieces.count; i++) {
        m.pieces.items[i].block = i; /* numbers are those of the sorted list from here on */
    }
    ret->items = MYR_ARENA_NEW(arena, struct myr_work_order, total);
    m.headed = MYR_ARENA_NEW(arena, uint32_t, verify->design->port_count);
    join_pieces(&m);
    chain_blocks(&m);
    put_blocks(&m, total);
    order_faults(ret);
    return MYR_OK;
}
