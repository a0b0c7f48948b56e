#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "hosts/hosts.h"
#include "verify/verify_test.h"

/*
 * A few hosts, a few places, cables that lead anywhere, names that are right, wrong or none: no
 * other way to give places to hosts explains more. All ways are tried.
 */

enum { SEED = 20261119, CASES = 4000, HOSTS_MAX = 5, NODES = 5, RAILS = 4 };

struct fixture {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_cabling cabling;
    struct identify identify;
    struct hosts hosts;
    struct host items[HOSTS_MAX];
    struct unit_list units;
    struct myr_rng rng;
};

static uint32_t below(struct fixture *f, uint32_t count)
{
    return myr_rng_below(&f->rng, count);
}

static void draw(struct fixture *f, uint32_t number)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    myr_rng_init(&f->rng, SEED, number);
    small_design(&f->design, &f->arena, (struct small_shape){NODES, RAILS, 1, 1});
    myr_cabling_init(&f->cabling, &f->arena);
    f->identify =
        (struct identify){.arena = &f->arena, .design = &f->design, .cabling = &f->cabling};
    f->hosts.items = f->items;
    f->hosts.count = 1 + below(f, HOSTS_MAX);
    bool claimed[NODES] = {};
    for (uint32_t h = 0; h < f->hosts.count; h++) {
        uint32_t claim = below(f, NODES), home = below(f, NODES);
        bool none = claimed[claim] || below(f, 3) == 0;
        claimed[claim] = claimed[claim] || !none;
        f->items[h] = (struct host){.called = none ? MYR_NONE : claim,
                                    .claim = none ? MYR_NONE : claim,
                                    .node = MYR_NONE,
                                    .first_unit = (uint32_t)f->units.count,
                                    .unit_count = 1 + below(f, RAILS),
                                    .named = true};
        for (uint32_t i = 0; i < f->items[h].unit_count; i++) {
            uint32_t node = below(f, 3) ? home : below(f, NODES);
            uint32_t rail = below(f, 4) ? i : below(f, RAILS);
            struct unit unit = {.host = h,
                                .planned = f->design.first_port[node] + rail,
                                .known = below(f, 2) ? i : MYR_NONE,
                                .said = MYR_NONE};
            myr_vec_push(&f->units, unit);
        }
    }
}

static void done(struct fixture *f)
{
    myr_vec_done(&f->units);
    myr_cabling_done(&f->cabling);
    myr_arena_done(&f->arena);
}

/* What a host explains at a place: two a cable, one where only the host is right, two its name. */
static uint32_t worth(const struct fixture *f, uint32_t h, uint32_t node)
{
    const struct host *host = &f->items[h];
    bool seen[NODES * RAILS] = {};
    uint32_t sum = 0;
    for (uint32_t i = 0; i < host->unit_count; i++) {
        const struct unit *unit = &f->units.items[host->first_unit + i];
        uint32_t at = unit->planned - f->design.first_port[0];
        if (seen[at]) {
            continue;
        }
        seen[at] = true;
        bool right = unit->known == MYR_NONE || unit->known == at % RAILS;
        sum += f->design.port_device[unit->planned] != node ? 0 : right ? 2 : 1;
    }
    bool called = host->claim == node;
    /* One cable does not speak against a name. */
    return called ? sum + 2 : host->claim != MYR_NONE && sum < 4 ? 0 : sum;
}

/* The most that hosts from 'h' on can explain in the places that are left. */
static uint32_t best_of(const struct fixture *f, uint32_t h, uint32_t taken)
{
    if (h == f->hosts.count) {
        return 0;
    }
    uint32_t best = best_of(f, h + 1, taken);
    for (uint32_t node = 0; node < NODES; node++) {
        uint32_t own = worth(f, h, node);
        if (own && !(taken >> node & 1)) {
            uint32_t all = own + best_of(f, h + 1, taken | 1U << node);
            best = all > best ? all : best;
        }
    }
    return best;
}

static void no_other_places_explain_more(void **state)
{
    (void)state;
    uint32_t moved = 0;
    for (uint32_t number = 0; number < CASES; number++) {
        struct fixture f;
        draw(&f, number);
        (void)hosts_place(&f.hosts, &f.identify, &f.units);
        uint32_t sum = 0, taken = 0;
        for (uint32_t h = 0; h < f.hosts.count; h++) {
            uint32_t node = f.items[h].node;
            if (node != MYR_NONE) {
                assert_false(taken >> node & 1);
                taken |= 1U << node;
                sum += worth(&f, h, node);
                moved += f.items[h].claim != MYR_NONE && f.items[h].claim != node;
            }
        }
        if (sum != best_of(&f, 0, 0)) {
            fail_msg("seed %d, case %u: %u, %u are possible", SEED, number, sum, best_of(&f, 0, 0));
        }
        /* The same again is the same. */
        assert_false(hosts_place(&f.hosts, &f.identify, &f.units));
        done(&f);
    }
    assert_true(moved > CASES / 20); /* names were overruled at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_places_explain_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
