/*
 * Bisection of drawn fabrics of all topologies, with a second network and other devices around
 * them, against a model that is plain: halves by sorting, flow by augmenting paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "drawn_test.h"
#include "rounds.h"

/* --- the model: devices as they are, a row and a column each; source and sink behind them */

enum { SIDE = BENCH_DEVICES + 2, SOURCE = BENCH_DEVICES, SINK };

struct model {
    uint64_t gbps[SIDE][SIDE];
    uint32_t ports[BENCH_DEVICES];
    uint64_t speed[BENCH_DEVICES];
    uint32_t fabric[BENCH_DEVICES]; /* the smallest device that it reaches */
};

static bool is_ours(const struct bench *b, uint32_t device)
{
    return b->place[device].net == NET;
}

static void read_links(const struct bench *b, struct model *model)
{
    *model = (struct model){};
    for (uint32_t i = 0; i < b->design.device_count; i++) {
        model->fabric[i] = i;
    }
    for (uint32_t link = 0; link < b->design.link_count; link++) {
        uint32_t a = b->port_device[b->link_a[link]], z = b->port_device[b->link_b[link]];
        const struct myr_cabletype *type = &b->cabletypes[b->cable_type[b->link_cable[link]]];
        if (type->net == NET && type->layer == MYR_LAYER_HOST) {
            model->ports[z]++;
            model->speed[z] += type->gbps;
        } else if (type->net == NET) {
            model->gbps[a][z] += type->gbps;
            model->gbps[z][a] += type->gbps;
            uint32_t to = model->fabric[a], gone = model->fabric[z];
            for (uint32_t i = 0; i < b->design.device_count; i++) {
                model->fabric[i] = model->fabric[i] == gone ? to : model->fabric[i];
            }
        }
    }
}

/* Any way on which something is left is taken, until there is none. */
static uint64_t push(struct model *model, uint32_t at, uint64_t most, bool *seen)
{
    if (at == SINK) {
        return most;
    }
    seen[at] = true;
    for (uint32_t to = 0; to < SIDE; to++) {
        uint64_t left = model->gbps[at][to];
        uint64_t pushed = left && !seen[to] ? push(model, to, left < most ? left : most, seen) : 0;
        if (pushed) {
            model->gbps[at][to] -= pushed;
            model->gbps[to][at] += pushed;
            return pushed;
        }
    }
    return 0;
}

static uint64_t flow(struct model model)
{
    uint64_t sum = 0, pushed = 1;
    while (pushed) {
        bool seen[SIDE] = {};
        pushed = push(&model, SOURCE, UINT64_MAX, seen);
        sum += pushed;
    }
    return sum;
}

static uint64_t ports_halved(const struct bench *b, struct model model, const uint32_t *keys)
{
    uint32_t switches[BENCH_DEVICES], count = 0, taken[BENCH_DEVICES] = {};
    for (uint32_t i = 0; i < b->design.device_count; i++) {
        if (is_ours(b, i)) {
            uint32_t at = count++;
            for (; at > 0 && keys[switches[at - 1]] > keys[i]; at--) {
                switches[at] = switches[at - 1];
            }
            switches[at] = i;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t at = switches[k], fabric = model.fabric[at], total = 0;
        for (uint32_t i = 0; i < count; i++) {
            total += model.fabric[switches[i]] == fabric ? model.ports[switches[i]] : 0;
        }
        for (uint32_t port = 0; port < model.ports[at]; port++) {
            uint64_t mean = model.speed[at] / model.ports[at];
            if (taken[fabric] < total / 2) {
                taken[fabric]++;
                model.gbps[SOURCE][at] += mean;
            } else {
                model.gbps[at][SINK] += mean;
            }
        }
    }
    return flow(model);
}

static bool works(uint32_t kind)
{
    return kind == MYR_DEVICE_NODE || kind == MYR_DEVICE_STORAGE || kind == MYR_DEVICE_MANAGEMENT;
}

/* MYR_NONE of a host: it has no link here, or is no node; else how many nodes are before it. */
static uint32_t rank_nodes(const struct bench *b, uint32_t *rank)
{
    uint32_t nodes = 0;
    for (uint32_t device = 0; device < b->design.device_count; device++) {
        rank[device] = MYR_NONE;
        for (uint32_t link = 0; link < b->design.link_count; link++) {
            const struct myr_cabletype *type = &b->cabletypes[b->cable_type[b->link_cable[link]]];
            if (type->net == NET && type->layer == MYR_LAYER_HOST &&
                b->port_device[b->link_a[link]] == device && works(b->place[device].kind)) {
                rank[device] = nodes;
            }
        }
        nodes += rank[device] != MYR_NONE;
    }
    return nodes;
}

static uint64_t nodes_halved(const struct bench *b, struct model model, uint64_t otherwise)
{
    uint32_t rank[BENCH_DEVICES], nodes = rank_nodes(b, rank);
    for (uint32_t link = 0; link < b->design.link_count; link++) {
        const struct myr_cabletype *type = &b->cabletypes[b->cable_type[b->link_cable[link]]];
        uint32_t host = b->port_device[b->link_a[link]], at = b->port_device[b->link_b[link]];
        if (type->net == NET && type->layer == MYR_LAYER_HOST && rank[host] != MYR_NONE) {
            bool sends = rank[host] < nodes / 2;
            *(sends ? &model.gbps[SOURCE][at] : &model.gbps[at][SINK]) += type->gbps;
        }
    }
    return nodes < 2 ? otherwise : flow(model);
}

static struct myr_bisection bisect_plainly(const struct bench *b)
{
    struct model model;
    uint32_t keys[4][BENCH_DEVICES] = {};
    read_links(b, &model);
    for (uint32_t i = 0; i < b->design.device_count; i++) {
        keys[1][i] = b->place[i].ordinal;
        keys[2][i] = b->place[i].unit;
        keys[3][i] = b->place[i].pod;
    }
    /* As they are numbered; a rail leaf's ordinal is its rail; all three are sides of a torus. */
    uint32_t topology = b->networks[NET].topology;
    uint32_t orders = topology == MYR_TOPOLOGY_TORUS ? 4 : topology == MYR_TOPOLOGY_RAIL ? 2 : 1;
    uint64_t worst = UINT64_MAX;
    for (uint32_t i = 0; i < orders; i++) {
        uint64_t found = ports_halved(b, model, keys[i]);
        worst = found < worst ? found : worst;
    }
    return (struct myr_bisection){worst, nodes_halved(b, model, worst)};
}

/* --- the tests */

static void bisection_is_that_of_the_plain_model(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TEST_ROUNDS(1600); seed++) {
        struct bench b;
        struct myr_rng rng;
        struct myr_bisection found;
        myr_rng_init(&rng, seed, 5);
        drawn_init(&b, &rng);
        struct myr_bisection plain = bisect_plainly(&b);
        myr_physical_bisection(&b.design, NET, &found);
        if (found.ports_gbps != plain.ports_gbps || found.nodes_gbps != plain.nodes_gbps) {
            fail_msg("seed %llu: ports %llu, nodes %llu; plainly %llu and %llu",
                     (unsigned long long)seed, (unsigned long long)found.ports_gbps,
                     (unsigned long long)found.nodes_gbps, (unsigned long long)plain.ports_gbps,
                     (unsigned long long)plain.nodes_gbps);
        }
        bench_done(&b);
    }
}

static void a_network_that_is_not_there_carries_nothing(void **state)
{
    struct bench b;
    struct myr_rng rng;
    struct myr_bisection found = {1, 1};
    (void)state;
    myr_rng_init(&rng, 1, 5);
    drawn_init(&b, &rng);
    myr_physical_bisection(&b.design, MYR_NET_OOB, &found);
    assert_int_equal(found.ports_gbps, 0);
    assert_int_equal(found.nodes_gbps, 0);
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bisection_is_that_of_the_plain_model),
        cmocka_unit_test(a_network_that_is_not_there_carries_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
