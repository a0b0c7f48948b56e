#include "packet/internal.h"

/*
 * A switch's buffer, shared by its ports. A port may have as much of it as a part of what is free;
 * who has more is told to pause. Room is set aside for what can still come then, so that nothing is
 * ever lost: that the buffer never overflows is asserted.
 *
 * What has left is counted as being there until its port is looked at, so what is counted is never
 * too little: only where it would be too much all ports are looked at.
 */

/* What one port may have now. */
static uint64_t allowed(const struct pk *k, const struct pk_switch *own)
{
    uint64_t free = own->shared > own->used ? own->shared - own->used : 0;
    return free >> k->head->options.pause_shift;
}

static void drain_all(struct pk *k, const struct pk_switch *own, myr_ps now)
{
    for (uint32_t i = 0; i < own->port_count; i++) {
        pk_drain(k, k->switch_ports[own->first_port + i], now);
    }
}

/* From now on its departures are events: one of them may lift a pause. */
static void watch(struct pk *k, const struct pk_switch *own, myr_ps now)
{
    for (uint32_t i = 0; i < own->port_count; i++) {
        uint32_t id = k->switch_ports[own->first_port + i];
        k->ports[id].eager = 1;
        pk_drain(k, id, now);
    }
}

void pk_admit(struct pk *k, uint32_t channel, uint32_t bytes, myr_ps now)
{
    struct pk_port *port = &k->ports[channel];
    struct pk_switch *own = &k->switches[port->leads];
    k->in[channel] += bytes;
    own->used += bytes;
    if (!port->told && k->in[channel] > allowed(k, own)) {
        drain_all(k, own, now);
        if (k->in[channel] > allowed(k, own)) {
            port->told = 1;
            own->pausing++;
            watch(k, own, now);
            pk_tell(k, channel ^ 1, PK_PAUSE, now);
        }
    }
    if (own->used > own->capacity) {
        drain_all(k, own, now);
    }
    MYR_ASSERT(own->used <= own->capacity); /* or something would be lost */
}

void pk_lift(struct pk *k, uint32_t channel, myr_ps now)
{
    struct pk_port *port = &k->ports[channel];
    struct pk_switch *own = &k->switches[port->leads];
    uint64_t bytes = k->in[channel];
    uint64_t slack = (uint64_t)(k->head->options.mtu_bytes + k->head->data_bytes) * 3;
    if (!port->told || (bytes && bytes + slack > allowed(k, own))) {
        return;
    }
    port->told = 0;
    MYR_ASSERT(own->pausing > 0);
    if (--own->pausing == 0) {
        for (uint32_t i = 0; i < own->port_count; i++) {
            k->ports[k->switch_ports[own->first_port + i]].eager = 0;
        }
    }
    pk_tell(k, channel ^ 1, PK_RESUME, now);
}
