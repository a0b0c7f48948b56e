#include "packet/internal.h"

/*
 * HPCC's sender (Li et al., SIGCOMM 2019, algorithm 1): switches tell how full they are, and the
 * fullest decides. In between two updates of the reference each acknowledgement sets the rate from
 * it; window and rate go together. Shares are in 2^-20.
 */

enum { ONE_BITS = 20, TIME_BITS = 16 };

void pk_hpcc_start(struct pk *k, struct pk_flow *flow)
{
    if (k->head->options.cc == MYR_CC_HPCC) {
        flow->hpcc = (struct pk_hpcc){.reference = flow->rate, .util = 1 << ONE_BITS};
    }
}

/*
 * How full a port was between two reports: by what it sent, and by what waited there, which is as
 * much as it sends in a round trip where it is all of it. Times are of the port's rate.
 */
static uint64_t fullness(const struct pk *k, uint32_t port, const struct pk_report *old,
                         const struct pk_report *new, myr_ps time)
{
    uint64_t byte_time = k->ports[port].byte_time;
    uint32_t sent = new->sent - old->sent;
    uint32_t queued = new->queued < old->queued ? new->queued : old->queued;
    uint64_t needed = sent * byte_time >> TIME_BITS, most = UINT64_C(1) << 43;
    uint64_t busy = ((needed < most ? needed : most) << ONE_BITS) / (uint64_t)time;
    uint64_t wait = ((queued * byte_time >> TIME_BITS) << ONE_BITS) / (uint64_t)k->head->round_trip;
    return busy + wait;
}

/* The fullest port's share, and over what time; the reports become the last ones. */
static uint64_t look(struct pk *k, struct pk_flow *flow, struct pk_packet *packet, myr_ps *ret_time)
{
    struct pk_report *new = pk_reports(packet), *old = flow->hpcc.last;
    uint64_t most = 0;
    *ret_time = 0;
    const uint32_t *way = &k->paths[k->starts[flow->path * 2]];
    for (uint32_t i = 0; i < packet->hops; i++, way++) {
        while (k->ports[*way].owner == MYR_NONE) {
            way++; /* only switches tell */
        }
        myr_ps time = new[i].at - old[i].at;
        MYR_ASSERT(time > 0);
        uint64_t share = fullness(k, *way, &old[i], &new[i], time);
        if (share > most) {
            most = share;
            *ret_time = time;
        }
        old[i] = new[i];
    }
    return most;
}

/* Its last packet is followed at the new rate, but not before now. */
static void set_rate(struct pk *k, struct pk_flow *flow, uint64_t rate)
{
    myr_ps now = k->head->now;
    uint64_t bits = (uint64_t)(k->head->options.mtu_bytes + k->head->data_bytes) * 8;
    myr_ps then = (myr_ps)(bits * (uint64_t)MYR_PS_PER_S / flow->rate);
    flow->avail += (myr_ps)(bits * (uint64_t)MYR_PS_PER_S / rate) - then;
    flow->avail = flow->avail > now ? flow->avail : now;
    flow->rate = rate;
}

void pk_hpcc_told(struct pk *k, struct pk_flow *flow, struct pk_packet *packet)
{
    const struct pk_head *head = k->head;
    struct pk_hpcc *own = &flow->hpcc;
    uint64_t line = k->rests[flow->port].bps, round_trip = (uint64_t)head->round_trip;
    if (own->updated == 0) {
        memcpy(own->last, pk_reports(packet), packet->hops * sizeof(own->last[0]));
        own->updated = flow->sent;
        return;
    }
    myr_ps time;
    uint64_t most = look(k, flow, packet, &time);
    uint64_t part = (uint64_t)time < round_trip ? (uint64_t)time : round_trip;
    most = most < UINT64_C(1) << 30 ? most : UINT64_C(1) << 30;
    own->util = (uint32_t)((own->util * (round_trip - part) + most * part) / round_trip);
    own->util = own->util ? own->util : 1;
    /* reference x target / util, and a step. */
    uint64_t goal = ((uint64_t)head->options.target_permille << ONE_BITS) / 1000;
    uint64_t step = head->options.additive_bps * (line / 1000000) / 100000;
    uint64_t least = head->options.min_bps * (line / 1000000) / 100000;
    uint64_t rate = (uint64_t)((unsigned __int128)own->reference * goal / own->util) + step;
    rate = rate < least ? least : rate > line ? line : rate;
    set_rate(k, flow, rate);
    if (packet->number >= own->updated) {
        own->reference = rate;
        own->updated = flow->sent;
    }
    unsigned __int128 bytes = (unsigned __int128)head->round_trip * rate / 8 / MYR_PS_PER_S;
    uint64_t mtu = head->options.mtu_bytes, window = ((uint64_t)bytes + mtu - 1) / mtu;
    flow->window = window < 1 ? 1 : (uint32_t)window;
}
