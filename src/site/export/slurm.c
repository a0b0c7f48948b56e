#include <stdlib.h>

#include "export/writers.h"

/*
 * Slurm: where nodes hang. A node has NICs on several leaves, but a tree wants one parent: nodes
 * whose first NIC shares a leaf share the others too, so that set (the rail group, where there are
 * rails) is the lowest switch. Above it the pod, and one switch over all.
 */

/* Nodes in order of their group; those of group g are nodes[first[g]] .. nodes[first[g + 1] - 1].
 */
struct groups {
    uint32_t count;
    uint32_t *leaf;  /* device that stands for the group */
    uint32_t *first; /* count + 1 */
    uint32_t *nodes; /* devices */
};

/* The leaf behind the node's first cabled port on the network; MYR_NONE when there is none. */
static uint32_t leaf_of(const struct myr_export *job, uint32_t node)
{
    const struct myr_design *design = job->design;
    for (uint32_t p = design->first_port[node]; p < design->first_port[node + 1]; p++) {
        uint32_t peer = myr_design_peer(design, p);
        if (peer != MYR_NONE && myr_design_port_group(design, p)->net == job->net) {
            return design->port_device[peer];
        }
    }
    return MYR_NONE;
}

/* Groups come in the order of their first nodes, nodes of one in the design's order. */
static void groups_init(struct groups *groups, struct myr_arena *arena,
                        const struct myr_export *job)
{
    const struct myr_design_head *head = job->design->head;
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map found = {};
    uint32_t *group_of = MYR_ARENA_NEW(arena, uint32_t, head->nodes);
    groups->leaf = MYR_ARENA_NEW(arena, uint32_t, head->nodes);
    groups->first = MYR_ARENA_NEW(arena, uint32_t, (size_t)head->nodes + 2);
    groups->nodes = MYR_ARENA_NEW(arena, uint32_t, head->nodes);
    for (uint32_t n = 0; n < head->nodes; n++) {
        uint32_t leaf = leaf_of(job, head->first_node + n);
        if (leaf == MYR_NONE) {
            group_of[n] = MYR_NONE; /* not on this network: Slurm need not know */
            continue;
        }
        if (myr_u64map_add(&found, leaf, groups->count)) {
            groups->leaf[groups->count++] = leaf;
        }
        group_of[n] = *myr_u64map_find(&found, leaf);
        groups->first[group_of[n] + 1]++;
    }
    for (uint32_t g = 0; g < groups->count; g++) {
        groups->first[g + 1] += groups->first[g];
    }
    /* Where the next node of each group goes. */
    uint32_t *next = MYR_ARENA_NEW(arena, uint32_t, (size_t)groups->count + 1);
    memcpy(next, groups->first, groups->count * sizeof(uint32_t));
    for (uint32_t n = 0; n < head->nodes; n++) {
        if (group_of[n] != MYR_NONE) {
            groups->nodes[next[group_of[n]]++] = head->first_node + n;
        }
    }
}

/*
 * A list of names in brackets: "node-[00000-00031,00040]". Names are told apart by the number at
 * their end; a new prefix starts a new word.
 */
struct hostlist {
    struct myr_buf *buf;
    struct myr_buf prefix; /* of the names in the open brackets */
    uint64_t first, last;  /* the range that is not written yet */
    uint32_t width;        /* digits of the number, as it was written */
    bool open, started;    /* brackets; anything at all */
};

static void flush_range(struct hostlist *list)
{
    myr_buf_put_u64_pad(list->buf, list->first, list->width);
    if (list->last > list->first) {
        myr_buf_putc(list->buf, '-');
        myr_buf_put_u64_pad(list->buf, list->last, list->width);
    }
}

static void hostlist_end(struct hostlist *list)
{
    if (list->open) {
        flush_range(list);
        myr_buf_putc(list->buf, ']');
    }
    myr_buf_done(&list->prefix);
}

/* Slurm pads to the width of the first number of a range, so widths must agree where zeros lead. */
static bool follows(const struct hostlist *list, uint64_t number, uint32_t width, bool zeros)
{
    return number == list->last + 1 && (width == list->width || !zeros);
}

/* Ends the brackets, if any are open, and puts the comma before the next name. */
static void next_word(struct hostlist *list)
{
    if (list->open) {
        flush_range(list);
        myr_buf_putc(list->buf, ']');
    }
    if (list->started) {
        myr_buf_putc(list->buf, ',');
    }
    list->open = false;
    list->started = true;
}

/* Names come sorted, mostly: a range is as long as numbers go on without a gap. */
static void hostlist_put(struct hostlist *list, struct myr_str name)
{
    size_t digits = name.len;
    while (digits > 0 && name.data[digits - 1] >= '0' && name.data[digits - 1] <= '9') {
        digits--;
    }
    uint64_t number = 0;
    if (!myr_str_to_u64((struct myr_str){name.data + digits, name.len - digits}, &number)) {
        next_word(list); /* host names need not end in a number */
        myr_buf_put(list->buf, name.data, name.len);
        return;
    }
    uint32_t width = (uint32_t)(name.len - digits);
    /* Numbers without leading zeros may grow by a digit within one range. */
    bool zeros = name.data[digits] == '0' && width > 1;
    struct myr_str prefix = {name.data, digits};
    bool same =
        list->open && myr_str_eq(prefix, (struct myr_str){list->prefix.data, list->prefix.len});
    if (same && follows(list, number, width, zeros)) {
        list->last = number;
        return;
    }
    if (same) {
        flush_range(list);
        myr_buf_putc(list->buf, ',');
    } else {
        next_word(list);
        myr_buf_put(list->buf, prefix.data, prefix.len);
        myr_buf_putc(list->buf, '[');
        myr_buf_clear(&list->prefix);
        myr_buf_put(&list->prefix, prefix.data, prefix.len);
    }
    list->open = true;
    list->first = list->last = number;
    list->width = zeros ? width : 1;
}

/* "group-p2-g1" for rails, where the leaf of rail 0 stands for all; else the leaf's own name. */
static void put_group_name(struct myr_buf *buf, const struct myr_design *design, uint32_t leaf)
{
    const struct myr_place *place = &design->place[leaf];
    if (place->style == MYR_NAME_POD_GROUP) {
        myr_buf_printf(buf, "group-p%u-g%u", place->pod, place->unit);
    } else if (place->style == MYR_NAME_RAIL_POD) {
        myr_buf_printf(buf, "group-p%u-%u", place->pod, place->ordinal);
    } else {
        myr_site_name(design, leaf, buf);
    }
}

/* A node as Slurm knows it: by its host name, once that is bound. */
static void put_node_name(struct myr_buf *buf, const struct myr_export *job, uint32_t node)
{
    const struct myr_bound *bound =
        job->binding ? myr_binding_get(job->binding, node, MYR_NONE) : NULL;
    if (bound && bound->host.len) {
        myr_buf_put(buf, bound->host.data, bound->host.len);
    } else {
        myr_site_name(job->design, node, buf);
    }
}

/* As one list of host names, with ranges where numbers follow each other. */
static void put_nodes(struct myr_buf *buf, const struct myr_export *job,
                      const struct groups *groups, uint32_t group)
{
    struct hostlist list = {.buf = buf};
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    for (uint32_t i = groups->first[group]; i < groups->first[group + 1]; i++) {
        myr_buf_clear(&name);
        put_node_name(&name, job, groups->nodes[i]);
        hostlist_put(&list, (struct myr_str){name.data, name.len});
    }
    hostlist_end(&list);
}

/* Lines of one level above the groups, and the list of their names for the level above. */
static void put_pods(struct myr_buf *buf, const struct myr_design *design,
                     const struct groups *groups, struct hostlist *top)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    /* Groups of one pod are in a row, as nodes are numbered. */
    for (uint32_t g = 0; g < groups->count;) {
        uint32_t pod = design->place[groups->leaf[g]].pod;
        myr_buf_clear(&name);
        myr_buf_printf(&name, "pod-%u", pod);
        hostlist_put(top, (struct myr_str){name.data, name.len});
        myr_buf_printf(buf, "SwitchName=pod-%u Switches=", pod);
        /* Lists of one pod each; 'top' goes on over all. */
        struct hostlist list = {.buf = buf};
        for (; g < groups->count && design->place[groups->leaf[g]].pod == pod; g++) {
            myr_buf_clear(&name);
            put_group_name(&name, design, groups->leaf[g]);
            hostlist_put(&list, (struct myr_str){name.data, name.len});
        }
        hostlist_end(&list);
        myr_buf_putc(buf, '\n');
    }
}

/* Groups are in the order of pods: the first and the last one tell. */
static bool several_pods(const struct myr_design *design, const struct groups *groups)
{
    return groups->count > 0 &&
           design->place[groups->leaf[0]].pod != design->place[groups->leaf[groups->count - 1]].pod;
}

/* From below: groups, pods, then one switch over all. */
static void put_tree(struct myr_buf *buf, const struct myr_export *job, const struct groups *groups)
{
    const struct myr_design *design = job->design;
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf names = {};
    struct hostlist top = {.buf = &names};
    bool pods = several_pods(design, groups);
    for (uint32_t g = 0; g < groups->count; g++) {
        myr_buf_clear(&name);
        put_group_name(&name, design, groups->leaf[g]);
        myr_buf_printf(buf, "SwitchName=%s Nodes=", name.data);
        put_nodes(buf, job, groups, g);
        myr_buf_putc(buf, '\n');
        if (!pods) {
            hostlist_put(&top, (struct myr_str){name.data, name.len});
        }
    }
    if (pods) {
        put_pods(buf, design, groups, &top);
    }
    hostlist_end(&top);
    /* One switch needs no other one above it. */
    if (groups->count > 1) {
        myr_buf_printf(buf, "SwitchName=%s Switches=%s\n", pods ? "core" : "spine", names.data);
    }
}

static void put_title(struct myr_buf *buf, const struct myr_export *job, const char *plugin)
{
    const struct myr_design *design = job->design;
    myr_buf_printf(buf, "# %s, %s network; slurm.conf: TopologyPlugin=topology/%s\n",
                   myr_design_str(design, design->head->name), myr_net_names[job->net], plugin);
}

int export_slurm(const struct myr_export *job, const struct myr_export_sink *sink,
                 struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct groups groups = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_design_one_kind(job->design, "the design", err));
    myr_arena_init(&arena);
    groups_init(&groups, &arena, job);
    put_title(&text, job, "tree");
    put_tree(&text, job, &groups);
    return export_put(sink, "topology.conf", &text, err);
}

/* Where GPUs of several nodes form one scale-up domain, that is the block a job must not leave. */
static void scale_up_groups(struct groups *groups, struct myr_arena *arena,
                            const struct myr_export *job)
{
    const struct myr_design_head *head = job->design->head;
    /* Nodes of a domain are numbered in a row. */
    uint32_t size = head->scale_up_gpus / head->gpus_per_node;
    groups->count = (head->nodes + size - 1) / size;
    groups->leaf = NULL;
    groups->first = MYR_ARENA_NEW(arena, uint32_t, (size_t)groups->count + 1);
    groups->nodes = MYR_ARENA_NEW(arena, uint32_t, head->nodes);
    for (uint32_t n = 0; n < head->nodes; n++) {
        groups->nodes[n] = head->first_node + n;
        /* The last node of a group leaves the end there. */
        groups->first[n / size + 1] = n + 1;
    }
}

static void put_blocks(struct myr_buf *buf, const struct myr_export *job,
                       const struct groups *groups)
{
    uint32_t smallest = UINT32_MAX;
    for (uint32_t g = 0; g < groups->count; g++) {
        uint32_t size = groups->first[g + 1] - groups->first[g];
        smallest = size < smallest ? size : smallest;
        if (groups->leaf) {
            myr_buf_put_lit(buf, "BlockName=");
            put_group_name(buf, job->design, groups->leaf[g]);
        } else {
            myr_buf_printf(buf, "BlockName=domain-%u", g);
        }
        myr_buf_put_lit(buf, " Nodes=");
        put_nodes(buf, job, groups, g);
        myr_buf_putc(buf, '\n');
    }
    if (groups->count) {
        /* Every block must hold the base size; larger sizes are powers of two times it. */
        myr_buf_printf(buf, "BlockSizes=%u", smallest);
        for (uint32_t blocks = 2; blocks <= groups->count; blocks *= 2) {
            myr_buf_printf(buf, ",%u", smallest * blocks);
        }
        myr_buf_putc(buf, '\n');
    }
}

/* Scale-up domains of several nodes where there are such, else rail groups. */
int export_slurm_block(const struct myr_export *job, const struct myr_export_sink *sink,
                       struct myr_err *err)
{
    const struct myr_design_head *head = job->design->head;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct groups groups = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_TRY(myr_design_one_kind(job->design, "the design", err));
    myr_arena_init(&arena);
    if (head->gpus_per_node && head->scale_up_gpus > head->gpus_per_node) {
        scale_up_groups(&groups, &arena, job);
    } else {
        groups_init(&groups, &arena, job);
    }
    put_title(&text, job, "block");
    put_blocks(&text, job, &groups);
    return export_put(sink, "topology.conf", &text, err);
}
