#include "engine/internal.h"

/* What must hold at any time; looked at where slow checks are compiled in. */

/* Nothing carries more than it can, but for the part that the solver lets pass. */
bool sim_within_capacity(const struct myr_sim *sim)
{
    for (size_t i = 0; i < sim->touched.count; i++) {
        uint32_t id = sim->touched.items[i];
        const struct sim_channel *channel = &sim->channels[id];
        sim_moved used = 0, most = (sim_moved)sim_capacity(sim, id) * SIM_RATE_PER_BPS * 1000;
        for (uint32_t e = 0; e < channel->entry_count; e++) {
            struct sim_entry entry = sim->entries.items[channel->first_entry + e];
            used += (sim_moved)sim_rate(sim, entry.slot) * sim->hops.items[entry.hop].weight;
        }
        /*
         * The solver lets a part in 2^32 pass for each transfer, and rounds: this is well above
         * both.
         */
        if (used > most + (most >> 26) + 1000000) {
            return false;
        }
    }
    return true;
}

/* Nobody is under way any more: every channel has given back what it gave. */
bool sim_at_rest(const struct myr_sim *sim)
{
    if (sim->slots.count != sim->free_slots.count || sim->finish.count || sim->loose_slots) {
        return false;
    }
    for (uint32_t id = 0; id < sim->channel_count; id++) {
        const struct sim_channel *channel = &sim->channels[id];
        const struct sim_fill *fill = &sim->fills[id];
        if (channel->wanted || channel->entry_count || channel->held || fill->held_weight ||
            fill->room != channel->counted_capacity) {
            return false;
        }
    }
    return true;
}

/* Only channels that were touched: no other can have changed. */
bool sim_ties_right(const struct myr_sim *sim)
{
    bool right = true;
    for (size_t i = 0; right && i < sim->touched.count; i++) {
        right = sim_bond_right(sim, sim->touched.items[i]);
    }
    return right;
}

/* They name this channel as their holder, and nobody behind ends before the one above it. */
bool sim_held_right(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    const struct sim_entry *items = &sim->entries.items[channel->first_entry];
    bool right = channel->held <= channel->entry_count;
    for (uint32_t e = 0; right && e < channel->held; e++) {
        const struct sim_way *way = &sim->ways.items[items[e].slot];
        const struct sim_slot *own = &sim->slots.items[items[e].slot];
        const struct sim_slot *above = &sim->slots.items[items[e ? (e - 1) / 2 : 0].slot];
        right = way->holder == id && way->held_hop == items[e].hop &&
                sim->hop_places.items[items[e].hop] == e &&
                (sim_paused(sim) || above->target <= own->target);
    }
    return right;
}

/* In the order of their keys, each with its place. */
bool sim_looks_right(const struct myr_sim *sim)
{
    const struct sim_fill_place *items = sim->fill_heap.items;
    bool right = true;
    for (uint32_t i = 0; right && i < sim->fill_heap.count; i++) {
        const struct sim_fill *fill = &sim->fills[items[i].channel];
        right = fill->place == i && fill->key == items[i].key &&
                items[i ? (i - 1) / 4 : 0].key <= items[i].key;
    }
    return right;
}

/* Channels that hold somebody who moves, in the order of their times, none of which is over. */
bool sim_ends_right(const struct myr_sim *sim)
{
    bool right = true;
    for (uint32_t i = 0; right && i < sim->finish.count; i++) {
        uint32_t id = sim->finish.items[i], above = sim->finish.items[i ? (i - 1) / 4 : 0];
        right = sim->finish_place[id] == i && sim->channels[id].held > 0 &&
                sim->finish_at[id] >= sim->now && sim->finish_at[above] <= sim->finish_at[id];
    }
    return right;
}

uint32_t myr_message_number(uint32_t end)
{
    return end & MYR_MESSAGE_STORAGE ? end & MYR_MESSAGE_SERVERS : end;
}

bool sim_is_end(const struct myr_sim *sim, uint32_t end)
{
    if (!sim->graph) {
        return true;
    }
    const struct myr_design_head *head = sim->graph->design->head;
    return end & MYR_MESSAGE_STORAGE ? myr_message_number(end) < head->storage_servers
                                     : end < head->gpus;
}

/* What goes into a switch comes out of it, but for rounding: one byte a transfer and channel. */
bool sim_conserved(const struct myr_sim *sim)
{
    const struct myr_graph *graph = sim->graph;
    if (!graph || sim->options.balance.policy == MYR_POLICY_SPRAY) {
        return true; /* pools hide which link it was */
    }
    if (sim->given.count) {
        return true; /* they may lead through pools, which hide it too */
    }
    const struct myr_design *design = graph->design;
    uint64_t slack = sim->result.transfers * 64 + 64;
    for (uint32_t d = graph->first_switch; d < graph->first_switch + graph->switch_count; d++) {
        uint64_t in = 0, out = 0;
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            uint32_t link = design->port_link[p];
            if (link != MYR_NONE) {
                bool is_a = design->link_a[link] == p;
                out += sim->channels[link * 2 + !is_a].bytes;
                in += sim->channels[link * 2 + is_a].bytes;
            }
        }
        if (in > out + slack || out > in + slack) {
            return false;
        }
    }
    return true;
}
