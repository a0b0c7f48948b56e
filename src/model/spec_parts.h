/* spec_parts: what the files that read a spec share. Private. */
#pragma once

#include "myriad/model/spec.h"

/*
 * A part of any kind was meant, so the nearest names of all kinds are offered. Where the name is a
 * key, the complaint points at the key.
 */
MYR_MUST_USE int spec_unknown_part(const struct myr_catalog *catalog, const struct myr_doc *place,
                                   struct myr_str name, const char *where, struct myr_err *err);

/* A part that may be left out: without a node 'ret' stays as it is. */
MYR_MUST_USE int spec_need_optional(const struct myr_catalog *catalog, const struct myr_doc *node,
                                    const char *what, enum myr_part_kind kind, uint32_t *ret,
                                    struct myr_err *err);

/* A list of items, appended to those of the spec; 'system' is where they count unless they say. */
MYR_MUST_USE int spec_read_items(struct myr_arena *arena, const struct myr_catalog *catalog,
                                 const struct myr_doc *node, const char *system,
                                 struct myr_spec *spec, struct myr_err *err);

/* Server groups (spec_groups.c); the networks must have been read. */
MYR_MUST_USE int spec_read_groups(struct myr_arena *arena, const struct myr_catalog *catalog,
                                  const struct myr_doc *node, struct myr_spec *spec,
                                  struct myr_err *err);

/* The section of one network (spec_net.c). */
MYR_MUST_USE int spec_read_net(struct myr_arena *arena, const struct myr_catalog *catalog,
                               const struct myr_doc *node, enum myr_net_id id,
                               struct myr_spec *spec, struct myr_err *err);

/* What a room has that does not say otherwise, and the section itself (spec_room.c). */
void spec_room_defaults(struct myr_spec_room *room);
MYR_MUST_USE int spec_read_room(struct myr_arena *arena, const struct myr_catalog *catalog,
                                const struct myr_doc *node, struct myr_spec_room *room,
                                struct myr_err *err);

/* The same of the facility (spec_facility.c). */
void spec_facility_defaults(struct myr_spec_facility *facility);
MYR_MUST_USE int spec_read_facility(struct myr_arena *arena, const struct myr_doc *node,
                                    struct myr_spec_facility *facility, struct myr_err *err);

/* The storage system (spec_storage.c). */
MYR_MUST_USE int spec_read_storage(struct myr_arena *arena, const struct myr_catalog *catalog,
                                   const struct myr_doc *node, struct myr_spec_storage *storage,
                                   struct myr_err *err);

/* What is left open, and what is wanted (spec_optimise.c); servers and groups have been read. */
void spec_optimise_defaults(struct myr_spec_optimise *optimise);
MYR_MUST_USE int spec_read_optimise(struct myr_arena *arena, const struct myr_catalog *catalog,
                                    const struct myr_doc *node, struct myr_spec *spec,
                                    struct myr_err *err);
