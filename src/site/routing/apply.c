#include "myriad/site/apply.h"

#include "export/writers.h"
#include "myriad/site/deadlock.h"
#include "routing/engine.h"

/*
 * Planned paths for a real fabric: as forwarding tables for OpenSM, or as source ports that make
 * Ethernet switches choose them. Either is written only when it cannot deadlock.
 */

const char *const myr_apply_target_names[MYR_APPLY_TARGET_COUNT] = {"opensm", "roce"};

/* Host links are left out: what enters and leaves there is the same whatever the paths. */
static void summarise(const struct myr_design *design, struct myr_applied *applied)
{
    uint64_t max = 0;
    double sum = 0;
    for (uint32_t channel = 0; channel < 2 * design->link_count; channel++) {
        uint32_t link = myr_channel_link(channel);
        bool host = myr_design_port_group(design, design->link_a[link])->role == MYR_PORT_NIC;
        uint64_t load = applied->load[channel];
        if (load && !host) {
            max = load > max ? load : max;
            sum += (double)load;
            applied->loaded++;
        }
    }
    applied->max_load = (double)max / (double)MYR_LOAD_ONE;
    applied->mean_load = applied->loaded ? sum / applied->loaded / (double)MYR_LOAD_ONE : 0;
}

/* Zeroed, one for each direction of a link. */
static uint64_t *new_load(struct myr_fabric_case *fabric)
{
    return MYR_ARENA_NEW(&fabric->arena, uint64_t, 2 * (size_t)fabric->design.link_count);
}

/* The paths wanted for the flows: conflict-free where that is possible. */
static int plan_flows(struct myr_fabric_case *fabric, struct myr_routes *ret, struct myr_err *err)
{
    struct myr_balance_options options = {.policy = MYR_POLICY_PLANNED};
    return myr_balance(&fabric->graph, &options, fabric->flows.items.items,
                       fabric->flows.items.count, ret, new_load(fabric), err);
}

/* Without a file the binding is empty, and GUIDs are those made up for the design. */
static int open_binding(struct myr_fabric_case *fabric, const char *path,
                        struct myr_binding *binding, struct myr_err *err)
{
    myr_binding_init(binding, &fabric->arena, &fabric->design);
    return path ? myr_binding_read(binding, path, err) : MYR_OK;
}

/* Everything on one lane: the first edge of a circle is one too many. */
static struct myr_cycle find_cycle(struct myr_fabric_case *fabric,
                                   const struct myr_dependencies *dependencies,
                                   struct myr_applied *ret)
{
    ret->dependencies = myr_dependencies_count(dependencies);
    return myr_dependencies_cycle(dependencies, &fabric->arena);
}

/* Tables of destinations say all that can happen; no flow adds to it. */
static struct myr_cycle tables_cycle(struct myr_fabric_case *fabric,
                                     const struct myr_tables *tables, struct myr_applied *ret)
{
    struct myr_dependencies dependencies;
    myr_dependencies_init(&dependencies, &fabric->arena, &fabric->graph);
    myr_dependencies_tables(&dependencies, tables);
    return find_cycle(fabric, &dependencies, ret);
}

static int refuse_cycle(const struct myr_fabric_case *fabric, const struct myr_cycle *cycle,
                        const char *what, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf ports = {};
    myr_cycle_put(cycle, &fabric->design, &ports);
    return myr_err_set(err, MYR_EINFEASIBLE,
                       "%s could deadlock on one lane: %u links wait for each other in a circle "
                       "(%s); nothing was written",
                       what, cycle->count, ports.data);
}

/*
 * Tables carry no service level, so a fabric whose paths need several lanes is left to an engine
 * that hands out levels and paths together: its settings are written instead.
 */
static int write_engine(struct myr_fabric_case *fabric, const struct myr_apply_question *question,
                        const struct myr_binding *binding, struct myr_applied *ret,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf torus = {};
    struct engine_files files = {};
    /*
     * A torus that cannot be described (too many sides, rings broken twice) goes without its own
     * engine.
     */
    if (fabric->graph.net->topology == MYR_TOPOLOGY_TORUS &&
        engine_put_torus(&fabric->graph, binding, &torus)) {
        files.torus = myr_arena_printf(&fabric->arena, "%s.torus",
                                       question->whole_out ? question->whole_out : question->out);
    }
    engine_put_options(fabric->graph.net, &files, &text);
    ret->engine = engine_list(fabric->graph.net, files.torus);
    /* Options that name a file which is not there would stop OpenSM: both appear, or none. */
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    MYR_TRY(myr_file_set_begin(&set, NULL, err));
    if (files.torus) {
        const char *path = myr_arena_printf(&fabric->arena, "%s.torus", question->out);
        MYR_TRY(myr_file_set_add(&set, path, &torus, err));
    }
    MYR_TRY(myr_file_set_add(&set, question->out, &text, err));
    return myr_file_set_commit(&set, err);
}

/* Routes that tables cannot hold, or hold only in part, are no answer. */
static bool tables_serve(struct myr_fabric_case *fabric, const struct myr_tables *tables)
{
    const struct myr_graph *graph = &fabric->graph;
    /* A tree's tables leave out what is cut off; any other engine would leave it out as well. */
    if (engine_has_roots(graph->net) || graph->dead_count == 0) {
        return true;
    }
    for (uint32_t h = 0; h < tables->host_count; h++) {
        uint32_t to = tables->hosts[h], link = fabric->design.port_link[to];
        for (uint32_t s = 0; s < graph->switch_count && !myr_graph_link_dead(graph, link); s++) {
            /* A switch that cannot reach a living host. */
            if (tables->egress[(size_t)s * tables->columns + h] == 0) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Static tables first, planned flows over them: entries that no flow needs are filled all the same.
 */
static int apply_opensm(struct myr_fabric_case *fabric, const struct myr_apply_question *question,
                        struct myr_applied *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_binding_done) struct myr_binding binding = {};
    MYR_CLEANUP(myr_routes_done) struct myr_routes planned = {};
    struct myr_tables tables;
    const struct myr_flow *flows = fabric->flows.items.items;
    MYR_TRY(open_binding(fabric, question->binding, &binding, err));
    MYR_TRY(myr_tables_init(&tables, &fabric->arena, &fabric->graph, err));
    MYR_TRY(question->keep_static ? MYR_OK : plan_flows(fabric, &planned, err));
    myr_tables_fill(&tables);
    ret->refused = question->keep_static ? 0 : myr_tables_plan(&tables, &planned, flows);
    MYR_ASSERT(ret->refused <= planned.flow.count);
    /* Flows that the tables could take up. */
    ret->planned = (uint32_t)planned.flow.count - ret->refused;
    struct myr_cycle cycle = tables_cycle(fabric, &tables, ret);
    /* In a tree this cannot be mended by lanes; other fabrics have engines that deal with it. */
    if (cycle.count || !tables_serve(fabric, &tables)) {
        /* The engine chooses its own paths. */
        ret->planned = ret->refused = 0;
        return engine_has_roots(fabric->graph.net)
                   ? refuse_cycle(fabric, &cycle, "a file of these tables", err)
                   : write_engine(fabric, question, &binding, ret, err);
    }
    ret->engine = "file";
    /* Loads are those of the tables as written, with flows that were refused on other paths. */
    myr_tables_routes(&tables, flows, fabric->flows.items.count, &ret->routes, ret->load);
    return myr_tables_write(&tables, &binding, question->out, err);
}

static void put_port(struct myr_buf *buf, const struct myr_design *design, uint32_t port)
{
    myr_design_name(design, design->port_device[port], buf);
    myr_buf_putc(buf, ':');
    myr_design_port_name(design, port, buf);
}

/* What a job's launcher reads: one line a connection. */
static void put_connections(const struct myr_fabric_case *fabric,
                            const struct myr_addresses *addresses,
                            const struct myr_source_ports *chosen, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "from,to,from_address,to_address,source_port,planned\n");
    for (size_t f = 0; f < fabric->flows.items.count; f++) {
        const struct myr_flow *flow = &fabric->flows.items.items[f];
        put_port(buf, &fabric->design, flow->from_port);
        myr_buf_putc(buf, ',');
        put_port(buf, &fabric->design, flow->to_port);
        myr_buf_putc(buf, ',');
        myr_address_put(buf, myr_address_of_port(addresses, flow->from_port));
        myr_buf_putc(buf, ',');
        myr_address_put(buf, myr_address_of_port(addresses, flow->to_port));
        myr_buf_printf(buf, ",%u,%s\n", chosen->ports[f], chosen->exact[f] ? "yes" : "no");
    }
}

/* The same seed everywhere, unless a file says otherwise. */
static int read_hashes(struct myr_fabric_case *fabric, const struct myr_apply_question *question,
                       struct myr_switch_hashes *ret, struct myr_err *err)
{
    const struct myr_design *design = &fabric->design;
    int rc = MYR_OK;
    myr_switch_hashes_init(ret, &fabric->arena, design, question->hash, (uint32_t)question->seed);
    if (question->seeds) {
        rc = myr_switch_seeds_read(ret, design, question->seeds, err);
    }
    if (rc == MYR_OK && question->order) {
        rc = myr_switch_order_read(ret, &fabric->arena, design, question->order, err);
    }
    return rc;
}

/* PFC keeps a class for the whole way, so all that switches may do must be free of circles. */
static int check_hashed(struct myr_fabric_case *fabric, struct myr_applied *ret,
                        struct myr_err *err)
{
    struct myr_dependencies dependencies;
    myr_dependencies_init(&dependencies, &fabric->arena, &fabric->graph);
    myr_dependencies_hashed(&dependencies, &ret->routes);
    struct myr_cycle cycle = find_cycle(fabric, &dependencies, ret);
    if (cycle.count == 0) {
        return MYR_OK;
    }
    int rc = refuse_cycle(fabric, &cycle, "lossless RoCE over these paths", err);
    myr_err_hint(err, "a connection keeps its class: only paths up and then down a tree are safe");
    return rc;
}

/* Plans paths, then looks for source ports that make the switches take them. */
static int apply_roce(struct myr_fabric_case *fabric, const struct myr_apply_question *question,
                      struct myr_applied *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_routes_done) struct myr_routes planned = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_addresses addresses;
    struct myr_switch_hashes hashes;
    struct myr_source_ports chosen;
    int rc =
        myr_addresses_init(&addresses, &fabric->arena, &fabric->design, fabric->graph.net_id, err);
    if (rc < 0) {
        return rc;
    }
    MYR_TRY(read_hashes(fabric, question, &hashes, err));
    MYR_TRY(plan_flows(fabric, &planned, err));
    myr_source_ports_choose(&chosen, &fabric->arena, &fabric->graph, &addresses, &hashes,
                            fabric->flows.items.items, fabric->flows.items.count, &planned);
    ret->ports = chosen.ports;
    ret->routes = chosen.routes;
    ret->load = chosen.load;
    ret->planned = chosen.exact_count;
    MYR_ASSERT(chosen.exact_count <= chosen.routes.flow.count);
    ret->refused = (uint32_t)(chosen.routes.flow.count - chosen.exact_count);
    /* Without a file all switches have one seed. */
    ret->same_seeds = !question->seeds;
    MYR_TRY(check_hashed(fabric, ret, err)); /* with the detours that some of them take */
    put_connections(fabric, &addresses, &chosen, &text);
    return myr_file_write(question->out, &text, err);
}

/* Before anything is computed: a plan of a large fabric takes a while. */
int myr_apply_check(const struct myr_apply_question *question, struct myr_err *err)
{
    if (!question->out) {
        int rc = myr_err_set(err, MYR_EINVAL, "route apply needs a file to write");
        myr_err_hint(err, "myriad route apply DESIGN --for %s --out FILE",
                     myr_apply_target_names[question->target]);
        return rc;
    }
    return MYR_OK;
}

/* Source ports steer no InfiniBand switch, and OpenSM no Ethernet one. */
static int check_technology(const struct myr_fabric_case *fabric,
                            const struct myr_apply_question *question, struct myr_err *err)
{
    struct myr_export job = {.design = &fabric->design, .catalog = question->catalog};
    enum myr_net_id net = fabric->graph.net_id;
    /* Without a catalogue nobody knows, and either target is taken. */
    enum myr_technology found = question->catalog ? export_technology(&job, net) : MYR_TECH_ANY;
    bool opensm = question->target == MYR_APPLY_OPENSM;
    if (found == MYR_TECH_ANY || opensm == (found == MYR_TECH_INFINIBAND)) {
        return MYR_OK;
    }
    int rc =
        myr_err_set(err, MYR_EINVAL, "the %s network is %s, --for %s is of %s", myr_net_names[net],
                    opensm ? "Ethernet" : "InfiniBand", myr_apply_target_names[question->target],
                    opensm ? "InfiniBand" : "Ethernet");
    myr_err_hint(err, "--for %s",
                 myr_apply_target_names[opensm ? MYR_APPLY_ROCE : MYR_APPLY_OPENSM]);
    return rc;
}

int myr_apply(struct myr_fabric_case *fabric, const struct myr_apply_question *question,
              struct myr_applied *ret, struct myr_err *err)
{
    const char *name = myr_apply_target_names[question->target];
    *ret = (struct myr_applied){.what = name, .load = new_load(fabric)};
    MYR_TRY(myr_apply_check(question, err));
    MYR_TRY(check_technology(fabric, question, err));
    MYR_TRY(question->target == MYR_APPLY_OPENSM ? apply_opensm(fabric, question, ret, err)
                                                 : apply_roce(fabric, question, ret, err));
    summarise(&fabric->design, ret);
    return MYR_OK;
}

/* Tables found are judged, not refused: a circle in them is part of the answer. */
int myr_apply_tables(struct myr_fabric_case *fabric, const char *path, const char *binding_path,
                     struct myr_applied *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_binding_done) struct myr_binding binding = {};
    struct myr_tables tables;
    *ret = (struct myr_applied){.what = "tables", .load = new_load(fabric)};
    MYR_TRY(open_binding(fabric, binding_path, &binding, err));
    MYR_TRY(myr_tables_init(&tables, &fabric->arena, &fabric->graph, err));
    MYR_TRY(myr_tables_read(&tables, &binding, path, &ret->unknown, err));
    ret->cycle = tables_cycle(fabric, &tables, ret);
    myr_tables_routes(&tables, fabric->flows.items.items, fabric->flows.items.count, &ret->routes,
                      ret->load);
    summarise(&fabric->design, ret);
    return MYR_OK;
}

void myr_applied_done(struct myr_applied *applied)
{
    myr_routes_done(&applied->routes);
}
