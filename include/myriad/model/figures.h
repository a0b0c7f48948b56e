/*
 * figures: what a plan says in numbers beside its counts: power, cooling, energy, storage. Records
 * of a design, like those of records.h.
 *
 * A figure has a path ("power.it.servers_kw"), a value, and how it came about: the rule, what went
 * into it, and on what it rests. Whoever shows a figure can therefore also explain it, and a reader
 * sees at once which numbers nobody has given. The order is that of the computation.
 */
#pragma once

#include <stdint.h>

enum myr_basis {
    MYR_BASIS_COMPUTED, /* from other figures */
    MYR_BASIS_COUNTED,  /* from the design and its parts */
    MYR_BASIS_GIVEN,    /* by the spec */
    MYR_BASIS_ASSUMED,  /* by nobody: a class value of docs/planning.md */
    MYR_BASIS_COUNT,
};

extern const char *const myr_basis_names[MYR_BASIS_COUNT];

struct myr_figure {
    double value;              /* 0 where it is a word */
    uint32_t path, unit, text; /* strings; text: the word, 0 for numbers */
    uint32_t rule, inputs;     /* strings */
    uint8_t basis, digits;     /* digits: behind the point, at most */
    uint16_t pad;
};

struct myr_design;
/*
 * The figure of a plan at this path, such as "power.pue.value"; NULL where the design has none, as
 * files of older programs do. By path, since no position is promised.
 */
const struct myr_figure *myr_design_figure(const struct myr_design *design, const char *path);

/* On what the money of a line rests. */
enum myr_price_basis {
    MYR_PRICE_NONE,      /* nobody has said, and nothing is like it */
    MYR_PRICE_QUOTED,    /* of a book, a supplier or the spec */
    MYR_PRICE_ASSUMED,   /* by a rule, in the total */
    MYR_PRICE_ESTIMATED, /* by a rule, to say what the total lacks; not in it */
};
extern const char *const myr_price_basis_names[];

/* What the line of the bill at the same position costs, and how far that may be off; absent in
 * files of older programs. */
struct myr_bom_price {
    int64_t low_cents, cents, high_cents; /* of the whole line */
    uint32_t basis;                       /* enum myr_price_basis */
    uint32_t lead_weeks;                  /* 0: nobody has said */
};

/* What else the line of the bill at the same position says; absent in files of older programs. */
struct myr_bom_more {
    uint32_t specification;   /* string: what the part is */
    uint16_t warranty_months; /* 0: nobody has said */
    uint16_t spare_permille;  /* ordered beyond what is needed, of what is needed */
};
