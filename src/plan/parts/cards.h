/* cards: which card a host has on a network, and whether it can do what the network asks. */
#pragma once

#include "plan_internal.h"

/* What the spec's word or its switch asks for; MYR_TECH_ANY: it leaves that open. */
uint32_t card_asked_technology(const struct plan *plan, const struct myr_spec_net *spec);
/* Whether a card can do what the network asks: technology, speed, ports for every plane. */
bool card_suits(const struct plan *plan, const struct myr_spec_net *spec,
                const struct myr_part_nic *nic);
/* The server's own card, or one of the same family that suits the network. */
uint32_t card_or_variant(struct plan *plan, const struct net_plan *net, uint32_t own);
/* Whether two cards are of one family: the same one with other ports. */
bool card_is_of_family(const struct plan *plan, uint32_t card, uint32_t own);
/* The same, and nothing is said of it. */
uint32_t card_variant(const struct plan *plan, const struct myr_spec_net *spec, uint32_t own);
/* Technology and speed that the cards of all groups have become those of the network, where the
 * spec leaves them open. */
void cards_agree(struct plan *plan, struct net_plan *net);
/* Ports of a node on an access network: as many as every node has, whichever group comes first. */
uint32_t cards_homes(const struct plan *plan, const struct net_plan *net);
/* The speed of the network against those of the card. */
MYR_MUST_USE int card_check_speed(const struct plan *plan, const struct net_plan *net,
                                  uint32_t part, struct myr_err *err);
/* A card has a port in every plane. */
MYR_MUST_USE int card_check(const struct plan *plan, const struct net_plan *net, uint32_t part,
                            struct myr_err *err);
/* That of the fabric managers, where the nodes have 'nodes'. */
uint32_t card_of_manager(struct plan *plan, const struct net_plan *net, uint32_t nodes);
/* The storage servers' own; the network's speed may become one that all cards have. */
MYR_MUST_USE int card_of_storage(struct plan *plan, struct net_plan *net, uint32_t node_nic,
                                 uint32_t *ret, struct myr_err *err);
