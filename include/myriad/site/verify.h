/*
 * verify: the built fabric against the design, and the shortest way from one to the other.
 *
 * Plan and reality are two matchings on the same ports. Every port of the chosen networks gets one
 * state; the difference falls apart into alternating cycles and paths, and from these follow the
 * fewest moves of plugs that make reality the plan (docs/verify.md has the definitions and why the
 * number is exact).
 *
 * Vertices are the ports of the design, and behind them one number for each far end that the
 * design does not know (a foreign device, a port that no device of its type has). All results live
 * in the arena; 'design' and 'cabling' must outlive them.
 */
#pragma once

#include "myriad/site/binding.h"
#include "myriad/site/cabling.h"
#include "myriad/site/coverage.h"
#include "myriad/site/identity.h"
#include "myriad/site/nic_names.h"
#include "myriad/site/port_names.h"
#include "myriad/site/repair.h"
#include "myriad/text/table.h"

enum myr_port_state {
    MYR_STATE_IDLE,     /* neither planned nor found: not counted */
    MYR_STATE_RIGHT,    /* the planned neighbour is there */
    MYR_STATE_WRONG,    /* another neighbour is there */
    MYR_STATE_MISSING,  /* nothing is there, and both ends were looked at */
    MYR_STATE_UNSEEN,   /* nobody looked at it, or at its planned neighbour */
    MYR_STATE_EXTRA,    /* a neighbour where none is planned */
    MYR_STATE_DEGRADED, /* the planned neighbour, but slower, narrower or with errors */
    MYR_STATE_UNREAD,   /* a neighbour is told by a name that cannot be read: it may be right */
    MYR_STATE_COUNT,
};

extern const char *const myr_port_state_names[MYR_STATE_COUNT];

/* A word of a source that is not understood, and on how many links that are in their places. */
struct myr_unread_word {
    enum myr_link_fact fact;
    struct myr_str text;
    uint32_t links;
};

struct myr_verify_options {
    uint32_t nets;       /* bit by enum myr_net_id; 0: compute */
    bool equivalent;     /* parallel links, equal spines and equal cores may stand for each other */
    uint64_t errors_max; /* a link with more symbol errors is degraded */
    const struct myr_binding *binding;       /* or NULL */
    const struct myr_catalog *catalog;       /* of which the switches are parts; or NULL */
    const struct myr_port_names *port_names; /* rules of port names; NULL: the built-in ones */
    const struct myr_hca_name *hcas;         /* or NULL */
    uint32_t hca_count;
    bool partial; /* a fabric under construction: what nobody saw is no fault */
};

struct myr_verify {
    struct myr_arena *arena;
    const struct myr_design *design;
    const struct myr_cabling *cabling;
    struct myr_verify_options options;

    uint32_t vertex_count;
    uint32_t *plan, *found;          /* neighbour of each vertex; MYR_NONE: none */
    uint8_t *state;                  /* enum myr_port_state, of the design's ports */
    uint32_t *found_link;            /* of the cabling */
    struct myr_cabling_end *foreign; /* vertices from design->port_count on */
    uint32_t counts[MYR_STATE_COUNT];
    struct myr_port_span *places; /* by device of the cabling: what it is */
    uint8_t *why; /* by port of the design: of a degraded one, bits of enum myr_degraded_why */
    uint32_t *host_group; /* by device of the cabling: NICs of one host; MYR_NONE: none known */

    struct myr_repair repair;     /* in the mode that was asked for */
    struct myr_repair labelled;   /* every cable in its own two ports */
    struct myr_repair equivalent; /* every cable between its two kinds of ports */
    uint32_t relabel_links;       /* of the plan, to make what is equivalent labelled right */
    uint32_t relabel_devices;     /* devices whose names should be exchanged */
    uint32_t *renames;            /* by device: the one that it really is; MYR_NONE: itself */
    uint32_t relabel_moves;       /* what is left to move after both */
    uint32_t open_chains;         /* of cables, with ends that were not read: in no step */
    uint32_t renamed_count;       /* hosts, whose names are put right before anything is moved */
    struct myr_renamed *renamed;
    uint32_t replaced_count;
    struct myr_replaced *replaced;

    uint32_t pattern_count, identity_count, ambiguity_count;
    struct myr_pattern *patterns;
    struct myr_identity *identities;
    struct myr_ambiguity *ambiguities;

    uint32_t assumed_count, deviating_count;
    struct myr_assumed *assumed;
    uint32_t *deviating; /* hosts whose cables speak against what was assumed */
    uint32_t few_hosts;  /* too few to assume what they call their NICs; 0: none */
    uint32_t wired_count;
    struct myr_wired *wired;
    uint32_t unread_count;
    struct myr_cabling_end *unread; /* ends of judged links that were not read */
    uint32_t rogue_links;           /* between ports of known switches that the plan does not use */

    /* Worth a line each, when not 0. */
    uint32_t outside_links;   /* of other networks or other people's devices: not judged */
    uint32_t one_sided_links; /* told by one end only */
    uint32_t contradicted;    /* neighbours told by one end and denied by the other */
    uint32_t name_conflicts;  /* devices whose GUID and name are bound to different ids */
    uint32_t slow_found_gbps, slow_planned_gbps; /* nearly all links of that speed are slower */
    uint32_t slow_links;
    uint32_t narrow_found, narrow_planned; /* lanes: nearly all links of one speed have fewer */
    uint32_t narrow_links;
    uint32_t word_count;
    struct myr_unread_word *words;
    uint32_t *lane_gbps; /* by type of device: the fastest lane of its cages; 0: not known */
    uint32_t *nodes;     /* by device of the cabling: the host that it is a NIC of; MYR_NONE */
    uint8_t *by_cable;   /* by device of the cabling: a NIC that only its cable tells from others */
    uint8_t *listed;     /* by device of the cabling: a host whose NICs are devices of their own */
    struct myr_coverage coverage;
};

/* Refuses lists in which a port has two cables. */
MYR_MUST_USE int myr_verify(struct myr_verify *ret, struct myr_arena *arena,
                            const struct myr_design *design, const struct myr_cabling *cabling,
                            const struct myr_verify_options *options, struct myr_err *err);

/* True when nothing is wrong, missing, extra or degraded. */
bool myr_verify_clean(const struct myr_verify *verify);

/* "leaf/p0-g1-r5 17/2"; far ends outside of the design as their source names them. */
void myr_verify_port_name(const struct myr_verify *verify, uint32_t vertex, struct myr_buf *buf);
/* One line for the crew. */
void myr_verify_step_text(const struct myr_verify *verify, const struct myr_repair_step *step,
                          struct myr_buf *buf);

/* What can be listed row by row: steps, ports that are not right, patterns, names not read. */
enum myr_verify_list {
    MYR_VERIFY_STEPS,
    MYR_VERIFY_PORTS,
    MYR_VERIFY_PATTERNS,
    MYR_VERIFY_UNREAD,
    MYR_VERIFY_LISTS,
};

extern const char *const myr_verify_list_names[MYR_VERIFY_LISTS];

struct myr_value;
struct myr_answer;

/* The lists of an answer; that of the ports is NULL unless it was asked for. */
struct myr_verify_lists {
    const struct myr_value *lists[MYR_VERIFY_LISTS];
};

/* The result as a tree; then the page for people, whole or one list of it. */
void myr_verify_answer(const struct myr_verify *verify, bool with_ports, struct myr_answer *answer,
                       struct myr_verify_lists *ret);
void myr_verify_page(const struct myr_verify *verify, struct myr_answer *answer);
void myr_verify_page_list(const struct myr_verify_lists *lists, enum myr_verify_list list,
                          struct myr_answer *answer);
