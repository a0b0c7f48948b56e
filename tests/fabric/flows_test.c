/*
 * Flows by name: what patterns, groups and files become, port by port with their shares; and what
 * words about links, devices, nodes and domains stand for (tests/kept/fabric-flows.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#include "fixture.h"
#include "kept.h"
#include "myriad/fabric/words.h"

static struct myr_buf text;

static void put_flows(const struct fixture *f, const char *what, struct myr_flows *flows)
{
    myr_buf_printf(&text, "%s: %zu flows\n", what, flows->items.count);
    for (size_t i = 0; i < flows->items.count; i++) {
        const struct myr_flow *flow = &flows->items.items[i];
        struct myr_arena arena = {};
        myr_buf_printf(&text, "  %s > ", myr_name_port(&arena, &f->design, flow->from_port));
        myr_buf_printf(&text, "%s %u from %u\n", myr_name_port(&arena, &f->design, flow->to_port),
                       flow->share, flow->source);
        myr_arena_done(&arena);
    }
    flows->items.count = 0;
}

static void put_groups(const struct fixture *f, struct myr_layout layout, enum myr_axis axis,
                       enum myr_traffic pattern, const uint32_t *nodes, uint32_t node_count)
{
    struct myr_flows flows = {};
    struct myr_err err = {};
    struct myr_ranks_on ranks = {&layout, nodes, node_count};
    char what[100];
    (void)snprintf(what, sizeof(what), "%s over %s of tp %u cp %u pp %u dp %u%s",
                   myr_traffic_names[pattern], myr_axis_name(axis), layout.tp, layout.cp, layout.pp,
                   layout.dp, nodes ? " on nodes of its own" : "");
    if (myr_flows_groups(&flows, &f->graph, &ranks, axis, pattern, &err) < 0) {
        myr_buf_printf(&text, "%s: %s: %s\n", what, myr_err_name(err.code), err.message);
    } else {
        put_flows(f, what, &flows);
        assert_int_equal(myr_flows_groups(&flows, &f->graph, &ranks, axis, pattern, &err), MYR_OK);
        /* Twice as many as fit. */
        assert_int_equal(myr_flows_groups(&flows, &f->graph, &ranks, axis, pattern, &err), MYR_OK);
        myr_flows_fit(&flows, &f->design);
        put_flows(f, "  and again, fitted", &flows);
    }
    myr_flows_done(&flows);
}

static void put_patterns(const struct fixture *f)
{
    struct myr_flows flows = {};
    myr_flows_shift(&flows, &f->graph, 1);
    put_flows(f, "shift by one", &flows);
    myr_flows_shift(&flows, &f->graph, UINT32_MAX);
    put_flows(f, "shift by 2^32 - 1", &flows);
    myr_flows_permutation(&flows, &f->graph, 5);
    put_flows(f, "permutation", &flows);
    myr_flows_done(&flows);
}

static void flows_are_these(void **state)
{
    (void)state;
    static const uint32_t nodes[] = {3, 1, 2};
    struct fixture f;
    struct myr_layout layout = myr_layout_default();
    fixture_plan(&f, 5, "generic-1gpu", "topology: clos, switch: mqm9790, nic_gbps: 400");
    put_patterns(&f);
    layout.dp = 5;
    put_groups(&f, layout, MYR_AXIS_DP, MYR_TRAFFIC_RING, NULL, 0);
    put_groups(&f, layout, MYR_AXIS_DP, MYR_TRAFFIC_TREE, NULL, 0);
    put_groups(&f, layout, MYR_AXIS_TP, MYR_TRAFFIC_RING, NULL, 0);
    put_groups(&f, layout, MYR_AXIS_DP, MYR_TRAFFIC_RING, nodes, 3);
    layout.dp = 3;
    put_groups(&f, layout, MYR_AXIS_DP, MYR_TRAFFIC_ALL_TO_ALL, nodes, 3);
    layout.dp = 2;
    layout.pp = 2;
    put_groups(&f, layout, MYR_AXIS_PP, MYR_TRAFFIC_RING, NULL, 0);
    layout.dp = 6;
    put_groups(&f, layout, MYR_AXIS_DP, MYR_TRAFFIC_RING, NULL, 0);
    fixture_done(&f);
    /* Eight GPUs a node, two planes: ports of the first plane stand for both. */
    fixture_plan(&f, 2, "h100-8gpu-2x200",
                 "switch: sn5600, nic_gbps: 200, topology: dual-tor, leaf_down: 8, leaf_up: 8");
    put_patterns(&f);
    layout = myr_layout_default();
    layout.tp = 8;
    layout.dp = 2;
    put_groups(&f, layout, MYR_AXIS_TP, MYR_TRAFFIC_ALL_TO_ALL, NULL, 0);
    put_groups(&f, layout, MYR_AXIS_DP, MYR_TRAFFIC_ALL_TO_ALL, NULL, 0);
    assert_int_equal(myr_flow_port(&f.graph, 16), MYR_NONE);
    fixture_done(&f);
    assert_kept("fabric-flows.txt", &text);
    myr_buf_clear(&text);
}

static void put_file(const struct fixture *f, const char *file)
{
    struct myr_flows flows = {};
    struct myr_err err = {};
    myr_buf_printf(&text, "%s\n", file);
    if (myr_flows_parse(&flows, &f->graph, "f.csv", myr_str_from(file), &err) < 0) {
        myr_buf_printf(&text, "  %s: %s\n", myr_err_name(err.code), err.message);
    } else {
        put_flows(f, "  read", &flows);
    }
    myr_flows_done(&flows);
}

static void files_say_these(void **state)
{
    (void)state;
    static const char *const files[] = {
        "from,to\n0,8",
        "to,from\n0,8",
        "0,15\nfrom,to",
        "0,16",
        "gpu/0/7,gpu/1/0",
        "gpu/0/8,gpu/1/0",
        "gpu/2/0,gpu/1/0",
        "gpu/,gpu/1/0",
        "gpu/0,1",
        "gpu/x/0,1",
        "gpu/0/,1",
        "node/00000:nic0,node/00001:nic7",
        "node/00000:nic8,node/00001:nic7",
        "node/00002:nic0,1",
        "node/00000,1",
        "leaf/p0-g0-r0:1/1,1",
        "an_end_whose_name_is_longer_than_forty_characters,1",
        "0,0",
        "0,8,1,65535",
        "0,8,1,65536",
        "0,8,1,0",
        "0,8,0.0001",
        "0,8,0.0015",
        "0,8,1.0001",
        "0,8,0",
        "0,8,,1",
        "0",
        "0,8,1,2,3",
        "from,to",
        "",
        "0,8\n1,8\n2,x",
    };
    struct fixture f;
    fixture_plan(&f, 2, "h100-8gpu", "switch: mqm9790");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        put_file(&f, files[i]);
    }
    /* What was there before stays, whatever comes. */
    struct myr_flows flows = {};
    assert_int_equal(myr_flows_parse(&flows, &f.graph, "f", MYR_STR("0,8\n"), NULL), MYR_OK);
    assert_true(myr_flows_parse(&flows, &f.graph, "f", MYR_STR("1,8\nx,y\n"), NULL) < 0);
    assert_int_equal(flows.items.count, 1);
    assert_true(myr_flows_parse(&flows, &f.graph, "f", MYR_STR("from,to\n"), NULL) < 0);
    assert_int_equal(flows.items.count, 1);
    myr_flows_done(&flows);
    fixture_done(&f);
    assert_kept("fabric-flow-files.txt", &text);
    myr_buf_clear(&text);
}

/* --- words */

MYR_PRINTF(4, 5)
static void put_said(const char *word, int rc, const struct myr_err *err, const char *fmt, ...)
{
    char what[200];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(what, sizeof(what), fmt, arguments);
    va_end(arguments);
    myr_buf_printf(&text, "  '%s': %s%s%s\n", word, rc < 0 ? myr_err_name(rc) : what,
                   rc < 0 ? ": " : "", rc < 0 ? err->message : "");
}

static void put_words(struct fixture *f, const char *word)
{
    struct myr_err err = {};
    uint32_t id = 0, *nodes = NULL, count = 0;
    int rc = myr_words_link(&f->graph, myr_str_from(word), &id, &err);
    put_said(word, rc, &err, "link %u", id);
    rc = myr_words_device(&f->graph, myr_str_from(word), &id, &err);
    put_said(word, rc, &err, "device %u", id);
    rc = myr_words_nodes(&f->arena, &f->design, word, &nodes, &count, &err);
    put_said(word, rc, &err, "%u nodes, the first %u, the last %u", count, count ? nodes[0] : 99,
             count ? nodes[count - 1] : 99);
    const struct myr_domain *domain = myr_words_domain(&f->design, myr_str_from(word));
    if (domain) {
        put_said(word, 0, NULL, "domain %u of kind %d", domain->index, (int)domain->kind);
    } else {
        put_said(word, 0, NULL, "no domain");
    }
    fixture_heal(f);
    rc = myr_words_kill(&f->graph, word, &id, &err);
    put_said(word, rc, &err, "%u links die", id);
}

static void words_stand_for_these(void **state)
{
    (void)state;
    static const char *const words[] = {
        "",
        "link/00000000",
        "link/0",
        "link/00000047,link/00000047,link/00000005",
        "link/99999999",
        "link/4294967295",
        "link/4294967296",
        "link/",
        "link/x",
        "link/00000000,",
        "node/00000",
        "node/00001,node/00000",
        "node/00006",
        "leaf/p0-g0-r0",
        "leaf/p0-g0-r0,link/00000000",
        "spine/p0-0",
        "0",
        "1,0",
        "0-1",
        "1-0",
        "1-1,0-1,1",
        "5",
        "6",
        "0-5",
        "0-6",
        "0-",
        "-1",
        "0-x",
        "scale-up/0",
        "scale-up/1",
        "scale-up/2",
        "rail-group/0",
        "rail-group/1",
        "rail-group/2",
        "rack/1",
        "rack/0",
        "pod/0",
        "pod/",
        "pod",
        "pods/0",
        "scale-up/x",
        "a_word_that_is_a_good_deal_longer_than_forty_characters",
    };
    struct fixture f;
    fixture_text(&f,
                 "servers: 6\nserver: h100-8gpu\nnetworks:\n"
                 "  compute: {switch: mqm9790, leaf_down: 4, leaf_up: 4}\n  oob: {}\n",
                 MYR_NET_COMPUTE);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        put_words(&f, words[i]);
    }
    fixture_done(&f);
    assert_kept("fabric-words.txt", &text);
    myr_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_are_these),
        cmocka_unit_test(files_say_these),
        cmocka_unit_test(words_stand_for_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
