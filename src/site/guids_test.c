#include "guids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "verify/verify_test.h"

/* What is bound comes before what follows from the design, for each port by itself. */

enum { NODES = 4, LEAF = NODES };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_binding binding;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){};
    myr_arena_init(&fixture.arena);
    small_design(&fixture.design, &fixture.arena, (struct small_shape){NODES, 2, 2, 2});
    myr_binding_init(&fixture.binding, &fixture.arena, &fixture.design);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    myr_binding_done(&f->binding);
    myr_arena_done(&f->arena);
    return 0;
}

static void tie(struct fixture *f, struct myr_bound bound)
{
    uint32_t row;
    assert_true(myr_binding_add(&f->binding, &bound, &row));
}

static void expect(const struct fixture *f, uint32_t port, uint64_t node, uint64_t own)
{
    assert_true(guids_node(&f->design, &f->binding, port) == node);
    assert_true(guids_port(&f->design, &f->binding, port) == own);
}

static void ports_have_the_guids_of_the_design_until_they_are_bound(void **state)
{
    struct fixture *f = *state;
    struct myr_u64map seen = {};
    for (uint32_t p = 0; p < f->design.port_count; p++) {
        uint64_t node = myr_site_guid(&f->design, p), own = myr_site_port_guid(&f->design, p);
        expect(f, p, node, own);
        assert_true(guids_node(&f->design, NULL, p) == node);
        assert_true(guids_port(&f->design, NULL, p) == own);
        /* A NIC's port counts on from its node; ports of a switch are the switch. */
        bool nic = f->design.port_device[p] < NODES;
        assert_true(own == node + nic);
        bool first = nic || p == f->design.first_port[f->design.port_device[p]];
        assert_int_equal(myr_u64map_add(&seen, node, p), first);
    }
    myr_u64map_done(&seen);
}

static void bound_guids_are_those_of_their_port_alone(void **state)
{
    struct fixture *f = *state;
    const uint32_t nic = f->design.first_port[0], leaf = f->design.first_port[LEAF];
    tie(f, (struct myr_bound){.device = 0, .port = nic, .guid = 100, .port_guid = 777});
    tie(f, (struct myr_bound){.device = 0, .port = nic + 1, .guid = 200});
    tie(f, (struct myr_bound){.device = 1, .port = nic + 2, .port_guid = 300});
    tie(f, (struct myr_bound){.device = 1, .port = nic + 3, .mac = 9});
    tie(f, (struct myr_bound){.device = 2, .port = MYR_NONE, .guid = 400, .host = MYR_STR("h")});
    tie(f, (struct myr_bound){.device = LEAF, .port = MYR_NONE, .guid = 500});
    tie(f, (struct myr_bound){.device = LEAF + 1, .port = MYR_NONE, .mac = 10});
    expect(f, nic, 100, 777);
    expect(f, nic + 1, 200, 201);
    expect(f, nic + 2, myr_site_guid(&f->design, nic + 2), 300);
    for (uint32_t p = nic + 3; p < leaf; p++) { /* a host as a whole has no GUID of a NIC */
        expect(f, p, myr_site_guid(&f->design, p), myr_site_port_guid(&f->design, p));
    }
    for (uint32_t p = leaf; p < f->design.first_port[LEAF + 1]; p++) {
        expect(f, p, 500, 500);
    }
    for (uint32_t p = f->design.first_port[LEAF + 1]; p < f->design.port_count; p++) {
        expect(f, p, myr_site_guid(&f->design, p), myr_site_guid(&f->design, p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(ports_have_the_guids_of_the_design_until_they_are_bound),
        TEST(bound_guids_are_those_of_their_port_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
