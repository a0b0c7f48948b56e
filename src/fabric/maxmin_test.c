/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */
#include <stdlib.h>

#include "myriad/fabric/balance.h"

/*
 * Random routes over channels of random speeds, against an independent solver: all rates rise in
 * small equal steps of the share that is left, in doubles, without a heap or any list.
 */

enum { CASES = 1000, LINKS_MAX = 12, ROUTES_MAX = 16, HOST_GBPS = 400 };

struct toy {
    struct myr_design design;
    struct myr_network net;
    struct myr_graph graph;
    uint32_t link_cable[LINKS_MAX];
    uint16_t cable_type[LINKS_MAX];
    struct myr_cabletype types[LINKS_MAX];
    struct myr_routes routes;
};

static void toy_init(struct toy *toy, struct myr_rng *rng)
{
    static const uint32_t speeds[] = {100, 200, 400, 800};
    uint32_t links = 1 + myr_rng_below(rng, LINKS_MAX), routes = myr_rng_below(rng, ROUTES_MAX + 1);
    *toy = (struct toy){};
    for (uint32_t i = 0; i < links; i++) {
        toy->link_cable[i] = i;
        toy->cable_type[i] = (uint16_t)i;
        toy->types[i].gbps = speeds[myr_rng_below(rng, MYR_ARRAY_COUNT(speeds))];
    }
    toy->design.link_count = links;
    toy->design.link_cable = toy->link_cable;
    toy->design.cable_type = toy->cable_type;
    toy->design.cabletypes = toy->types;
    toy->net.host_gbps = HOST_GBPS;
    toy->graph.design = &toy->design;
    toy->graph.net = &toy->net;
    myr_vec_push(&toy->routes.start, 0);
    for (uint32_t r = 0; r < routes; r++) {
        uint32_t used = 0;
        for (uint32_t channel = 0; channel < links * 2; channel++) {
            if (myr_rng_below(rng, 4) == 0 || (channel + 1 == links * 2 && used == 0)) {
                myr_vec_push(&toy->routes.channels, channel);
                used++;
            }
        }
        uint32_t weight = myr_rng_below(rng, 3) ? MYR_SHARE_ONE : 1 + myr_rng_below(rng, 1000);
        myr_vec_push(&toy->routes.start, (uint32_t)toy->routes.channels.count);
        myr_vec_push(&toy->routes.flow, r);
        myr_vec_push(&toy->routes.weight, weight);
    }
}

static bool uses(const struct toy *toy, uint32_t route, uint32_t channel)
{
    for (uint32_t i = toy->routes.start.items[route]; i < toy->routes.start.items[route + 1]; i++) {
        if (toy->routes.channels.items[i] == channel) {
            return true;
        }
    }
    return false;
}

/* What each channel has left when the routes have these rates, and who still rises over it. */
static double room_of(const struct toy *toy, const double *rate, const bool *done, uint32_t channel,
                      uint32_t *ret_rising)
{
    uint32_t link = channel / 2;
    double left = (double)toy->types[link].gbps / HOST_GBPS;
    *ret_rising = 0;
    for (uint32_t r = 0; r < toy->routes.flow.count; r++) {
        if (uses(toy, r, channel)) {
            left -= rate[r];
            *ret_rising += !done[r];
        }
    }
    return left;
}

/* Raise all that are not done by the largest step that nothing forbids; stop those that are full.
 */
static void naive_rates(const struct toy *toy, double *rate)
{
    bool done[ROUTES_MAX] = {};
    uint32_t count = (uint32_t)toy->routes.flow.count, left = count;
    for (uint32_t r = 0; r < count; r++) {
        rate[r] = 0;
    }
    while (left > 0) {
        double step = 1e9;
        for (uint32_t channel = 0; channel < toy->design.link_count * 2; channel++) {
            uint32_t rising;
            double room = room_of(toy, rate, done, channel, &rising);
            step = rising && room / rising < step ? room / rising : step;
        }
        for (uint32_t r = 0; r < count; r++) {
            double room = (double)toy->routes.weight.items[r] / MYR_SHARE_ONE - rate[r];
            step = !done[r] && room < step ? room : step;
        }
        for (uint32_t r = 0; r < count; r++) {
            rate[r] += done[r] ? 0 : step;
        }
        for (uint32_t r = 0; r < count; r++) {
            bool full = rate[r] >= (double)toy->routes.weight.items[r] / MYR_SHARE_ONE - 1e-9;
            for (uint32_t channel = 0; channel < toy->design.link_count * 2; channel++) {
                uint32_t rising;
                full |= uses(toy, r, channel) && room_of(toy, rate, done, channel, &rising) < 1e-9;
            }
            left -= full && !done[r];
            done[r] |= full;
        }
    }
}

static void rates_equal_those_of_water_filling(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct toy toy;
        struct myr_rng rng;
        uint64_t rate[ROUTES_MAX];
        double expected[ROUTES_MAX];
        myr_rng_init(&rng, seed, 1);
        toy_init(&toy, &rng);
        myr_max_min(&toy.graph, &toy.routes, rate);
        naive_rates(&toy, expected);
        for (uint32_t r = 0; r < toy.routes.flow.count; r++) {
            double got = (double)rate[r] / (double)MYR_LOAD_ONE;
            double off = got > expected[r] ? got - expected[r] : expected[r] - got;
            if (off > 1e-5) {
                fail_msg("seed %llu, route %u: %g, %g expected", (unsigned long long)seed, r, got,
                         expected[r]);
            }
        }
        myr_routes_done(&toy.routes);
    }
}

static void no_channel_carries_more_than_it_can(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct toy toy;
        struct myr_rng rng;
        uint64_t rate[ROUTES_MAX];
        myr_rng_init(&rng, seed, 2);
        toy_init(&toy, &rng);
        myr_max_min(&toy.graph, &toy.routes, rate);
        for (uint32_t channel = 0; channel < toy.design.link_count * 2; channel++) {
            uint64_t sum = 0;
            for (uint32_t r = 0; r < toy.routes.flow.count; r++) {
                sum += uses(&toy, r, channel) ? rate[r] : 0;
            }
            assert_true(sum <= MYR_LOAD_ONE * toy.types[channel / 2].gbps / HOST_GBPS);
        }
        for (uint32_t r = 0; r < toy.routes.flow.count; r++) {
            assert_true(rate[r] <= MYR_LOAD_ONE * toy.routes.weight.items[r] / MYR_SHARE_ONE);
        }
        myr_routes_done(&toy.routes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_equal_those_of_water_filling),
        cmocka_unit_test(no_channel_carries_more_than_it_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
