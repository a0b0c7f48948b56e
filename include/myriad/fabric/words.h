/*
 * words: what people write about a fabric, and what is written back to them.
 *
 * Lists are pieces between commas ("link/00000123,spine/p0-1"); a piece that is not understood is
 * quoted in the message, cut to what fits on a line. Names made here live in the caller's arena.
 */
#pragma once

#include "myriad/fabric/graph.h"

/* Called with every piece of a list; the first failure ends the walk. */
typedef int myr_piece_fn(void *context, struct myr_str piece, struct myr_err *err);
MYR_MUST_USE int myr_words_each(const char *text, myr_piece_fn *each, void *context,
                                struct myr_err *err);

/* "link/00000123", of this network. */
MYR_MUST_USE int myr_words_link(const struct myr_graph *graph, struct myr_str name, uint32_t *ret,
                                struct myr_err *err);
MYR_MUST_USE int myr_words_device(const struct myr_graph *graph, struct myr_str name, uint32_t *ret,
                                  struct myr_err *err);

/* Marks the links and devices of a list dead; links that were alive before are counted. */
MYR_MUST_USE int myr_words_kill(struct myr_graph *graph, const char *list, uint32_t *ret_count,
                                struct myr_err *err);

/* "0-31,node/00040,7": nodes in the order given, none twice; they live in the arena. */
MYR_MUST_USE int myr_words_nodes(struct myr_arena *arena, const struct myr_design *design,
                                 const char *list, uint32_t **ret, uint32_t *ret_count,
                                 struct myr_err *err);

/*
 * "pod/3", "rail-group/7", "scale-up/12", "rack/4": a domain of the design, or NULL where the words
 * name none.
 */
const struct myr_domain *myr_words_domain(const struct myr_design *design, struct myr_str name);
/* As it is read. */
void myr_words_domain_name(const struct myr_domain *domain, struct myr_buf *buf);

/* Names: a device, "device:port", "link/00000123". */
const char *myr_name_device(struct myr_arena *arena, const struct myr_design *design,
                            uint32_t device);
const char *myr_name_port(struct myr_arena *arena, const struct myr_design *design, uint32_t port);
const char *myr_name_link(struct myr_arena *arena, const struct myr_design *design, uint32_t link);
