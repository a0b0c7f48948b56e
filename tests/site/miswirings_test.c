/*
 * Ten thousand random miswirings: twin cages, spare ports, splitters, boxes of four chips.
 *
 * A few cables of a planned design are put anywhere. How far every such state is from the plan was
 * found before, breadth first, by trying all that hands can do: exchange two plugs, move one into a
 * free port, lay a cable, take one out; of splitters, exchange or move a head, exchange two legs at
 * their hosts. verify must need as many steps, and the steps, done one by one on the state, must
 * end in the plan. Nothing of the repair is used to tell the truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "designs.h"

enum { SEED = 20261116, PORTS = 8, LINKS = 3, HEADS = 3, CONNECTORS = 4, LEGS = 2, CASES = 2500 };

static const struct shape twin_cages = {"twin-cages", 8, "h100-8gpu",
                                        "compute: {switch: mqm9790-ns2f, leaf_down: 20}"};
static const struct shape one_a_cage = {"one-a-cage", 8, "a100-8gpu",
                                        "compute: {switch: qm8790, leaf_down: 16}"};
static const struct shape four_chips = {"four-chips", 8, "b300-8gpu-xdr",
                                        "compute: {switch: q3400, leaf_down: 16}"};
static const struct shape splitters = {"splitters", 4, "a100-8gpu",
                                       "compute: {switch: mqm9790-ns2f, leaf_down: 8}"};

/* --- all states of a few cables, and how far each is from the plan */

struct states {
    struct myr_u64map known; /* to its place */
    MYR_VEC(uint64_t) codes;
    MYR_VEC(uint32_t) far;
};

static void states_done(struct states *states)
{
    myr_u64map_done(&states->known);
    myr_vec_done(&states->codes);
    myr_vec_done(&states->far);
}

static void reach(struct states *states, uint64_t code, uint32_t far)
{
    if (myr_u64map_add(&states->known, code, (uint32_t)states->codes.count)) {
        myr_vec_push(&states->codes, code);
        myr_vec_push(&states->far, far);
    }
}

/* Four bits a port: its neighbour, or itself when it is empty. */
static uint32_t peer_in(uint64_t code, uint32_t port)
{
    return (uint32_t)(code >> (4 * port) & 15);
}

static uint64_t with(uint64_t code, uint32_t port, uint32_t peer)
{
    code &= ~(UINT64_C(15) << (4 * port));
    return code | (uint64_t)peer << (4 * port);
}

static uint64_t joined(uint64_t code, uint32_t a, uint32_t b)
{
    return with(with(code, a, b), b, a);
}

static void plain_neighbours(struct states *states, uint64_t now, uint32_t far)
{
    for (uint32_t a = 0; a < PORTS; a++) {
        for (uint32_t b = a + 1; b < PORTS; b++) {
            uint32_t at_a = peer_in(now, a), at_b = peer_in(now, b);
            if (at_a == a && at_b == b) {
                reach(states, joined(now, a, b), far);
            } else if (at_a == b) {
                reach(states, with(with(now, a, a), b, b), far);
            } else if (at_a == a) {
                reach(states, joined(with(now, b, b), a, at_b), far);
            } else if (at_b == b) {
                reach(states, joined(with(now, a, a), b, at_a), far);
            } else {
                reach(states, joined(joined(now, a, at_b), b, at_a), far);
            }
        }
    }
}

/* Ports 0 - 1, 2 - 3, 4 - 5 are planned; 6 and 7 are spare. */
static void plain_states(struct states *states)
{
    uint64_t plan = 0;
    for (uint32_t p = 0; p < PORTS; p++) {
        plan = with(plan, p, p < 2 * LINKS ? p ^ 1 : p);
    }
    reach(states, plan, 0);
    for (size_t i = 0; i < states->codes.count; i++) {
        plain_neighbours(states, states->codes.items[i], states->far.items[i] + 1);
    }
}

/* Four bits a leg of a connector: the host that it leads to, from 1; 0: no head is there. */
static uint64_t exchanged(uint64_t code, uint32_t a, uint32_t b)
{
    uint32_t at_a = peer_in(code, a), at_b = peer_in(code, b);
    return with(with(code, a, at_b), b, at_a);
}

static void split_states(struct states *states)
{
    uint64_t plan = 0;
    for (uint32_t leg = 0; leg < HEADS * LEGS; leg++) {
        plan = with(plan, leg, leg + 1);
    }
    reach(states, plan, 0);
    for (size_t i = 0; i < states->codes.count; i++) {
        uint64_t now = states->codes.items[i];
        uint32_t far = states->far.items[i] + 1;
        for (uint32_t a = 0; a < CONNECTORS; a++) {
            for (uint32_t b = a + 1; b < CONNECTORS; b++) {
                reach(states,
                      exchanged(exchanged(now, LEGS * a, LEGS * b), LEGS * a + 1, LEGS * b + 1),
                      far);
            }
        }
        for (uint32_t a = 0; a < CONNECTORS * LEGS; a++) {
            for (uint32_t b = a + 1; b < CONNECTORS * LEGS; b++) {
                if (peer_in(now, a) && peer_in(now, b)) {
                    reach(states, exchanged(now, a, b), far);
                }
            }
        }
    }
}

/* --- a design, and what is found of it */

struct bench {
    struct planned planned;
    const struct myr_design *design;
    struct myr_port_names names;
    struct myr_rng rng;
    uint32_t *plan, *found;          /* by port */
    MYR_VEC(uint32_t) links, spares; /* ports of compute: of planned links, and of nobody */
    struct myr_str *device_names, *port_names;
    bool chips;
};

static struct myr_str kept(struct myr_arena *arena, struct myr_buf *buf)
{
    struct myr_str text = {myr_arena_strndup(arena, buf->data, buf->len), buf->len};
    myr_buf_clear(buf);
    return text;
}

static bool is_leg(const struct bench *bench, uint32_t port)
{
    return myr_design_port_group(bench->design, port)->per_connector > 1;
}

static bool is_nic(const struct bench *bench, uint32_t port)
{
    return myr_design_port_group(bench->design, port)->role == MYR_PORT_NIC;
}

static void bench_init(struct bench *bench, const struct shape *shape, bool chips)
{
    *bench = (struct bench){.chips = chips};
    struct planned *planned = &bench->planned;
    struct myr_err err = {};
    plan_shape(planned, shape);
    const struct myr_design *design = bench->design = &planned->design;
    struct myr_arena *arena = &planned->arena;
    assert_int_equal(myr_port_names_init(&bench->names, arena, &err), MYR_OK);
    myr_rng_init(&bench->rng, SEED, 0);
    bench->plan = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    bench->found = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    bench->device_names = MYR_ARENA_NEW(arena, struct myr_str, design->device_count);
    bench->port_names = MYR_ARENA_NEW(arena, struct myr_str, design->port_count);
    struct myr_buf text = {};
    for (uint32_t d = 0; d < design->device_count; d++) {
        myr_site_name(design, d, &text);
        bench->device_names[d] = kept(arena, &text);
    }
    for (uint32_t p = 0; p < design->port_count; p++) {
        bool compute = myr_design_port_group(design, p)->net == MYR_NET_COMPUTE;
        bench->plan[p] = compute ? myr_design_peer(design, p) : MYR_NONE;
        if (chips && !is_nic(bench, p)) {
            myr_buf_put_u64(&text, myr_site_number(design, p));
        } else {
            myr_design_port_name(design, p, &text);
        }
        bench->port_names[p] = kept(arena, &text);
        if (compute && bench->plan[p] == MYR_NONE && !is_nic(bench, p)) {
            myr_vec_push(&bench->spares, p);
        } else if (compute && bench->plan[p] != MYR_NONE && bench->plan[p] > p) {
            myr_vec_push(&bench->links, p);
        }
    }
    myr_buf_done(&text);
}

static void bench_done(struct bench *bench)
{
    myr_vec_done(&bench->links);
    myr_vec_done(&bench->spares);
    myr_port_names_done(&bench->names);
    planned_done(&bench->planned);
}

/* The end of a link; of a box of four chips, at one of them. */
static struct myr_cabling_end end_of(const struct bench *bench, struct myr_cabling *cabling,
                                     uint32_t port, uint32_t chip)
{
    struct myr_str name = bench->device_names[bench->design->port_device[port]];
    struct myr_str own = bench->port_names[port];
    if (chip && is_nic(bench, port)) {
        name = myr_str_from(myr_arena_printf(cabling->arena, "%.*s %.*s", (int)name.len, name.data,
                                             (int)own.len, own.data));
        own = myr_str_from(myr_arena_printf(cabling->arena, "%u", chip));
    } else if (chip) {
        name = myr_str_from(myr_arena_printf(cabling->arena, "MF0;%.*s:Q3400_RA/U%u", (int)name.len,
                                             name.data, chip));
    }
    struct myr_cabling_end end = {myr_cabling_device(cabling, name), own};
    struct myr_cabling_device *device = &cabling->devices.items[end.device];
    device->reported = true;
    device->is_switch = !is_nic(bench, port);
    return end;
}

/* Devices without a cable are there too: somebody looked at them. */
static void tell_all(const struct bench *bench, struct myr_cabling *cabling)
{
    uint32_t chips = bench->chips ? 4 : 0;
    myr_vec_push(&cabling->files, "found");
    cabling->numbered = bench->chips;
    for (uint32_t p = 0; p < bench->design->port_count; p++) {
        uint32_t far = bench->found[p];
        for (uint32_t chip = chips ? 1 : 0; chip <= chips; chip++) {
            if (far != MYR_NONE && p < far) {
                struct myr_cabling_link link = {.a = end_of(bench, cabling, p, chip),
                                                .b = end_of(bench, cabling, far, chip)};
                myr_vec_push(&cabling->links, link);
            } else if (bench->plan[p] != MYR_NONE && far == MYR_NONE) {
                (void)end_of(bench, cabling, p, chip);
            }
        }
    }
}

/* --- hands */

static void exchange_plugs(struct bench *bench, uint32_t a, uint32_t b)
{
    uint32_t *found = bench->found, far_a = found[a], far_b = found[b];
    found[a] = far_b;
    found[b] = far_a;
    if (far_a != MYR_NONE) {
        found[far_a] = b;
    }
    if (far_b != MYR_NONE) {
        found[far_b] = a;
    }
}

static void do_step(struct bench *bench, const struct myr_repair_step *step)
{
    uint32_t *found = bench->found;
    assert_true(step->at < bench->design->port_count && step->to < bench->design->port_count);
    if (step->legs > 1) {
        for (uint32_t leg = 0; leg < step->legs; leg++) {
            assert_true(step->op == MYR_REPAIR_SWAP || found[step->to + leg] == MYR_NONE);
            exchange_plugs(bench, step->at + leg, step->to + leg);
        }
        return;
    }
    switch ((enum myr_repair_op)step->op) {
    case MYR_REPAIR_SWAP:
        assert_int_equal(found[step->at], step->far_at);
        assert_int_equal(found[step->to], step->far_to);
        assert_false(is_leg(bench, step->at) || is_leg(bench, step->to));
        exchange_plugs(bench, step->at, step->to);
        break;
    case MYR_REPAIR_MOVE:
        assert_int_equal(found[step->at], step->far_at);
        assert_int_equal(found[step->to], MYR_NONE);
        exchange_plugs(bench, step->at, step->to);
        break;
    case MYR_REPAIR_ADD:
        assert_true(found[step->at] == MYR_NONE && found[step->to] == MYR_NONE);
        found[step->at] = step->to;
        found[step->to] = step->at;
        break;
    default:
        assert_int_equal(found[step->at], step->to);
        found[step->at] = found[step->to] = MYR_NONE;
        break;
    }
}

static void judge(struct bench *bench, uint32_t expected, uint32_t number)
{
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_verify verify;
    struct myr_err err = {};
    struct myr_verify_options options = {.catalog = &bench->planned.catalog,
                                         .port_names = &bench->names};
    myr_arena_init(&arena);
    myr_cabling_init(&cabling, &arena);
    tell_all(bench, &cabling);
    int rc = myr_verify(&verify, &arena, bench->design, &cabling, &options, &err);
    if (rc < 0) {
        fail_msg("seed %d, case %u: %s", SEED, number, err.message);
    }
    const struct myr_repair *repair = &verify.labelled;
    if (repair->moves + repair->adds + repair->removes != expected || !repair->exact) {
        fail_msg("seed %d, case %u of '%s': %u steps, %u are enough", SEED, number,
                 myr_design_str(bench->design, bench->design->head->name),
                 repair->moves + repair->adds + repair->removes, expected);
    }
    for (uint32_t i = 0; i < repair->step_count; i++) {
        do_step(bench, &repair->steps[i]);
    }
    assert_memory_equal(bench->found, bench->plan,
                        bench->design->port_count * sizeof(*bench->found));
    myr_cabling_done(&cabling);
    myr_arena_done(&arena);
}

static uint32_t drawn(struct bench *bench, const uint32_t *items, size_t count)
{
    return items[myr_rng_below(&bench->rng, (uint32_t)count)];
}

/* Different links of single plugs, then ports of nobody; the same cage may come twice. */
static void draw_ports(struct bench *bench, uint32_t ports[PORTS])
{
    for (uint32_t i = 0; i < LINKS; i++) {
        bool again = true;
        while (again) {
            uint32_t port = drawn(bench, bench->links.items, bench->links.count);
            again = is_leg(bench, port) || is_leg(bench, bench->plan[port]);
            for (uint32_t j = 0; j < i; j++) {
                again = again || ports[2 * j] == port;
            }
            ports[2 * i] = port;
            ports[2 * i + 1] = bench->plan[port];
        }
    }
    ports[6] = drawn(bench, bench->spares.items, bench->spares.count);
    do {
        ports[7] = drawn(bench, bench->spares.items, bench->spares.count);
    } while (ports[7] == ports[6]);
}

static void run_plain(const struct shape *shape, bool chips)
{
    struct bench bench;
    struct states states = {};
    bench_init(&bench, shape, chips);
    plain_states(&states);
    assert_int_equal(states.codes.count, 764); /* matchings of eight ports */
    for (uint32_t number = 0; number < CASES; number++) {
        uint32_t ports[PORTS];
        uint32_t state = myr_rng_below(&bench.rng, (uint32_t)states.codes.count);
        uint64_t code = states.codes.items[state];
        draw_ports(&bench, ports);
        memcpy(bench.found, bench.plan, bench.design->port_count * sizeof(*bench.found));
        for (uint32_t p = 0; p < PORTS; p++) {
            uint32_t peer = peer_in(code, p);
            bench.found[ports[p]] = peer == p ? MYR_NONE : ports[peer];
        }
        judge(&bench, states.far.items[state], number);
    }
    states_done(&states);
    bench_done(&bench);
}

static void plugs_in_twin_cages_take_the_fewest_steps(void **state)
{
    (void)state;
    run_plain(&twin_cages, false);
}

static void plugs_that_fill_a_cage_take_the_fewest_steps(void **state)
{
    (void)state;
    run_plain(&one_a_cage, false);
}

static void cables_of_four_links_take_the_fewest_steps(void **state)
{
    (void)state;
    run_plain(&four_chips, true);
}

/* Connectors of one leaf or of several: three with a head each, one without. */
static void draw_connectors(struct bench *bench, uint32_t connectors[CONNECTORS])
{
    for (uint32_t i = 0; i < CONNECTORS; i++) {
        bool again = true;
        while (again) {
            uint32_t port = i < HEADS
                                ? bench->plan[drawn(bench, bench->links.items, bench->links.count)]
                                : drawn(bench, bench->spares.items, bench->spares.count);
            again =
                !is_leg(bench, port) || myr_design_port_group(bench->design, port)->count < LEGS;
            if (again) {
                continue;
            }
            const struct myr_port_group *group = myr_design_port_group(bench->design, port);
            uint32_t base =
                bench->design->first_port[bench->design->port_device[port]] + group->first;
            connectors[i] = base + (port - base) / LEGS * LEGS;
            again = (bench->plan[connectors[i]] == MYR_NONE) != (i >= HEADS) ||
                    (bench->plan[connectors[i] + 1] == MYR_NONE) != (i >= HEADS);
            for (uint32_t j = 0; j < i; j++) {
                again = again || connectors[j] == connectors[i];
            }
        }
    }
}

static void splitters_take_the_fewest_steps(void **state)
{
    (void)state;
    struct bench bench;
    struct states states = {};
    bench_init(&bench, &splitters, false);
    split_states(&states);
    for (uint32_t number = 0; number < CASES; number++) {
        uint32_t connectors[CONNECTORS];
        uint32_t drawn_state = myr_rng_below(&bench.rng, (uint32_t)states.codes.count);
        uint64_t code = states.codes.items[drawn_state];
        draw_connectors(&bench, connectors);
        memcpy(bench.found, bench.plan, bench.design->port_count * sizeof(*bench.found));
        for (uint32_t c = 0; c < CONNECTORS * LEGS; c++) {
            uint32_t host = peer_in(code, c), slot = connectors[c / LEGS] + c % LEGS;
            bench.found[slot] = MYR_NONE;
            if (host) {
                uint32_t home = connectors[(host - 1) / LEGS] + (host - 1) % LEGS;
                bench.found[slot] = bench.plan[home];
            }
        }
        for (uint32_t c = 0; c < CONNECTORS * LEGS; c++) {
            uint32_t slot = connectors[c / LEGS] + c % LEGS;
            if (bench.found[slot] != MYR_NONE) {
                bench.found[bench.found[slot]] = slot;
            }
        }
        judge(&bench, states.far.items[drawn_state], number);
    }
    states_done(&states);
    bench_done(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugs_in_twin_cages_take_the_fewest_steps),
        cmocka_unit_test(plugs_that_fill_a_cage_take_the_fewest_steps),
        cmocka_unit_test(cables_of_four_links_take_the_fewest_steps),
        cmocka_unit_test(splitters_take_the_fewest_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
