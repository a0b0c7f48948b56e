/*
 * plan: from a spec to a design.
 *
 * myr_plan() resolves defaults, sizes every network by the rules of docs/planning.md, places
 * devices, wires every port, chooses optics and cables, checks the result with code that shares
 * nothing with the builder, and prices it. It does no I/O and reads no clock: the same spec and
 * catalogue give the same design, byte for byte.
 *
 * What cannot be built is an error that points into the spec. What can be built but breaks a rule
 * of good practice is a finding in the design.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/model.h"
#include "myriad/text.h"

/* The design's arrays live in 'arena'. */
MYR_MUST_USE int myr_plan(struct myr_arena *arena, const struct myr_catalog *catalog,
                          const struct myr_spec *spec, struct myr_design *ret, struct myr_err *err);

/* Findings of severity error that the spec does not accept. */
uint32_t myr_plan_open_errors(const struct myr_design *design);

/* The result for people and programs. */
void myr_plan_json(const struct myr_design *design, struct myr_buf *buf);
void myr_plan_yaml(const struct myr_design *design, struct myr_buf *buf);
void myr_plan_summary(const struct myr_design *design, struct myr_buf *buf);
void myr_plan_bom(const struct myr_design *design, enum myr_format format, struct myr_buf *buf);
void myr_plan_findings(const struct myr_design *design, struct myr_buf *buf);
/* Each line of the bill of materials with the rule and the numbers that went into it. */
void myr_plan_explain(const struct myr_design *design, struct myr_buf *buf);

/*
 * Writes design.json, bom.csv, cables.csv, labels.csv, topology.svg and design.myr into 'folder':
 * all of them or none.
 */
MYR_MUST_USE int myr_plan_write(const struct myr_design *design, const char *folder,
                                struct myr_err *err);
/* One of them into a buffer. */
void myr_plan_svg(const struct myr_design *design, struct myr_buf *buf);
