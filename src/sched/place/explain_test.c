#include "myriad/sched/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/state.h"

static const struct myr_place_shape shape = {32, 8, 4, 16};

static const struct myr_change *find(const struct myr_reasons *why, enum myr_change_kind kind)
{
    for (uint32_t i = 0; i < why->change_count; i++) {
        if (why->changes[i].kind == kind) {
            return &why->changes[i];
        }
    }
    return NULL;
}

/* What is said to be enough is enough. */
static void each_change_alone_would_start_it(void **state)
{
    (void)state;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_sched_state running;
    struct myr_reasons why;
    struct myr_err err = {};
    struct myr_share shares[32];
    struct myr_placement found = {.gang.shares = shares};
    struct myr_buf text = {}, words = {};
    myr_buf_puts(&text, "node,job,gpus,state\n31,,,down\n");
    for (uint32_t node = 0; node < 31; node++) { /* one GPU busy on every third node */
        if (node % 3 == 0) {
            myr_buf_printf(&text, "%u,small%u,1,\n", node, node);
        }
    }
    assert_int_equal(myr_sched_state_parse(&running, placer, "s.csv",
                                           (struct myr_str){text.data, text.len}, &err),
                     MYR_OK);
    struct myr_request request = {.nodes = 24};
    myr_explain(placer, &request, running.jobs.items, (uint32_t)running.jobs.count, &why);
    assert_false(why.fits);
    assert_int_equal(why.most, 20);
    assert_int_equal(why.nodes_free + why.nodes_partly + why.nodes_busy + why.nodes_closed, 32);
    assert_int_equal(why.nodes_closed, 1);
    assert_int_equal(find(&why, MYR_CHANGE_FEWER_NODES)->nodes, 4);
    assert_int_equal(find(&why, MYR_CHANGE_FREE_NODES)->nodes, 4);
    const struct myr_change *defrag = find(&why, MYR_CHANGE_DEFRAGMENT);
    assert_non_null(defrag);
    assert_int_equal(defrag->gpus_moved, 4);
    assert_int_equal(why.changes[0].kind, MYR_CHANGE_DEFRAGMENT); /* half a node: the smallest */
    myr_explain_write(placer, &request, &why, NULL, &words);
    assert_non_null(strstr(words.data, "20 would fit now"));
    request.nodes -= find(&why, MYR_CHANGE_FEWER_NODES)->nodes;
    assert_true(myr_place_gang(placer, &request, &found));
    myr_buf_done(&text);
    myr_buf_done(&words);
    myr_sched_state_done(&running);
    myr_placer_free(placer);
}

static void a_limit_that_is_too_tight_is_named(void **state)
{
    (void)state;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_reasons why;
    struct myr_request request = {.nodes = 6, .limited = true, .within = MYR_LEVEL_LEAF};
    myr_explain(placer, &request, NULL, 0, &why);
    assert_false(why.fits);
    assert_int_equal(why.changes[0].kind, MYR_CHANGE_DROP_LIMIT);
    assert_null(find(&why, MYR_CHANGE_FREE_NODES)); /* no leaf is that large */
    myr_placer_free(placer);
}

/* Kinds and places have names; what is not said leaves a node without kind, and alone. */
static void states_say_kinds_and_places(void **state)
{
    (void)state;
    struct myr_placer *placer = myr_placer_create(&shape);
    struct myr_sched_state running;
    struct myr_reasons why;
    struct myr_err err = {};
    struct myr_share shares[32];
    struct myr_placement found = {.gang.shares = shares};
    static const char text[] = "node,kind,rack,row,job\n"
                               "0,h200,r1,a,x\n1,h200,r1,a,\n1,h200,,,\n2,h200,r1,a,\n"
                               "3,h200,r2,a,\n4,h200,r2,a,\n5,,r3,b,\n6,h100,r3,b,\n";
    assert_int_equal(myr_sched_state_parse(&running, placer, "s.csv", myr_str_from(text), &err),
                     MYR_OK);
    assert_int_equal(running.kinds.count, 2);
    assert_true(myr_str_eq(running.kinds.items[0], MYR_STR("h200")));
    assert_true(running.has_zone[MYR_ZONE_RACK] && running.has_zone[MYR_ZONE_ROW]);
    struct myr_request request = {.nodes = 5, .kind_given = true, .kind = 1};
    myr_explain(placer, &request, NULL, 0, &why);
    assert_int_equal(why.most, 4); /* node 0 is busy */
    assert_int_equal(why.nodes_unsuitable, 27);
    assert_non_null(find(&why, MYR_CHANGE_DROP_KIND));
    request.nodes = 2;
    request.zone_max[MYR_ZONE_RACK] = 1;
    assert_true(myr_place_gang(placer, &request, &found));
    assert_int_equal(found.gang.shares[0].node, 1);
    assert_int_equal(found.gang.shares[1].node, 3);
    myr_release(placer, &found.gang);
    request.zone_max[MYR_ZONE_ROW] = 1; /* all four stand in row a */
    assert_false(myr_place_gang(placer, &request, &found));
    assert_int_equal(myr_request_size(placer, &request), 1);
    /* Others stand alone: 25 nodes without a row, and one of each of the two rows. */
    request = (struct myr_request){.nodes = 32, .zone_max[MYR_ZONE_ROW] = 1};
    assert_int_equal(myr_request_size(placer, &request), 27);
    myr_sched_state_done(&running);
    myr_placer_free(placer);
}

static void bad_states_are_told_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where;
    } bad[] = {
        {"", "s.csv:"},
        {"job,gpus\na,1\n", "s.csv:1:"},
        {"node,job\n99,a\n", "s.csv:2:1"},
        {"node,job,gpus\n1,a,9\n", "s.csv:2:5"},
        {"node,job,gpus\n1,a,5\n1,b,4\n", "s.csv:3:1"},
        {"node,state\n1,broken\n", "s.csv:2:3"},
        {"node,penalty\n1,-3\n", "s.csv:2:3"},
        {"job,node\na\n", "s.csv:2:1"},
        {"node,link_load\n1,2\n", "s.csv:2:3"},
        {"node,job\n\"1,a\n", "s.csv:"},
        {"node,kind\n1,a\n1,b\n", "s.csv:3:3: node 1 had another kind"},
        {"node,rack,row\n1,a,x\n2,a,x\n2,,y\n", "s.csv:4:4: node 2 had another row"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_placer *placer = myr_placer_create(&shape);
        struct myr_sched_state running;
        struct myr_err err = {};
        assert_true(
            myr_sched_state_parse(&running, placer, "s.csv", myr_str_from(bad[i].text), &err) < 0);
        assert_memory_equal(err.message, bad[i].where, strlen(bad[i].where));
        myr_placer_free(placer);
    }
}

/* GPUs of a random cluster: which are busy, which nodes are down. */
struct scene {
    struct myr_rng rng;
    struct myr_place_shape shape;
    uint64_t busy[32];
    bool down[32];
};

static uint32_t draw(struct scene *s, uint32_t bound)
{
    return myr_rng_below(&s->rng, bound);
}

static struct myr_placer *placer_of(const struct scene *s)
{
    struct myr_placer *placer = myr_placer_create(&s->shape);
    for (uint32_t node = 0; node < s->shape.nodes; node++) {
        if (s->busy[node]) {
            myr_place_take(placer, node, s->busy[node]);
        }
        myr_placer_set_node(placer, node, !s->down[node]);
    }
    return placer;
}

static bool fits(const struct scene *s, const struct myr_request *request)
{
    struct myr_share shares[32];
    struct myr_placement found = {.gang.shares = shares};
    struct myr_placer *placer = placer_of(s);
    bool fit = request->nodes > 0 && myr_place_gang(placer, request, &found);
    myr_placer_free(placer);
    return fit;
}

/* Makes the change in the scene, or in the request; false: it is not one of these kinds. */
static bool apply(struct scene *s, struct myr_request *request, const struct myr_reasons *why,
                  const struct myr_change *c)
{
    uint32_t left = c->nodes;
    switch (c->kind) {
    case MYR_CHANGE_DROP_LIMIT:
        request->limited = false;
        return true;
    case MYR_CHANGE_DROP_SPREAD:
        request->leaf_max = 0;
        return true;
    case MYR_CHANGE_FEWER_NODES:
        request->nodes -= c->nodes;
        return true;
    case MYR_CHANGE_REOPEN_NODES:
        for (uint32_t node = 0; node < s->shape.nodes && left; node++) {
            if (s->down[node] && !s->busy[node]) {
                s->down[node] = false;
                left--;
            }
        }
        return true;
    case MYR_CHANGE_DEFRAGMENT:
        for (uint32_t i = 0; i < c->migrations && c->migrations <= MYR_CHANGE_MOVES_MAX; i++) {
            for (uint32_t g = 0; g < why->moves[i].gpus; g++) {
                uint64_t *to = &s->busy[why->moves[i].to], *from = &s->busy[why->moves[i].from];
                *from &= *from - 1;
                *to |= ~*to & (*to + 1);
            }
        }
        return c->migrations <= MYR_CHANGE_MOVES_MAX;
    default:
        return false;
    }
}

static void every_change_holds_in_random_states(void **state)
{
    (void)state;
    uint32_t tried[MYR_CHANGE_COUNT] = {};
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct scene s = {.shape = {32, 8, 4, 16}}, changed;
        struct myr_share shares[32];
        struct myr_gang gangs[32];
        struct myr_running jobs[32];
        uint32_t count = 0;
        myr_rng_init(&s.rng, seed, 3);
        for (uint32_t node = 0; node < 32; node++) {
            s.down[node] = draw(&s, 8) == 0;
            uint32_t gpus = s.down[node] || draw(&s, 2) ? 0 : 1 + draw(&s, 8);
            s.busy[node] = (UINT64_C(1) << gpus) - 1;
            if (gpus) {
                shares[count] = (struct myr_share){node, s.busy[node]};
                gangs[count] = (struct myr_gang){1, &shares[count]};
                jobs[count] = (struct myr_running){&gangs[count], 600, false};
                count++;
            }
        }
        struct myr_request request = {.nodes = 1 + draw(&s, 24),
                                      .limited = draw(&s, 2),
                                      .within = draw(&s, 2) ? MYR_LEVEL_LEAF : MYR_LEVEL_POD,
                                      .leaf_max = draw(&s, 4) ? 0 : 1 + draw(&s, 3)};
        struct myr_reasons why;
        struct myr_placer *placer = placer_of(&s);
        myr_explain(placer, &request, jobs, count, &why);
        assert_int_equal(why.fits, fits(&s, &request));
        for (uint32_t i = 0; i < why.change_count; i++) {
            struct myr_request other = request;
            changed = s;
            if (apply(&changed, &other, &why, &why.changes[i])) {
                tried[why.changes[i].kind]++;
                assert_true(fits(&changed, &other));
            }
        }
        myr_placer_free(placer);
    }
    assert_true(tried[MYR_CHANGE_DROP_LIMIT] && tried[MYR_CHANGE_FEWER_NODES] &&
                tried[MYR_CHANGE_REOPEN_NODES] && tried[MYR_CHANGE_DEFRAGMENT]);
}

/* Free nodes of the freest unit of so many, and which that is: the first of equal ones. */
static uint32_t freest(const bool *is_free, uint32_t nodes, uint32_t unit, uint32_t *ret_which)
{
    uint32_t most = 0;
    *ret_which = 0;
    for (uint32_t first = 0; first < nodes; first += unit) {
        uint32_t count = 0;
        for (uint32_t node = first; node < nodes && node < first + unit; node++) {
            count += is_free[node];
        }
        if (count > most) {
            most = count;
            *ret_which = first / unit;
        }
    }
    return most;
}

/* Each node is in one class, the first of those that it could be in; classes by a naive count. */
static void nodes_are_counted_by_the_first_reason_against_them(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct scene s = {.shape = {29, 8, 4, 16}};
        uint64_t exclude = 0;
        bool is_free[32] = {false};
        uint32_t unsuitable = 0, closed = 0, partly = 0, busy = 0, free_count = 0, leaf, pod;
        myr_rng_init(&s.rng, seed, 5);
        struct myr_request request = {.nodes = 1 + draw(&s, 20), .gpus_per_node = draw(&s, 9)};
        uint32_t gpus = request.gpus_per_node ? request.gpus_per_node : 8;
        for (uint32_t node = 0; node < s.shape.nodes; node++) {
            s.busy[node] = draw(&s, 2) ? 0 : (UINT64_C(1) << (1 + draw(&s, 8))) - 1;
            s.down[node] = draw(&s, 6) == 0;
            exclude |= (uint64_t)(draw(&s, 6) == 0) << node;
            uint32_t left = 8 - (uint32_t)__builtin_popcountll(s.busy[node]);
            if (exclude >> node & 1) {
                unsuitable++;
            } else if (s.down[node]) {
                closed++;
            } else if (left >= gpus) {
                free_count++;
                is_free[node] = true;
            } else {
                *(left ? &partly : &busy) += 1;
            }
        }
        request.exclude = &exclude;
        struct myr_reasons why;
        struct myr_placer *placer = placer_of(&s);
        myr_explain(placer, &request, NULL, 0, &why);
        assert_int_equal(why.nodes_unsuitable, unsuitable);
        assert_int_equal(why.nodes_closed, closed);
        assert_int_equal(why.nodes_free, free_count);
        assert_int_equal(why.nodes_partly, partly);
        assert_int_equal(why.nodes_busy, busy);
        assert_int_equal(why.leaf_most, freest(is_free, 29, s.shape.group_nodes, &leaf));
        assert_int_equal(why.pod_most, freest(is_free, 29, s.shape.pod_nodes, &pod));
        assert_true(why.leaf_best == leaf && why.pod_best == pod);
        /* Without limits any of them will do; more than are asked for are not looked for. */
        assert_int_equal(why.most, free_count < request.nodes ? free_count : request.nodes);
        myr_placer_free(placer);
    }
}

/* One of each. */
static void one_is_not_told_as_many(void **state)
{
    (void)state;
    static const struct myr_place_shape one = {1, 1, 1, 1};
    struct myr_placer *placer = myr_placer_create(&one);
    struct myr_request request = {.nodes = 1};
    struct myr_reasons why = {
        .wanted = 1,
        .nodes_busy = 1,
        .change_count = 5,
        .changes = {{.kind = MYR_CHANGE_DROP_LIMIT, .level = MYR_LEVEL_LEAF, .leaves = 1},
                    {.kind = MYR_CHANGE_FEWER_NODES, .nodes = 1},
                    {.kind = MYR_CHANGE_FREE_NODES, .level = MYR_LEVEL_LEAF, .nodes = 1},
                    {.kind = MYR_CHANGE_FREE_NODES, .level = MYR_LEVEL_CORE, .nodes = 1},
                    {.kind = MYR_CHANGE_DEFRAGMENT, .migrations = 1, .gpus_moved = 1}},
        .moves = {{.gpus = 1}}};
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    myr_explain_write(placer, &request, &why, NULL, &words);
    assert_string_equal(words.data,
                        "1 node wanted, 0 would fit now\n"
                        "of 1 node: 0 free, 0 partly busy, 1 busy, 0 down or held, 0 not suitable\n"
                        "it would start now if it might reach beyond one leaf: under 1 leaf\n"
                        "it would start now with 1 node fewer\n"
                        "it would start once 1 more node of leaf 0 is free\n"
                        "it would start once 1 more node is free\n"
                        "it would start after 1 migration (of 1 GPU, 0.0 GPU hours lost)\n"
                        "move 1 GPU from node 0 to node 0\n");
    myr_placer_free(placer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_alone_would_start_it),
        cmocka_unit_test(a_limit_that_is_too_tight_is_named),
        cmocka_unit_test(states_say_kinds_and_places),
        cmocka_unit_test(bad_states_are_told_where),
        cmocka_unit_test(every_change_holds_in_random_states),
        cmocka_unit_test(nodes_are_counted_by_the_first_reason_against_them),
        cmocka_unit_test(one_is_not_told_as_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
