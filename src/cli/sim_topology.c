#include "sim_topology.h"

#include "myriad/plan.h"
#include "sim_file.h"

struct unit {
    const char *name;
    uint64_t factor;
};

/* A number with a unit behind it; the whole text must be used. */
static bool parse_unit(struct myr_str text, const struct unit *units, size_t count, double *ret)
{
    size_t digits = 0;
    while (digits < text.len &&
           ((text.data[digits] >= '0' && text.data[digits] <= '9') || text.data[digits] == '.')) {
        digits++;
    }
    double value;
    if (!myr_str_to_double((struct myr_str){text.data, digits}, &value)) {
        return false;
    }
    struct myr_str rest = {text.data + digits, text.len - digits};
    for (size_t i = 0; i < count; i++) {
        if (myr_str_eq_nocase(rest, myr_str_from(units[i].name))) {
            *ret = value * (double)units[i].factor;
            return *ret < 9e18;
        }
    }
    return false;
}

bool sim_parse_bytes(struct myr_str text, uint64_t *ret)
{
    static const struct unit units[] = {
        {"", 1},          {"B", 1},           {"KB", 1000},
        {"MB", 1000000},  {"GB", 1000000000}, {"TB", 1000000000000},
        {"K", 1000},      {"M", 1000000},     {"G", 1000000000},
        {"KiB", 1 << 10}, {"MiB", 1 << 20},   {"GiB", 1 << 30},
    };
    double value;
    if (!parse_unit(text, units, MYR_ARRAY_COUNT(units), &value)) {
        return false;
    }
    *ret = (uint64_t)(value + 0.5);
    return true;
}

bool sim_parse_time(struct myr_str text, int64_t *ret)
{
    static const struct unit units[] = {
        {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000},
    };
    double value;
    if (!parse_unit(text, units, MYR_ARRAY_COUNT(units), &value)) {
        return false;
    }
    *ret = (int64_t)(value + 0.5);
    return true;
}

struct fat_tree {
    uint64_t k, gbps, tiers;
    int64_t delay_ps;
};

static int parse_setting(struct fat_tree *tree, struct myr_str piece, struct myr_err *err)
{
    const char *equals = memchr(piece.data, '=', piece.len);
    struct myr_str key = {piece.data, equals ? (size_t)(equals - piece.data) : 0};
    struct myr_str value = {equals ? equals + 1 : piece.data, equals ? piece.len - key.len - 1 : 0};
    bool ok = false;
    if (myr_str_eq(key, MYR_STR("k"))) {
        ok = myr_str_to_u64(value, &tree->k) && tree->k >= 2 && tree->k <= 128 && tree->k % 2 == 0;
    } else if (myr_str_eq(key, MYR_STR("gbps"))) {
        ok = myr_str_to_u64(value, &tree->gbps) && tree->gbps >= 1 && tree->gbps <= 100000;
    } else if (myr_str_eq(key, MYR_STR("delay"))) {
        ok = sim_parse_time(value, &tree->delay_ps);
    } else if (myr_str_eq(key, MYR_STR("tiers"))) {
        ok = myr_str_to_u64(value, &tree->tiers) && tree->tiers >= 2 && tree->tiers <= 3;
    }
    if (!ok) {
        return myr_err_set(err, MYR_EINVAL,
                           "--topology: '%.*s' is not understood; k=EVEN, gbps=N, delay=1us or "
                           "tiers=2|3 is expected",
                           piece.len > 40 ? 40 : (int)piece.len, piece.data);
    }
    return MYR_OK;
}

static int parse_topology(struct fat_tree *tree, const char *text, struct myr_err *err)
{
    static const char prefix[] = "fat-tree:";
    if (strncmp(text, prefix, sizeof(prefix) - 1) != 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "--topology is '%.40s', fat-tree:k=8,gbps=100,delay=1us is expected",
                           text);
    }
    text += sizeof(prefix) - 1;
    int r = MYR_OK;
    while (r == MYR_OK && *text) {
        size_t len = strcspn(text, ",");
        r = parse_setting(tree, (struct myr_str){text, len}, err);
        text += len + (text[len] == ',');
    }
    return r;
}

int sim_topology_make(struct sim_topology *topology, const char *text, struct myr_err *err)
{
    struct fat_tree tree = {.k = 8, .gbps = 100, .tiers = 3, .delay_ps = 1000000};
    struct myr_buf yaml = {0};
    const struct myr_doc *doc;
    *topology = (struct sim_topology){0};
    myr_arena_init(&topology->arena);
    bool file = strncmp(text, "file:", 5) == 0;
    int r = file ? MYR_OK : parse_topology(&tree, text, err);
    r = r < 0 ? r : myr_catalog_init(&topology->catalog, &topology->arena, err);
    if (r == MYR_OK && file) {
        return sim_file_topology(topology, text, err);
    }
    if (r < 0) {
        return r;
    }
    topology->delay_ps = tree.delay_ps;
    myr_buf_printf(&yaml,
                   "switches: {sim-switch: {technology: ethernet, cages: %llu, form: sim, "
                   "cage_gbps: %llu, port_gbps: %llu}}\n"
                   "nics: {sim-nic: {technology: ethernet, form: sim, port_gbps: %llu}}\n"
                   "servers: {sim-host: {gpu: h100-sxm, gpus_per_node: 1, "
                   "nics: {compute: {nic: sim-nic, count: 1}}}}\n",
                   (unsigned long long)tree.k, (unsigned long long)tree.gbps,
                   (unsigned long long)tree.gbps, (unsigned long long)tree.gbps);
    struct myr_str parts = {myr_arena_strndup(&topology->arena, yaml.data, yaml.len), yaml.len};
    r = myr_doc_read_yaml(&topology->arena, "--topology", parts, &doc, err);
    r = r < 0 ? r : myr_catalog_add(&topology->catalog, doc, err);
    uint64_t hosts = tree.tiers == 3 ? tree.k * tree.k * tree.k / 4 : tree.k * tree.k / 2;
    myr_buf_clear(&yaml);
    myr_buf_printf(&yaml,
                   "{name: fat-tree, servers: %llu, server: sim-host, networks: {compute: "
                   "{topology: clos, switch: sim-switch, tiers: %llu",
                   (unsigned long long)hosts, (unsigned long long)tree.tiers);
    if (tree.tiers == 3) {
        myr_buf_printf(&yaml, ", pod_leaves: %llu", (unsigned long long)tree.k / 2);
    }
    myr_buf_put_lit(&yaml, "}}}");
    struct myr_str words = {myr_arena_strndup(&topology->arena, yaml.data, yaml.len), yaml.len};
    r = r < 0 ? r : myr_doc_read_yaml(&topology->arena, "--topology", words, &doc, err);
    r = r < 0 ? r : myr_spec_read(&topology->arena, &topology->catalog, doc, &topology->spec, err);
    if (r == MYR_OK) {
        r = myr_plan(&topology->arena, &topology->catalog, &topology->spec, &topology->design, err);
    }
    myr_buf_done(&yaml);
    return r;
}

void sim_topology_done(struct sim_topology *topology)
{
    myr_spec_done(&topology->spec);
    myr_catalog_done(&topology->catalog);
    myr_arena_done(&topology->arena);
}
