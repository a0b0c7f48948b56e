/*
 * What the steps of an audit share. A document becomes lines (bom.c, layout.c), the planned cluster
 * becomes needs (needs.c); a flow puts lines to needs (match.c), and what stays open, or is met by
 * something that does not fit, is a finding (judge.c, optics.c). Claims are looked up one by one.
 */
#pragma once

#include "fits.h"
#include "myriad/plan.h"
#include "myriad/plan/audit.h"

/* What a line is for, by its part or by its words. */
enum audit_role {
    AUDIT_UNKNOWN,
    AUDIT_SERVER,
    AUDIT_SWITCH,
    AUDIT_MODULE, /* transceiver */
    AUDIT_CABLE,  /* fibre, copper, active */
    AUDIT_NIC,
    AUDIT_ACCESS, /* Ethernet with fixed ports */
    AUDIT_AGGREGATION,
    AUDIT_ETHERNET, /* one of the two */
    AUDIT_STORAGE,
    AUDIT_MANAGEMENT,
    AUDIT_MANAGER, /* fabric manager */
    AUDIT_OTHER,   /* a known part without a role of its own: licence, firewall */
    AUDIT_ROLE_COUNT,
};

/*
 * The system of a line that is none of the networks. ANY: no system is given; NO: one that is no
 * network, as security. Both may serve every network.
 */
enum { AUDIT_ANY_NET = MYR_NET_COUNT, AUDIT_NO_NET };

/*
 * Modules differ by the end they go into, switches of a layout by their tier; ANY: the words do not
 * say.
 */
enum audit_end { AUDIT_END_ANY, AUDIT_END_SWITCH, AUDIT_END_NIC };
enum audit_tier { AUDIT_TIER_ANY, AUDIT_TIER_LEAF, AUDIT_TIER_SPINE, AUDIT_TIER_CORE };

/* What one piece of text says about a thing: by words, English or Chinese. */
struct audit_words {
    uint32_t net;
    enum audit_role role;
    enum audit_end end;
    enum audit_tier tier;
    const char *part; /* catalogue id that the words mean, or NULL */
};

/* One line of a bill of materials, or of a layout. */
struct audit_line {
    const char *where;       /* "bom.csv:12" */
    const char *shown;       /* the part as it is written */
    struct myr_str text;     /* name and description */
    struct audit_words says; /* of system, name and part together */
    uint32_t part;           /* MYR_PART_NONE: not in the catalogue */
    enum audit_role role;
    uint64_t quantity;
    double unit_price, total;    /* negative: not given */
    double length_m;             /* of a cable part; 0: unknown */
    double told_m;               /* as the description has it; 0: not said */
    const char *rack;            /* layout */
    uint8_t ends[MYR_NET_COUNT]; /* of a module: enum audit_end by network */
    uint64_t used;               /* by the flow */
    bool uncounted;              /* its cell of the quantity is empty */
    bool named;                  /* a finding is about it: no second one about its sum */
};

/* What the cluster needs of one kind at one place. */
struct audit_need {
    enum audit_role role;
    uint32_t net; /* AUDIT_ANY_NET: of none */
    uint32_t layer;
    enum audit_end end;   /* of modules */
    enum audit_tier tier; /* of switches in a layout */
    uint32_t part;        /* what the plan would take; MYR_PART_NONE: any */
    uint32_t legs;        /* of cables: 1 straight, 2.. splitter */
    bool fixed;           /* cable with its ends on it */
    uint32_t gbps;        /* of a link */
    double length_m;      /* of the run */
    uint64_t quantity, met;
    const char *what; /* for people: "800G modules, switch end" */
    bool scope;       /* absent altogether it is a gap of scope, not of quantity */
    bool off;         /* of the kind of link that the document does not use */
};

/*
 * Beyond these, needs of runs and of bought rows are left out, cards not looked at, lengths not
 * told apart.
 */
enum { AUDIT_NEEDS_MAX = 2048, AUDIT_CARDS_MAX = 16, AUDIT_STEPS_MAX = 32 };

/* Cables of one kind: as fibres with modules, or with ends on them. */
struct audit_run {
    double length_m; /* of the longest */
    uint64_t open, fixed;
};

struct audit_runs {
    double steps[AUDIT_STEPS_MAX]; /* lengths that the document has; more do not part classes */
    uint32_t step_count;
    uint8_t head[MYR_NET_COUNT][MYR_LAYER_COUNT]; /* end that cables with ends are counted by */
    uint32_t *legs;                               /* by cable type; 0: straight */
    struct audit_run *items;                      /* cable types x (steps + 1) */
};

struct audit {
    struct myr_arena *arena; /* of the caller: texts of findings outlive the audit */
    const struct myr_catalog *catalog;
    const struct myr_spec *spec;   /* as given */
    struct myr_spec open;          /* without pins, open choices from the document */
    struct myr_design asked, plan; /* of the two */
    struct myr_audit *out;
    MYR_VEC(struct audit_line) lines;         /* of the bill; then of the layout, one a kind */
    MYR_VEC(struct audit_line) placed;        /* of the layout, one a row */
    struct audit_need needs[AUDIT_NEEDS_MAX]; /* by network, then those of none */
    uint32_t need_count;                      /* of the bill; then of the layout */
    uint64_t *flow;                           /* lines x needs */
    double stated_total;                      /* of the list's last line; negative: none */
    double cost_claimed;
    const char *cost_at;  /* NULL: none, or it is the plan's */
    size_t said;          /* findings before the list was judged */
    const char *total_at; /* where that is */
    double *watts;        /* by part: stated and credible; 0: none */
};

static inline const struct myr_part *audit_part(const struct audit *audit, uint32_t part)
{
    return &audit->catalog->parts.items[part];
}

/* words.c */
bool audit_has_word(struct myr_str text, const char *word);
void audit_words_read(struct myr_str text, struct audit_words *words);
/* The network, or AUDIT_ANY_NET (silent) or AUDIT_NO_NET (another system). */
uint32_t audit_words_system(struct myr_str text);
bool audit_is_total(struct myr_str text);
/* Which column a header cell names: one of 'names' by its own or another common word; -1: none. */
int audit_column(struct myr_str cell, const char *const *const *words, uint32_t count);

/* numbers.c: as spreadsheets write them; false: no number, or one that can be read in two ways */
bool audit_number(struct myr_str text, double *ret);
struct myr_str audit_trim(struct myr_str text);
/* The length that a description of a cable tells ("MMF, 50m"); 0: none. */
double audit_told_length(struct myr_str text);
/* "1720 W", "1.72 kW", "1720": watts. */
bool audit_watts(struct myr_str text, double *ret);

/* parts.c */
uint32_t audit_find_part(const struct audit *audit, struct myr_str text, double *ret_length_m);
enum audit_role audit_part_role(const struct audit *audit, uint32_t part);
void audit_line_finish(const struct audit *audit, struct audit_line *line, struct myr_str part);

/* findings.c */
MYR_PRINTF(6, 7)
void audit_finding(struct audit *audit, const char *rule, const char *where, double expected,
                   double found, const char *fmt, ...);
MYR_PRINTF(6, 7)
void audit_finding_text(struct audit *audit, const char *rule, const char *where,
                        const char *expected, const char *found, const char *fmt, ...);
void audit_doubt(struct audit *audit, const char *where, const char *reason);

/* the steps */
MYR_MUST_USE int audit_read_bom(struct audit *audit, const char *file, struct myr_str text,
                                struct myr_err *err);
MYR_MUST_USE int audit_read_layout(struct audit *audit, const char *file, struct myr_str text,
                                   struct myr_err *err);
MYR_MUST_USE int audit_claims(struct audit *audit, const struct myr_doc *claims,
                              struct myr_err *err);
/* Once the list is judged: what was claimed of its cost. */
void audit_claimed_cost(struct audit *audit);
/* runs.c; 'head' is known before */
void audit_count_runs(struct audit *audit, struct audit_runs *runs);
void audit_needs_bom(struct audit *audit);
void audit_needs_layout(struct audit *audit);
/* Whether servers of that part are a tier of storage behind the flash. */
bool audit_is_tier(const struct audit *audit, uint32_t part);
/* The NIC of these devices on this network: what its cage takes is what modules must be. */
const struct myr_part *audit_nic(const struct audit *audit, enum myr_net_id net,
                                 bool storage_server);

/* How well a line can serve a need: 0 as planned, then worse; -1 not at all. */
enum { AUDIT_GRADES = 4, AUDIT_GRADE_WRONG = 3 };
/* Returns what stays open, over all needs that are on. */
uint64_t audit_match(struct audit *audit,
                     int (*grade)(const struct audit *, const struct audit_line *,
                                  const struct audit_need *));
static inline uint64_t *audit_flow(const struct audit *audit, size_t line, uint32_t need)
{
    return &audit->flow[line * audit->need_count + need];
}
int audit_grade_bom(const struct audit *audit, const struct audit_line *line,
                    const struct audit_need *need);
int audit_grade_layout(const struct audit *audit, const struct audit_line *line,
                       const struct audit_need *need);
void audit_judge_bom(struct audit *audit);
void audit_judge_layout(struct audit *audit);
void audit_judge_optics(struct audit *audit);

/* The switch that the plan has there; NULL: none. */
const struct myr_part *audit_switch(const struct audit *audit, uint32_t net);
/* Which end a module is for, by its form and speed. */
enum audit_end audit_module_end(const struct audit *audit, const struct myr_part *module,
                                uint32_t net);

/* A link as a document has it. */
struct audit_link {
    enum myr_net_id net;
    const char *where;
    const struct myr_part *sw, *switch_optic, *nic_optic, *cable, *nic; /* NULL: not known */
    bool fabric;                                                        /* between switches */
    uint32_t gbps, legs;
    double length_m; /* of the run; 0: not known */
    double cable_m;  /* of a cable that is judged by its length too; 0: it is not */
};
/* Names every rule that the link breaks; false when it breaks one. */
bool audit_link_rules(struct audit *audit, const struct audit_link *link);
