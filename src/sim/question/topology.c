#include "myriad/sim/topology.h"

#include "myriad/sim/words.h"
#include "question/built.h"

enum { PORTS_MAX = 128, GBPS_MAX = 100000 }; /* half a million hosts in three tiers */

/* As the words say; hosts, leaves and pods follow from k and the tiers. */
struct fat_tree {
    uint64_t k, gbps, tiers; /* k: ports of a switch */
    int64_t delay_ps;        /* of each link */
};

/* A fat tree halves the ports of a switch, so k is even. */
static int parse_setting(struct fat_tree *tree, struct myr_str piece, struct myr_err *err)
{
    const char *equals = memchr(piece.data, '=', piece.len);
    /* A piece without '=' has an empty key, which is none of these. */
    struct myr_str key = {piece.data, equals ? (size_t)(equals - piece.data) : 0};
    struct myr_str value = {equals ? equals + 1 : piece.data, equals ? piece.len - key.len - 1 : 0};
    bool ok = false;
    if (myr_str_eq(key, MYR_STR("k"))) {
        ok = myr_str_to_u64(value, &tree->k) && tree->k >= 2 && tree->k <= PORTS_MAX &&
             tree->k % 2 == 0;
    } else if (myr_str_eq(key, MYR_STR("gbps"))) {
        ok = myr_str_to_u64(value, &tree->gbps) && tree->gbps >= 1 && tree->gbps <= GBPS_MAX;
    } else if (myr_str_eq(key, MYR_STR("delay"))) {
        ok = myr_sim_parse_time(value, &tree->delay_ps);
    } else if (myr_str_eq(key, MYR_STR("tiers"))) {
        ok = myr_str_to_u64(value, &tree->tiers) && tree->tiers >= 2 && tree->tiers <= 3;
    }
    if (!ok) {
        return myr_err_set(
            err, MYR_EINVAL,
            "--topology: '%.*s' is not understood; k=EVEN up to %d, gbps=N up to %d, "
            "delay=1us or tiers=2|3 is expected",
            piece.len > 40 ? 40 : (int)piece.len, piece.data, PORTS_MAX, GBPS_MAX);
    }
    return MYR_OK;
}

/* "fat-tree:" and settings with commas between; k is needed: nobody's size is the usual one. */
static int parse_topology(struct fat_tree *tree, const char *text, struct myr_err *err)
{
    static const char prefix[] = "fat-tree:";
    if (strncmp(text, prefix, sizeof(prefix) - 1) != 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "--topology is '%.40s', fat-tree:k=8,gbps=100,delay=1us is expected",
                           text);
    }
    text += sizeof(prefix) - 1;
    uint32_t seen = 0;
    while (*text) {
        size_t len = strcspn(text, ",");
        MYR_TRY(parse_setting(tree, (struct myr_str){text, len}, err));
        /* Of two values nobody could say which was meant; each key has a first letter of its own.
         */
        uint32_t bit = UINT32_C(1) << (*text - 'a');
        if (seen & bit) {
            return myr_err_set(err, MYR_EINVAL, "--topology: '%.*s' is given twice",
                               (int)strcspn(text, "="), text);
        }
        seen |= bit;
        text += len + (text[len] == ',');
    }
    if (!(seen >> ('k' - 'a') & 1)) {
        return myr_err_set(err, MYR_EINVAL,
                           "--topology: k, the ports of a switch, is expected: fat-tree:k=8");
    }
    return MYR_OK;
}

/*
 * A k-ary fat tree: k ports a switch, k^3/4 hosts in three tiers, k^2/2 in two. Parts are made up
 * to have just these ports, so that the planner has no choice.
 */
static int build_tree(struct myr_sim_topology *topology, const struct fat_tree *tree,
                      struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf parts = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
    uint64_t hosts = tree->tiers == 3 ? tree->k * tree->k * tree->k / 4 : tree->k * tree->k / 2;
    topology->delay_ps = tree->delay_ps;
    /* One GPU a host: there is no domain whose latency could be said. */
    topology->scale_up_ps = -1;
    myr_buf_printf(&parts,
                   "switches: {sim-switch: {technology: ethernet, cages: %llu, form: sim, "
                   "cage_gbps: %llu, port_gbps: %llu}}\n"
                   "nics: {sim-nic: {technology: ethernet, form: sim, port_gbps: %llu}}\n"
                   "servers: {sim-host: {gpu: h100-sxm, gpus_per_node: 1, "
                   "nics: {compute: {nic: sim-nic, count: 1}}}}\n",
                   (unsigned long long)tree->k, (unsigned long long)tree->gbps,
                   (unsigned long long)tree->gbps, (unsigned long long)tree->gbps);
    myr_buf_printf(&spec,
                   "{name: fat-tree, servers: %llu, server: sim-host, networks: {compute: "
                   "{topology: clos, switch: sim-switch, tiers: %llu",
                   (unsigned long long)hosts, (unsigned long long)tree->tiers);
    if (tree->tiers == 3) {
        myr_buf_printf(&spec, ", pod_leaves: %llu", (unsigned long long)tree->k / 2);
    }
    myr_buf_put_lit(&spec, "}}}");
    return sim_built(topology, "--topology", &parts, &spec, err);
}

int myr_sim_topology_make(struct myr_sim_topology *ret, const char *words, struct myr_err *err)
{
    /* What is left open: three tiers at 100 Gb/s, a microsecond a link. */
    struct fat_tree tree = {.gbps = 100, .tiers = 3, .delay_ps = 1000000};
    bool file = strncmp(words, "file:", 5) == 0;
    *ret = (struct myr_sim_topology){};
    myr_arena_init(&ret->arena);
    MYR_TRY(file ? MYR_OK : parse_topology(&tree, words, err));
    MYR_TRY(myr_catalog_init(&ret->catalog, &ret->arena, err));
    return file ? sim_built_file(ret, words, err) : build_tree(ret, &tree, err);
}

void myr_sim_topology_done(struct myr_sim_topology *topology)
{
    myr_spec_done(&topology->spec);
    myr_catalog_done(&topology->catalog);
    myr_arena_done(&topology->arena);
}

/* A design is opened where it lies; a topology is planned here and now. */
int myr_sim_fabric_open(struct myr_sim_fabric *ret, const char *design, const char *topology,
                        struct myr_err *err)
{
    /* One of the two, neither none nor both. */
    *ret = (struct myr_sim_fabric){.planned = topology != NULL};
    if (!design == !topology) {
        int rc = myr_err_set(err, MYR_EINVAL,
                             design ? "--topology does not go with --design: one fabric is asked"
                                    : "give --design FILE or --topology WORDS");
        myr_err_hint(err, "myriad sim --help");
        return rc;
    }
    ret->design = topology ? &ret->topology.design : &ret->opened;
    if (topology) {
        return myr_sim_topology_make(&ret->topology, topology, err);
    }
    MYR_TRY(myr_design_open(&ret->opened, design, err));
    return myr_design_one_kind(&ret->opened, design, err);
}

/* The caller keeps the design; closing the fabric does not touch it. */
int myr_sim_fabric_borrow(struct myr_sim_fabric *ret, const struct myr_design *design,
                          const char *name, struct myr_err *err)
{
    *ret = (struct myr_sim_fabric){.design = design};
    return myr_design_one_kind(design, name, err);
}

/* Also of one that was only begun, or borrowed: what is not there is left alone. */
void myr_sim_fabric_close(struct myr_sim_fabric *fabric)
{
    myr_design_close(&fabric->opened);
    myr_sim_topology_done(&fabric->topology);
}
