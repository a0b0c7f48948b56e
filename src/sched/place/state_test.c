#include "myriad/sched/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "place/index.h"

static const struct myr_place_shape shape = {8, 4, 2, 4};

struct read {
    struct myr_placer *placer;
    struct myr_sched_state state;
    struct myr_err err;
    int rc;
};

static struct read read_text(const char *text)
{
    struct read r = {.placer = myr_placer_create(&shape)};
    r.rc = myr_sched_state_parse(&r.state, r.placer, "s.csv", myr_str_from(text), &r.err);
    return r;
}

static void forget(struct read *r)
{
    if (r->rc == MYR_OK) {
        myr_sched_state_done(&r->state);
    }
    myr_placer_free(r->placer);
}

static struct read read_good(const char *text)
{
    struct read r = read_text(text);
    if (r.rc < 0) {
        fail_msg("%s", r.err.message);
    }
    return r;
}

static void jobs_hold_what_their_rows_say(void **state)
{
    (void)state;
    struct read r = read_good("gpus,job,node,restart_s,pinned\n"
                              ",a,node/00001,,\n"
                              "3,b,2,60,yes\n"
                              "1,c,2,,no\n"
                              "2,b,node-00005,60,yes\n"
                              ",,7,,\n");
    assert_int_equal(r.state.jobs.count, 3);
    const struct myr_running *a = &r.state.jobs.items[0], *b = &r.state.jobs.items[1];
    assert_int_equal(a->gang->count, 1);
    assert_int_equal(a->gang->shares[0].node, 1);
    assert_int_equal(a->gang->shares[0].gpus, 0xf); /* all of the node where none are given */
    assert_int_equal(a->restart_s, 600);
    assert_false(a->pinned);
    assert_int_equal(b->gang->count, 2);
    assert_int_equal(b->gang->shares[0].gpus, 0x7);
    assert_int_equal(b->gang->shares[1].node, 5);
    assert_int_equal(b->restart_s, 60);
    assert_true(b->pinned);
    assert_int_equal(r.state.jobs.items[2].gang->shares[0].gpus, 0x8); /* what b left */
    assert_int_equal(myr_placer_free_gpus(r.placer), 32 - 4 - 3 - 1 - 2);
    assert_int_equal(myr_placer_free_mask(r.placer, 5), 0xc);
    assert_int_equal(myr_placer_free_nodes(r.placer), 5);
    forget(&r);
}

static void a_row_that_says_nothing_takes_nothing_back(void **state)
{
    (void)state;
    struct read r = read_good("node,job,restart_s,pinned\n0,a,60,yes\n1,a,,\n2,b,60,yes\n"
                              "3,b,90,no\n");
    assert_true(r.state.jobs.items[0].pinned);
    assert_int_equal(r.state.jobs.items[0].restart_s, 60);
    assert_false(r.state.jobs.items[1].pinned);
    assert_int_equal(r.state.jobs.items[1].restart_s, 90);
    forget(&r);
}

static void a_gang_may_have_many_shares(void **state)
{
    (void)state;
    struct read r = read_good("node,job\n0,a\n1,a\n2,a\n3,a\n4,a\n5,a\n6,a\n");
    assert_int_equal(r.state.jobs.count, 1);
    assert_int_equal(r.state.jobs.items[0].gang->count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(r.state.jobs.items[0].gang->shares[i].node, i);
    }
    forget(&r);
}

static void nodes_are_up_down_or_held(void **state)
{
    (void)state;
    struct read r = read_good("node,state,penalty,link_load,flaps_per_day,power_headroom\n"
                              "0,up,,,,\n1,down,,,,\n2,held,,,,\n3,,0.25,,,\n4,,,0.5,10,0\n");
    assert_true(myr_placer_is_open(r.placer, 0));
    assert_false(myr_placer_is_open(r.placer, 1));
    assert_false(myr_placer_is_open(r.placer, 2));
    assert_int_equal(r.placer->node_penalty[0], 0);
    assert_int_equal(r.placer->node_penalty[3], 250);
    assert_int_equal(r.placer->node_penalty[4], 250 + 500 + 500);
    assert_int_equal(r.placer->penalised, 2);
    forget(&r);
}

static void kinds_racks_and_rows_are_numbered_as_they_come(void **state)
{
    (void)state;
    struct read r = read_good("node,kind,rack,row\n0,h100,r1,a\n1,h200,r1,a\n2,h100,r2,a\n3,,,\n");
    assert_int_equal(r.state.kinds.count, 2);
    assert_true(myr_str_eq(r.state.kinds.items[1], MYR_STR("h200")));
    assert_int_equal(r.placer->kind[0], 1);
    assert_int_equal(r.placer->kind[1], 2);
    assert_int_equal(r.placer->kind[2], 1);
    assert_int_equal(r.placer->kind[3], 0); /* no name */
    assert_true(r.state.has_zone[MYR_ZONE_RACK] && r.state.has_zone[MYR_ZONE_ROW]);
    const uint32_t *rack = r.placer->zones[MYR_ZONE_RACK].unit_of;
    assert_true(rack[0] == rack[1] && rack[0] != rack[2] && rack[3] != rack[4]);
    assert_int_equal(myr_placer_zone_free(r.placer, MYR_ZONE_RACK, rack[0]), 2);
    forget(&r);
    r = read_good("node,job\n0,a\n");
    assert_false(r.state.has_zone[MYR_ZONE_RACK] || r.state.has_zone[MYR_ZONE_ROW]);
    forget(&r);
}

struct bad {
    const char *text, *message;
};

static void check_bad(const struct bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct read r = read_text(cases[i].text);
        if (r.rc >= 0 || strncmp(r.err.message, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("case %zu: '%s' instead of '%s'", i, r.err.message, cases[i].message);
        }
        forget(&r);
    }
}

static void bad_tables_are_told_where(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"", "s.csv:1:1: no column 'node', expected a header naming it"},
        {"job\na\n", "s.csv:1:1: no column 'node', expected a header naming it"},
        {"node\n8\n", "s.csv:2:1: '8' is no node, expected 0 to 7, or such as node/00042"},
        {"node\nnode/00008\n", "s.csv:2:1: 'node/00008' is no node, expected 0 to 7"},
        {"node\nx\n", "s.csv:2:1: 'x' is no node, expected 0 to 7"},
        /* What ends in the digits of a node may be anything. */
        {"job,node\na,spine/p0-3\n", "s.csv:2:3: 'spine/p0-3' is no node"},
        {"node\n5.0\n", "s.csv:2:1: '5.0' is no node"},
        {"node\ngpu001\n", "s.csv:2:1: 'gpu001' is no node"},
        {"node\nrack3-gpu017\n", "s.csv:2:1: 'rack3-gpu017' is no node"},
        {"node\nrack3-node-5\n", "s.csv:2:1: 'rack3-node-5' is no node"},
        {"node\n训练机07\n", "s.csv:2:1: '训练机07' is no node"},
        {"node\ngpu/00001/3\n", "s.csv:2:1: 'gpu/00001/3' is no node"},
        {"node\nnode\n", "s.csv:2:1: 'node' is no node"},
        {"node\nnode/\n", "s.csv:2:1: 'node/' is no node"},
        {"node\nnode3\n", "s.csv:2:1: 'node3' is no node"},
        {"node\n-1\n", "s.csv:2:1: '-1' is no node"},
        {"node\n+1\n", "s.csv:2:1: '+1' is no node"},
        {"node\n 1\n", "s.csv:2:1: ' 1' is no node"},
        {"node\n18446744073709551617\n", "s.csv:2:1: '18446744073709551617' is no node"},
        {"node,job,gpus\n0,a,5\n", "s.csv:2:5: 'gpus' is not a number from 0 to 4"},
        {"node,job,gpus\n0,a,0\n", "s.csv:2:5: 'gpus' is 0 of a job's row, expected 1 to 4"},
        {"node,job,gpus\n0,a,3\n0,b,2\n", "s.csv:3:1: node 0 has 1 GPU left, this job takes 2"},
        {"node,state\n0,broken\n", "s.csv:2:3: unknown state, expected up, down or held"},
        {"node,state\n0,up\n1,down\n0,down\n",
         "s.csv:4:3: the node is down here and up in a row before, expected one state"},
        {"node,state\n2,held\n2,\n2,down\n",
         "s.csv:4:3: the node is down here and held in a row before, expected one state"},
        {"node,job,state,job\n0,a,up,b\n",
         "s.csv:1:16: a second column 'job', the first is field 2"},
        {"node,penalty\n0,-1\n", "s.csv:2:3: 'penalty' is not a number from 0 to 1000"},
        {"node,link_load\n0,1.5\n", "s.csv:2:3: 'link_load' is not a number from 0 to 1"},
        {"node,power_headroom\n0,2\n", "s.csv:2:3: 'power_headroom' is not a number from 0 to 1"},
        {"node,flaps_per_day\n0,x\n", "s.csv:2:3: 'flaps_per_day' is not a number from 0 to 1e+06"},
        {"node,job,restart_s\n0,a,x\n", "s.csv:2:5: 'restart_s' is not a number from 0 to"},
        {"node,rack\n3,a\n3,b\n", "s.csv:3:3: node 3 had another rack above, expected the same"},
        {"node,kind\n3,a\n3,b\n", "s.csv:3:3: node 3 had another kind above, expected the same"},
    };
    check_bad(cases, MYR_ARRAY_COUNT(cases));
}

static void what_is_not_understood_leaves_no_node_free(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"node,sate\n0,down\n", "s.csv:1:6: unknown column 'sate'; did you mean 'state'?"},
        {"node,gpuz\n0,1\n", "s.csv:1:6: unknown column 'gpuz'; did you mean 'gpus'?"},
        {"node,job,weather\n0,a,fine\n",
         "s.csv:1:10: unknown column 'weather', expected one that is known"},
        {"node, job\n0,a\n", "s.csv:1:6: unknown column ' job'; did you mean 'job'"},
        {"node,,job\n0,,a\n1,x,b\n",
         "s.csv:3:3: a value in a column without a name, expected nothing"},
        {"node,job,gpus,state\n0,1,8,up,down\n", "s.csv:2:10: the row has 5 fields, the header 4"},
        {"node,job,gpus\n0,,4\n",
         "s.csv:2:4: 'gpus' is said of a row without a job, expected the job's name too"},
        {"node,gpus\n0,4\n", "s.csv:2:3: 'gpus' is said of a row without a job"},
        {"node,pinned\n0,maybe\n", "s.csv:2:3: 'pinned' is 'maybe', expected yes or no"},
        {"node,job,pinned\n0,a,true\n", "s.csv:2:5: 'pinned' is 'true', expected yes or no"},
        {"node,job,pinned\n0,,yes\n", "s.csv:2:4: 'pinned' is said of a row without a job"},
    };
    check_bad(cases, MYR_ARRAY_COUNT(cases));
    static const char *const fine[] = {
        "node", /* nothing runs */
        "node,\n0,\n",
        "node,job,gpus,pinned,restart_s\n0,,0,no,600\n1,,,\n2,a,1,,,, \n",
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fine); i++) {
        struct read r = read_good(fine[i]);
        forget(&r);
    }
}

static void kinds_that_have_a_name_are_at_most_255(void **state)
{
    (void)state;
    struct myr_place_shape large = {300, 4, 2, 4};
    struct myr_placer *placer = myr_placer_create(&large);
    struct myr_buf text = {};
    struct myr_sched_state read;
    struct myr_err err = {};
    myr_buf_puts(&text, "node,kind\n");
    for (uint32_t i = 0; i < 256; i++) {
        myr_buf_printf(&text, "%u,k%u\n", i, i);
    }
    assert_true(myr_sched_state_parse(&read, placer, "s.csv", (struct myr_str){text.data, text.len},
                                      &err) < 0);
    assert_string_equal(err.message, "s.csv:257:5: more than 255 different values of 'kind'");
    myr_buf_done(&text);
    myr_placer_free(placer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_hold_what_their_rows_say),
        cmocka_unit_test(a_row_that_says_nothing_takes_nothing_back),
        cmocka_unit_test(a_gang_may_have_many_shares),
        cmocka_unit_test(nodes_are_up_down_or_held),
        cmocka_unit_test(kinds_racks_and_rows_are_numbered_as_they_come),
        cmocka_unit_test(bad_tables_are_told_where),
        cmocka_unit_test(what_is_not_understood_leaves_no_node_free),
        cmocka_unit_test(kinds_that_have_a_name_are_at_most_255),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
