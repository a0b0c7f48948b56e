/*
 * What the exporters share: the functions behind the rows of the table in export.c, and names.
 */
#pragma once

#include "myriad/site/export.h"

/* Hands the text to the sink and clears it. */
MYR_MUST_USE int export_put(const struct myr_export_sink *sink, const char *name,
                            struct myr_buf *text, struct myr_err *err);

int export_ibnetdiscover(const struct myr_export *job, const struct myr_export_sink *sink,
                         struct myr_err *err);
int export_ibsim(const struct myr_export *job, const struct myr_export_sink *sink,
                 struct myr_err *err);
int export_opensm(const struct myr_export *job, const struct myr_export_sink *sink,
                  struct myr_err *err);
int export_slurm(const struct myr_export *job, const struct myr_export_sink *sink,
                 struct myr_err *err);
int export_slurm_block(const struct myr_export *job, const struct myr_export_sink *sink,
                       struct myr_err *err);
int export_p2p(const struct myr_export *job, const struct myr_export_sink *sink,
               struct myr_err *err);
int export_dot(const struct myr_export *job, const struct myr_export_sink *sink,
               struct myr_err *err);
int export_netbox(const struct myr_export *job, const struct myr_export_sink *sink,
                  struct myr_err *err);
int export_frr(const struct myr_export *job, const struct myr_export_sink *sink,
               struct myr_err *err);
int export_sonic_sn5600(const struct myr_export *job, const struct myr_export_sink *sink,
                        struct myr_err *err);
int export_sonic_z9864f(const struct myr_export *job, const struct myr_export_sink *sink,
                        struct myr_err *err);
int export_nccl(const struct myr_export *job, const struct myr_export_sink *sink,
                struct myr_err *err);
int export_nccl_topo(const struct myr_export *job, const struct myr_export_sink *sink,
                     struct myr_err *err);

int export_containerlab(const struct myr_export *job, const struct myr_export_sink *sink,
                        struct myr_err *err);
int export_ansible(const struct myr_export *job, const struct myr_export_sink *sink,
                   struct myr_err *err);
int export_partitions(const struct myr_export *job, const struct myr_export_sink *sink,
                      struct myr_err *err);

/* How a box calls a port: into 'text', of EXPORT_NAME_MAX bytes. */
enum { EXPORT_NAME_MAX = 64 };
typedef const char *export_port_name(const void *context, uint32_t port, char *text);

/* The cabling of the job's network or networks, NICs as ports of their nodes. */
void export_cabling(const struct myr_export *job, struct myr_cabling *cabling,
                    struct myr_arena *arena);
/* The catalogue's entry for the device's type, or NULL. */
const struct myr_part *export_part(const struct myr_export *job, uint32_t device);
/* InfiniBand, Ethernet, or MYR_TECH_ANY when the catalogue does not know the switches. */
enum myr_technology export_technology(const struct myr_export *job, enum myr_net_id net);
