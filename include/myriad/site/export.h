/*
 * export: the design in the formats that other people's tools read.
 *
 * myr_exporters is a table, one row a format; adding a format is adding a row and its function.
 * An exporter makes whole files in memory and hands them to a sink one by one: the command writes
 * them to disk, tests look at them. Files name devices as myr_site_name() does.
 *
 * The cabling formats that are also read (ibnetdiscover, NetBox cables, P2P) are written from a
 * struct myr_cabling, whether it came from a design or from a file: what was written, read and
 * written again has the same bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/model.h"
#include "myriad/site/binding.h"
#include "myriad/site/cabling.h"

struct myr_export {
    const struct myr_design *design;
    enum myr_net_id net;               /* MYR_NET_COUNT: all of them, where the format allows it */
    const struct myr_catalog *catalog; /* for part numbers and the kind of network; may be NULL */
    const struct myr_binding *binding; /* real GUIDs and host names; may be NULL */
    const char *tenants;               /* a list of tenants and their nodes; may be NULL */
    bool vrf;                          /* SONiC: tenants as VRFs, not as filters */
};

/* Takes one finished file. The name may have one folder in front: "leaf-p0-g0-r0/frr.conf". */
struct myr_export_sink {
    void *context;
    int (*put)(void *context, const char *name, const struct myr_buf *text, struct myr_err *err);
};

/* What a format says something about, of what a job may bring along. */
enum myr_export_reads { MYR_EXPORT_BINDING = 1, MYR_EXPORT_TENANTS = 2, MYR_EXPORT_VRF = 4 };

struct myr_exporter {
    const char *name;    /* "slurm" */
    const char *title;   /* one line for people */
    const char *file;    /* the file it makes, or NULL when there are several */
    const char *files;   /* all of them, for people */
    const char *read_by; /* the programs that read it */
    int (*run)(const struct myr_export *job, const struct myr_export_sink *sink,
               struct myr_err *err);
    bool all_networks; /* can hold several networks at once */
    uint32_t reads;    /* bits of enum myr_export_reads */
};

extern const struct myr_exporter myr_exporters[];
extern const uint32_t myr_exporter_count;

/* An unknown name is an error that suggests the nearest ones. */
MYR_MUST_USE int myr_exporter_find(const char *name, const struct myr_exporter **ret,
                                   struct myr_err *err);
/* Refuses what the format would ignore: 'reads' are the bits of what was given, as options. */
MYR_MUST_USE int myr_exporter_check(const struct myr_exporter *exporter, uint32_t reads,
                                    struct myr_err *err);
/* Refuses networks that the design does not have. */
MYR_MUST_USE int myr_export_run(const struct myr_exporter *exporter, const struct myr_export *job,
                                const struct myr_export_sink *sink, struct myr_err *err);
/*
 * Writes to disk, all files or none. 'path' is a folder, which is made, or, for formats
 * of one file, that file's name; a folder that exists, or a '/' at the end, makes it a folder.
 * 'told', which may be NULL, hears of each file as well.
 */
MYR_MUST_USE int myr_export_write(const struct myr_exporter *exporter, const struct myr_export *job,
                                  const char *path, const struct myr_export_sink *told,
                                  struct myr_err *err);

/*
 * ibsim 0.10 knows no speed above HDR, and its clients attach to the first device of the file,
 * which should not be a switch: its netlists have HDR for what is faster, and NICs first.
 */
enum myr_netlist { MYR_NETLIST_IBNETDISCOVER, MYR_NETLIST_IBSIM };

/* Writers of cabling. Ports must be numbers in ibnetdiscover's format. */
MYR_MUST_USE int myr_write_ibnetdiscover(const struct myr_cabling *cabling, enum myr_netlist kind,
                                         struct myr_buf *ret, struct myr_err *err);
void myr_write_p2p(const struct myr_cabling *cabling, struct myr_buf *ret);
void myr_write_netbox_cables(const struct myr_cabling *cabling, struct myr_buf *ret);
