/* storage: what the steps of sizing the storage system share. Private to the planner. */
#pragma once

#include "figures/figures.h"

/* Bytes of an entry (name, inode, layout) in a metadata service, and how often it is kept. */
enum { ENTRY_BYTES = 1024, ENTRY_COPIES = 3 };

/* What one server does, in whole units a second; marked where the part is silent. */
struct storage_server {
    uint64_t port_mbytes, read_mbytes, write_mbytes; /* ports; disks */
    uint64_t iops, metadata_ops, metadata_gb;
    enum myr_basis read_basis, write_basis, iops_basis, metadata_basis;
};

/* Servers that each wish asks for by itself, and the wishes in whole units. */
struct storage_needs {
    struct storage_server one;
    uint64_t stored, data;              /* stored / data: copies, or what a code makes of it */
    uint64_t read_mbytes, write_mbytes; /* asked for, a second */
    uint64_t by_capacity, by_rate, by_iops, by_metadata, by_files,
        by_checkpoint;                        /* 0 where nothing is asked for */
    uint64_t state_bytes, usable_gb, file_gb; /* of a checkpoint; of capacity and files */
    double wanted_metadata_ops;
};

/* Published classes: what they read and write for each started 256 GPUs, the best first. */
#define STORAGE_CLASSES 3
extern const struct storage_class {
    const char *name;
    double read_gbytes, write_gbytes;
} storage_classes[STORAGE_CLASSES];

/* The classes are for each started unit of 32 servers with 8 GPUs each. */
enum { STORAGE_UNIT_SERVERS = 32, STORAGE_UNIT_GPUS = 8 * STORAGE_UNIT_SERVERS };

/* By GPUs: a rack of 72 counts as nine servers of 8. */
static inline double storage_units(const struct myr_design *design)
{
    return (design->head->gpus + STORAGE_UNIT_GPUS - 1) / STORAGE_UNIT_GPUS;
}

/* What the part says, and class values where it is silent. */
struct storage_server storage_one(const struct plan *plan, const struct myr_part_storage *server);

/* What one server does with the ports that it has on the network that it hangs on. */
struct storage_server storage_built(struct plan *plan, const struct storage_needs *needs);
/* availability.c: of all data; and what hangs on one port or one switch */
void storage_availability(struct plan *plan, const struct storage_needs *needs);
void storage_homes(struct plan *plan);

static inline uint64_t storage_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Ports and disks of all servers, less what copies or a code write besides. */
uint64_t storage_reads(const struct storage_server *one);
uint64_t storage_writes(const struct storage_server *one);
