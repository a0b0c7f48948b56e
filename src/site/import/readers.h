/*
 * What the readers share: one function a format, and how they complain.
 */
#pragma once

#include "import/json_events.h"
#include "myriad/site/import.h"
#include "myriad/text.h"

int import_ibnetdiscover(struct myr_import *import, const char *file, struct myr_str text,
                         struct myr_err *err);
int import_errors(struct myr_import *import, const char *file, struct myr_str text,
                  struct myr_err *err);
int import_lldp(struct myr_import *import, const char *file, struct myr_str text,
                struct myr_err *err);
/* The same, piece by piece: the first is there already. */
int import_lldp_stream(struct myr_import *import, const char *file, struct myr_str first,
                       const struct json_source *source, struct myr_err *err);
int import_netbox(struct myr_import *import, const char *file, struct myr_str text,
                  struct myr_err *err);
int import_p2p(struct myr_import *import, const char *file, struct myr_str text,
               struct myr_err *err);

/* Whether a column has this name, all but signs, blanks and capitals. */
bool import_is_called(struct myr_str field, const char *plain_wanted);

/* By its header: devices, racks, interfaces and so on, which stand beside the cables in a folder.
 */
bool import_is_netbox_table(struct myr_arena *arena, struct myr_str text);

/* What ibnetdiscover -p, iblinkinfo and ibdiagnet (net_dump, lst; cables, topo) print. */
int import_ib_lines(struct myr_import *import, const char *file, struct myr_str text,
                    struct myr_err *err);
int import_iblinkinfo(struct myr_import *import, const char *file, struct myr_str text,
                      struct myr_err *err);
int import_ibdiagnet(struct myr_import *import, const char *file, struct myr_str text,
                     struct myr_err *err);
int import_ib_cables(struct myr_import *import, const char *file, struct myr_str text,
                     struct myr_err *err);
int import_ib_topo(struct myr_import *import, const char *file, struct myr_str text,
                   struct myr_err *err);
/* Links as JSON records: UFM's and NetQ's. */
int import_links_json(struct myr_import *import, const char *file, struct myr_str text,
                      struct myr_err *err);
/* SONiC's 'show lldp table', and PTM's dot files. */
int import_sonic_lldp(struct myr_import *import, const char *file, struct myr_str text,
                      struct myr_err *err);
int import_ptm(struct myr_import *import, const char *file, struct myr_str text,
               struct myr_err *err);

/*
 * A text without the mark in front and without what a terminal put around it; 'whole': no more of
 * it follows. Lines keep their numbers.
 */
struct myr_str import_tools_own(struct myr_arena *arena, struct myr_str text, bool whole);

/* The device that a file is named after: "fabric/leaf-1.lldp.json" is about leaf-1. */
struct myr_str import_stem(const char *file);
/* Blanks around are cut and runs of them are one; the same text where nothing changes. */
struct myr_str import_tidy(struct myr_import *import, struct myr_str name);

struct import_place {
    const char *file;
    uint32_t line, column;
};

/* "file:line:column: message"; gives MYR_EINVAL. */
#define import_error(err, place, ...)                                                        \
    myr_doc_error((err),                                                                     \
                  &(const struct myr_doc){                                                   \
                      .file = (place).file, .line = (place).line, .column = (place).column}, \
                  MYR_EINVAL, __VA_ARGS__)

/* Printable and not endless; names go into messages and tables as they are. */
bool import_name_is_good(struct myr_str name);
/* Room for one more device or link: a hostile text must not fill the memory. */
MYR_MUST_USE int import_check_room(const struct myr_import *import, struct import_place place,
                                   struct myr_err *err);
/*
 * "4xHDR" to Gb/s and lanes; false when it is no such word. An unknown speed has 0 Gb/s, and the
 * part of the word that is not understood is in 'ret_unread' then, which is else left alone.
 */
bool import_speed(const struct myr_speed_map *map, struct myr_str word, uint32_t *ret_gbps,
                  uint32_t *ret_width, struct myr_str *ret_unread);
/*
 * "400", "400G", "400 Gb/s", "1.6T", "NDR" (four lanes), "4xNDR" to whole Gb/s; lanes only where
 * the word tells them. False, and nothing is written: it is no such word, or names another speed.
 */
bool import_gbps(const struct myr_speed_map *map, struct myr_str word, uint32_t *ret_gbps,
                 uint32_t *ret_width);
/* Without "0x"; false when it is not all of 1 to 16 hexadecimal digits. */
bool import_hex(struct myr_str digits, uint64_t *ret);
/* More digits than a GUID has, with "0x" or without: no GUID, and no name either. */
bool import_is_long_hex(struct myr_str text);
/* What the lanes of this rate carry in Mb/s, as the map has the speed that is called so. */
uint32_t import_lane_mbps(const struct myr_speed_map *map, uint32_t mbps);
