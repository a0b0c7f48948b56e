#include "myriad/fabric/flows.h"

#include <stdlib.h>

#include "myriad/text/csv.h"
#include "myriad/text/kind.h"

/*
 * Where flows come from: a file of rows, the groups of a layout, or a pattern over all GPUs. All of
 * them end as pairs of host ports with a share of the port's rate; flows that stay inside a
 * scale-up domain, or have one port for both ends, never become any.
 */

/* Bytes of a file, and flows in all. */
enum { FLOW_FILE_MAX = 1 << 30, FLOWS_MAX = 1 << 24 };

const char *const myr_traffic_names[MYR_TRAFFIC_COUNT] = {"ring", "tree", "all-to-all"};

void myr_flows_done(struct myr_flows *flows)
{
    myr_vec_done(&flows->items);
}

/* Ports of a host for this network: the group of its type, or NULL. */
static const struct myr_port_group *nic_group(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_devtype *type = &graph->design->devtypes[graph->design->device_type[device]];
    for (uint32_t i = 0; i < type->group_count; i++) {
        if (type->groups[i].role == MYR_PORT_NIC && type->groups[i].net == graph->net_id) {
            return &type->groups[i];
        }
    }
    return NULL;
}

uint32_t myr_host_nics(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_port_group *group = nic_group(graph, device);
    return group ? group->count / graph->net->planes : 0;
}

uint32_t myr_host_port(const struct myr_graph *graph, uint32_t device, uint32_t nic)
{
    MYR_SLOW_ASSERT(nic < myr_host_nics(graph, device));
    return graph->design->first_port[device] + nic_group(graph, device)->first +
           nic * graph->net->planes;
}

uint32_t myr_flow_port(const struct myr_graph *graph, uint32_t gpu)
{
    const struct myr_design_head *head = graph->design->head;
    uint32_t node = gpu / head->gpus_per_node;
    /* A GPU that the design does not have. */
    if (node >= head->nodes) {
        return MYR_NONE;
    }
    uint32_t nics = myr_host_nics(graph, head->first_node + node);
    if (nics == 0) {
        return MYR_NONE;
    }
    /* The NIC beside the GPU; several GPUs share one where there are fewer NICs. */
    uint32_t nic = (uint32_t)((uint64_t)(gpu % head->gpus_per_node) * nics / head->gpus_per_node);
    return myr_host_port(graph, head->first_node + node, nic);
}

static void put_flow(struct myr_flows *flows, uint32_t from, uint32_t to, uint32_t share)
{
    struct myr_flow flow = {.from_port = from, .to_port = to, .share = share};
    /* Each connection gets its own source port, as RDMA stacks do from the queue pair's number. */
    flow.source = (uint16_t)(0xC000 | (myr_hash_u64((uint64_t)from << 32 | to) & 0x3FFF));
    myr_vec_push(&flows->items, flow);
}

/* "gpu/00042/3" */
static uint32_t parse_gpu(const struct myr_graph *graph, struct myr_str text)
{
    const struct myr_design_head *head = graph->design->head;
    const char *slash = memchr(text.data, '/', text.len);
    uint64_t node, gpu;
    if (!slash) {
        return MYR_NONE;
    }
    struct myr_str first = {text.data, (size_t)(slash - text.data)};
    struct myr_str second = {slash + 1, text.len - first.len - 1};
    if (!myr_str_to_u64(first, &node) || !myr_str_to_u64(second, &gpu) || node >= head->nodes ||
        gpu >= head->gpus_per_node) {
        return MYR_NONE;
    }
    return myr_flow_port(graph, (uint32_t)node * head->gpus_per_node + (uint32_t)gpu);
}

/* "node/00042:nic3" */
static uint32_t parse_port(const struct myr_graph *graph, struct myr_str text)
{
    const struct myr_design *design = graph->design;
    const char *colon = memchr(text.data, ':', text.len);
    if (!colon) {
        return MYR_NONE;
    }
    struct myr_str host = {text.data, (size_t)(colon - text.data)};
    struct myr_str wanted = {colon + 1, text.len - host.len - 1};
    uint32_t device = myr_design_find(design, host), found = MYR_NONE;
    /* Only ports of this network: others have names of their own. */
    const struct myr_port_group *group = device == MYR_NONE ? NULL : nic_group(graph, device);
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    for (uint32_t i = 0; group && i < group->count && found == MYR_NONE; i++) {
        uint32_t port = design->first_port[device] + group->first + i;
        myr_buf_clear(&name);
        myr_design_port_name(design, port, &name);
        if (myr_str_eq((struct myr_str){name.data, name.len}, wanted)) {
            found = port;
        }
    }
    return found;
}

/* The three spellings of an end; MYR_NONE for anything else. */
static uint32_t parse_end(const struct myr_graph *graph, struct myr_str text)
{
    bool gpu = text.len > 4 && memcmp(text.data, "gpu/", 4) == 0;
    uint64_t number;
    uint32_t port;
    if (gpu) {
        port = parse_gpu(graph, (struct myr_str){text.data + 4, text.len - 4});
    } else if (myr_str_to_u64(text, &number)) { /* as ranks count: node by node */
        port =
            number < graph->design->head->gpus ? myr_flow_port(graph, (uint32_t)number) : MYR_NONE;
    } else {
        port = parse_port(graph, text);
    }
    /* A port that is planned but not cabled is as good as none. */
    return port != MYR_NONE && graph->design->port_link[port] != MYR_NONE ? port : MYR_NONE;
}

/* One row becomes one flow; what is missing has a default. */
static int read_row(struct myr_flows *flows, const struct myr_graph *graph,
                    const struct myr_csv *csv, struct myr_err *err)
{
    uint32_t ends[2];
    double share = 1;
    uint64_t source = 0;
    if (csv->count < 2 || csv->count > 4) {
        return myr_csv_error(err, csv, 0,
                             "%u field%s; a flow has 2 to 4, from,to[,share[,source_port]]",
                             csv->count, csv->count == 1 ? "" : "s");
    }
    for (uint32_t i = 0; i < 2; i++) {
        ends[i] = parse_end(graph, csv->fields[i]);
        if (ends[i] == MYR_NONE) {
            return myr_csv_error(err, csv, i,
                                 "'%.*s' is no host port of the %s network; a GPU's number, "
                                 "gpu/00042/3 or node/00042:nic3 is expected",
                                 csv->fields[i].len > 40 ? 40 : (int)csv->fields[i].len,
                                 csv->fields[i].data, myr_net_names[graph->net_id]);
        }
    }
    if (ends[0] == ends[1]) {
        return myr_csv_error(err, csv, 1, "the flow ends where it begins");
    }
    if (csv->count > 2 &&
        (!myr_str_to_double(csv->fields[2], &share) || !(share > 0 && share <= 1))) {
        return myr_csv_error(err, csv, 2, "the share must be a number above 0 and at most 1");
    }
    if (csv->count > 3 && (!myr_str_to_u64(csv->fields[3], &source) || source > 65535)) {
        return myr_csv_error(err, csv, 3, "the source port must be a whole number up to 65535");
    }
    if (flows->items.count >= FLOWS_MAX) {
        return myr_csv_error(err, csv, 0, "more than %d flows", FLOWS_MAX);
    }
    uint32_t part = (uint32_t)(share * MYR_SHARE_ONE + 0.5);
    /* A share too small to count is still a flow. */
    put_flow(flows, ends[0], ends[1], part ? part : 1);
    if (source) {
        flows->items.items[flows->items.count - 1].source = (uint16_t)source;
    }
    return MYR_OK;
}

/* A header that the list of cables and the list of flows may share does not settle it. */
#define MYR_KINDS_FLOWS \
    (MYR_KIND_BIT(CSV) | MYR_KIND_BIT(P2P) | MYR_KIND_BIT(TEXT) | MYR_KIND_BIT(EMPTY))

static const char flows_expected[] = "a list of flows (from,to in CSV)";

int myr_flows_parse(struct myr_flows *flows, const struct myr_graph *graph, const char *name,
                    struct myr_str text, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    size_t before = flows->items.count;
    bool first = true;
    int rc = myr_kind_check(name, text, MYR_KINDS_FLOWS, flows_expected, err);
    if (rc < 0) {
        return rc;
    }
    myr_arena_init(&arena);
    struct myr_csv *csv = MYR_ARENA_ONE(&arena, struct myr_csv);
    myr_csv_init(csv, &arena, name, text);
    while ((rc = myr_csv_next(csv, err)) > 0) {
        /* Only the first row can be a header: "from" is no name of an end. */
        bool header = first && myr_str_eq(csv->fields[0], MYR_STR("from"));
        first = false;
        if (header) {
            myr_csv_is_header(csv);
        }
        rc = header ? MYR_OK : read_row(flows, graph, csv, err);
        if (rc < 0) {
            break;
        }
    }
    if (rc == MYR_OK && flows->items.count == before) {
        rc = myr_err_set(err, MYR_EINVAL, "%s:1:1: there is no flow in it", name);
    }
    if (rc < 0) {
        /* All or nothing: flows that were there before stay. */
        flows->items.count = before;
    }
    return rc;
}

int myr_flows_read(struct myr_flows *flows, const struct myr_graph *graph, const char *path,
                   struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_kind_read(path, FLOW_FILE_MAX, MYR_KINDS_FLOWS, flows_expected, &text, err));
    return myr_flows_parse(flows, graph, myr_file_name(path), (struct myr_str){text.data, text.len},
                           err);
}

/* --- from a layout */

struct group_flows {
    struct myr_flows *flows;
    const struct myr_graph *graph;
    const struct myr_ranks_on *ranks; /* which GPU each rank is on */
    struct myr_groups groups;
    uint32_t group; /* the one at hand */
};

/* Ranks fill the nodes of the job in the order given, all GPUs of one before the next. */
static uint32_t gpu_of(const struct group_flows *job, uint32_t member)
{
    uint32_t per_node = job->graph->design->head->gpus_per_node;
    uint32_t rank = myr_groups_member(&job->groups, job->group, member);
    uint32_t slot = rank / per_node;
    return (job->ranks->nodes ? job->ranks->nodes[slot] : slot) * per_node + rank % per_node;
}

/* What stays inside a scale-up domain never becomes a flow. */
static void send(const struct group_flows *job, uint32_t from, uint32_t to, uint32_t share)
{
    const struct myr_design_head *head = job->graph->design->head;
    uint32_t domain = head->scale_up_gpus ? head->scale_up_gpus : 1;
    uint32_t a = gpu_of(job, from), b = gpu_of(job, to);
    uint32_t a_port = myr_flow_port(job->graph, a), b_port = myr_flow_port(job->graph, b);
    if (a / domain != b / domain && a_port != b_port && share > 0) {
        put_flow(job->flows, a_port, b_port, share);
    }
}

/*
 * A heap over the members in order, and one over them in reverse: who is a leaf of one tree is
 * inside the other. A member has at most three edges each way in one and one in the other.
 */
static void send_trees(const struct group_flows *job, uint32_t size)
{
    for (uint32_t i = 1; i < size; i++) {
        /* As in an array heap; the second tree is the same one from the other end. */
        uint32_t parent = (i - 1) / 2;
        uint32_t ends[2][2] = {{i, parent}, {size - 1 - i, size - 1 - parent}};
        for (uint32_t tree = 0; tree < 2; tree++) {
            send(job, ends[tree][0], ends[tree][1], MYR_SHARE_ONE / 4);
            send(job, ends[tree][1], ends[tree][0], MYR_SHARE_ONE / 4);
        }
    }
}

/* Groups have two members at least: the caller sees to that. */
static void send_pattern(const struct group_flows *job, enum myr_traffic pattern)
{
    uint32_t size = job->groups.group_size;
    if (pattern == MYR_TRAFFIC_TREE) {
        send_trees(job, size);
        return;
    }
    /* A ring sends to the next one alone, all-to-all to everybody else in equal parts. */
    uint64_t others = pattern == MYR_TRAFFIC_RING ? 1 : size - 1;
    for (uint32_t member = 0; member < size; member++) {
        for (uint64_t step = 1; step <= others; step++) {
            /* Differences of rounded sums: the parts add up to exactly one whole. */
            uint64_t share = MYR_SHARE_ONE * step / others - MYR_SHARE_ONE * (step - 1) / others;
            send(job, member, (uint32_t)((member + step) % size), (uint32_t)share);
        }
    }
}

int myr_flows_groups(struct myr_flows *flows, const struct myr_graph *graph,
                     const struct myr_ranks_on *ranks, enum myr_axis axis, enum myr_traffic pattern,
                     struct myr_err *err)
{
    const struct myr_design_head *head = graph->design->head;
    uint64_t nodes = ranks->nodes ? ranks->node_count : head->nodes;
    uint64_t gpus = nodes * head->gpus_per_node, wanted = myr_layout_gpus(ranks->layout);
    struct group_flows job = {.flows = flows, .graph = graph, .ranks = ranks};
    /* Fewer are fine: the rest stays idle. */
    if (wanted > gpus) {
        return myr_err_set(err, MYR_EINVAL, "the layout needs %llu GPUs, the nodes have %llu",
                           (unsigned long long)wanted, (unsigned long long)gpus);
    }
    /* Nodes are of one kind: the first GPU tells of all. */
    if (gpus > 0 && myr_flow_port(graph, 0) == MYR_NONE) {
        return myr_err_set(err, MYR_EINVAL, "GPU nodes have no port on the %s network",
                           myr_net_names[graph->net_id]);
    }
    myr_groups_init(&job.groups, ranks->layout, axis);
    uint64_t size = job.groups.group_size;
    /* Flows of a group, before those inside a domain are left out: a bound is enough. */
    uint64_t each = pattern == MYR_TRAFFIC_ALL_TO_ALL ? size * (size - 1)
                    : pattern == MYR_TRAFFIC_TREE     ? 4 * (size - 1)
                                                      : size;
    if (size > 1 && each > (FLOWS_MAX - flows->items.count) / job.groups.group_count) {
        return myr_err_set(err, MYR_ERANGE, "%s over %s would be more than %d flows",
                           myr_traffic_names[pattern], myr_axis_name(axis), FLOWS_MAX);
    }
    for (job.group = 0; job.group < job.groups.group_count && size > 1; job.group++) {
        send_pattern(&job, pattern);
    }
    return MYR_OK;
}

/*
 * A flow is limited by the fuller one of its two ports. Ports that are not overbooked keep what
 * they ask for.
 */
void myr_flows_fit(struct myr_flows *flows, const struct myr_design *design)
{
    size_t ports = (size_t)design->port_count + 1;
    MYR_CLEANUP(myr_free_at) uint64_t *asked = myr_xcalloc(2 * ports, sizeof(*asked));
    /* By port, in one piece of memory. */
    uint64_t *sent = asked, *received = asked + ports;
    for (size_t i = 0; i < flows->items.count; i++) {
        const struct myr_flow *flow = &flows->items.items[i];
        sent[flow->from_port] += flow->share;
        received[flow->to_port] += flow->share;
    }
    for (size_t i = 0; i < flows->items.count; i++) {
        struct myr_flow *flow = &flows->items.items[i];
        uint64_t out = sent[flow->from_port], in = received[flow->to_port];
        uint64_t more = out > in ? out : in;
        if (more > MYR_SHARE_ONE) {
            uint64_t share = (uint64_t)flow->share * MYR_SHARE_ONE / more;
            flow->share = share ? (uint32_t)share : 1;
        }
    }
}

/* Between GPUs, where both have a port and not the same one. */
static void put_pair(struct myr_flows *flows, const struct myr_graph *graph, uint32_t from,
                     uint32_t to)
{
    uint32_t a = myr_flow_port(graph, from), b = myr_flow_port(graph, to);
    if (a != MYR_NONE && b != MYR_NONE && a != b) {
        put_flow(flows, a, b, MYR_SHARE_ONE);
    }
}

/* Every GPU sends to the one so many places on, round. */
void myr_flows_shift(struct myr_flows *flows, const struct myr_graph *graph, uint32_t step)
{
    uint32_t gpus = graph->design->head->gpus;
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        put_pair(flows, graph, gpu, (uint32_t)(((uint64_t)gpu + step) % gpus));
    }
}

void myr_flows_permutation(struct myr_flows *flows, const struct myr_graph *graph, uint64_t seed)
{
    uint32_t gpus = graph->design->head->gpus;
    MYR_CLEANUP(myr_free_at) uint32_t *order = myr_xcalloc(gpus, sizeof(*order));
    struct myr_rng rng;
    /* The same seed gives the same flows. */
    myr_rng_init(&rng, seed, 1);
    for (uint32_t i = 0; i < gpus; i++) {
        order[i] = i;
    }
    /* Sattolo: one cycle through all, so nobody sends to itself. */
    for (uint32_t i = gpus; i > 1; i--) {
        uint32_t other = myr_rng_below(&rng, i - 1);
        uint32_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; i < gpus; i++) {
        put_pair(flows, graph, i, order[i]);
    }
}
