/*
 * mute: a server without sockets, for fuzzers: what agents, relays and people may send is handed
 * to it as bytes, and taken as if it had come over the network.
 */
#pragma once

#include "myriad/base.h"

struct myr_mute;

/* 'folder' is made, and holds the store. */
MYR_MUST_USE int myr_mute_create(const char *folder, struct myr_mute **ret, struct myr_err *err);
void myr_mute_free(struct myr_mute *mute);

/*
 * A connection from its first byte to its last. A relay's: one agent is behind it, on channel 0,
 * greeted as its first node. Else it is that of an agent with that node's certificate.
 */
void myr_mute_connection(struct myr_mute *mute, bool relay, struct myr_str bytes);

/* How many calls take a body; the method and path of each. */
uint32_t myr_mute_calls(void);
const char *myr_mute_call_path(uint32_t call);
/* One request of an administrator, or of somebody with 'role' 0 to 4; its HTTP status. */
struct myr_mute_request {
    uint32_t call, role;
    const char *name; /* for ':name' and ':id' of the path */
    struct myr_str body;
};
unsigned myr_mute_post(struct myr_mute *mute, const struct myr_mute_request *asked,
                       struct myr_err *err);
/* Jobs that were taken so far: a fuzzer begins anew when there are many. */
uint32_t myr_mute_jobs(const struct myr_mute *mute);
/* A part of a state that lies in etcd, and the changes in it; the first byte chooses which. */
MYR_MUST_USE int myr_mute_segment(struct myr_str bytes, struct myr_err *err);
