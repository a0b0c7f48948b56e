/*
 * cabling: a list of devices and of links between their ports, with names as text.
 *
 * The common ground of all cabling formats: writers of ibnetdiscover, NetBox and P2P files write
 * one of these, readers fill one, verify compares one with a design. Texts are borrowed: from the
 * file that was read, or from the arena.
 *
 * In InfiniBand formats every NIC is a device of its own, as the fabric sees it ("node-00042-nic3",
 * port 1). In the others a NIC is a port of its node ("node-00042", port "nic3"). Files use names
 * with '-' where addresses have '/', because many tools choke on slashes; both forms are found.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/model.h"
#include "myriad/site/link_words.h"

struct myr_cabling_device {
    struct myr_str name; /* may be empty: only the GUID is known */
    uint64_t guid;       /* 0: not known */
    uint64_t port_guid;  /* of a NIC's port; 0: not known */
    uint32_t port_count; /* 0: not known */
    bool is_switch;
    bool reported; /* the source told about all of its ports: one that is not listed is empty */
    bool whole;   /* its own table of neighbours is there to its end, of a fabric finished or not */
    bool by_file; /* nobody calls it so: its name is that of the file that tells about it */
    uint32_t line;               /* in its file */
    struct myr_str mac, address; /* chassis and management address, as text; may be empty */
};

/* One end of a link, as a file names it. */
struct myr_cabling_end {
    uint32_t device; /* index into devices */
    struct myr_str port;
};

struct myr_cabling_link {
    struct myr_cabling_end a, b;
    uint32_t gbps;                 /* 0: not given */
    uint32_t width;                /* lanes; 0: not given */
    uint64_t errors;               /* symbol errors and the like; 0: none or not given */
    double ber;                    /* raw bit error rate, before correction; 0: none or not given */
    bool no_fec;                   /* the source says that errors are not corrected */
    bool one_sided;                /* only a reported it */
    uint8_t unread[MYR_LINK_KEPT]; /* by fact: a word that is not understood, + 1; 0: none */
    uint32_t line;                 /* in its file, for messages */
    uint32_t file;                 /* index into files */

    /* What is known of the cable itself; lists of cables carry it. */
    struct myr_str label;  /* empty: none */
    struct myr_str medium; /* as NetBox calls it: "smf", "mmf", "dac-passive"; empty: not given */
    uint32_t length_mm;    /* 0: not given */
};

/* A port that a source mentions without a neighbour. */
struct myr_cabling_bare {
    struct myr_cabling_end end;
    bool unknown; /* the source could not tell; otherwise nothing is plugged in */
};

/* Symbol errors and the like of a port, told apart from its cable. */
struct myr_cabling_errors {
    uint64_t guid; /* of the device, or of a NIC's port */
    struct myr_str port;
    uint64_t count;
};

/* Light in the lanes of a module, in dBm; lanes 0: not told. */
struct myr_light {
    uint32_t lanes;
    double least, next, most; /* 'next': of the lane with the second least */
};

/* What is plugged into a port, told apart from its cable. */
struct myr_cabling_optic {
    uint64_t guid; /* of the device, or of a NIC's port */
    struct myr_str port;
    uint32_t medium; /* enum myr_medium; MYR_NONE: not told */
    struct myr_light rx, tx;
    uint32_t line; /* in its file */
};

struct myr_cabling {
    struct myr_arena *arena;
    MYR_VEC(struct myr_cabling_device) devices;
    MYR_VEC(struct myr_cabling_link) links;
    MYR_VEC(struct myr_cabling_bare) bare;
    MYR_VEC(struct myr_cabling_errors) errors;
    MYR_VEC(struct myr_cabling_optic) optics;
    MYR_VEC(struct myr_link_word) words; /* that no reader understood, each once */
    bool numbered; /* InfiniBand's view: NICs are devices of their own, ports mostly numbers */
    struct myr_strmap names;       /* device names; ambiguous ones keep the first */
    MYR_VEC(const char *) files;   /* names of the files that were read */
    MYR_VEC(struct myr_buf) texts; /* their texts, which the names above are borrowed from */
};

void myr_cabling_init(struct myr_cabling *cabling, struct myr_arena *arena);
void myr_cabling_done(struct myr_cabling *cabling);
/* The device of this name, added when it is new. */
uint32_t myr_cabling_device(struct myr_cabling *cabling, struct myr_str name);
/* The word's number + 1, for 'unread' of a link; all beyond the last that fits share one. */
uint8_t myr_cabling_word(struct myr_cabling *cabling, enum myr_link_fact fact, struct myr_str text);

/* The device's address with '-' for '/': "leaf-p0-g1-r5". */
void myr_site_name(const struct myr_design *design, uint32_t device, struct myr_buf *buf);
/* Finds a device by its address or by that form; MYR_NONE when there is none. */
uint32_t myr_site_find(const struct myr_design *design, struct myr_str name);
/*
 * Finds a port of a device by its name; MYR_NONE when there is none. Switch ports may also have
 * the names that switches' own systems give them: "swp17s1", "sw17p2", "Ethernet17/2", "IB1/17/2".
 */
uint32_t myr_site_find_port(const struct myr_design *design, uint32_t device, struct myr_str name);

/* The same for a name that the design itself gives a switch's port: its index on the device. */
uint32_t myr_site_own_port(const struct myr_devtype *type, struct myr_str name);

/*
 * InfiniBand's number of a switch port, as the box counts: each cage has as many numbers as the
 * most divided one has ports, so that 7/1 is 13 on a box of twin cages whatever lies before it.
 */
uint32_t myr_site_number(const struct myr_design *design, uint32_t port);
/* The port of that number; MYR_NONE when the design has none there. */
uint32_t myr_site_numbered(const struct myr_design *design, uint32_t device, uint32_t number);
/* How many numbers a cage has. */
uint32_t myr_site_numbers(const struct myr_devtype *type);
/*
 * Whether that would be more numbers than there are: how such a box counts is not known, and
 * exports count its ports in the order of the design.
 */
bool myr_site_counts_on(const struct myr_devtype *type);

/* The port as Linux names it, without '/': "swp17s1" on a switch, "nic3" on a node. */
void myr_site_interface(const struct myr_design *design, uint32_t port, struct myr_buf *buf);

/*
 * GUIDs for a fabric that has none yet (simulators, file routing before delivery): they follow
 * from the design's ids, have the bit of locally assigned addresses, and never meet real ones.
 * A switch has one; a NIC port has one for its node (even) and the next one for its port.
 */
uint64_t myr_site_guid(const struct myr_design *design, uint32_t port);
uint64_t myr_site_port_guid(const struct myr_design *design, uint32_t port);

/* How NICs appear: as ports of their node, or as devices of their own (InfiniBand). */
enum myr_nic_view { MYR_NIC_AS_PORT, MYR_NIC_AS_DEVICE };

/* The links of one network of a design, with GUIDs as above. */
void myr_cabling_from_design(struct myr_cabling *cabling, const struct myr_design *design,
                             enum myr_net_id net, enum myr_nic_view view);
/*
 * The design port that an end of a file means, or MYR_NONE. Understands both views, addresses and
 * dashed names; in the device view, switch ports are numbered as InfiniBand counts them.
 */
uint32_t myr_cabling_port(const struct myr_design *design, const struct myr_cabling *cabling,
                          struct myr_cabling_end end);
