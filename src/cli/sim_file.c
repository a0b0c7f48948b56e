#include "sim_file.h"

#include "myriad/plan.h"
#include "myriad/sim/read.h"

enum { PATH_MAX_LEN = 4095 };

struct source {
    char path[PATH_MAX_LEN + 1];
    struct myr_str format;  /* empty: to be guessed */
    uint64_t endless_bytes; /* of messages without end; 0: not said */
    struct myr_buf text;
};

/* ",endless=SIZE": the text up to it is left. */
static int take_endless(struct source *source, const char *option, struct myr_str *text,
                        struct myr_err *err)
{
    static const char key[] = ",endless=";
    const char *tail = memmem(text->data, text->len, key, sizeof(key) - 1);
    if (!tail) {
        return MYR_OK;
    }
    const char *value = tail + sizeof(key) - 1;
    struct myr_str size = {value, text->len - (size_t)(value - text->data)};
    if (!sim_parse_bytes(size, &source->endless_bytes) || source->endless_bytes == 0 ||
        source->endless_bytes > MYR_TRACE_BYTES_MAX) {
        return myr_err_set(err, MYR_EINVAL, "%s: 'endless' must be a size such as 10MB, not '%.*s'",
                           option, size.len > 40 ? 40 : (int)size.len, size.data);
    }
    text->len = (size_t)(tail - text->data);
    return MYR_OK;
}

/* "file:PATH,format=NAME,endless=SIZE"; the path may hold commas of its own. */
static int open_source(struct source *source, const char *option, const char *text,
                       struct myr_err *err)
{
    static const char key[] = ",format=";
    const char *path = strchr(text, ':');
    struct myr_str words = myr_str_from(path ? path + 1 : text);
    int r = take_endless(source, option, &words, err);
    if (r < 0) {
        return r;
    }
    const char *tail = memmem(words.data, words.len, key, sizeof(key) - 1);
    size_t len = tail ? (size_t)(tail - words.data) : words.len;
    if (tail) {
        const char *name = tail + sizeof(key) - 1;
        source->format = (struct myr_str){name, words.len - (size_t)(name - words.data)};
    }
    if (len == 0 || len > PATH_MAX_LEN) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: file:PATH[,format=NAME][,endless=SIZE] is expected", option);
    }
    memcpy(source->path, words.data, len);
    source->path[len] = '\0';
    return myr_file_read(source->path, MYR_TRACE_FILE_MAX, &source->text, err);
}

/* The format named by the user, else the guess. */
static int pick_format(const struct source *source, const char *option, const char *const *names,
                       uint32_t count, uint32_t guess, uint32_t *ret, struct myr_err *err)
{
    struct myr_buf list = {0};
    *ret = guess;
    for (uint32_t i = 0; i < count && source->format.len; i++) {
        if (myr_str_eq(source->format, myr_str_from(names[i]))) {
            *ret = i;
            myr_buf_done(&list);
            return MYR_OK;
        }
        myr_buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    if (source->format.len == 0) {
        return MYR_OK;
    }
    int r = myr_err_set(err, MYR_EINVAL, "%s: unknown format '%.*s'; known are %s", option,
                        source->format.len > 40 ? 40 : (int)source->format.len, source->format.data,
                        list.data);
    myr_buf_done(&list);
    return r;
}

/* Messages without end get the size that the user gives them; there is no default. */
static int limit_endless(const struct source *source, struct myr_trace *trace, struct myr_err *err)
{
    if (trace->endless_line == 0) {
        return MYR_OK;
    }
    if (source->endless_bytes == 0) {
        int r = myr_err_set(err, MYR_EINVAL, "%s:%u:1: a message without end (size 0)",
                            source->path, trace->endless_line);
        myr_err_hint(err, "give such messages a size: file:PATH,endless=10MB");
        return r;
    }
    myr_trace_limit(trace, source->endless_bytes);
    return MYR_OK;
}

/*
 * Which GPUs the trace's ranks are. HPCC's flows go between the nodes of its topology file, by
 * their numbers there; ranks of the other formats are the hosts, by the order of the numbers.
 */
static int choose_hosts(const struct source *source, const struct myr_trace *trace,
                        enum myr_trace_format format, const struct sim_hosts *hosts,
                        uint32_t gpu_count, const uint32_t **ret, struct myr_err *err)
{
    bool numbered = hosts->gpu_of_node && format == MYR_TRACE_HPCC;
    uint32_t known = numbered ? hosts->node_count : gpu_count;
    *ret = numbered ? hosts->gpu_of_node : hosts->gpu_of_rank;
    if (trace->ranks > known) {
        return myr_err_set(err, MYR_EINVAL, "%s: the file has %u ranks, the fabric has %u %s",
                           source->path, trace->ranks, known, numbered ? "nodes" : "GPUs");
    }
    for (size_t i = 0; numbered && i < trace->ops.count; i++) {
        const struct myr_trace_op *op = &trace->ops.items[i];
        bool from = hosts->gpu_of_node[op->from] != MYR_NONE;
        if (!from || hosts->gpu_of_node[op->to] == MYR_NONE) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s:%u:1: node %u is a switch of the topology, a host is expected",
                               source->path, op->line, from ? op->to : op->from);
        }
    }
    return MYR_OK;
}

int sim_file_load(struct myr_sim *sim, const struct myr_graph *graph, const struct sim_hosts *hosts,
                  const char *text, struct sim_load *ret, struct myr_err *err)
{
    const struct myr_design_head *head = graph->design->head;
    struct source source = {0};
    struct myr_trace trace = {0};
    struct myr_trace_tasks tasks = {0};
    const uint32_t *gpus = NULL;
    uint32_t format = 0;
    int r = open_source(&source, "--workload", text, err);
    struct myr_str content = {source.text.len ? source.text.data : "", source.text.len};
    if (r == MYR_OK) {
        r = pick_format(&source, "--workload", myr_trace_format_names, MYR_TRACE_FORMAT_COUNT,
                        myr_trace_guess(source.path, content), &format, err);
    }
    if (r == MYR_OK) {
        r = myr_trace_read(source.path, content, (enum myr_trace_format)format, &trace, err);
    }
    r = r < 0 ? r : limit_endless(&source, &trace, err);
    r = r < 0 ? r
              : choose_hosts(&source, &trace, (enum myr_trace_format)format, hosts, head->gpus,
                             &gpus, err);
    r = r < 0 ? r : myr_load_trace(sim, &trace, gpus, head->gpus_per_node, &tasks, err);
    ret->first_flow = tasks.first_message;
    ret->flow_count = tasks.message_count;
    myr_trace_done(&trace);
    myr_buf_done(&source.text);
    return r;
}

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
                   "nics: {sim-nic: {technology: ethernet, form: sim, port_gbps: %u}}\n"
                   "servers: {sim-host: {gpu: h100-sxm, gpus_per_node: 1, "
                   "nics: {compute: {nic: sim-nic, count: 1}}}}\n",
                   shape->host_gbps);
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

static void put_spec(const struct myr_clos_shape *shape, struct myr_buf *yaml)
{
    myr_buf_printf(yaml,
                   "{name: file, servers: %u, server: sim-host, networks: {compute: {topology: "
                   "clos, switch: sim-leaf, tiers: %u, nic_gbps: %u, leaf_down: %u",
                   shape->hosts, shape->tiers, shape->host_gbps, shape->leaf_hosts);
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
                       (unsigned long long)((down % up * 1000000 + up - 1) / up));
    }
    if (!equal_delays(shape)) {
        put_lengths(shape, yaml);
    }
    myr_buf_put_lit(yaml, "}}}");
}

/* The planner must have built what the file says, switch for switch. */
static int check_built(const struct sim_topology *topology, const struct myr_clos_shape *shape,
                       const char *path, struct myr_err *err)
{
    const struct myr_network *net = &topology->design.networks[MYR_NET_COMPUTE];
    uint32_t spines = shape->pods * shape->pod_spines;
    if (net->host_ports == shape->hosts && net->leaf == shape->pods * shape->pod_leaves &&
        net->spine == spines && net->core == shape->cores) {
        return MYR_OK;
    }
    return myr_err_set(err, MYR_EINVAL,
                       "%s: %u hosts on %u leaves, %u spines and %u cores cannot be built: the "
                       "planner's Clos has %u, %u and %u",
                       path, shape->hosts, shape->pods * shape->pod_leaves, spines, shape->cores,
                       net->leaf, net->spine, net->core);
}

static int read_yaml(struct sim_topology *topology, const struct myr_buf *yaml, const char *path,
                     const struct myr_doc **ret, struct myr_err *err)
{
    struct myr_str text = {myr_arena_strndup(&topology->arena, yaml->data, yaml->len), yaml->len};
    return myr_doc_read_yaml(&topology->arena, path, text, ret, err);
}

static int build(struct sim_topology *topology, const struct myr_clos_shape *shape,
                 const char *path, struct myr_err *err)
{
    struct myr_buf yaml = {0};
    const struct myr_doc *doc;
    put_parts(shape, &yaml);
    int r = check_delays(shape, path, err);
    r = r < 0 ? r : read_yaml(topology, &yaml, path, &doc, err);
    r = r < 0 ? r : myr_catalog_add(&topology->catalog, doc, err);
    myr_buf_clear(&yaml);
    put_spec(shape, &yaml);
    r = r < 0 ? r : read_yaml(topology, &yaml, path, &doc, err);
    r = r < 0 ? r : myr_spec_read(&topology->arena, &topology->catalog, doc, &topology->spec, err);
    if (r == MYR_OK) {
        r = myr_plan(&topology->arena, &topology->catalog, &topology->spec, &topology->design, err);
    }
    r = r < 0 ? r : check_built(topology, shape, path, err);
    topology->delay_ps = equal_delays(shape) ? shape->delay_ps[0] : -1;
    topology->switch_ps = shape->switch_ps;
    myr_buf_done(&yaml);
    return r;
}

/* Keeps the numbers of the hosts, for traffic that names them. */
static void keep_hosts(struct sim_topology *topology, const struct myr_clos_shape *shape)
{
    if (!shape->gpu_of_node) {
        return;
    }
    size_t count = shape->node_count;
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
    topology->hosts = (struct sim_hosts){by_node, by_rank, shape->node_count};
}

int sim_file_topology(struct sim_topology *topology, const char *text, struct myr_err *err)
{
    struct source source = {0};
    struct myr_clos_shape shape;
    uint32_t format = 0;
    int r = open_source(&source, "--topology", text, err);
    if (r == MYR_OK) {
        r = pick_format(&source, "--topology", myr_shape_format_names, MYR_SHAPE_FORMAT_COUNT,
                        myr_shape_guess(source.path), &format, err);
    }
    if (r == MYR_OK) {
        struct myr_str content = {source.text.len ? source.text.data : "", source.text.len};
        r = myr_shape_read(source.path, content, (enum myr_shape_format)format, &shape, err);
    }
    if (r == MYR_OK) {
        const char *path = myr_arena_strndup(&topology->arena, source.path, strlen(source.path));
        r = build(topology, &shape, path, err);
        keep_hosts(topology, &shape);
        myr_shape_done(&shape);
    }
    myr_buf_done(&source.text);
    return r;
}
