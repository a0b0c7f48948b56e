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

/*
 * The same for who only sends over it: without measured bisections and findings of the physical
 * checker, which are flows over all cables.
 */
MYR_MUST_USE int myr_plan_fabric(struct myr_arena *arena, const struct myr_catalog *catalog,
                                 const struct myr_spec *spec, struct myr_design *ret,
                                 struct myr_err *err);

/* A plan has so many steps, and behind them a step for each file that is written. */
#define MYR_PLAN_STEPS     7
#define MYR_PLAN_FILES_MAX 10

/*
 * Hears of every step of the work at the start of it, and again while one takes long. 'step' names
 * it for people and lives as long as the program.
 */
struct myr_plan_listener {
    void (*hear)(void *context, const char *step);
    void *context;
};

/* The same, for who wants to tell people how far it is: a million GPUs take seconds. */
MYR_MUST_USE int myr_plan_heard(struct myr_arena *arena, const struct myr_catalog *catalog,
                                const struct myr_spec *spec,
                                const struct myr_plan_listener *listener, struct myr_design *ret,
                                struct myr_err *err);

/* The same from a spec's file, or from standard input ("-"). */
MYR_MUST_USE int myr_plan_file(struct myr_arena *arena, const struct myr_catalog *catalog,
                               const char *path, struct myr_design *ret, struct myr_err *err);

/* Findings of severity error that the spec does not accept. */
uint32_t myr_plan_open_errors(const struct myr_design *design);

/*
 * The plan as an answer: networks, bill of materials, totals, findings. Returns the bill, which is
 * the answer's list.
 */
const struct myr_value *myr_plan_answer(const struct myr_design *design, struct myr_answer *answer);
/* The page for people beside it: a summary, or each line of the bill with its rule and inputs. */
void myr_plan_page(const struct myr_design *design, struct myr_answer *answer,
                   const struct myr_value *bom);
void myr_plan_explain(const struct myr_design *design, struct myr_answer *answer);
/*
 * Adds the object 'device' with the ports of one device, and their table to the page. 'ret_ports'
 * is the list.
 */
MYR_MUST_USE int myr_plan_device(const struct myr_design *design, const char *name,
                                 struct myr_answer *answer, const struct myr_value **ret_ports,
                                 struct myr_err *err);
/*
 * Holds a design against the parts by the rules of myriad/physical.h: adds the list 'physical' and
 * its table. Returns how many findings the design has not accepted.
 */
uint32_t myr_plan_physical(const struct myr_design *design, const struct myr_catalog *catalog,
                           struct myr_answer *answer, const struct myr_value **ret_rows);
/* The bill alone, with a header row. */
void myr_plan_bom_csv(const struct myr_design *design, struct myr_buf *buf);

double myr_plan_raw_tb(const struct myr_design_head *head);
double myr_plan_usable_tb(const struct myr_design_head *head);

#define MYR_PLAN_MONEY_MAX 64
#define MYR_PLAN_POWER_MAX 32

/* How far the total of the bill reaches: lines, share of the estimated money, what is assumed of it
 * and what others supply. */
const char *myr_plan_priced(const struct myr_design *design, struct myr_arena *arena);
/* "43.26 M CNY", or "432,606 CNY" below a million; returns 'ret'. */
const char *myr_plan_money(int64_t cents, const char *currency, char ret[MYR_PLAN_MONEY_MAX]);
/* "376.9 kW", or "20.07 MW" from ten megawatts on; returns 'ret'. */
const char *myr_plan_power(double kw, char ret[MYR_PLAN_POWER_MAX]);

struct myr_plan_about; /* plan/report.h */

/*
 * Writes design.json, bom.csv, cables.csv, labels.csv, topology.svg, report.html, bom.xlsx and
 * design.myr into 'folder', with a room also racks.csv and racks.svg: all of them or none. 'about'
 * is for the report; NULL: in English, without a date.
 */
MYR_MUST_USE int myr_plan_write(const struct myr_design *design, const struct myr_plan_about *about,
                                const char *folder, struct myr_err *err);
/* The name of file 'index' in the order in which they appear; NULL behind the last. */
const char *myr_plan_file_name(const struct myr_design *design, uint32_t index);
/* One of them into a buffer. */
void myr_plan_svg(const struct myr_design *design, struct myr_buf *buf);
/* The floor plan; nothing without a room. */
void myr_plan_racks_svg(const struct myr_design *design, struct myr_buf *buf);
