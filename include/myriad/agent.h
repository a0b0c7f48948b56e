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

/* The program: agent, launcher or inventory, by its first argument. The exit status. */
int myr_agent_main(int argc, char **argv);
