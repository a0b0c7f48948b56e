/*
 * binding: which real thing each design id is.
 *
 * A design names places ("leaf/p0-g1-r5", "node/00042 nic3"); a binding says what stands there:
 * GUID, MAC address, serial number, host name, management address, and for ports the name and
 * number that the device's own system uses. It is made from discovery, kept in binding.yaml beside
 * the design, and checked whenever it is read: every id must be in the design, every real thing
 * bound once.
 *
 *     design: h100-64
 *     devices:
 *       leaf/p0-g1-r5: {guid: 0x98039b0300a1b2c4, host: sw-a07-2, serial: MT2350X01234,
 *                       address: 10.1.0.17}
 *       node/00042:
 *         host: gpu042
 *         ports:
 *           nic3: {guid: 0x9c0591030012ab34, port_guid: 0x9c0591030012ab35, name: mlx5_3}
 *
 * Texts live in the arena given to read, or are borrowed by set.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/model.h"

/* What is known of one device or one port. Zero or empty: not known. */
struct myr_bound {
    uint32_t device; /* of the design */
    uint32_t port;   /* of the design; MYR_NONE: the device as a whole */
    uint64_t guid, port_guid;
    uint64_t mac; /* 48 bits */
    uint32_t ifindex;
    struct myr_str serial, host, address; /* of devices */
    struct myr_str name;                  /* of ports: what the device's system calls it */
};

struct myr_binding {
    const struct myr_design *design;
    struct myr_arena *arena;
    MYR_VEC(struct myr_bound) rows;
    struct myr_u64map places;         /* device << 32 | port to row */
    struct myr_u64map guids, macs;    /* to row */
    struct myr_strmap hosts, serials; /* to row */
    struct myr_strmap names;          /* device and the port's own name, to row */
};

void myr_binding_init(struct myr_binding *binding, struct myr_arena *arena,
                      const struct myr_design *design);
void myr_binding_done(struct myr_binding *binding);

/* The row of a device (port MYR_NONE) or port; NULL when nothing is bound. */
const struct myr_bound *myr_binding_get(const struct myr_binding *binding, uint32_t device,
                                        uint32_t port);
/*
 * Adds what 'bound' knows to its place. False when something is bound elsewhere already, or the
 * place has another value; then nothing is changed and 'ret_row' is the row it meets.
 */
MYR_MUST_USE bool myr_binding_add(struct myr_binding *binding, const struct myr_bound *bound,
                                  uint32_t *ret_row);

/* The port of a device that its system calls so; MYR_NONE when none is bound to it. */
uint32_t myr_binding_port(const struct myr_binding *binding, uint32_t device, struct myr_str name);

/* YAML as above, or a table (.csv) with the columns place and host. */
MYR_MUST_USE int myr_binding_read(struct myr_binding *binding, const char *path,
                                  struct myr_err *err);
bool myr_binding_is_table(const char *path);
MYR_MUST_USE int myr_binding_read_table(struct myr_binding *binding, const char *path,
                                        struct myr_err *err);
/*
 * Names all nodes by a rule: "gpu{n+1:3}" is gpu001 for node/00000. In braces whole-number
 * arithmetic over n, the node's number, and behind ':' how many digits there are at least. Hosts
 * that are bound already keep their names.
 */
MYR_MUST_USE int myr_binding_name_hosts(struct myr_binding *binding, const char *rule,
                                        struct myr_err *err);
MYR_MUST_USE int myr_binding_read_text(struct myr_binding *binding, const char *file,
                                       struct myr_str text, struct myr_err *err);
/* In the order of the design: the same binding gives the same bytes. */
void myr_binding_write(const struct myr_binding *binding, struct myr_buf *buf);

/* All rows in that order, as the caller's heap memory. */
const struct myr_bound **myr_binding_sorted(const struct myr_binding *binding);

/* "aa:bb:cc:dd:ee:ff", also with '-' and in Cisco's "aabb.ccdd.eeff". */
MYR_MUST_USE bool myr_mac_parse(struct myr_str text, uint64_t *ret);

struct myr_verify;

/* What making a binding from discovery met. */
struct myr_discovery {
    const struct myr_verify *verify; /* that it was made from: what was assumed there is told */
    uint32_t devices;                /* that were found */
    uint32_t bound;                  /* places that got a row */
    uint32_t unknown;        /* found devices that are nothing in the design, or one of several */
    uint32_t by_cable;       /* of these, NICs that their own cable alone tells: --by-wiring */
    uint32_t by_cable_ports; /* the same where NICs are ports of their hosts */
    uint32_t contradicted;   /* their cables say that they are another device: left out */
    uint32_t conflicts;      /* bound otherwise before: left as it was */
    uint32_t conflict_row;   /* the first of them, and what was found */
    struct myr_bound conflict;
};

/* Adds what was found to a binding. 'by_wiring': cables decide where names say otherwise. */
void myr_binding_discover(struct myr_binding *binding, const struct myr_verify *verify,
                          bool by_wiring, struct myr_discovery *ret);

struct myr_answer;
struct myr_value;
/* The binding as a tree, with a page of sentences; returns the list of rows. */
const struct myr_value *myr_binding_answer(const struct myr_binding *binding,
                                           const struct myr_discovery *found,
                                           struct myr_answer *answer);
/* The same sentences as remarks for the head of a binding.yaml. */
void myr_discovery_remarks(const struct myr_binding *binding, const struct myr_discovery *found,
                           struct myr_buf *buf);
