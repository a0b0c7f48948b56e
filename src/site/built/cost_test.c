/*
 * What miswiring costs, on a fabric small enough to reckon by hand: four hosts, two leaves, two
 * spines with a cable of 400 Gb/s to each leaf. Every host sends from its first NIC to its second,
 * so that all goes from one leaf to the other.
 */
#include "myriad/site/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "verify/verify_test.h"

enum { NODES = 4, LEAF = NODES, SPINE = LEAF + 2, STEPS_MAX = 8 };

struct fixture {
    struct myr_fabric_case fabric;
    struct myr_verify verify;
    struct myr_repair_step steps[STEPS_MAX];
    struct myr_cost cost;
    uint32_t told, total;
};

/* Port 'at' of a device. */
static uint32_t port(const struct fixture *f, uint32_t device, uint32_t at)
{
    return f->fabric.design.first_port[device] + at;
}

/* Uplinks stand behind the ports of the hosts. */
static uint32_t up(const struct fixture *f, uint32_t leaf, uint32_t spine)
{
    return port(f, LEAF + leaf, NODES + spine);
}

static void add_flow(struct fixture *f, uint32_t from, uint32_t to, uint32_t share)
{
    struct myr_flow flow = {.from_port = from, .to_port = to, .share = share};
    myr_vec_push(&f->fabric.flows.items, flow);
}

/* All as planned, and seen. */
static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    struct myr_design *design = &f->fabric.design;
    myr_arena_init(&f->fabric.arena);
    small_design(design, &f->fabric.arena, (struct small_shape){NODES, 2, 2, 1});
    design->networks[MYR_NET_COMPUTE].host_gbps = SMALL_GBPS;
    f->verify = (struct myr_verify){.arena = &f->fabric.arena, .design = design};
    f->verify.vertex_count = design->port_count + 1; /* with one end outside of the design */
    f->verify.plan = MYR_ARENA_NEW(&f->fabric.arena, uint32_t, f->verify.vertex_count);
    f->verify.found = MYR_ARENA_NEW(&f->fabric.arena, uint32_t, f->verify.vertex_count);
    f->verify.state = MYR_ARENA_NEW(&f->fabric.arena, uint8_t, design->port_count);
    f->verify.repair.steps = f->steps;
    for (uint32_t v = 0; v < f->verify.vertex_count; v++) {
        f->verify.plan[v] = v < design->port_count ? myr_design_peer(design, v) : MYR_NONE;
        f->verify.found[v] = f->verify.plan[v];
    }
    for (uint32_t node = 0; node < NODES; node++) {
        add_flow(f, port(f, node, 0), port(f, node, 1), MYR_SHARE_ONE);
    }
}

static void finish(struct fixture *f)
{
    myr_flows_done(&f->fabric.flows);
    myr_arena_done(&f->fabric.arena);
}

static void cut(struct fixture *f, uint32_t at)
{
    uint32_t far = f->verify.found[at];
    f->verify.found[at] = MYR_NONE;
    if (far != MYR_NONE) {
        f->verify.found[far] = MYR_NONE;
    }
}

/* What was in the two is out. */
static void plug(struct fixture *f, uint32_t a, uint32_t b)
{
    cut(f, a);
    cut(f, b);
    f->verify.found[a] = b;
    f->verify.found[b] = a;
}

static void add_step(struct fixture *f, uint32_t component, enum myr_repair_op op, uint32_t at,
                     uint32_t to)
{
    f->steps[f->verify.repair.step_count++] =
        (struct myr_repair_step){.component = component, .op = (uint8_t)op, .at = at, .to = to};
}

static void hear(void *context, uint32_t done, uint32_t total)
{
    struct fixture *f = context;
    assert_int_equal(done, f->told++);
    f->total = total;
}

static void look(struct fixture *f)
{
    struct myr_err err = {};
    assert_int_equal(myr_graph_init(&f->fabric.graph, &f->fabric.arena, &f->fabric.design,
                                    MYR_NET_COMPUTE, &err),
                     MYR_OK);
    myr_cost_find(&f->cost, &f->fabric.arena, &f->fabric, &f->verify, hear, f);
    assert_int_equal(f->cost.known_count, f->cost.piece_count);
    assert_int_equal(f->told, 2 * f->cost.piece_count); /* each is looked at twice */
    assert_int_equal(f->total, f->told);
}

static void expect_state(struct myr_cost_state state, double gbps, uint32_t lost)
{
    assert_float_equal((float)state.gbps, (float)gbps, 0.001F);
    assert_int_equal(state.lost, lost);
}

static void expect_piece(const struct fixture *f, uint32_t index, uint32_t component, double gain,
                         double after)
{
    const struct myr_cost_piece *piece = &f->cost.pieces[index];
    assert_true(index < f->cost.piece_count && piece->known);
    assert_int_equal(piece->component, component);
    assert_float_equal((float)piece->gain_gbps, (float)gain, 0.001F);
    expect_state(piece->after, after, 0);
}

/* 1,600 are wanted; two cables of 400 lie between the leaves. */
enum { WANTED = 1600, FULL = 800, HALF = 400 };

static void a_fabric_as_planned_costs_nothing(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    look(&f);
    assert_float_equal((float)f.cost.wanted_gbps, (float)WANTED, 0.001F);
    expect_state(f.cost.planned, FULL, 0);
    expect_state(f.cost.found, FULL, 0);
    assert_int_equal(f.cost.piece_count, 0);
    finish(&f);
}

static void flows_ask_for_their_share_and_get_no_more(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.fabric.flows.items.count = 0;
    add_flow(&f, port(&f, 0, 0), port(&f, 1, 1), MYR_SHARE_ONE / 4); /* over the spines */
    add_flow(&f, port(&f, 0, 0), port(&f, 1, 0), MYR_SHARE_ONE / 2); /* below one leaf */
    look(&f);
    assert_float_equal((float)f.cost.wanted_gbps, 300.0F, 0.001F);
    expect_state(f.cost.found, 300, 0);
    finish(&f);
}

static void the_slower_of_two_ports_sets_the_pace(void **state)
{
    (void)state;
    for (uint32_t slow = 0; slow < 2; slow++) {
        struct fixture f;
        begin(&f);
        /* The leaves' uplinks, or the spines' ports. */
        struct myr_devtype *type = &f.fabric.design.devtypes[slow ? 2 : 1];
        type->groups[slow ? 0 : 1].gbps = SMALL_GBPS / 2;
        look(&f);
        expect_state(f.cost.planned, HALF, 0);
        finish(&f);
    }
}

static void a_cable_that_is_not_there_costs_what_it_carried(void **state)
{
    (void)state;
    static const enum myr_port_state states[] = {MYR_STATE_MISSING, MYR_STATE_UNSEEN};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(states); i++) {
        struct fixture f;
        begin(&f);
        uint32_t a = up(&f, 0, 0), b = f.verify.plan[a];
        cut(&f, a);
        f.verify.state[a] = f.verify.state[b] = (uint8_t)states[i];
        add_step(&f, 7, MYR_REPAIR_ADD, a, b);
        look(&f);
        /* What nobody looked at is taken as planned. */
        expect_state(f.cost.found, i ? FULL : HALF, 0);
        expect_piece(&f, 0, 7, i ? 0 : HALF, FULL);
        finish(&f);
    }
}

/* An unseen port whose planned neighbour is elsewhere, or that has a cable itself, is not joined.
 */
static void unseen_ports_do_not_take_the_cables_of_others(void **state)
{
    (void)state;
    for (uint32_t other = 0; other < 2; other++) {
        struct fixture f;
        begin(&f);
        uint32_t a = up(&f, 0, 0), b = f.verify.plan[a];
        cut(&f, a);
        f.verify.state[a] = f.verify.state[b] = MYR_STATE_UNSEEN;
        /* To a stranger. */
        plug(&f, other ? a : b, f.fabric.design.port_count);
        look(&f);
        expect_state(f.cost.found, HALF, 0);
        finish(&f);
    }
}

static void a_host_without_a_cable_loses_its_flow(void **state)
{
    (void)state;
    for (uint32_t nic = 0; nic < 2; nic++) { /* the one that sends, the one that receives */
        struct fixture f;
        begin(&f);
        uint32_t a = port(&f, 2, nic), b = f.verify.plan[a];
        cut(&f, a);
        add_step(&f, 1, MYR_REPAIR_ADD, a, b);
        look(&f);
        expect_state(f.cost.found, FULL, 1); /* the others share what it leaves */
        expect_piece(&f, 0, 1, 0, FULL);
        finish(&f);
    }
}

static void crossed_uplinks_may_leave_no_way(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    /* Each leaf has both of its uplinks in one spine. */
    uint32_t a = f.verify.plan[up(&f, 0, 1)], b = f.verify.plan[up(&f, 1, 0)];
    plug(&f, up(&f, 0, 1), b);
    plug(&f, up(&f, 1, 0), a);
    add_step(&f, 3, MYR_REPAIR_SWAP, a, b);
    look(&f);
    expect_state(f.cost.planned, FULL, 0);
    expect_state(f.cost.found, 0, NODES);
    expect_piece(&f, 0, 3, FULL, FULL);
    finish(&f);
}

static void a_plug_in_a_spare_port_of_another_spine_halves_the_way(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t planned = f.verify.plan[up(&f, 0, 0)], spare = port(&f, SPINE + 1, 2);
    assert_int_equal(f.verify.plan[spare], MYR_NONE);
    plug(&f, up(&f, 0, 0), spare);
    add_step(&f, 2, MYR_REPAIR_MOVE, spare, planned);
    look(&f);
    expect_state(f.cost.found, HALF, 0);
    expect_piece(&f, 0, 2, HALF, FULL);
    finish(&f);
}

/* The shortest way is taken though it is narrow: with it gone, and two hosts back, all is well. */
static void a_cable_between_leaves_draws_all_flows(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t a = port(&f, LEAF, 3), b = port(&f, LEAF + 1, 3);
    uint32_t a_host = f.verify.plan[a], b_host = f.verify.plan[b];
    plug(&f, a, b);
    add_step(&f, 0, MYR_REPAIR_REMOVE, a, b);
    add_step(&f, 0, MYR_REPAIR_ADD, a, a_host);
    add_step(&f, 0, MYR_REPAIR_ADD, b, b_host);
    look(&f);
    expect_state(f.cost.found, HALF, 1);
    assert_int_equal(f.cost.piece_count, 1);
    assert_int_equal(f.cost.pieces[0].moves, 3);
    expect_piece(&f, 0, 0, HALF, FULL);
    finish(&f);
}

/* By what a move gives; then fewer moves; then as the repair has them. */
static void pieces_stand_in_the_order_of_what_they_give(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t a = up(&f, 0, 0), b = f.verify.plan[a];
    cut(&f, a);
    uint32_t spare = port(&f, SPINE, 2), other = port(&f, SPINE + 1, 2);
    /* Three that give nothing, of two moves, one and one, around the one that does. */
    add_step(&f, 10, MYR_REPAIR_ADD, spare, other);
    add_step(&f, 10, MYR_REPAIR_REMOVE, spare, other);
    add_step(&f, 11, MYR_REPAIR_SWAP, port(&f, LEAF, 0), port(&f, LEAF, 1));
    add_step(&f, 12, MYR_REPAIR_ADD, a, b);
    add_step(&f, 12, MYR_REPAIR_ADD, spare, other);
    add_step(&f, 13, MYR_REPAIR_SWAP, port(&f, LEAF, 2), port(&f, LEAF, 3));
    look(&f);
    expect_state(f.cost.found, HALF, 0);
    assert_int_equal(f.cost.piece_count, 4);
    static const struct {
        uint32_t component, first, moves;
    } order[] = {{12, 3, 2}, {11, 2, 1}, {13, 5, 1}, {10, 0, 2}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(order); i++) {
        expect_piece(&f, i, order[i].component, i ? 0 : HALF, FULL);
        assert_int_equal(f.cost.pieces[i].first_step, order[i].first);
        assert_int_equal(f.cost.pieces[i].moves, order[i].moves);
    }
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fabric_as_planned_costs_nothing),
        cmocka_unit_test(flows_ask_for_their_share_and_get_no_more),
        cmocka_unit_test(the_slower_of_two_ports_sets_the_pace),
        cmocka_unit_test(a_cable_that_is_not_there_costs_what_it_carried),
        cmocka_unit_test(unseen_ports_do_not_take_the_cables_of_others),
        cmocka_unit_test(a_host_without_a_cable_loses_its_flow),
        cmocka_unit_test(crossed_uplinks_may_leave_no_way),
        cmocka_unit_test(a_plug_in_a_spare_port_of_another_spine_halves_the_way),
        cmocka_unit_test(a_cable_between_leaves_draws_all_flows),
        cmocka_unit_test(pieces_stand_in_the_order_of_what_they_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
