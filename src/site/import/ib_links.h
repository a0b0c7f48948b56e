/* ib_links: links of an InfiniBand fabric, each of which both of its ends tell. */
#pragma once

#include "import/readers.h"

/* One end, as a line has it; what is not told is 0 or empty. */
struct ib_end {
    bool is_switch;     /* false also where it is not told */
    uint64_t guid, lid; /* LIDs change: GUIDs come first */
    uint64_t port_guid; /* of a NIC */
    struct myr_str name;
    uint64_t port;                       /* from 1 */
    bool no_fec;                         /* of the link, as this end tells it */
    struct myr_str speed_word, fec_word; /* that are not understood */
};

/* Refuses, in its place, what can be no name. */
MYR_MUST_USE int ib_links_check_name(struct import_place place, struct myr_str name,
                                     struct myr_err *err);
/* The device of an end, told apart by its GUID, else by its LID, else by its name. */
MYR_MUST_USE int ib_links_device(struct myr_import *import, struct import_place place,
                                 const struct ib_end *end, uint32_t *ret, struct myr_err *err);
/* Notes a link, or confirms the one that its other end told. Ports must be numbers. */
MYR_MUST_USE int ib_links_note(struct myr_import *import, struct import_place place,
                               const struct myr_cabling_link *link, struct myr_err *err);
/* Both of these for a line that tells two ends. */
MYR_MUST_USE int ib_links_add(struct myr_import *import, struct import_place place,
                              const struct ib_end *own, const struct ib_end *far, uint32_t gbps,
                              uint32_t width, struct myr_err *err);
