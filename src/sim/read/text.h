/* What the readers of other simulators' files share: words of a line, numbers, places. */
#pragma once

#include "myriad/sim/read.h"
#include "myriad/text/kind.h"

/* The formats are plain text; SimAI's first line has colons, as YAML's would. */
#define TRACE_KINDS (MYR_KIND_BIT(TEXT) | MYR_KIND_BIT(EMPTY) | MYR_KIND_BIT(YAML))
#define FLOW_KINDS  (MYR_KIND_BIT(CSV) | MYR_KIND_BIT(TEXT))
/* Those of both. */
#define WORKLOAD_KINDS (TRACE_KINDS | MYR_KIND_BIT(CSV))

struct scan {
    const char *file;
    struct myr_str text;
    size_t at;         /* next byte */
    size_t line_start; /* of the current line */
    uint32_t line;     /* from 1; 0 before the first */
    uint32_t word_line, word_column;
    struct myr_str word;
};

void scan_init(struct scan *scan, const char *file, struct myr_str text);
/* Goes to the next line that has a word; lines that begin with '#' are comments. */
bool scan_line(struct scan *scan);
/* The next word of the line, between blanks; false at its end. */
bool scan_word(struct scan *scan);
/* Whether the word is the given one, in either case. */
bool scan_is(const struct scan *scan, const char *word);

/* Sets "file:line:column: ..." for the word at hand. Returns MYR_EINVAL. */
MYR_PRINTF(3, 4)
int scan_error(struct myr_err *err, const struct scan *scan, const char *fmt, ...);
/* From 1; what is wrong with the whole file is at 1, 1. */
struct scan_place {
    uint32_t line, column;
};
struct scan_place scan_here(const struct scan *scan);
MYR_PRINTF(4, 5)
int scan_error_at(struct myr_err *err, const struct scan *scan, struct scan_place place,
                  const char *fmt, ...);

/* The word as it may be shown: short, and without what a terminal would act on. */
#define SCAN_SHOWN 40
const char *scan_shown(const struct scan *scan, char ret[SCAN_SHOWN]);

/* The next word of the line as a number from 'least' to 'most'. */
MYR_MUST_USE int scan_number(struct scan *scan, const char *what, uint64_t least, uint64_t most,
                             uint64_t *ret, struct myr_err *err);
MYR_MUST_USE int scan_u32(struct scan *scan, const char *what, uint32_t least, uint32_t most,
                          uint32_t *ret, struct myr_err *err);
/* The next word as a time in units of 10^-digits seconds ("2.000001", "1e-6"), in picoseconds. */
MYR_MUST_USE int scan_time(struct scan *scan, const char *what, uint32_t digits, myr_ps *ret,
                           struct myr_err *err);
/* "12.5" times 10^digits, cut to a whole number; false when it is no such number or too large. */
bool scan_decimal(struct myr_str text, int32_t digits, uint64_t most, uint64_t *ret);
/* A word that must be there. */
MYR_MUST_USE int scan_need(struct scan *scan, const char *what, struct myr_err *err);
/* Nothing may follow on the line. */
MYR_MUST_USE int scan_end(struct scan *scan, struct myr_err *err);

/* Appends to a trace; the limit on operations is held. */
MYR_MUST_USE int trace_add(struct myr_trace *trace, const struct scan *scan, struct myr_trace_op op,
                           uint32_t *ret, struct myr_err *err);
void trace_after(struct myr_trace *trace, uint32_t op, uint32_t before);
/* Operations that wait for each other are an error at the first of them. */
MYR_MUST_USE int trace_check_order(const struct myr_trace *trace, const struct scan *scan,
                                   struct myr_err *err);

/* The formats. */
MYR_MUST_USE int read_goal(struct scan *scan, struct myr_trace *ret, struct myr_err *err);
MYR_MUST_USE int read_hpcc_flows(struct scan *scan, struct myr_trace *ret, struct myr_err *err);
MYR_MUST_USE int read_htsim_matrix(struct scan *scan, struct myr_trace *ret, struct myr_err *err);
MYR_MUST_USE int read_flows(struct scan *scan, struct myr_trace *ret, struct myr_err *err);
MYR_MUST_USE int read_simai(struct scan *scan, struct myr_trace *ret, struct myr_err *err);
MYR_MUST_USE int read_hpcc_topology(struct scan *scan, struct myr_clos_shape *ret,
                                    struct myr_err *err);
MYR_MUST_USE int read_simai_topology(struct scan *scan, struct myr_clos_shape *ret,
                                     struct myr_err *err);
MYR_MUST_USE int read_htsim_topology(struct scan *scan, struct myr_clos_shape *ret,
                                     struct myr_err *err);
