/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"

/* What people write about a fabric, and the questions of 'route' and 'path' as values. */

static struct fixture *rails(void **state)
{
    return *state;
}

static int make_rails(void **state)
{
    struct fixture *fixture = myr_xcalloc(1, sizeof(*fixture));
    fixture_plan(fixture, 64, "h100-8gpu", "switch: mqm9790");
    *state = fixture;
    return 0;
}

static int drop_rails(void **state)
{
    fixture_done(*state);
    free(*state);
    return 0;
}

/* A case over the fixture's design; its arena is its own. */
static struct myr_fabric_case case_of(struct fixture *fixture)
{
    struct myr_fabric_case fabric = {.design = fixture->design, .graph = fixture->graph};
    myr_arena_init(&fabric.arena);
    return fabric;
}

static void case_done(struct myr_fabric_case *fabric)
{
    myr_flows_done(&fabric->flows);
    myr_arena_done(&fabric->arena);
}

static int join_pieces(void *context, struct myr_str piece, struct myr_err *err)
{
    (void)err;
    myr_buf_printf(context, "[%.*s]", (int)piece.len, piece.data);
    return MYR_OK;
}

static void a_list_is_its_pieces_in_order(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""}, {"a", "[a]"}, {"a,b", "[a][b]"}, {"a,,b", "[a][][b]"}, {"a,", "[a]"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_buf buf = {};
        myr_buf_puts(&buf, "");
        assert_int_equal(myr_words_each(cases[i][0], join_pieces, &buf, NULL), MYR_OK);
        assert_string_equal(buf.data, cases[i][1]);
        myr_buf_done(&buf);
    }
}

static void links_and_devices_are_found_by_name(void **state)
{
    const struct myr_graph *graph = &rails(state)->graph;
    struct myr_arena arena;
    struct myr_err err = {};
    uint32_t id = 0;
    myr_arena_init(&arena);
    assert_int_equal(myr_words_link(graph, MYR_STR("link/00000123"), &id, &err), MYR_OK);
    assert_int_equal(id, 123);
    assert_string_equal(myr_name_link(&arena, graph->design, 123), "link/00000123");
    for (uint32_t device = 0; device < graph->design->device_count; device += 7) {
        const char *name = myr_name_device(&arena, graph->design, device);
        assert_int_equal(myr_words_device(graph, myr_str_from(name), &id, &err), MYR_OK);
        assert_int_equal(id, device);
    }
    uint32_t port = graph->design->link_a[0];
    assert_string_equal(myr_name_port(&arena, graph->design, port), "node/00000:nic0");
    assert_int_equal(myr_words_device(graph, MYR_STR("leaf/none"), &id, &err), MYR_ENOENT);
    assert_string_equal(err.message, "'leaf/none' is no device of this design");
    myr_arena_done(&arena);
}

static void what_is_no_link_is_refused(void **state)
{
    const struct myr_graph *graph = &rails(state)->graph;
    struct myr_err err = {};
    char beyond[32];
    uint32_t id = 77;
    snprintf(beyond, sizeof(beyond), "link/%u", graph->design->link_count);
    const char *const bad[] = {"", "link/", "link/x", "link/-1", "00000001", beyond, "Link/1"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_int_equal(myr_words_link(graph, myr_str_from(bad[i]), &id, &err), MYR_ENOENT);
        assert_non_null(strstr(err.message, "link/00000123 is expected"));
    }
    assert_int_equal(id, 77);
}

static void a_link_of_another_network_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct myr_err err = {};
    uint32_t id = 0, other = 0;
    fixture_text(&fixture,
                 "servers: 8\nserver: h100-8gpu\nnetworks:\n  compute: {switch: mqm9790}\n"
                 "  oob: {}\n",
                 MYR_NET_COMPUTE);
    while (other < fixture.design.link_count && myr_graph_has_link(&fixture.graph, other)) {
        other++;
    }
    assert_true(other < fixture.design.link_count);
    char name[32];
    snprintf(name, sizeof(name), "link/%u", other);
    assert_int_equal(myr_words_link(&fixture.graph, myr_str_from(name), &id, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "is not on the compute network"));
    fixture_done(&fixture);
}

static void what_is_dead_is_counted_once(void **state)
{
    struct fixture *fixture = rails(state);
    uint32_t count = 0;
    const struct myr_design *design = &fixture->design;
    assert_int_equal(myr_words_kill(&fixture->graph, "link/0,link/1,link/0", &count, NULL), MYR_OK);
    assert_int_equal(count, 2);
    assert_true(myr_graph_link_dead(&fixture->graph, 1));
    fixture_heal(fixture);
    uint32_t leaf = myr_design_find(design, MYR_STR("leaf/p0-g0-r0"));
    uint32_t ports = 0;
    for (uint32_t p = design->first_port[leaf]; p < design->first_port[leaf + 1]; p++) {
        ports += design->port_link[p] != MYR_NONE;
    }
    assert_int_equal(myr_words_kill(&fixture->graph, "leaf/p0-g0-r0", &count, NULL), MYR_OK);
    assert_int_equal(count, ports);
    fixture_heal(fixture);
    assert_int_equal(myr_words_kill(&fixture->graph, "link/0,nothing", &count, NULL), MYR_ENOENT);
    fixture_heal(fixture);
}

static void nodes_keep_the_order_in_which_they_are_named(void **state)
{
    struct fixture *fixture = rails(state);
    static const uint32_t expected[] = {5, 7, 0, 1, 2, 63};
    uint32_t *nodes = NULL, count = 0;
    assert_int_equal(myr_words_nodes(&fixture->arena, &fixture->design, "5,node/00007,0-2,63",
                                     &nodes, &count, NULL),
                     MYR_OK);
    assert_int_equal(count, MYR_ARRAY_COUNT(expected));
    assert_memory_equal(nodes, expected, sizeof(expected));
    static const char *const bad[] = {"64", "3-2", "0-64",  "x",
                                      "1-", "-1",  "1-2-3", "leaf/p0-g0-r0"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_err err = {};
        assert_int_equal(
            myr_words_nodes(&fixture->arena, &fixture->design, bad[i], &nodes, &count, &err),
            MYR_ENOENT);
        assert_non_null(strstr(err.message, "is no node; node/00042, 42 or 40-47 is expected"));
        assert_non_null(strstr(err.message, "below 64"));
    }
    static const char *const twice[] = {"5,7,5", "5,node/00005", "0-7,5", "5-5,3-6"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(twice); i++) {
        struct myr_err err = {};
        assert_int_equal(
            myr_words_nodes(&fixture->arena, &fixture->design, twice[i], &nodes, &count, &err),
            MYR_EINVAL);
        assert_string_equal(err.message, "node 5 is twice in the list");
    }
    assert_int_equal(count, MYR_ARRAY_COUNT(expected));
}

static void domains_are_found_by_kind_and_number(void **state)
{
    const struct myr_design *design = &rails(state)->design;
    const struct myr_domain *group = myr_words_domain(design, MYR_STR("rail-group/1"));
    assert_non_null(group);
    assert_int_equal(group->index, 1);
    const struct myr_domain *other = myr_words_domain(design, MYR_STR("rail-group/0"));
    assert_true(other && other != group && other->index == 0);
    static const char *const none[] = {"",        "pod", "pod/",   "pod/x",       "rail-group/99",
                                       "group/1", "/1",  "rail/1", "rail-group1", "rack/99999"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(none); i++) {
        assert_null(myr_words_domain(design, myr_str_from(none[i])));
    }
}

static void failover_has_one_row_of_each_kind_or_all(void **state)
{
    struct fixture *fixture = rails(state);
    struct myr_fabric_case fabric = case_of(fixture);
    struct myr_failover_rows rows;
    struct myr_failover_question question = {};
    assert_int_equal(myr_failover_list(&fabric, &question, NULL, &rows, NULL), MYR_OK);
    static const char *const kinds[] = {"host_leaf", "leaf_spine", "leaf", "spine"};
    uint64_t alike = 0;
    assert_int_equal(rows.count, MYR_ARRAY_COUNT(kinds));
    for (size_t i = 0; i < rows.count; i++) {
        assert_string_equal(rows.items[i].kind, kinds[i]);
        assert_int_equal(rows.items[i].between != NULL, i < 2);
        alike += rows.items[i].alike;
    }
    question.all = true;
    assert_int_equal(myr_failover_list(&fabric, &question, NULL, &rows, NULL), MYR_OK);
    assert_int_equal(rows.count, alike);
    assert_int_equal(rows.count, fabric.design.link_count + fabric.graph.switch_count);
    case_done(&fabric);
}

static void failover_of_one_thing_counts_the_flows_over_it(void **state)
{
    struct fixture *fixture = rails(state);
    struct myr_fabric_case fabric = case_of(fixture);
    struct myr_balance_options planned = {.policy = MYR_POLICY_PLANNED};
    struct myr_routes routes = {};
    struct myr_failover_rows rows;
    myr_flows_permutation(&fabric.flows, &fabric.graph, 1);
    assert_int_equal(myr_repair_routes(&fabric, &planned, &routes, NULL), MYR_OK);
    for (uint32_t link = 0; link < fabric.design.link_count; link += 97) {
        uint32_t naive = 0;
        for (size_t i = 0; i < routes.channels.count; i++) {
            naive += routes.channels.items[i] / 2 == link;
        }
        struct myr_failover_question question = {
            .link = myr_name_link(&fabric.arena, &fabric.design, link), .device = "spine/p0-3"};
        assert_int_equal(myr_failover_list(&fabric, &question, &routes, &rows, NULL), MYR_OK);
        assert_int_equal(rows.count, 2);
        assert_int_equal(rows.items[0].failover.flows_affected, naive);
        assert_string_equal(rows.items[1].what, "spine/p0-3");
        assert_true(rows.items[1].failover.flows_affected > 0);
        assert_int_equal(rows.items[1].failover.local_choices, 28);
    }
    struct myr_failover_question unknown = {.device = "spine/none"};
    assert_int_equal(myr_failover_list(&fabric, &unknown, &routes, &rows, NULL), MYR_ENOENT);
    myr_routes_done(&routes);
    case_done(&fabric);
}

static void sprayed_flows_have_no_failover(void **state)
{
    struct myr_fabric_case fabric = case_of(rails(state));
    struct myr_balance_options spray = {.policy = MYR_POLICY_SPRAY};
    struct myr_routes routes = {};
    struct myr_err err = {};
    assert_int_equal(myr_repair_routes(&fabric, &spray, &routes, &err), MYR_OK); /* no flows */
    myr_flows_permutation(&fabric.flows, &fabric.graph, 1);
    assert_int_equal(myr_repair_routes(&fabric, &spray, &routes, &err), MYR_EINVAL);
    assert_string_equal(err.message, "sprayed flows are on every path: take another --policy");
    myr_routes_done(&routes);
    case_done(&fabric);
}

static void degraded_names_the_worst_pair_and_every_rail(void **state)
{
    struct fixture *fixture = rails(state);
    struct myr_degraded_answer answer;
    uint32_t count;
    assert_int_equal(myr_words_kill(&fixture->graph, "spine/p0-3,link/00000000", &count, NULL),
                     MYR_OK);
    assert_int_equal(count, 65);
    struct myr_fabric_case fabric = case_of(fixture);
    myr_degraded_answer(&fabric, &answer);
    assert_int_equal(answer.left.dead_links, 65);
    assert_int_equal(answer.left.hosts_cut, 1);
    assert_int_equal(answer.rail_count, 8);
    assert_int_equal(answer.rails[0].full_gbps, 25600);
    assert_int_equal(answer.rails[7].gbps, 25600 * 7 / 8);
    assert_int_equal(answer.left.worst_pair_gbps, 28 * 400);
    assert_int_equal(answer.worst_full_gbps, 32 * 400);
    assert_non_null(strstr(answer.worst_a, "leaf/"));
    assert_string_not_equal(answer.worst_a, answer.worst_b);
    case_done(&fabric);
    fixture_heal(fixture);
}

static void blast_takes_devices_and_domains(void **state)
{
    struct myr_fabric_case fabric = case_of(rails(state));
    struct myr_blast_rows rows;
    struct myr_err err = {};
    assert_int_equal(
        myr_blast_list(&fabric, "rail-group/1,leaf/p0-g0-r0,node/00003", NULL, &rows, &err),
        MYR_OK);
    assert_int_equal(rows.count, 3);
    assert_string_equal(rows.items[0].what, "rail-group/1");
    assert_true(rows.items[0].blast.devices > 1);
    assert_int_equal(rows.items[1].blast.devices, 1);
    assert_int_equal(rows.items[1].blast.nodes_weakened, 32);
    assert_int_equal(rows.items[2].blast.nodes_dead, 1);
    assert_int_equal(rows.items[2].blast.gpus_lost, 8);
    for (size_t i = 0; i < rows.count; i++) {
        assert_true(rows.items[i].bisection_left >= 0 && rows.items[i].bisection_left <= 1);
    }
    assert_int_equal(myr_blast_list(&fabric, "leaf/p0-g0-r0,x", NULL, &rows, &err), MYR_ENOENT);
    assert_string_equal(err.hint,
                        "a device such as leaf/p0-g0-r0, or a domain such as rail-group/0");
    case_done(&fabric);
}

/* The uses, counted again from the routes alone. */
static void uses_are_those_of_the_routes(void **state)
{
    struct myr_fabric_case fabric = case_of(rails(state));
    struct myr_balance_options hashed = {.policy = MYR_POLICY_ECMP_CRC, .seed = 3};
    struct myr_use use = {};
    uint32_t in_use = 0, nic_links = 0;
    myr_flows_permutation(&fabric.flows, &fabric.graph, 2);
    size_t flows = fabric.flows.items.count;
    assert_int_equal(myr_use_find(&use, &fabric.arena, &fabric.graph, &hashed,
                                  fabric.flows.items.items, flows, NULL),
                     MYR_OK);
    uint64_t passed = 0, hops = use.routes.channels.count;
    for (uint32_t link = 0; link < fabric.design.link_count; link++) {
        passed += use.flows[link * 2] + use.flows[link * 2 + 1];
        in_use += myr_use_link(&use, link);
        uint32_t host = fabric.design.port_device[fabric.design.link_a[link]];
        nic_links += host < fabric.graph.first_switch && myr_use_link(&use, link);
        uint64_t most = use.load[link * 2] > use.load[link * 2 + 1] ? use.load[link * 2]
                                                                    : use.load[link * 2 + 1];
        assert_true(use.highest[host] >= most);
    }
    assert_int_equal(passed, hops);
    assert_true(in_use > 0);
    struct myr_use_nics nics = myr_use_nics(&use, &fabric.arena);
    assert_int_equal(nics.count, 512); /* every GPU sends */
    assert_int_equal(nics.count, nic_links);
    for (size_t i = 0; i < nics.count; i++) {
        assert_int_equal(nics.items[i].first_gpu, i % 8);
        assert_int_equal(nics.items[i].last_gpu, i % 8);
        assert_int_equal(nics.items[i].send, MYR_LOAD_ONE);
        assert_int_equal(nics.items[i].receive, MYR_LOAD_ONE);
    }
    myr_use_done(&use);
    case_done(&fabric);
}

static void a_question_is_answered_from_a_file(void **state)
{
    struct fixture *fixture = rails(state);
    char path[] = "/tmp/myriad-question-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(myr_design_write(&fixture->design, path, NULL), MYR_OK);
    const struct {
        struct myr_fabric_question question;
        int code;
        uint32_t flows;
        const char *message;
    } cases[] = {
        {{.design = path}, MYR_OK, 0, NULL},
        {{.design = path, .need_flows = true}, MYR_OK, 64, NULL},
        {{.design = path, .permutation = "7"}, MYR_OK, 512, NULL},
        {{.design = path, .nodes = "0-3", .layout = "tp=8", .axis = "dp"}, MYR_OK, 32, NULL},
        {{.design = path, .nodes = "0-3", .layout = "tp=8", .axis = "tp"}, MYR_OK, 0, NULL},
        {{.design = path, .nodes = "0-3", .layout = "tp=8,pp=2"}, MYR_OK, 64, NULL},
        {{.design = path, .layout = "tp=8", .axis = "tp", .need_flows = true},
         MYR_EINVAL,
         0,
         "no flow leaves a scale-up domain: nothing to route"},
        {{.design = path, .permutation = "x"}, MYR_EINVAL, 0, "'x' is no seed"},
        {{.design = path, .layout = "tp=8", .axis = "zz"}, MYR_EINVAL, 0, "unknown axis 'zz'"},
        {{.design = path, .layout = "tp=7"}, MYR_EINVAL, 0, "--layout:1:"},
        {{.design = path, .dead = "x"}, MYR_ENOENT, 0, "'x' is no device of this design"},
        {{.design = path, .net = MYR_NET_STORAGE}, MYR_ENOENT, 0, "storage"},
        {{.design = "/nonexistent/design.myr"}, MYR_EIO, 0, "/nonexistent/design.myr"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_fabric_case fabric;
        struct myr_err err = {};
        int rc = myr_fabric_open(&fabric, &cases[i].question, &err);
        SHOULD(rc == cases[i].code || (rc < 0 && cases[i].code < 0), "case %zu: %d %s\n", i, rc,
               err.message);
        SHOULD(rc < 0 || fabric.flows.items.count == cases[i].flows, "case %zu: %zu flows\n", i,
               fabric.flows.items.count);
        SHOULD(!cases[i].message || strstr(err.message, cases[i].message), "case %zu: %s\n", i,
               err.message);
        myr_fabric_close(&fabric);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_its_pieces_in_order),
        cmocka_unit_test(links_and_devices_are_found_by_name),
        cmocka_unit_test(what_is_no_link_is_refused),
        cmocka_unit_test(a_link_of_another_network_is_refused),
        cmocka_unit_test(what_is_dead_is_counted_once),
        cmocka_unit_test(nodes_keep_the_order_in_which_they_are_named),
        cmocka_unit_test(domains_are_found_by_kind_and_number),
        cmocka_unit_test(failover_has_one_row_of_each_kind_or_all),
        cmocka_unit_test(failover_of_one_thing_counts_the_flows_over_it),
        cmocka_unit_test(sprayed_flows_have_no_failover),
        cmocka_unit_test(degraded_names_the_worst_pair_and_every_rail),
        cmocka_unit_test(blast_takes_devices_and_domains),
        cmocka_unit_test(uses_are_those_of_the_routes),
        cmocka_unit_test(a_question_is_answered_from_a_file),
    };
    return cmocka_run_group_tests(tests, make_rails, drop_rails);
}
