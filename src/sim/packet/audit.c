#include <stdlib.h>

#include "packet/internal.h"

/* What must hold at any time, counted again from the packets alone; and who waits for whom. */

struct counted {
    uint64_t packets;
    uint64_t *in; /* by channel */
};

/* All packets of a queue, or of a wire; the bytes of it. */
static uint64_t count_list(const struct pk *k, uint32_t first, bool queue, struct counted *ret)
{
    uint64_t bytes = 0;
    for (uint32_t id = first; id != MYR_NONE; id = pk_packet(k, id)->next) {
        const struct pk_packet *packet = pk_packet(k, id);
        bytes += packet->bytes;
        ret->packets++;
        if (queue && packet->in != MYR_NONE) {
            ret->in[packet->in] += packet->bytes;
        }
    }
    return bytes;
}

bool pk_conserved(const struct pk *k)
{
    const struct pk_head *head = k->head;
    MYR_CLEANUP(myr_free_at) uint64_t *in = myr_xcalloc(head->port_count, sizeof(*in));
    MYR_CLEANUP(myr_free_at) uint64_t *used = myr_xcalloc(head->switch_count + 1, sizeof(*used));
    struct counted counted = {.in = in};
    bool right = true;
    for (uint32_t c = 0; c < head->port_count; c++) {
        (void)count_list(k, k->ports[c].wire, false, &counted);
        right &= count_list(k, k->ports[c].queue, true, &counted) == k->ports[c].queued;
    }
    for (uint32_t c = 0; c < head->port_count; c++) {
        right &= in[c] == k->in[c];
        if (k->ports[c].leads != MYR_NONE) {
            used[k->ports[c].leads] += in[c];
        }
    }
    for (uint32_t s = 0; s < head->switch_count; s++) {
        right &= used[s] == k->switches[s].used && used[s] <= k->switches[s].capacity;
    }
    return right && counted.packets == head->live_packets;
}

/* A paused channel that waits for 'channel' to be let go: the first packet of it says for whom. */
static uint32_t waits_for(const struct pk *k, uint32_t channel)
{
    const struct pk_port *port = &k->ports[channel];
    if (!port->paused || port->leads == MYR_NONE) {
        return MYR_NONE;
    }
    const struct pk_switch *own = &k->switches[port->leads];
    for (uint32_t i = 0; i < own->port_count; i++) {
        uint32_t next = k->switch_ports[own->first_port + i];
        if (!k->ports[next].paused) {
            continue;
        }
        for (uint32_t id = k->ports[next].queue; id != MYR_NONE; id = pk_packet(k, id)->next) {
            if (pk_packet(k, id)->in == channel) {
                return next;
            }
        }
    }
    return MYR_NONE;
}

/* From each paused channel along whoever it waits for: as many steps as there are channels. */
uint32_t pk_circle(const struct pk *k, uint32_t *ret, uint32_t most)
{
    uint32_t count = k->head->port_count;
    MYR_CLEANUP(myr_free_at) uint32_t *seen = myr_xcalloc(count, sizeof(*seen));
    for (uint32_t c = 0; c < count; c++) {
        uint32_t at = c;
        while (at != MYR_NONE && seen[at] == 0) {
            seen[at] = c + 1;
            at = waits_for(k, at);
        }
        if (at == MYR_NONE || seen[at] != c + 1) {
            continue;
        }
        uint32_t found = 0, first = at;
        do {
            if (found < most) {
                ret[found] = at;
            }
            found++;
            at = waits_for(k, at);
        } while (at != first);
        return found < most ? found : most;
    }
    return 0;
}
