/* What an agent remembers of incarnations that must not start again, against a naive list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

enum { PLACES = 64, JOBS = 90 };

/* The latest used is the last; 'count' of them. */
struct list {
    struct {
        uint32_t job, epoch;
    } items[PLACES];
    uint32_t count;
};

static void list_remember(struct list *l, uint32_t job, uint32_t epoch)
{
    uint32_t at = 0;
    while (at < l->count && l->items[at].job != job) {
        at++;
    }
    if (at < l->count) { /* the newest epoch stands for those before it */
        epoch = epoch > l->items[at].epoch ? epoch : l->items[at].epoch;
    } else {
        at = 0; /* the one that was used longest ago makes room, where there is none */
    }
    if (at < l->count && (l->count == PLACES || l->items[at].job == job)) {
        memmove(&l->items[at], &l->items[at + 1], (l->count - at - 1) * sizeof(l->items[0]));
        l->count--;
    }
    l->items[l->count].job = job;
    l->items[l->count++].epoch = epoch;
}

static uint32_t epoch_of(const struct wnode *node, uint32_t job)
{
    uint32_t found = 0, times = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        if (node->stopped[i].epoch > 0 && node->stopped[i].job == job) {
            found = node->stopped[i].epoch;
            times++;
        }
    }
    assert_true(times <= 1);
    return found;
}

static uint32_t list_epoch_of(const struct list *model, uint32_t job)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        found = model->items[i].job == job ? model->items[i].epoch : found;
    }
    return found;
}

static void both_remember_the_same(const struct wnode *node, const struct list *model,
                                   uint64_t seed, uint32_t step)
{
    for (uint32_t job = 0; job < JOBS; job++) {
        uint32_t epoch_kept = epoch_of(node, job), wanted = list_epoch_of(model, job);
        if (epoch_kept != wanted) {
            fail_msg("seed %d, step %u: job %u up to epoch %u, %u is expected", (int)seed, step,
                     job, epoch_kept, wanted);
        }
    }
}

static void the_least_used_is_forgotten_first(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct wnode *node = calloc(1, sizeof(*node));
        struct list *model = calloc(1, sizeof(*model));
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 5);
        assert_int_equal(MYR_ARRAY_COUNT(node->stopped), PLACES);
        for (uint32_t step = 0; step < 300; step++) {
            uint32_t job = myr_rng_below(&rng, JOBS), epoch = 1 + myr_rng_below(&rng, 9);
            agent_remember(node, job, epoch);
            list_remember(model, job, epoch);
            both_remember_the_same(node, model, seed, step);
        }
        assert_int_equal(model->count, PLACES);
        free(model);
        free(node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_used_is_forgotten_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
