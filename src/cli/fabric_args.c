#include "fabric_args.h"

#include <stdio.h>

static const enum myr_axis job_axes[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_DP, MYR_AXIS_PP,
                                         MYR_AXIS_EP};

int fabric_for_each(const char *text,
                    int (*each)(void *context, struct myr_str piece, struct myr_err *err),
                    void *context, struct myr_err *err)
{
    int r = MYR_OK;
    while (r == MYR_OK && *text) {
        size_t len = strcspn(text, ",");
        r = each(context, (struct myr_str){text, len}, err);
        text += len + (text[len] == ',');
    }
    return r;
}

static int shown(struct myr_str text)
{
    return text.len > 40 ? 40 : (int)text.len;
}

static bool starts_with(struct myr_str text, const char *start)
{
    size_t len = strlen(start);
    return text.len >= len && memcmp(text.data, start, len) == 0;
}

/* --- names */

const char *fabric_device_name(struct myr_arena *arena, const struct myr_design *design,
                               uint32_t device)
{
    struct myr_buf buf = {0};
    myr_design_name(design, device, &buf);
    const char *name = myr_arena_strndup(arena, buf.data, buf.len);
    myr_buf_done(&buf);
    return name;
}

const char *fabric_port_name(struct myr_arena *arena, const struct myr_design *design,
                             uint32_t port)
{
    struct myr_buf buf = {0};
    myr_design_name(design, design->port_device[port], &buf);
    myr_buf_putc(&buf, ':');
    myr_design_port_name(design, port, &buf);
    const char *name = myr_arena_strndup(arena, buf.data, buf.len);
    myr_buf_done(&buf);
    return name;
}

const char *fabric_link_name(struct myr_arena *arena, uint32_t link)
{
    return myr_arena_printf(arena, "link/%08u", link);
}

int fabric_find_link(const struct myr_graph *graph, struct myr_str name, uint32_t *ret,
                     struct myr_err *err)
{
    uint64_t link;
    if (!starts_with(name, "link/") ||
        !myr_str_to_u64((struct myr_str){name.data + 5, name.len - 5}, &link) ||
        link >= graph->design->link_count) {
        return myr_err_set(err, MYR_ENOENT,
                           "'%.*s' is no link of this design; link/00000123 is expected",
                           shown(name), name.data);
    }
    if (!myr_graph_has_link(graph, (uint32_t)link)) {
        return myr_err_set(err, MYR_ENOENT, "'%.*s' is not on the %s network", shown(name),
                           name.data, myr_net_names[graph->net_id]);
    }
    *ret = (uint32_t)link;
    return MYR_OK;
}

int fabric_find_device(const struct myr_graph *graph, struct myr_str name, uint32_t *ret,
                       struct myr_err *err)
{
    uint32_t device = myr_design_find(graph->design, name);
    if (device == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "'%.*s' is no device of this design", shown(name),
                           name.data);
    }
    *ret = device;
    return MYR_OK;
}

/* --- flows */

int fabric_layout(const char *text, uint64_t gpus, struct myr_layout *ret, struct myr_err *err)
{
    /* The same keys as in a file: "tp=8,pp=4" is {tp: 8, pp: 4}. */
    struct myr_buf yaml = {0};
    struct myr_arena arena;
    const struct myr_doc *doc;
    myr_buf_putc(&yaml, '{');
    for (const char *c = text; *c; c++) {
        if (*c == '=') {
            myr_buf_put_lit(&yaml, ": ");
        } else {
            myr_buf_putc(&yaml, *c);
            if (*c == ',') {
                myr_buf_putc(&yaml, ' ');
            }
        }
    }
    myr_buf_putc(&yaml, '}');
    myr_arena_init(&arena);
    int r = myr_doc_read_yaml(&arena, "--layout", (struct myr_str){yaml.data, yaml.len}, &doc, err);
    r = r < 0 ? r : myr_layout_parse(doc, gpus, ret, err);
    myr_arena_done(&arena);
    myr_buf_done(&yaml);
    return r;
}

static int kill_one(void *context, struct myr_str name, struct myr_err *err)
{
    struct fabric_input *input = context;
    struct myr_graph *graph = &input->graph;
    uint32_t before = graph->dead_count, id = MYR_NONE;
    int r;
    if (starts_with(name, "link/")) {
        r = fabric_find_link(graph, name, &id, err);
        if (r == MYR_OK) {
            myr_graph_set_link(graph, id, true);
        }
    } else {
        r = fabric_find_device(graph, name, &id, err);
        if (r == MYR_OK) {
            myr_graph_set_device(graph, id, true);
        }
    }
    input->dead_count += graph->dead_count - before;
    return r;
}

typedef MYR_VEC(uint32_t) node_list;

struct node_context {
    const struct myr_design *design;
    node_list *nodes;
};

/* "42", "node/00042", or "40-47". */
static int add_nodes(void *context, struct myr_str name, struct myr_err *err)
{
    struct node_context *list = context;
    const struct myr_design *design = list->design;
    uint64_t first, last, nodes = design->head->nodes;
    const char *dash = memchr(name.data, '-', name.len);
    uint32_t device = myr_design_find(design, name);
    size_t left = dash ? (size_t)(dash - name.data) : name.len;
    bool numbers = myr_str_to_u64((struct myr_str){name.data, left}, &first);
    last = first;
    if (numbers && dash) {
        numbers = myr_str_to_u64((struct myr_str){dash + 1, name.len - left - 1}, &last);
    }
    if (device != MYR_NONE && design->place[device].kind == MYR_DEVICE_NODE) {
        first = last = device - design->head->first_node;
    } else if (!numbers || first > last || last >= nodes) {
        return myr_err_set(err, MYR_ENOENT,
                           "'%.*s' is no node; node/00042, 42 or 40-47 is expected, below %llu",
                           shown(name), name.data, (unsigned long long)nodes);
    }
    for (uint64_t node = first; node <= last; node++) {
        myr_vec_push(list->nodes, (uint32_t)node);
    }
    return MYR_OK;
}

static int add_axes(struct fabric_input *input, const struct fabric_args *args,
                    const struct myr_ranks_on *ranks, struct myr_err *err)
{
    bool all = strcmp(args->axis, "all") == 0, met = false;
    int r = MYR_OK;
    for (uint32_t i = 0; r == MYR_OK && i < MYR_ARRAY_COUNT(job_axes); i++) {
        if (all || strcmp(args->axis, myr_axis_name(job_axes[i])) == 0) {
            met = true;
            r = myr_flows_groups(&input->flows, &input->graph, ranks, job_axes[i],
                                 (enum myr_traffic)args->pattern, err);
        }
    }
    if (r == MYR_OK && !met) {
        r = myr_err_set(err, MYR_EINVAL, "unknown axis '%.20s'; tp, cp, dp, pp, ep or all",
                        args->axis);
    }
    return r;
}

static int layout_flows(struct fabric_input *input, const struct fabric_args *args,
                        struct myr_err *err)
{
    node_list nodes = {0};
    struct node_context context = {&input->design, &nodes};
    const struct myr_design_head *head = input->design.head;
    struct myr_layout layout;
    int r = args->nodes ? fabric_for_each(args->nodes, add_nodes, &context, err) : MYR_OK;
    uint64_t gpus = (uint64_t)(args->nodes ? nodes.count : head->nodes) * head->gpus_per_node;
    r = r < 0 ? r : fabric_layout(args->layout ? args->layout : "tp=1", gpus, &layout, err);
    if (r == MYR_OK) {
        struct myr_ranks_on ranks = {&layout, args->nodes ? nodes.items : NULL,
                                     (uint32_t)nodes.count};
        r = add_axes(input, args, &ranks, err);
        /* All axes at once: a port divides its rate among them. */
        myr_flows_fit(&input->flows, &input->design);
    }
    myr_vec_done(&nodes);
    return r;
}

static int make_flows(struct fabric_input *input, const struct fabric_args *args, bool need,
                      struct myr_err *err)
{
    uint64_t seed;
    int r = MYR_OK;
    if (args->flows) {
        r = myr_flows_read(&input->flows, &input->graph, args->flows, err);
    } else if (args->seed) {
        if (!myr_str_to_u64(myr_str_from(args->seed), &seed)) {
            return myr_err_set(err, MYR_EINVAL, "'%.20s' is no seed; a whole number is expected",
                               args->seed);
        }
        myr_flows_permutation(&input->flows, &input->graph, seed);
    } else if (args->layout || args->nodes || need) {
        r = layout_flows(input, args, err);
    }
    if (r == MYR_OK && need && input->flows.items.count == 0) {
        r = myr_err_set(err, MYR_EINVAL, "no flow leaves a scale-up domain: nothing to route");
        myr_err_hint(err, "give --flows FILE, or a layout whose groups span nodes");
    }
    return r;
}

int fabric_args_design(struct fabric_args *args, const struct myr_operands *operands,
                       uint32_t first, struct myr_err *err)
{
    bool operand = operands->count > first;
    if (operand != (args->design != NULL)) {
        args->design = operand ? operands->items[first] : args->design;
        return MYR_OK;
    }
    int r = myr_err_set(err, MYR_EINVAL,
                        operand ? "a design as operand and --design are one too many"
                                : "a design is needed, as operand or by --design");
    myr_err_hint(err, "myriad plan SPEC --out DIR writes DIR/design.myr");
    return r;
}

int fabric_input_open(struct fabric_input *input, const struct fabric_args *args, bool need_flows,
                      struct myr_err *err)
{
    *input = (struct fabric_input){0};
    myr_arena_init(&input->arena);
    int r = myr_design_open(&input->design, args->design, err);
    if (r == MYR_OK) {
        r = myr_graph_init(&input->graph, &input->arena, &input->design, (enum myr_net_id)args->net,
                           err);
    }
    if (r == MYR_OK && args->dead) {
        r = fabric_for_each(args->dead, kill_one, input, err);
    }
    return r < 0 ? r : make_flows(input, args, need_flows, err);
}

void fabric_input_done(struct fabric_input *input)
{
    myr_flows_done(&input->flows);
    myr_design_close(&input->design);
    myr_arena_done(&input->arena);
}
