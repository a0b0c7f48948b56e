#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <math.h>

#include "cost/schedule.h"

/*
 * Schedules played operation by operation: what each rank does in which order is written down in
 * full, one micro-batch after the other, and times follow from what each operation waits for.
 */
enum { STAGES = 16, CHUNKS = 8, BATCHES = 512, OPS = 3 * CHUNKS * BATCHES };
enum kind { FORWARD, BACKWARD, WHOLE, WEIGHT }; /* WHOLE: backward with weights */

struct part {
    enum kind kind;
    uint32_t chunk, batch;
};

struct op {
    struct part parts[2]; /* take in and hand out together */
    uint32_t count;
};

struct world {
    struct fit_schedule it;
    double forward_s[STAGES * CHUNKS], backward_s[STAGES * CHUNKS], weight_s[STAGES * CHUNKS];
    struct op ops[STAGES][OPS];
    uint32_t count[STAGES];
    double came[STAGES * CHUNKS][BATCHES], went[STAGES * CHUNKS][BATCHES]; /* ends; 0: not yet */
};

static void put(struct world *w, uint32_t rank, enum kind kind, uint32_t chunk, uint32_t batch)
{
    MYR_ASSERT(w->count[rank] < OPS);
    w->ops[rank][w->count[rank]++] = (struct op){{{kind, chunk, batch}}, 1};
}

static void put_pair(struct world *w, uint32_t rank, struct part a, struct part b)
{
    w->ops[rank][w->count[rank]++] = (struct op){{a, b}, 2};
}

static double cost(const struct world *w, struct part part)
{
    switch (part.kind) {
    case FORWARD:
        return w->it.forward_s[part.chunk];
    case BACKWARD:
        return w->it.backward_s[part.chunk];
    case WHOLE:
        return w->it.backward_s[part.chunk] + w->it.weight_s[part.chunk];
    case WEIGHT:
        break;
    }
    return w->it.weight_s[part.chunk];
}

/* When what the operation needs is there; below 0: not yet. */
static double ready(const struct world *w, struct part part)
{
    uint32_t last = w->it.pp * w->it.vp - 1;
    double end = -1;
    if (part.kind == WEIGHT || (part.kind == FORWARD && part.chunk == 0)) {
        return 0;
    }
    if (part.kind == FORWARD) {
        end = w->came[part.chunk - 1][part.batch];
    } else if (part.chunk == last) {
        end = w->came[part.chunk][part.batch];
        return end > 0 ? end : -1;
    } else {
        end = w->went[part.chunk + 1][part.batch];
    }
    return end > 0 ? end + w->it.hop_s : -1;
}

static bool try_op(struct world *w, const struct op *op, double *now)
{
    double start = *now, took = 0;
    for (uint32_t i = 0; i < op->count; i++) {
        double at = ready(w, op->parts[i]);
        if (at < 0) {
            return false;
        }
        start = fmax(start, at);
        took += cost(w, op->parts[i]);
    }
    *now = start + took;
    for (uint32_t i = 0; i < op->count; i++) {
        struct part part = op->parts[i];
        if (part.kind != WEIGHT) {
            double *to = part.kind == FORWARD ? w->came[part.chunk] : w->went[part.chunk];
            to[part.batch] = *now;
        }
    }
    return true;
}

static double play(struct world *w)
{
    uint32_t at[STAGES] = {};
    double now[STAGES] = {}, all = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < w->it.pp; i++) {
            while (at[i] < w->count[i] && try_op(w, &w->ops[i][at[i]], &now[i])) {
                at[i]++;
                moved = true;
            }
        }
    }
    for (uint32_t i = 0; i < w->it.pp; i++) {
        assert_int_equal(at[i], w->count[i]); /* no schedule waits for itself */
        all = fmax(all, now[i]);
    }
    return all;
}

static void order_plain(struct world *w, bool zero_bubble)
{
    uint32_t m = w->it.micro_batches;
    for (uint32_t i = 0; i < w->it.pp; i++) {
        uint32_t next = 0, weights = 0;
        while (next < m && next < w->it.pp - 1 - i) {
            put(w, i, FORWARD, i, next++);
        }
        for (uint32_t b = 0; b < m; b++) {
            if (next < m) {
                put(w, i, FORWARD, i, next++);
            }
            put(w, i, zero_bubble ? BACKWARD : WHOLE, i, b);
            if (zero_bubble && b >= i) {
                put(w, i, WEIGHT, i, weights++);
            }
        }
        while (zero_bubble && weights < m) {
            put(w, i, WEIGHT, i, weights++);
        }
    }
}

static void put_turn(struct world *w, uint32_t stage, enum kind kind, uint32_t turn)
{
    uint32_t pp = w->it.pp, round = pp * w->it.vp, index = turn % round / pp;
    uint32_t batch = turn / round * pp + turn % pp;
    put(w, stage, kind, stage + pp * (kind == FORWARD ? index : w->it.vp - 1 - index), batch);
}

/* Megatron's: groups of pp micro-batches go through each chunk in turn. */
static void order_interleaved(struct world *w)
{
    uint32_t pp = w->it.pp, turns = w->it.micro_batches * w->it.vp;
    for (uint32_t i = 0; i < pp; i++) {
        uint32_t ahead = (pp - i - 1) * 2 + (w->it.vp - 1) * pp;
        ahead = ahead < turns ? ahead : turns;
        for (uint32_t k = 0; k < ahead; k++) {
            put_turn(w, i, FORWARD, k);
        }
        for (uint32_t k = 0; k < turns; k++) {
            if (ahead + k < turns) {
                put_turn(w, i, FORWARD, ahead + k);
            }
            put_turn(w, i, WHOLE, k);
        }
    }
}

/* Where a rank of DualPipe stands: numbers of forwards and backwards, of its near and far end. */
struct dual {
    struct world *w;
    uint32_t rank, near_first;    /* first micro-batch of the near end */
    uint32_t forward[2], back[2]; /* next one of each direction */
    struct part put_off[2 * STAGES];
    uint32_t put_off_count, made;
};

/* Micro-batches of the second half come in at the last rank: chunks are those of the model. */
static struct part take(struct dual *d, enum kind kind, uint32_t far)
{
    uint32_t pp = d->w->it.pp, half = d->w->it.micro_batches / 2;
    bool from_last = (d->rank >= pp / 2) != (far != 0);
    uint32_t *next = kind == FORWARD ? &d->forward[far] : &d->back[far];
    struct part part = {kind, from_last ? pp - 1 - d->rank : d->rank,
                        (*next)++ + (from_last ? half : 0)};
    if (kind == BACKWARD) {
        d->put_off[d->put_off_count++ % (2 * STAGES)] = part;
    }
    return part;
}

static void one(struct dual *d, enum kind kind, uint32_t far)
{
    struct part part = take(d, kind, far);
    put(d->w, d->rank, kind, part.chunk, part.batch);
}

static void both(struct dual *d, uint32_t forward_far, uint32_t back_far)
{
    struct part forward = take(d, FORWARD, forward_far), back = take(d, WHOLE, back_far);
    put_pair(d->w, d->rank, forward, back);
}

static void weights(struct dual *d)
{
    struct part part = d->put_off[d->made++ % (2 * STAGES)];
    put(d->w, d->rank, WEIGHT, part.chunk, part.batch);
}

static void order_dual_middle(struct dual *d, uint32_t h, uint32_t far, uint32_t main)
{
    for (uint32_t i = 0; i < far; i++) {
        one(d, BACKWARD, 1);
        weights(d);
        one(d, FORWARD, 1);
    }
    for (uint32_t i = 0; i < main; i++) {
        if (i == 0 && far == 0) {
            one(d, FORWARD, 0);
            one(d, WHOLE, 1);
        } else {
            both(d, 0, 1);
        }
        both(d, 1, 0);
    }
    for (uint32_t i = 0; i < far; i++) {
        one(d, WHOLE, 1);
        both(d, 1, 0);
    }
    bool split = false;
    for (uint32_t i = 0; i < h + 1; i++) {
        split = split || (i == (h + 1) / 2 && h % 2 == 1);
        one(d, split ? BACKWARD : WHOLE, 1);
        split = split || (i == (h + 1) / 2 && h % 2 == 0);
        one(d, split ? BACKWARD : WHOLE, 0);
    }
}

static void order_dualpipe(struct world *w)
{
    uint32_t pp = w->it.pp;
    for (uint32_t rank = 0; rank < pp; rank++) {
        struct dual d = {.w = w, .rank = rank};
        uint32_t h = rank < pp / 2 ? rank : pp - 1 - rank, far = pp / 2 - 1 - h;
        for (uint32_t i = 0; i < 2 * far; i++) {
            one(&d, FORWARD, 0);
        }
        for (uint32_t i = 0; i < h + 1; i++) {
            one(&d, FORWARD, 0);
            one(&d, FORWARD, 1);
        }
        order_dual_middle(&d, h, far, w->it.micro_batches / 2 - pp + h + 1);
        for (uint32_t i = 0; i < far; i++) {
            weights(&d);
            one(&d, BACKWARD, 0);
        }
        for (uint32_t i = 0; i < h + 1; i++) {
            weights(&d);
        }
        assert_int_equal(d.made, d.put_off_count);
        assert_int_equal(d.back[0] + d.back[1], w->it.micro_batches);
    }
}

static void order(struct world *w)
{
    switch (w->it.kind) {
    case MYR_SCHEDULE_INTERLEAVED:
        order_interleaved(w);
        break;
    case MYR_SCHEDULE_DUALPIPE:
        order_dualpipe(w);
        break;
    case MYR_SCHEDULE_1F1B:
    case MYR_SCHEDULE_ZERO_BUBBLE:
        order_plain(w, w->it.kind == MYR_SCHEDULE_ZERO_BUBBLE);
        break;
    }
}

/* Sizes that the schedule allows: few and many micro-batches, less than there are stages too. */
static void draw_sizes(struct myr_rng *rng, enum myr_schedule kind, struct fit_schedule *it)
{
    uint32_t most = myr_rng_below(rng, 2) ? BATCHES : 40;
    it->kind = kind;
    it->pp = 1 + (uint32_t)myr_rng_below(rng, STAGES);
    it->vp = 1;
    it->micro_batches = 1 + (uint32_t)myr_rng_below(rng, most);
    if (kind == MYR_SCHEDULE_INTERLEAVED) {
        it->pp = 2 + (uint32_t)myr_rng_below(rng, STAGES - 1);
        it->vp = 2 + (uint32_t)myr_rng_below(rng, CHUNKS - 1);
        uint32_t groups = most / it->pp;
        it->micro_batches = it->pp * (1 + (uint32_t)myr_rng_below(rng, groups ? groups : 1));
    }
    if (kind == MYR_SCHEDULE_DUALPIPE) {
        it->pp = 2 * (1 + (uint32_t)myr_rng_below(rng, STAGES / 2));
        it->micro_batches = 2 * (it->pp + (uint32_t)myr_rng_below(rng, BATCHES / 2 - it->pp + 1));
    }
}

/*
 * Times of chunks: all their own; one kind of inner chunk with embedding and output beside; nearly
 * equal ones, which overtake each other late; equal ones.
 */
static void draw_times(struct myr_rng *rng, struct world *w)
{
    uint32_t chunks = w->it.pp * w->it.vp, style = (uint32_t)myr_rng_below(rng, 4);
    double hop = myr_rng_below(rng, 2) ? 0 : (double)myr_rng_below(rng, 1000) / 2000;
    double spread[] = {1, 0, 1e-3, 0};
    for (uint32_t i = 0; i < chunks; i++) {
        double own[3];
        for (int k = 0; k < 3; k++) {
            own[k] = 1 + spread[style] * (double)myr_rng_below(rng, 100000) / 100000;
        }
        double ends = style == 1 ? (i == 0 ? 0.1 : i + 1 == chunks ? 0.6 : 0) : 0;
        w->forward_s[i] = own[0] + ends;
        w->backward_s[i] = 1.1 * own[1] + ends;
        w->weight_s[i] = 0.9 * own[2] + ends;
    }
    w->it.hop_s = w->it.pp > 1 ? hop : 0;
    w->it.forward_s = w->forward_s;
    w->it.backward_s = w->backward_s;
    w->it.weight_s = w->weight_s;
}

static void compare(enum myr_schedule kind, uint64_t seeds)
{
    struct world *w = test_calloc(1, sizeof(*w));
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, (uint64_t)kind);
        memset(w->count, 0, sizeof(w->count));
        memset(w->came, 0, sizeof(w->came));
        memset(w->went, 0, sizeof(w->went));
        draw_sizes(&rng, kind, &w->it);
        draw_times(&rng, w);
        order(w);
        double took = play(w), told = fit_schedule_s(&w->it);
        if (fabs(took / told - 1) > 1e-9) {
            fail_msg("seed %u, %s: pp %u vp %u m %u hop %f took %.12g, told %.12g", (unsigned)seed,
                     myr_schedule_name(kind), w->it.pp, w->it.vp, w->it.micro_batches, w->it.hop_s,
                     took, told);
        }
    }
    test_free(w);
}

static void one_forward_one_backward_takes_what_playing_it_takes(void **state)
{
    (void)state;
    compare(MYR_SCHEDULE_1F1B, 1500);
}

static void interleaving_takes_what_playing_it_takes(void **state)
{
    (void)state;
    compare(MYR_SCHEDULE_INTERLEAVED, 1000);
}

static void zero_bubble_takes_what_playing_it_takes(void **state)
{
    (void)state;
    compare(MYR_SCHEDULE_ZERO_BUBBLE, 1500);
}

static void dualpipe_takes_what_playing_it_takes(void **state)
{
    (void)state;
    compare(MYR_SCHEDULE_DUALPIPE, 1000);
}

/* Played one by one this would take hours. */
static void a_billion_micro_batches_take_no_longer_to_tell(void **state)
{
    (void)state;
    struct world *w = test_calloc(1, sizeof(*w));
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct myr_rng rng;
        double worst = 0;
        myr_rng_init(&rng, seed, 9);
        draw_sizes(&rng, (enum myr_schedule)(seed % 4), &w->it);
        draw_times(&rng, w);
        w->it.hop_s = 0;
        w->it.micro_batches = 1000000000 / (2 * w->it.pp) * (2 * w->it.pp);
        for (uint32_t i = 0; i < w->it.pp; i++) {
            double stage = 0;
            for (uint32_t c = i; c < w->it.pp * w->it.vp; c += w->it.pp) {
                stage += w->forward_s[c] + w->backward_s[c] + w->weight_s[c];
            }
            worst = fmax(worst, stage);
        }
        double each = fit_schedule_s(&w->it) / w->it.micro_batches;
        bool plain = w->it.vp == 1 && w->it.kind != MYR_SCHEDULE_DUALPIPE;
        /* The slowest stage sets the pace; ranks of DualPipe have two of them. */
        if (plain ? fabs(each / worst - 1) > 1e-6 : each > 1.5 * worst || each < worst / 2) {
            fail_msg("seed %u: %.12g a micro-batch, slowest stage %.12g", (unsigned)seed, each,
                     worst);
        }
    }
    test_free(w);
}

/* What a watcher of one rank has to find: one thing after the other, all of them. */
struct watch {
    double now_s[STAGES], end_s;
    uint32_t counts[3];
};

static void look(void *context, const struct fit_seen *one)
{
    struct watch *watch = context;
    assert_true(one->from_s >= watch->now_s[one->stage] - 1e-9 && one->to_s > one->from_s);
    watch->now_s[one->stage] = one->to_s;
    watch->end_s = fmax(watch->end_s, one->to_s);
    watch->counts[one->work]++;
}

static void a_watcher_is_told_every_operation_in_its_order(void **state)
{
    (void)state;
    struct world *w = test_calloc(1, sizeof(*w));
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct myr_rng rng;
        struct watch watch = {};
        myr_rng_init(&rng, seed, 10);
        draw_sizes(&rng, (enum myr_schedule)(seed % 4), &w->it);
        draw_times(&rng, w);
        double told = fit_schedule_s(&w->it);
        w->it.watcher = look;
        w->it.context = &watch;
        double took = fit_schedule_s(&w->it);
        w->it.watcher = NULL;
        uint32_t all = w->it.pp * w->it.vp * w->it.micro_batches;
        bool split = w->it.kind == MYR_SCHEDULE_ZERO_BUBBLE;
        assert_true(fabs(took / told - 1) < 1e-9 && fabs(watch.end_s / took - 1) < 1e-9);
        assert_int_equal(watch.counts[FIT_FORWARD], all);
        assert_int_equal(watch.counts[FIT_BACKWARD], all);
        assert_true(w->it.kind == MYR_SCHEDULE_DUALPIPE
                        ? watch.counts[FIT_WEIGHT] > 0
                        : watch.counts[FIT_WEIGHT] == (split ? all : 0));
    }
    test_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_forward_one_backward_takes_what_playing_it_takes),
        cmocka_unit_test(interleaving_takes_what_playing_it_takes),
        cmocka_unit_test(zero_bubble_takes_what_playing_it_takes),
        cmocka_unit_test(dualpipe_takes_what_playing_it_takes),
        cmocka_unit_test(a_billion_micro_batches_take_no_longer_to_tell),
        cmocka_unit_test(a_watcher_is_told_every_operation_in_its_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
