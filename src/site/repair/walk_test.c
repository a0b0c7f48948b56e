#include "repair/repair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/*
 * Three pods of two rail groups, eight hosts and four leaves in each group; spines in each pod, and
 * two groups of cores. Only places count here: there are no ports.
 */
enum {
    PODS = 3,
    GROUPS = 2,
    GROUP_NODES = 8,
    RAILS = 4,
    POD_SPINES = 2,
    CORE_GROUPS = 2,
    MOST = 96
};

/* Where a device stands, in the words of whoever drew the fabric. */
struct stand {
    uint32_t pod, group; /* MYR_NONE: of no group, of no pod */
    uint32_t core_group;
};

struct fixture {
    struct myr_design design;
    struct myr_network networks[MYR_NET_COUNT];
    struct myr_place place[MOST];
    uint32_t rack[MOST];
    struct stand stand[MOST];
};

static void add_device(struct fixture *f, struct myr_place place, struct stand stand)
{
    uint32_t d = f->design.device_count++;
    assert_true(d < MOST);
    f->place[d] = place;
    f->rack[d] = MYR_NONE;
    f->stand[d] = stand;
}

static void add_pod(struct fixture *f, uint32_t pod)
{
    for (uint32_t group = 0; group < GROUPS; group++) {
        struct stand here = {pod, group, 0};
        for (uint32_t i = 0; i < GROUP_NODES; i++) {
            /* A host knows its number alone. */
            add_device(f,
                       (struct myr_place){.kind = MYR_DEVICE_NODE,
                                          .net = MYR_NET_COUNT,
                                          .ordinal = (pod * GROUPS + group) * GROUP_NODES + i},
                       here);
        }
        for (uint32_t i = 0; i < RAILS; i++) {
            add_device(f,
                       (struct myr_place){.kind = MYR_DEVICE_LEAF,
                                          .net = MYR_NET_COMPUTE,
                                          .pod = (uint16_t)pod,
                                          .unit = (uint16_t)group,
                                          .ordinal = i},
                       here);
        }
    }
    for (uint32_t i = 0; i < POD_SPINES; i++) {
        add_device(f,
                   (struct myr_place){.kind = MYR_DEVICE_SPINE,
                                      .net = MYR_NET_COMPUTE,
                                      .pod = (uint16_t)pod,
                                      .ordinal = i},
                   (struct stand){pod, MYR_NONE, 0});
    }
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = &fixture;
    fixture = (struct fixture){};
    f->design.networks = f->networks;
    f->design.place = f->place;
    f->design.device_rack = f->rack;
    f->networks[MYR_NET_COMPUTE] = (struct myr_network){.rails = RAILS,
                                                        .pods = PODS,
                                                        .pod_leaves = RAILS * GROUPS,
                                                        .pod_spines = POD_SPINES,
                                                        .group_nodes = GROUP_NODES};
    for (uint32_t pod = 0; pod < PODS; pod++) {
        add_pod(f, pod);
    }
    for (uint32_t i = 0; i < 2 * CORE_GROUPS; i++) {
        add_device(f,
                   (struct myr_place){.kind = MYR_DEVICE_CORE,
                                      .net = MYR_NET_COMPUTE,
                                      .pod = (uint16_t)(i / 2),
                                      .ordinal = i % 2},
                   (struct stand){MYR_NONE, MYR_NONE, i / 2});
    }
    *state = f;
    return 0;
}

static uint32_t naive_distance(const struct fixture *f, uint32_t a, uint32_t b)
{
    const struct stand *here = &f->stand[a], *there = &f->stand[b];
    bool one_rack = f->rack[a] != MYR_NONE && f->rack[a] == f->rack[b];
    if (a == b || one_rack) {
        return a != b;
    }
    if (here->pod != there->pod) {
        return 3;
    }
    return here->group == there->group && here->core_group == there->core_group ? 1 : 2;
}

static void expect_distances(const struct fixture *f)
{
    for (uint32_t a = 0; a < f->design.device_count; a++) {
        for (uint32_t b = 0; b < f->design.device_count; b++) {
            uint32_t distance = repair_distance(&f->design, a, b);
            if (distance != naive_distance(f, a, b)) {
                fail_msg("from %u to %u: %u", a, b, distance);
            }
        }
    }
}

static void crews_walk_farther_between_groups_and_between_pods(void **state)
{
    struct fixture *f = *state;
    for (uint32_t racks = 0; racks < 2; racks++) {
        expect_distances(f);
        /* Once more with some in racks, rack 0 among them, across pods too. */
        for (uint32_t d = 0; d < f->design.device_count; d += 3) {
            f->rack[d] = d / 3 % 5;
        }
    }
}

/* -1, 0 or 1: pods in order, in each the groups and then the spines, at last the cores. */
static int naive_order(const struct fixture *f, uint32_t a, uint32_t b)
{
    const struct stand *s = f->stand;
    const uint32_t keys[][2] = {{s[a].pod, s[b].pod},
                                {s[a].group, s[b].group},
                                {s[a].core_group, s[b].core_group},
                                {f->place[a].kind, f->place[b].kind}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

static void the_walk_goes_through_pods_and_groups_and_ends_at_the_cores(void **state)
{
    struct fixture *f = *state;
    for (uint32_t a = 0; a < f->design.device_count; a++) {
        for (uint32_t b = 0; b < f->design.device_count; b++) {
            uint64_t first = repair_walk_key(&f->design, a), then = repair_walk_key(&f->design, b);
            if ((first > then) - (first < then) != naive_order(f, a, b)) {
                fail_msg("%u and %u: %llx and %llx", a, b, (unsigned long long)first,
                         (unsigned long long)then);
            }
        }
    }
}

static void racks_come_first_and_in_their_order(void **state)
{
    struct fixture *f = *state;
    f->rack[70] = 0;
    f->rack[5] = 1;
    f->rack[71] = f->rack[6] = 0x7FFFFFFF;
    const uint32_t walk[] = {70, 5, 71, 0};
    for (uint32_t i = 1; i < MYR_ARRAY_COUNT(walk); i++) {
        assert_true(repair_walk_key(&f->design, walk[i - 1]) <
                    repair_walk_key(&f->design, walk[i]));
    }
    assert_true(repair_walk_key(&f->design, 71) == repair_walk_key(&f->design, 6));
}

static void cores_stand_beyond_all_pods(void **state)
{
    struct fixture *f = *state;
    for (uint32_t d = 0; d < f->design.device_count; d++) {
        uint32_t pod = repair_pod(&f->design, d);
        assert_true(f->stand[d].pod == MYR_NONE ? pod >= PODS : pod == f->stand[d].pod);
    }
}

/* Rails decide how many groups a pod has; without them, or with a part of them, it is one. */
static void a_pod_without_whole_groups_of_rails_is_one_group(void **state)
{
    struct fixture *f = *state;
    const struct {
        uint32_t rails, pod_leaves, group_nodes, pods[3];
    } rows[] = {{4, 8, 8, {0, 1, 2}}, {4, 4, 8, {1, 2, 4}},  {4, 3, 8, {1, 2, 4}},
                {0, 8, 8, {1, 2, 4}}, {4, 11, 8, {0, 1, 2}}, {4, 8, 0, {0, 0, 0}}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_network *net = &f->networks[MYR_NET_COMPUTE];
        net->rails = rows[i].rails;
        net->pod_leaves = rows[i].pod_leaves;
        net->group_nodes = rows[i].group_nodes;
        for (uint32_t k = 0; k < 3; k++) {
            f->place[0].ordinal = k == 0 ? 15 : k == 1 ? 16 : 32;
            assert_int_equal(repair_pod(&f->design, 0), rows[i].pods[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, set_up)
        TEST(crews_walk_farther_between_groups_and_between_pods),
        TEST(the_walk_goes_through_pods_and_groups_and_ends_at_the_cores),
        TEST(racks_come_first_and_in_their_order),
        TEST(cores_stand_beyond_all_pods),
        TEST(a_pod_without_whole_groups_of_rails_is_one_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
