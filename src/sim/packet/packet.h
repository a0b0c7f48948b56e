/*
 * packet: every packet over every link, in whole picoseconds.
 *
 * Channels are one direction of a link; the way back of channel c is c ^ 1. A channel is an output
 * queue with a wire behind it: a packet's last bit reaches the far end 'delay' after it has left. A
 * path is a list of channels. Acknowledgements, one a packet, go back over the same links.
 *
 * One event a hop. When a packet will leave is known when those before it have left, so queues are
 * looked at only when somebody touches them, and then played up to that moment ("drained"). A
 * channel delivers in order: only the packet at the head of its wire stands in the event queue.
 * Where a pause may be lifted by a packet that leaves, and only there, departures are events too.
 *
 * Of equal times departures come before arrivals, and lower channels before higher ones. So the
 * outcome is a function of the question alone. Draws are a hash of seed, flow, packet and hop.
 *
 * Everything that changes lies in one block of memory without pointers: a copy is a run of its own.
 */
#pragma once

#include "myriad/sim/engine.h"
#include "myriad/sim/packets.h"

struct pk;

struct pk_channel {
    uint64_t bps;
    myr_ps delay;          /* from the last bit sent to when the far end acts on it */
    uint32_t owner, leads; /* switches at its two ends, by number; MYR_NONE: a host */
};

/* A list of channels, from a sender to a receiver. */
struct pk_path {
    const uint32_t *channels;
    uint32_t count;
};

struct pk_setup {
    const struct myr_packet_options *options;
    const struct pk_channel *channels;
    const struct pk_path *paths;
    uint32_t channel_count, switch_count, path_count;
    uint64_t seed;
};

/*
 * Nothing is kept of the setup. MYR_EINVAL where the options cannot be on this fabric: a buffer
 * that is smaller than what pauses need, more switches on a path than telemetry has room for.
 */
MYR_MUST_USE int pk_create(struct pk **ret, const struct pk_setup *setup, struct myr_err *err);
void pk_free(struct pk *k);
struct pk *pk_clone(const struct pk *k);

struct pk_message {
    uint32_t path, ways; /* of the setup: packets take so many in turn, from this one on */
    uint32_t tag;        /* the caller's, told when all of it is there */
    uint64_t bytes;
    uint64_t name;  /* what its draws are keyed by */
    uint32_t after; /* a flow whose bytes go first, if it still has any; or MYR_NONE */
};

/* From 'at' on, which is not before now. The flow's number is good until all is acknowledged. */
uint32_t pk_send(struct pk *k, const struct pk_message *message, myr_ps at);

/*
 * Plays up to 'limit', that moment included, but stops after an event by which a message is there,
 * and now and then so that somebody may be told. The time that it stopped at; INT64_MAX: nothing
 * will ever happen.
 */
myr_ps pk_run(struct pk *k, myr_ps limit);
/* The tags of messages that are there, once each; false: no more. */
bool pk_ended(struct pk *k, uint32_t *ret_tag);

struct myr_packet_stats pk_stats(const struct pk *k);
uint64_t pk_channel_bytes(const struct pk *k, uint32_t channel); /* all that went over it */

/* Every packet and every byte is where the counters say. Goes through all of them. */
bool pk_conserved(const struct pk *k);

/*
 * Channels that wait for each other: each is paused by the switch that it leads to, where what came
 * over it waits for the next. Up to 'most' of them; 0 where there is no such circle.
 */
uint32_t pk_circle(const struct pk *k, uint32_t *ret, uint32_t most);
