/*
 * What a question is told, held against really doing it: states are drawn under every policy, then
 * questions; the same is done to a copy of the state by a driver of its own, and what became of
 * every job is looked at there. Agents and racks answer in the order in which they were asked, and
 * then all is as it was told; and in an order drawn anew, which nobody can know before, and then it
 * nearly always is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/control/whatif.h"
#include "obedient_test.h"

enum { QUESTIONS = 600, EACH = 4, SEED = 1 }; /* drawn, of which so many of each state */

static void draw_state(struct world *w, uint64_t seed)
{
    *w = (struct world){.starts = true};
    myr_rng_init(&w->rng, seed, 21);
    uint32_t nodes = 8 + below(w, 40);
    struct myr_place_shape shape = {nodes, 8, 4 + 4 * below(w, 2), nodes};
    struct myr_control_policy policy = myr_control_policy_default();
    policy.queue = myr_queue_policy_preset((enum myr_queue_preset)below(w, 4));
    policy.spares = below(w, 4);
    policy.hang_ms = policy.first_step_ms = INT64_C(30) * 86400 * 1000;
    policy.drain_permille = 1000;
    assert_int_equal(myr_control_create(&shape, &policy, 2, &w->control, NULL), MYR_OK);
    for (uint32_t n = 0; n < nodes; n++) {
        tell(w, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = n, .boot = 1});
        tell(w, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = n, .boot = 1, .epoch = 1});
    }
    for (uint32_t i = 0, jobs = 5 + below(w, 40); i < jobs; i++) {
        uint32_t gpus = below(w, 2) ? 1 + below(w, 16) : 8 * (1 + below(w, nodes / 2));
        struct myr_job_spec spec = {.token = i + UINT64_C(1),
                                    .tenant = below(w, 2),
                                    .gpus = gpus,
                                    .priority = (int32_t)below(w, 3) - 1,
                                    .restart = (uint8_t)below(w, 2),
                                    .fixed = below(w, 5) == 0,
                                    .retries = 10,
                                    .lease_s = 600};
        tell(w, (struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = spec});
        obey(w);
        pass(w, below(w, 3) ? 0 : 1000 * (int64_t)below(w, 1800));
        if (below(w, 4) == 0) {
            end_some(w);
        }
    }
}

/* Several nodes of one gang, a leaf, a rack across two leaves, nodes anywhere; or a job. */
static struct myr_whatif_question draw_question(struct world *w, char *nodes, size_t size)
{
    struct myr_whatif_question q = {.lose_leaf = -1, .silent = below(w, 2), .no_reason = true};
    uint32_t all = myr_control_nodes(w->control), job = below(w, myr_control_jobs(w->control));
    uint32_t first = below(w, all), count = 1 + below(w, 4), at = 0;
    struct myr_control_rank ranks[64];
    switch (below(w, 5)) {
    case 0:
        q.lose_leaf = below(w, (all - 1) / myr_control_shape(w->control).group_nodes + 1);
        break;
    case 1:
        first = first + 6 < all ? first : all - 6;
        snprintf(nodes, size, "%u-%u", first, first + 5);
        q.lose = nodes;
        break;
    case 2:
        q.submit_gpus = below(w, 2) ? 1 + below(w, 16) : 8 * (1 + below(w, all / 2));
        q.priority = (int32_t)below(w, 3) - 1;
        q.restart = below(w, 2);
        break;
    case 3:
        snprintf(nodes, size, "%u,%u", first, below(w, all));
        q.lose = nodes;
        break;
    default:
        at = myr_control_job_ranks(w->control, job, ranks, count); /* all that there are */
        count = at < count ? at : count;
        at = 0;
        for (uint32_t i = 0; i < count; i++) {
            at += (uint32_t)snprintf(nodes + at, size - at, "%s%u", i ? "," : "", ranks[i].node);
        }
        snprintf(nodes + at, size - at, "%s%u", count ? "," : "", first);
        q.lose = nodes;
    }
    return q;
}

static void mark(bool *lost, const struct myr_whatif_question *q, uint32_t nodes, uint32_t leaf)
{
    for (uint32_t n = 0; n < nodes && q->lose_leaf >= 0; n++) {
        lost[n] = n / leaf == q->lose_leaf;
    }
    for (const char *at = q->lose; at && *at; at += strcspn(at, ","), at += *at == ',') {
        unsigned long first = strtoul(at, NULL, 10), last = first;
        const char *dash = strchr(at, '-');
        if (dash && dash < at + strcspn(at, ",")) {
            last = strtoul(dash + 1, NULL, 10);
        }
        for (unsigned long n = first; n <= last; n++) {
            lost[n] = true;
        }
    }
}

/* As it would happen; the answer is what there is to see afterwards. */
static void really_do(struct world *w, const struct myr_whatif_question *q)
{
    uint32_t nodes = myr_control_nodes(w->control);
    bool *lost = myr_xcalloc(nodes, sizeof(*lost));
    mark(lost, q, nodes, myr_control_shape(w->control).group_nodes);
    uint32_t count = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        count += lost[n];
    }
    if (count > 0) {
        tell(w, (struct myr_event){.kind = MYR_EVENT_APPROVE, .value = count});
    }
    for (uint32_t n = 0; n < nodes; n++) {
        if (lost[n]) {
            tell(w, (struct myr_event){.kind = q->silent ? MYR_EVENT_SILENT : MYR_EVENT_SYMPTOM,
                                       .code = q->silent ? 0 : MYR_SYMPTOM_FAILED,
                                       .node = n,
                                       .boot = 1});
        }
    }
    obey(w);
    if (q->silent && count > 0) {
        pass(w, 30000);
    }
    free(lost);
    if (q->submit_gpus > 0) {
        tell(w, (struct myr_event){.kind = MYR_EVENT_SUBMIT,
                                   .spec = {.token = UINT64_MAX,
                                            .gpus = q->submit_gpus,
                                            .priority = q->priority,
                                            .restart = (uint8_t)q->restart,
                                            .retries = 100,
                                            .lease_s = 600}});
        obey(w);
    }
}

/* Job by job; and whether the submitted one has started. */
static bool is_as_told(const struct myr_control *before, const struct myr_control *after,
                       const struct myr_whatif_answer *a)
{
    uint32_t at = 0;
    for (uint32_t id = 0; id < myr_control_jobs(before); id++) {
        struct myr_control_job was = myr_control_job(before, id), is = myr_control_job(after, id);
        bool ran = was.nodes > 0 && was.state < MYR_CONTROL_DONE;
        bool runs = is.nodes > 0 && (is.state != MYR_CONTROL_RECOVERING || was.state == is.state);
        enum myr_whatif_fate fate = was.state == MYR_CONTROL_QUEUED ? MYR_WHATIF_STARTS
                                    : runs                          ? MYR_WHATIF_MOVES
                                                                    : MYR_WHATIF_WAITS;
        bool changed =
            ran ? is.epoch != was.epoch || !runs : was.state == MYR_CONTROL_QUEUED && runs;
        if (changed && (at == a->job_count || a->jobs[at].job != id || a->jobs[at].fate != fate)) {
            return false;
        }
        at += changed;
    }
    uint32_t id = myr_control_find(after, UINT64_MAX);
    bool placed = id != MYR_NONE && myr_control_job(after, id).nodes > 0;
    return at == a->job_count && placed == a->placed;
}

static bool holds(struct world *w, const struct myr_whatif_question *q,
                  const struct myr_whatif_answer *a, bool in_turn)
{
    struct myr_control *before = w->control;
    w->control = myr_control_fork(before);
    w->in_turn = in_turn;
    w->starts = !in_turn; /* nobody answers starts in the copy that was asked */
    int64_t now_ms = w->now_ms;
    really_do(w, q);
    w->now_ms = now_ms;
    bool same = is_as_told(before, w->control, a);
    myr_control_free(w->control);
    w->control = before;
    return same;
}

static void what_is_told_is_what_would_happen(void **state)
{
    (void)state;
    static const char *const names[] = {"by report", "by silence", "submitted"};
    uint32_t asked[3] = {}, right[3] = {}, moves = 0, waits = 0, starts = 0;
    for (uint64_t seed = SEED; seed < SEED + QUESTIONS / EACH; seed++) {
        struct world w;
        draw_state(&w, seed);
        for (uint32_t i = 0; i < EACH; i++) {
            char nodes[256];
            struct myr_whatif_question q = draw_question(&w, nodes, sizeof(nodes));
            struct myr_whatif_answer a;
            uint64_t hash = myr_control_hash(w.control);
            uint32_t kind = q.submit_gpus ? 2 : q.silent;
            assert_int_equal(myr_whatif(w.control, &q, &a, NULL), MYR_OK);
            assert_true(myr_control_hash(w.control) == hash);
            if (!holds(&w, &q, &a, true)) {
                fail_msg("seed %llu, question %u (%s): lose %s leaf %lld submit %u",
                         (unsigned long long)seed, i, names[kind], q.lose ? q.lose : "-",
                         (long long)q.lose_leaf, q.submit_gpus);
            }
            asked[kind]++;
            right[kind] += holds(&w, &q, &a, false);
            moves += a.moves;
            waits += a.waits;
            starts += a.starts;
        }
        myr_control_free(w.control);
        myr_vec_done(&w.orders);
    }
    print_message("seeds %u on: %u move, %u wait, %u start\n", SEED, moves, waits, starts);
    for (uint32_t k = 0; k < 3; k++) {
        print_message("answered in any order, %s: %u of %u\n", names[k], right[k], asked[k]);
        assert_true(right[k] * 100 >= asked[k] * 95);
    }
    assert_true(moves > QUESTIONS / 2 && waits > QUESTIONS / 2 && starts > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_is_what_would_happen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
