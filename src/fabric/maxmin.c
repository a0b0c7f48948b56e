#include "myriad/fabric/balance.h"

#include <stdlib.h>

/*
 * Progressive filling. All rates rise together until a channel is full; its routes are then fixed
 * at that share, and the rest goes on. Channels wait in a heap by the share at which they would
 * fill; shares only grow as routes are fixed elsewhere, so an entry that turns out to be too early
 * is put back. A route's weight is a channel of its own that caps it.
 */

struct filling {
    const struct myr_routes *routes;
    uint32_t route_count, channel_count; /* of those in use */
    uint32_t *route_start;               /* by channel: routes over it */
    uint32_t *route_list;                /* from route_start on */
    uint64_t *left;                      /* capacity not given away */
    uint32_t *active;                    /* routes not fixed yet */
    uint32_t *dense;                     /* channel id to position among the used ones */
    struct myr_heap heap;                /* by the share at which a channel fills */
};

/* In parts of a host port's rate, as the weights of routes are. */
static uint64_t capacity_of(const struct myr_graph *graph, uint32_t channel)
{
    return MYR_LOAD_ONE * myr_channel_gbps(graph->design, channel) / graph->net->host_gbps;
}

/*
 * Numbers the channels in use, and lists the routes of each. Starts are counted two places ahead
 * and filled one place ahead, so that they end up where they belong.
 */
static void list_routes(const struct myr_graph *graph, struct filling *filling)
{
    const struct myr_routes *routes = filling->routes;
    /* Two channels a link, one for each direction. */
    size_t all = (size_t)graph->design->link_count * 2;
    filling->dense = myr_xrealloc(NULL, all ? all : 1, sizeof(uint32_t));
    memset(filling->dense, 0xFF, all * sizeof(uint32_t));
    for (size_t i = 0; i < routes->channels.count; i++) {
        uint32_t *place = &filling->dense[routes->channels.items[i]];
        if (*place == MYR_NONE) {
            *place = filling->channel_count++;
        }
    }
    /* Routes are channels too, behind the real ones: each caps itself. */
    uint32_t total = filling->channel_count + filling->route_count;
    filling->route_start = myr_xrealloc(NULL, (size_t)total + 2, sizeof(uint32_t));
    memset(filling->route_start, 0, ((size_t)total + 2) * sizeof(uint32_t));
    filling->left = myr_xrealloc(NULL, total ? total : 1, sizeof(uint64_t));
    filling->active = myr_xrealloc(NULL, total ? total : 1, sizeof(uint32_t));
    for (size_t i = 0; i < routes->channels.count; i++) {
        uint32_t channel = routes->channels.items[i];
        filling->route_start[filling->dense[channel] + 2]++;
        filling->left[filling->dense[channel]] = capacity_of(graph, channel);
    }
    for (uint32_t i = 2; i < filling->channel_count + 2; i++) {
        filling->route_start[i] += filling->route_start[i - 1];
    }
    filling->route_list =
        myr_xrealloc(NULL, routes->channels.count ? routes->channels.count : 1, sizeof(uint32_t));
    for (uint32_t r = 0; r < filling->route_count; r++) {
        for (uint32_t i = routes->start.items[r]; i < routes->start.items[r + 1]; i++) {
            uint32_t place = filling->dense[routes->channels.items[i]];
            filling->route_list[filling->route_start[place + 1]++] = r;
        }
    }
}

/* The share at which the channel would fill if all of its routes left went on rising. */
static void push_channel(struct filling *filling, uint32_t place)
{
    uint64_t share = filling->left[place] / filling->active[place];
    myr_heap_push(&filling->heap, (int64_t)share, place);
}

/* Rounded shares may ask for a little more than is left: never below zero. */
static void fix_route(struct filling *filling, uint32_t route, uint64_t rate, uint64_t *ret_rate)
{
    const struct myr_routes *routes = filling->routes;
    ret_rate[route] = rate;
    for (uint32_t i = routes->start.items[route]; i < routes->start.items[route + 1]; i++) {
        uint32_t place = filling->dense[routes->channels.items[i]];
        filling->left[place] -= rate < filling->left[place] ? rate : filling->left[place];
        MYR_ASSERT(filling->active[place] > 0); /* each route is fixed once */
        filling->active[place]--;
    }
    filling->active[filling->channel_count + route] = 0;
}

/* Most routes ask for line rate, and their host's port sees to that. */
static bool capped_by_host(const struct filling *filling, uint32_t route)
{
    const struct myr_routes *routes = filling->routes;
    uint32_t first = routes->start.items[route];
    return first < routes->start.items[route + 1] &&
           filling->left[filling->dense[routes->channels.items[first]]] <=
               filling->left[filling->channel_count + route];
}

/* Every channel waits once; routes only where their own cap may come first. */
static void start_filling(struct filling *filling)
{
    for (uint32_t place = 0; place < filling->channel_count; place++) {
        filling->active[place] = filling->route_start[place + 1] - filling->route_start[place];
        push_channel(filling, place);
    }
    for (uint32_t route = 0; route < filling->route_count; route++) {
        uint32_t place = filling->channel_count + route;
        filling->left[place] = MYR_LOAD_ONE * filling->routes->weight.items[route] / MYR_SHARE_ONE;
        filling->active[place] = 1;
        if (!capped_by_host(filling, route)) {
            push_channel(filling, place);
        }
    }
}

static void filling_done(struct filling *filling)
{
    myr_heap_done(&filling->heap);
    free(filling->route_start);
    free(filling->route_list);
    free(filling->left);
    free(filling->active);
    free(filling->dense);
}

void myr_max_min(const struct myr_graph *graph, const struct myr_routes *routes, uint64_t *ret_rate)
{
    MYR_CLEANUP(filling_done)
    struct filling filling = {.routes = routes, .route_count = (uint32_t)routes->flow.count};
    list_routes(graph, &filling);
    start_filling(&filling);
    for (uint32_t route = 0; route < filling.route_count; route++) {
        /* Not fixed yet. */
        ret_rate[route] = UINT64_MAX;
    }
    struct myr_heap_item item;
    while (myr_heap_pop(&filling.heap, &item)) {
        uint32_t place = (uint32_t)item.value;
        /* All of its routes were fixed elsewhere. */
        if (filling.active[place] == 0) {
            continue;
        }
        uint64_t share = filling.left[place] / filling.active[place];
        /* Routes over it were fixed elsewhere at less: it fills later than it was thought to. */
        if ((int64_t)share > item.key) {
            push_channel(&filling, place);
            continue;
        }
        /* The route's own cap is what binds it. */
        if (place >= filling.channel_count) {
            fix_route(&filling, place - filling.channel_count, share, ret_rate);
            continue;
        }
        /* The channel is full: all of its routes that still rise stop here. */
        for (uint32_t i = filling.route_start[place]; i < filling.route_start[place + 1]; i++) {
            if (ret_rate[filling.route_list[i]] == UINT64_MAX) {
                fix_route(&filling, filling.route_list[i], share, ret_rate);
            }
        }
    }
    for (uint32_t route = 0; route < filling.route_count; route++) {
        if (ret_rate[route] == UINT64_MAX) {
            ret_rate[route] = 0; /* a route without channels */
        }
    }
}
