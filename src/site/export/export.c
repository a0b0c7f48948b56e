#include "myriad/site/export.h"

#include <sys/stat.h>

#include "export/writers.h"

/*
 * Name, what it is, its file where there is only one, all files, who reads them, whether
 * several networks fit into one, and what else of a job it says something about.
 */
const struct myr_exporter myr_exporters[] = {
    {"ibnetdiscover", "InfiniBand topology as ibnetdiscover prints it", "fabric.topo",
     "fabric.topo", "myriad verify, UFM, topology tools", export_ibnetdiscover, false,
     MYR_EXPORT_BINDING},
    {"ibsim", "netlist for the InfiniBand simulator, links at most 4xHDR", "fabric.net",
     "fabric.net", "ibsim", export_ibsim, false, MYR_EXPORT_BINDING},
    {"opensm", "subnet manager: engine, roots, compute and storage ports, names", NULL,
     "opensm.conf, root_guids.txt, cn_guids.txt, io_guids.txt, torus-2QoS.conf, node-name-map",
     "opensm, infiniband-diags", export_opensm, false, MYR_EXPORT_BINDING},
    {"partitions", "a partition key for each tenant (--tenants)", "partitions.conf",
     "partitions.conf", "opensm -P", export_partitions, false,
     MYR_EXPORT_BINDING | MYR_EXPORT_TENANTS},
    {"slurm", "scheduler: tree of rail groups, pods and core", "topology.conf", "topology.conf",
     "slurmctld (topology/tree)", export_slurm, false, MYR_EXPORT_BINDING},
    {"slurm-block", "scheduler: blocks of scale-up domains or rail groups", "topology.conf",
     "topology.conf", "slurmctld 23.11 and later (topology/block)", export_slurm_block, false,
     MYR_EXPORT_BINDING},
    {"dot", "graph of all cables by interface", "topology.dot", "topology.dot",
     "Graphviz, ptmd, NetQ", export_dot, true, MYR_EXPORT_BINDING},
    {"p2p", "point-to-point cable list", "p2p.csv", "p2p.csv",
     "UFM Cable Validation Tool, myriad verify", export_p2p, true, MYR_EXPORT_BINDING},
    {"netbox", "cable database: devices, interfaces and cables", NULL,
     "sites, manufacturers, device-roles, device-types, racks, devices, interfaces, cables .csv",
     "NetBox, Nautobot, myriad verify", export_netbox, true, 0},
    {"frr", "routed Ethernet: BGP configuration of each device, address plan", NULL,
     "DEVICE/frr.conf, links.csv, devices.csv; with tenants DEVICE/vrf.ip", "FRR (zebra, bgpd)",
     export_frr, false, MYR_EXPORT_TENANTS},
    {"containerlab", "the routed fabric as a laboratory of containers that run FRR", NULL,
     "topology.clab.yml, daemons", "containerlab", export_containerlab, false, 0},
    {"ansible", "inventory: devices by kind, with address, AS number and loopback",
     "inventory.yaml", "inventory.yaml", "Ansible", export_ansible, false, MYR_EXPORT_BINDING},
    {"nccl", "NCCL settings that follow from the fabric, with reasons", "nccl.conf", "nccl.conf",
     "NCCL (/etc/nccl.conf)", export_nccl, false, 0},
    {"nccl-topo", "NCCL's topology of one node: PCIe, NVLink, cards", "nccl-topo.xml",
     "nccl-topo.xml", "NCCL (NCCL_TOPO_FILE)", export_nccl_topo, false, 0},
    {"sonic-sn5600", "SONiC on SN5600 (Spectrum-4): lossless RoCE, addresses, BGP", NULL,
     "DEVICE/config_db.json", "SONiC", export_sonic_sn5600, false,
     MYR_EXPORT_TENANTS | MYR_EXPORT_VRF},
    {"sonic-z9864f", "SONiC on Z9864F (Tomahawk 5): lossless RoCE, addresses, BGP", NULL,
     "DEVICE/config_db.json", "SONiC", export_sonic_z9864f, false,
     MYR_EXPORT_TENANTS | MYR_EXPORT_VRF},
};

const uint32_t myr_exporter_count = MYR_ARRAY_COUNT(myr_exporters);

/* A word that is near to a name is most likely a slip: it is offered. */
int myr_exporter_find(const char *name, const struct myr_exporter **ret, struct myr_err *err)
{
    const char *names[MYR_ARRAY_COUNT(myr_exporters)];
    for (uint32_t i = 0; i < myr_exporter_count; i++) {
        names[i] = myr_exporters[i].name;
        if (strcmp(name, names[i]) == 0) {
            *ret = &myr_exporters[i];
            return MYR_OK;
        }
    }
    char near[128];
    myr_str_nearest(myr_str_from(name), names, myr_exporter_count, near, sizeof(near));
    int rc = myr_err_set(err, MYR_EINVAL, "unknown format '%.40s'%s%s%s", name,
                         near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    myr_err_hint(err, "myriad export --list");
    return rc;
}

int myr_exporter_check(const struct myr_exporter *exporter, uint32_t reads, struct myr_err *err)
{
    static const char *const options[] = {"binding", "tenants", "vrf"};
    for (uint32_t bit = 0; bit < MYR_ARRAY_COUNT(options); bit++) {
        if (reads & ~exporter->reads & 1U << bit) {
            return myr_err_set(err, MYR_EINVAL, "--%s changes nothing in the format '%s'",
                               options[bit], exporter->name);
        }
    }
    return MYR_OK;
}

/* MYR_NET_COUNT asks for all networks. */
int myr_export_run(const struct myr_exporter *exporter, const struct myr_export *job,
                   const struct myr_export_sink *sink, struct myr_err *err)
{
    MYR_ASSERT(job->net <= MYR_NET_COUNT);
    if (job->net == MYR_NET_COUNT) {
        if (!exporter->all_networks) {
            return myr_err_set(err, MYR_EINVAL, "format '%s' holds one network", exporter->name);
        }
    } else if (job->design->networks[job->net].topology == MYR_TOPOLOGY_DEFAULT) {
        return myr_err_set(err, MYR_ENOENT, "this design has no %s network",
                           myr_net_names[job->net]);
    }
    return exporter->run(job, sink, err);
}

/* A set, and the path where a format's only file goes; NULL: its own name, in the set's folder. */
struct file_sink {
    struct myr_file_set set;
    const char *path;
    const struct myr_export_sink *told; /* hears of each file too; may be NULL */
};

/* The set first: nobody hears of a file that could not be kept. */
static int put_in_set(void *context, const char *name, const struct myr_buf *text,
                      struct myr_err *err)
{
    struct file_sink *to = context;
    const char *written = to->path ? to->path : name;
    int rc = myr_file_set_add(&to->set, written, text, err);
    return rc < 0 || !to->told ? rc : to->told->put(to->told->context, written, text, err);
}

static void drop_sink(struct file_sink *sink)
{
    myr_file_set_abandon(&sink->set);
}

static bool is_folder(const char *path)
{
    struct stat about;
    size_t len = strlen(path);
    /* A slash at the end says so even where nothing is there yet. */
    return (len > 0 && path[len - 1] == '/') || (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

/* All files or none: a set that is not committed leaves what was there. */
int myr_export_write(const struct myr_exporter *exporter, const struct myr_export *job,
                     const char *path, const struct myr_export_sink *told, struct myr_err *err)
{
    /* A format of several files always needs a folder. */
    bool folder = !exporter->file || is_folder(path);
    struct file_sink to MYR_CLEANUP(drop_sink) = {.path = folder ? NULL : path, .told = told};
    struct myr_export_sink sink = {.context = &to, .put = put_in_set};
    MYR_TRY(myr_file_set_begin(&to.set, folder ? path : NULL, err));
    MYR_TRY(myr_export_run(exporter, job, &sink, err));
    return myr_file_set_commit(&to.set, err);
}
