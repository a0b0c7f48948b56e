#include "route/applied.h"

/* Each flow with the ports that it leaves on its way. */
static void put_path(struct cli *cli, const struct myr_fabric_case *fabric,
                     const struct myr_applied *applied, size_t route)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_routes *routes = &applied->routes;
    const struct myr_design *design = &fabric->design;
    const struct myr_flow *flow = &fabric->flows.items.items[routes->flow.items[route]];
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "from", myr_name_port(&cli->arena, design, flow->from_port));
    myr_answer_text(answer, "to", myr_name_port(&cli->arena, design, flow->to_port));
    if (applied->ports) {
        myr_answer_u64(answer, "source_port", applied->ports[routes->flow.items[route]]);
    } else {
        myr_answer_null(answer, "source_port");
    }
    myr_answer_list(answer, "egress");
    for (uint32_t i = routes->start.items[route] + 1; i < routes->start.items[route + 1]; i++) {
        uint32_t port = myr_channel_from_port(design, routes->channels.items[i]);
        myr_answer_text(answer, NULL, myr_name_port(&cli->arena, design, port));
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

static void show(struct myr_answer *answer, const struct myr_fabric_case *fabric,
                 const struct myr_applied *applied)
{
    char flows[32];
    myr_answer_fact(answer, "flows", "%s, %u without a path",
                    myr_u64_grouped(fabric->flows.items.count, flows), applied->routes.unroutable);
    if (applied->planned + applied->refused) {
        myr_answer_fact(answer, "planned", "%u on their planned path, %u not", applied->planned,
                        applied->refused);
    }
    if (applied->unknown) {
        myr_answer_fact(answer, "unknown", "%u entries of the file are not of this design",
                        applied->unknown);
    }
    myr_answer_fact(answer, "link load",
                    "at most %.3f of line rate, on average %.3f, over %u channels between switches",
                    applied->max_load, applied->mean_load, applied->loaded);
    if (applied->same_seeds && applied->refused) {
        myr_answer_para(answer, "All switches hash with one seed, which leaves some paths to no "
                                "port: give them seeds of their own (--seeds).");
    }
}

void cli_route_applied(struct cli *cli, const struct myr_fabric_case *fabric,
                       const struct myr_applied *applied)
{
    struct myr_answer *answer = &cli->answer;
    myr_answer_text(answer, "policy", applied->what);
    myr_answer_u64(answer, "flows", fabric->flows.items.count);
    myr_answer_u64(answer, "planned", applied->planned);
    myr_answer_u64(answer, "refused", applied->refused);
    myr_answer_u64(answer, "unroutable", applied->routes.unroutable);
    myr_answer_u64(answer, "unknown", applied->unknown);
    myr_answer_double(answer, "max_link_load", applied->max_load, 6);
    myr_answer_double(answer, "mean_link_load", applied->mean_load, 6);
    myr_answer_u64(answer, "loaded_channels", applied->loaded);
    struct myr_value *paths = myr_answer_list(answer, "paths");
    for (size_t r = 0; r < applied->routes.flow.count; r++) {
        put_path(cli, fabric, applied, r);
    }
    myr_answer_end(answer);
    show(answer, fabric, applied);
    myr_answer_rows(answer, paths);
}
