/*
 * fixture: a planned fabric in memory, from a spec's text or from an example, and what the tests of
 * paths share: ways to break links, and an independent look at a path.
 */
#pragma once

#include "myriad/fabric.h"
#include "myriad/plan.h"

struct fixture {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    struct myr_graph graph;
};

/* 'net' is what a spec says about the network, in one line: "switch: mqm9790, tiers: 3". */
void fixture_plan(struct fixture *fixture, uint32_t servers, const char *server, const char *net);
void fixture_text(struct fixture *fixture, const char *spec, enum myr_net_id net);
/* "h100-128": examples/h100-128.yaml. */
void fixture_example(struct fixture *fixture, const char *name);
void fixture_done(struct fixture *fixture);

/* Every topology, small: name, servers, server, network. */
struct fixture_case {
    const char *name;
    uint32_t servers;
    const char *server, *net;
};

extern const struct fixture_case fixture_cases[];
extern const uint32_t fixture_case_count;

/* A seed from the environment (FABRIC_SEED) or the one given; printed when a test fails. */
uint64_t fixture_seed(uint64_t seed);

/* Links between switches, as ids; freed with free(). */
uint32_t *fixture_links(const struct fixture *fixture, uint32_t *ret_count);
/* All links alive again. */
void fixture_heal(struct fixture *fixture);
/* So many of the links between switches, at random; host links too when 'hosts'. */
void fixture_break(struct fixture *fixture, struct myr_rng *rng, uint32_t count, bool hosts);

/* A cabled host port of the network, at random. */
uint32_t fixture_host_port(const struct fixture *fixture, struct myr_rng *rng);

/* NULL when the path is sound: joined, alive, from port to port, no switch twice, up then down. */
const char *fixture_path_fault(const struct fixture *fixture, uint32_t from, uint32_t to,
                               const struct myr_path *path, bool may_return);
/* Hops between switches over living links, by search; UINT32_MAX when there is no way. */
uint32_t fixture_distance(const struct fixture *fixture, uint32_t from, uint32_t to);
