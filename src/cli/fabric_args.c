#include "fabric_args.h"

#include <stdio.h>

static const char *const axis_names[] = {"tp", "cp", "dp", "pp", "ep"};
static const enum myr_axis axes[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_DP, MYR_AXIS_PP,
                                     MYR_AXIS_EP};

/* Calls 'each' for every piece between commas. */
static int for_each_piece(const char *text, int (*each)(void *, struct myr_str, struct myr_err *),
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
    uint64_t link;
    if (name.len > 5 && memcmp(name.data, "link/", 5) == 0 &&
        myr_str_to_u64((struct myr_str){name.data + 5, name.len - 5}, &link) &&
        link < input->design.link_count) {
        myr_graph_set_link(&input->graph, (uint32_t)link, true);
        return MYR_OK;
    }
    uint32_t device = myr_design_find(&input->design, name);
    if (device == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT, "'%.*s' is no link or device of this design",
                           name.len > 40 ? 40 : (int)name.len, name.data);
    }
    myr_graph_set_device(&input->graph, device, true);
    return MYR_OK;
}

typedef MYR_VEC(uint32_t) node_list;

struct node_context {
    struct fabric_input *input;
    node_list *nodes;
};

static int add_node(void *context, struct myr_str name, struct myr_err *err)
{
    struct node_context *list = context;
    const struct myr_design *design = &list->input->design;
    uint64_t number;
    uint32_t device = myr_design_find(design, name);
    if (device == MYR_NONE && myr_str_to_u64(name, &number) && number < design->head->nodes) {
        device = design->head->first_node + (uint32_t)number;
    }
    if (device == MYR_NONE || design->place[device].kind != MYR_DEVICE_NODE) {
        return myr_err_set(err, MYR_ENOENT, "'%.*s' is no node; node/00042 or 42 is expected",
                           name.len > 40 ? 40 : (int)name.len, name.data);
    }
    myr_vec_push(list->nodes, device - design->head->first_node);
    return MYR_OK;
}

static int layout_flows(struct fabric_input *input, const struct fabric_args *args,
                        struct myr_err *err)
{
    node_list nodes = {0};
    struct node_context context = {input, &nodes};
    const struct myr_design_head *head = input->design.head;
    struct myr_layout layout;
    int r = args->nodes ? for_each_piece(args->nodes, add_node, &context, err) : MYR_OK;
    uint64_t gpus = (uint64_t)(args->nodes ? nodes.count : head->nodes) * head->gpus_per_node;
    r = r < 0 ? r : fabric_layout(args->layout ? args->layout : "tp=1", gpus, &layout, err);
    bool met = false;
    for (uint32_t i = 0; r == MYR_OK && i < MYR_ARRAY_COUNT(axes); i++) {
        if (strcmp(args->axis, axis_names[i]) == 0 || strcmp(args->axis, "all") == 0) {
            met = true;
            r = myr_flows_rings(&input->flows, &input->graph, &layout, axes[i],
                                args->nodes ? nodes.items : NULL, (uint32_t)nodes.count, err);
        }
    }
    if (r == MYR_OK && !met) {
        r = myr_err_set(err, MYR_EINVAL, "unknown axis '%.20s'; tp, cp, dp, pp, ep or all",
                        args->axis);
    }
    myr_vec_done(&nodes);
    return r;
}

int fabric_input_open(struct fabric_input *input, const struct fabric_args *args,
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
        r = for_each_piece(args->dead, kill_one, input, err);
    }
    if (r == MYR_OK && args->flows) {
        r = myr_flows_read(&input->flows, &input->graph, args->flows, err);
    } else if (r == MYR_OK && args->permutation) {
        myr_flows_permutation(&input->flows, &input->graph, args->permutation - 1);
    } else if (r == MYR_OK) {
        r = layout_flows(input, args, err);
    }
    return r;
}

void fabric_input_done(struct fabric_input *input)
{
    myr_flows_done(&input->flows);
    myr_design_close(&input->design);
    myr_arena_done(&input->arena);
}
