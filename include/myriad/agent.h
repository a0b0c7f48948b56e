/*
 * agent: what runs on a node: it joins the cluster, tells what the node has, starts and stops
 * ranks, and says how they end.
 *
 * One resident process, and one launcher ("shim") for each incarnation of a job on the node. Ranks
 * are children of the launcher and not of the agent, so that the agent can be killed, restarted or
 * replaced while they run: all that it must know afterwards lies in files of its state folder, and
 * a lock tells whether a launcher lives.
 */
#pragma once

#include "myriad/base.h"

/* The program: agent, launcher or inventory, by its first argument. The exit status. */
int myr_agent_main(int argc, char **argv);

/* Texts that come to an agent from outside, or from a disk that somebody may have touched. */
enum myr_agent_text {
    MYR_AGENT_JOB_FILE,
    MYR_AGENT_ORDER,     /* an incarnation that is to run */
    MYR_AGENT_ENDING,    /* how one ended */
    MYR_AGENT_STOPS,     /* what may never run again: takes any bytes */
    MYR_AGENT_PROGRESS,  /* the state file of a launcher */
    MYR_AGENT_DATAGRAM,  /* of a rank */
    MYR_AGENT_PEER,      /* of another node's launcher */
    MYR_AGENT_TOKEN,     /* secret@fingerprint */
    MYR_AGENT_INVENTORY, /* of the collecting process */
    MYR_AGENT_TEXTS
};

/* Reads it as the agent would, and throws it away: for checks and for fuzzers. */
MYR_MUST_USE int myr_agent_check(enum myr_agent_text kind, struct myr_str bytes,
                                 struct myr_err *err);
