#include "myriad/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "rounds.h"
struct fixture {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    struct myr_err err;
};

static int plan_text(struct fixture *f, const char *text)
{
    const struct myr_doc *doc;
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    assert_int_equal(myr_catalog_init(&f->catalog, &f->arena, &f->err), MYR_OK);
    MYR_TRY(myr_doc_read_yaml(&f->arena, "test.yaml", myr_str_from(text), &doc, &f->err));
    MYR_TRY(myr_spec_read(&f->arena, &f->catalog, doc, &f->spec, &f->err));
    return myr_plan(&f->arena, &f->catalog, &f->spec, &f->design, &f->err);
}

static void release(struct fixture *f)
{
    myr_spec_done(&f->spec);
    myr_catalog_done(&f->catalog);
    myr_arena_done(&f->arena);
}

static bool has_finding(const struct myr_design *design, const char *rule)
{
    for (uint32_t i = 0; i < design->finding_count; i++) {
        if (strcmp(myr_design_str(design, design->findings[i].rule), rule) == 0) {
            return true;
        }
    }
    return false;
}

static uint32_t storage_servers(const char *storage)
{
    struct fixture f;
    char text[256];
    snprintf(text, sizeof(text), "servers: 128\nstorage: %s\n", storage);
    if (plan_text(&f, text) < 0) {
        fail_msg("%s", f.err.message);
    }
    uint32_t count = f.design.head->storage_servers;
    release(&f);
    return count;
}

static void storage_is_sized_by_capacity_and_by_rate(void **state)
{
    (void)state;
    assert_int_equal(storage_servers("{capacity_pb: 3, copies: 2}"), 18);
    assert_int_equal(storage_servers("{capacity_pb: 3, binary: true, copies: 2}"), 19);
    assert_int_equal(storage_servers("{capacity_tb: 3072, copies: 2}"), 19);
    /* 8 data + 2 parity: 3000 * 10 / 8 / 337.92 = 11.1. */
    assert_int_equal(storage_servers("{capacity_tb: 3000, erasure: {data: 8, parity: 2}}"), 12);
    /* 4 started units * 125 GB/s read over 2 * 25 GB/s; two copies double the 62.5 written. */
    assert_int_equal(storage_servers("{rate: best, copies: 2}"), 10);
    assert_int_equal(storage_servers("{rate: best, copies: 3}"), 15);
    assert_int_equal(storage_servers("{rate: good, copies: 2}"), 2);
    assert_int_equal(storage_servers("{capacity_tb: 100, servers: 7}"), 7);
}

static void a_fabric_manager_takes_the_slot_of_a_node(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(plan_text(&f, "servers: 32\nnetworks: {compute: {switch: mqm9790}}"), MYR_OK);
    assert_int_equal(f.design.networks[MYR_NET_COMPUTE].leaf, 8);
    release(&f);
    assert_int_equal(plan_text(&f, "servers: 32\nnetworks: {compute: {switch: mqm9790, "
                                   "fabric_manager_ports: 4}}"),
                     MYR_OK);
    assert_int_equal(f.design.networks[MYR_NET_COMPUTE].leaf, 16);
    assert_int_equal(f.design.networks[MYR_NET_COMPUTE].links[MYR_LAYER_HOST], 260);
    release(&f);
}

static void nics_behind_one_splitter_share_a_cable(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(plan_text(&f, "servers: 33\nnetworks: {storage: {switch: mqm9790, "
                                   "nic_ports: 1, nic_gbps: 200}}"),
                     MYR_OK);
    const struct myr_design *d = &f.design;
    assert_int_equal(d->networks[MYR_NET_STORAGE].links[MYR_LAYER_HOST], 33);
    assert_int_equal(d->networks[MYR_NET_STORAGE].cables[MYR_LAYER_HOST], 17);
    for (uint32_t link = 0; link + 1 < 33; link += 2) {
        assert_int_equal(d->link_cable[link], d->link_cable[link + 1]);
        assert_int_equal(d->link_b[link] + 1, d->link_b[link + 1]);
    }
    release(&f);
}

static void wrong_optics_are_named(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(
        plan_text(&f, "servers: 32\nnetworks: {compute: {switch: mqm9790, pin: {switch_optic: "
                      "mms4x00-ns, nic_optic: mma1z00-ns400, host_cable: mfp7e10-n030}}}"),
        MYR_OK);
    assert_true(has_finding(&f.design, "optic-mode"));
    assert_true(has_finding(&f.design, "optic-form"));
    assert_true(has_finding(&f.design, "cable-short"));
    assert_true(myr_plan_open_errors(&f.design) >= 3);
    release(&f);
}

static void a_typing_error_in_accept_is_shown(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(plan_text(&f, "servers: 32\naccept: [optik-mode]\n"), MYR_OK);
    assert_true(has_finding(&f.design, "accept-unused"));
    release(&f);
}

static void a_card_of_the_same_family_stands_in(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(plan_text(&f, "servers: 72\nserver: b300\nnetworks: {compute: {switch: q3400, "
                                   "nic_gbps: 800}}"),
                     MYR_OK);
    assert_true(has_finding(&f.design, "nic-variant"));
    assert_int_equal(f.design.networks[MYR_NET_COMPUTE].leaf, 8);
    assert_int_equal(f.design.networks[MYR_NET_COMPUTE].cables[MYR_LAYER_HOST], 576);
    release(&f);
}

/* A random spec over all topologies; many are impossible, which is part of the test. */
static void random_spec(struct myr_rng *rng, char *text, size_t size)
{
    static const char *const nets[] = {
        "topology: rail, switch: mqm9790, oversubscription: %u",
        "topology: clos, switch: mqm9790, oversubscription: %u, fill: dense",
        "topology: clos, switch: sn5600, leaf_down: %u, nic_gbps: 400",
        "topology: rail-only, switch: mqm9790, rails: 4, oversubscription: %u",
        "topology: middle-of-rack, switch: sn5600, nic_gbps: 400, oversubscription: %u",
        "topology: dragonfly, switch: mqm9790, global_ports: %u",
        "topology: dragonfly+, switch: mqm9790, group_switches: %u",
        "topology: torus, switch: mqm9790, dims: [3, 4, %u]",
        "topology: rail, switch: mqm9790, tiers: 3, fill: dense, oversubscription: [1, %u]",
        "topology: rail, switch: mqm9790, islands: %u, oversubscription: [1, 2]",
        "topology: rail, switch: mqm9790, nic_gbps: 200, oversubscription: %u",
        "topology: rail, switch: sn5600, planes: 2, nic_gbps: 200, oversubscription: %u",
    };
    char net[160];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(net, sizeof(net), nets[myr_rng_below(rng, MYR_ARRAY_COUNT(nets))],
             1 + myr_rng_below(rng, 8));
#pragma GCC diagnostic pop
    static const char *const servers[] = {"h100-8gpu", "gb200-nvl72", "generic-1gpu",
                                          "h100-8gpu-2x200"};
    snprintf(text, size,
             "servers: %u\nserver: %s\nnetworks:\n  compute: {%s, fabric_manager_ports: %u}\n"
             "  storage: {extra_nodes: %u}\n  service:\n  oob: {extra_nodes: 3}\n"
             "storage: {capacity_tb: %u}\n",
             1 + myr_rng_below(rng, 300), servers[myr_rng_below(rng, MYR_ARRAY_COUNT(servers))],
             net, myr_rng_below(rng, 5), myr_rng_below(rng, 20), 1 + myr_rng_below(rng, 4000));
}

static void names_lead_back_to_their_devices(const struct myr_design *design, const char *text)
{
    struct myr_buf name = {};
    for (uint32_t device = 0; device < design->device_count; device++) {
        myr_buf_clear(&name);
        myr_design_name(design, device, &name);
        uint32_t found = myr_design_find(design, (struct myr_str){name.data, name.len});
        if (found != device) {
            fail_msg("%s is device %u, found %u, in\n%s", name.data, device, found, text);
        }
    }
    myr_buf_done(&name);
}

/* The whole answer as JSON. */
static void put_json(const struct myr_design *design, struct myr_buf *buf)
{
    struct myr_arena arena;
    struct myr_answer answer;
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "myriad.plan", 1);
    (void)myr_plan_answer(design, &answer);
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    assert_int_equal(myr_answer_write(&answer, &form, buf, NULL), MYR_OK);
    myr_arena_done(&arena);
}

static void written_and_read_is_the_same(const struct myr_design *design, const char *text)
{
    char path[] = "/tmp/myriad-plan-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct myr_err err = {};
    struct myr_design again;
    struct myr_buf before = {}, after = {};
    assert_int_equal(myr_design_write(design, path, &err), MYR_OK);
    if (myr_design_open(&again, path, &err) < 0) {
        fail_msg("%s, in\n%s", err.message, text);
    }
    put_json(design, &before);
    put_json(&again, &after);
    assert_string_equal(before.data, after.data);
    assert_memory_equal(design->link_b, again.link_b, design->link_count * sizeof(uint32_t));
    myr_buf_done(&before);
    myr_buf_done(&after);
    myr_design_close(&again);
    unlink(path);
}

static void random_specs_give_sound_designs(void **state)
{
    (void)state;
    enum { SEED = 7, CASES = TEST_ROUNDS(150) };
    struct myr_rng rng;
    uint32_t built = 0;
    myr_rng_init(&rng, SEED, 0);
    for (uint32_t i = 0; i < CASES; i++) {
        char text[1024];
        struct fixture f;
        random_spec(&rng, text, sizeof(text));
        if (plan_text(&f, text) < 0) {
            assert_true(strncmp(f.err.message, "test.yaml:", 10) == 0);
            release(&f);
            continue;
        }
        built++;
        if (myr_design_check(&f.design, "plan", &f.err) < 0) {
            fail_msg("seed %d case %u: %s, in\n%s", SEED, i, f.err.message, text);
        }
        if (has_finding(&f.design, "structure")) {
            struct myr_buf findings = {};
            put_json(&f.design, &findings);
            fail_msg("seed %d case %u: %s, in\n%s", SEED, i, findings.data, text);
        }
        names_lead_back_to_their_devices(&f.design, text);
        written_and_read_is_the_same(&f.design, text);
        release(&f);
    }
    assert_true(built > CASES / 3);
}

/* One uplink reaches one switch: fine with one above, or with nothing to join. */
static void access_switches_with_one_uplink_need_one_switch_above(void **state)
{
    (void)state;
    static const struct {
        uint32_t servers;
        const char *more, *message;
    } cases[] = {
        {128, "", "test.yaml:2:17: access switches with one uplink cannot join 2 aggregation"},
        {128, ", aggregation: 1", NULL},
        {4, "", NULL},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture f = {};
        const struct myr_doc *parts, *doc;
        char text[256];
        myr_arena_init(&f.arena);
        snprintf(text, sizeof(text), "servers: %u\nnetworks: {oob: {access_switch: one-up%s}}\n",
                 cases[i].servers, cases[i].more);
        assert_int_equal(myr_catalog_init(&f.catalog, &f.arena, &f.err), MYR_OK);
        assert_int_equal(
            myr_doc_read_yaml(&f.arena, "parts",
                              MYR_STR("ethernet:\n  one-up: {title: t, access_ports: 48, "
                                      "access_gbps: 1, uplink_ports: 1, uplink_gbps: 10}\n"),
                              &parts, &f.err),
            MYR_OK);
        assert_int_equal(myr_catalog_add(&f.catalog, parts, &f.err), MYR_OK);
        assert_int_equal(myr_doc_read_yaml(&f.arena, "test.yaml", myr_str_from(text), &doc, &f.err),
                         MYR_OK);
        assert_int_equal(myr_spec_read(&f.arena, &f.catalog, doc, &f.spec, &f.err), MYR_OK);
        int rc = myr_plan(&f.arena, &f.catalog, &f.spec, &f.design, &f.err);
        assert_int_equal(rc, cases[i].message ? MYR_EINVAL : MYR_OK);
        assert_true(!cases[i].message || strstr(f.err.message, cases[i].message));
        release(&f);
    }
}

/* What all groups leave out has nobody on it, unless other nodes are. */
static void networks_without_nodes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *nets, *message;
    } cases[] = {
        {"storage: ", "test.yaml:2:32: no node hangs on the storage network"},
        {"service: ", "test.yaml:2:32: no node hangs on the service network"},
        {"oob: ", "test.yaml:2:28: no node hangs on the oob network"},
        {"storage: {extra_nodes: 2}", NULL},
        {"oob: {extra_nodes: 2}", NULL},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture f;
        char text[256];
        snprintf(text, sizeof(text),
                 "groups: [{name: a, servers: 4, server: h100-8gpu, networks: [compute]}]\n"
                 "networks: {compute: , %s}\n",
                 cases[i].nets);
        assert_int_equal(plan_text(&f, text), cases[i].message ? MYR_EINVAL : MYR_OK);
        if (cases[i].message) {
            assert_string_equal(f.err.message, cases[i].message);
        }
        release(&f);
    }
}

/* Sums mean nothing without it. */
static void the_answer_says_what_its_money_is(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_buf text = {};
    const struct myr_doc *doc;
    if (plan_text(&f, "servers: 4\n") < 0) {
        fail_msg("%s", f.err.message);
    }
    put_json(&f.design, &text);
    struct myr_str json = {text.data, text.len};
    assert_int_equal(myr_doc_read_json(&f.arena, "answer", json, &doc, &f.err), MYR_OK);
    const struct myr_doc *totals = myr_doc_get(doc, "totals");
    assert_non_null(totals);
    const struct myr_doc *currency = myr_doc_get(totals, "currency");
    assert_non_null(currency);
    assert_true(myr_str_eq(currency->text, MYR_STR("CNY")));
    myr_buf_done(&text);
    release(&f);
}

static void insides_join_every_gpu_to_the_scale_up_switches(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(plan_text(&f, "servers: 1\nserver: h100-8gpu\n"), MYR_OK);
    const struct myr_design *d = &f.design;
    uint32_t gpus = 0, switches = 0, between = 0;
    for (uint32_t i = 0; i < d->inside_count; i++) {
        gpus += d->insides[i].kind == MYR_INSIDE_GPU;
        switches += d->insides[i].kind == MYR_INSIDE_SCALE_UP_SWITCH;
    }
    for (uint32_t i = 0; i < d->inside_link_count; i++) {
        const struct myr_inside *a = &d->insides[d->inside_links[i].a];
        const struct myr_inside *b = &d->insides[d->inside_links[i].b];
        between += a->kind == MYR_INSIDE_SCALE_UP_SWITCH && b->kind == MYR_INSIDE_GPU;
    }
    assert_int_equal(gpus, 8);
    assert_int_equal(between, gpus * switches);
    release(&f);
}

/* Names of steps as they were heard, each once where it was told of again. */
static void hear_step(void *context, const char *step)
{
    struct myr_buf *steps = context;
    size_t len = strlen(step);
    bool again = steps->len > len && memcmp(steps->data + steps->len - len - 1, step, len) == 0;
    if (!again) {
        myr_buf_printf(steps, "%s;", step);
    }
}

static void who_listens_hears_of_every_step(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_buf steps = {};
    struct myr_design design;
    struct myr_plan_listener listener = {hear_step, &steps};
    assert_int_equal(plan_text(&f, "servers: 8\nroom: {rows: 4, columns: 4}\n"), MYR_OK);
    assert_int_equal(myr_plan_heard(&f.arena, &f.catalog, &f.spec, &listener, &design, &f.err),
                     MYR_OK);
    assert_string_equal(steps.data, "sizing networks;placing devices;wiring;filling racks;checking;"
                                    "pricing;plugging together;");
    uint32_t count = 0;
    for (size_t i = 0; i < steps.len; i++) {
        count += steps.data[i] == ';';
    }
    assert_int_equal(count, MYR_PLAN_STEPS);
    assert_int_equal(design.link_count, f.design.link_count);
    myr_buf_done(&steps);
    release(&f);
}

/* What is left out is what nobody asks who only sends over it. */
static void a_fabric_alone_has_the_same_cables(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_design fabric;
    assert_int_equal(plan_text(&f, "servers: 40\n"), MYR_OK);
    assert_int_equal(myr_plan_fabric(&f.arena, &f.catalog, &f.spec, &fabric, &f.err), MYR_OK);
    const struct myr_design *whole = &f.design;
    assert_int_equal(whole->bisection_count, MYR_NET_COUNT);
    assert_true(whole->networks[MYR_NET_COMPUTE].bisection_gbps > 0);
    assert_int_equal(fabric.bisection_count, 0);
    assert_int_equal(fabric.device_count, whole->device_count);
    assert_int_equal(fabric.link_count, whole->link_count);
    size_t bytes = whole->link_count * sizeof(*whole->link_a);
    assert_memory_equal(fabric.link_a, whole->link_a, bytes);
    assert_memory_equal(fabric.link_b, whole->link_b, bytes);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_is_sized_by_capacity_and_by_rate),
        cmocka_unit_test(a_fabric_alone_has_the_same_cables),
        cmocka_unit_test(a_fabric_manager_takes_the_slot_of_a_node),
        cmocka_unit_test(nics_behind_one_splitter_share_a_cable),
        cmocka_unit_test(wrong_optics_are_named),
        cmocka_unit_test(a_typing_error_in_accept_is_shown),
        cmocka_unit_test(a_card_of_the_same_family_stands_in),
        cmocka_unit_test(random_specs_give_sound_designs),
        cmocka_unit_test(access_switches_with_one_uplink_need_one_switch_above),
        cmocka_unit_test(networks_without_nodes_are_refused),
        cmocka_unit_test(the_answer_says_what_its_money_is),
        cmocka_unit_test(insides_join_every_gpu_to_the_scale_up_switches),
        cmocka_unit_test(who_listens_hears_of_every_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
