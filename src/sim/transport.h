/*
 * The seam between the clock and what moves bytes (docs/decisions/0011).
 *
 * The run (engine/run.c) knows tasks and who waits for whom. Once all that a transfer waited for is
 * over it is the transport's: latency, bytes, and the moment at which the last of them is there,
 * of which it tells with sim_end_task(). The fluid (engine/fluid.c) gives rates to transfers,
 * packets (engine/packets.c) play every packet over every link.
 *
 * A transport keeps its own time between two moments of the run: next() may play up to 'limit', the
 * next moment that the run knows of, but no farther, and stops where a transfer ends.
 */
#pragma once

#include "myriad/sim/engine.h"

struct sim_transport {
    /* Once, with all paths known, before the first task. */
    int (*begin)(struct myr_sim *sim, struct myr_err *err);
    /* The transfer is its own from now on. */
    void (*start)(struct myr_sim *sim, uint32_t task);
    /*
     * An event that it asked for (sim_wake_after), or the bytes that its own follow have gone; else
     * 'moves_after' says that they have not: then it is ready, and woken again.
     */
    void (*wake)(struct myr_sim *sim, uint32_t task);
    /* When the next transfer ends, or something else that the run should look at. */
    myr_ps (*next)(struct myr_sim *sim, myr_ps limit);
    /* The clock has moved; then, whatever ends now; and last, when all of this moment is told. */
    void (*moved)(struct myr_sim *sim);
    void (*ends)(struct myr_sim *sim);
    void (*settle)(struct myr_sim *sim);
    /* An interval of the time series is over. */
    void (*sample)(struct myr_sim *sim);
    /* Tasks are left and nothing will ever happen: the refusal that says why. */
    int (*stuck)(struct myr_sim *sim, struct myr_err *err);
    /* What breaks, at once; when the routing has noticed. */
    void (*fault)(struct myr_sim *sim, const struct myr_sim_fault *fault);
    int (*reroute)(struct myr_sim *sim, const struct myr_sim_fault *fault, struct myr_err *err);
    /* After the last task: its figures are the run's; false: something is where it cannot be. */
    bool (*finish)(struct myr_sim *sim);
    /* Gives back what it has. */
    void (*done)(struct myr_sim *sim);
};

extern const struct sim_transport sim_fluid, sim_packet_transport;
