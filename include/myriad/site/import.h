/*
 * import: reads what others' tools say about a built fabric into a struct myr_cabling.
 *
 *   ibnetdiscover  the text of that tool, and the netlists of ibsim
 *   ibqueryerrors  error counters of ports, beside ibnetdiscover's text
 *   lldp           lldpcli's JSON: -f json and -f json0; one text a device
 *   netbox         NetBox's cables as CSV
 *   p2p            point-to-point lists: A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port
 *   ibnetdiscover-p, iblinkinfo, ibdiagnet (net_dump, lst, topo): a line a port; ibdiagnet's
 *   cables beside them: what is plugged into the ports
 *   links-json     records of links as UFM and NetQ give them
 *   sonic-lldp     SONiC's 'show lldp table', one text a device
 *   ptm            dot files of the prescriptive topology manager
 *
 * Several files add up. What a source does not say is kept apart from what it denies: a device is
 * 'reported' when the source told about all of its ports. A text that is broken is refused with
 * file, line and column. LLDP is an exception where the wire is: neighbours may be told by one side
 * only, twice, or in a text that ends early.
 *
 * Names are borrowed from the texts, which the cabling keeps (files) or the caller (texts).
 */
#pragma once

#include "myriad/site/cabling.h"

#define MYR_IMPORT_BYTES_MAX   (4ULL << 30)
#define MYR_IMPORT_NAME_MAX    255
#define MYR_IMPORT_DEVICES_MAX 16000000
#define MYR_IMPORT_LINKS_MAX   64000000

enum myr_import_format {
    MYR_IMPORT_AUTO, /* told by how the text begins */
    MYR_IMPORT_IBNETDISCOVER,
    MYR_IMPORT_IBQUERYERRORS,
    MYR_IMPORT_LLDP,
    MYR_IMPORT_NETBOX,
    MYR_IMPORT_P2P,
    MYR_IMPORT_IB_LINES, /* ibnetdiscover -p */
    MYR_IMPORT_IBLINKINFO,
    MYR_IMPORT_IBDIAGNET,  /* net_dump, lst, cables, topo */
    MYR_IMPORT_LINKS_JSON, /* UFM, NetQ */
    MYR_IMPORT_SONIC_LLDP,
    MYR_IMPORT_PTM,
    MYR_IMPORT_FORMAT_COUNT,
};

extern const char *const myr_import_names[MYR_IMPORT_FORMAT_COUNT];

/* InfiniBand's names of speeds, by what one lane carries. */
#define MYR_IB_SPEED_COUNT 9

struct myr_speed_map {
    uint32_t lane_mbps[MYR_IB_SPEED_COUNT];
};

void myr_speed_map_init(struct myr_speed_map *map);
/* "HDR=400": four lanes of HDR stand for 400 Gb/s; simulators know few names. */
MYR_MUST_USE int myr_speed_map_set(struct myr_speed_map *map, struct myr_str rule,
                                   struct myr_err *err);

struct myr_import {
    struct myr_cabling *cabling;
    struct myr_speed_map speeds;
    bool partial; /* the lists hold some of the cables only: what is not listed is not seen */

    /* What was met on the way. */
    bool guessed; /* nobody said what the last file is */
    uint32_t file_count;
    uint32_t truncated_count;     /* texts that are cut, or in which devices did not answer */
    uint32_t other_count;         /* rows about power, consoles, cables that are only planned */
    MYR_VEC(const char *) tables; /* of NetBox without cables, in folders: passed over */

    /* Across files. */
    struct myr_strmap ids;     /* ibnetdiscover: "S-0002c9..." to device */
    struct myr_u64map ports;   /* ibnetdiscover: device and port to link */
    struct myr_u64map stanzas; /* ibnetdiscover: devices that had one, to its line */
    struct myr_strmap words;   /* LLDP: names met, each kept once */
};

void myr_import_init(struct myr_import *import, struct myr_cabling *cabling);
void myr_import_done(struct myr_import *import);

/*
 * When all files are read: devices that were only spelled otherwise, in capitals or with a domain,
 * are one from now on. Numbers of devices change.
 */
void myr_import_finish(struct myr_import *import);

/*
 * "-" is standard input. Of a folder every file is read, in the order of their names; NetBox's
 * tables of other things than cables are passed over there.
 */
MYR_MUST_USE int myr_import_file(struct myr_import *import, enum myr_import_format format,
                                 const char *path, struct myr_err *err);
/* 'file' is the name for messages; it and the text must outlive the cabling. */
MYR_MUST_USE int myr_import_text(struct myr_import *import, enum myr_import_format format,
                                 const char *file, struct myr_str text, struct myr_err *err);
