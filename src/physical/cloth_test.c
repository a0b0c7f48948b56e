/* What a cloth holds of a drawn design, against the links themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cloth.h"
#include "drawn_test.h"
#include "rounds.h"

/* What all links of the network between two devices carry. */
static uint64_t between(const struct bench *b, uint32_t one, uint32_t two)
{
    uint64_t gbps = 0;
    for (uint32_t link = 0; link < b->design.link_count; link++) {
        uint32_t a = b->port_device[b->link_a[link]], z = b->port_device[b->link_b[link]];
        const struct myr_cabletype *type = &b->cabletypes[b->cable_type[b->link_cable[link]]];
        bool here = (a == one && z == two) || (a == two && z == one);
        gbps += here && type->net == NET ? type->gbps : 0;
    }
    return gbps;
}

/* Both ends have an edge, and links between the same two have one together. */
static void assert_edges(const struct bench *b, const struct cloth *cloth)
{
    for (uint32_t i = 0; i < cloth->switches; i++) {
        uint64_t found[BENCH_DEVICES] = {};
        for (uint32_t e = cloth->start[i]; e < cloth->start[i + 1]; e++) {
            assert_true(cloth->edges[e].to < cloth->switches);
            assert_int_equal(found[cloth->edges[e].to], 0);
            found[cloth->edges[e].to] = cloth->edges[e].gbps;
        }
        for (uint32_t k = 0; k < cloth->switches; k++) {
            assert_int_equal(found[k],
                             between(b, cloth->first_device + i, cloth->first_device + k));
            assert_true(found[k] == 0 || cloth->fabric[i] == cloth->fabric[k]);
        }
        assert_true(cloth->fabric[i] < cloth->fabrics);
    }
}

static void assert_hosts(const struct bench *b, const struct cloth *cloth)
{
    uint32_t ports[BENCH_DEVICES] = {}, count = 0;
    uint64_t gbps[BENCH_DEVICES] = {};
    for (uint32_t link = 0; link < b->design.link_count; link++) {
        const struct myr_cabletype *type = &b->cabletypes[b->cable_type[b->link_cable[link]]];
        if (type->net == NET && type->layer == MYR_LAYER_HOST) {
            uint32_t at = b->port_device[b->link_b[link]] - cloth->first_device;
            const struct cloth_host *host = &cloth->hosts[count++];
            assert_true(count <= cloth->host_count);
            assert_int_equal(host->device, b->port_device[b->link_a[link]]);
            assert_int_equal(host->at, at);
            assert_int_equal(host->gbps, type->gbps);
            ports[at]++;
            gbps[at] += type->gbps;
        }
    }
    assert_int_equal(cloth->host_count, count);
    assert_memory_equal(cloth->ports, ports, cloth->switches * sizeof(*ports));
    assert_memory_equal(cloth->port_gbps, gbps, cloth->switches * sizeof(*gbps));
}

static void a_cloth_holds_every_link_of_its_network(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TEST_ROUNDS(400); seed++) {
        struct bench b;
        struct myr_rng rng;
        struct myr_arena arena;
        struct cloth cloth;
        myr_rng_init(&rng, seed, 7);
        drawn_init(&b, &rng);
        myr_arena_init(&arena);
        cloth_init(&cloth, &arena, &b.design, NET);
        uint32_t switches = 0;
        for (uint32_t i = 0; i < b.design.device_count; i++) {
            switches += b.place[i].net == NET;
        }
        assert_int_equal(cloth.switches, switches);
        assert_int_equal(b.place[cloth.first_device].net, NET);
        assert_edges(&b, &cloth);
        assert_hosts(&b, &cloth);
        myr_arena_done(&arena);
        bench_done(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cloth_holds_every_link_of_its_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
