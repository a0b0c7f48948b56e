#include "export/dgx.h"
#include "export/writers.h"

/*
 * NCCL: settings that follow from the fabric, each with its reason; what NCCL chooses well by
 * itself is left to it. The file is /etc/nccl.conf of every node.
 */

/* Parts of the catalogue that are DGX H100 or H200, or built on the same board. */
bool dgx_is(const char *part)
{
    static const char *const parts[] = {"h100-8gpu", "h200-8gpu", "dgx-h100", "dgx-h200"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        if (strcmp(part, parts[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* DSCP 26 in the upper six bits, and that the sender heeds ECN. */
static const char traffic_class[] = "106";

static void put(struct myr_buf *buf, const char *reason, const char *name, const char *value)
{
    myr_buf_printf(buf, "# %s\n%s=%s\n", reason, name, value);
}

/* Whether NICs of one server hang on leaves that meet only higher up, or not at all. */
static bool has_rails(const struct myr_network *net)
{
    return net->topology == MYR_TOPOLOGY_RAIL || net->topology == MYR_TOPOLOGY_RAIL_ONLY ||
           net->units > 1;
}

/* Fabrics without tiers, which go by several lanes. */
static bool needs_levels(const struct myr_network *net)
{
    return net->topology == MYR_TOPOLOGY_TORUS || net->topology == MYR_TOPOLOGY_DRAGONFLY ||
           net->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
}

/* Device numbers follow the PCI bus; of one server the maker says which cards are for compute. */
static void put_cards(struct myr_buf *buf, const struct myr_export *job)
{
    const struct myr_design *design = job->design;
    const struct myr_devtype *type =
        &design->devtypes[design->device_type[design->head->first_node]];
    const char *part = myr_design_str(design, type->part);
    if (dgx_is(part)) {
        put(buf,
            "as in DGX H100, where mlx5_1, 2, 7 and 8 are other cards; other makers may differ",
            "NCCL_IB_HCA", "=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11");
    } else {
        myr_buf_printf(buf,
                       "# Which cards are for compute is not known for %s: list them, and no card "
                       "for storage.\n# NCCL_IB_HCA==...\n",
                       part);
    }
}

/* Only what differs from NCCL's own choice is written, and why. */
int export_nccl(const struct myr_export *job, const struct myr_export_sink *sink,
                struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const struct myr_network *net = &job->design->networks[job->net];
    enum myr_technology technology = export_technology(job, job->net);
    if (job->net != MYR_NET_COMPUTE) {
        /* Settings are for all of a job's traffic: there is one file a node. */
        return myr_err_set(err, MYR_EINVAL, "NCCL uses the compute network, not the %s network",
                           myr_net_names[job->net]);
    }
    put_cards(&text, job);
    if (has_rails(net)) {
        put(&text, "rails meet above the leaves only, or not at all: a ring keeps to its NIC",
            "NCCL_CROSS_NIC", "0");
    }
    if (technology == MYR_TECH_ETHERNET) {
        put(&text, "DSCP 26, which the switches keep lossless (myriad export sonic-...), with ECN",
            "NCCL_IB_TC", traffic_class);
        put(&text, "the same for the small messages that start a transfer", "NCCL_IB_FIFO_TC",
            traffic_class);
        put(&text, "switches hash connections: four of them spread better than one",
            "NCCL_IB_QPS_PER_CONNECTION", "4");
    } else if (needs_levels(net)) {
        myr_buf_put_lit(&text, "# NCCL_IB_SL must not be set: lanes come with the path records, "
                               "and a fixed one can deadlock here.\n");
    }
    return export_put(sink, "nccl.conf", &text, err);
}
