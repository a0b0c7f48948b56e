#include <string.h>

#include "myriad/nccl.h"

static bool hangs(const struct myr_nccl_state *state, int64_t now_ns, int64_t limit_ns)
{
    return state->oldest.begun_ns > 0 && now_ns - state->oldest.begun_ns >= limit_ns;
}

static bool same_call(const struct myr_nccl_op *a, const struct myr_nccl_op *b)
{
    return a->count == b->count && strcmp(a->kind, b->kind) == 0 && strcmp(a->type, b->type) == 0;
}

/* Who is in operation 'number' with another call than most are, or NULL. */
static const struct myr_nccl_state *find_different(const struct myr_nccl_state *states,
                                                   uint32_t count, uint64_t number)
{
    const struct myr_nccl_state *odd = NULL;
    uint32_t fewest = UINT32_MAX, kinds_differ = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t alike = 0, others = 0;
        for (uint32_t k = 0; k < count; k++) {
            if (states[i].oldest.number == number && states[k].oldest.number == number) {
                alike += same_call(&states[i].oldest, &states[k].oldest);
                others += !same_call(&states[i].oldest, &states[k].oldest);
            }
        }
        kinds_differ |= others > 0;
        if (others > alike && alike < fewest) {
            odd = &states[i];
            fewest = alike;
        }
    }
    return kinds_differ ? odd : NULL;
}

static const struct myr_nccl_state *find_behind(const struct myr_nccl_state *states, uint32_t count,
                                                uint64_t number)
{
    const struct myr_nccl_state *behind = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (states[i].begun < number && (!behind || states[i].begun < behind->begun)) {
            behind = &states[i];
        }
    }
    return behind;
}

void myr_nccl_judge(const struct myr_nccl_state *states, uint32_t count, int64_t now_ns,
                    int64_t limit_ns, struct myr_nccl_verdict *ret)
{
    *ret = (struct myr_nccl_verdict){.blame = MYR_NCCL_WELL, .rank = -1};
    uint64_t number = UINT64_MAX;
    int32_t ranks = 0;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        ranks = states[i].ranks > ranks ? states[i].ranks : ranks;
        if (hangs(&states[i], now_ns, limit_ns)) {
            int64_t open_ns = now_ns - states[i].oldest.begun_ns;
            any = true;
            ret->open_ns = open_ns > ret->open_ns ? open_ns : ret->open_ns;
            uint64_t at = states[i].oldest.number;
            number = at > 0 && at < number ? at : number;
        }
    }
    if (!any) {
        return;
    }
    /* Of sends and receives there is no number that ranks could be compared by. */
    bool numbered = number != UINT64_MAX;
    const struct myr_nccl_state *behind = numbered ? find_behind(states, count, number) : NULL;
    const struct myr_nccl_state *odd = numbered ? find_different(states, count, number) : NULL;
    ret->number = numbered ? number : 0;
    ret->blame = behind                                 ? MYR_NCCL_NOT_ENTERED
                 : odd                                  ? MYR_NCCL_DIFFERENT
                 : ranks > 0 && (uint32_t)ranks > count ? MYR_NCCL_UNSEEN
                                                        : MYR_NCCL_STUCK;
    ret->rank = behind ? behind->rank : odd ? odd->rank : -1;
}
