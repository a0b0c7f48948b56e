#include <stddef.h>

#include "plan_internal.h"

/*
 * What cannot be built is refused with the nearest that can. Nothing is derived here: one key of
 * the spec is changed at a time and the spec is sized again, so that what the hint says is true.
 */

enum {
    SUGGESTIONS_MAX = 3,
    TRIALS_MAX = 48, /* values of one key, from the given one outwards */
    /* What the spec allows: ports of a node, switches or ports of a kind, links or switches in a
     * row. */
    PORTS_MAX = 64,
    SWITCHES_MAX = 4096,
    TRUNK_MAX = 1024
};

/* The copy of the spec that is changed, and the suggestions so far. */
struct search {
    const struct plan *plan;
    struct myr_spec trial;
    struct myr_spec_net *net;
    struct myr_buf text;
    uint32_t found;
};

/* Sized is not yet built: links without parts would be the next refusal. */
static bool without_optics(const struct plan *plan)
{
    for (size_t i = 0; i < plan->findings.count; i++) {
        if (strcmp(plan->strings.data + plan->findings.items[i].rule, "no-optics") == 0) {
            return true;
        }
    }
    return false;
}

/* A pinned card may have fewer cages than the one that it replaces: its ports would have no place.
 */
static bool without_cages(const struct plan *plan)
{
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct net_plan *net = &plan->nets[id];
        for (uint32_t i = 0; net->present && i < net->host_class_count; i++) {
            const struct host_class *hosts = &net->hosts[i];
            const struct myr_part_nic *nic = &part_at(plan, hosts->nic_part)->nic;
            uint32_t cards = plan->groups[hosts->group].server->server.nics[id].count;
            if (hosts->kind == MYR_DEVICE_NODE && cards && !net->spec->nic_ports &&
                cards * nic->cages * nic->cage_ports < hosts->nic_ports * net->out.planes) {
                return true;
            }
        }
    }
    return false;
}

/* Whether the planner takes the changed spec, and finds parts for its links. */
static bool works(struct search *search)
{
    /* A trial leaves nothing behind: its plan lies in an arena of its own, its findings go with it.
     */
    struct myr_arena arena MYR_CLEANUP(myr_arena_done);
    myr_arena_init(&arena);
    struct plan *plan = MYR_ARENA_ONE(&arena, struct plan);
    struct myr_err err = {};
    plan->arena = &arena;
    plan->catalog = search->plan->catalog;
    plan->spec = &search->trial;
    (void)plan_string(plan, "");
    /* Places and cables are left out: sizing and parts are what a refusal is about, and are quick.
     */
    bool good = plan_size(plan, &err) == MYR_OK && plan_optics(plan, &err) == MYR_OK &&
                !without_optics(plan) && !without_cages(plan);
    plan_release(plan);
    return good;
}

/* Where the next suggestion is written. */
static struct myr_buf *next_of(struct search *search)
{
    myr_buf_puts(&search->text, search->found++ ? "; " : "");
    return &search->text;
}

/* Fewer servers, by halving: more of them rarely fit where fewer do not. */
static void try_servers(struct search *search)
{
    /* 'good' servers can be built, 'bad' cannot; 0 is taken to be good, and never suggested. */
    uint32_t given = search->plan->spec->servers, good = 0, bad = given;
    while (bad - good > 1) {
        uint32_t middle = good + (bad - good) / 2;
        search->trial.servers = middle;
        if (works(search)) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    search->trial.servers = good;
    if (good > 0 && works(search)) {
        myr_buf_printf(next_of(search), "servers: %u", good);
    }
    search->trial.servers = given;
}

/* Values of a number of the spec, nearest first; 0, which leaves it open, comes last. */
static void try_number(struct search *search, const char *key, uint32_t *number, uint32_t most)
{
    uint32_t given = *number;
    if (given == 0 || search->found >= SUGGESTIONS_MAX) {
        return;
    }
    /* One below, one above, and so outwards: the first that works is the nearest. */
    for (uint32_t step = 1; step <= TRIALS_MAX; step++) {
        for (uint32_t up = 0; up < 2; up++) {
            *number = up ? given + step : given > step ? given - step : 0;
            if (*number && *number <= most && works(search)) {
                myr_buf_printf(next_of(search), "%s: %u", key, *number);
                *number = given;
                return;
            }
        }
    }
    *number = 0;
    if (works(search)) {
        myr_buf_printf(next_of(search), "no '%s'", key);
    }
    *number = given;
}

/* The first part of the catalogue with which it can be built. */
static void try_part(struct search *search, const char *key, uint32_t *part,
                     enum myr_part_kind kind)
{
    uint32_t given = *part;
    const struct myr_catalog *catalog = search->plan->catalog;
    for (uint32_t i = 0; search->found < SUGGESTIONS_MAX && i < catalog->parts.count; i++) {
        *part = i;
        if (catalog->parts.items[i].kind == kind && i != given && works(search)) {
            bool card = kind == MYR_PART_NIC;
            myr_buf_printf(next_of(search), card ? "pin: {%s: %s}" : "%s: %s", key,
                           catalog->parts.items[i].id);
            break;
        }
    }
    *part = given;
}

/* Only upwards: a thinner fabric is easier to build. */
static void try_ratio(struct search *search)
{
    static const double ratios[] = {1, 1.5, 2, 3, 4, 5, 7, 8, 10, 15, 20};
    double given = search->net->oversubscription[0];
    uint32_t count = search->net->oversubscription_count;
    for (uint32_t i = 0; search->found < SUGGESTIONS_MAX && i < MYR_ARRAY_COUNT(ratios); i++) {
        search->net->oversubscription[0] = ratios[i];
        search->net->oversubscription_count = count ? count : 1;
        if (ratios[i] > given && works(search)) {
            myr_buf_printf(next_of(search), "oversubscription: %g", ratios[i]);
            break;
        }
    }
    /* As it was: the next key is tried with the spec as it stands. */
    search->net->oversubscription[0] = given;
    search->net->oversubscription_count = count;
}

/* Keys that the spec gives; one that is left open is chosen by the planner already. */
static void try_numbers(struct search *search)
{
    static const struct {
        const char *key;
        size_t offset;
        uint32_t most;
    } numbers[] = {
        {"tiers", offsetof(struct myr_spec_net, tiers), MYR_SPEC_TIERS_MAX},
        {"planes", offsetof(struct myr_spec_net, planes), MYR_SPEC_PLANES_MAX},
        {"rails", offsetof(struct myr_spec_net, rails), PORTS_MAX},
        {"islands", offsetof(struct myr_spec_net, islands), SWITCHES_MAX},
        {"pod_leaves", offsetof(struct myr_spec_net, pod_leaves), SWITCHES_MAX},
        {"leaf_down", offsetof(struct myr_spec_net, leaf_down), SWITCHES_MAX},
        {"leaf_up", offsetof(struct myr_spec_net, leaf_up), SWITCHES_MAX},
        {"hosts_per_switch", offsetof(struct myr_spec_net, hosts_per_switch), SWITCHES_MAX},
        {"group_switches", offsetof(struct myr_spec_net, group_switches), SWITCHES_MAX},
        {"global_ports", offsetof(struct myr_spec_net, global_ports), SWITCHES_MAX},
        {"trunk", offsetof(struct myr_spec_net, trunk), TRUNK_MAX},
        {"homes", offsetof(struct myr_spec_net, homes), 8},
        {"aggregation", offsetof(struct myr_spec_net, aggregation_count), TRUNK_MAX},
        {"fabric_manager_ports", offsetof(struct myr_spec_net, fabric_manager_ports), PORTS_MAX},
        {"nic_ports", offsetof(struct myr_spec_net, nic_ports), PORTS_MAX},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        uint32_t *number = (uint32_t *)((char *)search->net + numbers[i].offset);
        try_number(search, numbers[i].key, number, numbers[i].most);
    }
}

/* Without the shape that was asked for. */
static void try_topology(struct search *search)
{
    enum myr_topology given = search->net->topology;
    bool twin = search->net->twin_planar;
    search->net->topology = MYR_TOPOLOGY_DEFAULT;
    search->net->twin_planar = false;
    if (given && search->found < SUGGESTIONS_MAX && works(search)) {
        myr_buf_printf(next_of(search), "no 'topology'");
    }
    search->net->topology = given;
    search->net->twin_planar = twin;
}

/* Speeds in use, from the given one downwards. */
static void try_speed(struct search *search, const char *key, uint32_t *gbps)
{
    static const uint32_t speeds[] = {1600, 800, 400, 200, 100, 50, 25, 10, 1};
    uint32_t given = *gbps;
    for (uint32_t i = 0; given && search->found < SUGGESTIONS_MAX && i < MYR_ARRAY_COUNT(speeds);
         i++) {
        *gbps = speeds[i];
        if (speeds[i] != given && works(search)) {
            myr_buf_printf(next_of(search), "%s: %u", key, speeds[i]);
            break;
        }
    }
    *gbps = given;
}

/* Suggestions are told in the order in which they are tried, the first few of them. The network is
 * the one that was being sized when the plan failed. */
void plan_nearest(const struct plan *plan, struct myr_err *err)
{
    struct search search = {.plan = plan, .trial = *plan->spec};
    search.net = &search.trial.nets[plan->at_net];
    /* The two kinds of networks have different switches to try. */
    const bool access = plan->nets[plan->at_net].out.topology == MYR_TOPOLOGY_ACCESS;
    /* Nobody reads the hint. */
    if (!err) {
        return;
    }
    try_servers(&search);
    try_numbers(&search);
    try_speed(&search, "nic_gbps", &search.net->nic_gbps);
    try_speed(&search, "uplink_gbps", &search.net->uplink_gbps);
    /* A part that the spec does not name need not be put right. */
    if (search.net->spine_switch != MYR_PART_NONE) {
        try_part(&search, "spine_switch", &search.net->spine_switch, MYR_PART_SWITCH);
    }
    if (search.net->core_switch != MYR_PART_NONE) {
        try_part(&search, "core_switch", &search.net->core_switch, MYR_PART_SWITCH);
    }
    if (access) {
        try_part(&search, "access_switch", &search.net->access_switch, MYR_PART_ETHERNET);
        try_part(&search, "aggregation_switch", &search.net->aggregation_switch, MYR_PART_ETHERNET);
    } else {
        try_ratio(&search);
        try_part(&search, "switch", &search.net->switch_part, MYR_PART_SWITCH);
        try_part(&search, "nic", &search.net->pins[MYR_PIN_NIC], MYR_PART_NIC);
        try_topology(&search);
    }
    /* Without any suggestion the message stands alone. */
    if (search.found) {
        myr_err_hint(err, "the nearest that can be built: %s", search.text.data);
    }
    myr_buf_done(&search.text);
}
