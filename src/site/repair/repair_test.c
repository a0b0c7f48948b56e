#include "repair/equivalent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "verify/verify_test.h"

/*
 * The naive model: matchings on at most eight ports, every single move tried from every one of
 * them, breadth first. It knows nothing of cycles and paths.
 */

enum { PORTS = 8, STATES_MAX = 1 << 16 };

struct naive {
    uint32_t port_count;
    uint64_t queue[STATES_MAX];
    uint32_t distance[STATES_MAX];
    struct myr_u64map known;
    uint32_t count;
};

/* Four bits a port: its neighbour, or itself when it is empty. */
static uint32_t peer_in(uint64_t matching, uint32_t port)
{
    return (uint32_t)(matching >> (4 * port) & 15);
}

static uint64_t with_pair(uint64_t matching, uint32_t a, uint32_t b)
{
    matching &= ~(UINT64_C(15) << (4 * a)) & ~(UINT64_C(15) << (4 * b));
    return matching | (uint64_t)b << (4 * a) | (uint64_t)a << (4 * b);
}

static uint64_t without(uint64_t matching, uint32_t port)
{
    matching &= ~(UINT64_C(15) << (4 * port));
    return matching | (uint64_t)port << (4 * port);
}

static void reach(struct naive *naive, uint64_t matching, uint32_t distance)
{
    if (myr_u64map_add(&naive->known, matching, naive->count)) {
        assert_true(naive->count < STATES_MAX);
        naive->distance[naive->count] = distance;
        naive->queue[naive->count++] = matching;
    }
}

/* Everything that one pair of hands can do in one go with the plugs in ports a and b. */
static void try_pair(struct naive *naive, uint64_t now, uint32_t a, uint32_t b, uint32_t distance)
{
    uint32_t far_a = peer_in(now, a), far_b = peer_in(now, b);
    bool empty_a = far_a == a, empty_b = far_b == b;
    if (empty_a && empty_b) {
        reach(naive, with_pair(now, a, b), distance);
    } else if (far_a == b) {
        reach(naive, without(without(now, a), b), distance);
    } else if (empty_a || empty_b) {
        uint32_t from = empty_a ? b : a, to = empty_a ? a : b, far = peer_in(now, from);
        reach(naive, with_pair(without(now, from), to, far), distance);
    } else {
        reach(naive, with_pair(with_pair(now, a, far_b), b, far_a), distance);
    }
}

typedef bool (*goal_function)(uint64_t matching, const void *context);

static uint32_t fewest_steps(struct naive *naive, uint64_t found, uint32_t port_count,
                             goal_function is_goal, const void *context)
{
    naive->count = 0;
    naive->port_count = port_count;
    naive->known = (struct myr_u64map){};
    reach(naive, found, 0);
    uint32_t answer = UINT32_MAX;
    for (uint32_t i = 0; i < naive->count && answer == UINT32_MAX; i++) {
        if (is_goal(naive->queue[i], context)) {
            answer = naive->distance[i];
        }
        for (uint32_t a = 0; a < port_count && answer == UINT32_MAX; a++) {
            for (uint32_t b = a + 1; b < port_count; b++) {
                try_pair(naive, naive->queue[i], a, b, naive->distance[i] + 1);
            }
        }
    }
    myr_u64map_done(&naive->known);
    return answer;
}

static uint64_t random_matching(struct myr_rng *rng, uint32_t port_count)
{
    uint32_t order[PORTS];
    uint64_t matching = 0;
    for (uint32_t p = 0; p < port_count; p++) {
        order[p] = p;
        matching = without(matching, p);
    }
    myr_rng_shuffle(rng, order, port_count);
    uint32_t pairs = myr_rng_below(rng, port_count / 2 + 1);
    for (uint32_t i = 0; i < pairs; i++) {
        matching = with_pair(matching, order[2 * i], order[2 * i + 1]);
    }
    return matching;
}

/* The eight ports lie on real ones: NIC ports, uplinks of two leaves, ports of two spines. */
struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    uint32_t ports[PORTS];
    uint32_t *plan, *found;
    uint8_t *state;
    struct repair_graph graph;
};

static void fixture_init(struct fixture *f)
{
    myr_arena_init(&f->arena);
    small_design(&f->design, &f->arena, (struct small_shape){2, 2, 2, 2});
    const uint32_t leaf = f->design.first_port[2], spine = f->design.first_port[4];
    const uint32_t ports[] = {0, 3, leaf + 2, leaf + 3, leaf + 4, spine, spine + 1, spine + 5};
    memcpy(f->ports, ports, sizeof(ports));
    f->plan = MYR_ARENA_NEW(&f->arena, uint32_t, f->design.port_count);
    f->found = MYR_ARENA_NEW(&f->arena, uint32_t, f->design.port_count);
    f->state = MYR_ARENA_NEW(&f->arena, uint8_t, f->design.port_count);
    f->graph = (struct repair_graph){&f->design, f->design.port_count, f->plan, f->found, f->state};
}

static void set_matchings(struct fixture *f, uint64_t plan, uint64_t found)
{
    for (uint32_t p = 0; p < f->design.port_count; p++) {
        f->plan[p] = f->found[p] = MYR_NONE;
        f->state[p] = MYR_STATE_IDLE;
    }
    for (uint32_t i = 0; i < PORTS; i++) {
        uint32_t planned = peer_in(plan, i), there = peer_in(found, i);
        f->plan[f->ports[i]] = planned == i ? MYR_NONE : f->ports[planned];
        f->found[f->ports[i]] = there == i ? MYR_NONE : f->ports[there];
        f->state[f->ports[i]] = MYR_STATE_MISSING;
    }
}

static bool is_plan(uint64_t matching, const void *context)
{
    return matching == *(const uint64_t *)context;
}

/* Does the steps one after the other; the result must be the plan. */
static void do_steps(const struct fixture *f, const uint32_t *plan, const struct myr_repair *repair)
{
    uint32_t *now = calloc(f->design.port_count, sizeof(uint32_t));
    memcpy(now, f->found, f->design.port_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < repair->step_count; i++) {
        const struct myr_repair_step *step = &repair->steps[i];
        uint32_t far_at = now[step->at], far_to = now[step->to];
        switch ((enum myr_repair_op)step->op) {
        case MYR_REPAIR_SWAP:
            assert_int_equal(far_at, step->far_at);
            assert_int_equal(far_to, step->far_to);
            now[step->at] = far_to;
            now[far_to] = step->at;
            now[step->to] = far_at;
            now[far_at] = step->to;
            break;
        case MYR_REPAIR_MOVE:
            assert_int_equal(far_at, step->far_at);
            assert_int_equal(far_to, MYR_NONE);
            now[step->at] = MYR_NONE;
            now[step->to] = far_at;
            now[far_at] = step->to;
            break;
        case MYR_REPAIR_ADD:
            assert_true(far_at == MYR_NONE && far_to == MYR_NONE);
            now[step->at] = step->to;
            now[step->to] = step->at;
            break;
        default:
            assert_int_equal(far_at, step->to);
            now[step->at] = now[step->to] = MYR_NONE;
            break;
        }
    }
    assert_memory_equal(now, plan, f->design.port_count * sizeof(uint32_t));
    free(now);
}

static void labelled_repairs_are_the_shortest(void **state)
{
    (void)state;
    struct fixture f;
    struct naive *naive = calloc(1, sizeof(*naive));
    fixture_init(&f);
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct myr_rng rng;
        struct myr_repair repair;
        myr_rng_init(&rng, seed, 1);
        uint64_t plan = random_matching(&rng, PORTS), found = random_matching(&rng, PORTS);
        set_matchings(&f, plan, found);
        repair_labelled(&f.graph, &f.arena, &repair);
        uint32_t fewest = fewest_steps(naive, found, PORTS, is_plan, &plan);
        uint32_t ours = repair.moves + repair.adds + repair.removes;
        if (fewest != ours || repair.step_count != ours || !repair.exact ||
            repair.lower_bound != repair.moves) {
            fail_msg("seed %llu: %u steps, %u are enough", (unsigned long long)seed, ours, fewest);
        }
        do_steps(&f, f.plan, &repair);
    }
    free(naive);
    myr_arena_done(&f.arena);
}

/* Classes of the eight ports: NICs alone, then by device and port group. */
static const uint32_t classes[PORTS] = {0, 1, 2, 2, 2, 3, 3, 3};

static void count_pairs(uint64_t matching, uint32_t counts[4][4])
{
    memset(counts, 0, sizeof(uint32_t) * 16);
    for (uint32_t p = 0; p < PORTS; p++) {
        uint32_t peer = peer_in(matching, p);
        if (peer > p) {
            uint32_t a = classes[p], b = classes[peer];
            counts[a < b ? a : b][a < b ? b : a]++;
        }
    }
}

static bool is_equivalent(uint64_t matching, const void *context)
{
    uint32_t ours[4][4], planned[4][4];
    count_pairs(matching, ours);
    count_pairs(*(const uint64_t *)context, planned);
    return memcmp(ours, planned, sizeof(ours)) == 0;
}

static void equivalent_repairs_are_the_shortest(void **state)
{
    (void)state;
    struct fixture f;
    struct naive *naive = calloc(1, sizeof(*naive));
    fixture_init(&f);
    for (uint64_t seed = 0; seed < 600; seed++) {
        struct myr_rng rng;
        struct myr_repair repair;
        uint32_t gap;
        myr_rng_init(&rng, seed, 2);
        uint64_t plan = random_matching(&rng, PORTS), found = random_matching(&rng, PORTS);
        set_matchings(&f, plan, found);
        uint32_t *read_so = MYR_ARENA_NEW(&f.arena, uint32_t, f.design.port_count);
        repair_equivalent_plan(&f.graph, &f.arena, read_so, &gap);
        struct repair_graph graph = f.graph;
        graph.plan = read_so;
        repair_labelled(&graph, &f.arena, &repair);
        uint32_t fewest = fewest_steps(naive, found, PORTS, is_equivalent, &plan);
        uint32_t ours = repair.moves + repair.adds + repair.removes;
        if (fewest != ours || gap != 0) {
            fail_msg("seed %llu: %u steps and a gap of %u, %u are enough", (unsigned long long)seed,
                     ours, gap, fewest);
        }
        do_steps(&f, read_so, &repair);
    }
    free(naive);
    myr_arena_done(&f.arena);
}

/* A random component: classes of one to four ports, as many planned cables as found ones or fewer.
 */
struct random_part {
    struct eq_edge red[10], blue[10];
    uint32_t slots[20];
    struct eq_part part;
};

static void random_part(struct random_part *random, struct myr_rng *rng)
{
    uint32_t class_count = 3 + myr_rng_below(rng, 6), edges = 2 + myr_rng_below(rng, 8);
    uint32_t ends[20], count = 2 * edges;
    for (uint32_t i = 0; i < count; i++) {
        ends[i] = myr_rng_below(rng, class_count);
    }
    for (uint32_t i = 0; i < edges; i++) {
        random->red[i] = (struct eq_edge){ends[2 * i], ends[2 * i + 1], 2 * i, 2 * i + 1};
    }
    /* Planned cables on the same ends in another order; some ends stay without, some are empty. */
    uint32_t order[20];
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    myr_rng_shuffle(rng, order, count);
    uint32_t blues = edges - myr_rng_below(rng, 2), empty = myr_rng_below(rng, 3);
    for (uint32_t i = 0; i < 2 * blues; i++) {
        uint32_t end = order[i];
        bool is_empty = i < empty;
        uint32_t class = is_empty ? class_count : ends[end];
        random->slots[i] = is_empty ? EQ_EMPTY : end;
        if (i & 1) {
            random->blue[i / 2].class_b = class;
        } else {
            random->blue[i / 2].class_a = class;
        }
    }
    random->part =
        (struct eq_part){edges, blues, class_count + 1, random->red, random->blue, random->slots};
}

/* Found and planned cables of the same two classes are settled before anything is searched. */
static bool has_common_pair(const struct random_part *random)
{
    for (uint32_t r = 0; r < random->part.red_count; r++) {
        for (uint32_t b = 0; b < random->part.blue_count; b++) {
            const struct eq_edge *red = &random->red[r], *blue = &random->blue[b];
            if ((red->class_a == blue->class_a && red->class_b == blue->class_b) ||
                (red->class_a == blue->class_b && red->class_b == blue->class_a)) {
                return true;
            }
        }
    }
    return false;
}

static void large_components_stay_within_their_bound(void **state)
{
    (void)state;
    uint32_t compared = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct myr_arena arena;
        struct random_part random;
        struct eq_solution best, near;
        struct myr_rng rng;
        myr_arena_init(&arena);
        myr_rng_init(&rng, seed, 3);
        random_part(&random, &rng);
        if (!has_common_pair(&random) && eq_search(&random.part, &arena, &best)) {
            compared++;
            eq_improve(&random.part, &arena, &near);
            if (near.gain > best.gain || best.gain > near.gain_bound) {
                fail_msg("seed %llu: gain %d, best %d, bound %d", (unsigned long long)seed,
                         near.gain, best.gain, near.gain_bound);
            }
        }
        myr_arena_done(&arena);
    }
    assert_true(compared > 500);
}

static void unseen_ports_ask_for_no_cable(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_repair repair;
    fixture_init(&f);
    /* 0-5 and 3-6 are planned; 0-3 is there; nobody looked at 5 and 6. */
    uint64_t none = 0;
    for (uint32_t p = 0; p < PORTS; p++) {
        none = without(none, p);
    }
    set_matchings(&f, with_pair(with_pair(none, 0, 5), 3, 6), with_pair(none, 0, 3));
    f.state[f.ports[5]] = f.state[f.ports[6]] = MYR_STATE_UNSEEN;
    repair_labelled(&f.graph, &f.arena, &repair);
    assert_int_equal(repair.moves, 1);
    assert_int_equal(repair.adds, 0);
    assert_true(repair.steps[0].unseen);
    /* Once somebody has seen that one of them is empty, the plug goes there. */
    f.state[f.ports[6]] = MYR_STATE_MISSING;
    repair_labelled(&f.graph, &f.arena, &repair);
    assert_int_equal(repair.moves, 1);
    assert_int_equal(repair.steps[0].to, f.ports[6]);
    assert_false(repair.steps[0].unseen);
    myr_arena_done(&f.arena);
}

static void near_plugs_are_exchanged_before_far_ones(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_design design;
    struct myr_repair repair;
    myr_arena_init(&arena);
    small_design(&design, &arena, (struct small_shape){4, 2, 2, 2});
    uint32_t *plan = MYR_ARENA_NEW(&arena, uint32_t, design.port_count);
    uint32_t *found = MYR_ARENA_NEW(&arena, uint32_t, design.port_count);
    uint8_t *states = MYR_ARENA_NEW(&arena, uint8_t, design.port_count);
    for (uint32_t p = 0; p < design.port_count; p++) {
        plan[p] = found[p] = myr_design_peer(&design, p);
    }
    /* Two plugs of the first leaf exchanged: mended at the leaf, not at the nodes. */
    uint32_t leaf = design.first_port[4], one = plan[leaf], other = plan[leaf + 1];
    found[leaf] = other;
    found[other] = leaf;
    found[leaf + 1] = one;
    found[one] = leaf + 1;
    struct repair_graph graph = {&design, design.port_count, plan, found, states};
    repair_labelled(&graph, &arena, &repair);
    assert_int_equal(repair.step_count, 1);
    assert_int_equal(design.port_device[repair.steps[0].at], 4);
    assert_int_equal(design.port_device[repair.steps[0].to], 4);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labelled_repairs_are_the_shortest),
        cmocka_unit_test(equivalent_repairs_are_the_shortest),
        cmocka_unit_test(large_components_stay_within_their_bound),
        cmocka_unit_test(unseen_ports_ask_for_no_cable),
        cmocka_unit_test(near_plugs_are_exchanged_before_far_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
