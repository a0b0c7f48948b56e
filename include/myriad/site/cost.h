/*
 * cost: what miswiring costs the flows, and which repair gives most of it back.
 *
 * The fabric is taken as it was found, whatever it has become: flows go over the shortest ways that
 * are there, spread evenly over all of them, and each is as fast as the fullest link that it meets
 * lets it be. Ports that nobody looked at are taken as planned. Then each piece of the repair
 * (steps that belong together, repair.h) is done alone and the gain looked at; pieces are ordered
 * by what they give for a move, and done one after the other.
 */
#pragma once

#include "myriad/fabric.h"
#include "myriad/site/verify.h"

struct myr_cost_state {
    double gbps;   /* of all flows together */
    uint32_t lost; /* flows without a way */
};

struct myr_cost_piece {
    uint32_t component;
    uint32_t first_step, moves;  /* in verify->repair.steps; each step is a move of a hand */
    double gain_gbps;            /* alone, on the fabric as found */
    struct myr_cost_state after; /* it and all pieces before it */
    bool known;                  /* false: there were too many to look at each */
};

struct myr_cost {
    double wanted_gbps; /* that the flows ask for */
    struct myr_cost_state found, planned;
    struct myr_cost_piece *pieces; /* in the order of repair */
    uint32_t piece_count, known_count;
};

/*
 * 'fabric' holds the flows, of the same design and network as 'verify'. Pieces live in the arena.
 * 'told', which may be NULL, hears how many looks of how many are done.
 */
typedef void myr_cost_told(void *context, uint32_t done, uint32_t total);
void myr_cost_find(struct myr_cost *ret, struct myr_arena *arena,
                   const struct myr_fabric_case *fabric, const struct myr_verify *verify,
                   myr_cost_told *told, void *context);
