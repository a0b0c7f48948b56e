/*
 * built_file: a topology of another simulator as a fabric. Its shape is written as parts and a spec
 * for the planner, and what the planner makes of them is held against the file.
 */
#include "question/built.h"
#include "question/source.h"
#include "read/text.h"

/* Links of each switch; 0 for a tier that is not there. */
static uint32_t per(uint32_t links, uint32_t switches)
{
    return switches ? links / switches : 0;
}

/* Parts that have just the ports of the shape; a cage holds one link, or several slower ones. */
static void put_parts(const struct myr_clos_shape *shape, struct myr_buf *yaml)
{
    uint32_t most = shape->host_gbps > shape->fabric_gbps ? shape->host_gbps : shape->fabric_gbps;
    uint32_t least = shape->host_gbps + shape->fabric_gbps - most;
    const struct {
        const char *name;
        uint32_t ports;
    } switches[] = {
        /*
         * Ports of each tier: its links down and up, which for spines and cores follow from the
         * tier below.
         */
        {"sim-leaf", shape->leaf_hosts + shape->leaf_up},
        {"sim-spine", per(shape->pod_leaves * shape->leaf_up, shape->pod_spines) + shape->spine_up},
        {"sim-core", per(shape->pods * shape->pod_spines * shape->spine_up, shape->cores)},
    };
    MYR_ASSERT(shape->tiers <= MYR_ARRAY_COUNT(switches));
    myr_buf_put_lit(yaml, "switches:\n");
    for (uint32_t t = 0; t < shape->tiers; t++) {
        uint32_t gbps = t ? shape->fabric_gbps : most; /* only leaves have two speeds */
        myr_buf_printf(yaml,
                       "  %s: {technology: ethernet, form: sim, cages: %u, cage_gbps: %u, "
                       "port_gbps: %u",
                       switches[t].name, switches[t].ports, gbps, gbps);
        if (t == 0 && least != most) {
            myr_buf_printf(yaml, ", splits: [%u]", least);
        }
        myr_buf_put_lit(yaml, "}\n");
    }
    myr_buf_printf(yaml,
                   "nics: {sim-nic: {technology: ethernet, form: sim, cages: %u, port_gbps: %u}}\n"
                   "servers: {sim-host: {gpu: h100-sxm, gpus_per_node: %u, rails: %u",
                   shape->planes, shape->host_gbps, shape->gpus_per_node, shape->gpus_per_node);
    if (shape->gpus_per_node > 1) {
        myr_buf_printf(yaml, ", scale_up_gpus: %u, scale_up_gbps: %u, scale_up_kind: file",
                       shape->gpus_per_node, shape->scale_up_gbps);
    }
    myr_buf_printf(yaml, ", nics: {compute: {nic: sim-nic, count: %u}}}}\n", shape->gpus_per_node);
}

/* Delays that differ by tier go in as lengths: the engine takes 5 ns a metre. */
static void put_lengths(const struct myr_clos_shape *shape, struct myr_buf *yaml)
{
    static const char *const runs[] = {"host_leaf", "leaf_spine", "spine_core"};
    myr_buf_put_lit(yaml, ", length_m: {");
    for (uint32_t t = 0; t < shape->tiers; t++) {
        int64_t mm = shape->delay_ps[t] / 5;
        myr_buf_printf(yaml, "%s%s: %lld.%03lld", t ? ", " : "", runs[t], (long long)(mm / 1000),
                       (long long)(mm % 1000));
    }
    myr_buf_putc(yaml, '}');
}

/* Then one delay a link is enough, and lengths, with their limits, are not needed. */
static bool equal_delays(const struct myr_clos_shape *shape)
{
    bool equal = true;
    for (uint32_t t = 1; t < shape->tiers; t++) {
        equal = equal && shape->delay_ps[t] == shape->delay_ps[0];
    }
    return equal;
}

/* Lengths have limits of their own: 0.1 m to 100 km. */
static int check_delays(const struct myr_clos_shape *shape, const char *path, struct myr_err *err)
{
    const myr_ps least = 500, most = INT64_C(500) * MYR_PS_PER_US;
    for (uint32_t t = 0; t < shape->tiers && !equal_delays(shape); t++) {
        if (shape->delay_ps[t] < least || shape->delay_ps[t] > most) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s: links of tier %u have a delay of %.3f us; where tiers differ, "
                               "0.0005 to 500 us is supported",
                               path, t, (double)shape->delay_ps[t] / (double)MYR_PS_PER_US);
        }
    }
    return MYR_OK;
}

/* Counts of switches are not given: the planner must find the file's own, as check_built() sees. */
static void put_spec(const struct myr_clos_shape *shape, struct myr_buf *yaml)
{
    myr_buf_printf(yaml,
                   "{name: file, servers: %u, server: sim-host, networks: {compute: {topology: "
                   "%s, switch: sim-leaf, tiers: %u, nic_gbps: %u, leaf_down: %u, planes: %u",
                   shape->hosts / shape->gpus_per_node, shape->rails ? "rail" : "clos",
                   shape->tiers, shape->host_gbps, shape->leaf_hosts, shape->planes);
    if (shape->tiers > 1) {
        myr_buf_printf(yaml, ", spine_switch: sim-spine, leaf_up: %u, uplink_gbps: %u",
                       shape->leaf_up, shape->fabric_gbps);
    }
    if (shape->tiers > 2) {
        uint64_t down = (uint64_t)shape->pod_leaves * shape->leaf_up;
        uint64_t up = (uint64_t)shape->pod_spines * shape->spine_up;
        MYR_ASSERT(up > 0);
        myr_buf_printf(yaml, ", core_switch: sim-core, pod_leaves: %u, islands: %u",
                       shape->pod_leaves, shape->pods);
        myr_buf_printf(yaml, ", oversubscription: [1, %llu.%06llu]",
                       (unsigned long long)(down / up),
                       /*
                        * Rounded up: the planner must not need one uplink more than the file has.
                        */
                       (unsigned long long)((down % up * 1000000 + up - 1) / up));
    }
    if (!equal_delays(shape)) {
        put_lengths(shape, yaml);
    }
    myr_buf_put_lit(yaml, "}}}");
}

/* The planner must have built what the file says, switch for switch. */
static int check_built(const struct myr_sim_topology *topology, const struct myr_clos_shape *shape,
                       const char *path, struct myr_err *err)
{
    const struct myr_network *net = &topology->design.networks[MYR_NET_COMPUTE];
    uint32_t spines = shape->pods * shape->pod_spines, planes = shape->planes;
    if (net->host_ports == shape->hosts * planes &&
        net->leaf == shape->pods * shape->pod_leaves * planes && net->spine == spines * planes &&
        net->core == shape->cores * planes) {
        return MYR_OK;
    }
    return myr_err_set(err, MYR_EINVAL,
                       "%s: %u hosts on %u leaves, %u spines and %u cores cannot be built: the "
                       "planner's Clos has %u, %u and %u",
                       path, shape->hosts, shape->pods * shape->pod_leaves, spines, shape->cores,
                       net->leaf, net->spine, net->core);
}

/* The planner has one speed between switches; links to cores may have another in a file. */
static void set_core_speed(struct myr_sim_topology *topology, const struct myr_clos_shape *shape)
{
    struct myr_design *design = &topology->design;
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        if (shape->core_gbps && design->cabletypes[i].layer == MYR_LAYER_CORE) {
            design->cabletypes[i].gbps = shape->core_gbps;
        }
    }
}

/* Parts, spec, plan; then what the planner cannot know is set, and the whole is checked. */
static int build(struct myr_sim_topology *topology, const struct myr_clos_shape *shape,
                 const char *path, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf parts = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
    MYR_TRY(check_delays(shape, path, err));
    put_parts(shape, &parts);
    put_spec(shape, &spec);
    MYR_TRY(sim_built(topology, path, &parts, &spec, err));
    /* Negative: the engine takes the lengths of the cables. */
    topology->delay_ps = equal_delays(shape) ? shape->delay_ps[0] : -1;
    topology->switch_ps = shape->switch_ps;
    topology->scale_up_ps = shape->gpus_per_node > 1 ? shape->scale_up_ps : -1;
    set_core_speed(topology, shape);
    return check_built(topology, shape, path, err);
}

/* Keeps the numbers of the hosts, for traffic that names them. */
static void keep_hosts(struct myr_sim_topology *topology, const struct myr_clos_shape *shape)
{
    if (!shape->gpu_of_node) {
        return;
    }
    size_t count = shape->node_count;
    /* Two ways to name a host: by its number in the file, and by its place among the hosts. */
    uint32_t *by_node = MYR_ARENA_NEW(&topology->arena, uint32_t, count);
    uint32_t *by_rank = MYR_ARENA_NEW(&topology->arena, uint32_t, shape->hosts);
    uint32_t rank = 0;
    memcpy(by_node, shape->gpu_of_node, count * sizeof(*by_node));
    for (uint32_t node = 0; node < count; node++) {
        if (by_node[node] != MYR_NONE) {
            by_rank[rank++] = by_node[node];
        }
    }
    MYR_ASSERT(rank == shape->hosts);
    topology->hosts = (struct myr_sim_hosts){by_node, by_rank, shape->node_count};
}

/* The format by its name or by a guess; the file is read once. */
int sim_built_file(struct myr_sim_topology *topology, const char *words, struct myr_err *err)
{
    MYR_CLEANUP(sim_source_done) struct sim_source source = {};
    MYR_CLEANUP(myr_shape_done) struct myr_clos_shape shape = {};
    uint32_t format;
    static const struct sim_source_want want = {"--topology", TRACE_KINDS,
                                                "an htsim, HPCC or SimAI topology"};
    MYR_TRY(sim_source_open(&source, &topology->arena, &want, words, err));
    struct myr_str content = {source.text.len ? source.text.data : "", source.text.len};
    MYR_TRY(sim_source_format(&source, "--topology", myr_shape_format_names, MYR_SHAPE_FORMAT_COUNT,
                              myr_shape_guess(source.path, content), &format, err));
    MYR_TRY(myr_shape_read(source.path, content, (enum myr_shape_format)format, &shape, err));
    MYR_TRY(build(topology, &shape, source.path, err));
    keep_hosts(topology, &shape);
    return MYR_OK;
}
