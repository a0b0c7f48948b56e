/*
 * Joints stand for all links of a kind. Findings of one text are one, so joints that are there
 * twice do not show in what is said; here they are counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "physical_internal.h"
#include "shop_test.h"

/* Type of the cable, and types and groups at both ends, of every link. */
static struct joint kind_of(const struct bench *b, uint32_t link)
{
    struct joint kind = {.lay = b->cable_type[b->link_cable[link]]};
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t port = end ? b->link_b[link] : b->link_a[link];
        uint32_t device = b->port_device[port], type = b->device_type[device], group = 0;
        for (uint32_t g = 0; g < b->devtypes[type].group_count; g++) {
            for (uint32_t i = 0; i < b->devtypes[type].groups[g].count; i++) {
                group = bench_port(b, device, g, i) == port ? g : group;
            }
        }
        kind.socket[end] = type * MYR_PORT_GROUPS_MAX + group;
    }
    return kind;
}

static bool same(const struct joint *a, const struct joint *b)
{
    return a->lay == b->lay && a->socket[0] == b->socket[0] && a->socket[1] == b->socket[1];
}

static void assert_joints(const struct bench *b)
{
    struct myr_arena arena;
    struct myr_physical found = {};
    myr_arena_init(&arena);
    struct physical physical = {
        .arena = &arena, .catalog = &b->catalog, .design = &b->design, .found = &found};
    physical_sockets(&physical);
    physical_joints(&physical);
    uint64_t links = 0;
    for (size_t i = 0; i < physical.joints.count; i++) {
        const struct joint *joint = &physical.joints.items[i];
        uint64_t alike = 0;
        for (uint32_t link = 0; link < b->design.link_count; link++) {
            struct joint kind = kind_of(b, link);
            alike += same(joint, &kind);
        }
        assert_int_equal(joint->links, alike);
        assert_true(alike > 0);
        links += alike;
    }
    assert_int_equal(links, b->design.link_count); /* so none is missing, and none there twice */
    myr_vec_done(&physical.joints);
    myr_physical_done(&found);
    myr_arena_done(&arena);
}

/* In the order of the design, and in others, in which neighbours have not much in common. */
static void every_kind_of_link_has_one_joint(void **state)
{
    struct bench b;
    (void)state;
    shop_init(&b);
    assert_joints(&b);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 6);
        for (uint32_t i = 0; i < b.design.cable_count; i++) {
            uint32_t k = myr_rng_below(&rng, b.design.cable_count);
            uint16_t type = b.cable_type[i];
            b.cable_type[i] = b.cable_type[k];
            b.cable_type[k] = type;
        }
        assert_joints(&b);
    }
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_link_has_one_joint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
