#include "myriad/fabric/repair_list.h"

#include "myriad/fabric/words.h"

/*
 * The lists behind route failover, degraded and blast: names are put to what failover.c and
 * degraded.c count, one row for each thing named, or for one of each kind.
 */

/* Sprayed flows have no routes of their own to ask: they are refused. */
int myr_repair_routes(const struct myr_fabric_case *fabric,
                      const struct myr_balance_options *balance, struct myr_routes *ret,
                      struct myr_err *err)
{
    size_t count = fabric->flows.items.count;
    /* No flows is a question of its own: the rows then say nothing of flows. */
    if (count == 0) {
        return MYR_OK;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    myr_arena_init(&scratch);
    /* The loads are not wanted, only the routes. */
    uint64_t *load = MYR_ARENA_NEW(&scratch, uint64_t, (size_t)fabric->design.link_count * 2);
    MYR_TRY(myr_balance(&fabric->graph, balance, fabric->flows.items.items, count, ret, load, err));
    if (ret->sprayed) {
        return myr_err_set(err, MYR_EINVAL,
                           "sprayed flows are on every path: take another --policy");
    }
    return MYR_OK;
}

/* The rows so far; as many as there are links and switches at most. */
struct failover_list {
    struct myr_fabric_case *fabric;
    const struct myr_routes *routes; /* NULL: no flows */
    uint32_t *by_link;               /* routes over each link */
    struct myr_failover_row *rows;
    size_t count, most; /* rows so far, and room for them */
};

static struct myr_failover_row *next_row(struct failover_list *list)
{
    MYR_ASSERT(list->count < list->most);
    return &list->rows[list->count++];
}

static uint32_t layer_of(const struct myr_design *design, uint32_t link)
{
    return design->cabletypes[design->cable_type[design->link_cable[link]]].layer;
}

/*
 * Routes were counted by link beforehand: looking through all of them for each link would take too
 * long.
 */
static void put_link(struct failover_list *list, uint32_t link, uint64_t alike)
{
    struct myr_arena *arena = &list->fabric->arena;
    const struct myr_design *design = &list->fabric->design;
    struct myr_failover_row *row = next_row(list);
    *row = (struct myr_failover_row){
        .what = myr_name_link(arena, design, link),
        .kind = myr_layer_names[layer_of(design, link)],
        .between =
            myr_arena_printf(arena, "%s %s", myr_name_port(arena, design, design->link_a[link]),
                             myr_name_port(arena, design, design->link_b[link])),
        .alike = alike,
        .failover = myr_failover_link(&list->fabric->graph, link, NULL)};
    row->failover.flows_affected = list->by_link[link];
}

static void put_device(struct failover_list *list, uint32_t device, uint64_t alike)
{
    const struct myr_design *design = &list->fabric->design;
    *next_row(list) = (struct myr_failover_row){
        .what = myr_name_device(&list->fabric->arena, design, device),
        .kind = myr_device_kind_name((enum myr_device_kind)design->place[device].kind),
        .alike = alike,
        .failover = myr_failover_device(&list->fabric->graph, device, list->routes)};
}

/* One link of each layer stands for the others, with their number, unless all are asked for. */
static void put_links(struct failover_list *list, bool all)
{
    const struct myr_graph *graph = &list->fabric->graph;
    const struct myr_design *design = graph->design;
    uint32_t first[MYR_LAYER_COUNT] = {}, count[MYR_LAYER_COUNT] = {};
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t layer = layer_of(design, link);
        /* What is dead already cannot fail. */
        if (!myr_graph_has_link(graph, link) || myr_graph_link_dead(graph, link)) {
            continue;
        }
        if (all) {
            put_link(list, link, 1);
        } else if (count[layer]++ == 0) {
            first[layer] = link;
        }
    }
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        if (count[layer]) {
            put_link(list, first[layer], count[layer]);
        }
    }
}

/* One of each kind stands for the others, as with links. */
static void put_switches(struct failover_list *list, bool all)
{
    const struct myr_graph *graph = &list->fabric->graph;
    uint32_t first[MYR_DEVICE_KIND_COUNT] = {}, count[MYR_DEVICE_KIND_COUNT] = {};
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t device = graph->first_switch + i, kind = graph->design->place[device].kind;
        if (all) {
            put_device(list, device, 1);
        } else if (count[kind]++ == 0) {
            first[kind] = device;
        }
    }
    for (uint32_t kind = 0; kind < MYR_DEVICE_KIND_COUNT; kind++) {
        if (count[kind]) {
            put_device(list, first[kind], count[kind]);
        }
    }
}

/* A route passes a link once at most, so that these are routes too. */
static void count_by_link(struct failover_list *list)
{
    const struct myr_routes *routes = list->routes;
    for (size_t i = 0; routes && i < routes->channels.count; i++) {
        uint32_t link = myr_channel_link(routes->channels.items[i]);
        MYR_ASSERT(link < list->fabric->design.link_count);
        list->by_link[link]++;
    }
}

int myr_failover_list(struct myr_fabric_case *fabric, const struct myr_failover_question *question,
                      const struct myr_routes *routes, struct myr_failover_rows *ret,
                      struct myr_err *err)
{
    uint32_t link = MYR_NONE, device = MYR_NONE, links = fabric->design.link_count;
    if (question->link) {
        MYR_TRY(myr_words_link(&fabric->graph, myr_str_from(question->link), &link, err));
    }
    if (question->device) {
        MYR_TRY(myr_words_device(&fabric->graph, myr_str_from(question->device), &device, err));
    }
    /*
     * A row of each layer and of each kind at most, or one of everything; either is room enough
     * for a link and a device that are named, which come instead.
     */
    size_t kinds = MYR_LAYER_COUNT + MYR_DEVICE_KIND_COUNT;
    struct failover_list list = {.fabric = fabric,
                                 .routes = routes,
                                 .most = question->all ? (size_t)links + fabric->graph.switch_count
                                                       : kinds};
    list.by_link = MYR_ARENA_NEW(&fabric->arena, uint32_t, links);
    list.rows = MYR_ARENA_NEW(&fabric->arena, struct myr_failover_row, list.most);
    count_by_link(&list);
    if (link != MYR_NONE) {
        put_link(&list, link, 1);
    }
    if (device != MYR_NONE) {
        put_device(&list, device, 1);
    }
    /* What was named is the answer; otherwise a row of each kind. */
    if (list.count == 0) {
        put_links(&list, question->all);
        put_switches(&list, question->all);
    }
    *ret = (struct myr_failover_rows){list.rows, list.count};
    return MYR_OK;
}

/* The worst pair of the same fabric when nothing is dead. */
static uint64_t whole_worst_pair(const struct myr_fabric_case *fabric)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    struct myr_degraded degraded;
    struct myr_graph whole;
    struct myr_err err;
    myr_arena_init(&scratch);
    /* A graph of its own, in memory that goes with it. */
    int rc = myr_graph_init(&whole, &scratch, &fabric->design, fabric->graph.net_id, &err);
    MYR_ASSERT(rc == MYR_OK); /* the case holds the same graph already */
    myr_degraded_report(&whole, &degraded);
    return degraded.worst_pair_gbps;
}

/* Rows live in the arena of the case. */
void myr_degraded_answer(struct myr_fabric_case *fabric, struct myr_degraded_answer *ret)
{
    const struct myr_graph *graph = &fabric->graph;
    uint32_t rails = myr_degraded_rail_count(graph);
    struct myr_rail_bandwidth *by_rail =
        MYR_ARENA_NEW(&fabric->arena, struct myr_rail_bandwidth, rails);
    *ret = (struct myr_degraded_answer){.rails = by_rail, .rail_count = rails};
    myr_degraded_report(graph, &ret->left);
    ret->worst_full_gbps = whole_worst_pair(fabric);
    if (ret->left.worst_a != MYR_NONE) {
        ret->worst_a = myr_name_device(&fabric->arena, &fabric->design, ret->left.worst_a);
        ret->worst_b = myr_name_device(&fabric->arena, &fabric->design, ret->left.worst_b);
    }
    for (uint32_t rail = 0; rail < rails; rail++) {
        by_rail[rail] = myr_degraded_rail(graph, rail);
    }
}

/* 0 of 0: a rail without links has nothing left. */
double myr_degraded_share(struct myr_rail_bandwidth bandwidth)
{
    return bandwidth.full_gbps ? (double)bandwidth.gbps / (double)bandwidth.full_gbps : 0;
}

struct blast_list {
    struct myr_fabric_case *fabric;
    const struct myr_routes *routes;
    struct myr_blast_row *rows;
    size_t count;
};

/* Names that this design has: its first switch, and a domain of the kind that says most. */
static void hint_names(const struct myr_fabric_case *fabric, struct myr_err *err)
{
    static const enum myr_domain_kind kinds[] = {MYR_DOMAIN_POD, MYR_DOMAIN_RAIL_GROUP,
                                                 MYR_DOMAIN_RACK, MYR_DOMAIN_SCALE_UP};
    const struct myr_design *design = &fabric->design;
    const struct myr_domain *found = NULL;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (uint32_t k = 0; k < MYR_ARRAY_COUNT(kinds) && !found; k++) {
        for (uint32_t i = 0; i < design->domain_count && !found; i++) {
            found = design->domains[i].kind == kinds[k] ? &design->domains[i] : NULL;
        }
    }
    myr_buf_puts(&text, "a device such as ");
    myr_design_name(design, fabric->graph.first_switch, &text);
    if (found) {
        myr_buf_puts(&text, ", or a domain such as ");
        myr_words_domain_name(found, &text);
    }
    myr_err_hint(err, "%s", text.data);
}

/* A word is a domain with all of its devices, or a single device. */
static int blast_one(void *context, struct myr_str name, struct myr_err *err)
{
    struct blast_list *list = context;
    struct myr_fabric_case *fabric = list->fabric;
    const struct myr_domain *domain = myr_words_domain(&fabric->design, name);
    uint32_t device, count = 1;
    const uint32_t *devices = &device;
    if (domain) {
        devices = &fabric->design.domain_devices[domain->first];
        count = domain->count;
    } else {
        int rc = myr_words_device(&fabric->graph, name, &device, err);
        if (rc < 0) {
            hint_names(fabric, err);
            return rc;
        }
    }
    /* Room for all names was made beforehand. */
    struct myr_blast_row *row = &list->rows[list->count++];
    row->what = myr_arena_strndup(&fabric->arena, name.data, name.len);
    myr_blast_radius(&fabric->graph, devices, count, list->routes, &row->blast);
    row->bisection_left = myr_degraded_share((struct myr_rail_bandwidth){
        row->blast.left.bisection_gbps, row->blast.left.bisection_full_gbps});
    return MYR_OK;
}

int myr_blast_list(struct myr_fabric_case *fabric, const char *names,
                   const struct myr_routes *routes, struct myr_blast_rows *ret, struct myr_err *err)
{
    /* As many names as commas, and one more. */
    size_t most = 1;
    for (const char *c = names; *c; c++) {
        most += *c == ',';
    }
    struct blast_list list = {fabric, routes,
                              MYR_ARENA_NEW(&fabric->arena, struct myr_blast_row, most), 0};
    int rc = myr_words_each(names, blast_one, &list, err);
    MYR_ASSERT(list.count <= most);
    if (rc == MYR_OK) {
        *ret = (struct myr_blast_rows){list.rows, list.count};
    }
    return rc;
}
