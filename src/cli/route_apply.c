#include "route_apply.h"

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
static void json_paths(struct myr_json *json, const struct myr_fabric_case *input,
                       const struct myr_applied *outcome)
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

static void put_outcome(const struct myr_fabric_case *input, const struct myr_applied *outcome,
                        enum myr_format format, struct myr_buf *buf)
{
    size_t flows = input->flows.items.count;
    if (format != MYR_FORMAT_JSON) {
        myr_buf_printf(buf, "%s: %zu flows", outcome->what, flows);
        if (outcome->planned + outcome->refused) {
            myr_buf_printf(buf, ", %u on their planned path, %u not", outcome->planned,
                           outcome->refused);
        }
        myr_buf_printf(buf, ", %u without a path\n", outcome->routes.unroutable);
        myr_buf_printf(buf, "links between switches: %u loaded, at most %.3f, on average %.3f\n",
                       outcome->loaded, outcome->max_load, outcome->mean_load);
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
    myr_json_double(&json, "max_link_load", outcome->max_load, 6);
    myr_json_double(&json, "mean_link_load", outcome->mean_load, 6);
    myr_json_u64(&json, "loaded_channels", outcome->loaded);
    json_paths(&json, input, outcome);
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

int route_apply(struct myr_fabric_case *input, const struct route_apply *wanted,
                enum myr_format format, struct myr_buf *buf, struct myr_err *err)
{
    MYR_CLEANUP(myr_applied_done) struct myr_applied applied = {0};
    struct myr_apply_question question = wanted->question;
    question.target = (enum myr_apply_target)wanted->target;
    question.hash = (enum myr_switch_hash)wanted->hash;
    int rc = myr_apply(input, &question, &applied, err);
    if (rc == MYR_OK) {
        put_outcome(input, &applied, format, buf);
    }
    return rc;
}

int route_tables(struct myr_fabric_case *input, const struct route_apply *wanted,
                 enum myr_format format, struct myr_buf *buf, struct myr_err *err)
{
    MYR_CLEANUP(myr_applied_done) struct myr_applied applied = {0};
    int rc = myr_apply_tables(input, wanted->tables, wanted->question.binding, &applied, err);
    if (rc == MYR_OK) {
        put_outcome(input, &applied, format, buf);
    }
    return rc;
}
