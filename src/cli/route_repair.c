#include "route_repair.h"

#include <stdlib.h>

bool repair_wanted(const struct repair_args *args)
{
    return args->failover || args->link || args->device || args->degraded || args->blast;
}

/* --- failover */

static const struct myr_column failover_columns[] = {
    {"what", "WHAT", 0},
    {"kind", "KIND", 0},
    {"between", "BETWEEN", 0},
    {"alike", "ALIKE", MYR_COLUMN_NUMBER},
    {"local_choices", "LOCAL CHOICES", MYR_COLUMN_NUMBER},
    {"remote_switches", "REMOTE SWITCHES", MYR_COLUMN_NUMBER},
    {"bandwidth_left", "BANDWIDTH LEFT", MYR_COLUMN_NUMBER},
    {"hosts_cut", "HOSTS CUT", MYR_COLUMN_NUMBER},
    {"flows_affected", "FLOWS AFFECTED", MYR_COLUMN_NUMBER},
};

struct failover_list {
    struct fabric_input *input;
    const struct myr_routes *routes; /* NULL: no flows */
    uint32_t *by_link;               /* routes over each link */
    struct myr_table table;
};

static void put_failover(struct failover_list *list, const char *what, const char *kind,
                         const char *between, uint64_t alike, const struct myr_failover *failover)
{
    myr_table_text(&list->table, what);
    myr_table_text(&list->table, kind);
    myr_table_text(&list->table, between);
    myr_table_u64(&list->table, alike);
    myr_table_u64(&list->table, failover->local_choices);
    myr_table_u64(&list->table, failover->remote_switches);
    myr_table_double(&list->table, failover->bandwidth_left, 4);
    myr_table_u64(&list->table, failover->hosts_cut);
    if (list->routes) {
        myr_table_u64(&list->table, failover->flows_affected);
    } else {
        myr_table_text(&list->table, NULL);
    }
}

static const char *layer_of(const struct myr_design *design, uint32_t link)
{
    return myr_layer_names[design->cabletypes[design->cable_type[design->link_cable[link]]].layer];
}

static void put_link(struct failover_list *list, uint32_t link, uint64_t alike)
{
    struct myr_arena *arena = &list->input->arena;
    const struct myr_design *design = &list->input->design;
    struct myr_failover failover = myr_failover_link(&list->input->graph, link, NULL);
    failover.flows_affected = list->by_link[link];
    const char *between =
        myr_arena_printf(arena, "%s %s", fabric_port_name(arena, design, design->link_a[link]),
                         fabric_port_name(arena, design, design->link_b[link]));
    put_failover(list, fabric_link_name(arena, link), layer_of(design, link), between, alike,
                 &failover);
}

static void put_device(struct failover_list *list, uint32_t device, uint64_t alike)
{
    const struct myr_design *design = &list->input->design;
    struct myr_failover failover = myr_failover_device(&list->input->graph, device, list->routes);
    put_failover(list, fabric_device_name(&list->input->arena, design, device),
                 myr_device_kind_name((enum myr_device_kind)design->place[device].kind), NULL,
                 alike, &failover);
}

static void put_links(struct failover_list *list, bool all)
{
    const struct myr_graph *graph = &list->input->graph;
    const struct myr_design *design = graph->design;
    uint32_t first[MYR_LAYER_COUNT] = {0}, count[MYR_LAYER_COUNT] = {0};
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t layer = design->cabletypes[design->cable_type[design->link_cable[link]]].layer;
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

static void put_switches(struct failover_list *list, bool all)
{
    const struct myr_graph *graph = &list->input->graph;
    uint32_t first[MYR_DEVICE_KIND_COUNT] = {0}, count[MYR_DEVICE_KIND_COUNT] = {0};
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

static int failover_report(struct fabric_input *input, const struct repair_args *args,
                           const struct myr_routes *routes, enum myr_format format,
                           struct myr_buf *buf, struct myr_err *err)
{
    struct failover_list list = {.input = input, .routes = routes};
    bool all = args->all || format == MYR_FORMAT_CSV;
    uint32_t link = MYR_NONE, device = MYR_NONE;
    int r = MYR_OK;
    if (args->link) {
        r = fabric_find_link(&input->graph, myr_str_from(args->link), &link, err);
    }
    if (r == MYR_OK && args->device) {
        r = fabric_find_device(&input->graph, myr_str_from(args->device), &device, err);
    }
    if (r < 0) {
        return r;
    }
    list.by_link = myr_xcalloc((size_t)input->design.link_count + 1, sizeof(uint32_t));
    for (size_t i = 0; routes && i < routes->channels.count; i++) {
        list.by_link[myr_channel_link(routes->channels.items[i])]++;
    }
    myr_table_init(&list.table, &input->arena, failover_columns, MYR_ARRAY_COUNT(failover_columns));
    if (args->link) {
        put_link(&list, link, 1);
    }
    if (args->device) {
        put_device(&list, device, 1);
    }
    if (!args->link && !args->device) {
        put_links(&list, all);
        put_switches(&list, all);
    }
    myr_table_write(&list.table, format, buf);
    myr_table_done(&list.table);
    free(list.by_link);
    return MYR_OK;
}

/* --- degraded */

static const struct myr_column degraded_columns[] = {
    {"item", "ITEM", 0},
    {"where", "WHERE", 0},
    {"gbps", "GB/S", MYR_COLUMN_NUMBER},
    {"full_gbps", "PLANNED", MYR_COLUMN_NUMBER},
    {"share", "SHARE", MYR_COLUMN_NUMBER},
};

static void put_gbps(struct myr_table *table, const char *item, const char *where, uint64_t gbps,
                     uint64_t full)
{
    myr_table_text(table, item);
    myr_table_text(table, where);
    myr_table_u64(table, gbps);
    myr_table_u64(table, full);
    myr_table_double(table, full ? (double)gbps / (double)full : 0, 4);
}

struct pair_names {
    const char *a, *b; /* NULL: there is no pair */
};

static struct pair_names worst_names(struct fabric_input *input, const struct myr_degraded *left)
{
    if (left->worst_a == MYR_NONE) {
        return (struct pair_names){0};
    }
    return (struct pair_names){fabric_device_name(&input->arena, &input->design, left->worst_a),
                               fabric_device_name(&input->arena, &input->design, left->worst_b)};
}

/* The same, when nothing is dead. */
static void report_whole(struct fabric_input *input, struct myr_degraded *ret)
{
    struct myr_arena arena;
    struct myr_graph whole;
    struct myr_err err;
    myr_arena_init(&arena);
    int r = myr_graph_init(&whole, &arena, &input->design, input->graph.net_id, &err);
    MYR_ASSERT(r == MYR_OK);
    myr_degraded_report(&whole, ret);
    myr_arena_done(&arena);
}

static void degraded_json(struct fabric_input *input, const struct myr_degraded *left,
                          const struct myr_degraded *whole, struct myr_json *json)
{
    const struct myr_graph *graph = &input->graph;
    struct pair_names pair = worst_names(input, left);
    myr_json_u64(json, "dead_links", left->dead_links);
    myr_json_u64(json, "hosts_cut", left->hosts_cut);
    myr_json_u64(json, "bisection_gbps", left->bisection_gbps);
    myr_json_u64(json, "bisection_full_gbps", left->bisection_full_gbps);
    myr_json_object(json, "worst_pair");
    myr_json_text(json, "a", pair.a);
    myr_json_text(json, "b", pair.b);
    myr_json_u64(json, "gbps", left->worst_pair_gbps);
    myr_json_u64(json, "full_gbps", whole->worst_pair_gbps);
    myr_json_bool(json, "exact", left->worst_exact);
    myr_json_end(json);
    myr_json_list(json, "rails");
    for (uint32_t rail = 0; rail < myr_degraded_rail_count(graph); rail++) {
        struct myr_rail_bandwidth bandwidth = myr_degraded_rail(graph, rail);
        myr_json_object(json, NULL);
        myr_json_u64(json, "rail", rail);
        myr_json_u64(json, "gbps", bandwidth.gbps);
        myr_json_u64(json, "full_gbps", bandwidth.full_gbps);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void degraded_rows(struct fabric_input *input, const struct myr_degraded *left,
                          const struct myr_degraded *whole, struct myr_table *table)
{
    const struct myr_graph *graph = &input->graph;
    struct myr_arena *arena = &input->arena;
    struct pair_names pair = worst_names(input, left);
    put_gbps(table, "bisection", NULL, left->bisection_gbps, left->bisection_full_gbps);
    if (pair.a) {
        put_gbps(table, left->worst_exact ? "worst pair" : "worst pair, at most",
                 myr_arena_printf(arena, "%s %s", pair.a, pair.b), left->worst_pair_gbps,
                 whole->worst_pair_gbps);
    }
    uint32_t rails = myr_degraded_rail_count(graph);
    for (uint32_t rail = 0; rail < rails; rail++) {
        struct myr_rail_bandwidth bandwidth = myr_degraded_rail(graph, rail);
        put_gbps(table, rails > 1 ? "rail" : "leaf uplinks",
                 rails > 1 ? myr_arena_printf(arena, "%u", rail) : NULL, bandwidth.gbps,
                 bandwidth.full_gbps);
    }
}

static void degraded_report(struct fabric_input *input, enum myr_format format, struct myr_buf *buf)
{
    struct myr_degraded left, whole;
    myr_degraded_report(&input->graph, &left);
    report_whole(input, &whole);
    if (format == MYR_FORMAT_JSON) {
        struct myr_json json;
        myr_json_init(&json, buf, MYR_JSON_PRETTY);
        myr_json_object(&json, NULL);
        degraded_json(input, &left, &whole, &json);
        myr_json_end(&json);
        myr_buf_putc(buf, '\n');
        return;
    }
    struct myr_table table;
    myr_table_init(&table, &input->arena, degraded_columns, MYR_ARRAY_COUNT(degraded_columns));
    degraded_rows(input, &left, &whole, &table);
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
    if (format == MYR_FORMAT_TABLE || format == MYR_FORMAT_WIDE) {
        myr_buf_printf(buf, "\n%u links dead, %u host ports cut off\n", left.dead_links,
                       left.hosts_cut);
    }
}

/* --- blast radius */

static const struct myr_column blast_columns[] = {
    {"what", "WHAT", 0},
    {"devices", "DEVICES", MYR_COLUMN_NUMBER},
    {"hosts_cut", "HOST PORTS CUT", MYR_COLUMN_NUMBER},
    {"nodes_dead", "NODES DEAD", MYR_COLUMN_NUMBER},
    {"nodes_cut", "NODES CUT", MYR_COLUMN_NUMBER},
    {"nodes_weakened", "NODES WEAKENED", MYR_COLUMN_NUMBER},
    {"gpus_lost", "GPUS LOST", MYR_COLUMN_NUMBER},
    {"bisection_left", "BISECTION LEFT", MYR_COLUMN_NUMBER},
    {"worst_pair_gbps", "WORST PAIR GB/S", MYR_COLUMN_NUMBER},
    {"flows_affected", "FLOWS AFFECTED", MYR_COLUMN_NUMBER},
};

struct blast_list {
    struct fabric_input *input;
    const struct myr_routes *routes;
    struct myr_table table;
};

static const char *const domain_names[] = {"scale-up", "rail-group", "pod", "rack"};

/* "pod/3": its members, or NULL. */
static const struct myr_domain *find_domain(const struct myr_design *design, struct myr_str name)
{
    for (uint32_t i = 0; i < design->domain_count; i++) {
        const struct myr_domain *domain = &design->domains[i];
        uint64_t index;
        if (domain->kind >= MYR_ARRAY_COUNT(domain_names)) {
            continue;
        }
        struct myr_str kind = myr_str_from(domain_names[domain->kind]);
        if (name.len > kind.len + 1 && memcmp(name.data, kind.data, kind.len) == 0 &&
            name.data[kind.len] == '/' &&
            myr_str_to_u64((struct myr_str){name.data + kind.len + 1, name.len - kind.len - 1},
                           &index) &&
            index == domain->index) {
            return domain;
        }
    }
    return NULL;
}

static int blast_one(void *context, struct myr_str name, struct myr_err *err)
{
    struct blast_list *list = context;
    struct fabric_input *input = list->input;
    const struct myr_domain *domain = find_domain(&input->design, name);
    uint32_t device, count = 1;
    const uint32_t *devices = &device;
    struct myr_blast blast;
    if (domain) {
        devices = &input->design.domain_devices[domain->first];
        count = domain->count;
    } else {
        int r = fabric_find_device(&input->graph, name, &device, err);
        if (r < 0) {
            myr_err_hint(err, "a device such as leaf/p0-g0-r0, or a domain such as pod/3");
            return r;
        }
    }
    myr_blast_radius(&input->graph, devices, count, list->routes, &blast);
    struct myr_table *table = &list->table;
    uint64_t full = blast.left.bisection_full_gbps;
    myr_table_str(table, name);
    myr_table_u64(table, blast.devices);
    myr_table_u64(table, blast.hosts_cut);
    myr_table_u64(table, blast.nodes_dead);
    myr_table_u64(table, blast.nodes_cut);
    myr_table_u64(table, blast.nodes_weakened);
    myr_table_u64(table, blast.gpus_lost);
    myr_table_double(table, full ? (double)blast.left.bisection_gbps / (double)full : 0, 4);
    myr_table_u64(table, blast.left.worst_pair_gbps);
    if (list->routes) {
        myr_table_u64(table, blast.flows_affected);
    } else {
        myr_table_text(table, NULL);
    }
    return MYR_OK;
}

static int blast_report(struct fabric_input *input, const char *names,
                        const struct myr_routes *routes, enum myr_format format,
                        struct myr_buf *buf, struct myr_err *err)
{
    struct blast_list list = {.input = input, .routes = routes};
    myr_table_init(&list.table, &input->arena, blast_columns, MYR_ARRAY_COUNT(blast_columns));
    int r = fabric_for_each(names, blast_one, &list, err);
    if (r == MYR_OK) {
        myr_table_write(&list.table, format, buf);
    }
    myr_table_done(&list.table);
    return r;
}

int repair_report(struct fabric_input *input, const struct repair_args *args,
                  const struct myr_balance_options *balance, enum myr_format format,
                  struct myr_buf *buf, struct myr_err *err)
{
    bool failover = args->failover || args->link || args->device;
    struct myr_routes routes = {0};
    const struct myr_routes *known = NULL;
    int r = MYR_OK;
    if (failover + args->degraded + (args->blast != NULL) > 1) {
        return myr_err_set(err, MYR_EINVAL,
                           "--failover, --degraded and --blast are three questions: ask one");
    }
    if (input->flows.items.count && !args->degraded) {
        uint64_t *load = myr_xcalloc((size_t)input->design.link_count * 2 + 1, sizeof(*load));
        r = myr_balance(&input->graph, balance, input->flows.items.items, input->flows.items.count,
                        &routes, load, err);
        free(load);
        if (r == MYR_OK && routes.sprayed) {
            r = myr_err_set(err, MYR_EINVAL,
                            "sprayed flows are on every path: take another --policy");
        }
        known = &routes;
    }
    if (r == MYR_OK && args->degraded) {
        degraded_report(input, format, buf);
    } else if (r == MYR_OK && args->blast) {
        r = blast_report(input, args->blast, known, format, buf, err);
    } else if (r == MYR_OK) {
        r = failover_report(input, args, known, format, buf, err);
    }
    myr_routes_done(&routes);
    return r;
}
