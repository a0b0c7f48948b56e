/*
 * The stages of verify, in the order in which they run: matching, states, repair, patterns.
 */
#pragma once

#include "myriad/site/verify.h"
#include "verify/identify.h"

/* What is known about a port beside its neighbour. */
enum verify_flag {
    VERIFY_JUDGED = 1, /* of a chosen network */
    VERIFY_LOOKED = 2, /* a source told about it: without a neighbour it is empty */
    VERIFY_DOUBT = 4,  /* sources contradict each other about it */
    VERIFY_UNREAD = 8, /* a neighbour is told, and could not be read */
};

/* A link that another source told before, with what else it says of it. */
struct verify_repeat {
    uint32_t port, link; /* one of its ports */
};

struct verify_job {
    struct myr_verify *verify;
    struct identify identify;
    struct spelling spelling;
    struct myr_port_names names; /* the built-in rules, where no others were given */
    uint8_t *flags;              /* by port of the design */
    uint8_t *foreign_unread;     /* by foreign vertex: a port of a known device, not read */
    uint8_t *open;               /* by vertex: it hangs together with an end that was not read */
    MYR_VEC(struct verify_repeat) repeats;
    uint8_t *planes; /* by port: how often its link was told by another chip of the same box */
};

/* plan, found, found_link and foreign of the verify, and the flags. */
MYR_MUST_USE int verify_match(struct verify_job *job, struct myr_err *err);
/* Places where what was bound is not what stands there. */
void verify_find_replaced(struct myr_verify *verify);
/* Hosts that are told of by their switches alone: where they are not heard is no cable. */
void verify_note_silent(struct verify_job *job);
/* What of the plan was seen, by layer, pod and rack. */
void verify_cover(struct myr_verify *verify);
/*
 * The plan without what hangs together with ends that were not read: nobody can say what is to be
 * done there, or how little. Marks such vertices, and counts the chains.
 */
const uint32_t *verify_readable_plan(const struct myr_verify *verify, const uint32_t *plan,
                                     const uint32_t *found, uint8_t *open, uint32_t *ret_chains);
/* Which ports run slower than planned, or with errors. */
void verify_degrade(struct verify_job *job);

static inline bool verify_is_foreign(const struct myr_verify *verify, uint32_t vertex)
{
    return vertex >= verify->design->port_count;
}

/* How a source names a device; its GUID where it has no name. */
void verify_found_name(const struct myr_verify *verify, uint32_t found, struct myr_buf *buf);
/* The host's alone where it is one of its NICs. */
void verify_host_name(const struct myr_verify *verify, uint32_t found, struct myr_buf *buf);
/* Name and GUID, as far as they are known. */
void verify_found_label(const struct myr_verify *verify, uint32_t found, struct myr_buf *buf);

/* The design's name of the port that was assumed. */
void verify_assumed_port(const struct myr_verify *verify, const struct myr_assumed *row,
                         struct myr_buf *buf);

/* What of names is on the page, each with its heading where there is any. */
void verify_show_renamed(const struct myr_verify *verify, struct myr_answer *answer);
void verify_show_replaced(const struct myr_verify *verify, struct myr_answer *answer);
void verify_show_renames(const struct myr_verify *verify, struct myr_answer *answer);
/* Some hosts call their NICs in another order than the plan has them. */
bool verify_is_against_order(const struct myr_verify *verify);

/* All that was assumed as one sentence; nothing where nothing was. */
void verify_assumed_text(const struct myr_verify *verify, struct myr_buf *buf);
/* The same as a list for programs: "assumed". */
void verify_put_assumed(const struct myr_verify *verify, struct myr_answer *answer);

/* The fewest lanes that a port needs for its planned speed. */
uint32_t verify_planned_lanes(const struct myr_verify *verify, uint32_t port);

/* Planned Gb/s of a port; of a spare one, what its kind is made for. */
static inline uint32_t verify_planned_gbps(const struct myr_design *design, uint32_t port)
{
    if (design->port_link[port] == MYR_NONE) {
        return myr_design_port_group(design, port)->gbps;
    }
    uint32_t cable = design->link_cable[design->port_link[port]];
    return design->cabletypes[design->cable_type[cable]].gbps;
}
