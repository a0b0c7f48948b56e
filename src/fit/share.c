#include "share.h"

/* Batch */

/* A part that a pool can take: so many grains of the batch in so many seconds. */
struct offer {
    uint32_t grains;
    double time_s;
    struct fit_dealt dealt;
};

struct offers {
    struct offer *items; /* one for each number of grains, the fastest */
    uint32_t count;
};

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Every part is a multiple of this: batches are counted in it. */
static uint32_t grain_of(const struct fit_paces *pools, uint32_t pool_count)
{
    uint32_t grain = 0;
    for (uint32_t p = 0; p < pool_count; p++) {
        for (uint32_t i = 0; i < pools[p].count; i++) {
            grain = gcd(grain, pools[p].items[i].sequences * pools[p].items[i].step);
        }
    }
    return grain;
}

static struct offers list_offers(const struct fit_paces *paces, uint32_t batch, uint32_t grain,
                                 struct myr_arena *arena)
{
    struct offer *by_size = MYR_ARENA_NEW(arena, struct offer, batch + (size_t)1);
    struct offers offers = {MYR_ARENA_NEW(arena, struct offer, batch + (size_t)1), 0};
    for (uint32_t i = 0; i < paces->count; i++) {
        const struct fit_pace *pace = &paces->items[i];
        uint64_t most = (uint64_t)batch * grain / pace->sequences;
        for (uint32_t k = pace->step; k <= most; k += pace->step) {
            uint32_t grains = k * pace->sequences / grain;
            struct offer *offer = &by_size[grains];
            double time = pace->base_s + k * pace->unit_s;
            if (offer->grains == 0 || time < offer->time_s) {
                *offer = (struct offer){grains, time, {i, k}};
            }
        }
    }
    for (uint32_t b = 1; b <= batch; b++) {
        if (by_size[b].grains) {
            offers.items[offers.count++] = by_size[b];
        }
    }
    return offers;
}

bool fit_deal_batch(const struct fit_paces *pools, uint32_t pool_count, uint32_t batch,
                    struct myr_arena *arena, struct fit_dealt *ret, double *ret_s)
{
    uint32_t grain = grain_of(pools, pool_count);
    if (grain == 0 || batch % grain != 0) {
        return false;
    }
    batch /= grain;
    /* best[b]: the least time in which the pools so far do b grains; from[p][b]: how. */
    double *best = MYR_ARENA_NEW(arena, double, batch + (size_t)1);
    double *next = MYR_ARENA_NEW(arena, double, batch + (size_t)1);
    const struct offer **from =
        MYR_ARENA_NEW(arena, const struct offer *, (batch + (size_t)1) * pool_count);
    for (uint32_t b = 1; b <= batch; b++) {
        best[b] = 1e30;
    }
    for (uint32_t p = 0; p < pool_count; p++) {
        struct offers offers = list_offers(&pools[p], batch, grain, arena);
        const struct offer **how = from + (batch + (size_t)1) * p;
        for (uint32_t b = 0; b <= batch; b++) {
            next[b] = 1e30;
            for (uint32_t i = 0; i < offers.count && offers.items[i].grains <= b; i++) {
                const struct offer *offer = &offers.items[i];
                double before = best[b - offer->grains];
                double time = before > offer->time_s ? before : offer->time_s;
                if (time < next[b]) {
                    next[b] = time;
                    how[b] = offer;
                }
            }
        }
        double *swap = best;
        best = next;
        next = swap;
    }
    if (best[batch] >= 1e30) {
        return false;
    }
    *ret_s = best[batch];
    for (uint32_t p = pool_count, b = batch; p-- > 0;) {
        const struct offer *offer = from[(batch + (size_t)1) * p + b];
        ret[p] = offer->dealt;
        b -= offer->grains;
    }
    return true;
}

/* Layers */

/* With no stage above 'worst': the layers on the stages that do one fastest. */
static bool deal_below(const struct fit_bench *stages, uint32_t stage_count, uint32_t layers,
                       double worst, uint32_t *ret)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < stage_count; i++) {
        double free_s = worst - stages[i].ends_s;
        double fits = free_s < 0 ? 0 : free_s / stages[i].layer_s * (1 + 1e-12);
        uint32_t most = fits < stages[i].most ? (uint32_t)fits : stages[i].most;
        if (most < 1) {
            return false;
        }
        ret[i] = 1;
        room += most;
    }
    if (room < layers || stage_count > layers) {
        return false;
    }
    for (uint32_t left = layers - stage_count; left > 0;) {
        uint32_t at = stage_count;
        for (uint32_t i = 0; i < stage_count; i++) {
            double time = stages[i].ends_s + (ret[i] + 1) * stages[i].layer_s;
            bool fits = ret[i] < stages[i].most && time <= worst * (1 + 1e-12);
            if (fits && (at == stage_count || stages[i].layer_s < stages[at].layer_s)) {
                at = i;
            }
        }
        if (at == stage_count) {
            return false;
        }
        ret[at]++;
        left--;
    }
    return true;
}

bool fit_deal_layers(const struct fit_bench *stages, uint32_t stage_count, uint32_t layers,
                     double micro_batches, double share, uint32_t *ret, double *ret_s)
{
    enum { STAGES_MAX = 256 };
    uint32_t dealt[STAGES_MAX];
    bool found = false;
    if (stage_count == 0 || stage_count > STAGES_MAX || layers < stage_count) {
        return false;
    }
    /* The slowest stage takes one of these times; for each, the least sum is the greedy one. */
    for (uint32_t s = 0; s < stage_count; s++) {
        uint32_t most = stages[s].most < layers ? stages[s].most : layers;
        for (uint32_t n = 1; n <= most; n++) {
            double worst = stages[s].ends_s + n * stages[s].layer_s;
            if (found && micro_batches * worst >= *ret_s) {
                break; /* and more layers only take longer */
            }
            if (!deal_below(stages, stage_count, layers, worst, dealt)) {
                continue;
            }
            double sum = 0, slowest = 0;
            for (uint32_t i = 0; i < stage_count; i++) {
                double time = stages[i].ends_s + dealt[i] * stages[i].layer_s;
                sum += time;
                slowest = time > slowest ? time : slowest;
            }
            double step = micro_batches * slowest + share * (sum - slowest);
            if (!found || step < *ret_s) {
                found = true;
                *ret_s = step;
                memcpy(ret, dealt, stage_count * sizeof(*ret));
            }
        }
    }
    return found;
}
