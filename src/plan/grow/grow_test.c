#include "myriad/plan/grow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_err err;
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    assert_int_equal(myr_catalog_init(&f->catalog, &f->arena, &f->err), MYR_OK);
}

static void end(struct fixture *f)
{
    myr_catalog_done(&f->catalog);
    myr_arena_done(&f->arena);
}

static struct myr_design plan(struct fixture *f, const char *text)
{
    const struct myr_doc *doc;
    struct myr_design design;
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    assert_int_equal(myr_doc_read_yaml(&f->arena, "test.yaml", myr_str_from(text), &doc, &f->err),
                     MYR_OK);
    assert_int_equal(myr_spec_read(&f->arena, &f->catalog, doc, &spec, &f->err), MYR_OK);
    if (myr_plan(&f->arena, &f->catalog, &spec, &design, &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
    return design;
}

static void grow(struct fixture *f, const struct myr_design *old, const struct myr_design *plan,
                 struct myr_growth *ret)
{
    struct myr_grow_names names = {"small.yaml", "large.yaml"};
    if (myr_grow(&f->arena, &f->catalog, old, plan, names, ret, &f->err) < 0) {
        fail_msg("%s", f->err.message);
    }
    assert_int_equal(myr_design_check(&ret->grown, "grown", &f->err), MYR_OK);
}

/* Every device of the first is in the second, by id, by name and by what finds a name. */
static void expect_same_names(const struct myr_design *old, const struct myr_design *now)
{
    for (uint32_t i = 0; i < old->device_count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf other = {};
        myr_design_name(old, i, &name);
        uint32_t at = myr_design_find(now, (struct myr_str){name.data, name.len});
        assert_int_not_equal(at, MYR_NONE);
        assert_int_equal(myr_design_device_id(now, at), myr_design_device_id(old, i));
        myr_design_name(now, at, &other);
        assert_string_equal(name.data, other.data);
    }
    for (uint32_t i = 0; i < now->device_count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        myr_design_name(now, i, &name);
        assert_int_equal(myr_design_find(now, (struct myr_str){name.data, name.len}), i);
    }
}

static const char *const spec_of[] = {
    "servers: 32\nnetworks: {compute: {switch: mqm9790}, storage: {switch: mqm9790, "
    "extra_nodes: 3}, oob: }\nstorage: {capacity_pb: 1}\n",
    "servers: 96\nnetworks: {compute: {switch: mqm9790}, storage: {switch: mqm9790, "
    "extra_nodes: 3}, oob: }\nstorage: {capacity_pb: 1}\n",
    "servers: 320\nnetworks: {compute: {switch: mqm9790}, storage: {switch: mqm9790, "
    "extra_nodes: 3}, oob: }\nstorage: {capacity_pb: 2}\n",
};

static void names_and_ids_stay_through_three_phases(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct myr_design first = plan(&f, spec_of[0]), second = plan(&f, spec_of[1]);
    struct myr_design third = plan(&f, spec_of[2]); /* the compute network gets a third tier */
    struct myr_growth one, two;
    grow(&f, &first, &second, &one);
    grow(&f, &one.grown, &third, &two);
    expect_same_names(&first, &one.grown);
    expect_same_names(&one.grown, &two.grown);
    expect_same_names(&first, &two.grown);
    assert_int_equal(two.grown.networks[MYR_NET_COMPUTE].tiers, 3);
    end(&f);
}

static void a_cable_that_stays_has_its_id_and_its_ports(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct myr_design small = plan(&f, spec_of[0]), large = plan(&f, spec_of[1]);
    struct myr_growth growth;
    grow(&f, &small, &large, &growth);
    const struct myr_design *now = &growth.grown;
    uint32_t stayed = 0;
    for (uint32_t cable = 0; cable < small.cable_count; cable++) {
        bool all = true;
        for (uint32_t l = small.first_link[cable]; l < small.first_link[cable + 1]; l++) {
            uint32_t at = myr_design_link_at(now, l);
            assert_int_not_equal(at, MYR_NONE);
            assert_int_equal(myr_design_link_id(now, at), l);
            assert_int_equal(myr_design_cable_id(now, now->link_cable[at]), cable);
            all &= now->port_id[now->link_a[at]] == small.link_a[l] &&
                   now->port_id[now->link_b[at]] == small.link_b[l];
        }
        stayed += all;
    }
    assert_int_equal(stayed + growth.move_count, small.cable_count);
    assert_true(growth.move_count > 0);
    assert_int_equal(myr_design_link_at(now, now->link_count + small.link_count), MYR_NONE);
    end(&f);
}

static void growing_by_nothing_moves_and_buys_nothing(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct myr_design design = plan(&f, spec_of[0]);
    struct myr_growth growth;
    grow(&f, &design, &design, &growth);
    assert_int_equal(growth.move_count, 0);
    assert_int_equal(growth.new_cables, 0);
    assert_int_equal(growth.line_count, 0);
    assert_int_equal(growth.first_switches, 0);
    end(&f);
}

/* The file keeps ids and names, and does not take them when they are in disorder. */
static void a_grown_design_is_written_and_read(void **state)
{
    (void)state;
    struct fixture f;
    char path[] = "/tmp/myriad-grow-XXXXXX";
    begin(&f);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct myr_design small = plan(&f, spec_of[0]), large = plan(&f, spec_of[1]), read = {};
    struct myr_growth growth;
    grow(&f, &small, &large, &growth);
    assert_int_equal(myr_design_write(&growth.grown, path, &f.err), MYR_OK);
    assert_int_equal(myr_design_open(&read, path, &f.err), MYR_OK);
    expect_same_names(&small, &read);
    myr_design_close(&read);
    struct myr_design *now = &growth.grown;
    uint32_t id = now->link_id[0];
    now->link_id[0] = now->link_id[1];
    assert_int_equal(myr_design_check(now, "twice", NULL), MYR_ECORRUPT);
    now->link_id[0] = id;
    id = now->by_name[0];
    now->by_name[0] = now->by_name[1];
    assert_int_equal(myr_design_check(now, "order", NULL), MYR_ECORRUPT);
    now->by_name[0] = id;
    now->named[1].kind = MYR_DEVICE_LEAF;
    assert_int_equal(myr_design_check(now, "kind", NULL), MYR_ECORRUPT);
    remove(path);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_ids_stay_through_three_phases),
        cmocka_unit_test(a_cable_that_stays_has_its_id_and_its_ports),
        cmocka_unit_test(growing_by_nothing_moves_and_buys_nothing),
        cmocka_unit_test(a_grown_design_is_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
