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

/* What was looked at, and what was found: a circle only where tables were read. */
static void show_deadlock(struct myr_answer *answer, const struct myr_fabric_case *fabric,
                          const struct myr_applied *applied)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf ports = {};
    char count[32];
    myr_u64_grouped(applied->dependencies, count);
    if (applied->engine && strcmp(applied->engine, "file") != 0) {
        myr_answer_fact(answer, "deadlock",
                        "tables alone could deadlock, and carry no service level: OpenSM's "
                        "engines %s choose paths and lanes",
                        applied->engine);
    } else if (applied->cycle.count == 0) {
        myr_answer_fact(answer, "deadlock", "none possible: no circle in %s dependencies, one lane",
                        count);
    } else {
        myr_cycle_put(&applied->cycle, &fabric->design, &ports);
        myr_answer_fact(answer, "deadlock", "possible if all paths share a lane: %s (%s)",
                        MYR_COUNT(applied->cycle.count, "link"), ports.data);
    }
}

/* Ports of one circle of links that wait for each other; empty where there is none. */
static void put_cycle(struct cli *cli, const struct myr_design *design,
                      const struct myr_cycle *cycle)
{
    struct myr_answer *answer = &cli->answer;
    myr_answer_list(answer, "cycle");
    for (uint32_t i = 0; i < cycle->count; i++) {
        uint32_t port = myr_channel_from_port(design, cycle->channels[i]);
        myr_answer_text(answer, NULL, myr_name_port(&cli->arena, design, port));
    }
    myr_answer_end(answer);
}

/* For people; what does not arise in this case is not mentioned. */
static void show(struct myr_answer *answer, const struct myr_fabric_case *fabric,
                 const struct myr_applied *applied)
{
    myr_answer_fact(answer, "flows", "%s, %s without a path",
                    MYR_GROUPED(fabric->flows.items.count),
                    MYR_GROUPED(applied->routes.unroutable));
    if (applied->planned + applied->refused) {
        myr_answer_fact(answer, "planned", "%s on their planned path, %s not",
                        MYR_GROUPED(applied->planned), MYR_GROUPED(applied->refused));
    }
    if (applied->unknown) {
        myr_answer_fact(answer, "unknown", "%s of the file %s not of this design",
                        MYR_COUNT(applied->unknown, "entry"), applied->unknown == 1 ? "is" : "are");
    }
    show_deadlock(answer, fabric, applied);
    if (applied->routes.start.count == 0) {
        return; /* the paths are not ours to tell */
    }
    myr_answer_fact(answer, "link load",
                    "at most %.3f of line rate, on average %.3f, over %s between switches",
                    applied->max_load, applied->mean_load, MYR_COUNT(applied->loaded, "channel"));
    if (applied->same_seeds && applied->refused) {
        myr_answer_para(answer, "All switches hash with one seed, which leaves some paths to no "
                                "port: give them seeds of their own (--seeds).");
    }
}

/* Paths are the rows of CSV; of an engine that chooses them itself there are none. */
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
    if (applied->engine) {
        myr_answer_text(answer, "engine", applied->engine);
    } else {
        myr_answer_null(answer, "engine");
    }
    myr_answer_u64(answer, "dependencies", applied->dependencies);
    put_cycle(cli, &fabric->design, &applied->cycle);
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
    myr_answer_header(answer, "from to source_port egress");
}
