#include "myriad/fabric/flows.h"

#include <stdlib.h>

#include "myriad/text/csv.h"

enum { FLOW_FILE_MAX = 1 << 30 };

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

uint32_t myr_flow_port(const struct myr_graph *graph, uint32_t gpu)
{
    const struct myr_design_head *head = graph->design->head;
    uint32_t node = gpu / head->gpus_per_node;
    if (node >= head->nodes) {
        return MYR_NONE;
    }
    const struct myr_port_group *group = nic_group(graph, head->first_node + node);
    if (!group) {
        return MYR_NONE;
    }
    /* The NIC beside the GPU; several GPUs share one where there are fewer NICs. */
    uint32_t nics = group->count / graph->net->planes;
    uint32_t nic = (uint32_t)((uint64_t)(gpu % head->gpus_per_node) * nics / head->gpus_per_node);
    return graph->design->first_port[head->first_node + node] + group->first +
           nic * graph->net->planes;
}

static void put_flow(struct myr_flows *flows, uint32_t from, uint32_t to, uint32_t share)
{
    struct myr_flow flow = {.from_port = from, .to_port = to, .share = share};
    /* Each connection gets its own source port, as RDMA stacks do from the queue pair's number. */
    flow.source = (uint16_t)(0xC000 | (myr_hash_u64((uint64_t)from << 32 | to) & 0x3FFF));
    myr_vec_push(&flows->items, flow);
}

/* "gpu/00042/3", or "node/00042:nic3" and the like. */
static uint32_t parse_end(const struct myr_graph *graph, struct myr_str text)
{
    const struct myr_design *design = graph->design;
    if (text.len > 4 && memcmp(text.data, "gpu/", 4) == 0) {
        const char *slash = memchr(text.data + 4, '/', text.len - 4);
        uint64_t node, gpu;
        if (!slash ||
            !myr_str_to_u64((struct myr_str){text.data + 4, (size_t)(slash - text.data) - 4},
                            &node) ||
            !myr_str_to_u64((struct myr_str){slash + 1, text.len - (size_t)(slash - text.data) - 1},
                            &gpu) ||
            node >= design->head->nodes || gpu >= design->head->gpus_per_node) {
            return MYR_NONE;
        }
        return myr_flow_port(graph, (uint32_t)node * design->head->gpus_per_node + (uint32_t)gpu);
    }
    const char *colon = memchr(text.data, ':', text.len);
    if (!colon) {
        return MYR_NONE;
    }
    uint32_t device =
        myr_design_find(design, (struct myr_str){text.data, (size_t)(colon - text.data)});
    if (device == MYR_NONE || !nic_group(graph, device)) {
        return MYR_NONE;
    }
    struct myr_str wanted = {colon + 1, text.len - (size_t)(colon - text.data) - 1};
    struct myr_buf name = {0};
    uint32_t found = MYR_NONE;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        myr_buf_clear(&name);
        myr_design_port_name(design, p, &name);
        if (myr_str_eq((struct myr_str){name.data, name.len}, wanted)) {
            found = p;
        }
    }
    myr_buf_done(&name);
    return found;
}

static int read_row(struct myr_flows *flows, const struct myr_graph *graph,
                    const struct myr_csv *csv, struct myr_err *err)
{
    uint32_t ends[2];
    double share = 1;
    uint64_t source = 0;
    if (csv->count < 2 || csv->count > 4) {
        return myr_csv_error(err, csv, 0,
                             "a flow has 2 to 4 fields, from,to[,share[,source_port]]");
    }
    for (uint32_t i = 0; i < 2; i++) {
        ends[i] = parse_end(graph, csv->fields[i]);
        if (ends[i] == MYR_NONE) {
            return myr_csv_error(err, csv, i,
                                 "'%.*s' is no host port of this network; gpu/00042/3 or "
                                 "node/00042:nic3 is expected",
                                 csv->fields[i].len > 40 ? 40 : (int)csv->fields[i].len,
                                 csv->fields[i].data);
        }
    }
    if (csv->count > 2 && (!myr_str_to_double(csv->fields[2], &share) || share <= 0 || share > 1)) {
        return myr_csv_error(err, csv, 2, "the share must be a number above 0 and at most 1");
    }
    if (csv->count > 3 && (!myr_str_to_u64(csv->fields[3], &source) || source > 65535)) {
        return myr_csv_error(err, csv, 3, "the source port must be a whole number up to 65535");
    }
    uint32_t milli = (uint32_t)(share * 1000 + 0.5);
    put_flow(flows, ends[0], ends[1], milli ? milli : 1);
    if (source) {
        flows->items.items[flows->items.count - 1].source = (uint16_t)source;
    }
    return MYR_OK;
}

int myr_flows_read(struct myr_flows *flows, const struct myr_graph *graph, const char *path,
                   struct myr_err *err)
{
    struct myr_buf text = {0};
    struct myr_arena arena;
    myr_arena_init(&arena);
    int r = myr_file_read(path, FLOW_FILE_MAX, &text, err);
    if (r == MYR_OK) {
        struct myr_csv *csv = MYR_ARENA_NEW(&arena, struct myr_csv, 1);
        myr_csv_init(csv, &arena, path, (struct myr_str){text.data, text.len});
        bool first = true;
        while ((r = myr_csv_next(csv, err)) > 0) {
            bool header = first && myr_str_eq(csv->fields[0], MYR_STR("from"));
            first = false;
            if (!header) {
                r = read_row(flows, graph, csv, err);
                if (r < 0) {
                    break;
                }
            }
        }
    }
    myr_buf_done(&text);
    myr_arena_done(&arena);
    return r;
}

int myr_flows_rings(struct myr_flows *flows, const struct myr_graph *graph,
                    const struct myr_layout *layout, enum myr_axis axis, const uint32_t *nodes,
                    uint32_t node_count, struct myr_err *err)
{
    const struct myr_design_head *head = graph->design->head;
    uint64_t gpus = (uint64_t)(nodes ? node_count : head->nodes) * head->gpus_per_node;
    if (myr_layout_gpus(layout) > gpus) {
        return myr_err_set(err, MYR_EINVAL, "the layout needs %llu GPUs, the nodes have %llu",
                           (unsigned long long)myr_layout_gpus(layout), (unsigned long long)gpus);
    }
    struct myr_groups groups;
    myr_groups_init(&groups, layout, axis);
    for (uint32_t g = 0; g < groups.group_count && groups.group_size > 1; g++) {
        for (uint32_t m = 0; m < groups.group_size; m++) {
            uint32_t ends[2] = {myr_groups_member(&groups, g, m),
                                myr_groups_member(&groups, g, (m + 1) % groups.group_size)};
            uint32_t gpu[2];
            for (uint32_t i = 0; i < 2; i++) {
                uint32_t slot = ends[i] / head->gpus_per_node;
                gpu[i] = (nodes ? nodes[slot] : slot) * head->gpus_per_node +
                         ends[i] % head->gpus_per_node;
            }
            uint32_t domain = head->scale_up_gpus ? head->scale_up_gpus : 1;
            if (gpu[0] / domain != gpu[1] / domain) {
                put_flow(flows, myr_flow_port(graph, gpu[0]), myr_flow_port(graph, gpu[1]), 1000);
            }
        }
    }
    return MYR_OK;
}

void myr_flows_shift(struct myr_flows *flows, const struct myr_graph *graph, uint32_t step)
{
    uint32_t gpus = graph->design->head->gpus;
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        uint32_t to = (uint32_t)(((uint64_t)gpu + step) % gpus);
        put_flow(flows, myr_flow_port(graph, gpu), myr_flow_port(graph, to), 1000);
    }
}

void myr_flows_permutation(struct myr_flows *flows, const struct myr_graph *graph, uint64_t seed)
{
    uint32_t gpus = graph->design->head->gpus;
    uint32_t *order = myr_xrealloc(NULL, gpus, sizeof(*order));
    struct myr_rng rng;
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
    for (uint32_t i = 0; i < gpus && gpus > 1; i++) {
        put_flow(flows, myr_flow_port(graph, i), myr_flow_port(graph, order[i]), 1000);
    }
    free(order);
}
