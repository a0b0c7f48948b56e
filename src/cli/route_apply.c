#include "route_apply.h"

#include "myriad/site.h"

const char *const route_target_names[ROUTE_TARGET_COUNT] = {"opensm", "roce"};

/* What became of the flows. */
struct outcome {
    const char *what;          /* "opensm", "roce", "tables" */
    const uint16_t *ports;     /* source ports by flow, or NULL */
    struct myr_routes routes;  /* as they are now */
    uint64_t *load;            /* by channel */
    uint32_t planned, refused; /* flows on their planned path, and not */
    uint32_t unknown;          /* entries of a file that are not of this design */
    bool same_seeds;           /* of all switches: their choices then depend on each other */
};

struct load_summary {
    double max, mean;
    uint32_t loaded;
};

static struct load_summary summarise(const struct myr_design *design, const uint64_t *load)
{
    struct load_summary ret = {0};
    uint64_t max = 0;
    double sum = 0;
    for (uint32_t channel = 0; channel < 2 * design->link_count; channel++) {
        uint32_t link = myr_channel_link(channel);
        bool host = myr_design_port_group(design, design->link_a[link])->role == MYR_PORT_NIC;
        if (load[channel] && !host) {
            max = load[channel] > max ? load[channel] : max;
            sum += (double)load[channel];
            ret.loaded++;
        }
    }
    ret.max = (double)max / MYR_LOAD_ONE;
    ret.mean = ret.loaded ? sum / ret.loaded / MYR_LOAD_ONE : 0;
    return ret;
}

static void put_port(struct myr_buf *buf, const struct myr_design *design, uint32_t port)
{
    myr_design_name(design, design->port_device[port], buf);
    myr_buf_putc(buf, ':');
    myr_design_port_name(design, port, buf);
}

static void json_port(struct myr_json *json, const char *key, const struct myr_design *design,
                      uint32_t port)
{
    struct myr_buf name = {0};
    put_port(&name, design, port);
    myr_json_str(json, key, (struct myr_str){name.data, name.len});
    myr_buf_done(&name);
}

/* Each flow with the ports that it leaves on its way. */
static void json_paths(struct myr_json *json, const struct fabric_input *input,
                       const struct outcome *outcome)
{
    const struct myr_routes *routes = &outcome->routes;
    const struct myr_design *design = &input->design;
    myr_json_list(json, "paths");
    for (size_t r = 0; r < routes->flow.count; r++) {
        uint32_t flow = routes->flow.items[r];
        myr_json_object(json, NULL);
        json_port(json, "from", design, input->flows.items.items[flow].from_port);
        json_port(json, "to", design, input->flows.items.items[flow].to_port);
        if (outcome->ports) {
            myr_json_u64(json, "source_port", outcome->ports[flow]);
        }
        myr_json_list(json, "egress");
        for (uint32_t i = routes->start.items[r] + 1; i < routes->start.items[r + 1]; i++) {
            json_port(json, NULL, design, myr_channel_from_port(design, routes->channels.items[i]));
        }
        myr_json_end(json);
        myr_json_end(json);
    }
    myr_json_end(json);
}

static void put_outcome(const struct fabric_input *input, const struct outcome *outcome,
                        enum myr_format format, struct myr_buf *buf)
{
    struct load_summary load = summarise(&input->design, outcome->load);
    size_t flows = input->flows.items.count;
    if (format != MYR_FORMAT_JSON) {
        myr_buf_printf(buf, "%s: %zu flows", outcome->what, flows);
        if (outcome->planned + outcome->refused) {
            myr_buf_printf(buf, ", %u on their planned path, %u not", outcome->planned,
                           outcome->refused);
        }
        myr_buf_printf(buf, ", %u without a path\n", outcome->routes.unroutable);
        myr_buf_printf(buf, "links between switches: %u loaded, at most %.3f, on average %.3f\n",
                       load.loaded, load.max, load.mean);
        if (outcome->same_seeds && outcome->refused) {
            myr_buf_put_lit(buf, "all switches hash with one seed, which leaves some paths to no "
                                 "port: give them seeds of their own (--seeds)\n");
        }
        return;
    }
    struct myr_json json;
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_text(&json, "policy", outcome->what);
    myr_json_u64(&json, "flows", flows);
    myr_json_u64(&json, "planned", outcome->planned);
    myr_json_u64(&json, "refused", outcome->refused);
    myr_json_u64(&json, "unroutable", outcome->routes.unroutable);
    myr_json_u64(&json, "unknown", outcome->unknown);
    myr_json_double(&json, "max_link_load", load.max, 6);
    myr_json_double(&json, "mean_link_load", load.mean, 6);
    myr_json_u64(&json, "loaded_channels", load.loaded);
    json_paths(&json, input, outcome);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

/* The paths wanted for the flows: conflict-free where that is possible. */
static int plan_flows(struct fabric_input *input, struct myr_routes *ret, struct myr_err *err)
{
    struct myr_balance_options options = {.policy = MYR_POLICY_PLANNED};
    uint64_t *load = MYR_ARENA_NEW(&input->arena, uint64_t, 2 * (size_t)input->design.link_count);
    return myr_balance(&input->graph, &options, input->flows.items.items, input->flows.items.count,
                       ret, load, err);
}

static int open_binding(struct fabric_input *input, const struct route_apply *wanted,
                        struct myr_binding *binding, struct myr_err *err)
{
    myr_binding_init(binding, &input->arena, &input->design);
    return wanted->binding ? myr_binding_read(binding, wanted->binding, err) : MYR_OK;
}

static int apply_opensm(struct fabric_input *input, const struct route_apply *wanted,
                        struct outcome *ret, struct myr_err *err)
{
    struct myr_tables tables;
    struct myr_binding binding;
    struct myr_routes planned = {0};
    const struct myr_flow *flows = input->flows.items.items;
    int r = open_binding(input, wanted, &binding, err);
    r = r < 0 ? r : myr_tables_init(&tables, &input->arena, &input->graph, err);
    r = r < 0 || wanted->keep_static ? r : plan_flows(input, &planned, err);
    if (r == MYR_OK) {
        myr_tables_fill(&tables);
        ret->refused = wanted->keep_static ? 0 : myr_tables_plan(&tables, &planned, flows);
        ret->planned = (uint32_t)planned.flow.count - ret->refused;
        myr_tables_routes(&tables, flows, input->flows.items.count, &ret->routes, ret->load);
        r = myr_tables_write(&tables, &binding, wanted->out, err);
    }
    myr_routes_done(&planned);
    myr_binding_done(&binding);
    return r;
}

static void put_connections(const struct fabric_input *input, const struct myr_addresses *addresses,
                            const struct myr_source_ports *chosen, struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "from,to,from_address,to_address,source_port,planned\n");
    for (size_t f = 0; f < input->flows.items.count; f++) {
        const struct myr_flow *flow = &input->flows.items.items[f];
        put_port(buf, &input->design, flow->from_port);
        myr_buf_putc(buf, ',');
        put_port(buf, &input->design, flow->to_port);
        myr_buf_putc(buf, ',');
        myr_address_put(buf, myr_address_of_port(addresses, flow->from_port));
        myr_buf_putc(buf, ',');
        myr_address_put(buf, myr_address_of_port(addresses, flow->to_port));
        myr_buf_printf(buf, ",%u,%s\n", chosen->ports[f], chosen->exact[f] ? "yes" : "no");
    }
}

static int apply_roce(struct fabric_input *input, const struct route_apply *wanted,
                      struct outcome *ret, struct myr_err *err)
{
    struct myr_addresses addresses;
    struct myr_switch_hashes hashes;
    struct myr_routes planned = {0};
    struct myr_buf text = {0};
    const struct myr_design *design = &input->design;
    int r = myr_addresses_init(&addresses, &input->arena, design, input->graph.net_id, err);
    myr_switch_hashes_init(&hashes, &input->arena, design, (enum myr_switch_hash)wanted->hash,
                           (uint32_t)wanted->seed);
    if (r == MYR_OK && wanted->seeds) {
        r = myr_switch_seeds_read(&hashes, design, wanted->seeds, err);
    }
    if (r == MYR_OK && wanted->order) {
        r = myr_switch_order_read(&hashes, &input->arena, design, wanted->order, err);
    }
    r = r < 0 ? r : plan_flows(input, &planned, err);
    if (r == MYR_OK) {
        struct myr_source_ports chosen;
        myr_source_ports_choose(&chosen, &input->arena, &input->graph, &addresses, &hashes,
                                input->flows.items.items, input->flows.items.count, &planned);
        put_connections(input, &addresses, &chosen, &text);
        ret->ports = chosen.ports;
        ret->routes = chosen.routes;
        ret->load = chosen.load;
        ret->planned = chosen.exact_count;
        ret->refused = (uint32_t)(chosen.routes.flow.count - chosen.exact_count);
        ret->same_seeds = !wanted->seeds;
        r = myr_file_write(wanted->out, &text, err);
    }
    myr_buf_done(&text);
    myr_routes_done(&planned);
    return r;
}

static uint64_t *no_load(struct fabric_input *input)
{
    return MYR_ARENA_NEW(&input->arena, uint64_t, 2 * (size_t)input->design.link_count);
}

int route_apply(struct fabric_input *input, const struct route_apply *wanted,
                enum myr_format format, struct myr_buf *buf, struct myr_err *err)
{
    if (!wanted->out) {
        int r = myr_err_set(err, MYR_EINVAL, "route apply needs a file to write");
        myr_err_hint(err, "myriad route apply DESIGN --for %s --out FILE",
                     route_target_names[wanted->target]);
        return r;
    }
    struct outcome outcome = {.what = route_target_names[wanted->target], .load = no_load(input)};
    int r = wanted->target == ROUTE_TARGET_OPENSM ? apply_opensm(input, wanted, &outcome, err)
                                                  : apply_roce(input, wanted, &outcome, err);
    if (r == MYR_OK) {
        put_outcome(input, &outcome, format, buf);
    }
    myr_routes_done(&outcome.routes);
    return r;
}

int route_tables(struct fabric_input *input, const struct route_apply *wanted,
                 enum myr_format format, struct myr_buf *buf, struct myr_err *err)
{
    struct myr_tables tables;
    struct myr_binding binding;
    struct outcome outcome = {.what = "tables", .load = no_load(input)};
    int r = open_binding(input, wanted, &binding, err);
    r = r < 0 ? r : myr_tables_init(&tables, &input->arena, &input->graph, err);
    r = r < 0 ? r : myr_tables_read(&tables, &binding, wanted->tables, &outcome.unknown, err);
    if (r == MYR_OK) {
        myr_tables_routes(&tables, input->flows.items.items, input->flows.items.count,
                          &outcome.routes, outcome.load);
        put_outcome(input, &outcome, format, buf);
    }
    myr_routes_done(&outcome.routes);
    myr_binding_done(&binding);
    return r;
}
