/*
 * ufm_compare: what UFM's comparison of topologies tells: links that came, went, or lead elsewhere
 * now. It speaks of what changed since a topology was kept, and of nothing else.
 */
#pragma once

#include "import/readers.h"

enum ufm_section { UFM_NOW, UFM_ADDED, UFM_REMOVED, UFM_CHANGED };

/* The section that a key opens; 'before' where it opens none. */
enum ufm_section ufm_section_of(struct myr_str key, enum ufm_section before);

struct ufm_end {
    uint64_t guid, port;
    struct myr_str name; /* may be empty */
};

struct ufm_change {
    enum ufm_section section;
    uint32_t line;
    struct ufm_end ends[3]; /* of a changed link: one end, where it led, where it leads */
};

/* Whether a word of it is a hexadecimal number that is too long for a GUID. */
bool ufm_change_has_long_guid(struct myr_str text);
/* "0002c9000002026c_28:0002c90000021b7c_4" */
MYR_MUST_USE bool ufm_change_of_name(struct myr_str text, struct ufm_change *ret);
/* "GUID 0002c9.. (leaf-1) Port 28 to GUID .. Port 4 peer changed to GUID .. Port 5" */
MYR_MUST_USE bool ufm_change_of_sentence(struct myr_str text, struct ufm_change *ret);
/* A link that is there, or ports that are empty. */
MYR_MUST_USE int ufm_change_put(struct myr_import *import, struct import_place place,
                                const struct ufm_change *change, struct myr_err *err);

/* The device of a GUID, added when it is new; and what it is called. */
uint32_t ufm_device(struct myr_import *import, uint64_t guid);
void ufm_name(struct myr_import *import, uint64_t guid, struct myr_str name);
